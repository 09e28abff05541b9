"""Columns that are named beside those that depend on each other."""

import numpy as np
import pandas as pd
import pytest

import jointclust as jc
from jointclust.views.kinds import described
from jointclust.views.preparation import Preparation


@pytest.fixture
def table(rng):
    kind = rng.randint(0, 2, 200)
    city = rng.permutation(np.arange(200) % 4)
    numbers = {name: 4.0 * kind + rng.standard_normal(200) for name in ("a", "b")}
    levels = {"city": np.array(list("wxyz"))[city], "country": np.array(["n", "s"])[city // 2]}
    return pd.DataFrame(
        numbers | {"hue": np.where(rng.rand(200) < 0.8, np.array(["red", "blue"])[kind], "red")} | levels
    )


def test_named_columns_join_the_related_ones(table):
    result = described(table, ["related", "city"]).description
    assert [column.name for column in result.columns if column.used] == ["a", "b", "hue", "city"]
    assert result.groups == [], "country is no grouping without city"
    assert "'city', which you named" in next(column.why for column in result.columns if column.name == "country")
    table = table.rename(columns={"country": "related"})
    assert [one.name for one in described(table, ["related", "city"]).description.columns if one.used] == [
        "city",
        "related",
    ]


def test_levels_of_named_columns_count_in_full(table):
    """Those of others as far as other columns go with them."""
    view = Preparation("as is", ["related", "city"]).fit(table)
    names = view.coded_names()
    is_city = np.array([name.startswith("city") for name in names])
    rows, coded = view.transform(table), view.encode(table)
    np.testing.assert_allclose(rows[:, is_city], coded[:, is_city])
    is_hue = np.array([name.startswith("hue") for name in names])
    assert np.linalg.norm(rows[:, is_hue]) < 0.99 * np.linalg.norm(coded[:, is_hue])


def test_a_name_of_each_row_is_refused(table):
    table["name"] = [f"row {number}" for number in range(len(table))]
    with pytest.raises(ValueError, match="'name' has a value of its own in each row"):
        jc.JointConsensus(2, columns=["related", "name"]).fit(table)
