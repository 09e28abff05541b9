"""Measures of a partition of rows that need no labels.

A measure is a function of the rows and a partition of them, free of units, chance and row order. What measures tell of
the agreement with a truth is learned elsewhere: here nothing is weighed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.csgraph import connected_components

from jointclust.numerics.communities import communities, community_tree, joined, shared_neighbor_graph
from jointclust.numerics.graph import neighbors
from jointclust.types import Float, Labels

# Rows that are measured; directions of all views together; the share of the variance that these keep.
MOST_ROWS, _DIRECTIONS, _VARIANCE = 800, 40, 0.95
# Directions that are kept in any case: a cluster far from all others may be most of the variance.
FEWEST_DIRECTIONS = 10
# Fewest rows of a part of the graph of rows that are among each other's nearest.
_OF_A_PART = 5
# Rows, and columns, that are compared with rows without clusters.
_NULL_ROWS, _NULL_COLUMNS = 400, 500
# A value farther from the median of its direction than so many usual deviations counts as so far.
_FARTHEST = 6.0
# Neighbours in the graph; resolutions at which communities are counted, and that of the small ones that are joined.
_NEIGHBORS, RESOLUTIONS, _FINE = 10, (0.15, 0.4, 1.0), 2.0
# A community that counts: rows, share of the rows.
_FEWEST, _SHARE = 4, 0.005
# Iterations of k-means and of LDA k-means after it, and the ridge in units of the mean variance.
_LLOYD, _DISCRIMINANT, _RIDGE = 5, 3, 0.1
# Directions, and rows that a cluster's own spread is averaged with, in the mixture.
_MIXTURE_DIRECTIONS, _SHARED_ROWS = 8, 5.0
# Most clusters that own spreads are fitted to, and iterations.
_MOST_SPREADS, _SPREADING = 24, 3
# Fewest rows of a cluster whose valleys are measured; a valley is deep from here on.
_FEW, _DEEP = 3, 0.3
_LEAST = 1e-9

GLOBAL = (
    "log rows",
    "log directions",
    "log effective directions",
    "repeated rows",
    *(f"log communities {one}" for one in RESOLUTIONS),
    "log parts",
    "rows in parts",
    "modularity",
    "modularity of some rows",
    "modularity beyond Gaussian rows",
    "modularity beyond independent columns",
    "communities beyond Gaussian rows",
    "communities beyond independent columns",
    "heavy tails",
)
MEASURES = (
    "log number",
    *(f"log number per community {one}" for one in RESOLUTIONS),
    *(f"agreement with communities {one}" for one in RESOLUTIONS),
    "agreement with communities",
    "links inside",
    "least links inside",
    "silhouette",
    "explained",
    "explained beyond the null",
    "halves agree, k-means",
    "halves agree, LDA k-means",
    "halves find it",
    "half tells the other",
    "agreement with k-means",
    "agreement with LDA k-means",
    "agreement with joined communities",
    "agreement with own spreads",
    "agreement with parts",
    "views tell it",
    "least telling view",
    "least valley",
    "median valley",
    "deep valleys",
    "least distance",
    "median distance",
    "smallest share",
    "share of the smaller half",
    "tiny clusters",
    "evenness",
    "mixture beyond one",
)


class Rule(NamedTuple):
    """The nearest center in some metric: ``argmax(Z @ directions - offsets)``."""

    directions: Float
    offsets: Float

    def label(self, Z: Float) -> Labels:
        """The cluster of each row."""
        return (Z @ self.directions - self.offsets).argmax(axis=1).astype(np.int32)


def sums(Z: Float, labels: Labels, k: int, weights: Float | None) -> tuple[Float, Float]:
    """Means and sizes of clusters."""
    member = (labels == np.arange(k)[:, None]).astype(np.float64)
    if weights is not None:
        member *= weights
    sizes = member.sum(axis=1)
    return member @ Z / np.maximum(sizes, _LEAST)[:, None], sizes


def rand_index(one: Labels, other: Labels) -> float:
    """The adjusted Rand index."""
    shape = int(one.max()) + 1, int(other.max()) + 1
    table = np.bincount(one.astype(np.intp) * shape[1] + other, minlength=shape[0] * shape[1]).astype(np.float64)
    table = table.reshape(shape)
    n = table.sum()
    both, first, second = (np.sum(part * part) for part in (table, table.sum(axis=1), table.sum(axis=0)))
    pairs = n * n - n
    if pairs <= 0:
        return 1.0
    both, first, second = both - n, first - n, second - n
    expected, most = first * second / pairs, (first + second) / 2
    return 1.0 if most - expected <= 1e-12 * max(most, 1.0) else float((both - expected) / (most - expected))


@dataclass(frozen=True, eq=False)
class _Part:
    """Some rows (all, or a half), and their partitions into any number of clusters."""

    Z: Float
    weights: Float | None

    @cached_property
    def tree(self) -> Float:
        """Ward's tree."""
        return linkage(self.Z, "ward")

    @cached_property
    def total(self) -> Float:
        """The scatter of the rows, with a ridge."""
        Z = self.Z if self.weights is None else self.Z * np.sqrt(self.weights)[:, None]
        total = Z.T @ Z
        total[np.diag_indices(len(total))] += _RIDGE * np.trace(total) / len(total) + _LEAST
        return total

    def means(self, k: int) -> Labels:
        """k-means from Ward's clusters."""
        labels = fcluster(self.tree, k, "maxclust").astype(np.int32) - 1
        for _ in range(_LLOYD):
            centers, sizes = sums(self.Z, labels, k, self.weights)
            before, labels = labels, nearest(centers, sizes).label(self.Z)
            if np.array_equal(before, labels):
                break
        return labels

    def discriminant(self, labels: Labels, k: int) -> tuple[Labels, Rule, Float, Float]:
        """LDA k-means from labels: new labels, the rule that gives them, and the centers and sizes behind it."""
        for _ in range(_DISCRIMINANT):
            centers, sizes = sums(self.Z, labels, k, self.weights)
            within = self.total - (sizes[:, None] * centers).T @ centers
            directions = np.linalg.solve(within, centers.T).astype(np.float64, copy=False)
            offsets = np.where(sizes > 0, 0.5 * np.einsum("kd,dk->k", centers, directions), np.inf)
            rule = Rule(directions, offsets)
            before, labels = labels, rule.label(self.Z)
            if np.array_equal(before, labels):
                break
        return labels, rule, centers, sizes


