"""How far clusters can be trusted: what is found again on other rows."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from jointclust.consensus.separation import n_separate
from sklearn.metrics import adjusted_rand_score, jaccard_score

import jointclust as jc
from jointclust.consensus.confidence import ConfidenceRule
from jointclust.consensus.reproducibility import Repeats, halves
from jointclust.consensus.verdict import leading_column, verdict


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.RandomState(0)
    y = rng.permutation(np.repeat([0, 1, 2], [120, 80, 40]))
    return 5 * rng.standard_normal((3, 6))[y] + rng.standard_normal((240, 6)), y


@pytest.fixture(scope="module")
def repeats():
    """Refits that are wrong for some rows, and call their clusters by other numbers."""
    rng = np.random.RandomState(1)
    labels, other = rng.randint(3, size=90), np.array([2, 0, 1])

    def refit(own, rest):
        assert np.intersect1d(own, rest).size == 0
        result = np.where(rng.uniform(size=rest.size) < 0.2 + 0.1 * labels[rest], 1, labels[rest])
        return other[result].astype(np.int32)

    return Repeats.of(labels, 3, refit, 3, np.random.RandomState(0))


def test_halves_leave_every_row_out():
    result = np.array(list(halves(31, 3, np.random.RandomState(0))))
    assert result.sum(axis=1).tolist() == [15, 15, 15]
    assert not result.all(axis=0).any()
    one, two = halves(30, 2, np.random.RandomState(0))
    np.testing.assert_array_equal(one, ~two)


def test_reproducibility_is_that_of_scikit_learn(repeats):
    pairs = [(repeats.labels[own >= 0], own[own >= 0]) for own in repeats.refits]
    assert repeats.reproducibility() == pytest.approx(np.mean([adjusted_rand_score(*pair) for pair in pairs]))
    indices = [jaccard_score(*pair, average=None, labels=[0, 1, 2]) for pair in pairs]
    np.testing.assert_allclose(repeats.of_clusters(), np.mean(indices, axis=0))
    shares = [[np.mean(own[labels == k] == k) for k in range(3)] for labels, own in pairs]
    np.testing.assert_allclose(repeats.shares(), shares)


def test_confidence_has_the_mean_that_refits_say(repeats):
    """Of each cluster's rows the share that refits put into it, averaged with that of all; more for more votes."""
    rng = np.random.RandomState(2)
    votes = rng.dirichlet([1, 1, 1], 90)
    votes[np.arange(90), repeats.labels] += 1
    votes /= votes.sum(axis=1, keepdims=True)
    rule = ConfidenceRule.of_votes(repeats.labels, np.ones(90), 3).taught(votes, repeats)
    sure = rule.confidence(votes, np.ones(90))
    overall = (repeats.same.sum() + 0.5) / (repeats.unseen.sum() + 1)
    expected = (repeats.shares().sum(axis=0) + 3 * overall) / 6
    np.testing.assert_allclose([sure[repeats.labels == k].mean() for k in range(3)], expected, rtol=1e-6)
    assert rule.slope > 0
    order = np.array([2, 0, 1])
    np.testing.assert_allclose(
        rule.renumbered(np.argsort(order), order.size).confidence(votes[:, order], np.ones(90)), sure
    )


def test_trust_changes_no_label(blobs):
    X, y = blobs
    model, again, without = (jc.JointConsensus(3, trust=trust, random_state=0).fit(X) for trust in (True, True, False))
    np.testing.assert_array_equal(model.labels_, without.labels_)
    np.testing.assert_array_equal(model.soft_labels_, without.soft_labels_)
    np.testing.assert_array_equal(model.confidence_, again.confidence_)
    np.testing.assert_allclose(model.confidence(X), model.confidence_)
    assert model.reproducibility_ == again.reproducibility_ > 0.95
    assert model.cluster_reproducibility_.min() > 0.9
    assert model.verdict_.level == "sure"
    assert adjusted_rand_score(y, model.labels_) == 1
    assert without.verdict_.level == "not sure"
    for name in ("reproducibility_", "cluster_reproducibility_"):
        with pytest.raises(AttributeError, match=f"{name} was not measured.*trust=True"):
            getattr(without, name)


