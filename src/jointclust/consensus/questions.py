"""Which rows to ask about: those whose label would tell most of the others."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from jointclust.consensus.partitions import Partitions
from jointclust.consensus.tree import Layered
from jointclust.estimators.known import n_known
from jointclust.rows.arrays import is_device_array, like, namespace, to_host
from jointclust.types import Array, Float, Labels

# Rows among which some are chosen.
_MOST_ROWS = 3_000
# What a row on which all members agree counts for, beside the members' doubts.
_LEAST_DOUBT = 0.1


class Asking(Layered):
    """A consensus that knows which of its rows it would rather have labelled."""

    labels_: Labels
    _groups: NDArray

    def rows_to_label(self, n: int) -> NDArray[np.intp]:
        """The rows whose label would tell most, best first: spread over the data, and where the members disagree.

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
        if not isinstance(n, Integral) or n < 1:
            raise ValueError(f"n={n!r} must be a whole number of rows, 1 or more.")
        if "_pattern" not in vars(self) and "_groups" not in vars(self):
            raise AttributeError(
                f"What the members say of each of the {self.labels_.shape[0]:,} training rows was not kept with the "
                "model: ask it before it is saved, or fit fewer rows."
            )
        rows = self._some_rows(int(n))
        groups, sizes = self._groups_at(rows), [len(table) for table in self._votes]
        known = self._has_known_class(groups)
        if n > np.sum(~known):
            raise ValueError(f"n={n} exceeds the number of rows whose label is not known ({np.sum(~known)}): lower it.")
        doubts = 1.0 - self._said(groups).max(axis=1)
        said = Partitions(groups[:, : len(sizes)], sizes, None, self._member_weights)
        return rows[_telling(said, np.where(known, 0.0, _LEAST_DOUBT + doubts), known, int(n))]

    def _some_rows(self, n: int) -> NDArray[np.intp]:
        """All rows; of many a sample, in which all are that have been asked about, as far as they are in memory."""
        n_rows, most = self.labels_.shape[0], max(_MOST_ROWS, 2 * n)
        if n_rows <= most:
            return np.arange(n_rows)
        chosen = np.random.RandomState(self._seed).choice(n_rows, most, replace=False)
        if "_pattern" in vars(self):
            known = np.flatnonzero(self._has_known_class(self._patterns)[self._pattern])
            chosen = np.append(chosen, known[:most])
        return np.unique(chosen)

    def _groups_at(self, rows: NDArray[np.intp]) -> NDArray[np.int32]:
        """The groups of some rows in the members, and what is settled of them."""
        if "_pattern" in vars(self):
            return self._patterns[self._pattern[rows]]
        groups: Array = self._groups
        index = like(rows, groups, namespace(groups).int64) if is_device_array(groups) else rows
        return to_host(groups[index, :]).astype(np.int32)

    def _has_known_class(self, groups: NDArray) -> NDArray[np.bool_]:
        """Whether the class of rows is known, from what is settled of them."""
        settled = groups[:, len(self._votes) :].max(axis=1, initial=0)
        return (settled > 0) & (settled <= n_known(self))


def _telling(said: Partitions, weights: Float, known: NDArray[np.bool_], n: int) -> list[int]:
    """Rows chosen one after the other, each for what it adds to what is covered.

    The gain of row i is ``sum_j w_j max(0, s_ij - c_j)`` with the share s of members that have i and j in one group,
    and c the largest share of j with a row chosen before, or known already.
    """
    stacked = said.stacked(np.repeat(np.sqrt(said.shares), said.sizes))
    alike = (stacked @ stacked.T).toarray()
    covered, free = alike[known].max(axis=0, initial=0.0), ~known
    found: list[int] = []
    for _ in range(n):
        gains = np.where(free, np.maximum(alike - covered, 0.0) @ weights, -1.0)
        found.append(int(np.argmax(gains)))
        free[found[-1]] = False
        covered = np.maximum(covered, alike[found[-1]])
    return found
