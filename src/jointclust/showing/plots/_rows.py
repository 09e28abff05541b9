"""Displays of rows: in the embedding, with the features that it is made of, by their soft labels, as images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from jointclust.exceptions import collected
from jointclust.rows.arrays import is_sparse
from jointclust.showing.fitted import Fitted, last_step
from jointclust.showing.layout import NEXT, beside
from jointclust.showing.plots._curves import Display
from jointclust.showing.profile import by_distance
from jointclust.showing.style import PALETTE
from jointclust.types import Float, Labels, Predictor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "os^D"


class EmbeddingDisplay(Display):
    """Rows in two dimensions of the embedding, coloured by cluster.

    Parameters
    ----------
    Y : array of shape (n_samples, 2)
        Positions.
    labels : array of shape (n_samples,)
        Cluster (or class) of each row.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=200, n_features=20, n_clusters=3, random_state=0)
    >>> model = jc.LDAKMeans(3, random_state=0).fit(X)
    >>> jc.plots.EmbeddingDisplay.from_estimator(model, X).ax_.get_xlabel()
    'component 0'
    """

    def __init__(self, Y: NDArray[Any], labels: NDArray[Any], *, names: tuple[str, str] = ("", "")):
        self.Y, self.labels, self.names = Y, labels, names

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor | Fitted,
        X: ArrayLike,
        *,
        components: tuple[int, int] = (0, 1),
        labels: ArrayLike | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the rows that an estimator was fitted on.

        Parameters
        ----------
        estimator : estimator
            A fitted clusterer, or a pipeline that ends with one.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows it was fitted on.
        components : tuple of two ints, default=(0, 1)
            Which components to draw; one dimension has the next principal direction beside it.
        labels : array-like of shape (n_samples,), default=None
            What to colour by; None takes the clusters.
        ax : matplotlib axes, default=None
            Where to draw.
        **options
            Passed on to ``scatter``.

        Returns
        -------
        display : EmbeddingDisplay
            Drawn.
        """
        fitted = estimator if isinstance(estimator, Fitted) else Fitted(estimator, X)
        Y = fitted.positions
        names = [f"component {index}" for index in components]
        if Y.shape[1] == 1:
            second = beside(fitted.rows, Y, fitted.labels)
            Y, components, names = np.column_stack([Y, second]), (0, 1), ["component 0", NEXT]
        if max(components) >= Y.shape[1]:
            raise ValueError(f"components={components}: the embedding has {Y.shape[1]}, counted from 0.")
        shown = fitted.labels if labels is None else np.asarray(labels)
        return cls(Y[:, list(components)], shown, names=(names[0], names[1])).plot(ax, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw on ``ax``, or on new axes; options go to ``scatter``."""
        ax = self._prepare(ax)
        options = {"s": 12, "alpha": 0.8, "linewidths": 0, **options}
        for index, label in enumerate(np.unique(self.labels)):
            marker = _MARKERS[index // len(PALETTE) % len(_MARKERS)]
            colour = PALETTE[index % len(PALETTE)]
            ax.scatter(*self.Y[self.labels == label].T, color=colour, marker=marker, label=str(label), **options)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], aspect="equal")
        if np.unique(self.labels).size <= 20:
            ax.legend(fontsize="small", markerscale=1.5, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        return self


class BiplotDisplay(Display):
    """Rows in two components with the features that these are made of as arrows.

    Parameters
    ----------
    Y : array of shape (n_samples, 2)
        The rows.
    labels : array of shape (n_samples,)
        Their clusters.
    loadings : array of shape (n_features, 2)
        The features' weights in the two components.
    feature_names : sequence of str
        Their names.
    """

    def __init__(self, Y: NDArray[Any], labels: Labels, loadings: NDArray[Any], feature_names: Sequence[str]):
        self.Y, self.labels, self.loadings, self.feature_names = Y, labels, loadings, list(feature_names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor,
        X: ArrayLike,
        *,
        components: tuple[int, int] = (0, 1),
        feature_names: Sequence[str] | None = None,
        n_features: int = 8,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the rows and the loadings of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            One with ``components_``, or a pipeline that ends with one and keeps the features.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows it was fitted on.
        components : tuple of two ints, default=(0, 1)
            Which components to draw.
        feature_names : sequence of str, default=None
            Names; None takes those of the frame or of the estimator.
        n_features : int, default=8
            How many features to show, the longest arrows first.
        ax : matplotlib axes, default=None
            Where to draw.
        **options
            Passed on to ``scatter``.

        Returns
        -------
        display : BiplotDisplay
            Drawn.
        """
        fitted = Fitted(estimator, X, feature_names)
        clusterer = fitted.clusterer
        if not hasattr(clusterer, "components_"):
            raise TypeError(f"{type(clusterer).__name__} has no components_ here, and so no loadings.")
        loadings = np.asarray(clusterer.components_)
        if max(components) >= len(loadings):
            raise ValueError(f"components={components}: the embedding has {len(loadings)}, counted from 0.")
        chosen = loadings[list(components)].T
        order = np.argsort(-np.linalg.norm(chosen, axis=1), kind="stable")[:n_features]
        Y, names = fitted.embedding[:, list(components)], [fitted.names[index] for index in order]
        return cls(Y, fitted.labels, chosen[order], names).plot(ax, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw on ``ax``, or on new axes; options go to ``scatter``."""
        rows = EmbeddingDisplay(self.Y, self.labels, names=("first component", "second component"))
        ax = self._prepare(ax)
        rows.plot(ax, **{"alpha": 0.35, **options})
        longest = float(np.linalg.norm(self.loadings, axis=1).max()) or 1.0
        center = self.Y.mean(axis=0)
        reach = 0.9 * float(np.abs(self.Y - center).max()) / longest
        for name, loading in zip(self.feature_names, self.loadings, strict=True):
            end = center + reach * loading
            ax.annotate("", end, center, arrowprops={"arrowstyle": "->", "color": "black"})
            ax.annotate(name, end, fontsize="small", ha="left" if loading[0] >= 0 else "right")
        return self


class CategoriesDisplay(Display):
    """Categories and clusters as points of one plane, with the rows behind them: a row lies among its categories.

    Parameters
    ----------
    Y : array of shape (n_samples, 2)
        The rows.
    labels : array of shape (n_samples,)
        Their clusters.
    centers : array of shape (n_clusters, 2)
        The clusters.
    points : array of shape (n_levels, 2)
        The categories.
    names : sequence of str
        Their names.

    Examples
    --------
    >>> import pandas as pd, jointclust as jc
    >>> table = pd.DataFrame({"drink": ["tea", "milk", "coffee"] * 5, "time": ["late", "noon", "early"] * 5})
    >>> model = jc.CorrespondenceClustering(3, random_state=0).fit(table)
    >>> jc.plots.CategoriesDisplay.from_estimator(model, table).points.shape
    (6, 2)
    """

    def __init__(
        self, Y: NDArray[Any], labels: Labels, centers: NDArray[Any], points: NDArray[Any], names: Sequence[str]
    ):
        self.Y, self.labels, self.centers, self.points, self.names = Y, labels, centers, points, list(names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor,
        X: Any,
        *,
        components: tuple[int, int] = (0, 1),
        n_levels: int = 30,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the categories and clusters of a fitted estimator.

        Parameters
        ----------
        estimator : CorrespondenceClustering, or a pipeline that ends in one
            Fitted.
        X : table
            The rows it was fitted on.
        components : tuple of two ints, default=(0, 1)
            Which components to draw; of an embedding with one, the second is 0.
        n_levels : int, default=30
            How many categories to show, those farthest out first.
        ax : matplotlib axes, default=None
            Where to draw.
        **options
            Passed on to ``scatter``.

        Returns
        -------
        display : CategoriesDisplay
            Drawn.
        """
        model = last_step(estimator)
        if not hasattr(model, "category_points_"):
            raise TypeError(f"{type(model).__name__} has no category_points_: fit a CorrespondenceClustering.")
        n_components = model.category_points_.shape[1]
        if max(components) >= max(n_components, 2):
            raise ValueError(f"components={components}: the embedding has {n_components}, counted from 0.")

        def plane(points: NDArray[Any]) -> NDArray[Any]:
            wide = np.column_stack([points, np.zeros(len(points))]) if n_components == 1 else points
            return wide[:, list(components)]

        Y, points = plane(np.asarray(estimator.transform(X))), plane(model.category_points_)
        order = np.argsort(-np.linalg.norm(points, axis=1), kind="stable")[:n_levels]
        names = [model.level_names_[index] for index in order]
        return cls(Y, Fitted(estimator, X).labels, plane(model.cluster_centers_), points[order], names).plot(
            ax, **options
        )

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw on ``ax``, or on new axes; options go to ``scatter``."""
        ax = self._prepare(ax)
        rows = EmbeddingDisplay(self.Y, self.labels, names=("first component", "second component"))
        rows.plot(ax, **{"alpha": 0.25, **options})
        ax.scatter(self.points[:, 0], self.points[:, 1], marker="x", color="black", s=20)
        for name, point in zip(self.names, self.points, strict=True):
            ax.annotate(name, point, xytext=(3, 3), textcoords="offset points", fontsize="small")
        for number, center in enumerate(self.centers):
            colour = PALETTE[number % len(PALETTE)]
            ax.annotate(
                str(number),
                center,
                ha="center",
                va="center",
                weight="bold",
                color="white",
                bbox={"boxstyle": "circle", "color": colour},
            )
        ax.margins(0.1)
        return self


class PrototypesDisplay(Display):
    """The most typical rows of each cluster, as images.

    Parameters
    ----------
    images : array of shape (n_clusters, n_prototypes, height, width)
        Most typical first; NaN where a cluster has fewer rows.
    """

    def __init__(self, images: NDArray[Any]):
        self.images = images

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor,
        X: ArrayLike,
        *,
        image_shape: tuple[int, int],
        image_order: Literal["C", "F"] = "C",
        n_prototypes: int = 5,
        **options: Any,
    ) -> Self:
        """Draw the rows nearest to each cluster's center in the embedding.

        Parameters
        ----------
        estimator : estimator
            A fitted clusterer.
        X : array-like of shape (n_samples, n_features)
            The rows it was fitted on.
        image_shape : tuple (height, width)
            Of a row.
        image_order : {"C", "F"}, default="C"
            Whether pixels are stored row by row or column by column.
        n_prototypes : int, default=5
            Rows per cluster.
        **options
            Passed on to ``imshow``.

        Returns
        -------
        display : PrototypesDisplay
            Drawn.
        """
        rows = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
        fitted = Fitted(estimator, X)
        labels, Y = fitted.labels, fitted.positions
        n_clusters = int(labels.max()) + 1
        images = np.full((n_clusters, n_prototypes, *image_shape), np.nan)
        for cluster, own in enumerate(by_distance(Y, labels)):
            for place, row in enumerate(own[:n_prototypes]):
                image = rows[[row]].toarray() if is_sparse(rows) else rows[row]
                images[cluster, place] = image.reshape(image_shape, order=image_order)
        return cls(images).plot(**options)

    def plot(self, **options: Any) -> Self:
        """Draw on a new figure, whose axes are ``axes_``; options go to ``imshow``."""
        import matplotlib.pyplot as plt

        n_clusters, n_prototypes = self.images.shape[:2]
        size = (0.9 * n_prototypes + 0.6, 0.9 * n_clusters)
        self.figure_, self.axes_ = plt.subplots(
            n_clusters, n_prototypes, figsize=size, squeeze=False, layout="constrained"
        )
        for cluster, line in enumerate(self.axes_):
            line[0].set_ylabel(str(cluster), rotation=0, ha="right", va="center")
            for axes, image in zip(line, self.images[cluster], strict=True):
                axes.set(xticks=[], yticks=[])
                axes.set_frame_on(False)
                with collected():  # a blank one has no range
                    axes.imshow(image, **{"cmap": "gray", **options})
        return self


class SoftLabelsDisplay(Display):
    """Soft labels as a picture: one line per row, sorted by cluster and confidence.

    Parameters
    ----------
    soft_labels : array of shape (n_samples, n_clusters)
        Probabilities.
    labels : array of shape (n_samples,)
        What to sort by.
    """

    def __init__(self, soft_labels: Float, labels: NDArray[Any]):
        self.soft_labels, self.labels = soft_labels, labels

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor,
        X: Any = None,
        *,
        labels: ArrayLike | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the soft labels of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            One with ``soft_labels_``.
        X : array-like or data frame, default=None
            Not needed, and here so that all displays are called alike.
        labels : array-like of shape (n_samples,), default=None
            What to sort the rows by; None takes the clusters.
        ax : matplotlib axes, default=None
            Where to draw.
        **options
            Passed on to ``imshow``.

        Returns
        -------
        display : SoftLabelsDisplay
            Drawn.
        """
        clusterer = last_step(estimator)
        soft = getattr(clusterer, "soft_labels_", None)
        if soft is None:
            raise TypeError(f"{type(clusterer).__name__} has no soft_labels_.")
        shown = Fitted(estimator, soft, are_known=True).labels if labels is None else np.asarray(labels)
        return cls(np.asarray(soft), shown).plot(ax, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw on ``ax``, or on new axes; options go to ``imshow``."""
        ax = self._prepare(ax)
        order = np.lexsort((-self.soft_labels.max(axis=1), self.labels))
        options = {"aspect": "auto", "cmap": "cividis", "vmin": 0, "vmax": 1, "interpolation": "nearest", **options}
        image = ax.imshow(self.soft_labels[order], **options)
        self.figure_.colorbar(image, ax=ax, label="soft label")
        ax.set(xlabel="cluster", ylabel="row, sorted by cluster")
        return self
