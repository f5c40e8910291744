"""Print the result of a run: flows, ports, losses with reasons, and the summary."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from pushout import _core
from pushout.document import Document, Report
from pushout.show.columns import NOISE, Column, draw, of_runs, pairs

MANY = 40
"""From this many flows on, only the first are listed."""
LISTED = 20

Format = Callable[[float], str]


def whole(value: float) -> str:
    """Write an integer in groups of three digits."""
    return f"{value:,.0f}".replace(",", " ")


def count(value: float) -> str:
    """Write a count, or a mean of counts, which may have a fraction."""
    return whole(value) if value == round(value) else decimals(1)(value)


def decimals(digits: int, scale: float = 1.0) -> Format:
    """Make a format: a value × `scale` with `digits` decimals, in groups of three digits."""
    return lambda value: f"{value * scale:,.{digits}f}".replace(",", " ")


GOODPUT_COLUMNS: list[tuple[str, str, Format]] = [
    ("goodput\nMb/s", "goodput_bps", decimals(3, 1e-6)),
    ("segments\nsent", "segments_sent", whole),
]
RESENT_COLUMNS: list[tuple[str, str, Format]] = [
    ("sent\nagain", "segments_retransmitted", whole),
    ("time-\nouts", "timeouts", whole),
    ("fast\nretr.", "fast_retransmits", whole),
]
MARKED_COLUMNS: list[tuple[str, str, Format]] = [
    ("came\nmarked", "segments_marked", whole),
    ("reduced\nfor marks", "mark_reactions", whole),
]
CODED_COLUMNS: list[tuple[str, str, Format]] = [
    ("packets\nof data", "packets_sent", whole),
    ("packets\nrecovered", "packets_recovered", whole),
    ("packets\nlost", "packets_lost", whole),
]
DELIVERY_COLUMNS: list[tuple[str, str, Format]] = [
    ("delivery\nmean, ms", "delivery_time_mean_s", decimals(2, 1e3)),
    ("delivery\nsd, ms", "delivery_time_sd_s", decimals(2, 1e3)),
    ("delivery\np99, ms", "delivery_time_p99_s", decimals(2, 1e3)),
]
"""The last one is shown if it was measured."""

PORT_COLUMNS: list[tuple[str, str, Format]] = [
    ("units\nin", "units_in", whole),
    ("units\nout", "units_out", whole),
    ("frames\nin", "frames_in", whole),
    ("frames\nwhole out", "frames_whole_out", whole),
    ("mean\nqueue,\n{unit}", "occupancy_mean", decimals(1)),
    ("max\nqueue,\n{unit}", "occupancy_max", whole),
]

CLASS_COLUMNS: list[tuple[str, str, Format]] = [
    ("flows", "flows", whole),
    ("goodput\nMb/s", "goodput_bps", decimals(3, 1e-6)),
    ("fairness φ\n(mean deviation)", "fairness_mean_deviation", decimals(4)),
    ("effective\nthroughput", "effective_throughput", decimals(4)),
    ("delivery\np99, ms", "delivery_time_p99_s", decimals(2, 1e3)),
    ("segments\nsent", "segments_sent", whole),
    ("segments\nreceived", "segments_received", whole),
]

SLOWDOWN_COLUMNS: list[tuple[str, str, Format]] = [
    ("transfers\nended", "count", count),
    ("not\nended", "unfinished", count),
    ("slowdown,\nmean", "mean", decimals(2)),
    ("median", "p50", decimals(2)),
    ("95th\npercentile", "p95", decimals(2)),
    ("99th", "p99", decimals(2)),
    ("99.9th", "p999", decimals(2)),
]

SUMMARY_ROWS: list[tuple[str, str, Format]] = [
    ("transfer time, mean, ms", "transfer_time_mean_s", decimals(3, 1e3)),
    ("… 99th percentile, ms", "transfer_time_p99_s", decimals(3, 1e3)),
    ("files finished", "transfers", count),
    ("files unfinished at the end", "transfers_unfinished", count),
    ("packet throughput (after decoding)", "packet_throughput", decimals(4)),
    ("packets lost", "packets_lost", count),
    ("blocks with a lost packet", "blocks_lost", count),
    ("goodput, Mb/s", "goodput_bps", decimals(3, 1e-6)),
    ("goodput ÷ ideal", "goodput_ratio", decimals(4)),
    ("fairness φ (mean deviation)", "fairness_mean_deviation", decimals(4)),
    ("fairness (Jain)", "fairness_jain", decimals(4)),
    ("effective throughput", "effective_throughput", decimals(4)),
    ("fairness of two classes", "class_fairness", decimals(4)),
    ("difference (max − min) ÷ mean", "difference", decimals(4)),
    ("retransmitted ÷ sent", "retransmission_ratio", decimals(5)),
    ("time to deliver, median, ms", "delivery_time_p50_s", decimals(3, 1e3)),
    ("… 99th percentile, ms", "delivery_time_p99_s", decimals(3, 1e3)),
]


def cell(value: Any, form: Format, reps: int = 1) -> str:
    """Show a figure: a plain value, or a mean ± half of its confidence interval.

    The number of runs is added if it is less than the `reps` replications.
    """
    if value is None:
        return "–"
    if isinstance(value, Mapping):
        mean = form(value["mean"])
        mean = mean if value["ci95"] is None else f"{mean} ± {_half(value, form)}"
        return of_runs(mean, value["n"], reps)
    return form(value)


def _half(value: Mapping[str, Any], form: Format) -> str:
    """Show half of an interval; one that would be rounded to 0 is shown as less than the last digit."""
    half = value["ci95"][1] - value["mean"]
    told = form(half)
    return told if half <= NOISE * abs(value["mean"]) or re.search("[1-9]", told) else f"<{told[:-1]}1"


def result(document: Report, console: Console) -> None:
    """Print a run: flows, ports and the summary."""
    console.print(_headline(document))
    flows, ports = document["flows"], document["ports"]
    omitted = document.get("omitted", {"flows": 0, "ports": 0})
    count_of = {"flows": len(flows) + omitted["flows"], "ports": len(ports) + omitted["ports"]}
    reps = len(document.get("seeds", [None]))
    flows = [_measured(flow) for flow in flows]
    if flows:
        listed = flows[: LISTED if count_of["flows"] > MANY else MANY]
        _table("flow", listed, _flow_columns(listed), reps, console)
    if count_of["flows"] > MANY:
        console.print(f"… and {count_of['flows'] - LISTED} more flows (--json has them all)", style="dim")
    if classes := [_measured(each) for each in document["summary"].get("classes", [])]:
        known = [column for column in CLASS_COLUMNS if any(column[1] in each for each in classes)]
        _table("class of flows", classes, known, reps, console)
    if fct := document["summary"].get("fct"):
        sizes = [{"name": size, **figures} for size, figures in fct["slowdown"].items()]
        _table("size", sizes, SLOWDOWN_COLUMNS, reps, console)
    busy = sorted((port for port in ports if _is_busy(port)), key=_is_unlimited)
    for unit in dict.fromkeys(port["occupancy_unit"] for port in busy):
        columns = [(title.format(unit=unit), key, form) for title, key, form in PORT_COLUMNS]
        _table("port", [port for port in busy if port["occupancy_unit"] == unit], columns, reps, console)
    if idle := count_of["ports"] - len(busy):
        others = "port" if idle == 1 else "ports"
        more = "more " if busy else ""
        note = f"{idle} {more}{others} lost nothing and hardly ever queued a unit (--json)"
        console.print(note, style="dim")
    for fate in ("lost", "marked"):
        _reasons([port for port in ports if port.get(fate)], fate, console)
    _summary(document, console)
    if "seeds" in document:
        console.print(f"Means over {len(document['seeds'])} replications ± half of the 95 % interval.", style="dim")


def _measured(entry: Document) -> Document:
    """Leave out times to deliver that are zero: nothing was delivered, so nothing was measured."""
    times = {key: value for key, value in entry.items() if key.startswith("delivery_time_")}
    if any(_mean(value) for value in times.values() if value is not None):
        return entry
    return {key: value for key, value in entry.items() if key not in times}


def _summary(document: Report, console: Console) -> None:
    """Print the figures of the summary."""
    figures = _measured(document["summary"])
    found = [(title, figures.get(key), form) for title, key, form in SUMMARY_ROWS]
    reps = len(document.get("seeds", [None]))
    lines = [(title, cell(value, form, reps)) for title, value, form in found if value is not None]
    if "audit" in document and not document["audit"]["failures"]:
        lines.append(("audit", f"all {document['audit']['checks']} balances hold"))
    pairs(console, lines)


def _flow_columns(flows: list[Document]) -> list[tuple[str, str, Format]]:
    """Choose the columns for these flows: coded packets are recovered, never retransmitted."""
    coded = ["packets_lost" in flow for flow in flows]
    resent = [] if all(coded) else RESENT_COLUMNS
    delivery = [column for column in DELIVERY_COLUMNS if any(column[1] in flow for flow in flows)]
    marked = MARKED_COLUMNS if any("segments_marked" in flow for flow in flows) else []
    return [*GOODPUT_COLUMNS, *resent, *marked, *(CODED_COLUMNS if any(coded) else []), *delivery]


def _headline(document: Report) -> Text:
    engine, seeds = document["engine"], document.get("seeds", [document["seed"]])
    seed = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} replications, seeds {seeds[0]}–{seeds[-1]}"
    wall = cell(engine["wall_s"], decimals(2))
    warmup = f" after {document['warmup_s']:g} s of warm-up" if document["warmup_s"] else ""
    head = Text(str(document["scenario"]), style="bold")
    head.append(
        f"  {document['duration_s']:g} s{warmup}, {seed}, engine {engine['name']} {engine['version']}, in {wall} s",
        style="dim",
    )
    return head


def _table(
    what: str, rows: list[Document], columns: list[tuple[str, str, Format]], reps: int, console: Console
) -> None:
    """Print a row for every flow or port."""
    heads = [Column(what, right=False)]
    first = [[str(entry["name"])] for entry in rows]
    if what == "flow":
        heads.append(Column("VC", style="dim"))
        for line, entry in zip(first, rows, strict=True):
            line.append(str(entry["vc"]))
    heads += [Column(title) for title, _, _ in columns]
    lines = [
        [*line, *(cell(entry.get(key), form, reps) for _, key, form in columns)]
        for line, entry in zip(first, rows, strict=True)
    ]
    draw(console, heads, lines)


def _is_unlimited(port: Document) -> bool:
    """Return whether a port has no limit, as those of hosts: the others come first."""
    return "occupancy_p50" not in port


def _reasons(ports: list[Document], fate: str, console: Console) -> None:
    """Print the number of lost or marked units of every port, by reason."""
    if not ports:
        return
    lines = []
    for port in ports:
        arrived = _mean(port["units_in"])
        for reason, count in port[fate].items():
            share = f"{100 * _mean(count) / arrived:.3f} %" if arrived else "–"
            lines.append([str(port["name"]), reason, cell(count, whole), share])
    heads = [
        Column("port", right=False),
        Column(f"{fate} because", right=False),
        Column("units"),
        Column("of units in"),
    ]
    draw(console, heads, lines, keys=2)


def _is_busy(port: Document) -> bool:
    """Return whether a port deserves a row: it lost a unit or often queued one."""
    return bool(port["lost"]) or _mean(port["occupancy_mean"]) >= _core.WAITING[port["occupancy_unit"]]


def _mean(value: Any) -> float:
    return float(value["mean"] if isinstance(value, Mapping) else value)
