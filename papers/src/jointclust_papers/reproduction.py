"""The four papers, item by item."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas import DataFrame

from jointclust_papers import dec, dec_runs, ec, ec_runs, leaderboard, odc, provenance, rurr, rurr_runs, theory
from jointclust_papers.claims import untestable
from jointclust_papers.experiments.experiment import Cell, Progress, silent
from jointclust_papers.experiments.journal import Journal
from jointclust_papers.findings import DEPENDS, PAPERS, UNTESTED, Claim, Findings, Part
from jointclust_papers.lab import Lab, UnfinishedError, grid_of_axes, published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6"}


@dataclass(frozen=True)
class Item:
    """A table, figure or group of claims: ``run`` makes it, from ``datasets`` where the paper names some.

    One without ``cells`` is computed on the spot.
    """

    paper: str
    name: str
    title: str
    datasets: tuple[str, ...]
    run: Callable[[Lab], Findings]
    cells: bool = True


def _proved(paper: str) -> Item:
    title = "Propositions, theorems and equations"
    return Item(paper, "theory", title, (), partial(theory.theory, paper=paper), cells=False)


_TIMED = ("coil20", "corel", "pollen")
ITEMS = (
    _proved("dec"),
    Item("dec", "start", "How much the start decides", dec_runs.THREE, dec.start, cells=False),
    Item("dec", "figure 2", "Projection directions on the toy", (), dec.figure2),
    Item("dec", "figure 3", "Accuracy against the dimension", dec_runs.SETS, dec.figure3),
    Item("dec", "figure 4", "Three updating rules", dec_runs.THREE, dec.figure4),
    Item("dec", "figure 5", "Accuracy against the trade-off", dec_runs.THREE, dec.figure5),
    Item("dec", "table 4", "Time of the methods as printed", _TIMED, dec.table4),
    _proved("ec"),
    Item("ec", "outliers", "What outliers cost", ec_runs.FACES, ec.outliers),
    Item("ec", "figure 1", "Accuracy against the dimension", ec_runs.SETS, ec.figure1),
    Item("ec", "table 1", "Error and NMI", ("ar", "gt", "usps"), ec.table1),
    _proved("odc"),
    Item("odc", "table 2", "NMI and error", odc.SETS, odc.table2),
    Item("odc", "figure 1", "NMI against the ridge", odc.SETS, odc.figure1),
    Item("odc", "figure 2", "Error against the ridge", odc.SETS, odc.figure2),
    _proved("rurr"),
    Item("rurr", "convergence", "Figure 1: convergence", (), rurr.convergence, cells=False),
    Item("rurr", "figure 2", "Accuracy and NMI against the ridge", ("imm",), rurr.figure2),
    Item("rurr", "figure 3", "Three clusters", (), rurr.figure3),
    Item("rurr", "figure 4", "Many clusters", (), rurr.figure4),
    Item("rurr", "figure 5", "Soft labels", ("imm",), rurr.figure5, cells=False),
    Item("rurr", "table 1", "Accuracy and NMI", rurr_runs.SETS, rurr.table1),
    Item("all", "leaderboard", "Mean ranks and times", (), leaderboard.leaderboard),
    Item("all", "accuracies", "Accuracies behind the leaderboard", (), leaderboard.accuracies),
)


def items(paper: str | None = None, item: str | None = None) -> list[Item]:
    """The items of a paper, or those called ``item`` ("table 2", "Table II" and "tab. 2" are the same).

    Examples
    --------
    >>> from jointclust_papers.reproduction import items
    >>> [one.paper for one in items(item="Table I")]
    ['ec', 'rurr']
    """
    if paper is not None and paper not in PAPERS:
        raise ValueError(f"There is no paper {paper!r}: choose from {', '.join(PAPERS)}.")
    chosen = [one for one in ITEMS if paper in (None, one.paper)]
    if item is None:
        return chosen
    name = _plain(item)
    if not any(one.name == name for one in chosen):
        known = "; ".join(f"{one.paper} {one.name}" for one in chosen)
        raise ValueError(f"There is no item {item!r}{f' in paper {paper}' if paper else ''}. There are: {known}.")
    return [one for one in chosen if one.name == name]


def _plain(item: str) -> str:
    words = re.findall(r"[a-z]+|\d+", item.lower())
    long = {"fig": "figure", "tab": "table"}
    return " ".join(long.get(word, word) if index == 0 else _ROMAN.get(word, word) for index, word in enumerate(words))


def _honest(item: Item, findings: Findings) -> Findings:
    """A claim about data of which most are missing has not been tested, whatever the rest or the stand-ins say.

    Sizes and times are of what is here; the three sets of table 4 have others of their shape.
    """
    if len(findings.missing) > len(item.datasets) / 2 and not (item.name == "table 4" and not findings.stand_ins):
        why = f"most of the data are not here ({', '.join(findings.missing)}); what the others say is folded."
        findings.claims = [
            replace(
                claim,
                verdict=UNTESTED,
                share="",
                rests=f"{claim.rests} {why}",
                readings=[replace(one, counted=False) for one in claim.readings],
            )
            for claim in findings.claims
        ]
    return findings


def _silently(title: str) -> AbstractContextManager[Progress]:
    return nullcontext(silent)


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
    from jointclust_papers.page import write_page

    folder = Path(folder)
    with Journal(folder / "cells.jsonl") as journal:
        lab = Lab(journal, quick=quick, n_jobs=n_jobs, data_home=data_home)
        findings = _made(wanted, lab, around)
    findings += _strips(findings)
    gaps = differences(findings)
    if len(gaps):
        notes = [
            "Every number that a paper prints and we could measure, once; times are left out. Of what is open one "
            "value is shown: DEC's toy at a trade-off of 10, EC's table with 90% of the variance.",
        ]
        title = "Printed numbers and ours"
        findings.append(Findings("all", "differences", title, gaps, _printed_figure(findings), notes=notes))
    kind = "quick (three runs, short grids)" if quick else "full"
    facts = provenance.facts(kind)
    write_page(findings, folder, facts=facts)
    provenance.ship(lab.given, folder, facts)
    return findings


# A paper with no more open claims has all of them drawn.
_FEW = 8


def _strips(findings: Sequence[Findings]) -> list[Findings]:
    """For each paper, how every open choice moves its verdicts."""
    strips = []
    for paper in dict.fromkeys(one.paper for one in findings):
        claims = [claim for one in findings if one.paper == paper for claim in one.claims]
        claims = [claim for claim in claims if sum(one.counted and bool(one.kept()) for one in claim.readings) > 1]
        if claims:
            note = (
                "For each claim whose verdict a choice decides that the paper leaves open, the mean of what it says is "
                "positive (or small) at each value, with 95% intervals; parts of a data set are averaged, without an "
                "interval. Below each value: its verdict. The table has those on which all values agree, too."
            )
            table = DataFrame(
                [
                    {"claim": claim.key, "choice": one.choice, "verdict": one.verdict(claim.rule), "share": one.share()}
                    for claim in claims
                    for one in claim.readings
                    if one.counted and one.kept()
                ]
            )
            drawn = [claim for claim in claims if claim.verdict == DEPENDS or len(claims) <= _FEW]
            figure = _strip_figure(drawn) if drawn else None
            strips.append(Findings(paper, "choices", "Where verdicts depend on a choice", table, figure, notes=[note]))
    return strips


def _strip_figure(claims: Sequence[Claim]) -> Figure:
    figure, axes = grid_of_axes(len(claims), 4.8, 3.2, 2)
    colours = ("#1f4e9c", "#c8102e", "#2a7d2e", "#c46a1b", "#7b3fa0", "#0f7f86", "#6b6b00", "#9c1f5e")
    for ax, claim in zip(axes, claims, strict=True):
        readings = [one for one in claim.readings if one.counted and one.kept()]
        names = {part.name.partition(",")[0].partition(":")[0] for one in readings for part in one.kept()}
        ends = " " if len(names) > len(colours) else ","  # by data set and measure, or by data set alone
        lines: dict[str, list[tuple[int, float, float, float]]] = {}
        for place, one in enumerate(readings):
            groups: dict[str, list[Part]] = {}
            for part in one.kept():
                groups.setdefault(part.name.partition(ends)[0].partition(":")[0], []).append(part)
            for name, own in groups.items():
                mean = float(np.mean([part.mean for part in own]))
                low, high = (own[0].low, own[0].high) if len(own) == 1 else (mean, mean)
                lines.setdefault(name, []).append((place, mean, low, high))
        for index, (name, points) in enumerate(lines.items()):
            x, y, low, high = np.array(points).T
            colour = colours[index % len(colours)]
            shift = 0.06 * (index - len(lines) / 2)
            ax.errorbar(
                x + shift, y, np.abs([y - low, high - y]), fmt="o-", ms=3, lw=0.9, capsize=2, color=colour, label=name
            )
        ax.axhline(0, color="0.6", lw=0.8)
        many = len(readings) > 3
        width = 40 if many else 22
        ticks = ["\n".join([*wrap(one.choice, width), one.verdict(claim.rule).upper()]) for one in readings]
        turned: dict[str, Any] = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"} if many else {}
        ax.set_xticks(range(len(readings)), ticks, fontsize=7, **turned)
        ax.margins(x=0.12)
        ax.set_title("\n".join(wrap(claim.text, 62)[:3]), fontsize=8.5)
        if len(lines) <= len(colours):
            ax.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def cells_of(
    dataset: str,
    method: str,
    seed: int,
    *,
    paper: str | None = None,
    quick: bool = False,
    data_home: str | os.PathLike[str] | None = None,
) -> DataFrame:
    """The cells of the papers with one data set, method and seed, run now: one row for each preparation and parameters.

    Parameters
    ----------
    dataset, method : str
        As the tables name them, such as "orl" and "ODC".
    seed : int
        Of the run.
    paper : str, optional
        The paper; all of them by default.
    quick : bool, default=False
        Short grids.
    data_home : path-like, optional
        For :func:`jointclust.datasets.load`.

    Returns
    -------
    table : DataFrame
        Items, preparation, parameters and what was found.

    Examples
    --------
    >>> from jointclust_papers.reproduction import cells_of
    >>> table = cells_of("iris", "ODC", 0, paper="odc", quick=True)
    >>> bool((table["accuracy"] > 0.7).all())
    True
    """
    by_key: dict[str, tuple[Cell, list[str]]] = {}
    offered: dict[str, set[str]] = {}
    seeds = 0
    for item in (one for one in items(paper) if one.cells and one.paper != "all"):
        lab = Lab(quick=quick, data_home=data_home, one=(dataset, method, seed))
        with suppress(UnfinishedError):
            item.run(lab)
        seeds = max(seeds, lab.seeds)
        for name, methods in lab.offered.items():
            offered.setdefault(name, set()).update(methods)
        for cell in (*lab.together, *lab.alone):
            by_key.setdefault(cell.key, (cell, []))[1].append(f"{item.paper} {item.name}")
    rows = [
        {"item": ", ".join(names), "prepared": getattr(cell.source.prepare, "__name__", "")}
        | {name: getattr(cell, name) for name in ("dataset", "method", "parameters", "seed")}
        | {name: value for name, value in cell.run().items() if np.isscalar(value)}
        for cell, names in by_key.values()
    ]
    table = DataFrame(rows)
    if not len(table):
        drawn_again = re.compile(r"draw [1-9]")
        there = offered.get(dataset) or {name for name in offered if not drawn_again.search(name)}
        what = "Methods" if dataset in offered else "Data sets"
        known = f"Seeds there: 0 to {seeds - 1}" if seeds else f"{what} there: {'; '.join(sorted(there))}"
        raise ValueError(
            f"No item of {paper or 'the papers'} has data set {dataset!r}, method {method!r} and seed {seed} here. "
            f"{known}."
        )
    return table


def _printed_figure(findings: Sequence[Findings]) -> Figure:
    """What the papers print against ours, with intervals."""
    panels: dict[str, list[DataFrame]] = {}
    for one in findings:
        if (table := _compared(one)) is not None:
            for measure, own in table.groupby("measure"):
                panels.setdefault(f"{one.paper.upper()}, {measure}", []).append(own)
    figure, axes = grid_of_axes(len(panels), 3.0, 2.8, 4)
    for ax, (title, tables) in zip(axes, panels.items(), strict=True):
        table = pd.concat(tables)
        x, y = table["paper"].astype(float), table["ours"].astype(float)
        ax.errorbar(
            x, y, np.abs([y - table["low"], table["high"] - y]), fmt="o", ms=3, lw=0.8, color="#1f4e9c", alpha=0.7
        )
        ends = [min(x.min(), y.min()), max(x.max(), y.max())]
        ax.plot(ends, ends, color="0.6", lw=0.8)
        ax.set(title=title, xlabel="paper", ylabel="ours")
    return figure


# Of what a paper leaves open, the value that is compared with print.
_SHOWN = {"trade-off": 10.0, "rows": "90%"}


def _compared(one: Findings) -> DataFrame | None:
    """The rows of a table that have a printed number, each once."""
    table, printed = one.table, {row["dataset"] for row in published()}
    if table is None or one.stand_ins or "difference" not in table or "low" not in table:
        return None
    for name, value in _SHOWN.items():
        if name in table and value in set(table[name]):
            table = table[(table[name] == value) | (table[name] == "")]
    kept = table["dataset"].isin(printed) & table["difference"].notna() & (table["measure"] != "seconds")
    return table[kept] if kept.any() else None


def _made(wanted: Sequence[Item], lab: Lab, around: Callable[..., AbstractContextManager[Progress]]) -> list[Findings]:
    """Every item, in rounds: those with all cells are made, and the cells that the others need are run together."""
    findings: dict[Item, Findings] = {}
    while True:
        for item in (one for one in wanted if one not in findings):
            lab.paper, lab.item = item.paper, item.name
            with suppress(UnfinishedError):
                findings[item] = _honest(item, item.run(lab))
                if item.name == "theory":
                    findings[item].claims += untestable(item.paper)
        waiting = [f"{one.paper.upper()} {one.name}" for one in wanted if one not in findings]
        if not waiting:
            return [findings[item] for item in wanted]
        more = f" and {len(waiting) - 2} more" if len(waiting) > 2 else ""
        with around(", ".join(waiting[:2]) + more) as progress:
            lab.finish(progress=progress)


def differences(findings: Sequence[Findings]) -> DataFrame:
    """Mean absolute difference to the papers' numbers, per paper and measure.

    A data set that is prepared in a second way, under a name of its own, is not counted again.
    """
    rows = []
    for paper in PAPERS:
        tables = [_compared(one) for one in findings if one.paper == paper]
        gaps: dict[str, list[float]] = {}
        for table in (one for one in tables if one is not None):
            for measure, value in table[["measure", "difference"]].itertuples(index=False):
                if np.isfinite(value):
                    gaps.setdefault(measure, []).append(float(value))
        for measure, values in gaps.items():
            row = {"paper": paper, "measure": measure, "numbers": len(values)}
            rows.append(row | {"mean absolute difference": np.mean(np.abs(values)), "mean difference": np.mean(values)})
    return DataFrame(rows)
