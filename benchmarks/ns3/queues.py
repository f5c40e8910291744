"""Pushout and ns-3 on the same queue: goodput and mean queue of each case.

    .venv/bin/python benchmarks/ns3/queues.py [--out benchmarks/ns3/queues.json] [--jobs 2]
    .venv/bin/python benchmarks/ns3/queues.py --keep

One bottleneck of 50 Mb/s, a round trip of 20 ms, and 1, 2 or 10 greedy flows; queues.cc has the same in ns-3, which
`pip install ns3` provides. Each figure is the mean over several starts: the flows of ns-3 start one after the other
within each time of `STARTS_S`, ours at random within `START_SPREAD`. ns-3 runs as it is, and changed: with either mend
of its TCP and with both (mends.h), and RED without its wait between drops. Where the simulators count differently, the
scenario says what ns-3 has:

* The queue discipline of ns-3 lies above a device with one packet waiting and one in transmission. A limit or threshold
  in packets is two packets longer here, and a target of delay one packet time.
* A frame of ns-3 has two octets of PPP, so our line is slower by their share.
* CoDel counts as Linux does (`law = "linux"`), and PIE draws without derandomisation.

The mean queue counts the packet in transmission.
"""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import pushout
from pushout.bench.peers import ns3_program
from pushout.records import recorded

RATE = 50_000_000
DELAY_S = 10e-3
PACKET = 1500
PPP = 2
WARMUP_S = 10
DURATION_S = 40
BEYOND = 2
"""Packets below the queue discipline of ns-3."""
PACKET_TIME_MS = 8e3 * (PACKET + PPP) / RATE
LIMIT = 84
THRESHOLD = 20
STARTS_S = (0.1, 0.31, 0.73)
START_SPREAD = "730 ms"
SEEDS = 20


@dataclass(frozen=True)
class Case:
    """A congestion control, a queue, and how many flows share it."""

    congestion: str
    queue: str
    flows: int

    def scenario(self, duration_s: int = DURATION_S) -> dict[str, Any]:
        """Give the case as Pushout has it."""
        fast = {"rate": "1 Gb/s", "delay": "10 us"}
        return {
            "name": f"{self.congestion}-{self.queue}-{self.flows}",
            "duration": f"{duration_s} s",
            "warmup": f"{WARMUP_S} s",
            "topology": {
                "template": "dumbbell",
                "sources": self.flows,
                "access": fast,
                "bottleneck": {"rate": f"{RATE * PACKET // (PACKET + PPP)} b/s", "delay": "10 ms"},
                "egress": fast,
            },
            "adaptation": {"kind": "packet"},
            "port": {"bottleneck": QUEUES[self.queue]},
            "flows": {
                "start_spread": START_SPREAD,
                "source": {"kind": "greedy"},
                "transport": {
                    "kind": "tcp",
                    "profile": "linux",
                    "laws": "rfc",  # those of ns-3 are not a kernel's
                    "congestion": self.congestion,
                    "recovery": "prr",
                    "ecn": self.congestion == "dctcp",
                },
            },
        }


CODEL = {"policy": "codel", "law": "linux", "target": f"{5 + PACKET_TIME_MS:.3f} ms"}
QUEUES: dict[str, dict[str, Any]] = {
    "tail-drop": {"buffer": f"{LIMIT + BEYOND} packets"},
    "step": {
        "buffer": "1002 packets",
        "admission": {"policy": "step", "threshold": f"{THRESHOLD + BEYOND} packets", "action": "mark"},
    },
    "red": {
        "buffer": "1002 packets",
        "admission": {
            "policy": "red",
            "min_threshold": f"{THRESHOLD + BEYOND} packets",
            "max_threshold": f"{3 * THRESHOLD + BEYOND} packets",
            "max_p": 0.1,
            "weight": 0.002,
        },
    },
    "codel": {"buffer": "1002 packets", "admission": CODEL},
    "pie": {
        "buffer": "1002 packets",
        "admission": {"policy": "pie", "target": f"{15 + PACKET_TIME_MS:.3f} ms", "derandomise": False},
    },
    "fq-codel": {
        "buffer": "10242 packets",
        "admission": {**CODEL, "full": "fattest-queue"},
        "scheduler": {"policy": "fair-queue"},
    },
}
TYPES = {"cubic": "TcpCubic", "dctcp": "TcpDctcp", "reno": "TcpLinuxReno"}
PAIRS = [("reno", queue) for queue in ("tail-drop", "red", "codel", "pie", "fq-codel")]
PAIRS += [("cubic", "tail-drop"), ("dctcp", "step")]
CASES = [Case(congestion, queue, flows) for (congestion, queue), flows in product(PAIRS, (1, 2, 10))]
MENDS = {f"mend {which}": {"mend": which} for which in ("prr", "exit", "both")}
CHANGES: dict[tuple[str, str], dict[str, dict[str, Any]]] = {
    ("cubic", "tail-drop"): MENDS,
    ("reno", "fq-codel"): MENDS,
    ("reno", "red"): {"without wait": {"wait": "false"}},
}
"""What of ns-3 is changed, where its queue differs from ours."""


