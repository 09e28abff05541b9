"""Models of earlier versions made models of this one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from jointclust.consensus.agreement import Agreement, Panel
from jointclust.consensus.classifiers import Member
from jointclust.consensus.column_roles import ColumnRoles
from jointclust.consensus.confidence import ConfidenceScale
from jointclust.consensus.embedding import DiscriminantMap
from jointclust.consensus.estimator import JointConsensus
from jointclust.consensus.training import Patterns, TrainingVotes, VotesElsewhere, VotesInMemory, VotesNotKept
from jointclust.consensus.version_0_1 import AgreementOf01, StoredVotes, VoteShare
from jointclust.consensus.views import RowsAsGiven
from jointclust.judge.number import ClusterNumber

# Classes by their names in files of 0.1 and 0.2, with their names now; all others have kept theirs.
RENAMED = {
    "jointclust.choosing.consensus.JointConsensus": "jointclust.consensus.estimator.JointConsensus",
    "jointclust.choosing.layers.Tree": "jointclust.consensus.tree.Tree",
    "jointclust.choosing.lens.CenterLabels": "jointclust.consensus.classifiers.CenterLabels",
    "jointclust.choosing.lens.LandmarkLabels": "jointclust.consensus.classifiers.LandmarkLabels",
    "jointclust.choosing.lens.Lens": "jointclust.consensus.projection.ViewProjection",
    "jointclust.choosing.lens.LinearLabels": "jointclust.consensus.classifiers.LinearLabels",
    "jointclust.choosing.number.ClusterNumber": "jointclust.judge.number.ClusterNumber",
    "jointclust.choosing.search.LabelFreeSearch": "jointclust.selection.search.LabelFreeSearch",
    "jointclust.consensus.JointConsensus": "jointclust.consensus.estimator.JointConsensus",
    "jointclust.methods.robust.RobustKMeans": "jointclust.methods.robust_kmeans.RobustKMeans",
    "jointclust.number.ClusterNumber": "jointclust.judge.number.ClusterNumber",
    "jointclust.number.estimate.ClusterNumber": "jointclust.judge.number.ClusterNumber",
    "jointclust.projection.DiscriminantProjection": "jointclust.methods.supervised.DiscriminantProjection",
    "jointclust.search.LabelFreeSearch": "jointclust.selection.search.LabelFreeSearch",
    "jointclust.views.genes.ScaledGenes": "jointclust.views.counts.ScaledGenes",
}
# Fitted attributes of a consensus that have kept their names.
_PUBLISHED = (
    "labels_",
    "classes_",
    "members_",
    "views_",
    "description_",
    "cluster_centers_",
    "objective_",
    "agreement_",
    "agreement_matrix_",
    "outlier_scores_",
    "n_features_in_",
    "feature_names_in_",
    "number_",
)
# Of columns that no earlier version looked at.
_NO_ROLES = ColumnRoles(np.empty(0), None)


def convert(value: Any) -> None:
    """Convert, in place, each consensus and each number of clusters in a model that an earlier version saved."""
    if isinstance(value, JointConsensus):
        for member in vars(value).get("members_", []):
            convert(member)
        convert(vars(value).get("number_"))
        _convert_consensus(value)
    elif isinstance(value, ClusterNumber):
        _convert_number(value)
    elif isinstance(value, BaseEstimator):
        convert(list(vars(value).values()))
    elif isinstance(value, list | tuple):
        for item in value:
            convert(item)
    elif isinstance(value, dict):
        convert(list(value.values()))


def _convert_number(number: ClusterNumber) -> None:
    """A result of 0.1 has a number and a table, those of 0.2 and 0.3 no reasons."""
    vars(number).setdefault("reasons", {})
    if "suggestions" not in vars(number):
        n_clusters = number.n_clusters
        missing = {"suggestions": [n_clusters], "scores": {}, "confidence": float("nan"), "n_repeats": 0}
        vars(number).update(missing, has_structure=n_clusters > 1)


def _convert_consensus(model: JointConsensus) -> None:
    state = dict(vars(model))
    defaults = {"views": None, "reject_below": 0.0, "effort": "normal", "columns": "all", "trust": False}
    params = {name: state.get(name, defaults.get(name)) for name in JointConsensus._get_param_names()}
    if "labels_" not in state or "_agreement" in state:
        model.__dict__ = (
            {"_roles": _NO_ROLES, "_kept": None, **state, **params} if "labels_" in state else {**state, **params}
        )
        return
    fitted = {name: state[name] for name in _PUBLISHED if name in state}
    old = _parts_of_0_1(state) if "_shares" in state else _parts_of_0_2(state)
    model.__dict__ = {**params, **fitted, **old, "_roles": _NO_ROLES, "_kept": None}


def _parts_of_0_2(state: dict[str, Any]) -> dict[str, Any]:
    """The agreement and the votes of a model of 0.2."""
    for member in state["members_"]:
        if isinstance(member, Member):
            vars(member)["view"] = vars(member).pop("lens")
    tree = state.get("_tree")
    if tree is not None:
        vars(tree)["codes"] = vars(tree).pop("groups")
    agreement = Agreement(
        [_preparation(one, state) for one in state["_preparations"]],
        Panel(state["_lenses"], state["members_"], state["_view_of_member"]),
        state["_group_names"],
        state["_votes"],
        state["_member_weights"],
        len(state.get("classes_", ())),
        state.get("_settled"),
        ConfidenceScale(state["_trust"], state["_usual"]),
        DiscriminantMap(state["_origin"], state["_directions"]),
    )
    patterns = Patterns(state["_patterns"], state["_masses"]) if "_patterns" in state else None
    parts = {"_agreement": agreement, "_patterns": patterns, "_seed": state["_seed"], "_tree": tree}
    return {**parts, "_training": _votes_of_0_2(state, patterns)}


def _votes_of_0_2(state: dict[str, Any], patterns: Patterns | None) -> TrainingVotes:
    if "_groups" in state:
        return VotesElsewhere(state["_groups"], state["_confidence"])
    if patterns is None or "_pattern" not in state:
        return VotesNotKept(len(state["labels_"]), state.get("_confidence"))
    return VotesInMemory(patterns, state["_pattern"])


def _parts_of_0_1(state: dict[str, Any]) -> dict[str, Any]:
    """The agreement and the votes of a model of 0.1, which took rows as they are."""
    n_members, n_samples = len(state["members_"]), len(state["labels_"])
    agreement = AgreementOf01(
        [_preparation(None, state)],
        Panel([None], state["members_"], [0] * n_members),  # type: ignore[list-item]
        state["_group_names"],
        state["_shares"],
        np.full(n_members, 1.0 / n_members),
        0,
        None,
        VoteShare(),  # type: ignore[arg-type]
        DiscriminantMap(np.empty(0), np.empty((0, 0))),
        state["_additions"],
    )
    return {
        "_agreement": agreement,
        "_training": StoredVotes(state["soft_labels_"], state["confidence_"]),
        "_patterns": None,
        "_seed": 0,
        "_tree": None,
        "outlier_scores_": np.zeros(n_samples, np.float32),
        "views_": [{"name": "as is", "weight": 1.0, "reason": "the rows are taken as they are"}],
        "description_": None,
    }


def _preparation(preparation: Any, state: dict[str, Any]) -> Any:
    """The preparation of a view; rows that were taken as they are have one, too."""
    if preparation is not None:
        return preparation
    preparation = RowsAsGiven()
    for name in ("n_features_in_", "feature_names_in_"):
        if name in state:
            setattr(preparation, name, state[name])
    return preparation
