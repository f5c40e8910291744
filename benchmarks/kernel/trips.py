"""Pushout and the TCP of the Linux kernel over round trips of 24 to 250 ms: goodput, queue, retransmissions and files.

    sudo .venv/bin/python benchmarks/kernel/trips.py [--seconds 60] [--seeds 3] [--jobs 4] [--only NAME …]
    sudo .venv/bin/python benchmarks/kernel/trips.py --bbr
    .venv/bin/python benchmarks/kernel/trips.py [--bbr] --keep

The kernel needs neither netem nor the queue under test: `wire.c`, which this compiles, joins a TUN device in the
namespace of the senders and one in that of the receiver by a bottleneck with a queue and a constant delay. The TCP at
both ends is the kernel's. A run counts if of its deliveries 99.9 % were at most 2 ms late, and no ring of the wire was
full; if not, it is made again, at most three times. With `--keep` only Pushout runs, and what the file has of the
kernel stays.

A greedy flow writes as fast as it can. A file is a connection of its own: 60 kB, in a Poisson process; its time is from
the connection's first SYN until the receiver has closed it in turn. Needs Linux, root, `cc`, `ip` and `nstat`.

With `--bbr` the senders are the kernel's BBR, which is version 1, alone and beside CUBIC, into `bbr.json`: rates by
control, and the gains and probes for the round trip that the sender's socket shows (`TCP_INFO`, `TCP_CC_INFO`).
"""

import argparse
import contextlib
import itertools
import json
import math
import os
import platform
import random
import selectors
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WARMUP_S = 10
PORT = 5001
FILE = 60_000
LATE_MS = 2.0
"""Most lateness of 99.9 % of the deliveries of a run that counts."""
PROBE_RTT = 6
"""The number of that phase in the state of our BBR."""
BEFORE_S = 0.5
"""What is watched ends before the receiver closes."""
COUNTERS = {
    "retransmissions": ("TcpRetransSegs",),
    "timeouts": ("TcpExtTCPTimeouts",),
    "probes": ("TcpExtTCPLossProbes",),
    "recoveries": ("TcpExtTCPSackRecovery", "TcpExtTCPRenoRecovery"),
}


@dataclass(frozen=True)
class Case:
    """Congestion controls, of which flows take one each in turn, through a queue of a line, and the flows or files."""

    congestion: str
    queue: str
    limit: int
    mbps: int
    trip_ms: int
    flows: int = 0
    files: int = 0

    @property
    def name(self) -> str:
        """Name the case by what it is made of."""
        load = f"{self.flows}-flows" if self.flows else f"{self.files}-files"
        depth = f"-{self.limit}" if self.is_watched else ""
        return f"{self.congestion}-{self.queue}{depth}-{self.mbps}-{self.trip_ms}-{load}"

    @property
    def is_watched(self) -> bool:
        """Return whether the senders' sockets are read while they send."""
        return "bbr" in self.congestion

    def control(self, flow: int) -> str:
        """Return the congestion control of a flow, from 0."""
        controls = self.congestion.split("+")
        return controls[flow % len(controls)]

    def starts(self, seed: int, seconds: int) -> list[float]:
        """Draw when flows or files start, in seconds: files in a Poisson process."""
        chance = random.Random(seed)  # noqa: S311
        starts, at = [chance.random() for _ in range(self.flows)], 0.0
        while self.files and (at := at + chance.expovariate(self.files)) < seconds - 1:
            starts.append(at)
        return starts

    def scenario(self, seed: int, seconds: int, bounds: bool = True) -> dict[str, Any]:
        """Give the case as Pushout has it, with the starts that the kernel has with this seed."""
        wide = {"rate": "1 Gb/s", "delay": "1 us"}
        source = {"kind": "greedy"} if self.flows else {"kind": "file", "size": f"{FILE} bytes", "every": "1000 s"}
        transport = {"kind": "tcp", "profile": "linux"}
        flows = [
            {
                "name": f"flow{1 + index}",
                "from": f"source{1 + index if self.flows else 1}",
                "to": f"sink{1 + index if self.flows else 1}",
                "start": f"{round(1e6 * start)} us",
                "transport": {"congestion": self.control(index), **self.switches(index, bounds)},
            }
            for index, start in enumerate(self.starts(seed, seconds))
        ]
        return {
            "name": self.name,
            "duration": f"{seconds} s",
            "warmup": f"{WARMUP_S} s",
            "topology": {
                "template": "dumbbell",
                "sources": self.flows or 1,
                "access": wide,
                "bottleneck": {"rate": f"{self.mbps} Mb/s", "delay": f"{500 * self.trip_ms} us"},
                "egress": wide,
            },
            "adaptation": {"kind": "packet"},
            "port": {"bottleneck": {"buffer": f"{self.limit} packets", **self.admission()}},
            "flows": {"source": source, "transport": transport},
            "flow": flows,
            **({"measure": {"state": ["flow1"]}, "sample": "10 ms"} if self.is_watched else {}),
        }

    def switches(self, flow: int, bounds: bool) -> dict[str, Any]:
        """Give what switches off the bounds by losses of a flow of BBR."""
        return {} if bounds or self.control(flow) != "bbr" else {"bbr_loss_bounds": False}

    def admission(self) -> dict[str, Any]:
        """Give the queue under test, with the settings of wire.c."""
        if self.queue == "codel":
            return {"admission": {"policy": "codel", "mtu": "1 byte"}}
        if self.queue == "red":
            return {"admission": {"policy": "red", "max_p": 0.1, "weight": 0.002}}
        return {}


