"""The printed claims of the four papers, one row each, and their verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from jointclust_papers import shipped
from jointclust_papers.experiments.selection import chosen_runs
from jointclust_papers.findings import UNTESTED, Claim, Part, Reading, ahead, judged

# The item of claims that no run can test.
NO_ITEM = "none"


def printed_claims() -> tuple[dict[str, str], ...]:
    """Every claim that the papers print: key, paper, item, place, rule, claim, and what its verdict rests on."""
    return shipped.rows("claims.csv")


def claims_of(
    paper: str, item: str, evidence: Mapping[str, Sequence[Reading]], missing: Sequence[str] = ()
) -> list[Claim]:
    """The claims of an item, with the verdicts that their readings give.

    ``missing`` names data that the paper has and we have not, which the verdict then does not rest on.
    """
    rows = [row for row in printed_claims() if (row["paper"], row["item"]) == (paper, item)]
    if unknown := set(evidence) - {row["key"] for row in rows}:
        raise ValueError(f"{paper} {item} has no claim {', '.join(sorted(unknown))}: see claims.csv.")
    claims = []
    for row in rows:
        basis = f"{row['rests']}." + (f" Not here: {', '.join(missing)}." if missing else "")
        readings = evidence.get(row["key"], [])
        claims.append(judged(row["key"], row["place"], row["claim"], basis, readings, row["rule"]))
    return claims


def untestable(paper: str) -> list[Claim]:
    """The claims that no run can test, with the reason."""
    rows = [row for row in printed_claims() if (row["paper"], row["item"]) == (paper, NO_ITEM)]
    return [Claim(row["key"], row["place"], row["claim"], UNTESTED, f"{row['rests']}.") for row in rows]


def by_seed(runs: DataFrame, metric: str) -> DataFrame:
    """Seeds by methods, of one data set; a method that has no number there has no column."""
    wide = runs.pivot_table(index="seed", columns="method", values=metric, dropna=False)
    return wide.loc[:, wide.notna().mean() > 0.5]


def lead(wide: DataFrame, method: str, rivals: Sequence[str]) -> tuple[str, NDArray]:
    """The rival with the largest mean, and how far a method is above it, run by run."""
    here = [rival for rival in rivals if rival in wide]
    if method not in wide or not here:
        return "", np.empty(0)
    rival = str(wide[here].mean().idxmax())
    return rival, (wide[method] - wide[rival]).to_numpy(float)


def against(
    runs: DataFrame, names: Sequence[str], method: str, rivals: Sequence[str], metric: str, least: float = 0.0
) -> list[Part]:
    """Set by set, whether a method is above the best of its rivals, each with its best parameters by the classes."""
    best, parts = chosen_runs(runs, metric), []
    for name in names:
        rival, gaps = lead(by_seed(best[best["dataset"] == name], metric), method, rivals)
        parts.append(ahead(f"{name}, {rival}" if len(rivals) > 1 else name, gaps, least))
    return parts
