"""What every reader returns, and what they share."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.exceptions import Message, Setting
from jointclust.readers._columns import Columns

# The rows, their coordinates and one copy on the way: what a fit holds of the data at a time.
_COPIES = 3
_BLOCK = 4096
# Bytes that a compressed file may unpack to: so many, and so many times its own.
UNPACKED, _TIMES = 2**26, 100
# Texts name the rows if this share of them is different; some rows may occur twice.
_NAMES = 0.9
# What reads empty cells as gaps.
AS_GAPS = Setting("missing", "keep")
# Most columns that are carried beside the features without being named.
_CARRIED = 50


class ReadError(ValueError):
    """A file that cannot be read; says where, why, and what to do, with the settings that matter."""

    def __init__(self, text: str, *settings: Setting):
        super().__init__(Message(text, *settings))


class NoColumnError(ReadError):
    """A file that has no column of a name asked for."""

    column: str | None = None


@dataclass(frozen=True)
class Options:
    """How to read a file."""

    # Columns that name the rows, that hold classes to judge by, and classes to fit with; none is a feature.
    id_column: str | None = None
    label_column: str | None = None
    known_column: str | None = None
    text_column: str | None = None  # the one feature, where texts are clustered
    # Columns to carry beside the features, whatever they hold; and whether all others that are no features are, too.
    show: Sequence[str] = ()
    carry: bool = False
    # Features to take, or to leave out; for files that name no columns, numbers from 0.
    columns: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    wanted: Sequence[str] | None = None  # features that a model needs, in this order; None takes all
    spared: Sequence[str] = ()  # those of them that the model does without, where columns have names
    n_features: int | None = None  # how many, for formats that name no columns and leave out trailing zeros
    # What becomes of columns that hold no numbers: refuse, onehot, drop, keep. Kept ones make Columns of a file.
    categories: str = "refuse"
    kinds: Mapping[str, str] | None = None  # of kept columns, where known: number, text, boolean, date
    missing: str = "refuse"  # or "keep": empty cells are NaN
    encoding: str = "utf-8-sig"  # of text files; a mark of UTF-16 at their beginning goes before the default
    delimiter: str | None = None  # of text files; None looks at the first line
    decimal: str | None = None  # "." or ",", the other one being for thousands; None looks at the first rows
    dates: str | None = None  # "day-first" or "month-first"; None looks at the column
    date_orders: Mapping[str, str] | None = None  # the same by column, as another file was read
    header: bool | None = None  # whether the first line holds names; None: yes, unless it looks like the rows below
    any_size: bool = False  # read what unpacks to far more than its size, or needs more memory than is free
    progress: Callable[[int], None] | None = None  # called with the bytes read so far

    @property
    def special(self) -> dict[str, str]:
        """Columns that are no features, by the option that names each."""
        options = ("id_column", "label_column", "known_column")
        return {option: getattr(self, option) for option in options if getattr(self, option) is not None}


@dataclass(frozen=True, eq=False)
class Table:
    """Rows and what is known of them."""

    data: Any  # the features: an array, a CSR array or Columns
    names: list[str] | None = None  # of the features
    ids: NDArray[Any] | None = None  # names of the rows; None stands for their numbers from 0
    classes: NDArray[Any] | None = None  # for evaluation only
    notes: list[str] = field(default_factory=list)  # what the user should know about how the file was understood
    place: Callable[[int], str] | None = None  # words for where in the file a row is, by its number
    known: NDArray[Any] | None = None  # classes to fit with, as written; a gap is an unknown one
    id_column: str | None = None  # where the names of the rows come from
    date_orders: dict[str, str] = field(default_factory=dict)  # of dates that are not as 2024-12-31
    signs: dict[str, str] = field(default_factory=dict)  # the per cent or currency sign beside numbers, by column
    beside: Columns = field(default_factory=Columns)  # columns that are no features, to be shown with the rows


def needed(module: str, what: str) -> Any:
    """Import a module that not every installation has; the error names the extra that brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} needs {module.split('.')[0]}: pip install 'jointclust[files]'") from error


