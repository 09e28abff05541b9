"""Draws data sets as people bring them, with the clusters planted in them: what the judge learns from.

A `Plan` says which cluster and which part of it each row belongs to, and how far clusters are apart. A kind of data
(`KINDS`) makes rows of a plan, and ingredients (lists of chances beside the kinds) spoil them as real data are spoiled.
All is drawn from one seed; `Planted.note` says what was drawn.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

if TYPE_CHECKING:
    import pandas as pd

Rng = np.random.Generator
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Column = Sequence | NDArray
Rows: TypeAlias = "NDArray | sparse.csr_array | list[str] | pd.DataFrame"


@dataclass(frozen=True)
class Planted:
    """A data set and its planted answer.

    ``X`` is an array, a CSR array of counts, a list of documents or a pandas data frame. ``y`` is the planted cluster
    of each row, -1 for rows that belong to none; all 0 where nothing is planted. ``kind`` names the kind of data, and
    ``note`` says what was drawn; ``note["ingredients"]`` names the ingredients.
    """

    X: Rows
    y: Ints
    kind: str
    note: dict[str, object]


@dataclass(frozen=True)
class Plan:
    """What is planted: the part of each row, the class of each part, and which of the two are the answer."""

    part: Ints
    owner: Ints
    coarse: bool
    apart: float
    part_spread: float
    spreads: Floats
    noise: NDArray[np.bool_]
    note: dict[str, object] = field(default_factory=dict)

    @property
    def y(self) -> Ints:
        """The answer: classes or parts, -1 for rows that belong to none."""
        return np.where(self.noise, -1, self.owner[self.part] if self.coarse else self.part)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.part)

    @property
    def n_parts(self) -> int:
        """Number of parts; 1 where nothing is planted."""
        return len(self.owner)

    def has(self, rng: Rng, chance: float, ingredient: str) -> bool:
        """Whether the data have this ingredient; the note says so."""
        found = bool(rng.random() < chance)
        if found:
            self.note["ingredients"].append(ingredient)  # type: ignore[attr-defined]
        return found


def draw(seed: int) -> Planted:
    """A data set drawn from this seed: the same seed gives the same data."""
    rng = np.random.default_rng(seed)
    names, chances = list(KINDS), np.array([chance for _, chance in KINDS.values()])
    name = str(rng.choice(names, p=chances / chances.sum()))
    make, _ = KINDS[name]
    plan = PLANS.get(name, plan_of_clusters)(rng)
    X, y = repeated_rows(rng, plan, make(rng, plan), plan.y)
    return Planted(X, y, name, plan.note)


# How many, and how they lie to each other.


def log_uniforms(rng: Rng, low: float, high: float, size: int) -> Floats:
    """Numbers whose logarithms are uniform."""
    return np.exp(rng.uniform(np.log(low), np.log(high), size))


def log_uniform(rng: Rng, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return float(log_uniforms(rng, low, high, 1)[0])


def number_of_rows(rng: Rng, low: float = 50, high: float = 5000) -> int:
    """Mostly some hundred."""
    return int(np.clip(450 * np.exp(rng.normal(0, 0.8)), low, high))


def number_of_clusters(rng: Rng, most: float, many: float = 0.18) -> int:
    """Few much more often than many, which have a chance of their own; at most 60."""
    high = 60 if rng.random() < many else 11
    return int(np.clip(round(log_uniform(rng, 1.5, min(high, max(most, 2)))), 2, 60))


def sizes(rng: Rng, k: int) -> Floats:
    """Shares of the clusters: equal in a quarter of the draws, else geometric up to 1:50, or any."""
    way = rng.random()
    if way < 0.25:
        return np.full(k, 1 / k)
    ratio = log_uniform(rng, 1.2, 50)
    if way < 0.6:
        shares = np.geomspace(1, ratio, k)
    elif way < 0.85:
        shares = log_uniforms(rng, 1, ratio, k)
    else:  # one large cluster beside small ones
        shares = np.r_[np.ones(k - 1), ratio]
    return rng.permutation(shares / shares.sum())


def rows_of_clusters(rng: Rng, n: int, shares: Floats, least: int) -> Ints:
    """The cluster of each row, in any order, at least so many rows in each."""
    k = len(shares)
    counts = least + rng.multinomial(max(n - least * k, 0), shares)
    return rng.permutation(np.repeat(np.arange(k), counts))


def parts_of_classes(rng: Rng, k: int, most: int) -> Ints:
    """The class of each part: classes of one to several parts, at least one with two."""
    counts = np.clip(rng.geometric(rng.uniform(0.2, 0.6), k), 1, 12)
    counts[rng.integers(k)] += counts.max() == 1
    while counts.sum() > max(most, k + 1):
        counts[counts.argmax()] -= 1
    return np.repeat(np.arange(k), counts)


def overlap(rng: Rng) -> float:
    """How far neighbouring centres are apart, in standard deviations of a cluster: from hopeless to clear."""
    return float(log_uniform(rng, 2, 14))


def spreads(rng: Rng, shares: Floats) -> Floats:
    """Standard deviations of the clusters: equal in half of the draws, else up to 1:5, sometimes growing with size."""
    ratio = log_uniform(rng, 1.2, 5) if rng.random() < 0.5 else 1.0
    found = np.geomspace(1, ratio, len(shares))
    order = rng.permutation(len(shares)) if rng.random() < 0.7 else np.argsort(np.argsort(shares))
    return found[order] / np.sqrt(ratio)


def plan_of_clusters(rng: Rng, n: int | None = None, *, most: int = 60, many: float = 0.18, parts: float = 0.4) -> Plan:
    """Clusters, or classes of several parts; coarse and fine are the answer equally often."""
    n = number_of_rows(rng) if n is None else n
    k = number_of_clusters(rng, min(n / 8, most), many)
    with_parts = rng.random() < parts
    owner = parts_of_classes(rng, k, min(60, n // 8)) if with_parts else np.arange(k)
    coarse = bool(with_parts and rng.random() < 0.5)
    classes = sizes(rng, k)
    shares = classes[owner] * rng.dirichlet(np.full(len(owner), 4.0)) if with_parts else classes
    shares = shares / shares.sum()
    part = rows_of_clusters(rng, n, shares, least=4)
    n = len(part)
    spread, apart = spreads(rng, shares), overlap(rng)
    noise = np.zeros(n, dtype=bool)
    note: dict[str, object] = {"ingredients": [], "rows": n, "apart": round(apart, 2)}
    plan = Plan(part, owner, coarse, apart, float(rng.uniform(0.2, 1.0)) if with_parts else 0.0, spread, noise, note)
    if plan.has(rng, 0.12, "noise_rows"):
        noise[rng.random(n) < rng.uniform(0.01, 0.15)] = True
    counts = np.bincount(plan.y[plan.y >= 0])
    note |= {
        "clusters": int((counts > 0).sum()),
        "parts": len(owner),
        "answer": "coarse" if coarse else "fine" if with_parts else "plain",
        "sizes": round(float(counts.max() / counts[counts > 0].min()), 1),
        "spreads": round(float(spread.max() / spread.min()), 1),
        "noise": round(float(noise.mean()), 2),
    }
    return plan


def plan_of_few_rows(rng: Rng) -> Plan:
    """For wide data: 50 to 100 rows, few clusters."""
    return plan_of_clusters(rng, int(rng.integers(50, 101)), most=6, parts=0)


def plan_of_many(rng: Rng) -> Plan:
    """For vectors of language models: often many clusters, in groups of clusters that are alike."""
    return plan_of_clusters(rng, many=0.5, parts=0.6)


def plan_of_nothing(rng: Rng) -> Plan:
    """One cluster."""
    n = number_of_rows(rng)
    note: dict[str, object] = {"ingredients": [], "rows": n, "clusters": 1, "parts": 1, "answer": "nothing"}
    zeros = np.zeros(n, dtype=np.int64)
    return Plan(zeros, zeros[:1], True, 0.0, 0.0, np.ones(1), np.zeros(n, dtype=bool), note)


# Rows in a few directions, before they become columns.


def nearest_distances(points: Floats) -> Floats:
    """From each point to the next one."""
    squares = ((points[:, None] - points) ** 2).sum(2)
    np.fill_diagonal(squares, np.inf)
    return np.sqrt(squares.min(1))


def centres(rng: Rng, plan: Plan, q: int, differ: float = 1.0) -> Floats:
    """The centre of each row in q directions: classes, their parts around them; a class differs in a share of them.

    Neighbours at the level of the answer are `apart` from each other in the median. Rows that belong to nothing have a
    centre of their own.
    """
    if plan.n_parts == 1:
        return np.zeros((plan.n, q))
    classes = rng.normal(size=(plan.owner.max() + 1, q))
    if differ < 1:
        kept = rng.random(classes.shape) < differ
        kept[np.arange(len(classes)), rng.integers(q, size=len(classes))] = True
        classes = classes * kept
    parts = classes[plan.owner] + plan.part_spread * rng.normal(size=(plan.n_parts, q))
    level = classes if plan.coarse else parts
    found = parts * plan.apart / max(np.median(nearest_distances(level)), 0.3 * level.std() * np.sqrt(q))
    rows = found[plan.part]
    rows[plan.noise] = found.mean(0) + 1.2 * found.std(0) * rng.normal(size=(plan.noise.sum(), q))
    return rows


def own_covariances(rng: Rng, plan: Plan, rows: Floats) -> Floats:
    """Each part is long and short in directions of its own."""
    q, strength = rows.shape[1], rng.uniform(0.2, 0.8)
    for part in range(plan.n_parts):
        turn = np.linalg.qr(rng.normal(size=(q, q)))[0]
        mine = plan.part == part
        rows[mine] = rows[mine] @ (turn * np.exp(rng.normal(0, strength, q))) @ turn.T
    return rows


def long_clusters(rng: Rng, plan: Plan, rows: Floats) -> Floats:
    """One direction in which all clusters are two to six times as long."""
    direction = rng.normal(size=rows.shape[1:])
    direction = direction / np.linalg.norm(direction)
    return rows + np.outer(rows @ direction, direction) * rng.uniform(1, 5)


def bent_clusters(rng: Rng, plan: Plan, rows: Floats) -> Floats:
    """Bananas: one direction follows the square of another, differently in each part."""
    if rows.shape[1] < 2:
        return rows
    one, other = rng.choice(rows.shape[1], 2, replace=False)
    bend = rng.uniform(-1, 1, plan.n_parts)[plan.part]
    rows[:, other] += bend * (rows[:, one] ** 2 - 1)
    return rows


def heavy_tails(rng: Rng, plan: Plan, rows: Floats) -> Floats:
    """Student's t with three to eight degrees of freedom."""
    freedom = rng.uniform(3, 8)
    return rows / np.sqrt(rng.chisquare(freedom, len(rows)) / freedom)[:, None]


