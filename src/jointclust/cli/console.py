"""What the user sees: lines, tables and results; on a terminal also bars while a step runs."""

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

from jointclust import progress
from jointclust._sklearn import CallbackContext
from jointclust.cli.errors import in_options
from jointclust.cli.writing import as_json
from jointclust.progress.bar import shown as shown_bar
from jointclust.types import Columns

# Parts of a fit that are counted, as the library calls them.
_TASKS = {"member", "candidate", "reference"}


class TasksDone:
    """A callback that tells how far a fit is: in members, candidates, or iterations of at most so many."""

    def __init__(self, progress: Callable[..., None]):
        self.progress, self.done = progress, Counter[str]()

    def setup(self, estimator: object, context: CallbackContext, **_: object) -> None:
        """Nothing to do before the fit, after it, or when a task begins."""

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, estimator: object, context: CallbackContext, **_: object) -> bool:
        """One task more."""
        name, run = context.task_name, context.parent
        self.done[name] += 1
        if name in _TASKS:
            self.progress(self.done[name], total=run.max_subtasks, what=name)
        elif name == "iteration":
            total = (run.max_subtasks or 0) * (run.parent.max_subtasks or 1)
            self.progress(self.done[name], total=total or None, what=name, at_most=True)
        return False


class Voice:
    """Progress on the error stream, results on the output stream, as the options of a command say.

    If a file goes to the output stream, the result of the command goes to the error stream.
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
                yield lambda *_, **__: None
            else:
                what = (bars.SpinnerColumn(), bars.TextColumn("{task.description}", markup=False), bars.BarColumn())
                left = bars.TimeRemainingColumn(elapsed_when_finished=True)
                columns = (*what, bars.TaskProgressColumn(), bars.TimeElapsedColumn(), left)
                with bars.Progress(*columns, console=self.console, transient=True) as progress:
                    task = progress.add_task(text, total=total)

                    def show(done: int, total: int | None = None, what: str = "", **more: Any) -> None:
                        place, whole = far(done, total, what, **more)
                        description = f"{text.split()[0]}: {place}" if what else text
                        progress.update(task, completed=done, total=whole, description=description)

                    yield show
        finally:
            seconds = time.perf_counter() - began
            self.seconds[key] = self.seconds.get(key, 0.0) + seconds
        self.tell(f"{text}: {seconds:.1f} s")

    @contextmanager
    def long_step(self, key: str, text: str, opening: str = "", faster: str = "") -> Iterator[Callable[..., None]]:
        """A step that reports its progress itself: a bar on a terminal, nothing elsewhere.

        Yields a function of the numbers done and in all, for steps that count. ``opening`` is printed first, ``faster``
        if the step takes long.
        """
        began = time.perf_counter()
        self.say(opening)

        def count(done: int, total: int | None = None, **_: Any) -> None:
            if total:
                progress.plan({"parts": 1.0})
                progress.advance("parts", done, total)

        try:
            with shown_bar(False if self.quiet else None, text, self.say, faster):
                yield count
        finally:
            seconds = time.perf_counter() - began
            self.seconds[key] = self.seconds.get(key, 0.0) + seconds
        self.tell(f"{text}: {seconds:.1f} s")

    def say(self, text: str) -> None:
        """Print a line about what happens, unless it is empty."""
        if text and not self.quiet:
            click.echo(text, err=True)

    def warn(self, messages: Iterable[str]) -> None:
        """Print warnings of the library, with the options for their parameters."""
        for message in messages:
            self.say(f"Warning: {in_options(message)}")

    def tell(self, text: str) -> None:
        """Print a line that only --verbose shows."""
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


def far(done: int, total: int | None = None, what: str = "", at_most: bool = False) -> tuple[str, float | None]:
    """How far something is, in words, and how much there is.

    Examples
    --------
    >>> far(3, 30, "member")
    ('member 3 of 30', 30)
    """
    return f"{what} {done} of {'at most ' if at_most else ''}{total}" if what else "done", total


def counted(number: int, noun: str) -> str:
    """A number of things: 1 cluster, 3 clusters."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def shown(value: object) -> str:
    """A value for people."""
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else " ".join(str(value).split())
