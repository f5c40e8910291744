"""Questions that need many runs: `compare` policies, `sweep` a range, find a `size` that suffices.

`design` (with `factor`) reads the points, `campaign` runs each of them as often as its rule requires (`replications`,
`goal`), `store` keeps finished runs, `executor` and `cluster` execute them. `table` and `output` write the results,
`frame` presents them to callers, and `drawing` draws them. `shard` divides a sweep among processes without contact, and
`merge` puts the parts together. `headroom` asks `explain` about the lines of a switch,
`chip` counts on a bench what acceptance tests of a switch count, `chip_explain` finds what explains such counts,
`sonic` and `foreign` read files of switches and of other simulators, and `worst` finds the worst case of a policy.
"""

REPS = 10
"""Replications of each policy of a comparison."""

LEAST, MOST = 8, 64
"""Replications of a value in a search: at least, and at most if the value is near the goal."""

RESOLUTION = 0.02
"""Relative difference at which a search stops."""
