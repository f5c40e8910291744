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


HAND = """
name = "hand"
duration = "10 s"
adaptation = { kind = "packet" }
node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
link = [
    { name = "in", from = "a", to = "r", rate = "8 Mb/s", delay = "10 ms" },
    { name = "out", from = "r", to = "b", rate = "8 Mb/s", delay = "10 ms" },
]
[[loss]]
link = "in"
packets = [5]
[[flow]]
name = "tcp"
from = "a"
to = "b"
source = { kind = "file", size = "20 kB", at = ["0 s"] }
transport = { kind = "tcp", mss = 1000, delayed_ack = false, initial_window = 20 }
[[flow]]
name = "udp"
from = "a"
to = "b"
start = "5 s"
stop = "6 s"
source = { kind = "cbr", rate = "80 kb/s", size = "972 bytes" }
transport = { kind = "udp" }
"""
"""A file of twenty segments, of which one is lost, and ten datagrams of 972 octets in the second half."""


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_every_figure_of_a_summary_follows_by_hand(engine: Engine) -> None:
    document = pushout.run(HAND, engine=engine, audit=True).document
    tcp, udp = 20_000 * 8 / 10, 10 * 972 * 8 / 10
    mean = (tcp + udp) / 2
    # The datagrams ask for 80 kb/s of the line, headers included; the file can have the rest.
    ideal = 80_000 * 972 / 1000 + (8_000_000 - 80_000) * 1000 / 1040
    time = document["flows"][0]["transfer_time_mean_s"]
    assert 0.1 < time < 0.2, "the segment is lost in the first round trip of 40 ms and sent again in the second"
    assert document["summary"] == {
        "goodput_bps": pytest.approx(tcp + udp),
        "ideal_bps": pytest.approx(ideal),
        "goodput_ratio": pytest.approx((tcp + udp) / ideal),
        "fairness_mean_deviation": pytest.approx(1 - (tcp - mean) / mean),
        "fairness_jain": pytest.approx((tcp + udp) ** 2 / (2 * (tcp**2 + udp**2))),
        "difference": pytest.approx((tcp - udp) / mean),
        "weighted_deviation": pytest.approx((tcp - mean) / mean),
        "retransmission_ratio": pytest.approx(1 / 21),
        "goodput_drift": pytest.approx((udp - tcp) / mean),
        "transfers": 1,
        "transfers_unfinished": 0,
        "transfer_age_max_s": None,
        **{f"transfer_time_{name}_s": time for name in ("mean", "p50", "p95", "p99", "max")},
        "transfer_time_drift": None,
    }
