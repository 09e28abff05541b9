"""How sure a label is: votes made to mean a share of rows that are right, and less for rows unlike any other."""

from __future__ import annotations

import numpy as np

from jointclust.types import Float

# Outlier scores up to this many times the score that nine rows in ten stay below are usual.
_USUAL, _QUANTILE, _POWER = 1.5, 0.9, 4


def usual_score(scores: Float) -> float:
    """The outlier score from which on a row is unlike the others."""
    return _USUAL * float(np.quantile(scores, _QUANTILE)) or 1.0


def confidence(votes: Float, scores: Float, usual: float) -> Float:
    """The votes for a row's own label, taken back as the row lies beyond what is usual."""
    return votes.max(axis=1) * np.minimum(1.0, usual / np.maximum(scores, usual)) ** _POWER
