import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jointclust.numerics import linalg
from jointclust.numerics.graph import graph_spectrum


def problem(r, c, trade_off, seed, decay=6.0):
    """Diagonal and factor as DEC makes them, from centred labels and a decaying spectrum."""
    rng = np.random.RandomState(seed)
    n = r + 5 * c
    T = rng.standard_normal((n, r)) * 10 ** np.linspace(0, -decay / 2, r)
    T -= T.mean(axis=0)
    s2, V = np.linalg.eigh(T.T @ T)
    T, s2 = T @ V[:, ::-1], s2[::-1]
    labels = np.arange(n) % c
    M = np.array([T[labels == k].sum(axis=0) / np.sqrt(np.sum(labels == k)) for k in range(c)])
    if np.isinf(trade_off):
        return -s2, M
    return (1 - trade_off) * s2, np.sqrt(trade_off) * M


def reference(diagonal, factor, k):
    values, vectors = np.linalg.eigh(np.diag(diagonal) + factor.T @ factor)
    return values[::-1][:k], vectors[:, ::-1][:, :k]


@pytest.mark.parametrize("trade_off", [0.5, 1.0, 1.5, 3.0, 18.0, 100.0, np.inf])
@pytest.mark.parametrize(("r", "c", "k"), [(300, 5, 4), (400, 8, 3), (300, 5, 9), (40, 6, 5), (6, 3, 6)])
def test_top_eigenvectors_agree_with_lapack(r, c, k, trade_off):
    diagonal, factor = problem(r, c, trade_off, seed=r + k)
    values, vectors = linalg.top_eigenvectors(diagonal, factor, k)
    expected, _ = reference(diagonal, factor, k)
    scale = np.abs(diagonal).max() + np.sum(factor**2)
    assert np.abs(vectors.T @ vectors - np.eye(k)).max() < 1e-10
    np.testing.assert_allclose(values, expected, atol=1e-9 * scale)
    # The objective is what counts: the trace over the subspace.
    trace = np.sum(diagonal @ vectors**2) + np.sum((factor @ vectors) ** 2)
    assert abs(trace - expected.sum()) < 1e-10 * scale


@pytest.mark.parametrize("trade_off", [1.5, 18.0])
def test_secular_equation_is_what_solves_large_problems(trade_off, monkeypatch):
    diagonal, factor = problem(500, 6, trade_off, seed=0)
    expected, _ = reference(diagonal, factor, 5)
    monkeypatch.setattr("scipy.linalg.eigh", lambda *_, **__: pytest.fail("LAPACK was called"))
    v, original = np.arange(500.0), linalg.eigsh

    def eigsh(operator, *arguments, **options):
        if np.allclose(operator @ v, diagonal * v + factor.T @ (factor @ v)):
            pytest.fail("ARPACK was called with the problem itself")
        return original(operator, *arguments, **options)

    monkeypatch.setattr(linalg, "eigsh", eigsh)
    values, _ = linalg.top_eigenvectors(diagonal, factor, 5)
    np.testing.assert_allclose(values, expected, rtol=1e-8, atol=1e-10)


def test_a_guess_changes_nothing_but_time():
    diagonal, factor = problem(400, 6, 3.0, seed=1)
    values, vectors = linalg.top_eigenvectors(diagonal, factor, 5)
    again, same = linalg.top_eigenvectors(diagonal, factor, 5, guess=vectors)
    np.testing.assert_allclose(again, values, rtol=1e-9)
    np.testing.assert_allclose(same, vectors, atol=1e-6)


def test_equal_eigenvalues():
    diagonal = np.full(300, -1.0)
    factor = np.zeros((3, 300))
    factor[0, 0] = factor[1, 1] = factor[2, 2] = 2.0
    values, vectors = linalg.top_eigenvectors(diagonal, factor, 3)
    np.testing.assert_allclose(values, 3.0)
    assert np.abs(vectors.T @ vectors - np.eye(3)).max() < 1e-12


@given(st.integers(0, 10_000), st.integers(257, 330), st.integers(2, 6), st.sampled_from([1.1, 2.0, 7.0, 50.0]))
@settings(max_examples=25, deadline=None)
def test_trace_is_maximal(seed, r, c, trade_off):
    diagonal, factor = problem(r, c, trade_off, seed, decay=seed % 8)
    values, vectors = linalg.top_eigenvectors(diagonal, factor, c - 1)
    expected, _ = reference(diagonal, factor, c - 1)
    scale = np.abs(diagonal).max() + np.sum(factor**2)
    assert abs(values.sum() - expected.sum()) < 1e-9 * scale
    assert np.abs(vectors.T @ vectors - np.eye(c - 1)).max() < 1e-10


@pytest.mark.parametrize("k", [4, 7])
@pytest.mark.parametrize("trade_off", [1e9, np.inf])
def test_null_space_of_the_within_scatter(trade_off, k):
    """Many equal eigenvalues, of which iterative solvers lose copies."""
    T = np.linalg.qr(np.random.RandomState(0).standard_normal((300, 300)))[0][:, :299] * np.linspace(20, 10, 299)
    T -= T.mean(axis=0)
    s2, V = np.linalg.eigh(T.T @ T)
    T = T @ V
    labels = np.arange(300) % 5
    M = np.array([T[labels == j].sum(axis=0) / np.sqrt(60) for j in range(5)])
    diagonal = (1 / trade_off - 1) * s2
    values, vectors = linalg.top_eigenvectors(diagonal, M, k)
    np.testing.assert_allclose(values, reference(diagonal, M, k)[0], atol=1e-9 * s2.max())
    assert np.abs(vectors.T @ vectors - np.eye(k)).max() < 1e-10


def test_signs_are_fixed():
    vectors = np.array([[1.0, -3.0], [-2.0, 1.0]])
    np.testing.assert_array_equal(linalg.fix_signs(vectors), -vectors)
    assert linalg.fix_signs(np.zeros((2, 1))).tolist() == [[0.0], [0.0]]


def test_a_neighbour_graph_solved_on_a_device_has_the_same_spectrum():
    torch = pytest.importorskip("torch")
    X = np.random.RandomState(0).standard_normal((400, 3))
    mass = np.random.RandomState(1).uniform(1, 3, 400)
    here, there = (graph_spectrum(X, mass, 5, 12, device) for device in (None, torch.zeros(1, dtype=torch.float64)))
    np.testing.assert_allclose(there.eigenvalues, here.eigenvalues, atol=1e-9)
    np.testing.assert_allclose(np.abs(there.vectors.T @ here.vectors), np.eye(12), atol=1e-6)
