"""The ports of a question, and policies for them."""

import re
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from pushout import _core
from pushout.catalogue import Entry
from pushout.document import Document
from pushout.errors import Argument, QuestionError, ScenarioError
from pushout.excerpt import CONTROL, excerpt
from pushout.question.quantity import CELL_BYTES, bits_per_second, octets, scaled, split
from pushout.source import toml
from pushout.warning import Warned


@dataclass(frozen=True)
class Port:
    """A port of an explained scenario."""

    name: str
    rate_bps: float
    is_cells: bool
    keys: Mapping[str, Any]

    @property
    def buffer(self) -> str:
        """The size of its buffer, as the scenario writes it."""
        return str(self.keys["buffer"])

    @property
    def measure(self) -> str:
        """The measure of its occupancy: bytes, cells or packets."""
        return "bytes" if octets(self.buffer) is not None else split(self.buffer)[1]

    def sizes(self, text: str) -> dict[str, float]:
        """Convert a buffer size to all useful units: cells, bytes, microseconds at line rate."""
        number, unit = split(text)
        if unit == "%":
            share, (number, unit) = number / 100, split(self.buffer)
            number *= share
        if unit in ("cell", "cells"):
            size: float | None = number * CELL_BYTES
        else:
            size = octets(f"{number!r} {unit}") if unit else None
        if size is None:
            return {unit: number} if unit else {}
        cells = {"cells": size / CELL_BYTES} if self.is_cells else {}
        return {**cells, "bytes": size, "us": size * 8 / self.rate_bps * 1e6}


class Line(NamedTuple):
    """A line of an explained scenario, behind the port of the same name."""

    name: str
    ends: tuple[str, str]
    rate_bps: float
    is_cells: bool
    link: Mapping[str, Any]
    """The keys of this direction."""


def lines(explained: Document) -> Iterator[Line]:
    """Yield every line of an explained scenario, for both directions of a link."""
    for link in explained["link"]:
        back = {**link.get("back", link), "pause": "0 s"}
        there, here = link["to"], link["from"]
        name, forth = str(link["name"]), f"{here}->{there}"
        number = name.removeprefix(forth)
        is_arrow = name.startswith(forth) and (not number or number.startswith("."))
        reverse = f"{there}->{here}{number}" if is_arrow else f"{name}.back"
        for name, ends, keys in ((link["name"], (here, there), link), (reverse, (there, here), back)):
            bps = scaled(keys["rate"], "b/s")
            assert bps is not None, "a rate must be in b/s"  # noqa: S101
            yield Line(name, ends, bps, link["medium"] == "cells", keys)


def ports(explained: Document) -> dict[str, Port]:
    """Map the names of an explained scenario to its ports."""
    known = ((line, explained["port"].get(line.name)) for line in lines(explained))
    return {line.name: Port(line.name, line.rate_bps, line.is_cells, keys) for line, keys in known if keys}


def route(flow: Mapping[str, Any], by_ends: Mapping[tuple[str, str], Line]) -> list[Line]:
    """List the lines that the data of a flow take; where a hash decides, those of one of the shortest routes."""
    nodes = [flow["from"], *flow["via"], flow["to"]]
    return [line for ends in pairwise(nodes) for line in _shortest(*ends, by_ends)]


def _shortest(begin: str, end: str, by_ends: Mapping[tuple[str, str], Line]) -> list[Line]:
    """List the lines of a shortest route between two nodes."""
    if (begin, end) in by_ends:
        return [by_ends[begin, end]]
    beyond: dict[str, list[str]] = {}
    for here, there in by_ends:
        beyond.setdefault(here, []).append(there)
    routes: dict[str, list[str]] = {begin: [begin]}
    waiting = deque([begin])
    while waiting and end not in routes:
        node = waiting.popleft()
        for other in beyond.get(node, ()):
            if other not in routes:
                routes[other] = [*routes[node], other]
                waiting.append(other)
    return [by_ends[ends] for ends in pairwise(routes.get(end, []))]


