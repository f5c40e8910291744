"""The worst case of a policy: a second, plain solver, certificates, scenarios on both engines, and the command."""

import json
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import Typed
from pushout.errors import QuestionError, StatesError
from pushout.worst_case.scenario import Timing

Queues = tuple[int, ...]
"""The queues of a side, and behind them the variables of a policy."""
Rule = Callable[[Queues, int], Queues]
State = tuple[Queues, Queues]
Move = tuple[State, int, int]
"""Where a move leads, and what optimum and policy send."""
Moves = dict[State, list[Move]]


def plus(queues: Queues, port: int, packets: int = 1) -> Queues:
    """Return the queues with more packets for a port."""
    return (*queues[:port], queues[port] + packets, *queues[port + 1 :])


def below(memory: int, threshold: Callable[[Queues, int], Fraction | float]) -> Rule:
    """Make a policy that accepts a packet if its queue is below a threshold, and the memory has room."""

    def rule(queues: Queues, port: int) -> Queues:
        takes = sum(queues) < memory and queues[port] < threshold(queues, port)
        return plus(queues, port) if takes else queues

    return rule


def harmonic(memory: int, ports: int) -> Rule:
    """Accept if the k longest queues together then hold at most B (1 + … + 1/k) / H_N, for every k."""
    number = [sum(Fraction(1, k) for k in range(1, most + 1)) for most in range(ports + 1)]

    def rule(queues: Queues, port: int) -> Queues:
        after = plus(queues, port)
        longest = sorted(after, reverse=True)
        limits = (memory * number[k] / number[ports] for k in range(1, ports + 1))
        return after if all(sum(longest[:k]) <= limit for k, limit in enumerate(limits, 1)) else queues

    return rule


def longest_queue(memory: int) -> Rule:
    """Push out of the first longest queue; refuse the packet if its own queue is among the longest with it."""

    def rule(queues: Queues, port: int) -> Queues:
        after = plus(queues, port)
        if sum(after) <= memory:
            return after
        longest = max(after)
        return queues if after[port] == longest else plus(after, after.index(longest), -1)

    return rule


def policies(memory: int, ports: int, draw: random.Random) -> Iterator[tuple[dict[str, Any], Rule]]:
    """Yield policies as tables, and as rules that share no code with the simulator."""
    alpha = Fraction(draw.choice([1, 2, 3, 4, 5, 8, 16]), 4)
    limit = draw.randint(1, memory)
    yield {"policy": "complete-sharing"}, below(memory, lambda queues, port: memory)
    yield (
        {"policy": "dynamic-threshold", "alpha": float(alpha)},
        below(memory, lambda queues, port: alpha * (memory - sum(queues))),
    )
    yield {"policy": "static-threshold", "limit": f"{limit} cells"}, below(memory, lambda queues, port: limit)
    yield {"policy": "harmonic"}, harmonic(memory, ports)
    yield {"policy": "longest-queue"}, longest_queue(memory)


def graph(rule: Rule, memory: int, ports: int, kept: Queues = ()) -> Moves:
    """Map each state that an input reaches to its moves: where it leads, and what optimum and policy send."""
    start = ((0,) * ports + kept, (0,) * ports)
    moves: Moves = {}
    waiting = [start]
    while waiting:
        state = waiting.pop()
        if state in moves:
            continue
        own, other = state
        queues, variables = own[:ports], own[ports:]
        drained = (tuple(max(q - 1, 0) for q in queues) + variables, tuple(max(q - 1, 0) for q in other))
        moves[state] = [(drained, sum(q > 0 for q in other), sum(q > 0 for q in queues))]
        for port in range(ports):
            after = rule(own, port)
            taken = [plus(other, port)] if sum(other) < memory else []
            moves[state] += [((after, held), 0, 0) for held in [*taken, other]]
        waiting += [to for to, _, _ in moves[state]]
    return moves


def solve(rule: Rule, memory: int, ports: int, kept: Queues = ()) -> Fraction | None:
    """Find the largest ratio of a cycle by relaxation; None if it is unbounded. The last values prove the bound.

    `kept` are the initial values of the policy's variables.
    """
    moves, ratio = graph(rule, memory, ports, kept), Fraction(1)
    while larger := exceeding(moves, ratio, memory):
        other, own = larger
        if own == 0:
            return None
        ratio = Fraction(other, own)
    return ratio


