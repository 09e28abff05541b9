"""The fit of a consensus, from data in their views to what the estimator publishes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from jointclust import progress
from jointclust.consensus.agreement import Agreement, Panel, most_voted
from jointclust.consensus.column_roles import ColumnRoles, column_roles, warn_of_decisive
from jointclust.consensus.confidence import ConfidenceRule
from jointclust.consensus.embedding import DiscriminantMap
from jointclust.consensus.evidence import block_weights, evidence_of
from jointclust.consensus.judged import Judgement, Seen, judged
from jointclust.consensus.known_labels import Examples, rules_of
from jointclust.consensus.members import EFFORTS, Effort, first_leads, members_on, n_members_on
from jointclust.consensus.overrides import override_numbers, overrides_of
from jointclust.consensus.partitions import Partitions, shares_of
from jointclust.consensus.projection import Distinct, ViewProjection, n_landmarks
from jointclust.consensus.remote_votes import vote_on_all
from jointclust.consensus.training import Patterns, TrainingVotes, VotesInMemory
from jointclust.consensus.tree import Tree, tree_of
from jointclust.consensus.trust import Trust, n_refits, renumbered, trust_in
from jointclust.consensus.views import ViewedData
from jointclust.estimators.fitting import fit_member, training_labels
from jointclust.exceptions import CollapseWarning, collected, tell
from jointclust.numerics.diffusion import MANY
from jointclust.numerics.partitions import centers_of, cluster_order, cluster_sizes, keep
from jointclust.rows import as_rows, each, threads
from jointclust.rows.arrays import is_on_gpu, to_host
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Array, Float, Labels
from jointclust.views.blocks import BlockView

# A view whose agreement with the others is below this share of the largest shows something else: it gets no votes.
_LEAST_AGREEMENT = 0.3
# Restarts of the k-means that finds the partition of one view, to compare it with the others.
_RESTARTS = 6
_MAX_SEED = np.iinfo(np.int32).max


class Settings(NamedTuple):
    """The parameters of a fit; ``members`` is None for our own, with ``views`` of "auto" some may lose their votes."""

    n_clusters: int
    members: list[Any] | None
    effort: Effort
    views: str | list[Any] | dict[str, Any] | None
    reject_below: float
    n_jobs: int | None
    trust: bool

    @classmethod
    def of(cls, estimator: Any) -> Settings:
        """The parameters of an estimator, checked."""
        own = isinstance(estimator.members, str)
        if not own:
            _check_members(estimator.members)
        if not own and estimator.effort != "normal":
            raise ValueError(
                f"effort={estimator.effort!r} is for the automatic members: leave it at 'normal' with members of your "
                "own."
            )
        return cls(
            estimator.n_clusters,
            None if own else list(estimator.members),
            EFFORTS[estimator.effort],
            estimator.views,
            estimator.reject_below,
            estimator.n_jobs,
            estimator.trust,
        )

    def weighs_views_of(self, preparation: object) -> bool:
        """Whether the views beside this one were chosen by the data, so that some may lose their votes."""
        if isinstance(self.views, dict) and isinstance(preparation, BlockView):
            return isinstance(self.views.get(preparation.block, "auto"), str)
        return isinstance(self.views, str)

    def n_members(self, viewed: ViewedData, n_rows: int) -> int:
        """How many members a fit to this many rows has."""
        if self.members is not None:
            return len(viewed) * len(self.members)
        widths = viewed.widths
        n_distinct = [n_landmarks(n_rows, self.n_clusters, width) for width in widths]
        pairs = zip(n_distinct, widths, strict=True)
        return sum(n_members_on(self.n_clusters, number, width, self.effort) for number, width in pairs)


def _check_members(members: list[Any] | tuple[Any, ...]) -> None:
    if len(members) == 0:
        raise ValueError('members is empty: give at least one estimator, or "auto".')
    for member in members:
        if not (hasattr(member, "fit") and hasattr(member, "predict")):
            raise TypeError(f"members must be clusterers with fit and predict; got {member!r}.")


@dataclass(frozen=True, eq=False)
class FittedConsensus:
    """The result of a fit, by the names of the attributes that :class:`JointConsensus` publishes."""

    _agreement: Agreement
    _training: TrainingVotes
    _patterns: Patterns
    _seed: int  # for what is computed later: the tree, and the rows to label
    labels_: Labels
    outlier_scores_: Float
    cluster_centers_: Float
    objective_: float
    views_: list[dict[str, Any]]
    agreement_matrix_: Float
    agreement_: float
    members_: list[Any]
    _roles: ColumnRoles
    _judged: Judgement | None = None
    _trust: Trust | None = None
    _tree: Tree | None = None


@dataclass(frozen=True, eq=False)
class _Ballots:
    """The members with their labels of the rows: the panel, what each member calls its clusters, and the partitions."""

    panel: Panel
    names: list[NDArray]
    partitions: Partitions

    @classmethod
    def of(cls, panel: Panel, labels: NDArray, weights: Float | None, device: Any) -> _Ballots:
        """The members' labels, side by side, as codes from 0."""
        names, codes = _coded(labels)
        partitions = Partitions.of(codes, [one.size for one in names], weights)
        return cls(panel, names, replace(partitions, device=device))

    def some(self, wanted: NDArray[np.bool_], shares: Float) -> _Ballots:
        """Some of the members, by these shares."""
        names = [one for one, use in zip(self.names, wanted, strict=True) if use]
        return _Ballots(self.panel.some(wanted), names, self.partitions.some(wanted, shares))

    def led_by_first(self) -> _Ballots:
        """The same members, who vote on the partition of the first."""
        return replace(self, partitions=replace(self.partitions, proposal=self.partitions.codes[:, 0]))

    def joined_by(self, rules: list[Any], shares: list[float], viewed: ViewedData) -> _Ballots:
        """These members, of weight 1 all together, and a rule of some share for each used view."""
        added = Panel(self.panel.projections, rules, self.panel.used_views)
        names, codes = _coded(to_host(added.label(viewed.sources, scored=False)[0]))
        partitions = replace(
            self.partitions,
            codes=np.column_stack([self.partitions.codes, codes]),
            sizes=[*self.partitions.sizes, *(one.size for one in names)],
            shares=np.append(self.partitions.shares, shares) / (1 + sum(shares)),
        )
        return _Ballots(self.panel.joined_by(rules, added.views), [*self.names, *names], partitions)


