"""Columns that the page carries beside the features: texts, categories, what is not used, what was filled in."""

import base64
import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest

import jointclust as jc

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def page_of(path):
    result = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.DOTALL)
    return json.loads(result[1])


def bytes_of(text):
    return gzip.decompress(base64.b64decode(text))


def codes_of(column):
    raw = np.frombuffer(bytes_of(column["data"]), np.uint8)
    return raw.astype(int) if column["bits"] == 8 else raw[: raw.size // 2] + 256 * raw[raw.size // 2 :].astype(int)


def values_of(column):
    """What a page shows of a column; None where a cell is empty."""
    if column["kind"] == "text":
        return json.loads(bytes_of(column["data"]))
    codes, missing = codes_of(column), 255 if column["bits"] == 8 else 65535
    if column["kind"] == "category":
        return [column["names"][code] or None for code in codes]
    return [None if code == missing else column["min"] + code * column["step"] for code in codes]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.RandomState(0)
    kind = rng.randint(2, size=160)
    table = pd.DataFrame(
        {
            "size": kind * 50.0 + rng.normal(0, 3, 160),
            "weight": kind * 7 + rng.normal(0, 1, 160),
            "shop": np.where(rng.rand(160) < 0.1 + 0.8 * kind, "east", np.where(rng.rand(160) < 0.5, "west", "south")),
            "member": rng.rand(160) < 0.1 + 0.8 * kind,
            "noise": rng.normal(0, 1, 160),
            "note": [f"A longer remark on row number {row}, with some words in it" for row in range(160)],
        }
    )
    table.loc[::9, "size"] = np.nan
    return table


@pytest.fixture(scope="module")
def page(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    model = jc.JointConsensus(2, effort="quick", trust=False, random_state=0).fit(frame)
    more = {"city": np.where(np.arange(160) % 2, "Oslo", "Rome"), "since": np.arange("2020-01-01", 160, dtype="M8[D]")}
    jc.write_report(model, frame, path, neighbours=False, shown=more, carried={"seen": np.arange(160.0)})
    return page_of(path)


def test_every_value_stands_under_the_name_of_its_column(page, frame):
    """As many coded columns as there are columns of the data are no reason to call them alike."""
    assert {one["name"] for one in page["features"]} >= {"size", "weight", "shop = east", "member = True"}
    for feature in page["features"]:
        column, _, level = feature["name"].partition(" = ")
        result = np.array([np.nan if value is None else value for value in values_of(feature)])
        expected = (frame[column].astype(str) == level).astype(float) if level else frame[column].astype(float)
        known = frame[column].notna()
        np.testing.assert_allclose(result[known], expected[known], atol=feature["step"])


def test_as_many_names_as_coded_columns_are_not_theirs(frame, tmp_path):
    """Five columns, two of which are coded as one number each, one as three levels and two not at all."""
    five = frame[["note", "size", "weight", "shop"]].assign(name=[f"customer {row}" for row in range(160)])
    model = jc.JointConsensus(2, columns="all", effort="quick", random_state=0).fit(five)
    jc.write_report(model, five, tmp_path / "r.html", feature_names=list(five.columns))
    names = [one["name"] for one in page_of(tmp_path / "r.html")["features"]]
    assert sorted(names) == ["shop = east", "shop = south", "shop = west", "size", "weight"]


def test_values_that_were_filled_in_are_marked(page, frame):
    of = {one["name"]: one for one in page["features"]}
    filled = np.frombuffer(bytes_of(of["size"]["filled"]), np.uint8).astype(bool)
    np.testing.assert_array_equal(filled, frame["size"].isna())
    assert None not in values_of(of["size"])
    assert "filled" not in of["weight"]


def test_what_is_not_clustered_is_carried(page, frame):
    of = {one["name"]: one for one in page["shown"]}
    roles = {"shop": "category", "member": "category", "noise": "other", "note": "other"}
    roles |= {"city": "asked", "since": "asked", "seen": "other"}
    assert {name: one["role"] for name, one in of.items()} == roles
    assert values_of(of["note"]) == frame["note"].tolist()
    assert values_of(of["shop"]) == frame["shop"].tolist()
    assert of["since"]["kind"] == "date"
    assert values_of(of["since"])[:2] == [18262, 18263]
    np.testing.assert_allclose(values_of(of["noise"]), frame["noise"], atol=of["noise"]["step"])


def test_documents_are_carried_with_the_words_that_tell(tmp_path):
    topics = ("red apple pear", "fast car road")
    texts = [
        f"the {topics[row % 2].split()[row % 3]} and {topics[row % 2].split()[(row + 1) % 3]}" for row in range(60)
    ]
    model = jc.JointConsensus(2, effort="quick", trust=False, random_state=0).fit(texts)
    jc.write_report(model, texts, tmp_path / "r.html", neighbours=False, text_name="body")
    page = page_of(tmp_path / "r.html")
    (document,) = page["shown"]
    assert (document["name"], document["kind"], document["role"]) == ("body", "text", "clustered")
    assert values_of(document) == texts
    text = {word for words in page["words"] for word in words}
    assert text == set(" ".join(topics).split())


def test_a_small_page_says_what_it_has_no_room_for(frame, tmp_path):
    model = jc.JointConsensus(2, effort="quick", trust=False, random_state=0).fit(frame)
    shown = {"code": np.array([f"{row * 7919 % 104729:x}" * 300 for row in range(160)], dtype=object)}
    jc.write_report(model, frame, tmp_path / "r.html", neighbours=False, shown=shown, most_megabytes=0.001)
    page = page_of(tmp_path / "r.html")
    assert (page["shown"], page["without"]) == ([], ["code"])
    with pytest.raises(ValueError, match="code must have one entry per row"):
        jc.write_report(model, frame, tmp_path / "r.html", shown={"code": [1, 2]})
