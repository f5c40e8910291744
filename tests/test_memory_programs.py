"""Programs as policies of a memory: equal to schemes on both engines, and to plain rules in the exact worst case."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memory_programs as programs
import pushout
from conftest import Typed
from pushout import policy
from pushout.errors import QuestionError, ScenarioError
from pushout.policy import Program
from pushout.policy.conformance import faults, trials
from test_worst import Queues, Rule, plus, solve

LQD = {"policy": "longest-queue"}

EQUAL: dict[str, tuple[Program, dict[str, Any]]] = {
    "sharing": (programs.sharing, {"policy": "complete-sharing"}),
    "threshold": (programs.threshold(alpha=0.5), {"policy": "dynamic-threshold", "alpha": 0.5}),
    "limited": (programs.limited(limit="40 %"), {"policy": "static-threshold", "limit": "40 %"}),
    "harmonic": (programs.harmonic, {"policy": "harmonic"}),
}
"""Programs, and the schemes that they describe for two queues."""


def scenario(admission: Any, more: dict[str, Any], seed: int) -> dict[str, Any]:
    """A switch whose two ports share a memory, with random traffic that overloads both."""
    packets = {
        "kind": "poisson",
        "rate": "9 Mb/s",
        "size": {"mix": [["100 bytes", 3], ["700 bytes", 2], ["1500 bytes", 1]]},
    }
    return {
        "name": "shared",
        "seed": seed,
        "duration": "0.3 s",
        "warmup": "0 s",
        "node": [
            {"name": "switch", "kind": "router"},
            *({"name": name, "kind": "host"} for name in ("a", "b", "c", "d")),
        ],
        "link": [
            *(
                {"name": f"from-{end}", "from": end, "to": "switch", "rate": "100 Mb/s", "delay": "10 us"}
                for end in ("a", "b")
            ),
            *({"name": f"to-{end}", "from": "switch", "to": end, "rate": "10 Mb/s", "delay": "0 s"} for end in "cd"),
        ],
        "adaptation": {"kind": "packet"},
        "memory": {"chip": {"size": "60 cells", "cell": "200 bytes", "admission": admission, **more}},
        "port": {name: {"memory": "chip"} for name in ("to-c", "to-d")},
        "flow": [
            {"name": f"{start}{end}", "from": start, "to": end, "transport": {"kind": "udp"}, "source": packets}
            for start in "ab"
            for end in "cd"
        ],
    }


def figures(admission: Any, more: dict[str, Any], seed: int, engine: Any) -> dict[str, Any]:
    """The counts of all ports and flows, without what only schemes with thresholds have."""
    document = pushout.run(scenario(admission, more, seed), engine=engine, audit=True).document
    assert not document["audit"]["failures"]
    for memory in document["memories"]:
        for queue in memory["queues"]:
            del queue["threshold_min"]
    return {key: document[key] for key in ("ports", "flows", "memories")}


@pytest.mark.parametrize("name", EQUAL)
@pytest.mark.parametrize("more", [{}, {"pushout": LQD}, {"dt_check": "after"}], ids=["", "pushout", "after"])
def test_a_program_gives_the_results_of_its_scheme_on_both_engines(name: str, more: dict[str, Any]) -> None:
    program, scheme = EQUAL[name]
    if "dt_check" in more and name != "sharing":
        more = {}
    for seed in (1, 2):
        expected = figures(scheme, more, seed, "reference")
        assert sum(port["units_in"] - port["units_out"] for port in expected["ports"]) > 100
        for engine in ("reference", "fast"):
            assert figures(program, more, seed, engine) == expected


def test_clock_and_random_numbers_of_a_program_are_the_run_s() -> None:
    @policy.admission(asks="unit", state={"until": 0.0})
    def at_times(x: Any, s: Any) -> Any:
        if x.now > s.until and x.draw() < 0.3:
            s.until = x.now + 0.001
        return x.now < s.until or (x.rate > 5_000_000 and x.own > 40)

    first = figures(at_times, {}, 1, "reference")
    assert figures(at_times, {}, 1, "fast") == first
    assert figures(at_times, {}, 2, "reference") != first
    assert figures(at_times, {"pushout": LQD}, 1, "reference") == figures(at_times, {"pushout": LQD}, 1, "fast")


def test_a_class_that_pauses_goes_on_after_a_refusal() -> None:
    def paused(admission: Any) -> dict[str, Any]:
        table = scenario(admission, {"pool": {"all": {"side": "ingress"}}}, 1)
        table["queue"] = {"rdma": {"pause": {"xoff": "12 kB", "xon": "1 kB"}}}
        table["memory"]["chip"]["size"] = "400 cells"
        for flow in table["flow"]:
            flow["queue"] = "rdma"
        runs = [pushout.run(table, engine=engine, audit=True).document for engine in ("reference", "fast")]
        assert runs[0]["ports"] == runs[1]["ports"]
        return runs[0]

    run = paused(programs.limited(limit="50 cells"))
    assert sum(port.get("paused_s", 0) for port in run["ports"]) > 0
    assert sum(memory.get("lossless_drop", 0) for memory in run["memories"]) == 0
    assert sum(port["units_out"] for port in run["ports"] if port["name"].startswith("to-")) > 400


def test_a_decision_that_cannot_be_computed_ends_the_run_with_memory_and_line() -> None:
    @policy.admission(asks="unit")
    def divides(x: Any) -> Any:
        return 5 // (x.total % 7) > 2

    with pytest.raises(ScenarioError, match=r"memory chip at 0\.\d+ s: .*test_memory_programs\.py:\d+: a divisor must"):
        pushout.run(scenario(divides, {}, 1))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x.vc > 0", "a memory has queues of its ports"),
        ("x.waiting > 0", "a memory has queues of its ports"),
        ("policy.mark", "a memory accepts or refuses"),
    ],
)
def test_what_a_memory_does_not_have_is_refused_with_the_line(source: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    text = f"from pushout import policy\n\n\n@policy.admission(asks='unit')\ndef mine(x):\n    return {source}\n"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        pushout.run(scenario(policy.read(str(file)), {}, 1))
    assert message in str(caught.value)
    assert "mine.py:6" in str(caught.value)


def test_a_port_refuses_what_only_a_memory_has() -> None:
    with pytest.raises(ScenarioError, match="only schedulers, push-out and the policy of a memory look at queues"):
        pushout.run("w1-packet", policies={"bottleneck": programs.harmonic})
    with pytest.raises(
        QuestionError, match="must be given an admission or push-out policy, not a program for scheduler"
    ):
        pushout.run("chip", policies={"memory.chip": policy.scheduler(_longest)})


def _longest(x: Any) -> Any:
    return x.longest()


def test_programs_are_tried_where_they_can_be() -> None:
    where = {"ports": {"at a port of cells", "at a port of packets"}, "memory": {"in a shared memory"}}
    assert {trial.where for trial in trials(programs.threshold)} == where["ports"] | where["memory"]
    assert {trial.where for trial in trials(programs.protecting)} == where["memory"]
    assert {trial.where for trial in trials(policy.scheduler(_longest))} == where["ports"]
    assert {trial.where for trial in trials(policy.pushout(_longest))} == where["ports"] | where["memory"]
    for program in (programs.protecting, policy.pushout(_longest)):
        assert list(faults(program)) == []


def test_a_push_out_program_gives_the_results_of_its_scheme_on_both_engines() -> None:
    for seed in (1, 2):
        expected = figures({"policy": "complete-sharing"}, {"pushout": LQD}, seed, "reference")
        assert sum(port["lost"].get("pushed-out", 0) for port in expected["ports"] if "lost" in port) > 100
        for engine in ("reference", "fast"):
            own = figures({"policy": "complete-sharing"}, {"pushout": programs.exchanging}, seed, engine)
            assert own == expected


def test_a_second_solver_finds_equal_ratios_of_push_out_programs() -> None:
    draw, ratios = random.Random(8), set()  # noqa: S311
    for _ in range(40):
        ports, memory = draw.choice([(1, 4), (2, 3), (2, 4), (2, 5), (3, 3)])
        values = {"of_longest": draw.randint(0, 3), "of_own": draw.randint(-1, 3), "more": draw.randint(-2, 3)}
        result = pushout.worst(programs.exchanging, ports=ports, memory=memory, set=values)
        expected = solve(exchanging_rule(values, memory), memory, ports)
        assert result.ratio == expected, (values, ports, memory)
        ratios.add(expected)
    assert len(ratios) > 3


def exchanging_rule(values: dict[str, int], memory: int) -> Rule:
    """The rule of `memory_programs.exchanging`: the first packet of each queue is sent and cannot give way."""

    def rule(queues: Queues, port: int) -> Queues:
        if sum(queues) < memory:
            return plus(queues, port)
        waiting = [queue for queue in range(len(queues)) if queues[queue] > 1]
        if not waiting:
            return queues
        longest = max(waiting, key=lambda queue: (queues[queue], -queue))
        gives = values["of_longest"] * queues[longest] > values["of_own"] * queues[port] + values["more"]
        return plus(plus(queues, longest, -1), port) if gives else queues

    return rule


def test_the_worst_input_of_a_push_out_program_is_a_scenario(tmp_path: Path) -> None:
    result = pushout.worst(programs.exchanging, memory=6, set={"of_own": 2})
    verified = result.write(tmp_path / "worst.toml")
    assert verified["delivered"] == [result.document["policy_count"], result.document["optimum_count"]]
    assert result.document["policy"] == "exchanging"
    drop = pushout.worst(programs.exchanging, memory=8, against="longest-queue")
    assert drop.ratio == 1


def drawn_rule(values: dict[str, int], ports: int, memory: int) -> Rule:
    """The rule of `memory_programs.drawn`: behind the queues are the count of each and the queue of the last packet."""

    def rule(state: Queues, port: int) -> Queues:
        queues, counts, last = state[:ports], list(state[ports:-1]), state[-1]
        counts[port] = (counts[port] + 1) % values["modulus"]
        weight = values["of_own"] * queues[port] + values["of_total"] * sum(queues) + values["of_seen"] * counts[port]
        weight += values["of_repeat"] if last == port else 0
        longest = queues.index(max(queues)) if any(queues) else -1
        weight += values["of_longest"] if longest == port else 0
        takes = weight < values["limit"] and sum(queues) < memory
        return (*(plus(queues, port) if takes else queues), *counts, port)

    return rule


def cases(count: int) -> Iterator[tuple[dict[str, int], int, int]]:
    """Draw parameters of the rule with ports and memory."""
    draw = random.Random(7)  # noqa: S311
    for _ in range(count):
        ports, memory = draw.choice([(1, 4), (2, 2), (2, 3), (2, 4), (3, 2)])
        names = ("of_own", "of_total", "of_seen", "of_repeat", "of_longest")
        values = {name: draw.randint(-1, 2) for name in names}
        yield {**values, "limit": draw.randint(0, 6), "modulus": draw.choice([1, 2, 3])}, ports, memory


def test_a_second_solver_finds_equal_ratios_of_programs_with_variables() -> None:
    ratios = set()
    for values, ports, memory in cases(60):
        result = pushout.worst(programs.drawn, ports=ports, memory=memory, set=values)
        rule = drawn_rule(values, ports, memory)
        expected = solve(rule, memory, ports, kept=(0,) * (ports + 1))
        assert result.ratio == expected, (values, ports, memory)
        ratios.add(expected)
    assert len(ratios) > 5


@pytest.mark.parametrize("name", EQUAL)
def test_the_worst_case_of_a_program_is_that_of_its_scheme(name: str, tmp_path: Path) -> None:
    program, scheme = EQUAL[name]
    for memory in (5, 8):
        own, other = (pushout.worst(policy, ports=2, memory=memory) for policy in (program, scheme))
        assert (own.ratio, own.states, own.input) == (other.ratio, other.states, other.input)
        for event in ("starved", "loss while room"):
            promises = [pushout.never(each, event, ports=2, memory=memory) for each in (program, scheme)]
            assert promises[0].proved == promises[1].proved
    verified = pushout.worst(program, ports=2, memory=6).write(tmp_path / "worst.toml")
    assert verified["delivered"][0] <= verified["delivered"][1]


def test_a_program_with_variables_is_a_scenario_that_delivers_as_its_model(tmp_path: Path) -> None:
    values = {"of_own": 1, "of_total": 1, "of_seen": 2, "of_repeat": -1, "of_longest": 1, "limit": 6, "modulus": 3}
    result = pushout.worst(programs.drawn, ports=2, memory=5, set=values)
    verified = result.write(tmp_path / "worst.toml")
    assert verified["delivered"] == [result.document["policy_count"], result.document["optimum_count"]]
    assert result.document["policy"] == "drawn"
    against = pushout.worst("longest-queue", memory=5, against=programs.drawn)
    assert against.ratio is not None


@policy.admission(asks="frame", params={"threshold": policy.level("80 %")})
def early(x: Any) -> Any:
    return x.total >= x.threshold


def test_a_program_of_a_port_is_asked_about_frames_as_its_scheme() -> None:
    for threshold in ("4 cells", "6 cells"):
        epd = {"policy": "epd", "threshold": threshold}
        own, other = (pushout.worst(each, memory=8, frames=3, circuits=2) for each in (early(threshold=threshold), epd))
        assert (own.ratio, own.states) == (other.ratio, other.states)
        assert own.document["policy"] == "early"
        promises = [
            pushout.never(each, "broken frame", memory=8, frames=3, circuits=2)
            for each in (early(threshold=threshold), epd)
        ]
        assert promises[0].proved == promises[1].proved


MINE = """
from pushout import policy


