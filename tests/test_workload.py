"""Workloads from lists: CSV, connection matrices and flow files as they are, triggers, and hostile files."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import command
from pushout import flowlist
from pushout.errors import ScenarioError
from pushout.source import load

FABRIC: dict[str, Any] = {
    "name": "listed",
    "duration": "20 ms",
    "adaptation": {"kind": "packet"},
    "topology": {
        "template": "leaf-spine",
        "leaves": 4,
        "spines": 2,
        "hosts": 4,
        "host": {"rate": "10 Gb/s", "delay": "1 us"},
        "fabric": {"rate": "10 Gb/s", "delay": "1 us"},
    },
    "port": {"default": {"buffer": "200 kB"}},
    "flows": {"transport": {"kind": "tcp", "profile": "datacenter"}},
    "measure": {"transfers": True},
}

CSV = "from,to,bytes,start,name,class,after\nhost1,host16,64 kB,0,first,short,\nhost16,host1,1000,5 us,,,first\n"

FLOWS = "3\n0 3 3 100 500000 0.001\n1 3 3 100 500000 0.001001\n\n2 3 1 200000 0.002\n"
"""Flows with a port, as HPCC has them, and one without, as ConWeave has them."""

MATRIX = """Nodes 16
Connections 3
0->15 start 0 size 2000000
1->15 id 2 start 1000000 size 1000
2->3 start 5.5 size 1 prio 7
"""

TRIGGERS = """Nodes 16
# a ring of two steps, and a barrier behind it
Connections 4
Triggers 2
0->1 id 1 start 0 size 100000 send_done_trigger 1
1->2 id 2 trigger 1 size 100000 recv_done_trigger 2
2->3 id 3 start 0 size 5000 send_done_trigger 2
3->0 id 4 trigger 2 size 100
trigger id 1 oneshot
trigger id 2 barrier count 2
"""


@pytest.fixture(autouse=True)
def _in_the_folder_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mapping names files below the current folder."""
    monkeypatch.chdir(tmp_path)


def listed(text: str, file: str = "flows.csv") -> dict[str, Any]:
    """A fabric whose hosts send what a file with this text lists."""
    Path(file).write_text(text, encoding="utf-8")
    return {**FABRIC, "workload": {"kind": "list", "file": file}}


def transfers(text: str, file: str = "flows.csv") -> list[dict[str, Any]]:
    """The transfers of a run that finishes all of them."""
    document = pushout.run(listed(text, file), audit=True).document
    assert document["summary"]["workload"]["completed"] == len(document["transfers"])
    assert document["audit"]["failures"] == []
    found: list[dict[str, Any]] = document["transfers"]
    return found


def test_a_file_of_csv_is_a_workload() -> None:
    first, second = transfers(CSV)
    assert (first["name"], first["from"], first["to"], first["octets"]) == ("first", "host1", "host16", 64_000)
    assert (second["name"], second["octets"]) == ("workload.2", 1000)
    assert second["start_s"] == pytest.approx(first["time_s"] + 5e-6, abs=1e-12)


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_a_flow_file_of_the_hpcc_family_is_a_workload(engine: Any) -> None:
    document = pushout.run(listed(FLOWS, "flow.txt"), engine=engine).document
    found = [(row["from"], row["to"], row["octets"], row["start_s"]) for row in document["transfers"]]
    assert found == [
        ("host1", "host4", 500_000, 0.001),
        ("host2", "host4", 500_000, 0.001001),
        ("host3", "host4", 200_000, 0.002),
    ]
    assert [each["name"] for each in document["summary"]["classes"]] == ["pg3", "pg1"]


def test_a_connection_matrix_is_a_workload() -> None:
    found = [(row["name"], row["from"], row["to"], row["octets"], row["start_s"]) for row in transfers(MATRIX, "a.cm")]
    assert found == [
        ("workload.1", "host1", "host16", 2_000_000, 0.0),
        ("workload.2", "host2", "host16", 1000, 1e-6),
        ("workload.3", "host3", "host4", 1, 5e-12),
    ]


