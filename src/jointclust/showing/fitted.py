"""What there is to show of a fitted model and its rows: computed once for console, files, drawings and report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from jointclust import progress
from jointclust.consensus.column_roles import ColumnRoles, column_roles, columns_with_roles
from jointclust.consensus.estimator import JointConsensus
from jointclust.consensus.judged import Judgement, judgement_on
from jointclust.consensus.matching import given_names
from jointclust.consensus.verdict import DOUBTFUL as HARDLY_FOUND
from jointclust.consensus.verdict import DOUBTFUL_IN_REFITS as DOUBTFUL
from jointclust.consensus.verdict import SAME as STABLE
from jointclust.consensus.verdict import Verdict, verdict
from jointclust.exceptions import tell
from jointclust.rows import fingerprint, host_block
from jointclust.rows.arrays import to_host
from jointclust.showing.explain import Explanation, explained
from jointclust.showing.features import Features, at_hand, features_in, features_in_blocks, words_of_rows
from jointclust.showing.layout import Direction, directions, neighbour_map, plane_of_centers
from jointclust.showing.names import group_names
from jointclust.showing.profile import Profile, profile
from jointclust.types import Estimator, Float, Labels
from jointclust.views.blocks import PreparedBlocks, by_block, checked_blocks, n_rows_of
from jointclust.views.columns import columns_named, is_table, names_of
from jointclust.views.kinds import Described, Description
from jointclust.views.preparation import Preparation

__all__ = ["Fitted", "explain"]

# Clusters that the finest layer shown has more than the fit, at the most.
_FINER = 12
# Dimensions from which on an embedding is no reduction.
_FEW_COMPONENTS = 200
# Votes of one row that are computed twice differ by less.
_ROUNDED = 1e-6


def steady_word(stability: float, doubtful: float) -> str:
    """What a stability means, in a word or two; below ``doubtful`` a cluster is hardly found."""
    if np.isnan(stability):
        return "unmeasured"
    if stability < doubtful:
        return "hardly found"
    return "partly found" if stability < DOUBTFUL else "found" if stability >= STABLE else "mostly found"


def last_step(model: Estimator) -> Any:
    """The clusterer itself: what a search chose, the last step of a pipeline."""
    model = getattr(model, "best_estimator_", model)
    return last_step(model.steps[-1][1]) if isinstance(model, Pipeline) else model


def objective_of(clusterer: Any) -> Float | None:
    """The objective, iteration by iteration, where the method iterates."""
    history = getattr(clusterer, "objective_history_", None)
    return None if history is None else np.asarray(history)


def first_preparation(model: Estimator) -> Preparation | PreparedBlocks | None:
    """What codes the data before all else: the first step of a pipeline, or the first view of a consensus.

    Of a consensus of blocks it is the first view of each.
    """
    model = getattr(model, "best_estimator_", model)
    clusterer = last_step(model)
    steps = [step for _, step in model.steps[:-1]] if isinstance(model, Pipeline) else []
    if not steps and isinstance(clusterer, JointConsensus):
        steps = clusterer.preparations
        if (own := by_block(steps)) is not None:
            return PreparedBlocks({name: preparations[0] for name, preparations in own.items()})
    return steps[0] if steps and isinstance(steps[0], Preparation) else None


def features_of(model: Estimator, X: Any, coded: Any = None) -> tuple[Any, list[str] | None]:
    """Rows as numbers in the units of the data, with names: coded columns and words where there are any."""
    first = first_preparation(model)
    if first is not None:
        rows: Any = host_block(first.encode(X) if coded is None else coded)
        names = first.coded_names(rows) if isinstance(first, PreparedBlocks) else first.coded_names()
        return first.readable(rows), [str(name) for name in names]
    return check_array(host_block(X), accept_sparse="csr", dtype=None, ensure_all_finite="allow-nan"), None


def _without_texts(model: Estimator, X: Any, named_by: Any) -> Any:
    """A table without the column that clusters are named by, where the model was not fitted with it; else X."""
    if not isinstance(named_by, str) or not is_table(X) or named_by in getattr(model, "feature_names_in_", ()):
        return X
    return columns_named(X, [name for name in names_of(X) if name != named_by])


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model and its rows; what is shown of them is computed when it is first needed, and kept.

    ``prepared``, ``coded`` and ``embedded`` are what the fit has left: rows as the clusterer got them, as numbers in
    their units, and in the embedding.
    """

    model: Any
    X: Any
    column_names: Sequence[str] | None = None
    given_names: Sequence[str] | None = None  # names of the features, if they are not those of the columns
    coordinates: NDArray[Any] | None = None  # where to draw the rows; None takes the embedding
    prepared: Any = None
    coded: Any = None
    embedded: Any = None
    explained: Explanation | None = None  # an explanation that was computed before
    looked_at: Described | None = None  # the columns that a step before the clusterer looked at
    named_by: Any = None  # texts of the rows, or the column of X that has them: clusters are named by their words
    numbered: bool = False  # whether names of clusters are numbers, as for images, whose pixels mean little
    are_known: bool = False  # whether it is known that these are the rows of the fit, and need not be found out
    given: Any = field(init=False, default=None)  # X with the columns that the fit has left aside, or did not have

    def __post_init__(self) -> None:
        first = first_preparation(self.model)
        object.__setattr__(self, "given", self.X)
        # A file may have columns that the fit has left aside, and texts beside the numbers that were fitted.
        own = _without_texts(self.model, self.X, self.named_by) if first is None else first.own_columns(self.X)
        object.__setattr__(self, "X", own)

    @cached_property
    def clusterer(self) -> Any:
        """The estimator that gave the labels."""
        last = last_step(self.model)
        check_is_fitted(last)
        return last

    @cached_property
    def are_of_fit(self) -> bool:
        """Whether these are the rows of the fit, in their order, so that what the model has for each holds for them.

        A fingerprint tells. Models of other libraries and of earlier versions have none, and steps before a clusterer
        may round otherwise than in the fit: there they are, if the model says of each row what it said in the fit.
        """
        labels = self._of_rows("labels_")
        if self.are_known or labels is None or labels.size != n_rows_of(self.X):
            return self.are_known
        recorded = vars(self.clusterer).get("_fingerprint")
        if recorded is not None and fingerprint(self._to_cluster) == recorded:
            return True
        if not hasattr(self.model, "predict"):
            if recorded is None:
                what = f"{type(self.clusterer).__name__} has no predict and does not know its rows"
                tell(f"{what}: whether X has the rows of the fit cannot be known, and is assumed.", UserWarning)
            return recorded is None
        if recorded is not None and self._to_cluster is self.X:
            return False
        votes = self._of_rows("soft_labels_")
        if votes is None or not hasattr(self.model, "predict_proba"):
            return np.array_equal(to_host(self.model.predict(self.X)), labels)
        return np.allclose(to_host(self.model.predict_proba(self.X)), votes, atol=_ROUNDED)

    @cached_property
    def labels(self) -> Labels:
        """The cluster of each row: that of the fit or, of other rows, by ``predict``.

        A row that a consensus rejects has the cluster with most votes; one without votes stays below 0.
        """
        if not self.are_of_fit and not hasattr(self.model, "predict"):
            n_fitted = np.size(self._of_rows("labels_"))
            why = f"the model was fitted on {n_fitted} others and has no predict: give the rows of fit."
            raise ValueError(f"X has {n_rows_of(self.X)} rows, {why}")
        labels: Labels = self._of_rows("labels_") if self.are_of_fit else to_host(self.model.predict(self.X))
        if not np.any(labels < 0) or self.soft_labels is None:
            return labels
        return self.soft_labels.argmax(axis=1)

    @cached_property
    def soft_labels(self) -> Float | None:
        """Probabilities of the clusters for each row, where the method has them."""
        votes = self._of_rows("soft_labels_")
        if self.are_of_fit or votes is None:
            return votes
        return to_host(self.model.predict_proba(self.X)) if hasattr(self.model, "predict_proba") else None

    @cached_property
    def confidence(self) -> Float | None:
        """The confidence of each row: the method's own, or the probability of the label; None without either."""
        if isinstance(self.clusterer, JointConsensus) and not self.are_of_fit:
            return to_host(self.clusterer.confidence(self._to_cluster))
        own = self._of_rows("confidence_") if self.are_of_fit else None
        return self.soft_labels.max(axis=1) if own is None and self.soft_labels is not None else own

    @cached_property
    def outlier_scores(self) -> Float | None:
        """How far each row is from all others, where the method says it; None of other rows than those of the fit."""
        return self._of_rows("outlier_scores_") if self.are_of_fit else None

    @cached_property
    def row_weights(self) -> Float | None:
        """The weight that a robust method gave each row of the fit; None of other rows."""
        return self._of_rows("sample_weights_") if self.are_of_fit else None

    def _of_rows(self, attribute: str) -> Any:
        """What the clusterer has for each row of the fit under this name, in memory; None if it has none."""
        values = getattr(self.clusterer, attribute, None)
        return None if values is None else to_host(values)

    @cached_property
    def _to_cluster(self) -> Any:
        """The rows as they come to the clusterer: after the steps before it, if there are any."""
        model = getattr(self.model, "best_estimator_", self.model)
        has_steps = isinstance(model, Pipeline) and len(model) > 1 and self.prepared is None
        return model[:-1].transform(self.X) if has_steps else self.X if self.prepared is None else self.prepared

    @cached_property
    def embedding(self) -> NDArray[Any]:
        """The rows as ``transform`` gives them."""
        if self.embedded is not None:
            rows = self.embedded
        else:
            rows = self.model.transform(self.X) if self.prepared is None else self.clusterer.transform(self.prepared)
        return rows.to_numpy() if hasattr(rows, "to_numpy") else rows if sp.issparse(rows) else to_host(rows)

    @cached_property
    def rows(self) -> Any:
        """The rows as the clusterer sees them; a consensus, those of its first view."""
        if isinstance(self.clusterer, JointConsensus):
            return host_block(self.clusterer.prepared(self._to_cluster)[0])
        return check_array(host_block(self._to_cluster), accept_sparse="csr")

    @cached_property
    def positions(self) -> NDArray[Any]:
        """A few coordinates of the rows in which to draw them and to measure how typical they are.

        The embedding, but for methods that reduce nothing: there it is the plane through the clusters' centers.
        """
        if self.coordinates is not None:
            return np.asarray(self.coordinates)
        if self.clusterer.cluster_centers_.shape[1] <= _FEW_COMPONENTS:
            return self.embedding
        return plane_of_centers(self.rows, self.labels)

    @cached_property
    def _features(self) -> tuple[Any, list[str] | None]:
        return features_of(self.model, self.X, self.coded)

    @property
    def data(self) -> Any:
        """The rows as numbers in their own units."""
        return self._features[0]

    @cached_property
    def names(self) -> list[str]:
        """What the columns of ``data`` are called: as given, as coded, as in X or the model, else by number."""
        coded, n_features = self._features[1], self.data.shape[1]
        given = self.column_names if self.given_names is None else self.given_names
        first = first_preparation(self.model)
        if isinstance(first, PreparedBlocks) and coded is not None:
            return coded
        own = first if isinstance(first, Preparation) else None
        if own is not None and given is not None and len(given) == getattr(own, "n_features_in_", None):
            return [str(name) for name in own.coded_names([str(name) for name in given])]
        if coded is not None and (given is None or len(given) != n_features):
            return coded  # columns that were coded have names of their own
        if given is None:
            given = getattr(self.X, "columns", getattr(self.model, "feature_names_in_", None))
        return [f"x{index}" for index in range(n_features)] if given is None else [str(name) for name in given]

    @cached_property
    def roles(self) -> ColumnRoles:
        """How far each column of the data separates the clusters, and the one that alone decides."""
        first = first_preparation(self.model)
        own = isinstance(first, PreparedBlocks) or first in getattr(self.clusterer, "preparations", ())
        if isinstance(self.clusterer, JointConsensus) and own:
            return self.clusterer._roles
        return column_roles(self.looked_at, self.labels)

    @cached_property
    def columns(self) -> list[dict[str, Any]]:
        """What each column of the data is, whether it is used, and how far it separates the clusters."""
        first = first_preparation(self.model)
        return [] if first is None else columns_with_roles(first.description_, self.roles)

    @property
    def found(self) -> Float | None:
        """How far halves of the rows find each cluster of a consensus."""
        judgement = self.clusterer._judgement if isinstance(self.clusterer, JointConsensus) else None
        return None if judgement is None else judgement.found

    @property
    def doubtful(self) -> float:
        """A cluster is hardly found below this: in halves by the judge, or by refits of another method."""
        return HARDLY_FOUND if isinstance(self.clusterer, JointConsensus) else DOUBTFUL

    def verdict(self, stability: Float | None) -> Verdict:
        """How sure the clusters are: by the judge, and what the stability of each cluster says of other methods."""
        if isinstance(self.clusterer, JointConsensus):
            return self.clusterer.verdict_
        sizes = np.bincount(self.labels[self.labels >= 0])
        if stability is None:
            return verdict(self._judgement, sizes.size, self.labels.size)
        known = ~np.isnan(stability[: sizes.size])
        mean = float(np.average(stability[: sizes.size][known], weights=sizes[known])) if known.any() else None
        own = stability[: sizes.size]
        return verdict(self._judgement, sizes.size, self.labels.size, reproducibility=mean, refound=own)

    @cached_property
    def _judgement(self) -> Judgement | None:
        """What the judge says of the clusters of another method, in the rows that it saw."""
        return judgement_on(self.rows, self.labels)

    @cached_property
    def profile(self) -> Profile:
        """What sets each cluster apart, in numbers, and its typical rows."""
        return profile(self.data, self.positions, self.labels)

    @cached_property
    def directions(self) -> list[Direction]:
        """Directions along which the rows are drawn."""
        rows = self.rows if self.positions.shape[1] == 1 else None
        return directions(self.positions, self.labels, rows, self.data)

    @cached_property
    def layout(self) -> Float:
        """The rows by their neighbours in the embedding or, of one direction, in the two that are drawn."""
        is_line = self.positions.shape[1] == 1
        places = np.column_stack([one.values for one in self.directions]) if is_line else self.positions
        places = neighbour_map(places, labels=self.labels)
        progress.advance("map", 1)
        return places

    @cached_property
    def explanation(self) -> Explanation:
        """What makes each cluster, in words."""
        if self.explained is not None:
            return self.explained
        features, labels = self.features, self.labels  # in this order: wrong columns are told before predict meets them
        numbers = range(int(labels.max()) + 1) if self.is_numbered else ()
        known = {cluster: f"cluster {cluster}" for cluster in numbers}
        known |= dict(enumerate(map(str, getattr(self.clusterer, "classes_", ()))))
        return explained(features, labels, self.places, known | dict(given_names(self.clusterer)), self.naming)

    def explained_by(self, labels: Labels, known: Mapping[int, str] | None = None) -> Explanation:
        """What makes each cluster of given labels; names of classes, or kept names, can be given for some."""
        return explained(self.features, labels, self.places, known, self.naming)

    @property
    def is_numbered(self) -> bool:
        """Whether names of clusters are numbers, since their features say little one by one."""
        return self.numbered or not self.naming.can_name

    @cached_property
    def naming(self) -> Features:
        """What clusters are named by: their features, or the words of a text for each row."""
        if self.named_by is None:
            return self.features
        return words_of_rows(self.named_by, self.given, self.labels.size)

    @property
    def places(self) -> NDArray[Any] | None:
        """The embedding, if the model has one of few dimensions: there, similar rows are near each other."""
        places = self.embedding if hasattr(self.model, "transform") else None
        is_plain = places is not None and not sp.issparse(places) and places.shape[1] <= _FEW_COMPONENTS
        return places if is_plain else None

    @cached_property
    def features(self) -> Features:
        """The columns as people know them."""
        names = getattr(self.model, "feature_names_in_", None)
        first = first_preparation(self.model)
        if isinstance(first, PreparedBlocks):
            features = features_in_blocks(checked_blocks(self.X) or {}, self.column_names, first)
        else:
            features = features_in(at_hand(self.X), self.column_names, names, self.description)
        own, expected = features.n_columns, getattr(self.model, "n_features_in_", features.n_columns)
        if own is not None and own != expected:
            raise ValueError(f"X has {own} columns and the model was fitted on {expected}: give the same.")
        return features

    @property
    def description(self) -> Description | None:
        """What the data are, where that was looked at."""
        return getattr(first_preparation(self.model), "description_", None)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in reversed(list(enumerate(self.names)))}

    def filled(self, name: str, observed: Float) -> Float | None:
        """A feature with its empty cells filled in; None if it has none, or the clusterer did not see it."""
        gaps = np.isnan(observed)
        place = self._places.get(name) if gaps.any() else None
        if place is None or getattr(first_preparation(self.model), "imputer_", None) is None or sp.issparse(self.data):
            return None
        return np.where(gaps, np.asarray(self.data[:, place], dtype=np.float64), observed)

    @cached_property
    def tree(self) -> NamedTree | None:
        """The layers of a consensus, from the finest one up; None where there are none."""
        if not isinstance(self.clusterer, JointConsensus) or not self.are_of_fit:
            return None
        try:
            n_leaves = min(len(self.clusterer.linkage()) + 1, self.clusterer.n_clusters + _FINER)
            linkage = self.clusterer.linkage(n_leaves)
            leaves = to_host(self.clusterer.cut(n_leaves))
            layers = self.clusterer._layers()
            dense = np.zeros(int(leaves.max()) + 1, np.int32)  # the clusters of the fit may have free numbers
            dense[layers.labels(n_leaves)] = layers.numbers(n_leaves)
            leaves = dense[leaves]
        except AttributeError:  # a model of rows elsewhere, or an old one, that kept nothing to make layers from
            return None
        if len(linkage) == 0:
            return None
        groups = [frozenset([leaf]) for leaf in range(len(linkage) + 1)]
        for first, second in linkage[:, :2].astype(int):
            groups.append(groups[first] | groups[second])
        # The clusters of the fit have their names in all layers; a node may be one of them.
        labels, given = self.labels, dict[int, str]()
        pairs = {(int(leaf), int(label)) for leaf, label in np.unique(np.column_stack([leaves, labels]), axis=0)}
        for one in self.explanation:
            own = frozenset(leaf for leaf, label in pairs if label == one.cluster)
            is_node = own in groups and all(label == one.cluster for leaf, label in pairs if leaf in own)
            given |= {groups.index(own): one.name} if is_node else {}
        names = group_names(self.naming, leaves, groups, given)
        progress.advance("names", 1)
        return NamedTree(linkage, leaves, names)

    @cached_property
    def cluster_names(self) -> list[str]:
        """The name of each cluster, by what sets it apart; a cluster without rows has its number."""
        names = {one.cluster: one.name for one in self.explanation}
        return [names.get(cluster, f"cluster {cluster}") for cluster in range(int(self.labels.max()) + 1)]


