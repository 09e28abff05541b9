"""A model in use: clusters that keep their numbers, whether the model still fits, rows that are added."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, chi2_contingency, ks_2samp, kstwobign, mannwhitneyu
from sklearn.metrics import adjusted_rand_score

import jointclust as jc
from jointclust.consensus.drift import corrected, shift_of_levels, shift_of_numbers
from jointclust.consensus.kept_rows import KeptRows
from jointclust.consensus.matching import Before
from jointclust.consensus.renumbering import remembering

MODELS_0_2 = "tests/models_0_2_0"
CENTERS = 9 * np.random.RandomState(3).standard_normal((6, 5))


def batch(sizes, seed):
    """Rows of clusters of these sizes, in any order; a cluster of none is not there."""
    rng = np.random.RandomState(seed)
    classes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return CENTERS[classes] + rng.standard_normal((classes.size, 5)), classes


def fitted(sizes, seed, **options):
    X, y = batch(sizes, seed)
    k = np.count_nonzero(sizes)
    return jc.JointConsensus(k, trust=False, random_state=seed).fit(X, **options), X, y


def number_of(model, y, cluster):
    """The number of the cluster that holds most rows of a class."""
    return np.bincount(model.labels_[y == cluster]).argmax()


@pytest.fixture(scope="module")
def first():
    return fitted([60, 50, 40, 30], 0)


def kinds(model):
    return sorted(change["kind"] for change in model.changes_)


def test_the_same_clusters_keep_their_numbers(first):
    model, _, y = first
    again, X, z = fitted([30, 40, 50, 60], 1, like=model)  # another order by size
    assert [number_of(again, z, c) for c in range(4)] == [number_of(model, y, c) for c in range(4)]
    assert kinds(again) == ["kept"] * 4
    assert sum(change["share"] for change in again.changes_) == pytest.approx(1)
    np.testing.assert_array_equal(again.predict(X), again.labels_)


def test_the_fit_is_not_forced(first):
    """Only the numbers differ from those of a fit by itself."""
    free, _, _ = fitted([30, 40, 50, 60, 40], 1)
    like, _, _ = fitted([30, 40, 50, 60, 40], 1, like=first[0])
    table = pd.crosstab(free.labels_, like.labels_).to_numpy()
    assert np.count_nonzero(table) == 5
    order = table.argmax(axis=1)
    np.testing.assert_array_equal(free.soft_labels_, like.soft_labels_[:, order])
    np.testing.assert_array_equal(free.confidence_, like.confidence_)


def test_a_new_cluster_and_one_that_is_gone(first, tmp_path):
    model, _, y = first
    again, X, z = fitted([60, 50, 0, 30, 45], 2, like=model)
    gone, kept = number_of(model, y, 2), [number_of(model, y, c) for c in (0, 1, 3)]
    assert [number_of(again, z, c) for c in (0, 1, 3)] == kept
    assert number_of(again, z, 4) == 4  # a number that was not there, not that of the one that is gone
    of = {change["kind"]: change for change in again.changes_}
    assert (of["gone"]["before"], of["gone"]["clusters"]) == ([gone], [])
    assert (of["new"]["clusters"], of["new"]["rows"], of["new"]["before"]) == ([4], 45, [])
    assert "a new cluster of 45 rows" in of["new"]["text"]
    # A number is a column, also of what is gone.
    assert again.predict_proba(X).shape[1] == len(again.cluster_centers_) == 5
    np.testing.assert_array_equal(again.predict_proba(X).argmax(axis=1), again.labels_)
    assert again.soft_labels_[:, gone].max() == 0
    np.testing.assert_array_equal(again.cut(4), again.labels_)
    np.testing.assert_array_equal(again.predict(X, n_clusters=4), again.labels_)
    assert {cluster.cluster for cluster in jc.explain(again, X)} == set(np.unique(again.labels_).tolist())
    np.testing.assert_array_equal(again._at_layer(4, X).labels_, again.labels_)
    assert again.linkage(4).shape == (3, 4)
    jc.save(again, tmp_path / "model.skops")
    loaded = jc.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict(X), again.labels_)
    assert loaded.changes_ == again.changes_
    str(again.verdict_)


def test_split_merged_and_apart_again(first):
    """Two clusters that merge and part have both of their numbers again."""
    model, X, y = first
    one, other = (number_of(model, y, c) for c in (2, 3))
    coarse = jc.JointConsensus(3, trust=False, random_state=0).fit(X, like=model)
    merged = next(change for change in coarse.changes_ if change["kind"] == "merged")
    assert len(merged["before"]) == 2
    assert merged["clusters"][0] in merged["before"]
    Z, z = batch([60, 50, 40, 30], 5)
    again = jc.JointConsensus(4, trust=False, random_state=0).fit(Z, like=coarse)
    split = next(change for change in again.changes_ if change["kind"] == "split")
    assert (split["before"], sorted(split["clusters"])) == (merged["clusters"], sorted(merged["before"]))
    assert " split in two" in split["text"]
    assert {number_of(again, z, 2), number_of(again, z, 3)} == {one, other}


@pytest.mark.parametrize("as_pipeline", [False, True])
def test_the_part_of_the_earlier_rows_keeps_the_number(as_pipeline):
    """A cluster of 50 rows and 20 near them splits, and now those are 20 and 50; a pipeline keeps no such rows."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    def rows(sizes, seed):
        y = np.repeat(np.arange(3), sizes)
        return np.outer([0, 40, 52], np.ones(5))[y] + np.random.RandomState(seed).standard_normal((y.size, 5)), y

    (X, y), (Z, z) = rows([60, 50, 20], 0), rows([60, 20, 50], 1)
    before = jc.JointConsensus(2, trust=False, random_state=0)
    before = (make_pipeline(FunctionTransformer(), before) if as_pipeline else before).fit(X)
    model = jc.JointConsensus(3, trust=False, random_state=0).fit(Z, like=before)
    assert kinds(model) == ["kept", "split"]
    assert number_of(model, z, 2 if as_pipeline else 1) == before.predict(X[y == 1])[0]


