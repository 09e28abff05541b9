"""Optimal discriminant clustering with kernels, and the neighbour graph as one."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import cosine_similarity, polynomial_kernel, rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.neighbors import kneighbors_graph
from test_scoring import ODC, random_data, up_to_signs

import jointclust as jc
from jointclust.methods import scoring_embeddings
from jointclust.metrics import clustering_accuracy, normalized_mutual_info
from jointclust.numerics.graph import distinct_rows, graph_spectrum


def linear(A, B):
    return A @ B.T


KERNELS = {
    "rbf": (lambda A, B: rbf_kernel(A, B, gamma=0.05), {"gamma": 0.05}),
    "poly": (
        lambda A, B: polynomial_kernel(A, B, degree=2, gamma=0.1, coef0=0.5),
        {"gamma": 0.1, "degree": 2, "coef0": 0.5},
    ),
    "cosine": (cosine_similarity, {}),
}


def rings(n=600, seed=0):
    """Two circles around each other, which no linear method tells apart."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 2
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = np.where(y == 0, 1.0, 4.0) + 0.1 * rng.standard_normal(n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


# -- identities ---------------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.floats(1e-2, 1e2), st.booleans())
def test_linear_kernel_equals_the_linear_form(seed, ridge, weighted):
    X, rng = random_data(seed), np.random.RandomState(seed)
    weights = rng.randint(0, 3, 60) if weighted else None
    new = rng.standard_normal((7, 12))
    plain = ODC(4, ridge=ridge, random_state=0).fit(X, sample_weight=weights)
    for model, rows, others in (
        (ODC(4, ridge=ridge, kernel=linear, random_state=0), X, new),
        (ODC(4, ridge=ridge, kernel="precomputed", random_state=0), X @ X.T, new @ X.T),
        (ODC(4, ridge=ridge, kernel="poly", gamma=1, degree=1, coef0=0, random_state=0), X, new),
    ):
        model.fit(rows, sample_weight=weights)
        assert model.objective_ == pytest.approx(plain.objective_, abs=1e-10)
        up_to_signs(model.transform(rows), plain.transform(X), 1e-8)
        signs = np.sign(np.sum(model.transform(rows) * plain.transform(X), axis=0))
        np.testing.assert_allclose(model.transform(others) * signs, plain.transform(new), atol=1e-8)
        assert adjusted_rand_score(plain.labels_, model.labels_) == 1
        assert model.score(rows, sample_weight=weights) == pytest.approx(-model.objective_, abs=1e-9)


def test_automatic_ridge_is_the_same_in_both_forms():
    X = random_data(0)
    assert ODC(4, kernel=linear).fit(X).ridge_ == pytest.approx(ODC(4).fit(X).ridge_)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n", [60, 400])
def test_named_kernels(kernel, n):
    """Named = precomputed = callable = the paper's formula; training rows predict to their labels."""
    function, options = KERNELS[kernel]
    X, new = random_data(1, n), random_data(2, 9)
    named = ODC(4, kernel=kernel, ridge=0.7, random_state=0, **options).fit(X)
    matrix = ODC(4, kernel="precomputed", ridge=0.7, random_state=0).fit(function(X, X))
    called = ODC(4, kernel=function, ridge=0.7, random_state=0).fit(X)
    centring = np.eye(n) - 1 / n
    C = centring @ function(X, X) @ centring
    values, vectors = np.linalg.eigh(C)
    Y = vectors[:, ::-1][:, :3]
    up_to_signs(named.transform(X), C @ np.linalg.solve(C + 0.7 * np.eye(n), Y), 1e-8)
    for model, rows, others in ((matrix, function(X, X), function(new, X)), (called, X, new)):
        up_to_signs(model.transform(rows), named.transform(X), 1e-8)
        np.testing.assert_array_equal(model.labels_, named.labels_)
        np.testing.assert_array_equal(model.predict(rows), model.labels_)
        np.testing.assert_allclose(model.transform(others), named.transform(new), atol=1e-8)
    np.testing.assert_array_equal(named.predict(X), named.labels_)
    np.testing.assert_allclose(named.eigenvalues_, values[::-1][:3])
    assert named.dual_coef_.shape == (3, n)
    up_to_signs(C @ named.dual_coef_.T, named.transform(X), 1e-8)
    assert not hasattr(named, "components_")
    assert not hasattr(named, "inverse_transform")


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine", "nearest_neighbors"])
def test_sparse_equals_dense(kernel, rng):
    truth = np.arange(200) % 4
    X = rng.poisson(np.where(rng.uniform(size=(4, 60)) < 0.2, 4.0, 0.05)[truth]) * rng.uniform(0.9, 1.1, (200, 60))
    dense, sparse = (ODC(4, kernel=kernel, random_state=0).fit(data) for data in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_allclose(dense.transform(X), sparse.transform(sp.csr_matrix(X)), atol=1e-6)
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), sparse.labels_)
    single = ODC(4, kernel=kernel, random_state=0).fit(X.astype(np.float32))
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert clustering_accuracy(dense.labels_, single.labels_) == 1


