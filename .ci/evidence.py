"""Compares figures in README.md and the documentation with the CSV files of docs/evidence.

A comment that follows a text, invisible to readers, names the source of each figure in it, one figure a line, in the
order of the text. ``<!-- evidence`` and ``-->`` enclose it in Markdown; in reStructuredText it is the block indented
below ``.. evidence``::

    In the mean 10.7 points above k-means; more than two points below prepared k-means on one set (yeast).

    .. evidence
       10.7 = default.csv: 100 * mean(default - "KMeans(n_init=10)")
       on [one] set = default.csv: count(default - "prepared k-means" < -0.02)
       yeast = default.csv: argmin(default - "prepared k-means")

Left of ``=``: the figure as the text has it, or, where it alone is not unique, words around it with the figure in
brackets. Right of it: a CSV file (its path from docs/evidence) and an expression in these terms:

- a column: its name, in quotes unless it is a plain word; a number;
- ``column["name"]``: the row with this name in the first column; ``column[condition]``: the rows that fulfil a
  condition, such as ``half == "tune"`` (text in quotes, right of ``==`` and ``!=``, is no column) or
  ``accuracy > 0.5``; ``and``, ``or`` and ``not`` join conditions;
- ``+ - * /``, between columns row by row: rows are matched by the first column if the two sides hold different rows;
- ``mean``, ``median``, ``min``, ``max``, ``sum``; ``rows`` (how many); ``count`` and ``share`` of the rows that fulfil
  a condition; ``argmin`` and ``argmax`` (the first column of the row with the smallest or largest value); ``abs``;
  ``number`` (the first number in cells of text).

The value has to equal the figure when it is rounded to as many digits as the figure has. A figure with ``%`` is a
hundred times the value. Figures may be number words up to twelve, "first" to "third", or names.
"""

import argparse
import ast
import csv
import math
import operator
import re
import statistics
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = [
    "README.md",
    "docs/evidence/index.rst",
    "docs/evidence/low_dimensions.rst",
    "docs/choosing.rst",
    "docs/scaling.rst",
    "docs/peers.rst",
]

WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ORDINALS = ["first", "second", "third"]
COMMENTS = {
    ".md": re.compile(r"^[ ]*<!-- evidence\n(?P<lines>.*?)^[ ]*-->[ ]*$", re.DOTALL | re.MULTILINE),
    ".rst": re.compile(
        r"^(?P<indent>[ ]*)\.\. evidence[ ]*\n(?P<lines>(?:(?P=indent)[ ]+\S.*(?:\n|\Z))*)", re.MULTILINE
    ),
}
LINE = re.compile(r"\s*(?P<text>.+?) = (?P<file>\S+\.csv): (?P<expression>.+?)\s*")
# A number with at least two digits after its point: what a CSV file usually lies behind.
LIKELY = re.compile(r"(?<![\w.])[+-]?\d*\.\d{2,}(?!\w|\.\d)")


class EvidenceError(Exception):
    """A markup that cannot be read, or names what is not there."""


@dataclass(frozen=True)
class Column:
    """Cells of one column, or what was computed of them, with the first cells of their rows."""

    keys: tuple
    cells: tuple

    def matched(self, other):
        """The cells of both sides, row by row."""
        if not isinstance(other, Column):
            return [(cell, other) for cell in self.cells]
        if self.keys == other.keys:
            return list(zip(self.cells, other.cells, strict=True))
        rows = dict(zip(other.keys, other.cells, strict=True))
        if set(rows) != set(self.keys) or not len(rows) == len(self.keys) == len(other.keys):
            raise EvidenceError("the two sides have different rows")
        return [(cell, rows[key]) for key, cell in zip(self.keys, self.cells, strict=True)]

    def single(self):
        """The one cell."""
        if len(self.cells) != 1:
            raise EvidenceError(f"{len(self.cells)} rows fulfil the condition, not one")
        return self.cells[0]

    def numbers(self):
        """The cells, which have to be numbers."""
        text = [cell for cell in self.cells if isinstance(cell, str)]
        if text or not self.cells:
            raise EvidenceError(f"{text[0]!r} is no number" if text else "no row fulfils the condition")
        return self.cells


