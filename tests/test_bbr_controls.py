"""Control experiments: BBR without bounds by losses, or without probes after a number of rounds, beside one CUBIC."""

import pytest

import pushout


def share(delay: str, buffer: str, **keys: bool) -> list[float]:
    """Return BBR's share of a line of 20 Mb/s, seed by seed; the round trip is twice the delay, and 4 ms more."""
    flow = {"name": "flow1", "transport": {"kind": "tcp", "congestion": "bbr", **keys}}
    scenario = {
        "name": "pair",
        "duration": "40 s",
        "warmup": "10 s",
        "topology": {
            "template": "dumbbell",
            "sources": 2,
            "access": {"rate": "1 Gb/s", "delay": "1 ms"},
            "bottleneck": {"rate": "20 Mb/s", "delay": delay},
            "egress": {"rate": "1 Gb/s", "delay": "1 ms"},
        },
        "adaptation": {"kind": "packet"},
        "port": {"bottleneck": {"buffer": buffer}},
        "flows": {
            "start_spread": "2 s",
            "source": {"kind": "greedy"},
            "transport": {"kind": "tcp", "profile": "linux"},
        },
        "flow": [flow],
    }
    runs = pushout.run(scenario, reps=4).replications
    rates = [[each["goodput_bps"] for each in run["flows"]] for run in runs]
    return [bbr / (bbr + cubic) for bbr, cubic in rates]


@pytest.mark.parametrize("buffer", ["25 kB", "100 kB"])
def test_without_bounds_by_losses_bbr_takes_a_shallow_buffer(buffer: str) -> None:
    assert max(share("18 ms", buffer)) < 0.8 < 0.9 < min(share("18 ms", buffer, bbr_loss_bounds=False))


def test_without_probes_after_rounds_bbr_loses_to_cubic_at_short_round_trips() -> None:
    for delay in ("1 ms", "3 ms"):
        assert min(share(delay, "25 kB")) > 0.5 > max(share(delay, "25 kB", bbr_rounds=False))
