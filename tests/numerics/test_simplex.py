"""Projection on the simplex."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import naive
from jointclust.numerics.linalg import project_simplex


@settings(max_examples=100, deadline=None)
@given(
    arrays(np.float64, (3, 5), elements=st.floats(-10, 10).map(lambda x: round(x, 1))),  # rounded: many ties
    st.sampled_from([1e-3, 1.0, 7.5]),
)
def test_simplex_is_the_quadratic_program(V, size):
    P = project_simplex(V, size)
    for p, v in zip(P, V, strict=True):
        np.testing.assert_allclose(p, naive.project_on_simplex(v, size), atol=1e-12 * max(1, size))


@pytest.mark.parametrize("size", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_simplex_of_any_size(size, rng):
    V = rng.standard_normal((200, 7))
    V[:50] *= size  # at the simplex' own scale, and far from it
    V[0] = 0
    P = project_simplex(V, size)
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(axis=1), size, rtol=1e-12)
    np.testing.assert_allclose(P[0], size / 7, rtol=1e-12)
    np.testing.assert_allclose(project_simplex(P, size), P, rtol=1e-9, atol=1e-14 * size)


def test_simplex_edges():
    np.testing.assert_array_equal(project_simplex(np.array([[-3.0], [5.0]])), 1.0)
    np.testing.assert_array_equal(project_simplex(np.array([[1e308, -1e308]])), [[1.0, 0.0]])
    assert project_simplex(np.zeros((3, 2), dtype=np.float32)).dtype == np.float32
    for bad in (np.inf, -np.inf, np.nan):
        with pytest.raises(ValueError, match="finite"):
            project_simplex(np.array([[0.0, bad]]))
    for size in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match="size"):
            project_simplex(np.zeros((2, 2)), size)
    with pytest.raises(ValueError, match="matrix"):
        project_simplex(np.zeros(3))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_simplex_of_another_library(dtype, rng):
    V = rng.standard_normal((50, 6)).astype(dtype)
    P = project_simplex(array_api_strict.asarray(V), 0.5)
    assert type(P).__module__.startswith("array_api_strict")
    np.testing.assert_array_equal(np.asarray(P), project_simplex(V, 0.5))
