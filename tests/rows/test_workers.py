"""A real cluster: workers that die, are interrupted, have too little memory or lack the package."""

import gc
import os
import pickle
import signal
import threading
import time

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.exceptions import ConvergenceWarning

import jointclust as jc
from jointclust.rows import _dask


@pytest.fixture
def client(tmp_path):
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "local_directory": str(tmp_path)}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


def slowly(block):
    time.sleep(0.1)
    return block


@pytest.fixture(scope="module")
def rows():
    return jc.datasets.mixture(2000, 20, 4, separation=25, n_nuisance=2, random_state=0)[0]


def test_workers_in_other_processes(client, rows):
    host = jc.RobustEmbeddedClustering(4, random_state=0).fit(rows)
    X = da.from_array(rows, chunks=(300, 20)).persist()
    model = jc.RobustEmbeddedClustering(4, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_.compute(), host.labels_)
    np.testing.assert_array_equal(model.predict(X).compute(), host.labels_)


@pytest.mark.parametrize("method", [jc.LDAKMeans, pytest.param(jc.JointConsensus, marks=pytest.mark.slow)])
def test_a_worker_is_killed(method, client, rows):
    host = method(4, random_state=0).fit(rows)
    X = da.from_array(rows, chunks=(250, 20)).map_blocks(slowly, dtype=rows.dtype, meta=np.empty((0, 0)))
    pids = client.run(os.getpid)
    killer = threading.Timer(1.0, os.kill, (next(iter(pids.values())), signal.SIGKILL))
    killer.start()
    model = method(4, random_state=0).fit(X)
    assert not killer.is_alive()
    assert set(client.run(os.getpid).values()) != set(pids.values())
    np.testing.assert_array_equal(model.labels_.compute(), host.labels_)
    np.testing.assert_allclose(model.objective_, host.objective_, rtol=1e-9)


@pytest.mark.parametrize("method", [pytest.param(jc.LDAKMeans, marks=pytest.mark.slow), jc.JointConsensus])
def test_a_cancelled_fit_leaves_nothing_running(method, client, rows):
    slow = da.from_array(rows, chunks=(50, 20)).map_blocks(slowly, dtype=rows.dtype, meta=np.empty((0, 0)))
    is_left_while(lambda: method(4, random_state=0).fit(slow), client)


class Slow(jc.LDAKMeans):
    def fit(self, X, y=None, sample_weight=None):
        time.sleep(2)
        return super().fit(X, sample_weight=sample_weight)


def test_cancelled_fits_of_members_leave_nothing_running(client, rows):
    X = da.from_array(rows, chunks=(500, 20))
    model = jc.JointConsensus(4, members=[Slow(4) for _ in range(20)], trust=False, random_state=0)
    is_left_while(lambda: model.fit(X), client)
    assert not hasattr(model, "labels_")


def is_left_while(fit, client):
    """Interrupt a fit after a second, and look at what the workers still do."""

    def interrupt(_, frame):
        if frame.f_code.co_name in ("_remove", "__del__"):  # Python loses what is raised there: a moment later
            signal.setitimer(signal.ITIMER_REAL, 0.01)
        else:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        with pytest.raises(KeyboardInterrupt):
            fit()
    finally:
        signal.signal(signal.SIGALRM, before)
    gc.collect()

    def processing(dask_scheduler):
        return sum(task.state in ("processing", "waiting") for task in dask_scheduler.tasks.values())

    deadline = time.time() + 5
    while client.run_on_scheduler(processing) and time.time() < deadline:
        time.sleep(0.1)
    assert client.run_on_scheduler(processing) == 0


class Fragile(jc.LDAKMeans):
    """A member whose first fit kills the process, and which knows the process of the last."""

    def __init__(self, n_clusters=4, *, flag=None, random_state=None):
        super().__init__(n_clusters, random_state=random_state)
        self.flag = flag

    def fit(self, X, y=None, sample_weight=None):
        if self.flag is not None and not self.flag.exists():
            self.flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        self.pid_ = os.getpid()
        return super().fit(X, sample_weight=sample_weight)


def test_workers_fit_the_members(client, rows, tmp_path, monkeypatch):
    """Ours and given ones; a worker that dies of it takes no fit with it."""
    X = da.from_array(rows, chunks=(500, 20))
    host = jc.JointConsensus(4, trust=True, random_state=0).fit(rows)
    given = [jc.LDAKMeans(4), Fragile(flag=tmp_path / "killed")]
    of_given = jc.JointConsensus(4, members=[jc.LDAKMeans(4), Fragile()], trust=False, random_state=0).fit(rows)
    monkeypatch.setattr("jointclust.rows.threads.each", None)  # a member that is fitted here
    model = jc.JointConsensus(4, trust=True, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_.compute(), host.labels_)
    assert model.reproducibility_ == host.reproducibility_
    assert all(member.view is model._agreement.panel.projections[0] for member in model.members_[:4])
    model = jc.JointConsensus(4, members=given, trust=False, random_state=0).fit(X)
    assert (tmp_path / "killed").exists()
    assert model.members_[1].pid_ in client.run(os.getpid).values()
    np.testing.assert_array_equal(model.labels_.compute(), of_given.labels_)


