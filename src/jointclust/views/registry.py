"""The views of the library, each a line.

What :func:`describe` proposes, the names that ``views`` takes, the reasons that a model gives, the command line's
``--scale``, the contract tests of views, what :func:`load` trusts and the tables of the documentation are derived from
:data:`VIEWS`. A new view is a file here and a line below. Nothing is imported until a class is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jointclust.registry import Entry


@dataclass(frozen=True)
class View(Entry):
    """A view: a transformer of rows of numbers."""

    reason: str  # what it is good for, as half of a sentence
    suits: Mapping[str, int] = field(default_factory=dict)  # kinds of data, and its place among the views of each
    scale: str | None = None  # its name on the command line; None is its name with hyphens for spaces


VIEWS: dict[str, View] = {
    view.name: view
    for view in (
        View(
            "as is",
            "jointclust.views.scaling:AsIs",
            "the values as they are, as their scale may mean something",
            {"table": 3, "mixed": 3, "features": 1, "unit rows": 1},
            scale="none",
        ),
        View(
            "standardised",
            "jointclust.views.scaling:Standardised",
            "each column on the same scale, so that units do not matter",
            {"table": 1, "mixed": 1},
            scale="standard",
        ),
        View(
            "rank-normal",
            "jointclust.views.scaling:RankNormal",
            "each column by the order of its values, so that neither units nor outliers matter",
            {"table": 2, "mixed": 2, "features": 3},
        ),
        View(
            "numbers",
            "jointclust.views.scaling:Numbers",
            "what the numbers show without the categories",
            {"mixed": 4},
        ),
        View(
            "categories",
            "jointclust.views.scaling:Categories",
            "what the categories show without the numbers",
            {"mixed": 5},
        ),
        View(
            "unit rows",
            "jointclust.views.scaling:UnitRows",
            "only the direction of a row from the mean counts, not how far it is",
            {"features": 2, "unit rows": 2},
        ),
        View(
            "tf-idf",
            "jointclust.views.counts:TermWeights",
            "rare words say more than frequent ones, and the length of a row says nothing",
            scale="tfidf",
        ),
        View(
            "topics",
            "jointclust.views.counts:Topics",
            "words that occur together count as one direction, what all rows share is left out",
            {"counts": 1, "documents": 1},
        ),
        View(
            "log",
            "jointclust.views.counts:LogCounts",
            "rows of different totals become comparable, and large counts do not decide alone",
            {"counts": 2},
        ),
        View(
            "scaled genes",
            "jointclust.views.counts:ScaledGenes",
            "genes that few cells read count as much as those that all read",
        ),
    )
}
SCALES: dict[str, View] = {view.scale or view.name.replace(" ", "-"): view for view in VIEWS.values()}


def views_for(kind: str) -> list[str]:
    """Names of the views that suit a kind of data, the best first."""
    return sorted((name for name in VIEWS if kind in VIEWS[name].suits), key=lambda name: VIEWS[name].suits[kind])
