"""A display of two columns: rows, clusters of all places in the plane, and how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from jointclust.rows.arrays import to_host
from jointclust.showing.fitted import last_step
from jointclust.showing.plots._curves import Display
from jointclust.showing.style import PALETTE
from jointclust.types import Float, Labels, Predictor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Share of the range that is drawn beyond the rows; strength of the colour of a sure place.
_MARGIN, _STRENGTH = 0.05, 0.5
# Columns whose ranges differ by more have units of their own.
_ONE_SCALE = 10.0
_REJECTED = "#888888"


class PlaneDisplay(Display):
    """Rows of two columns, over the clusters that ``predict`` gives to the places of the plane.

    The paler a place, the less sure is its cluster: by ``confidence`` of a consensus, by the largest probability of a
    method with ``predict_proba``; of other methods all places are as strong. Places without a cluster are grey.

    Parameters
    ----------
    rows : array of shape (n_samples, 2)
        The rows.
    labels : array of shape (n_samples,)
        Their clusters.
    regions : array of shape (resolution, resolution)
        Clusters of the places, from the lowest to the highest of the second column.
    confidence : array of shape (resolution, resolution)
        How sure these are, 0 to 1.
    extent : tuple of four floats
        Where the first and the last places lie, in the first and the second column.
    names : tuple of two str
        Names of the columns.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, _ = jc.datasets.two_gaussians(random_state=0)
    >>> model = jc.JointConsensus(2, random_state=0).fit(X)
    >>> display = jc.plots.PlaneDisplay.from_estimator(model, X, resolution=50)
    >>> display.confidence.shape
    (50, 50)
    """

    def __init__(
        self,
        rows: Float,
        labels: Labels,
        regions: Labels,
        confidence: Float,
        extent: tuple[float, float, float, float],
        *,
        names: tuple[str, str] = ("", ""),
    ):
        self.rows, self.labels, self.names = rows, labels, names
        self.regions, self.confidence, self.extent = regions, confidence, extent

    @classmethod
    def from_estimator(
        cls, estimator: Predictor, X: ArrayLike, *, resolution: int = 200, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Draw rows and what an estimator says of the plane that they lie in.

        Parameters
        ----------
        estimator : estimator
            A clusterer with ``predict`` that was fitted on two columns, or a pipeline that ends with one.
        X : array-like or data frame of shape (n_samples, 2)
            Rows of numbers; those with gaps are not drawn.
        resolution : int, default=200
            Places along each side.
        ax : matplotlib axes, default=None
            Where to draw.
        **options
            Passed on to ``scatter``.

        Returns
        -------
        display : PlaneDisplay
            Drawn.
        """
        rows = _numbers(X)
        if resolution < 2:
            raise ValueError(f"resolution={resolution}: give at least 2 places along each side.")
        rows = rows[np.isfinite(rows).all(axis=1)]
        if len(rows) == 0:
            raise ValueError("X has no row without gaps: there is nothing to draw.")
        low, high = rows.min(axis=0), rows.max(axis=0)
        margin = _MARGIN * np.where(high > low, high - low, 1.0)
        sides = np.linspace(low - margin, high + margin, resolution)
        places = np.stack(np.meshgrid(*sides.T), axis=-1).reshape(-1, 2)
        regions, confidence = _prediction(estimator, _like(X, places))
        shape = resolution, resolution
        labels = np.asarray(to_host(estimator.predict(_like(X, rows))))
        (left, bottom), (right, top) = sides[0], sides[-1]
        extent = float(left), float(right), float(bottom), float(top)
        names = [str(name) for name in getattr(X, "columns", ["column 0", "column 1"])]
        display = cls(
            rows, labels, regions.reshape(shape), confidence.reshape(shape), extent, names=(names[0], names[1])
        )
        return display.plot(ax, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw on ``ax``, or on new axes; options go to ``scatter``."""
        ax = self._prepare(ax)
        image = np.empty((*self.regions.shape, 4))
        image[..., :3] = _colours(self.regions)
        image[..., 3] = _STRENGTH * self.confidence
        left, right, bottom, top = self.extent
        ratio = max(right - left, top - bottom) / min(right - left, top - bottom)
        ax.imshow(image, extent=self.extent, origin="lower", interpolation="nearest", aspect="auto")
        options = {"s": 8, "linewidths": 0, "c": _colours(self.labels), **options}
        ax.scatter(self.rows[:, 0], self.rows[:, 1], **options)
        ax.set_aspect("equal" if ratio <= _ONE_SCALE else "auto")
        ax.set(xlabel=self.names[0], ylabel=self.names[1], title="the paler, the less sure")
        return self


def _numbers(X: Any) -> Float:
    """Two columns of numbers, perhaps with gaps."""
    shape = np.shape(X)
    if len(shape) != 2 or shape[1] != 2:
        raise ValueError(
            f"X has the shape {shape}: a plane has two columns. EmbeddingDisplay draws rows of more columns in the "
            "directions in which the clusters differ."
        )
    try:
        return np.asarray(X.to_numpy() if hasattr(X, "columns") else to_host(X), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("X holds values that are no numbers: a plane has two columns of numbers.") from error


def _like(X: Any, rows: Float) -> Any:
    """Rows as a data frame with the columns of another, if that is one."""
    return type(X)(dict(zip(X.columns, rows.T, strict=True))) if hasattr(X, "columns") else rows


def _prediction(estimator: Any, places: Any) -> tuple[NDArray[Any], Float]:
    """The clusters of places, and how sure they are."""
    model = getattr(estimator, "best_estimator_", estimator)
    clusterer, regions = last_step(model), np.asarray(to_host(model.predict(places)))
    if hasattr(clusterer, "confidence"):
        rows = model[:-1].transform(places) if isinstance(model, Pipeline) and len(model) > 1 else places
        return regions, np.asarray(to_host(clusterer.confidence(rows)))
    if hasattr(model, "predict_proba"):
        return regions, np.asarray(to_host(model.predict_proba(places))).max(axis=1)
    return regions, np.ones(len(regions))


def _colours(labels: NDArray[Any]) -> Float:
    """The colour of each label; grey for none."""
    from matplotlib.colors import to_rgb

    colours = np.array([to_rgb(colour) for colour in (*PALETTE, _REJECTED)])
    return colours[np.where(labels >= 0, labels % len(PALETTE), len(PALETTE))]
