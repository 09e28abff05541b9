"""Short names of groups of rows, of what sets each apart: "basket > 200, app", or the words that tell it.

A name is true of most of its rows and of few others, or says that it is not: "mostly app". Limits are chosen by the
F-score, words by a class-based tf-idf; a word that most groups have about as often says nothing, in any language.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.showing.features import Feature, Features, some_of_each
from jointclust.showing.profile import contrast, sums_by_group
from jointclust.showing.rules import Condition, Side, joined, shortest
from jointclust.types import Float, Labels
from jointclust.views.written import TRUTHS

# Rows that names are found in, and of each leaf the fewest; features that are tried for each group.
_ROWS, _FEWEST, _TRIED = 2_000, 10, 16
# Parts that a name has, and that it may have if others would have the same.
_PARTS, _MOST_PARTS = 2, 4
# What a further condition has to gain in the F-score, in a name and where only that tells it from others, and what a
# limit of fewer digits may lose.
_GAIN, _LEAST_GAIN, _LOSS = 0.05, 0.005, 0.02
# What it costs to say what a group is not.
_SHYNESS = 0.03
# Shares of a group's rows that a name is true of, and with what it says less at least; the share of others at the most.
_TRUE, _MOSTLY, _FEW_OTHERS = 0.8, 0.5, 0.2
# What the first of these is above the last at the least: else it is no news.
_LEAST_CONTRAST = 0.2
# Beyond the first of these, which some rows are left to show.
_SURELY_TRUE = 0.82
# What a name that is true of few enough may lose in the F-score against one that is not.
_OF_TRUTH = 0.1
# Words of a name, and those to choose from where others have the same; the least weight beside that of the first.
_WORDS, _TRUE_WORDS, _MOST_WORDS, _LEAST_WEIGHT = 3, 5, 8, 0.3
# A word that half of the other groups have this often, beside the group itself, says nothing.
_COMMON = 0.5
# The score of what is true of too few rows; that of a place between equal values is less.
_FALSE = -0.5
# Letters after which two words are forms of one.
_STEM = 5
# Letters of the two levels of a column, up to which they say little without it.
_SHORT = 4
# Letters of a column or level that are shown.
_LETTERS = 30
_UNREMARKABLE = "others"

Group = frozenset[int]


def group_names(
    features: Features, leaves: Labels, groups: Sequence[Group], given: Mapping[int, str] | None = None
) -> list[str]:
    """A name for each group of leaves, the rows of which are all that have these labels.

    Groups without a common leaf have different names. ``given`` are names that some groups have already.
    """
    rows = some_of_each(leaves, _ROWS, _FEWEST, np.random.RandomState(0))
    sizes = np.bincount(leaves)
    weights = (sizes / np.maximum(np.bincount(leaves[rows], minlength=sizes.size), 1))[leaves[rows]]
    is_inside = np.array([[leaf in group for leaf in range(sizes.size)] for group in groups], dtype=bool)
    parts = _words if features.are_counts or features.are_items else _conditions
    names = parts(features, rows, leaves[rows], weights, is_inside.reshape(len(groups), sizes.size))
    return _unique(groups, names, given or {})


def class_weights(inside: Float, elsewhere: Float) -> Float:
    r"""Class-based tf-idf: :math:`p \ln \frac{2 p}{p + q}`, p the share of a class that has a word, q of the others.

    A word that is as frequent elsewhere, or more, weighs nothing.

    Examples
    --------
    >>> import numpy as np
    >>> class_weights(np.array([0.9, 0.5]), np.array([0.9, 0.0])).round(2)
    array([0.  , 0.35])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = inside * np.log(2.0 * inside / (inside + elsewhere))
    return np.where(inside > elsewhere, weights, 0.0)


