"""Optimal discriminant clustering (Zhang and Dai, 2009), linear and with kernels."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from jointclust._sklearn import Interval, StrOptions
from jointclust.estimators.embedding_first import EmbeddingClusterer
from jointclust.exceptions import CollapseWarning, tell
from jointclust.numerics.graph import distinct_rows, graph_spectrum, neighbors
from jointclust.numerics.kernels import (
    Kernel,
    centred,
    check_kernel_matrix,
    check_positive,
    project_kernel,
    rounding,
    whitening,
)
from jointclust.numerics.linalg import fix_signs, leading_eigenpairs, signs_of
from jointclust.rows import as_rows, blocks, materialised, n_present, total_weight
from jointclust.subspace.coordinates import Coordinates
from jointclust.subspace.decomposition import check_weights, checked_variance, coordinates_of
from jointclust.subspace.directions import relative_ridge, resolve_n_components
from jointclust.types import Float, Labels

# Rows up to which a kernel matrix is held whole, and how many landmarks stand for more of them.
EXACT_KERNEL, LANDMARKS = 10_000, 1_000
_KERNEL_ATTRIBUTES = (
    *("components_", "mean_", "dual_coef_", "landmarks_", "landmark_embedding_", "kernel_mean_", "gamma_"),
    *("_unit_components", "_unit_mean"),
)
# "auto" ridge, as a share of the variance per component: good on faces; more is a little better in the mean.
RIDGE_SHARE = 0.1


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
    method is spectral clustering, with new rows embedded through their neighbours.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_components : int, default=None
        Dimension q of the embedding; None is ``n_clusters - 1``, or what the data allow.
    ridge : float or "auto", default="auto"
        The value sigma^2, added to X'X or to the centred kernel. "auto" is a tenth of the total variance (the trace of
        either) per component.
    kernel : {"linear", "rbf", "poly", "cosine", "nearest_neighbors", "precomputed"} or callable, default="linear"
        "rbf" is ``exp(-gamma |x - y|^2)``, "poly" ``(gamma x'y + coef0)^degree``, "cosine" the cosine of the angle
        between rows. "nearest_neighbors" links every row with its ``n_neighbors`` nearest and makes the symmetric graph
        a positive semidefinite kernel. "precomputed": X is the kernel matrix, and ``predict`` takes the kernel between
        new and training rows. A callable takes two matrices of rows and returns the kernel between all pairs.
    gamma : float or "scale", default="scale"
        Of "rbf" and "poly". "scale" is one over the mean squared distance from the mean row.
    degree : int, default=3
        Of "poly".
    coef0 : float, default=1
        Of "poly"; not negative, or it would be no kernel.
    n_neighbors : int, default=8
        Neighbours of a row in the graph, itself included.
    n_landmarks : int, default=None
        Rows that stand for all others in the kernel (Nystroem approximation), drawn at random from those with weight,
        whatever the weight. None takes all of up to
        10,000 rows and 1,000 landmarks beyond; "linear", "cosine" and "nearest_neighbors" need none.
    normalize_rows : bool or "auto", default="auto"
        Scale the rows of the embedding to length one. "auto" does so for "nearest_neighbors", where it helps.
    max_rank : int, default=500
        Rank of the randomised decomposition that takes the place of the exact one for sparse X and for
        ``min(n_samples, n_features) > 4000``.
    init : "k-means++" or array of labels, default="k-means++"
        Where k-means starts.
    n_init : int, default=1
        Runs of k-means, each the best of ten starts.
    random_state : int, RandomState or None, default=None
        Seed; an int makes the result repeatable.
    n_jobs : int, default=None
        Threads over which the ``n_init`` runs are spread. The result does not depend on it.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of each row, 0 being the largest; equal to ``predict`` of the training data.
    components_ : array of shape (n_components, n_features)
        W'; only with the linear kernel.
    dual_coef_ : array of shape (n_components, n_landmarks)
        With a kernel: W as a combination of the features of ``landmarks_``, or of the training rows.
    landmarks_ : array of shape (n_landmarks, n_features)
        Rows that new rows are compared with: the (distinct) training rows or a sample of them. Not with a precomputed
        kernel or the cosine, which need none.
    cluster_centers_ : array of shape (n_clusters, n_components)
        Cluster means in the embedding.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **EmbeddingClusterer._parameter_constraints,
        "ridge": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "kernel": [StrOptions({"linear", "rbf", "poly", "cosine", "nearest_neighbors", "precomputed"}), callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions({"scale"})],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 2, None, closed="left")],
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), None],
        "normalize_rows": ["boolean", StrOptions({"auto"})],
    }
    variance = None  # not a parameter: only the leading components are used anyway

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int | None = None,
        ridge: float | str = "auto",
        kernel: str | Callable[[Any, Any], NDArray] = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1,
        n_neighbors: int = 8,
        n_landmarks: int | None = None,
        normalize_rows: bool | str = "auto",
        max_rank: int = 500,
        init: str | ArrayLike = "k-means++",
        n_init: int = 1,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.ridge = ridge
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_neighbors = n_neighbors
        self.n_landmarks = n_landmarks
        self.normalize_rows = normalize_rows
        self.max_rank = max_rank
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    # -- fit ----------------------------------------------------------------------------------------------------

    def _refusal(self, kind: str) -> str | None:
        if self.kernel == "linear":
            return None
        return (
            f"kernel={self.kernel!r} looks at pairs of rows. Use kernel='linear', or fit a sample in memory and "
            "predict the rest."
        )

    def _fit_embedding(
        self, X: ArrayLike | Coordinates, sample_weight: ArrayLike | None, rng: np.random.RandomState
    ) -> tuple[NDArray, Float | None]:
        for name in _KERNEL_ATTRIBUTES:
            self.__dict__.pop(name, None)
        self._doubt: str | None = None
        if self.kernel == "linear":
            coordinates = self._coordinates(X, sample_weight, rng, leading=self._asked)
            projection = self._shrunken_axes(coordinates)
            return self._normalized(self._publish_projection(coordinates, projection)), coordinates.weights
        if isinstance(X, Coordinates):
            raise TypeError("Coordinates are those of kernel='linear': pass the rows themselves to use another kernel.")
        data = self._validated(X, ensure_min_samples=2)
        weights = check_weights(sample_weight, data)
        self._check_n_clusters(data.shape[0], weights)
        if self.kernel == "precomputed":
            return self._fit_matrix(data, weights), weights
        rows = as_rows(data)
        mean = rows.mean(weights)
        total = checked_variance(rows, mean, weights)
        self.mean_ = mean.astype(data.dtype)
        if self.kernel == "cosine":
            return self._fit_cosine(data, weights, rng), weights
        if self.kernel == "nearest_neighbors":
            return self._fit_graph(data, weights, rng), weights
        if self.gamma == "scale":
            mass = rows.n_samples if weights is None else weights.sum()
            self.gamma_ = float(mass / (total or mass))
        else:
            self.gamma_ = float(self.gamma)
        sample = self._sample(rows.n_samples, weights, rng)
        if sample is not None:
            return self._fit_landmarks(data, weights, sample, rng), weights
        self.landmarks_ = data.copy()
        return self._fit_matrix(self._kernel(data, data), weights), weights

    @property
    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self.gamma_, self.degree, self.coef0)

    def _shrink(self, eigenvalues: Float, trace: float) -> Float:
        """Publish ridge and objective for the leading eigenvalues l; ``1 / (l + ridge)``, with which W is made."""
        q = eigenvalues.size
        self.ridge_ = relative_ridge(self.ridge, RIDGE_SHARE, trace, q)
        self.eigenvalues_ = eigenvalues
        inverse = 1.0 / np.where(eigenvalues + self.ridge_ > 0, eigenvalues + self.ridge_, 1.0)
        self.objective_ = 0.5 * (q - float(np.sum(eigenvalues * inverse)))
        self.objective_history_ = np.array([self.objective_])
        self.n_iter_, self.converged_ = 1, True
        self.variance_share_ = float(eigenvalues.sum() / trace) if trace > 0 else 0.0
        self._penalty = 0.5 * float(np.sum((self.ridge_ * inverse) * (eigenvalues * inverse)))
        return inverse

    def _shrunken_axes(self, coordinates: Coordinates) -> Float:
        """W in coordinates: ``diag(s / (s^2 + ridge))``, leading columns."""
        if self.kernel in ("linear", "cosine"):
            q = resolve_n_components(self.n_components, self.n_clusters - 1, coordinates)
        else:
            q = self._within_rank(coordinates.eigenvalues[: self._asked], 0.0)
        values = coordinates.eigenvalues[:q]
        inverse = self._shrink(values, coordinates.total_variance)
        projection = np.zeros((coordinates.rank, q))
        # A constant direction keeps its axis, so that a constant data set has an embedding.
        projection[np.arange(q), np.arange(q)] = np.where(values > 0, np.sqrt(values), 1.0) * inverse
        return projection

    def _fit_cosine(self, X: Any, weights: Float | None, rng: np.random.RandomState) -> NDArray:
        """The linear form on rows of length one: no kernel matrix is needed."""
        rows = as_rows(X, unit=True)
        coordinates = coordinates_of(rows, weights, variance=None, max_rank=self.max_rank, leading=self._asked, rng=rng)
        loadings = coordinates.loadings(self._shrunken_axes(coordinates))
        Y = rows.project(loadings, coordinates.mean)
        signs = signs_of(Y if weights is None else Y[weights > 0])
        Y *= signs
        self._unit_components = (loadings * signs).T.astype(X.dtype)
        self._unit_mean = coordinates.mean.astype(X.dtype)
        self.exact_ = coordinates.exact
        mass = 1.0 if weights is None else weights[:, None]
        values = np.where(self.eigenvalues_ > 0, self.eigenvalues_, np.inf)
        self.dual_coef_ = np.ascontiguousarray((mass * Y / values).T.astype(X.dtype))
        return self._normalized(Y)

    def _fit_matrix(self, matrix: NDArray, weights: Float | None) -> NDArray:
        """The kernel form on the whole kernel matrix."""
        kernel, mean = self._centred(matrix, weights)
        root = np.ones(1) if weights is None else np.sqrt(weights)
        scaled = kernel if weights is None else kernel * root * root[:, None]
        values, vectors = leading_eigenpairs(scaled, min(self._asked, len(matrix)))
        trace, eps = float(np.trace(scaled)), float(np.finfo(matrix.dtype).eps)
        floor = eps * len(matrix) * max(values[0], 4 * float(np.abs(mean).max()))
        rank = self._within_rank(values, floor)
        values, vectors = np.where(values > floor, values, 0.0)[:rank], vectors[:, :rank]
        self._doubt = self._kernel_doubt(values[0], trace, len(matrix))
        inverse = self._shrink(values, trace)
        coefficients = root[:, None] * vectors * inverse
        Y = kernel @ coefficients
        coefficients *= signs_of(Y if weights is None else Y[weights > 0])
        self.dual_coef_ = np.ascontiguousarray(coefficients.T.astype(matrix.dtype))
        self.kernel_mean_ = mean.astype(matrix.dtype)
        self.exact_ = True
        return self._normalized(project_kernel(matrix, self.kernel_mean_, self.dual_coef_.T, sum_to_zero=True))

    def _centred(self, matrix: NDArray, weights: Float | None) -> tuple[Float, Float]:
        """The kernel of centred features and the mean row; a user's kernel is checked."""
        if not np.isfinite(matrix).all():
            raise ValueError("The kernel overflows: divide X by its largest absolute value, or choose a smaller gamma.")
        own = self.kernel == "precomputed" or callable(self.kernel)
        if own:
            check_kernel_matrix(matrix)
        kernel, mean = centred(matrix, weights)
        if own:
            check_positive(kernel, rounding(matrix))
        return kernel, mean

    def _within_rank(self, values: Float, floor: float) -> int:
        """How many eigenvalues are above rounding; constant features keep one, in which nothing varies."""
        rank = int(np.sum(values > floor))
        if rank > 0 and self.n_components is not None and rank < self.n_components:
            tell(
                f"n_components={self.n_components} exceeds the rank of the kernel ({rank}): every row would map to 0 "
                f"in the other directions, so {rank} are used. Lower n_components or leave it None.",
                CollapseWarning,
            )
        return max(rank, 1)

    def _kernel_doubt(self, largest: float, trace: float, n: int) -> str | None:
        """A kernel may see all rows as alike, or, when it is nearly diagonal, no two of them."""
        if largest == 0:
            remedy = f" Raise gamma (now {self.gamma_:.3g})." if self.kernel == "rbf" else ""
            return f"The kernel is the same for all pairs of rows, up to rounding: there is nothing to cluster.{remedy}"
        if n <= 10 or largest > 1.05 * trace / (n - 1):
            return None
        remedy = f"Lower gamma (now {self.gamma_:.3g})." if self.kernel == "rbf" else "Choose a wider kernel."
        return f"The kernel is nearly diagonal: all rows are equally unlike each other, and the labels chance. {remedy}"

    def _sample(self, n: int, weights: Float | None, rng: np.random.RandomState) -> NDArray[np.intp] | None:
        """Rows to be landmarks; None when all are."""
        size = self.n_landmarks
        if size is None and self.kernel != "nearest_neighbors" and n > EXACT_KERNEL:
            size = LANDMARKS
            tell(
                f"{n} rows are too many for a kernel matrix: {size} landmarks stand for them (Nystroem). Set "
                "n_landmarks to choose how many.",
                UserWarning,
            )
        present = np.arange(n) if weights is None else np.flatnonzero(weights)
        if size is None or size >= present.size:
            return None
        if size < max(self.n_clusters, self._asked):
            what = "n_clusters" if size < self.n_clusters else "n_components"
            raise ValueError(f"n_landmarks={size} is less than {what}={getattr(self, what)}: raise it.")
        return np.sort(rng.choice(present, size, replace=False))

    def _fit_landmarks(
        self, X: Any, weights: Float | None, sample: NDArray[np.intp], rng: np.random.RandomState
    ) -> NDArray:
        """The kernel form on the Nystroem features ``k(x, landmarks) K^-1/2``, which are rows like any others."""
        self.landmarks_ = X[sample]
        matrix = self._kernel(self.landmarks_, self.landmarks_)
        kernel, _ = self._centred(matrix, None)
        self._doubt = self._kernel_doubt(leading_eigenpairs(kernel, 1)[0][0], float(np.trace(kernel)), len(matrix))
        transform = whitening(matrix).astype(X.dtype)
        no_mean = np.zeros(1, dtype=X.dtype)
        features = as_rows(self._kernel.project(X, self.landmarks_, no_mean, transform, sum_to_zero=False))
        coordinates = coordinates_of(
            features, weights, variance=None, max_rank=self.max_rank, leading=self._asked, rng=rng
        )
        projection = fix_signs(coordinates.loadings(self._shrunken_axes(coordinates)))
        self.dual_coef_ = np.ascontiguousarray((transform @ projection).T.astype(X.dtype))
        # k(x, landmarks) = features K^1/2, so their mean is the features' mean times that.
        self.kernel_mean_ = (coordinates.mean @ np.linalg.pinv(transform.astype(np.float64))).astype(X.dtype)
        self.exact_ = False
        return self._normalized(features.project(projection, coordinates.mean))

    def _fit_graph(self, X: Any, weights: Float | None, rng: np.random.RandomState) -> NDArray:
        """The kernel form on the neighbour graph of the distinct rows."""
        first, which = distinct_rows(X)
        mass = np.bincount(which, weights=weights, minlength=first.size).astype(np.float64)
        sample = self._sample(X.shape[0], weights, rng)
        kept = mass > 0
        if sample is not None:
            kept &= np.isin(np.arange(first.size), which[sample])
        self.landmarks_ = X[first[kept]]
        self.exact_ = sample is None
        n = int(kept.sum())
        if self.n_neighbors > n:
            tell(
                f"n_neighbors={self.n_neighbors} exceeds the number of distinct rows ({n}): all are used.", UserWarning
            )
        spectrum = graph_spectrum(self._shifted(self.landmarks_), mass[kept], min(self.n_neighbors, n), self._asked)
        if spectrum.n_parts > self.n_clusters:
            self._doubt = (
                f"The neighbour graph falls into {spectrum.n_parts} parts, more than n_clusters={self.n_clusters}: "
                "some clusters hold parts that nothing links. Raise n_neighbors."
            )
        root = np.sqrt(mass[kept])[:, None]
        rank = self._within_rank(spectrum.eigenvalues, 1e-12)
        values, vectors = spectrum.eigenvalues[:rank], spectrum.vectors[:, :rank]
        inverse = self._shrink(values, spectrum.trace)
        vectors = vectors * signs_of(vectors / root)
        self.dual_coef_ = np.ascontiguousarray((root * vectors * inverse).T.astype(X.dtype))
        self.landmark_embedding_ = (vectors / root * (values * inverse)).astype(X.dtype)
        if kept.all():
            return self._normalized(self.landmark_embedding_[which])
        return self._embed(as_rows(X))

    def _finish(self, Y: NDArray, weights: Float | None) -> None:
        constant = bool(self.eigenvalues_[0] == 0)
        present = Y.shape[0] if weights is None else n_present(weights)
        shares = self.eigenvalues_ / np.maximum(self.eigenvalues_ + self.ridge_, np.finfo(float).tiny)
        if self._doubt is None and not constant and shares[0] < 1e-12:
            self._doubt = f"ridge={self.ridge_:.3g} is so far above the variance that the embedding vanishes: lower it."
        elif self._doubt is None and shares.size >= present - 1 > 1 and shares.min() > 0.99:
            self._doubt = (
                "All directions of the data are used and counted alike, so that all rows are equally far from each "
                "other, and the labels chance. Lower n_components or raise ridge."
            )
        if self._doubt is not None:
            tell(self._doubt, CollapseWarning)
        else:
            self._warn_if_fewer(constant)
        del self._doubt

    # -- use ----------------------------------------------------------------------------------------------------

    def _embed(self, rows: Any) -> NDArray:
        if self.kernel == "linear" and self.normalize_rows is not True:
            return super()._embed(rows)
        return self._normalized(self._fitted_values(rows.X))

    def _fitted_values(self, X: Any) -> NDArray:
        """XW for new rows."""
        if self.kernel == "linear":
            return super()._embed(as_rows(X))
        if self.kernel == "cosine":
            return as_rows(X, unit=True).project(self._unit_components.T, self._unit_mean)
        if self.kernel == "nearest_neighbors":
            return self._through_neighbors(X)
        if self.kernel == "precomputed":
            return project_kernel(X, self.kernel_mean_, self.dual_coef_.T, sum_to_zero=True)
        return self._kernel.project(X, self.landmarks_, self.kernel_mean_, self.dual_coef_.T, sum_to_zero=self.exact_)

    def _shifted(self, X: Any) -> Any:
        """Rows about the mean, where distances lose fewest digits; sparse ones stay as they are."""
        return X if sp.issparse(X) else X - self.mean_.astype(X.dtype)

    def _through_neighbors(self, X: Any) -> NDArray:
        """The mean embedding of the nearest landmarks; that of the landmark itself where the row is one."""
        if sp.issparse(self.landmarks_):
            X = sp.csr_array(X)
        elif sp.issparse(X):
            X = X.toarray()
        n_neighbors = min(self.n_neighbors, self.landmarks_.shape[0])
        index = neighbors(self._shifted(X), self._shifted(self.landmarks_), n_neighbors)
        Y = self.landmark_embedding_[index].mean(axis=1)
        for column in index.T[::-1]:
            difference = self.landmarks_[column] != X
            same = np.asarray(difference.sum(axis=1)).ravel() == 0
            Y[same] = self.landmark_embedding_[column[same]]
        return Y

    def _normalized(self, Y: NDArray) -> NDArray:
        if self.normalize_rows is False or (self.normalize_rows == "auto" and self.kernel != "nearest_neighbors"):
            return Y
        return blocks.unit(Y)

    def _check(self, X: ArrayLike, method: str) -> Any:
        check_is_fitted(self)
        shape: Any = np.shape(X) if isinstance(X, list | tuple) else getattr(X, "shape", ())
        if self.kernel == "precomputed" and len(shape) == 2 and shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as "
                "input: with a precomputed kernel, new rows come as their kernel with the training rows, one column "
                "for each of these."
            )
        return super()._check(X, method)

    @property
    def _accepts_sparse(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel != "precomputed"

    @available_if(lambda self: self.kernel == "linear")
    def inverse_transform(self, Y: ArrayLike) -> NDArray:
        """Rows in the original features that the embedding stands for (least squares); linear kernel only.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_components)
            Rows of an embedding, for example ``cluster_centers_``.

        Returns
        -------
        X : array of shape (n_samples, n_features)
            Rows in the original features.
        """
        return super().inverse_transform(Y)

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Minus the objective on X for the fitted W and the scores Y that suit it best.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : ignored
            There are no labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        score : float
            Minus the objective.
        """
        rows = self._check(X, "score")
        Z = super()._embed(rows) if self.kernel == "linear" else self._fitted_values(rows.X)
        return self._score(Z, self.labels_, check_weights(sample_weight, rows.X))

    def _score(self, Y: NDArray, labels: Labels, weights: Float | None) -> float:
        return -scoring_loss(Y, weights) - self._penalty

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
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
