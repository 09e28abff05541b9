"""What the user sees while waiting: bars on a terminal, lines in a pipe, nothing when asked to be quiet."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from jointclust._sklearn import CallbackContext
from jointclust.cli.errors import in_options
from jointclust.cli.writing import as_json
from jointclust.types import Columns

# Lines of progress in a pipe come no closer than this.
_SECONDS_PER_LINE = 5.0
# Of the work, what has to be done before the rest can be reckoned.
_ENOUGH = 0.05
# Parts of a fit that are counted, as the library calls them.
_TASKS = {"member", "candidate", "reference"}


class TasksDone:
    """A callback that tells how far a fit is: in members, candidates, or iterations of at most so many.

    Parameters
    ----------
    progress : callable
        Told what is done, and of how much.
    share : float
        Part of the time that the tasks take; the rest comes after them.
    """

    def __init__(self, progress: Callable[..., None], share: float = 1.0):
        self.progress, self.share, self.done = progress, share, Counter[str]()

    def setup(self, estimator: object, context: CallbackContext) -> None:
        """Nothing to do before the fit."""

    def teardown(self, estimator: object, context: CallbackContext) -> None:
        """Nothing to do after it."""

    def on_fit_task_begin(self, estimator: object, context: CallbackContext, **_: object) -> None:
        """Nothing to tell when a task begins."""

    def on_fit_task_end(self, estimator: object, context: CallbackContext, **_: object) -> bool:
        """One task more."""
        name = context.task_name
        if name in _TASKS:
            self.done[name] += 1
            self.progress(self.done[name], total=context.parent.max_subtasks, what=name, share=self.share)
        elif name == "iteration":
            self.done[name] += 1
            run = context.parent
            total = (run.max_subtasks or 0) * (run.parent.max_subtasks or 1)
            self.progress(self.done[name], total=total or None, what=name, at_most=True)
        return False


class Voice:
    """Progress on the error stream, results on the output stream.

    Parameters
    ----------
    quiet, verbose : bool
        Say nothing; say more than others want to know.
    as_json : bool
        Results as JSON.
    beside_output : bool
        Whether something else goes to the output stream, so that what is said of it goes to the other.
    """

    def __init__(
        self, *, quiet: bool = False, as_json: bool = False, verbose: bool = False, beside_output: bool = False
    ):
        self.quiet, self.as_json, self.verbose = quiet, as_json, verbose and not quiet
        self.beside_output = beside_output
        self.console = Console(stderr=True, highlight=False)
        self.seconds: dict[str, float] = {}

    @classmethod
    def of(cls, given: dict[str, Any], *, beside_output: bool = False) -> Self:
        """As the options of a command say."""
        if beside_output and given["as_json"]:
            raise click.UsageError("--json and --out - both go to standard output: name a file with --out.")
        wanted = {name: given[name] for name in ("quiet", "as_json", "verbose")}
        return cls(**wanted, beside_output=beside_output)

    @contextmanager
    def step(self, key: str, text: str, total: int | None = None) -> Iterator[Callable[..., None]]:
        """Time a step and show it; yields a function that takes how much is done, and of how much."""
        began = time.perf_counter()
        try:
            if self.quiet or not self.console.is_terminal:
                if not self.quiet:
                    click.echo(text, err=True)
                yield self._lines(began)
            else:
                columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
                times = (TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn(elapsed_when_finished=True))
                with Progress(*columns, *times, console=self.console, transient=True) as progress:
                    task = progress.add_task(text, total=total)

                    def show(done: int, total: int | None = None, what: str = "", **more: Any) -> None:
                        told = Far(done, total, what, **more)
                        far = f"{text.split()[0]}: {told}" if what else text
                        progress.update(task, completed=done, total=told.whole, description=far)

                    yield show
        finally:
            seconds = time.perf_counter() - began
            self.seconds[key] = self.seconds.get(key, 0.0) + seconds
        self.tell(f"{text}: {seconds:.1f} s")

    def _lines(self, began: float) -> Callable[..., None]:
        """How far a long step is, a line every few seconds, for those who read a log."""
        last, heard, doing = began, began, ""

        def tell(done: int, total: int | None = None, what: str = "", **more: Any) -> None:
            nonlocal last, heard, doing, began
            now, told = time.perf_counter(), Far(done, total, what, **more)
            if what != doing:
                doing, began = what, heard
            heard = now
            if self.quiet or not told.whole or now - last < _SECONDS_PER_LINE:
                return
            if not _ENOUGH <= done / told.whole < 1:
                return
            last = now
            left = lasting((now - began) * (told.whole - done) / done)
            click.echo(
                f"  {told} ({done / told.whole:.0%}), {'at most' if told.at_most else 'about'} {left} left", err=True
            )

        return tell

    def say(self, text: str) -> None:
        """A line about what happens; an empty one is none."""
        if text and not self.quiet:
            click.echo(text, err=True)

    def warn(self, messages: Iterable[str]) -> None:
        """What the library warned of, in the words of the command line."""
        for message in messages:
            self.say(f"Warning: {in_options(message)}")

    def tell(self, text: str) -> None:
        """A line for those who asked for more of them."""
        if self.verbose:
            click.echo(f"  {text}", err=True)

    def result(self, text: str, data: object) -> None:
        """What the command was called for: data as JSON, or text."""
        if self.as_json:
            click.echo(json.dumps(data, indent=2, default=as_json))
        elif not self.quiet:
            click.echo(text, err=self.beside_output)

    def table(self, columns: Columns, data: object) -> None:
        """A table: drawn on a terminal, tab-separated in a pipe."""
        if self.as_json:
            click.echo(json.dumps(data, indent=2, default=as_json))
            return
        rows = [[shown(value) for value in row] for row in zip(*columns.values(), strict=True)]
        if not sys.stdout.isatty():
            for row in [list(columns), *rows]:
                click.echo("\t".join(row))
            return
        drawn = Table()
        for name in columns:
            drawn.add_column(name)
        for row in rows:
            drawn.add_row(*(cell.replace("[", "\\[") for cell in row))
        Console().print(drawn)


@dataclass(frozen=True)
class Far:
    """How far something is.

    Attributes
    ----------
    done, total : int
        So much of so much, or of at most so much.
    what : str
        Of what; without a name, only the share is told.
    share : float
        Part of the time that this takes.

    Examples
    --------
    >>> str(Far(3, 30, "member")), Far(3, 30, "member", share=0.5).whole
    ('member 3 of 30', 60.0)
    """

    done: int
    total: int | None
    what: str
    at_most: bool = False
    share: float = 1.0

    @property
    def whole(self) -> float | None:
        return None if not self.total else self.total / self.share

    def __str__(self) -> str:
        if self.done == self.total and self.share < 1:
            return "votes on all rows"
        return f"{self.what} {self.done} of {'at most ' if self.at_most else ''}{self.total}" if self.what else "done"


def lasting(seconds: float) -> str:
    """A time for people.

    Examples
    --------
    >>> lasting(4.2), lasting(200), lasting(9000)
    ('4 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def counted(number: int, noun: str) -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "cluster"), counted(3, "cluster")
    ('1 cluster', '3 clusters')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def shown(value: object) -> str:
    """A value for people."""
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else " ".join(str(value).split())