def word_shares(values: Any, labels: Labels, n_groups: int, weights: Float) -> tuple[Float, Float]:
    """Share of each group's rows that have each word, or more of a feature than the average, and the groups' sizes."""
    member = sp.csr_array((weights, (labels, np.arange(labels.size))), shape=(n_groups, labels.size))
    present = values > _without(values, weights)
    has = member @ (sp.csr_array(present, dtype=float) if sp.issparse(values) else present.astype(float))
    has = has.toarray() if sp.issparse(has) else has
    # A word that all rows of a small group have may be there by chance.
    sizes = np.asarray(member.sum(axis=1)).ravel() + 1.0
    return has / sizes[:, None], sizes


def _without(values: Any, weights: Float) -> Any:
    """What a row without a word has of it at the most: none, or the average of what all rows have something of."""
    return 0 if sp.issparse(values) else np.average(np.nan_to_num(values), axis=0, weights=weights)


def _unique(groups: Sequence[Group], candidates: Sequence[list[str]], given: Mapping[int, str]) -> list[str]:
    """For each group the first name that no disjoint group has; a number at the end if all are taken."""
    owners: dict[str, list[Group]] = {}
    names = [given.get(place, "") for place in range(len(groups))]
    for place, name in given.items():
        owners.setdefault(name.casefold(), []).append(groups[place])
    # Larger groups first: they have the shorter names.
    for place in sorted(range(len(groups)), key=lambda place: -len(groups[place])):
        if names[place]:
            continue
        name = next(
            name
            for name in _numbered(candidates[place] or [_UNREMARKABLE])
            if all(groups[place] & other for other in owners.get(name.casefold(), ()))
        )
        owners.setdefault(name.casefold(), []).append(groups[place])
        names[place] = name
    return names


def _numbered(names: Sequence[str]) -> Iterator[str]:
    yield from names
    yield from (f"{names[0]} ({number})" for number in count(2))


# -- words --------------------------------------------------------------------------------------------------------


def _words(
    features: Features, rows: NDArray[np.intp], own: Labels, weights: Float, is_inside: NDArray[np.bool_]
) -> list[list[str]]:
    """Names of the words that weigh most."""
    values = features.values[rows]
    shares, sizes = word_shares(values, own, is_inside.shape[1], weights)
    least = np.broadcast_to(_without(values, weights), len(features.of))
    words = []
    for member in is_inside:
        inside, elsewhere = (sizes[part] @ shares[part] / max(sizes[part].sum(), 1.0) for part in (member, ~member))
        weighed = np.where(_is_common(inside, shares[~member]), 0.0, class_weights(inside, elsewhere))
        order = np.argsort(-weighed, kind="stable")[: 4 * _MOST_WORDS]
        order = order[weighed[order] >= max(_LEAST_WEIGHT * weighed.max(initial=0.0), 1e-9)]
        order = order[_different([features.of[index].column for index in order])][:_MOST_WORDS]
        texts = [_brief(features.of[index].column) for index in order]
        true_of = _true_of_some(features.columns(order, rows), least[order], weights, member[own])
        n_needed = next((n for n, share in enumerate(true_of, 1) if n >= _WORDS and share >= _TRUE), _WORDS)
        names = _grown(texts, n_needed if n_needed <= _TRUE_WORDS else _WORDS)
        hedges = [_hedge(true_of[min(name.count(", "), len(true_of) - 1)], 0.0) for name in names]
        words.append([hedge + name for hedge, name in zip(hedges, names, strict=True)])
    return words


def _is_common(inside: Float, others: Float) -> NDArray[np.bool_]:
    """Which words at least half of the other leaves have nearly as often as a group, with the shares of each."""
    if len(others) == 0:
        return np.zeros(inside.size, dtype=bool)
    return np.quantile(others, 0.5, axis=0, method="lower") >= _COMMON * inside


def _true_of_some(values: Float, least: Float, weights: Float, member: NDArray[np.bool_]) -> list[float]:
    """The share of a group's rows that have any of the first words, for each number of them."""
    has_any = np.logical_or.accumulate(values[member] > least, axis=1)
    return (weights[member] @ has_any / max(float(weights[member].sum()), 1e-12)).tolist()


