"""What the estimators that alternate share."""

import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

import jointclust as jc
from jointclust.estimators.joint import JointClusterer
from jointclust.subspace import decomposition
from registered import CLUSTERERS

JOINT = [estimator for estimator in CLUSTERERS if isinstance(estimator, JointClusterer)]


@pytest.mark.parametrize("estimator", JOINT, ids=repr)
def test_steps_leave_the_estimator_alone(estimator, blobs):
    """Runs go on in threads, and on samples of the rows: what one wrote to the estimator another would read."""
    model, coordinates = clone(estimator), jc.decompose(blobs[0])
    before = dict(vars(model))
    model._method(coordinates, 2, np.random.RandomState(0))
    assert vars(model) == before


@pytest.mark.filterwarnings("ignore::jointclust.PlainKMeansWarning")
@pytest.mark.parametrize("estimator", [jc.LDAKMeans(4), jc.DisCluster(4), jc.RobustEmbeddedClustering(4)], ids=repr)
def test_parameters_are_those_of_all_rows(estimator, blobs, monkeypatch):
    """A start from a sample has its own ridge and floor; published are those of the rows."""
    for name in ("SAMPLE", "SAMPLE_PER_CLUSTER", "SAMPLE_PER_COLUMN"):
        monkeypatch.setattr(decomposition, name, 1 if "PER" in name else 60)
    X = blobs[0]
    model = clone(estimator).set_params(n_init=3, n_jobs=3, random_state=0)
    there = clone(model).fit(da.from_array(X, chunks=(70, 30)))
    here = model.fit(X)
    for name in ("ridge_", "residual_floor_"):
        if hasattr(here, name):
            np.testing.assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-9)
