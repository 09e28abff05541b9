"""Reports the tasks of a fit to scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar

import numpy as np

from jointclust._sklearn import CallbackContext
from jointclust.rows import threads

_T = TypeVar("_T")


def begin(estimator: Any, n_tasks: int) -> CallbackContext:
    """Begin the task of the whole fit, whose parts may run in any order."""
    context = estimator._init_callback_context(max_subtasks=n_tasks, sequential_subtasks=False)
    context.call_on_fit_task_begin(estimator=estimator)
    return context


def make_runs(
    estimator: Any,
    run: Callable[[int, np.random.RandomState, CallbackContext], _T],
    n_init: int,
    rng: np.random.RandomState,
    n_columns: int,
    context: CallbackContext,
    max_iter: int | None = None,
) -> list[_T]:
    """``run(index, generator, task)`` for each of the runs, which are tasks of their own."""
    seeds = rng.randint(np.iinfo(np.int32).max, size=n_init)

    def one(index: int) -> _T:
        task = context.subcontext("run", task_id=index, max_subtasks=max_iter)
        task.call_on_fit_task_begin(estimator=estimator)
        result = run(index, np.random.RandomState(seeds[index]), task)
        task.call_on_fit_task_end(estimator=estimator)
        return result

    with threads.suited_to(n_columns, estimator.n_jobs):
        return threads.each(one, n_init, estimator.n_jobs)


def iteration_reporter(estimator: Any, task: CallbackContext) -> Callable[[], bool]:
    """A function that reports one finished iteration; it returns True if a callback wants to stop."""

    def report() -> bool:
        iteration = task.subcontext("iteration")
        iteration.call_on_fit_task_begin(estimator=estimator)
        return bool(iteration.call_on_fit_task_end(estimator=estimator))

    return report


def stage_reporter(estimator: Any, root: CallbackContext, name: str, n_tasks: int) -> Callable[[], None]:
    """A function that reports one finished fit of a stage; the stage ends with the last fit."""
    stage = root.subcontext(f"{name}s", max_subtasks=n_tasks, sequential_subtasks=False)
    stage.call_on_fit_task_begin(estimator=estimator)
    report_part = part_reporter(estimator, stage, name)

    def report() -> None:
        if report_part() == n_tasks - 1:
            stage.call_on_fit_task_end(estimator=estimator)

    return report


def part_reporter(estimator: Any, context: CallbackContext, name: str) -> Callable[[], int]:
    """A function that reports one finished part of a task; it returns the number of parts before."""
    indices = count()

    def report() -> int:
        index = next(indices)
        task = context.subcontext(name, task_id=index)
        task.call_on_fit_task_begin(estimator=estimator)
        task.call_on_fit_task_end(estimator=estimator)
        return index

    return report
