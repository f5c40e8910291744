"""Texts of `tc qdisc show`: a second reader finds the parameters of the port, or a line names what is missing."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pushout.errors import QuestionError
from pushout.switch import foreign
from pushout.switch.foreign import Imported

MATRIX = "Nodes 2\nConnections 1\n0->1 start 0 size 20000\n"

FQ = "limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64"
RED = "limit 400000b min 30000b max 90000b"
PIE = "limit 1000p target 15ms tupdate 15ms alpha 2 beta 20"
DUAL = "limit 10000p target 15ms tupdate 16ms alpha 0.156250 beta 3.195312 l4s_ect coupling_factor 2"
DUAL_MORE = "drop_on_overload step_thresh 1ms drop_dequeue split_gso classic_protection 10%"
STATS = (
    " Sent 1024 bytes 7 pkt (dropped 0, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n  count 0 lastcount 0\n"
)

TEXTS = (
    # One queue, at the root
    "qdisc pfifo 8001: dev eth0 root refcnt 2 limit 1000p",
    "qdisc pfifo 8001: root refcnt 2 limit 1p",
    "qdisc bfifo 8002: dev eth0 root refcnt 2 limit 15140b",
    "qdisc bfifo 8002: dev eth0 root refcnt 2 limit 64Kb",
    "qdisc bfifo 8002: dev eth0 root refcnt 13 limit 3Mb",
    "qdisc pfifo_head_drop 8003: dev eth0 root refcnt 2 limit 100p",
    "qdisc codel 8004: dev eth0 root refcnt 2 limit 1000p target 5ms interval 100ms",
    "qdisc codel 8004: dev eth0 root refcnt 2 limit 1000p target 4.999ms interval 99.999ms ecn",
    "qdisc codel 8004: dev eth0 root refcnt 2 limit 60p target 500us ce_threshold 100us interval 10ms ecn drop_batch 1",
    "qdisc codel 8004: dev wan root refcnt 2 limit 7p target 1s interval 2s",
    f"qdisc fq_codel 0: dev eth0 root refcnt 2 {FQ}",
    "qdisc fq_codel 0: dev eth0 root refcnt 2 limit 1001p flows 64 quantum 300 target 4.999ms interval 99.9ms",
    f"qdisc fq_codel 0: dev eth0 root refcnt 2 {FQ} ce_threshold 1ms",
    f"qdisc fq_codel 0: dev eth0 root refcnt 2 {FQ} ce_threshold 999us ce_threshold_selector 0x1/0x1",
    f"qdisc fq_codel 8005: root refcnt 2 {FQ.replace(' ecn', '')}\n{STATS}",
    f"qdisc fq_codel 0: dev eth0 root refcnt 2 {FQ}\n{STATS}  maxpacket 1514 drop_overlimit 0 new_flow_count 17",
    f"qdisc pie 8006: dev eth0 root refcnt 2 {PIE}",
    f"qdisc pie 8006: dev eth0 root refcnt 2 {PIE} ecn",
    f"qdisc pie 8006: dev eth0 root refcnt 2 {PIE} ecn bytemode dq_rate_estimator",
    "qdisc pie 8006: dev eth0 root refcnt 2 limit 200p target 20ms tupdate 30ms alpha 1 beta 10 bytemode",
    f"qdisc fq_pie 8007: dev eth0 root refcnt 2 limit 10240p flows 1024 {PIE[12:]} quantum 1514b memory_limit 32Mb",
    "qdisc fq_pie 8007: dev eth0 root refcnt 2 limit 99p flows 16 target 15ms tupdate 15ms alpha 4 beta 2 ecn_prob 25",
    "qdisc fq_pie 8007: root limit 99p flows 16 target 15ms tupdate 15ms alpha 4 beta 2 quantum 300b ecn_prob 25 ecn",
    f"qdisc red 8008: dev eth0 root refcnt 2 {RED}",
    f"qdisc red 8008: dev eth0 root refcnt 2 {RED} ecn ewma 5 probability 0.02 Scell_log 11",
    f"qdisc red 8008: dev eth0 root refcnt 2 {RED} ecn nodrop ewma 3 probability 1 Scell_log 9",
    f"qdisc red 8008: dev eth0 root refcnt 2 {RED} harddrop adaptive ewma 7 probability 0.1 Scell_log 12",
    "qdisc red 8008: root refcnt 2 limit 1Mb min 100Kb max 300Kb adaptive ecn harddrop ewma 9 probability 0.005",
    f"qdisc dualpi2 8009: dev eth0 root refcnt 2 {DUAL} {DUAL_MORE}",
    f"qdisc dualpi2 8009: dev eth0 root refcnt 2 {DUAL} overflow step_thresh 500us classic_protection 25%",
    f"qdisc dualpi2 8009: dev eth0 root refcnt 2 {DUAL} drop_on_overload step_thresh 30p drop_enqueue any_ect",
    f"qdisc dualpi2 8009: dev eth0 root refcnt 2 {DUAL} memlimit 15140000 no_split_gso step_thresh 2ms",
    "qdisc tbf 800a: dev eth0 root refcnt 2 rate 20Mbit burst 15Kb lat 50ms",
    "qdisc tbf 800a: dev eth0 root refcnt 2 rate 1500Kbit burst 5Kb/8 mpu 64b lat 70ms linklayer ethernet",
    "qdisc tbf 800a: dev eth0 root refcnt 2 rate 1Gbit burst 256Kb limit 3000000b",
    "qdisc tbf 800a: dev eth0 root refcnt 2 rate 10Mbit burst 10Kb peakrate 20Mbit minburst 2Kb lat 10ms overhead 18",
    "qdisc tbf 800a: root refcnt 2 rate 999999bit burst 1600b lat 1.5s",
    # Beside others
    f"qdisc noqueue 0: dev lo root refcnt 2\nqdisc fq_codel 0: dev eth0 root refcnt 2 {FQ}",
    "qdisc ingress ffff: dev eth0 parent ffff:fff1 ----------------\nqdisc codel 1: dev eth0 root limit 9p target 9ms",
    f"qdisc fq_codel 0: dev eth1 parent :1 {FQ}\nqdisc pie 8006: dev eth0 root refcnt 2 {PIE}",
    f"qdisc clsact ffff: dev eth0 parent ffff:fff1\nqdisc fq_codel 0: dev eth0 root {FQ} # the uplink\n\n{STATS}",
    # Trees
    f"qdisc mq 0: dev eth0 root\nqdisc fq_codel 0: dev eth0 parent :2 {FQ}\nqdisc fq_codel 0: dev eth0 parent :1 {FQ}",
    f"qdisc mq 8001: dev eth0 root\nqdisc pie 8002: dev eth0 parent 8001:1 {PIE} ecn bytemode",
    "qdisc multiq 1: dev eth0 root bands 2/4\n" + "qdisc pfifo {0}: dev eth0 parent 1:{0} limit 50p\n" * 1,
    f"qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x30 direct_packets_stat 0 ver 3.17 direct_qlen 1000\n"
    f"qdisc fq_codel 30: dev eth0 parent 1:30 {FQ}",
    f"qdisc htb 1: root refcnt 2 r2q 10 default 0 direct_packets_stat 3 direct_qlen 1000 offload\n"
    f"qdisc red 10: parent 1:10 {RED} ecn ewma 5 probability 0.02\n"
    f"qdisc red 20: parent 1:20 {RED} ecn ewma 5 probability "
    "0.02",
    f"qdisc hfsc 1: dev ppp0 root refcnt 2 default 0x10\nqdisc dualpi2 10: dev ppp0 parent 1:10 {DUAL} {DUAL_MORE}",
    "qdisc prio 1: dev eth0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1\n"
    "qdisc pfifo 10: dev eth0 parent 1:1 limit 1000p\nqdisc pfifo 20: dev eth0 parent 1:2 limit 1000p",
    "qdisc ets 1: dev eth0 root refcnt 2 bands 4 strict 1 quanta 5000 3000 2000 priomap 3 3 2 2 1 1 0 0\n"
    f"qdisc fq_pie 10: dev eth0 parent 1:2 limit 10240p flows 1024 {PIE[12:]} ecn_prob 10",
    "qdisc drr 1: dev eth0 root refcnt 2\nqdisc codel 11: dev eth0 parent 1:1 limit 99p target 5ms interval 100ms",
    f"qdisc qfq 1: root refcnt 2\n"
    f"qdisc bfifo 11: parent 1:1 limit 20Kb\nqdisc bfifo 12: parent 1:2 limit 20Kb\n{STATS}",
    f"qdisc mqprio 8001: dev eth0 root tc 3 map 2 2 1 0 2 2 2 2 queues:(0:1) (2:3) (4:5) mode channel\n"
    f"qdisc fq_codel 0: dev eth0 parent 8001:1 {FQ}",
    f"qdisc tbf 1: dev eth0 root refcnt 2 rate 50Mbit burst 32Kb lat 20ms\nqdisc fq_codel 2: dev eth0 parent 1:1 {FQ}",
    "qdisc tbf 1: dev eth0 root refcnt 2 rate 50Mbit burst 32Kb limit 90000b\n"
    "qdisc codel 2: dev eth0 parent 1: limit 80p",
    f"qdisc tbf 1: root rate 5Mbit burst 3Kb lat 9ms mpu 60b\nqdisc prio 2: parent 1:1 bands 2 priomap 1 1 0 0\n"
    f"qdisc pie 3: parent 2:1 {PIE}",
    f"qdisc htb 1: root default 0x1\n"
    f"qdisc tbf 2: parent 1:1 rate 7Mbit burst 2Kb lat 99ms\nqdisc dualpi2 3: parent 2:1 {DUAL}",
    "qdisc mq 0: root\nqdisc mq 5: parent :1\nqdisc pfifo_head_drop 6: parent 5:1 limit 12p",
    "qdisc prio 1: root bands 2 priomap 0 1\n"
    "qdisc htb 2: parent 1:1 r2q 10 default 0\nqdisc bfifo 3: parent 2:1 limit 9Kb",
    f"qdisc ets 1: root bands 2 quanta 1514 3028\n"
    f"qdisc red 2: parent 1:1 {RED}\nqdisc red 3: parent 1:2 {RED}\n{STATS}",
    "qdisc noqueue 0: dev lo root\n"
    "qdisc mq 0: dev eth0 root\nqdisc codel 0: dev eth0 parent :1 limit 5p ecn target 1ms\n"
    "qdisc noqueue 0: dev wlan0 root",
    # Bands, each with a class
    "qdisc prio 1: root refcnt 2 bands 4 priomap 3 3 2 2 1 1 0 0 3 3 3 3 3 3 3 3\n"
    "qdisc pfifo 10: parent 1:1 limit 16p\nqdisc pfifo 20: parent 1:2 limit 32p\n"
    "qdisc pfifo 30: parent 1:3 limit 64p\nqdisc pfifo 40: parent 1:4 limit 128p",
    "qdisc ets 1: dev eth0 root refcnt 2 bands 4 strict 2 quanta 4500 1500 priomap 3 3 2 2 1 1 0 0 3 3 3 3 3 3 3 3\n"
    "qdisc bfifo 10: dev eth0 parent 1:1 limit 30Kb\nqdisc bfifo 20: dev eth0 parent 1:2 limit 60Kb\n"
    f"qdisc bfifo 30: dev eth0 parent 1:3 limit 1Mb\nqdisc bfifo 40: dev eth0 parent 1:4 limit 2Mb\n{STATS}",
    "qdisc ets 1: root refcnt 2 bands 3 quanta 3028 1514 1000 priomap 0 1 2\n"
    "qdisc codel 2: parent 1:1 limit 100p target 5ms interval 100ms ecn\n"
    "qdisc codel 3: parent 1:2 limit 200p target 5ms interval 100ms ecn",
    "qdisc ets 1: root refcnt 2 bands 2 strict 2 priomap 1 1 1 1 1 1 0 0\n"
    f"qdisc pie 2: parent 1:1 {PIE}\nqdisc pie 3: parent 1:2 {PIE.replace('1000p', '200p')}",
    "qdisc prio 8001: root bands 16 priomap 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0\n"
    "qdisc pfifo 1: parent 8001:10 limit 9p\nqdisc pfifo 2: parent 8001:a limit 8p",
    "qdisc prio 1: root bands 2 priomap 1 1 1 1 1 1 0 0\nqdisc pfifo 2: parent 1:1 limit 50p\n"
    "qdisc tbf 3: parent 1:2 rate 30Mbit burst 15Kb lat 20ms\nqdisc pfifo 4: parent 3:1 limit 70p",
    "qdisc mq 0: root\nqdisc prio 1: parent :1 bands 2 priomap 1 1 0 0\n"
    "qdisc bfifo 2: parent 1:1 limit 50Kb\nqdisc tbf 3: parent 1:2 rate 3Mbit burst 5Kb limit 9000b",
    "qdisc tbf 1: root rate 1Gbit burst 64Kb lat 5ms\n"
    "qdisc ets 2: parent 1:1 bands 2 strict 1 quanta 9000 priomap 1 0\n"
    "qdisc pfifo 3: parent 2:1 limit 5p\nqdisc pfifo 4: parent 2:2 limit 6p",
    "qdisc prio 1: root bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 multiqueue: on\n"
    f"qdisc fq_codel 2: parent 1:2 {FQ}\nqdisc ingress ffff: parent ffff:fff1 ----------------",
    "qdisc ets 1: root bands 2 strict 1 quanta 1514 priomap 1 0\nqdisc prio 2: parent 1:1 bands 2 priomap 1 0\n"
    "qdisc codel 3: parent 2:1 limit 99p target 5ms interval 100ms",
)
TEXTS = tuple(text.format(2) if "{0}" in text else text for text in TEXTS)

PACKETS = ("pfifo", "pfifo_head_drop", "codel", "fq_codel", "pie", "fq_pie", "dualpi2")
PLACE = r"(?:dev \S+|root|refcnt \d+|parent \S+)"
KEPT_ELSEWHERE = ("noqueue", "ingress", "clsact")


def seconds(text: str) -> float:
    """Read a time, as in 5ms or "5 ms"."""
    number, unit = re.fullmatch(r"([\d.]+) ?(s|ms|us|ns)", text).groups()  # type: ignore[union-attr]
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]


def octets(text: str) -> float:
    """Read a size, as in 15Kb, 1514b, 1514 or "1514 bytes"."""
    number, unit = re.fullmatch(r"(\d+) ?(b|Kb|Mb|bytes|)(?:/\d+)?", text).groups()  # type: ignore[union-attr]
    return int(number) * {"Kb": 1024, "Mb": 1024**2}.get(unit, 1)


def bits(text: str) -> float:
    """Read a rate, as in 20Mbit or "20000000 b/s"."""
    number, unit = re.fullmatch(r"(\d+) ?([KMG]?)(?:bit|b/s)", text).groups()  # type: ignore[union-attr]
    return int(number) * {"K": 1e3, "M": 1e6, "G": 1e9}.get(unit, 1)


class Meant(NamedTuple):
    """Where the value of an option stands in the port, and what it is there."""

    path: str
    value: Callable[[str], Any]
    read: Callable[[Any], Any] = lambda value: value


def flag(value: object) -> Callable[[str], object]:
    """The value of a flag."""
    return lambda _: value


TARGETS = {
    "target": Meant("admission.target", seconds, seconds),
    "tupdate": Meant("admission.update", seconds, seconds),
    "interval": Meant("admission.interval", seconds, seconds),
    "ce_threshold": Meant("admission.ce_threshold", seconds, seconds),
    "ecn": Meant("admission.action", flag("mark")),
    "quantum": Meant("scheduler.quantum", octets, octets),
    "flows": Meant("scheduler.buckets", int),
    "drop_batch": Meant("admission.batch", int),
    "bytemode": Meant("admission.byte_mode", flag(True)),
    "ecn_prob": Meant("admission.mark_limit", lambda text: int(text) / 100),
    "min": Meant("admission.min_threshold", octets, octets),
    "max": Meant("admission.max_threshold", octets, octets),
    "probability": Meant("admission.max_p", float),
    "ewma": Meant("admission.weight", lambda text: 0.5 ** int(text)),
    "adaptive": Meant("admission.adaptive", flag(True)),
    "coupling_factor": Meant("admission.coupling", int),
    "step_thresh": Meant("admission.step", seconds, seconds),
    "overflow": Meant("admission.overload", flag("overflow")),
    "classic_protection": Meant("scheduler.classic_share", lambda text: int(text[:-1]), lambda text: int(text[:-2])),
    "rate": Meant("shaper.rate", bits, bits),
    "burst": Meant("shaper.burst", octets, octets),
}
"""Options that have a key, for every kind that has them."""

CLASSFUL = ("mq", "multiq", "htb", "hfsc", "prio", "ets", "drr", "qfq", "mqprio")
"""Kinds without a queue of their own."""

AS_IT_IS = ("l4s_ect", "drop_on_overload", "drop_dequeue")
"""Options of dualpi2 that say what the policy does in any case."""


def gains(kind: str, text: str) -> float:
    """Alpha and beta: sixteenths for pie."""
    return float(text) / (1 if kind == "dualpi2" else 16)


def at(port: Mapping[str, Any], path: str) -> Any:
    """Follow a path; None if it ends."""
    for name in path.split("."):
        port = port.get(name, {}) if isinstance(port, Mapping) else {}
    return None if port == {} else port


def read(folder: Path, text: str) -> Imported:
    """Import a text beside a flow."""
    (folder / "tc.txt").write_text(text)
    (folder / "flows.cm").write_text(MATRIX)
    return foreign.read([folder / "flows.cm", folder / "tc.txt"])


def qdiscs(text: str) -> list[tuple[int, str, str, dict[str, str]]]:
    """Read the lines: number, kind, place and options, each with all that stands behind it up to the next word."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.match(rf"qdisc (\S+) \S+ ((?:{PLACE} ?)*)([^#]*)", line):
            words = re.findall(r"((?:linklayer|mode) )?([A-Za-z]\w*):?((?: ?\(?\d\S*)*)", match[3])
            options = {
                before.strip() or key: f"{key} {value}" if before else value.strip() for before, key, value in words
            }
            found.append((number, match[1], match[2], options))
    return found


def test_there_are_seventy_of_all_kinds() -> None:
    assert len(set(TEXTS)) == len(TEXTS) == 70
    kinds = {kind for text in TEXTS for _, kind, _, _ in qdiscs(text)}
    assert kinds >= {*PACKETS, "bfifo", "red", "tbf", "mq", "htb", "prio", "ets"}
    assert sum(text.count("parent") > 1 for text in TEXTS) >= 8


@pytest.mark.parametrize("text", TEXTS)
def test_every_option_is_in_the_port_or_is_named(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    port, left_out = found.port, [line.partition("tc.txt:")[2] for line in found.left_out]
    assert "memory" in port if found.qdiscs.classes else "buffer" in port
    accounted, limited = {"memory"}, False
    if found.qdiscs.classes:
        accounted |= check_bands(found, text)
    for number, kind, _, options in qdiscs(text):
        named = [line.partition(": ")[2] for line in left_out if line.startswith(f"{number}: ")]
        whole = any(line.startswith(f"qdisc {kind}") for line in named)
        is_copy = not found.qdiscs.classes and any(
            (kind, options) == (other, same) for n, other, _, same in qdiscs(text) if n < number
        )
        for option, value in options.items():
            if found.qdiscs.classes and option in ("bands", "strict", "quanta", "priomap"):
                continue
            is_named = any(re.match(f"{kind} {option}[ :]", line) for line in named)
            if whole or is_copy or is_named:
                has_key = option in TARGETS and (kind, option) != ("codel", "drop_batch") and value[-1:] != "p"
                assert not (is_named and has_key and kind not in CLASSFUL), f"{kind} has a key for {option}"
                continue
            accounted.add(check(view(found, text, number), kind, option, value, options))
            limited |= option in ("limit", "lat")
        if not options and kind not in PACKETS:
            assert whole or named or kind in ("mq", "drr", "qfq"), (kind, named)
    assert limited
    for path in leaves(port):
        constant = path.rpartition(".")[2] in ("policy", "law", "full") or path == "admission.action"
        assert path in accounted or constant, f"{path} comes from nothing"


def band_of(text: str, number: int) -> int | None:
    """Follow the parents of a line to one of prio or ets; return the band below which it stands."""
    heads = [re.match(r"qdisc (\S+) (\S+): (.*)", line) for line in text.splitlines()]
    known = {head[2]: (head[1], head[3]) for head in heads if head}
    rest = known[heads[number - 1][2]][1]  # type: ignore[index]
    while parent := re.search(r"parent (\w*):(\w+)", rest):
        kind, rest = known[parent[1] or "0"]
        if kind in ("prio", "ets"):
            return int(parent[2], 16) - 1
    return None


def view(found: Imported, text: str, number: int) -> Mapping[str, Any]:
    """The port as the qdisc of a line sees it: with the limit and the rate of its band."""
    band = band_of(text, number) if found.qdiscs.classes else None
    if band is None:
        return found.port
    keys = found.qdiscs.classes[f"band{band}"]
    unit = {"65535 bytes": "packets", "1 bytes": "bytes"}[found.qdiscs.memory["cell"]]
    rate = {"rate": keys.get("maximum"), "burst": f"{int(octets(keys.get('burst', '0 bytes'))) + 1514} bytes"}
    return {**found.port, "buffer": keys["limit"].replace("cells", unit), "shaper": rate}


def check_bands(found: Imported, text: str) -> set[str]:
    """Compare priorities, weights and the map with what the line of prio or ets says; return the paths of keys."""
    whole = [row for row in qdiscs(text) if row[1] in ("prio", "ets")]
    ((_, kind, _, options),) = [
        row for row in whole if not any(f"tc.txt:{row[0]}: {row[1]} bands" in line for line in found.left_out)
    ]
    is_prio = kind == "prio"
    count, port, classes = int(options["bands"]), found.port, found.qdiscs.classes
    strict = count if is_prio else int(options.get("strict", "0"))
    quanta = [int(word) for word in options.get("quanta", "").split()]
    bands = [classes[f"band{number}"] for number in range(count)]
    assert [band.get("priority") for band in bands] == [*range(strict), *[None] * len(quanta)]
    turns = port["scheduler"].get("group", port["scheduler"])
    for band, quantum in zip(bands[strict:], quanta, strict=True):
        assert band["weight"] * octets(turns["quantum"]) == quantum
    assert (turns["policy"] == "drr") is bool(quanta)
    if strict and quanta:
        assert turns["queues"] == [f"band{number}" for number in range(strict, count)]
    given = [int(word) for word in options["priomap"].split()]
    assert found.qdiscs.of_priority == tuple(f"band{band}" for band in [*given, *[count - 1] * 16][:16])
    assert next(iter(classes)) == found.qdiscs.of_priority[0], "packets without a priority are of the first class"
    told = [line for line in found.left_out if "the limit of band" in line]
    with_limit = {band_of(text, number) for number, _, _, options in qdiscs(text) if {"limit", "lat"} & options.keys()}
    assert len(told) == count - len(with_limit - {None}), "what is assumed is told"
    assert found.qdiscs.memory["size"] == sum(int(band["limit"].split()[0]) for band in bands)
    group = {f"scheduler.group.{key}" for key in ("queues", "quantum")}
    return {"scheduler.queues", "scheduler.quantum", *group}


def check(port: Mapping[str, Any], kind: str, option: str, value: str, options: Mapping[str, str]) -> str:
    """Compare an option with the port; return the path of its key."""
    if option in AS_IT_IS and kind == "dualpi2":
        return "admission.policy"
    if option == "limit":
        unit = "packets" if kind in PACKETS else "bytes"
        size = int(value[:-1]) if unit == "packets" else int(octets(value))
        assert port["buffer"] == f"{size} {unit}"
        return "buffer"
    if option == "lat":
        room = bits(options["rate"]) / 8 * seconds(value) + octets(options["burst"])
        assert abs(int(port["buffer"].split()[0]) - room) <= 1
        return "buffer"
    if option in ("alpha", "beta"):
        assert port["admission"][option] == pytest.approx(gains(kind, value))
        return f"admission.{option}"
    meant = TARGETS[option]
    assert meant.read(at(port, meant.path)) == pytest.approx(meant.value(value)), (option, value)
    return meant.path


def leaves(port: Mapping[str, Any], path: str = "") -> list[str]:
    """List the paths of all values."""
    return [
        leaf
        for key, value in port.items()
        for leaf in (leaves(value, f"{path}{key}.") if isinstance(value, Mapping) else [f"{path}{key}"])
    ]


@pytest.mark.parametrize("text", TEXTS)
def test_another_value_of_an_option_is_seen(tmp_path: Path, text: str) -> None:
    """Each number of a qdisc that is used, changed alone, changes the port, is named, or is refused."""
    before = read(tmp_path, text)
    for found in re.finditer(r"(?<= )(\d+)(?=[a-zA-Z%]*(?:/\d+)?(?: |\n|$))", text):
        line = text[: found.start()].rpartition("\n")[2]
        number = text.count("\n", 0, found.start()) + 1
        whole = any(f"tc.txt:{number}: qdisc " in each for each in before.left_out)
        if whole or not line.startswith("qdisc") or line.endswith("refcnt "):
            continue
        changed = f"{text[: found.start()]}{int(found[1]) + 1}{text[found.end() :]}"
        try:
            after = read(tmp_path, changed)
        except QuestionError:
            continue
        assert (after.qdiscs, after.left_out) != (before.qdiscs, before.left_out), changed
