"""Pushout and htsim on workload W6: a permutation of files of 1 MB on fat-trees, in turn.

    .venv/bin/python benchmarks/htsim/fat_tree.py SOURCE [--hosts 128,1024] [--reps 5] [--out FILE]

SOURCE is a clone of https://github.com/Broadcom/csg-htsim, of which this compiles the library; fat_tree.cc is the
scenario there. Both times are processor times of the event loop, and the least of all turns counts. What htsim models
differently:

* Its sinks acknowledge every segment, ours every second one, so it has more hops; the ratio compares times of a hop.
* A packet that is lost counts there as if it had gone its whole way.
* Timers of retransmission are looked at every millisecond, and a timeout is 250 ms at first.
* Its hosts have a buffer of 1000 packets and serve flows in turn; ours have no limit.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from features import Base, Run, run_of

from pushout.bench.machine import machine
from pushout.records import recorded
from pushout.shipped import BENCHMARKS

HERE = Path(__file__).parent
FILE_BYTES, BUFFER_BYTES, SPREAD_US, DURATION_S = 1_000_000, 96_000, 20, 0.02
"""As in benchmarks/w6.toml."""

PARTS = ("fat_tree_topology.cpp", "fat_tree_switch.cpp", "firstfit.cpp", "connection_matrix.cpp")
"""Sources of the data centre that the library does not hold."""

RADIX = {16: 4, 128: 8, 1024: 16, 8192: 32}
"""Ports of a switch, by hosts of the tree."""


def compiled(source: Path, folder: Path) -> Path:
    """Compile htsim's library in its clone, and the scenario in `folder`."""
    simulator, program = source / "sim", folder / "fat_tree"
    flags = ["-std=c++11", "-O3", "-w"]
    _run(["make", "-C", str(simulator), f"CFLAGS={' '.join(flags)}", "libhtsim.a"])
    center = simulator / "datacenter"
    parts = [str(HERE / "fat_tree.cc"), *(str(center / part) for part in PARTS)]
    where = [f"-I{simulator}", f"-I{center}"]
    _run(["g++", *flags, *where, *parts, str(simulator / "libhtsim.a"), "-o", str(program)])
    return program


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"{command[0]} must succeed:\n{done.stderr[-2000:]}")
    return done.stderr


def theirs(program: Path, hosts: int) -> dict[str, Any]:
    """Run htsim once."""
    arguments = (hosts, DURATION_S * 1e3, FILE_BYTES, BUFFER_BYTES, SPREAD_US)
    sample: dict[str, Any] = json.loads(_run([str(program), *map(str, arguments)]).splitlines()[-1])
    return sample


def compared(program: Path, hosts: int, reps: int) -> dict[str, Any]:
    """Run both in turn, and return the least time of each."""
    ours: Run = run_of(Base(BENCHMARKS / "w6.toml", DURATION_S, (f"topology.radix={RADIX[hosts]}",)), 1, "fast")
    samples = []
    for _ in range(reps):
        ours.measure()
        samples.append(theirs(program, hosts))
    htsim = min(samples, key=lambda sample: sample["cpu_s"])
    hop_ns = 1e9 * htsim["cpu_s"] / htsim["packet_hops"]
    return {
        "hosts": hosts,
        "pushout": {"cpu_s": ours.loop_s, "packet_hops": ours.hops, "hop_ns": ours.hop_ns},
        "htsim": {**htsim, "hop_ns": hop_ns},
        "ratio": hop_ns / ours.hop_ns,
    }


def main() -> None:
    """Compile, measure and print a line for each tree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source", type=Path, help="a clone of csg-htsim")
    parser.add_argument("--hosts", default="128,1024", help=f"sizes of the tree, of {', '.join(map(str, RADIX))}")
    parser.add_argument("--reps", type=int, default=5, help="turns (default: 5)")
    parser.add_argument("--out", type=Path, help="the file of the figures")
    given = parser.parse_args()
    described = machine()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(given.source, Path(folder))
        cases = [compared(program, int(hosts), given.reps) for hosts in given.hosts.split(",")]
    for case in cases:
        ours, other = case["pushout"], case["htsim"]
        print(
            f"{case['hosts']} hosts: ours {ours['hop_ns']:.1f} ns a hop ({ours['cpu_s']:.3f} s), "
            f"htsim {other['hop_ns']:.0f} ns ({other['cpu_s']:.3f} s, {other['finished']} files finished): "
            f"{case['ratio']:.1f} times"
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