def _coded(labels: NDArray) -> tuple[list[NDArray], NDArray[np.int32]]:
    """The distinct labels of each column, and their positions."""
    coded = [np.unique(column, return_inverse=True) for column in labels.T]
    return [names for names, _ in coded], np.column_stack([codes.ravel() for _, codes in coded]).astype(np.int32)


def fit_consensus(
    viewed: ViewedData,
    settings: Settings,
    n_known: int,
    sample: NDArray[np.intp],
    rng: np.random.RandomState,
    report: Callable[[], object],
    seen: Seen | None = None,
) -> FittedConsensus:
    """Fit members to a sample of the rows in each view, and find what they agree on for all rows.

    ``seen`` is the evidence in the sample, if it has been looked at.
    """
    looked_at, whole, viewed = viewed.looked_at, viewed, viewed.learned_from(sample)
    sample = sample if viewed is whole else np.arange(sample.size)
    panel, viewed, columns, seed, is_constant = _fit_panel(viewed, settings, sample, rng, report, viewed.workers_of)
    labels, scores = panel.label(viewed.sources, scored=True, labelled=columns is None)
    progress.advance("votes", 1, 3)
    remote, rng = viewed.remote, np.random.RandomState(seed)
    device = remote.rows if remote is not None and is_on_gpu(remote.rows) else None
    ballots = _Ballots.of(panel, to_host(labels) if columns is None else columns, viewed.weights, device)
    ballots, views = _weigh_views(ballots, viewed, settings, sample, rng)
    outlier_scores = to_host(scores)[:, ballots.panel.used_views].max(axis=1)
    voting = {view["block"] for view in views if "block" in view and view["weight"] > 0}
    if settings.members is None and first_leads(viewed.widths):
        ballots = ballots.led_by_first()
    if viewed.known is not None:
        ballots = _with_rules(ballots, viewed)
    partitions = ballots.partitions
    progress.advance("votes", 2, 3)
    leading = ballots.panel.leading(viewed.sources, sample)
    labels, votes = partitions.agreed(settings.n_clusters, rng, viewed.known, viewed.groups)
    order = _order_of(labels, leading, viewed.weights, sample, settings.n_clusters, n_known)
    votes = [table[:, order] for table in votes]
    agreement = Agreement(
        viewed.preparations, ballots.panel, ballots.names, votes, partitions.shares, n_known, None, _NO_RULE, _NO_MAP
    )
    codes = partitions.codes
    if viewed.known is not None or viewed.groups is not None:
        agreement, codes = _overridden(agreement, codes, viewed)
    patterns, index = Patterns.of(codes, viewed.weights)
    soft = agreement.soft_labels(patterns.codes)[index]
    agreement, centers = _with_embedding(agreement, leading, viewed.weights, sample, soft)
    judgement = None if is_constant else judged(viewed, sample, most_voted(soft), settings.n_clusters, seen)
    rule = _rule_of_votes(soft, outlier_scores, viewed.weights)
    agreement = replace(agreement, scale=rule if judgement is None else judgement.rule(rule))
    progress.advance("votes", 3, 3)
    trust = None
    if settings.trust and not is_constant:
        # A stream of its own: the labels are the same without it.
        weights = np.array([view["weight"] for view in views])
        trust = _trust_in(agreement, viewed, settings, soft, weights, np.random.RandomState([seed, 1]))
    matrix = partitions.agreement()
    _warn_of_collapse(is_constant, np.unique(soft.argmax(axis=1)).size, settings.n_clusters)
    fitted = FittedConsensus(
        agreement,
        VotesInMemory(patterns, index),
        patterns,
        seed,
        keep(agreement.labels(soft, outlier_scores, settings.reject_below), viewed.known),
        outlier_scores,
        centers,
        float(np.average(soft.max(axis=1), weights=viewed.weights)),
        views,
        matrix,
        _mean_agreement(matrix, partitions.sizes, settings.n_clusters),
        ballots.panel.members,
        column_roles(viewed.looked_at, most_voted(soft), voting),
        judgement,
        trust,
    )
    if remote is None:
        _warn_of_rejection(fitted.labels_, settings.reject_below)
        return _warned_of_decisive(fitted)
    vote = vote_on_all(agreement, remote, settings.reject_below, lambda final: tree_of(final, patterns, seed))
    order = vote.pop("order")
    _warn_of_rejection(vote["labels_"], settings.reject_below)
    numbers = np.argsort(order)
    fitted = replace(
        fitted,
        cluster_centers_=centers[order],
        _judged=None if judgement is None else judgement.renumbered(numbers, order.size),
        _trust=renumbered(trust, numbers, order.size),
        **vote,
    )
    if looked_at is not viewed.looked_at:  # all rows were looked at, and not the sample
        fitted = replace(fitted, _roles=column_roles(looked_at, fitted.labels_))
    return _warned_of_decisive(fitted)


