"""What `fit` and `select` do once a model is fitted: judge it, write everything, say what was found."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import PCA, TruncatedSVD

import jointclust as jc
from jointclust.cli import preparing, runs
from jointclust.cli.console import Voice, counted, shown
from jointclust.cli.errors import in_options
from jointclust.cli.reading import InputFile, identities
from jointclust.cli.runs import class_column, class_names, command_line, embedding_columns, origins
from jointclust.cli.writing import OUTPUTS, RECORD, embedding_name, save_drawing, write_json, write_table, written
from jointclust.readers import Table
from jointclust.selection.stability import resampled_jaccard
from jointclust.showing.fitted import Fitted
from jointclust.showing.plots import EmbeddingDisplay
from jointclust.types import Float, Labels
from jointclust.views.written import is_gap

# Rows and components that the bootstrap looks at, at the most.
_STABILITY_ROWS, _STABILITY_COLUMNS = 2000, 50
# Rows of which resamples say something, at the least.
_FEW_ROWS = 10
# Sizes of clusters that are told, at the most.
_SIZES = 20
# Dots of a map that are drawn as lines, at the most.
_DOTS = 5000
# Rules and features of a cluster in a cell of the table, at the most; the JSON has all.
_RULES, _FEATURES = 2, 5


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted model and all that is known of how it came about: what the fit warned of, found and tried."""

    voice: Voice
    folder: Path
    source: InputFile
    fitted: Fitted
    context: click.Context
    messages: list[str]
    number: jc.ClusterNumber | None = None
    best: dict[str, tuple[Any, str]] = field(default_factory=dict)
    tried: dict[str, list[Any]] | None = None

    @cached_property
    def chosen(self) -> dict[str, tuple[Any, str]]:
        """Parameters found on the way, and who chose them."""
        views = preparing.views_of(self.fitted.model)
        found: dict[str, tuple[Any, str]]
        found = {"view" if len(views) == 1 else f"view {place}": view for place, view in enumerate(views, 1)}
        found |= self.best
        if self.number is not None:
            scores = {number: round(score, 3) for number, score in self.number.scores.items()}
            found["number of clusters"] = (self.number.n_clusters, f"found in the data: {self.number.verdict}")
            found["agreement by number of clusters"] = (scores, "measured")
        return found

    @property
    def given(self) -> dict[str, Any]:
        return self.context.params

    @property
    def warnings(self) -> list[str]:
        return [*self.source.table.notes, *map(in_options, self.messages)]


def verdict(found: jc.ClusterNumber) -> str:
    """How many clusters there are, and the numbers that it could be, with their scores."""
    listed = [f"{number} ({found.scores[number]:.2f})" for number in found.suggestions if number in found.scores]
    candidates = f" Candidates, with the agreement of members: {', '.join(listed)}." if listed else ""
    return f"{found.verdict}.{candidates}"


def finish(run: Outcome) -> None:
    """Say what was done to the data and how the number of clusters was chosen; write the folder, its record last."""
    preparations = preparing.preparations_of(run.fitted.model)
    notes = list(dict.fromkeys(note for one in preparations for note in one.notes_))
    for note in notes:
        run.voice.say(note)
    if run.number is not None:
        run.voice.say(f"Number of clusters: {verdict(run.number)}")
    _check_same_data(run)
    _describe(run)
    fitted, table = run.fitted, run.source.table
    with run.voice.step("stability", "Judging the clusters' stability"):
        stability = stability_of(fitted, run.given["resamples"], run.given["seed"])
    before = {name for name in OUTPUTS if (run.folder / name).exists()}
    with run.voice.step("write", f"Writing {run.folder}") as progress:
        try:
            files = _write(run, stability, progress)
        except BaseException:
            for name in set(OUTPUTS) - before:  # a part of a run is of no use, and in the way of the next
                (run.folder / name).unlink(missing_ok=True)
            raise
    sizes = np.bincount(fitted.labels).tolist()
    result: dict[str, Any] = {"rows": int(fitted.labels.size), "clusters": len(sizes), "sizes": sizes}
    rejected = int(np.count_nonzero(np.asarray(fitted.clusterer.labels_) < 0))
    result |= ({"rejected": rejected} if rejected else {}) | evaluation(table, fitted.labels)
    if stability is not None:
        result["stability"] = [None if np.isnan(value) else round(float(value), 3) for value in stability]
    rows, columns = preparing.shape_of(table.data)
    known: dict[str, Any] = {"rows": rows, "columns": columns, "id_column": table.id_column}
    known |= {"date_orders": table.date_orders} if table.date_orders else {}
    parameters = {name: value for name, (value, _) in origins(run.context).items()}
    runs.write_record(
        run.folder,
        command=run.context.info_name,
        command_line=command_line(run.context),
        parameters=parameters | {"data": run.source.path},
        chosen={name: value for name, (value, _) in run.chosen.items()},
        input={"path": run.source.path, "sha256": run.source.sha256, **known},
        result=result,
        notes=notes,
        warnings=run.warnings,
        seconds={key: round(value, 3) for key, value in run.voice.seconds.items()},
        fitted=runs.ranges_of(fitted.data, fitted.names),
    )
    _say(run, result, [*files, "run.json"])


