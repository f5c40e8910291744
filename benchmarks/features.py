"""What each feature costs beside tail drop, and the fast engine beside the reference engine.

    .venv/bin/python benchmarks/features.py [--only PART,PART] [--reps N] [--scale X] [--json FILE]
    .venv/bin/python benchmarks/features.py --engines    # shipped scenarios, study cases and workloads instead

Everything runs in this process, in turn, and the least processor time of N turns counts, without that of a run of a
picosecond: reading, building and reporting. Ratios compare times of one run of this program, for each hop of a packet
or cell. `make performance` copies the table into docs/performance.md.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pushout import _core
from pushout.bench import programs
from pushout.bench.machine import machine
from pushout.bench.present import slower
from pushout.bench.present import table_of_features as table
from pushout.bench.workloads import FLOOR, WORKLOADS
from pushout.errors import PushoutError
from pushout.policy import overrides, published
from pushout.quantity import TIMES, split
from pushout.records import recorded
from pushout.shipped import BENCHMARKS, ROOT, SCENARIOS, listed
from pushout.simulate import Job
from pushout.source import load
from pushout.study.model import available
from pushout.study.model import load as study_named

EMPTY = "duration=1 ps"
"""Override of a run that is built and reported, and has no event."""

SHORT_S = 0.01
"""Processor time of a case with its own duration below which the engines are not compared."""


class Base(NamedTuple):
    """A workload with tail drop: its scenario, its duration, its overrides and the ports that a feature changes."""

    file: Path
    duration_s: float
    sets: tuple[str, ...] = ()
    ports: tuple[str, ...] = ("bottleneck",)


W3 = SCENARIOS / "w3-100.toml"
FABRIC_PORTS = ('"host.back"', "fabric", '"fabric.back"')

BASES = {
    "W3-100": Base(W3, 2),
    "leaf-spine 64": Base(BENCHMARKS / "leaf-spine.toml", 0.01, ports=FABRIC_PORTS),
    "leaf-spine 64, wide": Base(BENCHMARKS / "leaf-spine.toml", 0.01, ('port.default.buffer="1.25 MB"',), FABRIC_PORTS),
    "leaf-spine 64, small windows": Base(
        BENCHMARKS / "leaf-spine.toml", 0.01, ('flows.transport.window="24 KiB"',), FABRIC_PORTS
    ),
    "leaf-spine 128": Base(BENCHMARKS / "leaf-spine.toml", 0.005, ("topology.leaves=8",), FABRIC_PORTS),
    "W1-cell": Base(SCENARIOS / "w1-cell.toml", 4),
    "W2": Base(SCENARIOS / "mux-periodic.toml", 4),
    "Poisson cells": Base(SCENARIOS / "mux-poisson.toml", 4),
    **{f"W3-{flows}": Base(W3, 5, (f"topology.sources={flows}",)) for flows in (10, 1000, 10_000)},
    "fat-tree 128": Base(BENCHMARKS / "w6.toml", 0.02, ports=FABRIC_PORTS),
    "fat-tree 1024": Base(BENCHMARKS / "w6.toml", 0.02, ("topology.radix=16",)),
}


class Feature(NamedTuple):
    """A feature: its overrides of a base's ports (what follows the name) and of the rest, and its aims by base."""

    name: str
    group: str
    aims: dict[str, float]
    """The largest ratio to tail drop, for each base on which the feature is measured; 0 for none."""
    ports: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    beside: str = ""
    """The base to compare with, if it is another one."""
    aim_ns: float = 0
    """The largest time of a hop in ns, if there is an aim for it."""


PORT = {"W3-100": 1.6, "leaf-spine 64": 1.8}
FAIR = {"W3-100": 1.9, "leaf-spine 64": 2.1}
MEMORY = {"W3-100": 1.25, "leaf-spine 64": 2.1}
WHOLE_MEMORY = {"leaf-spine 64": 2.6}
PROGRAM = {"W3-100": 3.0}
CHIP = ('={memory="chip"}',)


def chip(more: str, size: str = "1.25 MB") -> tuple[str, ...]:
    """Override the memory that all ports of a switch share."""
    return (f'memory.chip={{size="{size}", cell="1 byte", {more}}}',)


def wide(more: str) -> tuple[str, ...]:
    """Override that memory by one which holds what wide buffers of its ports would."""
    return chip(more, "30 MB")


def admitted(policy: str) -> tuple[str, ...]:
    """Override the admission of ports."""
    return (f'.admission={{policy="{policy}"}}',)


def scheduled(policy: str) -> tuple[str, ...]:
    """Override the scheduler of ports."""
    return (f'.scheduler={{policy="{policy}"}}',)


def policed(probability: float) -> tuple[str, ...]:
    """Override the policer of every flow: it tags cells with this probability."""
    return (f'flows.police={{kind="random", probability={probability}}}',)


