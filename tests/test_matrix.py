"""Every verb on every scenario: those that are shipped, those of the how-to pages, and every kind of source."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import ROOT, command
from pushout import lab, shipped
from pushout.names.load import busiest
from pushout.names.port import Port, ports
from pushout.quantity import split, text

SHIPPED = [each.name for each in shipped.listed() if each.kind == "scenario"]

BLOCK = re.compile(r"^```toml\n(.*?)^```", re.DOTALL | re.MULTILINE)

SOURCES: dict[str, dict[str, Any]] = {
    "greedy": {"kind": "greedy"},
    "file": {"kind": "file", "size": "5 kB"},
    "cbr": {"kind": "cbr", "rate": "1 Mb/s"},
    "poisson": {"kind": "poisson", "rate": "1 Mb/s"},
    "arrivals by load": {"kind": "arrivals", "sizes": "websearch", "load": "50 %"},
    "file at instants": {"kind": "file", "size": "5 kB", "at": ["0 s", "1 ms"]},
    "arrivals of a file": {"kind": "arrivals", "sizes": {"file": "sizes.txt"}, "load": "50 %"},
    "arrivals by rate": {"kind": "arrivals", "sizes": "websearch", "rate": "200 per s"},
    "query": {"kind": "query", "fan_in": 3, "size": "10 kB", "rate": "200 per s"},
    "replay": {"kind": "replay", "file": "a.csv"},
}

FABRIC = {
    "name": "fabric",
    "duration": "2 ms",
    "adaptation": {"kind": "packet"},
    "topology": {
        "template": "leaf-spine",
        "leaves": 2,
        "spines": 2,
        "hosts": 4,
        "host": {"rate": "1 Gb/s", "delay": "5 us"},
        "fabric": {"rate": "2 Gb/s", "delay": "5 us"},
    },
    "port": {"default": {"buffer": "300 packets"}},
}


def how_to() -> dict[str, str]:
    """The complete scenarios of the how-to pages."""
    found = {}
    for page in sorted((ROOT / "docs" / "how-to").glob("*.md")):
        for number, block in enumerate(BLOCK.findall(page.read_text(encoding="utf-8"))):
            try:
                table = tomllib.loads(block)
            except tomllib.TOMLDecodeError:
                continue
            if {"duration"} < table.keys() and ("topology" in table or "link" in table):
                found[f"{page.stem} {number}"] = block
    return found


HOW_TO = how_to()


def with_source(source: dict[str, Any]) -> str:
    """A fabric whose flows have a source; a recording is sent by one host."""
    transport = {"kind": "udp" if source["kind"] in ("cbr", "poisson", "replay") else "tcp"}
    return json.dumps({**FABRIC, "flows": {"source": source, "transport": transport}})


CASES = {
    **{name: name for name in SHIPPED},
    **{f"how-to {name}": text for name, text in HOW_TO.items()},
    **{f"source {name}": with_source(source) for name, source in SOURCES.items()},
    **{
        f"workload {file}": json.dumps(
            {**FABRIC, "flows": {"transport": {"kind": "tcp"}}, "workload": {"kind": "list", "file": file}}
        )
        for file in ("ring.csv", "incast.cm")
    },
}

FILES = {
    **dict.fromkeys(("a.csv", "arrivals.csv"), "time,bytes,flow\n0,1000,voice\n0.0001,1000,data\n"),
    "ring.csv": "from,to,bytes,start,name,after\nhost1,host2,5 kB,0,a,\nhost2,host3,5 kB,1 us,b,a\n",
    "incast.cm": "Nodes 8\nConnections 2\n0->7 start 0 size 9000\n1->7 start 1000 size 9000\n",
    "sizes.txt": "0 0\n10000 50\n20000 100\n",
}
"""Files that scenarios name."""

SHORT = {"duration": "2 ms", "warmup": "0 s"}

NO_PORT = "no port has a limited buffer: choose a port with"
"""Answer to a question about a port if a memory, or nothing, limits the buffers."""


def placed(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Work in a folder with the files that a scenario names; its name or path."""
    monkeypatch.chdir(folder)
    for file, content in FILES.items():
        Path(file).write_text(content, encoding="utf-8")
    if name in SHIPPED:
        return name
    Path("s.toml").write_text(CASES[name], encoding="utf-8")
    return "s.toml"


def asked(verb: str, scenario: str, port: Port | None) -> list[str]:
    """The arguments of a verb about this port."""
    if verb == "plot":
        return [verb, scenario, "--out", "p.svg"]
    if verb == "compare":
        at = [] if port is None else ["--port", port.name]
        meter = ["--set", "measure.meter=[]"]  # only the scenario's own policy has it
        policies = f"as-is,{'abm' if port is None else 'tail-drop'}"
        return [verb, scenario, "--policies", policies, "--reps", "2", *at, *meter]
    if verb == "size" and port is not None:
        number, unit = split(port.buffer)
        ends = ["--from", port.buffer, "--to", text(2 * number, unit)]
        reps = ["--least", "2", "--most", "2"]
        return [verb, scenario, "--goal", "goodput_bps>=0", "--over", f'port."{port.name}".buffer', *ends, *reps]
    return [*verb.split(), scenario]


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("verb", ["explain --check", "explain", "run", "compare", "plot", "size"])
def test_every_verb_takes_every_scenario(
    verb: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = placed(name, tmp_path, monkeypatch)
    explained = pushout.explain(scenario, set=SHORT)
    is_limited = any(port.buffer != "unlimited" for port in ports(explained).values())
    if verb == "size" and not is_limited:
        pytest.skip("it has no buffer of a port to size")
    port = busiest([port for port in ports(explained).values() if port.is_limited], explained) if is_limited else None
    sets = [word for key, value in SHORT.items() for word in ("--set", f"{key}={value}")]
    refused = verb == "compare" and port is None and not explained.get("memory")
    command(*asked(verb, scenario, port), *sets, code=3 if refused else 0)
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert not refused or NO_PORT in err


@pytest.mark.parametrize("name", CASES)
def test_the_lab_takes_every_scenario(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = placed(name, tmp_path, monkeypatch)
    monkeypatch.setattr(shipped, "PAGE", tmp_path / "lab.html")
    shipped.PAGE.write_text('<script id="given" type="application/json">[]</script>', encoding="utf-8")
    own = ["dynamic-threshold", "abm"] if pushout.explain(scenario).get("memory") else ["as-is", "tail-drop"]
    assert lab.page([scenario], own, set={**SHORT, "measure.meter": []})


def test_a_buffer_of_a_template_is_sized_from_the_value_that_the_scenario_writes(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(with_source(SOURCES["query"]), encoding="utf-8")
    found = pushout.size(tmp_path / "s.toml", "goodput_bps>=0", "port.default.buffer", least=2, most=2)
    assert (found.space.low, found.space.high, found.space.unit) == (9, 1200, "packets")
