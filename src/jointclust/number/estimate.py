"""Estimates the number of clusters by the agreement of different clustering methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from jointclust.consensus.evidence import counted_together
from jointclust.consensus.remote import RemoteRows
from jointclust.consensus.views import MOST_ROWS, ViewedData
from jointclust.exceptions import CollapseWarning, tell
from jointclust.number import structure
from jointclust.number.curve import AgreementCurve, ViewPartitions
from jointclust.number.neighbor_graph import PART_NEIGHBORS, NeighborGraph, graph_of, nearest_of, parts_with_gaps
from jointclust.number.unimodality import FEWEST_ROWS, SeparatedClusters, separated_clusters
from jointclust.numerics.graph import distinct_rows
from jointclust.rows import host_block, is_elsewhere, loaded, threads
from jointclust.rows.arrays import rows_at
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float, Matrix

__all__ = ["ClusterNumber", "number_of_clusters"]

# Rows that are compared at the most.
_MOST_ROWS = 1_500
# Rank of a randomised decomposition.
_RANK = 500
# Directions of a view: share of its variance, most of them.
_VARIANCE, _DIRECTIONS = 0.95, 200
# Fewest rows per cluster, and the number of clusters that the default range always includes.
_ROWS_PER_CLUSTER, _FEW_CLUSTERS = 8, 12
# Two halves of the rows look for separated clusters. If they agree more than _SOME on them, there are clusters even
# where the graph is not clear; more than _SURE, their number is sure. More than _SURER, it is taken even if it is
# smaller than that of the curve: if the methods agree less than _HARDLY there, and the graph has at most _TIMES as many
# communities.
_SOME, _SURE, _SURER, _HARDLY, _TIMES = 0.5, 0.85, 0.95, 0.75, 3.2
# Numbers within this factor of each other are the same answer; suggestions differ by more than the second factor.
_SAME, _APART, _SUGGESTIONS = 1.1, 1.3, 5
_DOUBTFUL = 0.5
# Directions of a view that are few: parts with gaps between them are seen.
_PLANE = 3
# A number is another candidate if its agreement is less by at most this, or if so many comparisons give it. The reasons
# name a number that has more agreement by this.
_CLOSE, _SEVERAL = 0.1, 2

_NOTHING = "all rows are equal, or only one cluster is allowed"

Numbers = tuple[int, int] | Sequence[int]
# Called with the number of evaluated numbers of clusters, and of those known to follow.
Report = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True, eq=False)
class ClusterNumber:
    """The number of clusters in the data, its confidence, and the evidence.

    Attributes
    ----------
    n_clusters : int
        The number; 1 when no structure was found and no range was given.
    table : dict of lists
        One row per number of clusters that was evaluated, ready for ``pandas.DataFrame``: n_clusters, agreement (mean
        over the comparisons), repeats (list of the agreement in each).
    suggestions : list of int
        Numbers at which the agreement has a peak, best first, and then others, at most five; the second is the number
        that several comparisons give instead, if any. Gaps between clusters, or splits of the tree that are all
        separated, may add a number to the first three, even one beyond a given range.
    scores : dict of int to float
        The agreement by number of clusters.
    confidence : float
        Share of the comparisons that give ``n_clusters`` (up to a tenth of it); less where the structure is weak.
    has_structure : bool
        Whether there are any clusters.
    n_repeats : int
        Number of comparisons: two methods on the neighbour graph with one in each view; two, which are halves of the
        rows, where the number is that of separated clusters.
    at_edge : bool
        Whether the number is an end of the range, so that numbers beyond it might be better.
    why : str
        The reasons for the number, as a sentence.
    """

    n_clusters: int
    table: dict[str, list[Any]]
    suggestions: list[int]
    scores: dict[int, float]
    confidence: float
    has_structure: bool
    n_repeats: int = 0
    at_edge: bool = False
    why: str = ""

    @property
    def verdict(self) -> str:
        """The result as a sentence."""
        others = [number for number in self.suggestions if number != self.n_clusters]
        sure = (
            f" (in {round(self.confidence * self.n_repeats)} of {self.n_repeats} comparisons)" if self.n_repeats else ""
        )
        if self.n_clusters == 1:
            return f"no cluster structure found{sure}" + (f"; {others[0]} clusters fit best" if others else "")
        least = self.scores[self.n_clusters] - _CLOSE
        close = [number for number in others if self.scores.get(number, -np.inf) > least]
        other = f"; {close[0]} is the other candidate" if close else ""
        doubt = "" if self.has_structure else "; no cluster structure found, so any number is arbitrary"
        edge = "; an end of the range, so numbers beyond it might be better" if self.at_edge else ""
        return f"{self.n_clusters} clusters{sure}{other}{edge}{doubt}"

    def with_suggestion(self, n_clusters: int) -> ClusterNumber:
        """The same with one more suggestion among the first three, unless one of them is about the same."""
        if n_clusters < 2 or any(same(n_clusters, number) for number in self.suggestions[:3]):
            return self
        others = [number for number in self.suggestions if number != n_clusters]
        return replace(self, suggestions=[*others[:2], n_clusters, *others[2:]][:_SUGGESTIONS])

    def warn(self) -> None:
        """Warn when there is no structure, or when the number is uncertain."""
        if not self.has_structure:
            tell(
                "No cluster structure found: the neighbour graph has no clearer communities than that of rows without "
                "clusters. Either there are no clusters, so that any partition is arbitrary; or they overlap, or have "
                "too few rows. If you know that there are clusters, give n_clusters.",
                CollapseWarning,
            )
        elif self.confidence < _DOUBTFUL or self.at_edge:
            scored = ", ".join(str(number) for number in self.suggestions if number in self.scores)
            tell(
                f"The number of clusters is uncertain: {self.verdict}. Compare the scores of {scored}, or give "
                "n_clusters.",
                UserWarning,
            )

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve: the agreement by number of clusters, its mean and its range over the comparisons.

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
    r"""The number of clusters at which different clustering methods agree most, near that of the graph's communities.

    .. math:: \max_k \; a(k) - \lambda \log^2 \frac{k}{k_g}, \quad
              a(k) = \mathrm{mean}_v \, \tfrac12 \left( A(S, L_v) + A(C, L_v) \right)

    ======== =============================================================================
    symbol   meaning
    ======== =============================================================================
    S(k)     spectral clustering of the neighbour graph, which is the sum over the views
    C(k)     its small communities, joined until there are k
    L_v(k)   LDA k-means in view v, k clusters
    k_g      number of communities (Louvain), geometric mean over three resolutions
    lambda   0.1; up to 0.6 where all resolutions show the same number
    A        mean of the adjusted Rand index, in which a cluster counts as the root of its size, and of the squared
             Jaccard index of each cluster with the most similar one
    ======== =============================================================================

    The graph shares only the rows with LDA k-means, so clusters that both find are likely to exist. The curve is
    evaluated about k_g, on a coarse grid that goes on where its end is best, and is refined about the best. Where finer
    clusters agree clearly more than the best, it is on a slope, which tells no number: then the answer is k_g; where
    the slope goes on to clusters of eight rows, it is k_g of the graph of 15 neighbours, in which so few rows are no
    community.

    There is structure where the communities of the graph are clearer (have more modularity) than those of Gaussian rows
    of the same covariance, and than those of rows with the same columns in independent orders.
    Two halves of the rows then look for separated clusters: one half forms them, and of the other half fewer
    rows lie about the middle between two of them than a unimodal density allows. Their number is
    taken where the halves agree on them, if it is not smaller than that of the curve, or if the methods hardly agree:
    directions of large variance without clusters mislead the methods. It is not taken in a table that has a column of
    at most ten values, such as a coded category: between values there are gaps, too.

    The answer is a function of the data: it depends neither on chance nor on the order of the rows.

    Parameters
    ----------
    X : array, sparse matrix, data frame, list of str, AnnData, or Coordinates
        The data, as :class:`JointConsensus` takes them, in the views that it chooses; of a dict of blocks, those that
        show clusters side by side, each of one size; or the coordinates of rows from
        :func:`jointclust.decompose`, in one view. At least 32 rows; of more than 1,500 a sample is compared.
    n_clusters : (int, int) or list of int, default=None
        The range to search, ends included, or the numbers to choose among; None is from 1 to an eighth of the rows (12
        at least, 187 at most). Of those, no number above that of the distinct rows is an answer.
    random_state : int, RandomState or None, default=None
        Seed of the sample of more than 10,000 rows; None always draws the same one.

    Returns
    -------
    result : ClusterNumber
        ``n_clusters``, ``suggestions`` best first, ``scores``, ``confidence``, ``has_structure``, ``at_edge``, the
        ``verdict`` and ``why`` as sentences, a ``table`` with the evidence, and ``plot()``.

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
    return count_in_data(X, n_clusters, check_random_state(0 if random_state is None else random_state))


