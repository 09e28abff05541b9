import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jointclust as jc
from jointclust.showing import explain as module
from jointclust.showing.fitted import Fitted
from jointclust.showing.profile import profile
from jointclust.showing.rules import Side, _rounded
from registered import CLUSTERERS

pytestmark = pytest.mark.filterwarnings("ignore::jointclust.PlainKMeansWarning", "ignore::jointclust.CollapseWarning")


class Given(ClusterMixin, BaseEstimator):
    """Clusters that are given: what there is to explain is known."""

    def __init__(self, labels=None):
        self.labels = labels

    def fit(self, X, y=None):
        self.labels_ = np.asarray(self.labels).astype(int)
        return self


def explained(labels, X, names=None):
    return jc.explain(Given(labels).fit(X), X, names)


@pytest.fixture(scope="module")
def table():
    """Two colours, sizes with gaps, booleans, dates, an id and a constant column."""
    rng = np.random.RandomState(0)
    n = 240
    days = pd.to_timedelta(rng.randint(1000, size=n), unit="D")
    frame = pd.DataFrame(
        {
            "name": [f"row {index}" for index in range(n)],
            "colour": rng.choice(["red", "green", "blue"], n),
            "size": rng.uniform(0, 10, n),
            "smoker": rng.rand(n) < 0.5,
            "since": pd.Timestamp("2020-01-01") + days,
            "one": 1,
        }
    )
    frame.loc[::9, "colour"] = None
    frame.loc[::7, "size"] = np.nan
    return frame


