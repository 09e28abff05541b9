"""Experiments: the table, going on after a kill, and the two ways of choosing parameters."""

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import DBSCAN, FeatureAgglomeration, KMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import jointclust as jc
from jointclust.datasets import Dataset
from jointclust.selection.baseline import prepared_kmeans
from jointclust_papers.experiments import Experiment, Journal, scores, summary
from jointclust_papers.experiments.selection import chosen_runs

SAME = ["dataset", "method", "parameters", "seed", "accuracy", "nmi", "agreement", "clusters", "objective", "n_iter"]
DEC = jc.DiscriminativeEmbeddedClustering


def methods():
    return {"k-means": KMeans(n_init=1), "DEC": (DEC(), {"trade_off": [1.5, 3.0]})}


def small(seed=0, name="small"):
    return Dataset(*jc.datasets.mixture(120, 12, 3, n_nuisance=2, random_state=seed), name)


def halved(X):
    return X[:, : X.shape[1] // 2]


def test_table_is_tidy_and_true():
    data = small()
    table = Experiment(methods(), [data, "iris"], seeds=[3, 5]).run()
    assert len(table) == 2 * 3 * 2
    assert not table.duplicated(["dataset", "method", "parameters", "seed"]).any()
    assert (table["seconds"] > 0).all()
    assert (table["error"] == "").all()
    row = table[(table["dataset"] == "small") & (table["method"] == "DEC") & (table["seed"] == 5)].iloc[1]
    assert json.loads(row["parameters"]) == {"trade_off": 3.0}
    own = DEC(3, trade_off=3.0, random_state=5).fit(data.data)
    assert row["accuracy"] == jc.metrics.clustering_accuracy(data.target, own.labels_)
    assert row["nmi"] == jc.metrics.normalized_mutual_info(data.target, own.labels_)
    assert row["objective"] == own.objective_


def test_shared_decomposition_gives_the_same_labels():
    one, other = (Experiment(methods(), [small()], seeds=[0, 1], shared=shared).run() for shared in (False, True))
    pd.testing.assert_frame_equal(one[SAME], other[SAME], rtol=1e-9)


def test_parallel_equals_serial():
    serial, parallel = (
        Experiment(methods(), [small(), small(1, "other")], seeds=range(3)).run(n_jobs=n) for n in (1, 2)
    )
    pd.testing.assert_frame_equal(serial[SAME], parallel[SAME])


def test_grids_pipelines_preparation_and_recording():
    grids = {
        "by data": (DEC(), lambda data: {"n_components": [1, min(3, data.n_classes - 1)]}),
        "list": (DEC(), [{"trade_off": [2.0]}, {"trade_off": [2.0, 4.0], "n_components": [1]}]),
        "pipeline": (make_pipeline(PCA(), KMeans(n_init=1)), {"pca__n_components": [2, 3]}),
    }
    experiment = Experiment(grids, [small()], [0], prepare={"small": halved}, record=("components_",), label_free=False)
    table = experiment.run()
    assert table["method"].value_counts().to_dict() == {"by data": 2, "list": 3, "pipeline": 2}
    assert np.asarray(table["components_"].iloc[0]).shape == (1, 6)
    assert table["agreement"].isna().all()
    assert (table["clusters"] == 3).all()
    with pytest.raises(ValueError, match="no parameter 'lambda'"):
        Experiment({"DEC": (DEC(), {"lambda": [1]})}, [small()]).run()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files(tmp_path, ending):
    path = tmp_path / f"table.{ending}"
    table = Experiment(methods(), [small()], seeds=[0]).run(path)
    read = pd.read_csv(path, keep_default_na=False, na_values=[""]) if ending == "csv" else pd.read_parquet(path)
    assert list(read.columns) == list(table.columns)
    np.testing.assert_array_equal(read["accuracy"], table["accuracy"])
    with pytest.raises(ValueError, match=r"\.csv or \.parquet"):
        Experiment(methods(), [small()]).run(tmp_path / "table.xlsx")


class StoppedError(Exception):
    pass


def test_goes_on_where_it_stopped(tmp_path):
    experiment = Experiment(methods(), [small()], seeds=range(4))
    whole = experiment.run()

    def stop(done, total):
        if done == 5:
            raise StoppedError

    with pytest.raises(StoppedError):
        experiment.run(tmp_path / "t.csv", progress=stop)
    heard = []
    table = experiment.run(tmp_path / "t.csv", progress=lambda done, total: heard.append((done, total)))
    assert heard[0] == (5, 12)
    assert heard[-1] == (12, 12)
    pd.testing.assert_frame_equal(table[SAME], whole[SAME])
    # More seeds run only what is new; other data or parameters are other cells.
    heard.clear()
    more = Experiment(methods(), [small()], seeds=range(5))
    more.run(tmp_path / "t.csv", progress=lambda done, total: heard.append((done, total)))
    assert heard[0] == (12, 15)
    for other in (Experiment(methods(), [small(1)], seeds=range(4)), Experiment({"k": KMeans(n_init=2)}, [small()])):
        heard.clear()
        other.run(tmp_path / "t.csv", progress=lambda done, total: heard.append((done, total)))
        assert heard[0][0] == 0


def test_keys_tell_estimators_apart_that_look_alike():
    centers = np.random.RandomState(0).rand(3, 4)
    other = centers + np.eye(3, 4) * 1e-12

    def key(estimator):
        return Experiment({"a": estimator}, ["iris"], [0]).cells()[0].key

    assert key(KMeans(init=centers)) == key(KMeans(init=centers.copy()))
    assert key(KMeans(init=centers)) != key(KMeans(init=other))
    assert key(make_pipeline(PCA(2), KMeans(init=centers))) != key(make_pipeline(PCA(2), KMeans(init=other)))
    assert key(DEC(trade_off=2.0)) != key(DEC(trade_off=3.0))
    assert key(KMeans(n_init=1)) != key(type("KMeans", (KMeans,), {"__module__": "elsewhere"})(n_init=1))
    assert key(make_pipeline(FunctionTransformer(np.log1p), KMeans())) != key(
        make_pipeline(FunctionTransformer(np.sqrt), KMeans())
    )
    assert "0x" not in key(make_pipeline(FunctionTransformer(halved), KMeans()))
    with pytest.raises(ValueError, match="give it a name in a module"):
        key(make_pipeline(FunctionTransformer(lambda X: X), KMeans()))
    both = Experiment({"k": (KMeans(), {"init": [centers, other]})}, ["iris"], [0])
    assert len({cell.parameters for cell in both.cells()}) == 2


def test_clusters_and_seeds_are_not_for_the_grid():
    for name in ("n_clusters", "random_state"):
        with pytest.raises(ValueError, match=f"{name} cannot be in a grid"):
            Experiment({"k": (KMeans(), {name: [2, 5]})}, ["iris"]).cells()
    inner = make_pipeline(FeatureAgglomeration(n_clusters=2), KMeans(n_init=1))
    (cell,) = Experiment({"k": inner}, ["iris"], [0]).cells()
    assert (cell.estimator[0].n_clusters, cell.estimator[1].n_clusters) == (2, 3)


@pytest.mark.parametrize("convert", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_sparse_rows_and_any_labels(convert):
    data = small()
    words = np.array(["é", "日本", "c"])[data.target]
    table = Experiment({"k": KMeans(n_init=1)}, [Dataset(convert(data.data), words, "s")], [0], label_free=False).run()
    assert (table["error"] == "").all()
    assert table["clusters"].iloc[0] == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (({}, ["iris"]), "methods is empty"),
        (({"k": KMeans()}, []), "data is empty"),
        (({"k": KMeans()}, ["iris"], []), "seeds is empty"),
        (({"k": KMeans()}, ["iris"], [1, 2, 1]), "seeds names 1 more than once"),
        (({"k": KMeans()}, [small(0), small(1)]), "data names 'small' more than once"),
    ],
)
def test_bad_plans_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        Experiment(*given)


