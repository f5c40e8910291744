"""The headroom of the lines of a switch: equal to that of `explain`, and right where a run loses or not.

`make test` runs 20 random lines, `make hostile` 100 (PUSHOUT_LINES).
"""

import json
import os
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import command
from pushout import reading
from pushout.errors import InternalError, QuestionError
from pushout.switch import headroom as question
from pushout.switch.table import MOST_ROWS, RESPONSES, Amount, Line, made

LINES = int(os.environ.get("PUSHOUT_LINES", "20"))

ROW: Mapping[str, object] = {
    "rate": "100 Gb/s",
    "cable": "300 m",
    "mtu": 4096,
    "other": 9100,
    "cell": 192,
    "given": "83968 B",
}
"""A line of a published table: 100 Gb/s and 300 m get 83 968 bytes."""

SCENARIO = """
name = "headroom"
duration = "1 us"
adaptation = { kind = "packet" }
port = { out = { memory = "chip" }, "in.back" = { memory = "chip" } }
queue.rdma = { pool = "lossless", pause = { xoff = "83968 B", xon = "2 kB" } }
queue.rest = { pool = "lossy" }
node = [
    { name = "a", kind = "host", latency = "2017.28 ns" },
    { name = "r", kind = "router" },
    { name = "b", kind = "host" },
]
link = [
    { name = "in", from = "a", to = "r", rate = "100 Gb/s", delay = "1515.152 ns" },
    { name = "out", from = "r", to = "b", rate = "100 Gb/s", delay = "0 s" },
]
[memory.chip]
size = "64 MB"
cell = "192 bytes"
pool = { lossless = { side = "ingress" }, lossy = {} }
[[flow]]
name = "f"
from = "a"
to = "b"
queue = "rdma"
source = { kind = "cbr", rate = "1 Gb/s", size = "4068 bytes" }
transport = { kind = "udp" }
[[flow]]
name = "g"
from = "b"
to = "a"
queue = "rest"
source = { kind = "cbr", rate = "1 Gb/s", size = "9072 bytes" }
transport = { kind = "udp" }
"""
"""The line of `ROW` as a user writes it."""


def test_without_given_the_answer_is_the_need(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "lines.csv"
    file.write_text("rate, cable, mtu, cell, given\n100 Gb/s, 300 m, 4096, 192,\n100 Gb/s, 300 m, 4096, 192, 78 kB\n")
    unknown, known = pushout.headroom(file).document["rows"]
    assert unknown["need_bytes"] == known["need_bytes"] == 77_952
    assert (unknown["given_bytes"], unknown["verdict"], unknown["lines_at_once"]) == (None, None, None)
    assert (known["given_bytes"], known["verdict"], known["lines_at_once"]) == (78_000, "enough", 1)
    assert pushout.headroom(file).columns["verdict"].tolist() == [None, "enough"]
    assert "1 of which only the need is known" in repr(pushout.headroom(file))
    command("switch", "headroom", str(file))
    printed = capsys.readouterr().out.splitlines()
    (line,) = [line for line in printed if f"{file.name}:2" in line]
    assert line.count("–") == 4, "given in bytes and cells, share, verdict"


def test_lines_of_a_switch_are_those_of_its_tables(tmp_path: Path) -> None:
    tables = {
        "PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": "40000"}},
        "CABLE_LENGTH": {"AZURE": {"Ethernet0": "300m", "Ethernet4": "40m"}},
        "BUFFER_POOL": {"ingress": {"type": "ingress", "size": "10000000", "xoff": "200000"}},
        "BUFFER_PROFILE": {
            "lossy": {"pool": "ingress", "size": "0", "dynamic_th": "3"},
            "lossless": {"pool": "[BUFFER_POOL|ingress]", "size": "0", "dynamic_th": "0", "xoff": "120000"},
        },
        "BUFFER_PG": {
            "Ethernet0,Ethernet4|0": {"profile": "lossy"},
            "Ethernet0|3-4": {"profile": "lossless"},
            "Ethernet4|3": {"profile": "NULL"},
        },
        "BUFFER_QUEUE": {"Ethernet0|0": {"profile": "lossy"}},
    }
    file = tmp_path / "config_db.json"
    file.write_text(json.dumps(tables))
    first, second = pushout.headroom(file, mtu=4096, cell=192).document["rows"]
    assert (first["name"], second["name"]) == ("Ethernet0|3-4", "Ethernet4|3")
    (same,) = rows({"mtu": 4096, "other": 4096, "given": "120000 B", "share": "ingress", "share_size": "200000 B"})
    assert {**first, "name": ""} == {**same, "name": ""}
    assert (second["given_bytes"], second["verdict"]) == (None, None), "the switch computes it as it starts"
    (short,) = rows({"rate": "40 Gb/s", "cable": "40 m", "other": 4096})
    assert second["need_bytes"] == short["need_bytes"]
    for change, message in (
        ({"PORT": {"Ethernet0": {"speed": "100000"}}}, "PORT|Ethernet4: speed must be given"),
        ({"CABLE_LENGTH": {}}, "CABLE_LENGTH: Ethernet0 must be given, as in 40m"),
    ):
        file.write_text(json.dumps({**tables, **change}))
        with pytest.raises(QuestionError, match=re.escape(f"config_db.json:1: {message}")):
            pushout.headroom(file, mtu=4096, cell=192)