@pytest.mark.parametrize("drawn", ["standard_normal", "uniform", "binomial"])
def test_no_structure_is_said_whatever_it_is_cut_into(drawn, rng):
    draw = {"uniform": rng.uniform, "standard_normal": rng.standard_normal}
    X = rng.binomial(1, 0.4, (300, 12)) * 1.0 if drawn == "binomial" else draw[drawn](size=(300, 4))
    result = jc.JointConsensus(5, effort="quick", random_state=0).fit(X).verdict_
    assert result.level == "not sure"
    assert any(reason.startswith("No structure found") for reason in result.reasons)


def test_refits_find_clusters_as_the_fit_does(rng):
    """In two columns the members vote on the partition of the first; a small cluster is found again in halves."""
    y = np.repeat([0, 1], [400, 40])
    X = np.array([[0, 0], [6, 3]])[y] + rng.standard_normal((440, 2))
    model = jc.JointConsensus(2, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert model.reproducibility_ > 0.9
    assert model.verdict_.level == "sure"


def test_refits_have_the_members_that_suit_all_columns():
    """Four columns, of which two carry nearly all variance: the usual members, in the refits too."""
    iris = jc.datasets.load("iris").data
    assert jc.JointConsensus(3, random_state=0).fit(iris).reproducibility_ > 0.8


@pytest.mark.parametrize("drawn", ["standard_normal", "uniform"])
@pytest.mark.parametrize("n_clusters", [2, 4])
def test_no_structure_in_two_columns(drawn, n_clusters, rng):
    X = getattr(rng, drawn)(size=(400, 2))
    assert jc.JointConsensus(n_clusters, effort="quick", random_state=0).fit(X).verdict_.level == "not sure"


def test_groups_between_which_there_are_gaps(rng):
    X = rng.uniform(size=(2000, 2))
    strips = (4 * X[:, 0]).astype(np.int32)
    assert n_separate(X[::2], strips[::2], X[1::2], strips[1::2], 4) == 1
    assert n_separate(X[::2], strips[::2] // 2, X[1::2], strips[1::2] // 2, 2) == 1
    X[:, 0] += strips >= 2  # a gap between the second and the third
    assert n_separate(X[::2], strips[::2], X[1::2], strips[1::2], 4) == 2
    X[:, 0] += 5 * strips
    assert n_separate(X[::2], strips[::2], X[1::2], strips[1::2], 4) == 4


def test_stripes_have_gaps_between_them(rng):
    """They are long in another direction than that from one to the next."""
    stripes = np.repeat([0, 1, 2], 200)
    X = np.column_stack([rng.uniform(0, 20, 600) + 3 * stripes, 2 * stripes + 0.15 * rng.standard_normal(600)])
    assert n_separate(X[::2], stripes[::2], X[1::2], stripes[1::2], 3) == 3


def test_gaps_between_many_clusters_take_little_memory(rng):
    """Their centers are compared in pairs, in each of as many directions."""
    X, labels = rng.standard_normal((1200, 100)), np.arange(1200) % 300
    X += 9 * rng.standard_normal((300, 100))[labels]
    tracemalloc.start()
    n_separate(X[:600], labels[:600], X[600:], labels[600:], 300)
    assert tracemalloc.get_traced_memory()[1] < 20 * X.nbytes
    tracemalloc.stop()


def test_a_far_cluster_is_trusted_and_a_far_row_is_not(rng):
    X = 4 * rng.standard_normal((3, 6))[rng.randint(3, size=400)] + rng.standard_normal((400, 6))
    cluster = 2.5 * rng.standard_normal((80, 6)) + np.r_[60, np.zeros(5)]
    alone = 40 * np.eye(6)[1:5]
    model = jc.JointConsensus(4, effort="quick", random_state=0).fit(np.vstack([X, cluster, alone]))
    limit = np.quantile(model.confidence_, 0.05)
    assert model.confidence_[-4:].max() <= limit
    assert model.confidence_[400:480].mean() > 0.9
    assert np.mean(model.confidence_[400:480] <= limit) < 0.2


def test_known_labels(blobs):
    X, y = blobs
    known = np.where(np.arange(240) % 8 == 0, y, -1)
    model = jc.JointConsensus(3, effort="quick", random_state=0).fit(X, known_labels=known)
    assert model.reproducibility_ > 0.95
    np.testing.assert_array_equal(model.confidence_[known >= 0], 1.0)


def test_what_was_measured_is_saved(blobs, tmp_path):
    X, _ = blobs
    model = jc.JointConsensus(3, effort="quick", random_state=0).fit(X)
    jc.save(model, tmp_path / "model.skops")
    loaded = jc.load(tmp_path / "model.skops")
    assert loaded.verdict_ == model.verdict_
    np.testing.assert_array_equal(loaded.cluster_reproducibility_, model.cluster_reproducibility_)
    np.testing.assert_array_equal(loaded.confidence(X), model.confidence(X))


def test_few_rows_and_equal_rows(rng):
    """What cannot be measured is not there, and is no ground to be sure."""
    few = jc.JointConsensus(3, random_state=0).fit(rng.standard_normal((5, 2)))
    with pytest.warns(jc.CollapseWarning):
        equal = jc.JointConsensus(2, random_state=0).fit(np.ones((20, 2)))
    for model in (few, equal):
        assert not hasattr(model, "reproducibility_")
        assert model.verdict_.level == "not sure"
        assert np.isfinite(model.confidence_).all()


def test_a_column_that_explains_the_clusters():
    """It alone differs between them: neither next to another one, nor where most differ a little."""

    def leading(*drives):
        return leading_column([{"name": f"x{i}", "used": True, "drives": one} for i, one in enumerate(drives)])

    assert leading(0.0, 0.9, 0.4, 0.05, 0.02, np.nan) == "x1"
    assert leading(0.0, 0.9, 0.7, 0.05, 0.02) is None
    assert leading(0.3, 0.9, 0.3, 0.3, 0.02) is None
    assert leading(0.0, 0.7, 0.1, 0.05) is None
    assert leading(0.0, 0.9) is None


NUMBER = {"has_structure": True, "confidence": 0.9, "at_edge": False, "verdict": "4 clusters"}


@pytest.mark.parametrize(
    ("changes", "level", "text"),
    [
        ({}, "sure", "are found again"),
        ({"reproducibility": 0.84}, "fairly sure", "Much the same"),
        ({"reproducibility": 0.59}, "not sure", "Other clusters"),
        ({"reproducibility": None}, "not sure", "not measured"),
        ({"n_separate": 3}, "fairly sure", "into 3 groups"),
        ({"n_separate": 1}, "fairly sure", "No two clusters have a gap"),
        ({"n_separate": 1, "reproducibility": 0.74}, "not sure", "No structure found"),
        ({"cluster_reproducibility": np.array([0.9, 0.5, 0.9, 0.4])}, "sure", "2 of the 4 clusters (1, 3) are hardly"),
        ({"number": SimpleNamespace(**NUMBER)}, "sure", "gaps between"),
        ({"number": SimpleNamespace(**NUMBER | {"at_edge": True})}, "fairly sure", "edge of the range"),
        ({"number": SimpleNamespace(**NUMBER | {"confidence": 0.4})}, "fairly sure", "is uncertain"),
        ({"number": SimpleNamespace(**NUMBER | {"has_structure": False})}, "not sure", "No structure found"),
        ({"decisive_column": "city"}, "not sure", "'city'"),
        ({"n_rows": 39}, "fairly sure", "few rows: 10"),
        ({"missing": 0.3}, "fairly sure", "empty (30%)"),
        ({"missing": 0.9}, "not sure", "empty (90%)"),
        ({"n_clusters": 1}, "not sure", "All rows are in one cluster"),
    ],
)
def test_what_the_verdict_rests_on(changes, level, text):
    given = {"n_clusters": 4, "n_rows": 400, "reproducibility": 0.9, "cluster_reproducibility": np.full(4, 0.9)}
    result = verdict(**given | {"n_separate": 4} | changes)
    assert result.level == level
    assert any(text in reason for reason in result.reasons)
    assert str(result).startswith(f"{level.capitalize()}: ")
