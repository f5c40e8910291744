"""A sweep on a real Ray cluster of three nodes, two of which do the work; run by test_cluster.py in its own process.

Arguments: the folder for results, and what is lost on the way: nothing, a worker or a node.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

import pushout
from pushout.simulate import cores

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
    """Run the sweep, lose something once the first runs are done, print what came of it."""
    out, loss = sys.argv[1:]
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    lost: list[str] = []

    def progress(done: int, total: int) -> None:
        if lost or not 0 < done < total or loss == "nothing":
            return
        if loss == "node":
            cluster.remove_node(nodes[0], allow_graceful=False)
        elif not (victims := workers()):
            return
        else:
            os.kill(victims[0], signal.SIGKILL)
        lost.append(f"{loss} after {done} of {total} runs")

    result = pushout.sweep(PLAN, out=out, cluster=cluster.address, progress=progress)
    cluster.shutdown()
    print(json.dumps({"lost": lost, "computed": result.manifest["computed"], "cores": cores()}))


if __name__ == "__main__":
    main()
