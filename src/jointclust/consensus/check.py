"""Whether a model still fits: new rows compared with those that it was fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from jointclust.consensus.agreement import Agreement, most_voted
from jointclust.consensus.drift import Shift, corrected, fall, rise, shift_of_levels, shift_of_numbers
from jointclust.consensus.estimator import JointConsensus
from jointclust.consensus.kept_rows import n_rows
from jointclust.numerics.graph import neighbors
from jointclust.rows import is_elsewhere, loaded, some_rows
from jointclust.rows.arrays import to_host
from jointclust.types import Columns, Float, Labels
from jointclust.views.blocks import by_block, checked_blocks
from jointclust.views.columns import is_table, names_of
from jointclust.views.kinds import listed
from jointclust.views.preparation import Preparation
from jointclust.views.used_columns import UsedColumn, used_columns

# Probability that anything shifts by chance, over all tests.
_LEVEL = 0.02
# The smallest shift that counts, however many rows show it: of columns and clusters, of the share of rows that are
# unlike any, of the mean confidence.
# Of planted draws that were parted at random (jointclust.judge.prior), the confidence falls by so much in one of fifty.
_SHIFT, _UNLIKE, _FALL = 0.05, 0.03, 0.05
# From these shifts on the model has to be fitted again: of the share of rows unlike any, of the mean confidence.
_UNLIKE_REFIT, _FALL_REFIT = 0.2, 0.15
# A cluster of its own has at least so many rows and this share of all; each has so many links, of so many tried.
_CLUSTER, _CLUSTER_SHARE, _LINKS, _FELLOWS = 20, 0.02, 5, 100
# A new level counts if it has this share of the rows, and so many.
_NEW_LEVEL, _NEW_LEVEL_ROWS = 0.01, 5
# Rows below which only large changes show; most rows of a file or with Dask that are looked at; columns that are named.
_FEW, _SOME, _NAMED = 50, 20_000, 5
VERDICTS = ("fits", "drifts", "refit")


@dataclass(frozen=True, eq=False)
class ModelCheck:
    """Whether a model still fits; printing it gives the verdict and the reasons.

    Attributes
    ----------
    verdict : str
        "fits"; "drifts": the model can be used, and what it was fitted on has changed; "refit": rows fit nothing that
        it knows.
    reasons : list of str
        Sentences, the gravest first.
    table : dict of lists
        One row for each thing that was compared, ready for ``pandas.DataFrame``: ``what``, ``before`` and ``now`` (a
        median, a share or a mean), ``distance`` (0 to 1), ``p_value`` (corrected for the number of tests) and
        ``shifted``.
    new_rows : array of int
        The rows that fit nothing and form a cluster of their own.
    """

    verdict: str
    reasons: list[str]
    table: Columns
    new_rows: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))

    @property
    def sentence(self) -> str:
        """The verdict as a sentence."""
        first = self.reasons[0]
        return f"{self.verdict.capitalize()}: {first[0].lower()}{first[1:]}"

    def __str__(self) -> str:
        return "\n".join([self.sentence, *(f"- {reason}" for reason in self.reasons[1:])])

    __repr__ = __str__


def check(model: Any, X: Any) -> ModelCheck:
    """Whether a model still fits: compare new rows with those that it was fitted on.

    The shares of rows unlike any, the sizes of clusters, each column that is used, its gaps, and the confidence are
    tested, at a level of 2% over all tests (Holm). Columns are compared inside the clusters that the model gives, by
    the tests of Kolmogorov and Wilcoxon, and of Cochran, Mantel and Haenszel: a cluster that grows is no shift of its
    columns. A shift has to be large enough to matter, too: a distance of 0.05, 3% more rows unlike any, 0.05 less
    confidence.

    "refit" is where rows that fit nothing form a cluster of their own (20 of them, and 2%), where a fifth more of the
    rows are unlike any, where the confidence falls by 0.15, or where a column is missing that is used. "drifts" is any
    other shift. The result is a function of the model and the rows.

    Parameters
    ----------
    model : JointConsensus
        A fitted model, also a saved one; or a pipeline that ends with one.
    X : array, sparse matrix, data frame, list of str or AnnData
        New rows: the next month's, for one. Of more than 20,000 rows in a file or with Dask some are looked at.

    Returns
    -------
    check : ModelCheck
        ``verdict``, ``reasons``, ``table``, and ``new_rows``.

    Examples
    --------
    >>> import jointclust as jc
    >>> X, _ = jc.datasets.mixture(n_samples=600, n_features=20, n_clusters=3, random_state=0)
    >>> model = jc.cluster(X[:300], 3, random_state=0)
    >>> jc.check(model, X[300:]).verdict
    'fits'
    >>> jc.check(model, X[300:] + 10).verdict
    'refit'
    """
    check_is_fitted(model)
    if isinstance(model, Pipeline):
        return check(model[-1], model[:-1].transform(X) if len(model) > 1 else X)
    if not isinstance(model, JointConsensus):
        raise TypeError(f"check takes a JointConsensus, as jc.cluster gives it; got {model!r}.")
    kept = model._kept
    if kept is None:
        raise ValueError(
            "This model keeps no rows to compare with: it is of version 0.2 or earlier. Fit it again with this version."
        )
    X = loaded(X)
    X = some_rows(X, _SOME, np.random.RandomState(0)) if is_elsewhere(X) else X
    if n_rows(X) == 0:
        raise ValueError("X has no rows: there is nothing to compare.")
    X, notes, missing = _known_columns(model, X)
    if missing:
        reason = f"{_columns_named(missing)} missing, which the model uses"
        return ModelCheck("refit", [f"{reason}: bring it back, or fit again.", *notes], _table([]))
    before, now = _Side.of(model._agreement, kept.rows, is_known=True), _Side.of(model._agreement, X)
    strata = before.labels, now.labels
    rows, levels = [_sizes(before, now), _unlike(before, now), _confidence(before, now)], list[tuple[str, bool]]()
    for one, other in zip(_columns(model, kept.rows), _columns(model, X), strict=True):
        rows += _of_column(one, other, strata)
        levels += _of_levels(one, other)
    return _judged(rows, levels, notes, _cluster_of_own(model._agreement, kept.rows, X, now.far), now.labels.size)


class _Side(NamedTuple):
    """Rows as the model sees them: clusters, confidence, and whether they are unlike any that it knows."""

    labels: Labels
    sure: Float
    far: NDArray[np.bool_]

    @classmethod
    def of(cls, agreement: Agreement, X: Any, *, is_known: bool = False) -> _Side:
        """New rows, or rows of the fit (known ones) as if they were new."""
        sources = agreement.sources(X)
        codes, scores = agreement.codes(sources, scored=True)
        if is_known:
            projected = agreement.panel.project(sources, slice(None)).values()
            distances = [to_host(one.distance_to_others) / float(one.projection.reach) for one in projected]
            scores = np.max(distances, axis=0)
        votes, scores = to_host(agreement.soft_labels(codes)), to_host(scores)
        labels = most_voted(votes)
        return cls(labels, agreement.scale.confidence(votes, scores), agreement.scale.is_far(labels, scores))


class _Row(NamedTuple):
    """A line of the table, with its sentence and the smallest shift that counts."""

    what: str
    before: float
    now: float
    shift: Shift
    sentence: str
    least: float = _SHIFT


def _columns(model: JointConsensus, X: Any) -> list[UsedColumn]:
    """The columns by which the model compares rows; the name of a block goes before those of its columns."""
    of_blocks = by_block(model.preparations)
    if of_blocks is None:
        return used_columns(model.preparations[0], X)
    given = checked_blocks(X) or {}
    columns_of = {name: used_columns(preparations[0], given[name]) for name, preparations in of_blocks.items()}
    return [one._replace(name=f"{name}: {one.name}") for name, columns in columns_of.items() for one in columns]


def _known_columns(model: JointConsensus, X: Any) -> tuple[Any, list[str], list[str]]:
    """The columns that the model knows, notes on others, and those that are missing and used."""
    of_blocks, given = by_block(model.preparations), checked_blocks(X)
    if of_blocks is None or given is None:
        return _known_in(model.preparations[0], X)
    notes, missing = list[str](), list[str]()
    for name in (name for name in of_blocks if name in given):
        given[name], some_notes, some_missing = _known_in(of_blocks[name][0], given[name], f"{name}: ")
        notes += some_notes
        missing += some_missing
    return given, notes, missing


def _known_in(preparation: Any, X: Any, block: str = "") -> tuple[Any, list[str], list[str]]:
    """The same of one table; the name of its block goes before those of its columns."""
    known = getattr(preparation, "feature_names_in_", None)
    if known is None or not is_table(X) or isinstance(X, np.ndarray):
        return X, [], []
    given, known = names_of(X), list(known)
    kept = preparation.kept_ if isinstance(preparation, Preparation) else None
    used = known if kept is None else [known[place] for place in kept]
    if not set(used) & set(given):
        raise ValueError(
            f"X has none of the columns of the model ({listed([f'{block}{name}' for name in used])}): it has "
            f"{listed([f'{block}{name}' for name in given])}. Is it the right file, or the right model?"
        )
    new, gone = [name for name in given if name not in known], [name for name in known if name not in given]
    unused = [f"{block}{name}" for name in gone if name not in used]
    called = [f"{block}{name}" for name in new]
    notes = (
        [f"{_columns_named(called)} new: the model does not know {'it' if len(new) == 1 else 'them'}."] if new else []
    )
    notes += [f"{_columns_named(unused)} missing, which the model does not use."] if unused else []
    wanted = [name for name in known if name in given]
    if wanted != given:
        X = X.select(wanted) if hasattr(X, "column_names") else X[wanted]
    return X, notes, [f"{block}{name}" for name in gone if name in used]


def _columns_named(names: Sequence[Any]) -> str:
    """Names as the subject of a sentence, with its verb."""
    return f"Column {names[0]!r} is" if len(names) == 1 else f"Columns {listed([str(name) for name in names])} are"


def _sizes(before: _Side, now: _Side) -> _Row:
    n_clusters = int(max(before.labels.max(), now.labels.max())) + 1
    strata = np.zeros(before.labels.size, np.intp), np.zeros(now.labels.size, np.intp)
    shift = shift_of_levels(before.labels, now.labels, n_clusters, strata)
    old, new = (np.bincount(side.labels, minlength=n_clusters) / side.labels.size for side in (before, now))
    most = int(np.abs(new - old).argmax())
    sentence = (
        f"The sizes of clusters have shifted: cluster {most} has {new[most]:.0%} of the rows, {old[most]:.0%} before."
    )
    return _Row(f"share of cluster {most}", float(old[most]), float(new[most]), shift, sentence)


def _unlike(before: _Side, now: _Side) -> _Row:
    old, new = float(before.far.mean()), float(now.far.mean())
    sentence = f"More rows are unlike any of the fit: {new:.1%}, {old:.1%} of those before."
    return _Row("rows unlike any", old, new, rise(before.far, now.far), sentence, _UNLIKE)


def _confidence(before: _Side, now: _Side) -> _Row:
    old, new = float(before.sure.mean()), float(now.sure.mean())
    sentence = f"The confidence has fallen: {new:.2f} in the mean, {old:.2f} before."
    return _Row("confidence", old, new, fall(before.sure, now.sure), sentence, _FALL)


def _of_column(one: UsedColumn, other: UsedColumn, strata: tuple[Labels, Labels]) -> list[_Row]:
    """The lines of a column: its values, and its gaps where there are any."""
    name = one.name
    if one.codes is None or other.codes is None:
        old, new = _median(one.numbers), _median(other.numbers)
        sentence = f"Column {name!r} has shifted: its median is {new:.4g}, {old:.4g} before."
        rows = [_Row(f"column {name!r}", old, new, shift_of_numbers(one.numbers, other.numbers, strata), sentence)]
        gaps = [np.isnan(part).astype(np.intp) for part in (one.numbers, other.numbers)]
    else:
        levels = sorted({*(one.levels or ()), *(other.levels or ())}, key=str)
        codes = [_recoded(part, levels) for part in (one, other)]
        shares = [np.bincount(part[part >= 0], minlength=len(levels)) / max(part.size, 1) for part in codes]
        most = int(np.abs(shares[1] - shares[0]).argmax())
        old, new = float(shares[0][most]), float(shares[1][most])
        sentence = f"Column {name!r} has shifted: {levels[most]!r} in {new:.0%} of the rows, {old:.0%} before."
        shift = shift_of_levels(codes[0], codes[1], len(levels), strata)
        rows = [_Row(f"column {name!r} = {levels[most]!r}", old, new, shift, sentence)]
        gaps = [(part < 0).astype(np.intp) for part in codes]
    if gaps[0].any() or gaps[1].any():
        old, new = (float(part.mean()) for part in gaps)
        sentence = f"Column {name!r} has {new:.0%} of its cells empty, {old:.0%} before."
        rows.append(_Row(f"gaps in {name!r}", old, new, shift_of_levels(gaps[0], gaps[1], 2, strata), sentence))
    return rows


def _median(values: Float) -> float:
    return float(np.nanmedian(values)) if np.isfinite(values).any() else float("nan")


def _recoded(column: UsedColumn, levels: list[Any]) -> NDArray[np.intp]:
    """The codes of rows among the levels of two columns."""
    place = {level: number for number, level in enumerate(levels)}
    numbers = np.array([place[level] for level in column.levels or ()] + [-1])
    return numbers[np.asarray(column.codes)]


def _of_levels(one: UsedColumn, other: UsedColumn) -> list[tuple[str, bool]]:
    """A sentence for each new level, and whether it counts."""
    if other.codes is None or other.levels is None:
        return []
    counts = np.bincount(other.codes[other.codes >= 0], minlength=len(other.levels))
    sentences = []
    for level, count in zip(other.levels, counts.tolist(), strict=True):
        if level not in other.known and count:
            matters = count >= max(_NEW_LEVEL_ROWS, _NEW_LEVEL * other.codes.size)
            rows = "one row" if count == 1 else f"{count:,} rows"
            sentences.append((f"Column {one.name!r} has a new level, {level!r}, in {rows}.", matters))
    return sentences


def _cluster_of_own(agreement: Agreement, known: Any, X: Any, far: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Rows unlike any that form a cluster: they are nearer to each other than to any row that is known."""
    rows = np.flatnonzero(far)
    if rows.size < _CLUSTER:
        return rows[:0]
    places, others = (to_host(agreement.panel.leading(agreement.sources(part))) for part in (X, known))
    own = places[rows]
    fellows = neighbors(own, own, min(_FELLOWS, rows.size - 1) + 1)[:, 1:]
    known_ones = neighbors(own, others, min(_LINKS, len(others)))[:, -1]
    inside = np.linalg.norm(own[:, None] - own[fellows], axis=2)
    outside = np.linalg.norm(own - others[known_ones], axis=1)
    linked = inside < np.minimum(outside[:, None], outside[fellows])
    together = linked.sum(axis=1) >= _LINKS
    first, place = np.nonzero(linked & together[:, None] & together[fellows])
    shape = (rows.size, rows.size)
    graph = sp.coo_array((np.ones(first.size), (first, fellows[first, place])), shape=shape)
    part = np.where(together, connected_components(graph, directed=False)[1], -1)
    largest = np.bincount(part[part >= 0], minlength=1).argmax()
    cluster = rows[part == largest]
    return cluster if cluster.size >= max(_CLUSTER, _CLUSTER_SHARE * far.size) else rows[:0]


