"""Choosing without labels."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score, calinski_harabasz_score, silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jointclust as jc
from jointclust.metrics import clustering_accuracy
from jointclust.selection import criteria
from jointclust.selection.candidates import COARSE_TRADE_OFFS
from jointclust.selection.trade_off_path import DEFAULT_TRADE_OFFS

DEC = jc.DiscriminativeEmbeddedClustering
Search = jc.LabelFreeSearch


@pytest.fixture(scope="module")
def noisy():
    """Clusters beside large directions without any: PCA + k-means fails on them."""
    return jc.datasets.mixture(300, 60, 4, n_nuisance=6, random_state=0)


# -- criteria -----------------------------------------------------------------------------------------------------


def test_indices_in_the_embedding_prefer_collapse(digits):
    """In a method's own embedding a collapsed solution looks best of all; in whitened rows it looks bad."""
    X = digits.data
    good = DEC(10, trade_off=1.5, random_state=0).fit(X)
    collapsed = DEC(10, trade_off=np.inf, random_state=0).fit(X)
    accuracy = [clustering_accuracy(digits.target, model.labels_) for model in (good, collapsed)]
    assert accuracy[0] > accuracy[1] + 0.2
    for index in (silhouette_score, calinski_harabasz_score):
        assert index(collapsed.transform(X), collapsed.labels_) > index(good.transform(X), good.labels_)
    coordinates, rng = jc.decompose(X), np.random.RandomState(0)
    references = [KMeans(10, n_init=1, random_state=seed).fit(X).labels_ for seed in (1, 2)]
    for index in (
        lambda labels: criteria.silhouette(coordinates, labels, rng),
        lambda labels: criteria.calinski_harabasz(coordinates, labels),
        lambda labels: criteria.agreement(labels, references),
    ):
        assert index(good.labels_) > index(collapsed.labels_)


def test_calinski_harabasz_is_that_of_the_whitened_rows(digits):
    coordinates = jc.decompose(digits.data)
    labels = digits.target.astype(np.int32)
    rows = criteria.whitened_rows(coordinates, 10)
    assert criteria.calinski_harabasz(coordinates, labels) == pytest.approx(calinski_harabasz_score(rows, labels))
    assert criteria.calinski_harabasz(coordinates, np.zeros(1797, dtype=np.int32)) == -np.inf
    assert criteria.silhouette(coordinates, np.zeros(1797, dtype=np.int32), np.random.RandomState(0)) == -1


def test_gap_sees_clusters_and_no_others(rng):
    """Real clusters leave less within than the same method finds in one Gaussian; cuts of a Gaussian do not."""
    clusters, _ = jc.datasets.mixture(300, 20, 3, n_nuisance=0, random_state=1)
    scores = []
    for X in (clusters, rng.standard_normal((300, 20))):
        coordinates = jc.decompose(X)
        draws = [criteria.structureless(coordinates, rng) for _ in range(5)]
        np.testing.assert_allclose(draws[0].total_variance, coordinates.total_variance, rtol=0.2)

        def labels(rows):
            return jc.LDAKMeans(3, random_state=0).fit(rows).labels_

        scores.append(criteria.gap(coordinates, labels(coordinates), [(draw, labels(draw)) for draw in draws]))
    assert scores[0] > 0.05
    assert abs(scores[1]) < 0.02


def test_bic_finds_the_classes(iris):
    coordinates = jc.decompose(iris.data)
    truth = iris.target.astype(np.int32)
    shuffled = np.random.RandomState(0).permutation(truth)
    one = np.zeros(150, dtype=np.int32)
    scores = [criteria.classification_bic(coordinates, labels) for labels in (truth, one, shuffled)]
    assert scores[0] > scores[1] > scores[2]


# -- search -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["agreement", "stability", "silhouette", "calinski_harabasz", "bic", "gap"])
def test_every_criterion_leaves_the_collapse_alone(criterion, digits):
    X, y = digits.data[::3], digits.target[::3]
    search = Search(DEC(10), {"trade_off": [1.5, np.inf]}, criterion=criterion, n_resamples=2, random_state=0).fit(X)
    assert search.best_params_ == {"trade_off": 1.5}
    assert clustering_accuracy(y, search.labels_) > 0.6
    np.testing.assert_array_equal(search.predict(X), search.best_estimator_.labels_)


