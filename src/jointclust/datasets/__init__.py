"""Data sets: those of the papers, from files or from their public sources, scikit-learn's, generated ones."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets
from numpy.typing import DTypeLike, NDArray

from jointclust.datasets import _local
from jointclust.datasets._download import DatasetError, cache_folder, download, expanded
from jointclust.datasets._everyday import TABLES, everyday
from jointclust.datasets._generated import mixture, multi_clusters, three_clusters, two_gaussians
from jointclust.datasets._registry import ENTRIES, Entry, canonical, fingerprint
from jointclust.exceptions import Setting
from jointclust.readers import ReadError

__all__ = [
    "Dataset",
    "DatasetError",
    "Entry",
    "everyday",
    "fetch",
    "fingerprint",
    "load",
    "mixture",
    "multi_clusters",
    "names",
    "present",
    "registry",
    "three_clusters",
    "two_gaussians",
]

# What a data set may be called: a file name without its ending, no path.
_NAME = re.compile(r"\w[\w .-]*")
_GENERATED = {draw.__name__: draw for draw in (two_gaussians, three_clusters, multi_clusters, mixture)}
_DRAWN = {*_GENERATED, *TABLES}
_BUNDLED = ("iris", "digits", "wine", "breast_cancer")


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set.

    Attributes
    ----------
    data : array, CSR array or data frame of shape (n_samples, n_features)
        The rows; a data frame where columns are of different types.
    target : array of shape (n_samples,)
        Known classes, for evaluation only.
    name : str
        Its name.
    image_shape : tuple (height, width) or None
        For rows that are images.
    image_order : {"C", "F"}
        Whether pixels are stored row by row or column by column: ``row.reshape(image_shape, order=image_order)``.
    feature_names : array or None
        Names of the columns, where known.
    """

    data: Any
    target: NDArray[Any]
    name: str
    image_shape: tuple[int, int] | None = None
    image_order: str = "C"
    feature_names: NDArray[Any] | None = field(default=None, repr=False)

    @property
    def n_classes(self) -> int:
        """Number of known classes."""
        return int(np.unique(self.target).size)


def registry() -> dict[str, Entry]:
    """Every data set that is known by name, here or not: those of the papers, and a few more.

    Returns
    -------
    entries : dict of str to Entry
        By name.

    Examples
    --------
    >>> import jointclust as jc
    >>> coil = jc.datasets.registry()["coil20"]
    >>> coil.n_samples, coil.terms
    (1440, 'non-commercial research; cite CUCS-005-96')
    """
    return dict(ENTRIES)


def image_layout(name: str) -> tuple[tuple[int, int] | None, str]:
    """Height and width, and order of the pixels, of a data set of images that is known by name; else None and "C"."""
    entry = ENTRIES.get(name)
    return (None, "C") if entry is None else (entry.image_shape, entry.image_order)


def _folders(data_home: str | os.PathLike[str] | None) -> list[Path]:
    given = [data_home, os.environ.get("JOINTCLUST_DATA"), cache_folder()]
    folders = [expanded(folder) for folder in given if folder]
    if data_home and not _is_folder(folders[0]):
        raise DatasetError(f"data_home={str(data_home)!r} is no folder.")
    return folders


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _hints(name: str, data_home: str | os.PathLike[str] | None) -> str:
    """What may be the matter with a set that is not here."""
    named = os.environ.get("JOINTCLUST_DATA")
    wrong = named and not _is_folder(expanded(named))
    flat = (folder / name for folder in _folders(data_home) if _local.is_image_folder(folder / name, flat=True))
    hints = [f" JOINTCLUST_DATA names {named!r}, which is no folder."] if wrong else []
    return "".join(hints + [f" {path} holds images: put those of each class into a subfolder of it." for path in flat])


def _closest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name.lower(), {*known, *ENTRIES}, n=1)
    return (f" Did you mean {close[0]!r}?" if close else "") + f" There are {', '.join(known)}."


