"""The votes of the training rows, as a model keeps them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.consensus.agreement import Agreement
from jointclust.rows import as_rows, is_lazy, lazily
from jointclust.rows.arrays import rows_at, to_host
from jointclust.types import Array, Float


@dataclass(frozen=True, eq=False)
class Patterns:
    """The distinct rows of codes among the rows that were fitted, each with its share of the weight.

    Attributes
    ----------
    codes : array of shape (n_patterns, n_members) or (n_patterns, n_members + 1)
        The code of the cluster in each member; a further column has the number of the override.
    masses : array of shape (n_patterns,)
        Shares of the weight.
    """

    codes: NDArray[np.int32]
    masses: Float

    @classmethod
    def of(cls, codes: NDArray, weights: Float | None) -> tuple[Patterns, NDArray[np.int32]]:
        """The patterns of rows, and the pattern of each row."""
        distinct, index = np.unique(codes, axis=0, return_inverse=True)
        masses = np.bincount(index.ravel(), weights=weights)
        return cls(distinct, masses / masses.sum()), index.ravel().astype(np.int32)

    def some(self, labels: NDArray, most: int, rng: np.random.RandomState) -> Patterns:
        """Some of many patterns, at least one of each label."""
        every = np.arange(len(self.codes))
        if every.size <= most:
            return self
        chosen = np.union1d(rng.permutation(every)[:most], np.unique(labels, return_index=True)[1])
        return Patterns(self.codes[chosen], self.masses[chosen] / self.masses[chosen].sum())


@dataclass(frozen=True, eq=False)
class Probe:
    """Rows that models of 0.3 kept for a test of gaps, which is gone."""

    rows: NDArray[np.float32]
    codes: NDArray[np.int32]


class TrainingVotes(ABC):
    """The codes of the training rows, by where and whether they are kept."""

    @abstractmethod
    def each_row(self, function: Callable[[NDArray], NDArray], tail: tuple[int, ...], dtype: type) -> Any:
        """A function of codes for each training row, where the rows are."""

    @abstractmethod
    def codes_at(self, rows: NDArray[np.intp]) -> NDArray[np.int32]:
        """The codes of some rows in memory."""

    @abstractmethod
    def codes(self, n_members: int) -> Any:
        """The codes of all rows in the members."""

    @abstractmethod
    def confidence(self, agreement: Agreement, scores: Callable[[], Float]) -> Any:
        """The confidence of each row; ``scores()`` are the outlier scores of the rows, which may not be kept."""

    def leaves_by(self, function: Callable[[NDArray], NDArray]) -> Any:
        """The cluster of each row in the finest layer; a function gives it for codes."""
        return self.each_row(function, (), np.int32)

    def soft_labels(self, agreement: Agreement) -> Any:
        """The votes for each row."""
        return self.each_row(agreement.soft_labels, (agreement.n_clusters,), np.float64)

    def with_arrays(self, change: Callable[[Any], Any]) -> TrainingVotes:
        """The same with each array that lies elsewhere changed; these have none."""
        return self


@dataclass(frozen=True, eq=False)
class VotesInMemory(TrainingVotes):
    """Codes of rows in memory: the patterns, and the pattern of each row."""

    patterns: Patterns
    index: NDArray[np.int32]

    def each_row(self, function: Callable[[NDArray], NDArray], tail: tuple[int, ...], dtype: type) -> Any:
        return function(self.patterns.codes)[self.index]

    def codes_at(self, rows: NDArray[np.intp]) -> NDArray[np.int32]:
        return self.patterns.codes[self.index[rows]]

    def codes(self, n_members: int) -> NDArray[np.int32]:
        return self.patterns.codes[self.index, :n_members]

    def confidence(self, agreement: Agreement, scores: Callable[[], Float]) -> Float:
        votes = agreement.soft_labels(self.patterns.codes)[self.index]
        confidence = agreement.scale.confidence(votes, scores())
        return np.where(agreement.has_known_class(self.patterns.codes)[self.index], 1.0, confidence)


@dataclass(frozen=True, eq=False)
class VotesElsewhere(TrainingVotes):
    """Codes and confidence of rows that are not in memory, where those rows are."""

    rows: Array
    row_confidence: Array

    def each_row(self, function: Callable[[NDArray], NDArray], tail: tuple[int, ...], dtype: type) -> Any:
        if is_lazy(self.rows):
            return lazily(function, self.rows, tail, dtype)
        return as_rows(self.rows).here(function(to_host(self.rows)))

    def codes_at(self, rows: NDArray[np.intp]) -> NDArray[np.int32]:
        return to_host(rows_at(self.rows, rows)).astype(np.int32)

    def codes(self, n_members: int) -> Any:
        return self.rows[:, :n_members]

    def confidence(self, agreement: Agreement, scores: Callable[[], Float]) -> Array:
        return self.row_confidence

    def with_arrays(self, change: Callable[[Any], Any]) -> VotesElsewhere:
        return replace(self, rows=change(self.rows), row_confidence=change(self.row_confidence))


@dataclass(frozen=True, eq=False)
class VotesNotKept(TrainingVotes):
    """Codes that were not kept; the confidence of the rows and their leaves of the tree if these were."""

    n_samples: int
    row_confidence: Any = None
    leaves: Any = None

    def each_row(self, function: Callable[[NDArray], NDArray], tail: tuple[int, ...], dtype: type) -> Any:
        raise AttributeError(
            f"The votes for each of the {self.n_samples:,} training rows were not kept with the model: "
            "predict_proba(X) and confidence(X) compute them again, predict(X, n_clusters=...) the labels of a layer."
        )

    def leaves_by(self, function: Callable[[NDArray], NDArray]) -> Any:
        return super().leaves_by(function) if self.leaves is None else self.leaves

    def codes_at(self, rows: NDArray[np.intp]) -> NDArray[np.int32]:
        raise AttributeError(
            f"The members' clusters of the {self.n_samples:,} training rows were not kept with the model: call "
            "rows_to_label before you save it, or fit fewer rows."
        )

    def codes(self, n_members: int) -> NDArray[np.int32]:
        return np.empty((self.n_samples, 0), np.int32)

    def confidence(self, agreement: Agreement, scores: Callable[[], Float]) -> Any:
        return self.each_row(lambda codes: codes, (), float) if self.row_confidence is None else self.row_confidence

    def with_arrays(self, change: Callable[[Any], Any]) -> VotesNotKept:
        return replace(self, row_confidence=change(self.row_confidence), leaves=change(self.leaves))
