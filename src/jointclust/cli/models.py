"""From options to an estimator: method by name, number of clusters, how long it takes."""

from __future__ import annotations

import difflib
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
from jointclust.cli.console import TasksDone
from jointclust.estimators.fitting import fit_member
from jointclust.judge.number import Numbers, Report
from jointclust.types import Predictor

# Of clusters: one number, a range as text such as "2-8", numbers to choose among, or none given.
Clusters = int | str | list[int] | None
# Classes of rows, None where none is known; or none at all.
Known = NDArray[np.object_] | None


def hint(name: str, known: list[str]) -> str:
    """A hint at what may have been meant, and all that there is."""
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return (f"Did you mean {close[0]!r}? " if close else "") + f"There are {', '.join(known)}."


def method_of(name: str) -> type[BaseEstimator]:
    """A method by its short name or its class's."""
    methods = {entry.name: entry.cls for entry in registry.METHODS}
    by_name = methods | {cls.__name__.lower(): cls for cls in methods.values()}
    if name.lower().replace("-", "") == "kmeans":
        here = (
            "k-means is --method dec --set trade_off=1 here; jointclust compare sets scikit-learn's beside all methods."
        )
        raise click.UsageError(f"--method {name}: {here}")
    if name.lower() not in by_name:
        raise click.UsageError(f"There is no method {name!r}. {hint(name, list(methods))}")
    return by_name[name.lower()]


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
    settings: dict[str, Any] = {}
    if given["components"] is not None:
        settings["n_components"] = given["components"]
    if given["trade_off"] is not None:
        settings["trade_off"] = literal(given["trade_off"])
    for name, text in named("--set", given["settings"]).items():
        if option := {"n_clusters": "--clusters", "random_state": "--seed", "columns": "--columns"}.get(name):
            raise click.UsageError(f"--set {name}: there is {option} for it.")
        settings[name] = literal(text)
    return settings


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
        raise click.UsageError(
            f"--set {name} does not go with --method {method}: {cls.__name__} has no parameter {name}. "
            f"{hint(name, sorted(known))}"
        )
    return cls(n_clusters, **{"random_state": seed, **settings})


def counted(
    X: ArrayLike, given: Clusters, seed: int, report: Callable[..., None]
) -> tuple[ArrayLike | jc.Coordinates, int, jc.ClusterNumber | None]:
    """What to fit and the number of clusters: rows and the number given, or coordinates and the number they show."""
    if isinstance(given, int):
        return X, given, None
    coordinates, cluster_number = default.counted(X, among(given), seed, numbers_done(report))
    return coordinates, cluster_number.n_clusters, cluster_number


def numbers_done(progress: Callable[..., None]) -> Report:
    """Reports how many numbers of clusters have been evaluated."""
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
    data, number, cluster_number = counted(X, clusters, estimator.random_state, progress)
    estimator.set_params(n_clusters=number if cluster_number is None else max(number, n_classes(known)))
    with reported(estimator, progress):
        if known is not None:
            return estimator.fit(X, known_labels=known), cluster_number
        if isinstance(data, jc.Coordinates) and not isinstance(estimator, jc.JointConsensus):
            return fit_member(estimator, data.rows.X, data, None, estimator.random_state), cluster_number
        return estimator.fit(data), cluster_number


def n_classes(known: Known) -> int:
    """How many classes are known."""
    return 0 if known is None else len({name for name in known if name is not None})


@contextmanager
def reported(estimator: Any, progress: Callable[..., None]) -> Iterator[None]:
    """Report the progress of a fit; the estimator has no callbacks afterwards, as they cannot be saved."""
    estimator.set_callbacks(TasksDone(progress))
    try:
        yield
    finally:
        estimator.set_callbacks()


def faster_than(clusters: Clusters, settings: dict[str, Any]) -> str:
    """What would take less time than a consensus of such settings."""
    ways = ["--method ldakm (a fraction of that)"]
    if settings.get("effort", "normal") != "quick":
        ways.insert(0, "--set effort=quick (half or less)")
    if not isinstance(clusters, int):
        ways.append("--clusters N (no search for their number)")
    return f"Faster: {', '.join(ways)}."