def _write(run: Outcome, stability: Float | None, progress: Callable[..., None]) -> list[str]:
    """All files but the record; returns their names."""
    folder, table, raw, fitted = run.folder, run.source.table, run.given["raw_cells"], run.fitted
    clusters = clusters_of(fitted, table, stability)
    ids, tried = identities(table), run.tried
    cells = {name: [_cell(name, one[name]) for one in clusters] for name in clusters[0]}
    writers: dict[str, Callable[[Path], None]] = {
        "labels.csv": lambda path: write_table(path, label_columns(fitted, table), raw=raw),
        "clusters.csv": lambda path: write_table(path, cells, raw=raw),
        "clusters.json": lambda path: write_json(path, clusters),
        embedding_name(): lambda path: write_table(path, embedding_columns(ids, fitted.embedding), raw=raw),
        "model.skops": lambda path: _save_model(run, path),
        "report.html": lambda path: _write_report(run, stability, path),
    }
    if tried is not None:
        writers["candidates.csv"] = lambda path: write_table(path, tried, raw=raw)
    # Without its record a folder does not claim to be a whole run.
    (folder / RECORD).unlink(missing_ok=True)
    for number, (name, write) in enumerate(writers.items(), 1):
        write(folder / name)
        progress(number, total=len(writers), what="file")
    if run.given["plot"] is not None:
        # Dots are pixels in a drawing of lines where they are many.
        drawn = EmbeddingDisplay.from_estimator(fitted, table.data, rasterized=fitted.labels.size > _DOTS)
        save_drawing(drawn.ax_, run.given["plot"])
    for stale in set(OUTPUTS) - set(writers):  # of an earlier run, replaced by --force
        (folder / stale).unlink(missing_ok=True)
    return list(writers)


def _save_model(run: Outcome, path: Path) -> None:
    with written(path) as temporary:
        jc.save(run.fitted.model, temporary)


def _write_report(run: Outcome, stability: Float | None, path: Path) -> None:
    table = run.source.table
    shape, order = image_of(run.source, run.given)
    with written(path) as temporary:
        jc.write_report(
            run.fitted,
            table.data,
            temporary,
            ids=table.ids,
            classes=table.classes,
            stability=stability,
            image_shape=shape,
            image_order=order,
            title="standard input" if run.source.path == "-" else Path(run.source.path).name,
            parameters=origins(run.context) | run.chosen,
            candidates=run.tried,
            warnings=run.warnings,
            command=command_line(run.context),
            checksum=run.source.sha256,
            most_megabytes=run.given["report_megabytes"],
        )


def stability_of(fitted: Fitted, n_resamples: int, seed: int) -> Float | None:
    """How far each cluster can be trusted: by the consensus's members, else by bootstrap.

    The bootstrap is that of :func:`jointclust.bootstrap_stability`, on a sample of the rows and in their leading
    principal components: its cost must not depend on the size of the file.
    """
    if fitted.member_stability is not None or n_resamples == 0:
        return fitted.member_stability
    rows, labels, clusterer = fitted.rows, fitted.labels, fitted.clusterer
    rng, n = np.random.RandomState(seed), rows.shape[0]
    sample = np.arange(n) if n <= _STABILITY_ROWS else np.sort(rng.permutation(n)[:_STABILITY_ROWS])
    n_clusters, own, small = int(labels.max()) + 1, labels[sample], rows[sample]
    if n_clusters == 1 or sample.size < max(2 * n_clusters, _FEW_ROWS):
        return None  # nothing to tell apart, or too few rows for a resample to hold it
    most = max(_STABILITY_COLUMNS, getattr(clusterer, "n_components", None) or 0)
    if small.shape[1] > most:
        reduce = TruncatedSVD if sp.issparse(small) else PCA
        small = reduce(min(most, min(small.shape) - 1), random_state=0).fit_transform(small)
    found = resampled_jaccard(clusterer, small, own, n_clusters, n_resamples, rng)
    absent = np.bincount(own, minlength=n_clusters) == 0
    return np.where(absent, np.nan, found)


