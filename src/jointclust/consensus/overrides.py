"""Votes that replace those of the members, for rows with a known label or in a group."""

from __future__ import annotations

from typing import Any

import numpy as np

from jointclust.rows.arrays import namespace
from jointclust.types import Array, Float


def override_votes(n_known: int, n_clusters: int, votes_of_groups: Float | None) -> Float:
    """The table of overrides: a row for none, then one for each known class, then one for each group."""
    known = np.eye(n_known, n_clusters)
    return np.vstack([np.zeros((1, n_clusters)), known, *([] if votes_of_groups is None else [votes_of_groups])])


def override_numbers(known: Any, index: Any, n_known: int) -> Array:
    """The number of each row's override: that of its known class, else that of its group, else 0."""
    if index is None:
        return known + 1
    if known is None:
        return 1 + n_known + index
    return namespace(known).where(known >= 0, known + 1, 1 + n_known + index)
