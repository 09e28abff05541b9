"""Views against scikit-learn's transformers, with weights, sparse, and wherever the rows live."""

import array_api_strict
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.special import ndtr
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.preprocessing import Normalizer, QuantileTransformer, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import jointclust as jc
from jointclust.rows.arrays import to_host
from jointclust.views import registry
from jointclust.views.counts import LogCounts, ScaledGenes, TermWeights, Topics, Words
from jointclust.views.scaling import AsIs, RankNormal, Standardised, UnitRows

GEN = np.random.RandomState(0)
ROWS = np.column_stack([GEN.randn(80, 3) * [1, 100, 0.01] + [0, 5, 1], GEN.randint(0, 4, 80), np.full(80, 7.0)])
COUNTS = GEN.poisson(GEN.gamma(0.3, 2, (80, 30))).astype(float)
COUNTS[5] = 0
WEIGHTS = GEN.randint(0, 4, 80).astype(float)
# The views of the registry, some in another setting too, and what becomes of each: rows for it.
VIEWS = [*(entry.cls() for entry in registry.VIEWS.values()), LogCounts(12), Topics(4), ScaledGenes(counts=True)]
SPARSE = [view for view in VIEWS if get_tags(view).input_tags.sparse]
every = pytest.mark.parametrize("view", VIEWS, ids=repr)


def rows_for(view):
    return COUNTS if get_tags(view).input_tags.positive_only else ROWS


def dense(Z):
    return Z.toarray() if sp.issparse(Z) else to_host(Z)


# Of views that add little to what another does scikit-learn's checks are left out.
ALIKE = ("as is", "unit rows", "topics", "scaled genes")


@parametrize_with_checks([entry.cls() for name, entry in registry.VIEWS.items() if name not in ALIKE])
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def test_standardised_is_scikit_learns():
    Z = Standardised().fit_transform(ROWS)
    assert pytest.approx(StandardScaler().fit_transform(ROWS), abs=1e-12) == Z
    sparse = Standardised().fit_transform(sp.csr_array(COUNTS))
    assert sp.issparse(sparse)
    assert sparse.toarray() == pytest.approx(StandardScaler(with_mean=False).fit_transform(COUNTS), abs=1e-12)
    weighted = StandardScaler().fit(ROWS, sample_weight=WEIGHTS).transform(ROWS)
    assert Standardised().fit(ROWS, sample_weight=WEIGHTS).transform(ROWS) == pytest.approx(weighted, abs=1e-12)


def test_rank_normal_has_scikit_learns_ranks():
    """Its quantile of the i-th of n values is i / (n - 1), from 0; the middle of a rank is (i + 1/2) / n."""
    n = len(ROWS)
    ranks = QuantileTransformer(n_quantiles=n).fit_transform(ROWS[:, :3]) * (n - 1)
    assert ndtr(RankNormal().fit_transform(ROWS[:, :3])) == pytest.approx((ranks + 0.5) / n, abs=1e-9)


def test_rank_normal_keeps_order_and_forgets_units():
    view = RankNormal().fit(ROWS)
    assert RankNormal().fit_transform(np.exp(ROWS / 100)) == pytest.approx(view.transform(ROWS), abs=1e-9)
    new = np.sort(GEN.randn(50, 5) * 200, axis=0)
    Z = view.transform(new)
    assert np.all(np.diff(Z, axis=0) >= 0)
    assert np.isfinite(Z).all()


def test_rank_normal_of_many_values_keeps_few_points():
    X = GEN.lognormal(size=(3000, 1))
    view = RankNormal().fit(X)
    assert len(view.values_) <= 500
    exact = np.argsort(np.argsort(X, axis=0), axis=0)
    assert ndtr(view.transform(X)) == pytest.approx((exact + 0.5) / 3000, abs=2e-3)


