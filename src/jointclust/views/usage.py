"""Which columns of a table rows are compared by, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jointclust.types import Float
from jointclust.views.columns import Facts
from jointclust.views.modes import has_modes
from jointclust.views.relations import FEWEST_ROWS, Coded, Relations, coded_levels, coded_numbers, relations_of

# Columns that are too many to be one thing each: pixels, genes, words. None of them is left out by itself.
MOST_COLUMNS = 500
LEFT_OUT = ("id", "constant", "text")
ALL_USED = "no columns depend on each other, so all are used"
ALONE = "it depends on no other column, so it says nothing of clusters that several columns show"
NAMED = "you named it"
# In a list of names: the columns that depend on others.
RELATED = "related"


class Usage(NamedTuple):
    """For each column: whether it is used, how far it depends on others (NaN if not tested), why; and other groupings.

    ``groups`` holds the names of columns that depend on each other and on none of those that are used; ``has_related``
    tells whether columns are used because they depend on each other.
    """

    used: NDArray[np.bool_]
    related: Float
    why: list[str]
    groups: list[list[str]]
    has_related: bool = False


def coded(column: Facts) -> Coded:
    """A column as the test of relations takes it."""
    if column.numbers is not None:
        return coded_numbers(column.numbers)
    if column.codes is None:
        raise ValueError(f"A column of kind {column.kind!r} has nothing to compare.")
    return coded_levels(column.codes)


def all_columns(facts: Sequence[Facts]) -> Usage:
    """All columns that can be compared."""
    used = np.array([column.kind not in LEFT_OUT for column in facts])
    why = ["all columns are used" if use else _left_out(column) for use, column in zip(used, facts, strict=True)]
    return Usage(used, np.full(len(facts), np.nan), why, [])


def related_columns(facts: Sequence[Facts], names: Sequence[str]) -> Usage:
    """Columns that depend on others: the main group of them. All are used where none depend on each other."""
    every = all_columns(facts)
    tested = np.flatnonzero(every.used).tolist()
    n_rows = max(part.size for column in facts for part in (column.numbers, column.codes) if part is not None)
    untested = _untested(len(tested), n_rows)
    if untested is not None:
        return every._replace(why=[untested if use else text for use, text in zip(every.used, every.why, strict=True)])
    rows = _distinct_rows([facts[index] for index in tested])
    relations = relations_of([coded(_some_rows(facts[index], rows)) for index in tested])
    main = relations.groups[0] if relations.groups else range(len(tested))
    used, related, why = np.zeros_like(every.used), every.related.copy(), list(every.why)
    used[[tested[place] for place in main]] = True
    related[tested] = relations.related
    labels = [str(names[index]) for index in tested]
    for place, index in enumerate(tested):
        why[index] = _why(place, facts[index], relations, labels)
    groups = [[labels[place] for place in group] for group in relations.groups[1:]]
    return Usage(used, related, why, groups, bool(relations.groups))


def given_columns(facts: Sequence[Facts], names: Sequence[str], wanted: Sequence[object]) -> Usage:
    """The columns that a user names, and no others."""
    known = {str(name): index for index, name in enumerate(names)}
    unknown = [name for name in wanted if str(name) not in known]
    if unknown or not wanted:
        shown = ", ".join(map(str, names[:20])) + (", ..." if len(names) > 20 else "")
        what = f"columns names {unknown[0]!r}, which X lacks" if unknown else "columns is an empty list"
        raise ValueError(f"{what}: its columns are {shown}.")
    for name in wanted:
        _check_levels(facts[known[str(name)]], str(name))
    chosen = np.isin(np.arange(len(names)), [known[str(name)] for name in wanted])
    is_text = len(wanted) == 1 and facts[known[str(wanted[0])]].kind == "text"
    usable = np.array([column.kind not in LEFT_OUT or (column.kind == "text" and is_text) for column in facts])
    if not (chosen & usable).any():
        raise ValueError(f"No rows differ in {', '.join(map(repr, wanted))}: name other columns.")
    why = [
        (NAMED if can else _left_out(column)) if chose else "you named others"
        for chose, can, column in zip(chosen, usable, facts, strict=True)
    ]
    return Usage(chosen & usable, np.full(len(facts), np.nan), why, [])


def _check_levels(column: Facts, name: str) -> None:
    """Refuse a category that no two rows share."""
    present = np.empty(0) if column.codes is None or column.kind != "category" else column.codes[column.codes >= 0]
    if present.size > 1 and np.unique(present).size == present.size:
        raise ValueError(f"Column {name!r} has a value of its own in each row: no rows are alike in it. Leave it out.")


def named_beside_related(names: Sequence[str], wanted: Sequence[object]) -> bool:
    """Whether a list has "related" beside names of columns; a column of that name counts as a column."""
    return RELATED in wanted and RELATED not in names


def related_and_given(facts: Sequence[Facts], names: Sequence[str], wanted: Sequence[object]) -> Usage:
    """The related columns, and those that a user names, related or not."""
    related = related_columns(facts, names)
    others = [name for name in wanted if name != RELATED]
    if not others:
        return related
    given = given_columns(facts, names, others)
    kept = [group for group in related.groups if not set(group) & set(map(str, others))]
    why = list(related.why)
    for index, name in enumerate(names):
        group = next((group for group in related.groups if name in group and group not in kept), None)
        if str(name) in map(str, others):
            why[index] = given.why[index]
        elif group is not None:
            named = ", ".join(repr(other) for other in group if other in map(str, others))
            why[index] = f"it depends on {named}, which you named, and on none of the other columns used"
    return related._replace(used=related.used | given.used, why=why, groups=kept)


def _distinct_rows(columns: Sequence[Facts]) -> NDArray[np.intp] | slice:
    """The first of equal rows, if a column of numbers differs in most rows: then equal rows are copies.

    Without such a column rows are equal because there are few levels, and how many of them are is what counts.
    """
    values = [np.asarray(column.codes if column.numbers is None else column.numbers) for column in columns]
    numbers = [np.unique(column.numbers).size for column in columns if column.numbers is not None]
    most, n_rows = max(numbers, default=0), values[0].size
    if most == n_rows or most < FEWEST_ROWS:
        return slice(None)
    _, first = np.unique(np.nan_to_num(np.column_stack(values), nan=np.inf), axis=0, return_index=True)
    return np.sort(first) if 2 * most > first.size else slice(None)


def _some_rows(column: Facts, rows: NDArray[np.intp] | slice) -> Facts:
    if column.numbers is not None:
        return column._replace(numbers=column.numbers[rows])
    return column if column.codes is None else column._replace(codes=column.codes[rows])


def _untested(n_columns: int, n_rows: int) -> str | None:
    """Why columns are not tested; None if they are."""
    if n_columns < 2:
        return "it is the only column to compare rows by"
    if n_columns > MOST_COLUMNS:
        return f"{n_columns:,} columns are too many to be tested one by one"
    return f"{n_rows} rows are too few to test it" if n_rows < FEWEST_ROWS else None


def _left_out(column: Facts) -> str:
    named = {"id": "it names the rows", "constant": "it is constant", "text": "it is long text"}
    return column.reason or named[column.kind]


def _why(place: int, column: Facts, relations: Relations, names: list[str]) -> str:
    group = relations.group_of(place)
    if not relations.groups:
        return ALL_USED
    if group == 0:
        return f"it depends on other columns, most on {names[relations.nearest[place]]!r}"
    if group is not None:
        others = ", ".join(repr(names[other]) for other in relations.groups[group] if other != place)
        return f"it depends on {others} and on none of the columns used: another grouping of the rows"
    if column.kind in ("number", "count") and column.numbers is not None and has_modes(column.numbers):
        return f"{ALONE}; it has several modes of its own"
    return ALONE
