"""Columns and pictures as short text."""

from __future__ import annotations

import base64
import gzip
import json
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.showing.colours import SCALE

# A number's last code is kept for missing ones.
_MISSING = 255
_MOST_CATEGORIES = 2**16 - 1


def packed(values: NDArray[Any]) -> str:
    """Bytes of an array, compressed, as text."""
    return base64.b64encode(gzip.compress(np.ascontiguousarray(values).tobytes(), 6, mtime=0)).decode()


def axis(name: str, values: NDArray[Any]) -> dict[str, object]:
    """Positions at 65,536 levels: finer than a screen at thirty times zoom."""
    low, high = float(values.min()), float(values.max())
    unit = (values - low) / ((high - low) or 1.0)
    return {"name": name, "min": low, "max": high, "data": packed(np.round(unit * 65535).astype("<u2"))}


def numbers(name: str, values: NDArray[Any]) -> dict[str, object]:
    """A column to colour by, at 255 levels: more than an eye tells apart."""
    values = np.asarray(values, dtype=np.float64)
    known = np.isfinite(values)
    low, high = (float(values[known].min()), float(values[known].max())) if known.any() else (0.0, 0.0)
    unit = (np.where(known, values, low) - low) / ((high - low) or 1.0)
    codes = np.where(known, np.round(unit * (_MISSING - 1)), _MISSING).astype(np.uint8)
    return {"name": name, "kind": "number", "min": low, "max": high, "bits": 8, "data": packed(codes)}


def categories(name: str, values: NDArray[Any]) -> dict[str, object] | None:
    """A column of names; None where there are more of them than codes."""
    found, codes = np.unique(values, return_inverse=True)
    if found.size > _MOST_CATEGORIES:
        return None
    bits = 8 if found.size <= 256 else 16
    kind = np.dtype(np.uint8) if bits == 8 else np.dtype("<u2")
    sizes = np.bincount(codes.ravel(), minlength=found.size)
    return {
        "name": name,
        "kind": "category",
        "names": [str(value) for value in found],
        "sizes": sizes.tolist(),
        "bits": bits,
        "data": packed(codes.ravel().astype(kind)),
    }


def names(ids: list[str]) -> str:
    """Names of rows; JSON, as a name may hold anything."""
    return base64.b64encode(gzip.compress(json.dumps(ids).encode(), 6, mtime=0)).decode()


def script_json(value: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c").replace("&", "\\u0026")


def picture(values: NDArray[Any], low: float, high: float, *, coloured: bool = False) -> str:
    """A small PNG as a data URI: grey, or by the colour scale."""
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
    anchors = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in SCALE])
    places = np.linspace(0, len(SCALE) - 1, 256)
    channels = [np.interp(places, np.arange(len(SCALE)), anchors[:, channel]) for channel in range(3)]
    return np.round(np.column_stack(channels)).astype(np.uint8)
