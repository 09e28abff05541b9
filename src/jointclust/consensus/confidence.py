"""The confidence of a label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jointclust.rows.arrays import namespace
from jointclust.types import Float

# Fitted on 21 real data sets whose classes the default finds for more than half of the rows: the evidence page.
_SLOPE, _LEVEL, _WIDE, _MANY = 0.87, 0.37, 0.26, -0.1
_LEAST_DOUBT = 1e-3
# Outlier scores are usual up to this multiple of the score that nine rows in ten stay below.
_USUAL, _QUANTILE, _POWER = 1.5, 0.9, 4


@dataclass(frozen=True)
class ConfidenceScale:
    """``1/(1 + exp(-a logit(v) - trust))`` of the votes v for a row's label; times ``(usual/score)^4`` if less than 1.

    Attributes
    ----------
    trust : float
        How far votes can be trusted: on few rows of many columns members agree by chance.
    usual : float
        The outlier score beyond which a row is unlike the others.
    """

    trust: float
    usual: float

    @classmethod
    def of(cls, scores: Float, n_samples: int, n_features: int, n_clusters: int) -> ConfidenceScale:
        """The scale for a fit with these outlier scores."""
        usual = _USUAL * float(np.quantile(scores, _QUANTILE)) or 1.0
        return cls(cls.trust_in(n_samples, n_features, n_clusters), usual)

    @staticmethod
    def trust_in(n_samples: int, n_features: int, n_clusters: int) -> float:
        """Trust, which is less for fewer rows than columns, and for many clusters."""
        return float(_LEVEL + _WIDE * min(np.log(n_samples / n_features), 0.0) + _MANY * np.log(n_clusters))

    def confidence(self, votes: Float, scores: Float) -> Float:
        """The confidence of each row."""
        xp = namespace(votes)
        v = xp.clip(xp.max(votes, axis=1), _LEAST_DOUBT, 1 - _LEAST_DOUBT)
        likely = 1.0 / (1.0 + xp.exp(-_SLOPE * xp.log(v / (1 - v)) - self.trust))
        return likely * (self.usual / xp.clip(scores, self.usual, None)) ** _POWER
