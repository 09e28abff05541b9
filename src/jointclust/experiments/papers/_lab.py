"""What the papers' items share: which data are here, how many runs and starts, the published numbers, preparation."""

from __future__ import annotations

import csv
import functools
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from jointclust import datasets
from jointclust.experiments.experiment import Cell, Experiment, Known, Method, finish, frame, unfinished
from jointclust.experiments.findings import Claim, judged
from jointclust.experiments.journal import Journal
from jointclust.experiments.selection import paired
from jointclust.numerics.kmeans import fewer_restarts
from jointclust.numerics.partitions import FEW
from jointclust.subspace.decomposition import decompose

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

_T = TypeVar("_T")
Data = Sequence[str] | Sequence[datasets.Dataset]
# Neither is in a paper; they take the place of sets that are not here, so that every item can be tried.
STAND_INS = ("digits", "mixture")
QUICK_RUNS = 3
# Starts of k-means, or of the k-means that a method starts from, for every method of an item.
STARTS = 10
# Rows that are there for another start are named after it.
OTHERWISE = ("(one start)", "(random start)", "(as printed)")
ONE_BUDGET = (
    f"One budget: every method of this item sees the same rows and has {STARTS} starts of k-means, by k-means++, or "
    f"begins with the best of so many; rows that begin otherwise say so: {', '.join(OTHERWISE)}. The library's starts "
    f"race: after two steps the best third goes on. Beyond {FEW} clusters they are fewer, {STARTS * FEW} / c "
    f"({fewer_restarts(STARTS, 100)} for 100), where scikit-learn's keep to {STARTS}. Plain k-means, scikit-learn's, "
    "stands beside them at that budget. The papers do not say how many starts theirs had."
)
# Share of the variance that "the leading directions" carry.
LEADING = 0.9


class UnfinishedError(Exception):
    """An item asked for cells that have not been run."""


@dataclass
class Lab:
    """Where and how items are run: with an open journal, through which they share their cells.

    An item is a function of finished cells. One that asks for others stops there, and they are run together with those
    of all items, so that no process waits for an item to end.
    """

    journal: Journal = field(default_factory=Journal)
    quick: bool = True
    n_jobs: int | None = None
    data_home: str | os.PathLike[str] | None = None
    together: list[Cell] = field(default_factory=list)
    alone: list[Cell] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)
    known: Known = field(default_factory=dict)

    def runs(self, full: int) -> int:
        """The paper's number of runs, or the quick one."""
        return QUICK_RUNS if self.quick else full

    def few(self, values: Sequence[_T], n_quick: int = 3) -> list[_T]:
        """All values, or a few spread over them."""
        if not self.quick or len(values) <= n_quick:
            return list(values)
        return [values[round(index)] for index in np.linspace(0, len(values) - 1, n_quick)]

    def find(
        self, wanted: Sequence[str], stand_ins: Sequence[str] = STAND_INS
    ) -> tuple[list[str], list[str], list[str]]:
        """Which sets to use, which of the paper's are missing, and what stands in where none is here."""
        present = [name for name in wanted if datasets.present(name, self.data_home)]
        missing = [name for name in wanted if name not in present]
        used = [] if present else [name for name in stand_ins if datasets.present(name, self.data_home)]
        return present + used, missing, used

    def load(self, name: str) -> datasets.Dataset:
        """A data set."""
        known = self.known.get((name, None))
        return datasets.load(name, self.data_home) if known is None else known[1]

    def experiment(self, methods: Mapping[str, Method], data: Data, runs: int, **options: Any) -> Experiment:
        """A plan, with so many seeds; ``prepare`` may be one function for all sets."""
        if callable(prepare := options.get("prepare")):
            options["prepare"] = dict.fromkeys(data, prepare)
        return Experiment(methods, data, range(self.runs(runs)), data_home=self.data_home, **options)

    def run(self, methods: Mapping[str, Method], data: Data, runs: int, **options: Any) -> DataFrame:
        """The table of one plan."""
        return self.tables([self.experiment(methods, data, runs, **options)])[0]

    def tables(self, plans: Sequence[Experiment], *, alone: bool = False) -> list[DataFrame]:
        """The tables of plans whose cells are finished; where some are not, they are asked for.

        ``alone`` cells are run one after another with nothing else beside them, for their times.
        """
        cells = [plan.cells(self.known) for plan in plans]
        wanted = [one for own in cells for one in own]
        missing = [one for one in unfinished(wanted, self.journal) if one.key not in self.tried]
        if missing:
            (self.alone if alone else self.together).extend(missing)
            raise UnfinishedError
        return [plan.table(own, self.journal) for plan, own in zip(plans, cells, strict=True)]

    def finish(self, **options: Any) -> None:
        """Run what was asked for; what fails is not tried again before the next call of the command."""
        for cells, n_jobs in ((self.together, self.n_jobs), (self.alone, 1)):
            finish(cells, self.journal, n_jobs=n_jobs, **options)
            self.tried.update(cell.key for cell in cells)
            cells.clear()


