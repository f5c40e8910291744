import operator
import os

import pytest

from pushout.study.worker_process import WorkerProcess


def test_another_process_does_one_task_after_the_other() -> None:
    with WorkerProcess() as worker:
        tasks = [worker.submit(os.getpid), worker.submit(operator.truediv, 3, 4), worker.submit(os.getpid)]
        first, quotient, last = (task.result() for task in tasks)
    assert first == last != os.getpid()
    assert quotient == 0.75


def test_what_fails_there_is_raised_here_and_the_next_task_is_done() -> None:
    with WorkerProcess() as worker:
        failed, done = worker.submit(operator.truediv, 3, 0), worker.submit(operator.truediv, 4, 2)
        with pytest.raises(ZeroDivisionError):
            failed.result()
        assert done.result() == 2.0


def test_without_a_task_no_process_is_started() -> None:
    with WorkerProcess() as worker:
        pass
    assert worker._pipe is None
