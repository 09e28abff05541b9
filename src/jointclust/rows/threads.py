"""Threads: of our own over large passes, of BLAS only where a single large problem is solved.

BLAS threads help large products, but in loops of small ones, or beside other work, they cost up to 20 times.
"""

from __future__ import annotations

import contextvars
import functools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from threadpoolctl import ThreadpoolController

# Size from which on a dense eigenvalue problem keeps several threads busy.
_LARGE = 1000
_T = TypeVar("_T")
_I = TypeVar("_I")
# Runs that go on side by side, which have to share the cores.
_side_by_side = contextvars.ContextVar("side_by_side", default=1)


@functools.cache
def n_cores() -> int:
    """Cores that this process may use, by affinity and by the limits of its container."""
    return cpu_count()


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def _let_any_thread_set_it() -> None:
    """Let one thread set the limit and another lift it, which threadpoolctl forbids from version 3.8 on."""
    for library in _controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


class _Single(AbstractContextManager[None]):
    """A limit for the whole process: the first thread that enters sets it, the last one that leaves lifts it."""

    def __init__(self) -> None:
        self.lock, self.depth, self.limit = threading.Lock(), 0, None

    def __enter__(self) -> None:
        with self.lock:
            if self.depth == 0:
                _let_any_thread_set_it()
                self.limit = _controller().limit(limits=1, user_api="blas")
            self.depth += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.depth -= 1
            if self.depth == 0 and self.limit is not None:
                _let_any_thread_set_it()
                self.limit.restore_original_limits()
                _let_any_thread_set_it()


_single = _Single()


def single() -> AbstractContextManager[None]:
    """One BLAS thread: other threads have the other cores."""
    return _single


def suited_to(n_columns: int, n_jobs: int | None = None) -> AbstractContextManager[Any]:
    """One BLAS thread if problems are small or other threads are at work; otherwise no limit."""
    return nullcontext() if n_columns >= _LARGE and n_jobs in (None, 1) else single()


def interruptible(solve: Callable[[], _T]) -> _T:
    """The result of a long call of a compiled library, which Ctrl-C interrupts at once.

    Only the main thread receives Ctrl-C, so another thread makes the call, and the interrupt does not wait for it.
    """
    if threading.current_thread() is not threading.main_thread():
        return solve()
    future: Future[_T] = Future()

    def run() -> None:
        try:
            future.set_result(solve())
        except BaseException as error:  # handed over
            future.set_exception(error)

    threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True).start()
    return future.result()


def each(run: Callable[[int], _T], n_runs: int, n_jobs: int | None) -> list[_T]:
    """``run(0)`` to ``run(n_runs - 1)``, spread over ``n_jobs`` threads, each in a copy of the caller's context."""
    if n_runs == 1 or n_jobs in (None, 1):
        return [run(index) for index in range(n_runs)]
    together = _side_by_side.get() * min(n_runs, effective_n_jobs(n_jobs))

    def beside_others(index: int) -> _T:
        _side_by_side.set(together)
        return run(index)

    # A list, made in this thread: joblib would take later tasks of a generator in a thread of its own.
    tasks = [delayed(contextvars.copy_context().run)(beside_others, index) for index in range(n_runs)]
    return Parallel(n_jobs=n_jobs, require="sharedmem")(tasks)


@contextmanager
def apart() -> Iterator[None]:
    """Switch our own threads off: a scheduler runs other tasks beside this one."""
    before = _side_by_side.set(n_cores())
    try:
        with single():
            yield
    finally:
        _side_by_side.reset(before)


def _openmp() -> list[Any]:
    """The OpenMP libraries, whose limits hold for the thread that sets them."""
    return [library for library in _controller().lib_controllers if library.user_api == "openmp"]


def _no_openmp_beside() -> None:
    """One OpenMP thread for calls from this thread, because other threads use the other cores."""
    for library in _openmp():
        library.set_num_threads(1)


@contextmanager
def alone() -> Iterator[None]:
    """One thread of BLAS and of OpenMP for calls from this thread: several would add in any order."""
    before = [library.get_num_threads() for library in _openmp()]
    _no_openmp_beside()
    try:
        with single():
            yield
    finally:
        for library, n_threads in zip(_openmp(), before, strict=True):
            library.set_num_threads(n_threads)


def in_order(run: Callable[[_I], _T], items: Iterable[_I]) -> Iterator[tuple[_I, _T]]:
    """``run`` of each item, a few at a time by threads; results come in the order of the items."""
    workers = max(1, n_cores() // _side_by_side.get())
    if workers == 1:
        for item in items:
            yield item, run(item)
        return
    waiting: deque[tuple[_I, Future[_T]]] = deque()
    # A pool of its own: it costs a hundredth of the pass, survives no fork, and waits for no other one.
    with ThreadPoolExecutor(max_workers=workers, initializer=_no_openmp_beside) as pool:
        try:
            for item in items:
                waiting.append((item, pool.submit(contextvars.copy_context().run, run, item)))
                if len(waiting) > workers:
                    first, future = waiting.popleft()
                    yield first, future.result()
            while waiting:
                first, future = waiting.popleft()
                yield first, future.result()
        finally:
            for _, future in waiting:
                future.cancel()
