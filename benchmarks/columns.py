"""Tables with columns that say nothing: what the default loses by them, which columns it uses, what the test costs.

    JOINTCLUST_DATA=folder python benchmarks/columns.py [seeds] [jobs] > docs/evidence/columns.csv
    python benchmarks/columns.py cost

For each table the accuracy as it is and beside empty columns of several kinds, with the number of clusters given, means
over three draws and the seeds; shares of the empty columns that are used, and of the table's own that are not. The
opponent is k-means on standardised numbers beside 0/1 columns of the categories. `customers` plants five segments in
seven numbers and two categories, beside a name, a city and a country that goes with the city. Empty columns are drawn
anew for each draw; their names say nothing. "cost" prints seconds of processor time of the description of 200,000 rows
of 100 mixed columns.
"""

import csv
import os
import sys
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

import jointclust as jc

HALVES = {
    "tune": ["iris", "breast_cancer", "vehicle", "heart", "segmentation"],
    "judge": ["wine", "glass", "vowel", "yeast"],
}
DRAWS = 3


def business(rng, n):
    """What business tables have beside measurements: a city, a contact, yes or no, a date, a score, an amount."""
    names = [
        f"{a}. {b}." for a, b in zip(rng.choice(list("ABCDEFGH"), n), rng.choice(list("STUVWXYZ"), n), strict=True)
    ]
    return {
        "city": rng.choice(["Graz", "Linz", "Bern", "Genf", "Turin", "Como"], n, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05]),
        "contact": names,
        "newsletter": rng.choice(["yes", "no"], n),
        "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), unit="D"),
        "score": rng.random(n),
        "amount": np.exp(rng.normal(size=n)),
    }


def others(rng, n):
    """Six columns of other kinds: levels from 2 to 200, shares even or not, heavy tails, counts, nearly always zero."""
    values = {}
    for _ in range(3):
        levels = int(np.exp(rng.uniform(np.log(2), np.log(200))))
        values[f"category{len(values)}"] = rng.choice(
            [f"v{i}" for i in range(levels)], n, p=rng.dirichlet(np.ones(levels))
        )
    values["tails"] = rng.standard_t(1.5, n)
    values["count"] = rng.poisson(rng.choice([0.3, 3, 30]), n)
    values["zeros"] = np.where(rng.random(n) < 0.9, 0.0, rng.exponential(size=n))
    return values


KINDS = {"business": business, "others": others}


def with_empty(table, kind, draw):
    rng = np.random.default_rng(draw)
    return table.assign(**{f"empty {name}": cells for name, cells in KINDS[kind](rng, len(table)).items()})


