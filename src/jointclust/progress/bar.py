"""A bar that shows how far a computation is, in a terminal or a notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, TextIO

from jointclust.progress import listening
from jointclust.progress.clock import Clock

# Seconds of a computation that needs no bar, and between two drawings; share of the rest of the bar that passes in a
# second without a report.
_SHORT, PAUSE, _CREEP = 3.0, 0.25, 0.015
_WIDTH = 24


@contextmanager
def shown(
    wanted: bool | None = None,
    what: str = "Clustering",
    announce: Callable[[str], None] | None = None,
    faster: str = "",
) -> Iterator[None]:
    """Show the progress of what runs inside; by default in terminals and notebooks, if it takes more than 3 seconds.

    ``announce`` is called once if it will take long, with a line that says how long, and what would be ``faster``.
    """
    write = None if wanted is False else _writer(always=bool(wanted))
    if write is None:
        yield
        return
    with listening(Clock()) as clock:
        bar, stop = Bar(clock, what, always=bool(wanted)), Event()

        def paint() -> None:
            while not stop.wait(PAUSE):
                line = bar.announced(faster) if announce is not None else ""
                if line and announce is not None:
                    write("")
                    announce(line)
                write(bar.text())

        thread = Thread(target=paint, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            write("")


class Bar:
    """The bar for a clock: a share that always moves, and the remaining time."""

    # Seconds of a long computation, and the share that has to be done before its time is announced.
    LONG, _ENOUGH = 30.0, 0.1

    def __init__(self, clock: Clock, what: str = "Clustering", *, always: bool = False):
        self.clock, self.what, self.always = clock, what, always
        self._shown, self._at, self._is_announced = 0.0, clock.elapsed, False

    def text(self) -> str:
        """The bar; empty in the first second, and for a short computation."""
        elapsed, total = self.clock.elapsed, self.clock.total
        if not self.always and (elapsed < 1.0 or (total is not None and total < _SHORT)):
            return ""
        share = 0.0 if total is None else min(elapsed / max(total, elapsed + 0.5), 0.99)
        creep = self._shown + (1.0 - self._shown) * _CREEP * (elapsed - self._at)
        self._shown, self._at = max(share, creep), elapsed
        full = round(_WIDTH * self._shown)
        is_known = total is not None and self.clock.share >= self._ENOUGH
        left = f", about {lasting(max(total - elapsed, 1.0))} left" if total is not None and is_known else ""
        return f"{self.what} {'█' * full}{'░' * (_WIDTH - full)} {100 * self._shown:.1f}%, {elapsed:.0f} s{left}"

    def announced(self, faster: str) -> str:
        """How long it takes, said once; empty if that is unknown or not long."""
        total = self.clock.total
        if self._is_announced or total is None or self.clock.share < self._ENOUGH:
            return ""
        self._is_announced = True
        return f"This takes about {lasting(total)}. {faster}".strip() if total >= self.LONG else ""


def lasting(seconds: float) -> str:
    """A time for people.

    Examples
    --------
    >>> lasting(4.2), lasting(200), lasting(9000)
    ('4 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# -- where it is shown ------------------------------------------------------------------------------------------------


def _writer(*, always: bool) -> Callable[[str], None] | None:
    """A function that shows a line in the place of the one before; None where there is nobody to see it."""
    if _is_notebook():
        return _Cell().write
    return _line_of(sys.stderr) if always or _is_terminal(sys.stderr) else None


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and hasattr(stream, "isatty") and stream.isatty()


def _line_of(stream: TextIO) -> Callable[[str], None]:
    before = ""

    def write(text: str) -> None:
        nonlocal before
        if text or before:
            stream.write(f"\r{text}{' ' * max(len(before) - len(text), 0)}" + "\r" * (not text))
            stream.flush()
        before = text

    return write


def _is_notebook() -> bool:
    """Whether this runs in a kernel that shows what is displayed."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


class _Cell:
    """The output of a cell of a notebook, in which one line takes the place of the one before."""

    def __init__(self) -> None:
        self._handle: Any = None

    def write(self, text: str) -> None:
        """Show a line; an empty one clears it."""
        from IPython.display import Pretty, display  # type: ignore[import-not-found]

        if self._handle is None:
            if text:
                self._handle = display(Pretty(text), display_id=True)
        else:
            self._handle.update(Pretty(text))
