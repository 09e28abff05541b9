"""The view that single-cell pipelines add to logarithms: genes of one spread."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from jointclust.rows.arrays import like, namespace
from jointclust.views.counts import LogCounts
from jointclust.views.registry import VIEWS
from jointclust.views.scaling import AsIs, Standardised

# Spreads above its mean beyond which the value of a gene counts no more, as in scanpy's recipe.
_MOST = 10.0


class ScaledGenes(AsIs):
    r"""Genes of spread 1, cut at ten spreads above their mean.

    .. math:: z_{ij} = \min(x_{ij}, m_j + 10 s_j) / s_j

    Not centred, which every method here does implicitly: sparse rows stay sparse.

    Parameters
    ----------
    counts : bool, default=False
        Whether x are the logarithms that :class:`~jointclust.views.counts.LogCounts` makes of the rows, or the rows.

    Attributes
    ----------
    logs_ : transformer
        What makes x of the rows.
    scaler_ : Standardised
        m and s.

    Examples
    --------
    >>> from jointclust.views.genes import ScaledGenes
    >>> ScaledGenes().fit_transform([[0.0, 1.0], [2.0, 1.0]])
    array([[0., 1.],
           [2., 1.]])
    """

    view_: ClassVar[str] = "scaled genes"
    reason_: ClassVar[str] = VIEWS[view_].reason
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"counts": ["boolean"]}

    def __init__(self, counts: bool = False):
        super().__init__()
        self.counts = counts

    def _learn(self, X: Any, weights: Any) -> None:
        self.logs_ = (LogCounts() if self.counts else AsIs()).fit(X, sample_weight=weights)
        self.scaler_ = Standardised().fit(self.logs_.transform(X), sample_weight=weights)

    def _change(self, x: Any) -> Any:
        rows, scale = self.logs_._change(x), self.scaler_.scale_
        most = self.scaler_.mean_ + _MOST * scale
        if not sp.issparse(rows):
            return namespace(rows).minimum(rows, like(most, rows)) / like(scale, rows)
        rows = sp.csr_array(rows, copy=True)
        rows.data = (np.minimum(rows.data, most[rows.indices]) / scale[rows.indices]).astype(rows.dtype)
        return rows

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray:
        return self.logs_.get_feature_names_out(input_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.counts
        return tags
