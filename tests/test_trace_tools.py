"""Traces as other programs read them: Debian's tshark and tcpdump, which is built on libpcap."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import pushout
from conftest import ROOT

MIXED = """
name = "mixed"
duration = "30 ms"
port.default = { buffer = "20 kB" }

[[node]]
name = "a"
kind = "host"
[[node]]
name = "b"
kind = "host"
[[node]]
name = "switch"
kind = "switch"
[[node]]
name = "router"
kind = "router"

[[link]]
from = "a"
to = "switch"
rate = "20 Mb/s"
delay = "10 us"
[[link]]
from = "switch"
to = "b"
rate = "10 Mb/s"
delay = "10 us"
[[link]]
from = "a"
to = "router"
rate = "20 Mb/s"
delay = "10 us"
medium = "packets"
[[link]]
from = "router"
to = "b"
rate = "10 Mb/s"
delay = "10 us"
medium = "packets"

[flows]
source = { kind = "greedy" }
transport = { kind = "tcp" }

[[flow]]
name = "tcp-on-cells"
from = "a"
to = "b"
via = ["switch"]
[[flow]]
name = "tcp-on-packets"
from = "a"
to = "b"
via = ["router"]
[[flow]]
name = "udp-on-cells"
from = "a"
to = "b"
via = ["switch"]
source = { kind = "cbr", rate = "3 Mb/s", size = "700 bytes" }
transport = { kind = "udp" }
[[flow]]
name = "udp-on-packets"
from = "a"
to = "b"
via = ["router"]
source = { kind = "cbr", rate = "3 Mb/s", size = "700 bytes" }
transport = { kind = "udp" }
[[flow]]
name = "cells"
from = "a"
to = "b"
via = ["switch"]
source = { kind = "poisson", rate = "1 Mb/s" }
transport = { kind = "cells" }
"""

CHOICES = {
    "packet ports": (ROOT / "scenarios" / "two-routers.toml", "*", {"duration": "0.4 s"}),
    "packet ports of a template": (ROOT / "scenarios" / "w1-packet.toml", "*", {"duration": "30 ms"}),
    "one packet port": (ROOT / "scenarios" / "w1-packet.toml", "bottleneck", {"duration": "60 ms"}),
    "cell ports": (ROOT / "scenarios" / "lan.toml", "*", {"duration": "60 ms"}),
    "cell ports without LLC": (ROOT / "scenarios" / "multi-hop.toml", "*", {"duration": "8 ms", "warmup": "0 s"}),
    "codes and policers": (ROOT / "scenarios" / "gpj.toml", "*", {"duration": "3 ms", "warmup": "0 s"}),
    "both": (MIXED, "*", {}),
    "both, lost ones only": (MIXED, ("switch->b", "router->b"), {"port.default.buffer": "4 kB"}),
    "cells of both": (MIXED, "a->switch", {}),
}


def by_tcpdump(file: Path) -> int:
    return len(re.findall(r"^\d\d:\d\d:\d\d\.\d+ ", output("tcpdump", "-nn", "-r", str(file)), flags=re.MULTILINE))


def by_tshark(file: Path) -> int:
    return len(output("tshark", "-r", str(file), "-T", "fields", "-e", "frame.number").split())


def output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


COUNTED = {"tcpdump": by_tcpdump, "tshark": by_tshark}


@pytest.mark.parametrize("tool", COUNTED)
@pytest.mark.parametrize("choice", CHOICES)
def test_every_packet_of_a_trace_is_read(choice: str, tool: str, tmp_path: Path) -> None:
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not installed")
    scenario, ports, changes = CHOICES[choice]
    traced = pushout.trace(scenario, ports=ports, set=changes)
    file = tmp_path / "trace.pcapng"
    file.write_bytes(traced.pcapng)
    assert traced.table.num_rows > 10
    assert COUNTED[tool](file) == traced.table.num_rows
