"""On a real GPU: torch and CuPy against NumPy, and scikit-learn's own checks there. ``make test-gpu`` runs it."""

import copy
import os

import numpy as np
import pytest
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

import jointclust as jc
from jointclust.registry import METHODS
from jointclust.rows.arrays import is_device_array, to_host
from places import DEVICES, ROWS, answers, rows_in
from registered import estimators_of

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no GPU here", allow_module_level=True)
pytestmark = [pytest.mark.filterwarnings("ignore")]

MODELS = [
    estimator.set_params(random_state=0)
    for entry in METHODS
    for estimator in estimators_of(entry, 4)
    if get_tags(estimator).array_api_support
]


def on_device(X, library):
    if library == "cupy":
        return pytest.importorskip("cupy").asarray(X)
    return torch.tensor(X, device="cuda")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_same_answer(model, library, dtype):
    X, _ = jc.datasets.mixture(3000, 20, 4, separation=25, n_nuisance=2, random_state=0)
    weights = np.random.RandomState(1).uniform(0.5, 2, size=len(X))
    host = copy.deepcopy(model).fit(X, sample_weight=weights)
    there = on_device(X.astype(dtype), library)
    fitted = copy.deepcopy(model).fit(there, sample_weight=weights)
    assert is_device_array(fitted.labels_)
    assert is_device_array(fitted.cluster_centers_)
    np.testing.assert_array_equal(to_host(fitted.labels_), host.labels_)
    np.testing.assert_array_equal(to_host(fitted.predict(there)), host.labels_)
    np.testing.assert_allclose(fitted.objective_, host.objective_, rtol=1e-6 if dtype == np.float64 else 1e-3)


@pytest.mark.parametrize("place", DEVICES)
def test_every_call(place, tmp_path):
    """What people call gives the clusters that it gives in memory."""
    host = answers(ROWS, tmp_path)
    with rows_in(place, ROWS, tmp_path) as there:
        result = answers(there, tmp_path)
    for name in ("cluster(X, k)", "cluster(X)", "predict", "save, load", "number_of_clusters", "rows_to_label"):
        np.testing.assert_array_equal(result[name], host[name], err_msg=name)
    np.testing.assert_allclose(result["confidence"], host["confidence"], atol=1e-3)


@pytest.mark.parametrize("place", DEVICES)
def test_gaps_are_filled(place, tmp_path):
    X = ROWS.copy()
    X[17, 3] = np.nan
    host = jc.JointConsensus(3, random_state=0).fit(X)
    with rows_in(place, X, tmp_path) as there:
        np.testing.assert_array_equal(to_host(jc.JointConsensus(3, random_state=0).fit(there).labels_), host.labels_)


CHECKS = [
    (estimator, check)
    for model in MODELS
    for estimator, check in estimator_checks_generator(model)
    if "array_api" in str(check) and ("cuda" in str(check) or "cupy" in str(check))
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=str)
def test_sklearn_contract(estimator, check):
    assert os.environ.get("SCIPY_ARRAY_API")
    check(estimator)


def test_another_device():
    model = jc.LDAKMeans(4, random_state=0).fit(torch.randn(100, 5, device="cuda"))
    with pytest.raises(ValueError, match="same device"):
        model.predict(torch.randn(10, 5))
