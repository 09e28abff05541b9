"""The command line: one subcommand is one library call."""

from __future__ import annotations

import sys
import traceback
import warnings

import click

from jointclust.cli import commands, demo, number, reproduce
from jointclust.cli.errors import INTERRUPTED, one_line, status_of

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="jointclust")
def jointclust() -> None:
    """Cluster high-dimensional data: clusters, a model and a page to look at from one command.

    \b
    Exit status: 0 all went well, 1 the data could not be clustered, 2 wrong
    usage, 3 the input cannot be read, 4 the output cannot be written, 130
    interrupted.
    """


for command in (
    commands.fit,
    commands.predict,
    commands.select,
    number.number,
    commands.compare,
    commands.datasets,
    reproduce.reproduce,
    demo.demo,
):
    jointclust.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every error is one line, with a traceback only after ``--debug``."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        with warnings.catch_warnings():
            # The columns were matched by name when they were read; the rows are plain arrays from there on.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            jointclust.main(arguments, prog_name="jointclust", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        sys.stderr.write("Interrupted: nothing half-written was left.\n")
        sys.exit(INTERRUPTED)
    except Exception as error:
        if "--debug" in arguments:
            traceback.print_exc()
        sys.stderr.write(f"Error: {one_line(error)}\n")
        sys.exit(status_of(error))
