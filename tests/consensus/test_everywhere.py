"""The consensus wherever the rows are: it learns from a sample, votes on all, and says the same of the same rows."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import torch
import zarr
from sklearn.metrics import adjusted_rand_score

import jointclust as jc
from elsewhere import KINDS, every_place
from jointclust.consensus import agreement, remote, views
from jointclust.consensus.agreement import Agreement
from jointclust.metrics import clustering_accuracy
from jointclust.rows import Store
from jointclust.rows.arrays import is_device_array, to_host

EVERYWHERE = (*KINDS, "dask frame")
MANY, ALL_CLASSES = jc.datasets.mixture(2000, 20, 4, separation=25, n_nuisance=2, random_state=0)
UNEVEN = np.sort(np.concatenate([np.flatnonzero(k == ALL_CLASSES)[: 330 - 70 * k] for k in range(4)]))
X, CLASSES = MANY[UNEVEN], ALL_CLASSES[UNEVEN]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    with every_place(X, tmp_path_factory.mktemp("everywhere")) as places:
        yield places


@pytest.fixture(scope="module")
def host():
    return jc.JointConsensus(4, random_state=0).fit(X)


@pytest.fixture
def few(monkeypatch):
    """Members see 300 rows."""
    monkeypatch.setattr(views, "MOST_ROWS", 300)


def same(result, expected, **tolerance):
    np.testing.assert_allclose(to_host(result), to_host(expected), **tolerance)


@pytest.mark.parametrize("kind", EVERYWHERE)
def test_fitted_there(kind, places, host, few):
    """Learned from a sample: near the fit in memory, and what is known of each row is what the model says of it."""
    there = places[kind]
    model = jc.JointConsensus(4, trust=kind == "dask", random_state=0).fit(there)
    labels = to_host(model.labels_)
    assert adjusted_rand_score(host.labels_, labels) > 0.98
    assert np.all(np.diff(np.bincount(labels)) <= 0)  # numbered by size
    assert any("learned from a sample of" in view["reason"] for view in model.views_)
    if kind.startswith("dask"):
        assert hasattr(model.labels_, "dask")
    else:
        assert is_device_array(model.labels_) == (kind.split()[0] in ("strict", "torch"))
    same(model.predict(there), labels)
    for one in model.predict_with_confidence(there), (model.labels_, model.confidence_):
        same(one[0], labels)
        same(one[1], model.confidence(there), rtol=1e-6)
    same(model.soft_labels_, model.predict_proba(there), atol=1e-12)
    same(model.cut(6), model.predict(there, n_clusters=6))
    same(model.layers_[3]["labels"], model.cut(4))
    assert to_host(model.outlier_scores_).shape == (900,)
    np.testing.assert_allclose(model.objective_, to_host(model.soft_labels_).max(axis=1).mean())
    assert to_host(model.groups_of_members()).shape == (900, len(model.members_))


@pytest.mark.parametrize("kind", EVERYWHERE)
def test_few_rows_are_all_learned_from(kind, places, host):
    """Then where they are makes no difference."""
    model = jc.JointConsensus(4, trust=False, random_state=0).fit(places[kind])
    if kind != "dask csr":  # sparse rows have other views
        same(model.labels_, host.labels_)
        same(model.soft_labels_, host.soft_labels_, atol=0.2 if "float32" in kind else 1e-6)
    assert "sample" not in model.views_[0]["reason"]


@pytest.mark.parametrize("kind", EVERYWHERE)
@pytest.mark.filterwarnings("ignore:X has feature names")
def test_the_same_said_of_the_same_rows(kind, places, host):
    """One model, fitted in memory; with Dask nothing is computed until it is asked for."""
    there = places[kind]
    same(host.predict(there), host.labels_)
    same(host.predict_proba(there), host.soft_labels_, atol=0.1 if "float32" in kind else 1e-9)
    same(host.transform(there), host.transform(X), rtol=1e-3, atol=1e-3)
    same(host.confidence(there), host.confidence_, rtol=0.1 if "float32" in kind else 1e-5)
    narrow = pd.DataFrame(X[:, :5]) if kind == "dask frame" else None
    with pytest.raises(ValueError, match="features"):
        host.predict(there[:, :5] if narrow is None else dd.from_pandas(narrow, npartitions=1))


def test_other_ways_to_ask(places, few):
    """Rows as they are, members that are given, weights, a number of clusters to be found, an earlier fit elsewhere."""
    model = jc.JointConsensus(4, views=None, members=[jc.LDAKMeans(4), jc.LDAKMeans(5)], random_state=0)
    assert clustering_accuracy(CLASSES, model.fit(places["hdf5"]).labels_) > 0.98
    assert model.members_[0].labels_.shape[0] < 400
    assert clustering_accuracy(CLASSES, to_host(jc.cluster(places["dask"], 4, random_state=0).labels_)) > 0.98
    assert clustering_accuracy(CLASSES, jc.cluster(places["zarr"], random_state=0).labels_) > 0.98
    again = model.fit(X)
    assert again.soft_labels_.shape == (900, 4)
    assert again.confidence_.shape == (900,)


@pytest.mark.parametrize("kind", ["torch", "zarr", "dask frame"])
def test_rows_without_weight_do_not_count(kind, places, few):
    """But they are labelled."""
    weights = np.where(CLASSES == 0, 0.0, 1.0)
    model = jc.JointConsensus(3, random_state=0).fit(places[kind], sample_weight=weights)
    labels = to_host(model.labels_)
    assert labels.shape == (900,)
    assert clustering_accuracy(CLASSES[weights > 0], labels[weights > 0]) > 0.98
    assert np.all(np.diff(np.bincount(labels, weights)) <= 0)


@pytest.mark.parametrize("kind", ["memory", "dask"])
def test_rejecting_every_row_warns(kind, places):
    model = jc.JointConsensus(4, effort="quick", trust=False, reject_below=1.0, random_state=0)
    with pytest.warns(UserWarning, match=r"Every row is rejected.*reject_below=1\."):
        model.fit(X if kind == "memory" else places[kind])
    assert set(to_host(model.labels_)) == {-1}


@pytest.mark.parametrize("kind", ["torch", "memory map", "dask"])
def test_rejected_rows(kind, places, few):
    model = jc.JointConsensus(4, reject_below=0.93, random_state=0).fit(places[kind])
    labels, sure = to_host(model.labels_), to_host(model.confidence_)
    np.testing.assert_array_equal(labels == -1, sure < 0.93)
    np.testing.assert_array_equal(labels[labels >= 0], to_host(model.soft_labels_).argmax(axis=1)[labels >= 0])
    same(model.predict(places[kind]), labels)


def test_columns_of_any_kind_with_dask():
    """Categories, dates, gaps and the numbers of the rows: partitions stay data frames."""
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(X[:, :6], columns=list("abcdef")).assign(
        colour=np.array(["red", "green", "blue", "grey"])[CLASSES],
        day=pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.randint(100, size=900), "D"),
        row=np.arange(900),
    )
    frame.loc[rng.rand(900) < 0.1, "b"] = np.nan
    there = dd.from_pandas(frame, npartitions=4)
    with pytest.warns(UserWarning, match="'row' left out"):
        host = jc.JointConsensus(4, random_state=0).fit(frame)
    with pytest.warns(UserWarning, match="'row' left out"):
        model = jc.JointConsensus(4, random_state=0).fit(there)
    same(model.labels_, host.labels_)
    same(model.predict(there), host.labels_)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(there.rename(columns={"a": "other"}))


def test_one_pass_for_all_views_and_members(places, few, monkeypatch):
    """Beside one that looks for numbers that are not finite, and one that takes the sample."""
    read, original = [], Store.read
    monkeypatch.setattr(
        Store, "read", lambda self, block: (read.append(block.stop - block.start), original(self, block))[1]
    )
    jc.JointConsensus(4, random_state=0).fit(places["memory map"])
    assert sum(read) == 3 * len(X)


def test_votes_for_very_many_rows_are_not_kept(places, few, monkeypatch):
    monkeypatch.setattr(remote, "KEPT", 100)
    model = jc.JointConsensus(4, random_state=0).fit(places["zarr"])
    with pytest.raises(AttributeError, match=r"900 training rows were not kept.*predict_proba\(X\)"):
        model.soft_labels_  # noqa: B018
    for number in (2, 4, 9):
        same(model.cut(number), model.predict(X, n_clusters=number))
    same(model.cut(4), model.labels_)
    same(model.confidence_, model.confidence(X), rtol=1e-6)
    assert model.groups_of_members().shape == (900, 0)


@pytest.mark.parametrize("kind", ["torch", "dask"])
def test_saved(kind, places, few, tmp_path):
    model = jc.JointConsensus(4, random_state=0).fit(places[kind])
    jc.save(model, tmp_path / "model.skops")
    again = jc.load(tmp_path / "model.skops")
    same(again.predict(X), model.labels_)
    same(again.soft_labels_, model.soft_labels_)


def test_small_files_are_loaded(places, few, monkeypatch, tmp_path):
    """Then they are rows in memory: views learn from all of them, and gaps are filled."""
    monkeypatch.setattr("jointclust.rows._store.IN_MEMORY", 2**28)
    gappy = X.copy()
    gappy[517, 3] = np.nan
    stored = zarr.create_array(tmp_path / "small.zarr", shape=X.shape, chunks=(70, 20), dtype=X.dtype)
    stored[:] = gappy
    host = jc.JointConsensus(4, random_state=0).fit(gappy)
    model = jc.JointConsensus(4, random_state=0).fit(stored)
    same(model.soft_labels_, host.soft_labels_)
    same(model.predict(stored), host.labels_)


def test_bad_rows(places):
    broken = X.copy()
    broken[517, 3] = np.inf
    with pytest.raises(ValueError, match="infinity in 1 of 900 rows; the first is row 517"):
        jc.JointConsensus(4).fit(torch.tensor(broken))
    with pytest.raises(ValueError, match="n_clusters=1000 exceeds the number of rows"):
        jc.JointConsensus(1000).fit(places["dask"])


# -- more rows in memory than are learned from --------------------------------------------------------------------


@pytest.fixture
def learned_from_some(monkeypatch):
    """In memory, too, members see 300 rows and vote on all."""
    monkeypatch.setattr(views, "MOST_ROWS", 300)


def test_the_same_sample_in_memory_and_on_a_device(learned_from_some):
    """With rows as they are, nothing but the sample is learned from: then the answers are the same."""
    settings = {"views": None, "trust": True, "random_state": 0}
    host, there = (jc.JointConsensus(4, **settings).fit(rows) for rows in (X, torch.tensor(X)))
    same(there.labels_, host.labels_)
    same(there.confidence_, host.confidence_, rtol=1e-5)
    same(there.outlier_scores_, host.outlier_scores_, rtol=1e-5)
    assert host.reproducibility_ == pytest.approx(there.reproducibility_)


def test_all_rows_are_voted_on(learned_from_some):
    """What is said of the training rows is what the model says of them; weights, known labels and groups count."""
    weights, known, groups = np.ones(900), np.where(np.arange(900) < 40, CLASSES, -1), np.full(900, None)
    weights[40:90], groups[[800, 805, 810]] = 0.0, "together"
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(20)]).assign(kind=np.array(list("abcd"))[CLASSES])
    model = jc.JointConsensus(4, random_state=0).fit(frame, sample_weight=weights)
    assert clustering_accuracy(CLASSES, model.labels_) > 0.98
    same(model.labels_, model.predict(frame))
    same(model.confidence_, model.confidence(frame), rtol=1e-6)
    same(model.soft_labels_, model.predict_proba(frame))
    same(model.cut(6), model.predict(frame, n_clusters=6))
    assert np.all(np.diff(np.bincount(model.labels_, weights)) <= 0)
    assert {column["name"] for column in model.columns_ if column["drives"] > 0.5} >= {"kind"}
    text = jc.JointConsensus(4, random_state=0).fit(X, known_labels=known, groups=groups)
    same(text.labels_[:40], known[:40])
    assert np.unique(text.labels_[[800, 805, 810]]).size == 1


def test_votes_of_many_rows_are_counted_part_by_part(monkeypatch):
    """The codes of all members take many times the room of the rows."""
    X, _ = jc.datasets.mixture(400, 30, 3, random_state=0)
    model = jc.JointConsensus(3, effort="quick", trust=False, random_state=0).fit(X)
    before = model.predict(X), model.predict_proba(X), model.confidence(X), model.predict(X, 5)
    sizes, codes = [], Agreement.codes

    def counted(self, sources, **options):
        sizes.append(sources[0].rows.shape[0])
        return codes(self, sources, **options)

    monkeypatch.setattr(Agreement, "codes", counted)
    monkeypatch.setattr(agreement, "PART", 150)
    after = model.predict(X), model.predict_proba(X), model.confidence(X), model.predict(X, 5)
    assert sizes == [150, 150, 100] * 4
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
