"""Policies in Python: what they are translated to, what is refused, and what they do in runs."""

import inspect
import json
import math
import operator
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pushout
from programs import PLAN as PROGRAMS
from pushout import policy
from pushout.cli import main
from pushout.errors import DesignError, PolicyError, QuestionError, ScenarioError
from pushout.policy import conformance, published
from pushout.policy.attributes import ATTRIBUTES
from pushout.policy.conformance import advice
from pushout.schemes import Epd

SHORT = {"duration": "0.5 s", "flows.start_spread": "10 ms"}

EPD = """
from pushout import policy

@policy.admission(params={"threshold": policy.level("80 %")})
def my_epd(x):
    return x.total >= x.threshold
"""


def written(folder: Path, text: str, name: str = "mine.py") -> str:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return str(file)


def body(folder: Path, lines: str, options: str = "", arguments: str = "x, s") -> policy.Program:
    """A policy with these lines, and with state and parameters of every type."""
    indented = "\n".join(f"    {line}" for line in lines.splitlines())
    declared = "params={'a': 3, 'b': 0.5, 'c': True}, state={'n': 0, 'f': 0.0, 't': False}, per_vc={'own_n': 0}"
    head = f"from pushout import policy\nimport math\n\n@policy.admission({declared}{options})\n"
    text = f"{head}def mine({arguments}):\n{indented}\n"
    return policy.read(written(folder, text))


def interpreted(program: policy.Program, arrival: dict[str, Any], state: dict[str, Any]) -> str:
    """Return the answer of the instructions, interpreted a second time, one by one, by the page of the policy."""
    registers: dict[str, Any] = {}
    scopes = {"x": arrival, "params": program["params"], "state": state, "vc": state}

    def value(word: str) -> Any:
        if re.fullmatch(r"r\d+", word):
            return registers[word]
        if word in ("true", "false"):
            return word == "true"
        if word == "draw":
            return arrival["draw"]
        owner, _, name = word.partition(".")
        return scopes[owner][name] if owner in scopes else float(word) if re.search("[.en]", word) else int(word)

    at = 0
    while True:
        words = program["code"][at].split()
        at += 1
        match words:
            case ["accept"] | ["refuse", _] | ["mark", _]:
                return " ".join(words)
            case ["jump", target]:
                at = int(target)
            case ["unless", condition, "jump", target]:
                at = at if value(condition) else int(target)
            case [target, "=", *rest]:
                result = value(rest[0]) if len(rest) == 1 else computed(rest, value)
                owner, _, name = target.partition(".")
                (scopes[owner] if name else registers)[name or target] = result


def computed(words: list[str], value: Callable[[str], Any]) -> Any:
    functions = {
        "neg": lambda a: -a, "not": lambda a: not a, "abs": abs, "int": int, "float": float,
        "sqrt": math.sqrt, "exp": math.exp, "log": math.log, "min": min, "max": max,
    }  # fmt: skip
    if words[0] in functions:
        return functions[words[0]](*map(value, words[1:]))
    left, sign, right = value(words[0]), words[1], value(words[2])
    assert type(left) is type(right), words
    assert sign != "/" or isinstance(left, float)
    assert sign != "**" or isinstance(left, float) or right >= 0, "the simulator has no integer for it"
    return OPERATORS[sign](left, right)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


LINES = [
    "return x.total + 1 > 2 * x.own - 3",
    "return x.total / 4 > x.own // 3",
    "return (x.own - 7) // 3 < (x.own - 7) % 3",
    "return (x.b - 7.5) // 2.0 <= (x.own - 9) % 2.5",
    "return x.own ** 2 > x.total ** 1 and x.b ** 2 < 0.3",
    "return (x.own + 1) ** -2 < x.b - 0.25",
    "mark = x.own > 3\nreturn mark",
    "return 0 < x.own <= x.total < 30",
    "return not (x.fits and x.own > 3) or x.total > 20",
    "return x.own > 3 or x.total / max(x.own, 1) > 2.0 or x.c",
    "a = x.own\nif a > 5:\n    a = a - 5\nelif a > 2:\n    a += 1\nelse:\n    return x.fits\nreturn a > 1",
    "return 'random' if x.draw() < x.b else policy.mark if x.total > 9 else False",
    "s.n = s.n + 1\ns.own_n += 2\nreturn s.n + s.own_n > 4",
    "s.f = (1 - x.b) * s.f + x.b * x.total\nreturn s.f > 4.5",
    "limit = min(x.a, x.own, 4) if x.own > 1 else abs(x.own - 9)\nreturn max(limit, 2.5) > 3",
    "y = sqrt(x.total) + math.exp(-x.b) + log(x.own + 1) + pow(2, x.b)\nreturn int(y) > 5 or float(x.own) > y",
    "s.t = not s.t\nif s.t:\n    pass\nreturn s.t",
    "'a docstring'\nif x.own > 2:\n    return True\nreturn -x.own < -1",
]


