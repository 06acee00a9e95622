"""How much memory is free."""

from __future__ import annotations

from pathlib import Path


def free_bytes() -> int | None:
    """The memory that a program can still get, if the system says so: Linux does."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    available = (line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    return min((int(kilobytes) * 1024 for kilobytes in available), default=None)
