import numpy as np
import pytest
from jointclust.numerics.valleys import nearest_pair, valley_p_value


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


def test_nearest_clusters_of_two_sides(rng):
    """In units of the scatter within clusters, which is wide in the first column."""
    clusters = np.repeat([3, 5, 7, 8], 30)
    centers = np.array([[0, 0], [0, 12], [20, 0], [0, 20]])
    rows = centers[np.repeat(range(4), 30)] + rng.standard_normal((120, 2)) * [10, 0.5]
    np.testing.assert_array_equal(nearest_pair(rows, clusters, clusters > 5), np.isin(clusters, [3, 7]))
    one_each = np.where(clusters > 5, 2, 1)
    assert nearest_pair(rows, one_each, clusters > 5).all()
    assert nearest_pair(rows, clusters, clusters > 9).all(), "there is one side"
    assert nearest_pair(rows[:0], clusters[:0], clusters[:0] > 5).size == 0
