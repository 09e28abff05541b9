"""How sure the clusters of a fit are, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jointclust.types import Float

LEVELS = ("not sure", "fairly sure", "sure")
_NOT, _FAIRLY, _SURE = range(3)
# Reproducibility from which on refits find the same clusters, and from which on they find about the same.
SAME, ABOUT_SAME = 0.85, 0.6
# Reproducibility from which on clusters without gaps between them are no mere pieces of a cloud.
_WITHOUT_GAPS = 0.75
# Share of the clusters that have to be apart from all others.
_APART = 0.9
# A cluster is doubtful if its Jaccard index with clusters of other rows is below this (Hennig, 2007).
DOUBTFUL = 0.6
# Rows per cluster are few up to this number; empty cells are many from this share on, and too many from this.
_FEW_ROWS, _MANY_GAPS, _TOO_MANY_GAPS = 10, 0.2, 0.5
# One column explains the clusters if they separate it by at least this, and the next and the median column by at most
# these.
_LEADS, _NEXT, _USUAL = 0.8, 0.6, 0.1
# Share of repeats that give the number of clusters, below which it is uncertain.
_UNCERTAIN = 0.5
_LISTED = 5


@dataclass(frozen=True)
class Verdict:
    """How sure the clusters are; printing it gives a sentence.

    "sure" needs all of the second column, any of the third makes it "not sure", else it is "fairly sure":

    ======================================================= ======================= ==================
    what                                                    sure                    not sure
    ======================================================= ======================= ==================
    found again on other rows (``reproducibility_``)        0.85 or more            less than 0.6
    gaps between clusters, on rows that did not make them   nine clusters of ten    none, and
                                                            apart from all others   reproducibility
                                                                                    less than 0.75
    one column that explains the clusters                   none                    any
    chosen number of clusters: structure                    found                   not found
    chosen number of clusters: place in the range searched  inside
    share of the repeats that give that number              0.5 or more
    rows for each cluster                                   10 or more
    empty cells                                             20% or fewer            more than 50%
    ======================================================= ======================= ==================

    Attributes
    ----------
    level : str
        "sure", "fairly sure" or "not sure".
    reasons : list of str
        Sentences, what speaks most against the clusters first.
    """

    level: str
    reasons: list[str]

    def __str__(self) -> str:
        reasons = "; ".join(reason[0].lower() + reason[1:].removesuffix(".") for reason in self.reasons)
        return f"{self.level.capitalize()}: {reasons}."


def verdict(
    n_clusters: int,
    n_rows: int,
    reproducibility: float | None,
    cluster_reproducibility: Float | None,
    *,
    n_separate: int | None = None,
    number: Any = None,
    decisive_column: str | None = None,
    missing: float = 0.0,
) -> Verdict:
    """The verdict on clusters, from what is known of them.

    Parameters
    ----------
    n_clusters, n_rows : int
        Their number, and that of the rows.
    reproducibility, cluster_reproducibility : float and array, or None
        How far they are found again on other rows; None where this was not measured.
    n_separate : int or None
        Groups of clusters between which there are gaps.
    number : ClusterNumber or None
        How the number of clusters was chosen, where it was.
    decisive_column : str or None
        A column whose levels or cells the clusters are.
    missing : float
        Share of the cells that are empty.
    """
    if n_clusters == 1:
        why = "there is nothing to tell apart" if number is None else number.verdict
        return Verdict(LEVELS[_NOT], [f"All rows are in one cluster: {why}."])
    facts = [
        _of_reproducibility(reproducibility),
        _of_clusters(cluster_reproducibility),
        _gaps(n_clusters, n_separate, reproducibility, number),
        _number(number),
        _column(decisive_column),
        _few(n_rows, n_clusters),
        _empty(missing),
    ]
    known = sorted((one for one in facts if one is not None), key=lambda one: one[0])
    return Verdict(LEVELS[known[0][0]], [reason for _, reason in known])


def _of_reproducibility(value: float | None) -> tuple[int, str]:
    if value is None:
        return _NOT, "Whether the clusters are found again on other rows was not measured."
    score = f"(reproducibility {value:.2f}; 1 is the same, 0 is chance)"
    if value >= SAME:
        return _SURE, f"The same clusters are found again on other rows {score}."
    if value >= ABOUT_SAME:
        return _FAIRLY, f"Much the same clusters are found again on other rows {score}."
    return _NOT, f"Other clusters are found on other rows {score}."


def _of_clusters(values: Float | None) -> tuple[int, str] | None:
    """The clusters that are hardly found again; the level is that of all clusters together."""
    doubtful = [] if values is None else np.flatnonzero(values < DOUBTFUL).tolist()
    if values is None or not doubtful:
        return None
    if len(doubtful) == 1:
        return _SURE, f"Cluster {doubtful[0]} is hardly found again on other rows ({values[doubtful[0]]:.0%})."
    listed = ", ".join(map(str, doubtful[:_LISTED]))
    more = f" and {len(doubtful) - _LISTED} more" if len(doubtful) > _LISTED else ""
    text = f"{len(doubtful)} of the {len(values)} clusters ({listed}{more}) are hardly found again on other rows"
    return _SURE, f"{text} (less than {DOUBTFUL:.0%})."


def _gaps(n_clusters: int, n_separate: int | None, value: float | None, number: Any) -> tuple[int, str] | None:
    if number is not None and not number.has_structure:
        return _NOT, f"No structure found: {number.verdict}."
    if n_separate is None or value is None:
        return None
    if n_separate < 2 and value < _WITHOUT_GAPS:
        return (
            _NOT,
            "No structure found: no two clusters have a gap between them; they are pieces of one cloud of rows.",
        )
    if n_separate < 2:
        return _FAIRLY, "No two clusters have a gap between them: they touch, or are pieces of one cloud of rows."
    if n_separate < _APART * n_clusters:
        return _FAIRLY, f"Gaps part the {n_clusters} clusters into {n_separate} groups only: some touch one another."
    return _SURE, "There are gaps between the clusters."


def _number(number: Any) -> tuple[int, str] | None:
    if number is None or not number.has_structure:
        return None
    if getattr(number, "at_edge", False):
        return _FAIRLY, f"The number of clusters is at the edge of the range that was searched: {number.verdict}."
    if number.confidence < _UNCERTAIN:
        return _FAIRLY, f"The number of clusters is uncertain: {number.verdict}."
    return None


def _column(name: str | None) -> tuple[int, str] | None:
    if name is None:
        return None
    return _NOT, f"One column explains the clusters: they are what {name!r} says, and little else."


def _few(n_rows: int, n_clusters: int) -> tuple[int, str] | None:
    if n_rows >= _FEW_ROWS * n_clusters:
        return None
    return _FAIRLY, f"There are few rows: {n_rows / n_clusters:.0f} for each cluster."


def _empty(missing: float) -> tuple[int, str] | None:
    if missing <= _MANY_GAPS:
        return None
    level = _NOT if missing > _TOO_MANY_GAPS else _FAIRLY
    return level, f"Many cells are empty ({missing:.0%}): what is filled in is a guess."


def leading_column(columns: list[dict[str, Any]]) -> str | None:
    """The one column that the clusters separate, if they hardly differ in most others; ``columns_`` of a model."""
    drives = {str(one["name"]): one["drives"] for one in columns if one["used"] and not np.isnan(one["drives"])}
    if len(drives) < 3:
        return None
    first, second, *_ = ordered = sorted(drives.values(), reverse=True)
    leads = first >= _LEADS and second < _NEXT and float(np.median(ordered[1:])) < _USUAL
    return max(drives, key=lambda name: drives[name]) if leads else None


def missing_share(description: Any) -> float:
    """The share of empty cells in the columns that are used."""
    columns = [] if description is None else description.columns
    shares = [column.missing for column in columns if column.used and column.kind != "constant"]
    return float(np.mean(shares)) if shares else 0.0