def known(labels, shares, sure=1.0, numbers=None):
    """What an earlier model says of rows."""
    numbers = labels if numbers is None else numbers
    sure = np.broadcast_to(sure, labels.shape)
    return Before(
        labels, sure, np.zeros(labels.size, bool), np.array(shares), None, {}, numbers, lambda X: (labels, numbers)
    )


def test_matching_is_an_optimal_assignment():
    """Counted by confidence; each row of the new cluster 1 is unsure, and the pair (0, 1) has most rows but one."""
    labels, after = np.repeat([0, 0, 1, 1], [6, 5, 4, 2]), np.repeat([0, 1, 1, 0], [6, 5, 4, 2])
    before = known(labels, [0.6, 0.4], np.where(after == 1, 0.9, 1.0))
    np.testing.assert_array_equal(before.match(after).numbers, [0, 1])
    np.testing.assert_array_equal(before.match(1 - after).numbers, [1, 0])


def test_merged_clusters_have_the_number_of_the_largest():
    """Of the largest as it was, whichever has more of the new rows; one that is another cluster gives no number."""
    labels, after = np.repeat([0, 1, 2], [40, 45, 30]), np.repeat([0, 0, 1], [40, 45, 30])
    assert known(labels, [0.5, 0.2, 0.3]).match(after).numbers.tolist() == [0, 2]
    labels, after = np.repeat([0, 0, 1], [36, 34, 30]), np.repeat([0, 1, 0], [36, 34, 30])
    assert sorted(known(labels, [0.7, 0.3]).match(after).numbers.tolist()) == [0, 1]


def test_numbers_are_recalled_only_where_a_cluster_splits():
    """Cluster 0 has merged from 0 and 2: as long as it is one, it is 0, and a part is 2 if it has the rows of 2."""
    labels, numbers = np.repeat([0, 0, 1], [40, 60, 50]), np.repeat([0, 2, 1], [40, 60, 50])
    before = known(labels, [0.7, 0.3], numbers=numbers)
    assert before.match(labels).numbers.tolist() == [0, 1]
    assert before.match(numbers).numbers.tolist() == [0, 1, 2]
    elsewhere = np.repeat([0, 2, 0, 2, 1], [20, 20, 40, 20, 50])  # parts of either: the largest keeps the number
    assert before.match(elsewhere).numbers.tolist() == [0, 1, 3]


