"""The TCP senders of a traced run as qlog, which qvis draws: what they sent, what they were told, and their windows.

A packet has the number of its segment in the order of sending, so one that is sent again has a new number, as in QUIC.
An acknowledgement reports the packets that had arrived when the receiver sent it, and that none before it has reported.
A packet counts as lost when its octets are sent again.

*Source*: draft-ietf-quic-qlog-main-schema-02 and draft-ietf-quic-qlog-quic-events-02 (`qlog_version` 0.3), which qvis
reads.
"""

import bisect
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pushout.errors import QuestionError
from pushout.quantity import TIMES, split

if TYPE_CHECKING:
    from pushout.types import Run

Event = tuple[int, int, str, dict[str, Any]]
"""An instant in picoseconds, a place in the order of an instant, a name and its data."""

STATES = ("startup", "drain", "probe_bw_down", "probe_bw_cruise", "probe_bw_refill", "probe_bw_up", "probe_rtt")
"""States of BBR by the number of `measure.state`."""
PS_PER_MS = 10**9


NAMES = ("port", "flow", "frame", "arrived_ps", "done_ps", "unit_bytes", "units", "seq", "ack", "data_bytes", "reason")
"""Columns of a trace."""


@dataclass(frozen=True)
class Row:
    """A packet at a port."""

    frame: int
    arrived: int
    done: int
    octets: int
    seq: int
    ack: int | None
    data: int
    lost: bool


@dataclass(frozen=True)
class Ends:
    """The ports at both ends of a flow, with the delays of the lines that lead to its hosts, in picoseconds."""

    sends: str
    told: str
    told_delay: int
    receives: str
    receives_delay: int
    answers: str


def qlog(explained: Mapping[str, Any], document: "Run", columns: Mapping[str, Sequence[Any]]) -> str:
    """Write the traced packets of every port as qlog, a trace for each flow of TCP; rows are in order of completion."""
    ports = rows_by_port(columns)
    reports = {flow["name"]: flow for flow in document["flows"]}
    traces = [
        trace(flow["name"], _without_own(flow, reports[flow["name"]]), ends(explained, flow), ports)
        for flow in explained["flow"]
        if flow["transport"]["kind"] == "tcp"
    ]
    if not traces:
        raise QuestionError("--trace qlog needs a flow of TCP: no other sender acts on acknowledgements")
    about = {"title": explained["name"], "description": explained.get("title", "")}
    return json.dumps({"qlog_version": "0.3", "qlog_format": "JSON", **about, "traces": traces}, separators=(",", ":"))


