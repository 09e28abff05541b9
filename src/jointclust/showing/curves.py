"""Columns that are a curve: in an order that their names tell, each like the one beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointclust.showing.features import Features, some_of_each
from jointclust.types import Float, Labels

# Fewest columns of a curve, and most places of it that are shown.
_FEWEST, _PLACES = 8, 256
# Curves are less rough than this: answers to numbered questions are about as rough as columns in any order.
_ROUGH = 0.5
_ROWS = 5_000


class Curves(NamedTuple):
    """Means of groups of rows over the places of a curve, and the quarters of rows below and above."""

    labels: list[str]
    mean: Float
    lower: Float
    upper: Float


def curves_of(features: Features, atoms: Labels, member: NDArray[np.bool_]) -> Curves | None:
    """The curves of groups of rows; None where the columns are none."""
    columns = ordered_columns(features)
    if columns is None:
        return None
    rows = some_of_each(atoms, _ROWS, 20, np.random.RandomState(0))
    values, own = features.columns(columns, rows), atoms[rows]
    if not _is_smooth(values):
        return None
    if columns.size > _PLACES:
        parts = np.array_split(np.arange(columns.size), _PLACES)
        values = np.column_stack([np.nanmean(values[:, part], axis=1) for part in parts])
        columns = columns[[part[0] for part in parts]]
    statistics = np.zeros((3, len(member), columns.size))
    for place, group in enumerate(member):
        inside = values[group[own]]
        if len(inside):
            statistics[0, place] = np.nanmean(inside, axis=0)
            statistics[1:, place] = np.nanpercentile(inside, [25, 75], axis=0)
    return Curves([features.of[index].name for index in columns], *np.nan_to_num(statistics))


def ordered_columns(features: Features) -> NDArray[np.intp] | None:
    """All columns, where they are numbers whose names count up: wavelengths, hours, dates, "t1", "t2", ..."""
    if len(features.of) < _FEWEST or features.are_counts or any(one.kind != "number" for one in features.of):
        return None
    places = _places([one.column for one in features.of])
    return None if places is None or not (np.diff(places) > 0).all() else np.arange(places.size)


def _places(names: Sequence[str]) -> Float | None:
    """Where names stand on a line: hours and minutes, dates, or numbers between the same letters."""
    times = [re.fullmatch(r"\D*(\d{1,2}):(\d{2})(?::(\d{2}))?\D*", name) for name in names]
    if all(times):
        return np.array([sum(int(part or 0) / 60**at for at, part in enumerate(one.groups())) for one in times if one])
    try:
        return np.array([np.datetime64(name) for name in names], "datetime64[s]").astype(float)
    except ValueError:
        pass
    matches = [re.fullmatch(r"(\D*?)(-?\d+(?:\.\d+)?)(\D*)", name) for name in names]
    if not all(matches) or len({(one[1], one[3]) for one in matches if one}) > 1:
        return None
    return np.array([float(one[2]) for one in matches if one])


def _is_smooth(values: Float) -> bool:
    """Whether values go on from one column to the next: von Neumann's ratio is 1 in a random order, and 0 of a line."""
    spread = 2.0 * float(np.nansum((values - np.nanmean(values, axis=1, keepdims=True)) ** 2))
    return spread > 0 and float(np.nansum(np.diff(values, axis=1) ** 2)) <= _ROUGH * spread
