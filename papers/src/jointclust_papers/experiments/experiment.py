"""Methods x data sets x parameters x seeds: every combination is a cell, every cell a row of one tidy table."""

from __future__ import annotations

import functools
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
from joblib import Parallel, delayed
from joblib import hash as joblib_hash
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from jointclust import datasets
from jointclust._version import __version__
from jointclust.datasets import Dataset
from jointclust.estimators.fitting import fit_member, training_labels
from jointclust.exceptions import collected
from jointclust.files import replacing
from jointclust.metrics import clustering_accuracy, normalized_mutual_info
from jointclust.rows import threads
from jointclust.selection import criteria
from jointclust.selection.candidates import check_grid
from jointclust.selection.references import reference_labels, reference_members
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import decompose
from jointclust.types import Estimator, Matrix
from jointclust_papers.experiments import code
from jointclust_papers.experiments.journal import Journal

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
# An estimator; or one with a grid, which may be a function of the data set.
Method = Estimator | tuple[Estimator, Grid | Callable[[Dataset], Grid]]
Prepare = Callable[[Any], Matrix]
Progress = Callable[[int, int], None]
Known = dict[tuple[str, Prepare | None], tuple["Source", Dataset]]
# Modules that measure labels, and modules of the references that label-free choices compare them with.
_MEASURES, _REFERENCES = ("jointclust.metrics",), ("jointclust.selection.criteria", "jointclust.selection.search")
# Results of other versions are other results.
_VERSIONS = f"jointclust {__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}"
# What is known of a cell, its results and its messages.
_CELL = ("dataset", "method", "parameters", "seed")
_RESULTS = ("accuracy", "nmi", "agreement", "clusters", "empty", "collapsed", "objective", "n_iter", "seconds")
_MESSAGES = ("warnings", "error")
# What methods say where rows sit on their centroids whatever the labels, or centers fall together.
_COLLAPSE = " collapsed: "


