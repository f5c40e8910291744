"""The threads that run simulations, by their name; this loads quickly, and the command line always needs it."""

import threading

NAME = "pushout-run"
"""Beginning of the name of such a thread."""

GRACE_S = 0.3
"""Seconds that a thread needs at most to end when it has nothing to do."""


def are_running() -> bool:
    """Return whether simulations still run, which cannot be stopped."""
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(NAME)]
    for thread in threads:
        thread.join(GRACE_S / len(threads))
    return any(thread.is_alive() for thread in threads)
