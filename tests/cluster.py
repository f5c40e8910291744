"""A sweep on a real Ray cluster of three nodes, two of which do the work; run by test_cluster.py in its own process.

On the way a worker is killed, and later a node is lost. The argument is the folder for results.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

import pushout

ROOT = Path(__file__).parent.parent

PLAN: dict[str, Any] = {
    "scenario": str(ROOT / "scenarios" / "lan.toml"),
    "set": ["duration=0.6 s"],
    "reps": 40,
    "grid": {"flows.transport.mss": [1460, 9140]},
    "figures": ["ports.bottleneck.occupancy_mean"],
}


def workers() -> list[int]:
    """The processes that do batches now."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                title = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if title.startswith(b"ray::work"):
                found.append(int(entry.name))
    return found


def main() -> None:
    """Run the sweep, lose a worker and then a node, print what came of it."""
    (out,) = sys.argv[1:]
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    lost: list[str] = []

    def progress(done: int, total: int) -> None:
        if not lost and 0 < done < total and (victims := workers()):
            os.kill(victims[0], signal.SIGKILL)
            lost.append("worker")
        elif lost == ["worker"] and total / 4 < done < total:
            cluster.remove_node(nodes[0], allow_graceful=False)
            lost.append("node")

    result = pushout.sweep(PLAN, out=out, cluster=cluster.address, progress=progress)
    cluster.shutdown()
    print(json.dumps({"lost": lost, "computed": result.manifest["computed"]}))


if __name__ == "__main__":
    main()
