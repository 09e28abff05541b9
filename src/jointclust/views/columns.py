"""Columns of a table, whichever library it is of: their names, their values, and what each of them holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from jointclust._sklearn import get_feature_names
from jointclust.types import Float
from jointclust.views.cells import Cells, cells_of

# Words that a text has and a name or a category has not.
_WORDS_OF_TEXT = 5
# Levels from which on text that is mostly different counts as names; fewer rows than that tell nothing.
_MANY_LEVELS = 20
_YEARS = (1500, 2200)
_ROW_NAMES = re.compile("ids?|idx|index|uid|uuid|guid|row|row ?id|rownames|row number|unnamed: 0")
_ENDS_IN_ID = re.compile(r"(?:[_\-. ](?:id|ID|Id|uuid)|[a-z](?:ID|Id))$")


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
    """

    name: str
    kind: str
    missing: float
    spread: float


class Found(NamedTuple):
    """What a column is, and why: the share of its cells that are missing, and its numbers where it holds such."""

    kind: str
    missing: float
    reason: str | None = None
    numbers: Float | None = None


def is_table(X: object) -> bool:
    """Whether this is a data frame of pandas, polars or pyarrow, or an array of objects with two dimensions."""
    if isinstance(X, np.ndarray):
        return X.dtype.kind in "OSU" and X.ndim == 2
    return (hasattr(X, "columns") or hasattr(X, "column_names")) and hasattr(X, "shape")


def names_of(X: Any) -> list[Any]:
    """The names of the columns of a table as it has them, none of them twice."""
    if isinstance(X, np.ndarray):
        return list(range(X.shape[1]))
    names = list(X.column_names if hasattr(X, "column_names") else X.columns)
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


def columns_of(X: Any) -> Iterator[Any]:
    """The columns of a table, as its library has them."""
    for position in range(X.shape[1]):
        if hasattr(X, "iloc"):
            yield X.iloc[:, position]
        elif hasattr(X, "to_series") and not isinstance(X, np.ndarray):
            yield X.to_series(position)
        else:
            yield X.column(position) if hasattr(X, "column_names") else X[:, position]


def numbers_in(column: Any, name: object) -> Float:
    """The numbers of a column, NaN where one is missing; an error where it holds anything else."""
    cells = cells_of(column, str(name))
    if cells.values.dtype.kind != "f":
        raise TypeError(f"Column {name!r} holds no numbers, as it did in fit: got {cells.values[0]!r}.")
    return cells.numbers()


def found_in(cells: Cells, positions: NDArray | None, n_rows: int) -> Found:
    """What a column holds, from the rows at some positions; None where the positions are unknown."""
    missing = float(cells.missing.mean())
    if cells.kind == "number":
        values = cells.numbers()
        kind, reason = _kind_of_numbers(values, cells.name, positions, n_rows)
        return Found(kind, missing, reason, values)
    levels, codes = cells.levels()
    codes = codes[codes >= 0]
    n_different = np.unique(codes).size
    if n_different < 2:
        return Found("constant", missing)
    if cells.kind != "category":
        return Found(cells.kind, missing)
    words = np.array([len(str(level).split()) for level in levels])[codes]
    kind, reason = _kind_of_text(cells.name, n_different, words)
    return Found(kind, missing, reason)


def _kind_of_numbers(values: Float, name: str, positions: NDArray | None, n_rows: int) -> tuple[str, str | None]:
    present = values[~np.isnan(values)]
    if present.size == 0:
        return "constant", f"column {name!r} is empty"
    if present.min() == present.max():
        return "constant", None
    if not is_whole(present):  # a refractive index has decimals, and so has a price index; the number of a row has none
        return "number", None
    different = np.unique(present)
    if present.size == values.size > 2 and _are_row_numbers(values, different, positions, n_rows):
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


def _are_row_numbers(values: Float, different: Float, positions: NDArray | None, n_rows: int) -> bool:
    """Numbers from 0 or 1 that go up by one from row to row, or n consecutive numbers in any order, but no years."""
    if positions is not None and values[0] - positions[0] in (0, 1) and np.all(np.diff(values - positions) == 0):
        return True
    if different.size < max(values.size, _MANY_LEVELS) or (different[0] >= _YEARS[0] and different[-1] <= _YEARS[1]):
        return False
    # A sample of m of n consecutive numbers leaves out about n / m of them at either end.
    span = different[-1] - different[0] + 1
    return n_rows * (1 - 10 / values.size) <= span <= n_rows


def _names_rows(name: str, n_different: int) -> bool:
    """Whether a name says id; "station_id" of a few values is a coded category."""
    if _ROW_NAMES.fullmatch(name.strip().lower().replace("_", " ")):
        return True
    return bool(_ENDS_IN_ID.search(name.strip())) and n_different > _MANY_LEVELS


def _kind_of_text(name: str, n_different: int, words: NDArray[np.intp]) -> tuple[str, str | None]:
    """The kind of text, from the number of different cells and the number of words in each."""
    if n_different == words.size or (n_different > _MANY_LEVELS and 2 * n_different > words.size):
        if np.median(words) >= _WORDS_OF_TEXT:
            return "text", f"column {name!r} holds text of {np.median(words):.0f} words"
        share = n_different / words.size
        how = "that is all different" if share == 1 else f"of which {share:.0%} is different"
        return "id", f"column {name!r} holds text {how}: a name of the row"
    if _names_rows(name, n_different):
        return "id", f"column {name!r} is an id by its name"
    return "category", None