def one_sided(rng: Rng, plan: Plan, rows: Floats) -> Floats:
    """Clusters with a long tail to one side in each direction."""
    return np.expm1(rows * rng.uniform(0.2, 0.7)) * 1.5


WITHIN: dict[Callable[[Rng, Plan, Floats], Floats], float] = {
    own_covariances: 0.5,
    long_clusters: 0.1,
    bent_clusters: 0.12,
    one_sided: 0.1,
    heavy_tails: 0.2,
}


def clouds(rng: Rng, plan: Plan, q: int) -> Floats:
    """Rows around their centres in q directions."""
    rows = rng.normal(size=(plan.n, q))
    for ingredient, chance in WITHIN.items():
        if plan.has(rng, chance, ingredient.__name__):
            rows = ingredient(rng, plan, rows)
    differ = rng.uniform(0.2, 0.8) if plan.has(rng, 0.3, "sparse_differences") else 1.0
    return centres(rng, plan, q, differ) + rows * plan.spreads[plan.part][:, None]


def few_directions(rng: Rng, high: float = 25) -> int:
    """In how many directions clusters differ."""
    return max(int(log_uniform(rng, 1.5, high)), 1)


# From directions to columns.


def linear(rng: Rng, latent: Floats, d: int) -> Floats:
    """Columns that are sums of the directions, with noise of their own."""
    q = latent.shape[1]
    X = latent @ rng.normal(size=(q, d)) / np.sqrt(q)
    return X + rng.normal(size=X.shape) * X.std(0) * log_uniform(rng, 0.05, 1.5)


