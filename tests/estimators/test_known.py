"""Some labels known, and groups that belong together: what must hold of every method."""

from contextlib import nullcontext

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
import torch
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jointclust as jc
from elsewhere import every_place, named, refusal
from jointclust.exceptions import Notice
from jointclust.numerics import kmeans, partitions
from jointclust.rows import sample_known
from jointclust.rows.arrays import to_host
from jointclust.subspace import decomposition
from registered import ONE_EACH

X, Y = jc.datasets.mixture(240, 12, 4, separation=5, n_nuisance=2, nuisance_scale=2, random_state=0)
NAMES = np.array(["d", "c", "b", "a"])[Y]  # in another order than the numbers
FEW = np.where((np.arange(240) % 12 == 0) & (NAMES != "c"), NAMES, None)
FEW[np.flatnonzero(NAMES == "c")[:2]] = "b"  # wrong, and still kept
KNOWN = FEW != None  # noqa: E711
CLASSES = ["a", "b", "d"]
METHODS = [
    *[estimator.set_params(random_state=0) for estimator in clone(ONE_EACH)],
    jc.OptimalDiscriminantClustering(4, kernel=lambda a, b: (a @ b.T) ** 3, random_state=0),
    jc.DiscriminativeEmbeddedClustering(4, update_rule="fixed", n_init=3, random_state=0),
    jc.DiscriminativeEmbeddedClustering(4, update_rule="minimization", random_state=0),
    jc.RobustEmbeddedClustering(4, init="random", random_state=0),
    jc.FuzzyKMeans(4, init="random", random_state=0),
    jc.LDAKMeans(4, init=np.arange(240) % 4, random_state=0),
]
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
every_method = pytest.mark.parametrize("estimator", METHODS, ids=named)


def numbers(names, classes=CLASSES):
    """Number of each class, -1 for None."""
    return np.array([-1 if name is None else list(classes).index(name) for name in names])


@every_method
def test_known_rows_keep_their_label(estimator):
    model = clone(estimator).fit(X, known_labels=FEW)
    assert model.classes_.tolist() == CLASSES
    np.testing.assert_array_equal(model.labels_[KNOWN], numbers(FEW[KNOWN]))
    assert set(model.labels_) == {0, 1, 2, 3}
    # Nobody knows them when they predict.
    predicted = model.predict(X)
    assert (model.labels_ == predicted)[~KNOWN].all()
    if hasattr(model, "soft_labels_"):
        np.testing.assert_array_equal(model.soft_labels_[KNOWN], np.eye(4)[numbers(FEW[KNOWN])])
        np.testing.assert_array_equal(model.predict_proba(X)[~KNOWN], model.soft_labels_[~KNOWN])


@every_method
def test_nothing_known_changes_nothing(estimator):
    plain = clone(estimator).fit(X)
    alone = [None] * 120 + list(range(120))
    for given in ({"known_labels": np.full(240, -1)}, {"known_labels": [None] * 240, "groups": alone}):
        model = clone(estimator).fit(X, **given)
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        np.testing.assert_array_equal(model.cluster_centers_, plain.cluster_centers_)
        np.testing.assert_array_equal(model.objective_history_, plain.objective_history_)
    assert not hasattr(model.fit(X), "classes_")


def rising(estimator):
    """Whether the objective never falls; None where it may, or there is one value."""
    if isinstance(estimator, jc.DiscriminativeEmbeddedClustering):
        return None if estimator.update_rule == "minimization" or estimator.trade_off in ("pca", 0) else True
    robust = (jc.RobustEmbeddedClustering, jc.RobustKMeans, jc.FuzzyKMeans, jc.RobustSparseFuzzyKMeans)
    return False if isinstance(estimator, (*robust, jc.UncorrelatedRidgeClustering)) else None


@pytest.mark.parametrize("estimator", [method for method in METHODS if rising(method) is not None], ids=named)
def test_objectives_stay_monotone(estimator):
    history = clone(estimator).set_params(tol=0).fit(X, known_labels=FEW).objective_history_
    steps = np.diff(history) if rising(estimator) else -np.diff(history)
    assert (steps >= -1e-9 * np.abs(history[1:])).all()


