"""Drawings on their way out."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jointclust.cli.errors import OutputError
from jointclust.cli.files import claim_file, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ENDINGS = (".svg", ".png", ".pdf")


def claim_plot(plot: str | None, *, force: bool) -> None:
    """Make sure, before the work, that a drawing can be made and written."""
    if plot is None:
        return
    if Path(plot).suffix not in _ENDINGS:
        raise OutputError(f"{plot}: a drawing goes to a .svg, .png or .pdf file.")
    if importlib.util.find_spec("matplotlib") is None:
        raise click.UsageError("--plot needs matplotlib: pip install 'jointclust[plot]'.")
    claim_file(Path(plot), force=force, option="--plot")


def save_drawing(axes: Axes, plot: str) -> None:
    """A drawing in the format that its name tells."""
    with written(Path(plot)) as temporary:
        axes.figure.get_figure(root=True).savefig(temporary, format=Path(plot).suffix[1:], bbox_inches="tight", dpi=150)