def test_results_are_a_table(noisy):
    X, y = noisy
    search = Search(DEC(4), {"trade_off": [0, 1.5, 3.0], "n_restarts": [10]}, random_state=0).fit(X)
    table = pd.DataFrame(search.results_)
    assert list(table.columns) == ["estimator", "params", "score", "agreement", "seconds", "warnings"]
    assert len(table) == 3
    assert search.best_score_ == table["score"].max()
    assert search.results_["params"][search.best_index_] == search.best_params_
    assert clustering_accuracy(y, search.labels_) == 1
    assert search.transform(X).shape == (300, 3)
    assert not hasattr(search, "predict_proba")


def test_several_methods_and_pipelines(noisy):
    X, y = noisy
    search = Search(
        [
            (DEC(4), {"trade_off": [1.5, 2.0]}),
            (jc.LDAKMeans(4), {}),
            (jc.UncorrelatedRidgeClustering(4), [{"ridge": ["auto"]}, {"rescale": [True]}]),
            (KMeans(4, n_init=3), {}),
            (GaussianMixture(4, reg_covar=1e-2), {}),
            (make_pipeline(StandardScaler(), jc.LDAKMeans(4)), {"ldakmeans__variance": [0.8, 0.9]}),
            (jc.OptimalDiscriminantClustering(4), {"kernel": ["linear", "nearest_neighbors"]}),
        ],
        random_state=0,
    ).fit(X)
    assert len(search.results_["score"]) == 11
    assert clustering_accuracy(y, search.labels_) == 1
    assert adjusted_rand_score(search.predict(X), search.labels_) == 1


def test_own_criterion(noisy):
    X, _ = noisy
    search = Search(DEC(4), {"trade_off": [0, 1.5]}, criterion=lambda model, X, labels: -model.trade_off).fit(X)
    assert search.best_params_ == {"trade_off": 0}


def test_repeatable_whatever_the_jobs(noisy):
    X, _ = noisy
    searches = [Search(DEC(4), {"trade_off": [0, 1.5, 3]}, random_state=1, n_jobs=n).fit(X) for n in (None, 2)]
    assert searches[0].results_["score"] == searches[1].results_["score"]
    assert (
        clustering_accuracy(Search(DEC(4), {}, random_state=0).fit(sp.csr_array(X)).labels_, searches[0].labels_) > 0.9
    )


def test_warnings_go_into_the_table(noisy, recwarn):
    search = Search(DEC(4, max_iter=1), {"trade_off": [1.5, 3]}, random_state=0).fit(noisy[0])
    assert all("max_iter=1" in text for text in search.results_["warnings"])
    assert not recwarn.list


def test_failures(noisy):
    X, _ = noisy
    search = Search(DEC(4), {"trade_off": [1.5, -1]}, random_state=0).fit(X)
    assert "trade_off" in search.results_["warnings"][1]
    assert search.results_["score"][1] == -np.inf
    with pytest.raises(ValueError, match=r"DiscriminativeEmbeddedClustering\(trade_off=-1\): .*; .*\(trade_off=-2\): "):
        Search(DEC(4), {"trade_off": [-1, -2]}).fit(X)
    with pytest.raises(ValueError, match="no parameter 'tradeoff'; it has .*trade_off"):
        Search(DEC(4), {"tradeoff": [1]}).fit(X)
    with pytest.raises(ValueError, match="no values for 'trade_off'"):
        Search(DEC(4), {"trade_off": []}).fit(X)
    with pytest.raises(ValueError, match="no candidates"):
        Search([]).fit(X)
    with pytest.raises(TypeError, match="pairs"):
        Search([DEC(4)]).fit(X)
    with pytest.raises(ValueError, match="grid is empty"):
        Search(DEC(4), []).fit(X)
    with pytest.raises(TypeError, match="list of values for 'trade_off'; got 3"):
        Search(DEC(4), {"trade_off": 3}).fit(X)
    with pytest.raises(ValueError, match="30 rows are too few to choose the number"):
        Search(DEC(), {"n_clusters": [3, 4]}).fit(X[:30])
    with pytest.raises(ValueError, match="30 rows are too few to resample.*n_clusters=16"):
        Search(DEC(), {"n_clusters": [16, 20]}, criterion="stability").fit(X[:30])
    with pytest.raises(ValueError, match="minimum of 4"):
        Search(DEC(2), {}).fit(X[:3])


