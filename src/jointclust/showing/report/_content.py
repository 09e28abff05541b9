"""All that a report shows, before any HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import silhouette_samples

from jointclust.consensus.column_roles import told_of_decisive
from jointclust.metrics import clustering_accuracy, normalized_mutual_info
from jointclust.showing.explain import ClusterExplanation
from jointclust.showing.fitted import DOUBTFUL, STABLE, Fitted
from jointclust.types import Float

# Rows whose label is less likely than this sit between clusters; those below the second are worth a look.
_UNSURE, _NOT_CERTAIN = 0.5, 0.8
_FEW_ROWS = 5
_LISTED = 20
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
        """Stability of the clusters, as shown; one alone is found again whatever the rows are, which says nothing."""
        if self.stability is None or self.n_clusters == 1:
            return None
        return np.round(self.stability[: self.n_clusters], 2)

    @property
    def number(self) -> Any:
        """What is known of the number of clusters, where the data chose it."""
        return getattr(self.fitted.clusterer, "number_", None)

    def sure(self) -> str:
        """How far the clusters can be trusted, in one sentence: the verdict."""
        return str(self.fitted.verdict(self.stability))

    def advice(self) -> list[str]:
        """What to beware of, in plain words: what the fit warned of, and what the numbers show."""
        found = self.guard + [text for text in self.warnings if text not in self.guard]
        doubtful = np.flatnonzero([] if self.steadiness is None else self.steadiness < DOUBTFUL)
        if doubtful.size:
            found.append(
                f"{_of_clusters(doubtful, 'is', 'are')} not found again on other rows (less than {DOUBTFUL:.0%}): "
                "with other rows the line is drawn elsewhere. Read nothing into it, or try fewer clusters."
            )
        few = np.flatnonzero(self.fitted.profile.sizes < _FEW_ROWS)
        if few.size:
            told = _of_clusters(few, "has", "have")
            found.append(f"{told} fewer than {_FEW_ROWS} rows: outliers rather than groups, perhaps.")
        share = 0.0 if self.confidence is None else float(np.mean(self.confidence < _UNSURE))
        if share > 0.1:
            found.append(f"{share:.0%} of the rows would as likely be put with others (confidence below {_UNSURE}).")
        return found

    @property
    def guard(self) -> list[str]:
        """That the clusters are those of one column, if they are."""
        decisive = self.fitted.roles.decisive
        if decisive is None:
            return []
        begins = told_of_decisive(decisive).partition(";")[0]
        told = [text for text in self.warnings if text.startswith(begins)]  # with what to do, in words of its own
        return told[:1] or [told_of_decisive(decisive)]

    def least_certain(self) -> list[tuple[int, float]]:
        """Rows whose label may well be wrong, the least certain first, with their confidence."""
        return [] if self.confidence is None else _ascending(self.confidence, self.confidence < _NOT_CERTAIN)

    def unlike(self) -> list[tuple[int, float]]:
        """Rows beyond Tukey's fence of the outlier scores, the farthest first, with their scores."""
        scores = getattr(self.fitted.clusterer, "outlier_scores_", None)
        if scores is None:
            return []
        values = np.asarray(scores, dtype=np.float64)
        low, high = np.percentile(values, [25, 75])
        return [(row, -value) for row, value in _ascending(-values, values > high + 1.5 * (high - low))]

    # -- what the clusters are ------------------------------------------------------------------------------------

    def facts(self) -> dict[str, str]:
        """A few numbers to begin with."""
        found = {
            "rows": f"{self.fitted.labels.size:,}",
            "features": f"{len(self.fitted.names):,}",
            "clusters": str(self.n_clusters),
            "method": type(self.fitted.clusterer).__name__,
        }
        if hasattr(self.fitted.clusterer, "agreement_") and self.n_clusters > 1:
            found["agreement"] = f"{self.fitted.clusterer.agreement_:.2f}"
        if self.silhouette is not None:
            found["silhouette"] = f"{np.nanmean(self.silhouette[1]):.2f}"
        if self.classes is not None:
            found["accuracy against the classes"] = f"{clustering_accuracy(self.classes, self.fitted.labels):.3f}"
            found["NMI"] = f"{normalized_mutual_info(self.classes, self.fitted.labels):.3f}"
        return found

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

    def explained(self, cluster: int) -> ClusterExplanation | None:
        """What makes a cluster; nothing of images, whose pixels mean little one by one."""
        if self.image is not None or self.n_clusters == 1:
            return None
        return next((one for one in self.fitted.explanation if one.cluster == cluster), None)

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Where a feature is, by its name."""
        return {name: index for index, name in reversed(list(enumerate(self.fitted.names)))}

    def main_class(self, cluster: int) -> tuple[str, float] | None:
        """The most frequent known class of a cluster and its share."""
        if self.classes is None or self.fitted.profile.sizes[cluster] == 0:
            return None
        values, sizes = np.unique(self.classes[self.fitted.labels == cluster], return_counts=True)
        return str(values[sizes.argmax()]), float(sizes.max() / sizes.sum())

    @cached_property
    def class_codes(self) -> tuple[list[str], NDArray[np.intp]]:
        """Names of the known classes, sorted as people do, and which of them each row has."""
        found, codes = np.unique(np.asarray(self.classes), return_inverse=True)
        order = natural_order(found.tolist())
        return found[order].tolist(), np.argsort(order)[codes.ravel()]

    @cached_property
    def telling(self) -> NDArray[np.intp]:
        """Features by their largest effect in any cluster, the largest first."""
        return np.argsort(-np.abs(self.fitted.profile.effects).max(axis=0), kind="stable")


def _ascending(values: Float, wanted: NDArray[np.bool_]) -> list[tuple[int, float]]:
    order = np.argsort(values, kind="stable")
    return [(int(row), float(values[row])) for row in order[wanted[order]][:_LISTED]]


def steady_word(stability: float) -> str:
    """What a stability means, in a word or two."""
    if np.isnan(stability):
        return "unmeasured"
    return "hardly found" if stability < DOUBTFUL else "found" if stability >= STABLE else "mostly found"


def _of_clusters(clusters: NDArray[np.intp], of_one: str, of_more: str) -> str:
    listed = ", ".join(map(str, clusters))
    return f"Cluster {listed} {of_one}" if clusters.size == 1 else f"Clusters {listed} {of_more}"


def natural_order(names: list[str]) -> list[int]:
    """Order in which numbers inside of names count as numbers: 2 comes before 10."""

    def key(index: int) -> list[tuple[bool, float, str]]:
        parts = [part for part in re.split(r"(\d+(?:\.\d+)?)", names[index]) if part]
        return [(not part[0].isdecimal(), float(part) if part[0].isdecimal() else 0.0, part) for part in parts]

    return sorted(range(len(names)), key=key)
