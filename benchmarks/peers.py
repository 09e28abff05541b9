"""Ours beside what people use, on the same rows: accuracy with noise counted as wrong, ARI, and seconds of CPU.

    pip install 'jointclust[peers]'
    JOINTCLUST_DATA=folder python benchmarks/peers.py run [--jobs 2] [--seeds 1] [--sets wine digits]
    python benchmarks/peers.py table > docs/evidence/peers_accuracy.csv

``run`` appends to docs/evidence/peers.csv, one line per set, method and seed, with the version of what was run, and
leaves out what is there already. ``table`` prints mean accuracies by set. Each job has one thread; imports and
compilation are not timed. Peers see rows as a practised user prepares them (``UsualRows``), in their 50 leading
directions where there are more; Leiden on cells has scanpy's own steps. Ours see the data as they come. "k" says that
the number of clusters was given. Data that are not here are left out.
"""

import argparse
import csv
import os
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsTransformer

import jointclust as jc
from jointclust.selection.baseline import UsualRows

RESULTS = Path(__file__).parent.parent / "docs" / "evidence" / "peers.csv"
COLUMNS = ["data set", "method", "seed", "clusters", "accuracy", "ARI", "seconds", "version"]
CELLS = ["pbmc3k", "worm_neuron"]
SETS = [*CELLS, "digits", "newsgroups20", "newsgroups20_minilm", "wine", "breast_cancer", "usps", "orl"]
MOST_DIRECTIONS = 50


def prepared(data, name):
    """Rows of few dense columns, for the peers."""
    rows = UsualRows().fit_transform(data.data)
    rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
    return PCA(MOST_DIRECTIONS, random_state=0).fit_transform(rows) if rows.shape[1] > MOST_DIRECTIONS else rows


def as_cells(data):
    import anndata

    return anndata.AnnData(sp.csr_matrix(data.data).astype(np.float32))


class MatrixOfNeighbors(KNeighborsTransformer):
    """Neighbours as the kind of matrix that scanpy 1.11 knows; scikit-learn 1.9 has another."""

    def fit_transform(self, X, y=None):
        return sp.csr_matrix(super().fit_transform(X, y))


def leiden(resolution):
    def labels(data, name, k, seed):
        import scanpy as sc

        if name in CELLS:
            cells = as_cells(data)
            if jc.describe(data.data).kind == "counts":
                sc.pp.normalize_total(cells, target_sum=1e4)
                sc.pp.log1p(cells)
                sc.pp.highly_variable_genes(cells, n_top_genes=2000)
            sc.pp.pca(cells, n_comps=MOST_DIRECTIONS, random_state=seed)
        else:
            import anndata

            cells = anndata.AnnData(prepared(data, name).astype(np.float32))
            cells.obsm["X_pca"] = cells.X
        many = {"transformer": MatrixOfNeighbors(mode="distance", n_neighbors=14)} if cells.n_obs > 4096 else {}
        sc.pp.neighbors(cells, use_rep="X_pca", random_state=seed, **many)
        sc.tl.leiden(cells, resolution, random_state=seed, flavor="igraph", n_iterations=2, directed=False)
        return cells.obs["leiden"].astype(int).to_numpy()

    return labels