def beside_features(options: Options, column: Callable[[str], NDArray[Any]]) -> dict[str, Any]:
    """What names the rows and holds their classes, as attributes of a table; ``column`` reads one by its name."""
    named = {"ids": options.id_column, "classes": options.label_column, "known": options.known_column}
    read = {attribute: column(name) for attribute, name in named.items() if name is not None}
    return {**read, "id_column": options.id_column}


def named_by_place(names: list[str], notes: list[str]) -> list[str]:
    """Names of columns, where several have none: all of those but the first column, which may name the rows, get one.

    Spreadsheets write such columns behind the last one that is filled. A note says so.

    Examples
    --------
    >>> named_by_place(["", "age", "", ""], [])
    ['', 'age', 'column 3', 'column 4']
    """
    nameless = [place for place, name in enumerate(names) if not name]
    if len(nameless) < 2:
        return names
    places = [place for place in nameless if place > 0]
    named = [f"column {place + 1}" if place in set(places) else name for place, name in enumerate(names)]
    have, are = ("have", "are") if len(places) > 1 else ("has", "is")
    them = listed([named[place] for place in places])
    notes.append(f"{len(places)} column{'s' * (len(places) > 1)} {have} no name, and {are} called by place: {them}.")
    return named


def check_columns(path: Path, names: list[str], options: Options) -> None:
    """Names are there, once each."""
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise ReadError(
            f"{path}: {listed(repeated)} {'names' if len(repeated) == 1 else 'name'} more than one column: rename "
            "them, or say that the first line is data.",
            Setting("header", False),
        )
    for option, name in options.special.items():
        if name not in names:
            raise no_such_column(path, name, option, names)


def no_such_column(path: Path, name: str, option: str, names: Sequence[str]) -> NoColumnError:
    """The error for a name that is none, with the one that may have been meant."""
    close = difflib.get_close_matches(name.lower(), [known.lower() for known in names], n=1)
    meant = [known for known in names if known.lower() in close]
    hint = f". Did you mean {meant[0]!r}? It" if meant else "; it"
    error = NoColumnError(f"{path} has no column {name!r}{hint} has {listed(names)}.", Setting(option))
    error.column = name
    return error


def features_of(path: Path, names: Sequence[str], options: Options, *, numbered: bool) -> list[str]:
    """Names of the features, in the file's order; where the file is ``numbered``, numbers from 0 name columns, too."""
    if options.columns is not None and options.drop is not None:
        both = Setting("columns"), Setting("drop")
        raise ReadError("Name the columns to take, or those to leave out, not both.", *both)
    option, listed_names = ("columns", options.columns) if options.drop is None else ("drop", options.drop)
    if options.text_column is not None:
        option, listed_names = "text_column", [options.text_column]
    chosen, known = set(), set(names)
    for name in options.show:
        if name not in known:
            raise no_such_column(path, name, "show", names)
        if option != "drop" and name in (listed_names or ()):
            raise ReadError(f"{name!r} is clustered, or only shown, not both.", Setting(option), Setting("show"))
        for other, value in options.special.items():
            if value == name:
                what = f"{name!r} is named twice, and is shown with the rows anyway: leave it out of show."
                raise ReadError(what, Setting(other), Setting("show"))
    for name in listed_names or ():
        at = int(name) if numbered and name.isdecimal() else -1
        named = names[at] if 0 <= at < len(names) else name
        if named not in known:
            raise no_such_column(path, name, option, names)
        for other, value in options.special.items():
            if value == named:
                what = f"{name!r} is named twice, and once as no feature: leave it out of one."
                raise ReadError(what, Setting(option), Setting(other))
        chosen.add(named)
    kept = [name for name in names if name not in {*options.special.values(), *options.show}]
    return kept if listed_names is None else [name for name in kept if (name in chosen) == (option != "drop")]


