"""From options to an estimator: method by name, scaling, number of clusters."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

import jointclust as jc
from jointclust.choosing import cluster, registry
from jointclust.choosing.members import fit_member
from jointclust.choosing.number import Numbers, Report
from jointclust.cli.console import MembersDone
from jointclust.types import Predictor

# Of clusters: one number, a range as text such as "2-8", numbers to choose among, or none given.
Clusters = int | str | list[int] | None


def hint(name: str, known: list[str]) -> str:
    """A hint at what may have been meant, and all that there is."""
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return (f"Did you mean {close[0]!r}? " if close else "") + f"There are {', '.join(known)}."


def method_of(name: str) -> type[BaseEstimator]:
    """A method by its short name or its class's."""
    methods = {entry.name: entry.cls for entry in registry.METHODS}
    found = methods | {cls.__name__.lower(): cls for cls in methods.values()}
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


def settings_of(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Parameters from ``name=value`` texts."""
    found = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign:
            raise click.UsageError(f"--set {pair}: write it as NAME=VALUE.")
        if name in ("n_clusters", "random_state"):
            raise click.UsageError(
                f"--set {name}: there is {'--clusters' if name == 'n_clusters' else '--seed'} for it."
            )
        found[name] = literal(value)
    return found


def clusterer(method: str, n_clusters: int, seed: int, **settings: object) -> Predictor:
    """An estimator with the parameters given, each checked to be one that it has."""
    cls = method_of(method)
    known = cls(n_clusters).get_params()
    if "views" in known:
        settings = {"views": None, **settings}  # the rows are prepared already
        if str(settings["views"]).lower() == "none":
            settings["views"] = None
    options = {"n_components": "--components", "trade_off": "--trade-off"}
    for name in settings:
        if name not in known:
            raise click.UsageError(
                f"{options.get(name, '--set ' + name)} does not go with --method {method}: {cls.__name__} has no "
                f"parameter {name}. {hint(name, sorted(known))}"
            )
    return cls(n_clusters, **{"random_state": seed, **settings})


def has_views(method: str, scale: str, settings: dict[str, object]) -> bool:
    """Whether the method looks at views of the data itself, and so takes them as they come."""
    return scale == "auto" and issubclass(method_of(method), jc.JointConsensus) and "views" not in settings


def counted(
    X: ArrayLike, given: Clusters, seed: int, report: Callable[..., None]
) -> tuple[ArrayLike | jc.Coordinates, int, jc.ClusterNumber | None]:
    """What to fit and the number of clusters: rows and the number given, or coordinates and the number they show."""
    if isinstance(given, int):
        return X, given, None
    coordinates, found = cluster.counted(X, among(given), seed, numbers_done(report))
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


def listed(given: str | list[int]) -> list[int]:
    """Every number of a range, or of a list."""
    if isinstance(given, list):
        return given
    low, high = given.split("-")
    return list(range(int(low), int(high) + 1))


def fitted(estimator: Any, X: ArrayLike | jc.Coordinates, seed: int, progress: Callable[..., None]) -> Any:
    """The estimator fitted on what suits it: rows, or coordinates where there are some and it takes them."""
    if isinstance(estimator, jc.JointConsensus):
        with _heard(estimator, progress):
            return estimator.fit(X)
    if isinstance(X, jc.Coordinates):
        return fit_member(estimator, X.rows.X, X, None, seed)
    return estimator.fit(X)


def fitted_on_views(
    estimator: Any, X: ArrayLike, clusters: Clusters, progress: Callable[..., None]
) -> tuple[Any, jc.ClusterNumber | None]:
    """A consensus fitted on data as they come, and how many clusters these show where the number is not given."""
    with _heard(estimator, progress):
        if isinstance(clusters, int):
            return estimator.set_params(n_clusters=clusters).fit(X), None
        model = cluster.fit_with_number(estimator, X, among(clusters), numbers_done(progress))
        return model, model.number_


@contextmanager
def _heard(estimator: Any, progress: Callable[..., None]) -> Iterator[None]:
    """While it is fitted, how many members are done; models that are saved have no callbacks."""
    estimator.set_callbacks(MembersDone(progress))
    try:
        yield
    finally:
        estimator.set_callbacks()
