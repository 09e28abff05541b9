import csv
import os

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import jointclust as jc


@pytest.fixture(autouse=True, scope="session")
def _one_blas_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def iris():
    """The bundled one, with names of its features, whatever folder of data there is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("JOINTCLUST_DATA", raising=False)
        return jc.datasets.load("iris")


@pytest.fixture(scope="session")
def digits():
    return jc.datasets.load("digits")


@pytest.fixture(scope="session")
def blobs():
    """Well-separated clusters in 30 dimensions, and their classes."""
    return jc.datasets.mixture(300, 30, 4, separation=20, n_nuisance=0, random_state=0)


@pytest.fixture
def iris_csv(iris, tmp_path):
    path = tmp_path / "iris.csv"
    rows = [["name", *iris.feature_names, "kind"]]
    rows += [[f"flower {i}", *row, f"kind {y}"] for i, (row, y) in enumerate(zip(iris.data, iris.target, strict=True))]
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return path


@pytest.fixture
def rng():
    return np.random.RandomState(0)


@pytest.fixture
def real_data():
    """Loads a data set from the user's folder, or skips."""

    def load(name):
        if not os.environ.get("JOINTCLUST_DATA"):
            pytest.skip("JOINTCLUST_DATA names no folder with the real data sets")
        if name not in jc.datasets.names():
            pytest.skip(f"{name} is not in JOINTCLUST_DATA")
        return jc.datasets.load(name)

    return load
