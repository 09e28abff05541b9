"""Relative times of the stages of a fit, for estimates of the remaining time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jointclust.consensus.fitting import Settings
    from jointclust.consensus.views import ViewedData

# Time relative to that of the members: votes, and votes for each cluster at 10,000 rows; refits with few rows and with
# 10,000; votes on as many rows as the members are fitted to. Measured for 1,000 to 200,000 rows.
_VOTES, _VOTES_OF_CLUSTER, _REFITS_OF_FEW, _REFITS, _ROWS, _MANY = 0.05, 0.02, 0.8, 0.3, 0.1, 10_000


def stage_weights(settings: Settings, viewed: ViewedData, n_rows: int) -> dict[str, float]:
    """The stages in their order: members fitted to so many rows, their votes, refits, votes on all rows."""
    costs = {"members": 1.0, "votes": _VOTES + _VOTES_OF_CLUSTER * settings.n_clusters * n_rows / _MANY}
    if settings.trust:
        costs["refits"] = _REFITS + (_REFITS_OF_FEW - _REFITS) * (1.0 - min(n_rows / _MANY, 1.0))
    if viewed.n_samples > n_rows or viewed.remote is not None:
        n_all = viewed.n_samples if viewed.remote is None else viewed.remote.n_samples
        costs["rows"] = _ROWS * n_all / max(n_rows, 1)
    return costs