def exceeding(moves: Moves, ratio: Fraction, memory: int) -> tuple[int, int] | None:
    """Return what both sides send on a cycle with a larger ratio; None if values show that there is none."""
    value = dict.fromkeys(moves, 0)
    best: dict[State, Move] = {}
    for rounds in count(1):
        changed = False
        for state, choices in moves.items():
            for to, other, own in choices:
                weight = ratio.denominator * other - ratio.numerator * own + value[to]
                if weight > value[state]:
                    value[state], best[state], changed = weight, (to, other, own), True
        if not changed:
            return None
        if rounds % (2 * memory) == 0 and (larger := cycle(best)):
            return larger
    raise AssertionError


def cycle(best: dict[State, Move]) -> tuple[int, int] | None:
    """Return what both sides send on a cycle of best moves, if there is one."""
    seen: dict[State, int] = {}
    for number, start in enumerate(best):
        state, way = start, []
        while state in best and state not in seen:
            seen[state] = number
            way.append(state)
            state = best[state][0]
        if seen.get(state) == number and state in way:
            moves = [best[each] for each in way[way.index(state) :]]
            return sum(other for _, other, _ in moves), sum(own for _, _, own in moves)
    return None


def test_a_second_solver_finds_equal_ratios() -> None:
    draw, cases = random.Random(1), 0  # noqa: S311
    while cases < 200:
        ports = draw.choice([1, 2, 2, 2, 3])
        memory = draw.randint(1, {1: 8, 2: 6, 3: 3}[ports])
        for table, rule in policies(memory, ports, draw):
            result = pushout.worst(table, ports=ports, memory=memory)
            assert result.ratio == solve(rule, memory, ports), (table, ports, memory)
            cases += 1


def played(rule: Rule, slots: list[dict[str, Any]], memory: int, ports: int) -> tuple[int, int]:
    """Play an input with a rule; return what policy and optimum send, and compare all queues."""
    own, other = (0,) * ports, (0,) * ports
    sent = [0, 0]
    for slot in slots:
        for port, takes in slot["arrivals"]:
            own, other = rule(own, port), plus(other, port) if takes else other
        assert sum(other) <= memory, "the optimum has room for what it takes"
        assert (list(own), list(other)) == (slot["policy"], slot["optimum"])
        sent = [sent[0] + sum(q > 0 for q in own), sent[1] + sum(q > 0 for q in other)]
        own, other = (tuple(max(q - 1, 0) for q in queues) for queues in (own, other))
    assert own == other == (0,) * ports, "both sides end with empty queues"
    return sent[0], sent[1]


@pytest.mark.parametrize("memory", [6, 8])
def test_the_input_gives_the_counts_of_the_answer(memory: int) -> None:
    for table, rule in policies(memory, 2, random.Random(memory)):  # noqa: S311
        document = pushout.worst(table, ports=2, memory=memory).document
        counts = document["policy_count"], document["optimum_count"]
        assert played(rule, document["input"], memory, 2) == counts, table


@pytest.mark.parametrize(
    ("policy", "parameters", "memory", "ratio"),
    [
        ("longest-queue", {}, 8, "14/11"),
        ("dynamic-threshold", {"alpha": 2}, 12, "11/7"),
        ("dynamic-threshold", {"alpha": 0.5}, 8, "8/3"),
        ("harmonic", {}, 8, "8/5"),
        ("complete-sharing", {}, 6, "2"),
    ],
)
def test_a_scenario_of_the_input_gives_these_counts_on_both_engines(
    policy: str, parameters: dict[str, Any], memory: int, ratio: str, tmp_path: Path
) -> None:
    result = pushout.worst(policy, ports=2, memory=memory, set=parameters)
    assert result.document["ratio"] == ratio
    verified = result.write(tmp_path / "worst.toml")  # refuses counts that differ from those of the model
    assert verified["delivered"] == [result.document["policy_count"], result.document["optimum_count"]]
    assert Fraction(*reversed(verified["delivered"])) > 1


