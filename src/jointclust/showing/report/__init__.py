"""The report: one self-contained HTML file to look at a clustering with."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jointclust._version import __version__
from jointclust.files import replacing
from jointclust.rows.blocks import stretches
from jointclust.showing.explain import Explanation
from jointclust.showing.features import at_hand
from jointclust.showing.fitted import Fitted
from jointclust.showing.report import _sections
from jointclust.showing.report._carried import carried as carried_columns
from jointclust.showing.report._carried import documents_of
from jointclust.showing.report._content import Content
from jointclust.showing.report._payload import features, payload, script_json
from jointclust.showing.style import resource
from jointclust.types import Float, Predictor

__all__ = ["Shown", "show", "write_report"]

_BLOCK = 65_536
_OF_OTHERS = (
    "These are not the rows of the fit, cell by cell: the model's predict has put them into its clusters. How sure the "
    "clusters are, and how many, was found in the rows of the fit."
)


def write_report(
    model: Predictor | Fitted,
    X: ArrayLike,
    path: str | os.PathLike[str],
    *,
    coordinates: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    stability: ArrayLike | None = None,
    explanation: Explanation | None = None,
    image_shape: tuple[int, int] | None = None,
    image_order: str = "C",
    title: str = "Clusters",
    parameters: Mapping[str, tuple[object, str]] | None = None,
    candidates: Mapping[str, Sequence[object]] | None = None,
    warnings: Sequence[str] = (),
    notes: Sequence[str] = (),
    command: str | None = None,
    checksum: str | None = None,
    most_megabytes: float = 12.0,
    neighbours: bool = True,
    shown: Mapping[str, ArrayLike] | None = None,
    carried: Mapping[str, ArrayLike] | None = None,
    text_name: str = "text",
    names_from: str | Sequence[str] | None = None,
) -> None:
    """Write a page that shows a fitted model: a map of the rows, a card per cluster, and what to beware of.

    The page is one file that needs nothing else, asks no network, and shows all text as text.

    Parameters
    ----------
    model : estimator
        A fitted clusterer, a pipeline that ends with one, or a fitted :class:`LabelFreeSearch`.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows it was fitted on, in their order; any other rows are labelled by its ``predict``, and the page says so.
    path : path-like
        Where to; an existing file is replaced, whole or not at all.
    coordinates : array-like of shape (n_samples, 1 or more), default=None
        Where to draw the rows; None takes the embedding or, for a consensus and for methods that reduce nothing, the
        plane through the clusters' centers.
    ids : array-like of shape (n_samples,), default=None
        Names of the rows; None counts them from 0.
    classes : array-like of shape (n_samples,), default=None
        Known classes, shown beside the clusters.
    feature_names : sequence of str, default=None
        Names of the columns; None takes those of a frame, or of the model.
    stability : array-like of shape (n_clusters,), default=None
        Stability of each cluster, as from :func:`bootstrap_stability`; a consensus has its own.
    explanation : Explanation, default=None
        The result of :func:`explain` for the model and these rows; None computes it.
    image_shape : tuple (height, width), default=None
        For rows that are images.
    image_order : {"C", "F"}, default="C"
        Whether pixels are stored row by row or column by column.
    title : str, default="Clusters"
        Title of the page.
    parameters : mapping of name to (value, who chose it), default=None
        None takes the model's own, against its defaults.
    candidates : mapping of column to values, default=None
        What else was tried.
    warnings : sequence of str, default=()
        What was warned of during the fit.
    notes : sequence of str, default=()
        What was done to the data, as far as it is worth knowing and no danger.
    command : str, default=None
        What to type to repeat it; None shows the estimator and its parameters.
    checksum : str, default=None
        SHA-256 of the file that the rows came from; None takes that of the numbers.
    most_megabytes : float, default=12.0
        Size of the file. The features that tell the clusters apart most are carried as long as there is room; the page
        says which are not.
    neighbours : bool, default=True
        Whether to lay the rows out by their neighbours, too, unless ``coordinates`` say where they are. It costs less
        than the default fit, but more than some methods.
    shown : mapping of name to values of the rows, default=None
        Columns that are no features, to be shown with the rows: numbers, dates, categories or text.
    carried : mapping of name to values of the rows, default=None
        The same as long as there is room. Columns of X that are not used, and texts that are clustered, are carried
        without being named.
    text_name : str, default="text"
        What the texts are called, where rows are documents.
    names_from : str or sequence of str, default=None
        A text for each row, or the column of X that has them: the clusters are named by their words. For embeddings.

    Examples
    --------
    >>> import jointclust as jc, tempfile, pathlib
    >>> X, y = jc.datasets.mixture(n_samples=200, n_features=20, n_clusters=3, random_state=0)
    >>> model = jc.LDAKMeans(3, random_state=0).fit(X)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> jc.write_report(model, X, path, classes=y)
    >>> path.read_text().startswith("<!doctype html>")
    True
    """
    if isinstance(model, Fitted):
        fitted = model
    else:
        X = at_hand(X)
        is_of_columns = feature_names is not None and len(feature_names) == np.shape(X)[-1]
        places = None if coordinates is None else np.asarray(coordinates)
        names = feature_names if is_of_columns else None
        fitted = Fitted(model, X, names, feature_names, places, explained=explanation, named_by=names_from)
    n_rows, n_clusters = fitted.labels.size, int(fitted.labels.max()) + 1
    shares = fitted.found if stability is None else np.asarray(stability, dtype=float)
    if stability is None and shares is not None:
        shares = shares[:n_clusters]  # other rows than those of the fit may have none of the last clusters
    _check_lengths(n_rows, coordinates=coordinates, ids=ids, classes=classes)
    _check_lengths(n_rows, **{**(shown or {}), **(carried or {})})
    _check_shown(fitted, shares, image_shape)
    content = Content(
        fitted=fitted,
        title=title,
        has_layout=neighbours and fitted.coordinates is None,
        ids=None if ids is None else [str(name) for name in np.asarray(ids)],
        classes=None if classes is None else np.asarray(classes).astype(str),
        stability=shares,
        image=None if image_shape is None else (tuple(image_shape), image_order),
        parameters=dict(parameters) if parameters is not None else _own_parameters(fitted.clusterer),
        candidates=None if candidates is None else {key: list(value) for key, value in candidates.items()},
        warnings=[*([] if fitted.are_of_fit else [_OF_OTHERS]), *warnings],
        notes=list(notes),
        made={
            "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "version": f"jointclust {__version__}",
            "to repeat it": command or f"{fitted.clusterer!r}.fit(X)",
            "SHA-256 of the data": checksum or _checksum(fitted.data),
        },
        most_megabytes=most_megabytes,
        shown={name: (values, True) for name, values in (shown or {}).items()}
        | {name: (values, False) for name, values in (carried or {}).items()},
        text_name=text_name,
    )
    content = replace(content, documents=documents_of(content))
    with replacing(path) as temporary:
        temporary.write_text(page(content), encoding="utf-8")


def _check_lengths(n: int, **given: Any) -> None:
    for name, values in given.items():
        length = n if values is None else values.shape[0] if hasattr(values, "shape") else len(values)
        if length != n:
            raise ValueError(f"{name} must have one entry per row of X ({n}); got {length}.")


def _check_shown(fitted: Fitted, stability: Float | None, image_shape: tuple[int, int] | None) -> None:
    """What is to be shown beside the rows fits them."""
    names, places, n_features = fitted.names, fitted.positions, fitted.data.shape[1]
    if len(names) != n_features:
        raise ValueError(f"feature_names must have a name for each of the {n_features} columns; got {len(names)}.")
    if places.ndim != 2 or places.shape[1] == 0 or not np.isfinite(places).all():
        raise ValueError(
            f"coordinates must be a table of finite numbers, rows by 1 or more columns; got shape {places.shape}"
            f"{'' if places.ndim != 2 else ' with numbers that are not finite'}."
        )
    n_clusters = int(fitted.labels.max()) + 1
    if stability is not None and (stability.ndim != 1 or stability.size < n_clusters):
        raise ValueError(f"stability must have a value for each of the {n_clusters} clusters; got {stability.shape}.")
    if image_shape is not None and image_shape[0] * image_shape[1] != n_features:
        raise ValueError(f"image_shape={image_shape} does not make {n_features} pixels, the number of features.")


def _checksum(data: Any) -> str:
    """SHA-256 of the numbers, whatever the layout in memory."""
    parts = (data.data, data.indices, data.indptr) if hasattr(data, "indptr") else (data,)
    digest = hashlib.sha256()
    for part in parts:
        for block in stretches(len(part), _BLOCK):
            digest.update(part[block].tobytes())
    return digest.hexdigest()


def _own_parameters(clusterer: Any) -> dict[str, tuple[object, str]]:
    """The estimator's parameters, and whether they are its defaults."""
    defaults = type(clusterer)().get_params()
    values: dict[str, tuple[object, str]] = {"method": (type(clusterer).__name__, "you")}
    for name, value in clusterer.get_params().items():
        if name in defaults and not hasattr(value, "shape"):
            values[name] = (value, "default" if str(value) == str(defaults[name]) else "you")
    return values


