"""What describe says of data of which the truth is known, in every form that data come in."""

import types
import warnings
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.ndimage
import scipy.sparse as sp
import torch
from sklearn import datasets
from sklearn.decomposition import PCA

import jointclust as jc

N = 300
GEN = np.random.RandomState(0)
UNITS = 10 ** GEN.uniform(-2, 3, 120)


def images(side, levels=None):
    smooth = scipy.ndimage.gaussian_filter(GEN.randn(N, side, side), (0, side / 10, side / 10)).reshape(N, -1)
    smooth = (smooth - smooth.min()) / np.ptp(smooth)
    return smooth if levels is None else np.rint(levels * smooth)


def dark(side):
    image = np.maximum(images(side) - 0.55, 0)
    return np.rint(255 * image / image.max())


def spectra(bands):
    at = np.linspace(0, 1, bands)
    peaks = sum(np.outer(GEN.rand(N), np.exp(-((at - centre) ** 2) / 0.01)) for centre in GEN.rand(8))
    return peaks + 0.02 * GEN.randn(N, bands)


def words(n_columns=300):
    return GEN.poisson(GEN.gamma(0.2, 1, (N, n_columns)) * GEN.pareto(1, n_columns))


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def hot(n_variables, n_levels=5):
    return np.eye(n_levels)[GEN.randint(n_levels, size=(N, n_variables))].reshape(N, -1)


EMBEDDING = GEN.randn(N, 64) + 2 * GEN.randn(5, 64)[GEN.randint(5, size=N)]
KINDS = {
    "diabetes": (datasets.load_diabetes(scaled=False).data, "table"),
    "linnerud": (datasets.load_linnerud().data, "table"),
    "iris": (datasets.load_iris().data, "table"),
    "wine": (datasets.load_wine().data, "table"),
    "breast cancer": (datasets.load_breast_cancer().data, "table"),
    "units of their own": (GEN.randn(N, 120) * UNITS + 1 / UNITS, "table"),
    "made, unscaled": (datasets.make_classification(N, 60, n_informative=20, scale=None, random_state=0)[0], "table"),
    "few counts": (GEN.poisson(0.8, (N, 6)), "table"),
    "one column": (GEN.randn(N, 1), "table"),
    "gaps": (np.where(GEN.rand(N, 6) < 0.2, np.nan, GEN.randn(N, 6) * UNITS[:6]), "table"),
    "digits": (datasets.load_digits().data, "features"),
    "pixels 8x8": (images(8), "features"),
    "pixels 16x16, bytes": (images(16, 255).astype(np.uint8), "features"),
    "dark pixels": (dark(16), "features"),
    "dark pixels, sparse": (sp.csr_array(dark(16)), "features"),
    "black and white": (images(16) > 0.5, "features"),
    "spectra": (spectra(50), "features"),
    "spectra of decades": (spectra(128) * np.exp(np.linspace(0, 5, 128)), "features"),
    "expression": (np.log1p(GEN.negative_binomial(2, 2 / (2 + GEN.lognormal(2, 2, 1500)), (60, 1500))), "features"),
    "intensities": (GEN.lognormal(GEN.normal(2, 0.7, 1500), 0.8, (60, 1500)), "features"),
    "embedding": (EMBEDDING, "features"),
    "principal components": (PCA(12).fit_transform(EMBEDDING), "features"),
    "levels": (hot(8), "features"),
    "levels, sparse": (sp.csr_array(hot(8)), "features"),
    "correlations": (np.corrcoef(GEN.randn(60, 30) + GEN.randn(60, 1)), "features"),
    "log counts, sparse": (sp.csr_array(np.log1p(words())), "features"),
    "words": (words(), "counts"),
    "words, sparse": (sp.csr_array(words()), "counts"),
    "presence of words": (
        sp.random_array((N, 500), density=0.02, rng=0, data_sampler=lambda size: np.ones(size)),
        "counts",
    ),
    "rare events": (GEN.poisson(0.05, (N, 200)), "counts"),
    "reads": (GEN.negative_binomial(2, 2 / (2 + GEN.lognormal(4, 2, 1500)), (60, 1500)), "counts"),
    "unit rows": (unit(EMBEDDING).astype(np.float32), "unit rows"),
    "unit rows, sparse": (sp.csr_array(unit(np.log1p(words() + hot(60)))), "unit rows"),
    "documents": (["the cat sat", "a dog ran"], "documents"),
}


