"""Hostile input for the command line: seeded cases of every kind, and a process that runs them.

A case is the arguments of a command, the files that it finds, and what its message has to name. As a script it runs a
range of cases, each in a folder of its own, and prints a line of JSON before and after each; a crash, a hang or a panic
ends it, and the report names the case.
"""

import contextlib
import faulthandler
import io
import json
import os
import random
import re
import resource
import string
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

MEMORY = 2 * 2**30
"""Bytes that a case may need."""

HANG_S = 60
"""A case that takes longer is a hang."""

SCENARIO = """\
name = "hostile"
title = "Two sources"
seed = 3
duration = "2 ms"
warmup = "0 s"

[topology]
template = "dumbbell"
sources = 2
access     = { rate = "149.76 Mb/s", delay = "10 us" }
bottleneck = { rate = "149.76 Mb/s", delay = "10 us" }
egress     = { rate = "149.76 Mb/s", delay = "10 us" }

[adaptation]
kind = "aal5"

[port.bottleneck]
buffer = "100 cells"
admission = { policy = "epd", threshold = "90 %" }
scheduler = { policy = "fifo" }

[flows]
source = { kind = "file", size = "5 kB" }
transport = { kind = "tcp", congestion = "reno", mss = 1460 }
"""

SWEEP = """\
name = "hostile-sweep"
title = "Two sizes"
scenario = "s.toml"
seed = 1
reps = 2
engine = "fast"
figures = ["flows.*.goodput_bps"]
set = ["duration=1 ms"]

[grid]
port.bottleneck.buffer = ["50 cells", "100 cells"]

[axis.policy]
ppd = ["port.bottleneck.admission={policy='ppd'}"]

[[zip]]
flows.transport.mss = [1460, 512]

[random]
points = 2
seed = 1
method = "uniform"

[random.keys]
flows.start = { from = 1, to = 9, unit = "us" }
"""

TEXTS = [
    *["", " ", "\t", "-", "--", "=", "==", "'", '"', "\\", "{", "}", "[", "]", "{{", "[[", "#", ",", ",,,", ".", ".."],
    *["/", "*", "**", "?", "%s%n", "%00", "${HOME}", "$(id)", "`id`", "~", "&&", "|", ";", "<b>", "null", "None"],
    *["nan", "inf", "-inf", "NaN", "Infinity", "1e400", "-1e400", "1e-400", "5e-324", "0", "-0", "-1", "+1", "00"],
    *["1.", ".5", "1_0", "1,5", "1 000", "0x10", "0b1", "1e5", "2147483648", "9223372036854775808"],
    *["18446744073709551615", "18446744073709551616", "9" * 400, "9" * 10_000, "-" + "9" * 50, "0." + "0" * 400 + "1"],
    *["٣", "\uff11", "²", "½", "Ⅷ", "১ ms", "x" * 300, "x" * 10_000, "é" * 5_000, "a." * 30_000, '"' * 999, "'" * 1001],
    *["a\u0301", "👩\u200d🔬", "\U0010ffff", "\ufffd", "ﬁ", "İ", "ß", "\u200b", "\u00a0", "\u3000", "\u2028", "\ufeff"],
    *["\x00", "\x07", "\x08", "\x1b[2J", "\x1b]0;x\x07", "\x7f", "\x9b31m", "\u202ex", "\u2066x", "\r\n", "a\nb"],
    *["true", "[]", "{}", "[1, 2]", "{a = 1}", "{a={a={a=1}}}", "[" * 100, "{a=" * 100, "[" * 5_000, "'a' = 1"],
    *["50\u00a0ms", "0 s", "-1 s", "1 ms" * 1_000, "99999999999 s", "1 S", "1e3 s", "ms", "1 parsec", "1s1s"],
    *["100 %", "101 %", "-5 %", "nan %", "% 5", "0 cells", "-1 cells", "1.5 cells", "99999999999999999999 cells"],
    *["0 b/s", "1 kb", "1e300 b/s", "0 bytes", "1 packets", "unlimited", "UNLIMITED", "unlimited cells", "7 %%"],
    *[
        "epd",
        "EPD",
        "edp",
        "as-is",
        "as-is,as-is",
        "epd,epd",
        "epd,",
        '{policy="epd"}',
        '{policy="edp"}',
        "{policy=epd}",
    ],
    *['{policy="epd", x=1}', '{policy="epd"', '{policy=""}', '{policy="\\u001b[2J"}', '{kind="tcp"}', '{kind=["tcp"]}'],
    *["1; DROP TABLE run", "../../../etc/passwd", "file:///etc/passwd", "s3://KEY:SECRET@", "http://u:SECRET@h/x"],
    *["A" * 65_000, "💥" * 2_000, "\udcff", "\ud800", "a=b=c", "max x", "x>=", ">=1", "x>=nan", "goodput_ratio>=1e999"],
]
"""What stands where something else is meant; all are refused at once, or run at once."""

