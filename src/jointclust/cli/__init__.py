"""The command line: one subcommand is one library call."""

from __future__ import annotations

import importlib
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import click

from jointclust._version import __version__
from jointclust.cli.errors import INTERRUPTED, on_streams, one_line, status_of

__all__ = ["main"]

# Commands by name: the module of each, which is loaded when it is called, and how its help begins.
COMMANDS = {
    "apply-names": (
        "saved",
        "Name and merge the clusters of a RUN as a file of NAMES says, which its report exports.",
    ),
    "check": ("saved", "Say whether the model of a RUN still fits the rows of DATA: fits, drifts (in what), or refit."),
    "compare": ("commands", "Fit the whole family and the usual alternatives on DATA, side by side."),
    "cut": ("commands", "Write another layer of a RUN, N clusters in place of those of its fit, without a fit."),
    "datasets": ("data_sets", "List the known data sets, or describe the one called NAME."),
    "demo": (
        "demo",
        "Show what jointclust does, in a minute, on handwritten digits; ends with the path of a report to open.",
    ),
    "look": ("look", "Look at DATA before a fit: what each column is, whether it is used, and how to change that."),
    "fit": ("commands", "Cluster the rows of DATA and write labels, embedding, model and report."),
    "number": (
        "commands",
        "Say how many clusters DATA have: the number whose clusters are expected to be most like the true ones.",
    ),
    "predict": ("saved", "Label the rows of DATA with the model of a RUN: its folder, or its model.skops."),
    "rules": ("rules", "Print the rules that tell the clusters of a RUN: in words, as SQL, or for pandas."),
    "select": ("commands", "Try methods and parameters on DATA, choose one without labels, write it like `fit`."),
    "suggest": ("saved", "Choose the rows of a RUN whose class helps most, for someone to fill in."),
}
# Commands of other distributions, by entry points: the distribution of each, and how its help begins.
ELSEWHERE = {
    "reproduce": ("jointclust-papers", "Run the experiments of the four papers again and put ours beside theirs."),
}


class LoadedWhenCalled(click.Group):
    """Commands whose help is known before their modules, which need scikit-learn, are loaded."""

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command itself in place of the one that only has its help."""
        name, command, rest = super().resolve_command(context, arguments)
        if name is not None and command is not None:
            command = _loaded(name)
            if context.obj is not None:
                context.obj()
        return name, command, rest


def _loaded(name: str) -> click.Command:
    """Load a command from its module, or from the distribution that it comes with."""
    if name in COMMANDS:
        return getattr(importlib.import_module(f"jointclust.cli.{COMMANDS[name][0]}"), name.replace("-", "_"))
    from importlib.metadata import entry_points

    for entry in entry_points(group="jointclust.commands", name=name):
        return entry.load()
    package, _ = ELSEWHERE[name]
    raise click.UsageError(f"jointclust {name} comes with another package, {package}: pip install {package}.")


@click.group(
    cls=LoadedWhenCalled,
    commands=[click.Command(name, help=text) for name, (_, text) in (COMMANDS | ELSEWHERE).items()],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
)
@click.version_option(__version__)
@click.pass_context
def jointclust(context: click.Context) -> None:
    """Cluster high-dimensional data: clusters, a model and a page to look at from one command.

    \b
    Exit status: 0 all went well, 1 the data could not be clustered, 2 wrong
    usage, 3 the input cannot be read, 4 the output cannot be written, 5 a model
    does not fit new rows as before (check), 130 interrupted.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@contextmanager
def _ended_politely() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does: what was begun is removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def main(arguments: list[str] | None = None, loaded: Callable[[], object] | None = None) -> None:
    """Run the command line; every error is one line, with a traceback only after ``--debug``.

    When the modules of the command are there, ``loaded`` is called.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        with _ended_politely(), warnings.catch_warnings():
            # Those that concern the user are collected where they may arise; others speak to programmers.
            warnings.simplefilter("ignore")
            jointclust.main(arguments, prog_name="jointclust", standalone_mode=False, obj=loaded)
    except (click.Abort, KeyboardInterrupt):
        _say("Interrupted: nothing half-written was left.")
        sys.exit(INTERRUPTED)
    except Exception as error:
        if "--debug" in arguments:
            traceback.print_exc()
        error = on_streams(error)
        _say(f"Error: {one_line(error)}")
        sys.exit(status_of(error))


def _say(text: str) -> None:
    with suppress(OSError):  # where nothing can be said, the exit status says it
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
