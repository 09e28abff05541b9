"""How many clusters there are, if any: the number at which members of different kinds agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from jointclust.choosing.curve import Curve, Pair
from jointclust.choosing.sights import Sights
from jointclust.choosing.valleys import FEWEST_ROWS, Valleys, n_between_valleys
from jointclust.exceptions import CollapseWarning, tell
from jointclust.rows import in_memory, some_rows, threads
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float

__all__ = ["ClusterNumber", "number_of_clusters"]

# Parts of the rows that are looked at, the share of the rows in each, and the most rows.
_REPEATS, _PART, _PART_ROWS = 10, 0.8, 1_500
_REFERENCES = 4
# Rows that a sample has where the rows are not in memory.
_MOST_ROWS = 5_000
# Rank of a randomised decomposition.
_RANK = 500
# Directions of a view: the share of its variance that they carry, and the most of them.
_VARIANCE, _DIRECTIONS = 0.95, 200
# Rows of a part that a cluster should have, and clusters that are looked for however few they are.
_ROWS_PER_CLUSTER, _FEW_CLUSTERS = 8, 12
# There is structure where members agree on so much of what rows without clusters do not: beside valleys, and without.
_EXCESS_WITH_VALLEYS, _EXCESS_ALONE = 0.2, 0.5
# Splits of the rows that agree so far on the groups between valleys have found the same.
_FULL = 0.9
# Numbers within this factor of each other are the same answer.
_SAME = 1.1
# Suggestions are further apart than this factor.
_APART, _SUGGESTIONS = 1.15, 5
_DOUBTFUL = 0.5

Numbers = tuple[int, int] | Sequence[int]


@dataclass(frozen=True, eq=False)
class ClusterNumber:
    """The number of clusters that the data show, how sure that is, and why.

    Attributes
    ----------
    n_clusters : int
        The number; 1 when no structure was found and no range was asked for.
    table : dict of lists
        One row per number of clusters that was looked at, ready for ``pandas.DataFrame``: n_clusters, agreement (mean
        over the repeats), without_clusters (what Gaussian rows of the same variances agree on), repeats (list of the
        agreement in each).
    suggestions : list of int
        Numbers at which the agreement has a peak, best first.
    scores : dict of int to float
        The agreement by number of clusters.
    confidence : float
        Share of the repeats that give ``n_clusters`` (up to a tenth of it).
    has_structure : bool
        Whether there are any clusters.
    n_repeats : int
        Ten, each on 80% of the rows; three, of halves, where valleys show more clusters than the curve.
    """

    n_clusters: int
    table: dict[str, list[Any]]
    suggestions: list[int]
    scores: dict[int, float]
    confidence: float
    has_structure: bool
    n_repeats: int = 0

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Results of 0.1 had a number and a table."""
        number = state["n_clusters"]
        before = {"suggestions": [number], "scores": {}, "confidence": float("nan")}
        before |= {"has_structure": number > 1, "n_repeats": 0}
        vars(self).update({**before, **state})

    @property
    def verdict(self) -> str:
        """The result in words."""
        others = [number for number in self.suggestions if number != self.n_clusters]
        if self.n_clusters == 1:
            return "no cluster structure found" + (f"; {others[0]} clusters fit best" if others else "")
        sure = f" (in {round(self.confidence * self.n_repeats)} of {self.n_repeats} repeats)" if self.n_repeats else ""
        other = f"; {others[0]} is the other candidate" if others else ""
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
        """Draw the curve: the agreement by number of clusters, and what rows without clusters agree on.

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
        numbers = self.table["n_clusters"]
        spread = np.array(self.table["repeats"])
        ax.fill_between(numbers, spread.min(axis=1), spread.max(axis=1), color="#0072B2", alpha=0.15, linewidth=0)
        ax.plot(numbers, self.table["agreement"], "o-", color="#0072B2", markersize=4, label="agreement")
        ax.plot(numbers, self.table["without_clusters"], "--", color="grey", label="of rows without clusters")
        ax.axvline(self.n_clusters, color="#D55E00", linewidth=1)
        ax.set(xscale="log", xlabel="number of clusters", ylabel="agreement", title=self.verdict)
        ax.set_xticks(self.suggestions, labels=map(str, self.suggestions), minor=False)
        ax.minorticks_off()
        ax.legend()
        return ax


def number_of_clusters(
    X: ArrayLike | Coordinates,
    *,
    n_clusters: Numbers | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> ClusterNumber:
    r"""The number of clusters at which members of different kinds agree most, if there are clusters at all.

    .. math:: \max_k \; a(k) - a_0(k) \min(10 (1 - a(k)), 1) - \tfrac1{20} \log k, \quad
              a(k) = \mathrm{median}_v \, \mathrm{ARI}(G_v(k), L_v(k))

    ======== =============================================================================
    symbol   meaning
    ======== =============================================================================
    G_v(k)   spectral clustering of the neighbour graph in view v, k clusters
    L_v(k)   LDA k-means in view v, k clusters
    ARI      adjusted Rand index
    a_0      the same for Gaussian rows with the variances of the data's directions
    ======== =============================================================================

    The two kinds of members have nothing in common but the rows: what both find is there. They agree on rows without
    clusters too, where these lie along a line: everybody finds the two halves, and that does not count. Of numbers that
    agree about as well the smaller one is taken; where all agree, the larger. The curve is the mean over ten parts of
    the rows, 80% each, in a coarse grid that refines itself about its peaks.

    There is structure where the members agree by far more than on Gaussian rows, or by some more and a valley
    separates groups of rows: the rows about the middle between two groups are fewer than a unimodal density could
    have, on rows that did not form them. Where three splits of the rows find the same groups between valleys, and more
    of them than the curve, their number is taken: directions of large variance without clusters mislead the members.

    Neither the order of the rows nor, unless ``random_state`` is given, chance has a say.

    Parameters
    ----------
    X : array, sparse matrix, data frame, list of str, AnnData, or Coordinates
        The data, as :class:`JointConsensus` takes them, in the views that suit them; or the coordinates of rows, as
        they are, from :func:`jointclust.decompose`. At least 32 rows; of more than 20,000 a sample is used, of rows
        that are not in memory 5,000.
    n_clusters : (int, int) or list of int, default=None
        The range to search, ends included, or the numbers to choose among; None is from 1 to a tenth of the rows (12
        at least, 187 at most).
    random_state : int, RandomState or None, default=None
        Seed of the parts of the rows and of all starts; None is always the same.

    Returns
    -------
    result : ClusterNumber
        ``n_clusters``, ``suggestions`` best first, ``scores``, ``confidence``, ``has_structure``, the ``verdict`` in
        words, a ``table`` with the evidence, and ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=300, n_features=50, n_clusters=5, random_state=1)
    >>> jc.number_of_clusters(X, n_clusters=(2, 12)).n_clusters
    5
    >>> noise = np.random.RandomState(0).standard_normal((200, 20))
    >>> jc.number_of_clusters(noise).has_structure
    False
    """
    rng = check_random_state(0 if random_state is None else random_state)
    if isinstance(X, Coordinates):
        if X.rows.is_remote or X.rows.device is not None:
            raise TypeError("number_of_clusters takes coordinates of rows in memory: pass the rows themselves.")
        return count(Sights.of_rows(X, X.rank), X.present, n_clusters, rng)
    rows = in_memory(some_rows(X, _MOST_ROWS, rng), "number_of_clusters")
    sights = Sights.of(rows, "auto", None, _RANK)
    return count(sights, sights.sample(rng), n_clusters, rng)


def count(
    sights: Sights,
    sample: NDArray[np.intp],
    among: Numbers | None,
    rng: np.random.RandomState,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> ClusterNumber:
    """The number of clusters of some of the rows, whose coordinates are kept."""
    if sample.size < FEWEST_ROWS:
        raise ValueError(
            f"{sample.size} rows are too few to choose the number of clusters: the parts that form and test them need "
            f"{FEWEST_ROWS}. Give n_clusters."
        )
    wanted = candidates(among, sample.size)
    coordinates = [sights.keep(number, sample) for number in range(len(sights))]
    varied = [one for one in coordinates if not one.is_constant]
    if not varied or wanted == [1]:
        return ClusterNumber(wanted[0], {}, wanted[:1], {}, 1.0, False)
    views = [directions_of(one) for one in varied]
    order = canonical_order(views[0])
    with threads.suited_to(views[0].shape[1]):
        valleys = n_between_valleys(varied[0], varied[0].present[order], rng)
        several = np.array([number for number in wanted if number > 1])
        curve = curve_of([Z[order] for Z in views], several, rng, report)
    apart = valleys.n_clusters > 1 and valleys.agreement > _FULL
    needed = _EXCESS_WITH_VALLEYS if valleys.n_clusters > 1 else _EXCESS_ALONE
    seen = valleys if apart and valleys.n_clusters in wanted else None
    return chosen_on(curve, seen, has_structure=apart or curve.excess > needed, may_be_one=wanted[0] == 1)


def directions_of(coordinates: Coordinates) -> Float:
    """The rows that have weight in their leading directions."""
    kept = coordinates.keep(_VARIANCE)
    return kept.leading(min(kept.rank, _DIRECTIONS))[coordinates.present].astype(np.float64)


def canonical_order(Z: Float) -> NDArray[np.intp]:
    """Rows by their distance from the mean, then by their coordinates, up to rounding: whatever order they came in."""
    length = np.einsum("ij,ij->i", Z, Z)
    unit = 1e-9 * max(float(length.max()), np.finfo(float).tiny)
    return np.lexsort([*np.round(Z[:, :3].T / np.sqrt(unit)), np.round(length / unit)])


def curve_of(
    views: list[Float], wanted: NDArray[np.intp], rng: np.random.RandomState, report: Callable[[int, int], None]
) -> Curve:
    """The agreement on parts of the rows, and on Gaussian rows."""
    n = len(views[0])
    size = min(int(_PART * n), _PART_ROWS)
    seeds = rng.randint(np.iinfo(np.int32).max, size=_REPEATS + _REFERENCES)
    repeats = []
    for seed in seeds[:_REPEATS]:
        part = np.sort(np.random.RandomState(seed).choice(n, size, replace=False))
        repeats.append([Pair(Z[part], int(seed)) for Z in views])
    spread = views[0].std(axis=0)
    reference = [
        Pair(np.random.RandomState(seed).standard_normal((size, spread.size)) * spread, int(seed))
        for seed in seeds[_REPEATS:]
    ]
    return Curve(repeats, reference, wanted, report).look()


def chosen_on(curve: Curve, seen: Valleys | None, *, has_structure: bool, may_be_one: bool) -> ClusterNumber:
    """The best number on a curve, the others after it, and how many of the repeats give it.

    A larger number that valleys show goes first: what is apart is apart, also where no member of the curve sees it.
    """
    numbers, agreement = curve.numbers, curve.agreement
    suggestions: list[int] = []
    for peak in curve.peaks():
        number = int(numbers[peak])
        if all(max(number / other, other / number) > _APART for other in suggestions):
            suggestions.append(number)
    best = numbers[curve.merits.argmax(axis=0)]
    if seen is not None and seen.n_clusters > _SAME * suggestions[0]:
        suggestions = [seen.n_clusters, *(number for number in suggestions if number != seen.n_clusters)]
        best = np.array(seen.numbers)
    confidence = float(np.mean(np.maximum(best / suggestions[0], suggestions[0] / best) <= _SAME))
    n_repeats = best.size
    if may_be_one and not has_structure:
        suggestions.insert(0, 1)
    table = {
        "n_clusters": numbers.tolist(),
        "agreement": agreement.mean(axis=1).tolist(),
        "without_clusters": curve.expected.tolist(),
        "repeats": agreement.tolist(),
    }
    scores = dict(zip(table["n_clusters"], table["agreement"], strict=True))
    return ClusterNumber(
        suggestions[0], table, suggestions[:_SUGGESTIONS], scores, confidence, has_structure, n_repeats
    )


def candidates(among: Numbers | None, n_rows: int) -> list[int]:
    """The numbers of clusters to choose among: the ends of a range, or each of a list."""
    if among is None:
        most = min(int(_PART * n_rows), _PART_ROWS) // _ROWS_PER_CLUSTER
        return list(range(1, max(most, _FEW_CLUSTERS) + 1))
    numbers = [int(number) for number in among]
    if not numbers:
        raise ValueError("n_clusters is an empty list: give the numbers to choose among, or a range such as (2, 8).")
    if isinstance(among, tuple):
        if len(numbers) != 2 or numbers[0] > numbers[1]:
            raise ValueError(f"n_clusters={among} is no range: give (fewest, most), such as (2, 8).")
        numbers = list(range(numbers[0], numbers[1] + 1))
    if not (min(numbers) >= 1 and max(numbers) <= n_rows):
        raise ValueError(f"n_clusters={among} must lie between 1 and the number of rows ({n_rows}).")
    return sorted(set(numbers))
