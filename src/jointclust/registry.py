"""The methods of the library, each a line.

The contract tests, the tests on other kinds of rows and on a GPU, the command line's ``--method``, :func:`compare`, the
leaderboard, the support table, the names of the package and what :func:`load` trusts are derived from :data:`METHODS`.
A new method is a file in ``methods/`` and a line here. Nothing is imported until a class is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

# Values by parameter, or a function of the number of classes that gives them.
Grid = Mapping[str, list[Any]] | Callable[[int], Mapping[str, list[Any]]]
_FEW_STARTS = {"n_init": 3}
_RIDGES, _VARIANCES = {"ridge": ["auto", 0.1, 1.0, 10.0]}, {"variance": [0.8, 0.9, 0.95]}


@dataclass(frozen=True)
class Setting:
    """One way to run a method: its parameters, and where it is shown.

    Attributes
    ----------
    params : mapping
        Parameters other than the defaults.
    title : str or None
        Its row in the leaderboard; None leaves it out there.
    grid : mapping, callable or None
        What the leaderboard tries, as a grid or as a function of the number of classes.
    compared : str or None
        Its row in :func:`compare`; None leaves it out there.
    compared_with : mapping
        Parameters in :func:`compare` alone, where a run may take longer.
    """

    params: Mapping[str, Any] = field(default_factory=dict)
    title: str | None = None
    grid: Grid | None = None
    compared: str | None = None
    compared_with: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """A line of a registry: the name of a class, and the path to it, "module:class"."""

    name: str
    path: str

    @property
    def cls(self) -> type[Any]:
        """The class, whose module is imported when it is first used."""
        module, name = self.path.split(":")
        return getattr(import_module(module), name)


@dataclass(frozen=True)
class Registered(Entry):
    """A method: its short name on the command line, its class, and the settings that are tested and shown."""

    settings: tuple[Setting, ...] = (Setting(),)


def _neighbors(n_classes: int) -> dict[str, list[Any]]:
    return {"n_neighbors": sorted({min(k, max(n_classes - 1, 1)) for k in (1, 2, 5)})}


METHODS: tuple[Registered, ...] = (
    Registered(
        "dec",
        "jointclust.methods.discriminative:DiscriminativeEmbeddedClustering",
        (
            Setting(title="DEC", grid={"trade_off": [1, 1.5, 2, 3, 6, 18]}, compared="DEC"),
            Setting({"trade_off": 0}, title="PCA + k-means"),
            Setting({"trade_off": "olsda"}, title="OLSDAKM"),
            Setting({"trade_off": "mmc", "update_rule": "fixed"}),
            Setting({"trade_off": 0, "init": "random", "n_init": 2}),
        ),
    ),
    Registered(
        "ldakm",
        "jointclust.methods.discriminative:LDAKMeans",
        (Setting(title="LDAKMeans", grid=_VARIANCES, compared="LDAKMeans", compared_with={"n_init": 5}),),
    ),
    Registered(
        "ec",
        "jointclust.methods.robust:RobustEmbeddedClustering",
        (
            Setting(title="EC", grid=_VARIANCES, compared="EC"),
            Setting({"robust": False}, title="OLSDA", grid=_VARIANCES),
        ),
    ),
    Registered(
        "odc",
        "jointclust.methods.scoring:OptimalDiscriminantClustering",
        (
            Setting(title="ODC", grid=_RIDGES, compared="ODC"),
            Setting({"kernel": "rbf"}, compared="ODC rbf"),
            Setting(
                {"kernel": "nearest_neighbors"},
                title="ODC, neighbour graph",
                grid={"n_neighbors": [5, 8, 12]},
                compared="ODC nearest_neighbors",
            ),
            Setting({"kernel": "poly", "degree": 2}),
            Setting({"kernel": "cosine"}),
        ),
    ),
    Registered("sparse-odc", "jointclust.methods.sparse_scoring:SparseOptimalDiscriminantClustering"),
    Registered(
        "diskmeans",
        "jointclust.methods.discriminant_kmeans:DisKMeans",
        (Setting(title="DisKMeans", grid=_RIDGES, compared="DisKMeans"),),
    ),
    Registered(
        "discluster",
        "jointclust.methods.discriminant_kmeans:DisCluster",
        (Setting(title="DisCluster", grid=_RIDGES, compared="DisCluster"),),
    ),
    Registered(
        "rurr",
        "jointclust.methods.ridge:UncorrelatedRidgeClustering",
        (
            Setting(title="RURR-SL", grid=_RIDGES, compared="RURR-SL"),
            Setting({"rescale": False}, title="URR-SL", grid=_RIDGES),
            Setting({"max_iter": 20, "tol": 1e-2}),
        ),
    ),
    Registered(
        "consensus",
        "jointclust.consensus.estimator:JointConsensus",
        (Setting(title="consensus", compared="consensus", compared_with={"views": None}),),
    ),
    Registered(
        "robust-kmeans",
        "jointclust.methods.robust_kmeans:RobustKMeans",
        (Setting(title="RMKMC", compared="RobustKMeans"), Setting({"n_components": 1})),
    ),
    Registered(
        "multi-view-kmeans",
        "jointclust.methods.multi_view:MultiViewKMeans",
        (Setting(title="RMKMC, views", compared="MultiViewKMeans"),),
    ),
    Registered(
        "correspondence",
        "jointclust.methods.correspondence:CorrespondenceClustering",
        (
            Setting(_FEW_STARTS, title="clusCA", compared="CorrespondenceClustering", compared_with={"n_init": 20}),
            Setting({"method": "mca", "init": "k-means++", "n_init": 10}, title="MCA k-means"),
            Setting({"method": "mixed", **_FEW_STARTS}),
        ),
    ),
    Registered(
        "fuzzy-kmeans",
        "jointclust.methods.fuzzy:FuzzyKMeans",
        (
            Setting(title="FKM", grid={"fuzzifier": ["auto", 1.1, 1.5]}, compared="FuzzyKMeans"),
            Setting({"n_components": 1, "fuzzifier": 1.5}),
        ),
    ),
    Registered(
        "rsfkm",
        "jointclust.methods.sparse_fuzzy:RobustSparseFuzzyKMeans",
        (Setting(title="RSFKM", grid=_neighbors), Setting({"loss": "l21", "n_components": 1})),
    ),
)
