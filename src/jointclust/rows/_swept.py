"""What a pass gives, and how the parts of several blocks are put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import scipy.sparse as sp

from jointclust.rows.arrays import namespace
from jointclust.types import Array


class Swept(NamedTuple):
    """What a block, or a whole pass, gives: arrays with one row per row, sums, and pieces to put side by side."""

    rows: Sequence[Any] = ()
    sums: Sequence[Any] = ()
    pieces: Sequence[Any] = ()


# What is done with a block of each of the arrays that are swept.
Visit = Callable[..., Swept]


def is_table(block: object) -> bool:
    """Whether rows are those of a data frame of pandas."""
    return hasattr(block, "iloc")


def joined(pieces: Sequence[Array]) -> Array:
    """Blocks put below each other again."""
    if any(sp.issparse(piece) for piece in pieces):
        return sp.csr_array(sp.vstack(list(pieces), format="csr"))
    if is_table(pieces[0]):
        import pandas as pd

        return pd.concat(list(pieces))
    return namespace(pieces[0]).concat(list(pieces), axis=0)