KEYS = [
    *["name", "title", "seed", "duration", "warmup", "sample", "engine", "topology", "topology.template"],
    *["topology.access", "topology.access.rate", "topology.bottleneck.delay", "topology.egress.rate", "adaptation"],
    *["adaptation.kind", "adaptation.llc_snap", "port", "port.bottleneck", "port.bottleneck.buffer"],
    *["port.bottleneck.admission", "port.bottleneck.admission.policy", "port.bottleneck.admission.threshold"],
    *["port.bottleneck.scheduler", "port.bottleneck.pushout", "port.bottleneck.credit", "port.default.buffer"],
    *["flows", "flows.start", "flows.start_spread", "flows.source", "flows.source.kind", "flows.source.size"],
    *["flows.source.off", "flows.transport", "flows.transport.kind", "flows.transport.congestion"],
    *[
        "flows.transport.window",
        "flows.transport.min_rto",
        "flows.weight",
        "flows.mcr",
        "flows.priority",
        "flows.class",
    ],
    *["flows.police", "flows.pvc", "node", "link", "flow", "flow.flow1.class", "flow.flow1.name", "flow.0.from"],
    *["link.bottleneck.rate", "link.bottleneck.class", "node.0.name", "measure", "measure.window", "measure.reference"],
    *["measure.occupancy", "measure.meter", "measure.fairness", 'port."a.b".buffer', "x", "x.y.z", '"\x1b[2J"'],
]

SWEEP_KEYS = [
    *["name", "title", "scenario", "seed", "engine", "figures", "set", "grid", "axis", "zip", "random", "warmup"],
    *["reps", "reps.precision", "warmup.method", "warmup.figure", "grid.x", "grid.duration", "axis.x", "axis.x.y"],
    *["random.points", "random.keys", "random.keys.duration", "random.method", "random.keys.flows.start.from", "x"],
]

TOKENS = ["[", "]", "{", "}", "=", ".", ",", '"', "'", '"""', "\n", "#", "\\", "\\u0000", "\x00", "\x1b", "é", "1e999"]
TOKENS += ["[[a]]\n", "a.b.c = 1\n", "[a]\n[a]\n", "\ufeff", "null", "-", "9" * 30, "\r", "/*", "//", "a = {b = {}}\n"]


@dataclass(frozen=True)
class Case:
    """A command, the files that it finds, and what its message has to name at least one of."""

    arguments: list[str]
    places: list[str]
    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    """Files that are links to these places, or a FIFO."""


def case(number: int, seed: int) -> Case:
    """The case of this number."""
    from hostile_surfaces import SURFACES

    stream = random.Random(f"{seed}/{number}")  # noqa: S311
    kinds = [*KINDS, *SURFACES]
    return kinds[number % len(kinds)](stream)


def policy_case(number: int, seed: int) -> Case:
    """The policy in Python of this number."""
    return _policy(random.Random(f"policy/{seed}/{number}"))  # noqa: S311