def count_in_data(
    X: ArrayLike | Coordinates,
    among: Numbers | None,
    rng: np.random.RandomState,
    report: Report = silent,
    columns: Any = "related",
) -> ClusterNumber:
    """The number of clusters of data of any kind, or of coordinates; ``columns`` are those of a table to use."""
    if isinstance(X, Coordinates):
        if X.rows.is_remote or X.rows.device is not None:
            raise TypeError("number_of_clusters takes coordinates of rows in memory: pass the rows themselves.")
        return count(ViewedData.of_coordinates(X), X.present, among, report)
    X = loaded(X)
    remote = RemoteRows.of(X, None) if is_elsewhere(X) else None
    data = X if remote is None else remote.sample(MOST_ROWS, rng)[0]
    viewed = ViewedData.of(data, "auto", None, _RANK, remote, columns)
    return count(viewed, viewed.sample(rng), among, report)


def count(
    viewed: ViewedData, sample: NDArray[np.intp], among: Numbers | None, report: Report = silent
) -> ClusterNumber:
    """The number of clusters of a sample of the rows."""
    if sample.size < FEWEST_ROWS:
        raise ValueError(
            f"{sample.size} rows are too few to choose the number of clusters: at least {FEWEST_ROWS} are needed. Give "
            "n_clusters."
        )
    allowed = candidates(among, sample.size)
    if viewed.blocks[-1] > 0:
        viewed, sample = counted_together(viewed, sample, min(allowed[-1], _FEW_CLUSTERS))
    n_distinct = distinct_rows(host_block(rows_at(viewed.sources[0].rows, sample)))[0].size
    allowed = [number for number in allowed if number <= n_distinct] or allowed[:1]
    coordinates = [viewed.coordinates(number, sample) for number in range(len(viewed))]
    varied = [one for one in coordinates if not one.is_constant]
    if not varied or allowed == [1]:
        return ClusterNumber(allowed[0], {}, allowed[:1], {}, float(allowed[0] == 1), False, why=_NOTHING)
    # A fixed seed, after an order that does not depend on the given one: the answer is a function of the data.
    rng, order = np.random.RandomState(0), canonical_order(leading_directions(varied[0]))
    most = max(_MOST_ROWS, _ROWS_PER_CLUSTER * allowed[0])
    rows = order if order.size <= most else order[np.sort(rng.choice(order.size, most, replace=False))]
    views = [leading_directions(one)[rows] for one in varied]
    with threads.suited_to(views[0].shape[1]):
        nearest, in_plane = [nearest_of(Z, max(PART_NEIGHBORS)) for Z in views], views[0].shape[1] <= _PLANE
        graph = NeighborGraph.of([graph_of(index) for index in nearest])
        some = np.sort(rng.permutation(rows.size)[: structure.MOST_ROWS])
        excess = structure.excess(views[0][some], rows_at(varied[0].rows.X, varied[0].present[rows[some]]), rng)
        numbers = np.array([number for number in allowed if number > 1])
        curve = AgreementCurve(graph, [ViewPartitions(Z) for Z in views], numbers, report).explore()
        slope = communities_on_a_slope(curve, nearest) if among is None else None
        separated = separated_clusters(varied[0], varied[0].present[order], rng, graph.expected)
        if viewed.description is not None and viewed.description.kind in ("table", "mixed"):
            separated = separated._replace(by_levels=structure.has_levels(varied[0].rows.X))
        parts = confirmed(parts_with_gaps(nearest, few_directions=in_plane), separated)
        known = [separated.n_clusters] if is_sure(separated) else []
        curve.evaluate([number for number in (*known, parts) if number in numbers])
        has_structure = parts > 1 or is_structure(separated, excess, rows_at(varied[0].rows.X, separated.rows))
    result = choose(curve, Evidence(slope, separated, parts, in_plane, excess, has_structure), allowed)
    possible = [number for number in result.suggestions if number <= max(n_distinct, result.n_clusters)]
    return replace(result, suggestions=possible, at_edge=result.at_edge and result.n_clusters < n_distinct)


