"""BLAS threads: a help on large products, a hindrance in loops of small ones, where they cost up to 20 times."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from threadpoolctl import ThreadpoolController

# Rows times columns below which a product is over before a second thread has woken up.
_SMALL = 2**24


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def suited_to(n_samples: int, n_columns: int, n_jobs: int | None = None) -> AbstractContextManager[Any]:
    """One BLAS thread where the rows are few or other threads are at work; as many as there are otherwise."""
    if n_samples * n_columns >= _SMALL and n_jobs in (None, 1):
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")