@pytest.mark.parametrize("lines", LINES)
def test_the_instructions_give_what_python_gives(tmp_path: Path, lines: str) -> None:
    program = body(tmp_path, lines)
    indented = "\n".join(f"    {line}" for line in lines.splitlines())
    text = f"import math\nfrom math import log, sqrt\nfrom pushout import policy\ndef mine(x, s):\n{indented}\n"
    function = runpy.run_path(written(tmp_path, text, "plain.py"))["mine"]
    rng = np.random.default_rng(sum(lines.encode()))
    for _ in range(200):
        arrival = {
            "total": int(rng.integers(40)), "own": int(rng.integers(12)),
            "fits": rng.random() < 0.7, "draw": rng.random(),
        }  # fmt: skip
        state: dict[str, Any] = {"n": int(rng.integers(3)), "f": 8 * rng.random(), "t": rng.random() < 0.5, "own_n": 0}
        x = SimpleNamespace(**{**arrival, "a": 3, "b": 0.5, "c": True, "draw": lambda drawn=arrival["draw"]: drawn})
        s = SimpleNamespace(**state)
        answer = function(x, s)
        words = {False: "accept", True: "refuse early", "mark": "mark early"}
        assert interpreted(program, arrival, state) == words.get(answer, f"refuse {answer}"), arrival
        assert state == vars(s)


REFUSED = {
    "for i in range(3):\n    pass\nreturn False": "6:5: a loop cannot be translated",
    "while True:\n    pass\nreturn False": "a loop cannot be translated; allowed are assignments",
    "import os\nreturn False": "import cannot be translated",
    "return open('a')": "6:12: this cannot be called; allowed are x.draw() and min",
    "return x.totl > 3": "6:12: unknown attribute totl; did you mean total? (allowed: now,",
    "return x.queue_length > 3": "6:12: unknown attribute queue_length; did you mean total? (allowed: now,",
    "return x.zzz > 3": "6:12: unknown attribute zzz (allowed: now,",
    "return [1]": "this cannot be translated; allowed are numbers",
    "return x.own": "a condition must be a bool, not int",
    "return 'because'": "unknown reason 'because' (allowed: early",
    "return": "return must have a value",
    "x.total = 3\nreturn False": "only names and declared state, s.NAME, can be assigned",
    "s.m = 3\nreturn False": "unknown state m: declare it in state, per_vc or per_queue (declared: n, f, t, own_n)",
    "s.n = 1.5\nreturn False": "this must be int, not float",
    "if x.fits:\n    a = 1\nreturn a > 0": "8:12: a must be assigned on every path before it is read",
    "if x.fits:\n    return True": "every path must end with return",
    "return LIMIT > x.total": "unknown name LIMIT: a value from outside must be a parameter",
    "return x.index > 3": "index needs asks='unit'",
    "return 9223372036854775808 > x.own": "a constant must be True, False, an integer of 64 bits",
    "return 1e999 > x.b": "a constant must be",
    "return x.own ** x.a > 3": "the exponent must be a constant",
    "return x.fits + 1 > 3": "a number is needed, not a bool",
    "return x.own in (1, 2)": "this cannot be compared; allowed are <",
    "a = b = 3\nreturn False": "assign cannot be translated",
    "return min(x.own) > 2": "min must have two values",
    "return abs(x.own, 2) > 2": "abs must have one value",
    "return (lambda: True)()": "this cannot be called",
}


@pytest.mark.parametrize("lines", REFUSED)
def test_what_cannot_be_translated_is_refused_with_its_place_and_what_is_allowed(tmp_path: Path, lines: str) -> None:
    with pytest.raises(PolicyError) as error:
        body(tmp_path, lines)
    assert REFUSED[lines] in str(error.value)
    assert re.match(r"mine\.py:\d+:\d+: ", str(error.value))