def warped(rng: Rng, latent: Floats, d: int) -> Floats:
    """Columns of a random network of one hidden layer: clusters bend."""
    q = latent.shape[1]
    hidden = int(q * rng.uniform(1, 4)) + 2
    scaled = latent / latent.std()
    bent = np.tanh(
        scaled @ rng.normal(size=(q, hidden)) * rng.uniform(0.4, 1.6) / np.sqrt(q) + rng.normal(0, 0.5, hidden)
    )
    X = bent @ rng.normal(size=(hidden, d)) / np.sqrt(hidden)
    return X + rng.normal(size=X.shape) * X.std(0) * log_uniform(rng, 0.02, 0.6)


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
    sentinels: 0.02,
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


# The kinds of data.


def numbers(rng: Rng, plan: Plan) -> Floats:
    """A table of measurements: the directions themselves, sums of them, or bent."""
    q = few_directions(rng)
    latent = clouds(rng, plan, q)
    d = int(log_uniform(rng, max(2, q), 120))
    way = rng.random()
    X = latent if way < 0.45 else linear(rng, latent, d) if way < 0.8 else warped(rng, latent, d)
    return spoiled(rng, plan, X)


def shapes(rng: Rng, plan: Plan) -> Floats:
    """Arcs, rods, rings and balls in two or three columns; rarely rings within rings."""
    nested = plan.has(rng, 0.08, "nested_rings")
    k = plan.n_parts
    form = np.full(k, 2) if nested else rng.integers(4, size=k)
    angle = rng.uniform(0, 2 * np.pi, plan.n) * np.array([0.5, 1, 1, 1])[form[plan.part]]
    angle += rng.uniform(0, 2 * np.pi, k)[plan.part]
    turn, along = rng.uniform(0, np.pi, k)[plan.part], rng.uniform(-1, 1, plan.n)
    ring = np.c_[np.cos(angle), np.sin(angle)] * 2
    rod = np.c_[np.cos(turn), np.sin(turn)] * along[:, None] * 3
    line = np.where((form[plan.part] == 1)[:, None], rod, ring) * (form[plan.part] != 3)[:, None]
    if nested:
        line = ring * (1 + plan.part[:, None] * rng.uniform(0.8, 2))
    else:
        line = line * rng.uniform(0.6, 1.2, k)[plan.part][:, None] + centres(rng, plan, 2) * (0.5 + 3 / plan.apart)
    X = line + rng.normal(size=(plan.n, 2)) * rng.uniform(0.1, 0.5) * plan.spreads[plan.part][:, None]
    if rng.random() < 0.4:
        X = linear(rng, X, int(rng.integers(2, 8)))
    return spoiled(rng, plan, X, without=(one_hot, noise_columns, nuisance_directions))


