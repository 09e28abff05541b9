"""Measures of partitions: what they are by slow, obvious code, and what they do not depend on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import jointclust as jc
from jointclust.consensus.judged import judgement_on, seen_in
from jointclust.consensus.views import ViewedData
from jointclust.judge.evidence import GLOBAL, MEASURES, Evidence, own_spreads, rand_index

LABELS = st.lists(st.integers(0, 5), min_size=2, max_size=40)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2], [60, 40, 20])
    return 4 * rng.standard_normal((3, 5))[y] + rng.standard_normal((120, 5)), y.astype(np.int32)


@pytest.fixture(scope="module")
def evidence(rows):
    return Evidence.of([rows[0]])


@pytest.fixture(scope="module")
def weighted(rows):
    return Evidence.of([rows[0]], np.random.RandomState(1).uniform(0.5, 2, 120))


def measured(evidence, labels):
    return dict(zip(MEASURES, evidence.measures(labels), strict=True))


@settings(max_examples=50, deadline=None)
@given(LABELS, st.randoms())
def test_rand_index_is_that_of_scikit_learn(labels, random):
    one, other = np.array(labels), np.array([random.randint(0, 4) for _ in labels])
    assert rand_index(one, other) == pytest.approx(adjusted_rand_score(one, other), abs=1e-9)
    assert rand_index(one, one) == pytest.approx(1)


def test_silhouette_and_explained_share(rows, evidence, weighted):
    """Row by row: the nearest other center against a row's own; the share of the scatter that is not within."""
    labels = rows[1]
    for of in (evidence, weighted):
        weights = np.ones(120) if of.weights is None else of.weights
        centers = [np.average(of.Z[labels == k], axis=0, weights=weights[labels == k]) for k in range(3)]
        silhouettes, within = [], 0.0
        for z, k, weight in zip(of.Z, labels, weights, strict=True):
            own = np.linalg.norm(z - centers[k])
            other = min(np.linalg.norm(z - centers[j]) for j in range(3) if j != k)
            silhouettes.append((other - own) / max(own, other))
            within += weight * own**2
        result = measured(of, labels)
        assert result["silhouette"] == pytest.approx(np.average(silhouettes, weights=weights))
        middle = np.average(of.Z, axis=0, weights=weights)
        total = np.sum(weights[:, None] * (of.Z - middle) ** 2)
        between = total - within + weights.sum() * np.sum(middle**2)  # of centers about the origin
        assert result["explained"] == pytest.approx(between / np.sum(weights[:, None] * of.Z**2))


def test_links_inside_are_the_modularity(rows, evidence):
    labels, graph = rows[1], evidence.graph.toarray()
    degree, total = graph.sum(axis=1), graph.sum()
    same = labels[:, None] == labels
    result = measured(evidence, labels)
    assert result["links inside"] == pytest.approx(np.sum((graph - np.outer(degree, degree) / total)[same]) / total)
    kept = [graph[labels == k][:, labels == k].sum() / degree[labels == k].sum() for k in range(3)]
    assert result["least links inside"] == pytest.approx(min(kept))


def test_clusters_are_found_by_halves(rows, evidence):
    """The best Jaccard index with the clusters of the other half, on the rows that did not form them."""
    labels = rows[1]
    expected = []
    for k in range(3):
        indices = []
        for half, found in zip(evidence.halves[::-1], evidence.of_number(3).of_halves, strict=True):
            own = {row for row in half if labels[row] == k}
            others = [{row for row in half if found[row] == j} for j in range(3)]
            indices.append(max(len(own & other) / len(own | other) for other in others))
        expected.append(np.mean(indices))
    np.testing.assert_allclose(evidence.found_by_halves(labels, 3), expected)
    assert evidence.found_by_halves(labels, 5)[3:].tolist() == [0, 0], "no rows, nothing to find"
    random = np.random.RandomState(0).permutation(labels)
    assert (evidence.found_by_halves(random, 3) < evidence.found_by_halves(labels, 3)).all()


def test_sizes(rows, evidence):
    result = measured(evidence, rows[1])
    shares = np.array([20, 40, 60]) / 120
    assert result["smallest share"] == result["share of the smaller half"] == pytest.approx(shares[0])
    assert result["evenness"] == pytest.approx(-np.sum(shares * np.log(shares)) / np.log(3))
    assert result["log number"] == pytest.approx(np.log(3))
    assert result["tiny clusters"] == 0
    lonely = rows[1].copy()
    lonely[0] = 3
    assert measured(evidence, lonely)["tiny clusters"] == 1 / 4


def test_the_true_partition_is_best_by_most_measures(rows, evidence):
    true, random = (measured(evidence, labels) for labels in (rows[1], np.random.RandomState(0).permutation(rows[1])))
    for name in MEASURES:
        if "agree" in name or name in ("links inside", "silhouette", "explained", "halves find it", "median valley"):
            assert true[name] >= random[name], name


def test_candidates_have_as_many_clusters_as_asked_for(evidence):
    for k in (2, 3, 7):
        of = evidence.of_number(k)
        for labels in (of.means, of.discriminant, of.joined, of.own_spreads, evidence.candidate(k)):
            assert np.unique(labels).size <= k
            assert labels.shape == (120,)
    assert np.unique(evidence.joined(2)).size == 2


