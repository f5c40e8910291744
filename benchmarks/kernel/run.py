"""Pushout and the TCP of the Linux kernel through a token bucket: goodput, recoveries and timeouts of each case.

    sudo .venv/bin/python benchmarks/kernel/run.py [--seconds 60] [--out benchmarks/kernel/result.json]

Three network namespaces, `sender`, `router` and `receiver`, are joined by pairs of virtual Ethernet devices; the router
sends to the receiver through `tc qdisc … tbf`. Senders write as fast as they can. Needs Linux, root, `ip`, `tc` and
`nstat`; the kernel need not have `netem`, so only the queue delays packets. The same case runs in Pushout with the
profile `linux`, and both are measured after the same warm-up.
"""

import argparse
import contextlib
import json
import os
import platform
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import pushout
from pushout.records import recorded

HERE = Path(__file__).parent
PORT = 5001
WARMUP_S = 10
ETHERNET = 14
"""Octets of a frame that `tbf` counts and a packet link does not have."""
BURST_S = 0.01
"""The bucket holds 10 ms of its rate, so that no tokens are lost where the kernel serves the queue late."""
COUNTERS = {"recoveries": ("TcpExtTCPSackRecovery", "TcpExtTCPRenoRecovery"), "timeouts": ("TcpExtTCPTimeouts",)}


@dataclass(frozen=True)
class Case:
    """A congestion control, the rate of the bucket, the limit of its queue, and how many flows share it."""

    congestion: str
    flows: int
    mbps: int
    queue_bytes: int

    @property
    def burst(self) -> int:
        """The depth of the bucket, in octets with Ethernet headers."""
        return round(1e6 * self.mbps * BURST_S / 8)

    def scenario(self, seconds: int) -> dict[str, object]:
        """Give the case as Pushout has it: the bucket without the Ethernet headers of its packets."""
        share = 1500 / (1500 + ETHERNET)
        wide = {"rate": "1 Gb/s", "delay": "10 us"}
        return {
            "name": "kernel",
            "duration": f"{seconds} s",
            "warmup": f"{WARMUP_S} s",
            "topology": {
                "template": "dumbbell",
                "sources": self.flows,
                "access": wide,
                "bottleneck": wide,
                "egress": wide,
            },
            "adaptation": {"kind": "packet"},
            "port": {
                "bottleneck": {
                    "buffer": f"{round(self.queue_bytes * share)} bytes",
                    "shaper": {
                        "rate": f"{round(1e6 * self.mbps * share)} b/s",
                        "burst": f"{round(self.burst * share)} bytes",
                    },
                }
            },
            "flows": {
                "source": {"kind": "greedy"},
                "start_spread": "100 ms",
                "transport": {"kind": "tcp", "profile": "linux", "congestion": self.congestion},
            },
        }


CASES = [
    Case(congestion, flows, mbps, packets * (1500 + ETHERNET))
    for congestion, flows, (mbps, sizes) in product(
        ("reno", "cubic"), (1, 4), ((10, (20, 50, 100)), (50, (50, 100, 200)))
    )
    for packets in sizes
]