def test_rows_remember_the_number_before_the_last_merger():
    """Row by row: stays; merges; had another number and stays; had one and merges; goes elsewhere; a new cluster."""
    labels = np.array([0, 1, 0, 1, 1, 0])
    before = known(labels, [0.5, 0.5], numbers=np.array([0, 1, 5, 6, 6, 5]))
    after = np.array([0, 0, 0, 0, 3, 4])
    fitted = SimpleNamespace(_agreement=SimpleNamespace(judge=lambda rows: after[:, None]))
    kept = KeptRows.of(np.zeros((6, 1)), None, 6)
    assert remembering(before, fitted, [], kept).numbers.tolist() == [0, 0, 5, 0, 3, 4]
    merged = [{"kind": "merged", "before": [0, 1], "clusters": [0]}]
    assert remembering(before, fitted, merged, kept).numbers.tolist() == [0, 1, 0, 1, 3, 4]


def test_another_kind_of_model_and_a_pipeline(first):
    from sklearn.cluster import KMeans
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    _, X, _ = first
    for before in (
        KMeans(4, n_init=1, random_state=5),
        make_pipeline(StandardScaler(), jc.LDAKMeans(4, random_state=0)),
    ):
        labels = before.fit(X).predict(X)
        again = jc.JointConsensus(4, trust=False, random_state=1).fit(X, like=before)
        assert np.mean(again.labels_ == labels) > 0.95
    assert jc.cluster(X, 4, random_state=1, like=first[0]).changes_


def predicting(predict):
    return SimpleNamespace(predict=predict)


@pytest.mark.parametrize(
    ("like", "rows", "match"),
    [
        ("first", lambda X: X[:, :3], "its columns"),
        ("no model", lambda X: X, "no model that labels rows"),
        (jc.LDAKMeans, lambda X: X, "no model that labels rows"),
        (predicting(lambda X: X[:, 0]), lambda X: X, "one number of a cluster for each row"),
        (predicting(lambda X: X[:, 0] * np.nan), lambda X: X, "one number of a cluster for each row"),
        (predicting(lambda X: np.array(["a", "b"])[(X[:, 0] > 0).astype(int)]), lambda X: X, "for example .'[ab]'"),
        (predicting(lambda X: 10**9 * (X[:, 0] > 0)), lambda X: X, "from 0 to 9,999, or -1"),
        (predicting(lambda X: -5 * (X[:, 0] > 0)), lambda X: X, "from 0 to 9,999, or -1"),
        (predicting(lambda X: np.zeros(X.shape, int)), lambda X: X, "one number of a cluster for each row"),
        (predicting(lambda X: np.zeros(3, int)), lambda X: X, "3 labels for 180 rows"),
    ],
)
def test_like_what_cannot_be(first, like, rows, match):
    model, X, _ = first
    again = jc.JointConsensus(4, trust=False, random_state=0).fit(X)
    before = again.labels_.copy()
    with pytest.raises((ValueError, TypeError), match=match):
        again.fit(rows(X), like=model if like == "first" else like)
    np.testing.assert_array_equal(again.labels_, before)
    with pytest.raises(ValueError, match="leave one of them out"):
        again.fit(X, like=model, known_labels=np.where(np.arange(len(X)) < 9, 1, -1))


@pytest.mark.filterwarnings("ignore:Every row is rejected")
@pytest.mark.parametrize("limit", [0.97, 1.0])
def test_rejected_rows_do_not_tell_which_cluster_is_which(first, limit):
    model, X, _ = first
    X = X + 3 * np.random.RandomState(0).standard_normal(X.shape) * (model.labels_ == 0)[:, None]
    free = jc.JointConsensus(4, trust=False, random_state=1).fit(X, like=model)
    careful = jc.JointConsensus(4, trust=False, random_state=1, reject_below=limit).fit(X, like=model)
    assert (careful.labels_[model.labels_ == 0] == -1).any()
    assert careful.changes_ == free.changes_
    np.testing.assert_array_equal(careful.predict_proba(X), free.predict_proba(X))


@pytest.mark.parametrize("names", [["one", "two"], {"0": "one"}, {0: 1}, None])
def test_names_that_are_none_are_refused(first, names):
    _, X, _ = first
    named = jc.JointConsensus(4, trust=False, random_state=0).fit(X)
    named.cluster_names_ = names
    with pytest.raises(TypeError, match="cluster_names_ has to be a dict of names by the number"):
        jc.JointConsensus(4, trust=False, random_state=0).fit(X, like=named)


