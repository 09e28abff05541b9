"""Clustering of high-dimensional data: the clusters and the subspace that shows them, found together."""

import importlib
from typing import TYPE_CHECKING, Any

from jointclust._version import __version__ as __version__
from jointclust.registry import METHODS as _METHODS

if TYPE_CHECKING:
    from jointclust import datasets as datasets
    from jointclust import metrics as metrics
    from jointclust import sc as sc
    from jointclust.consensus.check import ModelCheck as ModelCheck
    from jointclust.consensus.check import check as check
    from jointclust.consensus.estimator import JointConsensus as JointConsensus
    from jointclust.default import cluster as cluster
    from jointclust.exceptions import CollapseWarning as CollapseWarning
    from jointclust.exceptions import ColumnWarning as ColumnWarning
    from jointclust.exceptions import PlainKMeansWarning as PlainKMeansWarning
    from jointclust.exceptions import ScaleWarning as ScaleWarning
    from jointclust.methods.correspondence import CorrespondenceClustering as CorrespondenceClustering
    from jointclust.methods.discriminant_kmeans import DisCluster as DisCluster
    from jointclust.methods.discriminant_kmeans import DisKMeans as DisKMeans
    from jointclust.methods.discriminative import DiscriminativeEmbeddedClustering as DiscriminativeEmbeddedClustering
    from jointclust.methods.discriminative import LDAKMeans as LDAKMeans
    from jointclust.methods.fuzzy import FuzzyKMeans as FuzzyKMeans
    from jointclust.methods.multi_view import MultiViewKMeans as MultiViewKMeans
    from jointclust.methods.ridge import UncorrelatedRidgeClustering as UncorrelatedRidgeClustering
    from jointclust.methods.robust import RobustEmbeddedClustering as RobustEmbeddedClustering
    from jointclust.methods.robust_kmeans import RobustKMeans as RobustKMeans
    from jointclust.methods.scoring import OptimalDiscriminantClustering as OptimalDiscriminantClustering
    from jointclust.methods.sparse_fuzzy import RobustSparseFuzzyKMeans as RobustSparseFuzzyKMeans
    from jointclust.methods.sparse_scoring import (
        SparseOptimalDiscriminantClustering as SparseOptimalDiscriminantClustering,
    )
    from jointclust.methods.supervised import DiscriminantProjection as DiscriminantProjection
    from jointclust.number.estimate import ClusterNumber as ClusterNumber
    from jointclust.number.estimate import number_of_clusters as number_of_clusters
    from jointclust.persistence import load as load
    from jointclust.persistence import save as save
    from jointclust.selection.comparison import compare as compare
    from jointclust.selection.search import LabelFreeSearch as LabelFreeSearch
    from jointclust.selection.stability import bootstrap_stability as bootstrap_stability
    from jointclust.selection.trade_off_path import TradeOffPath as TradeOffPath
    from jointclust.selection.trade_off_path import trade_off_path as trade_off_path
    from jointclust.showing import plots as plots
    from jointclust.showing.explain import Explanation as Explanation
    from jointclust.showing.fitted import explain as explain
    from jointclust.showing.report import show as show
    from jointclust.showing.report import write_report as write_report
    from jointclust.subspace.coordinates import Coordinates as Coordinates
    from jointclust.subspace.decomposition import decompose as decompose
    from jointclust.views.encoder import MixedEncoder as MixedEncoder
    from jointclust.views.gaps import LowRankImputer as LowRankImputer
    from jointclust.views.kinds import Description as Description
    from jointclust.views.kinds import describe as describe

# Modules by name, and the module of each other name; methods are in the registry. Each is loaded when it is first used.
_MODULES = {"datasets": "datasets", "metrics": "metrics", "plots": "showing.plots", "sc": "sc"}
_NAMES = {
    "consensus.check": "ModelCheck check",
    "default": "cluster",
    "exceptions": "CollapseWarning ColumnWarning PlainKMeansWarning ScaleWarning",
    "methods.supervised": "DiscriminantProjection",
    "number.estimate": "ClusterNumber number_of_clusters",
    "persistence": "load save",
    "selection.comparison": "compare",
    "selection.search": "LabelFreeSearch",
    "selection.stability": "bootstrap_stability",
    "selection.trade_off_path": "TradeOffPath trade_off_path",
    "showing.explain": "Explanation",
    "showing.fitted": "explain",
    "showing.report": "show write_report",
    "subspace.coordinates": "Coordinates",
    "subspace.decomposition": "decompose",
    "views.encoder": "MixedEncoder",
    "views.gaps": "LowRankImputer",
    "views.kinds": "Description describe",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
_HOMES |= {name: module.removeprefix("jointclust.") for module, name in (one.path.split(":") for one in _METHODS)}
__all__ = sorted(["__version__", *_MODULES, *_HOMES])

if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> Any:
        """A public name, from the module that defines it (PEP 562)."""
        if name in _MODULES:
            value = importlib.import_module(f"jointclust.{_MODULES[name]}")
        elif name in _HOMES:
            value = getattr(importlib.import_module(f"jointclust.{_HOMES[name]}"), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
