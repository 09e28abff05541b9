"""Rows on a device, in a file or with Dask: the same answer as NumPy's, for all methods of the registry."""

import ast
import copy
import re
import tracemalloc
import warnings
from pathlib import Path

import array_api_strict
import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
import zarr
from sklearn.base import clone

import jointclust as jc
import jointclust.numerics.kmeans as km
from elsewhere import KINDS, TOUCHING, WEIGHTS, check_same_answer, every_place, named, on_host, refusal, settings
from jointclust.metrics import clustering_accuracy
from jointclust.numerics import partitions
from jointclust.rows import Projected, Store, _dask, _store, _sweep, as_rows, sample
from jointclust.rows.arrays import to_host

DEFAULTS, OTHERS = settings()
TAKING = [model for model in DEFAULTS if model._refusal("dask") is None]
# Every method on every kind of rows; weights, and settings other than the defaults, where these differ most.
CASES = [
    *((model, kind, False) for model in DEFAULTS for kind in KINDS),
    *((model, kind, True) for model in TAKING for kind in ("torch float32", "dask")),
    *((model, *case) for model in OTHERS for case in (("torch", False), ("zarr", False), ("dask csr", True))),
]


@pytest.fixture(scope="module")
def data():
    X, _ = jc.datasets.mixture(600, 20, 4, separation=25, n_nuisance=2, random_state=0)
    return X, np.random.RandomState(1).uniform(0.5, 2, size=len(X))


