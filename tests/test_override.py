"""An override means the same in a scenario as in the same scenario in full, in whatever section a port stands."""

import json
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import ROOT

MULTI_HOP = (ROOT / "scenarios" / "multi-hop.toml").read_text(encoding="utf-8")

SECTIONS = """
name = "sections"
duration = "50 ms"
adaptation = { kind = "aal5" }
node = [
    { name = "a", kind = "host" },
    { name = "s", kind = "switch" },
    { name = "t", kind = "switch" },
    { name = "b", kind = "host" },
]
link = [
    { name = "access", from = "a", to = "s", rate = "100 Mb/s", delay = "100 us" },
    { name = "trunk", class = "backbone", from = "s", to = "t", rate = "50 Mb/s", delay = "100 us" },
    { from = "t", to = "b", rate = "40 Mb/s", delay = "100 us" },
    { name = "spare", from = "t", to = "s", rate = "40 Mb/s", delay = "100 us" },
]
flow = [{ name = "f", from = "a", to = "b", source = { kind = "greedy" }, transport = { kind = "tcp", mss = 1460 } }]

[port.default]
buffer = "300 cells"
admission = { policy = "epd", threshold = "80 %" }

[port.backbone]
buffer = "200 cells"
admission = { policy = "red" }
scheduler = { policy = "round-robin" }

[port.spare]
buffer = "100 cells"
"""
"""A port with the section of its class (`trunk`), with one of its own (`spare`), and with none (`t->b`)."""

ANY: dict[str, Any] = {
    "buffer": "700 cells",
    "admission": {"policy": "ppd"},
    "scheduler": {"policy": "wrr-mcr"},
    "scheduler.policy": "strict-priority",
}
EPD: dict[str, Any] = {**ANY, "admission.threshold": "50 %", "admission": {"policy": "epd", "threshold": "70 %"}}
RED: dict[str, Any] = {**ANY, "admission.max_p": 0.5, "admission": {"policy": "red", "min_threshold": "9 %"}}
"""Keys of any port, and of one that discards early."""


@pytest.mark.parametrize(
    ("text", "port", "said"),
    [
        (SECTIONS, "trunk", RED),
        (SECTIONS, "spare", ANY),
        (SECTIONS, '"t->b"', EPD),
        (SECTIONS, '"trunk.back"', EPD),
        (SECTIONS, "access", ANY),
        *((MULTI_HOP, port, EPD) for port in ("entry", "a", '"a.back"', "exit7", '"access1.back"')),
        (MULTI_HOP, "access1", ANY),
    ],
)
def test_an_override_of_a_port_starts_from_the_section_that_stands_for_it(
    text: str, port: str, said: dict[str, Any]
) -> None:
    before = pushout.explain(text)
    for key, value in said.items():
        change = {f"port.{port}.{key}": value}
        after = pushout.explain(text, set=change)
        assert after == pushout.explain(before, set=change) != before, change


def test_every_question_reads_an_override_so(tmp_path: Path) -> None:
    change = {'port."t->b".admission.threshold': "10 %"}
    questions = [SECTIONS, pushout.explain(SECTIONS)]
    run, run_in_full = (pushout.run(one, set=change, reps=2).table.drop_columns("wall_s") for one in questions)
    assert run == run_in_full
    for policies in (["as-is", "tail-drop"], ["as-is", "fifo"]):
        found = [pushout.compare(one, policies, port="t->b", set=change, reps=2) for one in questions]
        assert found[0].policies == found[1].policies
        assert found[0].table.drop_columns("wall_s") == found[1].table.drop_columns("wall_s")
        assert found[0].policies[0].runs["goodput_ratio"] == run["goodput_ratio"].to_pylist()
    answers = [
        pushout.size(one, "goodput_ratio>=0.1", 'port."t->b".buffer', set=change, least=2, most=2) for one in questions
    ]
    assert answers[0].document["answers"] == answers[1].document["answers"]
    places = [tmp_path / "short.toml", tmp_path / "full.json"]
    places[0].write_text(SECTIONS, encoding="utf-8")
    places[1].write_text(json.dumps(questions[1]), encoding="utf-8")
    swept = [
        pushout.sweep(
            {"scenario": str(place), "reps": 2, "grid": {key: [value, "60 %"] for key, value in change.items()}}
        )
        for place in places
    ]
    assert swept[0].table.drop_columns("wall_s") == swept[1].table.drop_columns("wall_s")
    assert swept[0].table["goodput_ratio"].to_pylist()[:2] == run["goodput_ratio"].to_pylist()
