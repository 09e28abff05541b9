"""The number of clusters, whether there are any, and how sure that is."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import jointclust as jc
from jointclust.judge.number import ClusterNumber, candidates

MIXTURES = [(2, 20, 150), (5, 40, 200)]


@pytest.fixture(scope="module")
def six():
    """Six clusters that are far apart."""
    return jc.datasets.mixture(200, 30, 6, n_nuisance=0, separation=12, random_state=0)[0]


@pytest.mark.parametrize(("n_clusters", "n_features", "n_samples"), MIXTURES)
def test_generated_mixtures(n_clusters, n_features, n_samples):
    X, _ = jc.datasets.mixture(n_samples, n_features, n_clusters, n_nuisance=2, separation=12, random_state=1)
    result = jc.number_of_clusters(jc.decompose(X))
    assert abs(result.n_clusters - n_clusters) <= 0.1 * n_clusters
    assert result.has_structure
    assert result.confidence >= 0.6


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
    assert result.n_clusters == result.suggestions[0] == 1
    assert not result.has_structure
    assert result.verdict.startswith("no cluster structure found (probability ")
    with pytest.warns(jc.CollapseWarning, match="No cluster structure"):
        result.warn()


def test_a_coin_makes_no_clusters(rng):
    """Nor do columns that are independent of each other, whatever their values."""
    X = np.column_stack([rng.standard_normal((300, 4)), rng.randint(0, 2, 300)])
    assert not jc.number_of_clusters(X).has_structure
    assert not jc.number_of_clusters(rng.randint(0, 4, (300, 4)).astype(float)).has_structure


def test_clusters_in_the_plane(rng):
    """Far more clusters than directions."""
    centers = 20.0 * np.stack(np.divmod(np.arange(30), 6), axis=1)
    X = np.repeat(centers, 20, axis=0) + rng.standard_normal((600, 2))
    result = jc.number_of_clusters(jc.decompose(X), n_clusters=(2, 60))
    assert result.n_clusters == result.suggestions[0] == 30


def test_neither_order_nor_unit_nor_precision_matter(rng):
    X, _ = jc.datasets.mixture(200, 10, 3, n_nuisance=2, separation=4, random_state=1)
    one = jc.number_of_clusters(jc.decompose(X), n_clusters=(2, 5))
    order = rng.permutation(200)
    for other in (X[order], 1000 * X[order] + 5, X.astype(np.float32)):
        again = jc.number_of_clusters(jc.decompose(other), n_clusters=(2, 5))
        assert again.n_clusters == one.n_clusters
        assert again.scores == pytest.approx(one.scores, abs=1e-6)
        assert again.why == one.why
    assert jc.number_of_clusters(jc.decompose(X), n_clusters=(2, 5), random_state=7).scores == one.scores


def test_table_is_the_evidence(blobs, recwarn):
    result = jc.number_of_clusters(jc.decompose(blobs[0]))
    result.warn()
    assert not recwarn.list
    table = pd.DataFrame(result.table).set_index("n_clusters")
    assert result.scores == table["agreement"].to_dict()
    assert table["agreement"].between(0, 1).all()
    np.testing.assert_allclose(table["log number"], np.log(table.index))
    assert result.n_clusters == 4
    assert result.verdict.startswith("4 clusters (probability ")
    assert result.why.startswith(f"4 rather than {result.suggestions[1]}: ")


def test_suggestions_are_in_the_order_of_the_scores(six):
    result = jc.number_of_clusters(six, n_clusters=(2, 20))
    assert result.suggestions[0] == result.n_clusters == max(result.scores, key=result.scores.get)
    scores = [result.scores[number] for number in result.suggestions]
    assert scores == sorted(scores, reverse=True)
    assert all(max(a / b, b / a) > 1.1 for a in result.suggestions for b in result.suggestions if a != b)


def test_uncertain_numbers_are_told():
    result = ClusterNumber(3, {}, [3, 8, 2], {2: 0.45, 3: 0.5, 8: 0.3}, 0.4, True)
    told = (
        r"uncertain: 3 clusters \(probability 40% that this is about right\); 2 is the other candidate. Look at 3, 8, 2"
    )
    with pytest.warns(UserWarning, match=told):  # 8 is farther behind
        result.warn()


def test_a_range_and_a_list(six):
    X = jc.decompose(six)
    assert jc.number_of_clusters(X, n_clusters=(5, 7)).n_clusters == 6
    assert set(jc.number_of_clusters(X, n_clusters=(2, 4)).scores) == {2, 3, 4}
    assert set(jc.number_of_clusters(X, n_clusters=[9, 6]).scores) == {6, 9}
    noise = np.random.RandomState(0).standard_normal((100, 10))
    result = jc.number_of_clusters(jc.decompose(noise), n_clusters=(3, 5))
    assert 3 <= result.n_clusters <= 5
    assert not result.has_structure
    assert result.verdict.endswith("no cluster structure found, so any number is arbitrary")
    for wrong, message in (([], "empty"), ((8, 2), "no range"), ((0, 3), "between 1 and"), ((2, 400), "between 1 and")):
        with pytest.raises(ValueError, match=message):
            jc.number_of_clusters(X, n_clusters=wrong)


def test_a_number_is_worth_the_same_in_any_range(six):
    """What is predicted of it does not depend on what else is allowed; nor does whether there is anything."""
    X = jc.decompose(six)
    whole, part = jc.number_of_clusters(X, n_clusters=(2, 12)), jc.number_of_clusters(X, n_clusters=(4, 8))
    assert part.n_clusters == whole.n_clusters == 6
    assert part.scores == pytest.approx({number: whole.scores[number] for number in range(4, 9)}, abs=1e-9)
    assert part.has_structure == whole.has_structure == jc.number_of_clusters(X).has_structure


def test_an_answer_at_the_end_of_a_range_is_marked(six):
    """Numbers beyond it might be better; 2 is no such end, nor is a number inside."""
    X = jc.decompose(six)
    result = jc.number_of_clusters(X, n_clusters=(2, 5))
    assert result.n_clusters == 5
    assert result.at_edge
    assert "an end of the range" in result.verdict
    with pytest.warns((UserWarning, jc.CollapseWarning)):
        result.warn()
    assert not jc.number_of_clusters(X, n_clusters=(2, 8)).at_edge
    assert not jc.number_of_clusters(X, n_clusters=[6]).at_edge
    assert jc.number_of_clusters(X, n_clusters=(6, 8)).at_edge
    two = jc.number_of_clusters(jc.datasets.mixture(150, 20, 2, separation=12, random_state=1)[0], n_clusters=(2, 5))
    assert (two.n_clusters, two.at_edge) == (2, False)


def test_sparse_weighted_and_decomposed_rows():
    X, y = jc.datasets.mixture(400, 30, 4, n_nuisance=0, separation=10, random_state=0)
    assert jc.number_of_clusters(sp.csr_array(X), n_clusters=[2, 4, 6]).n_clusters == 4
    assert jc.number_of_clusters(jc.decompose(X), n_clusters=[3, 4, 5]).n_clusters == 4
    absent = jc.decompose(X, np.where(y == 3, 0.0, 1.0))
    assert jc.number_of_clusters(absent, n_clusters=[2, 3, 4]).n_clusters == 3


def test_data_as_they_come(rng):
    """A column of text and gaps."""
    kind = np.repeat(["red", "green", "blue"], 50)
    frame = pd.DataFrame({"colour": kind, "size": np.repeat([0.0, 10.0, 20.0], 50) + rng.standard_normal(150)})
    frame.loc[::10, "size"] = np.nan
    assert jc.number_of_clusters(frame, n_clusters=[2, 3, 5]).n_clusters == 3


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


def test_candidates_go_to_an_eighth_of_the_rows():
    assert candidates(None, 800) == list(range(1, 101))
    assert candidates(None, 50) == list(range(1, 13))
    assert candidates(None, 10**6)[-1] == 187
    assert candidates((2, 4), 10) == [2, 3, 4]
    assert candidates([6, 3, 3], 10) == [3, 6]


def test_nearly_as_many_clusters_as_rows_are_no_answer():
    """Everybody agrees on one row for each cluster."""
    X, _ = jc.datasets.mixture(100, 10, 3, n_nuisance=0, separation=12, random_state=0)
    result = jc.number_of_clusters(jc.decompose(X), n_clusters=[3, 80])
    assert (result.n_clusters, result.scores[80] < result.scores[3]) == (3, True)


def test_constant_and_few_rows(rng):
    equal = jc.number_of_clusters(np.ones((50, 3)))
    assert equal.n_clusters == equal.confidence == 1
    assert equal.plot().get_title() == equal.verdict
    assert jc.number_of_clusters(np.ones((50, 3)), n_clusters=(2, 8)).confidence == 0
    for n in (3, 31):
        with pytest.raises(ValueError, match=f"{n} rows are too few"):
            jc.number_of_clusters(rng.standard_normal((n, 3)))


@pytest.mark.parametrize("n_features", [1, 4])
def test_two_distinct_rows_are_two_clusters_at_the_most(n_features):
    X = np.repeat([np.zeros(n_features), np.ones(n_features)], 30, axis=0)
    result = jc.number_of_clusters(X)
    assert result.n_clusters in (1, 2)
    assert not result.at_edge
    assert jc.number_of_clusters(X, n_clusters=(2, 9)).n_clusters == 2


def test_one_column(rng):
    two = np.repeat([0.0, 50.0], 100)[:, None] + rng.standard_normal((200, 1))
    assert jc.number_of_clusters(two, n_clusters=(2, 6)).n_clusters == 2
    assert jc.number_of_clusters(rng.uniform(size=(200, 1))).n_clusters == 1


def test_a_thousand_clusters_may_be_asked_for(rng):
    """Of rows that do not show them; a single number is measured though the sample hardly holds it."""
    X = rng.standard_normal((1200, 3))
    result = jc.number_of_clusters(X, n_clusters=[1000])
    assert (result.n_clusters, list(result.scores)) == (1000, [1000])
    assert not result.has_structure


@pytest.mark.slow
def test_digits_within_a_factor_of_two(digits):
    assert 5 <= jc.number_of_clusters(digits.data).n_clusters <= 20
