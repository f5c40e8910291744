"""The ports of a question, and policies for them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pushout import _core
from pushout.catalogue import Entry
from pushout.document import Document, steps
from pushout.errors import Argument, QuestionError, ScenarioError
from pushout.excerpt import CONTROL, excerpt
from pushout.excerpt import quoted as cited
from pushout.quantity import CELL_BYTES, SECONDS, bits_per_second, octets, scaled, split
from pushout.source import toml

MEMORY_CELLS = "memory cells"
"""The measure of an occupancy in cells of a memory."""


@dataclass(frozen=True)
class Holder:
    """A section that holds policies, with its keys: that of a port, of a class of ports, or of a memory."""

    path: str
    """Its path in a scenario, as in `port.bottleneck`."""
    keys: Mapping[str, Any]

    @property
    def is_memory(self) -> bool:
        """Return whether it is a memory."""
        return self.path.startswith("memory.")

    @property
    def name(self) -> str:
        """Its name in messages: that of a port or of a class of ports, or the path of a memory."""
        return self.path if self.is_memory else steps(self.path)[1]

    def key(self, key: str) -> str:
        """Return the path of one of its keys."""
        return f"{self.path}.{key}"

    def has(self, kind: str) -> str | None:
        """Return the name of its policy of this kind."""
        return (self.keys.get(kind) or {}).get("policy")


@dataclass(frozen=True)
class Port:
    """A port of an explained scenario."""

    name: str
    rate_bps: float
    is_cells: bool
    keys: Mapping[str, Any]
    number: int = 0
    """Its place among the ports of a report."""
    changes: bool = False
    """Whether the rate of its line changes; `rate_bps` is then the mean."""

    @property
    def buffer(self) -> str:
        """The size of its buffer, as the scenario writes it."""
        return str(self.keys["buffer"])

    @property
    def memory(self) -> str | None:
        """The memory that it shares, instead of a buffer of its own."""
        return self.keys.get("memory")

    @property
    def is_limited(self) -> bool:
        """Return whether it has a buffer of its own with a limit."""
        return self.buffer != "unlimited"

    @property
    def measure(self) -> str:
        """The measure of its occupancy: bytes, cells, packets, or cells of a memory (`100 cells of 256 bytes`)."""
        if self.memory is not None or " of " in self.buffer:
            return MEMORY_CELLS
        if not self.is_limited:
            return "cells" if self.is_cells else "packets"
        return "bytes" if octets(self.buffer) is not None else split(self.buffer)[1]

    @property
    def sends_bps(self) -> float:
        """The rate at which it sends: that of its line, or of its shaper if that is slower."""
        shaper = self.keys.get("shaper") or {}
        return min(self.rate_bps, bits_per_second(shaper.get("rate")) or self.rate_bps)

    @property
    def pace(self) -> str:
        """What `sends_bps` is, in words."""
        return "line rate" if self.sends_bps == self.rate_bps else "shaper rate"

    @property
    def holder(self) -> "Holder":
        """Its own section, which holds its policies."""
        return Holder(section("port", self.name), self.keys)

    def sizes(self, text: str) -> dict[str, float]:
        """Convert a buffer size to all useful units: cells, bytes, microseconds at the rate at which it sends."""
        number, unit = split(text)
        if unit == "%":
            share, (number, unit) = number / 100, split(self.buffer)
            number *= share
        if unit in ("cell", "cells"):
            size: float | None = number * CELL_BYTES
        elif unit in SECONDS:
            size = number * SECONDS[unit] * self.sends_bps // 8
        else:
            size = octets(f"{number!r} {unit}") if unit else None
        if size is None:
            return {unit: number} if unit else {}
        cells = {"cells": size / CELL_BYTES} if self.is_cells else {}
        return {**cells, "bytes": size, "us": size * 8 / self.sends_bps * 1e6}


class Line(NamedTuple):
    """A line of an explained scenario, behind the port of the same name."""

    name: str
    ends: tuple[str, str]
    rate_bps: float
    """Its rate; the mean over the run if it changes."""
    is_cells: bool
    link: Mapping[str, Any]
    """The keys of this direction."""
    group: str
    """Its class, by which a section `[port.NAME]` applies to its port; empty without one."""
    weight: int = 1
    """Its weight among equal lines."""

    @property
    def changes(self) -> bool:
        """Return whether its rate changes."""
        return isinstance(self.link["rate"], Mapping)


def lines(explained: Document) -> Iterator[Line]:
    """Yield every line of an explained scenario, for both directions of a link."""
    for link in explained["link"]:
        back = {**link.get("back", link), "pause": "0 s"}
        there, here = link["to"], link["from"]
        name, forth = str(link["name"]), f"{here}->{there}"
        number = name.removeprefix(forth)
        is_arrow = name.startswith(forth) and (not number or number.startswith("."))
        reverse = f"{there}->{here}{number}" if is_arrow else f"{name}.back"
        group = str(link.get("class", ""))
        for name, ends, keys, own in (
            (link["name"], (here, there), link, group),
            (reverse, (there, here), back, group and f"{group}.back"),
        ):
            bps = _mean_bps(keys["rate"])
            yield Line(name, ends, bps, link["medium"] == "cells", keys, own, int(link.get("weight", 1)))


def _mean_bps(rate: Any) -> float:
    """Return the rate of a line of an explained scenario, in bits per second; the mean of one that changes."""
    bps = scaled(rate["mean"] if isinstance(rate, Mapping) else rate, "b/s")
    assert bps is not None, "a rate must be in b/s"  # noqa: S101
    return bps


def ports(explained: Document) -> dict[str, Port]:
    """Map the names of an explained scenario to its ports."""
    known = ((line, explained["port"].get(line.name)) for line in lines(explained))
    found = ((line, keys) for line, keys in known if keys)
    return {
        line.name: Port(line.name, line.rate_bps, line.is_cells, keys, number, line.changes)
        for number, (line, keys) in enumerate(found)
    }


@dataclass(frozen=True)
class Choice:
    """A policy at some ports: its label, and the overrides that put it there."""

    label: str
    sets: tuple[str, ...]
    beside: str = ""
    """A note about another policy at the port that also decides about losses, and how to remove it; or empty."""
    file: str = ""
    """The file of Python that defines the policy, as the user named it; empty for a policy of the catalogue."""
    within: str = ""
    """The scheduler that stays around an admission policy and divides the line; or empty."""

    @property
    def shown(self) -> str:
        """Its label in tables and figures, with the scheduler that stays."""
        return f"{self.label}, in {self.within}" if self.within else self.label


def policy_refused(error: ScenarioError, choice: Choice, override: str, argument: str = "policies") -> ScenarioError:
    """Turn an error in an override of a policy into an error of the policy that the user named by an argument."""
    why = str(error.args[0]).removeprefix(f"{override}: ")
    return ScenarioError(Argument(argument), f" {choice.label}: {why}")


KINDS = ("admission", "pushout", "scheduler", "discipline", "congestion")

CONTROL_OF_FLOWS = "flows.transport.congestion"
"""The key of the congestion control, which belongs to the flows and to no place."""

AS_IT_IS = "as-is"
"""The name for the unchanged scenario."""


def policies(given: Sequence[str], at: Sequence[Holder], catalogue: Sequence[Entry]) -> list[Choice]:
    """Parse policies as on the command line: `epd`, `{policy = "epd", threshold = "90 %"}` or `as-is`.

    A policy that a holder has already keeps its parameters there.
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
    found = [part.strip() for part in parts]
    if "" in found[1:] or (len(found) > 1 and not found[0]):
        raise QuestionError(Argument("policies"), f" must have a name on each side of a comma, not {cited(text)}")
    return [part for part in found if part]


