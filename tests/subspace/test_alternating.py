"""The one loop, by a method whose steps are written down."""

from types import SimpleNamespace

import numpy as np
import pytest

from jointclust.subspace.alternating import PATIENCE, Ending, alternate, best_of


class Scripted:
    """Steps with the given objectives; labels change at every step, or are those given."""

    def __init__(self, objectives, labels=None, *, ends_with_labels=True, weights=None, sign=1):
        self.objectives, self.sign = objectives, sign
        self.labels = [[step, 0] for step in range(1, len(objectives) + 1)] if labels is None else labels
        self.ends_with_labels, self.weights = ends_with_labels, weights
        self.seen = []

    def step(self, clusters, previous):
        number = len(self.seen)
        self.seen.append((clusters, previous))
        labels = np.array(self.labels[number], dtype=np.int32)
        return SimpleNamespace(
            objective=self.objectives[number], clusters=SimpleNamespace(labels=labels), number=number
        )

    def merit(self, state):
        return self.sign * state.objective


def run(method, *, max_iter=100, tol=0.0, **options):
    start = SimpleNamespace(labels=np.zeros(2, dtype=np.int32))
    return alternate(method, start, max_iter=max_iter, tol=tol, **options)


def test_each_step_goes_on_from_the_last():
    method = Scripted([1.0, 2.0, 4.0])
    found = run(method, max_iter=3)
    clusters, previous = zip(*method.seen, strict=True)
    assert clusters[0] is found.start
    assert previous[0] is None
    assert [state.number for state in previous[1:]] == [0, 1]
    assert all(given is state.clusters for given, state in zip(clusters[1:], previous[1:], strict=True))
    assert found.history == [1.0, 2.0, 4.0]
    assert (found.best, found.state.number) == (2, 2)


def test_ends_when_the_labels_stop():
    found = run(Scripted([1.0, 2.0, 3.0, 4.0], [[1, 0], [2, 0], [2, 0], [3, 0]]))
    assert found.ending is Ending.CONVERGED
    assert found.history == [1.0, 2.0, 3.0]


def test_labels_of_rows_without_weight_do_not_matter():
    script = [1.0, 2.0, 3.0], [[1, 0], [1, 5], [1, 6]]
    assert len(run(Scripted(*script, weights=np.array([1.0, 0.0]))).history) == 2
    assert len(run(Scripted(*script, weights=np.array([0.0, 1.0])), max_iter=3).history) == 1
    assert len(run(Scripted(*script), max_iter=3).history) == 3


def test_goes_on_with_the_same_labels_where_they_are_not_all():
    method = Scripted([1.0, 2.0, 3.0, 3.0, 9.0], [[0, 0]] * 5, ends_with_labels=False)
    assert run(method).history == [1.0, 2.0, 3.0, 3.0]


@pytest.mark.parametrize("scale", [1.0, -1e6, 1e-6])
def test_the_change_of_the_objective_is_relative(scale):
    objectives = [scale * value for value in (1.0, 2.0, 2.02, 2.0201, 2.0202)]
    found = run(Scripted(objectives, sign=np.sign(scale)), tol=1e-3)
    assert found.ending is Ending.CONVERGED
    assert found.history == objectives[:4]


def test_the_first_step_has_nothing_to_compare_with():
    assert len(run(Scripted([0.0, 1.0, 2.0]), max_iter=2, tol=0.1).history) == 2


def test_ends_when_nothing_better_comes():
    falling = [5.0, 7.0, 6.0, *(5.0 - 0.1 * step for step in range(2 * PATIENCE))]
    found = run(Scripted(falling))
    assert found.ending is Ending.CONVERGED
    assert (found.best, found.state.number) == (1, 1)
    assert found.history == falling[: 1 + PATIENCE + 1]


def test_the_best_state_is_the_first_of_equals_by_merit():
    assert run(Scripted([3.0, 1.0, 3.0, 2.0]), max_iter=4).best == 0
    assert run(Scripted([3.0, 1.0, 4.0, 1.0], sign=-1), max_iter=4).best == 1


def test_says_so_at_the_last_iteration():
    found = run(Scripted([1.0, 2.0, 3.0]), max_iter=2)
    assert found.ending is Ending.MAX_ITER
    assert "max_iter=2" in found.ending.value.format(max_iter=2)
    rests = run(Scripted([1.0, 2.0], [[1, 0], [1, 0]]), max_iter=2)
    assert rests.ending is Ending.CONVERGED, "the last iteration came to rest"


def test_stops_when_told_and_asks_once_a_step():
    answers = []

    def stop():
        answers.append(len(answers) == 2)
        return answers[-1]

    found = run(Scripted([1.0, 2.0, 3.0, 4.0]), stop=stop)
    assert found.ending is Ending.STOPPED
    assert found.history == [1.0, 2.0, 3.0]
    assert found.state.number == 2
    rests = run(Scripted([1.0, 2.0], [[1, 0], [1, 0]]), stop=lambda: len(answers) == 0)
    assert rests.ending is Ending.CONVERGED
    at_once = run(Scripted([1.0], [[0, 0]]), stop=lambda: True)
    assert at_once.ending is Ending.CONVERGED, "a run that rests has converged, whoever wants it to stop"


def test_the_best_run_is_the_first_that_only_rounding_tells_apart():
    def chosen(*merits):
        return best_of(range(len(merits)), lambda index: merits[index])

    assert chosen(1.0, 3.0, 2.0) == 1
    assert chosen(1.0, 1.0 + 1e-12, 0.5) == 0
    assert chosen(-1e6, -1e6 + 1e-6, -2e6) == 0
    assert chosen(1.0, 1.0 + 1e-8) == 1
    assert chosen(0.0, 0.0) == 0