@pytest.mark.parametrize("kernel", ["rbf", "poly", "cosine", "nearest_neighbors"])
def test_weight_is_repetition(kernel):
    X, rng = random_data(0, 80), np.random.RandomState(0)
    weights = rng.randint(0, 4, 80)
    weighted = ODC(3, kernel=kernel, random_state=0).fit(X, sample_weight=weights)
    repeated = ODC(3, kernel=kernel, random_state=0).fit(np.repeat(X, weights, axis=0))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-8)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


def test_kernels_see_what_lines_do_not():
    X, y = rings()
    assert clustering_accuracy(y, ODC(2, random_state=0).fit(X).labels_) < 0.7
    graph = ODC(2, kernel="nearest_neighbors", random_state=0).fit(X)
    assert clustering_accuracy(y, graph.labels_) == 1
    new, truth = rings(200, seed=1)
    assert clustering_accuracy(truth, graph.predict(new)) == 1


def test_kernels_with_an_origin(digits):
    """Rows in different directions from the origin, at any length: what the cosine is for."""
    rng = np.random.RandomState(0)
    truth = np.arange(200) % 4
    X = (np.eye(4, 20)[truth] + 0.1 * rng.standard_normal((200, 20))) * rng.uniform(0.1, 10, (200, 1))
    assert clustering_accuracy(truth, ODC(4, kernel="cosine", random_state=0).fit(X).labels_) == 1
    assert clustering_accuracy(truth, ODC(4, random_state=0).fit(X).labels_) < 0.9
    X[0] = 0  # a row without direction is a row like any other
    assert ODC(4, kernel="cosine", random_state=0).fit(X).labels_.shape == (200,)


def test_refit_forgets(blobs):
    X, _ = blobs
    model = ODC(4, kernel="rbf", random_state=0).fit(X)
    model.set_params(kernel="linear").fit(X)
    assert not hasattr(model, "dual_coef_")
    assert not hasattr(model, "landmarks_")
    model.set_params(kernel="nearest_neighbors").fit(X)
    assert not hasattr(model, "components_")


def test_training_rows_are_kept_as_they_were(blobs):
    X = blobs[0].copy()
    model = ODC(4, kernel="rbf", random_state=0).fit(X)
    before = model.predict(blobs[0])
    X[:] = 0
    np.testing.assert_array_equal(model.predict(blobs[0]), before)


# -- the neighbour graph ------------------------------------------------------------------------------------------


def reference_graph_kernel(X, n_neighbors):
    """(I + B)/2 for the doubly stochastic B of the symmetric neighbour graph, all dense."""
    N = kneighbors_graph(X, n_neighbors, include_self=True).toarray()
    A = (N + N.T) / 2
    e = np.ones(len(A))
    for _ in range(5000):
        e = np.sqrt(e / (A @ e))
    return (np.eye(len(A)) + e[:, None] * A * e) / 2