def _choice(text: str, at: Sequence[Holder], catalogue: Sequence[Entry]) -> Choice:
    if text == AS_IT_IS:
        return Choice(AS_IT_IS, ())
    file = ""
    if re.search(r"\.py(:\w+)?$", text) and not text.startswith("{"):
        from pushout import policy

        file, text = text, toml(policy.read(text))
    if CONTROL.search(text):
        raise QuestionError(Argument("policies"), f" must be without control characters, not {excerpt(text)}")
    if text.startswith("{") != text.endswith("}"):
        raise QuestionError(f"{excerpt(text)}: a table of parameters must begin with {{ and end with }}")
    if parts := _by_kind(text):
        return _together(parts, at, catalogue)
    match = re.search(r"""policy["']?\s*=\s*["']([^"']+)["']""", text)
    if text.startswith("{") and not match:
        raise QuestionError(
            f'{excerpt(text)}: a table must name its policy in quotes, as in \'{{policy="epd", threshold="90 %"}}\', '
            'or several by their kinds, as in \'{admission="tail-drop", scheduler="fifo"}\''
        )
    name = match[1] if match else text
    _check_parameters(text, catalogue)
    kind = _kind_of_program(text) if match and name == "program" else _kind(name, catalogue)
    if kind == "congestion":
        return Choice(label(text) if match else name, (f"{CONTROL_OF_FLOWS}={text}",), "", file)
    for holder in at:
        _check_kind(holder, kind, name)
    if kind == "discipline":
        return Choice(name, tuple(f"{holder.path}={toml(_with_discipline(holder, name))}" for holder in at))
    beside = next(filter(None, (_beside(holder, kind, text) for holder in at)), "")
    within = FAIR if any(_keeps_fair_queue(holder, kind) for holder in at) else ""
    if match:
        return Choice(label(text), tuple(_with(holder, kind, text) for holder in at), beside, file, within)
    others = [holder for holder in at if "discipline" in holder.keys or holder.has(kind) != name]
    sets = tuple(_with(holder, kind, toml({"policy": name})) for holder in others)
    return Choice(name, sets, beside, within=within)


