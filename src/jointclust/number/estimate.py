"""How many clusters there are, if any: the number at which members of different kinds agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from jointclust.consensus.remote import RemoteRows
from jointclust.consensus.views import MOST_ROWS, ViewedData
from jointclust.exceptions import CollapseWarning, tell
from jointclust.number.agreement_curve import Curve, Part
from jointclust.number.unimodality import FEWEST_ROWS, Valleys, n_between_valleys
from jointclust.rows import is_elsewhere, loaded, threads
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float

__all__ = ["ClusterNumber", "number_of_clusters"]

# Parts of the rows that are looked at, the share of the rows in each, and the most rows.
_REPEATS, _PART, _PART_ROWS = 10, 0.8, 1_500
# Draws without clusters, by how many standard deviations of theirs the members have to agree more than on them, and by
# what share of the rest.
_DRAWS, _DEVIATIONS, _EXCESS = 8, 2.0, 0.25
# Rank of a randomised decomposition.
_RANK = 500
# Directions of a view: the share of its variance that they carry, and the most of them.
_VARIANCE, _DIRECTIONS = 0.95, 200
# Rows of a part that a cluster should have, and clusters that are looked for however few they are.
_ROWS_PER_CLUSTER, _FEW_CLUSTERS = 8, 12
# Splits of the rows that agree so far on the groups between valleys show that there are some, and how many.
_SOME, _SURE = 0.5, 0.85
# Members that agree so far, in some view, see more than the valleys do.
_AGREED = 0.75
# Numbers within this factor of each other are the same answer.
_SAME = 1.1
# Suggestions are further apart than this factor.
_APART, _SUGGESTIONS = 1.3, 5
_DOUBTFUL = 0.5
# A number of about as much agreement is another candidate; so is one that so many repeats give.
_CLOSE, _SEVERAL = 0.1, 2

Numbers = tuple[int, int] | Sequence[int]
# Is told how many numbers of clusters have been looked at, and how many there will be.
Report = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """Say nothing."""


@dataclass(frozen=True, eq=False)
class ClusterNumber:
    """The number of clusters that the data show, how sure that is, and why.

    Attributes
    ----------
    n_clusters : int
        The number; 1 when no structure was found and no range was asked for.
    table : dict of lists
        One row per number of clusters that was looked at, ready for ``pandas.DataFrame``: n_clusters, agreement (mean
        over the repeats), repeats (list of the agreement in each).
    suggestions : list of int
        Numbers at which the agreement has a peak, best first, and then others of most agreement, at most five; the
        second is what several repeats give instead, if any.
    scores : dict of int to float
        The agreement by number of clusters.
    confidence : float
        Share of the repeats that give ``n_clusters`` (up to a tenth of it), or of those that show clusters if fewer do.
    has_structure : bool
        Whether there are any clusters.
    n_repeats : int
        Ten, each on 80% of the rows; three, of halves, where these are surer of groups between valleys.
    """

    n_clusters: int
    table: dict[str, list[Any]]
    suggestions: list[int]
    scores: dict[int, float]
    confidence: float
    has_structure: bool
    n_repeats: int = 0

    @property
    def verdict(self) -> str:
        """The result in words."""
        others = [number for number in self.suggestions if number != self.n_clusters]
        sure = f" (in {round(self.confidence * self.n_repeats)} of {self.n_repeats} repeats)" if self.n_repeats else ""
        if self.n_clusters == 1:
            return f"no cluster structure found{sure}" + (f"; {others[0]} clusters fit best" if others else "")
        close = [number for number in others if self.scores[number] > self.scores[self.n_clusters] - _CLOSE]
        other = f"; {close[0]} is the other candidate" if close else ""
        doubt = "" if self.has_structure else "; no cluster structure found, so any number is arbitrary"
        return f"{self.n_clusters} clusters{sure}{other}{doubt}"

    def warn(self) -> None:
        """Tell the user when there is no structure, or when the number is uncertain."""
        if not self.has_structure:
            tell(
                "No cluster structure found: members of different kinds agree no more than on rows without clusters, "
                "and no two groups of rows are separated by a valley. Either there are no clusters, and any would be "
                "arbitrary cuts; or they overlap, or have too few rows to show. If you know that there are clusters, "
                "give n_clusters.",
                CollapseWarning,
            )
        elif self.confidence < _DOUBTFUL:
            tell(
                f"The number of clusters is uncertain: {self.verdict}. Look at the scores of "
                f"{', '.join(map(str, self.suggestions))}, or give n_clusters.",
                UserWarning,
            )

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve: the agreement by number of clusters, its mean and its range over the repeats.

        Where all rows are equal there is none, and the axes are empty.

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
        if "repeats" in self.table:
            numbers, spread = self.table["n_clusters"], np.array(self.table["repeats"])
            ax.fill_between(numbers, spread.min(axis=1), spread.max(axis=1), color="#0072B2", alpha=0.15, linewidth=0)
            ax.plot(numbers, self.table["agreement"], "o-", color="#0072B2", markersize=4)
        ax.axvline(self.n_clusters, color="#D55E00", linewidth=1)
        ax.set(xscale="log", xlabel="number of clusters", ylabel="agreement", title=self.verdict)
        ticks = sorted({*self.table.get("n_clusters", [1])[:: max(1, len(self.scores) - 1)], *self.suggestions})
        ax.set_xticks(ticks, labels=map(str, ticks))
        ax.minorticks_off()
        return ax


def number_of_clusters(
    X: ArrayLike | Coordinates,
    *,
    n_clusters: Numbers | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> ClusterNumber:
    r"""The number of clusters at which members of different kinds agree most, if there are clusters at all.

    .. math:: \max_k \; f(k) - \tfrac1{20} \left( 2 \min(10 (1 - f(k)), 1) - 1 \right) \log k, \quad
              f(k) = \min \left( \tfrac{a(k)}{0.975}, 1 \right), \quad
              a(k) = \mathrm{mean}_v \, \tfrac12 \left( \mathrm{ARI}(G_v, W_v) + \mathrm{ARI}(G_v, L_v) \right)

    ======== =============================================================================
    symbol   meaning
    ======== =============================================================================
    G_v(k)   spectral clustering of the neighbour graph in view v, k clusters
    W_v(k)   Ward's tree in view v, cut into k clusters
    L_v(k)   LDA k-means in view v, k clusters
    ARI      adjusted Rand index, in which a cluster counts as the root of its size
    ======== =============================================================================

    The graph has nothing in common with the other members but the rows: what both find is there. Of numbers that
    agree about as well the smaller one is taken; where all agree, the larger. The curve is the mean over ten parts of
    the rows, 80% each, in a coarse grid that refines itself about its peaks.

    There is structure where the members agree by far more than on Gaussian rows of the same variances, or where valleys
    separate groups of rows, the same ones on other halves of them: the rows about the middle between two groups are
    fewer than a unimodal density could have, on rows that did not form them. Where three splits of the rows find the
    same groups between valleys, and more of them than the curve or where members hardly agree, their number is taken:
    directions of large variance without clusters mislead the members.

    The answer is a function of the data: neither chance nor the order of the rows has a say. What other rows might have
    said is what the repeats are for.

    Parameters
    ----------
    X : array, sparse matrix, data frame, list of str, AnnData, or Coordinates
        The data, as :class:`JointConsensus` takes them, in the views that suit them; or the coordinates of rows, as
        they are, from :func:`jointclust.decompose`. At least 32 rows; of more than 10,000 a sample is used.
    n_clusters : (int, int) or list of int, default=None
        The range to search, ends included, or the numbers to choose among; None is from 1 to a tenth of the rows (12
        at least, 187 at most).
    random_state : int, RandomState or None, default=None
        Seed of the sample, where there are more than 10,000 rows; None is always the same.

    Returns
    -------
    result : ClusterNumber
        ``n_clusters``, ``suggestions`` best first, ``scores``, ``confidence``, ``has_structure``, the ``verdict`` in
        words, a ``table`` with the evidence, and ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=500, n_features=50, n_clusters=5, random_state=1)
    >>> jc.number_of_clusters(X, n_clusters=(2, 12)).n_clusters
    5
    >>> noise = np.random.RandomState(0).standard_normal((200, 20))
    >>> jc.number_of_clusters(noise).has_structure
    False
    """
    return counted_in(X, n_clusters, check_random_state(0 if random_state is None else random_state))


def counted_in(
    X: ArrayLike | Coordinates, among: Numbers | None, rng: np.random.RandomState, report: Report = silent
) -> ClusterNumber:
    """The number of clusters of data as they come, or of coordinates."""
    if isinstance(X, Coordinates):
        if X.rows.is_remote or X.rows.device is not None:
            raise TypeError("number_of_clusters takes coordinates of rows in memory: pass the rows themselves.")
        return count(ViewedData.of_coordinates(X), X.present, among, report)
    X = loaded(X)
    if is_elsewhere(X):
        X = RemoteRows.of(X, None).sample(MOST_ROWS, rng)[0]
    viewed = ViewedData.of(X, "auto", None, _RANK)
    return count(viewed, viewed.sample(rng), among, report)


def count(
    viewed: ViewedData, sample: NDArray[np.intp], among: Numbers | None, report: Report = silent
) -> ClusterNumber:
    """The number of clusters of some of the rows, whose coordinates are kept."""
    if sample.size < FEWEST_ROWS:
        raise ValueError(
            f"{sample.size} rows are too few to choose the number of clusters: the parts that form and test them need "
            f"{FEWEST_ROWS}. Give n_clusters."
        )
    wanted = candidates(among, sample.size)
    coordinates = [viewed.coordinates(number, sample) for number in range(len(viewed))]
    varied = [one for one in coordinates if not one.is_constant]
    if not varied or wanted == [1]:
        return ClusterNumber(wanted[0], {}, wanted[:1], {}, float(wanted[0] == 1), False)
    views = [directions_of(one) for one in varied]
    order = canonical_order(views[0])
    views = [Z[order] for Z in views]
    several = np.array([number for number in wanted if number > 1])
    with threads.suited_to(views[0].shape[1]):
        # How many clusters there are is no matter of luck: the repeats show what other rows would have said.
        rng = np.random.RandomState(0)
        curve = curve_of(views, several, rng, report)
        number = int(curve.numbers[curve.merit.argmax()])
        beyond = beyond_gaussian(curve, views, number, rng)
        valleys = n_between_valleys(varied[0], varied[0].present[order], rng, number)
        apart = valleys.n_clusters > 1 and valleys.agreement > _SOME
        seen = valleys if apart and valleys.agreement > _SURE and valleys.n_clusters in wanted else None
        curve.look_at([] if seen is None else [seen.n_clusters])
    return chosen_on(curve, seen, beyond, apart=apart, may_be_one=wanted[0] == 1)


def directions_of(coordinates: Coordinates) -> Float:
    """The rows that have weight in their leading directions."""
    kept = coordinates.keep(_VARIANCE)
    return kept.leading(min(kept.rank, _DIRECTIONS))[coordinates.present].astype(np.float64)


def canonical_order(Z: Float) -> NDArray[np.intp]:
    """Rows by their distance from the mean, then by their coordinates, up to rounding: whatever order they came in."""
    length = np.einsum("ij,ij->i", Z, Z)
    unit = 1e-9 * max(float(length.max()), np.finfo(float).tiny)
    return np.lexsort([*np.round(Z[:, :3].T / np.sqrt(unit)), np.round(length / unit)])


def curve_of(views: list[Float], wanted: NDArray[np.intp], rng: np.random.RandomState, report: Report) -> Curve:
    """The agreement on parts of the rows."""
    n = len(views[0])
    parts = [np.sort(rng.choice(n, part_size(n), replace=False)) for _ in range(_REPEATS)]
    repeats = [[Part(Z[part], seed) for Z in views] for seed, part in enumerate(parts)]
    return Curve(repeats, wanted, report).look()


def part_size(n: int) -> int:
    """Rows of a part."""
    return min(int(_PART * n), _PART_ROWS)


def beyond_gaussian(curve: Curve, views: list[Float], number: int, rng: np.random.RandomState) -> Float:
    """By how much the members agree more than they may on Gaussian rows, in each repeat, in the view that shows it."""
    limits = []
    for Z in views:
        spread, drawn = Z.std(axis=0), []
        for seed in range(_DRAWS):
            rows = rng.standard_normal((part_size(len(Z)), spread.size)) * spread
            drawn.append(Part(rows, seed).look_up_to(number).agreement(number))
        usual = float(np.mean(drawn))
        limits.append(usual + max(_DEVIATIONS * float(np.std(drawn, ddof=1)), _EXCESS * (1.0 - usual)))
    beyond = curve.found[number] - limits
    return beyond[:, beyond.mean(axis=0).argmax()]


def chosen_on(curve: Curve, seen: Valleys | None, beyond: Float, *, apart: bool, may_be_one: bool) -> ClusterNumber:
    """The best number on a curve, the others after it, and how many of the repeats give it.

    The number that valleys show goes first where it is about the same or larger, or members hardly agree: what is apart
    is apart, also where the members are misled.
    """
    numbers, agreement = curve.numbers, curve.agreement
    suggestions: list[int] = []
    for index in [*curve.peaks(), *np.argsort(-curve.merit, kind="stable")]:
        number = int(numbers[index])
        if all(max(number / other, other / number) > _APART for other in suggestions):
            suggestions.append(number)
    best = numbers[curve.merits.argmax(axis=0)]
    first = suggestions[0]
    hardly = curve.found[first].mean(axis=0).max() < _AGREED
    if seen is not None and (seen.n_clusters > first or same(seen.n_clusters, first) or hardly):
        best = max(best, np.array(seen.numbers), key=lambda repeats: share(repeats, seen.n_clusters))
        others = [number for number in suggestions if not same(number, seen.n_clusters)]
        suggestions = [seen.n_clusters, *others]
    elsewhere = [int(number) for number in best if not same(number, suggestions[0])]
    rival = max(elsewhere, key=elsewhere.count, default=0)
    if elsewhere.count(rival) >= _SEVERAL:
        suggestions = [suggestions[0], rival, *(number for number in suggestions[1:] if number != rival)]
    structured = 1.0 if apart else float(np.mean(beyond > 0))
    has_structure, confidence = structured >= _DOUBTFUL, share(best, suggestions[0])
    if may_be_one:
        confidence = min(confidence, structured) if has_structure else 1.0 - structured
        suggestions = suggestions if has_structure else [1, *suggestions]
    table = {
        "n_clusters": numbers.tolist(),
        "agreement": agreement.mean(axis=1).tolist(),
        "repeats": agreement.tolist(),
    }
    scores = dict(zip(table["n_clusters"], table["agreement"], strict=True))
    return ClusterNumber(
        suggestions[0], table, suggestions[:_SUGGESTIONS], scores, confidence, has_structure, best.size
    )


def same(one: int, other: int) -> bool:
    """Whether two numbers are the same answer."""
    return max(one / other, other / one) <= _SAME


def share(repeats: NDArray, answer: int) -> float:
    """Share of the repeats that give an answer."""
    return float(np.mean([same(number, answer) for number in repeats]))


def candidates(among: Numbers | None, n_rows: int) -> list[int]:
    """The numbers of clusters to choose among: the ends of a range, or each of a list."""
    if among is None:
        most = min(int(_PART * n_rows), _PART_ROWS) // _ROWS_PER_CLUSTER
        return list(range(1, max(most, _FEW_CLUSTERS) + 1))
    if isinstance(among, str) or not isinstance(among, Iterable):
        raise TypeError(f"n_clusters={among!r} is no range: give (fewest, most), such as (2, 8), or a list of numbers.")
    numbers = list(among)
    if any(not isinstance(number, int | np.integer) for number in numbers):
        raise TypeError(f"n_clusters={among!r} must hold whole numbers: give a range, (2, 8), or a list, [2, 4, 8].")
    numbers = [int(number) for number in numbers]
    if not numbers:
        raise ValueError("n_clusters is an empty list: give the numbers to choose among, or a range such as (2, 8).")
    if isinstance(among, tuple):
        if len(numbers) != 2 or numbers[0] > numbers[1]:
            raise ValueError(f"n_clusters={among} is no range: give (fewest, most), such as (2, 8).")
        numbers = list(range(numbers[0], numbers[1] + 1))
    if not (min(numbers) >= 1 and max(numbers) <= n_rows):
        raise ValueError(f"n_clusters={among} must lie between 1 and the number of rows ({n_rows}).")
    return sorted(set(numbers))
