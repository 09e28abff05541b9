"""Everything that people call, wherever their rows are: from one list of calls and one of places."""

import numpy as np
import pytest
import torch

import jointclust as jc
from jointclust.consensus import views
from jointclust.rows.arrays import to_host
from places import PLACES, ROWS, STRICT, answers, rows_in

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def in_memory(tmp_path_factory):
    return answers(ROWS, tmp_path_factory.mktemp("memory"))


@pytest.mark.parametrize("place", [*(place for place in PLACES if place != "memory"), STRICT])
def test_every_call(place, in_memory, tmp_path):
    """The same answer as in memory; sparse rows have other views, so that only the clusters are the same."""
    with rows_in(place, ROWS, tmp_path) as there:
        result = answers(there, tmp_path)
    for name, expected in in_memory.items():
        if place != "sparse" or name == "predict":
            _check_same(result[name], expected, name)


def _check_same(result, expected, name):
    if isinstance(expected, tuple):
        for one, other in zip(result, expected, strict=True):
            _check_same(one, other, name)
    elif isinstance(expected, str):
        assert result == expected, name
    else:
        np.testing.assert_allclose(result, expected, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("place", [place for place in PLACES if place != "sparse"])
def test_gaps_are_filled(place, tmp_path):
    X = ROWS.copy()
    X[17, 3] = X[200, 5] = np.nan
    host = jc.JointConsensus(3, trust=False, random_state=0).fit(X)
    with rows_in(place, X, tmp_path) as there:
        model = jc.JointConsensus(3, trust=False, random_state=0).fit(there)
        np.testing.assert_array_equal(to_host(model.labels_), host.labels_)
        np.testing.assert_array_equal(to_host(model.predict(there)), host.labels_)
        assert jc.describe(there).kind == host.description_.kind


@pytest.mark.parametrize("place", ["memory map", "Dask array", "torch"])
def test_gaps_outside_the_sample(place, tmp_path, monkeypatch):
    """Rows of one scale have nothing that fills gaps unless there are some: all rows are looked at, not the sample."""
    monkeypatch.setattr(views, "MOST_ROWS", 60)
    X, _ = jc.datasets.mixture(400, 60, 3, separation=25, n_nuisance=1, random_state=0)
    X[7, 3] = np.nan
    with rows_in(place, X, tmp_path) as there:
        model = jc.JointConsensus(3, trust=False, random_state=0).fit(there)
        whole = jc.JointConsensus(3, trust=False, random_state=0).fit(torch.tensor(X[8:]))
        with pytest.raises(ValueError, match="missing cells, which views=None does not fill"):
            jc.JointConsensus(3, views=None).fit(there)
    assert model.description_.kind == "features"
    assert to_host(model.labels_)[7] in (0, 1, 2)
    with pytest.raises(ValueError, match="rows of fit had none to learn from: fill them first"):
        whole.predict(torch.tensor(X))


def test_infinity_is_no_gap():
    X = torch.tensor(ROWS)
    X[17, 3], X[20, 3] = torch.inf, torch.nan
    with pytest.raises(ValueError, match="infinity in 1 of 240 rows; the first is row 17"):
        jc.JointConsensus(3).fit(X)


def test_many_clusters_on_a_device(tmp_path):
    """Refits of many clusters are computed on the device, too: they say nearly what they say in memory.

    Four rows show a cluster there, so that rounding decides which of them are found.
    """
    rng, classes = np.random.RandomState(0), np.repeat(np.arange(205), 8)
    X = 6 * rng.standard_normal((205, 20))[classes] + rng.standard_normal((classes.size, 20))
    host = jc.JointConsensus(205, trust=True, random_state=0).fit(X)
    with rows_in(STRICT, X, tmp_path) as there:
        model = jc.JointConsensus(205, trust=True, random_state=0).fit(there)
    assert jc.metrics.clustering_accuracy(classes, host.labels_) > 0.99
    np.testing.assert_array_equal(to_host(model.labels_), host.labels_)
    assert np.abs(model.cluster_reproducibility_ - host.cluster_reproducibility_).mean() < 0.05
    np.testing.assert_allclose(model.reproducibility_, host.reproducibility_, atol=0.02)
