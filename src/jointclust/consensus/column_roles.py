"""How far each column of a table separates the clusters that were found."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import entropy

from jointclust.exceptions import ColumnWarning, tell
from jointclust.numerics.partitions import centers_of
from jointclust.types import Float, Labels
from jointclust.views.blocks import DescribedBlocks, in_block
from jointclust.views.columns import Facts
from jointclust.views.kinds import Described, Description
from jointclust.views.relations import Coded
from jointclust.views.usage import LEFT_OUT, MOST_COLUMNS, coded

# A column decides if it explains this share of the clusters; it is a copy of another that explains this share of it,
# and this share of what it varies within clusters; other columns show the clusters, too, if they explain this share.
_DECIDES, _COPY, _COPY_WITHIN, SHOWN = 0.8, 0.9, 0.5, 0.5
# Share of its spread below which a column does not vary within clusters.
_CONSTANT = 1e-9
# Cells of a number for each cluster, and at the most.
_CELLS, _MOST_CELLS = 4, 50


class ColumnRoles(NamedTuple):
    """How far each column separates the clusters, 0 to 1 (NaN if unknown); the column that alone decides, if any."""

    drives: Float
    decisive: str | None


def column_roles(
    looked_at: Described | DescribedBlocks | None, labels: Labels, voting: Collection[str] = ()
) -> ColumnRoles:
    """The roles of columns in clusters of the rows that they were described from.

    Where several blocks vote, no column decides alone: the clusters are those of several sources.
    """
    if isinstance(looked_at, DescribedBlocks):
        roles = {name: column_roles(part, labels) for name, part in looked_at.parts.items()}
        first = next((name for name in voting if len(voting) == 1), None)
        alone = None if first is None else roles[first].decisive
        together = np.concatenate([one.drives for one in roles.values()])
        return ColumnRoles(together, None if first is None or alone is None else in_block(first, alone))
    if looked_at is None or not looked_at.columns:
        return ColumnRoles(np.full(0 if looked_at is None else looked_at.description.used.size, np.nan), None)
    columns = looked_at.columns
    own = labels if looked_at.positions is None else labels[looked_at.positions]
    labels = np.unique(own, return_inverse=True)[1].astype(np.int32)
    usable = [index for index, column in enumerate(columns) if column.kind not in LEFT_OUT]
    drives = np.full(len(columns), np.nan)
    if len(usable) > MOST_COLUMNS:
        return ColumnRoles(drives, None)
    codes = {index: coded(columns[index]) for index in usable}
    for index, one in codes.items():
        drives[index] = share_of(one, labels)
    if looked_at.description.kind not in ("table", "mixed"):
        return ColumnRoles(drives, None)
    used = looked_at.description.used
    decisive = _decisive(columns, {index: one for index, one in codes.items() if used[index]}, labels)
    return ColumnRoles(drives, None if decisive is None else str(looked_at.description.columns[decisive].name))


def share_of(column: Coded, labels: Labels) -> float:
    """Share of a column's spread that a partition explains, of the most that it can explain, corrected for chance.

    Of a number the scores count, of a category of two levels one of them, of others all: Cramer's V squared.
    """
    values, own = column.values[column.present], np.unique(labels[column.present], return_inverse=True)[1]
    k, width = int(own.max(initial=-1)) + 1, values.shape[1]
    if k < 2 or width == 0 or len(own) <= k:
        return 0.0
    values = values if width > 2 else values[:, :1]
    n_directions = max(width - 1, 1) if width > 2 else 1
    between = float((np.bincount(own) @ centers_of(values, own, k) ** 2).sum())
    total, most = float((values**2).sum()) / n_directions, min(n_directions, k - 1)
    chance = (k - 1) * n_directions / ((len(own) - 1) * most)
    return float(np.clip((between / total / most - chance) / max(1 - chance, 1e-9), 0.0, 1.0))


def describe_decisive(name: str, remedy: str | None = None) -> str:
    """That the clusters are those of one column, in words, and how to leave it out."""
    how = "" if remedy is None else f" ({remedy})"
    return (
        f"These clusters are (nearly) the values of column {name!r}; the other columns do not show them. If they are "
        f"not what you look for, leave the column out{how}."
    )


def warn_of_decisive(name: str) -> None:
    """Warn that the clusters are those of one column."""
    tell(describe_decisive(name), ColumnWarning)


def columns_with_roles(description: Description | None, roles: ColumnRoles) -> list[dict[str, Any]]:
    """Name, kind, use, relation and role of each column, and why it is used or not."""
    columns = [] if description is None else description.columns
    drives = roles.drives.tolist() or [np.nan] * len(columns)
    names = ("name", "kind", "used", "related", "why")
    entries = [{name: getattr(column, name) for name in names} for column in columns]
    for one, drive in zip(entries, drives, strict=True):
        if one["name"] == roles.decisive:
            one["why"] = "the clusters are (nearly) its values, and no other column shows them"
        one["drives"] = drive
    return entries


def _decisive(columns: Sequence[Facts], codes: dict[int, Coded], labels: Labels) -> int | None:
    """The column of which the clusters are a function, if the others do not show the clusters without it."""
    k = int(labels.max()) + 1
    if k < 2 or len(codes) < 2:
        return None
    cells = {index: _cells(columns[index], k) for index in codes}
    known = {index: _known_share(labels, of_column) for index, of_column in cells.items()}
    best = max(known, key=lambda index: known[index])
    if known[best] < _DECIDES:
        return None
    by_cell = np.unique(cells[best], return_inverse=True)[1].astype(np.int32)
    others = [index for index, one in codes.items() if index != best and not _is_copy(one, by_cell, labels)]
    if any(known[index] >= SHOWN for index in others):  # one that shows them in no linear way
        return None
    return best if share_shown([codes[index] for index in others], labels) < SHOWN else None


def _is_copy(column: Coded, by_cell: Labels, labels: Labels) -> bool:
    """Whether a column says what another says, whose cells are given, and not only what the clusters say, too."""
    if share_of(column, by_cell) < _COPY:
        return False
    values, own, cells = column.values[column.present], labels[column.present], by_cell[column.present]
    own, cells = (np.unique(part, return_inverse=True)[1].astype(np.int32) for part in (own, cells))
    within = values - centers_of(values, own, int(own.max()) + 1)[own]
    if (within**2).sum() <= _CONSTANT * (values**2).sum():
        return True
    return share_of(Coded(within, np.ones(len(within), dtype=bool)), cells) >= _COPY_WITHIN


def _cells(column: Facts, k: int) -> NDArray[np.intp]:
    """The level of each row, or the cell of its number; gaps are a cell."""
    if column.numbers is None:
        return np.asarray(column.codes)
    values = column.numbers
    edges = np.nanquantile(values, np.linspace(0, 1, min(_CELLS * k, _MOST_CELLS) + 1)[1:-1])
    return np.where(np.isnan(values), -1, np.searchsorted(np.unique(edges), values, side="right"))


def _known_share(labels: Labels, cells: NDArray[np.intp]) -> float:
    """Share of the labels' entropy that the cells explain, minus what they explain by chance."""
    places = np.unique(cells, return_inverse=True)[1]
    together = np.bincount(places * (int(labels.max()) + 1) + labels)
    sizes = [np.bincount(places), np.bincount(labels)]
    of_cells, of_labels, of_both = (entropy(counts) for counts in (*sizes, together))
    chance = (sizes[0].size - 1) * (sizes[1].size - 1) / (2 * labels.size)
    return float((of_cells + of_labels - of_both - chance) / max(of_labels - chance, 1e-9))


def share_shown(columns: list[Coded], labels: Labels) -> float:
    """Share of the labels' spread that coded columns explain linearly, minus what they explain by chance."""
    if not columns:
        return 0.0
    codes = np.hstack([column.values for column in columns])
    targets = np.eye(int(labels.max()) + 1)[labels]
    targets -= targets.mean(axis=0)
    values, vectors = np.linalg.eigh(codes.T @ codes)
    kept = values > 1e-9 * values[-1]
    basis = codes @ (vectors[:, kept] / np.sqrt(values[kept]))
    share = ((basis.T @ targets) ** 2).sum() / max((targets**2).sum(), 1e-300)
    freedom = (len(labels) - 1) / max(len(labels) - 1 - int(kept.sum()), 1)
    return float(1 - (1 - share) * freedom)
