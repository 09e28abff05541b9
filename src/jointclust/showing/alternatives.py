"""Other numbers of clusters to look at, and how to get them: by a cut of the fit, or by another fit."""

from __future__ import annotations

from typing import Any, NamedTuple

from jointclust.consensus.estimator import JointConsensus
from jointclust.consensus.verdict import LEVELS
from jointclust.judge.number import ClusterNumber

# Other numbers that are shown where a result is not sure, at the most.
_MOST = 3
# A fit is better than a cut if it is predicted to agree more by this.
_BETTER = 0.05


class Alternative(NamedTuple):
    """Another number of clusters.

    Attributes
    ----------
    number : int
        The number.
    reason : str
        What speaks for it, as a phrase.
    score : float or None
        The agreement with the truth that is predicted for a fit with it; None where it was not looked at.
    gain : float or None
        By how much that is more than with a cut of the fit at hand; None where there is no such cut.
    """

    number: int
    reason: str
    score: float | None
    gain: float | None

    @property
    def is_better_fitted(self) -> bool:
        """Whether a fit with this number is predicted to be better than the cut, or is the only way to it."""
        return self.gain is None or self.gain > _BETTER

    def command(self, run: str) -> str:
        """How to get it on the command line, from the folder of the run."""
        return f"jointclust cut {run} -k {self.number}{' --refit' * self.is_better_fitted}"

    @property
    def beside_a_fit(self) -> str:
        """What a cut is expected to be beside a fit."""
        if self.gain is None:
            return "it cannot be cut from this fit"
        if self.is_better_fitted:
            return f"a fit is expected to agree better than a cut of this one, by {self.gain:.2f}"
        return "a cut of this fit is expected to be as good as another fit"

    @property
    def parts(self) -> list[str]:
        """What speaks for it, what is predicted of it, and what is better: a fit or the cut."""
        scored = [] if self.score is None else [f"predicted agreement {self.score:.2f}"]
        return [*scored, *([self.reason] if self.reason else []), self.beside_a_fit]


def described(clusterer: Any, numbers: list[int]) -> list[Alternative]:
    """What there is to say of some numbers of clusters beside the fit of a model."""
    counted = number_of(clusterer)
    reasons, scores = ({}, {}) if counted is None else (counted.reasons, counted.scores)
    is_consensus = isinstance(clusterer, JointConsensus) and bool(numbers)
    gains = _gains_of_fits(clusterer, numbers) if is_consensus else [None] * len(numbers)
    return [
        Alternative(number, reasons.get(number, ""), scores.get(number), gain)
        for number, gain in zip(numbers, gains, strict=True)
    ]


def _gains_of_fits(model: JointConsensus, numbers: list[int]) -> list[float | None]:
    """By how much the predicted agreement of fits is more than that of cuts; None where there is no such layer."""
    try:
        cuts = [model._split(number)["predicted_agreement"] for number in numbers]
    except AttributeError:  # nothing was kept to make layers from
        return [None] * len(numbers)
    judged = model._predicted
    if judged is None:
        return [None] * len(numbers)
    return [None if cut is None else judged.of_fit(one) - cut for one, cut in zip(numbers, cuts, strict=True)]


def alternatives(clusterer: Any, level: str) -> list[Alternative]:
    """The best other numbers, the highest score first, where the verdict is "not sure"; else none."""
    counted = number_of(clusterer) if level == LEVELS[0] else None
    if counted is None:
        return []
    return described(clusterer, [one for one in counted.ranked if one not in (1, clusterer.n_clusters_)][:_MOST])


def number_of(clusterer: Any) -> ClusterNumber | None:
    """What the data say of the number of clusters, where a model knows it."""
    return getattr(clusterer, "number_", None)
