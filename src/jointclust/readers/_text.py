"""CSV and its like: memory holds the numbers, not the text."""

from __future__ import annotations

import csv
import gzip
import io
from array import array
from collections.abc import Iterator
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from jointclust.readers._table import (
    Options,
    ReadError,
    Table,
    assembled,
    check_columns,
    check_memory,
    check_wanted,
    in_order,
    refuse_text,
)

_DELIMITERS = (",", "\t", ";", "|")
# Rows that decide which columns hold numbers.
_SAMPLE = 1000
_MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}


def read_text(path: Path, options: Options) -> Table:
    """Read delimited text, plain or compressed by gzip."""
    raw = path.open("rb")
    compressed = raw.read(2) == b"\x1f\x8b"
    raw.seek(0)
    binary: BinaryIO = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if compressed else raw
    try:
        with raw, io.TextIOWrapper(binary, options.encoding, newline="") as stream:
            return _Text(path, options, stream, raw, compressed).table()
    except UnicodeDecodeError as error:
        raise _encoding_error(path, options, compressed) from error
    except LookupError as error:
        raise ReadError(f"--encoding {options.encoding}: there is no such encoding.") from error
    except csv.Error as error:
        raise ReadError(f"{path} is no delimited text: {error}.") from error


def _encoding_error(path: Path, options: Options, compressed: bool) -> ReadError:
    """Where the first undecodable byte is; a second pass, but only on the way to an error."""
    with gzip.open(path) if compressed else path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                line.decode(options.encoding)
            except UnicodeDecodeError as error:
                byte = line[error.start]
                where = f"line {number} holds the byte 0x{byte:02x}"
                break
        else:
            where = "it ends in the middle of a character"
    name = options.encoding.removesuffix("-sig")
    return ReadError(f"{path} is not {name}: {where}. Name its encoding, for example --encoding latin-1.")


