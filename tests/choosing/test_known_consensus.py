"""A consensus with some labels known, groups that belong together, and rows to ask about."""

from itertools import pairwise

import dask.array as da
import numpy as np
import pytest
import torch

import jointclust as jc
from jointclust.rows.arrays import to_host

X, Y = jc.datasets.mixture(240, 12, 4, separation=5, n_nuisance=2, nuisance_scale=2, random_state=0)
NAMES = np.array(["d", "c", "b", "a"])[Y]  # in another order than the numbers
FEW = np.where((np.arange(240) % 12 == 0) & (NAMES != "c"), NAMES, None)
FEW[np.flatnonzero(NAMES == "c")[0]] = "b"  # wrong, and still kept
KNOWN = FEW != None  # noqa: E711
CLASSES = ["a", "b", "d"]
GROUPS = 60 * Y + np.random.RandomState(0).randint(20, size=240)
PLACES = {"memory": np.asarray, "dask": lambda rows: da.from_array(rows, chunks=(70, -1)), "torch": torch.tensor}
every_place = pytest.mark.parametrize("place", PLACES)


def consensus(**options):
    return jc.JointConsensus(4, random_state=0, effort="quick", **options)


def numbers(names):
    return np.array([CLASSES.index(name) for name in names])


@every_place
def test_known_rows_keep_their_label(place):
    model = consensus().fit(PLACES[place](X), known_labels=FEW)
    labels = to_host(model.labels_)
    assert model.classes_.tolist() == CLASSES
    np.testing.assert_array_equal(labels[KNOWN], numbers(FEW[KNOWN]))
    assert set(labels) == {0, 1, 2, 3}
    predicted, soft = to_host(model.predict(PLACES[place](X))), to_host(model.soft_labels_)
    assert (labels == predicted)[~KNOWN].all()
    assert (labels != predicted)[KNOWN].any()
    np.testing.assert_array_equal(soft[KNOWN], np.eye(4)[numbers(FEW[KNOWN])])
    np.testing.assert_array_equal(to_host(model.confidence_)[KNOWN], 1.0)


@every_place
def test_groups_have_one_label(place):
    known = np.full(240, None)
    known[0] = "first"
    model = consensus().fit(PLACES["torch" if place == "torch" else "memory"](X), known_labels=known, groups=GROUPS)
    labels = to_host(model.labels_)
    assert all(np.unique(labels[group == GROUPS]).size == 1 for group in np.unique(GROUPS))
    assert (labels[GROUPS[0] == GROUPS] == 0).all()
    np.testing.assert_array_equal(to_host(model.cut(4)), labels)


@every_place
def test_layers_stay_nested(place):
    model = consensus().fit(PLACES[place](X), known_labels=FEW)
    layers = [to_host(layer["labels"]) for layer in model.layers_]
    np.testing.assert_array_equal(to_host(model.cut(4)), to_host(model.labels_))
    for coarse, fine in pairwise(layers):
        assert len(set(zip(coarse, fine, strict=True))) == len(set(fine))


@every_place
def test_rows_to_label_are_new_and_spread(place):
    model = consensus().fit(PLACES[place](X), known_labels=FEW)
    rows = model.rows_to_label(12)
    assert len(set(rows)) == 12
    assert not KNOWN[rows].any()
    assert set(Y[consensus().fit(X).rows_to_label(8)]) == {0, 1, 2, 3}


def test_saved_models_answer(tmp_path):
    model = consensus().fit(X, known_labels=FEW)
    jc.save(model, tmp_path / "model")
    loaded = jc.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.rows_to_label(7), model.rows_to_label(7))
    np.testing.assert_array_equal(loaded.cut(4), model.labels_)