def rows(*changes: Mapping[str, object]) -> list[dict[str, Any]]:
    """Ask about the line of `ROW` with these changes, one row each."""
    found: list[dict[str, Any]] = pushout.headroom([{**ROW, **change} for change in changes]).document["rows"]
    return found


def test_the_need_is_that_of_explain() -> None:
    (row,) = rows({})
    assert (
        f"the link needs {row['need_cells']} cells of headroom, and may take {row['given_cells']}: enough"
        in "\n".join(reading.thresholds(SCENARIO))
    )
    assert (row["need_cells"], row["need_bytes"], row["given_cells"], row["given_bytes"]) == (433, 83_136, 438, 83_968)
    assert (row["lines_at_once"], row["verdict"], row["share"]) == (1, "enough", None)


def test_one_cell_decides_the_verdict() -> None:
    enough, short = rows({"given": "433 cells"}, {"given": "432 cells"})
    assert (enough["verdict"], enough["lines_at_once"]) == ("enough", 1)
    assert (short["verdict"], short["lines_at_once"], short["given_bytes"]) == ("too little", 0, 82_944)


def test_terms_add_up_and_the_largest_is_named() -> None:
    found = rows({}, {"cable": 5}, {"cable": 0, "response": 0}, {"cable": 0, "response": 0, "other": 0, "mtu": 1920})
    assert all(sum(row["terms_bytes"].values()) == row["need_bytes"] for row in found)
    assert [row["dominant"] for row in found] == ["cable", "response", "other", "packets"]
    last = found[-1]["terms_bytes"]
    assert (last["cable"], last["response"], last["other"]) == (0, 0, 0)
    assert last["packets"] == 21 * 192, "two packets of ten cells, and a pause frame that is shorter than a cell"


@pytest.mark.parametrize(("gigabits", "quanta"), RESPONSES.items())
def test_a_response_is_that_of_the_standard_unless_it_is_given(gigabits: int, quanta: int) -> None:
    rate = {"rate": f"{gigabits} Gb/s"}
    alike = rows(rate, {**rate, "response": f"{quanta} quanta"}, {**rate, "response": f"{64 * quanta} bytes"})
    assert len({row["need_cells"] for row in alike}) == 1
    more = rows({**rate, "response": quanta + 100})[0]["need_bytes"] - alike[0]["need_bytes"]
    assert more == pytest.approx(64 * 100, rel=0.1), "100 quanta are 6400 bytes in cells"


def test_units_and_small_packets() -> None:
    plain, units = rows({}, {"cable": "0.3 km", "mtu": "4.096 kB", "given": "82 KiB", "cell": "192 bytes"})
    assert {**units, "name": plain["name"]} == plain
    small = rows({"smallest": 64})[0]
    assert small["need_bytes"] > 2.5 * plain["need_bytes"], "a packet of 64 bytes takes a cell of 192"


