"""Soft labels: the simplex, uncorrelated ridge clustering, fuzzy k-means and its robust form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from test_scoring import random_data

import jointclust as jc
import naive
from jointclust.metrics import clustering_accuracy
from jointclust.numerics.linalg import project_simplex

URC = jc.UncorrelatedRidgeClustering
FKM = jc.FuzzyKMeans
RSFKM = jc.RobustSparseFuzzyKMeans
quiet = pytest.mark.filterwarnings(
    "ignore::jointclust.CollapseWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)


def random_soft(seed, n=60, c=4):
    return np.random.RandomState(seed).dirichlet(np.ones(c), n)


# -- uncorrelated ridge clustering --------------------------------------------------------------------------------


@quiet
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.booleans(), st.booleans(), st.sampled_from([(60, 12), (60, 90)]))
def test_against_the_textbook(seed, rescale, weighted, shape):
    X, P = random_data(seed, *shape), random_soft(seed)
    weights = np.random.RandomState(seed).randint(1, 4, 60).astype(float) if weighted else None
    model = URC(4, ridge=2.0, rescale=rescale, init=P, max_iter=6, tol=0).fit(X, sample_weight=weights)
    soft, _, alpha, b, history = naive.uncorrelated_ridge(X, P, 2.0, 6, rescale, weights)
    np.testing.assert_allclose(model.objective_history_, history, rtol=1e-8)
    np.testing.assert_allclose(model.soft_labels_, soft, atol=1e-8)
    assert model.scale_ == pytest.approx(alpha)
    np.testing.assert_allclose(model.intercept_, b, atol=1e-10)


@quiet
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.booleans(), st.sampled_from([None, 30]), st.sampled_from([(60, 12), (30, 90)]))
def test_what_a_fit_publishes(seed, rescale, max_iter, shape):
    X = random_data(seed, *shape)
    model = URC(4, rescale=rescale, max_iter=max_iter, random_state=0).fit(X)
    Z, centred, P = model.components_.T, X - model.mean_, model.soft_labels_
    S = centred.T @ centred + model.ridge_ * np.eye(shape[1])
    np.testing.assert_allclose(Z.T @ S @ Z, np.eye(4), atol=1e-8)
    assert np.linalg.matrix_rank(Z) == 4
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(model.predict_proba(X), P)
    np.testing.assert_array_equal(P.argmax(axis=1), model.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    V = centred @ Z + model.intercept_
    value = np.sum((V - model.scale_ * P) ** 2) + model.ridge_ * np.sum(Z**2)
    assert model.objective_ == pytest.approx(value, rel=1e-10)
    assert model.score(X) == pytest.approx(-value, rel=1e-10)
    assert np.all(np.diff(model.objective_history_) <= 1e-10)
    assert model.objective_history_[-1] == model.objective_
    assert model.objective_ >= model.lower_bound_ - 1e-9
    assert model.n_iter_ == model.objective_history_.size
    assert model.transform(X).shape == (shape[0], 4)


def test_published_parameters_solve_their_equations():
    """Exactly for the soft labels of the iteration before; nearly for the published ones once it has converged."""
    X, P = random_data(3), random_soft(3)
    with pytest.warns(ConvergenceWarning):
        before = URC(4, ridge=2.0, init=P, max_iter=9, tol=0).fit(X)
    with pytest.warns(ConvergenceWarning):
        after = URC(4, ridge=2.0, init=P, max_iter=10, tol=0).fit(X)
    centred = X - X.mean(axis=0)

    def solutions(model, soft):
        HP = soft - soft.mean(axis=0)
        return np.sum((centred @ model.components_.T) * HP) / np.sum(HP**2), model.scale_ * soft.mean(axis=0)

    alpha, b = solutions(after, before.soft_labels_)
    assert after.scale_ == pytest.approx(alpha, rel=1e-12)
    np.testing.assert_allclose(after.intercept_, b, atol=1e-14)
    final = URC(4, ridge=2.0, init=P, max_iter=20_000, tol=1e-10).fit(X)
    assert final.converged_
    alpha, b = solutions(final, final.soft_labels_)
    assert final.scale_ == pytest.approx(alpha, rel=1e-3)
    np.testing.assert_allclose(final.intercept_, b, rtol=1e-3)


@quiet
def test_rescaling_lowers_the_objective_to_the_bound():
    """The paper's figure 1; and the bound that every run reaches."""
    seed = 0
    X = random_data(seed)
    options = {"ridge": 2.0, "max_iter": 20_000, "tol": 1e-9}
    plain = URC(4, rescale=False, init=random_soft(seed), **options).fit(X)
    rescaled = URC(4, init=random_soft(seed), **options).fit(X)
    assert rescaled.objective_ <= plain.objective_ * (1 + 1e-6)
    onwards = URC(4, init=plain.soft_labels_, **options).fit(X)
    assert onwards.objective_ <= plain.objective_
    s2 = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:3] ** 2
    assert rescaled.lower_bound_ == pytest.approx(4 - np.sum(s2 / (s2 + 2.0)))
    for model in (plain, rescaled):
        assert model.objective_ == pytest.approx(model.lower_bound_, rel=1e-3)


