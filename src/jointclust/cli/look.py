"""The command that looks at data before a fit: look."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

import click
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table as Drawn

from jointclust.cli import options, preparing
from jointclust.cli.columns import change_of, clustered, of_texts, other_groupings, unused
from jointclust.cli.console import Voice, counted
from jointclust.cli.errors import as_option
from jointclust.cli.reading import InputFile, file_to_fit
from jointclust.cli.repeated import arrays_of, describe_ids, describe_repeats, gaps_in, n_different, n_different_rows
from jointclust.exceptions import collected
from jointclust.views.columns import Column
from jointclust.views.kinds import Described, Description, described
from jointclust.views.preparation import EMPTY_ROW
from jointclust.views.rule import percent
from jointclust.views.written import DAY_FIRST, MONTH_FIRST

# Columns that are listed, and the width of the table where there is no terminal.
_LISTED, _WIDTH = 100, 160
# Columns of a terminal from which on a table has room for sentences.
_ROOM = 110


@click.command()
@options.data
@options.use
@options.reading
@options.speaking
def look(data: str, **given: Any) -> None:
    """Look at DATA before a fit: what each column is, whether it is used, and how to change that.

    A column is used if it depends on others: clusters are what makes columns depend on each other. "related" tells how
    far it does, in standard deviations of what chance gives. The options are those of fit.
    """
    voice = Voice(given)
    source = file_to_fit(voice, data, given | {"missing": "auto", "categories": "auto"}, of_copies=False)
    with voice.step("look", f"Looking at {preparing.size_of(source.table.data)}"), collected():
        overview = _Look.of(source)
    if voice.as_json:
        voice.result("", overview.facts())
    elif not voice.quiet:
        _draw(overview, shlex.quote(data))


class _Look(NamedTuple):
    """What there is to say of data: their description, and counts of all rows."""

    source: InputFile
    looked_at: Described
    levels: list[int | None]  # different values of each column
    n_repeated: int | None  # rows that are equal to another before them; None if that was not looked at
    n_empty: int | None  # rows with nearly no cells

    @classmethod
    def of(cls, source: InputFile) -> _Look:
        """What there is to say of a file."""
        data, names = source.table.data, source.table.names
        looked_at = described(data, source.used, names=names if sp.issparse(data) else None)
        arrays = arrays_of(data)
        description = looked_at.description
        if arrays is None:
            return cls(source, looked_at, [None] * len(description.columns), None, None)
        arrays = [_without_marks(description, array, place) for place, array in enumerate(arrays)]
        kept = [array for array, column in zip(arrays, description.columns, strict=True) if column.kind != "id"]
        used = [gaps_in(array) for array, use in zip(arrays, description.used, strict=True) if use]
        is_empty = np.mean(used, axis=0) >= EMPTY_ROW
        n_repeated = len(arrays[0]) - n_different_rows(kept) if kept else None
        return cls(source, looked_at, [n_different(array) for array in arrays], n_repeated, int(is_empty.sum()))

    @property
    def description(self) -> Description:
        return self.looked_at.description

    @property
    def sentinels(self) -> dict[str, list[float]]:
        """Numbers that stand for gaps, by column."""
        by_column: dict[str, list[float]] = {}
        for place, value in self.description._sentinels:
            by_column.setdefault(self.description.columns[place].name, []).append(value)
        return by_column

    @property
    def n_ids(self) -> int | None:
        """How many names of rows are different."""
        return None if self.source.table.ids is None else len(set(self.source.table.ids.tolist()))

    def change(self, column: Column, *, is_all: bool) -> str:
        """The options that change what is done with a column, unless it is all that is used."""
        if is_all:
            return ""
        options, order = change_of(column, self.description.groups), self.source.table.date_orders.get(column.name)
        other = MONTH_FIRST if order == DAY_FIRST else DAY_FIRST
        return options if order is None else f"{options}, --dates {other}"

    def rows(self) -> list[dict[str, Any]]:
        """A row for each column, that of the names of the rows first."""
        name, lines = self.source.table.id_column, list[dict[str, Any]]()
        if name is not None:
            own = Column(name or "(no name)", "id", 0.0, np.nan, np.nan, False, "it names the rows: their id")
            is_shared = self.n_ids is not None and self.n_ids < self.description.n_samples
            lines.append(_facts(own, self.n_ids, as_option("--keep", [name]) if is_shared and name else ""))
        n_used = int(self.description.used.sum())
        for column, levels in zip(self.description.columns, self.levels, strict=True):
            lines.append(_facts(column, levels, self.change(column, is_all=column.used and n_used == 1)))
        return lines

    def facts(self) -> dict[str, Any]:
        """All of it, for programs."""
        table = self.source.table
        used = [column.name for column in self.description.columns if column.used]
        return {
            "rows": self.description.n_samples,
            "kind": self.description.kind,
            "views": self.description.views,
            "clustered_by": used,
            "columns": self.rows(),
            "other_groupings": self.description.groups,
            "id_column": table.id_column,
            "different_ids": self.n_ids,
            "repeated_rows": self.n_repeated,
            "nearly_empty_rows": self.n_empty,
            "sentinels": self.sentinels,
            "date_orders": table.date_orders,
            "reasons": self.description.reasons,
            "notes": table.notes,
        }

    def sentences(self) -> list[str]:
        """What is said below the table."""
        texts = [f"Would be clustered {clustered(self.description)}.", unused(self.description)]
        texts += [other_groupings(self.description), of_texts(self.description), self._of_rows()]
        texts.append(describe_ids(self.source.table, self.description.n_samples))
        for name, values in self.sentinels.items():
            marks = ", ".join(f"{value:.10g}" for value in values)
            texts.append(
                f"Column {name!r}: {marks} is taken as a gap: a mark for missing cells, far outside of all others."
            )
        if sample := [reason for reason in self.description.reasons if reason.startswith("from a sample")]:
            texts.append(f"Kinds, relations and gaps are {sample[0]}; levels and repeated rows are of all.")
        return [line for line in texts if line]

    def _of_rows(self) -> str:
        parts = [describe_repeats(self.n_repeated)]
        if self.n_empty:
            parts.append(
                f"{counted(self.n_empty, 'row')} have no value in {EMPTY_ROW:.0%} of the columns used or more: where "
                "they belong is a guess; leave them out."
            )
        return " ".join(parts).strip().replace("1 row have ", "1 row has ")


def _facts(column: Column, levels: int | None, change: str) -> dict[str, Any]:
    related = None if np.isnan(column.related) else round(column.related, 2)
    why = column.why.partition("; to cluster it")[0]  # what to do, is said beside it
    facts = {"name": column.name, "kind": column.kind, "used": column.used, "related": related}
    return facts | {"gaps": round(column.missing, 4), "levels": levels, "why": why, "change": change}


def _draw(overview: _Look, data: str) -> None:
    rows = overview.rows()
    width = None if sys.stdout.isatty() else _WIDTH
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    has_room = console.width >= _ROOM
    if rows:
        drawn = Drawn(box=box.SIMPLE_HEAD, pad_edge=False)
        for head in ("column", "kind", "used"):
            drawn.add_column(head, overflow="fold")
        for head in ("related", "gaps", "levels"):
            drawn.add_column(head, justify="right", no_wrap=True)
        if has_room:
            drawn.add_column("why", ratio=3, overflow="fold")
            drawn.add_column("to change it", ratio=2, overflow="fold")
        for row in rows[:_LISTED]:
            drawn.add_row(*_cells(row), *((row["why"], row["change"]) if has_room else ()))
        console.print(drawn)
        if not has_room:
            console.print("Why, and what changes it:")
            for row in rows[:_LISTED]:
                change = f" ({row['change']})" if row["change"] else ""
                console.print(f"- {row['name']}: {row['why']}{change}")
            console.print()
    if len(rows) > _LISTED:
        console.print(f"{len(rows) - _LISTED:,} more columns: --json has them all.")
    for line in overview.sentences():
        console.print(line, soft_wrap=True)
    console.print(f"To cluster the rows, with the options given here: jointclust fit {data}", soft_wrap=True)


def _cells(row: dict[str, Any]) -> Iterable[str]:
    yield from (row["name"], row["kind"], "yes" if row["used"] else "no")
    yield "" if row["related"] is None else f"{row['related']:.1f}"
    yield percent(row["gaps"]) if row["gaps"] else ""
    yield "" if row["levels"] is None else f"{row['levels']:,}"


def _without_marks(description: Description, array: NDArray, place: int) -> NDArray:
    return description.without_sentinels(array, place) if array.dtype.kind == "f" else array