def images(rng: Rng, plan: Plan) -> Floats:
    """Pixels: a bent sheet of a few directions for each part, with margins that are always empty."""
    q, side = int(rng.integers(4, 16)), int(rng.integers(6, 17))
    latent = centres(rng, plan, q)
    style = rng.normal(size=(plan.n, 3))
    own = rng.normal(size=(plan.n_parts, 3, q)) * rng.uniform(0.5, 1.2)
    latent = latent + np.einsum("ij,ijk->ik", style, own[plan.part]) + rng.normal(size=latent.shape) * 0.4
    x, y = np.meshgrid(np.linspace(-1, 1, side), np.linspace(-1, 1, side))
    at = rng.uniform(-0.7, 0.7, (2, 3 * q))
    strokes = np.exp(-((x.ravel() - at[0][:, None]) ** 2 + (y.ravel() - at[1][:, None]) ** 2) / rng.uniform(0.02, 0.15))
    ink = np.tanh(latent @ rng.normal(size=(q, 3 * q)) / np.sqrt(q) * rng.uniform(0.2, 0.6) + rng.normal(0, 0.5, 3 * q))
    X = np.clip(ink @ strokes + rng.normal(0, rng.uniform(0.02, 0.2), (plan.n, side**2)), 0, 1.5)
    return np.round(X * rng.choice([10, 170])) if rng.random() < 0.7 else X


def embeddings(rng: Rng, plan: Plan) -> NDArray[np.float32]:
    """Vectors of a language model: in a narrow cone, few directions strong, often of length 1."""
    d = int(rng.choice([32, 50, 64, 96, 128, 256, 384]))
    q = int(rng.integers(5, min(d, 40)))
    strength = np.arange(1, d + 1) ** -rng.uniform(0.1, 0.7)
    X = rng.normal(size=(plan.n, d)) * strength * plan.spreads[plan.part][:, None]
    X[:, :q] += centres(rng, plan, q) * np.sqrt(np.mean(strength[:q] ** 2))
    X = X @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    X += rng.normal(size=d) * rng.uniform(0, 1.5)
    if plan.has(rng, 0.75, "unit_rows"):
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X.astype(np.float32)


