"""The names of figures, alike in every question.

A name is that of the JSON report (`summary.` and the unit `_s` or `_bps` may be left out) or one of the short names
below. `path_of` returns the path under which tables keep the figure.
"""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from pushout import _core
from pushout.document import steps
from pushout.excerpt import quoted as shown
from pushout.names.computed import COMPUTED
from pushout.names.port import quoted
from pushout.simulate import listed

PARTS = ("engine", "flows", "ports", "memories", "circuits", "transfers", "summary")
"""The parts of a report with figures; a name that begins with none of them is of the summary."""

WHOLE = ("duration_s", "warmup_s")
"""Figures of the report itself."""

UNITS = ("", "_s", "_bps")
"""Endings that a name may leave out."""

QUANTILES = ("min", "mean", "p50", "p95", "p99", "p999", "max", "sd")

SHORT: dict[str, dict[str, str]] = {
    "summary": {
        "loss": "loss_ratio",
        **{f"delay_{each}": f"delivery_time_{each}_s" for each in QUANTILES},
        **{f"slowdown_{each}": f"fct.slowdown.all.{each}" for each in QUANTILES},
        **{
            f"slowdown_{size}_{each}": f"fct.slowdown.{size}.{each}"
            for size in ("short", "medium", "long")
            for each in QUANTILES
        },
        **{f"query_time_{each}": f"query.{each}" for each in QUANTILES},
        **{f"rtt_{each}": f"round_trip_{each}_s" for each in QUANTILES},
    },
    "flows": {
        **{f"delay_{each}": f"delivery_time_{each}_s" for each in QUANTILES},
        **{f"jitter_{each}": f"delay_variation_{each}_s" for each in QUANTILES},
        **{f"rtt_{each}": f"round_trip_{each}_s" for each in QUANTILES},
        "marks": "segments_marked",
        "loss": "loss_ratio",
    },
    "ports": {"loss": "loss_ratio", "lost": "lost.total", "marks": "marked.total", "marked": "marked.total"},
    "queues": {"lost": "dropped", "marks": "marked"},
}
"""Short names in the summary, and at the entries of lists, with what they stand for as far as a report has it."""

WAIT = "(?:sojourn|queueing|waiting)(?:_time|_delay)?"

WORDS: dict[str, tuple[str, ...]] = {
    r"(packet|frame|cell|unit)_(loss|drop|lost)(_ratio|_rate|_share)?|(loss|drop)_(rate|share)|plr|drops?": ("loss",),
    r"latency_(?P<of>mean|p50|p95|p99|p999|max)": ("delay_{of}", "ports.NAME.sojourn_{of}_s"),
    r"(fct|flow_completion_time|completion_time)_(?P<of>mean|p50|p95|p99|p999)": (
        "transfer_time_{of}_s",
        "slowdown_{of}",
    ),
    r"latency": ("delay_p99", "delay_mean", "ports.NAME.sojourn_p99_s"),
    r"rtt|round_trip(_time)?|srtt": ("round_trip_mean_s", "round_trip_p99_s", "rpm"),
    rf"{WAIT}": ("ports.NAME.sojourn_mean_s", "ports.NAME.sojourn_p99_s"),
    rf"{WAIT}_(?P<of>mean|p50|p95|p99|p999|max)": ("ports.NAME.sojourn_{of}_s",),
    r"responsiveness|round_trips_per_minute": ("rpm",),
    r"p50|p95|p99|p999": ("delay_{0}", "transfer_time_{0}_s", "slowdown_{0}"),
    r"fct|flow_completion_time|completion_time": ("transfer_time_mean_s", "transfer_time_p99_s", "slowdown_p99"),
    r"jitter|ipdv|pdv|delay_variation": ("flows.NAME.delay_variation_p99_s", "flows.NAME.delivery_time_sd_s"),
    r"throughput|bandwidth|rate|utili[sz]ation": ("goodput_bps", "goodput_ratio"),
    r"ecn|ecn_marks|ce_marks": ("marks",),
    r"jain|fairness_index": ("fairness_jain",),
    r"pause_(time|duration|seconds)|time_paused|pfc_(time|duration)": ("paused_s", "ports.NAME.paused_s"),
    r"peak|(high_)?watermark|(peak|max|highest)_occupancy|occupancy_peak": (
        "occupancy_max",
        "ports.NAME.occupancy_max",
        "memories.NAME.occupancy_max",
    ),
    r"pfc_drops?|lossless_loss": ("lossless_drop",),
}
"""Other words for figures, and the names that they may mean.

`{0}` stands for the word itself, and the name of a group for what it matches.
"""

NAMELESS = ".NAME."
"""What a suggestion has in the place of the name of a port or a flow."""

NEAR = 4
"""Names suggested at most."""


def column_of(path: str) -> str:
    """Return the column of a figure in tables: figures of the summary lose their prefix."""
    return path.removeprefix("summary.")


