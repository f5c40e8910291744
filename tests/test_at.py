"""Places: the names by which every verb finds ports, classes of ports, memories and their queues."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import pushout
from conftest import ROOT, command
from pushout.errors import QuestionError
from pushout.names.place import Place, Places
from pushout.policy import read
from pushout.question import ask
from pushout.show import answers

WIRE = {"rate": "1 Gb/s", "delay": "5 us"}
TRIDENT = ROOT / "scenarios" / "trident-3.toml"


def leaf_spine(**port: Any) -> dict[str, Any]:
    """A leaf-spine of eight hosts that answer queries, with these keys of the ports of its switches."""
    return {
        "name": "leaf-spine",
        "duration": "12 ms",
        "adaptation": {"kind": "packet"},
        "topology": {"template": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 4, "host": WIRE, "fabric": WIRE},
        "port": {"default": port},
        "flows": {
            "source": {"kind": "query", "fan_in": 7, "size": "1 MB", "rate": "400 per s"},
            "transport": {"kind": "tcp", "profile": "datacenter"},
        },
    }


PORTS = leaf_spine(buffer="60 packets")
SHARED = {
    **leaf_spine(memory="chip"),
    "memory": {"chip": {"size": "400 kB", "cell": "200 bytes"}},
    "queue": {"bulk": {}, "rdma": {}},
}
DUMBBELL = {
    "name": "dumbbell",
    "duration": "20 ms",
    "adaptation": {"kind": "packet"},
    "topology": {"template": "dumbbell", "sources": 3, "access": WIRE, "bottleneck": WIRE, "egress": WIRE},
    "port": {"bottleneck": {"memory": "chip"}},
    "memory": {"chip": {"size": "60 kB", "cell": "200 bytes"}},
    "queue": {"bulk": {}, "rdma": {}},
    "flows": {
        "source": {"kind": "poisson", "rate": "600 Mb/s", "size": "1000 bytes"},
        "transport": {"kind": "udp"},
        "queue": "bulk",
    },
    "flow": [{"name": "flow3", "queue": "rdma"}],
}


def places(scenario: Any, **sets: Any) -> Places:
    """The places of a scenario with overrides."""
    changes = tuple(f"{key}={value}" for key, value in sets.items())
    source = pushout.load(scenario)
    return Places(pushout.explain(source, set=changes), source, changes)


def place(scenario: Any, name: str) -> Place:
    """The place of a scenario with this name."""
    (found,) = places(scenario).named(name)
    return found


def sections(found: Place) -> list[str]:
    return [holder.path for holder in found.holders]


def names(found: Place) -> list[str]:
    return [port.name for port in found.ports]


def shown(result: pushout.CompareResult) -> str:
    """The output of the command."""
    console = Console(record=True, width=200, file=io.StringIO())
    answers.comparison(result, None, console)
    return console.export_text()


def test_a_class_of_ports_is_that_of_its_section() -> None:
    fabric = place(PORTS, "fabric")
    assert sections(fabric) == ["port.fabric"]
    assert names(fabric) == ["leaf1->spine1", "leaf1->spine2", "leaf2->spine1", "leaf2->spine2"]
    assert sections(place(PORTS, "fabric.back")) == ['port."fabric.back"']
    default = place(PORTS, "default")
    assert sections(default) == ["port.default"]
    assert len(default.ports) == 16, "every port but those of the hosts"
    assert names(place(PORTS, "all")) == names(default)


def test_a_port_with_a_section_of_its_own_belongs_to_its_class_and_not_to_the_default() -> None:
    own = {
        **PORTS,
        "port": {**PORTS["port"], "leaf1->spine1": {"buffer": "9 packets"}, "fabric.back": {"buffer": "8 kB"}},
    }
    assert sections(place(own, "fabric")) == ["port.fabric", "port.leaf1->spine1"]
    assert names(place(own, "default")) == [
        *(f"leaf1->host{number}" for number in (1, 2, 3, 4)),
        *(f"leaf2->host{number}" for number in (5, 6, 7, 8)),
        "leaf1->spine2",
        "leaf2->spine1",
        "leaf2->spine2",
    ]
    assert sections(place(own, "all")) == ["port.default", "port.leaf1->spine1", 'port."fabric.back"']
    assert place(own, "all").measure == "", "packets and bytes do not add up"


def test_an_override_gives_a_port_a_section_of_its_own() -> None:
    (default,) = places(PORTS, **{"port.leaf1->spine1.buffer": "9 packets"}).named("default")
    assert "leaf1->spine1" not in names(default)
    (default,) = places(PORTS, **{"port": '{ "fabric" = { buffer = "8 packets" } }'}).named("default")
    assert not any("->spine" in name for name in names(default))


def test_a_policy_at_a_class_is_one_override_and_reaches_every_port() -> None:
    asked = ask.comparison(PORTS, "tail-drop,red", at="fabric")
    assert [choice.sets for choice in asked.choices] == [(), ('port.fabric.admission={"policy" = "red"}',)]
    changed = pushout.explain(PORTS, set=asked.choices[1].sets)["port"]
    red = [name for name, keys in changed.items() if keys["admission"]["policy"] == "red"]
    assert red == names(place(PORTS, "fabric"))


def test_a_memory_is_one_section_at_every_node_that_has_it() -> None:
    memory = place(SHARED, "memory.chip")
    assert sections(memory) == ["memory.chip"]
    assert [each.name for each in memory.memories] == ["chip@leaf1", "chip@leaf2", "chip@spine1", "chip@spine2"]
    assert (memory.measure, memory.room) == ("memory cells", 8000)
    assert memory.sizes("100 kB") == {"memory cells": 500, "bytes": 100_000}
    assert sections(place(SHARED, "all")) == ["memory.chip"]
    assert sections(place(DUMBBELL, "memory.chip.queue.rdma")) == ["memory.chip"], "which decides about its queues"


@pytest.mark.parametrize("scenario", [PORTS, SHARED, DUMBBELL])
def test_an_unknown_place_is_answered_with_the_nearest_and_the_list(scenario: dict[str, Any]) -> None:
    nearest = {"fabrik": "fabric", "memory.chop": "memory.chip", "memory.chip.queue.rmda": "memory.chip.queue.rdma"}
    for name, meant in nearest.items():
        try:
            place(scenario, meant)
        except QuestionError:
            continue
        with pytest.raises(QuestionError, match=f'unknown place "{name}"; did you mean "{meant}"') as caught:
            place(scenario, name)
        assert "allowed: " in str(caught.value)
        assert len(str(caught.value)) <= 300


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"at": "fabric,fabric"}, "at must name fabric once, not twice"),
        ({"at": []}, "at must not be an empty list"),
        ({"at": "fabric", "port": "default"}, "at and port are one argument: give only at"),
        ({"port": "fabric,fabric"}, "port must name fabric once, not twice"),
    ],
)
def test_places_that_contradict_each_other_are_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(QuestionError, match=why):
        ask.comparison(PORTS, "tail-drop,red", **options)


def test_the_default_of_a_scenario_whose_ports_all_have_sections_is_refused() -> None:
    others = {name: {"buffer": "9 kB"} for name in ("bottleneck.back", "egress", "access.back")}
    own = {**DUMBBELL, "port": {**DUMBBELL["port"], **others}}
    with pytest.raises(QuestionError, match="default must be a class of ports, not empty"):
        place(own, "default")


def test_without_a_place_the_one_with_limited_room_is_chosen() -> None:
    assert [places(each).by_default()[0].name for each in (PORTS, SHARED, DUMBBELL)] == [
        "default",
        "memory.chip",
        "memory.chip",
    ]
    assert places(PORTS).by_default()[1] == []
    hosts = {**PORTS, "port": {"host": {"buffer": "9 packets"}}}
    assert places(hosts).by_default()[0].name == "host"
    assert sections(place(hosts, "all")) == ["port.host"], "ports of hosts, where no other is limited"
    assert sections(place({**SHARED, "port": {**SHARED["port"], **hosts["port"]}}, "all")) == ["memory.chip"]
    classes = {**PORTS, "port": {**PORTS["port"], "fabric": {"buffer": "9 packets"}}}
    found, (told,) = places(classes).by_default()
    assert found.name == "fabric"
    assert told["message"].startswith("fabric is used: of 2 classes of ports with a limited buffer it has the busiest")
    two = {
        **DUMBBELL,
        "port": {"bottleneck": {"memory": "chip"}, "egress": {"memory": "back"}},
        "memory": {**DUMBBELL["memory"], "back": {"size": "1 MB"}},
    }
    found, (told,) = places(two).by_default()
    assert found.name == "memory.chip"
    assert told["code"] == "busiest-port"
    assert "memory.chip is used: of 2 memories it has the busiest port: flows of bottleneck may send" in told["message"]


def ports_of(document: dict[str, Any], found: Place) -> list[dict[str, Any]]:
    """The entries of the ports of a place."""
    return [entry for entry in document["ports"] if entry["name"] in names(found)]


def loss_ratio(document: dict[str, Any], found: Place) -> float:
    """Units that the ports of a place lost, divided by those that came in."""
    entries = ports_of(document, found)
    return sum(sum(port["lost"].values()) for port in entries) / sum(port["units_in"] for port in entries)


@pytest.mark.parametrize("at", ["fabric", "default", "all"])
def test_the_figures_of_a_class_are_sums_over_its_ports(at: str) -> None:
    where = place(PORTS, at)
    result = pushout.compare(PORTS, "as-is,red", at=at, reps=2)
    for policy in result.policies:
        runs = [pushout.run(PORTS, set=policy.choice.sets, seed=seed).document for seed in (1, 2)]
        assert policy.runs["loss_ratio"] == [loss_ratio(run, where) for run in runs]
        held = [sum(port["occupancy_mean"] for port in ports_of(run, where)) for run in runs]
        assert policy.runs["occupancy_mean"] == pytest.approx(held)
        left = [sum(port["units_out"] + port["units_given_up"] for port in ports_of(run, where)) for run in runs]
        delays = [mean * 12e-3 / units for mean, units in zip(held, left, strict=True)]
        assert policy.runs["delay_s"] == pytest.approx(delays)
        over_time = [sum(samples) / len(samples) for samples in policy.occupancy]
        assert over_time == pytest.approx(held, rel=0.05), "the samples are those of all ports"
    assert result.policies[1].runs["loss_ratio"] != result.policies[0].runs["loss_ratio"]
    assert (result.document["at"], result.document["port"], result.document["ports"]) == ([at], None, names(where))
    assert "mean delay in a port" in shown(result)
    assert f"Policies at {at} ({len(where.ports)} ports); losses and occupancy are sums over the ports" in shown(result)
    assert result.plot().axes[-1].get_ylabel() == f"occupancy at {at} (packets)"


def test_ports_that_count_in_different_measures_have_losses_and_no_common_occupancy() -> None:
    own = {**PORTS, "port": {**PORTS["port"], "fabric.back": {"buffer": "8 kB"}}}
    result = pushout.compare(own, "as-is,red", at="all", reps=2)
    run = pushout.run(own).document
    assert result.policies[0].runs["loss_ratio"][0] == loss_ratio(run, result.place)
    assert result.policies[0].mean("occupancy_mean") is None
    assert result.policies[0].mean("delay_s") is None
    assert "occupancy" not in {axes.get_ylabel().partition(" ")[0] for axes in result.plot().axes}


@pytest.mark.parametrize("scenario", [SHARED, DUMBBELL])
def test_the_policies_of_a_memory_are_compared_by_its_figures(scenario: dict[str, Any], tmp_path: Path) -> None:
    policies = ["complete-sharing", {"policy": "dynamic-threshold", "alpha": 0.5}, "occamy", "longest-queue"]
    result = pushout.compare(scenario, [*policies, '{policy="abm"}'], reps=2, out=tmp_path)
    assert [policy.choice.sets for policy in result.policies] == [
        (),
        ('memory.chip.admission={"policy" = "dynamic-threshold", "alpha" = 0.5}',),
        ('memory.chip.admission={"policy" = "occamy"}',),
        ('memory.chip.pushout={"policy" = "longest-queue"}',),
        ('memory.chip.admission={policy="abm"}',),
    ]
    where = result.place
    for policy in result.policies:
        runs = [pushout.run(scenario, set=policy.choice.sets, seed=seed).document for seed in (1, 2)]
        assert policy.runs["loss_ratio"] == [loss_ratio(run, where) for run in runs]
        held = [sum(memory["occupancy_mean"] for memory in run["memories"]) for run in runs]
        assert policy.runs["occupancy_mean"] == pytest.approx(held)
        largest = [[each["occupancy_max"] for each in run["memories"]] for run in runs]
        of_one = [one for (one,) in largest] if len(where.memories) == 1 else [None] * len(largest)
        assert policy.runs["occupancy_max"] == of_one, "the largest of several is not that of all"
        over_time = [sum(samples) / len(samples) for samples in policy.occupancy]
        assert over_time == pytest.approx(held, rel=0.05)
        assert policy.mean("delay_s") is None, "cells of a memory are not the units that leave"
    losses = [tuple(policy.runs["loss_ratio"]) for policy in result.policies]
    assert len(set(losses)) > 2, "policies matter"
    text = shown(result)
    count = len(where.memories)
    held = "the memory" if count == 1 else f"its {count} memories together"
    assert f"losses are sums over the ports of memory.chip, occupancy is that of {held}." in text
    assert "mean occupancy (memory cells)" in text
    assert json.loads((tmp_path / "compare.json").read_text(encoding="utf-8"))["at"] == ["memory.chip"]
    assert (tmp_path / "compare.svg").is_file()


def test_a_factor_that_classes_have_themselves_is_not_compared_in_silence() -> None:
    policies = [{"policy": "dynamic-threshold", "alpha": alpha} for alpha in (1, 8)]
    (told,) = [each for each in ask.comparison("trident-3", policies).warnings if each["code"] == "own-alpha"]
    assert "does not apply to the classes lossy, lossless, which have their own" in told["message"]
    assert not [each for each in ask.comparison(DUMBBELL, policies).warnings if each["code"] == "own-alpha"]


def test_a_push_out_policy_of_a_memory_names_the_admission_that_stays() -> None:
    admission = {"memory.chip.admission": {"policy": "dynamic-threshold"}}
    _, pushing = ask.comparison(DUMBBELL, "as-is,longest-queue", set=admission).choices
    assert pushing.beside.startswith("with the admission dynamic-threshold of memory.chip, which may refuse")
    assert 'memory.chip.admission={"policy" = "complete-sharing"}: without' in pushing.beside
    assert ask.comparison(DUMBBELL, "as-is,longest-queue").choices[1].beside == ""


def test_the_figures_of_a_queue_are_those_of_its_class() -> None:
    result = pushout.compare(DUMBBELL, "as-is,dynamic-threshold", at="memory.chip.queue.rdma", reps=2)
    for policy in result.policies:
        runs = [pushout.run(DUMBBELL, set=policy.choice.sets, seed=seed) for seed in (1, 2)]
        queues = [run['memories.chip.queues."bottleneck/rdma"'] for run in runs]
        assert policy.runs["dropped"] == [queue["dropped"] for queue in queues]
        assert policy.runs["occupancy_mean"] == [queue["occupancy_mean"] for queue in queues]
        assert policy.runs["occupancy_max"] == [queue["occupancy_max"] for queue in queues]
        assert policy.mean("loss_ratio") is None, "a queue does not count what arrives"
    assert "losses and occupancy are sums over the queues of memory.chip.queue.rdma" in shown(result)


def test_a_queue_that_only_drawn_transfers_use_has_no_figures_of_its_own() -> None:
    with pytest.raises(QuestionError, match=r"at memory.chip.queue.bulk must be a class .* choose memory.chip"):
        ask.comparison(SHARED, "as-is,occamy", at="memory.chip.queue.bulk")


def test_packets_that_a_lossless_class_loses_are_a_figure_of_the_memory() -> None:
    sets = {
        "duration": "10 ms",
        "memory.chip.pool.lossless": {"side": "ingress", "size": "300 cells", "headroom": "20 cells"},
        "queue.lossless.pause": {"xoff": "20 kB", "xon": "1 kB"},
    }
    result = pushout.compare(TRIDENT, ["as-is", {"policy": "dynamic-threshold", "alpha": 4}], set=sets, reps=2)
    document = pushout.run(TRIDENT, set=sets).document
    (memory,) = document["memories"]
    lost = sum(queue["dropped"] for queue in memory["queues"] if queue["queue"] == "lossless")
    assert lost > 0
    assert result.policies[0].runs["lossless_drop"][0] == lost
    assert "packets lost of lossless classes" in shown(result)


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ("round-robin", "policies round-robin must be a policy of memories, not a scheduler, which only ports have"),
        (
            '{policy="program", code=["r0 = longest", "choose r0"], end="tail"}',
            "program must be a policy of memories, not a program for pushout",
        ),
        ("epd", "policies epd: .*about one port, not about a memory; a memory takes: complete-sharing"),
    ],
)
def test_a_policy_that_no_memory_has_is_refused(policy: str, why: str) -> None:
    with pytest.raises((QuestionError, pushout.ScenarioError), match=why):
        ask.comparison(DUMBBELL, ["as-is", policy])


def test_a_key_of_the_file_that_no_policy_has_is_refused_with_the_policy() -> None:
    with pytest.raises(pushout.ScenarioError, match=r"(?s)lossy.alpha must stand beside.*the policy complete-sharing"):
        ask.comparison(TRIDENT, "complete-sharing,static-threshold")


def test_alpha_of_classes_is_left_out_for_policies_without_it_and_said() -> None:
    question = ask.comparison(TRIDENT, "as-is,complete-sharing,static-threshold")
    (told,) = [each["message"] for each in question.warnings if each["code"] == "left-out-key"]
    assert told == (
        "the runs of complete-sharing, static-threshold are without queue.lossy.alpha, queue.lossless.alpha, which no "
        "policy of these runs has"
    )
    with_alpha, without, _ = (pushout.explain(TRIDENT, set=choice.sets) for choice in question.choices)
    before = pushout.explain(TRIDENT)["queue"]
    assert [section.get("alpha") for section in with_alpha["queue"].values()] == [8.0, 1.0]
    for name, section in without["queue"].items():
        same = {key: value for key, value in before[name].items() if key != "alpha"}
        assert section == same, "nothing else changes"
    both = ask.comparison(TRIDENT, [{"policy": "dynamic-threshold", "alpha": 4}, "as-is"])
    assert not [each for each in both.warnings if each["code"] == "left-out-key"]


def test_schemes_with_and_without_alpha_are_compared() -> None:
    sets = {"duration": "2 ms", "queue.lossy.alpha": 0.125}
    result = pushout.compare("tomahawk", "as-is,complete-sharing", set=sets, reps=2)
    bound, shared = (policy.mean("loss_ratio") for policy in result.policies)
    assert bound is not None and shared is not None
    assert bound["mean"] > 3 * shared["mean"], "α = 1/8 loses bursts of the lossy class"
    opposite = {**sets, "queue.lossy.opposite": {"pool": "lossless", "alpha": 4.0}}
    (told,) = [
        each["message"]
        for each in ask.comparison("tomahawk", "as-is,complete-sharing", set=opposite).warnings
        if each["code"] == "left-out-key"
    ]
    assert "queue.lossy.alpha, queue.lossy.opposite.alpha, queue.lossless.alpha" in told


def test_the_command_takes_a_place_by_either_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps(DUMBBELL), encoding="utf-8")
    out = ["--reps", "2", "--out", str(tmp_path / "out"), "--json"]
    documents = []
    for option in ("--at", "--port"):
        command("compare", str(file), "--policies", "as-is,occamy", option, "memory.chip", *out)
        documents.append(json.loads(capsys.readouterr().out))
    assert documents[0]["policies"] == documents[1]["policies"]
    command("compare", str(file), "--policies", "as-is,occamy", "--at", "memory.chap", *out, code=3)
    assert 'unknown place "memory.chap"; did you mean "memory.chip"' in capsys.readouterr().err


def test_a_key_of_a_memory_is_sized_for_its_policies(tmp_path: Path) -> None:
    options: Any = {"least": 2, "most": 2, "resolution": 0.5, "out": tmp_path, "at": "memory.chip"}
    figure = 'ports."bottleneck".lost.overflow'
    found = pushout.size(
        DUMBBELL, f"{figure}<=1000", "memory.chip.size", high="4 MB", policies="complete-sharing,occamy", **options
    )
    assert [choice["sets"] for choice in found.document["answers"]] == [
        [],
        ['memory.chip.admission={"policy" = "occamy"}'],
    ]
    assert (found.document["at"], found.document["port"]) == ("memory.chip", None)
    needed = found.answers[0]
    assert needed.value is not None
    assert needed.sizes == {"memory cells": needed.value / 200, "bytes": needed.value}
    small, large = (pushout.run(DUMBBELL, set={"memory.chip.size": f"{size:.0f} bytes"}) for size in needed.span)
    assert small[figure] > 1000 >= large[figure]


def test_the_threshold_of_a_memory_is_sized_with_the_policy_that_has_it() -> None:
    asked = ask.sizing(
        DUMBBELL,
        "goodput_ratio>=0.1",
        "memory.chip.admission.alpha",
        low="0.1",
        high="8",
        policies="dynamic-threshold,abm",
    )
    assert [choice.label for choice in asked.choices] == ["dynamic-threshold", "abm"]
    assert asked.question.sizes(2.0) == {}, "a factor is no size"
    with pytest.raises(
        QuestionError, match=r"chip\.siz has no value in the scenario; did you mean memory\.chip\.size,"
    ):
        ask.sizing(DUMBBELL, "goodput_ratio>=0.1", "memory.chip.siz")


def test_a_class_of_ports_is_sized_even_if_only_the_default_has_a_section() -> None:
    ends: Any = {"low": "10 packets", "high": "90 packets"}
    asked = ask.sizing(PORTS, "goodput_ratio>=0.1", "port.fabric.buffer", policies="tail-drop,red", at="fabric", **ends)
    assert asked.question.place == place(PORTS, "fabric")
    assert asked.choices[1].sets == ('port.fabric.admission={"policy" = "red"}',)
    asked = ask.sizing(PORTS, "goodput_ratio>=0.1", "flows.transport.mss", low="500", high="1400", policies="red")
    assert [choice.sets for choice in asked.choices] == [('port.default.admission={"policy" = "red"}',)]
    assert asked.warnings == []


POLICY = """
from pushout import policy

