"""Downloads that can be resumed, are checked, and appear whole or not at all."""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from jointclust.datasets._local import read_source
from jointclust.datasets._registry import Entry, fingerprint
from jointclust.files import UNFINISHED, replacing
from jointclust.readers import ReadError

_ATTEMPTS, _PAUSE = 4, 1  # and seconds between them, more each time
_CONNECT, _SILENCE = 10, 30  # seconds until a server counts as not there, and as gone
_CHUNK = 4096  # what is lost, at most, when the connection ends


class DatasetError(ReadError):
    """A data set that cannot be had; says why, and what to do by hand."""


def cache_folder() -> Path | None:
    """Where downloads are kept: what ``JOINTCLUST_CACHE`` names, or the system's place; None without pooch."""
    if named := os.environ.get("JOINTCLUST_CACHE"):
        return Path(named).expanduser()
    try:
        import pooch
    except ImportError:
        return None
    return Path(pooch.os_cache("jointclust"))


def download(entry: Entry, *, quiet: bool = False) -> Path:
    """Fetch a data set into the cache and return its ``.npz`` file; what does not hold what it should is deleted."""
    try:
        import pooch
    except ImportError as error:
        raise DatasetError(
            f"Downloading {entry.name} needs pooch: pip install 'jointclust[datasets]'. {by_hand(entry, None)}"
        ) from error
    folder = cache_folder()
    assert folder is not None
    # Another process may be at the same set: each has its own file until it is whole.
    source = folder / f"{UNFINISHED}{uuid.uuid4().hex}-{entry.file_name}"
    downloader = Resuming(folder / f"{entry.name}-{entry.file_name}", quiet=quiet)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _silent(pooch.get_logger()):
            pooch.retrieve(entry.url, None, source.name, folder, downloader=downloader)
    except Exception as error:
        raise DatasetError(
            f"{entry.name} could not be downloaded: {_reason(error)}. {by_hand(entry, folder)}"
        ) from error
    try:
        X, y = read_source(source, entry)
        _check(entry, X, y)
    except MemoryError:
        raise
    except ImportError as error:
        raise DatasetError(f"{entry.name}: {error}") from error
    except Exception as error:
        raise DatasetError(
            f"{entry.url} does not hold {entry.name} as it should: {str(error).rstrip('.')}. What was downloaded has "
            f"been deleted. {by_hand(entry, folder)}"
        ) from error
    finally:
        source.unlink(missing_ok=True)
    path = folder / f"{entry.name}.npz"
    try:
        with replacing(path) as temporary:
            np.savez_compressed(temporary, X=np.asarray(X, dtype=np.float32), y=y)
    except OSError as error:
        raise DatasetError(f"{path} cannot be written: {_reason(error)}.") from error
    return path


@contextmanager
def _silent(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _check(entry: Entry, X: Any, y: Any) -> None:
    found = (*X.shape, np.unique(y).size)
    expected = (entry.n_samples, entry.n_features, entry.n_classes)
    if found != expected:
        counts = "{} rows, {} columns and {} classes"
        raise ReadError(f"it has {counts.format(*found)}, and {counts.format(*expected)} were expected.")
    if entry.exact and (digest := fingerprint(X, y)) != entry.sha256:
        raise ReadError(f"its contents have the checksum {digest}, and {entry.sha256} was expected.")


def by_hand(entry: Entry, folder: Path | None) -> str:
    """How to get the file without this library."""
    place = f"{folder} or the folder that JOINTCLUST_DATA names" if folder else "the folder that JOINTCLUST_DATA names"
    return f"To do it by hand, fetch {entry.url} and put it, as {entry.file_name}, into {place}."


def _reason(error: Exception) -> str:
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout):
        return "the server did not answer in time"
    if isinstance(error, requests.ConnectionError):
        return "the server cannot be reached (is there a network?)"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or ''} {error.strerror}".strip()
    return str(error).rstrip(".")


class Resuming:
    """A downloader for pooch that goes on where the last one stopped.

    What has come so far is kept in ``NAME.part``. Who downloads takes it under a name of its own and, when interrupted,
    puts it back; so two at once do not write to one file, the second just begins anew.
    """

    def __init__(self, path: Path, *, quiet: bool = False):
        self.quiet, self.kept = quiet, path.with_name(f"{path.name}.part")

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        part = self._take()
        try:
            for attempt in range(_ATTEMPTS):
                try:
                    self._fetch(url, part)
                    break
                except _InterruptedError:
                    if attempt == _ATTEMPTS - 1:
                        raise
                    time.sleep(attempt * _PAUSE)
            os.replace(part, output_file)
        finally:
            if part.exists() and part.stat().st_size:
                os.replace(part, self.kept)
            part.unlink(missing_ok=True)

    def _take(self) -> Path:
        own = self.kept.with_name(f"{self.kept.name}.{uuid.uuid4().hex}")
        # A part that nobody has written to for longer than a silent server is waited for belongs to a killed process.
        left = [path for path in self.kept.parent.glob(f"{self.kept.name}.*") if _age(path) > 2 * _SILENCE]
        for path in [self.kept, *left]:
            try:
                os.utime(path)  # now it belongs to someone
                return path.rename(own)
            except FileNotFoundError:
                continue
        return own

    def _fetch(self, url: str, part: Path) -> None:
        import requests

        have = part.stat().st_size if part.exists() else 0
        # Without compression, so that lengths are those of the file.
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        with requests.get(url, headers=headers, stream=True, timeout=(_CONNECT, _SILENCE)) as response:
            if have and response.status_code == requests.codes.requested_range_not_satisfiable:
                if response.headers.get("Content-Range", "").endswith(f"/{have}"):
                    return  # it is all there
                part.unlink()
                raise _InterruptedError("the server has another file than the one that was begun")
            response.raise_for_status()
            begin = have if response.status_code == requests.codes.partial_content else 0
            if begin and not response.headers.get("Content-Range", "").startswith(f"bytes {begin}-"):
                part.unlink()
                raise _InterruptedError("the server sent another part of the file than was asked for")
            length = response.headers.get("Content-Length")
            total = begin + int(length) if length else None
            with part.open("ab" if begin else "wb") as stream, _progress(url, total, self.quiet) as advance:
                done = begin
                advance(done)
                try:
                    for chunk in response.iter_content(_CHUNK):
                        stream.write(chunk)
                        done += len(chunk)
                        advance(done)
                except requests.RequestException as error:
                    raise _InterruptedError(
                        f"the connection ended after {done} of {total or 'unknown'} bytes, which are kept: the next "
                        "try goes on from there"
                    ) from error


class _InterruptedError(Exception):
    """The transfer ended early; another try may go on."""


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


@contextmanager
def _progress(url: str, total: int | None, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar on the error stream, if that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task(url.rpartition("/")[2], total=total)
        yield lambda done: progress.update(task, completed=done)