def _different(words: Sequence[str]) -> list[int]:
    """Places of the words that are no other forms of those before them."""
    kept: list[int] = []
    for place, word in enumerate(words):
        stems = {words[one][:_STEM].casefold() for one in kept}
        if len(word) < _STEM or word[-1].isdigit() or word[:_STEM].casefold() not in stems:
            kept.append(place)
    return kept


def _hedge(true_of: float, others: float) -> str:
    """What a name begins with that is true of too few of its rows, or of too many others."""
    return "" if true_of >= _TRUE and others <= _FEW_OTHERS else "mostly " if true_of >= _MOSTLY else "partly "


def _grown(parts: Sequence[str], preferred: int) -> list[str]:
    """Names from the first parts: from the preferred number, then from more; then the other parts alone."""
    longer = [", ".join(parts[:n]) for n in range(min(preferred, len(parts)), len(parts) + 1) if n]
    return longer + [part for part in parts if part not in longer]


# -- conditions ---------------------------------------------------------------------------------------------------


def _conditions(
    features: Features, rows: NDArray[np.intp], own: Labels, weights: Float, is_inside: NDArray[np.bool_]
) -> list[list[str]]:
    """Names of the conditions that tell each group from all other rows."""
    values = features.columns(np.arange(len(features.of)), rows)
    sums, shift = sums_by_group(values, own, is_inside.shape[1])
    effects = contrast(sums, shift, is_inside).effects
    spoken = _Spoken.of(features.of)
    shy = np.array([one.kind == "level" and one.other is None for one in features.of], dtype=bool)
    search = _Splits(values, weights, shy, np.array([one.kind == "date" for one in features.of], dtype=bool))
    conditions = []
    for member, effect in zip(is_inside, effects, strict=True):
        tried = np.argsort(-np.abs(effect), kind="stable")
        tried = tried[(np.abs(effect[tried]) > 0) & ~features.coordinates[tried]][:_TRIED]
        names = ["all rows"] if member.all() else _told(search, spoken, member[own], tried, features.of)
        conditions.append(names)
    return conditions


def _told(
    search: _Splits, spoken: _Spoken, member: NDArray[np.bool_], tried: NDArray[np.intp], of: Sequence[Feature]
) -> list[str]:
    """Names by conditions, the best first: by those that are true of most rows, unless others tell far more."""
    found = [search.path(member, tried, least) for least in (_SURELY_TRUE, 0.0)] if tried.size else []
    paths = [[one for one in path if one.true_of >= max(_MOSTLY, one.others + _LEAST_CONTRAST)] for path in found]
    names = list[str]()
    best = [max((one.score for one in path[:_PARTS]), default=0.0) for path in paths]
    if paths and best[0] < best[1] - _OF_TRUTH:
        paths.reverse()
    for path in paths:
        n_needed = max(sum(1 for one in path if one.gain >= _GAIN), 1)
        grown = path[min(n_needed, _PARTS) - 1 :]
        # A third part may make true what two say too loosely.
        third = next((n for n, one in enumerate(grown) if len(one.sides) <= _PARTS + 1 and not _hedge(*one[-2:])), 0)
        for one in [*grown[third:], *grown[:third]]:
            parts = map(spoken.text, joined(one.sides, of).values())
            names.append(_hedge(one.true_of, one.others) + ", ".join(parts))
    return list(dict.fromkeys(names))


class _Told(NamedTuple):
    """Comparisons that all hold, their F-score and what the last gains; shares of the group's rows and of others."""

    sides: list[Side]
    score: float
    gain: float
    true_of: float
    others: float


