"""What comes out of reproducing a table or figure of a paper: numbers, and the verdicts on its claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

PAPERS = {
    "dec": "Hou, Nie, Yi, Tao: Discriminative embedded clustering (2015)",
    "ec": "Zhang, Nie, Li: Embedded clustering via robust orthogonal least square discriminant analysis (2017)",
    "odc": "Zhang, Dai: Optimal scoring for unsupervised learning (2009)",
    "rurr": "Zhang, Li, Wu, Zhao: Data clustering via uncorrelated ridge regression (2020)",
    "all": "All methods on all data sets",
}
# What a claim begins with that no paper makes.
OURS = "Ours: "
# Fewer pairs can never be told from chance at 5%.
_LEAST = 6
_LEVEL = 0.05
VERDICTS = ("holds", "holds in part", "does not hold", "cannot be tested")


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper and what our numbers say of it.

    Attributes
    ----------
    text : str
        The claim, in short; one that begins with "Ours: " is in no paper, and is not counted with those that are.
    verdict : str
        One of "holds", "holds in part", "does not hold", "cannot be tested".
    because : str
        The numbers, or what is missing.
    share : str, default=""
        On how many of the sets, draws or dimensions it holds: "4 of 5".
    evidence : str, default=""
        Whether the runs are enough to tell: strong, weak, or against, with the test.
    """

    text: str
    verdict: str
    because: str
    share: str = ""
    evidence: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"A verdict is one of {', '.join(VERDICTS)}; got {self.verdict!r}.")


@dataclass
class Findings:
    """One table or figure of a paper, reproduced.

    Attributes
    ----------
    paper : str
        "dec", "ec", "odc", "rurr", or "all" for what no paper has.
    item : str
        Its name in the paper, such as "table 2".
    title : str
        What it shows.
    table : DataFrame
        One row per number: data set, method, measure, where the paper prints it the columns paper and difference, ours.
    figure : matplotlib Figure or None
        The figure, drawn anew.
    claims : list of Claim
        What the paper concludes from it.
    notes : list of str
        How our protocol differs.
    missing : list of str
        Data sets of the paper that are not here.
    stand_ins : list of str
        Data sets that are not in the paper and took their place.
    """

    paper: str
    item: str
    title: str
    table: DataFrame | None = None
    figure: Figure | None = None
    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    stand_ins: list[str] = field(default_factory=list)

    @property
    def slug(self) -> str:
        """Its name as a file name: "odc-table-2"."""
        return f"{self.paper}-{self.item}".replace(" ", "-")


# -- verdicts: on how many sets a claim holds, and whether the runs are enough to tell ----------------------------


def judged(
    text: str,
    flags: Mapping[str, bool],
    because: str,
    differences: Mapping[str, ArrayLike] | None = None,
    *,
    most: bool = False,
    over: str = "runs",
) -> Claim:
    """A verdict by counting: all hold, some do, none does, or there is nothing to count; with the share.

    ``flags`` says whether the claim holds by data set, draw or measure, ``because`` the numbers; ``differences`` and
    ``over`` are for :func:`evidence`. A claim of ``most`` of them holds where it is true of more than half.
    """
    tested = "" if differences is None else evidence(differences, over)
    if not flags:
        return Claim(text, "cannot be tested", because)
    n_true = sum(bool(flag) for flag in flags.values())
    enough = n_true > len(flags) / 2 if most else n_true == len(flags)
    verdict = "holds" if enough else "holds in part" if n_true else "does not hold"
    return Claim(text, verdict, because, f"{n_true} of {len(flags)}", tested)


def mostly(
    text: str, parts: Mapping[str, float], because: str, differences: Mapping[str, ArrayLike] | None = None
) -> Claim:
    """A claim that holds on each set where a share is more than half."""
    return judged(text, {name: share > 0.5 for name, share in parts.items()}, because, differences)


def evidence(differences: Mapping[str, ArrayLike], over: str = "runs") -> str:
    """Whether run by run differences tell more than chance: Wilcoxon's signed-rank test of their mean over the sets.

    Runs are paired by their seed. The test is over runs, so it speaks of these data sets, not of others. For or against
    is the side with the larger sum of ranks, which the test is of: a few runs far off can leave the mean on the other.

    ``differences`` holds by data set what the claim says is positive, one number per run, NaN where a run has none; a
    data set without any is left out. The answer is "strong" (p < 0.05 for the claim), "weak", or "strong against it",
    with mean, p and number of what is paired (``over``).

    Examples
    --------
    >>> evidence({"a": [0.1, 0.2, 0.1, 0.3, 0.2, 0.15, 0.12]})
    'strong (+0.167 in the mean, p = 0.016 over 7 paired runs)'
    """
    given = [np.asarray(one, dtype=float) for one in differences.values()]
    values = [one for one in given if not np.isnan(one).all()]
    n = min((len(one) for one in values), default=0)
    table = np.array([one[:n] for one in values])
    runs = table[:, ~np.isnan(table).any(axis=0)].mean(axis=0) if values else np.empty(0)
    if len(runs) < _LEAST:
        return f"none ({len(runs)} paired {over} are too few for a test)"
    if not np.any(np.abs(runs) > 1e-12):
        return f"none (no difference in {len(runs)} paired {over})"
    p, n_different = float(stats.wilcoxon(runs).pvalue), np.count_nonzero(runs)
    ranks_for = float(stats.wilcoxon(runs, alternative="greater").statistic)
    ahead = ranks_for > n_different * (n_different + 1) / 4
    word = "weak" if p >= _LEVEL else "strong" if ahead else "strong against it"
    return f"{word} ({runs.mean():+.3f} in the mean, p = {p:.2g} over {len(runs)} paired {over})"


def gained(
    text: str,
    gains: Mapping[str, tuple[float, float]],
    because: str,
    differences: Mapping[str, ArrayLike] | None = None,
    *,
    over: str = "runs",
) -> Claim:
    """A claim with sizes, of which each counts where at least half of it is there."""
    half = {name: ours >= claimed / 2 for name, (ours, claimed) in gains.items()}
    return judged(text, half, because, differences, over=over)


def untestable(text: str, needed: Sequence[str], missing: Sequence[str]) -> list[Claim]:
    """A claim about data of which some are not here; none where all are."""
    gone = [name for name in needed if name in missing]
    return [Claim(text, "cannot be tested", f"needs {', '.join(gone)}")] if gone else []


def percent(value: float) -> str:
    """A share for a sentence."""
    return f"{100 * value:.1f}%"


def shares(parts: Mapping[str, float]) -> str:
    """Shares by name, for a sentence."""
    return ", ".join(f"{name} {percent(share)}" for name, share in parts.items())