def test_a_scheduler_and_push_out_in_python_give_what_the_schemes_of_the_simulator_give() -> None:
    few = {**SHORT, "port.bottleneck.buffer": "400 cells"}
    for name in ("round-robin", "drr"):
        native = {"port.bottleneck.scheduler.policy": name, "port.bottleneck.pushout.policy": "longest-queue"}
        expected = pushout.run("lan", set={**few, **native})
        mine = [published.PUBLISHED[name], published.longest_queue]
        found = pushout.run("lan", policies={"bottleneck": mine}, set=few, audit=True)
        for part in ("summary", "ports"):
            assert found.document[part] == expected.document[part]
        assert not found.document["audit"]["failures"]
        lost = {port["name"]: port["lost"] for port in found.document["ports"]}["bottleneck"]
        assert lost["pushed-out"] > 0


@pytest.mark.parametrize(
    ("kind", "name"), [("scheduler", "round_robin"), ("scheduler", "drr"), ("pushout", "longest_queue")]
)
def test_what_chooses_a_queue_conforms(kind: str, name: str) -> None:
    program = getattr(published, name)
    assert (program.kind, list(conformance.faults(program)), advice(program)) == (kind, [], None)


QUEUES = """from pushout import policy

def came(x, s):
    JOINED

def left(x, s):
    SENT

@policy.scheduler(params={"p": 3}, state={"n": 0}, per_queue={"q": 0, "t": False}, joined=came, sent=left)
def mine(x, s):
    SERVE

@policy.pushout(state={"n": 0}, end="head")
def other(x, s):
    GIVE
"""


def choosing(
    folder: Path, serve: str = "return 0", joined: str = "pass", sent: str = "pass", give: str = "return -1"
) -> tuple[policy.Program, policy.Program]:
    """A scheduler and a push-out policy in one file."""
    text = QUEUES.replace("JOINED", joined).replace("SENT", sent).replace("SERVE", serve).replace("GIVE", give)
    file = written(folder, text)
    return policy.read(f"{file}:mine"), policy.read(f"{file}:other")


def test_a_function_that_chooses_a_queue_is_translated(tmp_path: Path) -> None:
    scheduler, push_out = choosing(
        tmp_path,
        serve="return x.least(s.q) if x.length(1) > 3 else x.next_backlogged(s.n)",
        sent="s.q[x.queue] += x.bytes",
        give="return x.longest()",
    )
    assert scheduler["sent"] == [
        "r0 = x.queue", "r1 = queue.q[r0]", "r2 = x.bytes", "r3 = r1 + r2", "r4 = x.queue", "queue.q[r4] = r3", "end",
    ]  # fmt: skip
    assert scheduler["joined"] == ["end"]
    assert scheduler["code"][1] == "r1 = x.length[r0]"
    assert [line.split(" = ")[1] for line in scheduler["code"] if " = " in line][4:6] == ["least queue.q", "state.n"]
    assert (push_out["code"], push_out["end"]) == (["r0 = longest", "choose r0"], "head")


LINE = {"rate": "100 Mb/s", "delay": "1 ms"}


