"""Comparisons with the real simulator."""

import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

import pushout
from conftest import ROOT, command
from pushout.answer import drawing
from pushout.answer.columns import Columns
from pushout.errors import QuestionError
from pushout.names import load, port
from pushout.names.place import Place, Places
from pushout.names.port import Choice, Port
from pushout.quantity import octets, scaled, seconds, split
from pushout.question import ask
from pushout.question.compare import ACROSS, FIGURES, UP, CompareResult, Policy
from pushout.question.forest import Effect, Forest, message
from pushout.show import answers
from pushout.stats import interval

LAN = ROOT / "scenarios" / "lan.toml"
SHORT = {"duration": "0.3 s", "flows.start_spread": "10 ms"}
EPD = '{policy = "epd", threshold = "50 %"}'


@pytest.fixture(scope="module")
def found() -> pushout.CompareResult:
    return pushout.compare(LAN, ["tail-drop", EPD, "as-is"], set=SHORT, reps=3)


def test_every_policy_meets_the_same_seeds(found: pushout.CompareResult) -> None:
    assert [policy.choice.label for policy in found.policies] == ["tail-drop", "epd, threshold 50 %", "as-is"]
    assert found.table["seed"].to_pylist() == [1, 2, 3] * 3
    alone = pushout.run(LAN, set=SHORT, seed=2).document
    assert found.policies[2].runs["goodput_ratio"][1] == alone["summary"]["goodput_ratio"]


def test_a_table_of_parameters_may_be_a_mapping(found: pushout.CompareResult) -> None:
    table = {"policy": "epd", "threshold": "50 %"}
    alike = pushout.compare(LAN, ["tail-drop", table], set=SHORT, reps=3)
    assert alike.policies[1].runs == found.policies[1].runs
    assert alike.policies[1].choice.label == "epd, threshold 50 %"
    with pytest.raises(TypeError, match="a policy must be a name, a table of parameters or as-is, not 5"):
        pushout.compare(LAN, ["tail-drop", 5])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="policies must be a name, a table of parameters or a list of these, not None"):
        pushout.compare(LAN, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="port must be a string or a list of strings, not 5"):
        pushout.compare(LAN, ["tail-drop", "epd"], port=5)  # type: ignore[arg-type]
    with pytest.raises(QuestionError, match="a table must name its policy in quotes"):
        pushout.compare(LAN, "tail-drop,{policy=epd}")


def test_differences_are_taken_pair_by_pair(found: pushout.CompareResult) -> None:
    first, second, _ = found.policies
    pairs = zip(second.runs["goodput_ratio"], first.runs["goodput_ratio"], strict=True)
    expected = interval([own - other for own, other in pairs if own is not None and other is not None])
    assert second.minus(first, "goodput_ratio") == expected
    entry = found.document["policies"][1]
    assert entry["difference"]["goodput_ratio"] == expected
    assert "difference" not in found.document["policies"][0]


def test_losses_and_delay_follow_from_the_books(found: pushout.CompareResult) -> None:
    document = pushout.run(LAN, set={**SHORT, "port.bottleneck.admission": {"policy": "tail-drop"}}, seed=1).document
    books = next(entry for entry in document["ports"] if entry["name"] == "bottleneck")
    policy = found.policies[0]
    assert policy.runs["loss_ratio"][0] == pytest.approx(sum(books["lost"].values()) / books["units_in"])
    assert policy.runs["delay_s"][0] == pytest.approx(books["occupancy_mean"] * 0.3 / books["units_out"])
    assert max(policy.occupancy[0]) <= books["occupancy_max"]


def behind_one_line(adaptation: str, buffer: str, sent: dict[str, Any]) -> dict[str, Any]:
    """A scenario of one flow over a port of 10 Mb/s."""
    node = {"name": "node", "kind": "router" if adaptation == "packet" else "switch"}
    return {
        "name": "one-line",
        "duration": "0.5 s",
        "warmup": "0.1 s",
        "adaptation": {"kind": adaptation},
        "node": [*({"name": name, "kind": "host"} for name in ("source", "sink")), node],
        "link": [
            {"from": "source", "to": "node", "rate": "100 Mb/s", "delay": "0 s"},
            {"name": "line", "from": "node", "to": "sink", "rate": "10 Mb/s", "delay": "0 s"},
        ],
        "port": {"line": {"buffer": buffer}},
        "flow": [{"name": "flow", "from": "source", "to": "sink", **sent}],
    }


