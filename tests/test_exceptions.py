"""Who hears a warning."""

import pickle
import re
import threading
import warnings

import numpy as np
import pytest

from jointclust import exceptions
from jointclust.exceptions import CollapseWarning, collected, tell
from jointclust.rows import threads


def test_what_is_collected_is_not_shown(recwarn):
    """Ours and other libraries', each once, by the innermost that listens; with the user's strictest setting, too."""
    warnings.simplefilter("error")
    with collected() as outer:
        tell("first", CollapseWarning)
        with collected() as inner:
            tell("second", CollapseWarning)
            tell("second", CollapseWarning)
            np.log(np.array([-1.0]))
        warnings.warn("third", DeprecationWarning, stacklevel=1)
    assert outer == ["first", "third"]
    assert inner == ["second", "invalid value encountered in log"]
    assert not recwarn.list
    with pytest.raises(CollapseWarning, match="fourth"):
        tell("fourth", CollapseWarning)


def test_the_filters_are_as_before():
    before = list(warnings.filters)
    with pytest.raises(KeyError), collected(), collected():
        raise KeyError
    assert list(warnings.filters) == before
    # A thread that brings its own list of filters back, later than ours ended, brings back what it had.
    kept = warnings.catch_warnings()
    with collected():
        kept.__enter__()
    kept.__exit__(None, None, None)
    assert list(warnings.filters) == before


def test_threads_of_ours_are_heard_and_others_are_not(monkeypatch, recwarn):
    monkeypatch.setattr(threads, "n_cores", lambda: 3)

    def run(index):
        tell(f"run {index}", UserWarning)
        warnings.warn(f"foreign {index}", UserWarning, stacklevel=1)
        return index

    for spread in (
        lambda: threads.each(run, 8, 3),
        lambda: [result for _, result in threads.in_order(run, range(8))],
        lambda: threads.each(lambda start: threads.each(lambda i: run(4 * start + i), 4, 2), 2, 2),
    ):
        with collected() as heard:
            spread()
        assert sorted(heard) == sorted(f"{kind} {index}" for kind in ("run", "foreign") for index in range(8))

    other = threading.Thread(target=run, args=(9,))
    with collected() as heard:
        other.start()
        other.join()
    assert heard == []
    assert sorted(str(one.message) for one in recwarn) == ["foreign 9", "run 9"]


def test_the_filter_travels():
    """scikit-learn sends the filters to its workers, pickled or made again by their patterns."""
    assert pickle.loads(pickle.dumps(exceptions._FILTER))[1] is exceptions._context_filter
    assert re.compile(exceptions._context_filter.pattern).match("anything") is None
