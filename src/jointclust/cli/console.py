"""What the user sees while waiting: bars on a terminal, lines in a pipe, nothing when asked to be quiet."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click
from rich import progress as bars
from rich.console import Console
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

    The tasks take a share of the time; the rest comes after them.
    """

    def __init__(self, progress: Callable[..., None], share: float = 1.0):
        self.progress, self.share, self.done = progress, share, Counter[str]()

    def setup(self, estimator: object, context: CallbackContext, **_: object) -> None:
        """Nothing to do before the fit, after it, or when a task begins."""

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, estimator: object, context: CallbackContext, **_: object) -> bool:
        """One task more."""
        name, run = context.task_name, context.parent
        self.done[name] += 1
        if name in _TASKS:
            self.progress(self.done[name], total=run.max_subtasks, what=name, share=self.share)
        elif name == "iteration":
            total = (run.max_subtasks or 0) * (run.parent.max_subtasks or 1)
            self.progress(self.done[name], total=total or None, what=name, at_most=True)
        return False


class Voice:
    """Progress on the error stream, results on the output stream, as the options of a command say.

    Where something else goes to the output stream, what is said of it goes to the other.
    """

    def __init__(self, given: Mapping[str, Any], *, beside_output: bool = False):
        if beside_output and given["as_json"]:
            raise click.UsageError("--json and --out - both go to standard output: name a file with --out.")
        self.quiet, self.as_json, self.beside_output = given["quiet"], given["as_json"], beside_output
        self.verbose = given["verbose"] and not self.quiet
        self.console = Console(stderr=True, highlight=False)
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, key: str, text: str, total: int | None = None) -> Iterator[Callable[..., None]]:
        """Time a step and show it; yields a function that takes how much is done, and of how much."""
        began = time.perf_counter()
        try:
            if self.quiet or not self.console.is_terminal:
                self.say(text)
                yield self._lines(began)
            else:
                what = (bars.SpinnerColumn(), bars.TextColumn("{task.description}", markup=False), bars.BarColumn())
                left = bars.TimeRemainingColumn(elapsed_when_finished=True)
                columns = (*what, bars.TaskProgressColumn(), bars.TimeElapsedColumn(), left)
                with bars.Progress(*columns, console=self.console, transient=True) as progress:
                    task = progress.add_task(text, total=total)

                    def show(done: int, total: int | None = None, what: str = "", **more: Any) -> None:
                        told, whole = far(done, total, what, **more)
                        description = f"{text.split()[0]}: {told}" if what else text
                        progress.update(task, completed=done, total=whole, description=description)

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
            now, (told, whole) = time.perf_counter(), far(done, total, what, **more)
            if what != doing:
                doing, began = what, heard
            heard = now
            if whole and now - last >= _SECONDS_PER_LINE and _ENOUGH <= done / whole < 1:
                last = now
                left = lasting((now - began) * (whole - done) / done)
                self.say(f"  {told} ({done / whole:.0%}), {'at most' if 'at_most' in more else 'about'} {left} left")

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
            self.result("", data)
            return
        rows = [[shown(value) for value in row] for row in zip(*columns.values(), strict=True)]
        if not sys.stdout.isatty():
            for row in [list(columns), *rows]:
                click.echo("\t".join(row))
            return
        drawn = Table(*columns)
        for row in rows:
            drawn.add_row(*(cell.replace("[", "\\[") for cell in row))
        Console().print(drawn)


def far(
    done: int, total: int | None = None, what: str = "", at_most: bool = False, share: float = 1.0
) -> tuple[str, float | None]:
    """How far something is, in words, and how much there is: what is counted takes but a share of the time.

    Examples
    --------
    >>> far(3, 30, "member", share=0.5)
    ('member 3 of 30', 60.0)
    """
    told = f"{what} {done} of {'at most ' if at_most else ''}{total}" if what else "done"
    return "votes on all rows" if done == total and share < 1 else told, total / share if total else None


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
    """A number of things: 1 cluster, 3 clusters."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def shown(value: object) -> str:
    """A value for people."""
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else " ".join(str(value).split())
