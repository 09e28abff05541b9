"""Models on disk, in skops' format: loading a file cannot run code from it."""

from __future__ import annotations

import copy
import io
import json
import os
import zipfile
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from jointclust import registry
from jointclust._version import __version__
from jointclust.consensus.agreement import Agreement, Panel
from jointclust.consensus.classifiers import CenterLabels, LandmarkLabels, LinearLabels, NearestLabels
from jointclust.consensus.column_roles import ColumnRoles
from jointclust.consensus.confidence import ConfidenceRule, ConfidenceScale
from jointclust.consensus.embedding import DiscriminantMap
from jointclust.consensus.judged import Judgement
from jointclust.consensus.kept_rows import KeptRows
from jointclust.consensus.projection import ViewProjection
from jointclust.consensus.training import Patterns, Probe, TrainingVotes, VotesElsewhere, VotesInMemory, VotesNotKept
from jointclust.consensus.tree import LayerAgreement, Tree
from jointclust.consensus.trust import Trust
from jointclust.consensus.version_0_1 import AgreementOf01, StoredVotes, VoteShare
from jointclust.consensus.views import RowsAsGiven
from jointclust.conversion import RENAMED, convert
from jointclust.files import replacing
from jointclust.judge.number import ClusterNumber
from jointclust.methods.supervised import DiscriminantProjection
from jointclust.rows import is_elsewhere
from jointclust.rows.arrays import to_host
from jointclust.selection.search import LabelFreeSearch
from jointclust.views.blocks import BlockView
from jointclust.views.counts import Words
from jointclust.views.encoder import MixedEncoder
from jointclust.views.gaps import LowRankImputer
from jointclust.views.kinds import Description
from jointclust.views.level_weights import WeightedLevels
from jointclust.views.preparation import Preparation
from jointclust.views.registry import VIEWS
from jointclust.views.stored import StoredColumn, StoredTable
from jointclust.views.usage import Usage
from jointclust.views.written import Reading

__all__ = ["load", "save"]

FORMAT_VERSION = 1
_HEADER, _SCHEMA = "jointclust.json", "schema.json"
# Bytes that a file may unpack to: so many, and so many times its own.
_UNPACKED, _TIMES = 2**26, 100
# Our classes, beside those of the registries, that a model may be or hold.
_BESIDE = (
    Agreement,
    AgreementOf01,
    BlockView,
    CenterLabels,
    ClusterNumber,
    ColumnRoles,
    ConfidenceRule,
    ConfidenceScale,
    Description,
    DiscriminantMap,
    DiscriminantProjection,
    Judgement,
    KeptRows,
    LabelFreeSearch,
    LandmarkLabels,
    LayerAgreement,
    LinearLabels,
    LowRankImputer,
    MixedEncoder,
    NearestLabels,
    Panel,
    Patterns,
    Preparation,
    Probe,
    Reading,
    RowsAsGiven,
    StoredColumn,
    StoredTable,
    StoredVotes,
    Tree,
    Trust,
    Usage,
    ViewProjection,
    VoteShare,
    VotesElsewhere,
    VotesInMemory,
    VotesNotKept,
    WeightedLevels,
    Words,
)


def on_host(model: BaseEstimator) -> BaseEstimator:
    """The model, with fitted arrays on a device or with Dask copied to the host; steps of a pipeline too."""
    changed: dict[str, Any] = {name: to_host(value) for name, value in vars(model).items() if is_elsewhere(value)}
    for name, value in vars(model).items():
        if isinstance(value, TrainingVotes):
            changed[name] = value.with_arrays(lambda array: to_host(array) if is_elsewhere(array) else array)
    if isinstance(model, Pipeline):
        steps = [(name, on_host(step) if isinstance(step, BaseEstimator) else step) for name, step in model.steps]
        if any(new is not old for (_, new), (_, old) in zip(steps, model.steps, strict=True)):
            changed["steps"] = steps
    if not changed:
        return model
    copied = copy.copy(model)
    vars(copied).update(changed)
    return copied


