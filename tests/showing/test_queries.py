"""Rules asked of the table itself find the rows that they hold for."""

import itertools
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClusterMixin

import jointclust as jc
from jointclust.showing.features import Feature, Stored, features_in
from jointclust.showing.queries import any_of, as_query, as_sql
from jointclust.showing.rules import Condition

HOSTILE = [
    "plain",
    "two words",
    "it's",
    'say "hi"',
    "`tick`",
    "[area] {m²}",
    "größe",
    "日本",
    "select",
    "class",
    "None",
    "index",
    "1st",
    "a;-- b",
    "a#b",
    "x\\y",
    "",
    " ",
    "%s ? :a",
    "@here",
    "ﬁ",
]
LEVELS = ["it's", 'say "hi"', "back`tick", "x\\n", "größe", "'; DROP TABLE t; --", "NULL", "a#b", "100%", "日本"]


class Given(ClusterMixin, BaseEstimator):
    """Clusters that are given."""

    def __init__(self, labels=None):
        self.labels = labels

    def fit(self, X, y=None):
        self.labels_ = np.asarray(self.labels).astype(int)
        return self


def in_sqlite(frame, condition):
    """Positions of the rows that SQLite finds."""
    with sqlite3.connect(":memory:") as connection:
        frame = frame.drop(columns="", errors="ignore")  # no database has such a name
        frame.assign(**{"row of the test": np.arange(len(frame))}).to_sql("t", connection, index=False)
        found = connection.execute(f'SELECT "row of the test" FROM t WHERE {condition} ORDER BY 1')
        return [row for (row,) in found]


def in_pandas(frame, query):
    return frame.reset_index(drop=True).query(query).index.tolist()


def conditions_of(features):
    """A condition of each kind on each feature, with the rows that fulfil it."""
    for place, feature in enumerate(features.of):
        values = features.columns(np.array([place]))[:, 0]
        low, high = np.nanquantile(values, [0.3, 0.8]) if feature.kind != "level" else (0.0, 0.0)
        sides = (
            [(0.0, np.inf), (-np.inf, 0.0)]
            if feature.kind == "level"
            else [(low, np.inf), (-np.inf, high), (low, high)]
        )
        for above, up_to in sides:
            condition = Condition(feature, above, up_to)
            yield condition, condition.holds(values)


def agree(frame):
    """Whatever can be said holds for the rows that the conditions hold for; returns the columns of which it can."""
    said = set()
    known = list(conditions_of(features_in(frame, None, None, None)))
    pairs = [((one, other), a & b) for (one, a), (other, b) in itertools.product(known[::2], known[1::3])]
    for conditions, rows in [*(((one,), rows) for one, rows in known), *pairs[:60]]:
        expected = np.flatnonzero(rows).tolist()
        if (text := as_sql(conditions)) is not None:
            assert in_sqlite(frame, text) == expected, text
            said |= {one.feature.column for one in conditions}
        if (query := as_query(conditions)) is not None:
            assert in_pandas(frame, query) == expected, query
    return said


def test_hostile_names_are_quoted():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame({name: rng.standard_normal(40).round(2) for name in HOSTILE})
    frame = frame.mask(rng.rand(*frame.shape) < 0.2)
    assert agree(frame) == set(HOSTILE) - {""}
    said = {
        feature.column for feature in features_in(frame, None, None, None).of if as_query([Condition(feature, 0.0)])
    }
    assert said >= {"plain", "two words", "it's", 'say "hi"', "class", "None", "1st", "größe", "日本", ""}


def test_hostile_levels_are_quoted():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame({"kind": rng.choice([*LEVELS, None, "", "  "], 300), "two": rng.choice(["it's", '"'], 300)})
    assert agree(frame) == {"kind", "two"}
    few = features_in(frame, None, None, None).of[:10]
    assert sum(as_query([Condition(one, 0.0)]) is not None for one in few) >= 8


def test_a_cell_that_is_there_is_asked_for():
    """Trees part rows that have a value from those that have none."""
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(
        {
            "number": rng.rand(60),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.randint(99, size=60), unit="D"),
            "colour": rng.choice(["red", "green", "blue"], 60),
            "yes": rng.choice(["yes", "no", "n/a", " "], 60),
            "größe": rng.rand(60).astype(np.float32),
        }
    )
    frame.iloc[::7] = None
    known = frame.notna().assign(yes=frame["yes"].isin(["yes", "no"]))
    for feature in features_in(frame, None, None, None).of:
        condition, rows = Condition(feature), np.flatnonzero(known[feature.column]).tolist()
        assert str(condition) == f"{feature.column} is known"
        assert in_sqlite(frame, as_sql([condition])) == rows == in_pandas(frame, as_query([condition]))


def test_every_kind_of_column():
    rng = np.random.RandomState(0)
    n = 200
    gaps = rng.rand(n) < 0.2
    colours = pd.Series(rng.choice(["red", "green", "blue"], n)).where(~gaps)
    moments = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.randint(10**9, size=n) * 97_003, unit="us")
    frame = pd.DataFrame(
        {
            "colour": colours,
            "string": colours.astype("string"),
            "category": colours.astype("category"),
            "truth": rng.rand(n) < 0.5,
            "truth or gap": pd.Series(rng.rand(n) < 0.5, dtype=object).where(~gaps, None),
            "boolean": pd.array(np.where(gaps, None, rng.rand(n) < 0.5), dtype="boolean"),
            "yes": rng.choice(["yes", "no"], n),
            "zero or one": rng.randint(2, size=n),
            "count": rng.poisson(4, n),
            "Int64": pd.array(np.where(gaps, None, rng.randint(99, size=n)), dtype="Int64"),
            "single": rng.rand(n).astype(np.float32),
            "half": rng.rand(n).astype(np.float16),
            "large": rng.rand(n) * 1e17,
            "tiny": rng.rand(n) * 1e-9,
            "day": pd.Series(moments.normalize()).where(~gaps),
            "moment": moments,
            "numbered": rng.choice([1.5, 2.5, 7.0], n),
        }
    )
    assert agree(frame) == set(frame.columns)


