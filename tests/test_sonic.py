"""A scenario from the tables of a switch: its memory has their numbers, it runs, and wrong tables get one message."""

import json
import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import command
from pushout.cli import main
from pushout.errors import QuestionError
from pushout.scenario import written
from pushout.simulate import Job
from pushout.source import load
from pushout.switch import sonic, sonic_tables
from pushout.warning import of_scenario

PORTS = ("Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12")

LOSSLESS = {"pool": "ingress_lossless_pool", "xon": "2496", "xon_offset": "2496", "size": "1248", "dynamic_th": "0"}

BUFFERS: dict[str, Any] = {
    "CABLE_LENGTH": {"AZURE": dict.fromkeys(PORTS, "300m") | {"Ethernet8": "40m"}},
    "PORT": {name: {"speed": "100000"} for name in PORTS} | {"Ethernet8": {"speed": "40000"}},
    "BUFFER_POOL": {
        "ingress_lossless_pool": {"size": "10875072", "type": "ingress", "mode": "dynamic", "xoff": "4194112"},
        "egress_lossless_pool": {"size": "15982720", "type": "egress", "mode": "static"},
        "egress_lossy_pool": {"size": "9243812", "type": "egress", "mode": "dynamic"},
    },
    "BUFFER_PROFILE": {
        "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "static_th": "10875072"},
        "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "static_th": "15982720"},
        "egress_lossy_profile": {"pool": "[BUFFER_POOL|egress_lossy_pool]", "size": "1664", "dynamic_th": "3"},
        "pg_lossless_100000_300m_profile": {**LOSSLESS, "xoff": "268736"},
        "pg_lossless_40000_40m_profile": {**LOSSLESS, "xoff": "77376"},
    },
    "BUFFER_PG": {
        f"{','.join(PORTS)}|0": {"profile": "ingress_lossy_profile"},
        "Ethernet0|3-4": {"profile": "pg_lossless_100000_300m_profile"},
        "Ethernet4,Ethernet12|3-4": {"profile": "[BUFFER_PROFILE|pg_lossless_100000_300m_profile]"},
        "Ethernet8|3-4": {"profile": "pg_lossless_40000_40m_profile"},
    },
    "BUFFER_QUEUE": {
        f"{','.join(PORTS)}|3-4": {"profile": "egress_lossless_profile"},
        f"{','.join(PORTS)}|0-2": {"profile": "egress_lossy_profile"},
    },
}
"""The tables of a Tomahawk with four ports, as SONiC has them."""