def as_number(cell):
    """A cell as an exact number if it is one."""
    try:
        return Fraction(cell)
    except ValueError:
        return cell


def first_number(cell):
    """The first number in a cell of text."""
    match = re.search(r"[+-]?\d+(\.\d+)?", str(cell))
    if isinstance(cell, str) and not match:
        raise EvidenceError(f"no number in {cell!r}")
    return Fraction(match[0]) if isinstance(cell, str) else cell


OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
COMPARISONS = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
# Functions of a column: those that give one value, and those that give a column.
AGGREGATES = {
    "mean": lambda column: statistics.mean(column.numbers()),
    "median": lambda column: statistics.median(column.numbers()),
    "min": lambda column: min(column.numbers()),
    "max": lambda column: max(column.numbers()),
    "sum": lambda column: sum(column.numbers()),
    "rows": lambda column: Fraction(len(column.cells)),
    "count": lambda column: Fraction(sum(map(bool, column.numbers()))),
    "share": lambda column: Fraction(sum(map(bool, column.numbers())), len(column.cells)),
    "argmin": lambda column: min(zip(column.numbers(), column.keys, strict=True))[1],
    "argmax": lambda column: max(zip(column.numbers(), column.keys, strict=True))[1],
}
ELEMENTWISE = {"abs": abs, "number": first_number}


