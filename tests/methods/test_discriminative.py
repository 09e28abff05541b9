import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

import jointclust as jc
from jointclust import DiscriminativeEmbeddedClustering as DEC
from jointclust.metrics import clustering_accuracy
from naive import dec as naive_dec

TRADE_OFFS = [0, 0.5, 1, 1.5, 3, 10, np.inf]
quiet = pytest.mark.filterwarnings(
    "ignore::jointclust.PlainKMeansWarning",
    "ignore::jointclust.CollapseWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
)


def clustrd(model, X):
    """R clustrd's criterion, from the DEC objective."""
    if np.isinf(model._lambda):
        return -model.objective_
    return (np.sum((X - X.mean(axis=0)) ** 2) - model.objective_) / (1 + model._lambda)


# -- identities ---------------------------------------------------------------------------------------------------


def test_zero_is_pca_then_kmeans(digits):
    X = digits.data
    model = DEC(10, trade_off=0, n_init=5, random_state=0).fit(X)
    pca = PCA(9, svd_solver="full").fit(X)
    assert model.objective_ == pytest.approx(len(X) * pca.explained_variance_.sum() * (len(X) - 1) / len(X))
    assert np.linalg.svd(model.components_ @ pca.components_.T)[1].min() > 1 - 1e-10
    within = np.sum((model.transform(X) - model.cluster_centers_[model.labels_]) ** 2)
    best = min(KMeans(10, n_init=10, random_state=s).fit(pca.transform(X)).inertia_ for s in range(3))
    assert within < best * 1.001
    # k-means itself, continued from our centers, moves nothing
    again = KMeans(10, init=model.cluster_centers_, n_init=1, tol=0).fit(model.transform(X))
    np.testing.assert_array_equal(again.labels_, model.labels_)


@quiet
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_one_is_plain_kmeans(name):
    data = jc.datasets.load(name)
    X = data.data
    model = DEC(3, n_components=2, trade_off="ocm", n_init=20, random_state=0).fit(X)
    best = min(KMeans(3, n_init=20, random_state=s).fit(X).inertia_ for s in range(3))
    assert np.sum((X - X.mean(axis=0)) ** 2) - model.objective_ <= best * (1 + 1e-9)
    if name == "iris":
        assert best == pytest.approx(78.85144, abs=1e-4)


@quiet
@pytest.mark.parametrize(("trade_off", "optimum"), [(1, 39.425721), (2, 42.770527), (9, 35.888104), (np.inf, 5.196998)])
def test_reaches_the_best_known_value_of_clustrd(iris, trade_off, optimum):
    model = DEC(3, n_components=2, trade_off=trade_off, n_init=100, random_state=0).fit(iris.data)
    assert clustrd(model, iris.data) <= optimum + 1e-4


@quiet
@pytest.mark.parametrize("trade_off", [2, np.inf])
def test_whole_space_is_plain_kmeans(iris, trade_off):
    model = DEC(3, n_components=4, trade_off=trade_off, n_init=10, random_state=0).fit(iris.data)
    within = np.sum((model.transform(iris.data) - model.cluster_centers_[model.labels_]) ** 2)
    assert within == pytest.approx(78.85144, abs=1e-4)


@pytest.mark.parametrize(("name", "value"), [("pca", 0), ("ocm", 1), ("mmc", 2), ("olsda", np.inf)])
@quiet
def test_names_are_values(iris, name, value):
    by_name = DEC(3, trade_off=name, random_state=0).fit(iris.data)
    by_value = DEC(3, trade_off=value, random_state=0).fit(iris.data)
    assert by_name.objective_ == by_value.objective_
    np.testing.assert_array_equal(by_name.labels_, by_value.labels_)


@pytest.mark.parametrize("trade_off", [5, 8])
@pytest.mark.parametrize("seed", range(20))
def test_toy_of_the_paper(seed, trade_off):
    X, y = jc.datasets.two_gaussians(1000, random_state=seed)
    model = DEC(2, n_components=1, trade_off=trade_off, n_init=10, random_state=seed).fit(X)
    assert clustering_accuracy(y, model.labels_) >= 0.99


