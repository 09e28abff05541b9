"""DATA of a command, read as its options say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from jointclust.cli import options, preparing
from jointclust.cli.console import Voice
from jointclust.cli.runs import InputFile, identities, load_data
from jointclust.cli.tables import read_cells
from jointclust.readers import ReadError, Table
from jointclust.readers._cells import is_gap
from jointclust.readers._table import no_such_column

_READING = (
    "format",
    "id_column",
    "label_column",
    "categories",
    "encoding",
    "delimiter",
    "decimal",
    "no_header",
    "missing",
)
# Where known classes come from another file and no column of it is named, they are in this one.
_CLASSES = "class"


def read_data(voice: Voice, data: str, given: dict[str, Any], **more: Any) -> InputFile:
    """DATA as they are; ``more`` goes before what the user gave."""
    asked: dict[str, Any] = {key: given[key] for key in _READING if key in given}
    asked |= {key: options.names_of(given[key]) for key in ("columns", "drop") if key in given}
    if given.get("known_column") is not None and given["known_rows"] is None:
        asked["known_column"] = _checked_known(given)
    text = given["text_column"]
    if text is not None:
        if asked.get("columns") or asked.get("drop"):
            raise click.UsageError("--text-column is the only feature: leave out --columns and --drop.")
        asked |= {"columns": [text], "kinds": {text: "text"}, "categories": "keep", "missing": "keep"}
    return load_data(voice, data, **{**asked, **more})


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
        raise ReadError(
            f"{path}: no row of the data is called {strangers[0]!r}"
            + (f", nor {len(strangers) - 1} others" if len(strangers) > 1 else "")
            + ". Is --id-column the one of the run that they come from?"
        )
    if len(names) < len(columns["id"]):
        raise ReadError(f"{path}: an id occurs twice. Name each row once.")
    return np.array([names.get(name, "") for name in rows], dtype=object)
