import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import jointclust as jc
from jointclust import progress
from jointclust.consensus.stages import stage_weights
from jointclust.default import fit_rows
from jointclust.progress.bar import Bar
from jointclust.progress.clock import Clock


class Recorded(Clock):
    """Keeps what it is told."""

    def __init__(self):
        super().__init__()
        self.advances = []

    def advance(self, stage, done, total=1.0):
        super().advance(stage, done, total)
        self.advances.append((stage, done / total))


def clock_of(times):
    return Clock(iter(times).__next__)


def test_what_is_left_is_reckoned_from_what_was_measured():
    clock = clock_of([0.0, 3.0, 5.0, 9.0, 10.0])
    clock.advance("looking", 1)  # 3 s that say nothing of the stages to come
    clock.plan({"members": 4.0, "votes": 2.0})
    assert clock.total is None
    clock.advance("members", 1, 4)  # 2 s
    assert clock.total == 3 + 4 * 2 + 2 * 2
    clock.advance("members", 4, 4)  # 4 s more: 6 s for a weight of 4
    assert clock.total == pytest.approx(3 + 6 + 2 * 1.5)
    clock.advance("votes", 1, 2)  # 1 s
    assert clock.total == 3 + 6 + 2
    assert clock.share == pytest.approx(5 / 6)


def test_stages_of_many_clusters_are_planned_as_they_were_measured():
    """Members, votes and refits took 12.2, 11.3 and 9.0 s for 60 clusters, and 7.8, 1.4 and 2.0 s for 10."""
    viewed = SimpleNamespace(n_samples=10_000, remote=None)
    for n_clusters, (members, votes, refits) in {60: (12.2, 11.3, 9.0), 10: (7.8, 1.4, 2.0)}.items():
        costs = stage_weights(SimpleNamespace(n_clusters=n_clusters, trust=True), viewed, 10_000)
        announced = members * sum(costs.values())
        assert 1 / 1.5 < announced / (members + votes + refits) < 1.5
        assert costs["votes"] * members == pytest.approx(votes, rel=0.5)
        assert costs["refits"] * members == pytest.approx(refits, rel=0.5)


def test_no_time_is_said_before_a_tenth_is_done():
    """The first part takes along what is done once: what is left would be announced several times too long."""
    now = [0.0]
    clock = Clock(lambda: now[0])
    clock.plan({"members": 1.0})
    bar, now[0] = Bar(clock, always=True), 3.0
    clock.advance("members", 1, 60)
    assert "left" not in bar.text()
    now[0] = 4.0
    clock.advance("members", 6, 60)
    assert "about 36 s left" in bar.text()


@pytest.mark.parametrize("n_rows", [300, 12_000], ids=["all rows", "a sample"])
def test_a_fit_tells_all_its_stages_to_their_end(rng, n_rows):
    X = rng.standard_normal((n_rows, 4)) + 6 * rng.randint(3, size=n_rows)[:, None]
    with progress.listening(Recorded()) as clock:
        fit_rows(jc.JointConsensus(trust=True, random_state=0), X, (2, 6))
    stages = list(dict.fromkeys(stage for stage, _ in clock.advances))
    expected = ["views", "number", "members", "votes", "refits"] + ["rows"] * (n_rows > 10_000)
    assert [stage for stage in stages if stage in expected] == expected
    for stage in expected:
        shares = [share for name, share in clock.advances if name == stage]
        assert shares == sorted(shares) or stage == "number"  # of which there may turn out to be more to look at
        assert shares[-1] == pytest.approx(1.0)
    assert clock.share == pytest.approx(1.0)
    n_before = len(clock.advances)
    jc.cluster(X[:300], 2, random_state=0)
    assert len(clock.advances) == n_before, "nobody listens any more"


def test_the_bar_always_moves_and_never_goes_back():
    now = [0.0]
    clock = Clock(lambda: now[0])
    clock.plan({"members": 1.0})
    bar, shares = Bar(clock), []
    for second in range(1, 60):
        now[0] = float(second)
        if second in (3, 6):
            clock.advance("members", second, 100)
        shares.append(float(bar.text().partition("%")[0].split()[-1]))
    assert all(np.diff(shares[::5]) > 0)
    assert shares[-1] < 100
    assert bar.announced("Faster: less.") == ""  # less than a tenth is done
    clock.advance("members", 20, 100)
    assert bar.announced("Faster: less.").endswith("Faster: less.")
    assert bar.announced("Faster: less.") == "", "said once"


@pytest.mark.parametrize(
    ("wanted", "is_terminal", "is_shown"), [(None, False, False), (True, False, True), (False, True, False)]
)
def test_progress_is_shown_where_somebody_sees_it(rng, monkeypatch, wanted, is_terminal, is_shown):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("jointclust.progress.bar.PAUSE", 0.001)
    jc.cluster(rng.standard_normal((200, 5)), 2, random_state=0, progress=wanted)
    assert ("Clustering" in stream.getvalue()) == is_shown
    assert stream.getvalue().endswith("\r") == is_shown, "the line is cleared"
