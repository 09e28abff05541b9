"""Displays of a whole model, or of a path of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import dendrogram

from jointclust.consensus.estimator import JointConsensus
from jointclust.selection.search import LabelFreeSearch
from jointclust.selection.stability import bootstrap_stability
from jointclust.selection.trade_off_path import TradeOffPath
from jointclust.showing.fitted import DOUBTFUL, STABLE, Fitted, last_step, objective_of
from jointclust.showing.style import PALETTE
from jointclust.types import Float, Labels, Predictor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class Display:
    """What the displays share: axes to draw on."""

    ax_: Axes
    figure_: Figure | SubFigure

    def _prepare(self, ax: Axes | None, figsize: tuple[float, float] | None = None) -> Axes:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError(f"{type(self).__name__} needs matplotlib: pip install 'jointclust[plot]'.") from error
        if ax is None:
            _, ax = plt.subplots(layout="constrained", figsize=figsize)
        self.ax_, self.figure_ = ax, ax.figure
        return ax


class ObjectiveDisplay(Display):
    """The objective over the iterations of the run that was kept.

    Parameters
    ----------
    history : array of shape (n_iter,)
        Its values.
    name : str
        Of the method.
    """

    def __init__(self, history: Float, *, name: str = ""):
        self.history, self.name = history, name

    @classmethod
    def from_estimator(cls, estimator: Predictor, X: Any = None, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw the objective of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            One that iterates.
        X : array-like or data frame, default=None
            Not needed, and here so that all displays are called alike.
        ax : matplotlib axes, default=None
            Where to draw.
        **options
            Passed on to ``plot``.

        Returns
        -------
        display : ObjectiveDisplay
            Drawn.
        """
        clusterer = Fitted(estimator, None).clusterer
        history, name = objective_of(clusterer), type(clusterer).__name__
        if history is None:
            raise TypeError(f"{name} has no objective_history_: it does not iterate.")
        return cls(history, name=name).plot(ax, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw on ``ax``, or on new axes; options go to ``plot``."""
        ax = self._prepare(ax)
        ax.plot(np.arange(1, len(self.history) + 1), self.history, **{"marker": "o", "color": PALETTE[0], **options})
        ax.locator_params(axis="x", integer=True)
        ax.set(xlabel="iteration", ylabel="objective", title=self.name)
        return self


class StabilityDisplay(Display):
    """How far each cluster can be trusted, with Hennig's marks.

    Parameters
    ----------
    stability : array of shape (n_clusters,)
        0 to 1.
    """

    def __init__(self, stability: Float):
        self.stability = stability

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor,
        X: ArrayLike,
        *,
        n_resamples: int = 20,
        random_state: int | np.random.RandomState | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the stability of an estimator's clusters: by refits on halves of the rows or, for a consensus, its own.

        Parameters
        ----------
        estimator : estimator
            A fitted clusterer.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows it was fitted on.
        n_resamples : int, default=20
            Resamples.
        random_state : int, RandomState or None, default=None
            Seed of the resampling.
        ax : matplotlib axes, default=None
            Where to draw.
        **options
            Passed on to ``bar``.

        Returns
        -------
        display : StabilityDisplay
            Drawn.
        """
        stability = Fitted(estimator, X).found
        if stability is None:
            stability = bootstrap_stability(estimator, X, n_resamples=n_resamples, random_state=random_state)
        return cls(stability).plot(ax, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw on ``ax``, or on new axes; options go to ``bar``."""
        ax = self._prepare(ax)
        positions = np.arange(self.stability.size)
        colours = [PALETTE[index % len(PALETTE)] for index in positions]
        ax.bar(positions, self.stability, **{"color": colours, **options})
        for mark, text in ((DOUBTFUL, "doubtful below"), (STABLE, "stable above")):
            ax.axhline(mark, color="grey", linestyle="--", linewidth=1)
            ax.annotate(text, (1, mark), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize="small")
        ax.locator_params(axis="x", integer=True)
        ax.set(xlabel="cluster", ylabel="stability", ylim=(0, 1.05))
        return self


class TradeOffPathDisplay(Display):
    """What DEC finds along the trade-off, and where its clusters change.

    Parameters
    ----------
    path : TradeOffPath
        As from :func:`jointclust.trade_off_path`, for one dimension.
    """

    def __init__(self, path: TradeOffPath):
        self.path = path

    @classmethod
    def from_path(cls, path: TradeOffPath, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw a path.

        Parameters
        ----------
        path : TradeOffPath
            As from :func:`jointclust.trade_off_path`, for one dimension.
        ax : matplotlib axes, default=None
            Where to draw.
        **options
            Passed on to ``plot``.

        Returns
        -------
        display : TradeOffPathDisplay
            Drawn.
        """
        return cls(path).plot(ax, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw on ``ax``, or on new axes; options go to ``plot``."""
        ax = self._prepare(ax)
        table = self.path.table
        positions = np.arange(len(self.path))
        curves: dict[str, ArrayLike] = {
            "variance in the subspace": table["variance_share"],
            "of which inside clusters": table["within_share"],
            "agreement with the labels before": np.array(table["agreement"], dtype=float),  # None is NaN
        }
        for index, (name, values) in enumerate(curves.items()):
            ax.plot(positions, values, **{"marker": "os^"[index], "color": PALETTE[index], "label": name, **options})
        ax.set_xticks(positions, [f"{trade_off:g}" for trade_off in table["trade_off"]])
        ax.set(xlabel="trade-off", ylim=(0, 1.05))
        ax.legend(fontsize="small", frameon=False)
        return self


class ScoresDisplay(Display):
    """A heat map of scores by two parameters, with the best pair marked.

    Parameters
    ----------
    table : pandas.DataFrame
        As from :meth:`jointclust.LabelFreeSearch.pivot`.
    """

    def __init__(self, table: Any):
        self.table = table

    @classmethod
    def from_search(
        cls, search: LabelFreeSearch, rows: str, columns: str, *, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Draw the scores of a search.

        Parameters
        ----------
        search : LabelFreeSearch
            Fitted.
        rows, columns : str
            Parameters of the grid.
        ax : matplotlib axes, default=None
            Where to draw.
        **options
            Passed on to ``imshow``.

        Returns
        -------
        display : ScoresDisplay
            Drawn.
        """
        return cls(search.pivot(rows, columns)).plot(ax, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw on ``ax``, or on new axes; options go to ``imshow``."""
        ax = self._prepare(ax)
        values = self.table.to_numpy(dtype=float)
        shown = np.where(np.isfinite(values), values, np.nan)
        image = ax.imshow(shown, **{"cmap": "viridis", "aspect": "auto", **options})
        for (row, column), value in np.ndenumerate(shown):
            text = "" if np.isnan(value) else f"{value:.3g}"
            best = not np.isnan(value) and value == np.nanmax(shown)
            weight, colour = ("bold", "black") if best else ("normal", "grey")
            ax.annotate(
                text,
                (column, row),
                ha="center",
                va="center",
                fontsize="small",
                weight=weight,
                color=colour,
                bbox={"boxstyle": "round,pad=0.1", "color": "white", "alpha": 0.7},
            )
        ax.set_xticks(np.arange(values.shape[1]), [str(value) for value in self.table.columns])
        ax.set_yticks(np.arange(values.shape[0]), [str(value) for value in self.table.index])
        ax.set(xlabel=str(self.table.columns.name), ylabel=str(self.table.index.name))
        ax.figure.colorbar(image, ax=ax, label="score")
        return self


class DendrogramDisplay(Display):
    """The tree of a consensus' layers: the more is lost by a join, the higher it is.

    Parameters
    ----------
    linkage : array of shape (n_leaves - 1, 4)
        As from :meth:`jointclust.JointConsensus.linkage`.
    clusters : array of shape (n_leaves,), optional
        The cluster of ``labels_`` that each leaf is a part of, which gives its branches their colour.
    supported : array of bool of shape (n_leaves - 1,), optional
        Whether the data support the split of each join: a full dot marks these, an empty one the doubtful ones.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, y = jc.datasets.mixture(n_samples=200, n_features=20, n_clusters=4, random_state=0)
    >>> model = jc.JointConsensus(2, random_state=0).fit(X)
    >>> jc.plots.DendrogramDisplay.from_estimator(model, n_clusters=4).ax_.get_xlabel()
    'cluster'
    """

    def __init__(self, linkage: Float, *, clusters: Labels | None = None, supported: Any = None):
        self.linkage, self.clusters, self.supported = linkage, clusters, supported

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor,
        X: Any = None,
        *,
        n_clusters: int | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the layers of a fitted consensus.

        Parameters
        ----------
        estimator : JointConsensus, or a pipeline that ends in one
            Fitted.
        X : array-like or data frame, default=None
            Not needed, and here so that all displays are called alike.
        n_clusters : int, optional
            Of the layer whose clusters are the leaves; the finest one if not given.
        ax : matplotlib axes, default=None
            Where to draw.
        **options
            Passed on to SciPy's ``dendrogram``.

        Returns
        -------
        display : DendrogramDisplay
            Drawn.
        """
        consensus = last_step(estimator)
        if not isinstance(consensus, JointConsensus):
            raise TypeError(f"{type(consensus).__name__} has no layers: a dendrogram is of a JointConsensus.")
        linkage = consensus.linkage(n_clusters)
        if len(linkage) == 0:
            raise ValueError("There is only one cluster, and nothing to draw: give more.")
        labels, own = consensus.cut(len(linkage) + 1), consensus.soft_labels_.argmax(axis=1)
        clusters = np.zeros(len(linkage) + 1, np.int32)
        clusters[labels] = own
        is_finer = bool(np.all(clusters[labels] == own))
        splits = [consensus._split(number)["split"] for number in range(len(linkage) + 1, 1, -1)]
        supported = None if None in splits else np.array(splits) == "supported"
        return cls(linkage, clusters=clusters if is_finer else None, supported=supported).plot(ax, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw on ``ax``, or on new axes; options go to SciPy's ``dendrogram``."""
        ax = self._prepare(ax)
        n = len(self.linkage) + 1
        below = list(np.full(n, -1) if self.clusters is None else self.clusters)
        for first, second in self.linkage[:, :2].astype(int):
            below.append(below[first] if below[first] == below[second] else -1)
        colours = ["grey" if cluster < 0 else PALETTE[cluster % len(PALETTE)] for cluster in below]
        drawn = dendrogram(self.linkage, ax=ax, **{"link_color_func": colours.__getitem__, **options})
        if self.supported is not None and len(drawn["dcoord"]) == len(self.linkage):
            _mark_splits(ax, drawn, self.linkage[:, 2], self.supported)
        ax.set(xlabel="cluster", ylabel="share lost of what the finest layer tells")
        return self


def _mark_splits(ax: Axes, drawn: dict[str, Any], heights: Float, supported: Any) -> None:
    """A dot on each join: full where the data support the split, empty where it is doubtful."""
    tops = np.array([values[1] for values in drawn["dcoord"]])
    middles = np.array([(values[1] + values[2]) / 2 for values in drawn["icoord"]])
    # Joins of one height may be drawn in another order.
    order = np.argsort(np.argsort(tops, kind="stable"), kind="stable")
    supported = supported[np.argsort(heights, kind="stable")][order]
    for which, face, name in ((supported, "black", "supported"), (~supported, "white", "doubtful")):
        if which.any():
            style: dict[str, Any] = {"color": "black", "markerfacecolor": face, "markersize": 4, "linestyle": "none"}
            ax.plot(middles[which], tops[which], "o", label=name, **style)
    ax.legend(fontsize="small", frameon=False)
