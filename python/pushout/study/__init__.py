"""The published studies, as data: what was asked, what was run, what was printed, and how close we come.

A study is a folder with a `study.toml` (`model`); measures and claims are small expressions over the figures of
its cases (`expression`, `samples`); `reproduce` runs the cases, keeps every result (`pushout.cache`) and judges
(`outcome`); `plot` draws what was found (`chapter`), and `report` writes the page.
"""
