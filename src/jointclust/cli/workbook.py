"""A workbook for spreadsheets: labels, clusters and a summary as sheets of one .xlsx file."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

from jointclust.cli.writing import NamedColumns, as_text, written

WORKBOOK = "results.xlsx"
# Rows of a sheet under its head, at the most, and characters of a cell.
ROWS, _CHARACTERS = 1_048_575, 32_767
# Characters that no cell may hold.
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_WIDEST = 60


def claim_workbook(wanted: bool) -> None:
    """Make sure, before the work, that a workbook can be written."""
    if wanted and importlib.util.find_spec("openpyxl") is None:
        raise click.UsageError("--xlsx needs openpyxl: pip install 'jointclust[files]'.")


def write_workbook(path: Path, sheets: Mapping[str, NamedColumns], *, raw: bool = False) -> None:
    """Tables as the sheets of a workbook; one of more rows than a sheet holds goes on in the next.

    Text that looks like a formula is text, and gets an apostrophe unless it is asked for raw: copies of the workbook in
    other formats do not know what it was.
    """
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    book = Workbook(write_only=True)
    for title, columns in sheets.items():
        cells = dict(zip(_plain(columns, raw), (_plain(values, raw) for values in columns.values()), strict=True))
        n_rows = len(next(iter(cells.values()), []))
        for part, first in enumerate(range(0, max(n_rows, 1), ROWS), 1):
            sheet = book.create_sheet(title if part == 1 else f"{title} {part}")
            sheet.freeze_panes = "A2"
            for place, (name, values) in enumerate(cells.items(), 1):
                longest = max([len(str(name)), *(len(str(value)) for value in values[:100])])
                sheet.column_dimensions[get_column_letter(place)].width = min(longest + 2, _WIDEST)

            def cell(value: Any, *, bold: bool = False, sheet: Any = sheet) -> Any:
                """Text stays text, also where it looks like a formula."""
                styled = WriteOnlyCell(sheet, value)
                if isinstance(value, str):
                    styled.data_type = "s"
                if bold:
                    styled.font = Font(bold=True)
                return styled

            sheet.append([cell(name, bold=True) for name in cells])
            for row in zip(*(values[first : first + ROWS] for values in cells.values()), strict=True):
                sheet.append([cell(value) if isinstance(value, str) else value for value in row])
    with written(path) as temporary:
        book.save(temporary)


def _plain(values: Iterable[Any], raw: bool) -> list[Any]:
    plain = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return [_text(value, raw) if isinstance(value, str) else None if value != value else value for value in plain]


def _text(value: str, raw: bool) -> str:
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", value if raw else as_text(value))[:_CHARACTERS]
