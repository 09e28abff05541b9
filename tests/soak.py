"""Random fits, for as long as one likes: every estimator on random rows, weights, kinds of input and places.

``make test-soak`` runs it for ten minutes; it is no part of the suite. Each trial has a seed of its own, which is
printed when it fails: ``python tests/soak.py --seed SEED --trials 1`` repeats it.

What must hold of each trial: labels are in range and equal to ``predict`` of the rows; a second fit gives the same;
what was given is not changed; no warning of NumPy or SciPy leaks, and the process's filters stay; sparse rows, and rows
in other places, give the labels that dense ones in memory do where the clusters are clear; and the peak of memory is
below 64 MiB + 40 times the rows + 10 matrices of all pairs of rows.

Every other trial checks a relation between two fits instead (``relations.py``): empty columns and rows, offsets,
numbers as text, storage, the order of rows and columns, interrupts, ``like``, ``update``, blocks, other rows than
those of the fit, and kills of the command line.
"""

import argparse
import contextlib
import pathlib
import sys
import tempfile
import time
import traceback
import tracemalloc
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags

import jointclust as jc
from elsewhere import every_place, refusal
from jointclust.numerics.partitions import adjusted_rand
from jointclust.rows import is_elsewhere, is_lazy
from jointclust.rows.arrays import is_device_array, to_host
from registered import CLUSTERERS
from relations import RELATIONS, drawn_model

ESTIMATORS = [*CLUSTERERS, jc.JointConsensus(), jc.JointConsensus(views=None), jc.JointConsensus(effort="quick")]
# How far clear clusters are from the origin, in standard deviations.
APART = 30.0
LEAKS = (DeprecationWarning, FutureWarning, PendingDeprecationWarning, ResourceWarning, RuntimeWarning)


# -- what is drawn ------------------------------------------------------------------------------------------------


def clear(rng, n, d, k):
    """Clusters that any method finds in any view: far apart in every pair, in all columns, about equally large."""
    directions = np.linalg.qr(rng.standard_normal((max(d, k), max(d, k))))[0]
    return APART * directions[np.arange(n) % k, :d] + rng.standard_normal((n, d))


def noise(rng, n, d, k):
    return rng.standard_normal((n, d)) * rng.choice([1e-6, 1, 1e6])


def repeated(rng, n, d, k):
    """Fewer distinct rows than clusters, at times."""
    places = rng.standard_normal((rng.randint(1, 2 * k + 1), d))
    return places[rng.randint(len(places), size=n)]


def counts(rng, n, d, k):
    return rng.poisson(rng.gamma(0.5, 1.0, size=(k, d)))[rng.randint(k, size=n)] + rng.poisson(0.2, size=(n, d)) * 1.0


def far(rng, n, d, k):
    """One column the size of a timestamp; the clusters are clear in the others."""
    return np.insert(clear(rng, n, d, k)[:, 1:], rng.randint(d), 1.7e9 + rng.standard_normal(n), axis=1)


def flat(rng, n, d, k):
    """Columns that do not vary, or hardly."""
    X = rng.standard_normal((n, d))
    X[:, rng.uniform(size=d) < 0.5] = rng.choice([0.0, 7.3])
    return 5 + rng.choice([1.0, 1e-9]) * X


def heavy(rng, n, d, k):
    return rng.standard_cauchy((n, d))


DATA = [clear, clear, noise, repeated, counts, far, flat, heavy]
KINDS = {
    "numpy": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "masked": lambda X: np.ma.masked_array(X),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "csr twice": lambda X: twice(sp.csr_array(X)),
    "list": lambda X: X.tolist(),
}
PLACES = ("torch", "strict", "memory map", "hdf5", "zarr", "dask", "dask csr", "dask frame")


def twice(half):
    """Each entry by halves."""
    data, indices = np.repeat(half.data / 2, 2), np.repeat(half.indices, 2)
    return sp.csr_array((data, indices, 2 * half.indptr), shape=half.shape)


