"""Every loss of ten segments, and idle times, in the TCP of this kernel: the table of `vectors/recovery.json`.

    sudo .venv/bin/python benchmarks/kernel/laws.py [--out target/kernel.json] [--record]

Two namespaces are joined by `wire.c`, on which each connection has a line of 100 Mb/s and a constant delay of its
own. Ten segments of 1448 octets are sent; for each of the 1023 patterns in which not all are lost, the time from the
SYN until the last octet is acknowledged is measured, as the median of some runs. Then a connection with a large window
rests, and its window is read before and behind that. With `--record` the table becomes that of
`vectors/recovery.json`; otherwise `make laws` compares it with the profile `linux`. Needs Linux, root, `cc` and `ip`.
"""

import argparse
import contextlib
import json
import os
import platform
import selectors
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from trips import PORT, command, namespace

HERE = Path(__file__).parent
VECTORS = HERE.parent.parent / "vectors" / "recovery.json"
TRIPS_MS = (1, 5, 20, 60, 100, 200, 300)
IDLES_S = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.1, 1.5, 2.0, 3.0)
IDLE_TRIPS_MS = (20, 60, 100, 200)
PATTERNS = 1023
SEGMENT = 1448
FIRST_PORT = 20_000
APART_S = 0.0047
"""Between two connections: no multiple of a kernel's tick."""
MBPS = 100