def path_of(name: str, port: str = "") -> str:
    """Return the path of a figure; a name that no report has keeps its words, for the simulator to refuse.

    A name that the summary does not have may be that of a figure of `port`.
    """
    if name in WHOLE:
        return name
    part, rest = _split(name)
    if port and part == "summary" and not is_known(f"summary.{name}"):
        at_port = path_of(f"ports.{quoted(port)}.{name}")
        if is_known(at_port):
            return at_port
    found = _resolved(part, rest)
    if found == rest:
        return name if steps(name)[1:] == rest else f"{part}.{name}"
    return ".".join([part, *map(quoted, found)])


def paths_of(names: str | Sequence[str], port: str = "", argument: str = "figures") -> tuple[str, ...]:
    """Return the paths of figures that are named in a list or separated by commas; see `path_of`."""
    if not isinstance(names, Iterable):
        raise TypeError(f"figures must be paths, in a list or separated by commas, not {shown(names)}")
    return tuple(path_of(name, port) for name in listed(argument, names))


def _split(name: str) -> tuple[str, list[str]]:
    """Return the part of the report that a name belongs to, and the steps below it."""
    first, *rest = steps(name)
    return (first, rest) if rest and first in PARTS else ("summary", [first, *rest])


@cache
def _report() -> dict[str, Any]:
    """Return the schema of a report, with the computed figures."""
    schema = json.loads(_core.result_schema())
    report: dict[str, Any] = _whole(schema, schema["$defs"])
    for path, each in COMPUTED.items():
        *above, name = path.split(".")
        node = report
        for step in above:
            node = node["items"] if step == "*" else node["properties"][step]
        node["properties"][name] = {"description": each.meaning}
    return report


def _whole(node: Any, shared: Mapping[str, Any]) -> Any:
    """Return a copy of a schema with each form that it shares in the places of the references."""
    if isinstance(node, list):
        return [_whole(part, shared) for part in node]
    if not isinstance(node, dict):
        return node
    name = node.get("$ref", "").rpartition("/")[2]
    notes = {key: _whole(part, shared) for key, part in node.items() if key not in ("$ref", "$defs")}
    return {**_whole(shared[name], shared), **notes} if name else notes


def _is_list(node: Mapping[str, Any]) -> bool:
    """Return whether a schema is that of a list with entries that have names."""
    return node.get("type") == "array" and "name" in node["items"].get("properties", {})


class _Reached(NamedTuple):
    """A node of the schema, the name of its keys in `SHORT`, and the steps that led there."""

    node: Mapping[str, Any]
    kind: str
    steps: list[str]


def _walk(part: str, rest: Sequence[str]) -> tuple[_Reached, list[str]]:
    """Follow a path as far as the schema goes; return the place reached, and the steps that are left."""
    node, kind = _report()["properties"][part], part
    found: list[str] = []
    waiting = list(rest)
    while waiting:
        if _is_list(node):
            node = node["items"]
            found.append(waiting.pop(0))
            continue
        keys = _keys(node, kind, waiting)
        if not keys:
            break
        waiting[:1] = keys
        kind = waiting.pop(0)
        node = node["properties"][kind]
        found.append(kind)
    return _Reached(node, kind, found), waiting


def _keys(node: Mapping[str, Any], kind: str, waiting: Sequence[str]) -> list[str]:
    """Return the keys that a step stands for: its own, one with a unit, or those of a short name; else none."""
    known, step = node.get("properties", {}), waiting[0]
    if len(waiting) == 1:
        for name in (step, step.removesuffix("_s")):
            meant = SHORT.get(kind, {}).get(name, "").split(".")
            if meant[0] in known:
                return meant
    return next(([step + unit] for unit in UNITS if step + unit in known), [])


def _resolved(part: str, rest: Sequence[str]) -> list[str]:
    """Complete the steps of a path."""
    reached, waiting = _walk(part, rest)
    return [*reached.steps, *waiting]


def is_known(path: str) -> bool:
    """Return whether a report of some scenario has a figure."""
    part, rest = _split(path)
    reached, missing = _walk(part, rest)
    return not missing and "properties" not in reached.node


def near(path: str) -> list[str]:
    """List the names near one that no report has; empty if a report of some scenario has it."""
    part, rest = _split(path)
    reached, missing = _walk(part, rest)
    if not missing or "properties" not in reached.node or missing[0] == "*":
        return []
    before = [] if part == "summary" and not reached.steps else [part, *reached.steps]
    step, *beyond = missing
    if beyond:  # a table or a part with another name
        known = [*_tables(reached.node), *([] if before else PARTS[:-1])]
        found = [[each, *beyond] for each in _spelled(step, known, LIKE_A_PART)]
    else:
        known = [*_short(reached), *_leaves(reached.node)]
        found = [[each] for each in _alike(step, known, is_whole=not before)]
    return [".".join([*map(quoted, [*before, *each[:-1]]), each[-1]]) for each in found[:NEAR]]


