"""The judge: its file, its trees, and what it says of partitions and of rows without clusters."""

import sys
from pathlib import Path

import numpy as np
import pytest

from jointclust.consensus.judged import Judgement, judgement_on
from jointclust.judge import judge
from jointclust.judge.evidence import GLOBAL, MEASURES, Evidence
from jointclust.judge.judge import FILE, the_judge

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import judge_learning


@pytest.fixture(scope="module")
def evidence(blobs):
    return Evidence.of([blobs[0]])


# -- the file ------------------------------------------------------------------------------------------------------


def test_the_file_is_small_and_holds_no_pickle():
    assert FILE.stat().st_size <= 500_000
    with np.load(FILE, allow_pickle=False) as file:
        assert not any(file[name].dtype == object for name in file.files)


def test_file_and_measures_belong_together():
    """The names of what is measured, and the measures of a planted draw, are those that were learned from."""
    with np.load(FILE) as file:
        assert file["measures"].tolist() == [*GLOBAL, *MEASURES]
        if "probe" in file.files:
            np.testing.assert_allclose(judge_learning.probe(), file["probe"], atol=1e-4)


def test_trees_ask_for_measures_that_are_there(evidence):
    found = the_judge()
    numbers = judge.features_of_numbers(evidence, [2, 3])
    of_partition = judge.features_of_partition(evidence, evidence.candidate(3))
    for name, size in (
        ("choice", numbers.shape[1]),
        ("level", numbers.shape[1]),
        ("partition", of_partition.size),
        ("anything", judge.features_of_data(evidence).size),
    ):
        trees = getattr(found, name)
        assert -1 <= trees.feature.min() <= trees.feature.max() < size, name
        inner = trees.feature >= 0
        for child in (trees.left, trees.right):
            assert (child[inner] > np.nonzero(inner)[1]).all(), "trees end"
            assert child.max() < trees.feature.shape[1]
    assert (found.number.shape, found.rows.shape) == ((5,), (7,))
    anything, fairly, sure = found.limits
    assert 0 < anything < 1
    assert 0 < fairly < sure < 1


def damaged(tmp_path, kind):
    path = tmp_path / "judge.npz"
    if kind == "truncated":
        path.write_bytes(FILE.read_bytes()[:1000])
    elif kind == "text":
        path.write_text("no arrays")
    elif kind != "missing":
        with np.load(FILE) as file:
            parts = dict(file)
        parts["measures"] = parts["measures"][:-1] if kind == "other measures" else parts["measures"]
        if kind == "incomplete":
            del parts["level_value"]
        np.savez(path, **parts)
    return path


@pytest.mark.parametrize("kind", ["missing", "truncated", "text", "other measures", "incomplete"])
def test_a_damaged_file_is_named(kind, tmp_path):
    with pytest.raises(RuntimeError, match=r"judge\.npz, is missing or damaged .*install jointclust again.*make judge"):
        the_judge(damaged(tmp_path, kind))


# -- what is learned, and what is applied --------------------------------------------------------------------------


@pytest.mark.parametrize("is_class", [False, True])
def test_trees_predict_as_scikit_learn_does(is_class, rng):
    X = np.round(rng.standard_normal((400, 5)), 2)  # with many ties, on which thresholds lie
    y = X[:, 0] * X[:, 1] + np.sign(X[:, 2]) + 0.1 * rng.standard_normal(400)
    y = (y > 0).astype(int) if is_class else y
    model = judge_learning.boosted(X, y, np.ones(400), 20, leaves=8, is_class=is_class)
    expected = model.decision_function(X) if is_class else model.predict(X)
    np.testing.assert_allclose(judge_learning.arrays_of(model)(X), expected, atol=1e-5)


def test_agreement_counts_rows_that_belong_to_a_cluster():
    truth, labels = np.array([0, 0, 1, 1, -1]), np.array([5, 5, 2, 2, 2])
    assert judge_learning.agreement(truth, labels) == 1
    assert judge_learning.agreement(truth, np.array([0, 1, 0, 1, 0])) < 0