# -- what holds for every fit -------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("trade_off", TRADE_OFFS)
@pytest.mark.parametrize("update_rule", ["comparison", "fixed", "minimization"])
@pytest.mark.parametrize("name", ["digits", "mixture"])
def test_fitted_model_is_consistent(name, update_rule, trade_off):
    X = jc.datasets.load(name).data[:600]
    model = DEC(5, n_components=3, trade_off=trade_off, update_rule=update_rule, variance=0.99, random_state=0)
    history = model.fit(X).objective_history_
    if update_rule != "minimization":
        assert np.all(np.diff(history) >= -1e-9 * np.abs(history).max())
    assert len(history) == model.n_iter_
    assert model.objective_ == history.max()
    assert np.abs(model.components_ @ model.components_.T - np.eye(3)).max() < 1e-10
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    Y = model.transform(X)
    scale = np.sum((X - X.mean(axis=0)) ** 2)
    assert model.score(X) == pytest.approx(model.objective_, abs=1e-9 * scale * min(trade_off + 1, 100))
    centers = np.array([Y[model.labels_ == k].mean(axis=0) for k in range(5)])
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=1e-9 * np.sqrt(scale))
    assert np.all(np.diff(np.bincount(model.labels_)) <= 0), "clusters are numbered by size"


@quiet
@pytest.mark.parametrize("trade_off", [0.5, 1, 1.5, 4, 20, np.inf])
@pytest.mark.parametrize(("n", "D"), [(200, 30), (60, 100), (500, 290)])
def test_agrees_with_the_textbook(n, D, trade_off):
    rng = np.random.RandomState(n + D)
    X = rng.standard_normal((n, D)) * np.linspace(1, 0.2, D) + 3 * rng.standard_normal((4, D))[np.arange(n) % 4]
    labels = np.where(rng.uniform(size=n) < 0.6, np.arange(n) % 4, rng.randint(4, size=n))
    coordinates = jc.decompose(X, variance=0.95)
    model = DEC(4, n_components=3, trade_off=trade_off, update_rule="fixed", init=labels, tol=0).fit(coordinates)
    result, objective = naive_dec(coordinates.scores, labels, 4, 3, trade_off)
    assert clustering_accuracy(result, model.labels_) == 1
    assert model.objective_ == pytest.approx(objective, rel=1e-8)


@quiet
def test_comparison_is_at_least_as_good_as_fixed(digits):
    def mean_objective(rule):
        runs = [DEC(10, trade_off=2, update_rule=rule, random_state=s).fit(digits.data) for s in range(5)]
        return np.mean([run.objective_ for run in runs])

    assert mean_objective("comparison") >= mean_objective("fixed")


@quiet
def test_more_runs_never_hurt(digits):
    objectives = [DEC(10, trade_off=3, n_init=n, random_state=0).fit(digits.data).objective_ for n in (1, 4, 8)]
    assert objectives == sorted(objectives)


@quiet
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_jobs_change_nothing(digits, n_jobs):
    one = DEC(10, trade_off=3, n_init=4, random_state=0).fit(digits.data)
    many = DEC(10, trade_off=3, n_init=4, random_state=0, n_jobs=n_jobs).fit(digits.data)
    assert one.objective_ == pytest.approx(many.objective_, rel=1e-9)
    np.testing.assert_array_equal(one.labels_, many.labels_)


@quiet
def test_two_fits_with_one_seed_are_equal(digits):
    a, b = (DEC(10, trade_off=3, random_state=5).fit(digits.data) for _ in range(2))
    assert a.objective_ == b.objective_
    np.testing.assert_array_equal(a.components_, b.components_)


# -- invariance ---------------------------------------------------------------------------------------------------


