"""The one loop: a method supplies the step, the loop decides when to stop and how a run ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Protocol, TypeVar

from numpy.typing import NDArray

from jointclust.numerics.kmeans import settled
from jointclust.numerics.partitions import Partition, same_labels
from jointclust.subspace.coordinates import Clusters, Coordinates
from jointclust.types import Float

# Steps without a better state after which a run ends.
PATIENCE = 10
_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class State:
    """Where a run stands: the clusters, the projection they were found in, the objective of the two."""

    clusters: Clusters
    projection: Float
    objective: float


class Steps(Protocol):
    """What the loop asks of a method."""

    ends_with_labels: ClassVar[bool]

    @property
    def weights(self) -> Float | None:
        """Weights of the rows."""

    def step(self, clusters: Any, previous: Any) -> Any:
        """The next state, which has an ``objective`` and the ``clusters`` to go on from."""

    def merit(self, state: Any) -> float:
        """What to compare states by, greater is better."""


class Method(ABC):
    """A method that alternates hard clusters and a projection."""

    coordinates: Coordinates
    # Whether a run is over once its labels stop; not so where weights of the rows still move.
    ends_with_labels: ClassVar[bool] = True

    @property
    def weights(self) -> Float | None:
        return self.coordinates.weights

    @abstractmethod
    def project(self, clusters: Clusters) -> Float:
        """The projection that suits these clusters best."""

    @abstractmethod
    def step(self, clusters: Clusters, previous: State | None) -> State:
        """Projection for these clusters, then clusters for that projection; ``previous`` is None at first."""

    @abstractmethod
    def objective(self, clusters: Clusters, projection: Float, Y: NDArray, centers: NDArray) -> float:
        """The paper's objective of a finished fit, whose rows are Y in the embedding."""

    def merit(self, state: State) -> float:
        """What to compare states and runs by, greater is better."""
        return state.objective

    def settle(self, Y: NDArray, state: State) -> Partition:
        """Labels and centers at rest in the final embedding, for the labels that a run ended with."""
        return settled(Y, state.clusters.labels, state.clusters.n_clusters, self.coordinates.weights)


class Ending(Enum):
    """How a run ended, with advice where there is any."""

    CONVERGED = ""
    MAX_ITER = "The run stopped at max_iter={max_iter} before it converged: raise max_iter, or tol."
    STOPPED = "A callback stopped the run before it converged."


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run: its best state, which iteration that was, and the objective after each iteration."""

    start: Any
    state: Any
    ending: Ending
    best: int
    history: list[float]


def alternate(
    method: Steps,
    start: Any,
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
    state: Any = None
    best, best_state = 0, None
    for iteration in range(max_iter):
        new = method.step(clusters, state)
        history.append(new.objective)
        rest = method.ends_with_labels and same_labels(new.clusters.labels, clusters.labels, method.weights)
        still = state is not None and abs(new.objective - state.objective) <= tol * abs(new.objective)
        state, clusters = new, new.clusters
        if best_state is None or method.merit(new) > method.merit(best_state):
            best, best_state = iteration, new
        stopped = stop()
        if rest or still or iteration - best >= PATIENCE:
            ending = Ending.CONVERGED
            break
        if stopped:
            ending = Ending.STOPPED
            break
    return Run(start, best_state, ending, best, history)


def best_of(runs: Sequence[_T], merit: Callable[[_T], float]) -> _T:
    """The run of most merit; the first of those that only rounding tells apart."""
    merits = [merit(run) for run in runs]
    best = max(merits)
    return next(run for run, value in zip(runs, merits, strict=True) if value >= best - 1e-10 * abs(best))
