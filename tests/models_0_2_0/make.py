"""Models of version 0.2, and what they say of rows: run once, with the code of commit 5996aaa, never again.

    git worktree add v02 5996aaa
    PYTHONPATH=v02/src python tests/models_0_2_0/make.py

Each model is a file; ``expected.npz`` holds the rows by name, which of them each model was fitted on and is asked
about, and its answers.
"""

import tempfile
import warnings
from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jointclust as jc
from jointclust.views.counts import ScaledGenes
from jointclust.views.preparation import Preparation

HERE = Path(__file__).parent
N, FITTED = 48, 36  # rows, and how many of them, the first ones, the models are fitted on


def given_rows():
    """Rows of each kind, as arrays that a file can hold; those of a data frame by column."""
    rng = np.random.RandomState(0)
    kind = np.arange(N) % 3
    table = np.round(2 * rng.standard_normal((3, 4))[kind] + rng.standard_normal((N, 4)), 2)
    rates = np.where(rng.uniform(size=(3, 30)) < 0.3, 3.0, 0.1)[kind] * rng.exponential(size=(N, 30))
    counts = rng.poisson(rates).astype(float)
    words = np.array(
        [["apple", "pear", "plum", "fig"], ["wheel", "road", "car", "bus"], ["sea", "wave", "ship", "sail"]]
    )
    documents = np.array([" ".join(rng.choice(words[one], 5)) for one in kind])
    day = np.datetime64("2024-01-01") + (100 * kind + rng.randint(0, 9, N)).astype("timedelta64[D]")
    colour = np.where(rng.uniform(size=N) < 0.9, np.array(["red", "green", "blue"])[kind], "red")
    return {
        "table": table,
        "counts": counts,
        "documents": documents,
        "frame.length": np.where(rng.uniform(size=N) < 0.1, np.nan, table[:, 0]),
        "frame.width": np.where(rng.uniform(size=N) < 0.1, np.nan, 1000 * table[:, 1]),
        "frame.colour": np.where(rng.uniform(size=N) < 0.1, "", colour),
        "frame.round": rng.uniform(size=N) < np.array([0.1, 0.9, 0.5])[kind],
        "frame.day": np.where(rng.uniform(size=N) < 0.1, np.datetime64("NaT"), day.astype("datetime64[us]")),
        "frame.name": np.array([f"row {i}" for i in range(N)]),
    }


def rows_of(arrays, name):
    """Rows by name as a model takes them."""
    if name == "frame":
        columns = {key.partition(".")[2]: arrays[key] for key in arrays if key.startswith("frame.")}
        return pd.DataFrame(
            {key: list(map(str, value)) if value.dtype.kind == "U" else value for key, value in columns.items()}
        )
    rows = arrays["table" if name == "kernel" else name]
    if name == "kernel":
        return rows @ rows[:FITTED].T
    return sp.csr_array(rows) if name == "counts" else rows.tolist() if name == "documents" else rows


def consensus(**options):
    return jc.JointConsensus(3, random_state=0, **options)


def own_members():
    return [
        KMeans(3, n_init=1, random_state=0),
        KMeans(5, n_init=1),
        jc.LDAKMeans(3),
        jc.OptimalDiscriminantClustering(3, kernel="nearest_neighbors"),
    ]


