"""What the papers print, the budget of starts, and two statements shown by numbers."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans, SpectralClustering

import jointclust as jc
from jointclust.estimators import embedding_first
from jointclust.exceptions import collected
from jointclust.experiments.papers import _dec, _ec, _lab, _leaderboard, _odc, _rurr, _theory
from jointclust.experiments.papers import _textbook as book
from jointclust.methods import discriminative
from jointclust.numerics import kmeans as numerics
from jointclust.subspace import starts

LAB = _lab.Lab()


@pytest.fixture(scope="module")
def data():
    return jc.datasets.mixture(200, 20, 4, n_nuisance=3, random_state=0)


def test_textbook_loop_finds_the_toy():
    X, y = jc.datasets.two_gaussians(random_state=0)
    found = max(
        jc.metrics.clustering_accuracy(
            y, book.TextbookDEC(2, n_components=1, trade_off=5.0, random_state=s).fit(X).labels_
        )
        for s in range(5)
    )
    assert found > 0.99


# -- the budget -------------------------------------------------------------------------------------------------


def every_method():
    family = {name: (model, {}) for name, model in _dec.FAMILY.items()}
    papers = {"dec": family, "ec": _ec.methods(LAB), "odc": _odc.methods(LAB), "rurr": _rurr.methods(LAB)}
    for paper, methods in papers.items():
        for name, given in methods.items():
            if not name.endswith(_lab.OTHERWISE):
                yield pytest.param(given[0] if isinstance(given, tuple) else given, id=f"{paper} {name}")
    yield pytest.param(book.RuledDEC(update_rule="fixed"), id="dec fixed")


@pytest.fixture
def heard(monkeypatch):
    """What a fit asks for: starts of each k-means in turn, those of them that runs begin with, and how runs begin."""
    found = {"all": [], "first": [], "begun": []}

    def listening(original, *lists):
        def kmeans(*args, n_restarts=10, **options):
            for name in lists:
                found[name].append(n_restarts)
            return original(*args, n_restarts=n_restarts, **options)

        return kmeans

    original = starts.start_labels

    def start_labels(*args):
        found["begun"].append(args[0])
        return original(*args)

    for module in (starts, embedding_first, discriminative):
        lists = ("all", "first") if module is starts else ("all",)
        monkeypatch.setattr(module, "kmeans", listening(module.kmeans, *lists))
    for module in (starts, book, jc.estimators.joint, jc.methods.fuzzy):
        monkeypatch.setattr(module, "start_labels", start_labels)
    return found


@pytest.mark.parametrize("estimator", list(every_method()))
def test_every_method_of_an_item_has_the_same_starts(estimator, data, heard, monkeypatch):
    """Read off the fit: how many starts its first k-means has, and that it begins with one such k-means."""
    if isinstance(estimator, KMeans | SpectralClustering):
        assert estimator.n_init == _lab.STARTS
        return
    with collected():
        estimator.set_params(n_clusters=4, random_state=0).fit(data[0])
    # RSFKM has one more, for its scale.
    most = 2 if isinstance(estimator, book.RSFKMFromTen) else 1
    assert len(heard["begun"]) <= most
    assert set(heard["all"][:most]) == {_lab.STARTS}


@pytest.mark.parametrize(
    "estimator", [_dec.FAMILY["OCMKM"], book.ECFromTen(variance=None), book.RidgeFromTen(), _odc.methods(LAB)["ODC"][0]]
)
def test_many_clusters_have_the_fewer_starts_that_the_note_says(estimator, monkeypatch):
    drawn, original = [], numerics.oversampled

    def oversampled(Y, n_clusters, n_sets, *args):
        drawn.append(n_sets)
        return original(Y, n_clusters, n_sets, *args)

    monkeypatch.setattr(numerics, "oversampled", oversampled)
    X, _ = jc.datasets.mixture(240, 70, 60, n_nuisance=3, random_state=0)
    with collected():
        clone(estimator).set_params(n_clusters=60, random_state=0).fit(X)
    assert drawn[0] == 500 // 60 == 8
    assert "Beyond 50 clusters they are fewer, 500 / c (5 for 100)" in _lab.ONE_BUDGET


@pytest.mark.parametrize("setting", list(_dec.TOY_STARTS))
def test_starts_of_the_toy_are_as_said(setting, heard):
    """Settings of a few iterations begin with one k-means, the default with ten, ten runs with seven times ten."""
    methods, n_starts = _dec.toy_methods(), _dec.TOY_STARTS[setting]
    assert methods["K-means" if n_starts == 1 else f"K-means, {n_starts} starts"].n_init == n_starts
    estimator, grid = methods[setting]
    given = {name: value for name, (value,) in grid.items()}
    with collected():
        clone(estimator).set_params(n_clusters=2, random_state=0, **given).fit(jc.datasets.two_gaussians(50)[0])
    assert sum(heard["first"]) == (70 if n_starts == 100 else n_starts)
    assert heard["begun"].count("partition") == (3 if n_starts == 100 else 0)
    assert (heard["all"] == [1]) == (n_starts == 1)  # nearest centroids draw nothing more


def test_notes_say_the_budget():
    assert book._STARTS == _lab.STARTS
    assert str(_lab.STARTS) in _lab.ONE_BUDGET
    assert all(words in _lab.ONE_BUDGET for words in _lab.OTHERWISE)
    for notes in (_dec.NOTES, _ec.NOTES, _odc.NOTES, _rurr.NOTES):
        assert _lab.ONE_BUDGET in notes
    assert _leaderboard.methods()["prepared k-means"].n_init == _lab.STARTS


def test_methods_of_figure3_keep_all_directions():
    """None reduces the rows by itself: their preparation is that of the panel."""
    assert all(model.variance is None for model in _dec.FAMILY.values())
    assert all(
        given[0].variance is None for name, given in _ec.methods(LAB).items() if name.startswith(("EC", "OLSDA"))
    )


def test_toys_have_at_least_as_many_dimensions_as_clusters():
    for name, (c, d) in _rurr.TOYS.items():
        X, y = _rurr.gaussians(name, 0)
        assert d >= c
        assert X.shape == (len(y), d)
        assert np.unique(y).size == c
        assert np.linalg.matrix_rank(X) >= c


# -- as printed -------------------------------------------------------------------------------------------------


def test_rules_share_a_start(data):
    """After one step of "fixed" and of the printed "comparison", which draws in vain, nothing tells them apart."""
    given = {"n_components": 2, "trade_off": 2.0, "random_state": 0}
    fixed = book.RuledDEC(4, update_rule="fixed", **given).fit(data[0])
    letter = book.RuledDEC(4, reading="as printed", **given).fit(data[0])
    np.testing.assert_array_equal(fixed.objective_history_, letter.objective_history_)
    np.testing.assert_array_equal(fixed.labels_, letter.labels_)
    histories = [
        book.RuledDEC(4, update_rule=rule, reading=reading, **given).fit(data[0]).objective_history_
        for rule in ("comparison", "fixed")
        for reading in ("ours", "as printed", "restarts")
    ]
    for history in histories:
        assert np.all(np.diff(history) >= -1e-9 * np.abs(history[:-1]))


def test_minimization_as_printed_takes_random_labels_whatever_they_cost(data):
    given = {"n_components": 2, "trade_off": 2.0, "random_state": 0, "update_rule": "minimization"}
    with collected():
        letter = book.RuledDEC(4, reading="as printed", **given).fit(data[0])
        restarts = book.RuledDEC(4, reading="restarts", **given).fit(data[0])
    assert letter.objective_history_.max() < restarts.objective_history_.min()


def test_alpha_is_found_or_kept_as_given(data):
    given = {"ridge": 1.0, "max_iter": 1, "init": np.arange(200) % 4, "random_state": 0}

    def scale(rescale):
        with collected():
            return jc.UncorrelatedRidgeClustering(4, rescale=rescale, **given).fit(data[0]).scale_

    assert scale(0.3) == 0.3
    assert scale(False) == scale(np.False_) == scale(1.0) == 1.0
    assert scale(True) == scale(np.True_) not in (0.3, 1.0)


# -- statements -------------------------------------------------------------------------------------------------


def test_trivial_solution_costs_nothing_and_no_other_less(data):
    X, y = data
    one = np.eye(4)
    assert _theory.ridge_objective(X, np.zeros((20, 4)), one[0], one[np.zeros(200, dtype=int)], 3.0) == 0
    W, e = _theory.regressed(X, one[y], 3.0)
    least = _theory.ridge_objective(X, W, e, one[y], 3.0)
    assert least > 0
    rng = np.random.RandomState(0)
    for _ in range(20):
        other = W + 1e-3 * rng.standard_normal(W.shape), e + 1e-3 * rng.standard_normal(4)
        assert _theory.ridge_objective(X, *other, one[y], 3.0) > least
    _, end = _theory.alternated(X, y, 4, 3.0)
    assert end <= least


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_theorem3_discriminative_clustering_is_spectral(kernel):
    X = _lab.standardised(jc.datasets.load("iris").data)[:60]
    features = _theory.kernel_features(X, kernel)
    features = features - features.mean(axis=0)
    values, vectors = np.linalg.eigh(features @ features.T)
    ridge = float(values[-1])
    Y, value = _theory.relaxed_solution(features, 2, ridge, np.random.RandomState(1))
    assert _theory.angle(Y, vectors[:, -2:]) < 1e-6
    assert value == pytest.approx(np.sum(values[-2:] / (values[-2:] + ridge)))
    np.testing.assert_allclose(Y.sum(axis=0), 0, atol=1e-8)


def test_theorem3_without_a_ridge_ends_within_the_range_of_the_kernel():
    """Random scores are partly outside of it, and have less than the largest value, 2."""
    X = _lab.standardised(jc.datasets.load("iris").data)[:60]
    left, singular, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    C = (left * singular**2) @ left.T
    start = np.linalg.qr(np.random.RandomState(1).standard_normal((60, 2)))[0]
    Y, value = _theory.relaxed_solution(left * singular, 2, 0.0, np.random.RandomState(1))
    for scores in (start, Y):
        naive = np.trace(scores.T @ C @ np.linalg.pinv(C, rcond=1e-10, hermitian=True) @ scores)
        assert _theory.within(scores, left) == pytest.approx(naive)
    assert _theory.within(start, left) < 1.5
    assert _theory.within(Y, left) == pytest.approx(value) == pytest.approx(2)


@pytest.mark.parametrize("item", [_theory.equation3, _theory.theorem3])
def test_demonstrations_hold(item, monkeypatch):
    monkeypatch.setattr(_theory, "SETS", ("iris",))
    found = item(LAB)
    assert [claim.verdict for claim in found.claims] == ["holds", "holds"]
