"""Results on their way out: claimed before the work begins, and there whole or not at all."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click
import numpy as np
from numpy.typing import NDArray

from jointclust.cli.errors import OutputError
from jointclust.cli.exchange import errors_of, linked
from jointclust.files import UNFINISHED, replacing
from jointclust.readers import as_written
from jointclust.readers._matrix import annotate_file
from jointclust.views.written import is_gap, readings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Columns by name, each with one value per row.
NamedColumns = Mapping[str, Sequence[Any] | NDArray[Any]]
# Standard output, in place of a file.
STDOUT = Path("-")
# Signs that begin a formula in a spreadsheet (of any width), what may stand before one unseen, where a cell may split.
_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"
_UNSEEN = (
    r'\s"\x00-\x1f\x7f-\xa0\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f'
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0"
)
_SPLITS = r";,|\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029"
# Where an apostrophe makes text of a part of a cell, before others that were there; and where one does.
_FORMULA = re.compile(rf"((?:^|[{_SPLITS}])[{_UNSEEN}]*)(?='*[{_SIGNS}])")
_MARKED = re.compile(rf"((?:^|[{_SPLITS}])[{_UNSEEN}]*)'(?='*[{_SIGNS}])")


def claim_file(path: Path, *, force: bool, option: str = "--out") -> None:
    """Make sure, before the work begins, that a file can be written; through a link none is."""
    if path.is_symlink():
        raise linked(path)
    if path.is_dir():
        raise OutputError(f"{path} is a folder: name a file in it.")
    if path.exists() and not force:
        raise OutputError(f"{path} is there already: choose another {option}, or add --force.")
    with errors_of(path):
        tempfile.NamedTemporaryFile(dir=path.parent, prefix=UNFINISHED).close()


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """As :func:`jointclust.files.replacing`, with errors that a user understands."""
    with errors_of(path), replacing(path) as temporary:
        yield temporary


def claim_table(
    name: str | Path | None, *, force: bool, endings: tuple[str, ...] = (".csv", ".parquet"), what: str = "a table"
) -> None:
    """Check, before the work begins, that a table can be written to its file or to standard output."""
    if name is None or Path(name) == STDOUT:
        return
    path = Path(name)
    _check_ending(path, what, endings)
    if path.suffix == ".parquet" and not can_write_parquet():
        needed = "writing Parquet needs pyarrow: pip install 'jointclust[files]', or name a .csv file."
        raise OutputError(f"{path}: {needed}")
    claim_file(path, force=force)


def _check_ending(path: Path, what: str, endings: tuple[str, ...]) -> None:
    if path.suffix not in endings:
        raise OutputError(f"{path}: {what} goes to a {', '.join(endings[:-1])} or {endings[-1]} file.")


def read_cells(path: Path, *, raw: bool = False) -> dict[str, list[str]]:
    """Columns of a table that this library has written, or someone has filled in, as text.

    Those written raw, and all in Parquet, have no apostrophes of ours.
    """
    meant = str if raw or path.suffix == ".parquet" else as_meant
    return {meant(name): [meant(str(cell)) for cell in cells] for name, cells in as_written(path).items()}


def write_table(path: Path, columns: NamedColumns, *, raw: bool = False) -> None:
    """Columns as CSV, or as Parquet where the name says so.

    Text that a spreadsheet would take for a formula gets an apostrophe in CSV, unless it is asked for raw.
    """
    if path == STDOUT:
        _write_csv(sys.stdout, columns, raw)
        return
    with written(path) as temporary:
        if path.suffix == ".parquet":
            import pyarrow as pa
            import pyarrow.parquet as parquet

            texts = [name for name, one in columns.items() if isinstance(one, np.ndarray) and one.dtype.kind == "O"]
            arrays = {name: pa.array(list(one) if name in texts else one) for name, one in columns.items()}
            parquet.write_table(pa.table(arrays), temporary)
            return
        with temporary.open("w", encoding="utf-8", newline="") as stream:
            _write_csv(stream, columns, raw)


def write_json(path: Path, data: object) -> None:
    """Data as JSON."""
    with written(path) as temporary:
        temporary.write_text(json.dumps(data, indent=2, default=as_json, ensure_ascii=False) + "\n", encoding="utf-8")


def write_result(out: str | None, columns: NamedColumns, data: object, *, raw: bool = False) -> None:
    """What a command found, where a file is wanted: as JSON where its name says so, else as a table."""
    if out is not None and Path(out).suffix == ".json":
        write_json(Path(out), data)
    elif out is not None:
        write_table(Path(out), columns, raw=raw)


def as_json(value: object) -> object:
    """Numbers of NumPy as JSON's; anything else as text."""
    return value.item() if isinstance(value, np.generic) else str(value)