RUN = """
import sys
from jointclust import DiscriminativeEmbeddedClustering as DEC
from jointclust_papers.experiments import Experiment
grid = {"trade_off": [1.5, 2.0, 3.0]}
experiment = Experiment({"DEC": (DEC(), grid)}, ["breast_cancer", "wine"], seeds=range(5), label_free=False)
"""


def test_sigkill_at_random_moments_loses_at_most_the_cells_in_progress(tmp_path):
    path, journal = tmp_path / "killed.csv", tmp_path / "killed.csv.journal"
    rng, before = random.Random(0), 0
    for _ in range(2):
        # A group of its own, so that the workers are killed too.
        slowly = "import time; from jointclust_papers.experiments import Journal; add = Journal.add\n"
        slowly += "Journal.add = lambda *a: (add(*a), time.sleep(0.2))\n"
        started = f"{RUN}{slowly}experiment.run(sys.argv[1], n_jobs=2)"
        process = subprocess.Popen([sys.executable, "-c", started, str(path)], start_new_session=True)
        deadline = time.monotonic() + 60
        target = before + rng.randint(1, 5)
        while process.poll() is None and time.monotonic() < deadline:
            if journal.exists() and journal.read_bytes().count(b"\n") >= target:
                break
            time.sleep(rng.random() / 50)
        alive = process.poll() is None
        if alive:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        now = journal.read_bytes().count(b"\n")
        assert now >= target  # what was on the disk stays there
        before = now
        if not alive:
            break
    assert before >= 2
    again: dict = {}
    exec(RUN, again)
    again["experiment"].run(path)
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert len(lines) == len({line["key"] for line in lines}) == 30  # no cell was run twice
    fresh = tmp_path / "fresh.csv"
    again["experiment"].run(fresh)
    pd.testing.assert_frame_equal(pd.read_csv(path)[SAME], pd.read_csv(fresh)[SAME])