class _Splits:
    """The single comparisons that tell a group of rows from the others best, one after the other.

    To have a level says more than not to have it; columns of levels are ``shy``.
    """

    def __init__(self, values: Float, weights: Float, shy: NDArray[np.bool_], dates: NDArray[np.bool_]):
        self.values, self.weights, self.shy, self.dates = values, weights, shy, dates
        self._orders: dict[int, NDArray[np.intp]] = {}

    def path(self, member: NDArray[np.bool_], tried: NDArray[np.intp], least: float) -> list[_Told]:
        """Comparisons that all hold, as long as one more gains something in the F-score, one by one.

        They are true of the ``least`` share of the members. The first ones are looked for again in the light of each
        other.
        """
        total = float(self.weights[member].sum())
        alone = 2.0 * total / (float(self.weights.sum()) + total)
        sides, told, reached = list[Side](), list[_Told](), alone
        while len(sides) < _MOST_PARTS:
            side, best = self._best(member, sides, least * total, tried)
            if best < reached + _LEAST_GAIN:
                break
            sides = [*sides, side]
            if len(sides) == _PARTS:
                for place in range(_PARTS):
                    others = sides[:place] + sides[place + 1 :]
                    side, again = self._best(member, others, least * total, tried)
                    if again > best:
                        sides[place], best = side, again
            told.append(self._told(sides, member, best, best - reached))
            reached = best
        return told

    def _told(self, sides: list[Side], member: NDArray[np.bool_], score: float, gain: float) -> _Told:
        held = self._held(sides)
        shares = [
            float(self.weights[held & part].sum() / max(self.weights[part].sum(), 1e-12)) for part in (member, ~member)
        ]
        return _Told(list(sides), score, gain, *shares)

    def _held(self, sides: Sequence[Side]) -> NDArray[np.bool_]:
        """Which rows fulfil all of some comparisons."""
        every = np.ones(len(self.values), dtype=bool)
        return np.logical_and.reduce([every, *(one.holds(self.values) for one in sides)])

    def _best(
        self, member: NDArray[np.bool_], others: Sequence[Side], least: float, tried: NDArray[np.intp]
    ) -> tuple[Side, float]:
        """The comparison that is best beside others, of those that the ``least`` weight fulfils, and the F-score."""
        total, held = float(self.weights[member].sum()), self._held(others)
        for column in tried:
            if column not in self._orders:
                self._orders[int(column)] = np.argsort(self.values[:, column], kind="stable")  # gaps come last
        order = np.column_stack([self._orders[int(column)] for column in tried])
        ordered = np.take_along_axis(self.values[:, tried], order, axis=0)
        inside, all_ = (np.cumsum(np.where(part, self.weights, 0.0)[order], axis=0) for part in (member & held, held))
        last = np.count_nonzero(~np.isnan(ordered), axis=0) - 1
        ends = np.arange(tried.size)
        is_limit = np.zeros(order.shape, dtype=bool)
        is_limit[:-1] = ordered[1:] > ordered[:-1]
        inside_last, all_last = (np.where(last >= 0, sums[last, ends], 0.0) for sums in (inside, all_))
        rest = np.maximum(all_last - all_, 0.0)  # beyond the last value are gaps
        within = inside_last - inside
        below = 2.0 * inside / (all_ + total) - _SHYNESS * self.shy[tried]
        below = np.where(is_limit, np.where(inside >= least, below, _FALSE), -1.0)
        above = np.where(is_limit, np.where(within >= least, 2.0 * within / (rest + total), _FALSE), -1.0)
        is_above = above.max() >= below.max()
        scores = above if is_above else below
        place, at = (int(index) for index in np.unravel_index(scores.argmax(), scores.shape))
        limit = _simple_limit(ordered[:, at], scores[:, at], place, bool(self.dates[tried[at]]))
        return Side(int(tried[at]), is_above, limit), float(scores[place, at])


def _simple_limit(ordered: Float, scores: Float, best: int, is_date: bool) -> float:
    """A limit of few digits that is nearly as good as the best, in the middle of those that are as good.

    Of dates it is the end of a year or month.

    ``scores`` are those of limits after each of the ordered values; -1 between equal values.
    """

    def reach(least: float) -> tuple[float, float]:
        good = (scores >= least) | (scores == -1.0)
        first, last = best, best
        while first > 0 and good[first - 1]:
            first -= 1
        while last + 2 < good.size and good[last + 1] and not np.isnan(ordered[last + 2]):
            last += 1
        return float(ordered[first]), float(ordered[last + 1])

    wide, near = reach(scores[best] - _LOSS), reach(scores[best] - 1e-9)
    return _end_of_time(*wide, near) if is_date else shortest(*wide, near)


