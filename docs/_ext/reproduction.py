"""What ``jointclust reproduce`` wrote to docs/reproduction, item by item, read off its files."""

import csv
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).parent.parent / "reproduction"
# Longer ones are files to download: a figure shows its numbers itself.
LONGEST = {"table": 150, "accuracies": 0}
USUALLY = 40
# What no paper claims is no part of its count.
OURS = "Ours: "
SIGNS = {"holds": "✓", "holds in part": "≈", "does not hold": "✗", "cannot be tested": "?"}


def rows(name):
    """Rows of one of the files."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def escaped(text):
    """Text that no markup comes from."""
    return "".join(f"\\{sign}" if sign in "\\*`|_<>" else sign for sign in text)


def table(lines):
    """A list table of rows of text."""
    head, *body = lines
    found = [".. list-table::", "   :header-rows: 1", ""]
    for line in [head, *body]:
        first, *rest = (escaped(cell) or "\\ " for cell in line)
        found += [f"   * - {first}", *(f"     - {cell}" for cell in rest)]
    return [*found, ""]


def verdict(row):
    """The verdict with its sign and share."""
    share = f" ({row['share']})" if row["share"] else ""
    return f"{SIGNS[row['verdict']]} {row['verdict']}{share}"


class Parsed(SphinxDirective):
    """Lines of reStructuredText that a subclass writes."""

    def run(self):
        node = nodes.container()
        self.state.nested_parse(StringList(self.lines(), source="reproduction"), self.content_offset, node)
        for path in FOLDER.glob("*.csv"):
            self.env.note_dependency(str(path))
        return node.children


class Reproduced(Parsed):
    """``.. reproduced:: odc-table-2``: figure, claims, table, how the protocol differs."""

    required_arguments = 1

    def lines(self):
        slug = self.arguments[0]
        paper, _, item = slug.replace("-", " ").partition(" ")
        lines = []
        if (FOLDER / f"{slug}.svg").exists():
            lines += [f".. image:: {slug}.svg", f"   :alt: {item} of {paper}", ""]
        claims = [row for row in rows("claims.csv") if (row["paper"], row["item"]) == (paper, item)]
        if claims:
            body = [[verdict(row), row["claim"], row["evidence"], row["because"]] for row in claims]
            lines += table([["verdict", "claim", "evidence", "our numbers"], *body])
        lines += self.numbers(slug)
        notes = [row for row in rows("notes.csv") if (row["paper"], row["item"]) == (paper, item)]
        missing = [row["note"] for row in notes if row["kind"] == "missing data"]
        if missing:
            lines += [f"Missing data: {', '.join(missing)} (:doc:`/datasets`).", ""]
        lines += [f"* {escaped(row['note'])}" for row in notes if row["kind"] == "note"]
        return [*lines, ""]

    def numbers(self, slug):
        found = rows(f"{slug}.csv")
        file = f":download:`{slug}.csv`"
        if len(found) > LONGEST.get(slug.split("-")[1], USUALLY):
            return [f"All {len(found)} numbers: {file}.", ""]
        columns = [name for name in found[0] if "parameters" not in name]
        lines = table([columns, *([row[name] for name in columns] for row in found)])
        return [*lines, f"With all columns, as a file: {file}.", ""]


class Verdicts(Parsed):
    """``.. verdicts::``: how many claims of each paper hold; with a paper's name, its claims in short."""

    optional_arguments = 1

    def lines(self):
        claims = rows("claims.csv")
        if self.arguments:
            own = [row for row in claims if row["paper"] == self.arguments[0]]
            body = [[row["item"], verdict(row), row["claim"], row["evidence"].partition(" (")[0]] for row in own]
            return table([["item", "verdict", "claim", "evidence"], *body])
        claims = [row for row in claims if not row["claim"].startswith(OURS)]
        papers = dict.fromkeys(row["paper"] for row in claims)
        body = [
            [paper.upper(), *(str(sum((r["paper"], r["verdict"]) == (paper, v) for r in claims)) for v in SIGNS)]
            for paper in papers
        ]
        return table([["paper", *(f"{sign} {verdict}" for verdict, sign in SIGNS.items())], *body])


def setup(app):
    app.add_directive("reproduced", Reproduced)
    app.add_directive("verdicts", Verdicts)
    return {"parallel_read_safe": True}
