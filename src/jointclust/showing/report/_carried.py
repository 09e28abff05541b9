"""Columns that are shown with the rows, whether they are clustered or not, as the script of a page gets them.

Each is an object with ``name``, ``kind`` and ``role``, packed as the page's other columns are:

- ``kind`` "number": ``min``, ``step``, ``bits``, ``data``, as a feature has; the last code is an empty cell;
- ``kind`` "date": the same in days since 1970-01-01;
- ``kind`` "category": ``names``, ``sizes``, ``bits``, ``data``, as the column of clusters has; the name "" is an
  empty cell;
- ``kind`` "text": ``data`` alone, compressed JSON of one string for each row, as ``ids`` are.

``role`` is "clustered" (the documents themselves), "asked" (someone wants to see it), "category" (a column of the data
that is clustered, too, level by level) or "other".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from jointclust.showing.report._content import Content
from jointclust.showing.report._payload import category, numbers, packed_text, script_json
from jointclust.views.cells import Cells, cells_of
from jointclust.views.columns import columns_of, is_table, names_of
from jointclust.views.kinds import Description, is_documents

# Words of a text, on the average, at the least.
_WORDS = 4
# Levels of a column up to which it is one to colour by, and not text.
_LEVELS = 200
# Shares of the room that the documents, and all columns together that nobody has asked for, may take.
_OF_DOCUMENTS, _OF_OTHERS = 0.6, 0.3
# Columns beyond which they are pixels, genes or words, and characters of a document that are carried.
_COLUMNS, _CHARACTERS = 1000, 2000


class _Column(NamedTuple):
    name: str
    cells: Any
    role: str


def carried(content: Content, room: int) -> tuple[list[dict[str, Any]], list[str]]:
    """The columns that there is room for, and the names of those that someone has asked for and there is none."""
    left = {"asked": room, "clustered": int(_OF_DOCUMENTS * room)}
    others = int(_OF_OTHERS * room)
    columns, missing = list[dict[str, Any]](), list[str]()
    for name, cells, role in _columns(content):
        packed = {**_packed(name, cells), "role": role}
        size = len(script_json(packed)) + 1
        if size > left.get(role, others):
            missing += [name] if role in left else []
            continue
        if role in left:
            left = {each: free - size for each, free in left.items()}
        else:
            others -= size
        columns.append(packed)
    return columns, missing


def _columns(content: Content) -> Iterator[_Column]:
    """What may be shown, that which someone asked for first."""
    X, shown = content.fitted.X, content.shown
    if is_documents(X):
        yield _Column(content.text_name, [str(text)[:_CHARACTERS] for text in X], "clustered")
    yield from (_Column(name, values, "asked") for name, (values, is_wanted) in shown.items() if is_wanted)
    if is_table(X) and content.fitted.description is not None:
        yield from _of_data(content, X, content.fitted.description)
    yield from (_Column(name, values, "other") for name, (values, is_wanted) in shown.items() if not is_wanted)


def _of_data(content: Content, X: Any, description: Description) -> Iterator[_Column]:
    """Columns of the data that no feature shows as they are: categories, dates, and those that are not used."""
    known = {one.name: one for one in description.columns}
    names = [str(name) for name in names_of(X)]
    if len(names) > _COLUMNS or isinstance(X, np.ndarray):
        return
    features = set(content.fitted.names)
    for name, column in zip(names, columns_of(X), strict=True):
        kind = known[name].kind if name in known else "id"
        if kind == "text" and description.kind == "documents":
            yield _Column(name, column, "clustered")
        elif kind in ("category", "boolean") and known[name].used:
            yield _Column(name, column, "category")
        elif kind != "constant" and (kind == "date" or name not in features):
            yield _Column(name, column, "other")


def _packed(name: str, column: Any) -> dict[str, Any]:
    if isinstance(column, list):
        return _text(name, column)
    cells = cells_of(column, name)
    if cells.kind in ("number", "date"):
        values = cells.numbers() if cells.kind == "number" else cells.days()
        return {**numbers(name, values), "kind": cells.kind}
    levels, codes = cells.levels()
    if _is_category(len(levels), codes.size) or cells.kind == "boolean":
        names = [*map(str, levels), *([""] if (codes < 0).any() else [])]
        return category(name, names or [""], np.where(codes < 0, max(len(names) - 1, 0), codes))
    return _text(name, _texts(cells))


def documents_of(content: Content) -> list[str] | None:
    """The texts of the rows, if any: those that are clustered, else those asked for, else those carried along."""
    for name, cells, _ in _columns(content):
        packed = cells if isinstance(cells, list) else _as_texts(name, cells)
        if packed is not None:
            return packed
    return None


def _as_texts(name: str, column: Any) -> list[str] | None:
    cells = cells_of(column, name)
    if cells.kind in ("number", "date", "boolean"):
        return None
    levels, codes = cells.levels()
    texts = _texts(cells)
    # Names and codes of a word or two are no texts to read.
    is_long = np.mean([len(text.split()) for text in texts[:1000]]) >= _WORDS if texts else False
    return texts if is_long and not _is_category(len(levels), codes.size) else None


def _is_category(n_levels: int, n_rows: int) -> bool:
    return n_levels <= _LEVELS and 2 * n_levels <= n_rows


def _texts(cells: Cells) -> list[str]:
    values = ["" if value is None else str(value)[:_CHARACTERS] for value in cells.values]
    return values if cells.codes is None else [values[code] for code in cells.codes]


def _text(name: str, texts: list[str]) -> dict[str, Any]:
    return {"name": name, "kind": "text", "data": packed_text(json.dumps(texts).encode())}
