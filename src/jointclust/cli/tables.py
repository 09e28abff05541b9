"""Tables on their way out: CSV that a spreadsheet cannot run, Parquet, JSON."""

from __future__ import annotations

import csv
import importlib.util
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from jointclust.cli.errors import OutputError
from jointclust.cli.files import claim_file, written
from jointclust.readers import as_written
from jointclust.readers._cells import is_gap, readings

# Columns by name, each with one value per row.
NamedColumns = Mapping[str, Sequence[Any] | NDArray[Any]]
# Standard output, in place of a file.
STDOUT = Path("-")
# How a cell begins that a spreadsheet takes for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def claim_table(
    path: Path, *, force: bool, endings: tuple[str, ...] = (".csv", ".parquet"), what: str = "a table"
) -> None:
    """Make sure, before the work, that a table can be written to a file, or to standard output."""
    if path == STDOUT:
        return
    if path.suffix not in endings:
        raise OutputError(f"{path}: {what} goes to a {', '.join(endings[:-1])} or {endings[-1]} file.")
    if path.suffix == ".parquet" and not can_write_parquet():
        raise OutputError(
            f"{path}: writing Parquet needs pyarrow: pip install 'jointclust[files]', or name a .csv file."
        )
    claim_file(path, force=force)


def read_cells(path: Path) -> dict[str, list[str]]:
    """Columns of a table that this library has written, or someone has filled in, as text."""
    return {name: [as_meant(str(cell)) for cell in cells] for name, cells in as_written(path).items()}


def write_table(path: Path, columns: NamedColumns, *, raw: bool = False) -> None:
    """Columns as CSV, or as Parquet where the name says so.

    Text that a spreadsheet would take for a formula gets an apostrophe before it in CSV, unless it is asked for raw.
    """
    if path == STDOUT:
        _write_csv(sys.stdout, columns, raw)
        return
    with written(path) as temporary:
        if path.suffix == ".parquet":
            import pyarrow as pa
            import pyarrow.parquet as parquet

            arrays = {name: pa.array(list(values) if _is_text(values) else values) for name, values in columns.items()}
            parquet.write_table(pa.table(arrays), temporary)
            return
        with temporary.open("w", encoding="utf-8", newline="") as stream:
            _write_csv(stream, columns, raw)


def write_json(path: Path, data: object) -> None:
    """Data as JSON."""
    with written(path) as temporary:
        temporary.write_text(json.dumps(data, indent=2, default=as_json, ensure_ascii=False) + "\n", encoding="utf-8")


def write_result(path: Path, columns: NamedColumns, data: object, *, raw: bool = False) -> None:
    """What a command found, as JSON where the name says so, else as a table."""
    if path.suffix == ".json":
        write_json(path, data)
    else:
        write_table(path, columns, raw=raw)


def as_json(value: object) -> object:
    """Numbers of NumPy as JSON's; anything else as text."""
    return value.item() if isinstance(value, np.generic) else str(value)


def can_write_parquet() -> bool:
    """Whether pyarrow is there."""
    return importlib.util.find_spec("pyarrow") is not None


def _write_csv(stream: TextIO, columns: NamedColumns, raw: bool) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    keep = list if raw else _harmless
    writer.writerow(keep(columns))
    writer.writerows(zip(*(keep(_plain(values)) for values in columns.values()), strict=True))


def _harmless(cells: Iterable[object]) -> list[object]:
    """Cells of which none is taken for a formula: an apostrophe makes text of those that would be."""
    return [f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell for cell in cells]


def as_meant(cell: str) -> str:
    """A cell without the apostrophe that was put before it.

    Examples
    --------
    >>> as_meant("'=A1"), as_meant("'tis")
    ('=A1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _is_formula(cell[1:]) else cell


def _is_formula(cell: str) -> bool:
    return cell.startswith(_FORMULA) and not is_gap(cell) and not any(readings(cell))


def _is_text(values: object) -> bool:
    return getattr(values, "dtype", np.dtype(int)).kind == "O"


def _plain(values: Iterable[object]) -> list[object]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)
