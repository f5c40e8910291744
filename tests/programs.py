"""Twenty runs of policies written in Python, which must give the same wherever they are done."""

from typing import Any

from pushout.policy import published

PLAN: dict[str, Any] = {
    "scenario": "lan",
    "set": {"duration": "0.3 s", "flows.start_spread": "10 ms", "port.bottleneck.buffer": "400 cells"},
    "grid": {
        "port.bottleneck.admission": [
            published.codel(target="500 us", interval="5 ms"),
            published.codel(target="1 ms", interval="20 ms"),
            published.pie(target="200 us", burst="0 s", alpha=2.0, beta=20.0, every="5 ms"),
            {"policy": "ppd"},
            {"policy": "epd"},
        ],
        "port.bottleneck.scheduler": [published.round_robin, published.drr(quantum=2000)],
    },
    "reps": 2,
    "figures": ["goodput_ratio", "ports.bottleneck.occupancy_mean", "ports.bottleneck.lost.*"],
}