@functools.cache
def published() -> tuple[dict[str, str], ...]:
    """Every number that the papers print, as rows of paper, item, dataset, method, measure, setting, value."""
    text = resources.files("jointclust.experiments.papers").joinpath("published.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def beside_paper(
    paper: str, item: str, rows: list[dict[str, Any]], known_as: Mapping[str, str] | None = None
) -> DataFrame:
    """Our rows (with dataset, method, measure, perhaps setting, and ours) beside the printed numbers.

    ``known_as`` names the printed data set of one that was prepared in another way.
    """
    keys = ("dataset", "method", "measure", "setting")
    printed = {
        tuple(row[key] for key in keys): float(row["value"])
        for row in published()
        if (row["paper"], row["item"]) == (paper, item)
    }
    joined = []
    for row in rows:
        asked = row | {"dataset": (known_as or {}).get(row["dataset"], row["dataset"])}
        value = printed.get(tuple(str(asked.get(key, "")) for key in keys))
        known = {key: row[key] for key in keys if key in row}
        difference = None if value is None else row["ours"] - value
        joined.append(known | {"paper": value, "ours": row["ours"], "difference": difference} | row)
    return frame(joined)


def measure_row(found: DataFrame, dataset: str, method: str, measure: str, metric: str) -> dict[str, Any]:
    """Ours for one cell of a printed table: oracle mean, its spread and best run; the label-free mean beside it."""
    own = found[(found["dataset"] == dataset) & (found["method"] == method)].set_index("selection")
    oracle, free = own.loc["oracle"], own.loc["label-free"]

    def shown(value: float) -> float:
        return 1 - value if measure == "error" else value

    row = {"dataset": dataset, "method": method, "measure": measure, "ours": shown(oracle[metric])}
    return row | {
        "sd": oracle[f"{metric}_std"],
        "best run": shown(oracle[f"{metric}_best"]),
        "label-free": shown(free[metric]),
        "parameters": oracle["parameters"],
        "label-free parameters": free["parameters"],
        "empty clusters": f"{oracle['collapsed']} of {oracle['runs']}" if oracle["collapsed"] else "",
    }


def mean_rows(runs: DataFrame, column: str, *more: str, measure: str = "") -> list[dict[str, Any]]:
    """Mean and standard deviation of a column, for each data set, method and what more tells the rows apart."""
    rows = []
    for (dataset, method, *rest), own in runs.groupby(["dataset", "method", *more], sort=False)[column]:
        known = {"dataset": dataset, "method": method, "measure": measure or column}
        rows.append(known | dict(zip(more, rest, strict=True)) | {"ours": own.mean(), "sd": own.std(ddof=0)})
    return rows


def by_method(table: DataFrame, measure: str) -> DataFrame:
    """Our numbers of one measure, data sets by methods."""
    return table[table["measure"] == measure].pivot(index="dataset", columns="method", values="ours")


def best_claim(
    text: str,
    wide: DataFrame,
    method: str,
    others: Sequence[str],
    runs: DataFrame,
    metric: str,
    *,
    least: bool = False,
    most: bool = False,
) -> Claim:
    """Whether a method has the largest number (or the least) on each set of a table, data sets by methods."""
    shown = -wide[others] if least else wide[others]
    rival = {name: row.idxmax() for name, row in shown.iterrows()}
    ours, best = wide[method], {name: wide.loc[name, other] for name, other in rival.items()}
    return judged(
        text,
        {n: bool(ours[n] <= best[n] if least else ours[n] >= best[n]) for n in rival},
        "; ".join(f"{n}: {method} {ours[n]:.3f}, best other {rival[n]} {best[n]:.3f}" for n in rival),
        {n: paired(runs, n, method, rival[n], metric) for n in rival},
        most=most,
    )


def with_baseline(table: DataFrame, baseline: str) -> DataFrame:
    """The table with a column 'k-means' behind 'ours': plain k-means on the same rows, by the same measure."""
    plain = table[table["method"] == baseline].drop_duplicates(["dataset", "measure"])
    values = plain.set_index(["dataset", "measure"])["ours"].to_dict()
    column = [values.get(key) for key in zip(table["dataset"], table["measure"], strict=True)]
    table = table.copy()
    table.insert(list(table.columns).index("ours") + 1, "k-means", column)
    return table