def curves(rng: Rng, plan: Plan) -> Floats:
    """Curves over time: a shape for each part, of another height, earlier or later in each row."""
    length, q = int(rng.integers(24, 145)), int(rng.integers(3, 10))
    margin = max(1, int(length * rng.uniform(0, 0.12)))
    t = np.linspace(0, 1, length + 2 * margin)
    if rng.random() < 0.5:
        basis = np.array([np.cos(np.pi * wave * t + rng.uniform(0, 6)) / np.sqrt(wave) for wave in range(1, q + 1)])
    else:
        basis = np.exp(-((t - rng.uniform(0.05, 0.95, q)[:, None]) ** 2) / rng.uniform(0.001, 0.02, q)[:, None])
    X = (clouds(rng, plan, q) + rng.normal(0, 2, q)) @ basis
    late = rng.integers(2 * margin + 1, size=plan.n) if plan.has(rng, 0.5, "shifts") else np.full(plan.n, margin)
    X = np.take_along_axis(X, late[:, None] + np.arange(length), 1)
    if plan.has(rng, 0.4, "heights"):
        X = X * np.exp(rng.normal(0, rng.uniform(0.1, 0.5), plan.n))[:, None]
    if plan.has(rng, 0.3, "trends"):
        X = X + np.outer(rng.normal(size=plan.n), np.linspace(-1, 1, length)) * X.std() * rng.uniform(0.3, 1)
    X = X + rng.normal(size=X.shape) * X.std() * log_uniform(rng, 0.02, 0.7)
    return X - X.min() if rng.random() < 0.3 else X


def wide(rng: Rng, plan: Plan) -> Floats:
    """More columns than rows: few of them tell the clusters, factors and batches move many."""
    d = int(log_uniform(rng, 200, 4000))
    informative = max(5, int(d * log_uniform(rng, 0.005, 0.2)))
    X = rng.normal(size=(plan.n, d))
    X[:, :informative] += (
        centres(rng, plan, informative, rng.uniform(0.2, 1)) * (d / plan.n) ** 0.25 * log_uniform(rng, 0.8, 3)
    )
    m = int(rng.integers(1, 5))
    X += (rng.normal(size=(plan.n, m)) * rng.uniform(0.1, 0.8)) @ rng.normal(size=(m, d))
    if plan.n_parts > 1 and plan.has(rng, 0.35, "batches"):
        X = batches(rng, X)
    if plan.has(rng, 0.5, "units"):
        X = X * np.exp(rng.normal(0, 0.5, d)) + rng.normal(0, 2, d)
    return X[:, rng.permutation(d)]


def money(rng: Rng, plan: Plan) -> Rows:
    """Amounts with heavy tails, in cents, often with many zeros."""
    latent = clouds(rng, plan, int(rng.integers(2, 9)))
    scaled = latent / plan.spreads.mean() * rng.uniform(0.25, 0.6) + rng.normal(3, 1.5, latent.shape[1])
    X = np.exp(np.clip(scaled, -10, 16))
    if plan.has(rng, 0.4, "pareto_tails"):
        X *= np.where(rng.random(X.shape) < 0.1, rng.pareto(1.5, X.shape) + 1, 1)
    if plan.has(rng, 0.4, "no_sales"):
        X[np.quantile(X, rng.uniform(0, 0.4), axis=0) * (rng.random(X.shape[1]) < 0.7) > X] = 0
    if plan.has(rng, 0.2, "losses"):
        X *= np.where(rng.random(X.shape) < 0.03, -1, 1)
    return framed(np.round(X, 2), "amount") if rng.random() < 0.6 else np.round(X, 2)


def framed(X: NDArray, name: str) -> pd.DataFrame:
    """An array as a data frame with numbered names."""
    import pandas as pd

    return pd.DataFrame(X, columns=[f"{name}_{column + 1}" for column in range(X.shape[1])])


