"""Whether what is said of results is true: confidence and verdict against fits that had no part in them.

    JOINTCLUST_DATA=folder python benchmarks/confidence.py calibration|verdicts|cost [jobs] docs/evidence

"calibration": ten further fits of the default, each on a random half of the rows, label the other half; an optimal
assignment matches their clusters with those of the fit on all rows. Of the rows with some confidence, that share should
be put into the same cluster. Writes confidence.csv (error with ten bins, by set; and against the classes, for which
nothing is tuned) and reliability.svg.

"verdicts": planted clusters with the right number of clusters and with wrong ones, tables with empty columns, all of
which have to be used, rows without structure, blobs of which 90% of the cells are empty. Writes verdicts.csv and, by
fit, verdict_fits.csv. "clusters found again" is the share of the clusters of at least 20 rows that are, by 0.8. The
thresholds of the verdict were chosen on draws 0 to 3 of each kind and of what is wrong with it, and one of them, the
level of the test for gaps, on draws up to 13 ("tune"); draws that were not looked at before judge.

"cost": seconds of a processor, with trust and without. Writes trust_cost.csv.
"""

import csv
import inspect
import os
import sys
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import adjusted_rand_score

import jointclust as jc
from default import SETS
from jointclust.numerics.partitions import renumbered
from planted import EMPTY, KINDS, empty, planted

BINS, REFITS = 10, 10
# The rule of the confidence was made with draws 0 to 2 and with the seed 0 of the real sets in view: these are others.
PLANTED_DRAWS, REAL_SEED = range(24, 27), 1
# Draws that were looked at while thresholds were chosen, some of them; and others.
DRAWS = {"tune": range(2), "judge": range(14, 24)}
MISTAKEN = 4  # of the draws, so many are fitted with wrong numbers of clusters, too
EMPTY_DRAWS = {"tune": range(2), "judge": range(10, 20)}
FEWEST_ROWS, RIGHT, WRONG = 20, 0.98, 0.5
ALL_COLUMNS = {"columns": "all"} if "columns" in inspect.signature(jc.JointConsensus).parameters else {}


def take(data, rows):
    if isinstance(data, list):
        return [data[row] for row in rows]
    return data.iloc[rows] if isinstance(data, pd.DataFrame) else data[rows]


def loaded(name, draw):
    """Rows, classes and their number, of a planted kind or of a data set."""
    if draw is not None:
        data, classes = planted(name, draw)
        return data, classes, int(classes.max()) + 1
    result = jc.datasets.load(name)
    return result.data, np.unique(result.target, return_inverse=True)[1], result.n_classes


# -- calibration ----------------------------------------------------------------------------------------------------