def test_what_a_table_does_not_hold_is_not_offered():
    rng = np.random.RandomState(0)
    n = 120
    numbers = rng.rand(n).round(3)
    frame = pd.DataFrame(
        {
            "written": [f"{value:.3f} €" for value in numbers],
            "days as text": [f"2020-01-{1 + row % 28:02}" for row in range(n)],
            "duration": pd.to_timedelta(rng.randint(99, size=n), unit="h"),
            "zoned": pd.Timestamp("2020-01-01", tz="Europe/Berlin")
            + pd.to_timedelta(rng.randint(999, size=n), unit="h"),
            "huge": 2**60 + rng.randint(1000, size=n),
            "mixed": [1 if row % 3 else "n/a" for row in range(n)],
            "place": [[row, row % 7] for row in range(n)],
            "fine": numbers,
        }
    )
    features = features_in(frame, None, None, None)
    offered = {one.column for one in features.of for up_to in (0.0, np.inf) if as_sql([Condition(one, -0.5, up_to)])}
    assert offered == {"fine"}
    assert as_sql([Condition(features.of[-1], 0.0), Condition(features.of[0], 0.0)]) is None
    words = features_in(["red apple pie", "green apple tart", "blue plum tart", "red plum"], None, None, None)
    assert all(as_sql([Condition(one, 0.0)]) is as_query([Condition(one, 0.0)]) is None for one in words.of)
    assert as_sql([Condition(Feature("a\0b", stored=Stored("a\0b")), 1.0)]) is None
    assert as_sql([Condition(Feature("a", "level", "b\ud800", stored=Stored("a", "b\ud800")), 0.0)]) is None


def test_columns_without_names_of_text_have_no_query():
    frame = pd.DataFrame(np.random.RandomState(0).rand(30, 2))
    condition = Condition(features_in(frame, None, None, None).of[0], 0.5)
    assert as_query([condition]) is None
    assert in_sqlite(frame, as_sql([condition])) == np.flatnonzero(frame[0] > 0.5).tolist()


def test_names_that_pandas_takes_for_one_have_no_query():
    frame = pd.DataFrame(np.random.RandomState(0).rand(30, 3), columns=["a b c", "a b_c", "d e"])
    features = features_in(frame, None, None, None)
    assert [as_query([Condition(one, 0.5)]) for one in features.of] == [None, None, "`d e` > 0.5"]
    assert agree(frame) == set(frame.columns)


@pytest.mark.parametrize("mark", [-999.0, 9999.0])
def test_marks_of_gaps_fulfil_nothing(mark):
    """Those that the model takes as gaps are as empty cells to SQL, too."""
    rng = np.random.RandomState(0)
    kind = np.repeat([0, 1, 2], 100)
    frame = pd.DataFrame(
        {f"x{place}": np.sign(mark) * 8 * (kind == place) + rng.standard_normal(300).round(2) for place in range(3)}
    )
    frame.loc[rng.rand(300) < 0.1, "x0"] = mark
    with pytest.warns(UserWarning, match=f"{mark:g}"):
        model = jc.JointConsensus(3, effort="quick", columns="all", random_state=0).fit(frame)
    rules = [rule for cluster in jc.explain(model, frame) for rule in cluster.rules]
    assert any(f"{mark:g}" in rule.sql for rule in rules)
    for rule in rules:
        rows = np.ones(300, dtype=bool)
        for one in rule.conditions:
            values = frame[one.feature.column].replace(mark, np.nan).to_numpy()
            rows &= one.holds(values)
        assert in_sqlite(frame, rule.sql) == in_pandas(frame, rule.query) == np.flatnonzero(rows).tolist()


def test_rules_of_a_cluster_find_its_rows_in_the_table():
    rng = np.random.RandomState(0)
    n = 400
    frame = pd.DataFrame(
        {
            "basket [€]": rng.gamma(2.0, 40.0, n).round(2),
            "channel": rng.choice(["app", "Bob's shop", None], n),
            "since": pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.randint(900, size=n), unit="D"),
        }
    )
    frame.loc[::9, "basket [€]"] = np.nan
    member = (frame["basket [€]"] > 80) & (frame["channel"] != "app") | (frame["since"] > "2023-01-01")
    explanation = jc.explain(Given(member).fit(frame), frame)
    for cluster, plain in zip(explanation, explanation.to_dict()["clusters"], strict=True):
        own = member.to_numpy() == bool(cluster.cluster)
        found = set()
        for rule, said in zip(cluster.rules, plain["rules"], strict=True):
            assert (said["sql"], said["query"]) == (rule.sql, rule.query)
            rows = np.array(in_sqlite(frame, rule.sql))
            assert rule.precision == pytest.approx(own[rows].mean())
            assert rule.coverage == pytest.approx(own[rows].sum() / own.sum())
            found |= set(rows.tolist())
        both = any_of([rule.sql for rule in cluster.rules], "OR")
        assert set(in_sqlite(frame, both)) == found
    assert any_of(["a", None], "OR") == ""
