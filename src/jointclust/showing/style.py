"""The look that pages and drawings share."""

from __future__ import annotations

from importlib import resources

# Okabe and Ito (2008), less black and yellow, with Tol's olive and a grey.
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999933", "#8a8a8a")
# Cividis (Nunez, Anderton and Renslow, 2018), at nine places.
SCALE = ("#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#fee838")


def shared_style() -> str:
    """Style sheet to put before a page's own."""
    return resources.files("jointclust.showing").joinpath("style.css").read_text(encoding="utf-8")