def _warned_of_decisive(fitted: FittedConsensus) -> FittedConsensus:
    """The same, after a warning if one column decides."""
    if fitted._roles.decisive is not None:
        warn_of_decisive(fitted._roles.decisive)
    return fitted


def _trust_in(
    agreement: Agreement,
    viewed: ViewedData,
    settings: Settings,
    soft: Float,
    weights: Float,
    rng: np.random.RandomState,
) -> Trust | None:
    """What refits say of the clusters."""
    refits, begun = n_refits(settings.effort, settings.n_clusters, is_given=settings.members is not None), count()

    def fit_panel(half: ViewedData, effort: Effort) -> tuple[Panel, ViewedData, NDArray | None, int]:
        refit, everything = settings._replace(effort=effort), np.arange(half.n_samples)
        number, done, n_members = next(begun), count(1), refit.n_members(half, half.n_samples)

        def report() -> None:
            progress.advance("refits", number + min(next(done) / n_members, 1.0), refits)

        panel, half, columns, seed, _ = _fit_panel(half, refit, everything, rng, report, viewed.workers_of)
        return panel, half, columns, seed

    is_given = settings.members is not None
    return trust_in(viewed, agreement.panel, soft, refits, is_given, fit_panel, weights[weights > 0], rng)


def _warn_of_collapse(is_constant: bool, n_held: int, n_clusters: int) -> None:
    if is_constant:
        tell("All rows of X are equal (up to rounding): there is nothing to cluster.", CollapseWarning)
    elif n_held < n_clusters:
        tell(
            f"The members agree on {n_held} clusters instead of n_clusters={n_clusters}. Lower n_clusters.",
            CollapseWarning,
        )