def test_a_pool_carries_as_many_lines_as_fit() -> None:
    shared = {"given": "438 cells", "share": "lossless", "share_size": "1000 cells"}
    short = {**shared, "given": "432 cells"}
    found = rows(shared, shared, short, {"cable": 5})
    assert [row["verdict"] for row in found] == ["shared", "shared", "too little", "enough"]
    assert [row["lines_at_once"] for row in found] == [2, 2, 2, 1]
    assert [row["lines"] for row in found] == [3, 3, 3, 1]
    assert found[0]["share_ratio"] == pytest.approx(0.433)
    assert found[0]["share_bytes"] == 192_000


@pytest.mark.parametrize(
    ("cells", "at_once", "verdict"),
    [(1299, 3, "enough"), (1298, 2, "shared"), (432, 0, "too little"), (0, 0, "too little")],
)
def test_a_pool_without_own_limits_gives_each_line_all_of_it(cells: int, at_once: int, verdict: str) -> None:
    line = {"given": "", "share": "p", "share_size": f"{cells} cells"}
    found = rows(line, line, line)
    assert [(row["lines_at_once"], row["verdict"], row["given_cells"]) for row in found] == 3 * [
        (at_once, verdict, cells)
    ]


SONIC = """# PG lossless profiles.
# speed cable size xon xoff threshold xon_offset
 10000 5m 1248 2288 35776 -3 2288
 100000 300m 1248 2288 83968 -3 2288
 400000 300m 1248 2288 83968 -3
"""


def test_a_table_of_sonic_gives_xoff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "pg_profile_lookup.ini"
    table.write_text(SONIC, encoding="utf-8")
    command("switch", "headroom", str(table), "--mtu", "4096", "--other", "9100", "--cell", "192", "--json")
    found = json.loads(capsys.readouterr().out)["rows"]
    assert [row["name"] for row in found] == ["10000 Mb/s, 5m", "100000 Mb/s, 300m", "400000 Mb/s, 300m"]
    assert [row["given_bytes"] for row in found] == [35_776, 83_968, 83_968]
    assert [row["verdict"] for row in found] == ["enough", "enough", "too little"]
    assert {**found[1], "name": ""} == {**rows({})[0], "name": ""}


CSV = """\ufeff# lines of a leaf
line, rate, cable, mtu, other, cell, given, share, share_size

Ethernet0, 100 Gb/s, 300 m, 4096, 9100, 192, 83968 B,,
Ethernet4, 100 Gb/s, 300 m, 4096, , 192, , pool, 100 kB
Ethernet8, 100 Gb/s, 300 m, 4096, , 192, , pool, 100 kB
"""


def test_a_table_is_printed_row_by_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "lines.csv"
    table.write_text(CSV, encoding="utf-8")
    command("switch", "headroom", str(table))
    words = " ".join(capsys.readouterr().out.split())
    assert "Ethernet0 enough 83 136 83 968 433 438 – cable: 47 %" in words
    assert "Ethernet4 shared 77 952 100 000 406 521 pool: 78 % cable: 50 %" in words
    assert "the 521 cells of pool pool are enough for 1 of 2 lines at once" in words
    assert pushout.headroom(table).document == pushout.headroom(str(table)).document
    assert repr(pushout.headroom(table)) == "<HeadroomResult 3 rows, 0 with too little headroom>"


def test_the_result_is_a_table_and_a_notebook_shows_it() -> None:
    result = pushout.headroom([ROW, {**ROW, "share": "p", "share_size": "500 cells"}])
    found = result.to_arrow().to_pylist()
    expected = result.document["rows"]
    assert [row["need_bytes"] for row in found] == [83_136, 83_136]
    assert [(row["share"], row["share_bytes"]) for row in found] == [(None, None), ("p", 96_000)]
    for row, document in zip(found, expected, strict=True):
        terms = {f"{name}_bytes": number for name, number in document.pop("terms_bytes").items()}
        assert row == {**document, **terms}
    assert pushout.headroom([ROW]).to_arrow().schema.field("share").type == "string"
    html = result._repr_html_()
    assert html is not None
    assert "the 500 cells of pool p are enough for 1 of 1 lines at once" in html


