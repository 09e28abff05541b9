"""What the evidence makes of a number of clusters: the rules, each by itself."""

from types import SimpleNamespace

import numpy as np
import pytest
from jointclust.number.curve import AgreementCurve
from jointclust.number.unimodality import SeparatedClusters

from jointclust.number import estimate, structure


def halves(n_clusters, agreement, other=None):
    """Separated clusters of two halves; the labels are those of 20 rows."""
    labels = np.arange(20, dtype=np.int32) % max(n_clusters, 1)
    return SeparatedClusters((n_clusters, other or n_clusters), agreement, np.arange(20), labels)


def curve_of(agreement, counts=(4, 4, 4), n_comparisons=3):
    """A curve of the given agreements by number, in which all comparisons agree, about so many communities."""
    expected, spread = float(np.exp(np.mean(np.log(counts)))), float(np.std(np.log(counts)))
    graph = SimpleNamespace(expected=expected, spread=spread, counts=counts)
    numbers = np.array(sorted(agreement))
    values = {number: np.full(n_comparisons, value) for number, value in agreement.items()}
    return AgreementCurve(graph, [], numbers, lambda done, total: None, values)


def chosen(agreement, allowed=None, counts=(4, 4, 4), **evidence):
    known = {"slope": None, "separated": None, "parts": 1, "in_plane": False, "excess": 10.0, "has_structure": True}
    allowed = [1, *sorted(agreement)] if allowed is None else allowed
    return estimate.choose(curve_of(agreement, counts), estimate.Evidence(**known | evidence), allowed)


FLAT = {2: 0.3, 3: 0.4, 4: 0.9, 5: 0.5, 6: 0.45, 8: 0.4}


def test_the_best_number_of_the_curve_where_nothing_else_is_known():
    result = chosen(FLAT)
    assert (result.n_clusters, result.confidence, result.n_repeats, result.at_edge) == (4, 1.0, 3, False)
    assert result.scores == pytest.approx(FLAT)
    assert result.table["repeats"][2] == pytest.approx([0.9] * 3)
    assert result.suggestions[0] == 4
    assert all(max(a / b, b / a) > 1.3 for a in result.suggestions for b in result.suggestions if a != b)


@pytest.mark.parametrize(
    ("separated", "best"),
    [
        (halves(8, 0.9), 8),  # more clusters, which are sure
        (halves(8, 0.8), 4),  # not sure
        (halves(3, 0.99), 4),  # fewer clusters, where the methods agree on more
        (halves(7, 0.9), 4),  # a number that was not evaluated
        (halves(1, 1.0), 4),  # no two clusters
    ],
)
def test_separated_clusters_are_taken_where_they_are_sure_and_not_fewer(separated, best):
    result = chosen(FLAT, separated=separated)
    assert result.n_clusters == best
    if best != 4:
        assert (result.confidence, result.n_repeats) == (1.0, 2)
        assert result.why.startswith(f"{best}: two halves of the rows agree to {separated.agreement:.2f}")


@pytest.mark.parametrize(
    ("agreement", "n_communities", "best"), [(0.96, 9, 3), (0.94, 9, 6), (0.96, 10, 6)], ids=["sure", "less", "many"]
)
def test_fewer_separated_clusters_where_the_methods_hardly_agree(agreement, n_communities, best):
    """If the halves are very sure, and the graph has about as few communities."""
    hardly = {2: 0.2, 3: 0.3, 6: 0.7, 9: 0.35, 10: 0.35}
    result = chosen(hardly, counts=(n_communities,) * 3, separated=halves(3, agreement))
    assert result.n_clusters == best


def test_halves_that_differ_are_half_as_sure():
    result = chosen(FLAT, separated=halves(8, 0.9, other=6))
    assert (result.n_clusters, result.confidence) == (8, 0.5)


@pytest.mark.parametrize(("in_plane", "agreement", "best"), [(True, 0.9, 2), (False, 0.9, 4), (False, 0.7, 2)])
def test_parts_with_gaps_count_in_the_plane_or_where_the_methods_hardly_agree(in_plane, agreement, best):
    result = chosen(FLAT | {4: agreement}, parts=2, in_plane=in_plane)
    assert result.n_clusters == best
    assert 2 in result.suggestions[:3]
    assert ("parts with gaps" in result.why) == (best == 2)


