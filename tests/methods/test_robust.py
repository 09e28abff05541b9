import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

import jointclust as jc
from jointclust import DiscriminantProjection, RobustEmbeddedClustering, RobustKMeans
from jointclust.metrics import clustering_accuracy
from jointclust.subspace import decomposition
from naive import robust as naive_robust
from naive import scatter

quiet = pytest.mark.filterwarnings(
    "ignore::jointclust.PlainKMeansWarning",
    "ignore::jointclust.CollapseWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
)


def loss(model, X, robust=True):
    """The objective recomputed from the published attributes."""
    r = np.linalg.norm(model.transform(X) - model.cluster_centers_[model.labels_], axis=1)
    floor = model.residual_floor_
    return np.sum(np.where(r > floor, r, r**2 / (2 * floor) + floor / 2)) if robust else np.sum(r**2)


MODELS = {
    "EC": lambda: RobustEmbeddedClustering(6, random_state=0),
    "OLSDA": lambda: RobustEmbeddedClustering(6, robust=False, random_state=0),
    "EC, five components": lambda: RobustEmbeddedClustering(6, n_components=5, random_state=0),
    "EC, random start": lambda: RobustEmbeddedClustering(6, init="random", random_state=0),
    "RMKMC": lambda: RobustKMeans(6, random_state=0),
    "PCA + RMKMC": lambda: RobustKMeans(6, n_components=5, random_state=0),
}


@quiet
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("data", ["digits", "mixture"])
def test_fitted_model_is_consistent(name, data):
    X = jc.datasets.load(data).data[:700]
    model = MODELS[name]().fit(X)
    history = model.objective_history_
    assert np.all(np.diff(history) <= 1e-9 * history[0])
    assert model.objective_ == pytest.approx(history[-1], rel=1e-12)
    assert len(history) == model.n_iter_
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.objective_ == pytest.approx(loss(model, X, name != "OLSDA"), rel=1e-9)
    assert model.score(X) == pytest.approx(-model.objective_, rel=1e-9)
    if hasattr(model, "components_"):
        k = len(model.components_)
        assert np.abs(model.components_ @ model.components_.T - np.eye(k)).max() < 1e-10
        spread = model.transform(X).var(axis=0)
        assert np.all(np.diff(spread) <= 1e-9 * spread[0]), "axes are ordered by variance"
    else:
        np.testing.assert_allclose(model.transform(X), X - model.mean_)
        np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X)
    if name == "OLSDA":
        assert np.all(model.sample_weights_ == 1)
    else:
        np.testing.assert_allclose(model.sample_weights_ * model.outlier_scores_, 0.5)


@quiet
@pytest.mark.parametrize("robust", [True, False])
@pytest.mark.parametrize(("n", "D", "k"), [(200, 20, 15), (60, 100, 20), (300, 40, 3)])
def test_agrees_with_the_textbook(n, D, k, robust):
    rng = np.random.RandomState(n + D)
    X = rng.standard_normal((n, D)) + 2 * rng.standard_normal((4, D))[np.arange(n) % 4]
    labels = np.where(rng.uniform(size=n) < 0.6, np.arange(n) % 4, rng.randint(4, size=n))
    coordinates = jc.decompose(X, variance=0.95)
    model = RobustEmbeddedClustering(
        4, n_components=k, robust=robust, variance=None, init=labels, tol=1e-13, max_iter=2000
    ).fit(coordinates)
    result, objective = naive_robust(coordinates.scores, labels, 4, k, model.residual_floor_, robust)
    assert clustering_accuracy(result, model.labels_) == 1
    assert model.objective_ == pytest.approx(objective, rel=1e-8)


@quiet
def test_robust_kmeans_agrees_with_the_textbook(iris):
    start = jc.decompose(iris.data)
    model = RobustKMeans(3, init=iris.target, tol=1e-13, max_iter=2000).fit(iris.data)
    result, objective = naive_robust(start.scores, iris.target, 3, 4, model.residual_floor_, True)
    assert clustering_accuracy(result, model.labels_) == 1
    assert model.objective_ == pytest.approx(objective, rel=1e-8)


@given(st.integers(0, 10_000), st.sampled_from(["EC", "OLSDA", "RMKMC", "PCA + RMKMC"]))
@settings(max_examples=25, deadline=None)
@quiet
def test_rotation_shift_order_and_weights(seed, name):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((90, 8)) * rng.uniform(0.5, 2, 8) + 3 * rng.standard_normal((6, 8))[np.arange(90) % 6]
    labels, weights = np.arange(90) % 6, rng.randint(1, 3, size=90)
    repeat, order = np.repeat(np.arange(90), weights), rng.permutation(90)
    rotation = np.linalg.qr(rng.standard_normal((8, 8)))[0]

    def fit(start, X, w=None):
        model = MODELS[name]().set_params(init=start, max_iter=30, tol=0)
        if name in ("EC", "OLSDA"):
            model.set_params(variance=None, n_components=5)
        return model.fit(X, sample_weight=w)

    plain = fit(labels, X)
    moved = fit(labels[order], X[order] @ rotation + 5)
    assert moved.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    weighted, repeated = fit(labels, X, weights), fit(labels[repeat], X[repeat])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)