def carried(names: Sequence[str], features: Sequence[str], options: Options) -> list[str]:
    """Columns that are read beside the features: those to show, and others if they are not too many."""
    aside = {*features, *options.special.values(), *options.show}
    others = [name for name in names if name not in aside] if options.carry else []
    return [*options.show, *others[:_CARRIED]]


def restricted(path: Path, table: Table, options: Options) -> Table:
    """A matrix with the features that are asked for; those without names are called x0, x1, and so on."""
    names = table.names or [f"x{index}" for index in range(table.data.shape[1])]
    unnamed = table.names is None
    # What names the rows and their classes is kept beside a matrix, not in it.
    alone = replace(options, id_column=None, label_column=None, known_column=None)
    kept = features_of(path, names, alone, numbered=unnamed)
    wanted = options.wanted
    if unnamed and wanted is None and options.n_features not in (None, len(kept)):
        raise ReadError(f"{path} has {len(kept)} columns, and the model was fitted on {options.n_features}.")
    if unnamed and wanted is not None:
        text = [name for name, kind in (options.kinds or {}).items() if kind != "number"]
        if text:
            raise ReadError(f"{path} holds nothing but numbers, and the model takes other things in {listed(text)}.")
        if not set(wanted) <= set(names):
            return replace(table, names=list(wanted), notes=[*table.notes, by_position(path, len(names), options)])
        kept = list(wanted)
    if len(kept) == len(names):
        return table
    shown = Columns()
    if isinstance(table.data, np.ndarray):
        check_memory(path, table.data.shape[0] * len(kept), table.data.itemsize)
        shown = Columns({name: np.asarray(table.data[:, names.index(name)], float) for name in options.show})
    return replace(table, data=in_order(table.data, names, kept)[0], names=kept, beside=shown)


def by_position(path: Path, n_columns: int, options: Options) -> str:
    """What to say of columns without names that are taken for the model's; or an error where they cannot be."""
    wanted = list(options.wanted or ())
    if n_columns != len(wanted):
        raise ReadError(
            f"{path} has {n_columns} columns without names, and the model was fitted on {len(wanted)}: without names "
            "there have to be as many, in the same order."
        )
    return f"Columns are taken by position: the first for {wanted[0]!r}, the last for {wanted[-1]!r}."


