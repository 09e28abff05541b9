"""Entries that the docstrings of estimators share."""

from __future__ import annotations

import re
from textwrap import indent

# Where an estimator differs, its own docstring has the entry.
_ENTRIES = """
n_clusters : int, default=8
    Number of clusters.
n_components : int, default=None
    Dimension of the subspace; None is ``n_clusters - 1``, or what the data allow. Of more than 50 clusters it is at
    most 256 and three quarters of the rank, but 50 at least.
variance : float, default=None
    Share of the variance kept first, by PCA; None keeps the numerical rank.
max_rank : int, default=500
    Rank of the randomised decomposition that takes the place of the exact one for sparse X and for
    ``min(n_samples, n_features) > 4000``.
gamma : float or "scale", default="scale"
    Of "rbf" and "poly". "scale" is one over the mean squared distance from the mean row.
degree : int, default=3
    Of "poly".
coef0 : float, default=1
    Of "poly"; not negative, or it would be no kernel.
n_neighbors : int, default=8
    Neighbours of a row in the graph, itself included.
n_landmarks : int, default=None
    Rows that stand for all others in the kernel (Nystroem approximation). None takes all of up to 10,000 rows and
    1,000 landmarks beyond; for "nearest_neighbors" all of up to 50,000 and 5,000 beyond. "linear" and "cosine" need
    none.
landmarks : {"k-means", "random"}, default="k-means"
    The centers of a k-means, or rows drawn at random from those with weight, whatever the weight.
init : "k-means++" or array of labels, default="k-means++"
    Where k-means starts.
n_init : int, default=1
    Runs of k-means, each the best of ten starts.
max_iter : int, default=100
    Iterations of a run.
tol : float, default=1e-6
    Relative change of the objective at which a run has converged.
random_state : int, RandomState or None, default=None
    Seed; an int makes the result repeatable.
n_jobs : int, default=None
    Threads over which the ``n_init`` runs are spread. The result does not depend on it.
labels_ : array of shape (n_samples,)
    Cluster of each row, 0 being the largest; equal to ``predict`` of the training data.
classes_ : array
    The known classes, which are clusters 0, 1, ...; only with ``known_labels``.
components_ : array of shape (n_components, n_features)
    Principal axes; only with ``n_components``.
cluster_centers_ : array of shape (n_clusters, n_components)
    Cluster means in the embedding.
mean_ : array of shape (n_features,)
    Mean row, subtracted first.
ridge_ : float
    The ridge used.
objective_ : float
    The objective above.
objective_history_ : array, one value per iteration
    Objective after each iteration of the winning run.
n_iter_ : int
    Iterations of the winning run.
converged_ : bool
    Whether it converged before ``max_iter``.
variance_share_ : float
    Share of the total variance that lies in the subspace.
within_share_ : float
    Share of the subspace's variance that lies inside clusters.
rank_ : int
    Number of coordinates the alternation worked in.
variance_kept_ : float
    Share of the total variance in them.
exact_ : bool
    Whether the decomposition was exact rather than randomised.
n_passes_ : int
    Passes over the rows that the fit took.
"""
_BY_NAME = {entry.split()[0]: entry for entry in re.split(r"\n(?=\w)", _ENTRIES.strip())}
# A line of names that no description follows.
_NAMES = re.compile(r"^    (\w+(?:, \w+)*)$(?!\n {8})", re.MULTILINE)


def completed(docstring: str | None) -> str | None:
    """Write the shared entries in place of each line that only names them, such as ``max_iter, tol, n_jobs``."""

    def entries(match: re.Match[str]) -> str:
        names = match[1].split(", ")
        if not all(name in _BY_NAME for name in names):
            return match[0]
        return "\n".join(indent(_BY_NAME[name], "    ") for name in names)

    return None if docstring is None else _NAMES.sub(entries, docstring)
