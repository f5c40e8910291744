"""Describe the machine of a measurement."""

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from pushout import _core
from pushout.simulate import cores


def machine() -> dict[str, Any]:
    """Collect processor, memory, system, versions and load (average over one minute)."""
    return {
        "cpu": _cpu(),
        "cores": cores(),
        "ram_bytes": _ram(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "version": _core.VERSION,
        "commit": _commit(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    keys = dict(line.split(":", 1) for line in reversed(lines) if ":" in line)
    named = {key.strip(): value.strip() for key, value in keys.items()}
    if "model name" not in named:
        return platform.processor() or platform.machine()
    numbers = [f"{key} {named[key]}" for key in ("cpu family", "model") if key in named]
    return f"{named['model name']} ({', '.join(numbers)})"


def _ram() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _commit() -> str | None:
    """Return the commit of the checkout that holds this file, if any; with + if files differ from it."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError:
        return None
    return done.stdout.strip() or None
