"""A scenario from the tables of a switch: its memory has their numbers, it runs, and wrong tables get one message."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import command
from pushout.cli import main
from pushout.errors import QuestionError
from pushout.question import sonic

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
    "QUEUE": {f"{','.join(PORTS)}|3": {"scheduler": "scheduler.1", "wred_profile": "AZURE"}},
}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The tables in two files."""
    buffers, qos = tmp_path / "buffers.json", tmp_path / "qos.json"
    buffers.write_text(json.dumps(BUFFERS), encoding="utf-8")
    qos.write_text(json.dumps(QOS), encoding="utf-8")
    return buffers, qos


def test_the_memory_has_the_numbers_of_the_tables(files: tuple[Path, Path]) -> None:
    found = sonic.scenario(files, 208)
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
    assert delays["Ethernet8"] == ("40000 Mb/s", "202 ns")
    assert delays["Ethernet0"] == ("100000 Mb/s", "1515 ns")


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


def test_equal_thresholds_of_marks_are_a_step(files: tuple[Path, Path]) -> None:
    buffers, qos = files
    level = {"green_min_threshold": "182000", "green_max_threshold": "182000"}
    qos.write_text(json.dumps({**QOS, "WRED_PROFILE": {"AZURE": {"ecn": "ecn_all", **level}}}), encoding="utf-8")
    assert sonic.scenario(files, 208)["port"]["Ethernet12"]["admission"]["policy"] == "step"
    without = {**QOS, "WRED_PROFILE": {"AZURE": {"ecn": "ecn_none", **level}}}
    qos.write_text(json.dumps(without), encoding="utf-8")
    assert "admission" not in sonic.scenario([buffers, qos], 208)["port"]["Ethernet12"]


def test_init_writes_a_scenario_that_runs(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    buffers, qos = files
    command("init", str(tmp_path / "lab"), "--sonic", str(buffers), "--qos", str(qos), "--cell", "208")
    assert "Next: pushout chip predict" in capsys.readouterr().out
    written = tmp_path / "lab" / "switch.toml"
    assert pushout.Scenario(written).explain() == pushout.Scenario(sonic.scenario(files, 208)).explain()
    command("run", str(written), "--json")
    assert json.loads(capsys.readouterr().out)["memories"][0]["name"] == "chip"
    command("chip", "predict", str(buffers), "--cell", "208", "--json")
    assert json.loads(capsys.readouterr().out)["expected"]


def test_many_ports_send_at_most_as_many_as_are_useful() -> None:
    tables = deepcopy(BUFFERS)
    tables["BUFFER_PG"] = {
        f"Ethernet{4 * number}|3": {"profile": "pg_lossless_100000_300m_profile"} for number in range(64)
    }
    tables["BUFFER_PG"]["Ethernet252|3"] = {"profile": "pg_lossless_40000_40m_profile"}
    found = sonic.tabled(tables, 208)
    assert len(found["link"]) == sonic.MOST_SENDERS + 1
    assert found["link"][-1]["name"] == "Ethernet252", "each set of profiles has a port"


Change = Callable[[dict[str, Any]], None]


def put(table: str, name: str, key: str, value: object) -> Change:
    """A change of one value."""

    def change(tables: dict[str, Any]) -> None:
        tables[table].setdefault(name, {})[key] = value

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
        (put("BUFFER_PG", "Ethernet0|0", "profile", "gone"), "must name an entry of BUFFER_PROFILE"),
        (put("PORT", "Ethernet0", "speed", "fast"), "speed must be a number of Mb/s"),
        (put("CABLE_LENGTH", "AZURE", "Ethernet0", "long"), "Ethernet0 must be a length, as in 40m"),
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
        sonic.scenario([file], 208)
    assert message in str(caught.value)
    assert "buffers.json" in str(caught.value)
    assert len(str(caught.value)) <= 300


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "must be UTF-8 text"),
        (b'{"BUFFER_POOL": ', "buffers.json:1: the file must be JSON"),
        (b"[]", "must be a JSON object"),
        (b"[" * 100_000, "must"),
    ],
)
def test_a_file_that_is_no_table_gets_one_message(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "buffers.json"
    file.write_bytes(content)
    with pytest.raises(QuestionError, match=message):
        sonic.scenario([file], 208)


def test_the_size_of_cells_has_to_be_given(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["chip", "predict", str(files[0])])
    assert "--cell must be given" in capsys.readouterr().err
    with pytest.raises(QuestionError, match="cell must be left out"):
        pushout.chip_predict("tomahawk", cell=208)