HEAD = b"rate,cable,mtu,cell,given\n"
GOOD = b"100 Gb/s,300,4096,192,83968\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "{}: the table must have at least one row with a line of the switch"),
        (HEAD, "{}: the table must have at least one row with a line of the switch"),
        (b"rate,cable\xff\n", "{}: the file must be UTF-8 text; byte 10 is not"),
        (b"rate,cabel\n", '{}:1: unknown column "cabel"; did you mean "cable"?'),
        (b"rate,rate\n", "{}:1: column rate must be given once"),
        (
            b"rate,cable,mtu,given\n100 Gb/s,300,4096,83968\n",
            "{}:2: cell must be given: add the column, or give --cell for all rows",
        ),
        (b"cable,mtu,cell,given\n300,4096,192,83968\n", "{}:2: rate must be given: add the column"),
        (HEAD + GOOD + b"100 Gb/s,300,4096,192\n", "{}:3: the row must have 5 values, as the first line, not 4"),
        (HEAD + b"100,300,4096,192,8\n", "{}:2: rate must be a rate from 1 Mb/s to 10 Tb/s, as in 100 Gb/s, not '100'"),
        (HEAD + b"nan Gb/s,300,4096,192,8\n", "{}:2: rate must be a rate from 1 Mb/s"),
        (HEAD + b"100 Gb/s,-1,4096,192,8\n", "{}:2: cable must be a length from 0 to 1000000 m, as in 300 m, not '-1'"),
        (HEAD + b"100 Gb/s,NaN,4096,192,8\n", "{}:2: cable must be a length"),
        (HEAD + b"100 Gb/s,1e999,4096,192,8\n", "{}:2: cable must be a length"),
        (HEAD + b"100 Gb/s,300,63,192,8\n", "{}:2: mtu must be a number of bytes from 64 to 65535, not '63'"),
        (HEAD + b"100 Gb/s,300,4096,0,8\n", "{}:2: cell must be a number of bytes from 1 to 65535, not '0'"),
        (HEAD + b"100 Gb/s,300,4096,192.5,8\n", "{}:2: cell must be a number of bytes from 1 to 65535, not '192.5'"),
        (HEAD + b"100 Gb/s,300,4096,192,-8\n", "{}:2: given must be a number of bytes or cells from 0"),
        (HEAD + b"100 Gb/s,300,4096,192,8 packets\n", "{}:2: given must be a number of bytes or cells from 0"),
        (HEAD + b"800 Gb/s,300,4096,192,8\n", "{}:2: response must be given, as in 394 quanta"),
        (HEAD + GOOD * (MOST_ROWS + 1), f"{{}}:{MOST_ROWS + 2}: a table must have at most {MOST_ROWS} rows"),
        (HEAD + b'"100 Gb/s,300\n', "{}:2: the line must be CSV: unexpected end of data"),
        (HEAD + b"1" * 200_000 + b"\n", "{}:2: the line must be CSV: field larger than field limit"),
        (b"\0,\0\n", '{}:1: unknown column "\\0"'),
        (b"x" * 3 + b",x" * 1000 + b"\n", '{}:1: unknown column "xxx"'),
    ],
)
def test_a_bad_table_gets_one_message(
    content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_bytes(content)
    command("switch", "headroom", "t.csv", code=3)
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith(message.format("t.csv"))
    assert err.count("\n") == 1
    assert len(err) <= 301


def test_a_file_that_no_switch_can_have_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "large.csv"
    table.write_bytes(HEAD + GOOD * 1_000_000)
    command("switch", "headroom", str(table), code=1)
    assert capsys.readouterr().err == f"{table}: larger than 16 MiB, the limit\n"
    command("switch", "headroom", str(tmp_path / "none.csv"), code=1)
    assert capsys.readouterr().err == f"{tmp_path / 'none.csv'}: No such file or directory\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("10G 5m 1 2 3 4", "2: speed must be a number of Mb/s, not '10G'"),
        (
            "10000 5m 1 2",
            "2: the row must have the columns speed cable size xon xoff threshold xon_offset, not 4 values",
        ),
        ("10000 5x 1 2 3 4", "2: cable must be a length from 0 to 1000000 m, as in 300 m, not '5x'"),
        ("10000 5m 1 2 -3 4", "2: given must be a number of bytes or cells from 0"),
    ],
)
def test_a_bad_table_of_sonic_gets_one_message(line: str, message: str, tmp_path: Path) -> None:
    table = tmp_path / "t.ini"
    table.write_text(f"# PG\n{line}\n", encoding="utf-8")
    with pytest.raises(QuestionError) as caught:
        pushout.headroom(table, mtu=4096, cell=192)
    assert f"t.ini:{message}" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cable": float("nan")}, "rows[0]: cable must be a length"),
        ({"mtu": True}, "rows[0]: mtu must be a number of bytes from 64 to 65535, not 'True'"),
        ({"mtu": 10**400}, "rows[0]: mtu must be a number of bytes"),
        ({"given": "1000000000000 cells"}, "rows[0]: given must be at most 1000000000000 bytes, not 192000000000000"),
        ({"smallest": 5000}, "rows[0]: smallest must be at most mtu (4096), not 5000"),
        ({"share_size": "1 kB"}, "rows[0]: share must name the pool whose size share_size is"),
        ({"share": "p"}, "rows[0]: share_size must be given"),
        ({"response": -1}, "rows[0]: response must be a number of quanta or bytes"),
        ({"response": "13 GB"}, "rows[0]: response must be at most a second of the line, not 13000000000 bytes"),
        ({"colour": "red"}, 'rows[0]: unknown column "colour"'),
    ],
)
def test_a_bad_row_of_python_gets_one_message(change: Mapping[str, object], message: str) -> None:
    with pytest.raises(QuestionError) as caught:
        pushout.headroom([{**ROW, **change}])
    assert str(caught.value).startswith(message)


