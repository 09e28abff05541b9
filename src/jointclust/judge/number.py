"""How many clusters there are: the number whose partition the judge expects to agree best with the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.exceptions import CollapseWarning, tell
from jointclust.judge.evidence import MEASURES, Evidence
from jointclust.judge.judge import Judge, features_of_numbers, numbers_for, the_judge
from jointclust.judge.words import Facts, comparison, speaks_for
from jointclust.types import Float

# Fewest rows in which clusters are counted; most rows and fewest per cluster by which the default range ends.
FEWEST_ROWS, _MOST_ROWS, _ROWS_PER_CLUSTER, _FEW_CLUSTERS = 32, 1_500, 8, 12
# Numbers within this factor are about the same; so many suggestions; numbers of a range that are all looked at.
_SAME, _SUGGESTIONS, _ALL = 1.1, 5, 12
# Numbers next to the best on either side that are looked at, where the grid leaves some out.
_BESIDE = 2
# Less confidence than this is doubt; another number is a candidate if its score is less by at most this.
DOUBTFUL, _CLOSE = 0.5, 0.1

NOTHING = "all rows are equal, or only one cluster is allowed"

Numbers = tuple[int, int] | Sequence[int]
# Called with the number of evaluated numbers of clusters, and of those known to follow.
Report = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True, eq=False)
class ClusterNumber:
    """The number of clusters in the data, how sure it is, and the evidence.

    Attributes
    ----------
    n_clusters : int
        The number; 1 when no structure was found and no range was given.
    table : dict of lists
        One row per number of clusters that was looked at, ready for ``pandas.DataFrame``: n_clusters, agreement (the
        predicted one), and the measures of its partition that the prediction rests on.
    suggestions : list of int
        The numbers of highest predicted agreement, best first, at most five.
    scores : dict of int to float
        The agreement with the truth (adjusted Rand index, 0 to 1) that is predicted for each number.
    confidence : float
        The probability that the number is within a factor of 1.5 of the truth; of 1, that there are no clusters.
    has_structure : bool
        Whether there are any clusters.
    at_edge : bool
        Whether the number is an end of the range, so that numbers beyond it might be better.
    why : str
        What decides between the number and the second best, as a sentence.
    reasons : dict of int to str
        What speaks for each suggestion, as a phrase: what is better with it than with the best one, or, with that, than
        with the second.
    """

    n_clusters: int
    table: dict[str, list[Any]]
    suggestions: list[int]
    scores: dict[int, float]
    confidence: float
    has_structure: bool
    at_edge: bool = False
    why: str = ""
    reasons: dict[int, str] = field(default_factory=dict)

    @property
    def ranked(self) -> list[int]:
        """The suggestions that have a score, the highest first."""
        return sorted((one for one in self.suggestions if one in self.scores), key=lambda one: -self.scores[one])

    @property
    def others(self) -> list[int]:
        """The other suggestions, best first."""
        return [number for number in self.suggestions if number not in (1, self.n_clusters)]

    @property
    def verdict(self) -> str:
        """The result as a sentence."""
        if self.n_clusters == 1:
            sure = "" if np.isnan(self.confidence) else f" (probability {self.confidence:.0%})"
            other = f"; {self.others[0]} is the best number" if self.others else ""
            return f"no cluster structure found{sure}{other}"
        sure = f" (probability {self.confidence:.0%} that this is about right)"
        close = [one for one in self.others if self.scores[one] > self.scores.get(self.n_clusters, 1.0) - _CLOSE]
        other = f"; {close[0]} is the other candidate" if close else ""
        doubt = "" if self.has_structure else "; no cluster structure found, so any number is arbitrary"
        edge = "; an end of the range, so numbers beyond it might be better" if self.at_edge else ""
        return f"{self.n_clusters} clusters{sure}{other}{edge}{doubt}"

    def warn(self) -> None:
        """Warn when there is no structure, or when the number is uncertain."""
        if not self.has_structure:
            tell(
                "No cluster structure found: the rows look like rows without clusters. Either there are none, so that "
                "any partition is arbitrary; or they overlap, or have too few rows. If you know that there are "
                "clusters, give n_clusters.",
                CollapseWarning,
            )
        elif self.confidence < DOUBTFUL or self.at_edge:
            listed = ", ".join(map(str, self.suggestions[:3]))
            tell(
                f"The number of clusters is uncertain: {self.verdict}. Look at {listed}, or give n_clusters.",
                UserWarning,
            )

    def plot(self, ax: Any = None) -> Any:
        """Draw the predicted agreement by number of clusters.

        Where all rows are equal there is no curve.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new ones by default.

        Returns
        -------
        ax : matplotlib axes
            With the curve.
        """
        import matplotlib.pyplot as plt

        if ax is None:
            ax = plt.subplots(figsize=(6, 3.8), layout="constrained")[1]
        numbers = sorted(self.scores)
        ax.plot(numbers, [self.scores[one] for one in numbers], "o-", color="#0072B2", markersize=4)
        ax.axvline(self.n_clusters, color="#D55E00", linewidth=1)
        ax.set(xscale="log", xlabel="number of clusters", ylabel="predicted agreement", title=self.verdict)
        ticks = sorted({*numbers[:: max(1, len(numbers) - 1)], *self.suggestions})
        ax.set_xticks(ticks, labels=map(str, ticks))
        ax.minorticks_off()
        return ax


def nothing_to_count(allowed: list[int]) -> ClusterNumber:
    """The answer where all rows are equal, or only one cluster is allowed."""
    return ClusterNumber(allowed[0], {}, allowed[:1], {}, float(allowed[0] == 1), False, why=NOTHING)


def counted(
    evidence: Evidence, allowed: list[int], report: Report = silent, judge: Judge | None = None
) -> ClusterNumber:
    """The allowed number that the judge prefers; 1 where it is allowed and there hardly is anything."""
    judge = the_judge() if judge is None else judge
    several = np.array([number for number in allowed if number > 1])
    if several.size == 0:
        return nothing_to_count(allowed)
    numbers = first_numbers(several, evidence.n_rows)
    features = features_of_numbers(evidence, numbers, report)
    scores = judge.scores(features)
    more = beside(several, numbers, int(np.argmax(scores)))
    if more:
        features = np.vstack([features, features_of_numbers(evidence, more)])
        numbers = [*numbers, *more]
        scores = judge.scores(features)
    order = np.argsort(numbers)
    found, scores, features = np.array(numbers)[order], scores[order], features[order]
    anything = judge.p_anything(evidence)
    ranked = distinct(found[np.argsort(-scores, kind="stable")])
    best, has_structure = int(np.argmax(scores)), anything >= judge.limits[0]
    table = {"n_clusters": found.tolist(), "agreement": scores.tolist()}
    table |= {name: features[:, place].tolist() for place, name in enumerate(MEASURES)}
    by_number = dict(zip(found.tolist(), scores.tolist(), strict=True))
    against = dict.fromkeys(ranked[:_SUGGESTIONS], ranked[0]) | {ranked[0]: ranked[1]} if len(ranked) > 1 else {}
    phrases = {one: reason_for(judge, features, found, one, other) for one, other in against.items()}
    if allowed[0] == 1 and not has_structure:
        why = f"rows without clusters look like these: clusters have a probability of {anything:.0%}"
        return ClusterNumber(1, table, [1, *ranked][:_SUGGESTIONS], by_number, 1 - anything, False, False, why, phrases)
    number = int(found[best])
    confidence = judge.confidence(scores, found, best, anything)
    # Beyond 2 there is nothing.
    at_edge = number > 2 and len(allowed) > 1 and number in (allowed[0], allowed[-1])
    why = f"{number}" if len(ranked) == 1 else reasons(judge, features, found, best, ranked[1])
    suggestions = ranked[:_SUGGESTIONS]
    return ClusterNumber(number, table, suggestions, by_number, confidence, has_structure, at_edge, why, phrases)


def first_numbers(allowed: NDArray[np.intp], n_rows: int) -> list[int]:
    """The numbers to look at first: all of few, else those of the grid and the ends."""
    if allowed.size <= _ALL:
        return allowed.tolist()
    grid = [number for number in numbers_for(n_rows) if number in set(allowed.tolist())]
    ends = [int(allowed[0])] + ([int(allowed[-1])] if not grid or allowed[-1] <= 2 * grid[-1] else [])
    return sorted({*grid, *ends})


def beside(allowed: NDArray[np.intp], numbers: list[int], best: int) -> list[int]:
    """Allowed numbers between the best one and those next to it that have not been looked at."""
    place = sorted(numbers).index(numbers[best])
    ordered = sorted(numbers)
    low, high = ordered[max(place - 1, 0)], ordered[min(place + 1, len(ordered) - 1)]
    inside = allowed[(allowed > low) & (allowed < high) & ~np.isin(allowed, numbers)]
    below, above = inside[inside < numbers[best]], inside[inside > numbers[best]]
    return [*_spread(below), *_spread(above)]


def _spread(numbers: NDArray[np.intp]) -> list[int]:
    """Some numbers, evenly spread."""
    places = np.linspace(0, numbers.size - 1, min(_BESIDE, numbers.size)).round().astype(int)
    return np.unique(numbers[places]).tolist() if numbers.size else []


def reasons(judge: Judge, features: Float, numbers: NDArray[np.intp], best: int, second: int) -> str:
    """What decides between two numbers: the measures without which the first would lose most."""
    mine, other = features[best], features[int(np.flatnonzero(numbers == second)[0])]
    return f"{numbers[best]} rather than {second}: " + comparison(
        _facts(mine), _facts(other), _loss(judge, mine, other), second
    )


def reason_for(judge: Judge, features: Float, numbers: NDArray[np.intp], number: int, other: int) -> str:
    """What speaks for a number, beside another."""
    mine, theirs = (features[int(np.flatnonzero(numbers == one)[0])] for one in (number, other))
    return speaks_for(_facts(mine), _facts(theirs), _loss(judge, mine, theirs), other)


def _facts(features: Float) -> Facts:
    return Facts(features[: len(MEASURES)])


def _loss(judge: Judge, own: Float, other: Float) -> Callable[[list[int]], float]:
    """What a number would lose if some of its measures were those of another number."""

    def loss(places: list[int]) -> float:
        mixed = own.copy()
        every = [place + shift * len(MEASURES) for place in places for shift in range(4)]
        mixed[every] = other[every]
        return float(judge.choice(own[None])[0] - judge.choice(mixed[None])[0])

    return loss


def distinct(numbers: NDArray[np.intp]) -> list[int]:
    """The numbers that differ from all before them."""
    kept: list[int] = []
    for number in numbers.tolist():
        if all(max(number / other, other / number) > _SAME for other in kept):
            kept.append(number)
    return kept


def compared_with(number: ClusterNumber, before: int) -> ClusterNumber:
    """The same with the number of an earlier model, where the rows show that nearly as well.

    Rows may show clusters and parts of them: different numbers on different days.
    """
    scores = number.scores
    if not number.has_structure or before not in scores or number.n_clusters == before:
        return number
    if scores[before] < scores[number.n_clusters] - _CLOSE:
        return number
    suggestions = [before, *(one for one in number.suggestions if one != before)][:_SUGGESTIONS]
    why = f"{before} clusters compare best with those of the earlier model; {number.n_clusters} is another view"
    return replace(number, n_clusters=before, suggestions=suggestions, at_edge=False, why=why)


def candidates(among: Numbers | None, n_rows: int) -> list[int]:
    """The numbers of clusters to choose among: the ends of a range, or each of a list."""
    if among is None:
        return list(range(1, max(min(n_rows, _MOST_ROWS) // _ROWS_PER_CLUSTER, _FEW_CLUSTERS) + 1))
    if isinstance(among, str) or not isinstance(among, Iterable):
        raise TypeError(f"n_clusters={among!r} is no range: give (fewest, most), such as (2, 8), or a list of numbers.")
    numbers = list(among)
    if any(not isinstance(number, int | np.integer) for number in numbers):
        raise TypeError(f"n_clusters={among!r} must hold whole numbers: give a range, (2, 8), or a list, [2, 4, 8].")
    numbers = [int(number) for number in numbers]
    if len(numbers) == n_rows and len(set(numbers)) < n_rows:
        raise TypeError(
            "n_clusters holds a number for each row: it takes a number of clusters, or those to choose among. Classes "
            "that are known of some rows are known_labels of JointConsensus.fit."
        )
    if not numbers:
        raise ValueError("n_clusters is an empty list: give the numbers to choose among, or a range such as (2, 8).")
    if isinstance(among, tuple):
        if len(numbers) != 2 or numbers[0] > numbers[1]:
            raise ValueError(f"n_clusters={among} is no range: give (fewest, most), such as (2, 8).")
        numbers = list(range(numbers[0], numbers[1] + 1))
    if not (min(numbers) >= 1 and max(numbers) <= n_rows):
        raise ValueError(f"n_clusters={among} must lie between 1 and the number of rows ({n_rows}).")
    return sorted(set(numbers))
