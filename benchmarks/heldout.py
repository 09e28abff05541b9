"""Held-out draws: planted data sets as people bring them, by a generator that the judge never learned from.

    python benchmarks/heldout.py          # thirty draws
    python benchmarks/heldout.py 400      # how clear draws are, by kind: ARI of k-means with the planted number

Written from a list of what people's data look like, not from the generator that the judge learns from; nothing here
is to be changed to suit a judge. A draw is planned first (sizes, spreads, overlap, classes of parts), then a
scenario makes rows of it by its own mechanism. `gap` is how far the nearest clusters are apart, in standard
deviations of what the mechanism scatters; batches, nuisance directions, missing cells, strays and coding make it
harder than that.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix, issparse
from scipy.spatial.distance import cdist
from scipy.special import softmax
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.metrics import adjusted_rand_score


@dataclass(frozen=True)
class Draw:
    """A data set as its owner brings it, and the planted answer; -1 for rows that belong to nothing."""

    X: Any
    y: np.ndarray
    kind: str
    note: dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What is planted, whatever the mechanism: each row's part, each part's class, spread and cluster."""

    part: np.ndarray
    stray: np.ndarray  # rows that belong to nothing
    classes: np.ndarray
    answer: np.ndarray  # the cluster of each part: itself, or its class
    spread: np.ndarray
    gap: float
    contrast: float  # how much farther classes are apart than their parts
    note: dict[str, Any] = field(default_factory=dict)

    @property
    def n(self):
        return len(self.part)

    @property
    def y(self):
        return np.where(self.stray, -1, self.answer[self.part])


def log_uniform(rng, low, high, size=None):
    return np.exp(rng.uniform(np.log(low), np.log(high), size))


def chance(rng, p):
    return rng.random() < p


def graded(rng, n, ratio):
    """`n` factors from 1 to `ratio`, evenly in logarithms at random, both ends taken."""
    exponent = rng.random(n)
    exponent[rng.permutation(n)[:2]] = [0, 1][:n]
    return ratio**exponent


def sizes(rng, n, k):
    """Rows of each part, equal or up to 1:50, never fewer than five."""
    share = graded(rng, k, 1.0 if chance(rng, 0.3) else log_uniform(rng, 1.2, 50))
    counts = 5 + np.floor((n - 5 * k) * share / share.sum()).astype(int)
    counts[counts.argmax()] += n - counts.sum()
    return counts


