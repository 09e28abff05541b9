"""Ingredients of tables: what spoils columns of numbers, and the columns of mixed tables."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from jointclust.judge.plan import Floats, Ints, Plan, Rng, log_uniform

if TYPE_CHECKING:
    import pandas as pd

Column: TypeAlias = Sequence | NDArray
Rows: TypeAlias = "NDArray | sparse.csr_array | list[str] | pd.DataFrame"


# What spoils columns of numbers.


def noise_columns(rng: Rng, X: Floats) -> Floats:
    """Columns that say nothing, up to as many as the others."""
    return np.c_[X, rng.normal(size=(len(X), int(rng.integers(1, max(2, X.shape[1] + 1))))) * X.std()]


def nuisance_directions(rng: Rng, X: Floats) -> Floats:
    """Strong directions without clusters that many columns share."""
    m = int(rng.integers(1, 6))
    shared = rng.normal(size=(len(X), m)) * np.exp(rng.normal(0, 0.7, m))
    return X + shared @ rng.normal(size=(m, X.shape[1])) * X.std(0) * rng.uniform(0.1, 1)


def nuisance_curve(rng: Rng, X: Floats) -> Floats:
    """Two to four more columns that follow a curve: structure, and no clusters."""
    t = rng.uniform(0, 1, len(X))[:, None]
    m = int(rng.integers(2, 5))
    curve = np.sin(2 * np.pi * t * rng.uniform(0.3, 1.2, m) + rng.uniform(0, 6, m))
    return np.c_[X, (curve + rng.normal(0, 0.1, curve.shape)) * X.std()]


def batches(rng: Rng, X: Floats) -> Floats:
    """Rows measured in two to four batches: some columns are shifted in each."""
    batch = rng.integers(int(rng.integers(2, 5)), size=len(X))
    shift = rng.normal(size=(batch.max() + 1, X.shape[1])) * (rng.random(X.shape[1]) < rng.uniform(0.2, 1))
    return X + shift[batch] * X.std(0) * rng.uniform(0.1, 0.7)


def second_grouping(rng: Rng, X: Floats) -> Floats:
    """A weaker grouping in other columns, fewer than the first one has."""
    m = max(1, X.shape[1] // 4)
    group = rng.integers(int(rng.integers(2, 5)), size=len(X))
    other = rng.normal(size=(group.max() + 1, m)) * rng.uniform(1, 2)
    return np.c_[X, (other[group] + rng.normal(size=(len(X), m))) * X.std() * 0.5]


def skewed_columns(rng: Rng, X: Floats) -> Floats:
    """Some columns are exponentials: incomes, concentrations, durations."""
    some = rng.random(X.shape[1]) < rng.uniform(0.2, 1)
    scaled = (X - X.mean(0)) / np.maximum(X.std(0), 1e-9)
    return np.where(some, np.exp(scaled * rng.uniform(0.3, 1.2)), X)


def rounded(rng: Rng, X: Floats) -> Floats:
    """All columns in few steps: rounding, and ties."""
    return np.round((X - X.min(0)) / (np.ptp(X, 0) + 1e-9) * rng.integers(3, 40))


def few_values(rng: Rng, X: Floats) -> Floats:
    """Some columns are grades of two to five values."""
    some = rng.random(X.shape[1]) < rng.uniform(0.1, 0.7)
    steps = rng.integers(1, 5, X.shape[1])
    scaled = np.clip((X - X.mean(0)) / np.maximum(X.std(0), 1e-9) / 4 + 0.5, 0, 1)
    return np.where(some, np.round(scaled * steps), X)


def one_hot(rng: Rng, X: Floats) -> Floats:
    """A category that somebody has written as columns of 0 and 1."""
    levels = int(rng.integers(2, 9))
    level = rng.choice(levels, len(X), p=rng.dirichlet(np.full(levels, 3.0)))
    if rng.random() < 0.5:  # levels of one of the columns
        column = X[:, rng.integers(X.shape[1])] + rng.normal(size=len(X)) * X.std() * 0.3
        level = np.searchsorted(np.quantile(column, np.arange(1, levels) / levels), column)
    return np.c_[X, np.eye(levels)[level] * X.std()]


def constant_columns(rng: Rng, X: Floats) -> Floats:
    """Columns with one value, or nearly so."""
    flat = np.full((len(X), int(rng.integers(1, 4))), X.mean())
    flat[rng.random(flat.shape) < 0.01] += X.std()
    return np.c_[X, flat]


def near_copies(rng: Rng, X: Floats) -> Floats:
    """Columns that repeat others: sums, other units, the same thing measured twice."""
    chosen = rng.integers(X.shape[1], size=int(rng.integers(1, max(2, X.shape[1] // 2 + 1))))
    return np.c_[X, X[:, chosen] + rng.normal(size=(len(X), len(chosen))) * X[:, chosen].std(0) * rng.uniform(0, 0.3)]


def wild_cells(rng: Rng, X: Floats) -> Floats:
    """A few cells far off: slips of the pen, broken sensors."""
    wild = rng.random(X.shape) < rng.uniform(0.0005, 0.01)
    return X + wild * rng.normal(size=X.shape) * X.std(0) * 10


def units(rng: Rng, X: Floats) -> Floats:
    """Columns in units of their own, from millimetres to millions."""
    scale = 10 ** rng.uniform(-2, 3, X.shape[1])
    return X * scale + scale * rng.normal(0, 3, X.shape[1])


def gaps(rng: Rng, X: Floats) -> Floats:
    """Cells that are missing at random."""
    return np.where(rng.random(X.shape) < rng.uniform(0.005, 0.15) * rng.random(X.shape[1]) * 2, np.nan, X)


def gaps_of_large(rng: Rng, X: Floats) -> Floats:
    """Cells that are missing because they are large, in some columns."""
    some = rng.random(X.shape[1]) < 0.3
    likely = 1 / (1 + np.exp(-3 * ((X - X.mean(0)) / np.maximum(X.std(0), 1e-9) - 1)))
    return np.where(some & (rng.random(X.shape) < 0.4 * likely), np.nan, X)


def sentinels(rng: Rng, X: Floats) -> Floats:
    """Gaps written as -999, in some columns."""
    some = rng.random(X.shape[1]) < 0.3
    return np.where(some & (rng.random(X.shape) < rng.uniform(0.01, 0.1)), -999, X)


COLUMNS: dict[Callable[[Rng, Floats], Floats], float] = {
    noise_columns: 0.25,
    nuisance_directions: 0.25,
    nuisance_curve: 0.05,
    batches: 0.04,
    second_grouping: 0.04,
    near_copies: 0.1,
    skewed_columns: 0.2,
    few_values: 0.1,
    one_hot: 0.06,
    rounded: 0.15,
    wild_cells: 0.08,
    constant_columns: 0.04,
    units: 0.5,
    gaps: 0.05,
    gaps_of_large: 0.03,
    sentinels: 0.03,
}
# They plant clusters of their own: not where there is nothing, or where the answer is hard to see beside them.
RIVALS = (batches, second_grouping)


def spoiled(rng: Rng, plan: Plan, X: Floats, without: Sequence[Callable] = ()) -> Floats:
    """Columns with what real tables have besides the clusters."""
    for ingredient, chance in COLUMNS.items():
        rival = ingredient in RIVALS and plan.apart < 3
        if ingredient not in without and not rival and plan.has(rng, chance, ingredient.__name__):
            X = ingredient(rng, X)
    return X


def repeated_rows(rng: Rng, plan: Plan, X: Rows, y: Ints) -> tuple[Rows, Ints]:
    """Some rows are there twice or more often."""
    if not plan.has(rng, 0.05, "repeated_rows"):
        return X, y
    again = rng.permutation(np.r_[np.arange(len(y)), rng.integers(len(y), size=int(len(y) * rng.uniform(0.02, 0.3)))])
    if isinstance(X, list):
        return [X[row] for row in again], y[again]
    return (X[again] if isinstance(X, np.ndarray) or sparse.issparse(X) else X.iloc[again].reset_index(drop=True)), y[
        again
    ]


# Columns of a mixed table, from one direction each.


def amount(rng: Rng, z: Floats) -> Column:
    """Money: exponential, in cents or in thousands."""
    return np.round(np.exp(z * rng.uniform(0.3, 1) + rng.uniform(2, 8)), int(rng.choice([2, 0, -2])))


def measure(rng: Rng, z: Floats) -> Column:
    """A number with a unit, rounded."""
    return np.round(z * 10 ** rng.uniform(-1, 3) + 10 ** rng.uniform(0, 3), int(rng.integers(0, 4)))


def age(rng: Rng, z: Floats) -> Column:
    """Whole numbers within limits."""
    return np.clip(np.round(z * 14 + 45), 18, 99).astype(int)


def tally(rng: Rng, z: Floats) -> Column:
    """How often: a Poisson count."""
    return rng.poisson(np.exp(np.clip(z * rng.uniform(0.4, 1) + rng.normal(0.5, 1), -8, 8)))


def grade(rng: Rng, z: Floats) -> Column:
    """Marks from 1 to 3, 5 or 10."""
    top = int(rng.choice([3, 5, 10]))
    return np.clip(np.round((z / 3.5 + 0.5) * top + 0.5), 1, top).astype(int)


def flag(rng: Rng, z: Floats) -> Column:
    """Yes and no, in one of the ways that people write it."""
    yes = z + rng.logistic(0, 0.3, len(z)) > rng.normal(0, 0.7)
    no_yes = [np.array(["no", "yes"], dtype=object), np.array([0, 1]), np.array([False, True])]
    return no_yes[rng.integers(3)][yes.astype(int)]


def band(rng: Rng, z: Floats) -> Column:
    """A number that somebody has cut into named classes."""
    levels = int(rng.integers(3, 7))
    names = np.array([f"class {letter}" for letter in string.ascii_uppercase[:levels]], dtype=object)
    return names[np.searchsorted(np.sort(rng.normal(0, 0.8, levels - 1)), z)]


def since(rng: Rng, z: Floats) -> Column:
    """A date that tells as much as a number does."""
    return np.datetime64("2021-03-01") + (z * rng.uniform(60, 400)).astype("timedelta64[D]")


INFORMATIVE = (amount, measure, measure, age, tally, grade, flag, band, since)
INFORMATIVE_CHANCES = np.array([4, 4, 2, 2, 3, 2, 1.5, 1, 0.4]) / 19.9


def category(rng: Rng, plan: Plan) -> Column:
    """Levels that go with the parts: from nearly the part itself to hardly anything."""
    levels = int(np.clip(rng.integers(2, 9), 2, None))
    own = rng.permutation(np.arange(plan.n_parts) % levels)
    sure = rng.uniform(0.1, np.clip(plan.apart / 8, 0.2, 0.97))
    chances = (1 - sure) * rng.dirichlet(np.full(levels, 2.0), plan.n_parts)
    chances[np.arange(plan.n_parts), own] += sure
    return level_names(rng, levels)[drawn_levels(rng, chances[plan.part])]


def code(rng: Rng, plan: Plan) -> Column:
    """A code of many levels, weakly related to the parts."""
    levels, related = int(log_uniform(rng, 6, 60)), rng.uniform(0, 0.5)
    chances = related * rng.dirichlet(np.ones(levels), plan.n_parts) + (1 - related) * rng.dirichlet(
        np.full(levels, 2.0)
    )
    names = np.array([f"C{level:03d}" for level in rng.permutation(1000)[:levels]], dtype=object)
    return names[drawn_levels(rng, chances[plan.part])]


def level_names(rng: Rng, levels: int) -> NDArray:
    """Names of levels, all different; numbers with leading zeros, too."""
    if rng.random() < 0.1:
        return np.array([f"{number:05d}" for number in rng.permutation(20_000)[:levels]], dtype=object)
    return np.array([f"{name}{level}" for level, name in enumerate(spelled(rng, levels))], dtype=object)


def drawn_levels(rng: Rng, chances: Floats) -> Ints:
    """A level for each row, from the chances of its levels."""
    reached = np.cumsum(chances, axis=1)
    return np.minimum((reached < rng.random((len(chances), 1))).sum(1), chances.shape[1] - 1)


# Columns that say nothing.


def identifier(rng: Rng, n: int) -> Column:
    """A different name for each row."""
    first, step = int(rng.integers(1000, 9000)), int(rng.integers(1, 8))
    return [f"K{first + step * row:07d}" for row in range(n)]


def running_number(rng: Rng, n: int) -> Column:
    """Row numbers."""
    return np.arange(n) + int(rng.integers(2))


def person(rng: Rng, n: int) -> Column:
    """Names of people, some twice."""
    given, family = spelled(rng, 60), spelled(rng, 200)
    return [
        f"{given[a].title()} {family[b].title()}"
        for a, b in zip(*rng.integers([[60], [200]], size=(2, n)), strict=True)
    ]


def day(rng: Rng, n: int) -> Column:
    """Dates of the last years."""
    return np.datetime64("2022-01-01") + rng.integers(0, 1400, n).astype("timedelta64[D]")


def town(rng: Rng, n: int) -> Column:
    """A category that has nothing to do with the clusters."""
    levels = int(rng.integers(2, 15))
    return level_names(rng, levels)[rng.choice(levels, n, p=rng.dirichlet(np.full(levels, 2.0)))]


def remark(rng: Rng, n: int) -> Column:
    """One of a few standard remarks, and mostly none."""
    said = np.array([*(f"{name} ok" for name in spelled(rng, 12)), None], dtype=object)
    return said[np.where(rng.random(n) < 0.25, rng.integers(12, size=n), 12)]


def noise_number(rng: Rng, n: int) -> Column:
    """A number that has nothing to do with the clusters."""
    return np.round(rng.normal(100, 15, n) if rng.random() < 0.5 else rng.gamma(1.5, 30, n), 1)


def empty(rng: Rng, n: int) -> Column:
    """A column that nobody fills in."""
    return np.full(n, np.nan)


def constant(rng: Rng, n: int) -> Column:
    """One value in all rows."""
    return np.full(n, "EUR", dtype=object)


def coin(rng: Rng, n: int) -> Column:
    """A truth value that has nothing to do with the clusters."""
    return rng.random(n) < rng.uniform(0.1, 0.9)


SILENT: dict[Callable[[Rng, int], Column], float] = {
    identifier: 0.4,
    running_number: 0.15,
    person: 0.12,
    day: 0.3,
    town: 0.35,
    remark: 0.1,
    noise_number: 0.4,
    empty: 0.1,
    constant: 0.12,
    coin: 0.2,
}


def frame_of(rng: Rng, columns: dict[str, Column], missing: float) -> pd.DataFrame:
    """Named columns in any order as a data frame, some of them with gaps."""
    import pandas as pd

    order = rng.permutation(len(columns))
    names = list(columns)
    table = pd.DataFrame({names[column]: columns[names[column]] for column in order})
    if missing:
        for name in table.columns[rng.random(table.shape[1]) < 0.4]:
            table[name] = table[name].mask(rng.random(len(table)) < missing * rng.random() * 2)
    return table


def town_and_country(rng: Rng, n: int) -> dict[str, Column]:
    """Two categories that go with each other, and with nothing else."""
    towns = int(rng.integers(5, 25))
    town = rng.choice(towns, n, p=rng.dirichlet(np.full(towns, 2.0)))
    countries = level_names(rng, 4)[rng.integers(4, size=towns)]
    return {"place": level_names(rng, towns)[town], "country": countries[town]}


def sizes_of_things(rng: Rng, n: int) -> dict[str, Column]:
    """Two or three numbers that go with each other, and with nothing else."""
    size, m = rng.normal(size=n), int(rng.integers(2, 4))
    return {f"size_{j}": np.round(50 + 10 * (size + rng.normal(0, 0.4, n)), 1) for j in range(m)}


RELATED: dict[Callable[[Rng, int], dict[str, Column]], float] = {town_and_country: 0.12, sizes_of_things: 0.12}


def silent_columns(rng: Rng, plan: Plan) -> dict[str, Column]:
    """Columns that say nothing of the clusters, by name."""
    chosen = [make for make, chance in SILENT.items() if plan.has(rng, chance, make.__name__)]
    columns = {make.__name__: make(rng, plan.n) for make in chosen}
    for related, chance in RELATED.items():
        if plan.has(rng, chance, related.__name__):
            columns |= related(rng, plan.n)
    return columns


def spelled(rng: Rng, n: int) -> list[str]:
    """So many words that nobody has read before; the same word may come twice."""
    syllables = np.array([c + v + e for c in "bdfgklmnprstvz" for v in "aeiou" for e in ("", "n", "r", "l")])
    first, second, third = syllables[rng.integers(len(syllables), size=(3, n))]
    return [a + b + c * (row % 3 == 0) for row, (a, b, c) in enumerate(zip(first, second, third, strict=True))]
