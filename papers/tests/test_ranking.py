import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import integrate, stats

from jointclust_papers.experiments import ranking

mpl = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

# Demsar (2006), table 6: ranks of C4.5, C4.5+m, C4.5+cf, C4.5+m+cf on 14 data sets.
DEMSAR = np.array(
    [
        [4, 3, 2, 1],
        [1, 2, 3, 4],
        [4, 1, 2, 3],
        [4, 1, 3, 2],
        [4, 2, 3, 1],
        [1, 2.5, 4, 2.5],
        [3, 2, 4, 1],
        [2.5, 2.5, 4, 1],
        [4, 3, 2, 1],
        [2.5, 2.5, 2.5, 2.5],
        [4, 2.5, 1, 2.5],
        [3, 2, 4, 1],
        [4, 1, 2, 3],
        [3, 1, 4, 2],
    ]
)
# Demsar (2006), table 5, for 2 to 10 methods.
Q = {
    0.05: [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164],
    0.10: [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920],
}

# Few values, so that there are ties.
tables = st.tuples(st.integers(2, 8), st.integers(2, 6)).flatmap(
    lambda shape: arrays(float, shape, elements=st.integers(-4, 4).map(float))
)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


# -- ranks ------------------------------------------------------------------------------------------------------


def test_ranks_of_demsar():
    result = ranking.mean_ranks(-DEMSAR)
    np.testing.assert_allclose(result.ranks, [3.143, 2.0, 2.893, 1.964], atol=5e-4)
    assert result.n_datasets == 14