def save(model: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a model, or a pipeline that holds one, to a file, whole or not at all.

    Parameters
    ----------
    model : estimator
        A jointclust or scikit-learn estimator.
    path : path-like
        Where to; an existing file is replaced.

    Examples
    --------
    >>> import jointclust as jc, tempfile, pathlib
    >>> X, _ = jc.datasets.two_gaussians(random_state=0)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.skops"
    >>> jc.save(jc.LDAKMeans(2, random_state=0).fit(X), path)
    >>> jc.load(path)
    LDAKMeans(n_clusters=2, random_state=0)
    """
    if not isinstance(model, BaseEstimator) or isinstance(model, type):
        raise TypeError(f"model must be an estimator instance; got {type(model).__name__}.")
    skops = _skops()
    model = on_host(model)
    data = skops.dumps(model, compression=zipfile.ZIP_DEFLATED)
    if _swells(data):
        data = skops.dumps(model, compression=zipfile.ZIP_STORED)  # load does not unpack what grows like a bomb
    foreign = _foreign_types(skops, _without_arrays(data))
    if foreign:
        raise TypeError(
            f"model holds types that load would refuse: {', '.join(foreign)}. Give parameters as NumPy arrays and "
            "plain values, name the kernel instead of passing a function, and drop callbacks with set_callbacks()."
        )
    buffer = io.BytesIO(data)
    del data  # two copies of a large model are enough
    header = {"format": FORMAT_VERSION, "library": "jointclust", "version": __version__}
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(_HEADER, json.dumps(header))
    with replacing(path) as temporary:
        temporary.write_bytes(buffer.getbuffer())


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote. Only jointclust's, scikit-learn's and NumPy's types are ever built.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    model : estimator
        As it was saved.
    """
    skops = _skops()
    data = Path(path).read_bytes()
    version = _format_version(data, path)
    if version > FORMAT_VERSION:
        raise ValueError(
            f"{path} has format version {version}; this jointclust ({__version__}) reads up to "
            f"{FORMAT_VERSION}. Upgrade jointclust."
        )
    try:
        data = _with_present_names(data)
        foreign = _foreign_types(skops, data)
        if not foreign:
            model = skops.loads(data, trusted=_own_types())
            if not isinstance(model, BaseEstimator):
                raise TypeError(f"it holds a {type(model).__name__}, which is no model by itself")
            _check_sparse(model)
            convert(model)
            return model
    except Exception as error:
        raise ValueError(f"{path} is corrupt: {error}. Save the model again.") from error
    raise ValueError(f"{path} holds types that jointclust does not load from a file: {', '.join(foreign)}.")


def _check_sparse(value: Any) -> None:
    """Refuse a sparse matrix with an index outside of it: SciPy's compiled code would read there."""
    if sp.issparse(value):
        value.check_format(full_check=True)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_sparse(item)
    elif isinstance(value, dict):
        _check_sparse(list(value.values()))
    elif isinstance(value, BaseEstimator) or is_dataclass(value):
        _check_sparse(vars(value))


def _format_version(data: bytes, path: str | os.PathLike[str]) -> int:
    try:
        if _swells(data):
            raise ValueError(f"it would unpack to more than {_TIMES} times its size")
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            damaged = archive.testzip()
            header = json.loads(archive.read(_HEADER)) if _HEADER in archive.namelist() else None
    except Exception as error:
        raise ValueError(f"{path} is not a model file, or it is corrupt or truncated ({error}).") from error
    if damaged is not None:
        raise ValueError(f"{path} is corrupt: {damaged} is damaged. Save the model again.")
    if header is None:
        raise ValueError(f"{path} was not written by jointclust.save.")
    version = header.get("format") if isinstance(header, dict) and header.get("library") == "jointclust" else None
    if not isinstance(version, int) or version < 1:
        raise ValueError(f"{path} is corrupt: its header is not jointclust's. Save the model again.")
    return version


def _swells(data: bytes) -> bool:
    """Whether an archive, or one inside it, says that it unpacks to far more than its size (no more comes out)."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        items = archive.infolist()
        if sum(item.file_size for item in items) > _UNPACKED + _TIMES * len(data):
            return True
        inner = [item for item in items if _begins(archive, item, b"PK")]  # sparse rows are archives of their own
        return any(_swells(archive.read(item)) for item in inner)


def _without_arrays(data: bytes) -> bytes:
    """The file with nothing in it but what it says of types, which is all that is looked at before it is written."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(buffer, "w") as light:
        for item in archive.infolist():
            light.writestr(item.filename, archive.read(item) if item.filename == _SCHEMA else b"")
    return buffer.getvalue()


def _begins(archive: zipfile.ZipFile, item: zipfile.ZipInfo, start: bytes) -> bool:
    with archive.open(item) as stream:
        return stream.read(len(start)) == start


def _with_present_names(data: bytes) -> bytes:
    """The file with modules that have moved since named as they are now; the same file where none has."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        schema = json.loads(archive.read(_SCHEMA))
        if not _rename_modules(schema):
            return data
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as renamed:
            for item in archive.infolist():
                content = json.dumps(schema) if item.filename == _SCHEMA else archive.read(item)
                renamed.writestr(item.filename, content)
    return buffer.getvalue()


def _rename_modules(node: Any) -> bool:
    """Rename in place; whether there was anything to rename."""
    if isinstance(node, list):
        return sum(_rename_modules(item) for item in node) > 0
    if not isinstance(node, dict):
        return False
    renamed = sum(_rename_modules(item) for item in node.values()) > 0
    name = f"{node.get('__module__')}.{node.get('__class__')}"
    if name in RENAMED:
        node["__module__"], node["__class__"] = RENAMED[name].rsplit(".", 1)
        renamed = True
    return renamed


def _foreign_types(skops: Any, data: bytes) -> list[str]:
    return [name for name in skops.get_untrusted_types(data=data) if name not in _own_types()]


def _own_types() -> list[str]:
    """Qualified names of jointclust's estimators and of what they hold: all a file may name beside skops' safe list.

    ``numpy.dtype``, which scikit-learn's SimpleImputer keeps, skops rebuilds from an empty array; the sparse rows that
    kernel methods keep it reads as SciPy's own files.
    """
    others = (*_BESIDE, np.dtype, sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix)
    return [
        *(entry.path.replace(":", ".") for entry in (*registry.METHODS, *VIEWS.values())),
        *(f"{kind.__module__}.{kind.__qualname__}" for kind in others),
    ]


def _skops() -> Any:
    import skops.io  # on use: importing jointclust stays light

    return skops.io