AT_A_PORT = ("admission", "pushout", "scheduler")
"""The kinds of policies of which a port has one each."""


def _by_kind(text: str) -> dict[str, Any]:
    """Read a table of several policies by their kinds; empty for any other text."""
    import tomllib

    try:
        table = tomllib.loads(f"it = {text}")["it"] if text.startswith("{") else {}
    except tomllib.TOMLDecodeError:
        return {}
    return table if all(kind in AT_A_PORT for kind in table) else {}


def _together(parts: Mapping[str, Any], at: Sequence[Holder], catalogue: Sequence[Entry]) -> Choice:
    """Return the choice of several policies at once, in place of those of their kinds and of a whole discipline."""
    given, labels = {}, []
    for kind, part in parts.items():
        table = part if isinstance(part, dict) else {"policy": part}
        name = table.get("policy")
        known = [entry["name"] for entry in catalogue if entry["kind"] == kind]
        if name not in known:
            raise QuestionError(Argument("policies"), f": {_core.unknown(f'policy of {kind}', str(name), known)}")
        for holder in at:
            _check_kind(holder, kind, str(name))
        given[kind] = table
        labels.append(label(toml(table)))
    sets: list[str] = []
    for holder in at:
        if "discipline" in holder.keys:
            sets.append(f"{holder.path}={toml({**_without_policies(holder), **given})}")
        else:
            sets += [f"{holder.key(kind)}={toml(table)}" for kind, table in given.items()]
    return Choice(", ".join(labels), tuple(sets))


def _with(holder: Holder, kind: str, text: str) -> str:
    """Return the override that gives a holder a policy, in place of a whole discipline if the port has one."""
    if "discipline" not in holder.keys:
        return f"{holder.key(kind)}={text}"
    others = _without_policies(holder)
    begin = toml(others).removesuffix("}")
    return f"{holder.path}={begin}, {kind} = {text}}}" if others else f"{holder.path}={{{kind} = {text}}}"


def _check_parameters(text: str, catalogue: Sequence[Entry]) -> None:
    """Refuse parameters behind a name, as `tc` has them, and say how they are written."""
    name, *words = text.replace("=", " ").split()
    known = {
        entry["name"]: [param["name"] for param in entry["params"]] for entry in catalogue if entry["kind"] in KINDS
    }
    if len(words) > 1 and words[0] in known.get(name, ()):
        pairs = ", ".join(f'{key}="{value}"' for key, value in zip(words[::2], words[1::2], strict=False))
        raise QuestionError(
            Argument("policies"),
            f": parameters are written in a table: '{{policy=\"{name}\", {pairs}}}', not {cited(text)}",
        )


def _with_discipline(holder: Holder, name: str) -> dict[str, Any]:
    """Return the section of a port with a queue discipline instead of admission, push-out and scheduler."""
    return {**_without_policies(holder), "discipline": name}