def test_stability_does_not_choose_what_is_stable_by_definition(rng):
    """One cluster: asked for, or all that is left of several."""
    X = rng.standard_normal((60, 5))
    with pytest.raises(ValueError, match="n_clusters=1 is stable by definition"):
        Search(DEC(), {"n_clusters": [1]}, criterion="stability", random_state=0).fit(X)
    search = Search(DEC(), {"n_clusters": [1, 2, 3]}, criterion="stability", random_state=0).fit(X)
    assert search.results_["score"][0] == -np.inf
    assert search.best_params_["n_clusters"] > 1
    assert Search(DEC(2), {}, criterion="stability", random_state=0).fit(np.ones((40, 3))).best_score_ == 0


def test_ties_are_told():
    """Where the labels differ; what labels the rows alike is no tie."""
    X, _ = jc.datasets.mixture(200, 20, 4, separation=40, n_nuisance=0, random_state=0)

    def constant(estimator, rows, labels):
        return 1.0

    with pytest.warns(
        UserWarning, match=r"2 candidates .* best score \(1\): .*n_clusters=3.*the next is .*n_clusters=4"
    ):
        Search(DEC(), {"n_clusters": [3, 4]}, criterion=constant, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Search(DEC(4), {"trade_off": [1.5, 2.0]}, criterion=constant, random_state=0).fit(X)


def test_a_criterion_that_fails_is_recorded(noisy):
    def picky(model, X, labels):
        if model.trade_off > 1:
            raise ValueError("too large")
        return 0.0

    search = Search(DEC(4), {"trade_off": [0, 1.5]}, criterion=picky, random_state=0).fit(noisy[0])
    assert search.best_params_ == {"trade_off": 0}
    assert "too large" in search.results_["warnings"][1]
    with pytest.raises(ValueError, match="too large"):
        Search(DEC(4), {"trade_off": [3, 1.5]}, criterion=picky, random_state=0).fit(noisy[0])


# -- the number of clusters in the search -------------------------------------------------------------------------


def test_agreement_takes_the_number_first(noisy):
    X, y = noisy
    grid = {"n_clusters": [2, 3, 4, 6], "trade_off": [1.5, 18.0]}
    search = Search(DEC(), grid, random_state=0).fit(X)
    assert search.number_.n_clusters == search.best_params_["n_clusters"] == 4
    assert clustering_accuracy(y, search.labels_) == 1
    fitted = [params["n_clusters"] == 4 for params in search.results_["params"]]
    np.testing.assert_array_equal(np.isfinite(search.results_["score"]), fitted)
    assert all(
        "Not fitted: 4 clusters (probability" in search.results_["warnings"][i]
        for i, one in enumerate(fitted)
        if not one
    )
    among = Search(DEC(), {"n_clusters": [2, 5, 8]}, random_state=0).fit(X)
    assert among.number_.n_clusters == among.best_params_["n_clusters"]
    assert Search(DEC(4), {}, random_state=0).fit(X).number_ is None


def test_saved_and_loaded(noisy, tmp_path):
    pytest.importorskip("skops")
    search = Search(DEC(), {"n_clusters": [3, 4]}, random_state=0).fit(noisy[0])
    jc.save(search, tmp_path / "search.skops")
    again = jc.load(tmp_path / "search.skops")
    assert again.number_.verdict == search.number_.verdict
    assert again.number_.n_clusters == 4
    np.testing.assert_array_equal(again.predict(noisy[0]), search.labels_)


@pytest.mark.parametrize("criterion", ["gap", "bic"])
def test_other_criteria_compare_numbers(criterion):
    X, _ = jc.datasets.mixture(300, 20, 4, n_nuisance=0, random_state=3)
    grid = {"n_clusters": [2, 3, 4, 5, 6]}
    search = Search(jc.LDAKMeans(n_init=3), grid, criterion=criterion, n_resamples=3, random_state=0).fit(X)
    assert search.best_params_["n_clusters"] == 4
    assert np.all(np.isfinite(search.results_[criterion]))


def test_no_structure_is_said(rng):
    X = rng.standard_normal((200, 10))
    for criterion in ("agreement", "bic"):
        with pytest.warns(jc.CollapseWarning, match="No cluster structure found"):
            search = Search(DEC(), {"n_clusters": [2, 3]}, criterion=criterion, random_state=0).fit(X)
        assert not search.number_.has_structure


# -- two levels, weights, progress --------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["agreement", "calinski_harabasz"])
def test_two_levels_in_one_call(criterion, noisy):
    search = Search(DEC(4, max_iter=5), {"trade_off": "two-level"}, criterion=criterion, random_state=0).fit(noisy[0])
    tried = [params["trade_off"] for params in search.results_["params"]]
    assert tuple(tried[: len(COARSE_TRADE_OFFS)]) == COARSE_TRADE_OFFS
    coarse = tried[int(np.argmax(search.results_["score"][: len(COARSE_TRADE_OFFS)]))]
    second = tried[len(COARSE_TRADE_OFFS) :]
    assert len(second) >= 7
    assert np.all(np.isfinite(search.results_["score"]))
    if criterion != "agreement":  # there the second level changes the scores of the first
        assert all(abs(t - coarse) <= 1 for t in second)
    with pytest.raises(TypeError, match="list of values for 'n_restarts'"):
        Search(DEC(4), {"n_restarts": "two-level"}).fit(noisy[0])


@pytest.mark.parametrize("criterion", ["agreement", "stability", "silhouette", "calinski_harabasz", "bic"])
def test_weight_zero_is_an_absent_row(criterion, noisy, rng):
    """Rows of another world, without weight, change no score."""
    X, _ = noisy
    weights = np.r_[np.ones(300), np.zeros(100)]
    both = np.vstack([X, 50 * rng.standard_normal((100, 60))])
    search = Search(DEC(4), {"trade_off": [1.5, 3, 18]}, criterion=criterion, n_resamples=2, random_state=0)
    alone = search.fit(X).results_["score"]
    loose = 0.05 if criterion == "agreement" else 1e-6  # the references' graphs see other rows
    assert search.fit(both, sample_weight=weights).results_["score"] == pytest.approx(alone, rel=loose)


def test_weights_count_in_the_criteria(noisy):
    X, _ = noisy
    labels = jc.LDAKMeans(4, random_state=0).fit(X).labels_
    twice = np.vstack([X, X[:100]])
    weighted = jc.decompose(X, np.r_[np.full(100, 2.0), np.ones(200)])
    for criterion in (criteria.calinski_harabasz, criteria.classification_bic):
        repeated = criterion(jc.decompose(twice), np.r_[labels, labels[:100]])
        assert criterion(weighted, labels) == pytest.approx(repeated)


def test_progress_is_reported(noisy, capsys):
    from sklearn.callback import ProgressBar

    pytest.importorskip("rich")
    Search(DEC(4), {"trade_off": [1.5, 3]}, random_state=0, n_jobs=2).set_callbacks(ProgressBar()).fit(noisy[0])
    assert "LabelFreeSearch" in capsys.readouterr().out


@pytest.mark.slow
def test_trade_off_of_isolet(real_data):
    data = real_data("isolet5")
    search = Search(DEC(26), {"trade_off": list(DEFAULT_TRADE_OFFS)}, random_state=0).fit(data.data)
    assert search.best_params_["trade_off"] < 6


@pytest.mark.slow
def test_method_for_faces(real_data):
    data = real_data("orl")
    pairs = [
        (KMeans(40, n_init=10), {}),
        (DEC(40), {"trade_off": [1.5, 3]}),
        (jc.LDAKMeans(40), {"variance": [0.8, 0.9]}),
        (jc.RobustEmbeddedClustering(40), {}),
        (jc.OptimalDiscriminantClustering(40), {"kernel": ["linear", "nearest_neighbors"]}),
    ]
    gains = []
    for seed in range(3):
        search = Search(pairs, random_state=seed).fit(data.data)
        plain = KMeans(40, n_init=10, random_state=seed).fit(data.data)
        gains.append(clustering_accuracy(data.target, search.labels_) - clustering_accuracy(data.target, plain.labels_))
    assert np.mean(gains) >= 0.05


# -- comparison ---------------------------------------------------------------------------------------------------


def test_compare_own_methods(noisy):
    X, y = noisy
    methods = {"good": jc.LDAKMeans(4), "bad": DEC(4, trade_off=-1), "no predict": HDBSCAN(copy=True)}
    table = pd.DataFrame(jc.compare(sp.csr_array(X), 4, {"good": methods["good"]}, random_state=0))
    assert table["agreement"][0] > 0.8
    table = pd.DataFrame(jc.compare(X, 4, methods, y_true=y, random_state=0)).set_index("method")
    assert "trade_off" in table["warnings"]["bad"]
    assert np.isnan(table["stability"]["no predict"])
    with pytest.raises(ValueError, match="methods is empty"):
        jc.compare(X, 4, {})
    with pytest.raises(ValueError, match="one class per row"):
        jc.compare(X, 4, y_true=y[:7])