class NamedTree(NamedTuple):
    """The tree of the layers of a consensus: joins, the leaf of each row, and a name for each node, leaves first."""

    linkage: Float
    leaves: Labels
    names: list[str]


def layer_of(fitted: Fitted, n_clusters: int) -> Labels:
    """Labels of one of the layers of a consensus."""
    if not isinstance(fitted.clusterer, JointConsensus):
        raise TypeError(f"n_clusters={n_clusters}: only a JointConsensus has layers, and this is {fitted.clusterer!r}.")
    labels = to_host(fitted.clusterer.cut(n_clusters))
    if not fitted.are_of_fit:
        others = f"{n_rows_of(fitted.X)} others: give the training rows; predict labels others, n_clusters={n_clusters}"
        raise ValueError(f"n_clusters={n_clusters}: layers are of the {labels.size} training rows; X has {others}.")
    return labels


def at_layer(model: Any, n_clusters: int, X: Any, prepared: Any = None) -> Any:
    """The model with the clusters of one of the layers of its consensus; X are its training rows."""
    model = getattr(model, "best_estimator_", model)
    clusterer = last_step(model)
    if not isinstance(clusterer, JointConsensus):
        raise TypeError(f"n_clusters={n_clusters}: only a JointConsensus has layers, and this is {clusterer!r}.")
    is_pipeline = isinstance(model, Pipeline) and len(model) > 1
    rows = prepared if prepared is not None else model[:-1].transform(X) if is_pipeline else X
    layer = clusterer._at_layer(n_clusters, rows)
    return Pipeline([*model.steps[:-1], (model.steps[-1][0], layer)]) if isinstance(model, Pipeline) else layer


