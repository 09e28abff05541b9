"""From data as they come to the rows of a view: what is left out, coded, filled and scaled, and saved."""

import types
import warnings

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import jointclust as jc
from jointclust.views.counts import TermWeights, Topics, Words
from jointclust.views.encoder import MixedEncoder
from jointclust.views.preparation import VIEWS, Preparation
from jointclust.views.scaling import RankNormal, Standardised

N = 60


@parametrize_with_checks([Preparation()])
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def frame(seed=0, gaps=True):
    gen = np.random.RandomState(seed)
    table = pd.DataFrame(
        {
            "id": np.arange(N),
            "who": [f"person {row}" for row in range(N)],
            "length": gen.randn(N),
            "price": 1000 * gen.rand(N),
            "colour": gen.choice(["red", "green", "blue"], N),
            "new": gen.rand(N) > 0.5,
            "since": pd.date_range("2020-01-01", periods=N),
            "same": 1.0,
            "nothing": np.nan,
        }
    )
    if gaps:
        table.loc[3:8, "length"] = np.nan
        table.loc[5:9, "colour"] = None
    return table


NAMES = ["length", "price", "colour = blue", "colour = green", "colour = red", "new", "since"]


@pytest.mark.parametrize("convert", [lambda table: table, pl.from_pandas, pa.Table.from_pandas], ids=["pd", "pl", "pa"])
def test_mixed_table(convert):
    table = frame()
    prepared = Preparation().fit(convert(table))
    Z = prepared.transform(convert(table))
    assert prepared.description_.kind == "mixed"
    assert prepared.view_ == "standardised"
    assert prepared.get_feature_names_out().tolist() == NAMES
    assert np.isfinite(Z).all()
    numbers = [0, 1, 5, 6]
    assert Z[:, numbers].mean(axis=0) == pytest.approx(0, abs=1e-9)
    assert Z[:, numbers].std(axis=0) == pytest.approx(1)
    for left_out in ("id", "who", "same", "nothing"):
        assert sum(f"{left_out!r}" in note for note in prepared.notes_) == 1
    assert any("gaps are filled" in note for note in prepared.notes_)


@pytest.mark.parametrize("view", ["standardised", "rank-normal", "as is"])
def test_coded_categories_have_weights_and_no_other_scale(view):
    table = frame(gaps=False)
    coded = MixedEncoder().fit_transform(table[["colour"]])
    assert Preparation(view).fit(table).transform(table)[:, 2:5] == pytest.approx(coded, abs=1e-12)
    table["price"] += 1e4 * (table["colour"] == "red") * (1 + table["length"])
    prepared = Preparation(view).fit(table)
    assert prepared.coded_names().tolist() == ["price", *NAMES[2:5]]
    assert np.linalg.eigvalsh(prepared.weights_)[-1] < 1
    assert prepared.transform(table)[:, 1:4] == pytest.approx(coded @ prepared.weights_, abs=1e-12)


def test_new_rows_with_other_gaps():
    prepared = Preparation().fit(frame(gaps=False))
    new = frame(seed=1)
    assert np.isfinite(prepared.transform(new)).all()
    whole = frame(seed=1, gaps=False)
    observed = new.notna().all(axis=1).to_numpy() | ~new[["length", "colour"]].isna().any(axis=1).to_numpy()
    assert prepared.transform(new)[observed] == pytest.approx(prepared.transform(whole)[observed])


def test_numbers_of_a_table_are_standardised():
    X = load_wine().data
    assert Preparation().fit_transform(X) == pytest.approx(StandardScaler().fit_transform(X), abs=1e-9)
    numbered = np.column_stack([np.arange(len(X)), X, np.ones(len(X))])
    prepared = Preparation().fit(numbered)
    assert prepared.transform(numbered) == pytest.approx(StandardScaler().fit_transform(X), abs=1e-9)
    assert prepared.get_feature_names_out().tolist() == [f"x{number}" for number in range(1, 14)]


def test_array_and_table_agree():
    X = load_wine().data
    table = pd.DataFrame(X, columns=[f"c{number}" for number in range(13)])
    assert Preparation().fit_transform(table) == pytest.approx(Preparation().fit_transform(X), abs=1e-9)


def test_features_are_left_as_they_are():
    X = load_digits().data
    assert np.array_equal(Preparation().fit_transform(X), X)
    sparse = sp.csr_array(np.log1p(X * (X > 4)))
    assert (Preparation().fit_transform(sparse) != sparse).nnz == 0


def test_weight_2_is_the_row_twice():
    table, weights = frame(), np.random.RandomState(0).randint(1, 3, N)
    weighted = Preparation("rank-normal").fit(table, sample_weight=weights).transform(table)
    twice = table.iloc[np.repeat(np.arange(N), weights)].copy()
    twice["id"], twice["who"] = np.arange(len(twice)), [f"person {row}" for row in range(len(twice))]
    repeated = Preparation("rank-normal").fit(twice).transform(table)
    assert weighted == pytest.approx(repeated, abs=1e-6)


DOCUMENTS = ["red apple pie", "green apple tart", "red car drives", "green car drives", "blue car", "pie of apple"] * 3


