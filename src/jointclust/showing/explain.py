"""What makes each cluster, in words: short rules, the features that set it apart, typical rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import rankdata

from jointclust import progress
from jointclust.showing.features import Feature, Features, some_of_each
from jointclust.showing.layout import plane_of_centers
from jointclust.showing.names import class_weights, group_names, word_shares
from jointclust.showing.profile import Contrast, Profile, profile
from jointclust.showing.queries import as_query, as_sql
from jointclust.showing.rules import Condition, find_rules, joined, shown
from jointclust.types import Float, Labels

__all__ = ["ClusterExplanation", "Explanation", "Rule", "SetApart"]

# Rows that are looked at, and of each cluster the fewest of them.
MOST_ROWS, FEWEST_OF_A_CLUSTER = 10_000, 50
# Features of a cluster that are compared with each other, and that are shown.
_COMPARED, _SHOWN = 40, 8
# Least effect of a feature that sets a cluster apart; least rank correlation of two features that say the same.
_SMALL_EFFECT, _ALIKE = 0.2, 0.9
# Why clusters have no names.
_NUMBERED = (
    "a coordinate of an embedding says nothing alone, so clusters have numbers: names_from, a text for each row, "
    "gives names"
)
# Letters of a name in a table, and features that say the same that it lists.
_LETTERS, _ALIKE_SHOWN = 36, 3
# The least weight of a word that is shown, beside that of the first.
_LEAST_WORD = 0.15


@dataclass(frozen=True, eq=False)
class Rule:
    """Conditions that rows of a cluster fulfil, and how well they do.

    Attributes
    ----------
    conditions : list of Condition
        All of which have to hold; text by ``str``.
    precision : float
        Share of the rows that fulfil them that are in the cluster.
    coverage : float
        Share of the cluster's rows that fulfil them.
    sql : str or None
        The same conditions for SQL, after ``WHERE``: a row is in the result if it fulfils them here, so that an empty
        cell, and what the model takes as one (-999, blank text), fulfils none. None where the columns of a table
        cannot say it: of words, of numbers that are written as text, of several blocks.
    query : str or None
        The same for ``DataFrame.query``; None, too, where pandas has no way to write a name.
    """

    conditions: list[Condition]
    precision: float
    coverage: float

    @property
    def sql(self) -> str | None:
        return as_sql(self.conditions)

    @property
    def query(self) -> str | None:
        return as_query(self.conditions)

    def __str__(self) -> str:
        return " and ".join(str(condition) for condition in self.conditions)

    def __repr__(self) -> str:
        return f"<{self}: precision {self.precision:.0%}, coverage {self.coverage:.0%}>"


@dataclass(frozen=True, eq=False)
class SetApart:
    """A feature whose mean in a cluster differs from that elsewhere.

    Attributes
    ----------
    name : str
        The feature: a column, "colour = red" for a level of one, or a word.
    effect : float
        Cohen's d: the difference over the standard deviation inside both.
    mean, rest : float
        Means in the cluster and elsewhere.
    alike : list of str
        Other features that set the cluster apart and say the same.
    kind : str
        "number", "date" (means are days since 1970), "level" or "word".
    """

    name: str
    effect: float
    mean: float
    rest: float
    alike: list[str]
    kind: str

    @property
    def cells(self) -> list[str]:
        """The effect, and what there is of it here and elsewhere: means in units of the column, or shares."""
        return [f"{self.effect:+.1f}", *(_amount(value, self.kind) for value in (self.mean, self.rest))]

    def __str__(self) -> str:
        effect, here, elsewhere = self.cells
        return f"{effect:>5}  {here} here, {elsewhere} elsewhere"


def _amount(value: float, kind: str) -> str:
    """A mean in the units of its column; that of a level is the share of rows that have it."""
    return f"{value:.0%}" if kind == "level" else shown(value, kind, 4)


def _as_others(alike: Sequence[str]) -> str:
    """The names of some features that say the same."""
    listed = ", ".join(map(_cut, alike[:_ALIKE_SHOWN]))
    return f"as {listed}{', ...' if len(alike) > _ALIKE_SHOWN else ''}" if alike else ""


def _cut(text: str) -> str:
    """The beginning of a long name."""
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1].rstrip()}…"


def _aligned(rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    """Lines of a table, each column to its side."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(f"{cell:{side}{n}}" for cell, side, n in zip(row, sides, widths, strict=True)) for row in rows)
    return [line.rstrip() for line in lines]


