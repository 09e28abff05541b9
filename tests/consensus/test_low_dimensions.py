"""Two and three columns have members of their own, chosen by what the density looks like."""

import numpy as np
import pytest

import jointclust as jc
from jointclust.consensus import projection
from jointclust.metrics import clustering_accuracy


def rings(rng, n=600, n_columns=2):
    """An outer ring of most rows, and an inner one."""
    which = (rng.uniform(size=n) < 0.15).astype(int)
    rows = rng.standard_normal((n, n_columns))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * np.where(which, 1.0, 3.0)[:, None] + 0.1 * rng.standard_normal((n, n_columns)), which


def overlapping(rng):
    """A large cluster and a small one, without a gap between them."""
    which = np.repeat([0, 1], [600, 60])
    return rng.standard_normal((660, 2)) + np.where(which, 3.7, 0.0)[:, None] * [1.0, 0.2], which


def moons(rng):
    """Two half moons, between which lie rows here and there."""
    which = np.repeat([0, 1], 400)
    angle = rng.uniform(0, np.pi, 800)
    arcs = np.column_stack([np.cos(angle), np.sin(angle)])
    arcs = np.where(which[:, None] == 1, np.array([1.0, 0.5]) - arcs, arcs)
    return arcs + 0.14 * rng.standard_normal((800, 2)), which


def stripes(rng, n=600):
    """Three stripes of equal sizes."""
    which = np.arange(n) % 3
    rows = np.column_stack([rng.uniform(0, 6, n), which + rng.uniform(0, 0.7, n)])
    return rows, which


@pytest.mark.parametrize(
    ("made", "kind", "accuracy"),
    [(rings, "gaps", 0.99), (overlapping, "Gaussian mixture", 0.97), (moons, "spanning tree", 0.95)],
)
def test_shapes_are_found_and_predicted(made, kind, accuracy, rng):
    X, which = made(rng)
    n_clusters = which.max() + 1
    model = jc.JointConsensus(n_clusters, random_state=0).fit(X)
    assert model.members_[0].kind.startswith(kind)
    assert clustering_accuracy(which, model.labels_) > accuracy
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.members_[0].predict(model.prepared(X)[0]), model.members_[0].labels)
    more, others = made(rng)
    assert clustering_accuracy(others, model.predict(more)) > accuracy - 0.02
    finer = model.groups_of_members()[:, 1:4]
    for member in finer.T:  # a finer member splits clusters
        assert (
            np.unique(np.column_stack([member, model.groups_of_members()[:, 0]]), axis=0).shape[0] == member.max() + 1
        )


def test_the_number_of_columns_alone_chooses(rng):
    X = rings(rng, 300)[0]
    wide = np.column_stack([X, np.zeros((300, 2))]) + 0.01 * rng.standard_normal((300, 4))
    space, inside = rings(rng, 500, 3)
    four, three = (jc.JointConsensus(2, views=None, random_state=0).fit(rows) for rows in (wide, space))
    assert any(member.kind.startswith("LDA k-means") for member in four.members_)
    assert not any(member.kind.startswith("LDA k-means") for member in three.members_)
    assert clustering_accuracy(inside, three.labels_) > 0.99


def test_units_decide_on_the_view(rng):
    X, which = rings(rng)
    (view,) = jc.describe(X).views
    assert view == "as is"
    other = X * [1, 1000]
    assert jc.describe(other).views == ["standardised"]
    assert "factor of" in jc.describe(other).reasons[0]
    assert clustering_accuracy(which, jc.JointConsensus(2, random_state=0).fit(other).labels_) > 0.99


def test_some_of_many_rows_stand_for_all(rng, monkeypatch):
    monkeypatch.setattr(projection, "LANDMARKS", 400)
    X, which = rings(rng, 1_000)
    model = jc.JointConsensus(2, random_state=0).fit(X)
    assert model._agreement.panel.projections[0].landmarks.shape == (400, 2)
    assert clustering_accuracy(which, model.labels_) > 0.99


def test_a_weight_is_a_repetition(rng):
    X, _ = stripes(rng, 150)
    weights = rng.randint(0, 3, 150)
    weighted = jc.JointConsensus(3, random_state=0).fit(X, sample_weight=weights)
    repeated = jc.JointConsensus(3, random_state=0).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_array_equal(np.repeat(weighted.labels_, weights), repeated.labels_)


def test_known_labels_lead(rng):
    """Two of three stripes are known to be one class: the third is the other."""
    X, which = stripes(rng)
    known = np.full(600, -1)
    known[:60] = which[:60] > 0
    model = jc.JointConsensus(2, random_state=0).fit(X, known_labels=known)
    assert clustering_accuracy(which > 0, model.labels_) > 0.99
    np.testing.assert_array_equal(model.labels_[:60], known[:60])


@pytest.mark.parametrize("n_clusters", [1, 7, 30])
def test_few_rows_for_many_clusters(n_clusters, rng):
    X = np.round(rng.standard_normal((60, 2)), 1)
    model = jc.JointConsensus(n_clusters, random_state=0).fit(X)
    assert np.unique(model.labels_).size == n_clusters
    line = jc.JointConsensus(min(n_clusters, 20), views=None, random_state=0).fit(X[:, :1] * [1, 2])
    assert np.unique(line.labels_).size == min(n_clusters, 20)


def test_steps_between_values_are_no_gaps(rng):
    """A column of two values that goes with the clusters, and does not decide on them."""
    which = np.arange(400) % 2
    often = rng.uniform(size=400) < 0.2 + 0.6 * which
    X = np.column_stack([often, 3 * which + rng.standard_normal(400), 3 * which + rng.standard_normal(400)])
    model = jc.JointConsensus(2, random_state=0).fit(X)
    assert clustering_accuracy(which, model.labels_) > 0.95
    assert all(column["used"] for column in model.columns_)
