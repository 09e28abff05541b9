"""A run: data in, a folder of results out, each file whole or not there."""

from __future__ import annotations

import csv
import hashlib
import importlib.metadata
import importlib.util
import json
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import jointclust as jc
from jointclust.cli.console import Voice
from jointclust.cli.errors import OutputError, output_error
from jointclust.files import UNFINISHED, replacing
from jointclust.readers import Table, format_of, read
from jointclust.showing import fitted
from jointclust.types import Labels, Predictor

# run.json comes last: where it is, all the others are, and belong together.
OUTPUTS = ("labels.csv", "embedding.parquet", "embedding.csv", "candidates.csv", "model.skops", "report.html")
RECORD = "run.json"
_PACKAGES = ("jointclust", "numpy", "scipy", "scikit-learn", "skops")


@dataclass(frozen=True, eq=False)
class InputFile:
    """Data as read, and how to recognise the file again."""

    table: Table
    path: str
    sha256: str


def load_data(
    voice: Voice,
    path: str,
    *,
    format: str | None,
    no_header: bool,
    missing: str = "refuse",
    categories: str = "refuse",
    **options: Any,
) -> InputFile:
    """Read a file, or standard input, which is kept in a temporary file meanwhile."""
    with _as_file(path, format) as file:
        size = file.stat().st_size if file.is_file() else None
        with voice.step("read", f"Reading {path}", size) as progress:
            table = read(
                file,
                format or ("csv" if path == "-" else format_of(path)),
                header=not no_header,
                missing="refuse" if missing == "refuse" else "keep",
                categories="keep" if categories == "auto" else categories,
                progress=progress,
                **options,
            )
            with file.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
    for note in table.notes:
        voice.say(note)
    return InputFile(table, path if path == "-" else str(Path(path).resolve()), digest)


@contextmanager
def _as_file(path: str, format: str | None) -> Iterator[Path]:
    if path != "-":
        yield Path(path)
        return
    with tempfile.NamedTemporaryFile(prefix="stdin-", suffix=f".{format or 'csv'}") as spooled:
        shutil.copyfileobj(sys.stdin.buffer, spooled)
        spooled.flush()
        yield Path(spooled.name)


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


def claim_file(path: Path, *, force: bool) -> None:
    """The same for a single file."""
    if path.exists() and not force:
        raise OutputError(f"{path} is there already: choose another --out, or add --force.")
    if path.suffix == ".parquet" and not _can_write_parquet():
        raise OutputError(
            f"{path}: writing Parquet needs pyarrow: pip install 'jointclust[files]', or name a .csv file."
        )
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


def write_table(path: Path, columns: dict[str, Any]) -> None:
    """Columns as CSV, or as Parquet where the name says so."""
    with written(path) as temporary:
        if path.suffix == ".parquet":
            import pyarrow as pa
            import pyarrow.parquet as parquet

            parquet.write_table(
                pa.table(
                    {name: pa.array(list(values) if _is_text(values) else values) for name, values in columns.items()}
                ),
                temporary,
            )
            return
        with temporary.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*(_plain(values) for values in columns.values()), strict=True))


def _is_text(values: object) -> bool:
    return getattr(values, "dtype", np.dtype(int)).kind == "O"


def _plain(values: Iterable[object]) -> list[object]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def identities(table: Table) -> NDArray:
    """Names of the rows."""
    return np.arange(table.data.shape[0]) if table.ids is None else table.ids


def label_columns(table: Table, model: Predictor) -> dict[str, Any]:
    """What goes into labels.csv."""
    columns = {"id": identities(table), "label": np.asarray(fitted.last_step(model).labels_)}
    confidence, weights = fitted.confidence_of(model), getattr(fitted.last_step(model), "sample_weights_", None)
    if confidence is not None:
        columns["confidence"] = np.round(confidence, 6)
    if weights is not None:
        columns["weight"] = weights
    return columns


def embedding_columns(ids: NDArray, Y: NDArray) -> dict[str, Any]:
    """What goes into the file of the embedding."""
    return {"id": ids, **{f"component_{index}": Y[:, index] for index in range(Y.shape[1])}}


def embedding_name() -> str:
    """Parquet where it can be written."""
    return "embedding.parquet" if _can_write_parquet() else "embedding.csv"


def _can_write_parquet() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


def write_record(folder: Path, **content: object) -> None:
    """run.json: all that is needed to judge a run and to repeat it."""
    versions = {name: importlib.metadata.version(name) for name in _PACKAGES}
    record = {
        "jointclust": jc.__version__,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **versions},
        **content,
    }
    with written(folder / RECORD) as temporary:
        temporary.write_text(json.dumps(record, indent=2, default=str) + "\n", encoding="utf-8")


def evaluation(table: Table, labels: Labels) -> dict[str, float]:
    """Agreement with known classes, where there are some."""
    if table.classes is None:
        return {}
    known = np.array([str(value).strip().lower() not in ("", "nan", "none", "na") for value in table.classes])
    if not known.any():
        return {}
    classes, labels = np.asarray(table.classes)[known], np.asarray(labels)[known]
    left_out = {} if known.all() else {"rows_without_class": int((~known).sum())}
    return {
        "accuracy": float(jc.metrics.clustering_accuracy(classes, labels)),
        "nmi": float(jc.metrics.normalized_mutual_info(classes, labels)),
        **left_out,
    }
