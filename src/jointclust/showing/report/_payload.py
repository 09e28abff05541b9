"""What the script of a page gets: positions, columns to colour by, and as many features as there is room for."""

from __future__ import annotations

import base64
import gzip
import json
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.showing.report._content import Content
from jointclust.showing.style import PALETTE, SCALE, looks, scale_colours
from jointclust.types import Float

# Levels of a number that is not whole: four digits of its range. The last code is kept for missing ones.
_LEVELS = 9_999
_MOST_CATEGORIES = 2**16 - 1
# Clusters that a row's votes are kept for.
_VOTES = 3


def payload(content: Content) -> dict[str, Any]:
    """All but the features and the columns that are shown with the rows.

    ``names`` are those of the clusters; ``words`` the words that tell each cluster, of documents; ``tree`` the layers.
    """
    return {
        "n": int(content.fitted.labels.size),
        "axes": _axes(content),
        "columns": _columns(content),
        "ids": None if content.ids is None else packed_text(json.dumps(content.ids).encode()),
        "votes": _votes(content),
        "tree": _tree(content),
        "curves": _curves(content),
        "names": content.names,
        "key": content.key,
        "shown": [],
        "image": None if content.image is None else {"shape": content.image[0], "order": content.image[1]},
        "looks": looks(),
        "turn": len(PALETTE),
        "scale": SCALE,
        "title": content.title,
        "words": content.words,
        "n_features": len(content.fitted.features.of),
    }


def features(content: Content, room: int) -> list[dict[str, Any]]:
    """Features of which the packed text fits into the room, those that tell the clusters apart most first.

    Where cells were empty, ``filled`` has one byte for each row, 1 for a value that is not in the data but was filled
    in from the row's others.
    """
    columns: list[dict[str, Any]] = []
    carried = content.fitted.features
    for index in content.telling:
        column, meaning = carried.columns(np.array([index]))[:, 0], carried.of[index]
        filled = content.fitted.filled(meaning.name, column)
        values = numbers(meaning.name, column if filled is None else filled)
        feature = {**values, "of": meaning.kind, "index": int(index)}
        if filled is not None:
            feature["filled"] = coded(np.isnan(column), 1)["data"]
        room -= len(script_json(feature)) + 1
        if room < 0:
            break
        columns.append(feature)
    return columns


def _axes(content: Content) -> list[dict[str, Any]]:
    layout = list(content.fitted.layout.T) if content.has_layout else []
    axes = [axis("neighbour map", column, layout=True) for column in layout]
    for one in content.fitted.directions:
        like = [[content.fitted.names[index], round(value, 2)] for index, value in one.like]
        axes.append(axis(one.name, one.values, share=one.share, like=like))
    return axes


def _columns(content: Content) -> list[dict[str, Any]]:
    # All clusters by their numbers, also those without rows: one colour is one cluster on the whole page.
    names = [str(cluster) for cluster in range(content.n_clusters)]
    columns = [category("cluster", names, content.fitted.labels) | {"nodes": content.layers.fitted}]
    if content.classes is not None and len(content.class_codes[0]) <= _MOST_CATEGORIES:
        columns.append(category("class", *content.class_codes))
    if content.confidence is not None:
        columns.append(numbers("confidence", content.confidence))
    for name, values in (("weight", content.fitted.row_weights), ("outlier score", content.fitted.outlier_scores)):
        if values is not None:
            columns.append(numbers(name, values))
    return columns


def _votes(content: Content) -> dict[str, Any] | None:
    """The clusters with most votes of each row, and their shares."""
    soft = content.fitted.soft_labels
    if soft is None or content.n_clusters < 2:
        return None
    values: Float = np.asarray(soft)
    order = np.argsort(-values, axis=1, kind="stable")[:, :_VOTES]
    shares = np.round(np.take_along_axis(values, order, axis=1) * 255)
    order = np.where(shares > 0, order, 0)  # clusters without votes need no order
    clusters = coded(order.T, values.shape[1] - 1, "clusters")
    return {"each": order.shape[1], **clusters, "shares": coded(shares.T, 255)["data"]}


