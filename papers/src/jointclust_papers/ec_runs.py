"""Robust embedded clustering (Zhang, Nie and Li, 2017): what is run for its figure, its table, and its outliers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame
from sklearn.cluster import KMeans

from jointclust.datasets import Dataset
from jointclust.methods.discriminative import DiscriminativeEmbeddedClustering
from jointclust_papers import lab as common
from jointclust_papers.experiments.experiment import Method
from jointclust_papers.lab import STARTS, Lab
from jointclust_papers.textbook import ECFromTen, RMKMCFromTen, Spoiled

SETS = ("orl", "coil20", "coil100", "fei", "imm", "yale")
FACES = ("orl", "imm", "yale")
# Share of the variance in the directions that all methods see, which the paper does not give.
PREPARATIONS = {"90%": common.leading, "80%": common.leading_80}
USUAL = "90%"
# Seen in the usual directions only, for the sake of time.
LARGE = ("coil100",)
KMEANS_START = " (from k-means)"
SHARES = {"shuffled": [0.05, 0.1, 0.2], "noise": [0.05, 0.1, 0.2], "covered": [0.2, 0.4], "mislabelled": [0.2, 0.4]}
WIDTHS = [0.5, 0.8, 0.95]
_MANY = 5000


def models() -> dict[str, Method]:
    """Methods with a subspace: as printed, from random labels and a random subspace; and from k-means."""
    return {
        "OLSDA": ECFromTen(robust=False, variance=None, init="random"),
        "EC": ECFromTen(variance=None, init="random"),
        "OLSDA" + KMEANS_START: ECFromTen(robust=False, variance=None),
        "EC" + KMEANS_START: ECFromTen(variance=None),
    }


def methods(lab: Lab) -> dict[str, Method]:
    """The two baselines and the four methods over dimensions; one budget."""

    def grid(dataset: Dataset) -> dict[str, list[int]]:
        """Dimensions spread over those that there are, all of them left out; fewer where there are many rows."""
        n, rank = 2 if lab.quick else 5, min(dataset.data.shape)
        spread = np.unique((np.arange(1, n + 1) / (n + 1) * rank).round().clip(1).astype(int)).tolist()
        return {"n_components": spread[:: 1 if len(dataset.data) < _MANY else 2]}

    given: dict[str, Method] = {
        "PCA + k-means": DiscriminativeEmbeddedClustering(trade_off=0),
        "PCA + RMKMC": RMKMCFromTen(init="pca"),
        **models(),
    }
    plain = {"k-means": KMeans(n_init=STARTS), "k-means (one start)": KMeans(n_init=1, init="random")}
    return {**plain, "RMKMC": RMKMCFromTen(), **{name: (model, grid) for name, model in given.items()}}


def prepared_runs(lab: Lab, names: list[str], runs: int) -> DataFrame:
    """All methods in each preparation."""
    given = methods(lab)
    few = {kind: PREPARATIONS[kind] for kind in lab.few(list(PREPARATIONS), 1)}
    seen = {kind: [name for name in names if kind == USUAL or name not in LARGE] for kind in few}
    plans = [
        lab.experiment(given, seen[kind], runs, shared=True, prepare=prepare)
        for kind, prepare in few.items()
        if seen[kind]
    ]
    tables = lab.tables(plans)
    return pd.concat([table.assign(rows=kind) for kind, table in zip(few, tables, strict=False)])


def spoiled_runs(lab: Lab, names: list[str]) -> DataFrame:
    """Planted outliers, covered images and wrong start labels, for methods with and without weights."""
    given: dict[str, Method] = {}
    plain: dict[str, Method] = {"k-means": KMeans(n_init=STARTS), "RMKMC": RMKMCFromTen()}
    for name, model in {**models(), **plain}.items():
        widths: dict[str, list[Any]] = {"width": lab.few(WIDTHS, 1)} if name in models() else {}
        spoiled: list[dict[str, list[Any]]] = [{"kind": ["clean"], **widths}]
        spoiled += [{"kind": [kind], "share": lab.few(shares, 1), **widths} for kind, shares in SHARES.items()]
        given[name] = (Spoiled(model), spoiled)
    return lab.run(given, names, 10, record=("weight_ratio_",))
