"""Count the simulator's instructions for some short workloads, and compare the counts with those of earlier commits.

    make instructions                # append a line to benchmarks/history.jsonl
    make instructions ARGS=--check   # compare with the last line and write nothing

Times depend on the machine and on its load. The instructions that valgrind counts depend on the program, its compiler
and the C library, so a change of 1 % is visible without an idle machine: two measurements of one program differ by
less than 0.001 %. Lines of the history are from Debian 12. The program under valgrind is the simulator without
Python, compiled as `make setup` compiles it; the counts include reading the scenario and writing the result.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pushout.bench.workloads import WORKLOADS
from pushout.shipped import BENCHMARKS

ROOT = Path(__file__).parent.parent
HISTORY = ROOT / "benchmarks" / "history.jsonl"
"""A line for each measurement, the latest at the end."""

FABRIC = BENCHMARKS / "leaf-spine.toml"

LIMIT = 1
"""A comparison fails beyond this change in percent, in either direction: a gain must not vanish unseen."""


def paused(limit: str) -> tuple[str, ...]:
    """Override the ports by memories that stop the senders of a line which takes more than this."""
    return (
        'port.default={memory="chip"}',
        'memory.chip={size="1.25 MB", cell="1 byte", pool.lossless={side="ingress"}}',
        f'queue.all={{pause={{xoff="20000 cells", xon="15000 cells"}}, limit="{limit}"}}',
        'flows.queue="all"',
    )


JUDGED = tuple(f'port.{port}.admission={{policy="codel"}}' for port in ('"host.back"', "fabric", '"fabric.back"'))
OCCAMY = (
    'port.default={memory="chip"}',
    'memory.chip={size="1.25 MB", cell="1 byte", admission={policy="occamy"}}',
)
LONGEST = (
    'port.default={memory="chip"}',
    'memory.chip={size="1.25 MB", cell="1 byte", pushout={policy="longest-queue"}}',
)
GCRA = 'flows.police={kind="gcra", rate="100 Mb/s", tolerance="1 ms", action="drop"}'


@dataclass(frozen=True)
class Counted:
    """A scenario, and the overrides that make it short."""

    path: Path
    sets: tuple[str, ...]

    @staticmethod
    def of(workload: str, *sets: str) -> "Counted":
        """Shorten a workload of the benchmarks."""
        return Counted(WORKLOADS[workload].path, (*WORKLOADS[workload].sets, *sets))

    def request(self) -> str:
        """Return the request that runs it."""
        text = self.path.read_text(encoding="utf-8")
        return json.dumps({"do": "run", "text": text, "name": self.path.name, "sets": self.sets})


COUNTED = {
    "W1-packet": Counted.of("W1-packet", "duration=4 s"),
    "W1-cell": Counted.of("W1-cell", "duration=2 s"),
    "W2": Counted.of("W2", "duration=2 s"),
    "W3-100": Counted.of("W3-100", "duration=1 s"),
    "W3-1000": Counted.of("W3-1000", "duration=200 ms"),
    "W3-100-memory": Counted.of("W3-100-memory", "duration=500 ms"),
    "W3-100-codel": Counted.of("W3-100-codel", "duration=500 ms"),
    "W6-128": Counted.of("W6-128", "duration=1 ms"),
    "policed": Counted.of("W3-100", GCRA, "duration=500 ms"),
    "PFC-fabric": Counted(FABRIC, (*paused("10000 cells"), "duration=1 ms")),
    "PFC-quiet": Counted(FABRIC, (*paused("120000 cells"), 'flows.transport.window="24 KiB"', "duration=500 us")),
    "codel-fabric": Counted(FABRIC, (*JUDGED, "duration=500 us")),
    "lqd-fabric": Counted(FABRIC, (*LONGEST, "duration=500 us")),
    "occamy-fabric": Counted(FABRIC, (*OCCAMY, "duration=500 us")),
}
"""Packets, cells, single cells, many flows, a memory, a port that judges every packet, a fabric, a policer, pauses,
pauses that never come, and fabrics of ports that judge every packet, of memories that push packets out and of some
that expel them."""


def count(request: str, program: Path) -> int:
    """Return the instructions that a request takes from the start of the program to its end."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", str(program)]
        done = subprocess.run(command, input=request, capture_output=True, text=True, check=True)  # noqa: S603
        if done.stdout.startswith('{"error"'):
            raise SystemExit(done.stdout.strip())
        return collected(out.read_text(encoding="utf-8"))


def collected(profile: str) -> int:
    """Read the number of instructions from a profile that callgrind wrote."""
    total = re.search(r"^summary: (\d+)$", profile, re.MULTILINE)
    if total is None:
        raise SystemExit("callgrind must write a summary of its counts, and wrote none")
    return int(total[1])


def measurement(program: Path) -> dict[str, Any]:
    """Measure all workloads; the commit ends in -dirty if files were changed after it."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        counts = threads.map(lambda counted: count(counted.request(), program), COUNTED.values())
        return {
            "commit": _said("git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty"),
            "compiler": _said("rustc", "--version"),
            "instructions": dict(zip(COUNTED, counts, strict=True)),
        }


def _said(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout.strip()


def growth(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, float]:
    """Return the growth in percent of each workload that both measurements have."""
    old, new = before["instructions"], now["instructions"]
    return {name: 100 * (new[name] - old[name]) / old[name] for name in new if name in old}


def problems(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Name every workload whose count changed by over 1 %, or that is no longer measured."""
    gone = sorted(before["instructions"].keys() - now["instructions"].keys())
    missing = [f"{name}: must be measured, as in {before['commit']}" for name in gone]
    if before["compiler"] != now["compiler"]:
        versions = f"{before['compiler']}, not by {now['compiler']}"
        return [*missing, f"the simulator must be compiled by {versions}; else append a line (make instructions)"]
    return missing + [
        f"{name}: instructions must stay within {LIMIT} % of {before['commit']}, not change by {percent:+.2f} %; "
        "if the change is meant, append a line (make instructions) and give the reason in the commit"
        for name, percent in growth(before, now).items()
        if abs(percent) > LIMIT
    ]


def last(history: Path) -> dict[str, Any] | None:
    """Read the latest measurement, if there is one."""
    lines = history.read_text(encoding="utf-8").splitlines() if history.is_file() else []
    return json.loads(lines[-1]) if lines else None


def main() -> None:
    """Measure; then append a line, or compare with the last one."""
    parser = argparse.ArgumentParser(description="Count the simulator's instructions for some workloads.")
    parser.add_argument("program", type=Path, help="the simulator that answers requests: examples/answer of crates/web")
    parser.add_argument("--check", action="store_true", help="compare with the last line and write nothing")
    chosen = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("valgrind must be installed to count instructions (Debian, Ubuntu: apt install valgrind)")
    before, now = last(HISTORY), measurement(chosen.program)
    grown = growth(before, now) if before else {}
    for name, instructions in now["instructions"].items():
        print(f"{name:14} {instructions:15,}" + (f" {grown[name]:+.2f} %" if name in grown else ""))
    if not chosen.check:
        with HISTORY.open("a", encoding="utf-8") as file:
            file.write(json.dumps(now) + "\n")
    elif before is None:
        sys.exit(f"{HISTORY.relative_to(ROOT)}: must have a measurement to compare with: make instructions")
    elif found := problems(before, now):
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
