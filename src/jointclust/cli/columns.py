"""What is said of the columns of a table: which are used, why the others are not, and what changes that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from jointclust.cli.errors import as_option
from jointclust.views.columns import Column
from jointclust.views.kinds import Description, listed
from jointclust.views.usage import ALL_USED, ALONE

_KINDS = {
    "table": "a table",
    "mixed": "a mixed table",
    "features": "features of one scale",
    "counts": "counts",
    "documents": "documents",
    "unit rows": "rows of one length",
}
_PLURAL = {"category": "categories"}
# What is said of columns that cannot be compared, one and more of them.
_LEFT_OUT = {"id": ("an id", "ids"), "constant": ("constant", "constant")}
# Columns, and other groupings, that are named.
_NAMED, _GROUPS = 8, 2
# Columns that are little beside texts.
_FEW = 3


def in_short(description: Description, views: Sequence[str] | None = None) -> list[str]:
    """What is clustered, what is not used and why, and how to change it, in a few lines.

    ``views`` are those that were taken, if they are not the ones that suit the data.
    """
    change = "To change this: --keep NAME, --drop NAME, --all-columns. More: jointclust look DATA"
    is_open = any(is_left_aside(column) for column in description.columns)
    aside = f"{unused(description)}. {change}" if is_open and unused(description) else unused(description)
    aside = ". ".join(part for part in (aside, other_groupings(description)) if part)
    return [f"Clustered {clustered(description, views)}", *([aside] if aside else [])]


def of_texts(description: Description) -> str:
    """That there are texts which are not clustered, and how to cluster them."""
    texts = _left_texts(description)
    if not texts or description.kind == "documents":
        return ""
    used = listed([column.name for column in description.columns if column.used], _NAMED)
    holds = f"Column {texts[0]!r} holds texts" if len(texts) == 1 else f"Columns {listed(texts, _NAMED)} hold texts"
    how = as_option("--text-column", texts[:1])
    return f"{holds}, which have no part in these clusters: they are of {used} alone. To cluster the texts: {how}"


def are_mostly_texts(description: Description) -> bool:
    """Whether there is little beside texts that are not clustered, so that they are what a user may have meant."""
    return bool(_left_texts(description)) and sum(column.used for column in description.columns) <= _FEW


def _left_texts(description: Description) -> list[str]:
    return [column.name for column in description.columns if column.kind == "text" and not column.used]


def other_groupings(description: Description) -> str:
    """The options that show other groupings of the rows, if there are any."""
    groups = [as_option("--columns", group) for group in description.groups[:_GROUPS]]
    more = f" (and {len(description.groups) - _GROUPS} more)" if description.groups[_GROUPS:] else ""
    what = "Another grouping" if len(description.groups) == 1 else "Other groupings"
    return f"{what} of the same rows: {', '.join(groups)}{more}" if groups else ""


def clustered(description: Description, views: Sequence[str] | None = None) -> str:
    """As what the data are clustered: their kind, the columns that are used, the views."""
    names = description.views if views is None else views
    what, seen = _KINDS[description.kind], f"{'view' if len(names) == 1 else 'views'}: {', '.join(names)}"
    if description.kind == "documents":
        return f"as {what}; {seen}"
    used = [column for column in description.columns if column.used]
    kinds = ", ".join(_counted(kind, number) for kind, number in Counter(one.kind for one in used).most_common())
    n_columns = len(description.columns)
    every = {1: "its one column", 2: "both columns"}.get(n_columns, f"all {n_columns:,} columns")
    size = every if len(used) == n_columns else f"{len(used):,} of {n_columns:,} columns"
    text = f"as {what} by {size} ({kinds}); {seen}"
    return f"{text}; {ALL_USED}" if any(column.why == ALL_USED for column in used) else text


def _counted(kind: str, number: int) -> str:
    return f"{number:,} {kind if number == 1 else _PLURAL.get(kind, f'{kind}s')}"


def is_left_aside(column: Column) -> bool:
    """Whether a column could be used, and is not."""
    return not column.used and column.kind not in ("id", "constant", "text")


def unused(description: Description) -> str:
    """Columns that are not used, by the reason."""
    if description.kind == "documents":
        return ""
    rest = [column for column in description.columns if not column.used]
    in_groups = {name for group in description.groups for name in group}
    parts = []
    alone = [column.name for column in rest if column.why.startswith(ALONE)]
    if alone:
        depends = "depends" if len(alone) == 1 else "each depends"
        parts.append(f"{listed(alone, _NAMED)} ({depends} on no other column)")
    for group in description.groups[:_GROUPS]:
        parts.append(f"{listed(group, _NAMED)} (depend on each other and on none of the columns used)")
    for kind, words in _LEFT_OUT.items():
        names = [column.name for column in rest if column.kind == kind]
        parts += [f"{listed(names, _NAMED)} ({words[len(names) > 1]})"] if names else []
    known = {*alone, *in_groups}
    others = [one for one in rest if is_left_aside(one) and one.name not in known]
    parts += [f"{one.name!r} ({one.why})" for one in others[:_GROUPS]]
    return f"Not used: {'; '.join(parts)}" if parts else ""


def change_of(column: Column, groups: Sequence[Sequence[str]]) -> str:
    """The option that changes what is done with a column."""
    if column.used:
        return as_option("--drop", [column.name])
    if column.kind == "text":
        return as_option("--text-column", [column.name])
    if column.kind == "id":
        return as_option("--id-column", [column.name])
    own = next((group for group in groups if column.name in group), None)
    keep = as_option("--keep", [column.name])
    if own is not None:
        return f"{keep}, or {as_option('--columns', own)}"
    return "" if column.kind == "constant" else keep
