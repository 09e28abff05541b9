"""Stability under resampling."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

import jointclust as jc


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


@pytest.mark.parametrize("n_resamples", [-1, 0, 2.5, True])
def test_resamples_are_counted_from_one(n_resamples, rng):
    with pytest.raises(ValueError, match="'n_resamples' parameter of bootstrap_stability"):
        jc.bootstrap_stability(KMeans(2), rng.standard_normal((30, 3)), n_resamples=n_resamples)


def test_too_few_rows(rng):
    with pytest.raises(ValueError, match="10 rows are too few to resample.*n_clusters=6"):
        jc.bootstrap_stability(KMeans(6, n_init=1), rng.standard_normal((10, 3)))


def test_resamples_of_few_rows_hold_the_clusters():
    """Of four rows, a resample often has a single one."""
    X = np.array([[0.0], [0.1], [9.0], [9.1]])
    stability = jc.bootstrap_stability(KMeans(2, n_init=1, random_state=0), X, n_resamples=100, random_state=0)
    assert stability.shape == (2,)
