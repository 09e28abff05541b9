"""The cells of one column as numbers, days or levels; an error names the column if they are something else."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.types import Float
from jointclust.views.units import BINARY, PLAIN, TRUTH
from jointclust.views.written import Reading, is_unknown, reading_of

Level = str | float | int | bool

# What 0 and 1 are as text.
_BINARY = frozenset({"0", "1", "0.0", "1.0"})
# The range of timestamps in nanoseconds; dates outside are mistakes or mean "never".
_FIRST, _LAST = np.datetime64("1678-01-01", "us"), np.datetime64("2262-01-01", "us")


@dataclass(frozen=True, eq=False)
class Cells:
    """A column: ``values[codes]``, or the values themselves where there are no codes.

    Values are float64 with NaN, datetime64 with NaT, or text or booleans with None for gaps. Text stays text,
    as levels of a category need it; ``reading`` says what else it may mean.
    """

    name: str
    values: NDArray
    codes: NDArray[np.intp] | None
    is_category: bool
    known_reading: Reading | None = None
    # The per cent or currency sign of numbers that were read already; of text, its reading has it.
    sign: str = ""

    @cached_property
    def kind(self) -> str:
        """The kind that follows from the type, or that the text says: "number", "date", "boolean" or "category"."""
        if self.is_category:
            return "category"
        if self.values.dtype.kind != "O":
            return {"f": "number", "M": "date"}[self.values.dtype.kind]
        if self._holds_booleans:
            return "boolean"
        return "category" if self.reading.kind == "text" else self.reading.kind

    @property
    def _holds_booleans(self) -> bool:
        return any(isinstance(value, bool) for value in self.values)

    @cached_property
    def reading(self) -> Reading:
        """How text is read: as in fit, else by what all cells have in common."""
        if self.known_reading is not None and self.values.dtype.kind == "O" and not self._holds_booleans:
            return self.known_reading.as_written([value for value in self.values if value is not None])
        if self.is_category or self.values.dtype.kind != "O" or self._holds_booleans:
            return Reading("text")
        return reading_of([value for value in self.values if value is not None])

    @cached_property
    def _gaps(self) -> NDArray[np.bool_]:
        """Which of the values are gaps."""
        if self.values.dtype.kind == "O":
            return np.array([value is None or self._says_nothing(value) for value in self.values], dtype=bool)
        return np.isnan(self.values)

    def _says_nothing(self, value: object) -> bool:
        return isinstance(value, str) and self.reading.is_gap(value)

    @property
    def marks(self) -> list[str]:
        """Different cells of text that are taken as gaps, as they are written."""
        if self.values.dtype.kind != "O":
            return []
        return [value for value, gap in zip(self.values, self._gaps, strict=True) if gap and value is not None]

    @property
    def gap_words(self) -> dict[str, int]:
        """Words that are taken as gaps, and how many cells have them."""
        if self.values.dtype.kind != "O" or self.codes is None:
            return {}
        sizes = np.bincount(self.codes, minlength=self.values.size)
        counts: dict[str, int] = {}
        for value, size in zip(self.values, sizes.tolist(), strict=True):
            if value is not None and not _is_blank(value) and self._says_nothing(value):
                counts[value.strip()] = counts.get(value.strip(), 0) + size
        return counts

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Whether each cell is a gap."""
        return self._expand(self._gaps)

    @property
    def n_blank(self) -> int:
        """How many cells are empty strings, which are gaps, too."""
        if self.values.dtype.kind != "O":
            return 0
        return int(self._expand(np.array([_is_blank(value) for value in self.values], dtype=bool)).sum())

    def _expand(self, per_value: NDArray) -> NDArray:
        return per_value if self.codes is None else per_value[self.codes]

    def numbers(self) -> Float:
        """Cells as numbers, NaN for gaps."""
        if self.values.dtype.kind == "M":
            return self.days()
        values = self.values
        if values.dtype.kind == "O":
            values = np.array(self._each(self._number, np.nan, "numbers", "correct it"), dtype=np.float64)
        numbers = self._expand(values)
        if np.isinf(values).any():
            row = int(np.flatnonzero(np.isinf(numbers))[0])
            raise ValueError(
                f"Input X contains infinity: column {self.name!r} has {numbers[row]} in row {row} (from 0). Correct it "
                "or make it a gap (NaN)."
            )
        return numbers

    @property
    def unit(self) -> str:
        """The unit of the numbers."""
        if self.values.dtype.kind == "M":
            return PLAIN
        if self.values.dtype.kind != "O":
            return BINARY if not self.sign and np.isin(self.values[~self._gaps], (0, 1)).all() else self.sign
        if self._holds_booleans or self._number_reading.kind == "boolean":
            return TRUTH
        is_binary = all(isinstance(value, str) and value.strip() in _BINARY for value in self.values[~self._gaps])
        return BINARY if is_binary else self._number_reading.sign

    @cached_property
    def _number_reading(self) -> Reading:
        """How text is read where it is to be numbers."""
        texts = [value for value in self.values if value is not None and not self._holds_booleans]
        return self.reading if self.reading.kind == "number" else Reading("number").as_written(texts)

    def _number(self, value: Any) -> float:
        reading = self._number_reading
        return float(reading.converter(value) if isinstance(value, str) else value)

    def _each(self, convert: Callable[[Any], Any], gap: Any, what: str, advice: str) -> list[Any]:
        """The values converted one by one, and ``gap`` for gaps; an error names a value that cannot be converted."""
        converted = []
        for value, missing in zip(self.values, self._gaps, strict=True):
            missing |= isinstance(value, str) and is_unknown(value)
            try:
                converted.append(gap if missing else convert(value))
            except ValueError as error:
                problem = f"Column {self.name!r} is to hold {what}, and holds {value!r}"
                raise ValueError(f"{problem}: {advice}, or encode it as a category.") from error
        return converted

    def _date(self, value: Any) -> np.datetime64:
        reading = self.reading if self.reading.kind == "date" else Reading("date")
        return reading.converter(str(value))

    def days(self) -> Float:
        """Dates as days since 1970-01-01, NaN for gaps."""
        values = self.values
        if values.dtype.kind == "f":
            return self.numbers()
        if values.dtype.kind == "O":
            values = np.array(self._each(self._date, "NaT", "dates", "write them as 2024-12-31"), "datetime64[us]")
        present = values[~np.isnat(values)]
        wrong = (present < _FIRST) | (present > _LAST)
        if wrong.any():
            raise ValueError(
                f"Column {self.name!r} has dates out of range, {present[wrong][0]} for one: they lie between "
                f"{_FIRST.astype('datetime64[D]')} and {_LAST.astype('datetime64[D]')}. Make those that mean nothing "
                "gaps."
            )
        whole = values.astype("datetime64[us]")
        days = (whole - np.datetime64("1970-01-01", "us")) / np.timedelta64(1, "D")
        return self._expand(np.where(np.isnat(whole), np.nan, days))

    def levels(self) -> tuple[list[Level], NDArray[np.intp]]:
        """The different values in order, and which of them each cell has; -1 for gaps."""
        if self.codes is None:
            different, inverse = np.unique(self.values, return_inverse=True)
            levels = [_plain(value) for value in different[~np.isnan(different)]]
            # NaN and NaT sort last, and are one value to np.unique.
            return levels, np.where(inverse < len(levels), inverse, -1)
        kept = [_plain(value) for value, gap in zip(self.values, self._gaps, strict=True) if not gap]
        levels = sorted(set(kept))
        position = {level: code for code, level in enumerate(levels)}
        per_value = np.full(self.values.size, -1)
        per_value[~self._gaps] = [position[level] for level in kept]
        return levels, per_value[self.codes]