@pytest.mark.parametrize("name", KINDS)
def test_kinds(name):
    X, kind = KINDS[name]
    description = jc.describe(X)
    assert description.kind == kind
    assert description.reasons
    assert all(isinstance(reason, str) for reason in description.reasons)


@pytest.mark.parametrize(
    "name", ["wine", "digits", "spectra", "words", "embedding", "unit rows", "levels", "intensities"]
)
def test_order_of_rows_and_precision_do_not_matter(name):
    X, kind = KINDS[name]
    assert jc.describe(np.random.RandomState(1).permutation(X)).kind == kind
    assert jc.describe(np.asarray(X, dtype=np.float32)).kind == kind


REAL = {
    "table": "glass vehicle vowel heart yeast segmentation",
    "features": "satellite srbct colon glioma yale orl imm umist gt isolet5 coil20 flower17 usps mnist pbmc3k",
    "counts": "newsgroups20 worm_neuron",
    "unit rows": "newsgroups20_minilm",
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [(name, kind) for kind, names in REAL.items() for name in names.split()])
def test_real_kinds(name, kind, real_data):
    assert jc.describe(real_data(name).data).kind == kind


def frame():
    n = 60
    table = pd.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "who": [f"person {row}" for row in range(n)],
            "length": GEN.randn(n),
            "price": 1000 * GEN.rand(n),
            "visits": GEN.poisson(4, n) * GEN.poisson(2, n),
            "colour": GEN.choice(["red", "green", "blue"], n),
            "size": pd.Categorical(GEN.choice(["S", "M", "L"], n)),
            "new": GEN.rand(n) > 0.5,
            "since": pd.date_range("2020-01-01", periods=n),
            "same": 1.0,
            "nothing": np.nan,
            "review": [
                f"it was {word} and I came back for number {row}" for row, word in enumerate(["good", "bad"] * 30)
            ],
        }
    )
    table.loc[3:8, "length"] = np.nan
    table.loc[:5, "colour"] = None
    return table


TRUTH = {
    "id": "id",
    "who": "id",
    "length": "number",
    "price": "number",
    "visits": "count",
    "colour": "category",
    "size": "category",
    "new": "boolean",
    "since": "date",
    "same": "constant",
    "nothing": "constant",
    "review": "text",
}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dask"])
def test_columns_of_every_library(library):
    table = frame()
    if library == "polars":
        table = pl.from_pandas(table)
    elif library == "pyarrow":
        table = pa.Table.from_pandas(table)
    elif library == "dask":
        table = dd.from_pandas(table, npartitions=3)
    description = jc.describe(table)
    assert description.kind == "mixed"
    assert {column.name: column.kind for column in description.columns} == TRUTH
    missing = {column.name: column.missing for column in description.columns}
    assert missing["length"] == missing["colour"] == pytest.approx(0.1)
    assert any("'price' carries" in reason for reason in description.reasons)


def test_array_of_objects_is_a_table():
    description = jc.describe([[1.5, "red"], [2.5, "blue"], [3.0, "red"], [None, "red"]])
    assert [column.kind for column in description.columns] == ["number", "category"]
    assert description.columns[0].missing == 0.25


def test_dominant_column_is_told():
    table = datasets.load_wine(as_frame=True).data
    assert "column 'proline' carries 99.8% of the variance" in jc.describe(table).reasons


