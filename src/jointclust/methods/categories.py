"""Columns of a table as coded levels; numbers cut at quantiles, or as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jointclust.exceptions import tell
from jointclust.types import Float
from jointclust.views.cells import Cells, Level, cells_of
from jointclust.views.columns import columns_of

KINDS = ("category", "number")


@dataclass(frozen=True, eq=False)
class Coding:
    """Levels of columns, their shares, and where numbers are cut. An estimator publishes the fields by these names.

    A level of share p is coded as ``(1[x = level] - p) / sqrt(p)``, a number that stays by mean and spread. Columns in
    which all rows are equal have no entry.
    """

    column_names_: list[str]
    levels_: dict[str, list[Level]] = field(default_factory=dict)
    shares_: dict[str, Float] = field(default_factory=dict)
    cuts_: dict[str, Float] = field(default_factory=dict)
    numbers_: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, model: object) -> Self:
        """The coding that an estimator has published."""
        return cls(**{one.name: getattr(model, one.name) for one in fields(cls)})

    @property
    def n_columns(self) -> int:
        """Columns that tell rows apart."""
        return len(self.levels_) + len(self.numbers_)

    @property
    def level_names(self) -> list[str]:
        """What each coded column stands for."""
        names: list[str] = []
        for name in self.column_names_:
            if name in self.numbers_:
                names.append(name)
            for level in self.levels_.get(name, ()):
                names.append(f"{name} = {self._interval(name, int(level)) if name in self.cuts_ else level}")
        return names

    def _interval(self, name: str, number: int) -> str:
        cuts = self.cuts_[name]
        if number == 0:
            return f"up to {cuts[0]:g}"
        return f"above {cuts[-1]:g}" if number == len(cuts) else f"{cuts[number - 1]:g} to {cuts[number]:g}"

    def coded(self, X: Any) -> Float:
        """Rows of the table, coded."""
        blocks, unknown = [np.empty((X.shape[0], 0))], list[str]()
        for cells in table_cells(X, self.column_names_):
            if cells.name in self.numbers_:
                mean, spread = self.numbers_[cells.name]
                blocks.append((cells.numbers()[:, None] - mean) / spread)
            elif cells.name in self.levels_:
                blocks.append(self._coded_levels(cells, unknown))
        if unknown:
            tell(f"Levels that fit has not seen are taken as the mean: {'; '.join(unknown)}.", UserWarning)
        return np.hstack(blocks) if self.n_columns else np.zeros((X.shape[0], 1))

    def _coded_levels(self, cells: Cells, unknown: list[str]) -> Float:
        """Rows of a table with one row per level, the last of them for what is unknown."""
        levels, codes = levels_of(cells, self.cuts_.get(cells.name))
        shares = self.shares_[cells.name]
        table = np.vstack([np.eye(shares.size) - shares, np.zeros(shares.size)]) / np.sqrt(shares)
        position = {level: number for number, level in enumerate(self.levels_[cells.name])}
        rows = np.array([position.get(level, shares.size) for level in levels], dtype=np.intp)
        new = [repr(levels[code]) for code in np.unique(codes) if rows[code] == shares.size]
        if new:
            unknown.append(f"column {cells.name!r} has {', '.join(new[:5])}{', ...' if len(new) > 5 else ''}")
        return table[rows[codes]]


def learned(
    X: Any, names: list[str], weights: Float, kinds: Mapping[str, str], n_bins: int, *, keep_numbers: bool
) -> Coding:
    """The coding of a table; ``kinds`` says of some columns whether they are categories or numbers."""
    unknown = [name for name in kinds if name not in names]
    if unknown:
        raise ValueError(f"columns names {unknown[0]!r}, which X lacks: its columns are {', '.join(names[:20])}.")
    coding = Coding(names)
    for cells in table_cells(X, names):
        kind = kinds.get(cells.name, "number" if cells.kind in ("number", "date") else "category")
        if kind not in KINDS:
            raise ValueError(f"columns[{cells.name!r}]={kind!r} is no kind of column: give one of {', '.join(KINDS)}.")
        if kind == "number" and keep_numbers:
            _learn_numbers(coding, cells, weights)
            continue
        if kind == "number":
            values = cells.numbers()
            cuts = cut_points(values, weights, n_bins)
            if cuts is not None:
                coding.cuts_[cells.name] = cuts
        _learn_levels(coding, cells, weights)
    return coding


def _learn_numbers(coding: Coding, cells: Cells, weights: Float) -> None:
    values, share = cells.numbers(), weights / weights.sum()
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        mean = float(share @ values)
        spread = float(np.sqrt(share @ (values - mean) ** 2))
    if not np.isfinite(spread) or (spread == 0 and np.ptp(values[weights > 0]) > 0):
        size = "small" if spread == 0 else "large"
        raise ValueError(
            f"The values of column {cells.name!r} are too {size}: divide it by its largest absolute value."
        )
    if spread > 1e-12 * abs(mean):
        coding.numbers_[cells.name] = [mean, spread]


def _learn_levels(coding: Coding, cells: Cells, weights: Float) -> None:
    levels, codes = levels_of(cells, coding.cuts_.get(cells.name))
    sizes = np.bincount(codes, weights, minlength=len(levels))
    held = np.flatnonzero(sizes > 0)
    if held.size < 2:
        coding.cuts_.pop(cells.name, None)
        return
    coding.levels_[cells.name] = [levels[code] for code in held]
    coding.shares_[cells.name] = sizes[held] / sizes.sum()


def table_cells(X: Any, names: list[str]) -> Iterator[Cells]:
    """The cells of each column; an error names one that has gaps."""
    for name, column in zip(names, columns_of(X), strict=True):
        cells = cells_of(column, name)
        n_gaps = int(cells.missing.sum())
        if n_gaps:
            raise ValueError(
                f"Input X contains NaN, or other gaps: column {name!r} has {n_gaps}. Fill them, make them a level of "
                "their own ('unknown', say), or use JointConsensus, which takes gaps."
            )
        yield cells


def levels_of(cells: Cells, cuts: Float | None) -> tuple[list[Level], NDArray[np.intp]]:
    """Levels, and which of them each cell has; of a number that is cut, the intervals."""
    if cuts is None:
        return cells.levels()
    return list(range(cuts.size + 1)), np.searchsorted(cuts, cells.numbers(), side="left")


def cut_points(values: Float, weights: Float, n_bins: int) -> Float | None:
    """Quantiles that part rows into ``n_bins`` intervals of about equal weight; None where there are so few values."""
    different = np.unique(values[weights > 0])
    if different.size <= n_bins:
        return None
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    places = np.searchsorted(cumulative, np.arange(1, n_bins) / n_bins * cumulative[-1] * (1 - 1e-12))
    cuts = np.unique(values[order][places])
    return cuts[cuts < different[-1]]