CASES = [
    Case("reno", "tail-drop", 32, 8, 24, flows=1),
    Case("reno", "tail-drop", 100, 20, 60, flows=3),
    Case("reno", "codel", 1000, 10, 40, flows=1),
    Case("reno", "red", 120, 30, 24, flows=3),
    Case("reno", "red", 160, 20, 100, flows=2),
    Case("cubic", "tail-drop", 32, 8, 24, flows=1),
    Case("cubic", "tail-drop", 150, 30, 60, flows=3),
    Case("cubic", "tail-drop", 167, 8, 250, flows=1),
    Case("cubic", "codel", 1000, 20, 40, flows=2),
    Case("cubic", "red", 120, 30, 24, flows=3),
    Case("reno", "tail-drop", 30, 8, 250, files=14),
    Case("cubic", "codel", 1000, 10, 100, files=18),
]
BESIDE = [
    Case("bbr", "tail-drop", 7, 20, 40, flows=1),
    Case("bbr", "tail-drop", 67, 20, 40, flows=1),
    Case("bbr+cubic", "tail-drop", 33, 20, 40, flows=2),
    Case("bbr+cubic", "tail-drop", 67, 20, 40, flows=2),
    Case("bbr+cubic", "tail-drop", 1067, 20, 40, flows=2),
]
"""With buffers of a tenth, a half, one and sixteen times rate by round trip, which is 67 packets."""