def _warn_of_rejection(labels: Any, reject_below: float) -> None:
    """Say that every row was rejected."""
    if reject_below > 0 and not bool((labels >= 0).any()):
        tell(
            f"Every row is rejected: none has a confidence_ of reject_below={reject_below:g}. Lower it; "
            "cut(n_clusters) gives the clusters of all rows.",
            UserWarning,
        )


_NO_MAP = DiscriminantMap(np.empty(0), np.empty((0, 0)))
_NO_RULE = ConfidenceRule(np.empty(0), 1.0, np.empty(0))


def _rule_of_votes(soft: Float, scores: Float, weights: Float | None) -> ConfidenceRule:
    """The rule of the confidence by votes alone, by the rows that have weight."""
    present = slice(None) if weights is None else np.flatnonzero(weights)
    return ConfidenceRule.of_votes(most_voted(soft[present]), scores[present], soft.shape[1])


def _fit_panel(
    viewed: ViewedData,
    settings: Settings,
    sample: NDArray[np.intp],
    rng: np.random.RandomState,
    report: Callable[[], object],
    workers_of: Any,
) -> tuple[Panel, ViewedData, NDArray | None, int, bool]:
    """Fit the members on each view, by the Dask workers of some rows if these have any.

    Returns the panel, the data with their projections, the labels of given members, a seed, and whether all rows are
    equal.
    """
    projections, members, views, labels = list[ViewProjection](), list[Any](), list[int](), list[NDArray]()
    sources, seed, is_constant = list(viewed.sources), 0, True
    for view in range(len(viewed)):
        coordinates = viewed.coordinates(view, sample)
        is_constant &= coordinates.is_constant
        if settings.members is None:
            projection, landmarks = ViewProjection.fit(coordinates, settings.n_clusters, rng)
            seed = int(rng.randint(_MAX_SEED))
            new = _fit_own(projection, landmarks, coordinates, viewed, settings, rng, report, workers_of)
        else:
            new, columns, seed = _fit_given(settings, coordinates, rng, report, workers_of)
            projection, landmarks = ViewProjection.fit(coordinates, settings.n_clusters, rng)
            labels += columns
        if landmarks is not None and landmarks.mass.size == viewed.n_samples and viewed.remote is None:
            sources[view] = replace(sources[view], projected=landmarks.projected)
        projections.append(projection)
        members += new
        views += [view] * len(new)
    panel, viewed = Panel(projections, members, views), replace(viewed, sources=sources)
    return panel, viewed, np.column_stack(labels) if labels else None, seed, is_constant


