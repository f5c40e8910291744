"""Scenarios from files of other simulators: the files that they publish, a thousand rows, and hostile ones."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import command
from pushout.errors import QuestionError
from pushout.scenario import written
from pushout.switch import captured, foreign

TOPOLOGY = """5 1 4
4
0 4 100Gbps 1us 0
1 4 100Gbps 1us 0.000000
2 4 100Gbps 0.001ms 0.01
3 4 25Gbps 1us 0
"""
"""Four hosts at a switch, as the HPCC family writes it."""

FLOWS = """3
0 3 3 100 500000 2.0
1 3 3 100 500000 2.000001

2 3 1 200000 2.1
"""
"""Flows with a port, as HPCC has them, and one without, as ConWeave has them."""

MATRIX = """Nodes 16
Connections 3
0->15 start 0 size 2000000
1->15 id 2 start 1000000 size 1000
2->3 start 5.5 size 1 prio 7
"""


def imported(folder: Path, **texts: str) -> foreign.Imported:
    """Read texts as files."""
    files = []
    for name, text in texts.items():
        files.append(folder / f"{name}.txt")
        files[-1].write_text(text, encoding="utf-8")
    return foreign.read(files)


def finished(tables: dict[str, Any]) -> int:
    """The transfers that a run finishes, if it leaves none unfinished."""
    summary = pushout.run(tables).document["summary"]
    assert summary["transfers_unfinished"] == 0
    found: int = summary["transfers"]
    return found


def test_a_topology_and_its_flows_run(tmp_path: Path) -> None:
    found = imported(tmp_path, flow=FLOWS, topology=TOPOLOGY)
    tables = foreign.scenario(found, "fabric")
    assert {each["name"]: each["kind"] for each in tables["node"]} == {
        "switch4": "router",
        **{f"host{number}": "host" for number in range(4)},
    }
    assert tables["link"][3]["rate"] == "25000000000 b/s"
    assert [each["delay"] for each in tables["link"]] == 4 * ["1000000 ps"]
    assert [each["link"] for each in tables["loss"]] == ["link3", "link3.back"]
    assert tables["workload"]["data"].splitlines()[1] == "host0,host3,500000,2000000000000 ps,flow1,pg3,"
    document = pushout.run(tables, audit=True, set={"measure.transfers": True}).document
    assert [row["octets"] for row in document["transfers"]] == [500_000, 500_000, 200_000]
    assert all(row["time_s"] for row in document["transfers"])
    classes = {each["name"]: each["segments_received"] for each in document["summary"]["classes"]}
    assert classes == {"pg3": 2 * -(-500_000 // 1_448), "pg1": -(-200_000 // 1_448)}, "segments with timestamps"


def test_a_matrix_without_a_topology_has_one_switch(tmp_path: Path) -> None:
    found = imported(tmp_path, matrix=MATRIX)
    tables = foreign.scenario(found, "matrix")
    assert len(tables["link"]) == 16
    starts = [row.split(",")[3] for row in tables["workload"]["data"].splitlines()[1:]]
    assert starts == ["0 ps", "1000000 ps", "5 ps"]
    assert finished(tables) == 3
    assert found.summary() == {
        "hosts": 16,
        "switches": 1,
        "links": 16,
        "flows": 3,
        "bytes": 2_001_001,
        "first_start_s": 0.0,
        "last_start_s": 1e-6,
        "mean_bps": 8 * 2_001_001 / 1e-6,
        "burst_bytes": 2_001_001,
        "busiest_receiver": "host15",
        "busiest_receiver_bytes": 2_001_000,
        "left_out": found.left_out,
    }


QDISCS: dict[str, dict[str, Any]] = {
    "pfifo 8001: dev eth0 root refcnt 2 limit 1000p": {"buffer": "1000 packets"},
    "bfifo 8001: root refcnt 2 limit 30Kb": {"buffer": "30720 bytes"},
    "fq_codel 0: root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms ecn drop_batch 32": {
        "buffer": "10240 packets",
        "admission": {
            "policy": "codel",
            "law": "linux",
            "target": "5 ms",
            "interval": "100 ms",
            "action": "mark",
            "full": "fattest-queue",
            "batch": 32,
        },
        "scheduler": {"policy": "fair-queue", "quantum": "1514 bytes", "buckets": 1024},
    },
    "fq_pie 2: root limit 10240p flows 512 target 15ms tupdate 16ms alpha 2 beta 20 quantum 1514b ecn_prob 10": {
        "buffer": "10240 packets",
        "admission": {
            "policy": "pie",
            "law": "linux",
            "target": "15 ms",
            "update": "16 ms",
            "alpha": 0.125,
            "beta": 1.25,
            "mark_limit": 0.1,
        },
        "scheduler": {"policy": "fair-queue", "quantum": "1514 bytes", "buckets": 512},
    },
    "dualpi2 3: root limit 9p target 15ms tupdate 16ms alpha 0.15625 beta 3.1953 coupling_factor 2 step_thresh 1ms": {
        "buffer": "9 packets",
        "admission": {
            "policy": "pi2",
            "law": "linux",
            "action": "mark",
            "target": "15 ms",
            "update": "16 ms",
            "step": "1 ms",
            "alpha": 0.15625,
            "beta": 3.1953,
            "coupling": 2,
        },
        "scheduler": {"policy": "dual-queue"},
    },
    "tbf 8001: root refcnt 2 rate 20Mbit burst 15Kb lat 50ms": {
        "buffer": "140360 bytes",
        "shaper": {"rate": "20000000 b/s", "burst": "15360 bytes"},
    },
    "pfifo_head_drop 1: root refcnt 2 limit 100p": {
        "buffer": "100 packets",
        "admission": {"policy": "drop-from-front"},
    },
    "codel 1: root refcnt 2 limit 1000p target 4.999ms interval 99.9ms ecn": {
        "buffer": "1000 packets",
        "admission": {
            "policy": "codel",
            "law": "linux",
            "target": "4.999 ms",
            "interval": "99.9 ms",
            "action": "mark",
        },
    },
    "pie 1: root refcnt 2 limit 1000p target 15ms tupdate 16ms alpha 2 beta 20": {
        "buffer": "1000 packets",
        "admission": {
            "policy": "pie",
            "law": "linux",
            "target": "15 ms",
            "update": "16 ms",
            "alpha": 0.125,
            "beta": 1.25,
        },
    },
    "red 1: root refcnt 2 limit 400Kb min 30Kb max 90Kb ewma 5 adaptive probability 0.02 ecn": {
        "buffer": "409600 bytes",
        "admission": {
            "policy": "red",
            "max_p": 0.02,
            "min_threshold": "30720 bytes",
            "max_threshold": "92160 bytes",
            "weight": 0.03125,
            "adaptive": True,
            "action": "mark",
        },
    },
}


@pytest.mark.parametrize("line", QDISCS)
def test_a_qdisc_is_the_port_of_every_switch(tmp_path: Path, line: str) -> None:
    others = "qdisc noqueue 0: dev lo root refcnt 2 \nqdisc fq_codel 0: dev eth9 parent :1 limit 10240p\n"
    counters = " Sent 9600 bytes 8 pkt (dropped 3, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n"
    found = imported(tmp_path, matrix=MATRIX, tc=f"{others}qdisc {line} \n{counters}")
    assert found.port == QDISCS[line]
    tables = foreign.scenario(found, "tc")
    assert finished(tables) == 3
    marks = "action" in found.port.get("admission", {})
    assert tables["flows"]["transport"].get("ecn", False) is marks


@pytest.mark.parametrize("line", QDISCS)
def test_every_option_of_a_qdisc_changes_the_port_or_is_named(tmp_path: Path, line: str) -> None:
    words = line.split()[2:]
    options = [word for word in words if word.isalpha() and word not in ("dev", "eth", "root", "refcnt")]
    before = imported(tmp_path, matrix=MATRIX, tc=f"qdisc {line}\n")
    for option in options:
        without = re.sub(rf" {option}( [0-9]\S*)?", "", line)
        if option in ("limit", "min", "max", "rate", "burst", "lat"):
            with pytest.raises(QuestionError):
                imported(tmp_path, matrix=MATRIX, tc=f"qdisc {without}\n")
            continue
        after = imported(tmp_path, matrix=MATRIX, tc=f"qdisc {without}\n")
        named = [row for row in before.left_out if f" {option}" in row]
        assert (after.port != before.port) is (not named), option
        assert len(before.left_out) == len(after.left_out) + len(named)


def test_what_tc_shows_beside_the_root_is_named(tmp_path: Path) -> None:
    red = "red 8007: dev eth9 root refcnt 2 limit 400000b min 30000b max 90000b harddrop Scell_log 5 probability 0.02"
    child = "qdisc fq_codel 0: dev eth0 parent :1 limit 10240p\n"
    found = imported(tmp_path, matrix=MATRIX.replace("size 1 prio 7", "size 1 prio 3"), tc=f"{child}qdisc {red}\n")
    shown = [row.replace(str(tmp_path), "").lstrip("/") for row in found.left_out]
    assert shown == [
        "matrix.txt:5: prio 3 is left out",
        "tc.txt:1: qdisc fq_codel dev eth0 parent :1 is left out",
        "tc.txt:2: red harddrop is left out",
        "tc.txt:2: red Scell_log 5 is left out",
    ]
    flows = imported(tmp_path, flow=FLOWS).left_out
    assert len(flows) == 1
    assert flows[0].endswith("flow.txt:2: the port of each flow is left out")


def test_a_port_without_a_limit_is_refused(tmp_path: Path) -> None:
    children = "".join(f"qdisc fq_codel 0: dev eth0 parent :{n} limit 10240p target 5ms\n" for n in (1, 2))
    with pytest.raises(QuestionError, match="a qdisc with root must have a limit: write root in place of parent"):
        imported(tmp_path, matrix=MATRIX, tc=f"qdisc noqueue 0: root refcnt 2\n{children}")
    with pytest.raises(
        QuestionError, match=r"tc\.txt:1: the qdisc htb keeps its packets in the qdiscs below it, and none"
    ):
        imported(tmp_path, matrix=MATRIX, tc="qdisc htb 1: dev eth0 root r2q 10 default 0x1\n")


TREES = {
    "mq 0: root|codel 0: dev eth0 parent :1 limit 9p target 5ms|codel 0: dev eth0 parent :2 limit 9p target 5ms": (
        {"buffer": "9 packets", "admission": {"target": "5 ms"}},
        ["tc.txt:1: mq 2 queues, each with this limit, which become one is left out"],
    ),
    "htb 1: dev eth0 root r2q 10 default 0x1|codel 110: dev eth0 parent 1:10 limit 1001p target 25ms interval 120ms": (
        {"buffer": "1001 packets", "admission": {"target": "25 ms", "interval": "120 ms"}},
        [
            "tc.txt:1: htb r2q 10 is left out",
            "tc.txt:1: htb default 0x1 is left out",
            "tc.txt:1: htb its classes and their rates, which tc class show prints is left out",
        ],
    ),
    "htb 1: root r2q 10 default 0x30|codel 30: parent 1:30 limit 9p|pfifo 10: parent 1:10 limit 7p|"
    "class htb 1:1 root rate 9Mbit ceil 9Mbit burst 3Kb cburst 2Kb|"
    "class htb 1:10 parent 1:1 leaf 10: prio 0 rate 8Mbit ceil 9Mbit burst 3Kb cburst 3Kb|"
    "class htb 1:30 parent 1:1 leaf 30: prio 1 rate 1Mbit ceil 12Mbit burst 2Kb cburst 4Kb": (
        {"buffer": "9 packets", "admission": {}, "shaper": {"rate": "9000000 b/s", "burst": "2048 bytes"}},
        [
            "tc.txt:1: htb r2q 10 is left out",
            "tc.txt:3: qdisc pfifo parent 1:10 is left out",
            "tc.txt:4: htb class 1:1: rate 9Mbit is left out",
            "tc.txt:4: htb class 1:1: burst 3Kb is left out",
            "tc.txt:5: class htb 1:10 parent 1:1 is left out",
            "tc.txt:6: htb class 1:30: prio 1 is left out",
            "tc.txt:6: htb class 1:30: rate 1Mbit is left out",
            "tc.txt:6: htb class 1:30: ceil 12Mbit is left out",
            "tc.txt:6: htb class 1:30: burst 2Kb is left out",
            "tc.txt:6: htb class 1:30: cburst 4Kb is left out",
        ],
    ),
    "tbf 1: dev eth0 root rate 8Mbit burst 3Kb lat 10ms|pie 2: dev eth0 parent 1:1 limit 50p target 20ms": (
        {
            "buffer": "50 packets",
            "admission": {"target": "20 ms"},
            "shaper": {"rate": "8000000 b/s", "burst": "3072 bytes"},
        },
        ["tc.txt:1: tbf lat 10ms, in place of which the limit of the qdisc below it holds is left out"],
    ),
}


@pytest.mark.parametrize("tree", TREES)
def test_a_tree_of_qdiscs_is_the_port_of_its_leaf(tmp_path: Path, tree: str) -> None:
    text = "".join(f"{line}\n" if line.startswith("class") else f"qdisc {line}\n" for line in tree.split("|"))
    found = imported(tmp_path, matrix=MATRIX, tc=text)
    port, left_out = TREES[tree]
    assert {key: found.port[key] for key in port if key != "admission"} == {
        key: value for key, value in port.items() if key != "admission"
    }
    assert port["admission"].items() <= found.port["admission"].items()
    shown = [row.replace(str(tmp_path), "").lstrip("/") for row in found.left_out]
    assert [row for row in shown if row.startswith("tc.txt")] == left_out
    assert finished(foreign.scenario(found, "tc")) == 3


NO_DEFAULT = "htb 1: root default 0x20|pfifo 2: parent 1:30 limit 9p\nclass htb 1:30 root leaf 2: ceil 1Mbit cburst 2Kb"
NO_CEIL = "htb 1: root default 0x30|pfifo 2: parent 1:30 limit 9p\nclass htb 1:30 root leaf 2: rate 1Mbit cburst 2Kb"

WRONG = {
    NO_DEFAULT: "tc.txt:1: the default of htb must name a class with a qdisc below it, not 1:20",
    NO_CEIL: "tc.txt:3: the class 1:30 must have a ceil above 0, as in ceil 20Mbit",
    "tbf 1: root rate 0bit burst 5Kb lat 10ms": "tc.txt:1: the qdisc tbf must have a rate above 0 and a burst",
    "tbf 1: root rate 1Mbit burst 0b lat 10ms": "tc.txt:1: the option burst must be a number of bytes",
    "fq_codel 1: root limit 5p quantum 0": "tc.txt:1: the option quantum must be a number of bytes",
    "htb 1: root|htb 2: parent 1:1|htb 1: parent 2:1": "tc.txt:2: the qdisc htb 2: must not be below itself",
    "pfifo_fast 0: dev eth0 root refcnt 2 bands 3": "its limit is the qlen that ip link shows: write it as pfifo",
}


@pytest.mark.parametrize("lines", WRONG)
def test_a_qdisc_that_cannot_be_a_port_is_one_message_with_its_line(tmp_path: Path, lines: str) -> None:
    text = "".join(f"qdisc {line}\n" for line in lines.split("|"))
    with pytest.raises(QuestionError, match=re.escape(WRONG[lines])):
        imported(tmp_path, matrix=MATRIX, tc=text)


def test_queues_that_differ_are_refused(tmp_path: Path) -> None:
    rows = "qdisc prio 1: dev eth0 root bands 2\nqdisc fq_codel 2: dev eth0 parent 1:1 limit 9p\n"
    with pytest.raises(
        QuestionError, match=r"tc\.txt:1: the 2 qdiscs below prio must be alike, because they become one"
    ):
        imported(tmp_path, matrix=MATRIX, tc=f"{rows}qdisc pfifo 3: dev eth0 parent 1:2 limit 8p\n")


ETS = """qdisc ets 1: root refcnt 2 bands 3 strict 1 quanta 4542 1514 priomap 2 2 2 1 1 1 0 0
qdisc pfifo 10: parent 1:1 limit 100p
qdisc pfifo 20: parent 1:2 limit 5p
qdisc pfifo 30: parent 1:3 limit 8p
"""
BURSTS = "3\n0 3 7 100 60000 0\n1 3 3 100 60000 0\n2 3 1 100 60000 0\n"


def test_bands_are_classes_with_limits_of_their_own(tmp_path: Path) -> None:
    found = imported(tmp_path, topology=TOPOLOGY.replace("0.01", "0"), flow=BURSTS, tc=ETS)
    tables = foreign.scenario(found, "bands")
    assert tables["queue"] == {
        "band2": {"weight": 1.0, "limit": "8 cells"},
        "band0": {"priority": 0, "limit": "100 cells"},
        "band1": {"weight": 3.0, "limit": "5 cells"},
    }
    assert [row.rpartition(",")[2] for row in tables["workload"]["data"].splitlines()[1:]] == [
        "band0",
        "band1",
        "band2",
    ]
    assert tables["memory"]["bands"]["size"] == f"{4 * 113} cells", "four ports"
    document = pushout.run(tables, audit=True, set={"duration": "2 s"}).document
    held = {row["name"]: row["occupancy_max"] for row in document["memories"][0]["queues"]}
    assert (held["link4.back/band1"], held["link4.back/band2"]) == (5, 8), "packets, and no more than the limits"
    assert document["summary"]["transfers_unfinished"] == 0


def test_what_is_sent_first_is_not_refused_for_what_is_sent_last(tmp_path: Path) -> None:
    prio = "qdisc prio 1: root bands 2 priomap 1 1 1 1 1 1 0 0\nqdisc pfifo 10: parent 1:1 limit 100p\n"
    flows = BURSTS.replace("0 3 7 100 60000", "0 3 6 100 60000")
    found = imported(
        tmp_path,
        topology=TOPOLOGY.replace("0.01", "0"),
        flow=flows,
        tc=f"{prio}qdisc pfifo 20: parent 1:2 limit 5p\n",
    )
    document = pushout.run(foreign.scenario(found, "prio"), set={"duration": "2 s"}).document
    dropped = {row["name"]: row["dropped"] for row in document["memories"][0]["queues"]}
    assert dropped["link4.back/band0"] == 0
    assert dropped["link4.back/band1"] > 0


def test_the_json_of_bands_says_what_their_text_says(tmp_path: Path) -> None:
    rows = [
        {"kind": "ets", "handle": "1:", "root": True, "refcnt": 2, "options": {"bands": 3, "strict": 1}},
        *(
            {"kind": "pfifo", "handle": f"{n}0:", "parent": f"1:{n}", "options": {"limit": limit}}
            for n, limit in ((1, 100), (2, 5), (3, 8))
        ),
    ]
    rows[0]["options"] |= {"quanta": [4542, 1514], "priomap": [2, 2, 2, 1, 1, 1, 0, 0]}  # type: ignore[operator]
    text = imported(tmp_path, matrix=MATRIX, tc=ETS).qdiscs
    assert imported(tmp_path, matrix=MATRIX, tc=json.dumps(rows)).qdiscs == text


BAD_BANDS = {
    "prio 1: root bands 2 priomap 0 2|pfifo 2: parent 1:1 limit 9p": "tc.txt:1: the option priomap must be numbers",
    "prio 1: root bands 0|pfifo 2: parent 1:1 limit 9p": "tc.txt:1: the option bands must be a number from 1 to 16",
    "prio 1: root bands 2|pfifo 2: parent 1:3 limit 9p": "tc.txt:2: parent must name one of the 2 bands of prio",
    "ets 1: root bands 3 strict 1 quanta 5|pfifo 2: parent 1:1 limit 9p": "the option quanta must have a number",
    "ets 1: root bands 3 strict 4|pfifo 2: parent 1:1 limit 9p": "option strict must be numbers from 0 to 3, not '4'",
    "ets 1: root bands 3 strict|pfifo 2: parent 1:1 limit 9p": "the option strict must be a number from 0 to 3",
    "ets 1: root strict 1|pfifo 2: parent 1:1 limit 9p": "tc.txt:1: the option bands must be a number",
    "prio 1: root bands 2|pfifo 2: parent 1:1 limit 9p|pfifo 3: parent 1:1 limit 8p": "tc.txt:3: parent must name one",
}


@pytest.mark.parametrize("lines", BAD_BANDS)
def test_wrong_bands_are_one_message_with_their_line(tmp_path: Path, lines: str) -> None:
    text = "".join(f"qdisc {line}\n" for line in lines.split("|"))
    with pytest.raises(QuestionError, match=re.escape(BAD_BANDS[lines])):
        imported(tmp_path, matrix=MATRIX, tc=text)


def test_the_json_of_tc_says_what_its_text_says(tmp_path: Path) -> None:
    row = {
        "kind": "fq_codel",
        "handle": "8001:",
        "dev": "eth0",
        "root": True,
        "refcnt": 2,
        "options": {"limit": 1001, "flows": 64, "quantum": 300, "target": 4999, "interval": 99999, "ecn": True},
        "bytes": 100,
        "drops": 0,
    }
    text = "qdisc fq_codel 1: root limit 1001p flows 64 quantum 300 target 4999us interval 99999us ecn\n"
    for indent in (None, 2):
        found = imported(
            tmp_path, matrix=MATRIX, tc=json.dumps([row, {"kind": "noqueue", "dev": "lo", "root": True}], indent=indent)
        )
        assert found.port == imported(tmp_path, matrix=MATRIX, tc=text).port
    shaped = [{"kind": "tbf", "root": True, "options": {"rate": 2500000, "burst": 15360, "lat": 50000}}]
    line = "qdisc tbf 8001: root refcnt 2 rate 20Mbit burst 15Kb lat 50ms"
    assert (
        imported(tmp_path, matrix=MATRIX, tc=json.dumps(shaped)).port == imported(tmp_path, matrix=MATRIX, tc=line).port
    )
    for half in (json.dumps([row])[:90], '{"kind": "codel"}', "[1]"):
        with pytest.raises(QuestionError, match="the JSON of tc must be"):
            imported(tmp_path, matrix=MATRIX, tc=half)


def test_the_cases_of_foreign_files_come_out_whole(tmp_path: Path) -> None:
    line = "qdisc fq_codel 110: dev eth9 root refcnt 2 limit 1001p flows 1024 quantum 300 target 25ms interval 120ms\n"
    port = imported(tmp_path, matrix=MATRIX, tc=line).port
    assert port["admission"]["target"] == "25 ms"
    assert port["admission"]["interval"] == "120 ms"
    assert port["scheduler"]["quantum"] == "300 bytes"
    assert "action" not in port["admission"]
    bits = imported(
        tmp_path,
        topology="3 1 2\n2\n0 2 25000000000.0 1us 0\n1 2 25000000000.0 1us 0\n",
        flow="1\n0 1 3 100 5000 2.0\n",
    )
    assert [link.rate_bps for link in bits.links] == [25 * 10**9] * 2


@pytest.mark.timeout(120)
def test_a_thousand_rows_run_as_they_are(tmp_path: Path) -> None:
    links = "".join(f"{host} 64 100Gbps 1us 0\n" for host in range(64))
    rows = [f"{n % 64} {(7 * n + 1) % 64} 3 {1 + n % 5000} {n * 1e-6:.9f}" for n in range(1_100)]
    rows = [row for row in rows if row.split()[0] != row.split()[1]][:1_000]
    found = imported(tmp_path, topology=f"65 1 64\n64\n{links}", flow="\n".join(["1000", *rows]))
    assert finished(foreign.scenario(found, "many")) == 1_000
    matrix = [f"{n % 64}->{(5 * n + 3) % 64} start {n * 1000} size {1 + n}" for n in range(1_100)]
    matrix = [row for row in matrix if len(set(row.split()[0].split("->"))) == 2][:1_000]
    found = imported(tmp_path, matrix="\n".join(["Nodes 64", "Connections 1000", *matrix]))
    assert finished(foreign.scenario(found, "many")) == 1_000


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (
            {"flow": "1\n0 9 3 100 1 0\n", "topology": TOPOLOGY},
            "flow.txt:2: the ends of a flow must be hosts, not node 9",
        ),
        ({"flow": "1\n0 4 3 100 1 0\n", "topology": TOPOLOGY}, "not node 4, which is a switch"),
        ({"matrix": MATRIX, "topology": TOPOLOGY}, "not node 15, which has no line in a topology of 5 nodes"),
        ({"flow": "1\n0 1 3 100 1 -1\n"}, "flow.txt:2: the start must be a number from 0"),
        ({"flow": "1\n0 1 3 100 1 nan\n"}, "the start must be a number"),
        ({"flow": "1\n0 1 3 100 1 1e99\n"}, "the start must be a number"),
        ({"flow": "1\n0 1 3 100 0 0\n"}, "the bytes of a flow must be an integer from 1"),
        ({"flow": "1\n0 0 3 100 1 0\n"}, "a flow must have two hosts, not 0 twice"),
        ({"flow": "2\n0 1 3 100 1 0\n"}, "the file must have 2 flows, as its first line says, not 1"),
        ({"flow": "10000000\n"}, "the number of flows must be an integer from 0 to 1000000"),
        ({"flow": "1\n0 1 3\n"}, "a flow must have source, destination"),
        ({"flow": "1\n0 99999999 3 100 1 0\n"}, "a host of a flow must be an integer from 0 to 65535"),
        ({"matrix": "Nodes 99999999\n"}, "Nodes must be an integer"),
        ({"matrix": "Nodes 4\n0->1 trigger 3 size 5\n"}, "matrix.txt:2: the trigger '3' must be described"),
        ({"matrix": "Nodes 4\n0->1 size 5\n"}, "a connection must have size, in bytes, and either start"),
        ({"matrix": "Nodes 4\n0->1 size\n"}, "a value for each key"),
        ({"matrix": "Nodes 4\nFailures 2\n"}, "matrix.txt:2: Failures must be 0"),
        ({"matrix": "Nodes 4\nSwitches 2\n"}, "matrix.txt:2: the line must be Nodes"),
        ({"topology": TOPOLOGY.replace("5 1 4", "5 1 5"), "flow": FLOWS}, "must have 1 switches and 5 links"),
        ({"topology": TOPOLOGY.replace("25Gbps", "fast"), "flow": FLOWS}, "topology.txt:6: a link must have rate"),
        ({"topology": TOPOLOGY.replace("3 4 25", "3 3 25"), "flow": FLOWS}, "not 3 with itself"),
        ({"topology": TOPOLOGY}, "no flows"),
        ({"tc": "qdisc cake 1: root limit 5p\n", "flow": FLOWS}, "not 'cake'; the nearest is a tbf with its bandwidth"),
        ({"tc": "qdisc pfifo 1: root\n", "flow": FLOWS}, "the qdisc pfifo must have a limit"),
        (
            {"tc": "qdisc red 1: root limit 5p min 1b max 2b\n", "flow": FLOWS},
            "the option limit must be a number of bytes",
        ),
        ({"x": "hello\n"}, "x.txt:1: the file must begin as a topology"),
        ({"x": "\n# nothing\n"}, "the file must not be empty"),
    ],
)
def test_a_wrong_file_gets_one_message_with_its_line(tmp_path: Path, texts: dict[str, str], message: str) -> None:
    with pytest.raises(QuestionError) as caught:
        imported(tmp_path, **texts)
    assert message in str(caught.value)
    assert len(str(caught.value)) <= 300


def test_the_command_writes_a_scenario_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    matrix = tmp_path / "incast.cm"
    matrix.write_text(MATRIX, encoding="utf-8")
    out = tmp_path / "incast.toml"
    command("import", str(matrix), "--out", str(out), "--json")
    assert json.loads(capsys.readouterr().out)["flows"] == 3
    assert pushout.validate(out) == []
    command("import", str(matrix), "--out", str(out))
    matrix.write_text(MATRIX.replace("size 1000", "size 1001"), encoding="utf-8")
    command("import", str(matrix), "--out", str(out), code=1)
    assert "not overwritten" in capsys.readouterr().err
    command("import", str(matrix), "--out", str(tmp_path / "other.toml"))
    told = capsys.readouterr().out
    assert "hosts 16, switches 1, links 16, flows 3; starts from 0 s" in told
    assert "up to 2001002 bytes start within 1 ms" in told


def test_the_command_names_what_it_leaves_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "incast.cm").write_text(MATRIX, encoding="utf-8")
    children = "".join(f"qdisc pfifo 0: dev eth0 parent :{n} limit 9p\n" for n in range(1, 61))
    (tmp_path / "tc.txt").write_text(f"{children}qdisc pfifo 1: dev eth0 root limit 9p\n", encoding="utf-8")
    command(
        "import",
        *(str(tmp_path / name) for name in ("incast.cm", "tc.txt")),
        "--out",
        str(tmp_path / "x.toml"),
        "--json",
    )
    told = capsys.readouterr()
    assert "qdisc pfifo dev eth0 parent :1 is left out" in told.err
    assert "11 more are left out" in told.err
    assert len(json.loads(told.out)["left_out"]) == 61
    comment = [line for line in (tmp_path / "x.toml").read_text().splitlines() if line.startswith("#")]
    assert comment[0] == "# From incast.cm, tc.txt."
    assert "# Not here: tc.txt:1: qdisc pfifo dev eth0 parent :1 is left out" in comment
    assert comment[-1] == "# Not here: 11 more things"
    assert len(comment) == 1 + 50 + 1


def test_a_line_that_no_qdisc_limits_is_said_and_can_be_given(tmp_path: Path) -> None:
    codel, matrix = "qdisc codel 1: root limit 100p\n", "Nodes 3\nConnections 1\n0->2 start 0 size 100000\n"
    shaped = codel.replace("root", "parent 2:") + "qdisc tbf 2: root rate 1Mbit burst 5Kb lat 50ms\n"
    assert imported(tmp_path, tc=codel, flow=matrix).is_unlimited
    assert not imported(tmp_path, tc=shaped, flow=matrix).is_unlimited
    assert not imported(tmp_path, tc=codel, flow=FLOWS, topology=TOPOLOGY).is_unlimited
    files = [tmp_path / "tc.txt", tmp_path / "flow.txt"]
    (tmp_path / "tc.txt").write_text(codel)
    (tmp_path / "flow.txt").write_text(matrix)
    found = foreign.read(files, "2.4 Mb/s")
    assert not found.is_unlimited
    assert not any(map(foreign.is_recording, files))
    assert {link["back"]["rate"] for link in foreign.scenario(found, "home")["link"]} == {"2400000 b/s"}
    with pytest.raises(QuestionError, match="--rate must be as in 100 Mb/s, not 'fast'"):
        foreign.read(files, "fast")
    (tmp_path / "topology.txt").write_text(TOPOLOGY)
    with pytest.raises(QuestionError, match="the topology has the rates of its lines"):
        foreign.read([*files, tmp_path / "topology.txt"], "2.4 Mb/s")


def test_the_triggers_of_a_matrix_are_imported(tmp_path: Path) -> None:
    ring = "Nodes 4\n0->1 id 7 start 0 size 9 send_done_trigger 1\n1->2 id 8 trigger 1 size 9\ntrigger id 1 oneshot\n"
    tables = foreign.scenario(imported(tmp_path, matrix=ring), "ring")
    assert tables["workload"]["data"].splitlines()[1:] == ["host0,host1,9,0 ps,id7,,", "host1,host2,9,0 ps,id8,,id7"]
    (tmp_path / "ring.toml").write_text(written(tables), encoding="utf-8")
    document = pushout.run(tmp_path / "ring.toml").document
    assert document["summary"]["workload"]["critical_path"] == ["id7", "id8"]


ONE = "2 1 1\n1\n0 1 {rate} {delay} {loss}\n"


@pytest.mark.parametrize(
    ("changes", "accepted"),
    [
        ({"rate": "1bps"}, True),
        ({"rate": "0bps"}, False),
        ({"rate": "0.5bps"}, False),
        ({"rate": "1000Tbps"}, True),
        ({"rate": "1000.1Tbps"}, False),
        ({"delay": "1000s"}, True),
        ({"delay": "1000.1s"}, False),
        ({"delay": "0ns"}, True),
        ({"loss": "1"}, True),
        ({"loss": "1.000001"}, False),
        ({"loss": "0"}, True),
    ],
)
def test_a_link_is_accepted_up_to_the_edges_of_its_ranges(
    tmp_path: Path, changes: dict[str, str], accepted: bool
) -> None:
    text = ONE.format(**{"rate": "10Gbps", "delay": "1us", "loss": "0", **changes})
    flow = "0\n"
    try:
        found = imported(tmp_path, topology=text, flow=flow)
    except QuestionError as error:
        assert ("a link must" in str(error) or "the error rate must" in str(error)) is not accepted
        assert accepted is ("no flows" in str(error))
    else:
        pytest.fail(f"a file without flows was read: {found}")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"topology": "1 1 1\n0\n"}, "the number of nodes must be an integer from 2"),
        ({"topology": "2 2 1\n0 1\n"}, "the number of switches must be an integer from 1 to 1"),
        ({"topology": "2 0 1\n"}, "the number of switches must be an integer from 1 to 1"),
        ({"topology": "2 1 0\n0\n"}, "the number of links must be an integer from 1"),
        ({"topology": "2 1 1\n2\n"}, "a switch must be an integer from 0 to 1"),
        ({"topology": "2 1 1\n1\n0 2 1Gbps 1us 0\n"}, "a node of a link must be an integer from 0 to 1"),
        ({"flow": "1\n0 1 8 1 1 0\n"}, "the priority group must be an integer from 0 to 7"),
        ({"flow": "1\n0 65536 7 1 1 0\n"}, "a host of a flow must be an integer from 0 to 65535"),
        ({"flow": "1\n0 1 7 1 1 1000000.1\n"}, "the start must be a number from 0 to 1000000"),
        ({"tc": "qdisc pfifo 1: root limit 0p\n"}, "the option limit must be a number of packets"),
        (
            {"tc": "qdisc red 1: root limit 9b min 1b max 2b probability 1.1\n"},
            "probability must be a number from 0 to 1",
        ),
    ],
)
def test_a_value_just_beyond_its_range_is_refused(tmp_path: Path, texts: dict[str, str], message: str) -> None:
    with pytest.raises(QuestionError) as caught:
        imported(tmp_path, **texts)
    assert message in str(caught.value)


def test_values_at_the_ends_of_their_ranges_are_read(tmp_path: Path) -> None:
    found = imported(tmp_path, flow="2\n0 65535 7 1 1 1000000\n1 0 0 1 1000000000000000 0\n")
    assert [flow.group for flow in found.flows] == ["pg7", "pg0"]
    assert (found.nodes, found.octets) == (65_536, 10**15 + 1)
    red = "qdisc red 1: root limit 1b min 1b max 1b probability 1\n"
    assert imported(tmp_path, flow=FLOWS, tc=red).port["admission"]["max_p"] == 1.0
    assert imported(tmp_path, flow=FLOWS, tc="qdisc pfifo 1: root limit 1p\n").port == {"buffer": "1 packets"}


TBF = "qdisc tbf 1: root rate 10Mbit burst 5Kb lat 400ms\n"


@pytest.mark.parametrize(
    ("tc", "rate", "down"), [(TBF, None, 10**8), ("qdisc pfifo 1: root limit 100p\n", "2 Mb/s", 2 * 10**7)]
)
def test_the_port_alone_is_that_of_a_router_at_home(tmp_path: Path, tc: str, rate: str | None, down: int) -> None:
    file = tmp_path / "tc.txt"
    file.write_text(tc)
    found = foreign.read([file], rate)
    assert found.summary() == {"home": ["call", "page", "download", "backup"], "left_out": []}
    tables = foreign.scenario(found, "home")
    uplink = next(link for link in tables["link"] if link["name"] == "uplink")
    assert uplink["back"] == {"rate": f"{down} b/s"}
    assert tables["port"]["uplink"] == found.port
    result = pushout.run(tables, set=["duration=12 s"])
    assert {flow["name"] for flow in result["flows"]} == {"call", "page", "download", "backup"}
    assert result["flows.backup.goodput_bps"] < (2e6 if rate else 1e7)


def test_the_next_command_of_a_home_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tc.txt").write_text(TBF)
    command("import", str(tmp_path / "tc.txt"), "--out", str(tmp_path / "home.toml"))
    words = shlex.split(capsys.readouterr().out.rpartition("Next: pushout ")[2])
    short = ["--reps", "2", "--set", "duration=12 s", "--out", str(tmp_path / "out"), "--json"]
    command(*words, *short)
    found = {each["label"]: each["figures"] for each in json.loads(capsys.readouterr().out)["policies"]}
    late = {label: figures["flows.call.delivery_time_p99_s"]["mean"] for label, figures in found.items()}
    assert late["fq-codel"] < 0.1 * late["as-is"]
    assert 0 <= found["as-is"]["flows.call.loss_ratio"]["mean"] < 0.1


def test_a_home_with_a_fair_queue_is_compared_with_tail_drop_in_one_queue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tc.txt").write_text("qdisc fq_codel 1: root limit 10240p flows 1024 target 5ms interval 100ms ecn\n")
    command("import", str(tmp_path / "tc.txt"), "--rate", "20 Mb/s", "--out", str(tmp_path / "home.toml"))
    told = capsys.readouterr().out
    assert "flows over TCP have ecn = true, because the port marks\n" in told
    short = ["--reps", "2", "--set", "duration=12 s", "--out", str(tmp_path / "out"), "--json"]
    command(*shlex.split(told.rpartition("Next: pushout ")[2]), *short)
    found = {each["label"]: each["figures"] for each in json.loads(capsys.readouterr().out)["policies"]}
    late = {label: figures["flows.call.delivery_time_p99_s"]["mean"] for label, figures in found.items()}
    assert late["as-is"] < 0.1 * late["tail-drop, fifo"]
    assert found["as-is"]["flows.backup.goodput_bps"]["mean"] > 1e6
    assert found["as-is"]["flows.call.loss_ratio"]["mean"] < 0.1


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("20Mbit", 20_000_000),
        ("20mbit", 20_000_000),
        ("512kbit", 512_000),
        ("1.5Gbit", 1_500_000_000),
        ("9 Mb/s", 9_000_000),
    ],
)
def test_a_rate_is_read_as_tc_writes_it(text: str, bps: int) -> None:
    assert captured.line_rate(text) == bps


def test_a_rate_in_octets_and_a_text_of_neither_kind_lead_to_the_remedy(tmp_path: Path) -> None:
    for text, bits in (("20 MB/s", "160 Mb/s"), ("2.5kBps", "20 kb/s")):
        with pytest.raises(QuestionError, match=f"not '{text}': rates are in bits, write {bits}"):
            captured.line_rate(text)
    (tmp_path / "junk.txt").write_text("hello world\n")
    assert not foreign.is_recording(tmp_path / "junk.txt")
    with pytest.raises(QuestionError, match=r"or qdisc \(tc qdisc show\), or, as a capture or with columns time"):
        foreign.read([tmp_path / "junk.txt"], "20 Mb/s")


def test_a_home_without_a_rate_says_so_and_bands_take_the_call_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tc.txt"
    root = "qdisc prio 1: root bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1\n"
    below = [f"qdisc pfifo {band}0: parent 1:{band} limit 100p\n" for band in (1, 2, 3)]
    file.write_text("".join([root, *below]))
    out = tmp_path / "home.toml"
    command("import", str(file), "--out", str(out), code=3)
    assert "the line of a home must have one: give the rate of yours, as in --rate" in capsys.readouterr().err
    assert not out.exists(), "a file at a rate that was not asked for would be in the way of the next command"
    command("import", str(file), "--rate", "5Mbit", "--out", str(out))
    told = capsys.readouterr()
    assert f"Next: pushout run {out}\n" in told.out
    assert "flows over TCP are without ecn = true, because the port does not mark\n" in told.out
    (uplink,) = [link for link in pushout.Scenario(out).explain()["link"] if link["name"] == "uplink"]
    assert uplink["rate"] == "5 Mb/s"
    queues = {flow["name"]: flow["queue"] for flow in pushout.Scenario(out).explain()["flow"]}
    assert queues["call"] == "band0"
    assert {queues[name] for name in ("page", "download", "backup")} == {"band1"}
