"""Partitions of rows."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from jointclust.numerics.partitions import adjusted_rand, merged


@pytest.mark.parametrize("n", [1, 2, 3, 7, 200])
def test_adjusted_rand_index(n, rng):
    trivial = [np.zeros(n, dtype=np.int32), np.arange(n, dtype=np.int32)]
    drawn = [rng.choice([3, 5, 9, 11], size=n).astype(np.int32) for _ in range(4)]
    for a in trivial + drawn:
        for b in trivial + drawn:
            assert adjusted_rand(a, b) == pytest.approx(adjusted_rand_score(a, b), abs=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_centers_that_only_rounding_tells_apart_are_one(dtype):
    eps = np.finfo(dtype).eps
    centers = np.array([[1.0, 5.0], [1.0, -5.0], [1.0 + 4 * eps, 5.0], [1.01, 5.0]], dtype=dtype)
    np.testing.assert_array_equal(merged(centers), centers[[0, 1, 0, 3]])
    np.testing.assert_array_equal(merged(np.zeros((3, 2), dtype)), np.zeros((3, 2)))