def umap_hdbscan(data, name, k, seed):
    """As UMAP's own pages have it for clustering: 30 neighbours, no minimal distance."""
    from umap import UMAP

    rows = prepared(data, name)
    Y = UMAP(n_neighbors=30, min_dist=0.0, n_components=2, random_state=seed).fit_transform(rows)
    return HDBSCAN(min_cluster_size=max(10, len(Y) // 100), min_samples=10, copy=True).fit(Y).labels_


def spectral(data, name, k, seed):
    model = SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=10, random_state=seed)
    return model.fit(prepared(data, name)).labels_


def clustpy(kind):
    def labels(data, name, k, seed):
        from clustpy import centroid

        model = getattr(centroid, kind)(k, random_state=np.random.RandomState(seed))
        model.fit(prepared(data, name))
        return np.asarray(model.labels_)

    return labels


def ours(given):
    def labels(data, name, k, seed):
        if name not in CELLS:
            return jc.cluster(data.data, k if given else None, random_state=seed).labels_
        cells = as_cells(data)
        jc.sc.tl.consensus(cells, k if given else None, random_state=seed)
        return cells.obs["jointclust"].astype(int).to_numpy()

    return labels


# By method: what makes labels, and the package whose version counts.
METHODS = {
    "Leiden 0.5": (leiden(0.5), "scanpy"),
    "Leiden 1.0": (leiden(1.0), "scanpy"),
    "Leiden 1.5": (leiden(1.5), "scanpy"),
    "UMAP + HDBSCAN": (umap_hdbscan, "umap-learn"),
    "jointclust": (ours(given=False), "jointclust"),
    "Gaussian mixture, k": (
        lambda data, name, k, seed: GaussianMixture(k, covariance_type="diag", n_init=5, random_state=seed).fit_predict(
            prepared(data, name)
        ),
        "scikit-learn",
    ),
    "spectral clustering, k": (spectral, "scikit-learn"),
    "ClustPy LDA-k-means, k": (clustpy("LDAKmeans"), "clustpy"),
    "ClustPy SubKmeans, k": (clustpy("SubKmeans"), "clustpy"),
    "prepared k-means, k": (
        lambda data, name, k, seed: (
            KMeans(k, n_init=10, random_state=seed).fit(UsualRows().fit_transform(data.data)).labels_
        ),
        "scikit-learn",
    ),
    "jointclust, k": (ours(given=True), "jointclust"),
}


# What is compiled when first used, and so is used once before it is timed.
COMPILED = ("scanpy", "umap-learn", "clustpy")


def full_coverage(labels):
    """Each row of noise as a cluster of its own: right for nobody but itself."""
    labels, noise = np.asarray(labels).copy(), np.flatnonzero(np.asarray(labels) < 0)
    labels[noise] = labels.max() + 1 + np.arange(noise.size)
    return labels


def accuracy(classes, labels):
    """The share of all rows that are right; those of noise are not."""
    result = np.asarray(labels) >= 0
    return result.mean() * jc.metrics.clustering_accuracy(classes[result], labels[result]) if result.any() else 0.0


def measured(name, method, seed):
    warnings.simplefilter("ignore")
    data = jc.datasets.load(name)
    classes = np.unique(data.target, return_inverse=True)[1]
    make, package = METHODS[method]
    if package in COMPILED:
        make(SimpleNamespace(data=np.random.RandomState(0).rand(200, 10)), "", 3, 0)
    start = time.process_time()
    try:
        labels = np.asarray(make(data, name, int(classes.max()) + 1, seed))
    except Exception as error:  # a peer that cannot is told, not left out
        return [name, method, seed, "", "", "", "", f"{package} {version(package)}: {type(error).__name__}"]
    seconds = time.process_time() - start
    scores = [f"{accuracy(classes, labels):.3f}", f"{adjusted_rand_score(classes, full_coverage(labels)):.3f}"]
    n_clusters = np.unique(labels[labels >= 0]).size
    return [name, method, seed, n_clusters, *scores, f"{seconds:.1f}", f"{package} {version(package)}"]


def known():
    if not RESULTS.exists():
        return []
    with RESULTS.open() as stream:
        return list(csv.DictReader(stream))


def run(sets, seeds, jobs):
    done = {(row["data set"], row["method"], int(row["seed"])) for row in known()}
    here = [name for name in sets if is_here(name)]
    wanted = [(name, method, seed) for seed in range(seeds) for name in here for method in METHODS]
    tasks = (delayed(measured)(*task) for task in wanted if task not in done)
    is_new = not RESULTS.exists()
    with RESULTS.open("a", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        for row in Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks):
            writer.writerow(row)
            stream.flush()
            print(*row, file=sys.stderr)


def is_here(name):
    try:
        jc.datasets.load(name)
    except (FileNotFoundError, OSError):
        print(f"{name} is not here", file=sys.stderr)
        return False
    return True


def table():
    rows = known()
    sets = [name for name in SETS if any(row["data set"] == name for row in rows)]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["method", *sets, "mean", "seconds"])
    for method in METHODS:
        of_method = [row for row in rows if row["method"] == method and row["accuracy"]]
        means = [
            np.mean([float(row["accuracy"]) for row in of_method if row["data set"] == name] or [np.nan])
            for name in sets
        ]
        seconds = np.mean([float(row["seconds"]) for row in of_method]) if of_method else np.nan
        shown = ["" if np.isnan(mean) else f"{mean:.3f}" for mean in [*means, np.mean(means)]]
        writer.writerow([method, *shown, f"{seconds:.1f}"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS)
    options = parser.parse_args()
    if options.what == "run":
        run(options.sets, options.seeds, options.jobs)
    else:
        table()