@pytest.mark.parametrize("n", [100, 500])
def test_graph_embedding_is_made_of_the_kernels_eigenvectors(n, rng):
    X = rng.standard_normal((n, 5))
    kernel = reference_graph_kernel(X, 8)
    np.testing.assert_allclose(kernel.sum(axis=1), 1, atol=1e-10)
    assert np.linalg.eigvalsh(kernel)[0] > -1e-12
    centring = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(centring @ kernel @ centring)
    model = ODC(5, kernel="nearest_neighbors", ridge=1e-13, normalize_rows=False, random_state=0).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:4], atol=1e-9)
    up_to_signs(model.transform(X), vectors[:, ::-1][:, :4], 1e-6)
    up_to_signs(centring @ kernel @ centring @ model.dual_coef_.T, model.transform(X), 1e-6)
    assert ODC(5, kernel="nearest_neighbors", ridge=0.5).fit(X).objective_ == pytest.approx(
        2 - 0.5 * np.sum(values[::-1][:4] / (values[::-1][:4] + 0.5))
    )


def test_parts_of_the_graph_are_found_exactly(blobs):
    """Four parts: three eigenvalues 1 after centring, which Lanczos alone would not all find."""
    X, _ = blobs
    spectrum = graph_spectrum(X, np.ones(300), 8, 6)
    assert spectrum.n_parts == 4
    np.testing.assert_allclose(spectrum.eigenvalues[:3], 1)
    assert spectrum.eigenvalues[3] < 1 - 1e-6
    np.testing.assert_allclose(spectrum.vectors.T @ spectrum.vectors, np.eye(6), atol=1e-9)
    np.testing.assert_allclose(spectrum.vectors.sum(axis=0), 0, atol=1e-9)
    with pytest.warns(jc.CollapseWarning, match="4 parts.*Raise n_neighbors"):
        ODC(3, kernel="nearest_neighbors", random_state=0).fit(X)


def test_a_graph_of_very_many_parts(rng):
    """Pairs of rows that only see each other: nothing as large as parts by parts may appear."""
    X = np.repeat(rng.standard_normal((3000, 5)), 2, axis=0) + 1e-6 * rng.standard_normal((6000, 5))
    tracemalloc.start()
    spectrum = graph_spectrum(X, np.ones(6000), 2, 4)
    assert tracemalloc.get_traced_memory()[1] < 3000 * 3000 * 8 / 2
    tracemalloc.stop()
    assert spectrum.n_parts == 3000
    np.testing.assert_allclose(spectrum.eigenvalues, 1)
    np.testing.assert_allclose(spectrum.vectors.T @ spectrum.vectors, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(spectrum.vectors.sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(spectrum.vectors[::2], spectrum.vectors[1::2], atol=1e-9)


@pytest.mark.parametrize("seed", [2, 3])
def test_the_order_of_rows_does_not_matter_to_the_graph(seed):
    """Also where there are no clusters: rows of length one are ordered by something else than their length."""
    rng = np.random.RandomState(seed)
    X, order = rng.standard_normal((150, 6)), rng.permutation(150)
    labels, other = (ODC(4, kernel="nearest_neighbors", random_state=0).fit(x).labels_ for x in (X, X[order]))
    assert adjusted_rand_score(labels[order], other) == 1


def test_it_is_spectral_clustering(digits):
    X = digits.data
    graph = kneighbors_graph(X, 10, include_self=True)
    theirs = SpectralClustering(10, affinity="precomputed", n_init=10, random_state=0).fit((graph + graph.T) / 2)
    ours = ODC(10, kernel="nearest_neighbors", n_neighbors=10, ridge=1e-10, normalize_rows=False, random_state=0).fit(X)
    assert adjusted_rand_score(theirs.labels_, ours.labels_) >= 0.95


def test_default_graph_on_digits(digits):
    models = [ODC(10, kernel="nearest_neighbors", random_state=seed).fit(digits.data) for seed in range(5)]
    assert np.mean([clustering_accuracy(digits.target, model.labels_) for model in models]) >= 0.84
    assert np.mean([normalized_mutual_info(digits.target, model.labels_) for model in models]) >= 0.86
    np.testing.assert_array_equal(models[0].predict(digits.data), models[0].labels_)
    np.testing.assert_allclose(np.linalg.norm(models[0].transform(digits.data), axis=1), 1)


def test_held_back_rows_predict_as_well_as_they_fit(digits):
    fitted, held = [], []
    for seed in range(5):
        train, test, y_train, y_test = train_test_split(digits.data, digits.target, test_size=0.2, random_state=seed)
        model = ODC(10, kernel="nearest_neighbors", random_state=0).fit(train)
        fitted.append(normalized_mutual_info(y_train, model.labels_))
        held.append(normalized_mutual_info(y_test, model.predict(test)))
    assert np.mean(held) >= np.mean(fitted) - 0.03


def test_copies_of_training_rows(rng):
    """A copy gets its original's embedding and label, also when the original occurs often."""
    X = rng.standard_normal((150, 6))
    X = np.vstack([X, X[:50], X[:20]])
    model = ODC(4, kernel="nearest_neighbors", random_state=0).fit(X)
    Y = model.transform(X)
    np.testing.assert_array_equal(Y[150:200], Y[:50])
    np.testing.assert_array_equal(model.labels_[150:200], model.labels_[:50])
    np.testing.assert_array_equal(model.predict(X[::-1]), model.labels_[::-1])
    np.testing.assert_array_equal(model.transform(X[7:8])[0], Y[7])


def test_distinct_rows():
    X = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, -0.0], [2.0, 3.0], [0.0, 0.0]])
    for data in (X, sp.csr_array(X), X.astype(np.float32)):
        first, which = distinct_rows(data)
        np.testing.assert_array_equal(first, [0, 1, 4])
        np.testing.assert_array_equal(which, [0, 1, 0, 1, 2])


