"""Optimal discriminant clustering in its linear form, its sparse form, and its relatives."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import jointclust as jc
from jointclust.methods.sparse_scoring import nearest_scores
from jointclust.metrics import clustering_accuracy, normalized_mutual_info

ODC = jc.OptimalDiscriminantClustering


def up_to_signs(A, B, tolerance):
    signs = np.sign(np.sum(A * B, axis=0))
    np.testing.assert_allclose(A * signs, B, atol=tolerance)


def random_data(seed, n=60, D=12):
    rng = np.random.RandomState(seed)
    return rng.standard_normal((n, D)) * np.linspace(3, 0.5, D) + rng.standard_normal(D)


def same_span(A, B, tolerance=1e-8):
    cosines = np.linalg.svd(np.linalg.qr(A)[0].T @ np.linalg.qr(B)[0], compute_uv=False)
    np.testing.assert_allclose(cosines, 1, atol=tolerance)


# -- linear -------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([(60, 12), (20, 50), (300, 40)]), st.floats(1e-3, 1e3))
def test_theorem_2(seed, shape, ridge):
    """The embedding, W and the objective are those of the paper, on tall and on wide data."""
    X = random_data(seed, *shape)
    model = ODC(5, ridge=ridge, random_state=0).fit(X)
    centred = X - X.mean(axis=0)
    U, s, _ = np.linalg.svd(centred, full_matrices=False)
    Y, shrink = U[:, :4], s[:4] ** 2 / (s[:4] ** 2 + ridge)
    up_to_signs(model.transform(X), Y * shrink, 1e-8)
    W = np.linalg.solve(centred.T @ centred + ridge * np.eye(shape[1]), centred.T @ Y)
    up_to_signs(model.components_.T, W, 1e-8)
    assert model.objective_ == pytest.approx(4 / 2 - shrink.sum() / 2, abs=1e-10)
    residual = 0.5 * np.sum((Y - centred @ W) ** 2) + 0.5 * ridge * np.sum(W**2)
    assert model.objective_ == pytest.approx(residual, abs=1e-10)
    assert model.score(X) == pytest.approx(-model.objective_, abs=1e-10)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_no_scores_do_better(rng):
    """The closed form is the minimum: random scores with their best W have a larger objective."""
    X = random_data(1)
    model = ODC(4, ridge=2.0, random_state=0).fit(X)
    centred = X - X.mean(axis=0)
    hat = centred @ np.linalg.solve(centred.T @ centred + 2.0 * np.eye(12), centred.T)
    for _ in range(50):
        Y = rng.standard_normal((60, 3))
        Y = np.linalg.qr(Y - Y.mean(axis=0))[0]
        assert 0.5 * (3 - np.trace(Y.T @ hat @ Y)) >= model.objective_ - 1e-12


@pytest.mark.parametrize("ridge", [0.0, 1e-12])
def test_without_ridge_it_is_k_means_on_whitened_scores(ridge, blobs):
    X, _ = blobs
    model = ODC(4, ridge=ridge, random_state=0).fit(X)
    U = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0][:, :3]
    up_to_signs(model.transform(X), U, 1e-8)
    inertia = np.sum((model.transform(X) - model.cluster_centers_[model.labels_]) ** 2)
    assert inertia == pytest.approx(KMeans(4, n_init=10, random_state=0).fit(U).inertia_)


def test_repeated_eigenvalues():
    """Lanczos alone would lose copies of a repeated eigenvalue."""
    basis = scipy.linalg.hadamard(1024)[:, 1:401].astype(float) / 32
    scale = np.r_[np.full(30, 5.0), np.linspace(1, 0.5, 370)]
    model = ODC(31, ridge=1.0, random_state=0).fit(basis * scale)
    np.testing.assert_allclose(model.eigenvalues_, 25.0)


def test_coordinates_give_the_same_fit(digits):
    X = digits.data
    coordinates = jc.decompose(X)
    for ridge in ("auto", 1e3):
        direct, shared = (ODC(10, ridge=ridge, random_state=0).fit(data) for data in (X, coordinates))
        assert direct.ridge_ == pytest.approx(shared.ridge_)
        np.testing.assert_allclose(direct.transform(X), shared.transform(X), atol=1e-9)
        np.testing.assert_array_equal(direct.labels_, shared.labels_)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_invariance(seed):
    """Rotation, translation and permutation change nothing; a weight is a repetition; scale goes into the ridge."""
    X, rng = random_data(seed), np.random.RandomState(seed)
    plain = ODC(4, random_state=0).fit(X)
    rotation = np.linalg.qr(rng.standard_normal((12, 12)))[0]
    moved = ODC(4, random_state=0).fit(7 * X @ rotation + 3)
    assert moved.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_array_equal(moved.labels_, plain.labels_)
    order = rng.permutation(60)
    np.testing.assert_array_equal(ODC(4, random_state=0).fit(X[order]).labels_, plain.labels_[order])
    weights = rng.randint(0, 4, 60)
    weighted = ODC(4, random_state=0).fit(X, sample_weight=weights)
    repeated = ODC(4, random_state=0).fit(np.repeat(X, weights, axis=0))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


def test_inverse_transform_is_least_squares(digits):
    model = ODC(10, random_state=0).fit(digits.data)
    Y = model.transform(digits.data)
    np.testing.assert_allclose(model.transform(model.inverse_transform(Y)), Y, atol=1e-9)


def test_callbacks_and_given_labels(blobs):
    X, y = blobs
    model = ODC(4, init=np.asarray(y), random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) == 1
    with pytest.warns(RuntimeWarning, match="one run is made"):
        ODC(4, init=np.asarray(y), n_init=3).fit(X)


def test_more_runs_find_no_worse_clusters(digits):
    def inertia(n_init):
        model = ODC(10, n_init=n_init, random_state=0, n_jobs=2).fit(digits.data)
        return np.sum((model.transform(digits.data) - model.cluster_centers_[model.labels_]) ** 2)

    assert inertia(5) <= inertia(1) * (1 + 1e-12)


# -- DisKMeans and DisCluster -------------------------------------------------------------------------------------


def test_diskmeans_is_kernel_k_means(rng):
    """Its embedding has the kernel C (C + ridge I)^-1, and its objective is that of kernel k-means."""
    X = random_data(3)
    model = jc.DisKMeans(4, ridge=5.0, random_state=0).fit(X)
    C = (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    kernel = C @ np.linalg.inv(C + 5.0 * np.eye(60))
    Y = model.transform(X)
    np.testing.assert_allclose(Y @ Y.T, kernel, atol=1e-10)
    L = np.eye(4)[model.labels_]
    L /= np.sqrt(L.sum(axis=0))
    assert model.objective_ == pytest.approx(np.trace(L.T @ kernel @ L))
    assert model.score(X) == pytest.approx(model.objective_)
    # No single row can move to a better cluster: the labels are a rest point of kernel k-means.
    mean = L / np.sqrt(np.bincount(model.labels_))
    distance = -2 * kernel @ mean + np.einsum("ik,ij,jk->k", mean, kernel, mean)
    np.testing.assert_array_equal(distance.argmin(axis=1), model.labels_)


def test_diskmeans_between_k_means_and_collapse(blobs, rng):
    X, _ = blobs
    with pytest.warns(jc.PlainKMeansWarning, match="Lower it"):
        model = jc.DisKMeans(4, ridge=1e12, random_state=0).fit(X)
    plain = KMeans(4, n_init=10, random_state=0).fit(X)
    assert clustering_accuracy(plain.labels_, model.labels_) == 1
    with pytest.warns(jc.CollapseWarning, match="equally far"):
        jc.DisKMeans(3, ridge=0, random_state=0).fit(rng.standard_normal((30, 100)))


def scatters(X, labels):
    X = X - X.mean(axis=0)
    within = sum(
        (X[labels == k] - X[labels == k].mean(0)).T @ (X[labels == k] - X[labels == k].mean(0)) for k in set(labels)
    )
    return X.T @ X - within, within


@pytest.mark.parametrize("ridge", ["auto", 0, 3.0])
def test_discluster_step_is_regularised_lda(ridge, blobs):
    X, _ = blobs
    model = jc.DisCluster(4, ridge=ridge, random_state=0).fit(X)
    assert model.converged_
    between, within = scatters(X, model.labels_)
    regular = within + model.ridge_ * np.eye(30)
    values, vectors = scipy.linalg.eigh(between, regular)
    np.testing.assert_allclose(model.components_ @ regular @ model.components_.T, np.eye(3), atol=1e-6)
    same_span(model.components_.T, vectors[:, -3:])
    assert model.objective_ == pytest.approx(values[-3:].sum())
    if ridge == 0:
        lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, model.labels_)
        same_span(model.components_.T, lda.scalings_[:, :3])


def test_discluster_refuses_a_singular_problem(rng):
    with pytest.raises(ValueError, match="ridge=0 needs .* Set ridge > 0"):
        jc.DisCluster(3, ridge=0).fit(rng.standard_normal((20, 40)))


# -- sparse -------------------------------------------------------------------------------------------------------

SparseODC = jc.SparseOptimalDiscriminantClustering


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([(60, 12), (20, 50)]), st.sampled_from(["auto", 0.5, 3.0]))
@pytest.mark.filterwarnings("ignore::jointclust.CollapseWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_sparse_objective(seed, shape, sparsity):
    """It never rises, and the value published is the formula's."""
    X = random_data(seed, *shape)
    model = SparseODC(4, sparsity=sparsity, random_state=0).fit(X)
    assert np.all(np.diff(model.objective_history_) <= 1e-12)
    W, centred = model.components_.T, X - X.mean(axis=0)
    Y = nearest_scores(centred @ W, np.ones(len(X)), np.linalg.svd(centred, full_matrices=False)[0][:, :3])
    np.testing.assert_allclose(Y.T @ Y, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(Y.sum(axis=0), 0, atol=1e-9)
    value = 0.5 * np.sum((Y - centred @ W) ** 2) + model.ridge_ / 2 * np.sum(W**2) + model.sparsity_ * np.abs(W).sum()
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    assert model.score(X) == pytest.approx(-value, rel=1e-9)
    np.testing.assert_array_equal(model.support_, (W != 0).any(axis=1))


def test_sparse_solution_is_stationary():
    """At rest W solves the elastic net for its own scores: the optimality conditions hold."""
    X = random_data(5)
    model = SparseODC(4, tol=1e-13, max_iter=3000, random_state=0).fit(X)
    W, centred = model.components_.T, X - X.mean(axis=0)
    Y = nearest_scores(centred @ W, np.ones(60), W)
    gradient = centred.T @ (Y - centred @ W) - model.ridge_ * W
    np.testing.assert_allclose(gradient[W != 0], model.sparsity_ * np.sign(W[W != 0]), rtol=1e-3)
    assert np.all(np.abs(gradient[W == 0]) <= model.sparsity_ * (1 + 1e-3))


@pytest.mark.parametrize("shape", [(60, 12), (20, 50)])
def test_without_sparsity_it_is_the_dense_method(shape):
    X = random_data(2, *shape)
    sparse, dense = SparseODC(4, sparsity=0, random_state=0).fit(X), ODC(4, random_state=0).fit(X)
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-10)
    assert sparse.objective_ == pytest.approx(dense.objective_)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)