def test_what_is_given_up_at_the_front_has_waited_as_long_as_what_is_sent() -> None:
    sent = {"source": {"kind": "cbr", "rate": "20 Mb/s"}, "transport": {"kind": "cells"}}
    scenario = behind_one_line("aal5", "100 cells", sent)
    found = pushout.compare(scenario, ["tail-drop", "drop-from-front"], reps=2)
    waits = [policy.runs["delay_s"][0] for policy in found.policies]
    # a hundred cells are ahead of one that enters, and go at the rate of the line, or else at that of the source
    assert waits == pytest.approx([100 * 424 / 10e6, 100 * 424 / 20e6], rel=0.02)


def test_the_curve_over_time_is_one_of_means(found: pushout.CompareResult) -> None:
    for line, policy in zip(found.plot().axes[-1].lines, found.policies, strict=True):
        times, levels = zip(*line.get_xydata(), strict=True)
        mean = policy.mean("occupancy_mean")
        assert mean is not None
        assert fmean(levels) == pytest.approx(mean["mean"], rel=0.01)
        assert (times[0], times[-1]) == pytest.approx((0.00037, 0.29963), rel=0.05)


def test_drawn_policies_can_be_distinguished() -> None:
    def policy(**runs: list[float | None]) -> Policy:
        known: dict[str, Sequence[float | None]] = {**dict.fromkeys(FIGURES, ()), **runs}
        return Policy(Choice("", ()), known, [])

    def drawn(first: Policy, second: Policy) -> tuple[list[str], list[str]]:
        port = Port("bottleneck", 1e9, True, {"buffer": "10 cells"})
        result = CompareResult(Columns.of({}), {}, (port,), [first, second], 0.0, 1.0)
        return result._drawn(UP, 1), result._drawn(ACROSS, 2)

    lan = {"goodput_ratio": [0.9, 0.8], "fairness_jain": [1.0, 1.0], "delay_s": [0.1, 0.1], "loss_ratio": [0.0, 0.0]}
    other = {"goodput_ratio": [0.7, 0.8], "fairness_jain": [0.9, 1.0], "delay_s": [0.2, 0.1], "loss_ratio": [0.1, 0.1]}
    assert drawn(policy(**lan), policy(**other)) == (["goodput_ratio"], ["fairness_jain", "delay_s"])
    assert drawn(policy(**lan), policy(**lan)) == (["goodput_ratio"], ["fairness_jain", "delay_s"]), "nothing does"
    files = {"goodput_ratio": [1.0, 0.9999], "fairness_jain": [1.0, 1.0]}
    fast, slow = {"transfer_time_p99_s": [2e-3, 3e-3]}, {"transfer_time_p99_s": [7e-3, 6e-3]}
    expected = (["transfer_time_p99_s"], ["delay_s", "loss_ratio"])
    assert drawn(policy(**lan | files | fast), policy(**other | files | slow)) == expected
    assert drawn(policy(packet_throughput=[0.9]), policy(packet_throughput=[0.8])) == (["packet_throughput"], [])


def test_a_buffer_of_octets_has_a_delay_too() -> None:
    packets, short = ROOT / "scenarios" / "w1-packet.toml", {"duration": "0.2 s"}
    found = pushout.compare(packets, "tail-drop,red", set=short, reps=2)
    tail_drop = {**short, "port.bottleneck.admission": {"policy": "tail-drop"}}
    document = pushout.run(packets, set=tail_drop, seed=1).document
    books = next(entry for entry in document["ports"] if entry["name"] == "bottleneck")
    delay = books["occupancy_mean"] * 0.2 / books["octets_out"]
    assert found.policies[0].runs["delay_s"][0] == pytest.approx(delay)


