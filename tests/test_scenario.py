"""`pushout.Scenario`: read, built, changed and written."""

import inspect
import pickle
import tomllib
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import ROOT
from pushout import Link, Scenario, shipped
from pushout.schemes import Codel, Red

HOME: dict[str, Any] = {"sources": 2, "bottleneck": Link("10 Mb/s", "18 ms"), "duration": "2 s", "warmup": "1 s"}
SCENARIOS = [each.name for each in shipped.listed() if each.kind == "scenario"]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_changed_scenario_is_the_file_with_that_override(name: str) -> None:
    changed = Scenario(name).with_({"seed": 77})
    assert changed.explain() == pushout.explain(name, set={"seed": 77})
    assert pushout.explain(changed.to_toml()) == changed.explain(), "what it writes means the same"
    assert Scenario(name).explain()["seed"] != 77


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("lan", {"port.bottleneck.admission": Red(max_p=0.5)}),
        ("lan", ["flow.flow3.start=1 s", "topology.sources=4"]),
        ("lan", ["topology.sources=4", "port.bottleneck.admission={policy='ppd'}", "title=as it is"]),
        ("lan", {"port.access1.buffer": "500 cells"}),
        ("w1-packet", {"flow.flow3.start": "1 s"}),
        ("multi-hop", {"port.a.buffer": "100 KB"}),
        ("chip", {"memory.chip.size": "1 MB", "duration": "200 ms"}),
        ("two-routers", {"node.west.latency": "1 ms", "link.0.delay": "9 ms"}),
    ],
)
def test_a_change_means_what_it_means_in_a_run(name: str, changes: Any) -> None:
    """Keys of files, of what templates make, of entries by name and by number, and of classes of ports."""
    assert Scenario(name).with_(changes).explain() == pushout.explain(name, set=changes)


def test_a_change_keeps_the_template_where_it_can() -> None:
    changed = Scenario("lan").with_({"port.bottleneck.buffer": "1000 cells"})
    assert len(changed.with_({"topology.sources": 3}).explain()["flow"]) == 3
    in_full = changed.with_({"flow.flow2.start": "1 s"})
    assert "topology" not in tomllib.loads(in_full.to_toml())
    assert "topology" in tomllib.loads(changed.to_toml())


def test_a_dumbbell_has_a_queue_at_its_bottleneck() -> None:
    scenario = Scenario.dumbbell(**HOME)
    result = pushout.run(scenario)
    assert result["summary.goodput_ratio"] > 0.8
    means = {port["name"]: port["occupancy_mean"] for port in result.document["ports"]}
    assert max(means, key=lambda name: means[name]) == "bottleneck"
    links = {link["name"]: link for link in scenario.explain()["link"]}
    assert links["access1"]["rate"] == "100 Mb/s"
    slow = Scenario.dumbbell(**{**HOME, "access": [Link("20 Mb/s", "1 ms"), Link("30 Mb/s", "9 ms")]})
    links = {link["name"]: link for link in slow.explain()["link"]}
    assert [links[name]["rate"] for name in ("access1", "access2")] == ["20 Mb/s", "30 Mb/s"]


def test_a_leaf_spine_sends_over_its_spines() -> None:
    line = Link("10 Gb/s", "1 us")
    scenario = Scenario.leaf_spine(leaves=2, spines=2, hosts=4, host=line, fabric=line)
    result = pushout.run(scenario)
    assert result["summary.transfers"] > 5
    carried = {port["name"]: port["units_out"] for port in result.document["ports"]}
    assert all(carried[f"spine{spine}->leaf2"] > 100 for spine in (1, 2))


