"""How sure the clusters of a fit are, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jointclust.consensus.judged import Judgement
from jointclust.judge.judge import the_judge
from jointclust.types import Float

LEVELS = ("not sure", "fairly sure", "sure")
_NOT, _FAIRLY, _SURE = range(3)
# Halves of the rows find the same clusters from here on, and others below the second; a cluster is doubtful if its
# Jaccard index with the best match in a half is below the third, or that in refits on other rows below the last.
SAME, ABOUT_SAME, DOUBTFUL, DOUBTFUL_IN_REFITS = 0.85, 0.6, 0.3, 0.6
# Rows per cluster are few up to this number; empty cells are many from this share on, and too many from this.
_FEW_ROWS, _MANY_GAPS, _TOO_MANY_GAPS = 10, 0.2, 0.5
# One column explains the clusters if they separate it by at least this, and the next and the median column by at most
# these.
_LEADS, _NEXT, _USUAL = 0.8, 0.6, 0.1
# Confidence of the number of clusters below which it is uncertain.
_UNCERTAIN = 0.5
# Probabilities that there are no clusters from which on that is fairly sure, and sure.
_NOTHING = 0.7, 0.9
_LISTED = 5


@dataclass(frozen=True)
class Verdict:
    """How sure the clusters are; printing it gives a sentence.

    It rests on the agreement with the true clusters that the judge predicts for the very partition found
    (``predicted_agreement_``), with limits that were set on planted data. "sure" needs all of the second column, any of
    the third makes it "not sure", else it is "fairly sure":

    ======================================================= ======================= ==================
    what                                                    sure                    not sure
    ======================================================= ======================= ==================
    predicted agreement                                     high                    low
    clusters that halves of the rows hardly find            none
    clusters of two halves of the rows                      at least much the same
    one column that explains the clusters                   none                    any
    structure                                               found                   not found
    chosen number of clusters: place in the range searched  inside
    rows for each cluster                                   10 or more
    empty cells                                             20% or fewer            more than 50%
    ======================================================= ======================= ==================

    Of one cluster it says how sure it is that there are no clusters.

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
    judgement: Judgement | None,
    n_clusters: int,
    n_rows: int,
    *,
    reproducibility: float | None = None,
    refound: Float | None = None,
    number: Any = None,
    decisive_column: str | None = None,
    missing: float = 0.0,
) -> Verdict:
    """The verdict on clusters, from what is known of them.

    Parameters
    ----------
    judgement : Judgement or None
        What the judge says of them; None where nothing was measured.
    n_clusters, n_rows : int
        Their number, and that of the rows.
    reproducibility : float or None
        How far refits on other rows find them again; None where this was not measured.
    refound : array of shape (n_clusters,) or None
        The same of each cluster, where it is to count in place of what halves of the rows find.
    number : ClusterNumber or None
        How the number of clusters was chosen, where it was.
    decisive_column : str or None
        A column whose levels or cells the clusters are.
    missing : float
        Share of the cells that are empty.
    """
    if n_clusters == 1:
        return _of_one(judgement)
    facts = [
        *_of_judge(judgement, refound),
        _of_reproducibility(reproducibility),
        _number(number),
        _column(decisive_column),
        _few(n_rows, n_clusters),
        _empty(missing),
    ]
    known = sorted((one for one in facts if one is not None), key=lambda one: one[0])
    return Verdict(LEVELS[known[0][0]], [reason for _, reason in known])


def _of_one(judgement: Judgement | None) -> Verdict:
    """How sure it is that there are no clusters."""
    if judgement is None:
        return Verdict(LEVELS[_NOT], ["All rows are in one cluster: there is nothing to tell apart."])
    nothing = 1.0 - judgement.anything
    level = sum(nothing >= limit for limit in _NOTHING)
    return Verdict(
        LEVELS[level], [f"All rows are in one cluster: that there are no others has a probability of {nothing:.0%}."]
    )


def _of_judge(judgement: Judgement | None, refound: Float | None) -> list[tuple[int, str] | None]:
    """What is predicted, and the measures that people understand."""
    if judgement is None:
        return [(_NOT, "How sure the clusters are was not measured.")]
    if refound is None:
        doubtful = _of_clusters(judgement.found, DOUBTFUL, "in halves of the rows")
    else:
        doubtful = _of_clusters(refound, DOUBTFUL_IN_REFITS, "in refits on other rows")
    if not judgement.has_structure:
        text = f"Rows without clusters look like these: clusters have a probability of {judgement.anything:.0%}."
        return [(_NOT, text), doubtful]
    fairly, sure = (float(one) for one in the_judge().limits[1:])
    level = int(judgement.agreement >= fairly) + int(judgement.agreement >= sure)
    words = ("little", "much", "nearly everything")[level]
    score = f"predicted agreement {judgement.agreement:.2f}; 1 is the same, 0 is chance"
    agreement = level, f"These clusters are expected to have {words} in common with the true ones ({score})."
    return [agreement, doubtful, _of_halves(judgement.measures["halves find it"])]


def _of_halves(value: float) -> tuple[int, str]:
    """Whether halves of the rows find the same clusters."""
    score = f"(adjusted Rand index {value:.2f})"
    if value >= SAME:
        return _SURE, f"Two halves of the rows find the same clusters {score}."
    if value >= ABOUT_SAME:
        return _SURE, f"Two halves of the rows find much the same clusters {score}."
    return _FAIRLY, f"Two halves of the rows find other clusters {score}."


def _of_reproducibility(value: float | None) -> tuple[int, str] | None:
    if value is None:
        return None
    score = f"(reproducibility {value:.2f})"
    if value >= SAME:
        return _SURE, f"Refits on other rows find the same clusters {score}."
    if value >= ABOUT_SAME:
        return _SURE, f"Refits on other rows find much the same clusters {score}."
    return _FAIRLY, f"Refits on other rows find other clusters {score}."


def _of_clusters(values: Float, least: float, where: str) -> tuple[int, str] | None:
    """The clusters that are hardly found."""
    doubtful = np.flatnonzero(values < least).tolist()
    if not doubtful:
        return None
    if len(doubtful) == 1:
        return _FAIRLY, f"Cluster {doubtful[0]} is hardly found {where} ({values[doubtful[0]]:.0%})."
    listed = ", ".join(map(str, doubtful[:_LISTED]))
    more = f" and {len(doubtful) - _LISTED} more" if len(doubtful) > _LISTED else ""
    text = f"{len(doubtful)} of the {len(values)} clusters ({listed}{more}) are hardly found {where}"
    return _FAIRLY, f"{text} (less than {least:.0%})."


def _number(number: Any) -> tuple[int, str] | None:
    if number is None or not number.has_structure or number.n_clusters == 1:
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