class TestIds:
    def kinds(self, **columns):
        columns = {"x": GEN.randn(100), "y": GEN.randn(100), **columns}
        return {column.name: column.kind for column in jc.describe(pd.DataFrame(columns)).columns}

    def test_numbers_of_rows(self):
        """Consecutive numbers in another order are a rank, which is a number."""
        rank = np.random.RandomState(0).permutation(100)
        result = self.kinds(a=np.arange(100), b=np.arange(1, 101), order=10**7 + np.arange(100), rank=rank)
        assert [result[name] for name in ("a", "b", "order", "rank")] == ["id", "id", "id", "number"]

    def test_years_are_none(self):
        assert self.kinds(year=np.arange(1920, 2020))["year"] == "number"

    def test_names_of_columns(self):
        whole = GEN.randint(0, 10**6, 100)
        result = self.kinds(index=whole, CustomerID=whole, user_id=whole, Id=whole % 7)
        assert [result[name] for name in ("index", "CustomerID", "user_id", "Id")] == ["id"] * 4

    def test_measurements_are_none(self):
        result = self.kinds(
            index=1 + GEN.rand(100),
            acid=GEN.randint(0, 10**6, 100),
            station_id=GEN.randint(0, 4, 100),
            grid=GEN.rand(100),
        )
        assert set(result.values()) == {"number"}

    def test_category_with_a_level_per_row(self):
        assert self.kinds(level=pd.Categorical([f"k{row}" for row in range(100)]))["level"] == "id"

    def test_whole_numbers_that_are_declared_levels(self):
        assert self.kinds(level=pd.Categorical(GEN.choice([1, 2, 3], 100)))["level"] == "category"

    def test_text_of_few_values(self):
        answers = np.array(["I agree with all of this", "I do not agree with any of this"])
        assert self.kinds(answer=answers[GEN.randint(2, size=100)])["answer"] == "category"

    def test_of_a_sample(self):
        """Rows that are sampled still know their number."""
        numbers = np.arange(1, 20_001)
        rows = np.column_stack([numbers, np.random.RandomState(0).permutation(numbers), 3 * numbers, GEN.randn(20_000)])
        description = jc.describe(rows)
        assert [column.kind for column in description.columns] == ["id", "number", "number", "number"]
        assert any("sample of 10,000 rows" in reason for reason in description.reasons)


def test_text_beside_an_id_is_documents():
    table = pd.DataFrame({"id": range(60), "review": frame()["review"]})
    assert jc.describe(table).kind == "documents"


def test_rows_elsewhere(tmp_path):
    X = np.random.RandomState(0).randn(500, 40)
    np.save(tmp_path / "X.npy", X)
    places = [
        torch.tensor(X),
        da.from_array(X, chunks=(100, 40)),
        np.load(tmp_path / "X.npy", mmap_mode="r"),
        X.tolist(),
    ]
    for place in places:
        assert jc.describe(place).kind == "features"


def test_annotated_data():
    counts = sp.csr_array(words(80))
    names = pd.DataFrame(index=[f"gene{number}" for number in range(80)])
    cells = types.SimpleNamespace(X=counts, obs=pd.DataFrame(index=range(N)), var=names)
    description = jc.describe(cells)
    assert description.kind == "counts"
    assert description.columns[3].name == "gene3"


def test_summary_is_short():
    assert len(str(jc.describe(GEN.randn(50, 5000))).splitlines()) < 10
    lines = str(jc.describe(frame())).splitlines()
    assert lines[0] == "mixed: 60 rows, 12 columns"
    assert any(line.strip() == "colour: category, 10% missing" for line in lines)