def test_triggers_of_a_matrix_are_an_order() -> None:
    one, two, three, four = transfers(TRIGGERS, "a.cm")
    ends = [row["start_s"] + row["time_s"] for row in (one, two, three)]
    assert [row["name"] for row in (one, two, three, four)] == ["id1", "id2", "id3", "id4"]
    assert two["start_s"] == pytest.approx(ends[0], abs=1e-12)
    assert four["start_s"] == pytest.approx(max(ends[1:]), abs=1e-12)
    document = pushout.run(listed(TRIGGERS, "a.cm")).document
    assert document["summary"]["workload"]["critical_path"] == ["id1", "id2", "id4"]


def test_replications_with_other_critical_paths_are_merged() -> None:
    rows = "".join(f"host{n},host16,300 kB,0,t{n},{f't{n - 8}' if n > 8 else ''}\n" for n in range(1, 16))
    asked = listed(f"from,to,bytes,start,name,after\n{rows}")
    asked["port"] = {"default": {"buffer": "20 kB"}}
    paths = {tuple(pushout.run(asked, seed=seed)["summary.workload.critical_path"]) for seed in (1, 2, 3, 4)}
    assert len(paths) > 1
    document = pushout.run(asked, reps=4).document
    assert tuple(document["summary"]["workload"]["critical_path"]) in paths
    assert document["summary"]["workload"]["last_finish_s"]["n"] == 4


def test_a_thousand_rows_run_as_they_are() -> None:
    flows = [f"{n % 16} {(7 * n + 1) % 16} 3 {1 + n % 5000} {n * 1e-6:.9f}" for n in range(1_300)]
    flows = [row for row in flows if row.split()[0] != row.split()[1]][:1_000]
    assert len(transfers("\n".join(["1000", *flows]), "flow.txt")) == 1_000
    matrix = [f"{n % 16}->{(5 * n + 3) % 16} start {n * 1000} size {1 + n}" for n in range(1_400)]
    matrix = [row for row in matrix if len(set(row.split()[0].split("->"))) == 2][:1_000]
    assert len(transfers("\n".join(["Nodes 16", "Connections 1000", *matrix]), "a.cm")) == 1_000


