import numpy as np
import pytest
import scipy.sparse as sp

from jointclust.consensus.partitions import Partitions
from jointclust.numerics import diffusion
from jointclust.numerics.diffusion import diffused


@pytest.fixture
def matrix(rng):
    """Symmetric, with eigenvalues 1 (twice), 0.9 and below 0.3, and the first eigenvector."""
    basis = np.linalg.qr(rng.standard_normal((40, 40)))[0]
    values = np.concatenate([[1.0, 1.0, 0.9], np.linspace(0.3, 0.0, 37)])
    return basis * values @ basis.T, basis


def test_signals_are_those_of_the_naive_power(matrix):
    S, basis = matrix
    result = diffused(lambda columns: S @ columns, basis[:, 0], [30, 2])
    start = np.random.RandomState(0).standard_normal((40, 40)) / np.sqrt(40)
    start -= np.outer(basis[:, 0], basis[:, 0] @ start)
    powers = [np.linalg.matrix_power(S, t) @ start for t in range(20)]
    for signals, number in zip(result, (30, 2), strict=True):
        t = next(t for t, one in enumerate(powers) if (one**2).sum() <= number)
        np.testing.assert_allclose(signals, powers[t], atol=1e-12)
        np.testing.assert_allclose(basis[:, 0] @ signals, 0.0, atol=1e-12)


def test_products_are_those_of_the_matrix_in_the_mean(matrix, monkeypatch):
    S, basis = matrix
    monkeypatch.setattr(diffusion, "WIDTH", 10**9)
    identity = np.eye(400)
    S = np.kron(S, np.eye(10))  # 400 rows, so that there are 400 signals
    constant = np.kron(basis[:, 0], identity[0, :10])
    signals = diffused(lambda columns: S @ columns, constant, [20])[0]
    t = next(t for t in range(50) if (np.linalg.matrix_power(S, 2 * t)).trace() - 1 <= 20 + 1)
    expected = np.linalg.matrix_power(S, 2 * t) - np.outer(constant, constant)
    assert np.abs(signals @ signals.T - expected).max() < 0.25
    assert np.corrcoef((signals @ signals.T).ravel(), expected.ravel())[0, 1] > 0.75


def test_what_never_dies_out_ends_the_steps():
    """More parts than the number: every part keeps its own signal."""
    parts = np.repeat(np.arange(8), 5)
    S = sp.csr_array((parts[:, None] == parts) / 5)
    calls = []
    signals = diffused(lambda columns: (calls.append(1), S @ columns)[1], np.full(40, 40**-0.5), [3])[0]
    assert len(calls) <= 3
    for part in range(8):
        np.testing.assert_allclose(signals[parts == part], signals[5 * part][None, :].repeat(5, axis=0), atol=1e-12)
    assert len(np.unique(signals[::5].round(6), axis=0)) == 8


def test_many_clusters_of_a_consensus(rng):
    """Members that agree up to some rows: their partition is found by signals as by eigenvectors."""
    labels = np.repeat(np.arange(250), 6)
    codes = np.column_stack([np.where(rng.uniform(size=1500) < 0.05, rng.randint(250, size=1500), labels)] * 1)
    codes = np.column_stack(
        [codes[:, 0], *(np.where(rng.uniform(size=1500) < 0.05, rng.randint(250, size=1500), labels) for _ in range(5))]
    ).astype(np.int32)
    result = Partitions.of(codes, [250] * 6, None).agreed(250, np.random.RandomState(0), n_restarts=1)[0]
    together = np.mean([np.bincount(result[labels == k]).max() / 6 for k in range(250)])
    assert together > 0.97
    assert len(np.unique(result)) > 240
