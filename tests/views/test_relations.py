"""Which columns depend on each other: the closed form against all permutations, and what users see of it."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri

import jointclust as jc
from jointclust.consensus.column_roles import column_roles
from jointclust.views.kinds import described
from jointclust.views.level_weights import level_weights
from jointclust.views.modes import has_modes
from jointclust.views.preparation import Preparation
from jointclust.views.relations import (
    Coded,
    _deviations,
    _Moments,
    coded_levels,
    coded_numbers,
    relations_of,
)


def kernel(*columns):
    return sum(column.values @ column.values.T for column in columns)


def moments(K):
    return _Moments(*(np.asarray(value) for value in (np.trace(K), np.sum(K**2), np.sum(np.diag(K) ** 2))))


def test_mean_and_variance_are_those_of_all_permutations(monkeypatch):
    """Of two matrices with unequal diagonals, by brute force."""
    gen = np.random.RandomState(0)
    one = kernel(coded_numbers(np.exp(gen.randn(7))), coded_levels(np.array([0, 0, 1, 2, 1, 0, 2])))
    two = kernel(coded_levels(np.array([0, 1, 1, 1, 1, 0, 1])), coded_numbers(gen.randn(7)))
    shuffled = [np.sum(one * two[np.ix_(order, order)]) for order in map(list, permutations(range(7)))]
    values = {}
    monkeypatch.setattr(
        "jointclust.views.relations.gammaincc",
        lambda shape, x: values.update(shape=shape) or np.full_like(shape, 1e-300),
    )
    # Far out in the tail deviations are plain: (total - mean) / root of the variance.
    mean, spread = np.mean(shuffled), np.std(shuffled)
    total = mean + 3 * spread
    assert _deviations(np.asarray(total), moments(one), moments(two), 7) == pytest.approx(3, abs=1e-9)
    assert values["shape"] == pytest.approx(mean**2 / spread**2, rel=1e-9)


def random_columns(gen, n):
    """Numbers and categories of many kinds, independent of each other."""
    return [
        coded_numbers(gen.randn(n)),
        coded_numbers(np.exp(2 * gen.randn(n))),
        coded_numbers(gen.poisson(0.3, n).astype(float)),
        coded_levels(gen.randint(2, size=n)),
        coded_levels(gen.randint(60, size=n)),
        coded_levels(np.minimum(gen.geometric(0.4, n), 9) - 1),
    ]


def test_independent_columns_are_seldom_related():
    gen = np.random.RandomState(0)
    result = np.array([relations_of(random_columns(gen, n)).related for n in (50, 150, 600) * 40])
    assert 0.005 < np.mean(result > ndtri(0.95)) < 0.09
    assert np.mean(result > 2.5) < 0.03


def test_gaps_in_the_same_rows_are_no_relation():
    gen = np.random.RandomState(1)
    n, result = 300, []
    for _ in range(40):
        gaps = gen.rand(n) < 0.6
        rows = [np.where(gaps, np.nan, gen.randn(n)) for _ in range(4)]
        result.append(
            relations_of([*map(coded_numbers, rows), coded_levels(np.where(gaps, -1, gen.randint(4, size=n)))])
        )
    assert np.mean([one.related > 2.5 for one in result]) < 0.04


def planted(n=400, seed=0):
    """Three clusters in four numbers and a category; a city with its country; a coin and a score."""
    gen = np.random.RandomState(seed)
    y = gen.randint(3, size=n)
    city = gen.choice(["Graz", "Linz", "Bern", "Genf"], n)
    table = pd.DataFrame({f"n{j}": gen.randn(n) + 3 * gen.randn(3)[y] for j in range(4)})
    table["kind"] = np.array(["a", "b", "c"])[np.where(gen.rand(n) < 0.7, y, gen.randint(3, size=n))]
    country = pd.Series(city).map({"Graz": "AT", "Linz": "AT", "Bern": "CH", "Genf": "CH"})
    return table.assign(city=city, country=country, coin=gen.choice(["up", "down"], n), score=gen.rand(n)), y


def test_groups_in_any_order_of_rows_and_columns():
    table, _ = planted()
    description = jc.describe(table)
    assert [column.name for column in description.columns if column.used] == ["n0", "n1", "n2", "n3", "kind"]
    assert description.groups == [["city", "country"]]
    gen = np.random.RandomState(3)
    other = jc.describe(table.iloc[gen.permutation(len(table)), gen.permutation(table.shape[1])])
    before, after = ({column.name: column for column in one.columns} for one in (description, other))
    for name, column in before.items():
        assert after[name].used == column.used
        assert after[name].related == pytest.approx(column.related, abs=1e-6)
    assert sorted(other.groups[0]) == ["city", "country"]


def test_rows_written_again_tell_nothing_new():
    table, _ = planted(150)
    assert jc.describe(pd.concat([table] * 8)).used.tolist() == jc.describe(table).used.tolist()


def test_names_say_nothing():
    table, _ = planted()
    renamed = table.set_axis([f"c{j}" for j in range(table.shape[1])], axis=1)
    assert jc.describe(renamed).used.tolist() == jc.describe(table).used.tolist()


def test_many_weak_links_are_a_link():
    """Each coin depends on each number a little; no pair of columns alone would show it."""
    gen = np.random.RandomState(0)
    factor = gen.randn(300)
    numbers = [0.5 * factor + gen.randn(300) for _ in range(12)]
    coins = [(0.35 * factor + gen.randn(300) > 0).astype(int) for _ in range(4)]
    result = relations_of([*map(coded_numbers, numbers), *map(coded_levels, coins)])
    assert len(result.groups) == 1
    assert result.pairs[12:, :12].max() < 5


def test_the_main_group_is_not_the_one_of_copies():
    """A city, with four columns that say the same, against three numbers."""
    gen = np.random.RandomState(0)
    y, city = gen.randint(3, size=300), gen.randint(12, size=300)
    numbers = [coded_numbers(gen.randn(300) + 2 * gen.randn(3)[y]) for _ in range(3)]
    cities = [coded_levels(city // divisor) for divisor in (1, 1, 2, 3, 6)]
    assert relations_of([*cities, *numbers]).groups == [[5, 6, 7], [0, 1, 2, 3, 4]]


def test_dependence_in_spread_alone():
    gen = np.random.RandomState(0)
    wide = gen.rand(400) < 0.5
    rows = [gen.randn(400) * np.where(wide, 6, 1) for _ in range(3)]
    assert relations_of([coded_numbers(row) for row in rows]).groups == [[0, 1, 2]]


def test_codes_have_one_size():
    codes = np.array([0, 0, 1, 2, 2, 2, -1, 1])
    result = coded_levels(codes)
    expected = pd.get_dummies(pd.Series(codes).where(codes >= 0)).to_numpy(float)[codes >= 0]
    shares = expected.mean(axis=0)
    own = result.values[result.present] * np.sqrt(7 / 8)
    np.testing.assert_allclose(np.sort(own @ own.T), np.sort(((expected - shares) / shares) @ (expected - shares).T))
    assert not result.values[~result.present].any()
    assert coded_numbers(np.array([1.0, 1.0, np.nan])).values.shape == (3, 0)
    assert isinstance(coded_numbers(np.arange(9.0)), Coded)


@pytest.mark.parametrize("values", [lambda g: g.randn(500), lambda g: g.rand(500), lambda g: np.exp(g.randn(500))])
def test_one_mode(values):
    assert not any(has_modes(values(np.random.RandomState(seed))) for seed in range(20))


def test_unrelated_with_modes_is_told():
    table, _ = planted()
    gen = np.random.RandomState(0)
    table["modes"] = gen.randn(len(table)) + 8 * gen.randint(2, size=len(table))
    column = jc.describe(table).columns[-1]
    assert not column.used
    assert "several modes of its own" in column.why


def test_weights_of_levels():
    """Canonical correlations with the leading directions of the others, by least squares."""
    table, _ = planted(300, seed=1)
    prepared = Preparation("as is", columns=["n0", "n1", "kind", "city"]).fit(table)
    coded, numeric = prepared.encode(table), prepared.numeric_
    columns = prepared._columns_of_codes(prepared.encoder_)
    weights = level_weights(coded, columns, numeric, ~numeric)
    kind = columns[~numeric] == 2
    assert np.linalg.norm(weights[np.ix_(~kind, ~kind)]) < 0.5 < np.linalg.norm(weights[np.ix_(kind, kind)])
    assert not weights[np.ix_(kind, ~kind)].any()
    other = [ndtri((coded[:, [j]].argsort(axis=0).argsort(axis=0) + 0.5) / 300) for j in (0, 1)]
    city = coded[:, columns == 3]
    others = np.hstack([*(one / one.std() for one in other), city / np.sqrt(city.var(axis=0).sum())])
    U = np.linalg.svd(others - others.mean(axis=0), full_matrices=False)[0][:, :5]
    Z = coded[:, columns == 2]
    A, rho, _ = np.linalg.svd(Z.T @ U / np.sqrt(300), full_matrices=False)
    shrunk = np.sqrt(np.maximum(rho**2 - 5 / 300, 0))
    np.testing.assert_allclose(weights[np.ix_(kind, kind)], (A * np.sqrt(shrunk)) @ A.T, atol=1e-6)


class TestUsers:
    def test_default(self):
        table, y = planted()
        with pytest.warns(UserWarning, match=r"'coin', 'score' are not used.*columns=\['city', 'country'\]"):
            model = jc.JointConsensus(3, trust=False, random_state=0).fit(table)
        assert jc.metrics.clustering_accuracy(y, model.labels_) > 0.95
        roles = {column["name"]: column for column in model.columns_}
        assert set(roles["n0"]) == {"name", "kind", "used", "related", "why", "drives"}
        assert roles["n1"]["used"]
        assert roles["n1"]["drives"] > 0.5 > 0.05 > roles["score"]["drives"]
        assert "country" in roles["city"]["why"]

    def test_predict_asks_for_the_columns_that_are_used(self, tmp_path):
        table, _ = planted()
        with pytest.warns(UserWarning, match="not used"):
            model = jc.JointConsensus(3, trust=False, random_state=0).fit(table)
        jc.save(model, tmp_path / "model.skops")
        for one in (model, jc.load(tmp_path / "model.skops")):
            some = table.drop(columns=["city", "country", "coin"])
            np.testing.assert_array_equal(one.predict(some), model.labels_)
            with pytest.raises(ValueError, match="n2"):
                one.predict(table.drop(columns="n2"))
            with pytest.raises(ValueError, match="order"):
                one.predict(table[table.columns[::-1]])

    def test_columns_that_users_name(self):
        table, _ = planted()
        with pytest.warns(jc.ColumnWarning, match="'city'"):
            model = jc.cluster(table, 4, random_state=0, columns=["city", "score"])
        assert [column["name"] for column in model.columns_ if column["used"]] == ["city", "score"]
        assert model.columns_[5]["drives"] == pytest.approx(1)
        every = jc.JointConsensus(3, trust=False, columns="all", effort="quick", random_state=0).fit(table)
        assert all(column["used"] for column in every.columns_)
        with pytest.raises(ValueError, match="columns names 'town', which X lacks"):
            jc.JointConsensus(3, trust=False, columns=["town"]).fit(table)
        with pytest.raises(ValueError, match="empty list"):
            jc.JointConsensus(3, trust=False, columns=[]).fit(table)

    def test_a_category_beside_noise(self):
        gen = np.random.RandomState(0)
        table = pd.DataFrame(gen.randn(300, 3)).assign(kind=gen.choice(list("abc"), 300))
        table.columns = table.columns.astype(str)
        with pytest.warns(jc.ColumnWarning, match="'kind'"), pytest.warns(UserWarning, match="no columns depend"):
            jc.JointConsensus(3, trust=False, random_state=0).fit(table)

    @pytest.mark.parametrize("n_towns", [4, 12])
    @pytest.mark.parametrize("is_copy", [False, True])
    def test_a_column_that_shows_the_clusters_too_is_no_copy(self, is_copy, n_towns):
        """Degrees of two axes each part the towns; a number in other units says nothing of its own."""
        gen = np.random.RandomState(0)
        labels = np.arange(480) % n_towns
        places = np.column_stack([gen.permutation(n_towns), np.arange(n_towns)])[labels] + 0.05 * gen.randn(480, 2)
        if is_copy:
            places[:, 0] = 1.8 * places[:, 1] + 32 + 0.005 * gen.randn(480)
        looked_at = described(pd.DataFrame(places, columns=["lat", "lon"]), "all")
        assert (column_roles(looked_at, labels).decisive is not None) == is_copy

    @pytest.mark.parametrize("names", [["n0"], ["kind"], ["n0", "score"], ["kind", "city"]], ids=str)
    def test_few_columns(self, names):
        table, _ = planted()
        assert jc.describe(table[names]).used.all()

    def test_wide_rows_are_not_tested(self):
        X = np.random.RandomState(0).randn(100, 60)
        description = jc.describe(X)
        assert description.kind == "features"
        assert description.used.all()
        assert np.isnan(description.columns[0].related)
