"""How errors reach the user: one line, and an exit status that says whose turn it is."""

from __future__ import annotations

import csv
import errno
import io
import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from jointclust.exceptions import Message, Setting

FAILED, USAGE, INPUT, OUTPUT, CHANGED, INTERRUPTED = 1, 2, 3, 4, 5, 130


# Parameters of estimators, which the library's messages name, and the options that set them.
_OPTIONS = {"n_clusters": "--clusters", "random_state": "--seed", "known_labels": "--known-column"}
_SET = ("n_components", "trade_off", "variance", "ridge", "max_iter", "n_init", "max_rank", "effort", "reject_below")
_OPTIONS |= {name: f"--set {name}=" for name in _SET}
# Settings of readers that are no option with a value.
_SPELLED = {
    Setting("header", False): "--no-header",
    Setting("header", True): "--header",
    Setting("any_size", True): "--any-size",
    Setting("download", True): "--download",
    Setting("missing", "keep"): "--missing mean or --missing median",
}
# What the system says where standard output takes no more.
_OF_STREAMS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}


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
    """A message of the library with what sets the parameters that it names."""
    words = "".join(letter if letter.isalnum() or letter in "_=" else " " for letter in text).split()
    named = {word.partition("=")[0] for word in words if "_" in word or "=" in word}  # others are words, too: variance
    options = [f"{name}: {option}" for name, option in _OPTIONS.items() if name in named and option not in text]
    return f"{text} ({', '.join(options)})" if options else text


def spelled(text: str) -> str:
    """A message of the readers, with options for their settings."""
    return Message(text.text, *text.settings, spell=_option) if isinstance(text, Message) else text


def _option(setting: Setting) -> str:
    option, value = f"--{setting.name.replace('_', '-')}", setting.value
    if isinstance(value, list):
        return as_option(option, value)
    return _SPELLED.get(setting, option if value is None else f"{option} {shlex.quote(str(value))}")


def as_option(option: str, names: Sequence[str]) -> str:
    """An option with names as a shell and :func:`jointclust.cli.options.names_of` take them.

    Examples
    --------
    >>> as_option("--columns", ["city", "net, gross"])
    '--columns \\'city,"net, gross"\\''
    """
    return f"{option} {shlex.quote(names[0] if option in ('--text-column', '--id-column') else comma_separated(names))}"


def comma_separated(names: Sequence[str]) -> str:
    """Names in one text, in quotes where they hold a comma."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()


def one_line(error: BaseException) -> str:
    """The message of an error, on one line."""
    if isinstance(error, click.ClickException):
        text = error.format_message()
        context = getattr(error, "ctx", None)
        if isinstance(error, click.UsageError) and context is not None:
            text += f" (see {context.command_path} --help)"
    elif isinstance(error, MemoryError):
        text = f"There is not enough memory ({error or 'no details'}): use fewer rows, or a larger machine."
    elif isinstance(error, OutputError):
        text = str(error)
    elif isinstance(error, _read_error()):
        text = spelled(error.args[0])
    elif isinstance(error, ValueError | TypeError):
        text = in_options(str(error))
    else:
        text = f"{type(error).__name__}: {error} (unexpected; --debug shows where)"
    return " ".join(text.split())


def on_streams(error: Exception) -> Exception:
    """An error of the system that names no file as what it is, one of standard output; any other as it is.

    Files are named by their errors, or have become an :class:`OutputError` where they were written.
    """
    if not isinstance(error, OSError) or error.filename is not None or error.errno not in _OF_STREAMS:
        return error
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    why = "the disk is full. Free some space, or send it elsewhere" if full else error.strerror
    return OutputError(f"Standard output cannot be written: {why}.")


def output_error(path: Path, error: OSError) -> OutputError:
    """What the user can do about a file that cannot be written."""
    if error.errno == errno.ENOSPC or error.errno == errno.EDQUOT:
        return OutputError(f"{path} cannot be written: the disk is full. Free some space, or choose another --out.")
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return OutputError(f"{path} cannot be written: no permission. Choose another --out.")
    return OutputError(f"{path} cannot be written: {error.strerror or error}. Choose another --out.")