def test_the_free_direction_is_fixed(blobs):
    """Rotating, permuting or reflecting the data leaves P as it is, and turns Z along with the data."""
    X, y = blobs
    P = 0.8 * np.eye(4)[y] + 0.05
    options = {"init": P, "ridge": 50.0, "max_iter": 5, "tol": 1e-2}
    model = URC(4, **options).fit(X)
    assert np.abs(model.components_.mean(axis=0)).max() > 1e-6  # there is a free direction
    rotation = np.linalg.qr(np.random.RandomState(0).standard_normal((30, 30)))[0]
    turned = URC(4, **options).fit(X @ rotation)
    np.testing.assert_allclose(turned.soft_labels_, model.soft_labels_, atol=1e-9)
    free, other = model.components_.mean(axis=0), turned.components_.mean(axis=0) @ rotation.T
    np.testing.assert_allclose(np.abs(free @ other), free @ free, rtol=1e-6)  # up to its sign
    order = np.random.RandomState(1).permutation(300)
    shuffled = URC(4, **{**options, "init": P[order]}).fit(X[order])
    np.testing.assert_allclose(shuffled.transform(X), model.transform(X), atol=1e-9)
    # It is the leading eigenvector of S_t made orthogonal, in the whitened space, to the other directions.
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    half = vectors @ np.diag(np.sqrt(values + 50.0)) @ vectors.T
    columns = half @ model.components_.T
    u = columns.sum(axis=1) / 2.0
    others = columns - np.outer(u, np.ones(4)) / 2.0
    expected = vectors[:, -1] - np.linalg.pinv(others.T) @ (others.T @ vectors[:, -1])
    assert abs(u @ expected) == pytest.approx(np.linalg.norm(expected), rel=1e-6)


def test_default_stops_by_the_hard_labels(digits):
    """The state returned explains most among all that the run went through."""
    X = digits.data
    model = URC(10, random_state=0).fit(X)
    A = (X - X.mean(axis=0)) / 1.0
    values, vectors = np.linalg.eigh(A.T @ A)
    A = A @ vectors / np.sqrt(np.maximum(values, 0) + model.ridge_)

    def explained(labels):
        L = np.eye(10)[labels]
        return np.sum((A.T @ L) ** 2 / np.maximum(L.sum(axis=0), 1))

    assert model.explained_ == pytest.approx(explained(model.labels_))
    start = URC(10, random_state=0, max_iter=1, tol=0).fit
    with pytest.warns(ConvergenceWarning):
        first = start(X)
    with pytest.warns(ConvergenceWarning):
        late = URC(10, random_state=0, max_iter=60, tol=0).fit(X)
    assert model.explained_ >= max(first.explained_, late.explained_) - 1e-9
    assert model.converged_


def test_more_runs_explain_more(digits):
    models = [URC(10, n_init=n, random_state=0, n_jobs=2).fit(digits.data) for n in (1, 4)]
    assert models[1].explained_ >= models[0].explained_


@quiet
def test_more_clusters_than_dimensions(rng):
    X = rng.standard_normal((40, 2))
    with pytest.warns(jc.CollapseWarning, match="n_clusters=5 exceeds the rank of the data"):
        model = URC(5, random_state=0).fit(X)
    np.testing.assert_allclose(model.soft_labels_.sum(axis=1), 1)


def test_empty_clusters_are_told(digits):
    with pytest.warns(jc.CollapseWarning, match="of 10 clusters are the most likely one for no row. Set rescale=True"):
        URC(10, rescale=False, random_state=0).fit(digits.data)


def test_ridge_zero():
    X = random_data(0)
    model = URC(4, ridge=0, random_state=0).fit(X)
    centred = X - X.mean(axis=0)
    Z = model.components_.T
    np.testing.assert_allclose(Z.T @ centred.T @ centred @ Z, np.eye(4), atol=1e-8)
    with pytest.raises(ValueError, match="ridge=0 needs a total scatter of full rank"):
        URC(4, ridge=0).fit(random_data(0, 20, 50))


