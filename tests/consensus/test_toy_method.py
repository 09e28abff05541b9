"""A new method is one file and one line in the registry: the rest follows."""

from typing import Any, ClassVar
from unittest import SkipTest

import dask.array as da
import numpy as np
import pytest
import torch
from sklearn.utils.estimator_checks import estimator_checks_generator

import jointclust as jc
from elsewhere import TOUCHING, check_same_answer, on_host, settings
from jointclust import cli, registry
from jointclust.estimators.base import Clusterer
from jointclust.estimators.embedding_first import Embedded, EmbeddingClusterer, LinearMap
from jointclust.experiments.papers import _leaderboard
from jointclust.numerics.partitions import within_norm

# -- the file -----------------------------------------------------------------------------------------------------


class PrincipalKMeans(EmbeddingClusterer):
    """k-means in the leading principal components."""

    _orthonormal = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **EmbeddingClusterer._parameter_constraints,
        "variance": Clusterer._parameter_constraints["variance"],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        n_components=None,
        variance=None,
        max_rank=500,
        init="k-means++",
        n_init=1,
        random_state=None,
        n_jobs=None,
    ):
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.variance = variance
        self.max_rank = max_rank
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_embedding(self, X, sample_weight, rng, task):
        coordinates = self._coordinates(X, sample_weight, rng)
        leading = np.eye(coordinates.rank, self._n_components(coordinates))
        found = LinearMap.from_coordinates(coordinates, leading)
        self.mean_, self.components_ = found.mean_, found.components_
        rows = coordinates.rows
        return Embedded(found.fitted_values(rows), coordinates.weights, coordinates.is_constant, swept=rows)

    def _publish_objective(self, embedded):
        self.objective_ = self._score(embedded.Y, self.labels_, embedded.weights)

    def _score(self, Y, labels, weights):
        return -within_norm(Y, labels, self.cluster_centers_, weights)


# -- the line -----------------------------------------------------------------------------------------------------

LINE = registry.Registered("toy", PrincipalKMeans, (registry.Setting(title="toy", compared="toy"),))


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setattr(registry, "METHODS", (*registry.METHODS, LINE))


# -- what follows -------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::jointclust.CollapseWarning")
def test_scikit_learn_takes_it():
    n_checks = 0
    for estimator, check in estimator_checks_generator(PrincipalKMeans(4)):
        try:
            check(estimator)
            n_checks += 1
        except SkipTest as skipped:
            if "array_api" not in str(check.func):
                pytest.fail(f"{check} was skipped: {skipped}")
    assert n_checks > 50


@pytest.mark.parametrize("place", [torch.tensor, lambda X: da.from_array(X, chunks=(170, -1))], ids=["torch", "dask"])
def test_it_runs_elsewhere(place):
    (model,) = (model for model in settings()[0] if isinstance(model, PrincipalKMeans))
    check_same_answer(on_host(model), model, TOUCHING, place(TOUCHING))


def test_it_is_compared(monkeypatch):
    assert "toy" in _leaderboard.methods()
    monkeypatch.setattr(registry, "METHODS", (LINE,))  # the others take seconds
    X, _ = jc.datasets.mixture(60, 8, 3, separation=20, n_nuisance=0, random_state=0)
    table = jc.compare(X, 3, random_state=0, n_resamples=1)
    assert table["clusters"][table["method"].index("toy")] == 3


def test_the_command_line_knows_it(iris, tmp_path):
    np.savetxt(tmp_path / "iris.csv", iris.data, delimiter=",")
    call = ["fit", str(tmp_path / "iris.csv"), "--no-header", "--clusters", "3", "--method", "toy", "--quiet"]
    cli.main([*call, "--out", str(tmp_path / "run")])
    assert isinstance(jc.load(tmp_path / "run" / "model.skops")[-1], PrincipalKMeans)


def test_it_is_saved_and_loaded(iris, tmp_path):
    model = PrincipalKMeans(3, random_state=0).fit(iris.data)
    jc.save(model, tmp_path / "toy.skops")
    np.testing.assert_array_equal(jc.load(tmp_path / "toy.skops").predict(iris.data), model.labels_)
