"""The port that `tc qdisc show` describes: its text, with `-s` and `-d` or without, or its JSON (`-j`).

Lines of `tc class show` beside it give the rate of htb.

*Source*: iproute2, `tc/q_*.c`, for what is printed and in which units: sizes count 1024 bytes as Kb; JSON has bytes,
bytes per second and microseconds; `ewma` is an exponent, alpha and beta of pie are sixteenths. Linux, `net/sched`, for
what the options mean. What has no key here is left out, and named.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, NoReturn

from pushout.excerpt import quoted
from pushout.flowlist import Lines
from pushout.switch import bands
from pushout.switch.bands import Described

NO_QUEUE = ("noqueue", "ingress", "clsact")
"""Kinds that keep no packet."""

CLASSFUL = ("mq", "multiq", "htb", "hfsc", "prio", "ets", "drr", "qfq", "cbq", "taprio", "mqprio")
"""Kinds whose packets wait in the qdiscs below them."""

PLACE = ("root", "dev", "refcnt", "parent", "handle", "kind")
"""Words of a line that set nothing of a queue discipline."""

NAMES = ("dev", "parent", "leaf", "linklayer", "mode", "clockid", "txtime-assist")
"""Options whose value may begin with a letter; all other values begin with a digit."""


class Qdisc(NamedTuple):
    """A queue discipline, or a class of one: kind, place in the tree of its device, options as tc writes them."""

    line: int
    kind: str
    handle: str
    device: str
    parent: str | None
    options: Mapping[str, str]
    is_class: bool = False

    def settings(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """What two qdiscs have in common that work alike."""
        return self.kind, tuple(sorted(item for item in self.options.items() if item[0] not in PLACE))


def read(lines: Lines) -> Described:
    """Read a file and return the port, with its classes; a port without a limit is refused."""
    is_json = lines.first().startswith(("[", "{"))
    found = _from_json(lines) if is_json else _from_text(lines)
    qdiscs = [one for one in found if not one.is_class]
    roots = [one for one in qdiscs if one.parent is None and one.kind not in NO_QUEUE]
    for one in found:
        if one.kind in NO_QUEUE:
            _leave_out(lines, one)
    if not roots:
        children = [one for one in qdiscs if one.parent is not None]
        if len(children) != 1:
            lines.refuse(f"a qdisc with root must have a limit: write root in place of parent for one of {_known()}")
        roots = children
    if len(roots) > 1:
        lines.number = roots[1].line
        lines.refuse("one root qdisc must be given: that of the device whose port the scenario is about")
    used = [roots[0]]
    described = _port(lines, roots[0], found, used)
    for one in found:
        if one not in used and one.kind not in NO_QUEUE:
            _leave_out(lines, one)
    lines.left_out = dict(sorted(lines.left_out.items(), key=lambda row: int(row[1].rpartition(":")[2])))
    return described


def _known() -> str:
    return ", ".join(READERS)


def _leave_out(lines: Lines, one: Qdisc, what: str = "") -> None:
    """Name what is left out: a whole qdisc, or one of its options, in the line where it is written."""
    lines.number = one.line
    place = f"class {one.kind} {one.handle}" if one.is_class else f"qdisc {one.kind}"
    place += f" dev {one.device}" if one.device else ""
    place += f" parent {one.parent}" if one.parent else ""
    lines.leave_out(f"{one.kind} {what}" if what else place)


def _from_text(lines: Lines) -> list[Qdisc]:
    """Read lines that begin with qdisc or class; what is indented below one of them are its counters."""
    found: list[Qdisc] = []
    for raw in lines.raw():
        text = raw.split("#", 1)[0]
        words = text.split()
        if not words or (found and text[0] in " \t"):
            continue
        if words[0] not in ("qdisc", "class") or len(words) < 3:
            lines.refuse(f"the line must begin with qdisc KIND HANDLE, not {quoted(text.strip())}")
        options = _options(words[3:])
        device, parent = options.get("dev", ""), options.get("parent")
        found.append(Qdisc(lines.number, words[1], words[2], device, parent, options, words[0] == "class"))
    return found


def _options(words: Sequence[str]) -> dict[str, str]:
    """Return the options of a qdisc, each with all its values: none for a flag, several for a list as priomap."""
    found: dict[str, str] = {}
    index = 0
    while index < len(words):
        key, index = words[index], index + 1
        first = index
        while index < len(words) and (words[index][0] in "0123456789(:" or (index == first and key in NAMES)):
            index += 1
        found[key] = " ".join(words[first:index])
    return found


TIMES = ("target", "tupdate", "interval", "ce_threshold", "step_thresh", "lat")
"""Options that JSON gives in microseconds."""


def _from_json(lines: Lines) -> list[Qdisc]:
    """Read what `tc -j qdisc show` prints."""
    text = "\n".join(raw for raw in lines.raw())
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        lines.number = getattr(error, "lineno", 1)
        lines.refuse(f"the JSON of tc must be whole: {quoted(getattr(error, 'msg', 'too deep'))}")
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("kind"), str) for row in rows
    ):
        lines.number = 1
        lines.refuse("the JSON of tc must be a list of qdiscs, each with its kind")
    found = []
    for row in rows:
        given = row.get("options")
        words = [
            word
            for key, value in (given if isinstance(given, dict) else {}).items()
            for word in _words(row["kind"], key, value)
        ]
        parent = None if row.get("root") else str(row["parent"]) if "parent" in row else None
        found.append(
            Qdisc(1, row["kind"], str(row.get("handle", "")), str(row.get("dev", "")), parent, _options(words))
        )
    return found


def _words(kind: str, key: str, value: object) -> list[str]:
    """Return an option of the JSON as the text has it."""
    if isinstance(value, bool):
        return [key] if value else []
    if isinstance(value, list):
        return [key, *map(str, value)]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, (int, float)):
        return [key, "".join(str(value).split())]
    if key in TIMES:
        return [key, f"{value}us"]
    if key in ("rate", "peakrate"):
        return [key, f"{8 * value}bit"]
    return [key, f"{value}{'p' if key == 'limit' and kind in PACKETS else ''}"]


Reader = Callable[["_Options"], dict[str, Any]]


class _Options:
    """The options of a qdisc, each taken once; what remains is left out."""

    def __init__(self, lines: Lines, one: Qdisc) -> None:
        self.lines, self.one = lines, one
        self.left = {key: value for key, value in one.options.items() if key not in PLACE}

    def text(self, key: str) -> str | None:
        return self.left.pop(key, None)

    def flag(self, key: str) -> bool:
        return self.text(key) is not None

    def limit(self) -> dict[str, Any]:
        unit = "packets" if self.one.kind in PACKETS else "bytes"
        text = self.text("limit")
        if text is None:
            self.refuse(f"the qdisc {self.one.kind} must have a limit")
        return {"buffer": f"{self.size('limit', text, unit)} {unit}"}

    def size(self, key: str, text: str, unit: str) -> int:
        """Convert a size of tc: 1000p, 400000b or 30Kb, where K is 1024."""
        match = re.fullmatch("([0-9]{1,12})(p|b|Kb|Mb|Gb)?", text, re.ASCII)
        packets = match is not None and match[2] in ("p", None) and unit == "packets"
        if not match or int(match[1]) < 1 or not (packets or (unit == "bytes" and match[2] != "p")):
            self.refuse(f"the option {key} must be a number of {unit}, as tc prints it, not {quoted(text)}")
        return int(match[1]) * {"Kb": 2**10, "Mb": 2**20, "Gb": 2**30}.get(match[2] or "", 1)

    def octets(self, key: str, name: str) -> dict[str, Any]:
        text = self.text(key)
        return {} if text is None else {name: f"{self.size(key, text, 'bytes')} bytes"}

    def time(self, key: str, name: str) -> dict[str, Any]:
        text = self.text(key)
        match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(s|ms|us|ns)", text or "0s", re.ASCII)
        if not match:
            self.refuse(f"a time must be as tc prints it, as in 5ms, not {quoted(text or '')}")
        return {} if text is None else {name: f"{match[1]} {match[2]}"}

    def number(self, key: str, name: str, most: int, scale: float = 1) -> dict[str, Any]:
        text = self.text(key)
        if text is None:
            return {}
        self.lines.number = self.one.line
        value = float(self.lines.decimal(text.removesuffix("%"), key, most)) * scale
        return {name: int(value) if value.is_integer() and scale == 1 else value}

    def mark(self, flag: str = "ecn") -> dict[str, Any]:
        return {"action": "mark"} if self.flag(flag) else {}

    def refuse(self, message: str) -> NoReturn:
        self.lines.number = self.one.line
        self.lines.refuse(message)


def _codel(options: _Options) -> dict[str, Any]:
    times = {**options.time("target", "target"), **options.time("interval", "interval")}
    threshold = options.time("ce_threshold", "ce_threshold")
    return {"policy": "codel", "law": "linux", **times, **threshold, **options.mark()}


def _pie(options: _Options) -> dict[str, Any]:
    times = {**options.time("target", "target"), **options.time("tupdate", "update")}
    gains = {**options.number("alpha", "alpha", 32, 1 / 16), **options.number("beta", "beta", 32, 1 / 16)}
    limit = options.number("ecn_prob", "mark_limit", 100, 0.01)
    by_bytes = {"byte_mode": True} if options.flag("bytemode") else {}
    return {"policy": "pie", "law": "linux", **times, **gains, **limit, **by_bytes, **options.mark()}


def _read_pfifo(options: _Options) -> dict[str, Any]:
    return options.limit()


def _read_codel(options: _Options) -> dict[str, Any]:
    return {**options.limit(), "admission": _codel(options)}


def _read_pie(options: _Options) -> dict[str, Any]:
    return {**options.limit(), "admission": _pie(options)}


def _fair(options: _Options) -> dict[str, Any]:
    queues = {**options.octets("quantum", "quantum"), **options.number("flows", "buckets", 65_536)}
    return {"scheduler": {"policy": "fair-queue", **queues}}


def _read_fq_codel(options: _Options) -> dict[str, Any]:
    limit, scheduler = options.limit(), _fair(options)
    batch = options.number("drop_batch", "batch", 10**6)
    admission = {**_codel(options), "full": "fattest-queue", **batch}
    return {**limit, "admission": admission, **scheduler}


def _read_fq_pie(options: _Options) -> dict[str, Any]:
    return {**options.limit(), "admission": _pie(options), **_fair(options)}


def _read_red(options: _Options) -> dict[str, Any]:
    limit = options.limit()
    levels = {**options.octets("min", "min_threshold"), **options.octets("max", "max_threshold")}
    if len(levels) < 2:
        options.refuse("the qdisc red must have min and max")
    share = options.number("probability", "max_p", 1)
    weight = options.number("ewma", "weight", 31)
    weight = {"weight": 2.0 ** -weight["weight"]} if weight else {}
    adaptive = {"adaptive": True} if options.flag("adaptive") else {}
    return {**limit, "admission": {"policy": "red", **share, **levels, **weight, **adaptive, **options.mark()}}


def _read_dualpi2(options: _Options) -> dict[str, Any]:
    limit = options.limit()
    times = {
        **options.time("target", "target"),
        **options.time("tupdate", "update"),
        **({} if options.one.options.get("step_thresh", "").endswith("p") else options.time("step_thresh", "step")),
    }
    gains = {**options.number("alpha", "alpha", 256), **options.number("beta", "beta", 256)}
    coupling = options.number("coupling_factor", "coupling", 255)
    overload = {"overload": "overflow"} if options.flag("overflow") else {}
    for usual in ("drop_on_overload", "drop_dequeue", "l4s_ect"):
        options.flag(usual)  # as the policy works
    share = options.number("classic_protection", "classic_share", 100, 0.01)
    share = {name: f"{100 * value:g} %" for name, value in share.items()}
    admission = {"policy": "pi2", "law": "linux", "action": "mark", **times, **gains, **coupling, **overload}
    return {**limit, "admission": admission, "scheduler": {"policy": "dual-queue", **share}}


def _bps(rate: str | None) -> int:
    """Convert a rate of tc, as in 10Mbit, to bits per second; 0 if it is none."""
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)([KMGT]?)bit", rate or "", re.ASCII)
    return round(float(match[1]) * {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}[match[2]]) if match else 0


def _read_tbf(options: _Options) -> dict[str, Any]:
    bps, burst = _bps(options.text("rate")), options.text("burst")
    if bps == 0 or burst is None:
        options.refuse("the qdisc tbf must have a rate above 0 and a burst, as in rate 10Mbit burst 15Kb")
    octets = options.size("burst", burst.split("/")[0], "bytes")
    shaper = {"shaper": {"rate": f"{bps} b/s", "burst": f"{octets} bytes"}}
    if "limit" in options.left or (wait := options.text("lat")) is None:
        return {**options.limit(), **shaper}
    seconds = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(s|ms|us|ns)", wait, re.ASCII)
    if not seconds:
        options.refuse(f"a time must be as tc prints it, as in 5ms, not {quoted(wait)}")
    waits = Decimal(seconds[1]) * bps / {"s": 8, "ms": 8 * 10**3, "us": 8 * 10**6, "ns": 8 * 10**9}[seconds[2]]
    return {"buffer": f"{octets + int(waits)} bytes", **shaper}


READERS: dict[str, Reader] = {
    "pfifo": _read_pfifo,
    "bfifo": _read_pfifo,
    "pfifo_head_drop": lambda options: {**options.limit(), "admission": {"policy": "drop-from-front"}},
    "codel": _read_codel,
    "fq_codel": _read_fq_codel,
    "pie": _read_pie,
    "fq_pie": _read_fq_pie,
    "red": _read_red,
    "dualpi2": _read_dualpi2,
    "tbf": _read_tbf,
}
"""Queue disciplines that are a port here, each with what reads its options."""

PACKETS = ("pfifo", "pfifo_head_drop", "codel", "fq_codel", "pie", "fq_pie", "dualpi2")
"""Those whose limit counts packets; that of others counts bytes."""


NEAREST = {
    "pfifo_fast": "; its limit is the qlen that ip link shows: write it as pfifo limit 1000p",
    "cake": "; the nearest is a tbf with its bandwidth, and below that an fq_codel",
}
"""What to write instead of disciplines that are not modelled."""


def _port(lines: Lines, one: Qdisc, found: Sequence[Qdisc], used: list[Qdisc]) -> Described:
    """Return the port of a qdisc, with what its children say; `used` ends with it and gets the children."""
    lines.number = one.line
    if one in used[:-1]:
        lines.refuse(f"the qdisc {one.kind} {one.handle} must not be below itself")
    children = [
        other
        for other in found
        if other is not one
        and not other.is_class
        and one.device in ("", other.device)
        and _major(other.parent) == _major(one.handle)
    ]
    if one.kind in CLASSFUL:
        port = _bands(lines, one, children, found, used) or _htb(lines, one, children, found, used)
        return port or _below(lines, one, children, found, used)
    if one.kind not in READERS:
        lines.refuse(f"the qdisc must be one of {_known()}, not {quoted(one.kind)}{NEAREST.get(one.kind, '')}")
    options = _Options(lines, one)
    keys = READERS[one.kind](options)
    for key, value in options.left.items():
        _leave_out(lines, one, f"{key} {value}".rstrip())
    if one.kind == "tbf" and len(children) == 1:
        used.append(children[0])
        below = _port(lines, children[0], found, used)
        own = next(f"{key} {one.options[key]}" for key in ("limit", "lat") if key in one.options)
        _leave_out(lines, one, f"{own}, in place of which the limit of the qdisc below it holds")
        return below._replace(port={**below.port, "shaper": keys["shaper"]})
    return Described(keys)


def _major(handle: str | None) -> str | None:
    """Return the number of a qdisc in a handle, as in 8001: or 8001:1; tc shows 0 as nothing."""
    return None if handle is None else handle.split(":")[0] or "0"


def _bands(
    lines: Lines, one: Qdisc, children: Sequence[Qdisc], found: Sequence[Qdisc], used: list[Qdisc]
) -> Described | None:
    """Return the port of a qdisc with bands, each of which is a class; None if they must become one queue."""
    if one.kind not in ("prio", "ets") or not children:
        return None
    options = _Options(lines, one)
    own = bands.read(one.kind, options.left, options.refuse)
    placed: dict[int, Qdisc] = {}
    for child in children:
        minor = (child.parent or "").partition(":")[2]
        number = int(minor, 16) - 1 if re.fullmatch("[0-9a-f]{1,4}", minor) else -1
        if number not in range(len(own.names)) or number in placed:
            lines.number = child.line
            lines.refuse(
                f"parent must name one of the {len(own.names)} bands of {one.kind}, each once, "
                f"not {quoted(child.parent)}"
            )
        placed[number] = child
    left_out, before = dict(lines.left_out), len(used)
    ports = {}
    for number, child in sorted(placed.items()):
        used.append(child)
        below = _port(lines, child, found, used)
        ports[number] = {} if below.classes else below.port
    assumed: list[str] = []
    described = bands.described(own, ports, assumed.append) if all(ports.values()) else None
    if described is None:
        lines.left_out, lines.number = left_out, one.line
        del used[before:]
        return None
    for what in assumed:
        _leave_out(lines, one, what)
    for key in options.left.keys() - {"bands", "strict", "quanta", "priomap"}:
        _leave_out(lines, one, f"{key} {options.left[key]}".rstrip())
    return described


def _htb(
    lines: Lines, one: Qdisc, children: Sequence[Qdisc], found: Sequence[Qdisc], used: list[Qdisc]
) -> Described | None:
    """Return the port of the default class of htb, with the least ceiling up to the root; None if no class is given.

    The filters of tc are elsewhere, so that all traffic is in the default class, which alone may send at its ceiling.
    """
    own = {row.handle: row for row in found if row.is_class and _major(row.handle) == _major(one.handle)}
    if one.kind != "htb" or not own:
        return None
    number = one.options.get("default", "0").removeprefix("0x")
    name = f"{one.handle.removesuffix(':')}:{number}"
    leaf = next((child for child in children if child.parent == name), None)
    if name not in own or leaf is None:
        lines.refuse(
            f"the default of htb must name a class with a qdisc below it, not {name}: give both lines, as in "
            f"qdisc pfifo 10: parent {name} limit 1000p"
        )
    path = [own[name]]
    while (parent := own.get(path[-1].parent or "")) is not None and parent not in path:
        path.append(parent)
    for row in path:
        if not _bps(row.options.get("ceil")):
            lines.number = row.line
            lines.refuse(f"the class {row.handle} must have a ceil above 0, as in ceil 20Mbit")
    least = min(path, key=lambda row: _bps(row.options["ceil"]))
    burst = _Options(lines, least).size("cburst", least.options.get("cburst", "0b").split("/")[0], "bytes")
    for key, value in one.options.items():
        if key not in (*PLACE, "default"):
            _leave_out(lines, one, f"{key} {value}".rstrip())
    for row in path:
        for key, value in row.options.items():
            if key not in (*PLACE, "leaf", *(("ceil", "cburst") if row is least else ())):
                _leave_out(lines, row, f"class {row.handle}: {key} {value}".rstrip())
    used += [*path, leaf]
    below = _port(lines, leaf, found, used)
    if "shaper" in below.port:
        _leave_out(lines, leaf, "its rate, in place of which that of the class above it holds")
    shaper = {"rate": f"{_bps(least.options['ceil'])} b/s", "burst": f"{max(burst, bands.FRAME)} bytes"}
    return below._replace(port={**below.port, "shaper": shaper})


def _below(lines: Lines, one: Qdisc, children: Sequence[Qdisc], found: Sequence[Qdisc], used: list[Qdisc]) -> Described:
    """Return the port of the qdiscs below one that has no queue of its own: they must be alike and become one queue."""
    if not children:
        lines.refuse(
            f"the qdisc {one.kind} keeps its packets in the qdiscs below it, and none is given: print them with tc "
            "qdisc show, or write the one that is meant as root"
        )
    if len({child.settings() for child in children}) > 1:
        lines.refuse(
            f"the {len(children)} qdiscs below {one.kind} must be alike, because they become one queue: leave the one "
            "that is meant, as root"
        )
    for key, value in one.options.items():
        if key not in PLACE:
            _leave_out(lines, one, f"{key} {value}".rstrip())
    what = "its classes and their rates, which tc class show prints" if one.kind not in ("mq", "multiq") else ""
    if len(children) > 1:
        what = f"{len(children)} queues, each with this limit, which become one" + (f"; {what}" if what else "")
    if what:
        _leave_out(lines, one, what)
    used.extend(reversed(children))
    return _port(lines, children[0], found, used)
