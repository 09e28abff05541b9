"""What the user sees while waiting: bars on a terminal, lines in a pipe, nothing when asked to be quiet."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from jointclust._sklearn import CallbackContext
from jointclust.types import Columns

# Lines of progress in a pipe come no closer than this.
_SECONDS_PER_LINE = 5.0


class MembersDone:
    """A callback that tells how many members of a consensus are fitted."""

    def __init__(self, progress: Callable[..., None]):
        self.progress, self.done = progress, 0

    def setup(self, estimator: object, context: CallbackContext) -> None:
        """Nothing to do before the fit."""

    def teardown(self, estimator: object, context: CallbackContext) -> None:
        """Nothing to do after it."""

    def on_fit_task_begin(self, estimator: object, context: CallbackContext, **_: object) -> None:
        """Nothing to tell when a task begins."""

    def on_fit_task_end(self, estimator: object, context: CallbackContext, **_: object) -> bool:
        """One member more."""
        if context.task_name == "member":
            self.done += 1
            self.progress(self.done, total=context.parent.max_subtasks, what="member")
        return False


class Voice:
    """Progress on the error stream, results on the output stream."""

    def __init__(self, *, quiet: bool = False, as_json: bool = False):
        self.quiet, self.as_json = quiet, as_json
        self.console = Console(stderr=True, highlight=False)
        self.seconds: dict[str, float] = {}

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
                times = (TimeElapsedColumn(), TimeRemainingColumn(elapsed_when_finished=True))
                with Progress(*columns, *times, console=self.console, transient=True) as progress:
                    task = progress.add_task(text, total=total)

                    def show(done: int, total: int | None = None, what: str = "") -> None:
                        far = f"{text}: {what} {done} of {total}" if what else text
                        progress.update(task, completed=done, total=total, description=far)

                    yield show
        finally:
            self.seconds[key] = self.seconds.get(key, 0.0) + time.perf_counter() - began

    def _lines(self, began: float) -> Callable[..., None]:
        """How far a long step is, a line every few seconds, for those who read a log."""
        last, heard, doing = began, began, ""

        def tell(done: int, total: int | None = None, what: str = "") -> None:
            nonlocal last, heard, doing, began
            now = time.perf_counter()
            if what != doing:
                doing, began = what, heard
            heard = now
            if self.quiet or not total or not 0 < done < total or now - last < _SECONDS_PER_LINE:
                return
            last = now
            left = (now - began) * (total - done) / done
            far = f"{what} {done} of {total}" if what else f"{done / total:.0%}"
            click.echo(f"  {far}, about {left:.0f} s left", err=True)

        return tell

    def say(self, text: str) -> None:
        """A line about what happens."""
        if not self.quiet:
            click.echo(text, err=True)

    def result(self, text: str, data: object) -> None:
        """What the command was called for: data as JSON, or text."""
        if self.as_json:
            click.echo(json.dumps(data, indent=2, default=str))
        elif not self.quiet:
            click.echo(text)

    def table(self, columns: Columns, data: object) -> None:
        """A table: drawn on a terminal, tab-separated in a pipe."""
        if self.as_json:
            click.echo(json.dumps(data, indent=2, default=str))
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


def shown(value: object) -> str:
    """A value for people."""
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else " ".join(str(value).split())
