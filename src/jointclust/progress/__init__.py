"""How far a long computation is: its parts tell it, and whoever shows it listens."""

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
    """Have a clock told of all that is done meanwhile, in whatever thread."""
    _clocks.append(clock)
    try:
        yield clock
    finally:
        _clocks.remove(clock)


def plan(weights: Mapping[str, float]) -> None:
    """Tell which stages come, in their order, and what each takes beside the others."""
    with _lock:
        for clock in _clocks:
            clock.plan(weights)


def advance(stage: str, done: float, total: float = 1.0) -> None:
    """Tell that so much of a stage is done."""
    if not _clocks:
        return
    with _lock:
        for clock in _clocks:
            clock.advance(stage, done, total)