def planned(rng, rows=(50, 5000), most=60, single=False):
    """What is planted: 2 to 60 parts, few much more often than many, in classes for a quarter of the draws."""
    n = round(log_uniform(rng, *rows))
    several = np.arange(2, min(most, n // 10) + 1)
    k = 1 if single else int(rng.choice(several, p=(several + 2.0) ** -2 / ((several + 2.0) ** -2).sum()))
    classes, contrast = np.arange(k), 1.0
    if coarse := k >= 4 and chance(rng, 0.6):
        n_classes = int(rng.integers(2, k // 2 + 1))
        classes = np.sort(np.r_[np.arange(n_classes), rng.integers(n_classes, size=k - n_classes)])
        contrast = log_uniform(rng, 1, 6)
    answer = classes if coarse and chance(rng, contrast / (contrast + 2.2)) else np.arange(k)
    part = rng.permutation(np.repeat(np.arange(k), sizes(rng, n, k)))
    stray = np.zeros(n, dtype=bool)
    if not single and chance(rng, 0.15):
        stray = rng.random(n) < log_uniform(rng, 0.02, 0.2)
    spread_ratio = 1.0 if chance(rng, 0.35) else log_uniform(rng, 1.1, 5)
    spread = graded(rng, k, spread_ratio)
    plan = Plan(part, stray, classes, answer, spread / spread.mean(), log_uniform(rng, 1.5, 20), contrast)
    grain = ("coarse" if answer is classes else "fine") if coarse else "plain"
    plan.note.update(grain=grain, n_parts=k, gap=round(float(plan.gap), 1), contrast=round(float(contrast), 1))
    plan.note.update(spreads=round(float(spread_ratio) if k > 1 else 1.0, 1), strays=int(stray.sum()))
    return plan


def positions(rng, plan, n_dims):
    """Where the parts are: scattered, kept apart, or along a line of severity; parts lie about their class."""
    n_classes = plan.classes[-1] + 1
    layout = rng.choice(["scattered", "apart", "line", "few columns"], p=[0.4, 0.35, 0.1, 0.15])
    places = rng.normal(size=(n_classes, n_dims))
    if layout == "apart":
        for j in range(1, n_classes):
            tried = 1.5 * rng.normal(size=(10, n_dims))
            places[j] = tried[cdist(tried, places[:j]).min(1).argmax()]
    elif layout == "line" and n_classes <= 10:
        places = np.outer(rng.permutation(n_classes), rng.normal(size=n_dims)) + 0.2 * places
    own = 0.7 * rng.normal(size=(len(plan.classes), n_dims)) / plan.contrast
    places = places if n_classes == len(own) else places[plan.classes] + own
    if layout == "few columns":
        places *= rng.random(places.shape) < max(0.15, 1.5 / n_dims)
    return places - places.mean(0)


def amplitude(plan, coordinates):
    """The factor that puts clusters `gap` apart; `coordinates(a)` are those of parts, where chance has variance one."""
    if len(plan.answer) == 1:
        return 1.0
    other = plan.answer[:, None] != plan.answer
    low, high = -7.0, 5.0
    for _ in range(24):
        middle = (low + high) / 2
        places = coordinates(np.exp(middle))
        nearest = np.where(other, cdist(places, places), np.inf).min(1)
        # many columns for few rows hide what is there
        wanted = plan.gap * (1 + places.shape[1] * len(places) / plan.n) ** 0.25
        low, high = (low, middle) if np.median(nearest) > wanted else (middle, high)
    return np.exp(low)


def of_rows(rng, plan, theta):
    """Each row's parameters: its part's; those of strays are anywhere about."""
    rows = theta[plan.part].astype(float)
    rows[plan.stray] = theta.mean(0) + 1.4 * theta.std(0) * rng.normal(size=(plan.stray.sum(), theta.shape[1]))
    return rows


def latent(rng, plan, n_dims):
    """What cannot be seen itself: rows about their parts, round or stretched, with light or heavy tails."""
    theta = positions(rng, plan, n_dims)
    theta = amplitude(plan, lambda a: a * theta) * theta
    noise = rng.normal(size=(plan.n, n_dims))
    if chance(rng, 0.4):  # each part stretched its own way
        for j in range(len(theta)):
            stretch = np.linalg.qr(rng.normal(size=(n_dims, n_dims)))[0] * log_uniform(rng, 0.5, 1.6, n_dims)
            noise[plan.part == j] = noise[plan.part == j] @ stretch
    if chance(rng, 0.25):
        noise /= np.sqrt(rng.chisquare(5, size=(plan.n, 1)) / 5)
    return of_rows(rng, plan, theta) + plan.spread[plan.part, None] * noise


def batches(rng, plan, X, p=0.2):
    """Days, sites or plates with an offset of their own in some columns."""
    if len(plan.answer) == 1 or not chance(rng, p):
        return X
    plan.note["batches"] = n_batches = int(rng.integers(2, 6))
    shift = log_uniform(rng, 0.2, 1.5) * rng.normal(size=(n_batches, X.shape[1])) * (rng.random(X.shape[1]) < 0.6)
    return X + (shift * X.std(0))[rng.integers(n_batches, size=plan.n)]


def nuisance(rng, plan, X, p=0.4):
    """One to three strong directions that have nothing to do with the clusters."""
    if not chance(rng, p):
        return X
    plan.note["nuisance"] = n_directions = int(rng.integers(1, 4))
    shape = (n_directions, X.shape[1])
    scores = rng.normal(size=(plan.n, n_directions)) if chance(rng, 0.6) else 3.4 * rng.random((plan.n, n_directions))
    directions = rng.normal(size=shape) * (rng.random(shape) < rng.uniform(0.2, 1))
    return X + log_uniform(rng, 0.4, 2) * scores @ (directions * X.std(0))


def rounded(rng, plan, X, p=0.3):
    """To a step of each column, so that values are tied."""
    if not chance(rng, p):
        return X
    plan.note["rounded"] = True
    step = 10 ** np.floor(np.log10(np.maximum(np.nanstd(X, 0), 1e-9)) - rng.uniform(0, 1))
    return np.round(X / step) * step


def gaps(rng, plan, X, p=0.2):
    """Cells that are missing: by chance, whole columns often, or where the value is high."""
    if not chance(rng, p):
        return X
    plan.note["gaps"] = how = str(rng.choice(["at random", "by column", "by value"]))
    share = log_uniform(rng, 0.01, 0.25) * (2 * rng.random(X.shape[1]) if how == "by column" else np.ones(X.shape[1]))
    if how == "by value":
        rank = X.argsort(0).argsort(0) / len(X)
        share = np.minimum(0.9, 3 * share * rank**2) * (rng.random(X.shape[1]) < 0.6)
    missing = rng.random(X.shape) < share
    missing[missing.all(1)] = False
    return np.where(missing, np.nan, X)


def measured(rng, plan, X):
    """Numbers as they are stored."""
    X = nuisance(rng, plan, batches(rng, plan, X))
    if chance(rng, 0.6):  # kelvin, millimetres and bar
        X = (X + rng.choice([0, 1, 10], X.shape[1])) * 10 ** rng.uniform(-2, 3, X.shape[1])
    X = gaps(rng, plan, rounded(rng, plan, X))
    return X.astype(np.float32) if chance(rng, 0.2) else X


def idle(rng, plan, X, most):
    """Further columns without any cluster, some of them of one value."""
    more = rng.normal(size=(plan.n, int(rng.integers(0, most + 1)))) * X.std()
    more[:, rng.random(more.shape[1]) < 0.1] = 1.0
    return np.hstack([X, more])[:, rng.permutation(X.shape[1] + more.shape[1])]


def sensors(rng, plan):
    """Channels of a machine: a few states of the process drive all of them; some saturate."""
    n_channels = int(log_uniform(rng, 6, 80))
    state = latent(rng, plan, int(rng.integers(2, 9)))
    gain = rng.normal(size=(state.shape[1], n_channels)) * (rng.random((state.shape[1], n_channels)) < 0.6)
    X = state @ gain + rng.normal(size=(plan.n, n_channels)) * log_uniform(rng, 0.2, 1.5, n_channels)
    full = rng.random(n_channels) < 0.15
    X[:, full] = np.minimum(X[:, full], np.quantile(X[:, full], 0.85, axis=0))
    return measured(rng, plan, X)


def specimens(rng, plan):
    """Positive measures of things that are small or large as a whole, with limits of detection."""
    trait = latent(rng, plan, int(rng.integers(3, 16)))
    size = rng.normal(size=(plan.n, 1)) * log_uniform(rng, 0.3, 2)
    X = np.exp(np.clip(0.25 * (trait + size), -8, 8)) * log_uniform(rng, 0.1, 100, trait.shape[1])
    low = rng.random(X.shape[1]) < 0.2
    X[:, low] = np.maximum(X[:, low], np.quantile(X[:, low], 0.2, axis=0))
    return gaps(rng, plan, rounded(rng, plan, X))


def table(rng, plan):
    """Two to ten columns as measured, and a few that say nothing."""
    return measured(rng, plan, idle(rng, plan, latent(rng, plan, int(rng.integers(2, 11))), 8))


def categories(rng, plan, n_columns):
    """Levels, each part with its own profile of them: a latent class model."""
    base = [rng.normal(size=rng.integers(2, 9)) for _ in range(n_columns)]
    effect = [positions(rng, plan, len(levels)) for levels in base]
    profiles = lambda a: [softmax(b + a * e, axis=1) for b, e in zip(base, effect, strict=True)]  # noqa: E731
    a = amplitude(plan, lambda a: np.hstack([2 * np.sqrt(p) for p in profiles(a)]))
    logits = [of_rows(rng, plan, b + min(a, 6) * e) for b, e in zip(base, effect, strict=True)]
    return [(rows + rng.gumbel(size=rows.shape)).argmax(1) for rows in logits]


def code(rng, plan):
    """Post codes, articles, diagnoses: 20 to 300 levels, a few frequent, weakly related to the clusters."""
    n_levels = int(log_uniform(rng, 20, 300))
    weight = 1 / np.arange(1, n_levels + 1) ** rng.uniform(0.3, 1.2)
    levels = rng.choice(n_levels, plan.n, p=weight / weight.sum())
    favourite = rng.integers(n_levels, size=(len(plan.answer), 4))[plan.part, rng.integers(4, size=plan.n)]
    levels = np.where((rng.random(plan.n) < rng.uniform(0, 0.35)) & ~plan.stray, favourite, levels)
    return np.array([f"{rng.choice(['A', 'K', 'Z'])}{10 + level}" for level in range(n_levels)])[levels]


def dates(rng, plan):
    """Days of six years, now and then later for some parts; as dates or as text."""
    shift = rng.normal(size=len(plan.answer)) * rng.choice([0, 200])
    after = np.floor(rng.uniform(0, 2000, plan.n) + shift[plan.part])
    days = pd.to_datetime("2018-03-01") + pd.to_timedelta(after, unit="D")
    return days if chance(rng, 0.6) else days.strftime("%Y-%m-%d")


def furnished(rng, plan, columns):
    """A frame of these columns and what else stands in tables: codes, dates, ids, flags, empty remarks, gaps."""
    ids = [f"R-{i:05d}" for i in range(plan.n)] if chance(rng, 0.5) else 10_000 + rng.permutation(plan.n)
    further = [
        (0.6, "postcode", code(rng, plan)),
        (0.3, "item_code", code(rng, plan)),
        (0.5, "created", dates(rng, plan)),
        (0.5, "id", ids),
        (0.3, "remarks", np.nan),
        (0.2, "source", "export"),
        (0.5, "newsletter", rng.random(plan.n) < rng.uniform(0.1, 0.9)),
    ]
    columns = columns | {name: values for p, name, values in further if chance(rng, p)}
    frame = pd.DataFrame(columns)
    for name in frame.columns[rng.random(frame.shape[1]) < (0.5 if chance(rng, 0.35) else 0)]:
        plan.note["gaps"] = "in a frame"
        by_value = pd.api.types.is_float_dtype(frame[name]) and chance(rng, 0.5)
        share = rng.uniform(0.02, 0.3) * (2 * frame[name].rank(pct=True) if by_value else 1)
        values = frame[name].astype(object) if frame[name].dtype == bool else frame[name]
        frame[name] = values.where(rng.random(plan.n) > share)
    return frame[list(rng.permutation(frame.columns))]


def named(rng, levels, kind):
    """Levels as words, as yes and no, or as booleans."""
    if levels.max() < 2 and chance(rng, 0.7):
        return levels.astype(bool) if chance(rng, 0.5) else np.where(levels == 1, "yes", "no")
    return np.array([f"{kind} {'abcdefghi'[level]}" for level in levels])


def customers(rng, plan):
    """Who buys what: recency, visits, baskets of log-normal size, with age, channel and region."""
    share = rng.uniform(0.4, 0.95)
    z = latent(rng, replace(plan, gap=plan.gap * np.sqrt(share)), 5) / 2
    visits = rng.poisson(np.exp(np.clip(1.6 + 0.8 * z[:, 0], -3, 7)))
    basket = np.exp(np.clip(3.3 + 0.5 * z[:, 1], -2, 12))
    columns = {
        "visits": visits,
        "spend": np.round(visits * basket * np.exp(0.2 * rng.normal(size=plan.n)), 2),
        "age": np.clip(np.round(45 + 8 * z[:, 2]), 16, 99),
        "days_since_last": np.round(np.exp(np.clip(3.5 + 0.7 * z[:, 3], 0, 8))),
        "discount_share": np.round(1 / (1 + np.exp(-z[:, 4])), 2),
        "household": 1 + rng.poisson(1.4, plan.n),
    }
    kinds = ["channel", "payment", "tier"]
    levels = categories(rng, replace(plan, gap=plan.gap * np.sqrt(1 - share)), 3)
    columns |= {kind: named(rng, column, kind) for kind, column in zip(kinds, levels, strict=True)}
    return furnished(rng, plan, columns)


def records(rng, plan):
    """Patients, parcels or machines: numbers on several scales, categories and flags, some of them idle."""
    share = rng.uniform(0.2, 0.9)
    z = idle(rng, plan, latent(rng, replace(plan, gap=plan.gap * np.sqrt(share)), int(rng.integers(2, 9))), 4)
    columns = {}
    for j, values in enumerate(z.T):
        how = rng.choice(["plain", "skewed", "whole", "twice"], p=[0.4, 0.25, 0.25, 0.1])
        stored = {"skewed": np.exp(np.clip(values / 3, -9, 9)), "whole": np.round(50 + 4 * values)}
        columns[f"value_{j}"] = stored.get(how, values * 12.5 + 70)
        if how == "twice":  # once more in other units
            columns[f"value_{j}_old"] = np.round(columns[f"value_{j}"] * 2.2, 1)
    rest = replace(plan, gap=plan.gap * np.sqrt(1 - share))
    for j, levels in enumerate(categories(rng, rest, int(rng.integers(1, 9)))):
        columns[f"type_{j}"] = named(rng, levels, "type")
    for j in range(int(rng.integers(0, 4))):
        columns[f"group_{j}"] = named(rng, rng.integers(rng.integers(2, 7), size=plan.n), "group")
    return furnished(rng, plan, columns)


def profiles(rng, plan):
    """Nearly nothing but categories."""
    levels = categories(rng, plan, int(rng.integers(5, 25)))
    columns = {f"question_{j}": named(rng, column, "answer") for j, column in enumerate(levels)}
    columns |= {"hours": np.round(rng.gamma(2, 10, plan.n), 1)} if chance(rng, 0.4) else {}
    return furnished(rng, plan, columns) if chance(rng, 0.5) else pd.DataFrame(columns)


def stable(mean, dispersion):
    """Counts of this mean where their variance is one, whatever the mean: 2 √r arsinh √(mean / r)."""
    return 2 * np.sqrt(dispersion) * np.arcsinh(np.sqrt(mean / dispersion))


def negative_binomial(rng, mean, dispersion):
    return rng.poisson(mean * rng.gamma(dispersion, 1 / dispersion, mean.shape))


def events(rng, plan):
    """Defects, visits or species seen: counts with more zeros than chance explains."""
    p = int(log_uniform(rng, 5, 60))
    base, theta, dispersion = rng.normal(0.8, 1.2, p), positions(rng, plan, p), log_uniform(rng, 0.8, 20)
    a = amplitude(plan, lambda a: stable(np.exp(np.clip(base + a * theta, -6, 6)), dispersion))
    mean = np.exp(np.clip(base + of_rows(rng, plan, a * theta), -6, 6))
    X = negative_binomial(rng, mean, dispersion / plan.spread[plan.part, None] ** 2)
    return X * (rng.random(X.shape) > rng.uniform(0, 0.35))


def cells(rng, plan):
    """Reads of genes in cells: libraries of unequal depth, a few markers for each part, dropout, plates."""
    p = int(min(log_uniform(rng, 200, 2000), 4e6 / plan.n))
    depth = log_uniform(rng, 800, 8000) * np.exp(rng.uniform(0.1, 0.6) * rng.normal(size=(plan.n, 1)))
    base, dispersion = rng.normal(0, 1.5, p), log_uniform(rng, 1, 10)
    markers = rng.random(p) < log_uniform(rng, 0.03, 0.3)
    theta = positions(rng, plan, p) * markers
    shares = lambda a: softmax(base + np.clip(a * theta, -5, 5), axis=1)  # noqa: E731
    a = amplitude(plan, lambda a: 0.6 * stable(np.median(depth) * shares(a), dispersion))
    logits = base + of_rows(rng, plan, np.clip(a * theta, -5, 5))
    logits += 0.25 * plan.spread[plan.part, None] * rng.normal(size=logits.shape)
    logits = nuisance(rng, plan, batches(rng, plan, logits, p=0.3), p=0.1)  # batches, cell cycle
    X = negative_binomial(rng, depth * softmax(logits, axis=1), dispersion)
    X *= rng.random(X.shape) > rng.uniform(0, 0.3)
    return csr_matrix(X) if chance(rng, 0.4) else X


def compositions(rng, plan, p, length, concentration, sparsity):
    """Dirichlet-multinomial counts about Zipf's law, rare or frequent columns raised by part."""
    base = -rng.uniform(0.7, 1.1) * np.log(np.arange(1, p + 1) + 2.0)[rng.permutation(p)]
    theta = positions(rng, plan, p) * (rng.random((plan.classes[-1] + 1, p)) < sparsity)[plan.classes]
    typical = np.median(length)
    known = typical * (1 + concentration) / (typical + concentration)
    a = amplitude(plan, lambda a: 2 * np.sqrt(known * softmax(base + np.clip(a * theta, -4, 5), axis=1)))
    logits = base + of_rows(rng, plan, np.clip(a * theta, -4, 5))
    shares = rng.gamma(softmax(logits, axis=1) * concentration / plan.spread[plan.part, None] ** 2) + 1e-12
    return rng.multinomial(np.maximum(length, 3).astype(int), shares / shares.sum(1, keepdims=True))


def taxa(rng, plan):
    """Organisms in samples: reads of unequal depth, most of them zero."""
    p = int(min(log_uniform(rng, 60, 800), 4e6 / plan.n))
    return compositions(rng, plan, p, log_uniform(rng, 1000, 20000, plan.n), log_uniform(rng, 20, 300), 0.4)


def topics(rng, plan):
    """Words of documents."""
    p = int(min(log_uniform(rng, 300, 4000), 6e6 / plan.n))
    length = log_uniform(rng, 25, 300) * np.exp(0.5 * rng.normal(size=plan.n))
    return csr_matrix(compositions(rng, plan, p, length, log_uniform(rng, 100, 2000), log_uniform(rng, 0.05, 0.5)))


SYLLABLES = re.findall("..", "bacedifogulameniporusatevixozukrapetomidabeisonur")
FILLERS = ["the", "a", "of", "to", "in", "is", "not", "and", "for", "with", "my", "on", "it", "please", "was"]


def tickets(rng, plan):
    """Requests of a few words, with filler words and slips of the keyboard."""
    p = int(min(log_uniform(rng, 150, 1500), 5e6 / plan.n))
    words = list(dict.fromkeys("".join(rng.choice(SYLLABLES, rng.integers(2, 5))) for _ in range(p)))
    length = np.round(log_uniform(rng, 4, 16) * np.exp(0.3 * rng.normal(size=plan.n)))
    X = csr_matrix(compositions(rng, plan, len(words), length, log_uniform(rng, 100, 2000), log_uniform(rng, 0.1, 0.5)))
    slips, texts = rng.choice([0, 0.03]), []
    for i in range(plan.n):
        said = [words[j] for j in np.repeat(X[i].indices, X[i].data)]
        said = [w[:-1] if rng.random() < slips else w for w in said] + list(rng.choice(FILLERS, rng.integers(1, 6)))
        texts.append(" ".join(rng.permutation(said)).capitalize())
    return texts


def survey(rng, plan):
    """Items of five or seven points by a graded response model: traits, reversed items, styles of answering."""
    n_traits, n_items, n_points = int(rng.integers(2, 6)), int(rng.integers(8, 45)), int(rng.choice([5, 5, 7, 10]))
    trait = latent(rng, plan, n_traits)
    trait /= trait.std()
    loading = np.eye(n_traits)[rng.integers(n_traits, size=n_items)].T * rng.uniform(0.6, 2.5, n_items)
    sign, agreeing = np.where(rng.random(n_items) < 0.3, -1, 1), rng.uniform(0, 0.6) * rng.normal(size=(plan.n, 1))
    extreme = np.exp(rng.uniform(0, 0.4) * rng.normal(size=(plan.n, 1)))
    felt = (
        extreme * (sign * (trait @ loading) + rng.logistic(size=(plan.n, n_items)) * rng.uniform(0.2, 0.7)) + agreeing
    )
    steps = np.sort(rng.normal(0, 1.5, (n_points - 1, n_items)), axis=0) + rng.normal(0, 0.5, n_items)
    X = 1.0 + (felt > steps[:, None]).sum(0)
    same = plan.stray & (rng.random(plan.n) < 0.5)  # who ticks one box all the way down
    X[same] = rng.integers(1, n_points + 1, (same.sum(), 1))
    X = gaps(rng, plan, X)
    return pd.DataFrame(X, columns=[f"q{j + 1}" for j in range(n_items)]) if chance(rng, 0.5) else X


def budgets(rng, plan):
    """What a household or a department spends on what: shares of a total that varies a hundredfold."""
    p = int(rng.integers(4, 20))
    base, theta, scatter = rng.normal(0, 0.8, p), positions(rng, plan, p), rng.uniform(0.3, 0.8)
    a = amplitude(plan, lambda a: np.clip(a * theta, -5, 5) / scatter)
    logits = base + of_rows(rng, plan, np.clip(a * theta, -5, 5))
    logits += scatter * plan.spread[plan.part, None] * rng.normal(size=logits.shape)
    total = np.exp(rng.normal(8, rng.uniform(0.3, 1.1), (plan.n, 1)))
    X = np.round(total * softmax(logits, axis=1), int(rng.choice([2, 2, 0, -1])))
    return X * (rng.random(X.shape) > rng.choice([0, 0.05, 0.15]))


def payments(rng, plan):
    """Amounts with tails as Pareto saw them, none at all for many, some of them refunds."""
    z = latent(rng, plan, int(rng.integers(3, 12)))
    tails = np.exp(rng.exponential(rng.uniform(0.05, 0.5), z.shape))
    X = np.exp(np.clip(4 + 0.6 * z, -5, 14)) * tails
    never = z + rng.logistic(size=z.shape) < np.quantile(z, rng.uniform(0, 0.5))
    X = np.round(np.where(never & (rng.random(z.shape[1]) < 0.5), 0, X), 2)
    refunds = rng.random(X.shape) < rng.choice([0, 0.01])
    columns = [f"amount_{j}" for j in range(X.shape[1])]
    return pd.DataFrame(np.where(refunds, -X, X), columns=columns) if chance(rng, 0.4) else np.where(refunds, -X, X)


def sentences(rng, plan):
    """Embeddings on the sphere: one common direction, a spectrum that falls as a power."""
    p = int(rng.choice([64, 96, 128, 256, 384]))
    spectrum = np.arange(1, p + 1) ** -rng.uniform(0.2, 0.7)
    theta = np.pad(positions(rng, plan, q := int(rng.integers(6, 40))), ((0, 0), (0, p - q)))
    a = amplitude(plan, lambda a: a * theta * spectrum / spectrum[:q].mean())
    rows = of_rows(rng, plan, a * theta) + plan.spread[plan.part, None] * rng.normal(size=(plan.n, p))
    rows = nuisance(rng, plan, rows * spectrum, p=0.2) @ np.linalg.qr(rng.normal(size=(p, p)))[0] + rng.normal(
        size=p
    ) * rng.choice([0, 0.3])
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def activations(rng, plan):
    """The last layer but one of a network: two random layers over a few hidden causes, cut off at zero."""
    z, p = latent(rng, plan, int(rng.integers(3, 13))), int(rng.choice([64, 128, 200, 384]))
    z /= z.std()
    for width in (2 * p, p):
        z = np.maximum(0, z @ rng.normal(size=(z.shape[1], width)) / np.sqrt(z.shape[1]) + 0.3 * rng.normal(size=width))
    X = (z + 0.1 * z.std() * np.abs(rng.normal(size=z.shape))).astype(np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True) if chance(rng, 0.5) else X


def days(rng, plan):
    """Loads over a day: humps of each part, earlier or later, higher or lower, with noise that lasts."""
    t = np.linspace(0, 1, int(rng.choice([24, 48, 96, 150])))
    n_humps = int(rng.integers(3, 9))
    humps = np.exp(-(((t - rng.uniform(0, 1, (n_humps, 1))) / rng.uniform(0.03, 0.15, (n_humps, 1))) ** 2) / 2)
    theta, phi = positions(rng, plan, n_humps), rng.uniform(0, 0.9)
    a = amplitude(plan, lambda a: a * theta @ humps * np.sqrt((1 - phi) / (1 + phi)))
    rows = of_rows(rng, plan, a * theta) @ humps + rng.uniform(0, 3) * humps.sum(0)
    late = np.round(rng.normal(size=plan.n) * rng.choice([0, 0.01, 0.04, 0.1]) * len(t)).astype(int)
    rows = np.take_along_axis(rows, (np.arange(len(t)) - late[:, None]) % len(t), axis=1)
    noise = rng.normal(size=rows.shape)
    for j in range(1, len(t)):
        noise[:, j] = phi * noise[:, j - 1] + np.sqrt(1 - phi**2) * noise[:, j]
    rows = rows * np.exp(rng.choice([0, 0.3]) * rng.normal(size=(plan.n, 1))) + plan.spread[plan.part, None] * noise
    return rows + rng.choice([0, 1]) * rng.normal(size=(plan.n, 1))


def spectra(rng, plan):
    """Absorption of samples: peaks of substances, a baseline that drifts, samples of unequal thickness."""
    t = np.linspace(0, 1, int(log_uniform(rng, 80, 400)))
    width = rng.uniform(0.005, 0.03, (n_peaks := int(rng.integers(5, 20)), 1))
    peaks = 1 / (1 + ((t - rng.uniform(0, 1, (n_peaks, 1))) / width) ** 2)
    heights = np.exp(np.clip(0.3 * latent(rng, plan, n_peaks), -5, 5))
    drift = rng.normal(size=(plan.n, 3)) @ np.stack([np.ones_like(t), t, t**2]) * rng.uniform(0, 0.2)
    thick = np.exp(rng.uniform(0, 0.2) * rng.normal(size=(plan.n, 1)))
    X = thick * (heights @ peaks) + drift + rng.uniform(0, 0.3) * rng.normal(size=(plan.n, len(t)))
    return batches(rng, plan, nuisance(rng, plan, X, p=0.2))


def assays(rng, plan):
    """Thousands of probes on some dozens of samples: modules move together, few of them differ."""
    p, n_modules = int(log_uniform(rng, plan.n + 50, 3000)), int(rng.integers(2, 15))
    z = latent(rng, plan, q := int(rng.integers(2, 8)))
    modules = np.hstack([z, rng.normal(size=(plan.n, n_modules)) * log_uniform(rng, 0.3, 1.3, n_modules)])
    weight = np.eye(q + n_modules)[rng.integers(q + n_modules, size=p)].T * rng.normal(1, 0.5, p)
    X = modules @ (weight * (rng.random(p) < rng.uniform(0.2, 0.9)))
    X += rng.normal(size=X.shape) * rng.uniform(0.5, 2)
    return gaps(rng, plan, batches(rng, plan, nuisance(rng, plan, X, p=0.2), p=0.35) + rng.uniform(4, 12, p), p=0.15)


def genotypes(rng, plan):
    """0, 1 or 2 copies of a variant in people of several origins."""
    p = int(log_uniform(rng, plan.n + 50, 2500))
    base, theta = rng.normal(-0.8, 1, p), positions(rng, plan, p)
    shares = lambda logit: 1 / (1 + np.exp(-logit))  # noqa: E731
    a = amplitude(plan, lambda a: 2 * np.sqrt(2) * np.arcsin(np.sqrt(shares(base + a * theta))))
    return gaps(rng, plan, rng.binomial(2, shares(base + of_rows(rng, plan, a * theta))).astype(float), p=0.3)


def outline(family, inner, t):
    """Points on one of two interlocked curves, `t` from 0 to 1."""
    angle = np.pi * t
    return {
        "rings": np.c_[np.cos(2 * angle), np.sin(2 * angle)] * (0.4 if inner else 1),
        "moons": (np.c_[np.cos(angle), np.sin(angle)] - np.array([0.5, 0.25])) * (-1 if inner else 1),
        "spirals": (0.25 + t[:, None]) * np.c_[np.cos(3 * angle + np.pi * inner), np.sin(3 * angle + np.pi * inner)],
        "bars": np.c_[2 * t - 1, np.full(len(t), 0.6 * inner - 0.3)],
        "waves": np.c_[2 * t - 1, 0.5 * np.sin(2 * angle) + 0.7 * inner - 0.35],
    }[family]


def curved(rng, plan):
    """Rings, moons, spirals, bars and waves, two and two interlocked."""
    families = rng.choice(["rings", "moons", "spirals", "bars", "waves"], 1 + len(plan.answer) // 2)
    side, X = int(np.ceil(np.sqrt(len(families)))), np.empty((plan.n, 2))
    for j in range(len(plan.answer)):
        of_part = plan.part == j
        corner = 2.8 * np.array(divmod(j // 2, side))
        X[of_part] = corner + outline(families[j // 2], j % 2, rng.random(of_part.sum()))
    X += rng.normal(size=X.shape) * 0.45 / plan.gap * plan.spread[plan.part, None]
    X[plan.stray] = rng.uniform(X.min(0), X.max(0), (plan.stray.sum(), 2))
    if chance(rng, 0.4):  # the plane lies somewhere in more columns
        X = X @ np.linalg.qr(rng.normal(size=(int(rng.integers(3, 9)), 2)))[0].T
        X += 0.15 / plan.gap * rng.normal(size=X.shape)
    return rounded(rng, plan, X)


def branches(rng, plan):
    """A tree whose branches are the clusters: rows on their way from one state to another."""
    q = int(rng.integers(2, 11))
    ends, X = [np.zeros(q)], np.empty((plan.n, q))
    for j in range(len(plan.answer)):
        of_part, root, way = plan.part == j, ends[rng.integers(len(ends))], rng.normal(size=q)
        way *= rng.uniform(1, 2.5) / np.linalg.norm(way)
        X[of_part] = root + rng.beta(1.5, 1, (of_part.sum(), 1)) * way
        ends.append(root + way)
    X += rng.normal(size=X.shape) * 0.8 / plan.gap * plan.spread[plan.part, None] / np.sqrt(q / 2)
    X[plan.stray] = rng.uniform(X.min(0), X.max(0), (plan.stray.sum(), q))
    return measured(rng, plan, X)


def continuum(rng, plan):
    """One cloud: a cube, a ball with heavy tails, a horseshoe, a gradient, or columns that are skewed."""
    n, p, how = plan.n, int(log_uniform(rng, 1, 40)), rng.choice(["cube", "tails", "horseshoe", "gradient", "skewed"])
    plan.note["as"] = str(how)
    t = rng.random((n, 1))
    X = {
        "cube": lambda: rng.random((n, p)),
        "tails": lambda: rng.standard_t(3, (n, p)),
        "horseshoe": lambda: np.sin(t * rng.uniform(1.5, 6, p) + rng.uniform(0, 6, p)) + 0.1 * rng.normal(size=(n, p)),
        "gradient": lambda: t * rng.normal(0, 4, p) + rng.normal(size=(n, p)),
        "skewed": lambda: np.exp(rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) / np.sqrt(p)),
    }[how]()
    return gaps(rng, plan, rounded(rng, plan, X))


SCENARIOS: dict[str, tuple[float, list[Callable[..., Any]]]] = {
    "numbers": (0.17, [sensors, specimens, table]),
    "mixed": (0.18, [customers, records, profiles]),
    "counts": (0.07, [events]),
    "reads": (0.07, [cells, taxa]),
    "words": (0.06, [topics]),
    "texts": (0.05, [tickets]),
    "likert": (0.07, [survey]),
    "money": (0.06, [budgets, payments]),
    "embeddings": (0.08, [sentences, activations]),
    "curves": (0.07, [days, spectra]),
    "wide": (0.06, [assays, genotypes]),
    "shapes": (0.06, [curved, branches]),
}
# How much farther apart clusters are where the mechanism itself hides more: depths, baselines, totals, idle modules.
HIDES = {cells: 2.2, assays: 2.5, budgets: 2.5, spectra: 2.2, taxa: 1.2, days: 1.6, events: 1.4, payments: 1.4}
HIDES |= {specimens: 1.4, topics: 0.9, genotypes: 1.3, branches: 1.3, tickets: 1.3, records: 1.2, customers: 1.2}
HIDES |= {survey: 1.2, sensors: 1.2}
LIMITS = {"wide": {"rows": (50, 250)}, "shapes": {"most": 10}, "texts": {"rows": (50, 3000)}}


def repeated(rng, plan, X, y):
    """Some rows that were entered twice."""
    if not chance(rng, 0.1):
        return X, y
    from_row = np.arange(len(y))
    again = rng.random(len(y)) < log_uniform(rng, 0.01, 0.3)
    from_row[again] = rng.integers(len(y), size=again.sum())
    plan.note["repeated"] = int(again.sum())
    if isinstance(X, list):
        return [X[i] for i in from_row], y[from_row]
    return (X.iloc[from_row].reset_index(drop=True) if isinstance(X, pd.DataFrame) else X[from_row]), y[from_row]


def draw(seed):
    """A data set with its planted answer; the same seed, the same draw."""
    rng = np.random.default_rng([51, seed])
    like = kind = str(rng.choice(list(SCENARIOS), p=[share for share, _ in SCENARIOS.values()]))
    scenario = SCENARIOS[kind][1][rng.integers(len(SCENARIOS[kind][1]))]
    if chance(rng, 0.08):  # the same mechanism with one part; shapes are clusters by what they are
        kind = "nothing"
        scenario = continuum if like == "shapes" or chance(rng, 0.35) else scenario
    plan = planned(rng, single=kind == "nothing", **LIMITS.get(like, {}))
    plan = replace(plan, gap=plan.gap * HIDES.get(scenario, 1))
    X, y = repeated(rng, plan, scenario(rng, plan), plan.y)
    kept = np.unique(y[y >= 0], return_counts=True)[1]
    note = {"scenario": scenario.__name__, "n_clusters": len(kept), "sizes": round(float(kept.max() / kept.min()), 1)}
    return Draw(X, y, kind, note | plan.note)


def prepared(X):
    """Numbers of any draw in the plainest way: words weighted, levels as columns, long tails in logarithms."""
    if isinstance(X, list) or issparse(X):
        weights = TfidfVectorizer() if isinstance(X, list) else TfidfTransformer(sublinear_tf=True)
        X = weights.fit_transform(X)
        return TruncatedSVD(min(30, X.shape[1] - 1), random_state=0).fit_transform(X)
    if isinstance(X, pd.DataFrame):
        used = [c for c in X if c != "id" and (X[c].nunique() < 16 or pd.api.types.is_numeric_dtype(X[c]))]
        X = pd.get_dummies(X[used]).to_numpy(float)
    X = np.asarray(X, dtype=float)
    X = X[:, ~np.isnan(X).all(0)]
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    skewed = (X.min(0) >= 0) & (X.max(0) > 8 * (X.mean(0) + 1e-12))
    X = np.where(skewed, np.log1p(np.abs(X) / (np.median(np.abs(X), axis=0) + 1)), X)
    X = (X - X.mean(0)) / np.where(X.std(0) > 1e-9, X.std(0), 1)
    return TruncatedSVD(30, random_state=0).fit_transform(X) if X.shape[1] > 30 else X


def clearness(found):
    """ARI of k-means that is given the planted number, over the rows that belong to something."""
    belong, X = found.y >= 0, prepared(csr_matrix(found.X) if found.kind == "reads" else found.X)
    labels = KMeans(found.note["n_clusters"], n_init=5, random_state=0).fit_predict(X)
    return adjusted_rand_score(found.y[belong], labels[belong])


def main(n_draws=30):
    rows = []
    for seed in range(n_draws):
        found = draw(seed)
        size = (len(found.X), 1) if isinstance(found.X, list) else found.X.shape
        ari = np.nan if found.kind == "nothing" else clearness(found)
        rows.append({"kind": found.kind, "ari": ari, **found.note})
        if n_draws <= 30:
            print(f"{seed:3} {found.kind:10} {size[0]:5} x {size[1]:<5} ARI {ari:5.2f}  {found.note}")
    if n_draws > 30:
        frame = pd.DataFrame(rows)
        shown = frame.groupby("scenario").ari.describe()[["count", "25%", "50%", "75%"]]
        shown["below .2"] = (frame.ari < 0.2).groupby(frame.scenario).mean()
        print(shown.round(2).to_string())
        print(
            np.histogram(frame.ari.dropna(), np.linspace(0, 1, 11))[0],
            f"below .2: {(frame.ari.dropna() < 0.2).mean():.2f}",
        )
        print(frame.grain.value_counts().to_dict(), "clusters:", frame.n_clusters.quantile([0.1, 0.5, 0.9]).tolist())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
