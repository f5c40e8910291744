"""Install a wheel in a clean environment away from the clone, and take the tour there: the commands of its page.

Usage: tour.py WHEEL

The environment has Python alone: no extras, no compiler, no clone. What is not said to fail must not.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent

BASE_LIMIT = 210_000_000
"""What the wheel and its dependencies may add (bytes) to an empty environment."""

FAILS = re.compile(r"# fails")
"""What the page says of a command that is to fail."""

EXTRAS = ("duckdb", "optuna", "pandas", "polars", "pyarrow", "ray")

SHORTER = {"pushout reproduce 000": "pushout reproduce 000 --reps 2"}
"""What is done less often here than the page does it."""

FAILURE, BAD_SCENARIO = 1, 3
NEEDS_AN_EXTRA = "run lan --set 'duration=50 ms' --trace parquet --out traced"


class Clean:
    """An environment with an interpreter, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.bin = folder / "venv" / "bin"
        self.start = time.monotonic()
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)  # noqa: S603

    def run(self, line: str) -> int:
        """Run a line of shell; the exit code."""
        environment = {"PATH": str(self.bin), "HOME": str(self.home), "LANG": "C.UTF-8", "MPLBACKEND": "agg"}
        began = time.monotonic()
        done = subprocess.run(["/bin/sh", "-c", line], cwd=self.home, env=environment, capture_output=True, text=True)  # noqa: S603
        print(f"{time.monotonic() - began:6.1f} s  {line}", flush=True)
        if done.returncode:
            print(done.stdout + done.stderr)
        return done.returncode

    def must(self, line: str) -> None:
        """Run a line that has to succeed."""
        if code := self.run(line):
            sys.exit(f"tour: exit code {code}: {line}")

    def python(self, script: str) -> None:
        """Run a script, which has to succeed."""
        (self.home / "script.py").write_text(script, encoding="utf-8")
        self.must("python script.py")

    def size(self) -> int:
        """The bytes of everything that is installed."""
        return sum(
            file.stat().st_size for file in self.bin.parent.rglob("*") if file.is_file() and not file.is_symlink()
        )


def main(wheel: Path) -> None:
    """Install and take the tour."""
    with tempfile.TemporaryDirectory(prefix="pushout-tour-") as folder:
        clean = Clean(Path(folder))
        install(clean, wheel)
        clean.must("pushout plot lan --set 'duration=2 s' --out first.png")
        clean.must("test -s first.png")
        print(f"{time.monotonic() - clean.start:6.1f} s  from nothing to the first picture")
        for line in commands():
            if FAILS.search(line):
                _demand(clean.run(line) == BAD_SCENARIO, f"the page says that this fails: {line}")
            else:
                clean.must(line)
        clean.must("test -s results/sweep-small/rows.csv && test -s lan.png && test -s lan.html")
        _demand(clean.run(f"pushout {NEEDS_AN_EXTRA}") == FAILURE, "a command that needs an extra says so")
        clean.python(notebook())
    print("tour: done")


def install(clean: Clean, wheel: Path) -> None:
    """Install the wheel with what it depends on, which is little."""
    empty = clean.size()
    environment = {**os.environ, "PATH": f"{clean.bin}:{os.environ['PATH']}"}
    command = [
        clean.bin / "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        wheel.resolve(),
    ]
    subprocess.run(command, check=True, env=environment)  # noqa: S603
    added = clean.size() - empty
    print(f"the wheel and its dependencies: {added / 1e6:.0f} MB")
    _demand(added <= BASE_LIMIT, f"the dependencies take more than {BASE_LIMIT / 1e6:.0f} MB")
    listed = json.loads(subprocess.check_output([clean.bin / "pip", "list", "--format", "json"]))  # noqa: S603
    _demand(not {each["name"] for each in listed} & set(EXTRAS), "an extra is a dependency")


def commands() -> list[str]:
    """The commands of the tour, and those of the README that need no file of a reader."""
    page = (ROOT / "docs" / "how-to" / "tour.md").read_text(encoding="utf-8")
    (block, *_) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    readme = re.findall(r"^pushout (?:sweep|compare|list) .*$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    block += "\n".join(line for line in readme if ".py" not in line)
    for given, shorter in SHORTER.items():
        block = block.replace(given, shorter)
    return [line for line in block.splitlines() if line.startswith("pushout ")]


def notebook() -> str:
    """The cells of the tutorial, as one script."""
    cells = re.findall(r"```\{code-cell\}\n(.*?)```", (ROOT / "docs" / "tutorial.md").read_text("utf-8"), re.DOTALL)
    return "\n".join(re.sub(r"\A---\n.*?\n---\n|^:.*\n", "", cell, flags=re.DOTALL) for cell in cells)


def _demand(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"tour: {what}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