def test_a_packet_in_a_buffer_of_octets_takes_its_transmission_time_though_the_line_is_mostly_free() -> None:
    sent = {"source": {"kind": "cbr", "rate": "1 Mb/s", "size": "1472 bytes"}, "transport": {"kind": "udp"}}
    scenario = behind_one_line("packet", "100 kB", sent)
    found = pushout.compare(scenario, ["tail-drop", "ppd"], reps=2)
    assert found.policies[0].runs["delay_s"][0] == pytest.approx(1500 * 8 / 10e6)


def test_the_command_writes_table_rows_document_and_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets = [part for key, value in SHORT.items() for part in ("--set", f"{key}={value}")]
    arguments = ["compare", str(LAN), "--policies", f"tail-drop,{EPD}", *sets, "--reps", "3", "--out", str(tmp_path)]
    command(*arguments)
    out, _ = capsys.readouterr()
    for words in (
        "epd, threshold 50 %",
        "minus tail-drop",
        "fairness (Jain)",
        "mean delay in the port (ms)",
        "3 seeds",
    ):
        assert words in out
    assert "mean occupancy (cells)" in out
    command(*arguments, "--json")
    printed = json.loads(capsys.readouterr().out)
    assert printed["computed"] == 0
    names = {".lock", "compare.json", "compare.svg", "compare.png", "rows.parquet", "manifest.json", "cache"}
    assert {file.name for file in tmp_path.iterdir()} == names
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert (printed["set"], printed["reps"], printed["seed"]) == (sets[1::2], 3, 1)
    assert (manifest["set"], manifest["port"]) == (sets[1::2], "bottleneck")
    assert [policy["label"] for policy in manifest["policies"]] == ["tail-drop", "epd, threshold 50 %"]
    ElementTree.parse(tmp_path / "compare.svg")  # noqa: S314
    text = (tmp_path / "compare.svg").read_text(encoding="utf-8")
    for label in ("goodput ÷ ideal", "fairness index (Jain)", "time (ms)", "occupancy (cells)", "epd, threshold 50 %"):
        assert label in text
    assert (tmp_path / "compare.png").read_bytes().startswith(b"\x89PNG")


def test_a_name_leads_nowhere_but_into_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sets = ["--set", "duration=5 ms", "--set", "name=../a/b"]
    command("compare", str(LAN), "--policies", "ppd,epd", "--reps", "2", *sets)
    assert (tmp_path / "results" / "..-a-b-compare" / "rows.parquet").exists()


def test_the_same_comparison_is_the_same_drawing(found: pushout.CompareResult) -> None:
    assert drawing.images(found.plot()) == drawing.images(found.plot())


@pytest.mark.parametrize(
    ("policies", "options", "why"),
    [
        ("epd", {}, "two policies or more"),
        ("epd,epd", {}, "policies must name epd once, not twice"),
        ('ppd,{policy="epd"', {}, "must begin with { and end with }"),
        ("epd,tail-dorp", {}, 'did you mean "tail-drop"?'),
        ("reno,cubik", {}, 'unknown congestion control "cubik"; did you mean "cubic"? \\(allowed: as-is, reno,'),
        ("epd,greedy", {}, 'unknown policy of a port "greedy"'),
        ("epd ppd", {}, "policies epd ppd must have commas: write epd,ppd"),
        ("epd,ppd", {"port": "botleneck"}, 'did you mean "bottleneck"?'),
        ("epd,ppd", {"port": []}, "port must not be an empty list"),
        ("epd,ppd", {"reps": 1}, "two replications"),
        ("epd,ppd", {"jobs": 1, "cluster": "local"}, "leave out one"),
        (["as-is", '{policy = "epd", threshold = "500 %"}'], {}, "500 %"),
    ],
)
def test_a_mistake_is_one_message(policies: str, options: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why.replace("?", r"\?")):
        pushout.compare(LAN, policies, set={"duration": "20 ms"}, **options)