def test_more_neighbors_than_rows(rng):
    with pytest.warns(UserWarning, match="n_neighbors=8 exceeds"):
        ODC(2, kernel="nearest_neighbors", random_state=0).fit(rng.standard_normal((6, 3)))


# -- landmarks ----------------------------------------------------------------------------------------------------


def test_all_landmarks_are_the_exact_form():
    X = random_data(0, 200)
    exact = ODC(4, kernel="rbf", ridge=0.5, random_state=0).fit(X)
    almost = ODC(4, kernel="rbf", ridge=0.5, n_landmarks=199, random_state=0).fit(X)
    assert exact.exact_
    assert not almost.exact_
    up_to_signs(almost.transform(X), exact.transform(X), 5e-3)
    np.testing.assert_array_equal(almost.predict(X), almost.labels_)
    assert ODC(4, kernel="rbf", n_landmarks=200).fit(X).exact_


@pytest.mark.parametrize("kernel", ["rbf", "nearest_neighbors"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_landmarks_find_the_same_clusters(kernel, dtype, digits):
    X = digits.data.astype(dtype)
    exact = ODC(10, kernel=kernel, random_state=0).fit(X)
    model = ODC(10, kernel=kernel, n_landmarks=600, random_state=0).fit(X)
    assert model.landmarks_.shape[0] == 600
    assert model.transform(X).dtype == dtype
    assert normalized_mutual_info(exact.labels_, model.labels_) > 0.75
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_many_rows_take_landmarks_and_say_so(monkeypatch):
    X, y = jc.datasets.mixture(11_000, 5, 3, separation=12, n_nuisance=0, random_state=0)
    with pytest.warns(UserWarning, match="1000 landmarks"):
        model = ODC(3, kernel="rbf", random_state=0).fit(X)
    assert not model.exact_
    assert clustering_accuracy(y, model.labels_) > 0.99
    monkeypatch.setattr(scoring_embeddings, "EXACT_GRAPH", 10_000)
    monkeypatch.setattr(scoring_embeddings, "GRAPH_LANDMARKS", 500)
    with pytest.warns(UserWarning, match="500 landmarks"):
        model = ODC(3, kernel="nearest_neighbors", random_state=0).fit(X)
    assert len(model.landmarks_) == 500
    assert clustering_accuracy(y, model.labels_) > 0.99


# -- bad input ----------------------------------------------------------------------------------------------------

K = rbf_kernel(random_data(0), gamma=0.1)


def spoiled(value, i=3, j=5):
    matrix = K.copy()
    matrix[i, j] = value
    return matrix


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (K[:40], "must be square.*got shape \\(40, 60\\)"),
        (spoiled(0.9), "not symmetric"),
        (spoiled(np.nan), "NaN"),
        (-K, "not positive semidefinite"),
        (K - 3 * np.outer(np.sin(np.arange(60)), np.sin(np.arange(60))), "not positive semidefinite"),
    ],
    ids=["not square", "not symmetric", "NaN", "negative", "indefinite"],
)
def test_bad_kernel_matrices(matrix, message):
    with pytest.raises(ValueError, match=message):
        ODC(3, kernel="precomputed").fit(matrix)


