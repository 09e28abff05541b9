"""All that a report shows, before any HTML."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import silhouette_samples

from jointclust.consensus.column_roles import describe_decisive
from jointclust.consensus.matching import given_names
from jointclust.judge.number import ClusterNumber
from jointclust.metrics import clustering_accuracy, normalized_mutual_info
from jointclust.showing.alternatives import Alternative, alternatives, described, number_of
from jointclust.showing.curves import Curves, curves_of
from jointclust.showing.explain import ClusterExplanation
from jointclust.showing.fitted import Fitted
from jointclust.showing.layers import Layers, layers_of
from jointclust.showing.profile import sums_by_group
from jointclust.types import Float

# Rows whose label is less likely than this sit between clusters; those below the second are worth a look.
_UNSURE, _NOT_CERTAIN = 0.5, 0.8
_FEW_ROWS = 5
_LISTED, _NAMED = 20, 5
# Numbers of clusters that are shown side by side, at the most.
_CANDIDATES = 4
# What the page calls the agreement of a consensus's members.
MEMBERS_AGREE = "agreement of the members"
# Rows that the silhouette looks at, at the most.
_SILHOUETTE_ROWS = 2_000


@dataclass(frozen=True, eq=False)
class Content:
    """What is shown; user text is still raw here."""

    fitted: Fitted
    title: str
    has_layout: bool
    ids: list[str] | None
    classes: NDArray[Any] | None
    stability: Float | None
    image: tuple[tuple[int, ...], str] | None
    parameters: dict[str, tuple[object, str]]
    candidates: dict[str, list[object]] | None
    warnings: list[str]
    notes: list[str]
    made: dict[str, str]
    most_megabytes: float
    shown: dict[str, tuple[Any, bool]]  # columns beside the data, and whether someone has asked for each
    text_name: str = "text"  # of the documents, if they have no column
    documents: list[str] | None = None  # what the rows say, where there is text

    @cached_property
    def key(self) -> str:
        """By which a browser knows the page again: of these rows and clusters."""
        return hashlib.sha256(self.made["SHA-256 of the data"].encode() + self.fitted.labels.tobytes()).hexdigest()[:16]

    @property
    def n_clusters(self) -> int:
        return self.fitted.profile.sizes.size

    # -- how sure -----------------------------------------------------------------------------------------------

    @cached_property
    def confidence(self) -> Float | None:
        """How sure each row's label is; nothing where there is one cluster, and so no question."""
        return self.fitted.confidence if self.n_clusters > 1 else None

    @property
    def mean_confidence(self) -> Float | None:
        """That of each cluster; NaN where it has no rows."""
        if self.confidence is None:
            return None
        owns = [self.confidence[self.fitted.labels == cluster] for cluster in range(self.n_clusters)]
        return np.array([own.mean() if own.size else np.nan for own in owns])

    @cached_property
    def steadiness(self) -> Float | None:
        """Stability of the clusters; None for a single cluster, which any refit finds."""
        return None if self.stability is None or self.n_clusters == 1 else self.stability[: self.n_clusters]

    @property
    def hardly_found(self) -> NDArray[np.intp]:
        """The clusters that are hardly found again."""
        return np.flatnonzero([] if self.steadiness is None else self.steadiness < self.fitted.doubtful)

    @property
    def number(self) -> ClusterNumber | None:
        """What the data say of the number of clusters, where a model knows it."""
        return number_of(self.fitted.clusterer)

    @property
    def candidate_numbers(self) -> list[int]:
        """Numbers of clusters to look at: that of the fit, and what else the data suggest, where there is a layer.

        The one of the highest predicted agreement comes first.
        """
        if self.number is None:
            return []
        numbers = [self.n_clusters, *(one for one in self.number.ranked if one != self.n_clusters)]
        numbers = [one for one in numbers if 2 <= one <= len(self.layers.of_number)][:_CANDIDATES]
        own = self.splits[self.n_clusters - 2][1] if 2 <= self.n_clusters <= len(self.splits) + 1 else None
        scores = {self.n_clusters: own or 0.0} | self.number.scores
        return sorted(numbers, key=lambda one: -scores[one]) if len(numbers) > 1 else []

    @cached_property
    def alternatives(self) -> list[Alternative]:
        """The best other numbers, where it is not sure that these clusters are there."""
        return alternatives(self.fitted.clusterer, self.fitted.verdict(self.stability).level)

    @cached_property
    def _about(self) -> dict[int, Alternative]:
        """What there is to say of each candidate."""
        return {one.number: one for one in described(self.fitted.clusterer, self.candidate_numbers)}

    def reasons_for(self, number: int) -> list[str]:
        """What speaks for a number of clusters, and what is predicted of it."""
        about = self._about[number]
        if number != self.n_clusters:
            return about.parts
        reasons = about.parts[:-1]  # there is nothing to cut
        if self.steadiness is not None:
            hardly = self.hardly_found.size
            some, all_found = f"{hardly} of its clusters are hardly found again", "each of its clusters is found again"
            reasons.append(some if hardly else all_found)
        return reasons

    @cached_property
    def splits(self) -> list[tuple[str | None, float | None]]:
        """Whether data support each split, the first one first: "supported" or "doubtful"; and what is predicted."""
        of_layers = [self.fitted.clusterer._split(number) for number in range(2, len(self.layers.of_number) + 1)]
        return [(one["split"], one["predicted_agreement"]) for one in of_layers]

    def sure(self) -> str:
        """How far the clusters can be trusted, in one sentence: the verdict."""
        return str(self.fitted.verdict(self.stability))

    def advice(self) -> list[str]:
        """What to beware of, in plain words: what the fit warned of, and what the numbers show."""
        texts = self.guard + [text for text in self.warnings if text not in self.guard]
        doubtful = self.hardly_found
        if doubtful.size:
            texts.append(
                f"{self._of_clusters(doubtful, 'is', 'are')} hardly found again (less than "
                f"{self.fitted.doubtful:.0%}): with other rows the line is drawn elsewhere. Read nothing into it, or "
                "try fewer clusters."
            )
        sizes = self.fitted.profile.sizes
        few = np.flatnonzero((sizes > 0) & (sizes < _FEW_ROWS))  # one without rows is gone since an earlier model
        if few.size:
            few_named = self._of_clusters(few, "has", "have")
            texts.append(f"{few_named} fewer than {_FEW_ROWS} rows: outliers rather than groups, perhaps.")
        share = 0.0 if self.confidence is None else float(np.mean(self.confidence < _UNSURE))
        if share > 0.1:
            texts.append(f"{share:.0%} of the rows are more likely in a wrong cluster (confidence below {_UNSURE}).")
        return texts

    def _of_clusters(self, clusters: NDArray[np.intp], of_one: str, of_more: str) -> str:
        called = {cluster: self.names[self.layers.fitted[cluster]] for cluster in clusters[:_NAMED].tolist()}
        named = [str(one) if name == f"cluster {one}" else f"{one} ({name})" for one, name in called.items()]
        listed = ", ".join(named) + (f" and {clusters.size - _NAMED} more" if clusters.size > _NAMED else "")
        return f"Cluster {listed} {of_one}" if clusters.size == 1 else f"Clusters {listed} {of_more}"

    @property
    def guard(self) -> list[str]:
        """That the clusters are those of one column, if they are."""
        decisive = self.fitted.roles.decisive
        if decisive is None:
            return []
        begins = describe_decisive(decisive).partition(";")[0]
        own = [text for text in self.warnings if text.startswith(begins)]  # with what to do, in words of its own
        return own[:1] or [describe_decisive(decisive)]

    def least_certain(self) -> list[tuple[int, float]]:
        """Rows whose label may well be wrong, the least certain first, with their confidence."""
        return [] if self.confidence is None else _ascending(self.confidence, self.confidence < _NOT_CERTAIN)

    def unlike(self) -> list[tuple[int, float]]:
        """Rows beyond Tukey's fence of the outlier scores, the farthest first, with their scores."""
        if self.fitted.outlier_scores is None:
            return []
        values = self.fitted.outlier_scores.astype(np.float64)
        low, high = np.nanpercentile(values, [25, 75])
        return [(row, -value) for row, value in _ascending(-values, values > high + 1.5 * (high - low))]

    # -- what the clusters are ------------------------------------------------------------------------------------

    def facts(self) -> dict[str, str]:
        """A few numbers to begin with."""
        values = {
            "rows": f"{self.fitted.labels.size:,}",
            **self._width(),
            "clusters": str(self.n_clusters),
            "method": type(self.fitted.clusterer).__name__,
        }
        if hasattr(self.fitted.clusterer, "agreement_") and self.n_clusters > 1:
            values[MEMBERS_AGREE] = f"{self.fitted.clusterer.agreement_:.2f}"
        if self.silhouette is not None:
            values["silhouette"] = f"{np.nanmean(self.silhouette[1]):.2f}"
        if self.classes is not None:
            values["accuracy against the classes"] = f"{clustering_accuracy(self.classes, self.fitted.labels):.3f}"
            values["NMI"] = f"{normalized_mutual_info(self.classes, self.fitted.labels):.3f}"
        return values

    def _width(self) -> dict[str, str]:
        """How many columns the data have and how many of them are used; of documents, how many words."""
        columns = self.fitted.columns
        if any(one.kind == "word" for one in self.fitted.features.of[:1]):
            return {"words": f"{len(self.fitted.names):,}"}
        if not columns:
            return {"features": f"{len(self.fitted.names):,}"}
        n_used = sum(one["used"] for one in columns)
        return {"columns": f"{n_used:,} of {len(columns):,}" if n_used < len(columns) else f"{n_used:,}"}

    @cached_property
    def silhouette(self) -> tuple[Float, Float] | None:
        """Mean silhouette of each cluster in the embedding, and of each row of a sample."""
        n = self.fitted.labels.size
        sample = np.linspace(0, n - 1, min(n, _SILHOUETTE_ROWS)).astype(int)
        own = self.fitted.labels[sample]
        if not 1 < np.unique(own).size < own.size:
            return None
        values = silhouette_samples(np.asarray(self.fitted.positions, dtype=np.float64)[sample], own)
        sizes = np.bincount(own, minlength=self.n_clusters)
        sums = np.bincount(own, weights=values, minlength=self.n_clusters)
        return np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan), values

    @cached_property
    def layers(self) -> Layers:
        """The clusters of the fit and those of all other layers: the nodes."""
        return layers_of(self.fitted)

    @cached_property
    def names(self) -> list[str]:
        """The name of each node; clusters of features that say little one by one have numbers unless named."""
        layers = self.layers
        if self.image is None and not self.fitted.is_numbered:
            return layers.names
        called, given = list[str](), given_names(self.fitted.clusterer)
        for node, own in enumerate(layers.member):
            inside = [cluster for cluster, node in enumerate(layers.fitted) if (own & layers.member[node]).any()]
            if [node] == [layers.fitted[cluster] for cluster in inside]:
                called.append(given.get(inside[0], f"cluster {inside[0]}"))
                continue
            listed = " and ".join(", ".join(map(str, inside)).rsplit(", ", 1))
            is_part = len(inside) == 1 and not (own == layers.member[layers.fitted[inside[0]]]).all()
            called.append(f"cluster{'s' * (len(inside) > 1)} {listed}{', a part' * is_part}")
        return called

    def explained(self, node: int) -> ClusterExplanation | None:
        """What makes a cluster; nothing of images, and of all rows."""
        if self.image is not None or self.layers.sizes[node] == self.fitted.labels.size:
            return None
        return self.layers.explained.get(node)

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Where a feature is, by its name."""
        return {one.name: index for index, one in reversed(list(enumerate(self.fitted.features.of)))}

    @cached_property
    def words(self) -> list[list[str]] | None:
        """The words that tell each node, where rows are documents."""
        explained = self.layers.explained
        features = [[] if node not in explained else explained[node].features for node in range(len(self.names))]
        words = [[one.name for one in own if one.kind == "word" and one.effect > 0] for own in features]
        return words if any(words) else None

    @cached_property
    def class_counts(self) -> NDArray[np.intp]:
        """Rows of each node in each known class."""
        names, codes = self.class_codes
        counts = np.zeros((self.layers.member.shape[1], len(names)), np.intp)
        np.add.at(counts, (self.layers.atoms, codes), 1)
        table: NDArray[np.intp] = self.layers.member.astype(np.intp) @ counts
        return table

    def main_class(self, node: int) -> tuple[str, float] | None:
        """The most frequent known class of a cluster and its share."""
        if self.classes is None or self.layers.sizes[node] == 0:
            return None
        sizes = self.class_counts[node]
        return self.class_codes[0][int(sizes.argmax())], float(sizes.max() / sizes.sum())

    @cached_property
    def mean_images(self) -> Float:
        """The mean of each node, for rows that are images."""
        sums, shift = sums_by_group(self.fitted.data, self.layers.atoms, self.layers.member.shape[1])
        means = sums.of_groups(self.layers.member)
        return means.sums / np.maximum(means.counts, 1) + shift

    @cached_property
    def curves(self) -> Curves | None:
        """Mean curves of the nodes and, last, of all rows, where the columns have an order."""
        if self.image is not None or self.n_clusters == 1:
            return None
        member = np.vstack([self.layers.member, np.ones(self.layers.member.shape[1], dtype=bool)])
        return curves_of(self.fitted.features, self.layers.atoms, member)

    @cached_property
    def class_codes(self) -> tuple[list[str], NDArray[np.intp]]:
        """Names of the known classes, sorted as people do, and which of them each row has."""
        classes, codes = np.unique(np.asarray(self.classes), return_inverse=True)
        order = natural_order(classes.tolist())
        return classes[order].tolist(), np.argsort(order)[codes.ravel()]

    @cached_property
    def telling(self) -> NDArray[np.intp]:
        """Features by their largest effect in any cluster, the largest first."""
        effects = self.layers.contrast.effects[self.layers.fitted]
        return np.argsort(-np.abs(effects).max(axis=0), kind="stable")


def _ascending(values: Float, wanted: NDArray[np.bool_]) -> list[tuple[int, float]]:
    order = np.argsort(values, kind="stable")
    return [(int(row), float(values[row])) for row in order[wanted[order]][:_LISTED]]


def natural_order(names: list[str]) -> list[int]:
    """Order in which numbers inside of names count as numbers: 2 comes before 10."""

    def key(index: int) -> list[tuple[bool, float, str]]:
        parts = [part for part in re.split(r"(\d+(?:\.\d+)?)", names[index]) if part]
        return [(not part[0].isdecimal(), float(part) if part[0].isdecimal() else 0.0, part) for part in parts]

    return sorted(range(len(names)), key=key)
