"""The port that a question is about, and policies for it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pushout import _core
from pushout.document import Document
from pushout.question import QuestionError
from pushout.question.quantity import CELL_BYTES, octets, scaled, split
from pushout.source import toml


@dataclass(frozen=True)
class Port:
    """A port of an explained scenario."""

    name: str
    rate_bps: float
    is_cells: bool
    keys: Mapping[str, Any]

    @property
    def buffer(self) -> str:
        """How much it can hold, as the scenario says it."""
        return str(self.keys["buffer"])

    @property
    def measure(self) -> str:
        """In what its occupancy is counted: bytes, cells or packets."""
        return "bytes" if octets(self.buffer) is not None else split(self.buffer)[1]

    def sizes(self, text: str) -> dict[str, float]:
        """An amount of buffer in all units that make sense: cells, bytes, microseconds at the rate of the line."""
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


def ports(explained: Document) -> dict[str, Port]:
    """Every port of an explained scenario by its name."""
    found = {}
    for link in explained["link"]:
        back = link.get("back", link)
        reverse = f"{link['name']}.back" if link["name"] != f"{link['from']}->{link['to']}" else ""
        lines = [(link["name"], link["rate"]), (reverse or f"{link['to']}->{link['from']}", back["rate"])]
        for name, rate in lines:
            if keys := explained["port"].get(name):
                bps = scaled(rate, "b/s")
                assert bps is not None, "a rate is in b/s"  # noqa: S101
                found[name] = Port(name, bps, link["medium"] == "cells", keys)
    return found


def choose(explained: Document, name: str | None) -> Port:
    """The port of this name, or the only one with a limited buffer."""
    known = ports(explained)
    limited = [port for port in known.values() if port.buffer != "unlimited"]
    if name is None and len(limited) == 1:
        return limited[0]
    if name in known:
        return known[name]
    names = ", ".join(port.name for port in limited) or "none"
    if name is None:
        raise QuestionError(f"say which port is meant with --port: these have a limited buffer: {names}")
    raise QuestionError(_core.unknown("port", name, sorted(known, key=lambda port: known[port] not in limited)))


@dataclass(frozen=True)
class Choice:
    """A policy at a port: what people call it, and the overrides that put it there."""

    label: str
    sets: tuple[str, ...]


KINDS = ("admission", "pushout", "scheduler")

AS_IT_IS = "as-is"
"""Stands for the scenario as it stands."""


def policies(given: Sequence[str], port: Port, catalogue: Sequence[Mapping[str, Any]]) -> list[Choice]:
    """Policies as they are named on the command line: `epd`, `{policy = "epd", threshold = "90 %"}` or `as-is`.

    A policy that the port has already keeps its parameters.
    """
    choices = [_choice(text, port, catalogue) for entry in given for text in _split(entry)]
    labels = [choice.label for choice in choices]
    if twice := [label for label in labels if labels.count(label) > 1]:
        raise QuestionError(f"the policy {twice[0]} is named twice")
    return choices


def _split(text: str) -> list[str]:
    """At commas outside of braces."""
    parts, depth = [""], 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _choice(text: str, port: Port, catalogue: Sequence[Mapping[str, Any]]) -> Choice:
    if text == AS_IT_IS:
        return Choice(AS_IT_IS, ())
    if text.startswith("{") != text.endswith("}"):
        raise QuestionError(f"{text}: a table of parameters begins with {{ and ends with }}")
    match = re.search(r"""policy["']?\s*=\s*["']([^"']+)["']""", text)
    if text.startswith("{") and not match:
        raise QuestionError(f'{text}: a table names its policy in quotes, as in \'{{policy="epd", threshold="90 %"}}\'')
    name = match[1] if match else text
    kind = _kind(name, catalogue)
    key = f"port.{_quoted(port.name)}.{kind}"
    if match:
        return Choice(_label(text), (f"{key}={text}",))
    if (port.keys.get(kind) or {}).get("policy") == name:
        return Choice(name, ())
    return Choice(name, (f"{key}={toml({'policy': name})}",))


def _label(text: str) -> str:
    """A table of parameters as people would say it: `epd, threshold 90 %`."""
    pairs = re.sub(r"""[{}"']""", "", text).split(",")
    words = [" ".join(part.strip() for part in pair.split("=", 1)) for pair in pairs]
    return ", ".join(word.removeprefix("policy ") for word in words)


def _kind(name: str, catalogue: Sequence[Mapping[str, Any]]) -> str:
    known = {entry["name"]: entry["kind"] for entry in catalogue if entry["kind"] in KINDS}
    if name in known:
        return str(known[name])
    raise QuestionError(_core.unknown("policy of a port", name, [AS_IT_IS, *known]))


def _quoted(name: str) -> str:
    """A name as part of a path: quoted if it holds a dot."""
    return f'"{name}"' if "." in name else name


def figure_of(port: Port, figure: str) -> str:
    """The path of a figure of the port."""
    return f"ports.{_quoted(port.name)}.{figure}"


def key_of(port: Port, key: str) -> str:
    """The path of a key of the port."""
    return f"port.{_quoted(port.name)}.{key}"
