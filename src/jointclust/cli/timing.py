"""How long a fit of the default will take, said before it when that is long."""

from __future__ import annotations

import time

import numpy as np

from jointclust.cli.console import lasting
from jointclust.cli.models import Clusters
from jointclust.consensus.views import MOST_ROWS

# Seconds of one processor for 10,000 rows of a table: of the fit itself, for each cluster, for each column; for the
# votes on a row; for the search for the number of clusters, and for that in 1,000 rows. Measured where the probe took
# so long; sums were right to a fifth, those of short quick fits to a half.
_FIT, _CLUSTER, _COLUMN, _ROW, _NUMBER, _SMALL_NUMBER = 6.2, 0.55, 0.0145, 1.5e-4, 16.5, 14.0
_PROBE = 0.012
# What members and votes cost beside those of the normal effort.
_EFFORTS = {"quick": (0.25, 0.55), "normal": (1.0, 1.0), "thorough": (3.0, 3.0)}
# Clusters that are reckoned with where the number is not known, and seconds that nobody needs to be told of.
_CLUSTERS, _SHORT = 10, 30.0


def announced(n_rows: int, n_columns: int, clusters: Clusters, effort: str) -> str:
    """What to say before a long fit, and how to have it faster; nothing before a short one."""
    n_clusters = clusters if isinstance(clusters, int) else None
    seconds = estimate(n_rows, n_columns, n_clusters, effort) * _slowness()
    if seconds < _SHORT:
        return ""
    ways = ["--method ldakm (a fraction of that)"]
    if effort != "quick":
        ways.insert(0, "--set effort=quick (half or less)")
    if n_clusters is None:
        ways.insert(0, "--clusters N (no search for their number)")
    return f"This takes about {lasting(seconds)}. Faster: {', '.join(ways)}."


def estimate(n_rows: int, n_columns: int, n_clusters: int | None, effort: str = "normal") -> float:
    """Seconds of one processor that a consensus takes.

    Members are fitted to 10,000 rows at the most, and all rows are voted on.

    Examples
    --------
    >>> estimate(1_000_000, 50, 10) > 3 * estimate(200_000, 50, 10)
    True
    """
    share = min(n_rows, MOST_ROWS) / MOST_ROWS
    count = 0.0 if n_clusters is not None else share * _NUMBER + min(n_rows / 1000, 1) * _SMALL_NUMBER
    return sum(_members_and_votes(n_rows, n_columns, n_clusters, effort)) + count


def members_share(n_rows: int, n_columns: int, clusters: Clusters, effort: str) -> float:
    """Part of the time of a fit that the members take; votes on all rows take the rest."""
    members, votes = _members_and_votes(n_rows, n_columns, clusters if isinstance(clusters, int) else None, effort)
    return members / (members + votes)


def _members_and_votes(n_rows: int, n_columns: int, n_clusters: int | None, effort: str) -> tuple[float, float]:
    members = min(n_rows, MOST_ROWS) / MOST_ROWS * (_FIT + _CLUSTER * (n_clusters or _CLUSTERS) + _COLUMN * n_columns)
    of_members, of_votes = _EFFORTS.get(effort, (1.0, 1.0))
    return members * of_members, _ROW * n_rows * of_votes


def _slowness() -> float:
    """How many times longer this machine, as busy as it is, takes for a little work of the kind that fits do."""
    rng = np.random.RandomState(0)
    rows, centers = rng.standard_normal((4000, 50)), rng.standard_normal((50, 20))

    def probed() -> float:
        began = time.perf_counter()
        for _ in range(30):
            (rows @ centers).argmin(axis=1)
        return time.perf_counter() - began

    return sorted(probed() for _ in range(3))[1] / _PROBE
