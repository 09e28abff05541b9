"""What is done with a saved run: new rows labelled, clusters named and merged, rows to ask about."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

import jointclust as jc
from jointclust.cli import options, preparing
from jointclust.cli.blocks import block_files, check_data, read_for_blocks
from jointclust.cli.console import Voice, counted
from jointclust.cli.errors import CHANGED, OutputError
from jointclust.cli.reading import InputFile, identities, is_read_once, kind_of, read_data
from jointclust.cli.runs import (
    SavedRun,
    altered,
    class_column,
    embedding_columns,
    in_short,
    outside_of,
    read_json,
    saved_labels,
    saved_names,
    saved_run,
)
from jointclust.cli.writing import STDOUT, claim_table, write_annotated, write_table
from jointclust.exceptions import collected, tell
from jointclust.readers import Columns, ReadError, Table, as_written
from jointclust.showing.fitted import Fitted, first_preparation, last_step
from jointclust.views.blocks import PreparedBlocks
from jointclust.views.kinds import listed
from jointclust.views.preparation import describe_empty

# Formats whose columns have names.
_NAMED = {"csv", "tsv", "parquet", "feather", "xlsx", "jsonl"}
_TABLES = (".csv", ".parquet", ".h5ad")
_MOST_DIGITS = 10
_EXAMPLE = '{"names": {"0": "setosa"}, "merged": [[1, 4]]}'


@click.command()
@click.argument("model", metavar="RUN", type=options.FILE)
@options.data_or_blocks
@options.out(
    "FILE",
    "Where the labels go: .csv, .parquet, .h5ad (a copy of DATA with the labels in it), or - for standard output.",
    "labels.csv",
)
@click.option("--append", is_flag=True, help="Write the labels beside all columns of DATA.")
@click.option("--embedding", type=options.FILE, metavar="FILE", help="Write the embedding, too (.parquet or .csv).")
@options.missing("auto as the model does; mean and median are those of DATA.")
@options.reading
@options.writing
def predict(model: str, data: str | None, out: str, embedding: str | None, **given: Any) -> None:
    """Label the rows of DATA with the model of a RUN: its folder, or its model.skops.

    DATA needs the columns that the model was fitted on, in any order; others are left aside. Without names (.npy,
    --no-header) columns are taken by position. --id-column and --text-column are those of the run unless given. A model
    of blocks needs the same ones, --block NAME=FILE.
    """
    check_data(data, given["blocks"])
    path = Path(out)
    voice = Voice(given, beside_output=path == STDOUT)
    claim_table(path, force=given["force"], endings=_TABLES, what="the table of labels")
    claim_table(embedding, force=given["force"])
    run = saved_run(model)
    voice.warn(altered(run))
    source = _new_rows(voice, run, data, given, whole=given["append"] and path.suffix != ".h5ad")
    if path.suffix == ".h5ad" and source.format != "h5ad":
        raise OutputError(f"{path}: labels go into a .h5ad file where DATA is one. Name a .csv or .parquet file.")
    table = source.table
    with voice.step("predict", f"Labelling {table.data.shape[0]} rows"), collected() as messages:
        columns = _predicted(run, table)
        Y = None if embedding is None else np.asarray(run.model.transform(table.data))
        outside = outside_of(run.record.get("fitted"), run.model, table.data)
    if path.suffix == ".h5ad":
        write_annotated(Path(source.path), path, columns)
    else:
        write_table(path, _beside(source, columns) if given["append"] else columns, raw=given["raw_cells"])
    if embedding is not None and Y is not None:
        write_table(Path(embedding), embedding_columns(columns["id"], Y), raw=given["raw_cells"])
    voice.warn(messages)
    voice.warn([outside] if outside else [])
    _tell(voice, columns, outside, [Path(name) for name in (out, embedding) if name is not None])


def _new_rows(
    voice: Voice,
    run: SavedRun,
    data: str | None,
    given: dict[str, Any],
    *,
    whole: bool,
    present: Sequence[str] | None = None,
) -> InputFile:
    """DATA or blocks as the model wants them; if ``present`` columns are given, some that it wants may be missing."""
    before, first = run.record.get("parameters", {}), first_preparation(run.model)
    if not isinstance(first, PreparedBlocks):
        if data is None:
            raise click.UsageError("The model was fitted to one table, not to blocks: give DATA in place of --block.")
        text = given["text_column"] or before.get("text_column")
        known = run.record.get("input", {})
        own = given | {"text_column": text}
        return _read_for(voice, run, data, own, whole=whole, first=first, known=known, present=present)
    if data is not None:
        names = listed(list(first.preparations))
        raise click.UsageError(f"The model was fitted to the blocks {names}: give each of them, --block NAME=FILE.")
    if whole:
        raise click.UsageError("--append is for one table: with --block, join the labels by their ids.")
    of_blocks = run.record.get("input", {}).get("blocks") or {}

    def read(name: str, file: str) -> InputFile:
        known = of_blocks.get(name) or {}
        own = given | {"text_column": known.get("text_column")}
        names = None if present is None else _names_in(file, own)
        return _read_for(voice, run, file, own, whole=False, first=first.preparations[name], known=known, present=names)

    return read_for_blocks(block_files(tuple(given["blocks"])), list(first.preparations), read, voice)


def _read_for(
    voice: Voice,
    run: SavedRun,
    data: str,
    given: dict[str, Any],
    *,
    whole: bool,
    first: Any,
    known: dict[str, Any],
    present: Sequence[str] | None = None,
) -> InputFile:
    """Data as the model wants them; for options not given, those of the run and ``known`` facts of the file hold."""
    before: dict[str, Any] = run.record.get("parameters", {})
    text = given["text_column"]
    if text is None and first is not None and not hasattr(first, "n_features_in_"):
        raise click.UsageError("The model was fitted on texts: name their column with --text-column.")
    fill = given["missing"] in ("mean", "median")
    reading: dict[str, Any] = {"missing": "keep"} if text else preparing.reading_for(run.model, first)
    if given["missing"] != "auto" and not text:
        reading["missing"] = "keep" if fill else "refuse"
    if present is not None and set(present) & set(reading.get("wanted") or ()):
        reading["wanted"], reading["spared"] = [name for name in reading["wanted"] if name in present], []
        kinds = reading.get("kinds") or {}
        reading["kinds"] = {name: kind for name, kind in kinds.items() if name in present} or None
    given = dict(given)
    if given["no_header"] is None and before.get("no_header"):
        given["no_header"] = True  # what comes without names comes without them again
    reading["date_orders"] = known.get("date_orders")
    source = read_data(voice, data, given, known.get("id_column"), whole, **reading)
    table = source.table
    voice.say(" ".join(table.notes))
    if fill:
        table = replace(table, data=_filled(table, given["missing"]))
    if text or reading["categories"] == "keep":
        is_named = table.ids is not None
        table = preparing.arranged(replace(table, ids=identities(table)), text_column=text)
        table = table if is_named else replace(table, ids=None)
    return replace(source, table=table)


def _strangers(run: SavedRun, names: Sequence[str], given: dict[str, Any]) -> list[str]:
    """Columns that the model does not know, and that do not name rows or classes."""
    wanted = preparing.reading_for(run.model).get("wanted")
    if wanted is None:
        return []
    before, known = run.record.get("parameters", {}), run.record.get("input", {})
    aside = {given["id_column"], given["text_column"], known.get("id_column"), before.get("label_column"), "", *wanted}
    return [name for name in names if name not in aside]


def _names_in(data: str, given: dict[str, Any]) -> list[str] | None:
    """Names of the columns of a file; None where they have none, or where it can be read only once."""
    kind = given["format"] or kind_of(data)
    if is_read_once(data) or given["no_header"] or kind not in _NAMED:
        return None
    reading = {name: given[name] for name in ("encoding", "delimiter", "decimal", "dates")}
    return [str(name) for name in as_written(Path(data), kind, **reading)]


def _filled(table: Table, how: str) -> NDArray:
    if not isinstance(table.data, np.ndarray):
        what = "there is text" if isinstance(table.data, Columns) else "the rows are sparse"
        raise click.UsageError(f"--missing {how} is for numbers, and {what}: use --missing auto.")
    empty = np.isnan(table.data).all(axis=0)
    if empty.any():
        name = int(np.argmax(empty)) if table.names is None else table.names[int(np.argmax(empty))]
        raise ReadError(f"Column {name!r} has no number in any row, and so no {how} to fill gaps with.")
    return SimpleImputer(strategy=how).fit_transform(table.data)


def _predicted(run: SavedRun, table: Table) -> dict[str, Any]:
    model, called = run.model, saved_names(run)
    clusterer = last_step(model)
    sure = None
    if isinstance(clusterer, jc.JointConsensus):
        rows = model[:-1].transform(table.data) if isinstance(model, Pipeline) and len(model) > 1 else table.data
        labels, sure = clusterer.predict_with_confidence(rows)
    elif hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(table.data)
        labels, is_empty = probabilities.argmax(axis=1), preparing.without_value(table.data)
        sure = preparing.with_guesses(probabilities.max(axis=1), is_empty, probabilities.shape[1])
        if is_empty.any():
            tell(describe_empty(is_empty), UserWarning)
    else:
        labels = model.predict(table.data)
    confidence = {} if sure is None else {"confidence": np.round(sure, 6)}
    labels = np.asarray(labels)
    names = {} if not called else {"name": np.array([called.get(label, "") for label in labels.tolist()], dtype=object)}
    return {"id": identities(table), "label": labels, **names, **class_column(clusterer, labels), **confidence}


def _beside(source: InputFile, columns: dict[str, Any]) -> dict[str, Any]:
    """The columns of the file, then those of the labels, renamed where the file has such a name."""
    table: dict[str, Any] = dict(source.columns or {})
    own = {f"jointclust_{name}" if name in table else name: one for name, one in columns.items() if name != "id"}
    return table | own


def _tell(voice: Voice, columns: dict[str, Any], outside: str, files: list[Path]) -> None:
    labels, sizes = np.unique(columns["label"], return_counts=True)
    counts = dict(zip(map(str, labels), sizes.tolist(), strict=True))
    n_rows, rejected = len(columns["id"]), counts.get("-1", 0)
    text = f"{counted(n_rows, 'row')} in {counted(len(counts) - ('-1' in counts), 'cluster')}"
    if rejected:
        text += f", {rejected} of them not sure enough (label -1)"
    names = ", ".join("standard output" if path == STDOUT else str(path) for path in files)
    facts = {"rows": n_rows, "sizes": counts, "far_outside": outside, "files": [str(path.resolve()) for path in files]}
    voice.result(f"{text}: {names}", facts)


@click.command()
@click.argument("model", metavar="RUN", type=options.FILE)
@options.data_or_blocks
@options.missing("auto as the model does; mean and median are those of DATA.")
@options.reading
@options.speaking
def check(model: str, data: str | None, **given: Any) -> None:
    """Say whether the model of a RUN still fits the rows of DATA: fits, drifts (in what), or refit.

    \b
    Exit status: 0 if it fits, 5 if it drifts or has to be fitted again.
    Then: jointclust fit DATA --like RUN
    """
    voice = Voice(given)
    check_data(data, given["blocks"])
    run = saved_run(model)
    voice.warn(altered(run))
    names = [] if data is None else _names_in(data, given)
    source = _new_rows(voice, run, data, given, whole=False, present=names)
    with voice.step("check", f"Comparing {preparing.shape_of(source.table.data)[0]} rows"), collected() as messages:
        result = jc.check(run.model, source.table.data)
    if strangers := _strangers(run, names or [], given):
        reason = f"The model does not know {listed(strangers)}: new in {data}, or left out of the run."
        result = replace(result, reasons=[*result.reasons, reason])
    new = [str(name) for name in identities(source.table)[result.new_rows]]
    facts = {"verdict": result.verdict, "reasons": result.reasons, "table": result.table, "new_rows": new}
    voice.warn(messages)
    voice.result(str(result), facts)
    if result.verdict != "fits":
        sys.exit(CHANGED)


@click.command(name="apply-names")
@click.argument("run", metavar="RUN", type=options.FILE)
@click.argument("names", metavar="NAMES", type=options.FILE)
@options.out(
    "FILE", "Where the labels go: .csv, .parquet, or - for standard output (default: named_labels.csv in RUN)."
)
@options.writing
def apply_names(run: str, names: str, out: str | None, **given: Any) -> None:
    """Name and merge the clusters of a RUN as a file of NAMES says, which its report exports.

    \b
    NAMES is JSON: {"names": {"0": "setosa", "2": "virginica"}, "merged": [[1, 4]]}
    The table is labels.csv with these names in its column "name", beside those
    that the run has made for the other clusters; merged clusters have the
    smallest of their numbers.
    """
    saved = saved_run(run)
    path = Path(out) if out is not None else saved.folder / "named_labels.csv"
    voice = Voice(given, beside_output=path == STDOUT)
    voice.warn(altered(saved))
    clusterer = last_step(saved.model)
    n_clusters = int(Fitted(clusterer, clusterer.labels_, are_known=True).labels.max()) + 1
    name_of, number_of = names_in(Path(names), n_clusters)
    claim_table(path, force=given["force"])
    columns = dict(saved_labels(saved))
    labels = [int(label) for label in columns.pop("label")]
    table = {"id": columns.pop("id"), "label": [number_of.get(label, label) for label in labels]}
    made = dict(zip(labels, columns.pop("name", [""] * len(labels)), strict=True))
    made = {label: _joined_name(label, made, number_of) for label in made}
    table |= {"name": [name_of.get(label, made[label]) for label in labels], **columns}
    write_table(path, table, raw=given["raw_cells"])
    sizes = Counter(zip(table["label"], table["name"], strict=True))
    clusters = "; ".join(f"{_shown(label, name)} ({size})" for (label, name), size in sizes.items())
    text = f"{counted(len(labels), 'row')} in {counted(len(sizes), 'cluster')}: {clusters}"
    by_label, named = {label: size for (label, _), size in sizes.items()}, dict(key for key in sizes if key[1])
    voice.warn(_namesakes(named))
    facts = {"rows": len(labels), "sizes": by_label, "names": named, "file": str(path)}
    voice.result(f"{text}\nWrote {path}", facts)


def _shown(label: int, name: str) -> str:
    if not name:
        return f"cluster {label}" if label >= 0 else "not sure enough"
    return name if name.isprintable() else repr(name)


def _namesakes(names: dict[int, str]) -> list[str]:
    """A warning for each name that several clusters have."""
    listed = {name: sorted(label for label, own in names.items() if own == name) for name in sorted(names.values())}
    return [
        f"Clusters {' and '.join(map(str, labels))} are all called {name!r}, and stay apart. To make them one: "
        f'"merged": [{labels}]'
        for name, labels in listed.items()
        if len(labels) > 1
    ]


def _joined_name(label: int, made: dict[int, str], number_of: dict[int, int]) -> str:
    """The name that a run has made for a cluster; for merged clusters, the names of all of them."""
    own = number_of.get(label, label)
    return " or ".join(dict.fromkeys(made[one] for one in sorted(made) if number_of.get(one, one) == own and made[one]))


def names_in(path: Path, n_clusters: int) -> tuple[dict[int, str], dict[int, int]]:
    """The name of each cluster that has one, and the smallest number of those that each merged cluster is one with."""
    content = read_json(path)
    if not isinstance(content, dict) or not ("names" in content or "merged" in content):
        raise ReadError(f'{path} needs an object with "names", "merged" or both: {_EXAMPLE}')
    if (number := content.get("n_clusters", n_clusters)) != n_clusters:
        made = f"names {number!r:.20} clusters, and the run has {n_clusters}"
        raise ReadError(f"{path} {made}: apply it to the folder that `jointclust cut RUN -k {number!r:.20}` writes.")
    merged = _merged(path, content.get("merged", []), n_clusters)
    names = _named(path, content.get("names", {}), n_clusters)
    for group in merged:
        different = sorted({names[number] for number in group if number in names})
        if len(different) > 1:
            listed, own = ", ".join(map(str, group)), ", ".join(map(repr, different))
            why = f"clusters {listed} are merged, and have names of their own ({own}): one name is needed."
            raise ReadError(f"{path}: {why}")
        names |= {number: name for number in group for name in different}
    return dict(sorted(names.items())), {number: min(group) for group in merged for number in group}


def _merged(path: Path, groups: object, n_clusters: int) -> list[list[int]]:
    if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
        raise ReadError(f'{path}: "merged" has to be a list of lists of clusters, as in {_EXAMPLE}')
    merged = [[_cluster(path, number, n_clusters) for number in group] for group in groups]
    if short := [group for group in merged if len(group) < 2]:
        raise ReadError(f'{path}: "merged" has {short[0]}: at least two clusters are merged.')
    for number, times in Counter(number for group in merged for number in group).most_common(1):
        if times > 1:
            raise ReadError(f'{path}: "merged" has cluster {number} twice: put all that belong together in one list.')
    return [sorted(group) for group in merged]


def _named(path: Path, names: object, n_clusters: int) -> dict[int, str]:
    if not isinstance(names, dict):
        raise ReadError(f'{path}: "names" has to be an object with a name for some clusters, as in {_EXAMPLE}')
    named = {}
    for key, name in names.items():
        number = int(key) if len(key) < _MOST_DIGITS and key.isdecimal() else key
        cluster = _cluster(path, number if str(number) == key else key, n_clusters)
        if not isinstance(name, str):
            raise ReadError(f"{path}: the name of cluster {cluster} is {in_short(name)}: text is needed.")
        if any("\ud800" <= character <= "\udfff" for character in name):
            raise ReadError(f"{path}: the name of cluster {cluster}, {in_short(name)}, holds half of a character.")
        if name.strip():
            named[cluster] = name.strip()
    return named


def _cluster(path: Path, number: object, n_clusters: int) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < n_clusters:
        raise ReadError(f"{path}: {in_short(number)} is no cluster of the run, which has 0 to {n_clusters - 1}.")
    return number


@click.command()
@click.argument("run", metavar="RUN", type=options.FILE)
@click.option("-n", "n_rows", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="How many rows.")
@options.out("FILE", "Where they go: .csv, .parquet, or - for standard output.", "to_label.csv")
@options.writing
def suggest(run: str, n_rows: int, out: str, **given: Any) -> None:
    """Choose the rows of a RUN whose class helps most, for someone to fill in.

    The table has the rows' id, label and confidence, and an empty column "class". With some of it filled in:
    jointclust fit DATA --known-rows to_label.csv
    """
    path = Path(out)
    voice = Voice(given, beside_output=path == STDOUT)
    claim_table(path, force=given["force"])
    saved = saved_run(run)
    voice.warn(altered(saved))
    model = last_step(saved.model)
    if not hasattr(model, "rows_to_label"):
        raise click.UsageError(
            f"{run} was fitted by {type(model).__name__}: rows to ask about are those that the members of a consensus "
            "disagree on. Fit again without --method."
        )
    columns = saved_labels(saved)
    if n_rows > len(columns["id"]):
        raise click.UsageError(f"-n {n_rows} exceeds the number of rows ({len(columns['id'])}).")
    try:
        rows = np.asarray(model.rows_to_label(n_rows)).tolist()
    except AttributeError:
        raise click.UsageError(
            f"{run} has {len(columns['id']):,} rows, too many for a saved model to know what its members say of each: "
            "fit a sample of the rows, and ask about that."
        ) from None
    kept = {name: [values[row] for row in rows] for name, values in columns.items() if name != "class"}
    write_table(path, {**kept, "class": [""] * len(rows)}, raw=given["raw_cells"])
    name = "standard output" if path == STDOUT else str(path)
    text = f"{counted(len(rows), 'row')} to label: {name}"
    voice.result(text, {"rows": rows, "ids": kept["id"], "file": None if path == STDOUT else str(path.resolve())})