def test_every_question_takes_one(tmp_path: Path) -> None:
    scenario = Scenario.dumbbell(**HOME)
    assert pushout.validate(scenario) == pushout.validate(scenario.to_toml())
    compared = pushout.compare(scenario, ["tail-drop", Codel()], reps=2)
    assert [policy.choice.label for policy in compared.policies] == ["tail-drop", "codel"]
    buffers = ["20 packets", "60 packets"]
    swept = pushout.sweep({"scenario": scenario, "grid": {"port.bottleneck.buffer": buffers}})
    assert len(swept.means("goodput_ratio")) == 2
    over = "port.bottleneck.buffer"
    sized = pushout.size(
        scenario.with_({over: "60 packets"}), "goodput_ratio>=0.5", over, resolution=0.5, least=2, most=2
    )
    assert sized.document["scenario"] == "dumbbell"
    figure = pushout.plot([scenario, scenario.with_({"name": "other"})], what="queue")
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()][-2:] == ["dumbbell", "other"]
    file = tmp_path / "home.toml"
    file.write_text(scenario.to_toml(), encoding="utf-8")
    assert Scenario(file) == scenario


@pytest.mark.parametrize(
    ("given", "key", "name"),
    [
        ("codel", "admission", "codel"),
        ("{policy = 'red'}", "admission", "red"),
        ("round-robin", "scheduler", "round-robin"),
    ],
)
def test_a_policy_is_given_by_its_name_as_to_compare(given: str, key: str, name: str) -> None:
    assert Scenario.dumbbell(**HOME, admission=given).explain()["port"]["bottleneck"][key]["policy"] == name


def test_a_queue_discipline_is_given_by_its_name() -> None:
    line = Link("10 Gb/s", "1 us")
    rack = Scenario.leaf_spine(leaves=2, spines=1, hosts=2, host=line, fabric=line, admission="fq-codel")
    ports = rack.explain()["port"]
    made = {
        (port["admission"]["policy"], port["scheduler"]["policy"]) for name, port in ports.items() if "->host" in name
    }
    assert made == {("codel", "fair-queue")}


def test_overrides_take_the_name_of_a_policy_too() -> None:
    codel = Scenario("lan").with_({"port.bottleneck.admission": Codel()})
    for given in ("codel", "{policy = 'codel'}"):
        assert Scenario("lan").with_({"port.bottleneck.admission": given}) == codel
    named = pushout.run(codel, set={"duration": "1 s"})
    changes = {"duration": "1 s", "port.bottleneck.admission": "codel"}
    assert pushout.run("lan", set=changes)["summary"] == named["summary"]
    placed = pushout.run("lan", policies={"bottleneck": "codel"}, set={"duration": "1 s"})
    assert placed["summary"] == named["summary"] != pushout.run("lan", set={"duration": "1 s"})["summary"]


def test_keys_outside_of_tables_are_arguments_of_with() -> None:
    scenario = Scenario("lan")
    changed = scenario.with_(duration="2 s", seed=5)
    assert changed == scenario.with_({"duration": "2 s", "seed": 5})
    assert changed == scenario.with_(["duration=2 s"], seed=5)
    with pytest.raises(pushout.ScenarioError, match='did you mean "duration"'):
        scenario.with_(duraton="2 s")


def test_questions_are_methods() -> None:
    scenario = Scenario.dumbbell(**HOME)
    assert scenario.run()["summary"] == pushout.run(scenario)["summary"]
    assert scenario.compare("tail-drop,codel", reps=2).document["policies"][1]["label"] == "codel"
    assert scenario.plot(what="queue").axes
    over = {"goal": "goodput_ratio>=0.5", "over": "port.bottleneck.buffer", "low": "20 packets", "high": "60 packets"}
    assert scenario.size(**over, least=2, most=2, resolution=0.5).answers[0].value == 20
    assert list(inspect.signature(Scenario.run).parameters)[:2] == ["self", "policies"]
    with pytest.raises(TypeError, match=r'run\(\): unknown argument "duration".*set=\{"duration": "10 s"\}'):
        scenario.run(duration="2 s")  # type: ignore[call-arg]