def test_the_times_of_a_scenario_leave_room_for_every_departure() -> None:
    slot = {"arrivals": [[0, True]] * 500, "policy": [600, 0], "optimum": [1, 0]}
    timing = Timing.of([slot] * 600)
    assert (timing.arrivals, timing.busy) == (500, 600)
    assert timing.is_exact and 500 * 110 < timing.slack_ps < timing.slot_ps / 600
    assert Timing.of([]).slot_ps == 1_000_000


def test_policies_against_each_other_decide_themselves() -> None:
    own = pushout.worst("longest-queue", ports=2, memory=6, against="longest-queue")
    assert own.ratio == 1
    worse = pushout.worst("complete-sharing", ports=2, memory=6, against="longest-queue")
    assert 1 < worse.ratio <= 2  # type: ignore[operator]
    assert worse.document["against"] == "longest-queue"


def test_the_command_prints_ratio_proof_and_slots(typed: Typed, tmp_path: Path) -> None:
    done = typed(tmp_path, "worst", "longest-queue", "--ports", "2", "--memory", "8", "--out", "lqd.toml")
    assert "the worst case against optimum is 14/11 = 1.2727" in done.stdout
    assert "verified: 36 of 42, on both engines" in done.stdout
    assert {file.name for file in tmp_path.iterdir()} == {"lqd.toml", "lqd-optimum.toml", "lqd.csv"}
    grid = typed(tmp_path, "worst", "dynamic-threshold", "--memory", "8", "--grid", "alpha=1/2,1,2", "--json")
    assert [row["ratio"] for row in json.loads(grid.stdout)["rows"]] == ["8/3", "2", "14/9"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["codel"], 'policy: "codel" decides about one port, not about a memory; a memory takes: complete-sharing'),
        (
            ["occamy"],
            "not as occamy does, which depends on a bucket of tokens",
        ),
        (["longest-que"], 'did you mean "longest-queue"'),
        (["mine.py"], "mine.py: no such file; a policy is a file of Python"),
        (["dynamic-threshold", "--set", "alpha=-1"], "alpha must be greater than 0, not -1"),
        (["complete-sharing", "--states", "10"], "--states must be greater than 10"),
        (
            ["complete-sharing", "--ports", "8", "--memory", "999999"],
            "--memory must be smaller for 8 ports or circuits",
        ),
    ],
)
def test_a_question_without_an_answer_is_refused_with_the_reason(
    arguments: list[str], message: str, typed: Typed, tmp_path: Path
) -> None:
    sizes = [] if "--memory" in arguments else ["--memory", "8"]
    done = typed(tmp_path, "worst", *arguments, *sizes)
    assert done.returncode == 3
    assert message in done.stderr
    assert len(done.stderr) < 320


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--memory must be given"),
        (["--memory", "8", "--grid", "ports=two"], "ports must be integers, not 'two'"),
        (["--memory", "8", "--grid", "alpha"], "the value must be KEY=VALUE,VALUE,…, not 'alpha'"),
        (["--memory", "8", "--set", "alpha"], "the value must be KEY=VALUE, not 'alpha'"),
        (["--memory", "8", "--set", "alpha=nan"], "the value must be a finite number, not 'nan'"),
        (["--memory", "8", "--ports", "9"], "9 is not in the range 1<=x<=8"),
        (["--memory", "8", "--grid", "alpha=1", "--out", "x.toml"], "--out writes one input"),
    ],
)
def test_wrong_options_are_refused(arguments: list[str], message: str, typed: Typed, tmp_path: Path) -> None:
    done = typed(tmp_path, "worst", "dynamic-threshold", *arguments)
    assert done.returncode in (2, 3)
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_shortest_input_with_a_ratio_is_a_scenario_too(typed: Typed, tmp_path: Path) -> None:
    result = pushout.worst("longest-queue", ports=2, memory=8, reach=Fraction(6, 5))
    assert Fraction(*reversed(result.write(tmp_path / "short.toml")["delivered"])) >= Fraction(6, 5)
    assert len(result.input) < len(pushout.worst("longest-queue", ports=2, memory=8).input)
    done = typed(tmp_path, "worst", "longest-queue", "--memory", "8", "--reach", "6/5")
    assert f"no input with fewer slots than the {len(result.input)} below reaches 6/5" in done.stdout
    done = typed(tmp_path, "worst", "longest-queue", "--memory", "8", "--reach", "3/2")
    assert "--reach must be at most the worst ratio, 14/11, not 3/2" in done.stderr
    done = typed(tmp_path, "worst", "longest-queue", "--memory", "8", "--reach", "much")
    assert '--reach must be a fraction above 0, as in 5/4, not "much"' in done.stderr