BAD = {
    "all missing": (np.full((5, 3), np.nan), "All cells"),
    "empty list": ([], "empty list"),
    "numbers among strings": (["a b", 3, "c"], "row 1 holds 3"),
    "infinite": (np.array([[1.0, 2.0], [np.inf, 3.0]]), "infinity, as in row 1 .*: correct it or make it a gap"),
    "infinite in a table": (pd.DataFrame({"a": [1.0, np.inf, 2.0]}), "infinity: column 'a' has inf in row 1"),
    "names twice": (pd.DataFrame(np.eye(3), columns=["a", "b", "a"]), "'a'"),
    "mixed types": (pd.DataFrame({"a": [1, "x", 2.5]}), "Column 'a' mixes types"),
    "one word": (pd.DataFrame({"a": ["word"] * 5}), "no column to compare rows by"),
    "ids alone": (pd.DataFrame({"id": [1, 2, 3]}), "no column to compare rows by"),
    "empty documents": (["", " "], "2 documents are empty"),
    "lists of two lengths": (pd.DataFrame({"a": [[1], [2], [3, 4]]}), "1 in the rows before, 2 in row 2"),
    "lists of words": (pd.DataFrame({"a": [[1], ["b"]]}), "not of numbers in row 1"),
    "empty lists": (pd.DataFrame({"a": [[], []], "b": [1.0, 2.0]}), "'a' holds empty lists"),
    "sets in a column": (pd.DataFrame({"a": [{1}, {2}]}), "Column 'a' holds"),
    "one dimension": (np.zeros(3), r"1 dimensions.*X.reshape"),
    "a series": (pd.Series(np.zeros(3)), r"1 dimensions.*X.to_frame"),
    "two levels": (
        pd.DataFrame(np.eye(4), columns=pd.MultiIndex.from_product([list("ab"), list("xy")])),
        r"\('a', 'x'\) has: join",
    ),
    "a file": ("rows.csv", "'rows.csv': if it names a file"),
    "a path": (Path("rows.csv"), "'rows.csv': if it names a file"),
    "no rows": (np.empty((0, 3)), "0 rows"),
    "one row": (np.eye(1), "n_samples=1"),
    "complex": (np.array([[1j]]), "Complex"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    X, message = BAD[name]
    with pytest.raises((TypeError, ValueError), match=message):
        jc.describe(X)


def test_a_sparse_matrix_is_not_changed(rng):
    """SciPy counts what is stored twice by adding it up, in place."""
    data, indices = rng.standard_normal(120), np.tile([0, 0, 1, 2], 30)
    X = sp.csr_array((data, indices, np.arange(0, 121, 4)), shape=(30, 5))
    before = X.data.copy(), X.indices.copy()
    jc.describe(X)
    np.testing.assert_array_equal(X.data, before[0])
    np.testing.assert_array_equal(X.indices, before[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jc.JointConsensus(2, views=None, trust=False, random_state=0).fit(X)
    np.testing.assert_array_equal(X.data, before[0])


SIZED = {
    "describe": jc.describe,
    "consensus": lambda X: jc.JointConsensus(2, trust=False).fit(X),
    "rows as they are": lambda X: jc.JointConsensus(2, views=None, trust=False).fit(X),
    "sparse": lambda X: jc.describe(sp.csr_array(np.where(GEN.rand(*X.shape) < 0.8, 0.0, X))),
    "table": lambda X: jc.describe(pd.DataFrame(X)),
    "number": jc.number_of_clusters,
    "imputer": lambda X: jc.LowRankImputer().fit(X),
    "encoder": lambda X: jc.MixedEncoder().fit(pd.DataFrame(X)),
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("size", [1e307, 1e200, 1e-200, 1e-307])
@pytest.mark.parametrize("use", SIZED.values(), ids=SIZED)
def test_numbers_without_squares_are_refused_by_name(use, size):
    """Neither an error of linear algebra, nor a warning of NumPy, nor all rows as one cluster."""
    X = np.vstack([GEN.rand(30, 2), 5 + GEN.rand(30, 2)]) / 10
    with pytest.raises(ValueError, match=f"of column .[x01]+. are too {'large' if size > 1 else 'small'}"):
        use(X * size)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_small_column_beside_others_is_none_to_refuse():
    X = np.vstack([GEN.rand(30, 4), 5 + GEN.rand(30, 4)]) * [1, 1, 1, 1e-60]
    assert np.bincount(jc.JointConsensus(2, trust=False, random_state=0).fit(X).labels_).tolist() == [30, 30]
