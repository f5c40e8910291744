"""Questions that need many runs: `compare` policies, `sweep` a range, find a `size` that suffices.

`design` (with `factor`) reads the points, `campaign` runs each of them as often as its rule requires (`replications`,
`goal`), `store` keeps finished runs, `executor` and `cluster` execute them. `table` and `output` write the results.
`shard` divides a sweep among processes without contact, and `merge` puts the parts together.
"""

REPS = 10
"""Replications of each policy of a comparison."""

LEAST, MOST = 8, 64
"""Replications of a value in a search: at least, and at most if the value is near the goal."""

RESOLUTION = 0.02
"""Relative difference at which a search stops."""
