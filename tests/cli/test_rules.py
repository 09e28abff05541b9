"""The rules of a run find its rows elsewhere."""

import csv
import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from calling import call, failure, rows_of

from jointclust.cli.writing import as_meant

NAMES = ['5" disks', "it's [a] `name`", "kind"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    rng = np.random.RandomState(0)
    kind = np.repeat([0, 1, 2], 40)
    frame = pd.DataFrame(
        {
            NAMES[0]: (9 * (kind == 0) + rng.standard_normal(120)).round(2),
            NAMES[1]: (9 * (kind == 1) + rng.standard_normal(120)).round(2),
            NAMES[2]: np.choose(kind, ["Bob's", "Bob's", "other; --"]),
        }
    )
    frame.iloc[::11, 0] = np.nan
    frame.to_csv(folder / "data.csv", index=False)
    fit = ("fit", folder / "data.csv", "-k", 3, "--set", "effort=quick", "--all-columns")
    assert call(*fit, "--out", folder / "run", "--quiet") == 0
    return folder / "run", frame


def table_of(frame):
    connection = sqlite3.connect(":memory:")
    frame.assign(row=np.arange(len(frame))).to_sql("t", connection, index=False)
    return lambda condition: {row for (row,) in connection.execute(f"SELECT row FROM t WHERE {condition}")}


def test_what_is_printed_can_be_run_as_it_is(run, capsys):
    folder, frame = run
    find = table_of(frame)
    labels = np.array([int(row["label"]) for row in rows_of(folder / "labels.csv")])
    capsys.readouterr()
    assert call("rules", folder, "--sql") == 0
    blocks = capsys.readouterr().out.strip().split("\n\n")
    assert len(blocks) == 3
    for number, block in enumerate(blocks):
        assert block.startswith(f"-- {number}: ")
        found = find(block)
        own = set(np.flatnonzero(labels == number).tolist())
        assert len(found & own) / len(found | own) > 0.8


def test_the_tables_have_the_rules_in_both_languages(run, capsys):
    folder, frame = run
    find = table_of(frame)
    for row, cluster in zip(
        rows_of(folder / "clusters.csv"), json.loads((folder / "clusters.json").read_text()), strict=True
    ):
        assert row["sql"]
        found = set().union(*(find(rule["sql"]) for rule in cluster["rules"][:2]))
        assert find(as_meant(row["sql"])) == found  # as in a file whose cells begin no formula
        for rule in cluster["rules"]:
            if rule["query"] is not None:  # pandas cannot read every name
                assert set(frame.query(rule["query"]).index) == find(rule["sql"])
    assert call("rules", folder, "--pandas", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert [[rule["query"] for rule in one["rules"]] for one in said] == [
        [rule["query"] for rule in one["rules"]] for one in json.loads((folder / "clusters.json").read_text())
    ]
    assert any(rule["query"] for one in said for rule in one["rules"])


def test_names_cannot_leave_their_comment(run, capsys, tmp_path):
    clusters = json.loads((run[0] / "clusters.json").read_text())
    clusters[0]["name"] = "x\nDROP TABLE t; \u2028 y"
    clusters[0]["rules"][0] |= {"sql": None, "text": "a\r\nb"}
    (tmp_path / "clusters.json").write_text(json.dumps(clusters))
    assert call("rules", tmp_path, "--sql") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"-- 0: x DROP TABLE t; y, {clusters[0]['size']} rows"
    assert any(line.startswith("-- ") and line.endswith(" of what cannot be said here: a b") for line in lines)


def test_what_is_wrong_with_a_run_is_told(run, capsys, tmp_path):
    assert "no such file" in failure(capsys, "rules", tmp_path)[1]
    clusters = json.loads((run[0] / "clusters.json").read_text())
    for one in clusters:
        one["rules"] = [
            {key: value for key, value in rule.items() if key not in ("sql", "query")} for rule in one["rules"]
        ]
    (tmp_path / "clusters.json").write_text(json.dumps(clusters))
    assert call("rules", tmp_path, "--quiet") == 0
    assert "as SQL: an earlier version wrote it" in failure(capsys, "rules", tmp_path, "--sql")[1]
    (tmp_path / "clusters.json").write_text("[3]")
    assert "should be a list of clusters" in failure(capsys, "rules", tmp_path)[1]
    (tmp_path / "clusters.json").write_text('[{"cluster": "0"}]')
    assert "damaged" in failure(capsys, "rules", tmp_path)[1]


def test_csv_cells_are_not_changed(run):
    with (run[0] / "clusters.csv").open(newline="") as stream:
        assert all(not row["sql"].startswith("'") for row in csv.DictReader(stream))
