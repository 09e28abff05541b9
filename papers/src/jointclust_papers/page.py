"""Findings as a folder: one self-contained HTML page, and each table and figure as a file beside it."""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
from pandas import DataFrame

from jointclust._version import __version__
from jointclust.files import replacing
from jointclust.showing.style import resource
from jointclust_papers import shipped
from jointclust_papers.findings import PAPERS, VERDICTS, Claim, Findings, Reading

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame, Series

__all__ = ["write_page"]

# A sign and a class for each verdict: the colour never stands alone.
_SIGNS = dict(
    zip(
        VERDICTS,
        (("✓", "holds"), ("≈", "in-part"), ("=", "tie"), ("✗", "not"), ("±", "depends"), ("?", "")),
        strict=True,
    )
)
_TALL = 15
_MINUS, _NONE = "\N{MINUS SIGN}", "\N{EN DASH}"


def write_page(
    findings: Iterable[Findings],
    folder: str | os.PathLike[str],
    title: str = "The papers, reproduced",
    facts: Mapping[str, str] | None = None,
) -> Path:
    """Write ``index.html``, ``claims.csv``, ``parts.csv``, ``notes.csv``, and each table and figure.

    The page is one file that needs nothing else, asks no network, runs no script and shows all text as text. Every
    file is replaced whole or not at all, and none is touched before all of them are ready. Equal findings give equal
    files.

    Parameters
    ----------
    findings : list of Findings
        In the order to show them; those of a paper are put together.
    folder : path-like
        Where to; made if it is not there. Other files in it stay.
    title : str, default="The papers, reproduced"
        Heading of the page.
    facts : mapping of str to str, default=None
        What to say at the top: version, runs, machine.

    Returns
    -------
    path : Path
        Of the page.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> table = pd.DataFrame({"data set": ["iris"], "paper": [0.89], "ours": [0.9], "difference": [0.01]})
    >>> claim = Claim("dec-iris", "table 2", "DEC is better than k-means", "holds", "ten runs on iris")
    >>> path = write_page([Findings("dec", "table 2", "Accuracy", table, claims=[claim])], tempfile.mkdtemp())
    >>> sorted(file.name for file in path.parent.iterdir())
    ['claims.csv', 'dec-table-2.csv', 'index.html', 'notes.csv', 'parts.csv']
    """
    findings = list(findings)
    files = _files(findings)
    files["index.html"] = _page(findings, files, title, facts or {})
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        with replacing(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
    return folder / "index.html"


# -- the files --------------------------------------------------------------------------------------------------


def _files(findings: Sequence[Findings]) -> dict[str, str]:
    """Name and text of every file but the page."""
    slugs = [one.slug for one in findings]
    claims = [
        (f.paper, f.item, c.key, c.place, c.text, c.verdict, c.share, c.rests, c.evidence)
        for f in findings
        for c in f.claims
    ]
    parts = [row for f in findings for c in f.claims for one in c.readings for row in _part_rows(f.paper, c, one)]
    kinds = {"note": "notes", "missing data": "missing", "stand-in": "stand_ins"}
    notes = [(f.paper, f.item, kind, text) for f in findings for kind in kinds for text in getattr(f, kinds[kind])]
    head = ["paper", "item", "key", "place", "claim", "verdict", "share", "rests", "evidence"]
    files = {
        "claims.csv": _csv(DataFrame(claims, columns=head)),
        "parts.csv": _csv(DataFrame(parts, columns=["paper", "key", "choice", "counted", "verdict", "share", *_PART])),
        "notes.csv": _csv(DataFrame(notes, columns=[*head[:2], "kind", "note"])),
    }
    for one in findings:
        if Path(one.slug).name != one.slug or slugs.count(one.slug) > 1:
            raise ValueError(f"{one.paper} {one.item}: {one.slug!r} is no file name, or another one's.")
        if one.table is not None:
            files[f"{one.slug}.csv"] = _csv(one.table)
        if one.figure is not None:
            files[f"{one.slug}.svg"] = _svg(one.figure, one.slug)
    return files


_PART = ("name", "outcome", "mean", "low", "high", "p", "n")


def _part_rows(paper: str, claim: Claim, reading: Reading) -> list[tuple[object, ...]]:
    known = (paper, claim.key, reading.choice, "yes" if reading.counted else "no")
    outcome = (reading.verdict(claim.rule), reading.share())
    return [(*known, *outcome, *(getattr(part, name) for name in _PART)) for part in reading.kept()]


def _csv(table: DataFrame) -> str:
    return table.to_csv(index=False, float_format=_plain, lineterminator="\n")


def _plain(value: float) -> str:
    """Four significant digits, and all digits before the point."""
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e15 else f"{value:.4g}"


def _svg(figure: Figure, name: str) -> str:
    """The figure with text as text, the same bytes each time, and names of its parts that no other figure has."""
    from matplotlib import rc_context

    stream = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(stream, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    # Nothing refers to groups. The other names are hashes of positions, whose last bits change from drawing to drawing.
    text = re.sub(r'<g id="[^"]*"', "<g", stream.getvalue())
    parts = dict.fromkeys(re.findall(r'<\w+ [^<>]*?\bid="(\w+)"', text))
    prefix = re.sub(r"\W+", "-", name)
    numbers = {part: f"{prefix}-{number}" for number, part in enumerate(parts)}
    return re.sub(r'(id="|#)(\w+)\b', lambda match: match[1] + numbers.get(match[2], match[2]), text)


# -- the page ---------------------------------------------------------------------------------------------------


def _page(findings: Sequence[Findings], files: Mapping[str, str], title: str, facts: Mapping[str, str]) -> str:
    papers: dict[str, list[Findings]] = {}
    for one in findings:
        papers.setdefault(one.paper, []).append(one)
    contents, sections = "", []
    for paper, of_paper in papers.items():
        items = "".join(f"<li>{_link(one)}: {escape(one.title)}</li>" for one in of_paper)
        contents += f"<dt>{_name(paper)}</dt><dd><ul>{items}</ul></dd>"
        articles = "\n".join(_article(one, files) for one in of_paper)
        about = f"<h2>{_name(paper)}</h2>\n<p>{escape(PAPERS.get(paper, ''))}</p>"
        sections.append(f'<section aria-label="{_name(paper)}">{about}\n{articles}\n</section>')
    known = (f"<div><dt>{escape(key)}</dt><dd>{escape(str(value))}</dd></div>" for key, value in facts.items())
    return Template(shipped.text("page.html")).substitute(
        title=escape(title),
        style=resource("showing/style.css") + shipped.text("page.css"),
        facts="".join(known),
        contents=f"<dl>{contents}</dl>" if papers else "<p>There are no findings.</p>",
        verdicts=_verdicts(papers),
        papers="\n".join(sections),
        version=escape(__version__),
    )


def _name(paper: str) -> str:
    return "All papers" if paper == "all" else escape(paper.upper())


def _link(one: Findings) -> str:
    return f'<a href="#{quote(one.slug)}">{escape(one.item)}</a>'


def _verdicts(papers: Mapping[str, Sequence[Findings]]) -> str:
    """How many of a paper's own claims have each verdict, and every claim in short."""
    counts, each = [], []
    for paper, of_paper in papers.items():
        claims = [(one, claim) for one in of_paper for claim in one.claims]
        own = Counter(claim.verdict for _, claim in claims)
        cells = (f'<td class="number">{own[verdict] or _NONE}</td>' for verdict in VERDICTS)
        counts.append(f'<tr><th scope="row">{_name(paper)}</th>{"".join(cells)}</tr>')
        each += [
            f"<tr><td>{_name(paper)}</td><td>{_link(one)}</td>"
            f"<td>{_tag(claim.verdict)}</td><td>{escape(claim.place)}</td>"
            f'<td class="text">{escape(claim.text)}</td></tr>'
            for one, claim in claims
        ]
    if not each:
        return "<p>There are no claims.</p>"
    head = ["<th></th>", *(f'<th scope="col" class="number">{_tag(verdict)}</th>' for verdict in VERDICTS)]
    columns = [f'<th scope="col">{name}</th>' for name in ("paper", "item", "verdict", "place", "claim")]
    return _box("Counts of verdicts", head, counts) + _box("Claims", columns, each) + _beside("claims.csv")


def _tag(verdict: str) -> str:
    sign, kind = _SIGNS[verdict]
    return f'<span class="tag {kind}"><span aria-hidden="true">{sign}</span> {verdict}</span>'


def _box(label: str, head: Sequence[str], rows: Sequence[str]) -> str:
    """A table that scrolls inside its own box."""
    tall = " tall" if len(rows) > _TALL else ""
    return (
        f'<div class="wide{tall}" role="region" aria-label="{escape(label)}" tabindex="0"><table>'
        f"<thead><tr>{''.join(head)}</tr></thead><tbody>\n{chr(10).join(rows)}\n</tbody></table></div>"
    )


def _beside(*names: str) -> str:
    links = " and ".join(f'<a href="{quote(name)}">{escape(name)}</a>' for name in names)
    return f'<p class="note">Beside this page: {links}</p>' if names else ""


# -- one finding ------------------------------------------------------------------------------------------------


def _article(one: Findings, files: Mapping[str, str]) -> str:
    heading, parts = f"{one.item[:1].upper()}{one.item[1:]}: {one.title}", []
    if one.missing:
        hints = ", ".join(f"<code>jointclust datasets {escape(name)}</code>" for name in one.missing)
        shown = escape(", ".join(one.missing))
        parts.append(f'<p class="missing"><b>Missing data:</b> {shown}. How to get them: {hints}</p>')
    if one.stand_ins:
        shown = escape(", ".join(one.stand_ins))
        parts.append(f'<p class="stand-ins"><b>Stand-ins</b>, which are not in the paper: {shown}</p>')
    if svg := files.get(f"{one.slug}.svg"):
        image = svg[svg.index("<svg") :]
        parts.append(f'<div class="figure" role="img" aria-label="{escape(one.title)}" tabindex="0">{image}</div>')
    if one.table is not None:
        parts.append(_table(f"{one.item}: {one.title}", one.table))
    parts += [
        _beside(*(name for name in (f"{one.slug}.svg", f"{one.slug}.csv") if name in files)),
        _list("Claims", "claims", [_claim(claim) for claim in one.claims]),
        _list("How our protocol differs", "notes", [f"<li>{escape(note)}</li>" for note in one.notes]),
    ]
    return f'<article id="{escape(one.slug)}"><h3>{escape(heading)}</h3>\n{"".join(parts)}</article>'


def _list(title: str, kind: str, items: Sequence[str]) -> str:
    return f'<h4>{title}</h4><ul class="{kind}">{"".join(items)}</ul>' if items else ""


def _claim(claim: Claim) -> str:
    """A claim: verdict, place, text, what it rests on and the numbers; every reading with its parts is folded below."""
    share = f" ({escape(claim.share)})" if claim.share else ""
    why = f'<span class="because">{escape(claim.rests)} {escape(claim.evidence)}</span>'
    folded = "".join(_reading(claim, one) for one in claim.readings if one.kept())
    other = "" if all(one.counted for one in claim.readings) else ", and other readings"
    more = f"<details><summary>Every part{other}</summary>"
    return (
        f"<li>{_tag(claim.verdict)}{share} <i>{escape(claim.place)}.</i> {escape(claim.text)} {why}"
        f"{more + folded + '</details>' if folded else ''}</li>"
    )


def _reading(claim: Claim, one: Reading) -> str:
    kind = "" if one.counted else ", not counted"
    title = f"<b>{escape(one.choice or 'as printed')}</b>{kind}: {one.verdict(claim.rule)} ({escape(one.share())})"
    parts = "; ".join(
        f"{part.words}{'' if np.isnan(part.p) else f', p = {part.p:.2g}'} ({part.outcome})" for part in one.kept()
    )
    return f"<p>{title}. {escape(parts)}</p>"


def _table(title: str, table: DataFrame) -> str:
    """A table in its box; what is compared, and the difference, have the same digits."""
    numbers = [name for name, values in table.items() if values.dtype.kind in "iuf"]
    compared = [name for name in ("paper", "ours") if name in numbers]
    head, columns = [], []
    for name, values in table.items():
        kind = ' class="number"' if name in numbers else ""
        head.append(f'<th scope="col"{kind}>{escape(str(name))}</th>')
        if name in numbers:
            digits = _digits(table[compared] if compared and name in (*compared, "difference") else values)
            known = values.to_numpy(float, na_value=np.nan)
            columns.append([_number(value, digits, signed=name == "difference") for value in known])
        else:
            known = values.astype(object).where(values.notna(), _NONE)
            columns.append([f"<td>{escape(str(value))}</td>" for value in known])
    return _box(title, head, [f"<tr>{''.join(cells)}</tr>" for cells in zip(*columns, strict=True)])


def _digits(values: Series | DataFrame) -> int:
    """Digits after the point, the same down a column: none for whole numbers, two for percentages, else four."""
    known = np.abs(values.to_numpy(float, na_value=np.nan))
    known = known[np.isfinite(known)]
    if (known == np.round(known)).all():
        return 0
    return 2 if known[known > 0].min() >= 1 else 4


def _number(value: float, digits: int, *, signed: bool) -> str:
    """A cell; a difference has its sign and colour, unless it is nothing as far as digits are shown."""
    value, kind = (round(float(value), digits) + 0.0 if signed else value), ""
    text = f"{value:.{digits}f}"
    if np.isnan(value):
        text = _NONE
    elif signed and value != 0:
        text, kind = f"{value:+.{digits}f}", " more" if value > 0 else " less"
    elif 0 < abs(value) < 0.5 * 10.0**-digits:
        text = f"{value:.1e}"
    return f'<td class="number{kind}">{text.replace("-", _MINUS)}</td>'
