"""The confidence of a label."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from jointclust.numerics.partitions import placed
from jointclust.rows.arrays import like, namespace
from jointclust.types import Float, Labels

# Votes below this share count as this share.
_LEAST_VOTES = 1e-3
# The slope where nothing else is known.
_USUAL_SLOPE = 1.0
# Outlier scores are usual up to this multiple of their 0.9 quantile.
_USUAL, _QUANTILE, _POWER = 1.5, 0.9, 4
# Less confidence than this is none.
_LEAST = 1e-16
# Fewest rows for a cluster's own spread, else it has that of all rows; it is at least this share of that.
_ENOUGH, _LEAST_SPREAD = 20, 0.5


class Confidence(Protocol):
    """What makes confidence of votes and outlier scores."""

    def confidence(self, votes: Float, scores: Float) -> Float:
        """The confidence of each row."""

    def is_far(self, labels: Labels, scores: Float) -> NDArray[np.bool_]:
        """Whether rows are unlike any of their cluster."""

    def renumbered(self, numbers: NDArray[np.intp], n_clusters: int) -> Confidence:
        """The rule for the same clusters by other numbers, of which some may stay free."""


@dataclass(frozen=True, eq=False)
class ConfidenceRule:
    """``1/(1 + exp(-a_c - b m))``, times ``(u_c/s)^4`` if less than 1, for a row of cluster c.

    m is the logarithm of the ratio of the two largest votes for the row, s its outlier score. A row without any value
    has no score (NaN), and the confidence of a guess.

    Attributes
    ----------
    levels : array of shape (n_clusters,)
        The numbers a: the odds, in logarithms, that rows of a cluster between it and another are rightly there.
    slope : float
        b: how far the votes add to them.
    usual : array of shape (n_clusters,)
        u: the outlier score beyond which a row is far away, by the spread of the cluster.
    """

    levels: Float
    slope: float
    usual: Float

    @classmethod
    def of_votes(cls, labels: Labels, scores: Float, n_clusters: int) -> ConfidenceRule:
        """The rule by votes alone: the larger of the two largest votes over both."""
        return cls(np.zeros(n_clusters), _USUAL_SLOPE, usual_scores(labels, scores, n_clusters))

    def for_others(self, shares: Float) -> ConfidenceRule:
        """The rule for other clusters, each a mixture of these clusters by its row of ``shares``."""
        return ConfidenceRule(shares @ self.levels, self.slope, shares @ self.usual)

    def confidence(self, votes: Float, scores: Float) -> Float:
        """The confidence of each row."""
        xp = namespace(votes)
        labels = xp.argmax(votes, axis=1)
        level, usual = (xp.take(like(one, votes), labels, axis=0) for one in (self.levels, self.usual))
        likely = 1.0 / (1.0 + xp.exp(-level - self.slope * _log_ratio(votes)))
        far = xp.astype(scores, votes.dtype) / usual
        return _or_none(likely / xp.clip(far, 1.0, None) ** _POWER, votes.shape[1])

    def is_far(self, labels: Labels, scores: Float) -> NDArray[np.bool_]:
        """Whether rows are unlike any of their cluster."""
        return scores > namespace(scores).take(like(self.usual, scores), labels, axis=0)

    def renumbered(self, numbers: NDArray[np.intp], n_clusters: int) -> ConfidenceRule:
        """The rule for the same clusters by other numbers, of which some may stay free."""
        levels, usual = placed(self.levels, numbers, n_clusters, 0.0), placed(self.usual, numbers, n_clusters, 1.0)
        return replace(self, levels=levels, usual=usual)


def _or_none(confidence: Float, n_clusters: int) -> Float:
    """Confidence, 0 where there is next to none, and that of a guess for rows without a value, which have no score."""
    xp = namespace(confidence)
    confidence = xp.where(xp.isnan(confidence), 1.0 / n_clusters, confidence)
    return xp.where(confidence < _LEAST, 0.0 * confidence, confidence)


def _log_ratio(votes: Float) -> Float:
    """The logarithm of the ratio of the two largest votes."""
    xp = namespace(votes)
    if votes.shape[1] == 1:
        return xp.full_like(votes[:, 0], -np.log(_LEAST_VOTES))
    ordered = xp.sort(xp.clip(votes, _LEAST_VOTES, None), axis=1)
    return xp.log(ordered[:, -1] / ordered[:, -2])


def usual_scores(labels: Labels, scores: Float, n_clusters: int) -> Float:
    """The outlier score of each cluster beyond which a row is far away.

    A cluster's spread is its median score. In units of that of their clusters, rows of all clusters have usual scores.
    Rows without a score do not count.
    """
    known = ~np.isnan(scores)
    labels, scores = (labels[known], scores[known]) if known.any() else (labels, np.ones(labels.size))
    overall = float(np.median(scores)) or 1.0
    owns = [scores[labels == cluster] for cluster in range(n_clusters)]
    spreads = np.array([float(np.median(own)) if own.size >= _ENOUGH else overall for own in owns])
    spreads = np.maximum(spreads, _LEAST_SPREAD * overall)
    return _USUAL * spreads * (float(np.quantile(scores / spreads[labels], _QUANTILE)) or 1.0)


@dataclass(frozen=True)
class ConfidenceScale:
    """The rule of models of version 0.2, ``1/(1 + exp(-0.87 logit(v) - trust))`` of the votes v for a row's label.

    It is multiplied by ``(usual/score)^4`` if that is less than 1.

    Attributes
    ----------
    trust : float
        A number for the fit.
    usual : float
        The outlier score beyond which a row is unlike the others.
    """

    trust: float
    usual: float

    def confidence(self, votes: Float, scores: Float) -> Float:
        """The confidence of each row."""
        xp = namespace(votes)
        v = xp.clip(xp.max(votes, axis=1), _LEAST_VOTES, 1 - _LEAST_VOTES)
        likely = 1.0 / (1.0 + xp.exp(-0.87 * xp.log(v / (1 - v)) - self.trust))
        return _or_none(likely * (self.usual / xp.clip(scores, self.usual, None)) ** _POWER, votes.shape[1])

    def is_far(self, labels: Labels, scores: Float) -> NDArray[np.bool_]:
        """Whether rows are unlike the others."""
        return scores > self.usual

    def renumbered(self, numbers: NDArray[np.intp], n_clusters: int) -> ConfidenceScale:
        """The same: it does not depend on the clusters."""
        return self