def test_large_indefinite_matrix(rng):
    A = rng.standard_normal((700, 700))
    with pytest.raises(ValueError, match="not positive semidefinite"):
        ODC(3, kernel="precomputed").fit(A + A.T)
    low_rank = rng.standard_normal((700, 4))
    ODC(3, kernel="precomputed").fit(low_rank @ low_rank.T)  # semidefinite, with many zeros: fine


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, B: A @ B.T[:, :5], r"returned shape \(60, 5\).*must return a matrix of shape \(60, 60\)"),
        (lambda A, B: 1.0, r"returned shape \(\)"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "not finite"),
        (lambda A, B: -(A @ B.T), "not positive semidefinite"),
    ],
)
def test_bad_kernel_functions(function, message):
    with pytest.raises(ValueError, match=message):
        ODC(3, kernel=function).fit(random_data(0))


def test_bad_use():
    X = random_data(0)
    model = ODC(3, kernel="precomputed").fit(K)
    for method in ("predict", "transform", "score"):
        with pytest.raises(ValueError, match="60 features.*one column for each"):
            getattr(model, method)(X)
    with pytest.raises(TypeError, match="[Ss]parse"):
        ODC(3, kernel="precomputed").fit(sp.csr_array(K))
    with pytest.raises(TypeError, match="kernel='linear'"):
        ODC(3, kernel="rbf").fit(jc.decompose(X))
    with pytest.raises(ValueError, match="n_landmarks=2 is less than n_clusters=3"):
        ODC(3, kernel="rbf", n_landmarks=2).fit(X)
    with pytest.raises(ValueError, match="overflows"):
        ODC(3, kernel="poly", gamma=1e200, degree=5).fit(X)


def test_a_kernel_that_is_too_narrow_is_told():
    with pytest.warns(jc.CollapseWarning, match="nearly diagonal.*Lower gamma"):
        ODC(3, kernel="rbf", gamma=1e6, random_state=0).fit(random_data(0))


def test_more_components_than_the_kernel_has():
    X = random_data(0)
    with pytest.warns(jc.CollapseWarning, match=r"rank of the kernel \(12\)"):
        model = ODC(3, kernel=linear, n_components=20).fit(X)
    assert model.transform(X).shape == (60, 12)


# -- what a review found ------------------------------------------------------------------------------------------


def test_dense_and_sparse_rows_mix(digits):
    X = digits.data
    for fitted, other in ((X, sp.csr_array(X)), (sp.csr_array(X), X)):
        model = ODC(10, kernel="nearest_neighbors", random_state=0).fit(fitted)
        np.testing.assert_array_equal(model.predict(other), model.labels_)
    flat = ODC(2, kernel="nearest_neighbors", random_state=0).fit(rings()[0])
    np.testing.assert_array_equal(flat.predict(sp.csr_array(rings()[0])), flat.labels_)


@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize(("dtype", "offset"), [(np.float32, 0), (np.float32, 100), (np.float64, 1e5)])
def test_rounding_is_no_indefiniteness(n, dtype, offset, rng):
    X = (255 * rng.uniform(size=(n, 20)) + offset).astype(dtype)
    ODC(3, kernel=linear, random_state=0).fit(X)
    ODC(3, kernel="precomputed", random_state=0).fit(X @ X.T)


@pytest.mark.parametrize("tail", [5.0, 0.01])
def test_hidden_indefiniteness_is_found(tail):
    for seed in range(5):
        rng = np.random.RandomState(seed)
        Q = np.linalg.qr(rng.standard_normal((600, 600)))[0]
        matrix = (Q * np.r_[np.full(3, 100.0), rng.uniform(-tail, tail, 597)]) @ Q.T
        with pytest.raises(ValueError, match="not positive semidefinite"):
            ODC(3, kernel="precomputed").fit((matrix + matrix.T) / 2)


