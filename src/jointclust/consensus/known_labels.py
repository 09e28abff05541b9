"""Linear rules learned from known labels, which join the members."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from jointclust.consensus.classifiers import LinearLabels
from jointclust.consensus.partitions import Partitions, spread_labels
from jointclust.consensus.projection import ViewProjection
from jointclust.exceptions import collected
from jointclust.types import Float, Labels

# Inverse ridge of the linear rules, on rows of mean squared length one.
_INVERSE_RIDGE, _ITERATIONS = 100.0, 100
# Weight of rules that are right as often as the members (which have 1 together): for each known row of a class, and
# at most.
_PER_ROW, _MOST = 0.05, 0.5
# Most known rows that rules learn from; parts that are left out in turn; beyond so many rows only two of them are.
_MOST_KNOWN, _PARTS, _FEW = 2_000, 5, 500


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows whose class is known, to learn from.

    Attributes
    ----------
    rows : array of shape (n_known,)
        Their numbers.
    labels : array of shape (n_known,)
        Their classes.
    part : array of shape (n_known,)
        The part that a row is left out with, -1 for none: rows that belong together are left out together, and what is
        left has all classes.
    weights : array of shape (n_known,) or None
        Of the rows.
    n_per_class : float
        Their usual number in a class, rows that belong together being one.
    """

    rows: NDArray[np.intp]
    labels: Labels
    part: NDArray[np.intp]
    weights: Float | None
    n_per_class: float

    @classmethod
    def of(cls, known: Labels, weights: Float | None, index: NDArray | None) -> Examples:
        """Those among rows of known labels, weights and groups, the same number of each class where they are many."""
        present = known >= 0 if weights is None else (known >= 0) & (weights > 0)
        most = max(2, _MOST_KNOWN // (int(known.max()) + 1))
        of_class = [np.flatnonzero(present & (known == label))[:most] for label in range(known.max() + 1)]
        units = [np.unique(rows if index is None else index[rows], return_inverse=True)[1] for rows in of_class]
        counts = [int(unit.max(initial=-1)) + 1 for unit in units]
        rows, usual = np.concatenate(of_class), float(np.median(counts))
        n_parts = int(np.clip(usual, 2, _PARTS if rows.size <= _FEW else 2))
        parts = [unit % n_parts if n > 1 else np.full(unit.size, -1) for unit, n in zip(units, counts, strict=True)]
        return cls(rows, known[rows], np.concatenate(parts), None if weights is None else weights[rows], usual)

    def without(self, part: int) -> Examples:
        """Those that stay when a part is left out."""
        stay = self.part != part
        weights = None if self.weights is None else self.weights[stay]
        return Examples(self.rows[stay], self.labels[stay], self.part[stay], weights, self.n_per_class)

    def rule(self, view: ViewProjection, Z: Float) -> LinearLabels:
        """Logistic regression of the classes on the leading directions of the examples."""
        with collected():  # a rule that did not converge is still useful
            model = LogisticRegression(C=_INVERSE_RIDGE, max_iter=_ITERATIONS, tol=1e-3)
            model.fit(Z / view.scale, self.labels, sample_weight=self.weights)
        slopes, levels = model.coef_.T / view.scale, model.intercept_
        if levels.size == 1:  # of two classes, the second against the first
            slopes, levels = np.column_stack([np.zeros(len(slopes)), slopes]), np.append(0.0, levels)
        return LinearLabels(view, "logistic regression of the known labels", slopes, levels)


def rules_of(
    examples: Examples, partitions: Partitions, leading: list[tuple[ViewProjection, Float]]
) -> tuple[list[LinearLabels], list[float]]:
    """A linear rule for each view, from its projection and the projected examples; and the weights of the rules.

    Where all members together have the weight 1, all rules have ``min(n/20, 1/2) p(1 - q)/(q(1 - p))``, with n known
    rows in a class, and the shares p and q of left-out labels that the rules and the members predict.
    """
    if np.unique(examples.labels).size < 2:
        return [], []
    n_clusters, n_rows = int(examples.labels.max()) + 1, len(partitions.codes)
    right = [np.array([], dtype=bool) for _ in range(len(leading) + 1)]
    for part in range(examples.part.max() + 1):
        out, rest = examples.part == part, examples.without(part)
        known = np.full(n_rows, -1, dtype=np.int32)
        known[rest.rows] = rest.labels
        spread = spread_labels(partitions, known, n_clusters)[examples.rows[out]].argmax(axis=1)
        predicted = [_predicted(rest.rule(view, Z[~out]), Z[out]) for view, Z in leading]
        right = [
            np.append(old, new == examples.labels[out]) for old, new in zip(right, [spread, *predicted], strict=True)
        ]
    members, *rules = map(_odds, right)
    share = min(_PER_ROW * examples.n_per_class, _MOST) / len(leading)
    return [examples.rule(view, Z) for view, Z in leading], [share * odds / members for odds in rules]


def _predicted(rule: LinearLabels, Z: Float) -> NDArray[np.intp]:
    return (Z @ rule.slopes + rule.levels).argmax(axis=1)


def _odds(right: NDArray[np.bool_]) -> float:
    """Odds of being right, as if there were one case more of either kind."""
    return float((right.sum() + 1) / (np.sum(~right) + 1))