def communities_on_a_slope(curve: AgreementCurve, nearest: list[NDArray[np.intp]]) -> NeighborGraph | None:
    """The graph whose communities are the answer if the best number of a curve is on a slope; None if it is not.

    If the agreement climbs to the end of the range, the rows are in groups that are too small for clusters, and a graph
    of five neighbours shows little else. A graph of more neighbours than a group has shows what the groups form.
    """
    highest = curve.climb()
    if highest is None:
        return None
    wider = [graph_of(index, max(PART_NEIGHBORS)) for index in nearest]
    graph = NeighborGraph.of(wider) if highest == curve.allowed[-1] else curve.graph
    curve.evaluate([communities_in(graph, curve.allowed)])
    return graph


def communities_in(graph: NeighborGraph, allowed: NDArray[np.intp]) -> int:
    """The allowed number next to that of the communities of a graph."""
    return int(allowed[np.abs(np.log(allowed / graph.expected)).argmin()])


class Evidence(NamedTuple):
    """What is known beside a curve.

    ``slope`` is the graph whose communities are the answer if the best number is on a slope; ``parts`` is the number
    of parts with gaps between them; ``in_plane``: the rows have few directions; ``excess``: by how much the communities
    are clearer than those of rows without clusters.
    """

    slope: NeighborGraph | None
    separated: SeparatedClusters | None
    parts: int
    in_plane: bool
    excess: float
    has_structure: bool