def random_problem(seed, n=80, D=8):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, D)) * rng.uniform(0.5, 2, D) + 2 * rng.standard_normal((3, D))[np.arange(n) % 3]
    return X, rng.permutation(np.arange(n) % 3).astype(int), rng


def fixed(labels, trade_off, **more):
    return DEC(3, n_components=2, trade_off=trade_off, update_rule="fixed", init=labels, tol=0, **more)


seeds = st.integers(0, 10_000)
trade_offs = st.sampled_from([0.0, 0.5, 1.0, 1.5, 3.0, 20.0, np.inf])


@quiet
@given(seeds, trade_offs)
@settings(max_examples=40, deadline=None)
def test_rotation_shift_and_order(seed, trade_off):
    X, labels, rng = random_problem(seed)
    plain = fixed(labels, trade_off).fit(X)
    rotation = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    shift = 10 * rng.standard_normal(8)
    order = rng.permutation(len(X))
    moved = fixed(labels[order], trade_off).fit(X[order] @ rotation + shift)
    assert moved.objective_ == pytest.approx(plain.objective_, rel=1e-8, abs=1e-9 * np.sum(X**2))
    np.testing.assert_array_equal(moved.labels_, plain.labels_[order])
    cosines = np.linalg.svd(moved.components_ @ rotation.T @ plain.components_.T)[1]
    assert cosines.min() > 1 - 1e-6


@quiet
@given(seeds, trade_offs)
@settings(max_examples=40, deadline=None)
def test_weights_are_repetitions(seed, trade_off):
    X, labels, rng = random_problem(seed)
    weights = rng.randint(0, 4, size=len(X))
    weights[:3] = 1
    labels[:3] = [0, 1, 2]
    weighted = fixed(labels, trade_off).fit(X, sample_weight=weights)
    repeated = fixed(np.repeat(labels, weights), trade_off).fit(np.repeat(X, weights, axis=0))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8, abs=1e-9 * np.sum(X**2))
    np.testing.assert_allclose(weighted.mean_, repeated.mean_, atol=1e-12)
    np.testing.assert_array_equal(np.repeat(weighted.labels_, weights), repeated.labels_)


@quiet
@given(seeds, st.floats(1e-3, 1e3))
@settings(max_examples=20, deadline=None)
def test_scale(seed, factor):
    X, labels, _ = random_problem(seed)
    plain, scaled = fixed(labels, 2.0).fit(X), fixed(labels, 2.0).fit(factor * X)
    assert scaled.objective_ == pytest.approx(factor**2 * plain.objective_, rel=1e-8, abs=1e-9 * np.sum(X**2))
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)


@quiet
def test_random_starts_do_not_depend_on_row_order(digits, rng):
    X = digits.data[:500]
    order = rng.permutation(500)
    a, b = DEC(10, trade_off=2, random_state=0).fit(X), DEC(10, trade_off=2, random_state=0).fit(X[order])
    assert a.objective_ == pytest.approx(b.objective_)
    np.testing.assert_array_equal(a.labels_[order], b.labels_)


# -- what the user is told ----------------------------------------------------------------------------------------


def test_plain_kmeans_is_said(iris):
    with pytest.warns(jc.PlainKMeansWarning, match="trade_off=1 and n_components=2 >= n_clusters - 1"):
        DEC(3, trade_off=1, random_state=0).fit(iris.data)
    with pytest.warns(jc.PlainKMeansWarning, match="n_components=4 is the rank"):
        DEC(3, n_components=4, trade_off=2, random_state=0).fit(iris.data)


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_when_there_is_nothing_to_say(digits):
    DEC(10, random_state=0).fit(digits.data)
    DEC(10, n_components=4, trade_off=1, random_state=0).fit(digits.data)


