"""Clusters of cells, by the conventions of scverse: ``jc.sc.tl.consensus(adata)`` writes into AnnData, in place."""

from jointclust.sc import pl, tl

__all__ = ["pl", "tl"]
