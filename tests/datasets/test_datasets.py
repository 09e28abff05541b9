import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from sklearn.cluster import KMeans

import jointclust as jc
from jointclust import datasets, readers


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
        ("pickled", "Nothing is ever unpickled"),
        ("flat", r"shape \(1024,\): rows by features"),
        ("badcsr", "no valid CSR"),
        ("broken", "cannot be read"),
        ("absent", "no data set 'absent'.*digits.*JOINTCLUST_DATA"),
        ("../orl", "not the name"),
    ],
)
def test_bad_files(folder, name, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(name, folder)


ONE_HOT = np.array([[0, 1, 0]] * 2 + [[1, 0, 0]] * 3 + [[0, 0, 1]] * 3)


@pytest.mark.parametrize(
    "y", [[5, 5, 2, 2, 2, 9, 9, 9], [[5], [5], [2], [2], [2], [9], [9], [9]], ONE_HOT, ["m", "m", *"aaazzz"]]
)
@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
def test_labels_of_numpy_files_are_as_those_of_matlab_files(tmp_path, y, form):
    rows = np.arange(24.0).reshape(8, 3)
    if form == "dense":
        np.savez(tmp_path / "own.npz", X=rows, y=y)
    else:
        S = sp.csr_array(rows) if form == "csr" else sp.csc_array(rows)
        np.savez(
            tmp_path / "own.npz",
            **{part: getattr(S, part) for part in ("data", "indices", "indptr", "shape")},
            format=form.encode(),
            y=y,
        )
    data = datasets.load("own", tmp_path)
    np.testing.assert_array_equal(data.data.toarray() if sp.issparse(data.data) else data.data, rows)
    assert data.target.tolist() == [1, 1, 0, 0, 0, 2, 2, 2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"X": np.eye(3), "y": [0, np.nan, 1]}, "labels that are not finite"),
        ({"X": np.eye(3), "y": 1}, "no label for each row: y is a single value"),
        ({"X": np.eye(3), "y": [1j, 2, 3]}, "no label for each row: y is 3, complex"),
        ({"X": np.eye(3), "y": np.ones((3, 2))}, "3 rows but 6 labels"),
        ({"X": 1j * np.eye(3), "y": [0, 0, 1]}, "values of type complex128: real numbers are needed"),
        ({"X": np.zeros((0, 3)), "y": np.zeros(0)}, "is empty: it holds 0 rows of 3 columns"),
        ({"X": np.zeros((3, 0)), "y": np.zeros(3)}, "is empty: it holds 3 rows of 0 columns"),
        ({"X": np.eye(3), "y": [0, 0, 1], "feature_names": ["a", "b"]}, "names 2 columns and holds 3"),
        (
            {"data": [1], "indices": [0], "indptr": [0, 1], "shape": [1, 1], "format": b"bsr", "y": [0]},
            "format bsr: save it as csr",
        ),
    ],
)
def test_bad_numpy_files(tmp_path, content, message):
    np.savez(tmp_path / "own.npz", **content)
    with pytest.raises(ValueError, match=message):
        datasets.load("own", tmp_path)


class Payload:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_nothing_is_unpickled(tmp_path):
    payload = np.array([Payload(tmp_path / "trace")] * 3, dtype=object)
    np.savez(tmp_path / "own.npz", X=np.eye(3), y=payload)
    np.save(tmp_path / "rows.npy", payload, allow_pickle=True)
    (tmp_path / "bare.npz").write_bytes(pickle.dumps(Payload(tmp_path / "trace")))
    (tmp_path / "bare.npy").write_bytes(pickle.dumps(Payload(tmp_path / "trace")))
    for name in ("own", "bare"):
        with pytest.raises(ValueError, match="Nothing is ever unpickled") as caught:
            datasets.load(name, tmp_path)
        assert "allow_pickle" not in str(caught.value)
    for name in ("own.npz", "rows.npy", "bare.npz", "bare.npy"):
        with pytest.raises(ValueError, match="Nothing is ever unpickled") as caught:
            readers.read(tmp_path / name)
        assert "allow_pickle" not in str(caught.value)
    assert not (tmp_path / "trace").exists()
    with np.load(tmp_path / "own.npz", allow_pickle=True) as archive:
        assert archive["y"].size == 3
    assert (tmp_path / "trace").exists(), "the payload would have left a trace"


