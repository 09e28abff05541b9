"""Several files with the same rows: --block NAME=FILE."""

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest
from calling import call, failure

import jointclust as jc


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two files with the same rows in other orders, and what is wrong with others."""
    path, rng = tmp_path_factory.mktemp("blocks"), np.random.RandomState(0)
    y, ids = np.arange(90) % 3, [f"r{row:02d}" for row in range(90)]
    left = pd.DataFrame(8 * np.eye(3)[y] + rng.standard_normal((90, 3)), columns=list("abc")).assign(name=ids)
    right = pd.DataFrame(8 * (y[:, None] == 1) + rng.standard_normal((90, 4)), columns=list("defg"))
    right = right.assign(name=ids, kind=y).sample(frac=1, random_state=0)
    left.to_csv(path / "left.csv", index=False)
    right.to_csv(path / "right.csv", index=False)
    right.iloc[3:].to_csv(path / "fewer.csv", index=False)
    right.iloc[[0, *range(90)]].to_csv(path / "twice.csv", index=False)
    right.drop(columns="name").iloc[:80].to_csv(path / "unnamed.csv", index=False)
    return path


@pytest.fixture(scope="module")
def run(folder):
    blocks = ("--block", f"left={folder / 'left.csv'}", "--block", f"right={folder / 'right.csv'}")
    more = ("--label-column", "kind", "--drop", "right: g")
    assert call("fit", *blocks, *more, "-k", 3, "--out", folder / "run", "--quiet") == 0
    return folder / "run"


def table_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_rows_are_joined_by_their_ids(run, folder):
    record = json.loads((run / "run.json").read_text())
    assert record["result"]["accuracy"] == 1  # the rows of the files are in other orders
    assert [row["id"] for row in table_of(run / "labels.csv")] == [f"r{row:02d}" for row in range(90)]
    assert record["parameters"]["data"] is None
    assert list(record["input"]["blocks"]) == ["left", "right"]
    assert [column["name"] for column in record["columns"]] == [
        *(f"left: {name}" for name in "abc"),
        *(f"right: {name}" for name in "def"),
    ]
    assert "left: a" in (run / "report.html").read_text(encoding="utf-8")
    assert set(jc.load(run / "model.skops").description_._parts) == {"left", "right"}


def test_new_rows_are_labelled_from_the_same_blocks(run, folder, tmp_path):
    out = tmp_path / "new.csv"
    blocks = ("--block", f"right={folder / 'right.csv'}", "--block", f"left={folder / 'left.csv'}")
    assert call("predict", run, *blocks, "--out", out, "--quiet") == 0
    fitted = {row["id"]: row["label"] for row in table_of(run / "labels.csv")}
    assert {row["id"]: row["label"] for row in table_of(out)} == fitted


def test_a_column_that_a_block_lacks_is_a_verdict(run, folder, capsys):
    few = folder / "narrow.csv"
    pd.read_csv(folder / "right.csv").drop(columns="e").to_csv(few, index=False)
    blocks = ("--block", f"left={folder / 'left.csv'}", "--block", f"right={few}")
    capsys.readouterr()
    assert call("check", run, *blocks) == 5
    assert "'right: e' is missing" in capsys.readouterr().out
    status, message = failure(capsys, "predict", run, *blocks, "--out", folder / "none.csv")
    assert (status, "'e'" in message) == (3, True)


def test_a_run_of_blocks_is_repeated_and_cut(run, tmp_path):
    assert call("fit", "--config", run / "run.json", "--out", tmp_path / "again", "--quiet") == 0
    assert (tmp_path / "again" / "labels.csv").read_bytes() == (run / "labels.csv").read_bytes()
    assert call("cut", run, "-k", 2, "--out", tmp_path / "two", "--quiet") == 0
    assert {row["label"] for row in table_of(tmp_path / "two" / "labels.csv")} == {"0", "1"}


WRONG = {
    "lacking ids": (("fewer.csv",), (), r"lacks 3 of the 90 ids of 'left' \('r\d+', 'r\d+', 'r\d+'\)"),
    "an id twice": (("twice.csv",), (), r"the id 'r\d+' is that of 2 rows"),
    "no ids": (("unnamed.csv",), (), "no column of .*unnamed.csv names the rows, and one of 'left' does"),
    "a column of none": (("right.csv",), ("--drop", "zzz"), "has no column 'zzz'"),
    "columns": (("right.csv",), ("--columns", "a"), "--columns is for one table"),
    "a method": (("right.csv",), ("--method", "dec"), "--block is for the consensus"),
    "a scale": (("right.csv",), ("--scale", "standard"), "--scale is for one table"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_wrong_with_blocks_is_said(kind, folder, tmp_path, capsys):
    (file,), more, message = WRONG[kind]
    blocks = ("--block", f"left={folder / 'left.csv'}", "--block", f"right={folder / file}")
    text = failure(capsys, "fit", *blocks, *more, "--out", tmp_path / "run")[1]
    assert re.search(message, text), text
    assert not (tmp_path / "run" / "model.skops").exists()


def test_which_blocks_are_needed(run, folder, tmp_path, capsys):
    left = f"left={folder / 'left.csv'}"
    cases = [
        (("fit",), "Missing argument 'DATA'"),
        (("fit", folder / "left.csv", "--block", left), "exclude each other"),
        (("fit", "--block", "left"), "NAME=FILE"),
        (("fit", "--block", left, "--block", left), "two blocks have this name"),
        (("predict", run, "--block", left), "--block right=FILE is missing"),
        (("predict", run, folder / "left.csv"), "give each of them, --block NAME=FILE"),
        (("predict", run, "--block", left, "--block", "other=x.csv"), "there is no block 'other'"),
    ]
    for arguments, message in cases:
        out = tmp_path / ("out" if arguments[0] == "fit" else "out.csv")
        assert message in failure(capsys, *arguments, "--out", out)[1]
