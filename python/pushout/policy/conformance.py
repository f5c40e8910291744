"""Requirements on every policy, tested at a port of cells and at one of packets."""

from collections.abc import Iterator
from typing import Any

from pushout.policy.attributes import WITHIN_FRAMES
from pushout.policy.program import Program

NETWORKS = {"cells": "w1-cell", "packets": "w1-packet"}
"""Shipped scenarios, of which the port is `bottleneck`."""

SHORT = {"duration": "0.4 s", "warmup": "0 s", "flows.start_spread": "20 ms"}

SEEDS = (1, 2)


def faults(program: Program) -> Iterator[str]:
    """Try a policy: every unit must be accounted for, and both engines must give the same, as must a second run."""
    for medium, scenario in NETWORKS.items():
        for seed in SEEDS:
            reference = _run(scenario, program, seed, "reference")
            if failures := reference["audit"]["failures"]:
                yield f"at a port of {medium} the books do not balance: {failures[0]}"
            for engine in ("fast", "fast"):
                if _without_engine(_run(scenario, program, seed, engine)) != _without_engine(reference):
                    yield f"at a port of {medium} the engines differ with seed {seed}; please report this"


def _run(scenario: str, program: Program, seed: int, engine: Any) -> dict[str, Any]:
    from pushout import api

    sets = {**SHORT, **({"port.bottleneck.scheduler.policy": "round-robin"} if program.kind == "pushout" else {})}
    result = api.run(scenario, policies={"bottleneck": program}, set=sets, seed=seed, engine=engine, audit=True)
    return dict(result.document)


def _without_engine(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in ("engine", "audit")}


def advice(program: Program) -> str | None:
    """Advise to run a policy once a frame, if it reads nothing that differs within a frame."""
    lines = [line for code in program.instructions().values() for line in code]
    looks = any(f"x.{name}" in line for line in lines for name in WITHIN_FRAMES)
    kept = any(program.get(key) for key in ("state", "per_vc", "per_queue"))
    keeps = kept or any(line.endswith("= draw") for line in lines)
    if program.kind != "admission" or program["asks"] == "frame" or looks or keeps:
        return None
    return 'it keeps no state and looks at nothing within a frame: asks="frame" decides once a frame, and is faster'