@pytest.fixture(scope="module")
def elsewhere(data, tmp_path_factory):
    with every_place(data[0], tmp_path_factory.mktemp("apart")) as places:
        yield places


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Clusters that touch, in every place there is: where a run starts, and each of its steps, shows in the result."""
    with every_place(TOUCHING, tmp_path_factory.mktemp("touching")) as places:
        yield places


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("model", "kind", "weighted"), CASES, ids=named)
def test_same_answer(model, kind, weighted, places):
    there = places[kind]
    reason = refusal(model, there)
    if reason is not None:
        with pytest.raises(TypeError, match=re.escape(reason)):
            clone(model).fit(there)
        assert re.search("Use |set n_components", reason)
        return
    weights = WEIGHTS if weighted else None
    with dask.config.set(scheduler="synchronous"):
        check_same_answer(on_host(model, weighted=weighted), model, TOUCHING, there, weights)


def test_kind_of_what_comes_back(elsewhere):
    model = jc.DiscriminativeEmbeddedClustering(4, random_state=0)
    on_device = model.fit(elsewhere["torch float32"])
    for name in ("labels_", "components_", "mean_", "cluster_centers_", "objective_history_"):
        assert isinstance(getattr(on_device, name), torch.Tensor)
    assert on_device.components_.dtype == torch.float32
    chunks = elsewhere["dask"].chunks[0]
    with_dask = model.fit(elsewhere["dask"])
    assert isinstance(with_dask.components_, np.ndarray)
    for array in (with_dask.labels_, with_dask.predict(elsewhere["dask"]), with_dask.transform(elsewhere["dask"])):
        assert array.chunks[0] == chunks
    assert isinstance(model.fit(elsewhere["zarr"]).labels_, np.ndarray)


def test_predict_is_lazy(elsewhere):
    model = jc.LDAKMeans(4, random_state=0).fit(elsewhere["dask"])

    def never(block):
        raise AssertionError("computed")

    lazy = elsewhere["dask"].map_blocks(never, dtype=float, meta=np.empty((0, 0)))
    labels = model.predict(lazy)
    with pytest.raises(AssertionError, match="computed"):
        labels.compute()


def test_coordinates_can_be_shared(elsewhere, data):
    host = jc.LDAKMeans(4, random_state=0).fit(data[0])
    for kind in ("torch", "memory map", "dask"):
        coordinates = jc.decompose(elsewhere[kind])
        model = jc.LDAKMeans(4, random_state=0).fit(coordinates)
        np.testing.assert_array_equal(to_host(model.labels_), host.labels_)
        again = jc.DisCluster(4, random_state=0).fit(coordinates)
        assert to_host(again.labels_).shape == host.labels_.shape


def test_wide_rows(tmp_path):
    """More columns than rows: the Gram matrix on a device, the scatter elsewhere."""
    X, _ = jc.datasets.mixture(120, 300, 3, separation=60, n_nuisance=2, random_state=0)
    host = jc.LDAKMeans(3, variance=0.8, random_state=0).fit(X)
    for there in (torch.tensor(X), da.from_array(X, chunks=(50, 300))):
        model = jc.LDAKMeans(3, variance=0.8, random_state=0).fit(there)
        np.testing.assert_array_equal(to_host(model.labels_), host.labels_)
        np.testing.assert_allclose(model.objective_, host.objective_, rtol=1e-6)


def test_randomised_decomposition(monkeypatch):
    """Sparse chunks of many columns: the same rank, the same answer."""
    X = sp.random(900, 400, density=0.05, random_state=0, format="csr")
    X = sp.csr_array(X + sp.csr_array(np.repeat(np.eye(3), 300, axis=0) @ (np.arange(1200).reshape(3, 400) % 7 == 0)))
    host = jc.OptimalDiscriminantClustering(3, max_rank=40, random_state=0).fit(X)
    chunked = da.from_array(X.toarray(), chunks=(200, 400)).map_blocks(sp.csr_array)
    model = jc.OptimalDiscriminantClustering(3, max_rank=40, random_state=0).fit(chunked)
    np.testing.assert_array_equal(to_host(model.labels_), host.labels_)
    np.testing.assert_allclose(model.objective_, host.objective_, rtol=1e-6)
    assert not model.exact_


def test_sampled_start(elsewhere, monkeypatch):
    """With more rows than starts look at, a sample decides where to begin, the same in all chunkings."""
    import jointclust.subspace.decomposition as coordinates

    monkeypatch.setattr(coordinates, "SAMPLE", 100)
    monkeypatch.setattr(coordinates, "SAMPLE_PER_CLUSTER", 1)
    monkeypatch.setattr(coordinates, "SAMPLE_PER_COLUMN", 1)
    monkeypatch.setattr(km, "SAMPLE", 100)
    monkeypatch.setattr(km, "SAMPLE_PER_CLUSTER", 1)
    X = elsewhere["dask"]
    for model in (jc.LDAKMeans(4, random_state=0), jc.UncorrelatedRidgeClustering(4, random_state=0)):
        labels = to_host(copy.deepcopy(model).fit(X).labels_)
        for other in (X.rechunk((77, 20)), elsewhere["memory map"]):
            np.testing.assert_array_equal(to_host(copy.deepcopy(model).fit(other).labels_), labels)


def test_passes_per_iteration(elsewhere):
    """One pass over the data per iteration where labels need nothing else; two where k-means runs in between."""

    def passes(model, n_iter):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [copy.deepcopy(model).set_params(max_iter=k).fit(elsewhere["zarr"]).n_passes_ for k in n_iter]

    start = np.arange(600) % 4
    fixed = jc.DiscriminativeEmbeddedClustering(4, update_rule="fixed", init=start, tol=0)
    assert np.diff(passes(fixed, [1, 2, 3])).tolist() == [1, 1]
    robust = jc.RobustEmbeddedClustering(4, init=start, tol=0)
    assert np.diff(passes(robust, [2, 3, 4])).tolist() == [1, 1]
    ridge = jc.UncorrelatedRidgeClustering(4, init=start, tol=0)
    assert np.diff(passes(ridge, [1, 2, 3])).tolist() == [1, 1]
    for fuzzy in (jc.FuzzyKMeans(4, init=start, tol=0), jc.RobustSparseFuzzyKMeans(4, init=start, tol=0)):
        assert np.diff(passes(fuzzy, [1, 2, 3])).tolist() == [1, 1]


# -- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["torch", "memory map", "dask", "dask csr"])
def test_not_finite_in_a_late_row(kind, data, tmp_path, monkeypatch):
    monkeypatch.setattr(_store, "IN_MEMORY", 1000)
    X = data[0].copy()
    X[517, 3], X[590, 1] = np.nan, np.inf
    np.save(tmp_path / "bad.npy", X)
    chunked = da.from_array(X, chunks=(100, 20))
    there = {
        "torch": torch.tensor(X),
        "memory map": np.load(tmp_path / "bad.npy", mmap_mode="r"),
        "dask": chunked,
        "dask csr": chunked.map_blocks(sp.csr_array),
    }[kind]
    with pytest.raises(ValueError, match=r"contains NaN or infinity in 2 of 600 rows; the first is row 517"):
        jc.LDAKMeans(4).fit(there)


def test_chunks_of_unknown_size(elsewhere):
    X = elsewhere["dask"]
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        jc.LDAKMeans(4).fit(X[X[:, 0] > -np.inf])


def test_chunks_along_columns(elsewhere, data):
    with pytest.warns(UserWarning, match="split along its columns"):
        model = jc.LDAKMeans(4, random_state=0).fit(elsewhere["dask"].rechunk((200, 7)))
    np.testing.assert_array_equal(to_host(model.labels_), jc.LDAKMeans(4, random_state=0).fit(data[0]).labels_)


def test_other_bad_input(elsewhere, data):
    tensor = elsewhere["torch"]
    with pytest.raises(TypeError, match=r"requires grad.*detach"):
        jc.LDAKMeans(4).fit(tensor.clone().requires_grad_())
    model = jc.LDAKMeans(4, random_state=0).fit(tensor)
    with pytest.raises(ValueError, match=r"LDAKMeans.predict\(\) must use the same namespace"):
        model.predict(data[0])
    with pytest.raises(ValueError, match="same namespace"):
        jc.LDAKMeans(4, random_state=0).fit(data[0]).transform(tensor)
    with pytest.raises(ValueError, match="features"):
        model.predict(tensor[:, :5])
    with pytest.raises(ValueError, match="dimensions"):
        jc.LDAKMeans(4).fit(tensor[0])
    with pytest.raises(ValueError, match="Complex"):
        jc.LDAKMeans(4).fit(tensor.to(torch.complex128))
    with pytest.raises(ValueError, match="minimum of 2"):
        jc.LDAKMeans(1).fit(tensor[:1])
    with pytest.raises(ValueError, match="exceeds the number of rows"):
        jc.LDAKMeans(700).fit(elsewhere["dask"])
    with pytest.raises(ValueError, match="sample_weight"):
        jc.LDAKMeans(4).fit(elsewhere["dask"], sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="negative"):
        jc.LDAKMeans(4).fit(tensor, sample_weight=-torch.ones(600))


def test_whole_numbers(elsewhere):
    counts = (10 * elsewhere["dask"]).astype(np.int64)
    assert jc.LDAKMeans(4, random_state=0).fit(counts).components_.dtype == np.float64
    assert jc.LDAKMeans(4, random_state=0).fit(torch.tensor(counts.compute())).components_.dtype == torch.float64


# -- the layer itself ---------------------------------------------------------------------------------------------


def test_a_memory_map_is_let_go(tmp_path):
    """Reading leaves no pages of the file in this process, and changes of a copy-on-write map stay."""
    X = np.random.RandomState(0).standard_normal((50_000, 64))
    np.save(tmp_path / "X.npy", X)

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[2]) * 4096  # shared pages

    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    store, before = Store(mapped), resident()
    for start in range(0, len(X), 5000):
        np.testing.assert_array_equal(store.read(slice(start, start + 5000)), X[start : start + 5000])
    assert resident() - before < X.nbytes / 4
    writable = np.load(tmp_path / "X.npy", mmap_mode="c")
    writable[:] = 7.0
    Store(writable).read(slice(0, 50_000))
    assert (writable == 7.0).all()


def test_small_files_are_loaded(tmp_path):
    np.save(tmp_path / "X.npy", np.eye(5))
    assert not as_rows(np.load(tmp_path / "X.npy", mmap_mode="r")).is_remote


def test_views_are_not_kept(elsewhere):
    rows = as_rows(Store(elsewhere["memory map"]))
    assert isinstance(rows.project(np.eye(20, 19), None), Projected)
    assert isinstance(rows.project(np.eye(20, 2), None), np.ndarray)


def test_only_rows_names_the_libraries():
    """No other module may import torch, CuPy or Dask, or look for them by name; files are the readers' business."""
    source = Path(jc.__file__).parent
    for path in source.rglob("*.py"):
        if path.parent.name == "rows":
            continue
        libraries = {"torch", "cupy", "dask", "distributed", "zarr", "h5py"}
        if path.parent.name == "readers":
            libraries.remove("h5py")
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & libraries, path


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_rows_of_length_one_without_a_copy(kind):
    """Cosine geometry scales rows as they are swept; the whole is never copied."""
    X = sp.random(40_000, 100, density=0.5, random_state=0, format="csr")
    X = sp.csr_array(X) if kind == "sparse" else X.toarray()
    copied = X.copy()
    dense = X.toarray() if kind == "sparse" else X
    lengths = np.linalg.norm(dense, axis=1, keepdims=True)
    naive = dense / np.where(lengths > 0, lengths, 1)
    rows, mean = as_rows(X, unit=True), naive.mean(axis=0)
    basis = np.random.RandomState(0).standard_normal((100, 3))
    np.testing.assert_allclose(rows.mean(None), mean, atol=1e-12)
    np.testing.assert_allclose(rows.project(basis, mean), (naive - mean) @ basis, atol=1e-10)
    np.testing.assert_allclose(rows.scatter(mean, None), (naive - mean).T @ (naive - mean), atol=1e-9)
    size = X.data.nbytes if kind == "sparse" else X.nbytes
    rows.scattered(basis, mean, None)
    tracemalloc.start()
    rows.scattered(basis, mean, None)
    assert tracemalloc.get_traced_memory()[1] < 0.8 * size
    tracemalloc.stop()
    np.testing.assert_array_equal(dense, copied.toarray() if kind == "sparse" else copied)


