"""Free memory, which is checked before large steps."""

from __future__ import annotations

from pathlib import Path

# Share of the free memory that a step may take: other things are computed beside it.
_SHARE = 0.8


def free_memory() -> int | None:
    """Bytes that this process can still get, by the machine and by the limits of its container; None if unknown."""
    limits = [of_machine(Path("/proc/meminfo")), of_container(Path("/sys/fs/cgroup"))]
    known = [one for one in limits if one is not None]
    return min(known) if known else None


def of_machine(path: Path) -> int | None:
    """Available memory as Linux counts it: free, or used for copies of files."""
    try:
        lines = dict(line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def of_container(folder: Path) -> int | None:
    """The limit of the control group minus its use, without copies of files."""
    try:
        limit = (folder / "memory.max").read_text().strip()
        if limit == "max":
            return None
        used = int((folder / "memory.current").read_text())
        kept = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return max(int(limit) - used + int(kept.get("inactive_file", 0)), 0)
    except (OSError, ValueError):
        return None


def has_memory(n_bytes: float) -> bool:
    """Whether so many bytes are likely to be there; True if that is unknown."""
    free = free_memory()
    return free is None or n_bytes <= _SHARE * free


def check_memory(n_bytes: float, what: str, remedy: str) -> None:
    """Raise where a step needs more memory than there is, before it is begun."""
    if not has_memory(n_bytes):
        free = free_memory() or 0
        raise MemoryError(f"{what} takes about {_shown(n_bytes)}, and {_shown(free)} are free: {remedy}.")


def _shown(n_bytes: float) -> str:
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.0f} MiB"