def _without_policies(holder: Holder) -> dict[str, Any]:
    """Return the keys of a holder besides its policies."""
    return {key: value for key, value in holder.keys.items() if key not in KINDS}


FAIR = "fair-queue"
"""The scheduler of disciplines with a queue for each flow."""

LONGEST_NOTED = 200
"""Characters of a table of parameters that a note repeats; a program is longer."""

OF_MEMORIES = ("admission", "pushout")
"""The kinds of policies that a memory has."""


def _check_kind(holder: Holder, kind: str, name: str) -> None:
    """Refuse a policy of a kind that a memory does not have."""
    if not holder.is_memory or (kind in OF_MEMORIES and (name, kind) != ("program", "pushout")):
        return
    what = f"a program for {kind}" if name == "program" else f"a {kind}"
    why = f" {name} must be a policy of memories, not {what}, which only ports have: give it to a port"
    raise QuestionError(Argument("policies"), why)


def _kind_of_program(text: str) -> str:
    """Return the kind of a program, which its keys and instructions tell."""
    import tomllib

    try:
        table = tomllib.loads(f"it = {text}")["it"]
    except tomllib.TOMLDecodeError:
        return "admission"
    if "on_ack" in table or "on_loss" in table:
        return "congestion"
    chooses = any(str(line).startswith("choose") for line in table.get("code", ()))
    return "admission" if not chooses else "pushout" if "end" in table else "scheduler"


def _keeps_fair_queue(holder: Holder, kind: str) -> bool:
    """Return whether a fair queue that is written at the port stays around a policy of this kind."""
    return kind == "admission" and holder.has("scheduler") == FAIR and "discipline" not in holder.keys


def _beside(holder: Holder, kind: str, text: str) -> str:
    """Say what else at the port acts beside a policy, and how to remove it.

    A push-out policy keeps an admission policy which refuses units before the buffer is full; an admission policy
    keeps a fair queue, as `import` writes that of tc.
    """
    if _keeps_fair_queue(holder, kind):
        admission = f'"{text}"' if not text.startswith("{") else text if len(text) < LONGEST_NOTED else "…"
        alone = f'{{admission={admission}, scheduler="fifo"}}'
        return f"with the scheduler {FAIR} of {holder.name}, which divides the line among flows ({alone}: without)"
    kept, neutral = holder.has("admission"), "complete-sharing" if holder.is_memory else "tail-drop"
    if kind != "pushout" or kept in (None, neutral):
        return ""
    alone = f"{holder.key('admission')}={toml({'policy': neutral})}"
    which = f"the admission {kept} of {holder.name}, which may refuse units that could push others out"
    return f"with {which} ({alone}: without)"


def label(text: str) -> str:
    """Write a table of parameters for people: `epd, threshold 90 %`; a program goes by its own name."""
    import tomllib

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
    parts = name.split()
    if len(parts) > 1 and all(part in known for part in parts):
        raise QuestionError(Argument("policies"), f" {excerpt(name)} must have commas: write {','.join(parts)}")
    raise QuestionError(Argument("policies"), f": {_unknown(name, known)}")


def _unknown(name: str, known: Mapping[str, str]) -> str:
    """Say that no policy has this name: of ports, unless the nearest one is a congestion control."""
    told = _core.unknown("policy of a port", name, [AS_IT_IS, *known])
    nearest = re.search(r'did you mean "([^"]+)"', told)
    if nearest and known.get(nearest[1]) == "congestion":
        controls = [each for each, kind in known.items() if kind == "congestion"]
        return str(_core.unknown("congestion control", name, [AS_IT_IS, *controls]))
    return str(told)


def quoted(name: str) -> str:
    """Write a name as part of a path: quoted if it contains a dot."""
    return f'"{name}"' if "." in name else name


def section(part: str, name: str) -> str:
    """Return the path of a section or of an entry."""
    return f"{part}.{quoted(name)}"


def figure_of(port: Port, figure: str) -> str:
    """Return the path of a figure of the port."""
    return f"{section('ports', port.name)}.{figure}"


def key_of(port: Port, key: str) -> str:
    """Return the path of a key of the port."""
    return f"{section('port', port.name)}.{key}"
