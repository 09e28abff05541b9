"""Kernels of DEC, EC and RURR-SL: the linear method on the features of the kernel."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from test_kernels import KERNELS, linear, rings
from test_scoring import random_data, up_to_signs

import jointclust as jc
import naive

DEC, EC, URC = jc.DiscriminativeEmbeddedClustering, jc.RobustEmbeddedClustering, jc.UncorrelatedRidgeClustering
FORMS = [DEC(4, trade_off=1.5, random_state=0), EC(4, random_state=0), URC(4, random_state=0)]
every = pytest.mark.parametrize("estimator", FORMS, ids=lambda one: type(one).__name__)
pytestmark = pytest.mark.filterwarnings(
    "ignore::jointclust.PlainKMeansWarning",
    "ignore::jointclust.CollapseWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
)


def with_kernel(estimator, kernel, **options):
    return clone(estimator).set_params(kernel=kernel, **options)


@every
def test_linear_kernel_equals_the_linear_form(estimator):
    for seed in range(20):
        X, new, rng = random_data(seed, 60, 8), random_data(seed + 100, 5, 8), np.random.RandomState(seed)
        weights = rng.randint(0, 3, 60) if seed % 2 else None
        plain = clone(estimator).fit(X, sample_weight=weights)
        for kernel, rows, others in (("precomputed", X @ X.T, new @ X.T), (linear, X, new)):
            model = with_kernel(estimator, kernel).fit(rows, sample_weight=weights)
            assert model.objective_ == pytest.approx(plain.objective_, rel=1e-8)
            np.testing.assert_allclose(model.objective_history_, plain.objective_history_, rtol=1e-8)
            np.testing.assert_array_equal(model.labels_, plain.labels_)
            np.testing.assert_array_equal(model.predict(others), plain.predict(new))
            assert model.score(others) == pytest.approx(plain.score(new), rel=1e-8)
            if not isinstance(model, URC):  # whose free direction follows the first axis
                up_to_signs(model.transform(others), plain.transform(new), 1e-7)


@every
@pytest.mark.parametrize("kernel", KERNELS)
def test_named_kernels(estimator, kernel):
    """Named = precomputed = callable, for new rows too; labels are those that are predicted."""
    function, options = KERNELS[kernel]
    X, new = random_data(1, 90), random_data(2, 9)
    few = clone(estimator).set_params(variance=0.8)
    named = with_kernel(few, kernel, **options).fit(X)
    for model, rows, others in (
        (with_kernel(few, "precomputed").fit(function(X, X)), function(X, X), function(new, X)),
        (with_kernel(few, function).fit(X), X, new),
    ):
        assert model.objective_ == pytest.approx(named.objective_, rel=1e-7)
        np.testing.assert_array_equal(model.labels_, named.labels_)
        np.testing.assert_array_equal(model.predict(others), named.predict(new))
        np.testing.assert_array_equal(model.predict(rows), model.labels_)
    assert named.dual_coef_.shape == (len(named.cluster_centers_[0]), 90)
    assert not hasattr(named, "components_")
    assert not hasattr(named, "inverse_transform")
    sense = 1 if isinstance(named, DEC) else -1
    assert np.all(sense * np.diff(named.objective_history_) >= -1e-9 * np.abs(named.objective_))
    assert named.score(X) == pytest.approx(sense * named.objective_, rel=1e-7)


def test_kernel_dec_against_the_textbook():
    """DEC in the coordinates of kernel PCA, from the same labels."""
    for seed in range(20):
        X, start = random_data(seed, 50, 6), np.arange(50) % 3
        K = KERNELS["rbf"][0](X, X)
        centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        values, vectors = np.linalg.eigh(centred)
        T = vectors[:, ::-1][:, :8] * np.sqrt(values[::-1][:8])
        share = values[::-1][:8].sum() / np.trace(centred)
        _, objective = naive.dec(T, start, 3, 2, 2.0)
        model = DEC(3, kernel="rbf", gamma=0.05, n_components=2, trade_off=2.0, update_rule="fixed", init=start)
        model.set_params(variance=share * (1 - 1e-9)).fit(X)
        assert model.rank_ == 8
        assert model.objective_ == pytest.approx(objective, rel=1e-8)


@every
@pytest.mark.parametrize("kernel", ["rbf", "cosine", "nearest_neighbors"])
def test_weight_is_repetition(estimator, kernel):
    X, _ = jc.datasets.mixture(90, 8, 4, separation=15, n_nuisance=0, random_state=0)
    weights = np.random.RandomState(0).randint(0, 3, 90)
    few = with_kernel(clone(estimator).set_params(variance=0.7), kernel)
    weighted = clone(few).fit(X, sample_weight=weights)
    repeated = clone(few).fit(np.repeat(X, weights, axis=0))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


def test_kernels_see_what_lines_do_not():
    X, y = rings(300)
    assert jc.metrics.clustering_accuracy(y, DEC(2, random_state=0).fit(X).labels_) < 0.7
    model = DEC(2, kernel="nearest_neighbors", random_state=0).fit(X)
    assert jc.metrics.clustering_accuracy(y, model.labels_) == 1
    new, truth = rings(100, seed=1)
    assert jc.metrics.clustering_accuracy(truth, model.predict(new)) == 1


@every
@pytest.mark.parametrize("landmarks", ["k-means", "random"])
def test_landmarks_known_labels_and_files(estimator, landmarks, tmp_path):
    X, y = jc.datasets.mixture(200, 10, 4, separation=20, n_nuisance=0, random_state=0)
    model = with_kernel(estimator, "rbf", n_landmarks=40, landmarks=landmarks, variance=0.8)
    known = np.where(np.arange(200) % 10 == 0, y, -1)
    model.fit(X, known_labels=known)
    assert model.landmarks_.shape == (40, 10)
    assert (landmarks == "random") == (model.landmarks_[:, None] == X).all(axis=2).any(axis=1).all()
    assert not model.exact_
    np.testing.assert_array_equal(model.labels_, y)
    jc.save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(jc.load(tmp_path / "model.skops").predict(X), model.labels_)
    back = model.set_params(kernel="linear").fit(X)  # nothing is left of the kernel
    assert hasattr(back, "components_")
    assert not hasattr(back, "dual_coef_")


@every
def test_tensors_are_refused(estimator):
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="looks at pairs of rows"):
        with_kernel(estimator, "rbf").fit(torch.tensor(random_data(0)))


@every
def test_bad_input(estimator):
    X = random_data(0)
    with pytest.raises(TypeError, match="pass the rows themselves"):
        with_kernel(estimator, "rbf").fit(jc.decompose(X))
    with pytest.raises(ValueError, match="must be square"):
        with_kernel(estimator, "precomputed").fit(X)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        with_kernel(estimator, "precomputed").fit(-X @ X.T)
    with pytest.raises(ValueError, match="n_landmarks=2 is less than n_clusters=4"):
        with_kernel(estimator, "rbf", n_landmarks=2).fit(X)
    dense, sparse = (with_kernel(estimator, "rbf", variance=0.8).fit(rows) for rows in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
