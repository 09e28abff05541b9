"""Short rules for groups of rows, from shallow decision trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from jointclust.showing.features import Feature
from jointclust.types import Float

_DEPTH, _RULES = 3, 3
# What fewer conditions may cost, and what one more rule has to gain, in the F-score.
_COST, _GAIN = 0.01, 0.05

# Numbers from here on have separators (years are below it), up to so many digits.
_SEPARATED, _LONGEST = 10_000, 15
_EPOCH = np.datetime64("1970-01-01", "s")

Held = NDArray[np.bool_]


@dataclass(frozen=True)
class Condition:
    """``above < x <= up_to``; an empty cell fulfils none.

    Attributes
    ----------
    feature : Feature
        Of which column, and what kind of one.
    above, up_to : float
        Its limits, either of which may be infinite; of levels, 0 and 1 stand for no and yes. Without limits any cell
        fulfils it that is not empty.
    """

    feature: Feature
    above: float = -np.inf
    up_to: float = np.inf

    def holds(self, values: Float) -> Held:
        """Which values fulfil it."""
        return (values > self.above) & (values <= self.up_to)

    def __str__(self) -> str:
        name, kind, level, other = self.feature[:4]
        is_above, is_below = np.isfinite(self.above), np.isfinite(self.up_to)
        if not is_above and not is_below and kind != "word":
            return f"{name} is known"
        if kind == "level" and (is_above or other is None):
            return f"{name} {'=' if is_above else '≠'} {level}"
        if kind == "level":
            return f"{name} = {other}"
        if kind == "word":
            return self._of_word()
        low, high = (shown(limit, kind) for limit in (self.above, self.up_to))
        if is_above and is_below:
            return f"{low} < {name} ≤ {high}"
        return f"{name} > {low}" if is_above else f"{name} ≤ {high}"

    def _of_word(self) -> str:
        word, fewest, most = f'"{self.feature.column}"', self.above + 1, self.up_to
        if np.isfinite(most) and np.isfinite(fewest):
            return f"{word} {fewest:g} to {most:g} times"
        if np.isfinite(most):
            return f"no {word}" if most == 0 else f"{word} at most {most:g} times"
        return f"has {word}" if fewest == 1 else f"{word} at least {fewest:g} times"


def shown(value: float, kind: str, digits: int = 15) -> str:
    """A value in the units of its column; dates as such."""
    if kind != "date" or not np.isfinite(value):
        return _number(value, digits)
    when = _EPOCH + np.timedelta64(round(value * 86400), "s")
    is_whole = value == round(value) or digits < 5
    return str(when.astype("datetime64[D]") if is_whole else when)


def _number(value: float, digits: int) -> str:
    """A number with separators where it is long; in powers of ten where it has more digits than can be read."""
    rounded = float(f"{value:.{digits}g}")
    if not _SEPARATED <= abs(rounded) < 10.0**_LONGEST:
        return f"{rounded:.{digits}g}"
    whole, point, rest = f"{abs(rounded):.15g}".partition(".")
    return f"{'-' * (rounded < 0)}{int(whole):,}{point}{rest}"


def moment(since: np.timedelta64) -> str:
    """A moment since 1970 as databases write it, with parts of a second where it has them."""
    return str((_EPOCH + since).astype("datetime64[us]")).replace("T", " ").removesuffix(".000000")


class Side(NamedTuple):
    """One comparison: whether a column's values are above a limit, or at most that."""

    column: int
    is_above: bool
    limit: float

    def holds(self, values: Float) -> Held:
        own = values[:, self.column]
        return own > self.limit if self.is_above else own <= self.limit


def find_rules(values: Float, member: Held, weights: Float) -> list[list[Side]]:
    """The rules of at most three comparisons that separate members from other rows best; an empty list if none helps.

    Of the nodes of two shallow trees, one of which weighs members and others alike, the best by the F-score (the
    harmonic mean of precision and coverage) is pruned as long as that costs next to nothing. More rules follow from the
    rows that are left, as long as they add members enough.
    """
    total = weights @ member
    rules: list[list[Side]] = []
    covered, reached = np.zeros(len(member), dtype=bool), 0.0

    def score(path: Sequence[Side]) -> float:
        """The F-score of a rule together with the rules so far."""
        rows = covered | _all_hold(path, values)
        return float(2.0 * (weights @ (rows & member)) / (weights @ rows + total))

    while len(rules) < _RULES and reached < 1.0 - _GAIN:
        left = ~covered
        path = _best(list(_paths(values[left], member[left], weights[left])), score)
        if not path or score(path) < reached + _GAIN * bool(rules):
            break
        rules.append([_rounded(side, values) for side in path])
        covered, reached = covered | _all_hold(path, values), score(path)
    return rules


