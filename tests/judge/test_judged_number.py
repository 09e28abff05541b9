"""What is made of scores: the number, whether 1 is the answer, and what is said of them; with a judge made by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from jointclust.judge import number, words
from jointclust.judge.evidence import MEASURES, Evidence

RISING = {2: 0.3, 3: 0.4, 4: 0.9, 5: 0.85, 6: 0.45, 8: 0.4}


@pytest.fixture(scope="module")
def evidence(blobs):
    """The measures do not matter here; their first is the logarithm of the number."""
    return Evidence.of([blobs[0][:120]])


def judge_of(scores, anything=0.99):
    """A judge that gives these scores, and .1 to other numbers."""

    def scored(features):
        return np.array([scores.get(k, 0.1) for k in np.exp(features[:, 0]).round().astype(int).tolist()])

    return SimpleNamespace(
        scores=scored,
        choice=lambda features: features[:, MEASURES.index("silhouette")],
        p_anything=lambda evidence: anything,
        confidence=lambda scores, numbers, best, anything: float(scores[best]),
        limits=np.array([0.5, 0.4, 0.8]),
    )


def chosen(evidence, scores, allowed, anything=0.99):
    return number.counted(evidence, allowed, judge=judge_of(scores, anything))


def test_the_best_score_is_the_number(evidence):
    result = chosen(evidence, RISING, list(range(1, 9)))
    assert (result.n_clusters, result.confidence, result.has_structure, result.at_edge) == (4, 0.9, True, False)
    assert {k: result.scores[k] for k in RISING} == RISING
    assert result.suggestions[:2] == [4, 5]
    assert "; 5 is the other candidate" in result.verdict
    assert result.why.startswith("4 rather than 5: ")


def test_one_is_chosen_by_its_probability_alone(evidence):
    """However good the scores of others are; and not where a range forbids it."""
    for anything, expected in ((0.51, 4), (0.49, 1)):
        result = chosen(evidence, RISING, list(range(1, 9)), anything)
        assert (result.n_clusters, result.has_structure) == (expected, expected > 1)
    assert result.suggestions[:2] == [1, 4]
    assert result.confidence == pytest.approx(0.51)
    assert result.scores[4] == 0.9
    assert result.verdict == "no cluster structure found (probability 51%); 4 is the best number"
    forced = chosen(evidence, RISING, list(range(2, 9)), 0.49)
    assert (forced.n_clusters, forced.has_structure) == (4, False)
    poor = chosen(evidence, dict.fromkeys(RISING, 0.05), list(range(1, 9)))
    assert poor.n_clusters > 1, "low scores are no reason for one"


@pytest.mark.parametrize(
    ("allowed", "at_edge"), [([4, 5, 6, 8], True), ([2, 3, 4], True), ([2, 3, 4, 5], False), ([4], False)]
)
def test_an_end_of_the_range_is_marked(evidence, allowed, at_edge):
    assert chosen(evidence, RISING, allowed).at_edge == at_edge


def test_two_is_no_end(evidence):
    assert not chosen(evidence, {2: 0.9}, [2, 3, 4]).at_edge


def test_equal_scores_are_the_smaller_number(evidence):
    assert chosen(evidence, dict.fromkeys(range(2, 9), 0.5), list(range(1, 9))).n_clusters == 2


def test_numbers_beside_the_best_are_looked_at():
    """Where the grid leaves them out."""
    allowed = np.arange(1, 60)
    assert number.first_numbers(np.arange(2, 9), 800) == list(range(2, 9))
    grid = number.first_numbers(allowed[1:], 800)
    assert {20, 24, 29} <= set(grid)
    assert not {21, 22, 23} & set(grid)
    more = number.beside(allowed, grid, grid.index(24))
    assert more == [21, 23, 25, 28]
    assert number.beside(np.array([2, 3, 4]), [2, 3, 4], 1) == []


def test_a_list_beyond_the_grid_is_looked_at():
    assert number.first_numbers(np.array([500, 900]), 800) == [500, 900]
    far = number.first_numbers(np.arange(300, 400), 800)
    assert (far[0], far[-1]) == (300, 399)


def test_only_one_is_allowed(evidence):
    result = number.counted(evidence, [1])
    assert (result.n_clusters, result.confidence, result.has_structure) == (1, 1, False)
    assert result.verdict.startswith("no cluster structure found")


def test_numbers_that_are_about_the_same_are_one_suggestion():
    assert number.distinct(np.array([10, 11, 12, 8, 7, 20])) == [10, 12, 8, 7, 20]


def test_an_earlier_number_is_kept_where_it_is_nearly_as_good():
    now = number.ClusterNumber(4, {}, [4, 5, 9], {4: 0.9, 5: 0.85, 9: 0.2}, 0.8, True, at_edge=True)
    kept = number.compared_with(now, 5)
    assert (kept.n_clusters, kept.suggestions, kept.at_edge) == (5, [5, 4, 9], False)
    assert number.compared_with(now, 9) is now
    assert number.compared_with(now, 4) is now
    assert number.compared_with(now, 77) is now


def test_every_measure_is_in_one_theme_and_the_sentence_says_which_decides():
    named = [name for theme in words.THEMES for name in theme.measures]
    assert sorted(named) == sorted(MEASURES)
    values = np.zeros(len(MEASURES))
    for theme in words.THEMES:
        assert theme.quoted in theme.measures
        places = {MEASURES.index(name) for name in theme.measures}
        better, worse = values.copy(), values.copy()
        better[list(places)] = 0.9

        def loss(asked, places=places):
            return float(set(asked) == places)

        first, second = words.Facts(better), words.Facts(worse)
        assert words.comparison(first, second, loss) == f"{theme.better} (0.90; 0.00 with the other)"
        assert words.comparison(second, first, loss) == theme.worse