def _files(**others: bytes) -> dict[str, bytes]:
    return {"s.toml": SCENARIO.encode(), "w.toml": SWEEP.encode(), **others}


# --- options


def _option(stream: random.Random) -> Case:
    """A hostile value of an option of any command."""
    verb, known = stream.choice(OPTIONS)
    option = stream.choice(known)
    base = NEEDED.get(verb, [])
    if option in base:
        base = [word for pair in zip(base[::2], base[1::2], strict=True) if pair[0] != option for word in pair]
    value = stream.choice(TEXTS).replace("\x00", "\x01")  # no argument of a process has a NUL
    if option in COUNTED and re.fullmatch(r"\s*[+]?[0-9_]{2,}\s*", value, re.ASCII):
        value = "-" + value.strip()  # a count that is right may take long
    argument = {"sweep": "w.toml", "reproduce": "999"}.get(verb, "s.toml")
    given = [f"{option}={value}"] if stream.random() < 0.5 else [option, value]
    names = [
        "argument",
        option,
        option.strip("-"),
        {"--from": "low", "--to": "high"}.get(option, option),
        value[:10],
        "port",
    ]
    return Case([verb, argument, *base, *given], [*names, argument, BUFFER, "goodput"], _files())


BUFFER = "port.bottleneck.buffer"
NEEDED = {"compare": ["--policies", "epd,ppd"], "size": ["--goal", "fairness_jain>=2", "--over", BUFFER]}
"""Options that a command must have."""

COUNTED = ("--reps", "--jobs", "--least", "--most")
OPTIONS = [
    ("run", ["--set", "--seed", "--reps", "--engine", "--trace", "--trace-ports"]),
    ("explain", ["--set"]),
    ("compare", ["--policies", "--port", "--set", "--seed", "--reps", "--engine", "--figures", "--jobs"]),
    ("size", ["--goal", "--over", "--from", "--to", "--policies", "--port", "--set", "--seed", "--least", "--most"]),
    ("size", ["--resolution", "--search", "--engine", "--jobs"]),
    ("sweep", ["--jobs", "--shard"]),
    ("reproduce", ["--reps"]),
    ("bench", ["--reps", "--workloads", "--peers"]),
    ("init", ["--scenario", "--policy"]),
]


def _argument(stream: random.Random) -> Case:
    """A hostile text in place of a file or a name."""
    verb = stream.choice(
        [
            *("run", "explain --check", "explain", "sweep", "reproduce", "list schemes", "list scenarios", *NEEDED),
            *("switch headroom", "switch predict", "switch explain", "init x --cell 208 --sonic", "import"),
        ]
    )
    text = stream.choice(TEXTS).replace("\x00", "\x01") or "empty"
    if verb == "reproduce" and text.isdigit():
        text = f"-{text}"  # the beginning of the ids of studies, which take long
    escapes = ["\\x", "\\u", "\\U", "\\n", "\\r", "\\t", "***@"]
    names = [text[:8], *escapes, "name", "study", "scenario", "path", "empty", ":/"]
    between = [] if verb.endswith("--sonic") else [*NEEDED.get(verb, []), "--"]
    return Case([*verb.split(), *between, text], names, _files())


def _unknown_word(stream: random.Random) -> Case:
    """Options that are not there, and arguments that are too many."""
    verb = stream.choice([verb for verb, _ in OPTIONS])
    word = "--" + "".join(stream.choices(string.ascii_lowercase, k=stream.choice([1, 8, 5_000])))
    words = stream.choice([[word], [f"{word}={stream.choice(TEXTS)}".replace("\x00", "")], ["s.toml"] * 50, ["--set"]])
    return Case([verb, "s.toml", *words], ["option", "argument", "--set", "--out", "999", "s.toml", "DIR"], _files())


# --- overrides


