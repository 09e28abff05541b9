"""A run: data in, a folder of results out; and one that is there already."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import jointclust as jc
from jointclust.cli import tables
from jointclust.cli.console import Voice
from jointclust.cli.files import RECORD
from jointclust.readers import NoColumnError, ReadError, Table, as_written, format_of, read
from jointclust.readers._cells import is_gap
from jointclust.showing import fitted
from jointclust.types import Labels, Predictor

_PACKAGES = ("jointclust", "numpy", "scipy", "scikit-learn", "skops")
# What messages call standard input.
STDIN = "stdin"


@dataclass(frozen=True, eq=False)
class InputFile:
    """Data as read, and how to recognise the file again.

    Attributes
    ----------
    columns : dict of name to values, or None
        Every column as it is written, where that was asked for.
    """

    table: Table
    path: str
    sha256: str
    format: str
    columns: Mapping[str, Sequence[Any]] | None = None

    @property
    def name(self) -> str:
        return STDIN if self.path == "-" else Path(self.path).name


def load_data(
    voice: Voice,
    path: str,
    *,
    format: str | None,
    no_header: bool | None,
    missing: str = "refuse",
    categories: str = "refuse",
    remembered: str | None = None,
    whole: bool = False,
    **options: Any,
) -> InputFile:
    """Read a file, or standard input, which is kept in a temporary file meanwhile.

    A remembered name of the id column, unlike one that is given, need not be there. The whole of a file are its columns
    as they are written.
    """
    kind = format or ("csv" if path == "-" else format_of(path))
    options |= {
        "header": None if no_header is None else not no_header,
        "missing": "refuse" if missing == "refuse" else "keep",
        "categories": "keep" if categories == "auto" else categories,
    }
    with _as_file(path, format) as file, _called(file, path):
        size = file.stat().st_size if file.is_file() else None
        with voice.step("read", f"Reading {STDIN if path == '-' else path}", size) as progress:
            table = _read(file, kind, remembered, options | {"progress": progress})
            columns = as_written(file, kind, **options) if whole else None
            with file.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
    for note in table.notes:
        voice.say(note)
    return InputFile(table, path if path == "-" else str(Path(path).resolve()), digest, kind, columns)


def _read(file: Path, kind: str, remembered: str | None, options: dict[str, Any]) -> Table:
    if remembered is None or options["id_column"] is not None:
        return read(file, kind, **options)
    try:
        return read(file, kind, **options | {"id_column": remembered})
    except NoColumnError:
        table = read(file, kind, **options)
        if table.ids is not None:
            return table
        note = f"There is no column {remembered!r}, which named the rows of the fit: they are counted from 0."
        return replace(table, notes=[*table.notes, note])


@contextmanager
def _as_file(path: str, format: str | None) -> Iterator[Path]:
    if path != "-":
        yield Path(path)
        return
    with tempfile.NamedTemporaryFile(prefix="stdin-", suffix=f".{format or 'csv'}") as spooled:
        shutil.copyfileobj(sys.stdin.buffer, spooled)
        spooled.flush()
        yield Path(spooled.name)


@contextmanager
def _called(file: Path, path: str) -> Iterator[None]:
    """Errors call standard input by its own name, not by that of a temporary file."""
    try:
        yield
    except ReadError as error:
        if path != "-":
            raise
        raise ReadError(str(error).replace(str(file), STDIN)) from error


@dataclass(frozen=True, eq=False)
class SavedRun:
    """A model from the disk, and the record of the run that it comes from; empty where there is none.

    Attributes
    ----------
    folder : Path
        Where they lie.
    """

    folder: Path
    model: Predictor
    record: dict[str, Any]

    @property
    def id_column(self) -> str | None:
        """The column that named the rows of the fit."""
        return self.record.get("input", {}).get("id_column")

    @property
    def parameters(self) -> dict[str, Any]:
        return self.record.get("parameters", {})


def saved_run(path: str) -> SavedRun:
    """A run from its folder, or from its model alone."""
    place = Path(path)
    model = place / "model.skops" if place.is_dir() else place
    try:
        loaded = jc.load(model)
    except FileNotFoundError:
        if place.is_dir():
            raise ReadError(f"{path} holds no model.skops: give the folder that a run was written to.") from None
        raise ReadError(f"{path}: there is no such model.") from None
    except (OSError, ValueError) as error:
        raise ReadError(str(error)) from error
    return SavedRun(model.parent, loaded, _record(model.parent))


def saved_labels(run: SavedRun) -> Mapping[str, Sequence[Any]]:
    """Columns of the run's table of labels, as they are written there."""
    path = run.folder / "labels.csv"
    n_rows = len(fitted.last_step(run.model).labels_)
    columns = tables.read_cells(path) if path.is_file() else {}
    if not {"id", "label"} <= columns.keys() or len(columns["id"]) != n_rows:
        raise ReadError(
            f"{path}: the {n_rows} labels of the run are not there. Give the folder that it was written to."
        )
    return columns


