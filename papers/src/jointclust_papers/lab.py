"""What the papers' items share: which data are here, how many runs and starts, the published numbers, preparation."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.preprocessing import StandardScaler

from jointclust import datasets
from jointclust.subspace.decomposition import decompose
from jointclust_papers import shipped
from jointclust_papers.experiments.code import digest
from jointclust_papers.experiments.experiment import Cell, Experiment, Known, Method, finish, unfinished
from jointclust_papers.experiments.journal import Journal
from jointclust_papers.experiments.selection import chosen_runs, whole
from jointclust_papers.findings import Part, ahead, fact

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_T = TypeVar("_T")
# The code that results depend on which are no cells.
_COMPUTED = ("jointclust_papers.textbook",)
Data = Sequence[str] | Sequence[datasets.Dataset]
# Neither is in a paper; they take the place of sets that are not here, so that every item can be tried.
STAND_INS = ("digits", "mixture")
QUICK_RUNS = 3
# Starts of k-means, or of the k-means that a method starts from, for every method of an item.
STARTS = 10
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
    # The item that is made, and the tables that each paper's items were given, for those who want to see the cells.
    paper: str = ""
    item: str = ""
    given: dict[str, list[DataFrame]] = field(default_factory=dict)
    # What one cell is asked by: data set, method and seed; then nothing else is, and no item is made.
    one: tuple[str, str, int] | None = None
    # The methods that items ask for, by data set.
    offered: dict[str, set[str]] = field(default_factory=dict)
    # How many seeds a data set and method have, where one cell is asked by them.
    seeds: int = 0

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

    def sizes(self, paper: str) -> list[Part]:
        """Whether the data sets that are here have the sizes that a paper prints."""
        rows = [row for row in published() if (row["paper"], row["item"]) == (paper, "sizes")]
        wrong: dict[str, list[str]] = {}
        for row in (row for row in rows if datasets.present(row["dataset"], self.data_home)):
            data = self.load(row["dataset"])
            ours = dict(zip(("rows", "features"), data.data.shape, strict=True)) | {"classes": data.n_classes}
            own, value = wrong.setdefault(row["dataset"], []), ours[row["measure"]]
            own += [] if value == int(row["value"]) else [f"{value} {row['measure']}, printed {row['value']}"]
        return [fact(f"{name} ({'; '.join(own)})" if own else name, not own) for name, own in wrong.items()]

    def load(self, name: str) -> datasets.Dataset:
        """A data set."""
        known = self.known.get((name, None))
        return datasets.load(name, self.data_home) if known is None else known[1]

    def experiment(self, methods: Mapping[str, Method], data: Data, runs: int, **options: Any) -> Experiment | None:
        """A plan, with so many seeds; ``prepare`` may be one function for all sets."""
        if callable(prepare := options.get("prepare")):
            options["prepare"] = dict.fromkeys(data, prepare)
        if self.one is not None:
            name, method, seed = self.one
            for known in data:
                self.offered.setdefault(known if isinstance(known, str) else known.name, set()).update(methods)
            data = [one for one in data if (one if isinstance(one, str) else one.name) == name]  # type: ignore[assignment]
            methods = {known: given for known, given in methods.items() if known.lower() == method.lower()}
            self.seeds = max(self.seeds, self.runs(runs) if data and methods else 0)
            if not data or not methods or seed not in range(self.runs(runs)):
                return None
        options = {"label_free": False} | options
        return Experiment(methods, data, range(self.runs(runs)), data_home=self.data_home, **options)

    def run(self, methods: Mapping[str, Method], data: Data, runs: int, **options: Any) -> DataFrame:
        """The table of one plan."""
        return self.tables([self.experiment(methods, data, runs, **options)])[0]

    def tables(self, experiments: Sequence[Experiment | None], *, alone: bool = False) -> list[DataFrame]:
        """The tables of plans whose cells are finished; where some are not, they are asked for.

        ``alone`` cells are run one after another with nothing else beside them, for their times.
        """
        plans = [plan for plan in experiments if plan is not None]
        cells = [plan.cells(self.known) for plan in plans]
        wanted = [one for own in cells for one in own if self.one is None or one.seed == self.one[2]]
        missing = [one for one in unfinished(wanted, self.journal) if one.key not in self.tried]
        if missing or self.one is not None:
            (self.alone if alone else self.together).extend(missing)
            raise UnfinishedError
        tables = [plan.table(own, self.journal) for plan, own in zip(plans, cells, strict=True)]
        for plan, table in zip(plans, tables, strict=True):
            prepared = {name: function.__name__ for name, function in plan.prepare.items()}
            table.insert(1, "prepared", table["dataset"].map(prepared).fillna(""))
            self.given.setdefault(self.paper, []).append(table.assign(item=self.item))
        return tables

    def computed(self, what: str, compute: Callable[[], _T]) -> _T:
        """What a function returns, once for each version of the code: the journal keeps it, as JSON can."""
        key = json.dumps([digest(_COMPUTED), self.paper, what])
        if (entry := self.journal.get(key)) is None:
            entry = {"result": compute()}
            self.journal.add(key, entry)
        return entry["result"]

    def finish(self, **options: Any) -> None:
        """Run what was asked for; what fails is not tried again before the next call of the command."""
        for cells, n_jobs in ((self.together, self.n_jobs), (self.alone, 1)):
            finish(cells, self.journal, n_jobs=n_jobs, **options)
            self.tried.update(cell.key for cell in cells)
            cells.clear()


def published() -> tuple[dict[str, str], ...]:
    """Every number that the papers print, as rows of paper, item, dataset, method, measure, setting, value."""
    return shipped.rows("published.csv")


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
        cell = row | {"dataset": (known_as or {}).get(row["dataset"], row["dataset"])}
        value = printed.get(tuple(str(cell.get(key, "")) for key in keys))
        known = {key: row[key] for key in keys if key in row}
        difference = None if value is None else row["ours"] - value
        joined.append(known | {"paper": value, "ours": row["ours"], "difference": difference} | row)
    return DataFrame(joined)


def mean_rows(runs: DataFrame, column: str, *more: str, measure: str = "") -> list[dict[str, Any]]:
    """Mean of a column with its 95% interval, for each data set, method and what more tells the rows apart.

    Means are over the fits that did not collapse; where half or more did, there is none.
    """
    rows = []
    for (dataset, method, *rest), own in whole(runs).groupby(["dataset", "method", *more], sort=False):
        known = {"dataset": dataset, "method": method, "measure": measure or column}
        rows.append(known | dict(zip(more, rest, strict=True)) | _mean(own, column))
    return rows


def _mean(own: DataFrame, column: str, shown: Callable[[Any], Any] = lambda value: value) -> dict[str, Any]:
    gone, n = int(own["collapsed"].sum()), len(own)
    values = own[column].where(~own["collapsed"]) if 2 * gone < n else own[column].where(own["collapsed"] & False)
    part = ahead("", values)
    low, high = sorted((shown(part.low), shown(part.high)))
    statistics = {"ours": shown(part.mean), "low": low, "high": high, "sd": values.std(), "runs": n}
    return statistics | {"collapsed": f"{gone} of {n}" if gone else ""}


def oracle_rows(
    runs: DataFrame, names: Sequence[str], methods: Sequence[str], measures: Mapping[str, str], by: str = ""
) -> list[dict[str, Any]]:
    """Ours for the cells of a printed table: the parameters of the best mean, by the classes, as papers choose them.

    ``measures`` names the column behind each measure; ``by`` is the column that chooses, where it is one for all.
    """
    rows = []
    for measure, column in measures.items():
        chosen = chosen_runs(runs, by or column)
        shown = (lambda value: 1 - value) if measure == "error" else (lambda value: value)
        for name in names:
            for method in methods:
                own = chosen[(chosen["dataset"] == name) & (chosen["method"] == method)]
                known = {"dataset": name, "method": method, "measure": measure}
                if len(own):
                    rows.append(known | _mean(own, column, shown) | {"parameters": own["parameters"].iloc[0]})
                else:  # all parameters collapsed too often
                    all_of = whole(runs[(runs["dataset"] == name) & (runs["method"] == method)])
                    if len(all_of):
                        rows.append(known | _mean(all_of, column, shown) | {"parameters": ""})
    return rows


def with_baseline(table: DataFrame, baseline: str) -> DataFrame:
    """The table with a column 'k-means' behind 'ours': plain k-means on the same rows, by the same measure."""
    keys = [name for name in ("rows", "dataset", "measure") if name in table]
    plain = table[table["method"] == baseline].drop_duplicates(keys)
    values = plain.set_index(keys)["ours"].to_dict()
    column = [values.get(key) for key in table[keys].itertuples(index=False, name=None)]
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
    """A measure with its interval against the dimension or the ridge; what has none is a level line."""
    figure, axes = grid_of_axes(len(panels), **size)
    for ax, (title, measure, table) in zip(axes, panels, strict=True):
        for method, (colour, line) in styles.items():
            curve = table[table["method"] == method]
            look = {"color": colour, "ls": line, "lw": 1.2, "label": method}
            if not len(curve) or curve["ours"].isna().all():
                continue
            if (curve[x] == "").all():
                ax.axhline(curve["ours"].iloc[0], **look)
            else:
                values = curve[x].astype(float)
                ax.plot(values, curve["ours"], marker=".", **look)
                ax.fill_between(values, curve["low"], curve["high"], color=colour, alpha=0.15, lw=0)
        ax.set(title=title, xlabel=x, ylabel=measure, xscale="log" if x == "ridge" else "linear")
    legend(figure, axes)
    return figure, axes


def legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """One legend below all panels, with every line that any of them has."""
    lines = {label: line for ax in axes for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(lines.values(), lines, loc="outside lower center", ncols=4, fontsize=8)


def dots(table: DataFrame, names: Sequence[str], measures: Sequence[str], methods: Sequence[str]) -> Figure:
    """A row of panels for each measure, one for each data set: ours with intervals, and what the paper prints."""
    columns = min(4, len(names)) if len(names) != 6 else 3
    figure, axes = grid_of_axes(len(measures) * len(names), 2.7, 2.6, columns)
    for ax, (measure, name) in zip(axes, [(m, n) for m in measures for n in names], strict=True):
        own = table[(table["dataset"] == name) & (table["measure"] == measure)].set_index("method")
        places = np.arange(len(methods))
        ours = own.reindex(methods)
        off = [ours["ours"] - ours["low"], ours["high"] - ours["ours"]]
        ax.errorbar(places, ours["ours"], np.abs(off), fmt="o", ms=4, capsize=2, color="#1f4e9c", label="ours")
        if "paper" in ours:
            printed = ours["paper"].astype(float)
            ax.plot(places, printed, "D", ms=4, mfc="none", color="#c8102e", label="paper")
        ax.set_xticks(places, methods, rotation=90, fontsize=7)
        ax.set_title(f"{name}, {measure}", fontsize=9)
        ax.margins(0.12)
    axes[0].legend(fontsize=7)
    return figure


def with_parameter(runs: DataFrame, parameter: str, column: str) -> DataFrame:
    """Runs with a parameter as a column, empty for methods that have none."""
    return runs.assign(**{column: [json.loads(text).get(parameter, "") for text in runs["parameters"]]})


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


def leading(X: NDArray, share: float = LEADING) -> NDArray:
    """Rows in the leading directions, which carry 90% of the variance."""
    kept = decompose(X).keep(share)
    return np.asarray(kept.leading(kept.rank))


def leading_80(X: NDArray) -> NDArray:
    """Those that carry 80%."""
    return leading(X, 0.8)
