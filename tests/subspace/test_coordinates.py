import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import jointclust as jc
from jointclust.numerics.partitions import cluster_sizes
from jointclust.subspace import decomposition as module
from jointclust.subspace.directions import wanted_components


def low_rank(n, D, rank, seed=0, noise=0.0):
    rng = np.random.RandomState(seed)
    X = (rng.standard_normal((n, rank)) * np.linspace(3, 1, rank)) @ rng.standard_normal((rank, D))
    return X + noise * rng.standard_normal((n, D)) + rng.standard_normal(D)


@pytest.mark.parametrize(("n", "D"), [(200, 30), (30, 200)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_eigenbasis_of_the_total_scatter(n, D, weighted, form):
    X = low_rank(n, D, 12)
    weights = np.random.RandomState(1).randint(0, 3, size=n).astype(float) if weighted else None
    coordinates = jc.decompose(form(X), weights)
    w = np.ones(n) if weights is None else weights
    centred = X - np.average(X, axis=0, weights=w)
    scatter = (centred * w[:, None]).T @ centred
    assert coordinates.rank == 12
    assert coordinates.exact
    np.testing.assert_allclose(coordinates.eigenvalues, np.linalg.eigvalsh(scatter)[::-1][:12], rtol=1e-9)
    V = coordinates.loadings(np.eye(12))
    np.testing.assert_allclose(V.T @ V, np.eye(12), atol=1e-9)
    np.testing.assert_allclose(coordinates.embed(np.eye(12)), centred @ V, atol=1e-8)
    np.testing.assert_allclose(coordinates.leading(3), centred @ V[:, :3], atol=1e-8)
    assert coordinates.total_variance == pytest.approx(np.trace(scatter))
    assert coordinates.variance_kept == pytest.approx(1)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_randomised_decomposition_finds_the_leading_part(form, weighted, monkeypatch):
    monkeypatch.setattr(module, "EXACT_LIMIT", 50)
    X = low_rank(300, 120, 8, noise=0.01)
    weights = np.random.RandomState(1).randint(0, 3, size=300).astype(float) if weighted else None
    coordinates = jc.decompose(form(X), weights, max_rank=8)
    exact = np.linalg.svd(
        np.sqrt(1 if weights is None else weights[:, None]) * (X - np.average(X, axis=0, weights=weights)),
        compute_uv=False,
    )
    assert not coordinates.exact
    assert coordinates.rank == 8
    np.testing.assert_allclose(coordinates.eigenvalues, exact[:8] ** 2, rtol=1e-6)
    assert 0.99 < coordinates.variance_kept < 1
    assert coordinates.total_variance == pytest.approx(np.sum(exact**2))


def test_variance_keeps_the_fewest_directions():
    coordinates = jc.decompose(low_rank(100, 40, 30))
    kept = coordinates.keep(0.8)
    assert kept.variance_kept >= 0.8
    assert coordinates.first(kept.rank - 1).variance_kept < 0.8
    assert coordinates.keep(None) is coordinates
    assert coordinates.keep(1.0).rank == coordinates.rank


def test_constant_columns_and_dependent_columns_add_no_rank(rng):
    X = rng.standard_normal((50, 5))
    X = np.hstack([X, X @ rng.standard_normal((5, 5)), np.full((50, 3), 7.7)])
    assert jc.decompose(X).rank == 5
    assert jc.decompose(X.astype(np.float32)).rank == 5


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_cluster_sums_follow_the_labels(form, shared, weighted, rng):
    X = low_rank(120, 40, 20)
    weights = rng.randint(0, 3, size=120).astype(float) if weighted else None
    coordinates = jc.decompose(form(X), weights)
    if not shared:  # as inside a single fit: no coordinates of the rows are held
        coordinates = module.replace(coordinates, scores=None)
    labels = rng.randint(6, size=120).astype(np.int32)
    clusters = coordinates.clusters(labels, 6)
    T = coordinates.embed(np.eye(20))
    for moved in (0, 3, 50, 120):
        labels = labels.copy()
        labels[rng.permutation(120)[:moved]] = rng.randint(6, size=moved)
        clusters = clusters.relabelled(labels)
        w = np.ones(120) if weights is None else weights
        expected = np.array([w[labels == k] @ T[labels == k] for k in range(6)])
        np.testing.assert_allclose(clusters.sums, expected, atol=1e-8)
        np.testing.assert_allclose(clusters.sizes, cluster_sizes(labels, 6, weights))
        basis = np.linalg.qr(rng.standard_normal((20, 3)))[0]
        centers = expected / np.maximum(clusters.sizes, 1)[:, None]
        within = np.sum(w[:, None] * ((T - centers[labels]) @ basis) ** 2)
        assert clusters.within_scatter(basis) == pytest.approx(within)


@pytest.mark.parametrize(("name", "value"), [("variance", 2), ("variance", 0), ("variance", np.nan), ("max_rank", 0)])
def test_bad_parameters(name, value, iris):
    with pytest.raises(ValueError, match=name):
        jc.decompose(iris.data, **{name: value})


def test_coordinates_are_for_fit_only(iris):
    model = jc.LDAKMeans(3, variance=None, random_state=0).fit(iris.data)
    with pytest.raises(TypeError, match="only fit takes"):
        model.predict(jc.decompose(iris.data))


@pytest.mark.filterwarnings("ignore::jointclust.PlainKMeansWarning")
def test_a_truncated_decomposition_says_what_it_misses():
    X = sp.random_array((400, 900), density=0.05, format="csr", rng=np.random.default_rng(0))
    with pytest.warns(UserWarning, match=r"rank 20 carries 0\.\d+ of the variance, less than variance=0.9"):
        jc.LDAKMeans(3, max_rank=20, random_state=0).fit(X)
    with pytest.warns(jc.CollapseWarning, match="Raise max_rank"):
        jc.DiscriminativeEmbeddedClustering(3, n_components=30, max_rank=20, random_state=0).fit(X)


def test_one_fit_copies_no_data():
    """Peak extra memory of a fit stays below 1.2 times a float32 input."""
    X, _ = jc.datasets.mixture(60_000, 200, 10, random_state=0)
    X = X.astype(np.float32)
    tracemalloc.start()
    jc.DiscriminativeEmbeddedClustering(10, update_rule="fixed", max_iter=3, tol=1, random_state=0).fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.2 * X.nbytes


@pytest.mark.parametrize("weighted", [False, True])
def test_randomised_decomposition_of_very_wide_rows(weighted):
    """Many more columns than rows: made orthonormal on the shorter side, the leading spectrum is that of the matrix."""
    rng = np.random.RandomState(0)
    X = sp.csr_array(
        sp.random(300, 5000, density=0.02, random_state=0)
        + 3 * sp.csr_array(rng.standard_normal((300, 4)) @ rng.binomial(1, 0.1, size=(4, 5000)))
    )
    weights = rng.uniform(0.5, 2, size=300) if weighted else None
    result = jc.decompose(X, weights, max_rank=30, random_state=0)
    root = np.sqrt(np.ones(300) if weights is None else weights)[:, None]
    dense = X.toarray()
    exact = np.linalg.svd(root * (dense - np.average(dense, axis=0, weights=weights)), compute_uv=False)[:4] ** 2
    assert not result.exact
    np.testing.assert_allclose(result.eigenvalues[:4], exact, rtol=1e-8)
    np.testing.assert_allclose(result.basis.T @ result.basis, np.eye(result.rank), atol=1e-10)


@pytest.mark.parametrize("rank", [3, 40, 64, 400, 4000])
def test_many_clusters_want_a_subspace(rank):
    """As many components as few clusters span; for many a limit, and less than the space has where that is large."""
    assert [wanted_components(c, rank) for c in (2, 10, 51)] == [1, 9, 50]
    many = [wanted_components(c, rank) for c in (52, 100, 1000, 10_000)]
    assert many == sorted(many)
    assert 50 <= many[0] <= many[-1] <= 256
    assert rank <= 50 or many[-1] < rank