def listed(names: Sequence[str], most: int = 10) -> str:
    """A few names, quoted, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more


def text_columns(names: Sequence[str], wanted: Sequence[str]) -> dict[str, list[str]]:
    """Values of the text columns that one-hot features such as ``city=Paris`` were made of.

    Examples
    --------
    >>> text_columns(["age", "city"], ["age", "city=Oslo", "city=Paris"])
    {'city': ['Oslo', 'Paris']}
    """
    features: dict[str, list[str]] = {}
    known = set(names)
    for feature in wanted:
        column = _encoded_column(feature, known)
        if feature not in known and column is not None:
            features.setdefault(column, []).append(feature[len(column) + 1 :])
    return features


def _encoded_column(feature: str, known: set[str]) -> str | None:
    """The text column that a one-hot feature came from: the longest name before an equals sign."""
    ends = [index for index, sign in enumerate(feature) if sign == "="]
    return next((feature[:end] for end in reversed(ends) if feature[:end] in known), None)


def without_spared(options: Options, names: Sequence[str]) -> Options:
    """Options that want what the model cannot do without, for a file that has columns of these names."""
    if not options.spared or options.wanted is None:
        return options
    needed = [name for name in options.wanted if name not in set(options.spared)]
    return replace(options, wanted=needed) if not set(needed).isdisjoint(names) else options


def check_wanted(
    path: Path, names: Sequence[str], wanted: Sequence[str], *, encode: bool = True
) -> dict[str, list[str]]:
    """Text columns to encode, where some may be; the error lists every column that is missing."""
    encoded = text_columns(names, wanted) if encode else {}
    known = set(names)
    missing = [name for name in wanted if name not in known and _encoded_column(name, known) not in encoded]
    if missing:
        strange = {name.lower(): name for name in names if name not in set(wanted)}
        matches = {name: difflib.get_close_matches(name.lower(), strange, n=1) for name in missing[:3]}
        close = {name: strange[near[0]] for name, near in matches.items() if near}
        meant = ", ".join(f"{near!r} for {name!r}" for name, near in close.items())
        hint = f" Did you mean {meant}? Rename the column." if close else ""
        raise ReadError(f"{path} lacks {len(missing)} of the model's {len(wanted)} columns: {listed(missing)}.{hint}")
    return encoded


def refuse_text(path: Path, name: str, example: str) -> ReadError:
    """The error for a column of text, with the ways out."""
    return ReadError(
        f"{path}: column {name!r} holds text ({example[:40]!r}). Leave such columns out, make one column per value, "
        "or say that it holds ids or classes.",
        *(Setting("categories", "drop"), Setting("categories", "onehot")),
        *(Setting("id_column", name), Setting("label_column", name)),
    )


def dropped(names: Sequence[str], options: Options) -> list[str]:
    """A line that says which columns were left out for their text, where there are some."""
    is_new = bool(names) and options.wanted is None
    return [Message(f"Left out for their text: {listed(names)}.", Setting("categories", "drop"))] if is_new else []


def assembled(
    path: Path, names: list[str], matrix: NDArray[Any], numeric: list[str], text: dict[str, list[str]], options: Options
) -> tuple[NDArray[Any], list[str]]:
    """Numeric columns and encoded text ones side by side, in the order asked for."""
    values = {} if options.wanted is None else text_columns(names, options.wanted)
    if options.wanted is None and options.categories == "onehot":
        values = {name: sorted(set(column)) for name, column in text.items() if not names_rows(column)}
    for name, levels in values.items():
        if options.wanted is None and len(levels) > max(50, len(matrix) // 2):
            raise ReadError(
                f"{path}: column {name!r} holds {len(levels)} different texts, too many for one column each. "
                "Does it hold ids? Else leave text out.",
                *(Setting("id_column", name), Setting("categories", "drop")),
            )
    if values:
        cells = {name: np.asarray(text[name], dtype=object)[:, None] for name in values}
        encoded = [cells[name] == np.asarray(kept, dtype=object) for name, kept in values.items()]
        matrix = np.hstack([matrix, *encoded])
        numeric = numeric + [f"{name}={value}" for name, kept in values.items() for value in kept]
    return in_order(matrix, numeric, options.wanted)


def names_rows(texts: Sequence[str]) -> bool:
    """Whether nearly each row has a text of its own."""
    return len(set(texts)) > max(2, _NAMES * len(texts))


def side_by_side(
    matrix: NDArray[Any], numeric: list[str], others: dict[str, NDArray[Any]], order: list[str]
) -> tuple[Any, list[str]]:
    """The matrix where there is nothing but numbers, else columns of several types."""
    if not others:
        return in_order(matrix, numeric, order)
    arrays = dict(zip(numeric, matrix.T, strict=True)) | others
    return Columns({name: arrays[name] for name in order}), order


def in_order(data: NDArray[Any], names: list[str], wanted: Sequence[str] | None) -> tuple[NDArray[Any], list[str]]:
    """The columns that are wanted, in their order."""
    if wanted is None or list(wanted) == names:
        return data, names
    position = {name: index for index, name in enumerate(names)}
    return data[:, [position[name] for name in wanted]], list(wanted)


def fits_memory(n_bytes: float) -> bool:
    """Whether so many bytes of data can be fitted in memory."""
    available = available_memory()
    return available is None or _COPIES * n_bytes <= available


def check_memory(path: Path, n_values: float, itemsize: int = 8) -> None:
    """Refuse early what would end with the machine out of memory."""
    needed, available = _COPIES * n_values * itemsize, available_memory()
    if available is not None and needed > available:
        raise ReadError(
            f"{path} needs about {needed / 2**30:.1f} GiB of memory to fit, and {available / 2**30:.1f} GiB are free. "
            "Save it as a float32 .npy file, which LDAKMeans and the like read from the disk as needed, take a "
            "sample of its rows, or use a larger machine."
        )


def most_unpacked(path: Path, options: Options) -> float:
    """The number of bytes that a compressed file may unpack to."""
    return np.inf if options.any_size else UNPACKED + _TIMES * path.stat().st_size


def unpacks_to(path: Path, n_bytes: float) -> ReadError:
    """The error for a file that unpacks to so many bytes, or more."""
    return ReadError(
        f"{path} unpacks to {n_bytes / 2**20:,.0f} MiB or more, {n_bytes / path.stat().st_size:,.0f} times its size: "
        "either it was made to fill a machine, or this machine has too little memory for its rows. If you trust it, "
        "read it all the same.",
        Setting("any_size", True),
    )


def room_for(n_values: int) -> float:
    """How many times so many numbers have room in memory."""
    available = available_memory()
    return np.inf if available is None or n_values == 0 else available / (_COPIES * n_values * 8)


def available_memory() -> float | None:
    """Bytes that can be had without swapping, as far as the system and the process's limit tell."""
    limits = []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        limits.append(next(int(line.split()[1]) * 1024.0 for line in lines if line.startswith("MemAvailable")))
    except (OSError, StopIteration):
        if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
            limits.append(float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE"))
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            limits.append(float(limit))
    except ImportError:  # Windows
        pass
    return min(limits, default=None)


def check_finite(path: Path, table: Table, options: Options) -> None:
    """No infinity anywhere, and no empty cell unless they are kept."""
    data, keep = table.data, options.missing == "keep"
    if isinstance(data, Columns):
        for index, column in enumerate(data.values()):
            gaps = np.array([cell is None for cell in column]) if column.dtype == object else np.isnan(column)
            bad = (gaps & (not keep)) | (np.isinf(column) if column.dtype.kind == "f" else False)
            if bad.any():
                raise _not_finite(path, table, int(np.argmax(bad)), index, column[np.argmax(bad)])
        return
    blocks = [(0, data.data)] if not isinstance(data, np.ndarray) else None
    for start, block in blocks or ((s, data[s : s + _BLOCK]) for s in range(0, data.shape[0], _BLOCK)):
        if block.dtype.kind not in "fiub":
            raise ReadError(f"{path} holds values of type {block.dtype}: real numbers are needed.")
        # One sum tells whether all is well, in most cases.
        with np.errstate(over="ignore", invalid="ignore"):
            if block.dtype.kind != "f" or np.isfinite(block.sum(dtype=np.float64)):
                continue
        bad = np.isinf(block) if keep else ~np.isfinite(block)
        if bad.any():
            row, *rest = (int(index) for index in np.argwhere(bad)[0])
            if not rest:  # the stored values of a sparse matrix
                raise ReadError(f"{path} holds {block[row]} among its values: only finite numbers can be clustered.")
            raise _not_finite(path, table, start + row, rest[0], block[row, rest[0]])


def _not_finite(path: Path, table: Table, row: int, column: int, value: Any) -> ReadError:
    name = repr(table.names[column]) if table.names else str(column)
    place = f"row {row} (from 0)" if table.place is None else f"{table.place(row)}, row {row} (from 0)"
    infinite = isinstance(value, float | np.floating) and np.isinf(value)
    what = f"{value} is not a finite number, or too large for one" if infinite else "the cell is empty or NaN"
    advice = "Correct it or drop the row." if infinite else "Fill it in, or read it as a gap."
    return ReadError(f"{path}: {place}, column {name}: {what}. {advice}", *([] if infinite else [AS_GAPS]))
