"""Pushout and ns-3 on the same queue: goodput and mean queue of each case.

    .venv/bin/python benchmarks/ns3/queues.py [--out benchmarks/ns3/queues.json]

One bottleneck of 50 Mb/s, a round trip of 20 ms, and 1, 2 or 10 greedy flows; queues.cc has the same in ns-3, which
`pip install ns3` provides. ns-3 runs as it is and with two mends of its TCP (mends.h). Where the simulators count
differently, the scenario says what ns-3 has:

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
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pushout
from pushout.bench.peers import ns3_program

RATE = 50_000_000
DELAY_S = 10e-3
PACKET = 1500
PPP = 2
WARMUP_S = 10
DURATION_S = 60
BEYOND = 2
"""Packets below the queue discipline of ns-3."""
PACKET_TIME_MS = 8e3 * (PACKET + PPP) / RATE
LIMIT = 84
THRESHOLD = 20


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
                "start_spread": "100 ms",
                "source": {"kind": "greedy"},
                "transport": {
                    "kind": "tcp",
                    "profile": "linux",
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
PAIRS = [("reno", queue) for queue in ("tail-drop", "codel", "pie", "fq-codel")]
PAIRS += [("cubic", "tail-drop"), ("dctcp", "step")]
CASES = [Case(congestion, queue, flows) for (congestion, queue), flows in product(PAIRS, (1, 2, 10))]


def main() -> None:
    """Run all cases in both, or in Pushout alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--keep", action="store_true", help="run Pushout alone, and keep what the file has of ns-3")
    asked = parser.parse_args()
    if asked.keep:
        document = json.loads(asked.out.read_text())
        for case in document["cases"]:
            case["pushout"] = ours(Case(case["congestion"], case["queue"], case["flows"]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            program, version = ns3_program(Path(folder), "queues")
            cases = [
                {
                    **asdict(case),
                    "ns3": theirs(program, case),
                    "mended": theirs(program, case, mend="both"),
                    "pushout": ours(case),
                }
                for case in CASES
            ]
        document = {"ns3": version, "cases": cases}
    asked.out.write_text(json.dumps(document, indent=1) + "\n")


def ours(case: Case, duration_s: int = DURATION_S) -> dict[str, float]:
    """Run the case in Pushout, five times with other starts: the mean of each figure."""
    run = pushout.run(case.scenario(duration_s), reps=5)
    return {
        "goodput_mbps": round(run["summary.goodput_bps"]["mean"] / 1e6, 3),
        "queue_packets": round(run["ports.bottleneck.occupancy_mean"]["mean"], 2),
    }


def theirs(program: str, case: Case, duration_s: int = DURATION_S, mend: str = "none") -> dict[str, float]:
    """Run the case in ns-3, with a mend of mends.h if one is named."""
    limit = THRESHOLD if case.queue == "step" else LIMIT
    given = {
        "flows": case.flows,
        "congestion": TYPES[case.congestion],
        "queue": case.queue,
        "rate": RATE,
        "delay": DELAY_S,
        "limit": limit,
        "warmup": WARMUP_S,
        "duration": duration_s,
        "mend": mend,
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
