"""Draws data sets as people bring them, with the clusters planted in them: what the judge learns from.

A `Plan` says which cluster and which part of it each row belongs to, and how far clusters are apart. A kind of data
(`KINDS`) makes rows of a plan, and ingredients spoil them as real data are spoiled. All is drawn from one seed;
`Planted.note` says what was drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from jointclust.judge.ingredients import (
    INFORMATIVE,
    INFORMATIVE_CHANCES,
    Column,
    Rows,
    batches,
    category,
    code,
    few_values,
    frame_of,
    gaps,
    gaps_of_large,
    identifier,
    noise_columns,
    nuisance_directions,
    one_hot,
    repeated_rows,
    rounded,
    sentinels,
    silent_columns,
    spelled,
    spoiled,
    town,
)
from jointclust.judge.plan import (
    Floats,
    Ints,
    Plan,
    Rng,
    centres,
    clouds,
    few_directions,
    linear,
    log_uniform,
    log_uniforms,
    plan_of_clusters,
    plan_of_few_rows,
    plan_of_many,
    plan_of_nothing,
    warped,
)

if TYPE_CHECKING:
    import pandas as pd


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


def draw(seed: int, kind: str | None = None) -> Planted:
    """A data set drawn from this seed, of any kind or of one: the same seed gives the same data."""
    rng = np.random.default_rng(seed)
    names, chances = list(KINDS), np.array([chance for _, chance in KINDS.values()])
    name = str(rng.choice(names, p=chances / chances.sum())) if kind is None else kind
    make, _ = KINDS[name]
    plan = PLANS.get(name, plan_of_clusters)(rng)
    X, y = repeated_rows(rng, plan, make(rng, plan), plan.y)
    return Planted(X, y, name, plan.note)


# The kinds of data.


def numbers(rng: Rng, plan: Plan) -> Rows:
    """A table of measurements: the directions themselves, sums of them, or bent; an array, or read from a file."""
    q = few_directions(rng)
    latent = clouds(rng, plan, q)
    d = int(log_uniform(rng, max(2, q), 120))
    way = rng.random()
    X = latent if way < 0.45 else linear(rng, latent, d) if way < 0.8 else warped(rng, latent, d)
    X = spoiled(rng, plan, X)
    if not plan.has(rng, 0.4, "file"):
        return X
    table = framed(X, "x")
    if plan.has(rng, 0.3, identifier.__name__):
        table.insert(0, "name", identifier(rng, plan.n))
    return table


def shapes(rng: Rng, plan: Plan) -> Floats:
    """Arcs, rods, rings and balls in two or three columns; sometimes rods alike, or rings within rings."""
    nested = plan.has(rng, 0.15, "nested_rings")
    k = plan.n_parts
    form = np.full(k, 2) if nested else rng.integers(4, size=k)
    angle = rng.uniform(0, 2 * np.pi, plan.n) * np.array([0.5, 1, 1, 1])[form[plan.part]]
    angle += rng.uniform(0, 2 * np.pi, k)[plan.part]
    turn, along = rng.uniform(0, np.pi, k), rng.uniform(-1, 1, plan.n)
    if not nested and plan.has(rng, 0.2, "parallel_rods"):
        turn, form = np.full(k, turn[0]), np.ones(k, dtype=int)
    turn = turn[plan.part]
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
    strength = (d / plan.n) ** 0.25 * log_uniform(rng, 1, 4)  # noise of many columns adds up
    X[:, :informative] += strength * centres(rng, plan, informative, rng.uniform(0.2, 1))
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
    answers = latent[:, np.arange(items) % q] * loads + rng.normal(size=(plan.n, items)) * rng.uniform(0.1, 0.8)
    if plan.has(rng, 0.5, "yes_sayers"):
        answers += rng.normal(0, rng.uniform(0.1, 0.5), plan.n)[:, None]
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


def texts(rng: Rng, plan: Plan) -> list[str]:
    """Short texts: a sentence or two, frequent words that say nothing among the others."""
    vocabulary = int(log_uniform(rng, 150, 2000))
    row, word = tokens(rng, plan, log_uniform(rng, 5, 40), vocabulary)
    spelling = np.array(spelled(rng, vocabulary), dtype=object)[word].tolist()
    ends = np.cumsum(np.bincount(row, minlength=plan.n))
    return [
        " ".join(spelling[start:end]).capitalize() + "." for start, end in zip(np.r_[0, ends[:-1]], ends, strict=True)
    ]


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
    "shapes": (shapes, 6),
    "money": (money, 4),
    "codes": (codes, 3),
    "counts": (counts, 5),
    "reads": (reads, 4),
    "words": (words, 3),
    "texts": (texts, 4),
}
# Kinds with plans of their own.
PLANS: dict[str, Callable[[Rng], Plan]] = {
    "nothing": plan_of_nothing,
    "wide": plan_of_few_rows,
    "embeddings": plan_of_many,
}
