"""Optimal discriminant clustering (Zhang and Dai, 2009), linear and with kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from jointclust._sklearn import CallbackContext, StrOptions
from jointclust.estimators.base import Limits, check_n_clusters, warn_of_scale
from jointclust.estimators.embedding_first import Embedded, EmbeddingClusterer
from jointclust.methods.scoring_embeddings import KERNEL_LIMITS, PUBLISHED, Embedding, mode_of
from jointclust.rows import Rows, as_rows, blocks, materialised, n_present, total_weight
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import check_weights, dominant_column
from jointclust.types import Float, Labels


@dataclass(eq=False, repr=False, kw_only=True)
class OptimalDiscriminantClustering(EmbeddingClusterer):
    r"""Optimal discriminant clustering (ODC), linear or with a kernel.

    .. math:: \min_{Y,\, W} \; \tfrac12 \|Y - XW\|_F^2 + \tfrac{\sigma^2}{2} \|W\|_F^2, \quad Y'Y = I, \; Y'1 = 0

    ======== =============================================================================
    symbol   meaning
    ======== =============================================================================
    X        the centred rows, ``X = U diag(s) V'``; with a kernel, their features
    Y        the scores of the rows that stand in for unknown classes: ``U_q``
    W        the regression on them, ``components_.T``
    sigma^2  ``ridge_``, in squared units of the data (or units of the kernel)
    XW       the embedding, ``U_q diag(s^2 / (s^2 + sigma^2))``, in which k-means runs
    ======== =============================================================================

    One decomposition gives the optimum; there is nothing to iterate. The ridge decides how far the components are
    evened out: 0 whitens them, a large one weights them by their variance. With ``kernel="nearest_neighbors"`` the
    method is spectral clustering, with new rows embedded through their neighbours. ``score`` is minus the objective for
    the fitted W and the scores Y that suit it best.

    Parameters
    ----------
    n_clusters
    n_components : int, default=None
        Dimension q of the embedding; None is ``n_clusters - 1``, 256 at the most, or what the data allow.
    ridge : float or "auto", default="auto"
        The value sigma^2, added to X'X or to the centred kernel. "auto" is a tenth of the total variance (the trace of
        either) per component.
    kernel : {"linear", "rbf", "poly", "cosine", "nearest_neighbors", "precomputed"} or callable, default="linear"
        "rbf" is ``exp(-gamma |x - y|^2)``, "poly" ``(gamma x'y + coef0)^degree``, "cosine" the cosine of the angle
        between rows. "nearest_neighbors" links every row with its ``n_neighbors`` nearest and makes the symmetric graph
        a positive semidefinite kernel. "precomputed": X is the kernel matrix, and ``predict`` takes the kernel between
        new and training rows. A callable takes two matrices of rows and returns the kernel between all pairs.
    gamma, degree, coef0, n_neighbors, n_landmarks, landmarks
    normalize_rows : bool or "auto", default="auto"
        Scale the rows of the embedding to length one. "auto" does so for "nearest_neighbors", where it helps.
    max_rank, init, n_init, random_state, n_jobs

    Attributes
    ----------
    labels_, classes_
    components_ : array of shape (n_components, n_features)
        W'; only with the linear kernel.
    dual_coef_ : array of shape (n_components, n_landmarks)
        With a kernel: W as a combination of the features of ``landmarks_``, or of the training rows.
    landmarks_ : array of shape (n_landmarks, n_features)
        Rows that new rows are compared with: the (distinct) training rows, or what stands for them. Not with a
        precomputed kernel or the cosine, which need none.
    cluster_centers_
    mean_ : array of shape (n_features,)
        Mean row; not with a precomputed kernel.
    ridge_, gamma_ : float
        The values used.
    eigenvalues_ : array of shape (n_components,)
        The leading eigenvalues s^2 of X'X, or of the centred kernel.
    objective_ : float
        The objective above, ``q/2 - 1/2 sum_i s_i^2 / (s_i^2 + sigma^2)``.
    objective_history_, n_iter_, converged_
        ``[objective_]``, 1 and True: the optimum takes one step.
    variance_share_ : float
        Share of the total variance that the leading eigenvalues carry.
    exact_ : bool
        Whether neither landmarks nor a randomised decomposition were used.

    References
    ----------
    Z. Zhang and G. Dai, "Optimal scoring for unsupervised learning", NIPS 2009.

    Examples
    --------
    >>> import jointclust as jc
    >>> digits = jc.datasets.load("digits")
    >>> odc = jc.OptimalDiscriminantClustering(10, kernel="nearest_neighbors", random_state=0).fit(digits.data)
    >>> round(jc.metrics.clustering_accuracy(digits.target, odc.labels_), 1)
    0.9
    """

    _limits: ClassVar[Limits] = {**KERNEL_LIMITS, "normalize_rows": ["boolean", StrOptions({"auto"})]}
    variance = None  # not a parameter: only the leading components are used anyway

    ridge: float | str = "auto"
    kernel: str | Callable[[Any, Any], NDArray] = "linear"
    gamma: float | str = "scale"
    degree: int = 3
    coef0: float = 1
    n_neighbors: int = 8
    n_landmarks: int | None = None
    landmarks: str = "k-means"
    normalize_rows: bool | str = "auto"

    @property
    def _mode(self) -> type[Embedding]:
        """The kind of embedding that the kernel asks for."""
        return mode_of(self.kernel)

    @property
    def _accepts_sparse(self) -> bool:  # type: ignore[override]
        return self._mode.accepts_sparse

    def _refusal(self, kind: str) -> str | None:
        if self._mode.is_linear:
            return None
        return (
            f"kernel={self.kernel!r} looks at pairs of rows. Use kernel='linear', or fit a sample in memory and "
            "predict the rest."
        )

    def takes_coordinates(self, coordinates: Coordinates) -> bool:
        return self._mode.is_linear and super().takes_coordinates(coordinates)

    # -- fit ----------------------------------------------------------------------------------------------------

    def _fit_embedding(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, rng: RandomState, task: CallbackContext
    ) -> Embedded:
        for name in PUBLISHED:
            self.__dict__.pop(name, None)
        data, weights = self._seen(X, sample_weight, rng)
        fitted = self._mode.fit(self, data, weights, rng)
        shrinkage = fitted.shrinkage
        for name in fitted.embedding.published():
            setattr(self, name, getattr(fitted.embedding, name))
        self.ridge_, self.eigenvalues_, self._penalty = shrinkage.ridge, shrinkage.eigenvalues, shrinkage.penalty
        self.objective_, self.variance_share_ = shrinkage.objective, shrinkage.variance_share
        Y = self._normalized(fitted.values)
        present = Y.shape[0] if weights is None else n_present(weights)
        constant = bool(self.eigenvalues_[0] == 0)
        swept = data.rows if isinstance(data, Coordinates) else None
        return Embedded(Y, weights, constant, fitted.doubt or shrinkage.doubt(present), swept=swept)

    def _seen(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, rng: np.random.RandomState
    ) -> tuple[Any, Float | None]:
        """The data as the embedding sees them, Coordinates or validated rows, and the weights of the rows."""
        if self._mode.is_linear:
            coordinates = self._coordinates(X, sample_weight, rng, leading=self._n_wanted)
            return coordinates, coordinates.weights
        if isinstance(X, Coordinates):
            raise TypeError("Coordinates are those of kernel='linear': pass the rows themselves to use another kernel.")
        data = self._validated(X, ensure_min_samples=2)
        weights = check_weights(sample_weight, data)
        check_n_clusters(self.n_clusters, data.shape[0], weights)
        if isinstance(data, np.ndarray) and not self._mode.is_pairwise:
            with np.errstate(over="ignore", invalid="ignore"):  # a later check raises
                warn_of_scale(self, dominant_column(data.var(axis=0, dtype=np.float64)))
        return data, weights

    # -- use ----------------------------------------------------------------------------------------------------

    def _embed(self, rows: Rows) -> NDArray:
        return self._normalized(self._fitted_values(rows))

    def _fitted_values(self, rows: Rows) -> NDArray:
        """XW for new rows."""
        return self._mode.of(self).fitted_values(rows)

    def _normalized(self, Y: NDArray) -> NDArray:
        on_sphere = self._mode.on_sphere if self.normalize_rows == "auto" else self.normalize_rows
        return blocks.unit(Y) if on_sphere else Y

    def _embedding_dtype(self, dtype: np.dtype) -> type[np.floating]:
        return super()._embedding_dtype(dtype) if self._mode.is_linear else np.float64

    def _check(self, X: ArrayLike, method: str) -> Any:
        check_is_fitted(self)
        shape: Any = np.shape(X) if isinstance(X, list | tuple) else getattr(X, "shape", ())
        if self._mode.is_pairwise and len(shape) == 2 and shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as "
                "input: with a precomputed kernel, new rows come as their kernel with the training rows, one column "
                "for each of these."
            )
        return super()._check(X, method)

    inverse_transform = available_if(lambda self: self._mode.is_linear)(EmbeddingClusterer.inverse_transform)

    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        return -scoring_loss(Y, weights) - self._penalty

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._mode.is_pairwise
        return tags


def scoring_loss(Z: NDArray, weights: Float | None) -> float:
    """``min 1/2 |Y - Z|^2`` over scores with ``Y'Y = I`` and ``Y'1 = 0``."""
    mass = Z.shape[0] if weights is None else total_weight(weights)
    rows = as_rows(materialised(Z))
    mean = rows.mean(weights)
    return procrustes_loss(rows.scatter(mean, weights)) + 0.5 * mass * float(np.sum(mean**2))


def procrustes_loss(scatter: Float) -> float:
    """``min 1/2 |Y - Z|^2`` over orthonormal columns Y, from ``Z'Z``."""
    squares = np.maximum(np.linalg.eigvalsh(scatter), 0.0)
    return 0.5 * float(np.sum(1.0 + squares - 2 * np.sqrt(squares)))