def test_a_scheduler_serves_classes_if_it_asks_for_them(tmp_path: Path) -> None:
    text = "from pushout import policy\n\n@policy.scheduler(queues='class')\ndef last(x):\n    return x.circuits - 1\n"
    program = policy.read(f"{written(tmp_path, text)}:last")
    assert program["queues"] == "class"
    fast, slow = {**LINE, "rate": "1 Gb/s"}, {**LINE, "rate": "10 Mb/s"}
    scenario = {
        "name": "classes",
        "duration": "0.2 s",
        "adaptation": {"kind": "packet"},
        "topology": {"template": "dumbbell", "sources": 3, "access": fast, "bottleneck": slow, "egress": fast},
        "queue": {"first": {}, "last": {}},
        "port": {"bottleneck": {"buffer": "100 packets", "scheduler": {"policy": "drr", "queues": "class"}}},
        "flows": {"transport": {"kind": "udp"}, "source": {"kind": "cbr", "rate": "6 Mb/s", "size": "1000 bytes"}},
        "flow": [{"name": "flow2", "queue": "last"}, {"name": "flow3", "queue": "last"}],
    }
    heads = text.replace("x.circuits - 1", "x.next_backlogged(0)")
    program = policy.read(f"{written(tmp_path, heads)}:last")
    result = pushout.run(scenario, policies={"bottleneck": program})
    first, *others = (flow["segments_received"] for flow in result.document["flows"])
    assert first < 30 < min(others), "the queue behind the first class goes first as long as it has packets"
    wrong = written(tmp_path, text.replace("'class'", "'clas'"))
    with pytest.raises(PolicyError, match="queues must be circuit or class, not 'clas'"):
        policy.read(f"{wrong}:last")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"serve": "return x.least(3)"}, "11:12: this cannot be asked; allowed are x.length(QUEUE)"),
        ({"serve": "return s.q"}, "11:12: q needs the number of a queue, as in s.q[0]"),
        ({"serve": "return s.n[0]"}, "unknown state of queues n: declare it in per_queue (declared: q, t)"),
        ({"serve": "return s.q[0.5]"}, "the number of a queue must be int, not float"),
        ({"serve": "return x.total"}, "total cannot be seen here (allowed: now, now_ps, circuits, rate)"),
        ({"serve": "return True"}, "the number of a queue must be int, not bool"),
        ({"serve": "return"}, "return must have a value: the number of a queue"),
        ({"serve": "pass"}, "every path must end with return"),
        ({"joined": "s.n = x.longest()"}, "4:11: only the function that chooses a queue can look for one"),
        ({"joined": "s.n = x.octets(0)"}, "octets are seen only by the function that chooses"),
        ({"joined": "return 3"}, "this function decides nothing"),
        ({"give": "return s.n if x.bytes > 3 else 0"}, "bytes cannot be seen here (allowed: now, "),
    ],
)
def test_a_choice_that_cannot_be_translated_is_refused(tmp_path: Path, parts: dict[str, str], message: str) -> None:
    with pytest.raises(PolicyError) as error:
        choosing(tmp_path, **parts)
    assert message in str(error.value)
    assert str(error.value).startswith("mine.py:")


def test_a_scheduler_that_chooses_an_empty_queue_ends_the_run_with_its_file(tmp_path: Path) -> None:
    scheduler, _ = choosing(tmp_path, serve="return 99")
    why = (
        r'^port bottleneck at .* s: mine\.py: the choice of "mine" must be the number of a queue that may send, not 99'
    )
    with pytest.raises(ScenarioError, match=why):
        pushout.run("lan", policies={"bottleneck": scheduler}, set=SHORT)


def test_the_command_line_gives_a_port_policies_of_several_kinds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    choosing(tmp_path)
    file = tmp_path / "mine.py"
    both = ["--policy", f"bottleneck={file}:mine", "--policy", f"bottleneck={file}:other"]
    port = shown(capsys, "explain", "lan", "--json", *both)["port"]["bottleneck"]
    assert [port[kind]["name"] for kind in ("scheduler", "pushout")] == ["mine", "other"]
    turns = {**SHORT, "port.bottleneck.scheduler.policy": "wrr-mcr"}
    answer = pushout.compare("lan", ["epd", published.round_robin, published.longest_queue], set=turns, reps=2)
    assert [each["label"] for each in answer.document["policies"]] == ["epd", "round-robin", "longest-queue"]


HOOKS = """from pushout import policy

def head(x, s):
    HEAD

def update(x, s):
    TICK

@policy.admission(per_queue={"q": 0}, per_vc={"v": 0}, state={"n": 0}, at_head=head, tick=update, every="2 ms")
def mine(x, s):
    return CODE
"""


def hooked(folder: Path, head: str = "return True", tick: str = "s.q += 1", code: str = "False") -> policy.Program:
    """A policy with a function at the head and a clock."""
    text = HOOKS.replace("HEAD", head).replace("TICK", tick).replace("CODE", code)
    return policy.read(written(folder, text))


