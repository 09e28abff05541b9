"""What comes out of reproducing a paper: numbers, and one verdict for each of its claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from pandas import DataFrame
from scipy import stats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPERS = {
    "dec": "Hou, Nie, Yi, Tao: Discriminative embedded clustering (2015)",
    "ec": "Zhang, Nie, Li: Embedded clustering via robust orthogonal least square discriminant analysis (2017)",
    "odc": "Zhang, Dai: Optimal scoring for unsupervised learning (2009)",
    "rurr": "Zhang, Li, Wu, Zhao: Data clustering via uncorrelated ridge regression (2020)",
    "all": "All methods on all data sets",
}
HOLDS, IN_PART, TIE, FAILS, DEPENDS, UNTESTED = VERDICTS = (
    "holds",
    "holds in part",
    "tie",
    "does not hold",
    "depends on a choice",
    "cannot be tested",
)
FOR, EVEN, AGAINST = "for", "tie", "against"
# What must be true of the parts of a claim: each of them, more than half, or one.
RULES = ("every", "most", "one")
LEVEL = 0.05
# Relative differences below this are rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Part:
    """One data set, draw or point that a claim is about: on which side it is, and by how much.

    ``mean`` is what the claim says is positive (or small), ``low`` to ``high`` its 95% interval over ``n`` paired runs,
    and ``p`` the probability of such a mean where the difference is nothing, or the least that a claim of a size asks
    for.
    """

    name: str
    outcome: str
    mean: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    p: float = float("nan")
    n: int = 1

    @property
    def words(self) -> str:
        """The part in a sentence."""
        if np.isnan(self.mean):
            return self.name
        interval = f" [{self.low:+.3g}, {self.high:+.3g}]" if self.n > 1 else ""
        return f"{self.name} {self.mean:+.3g}{interval}"


def ahead(name: str, differences: ArrayLike, least: float = 0.0, rounding: float = ROUNDING) -> Part:
    """Whether paired differences are above ``least``: for where their interval is, against where it is below.

    It is the 95% interval of the mean by Student's t. What lies between is a tie, and so is less than rounding.

    Examples
    --------
    >>> ahead("iris", [0.1, 0.2, 0.1, 0.3, 0.2]).outcome
    'for'
    >>> ahead("iris", [0.1, -0.2, 0.1, -0.3, 0.2]).outcome
    'tie'
    """
    mean, low, high, p, n = _interval(differences, least)
    if n == 0:
        return Part(name, EVEN, n=0)
    outcome = FOR if low > least + rounding else AGAINST if high < least - rounding else EVEN
    return Part(name, outcome, mean, low, high, p, n)


def near(name: str, differences: ArrayLike, size: float) -> Part:
    """Whether paired differences are within a size: for where their interval is, against where it is outside."""
    mean, low, high, p, n = _interval(differences, 0.0)
    if n == 0:
        return Part(name, EVEN, n=0)
    outcome = FOR if -size <= low and high <= size else AGAINST if high < -size or low > size else EVEN
    return Part(name, outcome, mean, low, high, p, n)


def fact(name: str, holds: bool, value: float = float("nan")) -> Part:
    """A part that is true or false without chance."""
    return Part(name, FOR if holds else AGAINST, value, value, value)


def _interval(differences: ArrayLike, middle: float) -> tuple[float, float, float, float, int]:
    """Mean, both ends of its interval, p of the mean being ``middle``, and how many differences there are."""
    values = np.asarray(differences, dtype=float)
    values = values[~np.isnan(values)]
    n = len(values)
    if n < 2:
        value = float(values[0]) if n else float("nan")
        return value, value, value, float("nan"), n
    mean, spread = float(values.mean()), float(values.std(ddof=1) / np.sqrt(n))
    if spread == 0:
        return mean, mean, mean, 1.0 if mean == middle else 0.0, n
    half = float(stats.t.ppf(1 - LEVEL / 2, n - 1)) * spread
    return mean, mean - half, mean + half, float(2 * stats.t.sf(abs(mean - middle) / spread, n - 1)), n


@dataclass(frozen=True)
class Reading:
    """The parts of a claim for one value of what the paper leaves open.

    One that is not ``counted`` is another reading of the claim, or a finding of ours: it has a verdict, which does not
    enter that of the claim. A part without numbers is left out.
    """

    parts: Sequence[Part]
    choice: str = ""
    counted: bool = True

    def kept(self) -> list[Part]:
        return [part for part in self.parts if part.n > 0]

    def verdict(self, rule: str) -> str:
        """From how many parts are for, tied and against.

        "every" of them has to be for; "most" is more than half, and more than half against refutes it; "one" is enough.
        """
        count, n = Counter(part.outcome for part in self.kept()), len(self.kept())
        if n == 0:
            return UNTESTED
        if count[FOR] == n or (rule == "most" and 2 * count[FOR] > n) or (rule == "one" and count[FOR]):
            return HOLDS
        if not count[FOR] and not count[AGAINST]:
            return TIE
        if not count[FOR] or (rule == "most" and 2 * count[AGAINST] > n):
            return FAILS
        return IN_PART

    def share(self) -> str:
        """How many of the parts are for, and how many are tied."""
        count = Counter(part.outcome for part in self.kept())
        ties = f", {count[EVEN]} tied" if count[EVEN] else ""
        return f"{count[FOR]} of {len(self.kept())}{ties}"


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper and what our numbers say of it.

    Attributes
    ----------
    key : str
        Its name, such as "dec-7".
    place : str
        Section, figure, table or theorem.
    text : str
        The claim, in short.
    verdict : str
        One of "holds", "holds in part", "tie", "does not hold", "depends on a choice", "cannot be tested".
    rests : str
        What the verdict rests on: data, algorithm, measure, or why there is none.
    share : str, default=""
        Of how many parts it is true ("4 of 5, 1 tied"); where it depends on a choice, at which values it has which
        verdict.
    rule : str, default="every"
        Of how many parts it has to be true.
    readings : sequence of Reading, default=()
        The parts behind it, by choice; those that are not counted are folded.
    """

    key: str
    place: str
    text: str
    verdict: str
    rests: str
    share: str = ""
    rule: str = "every"
    readings: Sequence[Reading] = ()

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"A verdict is one of {', '.join(VERDICTS)}; got {self.verdict!r}.")

    @property
    def evidence(self) -> str:
        """The parts of each counted reading, or how many of each group where they are many."""
        counted = [one for one in self.readings if one.counted and one.kept()]
        texts = [(f"{one.choice}: " if one.choice else "") + _in_words(one.kept()) for one in counted]
        return ". ".join(texts)