def test_too_many_components_are_said(rng):
    X = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 10))
    with (
        pytest.warns(jc.PlainKMeansWarning),
        pytest.warns(jc.CollapseWarning, match=r"n_components=5 exceeds the rank of the data \(3\)"),
    ):
        model = DEC(3, n_components=5, trade_off=2, random_state=0).fit(X)
    assert model.components_.shape == (3, 10)
    assert model.rank_ == 3


@pytest.mark.parametrize("trade_off", [100, np.inf])
def test_null_space_of_within_scatter_is_said(rng, trade_off):
    X = rng.standard_normal((40, 200))  # more features than rows: any labels fit
    with pytest.warns(jc.CollapseWarning, match="variance=0.9"):
        DEC(4, trade_off=trade_off, random_state=0).fit(X)


def test_a_vacuous_result_is_said_even_when_some_labels_moved(rng):
    """At a large trade-off random labels survive, though the run itself has moved a few rows."""
    X = rng.standard_normal((150, 600)) + 1.5 * rng.standard_normal((10, 600))[np.arange(150) % 10]
    with pytest.warns(jc.CollapseWarning, match="hardly more than those it started from"):
        DEC(10, trade_off=20, random_state=0).fit(X)


@pytest.mark.filterwarnings("error::jointclust.CollapseWarning")
def test_one_cluster_is_no_collapse(iris):
    with pytest.warns(jc.PlainKMeansWarning):
        DEC(1, trade_off=1, random_state=0).fit(iris.data)


@quiet
@pytest.mark.parametrize("trade_off", [0.5, 1.5, 5])
def test_repairing_an_empty_cluster_respects_weights(trade_off, rng):
    X, weights = rng.standard_normal((30, 3)), rng.randint(1, 4, size=30)
    labels, repeat = rng.randint(2, size=30), np.repeat(np.arange(30), weights)  # three of five clusters are empty

    def fit(start, X, w):
        model = DEC(5, n_components=2, trade_off=trade_off, update_rule="fixed", init=start)
        return model.fit(X, sample_weight=w)

    weighted, repeated = fit(labels, X, weights), fit(labels[repeat], X[repeat], None)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    np.testing.assert_array_equal(weighted.labels_[repeat], repeated.labels_)


@quiet
def test_warnings_point_at_the_users_line(iris):
    for method in ("fit", "fit_predict", "fit_transform"):
        with pytest.warns(jc.PlainKMeansWarning) as caught:
            getattr(DEC(3, trade_off=1, random_state=0), method)(iris.data)
        assert caught[0].filename == __file__


@quiet
@pytest.mark.parametrize("trade_off", [1e12, 1e99, 1e308])
def test_huge_trade_offs_are_the_limit(iris, trade_off):
    model = DEC(3, trade_off=trade_off, update_rule="fixed", init=iris.target).fit(iris.data)
    limit = DEC(3, trade_off=np.inf, update_rule="fixed", init=iris.target).fit(iris.data)
    np.testing.assert_array_equal(model.labels_, limit.labels_)


def test_real_clusters_that_never_move_are_no_collapse(blobs):
    X, y = blobs
    with pytest.warns() as caught:
        model = DEC(4, trade_off=1, random_state=0).fit(X)
    assert not [w for w in caught if issubclass(w.category, jc.CollapseWarning)]
    assert clustering_accuracy(y, model.labels_) == 1


def test_max_iter_is_said(digits):
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model = DEC(10, trade_off=3, update_rule="fixed", max_iter=1, random_state=0).fit(digits.data)
    assert not model.converged_
    assert model.n_iter_ == 1


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_constant_data_are_said(value):
    X = np.full((20, 5), value)
    with pytest.warns(jc.CollapseWarning, match="All rows of X are equal"):
        model = DEC(3, random_state=0).fit(X)
    assert set(model.labels_) == {0}
    assert model.objective_ == pytest.approx(0)


