"""Upper limits; anything above is rejected as a mistake."""

MOST_REPS = 1_000_000
"""Replications of one point."""

MOST_JOBS = 1024
"""Threads."""

DEEPEST = 64
"""Nesting of tables and lists, and keys in a path; the simulator's reader has the same limit."""

LEAST_RESOLUTION = 1e-6
"""Relative difference of values: a search writes them with six digits."""

LONGEST_EXPRESSION = 2_000
"""Characters of an expression of a study."""

MOST_STARS = 8
"""Stars in a pattern for cases: each multiplies the time to match by the length of the text."""

MOST_BINS = 10_000
"""Bins of a histogram."""

STATES = 10_000_000
"""States that a search for a worst case may visit by default; for two ports they take at most 1.3 GB."""

MOST_LEFT_OUT = 50
"""Lines about what an import leaves out; more would hide the first ones."""
