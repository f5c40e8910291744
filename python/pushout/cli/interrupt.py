"""The message after Ctrl-C: which results are saved, and where."""

from pathlib import Path

_kept = "nothing was saved"


def keeping(place: Path) -> None:
    """Record that finished runs are saved in `place` from now on."""
    global _kept
    _kept = f"finished runs are saved in {place}; repeat the command to continue"


def said() -> str:
    """Write the message."""
    return f"interrupted: {_kept}"
