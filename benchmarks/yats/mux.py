"""Pushout and YATS on single cells through one multiplexer, in turn.

    .venv/bin/python benchmarks/yats/mux.py SOURCE [--reps 5] [--out FILE]

SOURCE is a clone of https://github.com/hleuwer/luayats, of which this compiles the kernel, two sources, a leaky bucket,
a multiplexer and a sink, outside the clone and without Lua; mux.cc is the scenario there. Both times are processor
times of the event loop, and the least of all turns counts. What YATS models differently:

* Its time is slotted: cells arrive, and leave, in whole cell times, and there are no lines.
* Its Poisson source sends at most one cell in a slot: gaps are geometric.
* A leaky bucket there loses the cells in excess, so the policer here has `action = "drop"`.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from features import Base, Run, run_of

import pushout
from pushout.bench.machine import machine
from pushout.records import recorded
from pushout.shipped import SCENARIOS

HERE = Path(__file__).parent
DURATION_S, SOURCES, BUFFER_CELLS = 10, 10, 3000
LINE_BPS, CELL_BITS = 155_520_000, 424
SLOTS = DURATION_S * LINE_BPS // CELL_BITS

PARTS = (
    *(f"kernel/{name}" for name in ("data", "deriv", "geo1", "in1out", "ino", "root", "sim")),
    *("misc/sink", "muxdmx/mux", "polshap/leakyb", "src/cbr", "src/geosrc"),
)
"""The sources of YATS that the scenario needs."""

FLAGS = ("-std=gnu++11", "-O3", "-w", "-fpermissive", "-DUSELUA", "-Dexport=export_")
"""`export` has become a keyword of C++; USELUA leaves out an older language of scripts."""


class Case(NamedTuple):
    """A workload: the scenario here with its overrides, and the arguments of the program there."""

    name: str
    file: str
    sets: tuple[str, ...]
    source: str
    gap: float
    increment: int = 0


def policed(gap: int) -> str:
    """Override the policer: one cell in `gap` cell times."""
    police = f'{{kind="gcra", rate="{LINE_BPS // gap} b/s", tolerance="20 us", action="drop"}}'
    return f"flows.police={police}"


GAP = 9
"""Cell times between two cells of a periodic source, so that ten of them overload the port."""

SPREAD_PS = GAP * CELL_BITS * 10**12 // LINE_BPS
PERIODIC = (f'flows.source.rate="{LINE_BPS // GAP} b/s"', f'flows.start_spread="{SPREAD_PS} ps"')

CASES = (
    Case("periodic cells, load 1.11", "mux-periodic.toml", PERIODIC, "cbr", GAP),
    Case("Poisson cells, load 0.8", "mux-poisson.toml", (), "geo", 12.5),
    Case("a policer that never acts", "mux-periodic.toml", (*PERIODIC, policed(GAP)), "cbr", GAP, GAP),
    Case("a policer that drops a tenth", "mux-periodic.toml", (*PERIODIC, policed(GAP + 1)), "cbr", GAP, GAP + 1),
)


def compiled(source: Path, folder: Path) -> Path:
    """Compile the parts of YATS and the scenario in `folder`."""
    folders = sorted({str(source / "src" / Path(part).parent) for part in PARTS})
    flags = [*FLAGS, *(f"-I{each}" for each in folders)]
    objects = [folder / f"{Path(part).name}.o" for part in PARTS]
    for part, made in zip(PARTS, objects, strict=True):
        _run(["g++", "-x", "c++", *flags, "-c", str(source / "src" / f"{part}.c"), "-o", str(made)])
    program = folder / "mux"
    _run(["g++", *flags, str(HERE / "mux.cc"), *map(str, objects), "-o", str(program)])
    return program


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"{command[0]} must succeed:\n{done.stderr[-2000:]}")
    return done.stdout


def theirs(program: Path, case: Case) -> dict[str, Any]:
    """Run YATS once."""
    numbers = (SOURCES, case.gap, SLOTS, BUFFER_CELLS, *([case.increment] if case.increment else []))
    sample: dict[str, Any] = json.loads(_run([str(program), case.source, *map(str, numbers)]))
    return sample


def sent(case: Case) -> int:
    """Count the cells that the sources send here."""
    document = pushout.run(SCENARIOS / case.file, set=[*case.sets, f"duration={DURATION_S} s", "warmup=0 s"])
    return sum(flow["segments_sent"] for flow in document["flows"])


def compared(program: Path, case: Case, reps: int) -> dict[str, Any]:
    """Run both in turn, and return the least time of each for a cell that is sent."""
    ours: Run = run_of(Base(SCENARIOS / case.file, DURATION_S, case.sets), 1, "fast")
    if ours.problem:
        raise SystemExit(ours.problem)
    samples = []
    for _ in range(reps):
        ours.measure()
        samples.append(theirs(program, case))
    yats, cells = min(samples, key=lambda sample: sample["cpu_s"]), sent(case)
    cell_ns = 1e9 * yats["cpu_s"] / yats["sent"]
    own_ns = 1e9 * ours.loop_s / cells
    return {
        "name": case.name,
        "pushout": {"cpu_s": ours.loop_s, "sent": cells, "cell_ns": own_ns},
        "yats": {**yats, "cell_ns": cell_ns},
        "ratio": cell_ns / own_ns,
    }


def main() -> None:
    """Compile, measure and print a line for each workload."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source", type=Path, help="a clone of luayats")
    parser.add_argument("--reps", type=int, default=5, help="turns (default: 5)")
    parser.add_argument("--out", type=Path, help="the file of the figures")
    given = parser.parse_args()
    described = machine()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(given.source, Path(folder))
        cases = [compared(program, case, given.reps) for case in CASES]
    for case in cases:
        ours, other = case["pushout"], case["yats"]
        print(
            f"{case['name']}: ours {ours['cell_ns']:.1f} ns a cell sent ({ours['cpu_s']:.3f} s), "
            f"YATS {other['cell_ns']:.1f} ns ({other['cpu_s']:.3f} s): {case['ratio']:.2f} times"
        )
    if given.out:
        document = {"machine": described, "commit": _commit(given.source), "reps": given.reps, "cases": cases}
        given.out.write_text(recorded(document), encoding="utf-8")


def _commit(source: Path) -> str | None:
    command = ["git", "-C", str(source), "rev-parse", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip() or None


if __name__ == "__main__":
    main()