@dataclass(frozen=True, eq=False)
class ClusterExplanation:
    """One cluster.

    Attributes
    ----------
    cluster : int
        Its label.
    name : str
        Of what sets it apart, such as "basket > 200, app"; no other cluster has it.
    size : int
        Its number of rows.
    share : float
        Its share of all rows.
    rules : list of Rule
        The best one first; further ones are for rows that those before them miss. None, where no short rule helps.
    features : list of SetApart
        The strongest first; of those that say the same only one.
    typical : list of int
        Rows nearest to its center, the nearest first.
    """

    cluster: int
    name: str
    size: int
    share: float
    rules: list[Rule]
    features: list[SetApart]
    typical: list[int]

    def __str__(self) -> str:
        what = "row" if self.size == 1 else "rows"
        lines = [f"Cluster {self.cluster}: {self.name}, {self.size:,} {what} ({self.share:.1%})"]
        shown = [str(rule) for rule in self.rules]
        width = max(map(len, shown), default=0)
        for number, (text, rule) in enumerate(zip(shown, self.rules, strict=True)):
            lines.append(
                f"  {'or' if number else 'if'} {text:<{width}}  precision {rule.precision:4.0%}, "
                f"coverage {rule.coverage:4.0%}"
            )
        if not self.rules:
            lines.append("  no short rule")
        head = ["set apart by", "effect", "here", "elsewhere", ""]
        rows = [[_cut(one.name), *one.cells, _as_others(one.alike)] for one in self.features]
        lines += [f"  {line}" for line in _aligned([head, *rows], "<>>><")] if rows else []
        lines.append(f"  typical rows: {', '.join(map(str, self.typical))}")
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Explanation:
    """What makes each cluster: the result of :func:`jointclust.explain`; iterate over it for the clusters.

    Attributes
    ----------
    clusters : list of ClusterExplanation
        In the order of their labels.
    groups : list of list of str
        Features that say the same (their rank correlation is 0.9 or more, or they are levels of one category), among
        those that set any cluster apart most: the strongest first in each, and the group of the strongest first.
    notes : list of str
        What was looked at, and what left out.
    features : list of Feature
        All that was looked at: columns, levels of categories, or words.
    contrast : Contrast
        For each cluster and feature ``means`` in the cluster, in the ``rest`` of the rows, and the ``effects``.
    """

    clusters: list[ClusterExplanation]
    groups: list[list[str]]
    notes: list[str]
    features: list[Feature]
    contrast: Contrast

    def __iter__(self) -> Iterator[ClusterExplanation]:
        return iter(self.clusters)

    def __len__(self) -> int:
        return len(self.clusters)

    def __getitem__(self, index: int) -> ClusterExplanation:
        return self.clusters[index]

    def __str__(self) -> str:
        parts = ["\n".join(_aligned([_HEAD, *map(_line, self.clusters)], ">>><>>")), *map(str, self.clusters)]
        return "\n\n".join([*parts, *(["\n".join(self.notes)] if self.notes else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The same for notebooks: a table of the clusters, each of which opens."""
        parts = [_html_table(_HEAD, map(_line, self.clusters))]
        for one in self.clusters:
            shares = [f"precision {rule.precision:.0%}, coverage {rule.coverage:.0%}" for rule in one.rules]
            said = [f"{escape(str(rule))} <small>({how})</small>" for rule, how in zip(one.rules, shares, strict=True)]
            rules = "".join(f"<li>{text}</li>" for text in said or ["no short rule"])
            rows = ([feature.name, *feature.cells, _as_others(feature.alike)] for feature in one.features)
            table = _html_table(["set apart by", "effect", "here", "elsewhere", ""], rows) if one.features else ""
            typical = f"<p>typical rows: {', '.join(map(str, one.typical))}</p>"
            title = f"<summary><b>{one.cluster}: {escape(one.name)}</b></summary>"
            parts.append(f"<details>{title}<ul>{rules}</ul>{table}{typical}</details>")
        parts += [f"<p><small>{escape(note)}</small></p>" for note in self.notes]
        return "".join(parts)

    def to_frame(self) -> Any:
        """One row for each cluster and feature, as a data frame of pandas.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``cluster``, ``name`` (of the cluster), ``feature``, ``kind`` ("number", "date", "level" or "word"),
            ``here`` and ``elsewhere`` (means in the cluster and in all other rows; of a level the share of rows that
            have it, of a date days since 1970) and ``effect`` (Cohen's d).

        Examples
        --------
        >>> import jointclust as jc
        >>> wine = jc.datasets.load("wine")
        >>> model = jc.LDAKMeans(3, random_state=0).fit(wine.data)
        >>> frame = jc.explain(model, wine.data).to_frame()
        >>> frame.shape, list(frame.columns[2:])
        ((39, 7), ['feature', 'kind', 'here', 'elsewhere', 'effect'])
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame() needs pandas: pip install pandas. to_dict() does without.") from error
        n_clusters, n_features = self.contrast.means.shape
        return pd.DataFrame(
            {
                "cluster": np.repeat([one.cluster for one in self.clusters], n_features),
                "name": np.repeat(np.array([one.name for one in self.clusters], dtype=object), n_features),
                "feature": [one.name for one in self.features] * n_clusters,
                "kind": [one.kind for one in self.features] * n_clusters,
                "here": self.contrast.means.ravel(),
                "elsewhere": self.contrast.rest.ravel(),
                "effect": self.contrast.effects.ravel(),
            }
        )

    def to_dict(self) -> dict[str, object]:
        """The same as dicts, lists, text and numbers, which JSON can hold.

        Returns
        -------
        explanation : dict
            ``clusters``, ``groups`` and ``notes``. A condition has its text, the feature, and the limits ``above`` and
            ``up_to``, None where there is none.
        """
        clusters = [
            vars(one) | {"rules": [_plain(rule) for rule in one.rules], "features": [{**vars(f)} for f in one.features]}
            for one in self.clusters
        ]
        return {"clusters": clusters, "groups": self.groups, "notes": self.notes}


# What is said of each cluster in one line, and of its first rule.
_HEAD = ["cluster", "rows", "share", "name", "precision", "coverage"]


def _line(one: ClusterExplanation) -> list[str]:
    """A cluster in the table of all."""
    rule = [f"{share:.0%}" for first in one.rules[:1] for share in (first.precision, first.coverage)]
    return [str(one.cluster), f"{one.size:,}", f"{one.share:.1%}", _cut(one.name), *(rule or ["", ""])]


def _html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{''.join(f'<th>{escape(name)}</th>' for name in head)}</tr>{cells}</table>"


def _plain(rule: Rule) -> dict[str, object]:
    conditions = []
    for one in rule.conditions:
        above, up_to = (limit if np.isfinite(limit) else None for limit in (one.above, one.up_to))
        conditions.append({"text": str(one), "feature": one.feature.name, "above": above, "up_to": up_to})
    said = {"text": str(rule), "precision": rule.precision, "coverage": rule.coverage}
    return {**said, "conditions": conditions, "sql": rule.sql, "query": rule.query}


def explained(
    features: Features,
    of_rows: Labels,
    places: NDArray | None,
    given: Mapping[int, str] | None = None,
    naming: Features | None = None,
) -> Explanation:
    """What makes each cluster, from features and labels of the rows.

    Rows near the clusters' centers in ``places`` are typical; without them the plane through the centers is used.
    ``given`` are names that clusters have already, ``naming`` the features that others are named by, if not by these.
    """
    names = np.unique(of_rows[of_rows >= 0])
    # Rows in no cluster (below 0) have one number more.
    labels = np.where(of_rows >= 0, np.searchsorted(names, of_rows), names.size).astype(np.int32)
    numbered = [] if (naming or features).can_name else names.tolist()
    known = {name: f"cluster {name}" for name in numbered} | dict(given or {})
    known = {k: known[name] for k, name in enumerate(names.tolist()) if name in known}
    called = group_names(naming or features, labels, [frozenset([k]) for k in range(names.size)], known)
    member = np.eye(names.size, int(labels.max()) + 1, dtype=bool)
    explanation = explained_groups(features, labels, member, called, places, _BEST, stage="clusters")
    clusters = [replace(one, cluster=int(name)) for one, name in zip(explanation, names, strict=True)]
    n_outside = np.count_nonzero(labels == names.size)
    notes = explanation.notes + ([f"{n_outside:,} rows are in no cluster"] if n_outside else [])
    notes += [] if (naming or features).can_name else [_NUMBERED]
    return replace(explanation, clusters=clusters, notes=notes)


class Effort(NamedTuple):
    """Features that rules are made of, and rows on both sides of them."""

    tried: int
    on_a_side: int


# Effort for the clusters of a fit, and for the many clusters of its other layers.
_BEST, BRIEF = Effort(100, 2_000), Effort(16, 250)


def explained_groups(
    features: Features,
    leaves: Labels,
    member: NDArray[np.bool_],
    names: Sequence[str],
    places: NDArray | None,
    effort: Effort = BRIEF,
    stage: str = "layers",
) -> Explanation:
    """What makes each named group of leaves, against all other rows; groups may overlap.

    ``stage`` is the name by which it tells how far it is.
    """
    sample = _sampled(features, leaves)
    rows, own = sample.rows, leaves[sample.rows]
    places = _plane(sample.features, own) if places is None else places[rows]
    facts = profile(sample.features.values, places, own, member)
    strengths = _strengths(sample, own, facts, member)
    groups = _groups(sample.features, strengths)
    sizes = member @ np.bincount(leaves, minlength=member.shape[1])
    clusters = []
    for k, name in enumerate(names):
        clusters.append(
            ClusterExplanation(
                cluster=k,
                name=name,
                size=int(sizes[k]),
                share=float(sizes[k] / leaves.size),
                rules=_rules(features, member[k][leaves], sample, strengths[k], effort),
                features=_set_apart(features, facts, strengths[k], groups, k),
                typical=rows[facts.nearest[k]].tolist(),
            )
        )
        progress.advance(stage, k + 1 + len(names) / 4, 1.25 * len(names))  # a fifth of it came before the first
    notes = [f"from a sample of {rows.size:,} of {leaves.size:,} rows"] if rows.size < leaves.size else []
    named = [[features.of[index].name for index in group] for group in groups]
    contrast = Contrast(facts.means, facts.rest, facts.effects)
    return Explanation(clusters, named, features.notes + notes, features.of, contrast)


# -- the rows -----------------------------------------------------------------------------------------------------


class _Sample(NamedTuple):
    """All rows where they are few, else some of each cluster by its size, and of small ones a little more."""

    rows: NDArray[np.intp]
    features: Features
    weights: Float


def _sampled(features: Features, labels: Labels) -> _Sample:
    rows = some_of_each(labels, MOST_ROWS, FEWEST_OF_A_CLUSTER, np.random.RandomState(0))
    weights = (np.bincount(labels) / np.maximum(np.bincount(labels[rows]), 1))[labels[rows]]
    some = features if rows.size == labels.size else replace(features, values=features.values[rows])
    return _Sample(rows, some, weights)


def _plane(features: Features, labels: Labels) -> NDArray:
    """The plane through the clusters' means of standardised features; words are taken as they are."""
    values: Any = features.values
    if not sp.issparse(values):
        mean, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
        values = np.nan_to_num((values - mean) / np.where(spread > 0, spread, 1.0))
    return plane_of_centers(values, labels)


# -- features that say the same ------------------------------------------------------------------------------------


def _strengths(sample: _Sample, labels: Labels, facts: Profile, member: NDArray[np.bool_]) -> Float:
    """How far each feature sets each group of labels apart: its effect; of words, their class-based tf-idf.

    Weights of words are scaled so that the heaviest word of each group has its effect.
    """
    strengths = np.abs(facts.effects)
    if not sample.features.of or sample.features.of[0].kind != "word":
        return strengths
    shares, sizes = word_shares(sample.features.values, labels, member.shape[1], sample.weights)
    for k, own in enumerate(member):
        inside, elsewhere = (sizes[part] @ shares[part] / max(sizes[part].sum(), 1.0) for part in (own, ~own))
        weights = class_weights(inside, elsewhere)
        weights[weights < _LEAST_WORD * weights.max()] = 0.0
        strengths[k] = weights * (strengths[k][weights.argmax()] / max(weights.max(), 1e-12))
    return strengths


def _groups(features: Features, strengths: Float) -> list[list[int]]:
    """The strongest features of each cluster, those that say the same together, by the strongest among them."""
    strongest = strengths.max(axis=0, initial=0.0)
    order = np.argsort(-strengths, axis=1, kind="stable")[:, :_COMPARED]
    candidates = np.unique(order)
    candidates = candidates[strongest[candidates] >= _SMALL_EFFECT]
    candidates = candidates[np.argsort(-strongest[candidates], kind="stable")]
    close = _rank_correlations(features.columns(candidates)) >= _ALIKE
    columns = [features.of[index].column for index in candidates]
    leaders: dict[int, list[int]] = {}
    for place, candidate in enumerate(candidates):
        same = (other for other in leaders if close[other, place] or columns[other] == columns[place])
        leaders.setdefault(next(same, place), []).append(int(candidate))
    return list(leaders.values())


def _rank_correlations(columns: Float) -> Float:
    """Absolute values of the correlations of the ranks; an empty cell has the mean rank."""
    if columns.shape[1] == 0:
        return np.zeros((0, 0))
    ranks = rankdata(columns, axis=0, nan_policy="omit")
    ranks = np.nan_to_num(ranks - np.nanmean(ranks, axis=0))
    lengths = np.linalg.norm(ranks, axis=0)
    ranks /= np.where(lengths > 0, lengths, 1.0)
    return np.abs(ranks.T @ ranks)


def _set_apart(features: Features, facts: Profile, strength: Float, groups: list[list[int]], k: int) -> list[SetApart]:
    """Of each group the feature that is strongest in this cluster."""
    effects = facts.effects[k]
    strong = ([index for index in group if strength[index] >= _SMALL_EFFECT] for group in groups)
    listed = [sorted(group, key=lambda index: -strength[index]) for group in strong if group]
    listed.sort(key=lambda group: -strength[group[0]])
    chosen = []
    for first, *others in listed[:_SHOWN]:
        effect, mean, rest = (float(values[first]) for values in (effects, facts.means[k], facts.rest[k]))
        alike = [features.of[index].name for index in others]
        chosen.append(SetApart(features.of[first].name, effect, mean, rest, alike, features.of[first].kind))
    return chosen


# -- rules --------------------------------------------------------------------------------------------------------


def _rules(
    features: Features, member: NDArray[np.bool_], sample: _Sample, strengths: Float, effort: Effort
) -> list[Rule]:
    """Rules found in some rows, counted in all of them."""
    tried = np.argsort(-strengths, kind="stable")[: effort.tried]
    tried = np.sort(tried[strengths[tried] > 0.0])  # words that are as frequent elsewhere tell nothing
    rows, weights = _inside_and_outside(member[sample.rows], sample.weights, effort.on_a_side)
    meaning = [features.of[index] for index in tried]
    rules = []
    for path in find_rules(sample.features.columns(tried, rows), member[sample.rows[rows]], weights):
        conditions = joined(path, meaning)
        held = np.ones(member.size, dtype=bool)
        for column, condition in conditions.items():
            held &= condition.holds(features.columns(tried[[column]])[:, 0])
        inside = np.count_nonzero(held & member)
        precision, coverage = inside / max(1, held.sum()), inside / member.sum()
        rules.append(Rule(list(conditions.values()), float(precision), float(coverage)))
    return rules


def _inside_and_outside(member: NDArray[np.bool_], weights: Float, most: int) -> tuple[NDArray[np.intp], Float]:
    """Some rows of a cluster and some others, and the weights that make up for the rows left out."""
    shuffled = np.random.RandomState(0).permutation(member.size)
    parts = [shuffled[member[shuffled] == is_inside] for is_inside in (True, False)]
    weighed = [weights[part[:most]] * max(1.0, part.size / most) for part in parts]
    return np.concatenate([part[:most] for part in parts]), np.concatenate(weighed)