def test_a_line_cut_short_is_dropped(tmp_path):
    path = tmp_path / "cells.jsonl"
    with Journal(path) as journal:
        journal.add("a", {"x": 1.5})
        journal.add("b", {"x": 2.5})
    path.write_bytes(path.read_bytes()[:-4])
    with Journal(path) as journal:
        assert journal.get("a") == {"x": 1.5}
        assert journal.get("b") is None
        journal.add("c", {"x": 3.5})
    with Journal(path) as journal:
        assert set(journal.cells) == {"a", "c"}


def test_a_foreign_file_is_refused_and_kept(tmp_path):
    path = tmp_path / "cells.jsonl"
    path.write_text("hello\nworld\n")
    with pytest.raises(ValueError, match="line 1"), Journal(path):
        pass
    assert path.read_text() == "hello\nworld\n"


def test_two_runs_do_not_share_a_journal(tmp_path):
    with Journal(tmp_path / "j"), pytest.raises(ValueError, match="another run"), Journal(tmp_path / "j"):
        pass


class Fragile(KMeans):
    def fit(self, X, y=None, sample_weight=None):
        if self.random_state == 1 and not os.environ.get("FRAGILE_IS_FINE"):
            raise RuntimeError("not today")
        return super().fit(X)


def test_failures_are_recorded_and_tried_again(tmp_path, monkeypatch):
    experiment = Experiment({"fragile": Fragile(n_init=1)}, [small()], seeds=range(3))
    table = experiment.run(tmp_path / "t.csv")
    assert table["error"].tolist() == ["", "RuntimeError: not today", ""]
    assert table["accuracy"].isna().tolist() == [False, True, False]
    row = summary(table).iloc[0]
    assert (row["runs"], row["failures"]) == (2, 1)
    monkeypatch.setenv("FRAGILE_IS_FINE", "1")
    assert (experiment.run(tmp_path / "t.csv")["error"] == "").all()


def test_warnings_are_kept():
    table = Experiment({"DEC": DEC(max_iter=1, update_rule="fixed")}, ["digits"], seeds=[0], label_free=False).run()
    assert "max_iter=1" in table["warnings"].iloc[0]


# -- choosing ---------------------------------------------------------------------------------------------------


def made_up():
    rows = [
        ("a", "m", '{"p": 1}', 0, 0.9, 0.5, 0.1),
        ("a", "m", '{"p": 1}', 1, 0.7, 0.5, 0.3),
        ("a", "m", '{"p": 2}', 0, 0.6, 0.8, 0.4),
        ("a", "m", '{"p": 2}', 1, 0.4, 0.8, 0.6),
        ("a", "k", "{}", 0, 0.3, 0.3, 0.2),
    ]
    names = ["dataset", "method", "parameters", "seed", "accuracy", "nmi", "agreement"]
    return pd.DataFrame(rows, columns=names).assign(seconds=1.0, error="")


def test_summary_by_hand():
    result = summary(made_up()).set_index(["method", "selection"])
    oracle, free = result.loc[("m", "oracle")], result.loc[("m", "label-free")]
    assert (oracle["parameters"], free["parameters"]) == ('{"p": 1}', '{"p": 2}')
    assert oracle["accuracy"] == pytest.approx(0.8)
    assert oracle["accuracy_best"] == 0.9
    assert free["accuracy"] == pytest.approx(0.5)
    with pytest.raises(ValueError, match="accuracy or nmi"):
        summary(made_up(), "f1")
    assert summary(made_up(), "nmi").set_index(["method", "selection"]).loc[("m", "oracle"), "parameters"] == '{"p": 2}'


def test_summary_of_a_file_of_failures_and_of_no_agreement(tmp_path):
    table = made_up()
    path = tmp_path / "t.csv"
    table.to_csv(path, index=False)
    pd.testing.assert_frame_equal(summary(pd.read_csv(path)), summary(table))
    # One lucky run of two does not win over two runs.
    table.loc[1, ["accuracy", "agreement", "error"]] = [np.nan, np.nan, "RuntimeError: no"]
    assert summary(table).set_index(["method", "selection"]).loc[("m", "oracle"), "parameters"] == '{"p": 2}'
    blind = summary(made_up().assign(agreement=np.nan))
    assert blind["selection"].unique().tolist() == ["oracle"]