def test_theorem_of_the_slides(digits):
    """With the labels fixed, OLSDA's value is the k-means value of the projected data."""
    X, y = digits.data, digits.target
    projection = DiscriminantProjection("olsda", n_components=12, variance=0.95).fit(X, y)
    _, within = scatter(X - X.mean(axis=0), y, 10)
    value = np.trace(projection.components_ @ within @ projection.components_.T)
    Y = projection.transform(X)
    centers = np.array([Y[y == k].mean(axis=0) for k in range(10)])
    assert value == pytest.approx(np.sum((Y - centers[y]) ** 2))


# -- outliers -----------------------------------------------------------------------------------------------------


def planted(X, rng):
    """Five per cent of the rows moved by five times the RMS radius in random directions."""
    rows = rng.permutation(len(X))[: round(0.05 * len(X))]
    directions = rng.standard_normal((rows.size, X.shape[1]))
    radius = np.sqrt(np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1)))
    X = X.copy()
    X[rows] += 5 * radius * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return X, rows


def outlier_sets(seed):
    yield jc.datasets.mixture(500, 20, 4, separation=6, n_nuisance=3, nuisance_scale=3, random_state=seed)
    yield jc.datasets.mixture(1000, 64, 8, separation=6, n_nuisance=5, nuisance_scale=3, random_state=seed)
    yield jc.datasets.mixture(600, 40, 5, separation=8, n_nuisance=0, random_state=seed)
    for name in ("iris", "digits"):
        data = jc.datasets.load(name)
        yield data.data, data.target


