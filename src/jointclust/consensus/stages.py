"""Relative times of the stages of a fit, for estimates of the remaining time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jointclust.consensus.fitting import Settings
    from jointclust.consensus.views import ViewedData

# Time relative to that of the members: votes, which grow with the square of the number of clusters, about 60 of which
# take as long as members; refits with few rows and with 10,000, which vote, too; votes on as many rows as the members
# are fitted to. Measured for 1,000 to 200,000 rows and 3 to 60 clusters.
_VOTES, _VOTES_OF_SIXTY, _REFITS_OF_FEW, _REFITS, _REFITS_OF_SIXTY = 0.1, 0.8, 0.8, 0.3, 0.25
_SIXTY, _ROWS, _MANY = 60, 0.1, 10_000


def stage_weights(settings: Settings, viewed: ViewedData, n_rows: int) -> dict[str, float]:
    """The stages in their order: members fitted to so many rows, their votes, refits, votes on all rows."""
    square = (settings.n_clusters / _SIXTY) ** 2
    costs = {"members": 1.0, "votes": _VOTES + _VOTES_OF_SIXTY * square}
    if settings.trust:
        few = 1.0 - min(n_rows / _MANY, 1.0)
        costs["refits"] = _REFITS + (_REFITS_OF_FEW - _REFITS) * few + _REFITS_OF_SIXTY * square
    if viewed.n_samples > n_rows or viewed.remote is not None:
        n_all = viewed.n_samples if viewed.remote is None else viewed.remote.n_samples
        costs["rows"] = _ROWS * n_all / max(n_rows, 1)
    return costs