QOS: dict[str, Any] = {
    "WRED_PROFILE": {
        "AZURE": {
            "ecn": "ecn_all",
            "green_min_threshold": "250000",
            "green_max_threshold": "1048576",
            "green_drop_probability": "5",
        }
    },
    "QUEUE": {
        f"{','.join(PORTS)}|3-4": {"scheduler": "scheduler.1", "wred_profile": "AZURE"},
        f"{','.join(PORTS)}|0-2": {"scheduler": "scheduler.0"},
    },
    "SCHEDULER": {
        "scheduler.0": {"type": "DWRR", "weight": "14"},
        "scheduler.1": {"type": "DWRR", "weight": "15"},
    },
    "PORT_QOS_MAP": {
        ",".join(PORTS): {
            "pfc_enable": "3,4",
            "dscp_to_tc_map": "AZURE",
            "tc_to_queue_map": "AZURE",
            "tc_to_pg_map": "[TC_TO_PRIORITY_GROUP_MAP|AZURE]",
        }
    },
    "DSCP_TO_TC_MAP": {"AZURE": {"0": "1", "1": "1", "3": "3", "4": "4", "8": "0", "46": "0"}},
    "TC_TO_QUEUE_MAP": {"AZURE": {str(number): str(number) for number in range(8)}},
    "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {str(number): str(number if number in (3, 4) else 0) for number in range(8)}},
}
"""The tables of its queues: five with weights, of which two mark, and two are stopped by pause frames."""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The tables in two files."""
    buffers, qos = tmp_path / "buffers.json", tmp_path / "qos.json"
    buffers.write_text(json.dumps(BUFFERS), encoding="utf-8")
    qos.write_text(json.dumps(QOS), encoding="utf-8")
    return buffers, qos


def test_the_memory_has_the_numbers_of_the_tables(files: tuple[Path, Path]) -> None:
    found = sonic.read(files, 208).scenario
    result = pushout.run(found, audit=True)
    (memory,) = result.document["memories"]
    pools = {pool["name"]: (pool["shared"], pool["headroom"]) for pool in memory["pools"]}
    assert pools["ingress_lossless_pool"] == (10_875_072 // 208, 4_194_112 // 208)
    assert pools["egress_lossy_pool"][0] == 9_243_812 // 208
    assert {queue["queue"] for queue in memory["queues"]} == {
        "egress_lossy_profile",
        "pg_lossless_100000_300m_profile",
        "pg_lossless_40000_40m_profile",
    }
    assert all(port.get("lossless_drop", 0) == 0 for port in result.document["ports"])
    assert result["summary.goodput_ratio"] > 0.9
    delays = {link["name"]: (link["rate"], link["delay"]) for link in found["link"]}
    assert delays["Ethernet8"] == ("40000 Mb/s", "202020 ps")
    assert delays["Ethernet0"] == ("100000 Mb/s", "1515152 ps")


def test_counts_follow_from_the_tables(files: tuple[Path, Path]) -> None:
    buffers, qos = files
    result = pushout.chip_predict(buffers, qos=qos, cell=208)
    lossy, lossless = "egress_lossy_profile", "pg_lossless_40000_40m_profile"
    assert result[f"{lossy}.fill"] == 8
    assert result[f"{lossy}.drop"] == 39_504 + 8, "8/9 of 44 441 cells, rounded up"
    assert result[f"{lossless}.xoff"] == 26_142 + 6, "half of 52 284 cells"
    assert result[f"{lossless}.headroom"] == 77_376 // 208
    assert result[f"{lossless}.mark"] == 1_203, "250 000 bytes are 1202 cells"
    with pytest.raises(QuestionError, match=r"egress_lossy_profile\.drop"):
        result["egress_lossy_profile.dorp"]


def test_a_profile_marks_or_drops_and_equal_thresholds_are_a_step(files: tuple[Path, Path]) -> None:
    buffers, qos = files
    level = {"green_min_threshold": "182000", "green_max_threshold": "182000"}
    qos.write_text(json.dumps({**QOS, "WRED_PROFILE": {"AZURE": {"ecn": "ecn_all", **level}}}), encoding="utf-8")
    assert sonic.read(files, 208, sonic.Traffic(3)).scenario["port"]["Ethernet12"]["admission"]["policy"] == "step"
    for ecn, drops, action in (
        ("ecn_green", "true", "mark"),
        ("ecn_none", "true", "drop"),
        ("ecn_red", "true", "drop"),
    ):
        profile = {**QOS["WRED_PROFILE"]["AZURE"], "ecn": ecn, "wred_green_enable": drops}
        qos.write_text(json.dumps({**QOS, "WRED_PROFILE": {"AZURE": profile}}), encoding="utf-8")
        assert sonic.read([buffers, qos], 208, sonic.Traffic(3)).scenario["port"]["Ethernet12"]["admission"] == {
            "policy": "red",
            "action": action,
            "weight": 1.0,
            "max_p": 0.05,
            "min_threshold": "250000 bytes",
            "max_threshold": "1048576 bytes",
        }
    without = {**QOS, "WRED_PROFILE": {"AZURE": {"ecn": "ecn_none", **level}}}
    qos.write_text(json.dumps(without), encoding="utf-8")
    assert "admission" not in sonic.read([buffers, qos], 208, sonic.Traffic(3)).scenario["port"]["Ethernet12"]


def test_init_writes_a_scenario_that_runs(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    buffers, qos = files
    command("init", str(tmp_path / "lab"), "--sonic", str(buffers), "--qos", str(qos), "--cell", "208")
    sweep, predict = (f"{verb} {tmp_path / 'lab'}" for verb in ("sweep", "switch predict"))
    assert f"Next: pushout {sweep}/alpha.toml, or pushout {predict}/switch.toml" in capsys.readouterr().out
    written = tmp_path / "lab" / "switch.toml"
    comment = [line for line in written.read_text().splitlines() if line.startswith("# ")]
    assert comment[0] == "# From buffers.json, qos.json."
    entry = "BUFFER_PROFILE|egress_lossy_profile, queue 0 of Ethernet12; alpha = 2^3, as dynamic_th is 3; DSCP 8,46"
    assert f"# queue.egress_lossy_profile: {entry}" in comment
    assert any(line.startswith("# Not here: ") and "wred_profile AZURE is left out" in line for line in comment)
    read = {**sonic.read(files, 208).scenario, "name": "lab"}
    assert pushout.Scenario(written).explain() == pushout.Scenario(read).explain()
    command("run", str(written), "--json")
    assert json.loads(capsys.readouterr().out)["memories"][0]["name"] == "chip"
    command("switch", "predict", str(buffers), "--cell", "208", "--json")
    assert json.loads(capsys.readouterr().out)["expected"]


def test_scenarios_are_named_after_their_folders(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, name in (("my-switch", "my-switch"), ("rack 7/ü", "switch"), ("rack 7/b.2", "b-2")):
        (tmp_path / folder).mkdir(parents=True)
        command("init", str(tmp_path / folder), "--sonic", str(files[0]), "--cell", "208")
        assert pushout.Scenario(tmp_path / folder / "switch.toml").explain()["name"] == name
        assert f'name = "{name}-alpha"' in (tmp_path / folder / "alpha.toml").read_text()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    command("init", ".", "--sonic", str(files[0]), "--cell", "208")
    assert pushout.Scenario("switch.toml").explain()["name"] == "here"


def test_the_number_of_senders_and_the_round_trip_may_be_given() -> None:
    found = sonic.tabled(BUFFERS, 208, sonic.Traffic(senders=1, rtt="30 us"))
    (sender, receiver), factor = found.scenario["link"], {"ns": 1000, "ps": 1}
    ways = [sender["delay"], receiver["delay"], receiver["back"]["delay"], sender["delay"]]
    assert sum(int(number) * factor[unit] for number, unit in (way.split() for way in ways)) == 30 * 10**6
    assert any("headroom counts cables alone" in fact for fact in found.facts)
    assert of_scenario(load(found.scenario), ()) == [], "no link lacks headroom"
    ports = len({name for key in BUFFERS["BUFFER_PG"] for name in key.partition("|")[0].split(",")})
    with pytest.raises(QuestionError, match=f"senders must be from 1 to {ports - 1}, as BUFFER_PG has {ports} ports"):
        sonic.tabled(BUFFERS, 208, sonic.Traffic(senders=ports))
    with pytest.raises(
        QuestionError, match=r"rtt must be a time from .* us, that of the cables, to 10 s, as in '30 us', not"
    ):
        sonic.tabled(BUFFERS, 208, sonic.Traffic(rtt="1 ns"))


def _needs(scenario: dict[str, Any]) -> dict[str, int]:
    """The cells of headroom that `explain` finds for each line."""
    sentence = re.compile(r'over "(\w+)": the link needs (\d+) cells')
    notes = Job(load(scenario)).scenario.thresholds()
    return {found[1]: int(found[2]) for note in notes if (found := sentence.search(note))}


@pytest.mark.parametrize("queue", [None, 3])
@pytest.mark.parametrize("xoff", ["20000", "268736"])
@pytest.mark.parametrize(("mtu", "other", "of_ports"), [(4096, 9100, None), (1024, None, "9100"), (1500, 64, "9100")])
def test_headroom_and_explain_agree_about_every_line(
    tmp_path: Path, queue: int | None, xoff: str, mtu: int, other: int | None, of_ports: str | None
) -> None:
    tables = deepcopy({**BUFFERS, **QOS})
    for name in ("pg_lossless_100000_300m_profile", "pg_lossless_40000_40m_profile"):
        tables["BUFFER_PROFILE"][name]["xoff"] = xoff
    for row in tables["PORT"].values():
        row |= {} if of_ports is None else {"mtu": of_ports}
    file = tmp_path / "config_db.json"
    file.write_text(json.dumps(tables), "utf-8")
    found = sonic.tabled(tables, 208, sonic.Traffic(queue, mtu=mtu, other=other))
    rows = pushout.headroom(file, mtu=mtu, other=other, cell=208).document["rows"]
    needs = {row["name"].partition("|")[0]: row["need_cells"] for row in rows}
    assert _needs(found.scenario) == {name: needs[name] for name in PORTS[:-1]}
    assert any(f"frames of {mtu} bytes, against frames of {other or 9100} bytes" in fact for fact in found.facts)
    warned = any(
        "may lose packets although it pauses" in each["message"] for each in of_scenario(load(found.scenario), ())
    )
    assert any(fact.startswith("flow.back-NAME: 1 Mb/s of the largest frames") for fact in found.facts)
    verdicts = {row["name"].partition("|")[0]: row["verdict"] for row in rows}
    assert warned == any(verdicts[name] == "too little" for name in PORTS[:-1])
    assert pushout.run(found.scenario).document["flows"]


def test_what_headroom_cannot_count_stands_in_the_scenario() -> None:
    tables = deepcopy(BUFFERS)
    tables["PORT"]["Ethernet8"]["speed"] = "20000"
    facts = [fact for fact in sonic.tabled(tables, 208).facts if "its headroom" in fact]
    assert "--mtu gives others" in facts[0]
    assert "acknowledgements alone (--other gives longer ones); response of the senders: that of 802.3" in facts[0]
    assert "none: 802.3 has no value for their rate" in facts[1]


def test_hosts_of_one_queue_pause_against_phase_effects() -> None:
    """Under tail drop greedy flows over lines of one rate are locked, unless their hosts pause at random."""
    found = sonic.tabled({**BUFFERS, **QOS}, 208, sonic.Traffic(3)).scenario
    assert [link.get("pause") for link in found["link"]] == ["120 ns", "120 ns", "300 ns", None]
    found["port"]["Ethernet12"] = {"buffer": "100 kB"}
    for flow in found["flow"]:
        del flow["queue"]
    found = {key: value for key, value in found.items() if key not in ("queue", "memory")}
    assert not any(each["code"] == "phase-capture" for each in of_scenario(load(found), ()))
    for link in found["link"]:
        link.pop("pause", None)
    assert any(each["code"] == "phase-capture" for each in of_scenario(load(found), ()))


def test_what_is_left_out_for_one_reason_stands_in_one_line() -> None:
    more = {name: {"x": {"y": "z"}} for name in ("ACL_RULE", "BGP_NEIGHBOR", "VLAN")}
    tables = deepcopy({**BUFFERS, **QOS, **more})
    for row in tables["PORT"].values():
        row.update(alias="etp", mtu="9100")
    for number in range(3):
        tables["BUFFER_PROFILE"][f"spare{number}"] = dict(tables["BUFFER_PROFILE"]["egress_lossy_profile"])
    left_out = sonic.tabled(tables, 208).left_out
    assert "tables: the tables ACL_RULE, BGP_NEIGHBOR, VLAN are left out: they are not read" in left_out
    assert sum("spare" in line for line in left_out) == 1
    assert sum("alias 'etp' is left out" in line for line in left_out) == 1
    for number, row in enumerate(tables["PORT"].values()):
        row.update(alias=f"etp{number}")
    assert any("alias 'etp0' and others is left out" in line for line in sonic.tabled(tables, 208).left_out)


def test_init_writes_a_sweep_of_alpha_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = sonic.tabled(BUFFERS, 208)
    text = sonic.sweep_of(found, "switch.toml")
    assert text is not None
    assert "queue.egress_lossy_profile.alpha = [0.125, 0.5, 2.0, 8.0]" in text
    monkeypatch.chdir(tmp_path)
    Path("switch.toml").write_text(written(found.scenario), "utf-8")
    Path("alpha.toml").write_text(text.replace("reps = 20", "reps = 2"), "utf-8")
    assert len(pushout.sweep("alpha.toml").points) == 4
    fixed = deepcopy(BUFFERS)
    for row in fixed["BUFFER_PROFILE"].values():
        row.pop("dynamic_th", None)
        row["static_th"] = "100000"
    assert sonic.sweep_of(sonic.tabled(fixed, 208), "switch.toml") is None


def test_many_ports_send_at_most_as_many_as_are_useful() -> None:
    tables = deepcopy(BUFFERS)
    tables["BUFFER_PG"] = {
        f"Ethernet{4 * number}|3": {"profile": "pg_lossless_100000_300m_profile"} for number in range(64)
    }
    tables["BUFFER_PG"]["Ethernet252|3"] = {"profile": "pg_lossless_40000_40m_profile"}
    found = sonic.tabled(tables, 208).scenario
    assert len(found["link"]) == sonic.MOST_SENDERS + 1
    assert found["link"][-1]["name"] == "Ethernet252", "each set of profiles has a port"


def test_what_the_scenario_lacks_of_the_tables_is_named_line_by_line() -> None:
    tables = deepcopy({**BUFFERS, **QOS})
    tables["WRED_PROFILE"]["OTHER"] = {**tables["WRED_PROFILE"]["AZURE"], "green_min_threshold": "100000"}
    tables["WRED_PROFILE"]["NONE"] = {"ecn": "ecn_none"}
    tables["QUEUE"] |= {"Ethernet12|5": {"wred_profile": "OTHER"}, "Ethernet12|6": {"wred_profile": "NONE"}}
    tables["BUFFER_QUEUE"] |= {"Ethernet12|5-6": {"profile": "egress_lossy_profile"}}
    tables["BUFFER_PG"]["Ethernet12|6"] = {"profile": "NULL"}
    tables["BUFFER_PROFILE"]["egress_lossy_profile"]["xon"] = "5"
    tables["SCHEDULER"]["scheduler.1"] |= {"cir": "1250000000", "meter_type": "packets"}
    tables["DSCP_TO_TC_MAP"]["OTHER"] = {str(number): "0" for number in range(64)}
    del tables["PORT"]["Ethernet4"], tables["CABLE_LENGTH"]["AZURE"]["Ethernet12"]
    policy = "is left out: the port has one policy for all its queues; make a scenario of one with --queue"
    assert sonic.tabled(tables, 208).left_out == [
        f"tables: {line}"
        for line in (
            "BUFFER_PROFILE|egress_lossy_profile: xon and xon_offset are left out, as there is no xoff",
            "BUFFER_PG|Ethernet12|6: profile NULL is left out; the switch computes one as it starts",
            "BUFFER_QUEUE|Ethernet12: of the queues 3-4 with profile pg_lossless_100000_300m_profile, which are alike, "
            "one is used; the others are left out",
            "BUFFER_QUEUE|Ethernet12: of the queues 3-4 with profile pg_lossless_40000_40m_profile, which are alike, "
            "one is used; the others are left out",
            "WRED_PROFILE|NONE is left out: with ecn ecn_none it does not mark green packets, and without "
            "wred_green_enable it drops none",
            "BUFFER_QUEUE|Ethernet12: of the queues 0-2 with profile egress_lossy_profile, which are alike, one is "
            "used; the others are left out",
            "BUFFER_PG: that pg_lossless_100000_300m_profile, pg_lossless_40000_40m_profile share queue 3 is left out: "
            "each has a queue of its own",
            "QUEUE: the scheduler of egress_lossy_profile-5 is not given: WRR with weight 1 is assumed",
            "QUEUE: the scheduler of egress_lossy_profile-6 is not given: WRR with weight 1 is assumed",
            f"QUEUE|Ethernet12|5: wred_profile OTHER {policy} 5",
            f"QUEUE|Ethernet12|3: wred_profile AZURE {policy} 3",
            "PORT|Ethernet4: speed is not given: 100000 Mb/s is assumed",
            "CABLE_LENGTH: Ethernet12 is not given: 5 m is assumed",
            "BUFFER_QUEUE and QUEUE of ports other than Ethernet12 are left out: only it receives",
            "BUFFER_PROFILE|egress_lossless_profile is left out: no class of the scenario has it",
            "DSCP_TO_TC_MAP|OTHER is left out: no port that sends has it",
            "BUFFER_POOL|ingress_lossless_pool and 2 more: mode 'dynamic' or 'static' is left out",
            "SCHEDULER|scheduler.1: cir '1250000000' is left out",
        )
    ]


@pytest.mark.parametrize("table", sonic_tables.READ)
def test_every_value_of_the_tables_changes_the_scenario_or_is_named(table: str) -> None:
    """Half a file: another value is refused, seen in the scenario, or named as left out."""
    tables = deepcopy({**BUFFERS, **QOS})
    before = sonic.tabled(tables, 208)
    for name, row in deepcopy(tables[table]).items():
        for key in row:
            changed = deepcopy(tables)
            changed[table][name][key] = "2"
            try:
                after = sonic.tabled(changed, 208)
            except QuestionError:
                continue
            named = any(key in line or name.rpartition("|")[2] in line for line in before.left_out)
            assert after != before or named, (name, key)


def test_the_commands_name_what_they_leave_out(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    buffers, qos = files
    given = (str(buffers), "--qos", str(qos), "--cell", "208")
    command("init", str(tmp_path / "lab"), "--sonic", *given)
    assert "make a scenario of one with --queue 3" in capsys.readouterr().err
    command("switch", "predict", *given, "--json")
    told = capsys.readouterr()
    assert "one is used; the others are left out" in told.err
    assert any("wred_profile AZURE" in line for line in json.loads(told.out)["left_out"])
    counts = {each["name"]: each["value"] for each in json.loads(told.out)["expected"]}
    marks = [name for name in counts if name.endswith(".mark")]
    assert marks == ["pg_lossless_100000_300m_profile.mark", "pg_lossless_40000_40m_profile.mark"], "of queue 3 alone"
    command("init", str(tmp_path / "queue"), "--sonic", *given, "--queue", "3")
    assert capsys.readouterr().err.count("wred_profile") == 0
    written = pushout.Scenario(tmp_path / "queue" / "switch.toml").explain()
    assert written["port"]["Ethernet12"]["admission"]["min_threshold"] == "250 kB"
    command("init", str(tmp_path / "none"), "--sonic", *given, "--queue", "9", code=3)
    assert "BUFFER_QUEUE|Ethernet12 must have an entry: no queue 9; there are 0-4" in capsys.readouterr().err


def test_a_profile_marks_its_own_queue_and_no_other() -> None:
    """A2: one profile of queues 3 and 4 marks every class of the port, and a second profile is lost."""
    tables = deepcopy({**BUFFERS, **QOS})
    tables["WRED_PROFILE"]["OTHER"] = {**tables["WRED_PROFILE"]["AZURE"], "green_min_threshold": "500000"}
    tables["QUEUE"]["Ethernet12|5"] = {"scheduler": "scheduler.0", "wred_profile": "OTHER"}
    tables["BUFFER_QUEUE"]["Ethernet12|5"] = {"profile": "egress_lossy_profile"}
    found = sonic.tabled(tables, 208)
    assert {name: policy["min_threshold"] for name, policy in found.admission.items()} == {
        "egress_lossy_profile-5": "500000 bytes",
        "pg_lossless_100000_300m_profile": "250000 bytes",
        "pg_lossless_40000_40m_profile": "250000 bytes",
    }
    assert "admission" not in found.scenario["port"]["Ethernet12"], "it would mark queues 0 to 2 as well"
    for queue, least in ((3, 250_000), (5, 500_000)):
        scenario = sonic.tabled(tables, 208, sonic.Traffic(queue)).scenario
        assert scenario["port"]["Ethernet12"]["admission"]["min_threshold"] == f"{least} bytes"
        result = pushout.run(scenario, audit=True)
        (port,) = [port for port in result.document["ports"] if port["name"] == "Ethernet12"]
        assert sum(port["marked"].values()) > 0
        assert sum(each["occupancy_max"] for each in result.document["memories"][0]["queues"]) > least // 208
    assert "admission" not in sonic.tabled(tables, 208, sonic.Traffic(0)).scenario["port"]["Ethernet12"]


SHARES = (
    ({"type": "DWRR", "weight": "5"}, {"type": "DWRR", "weight": "15"}, 0.25),
    ({"type": "DWRR", "weight": "40"}, {"type": "DWRR", "weight": "10"}, 0.8),
    ({"type": "DWRR"}, {"type": "STRICT"}, 0.0),
    ({"type": "STRICT"}, {"type": "DWRR", "weight": "15"}, 1.0),
    ({"type": "STRICT"}, {"type": "STRICT"}, 0.0),
    ({"type": "WRR", "weight": "1"}, {"type": "WRR", "weight": "3"}, 0.25),
    ({"type": "DWRR"}, {"type": "STRICT", "pir": "2500000000", "pbs": "8192"}, 0.8),
    ({"type": "DWRR", "cir": "3750000000"}, {"type": "STRICT"}, 0.3),
    ({"type": "DWRR", "cir": "0"}, {"type": "STRICT", "pir": "0"}, 0.0),
    ({"type": "DWRR", "cir": "10000000000", "cbs": "8192"}, {"type": "DWRR", "weight": "99"}, 0.8),
    ({"type": "WRR", "cir": "5000000000", "pir": "5000000000", "pbs": "9000"}, {"type": "WRR"}, 0.4),
)


@pytest.mark.parametrize(("of_first", "of_second", "share"), SHARES)
def test_queues_are_served_as_their_schedulers_say(
    of_first: dict[str, str], of_second: dict[str, str], share: float
) -> None:
    tables = deepcopy({**BUFFERS, **QOS})
    tables["SCHEDULER"] = {"first": of_first, "second": of_second}
    tables["BUFFER_PG"] = {f"{','.join(PORTS)}|0": {"profile": "ingress_lossy_profile"}}
    tables["QUEUE"] = {"Ethernet12|0": {"scheduler": "first"}, "Ethernet12|1": {"scheduler": "second"}}
    tables["BUFFER_QUEUE"] = {"Ethernet12|0-1": {"profile": "egress_lossy_profile"}}
    scenario = sonic.tabled(tables, 208).scenario
    udp = {"transport": {"kind": "udp"}, "source": {"kind": "cbr", "rate": "100 Gb/s", "size": "1000 bytes"}}
    scenario["flow"] = [{**flow, **udp} for flow in scenario["flow"]][:2]
    scenario |= {"duration": "3 ms", "warmup": "1 ms", "sample": "1 us"}
    rates = [flow["goodput_bps"] for flow in pushout.run(scenario, audit=True).document["flows"]]
    assert rates[0] / sum(rates) == pytest.approx(share, abs=0.01)


def test_codepoints_lead_through_both_maps_to_the_queue_of_a_class() -> None:
    tables = deepcopy({**BUFFERS, **QOS})
    before = sonic.tabled(tables, 208).facts
    assert [line.rpartition("; ")[2] for line in before if "DSCP" in line] == ["DSCP 8,46", "DSCP 3", "DSCP 3"]
    tables["TC_TO_QUEUE_MAP"]["AZURE"]["1"] = "0"
    found = sonic.tabled(tables, 208)
    assert found.facts[0].endswith("; DSCP 0-1,8,46")
    assert not any("DSCP" in line or "dscp" in line for line in found.left_out)
    del tables["PORT_QOS_MAP"][",".join(PORTS)]["dscp_to_tc_map"]
    found = sonic.tabled(tables, 208)
    assert not any("DSCP" in line for line in found.facts)
    assert "tables: DSCP_TO_TC_MAP|AZURE is left out: no port that sends has it" in found.left_out


def test_strict_priority_above_weights_is_written_as_it_is() -> None:
    tables = deepcopy({**BUFFERS, **QOS})
    tables["SCHEDULER"] = {
        "first": {"type": "DWRR", "weight": "5"},
        "second": {"type": "DWRR", "weight": "15"},
        "third": {"type": "STRICT"},
    }
    tables["QUEUE"] = {f"Ethernet12|{at}": {"scheduler": name} for at, name in enumerate(tables["SCHEDULER"])}
    tables["BUFFER_PG"] = {f"{','.join(PORTS)}|0": {"profile": "ingress_lossy_profile"}}
    tables["BUFFER_QUEUE"] = {"Ethernet12|0-2": {"profile": "egress_lossy_profile"}}
    found = sonic.tabled(tables, 208)
    assert found.scenario["port"]["Ethernet12"]["scheduler"] == {
        "policy": "strict-priority",
        "queues": "class",
        "group": {
            "policy": "drr",
            "quantum": "303 bytes",
            "queues": ["egress_lossy_profile-0", "egress_lossy_profile-1"],
        },
    }
    assert found.scenario["queue"]["egress_lossy_profile-2"]["priority"] == 0
    assert not any("weight" in line for line in found.left_out), found.left_out


def test_maps_lead_groups_to_their_queues() -> None:
    tables = deepcopy({**BUFFERS, **QOS})
    tables["TC_TO_QUEUE_MAP"]["AZURE"] |= {"3": "5"}
    tables["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"] |= {"3": "4", "4": "3"}
    before, after = sonic.tabled({**BUFFERS, **QOS}, 208, sonic.Traffic(3)), sonic.tabled(tables, 208, sonic.Traffic(5))
    assert list(after.scenario["queue"]) == list(before.scenario["queue"]), "class 3, group 4, queue 5"
    found = sonic.tabled(tables, 208, sonic.Traffic(3)).scenario
    assert list(found["queue"]) == ["egress_lossless_profile"], "no group enters it"
    tables["PORT_QOS_MAP"][",".join(PORTS)]["pfc_enable"] = "4"
    stopped = sonic.tabled(tables, 208)
    assert any("priority group 4 is left out: pfc_enable does not have it" in line for line in stopped.left_out)
    assert not any("priority group 3 is left out" in line for line in stopped.left_out)


Change = Callable[[dict[str, Any]], None]


def put(table: str, name: str, key: str, value: object) -> Change:
    """A change of one value."""

    def change(tables: dict[str, Any]) -> None:
        tables[table].setdefault(name, {})[key] = value

    return change


def marked(**values: str) -> Change:
    """A change of the profile that marks."""

    def change(tables: dict[str, Any]) -> None:
        tables.update(deepcopy(QOS))
        tables["WRED_PROFILE"]["AZURE"].update(values)

    return change


def served(**values: str) -> Change:
    """A change of a scheduler."""

    def change(tables: dict[str, Any]) -> None:
        tables.update(deepcopy(QOS))
        tables["SCHEDULER"]["scheduler.1"].update(values)

    return change


def mapped(table: str, name: str, key: str, value: str) -> Change:
    """A change of a map."""

    def change(tables: dict[str, Any]) -> None:
        tables.update(deepcopy(QOS))
        put(table, name, key, value)(tables)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            put("BUFFER_POOL", "egress_lossy_pool", "size", "many"),
            "BUFFER_POOL|egress_lossy_pool: size must be a number",
        ),
        (put("BUFFER_POOL", "egress_lossy_pool", "size", "-1"), "must be a number of bytes"),
        (put("BUFFER_POOL", "egress_lossy_pool", "size", "9" * 5000), "must be a number of bytes"),
        (put("BUFFER_POOL", "egress_lossy_pool", "type", "both"), "type must be ingress or egress"),
        (put("BUFFER_PROFILE", "egress_lossy_profile", "pool", "none"), "must name an entry of BUFFER_POOL"),
        (
            put("BUFFER_PROFILE", "egress_lossy_profile", "dynamic_th", "9"),
            "dynamic_th must be an integer n from -8 to 8",
        ),
        (put("BUFFER_PROFILE", "egress_lossy_profile", "dynamic_th", "1.5"), "dynamic_th must be an integer"),
        (put("BUFFER_PG", "Ethernet0|three", "profile", "ingress_lossy_profile"), "a key must be PORT|NUMBER"),
        (put("BUFFER_PG", "Ethernet0|7", "profile", "gone"), "must name an entry of BUFFER_PROFILE"),
        (put("PORT", "Ethernet0", "speed", "fast"), "speed must be a number of Mb/s"),
        (put("CABLE_LENGTH", "AZURE", "Ethernet0", "long"), "Ethernet0 must be a length, as in 40m"),
        (put("BUFFER_PG", "Ethernet0|7-6", "profile", "ingress_lossy_profile"), "a key must rise, up to 7, not"),
        (put("BUFFER_PG", "Ethernet0|5-8", "profile", "ingress_lossy_profile"), "must rise, up to 7, not"),
        (put("BUFFER_QUEUE", "Ethernet0|6-64", "profile", "egress_lossy_profile"), "must rise, up to 63, not"),
        (put("BUFFER_PG", "Ethernet0|4-5", "profile", "ingress_lossy_profile"), "Ethernet0 must have number 4 once"),
        (put("BUFFER_POOL", "egress_lossy_pool", "size", "0"), "size must be a number of bytes from 1 to"),
        (
            put("BUFFER_PROFILE", "egress_lossy_profile", "static_th", "5"),
            "one of dynamic_th and static_th must be given, not both, '3' and '5'",
        ),
        (
            lambda tables: tables["BUFFER_PROFILE"]["egress_lossy_profile"].pop("dynamic_th"),
            "BUFFER_PROFILE|egress_lossy_profile: one of dynamic_th and static_th must be given, not neither",
        ),
        (
            lambda tables: tables["BUFFER_PG"].update({"Ethernet0|3-4": "pg_lossless_100000_300m_profile"}),
            "BUFFER_PG|Ethernet0|3-4 must be an object with keys and values, not 'pg_lossless",
        ),
        (lambda tables: tables["PORT"].update(Ethernet0="100000"), "PORT|Ethernet0 must be an object"),
        (lambda tables: tables.update(PORT=5), "PORT| must be an object"),
        (marked(green_drop_probability="500"), "green_drop_probability must be a number of percent from 0 to 100"),
        (marked(green_drop_probability="101"), "must be a number of percent from 0 to 100, not '101'"),
        (marked(ecn="yes"), "WRED_PROFILE|AZURE: ecn must be one of ecn_all"),
        (marked(ecn="ecn_none", wred_green_enable="on"), "AZURE: wred_green_enable must be true or false, not 'on'"),
        (
            marked(green_min_threshold="2000000"),
            "green_max_threshold must be at least green_min_threshold (2000000), not 1048576",
        ),
        (served(weight="0"), "SCHEDULER|scheduler.1: weight must be a number of shares from 1 to 100, not '0'"),
        (served(type="WFQ"), "SCHEDULER|scheduler.1: type must be one of STRICT, DWRR, WRR, not 'WFQ'"),
        (mapped("PORT_QOS_MAP", ",".join(PORTS), "pfc_enable", "3,9"), "must be a list of priorities from 0 to 7, not"),
        (mapped("TC_TO_QUEUE_MAP", "AZURE", "9", "3"), "a key must be a traffic class from 0 to 7, not '9'"),
        (mapped("DSCP_TO_TC_MAP", "AZURE", "64", "3"), "a key must be a codepoint from 0 to 63, not '64'"),
        (mapped("DSCP_TO_TC_MAP", "AZURE", "3", "8"), "3 must be a number of a traffic class from 0 to 7, not '8'"),
        (
            lambda tables: (
                mapped("SCHEDULER", "scheduler.0", "cir", "9")(tables)
                or tables["SCHEDULER"]["scheduler.0"].update(pir="8")
            ),
            "SCHEDULER|scheduler.0: cir must be at most pir (8), not 9",
        ),
        (mapped("SCHEDULER", "scheduler.0", "cir", "x"), "cir must be a number of bytes a second from 0"),
        (mapped("TC_TO_QUEUE_MAP", "AZURE", "3", "x"), "TC_TO_QUEUE_MAP|AZURE: 3 must be a number of a queue"),
        (mapped("PORT_QOS_MAP", ",".join(PORTS), "tc_to_queue_map", "X"), "must name an entry of TC_TO_QUEUE_MAP"),
        (lambda tables: tables.pop("BUFFER_PG"), "BUFFER_PG must be a table with at least one entry"),
        (lambda tables: tables.update(BUFFER_POOL=[]), "BUFFER_POOL must be a table with at least one entry"),
    ],
)
def test_a_wrong_value_gets_one_message_with_file_and_place(tmp_path: Path, change: Change, message: str) -> None:
    tables = deepcopy(BUFFERS)
    change(tables)
    file = tmp_path / "buffers.json"
    file.write_text(json.dumps(tables), encoding="utf-8")
    with pytest.raises(QuestionError) as caught:
        sonic.read([file], 208)
    assert message in str(caught.value)
    assert "buffers.json" in str(caught.value)
    assert len(str(caught.value)) <= 300


def test_a_message_names_the_line_of_the_table_the_entry_or_the_key(tmp_path: Path) -> None:
    buffers, qos = tmp_path / "buffers.json", tmp_path / "qos.json"
    queues = deepcopy(QOS)
    queues["SCHEDULER"]["scheduler.1"]["weight"] = "0"
    queues["NOTE"] = {"weight": '"SCHEDULER": {"scheduler.1": {"weight": "0"}}', "scheduler.1": [{"weight": "\\"}]}
    qos.write_text(json.dumps(queues, indent=1), encoding="utf-8")
    buffers.write_text(json.dumps(BUFFERS, indent=1), encoding="utf-8")
    weight = next(number for number, line in enumerate(qos.read_text().splitlines(), 1) if '"weight": "0"' in line)
    with pytest.raises(QuestionError) as caught:
        sonic.read([buffers, qos], 208)
    assert str(caught.value).startswith(f"{qos}:{weight}: SCHEDULER|scheduler.1: weight must be a number of shares")
    tables = deepcopy(BUFFERS)
    del tables["BUFFER_PROFILE"]["egress_lossy_profile"]["dynamic_th"]
    buffers.write_text(json.dumps(tables, indent=1), encoding="utf-8")
    lines = buffers.read_text().splitlines()
    entry = next(number for number, line in enumerate(lines, 1) if '"egress_lossy_profile": {' in line)
    with pytest.raises(QuestionError, match=f"buffers.json:{entry}: BUFFER_PROFILE.egress_lossy_profile: one of dyn"):
        sonic.read([buffers], 208)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "must be UTF-8 text"),
        (b'{"BUFFER_POOL": "a\0b"}', "buffers.json:1: the file must be JSON: Invalid control character"),
        (b'{"BUFFER_POOL": ', "buffers.json:1: the file must be JSON"),
        (b"[]", "must be a JSON object"),
        (b"[" * 100_000, "must"),
    ],
)
def test_a_file_that_is_no_table_gets_one_message(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "buffers.json"
    file.write_bytes(content)
    with pytest.raises(QuestionError, match=message):
        sonic.read([file], 208)


def test_the_size_of_cells_has_to_be_given(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["switch", "predict", str(files[0])])
    assert "--cell must be given" in capsys.readouterr().err
    with pytest.raises(QuestionError, match="cell must be left out"):
        pushout.chip_predict("tomahawk", cell=208)


def test_room_of_odd_sizes_is_counted_in_whole_cells_and_once() -> None:
    tables = deepcopy(BUFFERS)
    tables["BUFFER_POOL"]["ingress_lossless_pool"] |= {"size": "100001", "xoff": "50001"}
    tables["BUFFER_PROFILE"]["pg_lossless_100000_300m_profile"]["size"] = "1249"
    tables["BUFFER_PROFILE"]["pg_lossless_40000_40m_profile"]["size"] = "417"
    tables["BUFFER_PROFILE"]["egress_lossy_profile"]["size"] = "1665"
    tables["BUFFER_POOL"]["egress_lossy_pool"]["size"] = "90001"
    memory = sonic.tabled(tables, 208).scenario["memory"]["chip"]
    cells = {name: int(pool["size"].split()[0]) for name, pool in memory["pool"].items()}
    queues = 2 * 7 + 3  # two lines with 300 m and one with 40 m send in their lossless class: 1249 and 417 bytes
    assert cells["ingress_lossless_pool"] == 100_001 // 208 + 50_001 // 208 + queues
    assert cells["egress_lossy_pool"] == 90_001 // 208 + 9, "1665 bytes are 9 cells"
    assert memory["pool"]["ingress_lossless_pool"]["headroom"] == f"{50_001 // 208} cells"
    largest = max(cells["ingress_lossless_pool"] - queues, 90_001 // 208, 15_982_720 // 208)
    assert memory["size"] == f"{largest + queues + 9} cells"


def test_the_memory_is_the_largest_room_of_the_tables_and_says_so(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The egress pool of lossless classes is the whole chip, which that of lossy ones is a part of."""
    found = sonic.read(files, 208)
    reserved = 2 * 6 + 6 + 8
    assert found.scenario["memory"]["chip"]["size"] == f"{15_982_720 // 208 + reserved} cells"
    rooms = "72448 of all ingress pools, 76840 of egress_lossless_pool, 44441 of egress_lossy_pool"
    line = f"memory.chip.size: 76866 cells, the largest of {rooms}, and what queues reserve: the tables have no size"
    assert found.decisions[0].startswith(line)
    command("init", str(tmp_path / "lab"), "--sonic", *map(str, files[:1]), "--qos", str(files[1]), "--cell", "208")
    assert line in capsys.readouterr().err
    assert f"# {line}" in (tmp_path / "lab" / "switch.toml").read_text()
    command("init", str(tmp_path / "two"), "--sonic", str(files[0]), "--cell", "208", "--json")
    assert json.loads(capsys.readouterr().out)["decisions"][0].startswith("memory.chip.size")


