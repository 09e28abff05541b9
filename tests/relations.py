"""What a change of the data must not change: relations between two fits of JointConsensus, for the soak.

Each takes the drawn numbers, rows with clear clusters and their fitted model, and raises AssertionError.
"""

import hashlib
import json
import signal
import subprocess
import sys
import time
import warnings
from functools import partial

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone

import jointclust as jc
from elsewhere import every_place
from jointclust.numerics.partitions import adjusted_rand
from jointclust.rows.arrays import to_host
from jointclust.showing.fitted import Fitted

PLACES = ("torch", "memory map", "hdf5", "zarr", "dask", "dask frame")


def again(model, X, **options):
    """Another fit of a model with these settings."""
    return clone(model).fit(X, **options)


def assert_same_clusters(one, other, what):
    result = adjusted_rand(to_host(one), to_host(other))
    assert result == 1, f"{what}: the adjusted Rand index is {result:.3f}"


def named(X):
    return pd.DataFrame(X, columns=[f"c{number}" for number in range(X.shape[1])])


def empty_columns(rng, X, model, folder):
    """Columns without values, or with one, say nothing."""
    frame, own = named(X), again(model, named(X)).labels_
    for name, value in (("gaps", np.nan), ("zeros", 0.0), ("text", "same"), ("none", None)):
        wider = frame.copy()
        wider.insert(int(rng.randint(X.shape[1] + 1)), name, value)
        assert_same_clusters(own, again(model, wider).labels_, f"a column of {name}")