def test_landmark_kernels_are_checked_too(rng):
    X = rng.standard_normal((300, 4))
    with pytest.raises(ValueError, match="not positive semidefinite"):
        ODC(3, kernel=lambda A, B: np.tanh(A @ B.T - 1), n_landmarks=100).fit(X)
    with pytest.raises(ValueError, match="not symmetric"):
        ODC(3, kernel=lambda A, B: A @ B.T + A[:, :1], n_landmarks=100).fit(X)
    with pytest.raises(ValueError, match="overflows"):
        ODC(3, kernel="poly", gamma=1e150, n_landmarks=50).fit(X)
    with pytest.raises(ValueError, match="n_landmarks=4 is less than n_components=10"):
        ODC(3, kernel="rbf", n_landmarks=4, n_components=10).fit(X)
    with pytest.warns(jc.CollapseWarning, match="nearly diagonal"):
        ODC(3, kernel="rbf", gamma=1e6, n_landmarks=50, random_state=0).fit(X)
    with pytest.warns(jc.CollapseWarning, match="rank of the kernel"):
        ODC(3, kernel=linear, n_landmarks=50, n_components=10, random_state=0).fit(X)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "cosine", "nearest_neighbors", linear])
def test_constant_data(kernel):
    for n_clusters in (1, 3):
        with pytest.warns(jc.CollapseWarning, match="nothing to cluster"):
            model = ODC(n_clusters, kernel=kernel, random_state=0).fit(np.ones((20, 3)))
        assert not model.labels_.any()
        assert not model.predict(np.ones((2, 3))).any()


@pytest.mark.parametrize("n", [30, 300])
def test_empty_kernel(n):
    with pytest.warns(jc.CollapseWarning, match="nothing to cluster"):
        ODC(2, kernel="precomputed", random_state=0).fit(np.zeros((n, n)))


def test_far_from_the_origin(blobs):
    """A polynomial kernel of far rows loses digits; what is left must still agree with itself."""
    X, _ = blobs
    for offset, dtype in ((1e6, np.float64), (1e3, np.float32)):
        model = ODC(4, kernel="poly", random_state=0).fit((X + offset).astype(dtype))
        np.testing.assert_array_equal(model.predict((X + offset).astype(dtype)), model.labels_)


def test_curves(rng):
    """Eigenvalues that crowd at 1, where plain Lanczos stalls."""
    t = np.linspace(0, 1, 3000)
    X = np.vstack([np.c_[t, t**2], np.c_[t, t**2 + 3]])
    model = ODC(4, kernel="nearest_neighbors", normalize_rows=False, ridge=1e-12, random_state=0).fit(X)
    Y = model.transform(X)
    np.testing.assert_allclose(Y.T @ Y, np.eye(3), atol=1e-6)
    assert model.eigenvalues_[0] == pytest.approx(1)
    assert np.all(np.diff(model.eigenvalues_) <= 1e-12)
    exact = graph_spectrum(X[:800], np.ones(800), 8, 3)
    dense = np.linalg.eigvalsh(reference_graph_kernel(X[:800], 8) - 1 / 800)[::-1]
    np.testing.assert_allclose(exact.eigenvalues, dense[:3], atol=1e-9)


@pytest.mark.parametrize("scale", [1e-100, 1e-17, 1e100])
def test_cosine_of_small_rows(scale, rng):
    X = rng.standard_normal((50, 6))
    plain, scaled = (ODC(3, kernel="cosine", random_state=0).fit(data) for data in (X, X * scale))
    np.testing.assert_allclose(scaled.eigenvalues_, plain.eigenvalues_)
    with pytest.warns(jc.CollapseWarning, match="ridge=.* lower it"):
        ODC(3, ridge=1e300, random_state=0).fit(X)


def test_new_rows_that_overflow(rng):
    X = rng.standard_normal((50, 6))
    with pytest.raises(ValueError, match="overflows"):
        ODC(3, kernel="poly", random_state=0).fit(X).predict(X * 1e120)


def test_all_directions_alike_is_told(rng):
    with pytest.warns(jc.CollapseWarning, match="equally far"):
        ODC(3, ridge=0, n_components=19, random_state=0).fit(rng.standard_normal((20, 50)))


def test_scoring_has_as_many_directions_as_scores(rng):
    with pytest.warns(jc.CollapseWarning, match="3 classes have 2 scores"):
        model = jc.DiscriminantProjection("scoring", n_components=5).fit(
            rng.standard_normal((80, 5)), np.arange(80) % 3
        )
    assert model.components_.shape == (2, 5)