def image_of(source: InputFile, given: dict[str, Any]) -> tuple[tuple[int, int] | None, str]:
    """Shape of rows that are images: as the user says, or as the data sets of that name are."""
    n_features, text = preparing.shape_of(source.table.data)[1], given["image_shape"]
    if text is None:
        known, order = jc.datasets.image_layout(Path(source.path).name.split(".")[0])
        is_known = known is not None and known[0] * known[1] == n_features
        return (known, order) if is_known else (None, given["image_order"])
    try:
        height, width = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise click.UsageError(f"--image-shape {text}: write it as HEIGHTxWIDTH, such as 32x32.") from None
    if min(height, width) < 1:
        raise click.UsageError(f"--image-shape {text}: height and width are at least 1.")
    if height * width != n_features:
        raise click.UsageError(f"--image-shape {text} makes {height * width} pixels; the data have {n_features}.")
    return (height, width), given["image_order"]


def _check_same_data(run: Outcome) -> None:
    """Say so when a run is repeated on other data than its record names."""
    path = run.given.get("config")
    if path and path.endswith(".json"):
        recorded = json.loads(Path(path).read_text(encoding="utf-8")).get("input", {}).get("sha256")
        if recorded != run.source.sha256:
            run.voice.say(f"Warning: {run.source.path} is not the file of {path}; its content differs.")


def _describe(run: Outcome) -> None:
    """More of the method than most want to know."""
    clusterer = run.fitted.clusterer
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
    told = {"out": str(run.folder.resolve()), "files": files, "warnings": list(map(in_options, run.messages))}
    run.voice.result("\n".join(lines), result | told)


# -- the tables ---------------------------------------------------------------------------------------------------


def clusters_of(fitted: Fitted, table: Table, stability: Float | None) -> list[dict[str, Any]]:
    """Facts of each cluster by name, those that explain it among them; what is not known is not there."""
    classes, ids, confidence = class_names(fitted.clusterer), identities(table), fitted.confidence
    clusters = []
    explained: Any = fitted.explanation.to_dict()["clusters"]
    for found in explained:
        number, own = found["cluster"], fitted.labels == found["cluster"]
        facts: dict[str, Any] = {"cluster": number}
        if classes:
            facts["class"] = classes[number] if number < len(classes) else ""
        facts |= {"size": found["size"], "share": round(found["share"], 6)}
        if stability is not None:
            facts["stability"] = None if np.isnan(stability[number]) else round(float(stability[number]), 3)
        if confidence is not None:
            facts["confidence"] = round(float(np.mean(confidence[own])), 3)
        facts |= _main_class(table.classes, own)
        facts |= {"rules": found["rules"], "features": found["features"]}
        facts["typical"] = [str(ids[row]) for row in found["typical"]]
        clusters.append(facts)
    return clusters


def label_columns(fitted: Fitted, table: Table) -> dict[str, Any]:
    """What goes into labels.csv."""
    labels = np.asarray(fitted.clusterer.labels_)
    columns = {"id": identities(table), "label": labels, **class_column(fitted.clusterer, labels)}
    if fitted.confidence is not None:
        columns["confidence"] = np.round(fitted.confidence, 6)
    if hasattr(fitted.clusterer, "sample_weights_"):
        columns["weight"] = fitted.clusterer.sample_weights_
    return columns


def _main_class(classes: NDArray[Any] | None, own: NDArray[np.bool_]) -> dict[str, Any]:
    """The most frequent of the classes that are only for judging, and its share of the rows that have one."""
    if classes is None:
        return {}
    known = classes[own][_is_known(classes[own])].astype(str)
    if known.size == 0:
        return {"main_class": "", "main_class_share": None}
    values, sizes = np.unique(known, return_counts=True)
    return {"main_class": str(values[sizes.argmax()]), "main_class_share": round(sizes.max() / known.size, 3)}


def _cell(name: str, value: Any) -> object:
    if name == "rules":
        told = [f"{one['text']} (precision {one['precision']:.0%}, coverage {one['coverage']:.0%})" for one in value]
        return "; or ".join(told[:_RULES])
    if name == "features":
        return "; ".join(f"{one['name']} ({one['effect']:+.2g})" for one in value[:_FEATURES])
    return "; ".join(value) if name == "typical" else "" if value is None else value


def evaluation(table: Table, labels: Labels) -> dict[str, float]:
    """Agreement with known classes, where there are some, on the rows whose class the fit has not seen."""
    if table.classes is None:
        return {}
    known = _is_known(table.classes)
    seen = np.zeros_like(known) if table.known is None else _is_known(table.known)
    judged = known & ~seen
    if not judged.any():
        return {}
    classes, labels = np.asarray(table.classes)[judged], np.asarray(labels)[judged]
    left_out = {"rows_without_class": int((~known).sum()), "rows_fitted_with_class": int(seen.sum())}
    return {
        "accuracy": float(jc.metrics.clustering_accuracy(classes, labels)),
        "nmi": float(jc.metrics.normalized_mutual_info(classes, labels)),
        **{name: number for name, number in left_out.items() if number},
    }


def _is_known(classes: NDArray) -> NDArray[np.bool_]:
    return np.array([not is_gap(str(value)) for value in classes], dtype=bool)