def can_write_parquet() -> bool:
    """Whether pyarrow is there."""
    return importlib.util.find_spec("pyarrow") is not None


def embedding_name() -> str:
    """The file of the embedding: Parquet where it can be written."""
    return "embedding.parquet" if can_write_parquet() else "embedding.csv"


class _Lines:
    """A stream of rows that end with a line feed; csv quotes the signs of the ends that it writes, CR and LF."""

    END = "\r\n"

    def __init__(self, stream: TextIO):
        self.stream = stream

    def write(self, row: str) -> int:
        return self.stream.write(row.removesuffix(self.END) + "\n")


def _write_csv(stream: TextIO, columns: NamedColumns, raw: bool) -> None:
    def kept(cells: Iterable[object]) -> list[object]:
        """The cells, NaN as empty ones."""
        plain = cells.tolist() if isinstance(cells, np.ndarray) else list(cells)
        plain = ["" if isinstance(cell, float) and np.isnan(cell) else cell for cell in plain]
        return plain if raw else [as_text(cell) if isinstance(cell, str) else cell for cell in plain]

    writer = csv.writer(_Lines(stream), lineterminator=_Lines.END)
    writer.writerow(kept(columns))
    writer.writerows(zip(*map(kept, columns.values()), strict=True))


def as_text(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula, nor any part that it may split into: an apostrophe before each.

    Examples
    --------
    >>> as_text("=A1"), as_text("a;\uff1d1"), as_text("-1.5"), as_text("'tis")
    ("'=A1", "a;'\uff1d1", '-1.5', "'tis")
    """
    marked = _FORMULA.sub(r"\1'", cell)
    return cell if marked == cell or is_gap(cell) or any(readings(cell)) else marked


def as_meant(cell: str) -> str:
    """A cell without the apostrophes that were put into it: that of ``'=A1``, not that of ``'tis``."""
    meant = _MARKED.sub(r"\1", cell)
    return meant if as_text(meant) == cell else cell


def claim_plot(plot: str | None, *, force: bool) -> None:
    """Make sure, before the work, that a drawing can be made and written."""
    if plot is None:
        return
    _check_ending(Path(plot), "a drawing", (".svg", ".png", ".pdf"))
    if importlib.util.find_spec("matplotlib") is None:
        raise click.UsageError("--plot needs matplotlib: pip install 'jointclust[plot]'.")
    claim_file(Path(plot), force=force, option="--plot")


def save_drawing(axes: Axes, plot: str) -> None:
    """A drawing in the format that its name tells."""
    with written(Path(plot)) as temporary:
        axes.figure.get_figure(root=True).savefig(temporary, format=Path(plot).suffix[1:], bbox_inches="tight", dpi=150)


def write_annotated(source: Path, target: Path, columns: dict[str, NDArray[Any]]) -> None:
    """A copy of ``source`` at ``target``, which may be the same, with labels as categories and what goes with them."""
    if not source.is_file():
        raise OutputError(f"{target}: labels go into a copy of a .h5ad file, and DATA came from standard input.")
    with written(target) as temporary:
        shutil.copyfile(source, temporary)
        annotate_file(temporary, columns)
