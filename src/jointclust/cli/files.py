"""Files and folders that are written: asked for before the work begins, there whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jointclust.cli.errors import OutputError, output_error
from jointclust.files import UNFINISHED, replacing

# run.json comes last: where it is, all the others are, and belong together.
OUTPUTS = (
    "labels.csv",
    "named_labels.csv",
    "clusters.csv",
    "clusters.json",
    "embedding.parquet",
    "embedding.csv",
    "candidates.csv",
    "model.skops",
    "report.html",
)
RECORD = "run.json"


def claim_folder(folder: Path, *, force: bool) -> None:
    """Make sure, before the work begins, that its results can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        present = [name for name in (*OUTPUTS, RECORD) if (folder / name).exists()]
        if present and not force:
            raise OutputError(f"{folder} holds {', '.join(present)} already: choose another --out, or add --force.")
        if force:
            for leftover in folder.glob(f"{UNFINISHED}*"):
                leftover.unlink()
        with tempfile.NamedTemporaryFile(dir=folder, prefix=UNFINISHED):
            pass
    except OSError as error:
        raise output_error(folder, error) from error


def claim_file(path: Path, *, force: bool, option: str = "--out") -> None:
    """The same for a single file."""
    if path.is_dir():
        raise OutputError(f"{path} is a folder: name a file in it.")
    if path.exists() and not force:
        raise OutputError(f"{path} is there already: choose another {option}, or add --force.")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=UNFINISHED):
            pass
    except OSError as error:
        raise output_error(path, error) from error


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """As :func:`jointclust.files.replacing`, with errors that a user understands."""
    try:
        with replacing(path) as temporary:
            yield temporary
    except OSError as error:
        raise output_error(path, error) from error
