"""What comes out of reproducing a table or figure of a paper."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
