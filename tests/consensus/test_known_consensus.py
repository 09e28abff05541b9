"""A consensus with some labels known, groups that belong together, and rows to ask about."""

from itertools import pairwise

import dask.array as da
import numpy as np
import pytest
import sklearn
import torch
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jointclust as jc
from jointclust.consensus import estimator, views
from jointclust.consensus.known_labels import Examples, rules_of
from jointclust.consensus.partitions import Partitions, spread_labels
from jointclust.rows.arrays import to_host

X, Y = jc.datasets.mixture(240, 12, 4, separation=5, n_nuisance=2, nuisance_scale=2, random_state=0)
NAMES = np.array(["d", "c", "b", "a"])[Y]  # in another order than the numbers
FEW = np.where((np.arange(240) % 12 == 0) & (NAMES != "c"), NAMES, None)
FEW[np.flatnonzero(NAMES == "c")[0]] = "b"  # wrong, and still kept
KNOWN = FEW != None  # noqa: E711
CLASSES = ["a", "b", "d"]
GROUPS = 60 * Y + np.random.RandomState(0).randint(20, size=240)
PLACES = {"memory": np.asarray, "dask": lambda rows: da.from_array(rows, chunks=(70, -1)), "torch": torch.tensor}


def consensus(**options):
    return jc.JointConsensus(4, trust=False, random_state=0, effort="quick", **options)


def numbers(names):
    return np.array([CLASSES.index(name) for name in names])


def check_nested(model):
    """Every layer joins clusters of the next; the one of as many clusters is the labels."""
    np.testing.assert_array_equal(to_host(model.cut(4)), to_host(model.labels_))
    for coarse, fine in pairwise(to_host(layer["labels"]) for layer in model.layers_):
        assert len(set(zip(coarse, fine, strict=True))) == len(set(fine))


@pytest.fixture(scope="module")
def fitted():
    return {place: consensus().fit(there(X), known_labels=FEW) for place, there in PLACES.items()}


@pytest.mark.parametrize("place", PLACES)
def test_known_rows_keep_their_label(fitted, place):
    model = fitted[place]
    labels = to_host(model.labels_)
    assert model.classes_.tolist() == CLASSES
    np.testing.assert_array_equal(labels[KNOWN], numbers(FEW[KNOWN]))
    predicted, soft = to_host(model.predict(PLACES[place](X))), to_host(model.soft_labels_)
    assert (labels == predicted)[~KNOWN].all()
    assert (labels != predicted)[KNOWN].any()  # nobody knows them when they predict
    np.testing.assert_array_equal(soft[KNOWN], np.eye(4)[numbers(FEW[KNOWN])])
    np.testing.assert_array_equal(to_host(model.confidence_)[KNOWN], 1.0)
    # Three classes by name, and the one that nobody named is a cluster by itself.
    for number, name in enumerate([*CLASSES, "c"]):
        assert np.mean(labels[name == NAMES] == number) > 0.9
    check_nested(model)


def test_nothing_known_changes_nothing():
    plain = consensus().fit(X)
    assert not hasattr(plain, "classes_")
    for given in ({"known_labels": np.full(240, -1)}, {"known_labels": [None] * 240, "groups": np.arange(240)}):
        model = consensus().fit(X, **given)
        np.testing.assert_array_equal(model.soft_labels_, plain.soft_labels_)
        np.testing.assert_array_equal(model.cluster_centers_, plain.cluster_centers_)
        np.testing.assert_array_equal(model.rows_to_label(9), plain.rows_to_label(9))


@pytest.mark.parametrize("place", ["memory", "torch"])
def test_groups_have_the_label_with_most_of_their_votes(place):
    known, weights = np.full(240, None), np.random.RandomState(1).uniform(0.5, 2, size=240)
    known[0] = "first"
    rows = PLACES[place](X)
    model = consensus().fit(rows, sample_weight=weights, known_labels=known, groups=GROUPS)
    labels, votes = to_host(model.labels_), to_host(model.predict_proba(rows))
    for group in np.unique(GROUPS):
        own = group == GROUPS
        expected = 0 if own[0] else np.argmax(weights[own] @ votes[own])
        np.testing.assert_array_equal(labels[own], expected)
    check_nested(model)
    for layer in model.layers_:
        labels = to_host(layer["labels"])
        assert len(set(zip(GROUPS, labels, strict=True))) == np.unique(GROUPS).size, "a group was split"
        assert place != "memory" or set(labels) == set(range(layer["n_clusters"]))
    np.testing.assert_array_equal(to_host(model.confidence_ == 1.0), GROUPS[0] == GROUPS)
    assert not set(model.rows_to_label(20)) & set(np.flatnonzero(GROUPS[0] == GROUPS))