def _judged(
    rows: list[_Row], levels: list[tuple[str, bool]], notes: list[str], own: NDArray[np.intp], n_new: int
) -> ModelCheck:
    """The verdict, from all that was compared."""
    p_values = corrected(np.array([row.shift.p_value for row in rows]))
    shifted = [p <= _LEVEL and row.shift.distance >= row.least for row, p in zip(rows, p_values, strict=True)]
    graves = [
        shifted[1] and rows[1].shift.distance >= _UNLIKE_REFIT,
        shifted[2] and rows[2].shift.distance >= _FALL_REFIT,
        own.size > 0,
    ]
    grave = [f"{own.size:,} rows that fit nothing form a cluster of their own."] if own.size else []
    drifted = sorted((rows[place] for place in np.flatnonzero(shifted)), key=lambda row: -row.shift.distance)
    first = [row.sentence for place in (1, 2) for row in [rows[place]] if shifted[place] and graves[place - 1]]
    others = [row.sentence for row in drifted if row.sentence not in first]
    drifts = bool(drifted) or any(matters for _, matters in levels)
    verdict = "refit" if any(graves) else "drifts" if drifts else "fits"
    reasons = [*grave, *first, *_in_short(drifted, others), *(sentence for sentence, matters in levels if matters)]
    if verdict == "fits":
        reasons = [
            f"The {n_new:,} rows are like those of the fit: {rows[1].now:.1%} are unlike any of them "
            f"({rows[1].before:.1%} before), and nothing that was compared has shifted."
        ]
        if n_new < _FEW:
            reasons.append(f"There are only {n_new} rows, which show large changes only.")
    reasons += [sentence for sentence, matters in levels if not matters]
    return ModelCheck(verdict, [*reasons, *notes], _table(rows, p_values, shifted), own)


def _in_short(shifted: list[_Row], sentences: list[str]) -> list[str]:
    """What has shifted: some of it in sentences, the rest by name."""
    if len(sentences) <= _NAMED:
        return sentences
    names = [row.what for row in shifted if row.sentence in sentences[_NAMED:]]
    return [*sentences[:_NAMED], f"So have {len(names)} more: {', '.join(names[: 2 * _NAMED])}."]


def _table(rows: list[_Row], p_values: Sequence[float] | Float = (), shifted: Sequence[bool] = ()) -> Columns:
    """What was compared, as columns."""
    return {
        "what": [row.what for row in rows],
        "before": [row.before for row in rows],
        "now": [row.now for row in rows],
        "distance": [row.shift.distance for row in rows],
        "p_value": [float(p) for p in p_values],
        "shifted": [bool(one) for one in shifted],
    }
