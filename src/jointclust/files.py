"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# Prefix of the names of unfinished files; only a killed process leaves one behind.
UNFINISHED = ".jointclust-"


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file beside ``path``, which takes its name once it is complete and on the disk.

    Whatever ends the process, even SIGKILL, ``path`` holds what it held before or the whole new content. A file keeps
    its permissions, a symbolic link goes on pointing to it; what is no regular file, such as a device, is refused.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> with replacing(path) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> path.read_text()
    'whole'
    """
    path, mode = _to_replace(path)
    temporary = path.with_name(f"{UNFINISHED}{uuid.uuid4().hex}{path.suffix}")
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        if mode is not None:
            temporary.chmod(mode)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def _to_replace(path: str | os.PathLike[str]) -> tuple[Path, int | None]:
    """The file itself behind symbolic links, and the permissions that it has if it is there."""
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target, None
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a device, a pipe or a socket"
        raise OSError(f"{os.fspath(path)} is {what}: give the name of a file.")
    return target, stat.S_IMODE(mode)


def sync_folder(folder: Path) -> None:
    """Put the new name itself on the disk, where folders can be opened (not on Windows)."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def lock(file: IO[bytes] | int, *, without: bool = False) -> bool:
    """Whether nobody else has locked this open file, which is now ours until it is closed; on Windows always.

    ``without`` is the answer of file systems that have no locks.
    """
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return without
    return True


@contextmanager
def lock_folder(folder: Path) -> Iterator[bool]:
    """Whether nobody else holds this folder, which is ours until the end of the block; on Windows always.

    The system lets go of it when the process ends, whatever ends it.
    """
    if sys.platform == "win32":
        yield True
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield lock(descriptor, without=True) and os.path.samestat(os.fstat(descriptor), folder.stat())
    finally:
        os.close(descriptor)
