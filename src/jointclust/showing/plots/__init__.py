"""The report's views as scikit-learn style displays, drawn by matplotlib.

A display holds what it shows; ``plot`` draws it, and leaves ``ax_`` (or ``axes_``) and ``figure_`` behind.
"""

from jointclust.showing.plots._curves import (
    DendrogramDisplay,
    ObjectiveDisplay,
    ScoresDisplay,
    StabilityDisplay,
    TradeOffPathDisplay,
)
from jointclust.showing.plots._plane import PlaneDisplay
from jointclust.showing.plots._profiles import BoxesDisplay, OverviewDisplay, ProfileDisplay
from jointclust.showing.plots._rows import (
    BiplotDisplay,
    CategoriesDisplay,
    EmbeddingDisplay,
    PrototypesDisplay,
    SoftLabelsDisplay,
)

__all__ = [
    "BiplotDisplay",
    "BoxesDisplay",
    "CategoriesDisplay",
    "DendrogramDisplay",
    "EmbeddingDisplay",
    "ObjectiveDisplay",
    "OverviewDisplay",
    "PlaneDisplay",
    "ProfileDisplay",
    "PrototypesDisplay",
    "ScoresDisplay",
    "SoftLabelsDisplay",
    "StabilityDisplay",
    "TradeOffPathDisplay",
]