def _fit_own(
    projection: ViewProjection,
    landmarks: Distinct | None,
    coordinates: Coordinates,
    viewed: ViewedData,
    settings: Settings,
    rng: np.random.RandomState,
    report: Callable[[], object],
    workers_of: Any,
) -> list[Any]:
    """Fit our own members on one view, on the device of remote rows if there is one."""
    Z, weights = projection.project(coordinates.rows.X).leading, coordinates.weights
    if viewed.remote is not None:
        Z, weights = viewed.remote.beside(Z), viewed.remote.beside(weights)
    n_clusters, effort, n_jobs = settings.n_clusters, settings.effort, settings.n_jobs
    with collected(), threads.suited_to(Z.shape[1], n_jobs):
        return members_on(projection, landmarks, Z, weights, n_clusters, effort, rng, n_jobs, report, workers_of)


def _fit_given(
    settings: Settings,
    coordinates: Coordinates,
    rng: np.random.RandomState,
    report: Callable[[], object],
    workers_of: Any,
) -> tuple[list[Any], list[NDArray], int]:
    """Fit clones of the given estimators on one view: with their labels, and a seed."""
    unfitted, rows = [clone(member) for member in settings.members or []], coordinates.rows.X
    seeds, n_jobs = rng.randint(_MAX_SEED, size=len(unfitted) + 1), settings.n_jobs

    def fit(index: int) -> Any:
        return fit_member(unfitted[index], rows, coordinates, coordinates.weights, int(seeds[index]))

    # The others outvote a member that errs; agreement_ shows how they differ.
    with collected(), threads.suited_to(coordinates.rank, n_jobs):
        fitted = each(fit, len(unfitted), n_jobs, workers_of, lambda _: report())
    return fitted, [training_labels(member, rows) for member in fitted], int(seeds[-1])


def _weigh_views(
    ballots: _Ballots, viewed: ViewedData, settings: Settings, sample: NDArray[np.intp], rng: np.random.RandomState
) -> tuple[_Ballots, list[dict[str, Any]]]:
    """The members of the views that agree with others, and what each view is, weighs and stands for.

    Views of a block that vote have equal weights, each spread over its members. Blocks weigh what they show.
    """
    view, n_views, blocks = np.array(ballots.panel.views), len(viewed), viewed.blocks
    weights, reasons = np.empty(n_views), viewed.reasons
    for block in np.unique(blocks):
        own = np.flatnonzero(blocks == block)
        agreement = np.ones(own.size)
        if settings.weighs_views_of(viewed.preparations[own[0]]) and own.size > 2:
            agreement = _agreement_of_views(ballots.partitions, view, own, viewed.weights, settings.n_clusters, rng)
            for number, value in zip(own.tolist(), agreement.tolist(), strict=True):
                reasons[number] += f"; agreement with the other views {value:.2f}"
        kept = agreement >= min(_LEAST_AGREEMENT * agreement.max(), agreement.max())  # which may be negative
        weights[own] = kept / kept.sum()
    if blocks[-1] > 0:
        evidence = evidence_of(viewed, sample, settings.n_clusters)
        of_blocks = block_weights(evidence)
        texts = [f"; clusters that two methods find in the block {value:.2f} (0 is chance)" for value in evidence]
        texts = [text if votes else f"{text}: no votes" for text, votes in zip(texts, of_blocks > 0, strict=True)]
        weights *= of_blocks[blocks]
        reasons = [reason + texts[block] for reason, block in zip(reasons, blocks.tolist(), strict=True)]
    views = [
        {"name": name, "weight": float(weight), "reason": reason} | _named_block(preparation)
        for name, weight, reason, preparation in zip(viewed.names, weights, reasons, viewed.preparations, strict=True)
    ]
    kept = weights > 0
    shares = shares_of(view, weights)
    return ballots.some(kept[view], shares[kept[view]]), views


