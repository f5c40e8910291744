"""Questions measure the figures that they are asked for, and begin where the scenario can run."""

import json
from typing import Any

import pytest

import pushout
from conftest import ROOT
from pushout.names import measured
from pushout.question import ask
from pushout.simulate import Job
from pushout.source import load

LAN = ROOT / "scenarios" / "lan.toml"
SHORT = ["duration=300 ms", 'port.bottleneck.admission={policy="tail-drop"}']
SMALL = {"duration": "50 ms", "port.bottleneck.buffer": "20 kB"}
PACKETS = ROOT / "scenarios" / "w1-packet.toml"


def keys(document: dict[str, Any], name: str) -> set[str]:
    """Return the keys of a part of a report; those of its first entry with each key, if it is a list."""
    part = document[name]
    return {key for entry in (part if isinstance(part, list) else [part]) for key in entry}


def test_what_a_report_has_only_with_a_measurement_is_known() -> None:
    plain = pushout.run(LAN, set=SHORT).document
    for part, names, further in (
        ("summary", "{}", "measure.delivery=true"),
        ("flows", "flows.flow1.{}", "measure.delivery=true"),
        ("ports", "ports.bottleneck.{}", 'measure.sojourn=["bottleneck"]'),
    ):
        document = pushout.run(LAN, set=[*SHORT, further]).document
        explained = json.loads(Job(load(LAN), SHORT).explain())
        always = keys(plain, part)
        for key in keys(document, part):
            path = f"summary.{key}" if part == "summary" else names.format(key)
            assert measured.added(explained, [path]) == ([] if key in always else [further]), path


def test_what_a_scenario_measures_stays_and_is_not_added() -> None:
    asked = [*SHORT, "measure.delivery=true", 'measure.sojourn=["access1"]']
    explained = json.loads(Job(load(LAN), asked).explain())
    sojourn = ["ports.access1.sojourn_p99_s", "ports.bottleneck.sojourn_p99_s"]
    assert measured.added(explained, ["summary.rpm", sojourn[0]]) == []
    assert measured.added(explained, sojourn) == ['measure.sojourn=["access1", "bottleneck"]']
    assert measured.added(explained, ["ports.nowhere.sojourn_p99_s"]) == [], "the simulator refuses it"


def test_a_comparison_measures_the_figures_asked_for_and_says_so() -> None:
    policies = ["tail-drop", "ppd"]
    found = pushout.compare(LAN, policies, figures="sojourn_p99,rpm", set={"duration": "300 ms"}, reps=2)
    figures = found.document["policies"][0]["figures"]
    assert figures["ports.bottleneck.sojourn_p99_s"]["mean"] > 0
    assert figures["rpm"]["mean"] > 0
    added = ["measure.delivery=true", 'measure.sojourn=["bottleneck"]']
    assert found.document["set"][-2:] == added
    assert [each["message"] for each in found.warnings if each["code"] == "measured"] == [
        f"added {' and '.join(added)}, which the figures asked for need"
    ]


@pytest.mark.parametrize(
    ("goal", "path", "added"),
    [
        ("rpm>=2000", "summary.rpm", ["measure.delivery=true"]),
        ("sojourn_p99<=5 ms", "ports.bottleneck.sojourn_p99_s", ['measure.sojourn=["bottleneck"]']),
        ("occupancy_p99<=50 cells", "ports.bottleneck.occupancy_p99", []),
        ("loss<=1 %", "summary.loss_ratio", []),
    ],
)
def test_a_goal_may_be_about_the_port_whose_key_is_sized(goal: str, path: str, added: list[str]) -> None:
    asked = ask.sizing(LAN, goal, "port.bottleneck.buffer", set={"duration": "50 ms"})
    assert asked.question.goal.path == path
    assert list(asked.sets) == ['duration="50 ms"', *added]
    assert [each["code"] for each in asked.warnings if each["code"] == "measured"] == ["measured"] * bool(added)


def test_the_range_of_a_size_begins_where_a_packet_fits() -> None:
    over = "port.bottleneck.buffer"
    assert ask.sizing(PACKETS, "loss<=5 %", over, set=SMALL).question.space.low == 2500, "a packet has 2088 bytes"
    with pytest.raises(pushout.ScenarioError, match="smaller than a packet of 2088 bytes"):
        ask.sizing(PACKETS, "loss<=5 %", over, low="1000 bytes", set=SMALL)
    with pytest.raises(pushout.ScenarioError, match=r"from 625 bytes .* to 2000 bytes"):
        ask.sizing(PACKETS, "loss<=5 %", over, high="2000 bytes", set=SMALL)


def test_no_smaller_buffer_than_one_packet_is_suggested() -> None:
    small = {"duration": "50 ms", "port.bottleneck.buffer": "20 packets"}
    found = pushout.size(PACKETS, "loss<=100 %", "port.bottleneck.buffer", set=small, least=2, most=2)
    (answer,) = found.document["answers"]
    assert (answer["value"], answer["at_end"]) == ("1 packets", [])
