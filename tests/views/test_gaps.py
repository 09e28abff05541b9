import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import FactorAnalysis

import jointclust as jc


def low_rank_rows(n=300, D=12, rank=3, noise=0.3, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, rank) @ rng.randn(rank, D) + noise * rng.randn(n, D)
    return X * 10.0 ** rng.uniform(-3, 3, D) + rng.randn(D)


def with_gaps(X, share=0.2, seed=0):
    return np.where(np.random.RandomState(seed).rand(*X.shape) < share, np.nan, X)


def test_no_gaps_same_rows():
    X = low_rank_rows()
    assert np.abs(jc.LowRankImputer().fit_transform(X) - X).max() <= 1e-10


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("X", [np.ones((2, 3)), np.array([[1.0, 2.0, 3.0], [1.0, np.nan, 3.0]])])
def test_two_equal_rows(X):
    np.testing.assert_array_equal(jc.LowRankImputer().fit_transform(X)[1], np.where(np.isnan(X[1]), X[0], X[1]))


def test_filled_cells_are_the_conditional_mean():
    """Of a Gaussian with covariance VV' + diag(psi): m + C_gO C_OO^-1 (x_O - m_O), row by row."""
    X = with_gaps(low_rank_rows(n=80))
    imputer = jc.LowRankImputer(n_components=3).fit(X)
    filled = imputer.transform(X)
    C = imputer.loadings_ @ imputer.loadings_.T + np.diag(imputer.noise_variance_)
    for row, one in zip(X, filled, strict=True):
        seen = ~np.isnan(row)
        guess = imputer.mean_ + C[:, seen] @ np.linalg.solve(C[np.ix_(seen, seen)], (row - imputer.mean_)[seen])
        guess = np.clip(guess, np.nanmin(X, axis=0), np.nanmax(X, axis=0))
        np.testing.assert_allclose(one, np.where(seen, row, guess), rtol=1e-6, atol=1e-10)


def test_equal_noise_is_probabilistic_pca():
    """t = (V_O'V_O + s2 L^-1)^-1 V_O'(x_O - m_O) with orthonormal V, and L the variance of the signal."""
    rng = np.random.RandomState(0)
    V, L, s2 = np.linalg.qr(rng.randn(8, 2))[0], np.array([5.0, 2.0]), 0.3
    X = with_gaps(rng.randn(50, 8))
    imputer = jc.LowRankImputer(n_components=2).fit(X)
    imputer.mean_, imputer.loadings_, imputer.noise_variance_ = np.zeros(8), V * np.sqrt(L), np.full(8, s2)
    imputer.lowest_, imputer.highest_ = np.full(8, -np.inf), np.full(8, np.inf)
    for row, one in zip(X, imputer.transform(X), strict=True):
        seen = ~np.isnan(row)
        t = np.linalg.solve(V[seen].T @ V[seen] + s2 * np.diag(1 / L), V[seen].T @ row[seen])
        np.testing.assert_allclose(one, np.where(seen, row, V @ t), atol=1e-10)


def test_rows_without_gaps_give_factor_analysis():
    """The likelihood is scikit-learn's, but for the prior of one row."""
    X = low_rank_rows(n=2000, seed=2)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    imputer = jc.LowRankImputer(n_components=3).fit(X)
    reference = FactorAnalysis(3, tol=1e-8, max_iter=5000, svd_method="lapack").fit(X)
    C = imputer.loadings_ @ imputer.loadings_.T + np.diag(imputer.noise_variance_)
    np.testing.assert_allclose(C, reference.get_covariance(), atol=0.01)


@pytest.mark.parametrize("shape", [(300, 12), (40, 90)])
def test_error_of_filled_cells(shape):
    """Noise is all that is left of it; with more columns than rows, too."""
    X = low_rank_rows(*shape)
    holes = with_gaps(X)
    gaps = np.isnan(holes)
    scale = X.std(axis=0)
    error = ((jc.LowRankImputer().fit_transform(holes) - X) / scale)[gaps]
    of_mean = ((np.nanmean(holes, axis=0) - X) / scale)[gaps]
    assert np.sqrt(np.mean(error**2)) <= 0.5 * np.sqrt(np.mean(of_mean**2))


