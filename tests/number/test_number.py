"""The number of clusters, whether there are any, and how sure that is."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from jointclust.number.unimodality import SeparatedClusters
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import jointclust as jc
from jointclust.number import curve, neighbor_graph
from jointclust.number import estimate as number

MIXTURES = [(2, 20, 150), (5, 40, 200)]


@pytest.mark.parametrize(("n_clusters", "n_features", "n_samples"), MIXTURES)
def test_generated_mixtures(n_clusters, n_features, n_samples):
    X, _ = jc.datasets.mixture(n_samples, n_features, n_clusters, n_nuisance=2, separation=12, random_state=1)
    result = jc.number_of_clusters(jc.decompose(X))
    assert abs(result.n_clusters - n_clusters) <= 0.1 * n_clusters
    assert result.has_structure
    assert result.confidence >= 0.8


def test_separated_clusters_show_what_large_directions_hide():
    """Members are misled by nuisance directions; two halves of the rows are not, and say so."""
    X, _ = jc.datasets.mixture(150, 30, 3, n_nuisance=3, separation=10, random_state=0)
    result = jc.number_of_clusters(jc.decompose(X))
    assert result.n_clusters == 3
    assert result.verdict.startswith("3 clusters (in 2 of 2 comparisons)")
    assert result.why.startswith("3: two halves of the rows agree")


@pytest.mark.parametrize(("n_distinct", "D", "seed"), [(40, 4, 0), (12, 2, 0), (3, 5, 1)])
def test_never_more_than_distinct_rows(n_distinct, D, seed):
    """Nor among the suggestions; and the number of distinct rows is no edge of a range."""
    gen = np.random.RandomState(seed)
    places = gen.randn(n_distinct, D)
    X = np.vstack([places, places[gen.randint(n_distinct, size=400 - n_distinct)]])
    for among in (None, (2, 60)):
        result = jc.number_of_clusters(X, n_clusters=among)
        assert max([result.n_clusters, *result.suggestions, *result.scores]) <= n_distinct
        assert not result.at_edge
    assert jc.number_of_clusters(sp.csr_array(np.abs(X))).n_clusters <= n_distinct


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "line"])
def test_no_structure(kind, rng):
    """Also where everybody finds the two halves of a long cloud."""
    X = rng.uniform(size=(150, 5)) if kind == "uniform" else rng.standard_normal((150, 5))
    result = jc.number_of_clusters(jc.decompose(X * [1, 1, 1, 1, 10] if kind == "line" else X))
    assert result.n_clusters == 1
    assert not result.has_structure
    assert result.verdict.startswith("no cluster structure found")
    with pytest.warns(jc.CollapseWarning, match="No cluster structure"):
        result.warn()


def test_clusters_in_the_plane(rng):
    """Far more clusters than directions."""
    centers = 20.0 * np.stack(np.divmod(np.arange(30), 6), axis=1)
    X = np.repeat(centers, 20, axis=0) + rng.standard_normal((600, 2))
    assert jc.number_of_clusters(jc.decompose(X)).n_clusters == 30


def test_neither_order_nor_rotation_matter(rng):
    X, _ = jc.datasets.mixture(200, 10, 3, n_nuisance=2, separation=4, random_state=1)
    one = jc.number_of_clusters(jc.decompose(X), n_clusters=(2, 5))
    order = rng.permutation(200)
    for other in (X[order], X @ np.linalg.qr(rng.standard_normal((10, 10)))[0]):
        again = jc.number_of_clusters(jc.decompose(other), n_clusters=(2, 5))
        assert again.n_clusters == one.n_clusters
        assert again.scores == pytest.approx(one.scores, abs=0.02)
    assert jc.number_of_clusters(jc.decompose(X), n_clusters=(2, 5)).scores == one.scores


def test_table_is_the_evidence(recwarn):
    X, _ = jc.datasets.mixture(150, 30, 3, n_nuisance=0, separation=10, random_state=0)
    result = jc.number_of_clusters(jc.decompose(X))
    result.warn()
    assert not recwarn.list
    table = pd.DataFrame(result.table).set_index("n_clusters")
    assert result.scores == table["agreement"].to_dict()
    np.testing.assert_allclose(table["agreement"], [np.mean(repeats) for repeats in table["repeats"]])
    assert result.n_clusters == result.suggestions[0] == 3
    assert set(result.suggestions) <= set(result.scores)
    assert result.verdict.startswith("3 clusters (in 2 of 2 comparisons)")
    assert result.confidence == 1


def test_uncertain_numbers_are_told():
    table = {"n_clusters": [2, 3], "agreement": [0.5, 0.5], "repeats": [[0.5] * 10] * 2}
    result = number.ClusterNumber(3, table, [3, 8, 2], {2: 0.5, 3: 0.5}, 0.4, True, 10)
    told = r"uncertain: 3 clusters \(in 4 of 10 comparisons\); 2 is the other candidate. Compare the scores of 3, 2, or"
    with pytest.warns(UserWarning, match=told):  # 8 has none
        result.warn()


def test_a_range_and_a_list():
    X = jc.decompose(jc.datasets.mixture(200, 30, 6, n_nuisance=0, separation=12, random_state=0)[0])
    assert jc.number_of_clusters(X, n_clusters=(5, 7)).n_clusters == 6
    assert set(jc.number_of_clusters(X, n_clusters=(2, 4)).scores) == {2, 3, 4}
    assert set(jc.number_of_clusters(X, n_clusters=[9, 6]).scores) == {6, 9}
    noise = np.random.RandomState(0).standard_normal((100, 10))
    result = jc.number_of_clusters(jc.decompose(noise), n_clusters=(3, 5))
    assert 3 <= result.n_clusters <= 5
    assert not result.has_structure
    for wrong, message in (([], "empty"), ((8, 2), "no range"), ((0, 3), "between 1 and"), ((2, 400), "between 1 and")):
        with pytest.raises(ValueError, match=message):
            jc.number_of_clusters(X, n_clusters=wrong)


def test_sparse_weighted_and_decomposed_rows(rng):
    X, _ = jc.datasets.mixture(300, 30, 3, n_nuisance=0, separation=10, random_state=0)
    assert jc.number_of_clusters(sp.csr_array(X), n_clusters=[2, 3, 4]).n_clusters == 3
    other = np.vstack([X, 100 + rng.standard_normal((100, 30))])
    absent = jc.decompose(other, np.r_[np.ones(300), np.zeros(100)])
    assert jc.number_of_clusters(absent, n_clusters=[2, 3, 4]).n_clusters == 3
    assert jc.number_of_clusters(jc.decompose(other), n_clusters=[3, 4, 5]).n_clusters == 4


def test_data_as_they_come(rng):
    """A column of text and gaps."""
    kind = np.repeat(["red", "green", "blue"], 50)
    frame = pd.DataFrame({"colour": kind, "size": np.repeat([0.0, 10.0, 20.0], 50) + rng.standard_normal(150)})
    frame.loc[::10, "size"] = np.nan
    assert jc.number_of_clusters(frame, n_clusters=[2, 3, 5]).n_clusters == 3


def test_methods_find_what_is_apart():
    X, y = jc.datasets.mixture(200, 8, 4, n_nuisance=0, separation=20, random_state=0)
    graph = neighbor_graph.NeighborGraph.of([neighbor_graph.graph_of(neighbor_graph.nearest_of(X))] * 2)
    assert graph.counts[0] == 4
    parts = [neighbor_graph.spectral(graph.spectrum(6), 4), graph.joined(4), curve.ViewPartitions(X).discriminant(4)]
    assert np.unique(np.column_stack([y, *parts]), axis=0).shape[0] == 4


def test_two_rings_are_two_parts_in_any_number_of_directions():
    steps = np.array([0, *(side * step for step in range(1, 9) for side in (1, -1))])
    ring = (np.arange(40)[:, None] + steps) % 40
    for few_directions in (False, True):
        assert neighbor_graph.parts_with_gaps([np.vstack([ring, ring + 40])], few_directions=few_directions) == (2, 2)


def test_an_answer_at_the_end_of_a_range_is_marked():
    """Numbers beyond it might be better; 2 is no such end, nor is a number inside."""
    X = jc.decompose(jc.datasets.mixture(200, 30, 6, n_nuisance=0, separation=12, random_state=0)[0])
    result = jc.number_of_clusters(X, n_clusters=(2, 5))
    assert result.n_clusters == 5
    assert result.at_edge
    assert "an end of the range" in result.verdict
    with pytest.warns(UserWarning, match="an end of the range"):
        result.warn()
    assert not jc.number_of_clusters(X, n_clusters=(2, 8)).at_edge
    assert jc.number_of_clusters(X, n_clusters=(6, 8)).at_edge


def test_a_candidate_of_more_agreement_is_not_passed_over_without_a_reason():
    """Where gaps decide, the other number may well be nearer to that of the communities."""
    beside = number.Evidence(None, None, 1, False, 9.0, True)
    text = number.reasons(5, [5, 3], {3: 0.99, 5: 0.63}, (5, 6, 5), beside)
    assert text == (
        "5: graph, tree and k-means agree to 0.63; the neighbour graph has 5 to 6 communities; 3 has more agreement "
        "(0.99), but it is farther from the communities"
    )
    text = number.reasons(5, [5, 12], {5: 0.3, 12: 0.7}, (19, 31), beside._replace(parts=5))
    assert text.endswith("; 12 has more agreement (0.70), but gaps between clusters count for more")
    text = number.reasons(5, [5, 3, 2], {2: 0.6, 3: 0.66, 5: 0.63}, (5, 6, 5), beside)
    assert text.endswith("communities; 3 is the other candidate"), "of a little more agreement, and as in the verdict"


def test_a_coin_makes_no_clusters(rng):
    """Nor do columns that are independent of each other, whatever their values."""
    X = np.column_stack([rng.standard_normal((300, 4)), rng.randint(0, 2, 300)])
    assert not jc.number_of_clusters(X).has_structure
    assert not jc.number_of_clusters(rng.randint(0, 4, (300, 4)).astype(float)).has_structure


def test_small_clusters_count(rng):
    """Equal is 1, chance is about 0, and a split of a small cluster is seen where pairs of rows would not show it."""
    labels = np.repeat([0, 1, 2], [900, 50, 50]).astype(np.int32)
    assert curve.agreement_of(labels, labels) == curve.agreement_of(labels, 2 - labels) == 1
    chance = [curve.agreement_of(labels, rng.permutation(labels)) for _ in range(20)]
    assert abs(np.mean(chance)) < 0.02
    assert curve.agreement_of(labels, np.minimum(labels, 1)) < adjusted_rand_score(labels, np.minimum(labels, 1)) - 0.05


def test_likeness_counts_clusters_that_both_have():
    """Against a naive mean over clusters of the best squared Jaccard index; empty clusters are none."""
    rng = np.random.RandomState(0)
    one, other = rng.randint(0, 4, 60).astype(np.int32), rng.randint(1, 7, 60).astype(np.int32)
    one[0], other[1] = 5, 8  # clusters of one row
    sets = [[set(np.flatnonzero(labels == k)) for k in np.unique(labels)] for labels in (one, other)]
    best = [
        np.mean([max(len(a & b) / len(a | b) for b in others) ** 2 for a in own]) for own, others in (sets, sets[::-1])
    ]
    assert curve.likeness(one, other) == pytest.approx((curve.agreement_of(one, other) + np.mean(best)) / 2)
    assert curve.likeness(one, one) == curve.likeness(one, 5 - one) == 1


@pytest.mark.parametrize(
    ("agreement", "highest"),
    [
        (lambda k: 0.2 * np.log(k), 60),
        (lambda k: 0.2 * np.log(min(k, 90 - k)), 42),
        (lambda k: 0.5 - 0.1 * abs(np.log(k / 12)), None),
        (lambda k: 0.5 + 0.02 * np.log(k), None),
    ],
    ids=["a slope to the end", "a slope to a peak", "a peak", "flat"],
)
def test_a_slope_tells_no_number(agreement, highest, monkeypatch):
    """The best number is where its price stops it; then it is looked further, to the end of the range if need be."""
    monkeypatch.setattr(curve.AgreementCurve, "compared", lambda self, k: np.full(2, agreement(k)))
    graph = SimpleNamespace(expected=10.0, spread=0.3, spectrum=lambda k: None)
    result = curve.AgreementCurve(graph, [], np.arange(2, 61), lambda done, total: None).explore()
    assert result.climb() == highest


def test_repeats_are_no_clusters():
    """80 groups of six rows, too few for a cluster, in five clusters; a range that is given is searched as it is."""
    rng = np.random.RandomState(2)
    groups = np.repeat(1.5 * rng.standard_normal((5, 6)), 16, axis=0) + rng.standard_normal((80, 6))
    X = np.repeat(groups, 6, axis=0)
    X += 0.45 * rng.standard_normal(X.shape)
    result = jc.number_of_clusters(X)
    assert 4 <= result.n_clusters <= 6
    assert "with 15 neighbours" in result.why
    assert result.confidence < 0.5
    assert jc.number_of_clusters(X, n_clusters=(2, 60)).n_clusters > 20


def test_parts_that_more_neighbours_join_are_those_of_the_halves():
    def separated(agreement, *numbers):
        return SeparatedClusters(numbers, agreement, np.arange(2), np.zeros(2, np.int32))

    assert number.confirmed((4, 2), separated(1.0, 3, 3)) == 3
    assert number.confirmed((4, 4), separated(1.0, 3, 3)) == 4, "no other number of neighbours shows fewer"
    assert number.confirmed((4, 2), separated(0.9, 3, 3)) == number.confirmed((4, 2), separated(1.0, 2, 3)) == 4


def test_the_curve_is_drawn():
    X, _ = jc.datasets.mixture(100, 5, 3, n_nuisance=0, separation=20, random_state=0)
    result = jc.number_of_clusters(X, n_clusters=(2, 5))
    ax = result.plot()
    np.testing.assert_allclose(ax.lines[0].get_xydata(), list(result.scores.items()))


def test_ranges_are_of_whole_numbers(rng):
    X = jc.decompose(rng.standard_normal((40, 2)))
    for wrong in (5, "2-8"):
        with pytest.raises(TypeError, match="is no range"):
            jc.number_of_clusters(X, n_clusters=wrong)
    for labels in (np.arange(40) % 3 + 1, pd.Series(np.arange(40) % 3)):
        with pytest.raises(TypeError, match="a number for each row.*known_labels"):
            jc.number_of_clusters(X, n_clusters=labels)
    for wrong in ([2.7], ["2", "3"], (2.0, 8.0)):
        with pytest.raises(TypeError, match="whole numbers"):
            jc.number_of_clusters(X, n_clusters=wrong)


def test_no_more_clusters_than_different_rows(rng):
    """Members cannot but agree on them; nor on as many clusters as there are rows, which none would choose."""
    X = np.repeat(rng.standard_normal((5, 300)), 20, axis=0)
    assert jc.number_of_clusters(jc.decompose(X)).n_clusters == 5
    Z, _ = jc.datasets.mixture(100, 10, 3, n_nuisance=0, separation=12, random_state=0)
    assert jc.number_of_clusters(jc.decompose(Z), n_clusters=[80]).scores == {80: 0}


def test_constant_and_few_rows(rng):
    equal = jc.number_of_clusters(np.ones((50, 3)))
    assert equal.n_clusters == equal.confidence == 1
    assert equal.plot().get_title() == equal.verdict
    assert jc.number_of_clusters(np.ones((50, 3)), n_clusters=(2, 8)).confidence == 0
    for n in (3, 31):
        with pytest.raises(ValueError, match=f"{n} rows are too few"):
            jc.number_of_clusters(rng.standard_normal((n, 3)))


@pytest.mark.slow
def test_digits(digits):
    assert 9 <= jc.number_of_clusters(digits.data).n_clusters <= 14


def test_a_layer_of_separated_splits_is_among_the_first_three():
    """Of three blobs asked for two, the tree shows that one of them falls apart."""
    X, _ = make_blobs(300, 6, centers=3, cluster_std=0.5, random_state=0)
    model = jc.cluster(X, [2, 7], random_state=0)
    assert [layer["split"] for layer in model.layers_[1:3]] == ["separated", "separated"]
    assert 3 in model.number_.suggestions[:3]
    assert model.number_.with_suggestion(1).suggestions == model.number_.suggestions
    result = number.ClusterNumber(3, {}, [3, 9, 30], {}, 0.4, True, 10)
    assert result.with_suggestion(2).suggestions == [3, 9, 2, 30]


def test_gaps_between_the_values_of_a_column_are_no_gaps_between_clusters():
    """The levels of a category and of a truth value cut each segment of the customers; they are no more segments."""
    customers, segment = jc.datasets.everyday("customers", random_state=6)
    result = jc.number_of_clusters(customers)
    assert result.n_clusters == np.unique(segment).size, result.why


def test_few_values_are_told_from_many():
    numbers = np.arange(60.0)
    assert not number.structure.has_levels(np.column_stack([numbers, -numbers, np.ones(60)]))
    assert number.structure.has_levels(np.column_stack([numbers, numbers % 3]))
