"""Answers as pages: `--html` and `result.html()`."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import pushout
from pushout import shipped
from pushout.cli import main

SHORT = ("--set", "duration=0.2 s", "--set", "port.bottleneck.buffer=1000 cells")
SWEEP = """scenario = "lan.toml"
title = "How large a buffer?"
set = ['duration="0.1 s"']
reps = 2
grid = { "port.bottleneck.buffer" = ["500 cells", "1000 cells"] }
"""

GOAL = (
    "--goal",
    "goodput_ratio>=0.2",
    "--over",
    "port.bottleneck.buffer",
    "--resolution",
    "0.5",
    "--least",
    "2",
    "--most",
    "3",
)
ASKED = {
    "run": ("lan", *SHORT),
    "compare": ("lan", "--policies", "tail-drop,epd", "--reps", "2", *SHORT, "--out", "answer"),
    "size": ("lan", *GOAL, *SHORT, "--out", "answer"),
    "sweep": ("buffers.toml", "--out", "answer"),
}


class Page(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value or "" for key, value in attrs if key == "id"]
        self.links += [value or "" for key, value in attrs if key in ("src", "href", "xlink:href")]


@pytest.mark.parametrize("verb", ASKED)
def test_every_answer_is_a_page_that_needs_nothing_from_elsewhere(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("buffers.toml").write_text(SWEEP, encoding="utf-8")
    Path("lan.toml").write_bytes((shipped.SCENARIOS / "lan.toml").read_bytes())
    with pytest.raises(SystemExit) as ended:
        main([verb, *ASKED[verb], "--html", "below/answer.html"])
    assert not ended.value.code, capsys.readouterr().err
    text = Path("below/answer.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.tags.count("svg") >= 1
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert all(link.startswith("#") for link in page.links)
    assert len(page.ids) == len(set(page.ids)), "ids are unique"
    assert f"pushout {verb} " in text
    assert ("How large a buffer?" if verb == "sweep" else "Ten TCP sources share one bottleneck") in text


def test_what_a_scenario_calls_itself_is_no_markup() -> None:
    result = pushout.run("lan", set={"duration": "20 ms", "title": "<script>a & b</script>"})
    text = pushout.run("lan", set={"duration": "20 ms", "name": "<b>x</b>"}).html()
    assert "<script>" not in result.html()
    assert "<b>x</b>" not in text
    assert "&lt;b&gt;x&lt;/b&gt;" in text


def test_a_page_shows_seeds_and_warnings() -> None:
    result = pushout.run("lan", set={"duration": "0.1 s"}, reps=2)
    text = result.html()
    assert re.search(r"<dt>seeds</dt><dd>1, 2</dd>", text)
    assert all(warned["message"].split(":")[0] in text for warned in result.warnings)


def test_an_answer_without_pictures_of_its_own_is_refused(capsys: Any) -> None:
    with pytest.raises(TypeError, match="Framed has no page"):
        pushout.run("lan", set={"duration": "20 ms"}).flows.html()
    with pytest.raises(SystemExit) as ended:
        main(["run", "lan", "--html", "answer.txt"])
    assert ended.value.code == 2
    assert "the file must end in .html, not 'answer.txt'" in capsys.readouterr().err