def test_functions_at_the_head_and_of_a_clock_are_parts_of_the_program(tmp_path: Path) -> None:
    mine = hooked(tmp_path, "return 'mark delay' if x.waited > 0.1 else x.waiting > 3000")
    assert (mine["code"], mine["looks_at"], mine["tick"]["every"]) == (["accept"], "queues", "2 ms")
    assert mine["tick"]["code"] == ["r0 = queue.q", "r1 = 1", "r2 = r0 + r1", "queue.q = r2", "end"]
    assert mine["at_head"][3:6] == ["unless r2 jump 5", "mark delay", "r3 = x.waiting"]
    assert mine["source"]["at_head"]["lines"] == [4] * len(mine["at_head"])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"head": "return x.fits"}, "4:12: fits is a question about units that arrive"),
        ({"head": "return x.index > 1"}, "4:12: index needs asks='unit'"),
        ({"head": "pass"}, "4:5: every path must end with return"),
        ({"tick": "s.q = x.own"}, "7:11: own belongs to a unit, and a clock has none (allowed: now, "),
        ({"tick": "s.v = 3"}, "7:5: v belongs to circuits, and a clock has none"),
        ({"tick": "s.n = 3"}, "7:5: beside per_queue a clock runs once for each queue, so n must be in per_queue"),
        ({"tick": "return s.n > 3"}, "7:5: this function decides nothing"),
        ({"code": "x.waited_ps > 3"}, "11:12: waited_ps is known when a unit has waited"),
    ],
)
def test_a_function_that_looks_at_what_there_is_not_is_refused(
    tmp_path: Path, parts: dict[str, str], message: str
) -> None:
    with pytest.raises(PolicyError) as error:
        hooked(tmp_path, **parts)
    assert f"mine.py:{message}" in str(error.value)


def test_a_clock_needs_its_time(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="tick and every must be given together"):
        policy.read(written(tmp_path, HOOKS.replace(', every="2 ms"', "")))


@pytest.mark.parametrize("name", ["codel", "pie"])
def test_a_published_scheme_in_python_gives_what_the_scheme_of_the_simulator_gives(name: str) -> None:
    key, params = {
        "codel": ("interval", {"target": "1 ms"}),
        "pie": ("update", {"target": "200 us", "burst": "0 s", "alpha": 2.0, "beta": 20.0}),
    }[name]
    scheme = {"policy": name, **params, key: "5 ms"}
    program = published.PUBLISHED[name](**params, **{"every" if key == "update" else key: "5 ms"})
    native = pushout.run("lan", set={**SHORT, "port.bottleneck.admission": scheme})
    mine = pushout.run("lan", policies={"bottleneck": program}, set=SHORT)
    for part in ("summary", "ports"):
        assert mine.document[part] == native.document[part]
    lost = {port["name"]: port["lost"] for port in mine.document["ports"]}["bottleneck"]
    assert lost[{"codel": "delay", "pie": "random"}[name]] > 0


@pytest.mark.parametrize("count", [2000, 20000])
def test_a_deep_or_long_policy_is_refused(tmp_path: Path, count: int) -> None:
    for lines in (f"return {' + '.join(['x.own'] * count)} > 3", "a = 1\n" + "a = a + 1\n" * count + "return a > 3"):
        with pytest.raises(PolicyError):
            body(tmp_path, lines)


def test_the_attributes_are_those_of_the_simulator() -> None:
    (entry,) = (each for each in pushout.policies() if (each["kind"], each["name"]) == ("admission", "program"))
    listed = re.findall(r"^\* (.*?) \(([a-z, ]+)\):", entry["header"], re.MULTILINE)
    kinds: dict[str, str] = {}
    for names, types in listed:
        each = re.findall(r"`(\w+)`", names)
        kinds.update(zip(each, types.split(", ") if ", " in types else [types] * len(each), strict=True))
    assert kinds == ATTRIBUTES


def test_a_policy_in_python_gives_what_the_scheme_of_the_simulator_gives(tmp_path: Path) -> None:
    mine = policy.read(written(tmp_path, EPD))
    expected = pushout.run("lan", set={**SHORT, "port.bottleneck.admission": Epd()})
    result = pushout.run("lan", policies={"bottleneck": mine}, set=SHORT)
    assert result.document["summary"] == expected.document["summary"]
    other = pushout.run("lan", policies={"bottleneck": mine(threshold="20 %")}, set=SHORT)
    assert other.document["summary"] != expected.document["summary"]


def test_a_policy_is_compared_with_others(tmp_path: Path) -> None:
    mine = policy.read(written(tmp_path, EPD))
    answer = pushout.compare("lan", [Epd(), mine, mine(threshold="30 %")], set=SHORT, reps=2).document
    assert [each["label"] for each in answer["policies"]] == [
        "epd",
        "my-epd, threshold 80 %",
        "my-epd, threshold 30 %",
    ]


def test_a_run_in_which_a_policy_divides_by_zero_is_refused_with_the_line(tmp_path: Path) -> None:
    mine = body(tmp_path, "a = x.own - x.own\nreturn x.bytes // a > 3")
    with pytest.raises(
        ScenarioError, match=r"^port bottleneck at .* s: mine\.py:7: a divisor must not be 0: quotient of 53 and 0"
    ):
        pushout.run("lan", policies={"bottleneck": mine}, set=SHORT)


