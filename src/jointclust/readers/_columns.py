"""Columns by name, each of its own type."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jointclust.views.cells import Cells, cells_of
from jointclust.views.written import (
    DATE,
    DAY_FIRST,
    OTHER_DATE,
    TRUTHS,
    Numerals,
    are_truths,
    date,
    date_order,
    is_gap,
    is_unknown,
    truth,
)

if TYPE_CHECKING:
    import pandas as pd

# A value that stands for every gap of its kind.
GAP_OF = {"number": np.nan, "text": None, "boolean": None, "date": np.datetime64("NaT", "us")}


class Columns(UserDict[str, NDArray[Any]]):
    """Columns of one length by name, each an array of its own type.

    Numbers are float64 with NaN for gaps, text is str with None for gaps, dates are datetime64 with NaT for gaps,
    and what is true or false is bool; where it has gaps, an object array with None for them.

    Examples
    --------
    >>> table = Columns({"age": np.array([31.0, np.nan]), "city": np.array(["Oslo", None], dtype=object)})
    >>> table.shape, table.kinds
    ((2, 2), {'age': 'number', 'city': 'text'})
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]] | None = None, signs: Mapping[str, str] | None = None):
        super().__init__(columns)
        # The per cent or currency sign that was beside the numbers of some columns.
        self.signs = {name: sign for name, sign in (signs or {}).items() if name in self}

    @property
    def shape(self) -> tuple[int, int]:
        return next((len(column) for column in self.values()), 0), len(self)

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each column: number, text, boolean or date; another file is read alike with ``kinds=`` these."""
        return {name: kind_of(column) for name, column in self.items()}

    # What pyarrow's tables have, so that columns are described and coded like those of any library.

    @property
    def column_names(self) -> list[str]:
        return list(self)

    def column(self, position: int) -> NDArray[Any] | Cells:
        """A column by its position, with the sign that was beside its numbers."""
        name = self.column_names[position]
        return replace(cells_of(self[name], name), sign=self.signs[name]) if name in self.signs else self[name]

    def take(self, index: NDArray[np.intp]) -> Columns:
        """Some of the rows."""
        return Columns({name: column[index] for name, column in self.items()}, self.signs)

    def select(self, names: Sequence[str]) -> Columns:
        """Some of the columns."""
        return Columns({name: self[name] for name in names}, self.signs)

    def to_pandas(self) -> pd.DataFrame:
        """The same as a data frame of pandas, where that is installed."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("a data frame needs pandas: pip install pandas") from error
        gappy = {name: self[name] for name, kind in self.kinds.items() if kind == "boolean" and self[name].dtype == "O"}
        return pd.DataFrame({**self, **{name: pd.array(gappy[name].tolist(), dtype="boolean") for name in gappy}})


def kind_of(column: NDArray[Any]) -> str:
    """What a column of :class:`Columns` holds."""
    if column.dtype != object:
        return {"b": "boolean", "M": "date"}.get(column.dtype.kind, "number")
    known = next((value for value in column if value is not None), "")
    return "boolean" if isinstance(known, bool) else "text"


class KindError(ValueError):
    """A column is not of the kind it was said to be; holds the first cell that is not."""


def typed(cells: Sequence[str], numerals: Numerals, kind: str | None = None, dates: str | None = None) -> NDArray[Any]:
    """Cells of text as numbers, booleans, dates or text: what all of them are, or the given kind.

    ``dates`` is the order of day and month, where it is known.

    Examples
    --------
    >>> typed(["yes", "no", "yes"], Numerals(".", certain=True))
    array([ True, False,  True])
    """
    levels = dict.fromkeys(cells)
    known = [level for level in levels if not is_gap(level)]
    kind = kind or _kind(known, numerals)
    if kind in ("number", "boolean") and known:  # 1 and 0 may stand where truths were, and the reverse
        kind = "boolean" if are_truths(known) else "number" if _are_plain(known, numerals) else kind
    if kind in ("number", "date"):
        known = [level for level in known if not is_unknown(level)]
    order = date_order(known, dates) if kind == "date" else None
    converters: dict[str, Callable[[str], Any]] = {
        "number": numerals.read,
        "boolean": truth,
        "date": lambda level: date(level, dates or DAY_FIRST if order is None else order.order),
        "text": str,
    }
    value_of = dict.fromkeys(levels, GAP_OF[kind])
    for level in known:
        try:
            value_of[level] = converters[kind](level)
        except ValueError:
            raise KindError(level) from None
    return as_column([value_of[cell] for cell in cells], kind)


def as_column(values: Sequence[Any], kind: str) -> NDArray[Any]:
    """Values as an array of the type that a kind has."""
    if kind == "boolean" and None not in values:
        return np.array(values, dtype=bool)
    dtypes: dict[str, str | type] = {"number": np.float64, "date": "datetime64[us]"}
    return np.array(values, dtype=dtypes.get(kind, object))


def _are_plain(known: list[str], numerals: Numerals) -> bool:
    levels = [level for level in known if not is_unknown(level)]
    return all(numerals.sign_of(level) == "" for level in levels)


def _kind(known: list[str], numerals: Numerals) -> str:
    levels = [level for level in known if not is_unknown(level)]
    if (levels or not known) and _are_plain(levels, numerals):  # or none at all
        return "number"
    if any({level.strip().lower() for level in known} <= words.keys() for words in TRUTHS):
        return "boolean"
    return "date" if levels and date_order(levels) is not None else "text"


def near_dates(column: NDArray[Any]) -> str | None:
    """The first cell of a text column that is no date, or one of another order, where most others are dates."""
    known = [value for value in dict.fromkeys(column.tolist()) if value is not None and not is_unknown(value)]
    others = [value for value in known if not DATE.fullmatch(value.strip())]
    neither = [value for value in others if not OTHER_DATE.fullmatch(value.strip())]
    return (neither or others)[0] if others and 2 * (len(known) - len(neither)) >= len(known) else None
