"""What is planted: the cluster of each row, in parts perhaps, and rows in a few directions around their centres."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Rng = np.random.Generator
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
    while counts.sum() > max(most, k):
        counts[counts.argmax()] -= 1
    return np.repeat(np.arange(k), counts)


def overlap(rng: Rng) -> float:
    """How far neighbouring centres are apart, in standard deviations of a cluster: from hopeless to clear."""
    return float(log_uniform(rng, 2.2, 15))


def spreads(rng: Rng, shares: Floats) -> Floats:
    """Standard deviations of the clusters: equal in half of the draws, else up to 1:5, sometimes growing with size."""
    ratio = log_uniform(rng, 1.2, 5) if rng.random() < 0.5 else 1.0
    found = np.geomspace(1, ratio, len(shares))
    order = rng.permutation(len(shares)) if rng.random() < 0.7 else np.argsort(np.argsort(shares))
    return found[order] / np.sqrt(ratio)


def plan_of_clusters(rng: Rng, n: int | None = None, *, most: int = 60, many: float = 0.18, parts: float = 0.4) -> Plan:
    """Clusters, or classes of several parts; coarse and fine are the answer equally often."""
    n = number_of_rows(rng) if n is None else n
    k = number_of_clusters(rng, min(n / 10, most), many)
    with_parts = rng.random() < parts
    owner = parts_of_classes(rng, k, min(60, n // 10)) if with_parts else np.arange(k)
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
    found = parts * plan.apart / max(np.median(nearest_distances(level)), 0.1 * level.std() * np.sqrt(q))
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
