"""Columns of a table, whichever library it is of: their names, their values, and what each of them holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from jointclust._sklearn import get_feature_names
from jointclust.rows import fetched, is_elsewhere, tidied
from jointclust.types import Float
from jointclust.views.cells import Cells, cells_of
from jointclust.views.units import in_unit

# Fewest words of a text; names and categories have fewer.
_WORDS_OF_TEXT = 5
# Text that mostly differs is names of rows if it has more levels than this; fewer rows are no evidence.
_MANY_LEVELS = 20
_YEARS = (1500, 2200)
# A category with fewer rows per level on average may as well be names of rows.
_FEW_ROWS_EACH = 50
# Fewest rows of a sentinel, and most sentinels of a column.
_FEWEST_SENTINELS, _MOST_SENTINELS = 3, 4
# Numbers of nines, up to seven of them before the point and two behind it; and as single precision has them, where that
# keeps their decimals.
_WRITTEN = [round(10**whole - 10.0**-decimals, decimals) for whole in range(1, 8) for decimals in range(3)]
_SINGLE = [float(np.float32(nines)) for nines in _WRITTEN if round(float(np.float32(nines)), 2) == nines]
_NINES = np.array([*_WRITTEN, *_SINGLE])
# Sizes of numbers whose squares can be added up in double precision; and in single precision, in which the members of a
# consensus look at rows.
IN_DOUBLE, IN_SINGLE = (1e-150, 1e150), (1e-37, 1e37)
_ROW_NAMES = re.compile("ids?|idx|index|uid|uuid|guid|row|row ?id|rownames|row number|unnamed: 0")
_ENDS_IN_ID = re.compile(r"(?:[_\-. ](?:id|ID|Id|uuid)|[a-z](?:ID|Id))$")


# The remark on text beside other columns, with the remedy.
BESIDE = "left out beside other columns"
# What is said of a column of numbers that may be read in two ways, so that it is none.
EITHER = "with a comma for thousands or for decimals"
_OF_TEXT = f", {BESIDE}; to cluster it: jc.cluster(table[{{!r}}])"


class Column(NamedTuple):
    """What a column of the data holds.

    Attributes
    ----------
    name : str
        Its name, or its number where there are no names.
    kind : str
        "number", "count", "category", "boolean", "date", "id", "constant" or "text".
    missing : float
        Share of the rows that have no value.
    spread : float
        Standard deviation of numbers, NaN of other kinds.
    related : float
        How far it depends on other columns, in standard deviations of what chance gives; NaN if it was not tested.
    used : bool
        Whether rows are compared by it.
    why : str
        Why it is used, or not.
    """

    name: str
    kind: str
    missing: float
    spread: float
    related: float = np.nan
    used: bool = True
    why: str = ""


class Facts(NamedTuple):
    """The kind of a column, why, its share of missing cells, and its numbers (or days) or codes of its levels.

    ``sentinels`` are numbers that stand for gaps, with their rows; ``notes`` say what was read into the cells.
    """

    kind: str
    missing: float
    reason: str | None = None
    numbers: Float | None = None
    sentinels: tuple[tuple[float, int], ...] = ()
    notes: tuple[str, ...] = ()
    codes: NDArray[np.intp] | None = None


def is_table(X: object) -> bool:
    """Whether this is a data frame of pandas, polars or pyarrow, or an array of objects with two dimensions."""
    if isinstance(X, np.ndarray):
        return X.dtype.kind in "OSU" and X.ndim == 2
    return (hasattr(X, "columns") or hasattr(X, "column_names")) and hasattr(X, "shape")


def unfolded(X: Any) -> Any:
    """Data as a plain table: columns of lists as one column for each place, few zeros not as a sparse matrix.

    A matrix of which half of the cells are filled needs no more memory as an array.
    """
    X = fetched(X)
    if sp.issparse(X):
        X = tidied(X)  # SciPy counts an entry that is stored twice by adding it up, in place
        return X.toarray() if X.shape[0] and 2 * X.count_nonzero() >= np.prod(X.shape, dtype=np.float64) else X
    if isinstance(X, np.ndarray) or not is_table(X) or is_elsewhere(X):
        return X
    names, columns = names_of(X), list(columns_of(X))
    folded = [_is_folded(column) for column in columns]
    if not any(folded):
        return X
    parts: dict[Any, Any] = {}
    for name, column, is_folded in zip(names, columns, folded, strict=True):
        parts |= places_of(column, str(name)) if is_folded else {name: column}
    return type(X).from_pydict(parts) if hasattr(X, "column_names") else type(X)(parts)


def _is_folded(column: Any) -> bool:
    """Whether the first cell that is there holds a list, a tuple or an array."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if not kind.startswith(("object", "list", "large_list", "fixed_size_list", "array")):
        return False
    cells = column.to_numpy() if hasattr(column, "to_numpy") else column
    first = next((cell for cell in cells if not (cell is None or isinstance(cell, float))), None)
    return isinstance(first, list | tuple | np.ndarray) or hasattr(first, "to_list")


