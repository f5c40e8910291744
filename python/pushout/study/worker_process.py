"""Run Python work in a second process while threads simulate: an interpreter runs one thread of Python at a time."""

import signal
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

T = TypeVar("T")


class WorkerProcess:
    """A process that runs tasks in sequence; it starts with the first task and ends with the `with` block.

    Unlike a worker of `ProcessPoolExecutor` it also ends when this process dies without closing it, as after Ctrl-C.
    """

    def __init__(self) -> None:
        self._waiting = ThreadPoolExecutor(max_workers=1)
        self._pipe: Connection | None = None

    def __enter__(self) -> "WorkerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.shutdown(wait=False, cancel_futures=True)
        if self._pipe:
            self._pipe.close()

    def submit(self, task: Callable[..., T], *arguments: Any) -> Future[T]:
        """Call a module-level function in the other process."""
        return self._waiting.submit(self._ask, task, arguments)

    def _ask(self, task: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        if self._pipe is None:
            self._pipe = _start()
        self._pipe.send((task, arguments))
        answer: T | Exception = self._pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer


def _start() -> Connection:
    context = get_context("spawn")
    here, there = context.Pipe()
    context.Process(target=_serve, args=(there,), daemon=True).start()
    there.close()
    return here


def _serve(pipe: Connection) -> None:
    """Answer until the other end of the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    with suppress(EOFError, ConnectionError):
        while True:
            task, arguments = pipe.recv()
            try:
                answer = task(*arguments)
            except Exception as error:  # the parent process raises it
                answer = error
            pipe.send(answer)
