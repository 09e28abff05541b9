"""What jointclust does, in a minute, on data that come with it.

k-means, PCA + k-means, DEC over several trade-offs and the other methods, on the DEC paper's two-Gaussian toy and on
handwritten digits; then the paper's figure 2: the direction DEC projects on, at the start, after one iteration and at
the end.

    python examples/demo.py [folder for the figure]
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

import jointclust as jc
from jointclust import DiscriminativeEmbeddedClustering as DEC

mpl.use("Agg")
import matplotlib.pyplot as plt

TOY = jc.datasets.two_gaussians(1000, random_state=0)


def candidates(c: int, trade_offs: tuple[float, ...]) -> dict[str, Any]:
    d = c - 1
    return {
        "k-means (10 starts)": KMeans(c, n_init=10, random_state=0),
        "PCA, then k-means": make_pipeline(PCA(d, random_state=0), KMeans(c, n_init=10, random_state=0)),
        **{f"DEC, lambda = {t:g}": DEC(c, n_components=d, trade_off=t, n_init=10, random_state=0) for t in trade_offs},
        "LDA k-means": jc.LDAKMeans(c, random_state=0),
        "soft labels (RURR-SL)": jc.UncorrelatedRidgeClustering(c, random_state=0),
        "ODC, neighbour graph": jc.OptimalDiscriminantClustering(c, kernel="nearest_neighbors", random_state=0),
        "consensus of 31 fits": jc.JointConsensus(c, random_state=0),
    }


def table(name: str, X: np.ndarray, y: np.ndarray, trade_offs: tuple[float, ...]) -> None:
    print(f"\n{name}: {X.shape[0]} rows, {X.shape[1]} features, {np.unique(y).size} classes")
    print(f"  {'method':24} {'accuracy':>8} {'NMI':>6} {'seconds':>8}")
    for label, model in candidates(np.unique(y).size, trade_offs).items():
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # lambda = 1 says that it is plain k-means, which is the point here
            labels = model.fit_predict(X)
        elapsed = time.perf_counter() - began
        accuracy, nmi = jc.metrics.clustering_accuracy(y, labels), jc.metrics.normalized_mutual_info(y, labels)
        print(f"  {label:24} {accuracy:8.3f} {nmi:6.3f} {elapsed:8.3f}")


def directions(X: np.ndarray, y: np.ndarray) -> list[tuple[str, np.ndarray, float]]:
    """Projection direction and accuracy at the start, after one iteration and at the end of one run from PCA."""
    start = PCA(1).fit(X).components_[0]
    labels = KMeans(2, n_init=10, random_state=0).fit_predict(X @ start[:, None])
    stages = [("start (PCA)", start, jc.metrics.clustering_accuracy(y, labels))]
    for title, iterations in (("after 1 iteration", 1), ("end", 100)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = DEC(2, n_components=1, trade_off=5, init=labels, max_iter=iterations, random_state=0).fit(X)
        accuracy = jc.metrics.clustering_accuracy(y, model.labels_)
        stages.append((title, model.components_[0], accuracy))
    return stages


def figure(path: Path) -> None:
    X, y = TOY
    fig, axes = plt.subplots(1, 3, figsize=(11, 4.4), sharey=True, layout="constrained")
    for ax, (title, direction, accuracy) in zip(axes, directions(X, y), strict=True):
        for label, color in ((0, "#0072B2"), (1, "#D55E00")):
            ax.scatter(*X[y == label].T, s=5, color=color, alpha=0.5, linewidths=0)
        ax.axline((0, 0), direction, color="black", linestyle="--")
        ax.set(title=f"{title}: accuracy {accuracy:.3f}", xlim=(-16, 16), ylim=(-16, 16), aspect="equal")
    fig.savefig(path, dpi=120)
    plt.close(fig)


def main() -> None:
    table("Two Gaussians", *TOY, trade_offs=(0, 1, 2, 5, 8))
    digits = jc.datasets.load("digits")
    table("Digits", digits.data, digits.target, trade_offs=(0, 1, 1.5, 2, 3))
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/demo")
    folder.mkdir(parents=True, exist_ok=True)
    path = (folder / "directions.png").resolve()
    figure(path)
    print("\nNo method saw the classes; accuracy and NMI compare with them afterwards.")
    print(f"The figure is at {path}")


if __name__ == "__main__":
    main()
