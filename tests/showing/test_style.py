"""Colours that people with the common kinds of colour blindness tell apart."""

from itertools import combinations

import numpy as np
import pytest

from jointclust.showing.style import PALETTE, SCALE, SHAPES, looks

# Machado, Oliveira and Fernandes (2009), at full severity, in linear RGB.
SEEN = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


def lab(colours, seen=None):
    """CIE L*a*b* of colours, as someone sees them."""
    rgb = np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in colours])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = linear if seen is None else np.clip(linear @ np.array(seen).T, 0, 1)
    xyz = linear @ np.array(TO_XYZ).T / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.column_stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])])


@pytest.mark.parametrize("kind", SEEN)
def test_colours_of_clusters_differ_for_all(kind):
    """A difference of 2.3 is just noticeable; the closest two are several times as far apart."""
    result = lab(PALETTE, SEEN[kind])
    closest = min(float(np.linalg.norm(result[a] - result[b])) for a, b in combinations(range(len(PALETTE)), 2))
    assert closest > 3 * 2.3


def test_turns_of_the_palette_differ_in_shape_or_shade():
    values = [(colour, place // len(PALETTE) % SHAPES) for place, colour in enumerate(looks())]
    assert len(set(values)) == len(values)


@pytest.mark.parametrize("kind", [None, *SEEN])
def test_the_scale_grows_lighter_for_all(kind):
    lightness = lab(SCALE, SEEN.get(kind))[:, 0]
    assert (np.diff(lightness) > 2.3).all()
