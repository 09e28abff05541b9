"""A table says the same however its cells are held: as numbers or text, sparse or dense, with marks for gaps."""

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import torch
from sklearn.datasets import load_wine

import jointclust as jc
from jointclust.readers import read
from jointclust.showing.features import features_in
from jointclust.views.columns import sentinels_in
from jointclust.views.preparation import Preparation
from jointclust.views.written import date, date_order, reading_of

WINE, CLASSES = load_wine(return_X_y=True)
FRAME = pd.DataFrame(WINE, columns=[f"x{place}" for place in range(WINE.shape[1])])
GEN = np.random.RandomState(0)


def kinds(table):
    return {column.name: column.kind for column in jc.describe(table).columns}


def coded(table):
    return Preparation().fit_transform(table)


def beside(column):
    return np.column_stack([WINE, column])


SAME = {
    "text": FRAME.astype(str),
    "text, object array": FRAME.astype(str).to_numpy(),
    "text, polars": pl.from_pandas(FRAME.astype(str)),
    "decimal commas": FRAME.map(lambda value: str(value).replace(".", ",")),
    "thousands": FRAME.map(lambda value: f"{1000 * value:,.1f}"),
    "per cent": FRAME.map(lambda value: f"{value} %"),
    "sparse": sp.csr_array(WINE),
    "lists": pd.DataFrame({"x": list(WINE)}),
    "lists, pyarrow": pa.table({"x": WINE.tolist()}),
    "lists, polars": pl.DataFrame({"x": WINE.tolist()}),
}


@pytest.mark.parametrize("form", SAME)
def test_numbers_however_held(form):
    assert jc.describe(SAME[form]).kind == jc.describe(FRAME).kind == "table"
    np.testing.assert_allclose(coded(SAME[form]), coded(FRAME), atol=1e-6)


@pytest.mark.filterwarnings("ignore:1 of 178 rows")
def test_list_that_is_missing():
    rows = [np.nan, *list(WINE[1:])]
    gappy = FRAME.copy()
    gappy.iloc[0] = np.nan
    np.testing.assert_allclose(coded(pd.DataFrame({"x": rows})), coded(gappy))


def test_sentinels_on_a_device_and_with_dask():
    marked = np.where(np.arange(len(WINE))[:, None] % 9 == np.arange(13), -999.0, WINE)
    expected = jc.JointConsensus(3, trust=False, effort="quick", random_state=0).fit(marked).labels_
    for rows in (torch.tensor(marked), da.from_array(marked, chunks=(90, 13))):
        model = jc.JointConsensus(3, trust=False, effort="quick", random_state=0).fit(rows)
        assert jc.metrics.clustering_accuracy(expected, np.asarray(model.labels_)) > 0.98


