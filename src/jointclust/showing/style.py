"""The look that pages and drawings share."""

from __future__ import annotations

from importlib import resources

import numpy as np
from numpy.typing import NDArray

# Okabe and Ito (2008), less black and yellow, with Tol's olive and a grey.
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999933", "#8a8a8a")
# Cividis (Nunez, Anderton and Renslow, 2018), at nine places.
SCALE = ("#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#fee838")
# Each turn of the palette has another shape and another shade: 96 looks before one comes again.
SHAPES, _SHADES = 4, (0.0, -0.25, 0.35)


def resource(name: str) -> str:
    """A file of this library: the style sheet to put before a page's own, or a part of a page."""
    return resources.files("jointclust").joinpath(name).read_text(encoding="utf-8")


def looks() -> list[str]:
    """Colours of the first 96 clusters: turns of the palette in its own shade, a darker one and a lighter one."""
    styles = []
    for turn in range(SHAPES * len(_SHADES)):
        shade = _SHADES[turn % len(_SHADES)]
        end, share = 255 * (shade > 0), abs(shade)
        for colour in _channels(PALETTE):
            mixed = np.round(colour * (1 - share) + end * share).astype(int)
            styles.append("#" + "".join(f"{value:02x}" for value in mixed))
    return styles


def scale_colours() -> NDArray[np.uint8]:
    """The colour scale at 256 places, as red, green and blue."""
    places = np.linspace(0, len(SCALE) - 1, 256)
    channels = [np.interp(places, np.arange(len(SCALE)), channel) for channel in _channels(SCALE).T]
    return np.round(np.column_stack(channels)).astype(np.uint8)


def _channels(colours: tuple[str, ...]) -> NDArray[np.int64]:
    return np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours])
