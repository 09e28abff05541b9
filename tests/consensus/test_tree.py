"""Layers of a consensus: nested partitions, from one cluster to many."""

import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import mutual_info_score

import jointclust as jc
from jointclust.consensus import estimator, remote
from jointclust.consensus import tree as made
from jointclust.consensus.tree import Weighted, _joined
from jointclust.metrics import clustering_accuracy

OLD = Path(__file__).parents[1] / "models_0_1_0"


@pytest.fixture(scope="module")
def ten():
    """Ten blobs, in pairs."""
    X, y = make_blobs(600, centers=np.random.RandomState(0).uniform(-8, 8, (10, 12)), random_state=0)
    return X, y


@pytest.fixture(scope="module")
def coarse(ten):
    return jc.JointConsensus(5, trust=False, random_state=0).fit(ten[0])


def is_nested(layers):
    return all(
        np.unique(np.column_stack([fine["labels"], rough["labels"]]), axis=0).shape[0] == fine["n_clusters"]
        for rough, fine in pairwise(layers)
    )


def check(model, X):
    """What holds for the layers of every consensus, and its layers."""
    layers, own = model.layers_, model.soft_labels_.argmax(axis=1)
    assert [layer["n_clusters"] for layer in layers] == list(range(1, len(layers) + 1))
    assert is_nested(layers)
    for layer in layers:
        assert np.unique(layer["labels"]).tolist() == list(range(layer["n_clusters"]))
        assert -0.5 <= layer["agreement"] <= 1 + 1e-9
        np.testing.assert_array_equal(model.cut(layer["n_clusters"]), layer["labels"])
    result = np.unique(own).size
    for number in {1, result, (result + len(layers)) // 2, len(layers)}:
        np.testing.assert_array_equal(model.predict(X, n_clusters=number), model.cut(number))
    np.testing.assert_array_equal(model.cut(result), own)
    assert result <= len(layers) <= 4 * result
    return layers


def test_splits_find_what_was_joined(coarse, ten):
    layers = check(coarse, ten[0])
    assert clustering_accuracy(ten[1], coarse.cut(10)) == 1
    assert len(layers) == 20
    splits = [layer["split"] for layer in layers]
    assert splits[1:10] == ["supported"] * 9
    assert splits[15:] == ["doubtful"] * 5, "halves of a blob are no clusters"
    assert max(layers, key=lambda layer: layer["agreement"])["n_clusters"] >= 5


def test_joins_find_what_was_split(ten):
    X, y = (rows[ten[1] < 5] for rows in ten)
    fine = jc.JointConsensus(10, trust=False, random_state=0).fit(X)
    check(fine, X)
    assert clustering_accuracy(y, fine.cut(5)) > 0.97


def test_no_layer_of_that_number(coarse, ten):
    finest = len(coarse.layers_)
    for number in (0, -1, finest + 1, 2.5, "3", None, True, np.True_):
        with pytest.raises(ValueError, match=f"those of 1 to {finest}"):
            coarse.cut(number)
    with pytest.raises(ValueError, match="There is no layer"):
        coarse.predict(ten[0], n_clusters=finest + 1)
    with pytest.raises(NotFittedError):
        jc.JointConsensus(3).cut(2)
    with pytest.raises(NotFittedError):
        _ = jc.JointConsensus(3).layers_


def test_new_rows_go_where_their_neighbours_are(coarse, ten):
    X = ten[0]
    near = X + np.random.RandomState(1).normal(0, 0.05, X.shape)
    assert np.mean(coarse.predict(near, n_clusters=10) == coarse.cut(10)) > 0.99


def test_saved_before_and_after_they_are_asked_for(ten, tmp_path):
    X = ten[0][::2]
    fresh = jc.JointConsensus(5, trust=False, random_state=1).fit(X)
    copies = [pickle.loads(pickle.dumps(fresh))]
    jc.save(fresh, tmp_path / "fresh.skops")
    expected = [layer["labels"] for layer in fresh.layers_]
    jc.save(fresh, tmp_path / "asked.skops")
    copies += [jc.load(tmp_path / "fresh.skops"), jc.load(tmp_path / "asked.skops"), pickle.loads(pickle.dumps(fresh))]
    for copy in copies:
        for labels, layer in zip(expected, copy.layers_, strict=True):
            np.testing.assert_array_equal(layer["labels"], labels)
        np.testing.assert_array_equal(copy.predict(X, n_clusters=7), fresh.cut(7))
    small, large = ((tmp_path / f"{name}.skops").stat().st_size for name in ("fresh", "asked"))
    assert large < 1.1 * small


def test_a_second_fit_has_layers_of_its_own(ten):
    X, y = ten
    model = jc.JointConsensus(5, trust=False, random_state=0).fit(X)
    model.cut(2)
    model.set_params(n_clusters=3).fit(X[y < 3])
    assert check(model, X[y < 3])


def test_cut_never_rejects(ten):
    X, _ = ten
    model = jc.JointConsensus(5, trust=False, reject_below=0.9, random_state=0).fit(X)
    assert (model.labels_ == -1).any()
    check(model, X)


@pytest.mark.filterwarnings("ignore::jointclust.CollapseWarning")
def test_every_kind_of_consensus(ten):
    X, y = ten
    some = X[::3]
    weights = np.where(y[::3] == 0, 0.0, 1.0 + y[::3])
    check(jc.JointConsensus(4, trust=False, views=None, random_state=0).fit(some), some)
    check(jc.JointConsensus(4, trust=False, random_state=0).fit(some, sample_weight=weights), some)
    check(jc.JointConsensus(1, trust=False, random_state=0).fit(some), some)
    check(jc.JointConsensus(3, trust=False, random_state=0).fit(X[:5]), X[:5])
    check(jc.JointConsensus(2, trust=False, random_state=0).fit(np.ones((6, 3))), np.ones((6, 3)))
    members = [KMeans(4, n_init=1, random_state=seed) for seed in range(3)] + [KMeans(9, n_init=1)]
    check(jc.JointConsensus(4, trust=False, members=members, random_state=0).fit(some), some)
    alone = jc.JointConsensus(4, trust=False, views=None, members=[KMeans(4, n_init=3)], random_state=0).fit(some)
    assert len(check(alone, some)) == 4, "a member cannot split its own groups"
    assert alone.layers_[3]["agreement"] == pytest.approx(1)


def test_models_of_0_1_have_none():
    model = jc.load(OLD / "consensus.skops")
    for ask in (lambda: model.layers_, lambda: model.cut(2), lambda: model.predict(np.load(OLD / "rows.npy"), 2)):
        with pytest.raises(AttributeError, match=r"of version 0\.1"):
            ask()


def information(groups, shares, weights, labels):
    """The sum over members and rows of what a label tells of the group, for whole weights."""
    row = np.repeat(np.arange(len(labels)), weights)
    return weights.sum() * sum(
        share * mutual_info_score(labels[row], column[row]) for column, share in zip(groups.T, shares, strict=True)
    )


def test_each_join_loses_least(rng):
    n, k = 80, 7
    labels, weights, shares = np.arange(n) % k, rng.randint(1, 4, n), np.array([0.5, 0.3, 0.2])
    groups = np.column_stack([(labels // 2 + (rng.uniform(size=n) < 0.3)) % 4 for _ in shares])
    text = Weighted(groups, [4] * 3, weights.astype(float), shares)
    for join in _joined(text, labels, k):
        before = information(groups, shares, weights, labels)
        lost = {
            (a, b): before - information(groups, shares, weights, np.where(labels == b, a, labels))
            for a in np.unique(labels)
            for b in np.unique(labels)
            if a < b
        }
        assert join.lost == pytest.approx(min(lost.values()), abs=1e-9)
        assert lost[join[:2]] == pytest.approx(join.lost, abs=1e-9)
        labels = np.where(labels == join.second, join.first, labels)
    assert np.all(labels == 0)


def test_ties_are_no_matter_of_rounding(rng):
    groups, labels = rng.randint(0, 2, (60, 4)), np.arange(60) % 12
    once, again = (
        _joined(Weighted(groups, [2] * 4, weights / weights.sum(), np.full(4, 0.25)), labels, 12, least=0.1)
        for weights in (np.ones(60), np.full(60, 3.3))
    )
    assert [join[:2] for join in once] == [join[:2] for join in again]
    np.testing.assert_allclose([join.lost for join in once], [join.lost for join in again])


def test_agreement_is_the_adjusted_rand_index_with_the_members(coarse):
    groups = coarse.groups_of_members()
    for layer in coarse.layers_[1:]:
        expected = []
        for group in groups.T:
            table = np.zeros((layer["n_clusters"], group.max() + 1))
            np.add.at(table, (layer["labels"], group), 1)
            both, a, b = (np.sum(part**2) for part in (table, table.sum(axis=1), table.sum(axis=0)))
            chance = a * b / table.sum() ** 2
            expected.append((both - chance) / ((a + b) / 2 - chance))
        assert layer["agreement"] == pytest.approx(np.average(expected, weights=coarse._agreement.shares))
    assert coarse.layers_[0]["agreement"] == pytest.approx(0, abs=1e-12)


def test_linkage_is_a_tree_of_the_layers(coarse):
    layers, tree = coarse.layers_, coarse.linkage()
    n = len(layers)
    assert tree.shape == (n - 1, 4)
    assert tree[-1, 2:].tolist() == [pytest.approx(1), n]
    assert np.all(np.diff(tree[:, 2]) >= 0)
    rows = [set(np.flatnonzero(layers[-1]["labels"] == leaf)) for leaf in range(n)]
    for step, (first, second) in enumerate(tree[:, :2]):
        rows.append(rows[int(first)] | rows[int(second)])
        labels = layers[n - 2 - step]["labels"]
        assert rows[-1] == set(np.flatnonzero(labels == labels[min(rows[-1])]))
    np.testing.assert_allclose(coarse.linkage(4)[:, 2], tree[-3:, 2])
    assert coarse.linkage(1).shape == (0, 4)


def test_of_many_rows_a_sample_makes_the_tree_and_new_rows_keep_it(ten, monkeypatch):
    X, y = ten
    model = jc.JointConsensus(5, trust=False, random_state=0).fit(X)
    monkeypatch.setattr(made, "MOST_ROWS", len(model._patterns.codes) // 2)
    monkeypatch.setattr(estimator, "MOST_ROWS", len(model._patterns.codes) // 2)
    monkeypatch.setattr(estimator, "SAVED_ROWS", len(model._patterns.codes) // 2)
    check(model, X)
    assert clustering_accuracy(y, model.cut(10)) > 0.97
    saved = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(saved.predict(X, n_clusters=10), model.cut(10))
    np.testing.assert_array_equal(saved.linkage(), model.linkage())
    np.testing.assert_array_equal(saved.cut(10), model.cut(10))
    again = pickle.loads(pickle.dumps(saved))
    layer, own = again._at_layer(10, X), model._at_layer(10, X)
    np.testing.assert_array_equal(layer.labels_, model.cut(10))
    np.testing.assert_array_equal(layer.cut(10), layer.labels_)
    assert np.mean(layer.predict(X) == layer.labels_) > 0.99
    assert np.mean(np.abs(layer.confidence_ - own.confidence_)) < 0.1
    assert is_nested(layer.layers_)


def test_no_split_of_one_cloud_is_supported(rng):
    """A part is never more certain than the whole."""
    model = jc.JointConsensus(3, random_state=0).fit(rng.standard_normal((400, 6)))
    assert {layer["split"] for layer in model.layers_[1:]} == {"doubtful"}
    assert model.layers_[0]["split"] is None


@pytest.mark.parametrize("n_clusters", [4, 8])
def test_splits_of_sets_of_clusters_are_supported(n_clusters, rng):
    """The smaller two clusters join, and the larger two: one pair is above the other, the other pair side by side."""
    y = np.repeat(range(4), [45, 50, 70, 75])
    X = np.array([[0, 5], [0, -5], [5, 0], [15, 0]])[y] + 0.3 * rng.standard_normal((240, 2))
    layers = jc.JointConsensus(n_clusters, trust=False, random_state=0).fit(X).layers_
    np.testing.assert_array_equal(layers[1]["labels"] == layers[1]["labels"][0], y < 2)
    assert [layer["split"] for layer in layers[1:4]] == ["supported"] * 3
    assert {layer["split"] for layer in layers[6:]} == {"doubtful"}, "halves of a cluster are no clusters"


def test_a_layer_is_a_model(coarse, ten):
    """Its clusters are those of the cut, also of other rows; and it is saved like any other."""
    X = ten[0]
    for number in (3, 5, 13):
        layer = coarse._at_layer(number, X)
        np.testing.assert_array_equal(layer.labels_, coarse.cut(number))
        np.testing.assert_array_equal(layer.predict(X + 0.01), coarse.predict(X + 0.01, n_clusters=number))
        np.testing.assert_allclose(layer.predict_proba(X).sum(axis=1), 1)
        assert layer.cluster_centers_.shape[0] == layer.n_clusters == number
        check(layer, X)
    again = pickle.loads(pickle.dumps(layer))
    np.testing.assert_array_equal(again.predict(X), layer.labels_)
    assert len(jc.explain(coarse, X, n_clusters=13)) == 13


def test_where_codes_have_no_room_the_leaves_are_kept(ten, tmp_path, monkeypatch):
    X, _ = ten
    np.save(tmp_path / "rows.npy", X)
    there = np.load(tmp_path / "rows.npy", mmap_mode="r")
    usual = jc.JointConsensus(5, random_state=0).fit(there)
    monkeypatch.setattr(remote, "KEPT", 0)
    model = jc.JointConsensus(5, random_state=0).fit(there)
    for number in (2, 10):
        np.testing.assert_array_equal(model.cut(number), model.predict(X, n_clusters=number))
        assert clustering_accuracy(usual.cut(number), model.cut(number)) == 1
