"""The report's views as scikit-learn style displays, drawn by matplotlib.

A display holds what it shows; ``plot`` draws it, and leaves ``ax_`` (or ``axes_``) and ``figure_`` behind.
"""

from jointclust.showing.plots._curves import DendrogramDisplay, ObjectiveDisplay, StabilityDisplay, TradeOffPathDisplay
from jointclust.showing.plots._plane import PlaneDisplay
from jointclust.showing.plots._rows import BiplotDisplay, EmbeddingDisplay, PrototypesDisplay, SoftLabelsDisplay

__all__ = [
    "BiplotDisplay",
    "DendrogramDisplay",
    "EmbeddingDisplay",
    "ObjectiveDisplay",
    "PlaneDisplay",
    "PrototypesDisplay",
    "SoftLabelsDisplay",
    "StabilityDisplay",
    "TradeOffPathDisplay",
]
