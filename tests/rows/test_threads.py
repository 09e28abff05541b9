"""Threads: order, errors, what is left undone, and BLAS's own threads in the meantime."""

import contextvars
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import jointclust as jc
from jointclust.consensus import projection
from jointclust.rows import threads
from jointclust.views import gaps


@pytest.fixture(autouse=True)
def _two_blas_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


# -- runs side by side --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
@pytest.mark.parametrize("n_runs", [0, 1, 5])
def test_results_come_by_number(n_runs, n_jobs):
    def run(index):
        time.sleep(0.002 * (n_runs - index))
        return index**2

    assert threads.each(run, n_runs, n_jobs) == [index**2 for index in range(n_runs)]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_error_of_a_run_is_raised(n_jobs):
    def run(index):
        if index == 1:
            raise ZeroDivisionError("run 1")
        return index

    with pytest.raises(ZeroDivisionError, match="run 1"):
        threads.each(run, 4, n_jobs)
    assert threads.each(lambda index: len(workers_of_a_pass()), 1, None) == [joblib.cpu_count()]


def workers_of_a_pass():
    """Threads that a pass makes use of."""

    def run(_):
        time.sleep(0.01)
        return threading.get_ident()

    return {worker for _, worker in threads.in_order(run, range(4 * joblib.cpu_count()))}


def test_runs_side_by_side_share_the_cores():
    together = threads.each(lambda index: len(workers_of_a_pass()), 2, 2)
    assert together == [max(1, joblib.cpu_count() // 2)] * 2
    assert len(workers_of_a_pass()) == joblib.cpu_count()


# -- a pass by threads --------------------------------------------------------------------------------------------


def test_results_come_in_the_order_of_the_items():
    rng = np.random.RandomState(0)

    def run(item):
        time.sleep(rng.uniform(0, 0.005))
        return -item

    assert list(threads.in_order(run, iter(range(30)))) == [(item, -item) for item in range(30)]
    assert list(threads.in_order(run, [])) == []


def test_items_are_asked_for_as_they_are_needed():
    calls = []
    results = threads.in_order(lambda item: item, (calls.append(item) or item for item in range(1000)))
    assert next(results) == (0, 0)
    assert len(calls) <= joblib.cpu_count() + 2
    results.close()


def test_items_are_run_in_the_context_of_the_caller(monkeypatch):
    """So that whoever collects warnings hears those of a pass, too."""
    monkeypatch.setattr(threads, "n_cores", lambda: 2)
    variable = contextvars.ContextVar("variable", default="nobody's")
    variable.set("the caller's")
    assert [one for _, one in threads.in_order(lambda _: variable.get(), range(3))] == ["the caller's"] * 3


def test_cores_are_counted_within_limits(monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert threads.n_cores.__wrapped__() == 1


def test_an_error_of_an_item_comes_in_its_turn_and_ends_the_pass():
    begun, seen = [], []

    def run(item):
        begun.append(item)
        if item == 3:
            raise ZeroDivisionError("item 3")
        return item

    with pytest.raises(ZeroDivisionError, match="item 3"):
        seen.extend(item for item, _ in threads.in_order(run, range(1000)))
    assert len(begun) <= 3 + joblib.cpu_count() + 2


def test_a_pass_that_is_left_cancels_what_waits():
    begun, go = [], threading.Event()

    def run(item):
        begun.append(item)
        if item > 0:
            go.wait(5)
        return item

    results = threads.in_order(run, range(1000))
    timer, before = threading.Timer(0.05, go.set), set(threading.enumerate())
    next(results)
    timer.start()
    results.close()
    timer.join()
    assert len(begun) <= joblib.cpu_count() + 2
    assert set(threading.enumerate()) <= before


# -- BLAS ---------------------------------------------------------------------------------------------------------


def test_one_blas_thread_until_the_last_one_leaves():
    assert blas_threads() == {2}
    with threads.single():
        with threads.single():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}
    with pytest.raises(ZeroDivisionError), threads.single():
        raise ZeroDivisionError
    assert blas_threads() == {2}


def test_the_limit_is_shared_by_threads():
    inside, leave = threading.Event(), threading.Event()

    def other():
        with threads.single():
            inside.set()
            leave.wait(5)

    thread = threading.Thread(target=other)
    with threads.single():
        thread.start()
        inside.wait(5)
    assert blas_threads() == {1}, "the other one is still at work"
    leave.set()
    thread.join()
    assert blas_threads() == {2}


def test_the_limit_is_lifted_whoever_leaves_last():
    def visit(item):
        with threads.single():
            time.sleep(0.0005 * (item % 3))
            return blas_threads()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(visit, range(60))) == [{1}] * 60
        assert blas_threads() == {2}
        with threadpool_limits(1, user_api="blas"):  # none of those threads is left in control
            assert blas_threads() == {1}


@pytest.mark.parametrize(
    ("n_columns", "n_jobs", "expected"), [(10, None, 1), (5000, None, 2), (5000, 1, 2), (5000, 2, 1)]
)
def test_large_problems_that_are_alone_keep_their_threads(n_columns, n_jobs, expected):
    with threads.suited_to(n_columns, n_jobs):
        assert blas_threads() == {expected}
    assert blas_threads() == {2}


_INTERRUPTED = """
import hashlib, os, signal, threading, warnings
import numpy as np, scipy.linalg
import jointclust as jc

warnings.simplefilter("ignore")
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background begin with it ignored
X, _ = jc.datasets.mixture(200, 20, 3, random_state=0)
model = jc.JointConsensus(3, random_state=0).fit(X)
before = dict(vars(model))


def endless(*_, **__):
    # A compiled call of an hour, after which Ctrl-C comes.
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    return hashlib.pbkdf2_hmac("sha256", b"", b"", 2_000_000_000)


scipy.linalg.eigh = endless
try:
    model.fit(np.random.RandomState(0).standard_normal((1300, 1100)))
except KeyboardInterrupt:
    print("as it was" if vars(model) == before and model.labels_.shape == (200,) else "changed")
"""


def test_an_interrupted_fit_ends_at_once_and_leaves_the_model_as_it_was():
    result = subprocess.run([sys.executable, "-c", _INTERRUPTED], capture_output=True, text=True, timeout=120)
    assert result.stdout == "as it was\n", result.stderr


def test_small_problems_of_a_fit_have_one_blas_thread(monkeypatch):
    """The k-means++ draws of its landmarks, and what fills gaps: threads that wait for the next product take a core."""
    seen = {}

    def watched(module, name):
        original = getattr(module, name)

        def function(*arguments, **options):
            seen.setdefault(name, set()).update(blas_threads())
            return original(*arguments, **options)

        monkeypatch.setattr(module, name, function)

    watched(projection, "_anchors")
    watched(gaps, "_step")
    monkeypatch.setattr(projection, "LANDMARKS", 100)
    monkeypatch.setattr(projection, "ANCHORS", 20)
    X, _ = jc.datasets.mixture(300, 8, 3, n_nuisance=2, random_state=0)
    X[::7, 2] = np.nan
    jc.JointConsensus(3, effort="quick", trust=False, random_state=0).fit(X)
    assert seen == {"_anchors": {1}, "_step": {1}}
    assert blas_threads() == {2}