# -- what a review found ------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", TAKING, ids=named)
def test_tasks_are_small(model, monkeypatch):
    """What is sent to the workers holds small matrices, never the rows."""
    X, _ = jc.datasets.mixture(3000, 40, 4, separation=25, n_nuisance=2, random_state=0)
    sizes, original = [], _dask.sweep
    monkeypatch.setattr(
        _dask, "sweep", lambda task, s: (sizes.append(len(cloudpickle.dumps(task))), original(task, s))[1]
    )
    chunked = da.from_array(X, chunks=(1000, 40))
    clone(model).set_params(n_clusters=4).fit(chunked).score(chunked)
    assert max(sizes) < X.nbytes / 10


def test_lazy_transform_of_whole_numbers(elsewhere):
    counts = (10 * elsewhere["dask"]).astype(np.int32)
    model = jc.LDAKMeans(4, random_state=0).fit(counts)
    rows = model.transform(counts)
    assert rows.dtype == rows.compute().dtype == np.float64


def test_empty_clusters_are_filled_in_embeddings_that_are_not_kept():
    rng = np.random.RandomState(0)
    X, B = rng.standard_normal((60_000, 20)), np.linalg.qr(rng.standard_normal((20, 19)))[0]
    Y = Projected(as_rows(da.from_array(X, chunks=(-1, -1))), B, X.mean(axis=0))
    labels = da.from_array((np.arange(60_000) % 3).astype(np.int32), chunks=-1)
    assert (partitions.cluster_sizes(partitions.fill_empty(Y, labels, 6), 6) > 0).all()