BAD_SOFT = [
    (np.full((60, 3), 1 / 3), "shape"),
    (np.full((59, 4), 0.25), "shape"),
    (np.full((60, 4), 0.5), "sum to 1"),
    (np.tile([1.5, -0.5, 0, 0], (60, 1)), "sum to 1"),
    (np.full((60, 4), np.nan), "sum to 1"),
]


@pytest.mark.parametrize("estimator", [URC(4), FKM(4), RSFKM(4)], ids=repr)
@pytest.mark.parametrize(("soft", "message"), BAD_SOFT)
def test_bad_soft_starts(estimator, soft, message):
    with pytest.raises(ValueError, match=message):
        estimator.set_params(init=soft).fit(random_data(0))


@quiet
@pytest.mark.parametrize("estimator", [URC(4), URC(4, max_iter=9), FKM(4, fuzzifier=1.5), RSFKM(4)], ids=repr)
def test_soft_start_keeps_the_order(estimator, blobs):
    X, y = blobs
    shuffled = np.array([2, 0, 3, 1])[y]
    soft = 0.7 * np.eye(4)[shuffled] + 0.075
    for init in (soft, shuffled):
        np.testing.assert_array_equal(estimator.set_params(init=init).fit(X).labels_, shuffled)
    with pytest.warns(RuntimeWarning, match="one run is made"):
        estimator.set_params(init=soft, n_init=2).fit(X)
    estimator.set_params(n_init=1)


@quiet
@pytest.mark.parametrize(
    "estimator",
    [URC(4, random_state=0), URC(4, init="random", random_state=0), FKM(4, random_state=0), RSFKM(4, random_state=0)],
    ids=repr,
)
def test_weight_is_repetition(estimator):
    X, rng = random_data(1), np.random.RandomState(0)
    if estimator.get_params()["init"] == "random":  # drawn row by row: only labels given can be repeated
        estimator = estimator.set_params(init=random_soft(0))
    weights = rng.randint(1, 4, 60)
    weighted = estimator.fit(X, sample_weight=weights)
    P, objective = weighted.predict_proba(X), weighted.objective_
    if not isinstance(estimator.init, str):
        estimator.set_params(init=np.repeat(estimator.init, weights, axis=0))
    repeated = estimator.fit(np.repeat(X, weights, axis=0))
    assert objective == pytest.approx(repeated.objective_, rel=1e-9)
    np.testing.assert_allclose(P, repeated.predict_proba(X), atol=1e-8)


# -- fuzzy k-means ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fuzzifier", [1.2, 2.0, 2.5])
def test_agrees_with_scikit_fuzzy(fuzzifier, iris):
    cmeans = pytest.importorskip("skfuzzy").cluster.cmeans
    X, P = iris.data, random_soft(0, 150, 3)
    centers, u, *_ = cmeans(X.T, 3, fuzzifier, error=1e-12, maxiter=2000, init=P.T.copy())
    model = FKM(3, fuzzifier=fuzzifier, init=P, max_iter=2000, tol=1e-15).fit(X)
    np.testing.assert_allclose(model.soft_labels_, u.T, atol=1e-6)
    np.testing.assert_allclose(model.cluster_centers_ + model.mean_, centers, atol=1e-6)


@quiet
@pytest.mark.parametrize(
    "estimator",
    [
        FKM(4, random_state=0),
        FKM(4, fuzzifier=2.5, random_state=0),
        FKM(4, n_components=3, random_state=0),
        RSFKM(4, random_state=0),
        RSFKM(4, loss="l21", n_neighbors=3, random_state=0),
        RSFKM(4, cap=3.0, n_neighbors=4, init="random", random_state=0),
        RSFKM(4, n_neighbors=1, n_components=3, random_state=0),
    ],
    ids=repr,
)
def test_center_methods(estimator):
    for seed in range(5):
        X = random_data(seed)
        model = estimator.fit(X)
        P = model.soft_labels_
        assert np.all(np.diff(model.objective_history_) <= 1e-9 * abs(model.objective_))
        assert P.min() >= 0
        np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_array_equal(model.predict_proba(X), P)
        np.testing.assert_array_equal(P.argmax(axis=1), model.labels_)
        assert model.score(X) == pytest.approx(-model.objective_, rel=1e-9)
        distances = np.linalg.norm(model.transform(X)[:, None] - model.cluster_centers_, axis=2)
        if isinstance(model, FKM):
            assert model.objective_ == pytest.approx(np.sum(P**model.fuzzifier_ * distances**2), rel=1e-9)
        else:
            h = np.minimum(distances, model.cap_)
            assert model.objective_ == pytest.approx(np.sum(P * h) + model.gamma_ * np.sum(P**2), rel=1e-6)
            most = 2 if model.n_neighbors is None else model.n_neighbors
            assert (P > 0).sum(axis=1).max() <= most


