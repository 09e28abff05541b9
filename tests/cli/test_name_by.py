"""Clusters of embeddings are named by texts."""

import numpy as np
import pandas as pd
from calling import call, failure, rows_of


def test_clusters_are_named_by_a_column_of_texts(tmp_path, capsys):
    rng = np.random.RandomState(0)
    kind = np.repeat([0, 1], 40)
    X = rng.standard_normal((2, 34))[kind] + 0.5 * rng.standard_normal((80, 34))
    topics = [["pizza", "cheese", "oven"], ["goal", "league", "coach"]]
    frame = pd.DataFrame(X.round(4), columns=[f"e{place}" for place in range(34)])
    frame["title"] = [" ".join([*rng.choice(topics[k], 2, replace=False), "is", "new"]) for k in kind]
    frame.to_csv(tmp_path / "data.csv", index=False)
    fit = ("fit", tmp_path / "data.csv", "-k", 2, "--set", "effort=quick", "--quiet", "--out", tmp_path / "run")
    assert call(*fit, "--name-by", "title") == 0
    names = {row["name"] for row in rows_of(tmp_path / "run" / "clusters.csv")}
    assert {frozenset(name.split(", ")) for name in names} == set(map(frozenset, topics))
    assert "pizza" in (tmp_path / "run" / "report.html").read_text()
    # Another layer is named by them, too; without them clusters have numbers.
    assert call("cut", tmp_path / "run", "-k", 2, "--out", tmp_path / "cut", "--quiet") == 0
    assert {row["name"] for row in rows_of(tmp_path / "cut" / "clusters.csv")} == names
    frame.drop(columns="title").to_csv(tmp_path / "bare.csv", index=False)
    bare = ("fit", tmp_path / "bare.csv", "-k", 2, "--set", "effort=quick", "--quiet", "--out", tmp_path / "bare")
    assert call(*bare) == 0
    assert [row["name"] for row in rows_of(tmp_path / "bare" / "clusters.csv")] == ["cluster 0", "cluster 1"]
    status, message = failure(capsys, *bare, "--force", "--name-by", "title")
    assert (status, "no column 'title'" in message, message.endswith("(--name-by)")) == (3, True, True)
