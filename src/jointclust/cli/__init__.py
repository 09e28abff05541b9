"""The command line: one subcommand is one library call."""

from __future__ import annotations

import sys
import traceback
import warnings

import click

from jointclust.cli import commands, data_sets, demo, naming, number, predicting, reproduce, suggesting
from jointclust.cli.errors import INTERRUPTED, one_line, status_of

__all__ = ["main"]


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, invoke_without_command=True
)
@click.version_option(package_name="jointclust")
@click.pass_context
def jointclust(context: click.Context) -> None:
    """Cluster high-dimensional data: clusters, a model and a page to look at from one command.

    \b
    Exit status: 0 all went well, 1 the data could not be clustered, 2 wrong
    usage, 3 the input cannot be read, 4 the output cannot be written, 130
    interrupted.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (
    commands.fit,
    predicting.predict,
    commands.select,
    number.number,
    suggesting.suggest,
    naming.apply_names,
    commands.compare,
    data_sets.datasets,
    reproduce.reproduce,
    demo.demo,
):
    jointclust.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every error is one line, with a traceback only after ``--debug``."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        with warnings.catch_warnings():
            # Those that concern the user are collected where they may arise; others speak to programmers.
            warnings.simplefilter("ignore")
            jointclust.main(arguments, prog_name="jointclust", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        sys.stderr.write("Interrupted: nothing half-written was left.\n")
        sys.exit(INTERRUPTED)
    except Exception as error:
        if "--debug" in arguments:
            traceback.print_exc()
        sys.stderr.write(f"Error: {one_line(error)}\n")
        sys.exit(status_of(error))
