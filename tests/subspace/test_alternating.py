"""The one loop, by a method whose steps are written down."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest

import jointclust as jc
from jointclust.subspace.alternating import PATIENCE, Ending, Method, alternate, best_of


class Scripted:
    """Steps with the given objectives, which come to rest at the step of that number."""

    def __init__(self, objectives, *, rest=None, sign=1):
        self.objectives, self.rest, self.sign = objectives, rest, sign
        self.stepped, self.questions = [], []

    def step(self, start, previous):
        number = len(self.stepped)
        self.stepped.append((start, previous))
        return SimpleNamespace(objective=self.objectives[number], number=number)

    def rests(self, start, previous, state):
        self.questions.append((start, previous, state))
        return state.number == self.rest

    def merit(self, state):
        return self.sign * state.objective


START = object()


def run(steps, *, max_iter=100, tol=0.0, **options):
    return alternate(steps, START, max_iter=max_iter, tol=tol, **options)


def test_each_step_goes_on_from_the_last():
    steps = Scripted([1.0, 2.0, 4.0])
    result = run(steps, max_iter=3)
    assert all(start is START for start, _ in steps.stepped)
    assert [None if state is None else state.number for _, state in steps.stepped] == [None, 0, 1]
    assert [(start, previous) for start, previous, _ in steps.questions] == steps.stepped
    assert [state.number for _, _, state in steps.questions] == [0, 1, 2]
    assert result.start is START
    assert result.history == [1.0, 2.0, 4.0]
    assert (result.best, result.state.number) == (2, 2)


@pytest.mark.parametrize("rest", [0, 2])
def test_ends_when_the_steps_rest(rest):
    result = run(Scripted([1.0, 2.0, 3.0, 4.0], rest=rest))
    assert result.ending is Ending.CONVERGED
    assert len(result.history) == rest + 1


def test_hard_clusters_rest_when_the_labels_of_rows_with_weight_stop(rng):
    """The first step is compared with the start, later ones with the step before."""
    X, weights = rng.standard_normal((6, 3)), np.array([1.0, 1, 1, 1, 1, 0])
    labels = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0], [1, 0, 0, 1, 1, 1]], dtype=np.int32)
    for given, same in ((None, False), (weights, True)):
        coordinates = jc.decompose(X, given)
        rests = functools.partial(Method.rests, SimpleNamespace(coordinates=coordinates))
        start, other, third = (coordinates.clusters(row, 2) for row in labels)
        state = SimpleNamespace(clusters=other)
        assert rests(start, None, state) is same
        assert not rests(start, SimpleNamespace(clusters=third), state)
        assert rests(third, SimpleNamespace(clusters=other), state)


@pytest.mark.parametrize("scale", [1.0, -1e6, 1e-6])
def test_the_change_of_the_objective_is_relative(scale):
    objectives = [scale * value for value in (1.0, 2.0, 2.02, 2.0201, 2.0202)]
    result = run(Scripted(objectives, sign=np.sign(scale)), tol=1e-3)
    assert result.ending is Ending.CONVERGED
    assert result.history == objectives[:4]


def test_the_first_step_has_nothing_to_compare_with():
    assert len(run(Scripted([0.0, 1.0, 2.0]), max_iter=2, tol=0.1).history) == 2


def test_ends_when_nothing_better_comes():
    falling = [5.0, 7.0, 6.0, *(5.0 - 0.1 * step for step in range(2 * PATIENCE))]
    result = run(Scripted(falling))
    assert result.ending is Ending.CONVERGED
    assert (result.best, result.state.number) == (1, 1)
    assert result.history == falling[: 1 + PATIENCE + 1]


def test_the_best_state_is_the_first_of_equals_by_merit():
    assert run(Scripted([3.0, 1.0, 3.0, 2.0]), max_iter=4).best == 0
    assert run(Scripted([3.0, 1.0, 4.0, 1.0], sign=-1), max_iter=4).best == 1


def test_says_so_at_the_last_iteration():
    result = run(Scripted([1.0, 2.0, 3.0]), max_iter=2)
    assert result.ending is Ending.MAX_ITER
    assert "max_iter=2" in result.ending.value.format(max_iter=2)
    rests = run(Scripted([1.0, 2.0], rest=1), max_iter=2)
    assert rests.ending is Ending.CONVERGED, "the last iteration came to rest"


def test_stops_when_told_and_asks_once_a_step():
    answers = []

    def stop():
        answers.append(len(answers) == 2)
        return answers[-1]

    result = run(Scripted([1.0, 2.0, 3.0, 4.0]), stop=stop)
    assert result.ending is Ending.STOPPED
    assert result.history == [1.0, 2.0, 3.0]
    assert result.state.number == 2
    at_once = run(Scripted([1.0], rest=0), stop=lambda: True)
    assert at_once.ending is Ending.CONVERGED, "a run that rests has converged, whoever wants it to stop"


def test_the_best_run_is_the_first_that_only_rounding_tells_apart():
    def chosen(*merits):
        return best_of(range(len(merits)), lambda index: merits[index])

    assert chosen(1.0, 3.0, 2.0) == 1
    assert chosen(1.0, 1.0 + 1e-12, 0.5) == 0
    assert chosen(-1e6, -1e6 + 1e-6, -2e6) == 0
    assert chosen(1.0, 1.0 + 1e-8) == 1
    assert chosen(0.0, 0.0) == 0
