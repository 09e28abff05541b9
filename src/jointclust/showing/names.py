"""Short names of groups of rows, of what sets each apart: "basket > 200, app", or the words that tell it.

Limits are chosen by the F-score, words by a class-based tf-idf in which a word that is as frequent elsewhere weighs
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
# Words of a name, and those to choose from where others have the same; the least weight beside that of the first.
_WORDS, _MOST_WORDS, _LEAST_WEIGHT = 3, 6, 0.3
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
    parts = _words if features.are_counts else _conditions
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
    if sp.issparse(values):
        present = sp.csr_array(values > 0, dtype=float)
        has = (member @ present).toarray()
    else:
        has = member @ (values > np.average(values, axis=0, weights=weights)).astype(float)
    # A word that all rows of a small group have may be there by chance.
    sizes = np.asarray(member.sum(axis=1)).ravel() + 1.0
    return has / sizes[:, None], sizes


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
    shares, sizes = word_shares(features.values[rows], own, is_inside.shape[1], weights)
    words = []
    for member in is_inside:
        inside, elsewhere = (sizes[part] @ shares[part] / max(sizes[part].sum(), 1.0) for part in (member, ~member))
        weighed = class_weights(inside, elsewhere)
        order = np.argsort(-weighed, kind="stable")[: 4 * _MOST_WORDS]
        order = order[weighed[order] >= max(_LEAST_WEIGHT * weighed.max(initial=0.0), 1e-9)]
        texts = [features.of[index].column for index in order]
        words.append(_grown(_different(texts)[:_MOST_WORDS], _WORDS))
    return words


def _different(words: Sequence[str]) -> list[str]:
    """The words without other forms of those before them."""
    kept: list[str] = []
    for word in words:
        stem = word[:_STEM].casefold()
        if len(word) < _STEM or word[-1].isdigit() or not any(one[:_STEM].casefold() == stem for one in kept):
            kept.append(word)
    return kept


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
    effects = contrast(sums.of_groups(is_inside), sums.total(), shift).effects
    spoken = _Spoken.of(features.of)
    shy = np.array([one.kind == "level" and one.other is None for one in features.of], dtype=bool)
    search = _Splits(values, weights, shy)
    conditions = []
    for member, effect in zip(is_inside, effects, strict=True):
        tried = np.argsort(-np.abs(effect), kind="stable")[:_TRIED]
        tried = tried[np.abs(effect[tried]) > 0]
        scored = search.path(member[own], tried) if tried.size and not member.all() else []
        n_needed = max(sum(1 for _, gain in scored if gain >= _GAIN), 1)
        grown = [joined([side for side, _ in scored[:n]], features.of) for n in range(1, len(scored) + 1)]
        names = [", ".join(map(spoken.text, one.values())) for one in grown]
        conditions.append([name for name in names[min(n_needed, _PARTS) - 1 :] if name] if scored else [])
        if member.all():
            conditions[-1] = ["all rows"]
    return conditions


class _Splits:
    """The single comparisons that tell a group of rows from the others best, one after the other.

    To have a level says more than not to have it; columns of levels are ``shy``.
    """

    def __init__(self, values: Float, weights: Float, shy: NDArray[np.bool_]):
        self.values, self.weights, self.shy = values, weights, shy
        self._orders: dict[int, NDArray[np.intp]] = {}

    def path(self, member: NDArray[np.bool_], tried: NDArray[np.intp]) -> list[tuple[Side, float]]:
        """Comparisons that all hold, as long as one more gains something in the F-score, and what each gains.

        The first ones are looked for again in the light of each other.
        """
        total = float(self.weights[member].sum())
        alone = 2.0 * total / (float(self.weights.sum()) + total)
        sides, scores = list[Side](), [alone]
        while len(sides) < _MOST_PARTS:
            side, best = self._best(member, sides, total, tried)
            if best < scores[-1] + _LEAST_GAIN:
                break
            sides, scores = [*sides, side], [*scores, best]
            if len(sides) == _PARTS:
                for place in range(_PARTS):
                    others = sides[:place] + sides[place + 1 :]
                    side, best = self._best(member, others, total, tried)
                    if best > scores[-1]:
                        sides[place], scores[-1] = side, best
        return list(zip(sides, np.diff(scores).tolist(), strict=True))

    def _best(
        self, member: NDArray[np.bool_], others: Sequence[Side], total: float, tried: NDArray[np.intp]
    ) -> tuple[Side, float]:
        """The comparison that is best beside others, and the F-score of all."""
        held = np.logical_and.reduce([np.ones(member.size, dtype=bool), *(one.holds(self.values) for one in others)])
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
        below = np.where(is_limit, 2.0 * inside / (all_ + total) - _SHYNESS * self.shy[tried], -1.0)
        above = np.where(is_limit, 2.0 * (inside_last - inside) / (rest + total), -1.0)
        is_above = above.max() >= below.max()
        scores = above if is_above else below
        place, at = (int(index) for index in np.unravel_index(scores.argmax(), scores.shape))
        limit = _simple_limit(ordered[:, at], scores[:, at], place)
        return Side(int(tried[at]), is_above, limit), float(scores[place, at])


def _simple_limit(ordered: Float, scores: Float, best: int) -> float:
    """A limit of few digits that is nearly as good as the best, in the middle of those that are as good.

    ``scores`` are those of limits after each of the ordered values; below 0 between equal values.
    """

    def reach(least: float) -> tuple[float, float]:
        good = (scores >= least) | (scores < 0.0)
        first, last = best, best
        while first > 0 and good[first - 1]:
            first -= 1
        while last + 2 < good.size and good[last + 1] and not np.isnan(ordered[last + 2]):
            last += 1
        return float(ordered[first]), float(ordered[last + 1])

    return shortest(*reach(scores[best] - _LOSS), reach(scores[best] - 1e-9))


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


def _brief_columns(names: Iterable[str]) -> dict[str, str]:
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
