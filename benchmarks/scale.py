"""How time and memory grow: with rows, columns, clusters and dimensions; from a file; with workers.

    python benchmarks/scale.py growth [--quick]     every method against n, D, c and d, with fitted exponents
    python benchmarks/scale.py file [--rows N]      DEC on a memory-mapped file of N x 256 float32
    python benchmarks/scale.py workers              passes with one and with two single-threaded Dask workers
    python benchmarks/scale.py text                 newsgroups20, TF-IDF, against TruncatedSVD + KMeans

``--csv FOLDER`` writes the tables, and the growth also as a picture. Data are generated, but for ``text``, which needs
JOINTCLUST_DATA.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import jointclust as jc

METHODS = {
    "DEC": lambda c, d: jc.DiscriminativeEmbeddedClustering(c, n_components=d, max_iter=10, tol=0, random_state=0),
    "LDAKMeans": lambda c, d: jc.LDAKMeans(c, n_components=d, variance=None, max_iter=5, tol=0, random_state=0),
    "EC": lambda c, d: jc.RobustEmbeddedClustering(
        c, n_components=d, variance=None, max_iter=10, tol=0, random_state=0
    ),
    "ODC": lambda c, d: jc.OptimalDiscriminantClustering(c, n_components=d, random_state=0),
    "DisKMeans": lambda c, d: jc.DisKMeans(c, n_components=d, random_state=0),
    "RURR-SL": lambda c, d: jc.UncorrelatedRidgeClustering(c, max_iter=10, tol=0, random_state=0),
    "FuzzyKMeans": lambda c, d: jc.FuzzyKMeans(c, max_iter=10, tol=0, random_state=0),
}
BASE = {"n": 30_000, "D": 64, "c": 10, "d": 9}
SWEEPS = {
    "n": (10_000, 30_000, 100_000, 300_000, 1_000_000),
    "D": (32, 64, 128, 256, 512),
    "c": (5, 10, 20, 40),
    "d": (3, 9, 27),
}


def mixture(n, D, c, rng):
    """Separate clusters beside nuisance directions, float32, in pieces."""
    q = min(16, D // 2)
    centers, axes = 6 * rng.standard_normal((c, q)), np.linalg.qr(rng.standard_normal((D, q + q // 2)))[0].T
    for start in range(0, n, 100_000):
        m = min(100_000, n - start)
        inside = centers[rng.integers(c, size=m)] + rng.standard_normal((m, q))
        nuisance = 8 * rng.standard_normal((m, q // 2))
        yield (np.hstack([inside, nuisance]) @ axes + rng.standard_normal((m, D))).astype(np.float32)


def peak_mib():
    """Peak resident memory of this process (what getrusage reports can be its parent's)."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 2**10


def one_fit(method, sizes, repeats):
    """Median seconds and peak extra memory of a fit, measured in this process."""
    X = np.vstack(list(mixture(sizes["n"], sizes["D"], sizes["c"], np.random.default_rng(0))))
    before = peak_mib()
    seconds = []
    with threadpool_limits(1):
        for _ in range(repeats):
            began = time.perf_counter()
            METHODS[method](sizes["c"], sizes["d"]).fit(X)
            seconds.append(time.perf_counter() - began)
    return {"seconds": float(np.median(seconds)), "extra_mib": peak_mib() - before}


def growth(options):
    """Each method against each size, one process per fit so that peaks are its own."""
    table = []
    for method in METHODS:
        for name, values in SWEEPS.items():
            if options.against and name != options.against:
                continue
            if name == "d" and method in ("RURR-SL", "FuzzyKMeans"):
                continue
            for value in values[:3] if options.quick else values:
                sizes = {**BASE, name: value}
                repeats = 1 if options.quick else options.repeats
                request = json.dumps([method, sizes, repeats])
                command = [sys.executable, "-W", "ignore", __file__, "one", "--request", request]
                loaded = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                table.append({"method": method, "against": name, **sizes, **loaded})
                print(method, name, value, f"{loaded['seconds']:.2f} s", f"{loaded['extra_mib']:.0f} MiB", flush=True)
    exponents = []
    for method in METHODS:
        for name in SWEEPS:
            rows = [row for row in table if row["method"] == method and row["against"] == name]
            if rows:
                x, y = np.log([row[name] for row in rows]), np.log([row["seconds"] for row in rows])
                loaded = {"exponent": np.polyfit(x, y, 1)[0], "last three sizes": np.polyfit(x[-3:], y[-3:], 1)[0]}
                exponents.append({"method": method, "against": name, **{k: round(v, 2) for k, v in loaded.items()}})
                print(f"{method}: seconds grow as {name}^{exponents[-1]['exponent']}", loaded["last three sizes"])
    write(options, "growth.csv", [{k: round(v, 3) if isinstance(v, float) else v for k, v in r.items()} for r in table])
    write(options, "exponents.csv", exponents)
    if options.csv:
        picture(table, Path(options.csv) / "growth.svg")


def picture(table, path):
    """Seconds against each size, both on logarithmic axes."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(SWEEPS), figsize=(13, 3.4), layout="constrained", sharey=True)
    for axis, name in zip(axes, SWEEPS, strict=True):
        for method in METHODS:
            rows = [row for row in table if row["method"] == method and row["against"] == name]
            axis.loglog([row[name] for row in rows], [row["seconds"] for row in rows], "o-", label=method)
        axis.set_xlabel(name)
    axes[0].set_ylabel("seconds")
    axes[-1].legend(fontsize=7)
    figure.savefig(path)


def file(options):
    """DEC on rows that do not fit in memory, in a process of its own."""
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "rows.npy"
        out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(options.rows, 256))
        start = 0
        for piece in mixture(options.rows, 256, 20, np.random.default_rng(0)):
            out[start : start + len(piece)] = piece
            start += len(piece)
        out.flush()
        del out
        command = [sys.executable, "-W", "ignore", __file__, "fit-file", "--request", str(path)]
        loaded = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    print(json.dumps(loaded, indent=1))
    write(options, "file.csv", [loaded])


def fit_file(path):
    """Read the file once, then fit; what the latter took in readings of the file, and its peak memory."""

    def read():
        began, buffer = time.perf_counter(), bytearray(2**25)
        with Path(path).open("rb", buffering=0) as stream:
            while stream.readinto(buffer):
                pass
        return time.perf_counter() - began

    reading = read()
    began = time.perf_counter()
    model = jc.DiscriminativeEmbeddedClustering(20, random_state=0).fit(np.load(path, mmap_mode="r"))
    seconds = time.perf_counter() - began
    reading = (reading + read()) / 2
    return {
        "rows": model.labels_.size,
        "gib": round(Path(path).stat().st_size / 2**30, 1),
        "seconds": round(seconds, 1),
        "passes": model.n_passes_,
        "iterations": model.n_iter_,
        "read_once": round(reading, 2),
        "ratio": round(seconds / (model.n_passes_ * reading), 2),
        "peak_gib": round(peak_mib() / 2**10, 2),
    }


def workers(options):
    """Time per pass with one and with two single-threaded workers, rows in their memory; bytes that come back."""
    import dask.array as da
    from distributed import Client, LocalCluster

    table = []
    for n_workers in (1, 2):
        settings = {"threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(n_workers=n_workers, **settings) as cluster, Client(cluster) as client:
            X = da.random.default_rng(0).standard_normal((2_000_000, 128), chunks=(125_000, 128), dtype=np.float32)
            X = client.persist(X)
            client.gather(client.compute(X[0]))
            rows, basis = jc.rows.as_rows(X), np.eye(128, 20)
            timings = []
            for _ in range(options.repeats + 1):
                began = time.perf_counter()
                rows.scattered(basis, np.zeros(128), None)
                timings.append(time.perf_counter() - began)
            table.append({"workers": n_workers, "seconds_per_pass": round(float(np.median(timings[1:])), 3)})
    table[1]["times_faster"] = round(table[0]["seconds_per_pass"] / table[1]["seconds_per_pass"], 2)
    print(json.dumps(table, indent=1))
    write(options, "workers.csv", [{**row, "times_faster": row.get("times_faster", 1.0)} for row in table])


def text(options):
    """Documents: TF-IDF, then DEC and ODC, against TruncatedSVD + KMeans."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    news = jc.datasets.load("newsgroups20")
    X = TfidfTransformer(sublinear_tf=True).fit_transform(news.data)
    odc = jc.OptimalDiscriminantClustering
    methods = {
        "TruncatedSVD(19) + KMeans": make_pipeline(TruncatedSVD(19), KMeans(20, n_init=10)),
        "TruncatedSVD(100) + KMeans": make_pipeline(TruncatedSVD(100), KMeans(20, n_init=10)),
        "TruncatedSVD(100) + Normalizer + KMeans": make_pipeline(
            TruncatedSVD(100), Normalizer(), KMeans(20, n_init=10)
        ),
        "TruncatedSVD(100) + Normalizer + LDAKMeans": make_pipeline(
            TruncatedSVD(100), Normalizer(), jc.LDAKMeans(20, variance=None)
        ),
        "DEC": jc.DiscriminativeEmbeddedClustering(20),
        "DEC, trade_off=3, max_rank=100": jc.DiscriminativeEmbeddedClustering(20, trade_off=3, max_rank=100),
        "ODC": odc(20),
        "ODC, normalize_rows": odc(20, normalize_rows=True),
        "ODC, normalize_rows, n_components=50": odc(20, n_components=50, normalize_rows=True),
    }
    table = []
    for name, method in methods.items():
        accuracies, seconds = [], []
        for seed in range(options.repeats):
            steps = [step for _, step in method.steps] if hasattr(method, "steps") else [method]
            for step in steps:
                if "random_state" in step.get_params():
                    step.set_params(random_state=seed)
            began = time.perf_counter()
            accuracies.append(jc.metrics.clustering_accuracy(news.target, method.fit_predict(X)))
            seconds.append(time.perf_counter() - began)
        peak = peak_mib() / 2**10
        row = {
            "method": name,
            "accuracy": round(float(np.mean(accuracies)), 3),
            "seconds": round(float(np.median(seconds)), 1),
        }
        table.append({**row, "peak_gib": round(peak, 2)})
        print(table[-1], flush=True)
    write(options, "text.csv", table)


def write(options, name, table):
    if options.csv:
        with (Path(options.csv) / name).open("w", newline="") as stream:
            writer = csv.DictWriter(stream, fieldnames=list(table[0]))
            writer.writeheader()
            writer.writerows(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["growth", "file", "workers", "text", "one", "fit-file"])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--folder", help="where the file is made (default: the temporary folder)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--against", choices=list(SWEEPS), help="growth: one of the sizes only")
    parser.add_argument("--csv")
    parser.add_argument("--request", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.what == "one":
        print(json.dumps(one_fit(*json.loads(options.request))))
    elif options.what == "fit-file":
        print(json.dumps(fit_file(options.request)))
    else:
        {"growth": growth, "file": file, "workers": workers, "text": text}[options.what](options)


if __name__ == "__main__":
    main()
