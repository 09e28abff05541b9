"""Makes the candidates of a search from parameter grids, then fits them on one decomposition."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from jointclust.estimators.fitting import fit_member, training_labels
from jointclust.exceptions import collected
from jointclust.rows import threads
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Labels

# The value in a grid that stands for the DEC paper's trade-offs on two levels: the coarse ones, then finer ones.
TWO_LEVELS = "two-level"
# Trade-offs in the upper panels of the paper's figure 5; reach about the best, and step, in the lower ones.
COARSE_TRADE_OFFS = (1.0, 6.0, 11.0, 16.0, 21.0, 26.0)
_REACH, _STEP = 1.0, 0.25


def fine_trade_offs(best: float) -> tuple[float, ...]:
    """The paper's second level: trade-offs about the best one on the first level, above 0."""
    steps = np.arange(-round(_REACH / _STEP), round(_REACH / _STEP) + 1)
    return tuple(float(value) for value in best + _STEP * steps if value > 0)


@dataclass(eq=False)
class Candidate:
    """One estimator with parameters, its labels after the fit, and its warnings or the reason of its failure."""

    estimator: Any
    params: dict[str, Any]
    two_levels: str | None = None  # the parameter that has a second, finer level
    labels: Labels | None = None
    score: float = np.nan
    seconds: float = 0.0
    messages: list[str] = field(default_factory=list)
    rows: Any = None  # rows of its own, in place of those of all candidates

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters of the estimator, of the last step of a pipeline, or of a mixture."""
        params = self.estimator.get_params()
        names = [name for name in params if name.split("__")[-1] == "n_clusters"]
        if names:
            return params[max(names, key=len)]
        mixture = hasattr(self.estimator, "weight_concentration_prior") or "reg_covar" in params
        return params.get("n_components") if mixture else None

    def __str__(self) -> str:
        params = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"{type(self.estimator).__name__}({params})"


def unfitted_candidates(estimator: Any, param_grid: Any) -> Iterator[Candidate]:
    """Unfitted candidates from an estimator and a grid, or from (estimator, grid) pairs."""
    pairs = estimator if isinstance(estimator, list) else [(estimator, {} if param_grid is None else param_grid)]
    if isinstance(estimator, list) and param_grid is not None:
        raise ValueError("param_grid goes with one estimator: give a list of (estimator, grid) pairs without it.")
    if not pairs:
        raise ValueError("There are no candidates: the list of (estimator, grid) pairs is empty.")
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise TypeError(f"A list of estimators holds (estimator, grid) pairs; got {pair!r}.")
        base, grid = pair
        grids = [grid] if isinstance(grid, dict) else list(grid)
        if not grids:
            raise ValueError("There are no candidates: the grid is empty.")
        for one in grids:
            two_levels = check_grid(base, one)
            values = one if two_levels is None else {**one, two_levels: COARSE_TRADE_OFFS}
            for params in ParameterGrid(values):
                yield Candidate(clone(base).set_params(**clone(params, safe=False)), params, two_levels)


def check_grid(base: Any, grid: dict[str, Any]) -> str | None:
    """Check a grid for an estimator; returns the parameter that has two levels, if any."""
    valid, two_levels = base.get_params(), None
    for name, values in grid.items():
        if name not in valid:
            raise ValueError(f"{type(base).__name__} has no parameter {name!r}; it has {', '.join(sorted(valid))}.")
        if isinstance(values, str) and values == TWO_LEVELS and name.split("__")[-1] == "trade_off":
            two_levels = name
        elif isinstance(values, str) or not hasattr(values, "__len__"):
            raise TypeError(f"The grid must have a list of values for {name!r}; got {values!r}.")
        elif len(values) == 0:
            raise ValueError(f"The grid has no values for {name!r}: give at least one.")
    return two_levels


def finer(best: Candidate) -> list[Candidate]:
    """Unfitted candidates of the second level around the best of the first; none without a second level."""
    name = best.two_levels
    if name is None:
        return []
    return [
        Candidate(clone(best.estimator).set_params(**{name: value}), {**best.params, name: value})
        for value in fine_trade_offs(best.params[name])
        if value not in COARSE_TRADE_OFFS
    ]


def fit_all(
    unfitted: list[Candidate],
    X: Any,
    coordinates: Coordinates,
    rng: np.random.RandomState,
    n_jobs: int | None,
    report: Callable[[], None] = lambda: None,
    options: dict[str, ArrayLike] | None = None,
) -> None:
    """Fit every candidate on the shared coordinates; record its warnings, or the reason of its failure."""
    seeds = rng.randint(np.iinfo(np.int32).max, size=len(unfitted))

    def one(index: int) -> None:
        candidate = unfitted[index]
        rows = X if candidate.rows is None else candidate.rows
        began = time.perf_counter()
        with collected() as messages:
            try:
                seed = int(seeds[index])
                weights = coordinates.weights
                candidate.estimator = fit_member(candidate.estimator, rows, coordinates, weights, seed, options)
                labels = training_labels(candidate.estimator, rows)
                candidate.labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
            except Exception as error:  # a failure is recorded, the other candidates continue
                messages.append(f"{type(error).__name__}: {error}")
                candidate.score = -np.inf
        candidate.messages += messages
        candidate.seconds = time.perf_counter() - began
        report()

    # Each candidate has its own list of messages; this one is registered before the threads start.
    with collected(), threads.suited_to(coordinates.rank, n_jobs):
        threads.each(one, len(unfitted), n_jobs)
