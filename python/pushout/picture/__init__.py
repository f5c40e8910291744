"""Pictures of runs: queue, losses, throughput, congestion window and distributions, of one run or of several.

`recording` says what a scenario must measure for a picture, `series` takes it out of documents, `panels` draws it, and
`figure` puts panels, title and theme together.
"""
