"""The verdict in words: what it rests on, and that no sentence contradicts it."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from jointclust.consensus.judged import Judgement
from jointclust.consensus.verdict import DOUBTFUL, LEVELS, leading_column, verdict
from jointclust.judge.evidence import MEASURES
from jointclust.judge.judge import the_judge

FAIRLY, SURE = the_judge().limits[1:]
NUMBER = {"has_structure": True, "confidence": 0.9, "at_edge": False, "verdict": "4 clusters", "n_clusters": 4}


def judgement(agreement=0.95, anything=0.99, has_structure=True, found=(0.9, 0.9, 0.9, 0.9), halves=0.95):
    measures = dict.fromkeys(MEASURES, 0.0) | {"halves find it": halves}
    return Judgement(agreement, anything, has_structure, np.array(found), np.zeros(len(found)), 1.0, measures)


def said(n_clusters=4, n_rows=400, **given):
    rest = {
        name: given.pop(name) for name in ("number", "decisive_column", "missing", "reproducibility") if name in given
    }
    return verdict(given.pop("judgement", None) or judgement(**given), n_clusters, n_rows, **rest)


@pytest.mark.parametrize(
    ("changes", "level", "text"),
    [
        ({}, "sure", "nearly everything in common with the true ones (predicted agreement 0.95"),
        ({"agreement": SURE}, "sure", "nearly everything"),
        ({"agreement": SURE - 0.01}, "fairly sure", "have much in common"),
        ({"agreement": FAIRLY - 0.01}, "not sure", "have little in common"),
        ({"has_structure": False, "anything": 0.12}, "not sure", "clusters have a probability of 12%"),
        ({"halves": 0.7}, "sure", "much the same clusters (adjusted Rand index 0.70)"),
        ({"halves": 0.5}, "fairly sure", "find other clusters (adjusted Rand index 0.50)"),
        ({"found": [0.9, 0.1, 0.9, 0.2]}, "fairly sure", "2 of the 4 clusters (1, 3) are hardly found"),
        ({"found": [0.9, 0.1, 0.9, 0.9]}, "fairly sure", "Cluster 1 is hardly found in halves of the rows (10%)"),
        ({"found": [0.9, np.nan, 0.9, 0.9]}, "sure", "the same clusters"),
        ({"reproducibility": 0.9}, "sure", "Refits on other rows find the same clusters (reproducibility 0.90)"),
        ({"reproducibility": 0.7}, "sure", "Refits on other rows find much the same"),
        ({"reproducibility": 0.4}, "fairly sure", "Refits on other rows find other clusters"),
        ({"number": SimpleNamespace(**NUMBER)}, "sure", "the same clusters"),
        ({"number": SimpleNamespace(**NUMBER | {"at_edge": True})}, "fairly sure", "edge of the range"),
        ({"number": SimpleNamespace(**NUMBER | {"confidence": 0.4})}, "fairly sure", "is uncertain"),
        ({"decisive_column": "city"}, "not sure", "'city'"),
        ({"n_rows": 39}, "fairly sure", "few rows: 10"),
        ({"missing": 0.3}, "fairly sure", "empty (30%)"),
        ({"missing": 0.9}, "not sure", "empty (90%)"),
    ],
)
def test_what_the_verdict_rests_on(changes, level, text):
    result = said(**changes)
    assert result.level == level
    assert any(text in reason for reason in result.reasons)
    assert str(result).startswith(f"{level.capitalize()}: ")


# Words that a reader takes for "good" where they are said of the clusters, and for "bad".
GOOD, BAD = "nearly everything in common", ("hardly found", "other clusters", "little in common", "without clusters")


def test_no_sentence_contradicts_the_level():
    """Whatever is known, "sure" has nothing against it, "not sure" begins with a reason, and nothing is said twice."""
    agreements = [0.0, FAIRLY - 0.01, FAIRLY, SURE - 0.01, SURE, 1.0]
    found = [[0.9] * 4, [0.9, DOUBTFUL - 0.01, 0.9, 0.9], [0.1] * 4]
    numbers = [
        None,
        *(
            SimpleNamespace(**NUMBER | {"confidence": one, "at_edge": two})
            for one in (0.4, 0.9)
            for two in (False, True)
        ),
    ]
    for agreement, has_structure, each, halves, number, refits in product(
        agreements, (True, False), found, (0.3, 0.7, 0.9), numbers, (None, 0.3, 0.9)
    ):
        anything = 0.99 if has_structure else 0.1
        result = said(
            agreement=agreement, anything=anything, has_structure=has_structure, found=each, halves=halves,
            number=number, reproducibility=refits,
        )  # fmt: skip
        text = " ".join(result.reasons)
        assert len(result.reasons) == len(set(result.reasons))
        assert (result.level == "sure") <= (
            GOOD in text and not any(word in text for word in (*BAD, "uncertain", "edge"))
        )
        assert (result.level == "not sure") == (not has_structure or agreement < FAIRLY)
        if result.level == "not sure":
            assert any(word in result.reasons[0] for word in ("little in common", "without clusters"))
            assert GOOD not in text
        assert ("without clusters" in text) == (not has_structure)


@pytest.mark.parametrize(("anything", "level"), [(0.02, "sure"), (0.2, "fairly sure"), (0.45, "not sure")])
def test_of_one_cluster_it_says_how_sure_it_is_that_there_are_none(anything, level):
    result = said(n_clusters=1, found=[1.0], anything=anything, has_structure=False, agreement=1 - anything)
    assert result.level == level
    (reason,) = result.reasons
    assert reason.endswith(f"that there are no others has a probability of {1 - anything:.0%}.")


def test_what_was_not_measured_is_no_ground_to_be_sure():
    result = verdict(None, 4, 400)
    assert (result.level, result.reasons) == ("not sure", ["How sure the clusters are was not measured."])
    assert verdict(None, 1, 400).level == "not sure"
    assert verdict(None, 4, 400, reproducibility=1.0).level == "not sure"


def test_what_speaks_most_against_the_clusters_comes_first():
    result = said(decisive_column="city", halves=0.5)
    assert result.level == LEVELS[0]
    assert "city" in result.reasons[0]
    assert "other clusters" in result.reasons[1]


def test_a_column_that_explains_the_clusters():
    """It alone differs between them: neither next to another one, nor where most differ a little."""

    def leading(*drives):
        return leading_column([{"name": f"x{i}", "used": True, "drives": one} for i, one in enumerate(drives)])

    assert leading(0.0, 0.9, 0.4, 0.05, 0.02, np.nan) == "x1"
    assert leading(0.0, 0.9, 0.7, 0.05, 0.02) is None
    assert leading(0.3, 0.9, 0.3, 0.3, 0.02) is None
    assert leading(0.0, 0.7, 0.1, 0.05) is None
    assert leading(0.0, 0.9) is None
