"""A run that is there: its model, its record, its table of labels."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import jointclust as jc
from jointclust.cli.writing import RECORD, read_cells, write_json
from jointclust.readers import ReadError
from jointclust.showing.fitted import last_step
from jointclust.types import Labels, Predictor

_PACKAGES = ("jointclust", "numpy", "scipy", "scikit-learn", "skops")


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
    n_rows = len(last_step(run.model).labels_)
    columns = read_cells(path) if path.is_file() else {}
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


def write_record(folder: Path, **content: object) -> None:
    """run.json: all that is needed to judge a run and to repeat it."""
    versions = {name: importlib.metadata.version(name) for name in _PACKAGES}
    record = {
        "jointclust": jc.__version__,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **versions},
        **content,
    }
    write_json(folder / RECORD, record)
