"""Downloads that can be resumed, are checked, and appear whole or not at all."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import ArrayLike

from jointclust.datasets._local import read_source
from jointclust.datasets._registry import Entry, fingerprint
from jointclust.files import UNFINISHED, lock, replacing
from jointclust.readers import ReadError
from jointclust.types import Matrix

ATTEMPTS, PAUSE = 4, 1  # and seconds between them, more each time
_CONNECT, SILENCE = 10, 30  # seconds until a server counts as not there, and as gone
_CHUNK = 4096  # what is lost, at most, when the connection ends


class DatasetError(ReadError):
    """A data set that cannot be had; says why, and what to do by hand."""


def expanded(path: str | os.PathLike[str]) -> Path:
    """The path with ``~`` replaced, where there is such a user."""
    with suppress(RuntimeError):
        return Path(path).expanduser()
    return Path(path)


def cache_folder() -> Path | None:
    """Where downloads are kept: what ``JOINTCLUST_CACHE`` names, or the system's place; None without pooch."""
    if named := os.environ.get("JOINTCLUST_CACHE"):
        return expanded(named)
    try:
        import pooch
    except ImportError:
        return None
    return Path(pooch.os_cache("jointclust"))


def download(entry: Entry, *, quiet: bool = False) -> Path:
    """Fetch a data set into the cache and return its ``.npz`` file; a file with other contents is deleted."""
    try:
        import pooch
    except ImportError as error:
        raise DatasetError(
            f"Downloading {entry.name} needs pooch: pip install 'jointclust[datasets]'. {by_hand(entry, None)}"
        ) from error
    folder = cache_folder()
    assert folder is not None
    # Another process may download the same set: each has its own file until it is whole.
    source = folder / f"{UNFINISHED}{uuid.uuid4().hex}-{entry.file_name}"
    downloader = partial(_resumed, path=folder / f"{entry.name}-{entry.file_name}", quiet=quiet)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as after:
            after.callback(pooch.get_logger().setLevel, pooch.get_logger().level)
            pooch.get_logger().setLevel("WARNING")
            pooch.retrieve(entry.url, None, source.name, folder, downloader=downloader)
    except Exception as error:
        raise DatasetError(
            f"{entry.name} could not be downloaded: {_reason(error, folder)}. {by_hand(entry, folder)}"
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
        raise DatasetError(f"{path} cannot be written: {_reason(error, folder)}.") from error
    _clean(folder, entry.name)
    return path


def _check(entry: Entry, X: Matrix, y: ArrayLike) -> None:
    counted = (*X.shape, np.unique(y).size)
    expected = (entry.n_samples, entry.n_features, entry.n_classes)
    if counted != expected:
        counts = "{} rows, {} columns and {} classes"
        raise ReadError(f"it has {counts.format(*counted)}, and {counts.format(*expected)} were expected.")
    if entry.exact and (digest := fingerprint(X, y)) != entry.sha256:
        raise ReadError(f"its contents have the checksum {digest}, and {entry.sha256} was expected.")


def by_hand(entry: Entry, folder: Path | None) -> str:
    """How to get the file without this library."""
    place = f"{folder} or the folder that JOINTCLUST_DATA names" if folder else "the folder that JOINTCLUST_DATA names"
    return f"To do it by hand, fetch {entry.url} and put it, as {entry.file_name}, into {place}."


def _reason(error: Exception, folder: Path) -> str:
    import requests

    innermost: BaseException = error
    while innermost.__context__ is not None:
        innermost = innermost.__context__
    why = str(innermost).strip() or type(innermost).__name__
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout):
        return "the server did not answer in time"
    if isinstance(error, requests.exceptions.SSLError):
        return f"there is no secure connection to the server ({why})"
    if isinstance(error, requests.ConnectionError):
        aborted = "Connection aborted" in str(error)
        hung_up = f"the server hung up or does not speak HTTP ({why})"
        return hung_up if aborted else "the server cannot be reached (is there a network?)"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror} in the cache {folder}: set JOINTCLUST_CACHE to a folder that can be written to"
    return str(error).rstrip(".")


