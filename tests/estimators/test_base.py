"""What all estimators share: labels to start from, how clusters are numbered and published, runs and their seeds."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.utils import check_random_state

import jointclust as jc
from jointclust.numerics.partitions import cluster_order

# One of each kind: alternating, soft, embedding first.
MODELS = [jc.LDAKMeans(4, random_state=0), jc.FuzzyKMeans(4, random_state=0), jc.DisKMeans(4, random_state=0)]
each_kind = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


# -- labels to start from -----------------------------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize("form", [list, torch.tensor, lambda y: np.asarray(y, dtype=np.uint8)])
def test_labels_to_start_from_in_any_form(model, form, blobs):
    X, y = blobs
    expected = clone(model).set_params(init=y).fit(X).labels_
    np.testing.assert_array_equal(clone(model).set_params(init=form(y.tolist())).fit(X).labels_, expected)


@each_kind
def test_given_labels_make_one_run(model, blobs):
    X, y = blobs
    with pytest.warns(RuntimeWarning, match="one run is made instead of n_init=3"):
        several = clone(model).set_params(init=y, n_init=3).fit(X)
    np.testing.assert_array_equal(several.labels_, clone(model).set_params(init=y).fit(X).labels_)


def test_labels_that_are_given_are_not_changed(blobs):
    X, y = blobs
    start = np.roll(y, 1).astype(np.int32)
    before = start.copy()
    jc.LDAKMeans(4, init=start, random_state=0).fit(X)
    np.testing.assert_array_equal(start, before)


# -- numbers of clusters ------------------------------------------------------------------------------------------


def test_clusters_are_numbered_by_size_then_by_place():
    centers = np.array([[3.0, 0], [0, 1], [0, -1], [9, 9], [0, 2]])
    assert cluster_order(np.array([5.0, 5, 5, 0, 7]), centers).tolist() == [4, 2, 1, 0, 3]
    assert cluster_order(np.array([1.0, 2, 3, 4, 5]), centers).tolist() == [4, 3, 2, 1, 0]
    assert cluster_order(np.ones(2), np.zeros((2, 2))).tolist() == [0, 1]


def test_rounding_does_not_renumber():
    centers = np.random.RandomState(0).standard_normal((6, 3))
    centers[3] = -centers[2]  # as far from the mean
    sizes = np.full(6, 10.0)
    for seed in range(10):
        shaken = centers * (1 + 1e-12 * np.random.RandomState(seed).standard_normal((6, 3)))
        np.testing.assert_array_equal(cluster_order(sizes, centers), cluster_order(sizes, shaken))


@each_kind
def test_the_largest_cluster_is_the_first(model):
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(4), [10, 40, 20, 30])
    X = rng.standard_normal((100, 6)) + 30 * np.eye(4, 6)[y]
    labels = clone(model).fit(X).labels_
    assert np.bincount(labels).tolist() == [40, 30, 20, 10]
    by_weight = clone(model).fit(X, sample_weight=np.where(y == 0, 10.0, 1.0)).labels_
    assert (by_weight[:10] == 0).all()


@pytest.mark.parametrize("model", [jc.LDAKMeans(5, variance=None, random_state=0), jc.RobustKMeans(5, random_state=0)])
def test_empty_clusters_share_the_first_center(model):
    """Fewer distinct rows than clusters: no row, old or new, ever falls to a cluster that is empty."""
    few = np.repeat(np.random.RandomState(0).standard_normal((3, 6)), [10, 20, 30], axis=0)
    with pytest.warns(jc.CollapseWarning, match="3 clusters were found instead of n_clusters=5"):
        model.fit(few)
    centers = model.cluster_centers_
    np.testing.assert_array_equal(centers[3:], np.repeat(centers[:1], 2, axis=0))
    assert np.unique(centers[:3], axis=0).shape[0] == 3
    assert np.bincount(model.labels_).tolist() == [30, 20, 10]
    new = np.random.RandomState(1).standard_normal((500, 6))
    assert model.predict(new).max() < 3


# -- runs ---------------------------------------------------------------------------------------------------------


class Recorded(jc.LDAKMeans):
    """Notes the first number that each run draws."""

    def _start(self, index, coordinates, n_components, rng):
        self.drawn[index] = rng.randint(2**31 - 1)
        return super()._start(index, coordinates, n_components, rng)


@pytest.mark.filterwarnings("ignore::jointclust.PlainKMeansWarning")
@pytest.mark.parametrize("seed", [0, np.random.RandomState])
def test_runs_are_seeded_one_by_one(seed, iris):
    """Each run has a seed of its own, whatever the number of threads, and the first runs are those of a shorter fit."""
    drawn = []
    for n_init, n_jobs in ((5, None), (5, 3), (5, -1), (2, None)):
        state = seed if seed == 0 else seed(7)
        model = Recorded(3, n_init=n_init, n_jobs=n_jobs, init="random", random_state=state)
        model.drawn = {}
        model.fit(iris.data)
        drawn.append(model.drawn)
    assert drawn[0] == drawn[1] == drawn[2]
    assert sorted(drawn[0]) == list(range(5))
    assert len(set(drawn[0].values())) == 5
    assert drawn[3] == {index: drawn[0][index] for index in range(2)}


@pytest.mark.parametrize(
    "model",
    [
        jc.DiscriminativeEmbeddedClustering(3, init="random", n_init=4),
        jc.UncorrelatedRidgeClustering(3, n_init=4),
        jc.OptimalDiscriminantClustering(3, n_init=4),
    ],
    ids=lambda model: type(model).__name__,
)
def test_results_do_not_depend_on_the_threads(model, iris):
    alone, together = (
        vars(clone(model).set_params(n_jobs=n_jobs, random_state=check_random_state(0)).fit(iris.data))
        for n_jobs in (None, 2)
    )
    np.testing.assert_array_equal(alone["labels_"], together["labels_"])
    np.testing.assert_array_equal(alone["cluster_centers_"], together["cluster_centers_"])
    assert alone["objective_"] == together["objective_"]


# -- where the rows are -------------------------------------------------------------------------------------------


@each_kind
def test_rows_elsewhere_than_those_of_the_fit_are_refused(model, blobs):
    X, _ = blobs
    model = clone(model).fit(X)
    for method in ("predict", "transform", "score", "inverse_transform"):
        given = model.transform(X) if method == "inverse_transform" else X
        with pytest.raises(ValueError, match=rf"{method}\(\) must use the same namespace.*torch.*Move X there"):
            getattr(model, method)(torch.tensor(given))
