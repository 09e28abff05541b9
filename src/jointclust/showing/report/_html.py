"""Pieces of HTML: all text goes through ``escape``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from jointclust.showing.style import PALETTE, SHAPES, looks

_LOOKS = looks()
# What the page's words mean, by the word.
WORDS = {
    "agreement": "How alike the members of the consensus cluster the rows: the mean adjusted Rand index over pairs of "
    "them, 1 where all find the same and near 0 where each finds something else.",
    "confidence": "How likely a row's label is right, 0 to 1: for a consensus made from the votes so that about 80% of "
    "the rows with confidence 0.8 belong where they are; for a soft method the label's own probability.",
    "effect": "Cohen's d: the difference between the mean in the cluster and the mean of all other rows, in standard "
    "deviations. 0.8 is large, 3 means that the two hardly overlap. It describes and tests nothing: the same rows made "
    "the clusters.",
    "stability": "Whether a cluster would be found again: the mean Jaccard index with its best match over resamples of "
    "the rows or, for a consensus, over its members. Below 0.6 it is not stable, from 0.85 on stable, between them "
    "fairly stable.",
    "silhouette": "How much nearer a row is to its own cluster than to the next one, -1 to 1, in the embedding and on "
    "at most 2,000 rows. Above 0.5 clusters are well apart, near 0 they touch.",
    "outlier score": "How far a row is from the rows that are nearest to it, in units of what is usual.",
    "votes": "The share of the members' votes, or the probability, that a row has for each cluster.",
    "direction": "The embedding, turned so that its first direction has the largest variance. The share is that of "
    "the embedding's variance; the features named are those that go with it most, by correlation.",
    "layer": "Nested clusterings of the consensus: coarser ones join its clusters, finer ones split them where its "
    "members agree on a split.",
}


def term(word: str, text: str | None = None) -> str:
    """A word that says what it means: as a hint, and behind a link."""
    anchor, shown = _anchor(word), escape(text or word)
    return f'<a class="term" href="#{anchor}" title="{escape(WORDS[word])}">{shown}</a>'


def _anchor(word: str) -> str:
    return "word-" + word.replace(" ", "-")


def glossary() -> str:
    """All words with their meaning."""
    return "".join(
        f'<div id="{_anchor(word)}"><dt>{escape(word)}</dt><dd>{escape(meaning)}</dd></div>'
        for word, meaning in WORDS.items()
    )


def table(head: Iterable[str], rows: Iterable[Iterable[str]], *, kind: str = "") -> str:
    """A table of cells that are HTML already, each row headed by its first, in a box that scrolls sideways."""
    top = "".join(cell if cell.startswith("<th") else f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join("<tr>" + "".join(_cells(row)) + "</tr>" for row in rows)
    attributes = f' class="{kind}"' if kind else ""
    return (
        f'<div class="wide" tabindex="0"><table{attributes}><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cells(row: Iterable[str]) -> Iterable[str]:
    for place, cell in enumerate(row):
        if cell.startswith("<td"):
            yield cell
        else:
            yield f'<th scope="row">{cell}</th>' if place == 0 else f"<td>{cell}</td>"


def number_cell(value: float | None, text: str) -> str:
    """A cell that sorts by a number."""
    return f'<td class="number" data-sort="{"" if value is None else value}">{text}</td>'


def section(title: str, body: str, *, name: str = "", kind: str = "") -> str:
    """A part of the page with a heading; nothing where there is nothing to show."""
    if not body:
        return ""
    attributes = (f' id="{name}"' if name else "") + (f' class="{kind}"' if kind else "")
    return f'<section{attributes} aria-label="{escape(title)}"><h2>{escape(title)}</h2>{body}</section>\n'


def swatch(code: int) -> str:
    """Colour and shape of a cluster, as on the map."""
    shape = code // len(PALETTE) % SHAPES
    return f'<i class="swatch s{shape}" style="background:{_LOOKS[code % len(_LOOKS)]}"></i>'


def feature_link(name: str, index: int | None) -> str:
    """A feature's name, which colours the map where the page carries it."""
    shown = escape(name).replace("_", "_<wbr>")
    return shown if index is None else f'<a href="#map" data-feature="{index}">{shown}</a>'


def alike(name: str, others: Sequence[str]) -> str:
    """Features that say the same as one; levels of its own column by the level alone."""
    if not others:
        return ""
    column, sign, _ = name.partition(" = ")
    names = [other.removeprefix(column + sign) if sign else other for other in others]
    listed = ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
    return f' <small title="{escape(", ".join(names))}">as {escape(listed)}</small>'


def short(value: float) -> str:
    """A number in few digits."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"


def shown(value: object) -> str:
    """A value of any kind as text that is safe in HTML."""
    if isinstance(value, dict):
        return ", ".join(f"{shown(key)}: {shown(one)}" for key, one in value.items())
    return escape(f"{value:.4g}" if isinstance(value, float) else str(value))
