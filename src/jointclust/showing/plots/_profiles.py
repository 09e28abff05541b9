"""Displays of what the clusters are: their features in one picture, and all displays of a fit in one figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jointclust.consensus.estimator import JointConsensus
from jointclust.showing.features import Feature, at_hand
from jointclust.showing.fitted import Fitted
from jointclust.showing.plots._curves import DendrogramDisplay, Display
from jointclust.showing.plots._rows import EmbeddingDisplay, SoftLabelsDisplay
from jointclust.showing.rules import shown
from jointclust.showing.style import PALETTE
from jointclust.types import Float, Labels, Predictor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Standard deviations that have the strongest colour, and letters of a name on an axis.
_STRONGEST, _LETTERS = 3.0, 28
_GREY = "#777777"


class ProfileDisplay(Display):
    """What sets each cluster apart, as a heat map: the darker, the farther is its mean from that of all other rows.

    Parameters
    ----------
    effects : array of shape (n_features, n_clusters)
        Cohen's d of each feature in each cluster.
    means : array of shape (n_features, n_clusters)
        Means in the clusters, in the units of the features; shares of levels.
    features : sequence of Feature
        What the lines are.
    names : sequence of str
        Of the clusters.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=200, n_features=20, n_clusters=3, random_state=0)
    >>> model = jc.LDAKMeans(3, random_state=0).fit(X)
    >>> jc.plots.ProfileDisplay.from_estimator(model, X).effects.shape
    (20, 3)
    """

    def __init__(self, effects: Float, means: Float, features: Sequence[Feature], names: Sequence[str]):
        self.effects, self.means, self.features, self.names = effects, means, list(features), list(names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor | Fitted,
        X: Any,
        *,
        feature_names: Sequence[str] | None = None,
        n_features: int = 20,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the features that set the clusters of an estimator apart, the strongest first, none that say the same.

        Parameters
        ----------
        estimator : estimator
            A fitted clusterer, or a pipeline that ends with one.
        X : array, sparse matrix, data frame or list of str
            The rows it was fitted on.
        feature_names : sequence of str, default=None
            Names; None takes those of the frame or of the estimator.
        n_features : int, default=20
            How many features to show, at the most.
        ax : matplotlib axes, default=None
            Where to draw.
        **options
            Passed on to ``imshow``.

        Returns
        -------
        display : ProfileDisplay
            Drawn.
        """
        fitted = _fitted(estimator, X, feature_names)
        places = _strongest(fitted, n_features)
        contrast = fitted.explanation.contrast
        effects, means = contrast.effects[:, places].T, contrast.means[:, places].T
        features = [fitted.explanation.features[place] for place in places]
        names = [f"{one.cluster}: {one.name}" for one in fitted.explanation]
        return cls(effects, means, features, names).plot(ax, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw on ``ax``, or on new axes; options go to ``imshow``."""
        n_features, n_clusters = self.effects.shape
        ax = self._prepare(ax, figsize=(3.0 + 0.9 * n_clusters, 1.8 + 0.3 * n_features))
        options = {"cmap": "RdBu_r", "vmin": -_STRONGEST, "vmax": _STRONGEST, "aspect": "auto", **options}
        image = ax.imshow(self.effects, **options)
        for (line, cluster), mean in np.ndenumerate(self.means):
            colour = "white" if abs(self.effects[line, cluster]) > 0.6 * _STRONGEST else "black"
            text = _amount(float(mean), self.features[line].kind)
            ax.annotate(text, (cluster, line), ha="center", va="center", fontsize="x-small", color=colour)
        ax.set_yticks(np.arange(n_features), [_cut(one.name) for one in self.features])
        ax.set_xticks(np.arange(n_clusters), [_cut(name) for name in self.names], rotation=30, ha="right")
        ax.tick_params(labelsize="small")
        ax.figure.colorbar(image, ax=ax, label="effect (standard deviations)")
        ax.set_title("mean in each cluster")
        return self


class BoxesDisplay(Display):
    """The features that set the clusters apart most: a box for each cluster, or a bar where a feature is a level.

    Parameters
    ----------
    values : array of shape (n_samples, n_features)
        The features, NaN where a cell is empty.
    labels : array of shape (n_samples,)
        The cluster of each row; below 0 are rows in none.
    features : sequence of Feature
        What the columns are.
    names : sequence of str
        Of the clusters.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=200, n_features=20, n_clusters=3, random_state=0)
    >>> model = jc.LDAKMeans(3, random_state=0).fit(X)
    >>> len(jc.plots.BoxesDisplay.from_estimator(model, X, n_features=2).axes_)
    2
    """

    def __init__(self, values: Float, labels: Labels, features: Sequence[Feature], names: Sequence[str]):
        self.values, self.labels, self.features, self.names = values, labels, list(features), list(names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor | Fitted,
        X: Any,
        *,
        feature_names: Sequence[str] | None = None,
        n_features: int = 6,
        axes: Sequence[Axes] | None = None,
        **options: Any,
    ) -> Self:
        """Draw the features that set the clusters of an estimator apart, the strongest first, none that say the same.

        Parameters
        ----------
        estimator : estimator
            A fitted clusterer, or a pipeline that ends with one.
        X : array, sparse matrix, data frame or list of str
            The rows it was fitted on.
        feature_names : sequence of str, default=None
            Names; None takes those of the frame or of the estimator.
        n_features : int, default=6
            How many features to show, at the most.
        axes : sequence of matplotlib axes, default=None
            Where to draw, one for each feature; None makes a figure.
        **options
            Passed on to ``boxplot``.

        Returns
        -------
        display : BoxesDisplay
            Drawn.
        """
        fitted = _fitted(estimator, X, feature_names)
        places = _strongest(fitted, n_features if axes is None else min(n_features, len(axes)))
        features = [fitted.features.of[place] for place in places]
        values = fitted.features.columns(np.array(places, dtype=np.intp))
        return cls(values, fitted.labels, features, fitted.cluster_names).plot(axes, **options)

    def plot(self, axes: Sequence[Axes] | None = None, **options: Any) -> Self:
        """Draw on ``axes``, or on a new figure, whose axes are ``axes_``; options go to ``boxplot``."""
        if axes is None:
            axes = self._grid(len(self.features))
        self.axes_ = list(axes)[: len(self.features)]
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        clusters = [cluster for cluster in range(len(self.names)) if np.any(self.labels == cluster)]
        colours = [PALETTE[cluster % len(PALETTE)] for cluster in clusters]
        for ax, values, feature in zip(self.axes_, self.values.T, self.features, strict=True):
            own = [values[(self.labels == cluster) & ~np.isnan(values)] for cluster in clusters]
            if feature.kind == "level":
                ax.bar(np.arange(len(own)), [one.mean() if one.size else 0.0 for one in own], color=colours)
                ax.set(ylim=(0, 1), ylabel="share of rows")
            else:
                _boxes(ax, own, colours, options)
                if feature.kind == "date":
                    ax.yaxis_date()
                else:
                    ax.yaxis.set_major_formatter(lambda value, _: shown(value, "number", 6))
            ax.set_xticks(np.arange(len(own)), [str(cluster) for cluster in clusters])
            ax.set_title(_cut(feature.name), fontsize="medium")
            ax.set_xlabel("cluster")
        return self

    @staticmethod
    def _grid(n: int) -> list[Axes]:
        """Axes for so many features, at most three in a line."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("BoxesDisplay needs matplotlib: pip install 'jointclust[plot]'.") from error
        wide, lines = min(n, 3), -(-n // 3)
        size = (3.2 * wide, 2.6 * lines)
        _, axes = plt.subplots(lines, wide, figsize=size, squeeze=False, layout="constrained")
        for ax in axes.ravel()[n:]:
            ax.set_axis_off()
        return list(axes.ravel()[:n])


class OverviewDisplay(Display):
    """All displays of a fit in one figure: map, profile, boxes of the strongest features and, of a consensus, its tree.

    Parameters
    ----------
    fitted : Fitted
        The model and its rows.

    Attributes
    ----------
    displays_ : dict of str to display
        By what they show: "map", "profile", "boxes", "layers" and "soft labels", as far as the model has them.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=200, n_features=20, n_clusters=3, random_state=0)
    >>> model = jc.JointConsensus(3, effort="quick", random_state=0).fit(X)
    >>> list(jc.plots.OverviewDisplay.from_estimator(model, X).displays_)
    ['map', 'profile', 'layers', 'soft labels', 'boxes']
    """

    def __init__(self, fitted: Fitted):
        self.fitted = fitted

    @classmethod
    def from_estimator(
        cls, estimator: Predictor | Fitted, X: Any, *, feature_names: Sequence[str] | None = None
    ) -> Self:
        """Draw all that there is to draw of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted clusterer, or a pipeline that ends with one.
        X : array, sparse matrix, data frame or list of str
            The rows it was fitted on.
        feature_names : sequence of str, default=None
            Names; None takes those of the frame or of the estimator.

        Returns
        -------
        display : OverviewDisplay
            Drawn.
        """
        return cls(_fitted(estimator, X, feature_names)).plot()

    def plot(self) -> Self:
        """Draw on a new figure."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("OverviewDisplay needs matplotlib: pip install 'jointclust[plot]'.") from error
        fitted, n_boxes = self.fitted, min(4, len(self.fitted.explanation.groups))
        has_layers = fitted.tree is not None and isinstance(fitted.clusterer, JointConsensus)
        has_soft = fitted.soft_labels is not None
        figure = plt.figure(figsize=(14, 11), layout="constrained")
        parts = figure.subfigures(3 if has_layers or has_soft else 2, 1, squeeze=False).ravel()
        first, *rest = parts[0].subplots(1, 2 if n_boxes else 1, squeeze=False).ravel()
        self.figure_, self.ax_, self.displays_ = figure, first, dict[str, Display]()
        self.displays_["map"] = EmbeddingDisplay.from_estimator(fitted, fitted.X, ax=first)
        first.set_aspect("auto")
        if n_boxes:
            self.displays_["profile"] = ProfileDisplay.from_estimator(fitted, fitted.X, n_features=12, ax=rest[0])
        if len(parts) == 3:
            axes = list(parts[1].subplots(1, has_layers + has_soft, squeeze=False).ravel())
            if has_layers:
                self.displays_["layers"] = DendrogramDisplay.from_estimator(fitted.model, ax=axes.pop(0))
            if has_soft:
                soft = SoftLabelsDisplay(np.asarray(fitted.soft_labels), fitted.labels)
                self.displays_["soft labels"] = soft.plot(axes.pop(0))
        if n_boxes:
            boxes = parts[-1].subplots(1, n_boxes, squeeze=False).ravel()
            self.displays_["boxes"] = BoxesDisplay.from_estimator(fitted, fitted.X, axes=list(boxes))
        return self


def _fitted(estimator: Predictor | Fitted, X: ArrayLike, feature_names: Sequence[str] | None) -> Fitted:
    return estimator if isinstance(estimator, Fitted) else Fitted(estimator, at_hand(X), feature_names)


def _strongest(fitted: Fitted, n_features: int) -> list[int]:
    """Places of the features that set any cluster apart most, one of those that say the same."""
    if n_features < 1:
        raise ValueError(f"n_features={n_features}: show at least one.")
    explanation = fitted.explanation
    if not explanation.groups:
        raise ValueError("No feature sets a cluster apart from the others: there is nothing to draw.")
    place_of = {one.name: place for place, one in reversed(list(enumerate(explanation.features)))}
    return [place_of[group[0]] for group in explanation.groups[:n_features]]


def _boxes(ax: Axes, own: list[NDArray[Any]], colours: list[str], options: dict[str, Any]) -> None:
    given = {"positions": np.arange(len(own)), "widths": 0.6, "patch_artist": True, "flierprops": {"markersize": 2}}
    drawn = ax.boxplot(own, **{**given, "medianprops": {"color": "black"}, **options})
    for box, colour in zip(drawn["boxes"], colours, strict=True):
        if hasattr(box, "set_facecolor"):
            box.set(facecolor=colour, edgecolor=_GREY, alpha=0.8)


def _amount(value: float, kind: str) -> str:
    return f"{value:.0%}" if kind == "level" else shown(value, kind, 4)


def _cut(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1].rstrip()}…"