def _end_of_time(low: float, high: float, near: tuple[float, float]) -> float:
    """The last day of a year, else of a month, else a day from ``low`` to below ``high``, nearest to a middle."""
    middle = near[0] + (near[1] - near[0]) / 2
    first, last = (np.datetime64("1970-01-01") + np.timedelta64(int(np.ceil(day)), "D") for day in (low, high))
    for unit in ("Y", "M"):
        starts = np.arange(first.astype(f"M8[{unit}]"), last.astype(f"M8[{unit}]") + 2).astype("M8[D]")
        ends = (starts - np.datetime64("1970-01-01")).astype(float) - 1.0
        ends = ends[(ends >= low) & (ends < high)]
        if ends.size:
            return float(ends[np.abs(ends - middle).argmin()])
    return shortest(low, high, near)


class _Spoken(NamedTuple):
    """How conditions are said in few words.

    ``ambiguous`` are levels that say nothing without their column, ``columns`` short names of columns, all different.
    """

    ambiguous: set[str]
    columns: dict[str, str]

    @classmethod
    def of(cls, features: Sequence[Feature]) -> _Spoken:
        """Levels of several columns are ambiguous, and truths, numbers and one of two short words ("ja") are."""
        levels = Counter(text for one in features for text in (one.level, one.other) if text is not None)
        truths = {word for words in TRUTHS for word in words}
        pairs = [(one.level or "", one.other) for one in features if one.other is not None]
        truths |= {word.lower() for pair in pairs if max(map(len, pair)) <= _SHORT for word in pair}
        return cls(
            {
                text
                for text, times in levels.items()
                if times > 1 or text.lower() in truths or not any(letter.isalpha() for letter in text) or len(text) < 2
            },
            _brief_columns(dict.fromkeys(one.column for one in features)),
        )

    def text(self, condition: Condition) -> str:
        """A condition in few words."""
        feature = condition.feature
        brief = feature._replace(column=self.columns[feature.column])
        if feature.kind != "level":
            return str(Condition(brief, condition.above, condition.up_to))
        is_level = bool(np.isfinite(condition.above))
        level = feature.level if is_level else feature.other
        if level is None:
            return f"{brief.column} not {_brief(str(feature.level))}"
        return f"{brief.column} = {_brief(level)}" if level in self.ambiguous else _brief(level)


def _brief_columns(names: Collection[str]) -> dict[str, str]:
    """Columns without the words that most long ones have, else by their beginning, their end or both."""
    long = [name.split() for name in names if len(name) > _LETTERS]
    times = Counter(word for words in long for word in set(words))
    common = {word for word, number in times.items() if number >= max(2.0, len(long) / 2)}
    own = {name: _without_common(name, common) for name in names}
    alike = Counter(own.values())
    by_ends = _by_ends(names)
    return {name: one if len(one) <= _LETTERS and alike[one] == 1 else by_ends[name] for name, one in own.items()}


def _without_common(name: str, common: Collection[str]) -> str:
    """A name with dots for the words that most long ones have, if it is long, too, or made of them."""
    words = ["…" if word in common else word for word in name.split()]
    if len(name) <= _LETTERS and 2 * words.count("…") < len(words):
        return " ".join(name.split())
    kept = [word for place, word in enumerate(words) if word != "…" or words[place - 1 : place] != ["…"]]
    return " ".join(kept) if set(kept) - {"…"} else name


def _by_ends(names: Collection[str]) -> dict[str, str]:
    """Columns by their beginning or, of questions that begin alike, by their end or by both."""
    ends = Counter(map(_brief, names)), Counter(_brief(name[::-1])[::-1] for name in names)
    brief = {}
    for name in names:
        head, tail = _brief(name), _brief(name[::-1])[::-1]
        both = f"{head[: _LETTERS // 2]}…{tail[-_LETTERS // 2 :]}"
        brief[name] = head if ends[0][head] == 1 else tail if ends[1][tail] == 1 else both
    return brief


def _brief(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1].rstrip() + "…"