def _without_own(flow: Mapping[str, Any], report: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave out the figures of a control of the user's own, whose names are not those of the simulator."""
    is_own = isinstance(flow["transport"].get("congestion"), Mapping)
    return {key: value for key, value in report.items() if not (is_own and key == "state")}


def rows_by_port(columns: Mapping[str, Sequence[Any]]) -> dict[tuple[str, str], list[Row]]:
    """Return the packets by port and flow."""
    found: dict[tuple[str, str], list[Row]] = {}
    for port, flow, frame, arrived, done, size, units, seq, ack, data, reason in zip(
        *(columns[name] for name in NAMES), strict=True
    ):
        row = Row(frame, arrived, done, size * units, seq or 0, ack, data or 0, reason is not None)
        found.setdefault((port, flow), []).append(row)
    return found


def ends(explained: Mapping[str, Any], flow: Mapping[str, Any]) -> Ends:
    """Find the lines between the hosts of a flow and their first routers."""
    sends, told, told_delay = line(explained, flow["from"], flow["via"][0])
    answers, receives, receives_delay = line(explained, flow["to"], flow["via"][-1])
    return Ends(sends, told, told_delay, receives, receives_delay, answers)


def line(explained: Mapping[str, Any], host: str, router: str) -> tuple[str, str, int]:
    """Return the ports from and to a host, and the delay of its line towards it."""
    for link in explained["link"]:
        forth, back = link["name"], f"{link['name']}.back"
        if (link["from"], link["to"]) == (host, router):
            return forth, back, picoseconds(link["back"]["delay"], link["name"])
        if (link["from"], link["to"]) == (router, host):
            return back, forth, picoseconds(link["delay"], link["name"])
    raise QuestionError(f"--trace qlog needs a line between {host!r} and {router!r} that leads both ways")


def picoseconds(delay: object, name: str) -> int:
    """Return a constant delay in picoseconds."""
    if not isinstance(delay, str):
        raise QuestionError(f"--trace qlog needs constant delays at hosts: that of the link {name!r} changes")
    number, unit = split(delay)
    return round(number * TIMES[unit])


def trace(name: str, report: Mapping[str, Any], at: Ends, ports: dict[tuple[str, str], list[Row]]) -> dict[str, Any]:
    """Return the trace of a flow."""
    traced = {port for port, _ in ports}
    if missing := {at.sends, at.told, at.receives, at.answers} - traced:
        names = ", ".join(sorted(missing))
        raise QuestionError(f'qlog needs the ports of hosts: trace with ports="*"; not traced are {names}')
    sent = sorted((row for row in ports.get((at.sends, name), ()) if row.data > 0), key=lambda row: row.arrived)
    events = [*sendings(sent), *acknowledgements(name, sent, at, ports), *metrics(report)]
    events.sort(key=lambda event: event[:2])
    return {
        "title": name,
        "vantage_point": {"name": "sender", "type": "server"},
        "common_fields": {"time_format": "relative", "reference_time": 0, "group_id": name, "protocol_type": ["TCP"]},
        "events": [
            {"time": round(time / PS_PER_MS, 3), "name": event, "data": data} for time, _, event, data in events
        ],
    }


def header(number: int) -> dict[str, Any]:
    """Return the header of a packet."""
    return {"packet_type": "1RTT", "packet_number": number}


def sendings(sent: Sequence[Row]) -> Iterator[Event]:
    """Yield each sending, behind the loss of an earlier one with the same octets."""
    latest: dict[int, int] = {}
    for row in sent:
        if row.seq in latest:
            yield row.arrived, 2, "recovery:packet_lost", {"header": header(latest[row.seq])}
        latest[row.seq] = row.frame
        frames = [{"frame_type": "stream", "stream_id": 0, "offset": row.seq, "length": row.data}]
        yield (
            row.arrived,
            3,
            "transport:packet_sent",
            {
                "header": header(row.frame),
                "raw": {"length": row.octets},
                "frames": frames,
            },
        )


def acknowledgements(
    name: str, sent: Sequence[Row], at: Ends, ports: dict[tuple[str, str], list[Row]]
) -> Iterator[Event]:
    """Yield each acknowledgement that comes, with the round trip of the latest packet that it reports."""
    arrived = sorted(
        (row.done + at.receives_delay, row.frame)
        for row in ports.get((at.receives, name), ())
        if row.data > 0 and not row.lost
    )
    instants = [instant for instant, _ in arrived]
    created = {row.frame: row.arrived for row in ports.get((at.answers, name), ())}
    begins = {row.frame: row.arrived for row in sent}
    reported = 0
    for row in sorted(ports.get((at.told, name), ()), key=lambda row: row.done):
        if row.ack is None or row.lost or row.frame not in created:
            continue
        until = bisect.bisect_right(instants, created[row.frame])
        numbers = sorted(frame for _, frame in arrived[reported:until])
        reported = max(reported, until)
        now = row.done + at.told_delay
        frames = [{"frame_type": "ack", "acked_ranges": ranges(numbers)}] if numbers else []
        yield (
            now,
            0,
            "transport:packet_received",
            {
                "header": header(row.frame),
                "raw": {"length": row.octets},
                "frames": frames,
            },
        )
        if numbers:
            rtt = round((now - begins[numbers[-1]]) / PS_PER_MS, 3)
            yield now, 1, "recovery:metrics_updated", {"latest_rtt": rtt}


def ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Return runs of successive numbers by their first and last."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def metrics(report: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the window and the variables of the congestion control where a sample has others than the one before."""
    windows, state = report.get("cwnd"), report.get("state")
    values = {figure["name"]: figure["values"] for figure in state["figures"]} if state else {}
    before: dict[str, Any] = {}
    phase: int | None = None
    sampled = windows or state or {}
    for index in range(len(windows["octets"]) if windows else len(next(iter(values.values()), ()))):
        now = round(1e12 * (sampled["start_s"] + index * sampled["step_s"]))
        found: dict[str, Any] = {"congestion_window": windows["octets"][index]} if windows else {}
        for name, own, scale in (
            ("bytes_in_flight", "inflight", None),
            ("pacing_rate", "pacing_rate_bps", None),
            ("pacing_rate", "rate_bps", None),
            ("min_rtt", "min_rtt_s", 1e3),
            ("smoothed_rtt", "srtt_s", 1e3),
        ):
            if own in values:
                value = values[own][index]
                found[name] = round(scale * value, 3) if scale else round(value)
        if changed := {name: value for name, value in found.items() if before.get(name) != value}:
            yield now, 4, "recovery:metrics_updated", changed
        before = found
        if "phase" in values and values["phase"][index] != phase:
            phase = int(values["phase"][index])
            yield now, 5, "recovery:congestion_state_updated", {"new": STATES[phase]}
