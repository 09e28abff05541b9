"""What ``jointclust reproduce`` wrote to docs/reproduction, claim by claim and item by item, read off its files."""

import csv
import json
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).parent.parent / "reproduction"
# Longer ones are files to download: a figure shows its numbers itself.
LONGEST = {"table": 150, "accuracies": 0}
USUALLY = 40
SIGNS = {
    "holds": "✓",
    "holds in part": "≈",
    "tie": "=",
    "does not hold": "✗",
    "depends on a choice": "±",
    "cannot be tested": "?",
}


def rows(name):
    """Rows of one of the files."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def escaped(text):
    """Text that no markup comes from."""
    return "".join(f"\\{sign}" if sign in "\\*`|_<>" else sign for sign in text)


def table(lines, widths=""):
    """A list table of rows of text; a cell that is a list has more than one line, the rest of which is markup."""
    head, *body = lines
    values = [".. list-table::", "   :header-rows: 1", *([f"   :widths: {widths}"] if widths else []), ""]
    for line in [head, *body]:
        for index, cell in enumerate(line):
            first, *rest = cell if isinstance(cell, list) else [cell]
            values.append("   * - " if index == 0 else "     - ")
            values[-1] += escaped(first) or "\\ "
            values += [f"       {one}" if one else "" for one in rest]
    return [*values, ""]


def verdict(row):
    """The verdict with its sign and share."""
    share = f" ({row['share']})" if row["share"] else ""
    return f"{SIGNS[row['verdict']]} {row['verdict']}{share}"


def number(text):
    """A number of a part with its sign, or nothing."""
    return "" if text in ("", "nan") else f"{float(text):+.3g}"


def folded(parts):
    """The readings of a claim with all their parts, as HTML that opens at a click."""
    readings = {}
    for row in parts:
        readings.setdefault((row["choice"], row["counted"], row["verdict"], row["share"]), []).append(row)
    lines = []
    for (choice, counted, one, share), own in readings.items():
        title = f"<b>{escape(choice or 'as printed')}</b>{'' if counted == 'yes' else ', not counted'}: {one} ({share})"
        text = []
        for row in own:
            interval = f" [{number(row['low'])}, {number(row['high'])}]" if int(row["n"]) > 1 else ""
            p = f", p = {float(row['p']):.2g}" if row["p"] not in ("", "nan") else ""
            text.append(f"{escape(row['name'])} {number(row['mean'])}{interval}{p} ({row['outcome']})")
        lines.append(f"<p>{title}. {'; '.join(text)}</p>")
    more = "Every part" if all(row["counted"] == "yes" for row in parts) else "Every part, and other readings"
    return (
        ["", ".. raw:: html", "", f"   <details><summary>{more}</summary>{''.join(lines)}</details>"] if parts else []
    )


class Parsed(SphinxDirective):
    """Lines of reStructuredText that a subclass writes."""

    def run(self):
        node = nodes.container()
        self.state.nested_parse(StringList(self.lines(), source="reproduction"), self.content_offset, node)
        for path in FOLDER.glob("*.csv"):
            self.env.note_dependency(str(path))
        return node.children


class Reproduced(Parsed):
    """``.. reproduced:: odc-table-2``: figure, table, how the protocol differs."""

    required_arguments = 1

    def lines(self):
        slug = self.arguments[0]
        paper, _, item = slug.replace("-", " ").partition(" ")
        lines = []
        if (FOLDER / f"{slug}.svg").exists():
            lines += [f".. image:: {slug}.svg", f"   :alt: {item} of {paper}", ""]
        lines += self.numbers(slug)
        notes = [row for row in rows("notes.csv") if (row["paper"], row["item"]) == (paper, item)]
        missing = [row["note"] for row in notes if row["kind"] == "missing data"]
        if missing:
            lines += [f"Missing data: {', '.join(missing)} (:doc:`/datasets`).", ""]
        # What an item above said already is not said again.
        said = self.env.temp_data.setdefault("reproduction_notes", set())
        new = [row["note"] for row in notes if row["kind"] == "note" and (paper, row["note"]) not in said]
        said.update((paper, note) for note in new)
        return [*lines, *(f"* {escaped(note)}" for note in new), ""]

    def numbers(self, slug):
        result = rows(f"{slug}.csv")
        file = f":download:`{slug}.csv`"
        if len(result) > LONGEST.get(slug.split("-")[1], USUALLY):
            return [f"All {len(result)} numbers: {file}.", ""]
        columns = [name for name in result[0] if "parameters" not in name]
        lines = table([columns, *([row[name] for name in columns] for row in result)])
        return [*lines, f"With all columns, as a file: {file}.", ""]


class Claims(Parsed):
    """``.. claims:: dec``: one row for each claim of a paper; what is not counted is folded below it."""

    required_arguments = 1

    def lines(self):
        paper = self.arguments[0]
        parts = [row for row in rows("parts.csv") if row["paper"] == paper]
        body = []
        for row in (one for one in rows("claims.csv") if one["paper"] == paper):
            own = [part for part in parts if part["key"] == row["key"]]
            body.append([verdict(row), row["place"], row["claim"], [row["rests"], *folded(own)]])
        return table([["verdict", "place", "claim", "what the verdict rests on"], *body], "18 14 28 40")


class Verdicts(Parsed):
    """``.. verdicts::``: how many claims of each paper have each verdict."""

    def lines(self):
        claims = [row for row in rows("claims.csv") if row["paper"] != "all"]
        body = []
        for paper in dict.fromkeys(row["paper"] for row in claims):
            own = [row["verdict"] for row in claims if row["paper"] == paper]
            body.append([paper.upper(), str(len(own)), *(str(own.count(one)) for one in SIGNS)])
        return table([["paper", "claims", *(f"{sign} {one}" for one, sign in SIGNS.items())], *body])


class Provenance(Parsed):
    """``.. provenance:: dec``: where the numbers of a paper come from, and all its fits as a file."""

    required_arguments = 1

    def lines(self):
        paper = self.arguments[0]
        known = json.loads((FOLDER / "provenance.json").read_text(encoding="utf-8"))[paper]
        text = ", ".join(
            f"{name} {known[name]}" for name in ("run", "version", "date", "cores", "CPU minutes") if name in known
        )
        file = f"{paper}-cells.csv.gz"
        cells = f" All {known['cells']} fits: :download:`{file}`." if (FOLDER / file).exists() else ""
        return [f"These numbers: {escaped(text)}.{cells}", ""]


def setup(app):
    app.add_directive("reproduced", Reproduced)
    app.add_directive("claims", Claims)
    app.add_directive("verdicts", Verdicts)
    app.add_directive("provenance", Provenance)
    return {"parallel_read_safe": True}
