"""Sources of cells: delimited text and JSON lines, compressed or not, and Excel's sheets, through openpyxl."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import json
import lzma
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import date, datetime, time
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import numpy as np

from jointclust.exceptions import Setting
from jointclust.readers._sheet import CellSource, Read, Sheet
from jointclust.readers._table import Options, ReadError, Table, most_unpacked, named_by_place, needed, unpacks_to
from jointclust.views.written import is_gap, is_number

if TYPE_CHECKING:
    import _csv

ENDINGS = (".gz", ".bz2", ".xz", ".zst")
# How a compressed file begins, and what unpacks it.
_PACKED: dict[bytes, Callable[[BinaryIO], Any]] = {
    rb"\x1f\x8b": gzip.open,
    rb"BZh.1AY&SY": bz2.open,
    rb"\xfd7zXZ\0": lzma.open,
    rb"\x28\xb5\x2f\xfd": lambda raw: _unzstd(raw),
}
# The longer marks come first: that of UTF-32 begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_DEFAULT = Options().encoding
# What spreadsheets write in the west: Latin-1 with the sign of the euro.
_OF_SPREADSHEETS = "cp1252"
_CHUNK = 2**17
# Characters of a cell: as many as the csv module can count on any platform. Its own limit is for the whole process.
_LONGEST = 2**31 - 1
_DELIMITERS = (",", "\t", ";", "|")

Value = str | int | float | bool | None


def _unzstd(raw: BinaryIO) -> Any:
    pa = needed("pyarrow", "reading .zst")
    return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")


class _Unpacked(io.RawIOBase):
    """What a compressed file unpacks to, up to so many bytes."""

    def __init__(self, content: Any, path: Path, most: float):
        self.content, self.path, self.most, self.n_bytes = content, path, most, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self.content.read(len(buffer))
        buffer[: len(part)] = part
        self.n_bytes += len(part)
        if self.n_bytes > self.most:
            raise unpacks_to(self.path, self.n_bytes)
        return len(part)


@contextmanager
def opened(path: Path, most: float = np.inf) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The file on the disk, and its content, unpacked as its first bytes tell, to so many bytes at most."""
    with path.open("rb") as raw:
        start = raw.read(10)
        raw.seek(0)
        unpack = next((unpack for magic, unpack in _PACKED.items() if re.match(magic, start, re.DOTALL)), None)
        with nullcontext(raw) if unpack is None else unpack(raw) as content:
            yield raw, content if content is raw else io.BufferedReader(_Unpacked(content, path, most), _CHUNK)


@contextmanager
def lines_of(path: Path, encoding: str, most: float) -> Iterator[tuple[BinaryIO, TextIO]]:
    """The file on the disk, and its lines, with their ends; meanwhile cells may be of any length."""
    with opened(path, most) as (raw, content), io.TextIOWrapper(content, encoding, newline="") as lines:
        before = csv.field_size_limit(_LONGEST)
        try:
            yield raw, lines
        finally:
            csv.field_size_limit(before)


def encoding_of(path: Path, given: str) -> tuple[str, str | None]:
    """The encoding to read a text file with, and a note where that is not the one given."""
    try:
        codecs.lookup(given)
    except LookupError as error:
        raise ReadError("There is no such encoding.", Setting("encoding", given)) from error
    if given != _DEFAULT:
        return given, None
    with opened(path) as (_, content):
        start = content.read(1024)
    marked = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    if marked is not None:
        return marked, f"The file is marked as {marked.upper()}, and read as such."
    if b"\0" in start:
        what = f"{path} is no text in UTF-8: it holds null bytes. Is it UTF-16?"
        raise ReadError(what, Setting("encoding", "utf-16-le"))
    return given, None


