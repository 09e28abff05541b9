"""Partitions of rows."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from jointclust.numerics.partitions import adjusted_rand


@pytest.mark.parametrize("n", [1, 2, 3, 7, 200])
def test_adjusted_rand_index(n, rng):
    trivial = [np.zeros(n, dtype=np.int32), np.arange(n, dtype=np.int32)]
    drawn = [rng.choice([3, 5, 9, 11], size=n).astype(np.int32) for _ in range(4)]
    for a in trivial + drawn:
        for b in trivial + drawn:
            assert adjusted_rand(a, b) == pytest.approx(adjusted_rand_score(a, b), abs=1e-12)