@given(tables)
def test_ranks_are_one_plus_the_better_plus_half_the_equal(scores):
    better = (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
    equal = (scores[:, None, :] == scores[:, :, None]).sum(axis=2) - 1
    np.testing.assert_allclose(ranking.mean_ranks(scores).ranks, (1 + better + equal / 2).mean(axis=0))


@given(tables, st.randoms(use_true_random=False))
def test_ranks_see_order_only(scores, random):
    """A monotone transformation per data set changes nothing, nor does the order of the data sets."""
    ranks = ranking.mean_ranks(scores).ranks
    bent = np.array([random.uniform(0.1, 9) * np.exp(row * random.uniform(0.1, 2)) - 5 for row in scores])
    np.testing.assert_array_equal(ranking.mean_ranks(bent).ranks, ranks)
    shuffled = scores[random.sample(range(len(scores)), len(scores))]
    np.testing.assert_allclose(ranking.mean_ranks(shuffled).ranks, ranks)
    columns = random.sample(range(scores.shape[1]), scores.shape[1])
    np.testing.assert_allclose(ranking.mean_ranks(scores[:, columns]).ranks, ranks[columns])


def test_a_data_set_with_a_missing_score_is_left_out():
    scores = np.array([[1.0, 2, 3], [3, 2, 1], [np.nan, 1, 0], [1, 3, 2]])
    result = ranking.mean_ranks(pd.DataFrame(scores))
    assert result.n_datasets == 3
    np.testing.assert_array_equal(result.ranks, ranking.mean_ranks(scores[[0, 1, 3]]).ranks)
    assert ranking.rank(scores).n_datasets == 3
    assert ranking.friedman(scores) == ranking.friedman(scores[[0, 1, 3]])


@pytest.mark.parametrize(
    ("scores", "match"),
    [
        ([[1.0], [2.0]], "at least 2 methods"),
        ([1.0, 2.0], "at least 2 methods"),
        ([[1.0, 2.0]], "of 1, 1 have all"),
        ([[np.nan, np.nan]] * 3, "of 3, 0 have all"),
        (pd.DataFrame({"a": [1, 2, 3.0], "b": [1, np.nan, np.nan]}), "of 3, 1 have all; b lacks most scores"),
        (pd.DataFrame([[1, 2], [2, 1]], columns=["a", "a"]), "a name of its own"),
    ],
)
def test_bad_scores(scores, match):
    with pytest.raises(ValueError, match=match):
        ranking.rank(scores)


# -- tests ------------------------------------------------------------------------------------------------------


def test_friedman_of_demsar():
    """He does not correct for ties: 9.28 and 3.69. The correction divides by 1 - sum(t^3 - t) / (n k (k^2 - 1))."""
    result = ranking.friedman(-DEMSAR)
    chi_square = result.chi_square * (1 - 78 / 840)
    assert chi_square == pytest.approx(9.28, abs=0.005)
    assert 13 * chi_square / (14 * 3 - chi_square) == pytest.approx(3.69, abs=0.005)
    assert result.f == pytest.approx(13 * result.chi_square / (14 * 3 - result.chi_square))
    assert result.f_p_value == pytest.approx(stats.f.sf(result.f, 3, 39))


@given(tables.filter(lambda scores: scores.shape[1] > 2 and (np.ptp(scores, axis=1) > 0).any()))
def test_friedman_is_scipys(scores):
    expected = stats.friedmanchisquare(*scores.T)
    result = ranking.friedman(scores)
    np.testing.assert_allclose(result[:2], [expected.statistic, expected.pvalue], atol=1e-12, rtol=1e-9)


def test_friedman_of_two_methods_is_the_sign_test():
    wins = np.array([1, 1, 1, 1, -1, 1, 1, -1, 1, 1.0])
    result = ranking.friedman(np.column_stack([wins, np.zeros(10)]))
    assert result.chi_square == pytest.approx((8 - 2) ** 2 / 10)


def test_friedman_at_its_ends():
    assert ranking.friedman(np.ones((4, 3))) == (0, 1, 0, 1)
    agreed = ranking.friedman(np.tile([3.0, 2, 1, 0, -1, -2, -3], (11, 1)))
    assert agreed.chi_square == pytest.approx(66)
    assert (agreed.f, agreed.f_p_value) == (np.inf, 0)


@pytest.mark.parametrize("alpha", Q)
@pytest.mark.parametrize("k", range(2, 11))
def test_critical_difference_of_demsar(alpha, k):
    q = ranking.critical_difference(k, 7, alpha) / np.sqrt(k * (k + 1) / (6 * 7))
    assert q == pytest.approx(Q[alpha][k - 2], abs=1.1e-3), "he cuts where others round"


@pytest.mark.parametrize(("k", "alpha"), [(2, 0.05), (5, 0.01), (12, 0.05), (20, 0.1)])
def test_critical_difference_leaves_alpha(k, alpha):
    """The range of k standard normal variables exceeds sqrt(2) q with probability alpha."""
    width = ranking.critical_difference(k, 10, alpha) / np.sqrt(k * (k + 1) / 60) * np.sqrt(2)
    inside, _ = integrate.quad(
        lambda z: k * stats.norm.pdf(z) * (stats.norm.cdf(z) - stats.norm.cdf(z - width)) ** (k - 1), -9, 19
    )
    assert 1 - inside == pytest.approx(alpha, abs=1e-6)


@pytest.mark.parametrize(("k", "n", "alpha"), [(1, 9, 0.05), (3, 1, 0.05), (3, 9, 0), (3, 9, 1.2)])
def test_critical_difference_of_nonsense(k, n, alpha):
    with pytest.raises(ValueError, match="alpha is" if k > 1 < n else "2 methods"):
        ranking.critical_difference(k, n, alpha)


# -- groups -----------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(2, 40).map(lambda x: x / 2), min_size=2, max_size=9), st.integers(1, 20))
def test_groups_are_the_maximal_runs(ranks, cd):
    ordered = sorted(range(len(ranks)), key=lambda i: ranks[i])
    runs = [tuple(ordered[i:j]) for i, j in itertools.combinations(range(len(ranks) + 1), 2) if j - i > 1]
    close = [run for run in runs if ranks[run[-1]] - ranks[run[0]] < cd]
    maximal = [run for run in close if not any(set(run) < set(other) for other in close)]
    assert ranking.groups(ranks, cd) == maximal


def test_ranking_is_sorted_and_named():
    frame = pd.DataFrame(-DEMSAR, columns=["C4.5", "m", "cf", "m+cf"])
    result = ranking.rank(frame, alpha=0.1)
    assert result.methods == ("m+cf", "m", "cf", "C4.5")
    assert list(result.mean_ranks) == sorted(result.mean_ranks)
    assert result.critical_difference == pytest.approx(1.12, abs=0.005)
    assert result.groups == (("m+cf", "m", "cf"), ("cf", "C4.5"))
    assert ranking.rank(-DEMSAR).methods[0] == "method 3"


# -- the diagram ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(2, 21))
def test_nothing_overlaps_in_the_diagram(k, rng):
    scores = pd.DataFrame(np.round(rng.randn(12, k), 1), columns=[f"method $_{i}" * (1 + i % 3) for i in range(k)])
    display = ranking.CriticalDifferenceDisplay.from_scores(scores)
    display.figure_.canvas.draw()
    page, boxes = display.figure_.bbox, [text.get_window_extent() for text in display.ax_.texts]
    assert len(boxes) == k + 1, "the methods, and the critical difference"
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)
    leaders = [line.get_xydata() for line in display.ax_.lines if len(line.get_xydata()) == 3]
    np.testing.assert_allclose([points[0, 0] for points in leaders], display.ranking.mean_ranks)
    for one, other in itertools.permutations(leaders, 2):
        (x, _), (_, down), _ = one
        (start, _), (_, y), (end, _) = other
        assert not (min(start, end) < x < max(start, end) and y < down), "a leader crosses another"


def test_bars_join_the_groups(rng):
    scores = rng.randn(9, 7) + np.arange(7) / 2
    display = ranking.CriticalDifferenceDisplay.from_scores(scores, color="red")
    bars = [line for line in display.ax_.lines if line.get_color() == "red"]
    result = display.ranking
    where = dict(zip(result.methods, result.mean_ranks, strict=True))
    assert len(bars) == len(result.groups) > 1
    for bar, group in zip(bars, result.groups, strict=True):
        np.testing.assert_allclose(bar.get_xdata(), [where[group[0]], where[group[-1]]], atol=0.1)
    places = [(*bar.get_xdata(), bar.get_ydata()[0]) for bar in bars]
    for (a, b, y), (c, d, z) in itertools.combinations(places, 2):
        assert y != z or b < c or d < a, "bars that overlap are on lines of their own"


def test_diagram_on_given_axes():
    _, ax = plt.subplots()
    assert ranking.CriticalDifferenceDisplay.from_scores(-DEMSAR, ax=ax).ax_ is ax