def models(arrays, folder):
    """Name, rows and fitted model of each."""
    from jointclust.choosing import registry, voting  # as they were then

    from jointclust.rows import _store

    rows = {name: rows_of(arrays, name)[:FITTED] for name in ("table", "frame", "counts", "documents", "kernel")}
    X, classes = rows["table"], np.arange(FITTED) % 3
    known = np.where(np.arange(FITTED) < 8, np.array(["a", "b", "c"])[classes], None)
    groups = np.where(np.arange(FITTED) < 18, np.arange(FITTED) % 3 + 3 * (np.arange(FITTED) // 6), None)
    weights = np.random.RandomState(1).uniform(0, 2, FITTED) * (np.arange(FITTED) != 5)
    for entry in registry.METHODS:
        if entry.cls is not jc.JointConsensus:
            yield entry.name, "table", entry.cls(3, random_state=0).fit(X)
    for kernel in ("rbf", "nearest_neighbors"):
        yield f"odc-{kernel}", "table", jc.OptimalDiscriminantClustering(3, kernel=kernel, random_state=0).fit(X)
    precomputed = jc.OptimalDiscriminantClustering(3, kernel="precomputed", random_state=0)
    yield "odc-precomputed", "kernel", precomputed.fit(rows["kernel"])
    yield (
        "odc-sparse",
        "counts",
        jc.OptimalDiscriminantClustering(3, kernel="cosine", random_state=0).fit(rows["counts"]),
    )
    yield "ldakm-known", "table", jc.LDAKMeans(3, random_state=0).fit(X, known_labels=known)
    yield "projection", "table", jc.DiscriminantProjection("lda").fit(X, classes)
    yield "pipeline", "table", make_pipeline(StandardScaler(), jc.LDAKMeans(3, random_state=0)).fit(X)
    prepared = make_pipeline(Preparation(), jc.DiscriminativeEmbeddedClustering(3, random_state=0))
    yield "pipeline-prepared", "frame", prepared.fit(rows["frame"])
    yield (
        "pipeline-consensus",
        "table",
        make_pipeline(StandardScaler(), consensus(views=["as is"], effort="quick")).fit(X),
    )
    yield (
        "search",
        "table",
        jc.LabelFreeSearch(jc.LDAKMeans(random_state=0), {"n_clusters": [2, 3]}, random_state=0).fit(X),
    )
    yield "encoder", "frame", jc.MixedEncoder({"name": "id"}).fit(rows["frame"])
    yield "imputer", "table", jc.LowRankImputer().fit(X)
    yield "cluster", "table", jc.cluster(X, random_state=0)
    yield "consensus", "table", consensus().fit(X)
    yield "consensus-frame", "frame", consensus().fit(rows["frame"])
    yield "consensus-counts", "counts", consensus().fit(rows["counts"])
    yield "consensus-documents", "documents", consensus().fit(rows["documents"])
    yield "consensus-none", "table", consensus(views=None).fit(X)
    yield "consensus-as-is", "table", consensus(views=["as is"]).fit(X)
    yield "consensus-quick", "table", consensus(effort="quick").fit(X)
    yield "consensus-scaler", "table", consensus(views=["unit rows", StandardScaler()], effort="quick").fit(X)
    yield (
        "consensus-genes",
        "counts",
        consensus(views=["log", ScaledGenes(counts=True)], effort="quick").fit(rows["counts"]),
    )
    yield "consensus-members", "table", consensus(views=["as is", "rank-normal"], members=own_members()).fit(X)
    yield "consensus-none-members", "table", consensus(views=None, members=own_members()).fit(X)
    yield "consensus-known", "table", consensus(effort="quick").fit(X, known_labels=known)
    yield "consensus-none-known", "table", consensus(views=None).fit(X, known_labels=known)
    yield "consensus-groups", "table", consensus(views=["standardised"], effort="quick").fit(X, groups=groups)
    yield "consensus-known-groups", "table", consensus(effort="quick").fit(X, known_labels=known, groups=groups)
    yield "consensus-reject", "table", consensus(views=["standardised"], effort="quick", reject_below=0.97).fit(X)
    yield "consensus-weights", "table", consensus(views=["standardised"], effort="quick").fit(X, sample_weight=weights)
    yield "consensus-one", "table", jc.JointConsensus(1, random_state=0, views=["standardised"], effort="quick").fit(X)
    layered = consensus(effort="quick").fit(X)
    layered.cut(2)
    yield "consensus-layered", "table", layered
    _store.IN_MEMORY = 100
    np.save(folder / "X.npy", X)
    mapped = np.load(folder / "X.npy", mmap_mode="r")
    yield "consensus-file", "table", consensus(effort="quick").fit(mapped)
    yield "consensus-file-known", "table", consensus(effort="quick").fit(mapped, known_labels=known)
    yield (
        "consensus-dask",
        "table",
        consensus(views=["standardised"], effort="quick").fit(da.from_array(X, chunks=(12, -1))),
    )
    voting._SAVED_ROWS = FITTED - 1
    yield "consensus-many-rows", "table", consensus(effort="quick").fit(X)
    yield "consensus-many-rows-file", "table", consensus(views=["standardised"], effort="quick").fit(mapped)


def answers(model, X):
    """What a model says of rows, and what it keeps of those of fit."""
    for method in ("predict", "predict_proba", "transform", "confidence", "score"):
        if hasattr(model, method):
            yield method, getattr(model, method)(X)
    last = model[-1] if hasattr(model, "steps") else model
    for name in ("labels_", "soft_labels_", "confidence_", "outlier_scores_", "classes_"):
        if hasattr(last, name):
            yield name, getattr(last, name)
    if isinstance(model, jc.JointConsensus):
        yield (
            "in layers",
            np.column_stack([model.predict(X, number) for number in range(1, 4 if model.n_clusters > 1 else 2)]),
        )
        yield "linkage", model.linkage()
        if hasattr(model, "soft_labels_"):
            yield "layers", np.column_stack([layer["labels"] for layer in model.layers_])
            yield "agreement of layers", [layer["agreement"] for layer in model.layers_]
            yield "rows to label", model.rows_to_label(3)
        yield "weights of views", [view["weight"] for view in model.views_]
        if hasattr(model, "number_"):
            yield "number", [model.number_.n_clusters, *model.number_.suggestions]


def main():
    arrays = given_rows()
    expected = dict(arrays)
    with tempfile.TemporaryDirectory() as folder:
        for name, rows, model in models(arrays, Path(folder)):
            path = HERE / f"{name}.skops"
            jc.save(model, path)
            expected[f"{name}/rows"] = np.array(rows)
            for what, value in answers(jc.load(path), rows_of(arrays, rows)):
                value = np.asarray(value)
                expected[f"{name}/{what}"] = value.astype(str) if value.dtype == object else value
    np.savez_compressed(HERE / "expected.npz", **expected)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
