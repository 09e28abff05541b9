"""JointConsensus: the partition that members on several views agree on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, clone
from sklearn.utils import ClassifierTags, Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from jointclust import progress
from jointclust._sklearn import CallbackSupportMixin, Interval, StrOptions, fit_context
from jointclust.consensus import questions
from jointclust.consensus.agreement import Agreement, in_parts
from jointclust.consensus.column_roles import ColumnRoles, columns_with_roles
from jointclust.consensus.fitting import FittedConsensus, Settings, fit_consensus
from jointclust.consensus.judged import (
    Judgement,
    LayersJudged,
    Seen,
    SeenAgain,
    judged_again,
    layers_judged,
    seen_again,
)
from jointclust.consensus.kept_rows import KeptRows
from jointclust.consensus.matching import Before, before_of
from jointclust.consensus.members import EFFORTS
from jointclust.consensus.projection import n_values
from jointclust.consensus.remote import RemoteRows
from jointclust.consensus.renumbering import numbered_like, remembering
from jointclust.consensus.stages import stage_weights
from jointclust.consensus.training import Patterns, TrainingVotes, VotesElsewhere, VotesNotKept
from jointclust.consensus.tree import (
    LayerAgreement,
    Tree,
    check_layer,
    leaves_of,
    linkage_of,
    tree_of,
)
from jointclust.consensus.trust import Trust
from jointclust.consensus.updating import updated
from jointclust.consensus.verdict import Verdict, leading_column, missing_share, verdict
from jointclust.consensus.views import MOST_ROWS, ViewedData, ViewRows, check_views, most_rows, without_value
from jointclust.estimators.base import TakesRows, check_n_clusters
from jointclust.estimators.known import check_place, known_beside
from jointclust.estimators.tasks import begin, part_reporter
from jointclust.exceptions import Notice, tell
from jointclust.judge.judge import the_judge
from jointclust.judge.number import ClusterNumber
from jointclust.numerics.partitions import centers_of, looked_up
from jointclust.rows import as_rows, computed, each_row, is_elsewhere, loaded, threads
from jointclust.rows.arrays import is_sparse, to_host, whole_numbers
from jointclust.subspace.coordinates import Coordinates, fingerprint_of
from jointclust.types import Float, Labels, Predictor
from jointclust.views.columns import BESIDE, EITHER
from jointclust.views.kinds import Description, listed
from jointclust.views.preparation import Preparation, describe_empty

# A layer is supported if its predicted agreement is less than that of coarser ones by at most this.
_ABOUT = 0.02
# What is computed when it is first read, and holds until the next fit.
_READ = "_predicted", "_number", "_seen"
# Models of more training rows are saved without the votes of each.
SAVED_ROWS = 50_000


@dataclass(eq=False, repr=False)
class JointConsensus(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, TakesRows):
    r"""The partition that many fits on several views of the data agree on.

    .. math:: B = [\sqrt{w_1} L_1, \dots, \sqrt{w_M} L_M], \quad L_m = F_m (F_m'F_m)^{-1/2}, \quad
              B = U\, \mathrm{diag}(s)\, V'

    ======== =============================================================================
    symbol   meaning
    ======== =============================================================================
    F_m      one-hot labels of member m
    w_m      its weight: each view that votes has the same, spread over its members
    M        number of members
    U s      leading singular vectors of B but the first, which is constant
    ======== =============================================================================

    ``BB'`` is the mean of the members' projections on their partitions, in which rows are near each other that most
    members put together; it is never formed. k-means in the leading singular vectors (rows of nearly one length)
    proposes clusters. Then every member votes: a row's probability for a cluster is the mean, over the members, of the
    share of the cluster's rows that the row's cluster in that member holds, made to sum to one; the label is the
    largest. The members' own ``predict`` gives the votes of new rows.

    On each view there are ten members: LDA k-means and spectral clustering of the neighbour graph, with ``n_clusters``
    clusters and with 1.5, 2 and 3 times as many. A finer partition shows which rows belong together.

    Rows of two or three columns have one view and six other members, because density can be seen there: a mixture of
    Gaussian distributions where it describes the density as well as the nearest neighbours do, otherwise the parts
    between wide gaps, otherwise a spanning tree of the rows cut where that tells most of them. The members vote on the
    first of these that fits; three split its clusters, two are other cuts of spanning trees.

    Known labels spread to other rows over ``BB'``: a row gets the label that most rows in its cluster have, in the mean
    over the members. A linear rule for each view, learned from the known rows, joins the members: it has more weight
    the more rows are known, and the better it predicts known labels that were left out of its fit. Then all members
    vote as before. Where there are more clusters than known classes, k-means proposes the others.

    A dict of blocks with the same rows, by name, holds several sources: each has views of its own. A block votes where
    LDA k-means of one half of the rows and the neighbour graph of the other half find the same clusters in it, of some
    number up to ``n_clusters``, more than in Gaussian rows of the same covariance: by at least two fifths of what they
    do in the block where that is most. Blocks that vote have equal weights, however many columns and views they have.

    With more than 10,000 rows the members are fitted to a sample of 10,000 (20 for each of more than 500 clusters), and
    vote on all rows. With rows outside memory the views and the votes are learned from that sample, too, and one pass
    votes on all rows, where they are. With more than 200 clusters there are no finer partitions.

    Parameters
    ----------
    n_clusters
    views : "auto", None, list of str or transformers, or dict, default="auto"
        What is done to the data before the members see them. "auto" describes them (:func:`describe`), codes categories
        and dates, fills gaps, and uses the views that suit their kind; a view that agrees with none of
        the others has no votes. None takes rows of numbers as they are, as for Coordinates. A list holds names of views
        ("as is", "standardised", "rank-normal", "unit rows", "tf-idf", "topics", "log") and transformers. Of blocks, a
        dict has these by the name of the block.
    columns : "related", "all", list of str, or dict, default="related"
        The columns of a table by which rows are compared: those that depend on each other (a column that is independent
        of all others tells nothing of clusters that several columns show), all, or these; ``["related", "city"]`` is
        the first and city. ``columns_`` says which and why. Columns of one scale, such as pixels, genes or embeddings,
        are all used, and so are two or three columns of numbers. Of blocks, a dict has these by the name of the block.
    members : "auto" or list of estimators, default="auto"
        Clusterers with ``predict``, which run on every view; each is cloned, with a seed of its own where it has
        ``random_state=None``. "auto" are those above.
    effort : {"quick", "normal", "thorough"}, default="normal"
        How much the automatic members cost. "quick" fits six on each view, from one start each and to 3,000
        rows at the most; "thorough" fits each of the ten three times, from other seeds, to 20,000 rows, for three
        times the cost. In two or three columns "quick" fits three, and "thorough" tries more starts.
    reject_below : float, default=0.0
        Rows of less ``confidence_`` than this have the label -1, in ``labels_`` and in ``predict``.
    trust : bool, default=False
        Whether to measure how far refits on other rows find the clusters again: ``reproducibility_`` and
        ``cluster_reproducibility_``. It takes less than nine tenths of the time of the rest of the fit, and changes
        nothing else: ``verdict_`` and ``confidence_`` need no refits.
    max_rank, random_state
    n_jobs : int, default=None
        Threads over which the members are spread. The result does not depend on it.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of each row, 0 being the largest; equal to ``predict`` of the training data, except for rows with a
        known label or in a group. This and all other results for each row are where the rows are: on their device, with
        Dask, or in memory.
    classes_ : array of shape (n_classes,)
        The known classes, which are clusters 0, 1, ...; only with ``known_labels``.
    soft_labels_ : array of shape (n_samples, n_clusters)
        The members' votes; equal to ``predict_proba`` of the training data.
    confidence_ : array of shape (n_samples,)
        The probability that the row is in the right cluster, 0 to 1, as rows of planted clusters teach (the clusters
        found are matched one to one with the planted ones). It is a function of the votes for the row, of the predicted
        agreement, and of how far halves of the rows find its cluster; near 0 for rows that are far away, by the spread
        of their own cluster; that of a guess, ``1 / n_clusters``, for rows without any value.
    predicted_agreement_ : float
        The agreement (adjusted Rand index, 0 to 1) of the clusters with the true ones that is expected; of one cluster,
        the probability that there are no clusters. See :func:`jointclust.number_of_clusters`.
    n_clusters_ : int
        How many clusters hold rows.
    number_ : ClusterNumber
        What the data say of the number of clusters; where the number was given, it is computed when it is first read,
        from the rows that the model keeps.
    reproducibility_ : float
        Only with ``trust=True``: how far refits on other rows find the same clusters, 0 to 1. Each is fitted to half of
        the rows (of a sample of 3,000, or of 40 for each cluster) and labels the other half: the mean adjusted Rand
        index there.
    cluster_reproducibility_ : array of shape (n_clusters,)
        Only with ``trust=True``: the same for each cluster, the mean Jaccard index with the cluster that an optimal
        assignment gives it.
    verdict_ : Verdict
        How sure the clusters are: ``level`` ("sure", "fairly sure" or "not sure") and ``reasons``, sentences; see
        :class:`jointclust.consensus.verdict.Verdict` for the thresholds.
    outlier_scores_ : array of shape (n_samples,)
        Distance to the fifth-nearest landmark, in units of its median, in the view where that is largest: large for
        rows unlike any other; NaN for rows without any value.
    agreement_ : float
        How alike the members are: the mean adjusted Rand index over the pairs of members that have ``n_clusters``
        clusters. Members that differ may well agree on clusters that are found again: see ``reproducibility_``.
    agreement_matrix_ : array of shape (n_members, n_members)
        The adjusted Rand index of each pair.
    layers_ : list of dict
        Nested partitions, coarse to fine, made when first needed: ``n_clusters``, ``labels``, ``agreement``,
        the mean adjusted Rand index with the members, by their weights; ``predicted_agreement`` with the true clusters;
        and ``split``: whether the split that makes the layer of the one before is "supported", because the predicted
        agreement is about as high as that of every coarser layer or higher, or "doubtful"; clusters of the fit that are
        sure are never doubtful. Coarser ones join the clusters of ``labels_``, finer ones split them, up to four times
        as many; none rejects rows.
    changes_ : list of dict
        What has become of the clusters of an earlier model, only with ``like``: ``kind`` ("kept", "split", "merged",
        "new" or "gone"), ``clusters`` (their numbers here), ``before`` (their numbers there), ``share`` and ``rows``
        here, ``share_before`` of the rows of that model, and ``text``, a sentence. A cluster is the same if the two
        share most of either's rows, by what the model predicts for them. A number of a cluster that is gone stays free:
        no row has it, and ``predict_proba`` and ``cluster_centers_`` have zeros there, so that column i is always
        cluster i.
    cluster_names_ : dict of int to str
        Names of clusters that were kept from an earlier model, only with ``like`` a model that has this; set it to name
        clusters: ``{one.cluster: one.name for one in jc.explain(model, X)}``.
    members_ : list
        The fitted members, each with ``predict`` for rows of its view (:meth:`prepared`).
    views_ : list of dict
        ``name``, ``weight`` and ``reason`` of each view; of blocks the name of the ``block``, too.
    description_ : Description or None
        What the data are, and why; None where they were taken as they are.
    columns_ : list of dict
        ``name``, ``kind``, ``used``, ``related`` (how far it depends on others, in standard deviations of what chance
        gives; NaN if it was not tested), ``why`` (a sentence) and ``drives`` (0 to 1: how far it separates the
        clusters; NaN if unknown) of each column; empty where the rows were taken as they are.
    cluster_centers_
    objective_ : float
        Share of the members' votes that went to the labels given.

    Examples
    --------
    >>> import jointclust as jc
    >>> wine = jc.datasets.load("wine")
    >>> model = jc.JointConsensus(3, random_state=0).fit(wine.data)
    >>> round(jc.metrics.clustering_accuracy(wine.target, model.labels_), 1)
    1.0
    >>> [view["name"] for view in model.views_]
    ['standardised', 'rank-normal', 'as is']
    """

    _limits: ClassVar[dict[str, list[Any]]] = {
        "members": [StrOptions({"auto"}), list, tuple],
        "views": [StrOptions({"auto"}), list, tuple, dict, None],
        "columns": [StrOptions({"related", "all"}), list, tuple, dict],
        "effort": [StrOptions(set(EFFORTS))],
        "reject_below": [Interval(Real, 0, 1, closed="both")],
        "trust": ["boolean"],
    }

    n_clusters: int = 8
    _: KW_ONLY
    views: str | list[Any] | dict[str, Any] | None = "auto"
    columns: str | list[Any] | dict[str, Any] = "related"
    members: str | list[Any] = "auto"
    effort: str = "normal"
    reject_below: float = 0.0
    trust: bool = False
    max_rank: int = 500
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None

    # -- fit ----------------------------------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: ArrayLike | Coordinates,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        known_labels: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        like: Predictor | None = None,
    ) -> Self:
        """Fit the members and find what they agree on.

        Parameters
        ----------
        X : array, sparse matrix, data frame, list of str, AnnData, dict of these, or Coordinates
            The data: numbers, with ``views`` also categories, booleans, dates, gaps and text; in memory, in a file
            (memory map, HDF5, Zarr), on a device (torch, CuPy) or with Dask (arrays, data frames); a dict of blocks
            with the same rows, in memory, by name; or the coordinates of rows from :func:`jointclust.decompose`.
        y : ignored
            There are no labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, for the members that take them and for the consensus.
        known_labels : array-like of shape (n_samples,), optional
            Names or numbers that are known of some rows; -1, None, NaN or such text is unknown. A row keeps its label,
            whatever ``predict`` gives; class ``classes_[i]`` is cluster i, and further clusters follow.
        groups : array-like of shape (n_samples,), optional
            Rows of a group get one label, by the sum of their votes; None or NaN is a row by itself. A known label of
            one row is that of its group. The rows have to lie in memory, or on a device.
        like : fitted model with ``predict``, optional
            An earlier model of such rows, last month's for one. Clusters that are those of that model have its numbers,
            others have numbers that it did not have; ``changes_`` says which is which. Nothing else depends on it: the
            clusters are those that the rows show.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        rng = check_random_state(self.random_state)
        before = before_of(like, X, sample_weight, known_labels)
        viewed, classes = self._view(X, sample_weight, rng, known_labels, groups)
        return self._fit_viewed(viewed, rng, classes, before)

    @fit_context(prefer_skip_nested_validation=False)
    def fit_transform(self, X: ArrayLike | Coordinates, y: object = None, **options: Any) -> Float:
        """Fit, and embed the training rows without preparing them again.

        Parameters
        ----------
        X : array, sparse matrix, data frame, list of str, AnnData, or Coordinates
            The data, as :meth:`fit` takes them.
        y : ignored
            There are no labels.
        **options : dict
            What else :meth:`fit` takes.

        Returns
        -------
        Y : array of shape (n_samples, n_components)
            What :meth:`transform` gives for the data.
        """
        rng = check_random_state(self.random_state)
        names = ("sample_weight", "known_labels", "groups", "like")
        weights, known_labels, groups, like = (options.pop(name, None) for name in names)
        if options:
            raise TypeError(f"fit_transform takes X, y, {', '.join(names)}; got {', '.join(options)}.")
        before = before_of(like, X, weights, known_labels)
        viewed, classes = self._view(X, weights, rng, known_labels, groups)
        self._fit_viewed(viewed, rng, classes, before)
        return self._agreement.embed(viewed.sources) if viewed.remote is None else self.transform(X)  # type: ignore[arg-type]

    def update(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Add rows without starting over: refresh the rows that the model keeps, and fit the members to these.

        A model keeps a random sample of all rows that it has seen, 10,000 at the most, fewer if they are wide. New rows
        take the places of others, so that each row of all batches is as likely to be kept as any other: the members are
        fitted as to a sample of all rows so far. Memory does not grow with the number of batches. Clusters keep their
        numbers as with ``like`` (see :meth:`fit`), and their number stays ``n_clusters``.

        Parameters
        ----------
        X : array, sparse matrix, data frame, list of str or AnnData
            A batch of new rows in memory, with the columns of fit.
        y : ignored
            There are no labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        self : object
            The model; ``labels_`` and all other results for each row are those of the new rows, ``changes_`` says what
            has become of the clusters. An error leaves the model as it was.

        Examples
        --------
        >>> import jointclust as jc
        >>> X, y = jc.datasets.mixture(n_samples=600, n_features=20, n_clusters=3, random_state=0)
        >>> model = jc.JointConsensus(3, random_state=0).fit(X[:300])
        >>> model.update(X[300:]).labels_.shape
        (300,)
        """
        check_is_fitted(self)
        fitted = updated(self, X, sample_weight)
        self.__dict__ = _unfitted(self) | fitted
        return self

    def _view(
        self,
        X: Any,
        sample_weight: ArrayLike | None,
        rng: np.random.RandomState,
        known_labels: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> tuple[ViewedData, NDArray | None]:
        """The data in each view, or a sample of data outside memory; and the known classes."""
        X = loaded(X)
        check_place(groups, X)
        if not is_elsewhere(X):
            viewed = self._in_views(X, sample_weight)
            rows = as_rows(viewed.sources[0].rows)
            known, row_groups, classes = known_beside(self.n_clusters, known_labels, groups, rows, viewed.weights)
            kept = KeptRows.of(X.rows.X if isinstance(X, Coordinates) else X, viewed.weights, viewed.n_samples)
            known = None if known is None else to_host(known)
            fingerprint = fingerprint_of(X)
            return replace(viewed, known=known, groups=row_groups, kept=kept, fingerprint=fingerprint), classes
        remote = RemoteRows.of(X, sample_weight)
        rows = as_rows(remote.rows)
        known, row_groups, classes = known_beside(self.n_clusters, known_labels, groups, rows, remote.weights)
        remote = replace(remote, known=known, groups=row_groups)
        some, weights, labels = remote.sample(most_rows(self.n_clusters, EFFORTS[self.effort].share), rng)
        viewed = self._in_views(some, weights, remote).as_sample_of(remote)
        kept = KeptRows.of(some, weights, remote.n_samples)
        viewed = replace(viewed, known=labels, kept=kept, fingerprint=remote.fingerprint)
        return viewed.on_device_of(remote) if isinstance(self.members, str) else viewed, classes

    def _in_views(self, X: Any, sample_weight: ArrayLike | None, sample_of: RemoteRows | None = None) -> ViewedData:
        """Data in memory in each view; ``sample_of`` are all rows if they are a sample."""
        if isinstance(X, Coordinates):
            if sample_weight is not None:
                raise ValueError("sample_weight belongs to the coordinates: pass it to decompose instead of fit.")
            if X.rows.is_remote or X.rows.device is not None:
                raise TypeError(f"{type(self).__name__} takes coordinates of rows in memory: pass the rows themselves.")
            return ViewedData.of_coordinates(X)
        check_views(self.views)
        if self.views is None and not isinstance(self.columns, str):
            raise ValueError("columns is for data in views: with views=None, pass only the columns that are wanted.")
        viewed = ViewedData.of(X, self.views, sample_weight, self.max_rank, sample_of, self.columns)
        unused = "" if viewed.description is None else describe_unused(viewed.description)
        if unused:
            tell(unused, Notice)
        return viewed

    @fit_context(prefer_skip_nested_validation=False)
    def _fit_viewed(
        self,
        viewed: ViewedData,
        rng: np.random.RandomState,
        classes: NDArray | None = None,
        before: Before | None = None,
        seen: Seen | None = None,
    ) -> Self:
        """Fit data that are in their views; publish the result when all of it is there.

        ``seen`` is the evidence in the sample that the fit draws, if it has been looked at.
        """
        check_n_clusters(self.n_clusters, viewed.n_samples, viewed.weights)
        settings = Settings.of(self)
        sample = np.arange(viewed.n_samples)
        if settings.members is None:
            sample = viewed.sample(rng, most_rows(settings.n_clusters, settings.effort.share))
        n_members = settings.n_members(viewed, sample.size)
        context = begin(self, n_members)
        progress.advance("views", 1)
        progress.plan(stage_weights(settings, viewed, sample.size))
        tell_callbacks = part_reporter(self, context, "member")

        def report() -> None:
            progress.advance("members", tell_callbacks() + 1, n_members)

        n_known = 0 if classes is None else len(classes)
        with threads.suited_to(max(one.rows.shape[1] for one in viewed.sources)):
            fitted = fit_consensus(viewed, settings, n_known, sample, rng, report, seen)
        more: dict[str, Any] = {"_kept": viewed.kept, "_fingerprint": viewed.fingerprint}
        if before is not None:
            fitted, more["changes_"] = numbered_like(before, fitted)
            more["cluster_names_"] = before.names_of(more["changes_"])
            more["_kept"] = remembering(before, fitted, more["changes_"], viewed.kept)
        self._publish(fitted, viewed, classes, more)
        context.call_on_fit_task_end(estimator=self)
        return self

    def _publish(
        self, fitted: FittedConsensus, viewed: ViewedData, classes: NDArray | None, more: dict[str, Any]
    ) -> None:
        """Replace all fitted attributes at once."""
        first = viewed.preparations[0]
        optional = {name: getattr(first, name, None) for name in ("n_features_in_", "feature_names_in_")}
        optional |= {"classes_": classes, **more}
        present = {name: value for name, value in optional.items() if value is not None}
        self.__dict__ = _unfitted(self) | vars(fitted) | {"description_": viewed.description} | present

    # -- the training rows --------------------------------------------------------------------------------------

    _agreement: Agreement = field(init=False)
    _training: TrainingVotes = field(init=False)
    _patterns: Patterns | None = field(init=False)
    _judged: Judgement | None = field(init=False)
    _predicted: LayersJudged | None = field(init=False)
    _number: ClusterNumber = field(init=False)
    _seen: SeenAgain | None = field(init=False)
    _trust: Trust | None = field(init=False)
    _tree: Tree | None = field(init=False)
    _seed: int = field(init=False)
    _roles: ColumnRoles = field(init=False)
    _kept: KeptRows | None = field(init=False)
    _fingerprint: str | None = field(init=False)
    description_: Description | None = field(init=False)
    labels_: Labels = field(init=False)
    outlier_scores_: Float = field(init=False)
    members_: list[Any] = field(init=False)
    cluster_centers_: Float = field(init=False)

    @property
    def soft_labels_(self) -> Float:
        """The members' votes for each training row."""
        check_is_fitted(self)
        return self._training.soft_labels(self._agreement)

    @property
    def probabilities_(self) -> Float:
        """``soft_labels_`` under the name that BERTopic uses."""
        return self.soft_labels_

    @property
    def confidence_(self) -> Float:
        """The probability that each training row is in the right cluster."""
        check_is_fitted(self)
        return self._training.confidence(self._agreement, lambda: self.outlier_scores_)

    @property
    def reproducibility_(self) -> float:
        """How far refits on other rows find the same clusters."""
        return _measured(self, "reproducibility_").reproducibility

    @property
    def cluster_reproducibility_(self) -> Float:
        """How far refits on other rows find each cluster."""
        return _measured(self, "cluster_reproducibility_").of_clusters

    @property
    def n_clusters_(self) -> int:
        """How many clusters hold rows."""
        check_is_fitted(self)
        return self._agreement.n_held

    @property
    def _judgement(self) -> Judgement | None:
        """What the judge says of the clusters: of the fit; of others, from the kept rows when it is first needed."""
        check_is_fitted(self)
        if "_judged" not in vars(self):
            again = _seen_by(self)
            self._judged = None if again is None else judged_again(self._agreement, again)
        return self._judged

    @property
    def predicted_agreement_(self) -> float:
        """The agreement with the true clusters that is expected of these."""
        judgement = self._judgement
        if judgement is None:
            raise AttributeError(
                "predicted_agreement_ is not known: all rows are equal, or the model keeps no rows (it is of version "
                "0.2 or earlier)."
            )
        return judgement.agreement

    @property
    def number_(self) -> ClusterNumber:
        """What the data say of the number of clusters."""
        check_is_fitted(self)
        if "number_" in vars(self):
            return vars(self)["number_"]
        if "_number" not in vars(self):
            again = _seen_by(self)
            if again is None:
                raise AttributeError("number_ is not known: the model keeps no rows (it is of version 0.2 or earlier).")
            try:
                self._number = again.number()
            except ValueError as error:
                raise AttributeError(f"number_ is not known: {error}") from error
        return self._number

    @number_.setter
    def number_(self, value: ClusterNumber) -> None:
        self.__dict__["number_"] = value

    @property
    def verdict_(self) -> Verdict:
        """How sure the clusters are, with the reasons."""
        trust: Trust | None = vars(self).get("_trust")
        return verdict(
            self._judgement,
            self._agreement.n_held,
            int(self.labels_.shape[0]),
            reproducibility=None if trust is None else trust.reproducibility,
            number=vars(self).get("number_"),
            decisive_column=self._roles.decisive or leading_column(self.columns_),
            missing=missing_share(self.description_),
        )

    def score(self, X: Any, y: object = None) -> float:
        """The agreement with the true clusters that is expected of these clusters on rows.

        Parameters
        ----------
        X : array, sparse matrix, data frame, list of str or AnnData
            Rows in memory, like those of fit.
        y : ignored
            There are no labels.

        Returns
        -------
        score : float
            From 0 to 1.
        """
        check_is_fitted(self)
        judgement = judged_again(self._agreement, seen_again(self._agreement, self.max_rank, X, None))
        return 0.0 if judgement is None else judgement.agreement

    @property
    def columns_(self) -> list[dict[str, Any]]:
        """What each column of the data is, whether it is used, and how far it separates the clusters."""
        check_is_fitted(self)
        return columns_with_roles(self.description_, self._roles)

    def groups_of_members(self) -> NDArray[np.int32]:
        """The cluster of each training row in each member.

        Returns
        -------
        groups : array of shape (n_samples, n_members)
            Numbers from 0; no columns if the model was saved without them.
        """
        check_is_fitted(self)
        return self._training.codes(len(self.members_))

    def rows_to_label(self, n: int) -> NDArray[np.intp]:
        """The most informative rows to label, best first: spread over the data, and where the members disagree.

        Parameters
        ----------
        n : int
            How many rows.

        Returns
        -------
        rows : array of shape (n,)
            Their numbers; none is a row whose label was known.

        Examples
        --------
        >>> import jointclust as jc
        >>> wine = jc.datasets.load("wine")
        >>> model = jc.JointConsensus(3, random_state=0).fit(wine.data)
        >>> len(set(wine.target[model.rows_to_label(6)]))
        3
        """
        check_is_fitted(self)
        rng = np.random.RandomState(self._seed)
        return questions.rows_to_label(self._agreement, self._training, self.labels_.shape[0], n, rng)

    # -- layers -------------------------------------------------------------------------------------------------

    def _layers(self) -> Tree:
        """The tree of the layers, made when it is first needed."""
        check_is_fitted(self)
        if self._tree is None:
            if self._patterns is None:
                raise AttributeError(
                    "This model is of version 0.1, which kept nothing to make layers from. Fit it again."
                )
            self._tree = tree_of(self._agreement, self._patterns, self._seed)
        return self._tree

    @property
    def layers_(self) -> list[dict[str, Any]]:
        """Nested partitions of the training rows, coarse to fine."""
        tree, agreement = self._layers(), self._agreement
        leaves = self._training.leaves_by(lambda codes: leaves_of(agreement, tree, codes))
        return [
            {
                "n_clusters": number,
                "labels": looked_up(tree.labels(number), leaves),
                "agreement": float(tree.agreement[number - 1]),
                **self._split(number),
            }
            for number in range(1, tree.n_leaves + 1)
        ]

    def _split(self, n_clusters: int) -> dict[str, Any]:
        """What is predicted of a layer, and whether that supports the split that makes it of the one before."""
        if "_predicted" not in vars(self):
            of, again = (self._agreement, self._layers()), _seen_by(self)
            self._predicted = None if again is None else layers_judged(*of, again, self._judgement)
        predicted = None if self._predicted is None else self._predicted.predicted
        if predicted is None or not 1 < n_clusters <= predicted.size:
            return {"predicted_agreement": None, "split": None}
        # Than all of them: of many splits each may lose little. Clusters of the fit that are sure are not doubtful.
        least = predicted[: n_clusters - 1].max() - _ABOUT
        if n_clusters == self._agreement.n_held and np.isfinite(least):
            least = min(least, the_judge().limits[2])
        is_supported = predicted[n_clusters - 1] >= least
        return {
            "predicted_agreement": float(predicted[n_clusters - 1]),
            "split": "supported" if is_supported else "doubtful",
        }

    def cut(self, n_clusters: int) -> Labels:
        """Labels of the training rows in the layer of this many clusters; no row is rejected.

        Parameters
        ----------
        n_clusters : int
            From 1 to four times ``n_clusters``.

        Returns
        -------
        labels : array of shape (n_samples,)
            Cluster of each row; parts of the same cluster of ``labels_`` have consecutive numbers.

        Examples
        --------
        >>> import jointclust as jc
        >>> wine = jc.datasets.load("wine")
        >>> model = jc.JointConsensus(2, random_state=0).fit(wine.data)
        >>> jc.metrics.clustering_accuracy(wine.target, model.cut(3)) > 0.9
        True
        """
        tree, agreement = self._layers(), self._agreement
        labels = tree.labels(check_layer(tree, n_clusters))
        return looked_up(labels, self._training.leaves_by(lambda codes: leaves_of(agreement, tree, codes)))

    def _at_layer(self, n_clusters: int, X: Any) -> JointConsensus:
        """A model with the clusters of a layer, in the order of :meth:`cut`; X are the training rows."""
        tree, labels = self._layers(), self.cut(n_clusters)
        if self._patterns is None:
            raise AttributeError(
                f"This model of {labels.shape[0]:,} training rows is of an older version, which kept no votes: cut(k) "
                "gives the labels of a layer, and a fit with n_clusters=k a model."
            )
        agreement = LayerAgreement.of(self._agreement, tree, n_clusters, self._patterns)
        model = clone(self).set_params(n_clusters=n_clusters)
        left_out = {"_agreement", "_tree", "_judged", "_trust", "_predicted", "number_", *self._get_param_names()}
        left_out |= {"labels_", "cluster_centers_", "classes_"}
        model.__dict__ |= {name: value for name, value in vars(self).items() if name not in left_out}
        places = to_host(self.transform(X))
        kept = None if self._kept is None else replace(self._kept, numbers=None)
        model.__dict__ |= {"_agreement": agreement, "_tree": None, "labels_": labels, "_kept": kept}
        # What was measured of other clusters does not hold for these.
        model._roles = ColumnRoles(np.full_like(self._roles.drives, np.nan), None)
        model.cluster_centers_ = centers_of(places, to_host(labels), agreement.n_clusters)
        if isinstance(self._training, VotesElsewhere):
            model._training = replace(self._training, row_confidence=model.confidence(X))
        elif isinstance(self._training, VotesNotKept):
            model._training = VotesNotKept(labels.shape[0], model.confidence(X), _leaves_anew(model, X))
        return model

    def linkage(self, n_clusters: int | None = None) -> Float:
        """The tree of the layers, as SciPy's ``linkage`` gives trees.

        Parameters
        ----------
        n_clusters : int, optional
            Number of clusters of the layer whose clusters are the leaves; the finest layer if not given.

        Returns
        -------
        linkage : array of shape (n_clusters - 1, 4)
            Each join: the two nodes, its height (the share of the finest layer's information on the members' clusters
            that is lost there, 1 at the root), and the number of leaves.
        """
        return linkage_of(self._layers(), n_clusters)

    # -- other rows ---------------------------------------------------------------------------------------------

    @property
    def preparations(self) -> list[Any]:
        """The transformer that prepares rows for each view."""
        check_is_fitted(self)
        return self._agreement.preparations

    def prepared(self, X: Any) -> list[Any]:
        """Rows as the members see them, one matrix for each view.

        Parameters
        ----------
        X : array, sparse matrix, data frame, list of str or AnnData
            Data like those of fit.

        Returns
        -------
        rows : list of arrays or sparse matrices
            One for each of ``views_``.
        """
        check_is_fitted(self)
        return [source.take(slice(None)) for source in self._agreement.sources(X)]

    def _everywhere(
        self, function: Callable[[Agreement, Any], Any], X: Any, *, tail: tuple[int, ...] = (), dtype: type
    ) -> Any:
        """A function of rows in memory for rows wherever they are; with Dask it is computed later."""
        check_is_fitted(self)
        X = loaded(X)
        if not is_elsewhere(X):
            has_numbers = is_sparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub")
            if has_numbers and X.shape[1] != getattr(self, "n_features_in_", X.shape[1]):
                validate_data(self, X, skip_check_array=True, reset=False)  # refuses them
            return function(self._agreement, X)
        first = self._agreement.preparations[0]
        if hasattr(self, "n_features_in_") and not (isinstance(first, Preparation) and first.lacks_unused(X)):
            named = getattr(X, "_meta", X) if hasattr(X, "columns") else X
            validate_data(self, named, skip_check_array=True, reset=False)
        return each_row(_OfBlocks(self._agreement, function), X, tail, dtype, n_values(X))

    def predict_proba(self, X: ArrayLike) -> Float:
        """The members' votes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or dict of blocks
            New rows, as those of fit.

        Returns
        -------
        probabilities : array of shape (n_samples, n_clusters)
            Not negative, each row summing to 1.
        """
        check_is_fitted(self)
        return self._everywhere(_probabilities, X, tail=(self._agreement.n_clusters,), dtype=np.float64)

    def predict(self, X: ArrayLike, n_clusters: int | None = None) -> Labels:
        """The cluster with most votes; -1 for rows of less confidence than ``reject_below``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or dict of blocks
            New rows, as those of fit.
        n_clusters : int, optional
            Number of clusters of the layer to take the clusters from (see :meth:`cut`); no row is rejected there.

        Returns
        -------
        labels : array of shape (n_samples,)
            Cluster of each row.
        """
        check_is_fitted(self)
        if n_clusters is None:
            return self._everywhere(partial(_labels, reject_below=self.reject_below), X, dtype=np.int32)
        tree = self._layers()
        labels = tree.labels(check_layer(tree, n_clusters))
        return self._everywhere(partial(_layer_labels, tree=tree, label_of_leaf=labels), X, dtype=np.int32)

    def predict_with_confidence(self, X: ArrayLike) -> tuple[Labels, Float]:
        """:meth:`predict` and :meth:`confidence` at the cost of one of them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or dict of blocks
            New rows, as those of fit.

        Returns
        -------
        labels : array of shape (n_samples,)
            Cluster of each row.
        confidence : array of shape (n_samples,)
            From 0 to 1.
        """
        judged = self._everywhere(partial(_judged, reject_below=self.reject_below), X, tail=(3,), dtype=np.float64)
        return whole_numbers(judged[:, 0]), judged[:, 1]

    def confidence(self, X: ArrayLike) -> Float:
        """The probability that rows are in the right cluster: see ``confidence_``, which follows the same rule.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or dict of blocks
            New rows, as those of fit.

        Returns
        -------
        confidence : array of shape (n_samples,)
            From 0 to 1.
        """
        return self.predict_with_confidence(X)[1]

    def transform(self, X: ArrayLike) -> Float:
        """Rows in the directions in which the clusters differ most, relative to the spread within them, over all views.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or dict of blocks
            New rows, as those of fit.

        Returns
        -------
        Y : array of shape (n_samples, n_components)
            ``n_clusters - 1`` columns, two at least; the spread within clusters is about 1 in each.
        """
        return self._everywhere(_embed, X, tail=(self._n_features_out,), dtype=np.float64)

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return self.cluster_centers_.shape[1]

    # -- scikit-learn -------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """The state to save: no arrays of Dask, and for very many rows no votes of each."""
        state = dict(super().__getstate__())
        for name in _READ:
            state.pop(name, None)
        if "_training" not in state:
            return state
        state["_training"] = self._training.with_arrays(lambda value: computed(value, "confidence_"))
        n_samples = self.labels_.shape[0]
        if n_samples > SAVED_ROWS:
            leaves = getattr(state["_training"], "leaves", None)
            if self._patterns is not None:  # rows still have layers, and layers votes
                tree, agreement = self._layers(), self._agreement
                leaves = self._training.leaves_by(lambda codes: leaves_of(agreement, tree, codes))
                state["_tree"], leaves = tree, to_host(computed(leaves, "layers_")).astype(np.uint16)
                state["_patterns"] = self._patterns.some(
                    leaves_of(agreement, tree, self._patterns.codes), MOST_ROWS, np.random.RandomState(self._seed)
                )
            state["_training"] = VotesNotKept(n_samples, None, leaves)
            state.pop("outlier_scores_", None)
        return state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = isinstance(self.members, str)
        tags.input_tags.allow_nan = tags.input_tags.string = self.views is not None
        # scikit-learn's checks require it of estimators with predict_proba, and then expect two columns or four.
        tags.classifier_tags = ClassifierTags(multi_class=self.n_clusters > 2)
        return tags


def _unfitted(model: JointConsensus) -> dict[str, Any]:
    """What a model has besides what its fit left."""
    return {name: value for name, value in vars(model).items() if not name.endswith("_") and name not in _READ}


def _seen_by(model: JointConsensus) -> SeenAgain | None:
    """What a model sees in the rows that it keeps, looked at when first needed; None if it keeps none.

    Not what the fit saw: of many rows that is another sample, and a saved model has to say the same.
    """
    if "_seen" not in vars(model):
        kept: KeptRows | None = vars(model).get("_kept")
        of = model._agreement, model.max_rank
        model._seen = None if kept is None else seen_again(*of, kept.rows, kept.weights)
    return model._seen


def _measured(model: JointConsensus, name: str) -> Trust:
    """What refits said of the clusters."""
    check_is_fitted(model)
    trust = vars(model).get("_trust")
    if trust is None:
        raise AttributeError(
            f"{name} was not measured: fit with trust=True, at least two rows for each cluster that are not all equal."
        )
    return trust


def _leaves_anew(model: JointConsensus, X: Any) -> Labels:
    """The leaf of each training row by the votes for it; of a row of known class, one of its cluster's."""
    tree, labels = model._layers(), to_host(model.labels_)
    leaves, numbers = to_host(computed(model.predict(X, tree.n_leaves), "layers_")), tree.labels(model.n_clusters)
    first = np.zeros(numbers.max() + 1, np.intp)
    first[numbers[::-1]] = np.arange(numbers.size)[::-1]
    return np.where(numbers[leaves] == labels, leaves, first[labels])


def _sources(agreement: Agreement, X: Any) -> list[ViewRows]:
    """New rows in each view, after a warning that counts those without any value."""
    sources = agreement.sources(X)
    is_empty = without_value([sources[view] for view in agreement.panel.used_views])
    if is_empty is not None:
        tell(describe_empty(is_empty), UserWarning)
    return sources


def _judged(agreement: Agreement, X: Any, reject_below: float) -> Float:
    return agreement.judge_rows(_sources(agreement, X), reject_below)


def _probabilities(agreement: Agreement, X: Any) -> Float:
    return in_parts(lambda part: agreement.soft_labels(agreement.codes(part)[0]), _sources(agreement, X))


def _labels(agreement: Agreement, X: Any, reject_below: float) -> Labels:
    def of_part(part: list[ViewRows]) -> Labels:
        codes, scores = agreement.codes(part, scored=reject_below > 0)
        return agreement.labels(agreement.soft_labels(codes), scores, reject_below)

    return in_parts(of_part, _sources(agreement, X))


def _layer_labels(agreement: Agreement, X: Any, tree: Tree, label_of_leaf: Labels) -> Labels:
    def of_part(part: list[ViewRows]) -> Labels:
        return leaves_of(agreement, tree, to_host(agreement.codes(part)[0]))

    return label_of_leaf[in_parts(of_part, _sources(agreement, X))]


def _embed(agreement: Agreement, X: Any) -> Float:
    return agreement.embed(agreement.sources(X))


class _OfBlocks:
    """A function of an agreement and rows, for blocks of rows wherever they are; Dask sends it to its workers."""

    def __init__(self, agreement: Agreement, function: Callable[[Agreement, Any], Any]):
        self.agreement, self.function = agreement, function

    def __call__(self, block: Any) -> NDArray:
        return self.function(self.agreement, self.agreement.reachable(block))


def describe_unused(description: Description) -> str:
    """Which columns are not used: ids, long text beside other columns, empty ones, unrelated ones."""
    if description.kind == "documents":
        return ""
    unused = description.left_out
    sentences = [f"{listed(unused)} left out: ids, long text or empty (see description_)"] if unused else []
    for reason in description.reasons:
        if BESIDE in reason or EITHER in reason or reason in description.unrelated:
            sentences.append(reason)
    return f"{'. '.join(sentences)}." if sentences else ""
