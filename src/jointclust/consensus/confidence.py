"""How sure a label is: votes made to mean a share of rows that are right, and less for rows unlike any other."""

from __future__ import annotations

import numpy as np

from jointclust.rows.arrays import namespace
from jointclust.types import Float

# Fitted on 21 real data sets whose classes the default finds for more than half of the rows: the evidence page.
_SLOPE, _LEVEL, _WIDE, _MANY = 0.87, 0.37, 0.26, -0.1
_LEAST_DOUBT = 1e-3
# Outlier scores up to this many times the score that nine rows in ten stay below are usual.
_USUAL, _QUANTILE, _POWER = 1.5, 0.9, 4


def trust(n_samples: int, n_features: int, n_clusters: int) -> float:
    """How far votes can be trusted: less where rows are fewer than columns, and where there are many clusters.

    On few rows of many columns members agree on what is chance.
    """
    return float(_LEVEL + _WIDE * min(np.log(n_samples / n_features), 0.0) + _MANY * np.log(n_clusters))


def usual_score(scores: Float) -> float:
    """The outlier score from which on a row is unlike the others."""
    return _USUAL * float(np.quantile(scores, _QUANTILE)) or 1.0


def confidence(votes: Float, scores: Float, trusted: float, usual: float) -> Float:
    """``1/(1 + exp(-a logit(v) - trust))`` of the votes v for a row's own label; times ``(usual/score)^4`` beyond."""
    xp = namespace(votes)
    v = xp.clip(xp.max(votes, axis=1), _LEAST_DOUBT, 1 - _LEAST_DOUBT)
    likely = 1.0 / (1.0 + xp.exp(-_SLOPE * xp.log(v / (1 - v)) - trusted))
    return likely * (usual / xp.clip(scores, usual, None)) ** _POWER
