"""Consensus: what many members agree on."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jointclust as jc
from jointclust.consensus.partitions import Partitions, leading_directions
from jointclust.metrics import clustering_accuracy

Consensus = partial(jc.JointConsensus, trust=False)


@pytest.fixture(scope="module")
def fitted(digits):
    return Consensus(10, random_state=0).fit(digits.data)


def test_better_than_its_members_on_digits(fitted, digits):
    accuracy = clustering_accuracy(digits.target, fitted.labels_)
    seen = fitted.prepared(digits.data)
    same = [m for m in zip(fitted.members_, fitted._agreement.panel.views, strict=True) if m[0].n_clusters == 10]
    assert accuracy > np.mean([clustering_accuracy(digits.target, m.predict(seen[view])) for m, view in same]) + 0.05
    plain = KMeans(10, n_init=10, random_state=0).fit(digits.data)
    assert accuracy > clustering_accuracy(digits.target, plain.labels_) + 0.05


def test_what_it_publishes(fitted, digits):
    X, P = digits.data, fitted.soft_labels_
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert P.min() >= 0
    np.testing.assert_array_equal(P.argmax(axis=1), fitted.labels_)
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    np.testing.assert_allclose(fitted.predict_proba(X), P)
    np.testing.assert_allclose(fitted.objective_, P.max(axis=1).mean())
    np.testing.assert_allclose(fitted.confidence(X), fitted.confidence_)
    assert 0 < fitted.agreement_ < 1
    assert fitted.agreement_matrix_.shape == (len(fitted.members_),) * 2
    assert np.all(np.diff(np.bincount(fitted.labels_)) <= 0)  # numbered by size
    Y = fitted.transform(X)
    assert Y.shape == (1797, 9)
    np.testing.assert_allclose(
        fitted.cluster_centers_, [Y[fitted.labels_ == k].mean(axis=0) for k in range(10)], atol=1e-9
    )


def test_confidence_tells_good_rows_from_bad(fitted, digits):
    sure = fitted.confidence_ >= np.median(fitted.confidence_)
    # one matching for all rows, then the share of hits in each half
    table = np.zeros((10, 10))
    np.add.at(table, (fitted.labels_, digits.target), 1)
    hit = table.argmax(axis=1)[fitted.labels_] == digits.target
    assert hit[sure].mean() > hit[~sure].mean() + 0.1


def test_embedding_is_that_of_the_mean_projection(rng):
    torch = pytest.importorskip("torch")
    groups, shares = rng.randint(0, 4, (50, 5)), np.array([0.1, 0.3, 0.2, 0.2, 0.2])
    for weights in (None, rng.randint(1, 4, 50).astype(float)):
        partitions = Partitions(groups, [4] * 5, weights, shares)
        B = partitions.stacked(partitions.scales())
        w = np.ones(50) if weights is None else weights
        mean = np.zeros((50, 50))
        for group, share in zip(groups.T, shares, strict=True):
            F = np.sqrt(w)[:, None] * np.eye(4)[group]
            mean += share * F @ np.diag(1 / np.sum(F**2, axis=0)) @ F.T
        values = np.linalg.eigvalsh(mean)[::-1]
        assert values[0] == pytest.approx(1)
        for device in (None, torch.zeros(1)):
            U = np.sqrt(w)[:, None] * (B @ leading_directions(B, 3, weights, device))
            np.testing.assert_allclose(np.sum(U**2, axis=0), values[1:4], atol=1e-10)
            np.testing.assert_allclose(mean @ U, U * values[1:4], atol=1e-10)


def test_members_of_any_kind(blobs):
    X, y = blobs
    members = [KMeans(4, n_init=1), GaussianMixture(4, reg_covar=1e-2), jc.LDAKMeans(6), jc.RobustKMeans(4), KMeans(3)]
    model = Consensus(4, members=members, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert members[0].random_state is None
    assert not hasattr(members[0], "labels_")
    weighted = Consensus(4, members=[*members, make_pipeline(StandardScaler(), jc.LDAKMeans(4))], random_state=0)
    assert clustering_accuracy(y, weighted.fit(X, sample_weight=np.ones(300)).labels_) == 1
    curved = make_pipeline(jc.OptimalDiscriminantClustering(4, kernel="rbf"), jc.OptimalDiscriminantClustering(4))
    assert clustering_accuracy(y, Consensus(4, members=[curved], random_state=0).fit(X).labels_) == 1
    one = Consensus(4, members=[KMeans(4, n_init=3)], random_state=0).fit(X)
    assert clustering_accuracy(one.members_[0].labels_, one.labels_) == 1
    assert one.agreement_ == 1.0


def test_repeatable_whatever_the_jobs(digits):
    X = digits.data[:400]
    models = [Consensus(10, random_state=1, n_jobs=n).fit(X) for n in (None, 2)]
    np.testing.assert_array_equal(models[0].soft_labels_, models[1].soft_labels_)


@pytest.mark.filterwarnings("ignore::jointclust.CollapseWarning")
def test_inputs(blobs, tmp_path):
    X, y = blobs
    for data in (sp.csr_array(X), X.astype(np.float32), jc.decompose(X)):
        model = Consensus(4, random_state=0).fit(data)
        assert clustering_accuracy(y, model.labels_) == 1
    jc.save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(jc.load(tmp_path / "model.skops").predict(X), model.labels_)
    assert clone(model).get_params()["n_clusters"] == 4
    half = np.r_[np.ones(300), np.zeros(20)]
    far = np.vstack([X, 1e3 * np.random.RandomState(0).standard_normal((20, 30))])
    assert clustering_accuracy(y, Consensus(4, random_state=0).fit(far, sample_weight=half).labels_[:300]) == 1


def test_a_copy_of_an_unfitted_model_is_unfitted(blobs):
    with pytest.raises(NotFittedError):
        pickle.loads(pickle.dumps(jc.JointConsensus(3))).predict(blobs[0])


@pytest.mark.parametrize("place", [np.asarray, sp.csr_array])
def test_other_columns_are_refused_by_the_model(place, digits):
    """Not by what prepares its rows, which nobody has called."""
    model = Consensus(2, random_state=0).fit(place(digits.data[:60]))
    for method in (model.predict, model.confidence, model.transform):
        with pytest.raises(ValueError, match="X has 60 features, but JointConsensus is expecting 64"):
            method(place(digits.data[:60, :60]))


def test_bad_input(blobs):
    X, _ = blobs
    with pytest.raises(ValueError, match="members is empty"):
        Consensus(4, members=[]).fit(X)
    with pytest.raises(TypeError, match="fit and predict"):
        Consensus(4, members=[3]).fit(X)
    with pytest.raises(ValueError, match="n_clusters=4 exceeds"):
        Consensus(4).fit(X[:3])
    with pytest.raises(ValueError, match="members"):
        Consensus(4, members="all").fit(X)
    with pytest.warns(jc.CollapseWarning, match="nothing to cluster"):
        Consensus(2, random_state=0).fit(np.ones((20, 3)))
    with pytest.raises(ValueError, match=r"n_clusters=4 exceeds the number of rows with weight \(3\)"):
        Consensus(4).fit(X, sample_weight=np.r_[np.ones(3), np.zeros(297)])
    with pytest.raises(ValueError, match="sample_weight belongs to the coordinates"):
        Consensus(4).fit(jc.decompose(X), sample_weight=np.ones(300))


@pytest.mark.parametrize("kind", ["consensus", "search"])
def test_names_of_coordinates(kind, blobs, recwarn):
    """They are noted, compared once and not for each member, and forgotten with the next fit."""
    X = blobs[0][::3]
    frame = pd.DataFrame(X, columns=[f"feature {index}" for index in range(X.shape[1])])
    members = [jc.LDAKMeans(4), KMeans(4, n_init=1), make_pipeline(jc.OptimalDiscriminantClustering(4), KMeans(4))]
    model = (
        Consensus(4, members=members, random_state=0)
        if kind == "consensus"
        else jc.LabelFreeSearch([(member, {}) for member in members], criterion="bic", random_state=0)
    )
    model.fit(jc.decompose(frame))
    assert list(model.feature_names_in_) == list(frame.columns)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    np.testing.assert_array_equal(model.labels_, model.fit(frame).labels_)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"feature 0": "other"}))
    if kind == "search":
        assert model.results_["warnings"] == ["", "", ""]
    model.fit(jc.decompose(X))
    assert not hasattr(model, "feature_names_in_")
    model.predict(X)
    assert not hasattr(model.fit(frame).fit(X), "feature_names_in_")
    assert not recwarn.list


def test_columns_that_are_left_out_are_told(blobs):
    frame = pd.DataFrame(blobs[0][:, :4], columns=list("abcd")).assign(name=[f"row {i}" for i in range(300)])
    model = Consensus(4, members=[jc.LDAKMeans(4)], random_state=0)
    with pytest.warns(UserWarning, match="'name' left out"):
        model.fit(frame)
    with pytest.warns(UserWarning, match="'name', 'empty' left out"):
        model.fit(frame.assign(empty=np.nan))