# -- check ------------------------------------------------------------------------------------------------------------


def customers(n, seed, price=1.0, extra=0):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    table = pd.DataFrame(
        {
            "visits": np.array([2.0, 9, 20])[kind] + rng.standard_normal(n),
            "basket": price * np.array([80.0, 30, 10])[kind] * np.exp(0.2 * rng.standard_normal(n)),
            "age": np.where(rng.random(n) < 0.05, np.nan, np.array([60.0, 40, 25])[kind] + 5 * rng.standard_normal(n)),
            "channel": np.array(["store", "web", "app"])[np.where(rng.random(n) < 0.85, kind, rng.integers(0, 3, n))],
        }
    )
    table.iloc[:extra, :3] = np.array([40.0, 200, 90]) + rng.standard_normal((extra, 3))
    return table


@pytest.fixture(scope="module")
def shop():
    return jc.JointConsensus(3, trust=False, random_state=0).fit(customers(400, 0))


def test_unchanged_rows_fit(shop):
    checks = [jc.check(shop, customers(300, seed)) for seed in range(1, 13)]
    assert [one.verdict for one in checks].count("fits") >= 11
    again = jc.check(shop, customers(300, 1))
    assert (again.table, again.reasons) == (checks[0].table, checks[0].reasons)


def test_what_drifts_is_named(shop):
    checked = jc.check(shop, customers(300, 1, price=1.25))
    assert checked.verdict == "drifts"
    assert "'basket'" in checked.sentence
    shifted = [what for what, is_so in zip(checked.table["what"], checked.table["shifted"], strict=True) if is_so]
    assert shifted == ["column 'basket'"]


def test_sizes_shift_and_columns_do_not(shop):
    rows = customers(900, 1)
    checked = jc.check(shop, rows[(rows.visits > 15) | (np.arange(900) % 4 == 0)])
    shifted = [what for what, is_so in zip(checked.table["what"], checked.table["shifted"], strict=True) if is_so]
    assert len(shifted) == 1
    assert "share of cluster" in shifted[0]


def test_rows_that_fit_nothing_are_a_cluster(shop):
    checked = jc.check(shop, customers(300, 1, extra=40))
    assert checked.verdict == "refit"
    assert "form a cluster of their own" in checked.sentence
    assert set(range(40)) >= set(checked.new_rows.tolist())
    assert len(checked.new_rows) > 35
    # Scattered ones form none.
    rows = customers(300, 1)
    rng = np.random.default_rng(0)
    rows.iloc[:12, :3] = rows.iloc[:12, :3] * np.exp(1.5 * rng.choice([-1, 1], (12, 3)))
    assert len(jc.check(shop, rows).new_rows) == 0


def test_columns_and_levels(shop):
    rows = customers(300, 1)
    checked = jc.check(shop, rows.assign(comment="x")[["age", "channel", "comment", "basket", "visits"]])
    assert checked.verdict == "fits"
    assert any("'comment' is new" in reason for reason in checked.reasons)
    checked = jc.check(shop, rows.drop(columns="basket"))
    assert (checked.verdict, "'basket' is missing" in checked.sentence) == ("refit", True)
    checked = jc.check(shop, rows.assign(channel=np.where(np.arange(300) < 30, "phone", rows.channel)))
    assert checked.verdict == "drifts"
    assert any("new level, 'phone', in 30 rows" in reason for reason in checked.reasons)
    checked = jc.check(shop, rows.assign(age=np.where(np.arange(300) < 100, np.nan, rows.age)))
    assert any("'age' has" in reason and "empty" in reason for reason in checked.reasons)


def test_columns_of_blocks():
    rows = customers(300, 0)
    blocks = {"shop": rows[["basket", "visits", "age"]], "site": rows[["channel", "visits"]]}
    model = jc.JointConsensus(2, columns="all", trust=False, random_state=0).fit(blocks)
    checked = jc.check(model, blocks | {"shop": blocks["shop"].assign(comment="x")})
    assert checked.verdict == "fits"
    assert any("'shop: comment' is new" in reason for reason in checked.reasons)
    checked = jc.check(model, blocks | {"site": blocks["site"].drop(columns="visits")})
    assert (checked.verdict, "'site: visits' is missing" in checked.sentence) == ("refit", True)
    with pytest.raises(ValueError, match="lacks 'site'"):
        jc.check(model, {"shop": blocks["shop"]})