@policy.admission(asks="unit", params={"alpha": 2.0})
def mine(x):
    return x.own >= x.alpha * (x.capacity - x.total)


@policy.admission(asks="unit", state={"count": 0})
def grows(x, s):
    s.count += 1
    return s.count > 5


@policy.admission(asks="unit", state={"mean": 0.0})
def smooth(x, s):
    s.mean = 0.9 * s.mean + 0.1 * x.total
    return s.mean > 3


@policy.admission(asks="unit")
def by_chance(x):
    return x.draw() < 0.5


@policy.admission(asks="unit")
def divides(x):
    return 5 // x.own > 2


@policy.pushout
def longest(x):
    return x.longest()


@policy.pushout(state={"count": 0})
def counts(x, s):
    s.count += 1
    return x.longest()


@policy.scheduler
def serves(x):
    return x.next_backlogged(0)
"""


def test_the_commands_take_a_file(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    done = typed(tmp_path, "worst", "mine.py:mine", "--memory", "8")
    assert "mine, 2 ports that share 8 packets: the worst case against optimum is 14/9 = 1.5556" in done.stdout
    one = typed(tmp_path, "worst", "mine.py:mine", "--memory", "8", "--set", "alpha=1", "--out", "mine.toml")
    assert "the worst case against optimum is 2" in one.stdout and "on both engines" in one.stdout
    pushes = typed(tmp_path, "worst", "mine.py:longest", "--memory", "8")
    assert "longest, 2 ports that share 8 packets: the worst case against optimum is" in pushes.stdout
    never = typed(tmp_path, "worst", "mine.py:mine", "--memory", "8", "--never", "starved")
    assert "mine, 2 ports that share 8 packets: never starved, on no input" in never.stdout


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("grows", "policy must keep variables with few values: with the lengths of 2 queues they have more than"),
        ("smooth", "as smooth does, which depends on mean, a variable with a value of type float"),
        ("by_chance", "as by-chance does, which depends on x.draw(), a random number"),
        ("divides", "policy must decide about a packet for queues of 0 0: mine.py:29: a divisor must not be 0"),
        ("serves", "policy must be an admission or push-out policy, not a program for scheduler"),
        ("counts", "state must be left out in a memory, which may ask more than once before it removes anything"),
        ("other", "no policy 'other'"),
    ],
)
def test_a_program_without_an_answer_is_refused_with_the_reason(
    name: str, message: str, typed: Typed, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    done = typed(tmp_path, "worst", f"mine.py:{name}", "--memory", "8")
    assert done.returncode == 3
    assert message in done.stderr
