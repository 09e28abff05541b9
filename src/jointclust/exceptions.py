"""Warnings that tell a user why a result should not be trusted, and what to do."""


class CollapseWarning(UserWarning):
    """The subspace, or a cluster, has collapsed: the result says little about the data."""


class PlainKMeansWarning(UserWarning):
    """The parameters make the method equal to plain k-means: there is nothing to gain from it."""