def test_what_cannot_be_checked(shop):
    with pytest.raises(ValueError, match="no rows"):
        jc.check(shop, customers(300, 1)[:0])
    with pytest.raises(ValueError, match="none of the columns"):
        jc.check(shop, pd.DataFrame({"a": [1.0, 2], "b": [2.0, 1]}))
    with pytest.raises(ValueError, match="visits"):
        jc.check(shop, customers(300, 1).assign(visits="many"))
    with pytest.raises(TypeError, match="JointConsensus"):
        jc.check(jc.LDAKMeans(2, random_state=0).fit(np.eye(5)), np.eye(5))
    old = jc.load(f"{MODELS_0_2}/consensus-as-is.skops")
    with pytest.raises(ValueError, match=r"0\.2 or earlier"):
        jc.check(old, np.zeros((3, old.n_features_in_)))
    with pytest.raises(ValueError, match=r"0\.2 or earlier"):
        old.update(np.zeros((3, old.n_features_in_)))


def test_texts_and_sparse_rows():
    words = [["cat", "dog", "fur", "paw"], ["car", "road", "fuel", "gear"], ["cook", "salt", "oven", "bread"]]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words[i % 3], 8)) for i in range(240)]
    model = jc.JointConsensus(3, trust=False, random_state=0).fit(texts[:120])
    assert jc.check(model, texts[120:]).verdict == "fits"
    assert model.update(texts[120:]).labels_.shape == (120,)


def test_one_stratum_is_the_usual_test(rng):
    one, ps = (np.zeros(300, int), np.zeros(500, int)), []
    for shift, spread in ((0.0, 1.0), (0.3, 1.0), (0.0, 1.7)):
        old, new = rng.standard_normal(300).round(1), (shift + spread * rng.standard_normal(500)).round(1)
        result, distance = shift_of_numbers(old, new, one), ks_2samp(old, new).statistic
        assert result.distance == pytest.approx(distance)
        ps.append(
            (kstwobign.sf(distance * np.sqrt(300 * 500 / 800)), mannwhitneyu(old, new, use_continuity=False).pvalue)
        )
        assert result.p_value == pytest.approx(min(1, 2 * min(ps[-1])))
    assert ps[2][0] < 0.01 < ps[2][1]  # a spread, which no sum of ranks tells
    codes = rng.randint(4, size=300), rng.randint(4, size=500)
    table = np.array([np.bincount(one) for one in codes])
    chi = chi2_contingency(table, correction=False)
    result = shift_of_levels(*codes, 4, one)
    assert result.p_value == pytest.approx(chi.pvalue, rel=0.02)  # n - 1 in place of n
    assert result.distance == pytest.approx(np.abs(table[0] / 300 - table[1] / 500).sum() / 2)


def test_levels_in_strata_are_the_test_of_mantel_and_haenszel(rng):
    strata = rng.randint(3, size=200), rng.choice(3, 150, p=[0.6, 0.3, 0.1])
    codes = [rng.binomial(1, 0.2 + 0.2 * one) for one in strata]
    excess = variance = 0.0
    for stratum in range(3):
        old, new = (one[own == stratum] for one, own in zip(codes, strata, strict=True))
        share, n = np.r_[old, new].mean(), old.size + new.size
        excess += new.sum() - new.size * share
        variance += old.size * new.size / (n - 1) * share * (1 - share)
    assert shift_of_levels(*codes, 2, strata).p_value == pytest.approx(chi2.sf(excess**2 / variance, 1))


def test_strata_that_grow_are_no_shift(rng):
    """Their own distributions are the same: the test keeps its level; without strata it is certain of a shift."""
    p_values = []
    for _ in range(300):
        strata = rng.choice(3, 150, p=[0.6, 0.3, 0.1]), rng.choice(3, 150, p=[0.1, 0.3, 0.6])
        old, new = (4.0 * one + rng.standard_normal(150) for one in strata)
        codes = [(rng.uniform(size=150) < 0.2 + 0.3 * one).astype(int) for one in strata]
        p_values.append([shift_of_numbers(old, new, strata).p_value, shift_of_levels(*codes, 2, strata).p_value])
    assert ((np.mean(np.array(p_values) < 0.05, axis=0)) < 0.09).all()
    assert shift_of_numbers(old, new, (0 * strata[0], 0 * strata[1])).p_value < 1e-6


