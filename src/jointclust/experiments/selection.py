"""Choosing parameters: with the classes, as papers do, or without, as users must. The two are never mixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jointclust.experiments.experiment import frame, pandas

if TYPE_CHECKING:
    from pandas import DataFrame

# By which column each way of choosing chooses.
SELECTIONS = {"oracle": None, "label-free": "agreement"}


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
        mean agreement is. Parameters of which fewer runs failed go first.

    Returns
    -------
    summary : DataFrame
        dataset, method, selection, the chosen parameters, mean and standard deviation of accuracy and nmi over seeds,
        the
        best run's, mean agreement, mean seconds, number of runs and of failures.
    """
    if metric not in ("accuracy", "nmi"):
        raise ValueError(f"metric is accuracy or nmi; got {metric!r}.")
    for selection in selections:
        _check(selection)
    table = table.assign(error=table["error"].astype(object).fillna(""))  # as a file has it
    rows = []
    for (dataset, method), group in table.groupby(["dataset", "method"], sort=False):
        for selection in selections:
            chosen = best_parameters(group, SELECTIONS[selection] or metric)
            if chosen is not None:
                rows.append(_row(dataset, method, selection, chosen, group[group["parameters"] == chosen]))
    return frame(rows)


def best_parameters(runs: DataFrame, column: str) -> str | None:
    """The parameters with the largest mean, among those that failed least often; None where nothing was measured."""
    grouped = runs.groupby("parameters", sort=False)[column]
    measured = grouped.count()
    means = grouped.mean()[measured == measured.max()]
    return str(means.idxmax()) if measured.max() > 0 else None


def _check(selection: str) -> None:
    if selection not in SELECTIONS:
        raise ValueError(f"selection is one of {', '.join(SELECTIONS)}; got {selection!r}.")


def _row(dataset: str, method: str, selection: str, parameters: str, runs: DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {"dataset": dataset, "method": method, "selection": selection, "parameters": parameters}
    for name in ("accuracy", "nmi"):
        row |= {name: runs[name].mean(), f"{name}_std": runs[name].std(ddof=0), f"{name}_best": runs[name].max()}
    failed = int((runs["error"] != "").sum())
    return row | {
        "agreement": runs["agreement"].mean(),
        "seconds": runs["seconds"].mean(),
        "runs": len(runs) - failed,
        "failures": failed,
    }


def scores(summary: DataFrame, selection: str, metric: str = "accuracy") -> DataFrame:
    """Data sets x methods for one way of choosing, as :func:`~jointclust.experiments.ranking.rank` takes it."""
    _check(selection)
    chosen = summary[summary["selection"] == selection]
    found = chosen.pivot(index="dataset", columns="method", values=metric)
    names = pandas().unique(summary["method"])
    return found.loc[pandas().unique(summary["dataset"]), names]
