"""Rows of cells of text on their way to a table: memory holds the numbers, not the text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.exceptions import Message, Setting
from jointclust.readers import _table as shared
from jointclust.readers._columns import Columns, KindError, near_dates, typed
from jointclust.readers._table import (
    Options,
    ReadError,
    Table,
    check_memory,
    listed,
    most_unpacked,
    room_for,
    text_columns,
)
from jointclust.views.written import (
    DATE,
    DAY_FIRST,
    MONTH_FIRST,
    Numerals,
    are_truths,
    date_order,
    is_gap,
    is_unknown,
    readings,
)

# Rows that decide which columns hold numbers: so many, and fewer of very many columns.
SAMPLE, _CELLS, _FEWEST = 1000, 2**21, 20
# Columns from which on the reader by hand takes less memory than one that keeps each column apart.
_VERY_MANY = 2**14
# A few words among numbers are errors in the data; more make a column that is kept one of text.
_FEW = 0.1
# Numbers that take as much memory as a cell of text.
_OF_TEXT = 3
# Rows that names are compared with.
_LOOKED_AT = 20

Matrix = NDArray[np.float64]
Read = tuple[Matrix, dict[int, list[str]]]  # columns of numbers, and of text
Place = tuple[int, int, str]  # line, column, cell


class CellSource(ABC):
    """Where rows of cells come from; ``unit`` is what the file counts them in."""

    unit = "line"

    def __init__(self, path: Path, options: Options):
        self.path, self.options = path, options
        self.names: list[str] = []
        self.notes: list[str] = []  # what the user should know about how the file was understood
        self.has_header = True  # whether the first row of the file may hold the names
        self.n_bytes = 0  # read when the sample was, 0 where the file ended before
        self.most = most_unpacked(path, options)  # bytes to unpack

    @abstractmethod
    def rows(self) -> Generator[tuple[int, list[str]]]:
        """Number and cells of every row, from the beginning."""

    def fast(self, numeric: list[int], text: list[int], gaps: list[str], decimal: str) -> Read | None:
        """The columns by a reader that takes clean files only; None for others."""
        return None

    def advance(self, row: int, position: Callable[[], int]) -> None:
        """Tell at times how far the reading has come."""
        if row % SAMPLE == 0:
            self.n_bytes = self.n_bytes or position()
            if self.options.progress is not None:
                self.options.progress(position())


class Sheet:
    """Cells of text, and what they mean."""

    def __init__(self, source: CellSource, options: Options):
        self.source, self.options = source, (options := shared.without_spared(options, source.names))
        self.path, self.names, self.notes = source.path, source.names, source.notes
        if self.names[0] == "" and options.id_column is None and "" not in (options.wanted or ()):
            self.options = options = replace(options, id_column="")
            self.notes.append("The first column has no name: it is taken as the names of the rows.")
        shared.check_columns(self.path, self.names, options)
        self.special = set(options.special.values())
        chosen = set(shared.features_of(self.path, self.names, options, numbered=options.header is False))
        self.features = [index for index, name in enumerate(self.names) if name in chosen]
        self.carried = shared.carried(self.names, list(chosen), options)
        wanted, guessed = set(options.wanted or ()), options.header is None and source.has_header
        if options.header is False and not wanted <= chosen:  # no names: the model's, by position
            self.notes.append(shared.by_position(self.path, len(self.features), options))
            for index, name in zip(self.features, options.wanted or (), strict=True):
                self.names[index] = name
        elif guessed and wanted and wanted.isdisjoint(self.names) and not text_columns(self.names, list(wanted)):
            raise ReadError(
                f"{self.path} has none of the model's columns ({listed(list(options.wanted or ()), 4)}); it has "
                f"{listed(self.names, 4)}. Is its first line data?",
                Setting("header", False),
            )
        self.forced = self._forced()
        self.signs: dict[int, str] = {}
        # Texts that stand for gaps: of each column in the first rows, and all that were met.
        self.marks: dict[int, dict[str, None]] = {}
        self.gaps: dict[str, None] = {}
        self.date_orders: dict[str, str] = {}
        with closing(source.rows()) as rows:
            most = max(_FEWEST, min(SAMPLE, _CELLS // len(self.names)))
            self.sample = list(islice(rows, most))
        if not self.sample:
            raise ReadError(f"{self.path} holds column names and no rows.")
        if guessed:
            self._check_names()

    def _check_names(self) -> None:
        """Refuse names that look like one more row, unless an option names a column by one of them."""
        lists = (self.options.columns, self.options.drop, self.options.wanted, self.options.kinds)
        called = self.special.union(*(names or () for names in lists))
        numbers = [name for name in self.names if any(readings(name))]
        if not numbers or any(name and name in called for name in self.names):
            return
        if numbers in ([str(at + first) for at in range(len(numbers))] for first in (0, 1)):
            what = "The first line counts the columns; it is taken as names. Is it data?"
            self.notes.append(Message(what, Setting("header", False)))
        elif all(self._is_alike(index) for index in range(len(self.names))):
            raise ReadError(
                f"{self.path}: the first {self.source.unit} ({listed(self.names, 4)}) looks like the ones below it, "
                "where the columns' names should be. Say whether it is data, or holds names.",
                *(Setting("header", False), Setting("header", True)),
            )

    def _is_alike(self, index: int) -> bool:
        """Whether the name of a column is a number where most of its first cells are, and else is not."""
        cells = [row[index] for _, row in self.sample[:_LOOKED_AT] if not is_gap(row[index])]
        name, n_numbers = self.names[index], sum(any(readings(cell)) for cell in cells)
        return not cells or is_gap(name) or any(readings(name)) == (2 * n_numbers > len(cells))

    # -- what the columns hold --------------------------------------------------------------------------------

    @cached_property
    def evidence(self) -> dict[str, Place]:
        """The first cell that has a decimal point for certain, a comma for certain, a comma that may be either."""
        places: dict[str, Place] = {}
        for index in self.features:
            if self.forced.get(self.names[index], "number") != "number":
                continue
            cells = [(line, row[index]) for line, row in self.sample if not is_gap(row[index])]
            ways = [(line, cell, readings(cell)) for line, cell in cells]
            if 2 * sum(any(way) for _, _, way in ways) < len(ways):
                continue
            for line, cell, way in ways:
                point, comma = way
                if point != comma:
                    places.setdefault("point" if point else "comma", (line, index, cell))
                elif point and "," in cell:
                    places.setdefault("either", (line, index, cell))
        return places

    def _numerals(self, words: list[str]) -> Numerals:
        """How the file writes numbers, by what is no plain number in its first rows."""
        if self.options.decimal is not None:
            return Numerals(self.options.decimal, certain=True)
        if not any("," in word or readings(word) == (False, True) for word in words):
            return Numerals(".", certain=False)
        places = self.evidence
        if {"point", "comma"} <= places.keys():
            raise ReadError(
                f"{self._place(*places['comma'])} has a decimal comma, and {self.source.unit} {places['point'][0]}: "
                f"{places['point'][2]!r} a decimal point. Say which it is.",
                *(Setting("decimal", ","), Setting("decimal", ".")),
            )
        if "comma" in places:
            example = places["comma"][2].strip()
            what = f"Numbers are read with a decimal comma, as in {example!r}. If that is wrong, say so"
            self.notes.append(Message(what, Setting("decimal", ".")))
            return Numerals(",", certain=True)
        if "either" in places and "point" not in places:
            raise ReadError(
                f"{self._place(*places['either'])} has a comma for thousands or for decimals, and nothing in the file "
                "tells. Say which it is.",
                *(Setting("decimal", "."), Setting("decimal", ",")),
            )
        return Numerals(".", certain="point" in places)

    def _kinds(self) -> tuple[list[int], list[int]]:
        """Columns to read as numbers, and as text."""
        text = [self.names.index(name) for name in self.special]
        words = self._words()
        self.numerals = self._numerals([cell for cells in words.values() for _, cell in cells])
        numeric, left_out = [], []
        for index in self.features:
            kind = self.forced.get(self.names[index]) or self._kind(index, words[index])
            if kind == "number" and self.options.categories == "keep" and self._holds_truths(index, words[index]):
                kind = "text"  # of which truths are made, as 1 and 0 may stand for them
            if kind == "number":
                numeric.append(index)
                self.gaps |= self.marks[index] | dict.fromkeys(cell for _, cell in words[index] if is_unknown(cell))
                self._find_sign(index, words[index])
            elif kind == "text" or self.options.categories == "keep":
                text.append(index)
            else:
                left_out.append(self.names[index])
        self.notes += shared.dropped(left_out, self.options)
        if not numeric and len(text) == len(self.special):
            raise ReadError(f"{self.path} has no numeric column.")
        self.carried += left_out if self.options.carry else []
        return numeric, [*text, *(self.names.index(name) for name in self.carried)]

    def _forced(self) -> dict[str, str]:
        """Kinds of columns that are known beforehand; if a model wants some columns, the others are left aside."""
        keep, wanted = self.options.categories == "keep", self.options.wanted
        if wanted is None:
            return dict(self.options.kinds or {})
        encoded = shared.check_wanted(self.path, self.names, wanted, encode=not keep)
        known = dict.fromkeys(encoded, "text") | dict.fromkeys(wanted, "number")
        self.features = [index for index in self.features if self.names[index] in known]
        return dict(self.options.kinds or {}) if keep else known

    def _words(self) -> dict[int, list[tuple[int, str]]]:
        """Cells of every feature that are neither gaps nor plain numbers."""
        words_of: dict[int, list[tuple[int, str]]] = {}
        plain = Numerals(".", certain=True).plain
        for index in self.features:
            words = words_of[index] = []
            marks = self.marks[index] = {}
            for line, row in self.sample:
                try:
                    plain(row[index])
                except ValueError:
                    if not is_gap(row[index]):
                        words.append((line, row[index]))
                    elif row[index].strip():
                        marks[row[index]] = None
        return words_of

    def _kind(self, index: int, candidates: list[tuple[int, str]]) -> str:
        """Whether a column holds numbers (or should, but for a few errors) or text; or is left out."""
        name, categories = self.names[index], self.options.categories
        words = [(line, cell) for line, cell in candidates if self.numerals.sign_of(cell) is None]
        known = sum(not is_gap(row[index]) for _, row in self.sample) if words or categories == "keep" else 0
        others = [(line, cell) for line, cell in words if not is_unknown(cell)]
        if len(words) - len(others) < known:  # a column of nothing but "unknown" is text
            words, known = others, known - len(words) + len(others)
        if categories == "keep":
            if words and _FEW * known <= len(words) < known:
                self.notes.append(
                    f"Column {name!r} holds numbers and other text ({words[0][1].strip()[:40]!r}, {self.source.unit} "
                    f"{words[0][0]}): it is taken as text."
                )
            return "number" if len(words) < _FEW * known else "text"
        if 2 * len(words) <= known:
            return "number"
        if categories == "refuse":
            raise shared.refuse_text(self.path, name, words[0][1])
        return "text" if categories == "onehot" else "left out"

    def _holds_truths(self, index: int, words: list[tuple[int, str]]) -> bool:
        """Whether the first cells of a column are all true or false; ``words`` are those that are no plain numbers."""
        known = sum(not is_gap(row[index]) for _, row in self.sample)
        return 0 < known == len(words) and are_truths(cell for _, cell in words)

    def _find_sign(self, index: int, candidates: list[tuple[int, str]]) -> None:
        """The per cent or currency sign that all numbers of a column carry, or none of them."""
        if not candidates:
            return
        examples: dict[str, tuple[int, str]] = {}
        for line, row in self.sample:
            sign = None if is_gap(row[index]) else self.numerals.sign_of(row[index])
            if sign is not None:
                examples.setdefault(sign, (line, row[index]))
        if len(examples) > 1:
            (line, cell), (other_line, other) = list(examples.values())[:2]
            raise ReadError(
                f"{self._place(line, index, cell)} and {self.source.unit} {other_line}: {other!r} are numbers of "
                "different units: write the column's numbers alike, or leave it out.",
                Setting("drop", [self.names[index]]),
            )
        if any(examples):
            self.signs[index] = next(iter(examples))

    # -- the columns themselves -------------------------------------------------------------------------------

    def table(self) -> Table:
        """The whole file."""
        numeric, text = self._kinds()
        size = self.path.stat().st_size
        if not self.options.any_size:
            if 0 < self.source.n_bytes < size:  # rows per byte as in the first rows
                check_memory(self.path, len(self.sample) * (size / self.source.n_bytes) * len(numeric))
            n_bytes = sum(len(cell) + 1 for _, row in self.sample for cell in row)
            room = room_for(len(self.sample) * (len(numeric) + _OF_TEXT * len(text)))
            self.source.most = min(self.source.most, n_bytes * room)
        # Where gaps are refused, an empty cell is an error, which the careful reader explains.
        gaps, parsed = ["", *self.gaps] if self.options.missing == "keep" else [], None
        if len(self.names) < _VERY_MANY and not self.signs and self.numerals.grouped is None:
            parsed = self.source.fast(numeric, text, gaps, self.numerals.decimal)
        matrix, kept = parsed or self._by_hand(numeric, text)
        columns = {self.names[index]: column for index, column in kept.items()}
        beside = shared.beside_features(self.options, lambda name: np.asarray(columns[name], dtype=object))
        texts = {name: column for name, column in columns.items() if name not in self.special}
        columns = {name: column for name, column in texts.items() if name not in self.carried}
        if self.options.categories == "onehot" and self.options.wanted is None:
            self.carried += [name for name, column in columns.items() if shared.names_rows(column)]
        shown = Columns({name: self._read_leniently(texts[name]) for name in self.carried})
        names = [self.names[index] for index in numeric]
        signs = {self.names[index]: sign for index, sign in self.signs.items()}
        if self.options.categories == "keep":
            data, names = self._kept(matrix, names, columns)
            data = Columns(data, signs) if isinstance(data, Columns) else data
        else:
            data, names = shared.assembled(self.path, self.names, matrix, names, columns, self.options)
        self._tell()
        self.sample.clear()
        known: dict[str, Any] = {"notes": self.notes, "place": self._row_place, "date_orders": self.date_orders}
        return Table(data, names, **beside, **known, signs=signs, beside=shown)

    def _by_hand(self, numeric: list[int], text: list[int]) -> Read:
        values: array[float] = array("d")
        kept: dict[int, list[str]] = {index: [] for index in text}
        n_rows = 0
        with closing(self.source.rows()) as rows:
            for line, row in rows:
                n_rows += 1
                values.extend(self._numbers(line, row, numeric))
                for index in text:
                    kept[index].append(row[index])
        return np.frombuffer(values, dtype=np.float64).reshape(n_rows, len(numeric)), kept

    def _numbers(self, line: int, row: list[str], numeric: list[int]) -> list[float]:
        """The numbers of a row, quickly where all of them are plain."""
        plain = self.numerals.plain
        try:
            if not self.signs:
                return [plain(row[index]) for index in numeric]
        except ValueError:
            pass
        return [self._number(line, row[index], index) for index in numeric]

    def _number(self, line: int, cell: str, index: int) -> float:
        try:
            return self.numerals.read(cell, self.signs.get(index, ""))
        except ValueError:
            pass
        if is_unknown(cell):
            if self.options.missing == "keep":
                self.gaps[cell] = None
                return float("nan")
            what = f"{self._place(line, index)}: the cell is empty. Fill it in, or read it as a gap."
            raise ReadError(what, shared.AS_GAPS)
        if not self.numerals.certain and "point" in self.evidence:
            self.numerals.certain = True
            return self._number(line, cell, index)
        what = f"{self._place(line, index, cell[:40])} is not a number"
        if not any(readings(cell)):
            raise ReadError(f"{what}. Correct it, or take the {self.source.unit} out if it is a total.")
        advice = "write them alike, or name their decimal sign."
        raise ReadError(f"{what}, as the first rows write them: {advice}", Setting("decimal"))

    def _kept(self, matrix: Matrix, names: list[str], text: dict[str, list[str]]) -> tuple[Any, list[str]]:
        """The matrix where there is nothing but numbers, else columns of several types, in the file's order."""
        order = list(self.options.wanted or (self.names[index] for index in self.features))
        others = {name: self._typed(name, cells) for name, cells in text.items()}
        data, order = shared.side_by_side(matrix, names, others, order)
        if isinstance(data, Columns):
            self.notes += tell_kinds(data)
            if set(data.kinds.values()) == {"number"}:
                return np.column_stack(list(data.values())), order
        return data, order

    def _typed(self, name: str, cells: list[str]) -> NDArray[Any]:
        kind = (self.options.kinds or {}).get(name)
        self.gaps |= dict.fromkeys(cell for cell in dict.fromkeys(cells) if is_gap(cell))
        given = self.options.dates or (self.options.date_orders or {}).get(name)
        try:
            column = typed(cells, self.numerals, kind, given)
            if column.dtype.kind == "M":
                self._tell_order(name, [cell for cell in dict.fromkeys(cells) if not is_unknown(cell)], given)
            return column
        except KindError as error:
            cell = str(error)
            place = f"{self.path}: {self._row_place(cells.index(cell))}, column {name!r}: {cell[:40]!r}"
            what = f"is no {kind}, as it should be" if kind else "is no day of the calendar"
            raise ReadError(f"{place} {what}. Correct it, or leave the column out.", Setting("drop", [name])) from None

    def _read_leniently(self, cells: list[str]) -> NDArray[Any]:
        """A column that is only shown, by the kind of its cells, or as text."""
        try:
            return typed(cells, self.numerals, None, self.options.dates)
        except KindError:
            return typed(cells, self.numerals, "text")

    def _tell_order(self, name: str, cells: list[str], given: str | None) -> None:
        """Keep which of day and month comes first, with a note unless an option says so."""
        written = [cell for cell in cells if not DATE.fullmatch(cell.strip())]
        order = date_order(written, given)
        if not written or order is None:
            return
        self.date_orders[name] = order.order
        other = MONTH_FIRST if order.order == DAY_FIRST else DAY_FIRST
        if order.doubtful is not None:
            what = f"Dates of {name!r} may have either order ({order.doubtful!r}): they are read {order.order}."
            self.notes.append(Message(what, Setting("dates", other)))
        elif given is None:
            self.notes.append(f"Dates of {name!r} are read {order.order} ({written[0].strip()!r}).")

    # -- notes ------------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        """A line for each guess."""
        if self.numerals.grouped is not None:
            value = self.numerals.read(self.numerals.grouped, self.numerals.sign_of(self.numerals.grouped) or "")
            self.notes.append(f"Digits come in groups: {self.numerals.grouped!r} is read as {value:.15g}.")
        signed: dict[str, list[str]] = {}
        for index, sign in self.signs.items():
            signed.setdefault(sign, []).append(self.names[index])
        for sign, names in signed.items():
            how = "as hundredths: 12% is 0.12" if sign == "%" else f"without their {sign}"
            self.notes.append(f"Numbers of {listed(names)} are read {how}.")
        marks = list(dict.fromkeys(gap.strip() for gap in self.gaps if gap.strip()))
        if marks and self.options.missing == "keep":
            self.notes.append(f"Cells with {listed(marks)} are read as gaps.")

    def _row_place(self, row: int) -> str:
        with closing(self.source.rows()) as rows:
            return f"{self.source.unit} {next(islice(rows, row, None))[0]}"

    def _place(self, line: int, index: int, cell: str | None = None) -> str:
        shown = "" if cell is None else f": {cell!r}"
        return f"{self.path}: {self.source.unit} {line}, column {self.names[index]!r}{shown}"


def tell_kinds(columns: Columns) -> list[str]:
    """A line for each kind that was found in cells of text."""
    notes = []
    kinds = columns.kinds
    for kind, words in (("date", "dates"), ("boolean", "what is true or false")):
        names = [name for name, known in kinds.items() if known == kind]
        if names:
            notes.append(f"Found {words} in {listed(names)}.")
    for name, kind in kinds.items():
        if kind == "text" and (doubtful := near_dates(columns[name])) is not None:
            notes.append(f"Column {name!r} may hold dates, but for {doubtful!r}: it is taken as text.")
    return notes