def test_order_of_places(tmp_path, monkeypatch):
    places = {name: tmp_path / name for name in ("home", "named", "cache")}
    monkeypatch.setenv("JOINTCLUST_DATA", str(places["named"]))
    monkeypatch.setenv("JOINTCLUST_CACHE", str(places["cache"]))
    for place in places.values():
        place.mkdir()

    def location(name):
        return datasets.load(name, places["home"]).data[0, 0], datasets.present(name, places["home"])

    for name, built_in in (("iris", "bundled"), ("mixture", "generated")):
        assert location(name)[1] == built_in
        for value, place in ((-3, "cache"), (-2, "named"), (-1, "home")):
            scipy.io.savemat(places[place] / f"{name}.mat", {"X": np.full((2, 2), value - 10), "y": [0, 1]})
            assert location(name) == (value - 10, str(places[place] / f"{name}.mat"))
            np.savez(places[place] / f"{name}.npz", X=np.full((2, 2), value), y=[0, 1])
            assert location(name) == (value, str(places[place] / f"{name}.npz"))


def test_every_name_loads(folder):
    assert "v1.2 b" in datasets.names(folder)
    assert datasets.load("v1.2 b", folder).n_classes == 3


# -- folders and names that are none -----------------------------------------------------------------------------


@pytest.mark.parametrize("home", ["missing", "file", "~nosuchuser", "x" * 300])
def test_data_home_has_to_be_a_folder(tmp_path, home):
    (tmp_path / "file").touch()
    home = home if home.startswith("~") else str(tmp_path / home)
    for call in (datasets.load, datasets.present):
        with pytest.raises(datasets.DatasetError, match="data_home=.* is no folder"):
            call("digits", home)


@pytest.mark.parametrize("variable", ["JOINTCLUST_DATA", "JOINTCLUST_CACHE"])
@pytest.mark.parametrize("value", ["missing", "file", "~nosuchuser", "x" * 300])
def test_variables_that_name_no_folder(tmp_path, monkeypatch, variable, value):
    (tmp_path / "file").touch()
    monkeypatch.delenv("JOINTCLUST_DATA", raising=False)
    value = value if value.startswith("~") else str(tmp_path / value)
    monkeypatch.setenv(variable, value)
    assert datasets.load("digits").n_classes == 10
    assert "digits" in datasets.names()
    for name in ("absent", "fei", "orl"):
        with pytest.raises(datasets.DatasetError) as caught:
            datasets.load(name, download=False)
        assert (f"JOINTCLUST_DATA names {value!r}, which is no folder" in str(caught.value)) == (variable[-1] == "A")


@pytest.mark.parametrize("method", ["is_file", "is_dir", "iterdir"])
def test_folders_that_cannot_be_looked_into(folder, monkeypatch, method):
    usual = getattr(Path, method)

    def refuse(self):
        if folder in (self, self.parent):
            raise PermissionError(13, "Permission denied", str(self))
        return usual(self)

    monkeypatch.setenv("JOINTCLUST_DATA", str(folder))
    monkeypatch.setattr(Path, method, refuse)
    assert datasets.load("digits").n_classes == 10
    assert "digits" in datasets.names()


def test_long_names(tmp_path):
    with pytest.raises(datasets.DatasetError, match="no data set 'x+' here"):
        datasets.load("x" * 300, tmp_path)
    assert datasets.present("x" * 300, tmp_path) is None


@pytest.mark.parametrize("call", [datasets.load, datasets.fetch, datasets.present])
@pytest.mark.parametrize("name", [None, Path("orl"), 3])
def test_names_are_text(call, name):
    with pytest.raises(TypeError, match="goes by its name, a text, not by"):
        call(name)


@pytest.mark.parametrize(
    ("name", "meant"), [("digit", "digits"), ("coil21", "coil20"), ("Breast-cancr", "breast_cancer")]
)
def test_what_may_have_been_meant(name, meant):
    for call in (datasets.load, datasets.fetch):
        with pytest.raises(datasets.DatasetError, match=f"Did you mean '{meant}'?"):
            call(name)


BUILT_IN = ["iris", "digits", "wine", "breast_cancer", "two_gaussians", "three_clusters", "multi_clusters", "mixture"]


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_is_as_registered(name, monkeypatch):
    monkeypatch.delenv("JOINTCLUST_DATA", raising=False)
    data, entry = datasets.load(name), datasets.registry()[name]
    assert (*data.data.shape, data.n_classes) == (entry.n_samples, entry.n_features, entry.n_classes)
    assert data.image_shape == entry.image_shape
    assert datasets.present(name) in ("bundled", "generated")
    assert entry.sha256 in (None, datasets.fingerprint(data.data, data.target))


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
    np.savez(tmp_path / "umist.npz", X=np.arange(24.0).reshape(8, 3), y=np.array([5, 5, 2, 2, 2, 9, 9, 9]))
    data = datasets.load("umist", tmp_path)
    assert (data.image_shape, data.image_order) == (None, "C")


