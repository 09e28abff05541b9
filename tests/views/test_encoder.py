import datetime
import warnings
from itertools import product
from unittest import SkipTest

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import jointclust as jc
import naive

CATEGORIES = ["colour", "smoker", "grade"]


@parametrize_with_checks([jc.MixedEncoder(), jc.MixedEncoder(numbers="keep", gaps="mean"), jc.LowRankImputer()])
def test_sklearn_contract(estimator, check):
    try:
        check(estimator)
    except SkipTest as skipped:
        pytest.fail(f"{check} was skipped: {skipped}")


def random_table(n=60, seed=0):
    rng = np.random.RandomState(seed)
    return pd.DataFrame(
        {
            "length": rng.randn(n) * 7 + 3,
            "colour": rng.choice(["red", "green", "blue"], n, p=[0.5, 0.3, 0.2]),
            "width": rng.rand(n),
            "smoker": rng.rand(n) < 0.3,
            "grade": pd.Categorical(rng.randint(1, 5, n)),
        }
    )


def indicators(table):
    """Zeros and ones, variable by variable."""
    return [(column.to_numpy()[:, None] == np.unique(column)).astype(float) for _, column in table.items()]


def test_pca_of_coded_categories_is_multiple_correspondence_analysis():
    """Correspondence analysis of the indicator matrix: SVD of D_r^(-1/2) (P - r c') D_c^(-1/2)."""
    table = random_table()[CATEGORIES]
    coded = jc.MixedEncoder().fit_transform(table)
    Z = np.hstack(indicators(table))
    P = Z / Z.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    left, singular, _ = np.linalg.svd((P - np.outer(r, c)) / np.sqrt(np.outer(r, c)), full_matrices=False)
    values, vectors = np.linalg.eigh(coded.T @ coded / len(coded))
    rank = Z.shape[1] - len(CATEGORIES)
    np.testing.assert_allclose(values[::-1][:rank] / len(CATEGORIES), singular[:rank] ** 2, atol=1e-8)
    rows = left[:, :rank] * singular[:rank] / np.sqrt(r)[:, None]
    scores = coded @ vectors[:, ::-1][:, :rank] / np.sqrt(len(CATEGORIES))
    np.testing.assert_allclose(np.abs(scores), np.abs(rows), atol=1e-8)


def test_pca_of_mixed_columns_is_famd():
    """Indicators over the root of their share, centred, beside standardised numbers (Pages).

    An axis's inertia is the sum of squared correlations of numbers and correlation ratios of categories with it.
    """
    table = random_table()
    coded = jc.MixedEncoder().fit_transform(table)
    values, vectors = np.linalg.eigh(coded.T @ coded / len(coded))
    numbers = table[["length", "width"]].to_numpy()
    blocks = [Z / np.sqrt(Z.mean(axis=0)) for Z in indicators(table[CATEGORIES])]
    famd = np.hstack([*blocks, numbers / numbers.std(axis=0)])
    famd -= famd.mean(axis=0)
    # What is true or false takes one column in place of two: one zero less.
    np.testing.assert_allclose(np.linalg.eigvalsh(famd.T @ famd / len(famd))[1:], values, atol=1e-8)
    for value, axis in zip(values[-3:], vectors.T[-3:], strict=True):
        score = coded @ axis
        shared = [np.corrcoef(score, table[name])[0, 1] ** 2 for name in ("length", "width")]
        for name in CATEGORIES:
            means = table.assign(score=score).groupby(name, observed=True)["score"].transform("mean")
            shared.append(means.var(ddof=0) / score.var())
        assert sum(shared) == pytest.approx(value, abs=1e-8)
    assert coded.var(axis=0).sum() == pytest.approx(2 + (3 - 1) + (2 - 1) + (4 - 1), abs=1e-10)


def cluster_correspondence(table, labels, n_clusters, n_components):
    """Leading eigenvalues of D_z^(-1/2) Z'M P M Z D_z^(-1/2) / p, summed: van de Velden, D'Enza and Palumbo (2017).

    Z are the indicators of p variables, D_z the sizes of the levels, M centres, P projects on the clusters.
    """
    Z, members = np.hstack(indicators(table)), np.eye(n_clusters)[labels]
    P = members @ np.linalg.pinv(members)
    M = np.eye(len(Z)) - 1 / len(Z)
    half = Z / np.sqrt(Z.sum(axis=0))
    return np.linalg.eigvalsh(half.T @ M @ P @ M @ half)[::-1][:n_components].sum() / table.shape[1]


