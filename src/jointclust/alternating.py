"""The one loop: a method supplies the step, the loop decides when to stop and how a run ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from jointclust.coordinates import Clusters
from jointclust.rows._protocol import Float

# Steps without a better state after which a run ends.
PATIENCE = 10


@dataclass(frozen=True, eq=False)
class State:
    """Where a run stands: the clusters, the projection they were found in, the objective of the two."""

    clusters: Clusters
    projection: Float
    objective: float


class Method(Protocol):
    """What a method supplies to the loop. Objectives are maximised."""

    def project(self, clusters: Clusters) -> Float:
        """The projection that suits these clusters best."""

    def step(self, clusters: Clusters, previous: State | None) -> State:
        """Projection for these clusters, then clusters for that projection; ``previous`` is None at first."""

    def objective(self, clusters: Clusters, projection: Float) -> float:
        """The paper's objective."""

    def merit(self, state: State) -> float:
        """What to compare runs by, greater is better; the objective unless it is blind to the labels."""


class Ending(Enum):
    """How a run ended, with advice where there is any."""

    CONVERGED = ""
    MAX_ITER = "The run stopped at max_iter={max_iter} before it converged: raise max_iter, or tol."
    STOPPED = "A callback stopped the run before it converged."


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run: its best state, which iteration that was, and the objective after each iteration."""

    start: Clusters
    state: State
    ending: Ending
    best: int
    history: list[float]


def alternate(
    method: Method,
    start: Clusters,
    *,
    max_iter: int,
    tol: float,
    stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Take steps until the run rests; return the best state visited.

    A run rests when the labels stop, when the objective changes by no more than ``tol``, relative, or when a method
    whose objective can fall has found nothing better in ``PATIENCE`` steps.
    """
    clusters, history, ending = start, list[float](), Ending.MAX_ITER
    state: State | None = None
    best, merit = 0, -np.inf
    for iteration in range(max_iter):
        new = method.step(clusters, state)
        history.append(new.objective)
        rest = np.array_equal(new.clusters.labels, clusters.labels)
        still = state is not None and abs(new.objective - state.objective) <= tol * abs(new.objective)
        state, clusters = new, new.clusters
        if method.merit(new) > merit:
            best, best_state, merit = iteration, new, method.merit(new)
        if rest or still or iteration - best >= PATIENCE:
            ending = Ending.CONVERGED
            break
        if stop():
            ending = Ending.STOPPED
            break
    return Run(start, best_state, ending, best, history)
