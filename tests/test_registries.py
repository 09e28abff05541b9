"""A new method, and a new view, is one file and one line: in a copy of the package the real tests run on both."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import jointclust as jc

TESTS = Path(__file__).parent
METHOD = '''"""k-means in the leading principal components."""

from dataclasses import dataclass

import numpy as np

from jointclust.estimators.embedding_first import Embedded, EmbeddingClusterer, LinearMap
from jointclust.numerics.partitions import within_norm


@dataclass(eq=False, repr=False, kw_only=True)
class ToyKMeans(EmbeddingClusterer):
    """k-means in the leading principal components."""

    _orthonormal = True
    variance: float | None = None

    def _fit_embedding(self, X, sample_weight, rng, task):
        coordinates = self._coordinates(X, sample_weight, rng)
        leading = np.eye(coordinates.rank, self._n_components(coordinates))
        linear = LinearMap.from_coordinates(coordinates, leading)
        self.mean_, self.components_ = linear.mean_, linear.components_
        rows = coordinates.rows
        return Embedded(linear.fitted_values(rows), coordinates.weights, coordinates.is_constant, swept=rows)

    def _publish_objective(self, embedded):
        self.objective_ = self._score(embedded.Y, self.labels_, embedded.weights)

    def _score(self, Y, labels, weights):
        return -within_norm(Y, labels, self.cluster_centers_, weights)
'''
VIEW = '''"""Columns twice as wide."""

import numpy as np
import scipy.sparse as sp

from jointclust.rows.arrays import like
from jointclust.views.scaling import AsIs


class ToyView(AsIs):
    """Columns twice as wide."""

    def _learn(self, X, weights):
        self.factors_ = np.where(self._mask(), 2.0, 1.0)

    def _change(self, x):
        if sp.issparse(x):
            return x @ sp.diags_array(self.factors_).astype(x.dtype)
        return x * like(self.factors_, x)
'''
METHOD_LINE = '    Registered("toy", "jointclust.methods.toy:ToyKMeans", (Setting(title="toy", compared="toy"),)),\n'
VIEW_LINE = '        View("toy", "jointclust.views.toy:ToyView", "a toy needs no reason", {"table": 4}),\n'
# Of the tests of all methods and views, those whose names have "toy" in them.
REAL = [
    "estimators/test_contract.py",
    "estimators/test_inputs.py",
    "estimators/test_known.py",
    "rows/test_elsewhere.py",
    "views/test_views.py",
    "cli/test_cli.py",
    "test_persistence.py",
]
USED = """
import warnings

import numpy as np
import jointclust as jc
from jointclust import cli

warnings.simplefilter("ignore")
X, y = jc.datasets.mixture(60, 8, 3, separation=20, n_nuisance=0, random_state=0)
np.save("x.npy", X)
cli.main("fit x.npy -k 3 --method toy --scale toy --resamples 0 --quiet --out run".split())
model = jc.load("run/model.skops")
assert [type(step).__name__ for _, step in model.steps] == ["ToyView", "ToyKMeans"]
assert jc.metrics.clustering_accuracy(y, model.predict(X)) == 1
assert "ToyKMeans" in jc.__all__
assert jc.describe(X).views == ["standardised", "rank-normal", "as is", "toy"]
consensus = jc.JointConsensus(3, effort="quick", random_state=0).fit(X)
(view,) = (view for view in consensus.views_ if view["name"] == "toy")
assert "a toy needs no reason" in view["reason"]
jc.save(consensus, "consensus.skops")
np.testing.assert_array_equal(jc.load("consensus.skops").predict(X), consensus.labels_)
jc.registry.METHODS = jc.registry.METHODS[:1]  # the others take seconds
table = jc.compare(X, 3, random_state=0, n_resamples=1)
assert table["clusters"][table["method"].index("toy")] == 3
"""


def add_line(path, start, line):
    """A line at the head of a registry's entries."""
    text = path.read_text()
    assert text.count(start) == 1
    path.write_text(text.replace(start, start + line))


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The environment in which a copy of the package has a toy method and a toy view."""
    folder = tmp_path_factory.mktemp("copy")
    package = folder / "jointclust"
    shutil.copytree(Path(jc.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "methods" / "toy.py").write_text(METHOD)
    (package / "views" / "toy.py").write_text(VIEW)
    add_line(package / "registry.py", "METHODS: tuple[Registered, ...] = (\n", METHOD_LINE)
    add_line(package / "views" / "registry.py", "    for view in (\n", VIEW_LINE)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return plain | {"PYTHONPATH": str(folder), "SCIPY_ARRAY_API": "1", "OMP_NUM_THREADS": "1"}


def run(arguments, environment, folder):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, env=environment, cwd=folder
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    return done.stdout


def test_the_real_tests_pass(copy):
    pytest_options = ["-m", "pytest", "-q", "-k", "toy", "-p", "no:cacheprovider", "-p", "no:randomly", "-W", "ignore"]
    text = run([*pytest_options, "-rN", *(TESTS / name for name in REAL)], copy, TESTS.parent)
    assert int(re.search(r"(\d+) passed", text)[1]) > 180, text[-500:]
    assert "failed" not in text


def test_they_are_used(copy, tmp_path):
    run(["-c", USED], copy, tmp_path)
