"""The folder of a run: claimed by one process, written beside what is there, exchanged with it in one step."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from jointclust.cli.errors import OutputError, output_error
from jointclust.files import UNFINISHED, lock_folder, sync_folder

# run.json comes last: where it is, all the others are, and belong together.
_LABELS = ("labels.csv", "named_labels.csv", "clusters.csv", "clusters.json")
OUTPUTS = (
    *_LABELS,
    "embedding.parquet",
    "embedding.csv",
    "candidates.csv",
    "model.skops",
    "report.html",
    "results.xlsx",
)
RECORD = "run.json"
# Folders inside the run's: of files that are being written, and of a whole run that only has to take its place.
_BEGUN, _WHOLE = f"{UNFINISHED}run-", f"{UNFINISHED}whole"
# Seconds to wait for another process that is exchanging files, which takes milliseconds.
_PATIENCE = 10.0


@contextmanager
def errors_of(path: Path) -> Iterator[None]:
    """Errors of the disk, as a user understands them."""
    try:
        yield
    except OSError as error:
        is_begun = path.parent.name.startswith(_BEGUN)
        raise output_error(path.parents[1] / path.name if is_begun else path, error) from error


@contextmanager
def claimed_folder(folder: Path, *, force: bool) -> Iterator[Path]:
    """Make sure, before the work begins, that its results can be written, and that nobody else writes there meanwhile.

    A folder that was made for this is removed again if nothing has come into it.
    """
    if folder.is_symlink() and not folder.is_dir():
        target = folder.parent / folder.readlink()
        raise OutputError(f"{folder} is a link, to {target}, where no folder is: make one there.")
    if os.path.lexists(folder) and not folder.is_dir():
        raise OutputError(f"{folder} is no folder, and a run is written to one: choose another --out.")
    with ExitStack() as held:
        with errors_of(folder):  # those of the block are its own
            held.enter_context(_made(folder))
            if not held.enter_context(lock_folder(folder)):
                what = "is being written by another run: wait for it to end, or choose another --out."
                raise OutputError(f"{folder} {what}")
            _finish(folder)
            _check_free(folder, force=force)
            tempfile.NamedTemporaryFile(dir=folder, prefix=UNFINISHED).close()
        yield folder


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder, and those around it, until the end of the block; those that hold something then stay."""
    lacking = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for one in lacking:
            with suppress(OSError):  # it holds something
                one.rmdir()


def _check_free(folder: Path, *, force: bool) -> None:
    names = [name for name in (*OUTPUTS, RECORD) if os.path.lexists(folder / name)]
    for name in names:
        if (folder / name).is_symlink():
            raise linked(folder / name)
        if not (folder / name).is_file():
            raise OutputError(f"{folder / name} is no file, and the run has one of that name: choose another --out.")
    if names and not force:
        raise OutputError(f"{folder} holds {', '.join(names)} already: choose another --out, or add --force.")
    for leftover in folder.glob(f"{UNFINISHED}*"):  # of killed processes
        if leftover.is_dir() and leftover.name.startswith(_BEGUN):
            shutil.rmtree(leftover)
        elif force and leftover.is_file():
            leftover.unlink()


def linked(path: Path) -> OutputError:
    """Why a link is not written to."""
    target = path.parent / path.readlink()  # as one would type it here
    return OutputError(f"{path} is a link, to {target}: nothing is written through links. Remove it, or name {target}.")


@contextmanager
def exchanging(folder: Path) -> Iterator[Path]:
    """A folder for the files of a run, which take the place of those of an earlier run when all of them are there.

    Whatever ends the process, the earlier run is there as it was, or the whole new one: once that is complete, what is
    left to do is done by the next command that looks (:func:`settle`).
    """
    begun = folder / f"{_BEGUN}{uuid.uuid4().hex}"
    with errors_of(folder):
        begun.mkdir()
        try:
            yield begun
            for path in begun.iterdir():
                if (folder / path.name).exists():
                    path.chmod((folder / path.name).stat().st_mode & 0o7777)
            sync_folder(begun)
            with _undisturbed():
                begun.rename(folder / _WHOLE)
                sync_folder(folder)
                _finish(folder)
        finally:
            shutil.rmtree(begun, ignore_errors=True)


def settle(folder: Path) -> None:
    """Put the files of a whole run in their places, if a process was killed while it did."""
    end = time.monotonic() + _PATIENCE
    while (folder / _WHOLE).exists():
        try:
            with lock_folder(folder) as is_ours:
                if is_ours:
                    return _finish(folder)
        except OSError as error:
            why = f"an earlier run was killed as it put its files here, and the rest cannot be done ({error.strerror})"
            raise OutputError(f"{folder}: {why}. Call this again as someone who may write there.") from error
        if time.monotonic() > end:
            raise OutputError(f"{folder}: another process is exchanging the files of this run: try again.")
        time.sleep(0.02)
    return None


def _finish(folder: Path) -> None:
    """Exchange the files of a folder with those of a whole run, its record last: it says what the others are."""
    whole = folder / _WHOLE
    if not whole.exists():
        return
    if (whole / RECORD).exists():
        names = {*json.loads((whole / RECORD).read_bytes())["files"], RECORD}
        for name in (*OUTPUTS, RECORD):
            if name not in names:
                (folder / name).unlink(missing_ok=True)
            elif (whole / name).exists():
                os.replace(whole / name, folder / name)
    whole.rmdir()
    sync_folder(folder)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C and a polite end (SIGTERM) wait for the end of the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before: dict[int, Any] = {}
    for one in (signal.SIGINT, signal.SIGTERM):
        before[one] = signal.signal(one, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digests_of(folder: Path) -> dict[str, str]:
    """What the record of a run says of its files, so that they are known to belong together."""
    return {path.name: digest_of(path) for path in sorted(folder.iterdir())}