def test_verbs_that_read_files_of_their_own_take_a_workload(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.json").write_text(json.dumps(listed(CSV)), encoding="utf-8")
    Path("sweep.toml").write_text(
        'scenario = "s.json"\nreps = 1\nset = ["duration=2 ms"]\n[grid]\n"port.default.buffer" = ["9 kB", "90 kB"]\n'
    )
    sets = ("--set", "duration=2 ms")
    command("explain", "s.json", *sets)
    assert "workload (2)" in capsys.readouterr().out
    Path("flows.csv").write_text("from,to,bytes,start\n0,15,200 kB,0\n1,15,200 kB,0\n", encoding="utf-8")
    command("why", "s.json", "--loss", "1", "--set", "port.default.buffer=9 kB", *sets)
    assert " was lost " in capsys.readouterr().out
    command("sweep", "sweep.toml")
    rows = Path("results/sweep/rows.parquet")
    assert rows.exists() or rows.with_suffix(".csv").exists()


def test_the_explicit_form_runs_without_the_file() -> None:
    asked = listed(CSV)
    explained = pushout.explain(asked)
    expected = pushout.run(asked).document
    Path("flows.csv").unlink()
    explained.pop("name")
    document = pushout.run({"name": "listed", **explained}).document
    assert document["transfers"] == expected["transfers"]


def test_rows_may_be_written_in_the_scenario() -> None:
    asked = {**FABRIC, "workload": {"kind": "list", "data": CSV}}
    assert pushout.run(asked).document["transfers"] == transfers(CSV)


def test_letters_of_any_kind_are_kept() -> None:
    names = ["größe", "日本", "\U0001d11e", "a\x7fb"]
    text = "from,to,bytes,start,name\n" + "".join(f"0,1,1,0,{name}\n" for name in names[:3])
    Path("s.toml").write_text(pushout.Scenario(listed(text)).to_toml(), encoding="utf-8")
    document = pushout.run("s.toml").document
    assert [row["name"] for row in document["transfers"]] == names[:3]
    with pytest.raises(ScenarioError, match="a name has 1 to 100 characters"):
        pushout.run(listed(f"from,to,bytes,start,name\n0,1,1,0,{names[3]}\n"))


HEAD = "from,to,bytes,start,name,after\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEAD}0,1,1,0,,\n0,16,1,0,,\n", "flows.csv:3: to must be a host, from 0 to 15 in this scenario, not 16"),
        (f"{HEAD}0,hots1,1,0,,\n", 'flows.csv:2: to: unknown node "hots1"; did you mean "host1"?'),
        (f"{HEAD}0,1,1,-5,,\n", "flows.csv:2: start must be from 0 to 50 days"),
        (
            f"{HEAD}0,1,1,0,a,b\n0,1,1,0,b,a\n",
            "flows.csv:2: after must not lead back to the same transfer: a waits for b",
        ),
        (f"{HEAD}0,1,1,0,a,c\n", 'flows.csv:2: after: unknown transfer "c"'),
        ("root:x:0:0:root\n", "flows.csv:1: column 1 is unknown"),
        ("5 1 4\n", "flows.csv:1: must be a list of flows, not a topology"),
        ("", "the file must not be empty"),
        ("2\n0 1 3 100 1 0\n", "must have 2 flows, as its first line says, not 1"),
        ("1\n0 16 3 100 1 0\n", "flows.csv:2: to must be a host, from 0 to 15"),
        ("1\n0 1 3 100 1 -1\n", "flows.csv:2: the start must be a number from 0"),
        ("Nodes 4\n0->1 trigger 3 size 5\n", "flows.csv:2: the trigger '3' must be described"),
        (
            "Nodes 4\n0->1 trigger 3 size 5\ntrigger id 3 oneshot\n",
            "flows.csv:2: the trigger 3 must be the send_done_trigger",
        ),
        (
            "Nodes 4\n0->1 start 0 size 5 send_done_trigger 3\n0->2 trigger 3 size 5\ntrigger id 3 barrier count 2\n",
            "flows.csv:3: the trigger 3 must wait for the end of all flows that name it, not for 2 of 1",
        ),
        ("Nodes 4\nFailures 1\n", "flows.csv:2: Failures must be 0"),
        ("Nodes 4\n0->1 start 0 size 5 shape 3\n", "flows.csv:2: a connection must have the keys"),
    ],
)
def test_a_wrong_file_gets_one_message_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        pushout.validate(listed(text))
    assert message in str(caught.value)
    assert len(str(caught.value)) <= 300
    assert "root" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"from,to,bytes,start\n\xff\n", "line 2: is not UTF-8 text"),
        (b"from,to,bytes,start" + b" " * 70_000, "line 1: must be shorter than 65536 bytes"),
    ],
)
def test_what_is_no_text_is_refused(content: bytes, message: str) -> None:
    asked = listed("")
    Path("flows.csv").write_bytes(content)
    with pytest.raises(ScenarioError, match=message):
        pushout.validate(asked)


def test_a_list_without_end_is_refused_at_its_limit() -> None:
    class Endless:
        """A file of ten million rows, none of which is stored."""

        def __init__(self) -> None:
            self.lines: Iterator[bytes] = self._lines()
            self.read = 0

        def _lines(self) -> Iterator[bytes]:
            yield HEAD.encode()
            for _ in range(10**7):
                yield b"0,1,1000,0,,\n"

        def readline(self, _: int) -> bytes:
            self.read += 1
            return next(self.lines, b"")

    file: Any = Endless()
    with pytest.raises(ScenarioError, match="endless:1000002: a scenario has at most 1000000 transfers"):
        flowlist.rows(file, "endless")
    assert file.read == flowlist.MOST_FLOWS + 2