def test_classic_fuzzifier_collapses_and_says_so(digits):
    with pytest.warns(jc.CollapseWarning, match="Lower fuzzifier: 1.04"):
        model = FKM(10, fuzzifier=2.0, random_state=0).fit(digits.data)
    assert np.ptp(model.soft_labels_) < 0.2
    fine = FKM(10, random_state=0).fit(digits.data)
    assert 1 < fine.fuzzifier_ < fine.collapsing_fuzzifier_ < 2
    assert clustering_accuracy(digits.target, fine.labels_) > 0.7


def test_near_one_it_is_k_means(digits):
    model = FKM(10, fuzzifier=1.0005, random_state=0, n_init=3).fit(digits.data)
    plain = KMeans(10, n_init=20, random_state=0).fit(digits.data)
    assert model.objective_ <= plain.inertia_ * 1.01
    assert np.mean(model.soft_labels_.max(axis=1)) > 0.99


def test_row_on_a_center():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [5.0, 5.0], [5.0, 5.0]])
    model = FKM(2, fuzzifier=2.0, random_state=0).fit(X)
    np.testing.assert_allclose(model.soft_labels_.max(axis=1), 1, atol=1e-12)


# -- robust sparse fuzzy k-means ----------------------------------------------------------------------------------


def test_far_rows_do_not_count():
    X, y = jc.datasets.mixture(400, 10, 3, separation=15, n_nuisance=0, random_state=0)
    far = np.vstack([X, 1e3 * np.random.RandomState(0).standard_normal((8, 10))])
    model = RSFKM(3, init=np.r_[y, np.zeros(8, dtype=int)]).fit(far)
    centers = np.array([X[y == k].mean(axis=0) for k in range(3)])
    result = model.cluster_centers_ + model.mean_
    assert np.linalg.norm(result - centers, axis=1).max() < 1
    squares = FKM(3, fuzzifier=1.2, init=np.r_[y, np.zeros(8, dtype=int)]).fit(far)
    assert np.linalg.norm(squares.cluster_centers_ + squares.mean_ - centers, axis=1).max() > 5
    # Beyond the cap the clusters share alike; the label is the nearest center all the same.
    distances = np.linalg.norm(model.transform(far)[:, None] - model.cluster_centers_, axis=2)
    np.testing.assert_array_equal(model.labels_[-8:], distances[-8:].argmin(axis=1))


def test_number_of_memberships(digits):
    for k in (1, 2, 5, 10):
        model = RSFKM(10, n_neighbors=k, max_iter=500, tol=1e-4, random_state=0).fit(digits.data)
        counts = (model.soft_labels_ > 0).sum(axis=1)
        assert counts.max() <= k
        assert np.median(counts) >= min(k, 9) - 1
    with pytest.raises(ValueError, match="n_neighbors=11 exceeds n_clusters=10"):
        RSFKM(10, n_neighbors=11).fit(digits.data)


def test_one_cluster(rng):
    X = rng.standard_normal((20, 3))
    for estimator in (URC(1), FKM(1), RSFKM(1)):
        model = estimator.fit(X)
        np.testing.assert_array_equal(model.soft_labels_, 1)
        assert not model.labels_.any()


# -- supervised parent --------------------------------------------------------------------------------------------


def test_ridge_projection_is_one_step(iris):
    X, y = iris.data, iris.target
    model = jc.DiscriminantProjection("ridge", ridge=3.0).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        step = URC(3, ridge=3.0, init=y, max_iter=1, tol=0).fit(X)
    np.testing.assert_allclose(model.components_, step.components_, atol=1e-12)
    assert model.scale_ == pytest.approx(step.scale_)
    np.testing.assert_allclose(model.intercept_, step.intercept_)
    with pytest.warns(UserWarning, match="one column per class"):
        jc.DiscriminantProjection("ridge", n_components=2).fit(X, y)


# -- real data ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "margin"), [("orl", 0.0), ("coil20", -0.02)])
def test_against_k_means_on_real_data(name, margin, real_data):
    data = real_data(name)
    c = data.n_classes

    def accuracy(make):
        models = (make(seed).fit(data.data) for seed in range(10))
        return np.mean([clustering_accuracy(data.target, model.labels_) for model in models])

    plain = accuracy(lambda seed: KMeans(c, n_init=10, random_state=seed))
    assert accuracy(lambda seed: URC(c, random_state=seed)) > plain + margin


