"""Recordings of traffic with the real simulator: what is in a file is what is sent."""

import csv
import json
import random
import re
import struct
from collections import deque
from decimal import Decimal
from fractions import Fraction
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pushout
from conftest import command
from pushout import progress, recording
from pushout.capture import packets as captured
from pushout.cli import main
from pushout.errors import ScenarioError
from pushout.linktypes import LINKS
from pushout.recording import REPORTED, recorded


@pytest.fixture(autouse=True)
def _in_the_folder_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mapping names files below the current folder."""
    monkeypatch.chdir(tmp_path)


HEADERS = 28
CAPACITY = 5


def scenario(file: Path | str, **source: str) -> dict[str, Any]:
    """A host that sends the packets of a file over one wire of 8 Mb/s, a byte in a microsecond."""
    return {
        "name": "replay",
        "duration": "10 s",
        "adaptation": {"kind": "packet"},
        "node": [{"name": "a", "kind": "host"}, {"name": "b", "kind": "host"}],
        "link": [{"name": "wire", "from": "a", "to": "b", "rate": "8 Mb/s", "delay": "0 s"}],
        "port": {"wire": {"buffer": f"{CAPACITY} packets"}},
        "flow": [
            {
                "name": "f",
                "from": "a",
                "to": "b",
                "source": {"kind": "replay", "file": str(file), **source},
                "transport": {"kind": "udp"},
            }
        ],
    }


def rows(packets: int) -> list[tuple[str, int, str]]:
    """Random times with up to nine decimals, octets, and flows; some packets come at the same time."""
    draw, time, found = random.Random(36), Decimal(0), []  # noqa: S311
    for _ in range(packets):
        time += Decimal(draw.choice([0, 1, 12_345, 1_000_000, 3_000_001])) / 10**9
        found.append((f"{time}", draw.choice([28, 40, 576, 1500]), draw.choice("xyz")))
    return found


def write(path: Path, packets: list[tuple[str, int, str]]) -> Path:
    """A CSV file."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("time", "bytes", "flow"), *packets])
    return path


def counted(packets: list[tuple[str, int, str]]) -> tuple[int, int]:
    """A plain script: packets lost at a full buffer, and octets that were sent."""
    ends: deque[Fraction] = deque()
    lost = octets = 0
    for time, size, _ in packets:
        now = Fraction(time)
        while ends and ends[0] <= now:
            ends.popleft()
        if len(ends) == CAPACITY:
            lost += 1
            continue
        octets += size
        ends.append(max([now, *ends]) + Fraction(size, 10**6))
    return lost, octets


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_a_replayed_file_gives_exactly_the_counts_of_a_plain_script(tmp_path: Path, engine: Any) -> None:
    packets = rows(3000)
    run = pushout.run(scenario(write(tmp_path / "a.csv", packets)), engine=engine)
    lost, octets = counted(packets)
    assert lost > 100
    assert run["ports.wire.units_in"] == len(packets)
    assert run["ports.wire.lost.overflow"] == lost
    sent = len(packets) - lost
    assert run["flows.f.segments_received"] == sent
    assert round(run["flows.f.goodput_bps"] * 10 / 8) == octets - HEADERS * sent


def test_only_rows_of_the_named_flow_are_replayed(tmp_path: Path) -> None:
    packets = rows(300)
    file = write(tmp_path / "a.csv", packets)
    run = pushout.run(scenario(file, flow="y"))
    assert run["ports.wire.units_in"] == sum(flow == "y" for *_, flow in packets)


def test_an_application_writes_the_octets_of_a_file_to_tcp(tmp_path: Path) -> None:
    packets = rows(300)
    asked = scenario(write(tmp_path / "a.csv", packets))
    asked["flow"][0]["transport"] = {"kind": "tcp"}
    run = pushout.run(asked)
    assert round(run["flows.f.goodput_bps"] * 10 / 8) == sum(size for _, size, _ in packets)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_caller_receives_how_much_of_a_long_recording_is_read(suffix: str, tmp_path: Path) -> None:
    packets = 3 * REPORTED + 100
    file = tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.table({"time": pa.array(range(packets)), "bytes": pa.array([100] * packets)}), file)
    else:
        rows = "".join(f"{number},100\n" for number in range(packets))
        file.write_text(f"time,bytes\n{rows}", encoding="utf-8")
    calls: list[tuple[float, float]] = []
    recorded(file, progress=lambda done, total: calls.append((done, total)))
    assert [done for done, _ in calls] == [REPORTED, 2 * REPORTED, 3 * REPORTED]
    assert all(abs(total / packets - 1) < 0.1 for _, total in calls)


