"""Speed and memory of DEC, as ratios in one run, BLAS on one thread.

    JOINTCLUST_DATA=folder python benchmarks/discriminative.py [--quick]

COIL20 is generated (same size, same number of classes) when JOINTCLUST_DATA does not hold it. --quick leaves out the
200,000-row part, which takes minutes because of KMeans(n_init=10) in the full space.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

import jointclust as jc
from jointclust import DiscriminativeEmbeddedClustering as DEC
from jointclust_papers.textbook import TextbookDEC

warnings.simplefilter("ignore")


def seconds(call: Callable[[int], Any], repeats: int = 7) -> float:
    """Median time of ``call(seed)`` over seeds, after one call to warm up."""
    call(0)
    times = []
    for seed in range(repeats):
        began = time.perf_counter()
        call(seed)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def line(what: str, value: float, unit: str, ratio: float | None = None, goal: str = "") -> None:
    shown = "" if ratio is None else f"{ratio:9.2f}"
    print(f"{what:66} {value:9.3f} {unit:3} {shown:>9}  {goal}", flush=True)


def textbook(X: np.ndarray, c: int, d: int, trade_off: float, seed: int) -> None:
    TextbookDEC(c, n_components=d, trade_off=trade_off, random_state=seed).fit(X)


def coil20() -> np.ndarray:
    if "coil20" in jc.datasets.names():
        print("COIL20")
        return jc.datasets.load("coil20").data
    print("COIL20 is not in JOINTCLUST_DATA: a generated mixture of its size stands in")
    return jc.datasets.mixture(1440, 1024, 20, random_state=0)[0]


def small() -> None:
    X = coil20()
    c, d = 20, 19
    shared = jc.decompose(X)
    reference = seconds(lambda s: KMeans(c, n_init=10, random_state=s).fit(PCA(d, random_state=s).fit_transform(X)))
    line("PCA(19) + KMeans(n_init=10)", reference, "s", 1.0)
    after = seconds(lambda s: DEC(c, n_components=d, trade_off=3, random_state=s).fit(shared))
    line("DEC, lambda 3, comparison, 10 restarts, decomposition there", after, "s", after / reference, "goal 1.2")
    whole = seconds(lambda s: DEC(c, n_components=d, trade_off=3, random_state=s).fit(X))
    line("DEC, the same, decomposition included", whole, "s", whole / reference, "goal 3")
    eigh = seconds(lambda _: np.linalg.eigh((X - X.mean(axis=0)).T @ (X - X.mean(axis=0))))
    line("  of which a D x D scatter and its eigh cost any library", eigh, "s", eigh / reference)
    book = seconds(lambda s: textbook(X, c, d, 3, s), repeats=3)
    line("textbook loop, lambda 3, one start, rule fixed", book, "s", book / reference)

    fits = 26 * 10
    began = time.perf_counter()
    coordinates = jc.decompose(X)
    for seed in range(10):
        jc.trade_off_path(coordinates, c, n_components=d, trade_offs=np.arange(1, 27), random_state=seed)
    path = time.perf_counter() - began
    line("path of 26 lambdas x 10 seeds, decomposition included", path, "s")
    books = [seconds(lambda s, t=t: textbook(X, c, d, t, s), repeats=2) for t in (1, 3, 8, 26)]
    many = fits * statistics.mean(books)
    line(f"  {fits} textbook fits (from lambda 1, 3, 8, 26)", many, "s", many / path, "goal 20 times slower")

    labels = DEC(c, n_components=d, trade_off=2, random_state=0).fit(shared).labels_

    def per_iteration(trade_off: float) -> float:
        model = DEC(c, n_components=d, trade_off=trade_off, update_rule="fixed", init=labels, tol=0)
        return seconds(lambda _: model.fit(shared)) / model.fit(shared).n_iter_

    three, eighteen = per_iteration(3), per_iteration(18)
    line("one iteration, lambda 3", 1e3 * three, "ms", 1.0)
    line("one iteration, lambda 18", 1e3 * eighteen, "ms", eighteen / three, "goal 1")


def large() -> None:
    print("\n200,000 x 512 float32, c = 50")
    X, y = jc.datasets.mixture(200_000, 512, 50, separation=10, n_nuisance=10, nuisance_scale=4, random_state=0)
    X = X.astype(np.float32)

    def timed(model: Any, what: str, against: float | None = None, goal: str = "") -> float:
        began = time.perf_counter()
        labels = model.fit(X).labels_
        elapsed = time.perf_counter() - began
        accuracy = jc.metrics.clustering_accuracy(y, labels)
        line(f"{what} (accuracy {accuracy:.3f})", elapsed, "s", None if against is None else elapsed / against, goal)
        return elapsed

    one = timed(KMeans(50, n_init=1, random_state=0), "KMeans(n_init=1)")
    timed(DEC(50, trade_off=2, update_rule="fixed", random_state=0), "DEC, fixed", one, "goal 0.5")
    ten = timed(KMeans(50, n_init=10, random_state=0), "KMeans(n_init=10)")
    timed(DEC(50, trade_off=2, random_state=0), "DEC, comparison, 10 restarts", ten, "goal 0.5")


MEMORY = """
import re, sys, numpy as np, scipy.sparse as sp, jointclust as jc, warnings
warnings.simplefilter("ignore")

def peak():  # not ru_maxrss, which starts from the parent's
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])

if sys.argv[1] == "dense":
    rng = np.random.default_rng(0)
    centers = 3 * rng.standard_normal((50, 512), dtype=np.float32)
    X = np.empty((200_000, 512), dtype=np.float32)
    for block in X.reshape(200, 1000, 512):  # in pieces, so that making the data leaves no peak of its own
        block[:] = rng.standard_normal((1000, 512), dtype=np.float32) + centers[rng.integers(50, size=1000)]
    size = X.nbytes
    model = jc.DiscriminativeEmbeddedClustering(50, random_state=0, max_iter=5)
else:
    X = sp.random_array((20_000, 50_000), density=0.001, format="csr", rng=np.random.default_rng(0))
    size = X.data.nbytes
    model = jc.DiscriminativeEmbeddedClustering(20, random_state=0)
before = peak()
model.fit(X)
print(peak(), before, size)
"""


def memory() -> None:
    print("\nPeak memory, each in a process of its own")
    for kind in ("dense", "sparse"):
        began = time.perf_counter()
        output = subprocess.run([sys.executable, "-c", MEMORY, kind], capture_output=True, text=True, check=True)
        peak, before, size = map(int, output.stdout.split())
        elapsed = time.perf_counter() - began
        if kind == "dense":
            line("200,000 x 512 float32: extra memory over the input's", (peak - before) / size, "", None, "goal 1.2")
        else:
            line("sparse 20,000 x 50,000, density 0.001: peak of the process", peak / 2**30, "GiB", None, "goal 2")
            line("  time with making the data", elapsed, "s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    print(f"{'':66} {'value':>9} {'':3} {'ratio':>9}")
    with threadpool_limits(1):
        small()
        if not arguments.quick:
            large()
    memory()


if __name__ == "__main__":
    main()