def test_what_is_no_image_of_a_class(images):
    """Hidden folders and files, folders and dangling links that are called like images."""
    before = datasets.load("faces", images).target.tolist()
    hidden = images / "faces" / ".ipynb_checkpoints"
    hidden.mkdir()
    shutil.copy(images / "faces" / "s2" / "0.png", hidden)
    (images / "faces" / "s2" / ".0.png").write_bytes(b"of another system")
    (images / "faces" / "s2" / "y.png").mkdir()
    (images / "faces" / "s9" / "z.png").symlink_to(images / "gone.png")
    assert datasets.load("faces", images).target.tolist() == before
    (images / "dangling.npz").symlink_to(images / "gone.npz")
    assert "dangling" not in datasets.names(images)


@pytest.mark.parametrize("ending", ["png", "tif", "pgm"])
def test_images_of_16_bits(images, ending):
    for file in (images / "faces").rglob("*.p?m"):
        file.unlink()
    ramp = np.linspace(0, 65535, 256).astype(np.uint16).reshape(16, 16)
    Image.fromarray(ramp).save(images / "faces" / "s2" / f"1.{ending}")
    row = datasets.load("faces", images, image_shape=(16, 16)).data[1]
    np.testing.assert_array_equal(row, np.arange(256))


def test_images_that_lie_on_their_side(images):
    path = images / "faces" / "s2" / "1.jpg"
    left = np.zeros((40, 40), dtype=np.uint8)
    left[:, :20] = 200
    turned = Image.Exif()
    turned[0x0112] = 6  # the camera was held upright: turn right
    Image.fromarray(left).save(path, exif=turned)
    (images / "faces" / "s2" / "1.pgm").unlink()
    picture = datasets.load("faces", images).data[1].reshape(32, 32)
    assert picture[:10].min() > 150
    assert picture[-10:].max() < 50


@pytest.mark.parametrize(
    ("pixels", "message"),
    [(np.full((4, 4), 0.5, np.float32), "floating-point"), (np.full((4, 4), 70000, np.int32), "more than 16 bits")],
)
def test_pixels_of_unknown_range(images, pixels, message):
    Image.fromarray(pixels).save(images / "faces" / "s2" / "2.tif")
    with pytest.raises(ValueError, match=rf"2\.tif cannot be read as an image: its pixels .*{message}"):
        datasets.load("faces", images)


@pytest.mark.parametrize("name", ["own", "pollen"])
def test_flat_image_folders(images, name):
    (images / "faces" / "s2").rename(images / name)
    with pytest.raises(ValueError, match=f"{name} holds images: put those of each class into a subfolder"):
        datasets.load(name, images)


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


def test_nuisance_has_its_scale():
    X, _ = datasets.mixture(20_000, 30, 1, n_nuisance=4, nuisance_scale=5, random_state=0)
    variances = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    np.testing.assert_allclose(variances[:4], 1 + 5**2, rtol=0.1)
    np.testing.assert_allclose(variances[4:], 1, rtol=0.15)


def test_outliers_have_ten_times_the_noise():
    plain, labels = datasets.mixture(2000, 40, 3, random_state=0)
    X, y = datasets.mixture(2000, 40, 3, outliers=0.1, random_state=0)
    np.testing.assert_array_equal(y, labels)
    moved = X - plain
    far = np.any(moved != 0, axis=1)
    assert far.sum() == 200
    assert moved[far].std() == pytest.approx(10, rel=0.05)


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


# -- tables as people have them ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["customers", "survey", "tickets", "daily_curves"])
def test_everyday_tables_are_those_of_the_registry(name):
    entry, result = datasets.registry()[name], datasets.load(name)
    assert (*result.data.shape, result.n_classes) == (entry.n_samples, entry.n_features, entry.n_classes)
    table, y = datasets.everyday(name, 50, random_state=3)
    assert table.equals(datasets.everyday(name, 50, random_state=3)[0])
    assert not table.equals(datasets.everyday(name, 50, random_state=4)[0])
    assert len(table) == y.size == table[table.columns[0]].nunique() == 50


def test_the_planted_clusters_can_be_found():
    table, segments = datasets.everyday("customers", 600, random_state=0)
    assert table["income"].isna().mean() == pytest.approx(0.1, abs=0.05)
    model = jc.JointConsensus(5, trust=False, random_state=0).fit(table)
    assert jc.metrics.clustering_accuracy(segments, model.labels_) > 0.9
    with pytest.raises(ValueError, match="there are customers, survey"):
        datasets.everyday("clients")
