"""Data in their views before the judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.consensus.agreement import Agreement, most_voted
from jointclust.consensus.confidence import ConfidenceRule
from jointclust.consensus.tree import Tree, leaves_of
from jointclust.consensus.views import RowsAsGiven, ViewedData, ViewRows
from jointclust.exceptions import collected
from jointclust.judge.evidence import FEWEST_DIRECTIONS, MEASURES, MOST_ROWS, Evidence, compared, some_columns
from jointclust.judge.judge import features_of_clusters, logit, the_judge
from jointclust.judge.number import (
    FEWEST_ROWS,
    ClusterNumber,
    Numbers,
    Report,
    candidates,
    counted,
    nothing_to_count,
    silent,
)
from jointclust.numerics.graph import distinct_rows
from jointclust.numerics.partitions import placed
from jointclust.rows import host_block, threads
from jointclust.rows.arrays import columns_at, rows_at, rows_or_all, to_host
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float, Labels, Matrix

# Directions of a view: share of its variance, most of them.
_VARIANCE, _DIRECTIONS = 0.95, 50
# Fewest rows of which anything can be said: two in each half.
_FEWEST = 4
# A block counts if clusters are this likely in it, relative to the likeliest: as it votes by the evidence of blocks.
_OF_MOST = 0.4
# Rank of a randomised decomposition.
_RANK = 500


class Seen(NamedTuple):
    """The evidence in some rows, and which of the sample they are."""

    evidence: Evidence
    rows: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Judgement:
    """What the judge says of the clusters of a fit.

    Attributes
    ----------
    agreement : float
        The predicted agreement (adjusted Rand index) with the true clusters; of one cluster, the probability that there
        are no clusters.
    anything : float
        The probability that there are clusters at all.
    has_structure : bool
        Whether that is enough to say so.
    found : array of shape (n_clusters,)
        How far halves of the rows find each cluster: the Jaccard index with the best match, 0 to 1.
    levels : array of shape (n_clusters,)
        What the confidence of rows of each cluster starts from, as odds in logarithms.
    slope : float
        What the votes add to it.
    measures : dict of str to float
        The measures of the partition.
    """

    agreement: float
    anything: float
    has_structure: bool
    found: Float
    levels: Float
    slope: float
    measures: dict[str, float]

    @classmethod
    def of(cls, evidence: Evidence, labels: Labels, n_clusters: int) -> Judgement:
        """The judgement on the labels of the rows of evidence."""
        judge, n_held = the_judge(), int(np.unique(labels).size)
        anything = judge.p_anything(evidence)
        agreement = judge.agreement(evidence, labels) if n_held > 1 else 1.0 - anything
        clusters = features_of_clusters(evidence, labels, n_clusters)
        alone, sure, found, share, number, slope, steeper = judge.rows
        sureness = float(logit(agreement))
        levels = alone + sure * sureness + clusters @ np.array([found, share, number])
        measures = dict(zip(MEASURES, evidence.measures(labels).tolist(), strict=True))
        has_structure = anything >= float(judge.limits[0])
        halves = evidence.found_by_halves(labels, n_clusters)
        return cls(agreement, anything, has_structure, halves, levels, float(slope + steeper * sureness), measures)

    def rule(self, usual: ConfidenceRule) -> ConfidenceRule:
        """The rule of the confidence of rows."""
        return replace(usual, levels=self.levels, slope=self.slope)

    def renumbered(self, numbers: NDArray[np.intp], n_clusters: int) -> Judgement:
        """The same of the same clusters by other numbers; NaN for numbers that stay free."""
        found, levels = (placed(one, numbers, n_clusters, np.nan) for one in (self.found, self.levels))
        return replace(self, found=found, levels=levels)


def seen_in(viewed: ViewedData, sample: NDArray[np.intp]) -> Seen | None:
    """The evidence in (a part of) a sample of the rows; None if all are equal.

    It is a function of the data: it depends neither on chance nor on the order of the rows.
    """
    coordinates = [viewed.coordinates(number, sample) for number in range(len(viewed))]
    varied = np.flatnonzero([not one.is_constant for one in coordinates])
    if varied.size == 0:
        return None
    order = canonical_order(leading_directions(coordinates[varied[0]]))
    if order.size > MOST_ROWS:
        order = order[np.sort(np.random.RandomState(0).choice(order.size, MOST_ROWS, replace=False))]
    rows = coordinates[varied[0]].present[order]
    weights = None if viewed.weights is None else to_host(viewed.weights).astype(np.float64)[sample[rows]]

    def evidence(views: NDArray[np.intp]) -> Evidence:
        parts = [leading_directions(coordinates[view])[order] for view in views]
        return Evidence.of(parts, weights, _columns_of(coordinates[views[0]], rows[compared(rows.size)]))

    return Seen(_of_blocks(viewed.blocks[varied], varied, evidence), rows)


def _of_blocks(
    blocks: NDArray[np.intp], views: NDArray[np.intp], evidence: Callable[[NDArray[np.intp]], Evidence]
) -> Evidence:
    """The evidence in a block; side by side in the first views of those that about as likely have clusters."""
    names = np.unique(blocks)
    if names.size == 1:
        return evidence(views)
    alone = [evidence(views[blocks == name]) for name in names]
    likely = np.array([the_judge().p_anything(one) for one in alone])
    tell = likely >= _OF_MOST * likely.max()
    if tell.sum() == 1:
        return alone[int(tell.argmax())]
    return evidence(np.array([views[blocks == name][0] for name in names[tell]]))


def _columns_of(coordinates: Coordinates, rows: NDArray[np.intp]) -> Float:
    """Some rows in some of the columns of their view."""
    X = rows_at(coordinates.rows.X, rows)
    X = columns_at(X, some_columns(X.shape[1]))
    return (X.toarray() if sp.issparse(X) else to_host(X)).astype(np.float64)


def counted_in(
    viewed: ViewedData, sample: NDArray[np.intp], among: Numbers | None, report: Report = silent
) -> tuple[ClusterNumber, Seen | None]:
    """The number of clusters in a sample of the rows, and the evidence that tells it."""
    n_distinct = _n_distinct(viewed, sample)
    allowed = _allowed(sample.size, n_distinct, among)
    if allowed == [1]:
        return nothing_to_count(allowed), None
    with collected(), threads.single():
        seen = seen_in(viewed, sample)
        evidence = None if seen is None else seen.evidence
        return _number_by(evidence, allowed, n_distinct, report), seen


def _n_distinct(viewed: ViewedData, sample: NDArray[np.intp]) -> int:
    """How many different rows a sample has."""
    return distinct_rows(host_block(rows_or_all(viewed.sources[0].rows, sample)))[0].size


def _allowed(n_rows: int, n_distinct: int, among: Numbers | None) -> list[int]:
    """The numbers of clusters that so many rows can have."""
    if n_rows < FEWEST_ROWS:
        raise ValueError(
            f"{n_rows} rows are too few to choose the number of clusters: at least {FEWEST_ROWS} are needed. Give "
            "n_clusters."
        )
    allowed = candidates(among, n_rows)
    return [number for number in allowed if number <= n_distinct] or allowed[:1]


def _number_by(evidence: Evidence | None, allowed: list[int], n_distinct: int, report: Report) -> ClusterNumber:
    """The number of clusters by the evidence in rows; of equal rows there is none."""
    if evidence is None or allowed == [1]:
        return nothing_to_count(allowed)
    number = counted(evidence, allowed, report)
    return replace(number, at_edge=number.at_edge and number.n_clusters < n_distinct)


def judged(
    viewed: ViewedData, sample: NDArray[np.intp], labels: Labels, n_clusters: int, seen: Seen | None
) -> Judgement | None:
    """The judgement on labels of all rows; None if nothing can be seen. What was seen before is not looked at again."""
    with collected(), threads.single():
        seen = seen_in(viewed, sample) if seen is None else seen
        if seen is None or seen.rows.size < _FEWEST:
            return None
        return Judgement.of(seen.evidence, np.asarray(labels)[sample[seen.rows]], n_clusters)


class SeenAgain(NamedTuple):
    """What was seen in rows in memory by the views of a fit.

    The evidence, and the codes of the rows that were looked at, None if all are equal; how many rows there are, and how
    many different ones.
    """

    evidence: Evidence | None
    codes: NDArray | None
    n_rows: int
    n_distinct: int

    def number(self) -> ClusterNumber:
        """The number of clusters."""
        allowed = _allowed(self.n_rows, self.n_distinct, None)
        with collected(), threads.single():
            return _number_by(self.evidence, allowed, self.n_distinct, silent)

    def enough(self) -> tuple[Evidence, NDArray] | None:
        """The evidence and the codes; None where there is too little to judge clusters by."""
        if self.evidence is None or self.codes is None or len(self.codes) < _FEWEST:
            return None
        return self.evidence, self.codes


def seen_again(agreement: Agreement, max_rank: int, X: Any, weights: Float | None) -> SeenAgain:
    """Look at rows in memory by the views of a fit."""
    with collected(), threads.single():
        viewed = ViewedData(agreement.preparations, agreement.sources(X), weights, max_rank)
        sample = viewed.sample(np.random.RandomState(0))
        size = sample.size, _n_distinct(viewed, sample)
        seen = seen_in(viewed, sample)
        if seen is None:
            return SeenAgain(None, None, *size)
        some = [ViewRows(rows_at(one.rows, sample[seen.rows]), one.scaler) for one in viewed.sources]
        return SeenAgain(seen.evidence, to_host(agreement.codes(some)[0]), *size)


def judged_again(agreement: Agreement, again: SeenAgain) -> Judgement | None:
    """The judgement on the clusters of a fit in rows that were seen again; None if nothing can be seen."""
    seen = again.enough()
    if seen is None:
        return None
    evidence, codes = seen
    with collected(), threads.single():
        return Judgement.of(evidence, to_host(most_voted(agreement.soft_labels(codes))), agreement.n_clusters)


@dataclass(frozen=True, eq=False)
class LayersJudged:
    """What the judge says of layers, and the evidence that it rests on.

    Attributes
    ----------
    predicted : array of shape (n_layers,)
        The predicted agreement of each; for one cluster, what others have to reach: nothing where there is structure,
        else more than there is.
    evidence : Evidence
        In rows that the model keeps.
    """

    predicted: Float
    evidence: Evidence

    def of_fit(self, n_clusters: int) -> float:
        """The predicted agreement of a quick partition into so many clusters, which stands for a fit with these."""
        with threads.single():
            return the_judge().agreement(self.evidence, self.evidence.candidate(n_clusters))


def layers_judged(agreement: Agreement, tree: Tree, again: SeenAgain, own: Judgement | None) -> LayersJudged | None:
    """The layers of a fit before the judge, in rows that were seen again; None if nothing can be seen.

    The clusters of the fit have their own judgement.
    """
    seen = again.enough()
    if seen is None:
        return None
    with collected(), threads.single():
        (evidence, codes), judge = seen, the_judge()
        leaves = leaves_of(agreement, tree, codes)
        layers = [tree.labels(number)[leaves] for number in range(2, tree.n_leaves + 1)]
        found = [judge.agreement(evidence, one) if np.ptp(one) else 0.0 for one in layers]
        has_structure = judge.p_anything(evidence) >= judge.limits[0] if own is None else own.has_structure
        if own is not None and 1 < agreement.n_held <= tree.n_leaves:
            found[agreement.n_held - 2] = own.agreement
        return LayersJudged(np.array([0.0 if has_structure else np.inf, *found]), evidence)


def judgement_on(rows: Matrix, labels: Labels) -> Judgement | None:
    """The judgement on any labels of rows of numbers in memory; rows without a cluster (-1) do not count."""
    known = np.flatnonzero(labels >= 0)
    if np.unique(labels[known]).size < 2:
        return None
    viewed = ViewedData([RowsAsGiven()], [ViewRows(rows_at(rows, known), None)], None, _RANK)
    names, own = np.unique(labels[known], return_inverse=True)
    rng = np.random.RandomState(0)
    found = judged(viewed, viewed.sample(rng), own.ravel().astype(np.int32), names.size, None)
    return None if found is None else found.renumbered(names.astype(np.intp), int(names.max()) + 1)


def leading_directions(coordinates: Coordinates) -> Float:
    """The rows that have weight, in their leading directions."""
    rank = coordinates.keep(_VARIANCE).rank
    kept = coordinates.first(min(max(rank, FEWEST_DIRECTIONS), _DIRECTIONS))
    return to_host(kept.leading(kept.rank))[coordinates.present].astype(np.float64)


def canonical_order(Z: Float) -> NDArray[np.intp]:
    """An order of the rows that does not depend on the given one: by length, then by coordinates, up to rounding."""
    length = np.einsum("ij,ij->i", Z, Z)
    unit = 1e-9 * max(float(length.max()), np.finfo(float).tiny)
    return np.lexsort([*np.round(Z[:, :3].T / np.sqrt(unit)), np.round(length / unit)])
