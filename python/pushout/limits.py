"""How much of something is surely a mistake."""

MOST_REPS = 1_000_000
"""Replications of one point."""

MOST_JOBS = 1024
"""Threads."""

DEEPEST = 64
"""Tables and lists in one another, and keys of a path; the simulator's reader has the same limit."""

LEAST_RESOLUTION = 1e-6
"""Relative difference of values: a search writes them in six digits."""

LONGEST_EXPRESSION = 2_000
"""Characters of an expression of a study."""

MOST_STARS = 8
"""In a pattern for cases: fitting a text takes a power of the length for each."""

MOST_BINS = 10_000
"""Bins of a histogram."""
