"""`pushout.Path`, the network in a test of a transport."""

import pytest

import pushout
from conftest import ROOT

CHANGING = """
name = "radio"
duration = "10 s"
adaptation = { kind = "packet" }
node = [{ name = "a", kind = "host" }, { name = "mast", kind = "router" }, { name = "b", kind = "host" }]
link = [
    { from = "a", to = "mast", rate = "1 Gb/s", delay = "1 us" },
    { name = "radio", from = "mast", to = "b", rate = LAW, delay = "5 ms" },
]
[port.radio]
buffer = "6 packets"
"""


def path(**settings: str) -> tuple[pushout.Path, int, int, int]:
    made = pushout.Path(rate="12 Mb/s", delay="10 ms", **settings)
    client, server = made.host("client1"), made.host("server1")
    return made, client, server, made.open(client, server)


def test_packets_come_out_with_their_fates() -> None:
    made, client, server, flow = path(buffer="2 packets")
    handles = [made.offer(0.0, client, 1500, flow) for _ in range(3)]
    again = made.copy()
    assert made.queue("bottleneck").limit == 2
    ended = []
    while (due := made.next()) is not None:
        taken = made.take(due)
        assert all(packet.at == due for packet in taken)
        ended += taken
    assert [packet.handle for packet in ended if packet.arrived] == handles[:2]
    (lost,) = [packet for packet in ended if packet.fate == "lost"]
    assert (lost.handle, lost.to, lost.port, lost.rule, lost.reason) == (
        handles[2],
        server,
        "bottleneck",
        "tail-drop",
        "overflow",
    )
    assert again.take(1.0) == ended
    why = made.why(handles[2])
    assert why is not None
    assert [cause.handle for cause in why.saved_by] == handles[:2]
    assert made.why(handles[0]) is None
    counts = made.counts(flow, server)
    assert (counts.offered, counts.arrived, counts.lost, counts.octets) == (3, 2, 1, 3000)
    assert (counts.loss, counts.marks) == (pytest.approx(1 / 3), 0.0)
    assert made.counts(flow, client).offered == 0
    told = made.explain()
    assert "client1-server1.1: offered 3, arrived 2, lost 1 (33.3 %); longest silence 0 s" in told
    assert "port bottleneck lost 1 by tail-drop" in told


def test_marks_and_both_directions() -> None:
    made, client, server, flow = path(policy="{ policy = 'step', threshold = '3 kB', action = 'mark' }", buffer="60 kB")
    for _ in range(8):
        made.offer(0.0, server, 1500, flow, ecn=2)
    ended = made.take(0.1)
    assert {packet.to for packet in ended} == {client}
    assert {packet.port for packet in ended if packet.fate == "marked"} == {"bottleneck.back"}


def test_the_run_is_a_scenario() -> None:
    made, client, server, flow = path(buffer="2 packets")
    for _ in range(5):
        made.offer(0.25, client, 1500, flow)
    made.take(0.5)
    ports = pushout.run(made.scenario_file()).document["ports"]
    assert [port["lost"] for port in ports if port["name"] == "bottleneck"] == [{"overflow": 3}]
    assert made.flow_name(flow, server) == "client1-server1.1"


@pytest.mark.parametrize(
    "law",
    [
        '{ steps = [["0 s", "12 Mb/s"], ["3 ms", "1.2 Mb/s"], ["9 s", "24 Mb/s"]] }',
        '{ grants = { every = "10 ms", size = "3000 bytes" } }',
        '{ states = { good = "12 Mb/s", bad = "1.2 Mb/s", to_bad = "100 per s", to_good = "100 per s" } }',
        '{ trace = "cell.trace", data = "1\\n3\\n7\\n" }',
    ],
)
def test_a_path_whose_rate_changes_is_repeated_by_its_scenario(law: str) -> None:
    made = pushout.Path.from_toml(CHANGING.replace("LAW", law))
    client, server = made.host("a"), made.host("b")
    flow = made.open(client, server)
    for _ in range(8):
        made.offer(0.0, client, 1500, flow)
    while (due := made.next()) is not None:
        made.take(due)
    counts = made.counts(flow, server)
    assert (counts.arrived, counts.under_way) == (6, 0)
    ports = pushout.run(made.scenario_file()).document["ports"]
    assert [(port["units_in"], port["frames_whole_out"]) for port in ports if port["name"] == "radio"] == [(8, 6)]


def test_an_instant_that_seconds_cannot_hold_is_reached_at_the_next_one_that_they_can() -> None:
    made, client, _, flow = path()
    for instant in (20_000.123456789, 132_110.36316967878, 4_319_990.7):
        handle = made.offer(instant, client, 1500, flow)
        taken = []
        for _ in range(20):
            if (due := made.next()) is None:
                break
            taken += made.take(due)
        assert [packet.handle for packet in taken] == [handle]
        assert made.next() is None


def test_a_network_of_cells_is_refused_when_a_flow_is_opened() -> None:
    made = pushout.Path.from_toml((ROOT / "scenarios" / "lan.toml").read_text(encoding="utf-8"))
    with pytest.raises(pushout.ScenarioError, match="must carry packets, not cells: a path is of packets"):
        made.open(made.host("source1"), made.host("sink1"))


def test_what_cannot_be_is_an_error() -> None:
    made, client, _, flow = path()
    made.take(1.0)
    for now, octets, ecn, why in [
        (0.5, 100, 0, "now must be at least 1 s"),
        (-1.0, 100, 0, "now must be at least 0"),
        (1.0, 0, 0, "a packet must have 29 to 1500 octets"),
        (1.0, 70_000, 0, "not 70000"),
        (1.0, 100, 3, "ecn must be 0, 1"),
    ]:
        with pytest.raises(ValueError, match=why):
            made.offer(now, client, octets, flow, ecn)
    with pytest.raises(ValueError, match="did you mean"):
        made.host("client2")
    with pytest.raises(pushout.ScenarioError):
        pushout.Path(policy="codell")
    with pytest.raises(pushout.ScenarioError):
        pushout.Path.from_toml("name = ")