def _agreement_of_views(
    partitions: Partitions,
    view: NDArray[np.intp],
    own: NDArray[np.intp],
    row_weights: Float | None,
    n_clusters: int,
    rng: np.random.RandomState,
) -> Float:
    """The mean adjusted Rand index of what the members of each view agree on with that of others of the block.

    Of many clusters, the first member of each view stands for all of them.
    """
    if n_clusters > MANY:
        each = [partitions.codes[:, np.argmax(view == number)] for number in own]
    else:
        each = [partitions.some(view == number).agreed(n_clusters, rng, n_restarts=_RESTARTS)[0] for number in own]
    between = Partitions.of(np.column_stack(each), [n_clusters] * own.size, row_weights).agreement()
    return (between.sum(axis=1) - 1) / (own.size - 1)


def _named_block(preparation: object) -> dict[str, str]:
    return {"block": preparation.block} if isinstance(preparation, BlockView) else {}


def _with_rules(ballots: _Ballots, viewed: ViewedData) -> _Ballots:
    """The members joined by linear rules that are learned from the known labels, one on each used view."""
    known: Any = viewed.known
    index = None if viewed.groups is None else to_host(viewed.groups.index)
    examples = Examples.of(known, viewed.weights, index)
    projected = ballots.panel.project(viewed.sources, examples.rows).values()
    leading = [(one.projection, to_host(one.leading)) for one in projected]
    rules, shares = rules_of(examples, ballots.partitions, leading)
    return ballots.joined_by(rules, shares, viewed) if rules else ballots


def _overridden(agreement: Agreement, codes: NDArray, viewed: ViewedData) -> tuple[Agreement, NDArray]:
    """The agreement with the overrides of known labels and groups, and the codes with their numbers beside."""
    groups, n_known = viewed.groups, agreement.n_known
    votes = None if groups is None else groups.means(agreement.soft_labels(codes))
    index = None if groups is None else groups.index
    numbers = override_numbers(viewed.known, index, n_known)
    overrides, is_known = overrides_of(n_known, agreement.n_clusters, viewed.known, index, votes)
    agreement = replace(agreement, overrides=overrides, known_overrides=is_known)
    return agreement, np.column_stack((codes, to_host(numbers))).astype(np.int32)


def _order_of(
    labels: Labels, leading: Array, weights: Float | None, sample: NDArray[np.intp], n_clusters: int, n_known: int
) -> NDArray[np.intp]:
    """The order of clusters by size; equal ones by their rows in the views, as the votes may not tell them apart."""
    here = as_rows(leading).here
    present = None if weights is None else here(weights[sample])
    centers = centers_of(leading, here(labels[sample]), n_clusters, present)
    return cluster_order(cluster_sizes(labels, n_clusters, weights), centers, n_known)


def _with_embedding(
    agreement: Agreement, leading: Array, weights: Float | None, sample: NDArray[np.intp], soft: Float
) -> tuple[Agreement, Float]:
    """The agreement with its embedding, and the cluster means there, from a sample in the views' leading directions."""
    here = as_rows(leading).here
    present = None if weights is None else here(weights[sample])
    labels = here(most_voted(soft)[sample])
    embedding = DiscriminantMap.fit(leading, labels, agreement.n_clusters, present)
    return replace(agreement, embedding=embedding), centers_of(
        embedding(leading), labels, agreement.n_clusters, present
    )


def _mean_agreement(matrix: Float, sizes: list[int], n_clusters: int) -> float:
    """The mean over pairs of members with the wanted number of clusters; finer ones differ by design."""
    alike = np.array([size <= n_clusters for size in sizes])
    alike |= alike.sum() < 2
    pairs = matrix[np.ix_(alike, alike)][np.triu_indices(alike.sum(), 1)]
    return float(pairs.mean()) if pairs.size else 1.0