def main() -> None:
    """Measure the table, or be one end of it in its namespace."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE.parent.parent / "target" / "kernel.json")
    parser.add_argument("--runs", type=int, default=3, help="runs of each round trip")
    parser.add_argument("--record", action="store_true", help="put the table into vectors/recovery.json")
    parser.add_argument("--end", choices=("receive", "lose", "rest"), help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.end:
        {"receive": receive, "lose": lose, "rest": rest}[asked.end](asked.seconds)
        return
    table = measured(asked.runs)
    if asked.record:
        document = json.loads(VECTORS.read_text())
        document["kernel"] = table
        VECTORS.write_text(written(document))
    asked.out.parent.mkdir(exist_ok=True)
    asked.out.write_text(json.dumps(table))


def written(document: dict[str, object]) -> str:
    """Write a table with one case a line."""
    lines = []
    for key, value in document.items():
        cases = value if isinstance(value, list) else None
        if key == "kernel" and isinstance(value, dict):
            inner = [f"    {json.dumps(name)}: {listed(part, '      ')}" for name, part in value.items()]
            lines.append('  "kernel": {\n' + ",\n".join(inner) + "\n  }")
        else:
            lines.append(f"  {json.dumps(key)}: {listed(cases, '    ') if cases else json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def listed(value: object, indent: str) -> str:
    """Write a list with one element a line, anything else as it is."""
    if not isinstance(value, list):
        return json.dumps(value)
    return "[\n" + ",\n".join(indent + json.dumps(one) for one in value) + "\n" + indent[2:] + "]"


def measured(runs: int) -> dict[str, object]:
    """Measure all round trips."""
    with tempfile.TemporaryDirectory() as folder:
        wire = Path(folder) / "wire"
        command(f"cc -O2 -o {wire} {HERE / 'wire.c'} -lm")
        losses = [{"trip_ms": trip, "ms": medians(wire, trip, runs)} for trip in TRIPS_MS]
        idle = [case for trip in IDLE_TRIPS_MS for case in idle_times(wire, trip)]
    return {"release": platform.release().split("-")[0], "mbps": MBPS, "losses": losses, "idle": idle}


def medians(wire: Path, trip_ms: int, runs: int) -> list[float]:
    """Give the time of each pattern, in ms; bit n of its number says that the n-th segment is lost."""
    seconds = 0.3 + PATTERNS * APART_S + 6 + 0.008 * trip_ms
    found = [dict(json.loads(across(wire, trip_ms, "lose", seconds)[0])) for _ in range(runs)]
    print(f"measured patterns over {trip_ms} ms", file=sys.stderr, flush=True)
    return [
        round(statistics.median(run[FIRST_PORT + pattern] for run in found) / 1000, 1) for pattern in range(PATTERNS)
    ]


def idle_times(wire: Path, trip_ms: int) -> list[dict[str, int]]:
    """Give the state of a window before and behind each idle time."""
    seconds = 6 + sum(IDLES_S) + 0.03 * trip_ms * len(IDLES_S)
    rows = json.loads(across(wire, trip_ms, "rest", seconds)[1])
    print(f"measured idle times over {trip_ms} ms", file=sys.stderr, flush=True)
    return [{"trip_ms": trip_ms, **row} for row in rows]


def across(wire: Path, trip_ms: int, what: str, seconds: float) -> tuple[str, str]:
    """Run both ends over the wire: what the wire prints, and what the sender prints."""
    with contextlib.ExitStack() as stack:
        name = f"laws-{os.getpid()}"
        hosts = [stack.enter_context(namespace(f"{end}-{name}", end)) for end in ("send", "receive")]
        line = [MBPS * 1_000_000, 500 * trip_ms, "patterns", 10 * SEGMENT, 1, 0, round(seconds)]
        process = subprocess.Popen([wire, *hosts, *map(str, line)], stdout=subprocess.PIPE, text=True)
        if process.stdout is None or process.stdout.readline() != "ready\n":
            raise RuntimeError("the wire does not start")
        stack.callback(process.kill)
        receiver, sender = end("receive", hosts[1], seconds), end(what, hosts[0], seconds)
        printed = process.communicate(timeout=seconds + 30)[0], sender.communicate(timeout=30)[0]
        receiver.communicate(timeout=30)
    return printed


def end(what: str, place: str, seconds: float) -> subprocess.Popen[str]:
    """Start one end, ahead of other work on the machine."""
    python = [sys.executable, __file__, "--end", what, "--seconds", str(seconds)]
    inside = ["ip", "netns", "exec", place, "chrt", "--fifo", "10", *python]
    return subprocess.Popen(inside, stdout=subprocess.PIPE, text=True)


def receive(seconds: float) -> None:
    """Read from every connection."""
    selector, stop = selectors.DefaultSelector(), time.monotonic() + seconds
    server = socket.create_server(("", PORT), backlog=4096)
    selector.register(server, selectors.EVENT_READ)
    while time.monotonic() < stop:
        for key, _ in selector.select(timeout=0.1):
            if key.fileobj is server:
                selector.register(server.accept()[0], selectors.EVENT_READ)
            elif isinstance(key.fileobj, socket.socket) and not key.fileobj.recv(1 << 18):
                selector.unregister(key.fileobj)
                key.fileobj.close()


def opened(port: int) -> socket.socket:
    """Give a socket of this port that follows CUBIC."""
    connection = socket.socket()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    connection.bind(("10.9.0.1", port))
    return connection


def lose(seconds: float) -> None:
    """Connect from the port of each pattern, and send ten segments as soon as the connection stands."""
    selector, begin = selectors.DefaultSelector(), time.monotonic() + 0.3
    starts = iter([begin + APART_S * pattern for pattern in range(PATTERNS)])
    start, kept = next(starts, None), list[socket.socket]()
    while time.monotonic() < begin + seconds - 0.5:
        wait = 0.1 if start is None else max(0, start - time.monotonic())
        for key, _ in selector.select(wait):
            selector.unregister(key.fileobj)
            key.data.send(bytes(10 * SEGMENT))
        if start is not None and time.monotonic() >= start:
            connection = opened(FIRST_PORT + len(kept))
            connection.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                connection.connect(("10.9.0.2", PORT))
            selector.register(connection, selectors.EVENT_WRITE, connection)
            kept.append(connection)  # a closed one would send FIN
            start = next(starts, None)
    os._exit(0)


def rest(_: float) -> None:
    """Rest several times on one connection, and print the window before and behind."""
    time.sleep(0.5)
    connection = opened(FIRST_PORT)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 23)
    connection.connect(("10.9.0.2", PORT))
    rows = []
    for idle in IDLES_S:
        connection.sendall(bytes(2_000_000))
        while state(connection)["unacked"]:
            time.sleep(0.001)
        time.sleep(idle)
        before = state(connection)
        connection.sendall(bytes(SEGMENT))
        after = state(connection)
        rows.append(
            {
                "idle_ms": before["last_data_sent"],
                "rto_us": before["rto"],
                **{key: before[key] for key in ("cwnd", "ssthresh")},
                **{f"{key}_after": after[key] for key in ("cwnd", "ssthresh")},
            }
        )
    print(json.dumps(rows), flush=True)
    os._exit(0)


def state(connection: socket.socket) -> dict[str, int]:
    """Read TCP_INFO."""
    words = struct.unpack("24I", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[8:])
    places = {"rto": 0, "unacked": 4, "last_data_sent": 9, "ssthresh": 17, "cwnd": 18}
    return {key: words[place] for key, place in places.items()}


if __name__ == "__main__":
    main()