def main() -> None:
    """Run all cases, or one end of a case in its namespace."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="how long a case runs, the warm-up included")
    parser.add_argument("--jobs", type=int, default=1, help="cases in the kernel at the same time")
    parser.add_argument(
        "--keep", action="store_true", help="run Pushout alone, and keep what the file has of the kernel"
    )
    parser.add_argument("--out", type=Path, default=HERE / "result.json")
    parser.add_argument("--end", choices=("send", "receive"), help=argparse.SUPPRESS)
    parser.add_argument("--flows", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--congestion", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.end == "send":
        send(asked.flows, asked.congestion)
    elif asked.end == "receive":
        receive(asked.flows, asked.seconds)
    elif asked.keep:
        document = json.loads(asked.out.read_text())
        for case in document["cases"]:
            own = Case(*(case[key] for key in ("congestion", "flows", "mbps", "queue_bytes")))
            case["pushout"] = simulated(own, document["seconds"])
        asked.out.write_text(recorded(document))
    else:
        document = {"kernel": platform.release().split("-")[0], "seconds": asked.seconds, "warmup": WARMUP_S}
        document |= {"cases": list(measured(asked.seconds, asked.jobs))}
        asked.out.write_text(recorded(document))


def measured(seconds: int, jobs: int) -> Iterator[dict[str, object]]:
    """Give the results of all cases, with as many at a time in the kernel."""
    for first in range(0, len(CASES), jobs):
        cases = CASES[first : first + jobs]
        for case, linux in zip(cases, kernel(cases, seconds), strict=True):
            result = {**asdict(case), "linux": linux, "pushout": simulated(case, seconds)}
            print(json.dumps(result), file=sys.stderr, flush=True)
            yield result


def simulated(case: Case, seconds: int) -> dict[str, float]:
    """Run the case in Pushout, five times with other starts: the mean of each figure."""
    run = pushout.run(case.scenario(seconds), reps=5)
    flows = [f"flows.flow{1 + index}" for index in range(case.flows)]
    total = {key: sum(run[f"{flow}.{key}"]["mean"] for flow in flows) for key in ("fast_retransmits", "timeouts")}
    return {
        "goodput_mbps": run["summary.goodput_bps"]["mean"] / 1e6,
        "recoveries": total["fast_retransmits"],
        "timeouts": total["timeouts"],
    }


def kernel(cases: list[Case], seconds: int) -> list[dict[str, float]]:
    """Run these cases in the kernel, at the same time and each in namespaces of its own."""
    with contextlib.ExitStack() as stack:
        places = [stack.enter_context(namespaces(case, f"{os.getpid()}-{index}")) for index, case in enumerate(cases)]
        receivers = [end("receive", place, case, seconds) for place, case in zip(places, cases, strict=True)]
        time.sleep(0.5)
        senders = [end("send", place, case, seconds) for place, case in zip(places, cases, strict=True)]
        time.sleep(WARMUP_S)
        before = [counters(place) for place in places]
        time.sleep(seconds - WARMUP_S)
        after = [counters(place) for place in places]
        octets = [int(receiver.communicate(timeout=60)[0]) for receiver in receivers]
        for sender in senders:
            sender.wait(timeout=60)
    return [
        {"goodput_mbps": 8e-6 * received / (seconds - WARMUP_S)} | {key: new[key] - old[key] for key in COUNTERS}
        for received, old, new in zip(octets, before, after, strict=True)
    ]


@contextlib.contextmanager
def namespaces(case: Case, name: str) -> Iterator[str]:
    """Make the three namespaces of a case, and remove them in the end."""
    sender, router, receiver = (f"{part}-{name}" for part in ("sender", "router", "receiver"))
    try:
        for namespace in (sender, router, receiver):
            command(f"ip netns add {namespace}")
            command(f"ip -n {namespace} link set lo up")
        link(sender, router, "10.1.0")
        link(receiver, router, "10.2.0")
        command(f"ip netns exec {router} sysctl -qw net.ipv4.ip_forward=1")
        bucket = f"tbf rate {case.mbps}mbit burst {case.burst} limit {case.queue_bytes}"
        command(f"ip netns exec {router} tc qdisc add dev to-{receiver[:8]} root {bucket}")
        yield name
    finally:
        for namespace in (sender, router, receiver):
            subprocess.run(["ip", "netns", "del", namespace], check=False)


def link(host: str, router: str, network: str) -> None:
    """Join a host and the router: packets leave as they are on the wire, none larger than a frame."""
    far = f"to-{host[:8]}"
    command(f"ip -n {host} link add out type veth peer name {far} netns {router}")
    for namespace, device, address in ((host, "out", f"{network}.1"), (router, far, f"{network}.2")):
        command(f"ip -n {namespace} link set dev {device} gso_max_segs 1")
        command(f"ip -n {namespace} address add {address}/24 dev {device}")
        command(f"ip -n {namespace} link set dev {device} up")
    command(f"ip -n {host} route add default via {network}.2")


def command(line: str) -> None:
    """Run a command that has to succeed."""
    subprocess.run(line.split(), check=True)


def end(what: str, name: str, case: Case, seconds: int) -> subprocess.Popen[str]:
    """Start one end of the flows, ahead of other work on the machine."""
    namespace = f"{'sender' if what == 'send' else 'receiver'}-{name}"
    python = [sys.executable, __file__, "--end", what, "--flows", str(case.flows), "--seconds", str(seconds)]
    python += ["--congestion", case.congestion]
    return subprocess.Popen(
        ["ip", "netns", "exec", namespace, "nice", "-n", "-15", *python], stdout=subprocess.PIPE, text=True
    )


def counters(name: str) -> dict[str, int]:
    """Read the counters of the sending namespace."""
    read = subprocess.run(
        ["ip", "netns", "exec", f"sender-{name}", "nstat", "-asz"], check=True, capture_output=True, text=True
    )
    values = {key: int(value) for key, value, *_ in (line.split() for line in read.stdout.splitlines()[1:])}
    return {key: sum(values.get(part, 0) for part in parts) for key, parts in COUNTERS.items()}


def send(flows: int, congestion: str) -> None:
    """Write without end, until the receiver closes its connections."""
    selector = selectors.DefaultSelector()
    for _ in range(flows):
        connection = socket.socket()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        connection.connect(("10.2.0.1", PORT))
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_WRITE)
        time.sleep(0.1 / flows)
    block = bytes(65536)
    with contextlib.suppress(ConnectionError):
        while True:
            for key, _ in selector.select():
                with contextlib.suppress(BlockingIOError):
                    os.write(key.fd, block)


def receive(flows: int, seconds: int) -> None:
    """Read from every connection, and print the octets that came after the warm-up."""
    selector, total = selectors.DefaultSelector(), 0
    with socket.create_server(("", PORT)) as server:
        for _ in range(flows):
            selector.register(server.accept()[0], selectors.EVENT_READ)
    begin = time.monotonic()
    while (passed := time.monotonic() - begin) < seconds:
        for key, _ in selector.select(timeout=0.1):
            octets = len(os.read(key.fd, 1 << 20))
            total += octets if passed >= WARMUP_S else 0
    print(total)


if __name__ == "__main__":
    main()