def cells_of(column: Any, name: str, reading: Reading | None = None) -> Cells:
    """The cells of a column of any library; an error where it mixes types. Each different text is looked at once.

    ``reading`` is how fit has read its text, if that is known.
    """
    if isinstance(column, Cells):
        return column if reading is None else replace(column, known_reading=reading)
    if hasattr(column, "cat") and hasattr(column.cat, "codes"):  # pandas has done the work
        codes = column.cat.codes.to_numpy().astype(np.intp)
        values = _plain_values(np.array([*column.cat.categories, None], dtype=object), name)
        return Cells(name, values, codes, is_category=True)
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    declared = kind.startswith(("categor", "enum", "dictionary"))  # a type that says that its values are levels
    if declared and hasattr(column, "to_pylist"):  # pyarrow has no array of them
        column = np.array(column.to_pylist(), dtype=object)
    values = np.asarray(column)
    if values.dtype.kind in "iufmM":
        return Cells(name, _plain_values(values, name), None, declared)
    listed = values.tolist()
    try:
        position = {value: code for code, value in enumerate(dict.fromkeys(listed))}
    except TypeError as error:
        raise TypeError(
            f"Column {name!r} holds values that are neither numbers nor text nor dates ({error}): an argument must be "
            "a string or a real number. Take them apart, or leave the column out."
        ) from error
    codes = np.fromiter(map(position.__getitem__, listed), np.intp, len(listed))
    different = np.empty(len(position), dtype=object)
    different[:] = list(position)
    # True and 1 are one key, so the types of the cells themselves tell whether they mix.
    if bool in (types := set(map(type, listed))) and types & {int, float}:
        _plain_values(values, name)
    return Cells(name, _plain_values(different, name), codes, declared, reading)