def partitions(n, n_clusters):
    """All labellings of n rows, each partition once: clusters in the order of their first row."""
    for rest in product(range(n_clusters), repeat=n - 1):
        labels = (0, *rest)
        if list(dict.fromkeys(labels)) == list(range(n_clusters)):
            yield np.array(labels)


@pytest.mark.parametrize("n_components", [1, 2])
def test_dec_at_trade_off_1_is_cluster_correspondence_analysis(n_components):
    """clustrd's clusmca, partition by partition up to the factor n p, and so with the same optimum."""
    rng = np.random.RandomState(3)
    n, n_clusters = 9, 3
    table = pd.DataFrame({name: rng.choice(list("abc"), n) for name in ("u", "v", "w")})
    coded = jc.MixedEncoder().fit_transform(table)
    ours, theirs, tried = [], [], list(partitions(n, n_clusters))
    for labels in tried:
        total, within = naive.scatter(coded, labels, n_clusters)
        ours.append(np.linalg.eigvalsh(total - within)[::-1][:n_components].sum())
        theirs.append(cluster_correspondence(table, labels, n_clusters, n_components))
    np.testing.assert_allclose(ours, n * table.shape[1] * np.array(theirs), atol=1e-8)
    model = jc.DiscriminativeEmbeddedClustering(
        n_clusters, n_components=n_components, trade_off=1, n_init=50, init="random", random_state=0
    )
    if n_components == n_clusters - 1:
        with pytest.warns(jc.PlainKMeansWarning):
            model.fit(coded)
    else:
        model.fit(coded)
    assert cluster_correspondence(table, model.labels_, n_clusters, n_components) == pytest.approx(
        max(theirs), abs=1e-9
    )