def _override(stream: random.Random) -> Case:
    """A key of the scenario with a hostile value."""
    key, value = stream.choice(KEYS), stream.choice(TEXTS).replace("\x00", "\x01")
    verb, more = stream.choice(COMMANDS)
    value = stream.choice([value, json.dumps(value), f"[{json.dumps(value)}]", f"{{kind = {json.dumps(value)}}}"])
    return Case([verb, "s.toml", *more, "--set", f"{key}={value}"], ["--set", "s.toml"], _files())


def _hostile_key(stream: random.Random) -> Case:
    """A key that is none: deep, long, empty, quoted."""
    verb, more = stream.choice(COMMANDS)
    names = stream.choice([2, 64, 65, 80, 1_000, 30_000])
    deep = ".".join([stream.choice(["a", "flow", "0", '"a.b"', "port"])] * names)
    key = stream.choice(
        [deep, stream.choice(TEXTS).replace("\x00", ""), f"port.{deep}", f"flow.{deep}", f"link.0.{deep}"]
    )
    return Case([verb, "s.toml", *more, "--set", f"{key}=1"], ["--set", "s.toml"], _files())


def _several(stream: random.Random) -> Case:
    """Several overrides that go over one another."""
    sets = []
    for _ in range(stream.choice([2, 5, 40])):
        key = ".".join(stream.choice(KEYS).split(".")[: stream.choice([1, 2, 3])])
        sets += ["--set", f"{key}.{stream.choice(['x', '0', '-1', 'kind', 'policy'])}={stream.choice(TEXTS[:60])}"]
    verb, more = stream.choice(COMMANDS)
    return Case([verb, "s.toml", *more, *(word.replace("\x00", "") for word in sets)], ["--set", "s.toml"], _files())


POLICY = """from pushout import policy

def head(x, s):
    s.q = s.q + x.waiting
    return "delay" if x.waited > 0.5 else False

def update(x, s):
    s.q = s.q // 2

@policy.admission(asks="unit", params={"w": policy.number(0.1)}, state={"avg": 0.0, "n": 0}, per_queue={"q": 0},
                  at_head=head, tick=update, every="5 ms")
def mine(x, s):
    s.n = s.n + 1
    s.avg = (1 - x.w) * s.avg + x.w * x.total
    if x.own > 3 and s.avg / max(x.active, 1) > 2.0 or x.draw() < 0.01:
        return "random"
    return x.total >= x.capacity // 2
"""
CHOOSING = """from pushout import policy

def sent(x, s):
    s.q[x.queue] = s.q[x.queue] + x.bytes

@policy.scheduler(params={"w": policy.number(0.1)}, state={"n": 0}, per_queue={"q": 0}, sent=sent)
def mine(x, s):
    s.n = x.next_backlogged(s.n)
    if x.length(s.n) > 3 and x.octets(s.n) < 500:
        return s.n
    return x.least(s.q) if x.draw() < 0.5 else x.longest()
"""
EXPRESSIONS = [
    *[
        "1 // (x.own - x.own)",
        "1.0 / (x.own - x.own)",
        "x.own ** 100000",
        "2 ** 99 * 2 ** 99",
        "9 ** 99",
        "x",
        "s",
        "s.x",
    ],
    *[
        "1e999",
        "-1e308 * 10",
        "log(x.own - x.own)",
        "sqrt(-1.0 - x.own)",
        "float('nan')",
        "0.0 ** -1",
        "x.draw",
        "x.a.b",
    ],
    *[
        "mine(x, s)",
        "mine",
        "policy",
        "__import__('os')",
        "[x for x in x]",
        "lambda: 0",
        "(y := 3)",
        "await x",
        "f'{x}'",
    ],
    *[
        "True",
        "None",
        "...",
        "'a'",
        "b'a'",
        "3j",
        "9223372036854775807 + x.own",
        "not x",
        "x and s",
        "x.own if x else 0",
    ],
    *[
        "+".join(["x.own"] * 3_000),
        "(" * 60 + "x.own" + ")" * 60,
        "-" * 2_000 + "x.own",
        "min()",
        "max(*x)",
        "abs(x=1)",
    ],
]


