"""scikit-learn's contract, for every method in the registry."""

import os
import re
from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import jointclust as jc
from registered import ONE_EACH

# Other accelerators; CUDA and CuPy are checked on a GPU (`make test-gpu`).
ABSENT = re.compile("dpnp is not installed|MPS device|XPU device|requires cuda|cupy is not installed")
ESTIMATORS = [
    *ONE_EACH,
    jc.JointConsensus(4),
    *(jc.DiscriminantProjection(criterion) for criterion in ("lda", "olsda", "scoring", "ridge")),
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