# The script, in the order in which its parts need each other; `main` starts it.
_DRAWING = ("data", "view", "painters", "labels", "legend", "beside", "documents")
_EXPLORING = ("selection", "features", "rows", "layers", "names", "statistics", "compare", "charts")
_SCRIPT = (*_DRAWING, *_EXPLORING, "saving", "printing", "hands", "main")
# Functions of `_sections`, each of which fills the place of its name.
_MAIN = ("summary", "warnings", "clusters", "number", "classes", "heat_map", "soft", "uncertain", "chosen_features")
_PARTS = (*_MAIN, "curves", "columns", "views", "objective", "parameters", "notes", "made", "cards")


def page(content: Content) -> str:
    """The whole file, with as many features as there is room for."""
    script = "".join(resource(f"showing/report/script/{name}.js") for name in _SCRIPT)
    # Only this very script may run, whatever a cell of the data holds.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    data = payload(content)
    template = Template(resource("showing/report/page.html"))
    texts = {
        "title": escape(content.title),
        "policy": f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:",
        "style": resource("showing/style.css") + resource("showing/report/report.css"),
        "script": script,
        "words": _sections.glossary(),
        "version": escape(__version__),
    } | {name: getattr(_sections, name)(content) for name in _PARTS}
    bare = template.substitute(texts, data=script_json({**data, "features": [], "shown": [], "without": []}))
    room = int(content.most_megabytes * 1e6) - len(bare.encode())
    shown, without = carried_columns(content, room)
    data |= {"shown": shown, "without": without}
    room -= len(script_json(data["shown"])) + len(script_json(without))
    return template.substitute(texts, data=script_json({**data, "features": features(content, room)}))


