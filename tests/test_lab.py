"""The page of the lab, with scenarios put into it."""

import json
import re
import webbrowser
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, command
from pushout import lab, shipped
from pushout.cli.options import BAD_SCENARIO, FAILURE
from pushout.errors import QuestionError

GIVEN = re.compile(r'<script id="given" type="application/json">(.*?)</script>', re.DOTALL)


@pytest.fixture(autouse=True)
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page of which only the place for scenarios is there."""
    file = tmp_path / "built.html"
    file.write_text((ROOT / "web" / "src" / "index.html").read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(shipped, "PAGE", file)
    return file


def given(html: str) -> list[dict[str, Any]]:
    """What a page offers."""
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


def test_without_the_page_the_command_says_how_to_build_it(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page.unlink()
    command("lab", "lan", code=FAILURE)
    assert "run make lab" in capsys.readouterr().err