def test_frames_are_lost_for_ever_from_the_cliff_of_early_packet_discard_on(typed: Typed, tmp_path: Path) -> None:
    cells, length, circuits = 8, 3, 2
    cliff = cells - circuits * (length - 2)
    for threshold in range(1, cells + 1):
        table = {"policy": "epd", "threshold": f"{threshold} cells"}
        result = pushout.worst(table, memory=cells, frames=length, circuits=circuits)
        assert (result.ratio is None) == (threshold >= cliff), threshold
    epd = ["worst", "epd", "--set", "threshold=6 cells", "--memory", "8", "--frames", "3", "--circuits", "2"]
    done = typed(tmp_path, *epd)
    assert (
        "a port of 8 cells, 2 circuits with frames of 3 cells: the worst case against optimum is unbounded"
        in done.stdout
    )
    assert "upper bound: none" in done.stdout
    assert "leave out one" in typed(tmp_path, *epd, "--out", "epd.toml").stderr
    refused = typed(tmp_path, "worst", "red", "--memory", "8", "--frames", "3")
    assert "must decide by the occupancy and by frames alone" in refused.stderr


def test_python_raises_what_the_command_prints() -> None:
    with pytest.raises(StatesError, match="states must be greater than 10"):
        pushout.worst("longest-queue", ports=2, memory=8, states=10)
    with pytest.raises(QuestionError, match="memory must be at least 1 packet, not 0"):
        pushout.worst("longest-queue", ports=2, memory=0)
    with pytest.raises(TypeError, match="memory must be an integer"):
        pushout.worst("longest-queue", ports=2, memory=1.5)  # type: ignore[arg-type]


def test_the_result_is_a_table_of_slots() -> None:
    result = pushout.worst("longest-queue", ports=2, memory=4)
    assert list(result.columns) == [
        "slot", "arrivals_0", "arrivals_1", "policy_0", "policy_1", "optimum_0", "optimum_1",
    ]  # fmt: skip
    assert result.columns.rows == len(result.input)
    assert repr(result) == "<WorstResult longest-queue: 6/5>"
    assert result.excess_loss == 1 - 1 / Fraction(6, 5)


def test_a_search_says_what_it_can_need_before_it_begins(typed: Typed, tmp_path: Path) -> None:
    document = pushout.worst("longest-queue", ports=2, memory=8).document
    assert document["states"] <= document["most_states"] == (45 * 45 + 5 * 5) // 2
    assert document["memory_mb"] >= 1
    large = typed(tmp_path, "worst", "complete-sharing", "--memory", "40", "--json")
    found = json.loads(large.stdout)
    megabytes = found["memory_mb"]
    assert large.stderr.startswith(f"note: the search visits at most {found['most_states'] // 1000} ")
    assert f"which take at most {megabytes} MB" in large.stderr
    assert not typed(tmp_path, "worst", "complete-sharing", "--memory", "6").stderr
    refused = typed(tmp_path, "worst", "complete-sharing", "--memory", "40", "--states", "100000")
    assert refused.returncode == 3
    assert f"up to {found['most_states']} states can be reached, which take {megabytes} MB" in refused.stderr


def first_starved(rule: Rule, memory: int, ports: int) -> tuple[int, int] | None:
    """Return the fewest arrivals and slots after which a port is starved, and the states; an exhaustive search."""
    layer, seen = {(0,) * ports}, {(0,) * ports}
    for steps in count(1):
        after = {rule(queues, port) for queues in layer for port in range(ports)}
        if any(not queues[port] and not rule(queues, port)[port] for queues in layer for port in range(ports)):
            return steps, len(seen)
        layer = (after | {tuple(max(q - 1, 0) for q in queues) for queues in layer}) - seen
        if not layer:
            return None
        seen |= layer
    raise AssertionError(memory)