def written(program: Any) -> tuple[str, ...]:
    """Override the bottleneck by a program."""
    return tuple(overrides({"bottleneck": program}))


DT = 'admission={policy="dynamic-threshold", alpha=8.0}'
LONGEST = 'pushout={policy="longest-queue"}'
OCCAMY = 'admission={policy="occamy"}'
NEVER = 'loss=[{link="bottleneck", flow="flow1", packets=[1000000000]}]'
TAGS_READ = ('.admission={policy="tail-drop", clp_threshold="80 %"}',)
GILBERT = 'loss=[{link="bottleneck", gilbert={to_bad=0.0001, to_good=0.25}}]'


def paused(limit: str) -> tuple[str, ...]:
    """Override that memory by one which stops the senders of a line that takes more than this."""
    pause = 'pause={xoff="20000 cells", xon="15000 cells"}'
    return (
        *chip('pool.lossless={side="ingress"}'),
        f'queue.all={{{pause}, limit="{limit}"}}',
        'flows.queue="all"',
    )


NAMES = ("web", "bulk", "mail")
"""Classes of traffic: the first is served before the others, which share what it leaves by weights."""

OF_CLASSES = ", ".join(f'{{name="flow{number}", queue="{NAMES[number % 3]}"}}' for number in range(1, 65))
BY_CLASS = (
    "queue={web={}, bulk={weight=3.0}, mail={weight=2.0}}",
    f"flow=[{OF_CLASSES}]",
)
WEIGHTED = ('.scheduler={policy="strict-priority", queues="class", group={queues=["bulk", "mail"]}}',)

FEATURES = (
    Feature("CoDel", "port", PORT, admitted("codel")),
    Feature("PIE", "port", PORT, admitted("pie")),
    Feature("PI2", "port", PORT, admitted("pi2")),
    Feature("FQ-CoDel", "port", FAIR, ('.discipline="fq-codel"',)),
    Feature("FQ-PIE", "port", FAIR, ('.discipline="fq-pie"',)),
    Feature("DualPI2", "port", FAIR, ('.discipline="dualpi2"',)),
    Feature("RED", "port", PORT, admitted("red")),
    Feature("DRR", "port", PORT, scheduled("drr")),
    Feature("round robin", "port", PORT, scheduled("round-robin")),
    Feature("fair queue", "port", PORT, scheduled("fair-queue")),
    Feature("strict priority", "port", PORT, scheduled("strict-priority")),
    Feature("classes with weights", "port", {"W3-100": 2.0, "leaf-spine 64": 2.0}, WEIGHTED, BY_CLASS),
    Feature("complete sharing", "memory", MEMORY, CHIP, chip('admission={policy="complete-sharing"}')),
    Feature("dynamic threshold", "memory", MEMORY, CHIP, chip(DT)),
    Feature("ABM", "memory", MEMORY, CHIP, chip('admission={policy="abm"}')),
    Feature("longest queue", "memory", WHOLE_MEMORY, CHIP, chip(LONGEST)),
    Feature("Occamy", "memory", WHOLE_MEMORY, CHIP, chip(OCCAMY)),
    Feature("dynamic threshold, room for all", "memory", {"leaf-spine 64, wide": 1.6}, CHIP, wide(DT)),
    Feature("longest queue, room for all", "memory", {"leaf-spine 64, wide": 2.2}, CHIP, wide(LONGEST)),
    Feature("Occamy, room for all", "memory", {"leaf-spine 64, wide": 2.2}, CHIP, wide(OCCAMY)),
    Feature("PFC, greedy senders", "memory", {"leaf-spine 64": 0}, CHIP, paused("10000 cells")),
    Feature("PFC, nothing paused", "memory", {"leaf-spine 64, small windows": 2.5}, CHIP, paused("120000 cells")),
    Feature("PFC fabric 128", "fabric", {"leaf-spine 128": 0}, CHIP, paused("10000 cells")),
    Feature("CoDel", "fabric", {"fat-tree 128": 2.0}, admitted("codel")),
    Feature("dynamic threshold", "fabric", {"fat-tree 128": 2.2}, CHIP, chip(DT)),
    Feature("one loss that never acts", "loss", {"W3-100": 1.1}, sets=(NEVER,)),
    Feature("Gilbert losses", "loss", {"W3-100": 0}, sets=(GILBERT,)),
    Feature("SACK, nothing lost", "transport", {"W3-10": 1.15}, sets=("flows.transport.sack=true",)),
    Feature("pacing", "transport", {"W3-100": 1.5}, sets=("flows.transport.pacing=true",)),
    Feature("program EPD", "program", PROGRAM, sets=written(programs.epd(threshold="80 %"))),
    Feature("program round robin", "program", PROGRAM, sets=written(published.round_robin)),
    Feature("program PIE", "program", PROGRAM, sets=written(published.pie)),
    Feature("program CoDel", "program", PROGRAM, sets=written(published.codel)),
    Feature("program DRR", "program", PROGRAM, sets=written(published.drr)),
    Feature("periodic single cells", "cells", {"W2": 0}, beside="W1-cell"),
    Feature("Poisson single cells", "cells", {"Poisson cells": 0}, beside="W1-cell"),
    Feature("policer that never acts", "cells", {"W1-cell": 1.5, "W2": 0}, sets=policed(0)),
    Feature("policer that tags a tenth", "cells", {"W1-cell": 0, "W2": 0}, TAGS_READ, policed(0.1)),
    Feature("CoDel", "cells", {"W1-cell": 6}, admitted("codel")),
    Feature("drop from front", "cells", {"W1-cell": 6}, admitted("drop-from-front")),
    Feature("ATM-RED", "cells", {"W1-cell": 3}, admitted("atm-red")),
    Feature("FBA", "cells", {"W1-cell": 2}, admitted("fba")),
    Feature("100 flows", "flows", {"W3-100": 0}, beside="W3-10"),
    Feature("1 000 flows", "flows", {"W3-1000": 1.3}, beside="W3-10"),
    Feature("10 000 flows", "flows", {"W3-10000": 2}, beside="W3-10"),
    Feature("128 hosts", "fabric", {"fat-tree 128": 0}, beside="fat-tree 128"),
    Feature("1 024 hosts", "fabric", {"fat-tree 1024": 0}, beside="fat-tree 128", aim_ns=70),
)
"""One entry a line: what is measured, and its aim."""