def counted(rule, member, frame):
    """Precision and coverage, condition by condition and row by row."""
    hits = []
    for row in range(len(frame)):
        fulfilled = []
        for condition in rule["conditions"]:
            column, _, level = condition["feature"].partition(" = ")
            cell = frame[column].iloc[row]
            if pd.isna(cell):
                fulfilled.append(False)
                continue
            if level:
                cell = str(cell) == level
            elif isinstance(cell, pd.Timestamp):
                cell = (cell - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
            above, up_to = condition["above"], condition["up_to"]
            fulfilled.append((above is None or cell > above) and (up_to is None or cell <= up_to))
        hits.append(all(fulfilled))
    hits = np.array(hits)
    return (hits & member).sum() / hits.sum(), (hits & member).sum() / member.sum()


@pytest.mark.parametrize("most", [100, 10_000], ids=["a sample", "all rows"])
def test_precision_and_coverage_are_those_of_a_recount(table, monkeypatch, most):
    monkeypatch.setattr(module, "MOST_ROWS", most)
    monkeypatch.setattr(module, "FEWEST_OF_A_CLUSTER", 5)
    rng = np.random.RandomState(1)
    labels = (table["colour"] == "red") + 2 * (table["size"] > 6) + (table["since"] > "2021-06-01")
    labels = np.where(rng.rand(len(table)) < 0.1, rng.randint(4, size=len(table)), labels)
    explanation = explained(labels, table)
    rules = [(cluster["cluster"], rule) for cluster in explanation.to_dict()["clusters"] for rule in cluster["rules"]]
    assert max(len(rule["conditions"]) for _, rule in rules) > 1
    for cluster, rule in rules:
        np.testing.assert_allclose((rule["precision"], rule["coverage"]), counted(rule, labels == cluster, table))
    assert [cluster.size for cluster in explanation] == np.bincount(labels).tolist()
    assert any("sample" in note for note in explanation.notes) == (most < len(table))


@pytest.mark.parametrize(
    ("planted", "texts"),
    [
        (lambda t: (t["colour"] == "red") & (t["size"] > 4), {"colour = red", "size > 4"}),
        (lambda t: (t["size"] > 2) & (t["size"] <= 5), {"2 < size ≤ 5"}),
        (lambda t: t["smoker"] & (t["since"] <= "2021-03-01"), {"smoker = True", "since ≤ 2021-01-01"}),
        (lambda t: ~t["smoker"], {"smoker = False"}),
        (lambda t: t["colour"].isin(["red", "green"]), {"colour ≠ blue"}),
    ],
    ids=["level and number", "interval", "boolean and date", "not true", "not a level"],
)
def test_a_planted_rule_is_found(table, planted, texts):
    """In whole numbers and quarters of a year, so that there is one limit only."""
    frame = table.ffill().bfill()
    frame = frame.assign(size=frame["size"].round(0), since=frame["since"].dt.to_period("Q").dt.start_time)
    rule, *more = explained(planted(frame), frame)[1].rules
    assert not more
    assert (rule.precision, rule.coverage) == (1.0, 1.0)
    assert set(map(str, rule.conditions)) == texts
    assert str(rule) == " and ".join(map(str, rule.conditions))


def test_two_groups_in_a_cluster_have_two_rules(table):
    frame = table.ffill().bfill()
    member = ((frame["colour"] == "red") & (frame["size"] > 5)) | ((frame["colour"] == "blue") & (frame["size"] <= 3))
    first, second = explained(member, frame)[1].rules
    assert first.precision == second.precision == 1.0
    assert first.coverage + second.coverage == pytest.approx(1.0)


def test_no_condition_is_for_nothing(blobs):
    """Dropping any condition of a rule makes it worse."""
    X, y = blobs
    for cluster in explained(y, X):
        for rule in cluster.rules:
            assert 1 <= len(rule.conditions) <= 3
            for dropped in range(len(rule.conditions)):
                kept = [one for place, one in enumerate(rule.conditions) if place != dropped]
                held = np.ones(len(X), dtype=bool)
                for condition in kept:
                    held &= condition.holds(X[:, int(condition.feature.column[1:])])
                member = y == cluster.cluster
                score = 2 * (held & member).sum() / (held.sum() + member.sum())
                assert score < 2 / (1 / rule.precision + 1 / rule.coverage)


def test_the_data_frame_has_a_row_for_each_cluster_and_feature(table):
    labels = (table["colour"] == "red").astype(int) + 5
    explanation = explained(labels, table)
    frame = explanation.to_frame()
    assert list(frame.columns) == ["cluster", "name", "feature", "kind", "here", "elsewhere", "effect"]
    assert len(frame) == 2 * len(explanation.features)
    one = frame[(frame["feature"] == "size") & (frame["cluster"] == 6)].iloc[0]
    assert one["here"] == pytest.approx(table["size"][labels == 6].mean())
    assert one["elsewhere"] == pytest.approx(table["size"][labels == 5].mean())
    red = frame[frame["feature"] == "colour = red"].set_index("cluster")
    assert red.loc[6, ["here", "elsewhere"]].tolist() == pytest.approx([1.0, 0.0])
    assert set(red["kind"]) == {"level"}
    for cluster in explanation:
        own = frame[frame["cluster"] == cluster.cluster].set_index("feature")
        assert set(own["name"]) == {cluster.name}
        for feature in cluster.features:
            assert own.loc[feature.name, "effect"] == feature.effect


def test_notebooks_and_terminals_get_tables():
    labels = np.repeat([0, 1], 30)
    X = labels[:, None] + 0.1 * np.random.RandomState(0).standard_normal((60, 1))
    explanation = explained(labels, X, ["<script>alert(1)</script>"])
    page = explanation._repr_html_()
    assert "<script" not in page
    assert page.count("<details>") == 2
    assert page.count("<table>") == 3
    lines = str(explanation).splitlines()
    assert lines[0].split() == ["cluster", "rows", "share", "name", "precision", "coverage"]
    assert [line.split()[:3] for line in lines[1:3]] == [["0", "30", "50.0%"], ["1", "30", "50.0%"]]
    assert max(map(len, lines[:3])) <= 80


def test_features_that_say_the_same_are_one_group():
    rng = np.random.RandomState(0)
    labels = np.repeat([0, 1], 100)
    radius, other = 5 + labels + 0.2 * rng.standard_normal(200), labels + rng.standard_normal(200)
    X = np.column_stack([other, radius, 2 * np.pi * radius, np.pi * radius**2, -radius, rng.standard_normal(200)])
    names = ["other", "radius", "perimeter", "area", "minus", "noise"]
    explanation = explained(labels, X, names)
    assert set(explanation.groups[0]) == {"radius", "perimeter", "area", "minus"}
    assert ["other"] in explanation.groups
    for cluster in explanation:
        assert [len(feature.alike) for feature in cluster.features][:2] == [3, 0]
        listed = [name for feature in cluster.features for name in (feature.name, *feature.alike)]
        assert len(set(listed)) == len(listed)
        assert "noise" not in listed


def test_levels_of_one_category_are_one_group(table):
    labels = (table["colour"] == "red").astype(int)
    assert ["colour = red", "colour = blue", "colour = green"] in [
        [group[0], *sorted(group[1:])] for group in explained(labels, table).groups
    ]


def test_effects_and_typical_rows_are_those_of_the_profile(iris):
    model = jc.LDAKMeans(3, random_state=0).fit(iris.data)
    expected = profile(iris.data, Fitted(model, iris.data).positions, model.labels_)
    for cluster in jc.explain(model, iris.data, iris.feature_names):
        assert cluster.typical == expected.nearest[cluster.cluster].tolist()
        for feature in cluster.features:
            place = cluster.cluster, list(iris.feature_names).index(feature.name)
            assert (feature.effect, feature.mean) == (expected.effects[place], expected.means[place])


def test_hostile_names_are_left_alone():
    names = ["<script>alert(1)</script>", "a = b", "=1+1", "  "]
    labels = np.repeat([0, 1], 30)
    X = labels[:, None] + 0.1 * np.random.RandomState(0).standard_normal((60, 4))
    explanation = explained(labels, X, names)
    assert {name for group in explanation.groups for name in group} == set(names)
    assert explanation.to_dict()["clusters"][0]["rules"][0]["conditions"][0]["feature"] in names


@pytest.mark.parametrize("estimator", [*CLUSTERERS[::3], jc.JointConsensus()], ids=repr)
def test_every_kind_of_model(estimator, iris):
    model = estimator.set_params(n_clusters=3, random_state=0).fit(iris.data)
    explanation = jc.explain(model, iris.data)
    assert [cluster.size for cluster in explanation] == np.bincount(model.labels_).tolist()
    assert all(set(model.labels_[cluster.typical]) == {cluster.cluster} for cluster in explanation)
    assert json.loads(json.dumps(explanation.to_dict())) == explanation.to_dict()
    assert str(explanation).count("Cluster ") == len(explanation) == 3


@pytest.mark.filterwarnings("ignore:(AgglomerativeClustering|DBSCAN) has no predict")
def test_models_of_others(blobs):
    X, y = blobs
    piped = make_pipeline(StandardScaler(), KMeans(4, random_state=0)).fit(X)
    assert all(cluster.rules for cluster in jc.explain(piped, X))
    alone = AgglomerativeClustering(4).fit(X)
    assert all(set(alone.labels_[cluster.typical]) == {cluster.cluster} for cluster in jc.explain(alone, X))
    with pytest.raises(ValueError, match="no predict"):
        jc.explain(alone, X[:50])
    explanation = jc.explain(piped, X[:50])
    assert [cluster.size for cluster in explanation] == np.unique(piped.predict(X[:50]), return_counts=True)[1].tolist()
    noisy = DBSCAN(eps=6).fit(X[y < 2])
    if np.any(noisy.labels_ < 0):
        assert "in no cluster" in jc.explain(noisy, X[y < 2]).notes[0]


def test_rows_in_no_cluster_are_others():
    X = np.arange(30.0)[:, None]
    explanation = explained(np.repeat([5, -1, 7], 10), X)
    assert [cluster.cluster for cluster in explanation] == [5, 7]
    assert [str(cluster.rules[0]) for cluster in explanation] == ["x0 ≤ 9", "x0 > 19"]
    assert explanation.notes == ["10 rows are in no cluster"]


def test_documents_are_explained_by_words():
    documents = ["red apple pie", "green apple tart", "apple cake", "car motor red", "motor car", "fast car green"] * 4
    rules = {f"{has} {word}" for has in ("has", "no") for word in ('"apple"', '"car"')}
    frame = pd.DataFrame({"text": [f"{document} and so on in row {row}" for row, document in enumerate(documents)]})
    for rows in (documents, frame):
        explanation = explained([0, 0, 0, 1, 1, 1] * 4, rows)
        assert {str(cluster.rules[0]) for cluster in explanation} <= rules
        assert {feature.kind for cluster in explanation for feature in cluster.features} == {"word"}
    pears = ["pear " * number if number else "plum" for number in (0, 0, 0, 0, 0, 1, 3, 4)]
    assert str(explained(np.arange(8) > 5, pears)[1].rules[0]) == '"pear" at least 2 times'
    model = jc.JointConsensus(2, random_state=0).fit(documents)
    assert [cluster.size for cluster in jc.explain(model, documents)] == np.bincount(model.labels_).tolist()


def test_of_two_levels_either_has_its_name():
    frame = pd.DataFrame({"answer": np.repeat(["no", "yes"], 20), "size": np.tile([1.0, 2.5], 20)})
    explanation = explained(np.repeat([0, 1], 20), frame)
    assert [str(cluster.rules[0]) for cluster in explanation] == ["answer = no", "answer = yes"]


@pytest.mark.parametrize("where", ["device", "Dask", "file"])
def test_rows_elsewhere(blobs, where, tmp_path, monkeypatch):
    X = blobs[0]
    rules = rules_of(explained(jc.cluster(X, 4, random_state=0).labels_, X))
    monkeypatch.setattr("jointclust.rows._store.IN_MEMORY", 1000)
    if where == "device":
        X = pytest.importorskip("torch").asarray(X)
    elif where == "Dask":
        X = pytest.importorskip("dask.array").from_array(X, chunks=(100, 30))
    else:
        np.save(tmp_path / "rows.npy", X)
        X = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = jc.JointConsensus(4, random_state=0).fit(X)
    assert rules_of(jc.explain(model, X)) == rules


def rules_of(explanation):
    """Those of each cluster, sorted: the clusters are equally large, so that their numbers mean nothing."""
    return sorted([str(rule) for rule in cluster.rules] for cluster in explanation)


def test_sparse_rows_are_explained_as_dense_ones():
    rng = np.random.RandomState(0)
    labels = np.repeat([0, 1, 2], 50)
    X = rng.poisson(0.3, (150, 40)) + 3 * (rng.randint(3, size=40) == labels[:, None])
    sparse, dense = (explained(labels, rows).to_dict() for rows in (sp.csr_array(X * 1.0), X * 1.0))
    for one, other in zip(sparse["clusters"], dense["clusters"], strict=True):
        assert one["rules"] == other["rules"]
        assert [f["name"] for f in one["features"]] == [f["name"] for f in other["features"]]


def test_the_order_of_rows_does_not_matter(blobs):
    X, y = blobs
    order = np.random.RandomState(0).permutation(len(X))
    one, other = explained(y, X), explained(y[order], X[order])
    for first, second in zip(one, other, strict=True):
        assert [str(rule) for rule in first.rules] == [str(rule) for rule in second.rules]
        assert [feature.name for feature in first.features] == [feature.name for feature in second.features]
        np.testing.assert_allclose(order[second.typical], first.typical)


def test_edges():
    X = np.random.RandomState(0).standard_normal((20, 3))
    whole = explained(np.zeros(20), X)
    assert (whole[0].rules, whole[0].features, whole.groups) == ([], [], [])
    lone = explained(np.arange(20) == 7, X)
    assert (lone[1].size, lone[1].typical, lone[1].rules[0].coverage) == (1, [7], 1.0)
    equal = explained(np.arange(20) < 10, np.ones((20, 3)))
    assert all(not cluster.rules and not cluster.features for cluster in equal)
    assert "no short rule" in str(equal)


def test_mistakes_are_told(blobs, table):
    X, _ = blobs
    with pytest.raises(NotFittedError):
        jc.explain(jc.LDAKMeans(3), X)
    model = jc.LDAKMeans(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has 29 columns and the model was fitted on 30"):
        jc.explain(model, X[:, :-1])
    with pytest.raises(ValueError, match="feature_names has 2 names and X has 30 columns"):
        jc.explain(model, X, ["a", "b"])
    assert explained(np.arange(len(table)) % 2, table).notes == ["left out: 'name' (id), 'one' (constant)"]


@pytest.mark.parametrize("offset", [0.0, 1e6, -3e-7])
def test_a_limit_has_few_digits_and_means_the_same(offset):
    values = offset + np.random.RandomState(0).standard_normal((50, 1)) * max(abs(offset), 1.0)
    for limit in np.quantile(values, [0.1, 0.37, 0.9]):
        for is_above in (True, False):
            side = Side(0, is_above, float(limit))
            np.testing.assert_array_equal(_rounded(side, values).holds(values), side.holds(values))
            assert len(f"{_rounded(side, values).limit:.15g}") <= 6 + (offset > 1)


def test_large_offsets_do_not_hide_a_rule():
    values = 1.6e9 + np.arange(100.0)[:, None]
    assert str(explained(np.arange(100) > 41, values)[1].rules[0]) == "x0 > 1,600,000,041"
