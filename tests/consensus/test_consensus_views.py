"""The consensus over views: which have a say, what the model keeps, how sure it is, and where rows lie."""

import pickle
from collections import Counter
from functools import partial

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import jointclust as jc
from jointclust.consensus import members, projection, views
from jointclust.consensus.classifiers import LandmarkLabels
from jointclust.consensus.confidence import ConfidenceRule
from jointclust.consensus.members import finer_numbers
from jointclust.consensus.partitions import Partitions, adjusted_rand_indices, cluster_votes
from jointclust.consensus.projection import ViewProjection
from jointclust.metrics import clustering_accuracy
from jointclust.subspace.decomposition import decompose

Consensus = partial(jc.JointConsensus, trust=False)


@pytest.fixture(scope="module")
def wine():
    return jc.datasets.load("wine")


@pytest.fixture(scope="module")
def model(wine):
    return Consensus(3, random_state=0).fit(wine.data)


class Recorder:
    """Counts the members that are done."""

    def __init__(self):
        self.done, self.total = 0, None

    def setup(self, estimator, context): ...

    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context, **_): ...

    def on_fit_task_end(self, estimator, context, **_):
        if context.task_name == "member":
            self.done, self.total = self.done + 1, context.parent.max_subtasks


def test_tables_are_seen_in_three_views(model, wine):
    assert [view["name"] for view in model.views_] == ["standardised", "rank-normal", "as is"]
    assert sum(view["weight"] for view in model.views_) == pytest.approx(1)
    assert all("agreement with the other views" in view["reason"] for view in model.views_)
    assert clustering_accuracy(wine.target, model.labels_) > 0.93
    np.testing.assert_array_equal(model.predict(wine.data), model.labels_)


def test_a_view_that_sees_something_else_has_no_say(rng):
    """A column of noise that drowns the others: as they are, the rows show nothing else."""
    X, y = make_blobs(300, 12, centers=3, random_state=0)
    X = np.column_stack([X, 1e4 * rng.uniform(size=300)])
    model = Consensus(3, columns="all", random_state=0).fit(X)
    weights = {view["name"]: view["weight"] for view in model.views_}
    assert weights["as is"] == 0
    assert weights["standardised"] == weights["rank-normal"] == 0.5
    assert set(model._agreement.panel.views) == {0, 1}
    assert clustering_accuracy(y, model.labels_) == 1
    np.testing.assert_allclose(model.confidence(X), model.confidence_, rtol=1e-6)
    calls = Consensus(3, views=["standardised", "as is", "rank-normal"], columns="all", random_state=0).fit(X)
    assert {view["weight"] for view in calls.views_} == {1 / 3}  # what the user names has its say


