"""Estimates the remaining time of a computation in stages from the time that its parts have taken."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


class Clock:
    r"""The estimated total time of a computation, :math:`\sum_s t_s`.

    A finished stage counts with its measured time, a running one with its measured time over the share of it that is
    done, a future one with its planned weight times the seconds that a weight of 1 has taken so far.

    Parameters
    ----------
    now : callable
        Gives the time in seconds.

    Examples
    --------
    >>> times = iter([0.0, 4.0, 6.0, 8.0])
    >>> clock = Clock(lambda: next(times))
    >>> clock.plan({"members": 2.0, "votes": 1.0})
    >>> clock.advance("members", 1, 2)
    >>> clock.total
    12.0
    >>> clock.advance("members", 2, 2)
    >>> clock.total
    9.0
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter):
        self._now = now
        self.began = self._last = now()
        self._weights: dict[str, float] = {}
        self._spent: dict[str, float] = {}
        self._done: dict[str, float] = {}

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self._now() - self.began

    @property
    def stage(self) -> str:
        """Name of the running stage."""
        return next(reversed(self._done), "")

    def plan(self, weights: Mapping[str, float]) -> None:
        """Announce stages in order, with their relative times; stages that have begun keep their place."""
        self._weights = {name: weight for name, weight in self._weights.items() if name in self._done} | dict(weights)

    def advance(self, stage: str, done: float, total: float = 1.0) -> None:
        """Record that this much of a stage is done, and that the stages before it are over."""
        now = self._now()
        self._weights.setdefault(stage, 0.0)
        for name in self._weights:
            if name == stage:
                break
            self._done[name] = 1.0
        share = min(max(done / max(total, 1e-12), self._done.pop(stage, 0.0)), 1.0)
        self._done[stage] = share
        self._spent[stage] = self._spent.get(stage, 0.0) + now - self._last
        self._last = now

    @property
    def share(self) -> float:
        """The share of the planned weight that is done."""
        whole = sum(self._weights.values())
        return sum(self._weights[name] * done for name, done in self._done.items()) / whole if whole > 0 else 0.0

    @property
    def total(self) -> float | None:
        """Estimated seconds for all stages; None before anything is known."""
        whole, measured = sum(self._weights.values()), 0.0
        spent = sum(self._spent.values())
        for name, done in self._done.items():
            measured += self._weights[name] * done
        if whole <= 0.0 or measured <= 0.0:
            return None
        rate, seconds = sum(self._spent.get(n, 0.0) for n in self._done if self._weights[n] > 0) / measured, spent
        for name, weight in self._weights.items():
            done = self._done.get(name, 0.0)
            own = self._spent.get(name, 0.0)
            if 0.0 < done < 1.0 and own > 0.0:
                seconds += own * (1.0 - done) / done
            elif done < 1.0:
                seconds += weight * rate
        return seconds
