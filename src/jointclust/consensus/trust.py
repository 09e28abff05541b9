"""How far the clusters of a fit can be trusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.consensus.agreement import Panel
from jointclust.consensus.members import EFFORTS, PLAIN, Effort, first_leads
from jointclust.consensus.partitions import Partitions, mean_votes, shares_of
from jointclust.consensus.projection import NOT_LOW
from jointclust.consensus.reproducibility import Repeats
from jointclust.consensus.views import RowsAsGiven, ViewedData, ViewRows
from jointclust.exceptions import collected
from jointclust.numerics.diffusion import MANY
from jointclust.numerics.partitions import placed
from jointclust.rows import host_block, threads
from jointclust.rows.arrays import is_on_gpu, rows_at, to_host
from jointclust.types import Array, Float, Labels

# Refits; with effort="quick"; and with the user's own members, whose cost is unknown, or with many clusters.
_REFITS, _QUICK_REFITS, _FEWEST_REFITS = 3, 2, 1
# Rows that the refits share: so many, or so many for each cluster.
_MOST_ROWS, _ROWS_PER_CLUSTER = 3_000, 40
# Views up to which the refits have the members of a quick fit; with more views they have fewer on each, unless they are
# fits to a sample, which cost little beside the fit to all rows.
_FEW_VIEWS = 2
_RESTARTS = 4

# A function of data in views that fits members to all rows: the panel, the data with their projections, the labels of
# given members, and a seed.
FitPanel = Callable[[ViewedData, Effort], tuple[Panel, ViewedData, NDArray | None, int]]


@dataclass(frozen=True, eq=False)
class Trust:
    """What refits on other rows say of a fit: how well it is reproduced, and each cluster."""

    reproducibility: float
    of_clusters: Float


@dataclass(frozen=True, eq=False)
class _Sample:
    """Some rows in the leading directions of the used views; or in the views, for members that the user gives."""

    sources: list[Any]
    is_led: bool  # whether the members vote on the partition of the first, as in the fit
    weights: Float | None
    known: Labels | None
    n_clusters: int
    effort: Effort
    fit_panel: FitPanel
    view_weights: Float  # of the used views
    device: Array | None  # an array on the device that refits are computed on

    def refit(self, own: NDArray[np.intp], rest: NDArray[np.intp]) -> Labels:
        """The labels of the rest of the rows by a consensus of members that are fitted to their own rows."""
        weights = None if self.weights is None else self.weights[own]
        width = max(one.shape[1] for one in self.sources)
        half = ViewedData([RowsAsGiven()] * len(self.sources), self._at(own), weights, width)
        panel, half, labels, seed = self.fit_panel(half, self.effort)
        labels = to_host(panel.label(half.sources, scored=False)[0]) if labels is None else labels
        coded = [np.unique(column, return_inverse=True) for column in labels.T]
        codes = np.column_stack([one.ravel() for _, one in coded]).astype(np.int32)
        shares = shares_of(np.array(panel.views), self.view_weights)
        proposal = codes[:, 0] if self.is_led else None
        sizes = [names.size for names, _ in coded]
        partitions = Partitions(codes, sizes, weights, shares, device=self.device, proposal=proposal)
        _, votes = partitions.agreed(
            self.n_clusters, np.random.RandomState(seed), self._known(own), n_restarts=_RESTARTS
        )
        others = to_host(panel.label(self._at(rest), scored=False)[0]).T
        places = [_places(names, column) for (names, _), column in zip(coded, others, strict=True)]
        return mean_votes(np.column_stack(places), votes, partitions.shares).argmax(axis=1).astype(np.int32)

    def _at(self, rows: NDArray[np.intp]) -> list[ViewRows]:
        return [ViewRows(rows_at(one, rows), None) for one in self.sources]

    def _known(self, rows: NDArray[np.intp]) -> Labels | None:
        known = None if self.known is None else self.known[rows]
        return None if known is None or known.max() < 0 else known


def _places(names: NDArray, column: NDArray) -> NDArray[np.intp]:
    """The places of labels among the names of a member's clusters; of a cluster that had no rows, the next place."""
    return np.minimum(np.searchsorted(names, column), names.size - 1)