def _resumed(url: str, output_file: str, pooch: object, path: Path, *, quiet: bool) -> None:
    """Download for pooch, and go on where the last one stopped.

    What has come so far is kept in a part: a line with what tells one version of the file from another (its ETag, or
    when it was modified), then its bytes. A second download at the same time has a part of its own.
    """
    with _claimed(part_of(path, url)) as part:
        for attempt in range(ATTEMPTS):
            try:
                _fetch(url, part, quiet)
                break
            except _InterruptedError:
                if attempt == ATTEMPTS - 1:
                    raise
                time.sleep(attempt * PAUSE)
        part.seek(0)
        part.readline()
        with Path(output_file).open("wb") as whole:
            shutil.copyfileobj(part, whole)
        part.truncate(0)


def _fetch(url: str, part: BinaryIO, quiet: bool) -> None:
    import requests

    version, have = _begun(part)
    # Without compression, so that lengths are those of the file.
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers |= {"Range": f"bytes={have}-", "If-Range": version}
    with requests.get(url, headers=headers, stream=True, timeout=(_CONNECT, SILENCE)) as response:
        given, span = response.headers, response.headers.get("Content-Range", "")
        whole = span.rpartition("/")[2]
        partial = have > 0 and response.status_code == requests.codes.partial_content
        beyond = have > 0 and response.status_code == requests.codes.requested_range_not_satisfiable
        if partial or beyond:
            other = given.get("ETag" if version.startswith('"') else "Last-Modified", version) != version
            expected = span.startswith(f"bytes {have}-") if partial else whole == str(have)
            if other or not expected:
                part.truncate(0)
                raise _InterruptedError("the server sent another file, or part of it, than was asked for")
            if beyond:
                return  # it is all there
        response.raise_for_status()
        done, length = have if partial else 0, given.get("Content-Length", "")
        total = int(whole) if whole.isdecimal() else done + int(length) if length.isdecimal() else None
        if not partial:
            part.truncate(0)
            # What If-Range takes: an ETag unless it is a weak one, else the time of modification.
            tag = given.get("ETag", "")
            version = tag if tag.startswith('"') else given.get("Last-Modified", "")
            part.write(f"{version}\n".encode("latin-1"))
        with _progress(url, total, quiet) as advance:
            advance(done)
            failed = None
            try:
                for chunk in response.iter_content(_CHUNK):
                    part.write(chunk)
                    done += len(chunk)
                    advance(done)
            except requests.RequestException as error:
                failed = error
        # Not every urllib3 says so when less came than was announced.
        if failed is not None or (total is not None and done < total):
            kept = ", which are kept: the next try goes on from there" if version else ""
            raise _InterruptedError(
                f"the connection ended after {done} of {total or 'unknown'} bytes{kept}"
            ) from failed


class _InterruptedError(Exception):
    """The transfer ended early; another try may go on."""


def part_of(path: Path, url: str) -> Path:
    """Where what has come so far from this address is kept."""
    return path.with_name(f"{path.name}-{hashlib.sha256(url.encode()).hexdigest()[:8]}.part")


def _begun(part: BinaryIO) -> tuple[str, int]:
    """Version and number of bytes of a partial download; without a version it cannot be continued."""
    part.seek(0)
    line = part.readline()
    have = part.seek(0, os.SEEK_END) - len(line)
    return (line[:-1].decode("latin-1"), have) if len(line) > 1 and have else ("", 0)


@contextmanager
def _claimed(kept: Path) -> Iterator[BinaryIO]:
    """The part, or a new one if another process writes it; it is kept if it can be continued."""
    own = kept.with_name(f"{kept.name}.{uuid.uuid4().hex}")
    if sys.platform == "win32":  # no locks: a part that is being written has another name
        with suppress(OSError):
            kept.rename(own)
        path, part = own, own.open("a+b")
    else:
        path, part = kept, kept.open("a+b")
        if not lock(part):
            part.close()
            path, part = own, own.open("a+b")
            lock(part)
    keep = False
    try:
        with part:
            try:
                yield part
            finally:
                keep = _begun(part)[1] > 0
    finally:
        with suppress(FileNotFoundError):
            if keep:
                os.replace(path, kept)
            else:
                path.unlink()


def _clean(folder: Path, name: str) -> None:
    """Remove every part of a set that no process writes."""
    for old in folder.glob(f"{name}-*.part*"):
        with suppress(OSError):  # Windows removes no file that is open
            with old.open("rb") as part:
                free = lock(part)
            if free:
                old.unlink()


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
