"""A QUIC stack over `pushout.Path`: a whole transfer in virtual time."""

import re

import pytest

import pushout

pytest.importorskip("aioquic", reason="aioquic is not installed")

from quic_over_path import transfer

OCTETS = 1_000_000


def path(**settings: str) -> pushout.Path:
    return pushout.Path(rate="20 Mb/s", delay="10 ms", **settings)


@pytest.mark.parametrize("settings", [{}, {"policy": "fq-codel"}, {"buffer": "20 packets"}], ids=str)
def test_a_transfer_ends_as_fast_as_the_line_permits_and_twice_at_the_same_instant(settings: dict[str, str]) -> None:
    runs = [path(**settings) for _ in range(2)]
    (ends, received), again = (transfer(run, OCTETS) for run in runs)
    assert (ends, received) == again
    assert received == OCTETS
    assert ends is not None
    assert 8 * OCTETS / 20e6 < ends < 1.3 * 8 * OCTETS / 20e6
    assert runs[0].explain() == runs[1].explain()


def test_what_the_network_did_names_the_rule_that_lost_packets() -> None:
    shallow, fair = path(buffer="20 packets"), path(policy="fq-codel")
    for run in (shallow, fair):
        transfer(run, OCTETS)
    assert re.search("port bottleneck.back lost [0-9]+ by tail-drop", shallow.explain())
    assert "by codel: units had waited too long" in fair.explain()


def test_a_transfer_that_a_full_line_holds_up_does_not_end() -> None:
    ends, received = transfer(path(), OCTETS, until=0.2)
    assert ends is None
    assert 0 < received < OCTETS
