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
"""Ten of thousands do not tell yet how long the others take; of hundreds, fewer."""
WARN_S, LONG_S = 5.0, 60.0
"""A single run that has gone on for this long is warned of, if what remains takes longer than that."""


class Progress:
    """Call it with what is done and what there is; leave the `with` block to clear the line.

    Without a word for what is counted, these are the simulated seconds of a single run. With `about`, the total is an
    estimate.
    """

    def __init__(self, what: str, stream: TextIO | None = None, *, about: bool = False) -> None:
        self.what = what
        self.about = about
        self.stream = stream if stream is not None else sys.stderr
        self.start = time.monotonic()
        self.next = self.start + PATIENCE_S
        self.width = 0
        self.has_warned = False

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()

    def __call__(self, done: float, total: float) -> None:
        """Tell how far the work is; cheap, to be called often."""
        now = time.monotonic()
        if now < self.next or done == total:
            return
        elapsed = now - self.start
        self._warn(done, total, elapsed)
        line = self.line(done, total, elapsed)
        terminal = self.stream.isatty()
        if terminal:  # a line that is drawn over must not become two
            line = line[: get_terminal_size().columns - 1]
        self.stream.write("\r" + line.ljust(self.width) if terminal else line + "\n")
        self.stream.flush()
        self.width = len(line)
        self.next = now + (REDRAW_S if terminal else min(LINE_S, elapsed))

    def line(self, done: float, total: float, elapsed: float) -> str:
        """`runs: 12 of 40, 1.3 per second, 22 s left`, or `simulated 3.2 of 40 s, 1.6 s per second, 23 s left`."""
        if not self.what:
            return _simulated(done, total, elapsed)
        head = f"{self.what}: {int(done)} of {'about ' if self.about else ''}{round(total)}, "
        if done <= min(FEW, total // 100):
            return head + f"{duration(elapsed)} so far"
        rate = done / elapsed
        pace = f"{rate:.1f} per second" if rate >= 1 else f"{_span(1 / rate)} each"
        return head + f"{pace}, {duration((total - done) / rate)} left"

    def _warn(self, done: float, total: float, elapsed: float) -> None:
        """Say once that a single run goes on for long, while there is time to think better of it."""
        if self.what or self.has_warned or elapsed < WARN_S or not done:
            return
        left = (total - done) / done * elapsed
        if left > LONG_S:
            self._clear()
            self.stream.write(
                f"this run takes about {duration(left)} more; Ctrl-C ends it, --set 'duration=…' makes it shorter\n"
            )
        self.has_warned = True

    def _clear(self) -> None:
        if self.width and self.stream.isatty():
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()
        self.width = 0


def _simulated(done: float, total: float, elapsed: float) -> str:
    head = f"simulated {done:.4g} of {total:.10g} s, "
    if not done:
        return head + f"{duration(elapsed)} so far"
    return head + f"{done / elapsed:.2g} s per second, {duration((total - done) / done * elapsed)} left"


def _span(seconds: float) -> str:
    """A time that something takes, with a digit after the point if it is short."""
    return f"{seconds:.1f} s" if seconds < 60 else duration(seconds)


def duration(seconds: float) -> str:
    """A time to wait, as people say it."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 48 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86400} days"
