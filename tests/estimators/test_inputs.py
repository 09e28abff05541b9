"""Every estimator on every kind of input: what must work, and what must be refused with a clear message."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import jointclust as jc
from jointclust.metrics import clustering_accuracy
from registered import CLUSTERERS, ONE_EACH

# Kernels that depend on where the origin is have tests of their own, in test_kernels.py.
OFFERED = [e for e in CLUSTERERS if getattr(e, "kernel", None) not in ("cosine", "poly")]
ESTIMATORS = [clone(e).set_params(n_clusters=4, random_state=0) for e in OFFERED]
for estimator in ESTIMATORS:
    if getattr(estimator, "n_components", None) is not None:
        estimator.set_params(n_components=3)
every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
# What is checked before the settings matter.
every_class = pytest.mark.parametrize(
    "estimator", [e for e, one in zip(ESTIMATORS, OFFERED, strict=True) if one in ONE_EACH], ids=repr
)
pytestmark = pytest.mark.filterwarnings("ignore::jointclust.PlainKMeansWarning", "ignore::jointclust.CollapseWarning")


def fit(estimator, X, **kwargs):
    return clone(estimator).fit(X, **kwargs)


def needs_dense(estimator):
    return not get_tags(estimator).input_tags.sparse


# -- must work ----------------------------------------------------------------------------------------------------


def read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


KINDS = {
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "integer": lambda X: np.round(X * 10).astype(np.int64),
    "uint8": lambda X: np.clip(np.round((X - X.min()) * 3), 0, 255).astype(np.uint8),
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "list": lambda X: X.tolist(),
    "csr_array": sp.csr_array,
    "csc_array": sp.csc_array,
    "csr_matrix": sp.csr_matrix,
    "csc_matrix": sp.csc_matrix,
    "coo_array": sp.coo_array,
    "pandas": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=[f"c{i}" for i in range(X.shape[1])]),
}


@every_class
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_input(estimator, kind, blobs):
    X, y = blobs
    given = KINDS[kind](X)
    if sp.issparse(given) and needs_dense(estimator):
        with pytest.raises(TypeError, match="[Ss]parse"):
            fit(estimator, given)
        return
    before = given.copy() if hasattr(given, "copy") else pl.DataFrame(given)
    model = fit(estimator, given)
    assert clustering_accuracy(y, model.labels_) == 1
    np.testing.assert_array_equal(model.labels_, model.predict(given))
    assert model.transform(given).shape == (300, model.cluster_centers_.shape[1])
    same = (before != given).nnz == 0 if sp.issparse(given) else np.array_equal(before, given)
    assert same, "the caller's data changed"


@every_class
def test_memory_mapped(estimator, blobs, tmp_path):
    X, y = blobs
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert clustering_accuracy(y, fit(estimator, mapped).labels_) == 1


@every
def test_bool(estimator, rng):
    truth = np.arange(80) % 4
    X = rng.uniform(size=(80, 40)) < np.where(rng.uniform(size=(4, 40)) < 0.5, 0.05, 0.95)[truth]
    assert clustering_accuracy(truth, fit(estimator, X).labels_) == 1


@every
def test_float32_stays_float32(estimator, blobs):
    X, _ = blobs
    model = fit(estimator, X.astype(np.float32))
    for value in (model.mean_, model.cluster_centers_, model.transform(X.astype(np.float32))):
        assert value.dtype == np.float32
    double = fit(estimator, X)
    assert model.objective_ == pytest.approx(double.objective_, rel=1e-3)
    np.testing.assert_array_equal(model.labels_, double.labels_)


@every
def test_sparse_equals_dense(estimator, rng):
    if needs_dense(estimator):
        return
    truth = np.arange(200) % 4
    X = rng.poisson(np.where(rng.uniform(size=(4, 60)) < 0.2, 4.0, 0.05)[truth]) * rng.uniform(0.9, 1.1, (200, 60))
    dense, sparse = fit(estimator, X), fit(estimator, sp.csr_array(X))
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-6)
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_allclose(dense.transform(X), sparse.transform(sp.csc_array(X)), atol=1e-6)
    assert dense.score(X) == pytest.approx(sparse.score(sp.csr_array(X)))


@every
@pytest.mark.parametrize("kind", ["a timestamp", "nearly constant"])
def test_sparse_rows_keep_the_digits_that_dense_ones_do(estimator, kind, rng):
    """One column the size of a timestamp; columns that hardly vary: as with dense rows, and nothing leaks."""
    truth = np.arange(120) % 4
    X = 4 * rng.standard_normal((4, 8))[truth] + rng.standard_normal((120, 8))
    if kind == "a timestamp":
        X[:, 2] = 1.7e9 + rng.standard_normal(120)
    else:
        X = 5 + 1e-9 * X
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        dense = fit(estimator, X)
        assert clustering_accuracy(truth, dense.labels_) == 1
        if not needs_dense(estimator):
            sparse = fit(estimator, sp.csr_array(X))
            np.testing.assert_array_equal(sparse.labels_, dense.labels_)
            np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), dense.labels_)


@every_class
def test_entries_stored_twice_are_summed(estimator, blobs):
    """On a copy: what was given stays as it was."""
    X = np.abs(blobs[0])
    half = sp.csr_array(X / 2)
    twice = sp.csr_array(
        (np.repeat(half.data, 2), np.repeat(half.indices, 2), 2 * half.indptr), shape=X.shape
    )  # each entry is there by halves
    if needs_dense(estimator):
        return
    model = fit(estimator, twice)
    assert twice.nnz == 2 * half.nnz
    np.testing.assert_allclose(model.transform(twice), fit(estimator, sp.csr_array(X)).transform(X), atol=1e-8)


@every_class
def test_masked_cells_are_gaps(estimator, blobs):
    X = np.ma.masked_array(blobs[0], mask=np.zeros(blobs[0].shape, dtype=bool))
    np.testing.assert_array_equal(fit(estimator, X).labels_, fit(estimator, blobs[0]).labels_)
    X[3, 2] = np.ma.masked
    with pytest.raises(ValueError, match="NaN"):
        fit(estimator, X)


@every
@pytest.mark.parametrize("offset", [1e6, -1e6])
def test_far_from_the_origin(estimator, offset, blobs):
    X, y = blobs
    assert clustering_accuracy(y, fit(estimator, X + offset).labels_) == 1


@every
def test_duplicate_rows(estimator, blobs):
    X, y = blobs
    assert clustering_accuracy(np.tile(y, 3), fit(estimator, np.tile(X, (3, 1))).labels_) == 1


@pytest.mark.parametrize("estimator", [*CLUSTERERS, jc.JointConsensus(views=None)], ids=repr)
def test_fewer_distinct_rows_than_clusters(estimator):
    """Rows that are equal have one label, alone or among others, and that some clusters are empty is said."""
    for seed in (6, 12, 17, 37):  # where two centers of equal rows differed by rounding
        rng = np.random.RandomState(seed)
        n_features, n_places = rng.randint(2, 6), rng.randint(1, 5)
        n = rng.randint(max(n_places + 2, 8), 40)
        places = rng.standard_normal((n_places, n_features)) * rng.choice([1, 1e3, 1e-3]) + rng.choice([0, 1e3])
        which = rng.randint(n_places, size=n)
        n_clusters = min(n // 2, n_places + rng.randint(1, 4))
        model = clone(estimator).set_params(n_clusters=n_clusters, random_state=0)
        if getattr(model, "n_components", None) is not None:
            model.set_params(n_components=1)
        with pytest.warns(jc.CollapseWarning):
            model.fit(places[which])
        np.testing.assert_array_equal(model.labels_, model.predict(places)[which])
        np.testing.assert_array_equal(model.labels_, model.predict(places[which]))
        assert [model.predict(row[None])[0] for row in places] == model.predict(places).tolist()


@every_class
@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames_in_and_out(estimator, frame, blobs):
    X = KINDS[frame](blobs[0])
    if frame == "pandas":
        X.columns = [f"c{i}" for i in X.columns]
    model = clone(estimator).set_output(transform=frame).fit(X)
    Y = model.transform(X)
    assert isinstance(Y, pd.DataFrame if frame == "pandas" else pl.DataFrame)
    assert list(Y.columns) == list(model.get_feature_names_out())
    assert list(model.feature_names_in_) == list(X.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={"c0": "z"}) if frame == "pandas" else X.rename({"c0": "z"}))


@every_class
def test_pipeline(estimator, blobs):
    X, y = blobs
    pipeline = make_pipeline(StandardScaler(), clone(estimator))
    assert clustering_accuracy(y, pipeline.fit_predict(X)) > 0.99
    assert pipeline.transform(X).shape == (300, pipeline[-1].cluster_centers_.shape[1])


@every
def test_weight_zero_is_absent(estimator, blobs, rng):
    X, _ = blobs
    far = np.vstack([X, 1e3 * rng.standard_normal((30, X.shape[1]))])
    model = fit(estimator, far, sample_weight=np.repeat([1.0, 0.0], [300, 30]))
    plain = fit(estimator, X)
    assert clustering_accuracy(plain.labels_, model.labels_[:300]) == 1
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert model.labels_.shape == (330,)


# -- must be refused ----------------------------------------------------------------------------------------------


def spoil(X, value):
    X = X.copy()
    X[3, 2] = value
    return X


BAD_DATA = {
    "NaN": (lambda X: spoil(X, np.nan), ValueError, "NaN"),
    "infinity": (lambda X: spoil(X, np.inf), ValueError, "infinity"),
    "empty": (lambda X: X[:0], ValueError, "0 sample"),
    "no columns": (lambda X: X[:, :0], ValueError, "0 feature"),
    "1-D": (lambda X: X[0], ValueError, "2D array"),
    "3-D": (lambda X: X[None], ValueError, "dim 3"),
    "one row": (lambda X: X[:1], ValueError, "1 sample"),
    "strings": (lambda X: [*X.astype(str).astype(object).tolist(), ["a"] * X.shape[1]], ValueError, "convert"),
    "complex": (lambda X: X + 1j, ValueError, "Complex"),
    "too large": (lambda X: X * 1e299, ValueError, "too large"),
    "too small": (lambda X: X * 1e-299, ValueError, "too small"),
    "too large for float32": (lambda X: (X * 1e30).astype(np.float32), ValueError, "pass float64"),
    "sparse NaN": (lambda X: sp.csr_array(spoil(X, np.nan)), ValueError, "NaN"),
    "fewer rows than clusters": (lambda X: X[:3], ValueError, "n_clusters=4 exceeds"),
}


# Levels, and numbers cut at quantiles, are as good in any units.
FINE_AS_LEVELS = ("strings", "too large", "too small", "too large for float32")


@every_class
@pytest.mark.parametrize("kind", BAD_DATA)
def test_bad_data(estimator, kind, blobs):
    make, error, message = BAD_DATA[kind]
    if kind in FINE_AS_LEVELS and isinstance(estimator, jc.CorrespondenceClustering):
        return
    if kind == "sparse NaN" and needs_dense(estimator):
        return
    with pytest.raises(error, match=message):
        fit(estimator, make(blobs[0]))


@pytest.mark.parametrize("scale", [1e-140, 1e140])
@every
def test_extreme_but_possible_scales(estimator, scale, blobs):
    X, y = blobs
    assert clustering_accuracy(y, fit(estimator, X * scale).labels_) == 1


BAD_WEIGHTS = {
    "wrong length": (np.ones(7), "inconsistent|shape"),
    "two-dimensional": (np.ones((300, 2)), "1D array"),
    "negative": (np.r_[-1.0, np.ones(299)], "negative"),
    "all zero": (np.zeros(300), "zero"),
    "NaN": (np.r_[np.nan, np.ones(299)], "NaN"),
    "infinite": (np.r_[np.inf, np.ones(299)], "infinity"),
    "too few": (np.r_[np.ones(3), np.zeros(297)], r"n_clusters=4 exceeds the number of rows with weight \(3\)"),
}


@every_class
@pytest.mark.parametrize("kind", BAD_WEIGHTS)
def test_bad_weights(estimator, kind, blobs):
    weights, message = BAD_WEIGHTS[kind]
    with pytest.raises(ValueError, match=message):
        fit(estimator, blobs[0], sample_weight=weights)


BAD_PARAMETERS = [
    ("n_clusters", 0),
    ("n_clusters", -1),
    ("n_clusters", 2.5),
    ("n_clusters", "4"),
    ("n_clusters", True),
    ("n_components", 0),
    ("n_components", 31),
    ("variance", 0),
    ("variance", 1.5),
    ("max_rank", 0),
    ("init", "kmeans"),
    ("n_init", 0),
    ("max_iter", 0),
    ("tol", -1),
    ("random_state", "seed"),
    ("n_jobs", 1.5),
]
OWN = {
    "DiscriminativeEmbeddedClustering": [
        ("trade_off", -1),
        ("trade_off", np.nan),
        ("trade_off", "pcakm"),
        ("trade_off", None),
        ("update_rule", "best"),
        ("reading", "letter"),
        ("n_restarts", 0),
    ],
    "LDAKMeans": [("ridge", 0), ("ridge", -1.0), ("ridge", "none")],
    "RobustEmbeddedClustering": [("robust", "yes"), ("robust", None), ("loss", "l2"), ("cap", 0)],
    "OptimalDiscriminantClustering": [
        ("ridge", -1.0),
        ("ridge", "none"),
        ("kernel", "sigmoid"),
        ("kernel", None),
        ("gamma", 0),
        ("gamma", "auto"),
        ("degree", 0),
        ("degree", 2.5),
        ("coef0", "one"),
        ("coef0", -1),
        ("n_neighbors", 1),
        ("n_landmarks", 0),
        ("landmarks", "rows"),
        ("normalize_rows", "yes"),
    ],
    "SparseOptimalDiscriminantClustering": [("ridge", 0), ("ridge", -1.0), ("sparsity", -1.0), ("sparsity", "none")],
    "DisKMeans": [("ridge", -1.0), ("ridge", "none")],
    "UncorrelatedRidgeClustering": [
        ("ridge", -1.0),
        ("ridge", "none"),
        ("rescale", 0.0),
        ("rescale", -1.0),
        ("rescale", None),
        ("constraint", "none"),
    ],
    "MultiViewKMeans": [("exponent", 1), ("exponent", 101), ("scale_views", 2.5)],
    "CorrespondenceClustering": [
        ("method", "clusCA"),
        ("n_bins", 1),
        ("columns", ["a"]),
        ("alpha", 0),
        ("alpha", 1.5),
    ],
    "FuzzyKMeans": [("fuzzifier", 1), ("fuzzifier", 0.5), ("fuzzifier", "two"), ("fuzzifier", np.nan)],
    "RobustSparseFuzzyKMeans": [("loss", "l2"), ("n_neighbors", 0), ("n_neighbors", 5), ("cap", 0), ("cap", "none")],
    "DisCluster": [("ridge", -1.0), ("ridge", "none"), ("scale", "none")],
}


@every_class
def test_bad_parameters_are_named(estimator, blobs):
    given = estimator.get_params()
    for name, value in BAD_PARAMETERS + OWN.get(type(estimator).__name__, []):
        too_many = (name, value) == ("n_components", 31)  # but a kernel has as many directions as there are rows
        if name not in given or (too_many and given.get("kernel") != "linear"):
            continue
        with pytest.raises((ValueError, TypeError), match=name):
            clone(estimator).set_params(**{name: value}).fit(blobs[0])


BAD_LABELS = [
    (np.zeros(7, dtype=int), r"shape \(300,\)"),
    (np.zeros(300), "integers"),
    (np.full(300, 4), r"0\.\.3"),
    (np.full(300, -1), r"0\.\.3"),
]


@every_class
@pytest.mark.parametrize(("labels", "message"), BAD_LABELS)
def test_bad_initial_labels(estimator, labels, message, blobs):
    with pytest.raises(ValueError, match=f"init.*{message}"):
        clone(estimator).set_params(init=labels).fit(blobs[0])


@every_class
def test_use_before_and_after_fit(estimator, blobs):
    X, _ = blobs
    for method in ("predict", "transform", "score", "inverse_transform"):
        if not hasattr(estimator, method):  # kernels have no way back
            assert estimator.kernel != "linear"
            continue
        with pytest.raises(NotFittedError):
            getattr(clone(estimator), method)(X)
    model = fit(estimator, X)
    for method in ("predict", "transform", "score"):
        with pytest.raises(ValueError, match="30 features"):
            getattr(model, method)(X[:, :7])
    if hasattr(model, "inverse_transform"):
        with pytest.raises(ValueError, match="columns"):
            model.inverse_transform(X[:, :1])


def test_a_sparse_matrix_is_never_made_dense(monkeypatch):
    """Wide sparse rows: nothing of size n x D may appear."""
    n, D = 2000, 20_000
    X = sp.random_array((n, D), density=1e-3, rng=np.random.default_rng(0), format="csr")
    largest = []
    for name in ("toarray", "todense"):
        original = getattr(sp.csr_array, name)

        def spy(self, *args, _original=original, **kwargs):
            largest.append(np.prod(self.shape))
            return _original(self, *args, **kwargs)

        monkeypatch.setattr(sp.csr_array, name, spy)
    model = jc.DiscriminativeEmbeddedClustering(5, max_rank=20, random_state=0).fit(X)
    assert not model.exact_
    assert model.rank_ == 20
    assert max(largest, default=0) < n * D / 100
    np.testing.assert_array_equal(model.labels_, model.predict(X))
