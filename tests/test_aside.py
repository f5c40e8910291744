import operator
import os

import pytest

from pushout.study.aside import Aside


def test_another_process_does_one_task_after_the_other() -> None:
    with Aside() as aside:
        tasks = [aside.submit(os.getpid), aside.submit(operator.truediv, 3, 4), aside.submit(os.getpid)]
        first, quotient, last = (task.result() for task in tasks)
    assert first == last != os.getpid()
    assert quotient == 0.75


def test_what_fails_there_is_raised_here_and_the_next_task_is_done() -> None:
    with Aside() as aside:
        failed, done = aside.submit(operator.truediv, 3, 0), aside.submit(operator.truediv, 4, 2)
        with pytest.raises(ZeroDivisionError):
            failed.result()
        assert done.result() == 2.0


def test_nothing_is_started_for_nothing() -> None:
    with Aside() as aside:
        pass
    assert aside._pipe is None
