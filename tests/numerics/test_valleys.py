import numpy as np
import pytest

from jointclust.numerics.valleys import valley_p_value


@pytest.mark.parametrize("size", [1e-100, 10.0, 1e100])
def test_groups_of_equal_rows_have_a_gap(size):
    """As the rows of a table with one category have; whatever the unit."""
    is_second = np.arange(60) % 3 == 0
    rows = size * is_second[:, None] * np.ones(2)
    assert valley_p_value(rows, is_second) < 0.01
    assert valley_p_value(np.zeros((60, 2)), is_second) > 0.5, "nothing is apart"


def test_a_gap_in_a_cloud_is_none(rng):
    cloud = rng.standard_normal((400, 3))
    assert valley_p_value(cloud, cloud[:, 0] > 0) > 0.05
    assert valley_p_value(cloud + 4 * (cloud[:, :1] > 0), cloud[:, 0] > 0) < 1e-6
