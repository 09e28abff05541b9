"""Several blocks of the same rows: which have a say, what takes the same dict, and what is refused."""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

import jointclust as jc
from jointclust.consensus.evidence import block_weights, evidence_of
from jointclust.consensus.views import ViewedData

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import several_sources

Consensus = partial(jc.JointConsensus, trust=False, random_state=0)


def drawn(kind, draw=0, n=200):
    """Some rows of a draw of the benchmark."""
    blocks, labels = several_sources.drawn(kind, draw)
    return {name: block[:n] for name, block in blocks.items()}, labels[:n]


@pytest.fixture(scope="module")
def text():
    """Numbers that show two groups, and texts that show two others, crossed with them."""
    return drawn("text")


@pytest.fixture(scope="module")
def model(text):
    return jc.cluster(text[0], random_state=0)


def weight_of(model, block):
    return sum(view["weight"] for view in model.views_ if view["block"] == block)


@pytest.mark.parametrize("kind", ["noise", "wide"])
def test_a_block_that_shows_nothing_costs_nothing(kind):
    blocks, y = drawn(kind)
    model = Consensus(5).fit(blocks)
    alone = Consensus(5).fit(blocks["good"])
    assert weight_of(model, kind) == 0 < weight_of(model, "good")
    assert adjusted_rand_score(y, model.labels_) >= adjusted_rand_score(y, alone.labels_) - 0.03
    assert all("no votes" in view["reason"] for view in model.views_ if view["block"] == kind)


def test_blocks_that_show_half_of_the_clusters_each_show_all_together():
    blocks, y = drawn("complementary", n=300)
    alone = [adjusted_rand_score(y, Consensus(6).fit(block).labels_) for block in blocks.values()]
    model = Consensus(6).fit(blocks)
    assert adjusted_rand_score(y, model.labels_) >= max(alone) + 0.15
    assert weight_of(model, "first") == pytest.approx(0.5)  # not by the number of columns or views


def test_the_same_dict_is_taken_everywhere(model, text, tmp_path):
    X, y = text
    assert model.n_clusters == model.number_.n_clusters == 4  # two in each block
    assert adjusted_rand_score(y, model.labels_) > 0.9
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.confidence(X), model.confidence_)
    np.testing.assert_array_equal(
        model.predict({name: X[name][:20] for name in ("text", "numbers")}), model.labels_[:20]
    )
    assert model.transform(X).shape == (200, 3)
    assert model.predicted_agreement_ > 0.5
    np.testing.assert_array_equal(Consensus(4).fit_transform(X), model.transform(X))
    jc.save(model, tmp_path / "model.skops")
    saved = jc.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(saved.predict(X), model.labels_)
    assert [column["name"] for column in saved.columns_] == [f"numbers: {name}" for name in X["numbers"]]
    assert saved.views_[0]["name"] == "numbers: standardised"


