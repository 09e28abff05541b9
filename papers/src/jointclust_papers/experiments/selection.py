"""Choosing parameters: with the classes, as papers do, or without, as users must. The two are never mixed."""

from __future__ import annotations

from typing import Any

import pandas as pd
from pandas import DataFrame

# By which column each way of choosing chooses.
SELECTIONS = {"oracle": None, "label-free": "agreement"}
_MEASURED = ("accuracy", "nmi", "agreement")
# Means that agree in so many decimals are equal.
_DECIMALS = 7


def summary(table: DataFrame, metric: str = "accuracy", selections: tuple[str, ...] = tuple(SELECTIONS)) -> DataFrame:
    """One row per data set, method and way of choosing its parameters.

    Parameters
    ----------
    table : DataFrame
        From :meth:`Experiment.run`.
    metric : {"accuracy", "nmi"}, default="accuracy"
        What the oracle looks at.
    selections : tuple of {"oracle", "label-free"}, default=both
        "oracle" takes the parameters whose mean metric is largest, which needs the classes; "label-free" those whose
        mean agreement is. A fit that collapsed, or left a cluster empty, is no candidate: means are over the other
        runs, and parameters of which half or more of the runs are gone are never taken.

    Returns
    -------
    summary : DataFrame
        dataset, method, selection, the chosen parameters, mean and standard deviation of accuracy and nmi over seeds,
        the best run's, mean agreement, mean seconds, number of runs, of failures and of fits that collapsed. Means are
        over the runs that are whole. Where no parameters can be taken, they are missing, and the counts are over all
        fits.
    """
    if metric not in ("accuracy", "nmi"):
        raise ValueError(f"metric is accuracy or nmi; got {metric!r}.")
    for selection in selections:
        _check(selection)
    rows = []
    for (dataset, method), group in whole(table).groupby(["dataset", "method"], sort=False):
        for selection in selections:
            column = SELECTIONS[selection] or metric
            chosen, runs = best_parameters(group, column), group.assign(**dict.fromkeys(_MEASURED, float("nan")))
            if chosen is not None:
                runs = group[group["parameters"] == chosen]
            elif not group["collapsed"].any() and not group[column].notna().any():
                continue
            known = {"dataset": dataset, "method": method, "selection": selection, "parameters": chosen or ""}
            rows.append(known | _means(runs))
    return DataFrame(rows)


def whole(table: DataFrame) -> DataFrame:
    """The table without the results of fits that collapsed or left a cluster empty: they answer another question."""
    known = [table[name].fillna(0).astype(float) for name in ("empty", "collapsed") if name in table]
    table = table.assign(error=table["error"].astype(object).fillna(""), collapsed=sum(known, start=0.0) > 0)
    return table.assign(**{name: table[name].where(~table["collapsed"]) for name in _MEASURED})


def chosen_runs(table: DataFrame, metric: str = "accuracy") -> DataFrame:
    """The runs of the parameters that were chosen, for each data set and method: for comparisons run by run.

    They are rows of the table, without the results of fits that collapsed.
    """
    table = whole(table)
    kept = table["parameters"].astype(bool) & False
    for _, group in table.groupby(["dataset", "method"], sort=False):
        chosen = best_parameters(group, metric)
        kept[group.index[group["parameters"] == chosen]] = True
    return table[kept]


def best_parameters(runs: DataFrame, column: str) -> str | None:
    """The parameters with the largest mean of those with more than half of their runs; None where there are none.

    The mean of the few runs that happened to succeed is the luck of their seeds, not what a method does; but one run
    that failed says little against the others. Of equal means, which rounding tells apart, the first is taken.
    """
    grouped = runs.groupby("parameters", sort=False)[column]
    means = grouped.mean()[2 * grouped.count() > grouped.size()].round(_DECIMALS)
    return str(means.idxmax()) if len(means) else None


def _check(selection: str) -> None:
    if selection not in SELECTIONS:
        raise ValueError(f"selection is one of {', '.join(SELECTIONS)}; got {selection!r}.")


def _means(runs: DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name in ("accuracy", "nmi"):
        row |= {name: runs[name].mean(), f"{name}_std": runs[name].std(ddof=0), f"{name}_best": runs[name].max()}
    failed = int((runs["error"] != "").sum())
    return row | {
        "agreement": runs["agreement"].mean(),
        "seconds": runs["seconds"].mean(),
        "runs": len(runs) - failed,
        "failures": failed,
        "collapsed": int(runs["collapsed"].sum()),
    }


def scores(summary: DataFrame, selection: str, metric: str = "accuracy") -> DataFrame:
    """Data sets x methods for one way of choosing, as :func:`~jointclust_papers.experiments.ranking.rank` takes it."""
    _check(selection)
    chosen = summary[summary["selection"] == selection]
    table = chosen.pivot(index="dataset", columns="method", values=metric)
    names = pd.unique(summary["method"])
    return table.loc[pd.unique(summary["dataset"]), names]
