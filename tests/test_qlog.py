"""qlog of the senders of a run: the fields that qvis reads, what the run counts, and the reference runs."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import ROOT, Typed
from pushout import policy
from pushout.errors import QuestionError

FOLDER = ROOT / "vectors" / "qlog"
REFERENCE = {"bbr": {}, "cubic": {}, "prague": {"port.bottleneck.discipline": "dualpi2"}}
LARGEST = 200_000
FIELDS = {
    "transport:packet_sent": {"header", "raw", "frames"},
    "transport:packet_received": {"header", "raw", "frames"},
    "recovery:packet_lost": {"header"},
    "recovery:congestion_state_updated": {"new"},
}
METRICS = {"congestion_window", "bytes_in_flight", "pacing_rate", "min_rtt", "smoothed_rtt", "latest_rtt"}


def reference(control: str, **changes: Any) -> pushout.TraceResult:
    """Run the reference run of a control, and trace all ports."""
    sets = {"flows.transport.congestion": control, **REFERENCE[control], **changes}
    return pushout.trace(str(FOLDER / "reference.toml"), set=sets, ports="*")


def events(text: str) -> list[dict[str, Any]]:
    """Return the events of a qlog of one flow, after a check of what stands above them."""
    document = json.loads(text)
    assert (document["qlog_version"], document["qlog_format"]) == ("0.3", "JSON")
    (trace,) = document["traces"]
    assert trace["vantage_point"]["type"] in ("client", "server", "network", "unknown")
    assert trace["common_fields"]["time_format"] == "relative" and trace["common_fields"]["reference_time"] == 0
    found: list[dict[str, Any]] = trace["events"]
    return found


def number(event: dict[str, Any]) -> int:
    """Return the number of a packet."""
    found: int = event["data"]["header"]["packet_number"]
    return found


@pytest.mark.parametrize("control", REFERENCE)
def test_a_reference_run_has_what_qvis_reads(control: str) -> None:
    text = (FOLDER / f"{control}.qlog").read_text(encoding="utf-8")
    assert len(text) <= LARGEST
    for event in events(text):
        data = event["data"]
        assert set(event) == {"time", "name", "data"} and isinstance(event["time"], float)
        if event["name"] == "recovery:metrics_updated":
            assert data and set(data) <= METRICS
            continue
        assert set(data) == FIELDS[event["name"]]
        if "header" in data:
            assert set(data["header"]) == {"packet_type", "packet_number"} and data["header"]["packet_type"] == "1RTT"
        for frame in data.get("frames", ()):
            if frame["frame_type"] == "ack":
                assert all(first <= last for first, last in frame["acked_ranges"])
            else:
                assert set(frame) == {"frame_type", "stream_id", "offset", "length"}
        assert "raw" not in data or data["raw"]["length"] > 0
    times = [event["time"] for event in events(text)]
    assert times == sorted(times)


@pytest.mark.parametrize("control", REFERENCE)
def test_a_reference_run_is_what_the_program_writes(control: str) -> None:
    assert (FOLDER / f"{control}.qlog").read_text(encoding="utf-8") == reference(control).qlog()


@pytest.mark.parametrize("control", REFERENCE)
def test_a_qlog_has_what_the_run_counts(control: str) -> None:
    run = reference(control)
    found, (flow,) = events(run.qlog()), run.document["flows"]
    counts = Counter(event["name"] for event in found)
    assert counts["transport:packet_sent"] == flow["segments_sent"]
    assert counts["recovery:packet_lost"] == flow["segments_retransmitted"]
    assert (control == "cubic") == (counts["recovery:packet_lost"] > 3), "a full buffer loses packets of CUBIC"
    sent: dict[int, float] = {}
    reported: set[int] = set()
    for event in found:
        if event["name"] == "transport:packet_sent":
            assert number(event) not in sent
            sent[number(event)] = event["time"]
        for frame in event["data"].get("frames", ()):
            for first, last in frame.get("acked_ranges", ()):
                numbers = set(range(first, last + 1))
                assert not numbers & reported and numbers <= set(sent), "each one once, and sent before"
                reported |= numbers
        assert event["data"].get("latest_rtt", 40.0) >= 40.0
    lost = {number(event) for event in found if event["name"] == "recovery:packet_lost"}
    assert not lost & reported, "no loss was spurious here"
    assert len(reported) >= flow["segments_received"] - 3, "but for what the last ACK under way reports"


def test_the_states_of_bbr_follow_each_other() -> None:
    states = [event["data"]["new"] for event in events(reference("bbr").qlog()) if "new" in event["data"]]
    assert states[:2] == ["startup", "drain"]


def test_a_loss_that_was_none_is_reported_and_acknowledged() -> None:
    run = pushout.trace(str(ROOT / "scenarios/bbr/18-spurious-recovery.toml"), set={"duration": "2.3 s"}, ports="*")
    found = events(run.qlog())
    (lost,) = [number(event) for event in found if event["name"] == "recovery:packet_lost"]
    ranges = [
        pair for event in found for frame in event["data"].get("frames", ()) for pair in frame.get("acked_ranges", ())
    ]
    assert any(first <= lost <= last for first, last in ranges)


def test_the_figures_of_a_control_of_ones_own_stay_out() -> None:
    """A figure that is called `phase` is not a state of BBR."""

    @policy.congestion(state={"phase": 0, "rate_bps": 0.0}, trace={"phase", "rate_bps"})
    def own(x: Any, s: Any) -> None:
        s.window += x.mss
        s.phase += 100
        s.rate_bps = 5.0

    text = (FOLDER / "reference.toml").read_text(encoding="utf-8")
    run = pushout.trace(text, set={"duration": "200 ms", "flows.transport.congestion": own}, ports="*")
    assert {figure["name"] for figure in run.document["flows"][0]["state"]["figures"]} == {"phase", "rate_bps"}
    data = [event["data"] for event in events(run.qlog()) if event["name"].startswith("recovery:")]
    assert {key for each in data for key in each} <= {"congestion_window", "latest_rtt", "header"}


def test_run_writes_a_qlog(tmp_path: Path, typed: Typed) -> None:
    scenario = str(FOLDER / "reference.toml")
    written = typed(tmp_path, "run", scenario, "--trace", "qlog", "--out", "out")
    assert written.returncode == 0, written.stderr
    kept = FOLDER / "cubic.qlog"
    assert (tmp_path / "out" / "trace.qlog").read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")
    refused = typed(tmp_path, "run", scenario, "--trace", "qlog", "--trace-ports", "bottleneck")
    assert refused.returncode == 2 and "--trace qlog needs every port: leave out --trace-ports" in refused.stderr


def test_what_has_no_qlog_is_refused_with_the_remedy() -> None:
    text = (FOLDER / "reference.toml").read_text(encoding="utf-8").split("[measure]")[0]
    part = pushout.trace(text, set={"duration": "100 ms"}, ports="bottleneck")
    with pytest.raises(QuestionError, match=r'trace with ports="\*"; not traced are access1, access1\.back'):
        part.qlog()
    udp = {"flows.transport": {"kind": "udp"}, "flows.source": {"kind": "cbr", "rate": "1 Mb/s"}}
    with pytest.raises(QuestionError, match="needs a flow of TCP"):
        pushout.trace(text, set={"duration": "100 ms", **udp}, ports="*").qlog()
    steps = {"topology.access.delay": {"steps": [["0 s", "1 ms"], ["50 ms", "2 ms"]]}}
    with pytest.raises(QuestionError, match="constant delays at hosts: that of the link 'access1' changes"):
        pushout.trace(text, set={"duration": "100 ms", **steps}, ports="*").qlog()