def test_clusters_of_blocks_are_explained_in_words_of_each(model, text, tmp_path):
    X, _ = text
    explanation = jc.explain(model, X)
    texts = {feature.name for cluster in explanation for feature in cluster.features}
    assert "numbers: age" in texts
    assert any(name.startswith("text: ") for name in texts)
    assert len(jc.explain(model, X, n_clusters=2)) == 2
    jc.write_report(model, X, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "numbers: age" in page
    assert "text: topics" in page
    with pytest.raises(ValueError, match="feature_names is for one table"):
        jc.explain(model, X, ["a"])


def test_one_block_is_as_without_a_name():
    X, _ = jc.datasets.mixture(120, 20, 3, random_state=0)
    one, plain = Consensus(3).fit({"only": X}), Consensus(3).fit(X)
    np.testing.assert_array_equal(one.labels_, plain.labels_)
    assert [view["weight"] for view in one.views_] == [view["weight"] for view in plain.views_]


def test_units_and_copies_of_columns_change_no_weight():
    blocks, y = drawn("complementary", n=300)
    first = np.tile(blocks["first"], 8) * 1e6
    model = Consensus(6).fit({"first": first, "second": blocks["second"]})
    assert weight_of(model, "first") == pytest.approx(0.5)
    assert adjusted_rand_score(y, model.labels_) > 0.85


def test_evidence_is_chance_without_clusters_and_none_where_rows_are_equal(rng):
    X, _ = jc.datasets.mixture(240, 20, 3, separation=12, random_state=0)
    skewed = rng.standard_normal((240, 2)) @ rng.standard_normal((2, 12)) + 0.3 * rng.standard_normal((240, 12))
    blocks = {"clear": X, "noise": rng.standard_normal((240, 30)), "factors": skewed, "same": np.ones((240, 3))}
    viewed = ViewedData.of(blocks, "auto", None, 500)
    result = evidence_of(viewed, np.arange(240), 4)
    assert result[0] > 0.4
    assert abs(result[1]) < 0.1
    assert result[2] < 0.16  # an ellipse is cut along its axis by all, and so are Gaussian rows
    assert result[3] == 0
    np.testing.assert_array_equal(block_weights(result) > 0, [True, False, False, False])
    np.testing.assert_allclose(block_weights(np.array([0.1, -0.2])), 0.5)  # nothing is known of either


def test_weights_known_labels_and_groups_go_with_the_rows(text):
    X, y = text
    weights = np.r_[np.zeros(50), np.ones(150)]
    some = Consensus(4).fit({name: block[50:] for name, block in X.items()})
    weighed = Consensus(4).fit(X, sample_weight=weights)
    assert adjusted_rand_score(some.labels_, weighed.labels_[50:]) > 0.95
    known = np.where(np.arange(200) < 40, y, -1)
    model = Consensus(4).fit(X, known_labels=known, groups=[None] * 100 + [str(row // 2) for row in range(100)])
    np.testing.assert_array_equal(model.labels_[:40], y[:40])
    np.testing.assert_array_equal(model.labels_[100::2], model.labels_[101::2])


def test_views_and_columns_of_each_block(text):
    X, _ = text
    model = Consensus(4, views={"numbers": ["rank-normal"]}, columns={"numbers": ["age", "orders"]}).fit(X)
    assert [view["name"] for view in model.views_] == ["numbers: rank-normal", "text: topics"]
    assert [column["used"] for column in model.columns_] == [True, True, False, False]
    plain = {"a": X["numbers"].to_numpy(), "b": sp.csr_array(np.eye(4)[np.arange(200) % 4])}
    assert [view["name"] for view in Consensus(3, views=None).fit(plain).views_] == ["a: as is", "b: as is"]


def table(n=60):
    rng = np.random.RandomState(0)
    return pd.DataFrame({"a": rng.standard_normal(n), "b": rng.standard_normal(n), "c": ["x", "y", "z"] * (n // 3)})


BAD = {
    "empty dict": (dict, ValueError, "without blocks"),
    "rows differ": (lambda: {"one": table(), "two": table(30)}, ValueError, "'one' 60, 'two' 30"),
    "of texts, too": (lambda: {"one": table(), "two": ["a b"] * 59}, ValueError, "'one' 60, 'two' 59"),
    "a block of gaps": (
        lambda: {"one": table(), "two": np.full((60, 2), np.nan)},
        ValueError,
        "Block 'two': All cells",
    ),
    "infinite": (lambda: {"one": table(), "two": np.full((60, 2), np.inf)}, ValueError, "Block 'two': .*infinity"),
    "no columns": (lambda: {"one": table(), "two": np.ones((60, 0))}, ValueError, "Block 'two'"),
    "columns": (lambda: {"one": [1.0, 2.0], "two": [2.0, 1.0]}, TypeError, "dict of columns, not of blocks"),
    "columns, of text, too": (
        lambda: {"one": [1.0, 2.0], "two": ["a", "b"]},
        TypeError,
        "dict of columns, not of blocks",
    ),
    "a dict in a dict": (lambda: {"one": table(), "two": {"x": table()}}, TypeError, "'two' is a dict"),
    "None": (lambda: {"one": table(), "two": None}, TypeError, "'two' is NoneType"),
    "same name": (lambda: {1: table(), "1": table()}, ValueError, "same name"),
    "other order": (
        lambda: {"one": table().set_index(np.arange(60) + 7), "two": table().set_index(np.arange(60)[::-1] + 7)},
        ValueError,
        "row 0 is 7 in one and 66 in the other",
    ),
    "a shuffled block": (
        lambda: {"one": table(), "two": table().iloc[::-1]},
        ValueError,
        r"row 0 is 0 in one and 59 in the other.*two\.loc\[one\.index\].*two\.set_axis\(one\.index\)",
    ),
    "numbers as text": (
        lambda: {"one": table().rename(index=str), "two": table().rename(index=str).iloc[::-1]},
        ValueError,
        "row 0 is '0' in one and '59' in the other",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_blocks_are_refused_and_the_model_stays(kind, model):
    made, error, message = BAD[kind]
    before = model.labels_
    with pytest.raises(error, match=message):
        model.fit(made())
    assert model.labels_ is before


@pytest.mark.filterwarnings("ignore::jointclust.ColumnWarning", "ignore::jointclust.exceptions.Notice")
def test_rows_are_matched_by_place_where_names_do_not_speak_against_it():
    one, two = table().iloc[::-1], table().iloc[::-1].rename(index=lambda number: f"r{number}")
    labels = Consensus(2).fit({"one": one, "two": one.to_numpy()}).labels_
    for other in (one, two, one.to_numpy(), one.set_axis(np.arange(60) * 2)):
        np.testing.assert_array_equal(Consensus(2).fit({"one": one.to_numpy(), "two": other}).labels_, labels)
    np.testing.assert_array_equal(Consensus(2).fit({"one": one, "two": one}).labels_, labels)


def test_what_predict_needs(model, text):
    X, _ = text
    wrong = [
        ({"numbers": X["numbers"]}, ValueError, "X lacks 'text'"),
        (X | {"more": X["numbers"]}, ValueError, "X has 'more' beside them"),
        (X["numbers"], TypeError, "fitted to the blocks 'numbers', 'text': pass a dict"),
        (X | {"text": X["numbers"]}, TypeError, "Block 'text'"),
        (X | {"numbers": X["numbers"].assign(age="old")}, ValueError, "Block 'numbers'"),
        (X | {"numbers": X["numbers"][["age", "orders"]]}, ValueError, "Block 'numbers'"),
        (X | {"text": X["text"][:10]}, ValueError, "'numbers' 200, 'text' 10"),
    ]  # fmt: skip
    for given, error, message in wrong:
        with pytest.raises(error, match=message):
            model.predict(given)
    with pytest.raises(TypeError, match="fitted to one table"):
        Consensus(2).fit(X["numbers"]).predict(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_parameters_for_blocks_are_checked(text):
    X, _ = text
    with pytest.raises(ValueError, match="columns names the block 'words'"):
        Consensus(2, columns={"words": ["a"]}).fit(X)
    with pytest.raises(ValueError, match="say of which block"):
        Consensus(2, columns=["age"]).fit(X)
    with pytest.raises(ValueError, match="X is one table"):
        Consensus(2, views={"numbers": "auto"}).fit(X["numbers"])
    with pytest.raises(ValueError, match="is no view"):
        Consensus(2, views={"numbers": ["nothing"]}).fit(X)
    with pytest.raises(ValueError, match="is no view"):
        Consensus(2, views={"numbers": "nothing"}).fit(X)
    with pytest.raises(TypeError, match="views has to be .* got 3"):
        Consensus(2, views={"numbers": 3}).fit(X)


def test_what_takes_one_table_says_so(text):
    X, _ = text
    search = jc.LabelFreeSearch(jc.LDAKMeans(), {"n_clusters": [2, 3]})
    for function in (
        lambda: jc.compare(X, 2),
        lambda: search.fit(X),
        lambda: jc.bootstrap_stability(jc.JointConsensus(2), X),
        lambda: jc.LDAKMeans(2).fit(X),
        lambda: jc.decompose(X),
        lambda: jc.describe(X),
    ):
        with pytest.raises(TypeError, match="X is a dict of blocks"):
            function()


def test_warnings_name_the_block(text):
    X, _ = text
    marked = X["numbers"].assign(age=X["numbers"]["age"].where(np.arange(200) % 20 > 0, 9999))
    with pytest.warns(UserWarning, match=r"Block 'numbers': Numbers that stand far outside.*9999 in 'age'"):
        Consensus(4).fit(X | {"numbers": marked})
