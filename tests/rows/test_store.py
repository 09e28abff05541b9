"""Files that are not what they were, or not all there."""

import os
import warnings

import numpy as np
import pytest
import zarr

import jointclust as jc
from jointclust.rows import _store


@pytest.mark.parametrize("limit", [1000, 2**28])
@pytest.mark.parametrize("estimator", [jc.LDAKMeans(2), jc.JointConsensus(2), jc.OptimalDiscriminantClustering(2)])
def test_a_mapped_file_that_was_cut_is_refused(estimator, limit, tmp_path, monkeypatch, rng):
    """Reading it would end the process, whether it is loaded or read by stretches."""
    monkeypatch.setattr(_store, "IN_MEMORY", limit)
    np.save(tmp_path / "X.npy", rng.standard_normal((2000, 10)))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    os.truncate(tmp_path / "X.npy", 4096)
    for rows in (X, X[5:]):
        with pytest.raises(ValueError, match="X.npy.* 4,096 are left: the file has been cut"):
            estimator.fit(rows)


def test_a_file_that_is_cut_during_a_pass_is_refused(tmp_path, monkeypatch, rng):
    monkeypatch.setattr(_store, "IN_MEMORY", 1000)
    np.save(tmp_path / "X.npy", rng.standard_normal((2000, 10)))
    store = _store.as_store(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert store.read(slice(0, 5)).shape == (5, 10)
    os.truncate(tmp_path / "X.npy", 4096)
    with pytest.raises(ValueError, match="has been cut"):
        store.read(slice(5, 10))


@pytest.mark.parametrize("limit", [1000, 2**28])
@pytest.mark.parametrize("chunks", [None, (100, 10)])
def test_hdf5_that_was_cut_is_not_read_as_zeros(chunks, limit, tmp_path, monkeypatch, rng):
    h5py = pytest.importorskip("h5py")
    monkeypatch.setattr(_store, "IN_MEMORY", limit)
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file.create_dataset("X", data=rng.standard_normal((2000, 10)), chunks=chunks)
        jc.LDAKMeans(2, random_state=0).fit(file["X"])  # not all is written yet
    with h5py.File(tmp_path / "X.h5") as file:
        model = jc.LDAKMeans(2, random_state=0).fit(file["X"])
        os.truncate(tmp_path / "X.h5", 40_000)
        with pytest.raises(
            (ValueError, OSError), match="(has been cut|cannot be read from its file).*[Ww]rite it again"
        ):
            model.predict(file["X"])


def test_a_damaged_chunk_is_told(tmp_path, monkeypatch, rng):
    monkeypatch.setattr(_store, "IN_MEMORY", 1000)
    X = zarr.create_array(tmp_path / "X.zarr", shape=(400, 6), chunks=(100, 6), dtype="f8")
    X[:] = rng.standard_normal((400, 6))
    os.truncate(tmp_path / "X.zarr" / "c" / "2" / "0", 100)
    with pytest.raises(OSError, match="X cannot be read from its file .*: write it again"):
        jc.LDAKMeans(2, random_state=0).fit(X)


@pytest.mark.parametrize("limit", [1000, 2**28])
@pytest.mark.parametrize("method", [jc.LDAKMeans, jc.JointConsensus])
def test_chunks_that_are_missing_are_told(method, limit, tmp_path, monkeypatch, rng):
    monkeypatch.setattr(_store, "IN_MEMORY", limit)
    X = zarr.create_array(tmp_path / "X.zarr", shape=(120, 6), chunks=(20, 6), dtype="f8")
    rows = rng.standard_normal((120, 6)) + 2 * rng.standard_normal((120, 1))
    X[:80] = rows[:80]
    with pytest.warns(UserWarning, match=r"2 of 6 chunks of X are not in its store, and are read as 0.0"):
        method(2, random_state=0).fit(X)
    X[80:] = rows[80:]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", jc.CollapseWarning)
        method(2, random_state=0).fit(X)