def main() -> None:
    """Run all cases, or one end of a case in its namespace."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="how long a run lasts, the warm-up included")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each case in the kernel")
    parser.add_argument("--jobs", type=int, default=4, help="runs in the kernel at the same time")
    parser.add_argument(
        "--keep", action="store_true", help="run Pushout alone, and keep what the file has of the kernel"
    )
    parser.add_argument("--only", nargs="*", help="names of cases; all by default")
    parser.add_argument("--bbr", action="store_true", help="the kernel's BBR instead")
    parser.add_argument("--out", type=Path, help="by default trips.json, or bbr.json")
    parser.add_argument("--end", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.end:
        end, name, seed = asked.end
        case = next(case for case in CASES + BESIDE if case.name == name)
        receive(asked.seconds) if end == "receive" else send(case, int(seed), asked.seconds)
        return
    out = asked.out or HERE / ("bbr.json" if asked.bbr else "trips.json")
    old = json.loads(out.read_text()) if asked.keep else {}
    seconds = old.get("seconds", asked.seconds)
    linux = {case["name"]: case["linux"] for case in old.get("cases", [])}
    cases = [
        case
        for case in (BESIDE if asked.bbr else CASES)
        if (case.name in linux if asked.keep else asked.only is None or case.name in asked.only)
    ]
    if not asked.keep:
        linux = measured(cases, seconds, asked.seeds, asked.jobs)
    document = {
        "kernel": old.get("kernel", platform.release().split("-")[0]),
        "seconds": seconds,
        "warmup": WARMUP_S,
        "late_ms": LATE_MS,
        "cases": [
            {
                "name": case.name,
                **asdict(case),
                "linux": linux[case.name],
                "pushout": simulated(case, seconds),
                **({"unbounded": simulated(case, seconds, bounds=False)} if case.is_watched else {}),
            }
            for case in cases
        ],
    }
    from pushout.records import recorded  # only here: see `simulated`

    out.write_text(recorded(document))


def simulated(case: Case, seconds: int, seeds: int = 10, *, bounds: bool = True) -> list[dict[str, float]]:
    """Run the case in Pushout with as many seeds: the figures of each run."""
    import pushout  # the ends of a run in the kernel have no time to load it

    runs = (pushout.run(case.scenario(seed, seconds, bounds), seed=seed) for seed in range(1, 1 + seeds))
    return [figures(run.document, case) for run in runs]


def figures(run: dict[str, Any], case: Case) -> dict[str, float]:
    """Give the figures of a run that the kernel has as well."""
    port = next(port for port in run["ports"] if port["name"] == "bottleneck")
    found = {
        "goodput_mbps": round(run["summary"]["goodput_bps"] / 1e6, 4),
        "queue_packets": round(port["occupancy_mean"], 3),
    }
    keys = {"retransmissions": "segments_retransmitted", "timeouts": "timeouts", "recoveries": "fast_retransmits"}
    found |= {key: sum(flow[own] for flow in run["flows"]) for key, own in keys.items()}
    if case.is_watched:
        return found | watched(run, case)
    if case.flows:
        return found
    times = {f"file_{key}_s": round(run["summary"][f"transfer_time_{key}_s"], 4) for key in ("mean", "p50", "p99")}
    return found | {"files": run["summary"]["transfers"], **times}


def watched(run: dict[str, Any], case: Case) -> dict[str, Any]:
    """Give the rates by control, and what `Watch` finds of BBR in the kernel."""
    rates: dict[str, float] = {}
    for index, flow in enumerate(run["flows"]):
        rates[case.control(index)] = rates.get(case.control(index), 0) + flow["goodput_bps"] / 1e6
    state = run["flows"][0]["state"]
    values = {figure["name"]: figure["values"] for figure in state["figures"]}
    behind = round(WARMUP_S / state["step_s"])
    probes = [phase == PROBE_RTT for phase in values["phase"][behind:]]
    gains = [
        round(gain, 2) for gain, probes_ in zip(values["pacing_gain"][behind:], probes, strict=True) if not probes_
    ]
    return {"rates_mbps": rounded(rates), **probed(probes, state["step_s"]), "gains": counted(gains)}


def rounded(rates: dict[str, float]) -> dict[str, float]:
    """Round rates to 100 b/s."""
    return {control: round(rate, 4) for control, rate in rates.items()}


def counted(gains: list[float]) -> dict[str, float]:
    """Give the share of the time that each gain has, in percent."""
    return {f"{gain:g}": round(100 * gains.count(gain) / len(gains), 1) for gain in sorted(set(gains))}


def probed(probes: list[bool], step_s: float) -> dict[str, float | None]:
    """Give the mean time between the begins of probes for the round trip, and their mean length."""
    begins = [i for i in range(1, len(probes)) if probes[i] and not probes[i - 1]]
    apart = [step_s * (b - a) for a, b in itertools.pairwise(begins)]
    lasts = step_s * sum(probes[begins[0] :]) / len(begins) if begins else None
    return {
        "probe_every_s": round(statistics.mean(apart), 2) if apart else None,
        "probe_lasts_s": round(lasts, 3) if lasts else None,
    }


def measured(cases: list[Case], seconds: int, seeds: int, jobs: int) -> dict[str, list[dict[str, float]]]:
    """Run each case in the kernel with each seed, some of them at the same time."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        wire = Path(folder) / "wire"
        command(f"cc -O2 -o {wire} {HERE / 'wire.c'} -lm")
        work = [(case, seed) for seed in range(1, seeds + 1) for case in cases]
        runs = pool.map(lambda pair: punctual(wire, pair[0], pair[1], seconds), work)
        found: dict[str, list[dict[str, float]]] = {case.name: [] for case in cases}
        for (case, seed), run in zip(work, runs, strict=True):
            found[case.name] += [{"seed": seed, **run}] if run else []
    return found


