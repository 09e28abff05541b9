import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from sklearn.cluster import KMeans

import jointclust as jc
from jointclust import datasets


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("JOINTCLUST_CACHE", str(tmp_path_factory.mktemp("cache")))


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


BUILT_IN = ["iris", "digits", "wine", "breast_cancer", "two_gaussians", "three_clusters", "multi_clusters", "mixture"]


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_is_as_registered(name, monkeypatch):
    monkeypatch.delenv("JOINTCLUST_DATA", raising=False)
    data, entry = datasets.load(name), datasets.registry()[name]
    assert (*data.data.shape, data.n_classes) == (entry.n_samples, entry.n_features, entry.n_classes)
    assert data.image_shape == entry.image_shape
    assert datasets.present(name) in ("bundled", "generated")
    assert entry.sha256 in (None, datasets.fingerprint(data.data, data.target))


# -- MATLAB files ------------------------------------------------------------------------------------------------

ROWS, LABELS = np.arange(24.0).reshape(8, 3), np.array([5, 5, 2, 2, 2, 9, 9, 9])


@pytest.mark.parametrize(
    "content",
    [
        {"X": ROWS, "y": LABELS},
        {"X": ROWS, "Y": LABELS[:, None]},
        {"fea": ROWS, "gnd": LABELS[:, None], "rand": np.eye(4)},
        {"data": ROWS, "labels": LABELS},
        {"features": ROWS.T, "gt": LABELS},
        {"X": ROWS.astype(np.uint8), "Label": LABELS.astype(float)},
        {"X": ROWS, "Y": np.array([[0, 1, 0]] * 2 + [[1, 0, 0]] * 3 + [[0, 0, 1]] * 3)},
        {"X": ROWS.T, "Y": np.array([[0, 1, 0]] * 2 + [[1, 0, 0]] * 3 + [[0, 0, 1]] * 3).T},
        {"X": ROWS, "y": np.array(["mid"] * 2 + ["cat"] * 3 + ["zoo"] * 3, dtype=object)},
        {"X": sp.csc_array(ROWS), "y": LABELS},
    ],
)
def test_matlab_files(tmp_path, content):
    scipy.io.savemat(tmp_path / "own.mat", content)
    data = datasets.load("own", tmp_path)
    np.testing.assert_array_equal(data.data.toarray() if sp.issparse(data.data) else data.data, ROWS)
    assert data.target.tolist() == [1, 1, 0, 0, 0, 2, 2, 2]
    assert "own" in datasets.names(tmp_path)


def test_matlab_files_of_version_7_3(tmp_path):
    with h5py.File(tmp_path / "own.mat", "w", userblock_size=512) as file:
        file["X"], file["y"] = ROWS.T, LABELS[None, :]
    with (tmp_path / "own.mat").open("rb+") as stream:  # as MATLAB marks them
        stream.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    data = datasets.load("own", tmp_path)
    np.testing.assert_array_equal(data.data, ROWS)
    assert data.target.tolist() == [1, 1, 0, 0, 0, 2, 2, 2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"A": ROWS, "b": LABELS},
            r"holds A \(8 x 3\), b \(1 x 8\): a matrix X .* and a vector y .* label for each row",
        ),
        ({"X": ROWS}, r"holds X \(8 x 3\): "),
        ({"X": ROWS, "y": LABELS[:-1]}, r"X \(8 x 3\), y \(1 x 7\)"),
        ({"X": np.zeros((2, 2, 8)), "y": LABELS}, r"X \(2 x 2 x 8\)"),
        ({"X": ROWS, "y": np.full(8, np.nan)}, "labels that are not finite"),
        ({}, "no variable"),
        (b"MATLAB 5.0 MAT-file, damaged", "cannot be read"),
    ],
)
def test_bad_matlab_files(tmp_path, content, message):
    if isinstance(content, bytes):
        (tmp_path / "own.mat").write_bytes(content)
    else:
        scipy.io.savemat(tmp_path / "own.mat", content)
    with pytest.raises(ValueError, match=message):
        datasets.load("own", tmp_path)