def leading_directions(coordinates: Coordinates) -> Float:
    """The rows that have weight, in their leading directions."""
    kept = coordinates.keep(_VARIANCE)
    return kept.leading(min(kept.rank, _DIRECTIONS))[coordinates.present].astype(np.float64)


def canonical_order(Z: Float) -> NDArray[np.intp]:
    """An order of the rows that does not depend on the given one: by length, then by coordinates, up to rounding."""
    length = np.einsum("ij,ij->i", Z, Z)
    unit = 1e-9 * max(float(length.max()), np.finfo(float).tiny)
    return np.lexsort([*np.round(Z[:, :3].T / np.sqrt(unit)), np.round(length / unit)])


def choose(curve: AgreementCurve, evidence: Evidence, allowed: list[int]) -> ClusterNumber:
    """The best number on a curve, the suggestions after it, and the share of the comparisons that give it.

    If the best is on a slope, the number of communities of a graph is first. The number of separated clusters is first
    if it is about the same or larger, or if the methods hardly agree. So is the number of parts with gaps between them
    unless more clusters are separated; in the plane in any case.
    """
    slope, separated, parts, in_plane, excess, has_structure = evidence
    numbers, agreement = curve.numbers, curve.agreement
    suggestions = distinct_numbers(numbers[[*curve.peaks(), *np.argsort(-curve.merit, kind="stable")]])
    best = numbers[curve.merits.argmax(axis=0)]
    scores = dict(zip(numbers.tolist(), agreement.mean(axis=1).tolist(), strict=True))
    if slope is not None:
        first = communities_in(slope, curve.allowed)
        suggestions = [first, *(one for one in suggestions if not same(one, first))]
    expected = float(np.clip(curve.graph.expected, numbers[0], numbers[-1]))
    if separated is not None and not is_preferred(separated, suggestions[0], scores, expected, parts):
        separated = None
    if separated is not None:
        best = np.array(separated.numbers)
        suggestions = [separated.n_clusters, *(one for one in suggestions if not same(one, separated.n_clusters))]
    elif 1 < parts != suggestions[0] and parts in scores and (in_plane or scores[suggestions[0]] < _HARDLY):
        best, suggestions = np.array([parts]), [parts, *(one for one in suggestions if one != parts)]
    suggestions, confidence = with_rival(suggestions, best), share(best, suggestions[0])
    if allowed[0] == 1:
        strength = float(np.clip(0.5 * excess / structure.ENOUGH, 0.0, 1.0))
        sure = separated is not None or suggestions[0] == parts
        confidence = confidence if sure else min(confidence, strength) if has_structure else 1.0 - strength
        suggestions = suggestions if has_structure else [1, *suggestions]
    table = {"n_clusters": numbers.tolist(), "agreement": list(scores.values()), "repeats": agreement.tolist()}
    number = suggestions[0]
    at_edge = len(allowed) > 1 and number > 2 and number in (allowed[0], allowed[-1])
    return ClusterNumber(
        number,
        table,
        suggestions[:_SUGGESTIONS],
        scores,
        confidence,
        has_structure,
        best.size if number > 1 else 0,
        at_edge,
        reasons(number, suggestions, scores, curve.graph.counts, evidence._replace(separated=separated)),
    ).with_suggestion(parts)


