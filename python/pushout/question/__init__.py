"""Questions, not runs: what differs (`compare`), over what range (`sweep`), how much is enough (`size`).

`design` (with `factor`) reads which points are asked about, `campaign` has each of them run as often as its rule says
(`replications`, `goal`), `store` keeps what was run, `executor` and `cluster` are where it runs. `table` and `output`
write what came of it, `frame` is how callers see it, and `drawing` what it is drawn with.
"""

REPS = 10
"""Replications of each policy of a comparison."""

LEAST, MOST = 8, 64
"""Replications of a value in a search that is clearly on one side of the goal, and of one that is not."""

RESOLUTION = 0.02
"""Values that differ by no more than this share are one answer."""
