import numpy as np
import pytest
import scipy.sparse as sp

import jointclust as jc
from jointclust import datasets


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("JOINTCLUST_DATA", raising=False)
    rng = np.random.RandomState(0)
    X, y = rng.randint(0, 255, size=(12, 1024)).astype(np.uint8), (np.arange(12) % 3).astype(np.int16)
    np.savez(tmp_path / "orl.npz", X=X, y=y)
    S = sp.random_array((12, 9), density=0.3, format="csr", rng=np.random.default_rng(0))
    np.savez(
        tmp_path / "words.npz",
        data=S.data.astype(np.float32),
        indices=S.indices,
        indptr=S.indptr,
        shape=S.shape,
        y=y,
        words=np.array(list("abcdefghi")),
    )
    np.savez(tmp_path / "nolabels.npz", X=X)
    np.savez(tmp_path / "neither.npz", a=X, b=y)
    np.savez(tmp_path / "short.npz", X=X, y=y[:-1])
    np.savez(tmp_path / "pickled.npz", X=np.array([{}], dtype=object), y=y[:1])
    np.savez(tmp_path / "flat.npz", X=X[0], y=y)
    np.savez(tmp_path / "v1.2 b.npz", X=X, y=y.astype(str))
    np.savez(tmp_path / "badcsr.npz", data=[1.0], indices=[9], indptr=[0, 1, 1], shape=[2, 2], y=[0, 1])
    (tmp_path / "broken.npz").write_bytes(b"not a zip file")
    return tmp_path


def test_local_files(folder, monkeypatch):
    data = datasets.load("orl", data_home=folder)
    assert data.data.shape == (12, 1024)
    assert data.data.dtype == np.float64
    assert data.name == "orl"
    assert data.image_shape == (32, 32)
    assert data.image_order == "F"
    assert data.n_classes == 3
    assert datasets.load("orl", folder, dtype=np.float32).data.dtype == np.float32
    monkeypatch.setenv("JOINTCLUST_DATA", str(folder))
    np.testing.assert_array_equal(datasets.load("orl").data, data.data)
    assert {"orl", "words", "digits", "iris", "mixture", "two_gaussians"} <= set(datasets.names())


def test_sparse_files(folder):
    data = datasets.load("words", folder)
    assert sp.issparse(data.data)
    assert data.data.shape == (12, 9)
    assert list(data.feature_names) == list("abcdefghi")
    assert data.image_shape is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nolabels", "y is missing"),
        ("neither", "holds a, b"),
        ("short", "12 rows but 11 labels"),
        ("pickled", "cannot be read"),
        ("flat", "two-dimensional"),
        ("badcsr", "no valid CSR"),
        ("broken", "cannot be read"),
        ("absent", "no data set 'absent'.*digits.*JOINTCLUST_DATA"),
        ("../orl", "not the name"),
    ],
)
def test_bad_files(folder, name, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(name, folder)


def test_every_name_loads(folder):
    assert "v1.2 b" in datasets.names(folder)
    assert datasets.load("v1.2 b", folder).n_classes == 3


@pytest.mark.parametrize("name", ["iris", "digits", "wine", "breast_cancer", "two_gaussians", "mixture"])
def test_built_in(name):
    data = datasets.load(name)
    assert data.data.shape[0] == len(data.target)
    assert data.n_classes > 1


def test_toy_is_the_papers():
    X, y = datasets.two_gaussians(20_000, random_state=0)
    for label, center in ((0, -3), (1, 3)):
        np.testing.assert_allclose(X[y == label].mean(axis=0), [center, 0], atol=0.15)
        np.testing.assert_allclose(np.cov(X[y == label].T), [[1, 0], [0, 20]], atol=0.6)


def test_mixture_is_as_asked():
    X, y = datasets.mixture(5000, 60, 7, separation=8, n_nuisance=4, nuisance_scale=5, outliers=0.02, random_state=1)
    assert X.shape == (5000, 60)
    assert np.ptp(np.bincount(y)) <= 1
    centers = np.array([np.median(X[y == k], axis=0) for k in range(7)])
    centers -= centers.mean(axis=0)
    assert np.sqrt(np.mean(np.sum(centers**2, axis=1))) == pytest.approx(8, rel=0.1)
    residual = X - np.array([X[y == k].mean(axis=0) for k in range(7)])[y]
    norms = np.linalg.norm(residual, axis=1)
    assert np.sum(norms > 3 * np.median(norms)) == pytest.approx(100, abs=10)
    np.testing.assert_array_equal(
        X, datasets.mixture(5000, 60, 7, separation=8, n_nuisance=4, nuisance_scale=5, outliers=0.02, random_state=1)[0]
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_features": 10}, "n_nuisance"),
        ({"n_clusters": 0}, "n_clusters"),
        ({"n_clusters": 5000}, "n_samples"),
        ({"outliers": 2}, "outliers"),
    ],
)
def test_bad_mixtures(parameters, message):
    with pytest.raises(ValueError, match=message):
        jc.datasets.mixture(**parameters)