# -- what a review found ------------------------------------------------------------------------------------------


def three_clouds(seed=0):
    rng = np.random.RandomState(seed)
    return np.vstack([rng.standard_normal((100, 5)) + shift for shift in (0, 8, -8)]), np.repeat(np.arange(3), 100)


@pytest.mark.parametrize(("n_outliers", "spread"), [(1, 120), (5, 100), (15, 30), (15, 100), (30, 60)])
def test_robust_start(n_outliers, spread):
    X, y = three_clouds()
    far = spread * np.random.RandomState(1).standard_normal((n_outliers, 5))
    model = RSFKM(3, random_state=0).fit(np.vstack([X, far]))
    assert clustering_accuracy(y, model.labels_[:300]) > 0.99


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_label_of_capped_rows_is_the_nearest(dtype):
    X = np.vstack([three_clouds()[0], 60 * np.random.RandomState(1).standard_normal((60, 5))]).astype(dtype)
    model = RSFKM(3, random_state=0).fit(X)
    distances = np.linalg.norm(model.transform(X)[:, None] - model.cluster_centers_, axis=2)
    np.testing.assert_array_equal(model.labels_, distances.argmin(axis=1))


def test_everything_beyond_the_cap_is_told(iris):
    with pytest.warns(jc.CollapseWarning, match="100% of the rows lie beyond cap=0.05"):
        RSFKM(3, cap=0.05, random_state=0).fit(iris.data)
    with pytest.warns(UserWarning, match="not used by loss='l21'"):
        RSFKM(3, loss="l21", cap=0.05, random_state=0).fit(iris.data)


@quiet
def test_bound_and_explained_with_few_dimensions(iris, digits):
    model = URC(8, random_state=0, max_iter=3000, tol=1e-12).fit(iris.data)
    assert model.objective_ == pytest.approx(model.lower_bound_, rel=1e-3)
    assert 0 <= URC(10, rescale=False, random_state=0).fit(digits.data).explained_ <= 9


@quiet
def test_a_start_without_information_is_told(iris):
    for init in (np.full((150, 3), 1 / 3), np.zeros(150, dtype=int), np.arange(150) % 2):
        with pytest.warns(RuntimeWarning, match="init separates only . of n_clusters=3 clusters"):
            model = URC(3, init=init, max_iter=1).fit(iris.data)
        assert np.isfinite(model.soft_labels_).all()
    order = np.random.RandomState(0).permutation(150)
    with pytest.warns(RuntimeWarning):
        shuffled = URC(3, init=(np.arange(150) % 2)[order], max_iter=1).fit(iris.data[order])
    np.testing.assert_allclose(shuffled.soft_labels_, model.soft_labels_[order], atol=1e-9)


def test_supervised_ridge_edges(iris):
    model = jc.DiscriminantProjection("ridge").fit(iris.data, np.zeros(150, dtype=int))
    assert model.scale_ == 1.0
    with pytest.warns(jc.CollapseWarning, match="5 classes exceed the rank"):
        jc.DiscriminantProjection("ridge").fit(iris.data[:, :2], np.arange(150) % 5)
    model.set_params(criterion="mmc").fit(iris.data, iris.target)
    assert not hasattr(model, "scale_")


@quiet
def test_ridge_zero_edges(iris):
    with pytest.raises(ValueError, match="Set ridge > 0"):
        URC(2, ridge=0).fit(np.ones((5, 1)))
    URC(3, ridge=0, variance=0.99, random_state=0).fit(iris.data)


def test_rows_from_another_world(iris):
    for estimator in (FKM(3, random_state=0), RSFKM(3, loss="l21", random_state=0)):
        with pytest.raises(ValueError, match="overflow"):
            estimator.fit(iris.data).predict_proba(np.full((1, 4), 1e200))


def test_an_outlier_is_no_collapse(recwarn):
    X, y = three_clouds()
    model = FKM(4, random_state=0).fit(np.vstack([X, np.full((1, 5), 1e6)]))
    assert clustering_accuracy(y, model.labels_[:300]) == 1
    assert not [w for w in recwarn if issubclass(w.category, jc.CollapseWarning)]


def test_simplex_refuses_what_it_cannot_hold():
    with pytest.raises(ValueError, match="float32 can hold"):
        project_simplex(np.zeros((2, 2), dtype=np.float32), 1e-300)
    with pytest.raises(TypeError, match="real floating"):
        project_simplex(np.zeros((2, 2), dtype=complex))
