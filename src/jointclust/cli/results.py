"""What `fit` and `select` do once a model is fitted: judge it, write everything, say what was found."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA, TruncatedSVD

import jointclust as jc
from jointclust.choosing.stability import resampled_jaccard
from jointclust.cli import preparing
from jointclust.cli.console import Voice
from jointclust.cli.options import image_shape
from jointclust.cli.runs import (
    OUTPUTS,
    RECORD,
    InputFile,
    embedding_columns,
    embedding_name,
    evaluation,
    identities,
    label_columns,
    write_record,
    write_table,
    written,
)
from jointclust.showing import fitted
from jointclust.showing.report import write_report
from jointclust.types import Float, Matrix, Predictor

# Rows and components that the bootstrap looks at, at the most.
_STABILITY_ROWS, _STABILITY_COLUMNS = 2000, 50


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted model and all that is known of how it came about.

    Attributes
    ----------
    rows : array
        The rows as the clusterer got them.
    origins, chosen : dict of name to (value, who chose it)
        Parameters of the command, which repeat it, and those found on the way.
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
    origins: dict[str, tuple[Any, str]]
    messages: list[str]
    given: dict[str, Any]
    chosen: dict[str, tuple[Any, str]] = field(default_factory=dict)
    tried: dict[str, list[Any]] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def warnings(self) -> list[str]:
        return [*self.source.table.notes, *self.messages]


def finish(run: Outcome) -> None:
    """Write the folder of a run, its record last."""
    _check_same_data(run)
    with run.voice.step("stability", "Judging the clusters' stability"):
        stability = stability_of(run.model, run.rows, run.given["resamples"], run.given["seed"])
    before = {name for name in OUTPUTS if (run.folder / name).exists()}
    with run.voice.step("write", f"Writing {run.folder}"):
        try:
            files = _write(run, stability)
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
    write_record(
        run.folder,
        command="select" if run.tried is not None else "fit",
        parameters={name: value for name, (value, _) in run.origins.items()} | {"data": run.source.path},
        chosen={name: value for name, (value, _) in run.chosen.items()},
        input={"path": run.source.path, "sha256": run.source.sha256, "rows": rows, "columns": columns},
        result=result,
        notes=run.notes,
        warnings=run.warnings,
        seconds={key: round(value, 3) for key, value in run.voice.seconds.items()},
    )
    _say(run, result, [*files, "run.json"])


def _write(run: Outcome, stability: Float | None) -> list[str]:
    """All files but the record; returns their names."""
    folder, table = run.folder, run.source.table
    # Without its record a folder does not claim to be a whole run.
    (folder / RECORD).unlink(missing_ok=True)
    write_table(folder / "labels.csv", label_columns(table, run.model))
    Y = fitted.embedding_of(run.model, table.data)
    write_table(folder / embedding_name(), embedding_columns(identities(table), Y))
    with written(folder / "model.skops") as temporary:
        jc.save(run.model, temporary)
    shape, order = image_of(run.source, run.given)
    with written(folder / "report.html") as temporary:
        write_report(
            run.model,
            table.data,
            temporary,
            ids=table.ids,
            classes=table.classes,
            feature_names=table.names,
            stability=stability,
            image_shape=shape,
            image_order=order,
            title=Path(run.source.path).name if run.source.path != "-" else "standard input",
            parameters=run.origins | run.chosen,
            candidates=run.tried,
            warnings=run.warnings,
        )
    files = ["labels.csv", embedding_name(), "model.skops", "report.html"]
    if run.tried is not None:
        write_table(folder / "candidates.csv", run.tried)
        files.append("candidates.csv")
    for stale in set(OUTPUTS) - set(files):  # of an earlier run, replaced by --force
        (folder / stale).unlink(missing_ok=True)
    return files


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
    if n_clusters > sample.size // 2:
        return None  # a resample may not hold them
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


def _say(run: Outcome, result: dict[str, Any], files: list[str]) -> None:
    for message in run.messages:
        run.voice.say(f"Warning: {message}")
    lines = [f"{result['rows']} rows in {result['clusters']} clusters of {', '.join(map(str, result['sizes'][:20]))}"]
    if "rejected" in result:
        lines.append(f"{result['rejected']} of them are not sure enough: their label is -1 (reject_below)")
    if "accuracy" in result:
        without = result.get("rows_without_class")
        note = f" ({without} rows without a class are left out)" if without else ""
        lines.append(f"Against the known classes{note}: accuracy {result['accuracy']:.3f}, NMI {result['nmi']:.3f}")
    lines.append(f"Wrote {', '.join(files)}")
    lines.append(f"Open {(run.folder / 'report.html').resolve()}")
    told = {"out": str(run.folder.resolve()), "files": files, "warnings": run.messages}
    run.voice.result("\n".join(lines), result | told)