def computed(path: str) -> list[str]:
    """List the computed figures of the entry that a path names: what the simulator lists does not have them."""
    part, rest = _split(path)
    own = f"{part}.*."
    return [name.removeprefix(own) for name in COMPUTED if len(rest) == 2 and name.startswith(own)]


def _tables(node: Mapping[str, Any]) -> list[str]:
    """List the keys of a node below which there are others."""
    return [key for key, below in node["properties"].items() if "properties" in below or _is_list(below)]


def _short(reached: _Reached) -> list[str]:
    """List the short names of figures that a report has."""
    leaves = list(_leaves(reached.node))
    return [name for name, meant in SHORT.get(reached.kind, {}).items() if meant in leaves]


def _leaves(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths of the single numbers below a node."""
    for key, below in node.get("properties", {}).items():
        if "properties" in below:
            yield from (f"{key}.{name}" for name in _leaves(below))
        elif not _is_list(below) and below.get("type") not in ("string", "array", "object"):
            yield key


def _alike(name: str, known: Sequence[str], *, is_whole: bool) -> list[str]:
    """Choose the names like one: those that it begins, those that it means, or those with one of its words.

    If `is_whole`, nothing stands before the names, so that figures of ports and flows may be suggested.
    """
    if begun := [each for each in known if each.startswith(name)]:
        return begun
    matches = ((re.fullmatch(words, name), named) for words, named in WORDS.items())
    other = [figure.format(name, **match.groupdict()) for match, named in matches if match for figure in named]
    found = [
        *(each for each in other if each in known or (is_whole and NAMELESS in each)),
        *_spelled(name, known, LIKE_A_KEY),
    ]
    return list(dict.fromkeys(found)) or _with_words_of(name, known)


def _with_words_of(name: str, known: Sequence[str]) -> list[str]:
    """Choose the names with the words of one, those with most of them first."""
    words = set(_words(name))
    shared = {each: len(words.intersection(_words(each))) for each in known}
    return sorted((each for each in known if shared[each]), key=lambda each: -shared[each])


def _words(name: str) -> list[str]:
    return re.split(r"[._]", name)


LIKE_A_KEY, LIKE_A_PART = 0.75, 0.6
"""Least similarity of a name that is suggested: 1 for equal ones. Parts are few, so they may differ more."""


def _spelled(name: str, known: Sequence[str], cutoff: float) -> list[str]:
    """Choose the names that are spelled nearly like one, the nearest first."""
    return difflib.get_close_matches(name.lower(), known, n=NEAR, cutoff=cutoff)


def did_you_mean(names: Sequence[str]) -> str:
    """Ask whether one of these names was meant."""
    *others, last = names
    return f"did you mean {', '.join(others)} or {last}?" if others else f"did you mean {last}?"


class Named(NamedTuple):
    """A figure that questions take: its path, in which `NAME` stands for an entry, and its meaning."""

    path: str
    meaning: str


def named(part: str) -> list[Named]:
    """List the single figures of a part of the report, with those that are computed."""
    node = _report()["properties"][part]
    return list(_named(node, [] if part == "summary" else [part]))


CLOCK = ("start_s", "step_s", "window_s", "bin", "queue")
"""Numbers that belong to a figure over time or a distribution and measure nothing."""


def _named(node: Mapping[str, Any], before: Sequence[str]) -> Iterator[Named]:
    """Yield the single figures below a node; a count by reason has the meaning of all reasons."""
    if _is_list(node):
        yield from _named(node["items"], [*before, "NAME"])
    for key, below in node.get("properties", {}).items():
        if "properties" in below or _is_list(below):
            yield from _named(below, [*before, key])
        elif below.get("type") not in ("string", "array", "object") and key not in CLOCK:
            yield Named(".".join([*before, key]), below.get("description", node.get("description", "")))


class Row(NamedTuple):
    """A figure in a list: its name, in which `REASON` and `SIZE` stand for words, its short name, and its meaning."""

    name: str
    short: str
    meaning: str


def rows(parts: Sequence[str] = ("summary", "flows", "ports", "memories", "circuits", "engine")) -> list[Row]:
    """List the figures of parts of the report, each once."""
    found: dict[str, Row] = {}
    for part in parts:
        kinds = ("memories", "queues") if part == "memories" else (part,)
        short = {general(long): general(name) for kind in kinds for name, long in SHORT.get(kind, {}).items()}
        for each in named(part):
            name = general(each.path)
            found.setdefault(name, Row(name, short.get(name.rpartition("NAME.")[2], ""), each.meaning))
    return list(found.values())


def general(path: str) -> str:
    """Write `SIZE` for the sizes of transfers and `REASON` for the reasons of losses and marks."""
    any_size = re.sub(r"slowdown([._])(short|medium|long)([._])", r"slowdown\1SIZE\3", path)
    return re.sub(r"\.(lost|marked)\.(?!total$)[\w-]+$", r".\1.REASON", any_size)
