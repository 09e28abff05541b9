"""Conditions as others ask them of the table itself: in SQL after WHERE, and as a query of pandas.

Both hold for the same rows as the conditions do: an empty cell, and what the model takes as one, fulfils none. What a
language cannot say of a table is None.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from keyword import iskeyword
from typing import Any, NamedTuple

import numpy as np

from jointclust.showing.features import Cell
from jointclust.showing.rules import Condition, moment

# Days of a microsecond, and the share of one by which a limit may be off since days are no whole numbers of them.
_MICROSECONDS, _ROUNDING = 86_400_000_000, 0.3
# Names and cells that need no trial: pandas has always read them.
_PLAIN = re.compile(r"[A-Za-z0-9_]+( [A-Za-z0-9_]+)*")


def as_sql(conditions: Sequence[Condition]) -> str | None:
    """Conditions that all have to hold, as SQL after WHERE; names and text are quoted as the standard says.

    Examples
    --------
    >>> from jointclust.showing.features import Feature, Stored
    >>> as_sql([Condition(Feature('5" disks', stored=Stored('5" disks')), 2.0, 7.5)])
    '"5"" disks" > 2 AND "5"" disks" <= 7.5'
    """
    parts = [_sql_of(one) for one in conditions]
    return " AND ".join(part for part in parts if part is not None) if parts and None not in parts else None


def as_query(conditions: Sequence[Condition]) -> str | None:
    """Conditions that all have to hold, as ``DataFrame.query`` takes them.

    A name that is not plain is tried with the pandas that is there: each version reads others.

    Examples
    --------
    >>> from jointclust.showing.features import Feature, Stored
    >>> as_query([Condition(Feature("colour", "level", "red", stored=Stored("colour", "red")), 0.0)])
    "colour == 'red'"
    """
    parts = [_query_of(one) for one in conditions]
    if not parts or None in parts:
        return None
    text = " and ".join(part for part in parts if part is not None)
    is_plain = all(_PLAIN.fullmatch(word) for one in conditions for word in _words_in(one))
    return text if is_plain or _is_read(text, tuple(_example(one) for one in conditions)) else None


def any_of(texts: Sequence[str | None], word: str) -> str:
    """Several rules, one of which has to hold; empty where one of them cannot be said."""
    if not texts or None in texts:
        return ""
    return str(texts[0]) if len(texts) == 1 else f" {word} ".join(f"({text})" for text in texts)


class _Asked(NamedTuple):
    """What a condition asks of a cell that is there: comparisons that all have to hold, and what counts as empty."""

    comparisons: list[tuple[str, Cell]]
    gaps: tuple[Cell, ...]


def _asked(condition: Condition) -> _Asked | None:
    """What a condition asks; None where the cells of the table are no values that it speaks of."""
    feature, stored = condition.feature, condition.feature.stored
    above, up_to = condition.above, condition.up_to
    if stored is None or feature.kind == "word" or above == np.inf or up_to == -np.inf:
        return None
    told = _instant if feature.kind == "date" else _number
    if feature.kind == "level" and (np.isfinite(above) or np.isfinite(up_to)):
        is_level = bool(np.isfinite(above))
        if is_level or stored.other is not None:
            cell = stored.level if is_level else stored.other
            return None if cell is None else _Asked([("=", cell)], ())
        gaps = tuple(gap if isinstance(gap, str) else _number(gap) for gap in stored.gaps)
        return None if stored.level is None else _Asked([("<>", stored.level)], gaps)
    sides = [(">", above)] * bool(np.isfinite(above)) + [("<=", up_to)] * bool(np.isfinite(up_to))
    marks = (
        gap if isinstance(gap, str) else told(gap)
        for gap in stored.gaps
        if isinstance(gap, str) or above < gap <= up_to
    )
    return _Asked([(sign, told(limit)) for sign, limit in sides], tuple(marks))


def _instant(days: float) -> str:
    """A limit of days since 1970 as a moment, of which those of the table are not between the two."""
    exact = days * _MICROSECONDS
    whole = round(exact) if abs(exact - round(exact)) < _ROUNDING else int(np.floor(exact))
    return moment(np.timedelta64(whole, "us"))


def _number(value: float) -> float | int:
    return int(value) if value == round(value) and abs(value) < 1e15 else float(value)


# -- SQL ----------------------------------------------------------------------------------------------------------


def _sql_of(condition: Condition) -> str | None:
    asked, stored = _asked(condition), condition.feature.stored
    if asked is None or stored is None:
        return None
    texts = [stored.column, *(cell for _, cell in asked.comparisons), *asked.gaps]
    if not stored.column or any(isinstance(text, str) and not _is_sayable(text) for text in texts):
        return None  # no database has a name without letters
    name = '"' + stored.column.replace('"', '""') + '"'
    parts = [f"{name} {sign} {_sql_cell(cell)}" for sign, cell in asked.comparisons if sign != "<>"]
    unlike = [_sql_cell(cell) for cell in (*(cell for sign, cell in asked.comparisons if sign == "<>"), *asked.gaps)]
    if unlike:
        parts.append(f"{name} <> {unlike[0]}" if len(unlike) == 1 else f"{name} NOT IN ({', '.join(unlike)})")
    return " AND ".join(parts) or f"{name} IS NOT NULL"


def _is_sayable(text: str) -> bool:
    """Whether a text can stand in a statement: no database takes the zero byte, or half of a character."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _sql_cell(cell: Cell) -> str:
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    return "'" + cell.replace("'", "''") + "'" if isinstance(cell, str) else repr(cell)


