"""Which decision would have saved a frame: the command, its document, text and figure."""

import json
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import command
from pushout.errors import QuestionError, ScenarioError

WIRE = {"rate": "1 Gb/s", "delay": "1 ms"}
SCENARIO: dict[str, Any] = {
    "name": "who",
    "duration": "600 ms",
    "adaptation": {"kind": "packet"},
    "topology": {
        "template": "dumbbell",
        "sources": 2,
        "access": WIRE,
        "bottleneck": {"rate": "20 Mb/s", "delay": "5 ms"},
    },
    "port": {"bottleneck": {"buffer": "30 packets"}},
    "flows": {"source": {"kind": "greedy"}, "transport": {"kind": "tcp", "profile": "linux"}},
    "flow": [
        {
            "name": "flow2",
            "source": {"kind": "poisson", "rate": "5 Mb/s", "size": "1000 bytes"},
            "transport": {"kind": "udp"},
        }
    ],
}


def test_the_document_says_what_happened_what_would_have_saved_the_frame_and_its_price() -> None:
    document = pushout.why(SCENARIO, loss=2, last=45).document
    assert document["port"] == "bottleneck"
    assert document["rule"]["reason"] == "overflow"
    assert document["rule"]["units"] == document["rule"]["capacity"] == 30
    assert document["decisions"] == len(document["saves"]) + len(document["others"])
    assert document["best"]["losses"] == min(each["losses"] for each in document["saves"])
    assert sum(document["shares"].values()) == pytest.approx(1.0)
    assert all(each["time_s"] <= document["rule"]["time_s"] for each in document["saves"])


def test_the_losses_are_those_of_a_run() -> None:
    document = pushout.why(SCENARIO, last=5, policies=["as-is", "codel"]).document
    lost = [pushout.run(SCENARIO, set=change)["ports.bottleneck.lost"] for change in ({}, _codel())]
    totals = [sum(reasons.values()) for reasons in lost]
    assert document["losses"] == totals[0]
    assert [(each["policy"], each["losses"]) for each in document["policies"]] == [
        ("as-is", totals[0]),
        ("codel", totals[1]),
    ]
    assert document["policies"][0]["saves"] is False


def _codel() -> dict[str, Any]:
    return {"port.bottleneck.admission": {"policy": "codel"}}


def test_a_frame_can_be_named_and_answers_repeat() -> None:
    first = pushout.why(SCENARIO, loss=3, last=10).document
    frame = first["frame"]
    again = pushout.why(SCENARIO, flow=frame["flow"], frame=frame["number"], at="bottleneck", last=10).document
    assert again == first
    of_flow = pushout.why(SCENARIO, flow="flow2", loss=1, last=10).document["frame"]
    assert of_flow["flow"] == "flow2"


def test_without_reactions_the_busy_period_bounds_the_search() -> None:
    document = pushout.why(SCENARIO, loss=2, reaction="off", last=100_000).document
    reacting = pushout.why(SCENARIO, loss=2, last=100_000).document
    assert document["reaction"] == "off"
    assert 30 <= document["decisions"] < reacting["decisions"]


def test_a_report_lists_the_decisions_that_save_most() -> None:
    document = pushout.why(SCENARIO, report=4, last=60).document
    saved = [each["saves"] for each in document["report"]]
    assert saved == sorted(saved, reverse=True)
    assert saved[0] > 1
    assert document["frames"] == document["of"] == document["losses"]


