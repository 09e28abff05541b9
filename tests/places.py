"""What people call, and where their rows may be: one list of each, for the tests of both and for docs/support."""

import contextlib
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import jointclust as jc
from jointclust.rows import _store
from jointclust.rows.arrays import to_host

# Overlapping a little, so that confidences differ.
ROWS, CLASSES = jc.datasets.mixture(240, 8, 3, separation=9, n_nuisance=1, random_state=0)
# Where rows may be, and what is passed.
PLACES = {
    "memory": "a NumPy array or data frame",
    "sparse": "a SciPy sparse matrix",
    "memory map": "``np.load(..., mmap_mode='r')``",
    "HDF5": "an h5py data set",
    "Zarr": "a Zarr array",
    "Dask array": "a Dask array",
    "Dask frame": "a Dask data frame",
    "torch": "a torch tensor on the CPU",
}
# A library that has devices without a GPU, and refuses what the standard does not name: what a GPU refuses, it does.
STRICT = "array-api-strict"
DEVICES = {"torch on CUDA": "a torch tensor on a GPU", "CuPy": "a CuPy array"}


def _saved(X, model, folder):
    jc.save(model, folder / "model.skops")
    return to_host(jc.load(folder / "model.skops").predict(X))


def _reported(X, model, folder):
    jc.write_report(model, X, folder / "report.html", neighbours=False)
    return "<!doctype html>" in (folder / "report.html").read_text()[:100]


def _searched(X, model, folder):
    search = jc.LabelFreeSearch(jc.LDAKMeans(random_state=0), {"n_clusters": [2, 3]}, n_resamples=1, random_state=0)
    return search.fit(X).best_params_["n_clusters"], to_host(search.predict(X))


def _compared(X, model, folder):
    table = jc.compare(X, 3, {"LDAKM": jc.LDAKMeans(3)}, random_state=0, n_resamples=1)
    return table["agreement"], table["stability"]


# What is called with the rows, a consensus that was fitted to them, and a folder; what comes back is on the host.
CALLS = {
    "cluster(X, k)": lambda X, model, folder: to_host(model.labels_),
    "cluster(X)": lambda X, model, folder: to_host(jc.cluster(X, random_state=0).labels_),
    "number_of_clusters": lambda X, model, folder: jc.number_of_clusters(X).suggestions,
    "describe": lambda X, model, folder: len(jc.describe(X).columns),
    "predict": lambda X, model, folder: to_host(model.predict(X)),
    "predict(n_clusters=)": lambda X, model, folder: to_host(model.predict(X, n_clusters=5)),
    "predict_proba": lambda X, model, folder: to_host(model.predict_proba(X)),
    "transform": lambda X, model, folder: np.abs(to_host(model.transform(X))),
    "confidence": lambda X, model, folder: to_host(model.confidence(X)),
    "cut": lambda X, model, folder: to_host(model.cut(5)),
    "layers_": lambda X, model, folder: [layer["agreement"] for layer in model.layers_],
    "rows_to_label": lambda X, model, folder: model.rows_to_label(4),
    "how sure": lambda X, model, folder: (model.predicted_agreement_, model.verdict_.level, model.number_.suggestions),
    "columns_": lambda X, model, folder: [column["drives"] for column in model.columns_],
    "explain": lambda X, model, folder: [one.size for one in jc.explain(model, X)],
    "explain(n_clusters=)": lambda X, model, folder: [one.size for one in jc.explain(model, X, n_clusters=4)],
    "save, load": _saved,
    "write_report": _reported,
    "compare": _compared,
    "LabelFreeSearch": _searched,
    "bootstrap_stability": lambda X, model, folder: jc.bootstrap_stability(
        jc.LDAKMeans(3, random_state=0), X, n_resamples=2, random_state=0
    ),
}


def answers(X, folder):
    """What each call says of the rows."""
    model = jc.JointConsensus(3, random_state=0).fit(X)
    return {name: call(X, model, folder) for name, call in CALLS.items()}


@contextlib.contextmanager
def rows_in(place: str, X: np.ndarray, folder: Path):
    """The rows in a place; files count as large there."""
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setattr(_store, "IN_MEMORY", 1000)
        yield _MADE[place](X, folder, stack)


def _hdf5(X, folder, stack):
    import h5py

    file = stack.enter_context(h5py.File(folder / "X.h5", "w"))
    return file.create_dataset("X", data=X, chunks=(64, X.shape[1]))


def _zarr(X, folder, stack):
    import zarr

    stored = zarr.create_array(folder / "X.zarr", shape=X.shape, chunks=(70, X.shape[1]), dtype=X.dtype)
    stored[:] = X
    return stored


def _mapped(X, folder, stack):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def _dask_array(X, folder, stack):
    import dask.array as da

    return da.from_array(X, chunks=(90, -1))


def _dask_frame(X, folder, stack):
    import dask.dataframe as dd
    import pandas as pd

    return dd.from_pandas(pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), npartitions=3)


def _torch(device):
    def made(X, folder, stack):
        import torch

        def refused(*_):
            raise TypeError("A tensor became a NumPy array without being asked, which one on a GPU cannot.")

        stack.enter_context(pytest.MonkeyPatch.context()).setattr(torch.Tensor, "__array__", refused)
        return torch.tensor(X, device=device)

    return made


def _strict(X, folder, stack):
    import array_api_strict

    return array_api_strict.asarray(X, device=array_api_strict.Device("device1"))


_MADE = {
    "memory": lambda X, folder, stack: X,
    "sparse": lambda X, folder, stack: sp.csr_array(X),
    "memory map": _mapped,
    "HDF5": _hdf5,
    "Zarr": _zarr,
    "Dask array": _dask_array,
    "Dask frame": _dask_frame,
    "torch": _torch("cpu"),
    STRICT: _strict,
    "torch on CUDA": _torch("cuda"),
    "CuPy": lambda X, folder, stack: pytest.importorskip("cupy").asarray(X),
}
