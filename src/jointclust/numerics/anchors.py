"""The graph of many rows and few anchors: each row is linked to the anchors nearest to it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.numerics.graph import GraphSpectrum, balanced_spectrum, neighbors
from jointclust.rows.arrays import like, namespace, to_host
from jointclust.types import Array, Float


def anchor_links(X: Array, anchors: Float, n_nearest: int) -> tuple[NDArray[np.intp], Float]:
    """The nearest anchors of each row, and the shares of its links: ``exp(-d^2 / (2 s^2))`` by distance d, scaled.

    The width s is the mean of all these distances; the shares of a row sum to 1.
    """
    index = neighbors(X, anchors, min(n_nearest, len(anchors)))
    xp = namespace(X)
    near = xp.reshape(xp.take(like(anchors, X), xp.reshape(index, (-1,)), axis=0), (*index.shape, -1))
    squared = to_host(xp.sum((near - X[:, None, :]) ** 2, axis=2))
    width = np.sqrt(squared).mean() or 1.0
    links = np.exp((squared.min(axis=1, keepdims=True) - squared) / (2 * width**2))
    return to_host(index), links / links.sum(axis=1, keepdims=True)


def anchor_graph(
    X: Array, anchors: Float, weights: Array | None, n_nearest: int
) -> tuple[sp.csr_array, Float, NDArray[np.intp]]:
    """The graph of rows and anchors, on the anchors (U-SPEC: Huang and others, 2020).

    With the shares P of :func:`anchor_links` and the rows' weights m, anchors have the masses ``d = P'm``. The graph of
    two steps, from anchor to row to anchor, is ``S = D^-1/2 P'MP D^-1/2``; its eigenvalues lie in [0, 1], and its
    first eigenvector is ``d^1/2``. Returns S for the anchors with links, their masses, and for each anchor its place
    among these, or that of the nearest one if it has no links.
    """
    index, links = anchor_links(X, anchors, n_nearest)
    n, width = index.shape
    P = sp.csr_array((links.ravel(), index.ravel(), np.arange(0, n * width + 1, width)), shape=(n, len(anchors)))
    weighted = P if weights is None else sp.diags_array(to_host(weights)) @ P
    mass = np.asarray(weighted.sum(axis=0)).ravel()
    linked = np.flatnonzero(mass > 0)
    which = neighbors(anchors, anchors[linked], 1)[:, 0]
    mass = mass[linked]
    scale = sp.diags_array(1.0 / np.sqrt(mass))
    S = sp.csr_array(scale @ sp.csr_array(P.T @ weighted)[linked][:, linked] @ scale)
    return S, mass, which


def anchor_spectrum(S: sp.csr_array, mass: Float, n_components: int, device: Array | None = None) -> GraphSpectrum:
    """Leading eigenpairs of the graph S of :func:`anchor_graph` without the first."""
    spectrum = balanced_spectrum(S, mass, max(min(n_components, mass.size - 1), 1), device)
    values, trace = 2.0 * spectrum.eigenvalues - 1.0, float(S.trace()) - 1.0  # of S itself
    return GraphSpectrum(np.maximum(values, 0.0), spectrum.vectors, max(trace, 0.0), spectrum.n_parts)
