"""Where the rows live. Everything else sees only the few operations of :class:`Rows`."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from jointclust.rows._dense import DenseRows
from jointclust.rows._protocol import Rows
from jointclust.rows._sparse import SparseRows

__all__ = ["DenseRows", "Rows", "SparseRows", "as_rows"]


def as_rows(X: Any) -> Rows:
    """Wrap a validated matrix, without copying it, in the class that knows how to sweep it."""
    return SparseRows(X) if sp.issparse(X) else DenseRows(X)
