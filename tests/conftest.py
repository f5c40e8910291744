"""A stand-in for the compiled module: instant runs whose figures follow from seed and overrides alone."""

import json
import os
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pushout import _core, simulate
from pushout._core import Reached
from pushout.document import Document
from pushout.errors import ScenarioError

ROOT = Path(__file__).parent.parent

# A shell starts what runs in the background with SIGINT ignored, and commands under test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# pytest imports readline, which exports the size of its terminal to every process that pytest starts, workers of
# pytest-xdist among them; os.environ of the first process lacks it. Tables then have the width of a pipe, PIPED.
for size in ("COLUMNS", "LINES"):
    os.environ.pop(size, None)
    os.unsetenv(size)


def document(seed: int = 1, *, goodput: float = 0.98, queue: float = 5500.0) -> Document:
    """A result as the simulator writes it."""
    flow = {
        "vc": 1,
        "goodput_bps": 12.5e6 + seed,
        "segments_sent": 42_000,
        "segments_retransmitted": 700,
        "timeouts": 3,
        "fast_retransmits": 60,
        "delivery_time_mean_s": 0.041,
        "delivery_time_sd_s": 0.003,
    }
    port = {
        "name": "bottleneck",
        "units_in": 1000,
        "units_out": 900,
        "units_queued": 10,
        "lost": {"overflow": 90 - seed, **({"early": seed} if seed % 2 else {})},
        "frames_in": 30,
        "frames_whole_out": 27,
        "occupancy_mean": queue + seed,
        "occupancy_max": 8192,
        "occupancy_unit": "cells",
    }
    summary = {
        "goodput_bps": 126e6,
        "goodput_ratio": goodput + seed / 1e4,
        "fairness_mean_deviation": 0.9,
        "fairness_jain": 0.99,
        "difference": 0.1,
        "retransmission_ratio": 0.016,
    }
    engine = {"name": "fast", "version": "0", "cell_hops": 9, "packet_hops": 0, "events": 5, "wall_s": 0.25}
    return {
        "scenario": "lan",
        "seed": seed,
        "duration_s": 40.0,
        "warmup_s": 0.0,
        "engine": engine,
        "flows": [{"name": name, **flow} for name in ("s1", "s2")],
        "ports": [port],
        "summary": summary,
    }


class FakeCore:
    """The simulator, with lists of the scenarios that were checked and of the runs that were asked for."""

    __file__ = __file__
    Reached = Reached
    WAITING = _core.WAITING

    def __init__(self) -> None:
        self.checked: list[tuple[str, ...]] = []
        self.runs: list[tuple[tuple[str, ...], int | None]] = []
        self.interrupt_after: int | None = None
        self.lock = threading.Lock()

    def Scenario(self, text: str, name: str, sets: Sequence[str], engine: str | None) -> "FakeScenario":  # noqa: N802
        if "bufer" in text:
            raise ScenarioError(f'{name}:1:1: unknown key "bufer"; did you mean "buffer"?')
        self.checked.append(tuple(sets))
        return FakeScenario(self, tuple(sets))


@dataclass(frozen=True)
class FakeScenario:
    """A scenario that was checked."""

    core: FakeCore
    sets: tuple[str, ...]
    seed: int = 7

    def run(self, seed: int | None, audit: bool, flows: int | None, reached: Reached) -> str:
        with self.core.lock:
            if self.core.interrupt_after is not None and len(self.core.runs) >= self.core.interrupt_after:
                raise KeyboardInterrupt
            self.core.runs.append((self.sets, seed))
        goodput = 0.985 if "9140" in " ".join(self.sets) else 0.97
        return json.dumps(document(self.seed if seed is None else seed, goodput=goodput))

    def warnings(self) -> str:
        return "[]"

    def reference_because(self) -> None:
        return None

    def thresholds(self) -> list[str]:
        return []

    def paced(self) -> list[str]:
        return []

    def explain(self, seed: int | None) -> str:
        return json.dumps({"seed": self.seed if seed is None else seed, "sets": list(self.sets)})


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    fake = FakeCore()
    monkeypatch.setattr(simulate, "_core", fake)
    for module in ("api", "cache", "reading", "warning"):
        monkeypatch.setattr(f"pushout.{module}._core", fake)
    return fake


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "lan.toml"
    path.write_text('name = "lan"\n', encoding="utf-8")
    return str(path)


def command(*args: str, code: int = 0) -> Any:
    """Run the command line in this process; it must end with this exit code."""
    from pushout.cli import main

    with pytest.raises(SystemExit) as ended:
        main(args)
    assert (ended.value.code or 0) == code


@dataclass(frozen=True)
class Ended:
    """What a command returned and printed."""

    returncode: int
    stdout: str
    stderr: str


Typed = Callable[..., Ended]
"""Run the command line in a folder: `typed(folder, "run", "s.toml")`."""


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Commands in this process: a process for each takes most of its time to start."""
    from pushout.cli import main

    def run(folder: Path, *arguments: str) -> Ended:
        monkeypatch.chdir(folder)
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        printed = capsys.readouterr()
        return Ended(int(ended.value.code or 0), printed.out, printed.err)

    return run
