"""Each warning is printed once, by every command and in every document."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import pushout
from pushout.cli import main

FABRIC = """
name = "fabric"
duration = "6 s"
adaptation = { kind = "packet" }
node = [
  { name = "a", kind = "host" },
  { name = "b", kind = "host" },
  { name = "left", kind = "router" },
  { name = "right", kind = "router" },
  { name = "up", kind = "router" },
  { name = "down", kind = "router" },
]
link = [
  { from = "a", to = "left", rate = "100 Mb/s", delay = "1 us" },
  { from = "right", to = "b", rate = "100 Mb/s", delay = "1 us" },
  { from = "left", to = "up", rate = "10 Mb/s", delay = "1 us" },
  { from = "left", to = "down", rate = "10 Mb/s", delay = "1 us" },
  { from = "up", to = "right", rate = "10 Mb/s", delay = "1 us" },
  { from = "down", to = "right", rate = "10 Mb/s", delay = "1 us" },
]
port."left->up" = { buffer = "50 kB" }
flow = [{ name = "f", from = "a", to = "b" }]
[flows]
source = { kind = "file", size = "10 kB" }
transport = { kind = "tcp" }
"""
TOLD = '2 equally short routes lead from "a" to "b", and all flows take the first, via left, up, right'


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    path = tmp_path / "fabric.toml"
    path.write_text(FABRIC)
    return path


def said(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[str, str]:
    with pytest.raises(SystemExit) as leave:
        main(args)
    assert leave.value.code == 0
    out, err = capsys.readouterr()
    return out, err


@pytest.mark.parametrize("reps", ["1", "3"])
def test_a_run_says_it_once_and_has_it_in_its_document(
    fabric: Path, reps: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = said(capsys, "run", str(fabric), "--reps", reps, "--json")
    (warning,) = json.loads(out)["warnings"]
    assert warning["code"] == "equal-routes"
    assert warning["message"].startswith(TOLD)
    assert err.splitlines() == [f"warning: {warning['message']}"]


@pytest.mark.parametrize(("verb", "about"), [("explain --check", True), ("explain", False)])
def test_so_do_commands_that_run_nothing(
    fabric: Path, verb: str, about: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = said(capsys, *verb.split(), str(fabric), "--json")
    assert err.startswith(f"{fabric}: warning: {TOLD}" if about else f"warning: {TOLD}")
    assert len(err.splitlines()) == 1
    if about:
        assert [each["code"] for each in json.loads(out)[0]["warnings"]] == ["equal-routes"]


def test_questions_have_them_of_every_policy(fabric: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    place = str(tmp_path / "out")
    args = ("compare", str(fabric), "--policies", "tail-drop,red", "--reps", "2", "--out", place, "--json")
    out, err = said(capsys, *args)
    assert [each["code"] for each in json.loads(out)["warnings"]] == ["equal-routes"]
    assert err.count("warning: ") == 1


@pytest.mark.parametrize(
    ("policies", "pause", "codes"),
    [
        (["red", "tail-drop"], None, ["phase-capture"]),
        (["red", "tail-drop"], "1200 us", []),
        (["red", "fred"], None, []),
    ],
)
def test_compare_warns_of_phase_capture_until_there_is_a_pause(
    policies: list[str], pause: str | None, codes: list[str]
) -> None:
    link = {"rate": "10 Mb/s", "delay": "1 ms"}
    access = link | ({"pause": pause} if pause else {})
    scenario = {
        "name": "locked",
        "duration": "20 ms",
        "adaptation": {"kind": "packet"},
        "topology": {"template": "dumbbell", "sources": 2, "access": access, "bottleneck": link, "egress": link},
        "port": {"bottleneck": {"buffer": "50 kB"}},
        "flows": {"source": {"kind": "greedy"}, "transport": {"kind": "tcp"}},
    }
    told = [each["code"] for each in pushout.compare(scenario, policies, reps=2).warnings]
    assert [code for code in told if code == "phase-capture"] == codes


def test_a_scenario_without_them_has_an_empty_list(fabric: Path) -> None:
    via: dict[str, Any] = {"flow.f.via": ["left", "down", "right"]}
    assert pushout.validate(fabric, set=via) == []
    assert pushout.run(fabric, set=via).document["warnings"] == []


def test_results_have_them(fabric: Path) -> None:
    result = pushout.run(fabric, reps=2)
    assert [each["code"] for each in result.warnings] == ["equal-routes"]
    assert result.warnings == pushout.validate(fabric) == pushout.trace(fabric).warnings
    assert "1 warning>" in repr(result)
    assert "warning: 2 equally short routes" in (result._repr_html_() or "")


def test_runs_that_are_too_short_to_trust_say_so_everywhere(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    short = ("--set", "duration=300 ms", "--set", "flows.source.size=50 kB")
    out, err = said(capsys, "run", "lan", *short, "--reps", "3", "--json")
    codes = [each["code"] for each in json.loads(out)["warnings"]]
    assert codes
    assert err.count("warning: ") == len(codes)
    compared = ("compare", "lan", *short, "--policies", "tail-drop,epd", "--reps", "3", "--out", str(tmp_path / "c"))
    out, err = said(capsys, *compared, "--json")
    assert "wide-interval" in {each["code"] for each in json.loads(out)["warnings"]}
    assert "the interval is ± " in err


def test_a_goal_that_is_missed_by_runs_too_few_says_that_first(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sized = ("size", "lan", "--set", "duration=20 ms", "--goal", "goodput_ratio>=0.99", "--out", str(tmp_path))
    out, err = said(capsys, *sized, "--over", "port.bottleneck.buffer", "--least", "2", "--most", "2")
    assert re.search(r"no value tried meets the goal; at .*: the interval is ± \d+ %: runs are too short", out)
    assert "extend the range" not in out
    assert re.search(r"warning: 32768 cells: goodput_ratio: the interval is ± \d+ %", err)


def test_a_single_run_that_never_settles_gets_a_warning_of_its_drift() -> None:
    later: dict[str, Any] = {"duration": "2 s", "flow.flow1.start": "1.1 s", "topology.sources": 1}
    codes = [each["code"] for each in pushout.run("w3-100", set=later).warnings]
    assert codes == ["drift"]


def test_a_warm_up_inside_slow_start_is_reported() -> None:
    keys: dict[str, Any] = {"duration": "4 s", "topology.sources": 1, "flows.start_spread": "0 s"}
    warnings = pushout.run("w3-100", set={**keys, "warmup": "20 ms"}).warnings
    assert [each["code"] for each in warnings] == ["slow-start"]
    assert "1 flow was still in slow start when the warm-up of 0.02 s ended" in warnings[0]["message"]
    assert pushout.run("w3-100", set={**keys, "warmup": "2 s"}).warnings == []


CLIFF = """
name = "d"
duration = "1 s"
adaptation = { kind = "aal5" }
[topology]
template = "dumbbell"
sources = 10
access = { rate = "155.52 Mb/s", delay = "1 ms" }
bottleneck = { rate = "155.52 Mb/s", delay = "1 ms" }
egress = { rate = "155.52 Mb/s", delay = "1 ms" }
[port.bottleneck]
buffer = "8192 cells"
admission = { policy = "epd", threshold = "7373 cells" }
[flows]
source = { kind = "cbr", rate = "2 Mb/s", size = "9140 bytes" }
transport = { kind = "udp" }
"""
"""Ten senders of frames of 192 cells over lines as fast as the port."""


def cliff(*sets: str) -> str | None:
    """Return the warning about the threshold of early packet discard, if there is one."""
    warnings = [each for each in pushout.validate(CLIFF, set=sets) if each["code"] == "epd-cliff"]
    return warnings[0]["message"] if warnings else None


def test_a_threshold_from_the_cliff_on_is_reported_with_the_one_that_is_safe() -> None:
    found = cliff() or ""
    assert found.startswith(
        'port "bottleneck": threshold must be less than 6292 of 8192 cells, not 7373, for 10 circuits with frames of '
        "up to 192 cells over udp"
    )
    assert found.endswith('set threshold = "6291 cells" or less')
    assert len(found) <= 300
    assert cliff("port.bottleneck.admission.threshold=6292 cells")
    assert cliff("port.bottleneck.admission.threshold=6291 cells") is None
    fifty = cliff("topology.sources=50") or ""
    assert "buffer must be larger than 8192 cells, or frames be shorter, for 50 circuits" in fifty
    shorter = cliff("topology.sources=50", "flows.source.size=1460 bytes") or ""
    assert "must be less than 6692 of 8192 cells" in shorter


@pytest.mark.parametrize(
    "sets",
    [
        ["flows.source.size=1460 bytes"],
        ["topology.sources=1"],
        ["topology.access.rate=15 Mb/s"],
        ["flows.source={kind='greedy'}", "flows.transport={kind='tcp', mss=9140}"],
        ["flow.flow1.source={kind='greedy'}", "flow.flow1.transport={kind='tcp'}"],
        ["port.bottleneck.admission={policy='ppd'}"],
        ["port.bottleneck.admission.action=mark"],
        ["port.bottleneck.scheduler={policy='round-robin'}"],
    ],
)
def test_other_sources_lines_and_ports_have_no_cliff(sets: list[str]) -> None:
    assert cliff(*sets) is None


IDLE = {"queue.spare": {"alpha": 1.0}}
ENTERS = 'no flow enters the class "spare", so that queue.spare changes nothing: give a flow queue = "spare"'


def test_keys_that_change_nothing_are_named_by_run_and_sweep(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    short = ["duration=1 ms"]
    (told,) = pushout.run("tomahawk", set=[*short, "queue.spare.alpha=1.0"])["warnings"]
    assert (told["code"], told["message"].startswith(ENTERS)) == ("idle-class", True)
    own = [f'flow.flow{number}.transport={{kind="tcp", profile="linux"}}' for number in (1, 2)]
    (each,) = pushout.run("home-uplink", set=["duration=6 s", *own])["warnings"][:1]
    assert each["code"] == "idle-default"
    assert each["message"].startswith("every flow has its own transport, so that flows.transport changes nothing: ")
    file = tmp_path / "idle.toml"
    file.write_text(
        'name = "idle"\nscenario = "tomahawk"\nset = ["duration=1 ms", "queue.spare.alpha=0.5"]\n'
        "[grid]\nqueue.spare.alpha = [1.0, 2.0]\n",
        "utf-8",
    )
    out, err = said(capsys, "sweep", str(file), "--json", "--out", str(tmp_path / "out"))
    assert err.count(f"warning: {ENTERS}") == 1
    assert [warned["code"] for warned in json.loads(out)["warnings"]] == ["idle-class"]


def test_a_sweep_has_the_doubts_about_its_runs_with_the_points_that_raise_them() -> None:
    buffers = {"grid": {"port.bottleneck.buffer": ["1000 cells", "2000 cells"]}}
    short = {"scenario": "lan", "set": ["duration=600 ms", "warmup=10 ms"], "reps": 2}
    found = pushout.sweep({"name": "short", **short, **buffers})
    (told,) = found.warnings
    assert told["code"] == "unfinished-files", "each row has its interval, so no interval is called wide"
    assert told["message"].startswith("(1000 cells), (2000 cells) (most): 20 of 21 files were unfinished")
    assert found.document["warnings"] == found.warnings


def test_losses_by_a_policy_are_not_put_down_to_headroom() -> None:
    red = {"policy": "red", "min_threshold": "10 kB", "max_threshold": "20 kB", "max_p": 1.0}
    found = pushout.run("tomahawk", set={"duration": "1 ms", "port.bottleneck.admission": red})
    (told,) = (warned["message"] for warned in found["warnings"] if warned["code"] == "lossless-drop")
    assert "its policy red discards packets of every class: let it mark" in told
    assert "headroom" not in told