@dataclass
class Run:
    """A scenario on one engine, and the least processor times found so far."""

    file: Path
    sets: tuple[str, ...]
    engine: str
    least_s: float = float("inf")
    empty_s: float = float("inf")
    hops: int = 0
    problem: str = ""
    _checked: list[_core.Scenario] = field(default_factory=list)

    def last(self, duration_s: float) -> None:
        """Check the scenario with this duration and without any, both without a warm-up, before it is measured."""
        whole = f"duration={round(duration_s * 1e9)} ns"
        try:
            source = load(self.file, allow_files=[ROOT])
            self._checked = [
                Job(source, (*self.sets, each, "warmup=0 s"), self.engine).scenario for each in (whole, EMPTY)
            ]
        except PushoutError as error:
            self.problem = str(error)

    def measure(self) -> None:
        """Run once more, and once without an event."""
        try:
            whole, empty = self._checked
            spent, self.hops = timed(whole)
            self.least_s, self.empty_s = min(self.least_s, spent), min(self.empty_s, timed(empty)[0])
        except PushoutError as error:
            self.problem = str(error)

    @property
    def loop_s(self) -> float:
        """Return the processor time without reading, building and reporting."""
        return max(self.least_s - self.empty_s, 0.0)

    @property
    def hop_ns(self) -> float:
        """Return the processor time of a hop; 0 if nothing was sent."""
        return self.loop_s * 1e9 / self.hops if self.hops else 0.0


def timed(scenario: _core.Scenario) -> tuple[float, int]:
    """Run a scenario in this thread; return its processor time and its hops."""
    start = time.thread_time()
    text = scenario.run(None, False, 1, _core.Reached())
    spent = time.thread_time() - start
    engine = json.loads(text)["engine"]
    return spent, engine["packet_hops"] or engine["cell_hops"]


def run_of(base: Base, scale: float, engine: str, feature: Feature | None = None) -> Run:
    """Make the run of a base, or of a feature on it."""
    ports = [f"port.{port}{each}" for port in base.ports for each in feature.ports] if feature else []
    sets = (*base.sets, *ports, *(feature.sets if feature else ()))
    run = Run(base.file, sets, engine)
    run.last(base.duration_s * scale)
    return run


class Compared(NamedTuple):
    """A feature on a base, the base, and the feature on the reference engine."""

    feature: Feature
    on: str
    fast: Run
    beside: Run
    reference: Run

    def row(self) -> dict[str, Any]:
        """Return the figures of one line of the table."""
        problem = self.fast.problem or self.beside.problem or self.reference.problem
        known = not problem and self.beside.hop_ns and self.reference.loop_s
        return {
            "group": self.feature.group,
            "feature": self.feature.name,
            "workload": self.on,
            "beside": self.feature.beside or f"{self.on}, tail drop",
            "hop_ns": self.fast.hop_ns if known else None,
            "ratio": self.fast.hop_ns / self.beside.hop_ns if known else None,
            "aim": self.feature.aims[self.on] or None,
            "aim_ns": self.feature.aim_ns or None,
            "engines": self.fast.loop_s / self.reference.loop_s if known else None,
            "problem": problem or None,
        }