def drawn_weights(rng, n, k):
    kind = rng.choice(["none", "none", "uniform", "some zero", "whole"])
    if kind == "none":
        return None
    weights = rng.uniform(0.1, 3, size=n) if kind != "whole" else rng.randint(1, 4, size=n).astype(float)
    if kind == "some zero":
        weights[rng.permutation(n)[: max(0, min(n // 4, n - 2 * k))]] = 0.0
    return weights


class Trial:
    """One draw of everything."""

    def __init__(self, seed):
        self.rng = rng = np.random.RandomState(seed)
        self.k = int(rng.randint(1, 7))
        self.n, self.d = int(rng.randint(max(8, 3 * self.k), 260)), int(rng.randint(1, 40))
        self.data = DATA[rng.randint(len(DATA))]
        self.X = self.data(rng, self.n, self.d, self.k)
        self.estimator = clone(ESTIMATORS[rng.randint(len(ESTIMATORS))])
        self.estimator.set_params(n_clusters=self.k, random_state=int(rng.randint(100)))
        if getattr(self.estimator, "n_components", None) is not None:
            self.estimator.set_params(n_components=1)
        self.weights = drawn_weights(rng, self.n, self.k)
        self.kind = rng.choice(list(KINDS) + list(PLACES))

    @property
    def is_clear(self):
        """Whether any method finds the clusters, whatever rounding does; some kernels see where the origin is."""
        if self.k >= self.d or self.kind == "float32" or getattr(self.estimator, "n_components", None) is not None:
            return False
        kernel = getattr(self.estimator, "kernel", None)
        return self.data is clear or (self.data is far and kernel not in ("cosine", "poly"))

    def __str__(self):
        weights = "weights" if self.weights is not None else "no weights"
        shown = " ".join(repr(self.estimator).split())
        return f"{shown} on {self.data.__name__} {self.n} x {self.d}, {self.kind}, {weights}"


# -- what must hold -----------------------------------------------------------------------------------------------


def takes(estimator, X):
    """Whether rows of this kind can be fitted."""
    if sp.issparse(X):
        return get_tags(estimator).input_tags.sparse
    return not is_elsewhere(X) or refusal(estimator, X) is None


@contextlib.contextmanager
def no_leaks():
    """Only warnings that are meant for users; the filters are as before."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        yield
        assert list(warnings.filters) == before, "the filters were changed"
    leaked = [f"{one.category.__name__}: {one.message}" for one in caught if issubclass(one.category, LEAKS)]
    assert not leaked, f"leaked {leaked[:3]}"


def fingerprint(X):
    """The values of what was given."""
    if sp.issparse(X):
        return [X.data.copy(), X.indices.copy(), X.indptr.copy()]
    if is_lazy(X):  # whose chunks cannot be written to
        return []
    return [np.array(to_host(X) if is_device_array(X) else X[:])]


def fitted(trial, X, weights):
    with no_leaks():
        model = clone(trial.estimator).fit(X, sample_weight=weights)
        labels, again = to_host(model.labels_), to_host(model.predict(X))
    assert labels.shape == (trial.n,), labels.shape
    assert labels.dtype.kind == "i", labels.dtype
    assert labels.min() >= 0, labels.min()
    assert labels.max() < trial.k, labels.max()
    assert np.array_equal(labels, again), f"labels_ and predict differ in {np.sum(labels != again)} rows"
    return labels


def check(trial, X):
    before = fingerprint(X)
    weights = None if trial.weights is None else trial.weights.copy()
    tracemalloc.start()
    labels = fitted(trial, X, weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    limit = 2**26 + 40 * trial.X.nbytes + 80 * trial.n**2
    assert peak < limit, f"{peak / 2**20:.0f} MiB are above {limit / 2**20:.0f}"
    assert all(np.array_equal(a, b) for a, b in zip(before, fingerprint(X), strict=True)), "X was changed"
    assert weights is None or np.array_equal(weights, trial.weights), "the weights were changed"
    assert np.array_equal(labels, fitted(trial, X, weights)), "a second fit differs"
    if trial.is_clear:
        others = [fitted(trial, trial.X, weights)]
        if takes(trial.estimator, sp.csr_array(trial.X)):
            others.append(fitted(trial, sp.csr_array(trial.X), weights))
        for other in others:
            assert adjusted_rand(labels, other) == 1, "dense rows in memory, or sparse ones, give other labels"


class Related:
    """A draw of rows with clear clusters, and of a relation."""

    def __init__(self, seed):
        self.rng = rng = np.random.RandomState(seed)
        self.k = int(rng.randint(2, 6))
        self.n, self.d = int(rng.randint(30 * self.k, 260)), int(rng.randint(self.k + 3, 30))
        self.relation = RELATIONS[rng.randint(len(RELATIONS))]

    def check(self):
        X = clear(self.rng, self.n, self.d, self.k)
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")
            self.relation(self.rng, X, drawn_model(self.rng, X, self.k), pathlib.Path(folder))

    def __str__(self):
        return f"{self.relation.__name__} of {self.k} clusters in {self.n} x {self.d}"


def run(seed):
    """The error of a trial, None where there is none; and whether it was made."""
    trial = Related(seed) if seed % 2 else Trial(seed)
    try:
        if isinstance(trial, Related):
            trial.check()
            return trial, None, True
        with contextlib.ExitStack() as stack:
            if trial.kind in KINDS:
                X = KINDS[trial.kind](trial.X)
            else:
                folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
                X = stack.enter_context(every_place(trial.X, folder))[trial.kind]
            if not takes(trial.estimator, X):
                return trial, None, False
            check(trial, X)
    except Exception:
        return trial, traceback.format_exc(), True
    finally:
        tracemalloc.stop()
    return trial, None, True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--trials", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 10**6 * 1000)
    given = parser.parse_args()
    print(f"seeds from {given.seed} on", flush=True)
    end, made, failed, seed = time.monotonic() + 60 * given.minutes, 0, [], given.seed
    while time.monotonic() < end and seed - given.seed < given.trials:
        trial, error, was_made = run(seed)
        made += was_made
        if error is not None:
            failed.append(seed)
            print(f"\nseed {seed}: {trial}\n{error}", flush=True)
        seed += 1
    print(f"{made} trials, {len(failed)} failed{': seeds ' + str(failed) if failed else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
