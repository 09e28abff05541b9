"""Parts of consensus models of version 0.1, which predict as they did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.consensus.agreement import Agreement
from jointclust.consensus.training import TrainingVotes
from jointclust.consensus.views import ViewRows
from jointclust.rows import blocks
from jointclust.types import Float, Labels


@dataclass(frozen=True)
class VoteShare:
    """Confidence is the share of the votes for the label."""

    def confidence(self, votes: Float, scores: Callable[[], Float]) -> Float:
        """The confidence of each row."""
        return votes.max(axis=1)

    def is_far(self, labels: Labels, scores: Float) -> NDArray[np.bool_]:
        """Of no row: there are no outlier scores."""
        return np.zeros(len(labels), dtype=bool)


@dataclass(frozen=True, eq=False)
class AgreementOf01(Agreement):
    """An agreement without projections of the views, which embeds rows by their votes.

    Attributes
    ----------
    additions : list of arrays of shape (n_codes, n_components)
        What each cluster of a member adds to the embedding of its rows.
    """

    additions: list[Float]

    def codes(self, sources: list[ViewRows], *, scored: bool = False) -> tuple[NDArray, Float]:
        """The code of each row's cluster in each member; there are no outlier scores."""
        codes, _ = super().codes(sources)
        return codes, np.zeros(len(codes), np.float32)

    def embed(self, sources: list[ViewRows]) -> Float:
        """Rows by their votes, scaled to length one."""
        codes = self.codes(sources)[0]
        return blocks.unit(sum(table[code] for table, code in zip(self.additions, codes.T, strict=True)))


@dataclass(frozen=True, eq=False)
class StoredVotes(TrainingVotes):
    """Soft labels and confidence of the training rows, without codes."""

    soft: Float
    sure: Float

    def each_row(self, function: Callable[[NDArray], NDArray], tail: tuple[int, ...], dtype: type) -> Any:
        raise AttributeError("This model is of version 0.1, which kept no labels of its members. Fit it again.")

    def codes_at(self, rows: NDArray[np.intp]) -> NDArray[np.int32]:
        return self.each_row(lambda codes: codes, (), int)

    def codes(self, n_members: int) -> NDArray[np.int32]:
        return np.empty((len(self.soft), 0), np.int32)

    def soft_labels(self, agreement: Agreement) -> Float:
        return self.soft

    def confidence(self, agreement: Agreement, scores: Callable[[], Float]) -> Float:
        return self.sure
