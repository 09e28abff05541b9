"""Warnings where many fits are made, in threads too: they reach the table that they belong to, or the user."""

import sys
import threading
import warnings
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import sklearn.utils.validation
from sklearn.cluster import KMeans

import jointclust as jc

DEC = jc.DiscriminativeEmbeddedClustering


class Grumbler(KMeans):
    """Of another library, and warns."""

    def fit(self, X, y=None, sample_weight=None):
        warnings.warn(f"grumble {self.random_state}", RuntimeWarning, stacklevel=2)
        return super().fit(X, y, sample_weight)


@pytest.fixture(scope="module")
def X():
    return jc.datasets.mixture(120, 20, 3, random_state=0)[0]


@pytest.fixture
def quiet_scikit_learn(monkeypatch):
    """Without its own catch_warnings, which are not safe in threads and are not what is tested here."""
    still = SimpleNamespace(**vars(warnings))
    still.catch_warnings, still.simplefilter, still.resetwarnings, still.filterwarnings = (
        nullcontext,
        *[lambda *_, **__: None] * 3,
    )
    monkeypatch.setattr(sklearn.utils.validation, "warnings", still)


def test_a_search_in_threads_keeps_all_warnings(X, recwarn):
    """Beside a consensus, which has warnings of its own to keep quiet."""
    members = [DEC(3, max_iter=1, trade_off=trade_off) for trade_off in (1.5, 3.0)] * 4
    pairs = [
        (jc.JointConsensus(3, columns="all", members=members), {"max_rank": [100, 200]}),
        (DEC(3, max_iter=1), {"trade_off": [1.5, 2.0, 3.0, 4.0]}),
        (Grumbler(3, n_init=1), {"random_state": [1, 2]}),
    ]
    for seed in range(6):
        search = jc.LabelFreeSearch(pairs, criterion="bic", random_state=seed, n_jobs=4).fit(X)
        texts = search.results_["warnings"]
        assert texts[:2] == ["", ""]
        assert all("max_iter=1" in text for text in texts[2:6])
        assert texts[6:] == ["grumble 1", "grumble 2"]
    assert not recwarn.list


@pytest.mark.usefixtures("quiet_scikit_learn")
def test_threads_leave_the_filters_alone(X):
    before = list(warnings.filters)

    def work():
        jc.JointConsensus(3, members=[DEC(3, max_iter=1), Grumbler(3, n_init=1)] * 4, random_state=0).fit(X)
        jc.trade_off_path(X, 3, trade_offs=[1.5, 3.0], max_iter=1, random_state=0)
        jc.bootstrap_stability(DEC(3, random_state=0), X, n_resamples=3, random_state=0)

    for _ in range(3):
        started = [threading.Thread(target=work) for _ in range(4)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
        assert list(warnings.filters) == before
    with pytest.warns(RuntimeWarning, match="still heard"):
        warnings.warn("still heard", RuntimeWarning, stacklevel=1)


def test_nothing_swaps_the_filters_of_the_process(X, monkeypatch):
    """What threads do not survive: at the most for the moment in which scikit-learn looks at rows."""
    entered = set()
    enter = warnings.catch_warnings.__enter__

    def spy(self):
        entered.add(sys._getframe(1).f_code.co_name)
        return enter(self)

    monkeypatch.setattr(warnings.catch_warnings, "__enter__", spy)
    narrow = X[:, :12]  # neighbours are looked for in a tree
    jc.JointConsensus(3, columns="all", random_state=0).fit(narrow).predict(narrow)
    jc.OptimalDiscriminantClustering(3, kernel="nearest_neighbors", random_state=0).fit(narrow)
    for criterion in ("stability", "agreement"):
        jc.LabelFreeSearch(DEC(3), {"trade_off": [1.5, 3.0]}, criterion=criterion, random_state=0).fit(X)
    jc.trade_off_path(X, 3, trade_offs=[1.5, 3.0], random_state=0)
    jc.bootstrap_stability(DEC(3, random_state=0), X, n_resamples=3, random_state=0)
    assert entered <= {"check_array", "get_exec_path"}  # scikit-learn's, and Python's when joblib counts the cores


def test_a_member_warns_nobody_and_a_method_its_user(X, recwarn):
    jc.JointConsensus(
        3, columns="all", members=[DEC(3, max_iter=1), Grumbler(3, n_init=1)], n_jobs=2, random_state=0
    ).fit(X)
    assert not recwarn.list
    with pytest.warns(UserWarning, match="max_iter=1") as text:
        DEC(3, max_iter=1, random_state=0).fit(X)
    assert text[0].filename == __file__