def main() -> None:
    """Run all cases in both, or in Pushout alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--jobs", type=int, default=2, help="runs of ns-3 at the same time")
    parser.add_argument("--keep", action="store_true", help="run Pushout alone, and keep what the file has of ns-3")
    asked = parser.parse_args()
    if asked.keep:
        document = json.loads(asked.out.read_text())
        for case in document["cases"]:
            case["pushout"] = ours(Case(case["congestion"], case["queue"], case["flows"]))
    else:
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(asked.jobs) as pool:
            program, version = ns3_program(Path(folder), "queues")
            found = [(case, measured(pool, program, case)) for case in CASES]
            cases = [{**asdict(case), **runs(), "pushout": ours(case)} for case, runs in found]
        document = {"ns3": version, "starts_s": STARTS_S, "cases": cases}
    asked.out.write_text(recorded(document))


def measured(pool: ThreadPoolExecutor, program: str, case: Case) -> Callable[[], dict[str, Any]]:
    """Order the runs of a case in ns-3, as it is and with each change; what is returned waits for them."""
    changes = {"ns3": {}, **CHANGES.get((case.congestion, case.queue), {})}
    runs = {
        name: [pool.submit(theirs, program, case, spread=start, **change) for start in STARTS_S]
        for name, change in changes.items()
    }

    def figures() -> dict[str, Any]:
        plain, *changed = (mean([each.result() for each in runs[name]]) for name in changes)
        return {"ns3": plain, "changed": dict(zip(list(changes)[1:], changed, strict=True))}

    return figures


def mean(runs: list[dict[str, float]]) -> dict[str, float]:
    """Average each figure."""
    return {key: round(fmean(run[key] for run in runs), 3) for key in runs[0]}


def ours(case: Case, duration_s: int = DURATION_S) -> dict[str, float]:
    """Run the case in Pushout with several seeds: the mean of each figure."""
    run = pushout.run(case.scenario(duration_s), reps=SEEDS)
    return {
        "goodput_mbps": round(run["summary.goodput_bps"]["mean"] / 1e6, 3),
        "queue_packets": round(run["ports.bottleneck.occupancy_mean"]["mean"], 2),
    }


def theirs(
    program: str,
    case: Case,
    duration_s: int = DURATION_S,
    spread: float = STARTS_S[0],
    mend: str = "none",
    wait: str = "true",
) -> dict[str, float]:
    """Run the case in ns-3, with a mend of mends.h if one is named, and RED with its wait between drops or without."""
    limit = THRESHOLD if case.queue in ("step", "red") else LIMIT
    given = {
        "flows": case.flows,
        "congestion": TYPES[case.congestion],
        "queue": case.queue,
        "rate": RATE,
        "delay": DELAY_S,
        "limit": limit,
        "warmup": WARMUP_S,
        "duration": duration_s,
        "spread": spread,
        "mend": mend,
        "wait": wait,
    }
    command = [program, *(f"--{key}={value}" for key, value in given.items())]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
    document = json.loads(printed)
    return {
        "goodput_mbps": round(document["goodput_bps"] / 1e6, 3),
        "queue_packets": round(document["queue_packets"], 2),
    }


if __name__ == "__main__":
    main()