@pytest.mark.parametrize("shape", [(600, 20), (40, 90)])
def test_the_rank_is_chosen_well(shape):
    """Not worse than the true one by more than a twentieth; too few directions would be."""
    X = low_rank_rows(*shape, noise=0.5)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    holes = with_gaps(X)
    error = {
        rank: np.sqrt(np.mean((jc.LowRankImputer(rank).fit_transform(holes) - X)[np.isnan(holes)] ** 2))
        for rank in (2, 3, None)
    }
    assert error[None] <= 1.05 * error[3] < error[2]


def test_units_do_not_matter():
    X = with_gaps(low_rank_rows())
    unit = 10.0 ** np.random.RandomState(1).uniform(-4, 4, X.shape[1])
    filled = jc.LowRankImputer().fit_transform(X)
    np.testing.assert_allclose(jc.LowRankImputer().fit_transform(X * unit) / unit, filled, rtol=1e-6)


def test_weight_2_is_the_row_twice():
    X = with_gaps(low_rank_rows(n=100))
    weights = np.random.RandomState(0).randint(3, size=len(X))
    weighted = jc.LowRankImputer().fit(X, sample_weight=weights)
    repeated = jc.LowRankImputer().fit(np.repeat(X, weights, axis=0))
    assert weighted.n_components_ == repeated.n_components_
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), rtol=1e-6)


def test_order_of_rows_and_columns():
    X = with_gaps(low_rank_rows(n=100))
    rows, columns = np.random.RandomState(1).permutation(len(X)), np.random.RandomState(2).permutation(X.shape[1])
    moved = jc.LowRankImputer().fit_transform(X[rows][:, columns])
    np.testing.assert_allclose(moved, jc.LowRankImputer().fit_transform(X)[rows][:, columns], rtol=1e-6)


def test_rows_do_not_depend_on_each_other():
    X = with_gaps(low_rank_rows())
    imputer = jc.LowRankImputer().fit(X)
    one_by_one = np.vstack([imputer.transform(row[None]) for row in X[:20]])
    np.testing.assert_allclose(one_by_one, imputer.transform(X)[:20], rtol=1e-9)


def test_gaps_in_some_columns_and_a_whole_column_missing_in_transform():
    X = low_rank_rows()
    holes = X.copy()
    holes[:, :4] = with_gaps(X[:, :4])
    imputer = jc.LowRankImputer().fit(pd.DataFrame(holes, columns=[f"c{j}" for j in range(12)]))
    new = pd.DataFrame(X, columns=imputer.feature_names_in_).assign(c7=np.nan)
    with pytest.warns(UserWarning, match="No row has a value in 1 of 12 columns \\('c7'\\)"):
        filled = imputer.transform(new)
    assert np.corrcoef(filled[:, 7], X[:, 7])[0, 1] > 0.8
    np.testing.assert_array_equal(np.delete(filled, 7, axis=1), np.delete(X, 7, axis=1))


def test_nearly_empty_columns_and_rows():
    X = low_rank_rows()
    X[3:, 5], X[:, 6], X[7] = np.nan, np.nan, np.nan
    with pytest.warns(UserWarning, match="'x[56]' is dropped") as text:
        imputer = jc.LowRankImputer().fit(X)
    assert len(text) == len(imputer.notes_) == 2
    assert imputer.get_feature_names_out().tolist() == [f"x{j}" for j in range(12) if j not in (5, 6)]
    filled = imputer.transform(X)
    np.testing.assert_allclose(filled[7], imputer.mean_)
    with pytest.raises(ValueError, match="nothing to learn from"):
        jc.LowRankImputer().fit(np.full((5, 3), np.nan))
    with pytest.warns(UserWarning, match="n_components=40 exceeds what 300 rows and 10 columns allow: 9"):
        jc.LowRankImputer(40).fit(filled)


def test_a_gap_in_a_category_is_told_from_the_other_columns():
    """The encoder leaves all levels of a gap empty; what fills them points to the right one."""
    rng = np.random.RandomState(0)
    level = rng.randint(3, size=400)
    table = pd.DataFrame({f"n{j}": rng.randn(400) * 0.3 + (level == j) for j in range(3)})
    table["kind"] = np.array(list("abc"))[level]
    gaps = rng.rand(400) < 0.2
    encoder = jc.MixedEncoder()
    coded = encoder.fit_transform(table.assign(kind=table["kind"].where(~gaps, None)))
    filled = jc.LowRankImputer().fit_transform(coded)
    shares = encoder.shares_["kind"]
    guess = filled[gaps, 3:] * np.sqrt(shares) + shares
    assert (guess.argmax(axis=1) == level[gaps]).mean() > 0.9
