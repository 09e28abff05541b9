"""What a type checker knows of our names; `make lint` reads this, nobody runs it."""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import jointclust as jc


def known(X: NDArray[np.float64]) -> None:
    """Names, and what follows from them."""
    assert_type(jc.cluster(X), jc.JointConsensus)
    assert_type(jc.JointConsensus(2).fit(X), jc.JointConsensus)
    assert_type(jc.LDAKMeans(2).fit(X), jc.LDAKMeans)
    assert_type(jc.DiscriminativeEmbeddedClustering(2).fit(X), jc.DiscriminativeEmbeddedClustering)
    assert_type(jc.OptimalDiscriminantClustering(2).fit(X), jc.OptimalDiscriminantClustering)
    assert_type(jc.SparseOptimalDiscriminantClustering(2).fit(X), jc.SparseOptimalDiscriminantClustering)
    assert_type(jc.RobustKMeans(2).fit(X), jc.RobustKMeans)
    assert_type(jc.FuzzyKMeans(2).fit(X), jc.FuzzyKMeans)
    assert_type(jc.DiscriminantProjection().fit(X, [0, 0, 1, 1]), jc.DiscriminantProjection)
    assert_type(jc.LabelFreeSearch(jc.LDAKMeans(2), {}).fit(X), jc.LabelFreeSearch)
    assert_type(jc.MixedEncoder().fit(X), jc.MixedEncoder)
    assert_type(jc.LowRankImputer().fit(X), jc.LowRankImputer)
    assert_type(jc.number_of_clusters(X).suggestions, list[int])
    assert_type(jc.describe(X), jc.Description)
