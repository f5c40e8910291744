"""Prague at DualPI2: round trips count less than for DCTCP, and marks modulo 8 are enough; bad keys."""

import pytest

import pushout
from pushout.errors import ScenarioError

PRAGUE = {"kind": "tcp", "congestion": "prague"}
DCTCP = {"kind": "tcp", "profile": "linux", "congestion": "dctcp", "ecn": True, "l4s": True}
FLOWS = 5


def shared(transport: dict[str, object], **changes: object) -> list[float]:
    """Return the goodput of five flows with a round trip of 5 ms, and of five with 40 ms, over a line of 200 Mb/s."""
    near, far = ({"rate": "1 Gb/s", "delay": delay} for delay in ("1 ms", "18.5 ms"))
    scenario = {
        "name": "l4s",
        "duration": "25 s",
        "warmup": "10 s",
        "topology": {
            "template": "dumbbell",
            "sources": 2 * FLOWS,
            "access": [near] * FLOWS + [far] * FLOWS,
            "bottleneck": {"rate": "200 Mb/s", "delay": "500 us"},
            "egress": {"rate": "1 Gb/s", "delay": "1 ms"},
        },
        "adaptation": {"kind": "packet"},
        "port": {"bottleneck": {"buffer": "10000 packets", "discipline": "dualpi2"}},
        "flows": {"source": {"kind": "greedy"}, "transport": transport},
        **changes,
    }
    return [flow["goodput_bps"] for flow in pushout.run(scenario).document["flows"]]


def ratio(goodputs: list[float]) -> float:
    """Return what the near flows have together, by what the far ones have."""
    return sum(goodputs[:FLOWS]) / sum(goodputs[FLOWS:])


def test_round_trips_of_5_and_40_ms_share_a_line_within_two_to_one() -> None:
    prague, dctcp = shared(PRAGUE), shared(DCTCP)
    assert 1.2 < ratio(prague) < 2 and ratio(dctcp) > 8
    assert all(sum(goodputs) > 0.9 * 200e6 for goodputs in (prague, dctcp))


def test_without_the_virtual_round_trip_prague_divides_the_line_as_dctcp_does() -> None:
    plain = ratio(shared({**PRAGUE, "prague_rtt": "0 s"}))
    assert 8 < plain < 2 * ratio(shared(DCTCP))


def test_marks_modulo_8_lead_where_whole_counts_do() -> None:
    whole = shared({**PRAGUE, "feedback": "counters"})
    assert ratio(shared(PRAGUE)) == pytest.approx(ratio(whole), rel=0.02)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"congestion": "bbr", "pacing": False}, 'pacing must be "auto" or true with congestion = "bbr"'),
        ({"congestion": "bbr", "sack": False}, 'sack must be true with congestion = "bbr"'),
        ({"congestion": "bbr", "ecn": True}, 'ecn must be false with congestion = "bbr"'),
        ({"congestion": "prague", "feedback": "rfc3168"}, 'feedback must be "accecn" or "counters"'),
        ({"congestion": "prague", "l4s": False}, 'l4s must be true with congestion = "prague"'),
        ({"congestion": "prague", "prague_rtt": "2 s"}, "prague_rtt must be at most 1 s"),
        ({"congestion": "cubic", "feedback": "accecn"}, 'feedback must be "rfc3168" without congestion = "prague"'),
    ],
)
def test_what_cannot_be_has_one_message(keys: dict[str, object], message: str) -> None:
    with pytest.raises(ScenarioError, match="flow") as caught:
        shared({"kind": "tcp", **keys})
    assert message in str(caught.value)


def test_senders_that_pace_are_refused_on_cells() -> None:
    with pytest.raises(ScenarioError, match=r'congestion must not be "prague", which paces, where the line "access1"'):
        shared(PRAGUE, adaptation={"kind": "aal5"}, port={})


def test_prague_is_warned_of_where_no_port_marks() -> None:
    scenario = {
        "name": "unmarked",
        "duration": "1 s",
        "topology": {
            "template": "dumbbell",
            "sources": 1,
            "access": {"rate": "1 Gb/s", "delay": "1 ms"},
            "bottleneck": {"rate": "10 Mb/s", "delay": "1 ms"},
        },
        "adaptation": {"kind": "packet"},
        "flows": {"source": {"kind": "greedy"}, "transport": PRAGUE},
    }
    assert "prague-unmarked" in [warning["code"] for warning in pushout.validate(scenario)]
    marked = {**scenario, "port": {"bottleneck": {"buffer": "1 MB", "discipline": "dualpi2"}}}
    assert "prague-unmarked" not in [warning["code"] for warning in pushout.validate(marked)]
