"""The report inside a notebook."""

from __future__ import annotations

import html
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from jointclust.showing.report import write_report
from jointclust.types import Predictor

__all__ = ["Shown", "show"]


@dataclass(frozen=True)
class Shown:
    """A page that notebooks show in a frame of its own, where neither sees what the other holds.

    Attributes
    ----------
    page : str
        The page, as HTML.
    height : int
        Of the frame, in pixels.
    """

    page: str
    height: int

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.page)}" sandbox="allow-scripts allow-downloads" '
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
        Of :func:`write_report`: ``classes``, ``ids``, ``image_shape``, ...

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