def explain(
    model: Estimator,
    X: Any,
    feature_names: Sequence[str] | None = None,
    n_clusters: int | None = None,
    *,
    names_from: str | Sequence[str] | None = None,
) -> Explanation:
    """What makes each cluster: a name, its size, short rules, the features that set it apart, and typical rows.

    The name is made of the conditions on columns that tell the cluster from all other rows best ("basket > 200, app");
    of documents and counts, of the words or genes that it has more often (class-based tf-idf, in which what most
    clusters have weighs nothing). No two clusters have the same. A name that is true of less than 80% of its cluster,
    or of more than 20% of the other rows, says so: "mostly app". Coordinates of an embedding say nothing one by one:
    without ``names_from`` such clusters have numbers.

    A rule has at most three conditions, in the units of X; ``precision`` is the share of the rows that fulfil it that
    are in the cluster, ``coverage`` the share of the cluster that fulfils it. It is the best of the nodes of shallow
    decision trees that tell the cluster from all other rows, pruned as long as that costs next to nothing. It describes
    the clusters as they are; it did not make them, and other rules may describe them as well.

    Features set a cluster apart by Cohen's d, the difference of the means in standard deviations: 0.8 is large. Of
    features that say the same (radius, perimeter, area) one is listed, the others beside it.

    Parameters
    ----------
    model : estimator
        A fitted clusterer, of this library or another, with ``labels_`` or ``predict``; a pipeline that ends with one,
        or a search.
    X : array, sparse matrix, data frame, list of str or AnnData
        The rows it was fitted on, in their order; any other rows are labelled by its ``predict``.
        Rows in a file or with Dask are loaded: if there are too many, give some of them.
    feature_names : sequence of str, default=None
        Names of the columns of X; None takes those of a frame, or of the model. Documents have words instead.
    n_clusters : int, default=None
        Number of clusters of the layer of a consensus to explain (see ``JointConsensus.cut``); X are its training rows.
    names_from : str or sequence of str, default=None
        A text for each row, or the column of X that has them: the clusters are named by their words. For embeddings.

    Returns
    -------
    explanation : Explanation
        Printing it gives a summary; ``to_dict()`` is for JSON; iterate over it for the clusters.

    Notes
    -----
    Of more than 10,000 rows a sample is looked at, and ``notes`` says so; sizes, precision and coverage are those of
    all rows. An empty cell fulfils no condition.

    Examples
    --------
    >>> import jointclust as jc
    >>> wine = jc.datasets.load("wine")
    >>> model = jc.JointConsensus(3, random_state=0).fit(wine.data)
    >>> explanation = jc.explain(model, wine.data, [f"measure {number}" for number in range(1, 14)])
    >>> print(explanation[1])  # doctest: +ELLIPSIS
    Cluster 1: measure ..., ... rows (...%)
      if measure ...precision ...%, coverage ...%
      ...
    """
    check_is_fitted(model)
    X = at_hand(X)
    fitted = Fitted(model, X, feature_names, named_by=names_from)
    return fitted.explanation if n_clusters is None else fitted.explained_by(layer_of(fitted, n_clusters))
