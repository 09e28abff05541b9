"""The graph of rows and anchors, against the whole graph solved naively."""

import numpy as np
import pytest

from jointclust.numerics.anchors import anchor_graph, anchor_links, anchor_spectrum


def spectrum_of(X, anchors, weights, n_nearest, n_components):
    graph, mass, which = anchor_graph(X, anchors, weights, n_nearest)
    return anchor_spectrum(graph, mass, n_components), mass, which


@pytest.fixture
def rows(rng):
    return rng.standard_normal((200, 3)) + 6 * rng.randint(2, size=(200, 1)), rng.standard_normal((30, 3)) * 4


def test_links(rows):
    X, anchors = rows
    index, links = anchor_links(X, anchors, 4)
    distances = np.linalg.norm(X[:, None] - anchors, axis=2)
    np.testing.assert_array_equal(index, np.argsort(distances, axis=1)[:, :4])
    near = np.sort(distances, axis=1)[:, :4]
    expected = np.exp(-(near**2) / (2 * near.mean() ** 2))
    np.testing.assert_allclose(links, expected / expected.sum(axis=1, keepdims=True))


def test_links_of_a_row_far_away(rows):
    """No row is without links, however far from all anchors."""
    _, anchors = rows
    links = anchor_links(np.vstack([np.tile(anchors, (40, 1)), [[1e6, 0, 0]]]), anchors, 3)[1]
    np.testing.assert_allclose(links.sum(axis=1), 1.0)


def test_spectrum_is_that_of_the_bipartite_graph(rows, rng):
    """Eigenpairs of the normalised adjacency matrix of rows and anchors: the squares of its eigenvalues."""
    X, anchors = rows
    weights = rng.uniform(0.5, 2.0, len(X))
    index, links = anchor_links(X, anchors, 4)
    W = np.zeros((len(X), len(anchors)))
    np.put_along_axis(W, index, links * weights[:, None], axis=1)
    used = W.sum(axis=0) > 0
    assert not used.all()  # of the anchors between the rows and beyond them
    W = W[:, used]
    adjacency = np.block([[np.zeros((len(X), len(X))), W], [W.T, np.zeros((W.shape[1], W.shape[1]))]])
    root = np.sqrt(adjacency.sum(axis=0))
    values, vectors = np.linalg.eigh(adjacency / np.outer(root, root))
    values, vectors = values[::-1], vectors[len(X) :, ::-1]

    spectrum, mass, which = spectrum_of(X, anchors, weights, 4, 5)
    np.testing.assert_allclose(mass, W.sum(axis=0))
    np.testing.assert_allclose(spectrum.eigenvalues, values[1:6] ** 2, atol=1e-10)
    alike = np.abs(np.sum(spectrum.vectors * vectors[:, 1:6], axis=0)) * np.sqrt(2)
    np.testing.assert_allclose(alike, 1.0, atol=1e-8)
    np.testing.assert_allclose(np.sqrt(mass) @ spectrum.vectors, 0.0, atol=1e-10)
    # An anchor that no row is near to goes with the nearest one that has rows.
    distances = np.linalg.norm(anchors[:, None] - anchors[used], axis=2)
    np.testing.assert_array_equal(which, distances.argmin(axis=1))


def test_parts_of_the_graph(rng):
    """Three groups far apart: three parts, and two eigenvalues 1 beside the first."""
    X = np.repeat(100 * np.eye(3), 50, axis=0) + rng.standard_normal((150, 3))
    anchors = X[::5]
    spectrum, mass, which = spectrum_of(X, anchors, None, 3, 4)
    assert spectrum.n_parts == 3
    np.testing.assert_allclose(spectrum.eigenvalues[:2], 1.0)
    assert spectrum.eigenvalues[2] < 0.999
    assert mass.sum() == pytest.approx(150)
    np.testing.assert_array_equal(which, np.arange(30))


def test_weights_are_repetitions_but_for_the_width(rows):
    X, anchors = rows
    twice = spectrum_of(np.vstack([X, X]), anchors, None, 4, 5)
    weighted = spectrum_of(X, anchors, np.full(len(X), 2.0), 4, 5)
    np.testing.assert_allclose(twice[0].eigenvalues, weighted[0].eigenvalues)
    np.testing.assert_allclose(twice[1], weighted[1])


def test_on_a_device(rows):
    xp = pytest.importorskip("array_api_strict")
    X, anchors = rows
    weights = np.linspace(1.0, 2.0, len(X))
    here = spectrum_of(X, anchors, weights, 4, 5)
    there = spectrum_of(xp.asarray(X), anchors, xp.asarray(weights), 4, 5)
    np.testing.assert_allclose(here[0].eigenvalues, there[0].eigenvalues)
    np.testing.assert_allclose(here[0].vectors, there[0].vectors, atol=1e-8)