def places_of(column: Any, name: str) -> dict[str, Float]:
    """A column of lists of numbers as columns of numbers, ``name[0]`` and on; a list that is missing is a row of gaps.

    Examples
    --------
    >>> places_of([[1, 2], None], "place")
    {'place[0]': array([ 1., nan]), 'place[1]': array([ 2., nan])}
    """
    cells = column.to_numpy() if hasattr(column, "to_numpy") else column
    lists = [None if cell is None or np.ndim(cell) == 0 else np.ravel(cell) for cell in cells]
    size = next(len(cell) for cell in lists if cell is not None)
    if size == 0:
        raise ValueError(f"Column {name!r} holds empty lists: leave the column out.")
    values = np.full((len(lists), size), np.nan)
    for row, cell in enumerate(lists):
        if cell is None:
            continue
        if len(cell) != size:
            raise ValueError(
                f"Column {name!r} holds lists of different lengths: {size} in the rows before, {len(cell)} in row "
                f"{row} (from 0). Make them equally long, or leave the column out."
            )
        try:
            values[row] = cell
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Column {name!r} holds a list that is not of numbers in row {row} (from 0): {cell.tolist()[:3]!r}. "
                "Leave the column out."
            ) from error
    return {f"{name}[{place}]": values[:, place] for place in range(size)}


def names_of(X: Any) -> list[Any]:
    """The names of the columns of a table as it has them, none of them twice."""
    if isinstance(X, np.ndarray):
        return list(range(X.shape[1]))
    names = list(X.column_names if hasattr(X, "column_names") else X.columns)
    levels = next((name for name in names if isinstance(name, tuple)), None)
    if levels is not None:
        raise ValueError(
            f"The names of columns have several levels, as {levels!r} has: join them, with "
            "X.columns = [' '.join(map(str, name)) for name in X.columns]."
        )
    seen: set[str] = set()
    twice = [str(name) for name in names if str(name) in seen or seen.add(str(name))]  # type: ignore[func-returns-value]
    if twice:
        raise ValueError(f"{len(twice)} columns have a name that another has, the first is {twice[0]!r}: rename them.")
    return names