def test_holm():
    np.testing.assert_allclose(corrected(np.array([0.04, 0.01, 0.03, 0.5])), [0.09, 0.04, 0.09, 0.5])


# -- update -----------------------------------------------------------------------------------------------------------


def test_each_row_is_as_likely_to_be_kept():
    """Of three batches, whatever their sizes."""
    counts = np.zeros(90)
    for seed in range(300):
        rng = np.random.RandomState(seed)
        kept = KeptRows.of(np.arange(10.0)[:, None], None, 10, capacity=20)
        for start, stop in ((10, 60), (60, 90)):
            kept = kept.refreshed(np.arange(float(start), stop)[:, None], None, rng)
        assert (len(kept), kept.n_seen) == (20, 90)
        counts[kept.rows.ravel().astype(int)] += 1
    for part in (slice(0, 10), slice(10, 60), slice(60, 90)):
        assert counts[part].mean() == pytest.approx(300 * 20 / 90, rel=0.08)


def test_update_is_a_fit_on_all_rows(first, tmp_path):
    X, _ = batch([60, 50, 40, 30], 7)
    model = jc.JointConsensus(4, trust=False, random_state=0).fit(first[1])
    before = model.labels_.copy()
    jc.save(model, tmp_path / "model.skops")
    loaded = jc.load(tmp_path / "model.skops")
    assert model.update(X) is model
    assert model.labels_.shape == model.confidence_.shape == model.outlier_scores_.shape == (180,)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict_proba(X), model.soft_labels_)
    np.testing.assert_array_equal(model.predict(first[1]), before)  # the numbers are kept
    everything = jc.JointConsensus(4, trust=False, random_state=0).fit(np.vstack([first[1], X]))
    assert adjusted_rand_score(everything.labels_[180:], model.labels_) == 1
    np.testing.assert_array_equal(loaded.update(X).labels_, model.labels_)
    np.testing.assert_array_equal(model.cut(4), model.labels_)
    assert model._kept.n_seen == 360
    assert jc.check(model, batch([60, 50, 40, 30], 8)[0]).verdict == "fits"


def test_update_of_a_table(shop, tmp_path):
    jc.save(shop, tmp_path / "model.skops")
    model = jc.load(tmp_path / "model.skops")
    rows = customers(300, 1)
    model.update(rows)
    np.testing.assert_array_equal(model.predict(rows), model.labels_)
    assert len(model._kept) == 700
    again = pd.DataFrame({name: model._kept.rows[name] for name in rows.columns})
    pd.testing.assert_frame_equal(again[:400], customers(400, 0))
    assert model.predict(rows.to_dict("list") and rows).shape == (300,)


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (lambda t: t[:0], "no rows"),
        (lambda t: t.assign(visits="many"), "visits"),
        (lambda t: t.drop(columns="basket"), "feature names|columns"),
        (lambda t: t.to_numpy(), "The columns should be those of fit"),
        (lambda t: np.zeros((9, t.shape[1])), "The rows are numbers alone, and those of fit were a table"),
        (lambda t: jc.decompose(np.zeros((9, t.shape[1]))), "got Coordinates"),
    ],
    ids=["empty", "type", "column", "cells", "array", "coordinates"],
)
def test_a_wrong_batch_changes_nothing(shop, rows, match):
    table = customers(50, 3)
    before = shop.predict(table), shop.labels_.copy(), shop._kept
    with pytest.raises((ValueError, TypeError), match=match):
        shop.update(rows(table))
    np.testing.assert_array_equal(shop.predict(table), before[0])
    np.testing.assert_array_equal(shop.labels_, before[1])
    assert shop._kept is before[2]


def test_known_labels_are_not_updated(first):
    model = jc.JointConsensus(4, trust=False, random_state=0)
    model.fit(first[1], known_labels=np.where(np.arange(180) < 20, first[2], -1))
    with pytest.raises(ValueError, match="known labels"):
        model.update(first[1])