def test_views_that_are_given(wine):
    class Doubled(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            self.fitted_ = True
            return self

        def transform(self, X):
            return 2 * np.asarray(X)

    given = [jc.LDAKMeans(3), jc.LDAKMeans(4)]
    model = Consensus(3, views=["standardised", Doubled()], members=given, random_state=0).fit(wine.data)
    assert model._agreement.panel.views == [0, 0, 1, 1]
    assert [view["name"] for view in model.views_] == ["standardised", "Doubled"]
    np.testing.assert_array_equal(model.predict(wine.data), model.labels_)
    for wrong, error, message in (
        (["standardised", "upside down"], ValueError, "'upside down', which is no view"),
        (["auto", "log"], ValueError, "cannot be combined"),
        ([3], TypeError, "names of views, or transformers"),
    ):
        with pytest.raises(error, match=message):
            Consensus(3, views=wrong).fit(wine.data)


def test_sparse_or_dense_is_one(wine):
    """What was fitted on one form predicts the same for the other."""
    for fitted, other in ((sp.csr_array(wine.data), wine.data), (wine.data, sp.csr_array(wine.data))):
        model = Consensus(3, random_state=0).fit(fitted)
        np.testing.assert_array_equal(model.predict(other), model.labels_)


def test_views_that_all_differ():
    """Few rows, no structure: agreement below chance in every view must leave some view a say."""
    for seed in (7, 9):
        model = Consensus(4, random_state=0).fit(np.random.RandomState(seed).standard_normal((5, 5)))
        assert sum(view["weight"] for view in model.views_) == pytest.approx(1)


def test_finer_members():
    assert finer_numbers(4, 1000) == [6, 8, 12]
    assert finer_numbers(4, 24) == [6, 8]  # three rows for each
    assert finer_numbers(4, 12) == []


def test_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(views, "MOST_ROWS", 300)
    X, y = make_blobs(900, 10, centers=4, random_state=0)
    model = Consensus(4, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert all(lens.landmarks.shape[0] == 300 for lens in model._agreement.panel.projections)


def test_what_is_saved_is_small(monkeypatch, tmp_path):
    X, _ = jc.datasets.mixture(400, 30, 3, random_state=0)
    model = Consensus(3, random_state=0).fit(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.soft_labels_, model.soft_labels_)
    jc.save(model, tmp_path / "model.skops")
    assert (tmp_path / "model.skops").stat().st_size < 300_000 + X.nbytes  # and the rows that it keeps
    monkeypatch.setattr("jointclust.consensus.estimator.SAVED_ROWS", 300)
    large = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(large.labels_, model.labels_)
    np.testing.assert_array_equal(large.predict(X), model.labels_)
    np.testing.assert_allclose(large.confidence(X), model.confidence_)
    for name in ("soft_labels_", "confidence_"):
        with pytest.raises(AttributeError, match="predict_proba"):
            getattr(large, name)


def test_a_row_far_in_one_column(wine):
    """Only one of the views sees it."""
    odd = wine.data[48] + np.eye(13)[7] * wine.data.std(axis=0) * 15
    model = Consensus(3, random_state=0).fit(np.vstack([wine.data, odd]))
    assert model.confidence_[-1] <= np.quantile(model.confidence_, 0.05)


@pytest.mark.parametrize("kind", ["table", "counts"])
def test_far_rows_are_not_trusted(kind, wine, rng):
    if kind == "table":
        X, far = wine.data, 1000 * wine.data[:20]
    else:
        rates = rng.gamma(0.3, 3.0, (3, 200))
        X = sp.csr_array(rng.poisson(rates[rng.randint(3, size=300)]).astype(float))
        far = sp.csr_array(rng.poisson(np.full((20, 200), 200.0)).astype(float))
    model = Consensus(3, random_state=0).fit(X)
    assert model.confidence(far).max() < np.quantile(model.confidence_, 0.05)


def test_planted_rows_are_least_sure(wine, rng):
    planted = wine.data.mean(axis=0) + 30 * wine.data.std(axis=0) * rng.choice([-1, 1], (4, 13))
    model = Consensus(3, random_state=0).fit(np.vstack([wine.data, planted]))
    assert model.confidence_[-4:].max() <= np.quantile(model.confidence_, 0.05)
    assert set(np.argsort(model.outlier_scores_)[-4:]) == {178, 179, 180, 181}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kind", ["table", "float32", "two columns", "sparse counts"])
def test_rows_beyond_all_measure_have_a_label_and_no_confidence(wine, kind):
    """Their squares, or they themselves once scaled, are no numbers any more."""
    rows = {"float32": wine.data.astype(np.float32), "two columns": wine.data[:, 5:7]}.get(kind, wine.data)
    X = sp.csr_array(np.round(rows * [*[0, 0.1] * 6, 0.01])) if kind == "sparse counts" else rows
    model = Consensus(3, columns="all", trust=False, random_state=0).fit(X)
    for size in (1e30, 1e100, 1e300, 1.7e308)[: 1 if kind == "float32" else 4]:
        far = np.array(X[:2].toarray() if sp.issparse(X) else X[:2])
        far[0] = size
        labels, confidence = model.predict_with_confidence(sp.csr_array(far) if sp.issparse(X) else far)
        assert (labels[0] in range(3), labels[1]) == (True, model.labels_[1])
        assert confidence[0] == 0
        np.testing.assert_allclose(confidence[1], model.confidence_[1], atol=1e-9)
        assert np.isfinite(model.transform(sp.csr_array(far) if sp.issparse(X) else far)).all()


GAPPY = {
    "array": lambda X: X,
    "frame": lambda X: pd.DataFrame(X).add_prefix("x").assign(kind=pd.cut(X[:, 0], [0, 13, 20], labels=["a", "b"])),
    "two columns": lambda X: X[:, 5:7],
    "blocks": lambda X: {"one": X[:, :6], "two": X[:, 6:]},
    "device": torch.tensor,
    "dask": lambda X: da.from_array(X, chunks=(60, X.shape[1])),
}


@pytest.mark.filterwarnings("error::RuntimeWarning", "ignore::jointclust.ColumnWarning")
@pytest.mark.parametrize("kind", GAPPY)
def test_rows_without_any_value_are_guesses(wine, kind):
    """Of a fit, whose warning counts rows with hardly any value, and of new rows, which may have another label -1."""
    gappy, empty = wine.data.copy(), [3, 90, 177]
    gappy[empty] = np.nan
    X = GAPPY[kind](gappy)
    model = Consensus(3, columns="all", trust=kind == "frame", effort="quick", random_state=0)
    with pytest.warns(UserWarning, match="3 of 178 rows have no value"):
        confidence = np.asarray(model.fit(X).confidence_)
    assert confidence[empty].max() <= 1 / 3 + 1e-6
    assert np.median(confidence) > 0.4
    with pytest.warns(UserWarning, match=r"\d of \d+ rows have no value .* their labels are guesses"):
        new = np.asarray(model.predict_with_confidence(X)[1])
    np.testing.assert_allclose(new, confidence, atol=1e-6)
    with pytest.warns(UserWarning, match="rows have no value"):
        assert (np.asarray(model.set_params(reject_below=0.34).predict(X))[empty] == -1).all()


@pytest.mark.filterwarnings("ignore:.*rows have no value")
def test_a_row_that_is_empty_in_one_of_two_blocks_is_no_guess(wine):
    gappy = wine.data.copy()
    gappy[3, :6], gappy[90] = np.nan, np.nan
    X = {"one": gappy[:, :6], "two": gappy[:, 6:]}
    model = Consensus(3, effort="quick", random_state=0).fit(X)
    assert {view["block"] for view in model.views_ if view["weight"] > 0} == {"one", "two"}
    assert np.isnan(model.outlier_scores_[[3, 90]]).tolist() == [False, True]
    assert model.confidence_[90] == pytest.approx(1 / 3)


def test_documents_without_a_known_word_are_guesses():
    texts = ["red green blue", "green blue red violet"] * 40 + ["car train ship", "ship plane train"] * 40
    with pytest.warns(UserWarning, match="2 of 162 rows have no value"):
        model = Consensus(2, random_state=0).fit([*texts, "", "unheard"])
    assert model.confidence_[-2:].max() <= 0.5 < model.confidence_[:-2].min()
    with pytest.warns(UserWarning, match="1 of 2 rows have no value"):
        assert model.confidence(["never seen", "red blue"])[0] <= 0.5


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_sparse_rows_of_single_precision_are_within_limits():
    rows = sp.csr_array(np.eye(3, dtype=np.float32))
    assert projection.within_limits(rows) is rows
    assert np.isfinite(projection.within_limits(rows * np.float32(np.inf)).data).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_counts_beyond_all_measure_have_no_confidence(rng):
    """Also where a view looks at shares, which say nothing of the size."""
    X = sp.csr_array(rng.poisson(np.exp(rng.uniform(-3, 1, (3, 60)))[np.arange(90) % 3]).astype(float))
    model = Consensus(3, effort="quick", trust=False, random_state=0).fit(X)
    far = X[:2].toarray()
    for size in (1e100, 1.7e308):
        far[0] = size
        np.testing.assert_allclose(model.confidence(sp.csr_array(far)), [0.0, model.confidence_[1]], atol=1e-9)


def test_a_sparse_matrix_without_values():
    empty = sp.csr_array((50, 20))
    assert "every cell is zero" in str(jc.describe(empty))
    with pytest.warns(jc.CollapseWarning, match="All rows of X are equal"):
        assert not jc.cluster(empty, 3, random_state=0).labels_.any()


def test_rejected_rows(wine, model):
    limit = float(np.quantile(model.confidence_, 0.1))
    careful = Consensus(3, reject_below=limit, random_state=0).fit(wine.data)
    np.testing.assert_array_equal(careful.labels_ == -1, model.confidence_ < limit)
    kept = careful.labels_ >= 0
    np.testing.assert_array_equal(careful.labels_[kept], model.labels_[kept])
    np.testing.assert_array_equal(careful.predict(wine.data), careful.labels_)
    np.testing.assert_array_equal(careful.soft_labels_, model.soft_labels_)


def test_confidence_grows_with_votes_and_falls_far_away():
    votes = np.column_stack([np.linspace(0.5, 1, 50), np.linspace(0.5, 0, 50)])
    scale = ConfidenceRule(np.array([0.5, 0.5]), 0.8, usual=np.array([1.5, 1.5]))
    near = scale.confidence(votes, np.ones(50))
    assert np.all(np.diff(near) >= 0)
    assert near.min() > 0
    assert near.max() < 1
    np.testing.assert_array_equal(scale.confidence(votes, np.full(50, 1.4)), near)
    np.testing.assert_allclose(scale.confidence(votes, np.full(50, 3.0)), near / 16)


def test_embedding_tells_rows_apart(wine):
    """Two clusters: two directions, the first of which splits them; no two rows share a place."""
    X, labels = wine.data[wine.target < 2], wine.target[wine.target < 2]
    model = Consensus(2, random_state=0).fit(X)
    Y = model.transform(X)
    assert Y.shape == (130, 2)
    assert np.unique(Y.round(9), axis=0).shape[0] == 130
    np.testing.assert_allclose(model.transform(X[:5]), Y[:5], atol=1e-9)
    np.testing.assert_allclose([Y[model.labels_ == k].mean(axis=0) for k in (0, 1)], model.cluster_centers_, atol=1e-9)
    gap = np.abs(np.diff([Y[labels == k, 0].mean() for k in (0, 1)]))[0]
    assert gap > 2 * max(Y[labels == k, 0].std() for k in (0, 1))


def test_members_are_told(wine):
    heard = Recorder()
    model = Consensus(3, random_state=0).set_callbacks(heard).fit(wine.data)
    assert heard.done == heard.total == len(model.members_) == 30


@pytest.mark.parametrize(("effort", "n_members", "n_landmarks"), [("quick", 6, 90), ("thorough", 30, 178)])
def test_effort(effort, n_members, n_landmarks, wine, monkeypatch):
    """More or fewer members, to more or fewer rows, which are told of; other seeds find something else."""
    monkeypatch.setattr(views, "MOST_ROWS", 300)
    heard = Recorder()
    model = Consensus(3, effort=effort, random_state=0).set_callbacks(heard).fit(wine.data)
    assert heard.done == heard.total == len(model.members_) == 3 * n_members
    assert {len(lens.landmarks) for lens in model._agreement.panel.projections} == {n_landmarks}
    assert clustering_accuracy(wine.target, model.labels_) > 0.9
    if effort == "thorough":
        first, again = model.members_[0], model.members_[10]
        assert first.kind == again.kind
        assert not np.array_equal(first.centers, again.centers)
    with pytest.raises(ValueError, match=f"effort='{effort}' is for the automatic members"):
        Consensus(3, effort=effort, members=[jc.LDAKMeans(3)]).fit(wine.data)


def test_agreement_is_the_adjusted_rand_index(rng):
    groups = np.column_stack([rng.randint(k, size=60) for k in (2, 3, 5)] + [np.zeros(60, int)])
    partitions = Partitions.of(groups, [2, 3, 5, 1], None)
    expected = [[adjusted_rand_score(a, b) for a in groups.T] for b in groups.T]
    np.testing.assert_allclose(partitions.agreement(), expected, atol=1e-12)
    np.testing.assert_allclose(adjusted_rand_indices(sp.coo_array([[4.0]]), np.array([0, 1]), 4), [[1.0]])


def test_fair_votes(rng):
    group, labels = rng.randint(4, size=200), rng.choice(3, 200, p=[0.7, 0.2, 0.1])
    table = np.array([[np.sum((group == g) & (labels == k)) for k in range(3)] for g in range(4)], dtype=float)
    for fairness in (0.0, 0.5, 1.0):
        expected = table / np.bincount(labels) ** fairness
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(cluster_votes(group, labels, 4, 3, None, fairness), expected)


def test_projection_and_landmarks(rng):
    X = rng.standard_normal((80, 6)) * [5, 4, 3, 1e-2, 1e-3, 1e-3] + 7
    view, rows = ViewProjection.fit(decompose(np.vstack([X, X[:10]])), 2, rng)
    assert rows.mass.sum() == 90
    assert (rows.mass == 2).sum() == 10
    np.testing.assert_array_equal(rows.projected.nearest, view.project(X).nearest)
    assert view.landmarks.shape[0] == 80
    seen = view.project(X)
    centred = X - np.vstack([X, X[:10]]).mean(axis=0)
    np.testing.assert_allclose(np.linalg.norm(seen.leading, axis=1), np.linalg.norm(centred, axis=1), atol=1e-2)
    np.testing.assert_array_equal(seen.nearest[:, 0], np.arange(80))  # a landmark is its own nearest one
    near = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 4]
    np.testing.assert_allclose(seen.distance, near, rtol=0.05)
    labels = (X[:, 0] > 7).astype(np.uint16)
    text = LandmarkLabels(view, "by hand", labels, 2).predict(X)
    around = labels[seen.nearest].astype(int)
    votes = around.sum(axis=1) + around[:, 0]  # of six
    np.testing.assert_array_equal(text, np.where(votes == 3, around[:, 0], votes > 3))


def test_anchors_stand_for_many_rows(rng, monkeypatch):
    """Centers of a k-means of the rows, linked by these: rings, which no center finds, are told apart."""
    monkeypatch.setattr(projection, "LANDMARKS", 500)
    monkeypatch.setattr(projection, "ANCHORS", 150)
    ring, angle = rng.randint(2, size=2_000), rng.uniform(0, 2 * np.pi, 2_000)
    plane = (1 + 2 * ring)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.column_stack([plane, np.zeros((2_000, 2))]) + 0.1 * rng.standard_normal((2_000, 4))
    model = Consensus(2, views=["as is"], columns="all", random_state=0).fit(X[:1_000])
    (lens,) = model._agreement.panel.projections
    assert lens.landmarks.shape == (150, 2)
    assert np.isclose(np.median(model.outlier_scores_), 1.0)
    graph = next(member for member in model.members_ if member.kind == "neighbour graph, 2 clusters")
    assert clustering_accuracy(ring[1_000:], graph.predict(X[1_000:])) > 0.99
    heard = Recorder()
    Consensus(60, random_state=0).set_callbacks(heard).fit(X)
    assert heard.done == heard.total


@pytest.mark.parametrize("n_clusters", [3, None])
def test_a_fit_computes_each_thing_once(n_clusters, rng, monkeypatch):
    """One coding and filling for all views; one scaling and one decomposition for each of them."""
    group = np.arange(120) % 3
    size = 5.0 * group + rng.standard_normal(120)
    size[::11] = np.nan
    colour = np.array(["red", "green", "blue"])[np.where(np.arange(120) % 7 == 0, 0, group)]
    table = pd.DataFrame({"size": size, "weight": rng.standard_normal(120) - 4 * group, "colour": colour})
    calls = Counter()

    def count(module, name):
        function = getattr(module, name)

        def counted(*arguments, **options):
            calls[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(module, name, counted)

    count(jc.MixedEncoder, "transform")
    count(jc.LowRankImputer, "fill")
    count(views, "coordinates_of")
    count(views.ViewRows, "take")
    model = jc.cluster(table, n_clusters, random_state=0)
    n_views = len(model.views_)
    assert n_views > 1
    assert calls["transform"] == calls["fill"] == 1
    assert calls["coordinates_of"] == n_views, "the judge looks at what the fit has decomposed"
    assert calls["take"] <= 2 * n_views  # to decompose rows, and to label them


def test_rows_as_they_are_have_the_same_members(rng):
    """None, the name of the view and a decomposition are three ways to say it."""
    X = rng.standard_normal((60, 5)) + 6 * (np.arange(60) % 3)[:, None]
    plain = Consensus(3, views=None, random_state=0).fit(X)
    for other in (
        Consensus(3, views=["as is"], random_state=0).fit(X),
        Consensus(3, views=None, random_state=0).fit(decompose(X)),
    ):
        assert [str(member) for member in plain.members_] == [str(member) for member in other.members_]
        np.testing.assert_array_equal(plain.groups_of_members(), other.groups_of_members())
        np.testing.assert_array_equal(plain.labels_, other.labels_)
        np.testing.assert_allclose(plain.soft_labels_, other.soft_labels_)


@pytest.mark.filterwarnings("ignore")
def test_many_clusters_need_no_finer_ones(monkeypatch):
    """Beyond a number of clusters (200) there are none, and the sample holds 20 rows of each."""
    monkeypatch.setattr(members, "MANY", 20)
    rng = np.random.RandomState(0)
    truth = np.arange(800) % 40
    X = 10 * rng.standard_normal((40, 12))[truth] + rng.standard_normal((800, 12))
    model = jc.JointConsensus(40, trust=False, random_state=0).fit(X)
    assert clustering_accuracy(truth, model.labels_) > 0.97
    assert {member.n_clusters for member in model.members_} == {40}
    assert (views.most_rows(500), views.most_rows(1000), views.most_rows(1000, 0.3)) == (10_000, 20_000, 6_000)
    assert finer_numbers(20, 800) == [30, 40, 60]