def test_names_and_comments_do_not_identify_a_run_but_constants_do(tmp_path: Path) -> None:
    def computed_runs(text: str, name: str) -> int:
        mine = policy.read(written(tmp_path, text, name))
        design = {"scenario": "lan", "set": SHORT, "grid": {"port.bottleneck.admission": [mine]}, "reps": 1}
        result = pushout.sweep(design, cache=tmp_path / "cache")
        return int(result.document["computed"])

    assert computed_runs(EPD, "mine.py") == 1
    assert computed_runs(EPD.replace("my_epd", "other").replace("    return", "\n    # why\n    return"), "b.py") == 0
    assert computed_runs(EPD.replace("80 %", "70 %"), "mine.py") == 1


def test_the_decorator_needs_no_brackets(tmp_path: Path) -> None:
    full = EPD.replace('params={"threshold": policy.level("80 %")}', "").replace("x.threshold", "5")
    bare = full.replace("admission()", "admission")
    assert bare != full
    code = [policy.read(written(tmp_path, text))["code"] for text in (bare, full)]
    assert code[0] == code[1]


def test_an_override_of_a_parameter_keeps_its_limits(tmp_path: Path) -> None:
    text = EPD.replace('policy.level("80 %")', "policy.number(0.5, low=0, high=1)").replace(">= x", "/ x.capacity >= x")
    mine = policy.read(written(tmp_path, text))
    assert mine["limits"] == {"threshold": {"low": 0, "high": 1}}
    given = {**SHORT, "port.bottleneck.admission.params.threshold": 2}
    with pytest.raises(ScenarioError, match="params: threshold must be at most 1, not 2"):
        pushout.run("lan", policies={"bottleneck": mine}, set=given)


def test_parameters_have_types_and_limits(tmp_path: Path) -> None:
    text = EPD.replace('policy.level("80 %")', "policy.number(0.5, low=0, high=1)").replace(">= x", "/ x.capacity >= x")
    mine = policy.read(written(tmp_path, text))
    assert mine(threshold=0.25)["params"] == {"threshold": 0.25}
    for values, message in ({"threshold": 2}, "at most 1, not 2"), ({"treshold": 1}, "unknown parameter"):
        with pytest.raises(QuestionError, match=message):
            mine(**values)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 3\n", "the file must define a policy"),
        (EPD + EPD.replace("my_epd", "other"), r"name one of its policies, as in .*mine\.py:my_epd"),
        ("def (", r"mine\.py:1:"),
        ("1 // 0\n", "running it raises ZeroDivisionError"),
    ],
)
def test_a_file_without_one_policy_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        policy.read(written(tmp_path, text))


def test_the_command_line_gives_a_port_the_policy_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, EPD)
    given = ["--set", "port.bottleneck.admission.params.threshold=30 %"]
    explained = shown(capsys, "explain", "lan", "--json", "--policy", f"bottleneck={file}", *given)
    (port,) = (entry for name, entry in explained["port"].items() if name == "bottleneck")
    assert port["admission"]["params"] == {"threshold": "30 %"}
    assert port["admission"]["source"] == {"file": "mine.py", "lines": [6] * 6}


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_policies_give_the_same_on_one_thread_and_on_several() -> None:
    one, several = (pushout.sweep(PROGRAMS, jobs=jobs).table.drop_columns(["wall_s"]) for jobs in (1, 3))
    assert one.num_rows == 20
    assert several.equals(one)
    assert len(set(one["goodput_ratio"].to_pylist())) > 10


OCCUPANCY = "ports.bottleneck.occupancy_mean"
SWEEP = """
scenario = "lan"
reps = 2
figures = ["ports.bottleneck.occupancy_mean"]
set = ["duration=0.5 s", "flows.start_spread=10 ms"]
[grid]
"port.bottleneck.admission.KEY" = ["20 %", "90 %"]
"""


