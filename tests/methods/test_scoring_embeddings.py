"""What optimal discriminant clustering embeds rows with: one class per kernel, published and made again."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from test_scoring import ODC, random_data

import jointclust as jc
from jointclust.methods.scoring_embeddings import PUBLISHED, mode_of
from jointclust.rows import as_rows


def named(value):
    """The same in every process: functions without their address."""
    return re.sub(r" at 0x\w+", "", str(value))


def linear(A, B):
    return A @ B.T


MODES = [
    {"kernel": "linear"},
    {"kernel": "linear", "normalize_rows": True},
    {"kernel": "cosine"},
    {"kernel": "precomputed"},
    {"kernel": "rbf"},
    {"kernel": "poly", "degree": 2, "n_landmarks": 40},
    {"kernel": linear},
    {"kernel": "nearest_neighbors"},
    {"kernel": "nearest_neighbors", "n_landmarks": 40},
]


def data_of(options):
    X = random_data(0)
    return X @ X.T if options["kernel"] == "precomputed" else X


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", MODES, ids=named)
def test_made_again_from_what_is_published(options, weighted):
    """An embedding found by a fit, and the one that a fitted estimator makes of its attributes, are the same."""
    data, weights = data_of(options), np.arange(60) % 3.0 if weighted else None
    model = ODC(4, random_state=0, **options).fit(data, sample_weight=weights)
    mode = mode_of(model.kernel)
    seen = jc.decompose(data, sample_weight=weights) if mode.is_linear else data
    result = mode.fit(model, seen, weights, np.random.RandomState(0))
    again = mode.of(model)
    for name in mode.published():
        assert name in PUBLISHED
        np.testing.assert_allclose(getattr(again, name), getattr(result.embedding, name), atol=1e-9)
    for embedding in (result.embedding, again):
        np.testing.assert_allclose(embedding.fitted_values(as_rows(data)), result.values, atol=1e-9)
    Y = model.transform(data)
    if options.get("normalize_rows", mode.on_sphere):
        np.testing.assert_allclose(Y, result.values / np.linalg.norm(result.values, axis=1, keepdims=True), atol=1e-9)
    else:
        np.testing.assert_allclose(Y, result.values, atol=1e-9)
    np.testing.assert_array_equal(model.predict(data), model.labels_)


@pytest.mark.parametrize("options", MODES, ids=named)
def test_what_a_mode_takes(options):
    """It does what it says of itself: sparse rows, pairs of rows, coordinates, the way back."""
    model, data = ODC(3, random_state=0, **options), data_of(options)
    mode = mode_of(model.kernel)
    tags = model.__sklearn_tags__().input_tags
    assert (tags.sparse, tags.pairwise) == (mode.accepts_sparse, mode.is_pairwise)
    assert hasattr(model, "inverse_transform") == mode.is_linear
    coordinates = jc.decompose(random_data(0))
    assert model.takes_coordinates(coordinates) == mode.is_linear
    for takes, rows in ((mode.accepts_sparse, sp.csr_array(data)), (mode.is_linear, coordinates)):
        if takes:
            model.fit(rows)
        else:
            with pytest.raises(TypeError):
                model.fit(rows)


@pytest.mark.parametrize("sparse", [False, True])
def test_takes_coordinates_is_what_fit_takes(sparse):
    X = random_data(0)
    coordinates = jc.decompose(sp.csr_array(X) if sparse else X)
    for model in (jc.LDAKMeans(3), jc.RobustKMeans(3), jc.RobustKMeans(3, n_components=2), jc.FuzzyKMeans(3), ODC(3)):
        if model.takes_coordinates(coordinates):
            model.fit(coordinates)
        else:
            with pytest.raises(TypeError, match="full space"):
                model.fit(coordinates)
    assert jc.RobustKMeans(3).takes_coordinates(coordinates) != sparse


@pytest.mark.parametrize(
    "model",
    [*(ODC(3, **options) for options in MODES), jc.SparseOptimalDiscriminantClustering(3), jc.DisKMeans(3)],
    ids=named,
)
def test_a_fit_leaves_nothing_behind(model):
    """All that a fit keeps is published, or needed to use the model."""
    model.fit(data_of(model.get_params() if "kernel" in model.get_params() else MODES[0]))
    kept = {name for name in vars(model) if not name.endswith("_")} - set(model.get_params())
    assert kept <= {"_fingerprint", "_penalty", "_unit_components", "_unit_mean"}
    assert ("_unit_mean" in kept) == (getattr(model, "kernel", None) == "cosine")


def test_constant_rows_are_told_whatever_the_sparsity():
    for sparsity in ("auto", 0, 1.0):
        with pytest.warns(jc.CollapseWarning, match="nothing to cluster"):
            jc.SparseOptimalDiscriminantClustering(3, sparsity=sparsity).fit(np.ones((20, 3)))


def test_a_step_does_not_change_the_one_before():
    """One component is a single row, which coordinate descent would change in place."""
    X = random_data(0)
    fits = [jc.SparseOptimalDiscriminantClustering(2, max_iter=k, tol=0, random_state=0) for k in (1, 2)]
    with pytest.warns(UserWarning, match="max_iter"):
        one, two = (model.fit(X) for model in fits)
    assert one.objective_history_[0] == two.objective_history_[0]
    assert not np.array_equal(one.components_, two.components_)
