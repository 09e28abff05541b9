"""A run: its record, from which it can be repeated, its model and its labels."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import numpy as np
import scipy.sparse as sp
from click.core import ParameterSource
from numpy.typing import NDArray

import jointclust as jc
from jointclust.cli.exchange import OUTPUTS, RECORD, digest_of, settle
from jointclust.cli.writing import read_cells, write_json
from jointclust.readers import ReadError
from jointclust.rows.blocks import stretches
from jointclust.showing.fitted import features_of, last_step
from jointclust.types import Float, Labels, Predictor

_MODEL = "model.skops"
# Most digits of a whole number in a JSON file; nothing that is counted has more.
_MOST_DIGITS = 100


def _each(*kinds: type) -> Callable[[Any], bool]:
    """Whether a value is a list of such values."""
    return lambda value: isinstance(value, list) and all(isinstance(one, kinds) for one in value)


_TEXT = "text", lambda value: isinstance(value, str)
_FLAG = "true or false", lambda value: isinstance(value, bool)
_NAMES, _NUMBERS = ("a list of names", _each(str)), ("a list of numbers", _each(int, float))
_TEXTS = "an object of texts", lambda value: isinstance(value, dict) and _each(str)(list(value.values()))
_OBJECTS = (
    "an object of objects",
    lambda value: isinstance(value, dict) and all(isinstance(one, dict) for one in value.values()),
)
_OF_FILES = ("format", "encoding", "delimiter", "decimal", "dates", "missing", "categories")
_OF_COLUMNS = ("id_column", "label_column", "known_column", "text_column", "known_rows", "data", "name_by")
# What is used of a record, and what it has to be where it is there.
_RECORDED: dict[str, dict[str, tuple[str, Callable[[Any], bool]]]] = {
    "parameters": {
        **dict.fromkeys((*_OF_FILES, *_OF_COLUMNS), _TEXT),
        **dict.fromkeys(("no_header", "all_columns", "any_size"), _FLAG),
        **dict.fromkeys(("columns", "drop", "keep", "blocks"), _NAMES),
    },
    "input": {"sha256": _TEXT, "id_column": _TEXT, "date_orders": _TEXTS, "blocks": _OBJECTS},
    "result": {"sizes": _NUMBERS},
    "files": {_MODEL: _TEXT},
    "fitted": {"lowest": _NUMBERS, "highest": _NUMBERS, "features": _NAMES},
}
_PACKAGES = ("jointclust", "numpy", "scipy", "scikit-learn", "skops")


@dataclass(frozen=True, eq=False)
class SavedRun:
    """A model from the disk, and the record of the run that it comes from; empty where there is none."""

    folder: Path
    model: Predictor
    record: dict[str, Any]


def saved_run(path: str) -> SavedRun:
    """A run from its folder, or from its model alone."""
    place = Path(path)
    model = place / _MODEL if place.is_dir() else place
    if place.is_dir():
        settle(place)
        if not (place / RECORD).exists() and any((place / name).exists() for name in set(OUTPUTS) - {_MODEL}):
            why = "the run that wrote its files was interrupted, and they may not belong together"
            raise ReadError(f"{path} holds no {RECORD}: {why}. Fit again with --force, or give {model} by itself.")
    try:
        loaded = jc.load(model)
    except FileNotFoundError:
        if place.is_dir():
            raise ReadError(f"{path} holds no {_MODEL}: give the folder that a run was written to.") from None
        raise ReadError(f"{path}: there is no such model.") from None
    except (OSError, ValueError) as error:
        raise ReadError(str(error)) from error
    run = SavedRun(model.parent, loaded, _record(model.parent))
    _check_together(run, model)
    return run


def _check_together(run: SavedRun, model: Path) -> None:
    """Refuse a model that is not the one whose record lies beside it: all else is said by that record."""
    digests = run.record.get("files", {})
    if digests:
        is_own = model.name not in digests or digest_of(model) == digests[model.name]
    else:  # of an earlier version, whose kills mixed runs
        sizes, labels = run.record.get("result", {}).get("sizes"), getattr(last_step(run.model), "labels_", None)
        is_own = sizes is None or labels is None or (labels < 0).any() or sizes == np.bincount(labels).tolist()
    if not is_own:
        why = f"is not the model of the run that {RECORD} beside it tells of: files of two runs are mixed there"
        raise ReadError(f"{model} {why}. Fit again with --force, or give the model by itself, in a folder of its own.")


def altered(run: SavedRun) -> list[str]:
    """A warning where files of a run are not as it wrote them; what is used of them is checked where it is read."""
    digests = {name: own for name, own in run.record.get("files", {}).items() if name in OUTPUTS and name != _MODEL}
    there = {name: own for name, own in digests.items() if (run.folder / name).is_file()}
    other = sorted(name for name, own in there.items() if digest_of(run.folder / name) != own)
    if not other:
        return []
    why = f"not as the run wrote them ({RECORD} has their checksums): changed by hand, or of another run"
    return [f"Of the files in {run.folder}, these are {why}: {', '.join(other)}."]


def saved_labels(run: SavedRun) -> Mapping[str, Sequence[Any]]:
    """Columns of the run's table of labels, as they are written there, in the order of the rows of the fit.

    A table that someone has sorted is brought back to that order by the ids, which the embedding has, too.
    """
    path = run.folder / "labels.csv"
    clusterer = last_step(run.model)
    n_rows = len(clusterer.labels_)
    columns = _cells(run, path) if path.is_file() else {}
    if not {"id", "label"} <= columns.keys() or len(columns["id"]) != n_rows:
        raise ReadError(
            f"{path}: the {n_rows} labels of the run are not there. Give the folder that it was written to."
        )
    ids, order = columns["id"], _saved_ids(run)
    if order is not None and order != ids:
        places = {name: place for place, name in enumerate(ids)}
        if len(places) == n_rows and places.keys() == set(order):
            columns = {name: [values[places[one]] for one in order] for name, values in columns.items()}
    if columns["label"] != [str(label) for label in clusterer.labels_.tolist()]:
        raise ReadError(
            f"{path} does not have the labels of the model in the order of its fit: it was sorted or changed, and its "
            "ids do not tell which row is which. Put the table back that the run wrote, or fit again."
        )
    return columns


def _cells(run: SavedRun, path: Path) -> dict[str, list[str]]:
    return read_cells(path, raw=bool(run.record.get("parameters", {}).get("raw_cells")))


def _saved_ids(run: SavedRun) -> list[str] | None:
    """Names of the rows in the order of the fit, where the embedding was kept."""
    folder = run.folder
    path = next((folder / name for name in ("embedding.parquet", "embedding.csv") if (folder / name).is_file()), None)
    if path is None:
        return None
    if path.suffix == ".csv":
        return _cells(run, path).get("id")
    import pyarrow.parquet as parquet

    return [str(name) for name in parquet.read_table(path, columns=["id"]).column("id").to_pylist()]


def saved_names(run: SavedRun) -> dict[int, str]:
    """What the run calls its clusters; nothing where that is not known, as in runs of earlier versions.

    Names may have been changed there by hand; the sizes beside them tell whether they are of this run.
    """
    path = run.folder / "clusters.csv"
    columns = _cells(run, path) if path.is_file() else {}
    if not {"cluster", "name"} <= columns.keys():
        return {}
    wrong = [number for number in columns["cluster"] if not number.removeprefix("-").isdecimal()]
    if wrong:
        raise ReadError(f"{path} is damaged: {in_short(wrong[0])} is no number of a cluster. Fit again.")
    numbers = list(map(int, columns["cluster"]))
    _check_sizes(path, run, numbers, columns.get("size"))
    return dict(zip(numbers, columns["name"], strict=True))


def _check_sizes(path: Path, run: SavedRun, numbers: list[int], cells: list[str] | None) -> None:
    """Refuse a table of clusters that are not those of the model; rejected rows count in their clusters there."""
    labels = getattr(last_step(run.model), "labels_", None)
    if cells is None or labels is None or not all(cell.isdecimal() for cell in cells):
        return
    sizes, own = dict(zip(numbers, map(int, cells), strict=True)), Counter(labels[labels >= 0].tolist())
    if sum(sizes.values()) != labels.size or any(sizes.get(number, 0) < size for number, size in own.items()):
        why = f"does not have the clusters of {run.folder / _MODEL}: files of two runs are mixed there"
        raise ReadError(f"{path} {why}. Fit again with --force, or remove {path.name}.")


def read_json(path: Path) -> Any:
    """What a file of JSON says; no key of an object occurs twice, and no number has more digits than numbers have."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_once, parse_int=_whole_number)
    except FileNotFoundError:
        raise ReadError(f"{path}: there is no such file.") from None
    except RecursionError:
        raise ReadError(f"{path}: the brackets are nested too deeply for any file of this kind.") from None
    except (OSError, ValueError) as error:
        is_json = not isinstance(error, json.JSONDecodeError | UnicodeDecodeError)
        raise ReadError(f"{path} {'cannot be used' if is_json else 'is no JSON'}: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {in_short(twice)} occurs twice in an object")
    return content


