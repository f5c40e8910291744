"""More hostile cases: recordings, results, policies that end the program, special files, pictures and pages."""

import io
import json
import random
import struct
from collections.abc import Callable

from hostile import SCENARIO, TEXTS, Case

REPLAY = SCENARIO.replace('{ kind = "file", size = "5 kB" }', '{ kind = "replay", file = "FILE" }').replace(
    '{ kind = "tcp", congestion = "reno", mss = 1460 }', '{ kind = "udp" }'
)

VERBS = [
    ["explain", "--check", "s.toml"],
    ["explain", "s.toml"],
    ["run", "s.toml"],
    ["run", "s.toml", "--json"],
    ["run", "s.toml", "--html", "x.html"],
    ["plot", "s.toml", "--out", "x.svg"],
    ["compare", "s.toml", "--policies", "epd,ppd", "--reps", "2"],
    ["explain", "--check", "w.toml"],
    ["sweep", "w.toml"],
]

SWEEP = 'scenario = "s.toml"\nset = ["duration=1 ms"]\n'


def _files(**others: bytes) -> dict[str, bytes]:
    return {"s.toml": SCENARIO.encode(), "w.toml": SWEEP.encode(), **others}


NUMBERS = ["1e999999", "1e-999999", "9" * 5_000, "0." + "0" * 4_000 + "1", "1e308", "-0", "nan", "inf", "٣", "0x1", ""]
NUMBERS += ["1764201454.25", "9223372", "9223373", "1e12", "2e12", "1_000", "1 ", "\x00", '"', '"1', "1,1", "1;1", "-1"]


def _table(stream: random.Random) -> tuple[str, bytes]:
    """A CSV with hostile fields, columns, lines and octets."""
    head = stream.choice(["time,bytes"] * 6 + ["time,bytes,flow", "time,time,bytes", "bytes,time", "x,y", "", "time"])
    rows = [[str(number / 1e6), "1000", "a"][: head.count(",") + 1] for number in range(stream.choice([0, 1, 5]))]
    for _ in range(stream.choice([0, 1, 2]) if rows else 0):
        row = stream.choice(rows)
        row[stream.randrange(len(row))] = stream.choice([*NUMBERS, *TEXTS[:90]])
    text = "\n".join([head, *(",".join(row) for row in rows)]) + stream.choice(["", "\n", "\r\n", "\r", "\n\n", "\x00"])
    data = text.encode("utf-8", "surrogatepass")
    return stream.choice(["a.csv", "a.csv", "a.txt", "a"]), _mutated(stream, data)


def _pcap(stream: random.Random) -> tuple[str, bytes]:
    """A capture with hostile lengths, times and link types."""
    order, odd = stream.choice("<>"), [0, 1, 2**16, 2**26, 2**31, 2**32 - 1]
    magic = stream.choice([0xA1B2C3D4, 0xA1B23C4D])
    link = stream.choice([1, 1, 1, 0, 101, 113, 276, 147, 2**32 - 1])
    data = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for number in range(stream.choice([0, 1, 4])):
        packet = bytes(12) + stream.choice(
            [b"\x08\x00\x45\x00\x03\xe8", b"\x86\xdd\x60\0\0\0\x03\xe8", b"\x81\x00" * 9]
        )
        frame = packet + bytes(20)
        fields = [5, number, len(frame), len(frame)]
        if stream.random() < 0.4:
            fields[stream.randrange(4)] = stream.choice(odd)
        data += struct.pack(f"{order}IIII", *fields) + frame
    return "a.pcap", _mutated(stream, data)


def _pcapng(stream: random.Random) -> tuple[str, bytes]:
    """Blocks with hostile kinds, lengths and options."""
    order = stream.choice("<>")

    def block(kind: int, body: bytes) -> bytes:
        size = 12 + len(body)
        if stream.random() < 0.1:
            size = stream.choice([0, 8, 12, 13, 2**26, 2**32 - 4])
        end = size if stream.random() < 0.9 else 12
        return struct.pack(f"{order}II", kind, size) + body + struct.pack(f"{order}I", end)

    option = struct.pack(f"{order}HH", 9, stream.choice([1, 1, 0, 8, 65535])) + stream.choice(
        [b"\x06\0\0\0", b"\xff", b""]
    )
    interface = struct.pack(f"{order}HHI", 1, 0, 0) + stream.choice([b"", option])
    frame = bytes(12) + b"\x08\x00\x45\x00\x03\xe8" + bytes(20)
    odd = [0, 2**31, 2**32 - 1]
    fields = [0, 0, 0, len(frame), len(frame)]
    if stream.random() < 0.3:
        fields[stream.randrange(5)] = stream.choice(odd)
    packet = struct.pack(f"{order}IIIII", *fields) + frame + bytes(-len(frame) % 4)
    bodies = [
        (1, interface),
        (6, packet),
        (6, packet[: stream.choice([0, 4, 19, 20])]),
        (3, packet),
        (1, b""),
        (77, b""),
    ]
    data = block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))
    data += b"".join(block(*body) for body in [bodies[0], *stream.choices(bodies, [4, 6, 1, 1, 1, 1], k=4)])
    return "a.pcapng", _mutated(stream, data)