PARENTS = [
    (jc.DiscriminativeEmbeddedClustering(4, trade_off=1.5), jc.DiscriminantProjection("dec")),
    (jc.DiscriminativeEmbeddedClustering(4, trade_off=7), jc.DiscriminantProjection("dec", trade_off=7)),
    (jc.LDAKMeans(4, ridge=2.0), jc.DiscriminantProjection("lda", ridge=2.0, variance=0.9)),
    (jc.DisCluster(4, ridge=50.0), jc.DiscriminantProjection("lda", ridge=50.0)),
    (jc.RobustEmbeddedClustering(4, robust=False), jc.DiscriminantProjection("olsda", variance=0.9)),
    (jc.UncorrelatedRidgeClustering(4, ridge=50.0), jc.DiscriminantProjection("ridge", ridge=50.0)),
]


@pytest.mark.parametrize(("estimator", "parent"), PARENTS, ids=named)
def test_all_known_is_the_supervised_parent(estimator, parent):
    weights = np.random.RandomState(0).uniform(0.5, 2, 240)
    model = clone(estimator).fit(X, sample_weight=weights, known_labels=NAMES)
    parent = clone(parent)
    if "n_components" in model.get_params():
        parent.set_params(n_components=len(model.components_))
    parent.fit(X, NAMES, sample_weight=weights)
    np.testing.assert_allclose(model.components_, parent.components_, atol=1e-8)
    np.testing.assert_array_equal(model.classes_[model.labels_], NAMES)


@pytest.mark.parametrize("trade_off", ["ocm", "mmc", "olsda"])
def test_supervised_dec_has_the_others_as_cases(trade_off):
    """The same span, of which they take other axes."""
    spans = []
    for parent in (jc.DiscriminantProjection("dec", trade_off=trade_off), jc.DiscriminantProjection(trade_off)):
        components = parent.fit(X, Y).components_
        spans.append(components.T @ components)
    np.testing.assert_allclose(*spans, atol=1e-8)


@every_method
def test_order_of_rows_and_names_of_classes_do_not_matter(estimator):
    if not isinstance(estimator.get_params().get("init", ""), str):
        return  # given labels have numbers
    model = clone(estimator).fit(X, known_labels=FEW)
    renamed = [{"a": "class 9", "b": "class 1", "d": "class 5"}.get(name) for name in FEW]
    other = clone(estimator).fit(X, known_labels=renamed)
    assert other.classes_.tolist() == ["class 1", "class 5", "class 9"]
    np.testing.assert_array_equal(np.array([2, 0, 1, 3])[model.labels_], other.labels_)
    order = np.random.RandomState(1).permutation(240)
    shuffled = clone(estimator).fit(X[order], known_labels=FEW[order])
    np.testing.assert_array_equal(shuffled.labels_, model.labels_[order])


@every_method
def test_absent_rows_know_nothing(estimator):
    """Rows without weight leave the fit alone, and a class that only they have is none."""
    if isinstance(estimator.get_params().get("init", ""), str):
        more, unknown = np.vstack([X, X[:9] + 1]), np.append(FEW, [None] * 9)
        given = np.append(FEW, ["a", "b", "e"] * 3)
        weights = np.append(np.ones(240), np.zeros(9))
        model = clone(estimator).fit(more, sample_weight=weights, known_labels=given)
        plain = clone(estimator).fit(more, sample_weight=weights, known_labels=unknown)
        assert model.classes_.tolist() == CLASSES
        np.testing.assert_allclose(model.cluster_centers_, plain.cluster_centers_)
        np.testing.assert_array_equal(model.labels_[:240], plain.labels_[:240])
        np.testing.assert_array_equal(model.labels_[240:][np.arange(9) % 3 != 2], [0, 1] * 3)


@pytest.mark.parametrize(
    "given",
    [
        FEW.tolist(),
        np.where(KNOWN, numbers(FEW) + 3, -1),
        np.where(KNOWN, numbers(FEW) + 3.0, np.nan),
        torch.tensor(np.where(KNOWN, numbers(FEW) + 3, -1)),
        da.from_array(np.where(KNOWN, numbers(FEW) + 3, -1), chunks=100),
        [value if value is not None else -1 for value in FEW],
        np.where(KNOWN, numbers(FEW) * 0.25, np.nan),
    ],
    ids=["strings and None", "integers", "floats", "torch", "dask", "strings and -1", "fractions"],
)
def test_labels_of_every_type(given):
    model = jc.LDAKMeans(4, random_state=0).fit(X, known_labels=given)
    expected = jc.LDAKMeans(4, random_state=0).fit(X, known_labels=FEW)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert model.classes_.size == 3
    if model.classes_[0] == 3:
        assert model.classes_.dtype == np.int64


