"""The four papers, item by item."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jointclust.experiments.experiment import Progress, frame, unheard
from jointclust.experiments.findings import PAPERS, Claim, Findings
from jointclust.experiments.journal import Journal
from jointclust.experiments.papers import _dec, _dec_dimensions, _ec, _leaderboard, _odc, _rurr, _theory
from jointclust.experiments.papers._lab import Lab, UnfinishedError, published

if TYPE_CHECKING:
    from pandas import DataFrame

_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6"}


@dataclass(frozen=True)
class Item:
    """A table or figure that can be reproduced: ``run`` makes it, from ``datasets`` where the paper names some."""

    paper: str
    name: str
    title: str
    datasets: tuple[str, ...]
    run: Callable[[Lab], Findings]


ITEMS = (
    Item("dec", "figure 2", "Projection directions on the toy", (), _dec.figure2),
    Item("dec", "figure 3", "Accuracy against the dimension", _dec.SETS, _dec_dimensions.figure3),
    Item("dec", "figure 4", "Three updating rules", tuple(_dec.FINE), _dec.figure4),
    Item("dec", "figure 5", "Accuracy against the trade-off", tuple(_dec.FINE), _dec.figure5),
    Item("dec", "table 4", "Time on Coil", ("coil20",), _dec.table4),
    Item("dec", "table 5", "Time on Corel", ("corel",), _dec.table5),
    Item("dec", "table 6", "Time on Pollen", ("pollen",), _dec.table6),
    Item("ec", "figure 1", "Accuracy against the dimension", _ec.SETS, _ec.figure1),
    Item("ec", "table 1", "Error and NMI", ("ar", "gt", "usps"), _ec.table1),
    Item("ec", "slides", "Anchors as landmarks", _ec.ANCHORED, _ec.slides),
    Item("odc", "table 2", "NMI and error", _odc.SETS, _odc.table2),
    Item("odc", "figure 1", "NMI against the ridge", _odc.SETS, _odc.figure1),
    Item("odc", "figure 2", "Error against the ridge", _odc.SETS, _odc.figure2),
    Item("odc", "theorem 3", "Discriminative is spectral clustering", (), _theory.theorem3),
    Item("rurr", "equation 3", "The trivial solution", (), _theory.equation3),
    Item("rurr", "figure 1", "Convergence", (), _rurr.figure1),
    Item("rurr", "figure 2", "Accuracy and NMI against the ridge", ("imm",), _rurr.figure2),
    Item("rurr", "figure 3", "Three clusters", (), _rurr.figure3),
    Item("rurr", "figure 4", "Many clusters", (), _rurr.figure4),
    Item("rurr", "figure 5", "Soft labels", ("imm",), _rurr.figure5),
    Item("rurr", "table 1", "Accuracy and NMI", _rurr.SETS, _rurr.table1),
    Item("all", "leaderboard", "Mean ranks and times", (), _leaderboard.leaderboard),
    Item("all", "accuracies", "Accuracies behind the leaderboard", (), _leaderboard.accuracies),
)


def items(paper: str | None = None, item: str | None = None) -> list[Item]:
    """The items of a paper, or those called ``item`` ("table 2", "Table II" and "tab. 2" are the same).

    Examples
    --------
    >>> from jointclust.experiments.papers import items
    >>> [one.paper for one in items(item="Table I")]
    ['ec', 'rurr']
    """
    if paper is not None and paper not in PAPERS:
        raise ValueError(f"There is no paper {paper!r}: choose from {', '.join(PAPERS)}.")
    found = [one for one in ITEMS if paper in (None, one.paper)]
    if item is None:
        return found
    name = _plain(item)
    if not any(one.name == name for one in found):
        known = "; ".join(f"{one.paper} {one.name}" for one in found)
        raise ValueError(f"There is no item {item!r}{f' in paper {paper}' if paper else ''}. There are: {known}.")
    return [one for one in found if one.name == name]


def _plain(item: str) -> str:
    words = re.findall(r"[a-z]+|\d+", item.lower())
    long = {"fig": "figure", "tab": "table"}
    return " ".join(long.get(word, word) if index == 0 else _ROMAN.get(word, word) for index, word in enumerate(words))


def _honest(item: Item, found: Findings) -> Findings:
    """A claim about data of which most are missing has not been tested, whatever the rest or the stand-ins say."""
    if len(found.missing) > len(item.datasets) / 2:
        what = f"needs {', '.join(found.missing)}"
        for index, claim in enumerate(found.claims):
            if claim.verdict != "cannot be tested":
                because = f"{what}. Without: {claim.because}"
                found.claims[index] = Claim(claim.text, "cannot be tested", because, claim.share)
    return found


def _silently(title: str) -> AbstractContextManager[Progress]:
    return nullcontext(unheard)


def reproduce(
    wanted: Sequence[Item],
    folder: str | os.PathLike[str],
    *,
    quick: bool = True,
    n_jobs: int | None = None,
    data_home: str | os.PathLike[str] | None = None,
    around: Callable[[str], AbstractContextManager[Progress]] = _silently,
) -> list[Findings]:
    """Run items and write their tables, figures and one page to a folder.

    Cells of all items are run together, and go to ``cells.jsonl`` there as they are done: after a kill the same call
    goes on where it stopped.

    Parameters
    ----------
    wanted : list of Item
        From :func:`items`.
    folder : path-like
        Where the results go.
    quick : bool, default=True
        Three runs and short grids, instead of the papers' own.
    n_jobs : int, default=None
        Processes.
    data_home : path-like, optional
        For :func:`jointclust.datasets.load`.
    around : callable, optional
        Takes what is run next and gives a context to run it in, whose value takes how many cells are done, and of how
        many.

    Returns
    -------
    findings : list of Findings
        One per item, and the mean absolute differences to the papers, where there are any.
    """
    from jointclust.experiments.page import write_page

    folder = Path(folder)
    with Journal(folder / "cells.jsonl") as journal:
        lab = Lab(journal, quick=quick, n_jobs=n_jobs, data_home=data_home)
        found = _made(wanted, lab, around)
    gaps = differences(found)
    if len(gaps):
        notes = ["Every number that a paper prints and we could measure, once; times are left out."]
        found.append(Findings("all", "differences", "Mean absolute differences to the papers", gaps, notes=notes))
    kind = "quick (three runs, short grids)" if quick else "full (the papers' grids)"
    write_page(found, folder, facts={"run": kind})
    return found


def _made(wanted: Sequence[Item], lab: Lab, around: Callable[..., AbstractContextManager[Progress]]) -> list[Findings]:
    """Every item, in turns: what is finished is made, and what the others still ask for is run together."""
    found: dict[Item, Findings] = {}
    while True:
        for item in (one for one in wanted if one not in found):
            with suppress(UnfinishedError):
                found[item] = _honest(item, item.run(lab))
        waiting = [f"{one.paper.upper()} {one.name}" for one in wanted if one not in found]
        if not waiting:
            return [found[item] for item in wanted]
        more = f" and {len(waiting) - 2} more" if len(waiting) > 2 else ""
        with around(", ".join(waiting[:2]) + more) as progress:
            lab.finish(progress=progress)


def differences(found: Sequence[Findings]) -> DataFrame:
    """Mean absolute difference to the papers' numbers, per paper and measure.

    A data set that is prepared in a second way, under a name of its own, is not counted again.
    """
    rows, printed = [], {row["dataset"] for row in published()}
    for paper in PAPERS:
        tables = [one.table for one in found if one.paper == paper and one.table is not None and not one.stand_ins]
        gaps: dict[str, list[float]] = {}
        for table in (one for one in tables if "difference" in one):
            for dataset, measure, value in table[["dataset", "measure", "difference"]].itertuples(index=False):
                if dataset in printed and value is not None and np.isfinite(value) and measure != "seconds":
                    gaps.setdefault(measure, []).append(float(value))
        for measure, values in gaps.items():
            row = {"paper": paper, "measure": measure, "numbers": len(values)}
            rows.append(row | {"mean absolute difference": np.mean(np.abs(values)), "mean difference": np.mean(values)})
    return frame(rows)
