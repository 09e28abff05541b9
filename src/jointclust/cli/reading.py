"""DATA of a command, read as its options say."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from jointclust.cli import options, preparing
from jointclust.cli.console import Voice
from jointclust.cli.writing import read_cells
from jointclust.readers import NoColumnError, ReadError, Table, as_written, format_of, read
from jointclust.readers._table import no_such_column
from jointclust.views.written import is_gap

# What messages call standard input.
STDIN = "stdin"
# Options that readers take as they are.
_READING = ("id_column", "label_column", "categories", "encoding", "delimiter", "decimal", "dates", "missing")
# Where known classes come from another file and no column of it is named, they are in this one.
_CLASSES = "class"


@dataclass(frozen=True, eq=False)
class InputFile:
    """Data as read, how to recognise the file again, and every column as it is written where that was asked for."""

    table: Table
    path: str
    sha256: str
    format: str
    columns: Mapping[str, Sequence[Any]] | None = None


def read_data(
    voice: Voice, data: str, given: dict[str, Any], remembered: str | None = None, whole: bool = False, **more: Any
) -> InputFile:
    """DATA as they are: a file, or standard input, which is kept in a temporary file meanwhile.

    A remembered name of the id column, unlike one that is given, need not be there. The whole of a file are its columns
    as they are written. ``more`` goes before what the user gave.
    """
    asked = _asked(given) | more
    asked["header"] = None if given["no_header"] is None else not given["no_header"]
    asked["missing"] = "refuse" if asked.get("missing", "refuse") == "refuse" else "keep"
    asked["categories"] = "keep" if asked.get("categories") == "auto" else asked.get("categories", "refuse")
    kind = given["format"] or ("csv" if data == "-" else format_of(data))
    with _as_file(data, kind) as file:
        size = file.stat().st_size if file.is_file() else None
        with voice.step("read", f"Reading {STDIN if data == '-' else data}", size) as progress:
            table = _read(file, kind, remembered, asked | {"progress": progress})
            columns = as_written(file, kind, **asked) if whole else None
            with file.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
    for note in table.notes:
        voice.say(note)
    return InputFile(table, data if data == "-" else str(Path(data).resolve()), digest, kind, columns)


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    """What the user wants to be read, and how."""
    asked: dict[str, Any] = {key: given[key] for key in _READING if key in given}
    asked |= {key: options.names_of(given[key]) for key in ("columns", "drop") if key in given}
    if given.get("known_column") is not None and given["known_rows"] is None:
        asked["known_column"] = _checked_known(given)
    text = given["text_column"]
    if text is not None:
        if asked.get("columns") or asked.get("drop"):
            raise click.UsageError("--text-column is the only feature: leave out --columns and --drop.")
        asked |= {"columns": [text], "kinds": {text: "text"}, "categories": "keep", "missing": "keep"}
    return asked


def _read(file: Path, kind: str, remembered: str | None, options: dict[str, Any]) -> Table:
    if remembered is None or options["id_column"] is not None:
        return read(file, kind, **options)
    try:
        return read(file, kind, **options | {"id_column": remembered})
    except NoColumnError:
        table = read(file, kind, **options)
        if table.ids is not None:
            return table
        note = f"There is no column {remembered!r}, which named the rows of the fit: they are counted from 0."
        return replace(table, notes=[*table.notes, note])


@contextmanager
def _as_file(path: str, kind: str) -> Iterator[Path]:
    """Errors call standard input by its own name, not by that of a temporary file."""
    if path != "-":
        yield Path(path)
        return
    with tempfile.NamedTemporaryFile(prefix="stdin-", suffix=f".{kind}") as spooled:
        shutil.copyfileobj(sys.stdin.buffer, spooled)
        spooled.flush()
        try:
            yield Path(spooled.name)
        except ReadError as error:
            raise ReadError(str(error).replace(spooled.name, STDIN)) from error


def identities(table: Table) -> NDArray:
    """Names of the rows."""
    return np.arange(table.data.shape[0]) if table.ids is None else table.ids


def arranged(voice: Voice, data: str, given: dict[str, Any]) -> InputFile:
    """Data to be fitted, as read and arranged; what was found in them is said."""
    source = read_data(voice, data, given)
    table = preparing.arranged(source.table, text_column=given["text_column"], missing=given["missing"])
    for note in table.notes[len(source.table.notes) :]:
        voice.say(note)
    if given.get("known_rows") is not None:
        table = replace(table, known=_known_of(table, given["known_rows"], given["known_column"] or _CLASSES))
    return replace(source, table=table)


def known_labels(table: Table) -> NDArray[np.object_] | None:
    """Known classes to fit with, None where a row has none."""
    if table.known is None:
        return None
    found = [None if is_gap(str(value)) else str(value).strip() for value in table.known]
    if not any(value is not None for value in found):
        raise ReadError("--known-column: no row has a class. Write one into some cells, or leave the option out.")
    return np.array(found, dtype=object)


def _checked_known(given: dict[str, Any]) -> str:
    name = given["known_column"]
    if name == given["label_column"]:
        raise click.UsageError(
            f"--known-column and --label-column both name {name!r}: classes that the fit sees cannot judge it. Leave "
            "one of them out, or name another column."
        )
    if name == given["id_column"]:
        raise click.UsageError(f"--known-column and --id-column both name {name!r}: rows are not named by classes.")
    return name


def _known_of(table: Table, file: str, column: str) -> NDArray[np.object_]:
    """Classes by the names of the rows, from a file of its own."""
    path = Path(file)
    if not path.is_file():
        raise ReadError(f"--known-rows {path}: there is no such file.")
    columns = read_cells(path)
    for name in ("id", column):
        if name not in columns:
            raise no_such_column(path, name, "--known-rows", list(columns))
    names = dict(zip(columns["id"], columns[column], strict=True))
    rows = [str(name) for name in identities(table)]
    present = set(rows)
    strangers = [name for name, value in names.items() if name not in present and not is_gap(value)]
    if strangers:
        others = f", nor {len(strangers) - 1} others" if len(strangers) > 1 else ""
        where = "Is --id-column the one of the run that they come from?"
        raise ReadError(f"{path}: no row of the data is called {strangers[0]!r}{others}. {where}")
    if len(names) < len(columns["id"]):
        raise ReadError(f"{path}: an id occurs twice. Name each row once.")
    return np.array([names.get(name, "") for name in rows], dtype=object)
