"""The papers' tables and figures, made anew."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jointclust import datasets
from jointclust.cli import options
from jointclust.cli.console import Voice
from jointclust.cli.errors import OutputError
from jointclust.files import UNFINISHED

if TYPE_CHECKING:
    from jointclust_papers.findings import Findings
    from jointclust_papers.reproduction import Item

# What a folder of results holds; another folder is not written to.
_OURS = ("cells.jsonl", "index.html")
# What is shown of a cell; --json has all of it.
_SHOWN = ("item", "prepared", "parameters", "seed", "accuracy", "nmi", "collapsed", "objective", "seconds", "error")


@click.command()
@click.option("--list", "listing", is_flag=True, help="List the items, and which of their data sets are missing.")
@click.option("--paper", metavar="NAME", help="dec, ec, odc, rurr, or all for the leaderboard (default: everything).")
@click.option("--item", metavar="NAME", help='One table or figure, such as "table 2".')
@click.option("--dataset", metavar="NAME", help="One cell instead: its data set, as the tables name it, such as orl.")
@click.option("--method", metavar="NAME", help="Its method, such as ODC.")
@click.option("--seed", metavar="N", type=click.IntRange(0), help="Its seed (default: 0).")
@click.option("--quick", is_flag=True, help="Minutes: three runs and short grids, instead of the papers' own.")
@click.option(
    "-j", "--jobs", type=click.IntRange(-1), default=-1, show_default=True, help="Processes; -1 is one per core."
)
@options.out("FOLDER", "Folder for the results.", "reproduction")
@options.speaking
def reproduce(
    paper: str | None,
    item: str | None,
    dataset: str | None,
    method: str | None,
    seed: int | None,
    quick: bool,
    jobs: int,
    out: str,
    **given: Any,
) -> None:
    """Run the experiments of the four papers again and put ours beside theirs.

    Data sets are looked for as `jointclust datasets` says; those that are not
    there are listed as missing. An item of which none is there runs on bundled
    and generated data instead, and says so.

    \b
    Writes to the folder: a table (.csv) and figure (.svg) per item, claims.csv
    with its parts.csv, notes.csv, index.html (the items of this call), all fits
    of a paper (.csv.gz) with provenance.json, and cells.jsonl, from which a run
    that was stopped goes on.

    With --dataset and --method the fits of these two with one seed are run and
    shown, and nothing is written.
    """
    from jointclust_papers import reproduction

    voice = Voice(given)
    try:
        wanted = reproduction.items(paper, item)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if given["listing"]:
        _list(voice, wanted)
        return
    if dataset is not None or method is not None or seed is not None:
        _one(voice, dataset, method, seed or 0, paper, quick)
        return
    folder = Path(out)
    _check_folder(folder)
    try:
        around = partial(voice.step, "cells")
        findings = reproduction.reproduce(wanted, folder, quick=quick, n_jobs=jobs, around=around)
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror or error}. What was finished is in cells.jsonl.") from error
    _tell(voice, findings, folder)


def _list(voice: Voice, wanted: list[Item]) -> None:
    missing = [", ".join(name for name in one.datasets if not datasets.present(name)) for one in wanted]
    known = {"paper": [one.paper for one in wanted], "item": [one.name for one in wanted]}
    columns = known | {"title": [one.title for one in wanted], "missing data": missing}
    voice.table(columns, columns)


def _one(voice: Voice, dataset: str | None, method: str | None, seed: int, paper: str | None, quick: bool) -> None:
    """Run and show the fits of one data set, method and seed."""
    from jointclust_papers.reproduction import cells_of

    if dataset is None or method is None:
        raise click.UsageError("One cell has a data set and a method: give both --dataset and --method.")
    try:
        cells = cells_of(dataset, method, seed, paper=paper, quick=quick)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    shown = [name for name in _SHOWN if name in cells]
    columns = {name: [_short(value) for value in cells[name]] for name in shown}
    voice.table(columns, {name: cells[name].tolist() for name in cells})


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file: choose a folder with --out.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = [path.name for path in folder.iterdir() if not path.name.startswith(UNFINISHED)]
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror}.") from error
    if others and not any(name in _OURS for name in others):
        raise OutputError(f"{folder} holds other files ({min(others)}): choose another folder with --out.")


def _tell(voice: Voice, findings: list[Findings], folder: Path) -> None:
    lines, data = [], []
    for one in findings:
        counts = Counter(claim.verdict for claim in one.claims)
        lists = {"claims": [f"{number} {verdict}" for verdict, number in counts.items()], "missing data": one.missing}
        parts = [f"{one.paper.upper()} {one.item}"]
        parts += [f"{what}: {', '.join(listed)}" for what, listed in lists.items() if listed]
        if one.stand_ins:
            parts.append(f"run on {', '.join(one.stand_ins)} instead, which the paper does not use")
        lines.append("; ".join(parts))
        known = {"paper": one.paper, "item": one.item, "missing": one.missing, "stand_ins": one.stand_ins}
        fields = ("key", "place", "text", "verdict", "share", "rests", "evidence")
        data.append(known | {"claims": [{name: getattr(claim, name) for name in fields} for claim in one.claims]})
    page = (folder / "index.html").resolve()
    voice.result("\n".join([*lines, f"Open {page}"]), {"items": data, "page": str(page)})
