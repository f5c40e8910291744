"""Work in Python beside threads that simulate: in another process, since an interpreter runs one thread at a time."""

import signal
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

T = TypeVar("T")


class Aside:
    """A process that does one task after the other; it starts with the first and ends with the `with` block.

    Unlike a worker of `ProcessPoolExecutor` it also ends if this process is gone without a word, as after Ctrl-C.
    """

    def __init__(self) -> None:
        self._waiting = ThreadPoolExecutor(max_workers=1)
        self._pipe: Connection | None = None

    def __enter__(self) -> "Aside":
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.shutdown(wait=False, cancel_futures=True)
        if self._pipe:
            self._pipe.close()

    def submit(self, task: Callable[..., T], *arguments: Any) -> Future[T]:
        """Have a function of a module called there."""
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
    """Answer until nobody asks any more: then the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who asks
    with suppress(EOFError, ConnectionError):
        while True:
            task, arguments = pipe.recv()
            try:
                answer = task(*arguments)
            except Exception as error:  # it is raised where the task was given
                answer = error
            pipe.send(answer)
