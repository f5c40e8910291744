"""Run a long command and show a line of progress in place of its output, which is printed only if the command fails.

    progress.py LABEL WORD TOTAL COMMAND…

The command is expected to print TOTAL lines with WORD, such as cargo's "Compiling"; 0 says that it prints none.
"""

import subprocess
import sys
import threading
import time

SECONDS, QUIET_SECONDS = 1, 60
"""How often the line is renewed on a terminal, and how often one is added where there is none."""


class Progress:
    """What a command has printed, and how long it has been at work."""

    def __init__(self, label: str, word: str, total: int) -> None:
        self.label, self.word, self.total = label, word, total
        self.lines: list[str] = []
        self.start = time.monotonic()

    def read(self, process: "subprocess.Popen[str]") -> None:
        """Keep everything that the command prints."""
        assert process.stdout is not None  # noqa: S101
        self.lines.extend(process.stdout)

    def line(self) -> str:
        """What is done, how far it is, and how long it has taken."""
        minutes, seconds = divmod(int(time.monotonic() - self.start), 60)
        done = min(sum(self.word in line for line in self.lines), self.total)
        return f"{self.label}{f': {done} of {self.total}' if self.total else ''}, {minutes}:{seconds:02}"


def main(label: str, word: str, total: str, *command: str) -> int:
    """Run the command; its exit code."""
    terminal = sys.stderr.isatty()
    progress = Progress(label, word, int(total))
    print(f"{label} …", file=sys.stderr, end="" if terminal else "\n", flush=True)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:  # noqa: S603
        reader = threading.Thread(target=progress.read, args=(process,))
        reader.start()
        while reader.is_alive():
            reader.join(SECONDS if terminal else QUIET_SECONDS)
            sys.stderr.write(f"\r\033[K{progress.line()}" if terminal else f"{progress.line()}\n")
            sys.stderr.flush()
    if terminal:
        print(file=sys.stderr)
    if process.returncode:
        sys.stderr.writelines(progress.lines)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
