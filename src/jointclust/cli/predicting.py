"""New rows, labelled by a model that was saved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

import jointclust as jc
from jointclust.cli import options, preparing, ranges
from jointclust.cli.console import Voice, counted
from jointclust.cli.errors import OutputError
from jointclust.cli.reading import InputFile, identities, read_data
from jointclust.cli.runs import SavedRun, class_column, embedding_columns, saved_run
from jointclust.cli.writing import STDOUT, claim_table, write_annotated, write_table
from jointclust.exceptions import collected
from jointclust.readers import Columns, ReadError, Table
from jointclust.showing.fitted import last_step
from jointclust.types import Predictor

_TABLES = (".csv", ".parquet", ".h5ad")


@click.command()
@click.argument("model", metavar="RUN", type=options.FILE)
@options.data
@options.out(
    "FILE",
    "Where the labels go: .csv, .parquet, .h5ad (a copy of DATA with the labels in it), or - for standard output.",
    "labels.csv",
)
@click.option("--append", is_flag=True, help="Write the labels beside all columns of DATA.")
@click.option("--embedding", type=options.FILE, metavar="FILE", help="Write the embedding, too (.parquet or .csv).")
@click.option(
    "--missing",
    type=click.Choice(["auto", "refuse", "mean", "median"]),
    default="auto",
    show_default=True,
    help="What to do with empty cells: auto as the model does; mean and median are those of DATA.",
)
@options.reading
@options.writing
@options.speaking
@click.pass_context
def predict(context: click.Context, model: str, data: str, out: str, embedding: str | None, **given: Any) -> None:
    """Label the rows of DATA with the model of a RUN: its folder, or its model.skops.

    DATA needs the columns that the model was fitted on, in any order; others are left aside. Without names (.npy,
    --no-header) columns are taken by position. --id-column and --text-column are those of the run unless given.
    """
    path = Path(out)
    voice = Voice.of(given, beside_output=path == STDOUT)
    claim_table(path, force=given["force"], endings=_TABLES, what="the table of labels")
    if embedding is not None:
        claim_table(Path(embedding), force=given["force"])
    run = saved_run(model)
    source = _read_for(voice, run, data, given, whole=given["append"] and path.suffix != ".h5ad")
    if path.suffix == ".h5ad" and source.format != "h5ad":
        raise OutputError(f"{path}: labels go into a .h5ad file where DATA is one. Name a .csv or .parquet file.")
    table = source.table
    with voice.step("predict", f"Labelling {table.data.shape[0]} rows"), collected() as messages:
        columns = _predicted(run.model, table)
        Y = None if embedding is None else np.asarray(run.model.transform(table.data))
        outside = ranges.outside(run.record.get("fitted"), run.model, table.data)
    if path.suffix == ".h5ad":
        write_annotated(Path(source.path), path, columns)
    else:
        write_table(path, _beside(source, columns) if given["append"] else columns, raw=given["raw_cells"])
    if embedding is not None and Y is not None:
        write_table(Path(embedding), embedding_columns(columns["id"], Y), raw=given["raw_cells"])
    voice.warn(messages)
    voice.warn([outside] if outside else [])
    _tell(voice, columns, outside, [Path(name) for name in (out, embedding) if name is not None])


def _read_for(voice: Voice, run: SavedRun, data: str, given: dict[str, Any], *, whole: bool) -> InputFile:
    """Data as the model wants them; what the run remembers stands for what is not given."""
    text = given["text_column"] or run.parameters.get("text_column")
    if text is None and preparing.wants_text(run.model):
        raise click.UsageError("The model was fitted on texts: name their column with --text-column.")
    asked = preparing.reading_for(run.model)
    fill = given["missing"] in ("mean", "median")
    gaps = "refuse" if given["missing"] == "refuse" else "keep" if fill else asked["missing"]
    asked = {"missing": "keep"} if text else asked | {"missing": gaps}
    no_header = given["no_header"]
    if no_header is None and run.parameters.get("no_header"):
        no_header = True  # what comes without names comes without them again
    remembered = {"text_column": text, "no_header": no_header}
    source = read_data(voice, data, given | remembered, **asked, remembered=run.id_column, whole=whole)
    table = source.table
    if fill:
        table = replace(table, data=_filled(table, given["missing"]))
    if text or asked["categories"] == "keep":
        table = preparing.arranged(replace(table, ids=identities(table)), text_column=text)
    return replace(source, table=table)


def _filled(table: Table, how: str) -> NDArray:
    if not isinstance(table.data, np.ndarray):
        what = "there is text" if isinstance(table.data, Columns) else "the rows are sparse"
        raise click.UsageError(f"--missing {how} is for numbers, and {what}: use --missing auto.")
    empty = np.isnan(table.data).all(axis=0)
    if empty.any():
        name = int(np.argmax(empty)) if table.names is None else table.names[int(np.argmax(empty))]
        raise ReadError(f"Column {name!r} has no number in any row, and so no {how} to fill gaps with.")
    return SimpleImputer(strategy=how).fit_transform(table.data)


def _predicted(model: Predictor, table: Table) -> dict[str, Any]:
    clusterer = last_step(model)
    confidence: dict[str, Any] = {}
    if isinstance(clusterer, jc.JointConsensus):
        rows = model[:-1].transform(table.data) if isinstance(model, Pipeline) and len(model) > 1 else table.data
        labels, sure = clusterer.predict_with_confidence(rows)
        confidence = {"confidence": np.round(sure, 6)}
    elif hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(table.data)
        labels = probabilities.argmax(axis=1)
        confidence = {"confidence": np.round(probabilities.max(axis=1), 6)}
    else:
        labels = model.predict(table.data)
    return {"id": identities(table), "label": labels, **class_column(clusterer, np.asarray(labels)), **confidence}


def _beside(source: InputFile, columns: dict[str, Any]) -> dict[str, Any]:
    """The columns of the file, then those of the labels, under names of their own."""
    found: dict[str, Any] = dict(source.columns or {})
    for name, values in columns.items():
        if name != "id":
            found[name if name not in found else f"jointclust_{name}"] = values
    return found


def _tell(voice: Voice, columns: dict[str, Any], outside: str, files: list[Path]) -> None:
    found, sizes = np.unique(columns["label"], return_counts=True)
    counts = {str(label): int(size) for label, size in zip(found, sizes, strict=True)}
    n_rows, rejected = len(columns["id"]), counts.get("-1", 0)
    told = f"{counted(n_rows, 'row')} in {counted(len(counts) - ('-1' in counts), 'cluster')}"
    if rejected:
        told += f", {rejected} of them not sure enough (label -1)"
    names = ", ".join("standard output" if path == STDOUT else str(path) for path in files)
    written = [str(path.resolve()) for path in files]
    facts = {"rows": n_rows, "sizes": counts, "far_outside": outside, "files": written}
    voice.result(f"{told}: {names}", facts)
