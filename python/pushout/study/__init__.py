"""The published studies as data: question, runs, printed numbers, and their reproduction.

A study is a folder with a `study.toml` (`model`); measures and claims are small expressions over the figures of
its cases (`expression`, `samples`); `reproduce` runs the cases, stores every result (`pushout.cache`) and judges
(`outcome`); `plot` draws the results (`chapter`), and `report` writes the page.
"""
