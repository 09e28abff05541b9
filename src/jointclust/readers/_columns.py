"""Columns by name, each of its own type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jointclust.readers._cells import TRUTHS, Numerals, date, is_gap, looks_like_date, looks_like_other_date

if TYPE_CHECKING:
    import pandas as pd

# A value that stands for every gap of its kind.
GAP_OF = {"number": np.nan, "text": None, "boolean": None, "date": np.datetime64("NaT", "us")}


class Columns(Mapping[str, NDArray[Any]]):
    """Columns by name, each an array of its own type.

    Numbers are float64 with NaN for gaps, text is str with None for gaps, dates are datetime64 with NaT for gaps,
    and what is true or false is bool; where it has gaps, an object array with None for them.

    Parameters
    ----------
    arrays : mapping of str to array
        Columns of one length.

    Examples
    --------
    >>> table = Columns({"age": np.array([31.0, np.nan]), "city": np.array(["Oslo", None], dtype=object)})
    >>> table.shape, table.kinds
    ((2, 2), {'age': 'number', 'city': 'text'})
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]]):
        self._arrays = dict(arrays)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    @property
    def names(self) -> list[str]:
        return list(self._arrays)

    @property
    def n_rows(self) -> int:
        return next((len(column) for column in self._arrays.values()), 0)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, len(self)

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each column: number, text, boolean or date; another file is read alike with ``kinds=`` these."""
        return {name: kind_of(column) for name, column in self.items()}

    # What pyarrow's tables have, so that columns are described and coded like those of any library.

    @property
    def column_names(self) -> list[str]:
        return self.names

    def column(self, position: int) -> NDArray[Any]:
        """A column by its position."""
        return self._arrays[self.names[position]]

    def take(self, index: NDArray[np.intp]) -> Columns:
        """Some of the rows."""
        return Columns({name: column[index] for name, column in self.items()})

    def without(self, name: str) -> Columns:
        """All columns but one."""
        return Columns({other: column for other, column in self.items() if other != name})

    def to_pandas(self) -> pd.DataFrame:
        """The same as a data frame of pandas, where that is installed."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("a data frame needs pandas: pip install pandas") from error
        series = {
            name: pd.array(column.tolist(), dtype="boolean")
            if column.dtype == object and kind_of(column) == "boolean"
            else column
            for name, column in self.items()
        }
        return pd.DataFrame(series)


def kind_of(column: NDArray[Any]) -> str:
    """What a column of :class:`Columns` holds."""
    if column.dtype != object:
        return {"b": "boolean", "M": "date"}.get(column.dtype.kind, "number")
    known = next((value for value in column if value is not None), "")
    return "boolean" if isinstance(known, bool) else "text"


def gaps_of(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Which cells are missing."""
    if column.dtype == object:
        return np.array([value is None for value in column], dtype=bool)
    if column.dtype.kind == "M":
        return np.isnat(column)
    return np.isnan(column)


class KindError(ValueError):
    """A column is not of the kind it was said to be; holds the first cell that is not."""


def typed(cells: Sequence[str], numerals: Numerals, kind: str | None = None) -> NDArray[Any]:
    """Cells of text as numbers, truths, dates or text: what all of them are, or what they are said to be.

    Examples
    --------
    >>> typed(["yes", "no", "yes"], Numerals(".", certain=True))
    array([ True, False,  True])
    """
    levels = dict.fromkeys(cells)
    known = [level for level in levels if not is_gap(level)]
    kind = kind or _kind(known, numerals)
    convert = _converter(kind, numerals)
    value_of = dict.fromkeys(levels, GAP_OF[kind])
    for level in known:
        try:
            value_of[level] = convert(level)
        except (ValueError, KeyError):
            raise KindError(level) from None
    return as_column([value_of[cell] for cell in cells], kind)


def as_column(values: Sequence[Any], kind: str) -> NDArray[Any]:
    """Values as an array of the type that a kind has."""
    if kind == "boolean" and None not in values:
        return np.array(values, dtype=bool)
    dtypes: dict[str, str | type] = {"number": np.float64, "date": "datetime64[us]"}
    return np.array(values, dtype=dtypes.get(kind, object))


def _kind(known: list[str], numerals: Numerals) -> str:
    if all(numerals.sign_of(level) == "" for level in known):  # also where there is none at all
        return "number"
    if any({level.strip().lower() for level in known} <= words.keys() for words in TRUTHS):
        return "boolean"
    return "date" if all(map(looks_like_date, known)) else "text"


def _converter(kind: str, numerals: Numerals) -> Callable[[str], Any]:
    words = {word: value for each in TRUTHS for word, value in each.items()}
    converters: dict[str, Callable[[str], Any]] = {
        "number": numerals.read,
        "boolean": lambda level: words[level.strip().lower()],
        "date": date,
        "text": str,
    }
    return converters[kind]


def near_dates(column: NDArray[Any]) -> str | None:
    """The first cell of a text column that is no date, or one of unknown order, where most others are dates."""
    known = [value for value in dict.fromkeys(column.tolist()) if value is not None]
    others = [value for value in known if not looks_like_date(value)]
    unordered = sum(map(looks_like_other_date, others))
    return others[0] if others and 2 * (len(known) - len(others) + unordered) >= len(known) else None
