"""From options to an estimator: method by name, number of clusters, how long it takes."""

from __future__ import annotations

import difflib
import timeit
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

import jointclust as jc
from jointclust import default, registry
from jointclust.cli.console import TasksDone, lasting
from jointclust.consensus.views import MOST_ROWS
from jointclust.estimators.fitting import fit_member
from jointclust.number.estimate import Numbers, Report
from jointclust.types import Predictor

# Of clusters: one number, a range as text such as "2-8", numbers to choose among, or none given.
Clusters = int | str | list[int] | None
# Classes of rows, None where none is known; or none at all.
Known = NDArray[np.object_] | None
# Rows, columns, clusters and effort of a fit.
Size = tuple[int, int, Clusters, str]


def hint(name: str, known: list[str]) -> str:
    """A hint at what may have been meant, and all that there is."""
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return (f"Did you mean {close[0]!r}? " if close else "") + f"There are {', '.join(known)}."


def method_of(name: str) -> type[BaseEstimator]:
    """A method by its short name or its class's."""
    methods = {entry.name: entry.cls for entry in registry.METHODS}
    found = methods | {cls.__name__.lower(): cls for cls in methods.values()}
    if name.lower().replace("-", "") == "kmeans":
        here = "k-means is --method dec --trade-off 1 here; jointclust compare sets scikit-learn's beside all methods."
        raise click.UsageError(f"--method {name}: {here}")
    if name.lower() not in found:
        raise click.UsageError(f"There is no method {name!r}. {hint(name, list(methods))}")
    return found[name.lower()]


def literal(text: str) -> object:
    """A value as in TOML (numbers, true, quoted text, lists); a bare word is text.

    Examples
    --------
    >>> literal("0.5"), literal("rbf"), literal("[1, 2]")
    (0.5, 'rbf', [1, 2])
    """
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def named(option: str, pairs: tuple[str, ...], written: str = "NAME=VALUE") -> dict[str, str]:
    """Texts by name, from pairs such as ``name=text``."""
    if wrong := [pair for pair in pairs if "=" not in pair]:
        raise click.UsageError(f"{option} {wrong[0]}: write it as {written}.")
    return {name: text for name, _, text in (pair.partition("=") for pair in pairs)}