def _policy(stream: random.Random) -> Case:
    """A policy in Python with a hostile expression, statement or text."""
    text, value = stream.choice([POLICY, POLICY, CHOOSING]), stream.choice(EXPRESSIONS)
    parts = [
        "x.total",
        "1 - x.w",
        "x.own",
        "2.0",
        "s.n + 1",
        "x.capacity // 2",
        '"random"',
        "0.01",
        "0.1",
        "0.0",
        "x.waiting",
        "0.5",
        "2",
    ]
    for _ in range(stream.choice([1, 1, 2])):
        text = text.replace(stream.choice(parts), value)
    lines = text.splitlines()
    if stream.random() < 0.4:
        statements = [
            "while x: pass",
            "del s",
            "global x",
            "s.n += 1.5",
            "x = 3",
            "s = x",
            "return",
            "y = 1; y = 1.0",
            "def",
        ]
        lines.insert(
            stream.randrange(7, len(lines) + 1), f"    {stream.choice([*statements, 'a = 1' + '; a = a' * 2_000])}"
        )
    data = "\n".join(lines).encode()
    if stream.random() < 0.1:
        data = bytes(octet ^ (stream.random() < 0.01) for octet in data)
    given = stream.choice(["bottleneck=p.py"] * 9 + ["p.py", "=p.py", "nowhere=p.py", "bottleneck=p.py:other"])
    return Case(
        ["run", "s.toml", "--policy", given], ["p.py", "policy", "nowhere", "bottleneck"], _files(**{"p.py": data})
    )


FEW = ["--least", "2", "--most", "2"]
COMMANDS = [
    ("explain", ["--check"]),
    ("explain", []),
    ("explain", ["--json"]),
    ("run", []),
    ("run", ["--json"]),
    ("compare", ["--policies", "epd,ppd", "--reps", "2"]),
    ("size", ["--goal", "fairness_jain>=2", "--over", BUFFER, "--from", "10 cells", "--to", "12 cells", *FEW]),
]


# --- files


def _spoilt(stream: random.Random) -> Case:
    """A scenario or a sweep, spoilt in a few places."""
    sweep = stream.random() < 0.4
    text = SWEEP if sweep else SCENARIO
    for _ in range(stream.choice([1, 1, 2, 5])):
        place = stream.randrange(len(text))
        length = stream.choice([0, 0, 1, 5, 50])
        text = text[:place] + stream.choice([*TOKENS, *TEXTS[:80]]) + text[place + length :]
    data = _without_large(text).encode("utf-8", "surrogateescape" if stream.random() < 0.5 else "replace")
    if stream.random() < 0.2:
        data = data[: stream.randrange(len(data))]
    return _of_file(stream, "x.toml", data, sweep)


def _without_large(text: str) -> str:
    """The text without numbers of sources, runs and points that would be right, and take long."""
    for key, most in (("sources", "2"), ("reps", "2"), ("points", "2")):
        head, mark, rest = text.partition(f"{key} = ")
        digits = len(rest) - len(rest.lstrip(string.digits + "_"))
        text = head + mark + (most + rest[digits:] if digits > 1 else rest)
    return text


