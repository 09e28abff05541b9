"""Data in their views before the judge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.consensus.confidence import ConfidenceRule
from jointclust.consensus.evidence import counted_together
from jointclust.consensus.views import RowsAsGiven, ViewedData, ViewRows
from jointclust.exceptions import collected
from jointclust.judge.evidence import MEASURES, MOST_ROWS, Evidence, compared, some_columns
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
# Numbers of clusters by which blocks show that they have any.
_OF_BLOCKS = 12
# Fewest rows of which anything can be said: two in each half.
_FEWEST = 4
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
    numbers = sample
    if viewed.blocks[-1] > 0:
        viewed, numbers = counted_together(viewed, sample, _OF_BLOCKS)
    coordinates = [viewed.coordinates(number, numbers) for number in range(len(viewed))]
    varied = [one for one in coordinates if not one.is_constant]
    if not varied:
        return None
    first = leading_directions(varied[0])
    order = canonical_order(first)
    if order.size > MOST_ROWS:
        order = order[np.sort(np.random.RandomState(0).choice(order.size, MOST_ROWS, replace=False))]
    views = [first[order], *(leading_directions(one)[order] for one in varied[1:])]
    rows = varied[0].present[order]
    weights = None if viewed.weights is None else to_host(viewed.weights).astype(np.float64)[numbers[rows]]
    return Seen(Evidence.of(views, weights, _columns_of(varied[0], rows[compared(rows.size)])), rows)


def _columns_of(coordinates: Coordinates, rows: NDArray[np.intp]) -> Float:
    """Some rows in some of the columns of their view."""
    X = rows_at(coordinates.rows.X, rows)
    X = columns_at(X, some_columns(X.shape[1]))
    return (X.toarray() if sp.issparse(X) else to_host(X)).astype(np.float64)


def counted_in(
    viewed: ViewedData, sample: NDArray[np.intp], among: Numbers | None, report: Report = silent
) -> tuple[ClusterNumber, Seen | None]:
    """The number of clusters in a sample of the rows, and the evidence that tells it."""
    if sample.size < FEWEST_ROWS:
        raise ValueError(
            f"{sample.size} rows are too few to choose the number of clusters: at least {FEWEST_ROWS} are needed. Give "
            "n_clusters."
        )
    allowed = candidates(among, sample.size)
    n_distinct = distinct_rows(host_block(rows_or_all(viewed.sources[0].rows, sample)))[0].size
    allowed = [number for number in allowed if number <= n_distinct] or allowed[:1]
    if allowed == [1]:
        return nothing_to_count(allowed), None
    with collected(), threads.single():
        seen = seen_in(viewed, sample)
        if seen is None:
            return nothing_to_count(allowed), None
        number = counted(seen.evidence, allowed, report)
    return replace(number, at_edge=number.at_edge and number.n_clusters < n_distinct), seen


def judged(
    viewed: ViewedData, sample: NDArray[np.intp], labels: Labels, n_clusters: int, seen: Seen | None
) -> Judgement | None:
    """The judgement on labels of all rows; None if nothing can be seen. What was seen before is not looked at again."""
    with collected(), threads.single():
        seen = seen_in(viewed, sample) if seen is None else seen
        if seen is None or seen.rows.size < _FEWEST:
            return None
        return Judgement.of(seen.evidence, np.asarray(labels)[sample[seen.rows]], n_clusters)


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
    kept = coordinates.keep(_VARIANCE)
    return to_host(kept.leading(min(kept.rank, _DIRECTIONS)))[coordinates.present].astype(np.float64)


def canonical_order(Z: Float) -> NDArray[np.intp]:
    """An order of the rows that does not depend on the given one: by length, then by coordinates, up to rounding."""
    length = np.einsum("ij,ij->i", Z, Z)
    unit = 1e-9 * max(float(length.max()), np.finfo(float).tiny)
    return np.lexsort([*np.round(Z[:, :3].T / np.sqrt(unit)), np.round(length / unit)])
