"""Data sets: local files, scikit-learn's bundled ones, and generated ones."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.datasets
from numpy.typing import DTypeLike, NDArray
from sklearn.utils import check_random_state

__all__ = ["Dataset", "load", "mixture", "names", "two_gaussians"]

# What a data set may be called: a file name without its ending, no path.
_NAME = re.compile(r"\w[\w .-]*")
# Pixels per column and row, and the order in which they are stored.
_IMAGES: dict[str, tuple[tuple[int, int], str]] = {
    **dict.fromkeys(("orl", "yale", "coil20"), ((32, 32), "F")),
    **dict.fromkeys(("coil100", "imm", "gt", "flower17"), ((32, 32), "C")),
    "umist": ((28, 23), "F"),
    "usps": ((16, 16), "C"),
    "mnist": ((28, 28), "C"),
    "digits": ((8, 8), "C"),
}


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set.

    Attributes
    ----------
    data : array or CSR array of shape (n_samples, n_features)
        The rows.
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


def two_gaussians(
    n_samples: int = 1000, *, random_state: int | np.random.RandomState | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Toy of the DEC paper: two normal clouds side by side, far longer along the direction that does not matter.

    Half the rows each from N([-3, 0], diag(1, 20)) and N([3, 0], diag(1, 20)).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, 2)
        The rows.
    y : array of shape (n_samples,)
        The cloud of each row.
    """
    rng = check_random_state(random_state)
    y = np.arange(n_samples) * 2 // max(n_samples, 1)
    X = rng.standard_normal((n_samples, 2)) * np.sqrt([1.0, 20.0])
    X[:, 0] += np.where(y == 0, -3.0, 3.0)
    return X, y