def again(model, data, seed):
    """The clusters that further fits on halves give to the rows that they did not see, which are -1."""
    labels = np.asarray(model.labels_, dtype=np.int32)
    result, rng = np.full((REFITS, labels.size), -1, np.int32), np.random.RandomState(1000 + seed)
    for number, own in enumerate(result):
        order = rng.permutation(labels.size)
        half, rest = np.sort(order[: labels.size // 2]), np.sort(order[labels.size // 2 :])
        other = jc.JointConsensus(model.n_clusters, trust=False, random_state=1000 + number).fit(take(data, half))
        own[rest] = renumbered(other.predict(take(data, rest)), labels[rest], model.n_clusters)
    return result


def bins_of(sure, weights, sums):
    """Weight, mean confidence and mean of the truth, in each bin that has rows."""
    which = np.minimum((sure * BINS).astype(int), BINS - 1)
    masses, means, truths = (np.bincount(which, weights=one, minlength=BINS) for one in (weights, weights * sure, sums))
    held = masses > 0
    return np.column_stack([masses[held] / masses.sum(), means[held] / masses[held], truths[held] / masses[held]])


def error_of(bins):
    return float(bins[:, 0] @ np.abs(bins[:, 1] - bins[:, 2]))


def calibrated(name, draw, seed):
    """What the model says of a set, and what further fits and the classes say."""
    warnings.simplefilter("ignore")
    data, classes, n_clusters = loaded(name, draw)
    model = jc.JointConsensus(n_clusters, random_state=seed).fit(data)
    sure, result = np.asarray(model.confidence_), again(model, data, seed)
    n_seen, n_same = (result >= 0).sum(axis=0), (result == model.labels_).sum(axis=0)
    bins = bins_of(sure, n_seen, n_same)
    table = np.zeros((n_clusters, n_clusters))
    np.add.at(table, (model.labels_, classes), 1)
    right = table.argmax(axis=1)[model.labels_] == classes
    accuracy = jc.metrics.clustering_accuracy(classes, model.labels_)
    against_classes = error_of(bins_of(sure, np.ones(sure.size), right))
    return {
        "name": name if draw is None else f"{name} {draw}",
        "reproducibility": model.reproducibility_,
        "mean": sure.mean(),
        "again": n_same.sum() / n_seen.sum(),
        "error": error_of(bins),
        "right": right.mean(),
        "against classes": against_classes if accuracy > 0.5 and draw is None else None,
        "bins": bins,
        "sums": np.array([sure, n_seen, n_same]),
    }


def calibration(jobs, folder):
    known = set(jc.datasets.names())
    halves = {name: half for (_, half), names in SETS.items() for name in names if name in known}
    sets = [(name, None) for name in halves] + [(kind, draw) for kind in KINDS for draw in PLANTED_DRAWS]
    outcome = Parallel(jobs)(delayed(tried)(name, draw) for name, draw in sets)
    outcome = [(*one, result) for one, result in zip(sets, outcome, strict=True) if result is not None]
    with (folder / "confidence.csv").open("w") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(
            [
                "data", "kind", "half", "reproducibility", "mean confidence", "put together again", "error",
                "rows of their cluster's class", "error against classes",
            ]
        )  # fmt: skip
        for name, draw, one in outcome:
            kind, half = ("shared", halves[name]) if draw is None else ("planted", "judge")
            numbers = [one[key] for key in ("reproducibility", "mean", "again", "error", "right", "against classes")]
            shown = ["" if value is None else f"{value:.3f}" for value in numbers]
            writer.writerow([one["name"], kind, half, *shown])
    for kind, of_kind in (("shared", lambda draw: draw is None), ("planted", lambda draw: draw is not None)):
        errors = [one["error"] for _, draw, one in outcome if of_kind(draw)]
        print(f"mean error {np.mean(errors):.3f} over {len(errors)} {kind} sets", file=sys.stderr)
    plot([one for _, _, one in outcome], folder / "reliability.svg")


def tried(name, draw):
    try:
        return calibrated(name, draw, REAL_SEED if draw is None else 0)
    except jc.datasets.DatasetError:
        print(f"{name} is not here", file=sys.stderr)
        return None


def plot(result, path):
    plt.rcParams["svg.hashsalt"] = "jointclust"
    figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
    for one in result:
        axes.plot(one["bins"][:, 1], one["bins"][:, 2], color="0.7", linewidth=0.8)
    every = bins_of(
        *np.hstack([one["sums"] / np.array([[1], [len(s)], [len(s)]]) for one in result for s in [one["sums"][0]]])
    )
    axes.plot(every[:, 1], every[:, 2], marker="o", color="C0", label="all sets, of equal weight")
    axes.plot([0, 1], [0, 1], color="k", linestyle=":", label="as it should be")
    axes.set(xlabel="confidence", ylabel="share of further fits that agree", xlim=(0, 1), ylim=(0, 1))
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


# -- verdicts -------------------------------------------------------------------------------------------------------


def with_empty_columns(data, rng):
    """A table with columns beside that are drawn at random."""
    table, n = data if isinstance(data, pd.DataFrame) else pd.DataFrame(data).add_prefix("x"), len(data)
    return table.assign(
        city=rng.choice(["Graz", "Linz", "Bern", "Genf", "Turin", "Como"], n, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05]),
        contact=[
            f"{a}. {b}." for a, b in zip(rng.choice(list("ABCDEFGH"), n), rng.choice(list("STUV"), n), strict=True)
        ],
        member=rng.choice(["yes", "no"], n),
        since=pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), unit="D"),
        score=rng.random(n),
        amount=np.exp(rng.normal(size=n)),
    )


def judged(case, kind, draw, half, n_clusters, data, classes, **options):
    """What the model says of one fit, as a row of the table."""
    warnings.simplefilter("ignore")
    model = jc.JointConsensus(n_clusters, random_state=draw, **options).fit(data)
    labels, text = np.asarray(model.labels_), model.verdict_
    index = None if classes is None else adjusted_rand_score(classes, labels)
    large = np.bincount(labels, minlength=n_clusters) >= FEWEST_ROWS
    steady = np.mean(model.cluster_reproducibility_[large] >= 0.8) if large.any() else np.nan
    numbers = ["" if index is None else f"{index:.3f}", f"{model.reproducibility_:.3f}", f"{steady:.3f}"]
    no_structure = int(any("No structure" in reason for reason in text.reasons))
    return [case, kind, draw, half, n_clusters, *numbers, f"{model.confidence_.mean():.3f}", text.level, no_structure]