def encoding_error(path: Path, encoding: str, most: float) -> ReadError:
    """Where the first undecodable byte is; a second pass, but only on the way to an error."""
    where = "it ends in the middle of a character"
    with opened(path, most) as (_, content):
        for number, line in enumerate(content if not encoding.startswith(("utf-16", "utf-32")) else (), 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as error:
                where = f"line {number} holds the byte 0x{line[error.start]:02x}"
                break
    name = encoding.removesuffix("-sig")
    return ReadError(f"{path} is not {name}: {where}. Name its encoding.", Setting("encoding", _OF_SPREADSHEETS))


class Delimited(CellSource):
    """Lines of cells with a character between them."""

    def __init__(self, path: Path, options: Options):
        super().__init__(path, options)
        self.encoding = encoding_of(path, options.encoding)[0]
        with lines_of(path, self.encoding, self.most) as (_, lines):
            head = list(_head(lines))
            self.delimiter = options.delimiter or self._delimiter(head)
            self.n_comments = self._comments(head)
        if self.n_comments:
            what = "line is a comment" if self.n_comments == 1 else f"{self.n_comments} lines are comments"
            self.notes.append(f"The first {what}, and left out.")
        with lines_of(path, self.encoding, self.most) as (_, lines):
            reader = self._reader(lines)
            row = next(reader, None)
            self.n_before = self.n_comments + (0 if options.header is False else reader.line_num)
        self.names = self._names(row)

    def _reader(self, lines: Iterable[str]) -> _csv.Reader:
        return csv.reader(islice(lines, self.n_comments, None), delimiter=self.delimiter)

    def _names(self, first: list[str] | None) -> list[str]:
        if first is None or not any(first):
            raise ReadError(f"{self.path} is empty: its first line holds no column.")
        if self.options.header is False:
            return [f"x{index}" for index in range(len(first))]
        return named_by_place([cell.strip() for cell in first], self.notes)

    def _delimiter(self, head: list[str]) -> str:
        """The sign that the first line has most of, and the line before it has, too, where that one holds the names."""
        at = next((index for index, line in enumerate(head) if not _is_aside(line)), 0)
        first, before = ("".join(head[index : index + 1]) for index in (at, max(at - 1, 0)))
        # With a decimal comma, the comma is no candidate.
        candidates = (sign for sign in _DELIMITERS if sign != self.options.decimal)
        return max(candidates, key=lambda sign: (min(first.count(sign), before.count(sign)), first.count(sign)))

    def _comments(self, head: list[str]) -> int:
        """How many lines at the top are comments: those with a # that are not names or rows.

        A line such as ``#id,x,y`` has as many cells as the next one, and is no comment; unless the next holds names.
        """
        n_aside = next((index for index, line in enumerate(head) if not _is_aside(line)), 0)
        rows = [next(csv.reader([line], delimiter=self.delimiter), []) for line in head]
        if n_aside == 0 or not any(line.startswith("#") for line in head[:n_aside]):
            return 0
        body, after = rows[n_aside], rows[n_aside + 1] if n_aside + 1 < len(rows) else []
        if self.options.header is not False and _holds_words_only(body) and not _holds_words_only(after or body):
            return n_aside
        blank = [not line.strip() for line in head]
        first = n_aside
        while first and (blank[first - 1] or len(rows[first - 1]) == len(body)):
            first -= 1
        while first < n_aside and blank[first]:
            first += 1
        return first

    def rows(self) -> Generator[tuple[int, list[str]]]:
        width, n_rows = len(self.names), 0
        with lines_of(self.path, self.encoding, self.most) as (raw, lines):
            reader = self._reader(lines)
            if self.options.header is not False:
                next(reader)
            for row in reader:
                if len(row) != width:
                    if not row:
                        continue
                    raise self._ragged(self.n_comments + reader.line_num, len(row))
                n_rows += 1
                self.advance(n_rows, raw.tell)
                yield self.n_comments + reader.line_num, row

    def _ragged(self, line: int, n_cells: int) -> ReadError:
        what = f"{self.path}: line {line} has {n_cells} cells where the first line has {len(self.names)}."
        if self.options.delimiter is not None:
            return ReadError(what)
        what += f" Is {self.delimiter!r} what separates cells"
        if self.delimiter != ",":
            return ReadError(f"{what}?", Setting("delimiter"))
        return ReadError(f"{what}, or the decimal sign?", Setting("delimiter"), Setting("decimal", ","))

    def fast(self, numeric: list[int], text: list[int], gaps: list[str], decimal: str) -> Read | None:
        """The columns through pyarrow, if that is installed and finds no fault in the file."""
        plain = self.encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")
        one_line = self.n_before - self.n_comments <= 1
        if not plain or len(self.delimiter) != 1 or not one_line:
            return None
        try:
            import pyarrow as pa
            import pyarrow.csv as reader
        except ImportError:
            return None
        names = [str(index) for index in range(len(self.names))]
        kinds = {names[index]: pa.float64() for index in numeric} | {names[index]: pa.string() for index in text}
        how = {"column_types": kinds, "null_values": gaps}
        try:
            with opened(self.path, self.most) as (raw, content), pa.OSFile(str(self.path)) as plain_content:
                table = reader.read_csv(
                    plain_content if content is raw else content,
                    reader.ReadOptions(column_names=names, skip_rows=self.n_before),
                    reader.ParseOptions(delimiter=self.delimiter, newlines_in_values=bool(text)),
                    reader.ConvertOptions(**how, include_columns=list(kinds), decimal_point=decimal),
                )
        except (pa.ArrowException, OSError):
            return None
        matrix = np.empty((table.num_rows, len(numeric)))
        for place, index in enumerate(numeric):
            matrix[:, place] = table.column(names[index]).to_numpy()
        return matrix, {index: table.column(names[index]).to_pylist() for index in text}


def _head(lines: Iterable[str]) -> Iterator[str]:
    """Lines up to the second one that is neither blank nor begins with #."""
    n_lines = 0
    for line in lines:
        yield line
        n_lines += not _is_aside(line)
        if n_lines == 2:
            return


def _is_aside(line: str) -> bool:
    return line.startswith("#") or not line.strip()


def _holds_words_only(row: list[str]) -> bool:
    return not any(is_number(cell) for cell in row) and not all(map(is_gap, row))


class Lines(CellSource):
    """Objects, one on each line; a key that one lacks is a gap there."""

    def __init__(self, path: Path, options: Options):
        super().__init__(path, options)
        self.encoding, self.has_header = encoding_of(path, options.encoding)[0], False
        names: dict[str, None] = {}
        lacking: int | None = None
        for line, value in self._objects():
            if lacking is None and names and value.keys() != names.keys():
                lacking = line
            names |= dict.fromkeys(value)
        if not names:
            raise ReadError(f"{path} holds no object with a value in it.")
        if lacking is not None:
            self.notes.append(f"Not every line has the same keys (line {lacking}): what one lacks is a gap.")
        self.names = list(names)

    def rows(self) -> Generator[tuple[int, list[str]]]:
        for line, value in self._objects():
            yield line, [self._cell(line, name, value.get(name)) for name in self.names]

    def _objects(self) -> Iterator[tuple[int, dict[str, Value]]]:
        n_rows = 0
        with lines_of(self.path, self.encoding, self.most) as (raw, lines):
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                n_rows += 1
                self.advance(n_rows, raw.tell)
                try:
                    value = json.loads(line, object_pairs_hook=_once)
                except ValueError as error:
                    raise ReadError(f"{self.path}: line {number} is no JSON: {error}.") from error
                if not isinstance(value, dict):
                    raise ReadError(
                        f"{self.path}: line {number} holds no JSON object: one such as "
                        '{"age": 31, "city": "Oslo"} is expected on each line.'
                    )
                yield number, value

    def _cell(self, line: int, name: str, value: Value) -> str:
        if value is None:
            return ""
        if isinstance(value, list | dict):
            if not self._is_needed(name):
                return json.dumps(value)
            what = "a list" if isinstance(value, list) else "an object"
            where = f"{self.path}: line {line}, column {name!r}"
            raise ReadError(f"{where} holds {what}: a single value is needed.", Setting("drop", [name]))
        return str(value) if isinstance(value, str | bool) else repr(value)

    def _is_needed(self, name: str) -> bool:
        """Whether a column is a feature that is asked for, or names rows or their classes."""
        options = self.options
        if name in options.special.values():
            return True
        lists = ([] if options.text_column is None else [[options.text_column]]) + [options.columns, options.wanted]
        return name not in (options.drop or ()) and all(one is None or name in one for one in lists)


def _once(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key occurs twice")
    return fields


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
            there = ", ".join(map(repr, others))
            self.notes.append(f"Sheet {title!r} is read; to read another one ({there}), move it to the front.")
        cells = first[1]
        while not cells[-1]:
            cells.pop()
        no_names = [f"x{index}" for index in range(len(cells))]
        names = named_by_place([cell.strip() for cell in cells], self.notes)
        self.names = no_names if options.header is False else names

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
                    raise ReadError(
                        f"{self.path}: row {number} has cells beyond the {width} column{'s' * (width > 1)} of the "
                        "first row that is not empty. Names of columns are expected there: delete titles above them."
                    )
                yield number, cells[:width] + [""] * (width - len(cells))


def _filled(sheet: Any) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of every row that is not empty."""
    for index, values in enumerate(sheet.iter_rows(values_only=True), 1):
        cells = [_cell(value) for value in values]
        if any(cells):
            yield index, cells


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _read(source: type[CellSource], path: Path, options: Options) -> Table:
    """Read lines of text, plain or compressed."""
    encoding, note = encoding_of(path, options.encoding)
    try:
        cells = source(path, options)
        cells.notes += [] if note is None else [note]
        return Sheet(cells, options).table()
    except UnicodeDecodeError as error:
        raise encoding_error(path, encoding, most_unpacked(path, options)) from error
    except csv.Error as error:
        raise ReadError(f"{path} is no delimited text: {error}.") from error


read_delimited, read_json_lines = partial(_read, Delimited), partial(_read, Lines)


def read_xlsx(path: Path, options: Options) -> Table:
    """Read the first sheet; of formulas, the values that were saved with them."""
    return Sheet(Worksheet(path, options), options).table()
