"""Verdicts on made-up numbers: parts, readings, choices, and the one rule for ties."""

import numpy as np
import pytest

from jointclust_papers.findings import VERDICTS, Claim, Part, Reading, ahead, fact, judged, near

UP, DOWN, EVEN = [0.1, 0.12, 0.11, 0.13], [-0.1, -0.12, -0.11, -0.13], [0.1, -0.1, 0.12, -0.12]


def parts(text):
    """+ is for, = a tie, - against; a blank has no numbers."""
    given = {"+": UP, "=": EVEN, "-": DOWN, " ": [np.nan]}
    return [ahead(str(index), given[sign]) for index, sign in enumerate(text)]


def settled(*readings, rule="every"):
    """The claim of readings written as 'choice:signs'; one in brackets is not counted."""
    values = []
    for text in readings:
        choice, _, signs = text.strip("()").rpartition(":")
        values.append(Reading(parts(signs), choice, counted=not text.startswith("(")))
    return judged("key", "place", "text", "rests", values, rule)


@pytest.mark.parametrize(
    ("signs", "rule", "verdict"),
    [
        ("+++", "every", "holds"),
        ("++=", "every", "holds in part"),
        ("+--", "every", "holds in part"),
        ("===", "every", "tie"),
        ("==-", "every", "does not hold"),
        ("---", "every", "does not hold"),
        ("", "every", "cannot be tested"),
        ("  ", "every", "cannot be tested"),
        ("++ ", "every", "holds"),
        ("++-", "most", "holds"),
        ("++==", "most", "holds in part"),
        ("+---", "most", "does not hold"),
        ("+=--", "most", "holds in part"),
        ("==", "most", "tie"),
        ("+---", "one", "holds"),
        ("=---", "one", "does not hold"),
        ("==", "one", "tie"),
    ],
)
def test_verdicts_of_one_reading(signs, rule, verdict):
    assert settled(signs, rule=rule).verdict == verdict


def test_a_share_counts_parts_and_ties():
    assert settled("++=-").share == "2 of 4, 1 tied"
    assert settled("++").share == "2 of 2"


def test_choices_that_agree_give_their_verdict():
    result = settled("at 1:++", "at 2:++")
    assert (result.verdict, result.share) == ("holds", "2 of 2")
    assert settled("at 1:+-", "at 2:++-").share == "at 1: 1 of 2; at 2: 2 of 3"


def test_choices_that_differ_say_where_the_verdict_flips():
    result = settled("at 1:--", "at 5:==", "at 10:++", "at 26:++")
    assert result.verdict == "depends on a choice"
    assert result.share == "holds: at 10, at 26; tie: at 5; does not hold: at 1"


def test_what_is_not_counted_has_a_verdict_and_no_vote():
    result = settled("at 1:++", "(ours:--)")
    assert result.verdict == "holds"
    assert "ours" not in result.evidence
    assert [one.verdict("every") for one in result.readings] == ["holds", "does not hold"]
    assert settled("(ours:++)").verdict == "cannot be tested"


def test_a_tie_is_an_interval_that_holds_zero():
    """One rule: the 95% interval of the mean by Student's t, here for four numbers with mean m and deviation 1."""
    noise = np.array([-1.0, -1.0, 1.0, 1.0]) * np.sqrt(3) / 2  # standard deviation 1, so that the half width is 1.591
    for mean, outcome in ((1.6, "for"), (1.58, "tie"), (-1.58, "tie"), (-1.6, "against")):
        result = ahead("a", mean + noise)
        assert (result.outcome, result.mean) == (outcome, pytest.approx(mean))
        assert result.high - result.low == pytest.approx(2 * 1.591, abs=2e-3)
        assert (result.p < 0.05) == (outcome != "tie")


def test_equal_numbers_are_a_tie_and_rounding_is_none():
    assert ahead("a", np.zeros(5)).outcome == "tie"
    assert ahead("a", np.full(5, 1e-13)).outcome == "tie"
    assert ahead("a", np.full(5, 0.01)).outcome == "for"
    assert ahead("a", np.full(5, 1e-7), rounding=1e-6).outcome == "tie"
    assert ahead("a", [0.2]).outcome == "for"  # what has no chance has no interval
    assert ahead("a", [np.nan, *UP]) == ahead("a", UP)


def test_a_size_is_asked_for_by_its_least():
    assert ahead("a", UP, 0.05).outcome == "for"
    assert ahead("a", UP, 0.115).outcome == "tie"
    assert ahead("a", UP, 0.2).outcome == "against"
    assert ahead("a", DOWN, -0.2).outcome == "for"


def test_near_is_an_interval_within_a_size():
    assert near("a", UP, 0.2).outcome == near("a", DOWN, 0.2).outcome == "for"
    assert near("a", UP, 0.115).outcome == "tie"
    assert near("a", UP, 0.05).outcome == near("a", DOWN, 0.05).outcome == "against"
    assert near("a", [], 1.0).n == 0


def test_evidence_tells_every_part_or_the_groups_of_many():
    assert settled("at 1:+-").evidence.startswith("at 1: 0 +0.115 [")
    many = [Part(f"{name}, {d}", "for", 0.1) for name in ("orl", "yale") for d in range(5)]
    result = judged("k", "", "", "", [Reading(many)])
    assert result.evidence == "orl 5 of 5, mean +0.100; yale 5 of 5, mean +0.100"
    assert fact("a", True).words == "a"


def test_other_verdicts_are_refused():
    with pytest.raises(ValueError, match="A verdict is one of"):
        Claim("a", "", "", "maybe", "")
    assert len(VERDICTS) == 6