def survey(rng: Rng, plan: Plan) -> Rows:
    """Answers from 1 to 5, 7 or 10 to items of a few scales; some are asked the other way round."""
    q = int(rng.integers(2, 7))
    items = q * int(rng.integers(2, 7))
    latent = clouds(rng, plan, q)
    latent = (latent - latent.mean(0)) / latent.std()
    loads = rng.uniform(0.6, 1.3, items) * np.where(rng.random(items) < 0.25, -1, 1)
    answers = latent[:, np.arange(items) % q] * loads + rng.normal(size=(plan.n, items)) * rng.uniform(0.2, 1)
    if plan.has(rng, 0.5, "yes_sayers"):
        answers += rng.normal(0, rng.uniform(0.2, 0.7), plan.n)[:, None]
    top = int(rng.choice([2, 4, 5, 7, 10], p=[0.1, 0.15, 0.4, 0.25, 0.1]))
    middle = (top + 1) / 2 + rng.normal(0, top / 8, items)
    X = np.clip(np.round(middle + answers * top / rng.uniform(4, 7)), 1, top)
    if plan.has(rng, 0.2, "straight_liners"):
        lazy = rng.random(plan.n) < rng.uniform(0.01, 0.05)
        X[lazy] = rng.integers(1, top + 1, lazy.sum())[:, None]
    if plan.has(rng, 0.3, "gaps"):
        X = gaps(rng, X)
    return framed(X, "q") if rng.random() < 0.6 else X


def poisson_rates(base: Floats, shift: Floats) -> Floats:
    r"""Rates :math:`(\sqrt{b} + c / 2)_+^2`: roots of counts have a standard deviation of 1/2, so c counts in those."""
    return np.maximum(np.sqrt(base) + shift / 2, 0.0) ** 2


def overdispersed(rng: Rng, rates: Floats) -> Floats:
    """Rates that vary among rows as those of a negative binomial do."""
    shape = log_uniform(rng, 0.5, 10)
    return rates * rng.gamma(shape, 1 / shape, rates.shape)


def counts(rng: Rng, plan: Plan) -> Rows:
    """How often things happened: many zeros."""
    d = int(log_uniform(rng, 4, 60))
    alike = rng.uniform(1, 8)
    base = log_uniforms(rng, 1 / alike, alike, d) * log_uniform(rng, 0.05, 2)
    rates = poisson_rates(base, centres(rng, plan, d, rng.uniform(0.15, 1)) * 1.3)
    if plan.has(rng, 0.4, "activity"):
        rates = rates * np.exp(rng.normal(0, rng.uniform(0.2, 0.8), plan.n))[:, None]
    if plan.has(rng, 0.4, "overdispersion"):
        rates = overdispersed(rng, rates)
    X = rng.poisson(np.minimum(rates, 1e6))
    if plan.has(rng, 0.3, "more_zeros"):
        X = X * (rng.random(X.shape) > rng.uniform(0.05, 0.5))
    return framed(X, "n") if rng.random() < 0.5 else X


def reads(rng: Rng, plan: Plan) -> Rows:
    """Reads of genes in cells: negative binomial, libraries of different size, few markers, batches."""
    d = int(min(log_uniform(rng, 60, 1500), 200_000 / plan.n))
    markers = max(4, int(d * log_uniform(rng, 0.05, 0.6)))
    base = np.exp(rng.normal(-1.2, 1.3, d))
    shift = np.zeros((plan.n, d))
    shift[:, rng.permutation(d)[:markers]] = centres(rng, plan, markers, rng.uniform(0.1, 0.6)) * 1.8
    rates = poisson_rates(base, shift)
    if plan.n_parts > 1 and plan.has(rng, 0.2, "batches"):
        batch = rng.integers(int(rng.integers(2, 4)), size=plan.n)
        rates *= np.exp(rng.normal(0, rng.uniform(0.1, 0.4), (batch.max() + 1, d)))[batch]
    rates *= np.exp(rng.normal(0, rng.uniform(0.1, 0.6), plan.n))[:, None]
    X = rng.poisson(np.minimum(overdispersed(rng, rates), 1e6))
    return sparse.csr_array(X) if rng.random() < 0.6 else X