def test_a_sweep_gives_a_port_the_policy_of_a_file_and_varies_its_parameters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, plan = written(tmp_path, EPD), written(tmp_path, SWEEP.replace("KEY", "params.threshold"), "sweep.toml")
    out = tmp_path / "out"
    shown(capsys, "sweep", plan, "--policy", f"bottleneck={file}", "--out", str(out), "--json")
    (given,) = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["policies"]
    assert given.startswith("port.bottleneck.admission=")
    mine = pushout.sweep(plan, policies={"bottleneck": policy.read(file)}, cache=out / "cache")
    assert mine.manifest["computed"] == 0
    native = pushout.sweep(written(tmp_path, SWEEP.replace("KEY", "threshold"), "native.toml"))
    for figure in ("goodput_ratio", OCCUPANCY):
        assert list(mine.columns[figure]) == list(native.columns[figure])
    assert len(set(mine.columns[OCCUPANCY])) == 4


def test_a_file_of_a_policy_as_a_value_leads_to_python(tmp_path: Path) -> None:
    text = "scenario = 'w1-packet'\n[grid]\n'flows.transport.congestion' = ['cubic', 'own.py']\n"
    message = r"sweep\.toml:3:\d+: flows\.transport\.congestion must not be a file, as 'own\.py': vary programs with "
    with pytest.raises(DesignError, match=message + r'pushout\.sweep in Python, where a list takes policy\.read\("own'):
        pushout.sweep(written(tmp_path, text, "sweep.toml"))

    @policy.congestion
    def own(x: Any, s: Any) -> None:
        s.window += x.mss

    plan = written(tmp_path, text.replace("own.py", "reno"), "sweep.toml")
    message = "given a control for the same flows: leave out one of them, or vary both in Python"
    with pytest.raises(DesignError, match=message):
        pushout.sweep(plan, policies={"flows": own})
    both = {
        "scenario": "w1-packet",
        "reps": 1,
        "set": ["duration=50 ms"],
        "figures": ["goodput_ratio"],
        "grid": {"flows.transport.congestion": ["cubic", own]},
    }
    assert len(pushout.sweep(both).columns["goodput_ratio"]) == 2


@pytest.mark.parametrize("key", ["port.bottleneck.admission", "port.bottleneck"])
def test_a_sweep_that_would_replace_the_policy_it_is_given_is_refused(tmp_path: Path, key: str) -> None:
    plan = written(tmp_path, f"scenario = \"lan\"\n[axis.a]\nb = ['{key}={{}}']\n", "sweep.toml")
    message = rf"sweep\.toml:3:6: {key} must not be set by a sweep that is given a policy"
    with pytest.raises(DesignError, match=message):
        pushout.sweep(plan, policies={"bottleneck": policy.read(written(tmp_path, EPD))})


def test_a_sweep_names_errors_in_and_beside_a_policy_that_it_is_given(tmp_path: Path) -> None:
    program = policy.read(written(tmp_path, EPD))
    plan = written(tmp_path, SWEEP.replace("KEY", "params.treshold"), "sweep.toml")
    with pytest.raises(ScenarioError, match=r"^policies: port\.bottleneck\.admission=.* did you mean \"threshold\""):
        pushout.sweep(plan, policies={"bottleneck": program})
    plan = written(tmp_path, SWEEP.replace("KEY", "params.threshold"), "sweep.toml")
    with pytest.raises(ScenarioError, match=r"sweep\.toml:7:\d+: grid: .*unknown key \"params\""):
        pushout.sweep(plan, policies={"middle": program})


def test_a_new_policy_passes_its_tests_and_conforms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = shown(capsys, "init", "lab", "--policy", "my_policy", "--json")
    assert given["files"] == ["my_policy.py", "test_my_policy.py"]
    tests = runpy.run_path("lab/test_my_policy.py")
    tests["test_it_conforms"]()
    tests["test_a_lower_threshold_keeps_the_queue_shorter"]()
    checked = shown(capsys, "explain", "--check", "lab/my_policy.py", "--json")
    assert (checked["instructions"], checked["faults"], checked["advice"]) == ("6 (at most 1024)", [], None)


def test_a_policy_that_runs_more_often_than_it_needs_gets_a_warning(tmp_path: Path) -> None:
    by_unit = policy.read(written(tmp_path, EPD.replace("params", "asks='unit', params")))
    assert 'asks="frame" decides once a frame' in str(advice(by_unit))
    looks = EPD.replace("params", "asks='unit', params").replace("x.total >=", "x.is_first and x.total >=")
    assert advice(policy.read(written(tmp_path, looks))) is None