def test_starvation_is_proved_or_refuted_as_by_another_search() -> None:
    answers = set()
    for ports, memory in [(1, 3), (2, 1), (2, 4), (2, 7), (3, 2), (3, 5)]:
        for table, rule in policies(memory, ports, random.Random(memory)):  # noqa: S311
            result = pushout.never(table, "starved", ports=ports, memory=memory)
            found = first_starved(rule, memory, ports)
            answers.add(result.proved)
            assert result.proved == (found is None), (table, ports, memory)
            if found:
                events = [slot["arrivals"] for slot in result.input]
                last = max(number for number, arrivals in enumerate(events) if arrivals)
                assert sum(map(len, events)) + last == found[0], (table, ports, memory)
    assert answers == {True, False}


@pytest.mark.parametrize("event", ["loss", "loss while room", "starved"])
def test_a_counter_example_is_a_scenario_that_loses_as_many_packets(event: str, tmp_path: Path) -> None:
    result = pushout.never("dynamic-threshold", event, ports=3, memory=3, set={"alpha": 2})
    assert not result.proved
    arrivals = sum(len(slot["arrivals"]) for slot in result.input)
    document = result.document
    assert document["policy_count"] + document["lost_count"] == arrivals
    verified = result.write(tmp_path / "never.toml")
    assert verified["delivered"] == [document["policy_count"]]
    report = pushout.run(tmp_path / "never.toml")
    lost = sum(port["units_in"] - port["units_out"] for port in report["ports"] if port["name"].startswith("port"))
    assert lost == document["lost_count"] >= 1


def test_the_command_proves_that_an_event_never_happens_or_shows_it(typed: Typed, tmp_path: Path) -> None:
    done = typed(tmp_path, "worst", "longest-queue", "--ports", "3", "--memory", "6", "--never", "starved")
    assert done.returncode == 0
    assert "longest-queue, 3 ports that share 6 packets: never starved, on no input" in done.stdout
    assert "proved by a visit to all 84 states, verified" in done.stdout
    shared = ["worst", "complete-sharing", "--memory", "2", "--never", "starved"]
    done = typed(tmp_path, *shared, "--out", "starved.toml")
    assert done.returncode == 1
    assert "0 0 (1)" in done.stdout and "2 packets sent, 1 lost" in done.stdout
    assert "verified: 2, on both engines; starved.toml" in done.stdout
    epd = ["worst", "epd", "--set", "threshold=6 cells", "--memory", "8", "--frames", "3", "--never", "broken frame"]
    assert typed(tmp_path, *epd).returncode == 0
    assert typed(tmp_path, *epd, "--circuits", "2").returncode == 1
    assert json.loads(typed(tmp_path, *epd, "--json").stdout)["proved"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--never", "idle while waiting"], "--never must be one of loss, loss while room, starved, not idle"),
        (["--never", "lossless_drop"], "which needs pause, as in"),
        (["--never", "starvd"], 'did you mean "starved"?'),
        (["--never", "loss", "--reach", "2"], "--reach cannot be used with --never"),
        (["--never", "loss", "--grid", "alpha=1"], "--grid cannot be used with --never"),
        (["--never", "starved", "--out", "x.toml"], "no input can be written, since the event never happens"),
        (["--never", "loss", "--states", "10"], "--states must be greater than 10: up to 45 states"),
    ],
)
def test_a_promise_that_cannot_be_asked_about_is_refused(
    arguments: list[str], message: str, typed: Typed, tmp_path: Path
) -> None:
    done = typed(tmp_path, "worst", "dynamic-threshold", "--memory", "8", *arguments)
    assert done.returncode in (2, 3)
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


