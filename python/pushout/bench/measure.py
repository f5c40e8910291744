"""Run the workloads on every contender, in turn, and collect the times."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from pushout.bench.machine import machine
from pushout.bench.peers import OURS, PEERS, Contender, MissingError, ours
from pushout.bench.workloads import Workload

Sample = dict[str, Any]
"""The output of one run."""

PATIENCE_S = 120.0
"""Seconds after which a contender does not repeat a workload; the count of runs shows it."""
TIMEOUT_S = 900.0
"""Seconds after which a run is abandoned."""


@dataclass
class Series:
    """The runs of one workload on one contender."""

    workload: Workload
    contender: Contender
    command: list[str]
    samples: list[Sample] = field(default_factory=list)
    spent_s: float = 0.0
    failure: str | None = None

    @property
    def is_over(self) -> bool:
        """Return whether the workload needs no further run."""
        return self.failure is not None or (bool(self.samples) and self.spent_s > PATIENCE_S)

    def run(self) -> None:
        """Run once more."""
        start = time.monotonic()
        try:
            done = subprocess.run(  # noqa: S603
                self.command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
            )
            if done.returncode == 0:
                self.samples.append(json.loads(done.stdout.splitlines()[-1]))
            else:
                last = (done.stderr.strip() or "no message").splitlines()[-1]
                self.failure = f"ended with {done.returncode}: {last}"
        except subprocess.TimeoutExpired:
            self.failure = f"did not finish in {TIMEOUT_S:g} s"
        except (OSError, ValueError, IndexError) as error:
            self.failure = f"printed no result: {error}"
        self.spent_s += time.monotonic() - start

    def entry(self) -> dict[str, Any]:
        """Compute the figures of this series from its median time."""
        walls = [sample["wall_s"] for sample in self.samples]
        wall = median(walls)
        last = self.samples[-1]

        def per(count: str) -> float | None:
            return wall * 1e9 / last[count] if last.get(count) else None

        simulated = last.get("sim_s", self.workload.dumbbell.get("duration"))
        return {
            "id": self.workload.id,
            "wall_s": {"median": wall, "min": min(walls), "max": max(walls), "n": len(walls)},
            "sim_s_per_s": simulated / wall if simulated else None,
            "ns_per_cell_hop": per("cell_hops"),
            "ns_per_packet_hop": per("packet_hops"),
            "rss_bytes": last.get("rss_bytes"),
            "goodput_bps": last.get("goodput_bps"),
        }


def bench(
    workloads: Sequence[Workload],
    *,
    reps: int = 5,
    peers: Sequence[str] = tuple(PEERS),
    folder: Path,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Measure every workload `reps` times on this simulator and on the peers that are installed.

    Contenders alternate, so that changes in the load of the machine affect all of them. Peers are compiled in `folder`.
    Returns the document of `pushout bench --json`.
    """
    contenders, missing = _contenders(peers, folder)
    series = [
        Series(workload, contender, command)
        for workload in workloads
        for contender in contenders
        if (command := contender.command(workload)) is not None
    ]
    described = machine()
    for turn in range(reps):
        for index, each in enumerate(series):
            if not each.is_over:
                each.run()
            if progress:
                progress(turn * len(series) + index + 1, reps * len(series))
    return document(described, series, missing)


def _contenders(peers: Sequence[str], folder: Path) -> tuple[list[Contender], list[dict[str, str]]]:
    contenders, missing = ours(), []
    for peer in peers:
        try:
            contenders += PEERS[peer](folder)
        except MissingError as absent:
            missing.append({"peer": absent.peer, "why": absent.why, "install": absent.install})
    return contenders, missing


def document(described: dict[str, Any], series: Sequence[Series], missing: list[dict[str, str]]) -> dict[str, Any]:
    """Write all measurements; a ratio is a peer's median time over ours, so that larger is better for Pushout."""
    measured = [each for each in series if each.samples]
    mine = {each.workload.id: each for each in measured if each.contender.name == OURS}
    others = [each for each in measured if each.contender.name != OURS]
    ratios = [
        {
            "workload": each.workload.id,
            "against": each.contender.name,
            "variant": each.contender.variant,
            "ratio": each.entry()["wall_s"]["median"] / mine[each.workload.id].entry()["wall_s"]["median"],
        }
        for each in others
        if each.workload.id in mine
    ]
    return {
        "machine": described,
        "workloads": [_own_entry(each) for each in mine.values()],
        "peers": [{"peer": each.contender.name, "variant": each.contender.variant, **each.entry()} for each in others],
        "ratios": ratios,
        "programs": list(_programs(mine)),
        "missing": missing,
        "failures": [
            {"workload": each.workload.id, "contender": each.contender.name, "why": each.failure}
            for each in series
            if each.failure is not None
        ],
    }


def _programs(mine: Mapping[str, Series]) -> Iterator[dict[str, Any]]:
    """Compare policies in Python with schemes of the core: the median time of the program over that of the scheme."""
    for name, each in mine.items():
        if native := mine.get(each.workload.native):
            ratio = each.entry()["wall_s"]["median"] / native.entry()["wall_s"]["median"]
            yield {"workload": name, "native": each.workload.native, "ratio": ratio}


def _own_entry(series: Series) -> dict[str, Any]:
    """Add to our row the memory of a flow: the peak over the idle process, report included."""
    return {**series.entry(), "bytes_per_flow": series.samples[-1].get("bytes_per_flow")}