def test_conformance_finds_a_port_whose_books_do_not_balance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = policy.read(written(tmp_path, EPD))
    count = iter(range(100))
    document = {"audit": {"failures": ["units at bottleneck"]}, "summary": 0}
    monkeypatch.setattr(conformance, "_run", lambda *_: {**document, "summary": next(count)})
    found = list(conformance.faults(program))
    assert any("the books do not balance: units at bottleneck" in each for each in found)
    assert any("the engines differ with seed 2" in each for each in found)


@pytest.mark.parametrize("answer", ["x.own == 0 or 1 // x.own > 2", "x.own > 0 and 1 // x.own > 2"])
def test_a_part_behind_the_one_that_decides_is_not_computed(answer: str, tmp_path: Path) -> None:
    mine = policy.read(written(tmp_path, EPD.replace("x.total >= x.threshold", f"not ({answer})")))
    run = pushout.run("lan", policies={"bottleneck": mine}, set={"duration": "20 ms"}, audit=True)
    assert run["ports.bottleneck.units_in"] > 0, "a division by zero would have ended the run"


ENDS = {
    "import sys\nsys.exit(0)": "2: it must not end the program, as sys.exit() does",
    "raise SystemExit": "1: it must not end the program",
    "class End(BaseException): pass\n\nraise End('now')": "3: running it raises End: now",
    "class Mute(Exception):\n    def __str__(self): raise ValueError\nraise Mute": "3: running it raises Mute",
    "def f():\n    return 1 / 0\nf()": "2: running it raises ZeroDivisionError: division by zero",
    "from pushout import policy\n\npolicy.admission(asks='u')": "3: asks must be frame or unit, not 'u'",
    "from pushout import policy\n\npolicy.admission(ask='unit')": (
        '3: policy.admission: unknown argument "ask"; did you mean "asks"?'
    ),
    "x = 1\n  y = 2": "2:2: unexpected indent",
}


@pytest.mark.parametrize("text", ENDS)
def test_a_truncated_file_is_reported_with_its_line(text: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    with pytest.raises(PolicyError, match=re.escape(f"{file}:{ENDS[text]}")):
        policy.read(file)


def test_a_fault_of_a_policy_names_the_option_that_was_typed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, EPD)
    for verb in (["run"], ["explain", "--check"]):
        with pytest.raises(SystemExit):
            main([*verb, "lan", "--policy", f"nowhere={file}"])
        assert capsys.readouterr().err.startswith(f"--policy nowhere={file}: port.nowhere: unknown port")


@pytest.mark.parametrize("name", ["mine", "mine.txt", "a.b"])
def test_a_file_of_any_name_is_named_in_the_message_about_it(name: str, tmp_path: Path) -> None:
    file = written(tmp_path, "", name)
    with pytest.raises(PolicyError, match=rf"^{re.escape(file)}: the file must define a policy"):
        policy.read(file)
    with pytest.raises(PolicyError, match=rf"^{re.escape(file)}: no policy 'other'"):
        policy.read(f"{file}:other")


@pytest.mark.parametrize("decorator", [policy.admission, policy.scheduler, policy.pushout])
def test_a_decorator_shows_its_options_and_refuses_others(decorator: Any) -> None:
    first, *options = inspect.signature(decorator).parameters.values()
    assert (first.name, first.kind, first.default) == ("function", inspect.Parameter.POSITIONAL_ONLY, None)
    assert {"params", "state", "per_queue", "stream", "name"} <= {each.name for each in options}
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in options)
    with pytest.raises(TypeError, match=rf"^{decorator.__name__}\(\) got an unexpected keyword argument 'nme'"):
        decorator(nme="mine")


def test_a_trace_names_state_of_the_port_or_of_queues_in_the_order_of_its_declaration(tmp_path: Path) -> None:
    traced = body(tmp_path, "return False", ", trace={'t', 'n'}", "x")
    assert traced["trace"] == ["n", "t"]
    assert "trace" not in body(tmp_path, "return False", "", "x")
    with pytest.raises(
        PolicyError, match=r"trace must name state of the port or of queues, not 'own_n' \(it has: n, f, t\)"
    ):
        body(tmp_path, "return False", ", trace={'own_n'}", "x")
    report = pushout.run(
        "lan", policies={"bottleneck": traced}, set={**SHORT, "warmup": "0 s", "measure.state": ["bottleneck"]}
    ).replications[0]
    figures = next(port for port in report["ports"] if port["name"] == "bottleneck")["state"]["figures"]
    assert [figure["name"] for figure in figures] == ["n", "t"]
