"""UMAP with HDBSCAN and Leiden as rows of the leaderboard, where their packages are installed (the extra ``peers``)."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from jointclust_papers.opponents import UMAPHDBSCAN, Leiden, installed


@pytest.mark.parametrize(("package", "method"), [("umap", UMAPHDBSCAN), ("igraph", Leiden)])
def test_separated_groups_are_found(package, method):
    pytest.importorskip(package)
    assert method in {type(estimator) for estimator, _ in installed().values()}
    X, y = make_blobs(150, 8, centers=10 * np.eye(3, 8), random_state=0)
    model = method(random_state=0).set_params(**({"resolution": 0.1} if method is Leiden else {})).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.99
    np.testing.assert_array_equal(model.labels_, method(**model.get_params()).fit(X).labels_)
    assert method(random_state=0).fit(X[:6]).labels_.shape == (6,)  # fewer rows than neighbours


def test_what_is_not_installed_is_left_out(monkeypatch):
    monkeypatch.setattr("jointclust_papers.opponents.find_spec", lambda name: None)
    assert installed() == {}
