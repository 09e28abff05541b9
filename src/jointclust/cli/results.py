"""What `fit` and `select` do once a model is fitted: judge it, write everything, say what was found."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import jointclust as jc
from jointclust import fitted
from jointclust.cli.console import Voice
from jointclust.cli.options import image_shape
from jointclust.cli.runs import (
    OUTPUTS,
    Source,
    embedding_columns,
    embedding_name,
    evaluation,
    identities,
    label_columns,
    write_record,
    write_table,
    written,
)
from jointclust.report import write_report
from jointclust.types import Float

# Rows that the bootstrap looks at, at the most: its cost must not depend on the size of the file.
_STABILITY_ROWS = 2000


def finish(
    voice: Voice,
    folder: Path,
    source: Source,
    model: Any,
    rows: Any,
    origins: dict[str, tuple[Any, str]],
    heard: list[Any],
    given: dict[str, Any],
    *,
    chosen: dict[str, tuple[Any, str]] | None = None,
    candidates: dict[str, list[Any]] | None = None,
) -> None:
    """Write the folder of a run, its record last."""
    table, labels = source.table, fitted.labels_of(model)
    messages = list(dict.fromkeys(str(warning.message) for warning in heard))
    with voice.step("stability", "Judging the clusters' stability"):
        stability = stability_of(model, rows, given["resamples"], given["seed"])
    shape, order = _image(source, given)
    with voice.step("write", f"Writing {folder}"):
        write_table(folder / "labels.csv", label_columns(table, model))
        Y = fitted.embedding_of(model, table.data)
        write_table(folder / embedding_name(), embedding_columns(identities(table), Y))
        with written(folder / "model.skops") as temporary:
            jc.save(model, temporary)
        with written(folder / "report.html") as temporary:
            write_report(
                model,
                table.data,
                temporary,
                ids=table.ids,
                classes=table.classes,
                feature_names=table.names,
                stability=stability,
                image_shape=shape,
                image_order=order,
                title=Path(source.path).name if source.path != "-" else "standard input",
                parameters=origins | (chosen or {}),
                candidates=candidates,
                warnings=[*table.notes, *messages],
            )
    files = ["labels.csv", embedding_name(), "model.skops", "report.html"] + (["candidates.csv"] if candidates else [])
    for stale in set(OUTPUTS) - set(files):  # of an earlier run, replaced by --force
        (folder / stale).unlink(missing_ok=True)
    sizes = np.bincount(labels, minlength=1).tolist()
    result: dict[str, Any] = {
        "rows": int(labels.size),
        "clusters": len(sizes),
        "sizes": sizes,
        **evaluation(table, labels),
    }
    if stability is not None:
        result["stability"] = np.round(stability, 3).tolist()
    write_record(
        folder,
        command="select" if candidates is not None else "fit",
        parameters={name: value for name, (value, _) in origins.items()} | {"data": source.path},
        chosen={name: value for name, (value, _) in (chosen or {}).items()},
        input={
            "path": source.path,
            "sha256": source.sha256,
            "rows": table.data.shape[0],
            "columns": table.data.shape[1],
        },
        result=result,
        warnings=[*table.notes, *messages],
        seconds={key: round(value, 3) for key, value in voice.seconds.items()},
    )
    _say(voice, folder, result, messages, [*files, "run.json"])
    _check_same_data(voice, source, given)


def stability_of(model: Any, rows: Any, n_resamples: int, seed: int) -> Float | None:
    """How far each cluster can be trusted: by the consensus's members, or by bootstrap on a sample of the rows."""
    found = fitted.member_stability(model)
    if found is not None or n_resamples == 0:
        return found
    n = rows.shape[0]
    chosen = (
        slice(None) if n <= _STABILITY_ROWS else np.sort(np.random.RandomState(seed).permutation(n)[:_STABILITY_ROWS])
    )
    clusterer = fitted.last_step(model)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = jc.bootstrap_stability(clusterer, rows[chosen], n_resamples=n_resamples, random_state=seed)
    except (TypeError, ValueError):  # too few rows to draw from
        return None
    full = np.full(int(fitted.labels_of(model).max()) + 1, np.nan)
    full[: found.size] = found
    return full


def _image(source: Source, given: dict[str, Any]) -> tuple[tuple[int, int] | None, str]:
    """Shape of rows that are images: as the user says, or as the data sets of that name are."""
    n_features = source.table.data.shape[1]
    shape = image_shape(given["image_shape"], n_features)
    known, order = jc.datasets.image_layout(Path(source.path).name.split(".")[0])
    if shape is None and known is not None and known[0] * known[1] == n_features:
        return known, order
    return shape, given["image_order"]


def _check_same_data(voice: Voice, source: Source, given: dict[str, Any]) -> None:
    """Say so when a run is repeated on other data than its record names."""
    path = given.get("config")
    if path and path.endswith(".json"):
        recorded = json.loads(Path(path).read_text(encoding="utf-8"))["input"]["sha256"]
        if recorded != source.sha256:
            voice.say(f"Warning: {source.path} is not the file of {path}; its content differs.")


def _say(voice: Voice, folder: Path, result: dict[str, Any], messages: list[str], files: list[str]) -> None:
    for message in messages:
        voice.say(f"Warning: {message}")
    lines = [f"{result['rows']} rows in {result['clusters']} clusters of {', '.join(map(str, result['sizes'][:20]))}"]
    if "accuracy" in result:
        lines.append(f"Against the known classes: accuracy {result['accuracy']:.3f}, NMI {result['nmi']:.3f}")
    lines.append(f"Wrote {', '.join(files)}")
    lines.append(f"Open {(folder / 'report.html').resolve()}")
    voice.result("\n".join(lines), result | {"out": str(folder.resolve()), "files": files, "warnings": messages})
