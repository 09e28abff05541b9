"""The number of clusters, and whether there are any."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import jointclust as jc
from jointclust.choosing import number

MIXTURES = [(2, 20, 300), (4, 100, 600), (8, 300, 1000), (15, 200, 1500), (25, 400, 2500)]


@pytest.mark.parametrize(("n_clusters", "n_features", "n_samples"), MIXTURES)
def test_generated_mixtures(n_clusters, n_features, n_samples):
    X, _ = jc.datasets.mixture(n_samples, n_features, n_clusters, n_nuisance=5, separation=10, random_state=n_clusters)
    found = jc.number_of_clusters(X, random_state=0)
    assert abs(found.n_clusters - n_clusters) <= 0.1 * n_clusters
    assert found.has_structure


@pytest.mark.parametrize("shape", [(300, 2), (200, 10), (500, 60), (100, 300)])
@pytest.mark.parametrize("kind", ["uniform", "gaussian", "correlated"])
def test_no_structure(kind, shape, rng):
    X = rng.uniform(size=shape) if kind == "uniform" else rng.standard_normal(shape)
    if kind == "correlated":
        X = X @ (rng.standard_normal((shape[1], shape[1])) * np.geomspace(1, 0.05, shape[1]))
    found = jc.number_of_clusters(X, random_state=0)
    assert found.n_clusters == 1
    assert found.verdict == "no cluster structure found"
    with pytest.warns(jc.CollapseWarning, match="No cluster structure"):
        found.warn()


def test_nuisance_directions_do_not_matter(rng):
    """No scaling of a direction without clusters changes the number, where k-means would be lost."""
    X, _ = jc.datasets.mixture(600, 12, 3, n_nuisance=0, random_state=2)
    for scale in (1, 30, 1000):
        assert (
            jc.number_of_clusters(np.hstack([X, scale * rng.standard_normal((600, 4))]), random_state=0).n_clusters == 3
        )


def test_table_is_the_evidence(recwarn):
    X, _ = jc.datasets.mixture(400, 30, 3, n_nuisance=3, separation=10, random_state=0)
    found = jc.number_of_clusters(X, random_state=0)
    found.warn()
    assert not recwarn.list
    table = pd.DataFrame(found.table)
    assert found.n_clusters == table.groupby("split")["clusters"].max().median() == 3
    apart = table["clusters"] > 1
    assert (table["doubt"][apart] <= 0.05).all()
    assert table["doubt"][~apart].isna().all()
    again = pd.DataFrame(jc.number_of_clusters(X, random_state=0).table)
    pd.testing.assert_frame_equal(table, again)


def test_sparse_weighted_and_decomposed_rows(rng):
    X, _ = jc.datasets.mixture(400, 30, 3, n_nuisance=3, separation=10, random_state=0)
    assert jc.number_of_clusters(sp.csr_array(X), random_state=0).n_clusters == 3
    assert jc.number_of_clusters(X.astype(np.float32), random_state=0).n_clusters == 3
    other = np.vstack([X, 100 + rng.standard_normal((200, 30))])
    absent = jc.decompose(other, np.r_[np.ones(400), np.zeros(200)])
    assert jc.number_of_clusters(absent, random_state=0).n_clusters == 3
    assert jc.number_of_clusters(jc.decompose(other), random_state=0).n_clusters == 4


def test_noise_is_told_from_signal(rng):
    """Directions well above the noise's edge are counted, whatever the shape and however far the rank is cut."""
    for n, d in ((300, 100), (100, 300), (400, 20)):
        X = rng.standard_normal((n, d))
        X[:, :5] *= 8
        coordinates = jc.decompose(X)
        assert number.rank_above_noise(coordinates) == pytest.approx(5, abs=1)
    X = rng.standard_normal((300, 200))
    X[:, :5] *= 8
    limited = jc.decompose(sp.csr_array(X), max_rank=50)
    assert not limited.exact
    assert number.rank_above_noise(limited) == pytest.approx(5, abs=3)


def test_valley(rng):
    flat, hill = rng.uniform(-2, 2, 500), rng.standard_normal(500)
    apart = np.concatenate([hill - 3, hill + 3])
    assert number.valley_doubt(apart, -3, 3) < 1e-6
    assert number.valley_doubt(hill, -1, 1) > 0.5
    assert number.valley_doubt(flat, -1, 1) > 0.01
    assert number.valley_doubt(np.zeros(0), 0, 1) == 1


def test_joined_labels_do_not_depend_on_the_scale_of_directions(rng):
    """The determinant of the within-cluster covariance is minimised up to a linear map."""
    X, y = jc.datasets.mixture(300, 6, 3, n_nuisance=2, random_state=0)
    start = np.where(rng.uniform(size=300) < 0.3, rng.randint(0, 3, 300), y).astype(np.int32)
    labels = number.regrouped(X, start, 30)
    np.testing.assert_array_equal(labels, number.regrouped(X * [1, 5, 0.1, 100, 2, 1], start, 30))
    assert np.mean(labels == y) == 1


def test_constant_and_few_rows(rng):
    assert jc.number_of_clusters(np.ones((50, 3)), random_state=0).n_clusters == 1
    with pytest.raises(ValueError, match="31 rows are too few"):
        jc.number_of_clusters(rng.standard_normal((31, 3)))


@pytest.mark.slow
def test_digits(digits):
    assert 9 <= jc.number_of_clusters(digits.data, random_state=0).n_clusters <= 11