def punctual(wire: Path, case: Case, seed: int, seconds: int) -> dict[str, float] | None:
    """Run a case until the wire has been punctual; None if it never is."""
    for attempt in range(3):
        run = kernel(wire, case, seed, seconds, f"{os.getpid()}-{threading.get_ident() % 100000}-{attempt}")
        late = run["late_p999_ms"] > LATE_MS or run["overflowed"] > 0
        print(json.dumps({"name": case.name, "seed": seed, "counts": not late, **run}), file=sys.stderr, flush=True)
        if not late:
            return run
    return None


def kernel(wire: Path, case: Case, seed: int, seconds: int, place: str) -> dict[str, float]:
    """Run a case once, in namespaces of its own."""
    with contextlib.ExitStack() as stack:
        hosts = [stack.enter_context(namespace(f"{end}-{place}", end)) for end in ("send", "receive")]
        line = [case.mbps * 1_000_000, 500 * case.trip_ms, case.queue, case.limit, seed, WARMUP_S, seconds]
        process = subprocess.Popen([wire, *hosts, *map(str, line)], stdout=subprocess.PIPE, text=True)
        if process.stdout is None or process.stdout.readline() != "ready\n":
            raise RuntimeError("the wire does not start")
        stack.callback(process.kill)
        receiver, sender = (
            end(kind, host, case, seed, seconds) for kind, host in zip(("receive", "send"), hosts[::-1], strict=True)
        )
        time.sleep(WARMUP_S)
        before = counters(hosts[0])
        time.sleep(seconds - WARMUP_S)
        after = counters(hosts[0])
        printed = process.communicate(timeout=30)[0]
        received = json.loads(receiver.communicate(timeout=30)[0])
        files = json.loads(sender.communicate(timeout=30)[0])
    counts = {key: after[key] - before[key] for key in COUNTERS}
    return {"goodput_mbps": received, **json.loads(printed), **counts, **files}


@contextlib.contextmanager
def namespace(name: str, end: str) -> Iterator[str]:
    """Make the namespace of one end with its TUN device, and remove it in the end."""
    own, other = ("10.9.0.1", "10.9.0.2") if end == "send" else ("10.9.0.2", "10.9.0.1")
    try:
        command(f"ip netns add {name}")
        command(f"ip -n {name} link set lo up")
        command(f"ip -n {name} tuntap add dev wire mode tun")
        command(f"ip -n {name} link set dev wire txqueuelen 5000 mtu 1500")
        command(f"ip -n {name} address add {own} peer {other} dev wire")
        command(f"ip -n {name} link set dev wire up")
        command(f"ip netns exec {name} sysctl -qw net.ipv4.tcp_no_metrics_save=1")
        yield name
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False)


def command(line: str) -> None:
    """Run a command that has to succeed."""
    subprocess.run(line.split(), check=True)


def end(kind: str, place: str, case: Case, seed: int, seconds: int) -> subprocess.Popen[str]:
    """Start one end of the flows, ahead of other work on the machine."""
    python = [sys.executable, __file__, "--seconds", str(seconds), "--end", kind, case.name, str(seed)]
    inside = ["ip", "netns", "exec", place, "chrt", "--fifo", "10", *python]
    return subprocess.Popen(inside, stdout=subprocess.PIPE, text=True)


def counters(place: str) -> dict[str, int]:
    """Read the counters of a namespace."""
    read = ["ip", "netns", "exec", place, "nstat", "-asz"]
    lines = subprocess.run(read, check=True, capture_output=True, text=True).stdout.splitlines()[1:]
    values = {key: int(value) for key, value, *_ in (line.split() for line in lines)}
    return {key: sum(values.get(part, 0) for part in parts) for key, parts in COUNTERS.items()}


def receive(seconds: int) -> None:
    """Read from every connection, close those that end, and print the rate in Mb/s after the warm-up."""
    selector, total = selectors.DefaultSelector(), 0
    server = socket.create_server(("", PORT), backlog=1000)
    selector.register(server, selectors.EVENT_READ)
    begin = time.monotonic()
    while (passed := time.monotonic() - begin) < seconds:
        for key, _ in selector.select(timeout=0.1):
            if key.fileobj is server:
                selector.register(server.accept()[0], selectors.EVENT_READ)
                continue
            connection = key.fileobj
            if not isinstance(connection, socket.socket):
                continue
            if data := connection.recv(1 << 18):
                total += len(data) if passed >= WARMUP_S else 0
            else:
                selector.unregister(connection)
                connection.close()
    print(json.dumps(round(8e-6 * total / (seconds - WARMUP_S), 4)))