def check_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Columns counted, and their names noted or compared, as scikit-learn does with the tables that it knows."""
    X = getattr(X, "_meta", X) if hasattr(X, "columns") else X  # Dask's data frames have names there
    if not hasattr(X, "column_names") or get_feature_names(X) is not None:
        validate_data(estimator, X, skip_check_array=True, reset=reset)
        return
    names = np.asarray(names_of(X), dtype=object)
    if reset:
        estimator.n_features_in_, estimator.feature_names_in_ = names.size, names
    elif not np.array_equal(getattr(estimator, "feature_names_in_", names), names):
        expected, got = (", ".join(map(str, some[:10])) for some in (estimator.feature_names_in_, names))
        raise ValueError(f"The columns should be those of fit, in that order: {expected}; got {got}.")


def rows_of(X: Any, index: NDArray) -> Any:
    """Some rows of a table."""
    if hasattr(X, "iloc"):
        return X.iloc[index]
    return X.take(index) if hasattr(X, "column_names") else X[index]


def columns_named(X: Any, names: list[Any]) -> Any:
    """Some columns of a data frame, by their names."""
    return X.select(names) if hasattr(X, "select") else X[names]


def columns_of(X: Any) -> Iterator[Any]:
    """The columns of a table, as its library has them."""
    for position in range(X.shape[1]):
        if hasattr(X, "iloc"):
            yield X.iloc[:, position]
        elif hasattr(X, "to_series") and not isinstance(X, np.ndarray):
            yield X.to_series(position)
        else:
            yield X.column(position) if hasattr(X, "column_names") else X[:, position]


def numbers_in(column: Any, name: object, unit: str | None = None) -> Float:
    """The numbers of a column, NaN where one is missing; an error where it holds anything else, or another unit."""
    cells = cells_of(column, str(name))
    if cells.kind not in ("number", "boolean"):
        raise TypeError(f"Column {name!r} holds no numbers, as it did in fit: got {cells.values[0]!r}.")
    numbers = cells.numbers()
    return numbers if unit is None else in_unit(numbers, cells.unit, unit, str(name))


def check_sizes(lowest: Float, highest: Float, names: Any, limits: tuple[float, float]) -> None:
    """Refuse columns of numbers, given by their ends, whose squares cannot be added up.

    Columns may be small beside others that are not, as long as double precision holds their squares.
    """
    sizes, varies = np.fmax(np.abs(lowest), np.abs(highest)), lowest < highest
    least = limits[0] if sizes[varies].max(initial=0.0) < limits[0] else IN_DOUBLE[0]
    large = sizes > limits[1]
    wrong = np.flatnonzero(large | (varies & (sizes < least)))
    if wrong.size:
        first = int(wrong[0])
        size, gap = ("large", ", or make it a gap (NaN), if it stands for one") if large[first] else ("small", "")
        raise ValueError(
            f"The values of column {str(names[first])!r} are too {size}: the largest is {sizes[first]:.3g} in size, of "
            f"which no squares can be added up. Divide the column by it{gap}."
        )


def ends_of(columns: Sequence[Float]) -> tuple[Float, Float]:
    """The least and the largest number of each column."""
    lowest, highest = (np.array([end.reduce(column) for column in columns]) for end in (np.fmin, np.fmax))
    return lowest, highest


def facts_of(cells: Cells, positions: NDArray | None) -> Facts:
    """What a column holds, from the rows at some positions; None where the positions are unknown."""
    if cells.kind == "number":
        return _facts_of_numbers(cells, positions)
    missing = float(cells.missing.mean())
    levels, codes = cells.levels()
    present = codes[codes >= 0]
    n_different = np.unique(present).size
    if n_different < 2:
        return Facts("constant", missing)
    if cells.kind == "boolean":
        return Facts("boolean", missing, numbers=cells.numbers(), notes=_read_as(cells, "what is true or false"))
    if cells.kind == "date":
        return Facts("date", missing, numbers=cells.days(), notes=_read_as(cells, "dates"))
    words = np.array([len(str(level).split()) for level in levels])[present]
    kind, reason = _kind_of_text(cells.name, n_different, words)
    return Facts(kind, missing, reason, notes=_doubts(cells, kind, n_different, present.size), codes=codes)


def _facts_of_numbers(cells: Cells, positions: NDArray | None) -> Facts:
    values = cells.numbers()
    check_sizes(*ends_of([values]), [cells.name], (IN_DOUBLE[0], IN_SINGLE[1]))
    sentinels = tuple((value, int(np.sum(values == value))) for value in sentinels_in(values))
    if sentinels:
        values = np.where(np.isin(values, [value for value, _ in sentinels]), np.nan, values)
    kind, reason = _kind_of_numbers(values, cells.name, positions)
    return Facts(kind, float(np.isnan(values).mean()), reason, values, sentinels, _read_as(cells, "numbers"))


def _read_as(cells: Cells, what: str) -> tuple[str, ...]:
    """What text was read as, and the words in it that were taken as gaps."""
    if cells.values.dtype.kind != "O" or cells.reading.kind == "text":
        return ()
    words = ", ".join(f"{word!r} ({number:,})" for word, number in list(cells.gap_words.items())[:5])
    gaps = f"; {words} taken as gaps" if words else ""
    doubt = cells.reading.doubtful
    order = f"; {doubt!r} may be of either order, taken {cells.reading.dates}" if doubt is not None else ""
    return (f"column {cells.name!r} holds {what} written as text{gaps}{order}",)


def _doubts(cells: Cells, kind: str, n_different: int, n_cells: int) -> tuple[str, ...]:
    """What is doubtful of a column of text."""
    if cells.reading.doubtful is not None:
        return (
            f"column {cells.name!r} holds {cells.reading.doubtful!r}, {EITHER}: it is taken as text; make it numbers",
        )
    if kind == "category" and n_different > _MANY_LEVELS and n_cells < _FEW_ROWS_EACH * n_different:
        return (
            f"column {cells.name!r} has {n_different} levels, {n_cells / n_different:.0f} rows each in the mean: many "
            "for a category; if they are names, leave it out",
        )
    return ()


def sentinels_in(values: Float) -> tuple[float, ...]:
    """Numbers that stand for a gap: -999, 9999 and the like, in several rows, far outside the other values.

    A number of nines, or -1, at an end of the column. It is as far from the next value as the others are from each
    other, twice as far if it is -9, -1 or positive; or it is below -9 where none of the others is negative. Half of the
    cells are others.
    """
    present = values[~np.isnan(values)]
    sentinels: list[float] = []
    while present.size and len(sentinels) < _MOST_SENTINELS:
        ends = [float(end) for end in (present.min(), present.max()) if is_nines(end)]
        value = next((end for end in ends if _is_far(end, present)), None)
        if value is None:
            break
        sentinels.append(value)
        present = present[present != value]
    return tuple(sentinels) if 2 * present.size >= np.sum(~np.isnan(values)) else ()


def is_nines(values: Any) -> Any:
    """Whether numbers are -1 or written with nines only, at most two of them decimals: -9, 99, -999, 99.9."""
    values = np.asarray(values)
    return (np.isin(np.abs(values), _NINES) & ((values < 0) | (values >= 99))) | (values == -1)


def _is_far(value: float, present: Float) -> bool:
    others = present[present != value]
    if present.size - others.size < _FEWEST_SENTINELS or others.size == 0 or (low := others.min()) == others.max():
        return False
    is_code = value < -9.0
    if is_code and low >= 0:
        return True
    return bool(np.abs(others - value).min() > (1.0 if is_code else 2.0) * np.ptp(others))


def _kind_of_numbers(values: Float, name: str, positions: NDArray | None) -> tuple[str, str | None]:
    present = values[~np.isnan(values)]
    if present.size == 0:
        return "constant", f"column {name!r} is empty"
    if present.min() == present.max():
        return "constant", None
    if not is_whole(present):  # a refractive index has decimals, and so has a price index; the number of a row has none
        return "number", None
    different = np.unique(present)
    if present.size == values.size > 2 and _are_row_numbers(values, positions):
        return "id", f"column {name!r} holds the numbers of the rows"
    if _names_rows(name, different.size):
        return "id", f"column {name!r} is an id by its name"
    most = different[-1]
    if different.size > 10 and different[0] in (0, 1) and np.median(present) < most / 2:
        return "count", None
    return "number", None


def is_whole(values: Float) -> bool:
    """Whether all the numbers are whole."""
    return bool(np.all(values == np.rint(values)))


def _are_row_numbers(values: Float, positions: NDArray | None) -> bool:
    """Whether numbers go up by one from row to row, from 0 or 1; if there are many rows, from any number but a year."""
    if positions is None or np.any(np.diff(values - positions) != 0):
        return False
    if values[0] - positions[0] in (0, 1):
        return True
    return values.size > _MANY_LEVELS and (values[0] < _YEARS[0] or values[-1] > _YEARS[1])


def _names_rows(name: str, n_different: int) -> bool:
    """Whether a name says id; "station_id" of a few values is a coded category."""
    return is_row_name(name) or (bool(_ENDS_IN_ID.search(name.strip())) and n_different > _MANY_LEVELS)


def is_row_name(name: str) -> bool:
    """Whether a name says that a column names the rows, whatever it holds."""
    return _ROW_NAMES.fullmatch(name.strip().lower().replace("_", " ")) is not None


def _kind_of_text(name: str, n_different: int, words: NDArray[np.intp]) -> tuple[str, str | None]:
    """The kind of text, from the number of different cells and the number of words in each."""
    if n_different == words.size or (n_different > _MANY_LEVELS and 2 * n_different > words.size):
        if np.median(words) >= _WORDS_OF_TEXT:
            return "text", f"column {name!r} holds text of {np.median(words):.0f} words{_OF_TEXT.format(name)}"
        share = n_different / words.size
        how = "that is all different" if share == 1 else f"of which {share:.0%} is different"
        return "id", f"column {name!r} holds text {how}: a name of the row"
    if _names_rows(name, n_different):
        return "id", f"column {name!r} is an id by its name"
    return "category", None