def test_rows_of_one_pool_agree() -> None:
    one = {"share": "p", "share_size": "100 kB"}
    for other, column in (({"cell": 208}, "cell"), ({"share_size": "99 kB"}, "share_size")):
        with pytest.raises(QuestionError, match=rf"rows\[1\]: {column} must be that of the first row of pool 'p'"):
            rows(one, {**one, **other})


def test_columns_may_have_the_names_of_other_tables() -> None:
    row = {"cable": "300 m", "mtu": 4096, "cell": 192, "given": "84 kB"}
    own = pushout.headroom([{"line": "a", "rate": "100 Gb/s", **row}])
    other = pushout.headroom([{"name": "a", "speed": "100 Gb/s", **row}])
    assert own.document == other.document
    with pytest.raises(QuestionError, match="column rate must be given once"):
        pushout.headroom([{"speed": "100 Gb/s", "rate": "100 Gb/s", **row}])


def test_a_value_for_all_rows_is_checked_once() -> None:
    row = {"rate": "100 Gb/s", "cable": 300, "given": 83_968}
    found = pushout.headroom([row], mtu=4096, other=9100, cell=192).document["rows"]
    assert found[0]["need_cells"] == 433
    with pytest.raises(QuestionError, match=r"^mtu must be a number of bytes from 64 to 65535, not '63'"):
        pushout.headroom([row], mtu=63, cell=192)


@pytest.mark.parametrize("wrong", [[1], ["rate"], [None]])
def test_a_row_that_is_not_a_mapping_is_refused(wrong: Any) -> None:
    with pytest.raises(QuestionError, match=r"rows\[0\] must be a mapping of columns"):
        pushout.headroom(wrong)


def test_a_changed_sentence_of_explain_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question, "SENTENCE", question.re.compile("no such sentence"))
    with pytest.raises(InternalError, match="explain describes the headroom of 0 lines, not of 4"):
        rows({})


DURATION = "200 us"

FILLS = "20000 bytes"
"""Shared room of a queue: a few packets, after which its sender is paused."""


