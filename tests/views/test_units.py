"""The unit of a column is part of a model: new rows in another one are converted where that is sure, else refused."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

import jointclust as jc
from jointclust.cli.preparing import by_name
from jointclust.readers import Columns, read
from jointclust.views.kinds import describe
from jointclust.views.stored import StoredTable
from jointclust.views.units import in_unit

GEN = np.random.RandomState(0)
GROUPS = GEN.randint(3, size=300)
SHARES = np.clip(20 + 30 * GROUPS + 5 * GEN.randn(300), 1, 99).round(1)
OTHERS = {"one": (GEN.randn(300) + 4 * GROUPS).round(3), "two": (GEN.randn(300) - 4 * GROUPS).round(3)}
NUMBERS = {
    "points": SHARES,
    "shares": SHARES / 100,
    "per cents": [f"{value}%" for value in SHARES],
    "points as text": [str(value) for value in SHARES],
    "euros": [f"{value} €" for value in SHARES],
    "dollars": [f"${value}" for value in SHARES],
}
TRUE = GROUPS == 1
TRUTHS = {
    "booleans": TRUE,
    "objects": TRUE.astype(object),
    "1 and 0": TRUE.astype(int),
    "yes and no": np.where(TRUE, "yes", "no"),
    "TRUE and FALSE": np.where(TRUE, "TRUE", "FALSE"),
    "1 and 0 as text": np.where(TRUE, "1", "0"),
}


def table(column):
    return pd.DataFrame({"p": column, **OTHERS})


def fitted(column):
    return jc.JointConsensus(3, columns="all", effort="quick", trust=False, random_state=0).fit(table(column))


MODELS = {name: fitted(column) for name, column in (NUMBERS | TRUTHS).items()}
SAME = [
    ("points", "per cents"),
    ("points", "points as text"),
    ("points", "euros"),
    ("points as text", "per cents"),
    ("shares", "per cents"),
    ("per cents", "points"),
    ("per cents", "points as text"),
    ("euros", "points"),
    *((fit, new) for fit in TRUTHS for new in TRUTHS),
]


@pytest.mark.parametrize(("fit", "new"), SAME)
def test_the_same_rows_in_other_units(fit, new):
    """All of them together, and where the unit shows in each row, one by one."""
    model, rows = MODELS[fit], table((NUMBERS | TRUTHS)[new])
    np.testing.assert_array_equal(model.predict(rows), model.labels_)
    if fit in TRUTHS or fit == "points":
        for row in range(0, 300, 60):
            assert model.predict(rows.iloc[[row]])[0] == model.labels_[row]


@pytest.mark.parametrize(
    ("fit", "new", "said"),
    [
        ("euros", "dollars", r"'p' holds amounts in \$, and held amounts in €"),
        ("euros", "per cents", "'p' holds per cents, and held amounts in €"),
        ("per cents", "shares", "'p' holds plain numbers, and held per cents"),
        ("points", "yes and no", "'p' holds what is true or false, and held plain numbers"),
        ("yes and no", "points", r"'p' held what is true or false, and holds \d"),
    ],
)
def test_what_is_not_sure_is_refused_by_name(fit, new, said):
    with pytest.raises(ValueError, match=said):
        MODELS[fit].predict(table((NUMBERS | TRUTHS)[new]))


@pytest.mark.parametrize("fit", ["booleans", "yes and no", "TRUE and FALSE"])
@pytest.mark.parametrize("other", [2, 0.5, "2"])
def test_two_is_neither_true_nor_false(fit, other):
    column = pd.Series(TRUE.astype(int)).astype(object)
    column[7] = other
    column = column if other != "2" else column.astype(str)
    with pytest.raises(ValueError, match="'p' held what is true or false"):
        MODELS[fit].predict(table(column))


def test_a_few_small_per_cents_may_be_shares_or_points():
    """Of a column of shares: 0.5% may be meant as it says, or as half."""
    with pytest.raises(ValueError, match="'p' holds per cents, and held plain numbers"):
        MODELS["shares"].predict(table(NUMBERS["per cents"]).iloc[:1].assign(p="0.5%"))


def test_columns_of_one_scale_know_their_units_too():
    X = pd.DataFrame(GEN.rand(60, 30) + 3 * (np.arange(60) % 2)[:, None]).add_prefix("x").round(3)
    assert describe(X).kind == "features"
    model = jc.JointConsensus(2, effort="quick", trust=False, random_state=0).fit(X)
    with pytest.raises(ValueError, match="'x3' holds per cents, and held plain numbers"):
        model.predict(X.assign(x3=[f"{100 * value:.1f}%" for value in X["x3"]]))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_are_as_tables(tmp_path, ending):
    """Readers make numbers of per cents, and truths of yes and no: the sign goes with the numbers."""
    for fit, new in SAME:
        path = tmp_path / f"new.{ending}"
        rows = table((NUMBERS | TRUTHS)[new])
        (rows.to_parquet if ending == "parquet" else partial(rows.to_csv, index=False))(path)
        kinds = {"p": "boolean" if fit in TRUTHS and fit[0] != "1" and fit != "objects" else "number"}
        kept = read(path, kinds=kinds | dict.fromkeys(OTHERS, "number"), categories="keep", missing="keep", decimal=".")
        data = by_name(kept).data
        np.testing.assert_array_equal(MODELS[fit].predict(data), MODELS[fit].labels_)


def test_a_stored_table_keeps_signs(tmp_path):
    numbers = Columns({"p": SHARES / 100, "q": SHARES}, {"p": "%"})
    stored = StoredTable.of(numbers)
    assert [stored.column(place).unit for place in (0, 1)] == ["%", ""]
    assert stored.take(np.arange(3)).column(0).unit == numbers.select(["p"]).take(np.arange(3)).column(0).unit == "%"
    with pytest.raises(TypeError, match="'p' holds numbers of another unit"):
        stored.joined(StoredTable.of(Columns({"p": SHARES, "q": SHARES})))


def test_in_unit():
    values, usual = np.array([20.0, np.nan, 60.0]), (50.0, 20.0)
    np.testing.assert_array_equal(in_unit(values / 100, "%", "", "p", usual), values)
    np.testing.assert_array_equal(in_unit(values, "", "%", "p", (0.5, 0.2)), values / 100)
    np.testing.assert_array_equal(in_unit(values, "", "", "p", usual), values)
    with pytest.raises(ValueError, match="'p' holds per cents, and held plain numbers"):
        in_unit(values, "%", "", "p", usual)