@pytest.mark.parametrize("options", [{"views": None}, {"members": [jc.LDAKMeans(4), jc.DisCluster(4)]}])
def test_other_members(options):
    model = jc.JointConsensus(4, trust=False, random_state=0, **options).fit(X, known_labels=FEW, groups=GROUPS)
    np.testing.assert_array_equal(model.labels_[KNOWN], numbers(FEW[KNOWN]))
    check_nested(model)


def test_more_rows_than_are_fitted(monkeypatch):
    """The known rows are in every sample, and a row that nobody knows is in none of them."""
    monkeypatch.setattr(views, "MOST_ROWS", 100)
    known = np.where(np.isin(np.arange(240), [0, 1, 2, 50, 239]), NAMES, None)
    for there in PLACES.values():
        model = jc.JointConsensus(4, trust=False, random_state=0).fit(there(X), known_labels=known)
        names = np.append(model.classes_, "other")[to_host(model.labels_)]
        assert (names == known)[[0, 1, 2, 50, 239]].all()
        assert to_host(model.labels_).size == 240


def test_known_rows_are_never_rejected():
    model = consensus(reject_below=1.0).fit(X, known_labels=FEW)
    np.testing.assert_array_equal(model.labels_ >= 0, KNOWN)


def test_all_known_and_one_class():
    everything = consensus().fit(X, known_labels=NAMES)
    np.testing.assert_array_equal(everything.classes_[everything.labels_], NAMES)
    with pytest.raises(ValueError, match=r"n=1 exceeds the number of rows whose label is not known \(0\)"):
        everything.rows_to_label(1)
    one = consensus().fit(X, known_labels=np.where(Y == 2, 2, -1))
    assert one.classes_.tolist() == [2]
    assert jc.metrics.clustering_accuracy(Y, one.labels_) > 0.9
    assert (
        jc.JointConsensus(1, trust=False, random_state=0).fit(X, known_labels=np.where(Y == 2, 2, -1)).labels_.max()
        == 0
    )


def test_a_class_of_absent_rows_is_none():
    weights = (Y != 3).astype(float)
    model = jc.JointConsensus(3, trust=False, random_state=0, effort="quick").fit(
        X, sample_weight=weights, known_labels=NAMES
    )
    assert model.classes_.tolist() == sorted(set(NAMES[Y != 3]))
    np.testing.assert_array_equal(model.classes_[model.labels_][Y != 3], NAMES[Y != 3])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"known_labels": FEW[:100]}, r"known_labels must have shape \(240,\).*got \(100,\)"),
        ({"known_labels": np.arange(240) % 5}, "5 classes, more than n_clusters=4"),
        ({"known_labels": [1, "a"] * 120}, "mixes values of types int, str"),
        ({"groups": GROUPS[:9]}, r"groups must have shape \(240,\)"),
        ({"known_labels": NAMES, "groups": np.arange(240) % 7}, "different known labels"),
    ],
)
def test_impossible_labels_and_groups(given, message):
    for place in PLACES.values():
        with pytest.raises((ValueError, TypeError), match=f"{message}|groups are for rows in memory"):
            consensus().fit(place(X), **given)


def test_pipelines_and_searches_route_known_labels():
    with sklearn.config_context(enable_metadata_routing=True):
        last = consensus().set_fit_request(known_labels=True, groups=True)
        labels = make_pipeline(StandardScaler(), last).fit_predict(X, known_labels=FEW, groups=GROUPS)
        assert (labels[KNOWN] == numbers(FEW[KNOWN])).all()
        search = jc.LabelFreeSearch([(jc.LDAKMeans(4), {}), (consensus(), {"effort": ["quick"]})], random_state=0)
        search.set_fit_request(known_labels=True)
        labels = make_pipeline(StandardScaler(), search).fit(X, known_labels=FEW)[-1].labels_
        assert (labels[KNOWN] == numbers(FEW[KNOWN])).all()
    with pytest.raises(TypeError, match="known_labels in a search are for rows in memory"):
        jc.LabelFreeSearch(jc.LDAKMeans(4)).fit(torch.tensor(X), known_labels=FEW)


