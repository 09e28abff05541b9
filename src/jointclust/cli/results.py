"""What `fit` and `select` do once a model is fitted: judge it, write everything, say what was found."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA, TruncatedSVD

import jointclust as jc
from jointclust.cli import preparing, repeating
from jointclust.cli.clusters import as_columns, clusters_of
from jointclust.cli.console import Voice, counted, shown
from jointclust.cli.drawing import save_drawing
from jointclust.cli.errors import in_options
from jointclust.cli.files import OUTPUTS, RECORD, written
from jointclust.cli.options import image_shape
from jointclust.cli.ranges import ranges_of
from jointclust.cli.runs import (
    InputFile,
    embedding_columns,
    embedding_name,
    evaluation,
    identities,
    label_columns,
    write_record,
)
from jointclust.cli.tables import write_json, write_table
from jointclust.selection.stability import resampled_jaccard
from jointclust.showing import fitted
from jointclust.showing.plots import EmbeddingDisplay
from jointclust.showing.report import write_report
from jointclust.types import Float, Matrix, Predictor

# Rows and components that the bootstrap looks at, at the most.
_STABILITY_ROWS, _STABILITY_COLUMNS = 2000, 50
# Rows of which resamples say something, at the least.
_FEW_ROWS = 10
# Sizes of clusters that are told, at the most.
_SIZES = 20
# Dots of a map that are drawn as lines, at the most.
_DOTS = 5000


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted model and all that is known of how it came about.

    Attributes
    ----------
    rows : array
        The rows as the clusterer got them.
    context : click.Context
        The call.
    messages : list of str
        What the fit warned of, in the words of the command line.
    chosen : dict of name to (value, who chose it)
        Parameters found on the way.
    tried : dict of columns or None
        All candidates, where there were several.
    notes : list of str
        What was done to the data, and why.
    """

    voice: Voice
    folder: Path
    source: InputFile
    model: Predictor
    rows: Matrix
    context: click.Context
    messages: list[str]
    chosen: dict[str, tuple[Any, str]] = field(default_factory=dict)
    tried: dict[str, list[Any]] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def given(self) -> dict[str, Any]:
        return self.context.params

    @property
    def warnings(self) -> list[str]:
        return [*self.source.table.notes, *map(in_options, self.messages)]

    @property
    def title(self) -> str:
        return "standard input" if self.source.path == "-" else self.source.name


def finish(run: Outcome) -> None:
    """Write the folder of a run, its record last."""
    _check_same_data(run)
    _describe(run)
    with run.voice.step("stability", "Judging the clusters' stability"):
        stability = stability_of(run.model, run.rows, run.given["resamples"], run.given["seed"])
    data, names = _features(run)
    before = {name for name in OUTPUTS if (run.folder / name).exists()}
    with run.voice.step("write", f"Writing {run.folder}") as progress:
        try:
            files = _write(run, stability, progress)
        except BaseException:
            for name in set(OUTPUTS) - before:  # a part of a run is of no use, and in the way of the next
                (run.folder / name).unlink(missing_ok=True)
            raise
    labels = fitted.labels_of(run.model)
    sizes = np.bincount(labels).tolist()
    result: dict[str, Any] = {"rows": int(labels.size), "clusters": len(sizes), "sizes": sizes}
    rejected = int(np.count_nonzero(np.asarray(fitted.last_step(run.model).labels_) < 0))
    result |= ({"rejected": rejected} if rejected else {}) | evaluation(run.source.table, labels)
    if stability is not None:
        result["stability"] = [None if np.isnan(value) else round(float(value), 3) for value in stability]
    rows, columns = preparing.shape_of(run.source.table.data)
    known = {"rows": rows, "columns": columns, "id_column": run.source.table.id_column}
    write_record(
        run.folder,
        command=run.context.info_name,
        command_line=repeating.command_line(run.context),
        parameters={name: value for name, (value, _) in repeating.origins(run.context).items()}
        | {"data": run.source.path},
        chosen={name: value for name, (value, _) in run.chosen.items()},
        input={"path": run.source.path, "sha256": run.source.sha256, **known},
        result=result,
        notes=run.notes,
        warnings=run.warnings,
        seconds={key: round(value, 3) for key, value in run.voice.seconds.items()},
        fitted=ranges_of(data, names),
    )
    _say(run, result, [*files, "run.json"])