# -- folders of images -------------------------------------------------------------------------------------------


@pytest.fixture
def images(tmp_path):
    """Three classes of two pictures, dark to light, as s2, s9 and s10."""
    for label, number in enumerate((2, 9, 10)):
        folder = tmp_path / "faces" / f"s{number}"
        folder.mkdir(parents=True)
        for index, ending in enumerate(("png", "pgm")):
            left = np.zeros((40, 20), dtype=np.uint8)
            left[:, :10] = 60 * label + 20 * index + 50
            Image.fromarray(left).save(folder / f"{index}.{ending}")
        (folder / "notes.txt").write_text("not an image")
    return tmp_path


def test_image_folders(images):
    data = datasets.load("faces", images, image_shape=(8, 4))
    assert "faces" in datasets.names(images)
    assert data.data.shape == (6, 32)
    assert data.target.tolist() == [0, 0, 1, 1, 2, 2]
    first = data.data[:, 0]
    assert np.all(np.diff(first) > 0), "s10 comes after s9, and 1 after 0"
    picture = data.data[5].reshape(data.image_shape, order=data.image_order)
    assert picture[:, 0].min() > 150
    assert picture[:, -1].max() < 20
    assert datasets.load("faces", images).image_shape == (32, 32)


@pytest.mark.parametrize("name", ["umist", "Umist"])
def test_image_folders_of_known_sets(images, name):
    """They have the size and the order of pixels that the set has."""
    (images / "faces").rename(images / name)
    data = datasets.load(name, images)
    assert data.image_shape == (28, 23)
    picture = data.data[0].reshape(data.image_shape, order=data.image_order)
    assert data.image_order == "F"
    assert np.ptp(picture[:, 0]) == 0
    assert picture[0, 0] > picture[0, -1]


def test_other_sizes_are_no_images(tmp_path):
    np.savez(tmp_path / "umist.npz", X=ROWS, y=LABELS)
    data = datasets.load("umist", tmp_path)
    assert (data.image_shape, data.image_order) == (None, "C")


def test_bad_image_folders(images):
    (images / "faces" / "s9" / "1.pgm").write_bytes(b"P5 nonsense")
    with pytest.raises(ValueError, match=r"s9.1\.pgm cannot be read as an image"):
        datasets.load("faces", images)
    (images / "empty").mkdir()
    with pytest.raises(ValueError, match="no data set 'empty'"):
        datasets.load("empty", images)


# -- generated ---------------------------------------------------------------------------------------------------


def test_toy_is_the_papers():
    X, y = datasets.two_gaussians(20_000, random_state=0)
    for label, center in ((0, -3), (1, 3)):
        np.testing.assert_allclose(X[y == label].mean(axis=0), [center, 0], atol=0.15)
        np.testing.assert_allclose(np.cov(X[y == label].T), [[1, 0], [0, 20]], atol=0.6)


@pytest.mark.parametrize("seed", range(5))
def test_toys_touch(seed):
    """Clusters that k-means nearly finds."""
    for make, n_clusters, least, most in (
        (jc.datasets.three_clusters, 3, 0.92, 0.99),
        (datasets.multi_clusters, 9, 0.8, 0.97),
    ):
        X, y = make(random_state=seed)
        labels = KMeans(n_clusters, n_init=10, random_state=0).fit_predict(X)
        assert least < jc.metrics.clustering_accuracy(y, labels) < most
        np.testing.assert_array_equal(X, make(random_state=seed)[0])


@given(st.integers(1, 60), st.integers(1, 12))
def test_multi_clusters_has_them_all(n_samples, n_clusters):
    if n_clusters > n_samples:
        with pytest.raises(ValueError, match="n_clusters"):
            datasets.multi_clusters(n_samples, n_clusters)
        return
    X, y = datasets.multi_clusters(n_samples, n_clusters, random_state=0)
    assert X.shape == (n_samples, 2)
    assert np.unique(y).tolist() == list(range(n_clusters))


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
