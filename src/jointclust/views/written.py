"""What a cell of text says: a gap, a number as some country writes it, a truth, a date."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

GAPS = frozenset({"", "-", "?", "na", "#na", "n/a", "#n/a", "nan", "null", "none"})
# Words that are gaps among numbers or dates, and else may be levels of a category.
_UNKNOWN = frozenset({"unknown", "missing", "--", "n.a.", "<na>", "nat", "not available", "#value!", "#div/0!"})
TRUTHS = ({"true": True, "false": False}, {"yes": True, "no": False})
# Orders of day and month; dates of unknown order are read by the sign between their parts.
DAY_FIRST, MONTH_FIRST = "day-first", "month-first"

# Blanks of four widths and two apostrophes stand between groups of three digits.
_BETWEEN = " \u00a0\u2009\u202f'\u2019"
_MINUS = "\u2212"
_SIGNED = re.compile(r"([+-]?)\s*([$€£¥]?)\s*(.*?)\s*([%$€£¥]?)")
_TIME = r"(?:(?:T|,? )(\d\d?:\d\d(?::\d\d(?:\.\d{1,6})?)?)\d*(?: ?([AaPp][Mm])|Z| ?([+-]\d\d):?(\d\d))?)?"
DATE = re.compile(r"(\d{4})([-/.])(\d\d)\2(\d\d)" + _TIME)
OTHER_DATE = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|(?<=\d\d.\d\d.)\d\d)" + _TIME)


def _plain(decimal: str) -> re.Pattern[str]:
    return re.compile(rf"[+-]?(?:\d+(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][+-]?\d+)?")


def _grouped(decimal: str, other: str) -> re.Pattern[str]:
    return re.compile(rf"[+-]?[1-9]\d{{0,2}}([{other}{_BETWEEN}])\d{{3}}(?:\1\d{{3}})*(?:{decimal}\d*)?")


# Money in thousands, by its sign: where that goes with a decimal point, a comma before three digits parts thousands. Of
# euros, which go with either, a point does behind more than nine of them: a price of fuel has three decimals.
_DOLLARS, _OF_DOLLARS = frozenset("$£¥"), re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_EURO, _OF_EUROS = "€", re.compile(r"[+-]?[1-9]\d{1,2}\.\d{3}")
_PLAIN = {".": _plain(r"\."), ",": _plain(",")}
_GROUPED = {".": _grouped(r"\.", ","), ",": _grouped(",", ".")}


def is_gap(cell: str) -> bool:
    """Whether a cell stands for one that is missing."""
    return cell.strip().lower() in GAPS


def is_unknown(cell: str) -> bool:
    """Whether a cell among numbers or dates stands for one that is missing: a gap, or a word such as "unknown"."""
    word = cell.strip().lower()
    return word in GAPS or word in _UNKNOWN


def number(cell: str) -> float:
    """A float; not one with underscores, which Python reads but people use in names."""
    if "_" in cell:
        raise ValueError(cell)
    return float(cell)


def _number_with_comma(cell: str) -> float:
    if "." in cell:
        raise ValueError(cell)
    return number(cell.replace(",", "."))


def _unsigned(cell: str) -> tuple[str, str]:
    """The number in a cell, and the per cent or currency sign beside it."""
    match = _SIGNED.fullmatch(cell.strip().replace(_MINUS, "-"))
    if match is None:  # a line break inside
        return cell, ""
    minus, before, body, after = match.groups()
    return minus + body, before + after


def readings(cell: str) -> tuple[bool, bool]:
    """Whether a cell is a number with a decimal point, and whether with a decimal comma.

    Examples
    --------
    >>> readings("3.14"), readings("1,234"), readings("$1,234")
    ((True, False), (True, True), (True, False))
    """
    body, own_sign = _unsigned(cell)
    if own_sign in _DOLLARS and _OF_DOLLARS.fullmatch(body):
        return True, False
    if own_sign == _EURO and _OF_EUROS.fullmatch(body):
        return False, True
    point, comma = (bool(_PLAIN[sign].fullmatch(body) or _GROUPED[sign].fullmatch(body)) for sign in ".,")
    return point, comma


class Numerals:
    """Numbers as a file writes them: with a decimal point or comma, digits in groups of three, a sign.

    Where the decimal sign is not ``certain``, ``1,234`` may be either of two numbers, and is none.

    Examples
    --------
    >>> Numerals(",", certain=True).read("1.234,5")
    1234.5
    """

    def __init__(self, decimal: str, *, certain: bool):
        self.decimal, self.certain = decimal, certain
        self.grouped: str | None = None  # the first cell read whose digits came in groups
        self.plain = number if decimal == "." else _number_with_comma

    def read(self, cell: str, sign: str = "") -> float:
        """The number in a cell that carries this sign, of which ``%`` stands for a hundredth."""
        if not sign:
            try:
                return self.plain(cell)
            except ValueError:
                pass
        body, own_sign = _unsigned(cell)
        if own_sign != sign:
            raise ValueError(cell)
        return float(self._bare(cell, body) + ("e-2" if sign == "%" else ""))

    def sign_of(self, cell: str) -> str | None:
        """The sign beside a number, None for what is no number."""
        try:
            self.plain(cell)
        except ValueError:
            sign = _unsigned(cell)[1]
            try:
                self.read(cell, sign)
            except ValueError:
                return None
            return sign
        return ""

    def _bare(self, cell: str, body: str) -> str:
        """As Python writes it."""
        groups = _GROUPED[self.decimal].fullmatch(body)
        if groups is not None:
            if not self.certain and groups[1] == "," and len(body.split(",")) == 2 and "." not in body:
                raise ValueError(cell)
            self.grouped = self.grouped or cell.strip()
            body = body.replace(groups[1], "")
        elif not _PLAIN[self.decimal].fullmatch(body):
            raise ValueError(cell)
        return body.replace(",", ".")


def date(cell: str, order: str = DAY_FIRST) -> np.datetime64:
    """A moment, from ``2020-12-31``, ``2020/12/31 23:59:59``, ``31.12.2020`` or, month first, ``12/31/2020``.

    A ValueError for no day of the calendar. An offset such as ``+02:00`` is taken off. Of years with
    two digits, 69 is 1969 and 68 is 2068.

    Examples
    --------
    >>> print(date("1.2.2020", "day-first"), date("1/2/2020 1:30 PM", "month-first"))
    2020-02-01T00:00:00.000000 2020-01-02T13:30:00.000000
    """
    match = DATE.fullmatch(cell.strip())
    if match is not None:
        year, _, month, day, time, half, *zone = match.groups()
    else:
        match = OTHER_DATE.fullmatch(cell.strip())
        if match is None:
            raise ValueError(cell)
        day, _, month, year, time, half, *zone = match.groups()
        if order == MONTH_FIRST:
            day, month = month, day
    if len(year) == 2:
        year = f"{19 if int(year) >= 69 else 20}{year}"
    moment = np.datetime64(f"{year}-{int(month):02}-{int(day):02}T{_time(time, half)}", "us")
    hours, minutes = zone
    if hours is not None:  # as of UTC
        moment -= np.timedelta64(60 * int(hours) + int(f"{hours[0]}{minutes}"), "m")
    return moment


def _time(time: str | None, half: str | None) -> str:
    """The time of a day, of 24 hours."""
    hour, _, rest = (time or "00:00").partition(":")
    if half is None:
        return f"{int(hour):02}:{rest}"
    if not 1 <= int(hour) <= 12:
        raise ValueError(time)
    return f"{int(hour) % 12 + 12 * (half.lower() == 'pm'):02}:{rest}"


class DateOrder(NamedTuple):
    """The order of day and month in a column of dates, and a cell that could be read in either where nothing tells."""

    order: str
    doubtful: str | None = None


def date_order(cells: Iterable[str], given: str | None = None) -> DateOrder | None:
    """How all the cells are dates; None where they are not, or not in one order.

    A part above 12 is a day. Where there is none, a point or hyphen comes after the day, a slash after the month.

    Examples
    --------
    >>> date_order(["1/2/2020", "31/2/2020"]), date_order(["1/2/2020"])
    (DateOrder(order='day-first', doubtful=None), DateOrder(order='month-first', doubtful='1/2/2020'))
    """
    first = second = 0
    example = sign = ""
    for cell in cells:
        if DATE.fullmatch(cell.strip()):
            continue
        match = OTHER_DATE.fullmatch(cell.strip())
        if match is None:
            return None
        first, second = max(first, int(match[1])), max(second, int(match[3]))
        if match[1] != match[3]:
            example, sign = example or cell.strip(), match[2]
    if max(first, second) > 31 or (first > 12 and second > 12):
        return None
    if given is not None:
        return DateOrder(given)
    if first > 12 or second > 12:
        return DateOrder(DAY_FIRST if first > 12 else MONTH_FIRST)
    return DateOrder(MONTH_FIRST if sign == "/" else DAY_FIRST, example if sign in ("/", "-") and example else None)


class Reading(NamedTuple):
    """What the cells of a column of text say, and how they are written.

    Attributes
    ----------
    kind : str
        "number", "date", "boolean" or "text".
    decimal : str
        "." or ",".
    sign : str
        The per cent or currency sign beside each number.
    dates : str
        "day-first" or "month-first".
    doubtful : str or None
        A cell that could be read in two ways.
    """

    kind: str
    decimal: str = "."
    sign: str = ""
    dates: str = DAY_FIRST
    doubtful: str | None = None

    def is_gap(self, cell: str) -> bool:
        """Whether a cell is a gap."""
        if self.kind == "text":
            return not cell.strip()
        return is_gap(cell) if self.kind == "boolean" else is_unknown(cell)

    def as_written(self, cells: Sequence[str]) -> Reading:
        """The same for other cells, which may have another sign, or none, or truths in place of 0 and 1."""
        known = [cell for cell in cells if not is_unknown(cell)]
        if not known or self.kind not in ("number", "boolean"):
            return self
        if are_truths(known):
            return Reading("boolean")
        return Reading("number", self.decimal, _unsigned(known[0])[1])

    @property
    def converter(self) -> Callable[[str], Any]:
        """What makes a number, a truth or a moment of a cell; a ValueError for one that is none."""
        if self.kind == "date":
            return lambda cell: date(cell, self.dates)
        if self.kind == "boolean":
            return truth
        numerals = Numerals(self.decimal, certain=True)
        return lambda cell: numerals.read(cell, self.sign)


def are_truths(cells: Iterable[str]) -> bool:
    """Whether all cells are true or false, or all are yes or no."""
    words = {cell.strip().lower() for cell in cells}
    return any(words <= truths.keys() for truths in TRUTHS)


def truth(cell: str) -> bool:
    """What is true or false; a ValueError for what is neither."""
    try:
        return (TRUTHS[0] | TRUTHS[1])[cell.strip().lower()]
    except KeyError:
        raise ValueError(cell) from None


def reading_of(cells: Sequence[str]) -> Reading:
    """How the different cells of a column of text are to be read: as what all of them are.

    Examples
    --------
    >>> reading_of(["1,5", "2,25", "n/a"]).kind, reading_of(["red", "2"]).kind
    ('number', 'text')
    """
    known = [cell for cell in cells if not is_unknown(cell)]
    if not known:
        return Reading("text")
    written = _numbers_written(known)
    if written is not None:
        return written
    words = {cell.strip().lower() for cell in cells if not is_gap(cell)} if len(cells) <= 2 + len(GAPS) else set()
    if any(words == truths.keys() for truths in TRUTHS):
        return Reading("boolean")
    order = date_order(known)
    return Reading("text") if order is None else Reading("date", dates=order.order, doubtful=order.doubtful)


def _numbers_written(cells: Sequence[str]) -> Reading | None:
    """How numbers are written; None if a cell is no number, a text if "1,234" may be read in two ways."""
    if all(is_number(cell) for cell in cells):
        return Reading("number")
    points = commas = True
    example, sign = None, _unsigned(cells[0])[1]
    for cell in cells:
        point, comma = readings(cell)
        points, commas = points and point, commas and comma
        if not (points or commas) or _unsigned(cell)[1] != sign:
            return None
        example = example or (cell.strip() if "," in cell else None)
    if points and commas and example is not None:
        return Reading("text", doubtful=example)
    return Reading("number", "." if points else ",", sign)


def is_number(cell: str) -> bool:
    """Whether a cell is a number, written with a decimal point."""
    try:
        number(cell)
    except ValueError:
        return False
    return True
