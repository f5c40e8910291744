"""What is said when the user interrupts: what is kept, and where."""

from pathlib import Path

_kept = "nothing was kept"


def keeping(place: Path) -> None:
    """From now on finished runs are kept there."""
    global _kept
    _kept = f"finished runs are kept in {place}; the same command goes on"


def said() -> str:
    """The message."""
    return f"interrupted: {_kept}"