def test_documents():
    prepared = Preparation("tf-idf").fit(DOCUMENTS)
    counts = Words().fit(DOCUMENTS).transform(DOCUMENTS)
    assert prepared.transform(DOCUMENTS).toarray() == pytest.approx(TermWeights().fit_transform(counts).toarray())
    assert "apple" in prepared.get_feature_names_out()
    topics = Preparation().fit(DOCUMENTS)
    assert topics.transform(DOCUMENTS[:4]) == pytest.approx(Topics().fit(counts).transform(counts)[:4], abs=1e-9)
    with pytest.raises(TypeError, match="form that fit was given"):
        prepared.transform(np.eye(3))


def test_column_of_text_beside_an_id():
    reviews = [f"number {row} was really {word} for my taste" for row, word in enumerate(["good", "bad", "dull"] * 8)]
    table = pd.DataFrame({"id": range(24), "review": reviews})
    prepared = Preparation("tf-idf").fit(table)
    assert prepared.transform(table).toarray() == pytest.approx(Preparation("tf-idf").fit_transform(reviews).toarray())


def test_counts_and_annotated_data():
    counts = sp.csr_array(np.random.RandomState(0).poisson(0.3, (50, 80)))
    cells = types.SimpleNamespace(X=counts, obs=pd.DataFrame(index=range(50)), var=pd.DataFrame(index=range(80)))
    for view in ("tf-idf", "topics", "log"):
        expected = VIEWS[view].cls().fit(counts.astype(float)).transform(counts.astype(float))
        rows = Preparation(view).fit(cells).transform(cells)
        assert abs(rows - expected).max() < 1e-9


def test_rows_with_dask():
    X = np.random.RandomState(0).randn(200, 5) * [1, 10, 100, 1, 1]
    expected = StandardScaler().fit_transform(X)
    numbered = np.column_stack([np.arange(200), X])
    lazy = da.from_array(numbered, chunks=(60, 6))
    for form in (lazy, dd.from_dask_array(lazy, columns=list("abcdef"))):
        prepared = Preparation().fit(form)
        assert np.asarray(prepared.transform(form)) == pytest.approx(expected)
        assert len(prepared.get_feature_names_out()) == 5
    with pytest.raises(TypeError, match="in memory"):
        Preparation().fit(dd.from_pandas(frame(), npartitions=2))


def test_rows_that_are_kept_are_told():
    X = np.column_stack([np.arange(200), np.random.RandomState(0).randn(200, 4)])
    notes = Preparation().fit(torch.tensor(X)).notes_
    assert notes[0].startswith("column '0' looks like it should be left out, and is not (id): ")


def test_gaps_of_features():
    X = np.random.RandomState(0).randn(100, 40)
    with pytest.raises(ValueError, match="missing cells"):
        Preparation().fit(X).transform(np.full((2, 40), np.nan))
    X[0, 3] = np.nan
    assert np.isfinite(Preparation().fit(X).transform(X)).all()


def test_given_view():
    X = load_wine().data
    assert Preparation("rank-normal").fit_transform(X) == pytest.approx(RankNormal().fit_transform(X), abs=1e-9)
    assert isinstance(Preparation("standardised").fit(load_digits().data).scaler_, Standardised)
    with pytest.raises(ValueError, match="view"):
        Preparation("squared").fit(X)


@pytest.mark.parametrize("data", [frame(), DOCUMENTS, load_digits().data[:100]], ids=["table", "documents", "array"])
def test_saved(data, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepared = clone(Preparation()).fit(data)
        jc.save(prepared, tmp_path / "preparation.skops")
        loaded = jc.load(tmp_path / "preparation.skops")
        assert np.array_equal(loaded.transform(data), prepared.transform(data))
    assert str(loaded.description_) == str(prepared.description_)
    assert loaded.get_feature_names_out().tolist() == prepared.get_feature_names_out().tolist()


BAD = {
    "column of all gaps": pd.DataFrame({"a": [np.nan] * 4}),
    "documents of one word": ["word"] * 4,
    "infinite": np.array([[1.0, np.inf], [2.0, 3.0]]),
    "gaps in sparse rows": sp.csr_array([[np.nan, 0.0, 0.0], [0.0, 0.0, 2.0]]),
    "ids alone": pd.DataFrame({"id": range(30)}),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    with pytest.raises(ValueError, match=r"missing|word|infinity|NaN|no column"):
        Preparation().fit(BAD[name])


def test_record_batches_and_arrow_arrays_are_tables_and_documents():
    table = pa.table({"size": np.arange(12.0) ** 2, "red": [True, False, None] * 4, "made": ["here", "there"] * 6})
    expected = Preparation().fit(table).transform(table)
    np.testing.assert_array_equal(Preparation().fit(table.to_batches()[0]).transform(table), expected)
    texts = ["cat dog", "sun moon", "milk egg"] * 4
    np.testing.assert_array_equal(
        Preparation("tf-idf").fit_transform(pa.array(texts)).toarray(),
        Preparation("tf-idf").fit_transform(texts).toarray(),
    )


@pytest.mark.parametrize("view", ["tf-idf", "topics", "log"])
def test_views_of_counts_refuse_categories(view):
    with pytest.raises(ValueError, match=f"View '{view}' is for counts.*categories"):
        Preparation(view).fit(pd.DataFrame({"size": np.arange(12.0) ** 2, "made": ["here", "there"] * 6}))


def test_columns_missing_in_new_rows_are_told_by_name():
    table = pd.DataFrame({"size": np.arange(12.0) ** 2, "made": ["here", "there"] * 6, "weight": np.arange(12) % 5.0})
    with pytest.warns(UserWarning, match=r"\('size', 'made = here', 'made = there'\)"):
        Preparation().fit(table).transform(table.assign(size=np.nan, made=None))