def test_many_blocks_on_a_device(data, monkeypatch):
    monkeypatch.setattr(_sweep, "DEVICE", 2000)
    X = data[0].copy()
    host = jc.LDAKMeans(4, random_state=0).fit(X)
    model = jc.LDAKMeans(4, random_state=0).fit(array_api_strict.asarray(X))
    np.testing.assert_array_equal(to_host(model.labels_), host.labels_)
    X[517, 3] = np.nan
    with pytest.raises(ValueError, match="the first is row 517"):
        jc.LDAKMeans(4).fit(array_api_strict.asarray(X))


def test_sample_by_skewed_weights():
    weights = np.exp(4 * np.random.RandomState(0).standard_normal(3000))
    X = np.arange(3000.0)[:, None]
    rows, left = sample(da.from_array(X, chunks=(500, 1)), 300, np.random.RandomState(0), da.from_array(weights, 500))
    assert 240 < len(rows) < 360
    np.testing.assert_allclose(left.sum(), weights.sum(), rtol=0.05)
    assert left.max() == weights.max()


def test_dask_data_frames(data):
    frame = pd.DataFrame(data[0], columns=[f"c{j}" for j in range(20)])
    chunked = dd.from_pandas(frame, npartitions=3)
    model = jc.LDAKMeans(4, random_state=0).fit(chunked, sample_weight=chunked["c0"].abs() + 1)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    np.testing.assert_array_equal(model.predict(chunked).compute(), to_host(model.labels_))
    assert model.transform(chunked).compute().shape == (600, 3)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(chunked[chunked.columns[::-1]])
    assert jc.LDAKMeans(4, random_state=0).fit(chunked.assign(flag=True)).n_features_in_ == 21


@pytest.mark.parametrize("kind", ["torch", "dask"])
def test_save(kind, elsewhere, data, tmp_path):
    model = jc.RobustEmbeddedClustering(4, random_state=0).fit(elsewhere[kind])
    jc.save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(jc.load(tmp_path / "model.skops").predict(data[0]), to_host(model.labels_))


