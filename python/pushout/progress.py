"""Progress, only for work of more than two seconds, with rate and time left: a line on standard error, or a bar."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, TextIO

PATIENCE_S = 2.0
REDRAW_S = 0.2
"""Seconds between updates of the one line on a terminal …"""
LINE_S = 10.0
"""… and at most between lines in a log, where the first come after 2, 4 and 8 seconds."""
FEW = 10
"""Fewest runs done before the time left is estimated, of a hundred times as many or more."""
KNOWN = 0.15
"""Share of an estimated total that is done before the time left is estimated: until then the total is a guess."""
WARN_S, LONG_S = 5.0, 60.0
"""Seconds after which a single run gets a warning, if at least as much time remains."""


class Progress:
    """Show progress: call it with (done, total); leaving the `with` block clears the line.

    Without a word for the things counted, these are the simulated seconds of a single run. With `about`, the total is
    an estimate.
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
        """Report progress; cheap, so it can be called often."""
        now = time.monotonic()
        if now < self.next or done == total:
            return
        elapsed = now - self.start
        self._warn(done, total, elapsed)
        line = self.line(done, total, elapsed)
        terminal = self.stream.isatty()
        if terminal:  # the line that is overwritten must not wrap
            from shutil import get_terminal_size

            line = line[: get_terminal_size().columns - 1]
        self.stream.write("\r" + line.ljust(self.width) if terminal else line + "\n")
        self.stream.flush()
        self.width = len(line)
        self.next = now + (REDRAW_S if terminal else min(LINE_S, elapsed))

    def line(self, done: float, total: float, elapsed: float) -> str:
        """Write `runs: 12 of 40, 1.3 per second, 22 s left` or `simulated 3.2 of 40 s, 1.6 s per second, 23 s left`."""
        if not self.what:
            return _simulated(done, total, elapsed)
        head = f"{self.what}: {int(done)} of {'about ' if self.about else ''}{round(total)}, "
        if done < 1 or done <= min(FEW, total // 100) or (self.about and done < KNOWN * total):
            return head + f"{duration(elapsed)} so far"
        rate = done / elapsed
        pace = f"{rate:.1f} per second" if rate >= 1 else f"{_span(1 / rate)} each"
        return head + f"{pace}, {duration((total - done) / rate)} left"

    def _warn(self, done: float, total: float, elapsed: float) -> None:
        """Warn once that a single run takes long, while it is worth interrupting."""
        if self.what or self.has_warned or elapsed < WARN_S or not done:
            return
        left = (total - done) / done * elapsed
        if left > LONG_S:
            self._clear()
            self.stream.write(
                f"this run takes about {duration(left)} more; Ctrl-C ends it, --set 'duration=…' shortens it\n"
            )
        self.has_warned = True

    def _clear(self) -> None:
        if self.width and self.stream.isatty():
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()
        self.width = 0


class Bar:
    """Show progress in a notebook: a bar with the words of the line, which the end of the work removes."""

    def __init__(self, what: str) -> None:
        self._words = Progress(what)
        self._next = self._words.start + PATIENCE_S
        self._shown: Any = None

    def __call__(self, done: float, total: float) -> None:
        """Report progress; cheap, so it can be called often."""
        now = time.monotonic()
        if now < self._next or done == total:
            return
        line = escape(self._words.line(done, total, now - self._words.start))
        self._show(f'<progress value="{done:g}" max="{total:g}"></progress> {line}')
        self._next = now + REDRAW_S

    def close(self) -> None:
        """Remove the bar."""
        if self._shown is not None:
            self._show("")

    def _show(self, text: str) -> None:
        from IPython import display

        notebook: Any = display  # its functions have no types
        if self._shown is None:
            self._shown = notebook.display(notebook.HTML(text), display_id=True)
        else:
            self._shown.update(notebook.HTML(text))


Told = Callable[[float, float], None]
"""A function that receives what is done and the total."""


@contextmanager
def shown(given: Told | None, what: str = "runs") -> Iterator[Told | None]:
    """Yield the caller's own progress, or in a notebook a bar; elsewhere functions show nothing by themselves."""
    if given is not None or not in_notebook():
        yield given
        return
    bar = Bar(what)
    try:
        yield bar
    finally:
        bar.close()


def in_notebook() -> bool:
    """Return whether the process is the kernel of a notebook."""
    running = sys.modules.get("IPython")
    shell: object = running.get_ipython() if running else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def _simulated(done: float, total: float, elapsed: float) -> str:
    head = f"simulated {done:.4g} of {total:.10g} s, "
    if not done:
        return head + f"{duration(elapsed)} so far"
    rate = done / elapsed
    return (
        head + f"{rate:{'.0f' if rate >= 10 else '.2g'}} s per second, {duration((total - done) / done * elapsed)} left"
    )


def _span(seconds: float) -> str:
    """Write a duration, with one decimal if it is short."""
    return f"{seconds:.1f} s" if seconds < 60 else duration(seconds)


def duration(seconds: float) -> str:
    """Write a time to wait in seconds, minutes, hours or days."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 48 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86400} days"
