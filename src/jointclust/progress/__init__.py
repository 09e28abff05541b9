"""How far a long computation is: its parts report it to clocks, which bars show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock

from jointclust.progress.clock import Clock

__all__ = ["Clock", "advance", "listening", "plan"]

_clocks: list[Clock] = []
_lock = Lock()


@contextmanager
def listening(clock: Clock) -> Iterator[Clock]:
    """Report all progress inside, in any thread, to a clock."""
    _clocks.append(clock)
    try:
        yield clock
    finally:
        _clocks.remove(clock)


def plan(weights: Mapping[str, float]) -> None:
    """Announce the stages in their order, with their relative times."""
    with _lock:
        for clock in _clocks:
            clock.plan(weights)


def advance(stage: str, done: float, total: float = 1.0) -> None:
    """Report that this much of a stage is done."""
    if not _clocks:
        return
    with _lock:
        for clock in _clocks:
            clock.advance(stage, done, total)
