"""Verdicts on made-up numbers: the share, and whether the runs are enough to tell."""

import numpy as np
import pytest

from jointclust.experiments.findings import Claim, evidence, gained, judged, untestable


@pytest.mark.parametrize(
    ("flags", "verdict", "share"),
    [
        ({"a": True}, "holds", "1 of 1"),
        ({"a": True, "b": False, "c": False, "d": False, "e": False}, "holds in part", "1 of 5"),
        ({"a": True, "b": True, "c": True, "d": True, "e": False}, "holds in part", "4 of 5"),
        ({"a": False, "b": np.bool_(False)}, "does not hold", "0 of 2"),
        ({}, "cannot be tested", ""),
    ],
)
def test_verdicts_carry_their_share(flags, verdict, share):
    found = judged("claim", flags, "numbers")
    assert (found.verdict, found.share, found.because) == (verdict, share, "numbers")


def test_a_claim_of_most_sets_holds_on_more_than_half():
    flags = {"a": True, "b": True, "c": False, "d": False}
    assert judged("", flags, "", most=True).verdict == "holds in part"
    found = judged("", flags | {"c": True}, "", most=True)
    assert (found.verdict, found.share) == ("holds", "3 of 4")


def test_other_verdicts_are_refused():
    with pytest.raises(ValueError, match="A verdict is one of"):
        Claim("a", "maybe", "")
    assert [claim.because for claim in untestable("on FEI", ["fei", "ar"], ["fei"])] == ["needs fei"]
    assert untestable("on FEI", ["fei"], []) == []


def test_gains_hold_from_half_of_what_is_claimed():
    for gain, verdict in ((0.03, "holds"), (0.02, "holds"), (0.013, "does not hold"), (-0.1, "does not hold")):
        assert gained("", {"a": (gain, 0.04)}, "").verdict == verdict
    assert gained("", {"a": (0.013, 0.04), "b": (0.01, 0.04)}, "").share == "0 of 2"
    both = gained("", {"a": (0.03, 0.04), "b": (0.0, 0.04)}, "")
    assert (both.verdict, both.share) == ("holds in part", "1 of 2")


def test_evidence_is_strong_weak_or_against():
    rng = np.random.RandomState(0)
    noise = rng.standard_normal(10)
    assert evidence({"a": 5 + noise}).startswith("strong (+")
    assert evidence({"a": -5 + noise}).startswith("strong against it (-")
    assert evidence({"a": noise - noise.mean()}).startswith("weak (")
    assert evidence({"a": [0.1] * 5}) == "none (5 paired runs are too few for a test)"
    assert evidence({"a": np.zeros(9)}) == "none (no difference in 9 paired runs)"
    assert evidence({}) == "none (0 paired runs are too few for a test)"


def test_evidence_is_on_the_side_of_the_ranks():
    """Twelve small gains and one large loss: the mean is below zero, the ranks that the test is of are above."""
    skewed = np.r_[np.linspace(0.1, 0.2, 12), -9.0, 0.0]
    assert evidence({"a": skewed}).startswith("strong (-0.5")
    assert evidence({"a": -skewed}).startswith("strong against it (+0.5")


def test_evidence_is_of_the_mean_over_sets_run_by_run():
    """What one set gains and the other loses in the same run is no evidence; runs without a number are left out."""
    gains = np.linspace(1, 2, 8)
    assert evidence({"a": gains, "b": -gains}) == "none (no difference in 8 paired runs)"
    holed = np.r_[gains, np.nan]
    assert evidence({"a": holed, "b": np.r_[gains, -100.0]}).endswith("over 8 paired runs)")
    assert evidence({"a": gains, "b": np.full(8, np.nan)}) == evidence({"a": gains})
    assert "over 8 paired" in evidence({"a": gains, "b": np.r_[gains, -100.0]})