def _in_words(parts: Sequence[Part], most: int = 9) -> str:
    if len(parts) <= most:
        return "; ".join(part.words for part in parts)
    groups: dict[str, list[Part]] = {}
    for part in parts:
        groups.setdefault(part.name.partition(",")[0], []).append(part)
    if len(groups) > most:
        groups = {"all": list(parts)}
    return "; ".join(f"{name} {Reading(own).share()}, mean {_mean(own):+.3f}" for name, own in groups.items())


def _mean(parts: Iterable[Part]) -> float:
    return float(np.mean([part.mean for part in parts]))


def judged(key: str, place: str, text: str, rests: str, readings: Sequence[Reading], rule: str = "every") -> Claim:
    """A claim with the verdict of its counted readings: theirs where they agree; else it depends on the choice.

    Examples
    --------
    >>> for_it, against = fact("a", True), fact("a", False)
    >>> judged("x", "", "", "", [Reading([for_it], "at 1"), Reading([against], "at 2")]).verdict
    'depends on a choice'
    """
    counted = [one for one in readings if one.counted and one.kept()]
    verdicts = [one.verdict(rule) for one in counted]
    if not counted:
        return Claim(key, place, text, UNTESTED, rests, rule=rule, readings=readings)
    if len(set(verdicts)) == 1:
        shares = list(dict.fromkeys(one.share() for one in counted))
        share = shares[0] if len(shares) == 1 else "; ".join(f"{one.choice}: {one.share()}" for one in counted)
        return Claim(key, place, text, verdicts[0], rests, share, rule, readings)
    where: dict[str, list[str]] = {}
    for verdict, one in zip(verdicts, counted, strict=True):
        where.setdefault(verdict, []).append(one.choice)
    share = "; ".join(f"{verdict}: {', '.join(where[verdict])}" for verdict in VERDICTS if verdict in where)
    return Claim(key, place, text, DEPENDS, rests, share, rule, readings)


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