@cache
def read(path):
    """The columns of a CSV file, by name."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            names, *rows = csv.reader(stream)
    except FileNotFoundError:
        raise EvidenceError(f"there is no {path.name}") from None
    keys = tuple(row[0] for row in rows)
    return {name: Column(keys, tuple(as_number(row[at]) for row in rows)) for at, name in enumerate(names)}


class Evaluator(ast.NodeVisitor):
    """The value of an expression over the columns of one file."""

    def __init__(self, columns):
        self.columns = columns

    def generic_visit(self, node):
        raise EvidenceError(f"{ast.unparse(node)!r} is no part of the language")

    def column(self, name):
        if name not in self.columns:
            raise EvidenceError(f"there is no column {name!r}")
        return self.columns[name]

    def visit_Expression(self, node):
        return self.visit(node.body)

    def visit_Name(self, node):
        return self.column(node.id)

    def visit_Constant(self, node):
        return self.column(node.value) if isinstance(node.value, str) else Fraction(str(node.value))

    def visit_UnaryOp(self, node):
        functions = {ast.USub: operator.neg, ast.Not: operator.not_}
        if type(node.op) not in functions:
            self.generic_visit(node)
        return self.each(functions[type(node.op)], self.visit(node.operand))

    def visit_BinOp(self, node):
        if type(node.op) not in OPERATORS:
            self.generic_visit(node)
        return self.pairs(OPERATORS[type(node.op)], self.visit(node.left), self.visit(node.right))

    def visit_BoolOp(self, node):
        join = operator.and_ if isinstance(node.op, ast.And) else operator.or_
        first, *rest = map(self.visit, node.values)
        for other in rest:
            first = self.pairs(join, first, other)
        return first

    def visit_Compare(self, node):
        if len(node.ops) > 1 or type(node.ops[0]) not in COMPARISONS:
            self.generic_visit(node)
        right = node.comparators[0]
        text = isinstance(node.ops[0], ast.Eq | ast.NotEq) and isinstance(right, ast.Constant)
        other = as_number(str(right.value)) if text else self.visit(right)
        return self.pairs(COMPARISONS[type(node.ops[0])], self.visit(node.left), other)

    def visit_Subscript(self, node):
        column, at = self.visit(node.value), node.slice
        if isinstance(at, ast.Constant) and isinstance(at.value, str):
            chosen = [key == at.value for key in column.keys]
            if sum(chosen) != 1:
                raise EvidenceError(f"{sum(chosen) or 'no'} rows are named {at.value!r}, not one")
        else:
            chosen = self.visit(at).cells
        rows = [(k, c) for k, c, keep in zip(column.keys, column.cells, chosen, strict=True) if keep]
        one = Column(tuple(key for key, _ in rows), tuple(cell for _, cell in rows))
        return one.single() if isinstance(at, ast.Constant) else one

    def visit_Call(self, node):
        name = getattr(node.func, "id", None)
        if (name not in AGGREGATES and name not in ELEMENTWISE) or len(node.args) != 1 or node.keywords:
            self.generic_visit(node)
        value = self.visit(node.args[0])
        if name in ELEMENTWISE:
            return self.each(ELEMENTWISE[name], value)
        if not isinstance(value, Column):
            raise EvidenceError(f"{name} takes a column")
        return AGGREGATES[name](value)

    @staticmethod
    def each(function, value):
        if isinstance(value, Column):
            return Column(value.keys, tuple(map(function, value.cells)))
        return function(value)

    @staticmethod
    def pairs(function, left, right):
        if isinstance(left, Column):
            return Column(left.keys, tuple(function(a, b) for a, b in left.matched(right)))
        if isinstance(right, Column):
            return Column(right.keys, tuple(function(a, b) for b, a in right.matched(left)))
        return function(left, right)


def evaluate(file, expression, folder):
    """The number or name that an expression gives."""
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError:
        raise EvidenceError(f"cannot read {expression!r}") from None
    try:
        value = Evaluator(read(folder / file)).visit(tree)
    except (TypeError, ZeroDivisionError) as error:
        raise EvidenceError(f"{expression}: {error}") from None
    return value.single() if isinstance(value, Column) else value


def digits_of(figure):
    """How many digits a figure has after its point; None for a word."""
    match = re.fullmatch(r"[+-]?[\d,]*(?:\.(\d+))?%?", figure)
    return len(match[1] or "") if match and re.search(r"\d", figure) else None


def rounded(value, digits):
    """A number with so many digits; halves go away from zero."""
    scaled = math.floor(abs(value) * 10**digits + Fraction(1, 2))
    whole, rest = divmod(scaled, 10**digits)
    return "-" * (value < 0 and scaled > 0) + f"{whole:,}" + (f".{rest:0{digits}d}" if digits else "")


def like(figure, value):
    """The value in the form of a figure: its digits, sign, per cent and so on; the figure itself if it is right."""
    words = ORDINALS if figure.lower() in ORDINALS else WORDS
    digits = digits_of(figure)
    if isinstance(value, str):
        return figure if figure.lower() == value.lower() else value
    if digits is None:
        if figure.lower() not in words:
            raise EvidenceError(f"{figure!r} is a name, and the value a number ({float(value):g})")
        number = int(rounded(value, 0).replace(",", "")) - (words is ORDINALS)
        word = words[number] if 0 <= number < len(words) else str(number)
        return figure if figure.lower() == word else word
    value *= 100 if figure.endswith("%") else 1
    current = Fraction(figure.replace(",", "").removesuffix("%"))
    if abs(current - value) <= Fraction(1, 2 * 10**digits):
        return figure
    text = rounded(value, digits)
    if "," not in figure and abs(value) < 10000:
        text = text.replace(",", "")
    if re.match(r"[+-]?\.", figure):
        text = text.replace("0.", ".", 1)
    return "+" * (figure[0] == "+" and value >= 0) + text + "%" * figure.endswith("%")


def pattern_of(text):
    """What finds a piece of text with its figure, however its lines are broken."""
    before, bracket, rest = text.partition("[")
    figure, closing, after = rest.partition("]") if bracket else (text, "]", "")
    before = before if bracket else ""
    if not closing or not figure.strip():
        raise EvidenceError(f"cannot read {text!r}")
    parts = [r"\s+".join(re.escape(word) for word in re.split(r"\s+", part)) for part in (before, figure, after)]
    return re.compile(rf"(?<![\w.])(?:{parts[0]})(?P<figure>{parts[1]})(?:{parts[2]})(?!\w|[.,]\d)"), figure


@dataclass(frozen=True)
class Figure:
    """A figure of a page: where it is in the text and in the markup, how it is written, and how it should be."""

    line: int
    places: tuple
    written: str
    right: str
    source: str


def figures(text, suffix, folder):
    """The marked figures of a page, and what is wrong with its markup, as pairs of line and message."""
    marked, errors, start = [], [], 0
    for comment in COMMENTS[suffix].finditer(text):
        at = comment.start("lines")
        for raw in comment["lines"].splitlines(keepends=True):
            line, offset = text.count("\n", 0, at) + 1, at
            at += len(raw)
            if not raw.strip():
                continue
            try:
                match = LINE.fullmatch(raw)
                if not match:
                    raise EvidenceError(f"cannot read {raw.strip()!r}: 'figure = file.csv: expression' is the form")
                pattern, figure = pattern_of(match["text"])
                place = pattern.search(text, start, comment.start())
                if not place:
                    raise EvidenceError(f"{match['text']!r} is not in the text above, after the figures before it")
                start = place.end("figure")
                value = evaluate(match["file"], match["expression"], folder)
                right = like(figure, value)
            except EvidenceError as error:
                errors.append((line, str(error)))
                continue
            own = offset + match.start("text") + match["text"].find("[") + 1
            places = (place.span("figure"), (own, own + len(figure)))
            source = f"{match['file']}: {match['expression']}"
            marked.append(Figure(text.count("\n", 0, place.start("figure")) + 1, places, figure, right, source))
        start = comment.end()
    return marked, errors


def corrected(text, marked):
    """The text with every marked figure as it should be."""
    changes = [(place, figure.right) for figure in marked if figure.right != figure.written for place in figure.places]
    for (begin, end), right in sorted(changes, reverse=True):
        text = text[:begin] + right + text[end:]
    return text


def unmarked(text, suffix, marked):
    """Numbers with two digits or more after their point that no markup names, as pairs of line and number."""
    hidden = [comment.span() for comment in COMMENTS[suffix].finditer(text)]
    hidden += [place for figure in marked for place in figure.places]
    for match in LIKELY.finditer(text):
        if not any(begin <= match.start() < end for begin, end in hidden):
            yield text.count("\n", 0, match.start()) + 1, match[0]


def pages_with_markup():
    """The pages that have to have markup, and others of the documentation that have some."""
    pages = [ROOT / page for page in PAGES]
    others = (
        page for page in sorted((ROOT / "docs").rglob("*.rst")) if page not in pages and "_build" not in page.parts
    )
    return pages + [page for page in others if COMMENTS[".rst"].search(page.read_text(encoding="utf-8"))]


def main(arguments=None):
    """Checks pages; returns how many lines of complaint it printed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="*", type=Path, help="default: all that have markup, or should")
    parser.add_argument("--evidence", type=Path, default=ROOT / "docs" / "evidence", help="the folder of the CSV files")
    parser.add_argument("--fix", action="store_true", help="write the right figures into the pages")
    parser.add_argument("--unmarked", action="store_true", help="list figures without markup too; they are no failure")
    options = parser.parse_args(arguments)
    complaints = total = 0
    for page in options.pages or pages_with_markup():
        text = page.read_text(encoding="utf-8")
        name = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
        marked, errors = figures(text, page.suffix, options.evidence)
        wrong = [figure for figure in marked if figure.right != figure.written]
        if not marked and not errors:
            errors = [(1, "no figure of this page is marked")]
        lines = [(figure.line, f"{figure.written} in the text, {figure.right} in {figure.source}") for figure in wrong]
        for line, message in sorted(lines + errors):
            print(f"{name}:{line}: {message}")
        if options.unmarked:
            for line, number in unmarked(text, page.suffix, marked):
                print(f"{name}:{line}: {number} has no markup")
        if options.fix and wrong:
            page.write_text(corrected(text, marked), encoding="utf-8")
        complaints += len(errors) + (0 if options.fix else len(wrong))
        total += len(marked)
    print(f"{total} figures compared, {complaints} complaints")
    return complaints


if __name__ == "__main__":
    sys.exit(min(main(), 1))