def mixed_clusters(n=400, seed=0):
    """Two clusters that numbers tell apart, and in each of them two that only categories tell apart."""
    rng = np.random.RandomState(seed)
    y = rng.randint(4, size=n)
    unit = 10 ** rng.uniform(0, 2, 5)
    table = pd.DataFrame((rng.randn(n, 5) + 2 * (y // 2)[:, None]) * unit, columns=[f"n{j}" for j in range(5)])
    for j in range(5):
        level = np.where(rng.rand(n) < 0.75, y % 2, rng.randint(4, size=n))
        table[f"c{j}"] = np.array(list("abcd"))[level]
    return table, y


def test_clusters_that_only_categories_show():
    table, y = mixed_clusters()
    coded = jc.MixedEncoder().fit_transform(table)
    ours = jc.JointConsensus(4, trust=False, columns="all", random_state=0).fit(coded).labels_
    onehot = OneHotEncoder(sparse_output=False).fit_transform(table.filter(like="c"))
    plain = KMeans(4, n_init=10, random_state=0).fit_predict(np.hstack([table.filter(like="n"), onehot]))
    assert jc.metrics.clustering_accuracy(y, ours) >= 0.9 > jc.metrics.clustering_accuracy(y, plain)


def test_weight_2_is_the_row_twice_and_0_an_absent_row():
    table = random_table()
    weights = np.random.RandomState(0).randint(3, size=len(table))
    weights[table["grade"] == 2] = 0
    encoder = jc.MixedEncoder().fit(table, sample_weight=weights)
    repeated = jc.MixedEncoder().fit(table.loc[np.repeat(np.arange(len(table)), weights)])
    assert encoder.levels_ == repeated.levels_
    with pytest.warns(UserWarning, match="column 'grade' has 2 in"):
        np.testing.assert_allclose(encoder.transform(table), repeated.transform(table), atol=1e-10)


def test_order_of_rows_columns_and_levels():
    table = random_table()
    coded = jc.MixedEncoder().set_output(transform="pandas").fit_transform(table)
    order = np.random.RandomState(0).permutation(len(table))
    shuffled = jc.MixedEncoder().set_output(transform="pandas").fit_transform(table.iloc[order, ::-1])
    np.testing.assert_allclose(shuffled[coded.columns].loc[coded.index], coded, atol=1e-10)
    renamed = table.assign(colour=table["colour"].map({"red": "a", "green": "z", "blue": "m"}))
    other = jc.MixedEncoder().set_output(transform="pandas").fit_transform(renamed)
    np.testing.assert_allclose(other["colour = a"], coded["colour = red"], atol=1e-10)


@pytest.mark.filterwarnings("error")
def test_every_kind_of_table_gives_the_same():
    table = random_table().assign(day=pd.date_range("2020-02-01", periods=60, freq="h").astype("datetime64[us]"))
    table.loc[3, "colour"] = None
    table.loc[4, "length"] = np.nan
    expected = jc.MixedEncoder().fit_transform(table)
    assert np.isnan(expected).sum() == 4, "all three levels, and one number"
    text = table.assign(grade="grade " + table["grade"].astype(int).astype(str))
    declared = pl.from_pandas(text).with_columns(pl.col("colour").cast(pl.Categorical))
    objects = text.astype(object)
    tables = text, pl.from_pandas(text), pa.Table.from_pandas(text), declared, declared.to_arrow(), objects
    for other in (*tables, objects.to_numpy(), objects.to_numpy().tolist()):
        np.testing.assert_allclose(jc.MixedEncoder().fit_transform(other), expected, atol=1e-9)
    numbers = table.assign(grade=table["grade"].astype(int))
    np.testing.assert_allclose(jc.MixedEncoder({"grade": "category"}).fit_transform(numbers), expected, atol=1e-9)
    by_number = jc.MixedEncoder({"4": "category"}).fit_transform(numbers.astype(object).to_numpy())
    np.testing.assert_allclose(by_number, expected, atol=1e-9)


def test_kinds_that_are_given():
    table = pd.DataFrame(
        {
            "price": ["1.5", "2", "", "3"],
            "day": ["2020-01-01", "2020-01-02", None, "2020-01-04"],
            "zip": [10, 20, 10, 20],
            "key": list("wxyz"),
        }
    )
    kinds = {"price": "number", "day": "date", "zip": "category", "key": "id"}
    with pytest.warns(UserWarning, match="'price': 1 empty strings are taken as gaps"):
        encoder = jc.MixedEncoder(kinds, numbers="keep").fit(table)
    assert encoder.get_feature_names_out().tolist() == ["price", "day", "zip = 10", "zip = 20"]
    coded = encoder.transform(table)
    np.testing.assert_array_equal(coded[:, 0], [1.5, 2, np.nan, 3])
    np.testing.assert_array_equal(coded[:, 1] - coded[0, 1], [0, 1, np.nan, 3])
    np.testing.assert_allclose(coded[:, 3], [-(0.5**0.5), 0.5**0.5] * 2)
    assert encoder.kinds_ == kinds
    assert "holds dates" in " ".join(encoder.notes_)
    with pytest.warns(UserWarning, match="empty strings"):
        filled = jc.MixedEncoder(kinds, gaps="mean").fit_transform(table)
    assert (filled[2, :2] == 0).all()
    for wrong, match in (({"zip": "colour"}, "is no kind of column"), ({"nothing": "id"}, "which X lacks")):
        with pytest.raises(ValueError, match=match):
            jc.MixedEncoder(wrong).fit(table)


def test_rare_and_unknown_levels():
    values = ["a"] * 150 + ["b"] * 147 + ["x", "y", "y"]
    encoder = jc.MixedEncoder().fit(pd.DataFrame({"v": values}))
    assert encoder.get_feature_names_out().tolist() == ["v = a", "v = b", "v = other levels"]
    assert encoder.rare_ == {"v": ["x", "y"]}
    with pytest.warns(UserWarning, match="column 'v' has 'new' in 2 rows") as text:
        coded = encoder.transform(pd.DataFrame({"v": ["x", "y", "new", "new", None]}))
    assert len(text) == 1
    np.testing.assert_array_equal(coded[0], coded[1])
    assert coded[0, 2] == pytest.approx(0.99 / 0.1)
    assert (coded[2:4] == 0).all()
    assert np.isnan(coded[4]).all()
    taken = jc.MixedEncoder().fit(pd.DataFrame({"v": ["other levels" if v == "a" else v for v in values]}))
    assert len(set(taken.get_feature_names_out())) == 3


@pytest.mark.parametrize(
    ("column", "error"),
    [
        ([f"name {i}" for i in range(20)], "a level of its own in each of its 20 rows.*names the rows.*'id'"),
        (["a", 3] * 10, "'v' mixes types"),
        ([True, 1] * 10, "'v' mixes types"),
        ([{"a": 1}] * 20, "'v' holds values that are neither"),
        ([1.0, np.inf] * 10, "infinity: column 'v' has inf in row 1"),
        ([datetime.date(2020, 1, 1), datetime.date(9999, 12, 31)] * 10, "'v' has dates out of range, 9999"),
    ],
)
def test_bad_columns(column, error):
    with pytest.raises((ValueError, TypeError), match=error):
        jc.MixedEncoder().fit(pd.DataFrame({"w": np.arange(20.0), "v": pd.Series(column, dtype=object)}))


@pytest.mark.parametrize(
    ("column", "kind", "error"),
    [
        (["1", "two"] * 5, "number", "'v' is to hold numbers, and holds 'two'"),
        (["2020-01-01", "2020-13-01"] * 5, "date", "'v' is to hold dates, and holds '2020-13-01'"),
    ],
)
def test_cells_that_are_not_of_their_kind(column, kind, error):
    with pytest.raises(ValueError, match=error):
        jc.MixedEncoder({"v": kind}).fit(pd.DataFrame({"v": column}))


def test_dates_and_numbers_are_not_the_same():
    """Days since 1970 are numbers, too, so a wrong column would go unnoticed; gaps are of any type."""
    table = pd.DataFrame({"v": np.arange(20.0), "when": pd.date_range("2024-01-01", periods=20)})
    encoder, given = jc.MixedEncoder().fit(table), jc.MixedEncoder({"when": "number"}).fit(table)
    with pytest.raises(TypeError, match="'v' holds dates, and held numbers before"):
        encoder.transform(table.assign(v=table["when"]))
    with pytest.raises(TypeError, match="'when' holds numbers, and held dates before"):
        encoder.transform(table.assign(when=table["v"]))
    np.testing.assert_array_equal(given.transform(table), encoder.transform(table))
    for gaps in (table.assign(when=np.nan), table.assign(v=pd.NaT), table.assign(when=table["when"].astype(str))):
        assert encoder.transform(gaps).shape == (20, 2)


def test_columns_that_tell_nothing_are_left_out_and_told():
    table = random_table().assign(empty=None, same="x", flat=2.0)
    with pytest.warns(UserWarning, match="'empty' is left out: all its cells are gaps.*'same'.*'flat'"):
        encoder = jc.MixedEncoder().fit(table)
    np.testing.assert_array_equal(encoder.transform(table), jc.MixedEncoder().fit_transform(random_table()))
    with pytest.raises(ValueError, match="tells rows apart.*'flat' is left out"):
        jc.MixedEncoder().fit(table[["flat"]])
    with pytest.raises(ValueError, match="'width': rename"):
        jc.MixedEncoder().fit(pd.concat([table["width"], table["width"]], axis=1))


def test_save_and_load(tmp_path):
    table = random_table()
    table.loc[::7, "colour"] = None
    table.loc[::5, "length"] = np.nan
    pipeline = make_pipeline(jc.MixedEncoder(), jc.LowRankImputer(), jc.LDAKMeans(3, random_state=0)).fit(table)
    jc.save(pipeline, tmp_path / "model")
    again = jc.load(tmp_path / "model")
    np.testing.assert_array_equal(again[:-1].transform(table), pipeline[:-1].transform(table))
    assert again[0].levels_ == pipeline[0].levels_
    np.testing.assert_array_equal(again.predict(table), pipeline.predict(table))


def test_declared_levels_without_a_row_are_no_news():
    declared = pd.DataFrame({"colour": pd.Categorical(["red", "blue"] * 6, categories=["red", "blue", "green"])})
    encoder = jc.MixedEncoder().fit(declared)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(declared)
