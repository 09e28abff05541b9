"""The columns of data as people know them: numbers in their own units, levels of categories, words of documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from jointclust.rows import is_elsewhere, is_lazy, loaded
from jointclust.rows.arrays import is_device_array, to_host
from jointclust.rows.memory import check_memory
from jointclust.types import Float, Labels, Sparse
from jointclust.views.blocks import PreparedBlocks, about_block, as_fitted, in_block
from jointclust.views.cells import Cells, cells_of, is_missing
from jointclust.views.columns import columns_of, is_table, names_of, unfolded
from jointclust.views.counts import Words
from jointclust.views.kinds import Description, describe, is_annotated, is_documents, listed

# Levels of a category that are looked at, the most frequent first.
_LEVELS = 50
# Fewest columns that are things which rows have, and the share of them that a row has at the most.
_ITEMS, _OF_ITEMS = 8, 0.5
# How a level says that a row has something.
_HAS = {"true", "yes", "1"}
# Coordinates: fewest of them in lists and in columns, and most of them; the share of them on both sides of 0, and of
# cells with a point; what they are called.
_PLACES, _MANY, _MOST, _ON_BOTH_SIDES, _MOSTLY = 8, 32, 4096, 0.5, 0.9
_STEMS = {"pc", "pca", "svd", "umap", "tsne", "emb", "embedding", "dim", "component", "latent", "vec", "vector"}
_NUMBERED = re.compile(r"(.*?)[ _.\-]*(\[)?(\d{1,9})\]?")
# Rows that tell whether columns are any of these.
_SAMPLE = 200
# Whole numbers below this are exact as numbers with a point.
_EXACT = 2.0**53


# What a cell of a table may hold.
Cell = str | float | int | bool


class Stored(NamedTuple):
    """How a table holds a column, as far as a condition that is asked of the table itself has to know.

    ``level`` and ``other`` are the cells of levels, ``gaps`` cells that are taken as empty ones, ``narrow`` the type of
    numbers with fewer bits than most, ``is_queried`` whether pandas has a name for the column in a query.
    """

    column: str
    level: Cell | None = None
    other: Cell | None = None
    gaps: tuple[Cell, ...] = ()
    narrow: Any = None
    is_queried: bool = True


class Feature(NamedTuple):
    """What one column of numbers stands for: a column of the data, a level of one, or a word.

    Of a category or boolean it marks ``level`` with 1 and, where there are but two, ``other`` with 0. ``stored`` is
    None where the numbers are not those of a table's column.
    """

    column: str
    kind: str = "number"  # or "date", "level", "word"
    level: str | None = None
    other: str | None = None
    stored: Stored | None = None

    @property
    def is_item(self) -> bool:
        """Whether it may mark what a row has."""
        return self.kind == "number" or (self.kind == "level" and str(self.level).lower() in _HAS)

    @property
    def name(self) -> str:
        """What to call it."""
        return self.column if self.level is None else f"{self.column} = {self.level}"


@dataclass(frozen=True, eq=False)
class Features:
    """Data as columns of numbers, with the meaning of each; NaN where a cell is empty.

    Numbers are as given, dates days since 1970, levels 1 and 0, words counted; ``notes`` say what was left out.
    """

    values: NDArray | Sparse
    of: list[Feature]
    n_columns: int | None  # of the data; documents have none
    notes: list[str] = field(default_factory=list)
    are_counts: bool = False  # of words, genes or the like: what there is more of than elsewhere tells a cluster

    @cached_property
    def _by_column(self) -> Any:
        return sp.csc_array(self.values) if sp.issparse(self.values) else self.values

    @cached_property
    def are_items(self) -> bool:
        """Whether each row has a few of many things: goods in a basket, answers that were ticked."""
        if len(self.of) < _ITEMS or not all(one.is_item for one in self.of):
            return False
        some = self._some()
        is_one = np.isin(some, (0.0, 1.0)) | np.isnan(some)
        return bool(is_one.all() and np.nanmean(some) < _OF_ITEMS)

    @cached_property
    def coordinates(self) -> NDArray[np.bool_]:
        """Which columns are coordinates of an embedding, one of which says nothing alone.

        They have one name and a number, and are many numbers with a point on both sides of 0, or of rows of one length.
        """
        found = np.zeros(len(self.of), dtype=bool)
        families: dict[tuple[str, bool], dict[int, int]] = {}
        for place, one in enumerate(self.of):
            match = _NUMBERED.fullmatch(one.column)
            if one.kind == "number" and match is not None and not self.are_counts:
                families.setdefault((match[1].lower(), bool(match[2])), {})[int(match[3])] = place
        for (stem, is_place), places in families.items():
            own, numbers = list(places.values()), sorted(places)
            counts_up = numbers == list(range(numbers[0], numbers[0] + len(own))) and numbers[0] in (0, 1)
            are_many = (_PLACES if is_place else _MANY) <= len(own) <= _MOST and counts_up
            found[own] = stem in _STEMS or (are_many and self._are_coordinates(own))
        return found

    def _are_coordinates(self, own: list[int]) -> bool:
        some = self._some()[:, own]
        lengths = np.linalg.norm(some, axis=1)
        if np.nanmean(some != np.round(some)) < _MOSTLY:
            return False
        has_both = ((some > 0).any(axis=0) & (some < 0).any(axis=0)).mean()
        return bool(has_both >= _ON_BOTH_SIDES or np.nanstd(lengths) <= 0.01 * np.nanmean(lengths))

    def _some(self) -> Float:
        """Some of the rows, spread evenly."""
        rows = np.unique(np.linspace(0, self.values.shape[0] - 1, _SAMPLE).astype(int))
        return self.columns(np.arange(len(self.of)), rows)

    @property
    def can_name(self) -> bool:
        """Whether a name can be made of any of them."""
        return not self.coordinates.all() if self.of else True

    def columns(self, index: NDArray[np.intp], rows: NDArray[np.intp] | None = None) -> Float:
        """Some of the columns, dense, of some of the rows."""
        chosen: Any = self._by_column[:, index] if rows is None else self.values[rows][:, index]
        return np.asarray(chosen.toarray() if sp.issparse(chosen) else chosen, dtype=np.float64)


def features_in(
    X: Any, names: Sequence[str] | None, otherwise: Sequence[str] | None, described: Description | None
) -> Features:
    """The features of data of any kind, with the given names, else those in the data, else ``otherwise``.

    ``described`` is the description that a fit has of the same data, if it has one.
    """
    X = to_host(X) if is_device_array(X) else X
    if is_documents(X):
        return _words(X)
    own_names = names_of(X) if is_table(X) else []
    X = unfolded(X) if is_table(X) else X
    are_cells = is_annotated(X)
    if are_cells:
        names, X = [str(name) for name in X.var.index] if names is None else names, X.X
    if is_table(X):
        return _of_table(X, names, described, {str(name) for name in own_names})
    finite = True if sp.issparse(X) else "allow-nan"
    values = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=finite)
    n_columns = values.shape[1]
    if otherwise is None or len(otherwise) != n_columns:
        otherwise = [f"x{index}" for index in range(n_columns)]
    given = _checked(names, n_columns) or [str(name) for name in otherwise]
    narrow, marks = _narrow(values.dtype), {}
    if described is not None and described._sentinels and len(described.columns) == n_columns:
        values = np.column_stack([described.without_sentinels(column, at) for at, column in enumerate(values.T)])
        marks = {at: described.sentinels_of(at) for at in range(n_columns)}
    are_counts = are_cells or sp.issparse(values) or (described is not None and described.kind == "counts")
    of = [Feature(name, stored=Stored(name, gaps=marks.get(at, ()), narrow=narrow)) for at, name in enumerate(given)]
    return Features(values, of, n_columns, are_counts=are_counts)


def features_in_blocks(X: dict[str, Any], names: Sequence[str] | None, prepared: PreparedBlocks) -> Features:
    """The features of several blocks side by side, each with the name of its block before its own."""
    if names is not None:
        raise ValueError(
            "feature_names is for one table, and X has blocks: pass data frames, whose columns have names."
        )
    parts: dict[str, Features] = {}
    for name, block in as_fitted(X, list(prepared.preparations)).items():
        with about_block(name):
            own = prepared.preparations[name]
            otherwise, description = (getattr(own, one, None) for one in ("feature_names_in_", "description_"))
            parts[name] = features_in(block, None, otherwise, description)
    values: list[Any] = [part.values for part in parts.values()]
    joined = sp.hstack(values, format="csr") if any(map(sp.issparse, values)) else np.hstack(values)
    of = [
        one._replace(column=in_block(name, one.column), stored=None) for name, part in parts.items() for one in part.of
    ]
    return Features(joined, of, None, [in_block(name, note) for name, part in parts.items() for note in part.notes])


def words_of_rows(named_by: Any, X: Any, n_rows: int) -> Features:
    """The words of a text for each row, by which clusters are named: those of a column of the data, or given ones."""
    texts = named_by
    if isinstance(named_by, str):
        columns = names_of(X) if is_table(X) else []
        if named_by not in columns:
            has = f"has the columns {listed([str(name) for name in columns])}" if columns else "has no names of columns"
            raise ValueError(f"names_from={named_by!r}: X {has}. Name one of its columns, or give a text for each row.")
        texts = list(columns_of(X))[columns.index(named_by)]
    texts = ["" if is_missing(text) else str(text) for text in np.asarray(texts, dtype=object).tolist()]
    if len(texts) != n_rows:
        raise ValueError(f"names_from has {len(texts)} texts and X has {n_rows} rows: give one for each.")
    try:
        return _words(texts)
    except ValueError as error:
        raise ValueError(f"names_from gives no names: {error}") from error


def at_hand(X: Any) -> Any:
    """Rows in memory or on a device: those of a file or with Dask are loaded."""
    rows = loaded(X)
    if is_device_array(rows) or isinstance(rows, np.ndarray) or not is_elsewhere(rows):
        return rows
    size = 0.0 if hasattr(X, "columns") else float(np.prod(rows.shape)) * rows.dtype.itemsize  # a frame does not know
    check_memory(2 * size, "To load X", "give some of the rows, such as X[:100_000]; the model labels them")
    return X.compute() if is_lazy(rows) else np.asarray(rows[:])


def some_of_each(labels: Labels, most: int, fewest: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """All rows where they are at most so many, else some of each cluster by its size, and of small ones the fewest.

    In the order of the rows; a little over ``most``, if many clusters are small.
    """
    if labels.size <= most:
        return np.arange(labels.size)
    sizes = np.bincount(labels)
    wanted = np.minimum(sizes, np.maximum(fewest, sizes * most // labels.size))
    shuffled = rng.permutation(labels.size)
    order = shuffled[np.argsort(labels[shuffled], kind="stable")]
    rank = np.arange(labels.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[rank < np.repeat(wanted, sizes)])


def _checked(names: Sequence[str] | None, n_columns: int) -> list[str] | None:
    if names is not None and len(names) != n_columns:
        raise ValueError(f"feature_names has {len(names)} names and X has {n_columns} columns: give one for each.")
    return None if names is None else [str(name) for name in names]


def _words(documents: Any) -> Features:
    words = Words().fit(documents)
    meaning = [Feature(str(word), "word") for word in words.vocabulary_]
    return Features(words.transform(documents), meaning, None, are_counts=True)


def _of_table(
    X: Any, names: Sequence[str] | None, described: Description | None, own_names: Collection[str]
) -> Features:
    """Columns coded one by one; ids, long text and constant columns tell nothing of a cluster and are left out."""
    is_known = described is not None and (described.n_samples, len(described.columns)) == X.shape
    description = described if described is not None and is_known else describe(X)
    if description.kind == "documents":
        return _words(X[names_of(X)[int(np.flatnonzero(description.of_kind("text"))[0])]])
    given = _checked(names, X.shape[1])
    has_names = not isinstance(X, np.ndarray)
    own = [str(name) if has_names else f"x{name}" for name in names_of(X)]
    asked_by = _names_of_queries(names_of(X)) if has_names else set(given or own)
    coded: list[tuple[Feature, Float]] = []
    left_out: list[str] = []
    parts = zip(given or own, columns_of(X), (one.kind for one in description.columns), strict=True)
    for at, (name, column, kind) in enumerate(parts):
        if kind in ("id", "text", "constant"):
            left_out.append(f"{name!r} ({kind})")
            continue
        stored = None
        if not has_names or own[at] in own_names:
            asked = own[at] if has_names else name
            stored = Stored(asked, gaps=description.sentinels_of(at), is_queried=asked in asked_by)
        coded += [
            (one, description.without_sentinels(values, at)) for one, values in _coded(name, column, kind, stored)
        ]
    listed = ", ".join(left_out[:5]) + (", ..." if len(left_out) > 5 else "")
    values = np.column_stack([values for _, values in coded]) if coded else np.empty((X.shape[0], 0))
    notes = [f"left out: {listed}"] if left_out else []
    return Features(values, [one for one, _ in coded], X.shape[1], notes, description.kind == "counts")


def _coded(name: str, column: Any, kind: str, stored: Stored | None) -> Iterator[tuple[Feature, Float]]:
    """A column as one column of numbers, or one for each of its frequent levels."""
    cells = cells_of(column, name)
    if kind in ("number", "count", "date"):
        what = "date" if kind == "date" else "number"
        values = cells.days() if kind == "date" else cells.numbers()
        yield Feature(name, what, stored=_of_numbers(stored, column, cells, what)), values
        return
    levels, codes = cells.levels()
    gap = np.where(codes < 0, np.nan, 0.0)
    stored = _of_levels(stored, column, cells)
    if len(levels) == 2:
        both = None if stored is None else stored._replace(level=levels[1], other=levels[0])
        yield Feature(name, "level", str(levels[1]), str(levels[0]), both), gap + (codes == 1)
        return
    sizes = np.bincount(codes[codes >= 0], minlength=len(levels))
    frequent = np.argsort(-sizes, kind="stable")[: min(_LEVELS, np.count_nonzero(sizes))]
    for code in sorted(frequent):
        one = None if stored is None else stored._replace(level=levels[code])
        yield Feature(name, "level", str(levels[code]), stored=one), gap + (codes == code)


# -- how the table holds them ---------------------------------------------------------------------------------------


def _names_of_queries(names: Sequence[Any]) -> set[str]:
    """Names by which pandas knows columns in a query: of text, and not the same with a low line for each space."""
    quoted = Counter(re.sub(r"\s", "_", name) for name in names if isinstance(name, str) and not name.isidentifier())
    return {name for name in names if isinstance(name, str) and quoted[re.sub(r"\s", "_", name)] < 2}


def _of_numbers(stored: Stored | None, column: Any, cells: Cells, kind: str) -> Stored | None:
    """Of numbers and dates, where the cells are such; None where they are text, durations or of a time zone."""
    own = np.asarray(column).dtype
    if stored is None or cells.is_category or cells.values.dtype.kind != {"date": "M", "number": "f"}[kind]:
        return None
    if kind == "date":
        return stored if own.kind == "M" and getattr(getattr(column, "dtype", None), "tz", None) is None else None
    if own.kind not in "iufO" or (own.kind in "iu" and np.abs(cells.values).max(initial=0.0) >= _EXACT):
        return None
    return stored._replace(narrow=_narrow(own))


def _of_levels(stored: Stored | None, column: Any, cells: Cells) -> Stored | None:
    """Of levels, where the cells are text, truth values or numbers, of one type; and the blank ones."""
    if stored is None or cells.values.dtype.kind == "M":
        return None
    if cells.values.dtype.kind != "O":
        return stored
    raw = column.cat.categories if hasattr(column, "cat") and hasattr(column.cat, "categories") else column
    cells_there = cells.values if isinstance(raw, Cells) else np.asarray(raw)
    types = {type(cell) for cell in cells_there.tolist() if not is_missing(cell)}
    if not (all(issubclass(one, str) for one in types) or all(issubclass(one, bool | np.bool_) for one in types)):
        return None  # numbers beside text, which were made text
    return stored._replace(gaps=tuple(cells.marks))


def _narrow(dtype: Any) -> Any:
    """The type of numbers of fewer bits than Python's."""
    return dtype.type if dtype.kind == "f" and dtype.itemsize < 8 else None
