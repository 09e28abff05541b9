"""The one loop: a method supplies the steps, the loop decides when to stop and how a run ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, Protocol, TypeVar

from numpy.typing import NDArray

from jointclust.numerics.kmeans import settled
from jointclust.numerics.partitions import Partition, assign, at_rest
from jointclust.subspace.coordinates import Clusters, Coordinates
from jointclust.types import Float, Labels

# Steps without a better state after which a run ends.
PATIENCE = 10
_T = TypeVar("_T")


class HasObjective(Protocol):
    """A state of a run: whatever the next step is made of, with the objective reached."""

    @property
    def objective(self) -> float: ...


Start = TypeVar("Start")
StateT = TypeVar("StateT", bound=HasObjective)


class Steps(ABC, Generic[Start, StateT]):
    """What a method supplies to the loop. Steps hold no state of a run: many runs may share one object."""

    @abstractmethod
    def step(self, start: Start, previous: StateT | None) -> StateT:
        """The next state, a new object, from the previous one; the first, from the start (labels, clusters)."""

    def rests(self, start: Start, previous: StateT | None, state: StateT) -> bool:
        """Whether a run is over whatever its objective does, because the next step would change nothing."""
        return False

    def merit(self, state: StateT, *, final: bool = False) -> float:
        """What to compare the states of a run by, or the final ones of several runs; greater is better."""
        return -state.objective


@dataclass(frozen=True, eq=False)
class State:
    """Where a run stands: the clusters, the projection they were found in, the objective of the two."""

    clusters: Clusters
    projection: Float
    objective: float


class Method(Steps[Clusters, State]):
    """Steps that alternate hard clusters and a projection."""

    coordinates: Coordinates

    @property
    def published(self) -> Mapping[str, float]:
        """Parameters of these steps that the fit publishes, by attribute."""
        return {}

    @abstractmethod
    def project(self, clusters: Clusters) -> Float:
        """The projection that suits these clusters best."""

    @abstractmethod
    def objective(self, clusters: Clusters, projection: Float, Y: NDArray, centers: NDArray) -> float:
        """The paper's objective of a finished fit, whose rows are Y in the embedding."""

    def rests(self, start: Clusters, previous: State | None, state: State) -> bool:
        """Whether the labels stopped."""
        before, after = (start if previous is None else previous.clusters), state.clusters
        return at_rest(before.labels, after.labels, after.n_clusters, self.coordinates.weights)

    def merit(self, state: State, *, final: bool = False) -> float:
        return state.objective

    def settle(self, Y: NDArray, state: State) -> Partition:
        """Labels and centers at rest in the final embedding, for the labels that a run ended with."""
        weights, known = self.coordinates.weights, self.coordinates.known
        return settled(self.coordinates.together(Y), state.clusters.labels, state.clusters.n_clusters, weights, known)

    def label(self, Y: NDArray, centers: NDArray) -> Labels:
        """Labels of the rows for centers in the final embedding."""
        return assign(self.coordinates.together(Y), centers, self.coordinates.known)


class Ending(Enum):
    """How a run ended, with advice where there is any."""

    CONVERGED = ""
    MAX_ITER = "The run stopped at max_iter={max_iter} before it converged: raise max_iter, or tol."
    STOPPED = "A callback stopped the run before it converged."


@dataclass(frozen=True, eq=False)
class Run(Generic[Start, StateT]):
    """A finished run: its best state, which iteration that was, and the objective after each iteration."""

    start: Start
    state: StateT
    ending: Ending
    best: int
    history: list[float]


def alternate(
    steps: Steps[Start, StateT],
    start: Start,
    *,
    max_iter: int,
    tol: float,
    stop: Callable[[], bool] = lambda: False,
    patience: int = PATIENCE,
) -> Run[Start, StateT]:
    """Take steps until the run rests; return the best state visited.

    A run rests when its steps say so, when the objective changes by no more than ``tol``, relative, or when nothing
    better was found in ``patience`` steps. ``stop()`` is called after each step; True ends the run.
    """
    history, ending = list[float](), Ending.MAX_ITER
    previous: StateT | None = None
    best, best_state = 0, None
    for iteration in range(max_iter):
        state = steps.step(start, previous)
        history.append(state.objective)
        rest = steps.rests(start, previous, state)
        still = previous is not None and abs(state.objective - previous.objective) <= tol * abs(state.objective)
        previous = state
        if best_state is None or steps.merit(state) > steps.merit(best_state):
            best, best_state = iteration, state
        stopped = stop()
        if rest or still or iteration - best >= patience:
            ending = Ending.CONVERGED
            break
        if stopped:
            ending = Ending.STOPPED
            break
    assert best_state is not None
    return Run(start, best_state, ending, best, history)


def best_of(runs: Sequence[_T], merit: Callable[[_T], float]) -> _T:
    """The run of most merit; the first of those that only rounding tells apart."""
    merits = [merit(run) for run in runs]
    best = max(merits)
    return next(run for run, value in zip(runs, merits, strict=True) if value >= best - 1e-10 * abs(best))
