"""What the script of a page gets: positions, columns to colour by, and as many features as there is room for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.consensus.estimator import JointConsensus
from jointclust.showing.colours import PALETTE, SCALE
from jointclust.showing.report import _pack
from jointclust.showing.report._content import Content
from jointclust.types import Float

# Clusters that a row's votes are kept for.
_VOTES = 3


def payload(content: Content) -> dict[str, Any]:
    """All but the features."""
    return {
        "n": int(content.fitted.labels.size),
        "axes": _axes(content),
        "columns": _columns(content),
        "ids": None if content.ids is None else _pack.names(content.ids),
        "votes": _votes(content),
        "tree": _tree(content),
        "image": None if content.image is None else {"shape": content.image[0], "order": content.image[1]},
        "looks": _pack.looks(),
        "turn": len(PALETTE),
        "scale": SCALE,
        "title": content.title,
        "n_features": len(content.fitted.names),
    }


def features(content: Content, room: int) -> list[dict[str, Any]]:
    """Features of which the packed text fits into the room, those that tell the clusters apart most first."""
    found: list[dict[str, Any]] = []
    for index, column in zip(content.telling, _dense_columns(content.fitted.data, content.telling), strict=True):
        feature = {**_pack.numbers(content.fitted.names[index], column), "index": int(index)}
        room -= len(_pack.script_json(feature)) + 1
        if room < 0:
            break
        found.append(feature)
    return found


def _dense_columns(data: Any, order: NDArray[np.intp]) -> Iterable[NDArray[Any]]:
    if not hasattr(data, "tocsc"):
        for index in order:
            yield np.asarray(data[:, index])
        return
    columns = data.tocsc()
    for index in order:
        own = slice(columns.indptr[index], columns.indptr[index + 1])
        dense = np.zeros(columns.shape[0])
        dense[columns.indices[own]] = columns.data[own]
        yield dense


def _axes(content: Content) -> list[dict[str, Any]]:
    layout = list(content.fitted.layout.T) if content.has_layout else []
    return [_pack.axis("neighbour map", column, layout=True) for column in layout] + [
        _pack.axis(
            one.name,
            one.values,
            share=one.share,
            like=[[content.fitted.names[index], round(value, 2)] for index, value in one.like],
        )
        for one in content.fitted.directions
    ]


def _columns(content: Content) -> list[dict[str, Any]]:
    found: list[dict[str, Any] | None] = [_clusters(content)]
    if content.classes is not None:
        found.append(_pack.categories("class", content.classes))
    if content.confidence is not None:
        found.append(_pack.numbers("confidence", content.confidence))
    for name, attribute in (("weight", "sample_weights_"), ("outlier score", "outlier_scores_")):
        if hasattr(content.fitted.clusterer, attribute):
            found.append(_pack.numbers(name, getattr(content.fitted.clusterer, attribute)))
    return [column for column in found if column is not None]


def _clusters(content: Content) -> dict[str, Any]:
    """All clusters by their numbers, also those without rows: one colour is one cluster on the whole page."""
    names = [str(cluster) for cluster in range(content.n_clusters)]
    codes = _pack.coded(content.fitted.labels, content.n_clusters - 1)
    return {
        "name": "cluster",
        "kind": "category",
        "names": names,
        "sizes": content.fitted.profile.sizes.tolist(),
        **codes,
    }


def _votes(content: Content) -> dict[str, Any] | None:
    """The clusters with most votes of each row, and their shares."""
    soft = content.fitted.soft_labels
    if soft is None or content.n_clusters < 2:
        return None
    values: Float = np.asarray(soft)
    order = np.argsort(-values, axis=1, kind="stable")[:, : min(_VOTES, values.shape[1])]
    shares = np.round(np.take_along_axis(values, order, axis=1) * 255)
    kind: type[np.unsignedinteger] = np.uint8 if values.shape[1] <= 256 else np.uint16
    order = np.where(shares > 0, order, 0)  # what has no votes need not be told apart
    return {
        "each": order.shape[1],
        "bits": 8 * np.dtype(kind).itemsize,
        "clusters": _pack.packed(order.T.astype(kind)),
        "shares": _pack.packed(shares.T.astype(np.uint8)),
    }


def _tree(content: Content) -> dict[str, Any] | None:
    """Layers of a consensus: the finest one, and how its clusters join."""
    clusterer = content.fitted.clusterer
    if not isinstance(clusterer, JointConsensus):
        return None
    try:
        linkage = clusterer.linkage()
        leaves = np.asarray(clusterer.cut(len(linkage) + 1))
    except AttributeError:  # a model of rows elsewhere, or an old one, that kept nothing to make layers from
        return None
    if len(linkage) == 0 or leaves.size != content.fitted.labels.size:
        return None
    kind: type[np.unsignedinteger] = np.uint8 if len(linkage) < 256 else np.uint16
    return {
        "joins": [[int(first), int(second), round(float(height), 4)] for first, second, height, _ in linkage],
        "bits": 8 * np.dtype(kind).itemsize,
        "data": _pack.packed(leaves.astype(kind)),
    }
