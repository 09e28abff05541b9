"""Warnings that tell a user why a result should not be trusted, and what to do."""

from __future__ import annotations

import sys
import warnings


class CollapseWarning(UserWarning):
    """The subspace, or a cluster, has collapsed: the result says little about the data."""


class PlainKMeansWarning(UserWarning):
    """The parameters make the method equal to plain k-means: there is nothing to gain from it."""


def tell(message: str, category: type[Warning]) -> None:
    """Warn, pointing at the first line outside this library and scikit-learn: the user's."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


_INSIDE = {"jointclust", "sklearn", "joblib", "contextlib"}
