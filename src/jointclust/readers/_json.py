"""JSON lines: an object with a value for each column on every line."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from pathlib import Path

from jointclust.readers._open import encoding_error, encoding_of, lines_of
from jointclust.readers._sheet import CellSource, Sheet
from jointclust.readers._table import Options, ReadError, Table

Value = str | int | float | bool | None


def read_jsonl(path: Path, options: Options) -> Table:
    """Read JSON lines, plain or compressed."""
    encoding, note = encoding_of(path, options.encoding)
    try:
        source = Lines(path, options, encoding)
        source.notes += [] if note is None else [note]
        return Sheet(source, options).table()
    except UnicodeDecodeError as error:
        raise encoding_error(path, encoding) from error


def json_cells(path: Path, options: Options) -> CellSource:
    """Values of JSON lines as text."""
    return Lines(path, options, encoding_of(path, options.encoding)[0])


class Lines(CellSource):
    """Objects, one on each line; a key that one lacks is a gap there.

    Parameters
    ----------
    path, options
        The file, and how to read it.
    encoding : str
        How its characters are written.
    """

    def __init__(self, path: Path, options: Options, encoding: str):
        super().__init__(path, options)
        self.encoding, self.has_header = encoding, False
        names: dict[str, None] = {}
        lacking: int | None = None
        for line, found in self._objects():
            if lacking is None and names and found.keys() != names.keys():
                lacking = line
            names |= dict.fromkeys(found)
        if not names:
            raise ReadError(f"{path} holds no object with a value in it.")
        if lacking is not None:
            self.notes.append(f"Not every line has the same keys (line {lacking}): what one lacks is a gap.")
        self.names = list(names)

    def rows(self) -> Generator[tuple[int, list[str]]]:
        for line, found in self._objects():
            yield line, [self._cell(line, name, found.get(name)) for name in self.names]

    def _objects(self) -> Iterator[tuple[int, dict[str, Value]]]:
        n_rows = 0
        with lines_of(self.path, self.encoding) as (raw, lines):
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                n_rows += 1
                self.advance(n_rows, raw.tell)
                try:
                    found = json.loads(line, object_pairs_hook=_once)
                except ValueError as error:
                    raise ReadError(f"{self.path}: line {number} is no JSON: {error}.") from error
                if not isinstance(found, dict):
                    raise ReadError(
                        f"{self.path}: line {number} holds no JSON object: one such as "
                        '{"age": 31, "city": "Oslo"} is expected on each line.'
                    )
                yield number, found

    def _cell(self, line: int, name: str, value: Value) -> str:
        if value is None:
            return ""
        if isinstance(value, list | dict):
            raise ReadError(
                f"{self.path}: line {line}, column {name!r} holds a {'list' if isinstance(value, list) else 'object'}: "
                "a single value is needed."
            )
        return str(value) if isinstance(value, str | bool) else repr(value)


def _once(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found
