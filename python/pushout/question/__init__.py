"""Questions, not runs: what differs (`compare`), over what range (`sweep`), how much is enough (`size`).

`design` reads which points are asked about, `campaign` has each of them run often enough, `store` keeps what was
run, `executor` and `cluster` are where it runs, `table` and `plot` show it.
"""


class QuestionError(ValueError):
    """A question that cannot be asked as it is: the message says what to change."""
