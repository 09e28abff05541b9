"""Prepared k-means is what scikit-learn's own parts give when put together by hand."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

import jointclust as jc
from jointclust.selection.baseline import UsualRows, prepared_kmeans
from jointclust.views.preparation import Preparation

RNG = np.random.RandomState(0)
CLASSES = np.repeat(np.arange(3), 40)


def planted(n_columns):
    """Counts of columns that each class has some of its own, and rows of different totals."""
    rates = 0.05 + 0.9 * (np.arange(n_columns) % 3 == CLASSES[:, None])
    return sp.csr_array(RNG.poisson(rates * RNG.gamma(2, 0.2, (len(CLASSES), 1))).astype(float))


def to_median_total(X):
    totals = X.sum(axis=1)
    return sp.csr_array(sp.diags_array(np.median(totals[totals > 0]) / np.maximum(totals, 1)) @ X)


WORDS = planted(150)
READS = sp.hstack([WORDS, np.ones((len(CLASSES), 1))], format="csr")
DOCUMENTS = [" ".join(f"word{column}" for column in np.repeat(row.indices, row.data.astype(int))) for row in WORDS]
SPARSE_FEATURES = sp.csr_array(WORDS * 0.37)
DIGITS = load_digits().data[:200]


def svd(n_components):
    return TruncatedSVD(n_components, random_state=0)


BY_HAND = {
    "table": (load_wine().data, [StandardScaler()]),
    "words": (WORDS, [TfidfTransformer(sublinear_tf=True), svd(100), Normalizer()]),
    "dense words": (WORDS.toarray(), [TfidfTransformer(sublinear_tf=True), svd(100), Normalizer()]),
    "documents": (DOCUMENTS, [TfidfVectorizer(sublinear_tf=True, min_df=2, max_df=0.5), svd(100), Normalizer()]),
    "reads": (READS, [FunctionTransformer(to_median_total), FunctionTransformer(np.log1p), svd(50)]),
    "features": (DIGITS, [FunctionTransformer()]),
    "sparse features": (SPARSE_FEATURES, [svd(50)]),
}


@pytest.mark.parametrize(("X", "steps"), BY_HAND.values(), ids=BY_HAND)
def test_equals_scikit_learn_by_hand(X, steps):
    expected = make_pipeline(*steps).fit_transform(X)
    model = prepared_kmeans(3, random_state=0).fit(X)
    assert model[0].transform(X) == pytest.approx(expected, abs=1e-6)
    assert UsualRows().fit_transform(X) == pytest.approx(expected, abs=1e-6)
    by_hand = KMeans(3, n_init=10, random_state=0).fit(expected)
    assert jc.metrics.clustering_accuracy(by_hand.labels_, model[-1].labels_) == 1
    np.testing.assert_array_equal(model.predict(X), model[-1].labels_)


def test_directions_are_no_more_than_columns():
    few = WORDS[:, :30]
    assert UsualRows().fit_transform(few).shape == (len(CLASSES), 30)


def test_mixed_tables_are_coded():
    table = pd.DataFrame(
        {"size": RNG.randn(60), "weight": 100 * RNG.randn(60), "colour": ["red", "green", "blue"] * 20}
    )
    np.testing.assert_allclose(
        UsualRows().fit_transform(table), Preparation("standardised", columns="all").fit_transform(table), atol=1e-12
    )


def test_columns_that_depend_on_no_other_are_prepared_too():
    X = np.column_stack([load_wine().data, RNG.standard_normal((178, 3))])
    assert jc.describe(X).columns[-1].used is False
    np.testing.assert_allclose(UsualRows().fit_transform(X), StandardScaler().fit_transform(X), atol=1e-12)


# -- compare ------------------------------------------------------------------------------------------------------


def accuracy_in(table):
    return table["accuracy (with y_true)"][table["method"].index("prepared k-means")]


@pytest.mark.parametrize("raw", [DOCUMENTS, WORDS, pd.DataFrame(WORDS.toarray())], ids=["list", "sparse", "frame"])
def test_compare_prepares_what_the_rows_were_made_of(raw):
    noise = np.random.RandomState(1).randn(len(CLASSES), 4)
    model = prepared_kmeans(3)
    table = jc.compare(noise, 3, {"prepared k-means": model}, CLASSES, 0, n_resamples=1, raw=raw)
    assert accuracy_in(table) > 0.95
    assert table["stability"][0] > 0.9
    assert accuracy_in(jc.compare(noise, 3, {"prepared k-means": model}, CLASSES, 0, n_resamples=1)) < 0.6


def test_compare_has_it_beside_plain_kmeans():
    X, y = load_wine(return_X_y=True)
    table = jc.compare(X, 3, y_true=y, random_state=0, n_resamples=1)
    by_hand = make_pipeline(StandardScaler(), KMeans(3, n_init=10, random_state=0)).fit(X)
    assert accuracy_in(table) == jc.metrics.clustering_accuracy(y, by_hand[-1].labels_)
    plain = table["accuracy (with y_true)"][table["method"].index("k-means")]
    assert plain < accuracy_in(table)