def _features(run: Outcome) -> tuple[Any, list[str]]:
    """The rows in numbers of the data's own units, and what these are called."""
    data, coded = fitted.features_of(run.model, run.source.table.data)
    names = coded or run.source.table.names or [f"x{index}" for index in range(data.shape[1])]
    return data, list(names)


def _write(run: Outcome, stability: Float | None, progress: Callable[..., None]) -> list[str]:
    """All files but the record; returns their names."""
    folder, table, raw = run.folder, run.source.table, run.given["raw_cells"]
    explanation = jc.explain(run.model, table.data, table.names)
    clusters = clusters_of(run.model, table, stability, explanation)
    Y = fitted.embedding_of(run.model, table.data)
    writers: dict[str, Callable[[Path], None]] = {
        "labels.csv": lambda path: write_table(path, label_columns(table, run.model), raw=raw),
        "clusters.csv": lambda path: write_table(path, as_columns(clusters), raw=raw),
        "clusters.json": lambda path: write_json(path, clusters),
        embedding_name(): lambda path: write_table(path, embedding_columns(identities(table), Y), raw=raw),
        "model.skops": lambda path: _save_model(run, path),
        "report.html": lambda path: _write_report(run, stability, explanation, path),
    }
    if run.tried is not None:
        tried = run.tried
        writers["candidates.csv"] = lambda path: write_table(path, tried, raw=raw)
    # Without its record a folder does not claim to be a whole run.
    (folder / RECORD).unlink(missing_ok=True)
    for number, (name, write) in enumerate(writers.items(), 1):
        write(folder / name)
        progress(number, total=len(writers), what="file")
    if run.given["plot"] is not None:
        # Dots are pixels in a drawing of lines where they are many.
        drawn = EmbeddingDisplay.from_estimator(run.model, table.data, rasterized=len(Y) > _DOTS)
        save_drawing(drawn.ax_, run.given["plot"])
    for stale in set(OUTPUTS) - set(writers):  # of an earlier run, replaced by --force
        (folder / stale).unlink(missing_ok=True)
    return list(writers)


def _save_model(run: Outcome, path: Path) -> None:
    with written(path) as temporary:
        jc.save(run.model, temporary)


def _write_report(run: Outcome, stability: Float | None, explanation: jc.Explanation, path: Path) -> None:
    table = run.source.table
    shape, order = image_of(run.source, run.given)
    with written(path) as temporary:
        write_report(
            run.model,
            table.data,
            temporary,
            ids=table.ids,
            classes=table.classes,
            feature_names=table.names,
            stability=stability,
            explanation=explanation,
            image_shape=shape,
            image_order=order,
            title=run.title,
            parameters=repeating.origins(run.context) | run.chosen,
            candidates=run.tried,
            warnings=run.warnings,
            command=repeating.command_line(run.context),
            checksum=run.source.sha256,
            most_megabytes=run.given["report_megabytes"],
        )