def test_labels_of_data_frames():
    pandas = pytest.importorskip("pandas")
    expected = jc.LDAKMeans(4, random_state=0).fit(X, known_labels=FEW)
    column = pandas.Series(FEW)
    for given in (column, column.astype("category"), column.astype("string")):
        model = jc.LDAKMeans(4, random_state=0).fit(X, known_labels=given)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        assert model.classes_.tolist() == CLASSES


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (FEW[:100], r"shape \(240,\).*got \(100,\)"),
        (np.stack([FEW, FEW]), "shape"),
        (np.arange(240) % 5, "5 classes, more than n_clusters=4"),
        ([1, "a"] * 120, "mixes values of types int, str"),
    ],
)
def test_impossible_labels(given, message):
    for estimator in (jc.LDAKMeans(4), jc.OptimalDiscriminantClustering(4), jc.FuzzyKMeans(4)):
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, known_labels=given)


def test_one_class_and_more_clusters():
    """One known class, of many clusters: the others are found as ever."""
    model = jc.LDAKMeans(4, random_state=0).fit(X, known_labels=np.where(Y == 2, 2, -1))
    assert model.classes_.tolist() == [2]
    assert (model.labels_[Y == 2] == 0).all()
    assert jc.metrics.clustering_accuracy(Y, model.labels_) > 0.9
    assert jc.LDAKMeans(1).fit(X, known_labels=np.where(Y == 2, 2, -1)).labels_.max() == 0


def test_a_kernel_that_the_user_computed():
    linear, computed = (
        jc.OptimalDiscriminantClustering(4, kernel=kernel, random_state=0) for kernel in ("linear", "precomputed")
    )
    expected = linear.fit(X, known_labels=FEW).labels_
    np.testing.assert_array_equal(computed.fit(X @ X.T, known_labels=FEW).labels_, expected)


def test_y_stays_ignored():
    model, plain = (jc.LDAKMeans(4, random_state=0).fit(X, y) for y in (Y, None))
    np.testing.assert_array_equal(model.labels_, plain.labels_)


def test_the_classes_are_saved(tmp_path):
    model = jc.LDAKMeans(4, random_state=0).fit(X, known_labels=FEW)
    jc.save(model, tmp_path / "model")
    np.testing.assert_array_equal(jc.load(tmp_path / "model").classes_, CLASSES)


def test_metadata_routing():
    expected = make_pipeline(StandardScaler(), jc.LDAKMeans(4, random_state=0)).fit(X, ldakmeans__known_labels=FEW)
    with sklearn.config_context(enable_metadata_routing=True):
        last = jc.LDAKMeans(4, random_state=0).set_fit_request(known_labels=True, groups=True)
        labels = make_pipeline(StandardScaler(), last).fit_predict(X, known_labels=FEW, groups=np.arange(240))
    np.testing.assert_array_equal(labels, expected[-1].labels_)
    np.testing.assert_array_equal(labels[KNOWN], numbers(FEW[KNOWN]))


@pytest.mark.parametrize(
    "estimator",
    [
        jc.DiscriminativeEmbeddedClustering(4, random_state=0),
        jc.DiscriminativeEmbeddedClustering(4, update_rule="fixed", random_state=0),
        jc.LDAKMeans(4, random_state=0),
        jc.RobustEmbeddedClustering(4, random_state=0),
        jc.RobustEmbeddedClustering(4, robust=False, random_state=0),
        jc.OptimalDiscriminantClustering(4, random_state=0),
        jc.UncorrelatedRidgeClustering(4, random_state=0),
        jc.FuzzyKMeans(4, n_components=3, random_state=0),
    ],
    ids=named,
)
def test_rows_elsewhere(estimator, tmp_path):
    X, Y = jc.datasets.mixture(240, 12, 4, separation=9, n_nuisance=2, nuisance_scale=2, random_state=0)
    FEW = np.where((np.arange(240) % 12 == 0) & (Y != 1), Y, -1)
    here = clone(estimator).fit(X, known_labels=FEW)
    with every_place(X, tmp_path) as places:
        for kind in ("strict", "torch", "memory map", "dask", "dask csr"):
            if refusal(estimator, places[kind]) is None:
                there = clone(estimator).fit(places[kind], known_labels=FEW)
                np.testing.assert_array_equal(to_host(there.labels_), here.labels_, err_msg=kind)
                assert there.classes_.tolist() == [0, 2, 3]
    sparse = clone(estimator).fit(sp.csr_array(X), known_labels=FEW)
    np.testing.assert_array_equal(sparse.labels_, here.labels_)
    coordinates = clone(estimator).fit(jc.decompose(X), known_labels=FEW)
    np.testing.assert_array_equal(coordinates.labels_, here.labels_)