def _local_path(name: str, data_home: str | os.PathLike[str] | None) -> Path | None:
    """A file or folder under this very name, or under that of the registry."""
    names = [known for known in dict.fromkeys((name, canonical(name) or name)) if _NAME.fullmatch(known)]
    pairs = ((folder, known) for folder in _folders(data_home) for known in names)
    return next((path for pair in pairs for path in _local.possible_files(*pair, ENTRIES.get(pair[1]))), None)


def names(data_home: str | os.PathLike[str] | None = None) -> list[str]:
    """Names that :func:`load` knows here, without a download, sorted.

    Parameters
    ----------
    data_home : path-like, optional
        A folder, beside the one that the environment variable ``JOINTCLUST_DATA`` names and the cache.

    Returns
    -------
    names : list of str
        Local files and folders, bundled and generated sets.
    """
    sources = {entry.file_name for entry in ENTRIES.values()}  # go by the registry's name
    local = {
        name
        for folder in _folders(data_home)
        for path, name in _local.sets_in(folder)
        if _NAME.fullmatch(name) and path.name not in sources
    }
    known = {name for name in ENTRIES if present(name, data_home)}
    return sorted(local | known)


def present(name: str, data_home: str | os.PathLike[str] | None = None) -> str | None:
    """Where a data set is, if :func:`load` finds it without a download.

    Parameters
    ----------
    name : str
        A name, as for :func:`load`.
    data_home : path-like, optional
        A folder to look into first.

    Returns
    -------
    place : str or None
        The path of a local file or folder, "bundled" (with scikit-learn), "generated", or None.

    Examples
    --------
    >>> import jointclust as jc
    >>> jc.datasets.present("wine", data_home=".")
    'bundled'
    """
    if path := _local_path(name, data_home):
        return str(path)
    known = canonical(name)
    return "bundled" if known in _BUNDLED else "generated" if known in _DRAWN else None


def load(
    name: str,
    data_home: str | os.PathLike[str] | None = None,
    *,
    dtype: DTypeLike = np.float64,
    image_shape: tuple[int, int] | None = None,
    download: bool = True,
) -> Dataset:
    """Load a data set by name.

    Local files come first: in ``data_home``, in the folder that ``JOINTCLUST_DATA`` names, in the cache. Then come
    scikit-learn's bundled sets and the generated ones (drawn with seed 0). What is nowhere here is downloaded from its
    public source into the cache, if it has one; the error says what to do where it has none.

    A local set is ``name.npz`` (dense: ``X`` and ``y``; sparse: the parts of a CSR matrix, ``data``, ``indices``,
    ``indptr``, ``shape``, or of a CSC one, with ``format``, and ``y``), or ``name.mat`` (X, fea, data or features; y,
    gnd, label, labels or gt), or the file of its public source, or a folder ``name`` of images with a subfolder for
    each class. The set ``german``, whose columns are of different types, is ``german.csv``.

    Parameters
    ----------
    name : str
        A name of :func:`names` or :func:`registry`, or one that a paper uses, such as "AT&T".
    data_home : path-like, optional
        A folder to look into first.
    dtype : dtype, default=float64
        Type of the returned numbers.
    image_shape : tuple (height, width), default=None
        The size that the images of a folder get. None takes that of the registry, or 32 x 32.
    download : bool, default=True
        Whether to download what is not here. That needs ``pip install 'jointclust[datasets]'``.

    Returns
    -------
    dataset : Dataset
        With ``data``, ``target``, ``name``, ``image_shape`` and more.

    Examples
    --------
    >>> import jointclust as jc
    >>> jc.datasets.load("digits").data.shape
    (1797, 64)
    """
    entry = ENTRIES.get(canonical(name) or "")
    if entry is None and not _NAME.fullmatch(name):
        raise DatasetError(f"{name!r} is not the name of a data set.{_closest(name, names(data_home))}")
    path = _local_path(name, data_home)
    if path is None and entry is not None:
        if entry.name in _BUNDLED:
            bunch = getattr(sklearn.datasets, f"load_{entry.name}")()
            columns = np.asarray(bunch.feature_names)
            return Dataset(bunch.data.astype(dtype), bunch.target, entry.name, entry.image_shape, "C", columns)
        if entry.name in TABLES:
            table, y = everyday(entry.name, random_state=0)
            return Dataset(table, y, entry.name, feature_names=np.asarray(list(table)))
        if entry.name in _GENERATED:
            X, y = _GENERATED[entry.name](random_state=0)
            return Dataset(X.astype(dtype), y, entry.name)
        path = _fetched(entry, data_home, download)
    if path is None:
        raise DatasetError(
            f"There is no data set {name!r} here.{_closest(name, names(data_home))} For others pass data_home, or set "
            f"JOINTCLUST_DATA, to a folder that holds them.{_hints(name, data_home)}"
        )
    try:
        return _load_file(path, entry, dtype, image_shape)
    except ReadError as error:
        if entry is not None and path == cached(entry.name):
            raise DatasetError(f"{str(error).rstrip('.')}. Delete this file, and load again.") from error
        raise


