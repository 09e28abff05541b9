"""Blocks of columns with the same rows, by name: several sources of the same things."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.exceptions import speaking_of
from jointclust.rows import is_annotated, is_elsewhere, loaded
from jointclust.rows.arrays import is_sparse
from jointclust.views.columns import is_table
from jointclust.views.kinds import Described, Description, listed
from jointclust.views.usage import Usage


def blocks_in(X: object) -> dict[str, Any] | None:
    """Blocks by name; None where X is no dict of them."""
    if not isinstance(X, Mapping) or is_sparse(X) or is_table(X):  # SciPy has a sparse matrix that is a dict
        return None
    if not X:
        raise ValueError("X is a dict without blocks: give at least one, by name.")
    blocks = {str(name): block for name, block in X.items()}
    if len(blocks) < len(X):
        raise ValueError(f"Two blocks have the same name: {listed([str(name) for name in X])}.")
    return blocks


def as_fitted(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Blocks in the order of fit."""
    lacking, unknown = [name for name in names if name not in given], [name for name in given if name not in names]
    faults = [f"lacks {listed(lacking)}"] * bool(lacking) + [f"has {listed(unknown)} beside them"] * bool(unknown)
    if faults:
        raise ValueError(f"The blocks of fit were {listed(list(names))}: X {' and '.join(faults)}. Pass the same ones.")
    return {name: given[name] for name in names}


def check_lengths(lengths: Mapping[str, int]) -> None:
    """Blocks have the same rows."""
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name!r} {length}" for name, length in lengths.items())
        raise ValueError(f"The blocks must have the same rows, but their numbers differ: {sizes}.")


def n_rows_of(X: Any) -> int:
    """The number of rows of data of any kind."""
    blocks = blocks_in(X)
    if blocks is not None:
        return n_rows_of(next(iter(blocks.values())))
    X = loaded(X)
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


@contextmanager
def about_block(name: str) -> Iterator[None]:
    """Errors and warnings that say which block they are about."""
    try:
        with speaking_of(f"Block {name!r}"):
            yield
    except (TypeError, ValueError) as error:
        if type(error) not in (TypeError, ValueError):
            error.add_note(f"This is about the block {name!r}.")
            raise
        raise type(error)(f"Block {name!r}: {error}") from error


def checked_blocks(X: object) -> dict[str, Any] | None:
    """Blocks in memory, checked to have the same number and names of rows; None if X is no dict of blocks."""
    blocks = blocks_in(X)
    if blocks is None:
        return None
    in_memory = {name: loaded(block) for name, block in blocks.items()}
    for name, block in in_memory.items():
        if blocks_in(block) is not None:
            raise TypeError(f"Block {name!r} is a dict: give a table, an array or texts for each block.")
        if is_elsewhere(block):
            raise TypeError(f"Block {name!r} is not in memory ({type(block).__name__}): load it, or a sample of rows.")
        if not hasattr(block, "shape") and not hasattr(block, "__len__"):
            raise TypeError(f"Block {name!r} is {type(block).__name__}: give a table, an array or texts.")
    if any(map(_is_column, in_memory.values())):
        raise TypeError("X is a dict of columns, not of blocks: pass them as one table, pandas.DataFrame(X).")
    check_lengths({name: n_rows_of(block) for name, block in in_memory.items()})
    check_row_names(in_memory)
    return in_memory


def _is_column(block: Any) -> bool:
    """Whether this is one column of something else than texts, as a list, an array or a series."""
    is_flat = np.ndim(block) == 1 if isinstance(block, list | tuple | range) else getattr(block, "ndim", 2) == 1
    return is_flat and not any(isinstance(cell, str) for cell in block)


def check_row_names(blocks: Mapping[str, Any]) -> None:
    """Refuse rows of two blocks that have the same names in another order, or only some of them.

    Row numbers are names if another block has them in another order, because it was sorted or shuffled.
    """
    named = {name: index for name, block in blocks.items() if (index := _row_names(block)) is not None}
    counted = {name: _is_counted(index) for name, index in named.items()}
    if not any(_is_recounted(index) for name, index in named.items() if not counted[name]):
        named = {name: index for name, index in named.items() if not counted[name]}
    for name, index in list(named.items())[1:]:
        first, own = next(iter(named.items()))
        differ = np.flatnonzero(own != index)
        if differ.size and np.isin(index, own).any():
            row = int(differ[0])
            raise ValueError(
                f"Blocks {first!r} and {name!r} name their rows differently: row {row} is {own[row]!r} in one and "
                f"{index[row]!r} in the other. Bring them into one order, such as that of the first: "
                f"{name}.loc[{first}.index]; if they have the same rows as they are: {name}.set_axis({first}.index)."
            )


def _row_names(block: Any) -> NDArray[np.object_] | None:
    """Names of the rows of a frame or of AnnData; None where there are none."""
    index = block.obs.index if is_annotated(block) else getattr(block, "index", None)
    return None if index is None or callable(index) else np.asarray(index, dtype=object)  # a list has such a method


def _is_counted(names: NDArray[np.object_]) -> bool:
    """Whether names are the numbers of the rows."""
    counted = np.arange(names.size)
    is_counted = all(isinstance(name, int | np.integer) for name in names) and bool((names == counted).all())
    return is_counted or list(names) == [str(number) for number in counted]


def _is_recounted(names: NDArray[np.object_]) -> bool:
    """Whether names are the numbers of the rows in another order."""
    numbers = [int(text) if (text := str(name)).isascii() and text.isdecimal() else -1 for name in names]
    return -1 not in numbers and _is_counted(names[np.argsort(numbers)])


