"""Run a long command and show a line of progress in place of its output, which is printed only if the command fails.

Usage: progress.py LABEL PATTERN TOTAL COMMAND…

Of the lines that the command prints, TOTAL are expected to match PATTERN, such as cargo's "Compiling"; 0 expects none.
"""

import re
import subprocess
import sys
import threading
import time

SECONDS, QUIET_SECONDS = 1, 60
"""How often the line is renewed on a terminal, and how often one is added where there is none."""


class Progress:
    """What a command has printed, and how long it has been at work."""

    def __init__(self, label: str, pattern: str, total: int) -> None:
        self.label, self.pattern, self.total = label, re.compile(pattern), total
        self.lines: list[str] = []
        self.start = time.monotonic()

    def read(self, process: "subprocess.Popen[str]") -> None:
        """Keep everything that the command prints."""
        assert process.stdout is not None  # noqa: S101
        self.lines.extend(process.stdout)

    def far(self) -> str:
        """How far it is."""
        done = sum(self.pattern.search(line) is not None for line in self.lines)
        return f"{min(done, self.total)} of {self.total}, " if self.total else ""

    def time(self) -> str:
        """How long it has taken."""
        minutes, seconds = divmod(int(time.monotonic() - self.start), 60)
        return f"{minutes}:{seconds:02}"

    def tell(self, what: str) -> None:
        """Show what there is to say, in the place of the line before on a terminal."""
        text = f"{self.label}: {what}{self.time()}"
        sys.stderr.write(f"\r\033[K{text}" if sys.stderr.isatty() else f"{text}\n")
        sys.stderr.flush()


def main(label: str, pattern: str, total: str, *command: str) -> int:
    """Run the command; its exit code."""
    progress = Progress(label, pattern, int(total))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:  # noqa: S603
        reader = threading.Thread(target=progress.read, args=(process,))
        progress.tell(progress.far())
        reader.start()
        while reader.join(SECONDS if sys.stderr.isatty() else QUIET_SECONDS) or reader.is_alive():
            progress.tell(progress.far())
    if process.returncode:
        progress.tell(f"failed with exit code {process.returncode} after ")
        sys.stderr.writelines(["\n", *progress.lines])
        return process.returncode
    progress.tell("done in ")
    sys.stderr.write("\n" if sys.stderr.isatty() else "")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