def test_marks_and_late_frames_have_their_decisions_too() -> None:
    marking = {"port.bottleneck.admission": {"policy": "step", "threshold": "5 packets", "action": "mark"}}
    marked = pushout.why(SCENARIO, ill="marked", set={**marking, "flows.transport.ecn": True}, last=20).document
    assert (marked["ill"], marked["frame"]["flow"]) == ("marked", "flow1")
    assert marked["saves"]
    late = pushout.why(SCENARIO, ill="late:8ms", at="bottleneck", last=20).document
    assert late["rule"]["time_s"] - late["frame"]["time_s"] > 0.008
    assert late["saves"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"loss": 9999}, "loss must be from 1 to"),
        ({"loss": 0}, "loss must be from 1 to 4294967296, not 0"),
        ({"frame": 1}, "frame needs a flow"),
        ({"flow": "flow2", "loss": 9999}, 'loss must be from 1 to .*, the number of frames of "flow2"'),
        ({"flow": "flow1", "frame": 1, "loss": 1}, "choose one frame"),
        ({"flow": "flow9", "frame": 1}, 'unknown flow "flow9"'),
        ({"flow": "zzz", "frame": 1, "set": {"duration": "1 ms"}}, r'unknown flow "zzz" \(allowed: flow1, flow2\)'),
        ({"flow": "flow1", "frame": 1, "at": "bottleneck"}, 'but not frame 1 of "flow1"'),
        ({"at": "nowhere"}, 'unknown place "nowhere"'),
        ({"ill": "sad"}, 'unknown ill "sad"'),
        ({"ill": "late"}, "late needs a time"),
        ({"ill": "late:x"}, "ill: the value must be a number with a unit"),
        ({"ill": "late:0ms"}, "must have a time above 0"),
        ({"ill": "late:5"}, "must have a time above 0 with a unit"),
        ({"ill": "late:5 kB"}, "must have a time above 0 with a unit"),
        ({"ill": "late:5ms"}, "at must name a port"),
        ({"ill": "marked"}, "no port marked a frame"),
        ({"reaction": "perhaps"}, 'unknown reaction "perhaps"'),
        ({"policies": ["cdoel"]}, 'unknown policy of a port "cdoel"'),
        ({"last": 0}, "last must be from 1 to"),
    ],
)
def test_a_question_without_an_answer_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises((QuestionError, ScenarioError), match=message):
        pushout.why(SCENARIO, **asked)


def test_ports_that_wait_for_others_cannot_repeat_their_arrivals() -> None:
    with pytest.raises(ScenarioError, match=r"reaction must be on: port .* waits for credits"):
        pushout.why("multi-hop-fcvc", reaction="off", at="a", set={"duration": "10 ms", "warmup": "0 s"})


def test_the_command_prints_the_answer_and_draws_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "who.json"
    source.write_text(json.dumps(SCENARIO))

    def printed(*options: str) -> str:
        command("why", str(source), *options)
        return capsys.readouterr().out

    text = printed("--loss", "2", "--last", "45", "--policies", "codel,fq-codel")
    assert "was lost (overflow) at bottleneck" in text
    assert "would each have saved it" in text
    assert "fq-codel" in text
    picture = tmp_path / "who.svg"
    printed("--last", "45", "--out", str(picture))
    assert "frames lost in the run" in picture.read_text()
    assert json.loads(printed("--last", "9", "--json"))["decisions"] == 9
    assert "saves" in printed("--report", "2", "--last", "20")


def test_rival_policies_keep_the_overrides_of_the_question() -> None:
    less = {"port.bottleneck.buffer": "12 packets"}
    document = pushout.why(SCENARIO, last=2, policies=["codel"], set=less).document
    lost = [
        sum(pushout.run(SCENARIO, set={**less, **change})["ports.bottleneck.lost"].values())
        for change in ({}, _codel())
    ]
    assert [document["losses"], document["policies"][0]["losses"]] == lost
    assert lost[1] != sum(pushout.run(SCENARIO, set=_codel())["ports.bottleneck.lost"].values()), "it matters"


def test_runs_that_end_too_early_are_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    first = pushout.why(SCENARIO, last=2).document
    assert first["open"] == 0
    end = first["rule"]["time_s"] + 1e-6
    file = tmp_path / "who.json"
    file.write_text(json.dumps({**SCENARIO, "duration": f"{end * 1e6:.0f} us"}), encoding="utf-8")
    command("why", str(file), "--last", "2", "--json")
    document = json.loads(capsys.readouterr().out)
    assert (document["saves"], document["open"]) == ([], document["decisions"])
    command("why", str(file), "--last", "2")
    assert (
        "the frame had not left the port at the end, and counts as not saved: lengthen duration."
        in capsys.readouterr().out
    )


def test_decisions_in_vain_stand_below_the_axis_of_losses() -> None:
    axes, below = pushout.why("two-routers", loss=3).plot().axes
    losses = [value for line in axes.lines for value in line.get_ydata()]
    assert min(losses) > 0, "a tick at a number of losses would be read as one"
    assert [label.get_text() for label in below.get_yticklabels()] == ["in vain"]
    assert axes.get_xlim() == below.get_xlim()