def settings_of(given: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the estimator that were set on the command line."""
    found: dict[str, Any] = {}
    if given["components"] is not None:
        found["n_components"] = given["components"]
    if given["trade_off"] is not None:
        found["trade_off"] = literal(given["trade_off"])
    for name, text in named("--set", given["settings"]).items():
        if option := {"n_clusters": "--clusters", "random_state": "--seed", "columns": "--columns"}.get(name):
            raise click.UsageError(f"--set {name}: there is {option} for it.")
        found[name] = literal(text)
    return found


def clusterer(method: str, n_clusters: int, seed: int, **settings: object) -> Predictor:
    """An estimator with the parameters given, each checked to be one that it has."""
    cls = method_of(method)
    known = cls(n_clusters).get_params()
    if "views" in known:
        settings = {"views": None, **settings}  # the rows are prepared already
        if str(settings["views"]).lower() == "none":
            settings["views"] = None
    if wrong := [name for name in settings if name not in known]:
        name = wrong[0]
        option = {"n_components": "--components", "trade_off": "--trade-off"}.get(name, f"--set {name}")
        raise click.UsageError(
            f"{option} does not go with --method {method}: {cls.__name__} has no parameter {name}. "
            f"{hint(name, sorted(known))}"
        )
    return cls(n_clusters, **{"random_state": seed, **settings})


def counted(
    X: ArrayLike, given: Clusters, seed: int, report: Callable[..., None]
) -> tuple[ArrayLike | jc.Coordinates, int, jc.ClusterNumber | None]:
    """What to fit and the number of clusters: rows and the number given, or coordinates and the number they show."""
    if isinstance(given, int):
        return X, given, None
    coordinates, found = default.counted(X, among(given), seed, numbers_done(report))
    return coordinates, found.n_clusters, found


def numbers_done(progress: Callable[..., None]) -> Report:
    """Tells how many numbers of clusters have been looked at."""
    return lambda done, total: progress(done, total=total, what="candidate number")


def among(given: Clusters) -> Numbers | None:
    """A range such as "2-8", or a list of numbers, as the library takes them."""
    if isinstance(given, str):
        low, high = given.split("-")
        return int(low), int(high)
    return [given] if isinstance(given, int) else given


def check_known(method: str) -> None:
    """Refuse known classes for a method that does not take them."""
    if not has_fit_parameter(method_of(method), "known_labels"):
        able = [entry.name for entry in registry.METHODS if has_fit_parameter(entry.cls, "known_labels")]
        raise click.UsageError(f"--known-column does not go with --method {method}, but with {', '.join(able)}.")


def fitted_on_rows(
    estimator: Any, X: ArrayLike, clusters: Clusters, known: Known, progress: Callable[..., None]
) -> tuple[Any, jc.ClusterNumber | None]:
    """An estimator fitted on rows of numbers, and how many clusters these show where the number is not given."""
    data, number, found = counted(X, clusters, estimator.random_state, progress)
    estimator.set_params(n_clusters=number if found is None else max(number, n_classes(known)))
    with heard(estimator, progress):
        if known is not None:
            return estimator.fit(X, known_labels=known), found
        if isinstance(data, jc.Coordinates) and not isinstance(estimator, jc.JointConsensus):
            return fit_member(estimator, data.rows.X, data, None, estimator.random_state), found
        return estimator.fit(data), found


def n_classes(known: Known) -> int:
    """How many classes are known."""
    return 0 if known is None else len({name for name in known if name is not None})


@contextmanager
def heard(estimator: Any, progress: Callable[..., None], share: float = 1.0) -> Iterator[None]:
    """While it is fitted, how far it is; models that are saved have no callbacks."""
    estimator.set_callbacks(TasksDone(progress, share))
    try:
        yield
    finally:
        estimator.set_callbacks()


# Seconds of one processor for 10,000 rows of a table: of the fit itself, for each cluster, for each column; for the
# votes on a row; for the search for the number of clusters in 1,500 rows. Measured where the probe took
# so long; sums were right to a fifth, those of short quick fits to a half.
_FIT, _CLUSTER, _COLUMN, _ROW, _NUMBER = 6.2, 0.55, 0.0145, 1.5e-4, 1.0
_PROBE = 0.012
# What members and votes cost beside those of the normal effort.
_EFFORTS = {"quick": (0.25, 0.55), "normal": (1.0, 1.0), "thorough": (3.0, 3.0)}
# Clusters that are reckoned with where the number is not known, and seconds that nobody needs to be told of.
_CLUSTERS, _SHORT = 10, 30.0


def announced(size: Size) -> str:
    """What to say before a long fit, and how to have it faster; nothing before a short one."""
    seconds = sum(costs(size)) * _slowness()
    if seconds < _SHORT:
        return ""
    ways = ["--method ldakm (a fraction of that)"]
    if size[3] != "quick":
        ways.insert(0, "--set effort=quick (half or less)")
    if not isinstance(size[2], int):
        ways.append("--clusters N (no search for their number)")
    return f"This takes about {lasting(seconds)}. Faster: {', '.join(ways)}."


def costs(size: Size) -> tuple[float, float, float]:
    """Seconds of one processor that a consensus takes: its members, the votes on all rows, the number of clusters.

    Members are fitted to 10,000 rows at the most.

    Examples
    --------
    >>> sum(costs((1_000_000, 50, 10, "normal"))) > 3 * sum(costs((200_000, 50, 10, "normal")))
    True
    """
    n_rows, n_columns, clusters, effort = size
    n_clusters, share = clusters if isinstance(clusters, int) else None, min(n_rows, MOST_ROWS) / MOST_ROWS
    members = share * (_FIT + _CLUSTER * (n_clusters or _CLUSTERS) + _COLUMN * n_columns)
    number = 0.0 if n_clusters is not None else min(n_rows / 1500, 1) * _NUMBER
    of_members, of_votes = _EFFORTS.get(effort, (1.0, 1.0))
    return members * of_members, _ROW * n_rows * of_votes, number


def _slowness() -> float:
    """How many times longer this machine, as busy as it is, takes for a little work of the kind that fits do."""
    rng = np.random.RandomState(0)
    rows, centers = rng.standard_normal((4000, 50)), rng.standard_normal((50, 20))
    return sorted(timeit.repeat(lambda: (rows @ centers).argmin(axis=1), repeat=3, number=30))[1] / _PROBE
