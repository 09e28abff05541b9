"""What `compare` says of methods side by side: those that find the same are one line, and a sentence sums it up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

# Agreements that differ by less are the same.
_TIE = 0.01
# Agreement with the others from which on a method finds what they find, and below which it finds something else.
_SAME, _OTHER = 0.9, 0.5
# Methods of a group that are named.
_NAMED = 6

Table = Mapping[str, Sequence[Any]]


def groups_of(whole: Table) -> list[list[int]]:
    """Rows of the table that tie: the same number of clusters, and nearly the agreement of the first of them."""
    order = range(len(whole["method"]))
    groups: list[list[int]] = []
    for row in order:
        same = bool(groups) and whole["clusters"][row] == whole["clusters"][groups[-1][0]]
        near = bool(groups) and abs(whole["agreement"][groups[-1][0]] - whole["agreement"][row]) < _TIE
        if same and near:
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def grouped(whole: Table) -> dict[str, list[str]]:
    """The table, a line for each group of methods that tie; ranges where their values differ."""
    table: dict[str, list[str]] = {name: [] for name in whole if name != "warnings"}
    for group in groups_of(whole):
        for name, cells in table.items():
            values = [whole[name][row] for row in group]
            cells.append(_listed(values) if name == "method" else _range(values))
    return table


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _range(values: Sequence[Any]) -> str:
    known = sorted(value for value in values if not (isinstance(value, float) and np.isnan(value)))
    if not known:
        return ""
    ends = [f"{value:.2f}" if isinstance(value, float) else str(value) for value in (known[0], known[-1])]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def verdict_of(whole: Table) -> str:
    """What the table says, in a sentence or two."""
    names, agreement, seconds = list(whole["method"]), np.asarray(whole["agreement"]), np.asarray(whole["seconds"])
    same, n_methods = np.flatnonzero(agreement >= _SAME), len(names)
    if n_methods == 1:
        return f"Only {names[0]} was tried: there is nothing to compare it with."
    if same.size > 1:
        fastest = names[int(same[seconds[same].argmin()])]
        text = (
            f"{'All' if same.size == n_methods else f'{same.size} of'} {n_methods} methods find nearly the same "
            f"clusters (agreement {_SAME} or more): which of them you take matters little; {fastest} is the fastest."
        )
    elif agreement[0] >= _OTHER:
        text = f"The methods find similar clusters, not the same: {names[0]} agrees with the others most."
    else:
        text = "The methods find different clusters: the data show no grouping that all see, or not this many clusters."
    strange = [name for name, value in zip(names, agreement, strict=True) if value < _OTHER]
    if strange and agreement[0] >= _OTHER:
        finds = "finds" if len(strange) == 1 else "find"
        text += f" {_listed(strange)} {finds} something else."
    return text


def aligned(table: Mapping[str, Sequence[str]], width: int = 60) -> list[str]:
    """Lines of a table with its columns below each other; long names are broken at commas."""
    lines = [list(table)]
    for cells in zip(*table.values(), strict=True):
        first, *more = _broken(cells[0], width)
        lines.append([first, *cells[1:]])
        lines += [[part, *[""] * (len(cells) - 1)] for part in more]
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return [
        "  ".join(
            cell.ljust(size) if place == 0 else cell.rjust(size)
            for place, (cell, size) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def _broken(text: str, width: int) -> list[str]:
    lines = [""]
    for place, word in enumerate(text.split(", ")):
        joined = word if place == 0 else f"{lines[-1]}, {word}"
        if len(joined) <= width or place == 0:
            lines[-1] = joined
        else:
            lines[-1] += ","
            lines.append(f"  {word}")
    return lines
