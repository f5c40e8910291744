"""The verbs as tools: a client asks five questions over stdio, and no tool leaves its folder."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from pushout import extras
from pushout.cli import main
from pushout.errors import MissingExtraError, QuestionError
from pushout.tools import TOOLS, Tools

LAN = (ROOT / "scenarios" / "lan.toml").read_text(encoding="utf-8")

SHORT = ["duration=200 ms", "warmup=0 s"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a scenario, beside a file that no tool may read."""
    (tmp_path / "secret.toml").write_text(LAN, encoding="utf-8")
    inside = tmp_path / "lab"
    inside.mkdir()
    (inside / "own.toml").write_text(LAN, encoding="utf-8")
    (inside / "link.toml").symlink_to(tmp_path / "secret.toml")
    (inside / "elsewhere").symlink_to(tmp_path)
    return inside


class Client:
    """A client of the protocol, as an agent is: it lists the tools and calls them."""

    def __init__(self, session: Any) -> None:
        self.session = session

    async def ask(self, tool: str, **arguments: object) -> Any:
        """Call a tool, which must answer."""
        answer = await self.session.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        return json.loads(answer.content[0].text)

    async def refused(self, tool: str, **arguments: object) -> str:
        """Call a tool, which must refuse."""
        answer = await self.session.call_tool(tool, arguments)
        assert answer.is_error
        text: str = answer.content[0].text
        return text


async def five_questions(client: Client) -> None:
    """What a user asks an agent about buffers, answered by the tools alone."""
    # Which policy loses least at this port?
    listed = (await client.ask("policies", kind="admission"))["policies"]
    assert {"epd", "tail-drop"} <= {each["name"] for each in listed}
    compared = await client.ask("compare", scenario="lan", policies=["tail-drop", "epd"], set=SHORT, reps=2)
    assert [each["label"] for each in compared["policies"]] == ["tail-drop", "epd"]
    # How much buffer does it need?
    sized = await client.ask(
        "size",
        scenario="own.toml",
        goal="goodput_ratio>=0.1",
        over="port.bottleneck.buffer",
        set=SHORT,
        least=2,
        most=2,
    )
    assert sized["answers"][0]["value"].endswith("cells")
    # Is this scenario of mine right, and what does it give?
    text = LAN.replace('name = "lan"', 'name = "mine"')
    assert (await client.ask("write_scenario", file="mine.toml", text=text))["valid"]
    ran = await client.ask(
        "run", scenario="mine.toml", set=SHORT, figures=["ports.bottleneck.units_in"], out="mine.json"
    )
    assert ran["scenario"] == "mine"
    assert ran["figures"]["ports.bottleneck.units_in"] > 0
    assert "ideal_bps" in ran["summary"]
    # What does the acceptance test of this chip have to count?
    counts = (await client.ask("chip_predict", profile="tomahawk", lines=1))["expected"]
    assert {each["name"]: each["value"] for each in counts}["lossy.drop"] == 9_884
    # Which α explains what it has counted?
    found = await client.ask("chip_explain", counts={"drop": 9_884, "fill": 8}, pool=11_110)
    assert [each["alpha"] for each in found["classes"][0]["configurations"]] == [8.0]


async def refusals(client: Client) -> None:
    """Wrong questions get the messages of the verbs."""
    assert "did you mean" in await client.refused("run", scenario="lan", set=["port.bottlneck.buffer=1 cell"])
    assert "a path must be relative" in await client.refused("run", scenario="../secret.toml")
    assert "unknown" in (await client.refused("compare", scenario="lan", policies=["eqd"])).lower()
    assert "scenario" in await client.refused("run")


async def session(folder: Path) -> list[str]:
    """Start the server, ask, and return the names of the tools."""
    mcp: Any = extras.need("mcp", "this test")
    stdio: Any = extras.need("mcp.client.stdio", "this test")
    arguments = ["-m", "pushout", "mcp", "--folder", str(folder)]
    server = mcp.StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    async with stdio.stdio_client(server) as (reader, writer), mcp.ClientSession(reader, writer) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        assert all(tool.description and tool.input_schema["type"] == "object" for tool in tools)
        client = Client(session)
        await five_questions(client)
        await refusals(client)
        return [tool.name for tool in tools]


@pytest.mark.timeout(120)
def test_a_client_asks_five_questions(folder: Path) -> None:
    assert asyncio.run(session(folder)) == list(TOOLS)
    report = json.loads((folder / "mine.json").read_text(encoding="utf-8"))
    assert report["scenario"] == "mine"
    assert {"flows", "ports"} <= set(report), "the whole report"
    assert sorted(file.name for file in folder.iterdir()) == [
        "elsewhere",
        "link.toml",
        "mine.json",
        "mine.toml",
        "own.toml",
    ]


OUTSIDE = (
    "../secret.toml",
    "/etc/passwd",
    "link.toml",
    "elsewhere/secret.toml",
    "a/../../secret.toml",
    "..",
    "",
    "a\\b",
)


