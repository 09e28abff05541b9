"""The same rows in every place there is, and what it means that a fit there is the fit of NumPy's."""

import contextlib
import functools

import array_api_strict
import dask.array as da
import dask.dataframe as dd
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
import zarr
from sklearn.base import clone

import jointclust as jc
from jointclust import registry
from jointclust.rows import _store, kind_of
from jointclust.rows.arrays import to_host
from registered import estimators_of

KINDS = ("strict", "torch", "torch float32", "memory map", "hdf5", "zarr", "dask", "dask float32", "dask csr")
# Clusters that touch: most starts end elsewhere than the best of ten does.
TOUCHING, CLASSES = jc.datasets.mixture(600, 20, 8, separation=5, n_nuisance=2, nuisance_scale=2, random_state=0)
WEIGHTS = np.random.RandomState(1).uniform(0.5, 2, size=600)


def settings():
    """The methods of the registry at their defaults, and in other settings.

    The others take a few steps from given labels, so that these are compared and not only where they end, and have few
    components: embeddings of a quarter of the features are kept, larger ones are computed again in each pass.
    """
    defaults, others = [], []
    start = np.where(np.arange(600) % 3 == 0, np.arange(600) % 8, CLASSES)
    fixed = {"n_components": 4, "init": start, "n_init": 1, "max_iter": 3}
    for entry in registry.METHODS:
        if entry.cls is jc.JointConsensus:  # it looks at pairs of rows, and has tests of its own
            continue
        first, *rest = (estimator.set_params(random_state=0) for estimator in estimators_of(entry, 8))
        defaults.append(first)
        rest = [estimator for estimator in rest or [clone(first)] if estimator._refusal("dask") is None]
        given = {name: value for name, value in fixed.items() if name in first.get_params()}
        others += [estimator.set_params(**given) for estimator in rest]
    return defaults, others


def named(value):
    """What a test is called after a parameter of it."""
    return type(value).__name__ if hasattr(value, "fit") else str(value)


@contextlib.contextmanager
def every_place(X, folder):
    """Rows by kind."""
    np.save(folder / "X.npy", X)
    with h5py.File(folder / "X.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(min(64, len(X)), X.shape[1]))
    stored = zarr.create_array(folder / "X.zarr", shape=X.shape, chunks=(70, X.shape[1]), dtype=X.dtype)
    stored[:] = X
    chunked = da.from_array(X, chunks=(170, -1))
    with pytest.MonkeyPatch.context() as patch, h5py.File(folder / "X.h5") as file:
        patch.setattr(_store, "IN_MEMORY", 1000)
        yield {
            "strict": array_api_strict.asarray(X),
            "torch": torch.tensor(X),
            "torch float32": torch.tensor(X, dtype=torch.float32),
            "memory map": np.load(folder / "X.npy", mmap_mode="r"),
            "hdf5": file["X"],
            "zarr": stored,
            "dask": chunked,
            "dask float32": chunked.astype(np.float32),
            "dask csr": chunked.map_blocks(sp.csr_array),
            "dask frame": dd.from_pandas(pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]), npartitions=3),
        }


def refusal(estimator, there):
    """Why an estimator does not take rows, in its own words; None where it does, as a consensus always."""
    if isinstance(estimator, jc.JointConsensus):
        return None
    sparse = sp.issparse(getattr(there, "_meta", None))
    return estimator._refusal(kind_of(there)) or (
        "set n_components" if sparse and not estimator._accepts_sparse else None
    )


@functools.cache
def on_host(estimator, *, weighted=False):
    """The fit to the rows in memory."""
    return clone(estimator).fit(TOUCHING, sample_weight=WEIGHTS if weighted else None)


def check_same_answer(host, estimator, X, there, weights=None):
    """Fit to rows elsewhere: all that the model says is what the host's fit of X says."""
    model = clone(estimator).fit(there, sample_weight=weights)
    tolerance = 1e-3 if "float32" in str(there.dtype) else 1e-6
    np.testing.assert_array_equal(to_host(model.labels_), host.labels_)
    np.testing.assert_array_equal(to_host(model.predict(there)), host.labels_)
    np.testing.assert_allclose(model.objective_, host.objective_, rtol=tolerance)
    Y = host.transform(X)
    np.testing.assert_allclose(to_host(model.transform(there)), Y, atol=10 * tolerance * np.abs(Y).max())
    np.testing.assert_allclose(
        model.score(there, sample_weight=weights), host.score(X, sample_weight=weights), rtol=max(tolerance, 1e-4)
    )
    if hasattr(host, "soft_labels_"):
        np.testing.assert_allclose(to_host(model.soft_labels_), host.soft_labels_, atol=1e-3)
        np.testing.assert_allclose(to_host(model.predict_proba(there)), to_host(model.soft_labels_), atol=1e-5)
    if hasattr(host, "outlier_scores_"):
        np.testing.assert_allclose(to_host(model.outlier_scores_), host.outlier_scores_, rtol=1e-2, atol=1e-3)
    assert model.n_passes_ > 0
