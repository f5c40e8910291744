"""Small networks after public reports, each with a right value that follows from its numbers, on both engines."""

from pathlib import Path

import pytest

import pushout
from pushout.literals import Engine

GREEN = """
name = "green"
duration = "30 s"
adaptation = { kind = "packet" }
node = [{ name = "a0", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
link = [
    { name = "in0", from = "a0", to = "r", rate = "1 Gb/s", delay = "0 s" },
    { name = "out", from = "r", to = "b", rate = "1 Gb/s", delay = "0 s" },
]
[port.out]
buffer = "1000 packets"
[[flow]]
name = "f0"
from = "a0"
to = "b"
transport = { kind = "udp" }
source = { kind = "cbr", rate = "160 kb/s", size = "72 bytes" }
police = { kind = "gcra", rate = "80 kb/s", tolerance = "10.23 s", action = "drop" }
"""
"""A policer of 100 packets of 100 octets a second with a burst of 1024, which 200 a second meet (sonic-mgmt#14459)."""


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_policer_green_packets(engine: Engine) -> None:
    report = pushout.run(GREEN, engine=engine, audit=True).document
    (out,) = (port for port in report["ports"] if port["name"] == "out")
    assert abs(out["units_out"] - (1024 + 100 * 30)) <= 1, "the bucket is full at the start, and fills at the rate"
    assert abs(out["units_in"] - 6000) <= 1


DEQUEUE = """
name = "dequeue"
duration = "5 ms"
adaptation = { kind = "packet" }
node = [{ name = "a0", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
link = [
    { name = "in0", from = "a0", to = "r", rate = "100 Gb/s", delay = "0 s" },
    { name = "out", from = "r", to = "b", rate = "10 Gb/s", delay = "0 s" },
]
[port.out]
memory = "chip"
admission = { policy = "step", threshold = "THRESHOLD bytes", action = "mark" }
[memory.chip]
size = "4 MB"
cell = "208 bytes"
[queue.rdma]
mark = { at = "dequeue" }
[[storm]]
port = "out"
from = "0 s"
to = "1 ms"
[[flow]]
name = "f0"
from = "a0"
to = "b"
queue = "rdma"
source = { kind = "replay", file = "packets.csv" }
transport = { kind = "udp", ecn = true }
"""
"""Packets of 1024 octets, 5 cells each, that wait behind a pause (sonic-mgmt#25004)."""


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize("threshold", [50_000, 51_000, 10_400])
def test_marks_at_dequeue_in_cells(tmp_path: Path, threshold: int, engine: Engine) -> None:
    packets, cells = 101, 5
    (tmp_path / "packets.csv").write_text(
        "time,bytes\n" + "".join(f"{number * 1e-6:.6f},1024\n" for number in range(packets)), encoding="utf-8"
    )
    file = tmp_path / "dequeue.toml"
    file.write_text(DEQUEUE.replace("THRESHOLD", str(threshold)), encoding="utf-8")
    report = pushout.run(file, engine=engine, audit=True).document
    (out,) = (port for port in report["ports"] if port["name"] == "out")
    # Packet i leaves 5 (101 - i) cells behind it and is marked if they exceed the threshold in whole cells.
    least = sum(cells * (packets - number) > threshold // 208 for number in range(1, packets + 1))
    assert sum(out["marked"].values()) == least == {50_000: 52, 51_000: 51, 10_400: 90}[threshold]
