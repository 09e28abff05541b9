"""DATA of a command, read as its options say."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from jointclust.cli import options, preparing
from jointclust.cli.console import Voice
from jointclust.cli.errors import spelled
from jointclust.cli.repeated import describe_copies, describe_total
from jointclust.cli.writing import read_cells
from jointclust.estimators.known import says_nothing
from jointclust.exceptions import Message, Setting
from jointclust.readers import Columns, NoColumnError, ReadError, Table, as_written, format_of, read
from jointclust.readers._table import no_such_column
from jointclust.views.usage import RELATED
from jointclust.views.written import is_gap

# What messages call standard input.
STDIN = "stdin"
# Options that readers take as they are.
_READING = (
    "id_column",
    "label_column",
    "categories",
    "encoding",
    "delimiter",
    "decimal",
    "dates",
    "missing",
    "any_size",
)
# Where known classes come from another file and no column of it is named, they are in this one.
_CLASSES = "class"


@dataclass(frozen=True, eq=False)
class InputFile:
    """Data as read, how to recognise the file again, and every column as it is written where that was asked for.

    ``used`` are the columns to use, as the library takes them: "related", "all", or names.
    """

    table: Table
    path: str
    sha256: str
    format: str
    columns: Mapping[str, Sequence[Any]] | None = None
    used: str | list[str] = RELATED
    text_column: str | None = None
    blocks: Mapping[str, InputFile] | None = None  # where the data are blocks: the file of each
    text_name: str = "text"  # of the column of texts that are clustered


def read_data(
    voice: Voice, data: str, given: dict[str, Any], remembered: str | None = None, whole: bool = False, **more: Any
) -> InputFile:
    """DATA as they are: a file, or standard input, which is kept in a temporary file meanwhile.

    The file may lack an id column that is ``remembered``, but not one that an option names. With ``whole`` all columns
    are kept as they are written. ``more`` overrules the options.
    """
    reading = _options(given) | more
    reading["header"] = None if given["no_header"] is None else not given["no_header"]
    reading["missing"] = "refuse" if reading.get("missing", "refuse") == "refuse" else "keep"
    reading["categories"] = "keep" if reading.get("categories") == "auto" else reading.get("categories", "refuse")
    kind = given["format"] or kind_of(data)
    with _as_file(data, kind) as file, _shown_as_asked(given):
        size = file.stat().st_size if file.is_file() else None
        with voice.step("read", f"Reading {STDIN if data == '-' else data}", size) as progress:
            table = _read(file, kind, remembered, reading | {"progress": progress})
            table = replace(table, notes=[spelled(note) for note in table.notes])
            columns = as_written(file, kind, **reading) if whole else None
            with file.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return InputFile(table, data if is_read_once(data) else str(Path(data).resolve()), digest, kind, columns)


def is_read_once(data: str) -> bool:
    """Whether data cannot be read again: standard input, or a pipe, as shells make one of ``<(command)``."""
    return data == "-" or Path(data).is_fifo()


def kind_of(data: str) -> str:
    """The format of data by their name; what comes through a pipe without a known ending is CSV."""
    try:
        return "csv" if data == "-" else format_of(data)
    except ReadError:
        if is_read_once(data):
            return "csv"
        raise


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """What the user wants to be read, and how."""
    reading: dict[str, Any] = {key: given[key] for key in _READING if key in given}
    reading |= {key: options.names_of(given[key]) for key in ("columns", "drop") if key in given}
    if given.get("known_column") is not None and given["known_rows"] is None:
        reading["known_column"] = _checked_known(given)
    text = given["text_column"]
    if text is not None:
        if reading.get("columns") or reading.get("drop") or given.get("keep") or given.get("all_columns"):
            others = "--columns, --drop, --keep and --all-columns"
            raise click.UsageError(f"--text-column is the only feature: leave out {others}.")
        reading |= {"text_column": text, "kinds": {text: "text"}, "categories": "keep", "missing": "keep"}
    if "show" in given:
        reading |= {"show": _shown(given), "carry": True}
    return reading


def _shown(given: dict[str, Any]) -> list[str]:
    """Columns that are not clustered, but shown with the rows; the one that names clusters is."""
    names = options.names_of(given.get("show", ())) or []
    return list(dict.fromkeys([*names, *([given["name_by"]] if _is_named_beside(given) else [])]))


def _is_named_beside(given: dict[str, Any]) -> bool:
    """Whether clusters are named by a column that is not clustered; texts that are name their clusters anyway."""
    return given.get("name_by") is not None and given["name_by"] != given["text_column"]


def naming_texts(source: InputFile, given: dict[str, Any]) -> NDArray[Any] | None:
    """The texts that clusters are named by, if a column of them is named."""
    return source.table.beside[given["name_by"]] if _is_named_beside(given) else None


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
def _shown_as_asked(given: dict[str, Any]) -> Iterator[None]:
    """Errors of a column that is shown since clusters are named by it speak of the option that names it."""
    try:
        yield
    except ReadError as error:
        if _is_named_beside(given) and not given.get("show") and isinstance(error.args[0], Message):
            text, settings = error.args[0].text, error.args[0].settings
            own = [Setting("name_by") if setting == Setting("show") else setting for setting in settings]
            error.args = (Message(text, *own),)
        raise


@contextmanager
def _as_file(path: str, kind: str) -> Iterator[Path]:
    """Errors call standard input and pipes by their own names, not by that of a temporary file."""
    if not is_read_once(path):
        if Path(path).is_char_device() or Path(path).is_block_device():
            raise ReadError(f"{path} is a device: give a file, or - for standard input.")
        yield Path(path)
        return
    with tempfile.NamedTemporaryFile(prefix="stdin-", suffix=f".{kind}") as spooled:
        with nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb") as stream:
            shutil.copyfileobj(stream, spooled)
        spooled.flush()
        try:
            yield Path(spooled.name)
        except ReadError as error:
            name = STDIN if path == "-" else path
            raise ReadError(spelled(error.args[0]).replace(spooled.name, name)) from error


def identities(table: Table) -> NDArray:
    """Names of the rows."""
    return np.arange(table.data.shape[0]) if table.ids is None else table.ids


def file_to_fit(voice: Voice, data: str, given: dict[str, Any], *, of_copies: bool = True) -> InputFile:
    """One file of data to be fitted, with its columns by name; prints the notes, also those on copies of rows."""
    source = read_data(voice, data, given)
    spared = [*named_features(source, given), *_shown(given)]
    text, missing = given["text_column"], given["missing"]
    table = preparing.arranged(source.table, text_column=text, missing=missing, spared=spared)
    if of_copies:
        table = replace(table, notes=[*table.notes, *describe_copies(table)])
    total = describe_total(table)
    table = replace(table, notes=[*table.notes, total] if total else table.notes)
    voice.say(" ".join(table.notes))
    table = with_known_rows(table, given)
    return replace(source, table=table, used=used_columns(table, given), text_name=text or "text")


def with_known_rows(table: Table, given: dict[str, Any]) -> Table:
    """The table with the classes that a file of its own has, if there is one."""
    if given.get("known_rows") is None:
        return table
    return replace(table, known=_known_of(table, given["known_rows"], given["known_column"] or _CLASSES))


def named_features(source: InputFile, given: dict[str, Any]) -> list[str]:
    """Columns that a user wants to be used: those to keep, and those listed, unless they tell all rows apart."""
    table, chosen = source.table, ("--all-columns", "--columns", "--keep")
    flags = [option for option in chosen if given[option[2:].replace("-", "_")]]
    if len(flags) > 1:
        raise click.UsageError(f"{' and '.join(flags)} exclude each other: each says which columns are used.")
    kept, names = options.names_of(given["keep"]) or [], _names_in(table)
    for name in kept:
        if name in (given["id_column"], given["label_column"], given.get("known_column")):
            raise click.UsageError(f"--keep {name}: another option says what this column is, and so it is no feature.")
        if name not in names:
            raise no_such_column(Path(source.path), name, "keep", names)
    if kept and RELATED in names:
        raise click.UsageError(f"--keep: a column is called {RELATED!r}; name all columns to use with --columns.")
    if not given["columns"] or not isinstance(table.data, Columns):
        return kept
    return [name for name, column in table.data.items() if len(set(column.tolist())) < len(column)]


def used_columns(table: Table, given: dict[str, Any]) -> str | list[str]:
    """The columns to use, as the library takes them."""
    kept = options.names_of(given["keep"])
    if kept is not None:
        return [RELATED, *kept]
    if given["columns"] and isinstance(table.data, Columns):
        return table.data.column_names
    return "all" if given["columns"] or given["all_columns"] else RELATED


def _names_in(table: Table) -> list[str]:
    return table.names or [str(number) for number in range(preparing.shape_of(table.data)[1])]


def known_labels(table: Table) -> NDArray[np.object_] | None:
    """Known classes to fit with, None where a row has none."""
    if table.known is None:
        return None
    cells = [str(value).strip() for value in table.known]
    classes = [None if is_gap(cell) or says_nothing(cell) else cell for cell in cells]
    if not any(value is not None for value in classes):
        raise ReadError("--known-column: no row has a class. Write one into some cells, or leave the option out.")
    return np.array(classes, dtype=object)


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
    if not path.exists():
        raise ReadError(f"--known-rows {path}: there is no such file.")
    with _as_file(file, "csv") as rows_with_classes:
        columns = read_cells(rows_with_classes)
    for name in ("id", column):
        if name not in columns:
            raise no_such_column(path, name, "known_rows", list(columns))
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
