"""Columns and pictures as short text."""

from __future__ import annotations

import base64
import gzip
import json
import re
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.showing.style import PALETTE, SCALE

# Levels of a number that is not whole: four digits of its range. The last code is kept for missing ones.
_LEVELS = 9_999
_MOST_CATEGORIES = 2**16 - 1
# Each turn of the palette has another shape and another shade: 96 looks before one comes again.
SHAPES, _SHADES = 4, (0.0, -0.25, 0.35)


def packed(values: NDArray[Any]) -> str:
    """Bytes of an array, compressed, as text; of two bytes, all low ones and then all high ones, which repeat more."""
    values = np.ascontiguousarray(values)
    if values.dtype.itemsize == 2:
        values = np.ascontiguousarray(values.astype("<u2").view(np.uint8).reshape(-1, 2).T)
    return _text(values.tobytes())


def _text(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()


def coded(codes: NDArray[Any], most: int) -> dict[str, object]:
    """Codes in one byte where the largest has room in it, else in two."""
    bits = 8 if most <= 255 else 16
    return {"bits": bits, "data": packed(codes.astype(np.uint8 if bits == 8 else np.uint16))}


def axis(name: str, values: NDArray[Any], **more: object) -> dict[str, object]:
    """Positions at 65,536 levels: finer than a screen at thirty times zoom."""
    low, high = float(values.min()), float(values.max())
    codes = np.round((values - low) / ((high - low) or 1.0) * 65535)
    return {"name": name, "min": low, "max": high, **coded(codes, 65535), **more}


def numbers(name: str, values: NDArray[Any]) -> dict[str, object]:
    """A column of numbers: whole ones as they are, others at four digits of their range."""
    values = np.asarray(values, dtype=np.float64)
    known = np.isfinite(values)
    present = values[known] if known.any() else np.zeros(1)
    low, high = float(present.min()), float(present.max())
    whole = high - low < _MOST_CATEGORIES and bool((present == np.round(present)).all())
    step = 1.0 if whole or high == low else (high - low) / _LEVELS
    most = round((high - low) / step) + 1
    missing = 255 if most <= 255 else 65535
    codes = np.where(known, np.round((np.where(known, values, low) - low) / step), missing)
    return {"name": name, "kind": "number", "min": low, "step": step, **coded(codes, missing)}


def categories(name: str, values: NDArray[Any]) -> dict[str, object] | None:
    """A column of names, sorted as people do; None where there are more of them than codes."""
    found, codes = np.unique(values, return_inverse=True)
    if found.size > _MOST_CATEGORIES:
        return None
    order = natural_order([str(value) for value in found])
    codes = np.argsort(order)[codes.ravel()]
    return {
        "name": name,
        "kind": "category",
        "names": [str(found[index]) for index in order],
        "sizes": np.bincount(codes, minlength=found.size).tolist(),
        **coded(codes, found.size - 1),
    }


def natural_order(names: list[str]) -> list[int]:
    """Order in which numbers inside of names count as numbers: 2 comes before 10."""

    def key(index: int) -> list[tuple[bool, float, str]]:
        parts = [part for part in re.split(r"(\d+(?:\.\d+)?)", names[index]) if part]
        return [(not part[0].isdecimal(), float(part) if part[0].isdecimal() else 0.0, part) for part in parts]

    return sorted(range(len(names)), key=key)


def names(ids: list[str]) -> str:
    """Names of rows; JSON, as a name may hold anything."""
    return _text(json.dumps(ids).encode())


def script_json(value: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c").replace("&", "\\u0026")


def looks() -> list[str]:
    """Colours of the first 96 clusters: turns of the palette in its own shade, a darker one and a lighter one."""
    found = []
    for turn in range(SHAPES * len(_SHADES)):
        shade = _SHADES[turn % len(_SHADES)]
        end, share = 255 * (shade > 0), abs(shade)
        for colour in _channels(PALETTE):
            mixed = np.round(colour * (1 - share) + end * share).astype(int)
            found.append("#" + "".join(f"{value:02x}" for value in mixed))
    return found


def picture(values: NDArray[Any], ends: tuple[float, float] | None = None, *, coloured: bool = False) -> str:
    """A small PNG as a data URI, grey or by the colour scale, from the lowest to the highest value or between ends."""
    low, high = (float(np.nanmin(values)), float(np.nanmax(values))) if ends is None else ends
    unit = np.clip((np.nan_to_num(values) - low) / ((high - low) or 1.0), 0, 1)
    pixels = np.round(unit * 255).astype(np.uint8)
    height, width = pixels.shape
    lines = np.hstack([np.zeros((height, 1), np.uint8), pixels]).tobytes()

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 3 if coloured else 0, 0, 0, 0)
    palette = chunk(b"PLTE", scale_colours().tobytes()) if coloured else b""
    body = chunk(b"IHDR", header) + palette + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def scale_colours() -> NDArray[np.uint8]:
    """The colour scale at 256 places, as red, green and blue."""
    anchors = _channels(SCALE)
    places = np.linspace(0, len(SCALE) - 1, 256)
    channels = [np.interp(places, np.arange(len(SCALE)), anchors[:, channel]) for channel in range(3)]
    return np.round(np.column_stack(channels)).astype(np.uint8)


def _channels(colours: tuple[str, ...]) -> NDArray[np.int64]:
    return np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours])
