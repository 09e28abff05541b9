"""All that a report shows, before any HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.metrics import clustering_accuracy, normalized_mutual_info
from jointclust.showing import fitted
from jointclust.showing.profile import Profile
from jointclust.types import Float, Labels, Predictor, Sparse

# Hennig's marks for the Jaccard index: below the first a cluster should not be trusted.
DOUBTFUL, STABLE = 0.6, 0.85
# Rows whose own label has less than this share of the votes sit between clusters.
_UNSURE = 0.5
_FEW_ROWS = 5


@dataclass(frozen=True, eq=False)
class Content:
    """What is shown; user text is still raw here."""

    model: Predictor
    title: str
    labels: Labels
    Y: NDArray[Any]
    ids: list[str] | None
    classes: NDArray[Any] | None
    names: list[str]
    profile: Profile
    data: NDArray | Sparse
    stability: Float | None
    image: tuple[tuple[int, ...], str] | None
    parameters: dict[str, tuple[object, str]]
    candidates: dict[str, list[object]] | None
    warnings: list[str]

    @property
    def clusterer(self) -> Any:
        return fitted.last_step(self.model)

    def row_name(self, row: int) -> str:
        """What to call a row."""
        return str(row) if self.ids is None else self.ids[row]

    def facts(self) -> dict[str, str]:
        """A few numbers to begin with."""
        found = {
            "rows": f"{self.labels.size:,}",
            "features": f"{len(self.names):,}",
            "clusters": str(self.profile.sizes.size),
            "method": type(self.clusterer).__name__,
        }
        if hasattr(self.clusterer, "agreement_"):
            found["agreement of the members"] = f"{self.clusterer.agreement_:.2f}"
        if self.classes is not None:
            found["accuracy against the classes"] = f"{clustering_accuracy(self.classes, self.labels):.3f}"
            found["NMI"] = f"{normalized_mutual_info(self.classes, self.labels):.3f}"
        return found

    def advice(self) -> list[str]:
        """What to beware of, in plain words: what the fit warned of, and what the numbers show."""
        found = list(self.warnings)
        if self.stability is not None:
            doubtful = [str(k) for k in np.flatnonzero(self.stability < DOUBTFUL)]
            if doubtful:
                found.append(
                    f"{_counted('Cluster', doubtful)} {'is' if len(doubtful) == 1 else 'are'} not stable (below "
                    f"{DOUBTFUL}): other samples of the same rows, or other methods, draw the line elsewhere. Read "
                    "nothing into it, or try fewer clusters."
                )
        few = [str(k) for k in np.flatnonzero(self.profile.sizes < _FEW_ROWS)]
        if few:
            found.append(
                f"{_counted('Cluster', few)} {'has' if len(few) == 1 else 'have'} fewer than {_FEW_ROWS} rows: "
                "outliers rather than groups, perhaps."
            )
        confidence = fitted.confidence_of(self.model)
        if confidence is not None:
            share = float(np.mean(confidence < _UNSURE))
            if share > 0.1:
                found.append(f"{share:.0%} of the rows sit between clusters (confidence below {_UNSURE}).")
        return found

    def uncertain(self) -> tuple[str, list[tuple[int, float]]] | None:
        """Rows that stand out, by outlier score or by least confidence, with that number."""
        scores = getattr(self.clusterer, "outlier_scores_", None)
        confidence = fitted.confidence_of(self.model)
        if scores is None and confidence is None:
            return None
        values = np.asarray(scores if scores is not None else confidence)
        order = np.argsort(-values if scores is not None else values, kind="stable")[:20]
        return ("outlier score" if scores is not None else "confidence"), [(int(i), float(values[i])) for i in order]

    def main_class(self, cluster: int) -> tuple[str, float] | None:
        """The most frequent known class of a cluster and its share."""
        if self.classes is None or self.profile.sizes[cluster] == 0:
            return None
        values, sizes = np.unique(self.classes[self.labels == cluster], return_counts=True)
        return str(values[sizes.argmax()]), float(sizes.max() / sizes.sum())


def _counted(noun: str, names: list[str]) -> str:
    return f"{noun}{'s' if len(names) > 1 else ''} {', '.join(names)}"
