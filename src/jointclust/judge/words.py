"""What measures say, in words: one phrase for each, wherever it is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from jointclust.judge.evidence import MEASURES
from jointclust.types import Float


class Facts:
    """The measures of a partition by name."""

    def __init__(self, measures: Float):
        self.measures = measures

    def __getitem__(self, name: str) -> float:
        return float(self.measures[MEASURES.index(name)])


class Theme(NamedTuple):
    """Measures that say the same, the one that is quoted, and the sentences: for a partition, and against another."""

    quoted: str
    better: str
    worse: str
    measures: tuple[str, ...]


THEMES = (
    Theme(
        "halves find it",
        "two halves of the rows find the same clusters better",
        "two halves of the rows find the same clusters no better",
        ("halves agree, k-means", "halves agree, LDA k-means", "halves find it", "half tells the other"),
    ),
    Theme(
        "agreement with communities",
        "the clusters are more like the groups of rows that are alike",
        "finer or coarser groups of rows that are alike are left apart or joined",
        (
            *(name for name in MEASURES if name.startswith("agreement with communities")),
            *(name for name in MEASURES if name.startswith("log number per community")),
            "links inside",
            "least links inside",
        ),
    ),
    Theme(
        "median valley",
        "fewer rows lie between the clusters",
        "as many rows lie between the clusters",
        ("least valley", "median valley", "deep valleys", "least distance", "median distance"),
    ),
    Theme(
        "agreement with LDA k-means",
        "different methods find the same clusters more often",
        "different methods find the same clusters no more often",
        (
            "agreement with k-means",
            "agreement with LDA k-means",
            "agreement with joined communities",
            "agreement with own spreads",
            "agreement with parts",
        ),
    ),
    Theme(
        "views tell it",
        "all views of the data show the clusters",
        "the views of the data differ",
        ("views tell it", "least telling view"),
    ),
    Theme(
        "silhouette",
        "rows are nearer to their own cluster than to others",
        "rows are no nearer to their own cluster",
        ("silhouette", "explained", "explained beyond the null", "mixture beyond one"),
    ),
    Theme(
        "smallest share",
        "no cluster is a mere handful of rows",
        "the sizes of the clusters speak for it",
        ("smallest share", "share of the smaller half", "tiny clusters", "evenness", "log number"),
    ),
)


def comparison(answer: Facts, other: Facts, loss: Callable[[list[int]], float], number: int | str = "the other") -> str:
    """The theme without which an answer would lose most against another number, with its measure of both."""
    theme = max(THEMES, key=lambda one: loss(_places(one)))
    mine, theirs = answer[theme.quoted], other[theme.quoted]
    return _quoted(theme, mine, theirs, number) if mine >= theirs else theme.worse


def speaks_for(candidate: Facts, answer: Facts, loss: Callable[[list[int]], float], number: int) -> str:
    """Of what is better with a candidate than with the answer, that without which it would lose most."""
    better = [one for one in THEMES if candidate[one.quoted] > answer[one.quoted]]
    if not better:
        return f"nothing that is better than with {number}"
    theme = max(better, key=lambda one: loss(_places(one)))
    return _quoted(theme, candidate[theme.quoted], answer[theme.quoted], number)


def _places(theme: Theme) -> list[int]:
    return [MEASURES.index(name) for name in theme.measures]


def _quoted(theme: Theme, mine: float, theirs: float, number: int | str) -> str:
    return f"{theme.better} ({mine:.2f}; {theirs:.2f} with {number})"
