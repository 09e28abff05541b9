"""Clustering of high-dimensional data: the clusters and the subspace that shows them, found together."""

__version__ = "0.1.0"

from jointclust import datasets, metrics, plots
from jointclust.comparison import compare
from jointclust.consensus import JointConsensus
from jointclust.coordinates import Coordinates, decompose
from jointclust.default import cluster
from jointclust.exceptions import CollapseWarning, PlainKMeansWarning
from jointclust.methods.discriminant_kmeans import DisCluster, DisKMeans
from jointclust.methods.discriminative import DiscriminativeEmbeddedClustering, LDAKMeans
from jointclust.methods.fuzzy import FuzzyKMeans
from jointclust.methods.ridge import UncorrelatedRidgeClustering
from jointclust.methods.robust import RobustEmbeddedClustering, RobustKMeans
from jointclust.methods.scoring import OptimalDiscriminantClustering
from jointclust.methods.sparse_fuzzy import RobustSparseFuzzyKMeans
from jointclust.methods.sparse_scoring import SparseOptimalDiscriminantClustering
from jointclust.number import ClusterNumber, number_of_clusters
from jointclust.path import TradeOffPath, trade_off_path
from jointclust.persistence import load, save
from jointclust.projection import DiscriminantProjection
from jointclust.report import write_report
from jointclust.search import LabelFreeSearch
from jointclust.stability import bootstrap_stability

__all__ = [
    "ClusterNumber",
    "CollapseWarning",
    "Coordinates",
    "DisCluster",
    "DisKMeans",
    "DiscriminantProjection",
    "DiscriminativeEmbeddedClustering",
    "FuzzyKMeans",
    "JointConsensus",
    "LDAKMeans",
    "LabelFreeSearch",
    "OptimalDiscriminantClustering",
    "PlainKMeansWarning",
    "RobustEmbeddedClustering",
    "RobustKMeans",
    "RobustSparseFuzzyKMeans",
    "SparseOptimalDiscriminantClustering",
    "TradeOffPath",
    "UncorrelatedRidgeClustering",
    "bootstrap_stability",
    "cluster",
    "compare",
    "datasets",
    "decompose",
    "load",
    "metrics",
    "number_of_clusters",
    "plots",
    "save",
    "trade_off_path",
    "write_report",
]