def tokens(rng: Rng, plan: Plan, length: float, vocabulary: int) -> tuple[Ints, Ints]:
    """Row and word of each word of documents of about this length: Zipf's law, and words that a part prefers."""
    zipf = 1 / (np.arange(vocabulary) + rng.uniform(1, 8)) ** rng.uniform(0.7, 1.1)
    zipf *= length / zipf.sum()
    topical = rng.choice(vocabulary, max(10, int(vocabulary * rng.uniform(0.2, 0.8))), replace=False)
    shift = centres(rng, plan, len(topical), rng.uniform(0.05, 0.5)) * 1.8
    sizes_of_rows = np.maximum(rng.poisson(length * np.exp(rng.normal(0, rng.uniform(0.1, 0.7), plan.n))), 2)
    words = np.empty(sizes_of_rows.sum(), dtype=np.int64)
    owner = np.repeat(np.arange(plan.n), sizes_of_rows)
    # One cumulative distribution for each part, and one for each row of noise.
    whose = np.where(plan.noise, plan.n_parts + np.arange(plan.n), plan.part)
    order = np.argsort(whose[owner], kind="stable")
    _, first, many = np.unique(whose[owner][order], return_index=True, return_counts=True)
    for start, count in zip(first, many, strict=True):
        mine = order[start : start + count]
        rates = zipf.copy()
        rates[topical] = poisson_rates(zipf[topical], shift[owner[mine[0]]])
        words[mine] = np.searchsorted(np.cumsum(rates) / rates.sum(), rng.random(count))
    return owner, np.minimum(words, vocabulary - 1)


def words(rng: Rng, plan: Plan) -> sparse.csr_array:
    """Word counts of documents."""
    vocabulary = int(log_uniform(rng, 100, 3000))
    row, word = tokens(rng, plan, log_uniform(rng, 15, 150), vocabulary)
    X = sparse.csr_array((np.ones(len(row), dtype=np.int64), (row, word)), shape=(plan.n, vocabulary))
    X.sum_duplicates()
    return X


def spelled(rng: Rng, n: int) -> list[str]:
    """So many words that nobody has read before; the same word may come twice."""
    syllables = np.array([c + v + e for c in "bdfgklmnprstvz" for v in "aeiou" for e in ("", "n", "r", "l")])
    first, second, third = syllables[rng.integers(len(syllables), size=(3, n))]
    return [a + b + c * (row % 3 == 0) for row, (a, b, c) in enumerate(zip(first, second, third, strict=True))]