def _plain_values(values: NDArray, name: str) -> NDArray:
    """Values in a plain form; an error if a column mixes types, or holds another type."""
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind == "m":
        return values / np.timedelta64(1, "D")
    if values.dtype.kind == "M":
        return values
    plain = np.empty(len(values), dtype=object)
    known = (bool(value) if isinstance(value, np.bool_) else value for value in values.tolist())
    plain[:] = [None if is_missing(value) else value for value in known]
    return _of_one_type(plain, name)


def _of_one_type(values: NDArray, name: str) -> NDArray:
    first = {_type_of(value): value for value in reversed(values) if value is not None}
    kinds = first.keys()
    if "other" in kinds:
        problem = f"Column {name!r} holds {first['other']!r}"
        raise TypeError(f"{problem}: the argument must be a string, a number, a boolean or a date.")
    if len(kinds) > 1 and (text := _as_text(values, kinds)) is not None:
        return text
    if len(kinds) > 1:
        shown = ", ".join(f"{kind} ({first[kind]!r})" for kind in sorted(kinds))
        raise TypeError(
            f"Column {name!r} mixes types: {shown}. Make it numbers, text, booleans or dates throughout, with missing "
            "cells empty, or leave it out."
        )
    if kinds <= {"numbers"}:
        return np.array([np.nan if value is None else float(value) for value in values])
    if kinds == {"dates"}:
        return np.array([_date(value) for value in values], dtype="datetime64[us]")
    return values


def _as_text(values: NDArray, kinds: Collection[str]) -> NDArray | None:
    """A column of mixed types as text, if all its text is gaps or values of the other type; else None."""
    if "text" not in kinds or len(kinds) > 2:
        return None
    text = np.array([None if value is None else str(value) for value in values], dtype=object)
    says = {"number": "numbers", "date": "dates", "boolean": "booleans"}
    kind = reading_of([value for value in text if value is not None]).kind
    return text if says.get(kind) in kinds else None


def _type_of(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "booleans"
    if isinstance(value, str):
        return "text"
    if isinstance(value, datetime.date | np.datetime64):
        return "dates"
    return "numbers" if isinstance(value, numbers.Number) and not isinstance(value, complex) else "other"


def _date(value: Any) -> np.datetime64:
    if value is None:
        return np.datetime64("NaT", "us")
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN, NaT or NA; a comparison with NA has no truth value."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def _plain(value: Any) -> Level:
    """A level as Python has it, which files can hold: whole numbers as int, dates as text."""
    if isinstance(value, np.datetime64):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value.item() if isinstance(value, np.generic) else value
