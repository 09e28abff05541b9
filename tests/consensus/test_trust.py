"""How far clusters can be trusted: by the judge, and by what refits on other rows find again."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score, jaccard_score

import jointclust as jc
from jointclust.consensus.reproducibility import Repeats, halves
from jointclust.judge.number import ClusterNumber

Consensus = jc.JointConsensus


@pytest.fixture(scope="module")
def clear():
    rng = np.random.RandomState(0)
    y = rng.permutation(np.repeat([0, 1, 2], [120, 80, 40]))
    return 5 * rng.standard_normal((3, 6))[y] + rng.standard_normal((240, 6)), y


@pytest.fixture(scope="module")
def model(clear):
    return Consensus(3, random_state=0).fit(clear[0])


# -- by the judge --------------------------------------------------------------------------------------------------


def test_every_fit_says_how_sure_it_is(clear, model):
    X, y = clear
    assert adjusted_rand_score(y, model.labels_) == 1
    assert 0.5 < model.predicted_agreement_ <= 1
    assert f"predicted agreement {model.predicted_agreement_:.2f}" in str(model.verdict_)
    assert model.confidence_.mean() > 0.9
    np.testing.assert_allclose(model.confidence(X), model.confidence_)
    assert model.score(X) == pytest.approx(model.predicted_agreement_, abs=1e-6)
    assert model.n_clusters_ == 3


def test_worse_clusters_are_expected_to_agree_less(clear, model):
    X, _ = clear
    many = Consensus(12, effort="quick", random_state=0).fit(X)
    assert many.predicted_agreement_ < model.predicted_agreement_ - 0.2
    assert many.confidence_.mean() < model.confidence_.mean()
    noise = np.random.RandomState(0).standard_normal((240, 6))
    assert model.score(noise) < model.score(X)


def test_what_the_data_say_of_the_number_is_known_of_a_given_number_too(clear, model):
    """It is looked at when it is read, which changes nothing else."""
    X, _ = clear
    two = Consensus(2, effort="quick", random_state=0).fit(X)
    before = two.verdict_
    number = two.number_
    assert isinstance(number, ClusterNumber)
    assert number is two.number_
    assert number.scores == pytest.approx(jc.number_of_clusters(X).scores, abs=1e-6)
    assert number.scores == pytest.approx(model.number_.scores, abs=1e-6)
    assert two.verdict_ == before
    two.fit(np.random.RandomState(0).standard_normal((100, 3)))
    assert two.number_.scores != number.scores, "a fit leaves nothing of the one before"


def test_a_chosen_number_is_part_of_the_verdict(clear):
    X, _ = clear
    chosen = jc.cluster(X, (2, 3), random_state=0)
    given = jc.cluster(X, chosen.n_clusters, random_state=0)
    assert chosen.number_.scores.keys() == {2, 3}
    assert chosen.number_.at_edge
    assert any("edge of the range" in reason for reason in chosen.verdict_.reasons)
    assert not any("edge of the range" in reason for reason in given.verdict_.reasons)
    assert chosen.predicted_agreement_ == given.predicted_agreement_


@pytest.mark.parametrize("drawn", ["clusters", "uniform", "two columns", "frame of coins"])
def test_has_structure_is_the_same_with_and_without_the_number(drawn, clear, rng):
    X = {
        "clusters": lambda: clear[0],
        "uniform": lambda: rng.uniform(size=(200, 4)),
        "two columns": lambda: rng.uniform(size=(200, 2)),
        "frame of coins": lambda: rng.binomial(1, 0.4, (200, 8)) * 1.0,
    }[drawn]()
    free = jc.number_of_clusters(X)
    chosen = jc.cluster(X, (2, 6), random_state=0)
    given = Consensus(2, effort="quick", random_state=0).fit(X)
    assert free.has_structure == chosen.number_.has_structure == given.number_.has_structure
    for model in (chosen, given):
        assert model._judgement.has_structure == free.has_structure
        says_none = any(reason.startswith("Rows without clusters") for reason in model.verdict_.reasons)
        assert says_none == (not free.has_structure)


@pytest.mark.parametrize("drawn", ["standard_normal", "uniform", "binomial"])
@pytest.mark.parametrize(("n_clusters", "n_columns"), [(5, 12), (2, 2)])
def test_no_structure_is_said_whatever_it_is_cut_into(drawn, n_clusters, n_columns, rng):
    draw = {"uniform": rng.uniform, "standard_normal": rng.standard_normal}
    shape = 300, n_columns
    X = rng.binomial(1, 0.4, shape) * 1.0 if drawn == "binomial" else draw[drawn](size=shape)
    assert Consensus(n_clusters, effort="quick", random_state=0).fit(X).verdict_.level == "not sure"


def test_layers_have_a_verdict_of_their_own(clear, model):
    """Of the layer as it is, not of the fit that it was cut from, nor of the number that was chosen there."""
    X, _ = clear
    chosen = jc.cluster(X, (2, 3), random_state=0)
    layer = chosen._at_layer(2, X)
    assert layer.predicted_agreement_ == pytest.approx(chosen.layers_[1]["predicted_agreement"], abs=1e-6)
    assert layer.predicted_agreement_ != chosen.predicted_agreement_
    assert not any("edge of the range" in reason for reason in layer.verdict_.reasons)
    assert layer.number_.scores == pytest.approx(model.number_.scores, abs=1e-6)
    assert not hasattr(layer, "reproducibility_")


def test_splits_are_supported_as_far_as_the_data_show_clusters(model):
    layers = model.layers_
    assert [(layer["predicted_agreement"], layer["split"]) for layer in layers[:1]] == [(None, None)]
    assert layers[2]["predicted_agreement"] == pytest.approx(model.predicted_agreement_, abs=1e-6)
    assert layers[2]["split"] == "supported"
    assert layers[5]["split"] == "doubtful"
    for place in range(2, len(layers)):
        best = max(layer["predicted_agreement"] for layer in layers[1:place])
        is_supported = layers[place]["predicted_agreement"] >= best - 0.02
        assert layers[place]["split"] == ("supported" if is_supported else "doubtful")


def test_where_nothing_is_apart_no_split_is_supported(rng):
    model = Consensus(3, effort="quick", random_state=0).fit(rng.uniform(size=(200, 4)))
    assert {layer["split"] for layer in model.layers_[1:]} == {"doubtful"}


def test_what_was_measured_is_saved(clear, tmp_path):
    X, _ = clear
    model = Consensus(3, effort="quick", trust=True, random_state=0).fit(X)
    number = model.number_
    jc.save(model, tmp_path / "model.skops")
    loaded = jc.load(tmp_path / "model.skops")
    assert loaded.verdict_ == model.verdict_
    assert loaded.predicted_agreement_ == model.predicted_agreement_
    assert loaded.number_.scores == pytest.approx(number.scores)
    assert loaded.score(X) == pytest.approx(model.score(X))
    np.testing.assert_array_equal(loaded.cluster_reproducibility_, model.cluster_reproducibility_)
    np.testing.assert_array_equal(loaded.confidence(X), model.confidence(X))


@pytest.mark.parametrize("kind", ["counts", "texts", "blocks", "file", "dask"])
def test_rows_of_all_kinds_and_places_are_judged(kind, clear, tmp_path, rng):
    X, y = clear
    words = np.array([["cat", "dog", "cow", "hen"], ["car", "bus", "van", "cab"], ["tea", "pie", "jam", "rye"]])
    rows = X
    if kind == "counts":
        rows = sp.csr_array(rng.poisson(np.where(np.arange(30) % 3 == y[:, None], 4.0, 0.3)))
    elif kind == "texts":
        rows = [" ".join(rng.choice(words[k], 12)) for k in y]
    elif kind == "blocks":
        rows = {"first": X, "second": X @ rng.standard_normal((6, 5))}
    elif kind == "file":
        np.save(tmp_path / "rows.npy", X)
        rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    elif kind == "dask":
        rows = da.from_array(X, chunks=(60, -1))
    model = Consensus(3, effort="quick", random_state=0).fit(rows)
    assert 0 < model.predicted_agreement_ <= 1
    assert model.verdict_.level in ("sure", "fairly sure", "not sure")
    assert isinstance(model.number_, ClusterNumber)
    assert max(model.number_.scores.values()) <= 1
    assert model._judgement.found.shape == (3,)
    if kind not in ("file", "dask"):
        assert 0 < model.score(rows) <= 1


def test_few_rows_and_equal_rows(rng):
    """What cannot be measured is not there, and is no ground to be sure."""
    few = Consensus(3, trust=True, random_state=0).fit(rng.standard_normal((5, 2)))
    with pytest.warns(jc.CollapseWarning):
        equal = Consensus(2, trust=True, random_state=0).fit(np.ones((20, 2)))
    for model in (few, equal):
        assert not hasattr(model, "reproducibility_")
        assert model.verdict_.level == "not sure"
        assert np.isfinite(model.confidence_).all()
    assert not hasattr(equal, "predicted_agreement_")
    with pytest.raises(AttributeError, match="predicted_agreement_ is not known: all rows are equal"):
        _ = equal.predicted_agreement_
    for model in (few, equal):
        assert not hasattr(model, "number_")
        with pytest.raises(AttributeError, match="number_ is not known: .* rows are too few to choose the number"):
            _ = model.number_


def test_two_distinct_rows_one_column_and_a_thousand_clusters(rng):
    two = Consensus(2, effort="quick", random_state=0).fit(np.repeat([[0.0, 0.0], [1.0, 1.0]], 30, axis=0))
    assert np.unique(two.labels_).size == 2
    column = Consensus(2, effort="quick", random_state=0).fit(rng.standard_normal((100, 1)))
    many = Consensus(1000, effort="quick", random_state=0).fit(rng.standard_normal((1500, 3)))
    for model in (two, column, many):
        assert 0 <= model.predicted_agreement_ <= 1
        assert np.isfinite(model.confidence_).all()
    assert column.verdict_.level == many.verdict_.level == "not sure"


def test_a_far_cluster_is_trusted_and_a_far_row_is_not(rng):
    X = 4 * rng.standard_normal((3, 6))[rng.randint(3, size=400)] + rng.standard_normal((400, 6))
    cluster = 2.5 * rng.standard_normal((80, 6)) + np.r_[60, np.zeros(5)]
    alone = 40 * np.eye(6)[1:5]
    model = Consensus(4, effort="quick", random_state=0).fit(np.vstack([X, cluster, alone]))
    limit = np.quantile(model.confidence_, 0.05)
    assert model.confidence_[-4:].max() <= limit
    assert model.confidence_[400:480].mean() > 0.75
    assert np.mean(model.confidence_[400:480] <= limit) < 0.2


# -- by refits -----------------------------------------------------------------------------------------------------


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


def test_refits_are_made_when_asked_for_and_change_nothing_else(clear, model):
    X, _ = clear
    trusted = Consensus(3, trust=True, random_state=0).fit(X)
    np.testing.assert_array_equal(trusted.labels_, model.labels_)
    np.testing.assert_array_equal(trusted.soft_labels_, model.soft_labels_)
    np.testing.assert_array_equal(trusted.confidence_, model.confidence_)
    assert trusted.predicted_agreement_ == model.predicted_agreement_
    assert trusted.reproducibility_ > 0.95
    assert trusted.cluster_reproducibility_.min() > 0.9
    assert any(reason.startswith("Refits on other rows find the same") for reason in trusted.verdict_.reasons)
    assert not any(reason.startswith("Refits") for reason in model.verdict_.reasons)
    for name in ("reproducibility_", "cluster_reproducibility_"):
        with pytest.raises(AttributeError, match=f"{name} was not measured.*trust=True"):
            getattr(model, name)


def test_refits_find_clusters_as_the_fit_does(rng):
    """In two columns the members vote on the partition of the first; a small cluster is found again in halves."""
    y = np.repeat([0, 1], [400, 40])
    X = np.array([[0, 0], [6, 3]])[y] + rng.standard_normal((440, 2))
    model = Consensus(2, trust=True, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert model.reproducibility_ > 0.9


def test_refits_have_the_members_that_suit_all_columns():
    """Four columns, of which two carry nearly all variance: the usual members, in the refits too."""
    iris = jc.datasets.load("iris").data
    assert Consensus(3, trust=True, random_state=0).fit(iris).reproducibility_ > 0.8


def test_known_labels(clear):
    X, y = clear
    known = np.where(np.arange(240) % 8 == 0, y, -1)
    model = Consensus(3, effort="quick", trust=True, random_state=0).fit(X, known_labels=known)
    assert model.reproducibility_ > 0.95
    np.testing.assert_array_equal(model.confidence_[known >= 0], 1.0)
