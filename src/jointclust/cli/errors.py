"""How errors reach the user: one line, and an exit status that says whose turn it is."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import click

FAILED, USAGE, INPUT, OUTPUT, CHANGED, INTERRUPTED = 1, 2, 3, 4, 5, 130


# Parameters of estimators, which the library's messages name, and the options that set them.
_OPTIONS = {
    "n_clusters": "--clusters",
    "n_components": "--components",
    "trade_off": "--trade-off",
    "random_state": "--seed",
    "known_labels": "--known-column",
}
_PARAMETER = re.compile(rf"\b({'|'.join(_OPTIONS)})\b(?:=(?=\S))?")
_SETTING = re.compile(r"(?<!--set )\b(variance|ridge|max_iter|n_init|max_rank|effort|reject_below)=(?=\S)")


class OutputError(Exception):
    """Something cannot be written; says what, why, and what to do."""


def status_of(error: BaseException) -> int:
    """The documented exit status of an error."""
    kinds = [(OutputError, OUTPUT), (_read_error(), INPUT), (click.ClickException, USAGE)]
    return next((status for kind, status in kinds if isinstance(error, kind)), FAILED)


def _read_error() -> type[Exception]:
    """The error of the readers, which are loaded by the commands that read."""
    from jointclust.readers import ReadError

    return ReadError


def in_options(text: str) -> str:
    """A message of the library in the words of the command line: ``n_clusters=5`` is ``--clusters 5`` there."""
    named = _PARAMETER.sub(lambda match: _OPTIONS[match[1]] + " " * match[0].endswith("="), text)
    return _SETTING.sub(r"--set \1=", named)


def one_line(error: BaseException) -> str:
    """The message of an error, on one line."""
    if isinstance(error, click.ClickException):
        text = error.format_message()
        context = getattr(error, "ctx", None)
        if isinstance(error, click.UsageError) and context is not None:
            text += f" (see {context.command_path} --help)"
    elif isinstance(error, MemoryError):
        text = f"There is not enough memory ({error or 'no details'}): use fewer rows, or a larger machine."
    elif isinstance(error, (OutputError, _read_error())):
        text = str(error)
    elif isinstance(error, ValueError | TypeError):
        text = in_options(str(error))
    else:
        text = f"{type(error).__name__}: {error} (unexpected; --debug shows where)"
    return " ".join(text.split())


def output_error(path: Path, error: OSError) -> OutputError:
    """What the user can do about a file that cannot be written."""
    if error.errno == errno.ENOSPC or error.errno == errno.EDQUOT:
        return OutputError(f"{path} cannot be written: the disk is full. Free some space, or choose another --out.")
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return OutputError(f"{path} cannot be written: no permission. Choose another --out.")
    return OutputError(f"{path} cannot be written: {error.strerror or error}. Choose another --out.")
