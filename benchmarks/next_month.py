"""A model in use: whether clusters keep their numbers, whether changes are reported, what an update gives.

    python benchmarks/next_month.py year|unchanged|update docs/evidence

"year": each month of a simulated year (batches.py) is fitted like the month before, with the number of clusters found
in the data and with the number of segments of more than 60 rows given. Of the rows whose cluster's majority is their
segment, the share that has the number of that segment's first month. A segment may have several clusters there: "kept"
counts the number of the largest, "kept later" does so after the first month, in which nothing can be kept yet, and
"kept one of several" counts the numbers of all of them. Further the months in which the split and the new segment are
reported by ``changes_``, and those in which they exceed 60 rows; the month in which ``check`` of January's model
reports drift. Writes next_month.csv.

"unchanged": 100 batches drawn as January's, checked by January's model. Writes unchanged.csv.

"update": a model of the first of 50 batches of 20,000 rows is updated with the others, one by one, and compared with a
fit on all million rows. Memory is what Python and NumPy allocate at the most during an update, beside a fit on five
batches. Writes update.csv.
"""

import csv
import os
import sys
import time
import tracemalloc
import warnings
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.metrics import adjusted_rand_score

import jointclust as jc
from batches import BATCH_CLUSTERS, BATCHES, MONTHS, customers, stream

# The level of the tests was chosen with seeds 0 to 9 in view, what the share of rows unlike any has to rise by with
# seeds up to 19: these are others.
SEEDS, UNCHANGED_SEEDS, LARGE, UNCHANGED = range(10, 20), range(20, 30), 60, 100
SPLIT, NEW = "loyal, app", "business"


def majorities(labels, segment):
    """The segment that most rows of each cluster are of, and how many are."""
    values = {}
    for cluster in np.unique(labels):
        names, sizes = np.unique(segment[labels == cluster], return_counts=True)
        values[int(cluster)] = names[sizes.argmax()], int(sizes.max())
    return values


def year(seed, is_given):
    """One year, month by month, each fitted like the one before."""
    before, first, reported, due = None, {}, {}, {}
    kept, total = np.zeros(3), np.zeros(3)
    for month in range(1, MONTHS + 1):
        table, segment = customers(month, seed)
        large = [name for name in np.unique(segment) if np.sum(segment == name) > LARGE]
        model = jc.cluster(table, len(large) if is_given else None, random_state=0, like=before)
        result, known = majorities(model.labels_, segment), set(first)
        for cluster, (name, _) in sorted(result.items(), key=lambda one: -one[1][1]):
            if name not in known:
                first.setdefault(name, []).append(cluster)
        for cluster, (name, size) in result.items():
            rows, is_largest = size * np.array([1, name in known, 1]), first[name][0] == cluster
            total += rows
            kept += rows * np.array([is_largest, is_largest, cluster in first[name]])
        changes = [] if before is None else model.changes_
        text = {number for one in changes if one["kind"] in ("split", "new") for number in one["clusters"]}
        for name in (SPLIT, NEW):
            if name in large:
                due.setdefault(name, month)
            if any(result[number][0] == name for number in text if number in result):
                reported.setdefault(name, month)
        before = model
    return kept / total, reported, due


def first_drift(seed):
    """The first month that January's model does not fit."""
    model = jc.cluster(customers(1, seed)[0], random_state=0)
    return next(month for month in range(2, MONTHS + 1) if jc.check(model, customers(month, seed)[0]).verdict != "fits")


def years(folder):
    rows = []
    for seed in SEEDS:
        drift = first_drift(seed)
        for number in ("found", "given"):
            shares, reported, due = year(seed, number == "given")
            months = [value.get(name, "") for name in (SPLIT, NEW) for value in (due, reported)]
            rows.append([seed, number, *(f"{share:.4f}" for share in shares), *months, drift])
            print(rows[-1], file=sys.stderr, flush=True)
    due = ["split due", "split reported", "new due", "new reported", "drift reported"]
    head = ["seed", "number of clusters", "kept", "kept later", "kept one of several", *due]
    write(folder / "next_month.csv", head, rows)


def unchanged(folder):
    rows = []
    for seed in UNCHANGED_SEEDS:
        model = jc.cluster(customers(1, seed)[0], random_state=0)
        batches = (customers(1, 1000 * (seed + 1) + draw)[0] for draw in range(UNCHANGED))
        verdicts = [jc.check(model, batch).verdict for batch in batches]
        rows.append([seed, verdicts.count("fits"), verdicts.count("drifts"), verdicts.count("refit")])
        print(rows[-1], file=sys.stderr, flush=True)
    write(folder / "unchanged.csv", ["seed", "fits", "drifts", "refit"], rows)


def peak(function):
    """What a call returns, and the most memory that it has allocated, in megabytes."""
    tracemalloc.start()
    result = function()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return result, most / 1e6


def updates(folder, seeds=range(1)):
    rows = []
    for seed in seeds:
        some = np.vstack([stream(batch, seed)[0] for batch in range(5)])
        _, of_five = peak(partial(jc.JointConsensus(BATCH_CLUSTERS, random_state=0).fit, some))
        del some
        model = jc.JointConsensus(BATCH_CLUSTERS, random_state=0).fit(stream(0, seed)[0])
        most, start = [], time.process_time()
        for batch in range(1, BATCHES):
            most.append(peak(partial(model.update, stream(batch, seed)[0]))[1])
        seconds = (time.process_time() - start) / (BATCHES - 1)
        everything = np.vstack([stream(batch, seed)[0] for batch in range(BATCHES)])
        whole = jc.JointConsensus(BATCH_CLUSTERS, random_state=0).fit(everything)
        index = adjusted_rand_score(whole.labels_, model.predict(everything))
        numbers = [f"{index:.4f}", *(f"{one:.1f}" for one in (most[0], max(most), of_five)), f"{seconds:.1f}"]
        rows.append([seed, BATCHES, *numbers])
        print(rows[-1], file=sys.stderr, flush=True)
    head = ["seed", "batches", "ARI with a fit on all rows", "MB of the first update", "MB at the most"]
    write(folder / "update.csv", [*head, "MB of a fit on five batches", "CPU s of an update"], rows)


def write(path, head, rows):
    with path.open("w") as stream:
        csv.writer(stream, lineterminator="\n").writerows([head, *rows])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"year": years, "unchanged": unchanged, "update": updates}[sys.argv[1]](Path(sys.argv[2]))
