"""What the papers print, and the budget of starts."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans, SpectralClustering

import jointclust as jc
from jointclust import registry
from jointclust.estimators import embedding_first
from jointclust.exceptions import collected
from jointclust.methods import discriminative
from jointclust.subspace import starts
from jointclust_papers import dec_runs, ec_runs, leaderboard, odc, rurr_runs
from jointclust_papers import lab as common
from jointclust_papers import textbook as book

LAB = common.Lab()


@pytest.fixture(scope="module")
def data():
    return jc.datasets.mixture(200, 20, 4, n_nuisance=3, random_state=0)


def test_textbook_loop_finds_the_toy():
    X, y = jc.datasets.two_gaussians(random_state=0)
    result = max(
        jc.metrics.clustering_accuracy(
            y, book.TextbookDEC(2, n_components=1, trade_off=5.0, random_state=s).fit(X).labels_
        )
        for s in range(5)
    )
    assert result > 0.99


# -- the budget -------------------------------------------------------------------------------------------------


def every_method():
    papers = {"ec": ec_runs.methods(LAB), "odc": odc.methods(LAB), "rurr": rurr_runs.methods(LAB)}
    for paper, methods in papers.items():
        for name, given in methods.items():
            estimator = clone(given[0] if isinstance(given, tuple) else given)
            if getattr(estimator, "init", "") != "random":  # as printed, or one start from random rows
                yield pytest.param(estimator, id=f"{paper} {name}")
    yield pytest.param(clone(dec_runs.FIXED), id="dec fixed")


@pytest.fixture
def heard(monkeypatch):
    """What a fit asks for: starts of each k-means in turn, those of them that runs begin with, and how runs begin."""
    values = {"all": [], "first": [], "begun": []}

    def listening(original, *lists):
        def kmeans(*args, n_restarts=10, **options):
            for name in lists:
                values[name].append(n_restarts)
            return original(*args, n_restarts=n_restarts, **options)

        return kmeans

    original = starts.start_labels

    def start_labels(*args):
        values["begun"].append(args[0])
        return original(*args)

    for module in (starts, embedding_first, discriminative):
        lists = ("all", "first") if module is starts else ("all",)
        monkeypatch.setattr(module, "kmeans", listening(module.kmeans, *lists))
    for module in (starts, book, jc.estimators.joint, jc.methods.fuzzy):
        monkeypatch.setattr(module, "start_labels", start_labels)
    return values


@pytest.mark.parametrize("estimator", list(every_method()))
def test_every_method_of_an_item_has_the_same_starts(estimator, data, heard, monkeypatch):
    """Read off the fit: how many starts its first k-means has, and that it begins with one such k-means."""
    if isinstance(estimator, KMeans | SpectralClustering):
        assert estimator.n_init == common.STARTS
        return
    with collected():
        estimator.set_params(n_clusters=4, random_state=0).fit(data[0])
    # RSFKM has one more, for its scale.
    most = 2 if isinstance(estimator, book.RSFKMFromTen) else 1
    assert len(heard["begun"]) <= most
    assert set(heard["all"][:most]) == {common.STARTS}


def test_budget_is_one():
    assert book._STARTS == common.STARTS
    assert leaderboard.methods()["prepared k-means"].n_init == common.STARTS


def test_a_registered_method_is_on_the_leaderboard(monkeypatch):
    settings = (registry.Setting(title="toy", compared="toy"),)
    monkeypatch.setattr(registry, "METHODS", (replace(registry.METHODS[0], settings=settings),))
    assert "toy" in leaderboard.methods()


def test_methods_keep_all_directions():
    """None reduces the rows by itself: their preparation is that of the item."""
    assert dec_runs.FIXED.variance is None
    assert all(model.variance is None for model in ec_runs.models().values())


def test_toys_have_at_least_as_many_dimensions_as_clusters():
    for name, (c, d) in rurr_runs.TOYS.items():
        X, y = rurr_runs.gaussians(name, 1.0, 0)
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


# -- outliers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "n_rows"), [("clean", 60), ("shuffled", 66), ("noise", 66), ("covered", 60), ("mislabelled", 60)]
)
def test_spoiled_rows_are_as_many_as_said(kind, n_rows):
    X = np.random.RandomState(0).randint(0, 255, (60, 64)).astype(float)
    model = book.Spoiled(KMeans(n_init=1), 3, kind, 0.1, random_state=0)
    rows, spoiled = model._spoil(X, np.random.RandomState(0))
    assert len(rows) == n_rows
    assert spoiled.sum() == (0 if kind == "clean" else 6)
    changed = np.any(rows[:60] != X, axis=1)
    assert changed.sum() == (6 if kind == "covered" else 0)
    if kind == "covered":
        assert np.all((rows[:60] != X).sum(axis=1)[changed] <= 16)  # a quarter of 64
    assert model.fit(X).labels_.shape == (60,)


def test_wrong_start_labels_reach_both_kinds_of_clusterers(data):
    """From right labels k-means and EC stay where k-means is; from wrong ones for all rows they do not."""
    for estimator in (KMeans(n_init=1, max_iter=1), book.ECFromTen(variance=None, max_iter=1)):
        values = [book.Spoiled(estimator, 4, "mislabelled", share, 0.8, 0).fit(data[0]).labels_ for share in (0.0, 1.0)]
        with_right, with_wrong = (jc.metrics.clustering_accuracy(data[1], labels) for labels in values)
        assert with_right != with_wrong