def is_structure(separated: SeparatedClusters, excess: float, rows: Matrix) -> bool:
    """Whether there are clusters: clear communities, or separated clusters that are not the levels of one column."""
    if excess >= structure.ENOUGH:
        return True
    some = excess >= structure.SOME
    if min(separated.numbers) == 1 or separated.agreement < (_SOME if some else _SURE):
        return False
    if separated.by_levels and not some:
        return False
    return not structure.is_levels_of_a_column(rows, separated.labels)


def is_sure(separated: SeparatedClusters) -> bool:
    """Whether the number of separated clusters may be the answer."""
    return separated.n_clusters > 1 and separated.agreement >= _SURE and not separated.by_levels


def confirmed(parts: tuple[int, int], separated: SeparatedClusters) -> int:
    """The number of parts; if more neighbours show fewer, that of separated clusters where it is between the two."""
    most, fewest = parts
    between = fewest <= separated.n_clusters <= most and min(separated.numbers) == separated.n_clusters
    is_sure_of_them = separated.agreement >= _SURER and not separated.by_levels
    return separated.n_clusters if between and is_sure_of_them else most


def is_preferred(
    separated: SeparatedClusters, number: int, scores: dict[int, float], expected: float, parts: int
) -> bool:
    """Whether the number of separated clusters is taken in place of that of the curve, or of parts."""
    tested = separated.n_clusters
    if parts > tested:
        return False
    hardly = scores[number] < _HARDLY and separated.agreement >= _SURER and expected < _TIMES * tested
    return is_sure(separated) and tested in scores and (tested > number or same(tested, number) or hardly)


def distinct_numbers(numbers: NDArray) -> list[int]:
    """The numbers that differ from all before them."""
    kept: list[int] = []
    for number in map(int, numbers):
        if all(max(number / other, other / number) > _APART for other in kept):
            kept.append(number)
    return kept


def with_rival(suggestions: list[int], best: NDArray) -> list[int]:
    """The suggestions with the number that several comparisons give instead of the first as the second, if any."""
    different = [int(number) for number in best if not same(number, suggestions[0])]
    rival = max(different, key=different.count, default=0)
    if different.count(rival) < _SEVERAL:
        return suggestions
    return [suggestions[0], rival, *(number for number in suggestions[1:] if number != rival)]


def reasons(
    number: int, suggestions: list[int], scores: dict[int, float], counts: tuple[int, ...], evidence: Evidence
) -> str:
    """Why it is this number, as a sentence."""
    slope, separated, parts, _, excess, _ = evidence
    communities = f"the neighbour graph has {in_words(counts)}"
    if number == 1:
        return f"1: {communities}, no clearer ones than rows without clusters have ({excess:.1f} standard deviations)"
    more = max((one for one in scores if not same(one, number)), key=lambda one: scores[one], default=number)
    if separated is not None:
        first = f"two halves of the rows agree to {separated.agreement:.2f} on clusters with a gap between every two"
    elif number == parts:
        first = "the rows are in so many parts with gaps between them"
    elif slope is not None:
        wider = "" if slope.counts == counts else f", with {max(PART_NEIGHBORS)} neighbours {in_words(slope.counts)}"
        climbing = f"the finer the clusters are the more the methods agree, to {scores[more]:.2f} at {more}"
        return f"{number}: {communities}{wider}; {climbing}, which tells no number"
    else:
        first = f"graph, tree and k-means agree to {scores[number]:.2f}"
    sentences = [f"{number}: {first}", communities]
    others = [one for one in suggestions if one not in (1, number)]
    if scores[more] > scores[number] + _CLOSE:
        has_gaps = separated is not None or number == parts
        but = "gaps between clusters count for more" if has_gaps else "it is farther from the communities"
        sentences.append(f"{more} has more agreement ({scores[more]:.2f}), but {but}")
        others = [one for one in others if one != more]
    close = [one for one in others if scores[one] > scores[number] - _CLOSE]
    return "; ".join([*sentences, *(f"{one} is the other candidate" for one in close[:1])])


def in_words(counts: tuple[int, ...]) -> str:
    """Numbers of communities, in words."""
    few, many = min(counts), max(counts)
    number = f"{few}" if few == many else f"{few} to {many}"
    return f"{number} communit{'y' if few == many == 1 else 'ies'}"


def same(one: int, other: int) -> bool:
    """Whether two numbers are the same answer."""
    return max(one / other, other / one) <= _SAME


def share(repeats: NDArray, answer: int) -> float:
    """Share of the repeats that give an answer."""
    return float(np.mean([same(number, answer) for number in repeats]))


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
