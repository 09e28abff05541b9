"""Methods side by side: what the table holds, in which order, and what it does not look at."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.dummy import DummyRegressor

import jointclust as jc
from jointclust.selection.comparison import usual_methods

COLUMNS = ["method", "agreement", "stability", "clusters", "seconds", "warnings"]


@pytest.fixture(scope="module")
def data():
    return jc.datasets.mixture(90, 12, 3, separation=12, n_nuisance=2, random_state=0)


class Chance(ClusterMixin, BaseEstimator):
    """Labels without any meaning."""

    def fit(self, X, y=None):
        self.labels_ = np.random.RandomState(0).randint(3, size=X.shape[0])
        return self


@pytest.fixture(scope="module")
def methods():
    return {
        "chance": Chance(),
        "k-means": KMeans(3, n_init=5),
        "LDAKM": jc.LDAKMeans(3),
        "no predict": AgglomerativeClustering(2),
    }


@pytest.fixture(scope="module")
def table(data, methods):
    return jc.compare(data[0], 3, methods, random_state=0, n_resamples=1)


def test_most_agreement_comes_first(table):
    assert list(table) == COLUMNS
    assert table["agreement"] == sorted(table["agreement"], reverse=True)
    assert sorted(table["method"]) == ["LDAKM", "chance", "k-means", "no predict"]
    assert table["method"][-1] == "chance"
    assert len({len(column) for column in table.values()}) == 1


def test_rows_of_the_table_belong_together(table):
    by_method = {name: index for index, name in enumerate(table["method"])}
    assert [table["clusters"][by_method[name]] for name in ("no predict", "LDAKM")] == [2, 3]
    assert np.isnan(table["stability"][by_method["no predict"]])
    assert table["stability"][by_method["LDAKM"]] > 0.9
    assert all(seconds > 0 for seconds in table["seconds"])


def test_classes_add_columns_and_change_none(data, methods, table):
    X, y = data
    judged = jc.compare(X, 3, methods, y_true=y, random_state=0, n_resamples=1)
    for column in set(COLUMNS) - {"seconds"}:
        np.testing.assert_array_equal(judged.pop(column), table[column])
    assert set(judged) == {"seconds", "accuracy (with y_true)", "NMI (with y_true)"}
    accuracy = dict(zip(table["method"], judged["accuracy (with y_true)"], strict=True))
    labels = jc.LDAKMeans(3, random_state=0).fit(X).labels_
    assert accuracy["LDAKM"] == jc.metrics.clustering_accuracy(y, labels) > accuracy["chance"]
    relabelled = jc.compare(X, 3, methods, y_true=np.array(list("cab"))[y], random_state=0, n_resamples=1)
    assert relabelled["accuracy (with y_true)"] == judged["accuracy (with y_true)"]


def test_what_is_given_is_not_fitted(methods, table):
    assert not any(hasattr(method, "labels_") for method in methods.values())


def test_a_method_that_fails_is_told_of(data):
    methods = {"good": KMeans(3, n_init=2), "bad": jc.LDAKMeans(3, n_components=99)}
    table = jc.compare(data[0], 3, methods, random_state=0, n_resamples=1)
    assert table["method"] == ["good", "bad"]
    assert table["clusters"] == [3, 0]
    assert "n_components=99" in table["warnings"][1]


def test_bad_input(data):
    X, y = data
    few = {"k-means": KMeans(3, n_init=1)}
    with pytest.raises(ValueError, match="methods is empty"):
        jc.compare(X, 3, {})
    with pytest.raises(ValueError, match=r"y_true must have one class per row \(90\); got 7"):
        jc.compare(X, 3, few, y_true=y[:7])
    with pytest.raises(ValueError, match="NaN"):
        jc.compare(np.where(X > 2, np.nan, X), 3, few)
    with pytest.raises(ValueError, match="minimum of 4"):
        jc.compare(X[:3], 3, few)
    with pytest.raises((TypeError, ValueError, AttributeError)):
        jc.compare(X, 3, {"no clusterer": DummyRegressor()})


def test_the_usual_methods_depend_on_the_rows():
    dense, sparse = (usual_methods(3, 500, 20, sparse=sparse) for sparse in (False, True))
    assert set(sparse) < set(dense)
    assert {"RobustKMeans", "FuzzyKMeans", "HDBSCAN"} <= set(dense) - set(sparse)
    assert "spectral clustering" not in usual_methods(3, 10**6, 20, sparse=False)
    X = sp.random_array((40, 20), density=0.3, rng=np.random.default_rng(0), format="csr")
    for name in ("k-means", "PCA + k-means", "DEC"):
        assert usual_methods(3, 40, 20, sparse=True)[name].fit(X) is not None