def texts(rng: Rng, plan: Plan) -> list[str]:
    """Short texts: a sentence or two, frequent words that say nothing among the others."""
    vocabulary = int(log_uniform(rng, 150, 2000))
    row, word = tokens(rng, plan, log_uniform(rng, 5, 40), vocabulary)
    spelling = np.array(spelled(rng, vocabulary), dtype=object)[word].tolist()
    ends = np.cumsum(np.bincount(row, minlength=plan.n))
    return [
        " ".join(spelling[start:end]).capitalize() + "." for start, end in zip(np.r_[0, ends[:-1]], ends, strict=True)
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


def silent_columns(rng: Rng, plan: Plan) -> dict[str, Column]:
    """Columns that say nothing, by name."""
    chosen = [make for make, chance in SILENT.items() if plan.has(rng, chance, make.__name__)]
    return {make.__name__: make(rng, plan.n) for make in chosen}


def mixed(rng: Rng, plan: Plan) -> pd.DataFrame:
    """A table as companies have it: amounts, counts, grades, categories, and columns that say nothing."""
    q = int(rng.integers(2, 11))
    latent = clouds(rng, plan, q)
    latent = (latent - latent.mean(0)) / np.maximum(latent.std(0), 1e-9)
    makers = [INFORMATIVE[choice] for choice in rng.choice(len(INFORMATIVE), q, p=INFORMATIVE_CHANCES)]
    columns: dict[str, Column] = {f"{make.__name__}_{j}": make(rng, latent[:, j]) for j, make in enumerate(makers)}
    for make in makers:
        plan.has(rng, 1, make.__name__)
    if plan.has(rng, 0.3, "gaps_of_large"):
        columns["late"] = gaps_of_large(rng, latent[:, :1])[:, 0]
    if plan.has(rng, 0.5, "categories"):
        columns |= {f"group_{j}": category(rng, plan) for j in range(rng.integers(1, 4))}
    if plan.has(rng, 0.3, "codes"):
        columns["code"] = code(rng, plan)
    columns |= silent_columns(rng, plan)
    return frame_of(rng, columns, rng.uniform(0.01, 0.25) if plan.has(rng, 0.4, "gaps") else 0.0)


def codes(rng: Rng, plan: Plan) -> Rows:
    """Nothing but categories or truth values: votes, symptoms, mushrooms."""
    d = int(rng.integers(5, 25))
    if plan.has(rng, 0.4, "truths"):
        rare = rng.normal(-0.5, 1, d)
        latent = centres(rng, plan, d, rng.uniform(0.3, 1))
        X = (rng.logistic(size=(plan.n, d)) < latent + rare).astype(int)
        return framed(X.astype(bool), "has") if rng.random() < 0.5 else X
    columns: dict[str, Column] = {f"field_{j}": category(rng, plan) for j in range(d)}
    columns |= {f"other_{j}": town(rng, plan.n) for j in range(rng.integers(0, d))}
    return frame_of(rng, columns, 0.1 if plan.has(rng, 0.2, "gaps") else 0.0)


# No clusters at all.


def factors(rng: Rng, n: int) -> Floats:
    """Gaussian rows with a few factors."""
    q, d = int(rng.integers(1, 8)), int(log_uniform(rng, 2, 100))
    return rng.normal(size=(n, q)) @ rng.normal(size=(q, d)) + rng.normal(size=(n, d)) * rng.uniform(0.2, 2)


def uniform(rng: Rng, n: int) -> Floats:
    """Uniform in a box."""
    return rng.random((n, int(log_uniform(rng, 1, 20)))) * 2


def correlated_tails(rng: Rng, n: int) -> Floats:
    """Student's t rows whose columns go together, perhaps exponentials."""
    X = factors(rng, n)
    X = X / np.sqrt(rng.chisquare(3, n) / 3)[:, None]
    return np.exp(np.clip(X / X.std(), -5, 5)) if rng.random() < 0.5 else X


def walks(rng: Rng, n: int) -> Floats:
    """Random walks."""
    return np.cumsum(rng.normal(size=(n, int(rng.integers(20, 150)))), axis=1)


def continuum_of_curves(rng: Rng, n: int) -> Floats:
    """One curve, of any height, earlier or later."""
    t = np.linspace(0, 1, int(rng.integers(24, 100)))
    late, height = rng.uniform(0.3, 0.7, (n, 1)), np.exp(rng.normal(0, 0.4, (n, 1)))
    X = height * np.exp(-((t - late) ** 2) / rng.uniform(0.005, 0.05))
    return X + rng.normal(0, rng.uniform(0.02, 0.2), X.shape)


def manifold(rng: Rng, n: int) -> Floats:
    """A line, an arc, a roll or a sheet with a little noise, in some columns."""
    t, u = rng.random(n), rng.normal(size=n)
    ways = (
        np.c_[t, 2 * t],
        np.c_[np.cos(4 * t), np.sin(4 * t)],
        np.c_[t * np.cos(9 * t), t * np.sin(9 * t), u],
        np.c_[t, u, t * u],
    )
    X = ways[rng.integers(len(ways))]
    X = X @ rng.normal(size=(X.shape[1], int(rng.integers(2, 12))))
    return X + rng.normal(size=X.shape) * X.std() * log_uniform(rng, 0.02, 0.4)


NOTHING = (factors, uniform, correlated_tails, walks, continuum_of_curves, manifold)


def nothing(rng: Rng, plan: Plan) -> Rows:
    """No clusters: half of the time one cluster of any other kind, else rows that only look like something."""
    if rng.random() < 0.5:
        names = [name for name in KINDS if name not in ("nothing", "shapes", "wide")]
        chances = np.array([KINDS[name][1] for name in names])
        name = str(rng.choice(names, p=chances / chances.sum()))
        plan.note["of"] = name
        return KINDS[name][0](rng, plan)
    make = NOTHING[rng.integers(len(NOTHING))]
    plan.note["of"] = make.__name__
    return spoiled(rng, plan, make(rng, plan.n), without=(one_hot, few_values, rounded, sentinels))


# Each kind, and how often.
KINDS: dict[str, tuple[Callable[[Rng, Plan], Rows], float]] = {
    "numbers": (numbers, 24),
    "mixed": (mixed, 14),
    "nothing": (nothing, 8),
    "images": (images, 6),
    "curves": (curves, 7),
    "embeddings": (embeddings, 7),
    "survey": (survey, 6),
    "wide": (wide, 4),
    "shapes": (shapes, 4),
    "money": (money, 4),
    "codes": (codes, 3),
    "counts": (counts, 5),
    "reads": (reads, 4),
    "words": (words, 3),
    "texts": (texts, 4),
}
PLANS: dict[str, Callable[[Rng], Plan]] = {
    "nothing": plan_of_nothing,
    "wide": plan_of_few_rows,
    "embeddings": plan_of_many,
}