def nearest(centers: Float, sizes: Float) -> Rule:
    """The nearest center; never an empty cluster's."""
    return Rule(centers.T, np.where(sizes > 0, 0.5 * np.sum(centers**2, axis=1), np.inf))


class _OfNumber(NamedTuple):
    """What the rows say of a number of clusters, whatever the partition."""

    means: Labels
    discriminant: Labels
    joined: Labels
    own_spreads: Labels
    of_halves: tuple[Labels, Labels]  # LDA k-means of each half, as it labels all rows
    agree: tuple[float, float]  # two halves, by k-means and LDA k-means
    null: float  # explained variance of rows without clusters


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rows of all views side by side, and what measures of partitions need of them.

    Attributes
    ----------
    Z : array of shape (n_rows, n_directions)
        The rows in the leading directions of all views together, in an order that depends on the data alone.
    weights : array of shape (n_rows,) or None
        Their weights.
    views : tuple of arrays of shape (n_rows, n_directions)
        The rows in each view, if there are several.
    columns : array of shape (n_some, n_columns) or None
        Some of the rows in the columns of the first view.
    """

    Z: Float
    weights: Float | None = None
    views: tuple[Float, ...] = ()
    columns: Float | None = None
    _numbers: dict[int, _OfNumber] = field(default_factory=dict)
    _measured: dict[int, Float] = field(default_factory=dict)

    @classmethod
    def of(cls, views: list[Float], weights: Float | None = None, columns: Float | None = None) -> Evidence:
        """The evidence in views, each a matrix of the same rows, which all count the same.

        ``columns`` are the rows of :meth:`compared` as they are in the first view.
        """
        parts = [_limited(Z - Z.mean(axis=0)) for Z in views]
        parts = [Z / max(np.sqrt(Z.var(axis=0).sum()), _LEAST) for Z in parts]
        Z = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
        Z = Z - Z.mean(axis=0)
        values, vectors = np.linalg.eigh(Z.T @ Z / len(Z)) if Z.shape[1] <= len(Z) else _wide(Z)
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
        kept = int(np.searchsorted(np.cumsum(values), _VARIANCE * values.sum())) + 1
        Z = np.ascontiguousarray(Z @ vectors[:, : min(max(kept, FEWEST_DIRECTIONS), _DIRECTIONS)])
        if weights is not None and np.ptp(weights) <= 1e-12 * max(float(weights.max()), _LEAST):
            weights = None
        own = tuple(part[:, :_DIRECTIONS] for part in parts) if len(parts) > 1 else ()
        return cls(Z, None if weights is None else weights / weights.mean(), own, columns)

    @property
    def n_rows(self) -> int:
        return len(self.Z)

    @cached_property
    def _whole(self) -> _Part:
        return _Part(self.Z, self.weights)

    @cached_property
    def _views(self) -> list[_Part]:
        return [_Part(Z, self.weights) for Z in self.views]

    @cached_property
    def halves(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Two halves of the rows, drawn once for all."""
        order = np.random.RandomState(0).permutation(self.n_rows)
        return np.sort(order[: self.n_rows // 2]), np.sort(order[self.n_rows // 2 :])

    @cached_property
    def _halves(self) -> list[_Part]:
        return [_Part(self.Z[own], None if self.weights is None else self.weights[own]) for own in self.halves]

    @cached_property
    def _nearest(self) -> NDArray[np.intp]:
        return neighbors(self.Z, self.Z, min(_NEIGHBORS + 1, self.n_rows))

    @cached_property
    def graph(self) -> sp.csr_array:
        """The links of rows that share nearest rows."""
        return shared_neighbor_graph(self._nearest)

    @cached_property
    def _parts(self) -> Labels:
        """The part of the graph of rows that are among each other's nearest, -1 in small parts: gaps lie between."""
        index, n = self._nearest, self.n_rows
        starts = np.arange(0, index.size + 1, index.shape[1])
        links = sp.csr_array((np.ones(index.size), index.ravel(), starts), shape=(n, n))
        labels = connected_components(links.multiply(links.T), directed=False)[1]
        return np.where(np.bincount(labels)[labels] >= _OF_A_PART, labels, -1).astype(np.int32)

    @cached_property
    def _communities(self) -> list[Labels]:
        return [communities(self.graph, resolution) for resolution in RESOLUTIONS]

    @cached_property
    def _counts(self) -> Float:
        return np.array([_count(one) for one in self._communities])

    @cached_property
    def _fine(self) -> tuple[Labels, list[tuple[int, int]]]:
        return community_tree(self.graph, _FINE)

    @cached_property
    def _null_part(self) -> _Part:
        """Gaussian rows of the same covariance: no clusters."""
        shape = max(self.n_rows // 2, 2), self.Z.shape[1]
        Z = np.random.RandomState(1).standard_normal(shape) * self.Z.std(axis=0)
        return _Part(Z - Z.mean(axis=0), None)

    def _beyond_nulls(self) -> list[float]:
        """How clear the communities of some rows are, beyond those of rows without clusters.

        These are Gaussian rows of the same covariance, and rows with the same columns, each in an order of its own.
        """
        rng = np.random.RandomState(2)
        some = self.Z[compared(self.n_rows)]
        clear, count = _clearness(some)
        nulls = [rng.standard_normal(some.shape) * some.std(axis=0)]
        if self.columns is not None:
            order = rng.random_sample(self.columns.shape).argsort(axis=0)
            nulls.append(_leading(np.take_along_axis(self.columns, order, axis=0)))
        found = [_clearness(one) for one in nulls]
        found = [found[0], found[-1]]
        return [clear, *(clear - one for one, _ in found), *(np.log(count / other) for _, other in found)]

    @cached_property
    def of_data(self) -> Float:
        """What the rows are, whatever the partition: :data:`GLOBAL`."""
        variances = self.Z.var(axis=0)
        middle = self._communities[len(RESOLUTIONS) // 2]
        distinct = len(np.unique(np.round(self.Z, 9), axis=0))
        deviations = self.Z / np.maximum(np.sqrt(variances), _LEAST)
        tails = np.average(np.mean(deviations**4, axis=0), weights=variances + _LEAST)
        return np.array(
            [
                np.log(self.n_rows),
                np.log(self.Z.shape[1]),
                np.log(variances.sum() ** 2 / np.sum(variances**2)),
                1 - distinct / self.n_rows,
                *np.log(self._counts),
                np.log(max(np.unique(self._parts[self._parts >= 0]).size, 1)),
                np.mean(self._parts >= 0),
                _modularity(self.graph, middle),
                *self._beyond_nulls(),
                np.log(tails),
            ]
        )

    def joined(self, k: int) -> Labels:
        """Small communities joined until there are so many; fewer if there are not as many."""
        labels, joins = self._fine
        first = np.arange(int(labels.max()) + 1)
        for one, other in joins[: max(first.size - k, 0)]:
            first[first == other] = one
        return np.unique(first[labels], return_inverse=True)[1].ravel().astype(np.int32)

    def of_number(self, k: int) -> _OfNumber:
        """What the rows say of a number of clusters, computed once."""
        if k not in self._numbers:
            means = self._whole.means(k)
            discriminant = self._whole.discriminant(means, k)[0]
            starts = [half.means(min(k, len(half.Z))) for half in self._halves]
            learned = [
                half.discriminant(start, min(k, len(half.Z))) for half, start in zip(self._halves, starts, strict=True)
            ]
            plain = [
                nearest(*sums(half.Z, start, int(start.max()) + 1, half.weights)).label(self.Z)
                for half, start in zip(self._halves, starts, strict=True)
            ]
            own = [one[1].label(self.Z) for one in learned]
            agree = rand_index(*plain), rand_index(*own)
            null = _explained(self._null_part.Z, self._null_part.means(min(k, len(self._null_part.Z))), k, None)
            spread = own_spreads(self.Z, means, k) if k <= _MOST_SPREADS else means
            self._numbers[k] = _OfNumber(means, discriminant, self.joined(k), spread, (own[0], own[1]), agree, null)
        return self._numbers[k]

    def candidate(self, k: int) -> Labels:
        """The partition into so many clusters that agrees best with the others."""
        of = self.of_number(k)
        three = of.means, of.discriminant, of.joined
        pairs = [rand_index(three[a], three[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
        return three[int(np.argmax([pairs[0] + pairs[1], pairs[0] + pairs[2], pairs[1] + pairs[2]]))]

    def measures_of_number(self, k: int) -> Float:
        """The measures of the candidate of a number, computed once."""
        if k not in self._measured:
            self._measured[k] = self.measures(self.candidate(k))
        return self._measured[k]

    def found_by_halves(self, labels: Labels, k: int) -> Float:
        """Of each cluster, the Jaccard index with its best match among those that a half finds, on the other half."""
        of, found = self.of_number(max(_present(labels), 2)), np.zeros((2, k))
        for turn, other in enumerate(reversed(self.halves)):
            mine, theirs = labels[other].astype(np.intp), of.of_halves[turn][other]
            n_theirs = int(theirs.max()) + 1
            table = np.bincount(mine * n_theirs + theirs, minlength=k * n_theirs).reshape(k, n_theirs)
            union = table.sum(axis=1)[:, None] + table.sum(axis=0) - table
            found[turn] = (table / np.maximum(union, 1.0)).max(axis=1)
        return found.mean(axis=0)

    def measures(self, labels: Labels) -> Float:
        """The measures of a partition: :data:`MEASURES`."""
        labels = np.unique(labels, return_inverse=True)[1].ravel().astype(np.int32)
        k, n = int(labels.max()) + 1, self.n_rows
        of = self.of_number(max(k, 2))
        agreements = [rand_index(one, labels) for one in self._communities]
        inside, least = _links_inside(self.graph, labels, k)
        explained = _explained(self.Z, labels, k, self.weights)
        told, valleys, distances, gains = [], list[Float](), list[Float](), []
        for half, own, other in zip(self._halves, self.halves, reversed(self.halves), strict=True):
            names, codes = np.unique(labels[own], return_inverse=True)
            start = codes.ravel().astype(np.int32)
            again, rule, centers, sizes = half.discriminant(start, names.size)
            predicted = rule.label(self.Z[other])
            told.append(rand_index(labels[other], predicted))
            valley, distance = _valleys(half, again, centers, sizes, rule, self.Z[other], predicted)
            valleys.append(valley)
            distances.append(distance)
            gains.append(_mixture_gain(half.Z, start, self.Z[other]))
        valley, distance = np.concatenate(valleys), np.concatenate(distances)
        shares = np.sort(sums(self.Z[:, :1], labels, k, self.weights)[1]) / n
        found = [
            rand_index(labels[one], own[one]) for own, one in zip(of.of_halves, reversed(self.halves), strict=True)
        ]
        views = [rand_index(labels, view.discriminant(labels, k)[0]) for view in self._views or [self._whole]]
        entropy = -np.sum(shares * np.log(np.maximum(shares, _LEAST)))
        return np.array(
            [
                np.log(k),
                *(np.log(k) - np.log(self._counts)),
                *agreements,
                max(agreements),
                inside,
                least,
                _silhouette(self.Z, labels, k, self.weights),
                explained,
                np.log((1 - of.null + 1e-3) / (1 - explained + 1e-3)),
                *of.agree,
                np.mean(found),
                np.mean(told),
                rand_index(labels, of.means),
                rand_index(labels, of.discriminant),
                rand_index(labels, of.joined),
                rand_index(labels, of.own_spreads),
                rand_index(labels, self._parts + 1),
                np.mean(views),
                min(views),
                valley.min(),
                np.median(valley),
                np.mean(valley > _DEEP),
                distance.min(),
                np.median(distance),
                shares[0],
                shares[: max(1, k // 2)].sum(),
                np.mean(shares * n < _FEW),
                entropy / max(np.log(k), _LEAST) if k > 1 else 1.0,
                np.mean(gains),
            ]
        )


def compared(n_rows: int) -> NDArray[np.intp]:
    """The rows that are compared with rows without clusters."""
    if n_rows <= _NULL_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.RandomState(3).choice(n_rows, _NULL_ROWS, replace=False))


def some_columns(n_columns: int) -> NDArray[np.intp]:
    """The columns whose values are put in other orders."""
    if n_columns <= _NULL_COLUMNS:
        return np.arange(n_columns)
    return np.sort(np.random.RandomState(4).choice(n_columns, _NULL_COLUMNS, replace=False))


def _leading(X: Float) -> Float:
    """Rows in their leading principal directions."""
    X = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(X.T @ X) if X.shape[1] <= len(X) else _wide(X)
    values = np.maximum(values[::-1], 0.0)
    kept = int(np.searchsorted(np.cumsum(values), _VARIANCE * values.sum())) + 1
    return X @ vectors[:, ::-1][:, : min(kept, _DIRECTIONS)]


def _clearness(Z: Float) -> tuple[float, int]:
    """The modularity of the communities of rows, and their number."""
    graph = _graph(Z)
    labels = communities(graph, RESOLUTIONS[len(RESOLUTIONS) // 2])
    return _modularity(graph, labels), _count(labels)


def own_spreads(Z: Float, labels: Labels, k: int) -> Labels:
    """Clusters with covariances of their own, in the leading directions: a row goes where it is most likely."""
    Z = Z[:, :_MIXTURE_DIRECTIONS]
    n, q = Z.shape
    for _ in range(_SPREADING):
        centers, sizes = sums(Z, labels, k, None)
        rest = Z - centers[labels]
        pooled = rest.T @ rest / n
        pooled[np.diag_indices(q)] += 1e-3 * np.trace(pooled) / q + _LEAST
        member = (labels == np.arange(k)[:, None]).astype(np.float64)
        own = np.stack([(rest * one[:, None]).T @ rest for one in member])
        own = (own + (q + _SHARED_ROWS) * pooled) / (sizes + q + _SHARED_ROWS)[:, None, None]
        factor = np.linalg.inv(np.linalg.cholesky(own))
        shift = np.einsum("kij,kj->ki", factor, centers)
        squares = np.stack([np.sum((Z @ one.T - move) ** 2, axis=1) for one, move in zip(factor, shift, strict=True)])
        logs = 2 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1) + 2 * np.log(np.maximum(sizes, _LEAST))
        before, labels = labels, (logs[:, None] - squares).argmax(axis=0).astype(np.int32)
        if np.array_equal(before, labels):
            break
    return labels


def _present(labels: Labels) -> int:
    return int(np.unique(labels).size)


def _limited(Z: Float) -> Float:
    """Rows with values far from all others brought near: a few of them would be most of the variance."""
    low, middle, high = np.quantile(Z, [0.1, 0.5, 0.9], axis=0)
    spread = (high - low) / 2.56
    reach = np.where(spread > 0, _FARTHEST * spread, np.inf)
    return np.clip(Z, middle - reach, middle + reach)


def _wide(Z: Float) -> tuple[Float, Float]:
    """Eigenvalues and vectors of the covariance of rows of more columns than there are rows, ascending."""
    _, s, right = np.linalg.svd(Z, full_matrices=False)
    return s[::-1] ** 2 / len(Z), right[::-1].T


def _graph(Z: Float) -> sp.csr_array:
    Z = np.ascontiguousarray(Z)
    return shared_neighbor_graph(neighbors(Z, Z, min(_NEIGHBORS + 1, len(Z))))


def _count(labels: Labels) -> int:
    return max(int(np.sum(np.bincount(labels) >= max(_FEWEST, _SHARE * labels.size))), 1)


def _modularity(graph: sp.csr_array, labels: Labels) -> float:
    return _links_inside(graph, labels, int(labels.max()) + 1)[0]


def _links_inside(graph: sp.csr_array, labels: Labels, k: int) -> tuple[float, float]:
    """The modularity of a partition, and the least share of a cluster's links that stay inside."""
    links = joined(graph, labels) if k > 1 else None
    if links is None:
        return 0.0, 1.0
    strength = np.asarray(links.sum(axis=1)).ravel()
    total = float(strength.sum())
    if total <= 0:
        return 0.0, 0.0
    inside = links.diagonal()
    return float(inside.sum() / total - np.sum((strength / total) ** 2)), float(
        np.min(inside / np.maximum(strength, _LEAST))
    )


def _explained(Z: Float, labels: Labels, k: int, weights: Float | None) -> float:
    """The share of the variance that is between clusters."""
    centers, sizes = sums(Z, labels, k, weights)
    total = float(np.sum(Z**2)) if weights is None else float(np.sum(weights[:, None] * Z**2))
    return float(np.sum(sizes[:, None] * centers**2) / max(total, _LEAST))


def _silhouette(Z: Float, labels: Labels, k: int, weights: Float | None) -> float:
    """By how much the nearest other center is farther than a row's own, over the larger of the two."""
    if k < 2:
        return 0.0
    centers, _ = sums(Z, labels, k, weights)
    squares = np.maximum(np.sum(Z**2, axis=1)[:, None] - 2 * Z @ centers.T + np.sum(centers**2, axis=1), 0.0)
    place = np.arange(len(Z))
    own = np.sqrt(squares[place, labels])
    squares[place, labels] = np.inf
    other = np.sqrt(squares.min(axis=1))
    return float(np.average((other - own) / np.maximum(np.maximum(own, other), _LEAST), weights=weights))


def _valleys(
    half: _Part, labels: Labels, centers: Float, sizes: Float, rule: Rule, Z: Float, predicted: Labels
) -> tuple[Float, Float]:
    r"""Of each cluster of a half and the nearest one, the valley between them on rows of the other half.

    .. math:: \log \frac{\min(n_a, n_b)}{n_m}

    with the numbers of rows n in the sixths about the two centers and about the middle between them, in the direction
    that discriminates; and the distance of the centers there, in standard deviations within.
    """
    present = np.flatnonzero(sizes >= _FEW)
    if present.size < 2:
        return np.zeros(1), np.zeros(1)
    own, directions = centers[present], rule.directions[:, present]
    between = own @ directions
    squares = np.diag(between)[:, None] + np.diag(between) - between - between.T
    np.fill_diagonal(squares, np.inf)
    near = squares.argmin(axis=1)
    projected = Z @ directions
    place = np.full(sizes.size, -1)
    place[present] = np.arange(present.size)
    where, valleys = place[predicted], np.empty(present.size)
    for one, other in enumerate(near):
        line = projected[(where == one) | (where == other)]
        line = line[:, other] - line[:, one]
        low, high = between[one, other] - between[one, one], between[other, other] - between[other, one]
        half_width = abs(high - low) / 6
        left, middle, right = (
            np.count_nonzero(np.abs(line - point) < half_width) + 0.5 for point in (low, (low + high) / 2, high)
        )
        valleys[one] = np.log(min(left, right) / middle)
    # The scatter behind the directions is a sum over the rows: in units of one row.
    distances = np.sqrt(np.maximum(squares.min(axis=1), 0.0) * len(half.Z))
    return valleys, np.log(distances + 1e-3)


def _mixture_gain(Z: Float, labels: Labels, other: Float) -> float:
    """The gain in log likelihood per row of other rows, of a mixture of clusters with spreads of their own over one."""
    q = min(Z.shape[1], _MIXTURE_DIRECTIONS)
    Z, other, k = Z[:, :q], other[:, :q], int(labels.max()) + 1
    centers, sizes = sums(Z, labels, k, None)
    member = (labels == np.arange(k)[:, None]).astype(np.float64)
    squares = member @ (Z * Z) - sizes[:, None] * centers**2
    pooled = squares.sum(axis=0) / len(Z) + 1e-6 * Z.var(axis=0).sum() + _LEAST
    spread = (np.maximum(squares, 0.0) + _SHARED_ROWS * pooled) / (sizes[:, None] + _SHARED_ROWS)
    precise = 1.0 / spread
    distance = (other * other) @ precise.T - 2 * other @ (precise * centers).T + np.sum(precise * centers**2, axis=1)
    logs = -0.5 * (distance + np.log(spread).sum(axis=1)) + np.log((sizes + 0.5) / (sizes.sum() + 0.5 * k))
    most = logs.max(axis=1)
    mixture = most + np.log(np.exp(logs - most[:, None]).sum(axis=1))
    middle, wide = Z.mean(axis=0), Z.var(axis=0) + 1e-6 * Z.var(axis=0).sum() + _LEAST
    one = -0.5 * (((other - middle) ** 2 / wide).sum(axis=1) + np.log(wide).sum())
    return float(np.clip(np.mean(mixture - one), -5.0, 20.0))