def grid_of_axes(n: int, width: float = 4.2, height: float = 3.2, columns: int = 3) -> tuple[Any, list[Any]]:
    """A figure with n panels."""
    import matplotlib.pyplot as plt

    columns = min(n, columns)
    n_rows = -(-n // columns)
    figure, axes = plt.subplots(
        n_rows, columns, figsize=(width * columns, height * n_rows), layout="constrained", squeeze=False
    )
    panels = list(axes.ravel())
    for ax in panels[n:]:
        ax.set_axis_off()
    return figure, panels[:n]


def curves(
    panels: Sequence[tuple[str, str, DataFrame]], styles: Mapping[str, tuple[str, str]], x: str, **size: Any
) -> tuple[Figure, list[Axes]]:
    """A measure against the dimension or the ridge, by title, measure and table; what has none is a level line."""
    figure, axes = grid_of_axes(len(panels), **size)
    for ax, (title, measure, table) in zip(axes, panels, strict=True):
        for method, (colour, line) in styles.items():
            curve = table[table["method"] == method]
            look = {"color": colour, "ls": line, "lw": 1.2, "label": method}
            if (curve[x] == "").all():
                ax.axhline(curve["ours"].iloc[0], **look)
            else:
                ax.plot(curve[x].astype(float), curve["ours"], marker=".", **look)
        ax.set(title=title, xlabel=x, ylabel=measure, xscale="log" if x == "ridge" else "linear")
    axes[0].legend(fontsize=7)
    return figure, axes


def bars(
    table: DataFrame, names: list[str], measures: Sequence[str], colours: Mapping[str, str], inches: float, width: float
) -> Figure:
    """A panel for each measure, with a group of bars for each data set, one for each method."""
    figure, axes = grid_of_axes(len(measures), max(inches * len(names) + 2, 6), 3.6, 1)
    for ax, measure in zip(axes, measures, strict=True):
        wide = by_method(table, measure).loc[names]
        for index, (method, colour) in enumerate(colours.items()):
            places = np.arange(len(wide)) + width * (index - (len(colours) - 1) / 2)
            ax.bar(places, wide[method], width, label=method, color=colour)
        ax.set_xticks(range(len(wide)), list(wide.index))
        ax.set_ylabel(measure)
    axes[0].legend(fontsize=7, ncols=5 if len(colours) == 5 else 4)
    return figure


def with_parameter(runs: DataFrame, parameter: str, column: str) -> DataFrame:
    """Runs with a parameter as a column, empty for methods that have none."""
    return runs.assign(**{column: [json.loads(text).get(parameter, "") for text in runs["parameters"]]})


def dimension_rows(runs: DataFrame) -> list[dict[str, Any]]:
    """A row of means for each data set, method and dimension."""
    both = (mean_rows(runs, measure, "dimension") for measure in ("accuracy", "nmi"))
    return [row | {"nmi": other["ours"]} for row, other in zip(*both, strict=True)]


def lead(runs: DataFrame, dataset: str, method: str, rivals: Sequence[str]) -> NDArray:
    """For each run, how far a method is above the best of its rivals at each dimension, in the mean over them.

    The rival is the one with the largest mean there; one without dimensions stands in at all of them.
    """
    groups = runs[runs["dataset"] == dataset].sort_values("seed").groupby(["method", "dimension"])["accuracy"]
    own = {key: values.to_numpy(float) for key, values in groups}
    found = []
    for d in (d for name, d in own if name == method):
        there = [own.get((rival, d), own.get((rival, ""))) for rival in rivals]
        best = max((values for values in there if values is not None), key=np.mean)
        found.append(own[method, d] - best)
    return np.mean(found, axis=0)


# -- preparation, by functions that a worker can load by name ---------------------------------------------------


def unit_scatter(X: NDArray) -> NDArray:
    """Scaled so that the mean non-zero eigenvalue of the total scatter is 1, which gives ridges one meaning."""
    centred = X - X.mean(axis=0)
    rank = np.linalg.matrix_rank(centred @ centred.T if len(X) < X.shape[1] else centred.T @ centred, hermitian=True)
    return X * np.sqrt(max(rank, 1) / np.sum(centred**2))


def log_unit_scatter(X: NDArray) -> NDArray:
    """The same, of logarithms."""
    return unit_scatter(np.log(X))


def standardised(X: NDArray) -> NDArray:
    """Every feature with mean 0 and variance 1."""
    return StandardScaler().fit_transform(X)


def unit_features(X: NDArray) -> NDArray:
    """Every feature with mean 0 and length 1, so that X'X is the correlation matrix."""
    return standardised(X) / np.sqrt(len(X))


def bytes_to_one(X: NDArray) -> NDArray:
    """Pixels from 0 to 1 instead of 0 to 255."""
    return X / 255.0


def leading(X: NDArray) -> NDArray:
    """Rows in the leading directions, which carry 90% of the variance."""
    kept = decompose(X).keep(LEADING)
    return np.asarray(kept.leading(kept.rank))