def test_fewer_distinct_rows_than_clusters_are_said(rng):
    X = np.repeat(rng.standard_normal((3, 6)), 10, axis=0)
    with pytest.warns(jc.CollapseWarning, match="3 clusters were found instead of n_clusters=5"):
        model = DEC(5, n_components=1, random_state=0).fit(X)
    assert set(model.labels_) == {0, 1, 2}
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.predict(X.mean(axis=0, keepdims=True) + rng.standard_normal((200, 6))).max() < 3


@quiet
def test_given_labels_make_one_run(iris):
    with pytest.warns(RuntimeWarning, match="n_init=3"):
        DEC(3, init=iris.target, n_init=3, random_state=0).fit(iris.data)


# -- start, coordinates, output -----------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("init", ["pca", "k-means++", "random"])
def test_starts(blobs, init):
    X, y = blobs
    model = DEC(4, trade_off=2, init=init, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) == 1


@quiet
def test_fit_from_coordinates(digits):
    coordinates = jc.decompose(digits.data)
    shared = DEC(10, trade_off=2, variance=0.9, random_state=0).fit(coordinates)
    direct = DEC(10, trade_off=2, variance=0.9, random_state=0).fit(digits.data)
    np.testing.assert_array_equal(shared.labels_, direct.labels_)
    np.testing.assert_allclose(shared.components_, direct.components_, atol=1e-8)
    assert shared.rank_ == direct.rank_ < 64
    assert shared.variance_kept_ >= 0.9
    with pytest.raises(ValueError, match="sample_weight belongs to the coordinates"):
        shared.fit(coordinates, sample_weight=np.ones(len(digits.data)))


@quiet
def test_coordinates_carry_feature_names(iris):
    frame = pd.DataFrame(iris.data, columns=iris.feature_names)
    model = DEC(3, random_state=0).fit(jc.decompose(frame))
    assert list(model.feature_names_in_) == list(iris.feature_names)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    model.fit(jc.decompose(iris.data))
    assert not hasattr(model, "feature_names_in_")


@quiet
def test_inverse_transform_projects(digits):
    model = DEC(10, trade_off=2, random_state=0).fit(digits.data)
    back = model.inverse_transform(model.transform(digits.data))
    np.testing.assert_allclose(model.transform(back), model.transform(digits.data), atol=1e-10)
    assert model.inverse_transform(model.cluster_centers_).shape == (10, 64)


@quiet
def test_n_components_default_is_what_the_data_allow(iris):
    assert DEC(8, random_state=0).fit(iris.data).components_.shape == (4, 4)
    assert DEC(3, random_state=0).fit(iris.data).components_.shape == (2, 4)
    assert DEC(1, random_state=0).fit(iris.data).components_.shape == (1, 4)


@pytest.mark.slow
@quiet
def test_isolet(real_data):
    data = real_data("isolet5")
    coordinates = jc.decompose(data.data)
    ours = [DEC(26, n_components=25, trade_off=4, random_state=s).fit(coordinates).labels_ for s in range(10)]
    theirs = [KMeans(26, n_init=10, random_state=s).fit(data.data).labels_ for s in range(10)]
    gain = np.mean([clustering_accuracy(data.target, a) for a in ours]) - np.mean(
        [clustering_accuracy(data.target, b) for b in theirs]
    )
    assert gain >= 0.03


def many_clusters():
    """Sixty clusters, the directions between them under nuisance of more variance."""
    return jc.datasets.mixture(3000, 72, 60, separation=12, n_nuisance=8, random_state=0)


@pytest.mark.parametrize("seed", range(2))
def test_many_clusters_have_a_subspace_a_monotone_objective_and_an_end(seed):
    X, y = many_clusters()
    model = DEC(60, random_state=seed).fit(X)
    assert 50 <= model.components_.shape[0] < 59 < model.rank_
    assert model.converged_
    history = model.objective_history_
    assert np.all(np.diff(history) >= -1e-9 * np.abs(history[1:]))
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    plain = KMeans(60, n_init=1, random_state=seed).fit(X)
    assert clustering_accuracy(y, model.labels_) > clustering_accuracy(y, plain.labels_)
