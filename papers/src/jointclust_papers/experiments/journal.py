"""A file that finished cells are added to one by one, so that a run that is killed goes on where it stopped."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO, Any, Self

from jointclust.files import lock


class Journal:
    """Finished cells by key, one JSON line each; on the disk before the next one begins.

    A line cut short by the end of a process is dropped, and with it no more than the cell it was about.

    Parameters
    ----------
    path : path-like or None
        The file; None keeps the cells in memory only.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "cells.jsonl"
    >>> with Journal(path) as journal:
    ...     journal.add("a", {"accuracy": 0.5})
    >>> with Journal(path) as journal:
    ...     journal.get("a")
    {'accuracy': 0.5}
    """

    def __init__(self, path: str | os.PathLike[str] | None = None):
        self.path = None if path is None else Path(path)
        self.cells: dict[str, dict[str, Any]] = {}
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        if (path := self.path) is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = file = path.open("ab+")
            if not lock(file):
                file.close()
                raise ValueError(f"{path}: another run is writing there. Wait for it, or choose another folder.")
            self._read(file)
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()

    def get(self, key: str) -> dict[str, Any] | None:
        """The finished cell of that key, if there is one."""
        return self.cells.get(key)

    def add(self, key: str, cell: dict[str, Any]) -> None:
        """Write down a finished cell."""
        self.cells[key] = cell
        if self._file is not None:
            self._file.write(json.dumps({"key": key, **cell}).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def _read(self, file: IO[bytes]) -> None:
        file.seek(0)
        whole = 0
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break  # cut short
            try:
                cell = json.loads(line)
                self.cells[cell.pop("key")] = cell
            except (ValueError, KeyError, TypeError, AttributeError):
                raise ValueError(
                    f"{self.path}, line {number}, is no finished cell. Is this another file? If not, delete that line."
                ) from None
            whole += len(line)
        file.truncate(whole)
