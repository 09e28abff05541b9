"""Choosing without labels."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, calinski_harabasz_score, silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jointclust as jc
from jointclust import criteria
from jointclust.metrics import clustering_accuracy
from jointclust.search import TRADE_OFF_COARSE, trade_off_fine

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


def test_bic_finds_the_classes(iris):
    coordinates = jc.decompose(iris.data)
    truth = iris.target.astype(np.int32)
    shuffled = np.random.RandomState(0).permutation(truth)
    one = np.zeros(150, dtype=np.int32)
    scores = [criteria.classification_bic(coordinates, labels) for labels in (truth, one, shuffled)]
    assert scores[0] > scores[1] > scores[2]


def test_jaccard():
    labels, other = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 0, 2])
    np.testing.assert_allclose(criteria.jaccard_per_cluster(labels, other, 3), [2 / 3, 2 / 3, 1])


# -- search -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["agreement", "stability", "silhouette", "calinski_harabasz", "bic"])
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
    with pytest.raises(ValueError, match="No candidate could be fitted.*trade_off.*-1"):
        Search(DEC(4), {"trade_off": [-1, -2]}).fit(X)
    with pytest.raises(ValueError, match="no parameter 'tradeoff'; it has .*trade_off"):
        Search(DEC(4), {"tradeoff": [1]}).fit(X)
    with pytest.raises(ValueError, match="no values for 'trade_off'"):
        Search(DEC(4), {"trade_off": []}).fit(X)
    with pytest.raises(ValueError, match="no candidates"):
        Search([]).fit(X)
    with pytest.raises(TypeError, match="pairs"):
        Search([DEC(4)]).fit(X)
    with pytest.raises(ValueError, match=r"different numbers of clusters \(3, 4\)"):
        Search(DEC(), {"n_clusters": [3, 4]}).fit(X)
    with pytest.raises(ValueError, match="minimum of 4"):
        Search(DEC(2), {}).fit(X[:3])


def test_two_levels():
    assert TRADE_OFF_COARSE[0] == 0
    for best in TRADE_OFF_COARSE:
        fine = trade_off_fine(best)
        assert min(best, 18.0) in fine
        assert np.all(np.diff(fine) > 0)


# -- stability ----------------------------------------------------------------------------------------------------


def test_bootstrap_stability_tells_real_clusters_from_made_up_ones(rng):
    """Three clouds, of which the third, wide one is cut in two."""
    X = np.vstack(
        [rng.standard_normal((100, 5)), rng.standard_normal((100, 5)) + 12, 3 * rng.standard_normal((200, 5)) - 20]
    )
    model = KMeans(4, n_init=10, random_state=0).fit(X)
    stability = jc.bootstrap_stability(model, X, n_resamples=15, random_state=0)
    halves = set(model.labels_[200:])
    whole = [k for k in range(4) if k not in halves]
    assert len(halves) == 2
    assert stability[whole].min() > 0.95
    assert stability[list(halves)].max() < 0.8
    again = jc.bootstrap_stability(model, X, n_resamples=15, random_state=0)
    np.testing.assert_array_equal(stability, again)


@pytest.mark.slow
def test_trade_off_of_isolet(real_data):
    data = real_data("isolet5")
    search = Search(DEC(26), {"trade_off": list(TRADE_OFF_COARSE)}, random_state=0).fit(data.data)
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


def test_compare_the_family(noisy):
    X, y = noisy
    table = pd.DataFrame(jc.compare(X, 4, random_state=0))
    assert {"k-means", "PCA + k-means", "DEC", "LDAKMeans", "consensus", "HDBSCAN", "RURR-SL"} <= set(table["method"])
    assert table["agreement"].is_monotonic_decreasing
    assert list(table.columns) == ["method", "agreement", "stability", "clusters", "seconds", "warnings"]
    judged = pd.DataFrame(jc.compare(X, 4, y_true=y, random_state=0))
    np.testing.assert_array_equal(judged["agreement"], table["agreement"])  # the classes change nothing else
    assert judged["accuracy (with y_true)"][0] == 1
    assert judged.set_index("method")["accuracy (with y_true)"]["PCA + k-means"] < 0.9


def test_compare_own_methods(noisy):
    X, y = noisy
    methods = {"good": jc.LDAKMeans(4), "bad": DEC(4, trade_off=-1), "no predict": jc.comparison.HDBSCAN(copy=True)}
    table = pd.DataFrame(jc.compare(sp.csr_array(X), 4, {"good": methods["good"]}, random_state=0))
    assert table["agreement"][0] > 0.8
    table = pd.DataFrame(jc.compare(X, 4, methods, y_true=y, random_state=0)).set_index("method")
    assert "trade_off" in table["warnings"]["bad"]
    assert np.isnan(table["stability"]["no predict"])
    with pytest.raises(ValueError, match="methods is empty"):
        jc.compare(X, 4, {})
    with pytest.raises(ValueError, match="one class per row"):
        jc.compare(X, 4, y_true=y[:7])