def test_unit_rows_is_scikit_learns():
    Z = UnitRows().fit_transform(ROWS)
    assert pytest.approx(Normalizer().fit_transform(ROWS - ROWS.mean(axis=0)), abs=1e-12) == Z
    sparse = UnitRows().fit_transform(sp.csr_array(COUNTS))
    assert sp.issparse(sparse)
    assert sparse.toarray() == pytest.approx(Normalizer().fit_transform(COUNTS), abs=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_tf_idf_is_scikit_learns(form):
    Z = TermWeights().fit_transform(form(COUNTS))
    assert sp.issparse(Z) == (form is not np.asarray)
    assert dense(Z) == pytest.approx(TfidfTransformer(sublinear_tf=True).fit_transform(COUNTS).toarray(), abs=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_log_counts(form):
    totals = COUNTS.sum(axis=1, keepdims=True)
    median = np.median(totals[totals > 0])
    expected = np.log1p(COUNTS * median / np.where(totals > 0, totals, 1))
    assert dense(LogCounts().fit_transform(form(COUNTS))) == pytest.approx(expected, abs=1e-12)


def test_log_counts_keep_columns_that_vary_more_than_their_mean_lets_expect():
    n = 400
    counts = GEN.poisson(GEN.lognormal(1, 1, 60), (n, 60)).astype(float)
    varied = [3, 17, 40]
    counts[: n // 2, varied] *= 4
    view = LogCounts(3).fit(counts)
    assert view.kept_.tolist() == varied
    assert view.get_feature_names_out().tolist() == ["x3", "x17", "x40"]


def test_topics_are_the_leading_directions_of_tf_idf():
    Z = TermWeights().fit_transform(COUNTS)
    centred = Z - Z.mean(axis=0)
    directions = np.linalg.svd(centred, full_matrices=False)[2][:4].T
    expected = Normalizer().fit_transform(centred @ directions)
    for form in (np.asarray, sp.csr_array):
        rows = Topics(4).fit_transform(form(COUNTS))
        assert rows @ rows.T == pytest.approx(expected @ expected.T, abs=1e-8)
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1)


@every
def test_weight_2_is_the_row_twice(view):
    X = rows_for(view)
    weighted = view.fit(X, sample_weight=WEIGHTS).transform(X)
    repeated = view.fit(np.repeat(X, WEIGHTS.astype(int), axis=0)).transform(X)
    assert weighted == pytest.approx(repeated, abs=1e-9)


@every
def test_rows_elsewhere_have_the_same_view(view):
    X = rows_for(view)
    expected = view.fit(X, sample_weight=WEIGHTS).transform(X)
    for place in (da.from_array(X, chunks=(30, -1)), torch.tensor(X), array_api_strict.asarray(X)):
        rows = view.fit(place, sample_weight=WEIGHTS).transform(place)
        assert type(rows) is type(place)
        assert dense(rows) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("view", SPARSE, ids=repr)
def test_sparse_chunks_have_the_same_view(view):
    chunks = da.from_array(COUNTS, chunks=(30, -1)).map_blocks(sp.csr_array)
    expected = view.fit(sp.csr_array(COUNTS)).transform(sp.csr_array(COUNTS))
    assert dense(view.fit(chunks).transform(chunks).compute()) == pytest.approx(dense(expected), abs=1e-9)


@pytest.mark.parametrize("view", [AsIs, Standardised, RankNormal, UnitRows])
def test_coded_columns_stay(view):
    numeric = np.array([True, True, True, False, False])
    Z = view(numeric=numeric).fit_transform(ROWS)
    assert np.array_equal(Z[:, 3:], ROWS[:, 3:])
    assert Z[:, :3] == pytest.approx(view().fit_transform(ROWS[:, :3]), abs=1e-12)


def test_wrong_mask():
    with pytest.raises(ValueError, match="each of 5 columns"):
        Standardised(numeric=[True, False]).fit(ROWS)


def test_counts_are_not_negative_and_ranks_not_sparse():
    for view in (TermWeights(), LogCounts(), Topics()):
        with pytest.raises(ValueError, match="Negative values"):
            view.fit(ROWS - 10)
    with pytest.raises(TypeError, match="not sparse"):
        RankNormal().fit(sp.csr_array(COUNTS))


DOCUMENTS = ["red apple pie", "green apple tart", "red car drives", "green car drives", "blue car", "pie of apple", ""]


def test_words_are_scikit_learns():
    reference = TfidfVectorizer(sublinear_tf=True, min_df=2, max_df=0.5)
    expected = reference.fit_transform(DOCUMENTS).toarray()
    counts = Words().fit(DOCUMENTS)
    assert counts.get_feature_names_out().tolist() == reference.get_feature_names_out().tolist()
    assert TermWeights().fit_transform(counts.transform(DOCUMENTS)).toarray() == pytest.approx(expected, abs=1e-12)


def test_words_of_weighted_documents():
    weights = np.array([2, 1, 0, 1, 3, 1, 1])
    weighted = Words().fit(DOCUMENTS, sample_weight=weights).vocabulary_
    assert weighted.tolist() == Words().fit(np.repeat(DOCUMENTS, weights)).vocabulary_.tolist()


@pytest.mark.parametrize("documents", [["word"] * 5, ["one two", "three four"], ["a", "b", "c"]])
def test_no_word_to_compare_by(documents):
    with pytest.raises(ValueError, match="word"):
        Words().fit(documents)


@every
def test_saved_views(view, tmp_path):
    X = rows_for(view)
    expected = view.fit(X).transform(X)
    jc.save(view, tmp_path / "view.skops")
    assert np.array_equal(jc.load(tmp_path / "view.skops").transform(X), expected)
