"""Clustering of high-dimensional data: the clusters and the subspace that shows them, found together."""

from jointclust import datasets, metrics, sc
from jointclust._version import __version__
from jointclust.consensus.estimator import JointConsensus
from jointclust.default import cluster
from jointclust.exceptions import CollapseWarning, PlainKMeansWarning, ScaleWarning
from jointclust.methods.discriminant_kmeans import DisCluster, DisKMeans
from jointclust.methods.discriminative import DiscriminativeEmbeddedClustering, LDAKMeans
from jointclust.methods.fuzzy import FuzzyKMeans
from jointclust.methods.ridge import UncorrelatedRidgeClustering
from jointclust.methods.robust import RobustEmbeddedClustering
from jointclust.methods.robust_kmeans import RobustKMeans
from jointclust.methods.scoring import OptimalDiscriminantClustering
from jointclust.methods.sparse_fuzzy import RobustSparseFuzzyKMeans
from jointclust.methods.sparse_scoring import SparseOptimalDiscriminantClustering
from jointclust.methods.supervised import DiscriminantProjection
from jointclust.number.estimate import ClusterNumber, number_of_clusters
from jointclust.persistence import load, save
from jointclust.selection.comparison import compare
from jointclust.selection.search import LabelFreeSearch
from jointclust.selection.stability import bootstrap_stability
from jointclust.selection.trade_off_path import TradeOffPath, trade_off_path
from jointclust.showing import plots
from jointclust.showing.explain import Explanation, explain
from jointclust.showing.notebook import show
from jointclust.showing.report import write_report
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import decompose
from jointclust.views.encoder import MixedEncoder
from jointclust.views.gaps import LowRankImputer
from jointclust.views.kinds import Description, describe

__all__ = [
    "ClusterNumber",
    "CollapseWarning",
    "Coordinates",
    "Description",
    "DisCluster",
    "DisKMeans",
    "DiscriminantProjection",
    "DiscriminativeEmbeddedClustering",
    "Explanation",
    "FuzzyKMeans",
    "JointConsensus",
    "LDAKMeans",
    "LabelFreeSearch",
    "LowRankImputer",
    "MixedEncoder",
    "OptimalDiscriminantClustering",
    "PlainKMeansWarning",
    "RobustEmbeddedClustering",
    "RobustKMeans",
    "RobustSparseFuzzyKMeans",
    "ScaleWarning",
    "SparseOptimalDiscriminantClustering",
    "TradeOffPath",
    "UncorrelatedRidgeClustering",
    "__version__",
    "bootstrap_stability",
    "cluster",
    "compare",
    "datasets",
    "decompose",
    "describe",
    "explain",
    "load",
    "metrics",
    "number_of_clusters",
    "plots",
    "save",
    "sc",
    "show",
    "trade_off_path",
    "write_report",
]