def test_no_way_of_choosing_takes_a_fit_with_an_empty_cluster():
    """The best mean and the best agreement belong to parameters half of whose fits left a cluster empty."""
    table = made_up().assign(empty=[0, 1, 0, 0, 0])
    table["agreement"] = [0.9, 0.9, 0.1, 0.1, 0.2]
    result = summary(table).set_index(["method", "selection"])
    assert set(result.loc["m", "parameters"]) == {'{"p": 2}'}
    assert result.loc[("m", "oracle"), "accuracy"] == pytest.approx(0.5)
    runs = chosen_runs(table)
    assert set(runs[runs["method"] == "m"]["parameters"]) == {'{"p": 2}'}


@pytest.mark.parametrize(("empty", "chosen"), [([1, 0, 0], '{"p": 1}'), ([0, 1, 1], ""), ([1, 2, 1], "")])
def test_parameters_need_whole_fits_in_more_than_half_of_their_runs(empty, chosen):
    runs = pd.concat([made_up().iloc[[0]].assign(seed=seed, accuracy=0.5 + 0.1 * seed) for seed in range(3)])
    table = runs.assign(empty=empty).reset_index(drop=True)
    for _, row in summary(table).iterrows():
        assert (row["parameters"], row["runs"], row["collapsed"]) == (chosen, 3, np.count_nonzero(empty))
        assert row[["accuracy", "nmi", "agreement"]].isna().all() != bool(chosen)
    assert len(chosen_runs(table)) == (3 if chosen else 0)
    if chosen:
        assert row["accuracy"] == pytest.approx(0.65)  # of the whole fits


def test_runs_that_mostly_fail_give_no_number():
    table = made_up().iloc[:2].assign(error=["", "RuntimeError: no"], accuracy=[0.9, np.nan])
    row = summary(table, selections=("oracle",)).iloc[0]
    assert (row["parameters"], row["runs"], row["failures"]) == ("", 1, 1)
    assert np.isnan(row["accuracy"])


def test_empty_clusters_are_counted():
    class OneCluster(KMeans):
        def fit(self, X, y=None, sample_weight=None):
            self.labels_ = np.zeros(len(X), dtype=int)
            return self

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    data = small()
    given = {"collapsed": OneCluster(), "whole": KMeans(n_init=1), "any": DBSCAN(eps=100.0)}
    table = Experiment(given, [data], [0], label_free=False).run().set_index("method")
    assert table["empty"].to_dict() == {"collapsed": 2, "whole": 0, "any": 0}


def test_data_frames_have_fingerprints():
    """Columns of different types: a changed value is another data set, and methods that take frames can be run."""
    mixed = pd.DataFrame({"purpose": ["car", "radio", "car", "bus"] * 9, "amount": np.arange(36.0)})
    labels = np.arange(36) % 2
    other = mixed.copy()
    other.loc[3, "purpose"] = "car"
    keys = {
        Experiment({"k": prepared_kmeans()}, [Dataset(one, labels, "loans")], [0]).cells()[0].key
        for one in (mixed, mixed.copy(), other)
    }
    assert len(keys) == 2
    table = Experiment({"k": prepared_kmeans()}, [Dataset(mixed, labels, "loans")], [0]).run()
    assert table["error"].tolist() == [""]
    assert table["agreement"].isna().all()  # the references are not for frames


def test_scores_are_of_one_way_of_choosing():
    result = summary(made_up())
    assert scores(result, "oracle").loc["a", "m"] == pytest.approx(0.8)
    assert scores(result, "label-free").loc["a", "m"] == pytest.approx(0.5)
    with pytest.raises(ValueError, match="oracle, label-free"):
        scores(result, "both")


def test_label_free_choice_does_not_see_the_classes():
    data = small()
    wrong = Dataset(data.data, np.random.RandomState(0).permutation(data.target), data.name)
    right_table, wrong_table = (Experiment(methods(), [one], seeds=range(3)).run() for one in (data, wrong))
    assert not np.allclose(right_table["accuracy"], wrong_table["accuracy"])
    np.testing.assert_array_equal(right_table["agreement"], wrong_table["agreement"])
    choices = [summary(t, selections=("label-free",))["parameters"].tolist() for t in (right_table, wrong_table)]
    assert choices[0] == choices[1]


def test_importing_experiments_is_light():
    code = textwrap.dedent("""
        import sys, sklearn.cluster
        known = set(sys.modules)
        import jointclust_papers.experiments
        print(*(set(sys.modules) - known))
    """)
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"matplotlib", "pooch", "requests"} & set(output.split())