def calls(outside: str) -> Mapping[str, dict[str, Any]]:
    """Every tool that takes the name of a file, with this name."""
    return {
        "validate": {"scenario": outside},
        "explain": {"scenario": outside},
        "run": {"scenario": outside},
        "compare": {"scenario": outside, "policies": ["epd", "ppd"]},
        "size": {"scenario": outside, "goal": "goodput_ratio>=0.1", "over": "port.bottleneck.buffer"},
        "why": {"scenario": outside},
        "headroom": {"table": outside},
        "chip_predict": {"profile": outside},
        "chip_explain": {"counts": outside},
        "write_scenario": {"file": outside, "text": LAN},
    }


@pytest.mark.parametrize("outside", OUTSIDE)
def test_no_tool_reads_or_writes_outside_of_its_folder(folder: Path, outside: str) -> None:
    tools = {tool.__name__: tool for tool in Tools(folder).all()}
    for name, arguments in calls(outside).items():
        with pytest.raises(QuestionError) as caught:
            tools[name](**arguments)
        assert "must" in str(caught.value), (name, caught.value)
        assert str(folder.parent) not in str(caught.value)
    for name in ("run", "compare", "size"):
        written = {**calls("own.toml")[name], "out": outside, "set": SHORT}
        with pytest.raises(QuestionError, match="must"):
            tools[name](**written)
    with pytest.raises(QuestionError, match="must"):
        tools["chip_predict"](profile="own.toml", qos=outside)
    assert (folder.parent / "secret.toml").read_text(encoding="utf-8") == LAN
    assert sorted(file.name for file in folder.parent.iterdir()) == ["lab", "secret.toml"]


@pytest.mark.parametrize(
    "name", ["own.py", "own.py:Policy", "../own.py", "{}/own.py", "OWN.PY", "own.py,epd", "own.py \t", "epd,own.py:a"]
)
def test_no_tool_runs_code(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = folder / "ran.txt"
    code = f"open({str(ran)!r}, 'w').write('ran')\n"
    for place in (folder / "own.py", folder / "OWN.PY", folder.parent / "own.py"):
        place.write_text(code, encoding="utf-8")
    monkeypatch.chdir(folder)
    tools = Tools(folder)
    policy = name.format(folder)
    with pytest.raises(QuestionError, match="tools run no code"):
        tools.compare("own.toml", ["tail-drop", policy], set=SHORT, reps=2)
    with pytest.raises(QuestionError, match="tools run no code"):
        tools.why("own.toml", policies=[policy], set=SHORT)
    run = {tool.__name__: tool for tool in tools.all()}["run"]
    for value in (policy, f"{{ policy = {policy!r} }}"):
        with pytest.raises(QuestionError):
            run(scenario="own.toml", set=[f"port.bottleneck.admission={value}"])
    assert not ran.exists()


def test_a_scenario_that_replays_a_file_outside_is_refused(folder: Path) -> None:
    source = re.search(r"(?m)^source = .*$", LAN)
    assert source
    replaying = LAN.replace(source[0], 'source = { kind = "replay", file = "../secret.toml" }')
    (folder / "replay.toml").write_text(replaying, encoding="utf-8")
    tools = Tools(folder)
    with pytest.raises(QuestionError, match="must not name a file"):
        tools.validate(replaying)
    (validate,) = (tool for tool in tools.all() if tool.__name__ == "validate")
    with pytest.raises(QuestionError, match="must lie below the folder"):
        validate(scenario="replay.toml")


def test_a_file_that_stands_is_named_by_its_name_alone(folder: Path) -> None:
    tools = Tools(folder)
    (folder / "deep").mkdir()
    (folder / "deep" / "own.toml").write_text(LAN, encoding="utf-8")
    assert tools.validate("deep/own.toml")["valid"]
    names = [each["name"] for each in tools.scenarios()["scenarios"]]
    assert {"lan", "tomahawk", "own.toml"} <= set(names)
    with pytest.raises(QuestionError, match="no such file in the folder"):
        tools.validate("gone.toml")
    with pytest.raises(QuestionError, match=r"must end with \.toml"):
        tools.write_scenario("own.txt", LAN)


def test_an_invalid_scenario_is_not_written(folder: Path) -> None:
    (write,) = (tool for tool in Tools(folder).all() if tool.__name__ == "write_scenario")
    with pytest.raises(QuestionError, match="duration"):
        write(file="bad.toml", text=LAN.replace("duration", "durration"))
    assert not (folder / "bad.toml").exists()


def test_without_the_library_a_message_says_how_to_install_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "mcp"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(SystemExit):
        main(["mcp", "--folder", str(folder)])
    assert "pip install 'pushout[mcp]'" in capsys.readouterr().err
    assert issubclass(MissingExtraError, ImportError)
