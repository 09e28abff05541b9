"""scikit-learn's contract, for every estimator from one list. A new method adds one line."""

import os
import re
from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import jointclust as jc

CLUSTERERS = [
    jc.DiscriminativeEmbeddedClustering(),
    jc.DiscriminativeEmbeddedClustering(trade_off=0, init="random", n_init=2),
    jc.DiscriminativeEmbeddedClustering(update_rule="fixed", trade_off="mmc"),
    jc.LDAKMeans(),
    jc.RobustEmbeddedClustering(),
    jc.RobustEmbeddedClustering(robust=False),
    jc.RobustKMeans(),
    jc.RobustKMeans(n_components=1),
    jc.OptimalDiscriminantClustering(),
    jc.OptimalDiscriminantClustering(kernel="rbf"),
    jc.OptimalDiscriminantClustering(kernel="poly", degree=2),
    jc.OptimalDiscriminantClustering(kernel="cosine"),
    jc.OptimalDiscriminantClustering(kernel="nearest_neighbors"),
    jc.SparseOptimalDiscriminantClustering(),
    jc.DisKMeans(),
    jc.DisCluster(),
    # scikit-learn's check of sparse input expects two or four columns of every predict_proba
    jc.UncorrelatedRidgeClustering(4),
    jc.UncorrelatedRidgeClustering(4, max_iter=20, tol=1e-2),
    jc.FuzzyKMeans(),
    jc.FuzzyKMeans(4, n_components=1, fuzzifier=1.5),
    jc.RobustSparseFuzzyKMeans(),
    jc.RobustSparseFuzzyKMeans(4, loss="l21", n_components=1),
]
# Other accelerators; CUDA and CuPy are checked on a GPU (`make test-gpu`).
ABSENT = re.compile("dpnp is not installed|MPS device|XPU device|requires cuda|cupy is not installed")
ESTIMATORS = [
    *CLUSTERERS,
    jc.JointConsensus(4),
    *(jc.DiscriminantProjection(criterion) for criterion in ("lda", "ocm", "mmc", "olsda", "scoring", "ridge")),
]


@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings(
    "ignore::jointclust.CollapseWarning", "ignore::jointclust.PlainKMeansWarning", "ignore:n_neighbors=8 exceeds"
)
def test_sklearn_contract(estimator, check):
    assert os.environ.get("SCIPY_ARRAY_API"), "run the tests with SCIPY_ARRAY_API=1, as `make test` does"
    try:
        check(estimator)
    except SkipTest as skipped:
        if "array_api" in str(check.func) and ABSENT.search(str(skipped)):
            pytest.skip(f"no such device or library here: {skipped}")
        pytest.fail(f"{check} was skipped: {skipped}")
