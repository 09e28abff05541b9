"""BLAS threads: a help on large products, a hindrance in loops of small ones, where they cost up to 20 times."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

# Rows times columns below which a product is over before a second thread has woken up.
_SMALL = 2**24
_T = TypeVar("_T")


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def suited_to(n_samples: int, n_columns: int, n_jobs: int | None = None) -> AbstractContextManager[Any]:
    """One BLAS thread where the rows are few or other threads are at work; as many as there are otherwise."""
    if n_samples * n_columns >= _SMALL and n_jobs in (None, 1):
        return nullcontext()
    return single()


def single() -> AbstractContextManager[Any]:
    """One BLAS thread: other threads have the other cores."""
    return _controller().limit(limits=1, user_api="blas")


def each(run: Callable[[int], _T], n_runs: int, n_jobs: int | None) -> list[_T]:
    """``run(0)`` to ``run(n_runs - 1)``, spread over ``n_jobs`` threads."""
    if n_runs == 1 or n_jobs in (None, 1):
        return [run(index) for index in range(n_runs)]
    return Parallel(n_jobs=n_jobs, prefer="threads")(delayed(run)(index) for index in range(n_runs))
