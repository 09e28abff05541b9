"""Between which values the features of the fitted rows lie, and new rows that lie far outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from jointclust.showing.fitted import features_of
from jointclust.types import Float, Predictor

# Columns beyond which one range stands for all: then they are pixels, words or genes, of one unit.
_MOST = 1000


def ranges_of(data: Any, names: list[str]) -> dict[str, Any]:
    """For the record of a run: lowest and highest value of each feature, or of all where these are many."""
    low, high = _ends(data)
    if len(names) > _MOST:
        return {"lowest": [float(low.min())], "highest": [float(high.max())], "features": None}
    return {"lowest": low.tolist(), "highest": high.tolist(), "features": names}


def outside(recorded: dict[str, Any] | None, model: Predictor, X: Any) -> str:
    """What to say of rows that lie far outside what was fitted; empty where none does or nothing is recorded.

    Far is beyond the range of a feature by more than its width.
    """
    if not recorded or getattr(X, "ndim", 2) == 1:  # texts have no ranges
        return ""
    data, _ = features_of(model, X)
    low, high = (np.asarray(recorded[key], dtype=np.float64) for key in ("lowest", "highest"))
    if low.size not in (1, data.shape[1]):
        return ""
    widths = high - low
    widths = np.where(widths > 0, widths, np.median(widths[widths > 0]) if (widths > 0).any() else 1.0)
    far, values = _farthest(data, low - widths, high + widths)
    rows = np.flatnonzero(far >= 0)
    if not rows.size:
        return ""
    column = int(np.bincount(far[rows]).argmax())
    first = rows[far[rows] == column][0]
    at = column if low.size > 1 else 0
    name = "a value" if recorded["features"] is None else repr(recorded["features"][at])
    return (
        f"{rows.size} of {data.shape[0]} rows {'lies' if rows.size == 1 else 'lie'} far outside what was fitted "
        f"({name} is {values[first]:.4g} where {low[at]:.4g} to {high[at]:.4g} were fitted): such labels mean little. "
        "Are the units those of the fit?"
    )


def _blocks(data: Any) -> list[slice]:
    size = max(2**22 // max(data.shape[1], 1), 1)
    return [slice(start, start + size) for start in range(0, data.shape[0], size)]


def _dense(block: Any) -> Float:
    return np.asarray(block.toarray() if sp.issparse(block) else block, dtype=np.float64)


def _ends(data: Any) -> tuple[Float, Float]:
    """Lowest and highest value of each column; gaps count nowhere."""
    if sp.issparse(data):
        return data.min(axis=0).toarray().ravel().astype(float), data.max(axis=0).toarray().ravel().astype(float)
    ends = [(np.fmin.reduce(block), np.fmax.reduce(block)) for block in (_dense(data[rows]) for rows in _blocks(data))]
    return np.fmin.reduce([low for low, _ in ends]), np.fmax.reduce([high for _, high in ends])


def _farthest(data: Any, low: Float, high: Float) -> tuple[np.ndarray, Float]:
    """Of each row, the column that lies farthest beyond the limits, -1 where none does, and its value there."""
    columns, values = np.full(data.shape[0], -1), np.zeros(data.shape[0])
    for rows in _blocks(data):
        block = _dense(data[rows])
        beyond = np.nan_to_num(np.maximum(low - block, block - high) / (high - low), nan=-np.inf)
        worst = beyond.argmax(axis=1)
        each = np.arange(len(block))
        columns[rows] = np.where(beyond[each, worst] > 0, worst, -1)
        values[rows] = block[each, worst]
    return columns, values