# -- how labels spread ------------------------------------------------------------------------------------------------


def test_labels_spread_to_the_fixed_point(rng):
    groups = np.column_stack([rng.randint(size, size=50) for size in (3, 5)])
    labels = np.where(np.arange(50) < 7, np.arange(50) % 3, -1)
    weights = rng.randint(1, 4, size=50)
    text = Partitions(groups, [3, 5], weights.astype(float), np.array([0.3, 0.7]))
    together = [(column[:, None] == column) * weights for column in groups.T]
    averaging = sum(w * one / one.sum(axis=1, keepdims=True) for w, one in zip(text.shares, together, strict=True))
    onehot = np.eye(3)[labels] * (labels >= 0)[:, None]
    expected = np.linalg.solve(np.eye(50) - 0.3 * averaging, onehot / (weights @ onehot))
    np.testing.assert_allclose(spread_labels(text, labels, 3), expected, atol=1e-8)
    twice = Partitions(np.repeat(groups, weights, axis=0), [3, 5], None, text.shares)
    result = spread_labels(twice, np.repeat(labels, weights), 3)
    np.testing.assert_allclose(result, np.repeat(expected, weights, axis=0), atol=1e-8)


def test_examples_are_left_out_with_their_groups():
    known = np.array([0, 0, 0, 1, 1, 1, 2, -1])
    groups = np.array([0, 0, 1, 2, 3, 4, 5, 6])
    examples = Examples.of(known, None, groups)
    assert examples.n_per_class == 2
    assert examples.part[0] == examples.part[1] != examples.part[2]
    assert examples.part[6] == -1
    for part in (0, 1):
        assert set(examples.without(part).labels) == {0, 1, 2}
    assert Examples.of(known, (known != 1).astype(float), None).labels.tolist() == [0, 0, 0, 2]


def test_rules_count_by_what_they_tell(rng):
    """Where members see nothing, a rule that is right has most of the weight, one that sees nothing has little."""
    model = consensus().fit(X)
    known = np.where(np.arange(240) % 4 == 0, Y, -1).astype(np.int32)
    examples = Examples.of(known, None, None)
    view = model._agreement.panel.projections[0]
    Z = view.project(model.prepared(X)[0][examples.rows]).leading
    blind = Partitions.of(rng.randint(4, size=(240, 3)), [4] * 3, None)
    rules, (good, bad) = rules_of(examples, blind, [(view, Z), (view, rng.normal(size=Z.shape))])
    assert good > 1 > bad
    assert np.mean(rules[0].predict(model.prepared(X)[0]) == Y) > 0.9
    assert rules_of(Examples.of(np.zeros(240, np.int32), None, None), blind, [(view, Z)]) == ([], [])


# -- rows to ask about ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
def test_rows_to_label_are_new(fitted, place):
    rows = fitted[place].rows_to_label(12)
    assert len(set(rows)) == 12
    assert not KNOWN[rows].any()
    np.testing.assert_array_equal(rows[:5], fitted[place].rows_to_label(5))  # best first


def test_rows_to_label_are_spread():
    model = consensus().fit(X)
    assert set(Y[model.rows_to_label(4)]) == {0, 1, 2, 3}
    # The next ones are as if the first had been labelled: a row of each group of rows that are alike in all members.
    groups = model.groups_of_members()
    patterns = len(np.unique(groups, axis=0))
    assert len(np.unique(groups[model.rows_to_label(patterns)], axis=0)) == patterns


@pytest.mark.parametrize("n", [0, -1, 2.5, "3", True])
def test_rows_to_label_wants_a_number(fitted, n):
    with pytest.raises(ValueError, match="whole number of rows"):
        fitted["memory"].rows_to_label(n)


def test_saved_models_answer(fitted, tmp_path, monkeypatch):
    model = fitted["memory"]
    jc.save(model, tmp_path / "model")
    loaded = jc.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.rows_to_label(7), model.rows_to_label(7))
    np.testing.assert_array_equal(loaded.cut(4), model.labels_)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    monkeypatch.setattr(estimator, "SAVED_ROWS", 100)
    jc.save(model, tmp_path / "model")
    with pytest.raises(AttributeError, match="the 240 training rows were not kept"):
        jc.load(tmp_path / "model").rows_to_label(7)