@dataclass(frozen=True, eq=False)
class BlockView:
    """The preparation of one block for one view; of a dict of blocks it prepares this block.

    Attributes
    ----------
    block : str
        Name of the block.
    preparation : transformer
        What prepares it.
    """

    block: str
    preparation: Any

    @property
    def view_(self) -> str:
        """Names of the block and of the view."""
        return f"{self.block}: {getattr(self.preparation, 'view_', type(self.preparation).__name__)}"

    @property
    def reason_(self) -> str:
        """Why the view is there."""
        return str(getattr(self.preparation, "reason_", "given"))


class Blocks(dict[str, Any]):
    """Blocks by name, with the shape that they have side by side."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of the columns of all blocks; texts are one column."""
        shapes = [tuple(getattr(block, "shape", (len(block),))) for block in self.values()]
        return shapes[0][0], sum(shape[1] if len(shape) > 1 else 1 for shape in shapes)


@dataclass(frozen=True, eq=False)
class PreparedBlocks:
    """What codes the blocks, as one preparation of all of them: columns have the name of their block before their own.

    Attributes
    ----------
    preparations : dict of str to transformer
        The first one of each block.
    """

    preparations: dict[str, Any]

    @property
    def description_(self) -> Description | None:
        """What the blocks are, if all were described."""
        parts = {name: getattr(one, "description_", None) for name, one in self.preparations.items()}
        described = {name: part for name, part in parts.items() if part is not None}
        return description_of(described) if len(described) == len(parts) else None

    def own_columns(self, X: Any) -> Any:
        """Blocks with the columns of fit, where they may have others."""
        if not isinstance(X, Mapping):
            return X
        own = {name: getattr(one, "own_columns", lambda block: block) for name, one in self.preparations.items()}
        return {name: own[name](block) if name in own else block for name, block in X.items()}

    def encode(self, X: object) -> dict[str, Any]:
        """Rows of numbers of each block."""
        given = as_fitted(checked_blocks(X) or {}, list(self.preparations))
        coded = {}
        for name, one in self.preparations.items():
            with about_block(name):
                coded[name] = one.encode(given[name]) if hasattr(one, "encode") else one.transform(given[name])
        return coded

    def readable(self, coded: dict[str, Any]) -> Any:
        """Coded rows as people read them, side by side."""
        parts = [
            one.readable(coded[name]) if hasattr(one, "readable") else coded[name]
            for name, one in self.preparations.items()
        ]
        return sp.hstack(parts, format="csr") if any(map(sp.issparse, parts)) else np.hstack(parts)

    def coded_names(self, coded: dict[str, Any]) -> list[str]:
        """Names of the columns, side by side."""
        names = []
        for name, one in self.preparations.items():
            numbered = [f"x{number}" for number in range(coded[name].shape[1])]
            own = one.coded_names() if hasattr(one, "coded_names") else getattr(one, "feature_names_in_", numbered)
            names += [in_block(name, str(column)) for column in own]
        return names


def in_block(block: str, column: str) -> str:
    """The name of a column of a block among the columns of all blocks."""
    return f"{block}: {column}"


def by_block(preparations: Sequence[Any]) -> dict[str, list[Any]] | None:
    """The preparations of each block; None if the data were no dict of blocks."""
    grouped: dict[str, list[Any]] = {}
    for one in preparations:
        if not isinstance(one, BlockView):
            return None
        grouped.setdefault(one.block, []).append(one.preparation)
    return grouped


def described_blocks(looked_at: Mapping[str, Described]) -> DescribedBlocks:
    """One description of all blocks, from the description of each."""
    return DescribedBlocks(description_of({name: one.description for name, one in looked_at.items()}), dict(looked_at))


@dataclass(frozen=True, eq=False)
class DescribedBlocks:
    """A description of blocks, with what each was described from."""

    description: Description
    parts: dict[str, Described]


def description_of(parts: Mapping[str, Description]) -> Description:
    """The descriptions of blocks as one, with the name of its block before that of each column."""

    def joined(attribute: str) -> NDArray:
        return np.concatenate([getattr(part, attribute) for part in parts.values()])

    def named(texts: Mapping[str, Sequence[str]]) -> list[str]:
        return [in_block(name, text) for name, own in texts.items() for text in own]

    usages = {name: _usage(part) for name, part in parts.items()}
    reasons = named({name: part.reasons for name, part in parts.items()})
    usage = Usage(
        np.concatenate([one.used for one in usages.values()]),
        np.concatenate([one.related for one in usages.values()]),
        [why for one in usages.values() for why in one.why],
        [[in_block(name, column) for column in group] for name, one in usages.items() for group in one.groups],
        any(one.has_related for one in usages.values()),
    )
    kinds = ", ".join(f"{name!r} ({part.kind})" for name, part in parts.items())
    return Description(
        "blocks",
        [f"the data are blocks with the same rows: {kinds}", *reasons],
        named({name: part.views for name, part in parts.items()}),
        next(iter(parts.values())).n_samples,
        np.array(named({name: part._names.tolist() for name, part in parts.items()}), dtype=np.str_),
        joined("_kinds"),
        joined("_missing"),
        joined("_spread"),
        _notes=tuple(named({name: part._notes for name, part in parts.items()})),
        _usage=usage,
        _parts=dict(parts),
    )


def _usage(part: Description) -> Usage:
    n_columns = len(part._names)
    usage = part._usage or Usage(part.used, np.full(n_columns, np.nan), [""] * n_columns, [])
    return usage._replace(used=part.used)