def loads(explained: Document) -> dict[str, float]:
    """Compute the largest offered load of each port, relative to its rate: the sum of the largest rates of its flows.

    The largest rate of a flow is that of its source or of the slowest line on its way.
    """
    by_ends = {line.ends: line for line in reversed(list(lines(explained)))}
    found: dict[str, float] = {}
    for flow in explained["flow"]:
        if not (way := route(flow, by_ends)):
            continue
        own = bits_per_second(flow["source"].get("peak") or flow["source"].get("rate"))
        most = min([*(line.rate_bps for line in way), *([] if own is None else [own])])
        for line in way:
            found[line.name] = found.get(line.name, 0.0) + most / line.rate_bps
    return found


def by_default(explained: Document) -> tuple[Port, list[Warned]]:
    """Choose the busiest port with a limited buffer; warn if there are several."""
    limited = _limited(ports(explained))
    if not limited:
        why = "no port has a limited buffer: choose a port with "
        raise QuestionError(why, Argument("port"), _in_memory(explained))
    if len(limited) == 1:
        return limited[0], []
    load = loads(explained)
    busiest = max(limited, key=lambda port: load.get(port.name, 0.0))
    message = (
        f"port {busiest.name} is used: of {len(limited)} ports with a limited buffer it is the busiest, because its "
        f"flows may send {load.get(busiest.name, 0.0):.3g} times its rate; choose another with port"
    )
    return busiest, [{"code": "busiest-port", "message": message}]


def _in_memory(explained: Document) -> str:
    """Return where the packets are if ports share a memory, and how its policies are compared."""
    name = next(iter(explained.get("memory", {})), None)
    if name is None:
        return ""
    holder = f"memory.{excerpt(quoted(name))}"
    how = f"run --set '{holder}.admission=…' or a sweep over that key gives it another policy"
    return f"; {holder} holds the packets, and {how}"


def _limited(known: Mapping[str, Port]) -> list[Port]:
    return [port for port in known.values() if port.buffer != "unlimited"]


def choose(explained: Document, named: str | Sequence[str]) -> tuple[Port, ...]:
    """Find the ports of these names, which may be one text with commas."""
    known = ports(explained)
    limited = _limited(known)
    names = _names(named, known)
    for name in names:
        if name not in known:
            raise QuestionError(_core.unknown("port", name, sorted(known, key=lambda port: known[port] not in limited)))
        if names.count(name) > 1:
            raise QuestionError(f"port must name {name} once, not twice")
    return tuple(known[name] for name in names)


def _names(named: str | Sequence[str], known: Mapping[str, Port]) -> list[str]:
    """Split a text into names, unless a port has the text, with its commas, as its name."""
    if not isinstance(named, str):
        return list(named)
    return [named] if named in known else [name for part in named.split(",") if (name := part.strip())] or [named]


@dataclass(frozen=True)
class Choice:
    """A policy at some ports: its label, and the overrides that put it there."""

    label: str
    sets: tuple[str, ...]
    beside: str = ""
    """A note about another policy at the port that also decides about losses, and how to remove it; or empty."""


def policy_refused(error: ScenarioError, choice: Choice, override: str) -> ScenarioError:
    """Turn an error in an override of a policy into an error of the policy that the user named."""
    why = str(error.args[0]).removeprefix(f"{override}: ")
    return ScenarioError(Argument("policies"), f" {choice.label}: {why}")


KINDS = ("admission", "pushout", "scheduler")

AS_IT_IS = "as-is"
"""The name for the unchanged scenario."""


def policies(given: Sequence[str], at: Sequence[Port], catalogue: Sequence[Entry]) -> list[Choice]:
    """Parse policies as on the command line: `epd`, `{policy = "epd", threshold = "90 %"}` or `as-is`.

    A policy that a port has already keeps its parameters there.
    """
    choices = [_choice(text, at, catalogue) for entry in given for text in _split(entry)]
    labels = [choice.label for choice in choices]
    if twice := [label for label in labels if labels.count(label) > 1]:
        raise QuestionError(f"policies must name {excerpt(twice[0])} once, not twice")
    return choices