def mixture(
    n_samples: int = 2000,
    n_features: int = 200,
    n_clusters: int = 10,
    *,
    separation: float = 8.0,
    n_nuisance: int = 10,
    nuisance_scale: float = 4.0,
    outliers: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Normal clusters in a random subspace of a high-dimensional space, under nuisance directions and outliers.

    The centers lie in ``n_clusters - 1`` dimensions, about ``separation`` from their mean; every direction has unit
    noise; ``n_nuisance`` other directions have ``nuisance_scale`` times that, which is what misleads PCA and k-means.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Rows, columns, clusters.
    separation : float, default=8
        Root mean squared distance of a cluster's center from the centers' mean, in units of the noise.
    n_nuisance : int, default=10
        Directions of large variance that carry no cluster; ``n_clusters - 1 + n_nuisance`` must not exceed
        ``n_features``.
    nuisance_scale : float, default=4
        Their standard deviation.
    outliers : float, default=0
        Share of rows moved by ten times the noise in random directions; they keep their cluster's label.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        The rows, in random order.
    y : array of shape (n_samples,)
        The cluster of each row.
    """
    informative = max(n_clusters - 1, 1)
    if not 1 <= n_clusters <= n_samples:
        raise ValueError(f"n_clusters={n_clusters} must lie between 1 and n_samples={n_samples}.")
    if informative + n_nuisance > n_features:
        raise ValueError(
            f"n_features={n_features} is less than n_clusters - 1 + n_nuisance = {informative + n_nuisance}: "
            "raise it or lower n_nuisance."
        )
    if not 0 <= outliers <= 1:
        raise ValueError(f"outliers={outliers} must be a share between 0 and 1.")
    rng = check_random_state(random_state)
    directions = np.linalg.qr(rng.standard_normal((n_features, informative + n_nuisance)))[0].T
    centers = rng.standard_normal((n_clusters, informative))
    centers -= centers.mean(axis=0)
    centers *= separation / max(float(np.sqrt(np.mean(np.sum(centers**2, axis=1)))), 1e-12)
    y = rng.permutation(np.arange(n_samples) % n_clusters)
    X = rng.standard_normal((n_samples, n_features))
    coefficients = np.hstack([centers[y], nuisance_scale * rng.standard_normal((n_samples, n_nuisance))])
    X += coefficients @ directions
    far = rng.permutation(n_samples)[: round(outliers * n_samples)]
    X[far] += 10.0 * rng.standard_normal((far.size, n_features))
    return X, y


_GENERATED: dict[str, Callable[..., tuple[NDArray[np.float64], NDArray[np.int64]]]] = {
    "two_gaussians": two_gaussians,
    "mixture": mixture,
}
_BUNDLED: dict[str, Callable[..., Any]] = {
    "iris": sklearn.datasets.load_iris,
    "digits": sklearn.datasets.load_digits,
    "wine": sklearn.datasets.load_wine,
    "breast_cancer": sklearn.datasets.load_breast_cancer,
}


def image_layout(name: str) -> tuple[tuple[int, int] | None, str]:
    """Height and width, and order of the pixels, of a data set of images that is known by name; else None and "C"."""
    return _IMAGES.get(name, (None, "C"))


def _folders(data_home: str | os.PathLike[str] | None) -> list[Path]:
    given = [data_home, os.environ.get("JOINTCLUST_DATA")]
    return [Path(folder).expanduser() for folder in given if folder]


def names(data_home: str | os.PathLike[str] | None = None) -> list[str]:
    """Names that :func:`load` knows here, sorted.

    Parameters
    ----------
    data_home : path-like, optional
        A folder of ``.npz`` files, beside the one that the environment variable ``JOINTCLUST_DATA`` names.

    Returns
    -------
    names : list of str
        Local files, bundled and generated sets.
    """
    files = (path for folder in _folders(data_home) for path in folder.glob("*.npz"))
    local = {path.stem for path in files if _NAME.fullmatch(path.stem)}
    return sorted(local | set(_BUNDLED) | set(_GENERATED))


def load(name: str, data_home: str | os.PathLike[str] | None = None, *, dtype: DTypeLike = np.float64) -> Dataset:
    """Load a data set by name.

    Local ``name.npz`` files come first (in ``data_home``, then in the folder that ``JOINTCLUST_DATA`` names), then
    scikit-learn's bundled sets, then the generated ones (drawn with seed 0).

    Parameters
    ----------
    name : str
        One of :func:`names`.
    data_home : path-like, optional
        A folder of ``.npz`` files. Dense ones hold ``X`` and ``y``, sparse ones the parts of a CSR matrix (``data``,
        ``indices``, ``indptr``, ``shape``) and ``y``.
    dtype : dtype, default=float64
        Type of the returned values.

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
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a data set: {', '.join(names(data_home))} are.")
    shape, order = image_layout(name)
    for folder in _folders(data_home):
        if (path := folder / f"{name}.npz").exists():
            return _load_file(path, dtype, shape, order)
    if name in _BUNDLED:
        bunch = _BUNDLED[name]()
        columns = np.asarray(bunch.feature_names)
        return Dataset(bunch.data.astype(dtype), bunch.target, name, shape, order, columns)
    if name in _GENERATED:
        X, y = _GENERATED[name](random_state=0)
        return Dataset(X.astype(dtype), y, name)
    raise ValueError(
        f"There is no data set {name!r} here; there are {', '.join(names(data_home))}. For others pass data_home, or "
        "set JOINTCLUST_DATA, to a folder that holds them."
    )


def _load_file(path: Path, dtype: DTypeLike, shape: tuple[int, int] | None, order: str) -> Dataset:
    try:
        with np.load(path, allow_pickle=False) as archive:
            parts = {key: archive[key] for key in archive.files}
    except Exception as error:
        raise ValueError(f"{path} cannot be read as an .npz file: {error}") from error
    if "X" in parts:
        data: Any = parts["X"].astype(dtype)
        if data.ndim != 2:
            raise ValueError(f"{path} holds X of shape {data.shape}: it must be two-dimensional, rows by features.")
    elif {"data", "indices", "indptr", "shape"} <= parts.keys():
        triple = (parts["data"].astype(dtype), parts["indices"].astype(np.int32), parts["indptr"])
        try:
            data = sp.csr_array(triple, shape=tuple(parts["shape"]))
            data.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"{path} holds no valid CSR matrix: {error}") from error
    else:
        raise ValueError(f"{path} holds {', '.join(parts)}: X, or data, indices, indptr and shape, are missing.")
    if "y" not in parts:
        raise ValueError(f"{path} holds {', '.join(parts)}: y is missing.")
    if len(parts["y"]) != data.shape[0]:
        raise ValueError(f"{path} holds {data.shape[0]} rows but {len(parts['y'])} labels.")
    columns = next((parts[key] for key in ("feature_names", "words", "genes") if key in parts), None)
    return Dataset(data, parts["y"], path.stem, shape, order, columns)