def n_refits(effort: Effort, n_clusters: int, *, is_given: bool) -> int:
    """How often a fit is repeated on half of the rows: over many clusters the luck of a half averages out."""
    if is_given or n_clusters > MANY:
        return _FEWEST_REFITS
    return _QUICK_REFITS if effort == EFFORTS["quick"] else _REFITS


def trust_in(
    viewed: ViewedData,
    panel: Panel,
    soft: Float,
    n_repeats: int,
    is_given: bool,
    fit_panel: FitPanel,
    view_weights: Float,
    rng: np.random.RandomState,
) -> Trust | None:
    """Fit again on halves of (a sample of) the rows: what that says of the clusters.

    Nothing is said where half of the rows cannot hold the clusters. The refits are cheaper than the fit: they have
    fewer members, which are fitted in the leading directions of the views that vote.
    """
    n_clusters, labels = soft.shape[1], soft.argmax(axis=1).astype(np.int32)
    if n_clusters == 1:
        return Trust(1.0, np.ones(1))
    rows = np.arange(labels.size) if viewed.weights is None else np.flatnonzero(viewed.weights)
    most = max(_MOST_ROWS, _ROWS_PER_CLUSTER * n_clusters)
    if rows.size > most:
        rows = np.sort(rng.choice(rows, most, replace=False))
    if rows.size // 2 < max(n_clusters, 2):
        return None
    with collected(), threads.single():
        sample = _sampled(viewed, panel, rows, n_clusters, is_given, fit_panel, view_weights)
        repeats = Repeats.of(labels[rows], n_clusters, sample.refit, n_repeats, rng)
    return Trust(repeats.reproducibility(), repeats.of_clusters())


def _sampled(
    viewed: ViewedData,
    panel: Panel,
    rows: NDArray[np.intp],
    n_clusters: int,
    is_given: bool,
    fit_panel: FitPanel,
    view_weights: Float,
) -> _Sample:
    projected = panel.project(viewed.sources, rows)
    leading = [one.leading for one in projected.values()]
    # A device waits for the host at each step: only work with many clusters is worth it.
    here = is_given or n_clusters <= MANY or min(viewed.widths) < NOT_LOW or not is_on_gpu(leading[0])
    leading = [to_host(one) for one in leading] if here else leading
    sources = leading
    if here:
        sources = [_padded(one, viewed.widths[view]) for view, one in zip(projected, leading, strict=True)]
    if is_given:
        sources = [host_block(viewed.sources[view].take(rows)) for view in projected]
    is_sample = rows.size < (viewed.n_samples if viewed.weights is None else np.count_nonzero(viewed.weights))
    effort = EFFORTS["quick"] if is_sample or len(leading) <= _FEW_VIEWS else PLAIN
    weights = None if viewed.weights is None else to_host(viewed.weights)[rows]
    known = None if viewed.known is None else viewed.known[rows]
    is_led = not is_given and first_leads(viewed.widths)
    device = None if here else leading[0]
    return _Sample(sources, is_led, weights, known, n_clusters, effort, fit_panel, view_weights, device)


def _padded(leading: Float, width: int) -> Float:
    """The leading directions of a view, and columns of zeros: refits have the members that suit the view's columns."""
    return np.pad(leading, [(0, 0), (0, max(0, min(width, NOT_LOW) - leading.shape[1]))])


def renumbered(trust: Trust | None, numbers: NDArray[np.intp], n_clusters: int) -> Trust | None:
    """The trust in the same clusters by other numbers; NaN for numbers that stay free."""
    return None if trust is None else replace(trust, of_clusters=placed(trust.of_clusters, numbers, n_clusters, np.nan))