def empty_rows(rng, X, model, folder):
    """Rows without any value are guesses, in the fit and after it, are counted, and change nothing of the others."""
    n_empty = int(rng.randint(1, len(X) // 10 + 1))
    empty = np.sort(rng.permutation(len(X))[:n_empty])
    gappy = X.copy()
    gappy[empty] = np.nan
    full = np.setdiff1d(np.arange(len(X)), empty)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = again(model, gappy)
    told = [str(one.message) for one in caught if f"{n_empty} of {len(X)} rows have no value" in str(one.message)]
    assert len(told) == 1, told
    guess = 1 / model.n_clusters + 1e-6
    assert fitted.confidence_[empty].max() <= guess
    filled = again(model, named(X))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels, confidence = filled.predict_with_confidence(named(gappy))
    told = [str(one.message) for one in caught if f"{n_empty} of {len(X)} rows have no value" in str(one.message)]
    assert len(told) == 1, told
    assert confidence[empty].max() <= guess
    np.testing.assert_array_equal(labels[full], filled.labels_[full])
    np.testing.assert_allclose(confidence[full], filled.confidence_[full], atol=1e-6)


def offsets(rng, X, model, folder):
    """Where zero lies says nothing, nor do the units of columns."""
    places = rng.standard_normal(X.shape[1]) * rng.choice([1.0, 1e3, 1e6])
    assert_same_clusters(model.labels_, again(model, X + places).labels_, "offsets")
    assert_same_clusters(model.labels_, again(model, X * rng.choice([1e-6, 1e6])).labels_, "other units")


def text_numbers(rng, X, model, folder):
    """Numbers that are written as text are those numbers."""
    frame = named(np.round(X, 3))
    own, texts = again(model, frame).labels_, frame.copy()
    for name in frame.columns[rng.uniform(size=X.shape[1]) < 0.5]:
        texts[name] = texts[name].map(repr)
    np.testing.assert_array_equal(own, again(model, texts).labels_)


def storage(rng, X, model, folder):
    """How and where rows lie says nothing."""
    kinds = {"fortran": np.asfortranarray, "list": np.ndarray.tolist, "frame": named, "csr": sp.csr_array}
    for kind in rng.choice(list(kinds), 2, replace=False):
        assert_same_clusters(model.labels_, again(model, kinds[kind](X)).labels_, kind)
    with every_place(X, folder) as places:
        place = rng.choice([name for name in PLACES if name in places])
        assert_same_clusters(model.labels_, again(model, places[place]).labels_, place)


def row_order(rng, X, model, folder):
    order = rng.permutation(len(X))
    assert_same_clusters(model.labels_[order], again(model, X[order]).labels_, "other order of rows")
    some = np.sort(order[: len(X) // 2])
    np.testing.assert_array_equal(model.predict(X[some]), model.predict(X)[some])


def column_order(rng, X, model, folder):
    order = rng.permutation(X.shape[1])
    assert_same_clusters(model.labels_, again(model, X[:, order]).labels_, "other order of columns")
    known = again(model, named(X))
    np.testing.assert_array_equal(known.predict(named(X)), known.labels_)


def cut_short(method, at):
    """The number of calls of our functions that a method makes; interrupted at one of them, by its number."""
    n_calls = 0

    def count(frame, event, argument):
        nonlocal n_calls
        if event == "call" and "jointclust" in frame.f_code.co_filename:
            n_calls += 1
            if n_calls == at:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(count)
    try:
        method()
    finally:
        sys.setprofile(None)
    return n_calls


def interrupts(rng, X, model, folder):
    """A fit or an update that is interrupted leaves the model as it was."""
    fitted, other = again(model, X), X[::2] + 1.0
    methods = {
        "fit": lambda one: one.fit(other),
        "fit like": lambda one: one.fit(other, like=model),
        "update": lambda one: one.update(other),
        "fit_transform": lambda one: one.fit_transform(other),
    }
    name = rng.choice(list(methods))
    n_calls = cut_short(partial(methods[name], again(model, X)), 0)
    for at in rng.randint(1, n_calls, size=3):
        before, labels, sure = dict(vars(fitted)), fitted.labels_.copy(), fitted.confidence(X)
        try:
            cut_short(partial(methods[name], fitted), at)
        except KeyboardInterrupt:
            after = vars(fitted)
            changed = [key for key in {**before, **after} if before.get(key) is not after.get(key)]
            assert not changed, f"{name}, interrupted at call {at} of {n_calls}, changed {changed}"
            np.testing.assert_array_equal(fitted.labels_, labels)
            np.testing.assert_array_equal(fitted.confidence(X), sure)
        else:
            fitted = again(model, X)
    np.testing.assert_array_equal(fitted.fit(X).labels_, model.labels_)


def like(rng, X, model, folder):
    """Clusters that are there again keep their numbers; a cluster without rows keeps its number free."""
    same = again(model, X, like=model)
    np.testing.assert_array_equal(same.labels_, model.labels_)
    assert {change["kind"] for change in same.changes_} == {"kept"}
    order = rng.permutation(len(X))
    np.testing.assert_array_equal(again(model, X[order], like=model).labels_, model.labels_[order])
    if model.n_clusters > 2:
        gone = int(rng.randint(model.n_clusters))
        stay = model.labels_ != gone
        fewer = clone(model).set_params(n_clusters=model.n_clusters - 1).fit(X[stay], like=model)
        np.testing.assert_array_equal(fewer.labels_, model.labels_[stay])
        np.testing.assert_array_equal(fewer.predict(X[stay]), fewer.labels_)
        assert [change["before"] for change in fewer.changes_ if change["kind"] == "gone"] == [[gone]]


def update(rng, X, model, folder):
    """More rows of the same clusters change nothing; the labels are those of the new rows."""
    order = rng.permutation(len(X))
    first, second = np.array_split(order, 2)
    if min(np.bincount(model.labels_[first], minlength=model.n_clusters)) < 5:
        return
    grown = again(model, X[first])
    before = grown.predict(X)
    grown.update(X[second])
    np.testing.assert_array_equal(grown.labels_, grown.predict(X[second]))
    np.testing.assert_array_equal(grown.predict(X), before)
    assert_same_clusters(before, model.labels_, "a fit of half of the rows")


def blocks(rng, X, model, folder):
    """The order of blocks says nothing, nor does a block of noise, nor a name."""
    noise = rng.standard_normal((len(X), 5))
    own = again(model, {"one": X, "two": X[:, ::-1] + noise[:, :1]}).labels_
    assert_same_clusters(own, model.labels_, "two blocks")
    assert_same_clusters(own, again(model, {"b": X[:, ::-1] + noise[:, :1], "a": X}).labels_, "other order of blocks")
    assert_same_clusters(own, again(model, {"one": X, "noise": noise}).labels_, "a block of noise")
    alone = again(model, {"one": X})
    assert_same_clusters(own, alone.labels_, "one block")
    np.testing.assert_array_equal(alone.predict({"one": X}), alone.labels_)


def other_rows(rng, X, model, folder):
    """The rows of the fit have its labels, in whatever they are kept; as many others, or in other order, predict's."""
    path = folder / "model.skops"
    jc.save(model, path)
    known = again(model, X, known_labels=np.where(rng.uniform(size=len(X)) < 0.2, 0, -1))
    for one in (model, jc.load(path), known):
        for rows in (X, X.copy(order="F"), pd.DataFrame(X), sp.csr_array(X)):
            np.testing.assert_array_equal(Fitted(one, rows).labels, one.labels_)
        changed, exchanged = X.copy(), rng.permutation(X)
        changed[rng.randint(len(X)), rng.randint(X.shape[1])] += rng.choice([1e-6, 1.0, 1e3])
        for rows in (changed, exchanged, X + rng.standard_normal(X.shape)):
            np.testing.assert_array_equal(Fitted(one, rows).labels, one.predict(rows))
            assert sorted(cluster.size for cluster in jc.explain(one, rows)) == sorted(
                size for size in np.bincount(one.predict(rows)) if size
            )


def kills(rng, X, model, folder):
    """Whatever ends a run with ``--force``, and whenever: its folder holds the run before or the new one, whole."""
    run, data = folder / "run", folder / "rows.csv"
    pd.DataFrame(X).add_prefix("c").to_csv(data, index=False)
    fit = ("fit", data, "--method", "ldakm", "--resamples", 0, "--quiet", "--report-megabytes", 0.1, "--out", run)
    began = time.perf_counter()
    assert jointclust(*fit, "-k", 2).wait() == 0
    duration, before = time.perf_counter() - began, digests(run)
    process = jointclust(*fit, "-k", 3, "--force")
    if rng.uniform() < 0.5:
        time.sleep(rng.uniform(0, duration))
    else:
        while process.poll() is None and not list(run.glob(".jointclust-*")):
            time.sleep(0.0005)
        time.sleep(rng.uniform(0, 0.3))
    process.send_signal(rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
    process.wait()
    assert jointclust("predict", run, data, "--out", folder / "labels.csv", "--quiet").wait() == 0
    n_clusters = json.loads((run / "run.json").read_text())["result"]["clusters"]
    labels = [pd.read_csv(path)["label"] for path in (folder / "labels.csv", run / "labels.csv")]
    np.testing.assert_array_equal(*labels)
    assert labels[0].nunique() == len(pd.read_csv(run / "clusters.csv")) == n_clusters
    assert n_clusters == 3 or digests(run) == before
    assert jointclust(*fit, "-k", 3, "--force").wait() == 0
    assert {path.name for path in run.iterdir()} == before.keys()


def jointclust(*arguments):
    """The command line in a process of its own, which Ctrl-C ends."""
    call = [sys.executable, "-c", "from jointclust_command import main; main()", *map(str, arguments)]
    return subprocess.Popen(call, stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(2, signal.SIG_DFL))


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}


RELATIONS = [
    empty_columns,
    empty_rows,
    offsets,
    text_numbers,
    storage,
    row_order,
    column_order,
    interrupts,
    like,
    update,
    blocks,
    other_rows,
    kills,
]


def drawn_model(rng, X, n_clusters):
    settings = {"effort": "quick", "trust": bool(rng.uniform() < 0.2), "random_state": int(rng.randint(100))}
    return jc.JointConsensus(n_clusters, **settings).fit(X)
