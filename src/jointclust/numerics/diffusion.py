"""Random signals that have spread over a graph replace its leading eigenvectors where these are many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jointclust.rows.arrays import like, namespace, to_host
from jointclust.types import Array, Float

# Numbers of clusters beyond which a consensus takes other ways: signals in place of eigenvectors, quicker draws.
MANY = 200
# Number of signals: the error of products of rows is one over its root.
WIDTH = 128
# Most steps; the signals are at rest where a step changes their energy by less than this share.
_STEPS, _AT_REST = 200, 1e-3


def diffused(
    step: Callable[[Any], Any], constant: Float, numbers: list[int], device: Array | None = None
) -> list[Float]:
    """``S^t R`` for random signals R without their part along ``constant``, for each number.

    On average the rows of ``S^t R`` have the inner products of the rows of ``S^t``, and so the distances that rows have
    in the leading eigenvectors (Tremblay and others, 2016). The mean of ``|S^t R|^2`` is ``tr S^2t``, the number of
    directions that remain: t is the smallest for which this is at most the number.

    Parameters
    ----------
    step : callable
        The product of S, symmetric with eigenvalues from 0 to 1, and columns.
    constant : array of shape (n,)
        The eigenvector of S with eigenvalue 1 that is left out, of length one.
    numbers : list of int
        How many directions are wanted.
    device : array or None
        An array on the device on which ``step`` works.

    Returns
    -------
    signals : list of array of shape (n, at most 256)
        In the order of the numbers.
    """
    width = min(WIDTH, constant.size)
    signals: Any = np.random.RandomState(0).standard_normal((constant.size, width)) / np.sqrt(width)
    signals -= np.multiply.outer(constant, constant @ signals)
    if device is not None:
        signals = like(signals, device, namespace(device).float64)
    by_number, before, n_steps = dict[int, Float](), np.inf, 0
    for number in sorted(set(numbers), reverse=True):
        while (energy := _energy(signals)) > number and n_steps < _STEPS and energy < (1 - _AT_REST) * before:
            signals, before, n_steps = step(signals), energy, n_steps + 1
        by_number[number] = to_host(signals)
    return [by_number[number] for number in numbers]


def _energy(signals: Any) -> float:
    return float(namespace(signals).sum(signals * signals))