def _parquet(stream: random.Random) -> tuple[str, bytes]:
    """A Parquet file of hostile columns, or one that is damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = [
        [0.0, 1e-3],
        [0, 1],
        ["0", "x"],
        [None, 0.0],
        [b"\xff", b""],
        [[1], []],
        [1e308, float("nan")],
        [True, False],
    ]
    names = stream.choice([["time", "bytes"]] * 4 + [["time"], ["x", "y"], ["time", "bytes", "flow"]])
    file = io.BytesIO()
    pq.write_table(pa.table({name: pa.array(stream.choice(columns)) for name in names}), file)
    return "a.parquet", _mutated(stream, file.getvalue())


def _mutated(stream: random.Random, data: bytes) -> bytes:
    """Mostly as it is; else cut, or with flipped bits, or with other octets."""
    changed = bytearray(data)
    kind = stream.random()
    if kind < 0.2:
        del changed[stream.randrange(len(changed) + 1) :]
    elif kind < 0.5 and changed:
        for _ in range(stream.choice([1, 3, 30])):
            changed[stream.randrange(len(changed))] ^= 1 << stream.randrange(8)
    elif kind < 0.55:
        changed += stream.randbytes(stream.choice([1, 1_000, 200_000]))
    return bytes(changed)


def _recording(stream: random.Random) -> Case:
    """A recording of any format."""
    name, data = stream.choice([_table, _table, _pcap, _pcapng, _parquet])(stream)
    flow = stream.choice([""] * 4 + [', flow = "a"', ', flow = "\\u001b"'])
    text = REPLAY.replace('file = "FILE"', f'file = "{name}"{flow}')
    places = [name, "w.toml", "s.toml", "port.", "goodput", "flow"]
    return Case(stream.choice(VERBS), places, _files(**{"s.toml": text.encode(), name: data}))


def _special(stream: random.Random) -> Case:
    """A file that a scenario or a folder has, and that is a link, a FIFO or a device."""
    target = stream.choice(
        ["/dev/zero", "/dev/full", "/proc/self/environ", "/proc/self/mem", "fifo", "a.csv", "..", "/"]
    )
    if stream.random() < 0.5:
        named = stream.choice(["a.csv", target, "../x", "/etc/passwd", "a\\u0000", "/dev/stdin", "x" * 300])
        text = REPLAY.replace("FILE", named)
        places = ["a.csv", target, named[:8], "w.toml", "s.toml", "file"]
        return Case(stream.choice(VERBS), places, _files(**{"s.toml": text.encode()}), {"a.csv": target})
    name = stream.choice([".lock", "manifest.json", "rows.parquet", "cache/runs.sqlite", "cache", "result.json"])
    words = stream.choice([VERBS[2], VERBS[6], ["sweep", "w.toml"]])
    short = [] if words[0] == "sweep" else ["--set", "duration=1 ms"]
    return Case([*words, *short, "--out", "out"], ["out"], _files(), {f"out/{name}": target})


ENDS = [
    "import sys; sys.exit(0)",
    "raise SystemExit",
    "raise BaseException('x')",
    "raise GeneratorExit",
    "1 / 0",
    "def",
]
ENDS += [
    "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
    "raise ExceptionGroup('x', [ValueError()])",
]
ENDS += [
    "import nothing_like_this",
    "exit()",
    "raise Exception('x' * 100000)",
    "raise Exception('\\x1b[2J')",
    "\tx = 1\n y",
]
ENDS += [
    "def f(): f()\nf()",
    "x = '\\ud800'",
    "# -*- coding: nothing -*-",
    "\x00",
    "print('\\ud800')",
    "import os; os.chdir('/')",
]


def _ending(stream: random.Random) -> Case:
    """A policy file that ends before it defines a policy."""
    data = f"# first\n{stream.choice(ENDS)}\n".encode("utf-8", "surrogatepass")
    words = stream.choice(
        [
            ["explain", "--check", "p.py"],
            ["explain", "--check", "p.py:x", "--json"],
            ["run", "s.toml", "--policy", "bottleneck=p.py"],
            ["compare", "s.toml", "--policies", "p.py,epd", "--reps", "2"],
            [
                "explain",
                "--check",
                stream.choice([text.replace("\x00", "\x01") for text in TEXTS[1:90] if not text.startswith("-")]),
            ],
        ]
    )
    return Case(words, ["p.py", words[-1][:6], "file of Python", "\\x", "argument"], _files(**{"p.py": data}))


def _result(stream: random.Random) -> Case:
    """A folder of results, or a file of one, that is not what was written."""
    document = {"scenario": "x", "seed": 1, "seeds": [1], "engine": {}, "flows": [], "ports": [], "summary": {}}
    for _ in range(stream.choice([0, 1, 2])):
        document[stream.choice(list(document))] = stream.choice([None, [], {}, 5, "x", [5], [{}], [{"name": 5}]])
    deep = b'{"a":' * stream.choice([10, 1_000, 100_000])
    data = _mutated(stream, stream.choice([json.dumps(document).encode()] * 3 + [deep, b"", b"null"]))
    name = stream.choice(["result.json", "replication-1.json", "replication-x.json", "SHA256SUMS", "mine.json"])
    given = stream.choice(["out", f"out/{name}"])
    panels = stream.choice([[], ["--what", "queue"], ["--what", "goodput"], ["--what", stream.choice(TEXTS[:60])]])
    words = ["plot", given, *(word.replace("\x00", "") for word in panels), "--out", "x.svg"]
    return Case(words, ["out", "--what", "panel", "has no", "name"], _files(**{f"out/{name}": data}))


PICTURES = ["--what", "--ports", "--flows", "--labels", "--title", "--width", "--theme", "--seed", "--reps", "--out"]


def _picture(stream: random.Random) -> Case:
    """A hostile value of an option of a picture or a page."""
    option = stream.choice(PICTURES)
    value = stream.choice(TEXTS).replace("\x00", "\x01")
    if option == "--reps" and value.strip().lstrip("+").replace("_", "").isdigit():
        value = f"-{value.strip()}"
    out = [] if option == "--out" else ["--out", "x.svg"]
    words = ["plot", "s.toml", "--set", "duration=1 ms", *out, f"{option}={value}"]
    places = [
        "--at",
        option,
        option.strip("-"),
        option.strip("-s"),
        "what",
        value[:8],
        "panel",
        "\\x",
        "Invalid",
        ".png",
        "s.toml",
    ]
    return Case(words, places, _files())


TRANSPORT = [
    "cubic_law",
    "cubic_c",
    "rto_floor",
    "sack_restarts_timer",
    "dsack",
    "recovery",
    "profile",
    "ecn",
    "pacing",
]
NEWER = [
    *(f"flows.transport.{key}" for key in TRANSPORT),
    *["measure.state", "measure.state.0", "memory", "memory.chip", "memory.chip.size", "node.0.memory", "routing"],
    *["port.bottleneck.marking", "port.bottleneck.admission.max_burst", "flows.source.load", "flows.source.sizes"],
]
"""Keys of later versions."""


def _newer(stream: random.Random) -> Case:
    """A key of a later version with a hostile value, or with one of another key."""
    values = [*TEXTS, "rfc9438", "linux", "reno", "0.4", '["bottleneck"]', '["bottleneck", "flow1"]', "[{}]", '"cubic"']
    sets = ["flows.transport.congestion=cubic", f"{stream.choice(NEWER)}={stream.choice(values)}"]
    words = [word for each in sets for word in ("--set", each.replace("\x00", "\x01"))]
    verb = stream.choice([*VERBS[:4], VERBS[5], VERBS[6]])
    return Case([*verb, *words], ["--set", "s.toml"], _files())


def _memory(stream: random.Random) -> Case:
    """A hostile size of `--memory`; any that is one is large enough."""
    value = stream.choice([*TEXTS, "1e300 GB", "0 GB", "-1 GB", "nan GB", "inf GB", "4", "4 cells", "4 Mb/s", "1e9 TB"])
    value = value.replace("\x00", "\x01")
    verb = stream.choice([VERBS[2], VERBS[5], VERBS[6], VERBS[8]])
    places = ["--memory", "w.toml", "s.toml"]
    return Case([*verb, f"--memory={value}"], places, _files())


def _lab(stream: random.Random) -> Case:
    """A lab of hostile scenarios, policies, settings or places."""
    text = stream.choice(TEXTS).replace("\x00", "\x01")
    words = stream.choice(
        [
            ["s.toml", f"--policies={text}"],
            [
                "s.toml",
                "--policies=epd,ppd",
                "--set",
                f"{stream.choice(['port', 'duration', 'title', 'flows'])}={text}",
            ],
            ["s.toml", f"--out={text}"],
            ["s.toml", "w.toml"],
            ["--", text],
        ]
    )
    out = [] if any(word.startswith("--out") for word in words) else ["--out", "lab.html"]
    places = ["policies", "--set", "--out", "'out'", "s.toml", "w.toml", "lab.html", text[:8], ":/", "\\", "scenario"]
    return Case(["lab", *out, *words], places, _files())


def _findings(stream: random.Random) -> Case:
    """Findings of studies that are none, or with options that contradict them."""
    text = stream.choice(TEXTS).replace("\x00", "\x01").strip() or "x"
    study = text if not text[0].isdigit() and not text.startswith("-") else f"x{text}"
    more = stream.choice([[], ["--full"], ["--reps=3"], ["--decide"], ["--details"], [f"--jobs={text}"], ["--strict"]])
    return Case(["reproduce", "--findings", *more, "--", study], ["study", "--findings", "--jobs", "--reps"], _files())


SWITCH = {
    "PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": "40000", "mtu": "9100"}},
    "CABLE_LENGTH": {"AZURE": {"Ethernet0": "300m", "Ethernet4": "40m"}},
    "BUFFER_POOL": {"in": {"size": "2000000", "type": "ingress", "xoff": "200000"}},
    "BUFFER_PROFILE": {
        "lossy": {"pool": "in", "size": "0", "static_th": "2000000"},
        "lossless": {"pool": "in", "size": "1248", "dynamic_th": "-2", "xoff": "50000", "xon": "2000"},
    },
    "BUFFER_PG": {"Ethernet0|3-4": {"profile": "lossless"}, "Ethernet4|3": {"profile": "lossless"}},
    "BUFFER_QUEUE": {"Ethernet0,Ethernet4|0-2": {"profile": "lossy"}},
    "QUEUE": {"Ethernet4|3": {"wred_profile": "mark"}},
    "WRED_PROFILE": {"mark": {"ecn": "ecn_all", "green_min_threshold": "9", "green_max_threshold": "99"}},
}
"""Tables of a small switch."""


def _switch(stream: random.Random) -> Case:
    """Tables of a switch with a hostile key, value or row, or damaged ones."""
    tables = json.loads(json.dumps(SWITCH))
    for _ in range(stream.choice([1, 1, 3])):
        rows = tables[stream.choice(list(tables))]
        if not isinstance(rows, dict) or not rows:
            continue
        name = stream.choice(list(rows))
        wrong = stream.choice([*TEXTS[:120], *NUMBERS, "7-0", "500", "NULL", "ecn_green", None, [], {}, 0, -1, True])
        if stream.random() < 0.3 or not isinstance(rows[name], dict) or not rows[name]:
            rows[stream.choice([name, f"{name}|9", "Ethernet0|5-2", "Ethernet4|0-99", str(wrong)])] = wrong
        else:
            rows[name][stream.choice([*rows[name], "dynamic_th", "static_th", "x", str(wrong)[:500]])] = wrong
    data = _mutated(stream, json.dumps(tables).encode()) if stream.random() < 0.2 else json.dumps(tables).encode()
    cell = ["--cell", stream.choice(["208", "208", "1", "65535"])]
    verb = stream.choice([["init", "new", "--sonic", "t.json"], ["chip", "predict", "t.json", "--lines", "2"]])
    more = stream.choice([[], [], ["--qos", "t.json"]])
    places = ["t.json", "cell", "packet", "lines", "profile", "memory", "BUFFER"]
    return Case([*verb, *cell, *more], places, _files(**{"t.json": data}))


LINES_OF_TC = [
    "qdisc mq 0: dev eth0 root",
    "qdisc fq_codel 0: dev eth0 parent :1 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms ecn",
    "qdisc fq_codel 8001: root refcnt 2 limit 1001p flows 1024 quantum 300 target 25ms interval 120ms drop_batch 64",
    "qdisc red 8007: root refcnt 2 limit 400000b min 30000b max 90000b adaptive ewma 5 probability 0.02 Scell_log 10",
    "qdisc pie 1: root refcnt 2 limit 1000p target 15ms tupdate 16ms alpha 2 beta 20 bytemode",
    "qdisc pfifo 1: root limit 9p",
    "qdisc ets 1: root refcnt 2 bands 3 strict 1 quanta 3028 1514 priomap 2 2 1 0",
    "qdisc pfifo 2: parent 1:1 limit 9p",
    "qdisc htb 1: root r2q 10 default 0x30",
    "class htb 1:30 root leaf 2: prio 0 rate 1Mbit ceil 2Mbit burst 15Kb cburst 1600b",
]


def _imported(stream: random.Random) -> Case:
    """Lines of tc with hostile words, with a matrix that has hostile values."""
    words = " ".join(stream.choices(LINES_OF_TC, k=stream.choice([1, 1, 2]))).split(" ")
    if stream.random() < 0.4:
        words = stream.choice(LINES_OF_TC).split(" ")
    for _ in range(stream.choice([0, 1, 2])):
        words[stream.randrange(len(words))] = stream.choice([*TEXTS[:120], *NUMBERS, "qdisc", "root", "ecn", "limit"])
    matrix = ["Nodes 4", "Connections 2", "0->1 start 0 size 2000 prio 7", "1->2 id 2 start 5 size 9"]
    if stream.random() < 0.4:
        matrix[stream.randrange(4)] = stream.choice([*TEXTS[:120], "0->1 trigger 3 size 5", "trigger id 3 oneshot"])
    tc = "\n".join([*([LINES_OF_TC[1]] if stream.random() < 0.3 else []), " ".join(words)])
    files = {"tc.txt": tc.encode("utf-8", "replace"), "m.cm": "\n".join(matrix).encode("utf-8", "replace")}
    return Case(["import", "m.cm", "tc.txt", "--out", "x.toml"], ["tc.txt", "m.cm", "x.toml", "flow"], _files(**files))


def _counted(stream: random.Random) -> Case:
    """Counts of a switch, of lines that lack others, and large ones."""
    names = [
        "drop",
        "drop.2",
        "drop.9",
        "xoff",
        "xoff.2",
        "xoff.64",
        "xoff.together",
        "loss",
        "headroom",
        "fill",
        "mark",
    ]
    values = ["0", "8", "988", "40000", "1999999", "2000000", *NUMBERS[:8]]
    rows = [(stream.choice([*names * 5, *TEXTS[:60]]), stream.choice(values)) for _ in range(stream.choice([1, 2, 4]))]
    text = "name,value\n" + "".join(f"{name},{value}\n" for name, value in rows)
    cell = ["--cell", stream.choice(["208", "254"])] if stream.random() < 0.8 else []
    data = (
        _mutated(stream, text.encode("utf-8", "replace")) if stream.random() < 0.2 else text.encode("utf-8", "replace")
    )
    return Case(["chip", "explain", "c.csv", *cell], ["c.csv"], _files(**{"c.csv": data}))


def _named(stream: random.Random) -> Case:
    """Lists with empty names, and figures of many entries."""
    names = ["ports.*.lost", "memories.*.lost", "flows.*.jitter_p50", "ports.*", "loss", "epd", "bottleneck", "x", "*"]
    listed = ",".join(stream.choice([*names, "", "", " "]) for _ in range(stream.choice([1, 2, 3])))
    words = stream.choice(
        [
            ["sweep", "w.toml", f"--columns={listed}"],
            ["compare", "s.toml", "--policies=epd,ppd", "--reps=2", f"--figures={listed}"],
            ["compare", "s.toml", f"--policies={listed}", "--reps=2"],
            ["plot", "s.toml", "--out", "x.svg", f"--at={listed}"],
            ["plot", "s.toml", "--out", "x.svg", f"--what={listed}"],
            ["why", "s.toml", "--last=2", f"--policies={listed}"],
            ["why", "s.toml", "--last=2", f"--at={listed}"],
            ["explain", "--check", "s.toml", "--set", f"topology.flows={listed}"],
        ]
    )
    places = [
        "--columns",
        "--figures",
        "--policies",
        "--at",
        "--what",
        "--set",
        "figure",
        "policies",
        "no port",
        "port ",
    ]
    return Case(words, [*places, "comparison", "s.toml"], _files())


SURFACES: list[Callable[[random.Random], Case]] = [_recording, _recording, _special, _ending, _result, _picture]
SURFACES += [_newer, _memory, _lab, _findings, _switch, _switch, _imported, _counted, _named]
