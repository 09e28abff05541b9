"""The reference partitions of the label-free criterion."""

import numpy as np
import pytest

import jointclust as jc
from jointclust.selection.references import reference_labels, reference_members


@pytest.mark.parametrize(("n_rows", "n_neighbors"), [(12, [3, 3]), (200, [5, 10])])
def test_sixteen_members_of_three_kinds(n_rows, n_neighbors):
    X = np.random.RandomState(0).standard_normal((n_rows, 6))
    members = reference_members(3, X, jc.decompose(X))
    assert len(members) == 16
    assert all(isinstance(member, jc.LDAKMeans) for member in members[:12])
    assert [member.n_neighbors for member in members[12:14]] == n_neighbors
    assert [member[-1].n_neighbors for member in members[14:]] == n_neighbors
    assert {member.init for member in members[:12]} == {"k-means++", "whitened"}


def test_labels_do_not_depend_on_threads():
    X, _ = jc.datasets.mixture(n_samples=120, n_features=20, n_clusters=3, random_state=0)
    coordinates = jc.decompose(X)
    one, two = (
        reference_labels(reference_members(3, X, coordinates), X, coordinates, np.random.RandomState(0), n_jobs)
        for n_jobs in (None, 2)
    )
    np.testing.assert_array_equal(one, two)