def test_three_methods_find_clusters_that_are_apart():
    X, y = jc.datasets.mixture(200, 8, 4, n_nuisance=0, separation=20, random_state=0)
    of = Evidence.of([X]).of_number(4)
    assert [rand_index(y, labels) for labels in (of.means, of.discriminant, of.joined, of.own_spreads)] == [1] * 4
    assert of.agree == (1, 1)
    assert [rand_index(y, labels) for labels in of.of_halves] == [1, 1]


def test_own_spreads_give_rows_to_the_wider_cluster():
    """Of a narrow cluster within a wide one, k-means has far too much."""
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 200).astype(np.int32)
    X = np.where(y[:, None] == 0, 0.1, 3.0) * rng.standard_normal((400, 2)) + np.where(y[:, None] == 0, 2.0, 0.0)
    evidence = Evidence.of([X])
    means = evidence.of_number(2).means
    assert rand_index(y, own_spreads(evidence.Z, y, 2)) > 0.8 > rand_index(y, means)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 1000), st.floats(-3, 3))
def test_neither_numbers_of_clusters_nor_order_and_unit_of_rows_matter(rows, seed, power):
    X, y = rows
    rng, expected = np.random.RandomState(seed), judgement_on(X, y)
    order, names = rng.permutation(len(X)), rng.permutation(3)
    turned = 10**power * X[order] + rng.standard_normal(5)
    result = judgement_on(turned, names[y[order]].astype(np.int32))
    assert result.measures == pytest.approx(expected.measures, abs=1e-6)
    assert (result.agreement, result.anything) == pytest.approx((expected.agreement, expected.anything), abs=1e-6)
    np.testing.assert_allclose(result.found[names], expected.found)
    np.testing.assert_allclose(result.levels[names], expected.levels, atol=1e-6)


def test_rows_without_a_cluster_do_not_count(rows):
    X, y = rows
    strays = np.vstack([X, 30 * np.random.RandomState(0).standard_normal((10, 5))])
    result, expected = judgement_on(strays, np.append(y, np.full(10, -1)).astype(np.int32)), judgement_on(X, y)
    assert result.measures == pytest.approx(expected.measures)
    assert judgement_on(X, np.zeros(120, np.int32)) is None


def test_a_weight_is_as_many_rows(rows):
    """For what is a sum over rows: k-means, the silhouette and the explained share."""
    X, y = rows
    counts = 1 + np.arange(120) % 2
    some = Evidence(X - np.average(X, axis=0, weights=counts), counts / counts.mean())
    each = Evidence(np.repeat(some.Z, counts, axis=0))
    one, other = measured(some, y), measured(each, np.repeat(y, counts))
    for name in ("silhouette", "explained", "smallest share", "evenness"):
        assert one[name] == pytest.approx(other[name]), name
    same = Evidence.of([X], np.full(120, 3.0))
    assert same.weights is None, "rows of one weight count the same"


def test_one_row_far_away_is_not_all_of_the_variance(rows):
    X, y = rows
    far = Evidence.of([np.vstack([X, np.full((1, 5), 1e6)])])
    assert measured(far, np.append(y, 3))["explained"] > 0.8
    assert measured(far, np.append(np.zeros(120, int), 1))["explained"] < 0.6


@pytest.mark.parametrize(("n", "D"), [(4, 1), (5, 30), (33, 1), (40, 60)])
def test_few_rows_wide_rows_and_one_column_have_finite_measures(n, D):
    X = np.random.RandomState(0).standard_normal((n, D))
    evidence = Evidence.of([X])
    for k in (1, 2, n):
        labels = np.arange(n) % k
        assert np.isfinite(evidence.measures(labels)).all()
        assert np.isfinite(evidence.found_by_halves(labels, k)).all()
    assert np.isfinite(evidence.of_data).all()
    assert evidence.of_data.shape == (len(GLOBAL),)


def test_rows_of_two_values_have_finite_measures():
    evidence = Evidence.of([np.repeat([[0.0, 0.0], [1.0, 2.0]], 20, axis=0)])
    assert np.isfinite(np.concatenate([evidence.of_data, evidence.measures(np.arange(40) // 20)])).all()
    assert evidence.measures_of_number(2)[MEASURES.index("halves find it")] == 1


def test_several_views_tell_whether_they_agree(rows):
    X, y = rows
    noise = np.random.RandomState(1).standard_normal((120, 5))
    alike, unlike = (measured(Evidence.of([X, other]), y) for other in (2 * X, noise))
    assert alike["least telling view"] > 0.9 > 0.5 > unlike["least telling view"]


def test_a_part_of_many_rows_is_looked_at(rows):
    X, y = jc.datasets.mixture(2000, 5, 3, n_nuisance=0, random_state=0)
    seen = seen_in(ViewedData.of_coordinates(jc.decompose(X)), np.arange(2000))
    assert seen.evidence.n_rows == seen.rows.size == np.unique(seen.rows).size == 800
    np.testing.assert_allclose(np.bincount(y[seen.rows]) / 800, np.bincount(y) / 2000, atol=0.05)
    assert seen_in(ViewedData.of_coordinates(jc.decompose(np.ones((50, 2)))), np.arange(50)) is None