@policy.admission
def short(x):
    return x.total >= 20
"""


def test_a_program_is_given_to_classes_of_ports_and_to_memories(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "short.py").write_text(POLICY, encoding="utf-8")
    for name, scenario in (("ports", PORTS), ("shared", SHARED)):
        (tmp_path / f"{name}.json").write_text(json.dumps(scenario), encoding="utf-8")
    ports, shared, file = (str(tmp_path / name) for name in ("ports.json", "shared.json", "short.py"))
    command("run", ports, "--policy", f"fabric, fabric.back={file}", "--json")
    lost = {port["name"]: port["lost"] for port in json.loads(capsys.readouterr().out)["ports"]}
    refused = {name for name, reasons in lost.items() if "early" in reasons}
    assert refused
    assert all("spine" in name for name in refused)
    command("run", shared, "--policy", f"memory.chip={file}", "--json")
    held = [memory["occupancy_max"] for memory in json.loads(capsys.readouterr().out)["memories"]]
    assert 20 <= max(held) < 30, "a packet takes up to eight cells"
    command("run", shared, "--policy", f"memory.chip.queue.rdma={file}", code=3)
    told = capsys.readouterr().err
    assert "memory.chip.queue.rdma must be the memory itself, not a class of its queues" in told
    command("run", ports, "--policy", f"all={file}", "--set", "flows.transport.mss=900", "--json")
    lost = {port["name"]: port["lost"] for port in json.loads(capsys.readouterr().out)["ports"]}
    refused = {name for name, reasons in lost.items() if "early" in reasons}
    assert any("->host" in name for name in refused)
    assert refused < set(names(place(PORTS, "all")))
    command("run", shared, "--policy", f"all={file}", "--json")
    assert [memory["occupancy_max"] for memory in json.loads(capsys.readouterr().out)["memories"]] == held
    sweep = tmp_path / "sweep.toml"
    sweep.write_text('scenario = "shared.json"\nfigures = ["ports.*.lost.early"]\n', encoding="utf-8")
    command("sweep", str(sweep), "--policy", f"memory.chip={file}", "--json")
    assert "ports.*.lost.early" in capsys.readouterr().out
    program = read(file)
    everywhere = pushout.run(PORTS, policies={"all": program})
    assert everywhere["ports.*.lost.early"] == pushout.run(PORTS, policies={"default": program})["ports.*.lost.early"]
    design = {"scenario": PORTS, "figures": ["ports.*.lost.early"]}
    found = pushout.sweep(design, policies={"all": program})
    assert found.columns.plain("ports.*.lost.early")[0] == everywhere["ports.*.lost.early"]
    shared_run = pushout.run(SHARED, policies={"memory.chip": program})
    assert [memory["occupancy_max"] for memory in shared_run["memories"]] == held


def texts(figure: Any) -> set[str]:
    """The labels of the curves of a picture, and of its axes."""
    legends = {
        text.get_text() for axes in figure.axes for text in (axes.get_legend() and axes.get_legend().texts) or ()
    }
    return legends | {axes.get_ylabel() for axes in figure.axes}


def test_a_picture_shows_the_places_that_it_is_asked_for() -> None:
    shown = {label for label in texts(pushout.plot(PORTS, what="queue", at="fabric")) if "->" in label}
    assert len(shown) == 3, "the busiest of the class, because more lines cannot be distinguished"
    assert shown < set(names(place(PORTS, "fabric")))
    drawn = texts(pushout.plot(DUMBBELL, at="memory.chip"))
    assert {"memory (cells)", "bottleneck/bulk", "bottleneck/rdma"} <= drawn
    assert "queue (memory cells)" not in drawn
    assert "memory (cells)" in texts(pushout.plot(SHARED, what="memory", at="memory.chip.queue.bulk")), "after the run"
    of_class = texts(pushout.plot(DUMBBELL, what="memory", at="memory.chip.queue.rdma"))
    assert "bottleneck/rdma" in of_class
    assert "bottleneck/bulk" not in of_class
    with pytest.raises(QuestionError, match=r'unknown place "memory.chop"; did you mean "memory.chip"'):
        pushout.plot(DUMBBELL, at="memory.chop")


def test_a_picture_of_a_finished_run_shows_one_of_its_memories() -> None:
    result = pushout.run(SHARED, set={"measure.memories": ["chip"]})
    assert len(result.plot("memory").axes) == 2, "the fullest"
    other = {"access.back": {"memory": "other"}, **DUMBBELL["port"]}
    two = {**DUMBBELL, "port": other, "memory": {**DUMBBELL["memory"], "other": {"size": "1 MB", "cell": "100 bytes"}}}
    result = pushout.run(two, set={"measure.memories": ["chip", "other"]})
    assert len(result.plot("memory").axes) == 2
    drawn = result.plot("memory", at=["memory.chip"])
    assert len(drawn.axes) == 1
    assert "bottleneck/bulk" in texts(drawn)


HOME = {
    **{key: DUMBBELL[key] for key in ("name", "adaptation", "topology")},
    "duration": "300 ms",
    "port": {"bottleneck": {"buffer": "100 packets", "admission": {"policy": "red"}}},
    "flows": {"source": {"kind": "greedy"}, "transport": {"kind": "tcp", "profile": "linux"}},
}


def test_a_discipline_is_compared_in_place_of_admission_and_scheduler() -> None:
    red, codel, discipline = ask.comparison(HOME, "as-is,codel,fq-codel").choices
    assert (red.sets, codel.label) == ((), "codel")
    assert discipline.sets == ('port.bottleneck={"buffer" = "100 packets", "discipline" = "fq-codel"}',)
    result = pushout.compare(HOME, ["as-is", "fq-codel"], reps=2)
    alone = pushout.run(HOME, set={"port.bottleneck": {"buffer": "100 packets", "discipline": "fq-codel"}})
    assert result.policies[1].runs["goodput_ratio"][0] == alone["summary.goodput_ratio"]
    with pytest.raises(QuestionError, match="policies fq-codel must be a policy of memories, not a discipline"):
        ask.comparison(DUMBBELL, "as-is,fq-codel", at="memory.chip")


def test_a_place_without_limit_has_nothing_to_compare() -> None:
    alone = r"at access1 must have a limited buffer: choose bottleneck, or give it one \(port\.access1\.buffer=…\)"
    with pytest.raises(QuestionError, match=alone):
        ask.comparison("lan", "epd,ppd", at="access1")
    whole = (
        r"at access must have a limited buffer, which access1 does not have: .* give it one \(port\.access\.buffer=…\)"
    )
    with pytest.raises(QuestionError, match=whole):
        ask.comparison("lan", "epd,ppd", at="access")


@pytest.mark.parametrize("name", ["flow.call", "call"])
def test_a_flow_is_no_place_and_the_message_leads_to_one(name: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask.comparison("home-uplink", "tail-drop,codel", at=name)
    message = str(caught.value)
    assert message.startswith(
        f"at {name} must be a port, a class of ports or a memory, not a flow: choose the port where"
    )
    assert "as bottleneck" in message
    assert "congestion" not in message, "a call over UDP has none"
    with pytest.raises(
        QuestionError, match=r"to vary its congestion control, sweep flow\.flow1\.transport\.congestion"
    ):
        ask.comparison("home-uplink", "reno,cubic", at="flow1")


def test_a_policy_of_admission_says_that_the_scheduler_stays() -> None:
    fair = {"port.bottleneck.scheduler": {"policy": "fair-queue"}}
    as_is, dropping = ask.comparison("home-uplink", "as-is,codel", set=fair).choices
    assert (as_is.beside, dropping.beside) == (
        "",
        "with the scheduler fair-queue of bottleneck, which divides the line among flows "
        '({admission="codel", scheduler="fifo"}: without)',
    )
    assert (as_is.shown, dropping.label, dropping.shown) == ("as-is", "codel", "codel, in fair-queue")
    alone = ask.comparison("home-uplink", 'as-is,{admission="tail-drop", scheduler="fifo"}', set=fair).choices[1]
    assert alone.sets == (
        'port.bottleneck.admission={"policy" = "tail-drop"}',
        'port.bottleneck.scheduler={"policy" = "fifo"}',
    )
    assert (alone.shown, alone.beside) == ("tail-drop, fifo", "")
    turns = {"port.bottleneck.scheduler": {"policy": "round-robin"}}
    assert [each.beside for each in ask.comparison("home-uplink", "as-is,codel", set=turns).choices] == ["", ""]


def test_several_policies_by_their_kinds_replace_a_discipline() -> None:
    whole = {"port.bottleneck.discipline": "fq-codel"}
    tables = {"admission": {"policy": "codel", "target": "20 ms"}, "scheduler": "fifo"}
    asked = ask.comparison("home-uplink", ["as-is", tables], set=whole)
    (change,) = asked.choices[1].sets
    assert asked.choices[1].label == "codel, target 20 ms, fifo"
    assert "discipline" not in change
    explained = pushout.explain("home-uplink", set=[*(f"{key}={value!r}" for key, value in whole.items()), change])
    port = explained["port"]["bottleneck"]
    assert (port["admission"]["target"], port["scheduler"]["policy"]) == ("20 ms", "fifo")
    with pytest.raises(QuestionError, match=r'policies: unknown policy of scheduler "tail-drop"'):
        ask.comparison("home-uplink", '{scheduler="tail-drop"}')
    with pytest.raises(QuestionError, match="which only ports have"):
        ask.comparison(SHARED, '{admission="tail-drop", scheduler="fifo"}', at="memory.chip")


def test_places_may_be_given_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "home.json"
    file.write_text(json.dumps(HOME), encoding="utf-8")
    limited = ["--set", "port.egress1.buffer=100 packets", "--set", "duration=50 ms"]
    asked = ["--policies", "tail-drop,codel", "--reps", "2", "--json", "--out", str(tmp_path)]
    command("compare", str(file), "--at", "bottleneck", "--port", "egress1", *limited, *asked)
    assert json.loads(capsys.readouterr().out)["at"] == ["bottleneck", "egress1"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("codel", "PLACE=FILE.py, not 'codel'; for a policy of the catalogue use compare --policies codel"),
        ("bottleneck=", "PLACE=FILE.py, not 'bottleneck='\n"),
        ("=own.py", "PLACE=FILE.py, not '=own.py', as in bottleneck=own.py\n"),
        ("own.py", "PLACE=FILE.py, not 'own.py', as in bottleneck=own.py\n"),
    ],
)
def test_a_policy_of_a_run_is_a_file_at_a_place(value: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    command("run", "lan", "--policy", value, code=2)
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    "given",
    [
        {"port.bottleneck.discipline": "fq-codel"},
        {"port.bottleneck": {"buffer": "100 packets", "discipline": "fq-codel"}},
    ],
)
def test_a_policy_takes_the_place_of_a_discipline(given: dict[str, Any]) -> None:
    table = '{policy="codel", target="10 ms"}'
    as_is, dropping, codel = ask.comparison("home-uplink", f"as-is,tail-drop,{table}", set=given).choices
    assert (as_is.sets, dropping.beside) == ((), "")
    short = {**given, "duration": "6 s"}
    result = pushout.compare("home-uplink", ["as-is", "tail-drop"], set=short, reps=2)
    buffer = given.get("port.bottleneck", {}).get("buffer", "1000 packets")
    alone = pushout.run("home-uplink", set={"duration": "6 s", "port.bottleneck.buffer": buffer})
    if "port.bottleneck.discipline" in given:
        assert result["tail-drop"].runs["goodput_ratio"][0] == alone["summary.goodput_ratio"]
    assert 'target="10 ms"' in codel.sets[0]