def test_equal_centers_on_a_device():
    few = np.repeat(np.random.RandomState(0).standard_normal((3, 6)), 40, axis=0)
    with pytest.warns(jc.CollapseWarning):
        model = jc.RobustKMeans(5, random_state=0).fit(torch.tensor(few))
    assert model.labels_.unique().tolist() == [0, 1, 2]


def test_inverse_transform(elsewhere, data):
    model = jc.LDAKMeans(4, random_state=0).fit(elsewhere["torch float32"])
    Y = model.transform(elsewhere["torch float32"])
    host = jc.LDAKMeans(4, random_state=0).fit(data[0])
    back = host.inverse_transform(host.transform(data[0]))
    np.testing.assert_allclose(to_host(model.inverse_transform(Y)), back, atol=1e-2)
    np.testing.assert_allclose(to_host(model.inverse_transform(Y.double())), back, atol=1e-2)
    with pytest.raises(ValueError, match="same namespace"):
        model.inverse_transform(to_host(Y))
    with pytest.raises(ValueError, match="NaN"):
        model.inverse_transform(Y * float("nan"))


def test_files_of_other_kinds(tmp_path, monkeypatch, data):
    monkeypatch.setattr(_store, "IN_MEMORY", 1000)
    X = data[0]
    np.save(tmp_path / "c.npy", X + 1j)
    with pytest.raises(ValueError, match="Complex"):
        jc.LDAKMeans(4).fit(np.load(tmp_path / "c.npy", mmap_mode="r"))
    np.save(tmp_path / "f.npy", np.asfortranarray(X))
    mapped = np.load(tmp_path / "f.npy", mmap_mode="r")
    host = jc.LDAKMeans(4, random_state=0).fit(X)
    np.testing.assert_array_equal(jc.LDAKMeans(4, random_state=0).fit(mapped).labels_, host.labels_)
    by_column = zarr.create_array(tmp_path / "z.zarr", shape=X.shape, chunks=(600, 1), dtype=X.dtype)
    assert Store(by_column).stretch(100 * 20 * 8) == 100


@pytest.mark.parametrize("kind", [pytest.param("torch", marks=pytest.mark.slow), "memory map", "dask"])
def test_choosing_elsewhere(kind, elsewhere, data, monkeypatch):
    """What looks at pairs of rows takes a sample where there are many, and says of how many; the rest is predicted."""
    there, y = elsewhere[kind], jc.LDAKMeans(4, random_state=0).fit(data[0]).labels_
    assert jc.number_of_clusters(there, random_state=0).n_clusters == 4
    search = jc.LabelFreeSearch(jc.LDAKMeans(4), {"variance": [0.8, 0.9]}, criterion="bic", random_state=0)
    assert search.fit(there).results_ == {**clone(search).fit(data[0]).results_, "seconds": search.results_["seconds"]}
    monkeypatch.setattr("jointclust.rows.MOST_PAIRED", 200)
    with pytest.warns(UserWarning, match="LabelFreeSearch looks at pairs of rows.*600 rows.*sample of 200 rows"):
        search.fit(there, sample_weight=np.repeat([1.0, 0.0], 300))
    assert search.best_estimator_.labels_.shape == (200,)
    assert clustering_accuracy(y, to_host(search.labels_)) == 1
    with pytest.warns(UserWarning, match="compare looks at pairs of rows"):
        table = jc.compare(there, 4, {"LDAKM": jc.LDAKMeans(4)}, y, random_state=0, n_resamples=1)
    assert table["accuracy (with y_true)"] == [1.0]
    with pytest.raises(TypeError, match="coordinates of rows in memory"):
        jc.JointConsensus(4).fit(jc.decompose(there))


def test_a_sum_may_be_infinite_though_no_value_is():
    """On a device rows are summed to see whether all are finite: an overflow is no infinity, and two cancel to NaN."""
    large = torch.full((20, 3), 3e38, dtype=torch.float32)
    large[::2] = 1e38
    with pytest.raises(ValueError, match="too large"):
        jc.LDAKMeans(2).fit(large)
    both = torch.rand(20, 3)
    both[4, 1], both[7, 0] = torch.inf, -torch.inf
    with pytest.raises(ValueError, match="NaN or infinity in 2 of 20 rows; the first is row 4"):
        jc.LDAKMeans(2).fit(both)
