"""Progress on the standard error: only for work over two seconds, with rate and time left."""

import sys
import time
from shutil import get_terminal_size
from typing import TextIO

PATIENCE_S = 2.0
REDRAW_S = 0.2
"""On a terminal one line is drawn over and over …"""
LINE_S = 10.0
"""… elsewhere (a log) a line is written now and then, at first after 2, 4 and 8 seconds."""
FEW = 10
"""So many of thousands do not tell yet how long the others take; of hundreds, fewer."""


class Progress:
    """Call it with what is done and what there is; leave the `with` block to clear the line."""

    def __init__(self, what: str, stream: TextIO | None = None) -> None:
        self.what = what
        self.stream = stream if stream is not None else sys.stderr
        self.start = time.monotonic()
        self.next = self.start + PATIENCE_S
        self.width = 0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self.width and self.stream.isatty():
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()

    def __call__(self, done: int, total: int) -> None:
        """Tell how far the work is; cheap, to be called often."""
        now = time.monotonic()
        if now < self.next or done == total:
            return
        line = self.line(done, total, now - self.start)
        terminal = self.stream.isatty()
        if terminal:  # a line that is drawn over must not become two
            line = line[: get_terminal_size().columns - 1]
        self.stream.write("\r" + line.ljust(self.width) if terminal else line + "\n")
        self.stream.flush()
        self.width = len(line)
        self.next = now + (REDRAW_S if terminal else min(LINE_S, now - self.start))

    def line(self, done: int, total: int, elapsed: float) -> str:
        """`runs: 12 of 40, 1.3 per second, 22 s left`."""
        head = f"{self.what}: {done} of {total}, "
        if done <= min(FEW, total // 100):
            return head + f"{duration(elapsed)} so far"
        rate = done / elapsed
        pace = f"{rate:.1f} per second" if rate >= 1 else f"{1 / rate:.1f} s each"
        return head + f"{pace}, {duration((total - done) / rate)} left"


def duration(seconds: float) -> str:
    """A time to wait, as people say it."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
