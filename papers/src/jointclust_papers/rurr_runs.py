"""Uncorrelated ridge regression (Zhang, Li, Wu and Zhao, 2020): what is run for its figures and its table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.cluster import KMeans

from jointclust.datasets import Dataset
from jointclust.methods.fuzzy import FuzzyKMeans
from jointclust_papers import lab as common
from jointclust_papers.experiments.experiment import Grid, Method
from jointclust_papers.lab import STARTS, Lab
from jointclust_papers.textbook import RidgeFromTen, RMKMCFromTen, RSFKMFromTen

SETS = ("imm", "orl", "flower17", "colon", "gt", "ethz53", "fei", "glioma")
RIDGES = [10.0**k for k in range(-4, 5)]
NEIGHBOURS = (10, 20, 30, 40, 50)
FUZZIFIERS = [1.1, 1.5, 2.0, 2.5, 3.0]
# Equation 4's alpha, from far below what RURR-SL finds (about the root of c / n) to near URR-SL's 1.
ALPHAS = [0.05, 0.1, 0.2, 0.4, 0.8]
KMEANS_START, SHORT = " (from k-means)", " (10 iterations)"
ITERATIONS = 100
# Clusters and dimensions of the toys: the method wants at least as many dimensions as clusters.
TOYS = {"three Gaussians": (3, 4), "nine Gaussians": (9, 16)}
SPREADS = [0.8, 1.0, 1.5, 2.5]
PER_CLUSTER = 100
UNITS = {"pixels / 255": common.bytes_to_one, "unit scatter": common.unit_scatter}


def ridge_models(grid: Grid | None = None) -> dict[str, Method]:
    """URR-SL (alpha = 1) and RURR-SL: as printed, from random soft labels; and from k-means, stopped by the labels."""
    printed: dict[str, Any] = {"init": "random", "max_iter": ITERATIONS}
    given = {
        "URR-SL": RidgeFromTen(rescale=False, **printed),
        "RURR-SL": RidgeFromTen(**printed),
        "URR-SL" + KMEANS_START: RidgeFromTen(rescale=False),
        "RURR-SL" + KMEANS_START: RidgeFromTen(),
    }
    return {name: model if grid is None else (model, grid) for name, model in given.items()}


def methods(lab: Lab) -> dict[str, Method]:
    """The six methods of the paper as printed, and what it leaves open; one budget."""
    few: Grid = {"ridge": lab.few(RIDGES[::2], 3)}
    tuned: Grid = {"ridge": [1.0], "rescale": lab.few(ALPHAS, 2)}

    def neighbours(dataset: Dataset) -> Grid:
        return {"n_neighbors": sorted({max(1, min(k, dataset.n_classes - 1)) for k in lab.few(NEIGHBOURS)})}

    short: dict[str, Any] = {"init": "random", "max_iter": 10}
    return {
        "k-means": KMeans(n_init=STARTS),
        "k-means (one start)": KMeans(n_init=1, init="random"),
        "RMKMC": RMKMCFromTen(),
        "FKM": (FuzzyKMeans(), {"fuzzifier": lab.few(FUZZIFIERS, 2)}),
        "RSFKM (l2,1)": (RSFKMFromTen(loss="l21"), neighbours),
        "RSFKM (capped)": (RSFKMFromTen(loss="capped"), neighbours),
        **ridge_models({"ridge": lab.few(RIDGES, 3)}),
        "URR-SL" + SHORT: (RidgeFromTen(rescale=False, **short), few),
        "RURR-SL" + SHORT: (RidgeFromTen(**short), few),
        "URR-SL (alpha tuned)": (RidgeFromTen(init="random", max_iter=ITERATIONS), tuned),
    }


def table_runs(lab: Lab, names: list[str]) -> DataFrame:
    """Table I."""
    prepare = dict.fromkeys(names, common.unit_scatter) | {"colon": common.log_unit_scatter}
    return lab.run(methods(lab), names, 10, shared=True, prepare=prepare)


def ridge_runs(lab: Lab, names: list[str]) -> DataFrame:
    """Figure 2, in two units."""
    given = {"k-means": KMeans(n_init=STARTS), **ridge_models({"ridge": lab.few(RIDGES, 5)})}
    plans = [lab.experiment(given, names, 10, shared=True, prepare=prepare) for prepare in UNITS.values()]
    return pd.concat([table.assign(units=unit) for unit, table in zip(UNITS, lab.tables(plans), strict=True)])


def gaussians(name: str, spread: float, random_state: int) -> tuple[NDArray, NDArray]:
    """Rows of a toy: normal about normal centers, in at least as many dimensions as there are clusters."""
    c, d = TOYS[name]
    rng = np.random.RandomState(random_state)
    y = np.repeat(np.arange(c), PER_CLUSTER)
    centers = spread * rng.standard_normal((c, d))
    return centers[y] + rng.standard_normal((len(y), d)), y


def toy_runs(lab: Lab, name: str) -> DataFrame:
    """Figures 3 and 4: one run on each draw of a toy, by the spread of its centers."""
    given: dict[str, Method] = {
        "k-means": KMeans(n_init=STARTS),
        "k-means (one start)": KMeans(n_init=1, init="random"),
        **ridge_models(),
    }
    spreads = lab.few(SPREADS, 1)
    draws = [
        Dataset(*gaussians(name, spread, i), f"{name}, spread {spread:g}, draw {i}")
        for spread in spreads
        for i in range(lab.runs(20))
    ]
    table = lab.run(given, draws, 1, shared=True, record=("scale_",))
    parts = table["dataset"].str.extract(r"spread (?P<spread>[\d.]+), draw (?P<draw>\d+)")
    return table.assign(dataset=name, spread=parts["spread"].astype(float), draw=parts["draw"].astype(int))