@pytest.mark.parametrize("text", ["-1", "nan", "", "None", "<NA>"])
def test_text_that_numpy_makes_of_unknown_labels(text):
    """Strings and -1, or NaN, in one array are all strings; so are groups."""
    estimator = jc.LDAKMeans(4, random_state=0)
    given = np.where(KNOWN, FEW, text).astype(str)
    with pytest.warns(Notice, match=f"the text '{text}' is taken for an unknown") if text else nullcontext():
        model = clone(estimator).fit(X, known_labels=given)
    assert model.classes_.tolist() == CLASSES
    np.testing.assert_array_equal(model.labels_, clone(estimator).fit(X, known_labels=FEW).labels_)
    if text != "-1":
        alone = np.where(np.arange(240) < 200, text, "together")
        model = clone(estimator).fit(X, groups=alone)
        plain = clone(estimator).fit(X, groups=np.where(alone == "together", "together", None))
        np.testing.assert_array_equal(model.labels_, plain.labels_)


def test_classes_are_names_or_numbers():
    days = np.array(["2024-01-01", "2024-01-02", "NaT"], "datetime64[ns]")[np.arange(240) % 3]
    for moments in (days, days.astype("datetime64[s]").tolist()):
        with pytest.raises(ValueError, match="known_labels are of type datetime"):
            jc.LDAKMeans(4).fit(X, known_labels=moments)
    model = jc.LDAKMeans(4, random_state=0).fit(X, groups=np.where(np.arange(240) < 2, days[0], days[2]))
    assert set(model.labels_) == {0, 1, 2, 3}, "NaT is a row by itself"


def test_a_sample_holds_the_known_rows(monkeypatch, rng):
    """A start from a few of many rows knows every class, and others count for as much as they are."""
    known = np.full(4000, -1, dtype=np.int32)
    known[[5, 1000, 3999]] = [0, 1, 2]
    known[2000:3000] = 3
    rows = da.from_array(rng.normal(size=(4000, 3)), chunks=(700, -1))
    some, weights, labels = sample_known(rows, 400, rng, None, da.from_array(known, chunks=700))
    assert np.bincount(labels + 1, minlength=5)[1:4].tolist() == [1, 1, 1]
    assert 60 < np.sum(labels == 3) < 160
    assert len(some) == len(weights) == len(labels) < 700
    np.testing.assert_allclose(weights.sum(), 4000, rtol=0.2)
    for name in ("SAMPLE", "SAMPLE_PER_CLUSTER", "SAMPLE_PER_COLUMN"):
        monkeypatch.setattr(decomposition, name, 1 if "PER" in name else 60)
    for estimator in (jc.LDAKMeans(4, random_state=0), jc.UncorrelatedRidgeClustering(4, random_state=0)):
        model = clone(estimator).fit(da.from_array(X, chunks=(70, -1)), known_labels=FEW)
        np.testing.assert_array_equal(to_host(model.labels_)[KNOWN], numbers(FEW[KNOWN]))


def test_empty_clusters_take_no_known_rows():
    """The farthest row would fill the empty cluster, were it not known."""
    Z = np.array([[0.0], [0.1], [9.0], [20.0]])
    known = np.array([-1, -1, -1, 0], dtype=np.int32)
    filled = partitions.fill_empty(Z, np.zeros(4, dtype=np.int32), 2, None, known)
    np.testing.assert_array_equal(filled == 1, [True, False, False, False])


def test_free_clusters_alone_are_renumbered():
    known = np.array([0, -1, -1, -1, -1, -1], dtype=np.int32)
    new, old = np.array([0, 1, 1, 2, 2, 2], dtype=np.int32), np.array([0, 2, 2, 0, 0, 0], dtype=np.int32)
    np.testing.assert_array_equal(partitions.renumbered(new, old, 3, known), [0, 2, 2, 1, 1, 1])


