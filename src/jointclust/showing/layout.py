"""Rows on a plane so that neighbours in an embedding stay neighbours."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from numpy.typing import ArrayLike
from sklearn.manifold import TSNE
from sklearn.utils import check_array, check_random_state

from jointclust.numerics.graph import distinct_rows, neighbors
from jointclust.numerics.linalg import signs_of
from jointclust.rows import threads
from jointclust.showing.features import some_of_each
from jointclust.types import Float, Labels

# Rows that are laid out, by scikit-learn and by openTSNE: each takes less time than the default fit of 20,000 rows.
LANDMARKS, MANY_LANDMARKS = 3_000, 8_000
# Landmarks of a cluster, at least.
_FEWEST = 30
# Rows up to which the plane of their principal directions says as much.
_FEW = 10
# Principal directions in which neighbours are looked for.
_DIRECTIONS = 50
# Landmarks by which another row is placed, and rows that are placed at once.
_NEAREST, _BLOCK = 6, 16_384
_PERPLEXITY, _ITERATIONS = 30.0, 500


def neighbour_map(
    embedding: ArrayLike,
    random_state: int | np.random.RandomState | None = 0,
    *,
    labels: Labels | None = None,
) -> Float:
    r"""t-SNE of the rows of an embedding, started from its principal directions so that it repeats.

    .. math:: y_i = \sum_j w_{ij} y_j / \sum_j w_{ij}, \qquad w_{ij} = r_i^2 / d_{ij}^2 - 1

    is where a row is placed when there are many: a sample of them, the landmarks, is laid out, and a row goes between
    the landmarks nearest to it, at distances d, r being that of the first that has no say. A landmark stays where it
    is, copies of a row are at one place, and nothing jumps between rows that are near. Distances on the map mean little
    beyond the nearest neighbours: it shows which rows are together, not how far groups are apart.

    openTSNE does it where it is installed (the extra ``layout``), of at most 8,000 landmarks; otherwise scikit-learn,
    of at most 3,000.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Rows, such as a model's ``transform`` of them. Of more than 50 columns the 50 principal directions are used.
    random_state : int, RandomState or None, default=0
        Which rows are landmarks.
    labels : array of int of shape (n_samples,), default=None
        Clusters, of each of which there are to be landmarks, however small it is.

    Returns
    -------
    places : array of shape (n_samples, 2)
        Centred, the direction of most variance first.

    Examples
    --------
    >>> import jointclust as jc
    >>> from jointclust.showing.layout import neighbour_map
    >>> X, _ = jc.datasets.mixture(n_samples=100, n_features=20, n_clusters=3, random_state=0)
    >>> model = jc.LDAKMeans(3, random_state=0).fit(X)
    >>> neighbour_map(model.transform(X)).shape
    (100, 2)
    """
    rows = check_array(embedding, dtype=[np.float64, np.float32])
    rng = check_random_state(random_state)
    most = MANY_LANDMARKS if _has_opentsne() else LANDMARKS
    is_sampled = len(rows) > most
    groups = np.zeros(len(rows), dtype=np.int32) if labels is None else np.asarray(labels)
    chosen = some_of_each(groups, most, min(_FEWEST, most // (int(groups.max()) + 1)), rng)
    first, copy = distinct_rows(rows[chosen])
    mean, directions = _principal(rows[chosen[first]])
    landmarks = (rows[chosen[first]] - mean) @ directions
    places = _upright(_laid_out(landmarks, rng))
    if not is_sampled:
        return places[copy]
    found = np.empty((len(rows), 2))
    for start in range(0, len(rows), _BLOCK):
        block = (rows[start : start + _BLOCK] - mean) @ directions
        found[start : start + _BLOCK] = _placed(block, landmarks, places)
    return found


def _has_opentsne() -> bool:
    return find_spec("openTSNE") is not None


def _principal(rows: Float) -> tuple[Float, Float]:
    """The mean, and the principal directions over one length, so that the first has variance 1."""
    mean = rows.mean(axis=0, dtype=np.float64)
    centred = rows - mean
    largest = float(np.abs(centred).max()) or 1.0
    variances, directions = np.linalg.eigh((centred / largest).T @ (centred / largest) / len(rows))
    directions = directions[:, ::-1][:, :_DIRECTIONS]
    return mean, directions * signs_of(directions) / (largest * np.sqrt(max(variances[-1], 1e-300)))


def _laid_out(landmarks: Float, rng: np.random.RandomState) -> Float:
    """t-SNE of different rows."""
    n_rows = len(landmarks)
    plane = np.zeros((n_rows, 2))
    plane[:, : landmarks.shape[1]] = landmarks[:, :2]
    if n_rows <= _FEW:
        return plane
    # A little noise, as rows on a line would never leave it.
    start = 1e-4 * (plane + 0.01 * rng.standard_normal(plane.shape))
    perplexity = min(_PERPLEXITY, (n_rows - 1) / 3)
    seed = int(rng.randint(np.iinfo(np.int32).max))
    # Several threads would add in any order, and t-SNE magnifies the difference.
    with threads.alone():
        if _has_opentsne():
            return _by_opentsne(landmarks, start, perplexity, seed)
        method = TSNE(perplexity=perplexity, init=start, angle=0.8, max_iter=_ITERATIONS, random_state=seed, n_jobs=1)
        return method.fit_transform(landmarks).astype(np.float64)


def _by_opentsne(landmarks: Float, start: Float, perplexity: float, seed: int) -> Float:
    from openTSNE import TSNE as FastTSNE  # noqa: N811

    method = FastTSNE(
        perplexity=perplexity,
        initialization=start,
        neighbors="exact",
        negative_gradient_method="fft" if len(landmarks) > LANDMARKS else "bh",  # which is the faster one
        learning_rate=max(len(landmarks) / 12, 200.0),  # few rows would hardly move
        early_exaggeration_iter=_ITERATIONS // 2,
        n_iter=_ITERATIONS // 2,
        random_state=seed,
        n_jobs=1,
    )
    return np.array(method.fit(landmarks))


def _upright(places: Float) -> Float:
    """The same map, centred and turned to its directions of largest variance."""
    centred = places - places.mean(axis=0)
    directions = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
    return centred @ (directions * signs_of(directions))


def _placed(rows: Float, landmarks: Float, places: Float) -> Float:
    """Where rows go, between their nearest landmarks."""
    if len(landmarks) <= _NEAREST:
        # No landmark is left that has no say: the nearest alone decides.
        return places[neighbors(rows, landmarks, 1)[:, 0]]
    nearest = neighbors(rows, landmarks, _NEAREST + 1)
    squares = np.square(rows[:, None, :] - landmarks[nearest]).sum(axis=2)
    # A little beyond, so that landmarks at one distance have a say; and no row is nearer than rounding lets it be.
    beyond = 1.000001 * squares.max(axis=1, keepdims=True)
    weights = beyond / np.maximum(squares, 1e-24 * beyond) - 1.0
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("ij,ijk->ik", weights, places[nearest])
