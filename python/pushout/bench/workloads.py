"""The workloads: scenarios with overrides, and the parameters for the peers that can run them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pushout.bench import programs
from pushout.policy import overrides
from pushout.shipped import BENCHMARKS, SCENARIOS

FABRIC, TREE = "w5.toml", "w6.toml"
"""Scenarios of a leaf-spine and of fat-trees."""

FLOOR = "floor"
FLOOR_CELLS = 200_000_000
"""Cells of the floor: enough that starting the clock does not matter."""

LOCAL = {
    "flows": 10,
    "access": 155_520_000,
    "access_delay": 5e-6,
    "rate": 155_520_000,
    "delay": 5e-6,
    "buffer": 159_000,
    "mss": 2048,
    "spread": 0.01,
    "duration": 20,
}
"""W1 in SI units: bits per second, seconds, octets."""
PERIODIC = {**LOCAL, "load": 1.1, "spread": 24.78e-6, "duration": 10}
"""W2: the buffer of 3000 cells in octets, and datagrams of 53 octets."""
WIDE = {
    "access": 100_000_000,
    "access_delay": 1e-3,
    "rate": 1_000_000_000,
    "delay": 3e-3,
    "buffer": 1_250_000,
    "mss": 1460,
    "spread": 0.1,
    "duration": 5,
}
"""W3, for any number of flows."""

QUEUES = ("flows.mcr=5 Mb/s", 'port.bottleneck.scheduler={policy="wrr-mcr"}')
"""A queue for each circuit, and minimum rates for a third of the line."""

SHARED = (
    'port.bottleneck={memory="chip"}',
    'memory.chip={size="1.25 MB", cell="1 byte", admission={policy="dynamic-threshold", alpha=8.0}}',
)
"""A memory of the same size instead of the port's own buffer."""


@dataclass(frozen=True)
class Workload:
    """A scenario and its overrides, and its parameters for the peers named, in SI units."""

    id: str
    scenario: str
    sets: tuple[str, ...] = ()
    dumbbell: Mapping[str, float] = field(default_factory=dict)
    peers: tuple[str, ...] = ()
    is_long: bool = False
    """Whether it takes minutes, and therefore runs only when named."""
    native: str = ""
    """The workload in which a scheme of the core decides what a program decides here."""

    @property
    def path(self) -> Path:
        """Find the scenario's file: fabrics stand beside the programs of the benchmarks."""
        return (BENCHMARKS if self.scenario in (FABRIC, TREE) else SCENARIOS) / self.scenario


WORKLOADS = {
    workload.id: workload
    for workload in (
        Workload(FLOOR, ""),
        Workload("W1-cell", "w1-cell.toml"),
        Workload("W1-cell-program", "w1-cell.toml", tuple(overrides({"bottleneck": programs.epd})), native="W1-cell"),
        Workload(
            "W1-cell-dt-epd-wrr",
            "w1-cell.toml",
            ('port.bottleneck.admission={policy="dt-epd"}', *QUEUES),
        ),
        Workload(
            "W1-cell-pushout-2",
            "w1-cell.toml",
            ('port.bottleneck.admission={policy="tail-drop"}', 'port.bottleneck.pushout={policy="pushout-2"}', *QUEUES),
        ),
        Workload("W1-packet", "w1-packet.toml", dumbbell=LOCAL, peers=("ns-2", "ns-3")),
        Workload("W2", "mux-periodic.toml", dumbbell=PERIODIC, peers=("ns-2",)),
        Workload("W3-10", "w3-100.toml", ("topology.sources=10",), {**WIDE, "flows": 10}, ("ns-2",)),
        Workload("W3-100", "w3-100.toml", (), {**WIDE, "flows": 100}, ("ns-2", "ns-3")),
        Workload("W3-100-memory", "w3-100.toml", SHARED),
        Workload("W3-100-codel", "w3-100.toml", ('port.bottleneck.admission={policy="codel"}',)),
        # A router of ns-3 searches all its interfaces for each packet: with a thousand, a run takes an hour.
        Workload("W3-1000", "w3-1000.toml", (), {**WIDE, "flows": 1000}, ("ns-2",)),
        Workload(
            "W4-100k",
            "w3-1000.toml",
            ("topology.sources=100000", "topology.bottleneck.rate=10 Gb/s", "duration=200 ms"),
        ),
        Workload("W5", FABRIC, is_long=True),
        Workload("W6-128", TREE),
        Workload("W6-1024", TREE, ("topology.radix=16",)),
        Workload("W6-8192", TREE, ("topology.radix=32",), is_long=True),
    )
}
