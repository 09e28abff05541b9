"""Votes that replace those of the members, for rows with a known label or in a group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.rows.arrays import to_host
from jointclust.types import Array, Float


def overrides_of(
    n_known: int, n_clusters: int, known: Any, index: Any, votes_of_groups: Float | None
) -> tuple[Float, NDArray[np.bool_]]:
    """The table of overrides: a row for none, then one for each known class, then one for each group.

    Beside it, whether the override is that of a known class.
    """
    votes = np.vstack([np.zeros((1, n_clusters)), np.eye(n_known, n_clusters)])
    is_known = np.arange(n_known + 1) > 0
    if votes_of_groups is None:
        return votes, is_known
    classes = np.full(len(votes_of_groups), -1)
    if known is not None:
        known, index = to_host(known), to_host(index)
        classes[index[known >= 0]] = known[known >= 0]
    of_groups = np.where(classes[:, None] >= 0, votes[1 + classes], votes_of_groups)
    return np.vstack([votes, of_groups]), np.append(is_known, classes >= 0)


def override_numbers(known: Any, index: Any, n_known: int) -> Array:
    """The number of each row's override: that of its group if there are groups, else that of its known class, or 0."""
    return known + 1 if index is None else 1 + n_known + index