def silent(done: int, total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class Source:
    """Where rows come from, in the words that a worker needs to load them itself; equal where the rows are."""

    data: str | Dataset = field(compare=False)
    data_home: str | None = field(default=None, compare=False)
    prepare: Prepare | None = field(default=None, compare=False)
    digest: str = ""
    size: int = field(default=0, compare=False)

    @property
    def references(self) -> str:
        """Key under which the labels lie that label-free choices compare with."""
        return json.dumps([_VERSIONS, code.digest(_REFERENCES), self.digest, "references"])

    def load(self) -> Dataset:
        """The data set, prepared."""
        loaded = datasets.load(self.data, self.data_home) if isinstance(self.data, str) else self.data
        return loaded if self.prepare is None else replace(loaded, data=self.prepare(loaded.data))


def collapsed(messages: Sequence[str]) -> bool:
    """Whether one of the warnings of a fit says that it collapsed."""
    return any(_COLLAPSE in message for message in messages)


@dataclass(frozen=True)
class Cell:
    """One fit: what to fit to what, with which parameters and seed, and what to write down."""

    source: Source
    dataset: str
    method: str
    estimator: Estimator
    parameters: str
    seed: int
    key: str
    shared: bool
    label_free: bool
    record: tuple[str, ...]

    def run(self, references: NDArray | None = None) -> dict[str, Any]:
        """Fit and evaluate; errors are recorded, not raised."""
        dataset = _rows(self.source)
        coordinates = _coordinates(self.source) if self.shared else None
        results: dict[str, Any] = {}
        with collected() as messages:
            began = time.process_time()  # of all threads, and not what other processes take
            try:
                fitted = _fit(clone(self.estimator), dataset.data, coordinates, self.seed)
                results["seconds"] = time.process_time() - began
                results |= self._measured(fitted, dataset, references)
            except Exception as error:  # one cell that fails does not end the others
                results["error"] = f"{type(error).__name__}: {error}"
                results.setdefault("seconds", time.process_time() - began)
        if "empty" in results:
            results["collapsed"] = int(results["empty"] > 0 or collapsed(messages))
        results["warnings"] = "; ".join(messages)
        return results

    def _measured(self, fitted: Any, dataset: Dataset, references: NDArray | None) -> dict[str, Any]:
        labels = training_labels(fitted, dataset.data)
        last = fitted[-1] if hasattr(fitted, "steps") else fitted
        n_clusters, wanted = int(np.unique(labels).size), last.get_params().get("n_clusters")
        results: dict[str, Any] = {
            "accuracy": clustering_accuracy(dataset.target, labels),
            "nmi": normalized_mutual_info(dataset.target, labels),
            "clusters": n_clusters,
            "empty": max(wanted - n_clusters, 0) if isinstance(wanted, int) else 0,
        }
        if references is not None:
            results["agreement"] = criteria.agreement(labels, list(references))
        for name, attribute in (("objective", "objective_"), ("n_iter", "n_iter_")):
            if hasattr(last, attribute):
                results[name] = float(getattr(last, attribute))
        return results | {name: np.asarray(getattr(last, name)).tolist() for name in self.record if hasattr(last, name)}


def _fit(estimator: Estimator, X: Matrix, coordinates: Coordinates | None, seed: int) -> Any:
    names = [name for name in estimator.get_params() if name.split("__")[-1] == "random_state"]
    estimator.set_params(**dict.fromkeys(names, seed))
    return estimator.fit(X) if coordinates is None else fit_member(estimator, X, coordinates, None, seed)


# What the cells of a data set share in a worker, which works on one data set after another.


@functools.lru_cache(maxsize=2)
def _rows(source: Source) -> Dataset:
    return source.load()


@functools.lru_cache(maxsize=2)
def _coordinates(source: Source) -> Coordinates:
    return decompose(_rows(source).data)


class Experiment:
    """Every method on every data set with all parameters and seeds, as one tidy table.

    The number of clusters is the number of classes. Labels are used for the evaluation only: the columns accuracy and
    nmi see them, agreement (the mean adjusted Rand index with the reference partitions of
    :class:`~jointclust.LabelFreeSearch`) does not. :func:`summary` chooses parameters by either, and says which.

    Parameters
    ----------
    methods : dict
        By name, an estimator or a pair (estimator, grid). A grid is a dict of lists, a list of such dicts, or a
        function of the :class:`~jointclust.datasets.Dataset` that returns one. ``n_clusters`` and ``random_state`` are
        set here; an estimator that has no ``n_clusters`` is fitted as it is.
    data : list of str or Dataset
        Names that :func:`jointclust.datasets.load` knows, or data sets of your own.
    seeds : iterable of int, default=range(10)
        One run each.
    data_home : path-like, optional
        For :func:`jointclust.datasets.load`.
    prepare : dict of functions, optional
        By name of a data set, what is done to its rows first (a function that can be pickled).
    shared : bool, default=False
        Whether the methods share one decomposition of the rows where they can. Many fits then take a fraction of the
        time, and their seconds no longer hold what all have in common.
    label_free : bool, default=True
        Whether to measure agreement, for which the references are fitted once per data set.
    record : tuple of str, default=()
        Attributes of the fitted estimator to keep as columns, such as ``"objective_history_"``.

    Examples
    --------
    >>> import jointclust as jc
    >>> from jointclust_papers.experiments import Experiment, summary
    >>> from sklearn.cluster import KMeans
    >>> grid = {"trade_off": [1.5, 3]}
    >>> methods = {"k-means": KMeans(n_init=1), "DEC": (jc.DiscriminativeEmbeddedClustering(), grid)}
    >>> table = Experiment(methods, ["iris"], seeds=range(2)).run()
    >>> len(table)
    6
    >>> sorted(summary(table)["selection"].unique())
    ['label-free', 'oracle']
    """

    def __init__(
        self,
        methods: Mapping[str, Method],
        data: Sequence[str | Dataset],
        seeds: Iterable[int] = range(10),
        *,
        data_home: str | os.PathLike[str] | None = None,
        prepare: Mapping[str, Prepare] | None = None,
        shared: bool = False,
        label_free: bool = True,
        record: tuple[str, ...] = (),
    ):
        self.methods, self.data, self.seeds = dict(methods), list(data), [int(seed) for seed in seeds]
        self.data_home = None if data_home is None else os.fspath(data_home)
        self.prepare = dict(prepare or {})
        self.shared, self.label_free, self.record = shared, label_free, tuple(record)
        names = [one if isinstance(one, str) else one.name for one in self.data]
        plan: dict[str, list[Any]] = {"methods": list(self.methods), "data": names, "seeds": self.seeds}
        for what, given in plan.items():
            if not given:
                raise ValueError(f"{what} is empty: there is nothing to run.")
            if len(set(given)) < len(given):
                raise ValueError(f"{what} names {next(one for one in given if given.count(one) > 1)!r} more than once.")

    def cells(self, known: Known | None = None) -> list[Cell]:
        """All cells, data set by data set.

        Parameters
        ----------
        known : dict, optional
            Data sets that were loaded and prepared for other cells; those of this call are added.

        Returns
        -------
        cells : list of Cell
            What there is to run.
        """
        known = {} if known is None else known
        return [cell for one in self.data for cell in self._cells_of(*self._loaded(one, known))]

    def _loaded(self, data: str | Dataset, known: Known) -> tuple[Source, Dataset]:
        name = data if isinstance(data, str) else data.name
        key = (name, self.prepare.get(name))
        if key not in known or not isinstance(data, str):
            source = Source(data, self.data_home, self.prepare.get(name))
            dataset = source.load()
            known[key] = replace(source, digest=_digest(dataset), size=int(np.prod(dataset.data.shape))), dataset
        return known[key]

    def _cells_of(self, source: Source, dataset: Dataset) -> Iterator[Cell]:
        options = self.shared, self.label_free, self.record
        for method, given in self.methods.items():
            base, grid = given if isinstance(given, tuple) else (given, {})
            for parameters in _parameters(base, grid(dataset) if callable(grid) else grid):
                estimator = _with_clusters(clone(base).set_params(**parameters), dataset.n_classes)
                text, words, own = _text(parameters), _described(estimator), self._code(estimator)
                for seed in self.seeds:
                    key = json.dumps([_VERSIONS, own, source.digest, words, seed, options])
                    yield Cell(source, dataset.name, method, estimator, text, seed, key, *options)

    def _code(self, estimator: Any) -> str:
        """A digest of all code that makes and measures the labels: a cell is done when this has been run."""
        parts = [estimator, *(one for one in estimator.get_params().values() if hasattr(one, "get_params"))]
        modules = {type(one).__module__ for one in parts}
        return code.digest({*modules, *_MEASURES, *(_REFERENCES if self.label_free else ())})

    def run(
        self,
        out: str | os.PathLike[str] | None = None,
        *,
        n_jobs: int | None = None,
        journal: Journal | None = None,
        progress: Progress = silent,
    ) -> DataFrame:
        """Run what has not been run, and return the table.

        Parameters
        ----------
        out : path-like, optional
            A .csv or .parquet file for the table. Finished cells go to ``out`` + ".journal" as they come: after a kill,
            the same call goes on where it stopped.
        n_jobs : int, default=None
            Processes, as in joblib; None is one.
        journal : Journal, optional
            An open journal that takes the place of the one beside ``out``.
        progress : callable, optional
            Takes how many cells are done, and how many there are.

        Returns
        -------
        table : pandas.DataFrame
            One row per cell, in the order of :meth:`cells`. A cell that failed has its error and no results, and is
            tried again by the next run.
        """
        if out is not None and Path(out).suffix not in (".csv", ".parquet"):
            raise ValueError(f"{out}: the table goes to a .csv or .parquet file.")
        cells = self.cells()
        path = None if out is None else f"{os.fspath(out)}.journal"
        with Journal(path) if journal is None else nullcontext(journal) as kept:
            finish(cells, kept, n_jobs=n_jobs, progress=progress)
        table = self.table(cells, kept)
        if out is not None:
            with replacing(out) as temporary:
                writer = table.to_parquet if Path(out).suffix == ".parquet" else table.to_csv
                writer(temporary, index=False)
        return table

    def table(self, cells: Sequence[Cell], journal: Journal) -> DataFrame:
        """The table of cells, as far as they are finished."""
        known = ({name: getattr(cell, name) for name in _CELL} | {"warnings": "", "error": ""} for cell in cells)
        rows = [row | (journal.get(cell.key) or {}) for row, cell in zip(known, cells, strict=True)]
        return DataFrame(rows, columns=[*_CELL, *_RESULTS, *_MESSAGES, *self.record])


def unfinished(cells: Iterable[Cell], journal: Journal) -> list[Cell]:
    """Cells that are missing in the journal or failed, each once, those of large data first."""
    todo = {cell.key: cell for cell in cells if not _is_done(journal.get(cell.key))}
    sizes = {cell.source.digest: -cell.source.size for cell in todo.values()}
    # Data set by data set, since a worker keeps no more than two of them.
    return sorted(todo.values(), key=lambda cell: (sizes[cell.source.digest], cell.source.digest))


def finish(cells: Sequence[Cell], journal: Journal, *, n_jobs: int | None = None, progress: Progress = silent) -> None:
    """Run the cells that are not finished, and write each down as soon as it is."""
    todo, total = unfinished(cells, journal), len({cell.key for cell in cells})
    done = total - len(todo)
    progress(done, total)
    # One cell at a time to a worker, so that a kill costs no more than the cells in progress.
    parallel = Parallel(n_jobs=n_jobs, batch_size=1, pre_dispatch="2*n_jobs", return_as="generator_unordered")
    sources = {cell.source.references: cell.source for cell in todo if cell.label_free}
    missing = {key: source for key, source in sources.items() if not _is_done(journal.get(key))}
    for key, result in parallel(delayed(_refer)(key, source) for key, source in missing.items()):
        journal.add(key, result)
    stored = {key: (journal.get(key) or {}).get("references") for key in sources}
    references = {key: None if labels is None else np.asarray(labels, dtype=np.int32) for key, labels in stored.items()}
    given = ((cell, references[cell.source.references] if cell.label_free else None) for cell in todo)
    for key, result in parallel(delayed(_run)(cell, labels) for cell, labels in given):
        journal.add(key, result)
        done += 1
        progress(done, total)


def _refer(key: str, source: Source) -> tuple[str, dict[str, Any]]:
    """Labels of every second member of the consensus, as references; none if our methods do not take the rows."""
    with threads.single():
        try:
            dataset, coordinates = _rows(source), _coordinates(source)
            members = reference_members(dataset.n_classes, dataset.data, coordinates)
            labels = reference_labels(members, dataset.data, coordinates, np.random.RandomState(0), None)
            return key, {"references": np.asarray(labels).tolist()}
        except Exception as error:
            return key, {"error": f"{type(error).__name__}: {error}"}


def _run(cell: Cell, references: NDArray | None) -> tuple[str, dict[str, Any]]:
    with threads.single():
        return cell.key, cell.run(references)


def _described(estimator: Any) -> str:
    """An estimator as a text that no other one has: class, repr, and what a repr shortens or leaves out."""
    words = " ".join(re.sub(r" at 0x\w+", "", estimator.__repr__(N_CHAR_MAX=10**9)).split())
    simple, given = (type(None), bool, int, float, str), estimator.get_params()
    hidden = [f"{name}={_fingerprint(value)}" for name, value in given.items() if not isinstance(value, simple)]
    return " ".join([f"{_path(type(estimator))}: {words}", *hidden])


def _fingerprint(value: object) -> str:
    if callable(value) and not hasattr(value, "get_params"):
        if "<" in (name := _path(value)):
            raise ValueError(f"{name} cannot be told from another function in a later run: give it a name in a module.")
        return name
    return _path(type(value)) if hasattr(value, "get_params") else joblib_hash(_without_estimators(value))


def _without_estimators(value: object) -> object:
    """The steps of a pipeline and the like, whose estimators' own parameters are looked at one by one."""
    if isinstance(value, (list, tuple)):
        return [_without_estimators(one) for one in value]
    return _path(type(value)) if hasattr(value, "get_params") else value


def _path(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _is_done(result: dict[str, Any] | None) -> bool:
    return result is not None and not result.get("error")


def _parameters(base: Estimator, grid: Grid) -> list[dict[str, Any]]:
    """Every combination of the grid, once."""
    grids = [grid] if isinstance(grid, Mapping) else list(grid)
    for one in grids:
        check_grid(base, dict(one))
        for name in one:
            if name.split("__")[-1] in ("n_clusters", "random_state"):
                raise ValueError(
                    f"{name} cannot be in a grid: clusters are as many as classes, and seeds go to `seeds`."
                )
    combinations = list({_text(parameters): parameters for parameters in ParameterGrid(grids)}.values())
    if not combinations:
        raise ValueError("The grid is empty: there is nothing to run.")
    return combinations


def _text(parameters: Mapping[str, Any]) -> str:
    """Parameters as JSON; values that JSON cannot hold, by a fingerprint."""
    return json.dumps(parameters, sort_keys=True, default=lambda value: f"{type(value).__name__} {_fingerprint(value)}")


def _with_clusters(estimator: Any, n_clusters: int) -> Estimator:
    """The estimator, or the last step of a pipeline, with this number of clusters, if it has that parameter."""
    name = f"{estimator.steps[-1][0]}__n_clusters" if hasattr(estimator, "steps") else "n_clusters"
    return estimator.set_params(**{name: n_clusters}) if name in estimator.get_params() else estimator


def _digest(dataset: Dataset) -> str:
    """A fingerprint of rows and classes."""
    rows, classes = dataset.data, json.dumps(np.asarray(dataset.target).tolist(), default=str)
    if sp.issparse(rows):  # without what SciPy notes beside the numbers
        rows = rows.tocsr()
        rows = rows.shape, rows.data, rows.indices, rows.indptr
    return f"{dataset.name} {joblib_hash((rows, classes))}"
