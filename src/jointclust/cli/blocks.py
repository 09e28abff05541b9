"""Several files with the same rows, each a block of the data: read, and joined by the names of the rows."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from jointclust.cli import models, options
from jointclust.cli.console import Voice, counted
from jointclust.cli.errors import comma_separated
from jointclust.cli.reading import InputFile, file_to_fit, identities, with_known_rows
from jointclust.readers import NoColumnError, ReadError
from jointclust.views.blocks import Blocks, in_block
from jointclust.views.columns import rows_of
from jointclust.views.kinds import listed

# Options that name a column of one of the files.
_OF_ONE = ("label_column", "known_column", "text_column")
# Options that say which columns of one table are used.
_OF_TABLES = ("columns", "keep")


def block_files(pairs: tuple[str, ...]) -> dict[str, str]:
    """Files by the names of their blocks."""
    files = models.named("--block", pairs, "NAME=FILE")
    wrong = [pair for pair in pairs if not all(pair.partition("=")[::2])]
    if wrong:
        raise click.UsageError(f"--block {wrong[0]}: write it as NAME=FILE.")
    if len(files) < len(pairs):
        twice = Counter(pair.partition("=")[0] for pair in pairs).most_common(1)[0][0]
        raise click.UsageError(f"--block {twice}: two blocks have this name.")
    return files


def check_data(data: str | None, blocks: tuple[str, ...]) -> None:
    """Either one file, or blocks."""
    if data is None and not blocks:
        raise click.UsageError(
            "Missing argument 'DATA': a file of rows; or several with the same rows, --block NAME=FILE."
        )
    if data is not None and blocks:
        raise click.UsageError(f"DATA ({data}) and --block exclude each other: name it, --block NAME={data}, too.")


def data_to_fit(voice: Voice, data: str | None, given: dict[str, Any]) -> InputFile:
    """Data to be fitted: DATA, or blocks, with their columns by name."""
    if data is not None:
        return file_to_fit(voice, data, given)
    files = block_files(tuple(given["blocks"]))
    for option in _OF_TABLES:
        if given[option]:
            raise click.UsageError(f"--{option} is for one table, not for --block: leave columns out with --drop.")
    if given.get("name_by") is not None:
        raise click.UsageError("--name-by is for one table, not for --block.")
    if given["scale"] != "auto":
        raise click.UsageError("--scale is for one table: with --block each block has the views that suit it.")
    chosen = _Names(given, list(files))
    source = joined({name: _read(voice, name, file, chosen) for name, file in files.items()}, voice)
    chosen.check()
    return replace(
        source, table=with_known_rows(source.table, given), used="all" if given["all_columns"] else source.used
    )


class _Names:
    """The columns that the user names: each file has some of them, and it is an error if no file has one."""

    def __init__(self, given: dict[str, Any], blocks: list[str]):
        self.given, self.dropped, self.blocks = given, options.names_of(given["drop"]) or [], blocks
        self.missed: dict[str, NoColumnError] = {}
        self.present: set[str] = set()

    def of(self, block: str) -> dict[str, Any]:
        """The options for one block; a column may be named with its block before it."""
        others = tuple(in_block(other, "") for other in self.blocks if other != block)
        dropped = [name.removeprefix(in_block(block, "")) for name in self.dropped if not name.startswith(others)]
        return self.given | {"drop": _quoted(dropped), "known_rows": None, "blocks": ()}

    def check(self) -> None:
        """Names that no file has."""
        for name, error in self.missed.items():
            if name not in self.present:
                raise error


def _read(voice: Voice, block: str, file: str, chosen: _Names) -> InputFile:
    """A file by those of the options that are about it."""
    given = chosen.of(block)
    lacking: set[str] = set()
    while True:
        try:
            source = file_to_fit(voice, file, given)
        except NoColumnError as error:
            name = error.column
            less = _without(given, name)
            if name is None or less == given:
                raise
            lacking.add(name)
            chosen.missed.setdefault(name, error)
            given = less
        else:
            named = {*(given[option] for option in _OF_ONE), *(options.names_of(given["drop"]) or [])}
            chosen.present |= {name for name in named if name is not None}
            return replace(source, text_column=given["text_column"])


def _without(given: dict[str, Any], name: str | None) -> dict[str, Any]:
    """The options without a name of a column."""
    less = {option: None for option in _OF_ONE if given[option] == name}
    return given | less | {"drop": _quoted([one for one in options.names_of(given["drop"]) or [] if one != name])}


def _quoted(names: list[str]) -> tuple[str, ...]:
    """Names as :func:`jointclust.cli.options.names_of` takes them."""
    return (comma_separated(names),) if names else ()


def joined(sources: dict[str, InputFile], voice: Voice) -> InputFile:
    """Blocks of the same rows as one source, in the order of the first; rows without names are matched by place."""
    first, *others = sources
    with_ids = [name for name, source in sources.items() if source.table.ids is not None]
    if with_ids and len(with_ids) < len(sources):
        lacking = next(name for name in sources if name not in with_ids)
        raise ReadError(
            f"--block {lacking}: no column of {sources[lacking].path} names the rows, and one of {with_ids[0]!r} does: "
            "name it with --id-column."
        )
    orders = {first: np.arange(sources[first].table.data.shape[0])}
    for name in others:
        orders[name] = _order(sources, first, name) if with_ids else _by_place(sources, first, name)
    if not with_ids and others:
        voice.say("No column names the rows: those of the blocks are matched by their place in the files.")
    data, classes, known = Blocks(), None, None
    for name, source in sources.items():
        table, order = source.table, orders[name]
        data[name] = table.data if name == first else rows_of(table.data, order)
        classes = table.classes[order] if table.classes is not None else classes
        known = table.known[order] if table.known is not None else known
    table = sources[first].table
    notes = [f"{name}: {note}" for name, source in sources.items() for note in source.table.notes]
    digest = hashlib.sha256("".join(source.sha256 for source in sources.values()).encode()).hexdigest()
    table = replace(table, data=data, names=None, classes=classes, known=known, notes=notes, place=None, date_orders={})
    return InputFile(table, " + ".join(sources), digest, "blocks", blocks=sources)


def _by_place(sources: dict[str, InputFile], first: str, name: str) -> NDArray[np.intp]:
    sizes = [sources[one].table.data.shape[0] for one in (first, name)]
    if sizes[0] != sizes[1]:
        raise ReadError(
            f"--block {name}: {sources[name].path} has {counted(sizes[1], 'row')}, {sources[first].path} {sizes[0]}. "
            "No column names them: name one with --id-column, or give the same rows."
        )
    return np.arange(sizes[0])


def _order(sources: dict[str, InputFile], first: str, name: str) -> NDArray[np.intp]:
    """Where the rows of the first block are in another."""
    ids = {one: [str(value) for value in identities(sources[one].table).tolist()] for one in (first, name)}
    for one, own in ids.items():
        value, times = Counter(own).most_common(1)[0]
        if times > 1:
            raise ReadError(
                f"--block {one}: the id {value!r} is that of {times} rows of {sources[one].path}. Name each row once."
            )
    places = {value: place for place, value in enumerate(ids[name])}
    lacking = [value for value in ids[first] if value not in places]
    known = set(ids[first])
    beside = [value for value in ids[name] if value not in known]
    if lacking or beside:
        lacks = (
            [f"lacks {len(lacking):,} of the {len(known):,} ids of {first!r} ({listed(lacking, 3)})"] if lacking else []
        )
        lacks += [f"has {len(beside):,} that {first!r} lacks ({listed(beside, 3)})"] if beside else []
        raise ReadError(f"--block {name}: {sources[name].path} {' and '.join(lacks)}. Give files with the same rows.")
    return np.array([places[value] for value in ids[first]])


def read_for_blocks(
    files: dict[str, str], names: list[str], read: Callable[[str, str], InputFile], voice: Voice
) -> InputFile:
    """New rows for a model of blocks, read block by block; ``read`` takes the name of a block and its file."""
    lacking, unknown = [name for name in names if name not in files], [name for name in files if name not in names]
    if lacking or unknown:
        wrong = [f"--block {name}=FILE is missing" for name in lacking[:1]] + [
            f"there is no block {name!r}" for name in unknown[:1]
        ]
        raise click.UsageError(f"The model was fitted to the blocks {listed(names)}: {', and '.join(wrong)}.")
    return joined({name: read(name, files[name]) for name in names}, voice)