# -- pandas -------------------------------------------------------------------------------------------------------


def _query_of(condition: Condition) -> str | None:
    asked, stored = _asked(condition), condition.feature.stored
    if asked is None or stored is None or not stored.is_queried:
        return None
    name = stored.column if stored.column.isidentifier() and not iskeyword(stored.column) else f"`{stored.column}`"
    signs = {"=": "==", "<>": "!="}
    cells = [(signs.get(sign, sign), _narrowed(cell, stored.narrow)) for sign, cell in asked.comparisons]
    # What is not like an empty cell is not unlike anything either, but pandas says that it is.
    known = [] if any(sign != "!=" for sign, _ in cells) else [f"{name} == {name}"]
    return " and ".join(
        [*known, *(f"{name} {sign} {cell!r}" for sign, cell in [*cells, *(("!=", g) for g in asked.gaps)])]
    )


def _narrowed(cell: Cell, narrow: Any) -> Cell:
    """A limit for cells of few bits, with which pandas compares in as few: the last of theirs that is not above."""
    if narrow is None or isinstance(cell, str | bool):
        return cell
    near = narrow(cell)
    return cell if float(near) <= cell else float(np.nextafter(near, narrow(-np.inf)))


def _words_in(condition: Condition) -> list[str]:
    """The texts of a query that someone else has written."""
    asked, stored = _asked(condition), condition.feature.stored
    cells = [] if asked is None else [*(cell for _, cell in asked.comparisons), *asked.gaps]
    is_date = condition.feature.kind == "date"
    return [stored.column if stored else "", *(cell for cell in cells if isinstance(cell, str) and not is_date)]


def _example(condition: Condition) -> tuple[str, Any]:
    """A column, and a cell that fulfils the condition."""
    feature, stored, asked = condition.feature, condition.feature.stored, _asked(condition)
    if stored is None or asked is None:
        return "", None
    sign, cell = asked.comparisons[-1] if asked.comparisons else ("=", stored.level or 0)
    if not asked.comparisons and feature.kind == "date":
        return stored.column, np.datetime64(0, "us")
    if feature.kind == "date":
        given = np.datetime64(str(cell), "us")
        return stored.column, given if sign == "<=" else given + np.timedelta64(1, "D")
    if isinstance(cell, str):
        return stored.column, cell if sign == "=" else cell + "".join(map(str, asked.gaps)) + "x"
    if isinstance(cell, bool) or sign == "=":
        return stored.column, cell
    low = condition.above if np.isfinite(condition.above) else float(cell) - 1.0 - abs(float(cell))
    high = condition.up_to if np.isfinite(condition.up_to) else low + 1.0 + abs(low)
    places = (low + (high - low) * share for share in (0.5, 0.3, 0.7, 0.1, 0.9))
    return stored.column, next(place for place in places if place not in asked.gaps)


@lru_cache(maxsize=1024)
def _is_read(text: str, row: tuple[tuple[str, Any], ...]) -> bool:
    """Whether pandas finds a row that fulfils a query by it."""
    try:
        import pandas as pd

        frame = pd.DataFrame({name: [cell] for name, cell in row})
        return bool(len(frame.query(text)) == 1)
    except Exception:  # whatever it says of a name that it cannot read
        return False