def losses(lines: Sequence[Line], xoff: Amount, *, shared: bool = False, sending: int | None = None) -> int:
    """Send over all or some lines at once to one slow port; count the packets of the class that are lost."""
    scenario = question.scenario(lines, xoff, shared=shared)
    scenario |= {"duration": DURATION, "engine": "fast"}
    scenario["link"][0]["rate"] = f"{lines[0].rate_bps // 1000} b/s"  # hardly a packet leaves meanwhile
    scenario["queue"]["lossless"]["limit"] = FILLS
    for flow in scenario["flow"]:
        to_switch = flow["queue"] == "lossless"
        number = int((flow["from"] if to_switch else flow["to"]).removeprefix("a"))
        rate = lines[number].rate_bps
        flow["source"]["rate"] = f"{rate if to_switch else rate // 10} b/s"
        if sending is not None and number >= sending:
            flow["stop"] = "1 ps"
    document = pushout.run(scenario).document
    assert document["engine"]["name"] == "fast"
    return sum(port.get("lossless_drop", 0) for port in document["ports"])


def random_line(stream: random.Random, *, other: bool = False) -> Line:
    """Draw a line with packets that fill their cells, for which the need is exact without other traffic."""
    cell = stream.choice([80, 144, 192, 208, 256])
    row = {
        "rate": f"{stream.choice([10, 25, 40, 50, 100])} Gb/s",
        "cable": stream.randint(0, 500),
        "mtu": cell * stream.randint(1, 20),
        "other": stream.randint(64, 9100) if other else 0,
        "cell": cell,
        "given": 0,
    }
    return made([row], {})[0]


def verdict(line: Line, given: int) -> str:
    """The verdict on a line that is given this number of cells."""
    return question.compared([replace(line, given=Amount(given, in_cells=True))]).rows[0].verdict


@pytest.mark.parametrize("seed", range(LINES))
def test_a_run_loses_where_the_verdict_is_too_little_and_nowhere_else(seed: int) -> None:
    stream = random.Random(seed)  # noqa: S311
    line = random_line(stream)
    need = question.compared([line]).rows[0].need
    margin = 2 * line.mtu // line.cell  # the first and the last packet need their cells as a whole
    for given in (need, need + stream.randint(0, need), need - margin - stream.randint(0, need // 4)):
        lost = losses([line] * stream.randint(2, 4), Amount(max(given, 1), in_cells=True))
        assert verdict(line, max(given, 1)) == ("too little" if lost else "enough"), (line, need, given, lost)


@pytest.mark.parametrize("seed", range(LINES // 4))
def test_other_traffic_is_covered(seed: int) -> None:
    line = random_line(random.Random(seed), other=True)  # noqa: S311
    need = question.compared([line]).rows[0].need
    assert losses([line] * 3, Amount(need, in_cells=True)) == 0
    assert losses([line] * 3, Amount(need // 3, in_cells=True)) > 0


@pytest.mark.parametrize("seed", range(LINES // 4))
def test_a_pool_loses_nothing_with_as_many_lines_at_once_as_it_says(seed: int) -> None:
    stream = random.Random(seed)  # noqa: S311
    line, at_once = random_line(stream), stream.randint(1, 3)
    need = question.compared([line]).rows[0].need
    pool = Amount(at_once * need + need // 2, in_cells=True)
    lines = [replace(line, given=pool, pool="p", pool_size=pool)] * (at_once + 2)
    found = question.compared(lines).rows[0]
    assert (found.lines_at_once, found.verdict) == (at_once, "shared")
    assert losses(lines, pool, shared=True, sending=at_once) == 0
    assert losses(lines, pool, shared=True) > 0


def test_room_beyond_its_pool_is_given_to_no_line() -> None:
    more = {"given": "2000 cells", "share": "lossless", "share_size": "500 cells"}
    assert [row["given_cells"] for row in rows(more, more)] == [500, 500]


def test_lines_with_other_small_packets_need_other_headroom() -> None:
    small, large = rows({"smallest": "64 bytes"}, {"smallest": "1000 bytes"})
    assert small["need_cells"] > large["need_cells"]
    for size, both in (("64 bytes", small), ("1000 bytes", large)):
        (alone,) = rows({"smallest": size})
        assert alone["need_cells"] == both["need_cells"]
