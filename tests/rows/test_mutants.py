"""The test of the test: a fit that goes wrong on the Dask side alone is told from the host's."""

import sys

import dask
import dask.array as da
import numpy as np
import pytest

from elsewhere import TOUCHING, WEIGHTS, check_same_answer, on_host, settings
from jointclust.numerics import kmeans
from jointclust.rows import _dask, blocks
from jointclust.subspace import alternating

MODELS = [model for model in settings()[0] if model._refusal("dask") is None]


def replace(patch, module, name, mutant):
    """Put a mutant in the place of a function wherever it has been imported."""
    original = getattr(module, name)
    for holder in [m for m in sys.modules.values() if getattr(m, "__name__", "").startswith("jointclust")]:
        if vars(holder).get(name) is original:
            patch.setattr(holder, name, mutant(original))


def with_options(**options):
    return lambda original: lambda *args, **given: original(*args, **{**given, **options})


def random_rows(original):
    def drawn(Y, n_clusters, n_sets, rng, weights=None, first=None, draws=None):
        return np.stack([Y[rng.permutation(len(Y))[:n_clusters]] for _ in range(n_sets)])

    return drawn


def equal_weights(original):
    def aligned(values, X):
        return original(np.ones_like(values) if values.dtype == np.float64 else values, X)

    return aligned


def one_block_less(original):
    def add(level):
        sums, pieces, shapes = original(level)
        return [total - last for total, last in zip(sums, level[-1][0], strict=True)], pieces, shapes

    return add


def mean_of_the_chunk(original):
    return lambda x, matrix, mean: original(x, matrix, None if mean is None else np.asarray(x).mean(axis=0))


MUTANTS = {
    "one restart": (kmeans, "kmeans", with_options(n_restarts=1)),
    "random rows in place of k-means++": (kmeans, "plus_plus", random_rows),
    "two steps of Lloyd": (kmeans, "lloyd_many", with_options(max_iter=2)),
    "one step of the method": (alternating, "alternate", with_options(max_iter=1)),
    "weights ignored": (_dask, "aligned", equal_weights),
    "sums of one block dropped": (_dask, "_add", one_block_less),
    "centred by the mean of the chunk": (blocks, "project", mean_of_the_chunk),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught(name, monkeypatch):
    hosts = [on_host(model, weighted=True) for model in MODELS]
    there = da.from_array(TOUCHING, (170, -1))
    replace(monkeypatch, *MUTANTS[name])

    def is_caught(host, model):
        try:
            check_same_answer(host, model, TOUCHING, there, WEIGHTS)
        except AssertionError:
            return True
        return False

    with dask.config.set(scheduler="synchronous"):
        assert any(is_caught(host, model) for host, model in zip(hosts, MODELS, strict=True))