def test_rows_are_rightly_placed_in_the_cluster_that_stands_for_theirs():
    """One to one: the second cluster of a class is wrong, and so is a stray."""
    truth = np.array([0, 0, 0, 0, 1, 1, -1])
    labels = np.array([2, 2, 2, 1, 0, 0, 0])
    assert judge_learning.rightly_placed(labels, truth).tolist() == [True] * 3 + [False] + [True] * 2 + [False]


def test_a_draw_is_measured_the_same_again():
    one, two = judge_learning.measured(3), judge_learning.measured(3)
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])
    assert one["features"].shape == (len(one["numbers"]), 4 * len(MEASURES) + len(GLOBAL))
    assert one["scores"].max() <= 1
    assert one["rows"].shape[1] == 5


# -- what it says --------------------------------------------------------------------------------------------------


def test_scores_are_agreements_and_the_preferred_number_has_the_most(evidence):
    found = the_judge()
    features = judge.features_of_numbers(evidence, [2, 3, 4, 6, 12])
    scores = found.scores(features)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores.argmax() == found.choice(features).argmax() == 2


def test_a_true_partition_is_expected_to_agree_more_than_others(blobs, evidence):
    _, y = blobs
    rng = np.random.RandomState(0)
    mixed = np.where(rng.uniform(size=300) < 0.5, y, rng.permutation(y)).astype(np.int32)
    true, part, random = (the_judge().agreement(evidence, one) for one in (y, mixed, rng.permutation(y)))
    assert 1 >= true > part >= random >= 0
    assert true > 0.7 > 0.3 > random


@pytest.mark.parametrize("draw", ["standard_normal", "uniform"])
def test_rows_without_clusters_have_no_structure_whatever_they_are_cut_into(draw, rng):
    X = getattr(rng, draw)(size=(300, 4))
    found = [judgement_on(X, (X[:, 0] > 0.4).astype(np.int32)), judgement_on(X, rng.randint(5, size=300))]
    assert [one.has_structure for one in found] == [False, False]
    assert found[0].anything == found[1].anything, "it does not depend on the clusters"


def test_of_one_cluster_the_agreement_is_that_there_are_none(evidence):
    result = Judgement.of(evidence, np.zeros(300, np.int32), 1)
    assert result.agreement == pytest.approx(1 - result.anything)
    assert (result.found.shape, result.levels.shape) == ((1,), (1,))


def test_more_votes_are_more_confidence(blobs, evidence):
    _, y = blobs
    result = Judgement.of(evidence, y.astype(np.int32), 4)
    assert result.slope > 0
    assert result.found.min() > 0.9
    renumbered = result.renumbered(np.array([1, 0, 3, 5]), 6)
    np.testing.assert_array_equal(renumbered.found[[1, 0, 3, 5]], result.found)
    assert np.isnan(renumbered.found[[2, 4]]).all()
    assert renumbered.agreement == result.agreement


def test_numbers_that_are_looked_at_fit_the_rows():
    assert judge.numbers_for(4) == [2]
    assert judge.numbers_for(40) == [*range(2, 11), 12]
    assert judge.numbers_for(800)[-1] == 86
    for n in (4, 10, 40, 200, 800):
        assert max(judge.numbers_for(n)) <= max(2, n // 3)


def test_confidence_of_a_number_grows_with_its_lead_and_counts_about_the_same():
    numbers, best = np.array([4, 5, 9]), 0
    found = the_judge()
    alone = found.confidence(np.array([0.9, 0.3, 0.3]), numbers, best, 0.99)
    rival = found.confidence(np.array([0.9, 0.3, 0.9]), numbers, best, 0.99)
    about = found.confidence(np.array([0.9, 0.9, 0.3]), numbers, best, 0.99)
    assert alone > rival
    assert about == pytest.approx(alone, abs=0.01)
    assert alone > found.confidence(np.array([0.4, 0.3, 0.3]), numbers, best, 0.99)


def test_log_ratio_of_votes():
    votes = np.array([[0.2, 0.8, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(judge.log_ratio(votes), np.log([4, 1, 1000]))
    np.testing.assert_allclose(judge.log_ratio(votes[:, :1]), np.log(1000))