@dataclass(frozen=True)
class Shown:
    """A page that notebooks show in a frame of its own, where neither sees what the other holds."""

    page: str  # as HTML
    height: int  # of the frame, in pixels

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.page)}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {self.height}px; border: 1px solid #d5d9de"></iframe>'
        )

    def __repr__(self) -> str:
        return "A report, which notebooks show; elsewhere write_report(model, X, path) makes a file of it."


def show(model: Predictor, X: ArrayLike, *, height: int = 800, **options: Any) -> Shown:
    """The report on a fitted model inside a notebook: the last line of a cell shows it.

    Parameters
    ----------
    model : estimator
        A fitted clusterer, a pipeline that ends with one, or a fitted :class:`LabelFreeSearch`.
    X : array, sparse matrix, data frame or list of str
        The data it was fitted on.
    height : int, default=800
        Of the frame, in pixels.
    **options
        Of :func:`write_report`: ``classes``, ``ids``, ``names_from``, ``image_shape``, ...

    Returns
    -------
    shown : Shown
        What the notebook shows.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=200, n_features=20, n_clusters=3, random_state=0)
    >>> shown = jc.show(jc.LDAKMeans(3, random_state=0).fit(X), X, classes=y)
    >>> shown._repr_html_().startswith("<iframe")
    True
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        write_report(model, X, path, **options)
        return Shown(path.read_text(encoding="utf-8"), height)