def test_more_parts_than_separated_clusters_are_the_parts():
    assert chosen(FLAT, separated=halves(6, 0.99), parts=8, in_plane=True).n_clusters == 8


def test_a_slope_gives_the_communities_of_its_graph():
    slope = SimpleNamespace(expected=5.2, counts=(5, 5, 6))
    result = chosen(FLAT, slope=slope)
    assert (result.n_clusters, result.suggestions[1]) == (5, 4)
    assert "which tells no number" in result.why
    assert "5 to 6 communities" in result.why


def test_without_structure_there_is_one_cluster_unless_a_range_forbids_it():
    free, forced = (chosen(FLAT, allowed, excess=0.5, has_structure=False) for allowed in ([1, *FLAT], [*FLAT]))
    assert (free.n_clusters, free.suggestions[:2], free.n_repeats) == (1, [1, 4], 0)
    assert free.confidence == pytest.approx(1 - 0.5 * 0.5 / structure.ENOUGH)
    assert (forced.n_clusters, forced.confidence) == (4, 1.0)
    weak = chosen(FLAT, excess=structure.ENOUGH / 2)
    assert (weak.n_clusters, weak.confidence) == (4, 0.25)
    assert chosen(FLAT, excess=structure.ENOUGH / 2, separated=halves(4, 0.9)).confidence == 1.0


@pytest.mark.parametrize(
    ("allowed", "at_edge"), [([4, 5, 6, 8], True), ([2, 3, 4], True), ([2, 3, 4, 5], False), ([4], False)]
)
def test_an_end_of_the_range_is_marked(allowed, at_edge):
    assert chosen({number: FLAT[number] for number in allowed}, allowed).at_edge == at_edge


def test_a_rival_is_what_several_comparisons_give():
    suggestions = [4, 8, 2]
    assert estimate.with_rival(suggestions, np.array([4, 4, 6])) == suggestions
    assert estimate.with_rival(suggestions, np.array([4, 6, 6])) == [4, 6, 8, 2]
    assert estimate.with_rival(suggestions, np.array([4, 2, 2])) == [4, 2, 8]
    assert estimate.with_rival([20, 40], np.array([21, 21, 20])) == [20, 40]  # about the same is no rival


def test_the_share_of_an_answer_counts_about_the_same():
    assert estimate.share(np.array([20, 21, 22, 23, 18]), 20) == pytest.approx(3 / 5)


def test_numbers_that_differ_by_less_than_a_third_are_one_suggestion():
    assert estimate.distinct_numbers(np.array([10, 13, 14, 8, 7, 20])) == [10, 14, 7, 20]


@pytest.mark.parametrize(
    ("excess", "n_clusters", "agreement", "expected"),
    [(2.0, 1, 0.0, True), (1.9, 1, 1.0, False), (1.0, 3, 0.6, True), (0.9, 3, 0.6, False), (0.9, 3, 0.9, True)],
)
def test_structure_is_clear_communities_or_separated_clusters(excess, n_clusters, agreement, expected, rng):
    rows = rng.standard_normal((20, 3))
    assert estimate.is_structure(halves(n_clusters, agreement), excess, rows) == expected


def test_levels_of_one_column_are_no_structure(rng):
    """Unless another column shows them, too."""
    separated = halves(2, 0.99)
    rows = np.column_stack([separated.labels, rng.standard_normal((20, 2))])
    assert not estimate.is_structure(separated, 0.0, rows)
    rows[:, 1] = 5 * separated.labels + rng.standard_normal(20)
    assert estimate.is_structure(separated, 0.0, rows)


def test_the_order_of_rows_is_their_own(rng):
    Z = rng.standard_normal((50, 4))
    shuffled = Z[rng.permutation(50)]
    ordered, again = Z[estimate.canonical_order(Z)], shuffled[estimate.canonical_order(shuffled)]
    np.testing.assert_array_equal(ordered, again)
    assert np.all(np.diff(np.linalg.norm(ordered, axis=1)) >= 0)


def test_candidates_go_to_an_eighth_of_the_rows():
    assert estimate.candidates(None, 800) == list(range(1, 101))
    assert estimate.candidates(None, 50) == list(range(1, 13))
    assert estimate.candidates(None, 10**6)[-1] == 187
    assert estimate.candidates((2, 4), 10) == [2, 3, 4]
    assert estimate.candidates([6, 3, 3], 10) == [3, 6]
