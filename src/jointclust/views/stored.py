"""A table that a model keeps: columns of any library in a plain form, which files can hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.views.cells import Cells, cells_of
from jointclust.views.columns import columns_of, names_of

_NONE = -1


@dataclass(frozen=True, eq=False)
class StoredColumn:
    """The cells of a column, ``values[codes]``, or the values themselves where there are no codes.

    Attributes
    ----------
    kind : str
        "number", "date", "text" or "boolean".
    values : array
        Numbers, dates, truths (-1 is a gap), or the bytes of texts, one after the other.
    lengths : array of int32
        Bytes of each text, -1 for a gap; empty for other kinds.
    codes : array of int32 or None
        Which value each cell has.
    is_category : bool
        Whether the values are levels, whatever they are.
    sign : str
        The per cent or currency sign that was beside numbers.
    """

    kind: str
    values: NDArray
    lengths: NDArray[np.int32]
    codes: NDArray[np.int32] | None
    is_category: bool
    sign: str = ""

    @classmethod
    def of(cls, cells: Cells) -> StoredColumn:
        """The cells of a column in this form."""
        codes = None if cells.codes is None else cells.codes.astype(np.int32)
        kind, values, lengths = _packed(cells.values)
        return cls(kind, values, lengths, codes, cells.is_category, cells.sign)

    @classmethod
    def of_texts(cls, texts: Sequence[Any]) -> StoredColumn:
        """Texts, one a row."""
        return cls.of(Cells("", _objects(texts), np.arange(len(texts)), is_category=False))

    @classmethod
    def of_numbers(cls, values: NDArray) -> StoredColumn:
        """Numbers, one a row."""
        return cls("number", values, np.empty(0, np.int32), None, is_category=False)

    @property
    def is_plain(self) -> bool:
        """Whether it holds one number a row, and nothing else."""
        return self.kind == "number" and self.codes is None and not self.is_category and not self.sign

    def __len__(self) -> int:
        return len(self.unpacked) if self.codes is None else len(self.codes)

    @property
    def unpacked(self) -> NDArray:
        """The values as :class:`Cells` has them."""
        if self.kind == "boolean":
            return _objects([None if value == _NONE else bool(value) for value in self.values.tolist()])
        if self.kind != "text":
            return self.values
        ends = np.cumsum(np.maximum(self.lengths, 0)).tolist()
        text, sizes = self.values.tobytes(), self.lengths.tolist()
        return _objects(
            [None if n == _NONE else text[end - n : end].decode("utf-8") for n, end in zip(sizes, ends, strict=True)]
        )

    def cells(self, name: str) -> Cells:
        """The column as it was."""
        codes = None if self.codes is None else self.codes.astype(np.intp)
        return Cells(name, self.unpacked, codes, self.is_category, sign=self.sign)

    @property
    def texts(self) -> list[Any]:
        """The cells, one by one."""
        values = self.unpacked
        return (values if self.codes is None else values[self.codes]).tolist()

    def take(self, index: NDArray[np.intp]) -> StoredColumn:
        """Some of the rows, and the values that these have."""
        values = self.unpacked
        if self.codes is None:
            return replace(self, values=values[index])
        held, codes = np.unique(self.codes[index], return_inverse=True)
        return StoredColumn.of(Cells("", values[held], codes.ravel(), self.is_category))

    def joined(self, other: StoredColumn, name: str) -> StoredColumn:
        """These rows and others, of the same kind."""
        one, two = self._of_kind(other), other._of_kind(self)
        if one.sign != two.sign:
            signs = " and ".join(sign or "none" for sign in (two.sign, one.sign))
            raise TypeError(f"Column {name!r} holds numbers of another unit than before ({signs}): make it the same.")
        if one.kind != two.kind:
            raise TypeError(
                f"Column {name!r} holds {_HELD[other.kind]}, and held {_HELD[self.kind]} before: make it the same, or "
                "fit again."
            )
        values = np.concatenate([one.unpacked, two.unpacked])
        codes = None
        if one.codes is not None or two.codes is not None:
            own, more = (np.arange(len(part)) if part.codes is None else part.codes for part in (one, two))
            codes = np.concatenate([own, more + len(one.unpacked)]).astype(np.intp)
        both = StoredColumn.of(Cells("", values, codes, self.is_category, sign=self.sign))
        return both.take(np.arange(len(self) + len(other)))

    def _of_kind(self, other: StoredColumn) -> StoredColumn:
        """A column without any value, as one of another kind."""
        if self.kind == other.kind or any(value is not None for value in self.unpacked.tolist()):
            return self
        gaps = {"number": np.nan, "date": np.datetime64("NaT", "us")}
        if other.kind not in gaps:
            return replace(self, kind=other.kind, values=np.full(len(self.unpacked), _NONE, np.int8))
        values = np.full(len(self), gaps[other.kind], dtype=other.values.dtype)
        return StoredColumn(other.kind, values, np.empty(0, np.int32), None, other.is_category)


_HELD = {"number": "numbers", "date": "dates", "text": "text", "boolean": "what is true or false"}


def _objects(values: Sequence[Any]) -> NDArray:
    objects = np.empty(len(values), dtype=object)
    objects[:] = list(values)
    return objects


def _packed(values: NDArray) -> tuple[str, NDArray, NDArray[np.int32]]:
    """The kind of values, and the values in arrays that files can hold."""
    none = np.empty(0, np.int32)
    if values.dtype.kind != "O":
        return ("date" if values.dtype.kind == "M" else "number"), values, none
    listed = values.tolist()
    if any(isinstance(value, bool) for value in listed):
        return "boolean", np.array([_NONE if value is None else value for value in listed], np.int8), none
    coded = [None if value is None else str(value).encode("utf-8", "surrogatepass") for value in listed]
    lengths = np.array([_NONE if one is None else len(one) for one in coded], np.int32)
    return "text", np.frombuffer(b"".join(one for one in coded if one is not None), np.uint8), lengths


@dataclass(frozen=True, eq=False)
class StoredTable:
    """Columns by name, in the order of the table that they are from; it can be described and coded as any table.

    Attributes
    ----------
    column_names : list
        Names of the columns.
    columns_ : list of StoredColumn
        Their cells.
    """

    column_names: list[Any]
    columns_: list[StoredColumn]

    @classmethod
    def of(cls, X: Any) -> StoredTable:
        """A table of any library in this form."""
        if isinstance(X, StoredTable):
            return X
        names = names_of(X)
        pairs = zip(names, columns_of(X), strict=True)
        return cls(names, [StoredColumn.of(cells_of(column, str(name))) for name, column in pairs])

    def __getstate__(self) -> dict[str, Any]:
        """Columns of plain numbers as one matrix, names as one text: files hold few large parts quicker than many."""
        is_plain = np.array([one.is_plain for one in self.columns_], dtype=bool)
        plain = [one.values for one in self.columns_ if one.is_plain]
        is_json = all(type(name) in (str, int) for name in self.column_names)
        return {
            "column_names": json.dumps(self.column_names) if is_json else self.column_names,
            "columns_": [one for one in self.columns_ if not one.is_plain],
            "is_plain": is_plain,
            "numbers": np.array(plain, dtype=np.float64).T,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        names, columns = state["column_names"], state["columns_"]
        if "is_plain" in state:  # files of the first days of 0.3 hold column by column
            plain, others = iter(state["numbers"].T), iter(columns)
            columns = [StoredColumn.of_numbers(next(plain)) if one else next(others) for one in state["is_plain"]]
        names = json.loads(names) if isinstance(names, str) else names
        self.__dict__.update(column_names=names, columns_=columns)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.columns_[0]), len(self.columns_)

    def column(self, position: int) -> Cells:
        """The cells of a column."""
        return self.columns_[position].cells(str(self.column_names[position]))

    def __getitem__(self, name: object) -> list[Any]:
        """A column as a list, for those who read its text."""
        return self.columns_[self.column_names.index(name)].texts

    def take(self, index: NDArray[np.intp]) -> StoredTable:
        """Some of the rows."""
        return StoredTable(self.column_names, [column.take(index) for column in self.columns_])

    def select(self, names: Sequence[Any]) -> StoredTable:
        """Some of the columns."""
        return StoredTable(list(names), [self.columns_[self.column_names.index(name)] for name in names])

    def joined(self, other: StoredTable) -> StoredTable:
        """These rows and others."""
        parts = zip(self.column_names, self.columns_, other.columns_, strict=True)
        return StoredTable(self.column_names, [one.joined(two, str(name)) for name, one, two in parts])
