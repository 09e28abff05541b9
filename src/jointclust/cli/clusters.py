"""What each cluster is, a line each: clusters.csv for people, clusters.json for programs."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

import jointclust as jc
from jointclust.cli.runs import class_names, identities
from jointclust.readers import Table
from jointclust.readers._cells import is_gap
from jointclust.showing import fitted
from jointclust.types import Float, Predictor

# Rules and features of a cluster in a cell of the table, at the most; the JSON has all.
_RULES, _FEATURES = 2, 5


def clusters_of(
    model: Predictor, table: Table, stability: Float | None, explanation: jc.Explanation
) -> list[dict[str, Any]]:
    """Facts of each cluster by name, those that explain it among them; what is not known is not there."""
    labels, confidence = fitted.labels_of(model), fitted.confidence_of(model)
    classes, ids = class_names(fitted.last_step(model)), identities(table)
    clusters = []
    for found in cast(list[dict[str, Any]], explanation.to_dict()["clusters"]):
        number, own = found["cluster"], labels == found["cluster"]
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


def as_columns(clusters: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The same as a table of plain cells."""
    return {name: [_cell(name, one[name]) for one in clusters] for name in clusters[0]}


def _main_class(classes: NDArray[Any] | None, own: NDArray[np.bool_]) -> dict[str, Any]:
    """The most frequent of the classes that are only for judging, and its share of the rows that have one."""
    if classes is None:
        return {}
    known = [str(name) for name in classes[own] if not is_gap(str(name))]
    if not known:
        return {"main_class": "", "main_class_share": None}
    values, sizes = np.unique(known, return_counts=True)
    return {"main_class": str(values[sizes.argmax()]), "main_class_share": round(sizes.max() / len(known), 3)}


def _cell(name: str, value: Any) -> object:
    if name == "rules":
        told = [f"{one['text']} (precision {one['precision']:.0%}, coverage {one['coverage']:.0%})" for one in value]
        return "; or ".join(told[:_RULES])
    if name == "features":
        return "; ".join(f"{one['name']} ({one['effect']:+.2g})" for one in value[:_FEATURES])
    return "; ".join(value) if name == "typical" else "" if value is None else value