def cases():
    """All fits to judge."""
    for half, draws in DRAWS.items():
        for place, draw in enumerate(draws):
            for kind in KINDS:
                data, classes = planted(kind, draw)
                n_clusters = int(classes.max()) + 1
                yield "right number", kind, draw, half, n_clusters, data, classes, {}
                for other in (n_clusters // 2, 2 * n_clusters, 3 * n_clusters):
                    if place < MISTAKEN and other > 1:
                        yield "wrong number", kind, draw, half, other, data, classes, {}
            for kind in ("customers", "blobs", "overlapping"):
                data, classes = planted(kind, draw)
                table = with_empty_columns(data, np.random.default_rng(draw))
                yield "empty columns", kind, draw, half, int(classes.max()) + 1, table, classes, ALL_COLUMNS
            data, classes = planted("blobs", draw)
            gaps = np.where(np.random.default_rng(draw).random(data.shape) < 0.9, np.nan, data)
            gaps = gaps[~np.isnan(gaps).all(axis=1)]
            yield "gaps", "blobs", draw, half, int(classes.max()) + 1, gaps, None, {}
    for half, draws in EMPTY_DRAWS.items():
        for draw in draws:
            for kind in EMPTY:
                yield "no structure", kind, draw, half, 5, empty(kind, draw), None, {}


def verdicts(jobs, folder):
    rows = Parallel(jobs)(delayed(judged)(*one[:-1], **one[-1]) for one in cases())
    with (folder / "verdict_fits.csv").open("w") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(
            [
                "case", "data", "draw", "half", "clusters", "ARI", "reproducibility", "clusters found again",
                "mean confidence", "verdict", "no structure",
            ]
        )  # fmt: skip
        writer.writerows(rows)
    with (folder / "verdicts.csv").open("w") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(
            [
                "fits", "half", "drawn", "sure", "fairly sure", "not sure", "no structure found",
                "clusters found again", "mean confidence",
            ]
        )  # fmt: skip
        writer.writerows(summary(rows))


def summary(rows):
    """Shares of the fits that are called what, for either half."""
    for half in ("judge", "tune"):
        own = [row for row in rows if row[3] == half]
        known = [row for row in own if row[5]]
        for name, some in {
            f"right number, ARI above {RIGHT}": [
                row for row in known if row[0] == "right number" and float(row[5]) > RIGHT
            ],
            f"ARI below {WRONG}": [row for row in known if float(row[5]) < WRONG],
            "no structure, 5 clusters": [row for row in own if row[0] == "no structure"],
            "empty columns, all used": [row for row in own if row[0] == "empty columns"],
            "90% of the cells empty": [row for row in own if row[0] == "gaps"],
        }.items():
            shares = [np.mean([row[9] == level for row in some]) for level in ("sure", "fairly sure", "not sure")]
            shares.append(np.mean([row[10] for row in some]))
            shares += [np.nanmean([float(row[7]) for row in some]), np.mean([float(row[8]) for row in some])]
            yield [f"{name} ({half})", half, len(some), *(f"{value:.3f}" for value in shares)]


# -- cost -----------------------------------------------------------------------------------------------------------


def seconds(data, n_clusters, trust):
    began = time.process_time()
    jc.JointConsensus(n_clusters, trust=trust, random_state=0).fit(data)
    return time.process_time() - began


def cost_of(name, draw):
    warnings.simplefilter("ignore")
    data, _, n_clusters = loaded(name, draw)
    without, with_trust = (min(seconds(data, n_clusters, trust) for _ in range(2)) for trust in (False, True))
    return [
        name if draw is None else f"{name} {draw}",
        f"{without:.2f}",
        f"{with_trust:.2f}",
        f"{with_trust / without:.2f}",
    ]


def cost(jobs, folder):
    known = set(jc.datasets.names())
    sets = [(kind, 0) for kind in KINDS] + [(name, None) for names in SETS.values() for name in names if name in known]
    with (folder / "trust_cost.csv").open("w", buffering=1) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["data", "seconds without trust", "seconds", "ratio"])
        for name, draw in sets:
            try:
                writer.writerow(cost_of(name, draw))
            except jc.datasets.DatasetError:
                print(f"{name} is not here", file=sys.stderr)


if __name__ == "__main__":
    {"calibration": calibration, "verdicts": verdicts, "cost": cost}[sys.argv[1]](int(sys.argv[2]), Path(sys.argv[3]))