def cached(name: str) -> Path | None:
    """The file of a set that was downloaded."""
    folder = cache_folder()
    paths = () if folder is None else _local.possible_files(folder, name, None)
    return next((path for path in paths if path.suffix == ".npz"), None)


def fetch(name: str, *, force: bool = False, quiet: bool = False) -> Path:
    """Download a data set from its public source into the cache, unless it is there.

    The cache is the folder that ``JOINTCLUST_CACHE`` names, or the system's usual one. An interrupted download goes on
    where it stopped; what is complete is checked against the registry, and deleted where it differs.

    Parameters
    ----------
    name : str
        A name, as for :func:`load`.
    force : bool, default=False
        Whether to download it again if it is there.
    quiet : bool, default=False
        Whether to show no progress bar; there is none where the error stream is not a terminal.

    Returns
    -------
    path : Path
        The ``.npz`` file.
    """
    entry = ENTRIES.get(canonical(name) or "")
    if entry is None:
        raise DatasetError(f"{name!r} is none of the data sets that are known.{_closest(name, sorted(ENTRIES))}")
    if entry.url is None:
        raise DatasetError(_bring_your_own(entry, None))
    path = None if force else cached(entry.name)
    return path or download(entry, quiet=quiet)


def _fetched(entry: Entry, data_home: str | os.PathLike[str] | None, allowed: bool) -> Path:
    if entry.url is None:
        raise DatasetError(_bring_your_own(entry, data_home))
    if not allowed:
        what = f"{entry.name} is not here; it can be downloaded.{_hints(entry.name, data_home)}"
        raise DatasetError(what, Setting("download", True))
    return download(entry)


def _bring_your_own(entry: Entry, data_home: str | os.PathLike[str] | None) -> str:
    if entry.name in _BUNDLED or entry.name in _DRAWN:
        return f"{entry.name} need not be downloaded: it {entry.source}."
    folder = next(iter(_folders(data_home)), "a folder that JOINTCLUST_DATA names")
    size = "" if entry.n_samples is None else f" ({entry.n_samples} x {entry.n_features}, {entry.n_classes} classes)"
    images = f", or as a folder {entry.name} of images with a subfolder for each class," if entry.image_shape else ""
    note = f" Note: {entry.note}." if entry.note else ""
    copy = f"{entry.name}.npz or {entry.name}.mat with X (rows by features) and y (labels){images}"
    if entry.label_column is not None:
        copy = f"{entry.name}.csv with the classes in column {entry.label_column}"
    return (
        f"{entry.name}{size} is not here, and there is no file of it to download. Source: {entry.source}. Terms: "
        f"{entry.terms}.{note} Put your copy, as {copy} into {folder}.{_hints(entry.name, data_home)}"
    )


def _load_file(path: Path, entry: Entry | None, dtype: DTypeLike, image_shape: tuple[int, int] | None) -> Dataset:
    name = entry.name if entry is not None and path.name == entry.file_name else path.stem
    shape, order = image_layout(entry.name if entry else "")
    if path.is_dir():
        name, shape = path.name, image_shape or shape or (32, 32)
    parts = _local.read(path, entry, dtype, shape, order)
    if shape is not None and shape[0] * shape[1] != parts["data"].shape[1]:  # someone's own version
        shape, order = None, "C"
    return Dataset(name=name, image_shape=shape, image_order=order, **parts)