def test_a_file_is_read_below_the_folder_of_the_scenario_only(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    asked = listed(CSV)
    asked["workload"]["file"] = "../flows.csv"
    (inner / "s.json").write_text(json.dumps(asked), encoding="utf-8")
    with pytest.raises(ScenarioError, match="must lie below the folder of the scenario"):
        pushout.run(inner / "s.json")
    allowed = load(inner / "s.json", allow_files=[tmp_path])
    assert pushout.run(allowed).document["summary"]["workload"]["completed"] == 2
    asked["workload"]["file"] = "missing.csv"
    with pytest.raises(ScenarioError, match=r"missing.csv: no such file; its path is relative to the scenario"):
        pushout.run(asked)


SIZES = [(0, 0), (10_000, 15), (20_000, 20), (1_000_000, 70), (30_000_000, 100)]


@pytest.mark.parametrize("line", ["{size} {percent}", "{percent}, {size}", "{size};{share}"])
def test_sizes_of_a_file_are_drawn_as_those_of_a_table(line: str) -> None:
    text = "\n".join(line.format(size=size, percent=percent, share=percent / 100) for size, percent in SIZES)
    Path("sizes.txt").write_text(f"{text}\n", encoding="utf-8")
    table = [[f"{size} bytes", percent / 100] for size, percent in SIZES]

    def drawn(sizes: Any) -> list[dict[str, Any]]:
        source = {"kind": "arrivals", "sizes": sizes, "load": "60 %", "to": "other-leaf"}
        asked = {**FABRIC, "flows": {**FABRIC["flows"], "source": source}}
        assert pushout.explain(asked)["flow"][0]["source"]["kind"] == "arrivals"
        found: list[dict[str, Any]] = pushout.run(asked).document["transfers"]
        return found

    assert len(drawn({"file": "sizes.txt"})) > 20
    assert drawn({"file": "sizes.txt"}) == drawn({"table": table})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 0\n10000 secret\n", "sizes.txt:2: must have two numbers from 0"),
        ("0 0\n10000 50\n", "sizes.txt:2: the last share must be 100 %"),
        ("0 0\n10000 50\n5000 100\n", "sizes.txt:3: neither size nor share must fall"),
    ],
)
def test_a_wrong_table_of_sizes_gets_one_message_with_its_line(text: str, message: str) -> None:
    Path("sizes.txt").write_text(text, encoding="utf-8")
    source = {"kind": "arrivals", "sizes": {"file": "sizes.txt"}, "load": "60 %", "to": "other-leaf"}
    with pytest.raises(ScenarioError) as caught:
        pushout.validate({**FABRIC, "flows": {**FABRIC["flows"], "source": source}})
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_one_file_is_sent_at_each_instant(engine: Any) -> None:
    source = {"kind": "file", "size": "64 kB", "at": ["1 ms", "2 ms", "2.001 ms"]}
    asked = {
        **FABRIC,
        "topology": {**FABRIC["topology"], "leaves": 2, "hosts": 1},
        "flows": {"source": source, "transport": {"kind": "tcp", "profile": "datacenter"}, "start": "3 ms"},
        "flow": [{"name": "flow2", "start": "1 s"}],
    }
    document = pushout.run(asked, engine=engine).document
    assert document["summary"]["transfers"] == 3
    one, two, late = document["flows"][0]["transfer_times_s"]
    assert one == pytest.approx(two, rel=1e-9)
    assert late == pytest.approx(2 * two - 1e-6, rel=1e-6), "it waits for the one before, and that counts"


@pytest.mark.parametrize(
    ("transport", "warned"),
    [
        ({"kind": "tcp"}, True),
        ({"kind": "tcp", "profile": "linux"}, True),
        ({"kind": "tcp", "delayed_ack": False}, False),
    ],
)
def test_steps_that_wait_for_a_delayed_acknowledgement_are_reported(transport: dict[str, Any], warned: bool) -> None:
    wire = {"rate": "1 Gb/s", "delay": "10 us"}
    scenario = {
        "name": "steps",
        "duration": "2 s",
        "adaptation": {"kind": "packet"},
        "topology": {"template": "dumbbell", "sources": 2, "access": wire, "bottleneck": wire},
        "flows": {"transport": transport},
        "workload": {
            "kind": "list",
            "data": "from,to,bytes,start,name,after\nsource1,sink1,5000,0,a,\nsource2,sink2,5000,0,b,a\n",
        },
    }
    codes = [each["code"] for each in pushout.validate(scenario)]
    assert ("delayed-steps" in codes) is warned
    (message,) = [each["message"] for each in pushout.validate(scenario) if each["code"] == "delayed-steps"] or [""]
    assert ("flows.transport.delayed_ack = false" in message) is warned
    alone = {**scenario, "workload": {"kind": "list", "data": "from,to,bytes,start\nsource1,sink1,5000,0\n"}}
    assert "delayed-steps" not in [each["code"] for each in pushout.validate(alone)]
