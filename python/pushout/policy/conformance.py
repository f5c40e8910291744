"""Requirements on every policy, tested at a port of cells and at one of packets, and in a shared memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pushout.errors import ScenarioError
from pushout.policy.attributes import WITHIN_FRAMES
from pushout.policy.program import Program, overrides
from pushout.simulate import Job
from pushout.source import load


@dataclass(frozen=True)
class Trial:
    """A shipped scenario in which a policy is tried, and the place that gets it."""

    where: str
    scenario: str
    place: str
    changes: dict[str, Any]

    @property
    def is_memory(self) -> bool:
        """Return whether the place is a memory."""
        return self.place.startswith("memory.")


SHORT = {"duration": "0.4 s", "warmup": "0 s", "flows.start_spread": "20 ms"}

CONTROLLED = (
    Trial("over a port of cells", "w1-cell", "flows", SHORT),
    Trial("over a port of packets", "w1-packet", "flows", SHORT),
)

TRIALS = (
    Trial("at a port of cells", "w1-cell", "bottleneck", SHORT),
    Trial("at a port of packets", "w1-packet", "bottleneck", SHORT),
    Trial("in a shared memory", "chip", "memory.chip", {"duration": "20 ms", "warmup": "0 s"}),
)

SEEDS = (1, 2)


def faults(program: Program) -> Iterator[str]:
    """Try a policy: every unit must be accounted for, and both engines must give the same, as must a second run."""
    for trial in trials(program):
        for seed in SEEDS:
            reference = _run(trial, program, seed, "reference")
            if failures := reference["audit"]["failures"]:
                yield f"{trial.where} the books do not balance: {failures[0]}"
            for engine in ("fast", "fast"):
                if _without_engine(_run(trial, program, seed, engine)) != _without_engine(reference):
                    yield f"{trial.where} the engines differ with seed {seed}; please report this"


def trials(program: Program) -> list[Trial]:
    """Return the places at which a policy can be tried."""
    if program.kind == "congestion":
        return list(CONTROLLED)
    return [trial for trial in TRIALS if _can_have(trial, program)]


def _can_have(trial: Trial, program: Program) -> bool:
    """Return whether a place can have a policy; a policy that only memories can have must fit there."""
    if not trial.is_memory or program.is_of_memories:
        return trial.is_memory == program.is_of_memories
    if program.kind == "scheduler":
        return False
    try:
        Job(load(trial.scenario), tuple(overrides({trial.place: program}))).warnings()
    except ScenarioError:
        return False
    return True


def _run(trial: Trial, program: Program, seed: int, engine: Any) -> dict[str, Any]:
    from pushout import api

    needs_queues = program.kind == "pushout" and not trial.is_memory
    turns = {"port.bottleneck.scheduler.policy": "round-robin"} if needs_queues else {}
    changes = {**trial.changes, **turns}
    result = api.run(trial.scenario, policies={trial.place: program}, set=changes, seed=seed, engine=engine, audit=True)
    return dict(result.document)


def _without_engine(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in ("engine", "audit")}


def advice(program: Program) -> str | None:
    """Advise to run a policy once a frame, if it reads nothing that differs within a frame."""
    lines = [line for code in program.instructions().values() for line in code]
    looks = any(f"x.{name}" in line for line in lines for name in WITHIN_FRAMES)
    kept = any(program.get(key) for key in ("state", "per_vc", "per_queue"))
    keeps = kept or any(line.endswith("= draw") for line in lines)
    is_of_ports = program.kind == "admission" and not program.is_of_memories
    if not is_of_ports or program["asks"] == "frame" or looks or keeps:
        return None
    return 'it keeps no state and looks at nothing within a frame: asks="frame" decides once a frame, and is faster'