@quiet
def test_planted_outliers_are_found_and_do_not_pull():
    result, drops = [], []
    for seed in range(2):
        for X, y in outlier_sets(seed):
            c = np.unique(y).size
            spoiled, rows = planted(X, np.random.RandomState(seed))
            clean = np.setdiff1d(np.arange(len(X)), rows)
            robust = RobustEmbeddedClustering(c, random_state=seed)
            models = [
                robust,
                RobustEmbeddedClustering(c, robust=False, random_state=seed),
                KMeans(c, random_state=seed),
            ]
            drop = []
            for model in models:
                before = clustering_accuracy(y[clean], model.fit(X).labels_[clean])
                drop.append(before - clustering_accuracy(y[clean], model.fit(spoiled).labels_[clean]))
            lowest = np.argsort(robust.fit(spoiled).sample_weights_)[: len(X) // 10]
            result.append(np.isin(rows, lowest).mean())
            drops.append(drop)
    assert np.mean(result) >= 0.95
    robust, plain, kmeans = np.mean(drops, axis=0)
    assert robust < plain
    assert robust < kmeans


@quiet
@pytest.mark.parametrize("robust", [True, False])
def test_a_heavy_row_or_a_far_cluster_does_not_spoil_the_projection(rng, robust):
    """Rows on their centroid weigh a million times more, and a far cluster dwarfs S_w: ties must not see them."""
    y = np.arange(120) % 4
    for far in (0.0, 1e4):
        X = rng.standard_normal((120, 10)) + 3 * rng.standard_normal((4, 10))[y]
        X[y == 0] = X[0] + far
        coordinates = jc.decompose(X)
        model = RobustEmbeddedClustering(
            4, robust=robust, n_components=6, variance=None, init=y, tol=1e-14, max_iter=3000
        ).fit(coordinates)
        _, objective = naive_robust(coordinates.scores, y, 4, 6, model.residual_floor_, robust)
        assert model.objective_ == pytest.approx(objective, rel=1e-8)
        assert np.all(np.diff(model.objective_history_) <= 1e-10 * model.objective_history_[0])


@quiet
@pytest.mark.parametrize("dominant", [0.5, 0.85])
def test_small_far_clusters_are_no_outliers(dominant):
    rng = np.random.RandomState(0)
    n, centers = 600, np.vstack([np.zeros(12), 10 * np.linalg.qr(rng.standard_normal((12, 6)))[0].T])
    y = np.where(rng.uniform(size=n) < dominant, 0, rng.randint(1, 7, size=n))
    X = centers[y] + 0.3 * rng.standard_normal((n, 12))
    for model in (RobustEmbeddedClustering(7, n_init=3, random_state=0), RobustKMeans(7, n_init=3, random_state=0)):
        assert clustering_accuracy(y, model.fit(X).labels_) > 0.99


@quiet
@pytest.mark.parametrize("at_mean", [5, 100])
def test_rows_at_the_mean_count(at_mean):
    X = np.vstack([np.zeros((at_mean, 2)), np.repeat([[9.0, 0], [-9, 0], [0, 9], [0, -9]], 10, axis=0)])
    y = np.repeat(np.arange(5), [at_mean, 10, 10, 10, 10])
    assert clustering_accuracy(y, RobustKMeans(5, random_state=0).fit(X).labels_) == 1


# -- what the user is told ----------------------------------------------------------------------------------------


def test_collapse_is_said(rng):
    X = rng.standard_normal((60, 200)) + rng.standard_normal((6, 200))[np.arange(60) % 6]
    with pytest.warns(jc.CollapseWarning, match="variance=0.9"):
        RobustEmbeddedClustering(6, variance=None, n_components=4, random_state=0).fit(X)


def test_nothing_to_drop_is_said(iris):
    with pytest.warns(jc.PlainKMeansWarning, match="robust k-means"):
        RobustEmbeddedClustering(3, n_components=4, variance=None, random_state=0).fit(iris.data)


def test_a_row_on_its_centroid_has_a_finite_weight():
    X = np.repeat(np.eye(3) * 5, 10, axis=0)
    X[0] += 1
    with pytest.warns(jc.PlainKMeansWarning):
        model = RobustEmbeddedClustering(3, variance=None, n_components=3, random_state=0).fit(X)
    assert np.isfinite(model.sample_weights_).all()
    assert model.sample_weights_.argmin() == 0


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_zeros():
    for model in (RobustEmbeddedClustering(3, random_state=0), RobustKMeans(3, random_state=0)):
        with pytest.warns(jc.CollapseWarning, match="All rows of X are equal"):
            model.fit(np.zeros((50, 6)))


@quiet
def test_robust_kmeans_beyond_the_exact_limit(monkeypatch):
    """The decomposition only gives the start: the steps see all of the space."""
    monkeypatch.setattr(decomposition, "EXACT_LIMIT", 20)
    X, _ = jc.datasets.mixture(200, 60, 3, random_state=0)
    model = RobustKMeans(3, max_rank=5, random_state=0).fit(X)
    assert not model.exact_
    assert np.all(np.diff(model.objective_history_) <= 0)
    assert model.objective_ == pytest.approx(loss(model, X))


@quiet
def test_robust_kmeans_stops_at_max_iter(digits):
    one, many = (RobustKMeans(8, max_iter=m, random_state=0).fit(digits.data) for m in (1, 100))
    assert one.n_iter_ == 1
    assert one.objective_ > many.objective_
    np.testing.assert_array_equal(one.labels_, one.predict(digits.data))


def test_full_space_and_principal_components(iris):
    model = RobustKMeans(3, n_components=2, random_state=0).fit(iris.data)
    assert model.components_.shape == (2, 4)
    assert not hasattr(model.set_params(n_components=None).fit(iris.data), "components_")
    with pytest.raises(TypeError, match="set n_components"):
        model.fit(jc.decompose(sp.csr_array(iris.data)))


def test_collapse_of_robust_kmeans_names_its_own_remedy(rng):
    with pytest.warns(jc.CollapseWarning, match="Lower n_clusters"):
        RobustKMeans(10, random_state=0).fit(rng.standard_normal((50, 2000)))


# -- the supervised parents ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("criterion", "trade_off"), [("ocm", 1), ("mmc", 2), ("olsda", np.inf)])
def test_projections_optimise_their_criterion(digits, criterion, trade_off):
    coordinates = jc.decompose(digits.data, variance=0.99)
    model = DiscriminantProjection(criterion, n_components=5, variance=0.99).fit(digits.data, digits.target)
    total, within = scatter(coordinates.scores, digits.target, 10)
    matrix = -within if np.isinf(trade_off) else total - trade_off * within
    best = np.linalg.eigvalsh(matrix)[::-1][:5].sum()
    W = coordinates.loadings(np.eye(coordinates.rank)).T @ model.components_.T
    assert np.trace(W.T @ matrix @ W) == pytest.approx(best, rel=1e-6)


def test_lda_is_scikit_learns(iris):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    ours = DiscriminantProjection("lda", ridge=1e-9).fit(iris.data, iris.target).transform(iris.data)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(iris.data, iris.target).transform(iris.data)
    for k in range(2):
        assert abs(np.corrcoef(ours[:, k], theirs[:, k])[0, 1]) > 1 - 1e-8


def test_projection_takes_any_classes(iris):
    names = np.array(["setosa", "versicolor", "virginica"])[iris.target]
    model = DiscriminantProjection().fit(iris.data, names)
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    assert model.transform(iris.data).shape == (150, 2)


@pytest.mark.slow
@quiet
@pytest.mark.parametrize(
    ("name", "gain"), [("orl", 0.06), ("isolet5", 0.06), ("umist", 0.03), ("coil20", -0.02), ("yale", -0.02)]
)
def test_against_kmeans_on_real_data(real_data, name, gain):
    data = real_data(name)
    c = data.n_classes
    coordinates = jc.decompose(data.data)
    ours = [RobustEmbeddedClustering(c, random_state=s).fit(coordinates).labels_ for s in range(10)]
    theirs = [KMeans(c, n_init=10, random_state=s).fit(data.data).labels_ for s in range(10)]
    accuracy = [np.mean([clustering_accuracy(data.target, one) for one in each]) for each in (ours, theirs)]
    assert accuracy[0] - accuracy[1] >= gain


@pytest.mark.slow
def test_collapse_on_orl_is_said(real_data):
    with pytest.warns(jc.CollapseWarning, match="variance=0.9"):
        RobustEmbeddedClustering(40, variance=None, n_components=20, random_state=0).fit(real_data("orl").data)
