"""Answers as pages: `--html` and `result.html()`."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import pushout
from conftest import ROOT, Typed
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
    title = "How large a buffer?" if verb == "sweep" else "Ten TCP sources share one bottleneck"
    assert f"<title>{title}" in text


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


@pytest.mark.parametrize("verb", ["run", "headroom"])
def test_numbers_are_tables_with_heads_of_rows_and_columns(verb: str) -> None:
    row = {"line": "a<b", "rate": "100 Gb/s", "cable": "300 m", "mtu": 4096, "cell": 192, "given": "84 kB"}
    result: Any = pushout.run("lan", set={"duration": "0.1 s"}) if verb == "run" else pushout.headroom([row])
    text = result.html()
    page = Page(text)
    assert "pre" not in page.tags
    tables = re.findall(r"<table>.*?</table>", text, re.DOTALL)
    name, first = ("flow1", "goodput") if verb == "run" else ("a&lt;b", "need")
    assert f'<th scope="row">{name}</th>' in tables[0]
    assert f'<th scope="col" class="number">{first}<br>' in tables[0]
    heads = len(re.findall(r"<th scope=.col", tables[0]))
    for line in re.findall(r"<tr><th scope=.row.*?</tr>", tables[0]):
        assert len(re.findall(r"<t[hd]", line)) == heads
    assert ("svg" in page.tags) == (verb == "run")


def test_a_page_follows_the_colours_of_the_reader() -> None:
    text = pushout.run("lan", set={"duration": "0.1 s"}).html()
    figure = text[text.index("<svg") : text.index("</svg>")]
    assert "var(--series-1)" in figure
    assert "currentColor" in figure
    assert not set(re.findall(r"#[0-9a-f]{6}\b", figure)) & {"#1b1f24", "#ffffff", "#0072b2", "#d8dee4"}
    dark = text[text.index("prefers-color-scheme: dark") :]
    for name in set(re.findall(r"var\((--[\w-]+)\)", figure)):
        assert f"{name}: #" in dark


def test_verdicts_of_headroom_and_names_keep_their_emphasis() -> None:
    row = {"rate": "100 Gb/s", "cable": "300 m", "mtu": 4096, "cell": 192, "given": "8 kB"}
    assert '<span class="bad">too little by ' in pushout.headroom([row]).html()
    compared = pushout.compare("lan", ["tail-drop", "epd"], set={"duration": "0.2 s"}, reps=2)
    assert re.search(r'<th scope="row"><span class="dim"> *minus tail-drop</span></th>', compared.html())
    assert "<b>lan</b>" in pushout.run("lan", set={"duration": "20 ms"}).html()


def test_the_page_of_headroom_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "lines.csv"
    table.write_text("line,rate,cable,mtu,cell,given\na,100 Gb/s,300 m,4096,192,84 kB\n", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["switch", "headroom", str(table), "--html", str(tmp_path / "a.html")])
    assert not ended.value.code, capsys.readouterr().err
    assert "<title>Headroom of 1 line</title>" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_a_run_without_recordings_has_a_page() -> None:
    text = pushout.run("incast", set={"duration": "2 ms", "sample": "1 ms"}).html()
    assert "<table>" in text


def test_the_page_of_a_lost_frame_has_its_decisions() -> None:
    result = pushout.why("two-routers", loss=1, last=5)
    text = result.html()
    assert "<title>two-routers</title>" in text
    assert "<svg" in text
    assert "<svg" in (result._repr_html_() or "")
    assert "<svg" not in pushout.why("two-routers", report=2, last=3, set={"duration": "3 s"}).html()


def test_the_page_of_a_run_has_its_title_once_and_the_bottleneck_first(tmp_path: Path, typed: Typed) -> None:
    made = typed(tmp_path, "run", "lan", "--set", "duration=2 s", "--html", "run.html")
    assert made.returncode == 0, made.stderr
    text = (tmp_path / "run.html").read_text(encoding="utf-8")
    shown = re.sub(r"<title>.*?</title>", "", text)
    assert shown.count("Ten TCP sources share one bottleneck") == 1
    rows = re.findall(r"^ *(bottleneck|access\d+) +\d", made.stdout, re.MULTILINE)
    assert rows[0] == "bottleneck" and len(rows) > 1


@pytest.mark.skipif(not shipped.PAGE.is_file(), reason="the page of the lab is not built")
def test_the_page_of_a_run_opens_it_in_the_lab(tmp_path: Path, typed: Typed) -> None:
    typed(tmp_path, "run", "lan", "--seed", "7", *SHORT, "--html", "out/lan.html", "--lab")
    (link,) = [each for each in Page((tmp_path / "out" / "lan.html").read_text("utf-8")).links if "lab" in each]
    page, _, view = link.partition("#")
    assert (tmp_path / "out" / page).is_file()
    version, name, sets, _now, _port, text = json.loads(unquote(view))
    assert (version, name, sets) == (2, "lan", [["duration=0.2 s", "port.bottleneck.buffer=1000 cells", "seed=7"]])
    assert text == (ROOT / "scenarios" / "lan.toml").read_text("utf-8")


def test_a_link_into_the_lab_needs_a_page(tmp_path: Path, typed: Typed) -> None:
    refused = typed(tmp_path, "run", "lan", "--lab")
    assert refused.returncode == 2
    assert "--lab goes with --html FILE" in refused.stderr
