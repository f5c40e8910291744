"""The traffic of a home on an access line, for the qdisc of a router without a file of flows.

A video call, a web page and a download share the line with a backup to the net. Rates and sizes are round numbers, not
measured ones: a call of a standard resolution, a page of the size of its HTML and a few pictures, a line down that is
ten times as fast as up.
"""

from collections.abc import Mapping
from typing import Any

from pushout.switch import bands
from pushout.switch.bands import Described

LAN_BPS = 10**9
"""Rate of the lines in the home and behind the provider, and of the uplink where a shaper of its port is the limit."""

DOWN = 10
"""How many times as fast the line is down as up."""

DOWN_BUFFER = "100 ms"
"""Buffer of the provider, before the line down."""

SPREAD = "1 s"
"""Interval in which each flow starts at random."""

URGENT = 6
"""Priority of a call in `priomap`: TC_PRIO_INTERACTIVE of Linux; all else has 0."""

TRAFFIC = {
    "call": ("phone", "server", {"kind": "cbr", "rate": "1.5 Mb/s", "size": "1200 bytes"}),
    "page": ("server", "phone", {"kind": "file", "size": "500 kB", "every": "2 s"}),
    "download": ("server", "laptop", {"kind": "greedy"}),
    "backup": ("laptop", "server", {"kind": "greedy"}),
}
"""The flows: from, to, and source."""


def scenario(described: Described, name: str, line_bps: int | None, tcp: Mapping[str, Any]) -> dict[str, Any]:
    """Return a home whose router has this port before the line up, of `line_bps` or the rate of a shaper."""
    rate_bps = line_bps or LAN_BPS
    lan = {"rate": f"{LAN_BPS} b/s", "delay": "1 ms"}
    ends = {"phone": "router", "laptop": "router", "provider": "server"}
    memory = (
        {"memory": bands.of_ports(described.memory, 1), "queue": dict(described.classes)} if described.classes else {}
    )
    return {
        "name": name,
        "title": "A call, a page, a download and a backup on an access line",
        "duration": "40 s",
        "warmup": "10 s",
        "adaptation": {"kind": "packet"},
        "node": [
            *({"name": host, "kind": "host"} for host in ("phone", "laptop", "server")),
            *({"name": relay, "kind": "router"} for relay in ("router", "provider")),
        ],
        "link": [
            *({"name": one, "from": one, "to": other, **lan} for one, other in ends.items()),
            {
                **{"name": "uplink", "from": "router", "to": "provider", "rate": f"{rate_bps} b/s", "delay": "10 ms"},
                "back": {"rate": f"{DOWN * _up_bps(described, rate_bps)} b/s"},
            },
        ],
        "port": {"uplink": described.port, "uplink.back": {"buffer": DOWN_BUFFER}},
        **memory,
        "flow": [_flow(described, name, tcp) for name in TRAFFIC],
        "measure": {"delivery": True},
    }


def _up_bps(described: Described, rate_bps: int) -> int:
    """Return the rate up: that of a shaper, or of the line."""
    shaper = described.port.get("shaper")
    return int(shaper["rate"].split()[0]) if shaper else rate_bps


def _flow(described: Described, name: str, tcp: Mapping[str, Any]) -> dict[str, Any]:
    sender, receiver, source = TRAFFIC[name]
    transport = {"kind": "udp"} if name == "call" else {"kind": "tcp", "profile": "linux", **tcp}
    queues = described.of_priority
    queue = {"queue": queues[URGENT if name == "call" else 0]} if queues else {}
    ends = {"name": name, "from": sender, "to": receiver, "start_spread": SPREAD}
    return {**ends, **queue, "source": source, "transport": transport}
