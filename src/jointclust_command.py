"""The command ``jointclust``: begins before the library is there, so that Ctrl-C ends it quietly at any moment."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Load a command, which takes seconds on a slow disk, and run it."""
    earlier = signal.signal(signal.SIGINT, _leave)
    from jointclust.cli import main as run

    run(loaded=lambda: signal.signal(signal.SIGINT, earlier))


def _leave(number: int, frame: FrameType | None) -> None:
    """End at once: an exception would come up in the middle of some module's import."""
    sys.stderr.write("Interrupted: nothing was begun.\n")
    sys.stderr.flush()
    os._exit(130)