def stability_of(model: Predictor, rows: Matrix, n_resamples: int, seed: int) -> Float | None:
    """How far each cluster can be trusted: by the consensus's members, else by bootstrap.

    The bootstrap is that of :func:`jointclust.bootstrap_stability`, on a sample of the rows and in their leading
    principal components: its cost must not depend on the size of the file.
    """
    found = fitted.member_stability(model)
    if found is not None or n_resamples == 0:
        return found
    rng, n = np.random.RandomState(seed), rows.shape[0]
    sample = np.arange(n) if n <= _STABILITY_ROWS else np.sort(rng.permutation(n)[:_STABILITY_ROWS])
    labels, clusterer = fitted.labels_of(model), fitted.last_step(model)
    n_clusters, own = int(labels.max()) + 1, labels[sample]
    small = _leading_components(rows[sample], max(_STABILITY_COLUMNS, getattr(clusterer, "n_components", None) or 0))
    if n_clusters == 1 or sample.size < max(2 * n_clusters, _FEW_ROWS):
        return None  # nothing to tell apart, or too few rows for a resample to hold it
    found = resampled_jaccard(clusterer, small, own, n_clusters, n_resamples, rng)
    absent = np.bincount(own, minlength=n_clusters) == 0
    return np.where(absent, np.nan, found)


def _leading_components(rows: Matrix, most: int) -> Matrix:
    if rows.shape[1] <= most:
        return rows
    reduce = TruncatedSVD if sp.issparse(rows) else PCA
    return reduce(min(most, min(rows.shape) - 1), random_state=0).fit_transform(rows)


def image_of(source: InputFile, given: dict[str, Any]) -> tuple[tuple[int, int] | None, str]:
    """Shape of rows that are images: as the user says, or as the data sets of that name are."""
    n_features = preparing.shape_of(source.table.data)[1]
    shape = image_shape(given["image_shape"], n_features)
    known, order = jc.datasets.image_layout(Path(source.path).name.split(".")[0])
    if shape is None and known is not None and known[0] * known[1] == n_features:
        return known, order
    return shape, given["image_order"]


def _check_same_data(run: Outcome) -> None:
    """Say so when a run is repeated on other data than its record names."""
    path = run.given.get("config")
    if path and path.endswith(".json"):
        recorded = json.loads(Path(path).read_text(encoding="utf-8")).get("input", {}).get("sha256")
        if recorded != run.source.sha256:
            run.voice.say(f"Warning: {run.source.path} is not the file of {path}; its content differs.")


def _describe(run: Outcome) -> None:
    """More of the method than most want to know."""
    clusterer = fitted.last_step(run.model)
    params = {name: value for name, value in clusterer.get_params(deep=False).items() if value is not None}
    run.voice.tell(f"{type(clusterer).__name__}({', '.join(f'{name}={value!r}' for name, value in params.items())})")
    for name, (value, _) in run.chosen.items():
        run.voice.tell(f"{name}: {value}")
    facts = {"agreement_": "agreement of the members", "n_iter_": "iterations", "objective_": "objective"}
    for attribute, name in facts.items():
        if hasattr(clusterer, attribute):
            run.voice.tell(f"{name}: {shown(getattr(clusterer, attribute))}")


def _say(run: Outcome, result: dict[str, Any], files: list[str]) -> None:
    run.voice.warn(run.messages)
    sizes = [str(size) for size in result["sizes"][:_SIZES]] + ["..."] * (result["clusters"] > _SIZES)
    lines = [f"{result['rows']} rows in {counted(result['clusters'], 'cluster')} of {', '.join(sizes)}"]
    if "rejected" in result:
        lines.append(f"{result['rejected']} of them are not sure enough: their label is -1 (reject_below)")
    if "accuracy" in result:
        left_out = {"rows_without_class": "without a class", "rows_fitted_with_class": "whose class the fit was told"}
        found = [f"{counted(result[key], 'row')} {which}" for key, which in left_out.items() if key in result]
        note = f" (left out: {', '.join(found)})" if found else ""
        lines.append(f"Against the known classes{note}: accuracy {result['accuracy']:.3f}, NMI {result['nmi']:.3f}")
    drawn = [] if run.given["plot"] is None else [run.given["plot"]]
    lines.append(f"Wrote {', '.join([*files, *drawn])}")
    lines.append(f"Open {(run.folder / 'report.html').resolve()}")
    told = {
        "out": str(run.folder.resolve()),
        "files": files,
        "warnings": [in_options(message) for message in run.messages],
    }
    run.voice.result("\n".join(lines), result | told)
