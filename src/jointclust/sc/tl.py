"""Tools: what is computed of cells, and written beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.consensus.estimator import JointConsensus
from jointclust.consensus.views import ViewedData
from jointclust.exceptions import tell
from jointclust.judge.number import Numbers
from jointclust.number.estimate import count
from jointclust.rows import is_annotated
from jointclust.showing.features import Feature, Features
from jointclust.showing.names import group_names
from jointclust.types import Float
from jointclust.views.counts import ScaledGenes
from jointclust.views.kinds import describe

__all__ = ["annotate", "consensus"]

# Rank of a randomised decomposition.
_RANK = 500
# A key, or that of each modality.
Keys = str | dict[str, str] | None


def consensus(
    adata: Any,
    n_clusters: int | Numbers | None = None,
    *,
    use_rep: str | dict[str, str] | None = None,
    layer: str | dict[str, str] | None = None,
    key_added: str = "jointclust",
    random_state: int | np.random.RandomState | None = 0,
    copy: bool = False,
) -> Any:
    """Clusters of cells that many fits agree on, written into AnnData: ``jointclust.cluster`` for cells.

    Counts are clustered as topics and in logarithms, as :class:`jointclust.JointConsensus` does, and the number of
    clusters is looked for in logarithms, as they are and with genes scaled to one spread. Logarithms are taken in these
    two views for both. Sparse matrices stay sparse.

    Parameters
    ----------
    adata : AnnData or MuData
        Cells by genes: raw counts, or logarithms of scaled ones. Of logarithms, only the genes that
        ``var["highly_variable"]`` marks are used, where there is that column; of counts, 2,000 are chosen.
        A backed one is read into memory, with a warning. Each modality of MuData is a block with views of its own;
        all have the same cells, in any order.
    n_clusters : int, (int, int) or list of int, default=None
        Number of clusters; None, a range or a list of numbers lets :func:`jointclust.number_of_clusters` choose.
    use_rep : str or dict of str, default=None
        Key of ``obsm`` to cluster, such as "X_pca"; None or "X" is the matrix itself. Of MuData, one key for all
        modalities, or a dict with that of each.
    layer : str or dict of str, default=None
        Key of ``layers`` to cluster in place of ``X``, or those of modalities.
    key_added : str, default="jointclust"
        Under which the results are written.
    random_state : int, RandomState or None, default=0
        Seed.
    copy : bool, default=False
        Whether to return a copy with the results instead of writing into ``adata``.

    Returns
    -------
    adata : AnnData or None
        The copy, or None where the results were written in place:

        - ``obs[key_added]``: the cluster of each cell, a category;
        - ``obs[key_added + "_name"]``: its name, of the genes that it has more than other cells;
        - ``obs[key_added + "_confidence"]``: how likely it is put with the same cells again, 0 to 1;
        - ``obsm["X_" + key_added]``: the directions in which the clusters differ;
        - ``uns[key_added]``: ``names`` of the clusters; ``params``; ``views``, what was looked at and why;
          ``agreement``, how alike the members are; ``verdict``, how sure the clusters are; ``reproducibility``, of each
          cluster too; and, where the number was chosen, ``number`` with other ``suggestions`` and how sure it is.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import jointclust as jc
    >>> rng = np.random.RandomState(0)
    >>> rates = rng.gamma(1.0, 2.0, size=(3, 100))[np.repeat([0, 1, 2], 30)]
    >>> cells = anndata.AnnData(rng.poisson(rates).astype(np.float32))
    >>> jc.sc.tl.consensus(cells, 3)
    >>> cells.obs["jointclust"].value_counts().tolist()
    [30, 30, 30]
    """
    if not (is_annotated(adata) or _is_multimodal(adata)):
        what = f"got {type(adata).__name__}: jointclust.cluster takes matrices."
        raise TypeError(f"adata must be AnnData or MuData; {what}")
    adata = adata.copy() if copy and not adata.isbacked else adata
    rows, looked_at, counted_in = (_blocks_in_views if _is_multimodal(adata) else _in_views)(adata, use_rep, layer)
    number = None
    if not isinstance(n_clusters, int | np.integer):
        viewed = ViewedData.of(rows, counted_in, None, _RANK)
        number = count(viewed, viewed.sample(np.random.RandomState(0)), n_clusters)
        number.warn()
        n_clusters = number.n_clusters
    model = JointConsensus(int(n_clusters), views=looked_at, random_state=random_state).fit(rows)
    if number is not None:
        model.number_ = number
    names = None if _is_multimodal(adata) else _names_of_clusters(adata, use_rep, layer, model)
    annotate(adata, model, model.transform(rows), key_added, {"use_rep": use_rep, "layer": layer}, names)
    return adata if copy else None


def _is_multimodal(data: object) -> bool:
    """Whether this is MuData, or like it: modalities, each of them AnnData, with a table about all rows."""
    return hasattr(data, "mod") and hasattr(data, "obs")


def modalities_of(mdata: Any) -> dict[str, Any]:
    """The modalities of MuData by name, the cells of each in the order of all."""
    modalities, names = {}, mdata.obs.index
    for name, cells in mdata.mod.items():
        if not cells.obs.index.is_unique:
            raise ValueError(f"Modality {name!r} has cells of the same name: call its obs_names_make_unique().")
        places = cells.obs.index.get_indexer(names)
        lacking = places < 0
        if lacking.any():
            raise ValueError(
                f"Modality {name!r} lacks {lacking.sum():,} of the {len(names):,} cells ({names[lacking][0]!r}, ...). "
                "Keep those that all modalities have, for example with muon.pp.intersect_obs(mdata)."
            )
        modalities[str(name)] = cells if (places == np.arange(cells.n_obs)).all() else cells[places]
    if not modalities:
        raise ValueError("MuData holds no modality: there is nothing to cluster.")
    return modalities


def _of_modality(given: str | dict[str, str] | None, name: str, modalities: dict[str, Any]) -> str | None:
    """The key for one modality: its own, or the common one."""
    if not isinstance(given, dict):
        return given
    unknown = [key for key in given if key not in modalities]
    if unknown:
        raise KeyError(f"There is no modality {unknown[0]!r}: there are {', '.join(map(repr, modalities))}.")
    return given.get(name)


def _blocks_in_views(mdata: Any, use_rep: Keys, layer: Keys) -> tuple[Any, ...]:
    """The same of each modality, by name."""
    cells = modalities_of(mdata)
    parts = {
        name: _in_views(one, _of_modality(use_rep, name, cells), _of_modality(layer, name, cells))
        for name, one in cells.items()
    }
    return tuple({name: part[place] for name, part in parts.items()} for place in range(3))


def _in_views(adata: Any, use_rep: Keys, layer: Keys) -> tuple[Any, ...]:
    """The rows that are asked for, the views that they are clustered in, and those in which clusters are counted."""
    rows = _in_memory(adata, use_rep, layer)
    return _of_cells(adata, rows) if use_rep in (None, "X") else (rows, "auto", "auto")


def _in_memory(adata: Any, use_rep: Keys, layer: Keys) -> NDArray | sp.csr_array:
    """The rows that are asked for; dicts of keys are for several modalities."""
    if isinstance(use_rep, dict) or isinstance(layer, dict):
        raise TypeError("use_rep and layer are dicts for MuData: of AnnData, give one key.")
    return _rows(adata, use_rep, layer)


def _names_of_clusters(adata: Any, use_rep: Keys, layer: Keys, model: JointConsensus) -> list[str]:
    """Names of the clusters: of genes, where the matrix of them is at hand."""
    has_genes = use_rep not in (None, "X") and adata.X is not None and not adata.isbacked
    genes = _rows(adata, None, None) if has_genes else _in_memory(adata, use_rep, layer)
    return _names(adata, genes, model)


def _rows(adata: Any, use_rep: str | None, layer: str | None) -> NDArray | sp.csr_array:
    """The matrix that is asked for, in memory, with one row per cell."""
    if use_rep is not None and layer is not None:
        raise ValueError(f"use_rep={use_rep!r} and layer={layer!r} name two matrices: give one of them.")
    if use_rep not in (None, "X"):
        return np.asarray(_entry(adata.obsm, use_rep, "use_rep", "obsm"))
    rows = adata.X if layer is None else _entry(adata.layers, layer, "layer", "layers")
    if rows is None:
        raise ValueError("adata.X is None: name a layer or, with use_rep, a key of obsm.")
    if adata.isbacked:
        tell(
            f"adata is backed: its {rows.shape[0]:,} x {rows.shape[1]:,} matrix is read into memory, and the results "
            "are written beside it, not into the file. Call adata.write() to keep them.",
            UserWarning,
        )
        rows = rows.to_memory() if hasattr(rows, "to_memory") else rows[:]
    return sp.csr_array(rows) if sp.issparse(rows) else np.asarray(rows)


def _entry(mapping: Any, key: str, parameter: str, where: str) -> Any:
    if key not in mapping:
        there = ", ".join(map(repr, mapping)) or "nothing"
        raise KeyError(f"{parameter}={key!r} is not in adata.{where}, which holds {there}.")
    return mapping[key]


def _of_cells(adata: Any, rows: Any) -> tuple[Any, str | list[Any], str | list[Any]]:
    """Rows of genes, the views that they are clustered in, and those in which the clusters are counted."""
    if describe(rows).kind == "counts":
        # Topics separate kinds of cells best, but to count clusters by them would find far too many.
        return rows, ["topics", "log"], ["log", ScaledGenes(counts=True)]
    if rows.min() < 0:  # scaled already
        return rows, "auto", "auto"
    marked = adata.var.get("highly_variable")
    if marked is not None and 0 < np.sum(marked) < rows.shape[1]:
        rows = rows[:, np.flatnonzero(np.asarray(marked, dtype=bool))]
    views = ["as is", ScaledGenes()]
    return rows, views, views


def _names(adata: Any, rows: Any, model: JointConsensus) -> list[str]:
    """Names of the clusters, of genes."""
    is_genes = rows.shape[1] == adata.n_vars
    names = map(str, adata.var_names) if is_genes else (f"x{place}" for place in range(rows.shape[1]))
    features = Features(rows, [Feature(name) for name in names], rows.shape[1], are_counts=is_genes)
    if not features.can_name:
        return [f"cluster {number}" for number in range(model.n_clusters)]
    groups = [frozenset([number]) for number in range(model.n_clusters)]
    outside = np.where(model.labels_ < 0, model.n_clusters, model.labels_)
    return group_names(features, outside, groups)


def annotate(
    adata: Any,
    model: JointConsensus,
    embedding: Float,
    key: str,
    params: dict[str, Any],
    names: Sequence[str] | None = None,
) -> None:
    """Write what a consensus found of the cells into AnnData, in place, in forms that its files hold.

    Parameters
    ----------
    adata : AnnData
        The cells.
    model : JointConsensus
        Fitted to them, in their order.
    embedding : array of shape (n_samples, n_components)
        What ``model.transform`` gives of them.
    key : str
        Under which the results are written, as :func:`consensus` says.
    params : dict
        The options of the call; those that are None are left out, because files hold no None.
    names : sequence of str, default=None
        What the clusters are called.

    Examples
    --------
    >>> import anndata
    >>> import jointclust as jc
    >>> X, _ = jc.datasets.mixture(60, 20, 3, random_state=0)
    >>> model = jc.JointConsensus(3, random_state=0).fit(X)
    >>> rows = anndata.AnnData(X)
    >>> jc.sc.tl.annotate(rows, model, model.transform(X), "groups", {})
    >>> sorted(rows.obs)
    ['groups', 'groups_confidence']
    """
    import pandas as pd

    numbers = [str(number) for number in range(model.n_clusters)]
    labels = pd.Categorical.from_codes(model.labels_, numbers)  # -1, a row that was rejected, is missing
    adata.obs[key] = labels.remove_unused_categories()
    if names is not None:
        named = pd.Categorical.from_codes(model.labels_, list(names))
        adata.obs[f"{key}_name"] = named.remove_unused_categories()
    adata.obs[f"{key}_confidence"] = model.confidence_
    adata.obsm[f"X_{key}"] = embedding
    params = {"n_clusters": model.n_clusters, "random_state": model.random_state, **params}
    adata.uns[key] = {
        "params": {name: value for name, value in params.items() if isinstance(value, int | str)},
        "views": {name: np.array([view[name] for view in model.views_]) for name in ("name", "weight", "reason")},
        "agreement": model.agreement_,
        "verdict": str(model.verdict_),
    }
    if names is not None:
        adata.uns[key]["names"] = np.array(names, dtype=object)
    if hasattr(model, "reproducibility_"):
        adata.uns[key]["reproducibility"] = model.reproducibility_
        adata.uns[key]["cluster_reproducibility"] = model.cluster_reproducibility_
    if hasattr(model, "number_"):
        count = model.number_
        adata.uns[key]["number"] = {
            "suggestions": np.array(count.suggestions),
            "confidence": count.confidence,
            "verdict": count.verdict,
        }
