import hypothesis
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

from elsewhere import every_place
from jointclust.rows import fingerprint

polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")


def numbers(n=40, d=5, seed=0):
    rng = np.random.RandomState(seed)
    return np.where(rng.uniform(size=(n, d)) < 0.4, 0.0, rng.randint(-3, 4, size=(n, d)) / 4)


def test_it_is_the_same_wherever_the_rows_are(tmp_path):
    X = numbers(300)
    with every_place(X, tmp_path) as places:
        assert {name: fingerprint(rows) for name, rows in places.items()} == dict.fromkeys(places, fingerprint(X))


def test_it_is_the_same_however_numbers_are_kept():
    X = numbers()
    frame = pd.DataFrame(X)
    kept = [X.tolist(), np.asfortranarray(X), X.astype(np.float32), X.astype(object), frame, frame.astype(object)]
    kept += [sp.csr_array(X), sp.csc_matrix(X), sp.coo_array(X)]
    kept += [frame.astype("Float64"), polars.DataFrame(X), pyarrow.table({str(j): X[:, j] for j in range(5)})]
    kept += [np.where(X == 0, -0.0, X), np.ma.masked_array(X)]
    assert {fingerprint(rows) for rows in kept} == {fingerprint(X)}
    assert fingerprint(4 * X) == fingerprint((4 * X).astype(np.int8))
    gaps = np.where(X == 0, np.nan, X)
    masked, nullable = np.ma.masked_equal(X, 0.0), pd.DataFrame(gaps).astype("Float64")
    assert {fingerprint(rows) for rows in (masked, nullable, pd.DataFrame(gaps).astype(object))} == {fingerprint(gaps)}


def test_zeros_that_are_stored_count_as_zeros_and_twice_stored_entries_once():
    zero = sp.csr_array((np.array([0.0, 2.0]), np.array([0, 1]), np.array([0, 2, 2])), shape=(2, 2))
    twice = sp.csr_array((np.array([0.5, 1.5]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 2))
    assert fingerprint(zero) == fingerprint(twice) == fingerprint([[0.0, 2.0], [0.0, 0.0]])
    assert twice.nnz == 2  # what is given stays what it is


def table():
    rng = np.random.RandomState(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.randint(300, size=30), unit="D")
    frame = pd.DataFrame({"size": rng.uniform(size=30), "since": days, "kind": rng.choice(["a", "b", "c"], 30)})
    frame["note"] = [f"word {row}" for row in range(30)]
    frame.loc[3, ["size", "kind"]] = None
    return frame


def test_it_is_the_same_in_tables_of_all_libraries():
    frame = table()
    others = [polars.from_pandas(frame), pyarrow.Table.from_pandas(frame), frame.astype({"kind": "category"})]
    others += [frame.astype({"note": "string", "since": "datetime64[s]"}), frame.rename(columns=str.upper)]
    assert {fingerprint(other) for other in others} == {fingerprint(frame)}


@pytest.mark.parametrize("column", ["size", "since", "kind", "note"])
def test_any_changed_cell_of_a_table_changes_it(column):
    frame = table()
    changed = frame.copy()
    changed.loc[7, column] = {"size": 0.5, "since": pd.Timestamp("2030-01-01"), "kind": "d", "note": "other"}[column]
    emptied = frame.copy()
    emptied.loc[7, column] = None
    assert len({fingerprint(one) for one in (frame, changed, emptied, frame.iloc[[1, 0, *range(2, 30)]])}) == 4


@hypothesis.given(st.data())
@hypothesis.settings(max_examples=50, deadline=None)
def test_any_changed_cell_and_exchanged_rows_change_it(data):
    X = numbers(seed=data.draw(st.integers(0, 9)))
    row, other, column = (data.draw(st.integers(0, most)) for most in (39, 39, 4))
    changed, exchanged, balanced = X.copy(), X.copy(), X.copy()
    changed[row, column] += data.draw(st.sampled_from([1e-12, 0.25, np.nan, -1e9]))
    exchanged[[row, other]] = exchanged[[other, row]]
    balanced[row, 0], balanced[row, 1] = X[row, 0] + 1, X[row, 1] - 1
    for kept in (np.asarray, sp.csr_array, pd.DataFrame):
        assert fingerprint(kept(changed)) != fingerprint(X)
        assert fingerprint(kept(balanced)) != fingerprint(X)
        assert (fingerprint(kept(exchanged)) == fingerprint(X)) == np.array_equal(exchanged, X)


def test_texts_and_blocks_have_one_too():
    texts = ["one text", "another", "a third"]
    kept = [np.array(texts), np.array(texts, dtype=object), pd.Series(texts), tuple(texts)]
    assert {fingerprint(one) for one in kept} == {fingerprint(texts)} != {fingerprint(texts[::-1])}
    X, frame = numbers(30), table()
    assert fingerprint({"b": X, "a": frame}) == fingerprint({"a": frame, "b": sp.csr_array(X)})
    assert fingerprint({"b": X, "a": frame}) != fingerprint({"b": X[::-1], "a": frame})
    assert fingerprint([X, X[:, :2]]) != fingerprint([X, X[:, 1:3]])
    assert fingerprint(X) != fingerprint(np.column_stack([X, np.zeros(30)]))