def test_sparse_finds_the_features_that_matter(rng):
    truth = np.arange(200) % 3
    X = rng.standard_normal((200, 300))
    X[:, :10] += 4 * rng.standard_normal((3, 10))[truth]
    model = SparseODC(3, random_state=0).fit(X)
    assert clustering_accuracy(truth, model.labels_) == 1
    assert not model.support_[10:].any()


def test_sparse_says_when_no_feature_is_left(blobs):
    X, _ = blobs
    with pytest.warns(jc.CollapseWarning, match="3 of 3 components have no feature left: lower sparsity"):
        SparseODC(4, sparsity=1e9).fit(X)
    with pytest.warns(jc.CollapseWarning, match="no feature left"):
        SparseODC(4, sparsity=1.5 * SparseODC(4).fit(X).sparsity_ / 0.5).fit(X)


def test_nearest_scores_fill_up(rng):
    """A missing direction is filled inside the space orthogonal to the constant vector."""
    reserve = np.linalg.qr(rng.standard_normal((20, 3)) - 0.0)[0]
    reserve = np.linalg.qr(reserve - reserve.mean(axis=0))[0]
    fitted = np.outer(reserve[:, 0], [1.0, 0.0, 0.0])
    Y = nearest_scores(fitted, np.ones(20), reserve)
    np.testing.assert_allclose(Y.T @ Y, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(Y.sum(axis=0), 0, atol=1e-12)
    assert np.sum(Y * fitted) == pytest.approx(1.0)


# -- supervised parent --------------------------------------------------------------------------------------------


def test_scoring_is_theorem_1(iris):
    X, y = iris.data, iris.target
    model = jc.DiscriminantProjection("scoring", ridge=2.0).fit(X, y)
    centred, E = X - X.mean(axis=0), np.eye(3)[y]
    inverse = np.linalg.inv(centred.T @ centred + 2.0 * np.eye(4))
    half = np.diag(1 / np.sqrt(E.sum(axis=0)))
    R = half @ E.T @ centred @ inverse @ centred.T @ E @ half
    Theta = half @ np.linalg.eigh(R)[1][:, ::-1][:, :2]
    np.testing.assert_allclose(Theta.T @ E.T @ E @ Theta, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(E.sum(axis=0) @ Theta, 0, atol=1e-9)
    up_to_signs(model.components_.T, inverse @ centred.T @ E @ Theta, 1e-10)


def test_scoring_spans_the_lda_subspace(iris):
    scoring = jc.DiscriminantProjection("scoring", ridge=1e-9).fit(iris.data, iris.target)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(iris.data, iris.target)
    same_span(scoring.components_.T, lda.scalings_[:, :2])


# -- real data ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "gain"), [("orl", 0.06), ("umist", 0.03), ("imm", 0.05)])
def test_better_than_k_means_on_faces(name, gain, real_data):
    data = real_data(name)
    c = data.n_classes

    def accuracy(make):
        models = (make(seed).fit(data.data) for seed in range(10))
        return np.mean([clustering_accuracy(data.target, model.labels_) for model in models])

    plain = accuracy(lambda seed: KMeans(c, n_init=10, random_state=seed))
    assert accuracy(lambda seed: ODC(c, random_state=seed)) >= plain + gain


@pytest.mark.slow
def test_sparse_on_gene_expression(real_data):
    data = real_data("srbct")

    def accuracy(models):
        return np.mean([clustering_accuracy(data.target, model.labels_) for model in models])

    sparse = [SparseODC(4, random_state=seed).fit(data.data) for seed in range(10)]
    assert max(model.support_.sum() for model in sparse) < 200
    assert accuracy(sparse) >= accuracy(ODC(4, random_state=seed).fit(data.data) for seed in range(10)) - 0.03


@pytest.mark.slow
@pytest.mark.parametrize(("name", "accuracy", "nmi"), [("digits", 0.84, 0.86), ("umist", 0.55, 0), ("coil20", 0.75, 0)])
def test_neighbor_graph_on_real_data(name, accuracy, nmi, real_data):
    data = real_data(name)
    models = [ODC(data.n_classes, kernel="nearest_neighbors", random_state=seed).fit(data.data) for seed in range(5)]
    assert np.mean([clustering_accuracy(data.target, model.labels_) for model in models]) >= accuracy
    assert np.mean([normalized_mutual_info(data.target, model.labels_) for model in models]) >= nmi
