"""What all displays share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class Display:
    """What the displays share: axes to draw on."""

    ax_: Axes
    figure_: Figure | SubFigure

    def _prepare(self, ax: Axes | None, figsize: tuple[float, float] | None = None) -> Axes:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError(f"{type(self).__name__} needs matplotlib: pip install 'jointclust[plot]'.") from error
        if ax is None:
            _, ax = plt.subplots(layout="constrained", figsize=figsize)
        self.ax_, self.figure_ = ax, ax.figure
        return ax