def test_starts_are_the_centers_of_the_known_rows(rng):
    known = numbers(FEW).astype(np.int32)
    first = partitions.known_centers(X, known, 4)
    np.testing.assert_allclose(first, [X[name == FEW].mean(axis=0) for name in CLASSES])
    starts = kmeans.plus_plus(X, 4, 3, rng, None, first)
    np.testing.assert_array_equal(starts[:, :3], np.tile(first, (3, 1, 1)))
    assert all((start == X).all(axis=1).any() for start in starts[:, 3])


# -- groups ---------------------------------------------------------------------------------------------------------

GROUPS = np.random.RandomState(0).randint(90, size=240)
GROUPED = [method for method in METHODS if not isinstance(method, jc.RobustSparseFuzzyKMeans)]


def added_up(values, weights=None):
    """For each row the sum over its group."""
    values = values if weights is None else values * weights[:, None]
    return np.stack([values[group == GROUPS].sum(axis=0) for group in range(90)])[GROUPS]


@pytest.mark.parametrize("estimator", GROUPED, ids=named)
def test_groups_have_the_label_that_suits_all_their_rows(estimator):
    weights = np.random.RandomState(1).uniform(0.5, 2, size=240)
    model = clone(estimator).fit(X, sample_weight=weights, groups=GROUPS)
    assert all(np.unique(model.labels_[group == GROUPS]).size <= 1 for group in range(90))
    embedding = model.transform(X)
    distances = ((embedding[:, None, :] - model.cluster_centers_) ** 2).sum(axis=2)
    if isinstance(model, jc.UncorrelatedRidgeClustering):
        means = added_up(embedding, weights) / added_up(np.ones((240, 1)), weights)
        soft = model._rule.soft(means + model.intercept_)
        np.testing.assert_allclose(model.soft_labels_, soft, atol=1e-8)
    elif isinstance(model, jc.FuzzyKMeans):
        naive = added_up(distances, weights) ** (1 / (1 - model.fuzzifier_))
        np.testing.assert_allclose(model.soft_labels_, naive / naive.sum(axis=1, keepdims=True), atol=1e-8)
    else:
        robust = isinstance(model, jc.RobustKMeans) or getattr(model, "robust", False)
        losses = added_up(np.sqrt(distances) if robust else distances, weights)
        np.testing.assert_array_equal(model.labels_, losses.argmin(axis=1))


@pytest.mark.parametrize("estimator", [method for method in GROUPED if rising(method) is not None], ids=named)
def test_objectives_stay_monotone_with_groups(estimator):
    history = clone(estimator).set_params(tol=0).fit(X, groups=GROUPS).objective_history_
    steps = np.diff(history) if rising(estimator) else -np.diff(history)
    assert (steps >= -1e-9 * np.abs(history[1:])).all()


@pytest.mark.parametrize("estimator", GROUPED, ids=named)
def test_a_known_row_names_its_group(estimator):
    known = np.full(240, None)
    known[[0, 1]] = "first", "second"
    assert GROUPS[0] != GROUPS[1]
    model = clone(estimator).fit(X, known_labels=known, groups=GROUPS)
    for number in (0, 1):
        np.testing.assert_array_equal(model.labels_[GROUPS[number] == GROUPS], number)


def test_groups_of_rows_on_a_device():
    groups = 90 * Y + GROUPS // 8
    for estimator in (jc.LDAKMeans(4, random_state=0), jc.RobustEmbeddedClustering(4, random_state=0)):
        here = clone(estimator).fit(X, known_labels=FEW, groups=groups)
        there = clone(estimator).fit(torch.tensor(X), known_labels=FEW, groups=groups)
        np.testing.assert_array_equal(to_host(there.labels_), here.labels_)


def test_impossible_groups():
    with pytest.raises(ValueError, match=r"groups must have shape \(240,\)"):
        jc.LDAKMeans(4).fit(X, groups=GROUPS[:9])
    with pytest.raises(ValueError, match="different known labels"):
        jc.LDAKMeans(4).fit(X, known_labels=NAMES, groups=GROUPS)
    with pytest.raises(TypeError, match="groups are for rows in memory.*Dask"):
        jc.LDAKMeans(4).fit(da.from_array(X), groups=GROUPS)
    with pytest.raises(TypeError, match="takes no groups"):
        jc.RobustSparseFuzzyKMeans(4).fit(X, groups=GROUPS)
