"""Which clusters of a fit are those of an earlier model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from jointclust.consensus.agreement import Agreement
from jointclust.consensus.kept_rows import KeptRows
from jointclust.exceptions import collected
from jointclust.numerics.graph import neighbors
from jointclust.rows import blocks, computed, is_elsewhere, loaded
from jointclust.rows.arrays import to_host
from jointclust.subspace.coordinates import Coordinates
from jointclust.types import Float, Labels
from jointclust.views.blocks import n_rows_of

# A cluster is a part of another if at least this share of its rows is in it.
_MOST = 0.5
# A cluster is gone if it has less than this share of the rows that it should have, wherever they are.
_LEFT = 0.2
# Nearest kept rows that decide on the earlier number of a row.
_NEAREST = 5
# Numbers of clusters that another kind of model may give.
_MOST_NUMBERS = 10_000
_IN_WORDS = ("no", "one", "two", "three", "four", "five", "six")

Change = dict[str, Any]


class Matching(NamedTuple):
    """The number of each cluster, the numbers there are (some may stay free), and what has changed."""

    numbers: NDArray[np.intp]
    n_numbers: int
    changes: list[Change]


@dataclass(frozen=True, eq=False)
class Before:
    """What an earlier model says of rows.

    Attributes
    ----------
    labels : array of shape (n_rows,)
        Its clusters of the rows.
    sure : array of shape (n_rows,)
        Its confidence.
    unlike : array of shape (n_rows,)
        Whether a row is unlike any that it was fitted on.
    shares : array of shape (n_clusters,)
        Shares of its clusters among the rows that it was fitted on.
    weights : array of shape (n_rows,) or None
        Weights of the rows.
    names : dict of int to str
        Names of its clusters, as far as they have one.
    numbers : array of shape (n_rows,)
        The labels; where clusters have merged, the number of the row's cluster before that.
    recall : function of rows
        The same labels and numbers for other rows.
    kept : KeptRows or None
        Rows that it was fitted on, which say how a cluster has split; None if there are none.
    """

    labels: Labels
    sure: Float
    unlike: NDArray[np.bool_]
    shares: Float
    weights: Float | None
    names: Mapping[int, str]
    numbers: Labels
    recall: Callable[[Any], tuple[Labels, Labels]]
    kept: KeptRows | None = None

    @classmethod
    def of(cls, model: Any, X: Any, weights: ArrayLike | None = None) -> Before:
        """What a model says of rows, which have to be like those that it was fitted on."""
        if not hasattr(model, "predict") or isinstance(model, type):
            raise TypeError(
                f"like={model!r} is no model that labels rows: give a fitted model with predict, such as what fit or "
                "load returns."
            )
        X = X.rows.X if isinstance(X, Coordinates) else X
        try:
            labels, sure, unlike = judged(model, X)
        except NotFittedError:
            raise
        except (ValueError, TypeError, KeyError) as error:
            raise type(error)(
                f"like: the model cannot label these rows, which have to have its columns, each of its type. {error}"
            ) from error
        labels = _cluster_numbers(labels, None if is_elsewhere(loaded(X)) else n_rows_of(X))
        mass = None if weights is None else to_host(computed(weights, "sample_weight")).astype(np.float64)
        recall = partial(recalled, model)
        numbers, names = recall(X, labels)[1], given_names(model)
        # Those that a pipeline's model keeps are not of these columns.
        kept = None if isinstance(model, Pipeline) else vars(model).get("_kept")
        return cls(labels, sure, unlike, cluster_shares(model, labels), mass, names, numbers, recall, kept)

    @property
    def n_clusters(self) -> int:
        """The number of its clusters that have rows."""
        return int(np.count_nonzero(self.shares))

    def names_of(self, changes: list[Change]) -> dict[int, str] | None:
        """The names that clusters have kept with their numbers; None where none had one."""
        held = {number for change in changes for number in change["clusters"]}
        return {number: name for number, name in self.names.items() if number in held} or None

    def match(self, after: Labels, relabel: Callable[[Any], Labels] | None = None) -> Matching:
        """The numbers of clusters of the same rows; ``relabel`` gives the new clusters of other rows.

        A table counts the rows of each pair of clusters, by confidence. Two clusters are the same if an optimal
        assignment pairs them and they share most rows of one of them. Clusters that have merged get the number of the
        largest. Of the parts of a cluster, the one that has most of its earlier rows keeps its number (the largest, if
        the model keeps no rows), unless another part is an earlier cluster that has come back. A cluster is new if most
        of its rows are unlike any that the model knows, and the model is not sure where they belong.
        """
        held = (self.labels >= 0) & (after >= 0)
        n_before = max(self.shares.size, int(self.labels.max()) + 1, int(self.numbers.max()) + 1)
        n_after = int(after.max()) + 1
        mass = np.ones(held.size) if self.weights is None else self.weights
        sizes, unlike, sure = (
            np.bincount(after[held], (mass * one)[held], n_after)
            for one in (np.ones(held.size), self.unlike, self.sure)
        )
        strange = (unlike >= _MOST * np.maximum(sizes, 1e-300)) & (sure < _MOST * sizes)
        weight = np.where(strange[after], 0.0, mass * np.maximum(self.sure, 1e-9))
        table = _counted(self.labels, after, weight, held, (n_before, n_after))
        before = np.pad(self.shares, (0, n_before - self.shares.size))
        is_left = np.bincount(self.labels[held], mass[held], n_before) >= _LEFT * before * mass[held].sum()
        is_part, is_whole = _shares(table, 0) >= _MOST, (_shares(table, 1) >= _MOST) & is_left[:, None]
        parts = {old: np.flatnonzero(is_part[old]).tolist() for old in range(n_before)}
        wholes = {new: np.flatnonzero(is_whole[:, new]).tolist() for new in range(n_after)}
        split = {old: several for old, several in parts.items() if len(several) > 1}
        own = pairs = _by_largest(_pairs(table, self._by_earlier_rows(table, split, relabel)), wholes, before)
        for old in split:
            inside = _counted(self.numbers, after, weight, held & (self.labels == old), table.shape)
            if np.count_nonzero(inside.any(axis=1)) < 2:
                continue  # it has not merged: none can come back
            again = {new: one for new, one in _again(inside).items() if pairs.get(new, old) == old}
            own = _apart_again(own, old, {new: one for new, one in again.items() if new in parts[old]})
        numbers = _numbers(own, n_before, sizes)
        counts = np.bincount(after[after >= 0], minlength=n_after)
        story = _Story(numbers, pairs, parts, wholes, sizes / max(sizes.sum(), 1e-300), before, counts)
        return Matching(numbers, max(n_before, int(numbers.max()) + 1), story.changes(self.names))

    def _by_earlier_rows(
        self, table: Float, split: dict[int, list[int]], relabel: Callable[[Any], Labels] | None
    ) -> Float:
        """The table, in which parts of a cluster that has split count as its earlier rows that they have."""
        if not split or self.kept is None or relabel is None:
            return table
        rows = self.kept.rows
        try:
            with collected():  # warnings of values that the new rows do not have
                now = relabel(rows)
        except (ValueError, TypeError, KeyError):  # the new rows have other columns beside those of the model
            return table
        mass = np.ones(now.size) if self.kept.weights is None else self.kept.weights
        earlier = _counted(self.recall(rows)[0], now, mass, now >= 0, table.shape)
        table = table.copy()
        for old, several in split.items():
            held = earlier[old, several]
            if held.sum() > 0:
                table[old, several] = table[old, several].sum() * held / held.sum()
        return table


def before_of(
    model: Any, X: Any, weights: ArrayLike | None = None, known_labels: ArrayLike | None = None
) -> Before | None:
    """What an earlier model, if there is one, says of rows. It numbers the clusters, so known classes are refused."""
    if model is None:
        return None
    if known_labels is not None:
        raise ValueError(
            "like and known_labels both number the clusters: leave one of them out. Clusters that are known classes "
            "have the numbers of the classes in each fit."
        )
    return Before.of(model, X, weights)


def given_names(model: Any) -> Mapping[int, str]:
    """Names that the clusters of a model have been given, by their numbers."""
    names = getattr(model, "cluster_names_", {})
    numbers = (int, np.integer)
    if not isinstance(names, Mapping) or not all(
        isinstance(number, numbers) and isinstance(name, str) for number, name in names.items()
    ):
        raise TypeError(
            f"cluster_names_ has to be a dict of names by the number of their cluster, such as {{0: 'regular'}}; got "
            f"{names!r:.80}."
        )
    return names


def judged(model: Any, X: Any) -> tuple[Labels, Float, NDArray[np.bool_]]:
    """Labels of rows by a model, its confidence, and whether they are unlike what it knows; in memory."""
    if isinstance(model, Pipeline):
        return judged(model[-1], model[:-1].transform(X) if len(model) > 1 else X)
    if not hasattr(model, "_everywhere"):  # another kind of model
        labels = np.asarray(to_host(computed(model.predict(X), "predict")))
        return labels, np.ones(labels.size), np.zeros(labels.size, dtype=bool)
    columns = to_host(computed(model._everywhere(Agreement.judge, X, tail=(3,), dtype=np.float64), "predict"))
    return columns[:, 0].astype(np.int32), columns[:, 1], columns[:, 2] > 0


def _cluster_numbers(predicted: NDArray, n_rows: int | None) -> Labels:
    """What a model predicts, as numbers of clusters; ``n_rows`` is how many there should be, if that is known."""
    is_whole = predicted.ndim == 1 and predicted.dtype.kind in "iuf" and bool((predicted == np.round(predicted)).all())
    if not is_whole or predicted.min(initial=0) < -1 or predicted.max(initial=0) >= _MOST_NUMBERS:
        raise ValueError(
            f"like: the model predicts {predicted.dtype} of shape {predicted.shape}, for example "
            f"{predicted.ravel()[:1].tolist()}: it has to predict one number of a cluster for each row, from 0 to "
            f"{_MOST_NUMBERS - 1:,}, or -1."
        )
    if n_rows is not None and predicted.size != n_rows:
        raise ValueError(f"like: the model predicts {predicted.size:,} labels for {n_rows:,} rows.")
    return predicted.astype(np.int32)


def recalled(model: Any, X: Any, labels: Labels | None = None) -> tuple[Labels, Labels]:
    """Labels of rows by a model and, where clusters have merged, the number that most of the nearest rows had before.

    A cluster that comes back can so get its number back.
    """
    if isinstance(model, Pipeline):
        return recalled(model[-1], model[:-1].transform(X) if len(model) > 1 else X, labels)
    labels = judged(model, X)[0].astype(np.int32) if labels is None else labels
    kept = vars(model).get("_kept")
    if kept is None or kept.numbers is None or is_elsewhere(loaded(X)):
        return labels, labels
    own = judged(model, kept.rows)[0]
    numbers, agreement = labels.copy(), model._agreement
    places, known = (to_host(agreement.panel.leading(agreement.sources(rows))) for rows in (X, kept.rows))
    for cluster in np.unique(own[own != kept.numbers]):
        rows, near = np.flatnonzero(labels == cluster), np.flatnonzero(own == cluster)
        if rows.size:
            nearest = neighbors(places[rows], known[near], min(_NEAREST, near.size))
            numbers[rows] = [np.bincount(one).argmax() for one in kept.numbers[near][nearest]]
    return labels, numbers


def cluster_shares(model: Any, predicted: Labels) -> Float:
    """Shares of the clusters among the rows that a model was fitted on, or among others if it does not tell."""
    model = model[-1] if isinstance(model, Pipeline) else model
    agreement, patterns = getattr(model, "_agreement", None), getattr(model, "_patterns", None)
    if agreement is not None and patterns is not None:
        clusters = agreement.soft_labels(patterns.codes).argmax(axis=1)
        return blocks.cluster_sizes(clusters, agreement.n_clusters, patterns.masses)
    labels = to_host(computed(getattr(model, "labels_", predicted), "labels_"))
    sizes = np.bincount(labels[labels >= 0], minlength=int(predicted.max(initial=0)) + 1)
    if agreement is not None:
        sizes = np.pad(sizes, (0, max(agreement.n_clusters - sizes.size, 0)))
    return sizes / max(sizes.sum(), 1)


def _shares(table: Float, axis: int) -> Float:
    """Each cell's share of its column (axis 0) or row (axis 1)."""
    total = table.sum(axis=axis, keepdims=True)
    return table / np.where(total > 0, total, 1.0)


