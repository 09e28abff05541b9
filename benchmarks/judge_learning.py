"""Learns the judge from planted draws: ``make judge``.

Draws of :mod:`jointclust.judge.prior` go through the library's own views; the candidates of every number, and what the
consensus and its layers make of them, are measured (:mod:`jointclust.judge.evidence`) and compared with the planted
truth. What is measured is kept in parts, so that a stopped run goes on. Then boosted trees learn to predict the
agreement. Nothing here sees a real data set.

    python benchmarks/judge_learning.py [--draws 2400] [--folder build/judge]
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import linear_sum_assignment
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from jointclust.consensus import fitting
from jointclust.consensus.estimator import JointConsensus
from jointclust.consensus.judged import seen_in
from jointclust.judge import judge, prior, words
from jointclust.judge.evidence import GLOBAL, MEASURES, rand_index

_PART = 40  # draws of a part
_NOTHING, _FOR_EACH = 2500, 2  # parts from this number on are of rows without clusters: one for so many others
_HONEST = 0.087  # rows without clusters, for each draw with some: as in the prior
# Predicted agreement of what is fairly sure, and sure: fits of that have .9 in the mean, and half of those of .95 do.
_SURE = (0.3, 0.78)
_HOPELESS = 0.2  # a draw is hopeless if no candidate agrees more than this
_FITTED = 3  # of so many draws one is fitted by the consensus
_ROWS = 60  # rows of a fit whose confidence is learned from


def agreement(truth, labels):
    """The adjusted Rand index on the rows that belong to a cluster."""
    known = truth >= 0
    names = np.unique(truth[known], return_inverse=True)[1]
    return rand_index(names.ravel(), np.unique(labels[known], return_inverse=True)[1].ravel())


def rightly_placed(labels, truth):
    """Whether each row is in the cluster that stands for its own: clusters are matched one to one."""
    names, own = np.unique(truth, return_inverse=True)
    table = np.zeros((int(labels.max()) + 1, names.size))
    np.add.at(table, (labels, own.ravel()), 1)
    table[:, names < 0] = 0
    matched = np.full(len(table), -1)
    one, other = linear_sum_assignment(-table)
    matched[one] = np.where(table[one, other] > 0, names[other], -2)
    return (matched[labels] == truth) & (truth >= 0)


def measured(seed: int, draw=prior.draw) -> dict[str, np.ndarray] | None:
    """All that is learned from one draw."""
    planted = draw(seed)
    rng, y = np.random.RandomState(seed), np.asarray(planted.y)
    model = JointConsensus(2, trust=False, random_state=0)
    viewed = model._view(planted.X, None, np.random.RandomState(0))[0]
    sample = viewed.sample(np.random.RandomState(0))
    seen = seen_in(viewed, sample)
    if seen is None:
        return None
    evidence, rows = seen.evidence, sample[seen.rows]
    truth = y[rows]
    grid = judge.numbers_for(evidence.n_rows)
    features = judge.features_of_numbers(evidence, grid)
    scores = []
    for k in grid:
        of = evidence.of_number(k)
        scores.append(max(agreement(truth, labels) for labels in (of.means, of.discriminant, of.joined)))
    k_true = max(np.unique(y[y >= 0]).size, 1)
    partitions, agreements, which = [], [], []
    for k in rng.choice(grid, min(4, len(grid)), replace=False):
        of = evidence.of_number(k)
        labels = (of.means, of.discriminant, of.joined)[rng.randint(3)]
        partitions.append(judge.features_of_partition(evidence, labels))
        agreements.append(agreement(truth, labels))
        which.append(0)
    most = max(2, min(60, len(y) // 8))
    nearby = int(np.clip(round(max(k_true, 2) * np.exp(rng.uniform(-0.9, 0.9))), 2, most))
    other = int(np.clip(round(np.exp(rng.uniform(np.log(2), np.log(min(most, 20) + 0.4)))), 2, most))
    row_features, row_right = [], []
    for k in dict.fromkeys([min(max(k_true, 2), most), nearby, other]) if seed % _FITTED == 0 else ():
        fit = JointConsensus(k, trust=False, random_state=0)
        fit._fit_viewed(viewed, np.random.RandomState(0))
        labels = np.asarray(fit.labels_)
        partitions.append(judge.features_of_partition(evidence, labels[rows]))
        agreements.append(agreement(truth, labels[rows]))
        which.append(1 if k == k_true else 2)
        some = rng.choice(len(y), min(_ROWS, len(y)), replace=False)
        clusters = judge.features_of_clusters(evidence, labels[rows], k)
        ratio = judge.log_ratio(np.asarray(fit.soft_labels_)[some])
        place = np.full(len(some), len(partitions) - 1)
        row_features.append(np.column_stack([ratio, clusters[labels[some]], place]))
        row_right.append(rightly_placed(labels, y)[some])
        layer = int(rng.randint(2, 4 * k + 1))
        if layer <= len(fit.linkage()) + 1:
            labels = np.asarray(fit.cut(layer))
            if np.unique(labels).size > 1:
                partitions.append(judge.features_of_partition(evidence, labels[rows]))
                agreements.append(agreement(truth, labels[rows]))
                which.append(3)
    rows_of = np.vstack([np.empty((0, 5)), *row_features])
    n = len(grid)
    return {
        "numbers": np.array(grid), "features": features, "scores": np.array(scores), "of_number": np.full(n, seed),
        "data": judge.features_of_data(evidence)[None], "k_true": np.array([k_true]), "seed": np.array([seed]),
        "kind": np.array([planted.kind]),
        "partitions": np.array(partitions), "agreements": np.array(agreements), "which": np.array(which),
        "of_partition": np.full(len(partitions), seed),
        "rows": rows_of, "right": np.concatenate([np.empty(0, bool), *row_right]),
        "of_row": np.full(len(rows_of), seed),
    }  # fmt: skip


def probe() -> np.ndarray:
    """What is measured of a small draw: a test compares it with what was measured when the judge was learned."""
    X = prior.draw(1, "numbers").X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        viewed = JointConsensus(2)._view(X, None, np.random.RandomState(0))[0]
    evidence = seen_in(viewed, viewed.sample(np.random.RandomState(0))).evidence
    return judge.features_of_numbers(evidence, [2, 3, 5])


def nothing(seed: int):
    """Rows without clusters: what the judge has to tell from clusters, more of them than people bring."""
    return prior.draw(seed, "nothing")


def part(folder: Path, number: int) -> Path:
    """One part, drawn unless it is there."""
    path, size = folder / f"part_{number:04d}.npz", _PART
    if path.exists():
        return path
    draw = nothing if number >= _NOTHING else prior.draw
    fitting.judged = lambda *_: None  # nobody judges while the judge learns
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(number * size, (number + 1) * size):
            try:
                found.append(measured(seed, draw))
            except (ValueError, np.linalg.LinAlgError) as error:
                print(f"draw {seed}: {type(error).__name__}: {error}", flush=True)
    found = [one for one in found if one is not None]
    whole = {name: np.concatenate([one[name] for one in found]) for name in found[0]}
    whole = {name: a.astype(np.float32) if a.dtype == np.float64 else a for name, a in whole.items()}
    unfinished = folder / f"unfinished_{number:04d}.npz"
    np.savez(unfinished, **whole)
    unfinished.rename(path)
    return path


def gathered(folder: Path, draws: int, workers: int = 2) -> dict[str, np.ndarray]:
    """All parts, drawn where they are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    start, numbers = (
        time.perf_counter(),
        [*range(-(-draws // _PART)), *range(_NOTHING, _NOTHING - (-draws // (_PART * _FOR_EACH)))],
    )
    with ProcessPoolExecutor(workers) as pool:
        paths = []
        for path in pool.map(part, [folder] * len(numbers), numbers):
            paths.append(path)
            print(f"{len(paths)} of {len(numbers)} parts, {time.perf_counter() - start:.0f} s", flush=True)
    parts = [np.load(path) for path in paths]
    return {name: np.concatenate([one[name] for one in parts]) for name in parts[0].files}


# -- learning ------------------------------------------------------------------------------------------------------


def boosted(X, y, weights, trees, *, leaves=16, is_class=False):
    """Boosted trees, by scikit-learn."""
    options = {
        "learning_rate": 0.05, "max_iter": trees, "max_leaf_nodes": leaves, "min_samples_leaf": 30,
        "l2_regularization": 5.0, "max_features": 0.4, "random_state": 0, "early_stopping": False,
    }  # fmt: skip
    kind = HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor
    return kind(**options).fit(X, y, sample_weight=weights)


def arrays_of(model) -> judge.Trees:
    """The trees as arrays: what the library applies."""
    nodes = [one[0].nodes for one in model._predictors]
    size = max(len(one) for one in nodes)

    def padded(field, dtype, fill=0):
        table = np.full((len(nodes), size), fill, dtype)
        for row, one in zip(table, nodes, strict=True):
            row[: len(one)] = one[field]
        return table

    leaf = padded("is_leaf", bool, True)
    feature = np.where(leaf, -1, padded("feature_idx", np.int16)).astype(np.int16)
    start = np.float64(np.ravel(model._baseline_prediction)[0])
    # A threshold in single precision is not less than in double: the rows on either side stay there.
    threshold = padded("num_threshold", np.float64)
    single = threshold.astype(np.float32)
    single = np.where(single < threshold, np.nextafter(single, np.float32(np.inf)), single)
    return judge.Trees(
        start, feature, single, padded("left", np.int16), padded("right", np.int16), padded("value", np.float32)
    )


def held_out(X, y, weights, fold, trees, *, is_class=False, n_folds=5):
    """What trees say of rows of draws that they have not seen."""
    said = np.zeros(len(y))

    def of_fold(one):
        test = fold == one
        own = None if weights is None else weights[~test]
        with threadpool_limits(1):
            return arrays_of(boosted(X[~test], y[~test], own, trees, is_class=is_class))(X[test])

    for one, found in enumerate(Parallel(2)(delayed(of_fold)(one) for one in range(n_folds))):
        said[fold == one] = found
    return said


def logistic(terms: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The weights of a logistic rule."""
    model = LogisticRegression(C=10.0, max_iter=1000).fit(terms, right)
    return np.concatenate([model.intercept_, model.coef_[0]])


def best_limit(anything, nothing, agreement) -> float:
    """The probability below which one cluster is said: most is right without clusters for the agreement lost with them.

    Each counts as often as people bring it.
    """
    limits = np.linspace(0.05, 0.95, 91)
    gains = [
        np.mean(anything[nothing] < at) * _HONEST - np.sum(agreement[anything < at]) / np.sum(~nothing) for at in limits
    ]
    return float(limits[int(np.argmax(gains))])


def learned(D: dict[str, np.ndarray], trees: int = 200) -> dict[str, np.ndarray]:
    """All parts of the judge's file; what is learned from predictions is learned from those on draws held out."""
    D = {name: value.astype(np.float64) if value.dtype == np.float32 else value for name, value in D.items()}
    place = {seed: number for number, seed in enumerate(D["seed"].tolist())}
    some = D["k_true"] > 1
    of = np.array([place[seed] for seed in D["of_number"].tolist()])
    fold, scores = np.arange(len(place)) % 5, D["scores"]
    best = np.full(len(place), -1.0)
    np.maximum.at(best, of, scores)
    worse, weights = scores - best[of], np.clip(best[of], 0.0, 1.0) * some[of]
    parts: dict[str, judge.Trees] = {}
    models = {
        "choice": (D["features"], np.exp(worse / judge.SOFT), weights, fold[of], False),
        "level": (D["features"], scores, None, fold[of], False),
        # Hopeless draws teach nothing: clusters that nobody finds.
        "anything": (D["data"], some.astype(int), np.where(some, (best >= _HOPELESS) * 1.0, 1.0), fold, True),
    }
    p_of = np.array([place[seed] for seed in D["of_partition"].tolist()])
    models["partition"] = (D["partitions"], D["agreements"], np.where(D["which"] > 0, 2.0, 1.0), fold[p_of], False)
    said = {}
    for name, (X, y, w, folds, is_class) in models.items():
        n_trees = trees // 2 if is_class else trees
        said[name] = held_out(X, y, w, folds, n_trees, is_class=is_class)
        parts[name] = arrays_of(boosted(X, y, w, n_trees, is_class=is_class))
        print(f"{name}: learned", flush=True)
    anything = 1 / (1 + np.exp(-said["anything"]))
    # -- the number
    found, near, terms, chosen, of_best = [], [], [], [], []
    for number in range(len(place)):
        own = np.flatnonzero(of == number)
        top = own[said["choice"][own].argmax()]
        own_scores = judge.scores_of(said["choice"][own], float(said["level"][top]))
        at = int(np.flatnonzero(own == top)[0])
        terms.append(judge.terms_of_number(own_scores, D["numbers"][own], at, anything[number]))
        k, truth = D["numbers"][top], D["k_true"][number]
        near.append(some[number] and max(k / truth, truth / k) <= judge.ABOUT)
        chosen.append(scores[top])
        found.append(k)
        of_best.append(own_scores[at])
    chosen, found, near = np.array(chosen), np.array(found), np.array(near)
    clear = some & (best >= _HOPELESS)
    planted = np.array([
        scores[own[np.abs(np.log(D["numbers"][own] / max(D["k_true"][one], 2))).argmin()]]
        for one in range(len(place)) for own in [np.flatnonzero(of == one)]
    ])  # fmt: skip
    factor = np.maximum(found / D["k_true"], D["k_true"] / found)
    print(f"clear draws {clear.sum()}: chosen {chosen[clear].mean():.3f}, planted {planted[clear].mean():.3f}, "
          f"best {best[clear].mean():.3f}; within 1.5x {np.mean(factor[clear] <= 1.5):.2f}, "
          f"4x {np.mean(factor[clear] > 4):.3f}")  # fmt: skip
    number_weights = logistic(np.array(terms), near)
    # -- rows
    r_of = np.array([place[seed] for seed in D["of_row"].tolist()])
    starts = np.searchsorted(p_of, np.arange(len(place)))
    agreement = np.clip(said["partition"], 0, 1)[starts[r_of] + D["rows"][:, 4].astype(int)]
    ratio, clusters = D["rows"][:, 0], D["rows"][:, 1:4]
    sure = judge.logit(agreement)
    row_terms = np.column_stack([sure, clusters, ratio, ratio * sure])
    row_weights = logistic(row_terms, D["right"])
    # -- limits: one cluster is said where there hardly is anything; how sure is sure
    nothing = ~some
    limit = best_limit(anything, nothing, np.where(clear, chosen, 0.0))
    print(f"limit {limit:.2f}", flush=True)
    for at in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        share = np.mean(anything[nothing] < at)
        print(f"P(anything) {at:.3f}: one is said of {share:.2f} without clusters, {np.mean(anything[clear] < at):.3f} "
              f"of clear ones, ARI lost {np.sum(chosen[clear & (anything < at)]) / clear.sum():.4f}")  # fmt: skip
    fits = np.isin(D["which"], (1, 2))
    predicted, true = np.clip(said["partition"][fits], 0, 1), D["agreements"][fits]
    for level in (0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9):
        own = predicted >= level
        print(f"predicted >= {level}: {own.mean():.2f} of fits, ARI {true[own].mean():.3f}; of those of .95 "
              f"{np.mean(own[true >= 0.95]):.2f}, of .98 {np.mean(own[true >= 0.98]):.3f}")  # fmt: skip
    for name, (one, other) in {
        "predicted agreement of fits": (predicted, true),
        "number": (judge.odds(number_weights, *np.array(terms).T), near.astype(float)),
        "rows": (judge.odds(row_weights, *row_terms.T), D["right"].astype(float)),
        "score of the chosen number": (np.array(of_best), chosen),
    }.items():
        order = np.array_split(np.argsort(one, kind="stable"), 10)
        print(f"calibration of {name}: {np.mean([abs(one[i].mean() - other[i].mean()) for i in order]):.3f}, "
              f"correlation {np.corrcoef(one, other)[0, 1]:.2f}")  # fmt: skip
    whole = {f"{name}_{field}": value for name, own in parts.items() for field, value in own._asdict().items()}
    return whole | {
        "number": number_weights, "rows": row_weights, "limits": np.array([limit, *_SURE]),
        "measures": np.array([*GLOBAL, *MEASURES]), "draws": np.array(len(place)), "probe": probe(),
    }  # fmt: skip


def effects(D: dict[str, np.ndarray], trees: int = 200) -> list[list[str]]:
    """What each theme of measures is worth: the agreement lost on draws held out where it is that of another draw."""
    place = {seed: number for number, seed in enumerate(D["seed"].tolist())}
    of, scores = np.array([place[seed] for seed in D["of_number"].tolist()]), D["scores"].astype(np.float64)
    best = np.full(len(place), -1.0)
    np.maximum.at(best, of, scores)
    clear = (D["k_true"] > 1) & (best >= _HOPELESS)
    target, weights = np.exp((scores - best[of]) / judge.SOFT), np.clip(best[of], 0, 1) * clear[of]
    X, test = D["features"].astype(np.float64), of % 5 == 0
    model = arrays_of(boosted(X[~test], target[~test], weights[~test], trees))
    own = [np.flatnonzero(of == one) for one in np.flatnonzero(clear) if one % 5 == 0]

    def reached(features):
        said = np.zeros(len(X))
        said[test] = model(features[test])
        return float(np.mean([scores[rows[said[rows].argmax()]] for rows in own]))

    everything, rng, lines = reached(X), np.random.RandomState(0), []
    for theme in words.THEMES:
        columns = [MEASURES.index(name) + shift * len(MEASURES) for name in theme.measures for shift in range(4)]
        mixed = X.copy()
        mixed[np.ix_(test, columns)] = X[np.ix_(rng.permutation(np.flatnonzero(test)), columns)]
        lines.append([theme.better, ", ".join(theme.measures), f"{everything - reached(mixed):.3f}"])
    return [["what it says", "measures", "agreement lost without it"], *sorted(lines, key=lambda one: -float(one[2]))]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=1600)
    parser.add_argument("--folder", type=Path, default=Path("build/judge"))
    parser.add_argument("--out", type=Path, default=judge.FILE)
    parser.add_argument("--effects", type=Path, help="write what each theme of measures is worth, as CSV")
    parser.add_argument("--have", action="store_true", help="learn from the parts that are there")
    asked = parser.parse_args()
    if asked.have:
        parts = [np.load(path) for path in sorted(asked.folder.glob("part_*.npz"))]
        drawn = {name: np.concatenate([one[name] for one in parts]) for name in parts[0].files}
    else:
        drawn = gathered(asked.folder, asked.draws)
    with threadpool_limits(1):
        if asked.effects is not None:
            with asked.effects.open("w") as file:
                csv.writer(file, lineterminator="\n").writerows(effects(drawn))
        np.savez_compressed(asked.out, **learned(drawn))
    print(f"{asked.out}: {asked.out.stat().st_size / 1e3:.0f} kB")
