"""Questions that need many runs: `compare` policies, `sweep` a range, find a `size` that suffices.

`design` (with `factor`) reads the points, `campaign` runs each of them as often as its rule requires (`replications`,
`goal`), `store` keeps finished runs, `executor` and `cluster` execute them. `table` and `output` write the results.
`shard` divides a sweep among processes without contact, and `merge` puts the parts together.
"""