def test_bursts_offer_what_a_run_carries_and_the_share_is_that_of_the_weights() -> None:
    found = sonic.tabled({**BUFFERS, **QOS}, 208)
    offers = [line for line in found.decisions if "bursts offer" in line]
    assert [line.rpartition(" of its share of ")[2] for line in offers] == ["34.1 Gb/s", "34.1 Gb/s"], "15 of 14+15+15"
    offered = [float(re.search(r"offer ([0-9.]+)", line)[1]) for line in offers]  # type: ignore[index]
    flows = pushout.run(found.scenario, set={"duration": "20 ms"}).document["flows"]
    carried = [flow["goodput_bps"] * 1024 / 996 / 1e9 for flow in flows if flow["name"].startswith("burst-")]
    assert sum(carried[:2]) == pytest.approx(offered[0], rel=0.02)
    assert carried[2] == pytest.approx(offered[1], rel=0.02)
    larger = sonic.tabled({**BUFFERS, **QOS}, 208, sonic.Traffic(mtu=4096)).decisions
    assert [line for line in larger if "bursts offer" in line] == offers, "25 frames of 4096 bytes are 100 of 1024"
    capped = deepcopy({**BUFFERS, **QOS})
    capped["SCHEDULER"]["scheduler.1"]["pir"] = "125000000"
    assert any("share of 1.0 Gb/s: more than it gets" in line for line in sonic.tabled(capped, 208).decisions)
    assert not any("bursts" in line for line in sonic.tabled({**BUFFERS, **QOS}, 208, sonic.Traffic(3)).decisions)