def _tree(content: Content) -> dict[str, Any] | None:
    """Layers of a consensus: the finest one, how its clusters join, whether the data support each split.

    A split is that of the join in the same place: "supported" or "doubtful", and the predicted agreement of the
    layer that it makes; None where no rows were kept with the model. ``layers`` has the nodes of each, from one
    cluster on.
    """
    tree, layers = content.fitted.tree, content.layers
    if tree is None:
        return None
    joins = [[int(first), int(second), round(float(height), 4)] for first, second, height, _ in tree.linkage]
    splits = [
        None if word is None else [word, None if value is None else round(value, 2)]
        for word, value in reversed(content.splits)
    ]
    leaves = coded(tree.leaves, len(joins))
    return {"joins": joins, "splits": splits, "layers": layers.of_number, "looks": layers.looks, **leaves}


def _curves(content: Content) -> dict[str, Any] | None:
    """Mean curves of the nodes that are shown and, as -1, of all rows."""
    if content.curves is None:
        return None
    nodes = [*content.layers.shown, -1]
    labels, *parts = content.curves
    names = ("mean", "lower", "upper")
    packed = {name: numbers(name, part[nodes].ravel()) for name, part in zip(names, parts, strict=True)}
    return {"labels": labels, "n": len(labels), "places": nodes, **packed}


# -- columns and pictures as short text -----------------------------------------------------------------------------


def packed_text(data: bytes) -> str:
    """Bytes, compressed, as text."""
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()


def coded(codes: NDArray[Any], most: int, name: str = "data") -> dict[str, object]:
    """Codes, compressed, as text: in one byte where the largest has room in it, else in two.

    All low bytes come before all high ones, which repeat more.
    """
    bits = 8 if most <= 255 else 16
    values = codes.astype(f"<u{bits // 8}", order="C").view(np.uint8).reshape(-1, bits // 8)
    return {"bits": bits, name: packed_text(values.T.tobytes())}


def axis(name: str, values: NDArray[Any], **more: object) -> dict[str, object]:
    """Positions at 65,536 levels: finer than a screen at thirty times zoom."""
    low, high = float(values.min()), float(values.max())
    codes = np.round((values - low) / ((high - low) or 1.0) * 65535)
    return {"name": name, "min": low, "max": high, **coded(codes, 65535), **more}


def numbers(name: str, values: NDArray[Any]) -> dict[str, object]:
    """A column of numbers: whole ones as they are, others at four digits of their range."""
    values = np.asarray(values, dtype=np.float64)
    known = np.isfinite(values)
    present = values[known] if known.any() else np.zeros(1)
    low, high = float(present.min()), float(present.max())
    whole = high - low < _MOST_CATEGORIES and bool((present == np.round(present)).all())
    step = 1.0 if whole or high == low else (high - low) / _LEVELS
    most = round((high - low) / step) + 1
    missing = 255 if most <= 255 else 65535
    codes = np.where(known, np.round((np.where(known, values, low) - low) / step), missing)
    return {"name": name, "kind": "number", "min": low, "step": step, **coded(codes, missing)}


def category(name: str, names: list[str], codes: NDArray[Any]) -> dict[str, object]:
    """A column of codes, with the name that each stands for; some may not occur."""
    sizes = np.bincount(codes, minlength=len(names)).tolist()
    return {"name": name, "kind": "category", "names": names, "sizes": sizes, **coded(codes, len(names) - 1)}


def script_json(value: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c").replace("&", "\\u0026")


def picture(values: NDArray[Any], ends: tuple[float, float] | None = None, *, coloured: bool = False) -> str:
    """A small PNG as a data URI, grey or by the colour scale, from the lowest to the highest value or between ends."""
    low, high = (float(np.nanmin(values)), float(np.nanmax(values))) if ends is None else ends
    unit = np.clip((np.nan_to_num(values) - low) / ((high - low) or 1.0), 0, 1)
    pixels = np.round(unit * 255).astype(np.uint8)
    height, width = pixels.shape
    lines = np.hstack([np.zeros((height, 1), np.uint8), pixels]).tobytes()

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 3 if coloured else 0, 0, 0, 0)
    palette = chunk(b"PLTE", scale_colours().tobytes()) if coloured else b""
    body = chunk(b"IHDR", header) + palette + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()