def _record(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ReadError(f"{folder / RECORD} is no record of a run: {error}") from error
    return found if isinstance(found, dict) else {}


def identities(table: Table) -> NDArray:
    """Names of the rows."""
    return np.arange(table.data.shape[0]) if table.ids is None else table.ids


def label_columns(table: Table, model: Predictor) -> dict[str, Any]:
    """What goes into labels.csv."""
    clusterer = fitted.last_step(model)
    labels = np.asarray(clusterer.labels_)
    columns = {"id": identities(table), "label": labels, **class_column(clusterer, labels)}
    confidence, weights = fitted.confidence_of(model), getattr(clusterer, "sample_weights_", None)
    if confidence is not None:
        columns["confidence"] = np.round(confidence, 6)
    if weights is not None:
        columns["weight"] = weights
    return columns


def class_column(clusterer: Any, labels: Labels) -> dict[str, NDArray]:
    """The known class that each label stands for, empty for further clusters; nothing where none was known."""
    names = class_names(clusterer)
    if not names:
        return {}
    further = max(int(labels.max(initial=0)) + 1 - len(names), 0)
    return {"class": np.array([*names, *[""] * (further + 1)], dtype=object)[labels]}  # the last is for rejected rows


def class_names(clusterer: Any) -> list[str]:
    """Names of the first clusters, which are known classes."""
    return [str(name) for name in getattr(clusterer, "classes_", ())]


def embedding_columns(ids: NDArray, Y: NDArray) -> dict[str, Any]:
    """What goes into the file of the embedding."""
    return {"id": ids, **{f"component_{index}": Y[:, index] for index in range(Y.shape[1])}}


def embedding_name() -> str:
    """Parquet where it can be written."""
    return "embedding.parquet" if tables.can_write_parquet() else "embedding.csv"


def write_record(folder: Path, **content: object) -> None:
    """run.json: all that is needed to judge a run and to repeat it."""
    versions = {name: importlib.metadata.version(name) for name in _PACKAGES}
    record = {
        "jointclust": jc.__version__,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **versions},
        **content,
    }
    tables.write_json(folder / RECORD, record)


def evaluation(table: Table, labels: Labels) -> dict[str, float]:
    """Agreement with known classes, where there are some, on the rows whose class the fit has not seen."""
    if table.classes is None:
        return {}
    known = _is_known(table.classes)
    seen = np.zeros_like(known) if table.known is None else _is_known(table.known)
    judged = known & ~seen
    if not judged.any():
        return {}
    classes, labels = np.asarray(table.classes)[judged], np.asarray(labels)[judged]
    left_out = {"rows_without_class": int((~known).sum()), "rows_fitted_with_class": int(seen.sum())}
    return {
        "accuracy": float(jc.metrics.clustering_accuracy(classes, labels)),
        "nmi": float(jc.metrics.normalized_mutual_info(classes, labels)),
        **{name: number for name, number in left_out.items() if number},
    }


def _is_known(classes: NDArray) -> NDArray[np.bool_]:
    return np.array([not is_gap(str(value)) for value in classes])