def test_other_figures_are_compared_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    multi_hop = ROOT / "scenarios" / "multi-hop.toml"
    arguments = ["compare", str(multi_hop), "--port", "b", "--policies", "as-is,tail-drop", "--reps", "2"]
    arguments += ["--set", "duration=50 ms", "--set", "warmup=0 s", "--out", str(tmp_path)]
    command(*arguments, "--figures", "classes.cross.goodput_bps, flows.cross1.timeouts,ports.b.lost.front")
    out = capsys.readouterr().out
    assert "goodput of cross (Mb/s)" in out
    assert "timeouts of cross1" in out
    assert "lost front of b" in out
    document = json.loads((tmp_path / "compare.json").read_text(encoding="utf-8"))
    assert document["figures"] == ["classes.cross.goodput_bps", "flows.cross1.timeouts", "ports.b.lost.front"]
    run = pushout.run(multi_hop, set={"duration": "50 ms", "warmup": "0 s"}, reps=2)
    mean = document["policies"][0]["figures"]["classes.cross.goodput_bps"]
    assert mean == run["summary.classes.cross.goodput_bps"]
    assert document["policies"][1]["difference"]["ports.b.lost.front"]["mean"] == 0


@pytest.mark.parametrize(
    ("figures", "why"),
    [
        ("goodput_rato", "did you mean goodput_ratio or goodput_drift"),
        ("flows.*.goodput_bps", r"figures flows\.\*\.goodput_bps: the path must name a single figure, not many"),
        (["ports.bottleneck.occupancy.values"], "occupancy.values: the path must name a single figure, not a list"),
        ("ports.bottleneck.occupancy_unit", "occupancy_unit"),
        (["x", 5], "figures must be a string, not 5"),
        (5, "figures must be paths, in a list or separated by commas, not 5"),
    ],
)
def test_a_figure_that_cannot_be_compared_is_refused(figures: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, TypeError), match=why):
        pushout.compare(LAN, "epd,ppd", set={"duration": "20 ms"}, reps=2, figures=figures, out=tmp_path / "out")
    assert (tmp_path / "out").exists() == ("not a list" in why), "which only a run can tell"


def test_a_figure_without_measurements_under_one_policy_is_still_shown() -> None:
    def policy(label: str, times: list[float | None]) -> Policy:
        known: dict[str, Sequence[float | None]] = {**dict.fromkeys(FIGURES, ()), "goodput_ratio": [0.9, 0.8]}
        return Policy(Choice(label, ()), {**known, "transfer_time_mean_s": times}, [])

    port = Port("bottleneck", 1e9, True, {"buffer": "10 cells"})
    policies = [policy("one", [0.1, 0.2]), policy("none", [None, None])]
    result = CompareResult(Columns.of({}), {}, (Place.of(port),), policies, 0.0, 1.0)
    assert result.figures() == ["transfer_time_mean_s", "goodput_ratio"]
    assert result._drawn(["transfer_time_mean_s"], 1) == []
    console = Console(record=True, width=100)
    answers.comparison(result, None, console)
    assert re.search(r"mean transfer time \(ms\) +150 ± 640 +–", console.export_text())


