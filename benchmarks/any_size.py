"""The consensus on many rows: in memory, in a file, on one and two Dask workers; and with many clusters.

    python benchmarks/any_size.py docs/evidence [memory|table|file|workers|clusters|many ...]

Seconds (of the clock and of the processor) and peak memory of a fit, each in a process of its own on generated rows, on
an idle machine of two cores. Writes any_size.csv: a line for each part that was run, beside those that are there.
``table`` is the whole command ``jointclust fit -k 8`` of a CSV file, report and trust and all.
"""

import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import jointclust as jc
from scale import mixture, peak_mib

HEADER = ["what", "rows", "columns", "clusters", "seconds", "peak GiB", "accuracy", "CPU seconds"]


def rows_and_classes(n, D, c):
    """The rows, and the nearest centre of each as its class."""
    X = np.vstack(list(mixture(n, D, c, np.random.default_rng(0))))
    return X, classes_of(X, D, c)


def classes_of(X, D, c):
    """Which of the centres of ``mixture`` is nearest, in the directions that they differ in."""
    rng, q = np.random.default_rng(0), min(16, D // 2)
    centers, axes = 6 * rng.standard_normal((c, q)), np.linalg.qr(rng.standard_normal((D, q + q // 2)))[0].T
    Z = X @ axes[:q].T.astype(np.float32)
    return np.argmax(Z @ centers.T - (centers**2).sum(axis=1) / 2, axis=1)


def measured(what, method, X, classes):
    began, cpu = time.perf_counter(), time.process_time()
    model = method.fit(X)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    peak = peak_mib() / 2**10
    accuracy = float(jc.metrics.clustering_accuracy(classes, np.asarray(model.labels_)))
    line = [what, *X.shape, method.n_clusters, round(seconds, 1), round(peak, 2), round(accuracy, 3)]
    return [*line, "" if hasattr(X, "dask") else round(cpu, 1)]


def memory():
    X, classes = rows_and_classes(200_000, 50, 10)
    return [measured("consensus, in memory", jc.JointConsensus(10, random_state=0), X, classes)]


def mixed_table(n, n_numbers=20, n_categories=10, c=8, seed=0):
    """A table of clusters that overlap, and their numbers.

    Half of the numbers and of the categories (of 3 to 21 levels) show the clusters; some are skewed, 1% missing.
    """
    rng, half = np.random.default_rng(seed), n_numbers // 2
    labels = rng.choice(c, size=n, p=np.arange(2, c + 2) / np.arange(2, c + 2).sum())
    X = rng.standard_normal((n, n_numbers))
    X[:, :half] += 1.2 * rng.standard_normal((c, half))[labels]
    X[:, half::2] = np.exp(X[:, half::2])
    X[rng.random(X.shape) < 0.01] = np.nan
    table = {f"number_{j}": X[:, j].round(4) for j in range(n_numbers)}
    for j in range(n_categories):
        m = 3 + 2 * j
        shares = rng.dirichlet(np.ones(m), size=c) if j % 2 == 0 else np.tile(rng.dirichlet(np.ones(m)), (c, 1))
        codes = (rng.random(n)[:, None] > shares.cumsum(axis=1)[labels]).sum(axis=1).clip(0, m - 1)
        table[f"category_{j}"] = np.array([f"level {i}" for i in range(m)])[codes]
    return pd.DataFrame(table), labels


def table():
    frame, classes = mixed_table(200_000)
    with tempfile.TemporaryDirectory() as folder:
        data, run = Path(folder) / "table.csv", Path(folder) / "run"
        frame.to_csv(data, index=False)
        began = time.perf_counter()
        command = [Path(sys.executable).parent / "jointclust", "fit", data, "-k", "8", "--out", run]
        subprocess.run(command, check=True, capture_output=True)
        seconds, used = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        accuracy = jc.metrics.clustering_accuracy(classes, pd.read_csv(run / "labels.csv")["label"])
    what, cpu = "jointclust fit, mixed CSV", used.ru_utime + used.ru_stime
    sizes = round(seconds, 1), round(used.ru_maxrss / 2**20, 2), round(float(accuracy), 3), round(cpu, 1)
    return [[what, *frame.shape, 8, *sizes]]


def many():
    """More clusters than the consensus finds at once."""
    X, classes = rows_and_classes(9_000, 50, 600)
    return [measured("consensus", jc.JointConsensus(600, random_state=0), X, classes)]


def file():
    n, D, c = 5_000_000, 128, 20
    with tempfile.TemporaryDirectory() as folder:
        path, start, classes = Path(folder) / "rows.npy", 0, []
        out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, D))
        for piece in mixture(n, D, c, np.random.default_rng(0)):
            out[start : start + len(piece)] = piece
            classes.append(classes_of(piece, D, c))
            start += len(piece)
        out.flush()
        del out
        rows = np.load(path, mmap_mode="r")
        return [measured("consensus, memory map", jc.JointConsensus(c, random_state=0), rows, np.concatenate(classes))]


def workers():
    import dask.array as da
    from distributed import Client, LocalCluster

    def fitted(X, classes, n_workers):
        settings = {"threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(n_workers=n_workers, **settings) as cluster, Client(cluster) as client:
            rows = client.persist(da.from_array(X, chunks=(62_500, 64)))
            client.gather(client.compute(rows[0]))
            method = jc.JointConsensus(10, random_state=0)
            line = measured(f"consensus, Dask workers: {n_workers}", method, rows, classes)
            return [*line[:5], "", *line[6:]]  # the peak would be that of all fits so far

    table = []
    for n, repeats in ((1_000_000, 5), (2_000_000, 1)):
        X, classes = rows_and_classes(n, 64, 10)
        fits = [[fitted(X, classes, n_workers) for n_workers in (1, 2)] for _ in range(repeats)]
        table += [sorted(own, key=lambda fit: fit[4])[repeats // 2] for own in zip(*fits, strict=True)]
        print([[fit[4] for fit in own] for own in zip(*fits, strict=True)], file=sys.stderr, flush=True)
    return table


def clusters():
    X, classes = rows_and_classes(20_000, 50, 1_000)
    methods = {"LDAKMeans": jc.LDAKMeans(1_000), "RURR-SL": jc.UncorrelatedRidgeClustering(1_000)}
    table = [measured(name, method.set_params(random_state=0), X, classes) for name, method in methods.items()]
    X, classes = rows_and_classes(20_000, 50, 100)
    return [*table, measured("consensus", jc.JointConsensus(100, random_state=0), X, classes)]


PARTS = {part.__name__: part for part in (memory, table, file, workers, clusters, many)}


def main(folder, parts):
    path = Path(folder) / "any_size.csv"
    table = {tuple(row[:4]): row for row in list(csv.reader(path.open()))[1:]} if path.exists() else {}
    for part in parts or PARTS:
        command = [sys.executable, "-W", "ignore", __file__, "--part", part]
        lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        for row in json.loads(lines[-1]):
            print(*row, flush=True)
            table[tuple(map(str, row[:4]))] = row
        with path.open("w", newline="") as stream:
            lines = ([*row, *[""] * (len(HEADER) - len(row))] for row in table.values())
            csv.writer(stream, lineterminator="\n").writerows([HEADER, *lines])


if __name__ == "__main__":
    if sys.argv[1] == "--part":
        warnings.simplefilter("ignore")
        print(json.dumps(PARTS[sys.argv[2]]()))
    else:
        main(sys.argv[1], sys.argv[2:])