def _pairs(table: Float, worth: Float) -> dict[int, int]:
    """The pairs of an assignment of most worth that share most rows of one of the two, by their column."""
    most = np.maximum(_shares(table, 0), _shares(table, 1)) >= _MOST
    pairs = zip(*linear_sum_assignment(-worth), strict=True)
    return {int(new): int(old) for old, new in pairs if worth[old, new] > 0 and most[old, new]}


def _by_largest(pairs: dict[int, int], wholes: dict[int, list[int]], before: Float) -> dict[int, int]:
    """The pairs, in which a cluster that several have merged into is the same as the largest of them."""
    largest = dict(pairs)
    for new, old in pairs.items():
        free = [one for one in wholes[new] if one == old or one not in largest.values()]
        if old in free:
            largest[new] = max(free, key=lambda one: before[one])
    return largest


def _counted(
    rows: Labels, columns: Labels, weight: Float, held: NDArray[np.bool_], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """The weight of each pair of clusters."""
    table = np.zeros(shape)
    np.add.at(table, (rows[held], columns[held]), weight[held])
    return table


def _again(table: Float) -> dict[int, int]:
    """Earlier clusters that have come back, by column: both have more than half of the rows that either has."""
    union = table.sum(axis=0) + table.sum(axis=1)[:, None] - table
    return {int(new): int(old) for old, new in np.argwhere(table > _MOST * union)}


def _apart_again(pairs: dict[int, int], old: int, again: dict[int, int]) -> dict[int, int]:
    """The pairs, in which the parts of a cluster that have come back have their earlier numbers."""
    holder = next((new for new, number in again.items() if number == old), None)
    holder = next((new for new, number in pairs.items() if number == old), None) if holder is None else holder
    kept = {new: number for new, number in pairs.items() if number != old}
    taken = {*kept.values(), old}
    own = {new: number for new, number in again.items() if new not in kept and number not in taken}
    return kept | own | ({} if holder is None else {holder: old})


def _numbers(pairs: dict[int, int], n_before: int, sizes: NDArray) -> NDArray[np.intp]:
    """The number of each cluster: that of the earlier one it is, or a free one, the largest clusters first."""
    numbers = np.full(sizes.size, -1)
    for new, old in pairs.items():
        numbers[new] = old
    others = np.flatnonzero(numbers < 0)
    numbers[others[np.argsort(-sizes[others], kind="stable")]] = n_before + np.arange(others.size)
    return numbers


@dataclass(frozen=True, eq=False)
class _Story:
    """What has become of clusters: the same, parts of one, several in one, and how large they are."""

    numbers: NDArray[np.intp]
    pairs: dict[int, int]  # new to old
    parts: dict[int, list[int]]  # of an old one
    wholes: dict[int, list[int]]  # old ones in a new one
    shares: Float
    shares_before: Float
    counts: NDArray[np.intp]

    def changes(self, names: Mapping[int, str]) -> list[Change]:
        """All that has happened, what is kept first."""
        partner = {old: new for new, old in self.pairs.items()}
        splits = {old: _with(partner.get(old), parts) for old, parts in self.parts.items()}
        splits = {old: parts for old, parts in splits.items() if len(parts) > 1}
        merges = {new: _with(self.pairs.get(new), wholes) for new, wholes in self.wholes.items()}
        merges = {new: wholes for new, wholes in merges.items() if len(wholes) > 1}
        of_splits = {new for parts in splits.values() for new in parts}
        of_merges = {old for wholes in merges.values() for old in wholes}
        kept = [(new, old) for new, old in self.pairs.items() if new not in of_splits | set(merges)]
        changes = [("kept", [new], [old]) for new, old in sorted(kept, key=lambda pair: pair[1])]
        changes += [("split", parts, [old]) for old, parts in splits.items()]
        changes += [("merged", [new], wholes) for new, wholes in merges.items()]
        held = np.flatnonzero(self.counts).tolist()
        changes += [("new", [new], []) for new in held if new not in {*self.pairs, *of_splits, *merges}]
        gone = set(np.flatnonzero(self.shares_before).tolist()) - set(partner) - of_merges - set(splits)
        changes += [("gone", [], [old]) for old in sorted(gone)]
        return [self._change(*one, names) for one in changes]

    def _change(self, kind: str, new: list[int], old: list[int], names: Mapping[int, str]) -> Change:
        change: Change = {
            "kind": kind,
            "clusters": self.numbers[new].tolist(),
            "before": list(old),
            "share": float(self.shares[new].sum()),
            "share_before": float(self.shares_before[old].sum()),
            "rows": int(self.counts[new].sum()),
        }
        return change | {"text": sentence(change, names)}


def _with(first: int | None, others: list[int]) -> list[int]:
    return others if first is None else [first, *(one for one in others if one != first)]


def sentence(change: Change, names: Mapping[int, str] | None = None) -> str:
    """A change in words.

    Examples
    --------
    >>> sentence({"kind": "split", "clusters": [1, 5], "before": [1], "share": 0.4, "share_before": 0.3, "rows": 80})
    'cluster 1 split in two: 1, 5 (40% of the rows, 30% before)'
    """
    named = {} if names is None else names
    old = [repr(named[one]) if one in named else f"cluster {one}" for one in change["before"]]
    new = ", ".join(map(str, change["clusters"]))
    share, before = f"{change['share']:.0%} of the rows", f"{change['share_before']:.0%}"
    if change["kind"] == "new":
        return f"a new cluster of {change['rows']:,} rows: {new} ({share})"
    if change["kind"] == "gone":
        return f"{old[0]} is gone ({before} of the rows before)"
    if change["kind"] == "split":
        n_parts = len(change["clusters"])
        parts = _IN_WORDS[n_parts] if n_parts < len(_IN_WORDS) else n_parts
        return f"{old[0]} split in {parts}: {new} ({share}, {before} before)"
    if change["kind"] == "merged":
        return f"{', '.join(old[:-1])} and {old[-1]} merged: {new} ({share}, {before} before)"
    return f"{old[0]} kept ({share}, {before} before)"


def summary(changes: list[Change]) -> list[str]:
    """What has changed, in sentences: how many clusters are kept, then the others one by one."""
    n_kept = sum(change["kind"] == "kept" for change in changes)
    kept = [f"{n_kept} {'cluster is' if n_kept == 1 else 'clusters are'} the same as before"] if n_kept else []
    return kept + [change["text"] for change in changes if change["kind"] != "kept"]