def labels_of_a_fit_to_dask_rows(rows):
    model = jc.JointConsensus(4, effort="quick", trust=False, random_state=0)
    return model.fit(da.from_array(rows, chunks=(500, 20))).labels_.compute()


def test_a_fit_by_a_worker_does_not_wait_for_itself(tmp_path, rows):
    """It is a task, and has the only thread of the only worker."""
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "local_directory": str(tmp_path)}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        labels = client.submit(labels_of_a_fit_to_dask_rows, rows).result(timeout=120)
    np.testing.assert_array_equal(labels, labels_of_a_fit_to_dask_rows(rows))


def test_a_large_sample_is_no_matter_to_the_user(client, recwarn):
    """Dask warns of graphs of 10 MB, which it is told to build in another way."""
    sample = np.zeros(2_000_000)
    found = _dask.each(lambda number: number + len(sample), 3, lambda _: None)
    assert found == [2_000_000, 2_000_001, 2_000_002]
    assert not [warned for warned in recwarn if "graph" in str(warned.message)]


def test_members_warn_nobody(rows, recwarn):
    """As in memory; a worker in this process shows what others would write to their terminal."""
    X = da.from_array(rows, chunks=(500, 20))
    members = [jc.RobustEmbeddedClustering(4, max_iter=1), jc.LDAKMeans(4)]
    with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster, Client(cluster):
        jc.JointConsensus(4, members=members, trust=False, random_state=0).fit(X)
    assert not [warned for warned in recwarn if issubclass(warned.category, ConvergenceWarning)]


@pytest.mark.slow
def test_a_model_outlives_the_cluster(tmp_path, rows):
    """All that it says of its rows, read, pickled or saved; what is too large for that, it names."""
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "local_directory": str(tmp_path)}
    methods = [
        jc.JointConsensus(4),
        jc.RobustEmbeddedClustering(4),
        jc.FuzzyKMeans(4),
        jc.LabelFreeSearch(jc.DisCluster(4)),
    ]
    with LocalCluster(**options) as cluster, Client(cluster), pytest.MonkeyPatch.context() as patch:
        X = da.from_array(rows, chunks=(500, 20)).persist()
        models = [model.set_params(random_state=0).fit(X) for model in methods]
        labels = [model.labels_.compute() for model in models]
        patch.setattr("jointclust.rows.KEPT", 1)
        large = jc.FuzzyKMeans(4, random_state=0).fit(X)
    for model, expected in zip(models, labels, strict=True):
        assert model.labels_.chunks == ((500,) * 4,)
        np.testing.assert_array_equal(model.labels_.compute(), expected)
        jc.save(model, tmp_path / "model.skops")
        for again in (pickle.loads(pickle.dumps(model)), jc.load(tmp_path / "model.skops")):
            np.testing.assert_array_equal(again.predict(rows), expected)
            np.testing.assert_array_equal(again.labels_, expected)
    assert models[1].outlier_scores_.compute().shape == (2000,)
    with pytest.raises(RuntimeError, match="labels_ is with Dask workers that are gone.*compute it before"):
        pickle.dumps(large)
    np.testing.assert_array_equal(large.predict(da.from_array(rows)).compute(), models[2].predict(rows))


def test_very_many_chunks(client, rows, monkeypatch):
    monkeypatch.setattr(_dask, "MOST_CHUNKS", 3)
    with pytest.warns(UserWarning, match="X has 4 chunks of some 500 rows.*rechunk to fewer"):
        jc.LDAKMeans(4, random_state=0).fit(da.from_array(rows, chunks=(500, 20)))


def test_too_little_memory(tmp_path):
    options = {"dashboard_address": None, "local_directory": str(tmp_path)}
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, memory_limit="400MiB", **options) as cluster,
        Client(cluster),
    ):
        X = da.random.default_rng(0).standard_normal((400_000, 50), chunks=(400_000, 50))
        with pytest.raises(MemoryError, match=r"too much for a worker with 400 MiB.*Rechunk to"):
            jc.LDAKMeans(4, random_state=0).fit(X)


def test_workers_that_lack_the_package(tmp_path, rows):
    hide = tmp_path / "hide.py"
    hide.write_text(
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'jointclust':\n"
        "            raise ModuleNotFoundError(f\"No module named '{name}'\", name=name)\n"
        "def dask_setup(worker):\n"
        "    sys.meta_path.insert(0, Hidden())\n"
        "    for name in [name for name in sys.modules if name.split('.')[0] == 'jointclust']:\n"
        "        del sys.modules[name]\n"
    )
    options = {"dashboard_address": None, "local_directory": str(tmp_path), "preload": [str(hide)]}
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, **options) as cluster,
        Client(cluster),
        pytest.raises(ModuleNotFoundError, match="1 of 1 Dask workers lack jointclust"),
    ):
        jc.LDAKMeans(4, random_state=0).fit(da.from_array(rows, chunks=(500, 20)))