def test_queues_are_drawn_slot_by_slot(typed: Typed, tmp_path: Path) -> None:
    result = pushout.worst("longest-queue", ports=2, memory=6)
    axes = result.plot().axes
    assert [each.get_title(loc="left") for each in axes] == ["longest-queue", "optimum"]
    heights = [patch.get_data().values for patch in axes[0].patches]
    held = [[slot["policy"][0] for slot in result.input], [sum(slot["policy"]) for slot in result.input]]
    assert [list(map(int, each)) for each in heights] == held
    done = typed(tmp_path, "worst", "complete-sharing", "--memory", "4", "--out", "queues.svg")
    assert done.returncode == 0 and "figure: queues.svg" in done.stderr
    assert "<svg" in (tmp_path / "queues.svg").read_text(encoding="utf-8")
    (tmp_path / "own.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "link.svg").symlink_to("own.txt")
    refused = typed(tmp_path, "worst", "complete-sharing", "--memory", "4", "--out", "link.svg")
    assert refused.returncode == 1 and "link.svg" in refused.stderr and "against optimum" in refused.stdout
    assert (tmp_path / "own.txt").read_text(encoding="utf-8") == "mine", "a link is not followed"
    lost = typed(tmp_path, "worst", "complete-sharing", "--memory", "2", "--never", "starved", "--out", "never.png")
    assert lost.returncode == 1 and (tmp_path / "never.png").is_file()
    proved = typed(tmp_path, "worst", "longest-queue", "--memory", "4", "--never", "starved", "--out", "never.png")
    assert "no input can be drawn, since the event never happens" in proved.stderr


def longest_queue_of(rule: Rule, memory: int, ports: int) -> int:
    """Return the longest queue that an input reaches: an exhaustive search."""
    waiting, seen = [(0,) * ports], {(0,) * ports}
    while waiting:
        queues = waiting.pop()
        after = {rule(queues, port) for port in range(ports)} | {tuple(max(q - 1, 0) for q in queues)}
        waiting += after - seen
        seen |= after
    return max(map(max, seen))


def test_the_longest_delay_is_that_of_another_search(typed: Typed, tmp_path: Path) -> None:
    for ports, memory in [(1, 5), (2, 6), (3, 5)]:
        for table, rule in policies(memory, ports, random.Random(memory)):  # noqa: S311
            result = pushout.longest_delay(table, ports=ports, memory=memory)
            assert result.slots == longest_queue_of(rule, memory, ports), (table, ports, memory)
            last = max(number for number, slot in enumerate(result.input) if slot["arrivals"])
            assert len(result.input) - last == result.slots
    ask = ["worst", "dynamic-threshold", "--memory", "8", "--set", "alpha=1", "--objective", "delay"]
    done = typed(tmp_path, *ask, "--out", "delay.toml")
    assert "no packet waits longer than 4 slots, on any input" in done.stdout
    assert "on both engines; delay.toml" in done.stdout
    assert json.loads(typed(tmp_path, *ask, "--json").stdout)["delay_slots"] == 4
    assert "--reach cannot be used with --objective delay" in typed(tmp_path, *ask, "--reach", "2").stderr


def test_objectives_are_named_or_refused_with_the_reason(typed: Typed, tmp_path: Path) -> None:
    ask = ["worst", "longest-queue", "--memory", "8", "--objective"]
    losses = typed(tmp_path, *ask, "losses").stdout
    assert "losses are in the worst case at most 3 packets more than optimum for 14 that optimum sends" in losses
    unfair = typed(tmp_path, *ask, "unfairness")
    assert unfair.returncode == 3
    assert (
        "--objective must be one of throughput, losses, delay, not unfairness: each port with packets" in unfair.stderr
    )
    assert 'did you mean "losses"?' in typed(tmp_path, *ask, "lossses").stderr


def test_a_search_beyond_the_limit_is_not_a_proof(typed: Typed, tmp_path: Path) -> None:
    exact = pushout.worst("longest-queue", ports=2, memory=20)
    found = pushout.worst("longest-queue", ports=2, memory=20, states=2000, search=True)
    assert exact.proved and not found.proved
    assert 1 < found.ratio <= exact.ratio  # type: ignore[operator]
    assert found.states <= 2000 and found.document["upper"] is None
    verified = found.write(tmp_path / "bad.toml")
    assert verified["delivered"] == [found.document["policy_count"], found.document["optimum_count"]]
    ask = ["worst", "longest-queue", "--memory", "20", "--states", "2000"]
    done = typed(tmp_path, *ask, "--search")
    assert done.returncode == 3
    assert f"the worst case against optimum is at least {found.ratio} = " in done.stdout
    assert "searched, not proved: " in done.stdout and "an input may be worse" in done.stdout
    assert typed(tmp_path, *ask).stdout == ""
