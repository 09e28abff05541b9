"""How many and how sure, on data that nobody chose anything with: real sets, held-out draws, small cases.

    JOINTCLUST_DATA=folder python benchmarks/judge.py unseen|shared|heldout|minis [--jobs 2] [--draws 300] > table.csv

The classes are used for the evaluation only. Of each set: the number found, the adjusted Rand index with it, with the
number of classes, and with always five; what the model says of itself (confidence of the number, predicted agreement,
verdict, mean confidence of the rows and the share that is in the right cluster); CPU seconds. Summaries go to the error
stream. Every run on real sets is a line of docs/evidence/judge_runs.csv (``--log "what changed"``).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from scipy.optimize import linear_sum_assignment

import jointclust as jc

HEADER = [
    "data set", "kind", "rows", "classes", "found", "confidence", "ARI", "ARI with the number", "ARI of five",
    "predicted", "verdict", "predicted with the number", "verdict with the number", "row confidence", "rows right",
    "row confidence with the number", "rows right with the number", "factor 1.5", "factor 4", "seconds",
    "seconds with the number",
]  # fmt: skip
RUNS = Path(__file__).parents[1] / "docs" / "evidence" / "judge_runs.csv"


def matrix(path):
    """Rows of a file of numbers, dense or sparse, and its classes."""
    z = np.load(path)
    if "X" in z:
        return z["X"].astype(float), z["y"]
    return sp.csr_matrix((z["data"].astype(float), z["indices"], z["indptr"]), shape=tuple(z["shape"])), z["y"]


def unseen(name):
    """One of the sets of data/unseen, as it comes."""
    folder = Path(os.environ["JOINTCLUST_DATA"]) / "unseen"
    if (folder / f"{name}.npz").exists():
        return matrix(folder / f"{name}.npz")
    if (folder / f"{name}.csv").exists():
        import pandas as pd

        frame = pd.read_csv(folder / f"{name}.csv")
        return frame.iloc[:, :-1], frame.iloc[:, -1].astype(str).to_numpy()
    texts = json.loads((folder / f"{name}.txt.json").read_text())
    return texts["text"], np.array(texts["y"])


def names_of_unseen():
    path = Path(os.environ["JOINTCLUST_DATA"]) / "unseen" / "MANIFEST.csv"
    with path.open() as file:
        return [row["name"] for row in csv.DictReader(file)]


def shared(name):
    data = jc.datasets.load(name)
    return data.data, data.target


def agreement(truth, labels):
    """The adjusted Rand index on the rows that belong to a cluster."""
    from sklearn.metrics import adjusted_rand_score

    known = truth != -1
    return adjusted_rand_score(truth[known], np.asarray(labels)[known])


def rows_right(truth, labels):
    """Whether each row is in the cluster that an optimal assignment gives its class."""
    names, own = np.unique(truth, return_inverse=True)
    table = np.zeros((int(labels.max()) + 1, names.size))
    np.add.at(table, (labels, own), 1)
    if truth.dtype.kind in "iu":
        table[:, names == -1] = 0
    one, other = linear_sum_assignment(-table)
    match = dict(zip(one.tolist(), other.tolist(), strict=True))
    right = np.array([match.get(label, -1) for label in labels.tolist()]) == own
    return right & (truth != -1) if truth.dtype.kind in "iu" else right


def timed(X, n_clusters):
    start = time.process_time()
    model = jc.cluster(X, n_clusters, 0)
    return model, time.process_time() - start


def said(model, truth):
    labels = np.asarray(model.labels_)
    return [
        f"{getattr(model, 'predicted_agreement_', np.nan):.3f}",
        model.verdict_.level,
        f"{np.mean(model.confidence_):.3f}",
        f"{rows_right(truth, labels).mean():.3f}",
    ]


def off(number, classes):
    """By which factor a number is off."""
    return max(number / classes, classes / number)


def row(name, kind, load):
    warnings.simplefilter("ignore")
    X, y = load(name)
    y = np.asarray(y)
    c = max(np.unique(y[y != -1]).size, 1)
    free, long = timed(X, None)
    given, short = timed(X, max(c, 1))
    five = timed(X, 5)[0]
    p, v, s, r = said(free, y)
    gp, gv, gs, gr = said(given, y)
    scores = [f"{agreement(y, model.labels_):.3f}" for model in (free, given, five)]
    number = free.number_
    return [
        name, kind, len(y), c, number.n_clusters, f"{number.confidence:.2f}", *scores, p, v, gp, gv, s, r, gs, gr,
        int(off(number.n_clusters, c) <= 1.5), int(off(number.n_clusters, c) > 4), f"{long:.2f}", f"{short:.2f}",
    ]  # fmt: skip


def drawn(seed):
    import heldout

    return heldout.draw(seed)


def drawn_row(seed):
    draw = drawn(seed)
    return row(f"draw {seed}", draw.kind, lambda _: (draw.X, draw.y))


def summary(table):
    """Means over the sets, by what is asked."""
    found, classes = (np.array([float(one[place]) for one in table]) for place in (4, 3))
    free, given, five = (np.array([float(one[place]) for one in table]) for place in (6, 7, 8))
    factor = np.maximum(found / classes, classes / found)
    lines = {
        "sets": len(table),
        "ARI": free.mean(), "with the number": given.mean(), "always five": five.mean(),
        "within 1.5x": np.mean(factor <= 1.5), "off by more than 4x": np.mean(factor > 4),
    }  # fmt: skip
    for level in ("sure", "fairly sure", "not sure"):
        for name, place, scores in (("", 10, free), (" with the number", 12, given)):
            own = np.array([one[place] == level for one in table])
            lines[f"{level}{name}"] = f"{scores[own].mean():.3f} of {own.sum()}" if own.any() else "none"
    lines["seconds"] = sum(float(one[-2]) for one in table)
    lines["seconds with the number"] = sum(float(one[-1]) for one in table)
    return {name: f"{value:.3f}" if isinstance(value, float) else value for name, value in lines.items()}


def calibration(said, true, groups=10):
    """The mean gap between what is said and what is true, over groups of equal size."""
    order = np.argsort(said, kind="stable")
    parts = [one for one in np.array_split(order, groups) if one.size]
    return float(np.mean([abs(said[one].mean() - true[one].mean()) for one in parts]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["unseen", "shared", "heldout"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--log", default="")
    asked = parser.parse_args()
    if asked.part == "heldout":
        work = [delayed(drawn_row)(seed) for seed in range(asked.first, asked.first + asked.draws)]
    elif asked.part == "unseen":
        work = [delayed(row)(name, "unseen", unseen) for name in names_of_unseen()]
    else:
        from default import SETS

        here = set(jc.datasets.names())
        names = [name for names in SETS.values() for name in names if name in here]
        work = [delayed(row)(name, "shared", shared) for name in names]
    table = Parallel(asked.jobs)(work)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerows([HEADER, *table])
    whole = summary(table)
    print(json.dumps(whole, indent=1), file=sys.stderr)
    if asked.part == "heldout":
        report_of_draws(table)
    if asked.log:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
        is_new = not RUNS.exists()
        with RUNS.open("a") as file:
            log = csv.writer(file, lineterminator="\n")
            if is_new:
                log.writerow(["date", "commit", "what changed", "part", *list(whole)])
            log.writerow([time.strftime("%Y-%m-%d"), commit, asked.log, asked.part, *whole.values()])


def report_of_draws(table):
    """Held-out draws: by kind, and calibration."""
    kinds = np.array([one[1] for one in table])
    found, classes, sure = (np.array([float(one[place]) for one in table]) for place in (4, 3, 5))
    free, given = (np.array([float(one[place]) for one in table]) for place in (6, 7))
    some = classes > 1
    hopeless = some & (given < 0.2)
    clear = some & ~hopeless
    print(f"no clusters: {np.mean(found[~some] == 1):.3f} of {np.sum(~some)} answered 1; "
          f"1 on {np.mean(found[clear] == 1):.3f} of clear ones", file=sys.stderr)  # fmt: skip
    print(f"clear {clear.sum()}: ARI {free[clear].mean():.3f}, with the number {given[clear].mean():.3f}; "
          f"hopeless {hopeless.sum()}: {free[hopeless].mean():.3f}", file=sys.stderr)  # fmt: skip
    with (RUNS.parent / "judge_kinds.csv").open("w") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["kind", "draws", "ARI", "ARI with the number", "ARI of five", "said of the number found", "answered 1"]
        )
        for kind in [*np.unique(kinds), "all"]:
            own = ((kinds == kind) | (kind == "all")) & (clear | (kinds == "nothing"))
            five, said = (np.array([float(one[place]) for one in table])[own] for place in (8, 9))
            means = [free[own], given[own], five, said, found[own] == 1]
            writer.writerow([kind, own.sum(), *(f"{np.mean(one):.3f}" for one in means)])
    for kind in np.unique(kinds):
        own = (kinds == kind) & some
        if own.any():
            print(
                f"  {kind}: {own.sum()} draws, ARI {free[own].mean():.3f}, with the number {given[own].mean():.3f}",
                file=sys.stderr,
            )
    near = np.maximum(found / classes, classes / found) <= 1.5
    predicted, predicted_given = (np.array([float(one[place]) for one in table]) for place in (9, 11))
    sure_rows, right_rows, sure_given, right_given = (
        np.array([float(one[place]) for one in table]) for place in (13, 14, 15, 16)
    )
    gaps = {
        "confidence of the number": (sure, near.astype(float)),
        "predicted agreement": (predicted, free),
        "predicted agreement with the number": (predicted_given, given),
        "confidence of rows (means of draws)": (sure_rows, right_rows),
        "confidence of rows with the number": (sure_given, right_given),
    }
    for name, (one, other) in gaps.items():
        if not np.isnan(one).any():
            worst = max((calibration(one[kinds == kind], other[kinds == kind], 3), kind) for kind in np.unique(kinds))
            print(
                f"calibration, {name}: {calibration(one, other):.3f}; worst kind {worst[1]} {worst[0]:.3f}",
                file=sys.stderr,
            )
    levels = np.array([one[12] for one in table])
    many = (classes > 1) & (given >= 0.95)
    perfect = (classes > 1) & (given >= 0.98)
    nothing = ~some & (found > 1)
    false = sum(one[10] == "sure" for one, own in zip(table, nothing, strict=True) if own)
    print(
        f"of {many.sum()} fits of .95: sure {np.mean(levels[many] == 'sure'):.2f}; of {perfect.sum()} of .98: not sure "
        f"{np.mean(levels[perfect] == 'not sure'):.3f}; of {np.sum(~some)} without clusters: {nothing.sum()} in two "
        f"clusters or more, sure {false}",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
