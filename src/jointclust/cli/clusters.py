"""What each cluster is, a line each: clusters.csv for people, clusters.json for programs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.cli.runs import class_names
from jointclust.readers import Table
from jointclust.readers._cells import is_gap
from jointclust.showing import fitted
from jointclust.showing.report._profile import profile
from jointclust.types import Float, Predictor

# Features that set a cluster apart, at the most, and how many pooled standard deviations apart makes one.
_MOST, _LEAST = 5, 0.5


def clusters_of(
    model: Predictor, table: Table, data: Any, names: list[str], stability: Float | None
) -> list[dict[str, Any]]:
    """Facts of each cluster, by name; what a run does not know is not there."""
    labels = fitted.labels_of(model)
    found = profile(data, fitted.map_of(model, table.data), labels)
    confidence = fitted.confidence_of(model)
    classes = class_names(fitted.last_step(model))
    clusters = []
    for number, size in enumerate(found.sizes.tolist()):
        own = labels == number
        facts: dict[str, Any] = {"cluster": number}
        if classes:
            facts["class"] = classes[number] if number < len(classes) else ""
        facts |= {"size": size, "share": round(size / labels.size, 6)}
        if stability is not None:
            facts["stability"] = None if np.isnan(stability[number]) else round(float(stability[number]), 3)
        if confidence is not None:
            facts["confidence"] = round(float(np.mean(confidence[own])), 3) if size else None
        facts |= _main_class(table.classes, own)
        facts["features"] = _features(found.effects[number], found.means[number], found.rest[number], names)
        facts["typical"] = [str(_name(table, row)) for row in found.nearest[number].tolist()]
        clusters.append(facts)
    return clusters


def as_columns(clusters: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The same as a table of plain cells."""
    return {name: [_cell(one[name]) for one in clusters] for name in (clusters[0] if clusters else {})}


def _main_class(classes: NDArray[Any] | None, own: NDArray[np.bool_]) -> dict[str, Any]:
    """The most frequent of the classes that are only for judging, and its share of the rows that have one."""
    if classes is None:
        return {}
    known = [str(name) for name in classes[own] if not is_gap(str(name))]
    if not known:
        return {"main_class": "", "main_class_share": None}
    values, sizes = np.unique(known, return_counts=True)
    return {"main_class": str(values[sizes.argmax()]), "main_class_share": round(sizes.max() / len(known), 3)}


def _features(effects: Float, means: Float, rest: Float, names: list[str]) -> list[dict[str, Any]]:
    """The features whose means differ most, in pooled standard deviations, from those of the other rows."""
    order = [
        int(index) for index in np.argsort(-np.abs(effects), kind="stable")[:_MOST] if abs(effects[index]) >= _LEAST
    ]
    return [
        {
            "name": names[index],
            "mean": float(f"{means[index]:.6g}"),
            "others": float(f"{rest[index]:.6g}"),
            "effect": round(float(effects[index]), 2),
        }
        for index in order
    ]


def _name(table: Table, row: int) -> object:
    return row if table.ids is None else table.ids[row]


def _cell(value: Any) -> object:
    if not isinstance(value, list):
        return "" if value is None else value
    parts = [f"{one['name']} ({one['effect']:+.2g})" if isinstance(one, dict) else one for one in value]
    return "; ".join(parts)
