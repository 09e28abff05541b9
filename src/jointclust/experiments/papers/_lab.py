"""What the papers' items share: which data are here, how many runs, the published numbers, verdicts."""

from __future__ import annotations

import csv
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from jointclust import datasets
from jointclust.experiments.experiment import Experiment, Method, frame
from jointclust.experiments.findings import Claim
from jointclust.experiments.journal import Journal

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

_T = TypeVar("_T")
# Neither is in a paper; they take the place of sets that are not here, so that every item can be tried.
STAND_INS = ("digits", "mixture")
QUICK_RUNS = 3


@dataclass
class Lab:
    """Where and how an item is run.

    Attributes
    ----------
    journal : Journal
        Open; the items share their cells through it.
    quick : bool
        Three runs and short grids instead of the paper's.
    n_jobs : int
        Processes.
    data_home : path-like or None
        For :func:`jointclust.datasets.load`.
    progress : callable
        Takes how many cells are done, and how many there are.
    """

    journal: Journal = field(default_factory=Journal)
    quick: bool = True
    n_jobs: int | None = None
    data_home: str | os.PathLike[str] | None = None
    progress: Callable[[int, int], None] = lambda done, total: None

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
        used = [] if present else list(stand_ins)
        return present + used, missing, used

    def load(self, name: str) -> datasets.Dataset:
        """A data set."""
        return datasets.load(name, self.data_home)

    def run(
        self, methods: Mapping[str, Method], data: Sequence[str | datasets.Dataset], runs: int, **options: Any
    ) -> DataFrame:
        """The table of an experiment; cells that have been run are not run again."""
        n_jobs = options.pop("n_jobs", self.n_jobs)
        experiment = Experiment(methods, data, range(self.runs(runs)), data_home=self.data_home, **options)
        return experiment.run(journal=self.journal, n_jobs=n_jobs, progress=self.progress)


@functools.cache
def published() -> tuple[dict[str, str], ...]:
    """Every number that the papers print, as rows of paper, item, dataset, method, measure, setting, value."""
    text = resources.files("jointclust.experiments.papers").joinpath("published.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def beside_paper(paper: str, item: str, rows: list[dict[str, Any]]) -> DataFrame:
    """Our rows (with dataset, method, measure, perhaps setting, and ours) beside the printed numbers."""
    keys = ("dataset", "method", "measure", "setting")
    printed = {
        tuple(row[key] for key in keys): float(row["value"])
        for row in published()
        if (row["paper"], row["item"]) == (paper, item)
    }
    joined = []
    for row in rows:
        value = printed.get(tuple(str(row.get(key, "")) for key in keys))
        known = {key: row[key] for key in keys if key in row}
        difference = None if value is None else row["ours"] - value
        rest = {key: found for key, found in row.items() if key not in (*keys, "ours")}
        joined.append(known | {"paper": value, "ours": row["ours"], "difference": difference} | rest)
    return frame(joined)


def judged(text: str, flags: Mapping[str, bool], because: str) -> Claim:
    """A verdict by counting: all hold, some do, none does, or there is nothing to count."""
    if not flags:
        return Claim(text, "cannot be tested", because)
    verdict = "holds" if all(flags.values()) else "holds in part" if any(flags.values()) else "does not hold"
    return Claim(text, verdict, because)


def gained(text: str, gains: Mapping[str, tuple[float, float]], because: str) -> Claim:
    """A claim with sizes: it holds where at least half of each is there, in part where there is any gain."""
    if all(ours >= claimed / 2 for ours, claimed in gains.values()):
        return Claim(text, "holds", because)
    some = any(ours > 0.005 for ours, _ in gains.values())
    return Claim(text, "holds in part" if some else "does not hold", because)


def untestable(text: str, missing: Sequence[str]) -> Claim:
    """A claim about data that are not here."""
    return Claim(text, "cannot be tested", f"needs {', '.join(missing)}")


def percent(value: float) -> str:
    """A share for a sentence."""
    return f"{100 * value:.1f}%"


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


def curves(names: Sequence[str], table: DataFrame, styles: Mapping[str, tuple[str, str]]) -> Figure:
    """Accuracy against the dimension, a panel per data set; a method without dimensions is a level line."""
    figure, axes = grid_of_axes(len(names))
    for ax, name in zip(axes, names, strict=True):
        for method, (colour, line) in styles.items():
            curve = table[(table["dataset"] == name) & (table["method"] == method)]
            look = {"color": colour, "ls": line, "lw": 1.2, "label": method}
            if (curve["dimension"] == "").all():
                ax.axhline(curve["ours"].iloc[0], **look)
            else:
                ax.plot(curve["dimension"].astype(int), curve["ours"], marker=".", **look)
        ax.set(title=name, xlabel="dimension", ylabel="accuracy")
    axes[0].legend(fontsize=7)
    return figure


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
