"""The columns by which a model compares rows, as people know them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.types import Float
from jointclust.views.cells import Level, cells_of
from jointclust.views.columns import columns_of
from jointclust.views.encoder import MixedEncoder
from jointclust.views.preparation import Preparation

# Columns that are looked at one by one: of more, those that vary most.
_MOST = 1_000


class UsedColumn(NamedTuple):
    """A column: its numbers, NaN for gaps; or the levels of a category, and which of them each row has, -1 for gaps.

    ``known`` are the levels that a category had in fit.
    """

    name: str
    numbers: Float
    levels: list[Level] | None = None
    codes: NDArray[np.intp] | None = None
    known: frozenset[Level] = frozenset()


def used_columns(preparation: Any, X: Any) -> list[UsedColumn]:
    """The columns of data that a preparation uses, before gaps are filled; words, for documents."""
    if not isinstance(preparation, Preparation):
        coded = preparation.encode(X) if hasattr(preparation, "encode") else preparation.transform(X)
        return list(_of_matrix(coded, getattr(preparation, "feature_names_in_", None)))
    data = preparation.restricted(X)
    encoder = preparation.encoder_
    if isinstance(encoder, MixedEncoder):
        return list(_of_table(encoder, data))
    names = preparation.get_feature_names_out() if encoder is not None or preparation.imputer_ is None else None
    if names is None:
        names = getattr(preparation, "feature_names_in_", None)
        names = names if names is None or preparation.kept_ is None else names[preparation.kept_]
    return list(_of_matrix(preparation._numbers(data), names))


def _of_table(encoder: MixedEncoder, data: Any) -> Iterator[UsedColumn]:
    for name, column in zip(encoder.kinds_, columns_of(data), strict=True):
        if name in encoder.mean_:
            yield UsedColumn(name, encoder._numbers(cells_of(column, name, encoder.readings_.get(name))))
        elif name in encoder.levels_:
            levels, codes = cells_of(column, name).levels()
            known = frozenset([*encoder.levels_[name], *encoder.rare_.get(name, [])])
            yield UsedColumn(name, np.empty(0), levels, codes, known)


def _of_matrix(X: Any, names: Any) -> Iterator[UsedColumn]:
    width = X.shape[1]
    shown = [str(place) for place in range(width)] if names is None or len(names) != width else [str(n) for n in names]
    for place in range(width) if width <= _MOST else _varied(X):
        column = X[:, [place]].toarray().ravel() if sp.issparse(X) else np.asarray(X[:, place], dtype=np.float64)
        yield UsedColumn(shown[place], column.astype(np.float64))


def _varied(X: Any) -> list[int]:
    """The columns of most variance."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray((X.multiply(X) if sp.issparse(X) else np.square(X)).mean(axis=0)).ravel()
    return np.sort(np.argsort(-np.nan_to_num(square - mean**2), kind="stable")[:_MOST]).tolist()
