"""What measures of partitions tell of their agreement with the truth, as learned from planted data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from jointclust.judge.evidence import GLOBAL, MEASURES, Evidence
from jointclust.types import Float, Labels

FILE = Path(__file__).with_name("judge.npz")
# Numbers of clusters that are always looked at; as many as give this many rows each, or this many if rows are few.
GRID = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 24, 29, 35, 42, 50, 60, 72, 86, 104, 125)
_ROWS_EACH, _FEW = 8, 12
# Numbers that tell whether there is anything.
PROBES = (2, 3, 5, 8)
# A measure of a number is compared with its best over all numbers, and with numbers this much larger and smaller.
_STEP = 0.26
# Numbers within this factor of each other are about the same.
ABOUT = 1.5
# Scores that differ by this are apart; the choice has learned ``exp(-d / SOFT)`` of what a number loses, d.
SHARP, SOFT = 0.05, 0.1


class Trees(NamedTuple):
    """Boosted regression trees as arrays, a row for each tree."""

    start: Float
    feature: NDArray[np.int16]
    threshold: NDArray[np.float32]
    left: NDArray[np.int16]
    right: NDArray[np.int16]
    value: NDArray[np.float32]

    def __call__(self, X: Float) -> Float:
        """The sum of the trees' leaves for each row."""
        tree, X = np.arange(len(self.feature)), X.astype(np.float64)
        node = np.zeros((len(X), len(tree)), np.intp)
        while True:
            feature = self.feature[tree, node]
            inner = feature >= 0
            if not inner.any():
                return float(self.start) + self.value[tree, node].sum(axis=1, dtype=np.float64)
            values = np.take_along_axis(X, np.maximum(feature, 0).astype(np.intp), axis=1)
            below = values <= self.threshold[tree, node]
            node = np.where(inner, np.where(below, self.left[tree, node], self.right[tree, node]), node)


