"""Switches of makers: their tables, their headroom, what acceptance tests count on them; files of other simulators.

`headroom` asks `explain` about the lines of a switch, `predict` counts on a bench what acceptance tests count, and
`explain` finds what explains such counts; `sonic`, `foreign` and `captured` read files of switches and simulators.
"""