class _Text:
    """One text file on its way to a table."""

    def __init__(self, path: Path, options: Options, stream: Any, raw: Any, compressed: bool):
        self.path, self.options, self.raw, self.compressed = path, options, raw, compressed
        self.notes: list[str] = []
        first = stream.readline()
        stream.seek(0)
        self.delimiter = options.delimiter or max(_DELIMITERS, key=first.count)
        self.reader = csv.reader(stream, delimiter=self.delimiter)
        self.names = self._header()
        self.id_column = options.id_column
        if self.names[0] == "" and self.id_column is None and "" not in (options.wanted or ()):
            self.id_column = ""
            self.notes.append("The first column has no name: it is taken as the names of the rows.")
        check_columns(path, self.names, options)

    def _header(self) -> list[str]:
        first = next(self.reader, None)
        self.header_end = self.reader.line_num
        if first is None or not any(first):
            raise ReadError(f"{self.path} is empty: its first line holds no column.")
        self.pending = []
        if not self.options.header:
            self.pending = [(self.reader.line_num, first)]
            return [f"x{index}" for index in range(len(first))]
        if all(_is_number(cell) for cell in first) and len(set(first)) == len(first):
            self.notes.append("The first line holds numbers only; it is taken as names. If it is data: --no-header.")
        return [cell.strip() for cell in first]

    def table(self) -> Table:
        rows = self._rows()
        sample = list(islice(rows, _SAMPLE))
        if not sample:
            raise ReadError(f"{self.path} holds column names and no rows.")
        numeric, text = self._kinds(sample)
        self._check_memory(len(sample), len(numeric))
        # The fast reader takes clean files; whatever it stumbles over, the careful one takes, or names.
        matrix, kept = self._by_arrow(numeric, text) or self._by_hand(sample, rows, numeric, text)
        names = [self.names[index] for index in numeric]
        columns = {self.names[index]: column for index, column in kept.items()}
        ids, classes = columns.pop(self.id_column or "", None), columns.pop(self.options.label_column or "", None)
        if self.id_column is not None and self.id_column == self.options.label_column:
            classes = ids
        data, names = assembled(self.path, self.names, matrix, names, columns, self.options)
        data, names = in_order(data, names, self.options.wanted)
        return Table(data, names, _objects(ids), _objects(classes), self.notes)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells of every row that is not blank."""
        width = len(self.names)
        yield from self.pending
        for row in self.reader:
            if len(row) != width:
                if not row:
                    continue
                raise ReadError(
                    f"{self.path}: line {self.reader.line_num} has {len(row)} cells where the first line has {width}."
                )
            yield self.reader.line_num, row

    def _kinds(self, sample: list[tuple[int, list[str]]]) -> tuple[list[int], list[int]]:
        """Columns to read as numbers, and as text."""
        options = self.options
        special = {name for name in (self.id_column, options.label_column) if name is not None}
        numeric, text = [], [self.names.index(name) for name in special]
        encoded = check_wanted(self.path, self.names, options.wanted) if options.wanted is not None else {}
        for index, name in enumerate(self.names):
            if name in special:
                continue
            if options.wanted is not None:
                if name in options.wanted:
                    numeric.append(index)
                elif name in encoded:
                    text.append(index)
                continue
            cells = [row[index] for _, row in sample]
            # A few bad cells among numbers are errors in the data; a column of words is text.
            words = [cell for cell in cells if cell.strip().lower() not in _MISSING and not _is_number(cell)]
            if 2 * len(words) <= len(cells):
                numeric.append(index)
            elif options.categories == "refuse":
                raise refuse_text(self.path, name, words[0])
            elif options.categories == "onehot":
                text.append(index)
        if not numeric and not (options.categories == "onehot" and text) and not encoded:
            raise ReadError(f"{self.path} has no numeric column.")
        return numeric, text

    def _check_memory(self, n_rows: int, n_columns: int) -> None:
        """From the size of the first rows; a compressed file is taken to hold four times what it takes."""
        size = self.path.stat().st_size
        read = self.raw.tell() if not self.compressed else size / 4
        if read and size > read:
            check_memory(self.path, n_rows * (size / read) * n_columns)

    def _by_arrow(self, numeric: list[int], text: list[int]) -> tuple[NDArray[Any], dict[int, list[str]]] | None:
        """The columns through pyarrow, where it is installed and has nothing to complain of."""
        header_lines = 1 if self.options.header else 0
        plain = self.options.encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")
        if not plain or len(self.delimiter) != 1 or self.header_end > 1:
            return None
        try:
            import pyarrow as pa
            import pyarrow.csv as reader
        except ImportError:
            return None
        names = [str(index) for index in range(len(self.names))]
        kinds = {names[index]: pa.float64() for index in numeric} | {names[index]: pa.string() for index in text}
        try:
            with pa.input_stream(str(self.path), compression="gzip" if self.compressed else None) as stream:
                table = reader.read_csv(
                    stream,
                    reader.ReadOptions(column_names=names, skip_rows=header_lines),
                    reader.ParseOptions(delimiter=self.delimiter, newlines_in_values=bool(text)),
                    # No cell stands for a missing one: an empty one is an error, which the careful reader explains.
                    reader.ConvertOptions(column_types=kinds, include_columns=list(kinds), null_values=[]),
                )
        except (pa.ArrowException, OSError):
            return None
        matrix = np.empty((table.num_rows, len(numeric)))
        for place, index in enumerate(numeric):
            matrix[:, place] = table.column(names[index]).to_numpy()
        return matrix, {index: table.column(names[index]).to_pylist() for index in text}

    def _by_hand(
        self, sample: list[tuple[int, list[str]]], rows: Iterator[Any], numeric: list[int], text: list[int]
    ) -> tuple[NDArray[Any], dict[int, list[str]]]:
        values: array[float] = array("d")
        kept: dict[int, list[str]] = {index: [] for index in text}
        pick: Any = itemgetter(*numeric) if len(numeric) > 1 else lambda row: [row[index] for index in numeric]
        progress = self.options.progress
        for source in (sample, rows):
            for number, row in source:
                length = len(values)
                try:
                    values.extend(map(_number, pick(row)))
                except ValueError:
                    del values[length:]
                    values.extend(self._cell(number, row[index], index) for index in numeric)
                for index in text:
                    kept[index].append(row[index])
                if progress is not None and number % _SAMPLE == 0:
                    progress(self.raw.tell())
        n_rows = len(kept[text[0]]) if text else len(values) // len(numeric)
        return np.frombuffer(values, dtype=np.float64).reshape(n_rows, len(numeric)), kept

    def _cell(self, line: int, cell: str, column: int) -> float:
        where = f"{self.path}: line {line}, column {self.names[column]!r}"
        if cell.strip().lower() in _MISSING:
            if self.options.missing == "keep":
                return float("nan")
            raise ReadError(f"{where}: the cell is empty. Fill it in: --missing mean or --missing median does.")
        try:
            return _number(cell)
        except ValueError:
            raise ReadError(f"{where}: {cell[:40]!r} is not a number.") from None


def _is_number(cell: str) -> bool:
    try:
        _number(cell)
    except ValueError:
        return False
    return True


def _number(cell: str) -> float:
    """A float; not one with underscores, which Python reads but people use in names."""
    if "_" in cell:
        raise ValueError(cell)
    return float(cell)


def _objects(column: list[str] | None) -> Any:
    return None if column is None else np.asarray(column, dtype=object)