def numbers_for(n_rows: int) -> list[int]:
    """The numbers of clusters that are looked at for so many rows."""
    most = max(n_rows // _ROWS_EACH, min(_FEW, n_rows // 3), 2)
    return [k for k in GRID if k <= most]


def compared(numbers: Sequence[int], measures: Float, grid: Sequence[int], on_grid: Float) -> Float:
    """Measures of numbers, less the best over the grid, and less those of larger and of smaller numbers."""
    place, log_grid = np.log(np.asarray(numbers, dtype=float)), np.log(np.asarray(grid, dtype=float))
    sides = [
        np.column_stack([np.interp(place + shift, log_grid, column) for column in on_grid.T])
        for shift in (_STEP, -_STEP)
    ]
    return np.hstack([measures, measures - on_grid.max(axis=0), *(measures - side for side in sides)])


def features_of_numbers(
    evidence: Evidence, numbers: Sequence[int], report: Callable[[int, int], None] = lambda done, total: None
) -> Float:
    """What the judge sees of each number; numbers on the grid are measured once for all."""
    grid, measured = numbers_for(evidence.n_rows), {}
    wanted = list(dict.fromkeys([*grid, *numbers]))
    for done, k in enumerate(wanted, 1):
        measured[k] = evidence.measures_of_number(k)
        report(done, len(wanted))
    on_grid = np.array([measured[k] for k in grid])
    own = np.array([measured[k] for k in numbers])
    return np.hstack([compared(numbers, own, grid, on_grid), np.tile(evidence.of_data, (len(numbers), 1))])


def features_of_data(evidence: Evidence) -> Float:
    """What the judge sees to tell whether there is anything: the same whatever number was asked for."""
    probes = [k for k in PROBES if k <= max(evidence.n_rows // 3, 2)]
    measured = np.array([evidence.measures_of_number(k) for k in probes])
    first = np.vstack([measured, np.repeat(measured[-1:], len(PROBES) - len(probes), axis=0)])
    return np.concatenate([first.ravel(), measured.max(axis=0), evidence.of_data])


def features_of_partition(evidence: Evidence, labels: Labels) -> Float:
    """What the judge sees of one partition."""
    return np.concatenate([evidence.measures(labels), evidence.of_data])


def log_ratio(votes: Float) -> Float:
    """The logarithm of the ratio of the two largest votes for each row."""
    ordered = np.sort(np.maximum(votes, 1e-3), axis=1)
    return np.log(ordered[:, -1] / ordered[:, -2]) if votes.shape[1] > 1 else np.full(len(votes), np.log(1e3))


def features_of_clusters(evidence: Evidence, labels: Labels, k: int) -> Float:
    """What the judge sees of each cluster, in logarithms: how far halves find it, and how small it is.

    Large ones get nothing for that: they may be several in one.
    """
    found = np.clip(evidence.found_by_halves(labels, k), 0.02, 0.98)
    shares = (np.bincount(labels, minlength=k)[:k] + 0.5) / (labels.size + 0.5 * k)
    return np.column_stack([np.log(found / (1 - found)), np.minimum(np.log(shares * k), 0.0), np.full(k, np.log(k))])


def logit(share: Float | float, least: float = 0.02) -> Float:
    """The logarithm of the odds, of shares that are limited to what odds can be said of."""
    share = np.clip(share, least, 1 - least)
    return np.log(share / (1 - share))


def odds(weights: Float, *terms: Float) -> Float:
    """The probability by a logistic rule: its first weight stands alone, each other one has a term."""
    return 1.0 / (1.0 + np.exp(-(weights[0] + sum(w * term for w, term in zip(weights[1:], terms, strict=True)))))


def terms_of_number(scores: Float, numbers: NDArray[np.intp], best: int, anything: float) -> tuple[Float, ...]:
    """What tells whether a number is about right: its score, how much better it is than others, and its size."""
    apart = np.exp((scores - scores[best]) / SHARP)
    near = np.maximum(numbers / numbers[best], numbers[best] / numbers) <= ABOUT
    return tuple(
        np.asarray(one)
        for one in (
            logit(float(scores[best])),
            logit(float(apart[near].sum() / apart.sum())),
            np.log(float(numbers[best])),
            logit(anything),
        )
    )


def terms_of_rows(ratio: Float, clusters: Float, agreement: float) -> tuple[Float, ...]:
    """What tells whether rows are in the right cluster: see :func:`features_of_clusters`."""
    sure = np.full(len(ratio), logit(agreement))
    return sure, clusters[:, 0], clusters[:, 1], clusters[:, 2], ratio, ratio * sure


def scores_of(choice: Float, level: float) -> Float:
    """The predicted agreement of numbers: that of the best, less what the choice says that the others lose."""
    lost = SOFT * np.log(np.clip(choice, 0.01, 1.0))
    # Beyond the limits of the logarithm the order goes on, by next to nothing.
    scores = max(level, 0.01) + lost - lost.max() + 1e-6 * (choice - choice.max())
    return np.clip(scores, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Judge:
    """Trees and weights as they were learned, applied to measures.

    Attributes
    ----------
    choice : Trees
        How near the agreement of a number is to that of the best: see :func:`scores_of`.
    level : Trees
        The agreement of the candidate of a number.
    partition : Trees
        The agreement of any partition.
    anything : Trees
        The logarithm of the odds that there are clusters at all.
    number, rows : arrays
        Weights of the rules for the confidence of a number, and of rows.
    limits : array of three
        Least probability that there is anything; least predicted agreement of what is fairly sure, and sure.
    """

    choice: Trees
    level: Trees
    partition: Trees
    anything: Trees
    number: Float
    rows: Float
    limits: Float

    def p_anything(self, evidence: Evidence) -> float:
        """The probability that the rows have clusters."""
        return float(1.0 / (1.0 + np.exp(-self.anything(features_of_data(evidence)[None])[0])))

    def agreement(self, evidence: Evidence, labels: Labels) -> float:
        """The predicted agreement (adjusted Rand index) of a partition with the truth, 0 to 1."""
        return float(np.clip(self.partition(features_of_partition(evidence, labels)[None])[0], 0.0, 1.0))

    def scores(self, features: Float) -> Float:
        """The predicted agreement of each number with the truth, from :func:`features_of_numbers`."""
        choice = self.choice(features)
        return scores_of(choice, float(self.level(features[int(choice.argmax())][None])[0]))

    def confidence(self, scores: Float, numbers: NDArray[np.intp], best: int, anything: float) -> float:
        """The probability that a number is within a factor of 1.5."""
        return float(odds(self.number, *terms_of_number(scores, numbers, best, anything)))


@cache
def the_judge(path: Path = FILE) -> Judge:
    """The judge that comes with the library."""
    try:
        with np.load(path, allow_pickle=False) as file:
            parts = {name: file[name] for name in file.files}
        measured = [str(one) for one in parts["measures"]]
        if measured != [*GLOBAL, *MEASURES]:
            raise ValueError("it was learned from other measures")
        trees = {
            name: Trees(*(parts[f"{name}_{part}"] for part in Trees._fields))
            for name in ("choice", "level", "partition", "anything")
        }
        return Judge(**trees, number=parts["number"], rows=parts["rows"], limits=parts["limits"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise RuntimeError(
            f"The judge's file, {path.name}, is missing or damaged ({error}): install jointclust again, or run "
            "`make judge`."
        ) from error
