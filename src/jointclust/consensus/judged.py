"""Data in their views as the judge sees them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jointclust.consensus.views import ViewedData
from jointclust.judge.evidence import MOST_ROWS, Evidence
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float

# Directions of a view: share of its variance, most of them.
_VARIANCE, _DIRECTIONS = 0.95, 50


def evidence_in(viewed: ViewedData, sample: NDArray[np.intp]) -> tuple[Evidence, NDArray[np.intp]] | None:
    """The evidence in (a part of) a sample of the rows, and the numbers of these rows; None if all rows are equal.

    Both are functions of the data: they depend neither on chance nor on the order of the rows.
    """
    coordinates = [viewed.coordinates(number, sample) for number in range(len(viewed))]
    varied = [one for one in coordinates if not one.is_constant]
    if not varied:
        return None
    present, first = varied[0].present, leading_directions(varied[0])
    order = canonical_order(first)
    if order.size > MOST_ROWS:
        order = order[np.sort(np.random.RandomState(0).choice(order.size, MOST_ROWS, replace=False))]
    views = [first[order], *(leading_directions(one)[order] for one in varied[1:])]
    rows = sample[np.arange(sample.size)[present][order]]
    weights = None if viewed.weights is None else np.asarray(viewed.weights, dtype=np.float64)[rows]
    return Evidence.of(views, weights), rows


def leading_directions(coordinates: Coordinates) -> Float:
    """The rows that have weight, in their leading directions."""
    kept = coordinates.keep(_VARIANCE)
    return kept.leading(min(kept.rank, _DIRECTIONS))[coordinates.present].astype(np.float64)


def canonical_order(Z: Float) -> NDArray[np.intp]:
    """An order of the rows that does not depend on the given one: by length, then by coordinates, up to rounding."""
    length = np.einsum("ij,ij->i", Z, Z)
    unit = 1e-9 * max(float(length.max()), np.finfo(float).tiny)
    return np.lexsort([*np.round(Z[:, :3].T / np.sqrt(unit)), np.round(length / unit)])
