"""The look that our pages share."""

from __future__ import annotations

from importlib import resources


def shared_style() -> str:
    """Style sheet to put before a page's own."""
    return resources.files("jointclust.showing").joinpath("style.css").read_text(encoding="utf-8")
