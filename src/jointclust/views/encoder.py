"""Columns of any kind as numbers of one weight: levels of categories, days of dates, numbers by their spread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from jointclust._sklearn import Interval, StrOptions, check_sample_weight, fit_context
from jointclust.exceptions import tell
from jointclust.rows import fetched, is_elsewhere, refuse_annotated, tidied
from jointclust.types import Float
from jointclust.views.cells import Cells, Level, cells_of
from jointclust.views.columns import IN_DOUBLE, check_columns, check_sizes, columns_of, ends_of, is_table, names_of
from jointclust.views.transformer import Transformer
from jointclust.views.units import TRUTH, in_unit
from jointclust.views.written import Reading

_NUMBERS, _LEVELS, _LEFT_OUT = ("number", "count", "date"), ("category", "boolean"), ("id", "constant", "text")
# A category without repeated values names the rows; up to this number, rows may differ by chance.
_FEW = 10
# The kind of a column that is left out, and why.
Dropped = tuple[str, str]


class MixedEncoder(Transformer):
    r"""Coded columns: PCA of them is FAMD, and multiple correspondence analysis where all columns are categories.

    .. math:: z_l = \frac{1[x = l] - p_l}{\sqrt{p_l}} \text{ for each level } l, \qquad z = \frac{x - m}{s}
              \text{ for a number}

    where p_l is the share of the level. A number has inertia 1, a category of L levels L - 1, and a principal axis has
    the largest sum of squared correlations (numbers) and correlation ratios (categories). What is true or false is 1 or
    0, dates are days since 1970, numbers and dates written as text are what they say. Shares, means and spreads are
    those of the cells that are there. X is a table of pandas, polars or pyarrow, or an array.

    Parameters
    ----------
    columns : dict of str to str, default=None
        Kind of columns by name (or number, where they have no names): "number", "count", "category", "boolean", "date";
        "id", "constant" and "text" leave a column out. Kinds that are not given follow from the type: text that says
        neither numbers nor dates is a category.
    numbers : {"standardise", "keep"}, default="standardise"
        Numbers of mean 0 and spread 1, or as they are, for what scales them later.
    gaps : {"keep", "mean"}, default="keep"
        A gap (NaN, None, an empty string) stays NaN, in all levels of a category, for :class:`LowRankImputer` to fill;
        or it is the mean, which spreads it over the levels by their shares: zeros.
    min_share : float, default=0.01
        Levels of a smaller share of the rows are pooled.
    sentinels : dict of str to list of float, default=None
        Numbers that stand for gaps, such as -999, by column.

    Attributes
    ----------
    kinds_ : dict of str to str
        Kind of each column of the input.
    units_ : dict of str to str
        What numbers are: "" or the sign beside them, "true or false", or "0 or 1" where they are nothing else.
    levels_ : dict of str to list
        Levels of the categories, the rare ones left out.
    rare_ : dict of str to list
        Levels that are pooled, of the categories that have such.
    shares_ : dict of str to array
        p, the pooled level last.
    mean_, scale_ : dict of str to float
        m and s of the numbers.
    readings_ : dict of str to Reading
        How numbers, dates and truths are written, of the columns that hold them as text.
    sentinels_ : dict of str to list of float
        Numbers that stand for gaps.
    notes_ : list of str
        What a user should know of the fit: columns that are left out, dates, empty strings.

    See Also
    --------
    LowRankImputer : Fills the gaps of what this returns.

    Notes
    -----
    A level that fit has not seen is coded as the mean, zeros, with a warning.

    Examples
    --------
    >>> import pandas as pd, jointclust as jc
    >>> table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "red"]})
    >>> encoder = jc.MixedEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'colour = blue', 'colour = red']
    >>> print(encoder.transform(table).round(2))
    [[-1.34 -0.5   0.29]
     [-0.45  1.5  -0.87]
     [ 0.45 -0.5   0.29]
     [ 1.34 -0.5   0.29]]
    """

    _takes = ("allow_nan", "categorical", "string")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "columns": [dict, None],
        "numbers": [StrOptions({"standardise", "keep"})],
        "gaps": [StrOptions({"keep", "mean"})],
        "min_share": [Interval(Real, 0, 1, closed="left")],
        "sentinels": [dict, None],
    }

    # Encoders that 0.2 saved have none of these.
    sentinels: dict[str, list[float]] | None = None
    readings_: dict[str, Reading] = {}  # noqa: RUF012
    sentinels_: dict[str, list[float]] = {}  # noqa: RUF012
    units_: dict[str, str] = {}  # noqa: RUF012

    def __init__(
        self,
        columns: dict[str, str] | None = None,
        *,
        numbers: str = "standardise",
        gaps: str = "keep",
        min_share: float = 0.01,
        sentinels: dict[str, list[float]] | None = None,
    ):
        self.columns = columns
        self.numbers = numbers
        self.gaps = gaps
        self.min_share = min_share
        self.sentinels = sentinels

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        X, labels = self._validated(X, reset=True)
        weights = check_sample_weight(sample_weight, np.empty((X.shape[0], 1)), ensure_non_negative=True)
        self.kinds_: dict[str, str] = {}
        self.levels_: dict[str, list[Level]] = {}
        self.rare_: dict[str, list[Level]] = {}
        self.shares_: dict[str, Float] = {}
        self.mean_: dict[str, float] = {}
        self.scale_: dict[str, float] = {}
        self.readings_, self.units_ = {}, {}
        self._other_type: list[str] = []  # columns of dates that are to be numbers, or numbers that are to be dates
        positions = self._positions(labels)
        self.sentinels_ = {
            self._names[positions("sentinels", name)]: list(marks) for name, marks in (self.sentinels or {}).items()
        }
        self.notes_: list[str] = []
        given = self._given_kinds(labels)
        notes = []
        for name, kind, column in zip(self._names, given, columns_of(X), strict=True):
            if kind in _LEFT_OUT:
                self.kinds_[name] = kind
                self.notes_.append(f"Column {name!r} is left out: its kind is given as {kind!r}.")
                continue
            cells = cells_of(column, name)
            dropped = self._learn(cells, kind, weights)
            if dropped:
                self.kinds_[name], reason = dropped
                notes.append(f"Column {name!r} is left out: {reason}.")
            elif cells.n_blank:
                notes.append(f"Column {name!r}: {cells.n_blank} empty strings are taken as gaps.")
        self.notes_ += notes
        if not self.levels_ and not self.mean_:
            raise ValueError("No column of X tells rows apart: " + " ".join(self.notes_ or ["all are left out."]))
        if notes:
            tell(" ".join(notes), UserWarning)
        return self

    @property
    def _names(self) -> list[str]:
        return [str(name) for name in OneToOneFeatureMixin.get_feature_names_out(self)]

    def _validated(self, X: Any, *, reset: bool) -> tuple[Any, list[str]]:
        """The table, or the array it is, and the names by which a user knows its columns."""
        X = fetched(X)
        refuse_annotated(X)
        if is_elsewhere(X):
            raise TypeError(f"MixedEncoder needs a table in memory; got {type(X).__name__}: compute or load it first.")
        if is_table(X) and not isinstance(X, np.ndarray):
            labels = [str(name) for name in names_of(X)]
            check_columns(self, X, reset=reset)
            if min(X.shape) == 0:
                raise ValueError(f"X has {X.shape[0]} rows and {X.shape[1]} columns: there is nothing to encode.")
        else:
            # Numbers and text side by side in a list would all become text.
            X = np.array(X, dtype=object) if isinstance(X, list | tuple) else X
            X = validate_data(self, tidied(X), dtype=None, ensure_all_finite=False, reset=reset)
            labels = [str(number) for number in range(X.shape[1])]
        if reset and X.shape[0] < 2:
            raise ValueError("n_samples=1: one row has no levels and no spread; at least 2 are needed.")
        return X, labels

    def _given_kinds(self, labels: Sequence[str]) -> list[str | None]:
        """The kind of each column that `columns` gives, None where it gives none."""
        kinds: list[str | None] = [None] * len(labels)
        position_of = self._positions(labels)
        for key, kind in (self.columns or {}).items():
            position = position_of("columns", key)
            if kind not in _NUMBERS + _LEVELS + _LEFT_OUT:
                known = ", ".join(_NUMBERS + _LEVELS + _LEFT_OUT)
                raise ValueError(f"columns[{key!r}]={kind!r} is no kind of column: give one of {known}.")
            kinds[position] = kind
        return kinds

    def _positions(self, labels: Sequence[str]) -> Callable[[str, object], int]:
        """Where a column is that a parameter names; an error where there is none."""
        positions = {name: position for names in (labels, self._names) for position, name in enumerate(names)}

        def position_of(parameter: str, key: object) -> int:
            if str(key) not in positions:
                problem = f"{parameter} names {key!r}, which X lacks"
                raise ValueError(f"{problem}: its columns are {', '.join(labels[:20])}.")
            return positions[str(key)]

        return position_of

    def _learn(self, cells: Cells, kind: str | None, weights: Float) -> Dropped | None:
        """Levels and shares, or mean and spread, of one column; or why it is left out."""
        kind = kind or cells.kind
        if not (weights * ~cells.missing).any():
            return "constant", "all its cells are gaps"
        self.kinds_[cells.name] = kind
        if kind == "category" or (kind == "boolean" and cells.kind == "category"):
            return self._learn_levels(cells, weights)
        if cells.reading.kind != "text":
            self.readings_[cells.name] = cells.reading
        return self._learn_numbers(cells, kind, weights)

    def _learn_numbers(self, cells: Cells, kind: str, weights: Float) -> Dropped | None:
        if (cells.kind == "date") != (kind == "date"):
            self._other_type.append(cells.name)
        values = self._numbers(cells)
        check_sizes(*ends_of([values]), [cells.name], IN_DOUBLE)
        weights = np.where(np.isnan(values), 0.0, weights)
        values = np.nan_to_num(values)
        mean = weights @ values / weights.sum()
        scale = np.sqrt(weights @ (values - mean) ** 2 / weights.sum())
        # Rounding is no spread.
        if scale <= 1e-12 * abs(mean):
            return "constant", f"all its values are {mean:g}"
        self.mean_[cells.name], self.scale_[cells.name] = float(mean), float(scale)
        if kind != "date":
            self.units_[cells.name] = cells.unit
        if kind == "date":
            self.notes_.append(f"Column {cells.name!r} holds dates: they are numbers, days since 1970-01-01.")
        return None

    def _learn_levels(self, cells: Cells, weights: Float) -> Dropped | None:
        levels, codes = cells.levels()
        seen = weights[codes >= 0] > 0
        if len(levels) == seen.size > _FEW:
            raise ValueError(
                f"Column {cells.name!r} has a level of its own in each of its {len(levels)} rows, {levels[0]!r} for "
                f"one: it names the rows. Drop it, or give columns={{{cells.name!r}: 'id'}}."
            )
        sizes = np.bincount(codes[codes >= 0], weights[codes >= 0], minlength=len(levels))
        shares = sizes / sizes.sum()
        common = np.flatnonzero((shares >= self.min_share) & (shares > 0))
        rare = np.flatnonzero((shares < self.min_share) & (shares > 0))
        if common.size + (rare.size > 0) < 2:
            if rare.size:
                return "text", f"each of its {rare.size} levels is rarer than min_share={self.min_share}: lower it"
            return "constant", f"all its values are {levels[common[0]]!r}"
        self.levels_[cells.name] = [levels[code] for code in common]
        if rare.size:
            self.rare_[cells.name] = [levels[code] for code in rare]
            self.notes_.append(
                f"Column {cells.name!r}: levels of less than {self.min_share:g} of the rows are pooled ({rare.size})."
            )
        self.shares_[cells.name] = np.append(shares[common], [shares[rare].sum()] if rare.size else [])
        return None

    def transform(self, X: Any) -> Float:
        check_is_fitted(self)
        X, _ = self._validated(X, reset=False)
        names = self._names
        widths = [self.shares_[name].size if name in self.shares_ else int(name in self.mean_) for name in names]
        coded = np.empty((X.shape[0], sum(widths)))
        unknown: list[str] = []
        start = 0
        for name, width, column in zip(names, widths, columns_of(X), strict=True):
            block, start = coded[:, start : start + width], start + width
            if name in self.mean_:
                block[:, 0] = self._coded_numbers(cells_of(column, name, self.readings_.get(name)))
            elif name in self.levels_:
                block[:] = self._coded_levels(cells_of(column, name), unknown)
        if unknown:
            tell(f"Levels that fit has not seen are taken as the mean: {'; '.join(unknown)}.", UserWarning)
        return coded

    def _numbers(self, cells: Cells) -> Float:
        """A number for each cell, NaN for gaps and for what stands for them."""
        if self.kinds_[cells.name] == "date":
            return cells.days()
        values, marks = cells.numbers(), self.sentinels_.get(cells.name)
        return np.where(np.isin(values, marks), np.nan, values) if marks else values

    def _coded_numbers(self, cells: Cells) -> Float:
        values = self._numbers(cells)
        is_date, was_date = cells.values.dtype.kind == "M", self.kinds_[cells.name] == "date"
        is_other = cells.values.dtype.kind in "fM" and is_date != was_date and not np.isnan(values).all()
        if is_other and cells.name not in getattr(self, "_other_type", ()):
            now, before = ("dates" if is_dates else "numbers" for is_dates in (is_date, was_date))
            problem = f"Column {cells.name!r} holds {now}, and held {before} before"
            raise TypeError(f"{problem}: make it the same, or fit again.")
        if not was_date:
            usual = self.mean_[cells.name], self.scale_[cells.name]
            values = in_unit(values, cells.unit, self._unit(cells.name), cells.name, usual)
        if self.gaps == "mean":
            values = np.where(np.isnan(values), self.mean_[cells.name], values)
        if self.numbers == "standardise":
            values = (values - self.mean_[cells.name]) / self.scale_[cells.name]
        return values

    def _unit(self, name: str) -> str:
        """The unit of a column in fit; an encoder of 0.3 knows only what text had."""
        reading = self.readings_.get(name, Reading("number"))
        return self.units_.get(name, TRUTH if self.kinds_[name] == "boolean" else reading.sign)

    def _coded_levels(self, cells: Cells, unknown: list[str]) -> Float:
        """Rows of a table with one row per level, one for what is unknown, and one for gaps."""
        shares = self.shares_[cells.name]
        gap = 0.0 if self.gaps == "mean" else np.nan
        table = np.vstack([np.eye(shares.size) - shares, np.zeros(shares.size), np.full(shares.size, gap)])
        table /= np.sqrt(shares)
        position = {level: code for code, level in enumerate(self.levels_[cells.name])}
        position |= dict.fromkeys(self.rare_.get(cells.name, []), shares.size - 1)
        levels, codes = cells.levels()
        rows = np.array([position.get(level, shares.size) for level in levels] + [shares.size + 1])
        of_rows = rows[codes]
        # Of a type that declares its levels, some may have no row.
        new = [repr(levels[code]) for code in np.unique(codes) if code >= 0 and levels[code] not in position]
        if new:
            more = ", ..." if len(new) > 5 else ""
            unknown.append(
                f"column {cells.name!r} has {', '.join(new[:5])}{more} in {(of_rows == shares.size).sum()} rows"
            )
        return table[of_rows]

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        names: list[str] = []
        for name, shown in zip(self._names, super().get_feature_names_out(input_features), strict=True):
            if name in self.mean_:
                names.append(str(shown))
            elif name in self.levels_:
                levels = [str(level) for level in self.levels_[name]]
                pooled = "other levels"
                while pooled in levels:
                    pooled = f"({pooled})"
                names += [f"{shown} = {level}" for level in levels + [pooled] * (name in self.rare_)]
        return np.array(names, dtype=object)
