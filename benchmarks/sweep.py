"""What a run of a sweep costs beyond its simulation: 2000 runs of 0.1 simulated seconds of the local network.

    .venv/bin/python benchmarks/sweep.py [--reps N] [--duration "0.1 s"] [--json]

The same number of runs as replications of one point, of 200 points and of 2000, each into a new folder. Two measures:

* by the clock, for an idle machine: (threads × wall − Σ `wall_s`) / runs, and the share of it that is simulation;
* by processor time, which other work on the machine disturbs less: all that the process took, less what the threads
  took that simulate (Linux only). What these do beside the event loop, some 10 µs to copy a scenario and to write
  figures down, is only in the first.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pushout.options import Kept
from pushout.question.design import design
from pushout.question.session import Session
from pushout.question.sweep import sweep
from pushout.simulate import cores

LAN = Path(__file__).parent.parent / "scenarios" / "lan.toml"
SHAPES = {"1 × 2000": (1, 2000), "200 × 10": (200, 10), "2000 × 1": (2000, 1)}
"""Points and replications."""
SIMULATES = "pushout"
"""The name of the threads that simulate."""


def simulating_s() -> float:
    """Processor time of the threads that simulate, as the scheduler of Linux counts it."""
    tasks = [task for task in Path("/proc/self/task").iterdir() if (task / "comm").read_text().strip() == SIMULATES]
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def measure(points: int, reps: int, duration: str) -> dict[str, float]:
    """One sweep."""
    buffers = [f"{8000 + point} cells" for point in range(points)]
    table = {"scenario": str(LAN), "set": [f"duration={duration}"], "reps": reps}
    with tempfile.TemporaryDirectory() as folder:
        before, start = time.process_time(), time.perf_counter()
        plan = design({**table, "grid": {"port.bottleneck.buffer": buffers}})
        with Session.open(Kept(out=folder)) as session:
            result = sweep(plan, session)
            wall, cpu = time.perf_counter() - start, time.process_time() - before
            simulating = simulating_s()
    loops = sum(result.table["wall_s"].to_pylist())
    runs = result.table.num_rows
    return {
        "wall_s": wall,
        "busy_share": loops / (cores() * wall),
        "overhead_us": (cores() * wall - loops) / runs * 1e6,
        "overhead_cpu_us": (cpu - simulating) / runs * 1e6,
        "simulating_cpu_us": simulating / runs * 1e6,
    }


def main() -> None:
    """Measure every shape in turn, again and again, and print medians with the least and the most."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--duration", default="0.1 s")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    measure(2, 2, given.duration)  # loads whatever is loaded late
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in SHAPES}
    for _ in range(given.reps):
        for name, (points, reps) in SHAPES.items():
            taken[name].append(measure(points, reps, given.duration))
    found: dict[str, Any] = {name: summary(measured) for name, measured in taken.items()}
    if given.json:
        json.dump(found, sys.stdout, indent=2, ensure_ascii=False)
        return
    for name, figures in found.items():
        print(name)
        for key, value in figures.items():
            print(f"  {key:18} {value['median']:10.4g}   ({value['min']:.4g} to {value['max']:.4g})")


def summary(measured: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Median, least and most of each figure."""
    columns = {key: [each[key] for each in measured] for key in measured[0]}
    return {
        key: {"median": statistics.median(values), "min": min(values), "max": max(values)}
        for key, values in columns.items()
    }


if __name__ == "__main__":
    main()