def _octets(stream: random.Random) -> Case:
    """Flipped bits, and octets that are no text."""
    data = bytearray(stream.choice([SCENARIO, SWEEP]).encode())
    for _ in range(stream.choice([1, 3, 30])):
        data[stream.randrange(len(data))] ^= 1 << stream.randrange(8)
    if stream.random() < 0.2:
        data = bytearray(stream.randbytes(stream.choice([0, 1, 100, 10_000])))
    data = bytearray(_without_large(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"))
    return _of_file(stream, "x.toml", bytes(data), b"scenario" in data)


def _nested(stream: random.Random) -> Case:
    """Nesting of every form, more or less deep."""
    levels = stream.choice([10, 63, 64, 65, 80, 200, 511, 900, 1_000, 20_000, 100_000])
    forms = {
        "objects": '{"a":' * levels + "1" + "}" * levels,
        "arrays": '{"a":' + "[" * levels + "]" * levels + "}",
        "open": '{"a":' * levels,
        "inline": "a = " + "{a=" * levels + "1" + "}" * levels,
        "lists": "a = " + "[" * levels + "]" * levels,
        "dotted": "a" + ".a" * levels + " = 1",
        "header": "[a" + ".a" * levels + "]",
        "both": f"[a{'.a' * min(levels, 78)}]\n" + f"a{'.a' * 78} = {{" * min(levels, 78) + "}" * min(levels, 78),
    }
    form = stream.choice(list(forms))
    name = "x.json" if form in ("objects", "arrays", "open") else "x.toml"
    return _of_file(stream, name, forms[form].encode(), stream.random() < 0.4)


def _json(stream: random.Random) -> Case:
    """The scenario as JSON with a hostile value somewhere."""
    import tomllib

    sweep = stream.random() < 0.3
    document = tomllib.loads(SWEEP if sweep else SCENARIO)
    table: Any = document
    while True:
        key = stream.choice([key for key in table if key not in ("sources", "reps", "points")])
        if not isinstance(table[key], dict) or not table[key] or stream.random() < 0.3:
            break
        table = table[key]
    value = stream.choice(TEXTS)
    table[key] = stream.choice([value, [value], {value: value}, None, True, -1, 1e308, -5e-324, [], {}, [[[]]], 2**64])
    text = json.dumps(document, ensure_ascii=stream.random() < 0.5).encode("utf-8", "surrogatepass")
    return _of_file(stream, "x.json", text, sweep)


def _of_file(stream: random.Random, name: str, data: bytes, sweep: bool) -> Case:
    """A command about a file."""
    if sweep:
        arguments = stream.choice(
            [["explain", "--check", name], ["sweep", name], ["sweep", name, "--json"], ["run", name]]
        )
    else:
        verb, more = stream.choice([*COMMANDS, ("sweep", [])])
        arguments = [verb, name, *more]
    return Case(arguments, [name, "s.toml", "low", "--port", "goal", BUFFER], _files(**{name: data}))


def _sweep_key(stream: random.Random) -> Case:
    """A key of a sweep with a hostile value."""
    key, text = stream.choice(SWEEP_KEYS), stream.choice(TEXTS)
    bare = stream.choice(["nan", "inf", "-inf", "1e308", "-1.7e308", "5e-324", "-1", "0", "1.5", "true", "[]", "{}"])
    quoted = json.dumps(text).replace("\x7f", "\\u007f")
    ranges = [f"{{ from = {bare}, to = {other}, {more} }}" for other in ("1e308", "nan", "7") for more in RANGES]
    value = stream.choice([quoted, bare, f"[{quoted}]", f"[{bare}]", f"{{ a = {quoted} }}", stream.choice(ranges)])
    base = '\nscenario = "s.toml"' if key != "scenario" else ""
    data = f"{key} = {value}{base}\nset = ['duration=1 ms']\n" if key != "set" else f"{key} = {value}{base}\n"
    if key.startswith("random.keys"):
        data = f"random.points = 2\n{data}"
    return _of_file(stream, "x.toml", data.encode("utf-8", "replace"), True)


RANGES = ["", 'unit = "s"', 'scale = "log"', "whole = true", 'scale = "log", whole = true', 'unit = "\\u001b"', "x = 1"]


# --- folders and places


def _path(stream: random.Random) -> Case:
    """Paths that are no files, and folders that cannot be written to."""
    verb, more = stream.choice([*COMMANDS[3:], ("sweep", []), ("reproduce", [])])
    wrong = stream.choice(["folder", "s.toml/x", "none/x.toml", "/dev/null", "/dev/zero", "/proc/self/mem", "x" * 300])
    if verb != "reproduce" and stream.random() < 0.5:
        return Case([verb, wrong, *more], [wrong[:20]], _files(**{"folder/x": b""}))
    argument = {"sweep": "w.toml", "reproduce": "999"}.get(verb, "s.toml")
    place = stream.choice(["s.toml", "s.toml/x", "/dev/null", "/dev/null/x", "x" * 300, "", *STORES])
    option = stream.choice(["--out", "--cache"]) if verb in ("compare", "size", "sweep") else "--out"
    short = ["--set", "duration=1 ms"] if verb in ("run", "compare", "size") else []
    places = [place[:20], option, place.partition("@")[2][:10] or place[:10], "999", "***@"]
    return Case([verb, argument, *more, *short, option, place], places, _files())


STORES = [
    "s3://",
    "nothing://x",
    "s3://KEY:SECRET@",
    "s3://K:SE/CRET@b/x",
    "gs2://u:SECRET@h/x",
    "file://",
    "x://y:SECRET@",
]


def _damaged(stream: random.Random) -> Case:
    """A folder whose files are not what Pushout wrote."""
    verb, more = stream.choice([*COMMANDS[5:], ("sweep", []), ("reproduce", [])])
    deep = b'{"a":' * 1_000 + b"1" + b"}" * 1_000
    data = stream.choice([b"", b"{", b"[]", b"null", deep, stream.randbytes(5_000), b'{"studies": [{"id": 0}]}'])
    name = stream.choice(["manifest.json", "cache/runs.sqlite", "reproduce.json", ".lock", "cache/runs.sqlite-wal"])
    argument = {"sweep": "w.toml", "reproduce": "999"}.get(verb, "s.toml")
    return Case([verb, argument, *more, "--out", "out"], ["out/", "999", "goal"], _files(**{f"out/{name}": data}))


def _report(stream: random.Random) -> Case:
    """Return the result of a run, or a list, where a scenario is expected."""
    result = {"scenario": stream.choice([*TEXTS[:40], 5]), "engine": {"name": "fast"}, "seed": 1, "x": None}
    documents = [result, {**result, "engine": 5}, {"scenario": None}, {"scenario": {}}, [result], {"duration": 1}]
    data = json.dumps(stream.choice(documents)).encode("utf-8", "surrogatepass")
    return _of_file(stream, "x.json", data, stream.random() < 0.5)


KINDS: list[Callable[[random.Random], Case]] = [
    *[_option, _argument, _override, _hostile_key, _several, _spoilt, _octets, _nested, _json, _sweep_key],
    *[_path, _damaged, _report, _unknown_word, _option, _override, _sweep_key, _spoilt, _policy, _policy],
]


# --- running them


def run(one: Case, folder: Path) -> dict[str, Any]:
    """Run a case in a folder: the exit code and what it printed."""
    from pushout import shipped
    from pushout.cli import main

    shipped.PAGE = ROOT / "web" / "src" / "index.html"
    for name, data in one.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    for name, target in one.links.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if target == "fifo":
            os.mkfifo(folder / name)
        else:
            (folder / name).symlink_to(target)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(one.arguments)
        except SystemExit as ended:
            code = ended.code or 0
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
    return {"code": code, "out": texts[0][:2_000_000], "err": texts[1]}


def serve(first: int, count: int, seed: int, write: Callable[[str], object]) -> None:
    """Run cases; a line before and a line after each."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    for number in range(first, first + count):
        write(json.dumps({"begun": number}) + "\n")
        faulthandler.dump_traceback_later(HANG_S, exit=True)
        with tempfile.TemporaryDirectory() as folder:
            done = run(case(number, seed), Path(folder))
        faulthandler.cancel_dump_traceback_later()
        write(json.dumps({"number": number, **done}) + "\n")


def _lines() -> Iterator[Callable[[str], object]]:
    """The standard output, which cases shall not write to by accident."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1) as stream:
        os.dup2(2, 1)
        yield stream.write


if __name__ == "__main__":
    for writer in _lines():
        serve(*map(int, sys.argv[1:4]), writer)
