import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from browser.conftest import browser, pytest_collection_modifyitems, visit  # of the library's tests

__all__ = ["browser", "pytest_collection_modifyitems", "visit"]


@pytest.fixture(autouse=True, scope="session")
def _one_blas_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture
def rng():
    return np.random.RandomState(0)