@pytest.mark.parametrize(
    "arguments", [["explain", "--check", "s.json"], ["sweep", "w.toml"]], ids=lambda words: words[0]
)
def test_the_command_line_counts_the_packets_that_it_reads(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE_S", 0)
    rows = "".join(f"{number}e-6,100\n" for number in range(REPORTED + 1))
    (tmp_path / "a.csv").write_text(f"time,bytes\n{rows}", encoding="utf-8")
    (tmp_path / "s.json").write_text(json.dumps(scenario("a.csv")), encoding="utf-8")
    (tmp_path / "w.toml").write_text(
        'scenario = "s.json"\n[grid]\nport.wire.buffer = ["9 packets"]\n', encoding="utf-8"
    )
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0
    assert re.findall(r"packets: 32768 of about 3\d{4}, ", capsys.readouterr().err), "progress"


def test_a_parquet_file_gives_the_same_recording(tmp_path: Path) -> None:
    packets = rows(300)
    times, octets, flows = zip(*packets, strict=True)
    table = pa.table({"other": flows, "bytes": octets, "time": [float(time) for time in times]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert recorded(tmp_path / "a.parquet") == recorded(write(tmp_path / "a.csv", packets))


def pcap(packets: list[tuple[int, int]], order: str = "<", link: int = 1) -> bytes:
    """A capture of IP packets at these microseconds and of these octets, and of an ARP request ahead of each."""
    file = struct.pack(f"{order}IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)
    for time, size in packets:
        ip = b"\x45\x00" + struct.pack(">H", size) + bytes(16)
        for frame in (bytes(12) + b"\x08\x06" + bytes(28), bytes(12) + b"\x08\x00" + ip):
            length = max(len(frame), 14 + size)
            head = struct.pack(f"{order}IIII", time // 10**6, time % 10**6, len(frame), length)
            file += head + frame
    return file


TWO = [(5_000_100, 1500), (5_000_100, 40), (5_250_101, 28)]


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_capture_counts_from_its_first_packet_and_gives_lengths_of_ip_packets(tmp_path: Path, order: str) -> None:
    (tmp_path / "a.pcap").write_bytes(pcap(TWO, order))
    (tmp_path / "a.csv").write_text("time,bytes\n0,1500\n0,40\n0.250001,28\n")
    assert recorded(tmp_path / "a.pcap") == recorded(tmp_path / "a.csv")


def joined(data: int, protocol: int = 6, options: int = 12) -> bytes:
    """A record with this data behind headers of 40 octets and options, all in octets."""
    head = bytes(9) + bytes([protocol]) + bytes(10)
    ip = b"\x45\x00" + struct.pack(">H", 40 + options + data) + head[4:]
    return bytes(12) + b"\x08\x00" + ip + bytes(12) + bytes([(20 + options) << 2]) + bytes(7 + options)


def captured_records(records: list[bytes]) -> bytes:
    file = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for frame in records:
        length = 14 + int.from_bytes(frame[16:18])
        file += struct.pack("<IIII", 5, 0, len(frame), length) + frame
    return file


def test_records_that_segmentation_offload_joined_are_the_packets_of_the_link(tmp_path: Path) -> None:
    records = [joined(20 * 1448), joined(2 * 1448 + 100), joined(500), joined(8 * 1460, options=0)]
    (tmp_path / "a.pcap").write_bytes(captured_records(records))
    sizes = [1500] * 20 + [1500, 1500, 152] + [552] + [1500] * 8
    (tmp_path / "a.csv").write_text("time,bytes\n" + "".join(f"0,{size}\n" for size in sizes))
    assert recorded(tmp_path / "a.pcap").partition(";")[2] == recorded(tmp_path / "a.csv").partition(";")[2]


def test_long_frames_stay_whole_and_joined_datagrams_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pcap").write_bytes(captured_records([joined(8948), joined(1448)]))
    (tmp_path / "a.csv").write_text("time,bytes\n0,9000\n0,1500\n")
    assert recorded(tmp_path / "a.pcap").partition(";")[2] == recorded(tmp_path / "a.csv").partition(";")[2]
    (tmp_path / "b.pcap").write_bytes(captured_records([joined(1000), joined(12_000, protocol=17)]))
    with pytest.raises(pushout.ScenarioError, match="packet 2: its 12052 bytes are no packet of a link"):
        recorded(tmp_path / "b.pcap")


def of_flow(ends: tuple[str, str], ports: tuple[int, int] | None, protocol: int, more: int = 0) -> bytes:
    """An IP packet of 100 octets: a later fragment if `more` is its offset."""
    source, sink = (ip_address(each).packed for each in ends)
    head = struct.pack(">HH", *ports) if ports else b""
    if len(source) == 4:
        first = struct.pack(">BBHHHBBH", 0x45, 0, 100, 0, more, 64, protocol, 0)
        return (first + source + sink + head).ljust(100, b"\0")
    fragment = struct.pack(">BBHI", protocol, 0, more << 3, 0) if more else b""
    first = struct.pack(">IHBB", 0x60000000, 60, 44 if more else protocol, 64)
    return (first + source + sink + fragment + head).ljust(100, b"\0")


FOUR, SIX = ("10.0.0.1", "10.0.0.2"), ("2001:db8::1", "2001:db8::2")

FLOWS = (
    (of_flow(FOUR, (5000, 80), 6), "tcp 10.0.0.1:5000>10.0.0.2:80"),
    (of_flow(FOUR, (5000, 80), 17), "udp 10.0.0.1:5000>10.0.0.2:80"),
    (of_flow(FOUR[::-1], (80, 5000), 6), "tcp 10.0.0.2:80>10.0.0.1:5000"),
    (of_flow(FOUR, (5001, 80), 6), "tcp 10.0.0.1:5001>10.0.0.2:80"),
    (of_flow(FOUR, (8, 9), 17, more=9), "udp 10.0.0.1>10.0.0.2"),
    (of_flow(FOUR, None, 1), "icmp 10.0.0.1>10.0.0.2"),
    (of_flow(SIX, (53, 54), 17), "udp [2001:db8::1]:53>[2001:db8::2]:54"),
    (of_flow(SIX, (53, 54), 17, more=9), "udp 2001:db8::1>2001:db8::2"),
    (of_flow(SIX, None, 99), "99 2001:db8::1>2001:db8::2"),
    (of_flow(FOUR, (5000, 80), 6)[:22], "tcp 10.0.0.1>10.0.0.2"),
)


def test_five_values_distinguish_the_flows_of_a_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [record for record, _ in FLOWS for _ in range(2)] + [FLOWS[3][0]]
    (tmp_path / "a.pcap").write_bytes(captured_records([bytes(12) + kind(each) + each for each in records]))
    counts = {flow: (3 if index == 3 else 2) for index, (_, flow) in enumerate(FLOWS)}
    assert {flow: count for flow, (count, _) in recording.flows(tmp_path / "a.pcap").items()} == counts
    command("import", "a.pcap", "--rate", "1 Gb/s", "--flows", "five-tuple", "--out", "a.toml", "--json")
    told = json.loads(capsys.readouterr().out)["flows"]
    assert {each["flow"]: each["packets"] for each in told} == counts
    found = {flow["name"]: flow["segments_sent"] for flow in pushout.run("a.toml").document["flows"]}
    assert found == {each["name"]: each["packets"] for each in told}
    alone = scenario("a.pcap", flow=FLOWS[3][1])
    assert pushout.run(alone).document["flows"][0]["segments_sent"] == 3
    with pytest.raises(ScenarioError, match="no row has the flow 'tcp 1>2'"):
        pushout.run(scenario("a.pcap", flow="tcp 1>2"))
    (tmp_path / "t.csv").write_text("time,bytes\n0,1000\n")
    command("import", "t.csv", "--rate", "1 Gb/s", "--flows", "five-tuple", code=3)
    assert "t.csv: has no flows of addresses and ports: only captures have" in capsys.readouterr().err
    command("import", "t.csv", "--flows", "five-tuple", code=2)
    assert "--flows belongs to a capture" in " ".join(capsys.readouterr().err.split())


def test_a_sweep_varies_the_recording_and_its_flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"a.csv": "0,1000,x\n", "b.csv": "0,1000,x\n0,1000,x\n0,1000,y\n", "c.csv": "0,1000,x\n0.5,1000,y\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(f"time,bytes,flow\n{text}")
    key, figures = "flow.f.source.file", ["ports.wire.units_out"]
    design = {"name": "captures", "scenario": scenario("a.csv"), "reps": 2, "figures": figures}
    swept = pushout.sweep({**design, "grid": {key: ["a.csv", "b.csv", "c.csv"]}})
    assert swept.columns["ports.wire.units_out"].tolist()[::2] == [1, 3, 2]
    axis = {name: [f'{key}="b.csv"', f'flow.f.source.flow="{name}"'] for name in ("x", "y")}
    swept = pushout.sweep({**design, "axis": {"flow": axis}})
    assert swept.columns["ports.wire.units_out"].tolist()[::2] == [2, 1]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pushout.PushoutError, match="no such file"):
        pushout.sweep({**design, "grid": {key: ["a.csv", "none.csv"]}})
    with pytest.raises(pushout.PushoutError, match="must lie below the folder of the scenario"):
        pushout.sweep({**design, "grid": {key: ["../a.csv"]}})


def kind(packet: bytes) -> bytes:
    """The type of an Ethernet frame with an IP packet."""
    return b"\x08\x00" if packet[0] >> 4 == 4 else b"\x86\xdd"


def test_a_trace_of_pushout_can_be_replayed(tmp_path: Path) -> None:
    traced = pushout.trace(scenario(write(tmp_path / "a.csv", rows(50))), ports=["wire"])
    (tmp_path / "trace.pcapng").write_bytes(traced.pcapng)
    again = pushout.run(scenario(tmp_path / "trace.pcapng"))
    assert again["ports.wire.units_in"] == traced.document["ports"][0]["units_in"] == 50


def test_the_packets_are_part_of_the_identity_of_a_scenario(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("time,bytes\n0,100\n")
    first = pushout.explain(scenario(file))
    file.write_text("time,bytes\n0,101\n")
    assert first != pushout.explain(scenario(file))
    assert pushout.run(first)["ports.wire.units_in"] == 1


def test_a_path_is_relative_to_the_scenario_and_messages_keep_their_lines(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("time,bytes\n0,100\n")
    keys = scenario("a.csv")
    flow = keys.pop("flow")[0]
    lines = [f"{key} = {inline(value)}" for key, value in keys.items()]
    lines += ["[[flow]]", *(f"{key} = {inline(value)}" for key, value in flow.items())]
    (tmp_path / "in" / "s.toml").write_text("\n".join(lines))
    assert pushout.run(tmp_path / "in" / "s.toml")["ports.wire.units_in"] == 1
    lines[1] = 'duration = "10 sek"'
    (tmp_path / "in" / "s.toml").write_text("\n".join(lines))
    with pytest.raises(pushout.ScenarioError, match=r"s\.toml:2:12: duration"):
        pushout.run(tmp_path / "in" / "s.toml")


def inline(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {inline(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "line 1: the column time is missing"),
        (
            "a.csv",
            b"time,size\n0,1\n",
            "line 1: the column bytes is missing; the columns are time, bytes and perhaps flow",
        ),
        ("a.csv", b"time,bytes\n", "has no packets"),
        ("a.csv", b"time,bytes\n0,100\n1\n", "line 3: has 1 values for 2 columns"),
        ("a.csv", b"time,bytes\n0,100\nsoon,100\n", "line 3: time must be a number of seconds"),
        ("a.csv", b"time,bytes\n-1,100\n", "line 2: time must be a number of seconds from 0"),
        (
            "a.csv",
            b"time,bytes\n0,100\n1,0\n",
            "line 3: bytes must be a whole number from 1 to 2^40, not another number",
        ),
        ("a.csv", b"time,bytes\n2,100\n1.5,100\n", "line 3: its time is before that of the packet ahead"),
        ("a.pcap", pcap(TWO)[:-5], "packet 6: cut short, 5 bytes are missing"),
        ("a.pcap", pcap(TWO)[:-40], "packet 6: cut short"),
        ("a.pcap", pcap(TWO, link=147), "packet 1: link type 147 is not known"),
        ("a.pcap", pcap([(9, 40), (3, 40)]), "packet 3: its time is before that of the first packet"),
        ("a.pcap", b"", "must be a capture in the format pcap or pcapng"),
        ("a.parquet", b"PAR1", "is not a Parquet file, or is damaged"),
    ],
)
def test_a_file_that_cannot_be_replayed_is_refused_in_one_message(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(pushout.ScenarioError) as error:
        pushout.validate(scenario(tmp_path / name))
    assert message in str(error.value)
    assert str(error.value).count("\n") == 0


def test_a_file_that_is_not_there_and_one_of_an_override_are_refused(tmp_path: Path) -> None:
    with pytest.raises(pushout.ScenarioError, match=r"no such file; its path is relative to the scenario"):
        pushout.validate(scenario(tmp_path / "none.csv"))
    file = tmp_path / "a.csv"
    file.write_text("time,bytes\n0,100\n")
    with pytest.raises(pushout.ScenarioError, match="an override cannot name another one"):
        pushout.validate(scenario(file), set={"flow.f.source.file": "b.csv"})


def test_packets_that_are_shorter_than_their_headers_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("time,bytes\n0,27\n")
    with pytest.raises(pushout.ScenarioError, match="the shortest packet has 27 bytes; over UDP"):
        pushout.validate(scenario(file))


def frames(*frames: bytes) -> bytes:
    """A capture of Ethernet frames, one each millisecond."""
    file = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for number, frame in enumerate(frames):
        file += struct.pack("<IIII", 0, 1000 * number, len(frame), len(frame)) + frame
    return file


def test_an_ipv6_packet_has_its_header_and_a_frame_that_is_no_ip_is_left_out(tmp_path: Path) -> None:
    ipv6 = bytes(12) + b"\x86\xdd" + b"\x60\0\0\0" + struct.pack(">H", 100) + bytes(34)
    lldp = bytes(12) + b"\x88\xcc" + b"\x60\0\0\0" + struct.pack(">H", 100) + bytes(34)
    tagged = bytes(12) + b"\x81\x00\0\x05" + ipv6[12:]
    (tmp_path / "a.pcap").write_bytes(frames(lldp, ipv6, tagged, lldp))
    (tmp_path / "a.csv").write_text("time,bytes\n0.001000,140\n0.002,140\n")
    assert recorded(tmp_path / "a.pcap") == recorded(tmp_path / "a.csv")


def pcapng(*blocks: tuple[int, bytes]) -> bytes:
    """A capture of one section with these blocks."""
    section = (0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    file = b""
    for kind, body in (section, *blocks):
        size = struct.pack("<I", 12 + len(body))
        file += struct.pack("<I", kind) + size + body + size
    return file


FACE = (1, struct.pack("<HHI", 1, 0, 0))


def packet(interface: int, time: int, frame: bytes) -> tuple[int, bytes]:
    """A block with a packet, all of which was captured."""
    head = struct.pack("<IIIII", interface, time >> 32, time & (2**32 - 1), len(frame), len(frame))
    return 6, head + frame + bytes(-len(frame) % 4)


def test_interfaces_may_have_times_of_different_units(tmp_path: Path) -> None:
    nanoseconds = (1, FACE[1] + struct.pack("<HHB3xHH", 9, 1, 9, 0, 0))
    ipv4 = bytes(12) + b"\x08\x00\x45\x00" + struct.pack(">H", 40) + bytes(36)
    late = [packet(0, 1_500_000, ipv4), packet(1, 2_000_000_003, ipv4)]
    (tmp_path / "a.pcapng").write_bytes(pcapng(FACE, nanoseconds, packet(1, 1_000_000_001, ipv4), *late))
    (tmp_path / "b.pcapng").write_bytes(pcapng(FACE, nanoseconds, packet(0, 1_000_000, ipv4), *late))
    (tmp_path / "a.csv").write_text("time,bytes\n0,40\n0.499999999,40\n1.000000002,40\n")
    (tmp_path / "b.csv").write_text("time,bytes\n0,40\n0.500000,40\n1.000000003,40\n")
    for name in ("a", "b"):
        assert recorded(tmp_path / f"{name}.pcapng") == recorded(tmp_path / f"{name}.csv")


def test_a_packet_that_leaves_its_length_to_the_network_card_has_that_of_its_frame(tmp_path: Path) -> None:
    """Linux captures large packets before they are cut, with a length of 0; a capture may end behind the length."""
    large = bytes(12) + b"\x08\x00\x45\x00\0\0" + bytes(3000)
    short = bytes(12) + b"\x08\x00\x45\x00" + struct.pack(">H", 300)
    short6 = bytes(12) + b"\x86\xdd\x60\0\0\0" + struct.pack(">H", 300)
    nothing = bytes(12) + b"\x08\x00\x45\x00\x01"
    (tmp_path / "a.pcap").write_bytes(frames(large, short, short6, nothing))
    (tmp_path / "a.csv").write_text("time,bytes\n0,3004\n0.001000,300\n0.002000,340\n")
    assert recorded(tmp_path / "a.pcap") == recorded(tmp_path / "a.csv")


IPV4 = b"\x45\x00" + struct.pack(">H", 100) + bytes(96)
IPV6 = b"\x60\0\0\0" + struct.pack(">H", 60) + bytes(94)
SNAP4 = b"\xaa\xaa\x03\0\0\0\x08\x00" + IPV4
QOS = b"\x88\x01" + bytes(22)
"""The beginning of a data frame of 802.11 with quality of service, from a station."""

FRAMES: dict[str, tuple[int, bytes]] = {
    "BSD loopback": (0, b"\x02\0\0\0" + IPV4),
    "Ethernet with LLC and SNAP": (1, bytes(12) + b"\x00\x6c" + SNAP4),
    "Ethernet with two tags": (1, bytes(12) + b"\x88\xa8\0\x01\x81\x00\0\x02\x08\x00" + IPV4),
    "PPPoE on Ethernet": (1, bytes(12) + b"\x88\x64\x11\0\0\x01\0\x66\x00\x21" + IPV4),
    "PPP": (9, b"\x00\x57" + IPV6),
    "PPP with address and control": (9, b"\xff\x03\x00\x21" + IPV4),
    "PPP with a short protocol": (50, b"\x21" + IPV4),
    "FDDI": (10, bytes(13) + SNAP4),
    "ATM": (11, SNAP4),
    "raw": (12, IPV6),
    "HDLC in PPP": (50, b"\x0f\x00\x08\x00" + IPV4),
    "PPPoE": (51, b"\x11\0\0\x01\0\x66\x00\x57" + IPV6),
    "raw IP": (101, IPV4),
    "Cisco HDLC": (104, b"\x0f\x00\x86\xdd" + IPV6),
    "802.11": (105, b"\x08\x02" + bytes(22) + SNAP4),
    "802.11 between access points": (105, b"\x08\x03" + bytes(28) + SNAP4),
    "802.11 with QoS": (105, QOS + bytes(2) + SNAP4),
    "802.11 with QoS and HT control": (105, b"\x88\x81" + bytes(28) + SNAP4),
    "frame relay": (107, b"\x18\x41\x03\xcc" + IPV4),
    "OpenBSD loopback": (108, b"\0\0\0\x02" + IPV4),
    "any": (113, bytes(14) + b"\x08\x00" + IPV4),
    "packet filter": (117, b"\x3d" + bytes(63) + IPV4),
    "Prism": (119, bytes(4) + struct.pack("<I", 144) + bytes(136) + b"\x08\x01" + bytes(22) + SNAP4),
    "ATM of Sun": (123, bytes(4) + SNAP4),
    "radiotap": (127, b"\0\0\x08\0\0\0\0\0" + QOS + bytes(2) + SNAP4),
    "radiotap with padding": (127, b"\0\0\x11\0\x03\0\0\0" + bytes(8) + b"\x20" + QOS + bytes(4) + SNAP4),
    "AVS": (163, bytes(4) + struct.pack(">I", 64) + bytes(56) + b"\x08\x01" + bytes(22) + SNAP4),
    "PPI": (192, b"\0\0\x08\0" + struct.pack("<I", 105) + b"\x08\x01" + bytes(22) + SNAP4),
    "IPv4": (228, IPV4),
    "IPv6": (229, IPV6),
    "any, version 2": (276, b"\x86\xdd" + bytes(18) + IPV6),
}
"""A frame of each link type with an IP packet of 100 octets."""

EMPTY: dict[str, tuple[int, bytes]] = {
    "discovery of PPPoE": (1, bytes(12) + b"\x88\x63\x11\x09\0\x01\0\x66\x00\x21" + IPV4),
    "link control of PPP": (9, b"\xff\x03\xc0\x21" + IPV4),
    "a beacon": (105, b"\x80\x00" + bytes(22) + SNAP4),
    "a data frame without data": (105, b"\x48\x01" + bytes(22) + SNAP4),
    "an encrypted frame": (105, b"\x08\x41" + bytes(22) + SNAP4),
    "several packets in a frame": (105, QOS + b"\x80\0" + SNAP4),
    "ARP": (276, b"\x08\x06" + bytes(18) + IPV4),
    "a frame of one octet": (127, b"\0"),
    "nothing": (105, b""),
    "itself": (192, b"\0\0\x08\0" + struct.pack("<I", 192) + SNAP4),
}
"""Frames without an IP packet, or whose packet cannot be seen."""


@pytest.mark.parametrize("name", [*FRAMES, *EMPTY])
def test_the_ip_packet_of_every_link_type_is_found(name: str, tmp_path: Path) -> None:
    link, frame = FRAMES.get(name) or EMPTY[name]
    capture = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)
    capture += struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame
    (tmp_path / "a.pcap").write_bytes(capture)
    with (tmp_path / "a.pcap").open("rb") as file:
        found = [octets for _, _, octets, _ in captured(file)]
    assert found == ([100] if name in FRAMES else [])


def test_every_link_type_is_tried() -> None:
    assert {link for link, _ in FRAMES.values()} == set(LINKS) - {14}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pcapng((1, b"")), "packet 1: damaged, an interface is described in 0 bytes of at least 8"),
        (pcapng(FACE, (6, bytes(16))), "packet 1: damaged, its block has 16 bytes of at least 20"),
        (pcapng((1, FACE[1] + struct.pack("<HH", 9, 0))), "packet 1: damaged, the unit of times must have 1 byte"),
        (pcapng((1, FACE[1] + struct.pack("<HH", 9, 8))), "packet 1: damaged, an option of an interface is longer"),
        (pcapng(FACE, (6, struct.pack("<IIIII", 0, 0, 0, 60, 60))), "60 captured bytes are more than its block has"),
        (pcapng(FACE)[:-4] + bytes(4), "packet 1: damaged, its block has two lengths"),
        (pcap([(4 * 10**9 - 1, 40)]).replace(struct.pack("<I", 999_999), struct.pack("<I", 4 * 10**9)), "fraction"),
    ],
)
def test_a_damaged_block_is_one_message_with_its_packet(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.pcapng").write_bytes(content)
    with pytest.raises(pushout.ScenarioError, match=message):
        recorded(tmp_path / "a.pcapng")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("time,bytes\n1e999999999,1\n", "line 2: time must be a number of seconds"),
        ("time,bytes\n1e999999,1\n", "line 2: time must be a number of seconds"),
        ("time,bytes\n1e-999999,1\n", "line 2: time must be a number of seconds"),
        (f"time,bytes\n{'9' * 5000},1\n", "line 2: time must be a number of seconds"),
        (f"time,bytes\n0,{'9' * 5000}\n", "line 2: bytes must be a whole number"),
        ("time,bytes\n0,1\n9300000,1\n", r"line 3: its time must be at most 9223372 s \(106 days\), not later"),
        ("time,time,bytes\n0,0,1\n", "line 1: the column time must be there once, not 2 times"),
        ("time,bytes\n0,1,2\n", "line 2: has 3 values for 2 columns"),
        ("time,bytes\n" + "0" * 70_000, "line 2: must be shorter than 65536 bytes"),
        ("time,bytes\n0,\xff\n", "line 2: "),
    ],
)
def test_a_table_that_cannot_be_is_one_message_with_its_line(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(content, encoding="latin-1")
    with pytest.raises(pushout.ScenarioError, match=message):
        recorded(tmp_path / "a.csv")


def test_times_since_1970_begin_with_the_first_row_of_the_file_also_for_one_flow(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,bytes,flow\n1764201454.25,100,x\n1764201454.5,40,y\n1764201455.25,28,y\n")
    (tmp_path / "b.csv").write_text("time,bytes,flow\n0.00,100,x\n0.25,40,y\n1.00,28,y\n")
    for flow in (None, "x", "y"):
        assert recorded(tmp_path / "a.csv", flow) == recorded(tmp_path / "b.csv", flow)
