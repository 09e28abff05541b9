"""Models of version 0.3, and what they say of rows: run once, with the code of the release, never again.

    PYTHONPATH=src:tests python tests/models_0_3_0/make_models.py

The rows are those of the models of 0.2. Each model is a file; ``expected.npz`` holds the rows by name, which of them
each model was fitted on and is asked about, and its answers.
"""

import tempfile
import warnings
from pathlib import Path

import dask.array as da
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jointclust as jc
from jointclust import registry
from jointclust.views.preparation import Preparation
from models_0_2_0 import make as before

HERE = Path(__file__).parent
FITTED = before.FITTED


def rows_of(arrays, name):
    """Rows by name as a model takes them; a table in two blocks, too."""
    if name == "blocks":
        table = before.rows_of(arrays, "table")
        return {"first": table[:, :2], "second": table[:, 2:]}
    return before.rows_of(arrays, name)


def fitted_rows(arrays, name):
    """Those that models are fitted on."""
    rows = rows_of(arrays, name)
    return {key: block[:FITTED] for key, block in rows.items()} if isinstance(rows, dict) else rows[:FITTED]


def models(arrays, folder):
    """Name, rows and fitted model of each."""
    X = fitted_rows(arrays, "table")
    known = np.where(np.arange(FITTED) < 8, np.array(["a", "b", "c"])[np.arange(FITTED) % 3], None)
    groups = np.where(np.arange(FITTED) < 18, np.arange(FITTED) % 3 + 3 * (np.arange(FITTED) // 6), None)
    for entry in registry.METHODS:
        if entry.cls is not jc.JointConsensus:
            yield entry.name, "table", entry.cls(3, random_state=0).fit(X)
    yield "multi-view-blocks", "blocks", jc.MultiViewKMeans(3, random_state=0).fit(fitted_rows(arrays, "blocks"))
    yield "odc-rbf", "table", jc.OptimalDiscriminantClustering(3, kernel="rbf", random_state=0).fit(X)
    yield "dec-rbf", "table", jc.DiscriminativeEmbeddedClustering(3, kernel="rbf", random_state=0).fit(X)
    prepared = make_pipeline(Preparation(), jc.DiscriminativeEmbeddedClustering(3, random_state=0))
    yield "pipeline-prepared", "frame", prepared.fit(fitted_rows(arrays, "frame"))
    yield "pipeline", "table", make_pipeline(StandardScaler(), jc.LDAKMeans(3, random_state=0)).fit(X)
    yield "cluster", "table", jc.cluster(X, random_state=0)
    for rows in ("table", "frame", "counts", "documents", "blocks"):
        yield f"consensus-{rows}", rows, jc.JointConsensus(3, random_state=0).fit(fitted_rows(arrays, rows))
    quick = {"effort": "quick", "trust": False, "random_state": 0}
    yield "consensus-columns", "frame", jc.JointConsensus(3, columns="all", **quick).fit(fitted_rows(arrays, "frame"))
    yield "consensus-known", "table", jc.JointConsensus(3, **quick).fit(X, known_labels=known)
    yield "consensus-groups", "table", jc.JointConsensus(3, **quick).fit(X, groups=groups)
    yield "consensus-known-groups", "table", jc.JointConsensus(3, **quick).fit(X, known_labels=known, groups=groups)
    yield "consensus-none", "table", jc.JointConsensus(3, views=None, **quick).fit(X)
    yield "consensus-like", "table", jc.JointConsensus(3, **quick).fit(X, like=jc.JointConsensus(2, **quick).fit(X))
    yield "consensus-dask", "table", jc.JointConsensus(3, **quick).fit(da.from_array(X, chunks=(12, -1)))


def answers(model, X):
    """What a model says of rows, and what it keeps of those of fit."""
    yield from before.answers(model, X)
    if isinstance(model, jc.JointConsensus):
        yield "used columns", [column["name"] for column in model.columns_ if column["used"]]
        yield "verdict", [model.verdict_.level]
        if model.trust:
            yield "reproducibility", model.reproducibility_
            yield "reproducibility of clusters", model.cluster_reproducibility_


def main():
    arrays = before.given_rows()
    expected = dict(arrays)
    with tempfile.TemporaryDirectory() as folder:
        for name, rows, model in models(arrays, Path(folder)):
            path = HERE / f"{name}.skops"
            if isinstance(model, jc.JointConsensus):
                model.cut(2)  # the layers are saved: what is computed later may differ with the version of NumPy
            jc.save(model, path)
            expected[f"{name}/rows"] = np.array(rows)
            for what, value in answers(jc.load(path), rows_of(arrays, rows)):
                value = np.asarray(value)
                expected[f"{name}/{what}"] = value.astype(str) if value.dtype == object else value
    np.savez_compressed(HERE / "expected.npz", **expected)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
