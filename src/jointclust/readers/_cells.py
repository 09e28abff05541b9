"""What a cell of text says: a gap, a number as some country writes it, a truth, a date."""

from __future__ import annotations

import re

import numpy as np

GAPS = frozenset({"", "-", "?", "na", "#na", "n/a", "#n/a", "nan", "null", "none"})
TRUTHS = ({"true": True, "false": False}, {"yes": True, "no": False})

# Blanks of four widths and two apostrophes stand between groups of three digits.
_BETWEEN = " \u00a0\u2009\u202f'\u2019"
_MINUS = "\u2212"
_SIGNED = re.compile(r"([+-]?)\s*([$€£¥]?)\s*(.*?)\s*([%$€£¥]?)")
DATE = re.compile(r"(\d{4})([-/])(\d\d)\2(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)Z?)?")
OTHER_DATE = re.compile(r"\d{1,2}([-/.])\d{1,2}\1(\d{4}|\d{2})")


def _plain(decimal: str) -> re.Pattern[str]:
    return re.compile(rf"[+-]?(?:\d+(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][+-]?\d+)?")


def _grouped(decimal: str, other: str) -> re.Pattern[str]:
    return re.compile(rf"[+-]?[1-9]\d{{0,2}}([{other}{_BETWEEN}])\d{{3}}(?:\1\d{{3}})*(?:{decimal}\d*)?")


_PLAIN = {".": _plain(r"\."), ",": _plain(",")}
_GROUPED = {".": _grouped(r"\.", ","), ",": _grouped(",", ".")}


def is_gap(cell: str) -> bool:
    """Whether a cell stands for one that is missing."""
    return cell.strip().lower() in GAPS


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
    found = _SIGNED.fullmatch(cell.strip().replace(_MINUS, "-"))
    if found is None:  # a line break inside
        return cell, ""
    minus, before, body, after = found.groups()
    return minus + body, before + after


def readings(cell: str) -> tuple[bool, bool]:
    """Whether a cell is a number with a decimal point, and whether with a decimal comma.

    Examples
    --------
    >>> readings("3.14"), readings("1,234")
    ((True, False), (True, True))
    """
    body, _ = _unsigned(cell)
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
        body, found = _unsigned(cell)
        if found != sign:
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


def date(cell: str) -> np.datetime64:
    """A moment, from ``2020-12-31`` or ``2020/12/31 23:59:59``; a ValueError for no day of the calendar."""
    found = DATE.fullmatch(cell.strip())
    if found is None:
        raise ValueError(cell)
    year, _, month, day, time = found.groups()
    return np.datetime64(f"{year}-{month}-{day}T{time or '00:00'}", "us")