def _split(text: str) -> list[str]:
    """Split at commas outside braces."""
    parts, depth = [""], 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _choice(text: str, at: Sequence[Port], catalogue: Sequence[Entry]) -> Choice:
    if text == AS_IT_IS:
        return Choice(AS_IT_IS, ())
    if re.search(r"\.py(:\w+)?$", text) and not text.startswith("{"):
        from pushout import policy

        text = toml(policy.read(text))
    if CONTROL.search(text):
        raise QuestionError(Argument("policies"), f" must be without control characters, not {excerpt(text)}")
    if text.startswith("{") != text.endswith("}"):
        raise QuestionError(f"{excerpt(text)}: a table of parameters must begin with {{ and end with }}")
    match = re.search(r"""policy["']?\s*=\s*["']([^"']+)["']""", text)
    if text.startswith("{") and not match:
        raise QuestionError(
            f'{excerpt(text)}: a table must name its policy in quotes, as in \'{{policy="epd", threshold="90 %"}}\''
        )
    name = match[1] if match else text
    kind = _kind_of_program(text) if match and name == "program" else _kind(name, catalogue)
    beside = next(filter(None, (_beside(port, kind) for port in at)), "")
    if match:
        return Choice(_label(text), tuple(f"{key_of(port, kind)}={text}" for port in at), beside)
    others = [port for port in at if _has(port, kind) != name]
    return Choice(name, tuple(f"{key_of(port, kind)}={toml({'policy': name})}" for port in others), beside)


def _kind_of_program(text: str) -> str:
    """Return the kind of a program, which its keys and instructions tell."""
    try:
        table = tomllib.loads(f"it = {text}")["it"]
    except tomllib.TOMLDecodeError:
        return "admission"
    chooses = any(str(line).startswith("choose") for line in table.get("code", ()))
    return "admission" if not chooses else "pushout" if "end" in table else "scheduler"


def _has(port: Port, kind: str) -> str | None:
    """Return the policy of this kind at a port."""
    return (port.keys.get(kind) or {}).get("policy")


def _beside(port: Port, kind: str) -> str:
    """Say that a push-out policy keeps an admission policy which refuses units before the buffer is full."""
    admission = _has(port, "admission")
    if kind != "pushout" or admission in (None, "tail-drop"):
        return ""
    alone = f"{key_of(port, 'admission')}={toml({'policy': 'tail-drop'})}"
    which = f"the admission {admission} of {port.name}, which may refuse units that could push others out"
    return f"with {which} ({alone}: without)"


def _label(text: str) -> str:
    """Write a table of parameters for people: `epd, threshold 90 %`; a program goes by its own name."""
    table = tomllib.loads(f"it = {text}")["it"] if "program" in text else {}
    if table.get("policy") == "program" and isinstance(table.get("params", {}), dict):
        return ", ".join(
            [table.get("name", "program"), *(f"{name} {value}" for name, value in table.get("params", {}).items())]
        )
    pairs = re.sub(r"""[{}"']""", "", text).split(",")
    words = [" ".join(part.strip() for part in pair.split("=", 1)) for pair in pairs]
    return ", ".join(word.removeprefix("policy ") for word in words)


def _kind(name: str, catalogue: Sequence[Entry]) -> str:
    known: dict[str, str] = {}
    for entry in catalogue:
        if entry["kind"] in KINDS:
            known.setdefault(entry["name"], entry["kind"])  # of one name the first kind is meant
    if name in known:
        return known[name]
    raise QuestionError(_core.unknown("policy of a port", name, [AS_IT_IS, *known]))


def quoted(name: str) -> str:
    """Write a name as part of a path: quoted if it contains a dot."""
    return f'"{name}"' if "." in name else name


def figure_of(port: Port, figure: str) -> str:
    """Return the path of a figure of the port."""
    return f"ports.{quoted(port.name)}.{figure}"


def key_of(port: Port, key: str) -> str:
    """Return the path of a key of the port."""
    return f"port.{quoted(port.name)}.{key}"
