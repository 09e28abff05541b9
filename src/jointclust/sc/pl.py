"""Plots of clusters of cells, drawn by scanpy."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from jointclust.views.kinds import describe

__all__ = ["dotplot", "map"]


def map(adata: Any, key: str = "jointclust", **options: Any) -> Any:
    """Cells in the two directions in which the clusters differ most, by cluster and by confidence.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`jointclust.sc.tl.consensus`.
    key : str, default="jointclust"
        Under which they were written.
    **options
        For ``scanpy.pl.embedding``, such as ``show``, ``save``, ``size``.

    Returns
    -------
    axes : object
        What scanpy returns.

    Examples
    --------
    ``jc.sc.pl.map(adata)`` after ``jc.sc.tl.consensus(adata)``.
    """
    _check(adata, key)
    options = {"color": [key, f"{key}_confidence"], **options}
    return _scanpy().pl.embedding(adata, basis=f"X_{key}", **options)


def dotplot(adata: Any, key: str = "jointclust", n_genes: int = 4, **options: Any) -> Any:
    """The genes that set each cluster apart: how many of its cells express them, and how much.

    Counts are scaled and log-transformed first, in a copy.

    Parameters
    ----------
    adata : AnnData
        With the results of :func:`jointclust.sc.tl.consensus`, and counts or logarithms in ``X``.
    key : str, default="jointclust"
        Under which they were written.
    n_genes : int, default=4
        Genes of each cluster, by Wilcoxon's test against all others.
    **options
        For ``scanpy.pl.rank_genes_groups_dotplot``, such as ``show``, ``save``.

    Returns
    -------
    axes : object
        What scanpy returns.

    Examples
    --------
    ``jc.sc.pl.dotplot(adata, n_genes=3)`` after ``jc.sc.tl.consensus(adata)``.
    """
    _check(adata, key)
    sc = _scanpy()
    cells = adata.copy()
    if describe(cells.X).kind == "counts":
        sc.pp.normalize_total(cells)
        sc.pp.log1p(cells)
    sc.tl.rank_genes_groups(cells, key, method="wilcoxon", use_raw=False)
    options = {"n_genes": n_genes, "dendrogram": False, **options}
    return sc.pl.rank_genes_groups_dotplot(cells, groupby=key, use_raw=False, **options)


def _check(adata: Any, key: str) -> None:
    if key not in adata.obs:
        raise KeyError(f"{key!r} is not in adata.obs: run jointclust.sc.tl.consensus(adata, key_added={key!r}) first.")


def _scanpy() -> ModuleType:
    try:
        import scanpy
    except ImportError as error:
        raise ImportError("jointclust.sc.pl draws with scanpy: pip install scanpy") from error
    return scanpy