def _best(paths: list[list[Side]], score: Callable[[Sequence[Side]], float]) -> list[Side]:
    """The shortest of the nearly best rules, without needless conditions; empty if all rows fit."""
    scores = [score(path) for path in paths]
    least = max(scores) - _COST
    near = [index for index, value in enumerate(scores) if value >= least]
    path = paths[min(near, key=lambda index: (len(paths[index]), -scores[index]))]
    while path:
        shorter = [path[:place] + path[place + 1 :] for place in range(len(path))]
        if max(map(score, shorter)) < least:
            break
        path = max(shorter, key=score)
    return path


def _all_hold(path: Sequence[Side], values: Float) -> Held:
    return np.logical_and.reduce([side.holds(values) for side in path]) if path else np.ones(len(values), dtype=bool)


def _paths(values: Float, member: Held, weights: Float) -> Iterator[list[Side]]:
    """The path from the root to each node of the trees; first that of the root, which is empty."""
    yield []
    if member.all() or values.shape[1] == 0:
        return
    # Trees work in single precision.
    with np.errstate(invalid="ignore", divide="ignore"):
        low, span = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0) - np.fmin.reduce(values, axis=0)
        span = np.where(span > 0, span, 1.0)
        scaled = ((values - low) / span).astype(np.float32)
    size = max(1, int(0.02 * np.count_nonzero(member)))
    for class_weight in (None, "balanced"):
        tree = DecisionTreeClassifier(
            max_depth=_DEPTH, min_samples_leaf=size, class_weight=class_weight, random_state=0
        ).fit(scaled, member, sample_weight=weights)
        nodes = tree.tree_
        waiting: list[tuple[int, list[Side]]] = [(0, [])]
        while waiting:
            node, path = waiting.pop()
            if node and path:
                yield path
            if nodes.children_left[node] < 0:
                continue
            column = int(nodes.feature[node])
            limit = float(nodes.threshold[node] * span[column] + low[column])
            for child, is_above in ((nodes.children_left[node], False), (nodes.children_right[node], True)):
                # In the place of a weaker comparison of the same column and direction.
                kept = [side for side in path if (side.column, side.is_above) != (column, is_above)]
                waiting.append((int(child), [*kept, Side(column, is_above, limit)]))


def _rounded(side: Side, values: Float) -> Side:
    """The same comparison of these values, with a limit of as few digits as can be."""
    own = values[:, side.column]
    below, above = own[own <= side.limit], own[own > side.limit]
    if below.size == 0 or above.size == 0:
        return side
    low, high = float(below.max()), float(above.min())
    return side._replace(limit=shortest(low, high, (low, high)))


def shortest(low: float, high: float, near: tuple[float, float]) -> float:
    """The number of fewest digits from ``low`` to below ``high``, the nearest to the middle of two values in between.

    Whole numbers have whole limits: the last that is not above.
    """
    if low == round(low) and high == round(high) and near == (low, high):
        return low
    middle = near[0] + (near[1] - near[0]) / 2
    rounded = (float(f"{middle:.{digits}g}") for digits in range(1, 18))
    limit = next((limit for limit in rounded if low <= limit < high), near[0])
    is_whole = near[0] == round(near[0]) and near[1] == round(near[1]) and np.floor(limit) >= low
    return float(np.floor(limit)) if is_whole else limit


def joined(path: Sequence[Side], features: Sequence[Feature]) -> dict[int, Condition]:
    """The condition on each column of a path, in the order in which they are met."""
    by_feature: dict[int, Condition] = {}
    for column, is_above, limit in path:
        so_far = by_feature.get(column, Condition(features[column]))
        by_feature[column] = replace(so_far, above=limit) if is_above else replace(so_far, up_to=limit)
    return by_feature
