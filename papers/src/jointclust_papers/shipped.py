"""Files that come with the package: what the papers print, and the parts of a page."""

from __future__ import annotations

import csv
import functools
from importlib import resources


def text(name: str) -> str:
    """Read a file."""
    return resources.files("jointclust_papers").joinpath(name).read_text(encoding="utf-8")


@functools.cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """Read the rows of a table."""
    return tuple(csv.DictReader(text(name).splitlines()))