def customers(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    segment = rng.choice(5, n, p=[0.3, 0.25, 0.2, 0.17, 0.08])

    def centre(*values):
        return np.array(values)[segment]

    city = rng.choice(["Graz", "Linz", "Bern", "Genf", "Turin", "Como"], n)
    by_app = rng.random(n) < centre(0.8, 0.45, 0.3, 0.1, 0.2)
    names = [f"{a} {b}" for a, b in zip(rng.choice(list("ABCDEFGH"), n), rng.choice(list("STUVWXYZ"), n), strict=True)]
    country = {"Graz": "AT", "Linz": "AT", "Bern": "CH", "Genf": "CH", "Turin": "IT", "Como": "IT"}
    table = pd.DataFrame(
        {
            "customer": [f"C{7 * i + 1000:06d}" for i in range(n)],
            "name": names,
            "age": np.clip(rng.normal(centre(25, 37, 46, 62, 51), 6), 18, 95).round(),
            "income": centre(21e3, 45e3, 80e3, 30e3, 150e3) * np.exp(rng.normal(0, 0.2, n)),
            "orders": rng.poisson(centre(13, 6, 9, 3, 20)),
            "basket": centre(30, 70, 110, 40, 350) * np.exp(rng.normal(0, 0.25, n)),
            "days_since": rng.gamma(4, centre(12, 55, 30, 190, 10) / 4),
            "discount": np.clip(rng.normal(centre(0.4, 0.2, 0.1, 0.3, 0.02), 0.08), 0, 1),
            "tickets": rng.poisson(centre(1.0, 3.0, 0.6, 0.5, 5.0)),
            "channel": np.where(by_app, "app", np.where(rng.random(n) < 0.7, "web", "shop")),
            "newsletter": np.where(rng.random(n) < centre(0.7, 0.5, 0.4, 0.2, 0.8), "yes", "no"),
            "city": city,
            "country": [country[one] for one in city],
        }
    )
    for name, share in {"income": 0.12, "age": 0.05, "channel": 0.04}.items():
        table[name] = table[name].where(rng.random(n) >= share)
    return table, segment


def opponent(table, n_clusters, seed):
    numbers = table.select_dtypes("number")
    levels = table.drop(columns=numbers.columns).select_dtypes(exclude="datetime")
    levels = levels[[name for name in levels if levels[name].nunique() < len(table) / 2]]
    parts = [StandardScaler().fit_transform(numbers.fillna(numbers.mean()))] if numbers.shape[1] else []
    parts += [pd.get_dummies(levels).to_numpy(float)] if levels.shape[1] else []
    return KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(np.hstack(parts))


def loaded(name):
    result = jc.datasets.load(name)
    X = result.data if isinstance(result.data, pd.DataFrame) else np.asarray(result.data, float)
    table = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    return table, np.unique(result.target, return_inverse=True)[1]


def case(name, kind, draw, seed):
    """Accuracy of the default, of the opponent; numbers of empty columns used, own ones not used, and of both."""
    warnings.simplefilter("ignore")
    if name == "customers":
        table, y = customers(seed=draw)
        own = set(table.columns) - {"customer", "name", "city", "country"}
    else:
        table, y = loaded(name)
        own = set(table.columns[table.nunique() > 1])
        table = with_empty(table, kind, draw) if kind in KINDS else table
    n_clusters = int(y.max()) + 1
    settings = {} if kind != "all columns" else {"columns": "all"}
    model = jc.JointConsensus(n_clusters, random_state=seed, **settings).fit(table)
    accuracy = jc.metrics.clustering_accuracy
    values = [accuracy(y, np.asarray(model.labels_)), accuracy(y, opponent(table, n_clusters, seed))]
    used = {column["name"] for column in model.columns_ if column["used"]}
    empty = set(table.columns) - own - {"customer"}
    return [*values, len(empty & used), len(empty), len(own - used), len(own)]


def main(seeds=2, jobs=2):
    known = set(jc.datasets.names())
    cases = [("tune", "customers", "planted", draw) for draw in range(5)]
    for half, names in {**HALVES, "mixed": ["german"]}.items():
        for name in (name for name in names if name in known):
            cases += [(half, name, kind, 0) for kind in ("clean", "all columns")]
            cases += [(half, name, kind, draw) for kind in KINDS for draw in range(DRAWS)]
    plan = [(*one, seed) for one in cases for seed in range(seeds)]
    result = Parallel(jobs)(delayed(case)(*one[1:]) for one in plan)
    table = pd.DataFrame(result, columns=["default", "k-means", "empty used", "empty", "own unused", "own"])
    table[["half", "data set", "columns"]] = [one[:3] for one in plan]
    groups = table.groupby(["data set", "half", "columns"], sort=False)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["data set", "half", "columns", "default", "k-means", "empty used", "empty", "own unused", "own"])
    for key, group in groups:
        means = [f"{value:.3f}" for value in group[["default", "k-means"]].mean()]
        writer.writerow([*key, *means, *group[["empty used", "empty", "own unused", "own"]].sum()])
    mean = table[table["half"].isin(list(HALVES))].groupby(["half", "columns"])[["default", "k-means"]].mean()
    print(mean.round(3).to_string(), file=sys.stderr)


def cost():
    rng = np.random.default_rng(0)
    n = 200_000
    cells = {f"n{i}": rng.normal(size=n) for i in range(50)}
    cells |= {f"c{i}": rng.choice([f"v{j}" for j in range(2 + 3 * i)], n) for i in range(45)}
    cells |= {f"d{i}": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, n), "D") for i in range(5)}
    table = pd.DataFrame(cells)
    began = time.process_time()
    jc.describe(table)
    print(f"{time.process_time() - began:.1f} s")


if __name__ == "__main__":
    cost() if sys.argv[1:2] == ["cost"] else main(*map(int, sys.argv[1:3]))
