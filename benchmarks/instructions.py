"""Count the simulator's instructions for some workloads, and compare the counts with those of earlier commits.

    make instructions                # append a line to benchmarks/history.jsonl
    make instructions ARGS=--check   # compare with the last line and write nothing

Times depend on the machine and on its load. The instructions that valgrind counts depend on the program and on its
compiler, so a change of 2 % is visible without an idle machine: two measurements of one program differ by less than
0.001 %. The program under valgrind is the simulator without Python and without a profile; the counts include reading
the scenario and writing the result.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pushout.bench.workloads import WORKLOADS, Workload

ROOT = Path(__file__).parent.parent
HISTORY = ROOT / "benchmarks" / "history.jsonl"
"""A line for each measurement, the latest at the end."""

COUNTED = ("W1-packet", "W1-cell", "W2", "W3-100", "W3-100-memory", "W3-100-codel", "W6-128")
"""Packets, cells, periodic sources, many flows, a memory, a port that is asked and a fabric: most of the engine."""

LIMIT = 2
"""A comparison fails beyond this growth in percent."""


def count(workload: Workload, program: Path) -> int:
    """Return the instructions that a workload takes from the start of the program to its end."""
    text = workload.path.read_text(encoding="utf-8")
    request = {"do": "run", "text": text, "name": workload.path.name, "sets": workload.sets}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", str(program)]
        done = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, check=True)  # noqa: S603
        if done.stdout.startswith('{"error"'):
            raise SystemExit(f"{workload.id}: {done.stdout.strip()}")
        return collected(out.read_text(encoding="utf-8"))


def collected(profile: str) -> int:
    """Read the number of instructions from a profile that callgrind wrote."""
    total = re.search(r"^summary: (\d+)$", profile, re.MULTILINE)
    if total is None:
        raise SystemExit("callgrind must write a summary of its counts, and wrote none")
    return int(total[1])


def measurement(program: Path) -> dict[str, Any]:
    """Measure all workloads; the commit ends in -dirty if files were changed after it."""
    return {
        "commit": _said("git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty"),
        "compiler": _said("rustc", "--version"),
        "instructions": {name: count(WORKLOADS[name], program) for name in COUNTED},
    }


def _said(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout.strip()


def growth(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, float]:
    """Return the growth in percent of each workload that both measurements have."""
    old, new = before["instructions"], now["instructions"]
    return {name: 100 * (new[name] - old[name]) / old[name] for name in new if name in old}


def problems(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Name every workload that takes over 2 % more instructions than before, or that is no longer measured."""
    gone = sorted(before["instructions"].keys() - now["instructions"].keys())
    compilers = sorted({before["compiler"], now["compiler"]})
    by = f"; compilers: {' and '.join(compilers)}" if len(compilers) > 1 else ""
    return [f"{name}: must be measured, as in {before['commit']}" for name in gone] + [
        f"{name}: instructions must grow by at most {LIMIT} % after {before['commit']}, not by {percent:.2f} %{by}; "
        "make them fewer, or append a line (make instructions) and give the reason in the commit"
        for name, percent in growth(before, now).items()
        if percent > LIMIT
    ]


def last(history: Path) -> dict[str, Any] | None:
    """Read the latest measurement, if there is one."""
    lines = history.read_text(encoding="utf-8").splitlines() if history.is_file() else []
    return json.loads(lines[-1]) if lines else None


def main() -> None:
    """Measure; then append a line, or compare with the last one."""
    parser = argparse.ArgumentParser(description="Count the simulator's instructions for some workloads.")
    parser.add_argument(
        "program", type=Path, help="the simulator that answers requests: target/release/examples/answer"
    )
    parser.add_argument("--check", action="store_true", help="compare with the last line and write nothing")
    chosen = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("valgrind must be installed to count instructions (Debian, Ubuntu: apt install valgrind)")
    before, now = last(HISTORY), measurement(chosen.program)
    grown = growth(before, now) if before else {}
    for name, instructions in now["instructions"].items():
        print(f"{name:10} {instructions:15,}" + (f" {grown[name]:+.2f} %" if name in grown else ""))
    if not chosen.check:
        with HISTORY.open("a", encoding="utf-8") as file:
            file.write(json.dumps(now) + "\n")
    elif before is None:
        sys.exit(f"{HISTORY.relative_to(ROOT)}: must have a measurement to compare with: make instructions")
    elif found := problems(before, now):
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