def send(case: Case, seed: int, seconds: int) -> None:
    """Send greedily or file by file until the time is over, and print the times of the files."""
    begin = time.monotonic()
    times: list[float] = []
    while time.monotonic() < begin + WARMUP_S:
        with contextlib.suppress(OSError):
            connected(case.control(0)).close()
            break
        time.sleep(0.05)
    octets = FILE if case.files else 1 << 40
    watch = Watch(case, {})
    threads = [
        threading.Thread(
            target=one, args=(case.control(index), begin + start, octets, begin, times, watch), daemon=True
        )
        for index, start in enumerate(case.starts(seed, seconds))
    ]
    for thread in threads:
        thread.start()
    found = watch.until(begin + WARMUP_S, begin + seconds - BEFORE_S) if case.is_watched else {}
    time.sleep(max(0, begin + seconds + 0.3 - time.monotonic()))
    print(json.dumps(summary(sorted(times)) if case.files else found), flush=True)
    os._exit(0)


@dataclass(frozen=True)
class Watch:
    """The sockets of a case by congestion control, which are read every 10 ms."""

    case: Case
    sockets: dict[str, socket.socket]
    STEP_S = 0.01

    def until(self, warm: float, stop: float) -> dict[str, Any]:
        """Read the sockets from an instant to another one: rates, gains and probes for the round trip."""
        time.sleep(max(0, warm - time.monotonic()))
        first = {control: acknowledged(each) for control, each in self.sockets.items()}
        gains: list[float] = []
        probes: list[bool] = []
        while (now := time.monotonic()) < stop:
            if each := self.sockets.get("bbr"):
                probes.append(tcp_info(each, 80, "=I") <= 4)
                if not probes[-1]:
                    gains.append(round(pacing_gain(each), 2))
            time.sleep(max(0, warm + self.STEP_S * (1 + (now - warm) // self.STEP_S) - time.monotonic()))
        rates = {
            control: 8e-6 * (acknowledged(each) - first[control]) / (stop - warm)
            for control, each in self.sockets.items()
        }
        return {"rates_mbps": rounded(rates), **probed(probes, self.STEP_S), "gains": counted(gains)}


def tcp_info(connection: socket.socket, place: int, form: str) -> int:
    """Read a number of `struct tcp_info`."""
    found: int = struct.unpack_from(form, connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192), place)[0]
    return found


def acknowledged(connection: socket.socket) -> int:
    """Return the octets that have been acknowledged."""
    return tcp_info(connection, 120, "=Q")


def pacing_gain(connection: socket.socket) -> float:
    """Return the pacing gain of BBR, from `struct tcp_bbr_info` (`TCP_CC_INFO`)."""
    found: int = struct.unpack_from("=I", connection.getsockopt(socket.IPPROTO_TCP, 26, 20), 12)[0]
    return found / 256


def connected(congestion: str) -> socket.socket:
    """Connect with a congestion control, which has to be set before the handshake."""
    connection = socket.socket()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    connection.connect(("10.9.0.2", PORT))
    return connection


def one(congestion: str, start: float, octets: int, begin: float, times: list[float], watch: Watch) -> None:
    """Send that many octets at an instant, and add the time until the receiver has closed."""
    time.sleep(max(0, start - time.monotonic()))
    first = time.monotonic()
    with contextlib.suppress(OSError), connected(congestion) as connection:
        watch.sockets[congestion] = connection
        block = bytes(60_000)
        while octets > 0:
            octets -= connection.send(block[:octets])
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)
        if first - begin >= WARMUP_S:
            times.append(time.monotonic() - first)


def summary(times: list[float]) -> dict[str, float]:
    """Give the number of files, their median and 99th percentile (nearest rank)."""
    return {
        "files": len(times),
        "file_mean_s": round(statistics.mean(times), 4),
        "file_p50_s": rank(times, 0.5),
        "file_p99_s": rank(times, 0.99),
    }


def rank(times: list[float], share: float) -> float:
    """Give the percentile of sorted times by the nearest rank."""
    return round(times[max(0, math.ceil(share * len(times)) - 1)], 4)


if __name__ == "__main__":
    main()