def compared(features: Iterable[Feature], scale: float) -> list[Compared]:
    """Make the runs of features; a base that several are compared with runs once a turn."""
    bases = {name: run_of(base, scale, "fast") for name, base in BASES.items()}
    return [
        Compared(
            feature,
            on,
            run_of(BASES[on], scale, "fast", feature),
            bases[feature.beside or on],
            run_of(BASES[on], scale, "reference", feature),
        )
        for feature in features
        for on in feature.aims
    ]


def measured(features: Sequence[Feature], reps: int, scale: float) -> dict[str, Any]:
    """Measure features in turn, and return the document."""
    described, pairs = machine(), compared(features, scale)
    runs = list({id(run): run for pair in pairs for run in (pair.beside, pair.fast, pair.reference)}.values())
    in_turn(runs, reps)
    return {"machine": described, "reps": reps, "scale": scale, "features": [pair.row() for pair in pairs]}


def in_turn(runs: Sequence[Run], reps: int) -> None:
    """Measure every run once, then every run once more, and so on."""
    for turn in range(reps):
        for index, run in enumerate(runs):
            if not run.problem:
                run.measure()
            if sys.stderr.isatty():
                print(f"\r{turn * len(runs) + index + 1} of {reps * len(runs)} runs", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)


class Case(NamedTuple):
    """A shipped scenario, a case of a study or a workload: its name, its file and its overrides."""

    name: str
    file: Path
    sets: tuple[str, ...] = ()

    def explained(self) -> dict[str, Any]:
        """Return the scenario in full."""
        document: dict[str, Any] = json.loads(Job(load(self.file, allow_files=[ROOT]), self.sets).explain())
        return document


def cases() -> Iterator[Case]:
    """Yield every shipped scenario, every case of a study, and every workload that does not take minutes."""
    yield from (Case(each.name, each.file) for each in listed() if each.kind == "scenario")
    for name in available():
        runs = study_named(name).cases.values()
        yield from (Case(f"{name}: {case.id}", case.scenario, case.sets) for case in runs)
    for workload in WORKLOADS.values():
        if workload.id != FLOOR and not workload.is_long:
            yield Case(workload.id, workload.path, workload.sets)


def both_engines(chosen: Sequence[Case], reps: int, scale: float) -> list[dict[str, Any]]:
    """Compare fast with reference for every case of packets; runs of less than 10 ms on both engines are left out."""
    rows = []
    for index, case in enumerate(chosen):
        explained = case.explained()
        if explained["adaptation"]["kind"] != "packet":
            continue
        fast, reference = (Run(case.file, case.sets, engine) for engine in ("fast", "reference"))
        for run in (fast, reference):
            run.last(_seconds(explained["duration"]) * scale)
        in_turn([fast, reference], reps)
        if not (problem := fast.problem or reference.problem) and max(fast.loop_s, reference.loop_s) < SHORT_S * scale:
            continue
        spent = {"fast_s": None, "reference_s": None}
        ratio = None
        if not problem:
            spent = {"fast_s": fast.loop_s, "reference_s": reference.loop_s}
            ratio = fast.loop_s / reference.loop_s if reference.loop_s else None
        rows.append({"case": case.name, **spent, "ratio": ratio, "problem": problem or None})
        print(f"{index + 1} of {len(chosen)}  {case.name:60} {problem or f'{ratio or 0:.2f}'}", file=sys.stderr)
    return rows


def _seconds(duration: str) -> float:
    number, unit = split(duration)
    return number * TIMES[unit] / TIMES["s"]


def main() -> None:
    """Measure, print a table and write the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="parts of the names of features, groups or cases, with commas")
    parser.add_argument("--reps", type=int, default=5, help="turns (default: 5)")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of all durations (default: 1)")
    parser.add_argument("--engines", action="store_true", help="compare the engines on what is shipped")
    parser.add_argument("--json", type=Path, help="the file of the figures")
    given = parser.parse_args()
    parts = [part.strip().lower() for part in given.only.split(",") if part.strip()]
    if given.engines:
        chosen = [case for case in cases() if _is_chosen(parts, case.name)]
        document = {"machine": machine(), "engines": both_engines(chosen, given.reps, given.scale)}
        shown = slower(document)
    else:
        features = [each for each in FEATURES if _is_chosen(parts, each.group, each.name)]
        document = measured(features, given.reps, given.scale)
        shown = table(document)
    print(shown)
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(recorded(document), encoding="utf-8")


def _is_chosen(parts: Sequence[str], *names: str) -> bool:
    return not parts or any(part in name.lower() for part in parts for name in names)


if __name__ == "__main__":
    main()