HARMLESS = {
    "a Unix time": lambda: beside(1.7e9 + GEN.randint(0, 86_400, len(WINE))),
    "an offset": lambda: WINE + 1e9,
    "text": lambda: SAME["text"],
    "sparse": lambda: SAME["sparse"],
    "a constant": lambda: beside(np.full(len(WINE), 7.0)),
    "a column twice": lambda: beside(WINE[:, 3]),
    "a large column": lambda: WINE * np.where(np.arange(WINE.shape[1]) == 4, 1e12, 1.0),
    "sentinels": lambda: np.where(GEN.rand(*WINE.shape) < 0.1, -999.0, WINE),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_harmless(name):
    model = jc.JointConsensus(3, trust=False, random_state=0).fit(HARMLESS[name]())
    assert jc.metrics.clustering_accuracy(CLASSES, model.labels_) >= (0.94 if name != "sentinels" else 0.9)


class TestUnitRows:
    """Rows of one length are meant to be so: no column and no offset carries it."""

    def test_unit_rows(self):
        directions = GEN.randn(300, 40) + 3 * GEN.randn(40)  # a mean that most of the length is in
        words = GEN.poisson(0.3, (300, 40)) + np.eye(300, 40, -1) + (np.arange(300) > 20)[:, None] * np.eye(1, 40)
        counts = GEN.poisson(2.0, (300, 40))
        for rows in (GEN.randn(300, 40), directions, counts, np.exp(directions / 10), words[1:]):
            unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
            for form in (unit, unit.astype(np.float32), sp.csr_array(unit)):
                assert jc.describe(form).kind == "unit rows"

    @pytest.mark.parametrize("name", ["a Unix time", "an offset"])
    def test_length_that_is_carried(self, name):
        assert jc.describe(HARMLESS[name]()).kind == "table"

    def test_offset_of_shares(self):
        """The sum of the shares is the same for all rows, and so is nearly their length once they have an offset."""
        shares = GEN.dirichlet(np.ones(5), 300)
        assert jc.describe(shares + 1e4).kind == "table"


class TestTruths:
    """0 and 1, True and False, yes and no are one thing."""

    def forms(self, truths):
        yield pd.DataFrame(truths.astype(int), columns=list("abc"))
        yield pd.DataFrame(truths, columns=list("abc"))
        yield pd.DataFrame(np.where(truths, "yes", "no"), columns=list("abc"))
        yield pd.DataFrame(np.where(truths, "True", "False"), columns=list("abc"))
        yield pd.DataFrame(truths.astype(object), columns=list("abc"))

    def test_beside_numbers(self):
        numbers = pd.DataFrame(WINE[:, :3], columns=list("xyz"))
        first, *others = [pd.concat([numbers, form], axis=1) for form in self.forms(WINE[:, 3:6] > WINE[:, 6:9])]
        for other in others:
            np.testing.assert_allclose(coded(other), coded(first))
            assert jc.describe(other).kind == jc.describe(first).kind == "table"

    def test_alone(self):
        truths = GEN.rand(100, 3) < 0.4
        expected = coded(truths.astype(int))
        for form in (truths, *self.forms(truths)):
            assert jc.describe(form).kind == "features"
            np.testing.assert_allclose(coded(form), expected)

    def test_gaps(self):
        table = FRAME.assign(on=pd.array(np.where(WINE[:, 0] > 13, True, None), dtype="boolean"))
        table.loc[:20, "on"] = False
        assert kinds(table)["on"] == "boolean"
        assert np.isfinite(coded(table)).all()


class TestWordsAmongNumbers:
    @pytest.mark.parametrize("word", ["n/a", "-", "?", "NA", "null", "none", "unknown", "missing"])
    def test_gaps(self, word):
        as_text = FRAME.astype(str)
        as_text.loc[3:9, "x2"] = word
        mixed = FRAME.astype(object)
        mixed.loc[3:9, "x2"] = word
        empty = FRAME.copy()
        empty.loc[3:9, "x2"] = np.nan
        for table in (as_text, mixed):
            description = jc.describe(table)
            assert description.columns[2].missing == pytest.approx(7 / len(WINE))
            assert any(f"'x2' holds numbers written as text; {word!r} (7)" in reason for reason in description.reasons)
            np.testing.assert_allclose(coded(table), coded(empty))

    def test_of_a_category(self):
        """Beside other words "unknown" is a level."""
        table = FRAME.assign(colour=np.resize(["red", "blue", "unknown"], len(WINE)))
        assert Preparation(columns="all").fit(table).encoder_.levels_["colour"] == ["blue", "red", "unknown"]

    def test_more_words_are_text(self):
        assert reading_of(["1", "2", "about three"]).kind == "text"

    def test_comma_of_two_meanings(self):
        """A fit says so, too: the column is lost, or a category."""
        table = FRAME.assign(sales=[f"{1 + row % 40},{row % 40 + 200}" for row in range(len(WINE))])
        assert any("'sales'" in reason and "thousands" in reason for reason in jc.describe(table).reasons)
        with pytest.warns(jc.exceptions.Notice, match="'sales' holds '1,200', with a comma for thousands"):
            jc.JointConsensus(3, effort="quick", trust=False, random_state=0).fit(table)

    @pytest.mark.parametrize(
        ("cells", "values"),
        [
            (["$950", "$77,795"], [950, 77795]),
            (["950 €", "11.581 €", "1.234 €"], [950, 11581, 1234]),
            (["1.459 €", "1.5 €"], [1.459, 1.5]),
        ],
    )
    def test_money_in_thousands(self, cells, values):
        reading = reading_of(cells)
        assert [reading.converter(cell) for cell in cells] == values

    def test_new_rows_are_read_as_those_of_fit(self):
        table = FRAME.assign(x0=FRAME["x0"].map(lambda value: f"{value:.3f}".replace(".", ",")))
        table.loc[0, "x0"] = "14,2"  # tells what the comma is; "13,200" alone does not
        prepared = Preparation().fit(table)
        alone = table.iloc[[5]]
        np.testing.assert_allclose(prepared.transform(alone), prepared.transform(table)[[5]])


FORMS = {
    "frame": lambda table: table,
    "array": pd.DataFrame.to_numpy,
    "no names": lambda table: table.set_axis(range(table.shape[1]), axis=1),
}


class TestSentinels:
    def test_found(self):
        income = np.exp(GEN.normal(10, 1, 300))
        age = GEN.randint(18, 90, 300).astype(float)
        degrees = GEN.normal(5, 12, 300).round(1)
        for values, mark in ((income, -999), (age, 999), (degrees, -99.9), (degrees, -9999), (age, 9999)):
            held = values.copy()
            held[::17] = mark
            assert sentinels_in(held) == (mark,)
            assert sentinels_in(values) == ()
        held[1::17] = -99
        assert set(sentinels_in(held)) == {9999, -99}

    def test_not_taken(self):
        votes = GEN.choice([-1.0, 0.0, 1.0], 300)
        scores, rooms = GEN.randint(0, 100, 3000).astype(float), GEN.choice([1.0, 2.0, 9.0], 300)
        balance = GEN.normal(0, 1000, 300)
        capped = np.minimum(np.exp(GEN.normal(9, 1, 300)), 99_999)
        once = np.append(GEN.rand(300), -999)
        mostly = np.where(GEN.rand(300) < 0.9, 999.0, GEN.randint(0, 28, 300))
        for values in (
            votes,
            rooms,
            scores,
            np.append(balance, [-999.0] * 5),
            capped,
            once,
            mostly,
            np.resize([0, 999.0], 99),
        ):
            assert sentinels_in(values) == ()

    @pytest.mark.parametrize("mark", [1e6, -1e6, 999_999.98, -999.95, 99.95, 9_999_998.0])
    def test_no_number_beside_nines_is_one(self, mark):
        assert sentinels_in(np.append(GEN.rand(300), [mark] * 5)) == ()

    @pytest.mark.parametrize("nines", [-99.9, 999.99, -99_999.99])
    def test_is_found_in_single_precision(self, nines):
        held = np.append(GEN.rand(300), [nines] * 5).astype(np.float32).astype(float)
        assert sentinels_in(held) == (np.float32(nines),)

    @pytest.mark.parametrize("convert", FORMS.values(), ids=FORMS)
    def test_is_a_gap_in_fit_and_after(self, convert):
        marked, empty = FRAME.copy(), FRAME.copy()
        marked.loc[10:29, "x12"], empty.loc[10:29, "x12"] = -999, np.nan
        with pytest.warns(UserWarning, match=r"are gaps: -999 in '(x|)12'\."):
            prepared = Preparation().fit(convert(marked))
        np.testing.assert_allclose(prepared.transform(convert(marked)), coded(convert(empty)))
        new = slice(8, 12)
        np.testing.assert_allclose(*[prepared.transform(convert(table.iloc[new])) for table in (marked, empty)])
        assert any(": -999 in 20 rows is taken as a gap" in reason for reason in prepared.description_.reasons)


class TestDates:
    DAYS = pd.date_range("2023-01-01", periods=120, freq="53h")

    @pytest.mark.parametrize(
        "pattern",
        [
            "%Y-%m-%d",
            "%d.%m.%Y",
            "%m/%d/%Y",
            "%d/%m/%Y",
            "%d-%m-%Y",
            "%d.%m.%y",
            "%m/%d/%Y %I:%M %p",
            "%d.%m.%Y, %H:%M",
        ],
    )
    def test_written_as_text(self, pattern):
        held = pd.DataFrame({"x": GEN.rand(120), "since": self.DAYS})
        whole = held if "%M" in pattern else held.assign(since=held["since"].dt.normalize())
        text = held.assign(since=held["since"].dt.strftime(pattern))
        text.loc[3, "since"], whole.loc[3, "since"] = "unknown", pd.NaT
        assert kinds(text) == {"x": "number", "since": "date"}
        np.testing.assert_allclose(coded(text), coded(whole), atol=1e-9)

    def test_order(self):
        assert date_order(["1/2/2023", "13/2/2023"]).order == "day-first"
        assert date_order(["1/2/2023", "1/13/2023"]).order == "month-first"
        assert date_order(["13/2/2023", "1/13/2023"]) is None
        assert date_order(["1.2.2023"]) == ("day-first", None)
        assert date_order(["1/2/2023"]) == ("month-first", "1/2/2023")
        assert date_order(["1/2/2023"], "day-first") == ("day-first", None)
        assert date_order(["1.2.2023", "soon"]) is None

    def test_offset_of_a_zone(self):
        assert date("2023-01-01T01:30:00-02:30") == date("1.1.2023 4:00") == date("2023-01-01T04:00Z")

    @pytest.mark.parametrize("cell", ["30.2.2023", "2023-13-01", "1.2.3", "1/2/2023 13:00 PM", "2023"])
    def test_no_day(self, cell):
        with pytest.raises(ValueError, match=r".*"):
            date(cell)

    def test_doubtful_order_is_told(self):
        table = FRAME.assign(day=[f"{1 + row % 12}/{1 + row % 11}/2023" for row in range(len(WINE))])
        assert any("either order, taken month-first" in reason for reason in jc.describe(table).reasons)

    def test_new_rows_are_read_as_those_of_fit(self):
        table = FRAME.assign(day=[f"{1 + row % 28:02}/{1 + row % 12:02}/2023" for row in range(len(WINE))])
        prepared = Preparation().fit(table)
        np.testing.assert_allclose(prepared.transform(table.iloc[[4]]), prepared.transform(table)[[4]])


def test_many_levels_are_told():
    table = FRAME.assign(name=[f"name {row % 60}" for row in range(len(WINE))])
    assert any("'name' has 60 levels, 3 rows each" in reason for reason in jc.describe(table).reasons)


def test_text_beside_others_is_told():
    words = GEN.choice(["soft", "dry", "red", "oak", "plum", "long"], (len(WINE), 9))
    table = FRAME.assign(note=[" ".join(row) for row in words])
    text = r"'note'.*jc.cluster\(table\['note'\]\)"
    with pytest.warns(UserWarning, match=text):
        jc.JointConsensus(3, trust=False, effort="quick", random_state=0).fit(table)


class TestFewCells:
    def test_rows(self):
        """Counted by columns of the data: a category has many levels, and is one cell."""
        table = FRAME.assign(level=np.resize(list("abcdefghij"), len(WINE)))
        table.loc[5:7, FRAME.columns] = np.nan
        with pytest.warns(UserWarning, match=r"3 of 178 rows have no value in 90% of the columns"):
            Preparation().fit(table)

    @pytest.mark.filterwarnings("error")
    def test_enough(self):
        Preparation().fit(FRAME.mask(GEN.rand(*FRAME.shape) < 0.3))

    def test_most_of_all(self):
        with pytest.warns(UserWarning, match=r"6\d% of the cells are gaps"):
            Preparation().fit(np.where(GEN.rand(*WINE.shape) < 0.64, np.nan, WINE))


def test_a_file_and_a_frame_say_the_same(tmp_path):
    table = FRAME.assign(
        since=TestDates.DAYS[np.arange(len(WINE)) % 120].strftime("%d/%m/%Y"),
        kind=np.resize(["red", "white", "rosé"], len(WINE)),
        sold=np.resize(["yes", "no", "no", "yes", "no"], len(WINE)),
        stock=np.resize(["1", "2.5", "n/a", "7"], len(WINE)),
        income=np.where(np.arange(len(WINE)) % 20, 100 * WINE[:, 12], -999),
    )
    table.to_csv(tmp_path / "wine.csv", index=False)
    written = read(tmp_path / "wine.csv", categories="keep", missing="keep").data
    file, frame = jc.describe(written), jc.describe(table)
    assert (file.kind, str(file.columns)) == (frame.kind, str(frame.columns))
    assert [column.kind for column in frame.columns[-5:]] == ["date", "category", "boolean", "number", "number"]
    np.testing.assert_allclose(coded(written), coded(table), atol=1e-9)


def test_explanations_know_gaps():
    table = FRAME.copy()
    table.loc[::9, "x12"] = -9999
    model = jc.JointConsensus(3, trust=False, effort="quick", random_state=0).fit(table)
    for rows in (table, table.to_numpy()):
        result = features_in(rows, None, None, model.description_)
        assert np.isnan(result.values[:, -1]).sum() == len(table[::9])


NARROW = {
    "one number": pd.DataFrame({"a": GEN.rand(50)}),
    "two numbers": pd.DataFrame(GEN.rand(50, 2)),
    "categories": pd.DataFrame({"a": np.resize(["u", "v"], 50), "b": np.resize(["s", "t", "w"], 50)}),
    "dates": pd.DataFrame({"a": TestDates.DAYS[:50], "b": TestDates.DAYS[50:100].strftime("%d.%m.%Y")}),
    "truths": pd.DataFrame({"a": GEN.rand(50) > 0.5}),
}


@pytest.mark.parametrize("name", NARROW)
def test_narrow_tables(name):
    assert jc.describe(NARROW[name]).kind in ("table", "mixed", "features")
    assert np.isfinite(coded(NARROW[name])).all()


def test_a_lazy_frame_of_polars_is_the_frame_that_it_computes():
    X = np.vstack([GEN.randn(40, 4), GEN.randn(40, 4) + 8])
    frame = pl.DataFrame(X, schema=list("abcd"))
    model, lazy = jc.cluster(frame, 2, random_state=0), frame.lazy()
    np.testing.assert_array_equal(jc.cluster(lazy, 2, random_state=0).labels_, model.labels_)
    np.testing.assert_array_equal(model.predict(lazy), model.labels_)
    np.testing.assert_array_equal(jc.MixedEncoder().fit_transform(lazy), jc.MixedEncoder().fit_transform(frame))
    np.testing.assert_array_equal(jc.LDAKMeans(2).fit(lazy).labels_, jc.LDAKMeans(2).fit(frame).labels_)
    assert str(jc.describe(lazy)) == str(jc.describe(frame))
    assert jc.check(model, lazy).verdict == "fits"
    assert len(jc.explain(model, lazy)) == 2
    assert jc.number_of_clusters(lazy).n_clusters == 2