def test_equal_differences_are_no_certainty_either(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A policy that the port has already gives what it gives; the means are of runs that differ."""
    arguments = [
        "compare",
        str(ROOT / "scenarios" / "mux-poisson.toml"),
        "--policies",
        "as-is,tail-drop",
        "--reps",
        "3",
    ]
    arguments += ["--port", "bottleneck", "--set", "port.bottleneck.buffer=20 cells", "--set", "duration=120 ms"]
    command(*arguments, "--out", str(tmp_path))
    assert (
        "± 0: all 3 runs gave the same value; up to 63 % of further runs might still differ" in capsys.readouterr().out
    )


def test_a_policy_that_the_port_has_keeps_its_parameters() -> None:
    turns = {"port.bottleneck.scheduler": {"policy": "wrr-mcr"}}
    asked = ask.comparison(LAN, "epd,ppd,round-robin,pushout-1", set=turns)
    assert [choice.sets for choice in asked.choices] == [
        (),
        ('port.bottleneck.admission={"policy" = "ppd"}',),
        ('port.bottleneck.scheduler={"policy" = "round-robin"}',),
        ('port.bottleneck.pushout={"policy" = "pushout-1"}',),
    ]


def test_a_push_out_policy_says_which_admission_policy_it_stands_beside(capsys: pytest.CaptureFixture[str]) -> None:
    incast = ROOT / "scenarios" / "incast.toml"
    turns = {"port.bottleneck.scheduler": {"policy": "round-robin"}}
    short = {**turns, "duration": "2 ms", "port.bottleneck.admission": {"policy": "dynamic-threshold"}}
    found = pushout.compare(incast, "as-is,pushout-2", set=short, reps=2, figures="ports.bottleneck.occupancy_p99")
    answers.comparison(found, None, Console(width=120))
    out = capsys.readouterr().out
    assert "pushout-2: with the admission dynamic-threshold of bottleneck, which may refuse units that could" in out
    assert 'port.bottleneck.admission={"policy" = "tail-drop"}' in out
    assert "occupancy p99 of bottleneck (kB)" in out
    turns["port.bottleneck.admission"] = {"policy": "tail-drop"}
    asked = ask.comparison(incast, "tail-drop,dynamic-threshold,pushout-2", set=turns)
    assert [choice.beside for choice in asked.choices] == ["", "", ""]


def test_policies_can_be_put_at_several_ports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    multi_hop = ROOT / "scenarios" / "multi-hop.toml"
    limited = {"port.access1.buffer": "900 cells"}
    asked = ask.comparison(multi_hop, "epd,ppd", port="a, b,access1", set=limited)
    assert [choice.sets for choice in asked.choices] == [
        ('port.access1.admission={"policy" = "epd"}',),
        tuple(f'port.{name}.admission={{"policy" = "ppd"}}' for name in ("a", "b", "access1")),
    ]
    assert ask.comparison(multi_hop, "epd,ppd", port=["a", "b", "access1"], set=limited).ports == asked.ports
    options: Any = {"set": {"duration": "30 ms", "warmup": "0 s"}, "reps": 2}
    found = pushout.compare(multi_hop, "as-is,tail-drop", port="b,a", **options)
    assert (found.place.name, found.document["port"], found.document["ports"]) == ("b", "b", ["b", "a"])
    change = {f"port.{name}.admission": {"policy": "tail-drop"} for name in ("a", "b")}
    run = pushout.run(multi_hop, set={**options["set"], **change}, reps=2)
    assert found.policies[1].runs["goodput_ratio"] == run.table["goodput_ratio"].to_pylist()
    assert found.plot().axes[-1].get_ylabel() == "occupancy at b (cells)"
    answers.comparison(found, str(tmp_path), Console(width=200))
    assert "Policies at b, a; losses, occupancy and delay are those of b." in capsys.readouterr().out
    for port_, why in [("a,z", 'unknown place "z"'), ("a,a", "port must name a once, not twice")]:
        with pytest.raises(QuestionError, match=why):
            ask.comparison(multi_hop, "epd,ppd", port=port_)


FABRIC = """
name = "fabric"
duration = "20 ms"
adaptation = { kind = "packet" }
node = [{ name = "x", kind = "host" }, { name = "y", kind = "host" }, { name = "z", kind = "host" },
        { name = "s", kind = "router" }]
link = [
  { name = "x", from = "x", to = "s", rate = "10 Mb/s", delay = "1 us" },
  { name = "y", from = "y", to = "s", rate = "10 Mb/s", delay = "1 us" },
  { name = "z", from = "s", to = "z", rate = "10 Mb/s", delay = "1 us" },
]
port.x = { buffer = "50 kB" }
port."x.back" = { buffer = "50 kB" }
port.z = { buffer = "50 kB" }
flow = [
  { name = "a", from = "x", to = "z", source = { kind = "greedy" }, transport = { kind = "tcp" } },
  { name = "b", from = "y", to = "z", source = { kind = "cbr", rate = "5 Mb/s" }, transport = { kind = "udp" } },
]
"""


def test_policies_are_compared_under_queries_whose_rate_is_a_number_a_second(tmp_path: Path) -> None:
    link = {"rate": "1 Gb/s", "delay": "5 us"}
    scenario = {
        "name": "fabric",
        "duration": "20 ms",
        "adaptation": {"kind": "packet"},
        "topology": {"template": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 4, "host": link, "fabric": link},
        "port": {"default": {"buffer": "300 packets"}},
        "flows": {
            "source": {"kind": "query", "fan_in": 7, "size": "1 MB", "rate": "200 per s"},
            "transport": {"kind": "tcp", "profile": "datacenter"},
        },
    }
    compared = pushout.compare(scenario, ["tail-drop", "red"], figures=["query.p50"], reps=2)
    own = [pushout.run(scenario, seed=seed).document["summary"]["query"]["p50"] for seed in (1, 2)]
    assert compared.policies[0].runs["query.p50"] == own
    source = tmp_path / "fabric.json"
    source.write_text(json.dumps(scenario))
    command("plot", str(source), "--out", str(tmp_path / "fabric.svg"))
    assert ElementTree.parse(tmp_path / "fabric.svg").getroot().tag.endswith("svg")  # noqa: S314


def test_without_a_name_the_busiest_port_is_chosen_and_reported() -> None:
    explained = pushout.explain(FABRIC)
    loads = {"x": 1.0, "y": 0.5, "z": 1.5}
    assert load.loads(explained) == loads
    asked = ask.comparison(FABRIC, "tail-drop,red")
    assert [each.name for each in asked.ports] == ["z"]
    (warned,) = asked.warnings
    assert warned == {
        "code": "busiest-port",
        "message": "port z is used: of 3 ports with a limited buffer it is the busiest, because its flows may send 1.5 "
        "times its rate; choose another with at",
    }
    assert ask.sizing(
        FABRIC, "goodput_ratio>=0.5", "flow.a.start", low="1 ms", high="9 ms", policies="red"
    ).warnings == [warned]
    assert ask.comparison(FABRIC, "tail-drop,red", port="x").warnings == []
    with pytest.raises(QuestionError, match="no port has a limited buffer: choose a port with at"):
        ask.comparison(
            FABRIC, "tail-drop,red", set={f'port."{name}".buffer': "unlimited" for name in ("x", "x.back", "z")}
        )


LEAF_SPINE = """
name = "fabric"
duration = "1 ms"
adaptation = { kind = "packet" }

[topology]
template = "leaf-spine"
leaves = 2
spines = 3
hosts = 6
links = 2
host = { rate = "10 Gb/s", delay = "1 us" }
fabric = { rate = "10 Gb/s", delay = "1 us" }

[port.default]
buffer = "96 kB"

[flows]
source = { kind = "arrivals", sizes = "websearch", load = "60 %", to = "other-leaf" }
transport = { kind = "tcp", profile = "datacenter" }
"""


@pytest.mark.parametrize(("routing", "lines"), [("ecmp", 12), ("ecmp-packet", 12), ("first", 2)])
def test_flows_load_every_route_that_a_hash_can_choose_or_else_the_first(routing: str, lines: int) -> None:
    explained = pushout.explain(LEAF_SPINE, set={"routing": routing})
    up = {name: share for name, share in load.loads(explained).items() if re.match("leaf.*->spine", name)}
    assert len(up) == lines
    assert sum(up.values()) == pytest.approx(12.0), "six hosts in each leaf, whose lines are as fast"
    assert list(up.values()) == pytest.approx([12.0 / lines] * lines)


def test_ports_of_both_directions_are_known() -> None:
    explained = pushout.explain(LAN)
    known = port.ports(explained)
    assert set(known) == set(explained["port"])
    assert known["bottleneck.back"].rate_bps == pytest.approx(149.76e6)
    assert port.key_of(known["bottleneck.back"], "buffer") == 'port."bottleneck.back".buffer'


SHAPED = ("port.bottleneck.shaper.rate=10 Mb/s", "port.bottleneck.shaper.burst=20 kB")


def test_an_amount_of_buffer_is_also_octets_and_time() -> None:
    place, told = Places(pushout.explain(LAN), pushout.load(LAN), ()).by_default()
    assert (place.name, told) == ("bottleneck", [])
    bottleneck = place.ports[0]
    sizes = bottleneck.sizes("1000 cells")
    assert sizes == {"cells": 1000, "bytes": 53_000, "us": pytest.approx(53_000 * 8 / 149.76)}
    assert bottleneck.sizes("50 %")["cells"] == 4096
    assert bottleneck.sizes("53 kB")["cells"] == pytest.approx(1000)
    assert bottleneck.sizes("0.5") == {}
    assert bottleneck.sizes("1 ms") == {"cells": 18_720 / 53, "bytes": 18_720, "us": pytest.approx(1000)}
    shaped = Places(pushout.explain(LAN, set=SHAPED), pushout.load(LAN), SHAPED).by_default()[0].ports[0]
    assert shaped.sizes("1 ms")["bytes"] == 1250, "it sends no faster than its shaper"


def test_quantities_are_read_as_scenarios_write_them() -> None:
    assert split("1_000 cells") == (1000, "cells")
    assert split("7e-3") == (0.007, "")
    assert split("1 cell") == (1, "cells"), "one of a unit is not another unit"
    assert scaled("149760 kb/s", "b/s") == 149.76e6
    assert scaled("5 cells", "b/s") is None
    assert octets("64 KiB") == 65_536
    assert seconds("250 us") == pytest.approx(250e-6)
    with pytest.raises(QuestionError, match="must be a number with a unit"):
        split("cells")


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (4938.72, 103.4, "4 940 ± 100"),
        (20206.3, 14873.0, "20 000 ± 15 000"),
        (0.97357, 0.00998, "0.974 ± 0.010"),
        (0.25677, 0.2083, "0.26 ± 0.21"),
        (-0.00045745, 0.00036, "-0.00046 ± 0.00036"),
        (706969600, 0.4, "706 969 600.00 ± 0.40"),
        (1234567, 11.0, "1 234 567 ± 11"),
        (-0.0004, 0.25, "0.00 ± 0.25"),
        (0.0054359, 3.5e-16, "0.0054359 ± 0"),
        (0.97345, 0.0, "0.97345 ± 0"),
        (20.0, 0.0, "20 ± 0"),
        (1234567.0, 0.0, "1 234 567 ± 0"),
        (0.0, 0.0, "0 ± 0"),
        (0.0, 0.25, "0.00 ± 0.25"),
    ],
)
def test_a_mean_has_the_digits_that_its_interval_leaves(mean: float, half: float, text: str) -> None:
    assert answers.mean({"mean": mean, "ci95": [mean - half, mean + half], "n": 9}) == text


def test_figures_asked_for_come_first_and_small_differences_are_not_in_the_title() -> None:
    found = pushout.compare("lan", "tail-drop,epd", reps=3, set={"duration": "3 s"}, figures="summary.goodput_bps")
    assert found.figures()[0] == "goodput_bps"
    axes = found.plot().axes
    assert axes[0].get_xlabel().startswith("goodput") and len(axes) <= 4
    small = Forest("loss", "a", 100.0, [Effect("b", {"mean": 0.5, "ci95": [0.4, 0.6], "n": 9}, {})])
    large = Forest("delay", "a", 100.0, [Effect("b", {"mean": -50.0, "ci95": [-51.0, -49.0], "n": 9}, {})])
    assert message([small, large]) == "Compared with a: delay: b 50 % less"
    assert message([small]) == "Compared with a: loss: b 0.5 % more"


def test_the_figure_has_the_title_of_its_scenario_and_a_legend_that_covers_nothing(
    found: pushout.CompareResult,
) -> None:
    figure = found.plot()
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert figure.get_suptitle().endswith("Ten TCP sources share one bottleneck (study 000, local network)")
    assert not any(box.overlaps(axes.get_tightbbox()) for axes in figure.axes)
    assert figure.axes[-1].get_ylim()[0] >= 0
    assert figure.axes[-1].get_xlim()[0] >= 0, "no time before zero"


def test_the_figure_shows_differences_sorted_with_their_intervals(found: pushout.CompareResult) -> None:
    first, *others = found.policies
    axes = found.plot().axes[0]
    (name,) = found._drawn(UP, 1)
    names = [text.get_text() for text in axes.get_yticklabels()]
    differences = {policy.choice.label: policy.minus(first, name) for policy in others}
    assert names == sorted(differences, key=lambda label: differences[label]["mean"])  # type: ignore[index]
    bars = {container[0].get_ydata()[0]: container for container in axes.containers}
    for row, label in enumerate(names):
        difference = differences[label]
        assert difference
        assert difference["ci95"]
        mark, _, (interval_,) = bars[row]
        assert mark.get_xdata()[0] == pytest.approx(difference["mean"])
        assert interval_.get_segments()[0][:, 0] == pytest.approx(difference["ci95"])
        is_clear = difference["ci95"][0] > 0 or difference["ci95"][1] < 0
        assert (mark.get_markerfacecolor() == "white") != is_clear


PERIODIC = ROOT / "scenarios" / "mux-periodic.toml"
WITHOUT_CHANCE = {
    "duration": "5 ms",
    "warmup": "0 s",
    "flows.start_spread": "0 s",
    "port.bottleneck.buffer": "64 cells",
}


def shown(result: CompareResult) -> str:
    """The output of the command."""
    console = Console(record=True, width=200, file=io.StringIO())
    answers.comparison(result, None, console)
    return console.export_text()


def test_policies_that_draw_nothing_run_once_and_their_differences_are_exact() -> None:
    result = pushout.compare(PERIODIC, "tail-drop,epd", set=WITHOUT_CHANCE)
    assert [policy["draws"] for policy in result.document["policies"]] == [False, False]
    assert (result.document["runs"], result.document["reps"]) == (2, 10)
    entry = result.document["policies"][1]
    lost = [policy["figures"]["loss_ratio"] for policy in result.document["policies"]]
    assert lost[0]["mean"] != lost[1]["mean"]
    assert entry["difference"]["loss_ratio"] == {"mean": lost[1]["mean"] - lost[0]["mean"], "ci95": None, "n": 1}
    text = shown(result)
    assert "Nothing is drawn at random: one run of each policy stands for all seeds, and differences are exact." in text
    assert "±" not in text
    assert "1 of" not in text


def test_the_only_run_of_a_policy_is_paired_with_every_run_of_one_that_draws() -> None:
    result = pushout.compare(PERIODIC, "tail-drop,epd,red", set=WITHOUT_CHANCE, reps=4)
    plain, _, red = result.policies
    assert [policy.draws for policy in result.policies] == [False, False, True]
    assert result.table["seed"].to_pylist() == [1, 1, 1, 2, 3, 4]
    (alone,) = plain.runs["loss_ratio"]
    assert alone is not None
    expected = interval([value - alone for value in red.runs["loss_ratio"] if value is not None])
    assert red.minus(plain, "loss_ratio") == expected
    assert expected["n"] == 4
    text = shown(result)
    assert "4 seeds, the same for all policies" in text
    assert "tail-drop, epd: nothing is drawn at random, one run stands for all seeds." in text
    assert "of 4 runs" not in text


def test_a_figure_without_chance_explains_no_interval() -> None:
    def legend(policies: str) -> list[str]:
        drawn = pushout.compare(PERIODIC, policies, set=WITHOUT_CHANCE, reps=3).plot()
        return [text.get_text() for text in drawn.legends[0].get_texts()]

    assert legend("tail-drop,epd") == ["tail-drop", "epd"]
    assert legend("tail-drop,red") == ["tail-drop", "red", drawing.INTERVAL]


def test_a_figure_of_the_whole_run_is_not_that_of_the_place() -> None:
    sets = {
        "duration": "300 ms",
        "warmup": "0 s",
        "port.access.buffer": "40 cells",
        "port.bottleneck.buffer": "60 cells",
    }
    found = pushout.compare("lan", "epd,tail-drop", at="bottleneck", figures="summary.loss", set=sets, reps=2)
    for policy, name in zip(found.policies, ("epd", "tail-drop"), strict=True):
        change = {} if name == "epd" else {"port.bottleneck.admission": {"policy": name}}
        report = pushout.run("lan", set={**sets, **change}).document
        place = next(port for port in report["ports"] if port["name"] == "bottleneck")
        hosts = [port for port in report["ports"] if port["name"].startswith("access") and "back" not in port["name"]]
        sinks = [port for port in report["ports"] if port["name"].startswith("egress") and "back" in port["name"]]
        lost = sum(map(_lost, report["ports"]))
        sent = sum(port["units_in"] for port in (*hosts, *sinks))
        of_place = _lost(place) / place["units_in"]
        assert policy.runs["loss_ratio"][0] == pytest.approx(of_place)
        assert policy.runs["summary.loss_ratio"][0] == pytest.approx(lost / sent) != pytest.approx(of_place)


def _lost(port: dict[str, Any]) -> int:
    return sum(port["lost"].values())
