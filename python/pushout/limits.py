"""How much of something is surely a mistake."""

MOST_REPS = 1_000_000
"""Replications of one point."""

MOST_JOBS = 1024
"""Threads."""
