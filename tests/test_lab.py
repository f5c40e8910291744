"""The page of the lab, with scenarios put into it."""

import json
import re
import tomllib
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import pushout
from conftest import ROOT, Typed, command
from pushout import lab, shipped
from pushout.cli.options import BAD_SCENARIO, FAILURE
from pushout.errors import QuestionError, ScenarioError
from pushout.policy import published as schemes

GIVEN = re.compile(r'<script id="given" type="application/json">(.*?)</script>', re.DOTALL)


@pytest.fixture(autouse=True)
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page of which only the place for scenarios is there."""
    file = tmp_path / "built.html"
    file.write_text((ROOT / "web" / "src" / "index.html").read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(shipped, "PAGE", file)
    return file


def given(html: str) -> list[dict[str, Any]]:
    """Return the settings that a page offers."""
    found = GIVEN.search(html)
    assert found
    offers: list[dict[str, Any]] = json.loads(found[1])
    return offers


def test_two_policies_are_two_runs_of_the_same_scenario() -> None:
    (offer,) = given(lab.page(["lan"], ["tail-drop,epd"], set={"duration": "2 s"}))
    assert offer["look"] == "tail-drop against epd"
    assert offer["text"] == (ROOT / "scenarios" / "lan.toml").read_text(encoding="utf-8")
    tail_drop, epd = offer["runs"]
    assert "duration" in tail_drop[0]
    assert tail_drop[1:] == ['port.bottleneck.admission={"policy" = "tail-drop"}']
    assert epd == tail_drop[:1]  # the policy that the scenario has, with its parameters


def test_a_scenario_without_policies_is_one_run_as_it_is() -> None:
    (lan, incast) = given(lab.page(["lan", "incast"]))
    assert (lan["runs"], incast["runs"]) == ([[]], [[]])
    assert lan["name"] != incast["name"]
    assert (lan["file"], incast["file"]) == ("lan", "incast"), "as a user types it, without a folder of this machine"


def test_a_scenario_cannot_end_the_element_that_contains_it() -> None:
    text = (ROOT / "scenarios" / "lan.toml").read_text(encoding="utf-8") + "# </script><!--\n"
    (offer,) = given(lab.page([text]))
    assert offer["text"] == text


def test_the_page_compares_two_runs_at_most() -> None:
    with pytest.raises(QuestionError, match="must be one or two, not 3"):
        lab.page(["lan"], ["tail-drop,ppd,epd"])
    with pytest.raises(QuestionError, match="policies need a scenario"):
        lab.page([], ["epd"])


def test_the_command_writes_a_page_that_offers_the_scenario(tmp_path: Path) -> None:
    command("lab", "lan", "--policies", "tail-drop,epd", "--out", str(tmp_path / "new" / "lab.html"))
    assert len(given((tmp_path / "new" / "lab.html").read_text(encoding="utf-8"))[0]["runs"]) == 2
    command("lab", "lan", "--policies", "tail-drop,eqd", "--out", str(tmp_path / "x.html"), code=BAD_SCENARIO)


def test_the_command_opens_the_page_in_a_browser(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    command("lab", "--json")
    document = json.loads(capsys.readouterr().out)
    assert opened == [Path(document["file"]).as_uri()]
    assert document["opened"]


OWN = ROOT / "web" / "test" / "own"
"""A policy in Python, and the offer of it that the tests of the page open."""


def test_a_policy_in_python_is_run_a_and_has_its_file_in_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(OWN)
    (offer,) = given(lab.page(["lan"], own=["smooth.py"], set={"duration": "2 s", "warmup": "500 ms"}))
    text = offer.pop("text")
    assert text == (ROOT / "scenarios" / "lan.toml").read_text(encoding="utf-8")
    assert [offer] == json.loads((OWN / "offer.json").read_text(encoding="utf-8"))
    (program,) = offer["programs"]
    assert program["option"] == "bottleneck=smooth.py"
    first, second = offer["runs"]
    assert first == [*second, program["set"]]


def test_a_policy_in_python_meets_another_one_or_both_runs_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(OWN)
    (offer,) = given(lab.page(["lan"], ["ppd"], own=["bottleneck=smooth.py"]))
    own, ppd = offer["runs"]
    assert len(own) == len(ppd) == 1
    assert ppd == ['port.bottleneck.admission={"policy" = "ppd"}']
    assert offer["labels"] == ["smooth, gain 0.002, limit 60 %", "ppd"]
    (both,) = given(lab.page(["multi-hop"], ["epd,ppd"], own=["b=smooth.py"]))
    assert [run[0] for run in both["runs"]] == [both["programs"][0]["set"]] * 2
    with pytest.raises(QuestionError, match=r"policies must be one beside own, not two: port.bottleneck.admission has"):
        lab.page(["lan"], ["epd,ppd"], own=["bottleneck=smooth.py"])
    (files,) = given(lab.page(["lan"], ["smooth.py,epd"]))
    assert files["programs"][0]["option"] == "bottleneck=smooth.py"


def test_a_control_in_python_is_offered_to_the_flows_and_runs_as_from_its_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "from pushout.policy import published\n\nvegas = published.vegas\n"
    (tmp_path / "vegas.py").write_text(text, encoding="utf-8")
    (offer,) = given(lab.page(["w1-packet"], own=["flows=vegas.py"]))
    (program,) = offer["programs"]
    key, table = program["set"].split("=", 1)
    assert (program["option"], key) == ("flows=vegas.py", "flows.transport.congestion")
    short = {"duration": "300 ms", "warmup": "100 ms"}
    offered = pushout.run("w1-packet", set={**short, key: tomllib.loads(f"value = {table}")["value"]})
    written = pushout.run("w1-packet", set=short, policies={"flows": schemes.vegas})
    assert offered["flows.flow1.goodput_bps"] == written["flows.flow1.goodput_bps"]


def test_a_policy_in_python_that_the_port_cannot_have_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "far.py"
    file.write_text((OWN / "smooth.py").read_text(encoding="utf-8").replace("60 %", "600 %"), encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"own smooth, gain 0.002, limit 600 %: .*params"):
        lab.page(["lan"], own=[str(file)])
    with pytest.raises(QuestionError, match=r"own must be \[PLACE=\]FILE.py, not '=smooth.py'"):
        lab.page(["lan"], own=["=smooth.py"])
    with pytest.raises(QuestionError, match="policies need a scenario"):
        lab.page([], own=[str(OWN / "smooth.py")])


def test_the_command_of_a_policy_in_python_takes_its_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    """As the page writes it."""
    parameter = 'port.bottleneck.admission.params.limit="40 %"'
    own = ["--policy", f"bottleneck={OWN / 'smooth.py'}"]
    command("run", "lan", *own, "--set", "duration=0.2 s", "--set", "warmup=0 s", "--set", parameter, "--json")
    assert json.loads(capsys.readouterr().out)["summary"]


def test_without_the_page_the_command_says_how_to_build_it(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page.unlink()
    command("lab", "lan", code=FAILURE)
    assert "run make lab" in capsys.readouterr().err


_ALL: list[dict[str, Any]] = json.loads((ROOT / "web" / "presets.json").read_text(encoding="utf-8"))
PRESETS = [each for each in _ALL if "like" not in each]  # a lesson has the runs of an experiment


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset["name"])
def test_the_runs_of_a_preset_are_scenarios_and_its_port_is_one_of_theirs(preset: dict[str, Any]) -> None:
    file = f"{preset['file']}.toml"
    scenario = str(ROOT / file) if "/" in file else preset["file"]
    for overrides in preset["runs"]:
        ports = pushout.explain(scenario, set=overrides)["port"]
        assert preset.get("port", next(iter(ports))) in ports


@pytest.mark.parametrize("preset", [each for each in PRESETS if "printed" in each], ids=lambda preset: preset["name"])
def test_what_a_preset_prints_is_a_number_of_its_study(preset: dict[str, Any]) -> None:
    """`values` are those that its text has, as the study writes them."""
    printed = preset["printed"]
    study = tomllib.loads((ROOT / "studies" / printed["study"] / "study.toml").read_text(encoding="utf-8"))
    known = set(published(study))
    for value in printed["values"]:
        assert value in known
        assert any(f"{each:.5g}" in printed["text"] for each in (value, 100 * value)), f"{value} is not in the text"


def published(table: Any, inside: bool = False) -> Iterator[float]:
    """Every number of the paper that a study has: below `published` or `printed`, or in a row of a table."""
    if isinstance(table, bool):
        return
    if isinstance(table, int | float):
        if inside:
            yield float(table)
        return
    inner = table.items() if isinstance(table, dict) else enumerate(table) if isinstance(table, list) else ()
    for key, value in inner:
        yield from published(value, inside or key in ("published", "printed", "row"))


@pytest.mark.parametrize("number", range(1, 11))
def test_an_experiment_of_the_course_links_to_its_preset(number: int) -> None:
    (notebook,) = (ROOT / "docs" / "course").glob(f"{number}-*.ipynb")
    pages = (notebook.read_text(encoding="utf-8"), (ROOT / "docs" / "course" / "index.md").read_text(encoding="utf-8"))
    for page in pages:
        assert re.search(rf"lab\.html#course-{number}\b", page)
    assert sum(f"course-{number}" in each.get("also", []) for each in PRESETS) == 1


POLICIES = {
    "chip": "abm,dynamic-threshold",
    "tomahawk": "abm,dynamic-threshold",
    "tomahawk-5": "abm,dynamic-threshold",
    "trident-2": "abm,dynamic-threshold",
    "trident-3": "abm,dynamic-threshold",
    "mux-poisson": "tail-drop,drop-from-front",
    "multi-hop-fcvc": "as-is,tail-drop",
}


@pytest.mark.parametrize("name", [each.name for each in shipped.listed() if each.kind == "scenario"])
def test_every_shipped_scenario_can_be_opened_with_two_policies(name: str) -> None:
    """Where packets share a memory the policies divide it; where nothing may be lost, no policy may lose anything."""
    (offer,) = given(lab.page([name], [POLICIES.get(name, "tail-drop,dynamic-threshold")]))
    first, second = offer["runs"]
    assert first != second or name == "multi-hop-fcvc"
    for overrides in offer["runs"]:
        assert offer["port"] in pushout.explain(name, set=overrides)["port"]


def test_a_policy_of_a_shared_memory_goes_to_the_memory() -> None:
    (offer,) = given(lab.page(["chip"], ["dynamic-threshold,abm"]))
    assert offer["runs"] == [[], ['memory.chip.admission={"policy" = "abm"}']]


def test_a_policy_that_the_scenario_cannot_have_is_refused_with_its_name() -> None:
    with pytest.raises(ScenarioError, match=r"policies epd: .*credits promise that nothing is lost"):
        lab.page(["multi-hop-fcvc"], ["tail-drop,epd"])


def test_a_link_carries_the_scenario_and_both_runs(typed: Typed, tmp_path: Path) -> None:
    done = typed(tmp_path, "lab", "home-uplink", "--policies", "tail-drop,codel", "--link")
    address, _, view = done.stdout.strip().partition("#")
    version, name, runs, now, port, text = json.loads(unquote(view))
    assert (address, version, name, now, port) == ("lab.html", lab.LINK, "home-uplink", 5 * 10**12, "bottleneck")
    policies = [pushout.explain(text, set=run)["port"]["bottleneck"]["admission"]["policy"] for run in runs]
    assert policies == ["tail-drop", "codel"]
    assert "[2, 1]" not in view and " " not in view, "it stays whole in a mail"


def test_a_link_that_would_be_too_long_is_refused_with_the_remedy(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text("# " + 40_000 * "x" + "\n" + pushout.Scenario("lan").to_toml(), "utf-8")
    refused = typed(tmp_path, "lab", "long.toml", "--link")
    assert refused.returncode != 0 and "--out lab.html" in refused.stderr
    assert typed(tmp_path, "lab", "--link").returncode == 2
    assert typed(tmp_path, "lab", "lan", "--link", "--out", "a.html").returncode == 2
