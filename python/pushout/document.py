"""The JSON document of a run: look up a figure, and merge the documents of several replications."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pushout import _core
from pushout.errors import FigureError
from pushout.excerpt import quoted
from pushout.stats import interval
from pushout.warning import union

Document = dict[str, Any]

Report = Mapping[str, Any]
"""A document that is only read, as that of a `Result`, whose type has its keys."""

IDENTITY = frozenset({"name", "version", "vc", "occupancy_unit", "cells", "cell_octets", "shared", "headroom"})
"""Keys that identify an entry and measure nothing: they are equal in every replication."""

REASONS = (
    "overflow",
    "partial",
    "early",
    "random",
    "front",
    "pushed-out",
    "marked",
    "gatekeeper",
    "janitor",
    "policed",
    "delay",
    "link",
    "watchdog",
)
"""Reasons for which a unit can be lost or marked; a document lists only those that occurred."""


def figure(document: Mapping[str, Any], path: str) -> Any:
    """Find the value at a path such as `ports.bottleneck.lost.overflow`; entries of a list are found by name.

    A `*` stands for every entry and gives a list: `flows.*.goodput_bps`. A name with a point in it has quotes:
    `ports."access1.back".units_in`. A reason that did not occur counts zero. A figure of the summary may be named
    without the prefix `summary.`, as in tables and goals: `goodput_ratio`.
    """
    names = steps(path)
    if names[0] not in document and names[0] in _summary(document):
        names = ["summary", *names]
    if names[0] not in document and (part := _part_of(document, names[0])):
        raise FigureError(path, f"{quoted(names[0])} is one of its {part}: {part}.{path}")
    return _Walk(path, interval([0] * len(document["seeds"])) if "seeds" in document else 0).on(document, names)


def _part_of(document: Mapping[str, Any], name: str) -> str | None:
    """Return the list of a report that has an entry of this name, if its figures are meant."""
    return next((part for part in ("ports", "flows", "memories") if name in _entries(document.get(part))), None)


def _summary(node: Any) -> Mapping[str, Any]:
    """Return the summary of a report; an empty mapping if the document is not a report."""
    summary = node.get("summary", {}) if isinstance(node, Mapping) else {}
    return summary if isinstance(summary, Mapping) else {}


def steps(path: str) -> list[str]:
    """Split a path into names without quotes."""
    if not isinstance(path, str):
        raise TypeError(f'a figure must be a path such as "summary.goodput_ratio", not {quoted(path)}')
    return [name.strip(BLANKS).strip("\"'") for name in _names(path)]


BLANKS = " \t"


def _names(path: str) -> list[str]:
    """Split a path at the dots outside quotes."""
    if '"' not in path and "'" not in path:
        return path.split(".")
    ends, quote = [], ""
    for place, character in enumerate(path):
        if character in "\"'":
            quote = "" if character == quote else quote or character
        elif character == "." and not quote:
            ends.append(place)
    starts = [0, *(end + 1 for end in ends)]
    return [path[start:end] for start, end in zip(starts, [*ends, len(path)], strict=True)]


class _Walk(NamedTuple):
    """Follow a path; a reason that did not occur counts zero."""

    path: str
    nothing: Any

    def on(self, node: Any, steps: list[str]) -> Any:
        """Follow the steps from a value."""
        if not steps:
            return node
        step, *rest = steps
        entries = _entries(node)
        if step == "*":
            return [self.on(entry, rest) for entry in entries.values()]
        if step == "marked" and "lost" in entries:
            entries.setdefault(step, {})  # a port at which nothing was marked
        if step not in entries:
            raise FigureError(self.path, _core.no_entry(step, [*entries, *_summary(node)]))
        if step in ("lost", "marked") and rest and rest[0] != "*" and isinstance(entries[step], Mapping):
            return self.on(dict.fromkeys(REASONS, self.nothing) | dict(entries[step]), rest)
        return self.on(entries[step], rest)


def _entries(node: Any) -> dict[str, Any]:
    if isinstance(node, Mapping):
        return dict(node)
    if isinstance(node, list):
        return {entry["name"]: entry for entry in node if "name" in entry}
    return {}


def merge(documents: Sequence[Document]) -> Document:
    """Merge the documents of all replications: every figure becomes `{mean, ci95, n}`; `seeds` lists the seeds."""
    if len(documents) == 1:
        return documents[0]
    merged = dict(documents[0])
    for part in ("engine", "flows", "ports", "memories", "circuits", "summary"):
        if part in merged:
            merged[part] = _merge([document[part] for document in documents])
    if "transfers" in merged:
        merged["transfers"] = [transfer for document in documents for transfer in document["transfers"]]
    if all("audit" in document for document in documents):
        audits = [document["audit"] for document in documents]
        failures = [failure for audit in audits for failure in audit["failures"]]
        merged["audit"] = {"checks": sum(audit["checks"] for audit in audits), "failures": failures}
    merged["warnings"] = union(document.get("warnings", []) for document in documents)
    merged["seeds"] = [document["seed"] for document in documents]
    return merged


def _merge(values: Sequence[Any]) -> Any:
    first = values[0]
    if isinstance(first, dict):
        return {key: _merge_key(key, values) for key in _keys(values)}
    if isinstance(first, list):
        return [_merge(entries) for entries in zip(*values, strict=True)]
    # A figure may be missing where nothing happened (no segment delivered: no delay).
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    return interval(numbers) if numbers else first


def _merge_key(key: str, tables: Sequence[dict[str, Any]]) -> Any:
    if key in IDENTITY or key == "critical_path":  # names, not as many in each replication
        return tables[0][key]
    if key == "occupancy_distribution":
        return _merge_distributions([table[key] for table in tables])
    if key == "transfer_times_s":  # as many in each replication as files have ended
        return [time for table in tables for time in table.get(key, [])]
    # A reason that did not occur in a replication counts zero, and a table of reasons that is missing is empty.
    missing: Any = {} if any(isinstance(table.get(key), dict) for table in tables) else 0
    return _merge([table.get(key, missing) for table in tables])


def _merge_distributions(distributions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Merge histograms into bins of the largest width, each with its interval; widths are powers of two."""
    width = max(distribution["bin"] for distribution in distributions)
    folded = [_fold(distribution["share"], width // distribution["bin"]) for distribution in distributions]
    longest = max(map(len, folded))
    columns = zip(*(shares + [0.0] * (longest - len(shares)) for shares in folded), strict=True)
    return {"bin": width, "share": [interval(list(column)) for column in columns]}


def _fold(shares: Sequence[float], factor: int) -> list[float]:
    return [sum(shares[start : start + factor]) for start in range(0, len(shares), factor)]


def _keys(tables: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for table in tables for key in table))