def test_answers_are_found_by_the_labels_of_policies() -> None:
    found = Scenario.dumbbell(**HOME).compare(["tail-drop", Codel(target="20 ms")], reps=2)
    assert found["codel, target 20 ms"] is found.policies[1]
    assert found["tail-drop"]["goodput_ratio"] == found.policies[0].mean("goodput_ratio")
    with pytest.raises(pushout.FigureError, match="tail-drop"):
        found["taildrop"]
    with pytest.raises(pushout.FigureError, match='did you mean "goodput_ratio"'):
        found["tail-drop"]["goodputratio"]
    with pytest.raises(TypeError):
        iter(found)  # type: ignore[call-overload]


def test_a_file_is_written_as_it_was_read() -> None:
    text = (ROOT / "scenarios" / "lan.toml").read_text(encoding="utf-8")
    assert Scenario("lan").to_toml() == text
    assert Scenario(tomllib.loads(text)) == Scenario("lan")
    assert tomllib.loads(Scenario(tomllib.loads(text)).to_toml()) == tomllib.loads(text)


def test_scenarios_and_links_are_values() -> None:
    scenario, link = Scenario("lan"), Link("10 Mb/s", "18 ms")
    assert pickle.loads(pickle.dumps(scenario)) == scenario  # noqa: S301
    assert len({scenario, Scenario("lan"), scenario.with_({"seed": 2})}) == 2
    assert link == Link("10 Mb/s", "18 ms") == {"rate": "10 Mb/s", "delay": "18 ms"}
    assert pickle.loads(pickle.dumps(link)) == link  # noqa: S301
    with pytest.raises(AttributeError):
        link.rate = "20 Mb/s"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="with_"):
        scenario.seed = 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"port.bottlneck.buffer": "1 cell"}, 'did you mean "bottleneck"'),
        ({"port.bottleneck.admission": "codell"}, "codel"),
        (["seed"], "key.path=value"),
    ],
)
def test_a_wrong_change_is_refused_where_it_is_made(changes: Any, message: str) -> None:
    with pytest.raises(pushout.ScenarioError, match=message):
        Scenario("lan").with_(changes)


def test_a_wrong_scenario_is_refused_where_it_is_made() -> None:
    with pytest.raises(pushout.ScenarioError, match="sources must be from 1 to"):
        Scenario.dumbbell(**{**HOME, "sources": 0})
    with pytest.raises(pushout.ScenarioError, match=r"Gb/s or Tb/s, not '10 MB/s'"):
        Scenario.dumbbell(**{**HOME, "bottleneck": Link("10 MB/s", "1 ms")})
    with pytest.raises(pushout.ScenarioError, match="Link: delay must be a number with s, ms"):
        Link("10 Mb/s", 0.01)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r'bottleneck must be a line .* as Link\("100 Mb/s", "1 ms"\)'):
        Scenario.dumbbell(**{**HOME, "bottleneck": "100 Mb/s"})
    with pytest.raises(pushout.ScenarioError, match=r'admission: unknown policy .* did you mean "codel"'):
        Scenario.dumbbell(**HOME, admission="codell")
    with pytest.raises(pushout.ScenarioError, match="access and egress must be given"):
        Scenario.dumbbell(**{**HOME, "bottleneck": Link({"steps": [["0 s", "1 Mb/s"]]}, "1 ms")})  # type: ignore[arg-type]
    with pytest.raises(pushout.ScenarioNotFoundError):
        Scenario("no-such")


@pytest.mark.parametrize("function", [pushout.run, pushout.compare, pushout.size, pushout.plot])
def test_help_begins_with_the_names_of_types(function: Any) -> None:
    first = next(iter(inspect.signature(function).parameters.values()))
    assert "ScenarioLike" in str(first)
    assert "Mapping" not in str(inspect.signature(function))


def test_a_notebook_shows_its_text() -> None:
    assert "&lt;Scenario dumbbell: 2 flows" in Scenario.dumbbell(**HOME)._repr_html_()