def _whole_number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"it holds a number of {len(digits)} digits")
    return int(digits)


def in_short(value: Any) -> str:
    """A value as JSON writes it, or the first part of it."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text):,} characters)"


def _record(folder: Path) -> dict[str, Any]:
    path = folder / RECORD
    record = read_json(path) if path.exists() else {}
    if not isinstance(record, dict):
        raise ReadError(f"{path} is no record of a run: it holds {in_short(record)}.")
    for part, kinds in _RECORDED.items():
        content = record.get(part, {})
        _check(path, part, content, "an object", isinstance(content, dict))
        for name, (kind, suits) in kinds.items():
            value = content.get(name)
            _check(path, f"{part}.{name}", value, kind, value is None or suits(value))
    fitted = record.get("fitted", {})
    sizes = [len(fitted.get(name) or ()) for name in ("lowest", "highest", "features")]
    n_features = sizes[2] if fitted.get("features") else 1
    is_whole = not fitted or sizes[:2] == [n_features, n_features]
    _check(path, "fitted", fitted, "as many lowest and highest values as features", is_whole)
    return record


def part_of_record(path: Path, part: str) -> dict[str, Any]:
    """One of the objects that a run.json, or a file like it, holds."""
    record = read_json(path)
    content = record.get(part) if isinstance(record, dict) else None
    if not isinstance(content, dict):
        raise ReadError(f'{path} is no run.json: it has no object "{part}".')
    return content


def _check(path: Path, place: str, value: Any, kind: str, suits: object) -> None:
    if not suits:
        raise ReadError(f"{path} is damaged: {place} is {in_short(value)}, and should be {kind}. Fit again.")


def parameters_of(run: SavedRun) -> dict[str, Any]:
    """The parameters that a run was made with; a ReadError where one is wanted that the record does not have."""
    return _Parameters(run.folder / RECORD, run.record.get("parameters", {}))


class _Parameters(dict[str, Any]):
    """Parameters of a record, which say so when one is missing."""

    def __init__(self, path: Path, values: dict[str, Any]):
        super().__init__(values)
        self.path = path

    def __missing__(self, name: str) -> Any:
        raise ReadError(f"{self.path} is damaged: it does not say parameters.{name}. Fit again.")

    def __or__(self, other: Any) -> _Parameters:  # type: ignore[override]
        return _Parameters(self.path, {**self, **other})


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
    versions = {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in _PACKAGES}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    write_json(folder / RECORD, {"jointclust": jc.__version__, "written": now, "versions": versions, **content})


# Options that change what is said or where it goes, not what is found.
_ASIDE = {"quiet", "verbose", "as_json", "config", "force", "out", "plot"}
_SOURCES: dict[ParameterSource | None, str] = {
    ParameterSource.COMMANDLINE: "you",
    ParameterSource.DEFAULT_MAP: "config file",
    ParameterSource.ENVIRONMENT: "environment",
    None: "the earlier run",  # no option of this command
}


def origins(context: click.Context) -> dict[str, tuple[Any, str]]:
    """Every parameter of this call with its value and who chose it."""
    return {name: (value, _source(context, name)) for name, value in context.params.items() if name not in _ASIDE}


def command_line(context: click.Context) -> str:
    """What to type to repeat this call, whatever file its options came from."""
    arguments, options = [], []
    for parameter in context.command.params:
        name = str(parameter.name)
        value = context.params.get(name)
        if name in _ASIDE - {"out"} or value is None or _source(context, name) == "default":
            continue
        if isinstance(parameter, click.Argument):
            arguments.append(str(value))
        elif getattr(parameter, "is_flag", False):
            options.append((parameter.opts if value else parameter.secondary_opts)[-1:])
        else:
            many = value if isinstance(value, list | tuple) else [value]
            options += [[parameter.opts[-1], "tab" if one == "\t" else str(one)] for one in many]
    return shlex.join(["jointclust", str(context.info_name), *arguments, *(part for one in options for part in one)])


def _source(context: click.Context, name: str) -> str:
    return _SOURCES.get(context.get_parameter_source(name), "default")


# Columns beyond which one range stands for all: then they are pixels, words or genes, of one unit.
_MOST = 1000


def ranges_of(data: Any, names: list[str]) -> dict[str, Any]:
    """For the record of a run: lowest and highest value of each feature, or of all where these are many."""
    if sp.issparse(data):
        low, high = (end.toarray().ravel().astype(float) for end in (data.min(axis=0), data.max(axis=0)))
    else:
        low, high = (end.reduce(data).astype(float) for end in (np.fmin, np.fmax))  # gaps count nowhere
    if len(names) > _MOST:
        return {"lowest": [float(low.min())], "highest": [float(high.max())], "features": None}
    return {"lowest": low.tolist(), "highest": high.tolist(), "features": names}


def outside_of(recorded: dict[str, Any] | None, model: Predictor, X: Any) -> str:
    """What to say of rows that lie far outside what was fitted; empty where none does or nothing is recorded.

    Far is beyond the range of a feature by more than its width.
    """
    if not recorded or getattr(X, "ndim", 2) == 1:  # texts have no ranges
        return ""
    data, _ = features_of(model, X)
    low, high = (np.asarray(recorded[key], dtype=np.float64) for key in ("lowest", "highest"))
    if low.size not in (1, data.shape[1]):
        return ""
    widths = high - low
    widths = np.where(widths > 0, widths, np.median(widths[widths > 0]) if (widths > 0).any() else 1.0)
    far, values = _farthest(data, low - widths, high + widths)
    rows = np.flatnonzero(far >= 0)
    if not rows.size:
        return ""
    column = int(np.bincount(far[rows]).argmax())
    first = rows[far[rows] == column][0]
    at = column if low.size > 1 else 0
    name = "a value" if recorded["features"] is None else repr(recorded["features"][at])
    return (
        f"{rows.size} of {data.shape[0]} rows {'lies' if rows.size == 1 else 'lie'} far outside what was fitted "
        f"({name} is {values[first]:.4g} where {low[at]:.4g} to {high[at]:.4g} were fitted): such labels mean little. "
        "Are the units those of the fit?"
    )


def _farthest(data: Any, low: Float, high: Float) -> tuple[np.ndarray, Float]:
    """Of each row, the column that lies farthest beyond the limits, -1 where none does, and its value there."""
    columns, values = np.full(data.shape[0], -1), np.zeros(data.shape[0])
    for rows in stretches(data.shape[0], max(2**22 // max(data.shape[1], 1), 1)):
        block = np.asarray(data[rows].toarray() if sp.issparse(data) else data[rows], dtype=float)
        beyond = np.nan_to_num(np.maximum(low - block, block - high) / (high - low), nan=-np.inf)
        worst = beyond.argmax(axis=1)
        each = np.arange(len(block))
        columns[rows] = np.where(beyond[each, worst] > 0, worst, -1)
        values[rows] = block[each, worst]
    return columns, values
