"""Excel's .xlsx, through openpyxl."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from jointclust.readers._sheet import CellSource, Sheet
from jointclust.readers._table import Options, ReadError, Table, needed


def read_xlsx(path: Path, options: Options) -> Table:
    """Read the first sheet; of formulas, the values that were saved with them."""
    return Sheet(Worksheet(path, options), options).table()


class Worksheet(CellSource):
    """Rows of the first sheet, below the first that is not empty."""

    unit = "row"

    def __init__(self, path: Path, options: Options):
        super().__init__(path, options)
        with self._sheet() as (sheet, others):
            title = sheet.title
            first = next((row for row in _filled(sheet)), None)
        if first is None:
            raise ReadError(f"{path} holds nothing on its first sheet, {title!r}.")
        if others:
            self.notes.append(f"Sheet {title!r} is read; there are others: {', '.join(map(repr, others))}.")
        cells = first[1]
        while not cells[-1]:
            cells.pop()
        no_names = [f"x{index}" for index in range(len(cells))]
        self.names = no_names if options.header is False else [cell.strip() for cell in cells]

    @contextmanager
    def _sheet(self) -> Iterator[tuple[Any, list[str]]]:
        openpyxl = needed("openpyxl", "reading .xlsx")
        with self.path.open("rb") as stream:
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            sheet, *others = book.worksheets
            yield sheet, [other.title for other in others]
            book.close()

    def rows(self) -> Generator[tuple[int, list[str]]]:
        width = len(self.names)
        with self._sheet() as (sheet, _):
            filled = _filled(sheet)
            if self.options.header is not False:
                next(filled)
            for number, cells in filled:
                if any(cells[width:]):
                    raise ReadError(f"{self.path}: row {number} has cells beyond the {width} columns of the first row.")
                yield number, cells[:width] + [""] * (width - len(cells))


def _filled(sheet: Any) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of every row that is not empty."""
    for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
        cells = [_cell(value) for value in values]
        if any(cells):
            yield number, cells


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date | time) else str(value)
