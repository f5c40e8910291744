"""The test cases of the IETF draft on BBR, one scenario each: the cause is asserted as well as the effect.

"Within 2 % of the line" is of its payload: of 1500 octets of a packet 1448 are data. Where a case begins in a state, a
first run finds the instant, and a second one with the same seed uses it."""

import functools
import itertools
from typing import Any, NamedTuple

import pytest

import pushout
from conftest import ROOT

CASES = sorted((ROOT / "scenarios" / "bbr").glob("*.toml"))
STARTUP, DRAIN, DOWN, CRUISE, REFILL, UP, PROBE_RTT = range(7)
SEGMENT = 1448
PAYLOAD = SEGMENT / 1500
"""The part of a line's rate that data have."""


class Stay(NamedTuple):
    """A stay in a state, from its first sample to the one behind its last."""

    phase: int
    first: int
    end: int


class Case:
    """A run of a case: its report, and the variables of the sender over time."""

    def __init__(self, number: int, **changes: object) -> None:
        (file,) = [each for each in CASES if each.name.startswith(f"{number:02}-")]
        sets = {key.replace("__", "."): value for key, value in changes.items()}
        self.document: dict[str, Any] = pushout.run(str(file), set=sets).document
        self.flow = self.document["flows"][0]
        state = self.flow["state"]
        self.start, self.step = state["start_s"], state["step_s"]
        self.values = {figure["name"]: figure["values"] for figure in state["figures"]}

    def time(self, index: int) -> float:
        """Return the instant of a sample."""
        return self.start + self.step * index

    def at(self, name: str, index: int) -> float:
        """Return a variable at a sample."""
        return self.values[name][index]

    @functools.cached_property
    def stays(self) -> list[Stay]:
        """The states in their order."""
        phases = [int(phase) for phase in self.values["phase"]]
        starts = [0, *(i for i in range(1, len(phases)) if phases[i] != phases[i - 1])]
        return [Stay(phases[a], a, b) for a, b in zip(starts, [*starts[1:], len(phases)], strict=True)]

    def first(self, phase: int, after: float = 0.0) -> Stay:
        """Return the first stay in a state that begins after an instant."""
        return next(stay for stay in self.stays if stay.phase == phase and self.time(stay.first) >= after)

    def behind(self, stay: Stay) -> int:
        """Return the state that follows."""
        return self.stays[self.stays.index(stay) + 1].phase

    def all(self, name: str, stay: Stay) -> list[float]:
        """Return a variable at all samples of a stay."""
        return self.values[name][stay.first : stay.end]

    def bdp(self, index: int) -> float:
        """Return the BDP in octets as the sender knows it."""
        return self.at("max_bw_bps", index) * self.at("min_rtt_s", index) / 8

    @property
    def lost(self) -> int:
        """Packets that ports have lost."""
        return sum(sum(port["lost"].values()) for port in self.document["ports"])


def seconds(instant: float) -> str:
    """Return an instant as a scenario writes it."""
    return f"{instant:.4f} s"


def test_every_case_of_the_draft_has_a_scenario() -> None:
    assert [int(file.name[:2]) for file in CASES] == list(range(1, 23))
    tests = {name.split("_")[1] for name in globals() if name.startswith("test_") and name.split("_")[1].isdigit()}
    assert tests == {f"{number:02}" for number in range(1, 23)}


def test_01_startup_ends_on_a_plateau() -> None:
    case = Case(1)
    startup = case.stays[0]
    assert (startup.phase, case.behind(startup)) == (STARTUP, DRAIN)
    last, then = startup.end - 1, startup.end
    assert case.at("max_bw_bps", then) == pytest.approx(10e6 * PAYLOAD, rel=0.02)
    assert (case.at("full_bw_count", last), case.at("full_bw_count", then)) == (2, 3)
    assert (case.at("full_bw_reached", last), case.at("full_bw_reached", then)) == (0, 1)
    assert not any(case.all("is_app_limited", startup)[100:]), "the cause: it has data all the time"


def test_02_startup_ends_on_losses_where_the_application_is_the_limit() -> None:
    case = Case(2)
    startup = case.stays[0]
    assert case.behind(startup) in (DRAIN, DOWN, CRUISE), "with half a BDP in flight Drain ends as soon as it begins"
    assert case.at("is_app_limited", startup.end) == 1
    assert case.at("full_bw_count", startup.end) < 3, "not by a plateau"
    assert case.at("full_bw_reached", startup.end) == 1
    assert case.at("inflight_longterm", startup.end) > 0
    fewer = Case(2, loss=[{"link": "bottleneck", "packets": [4000, 4020, 4040, 4060, 4080]}])
    assert [stay.phase for stay in fewer.stays] == [STARTUP], "five ranges are not enough"


def test_03_drain_ends_when_a_bdp_is_in_flight() -> None:
    case = Case(3)
    drain = case.first(DRAIN)
    assert set(case.all("pacing_gain", drain)) == {0.5}
    inflight = case.all("inflight", drain)
    assert inflight[0] > case.bdp(drain.first) and all(octets > case.bdp(drain.first) for octets in inflight[:-1])
    assert case.at("inflight", drain.end) <= case.bdp(drain.first) + 1
    assert case.behind(drain) in (DOWN, CRUISE)
    assert case.at("round_count", drain.end) <= case.at("round_count", drain.first) + 3, "not by time"


def test_04_drain_ends_after_three_rounds() -> None:
    entry = Case(3).time(Case(3).first(DRAIN).first)
    slow = {"topology__bottleneck__rate": {"steps": [["0 s", "10 Mb/s"], [seconds(entry), "4 Mb/s"]]}}
    case = Case(4, **slow)
    drain = case.first(DRAIN)
    assert case.time(drain.first) == pytest.approx(entry)
    rounds = case.at("round_count", drain.end) - case.at("round_count", drain.first)
    assert rounds == 4, "more than three"
    assert case.at("inflight", drain.end) > case.bdp(drain.end) and case.behind(drain) == DOWN
    slow["topology__bottleneck__rate"] = {"steps": [["0 s", "10 Mb/s"], [seconds(entry), "9 Mb/s"]]}
    tenth = Case(4, **slow)
    drain = tenth.first(DRAIN)
    assert tenth.at("inflight", drain.end) <= tenth.bdp(drain.first) + 1, "at 90 % half the rate drains the queue"


def test_05_up_ends_on_a_plateau() -> None:
    case = Case(5)
    up = case.first(UP)
    assert (set(case.all("pacing_gain", up)), set(case.all("cwnd_gain", up))) == ({1.25}, {2.25})
    assert (case.at("full_bw_count", up.end - 1), case.at("full_bw_count", up.end)) == (2, 3)
    assert case.behind(up) == DOWN
    assert case.lost == 0 and set(case.values["inflight_longterm"]) == {0}
    assert not any(case.all("is_app_limited", up))


def limited_up(**changes: object) -> tuple[Case, Stay]:
    """Return a run in which the application has become the limit, and its first UP since then."""
    case = Case(6, **changes)
    return case, case.first(UP, after=4.0)


def test_06_up_ends_on_losses_where_the_application_is_the_limit() -> None:
    plain, up = limited_up(loss=[])
    begin = plain.time(up.first) + 0.2
    assert plain.time(up.end) > begin + 0.5
    case, up = limited_up(loss=[{"link": "bottleneck", "down": [[seconds(begin), seconds(begin + 0.01)]]}])
    assert case.at("is_app_limited", up.end) == 1 and case.at("full_bw_count", up.end - 1) < 3
    assert begin < case.time(up.end) < begin + 0.15 and case.behind(up) in (DOWN, CRUISE)
    assert case.at("inflight_longterm", up.end) == 0, "what the application limits sets no bound"


def test_07_nothing_ends_startup_or_up_without_loss_where_the_application_is_the_limit() -> None:
    case = Case(7)
    assert {stay.phase for stay in case.stays} == {STARTUP, PROBE_RTT}
    assert set(case.values["full_bw_reached"]) == {0} and case.lost == 0
    limited = case.values["is_app_limited"]
    assert sum(limited) > 0.98 * len(limited), "the cause"
    plain, up = limited_up(loss=[])
    assert plain.behind(up) == PROBE_RTT and plain.time(up.end) - plain.time(up.first) > 1
    assert sum(plain.all("is_app_limited", up)) > 0.95 * (up.end - up.first)


def test_08_down_ends_when_the_queue_is_gone() -> None:
    case = Case(8)
    down = case.first(DOWN, after=case.time(case.first(UP).first))
    assert set(case.all("pacing_gain", down)) == {0.9}
    least = case.bdp(down.first)
    assert all(octets > least for octets in case.all("inflight", down)[:-1])
    assert case.at("inflight", down.end) <= least + 1 and case.behind(down) == CRUISE
    wait = case.at("probe_wait_s", down.first)
    assert case.time(down.end) - case.time(down.first) < wait


def test_09_down_ends_after_the_wait() -> None:
    steady = Case(9, topology__bottleneck__rate="20 Mb/s")
    up = steady.first(UP, after=steady.time(steady.first(PROBE_RTT).end))
    entry = steady.time(steady.first(DOWN, after=steady.time(up.first)).first)
    steps = [["0 s", "20 Mb/s"], [seconds(entry), "18 Mb/s"]]
    case = Case(9, topology__bottleneck__rate={"steps": steps})
    down = case.first(DOWN, after=entry - 0.01)
    wait = case.at("probe_wait_s", down.first)
    assert 2 <= wait <= 3
    assert case.time(down.end) - case.time(down.first) == pytest.approx(wait, abs=0.01)
    assert case.behind(down) == REFILL, "without a CRUISE"
    assert min(case.all("inflight", down)) > case.bdp(down.first), "the cause"
    assert steady.behind(steady.first(DOWN, after=entry - 0.01)) == CRUISE, "and at the full rate there is one"


def test_10_probe_rtt_begins_after_five_seconds_and_ends() -> None:
    case = Case(10)
    probe = case.first(PROBE_RTT)
    assert 5 < case.time(probe.first) < 5.2
    assert set(case.all("cwnd_gain", probe)) == {0.5}
    assert min(case.all("inflight", probe)) <= max(case.bdp(probe.first) / 2, 4 * SEGMENT)
    assert 0.2 < case.time(probe.end) - case.time(probe.first) < 0.35
    assert case.at("round_count", probe.end) >= case.at("round_count", probe.first) + 1
    assert case.behind(probe) == CRUISE
    assert case.at("inflight", probe.end + 100) > 0.9 * case.bdp(probe.end), "it sends again"
    again = case.first(PROBE_RTT, after=case.time(probe.end))
    assert case.time(again.first) - case.time(probe.end) == pytest.approx(5, abs=0.2)


def test_11_no_probe_for_the_round_trip_follows_a_rest() -> None:
    case = Case(11)
    restart = next(i for i, value in enumerate(case.values["idle_restart"]) if value)
    assert case.time(restart) == pytest.approx(10, abs=0.01)
    rest = [case.at("inflight", i) for i in range(round(4.5 / case.step), restart)]
    assert set(rest) == {0}, "the cause: more than five seconds without a packet"
    assert not any(value for value in case.values["idle_restart"][restart + 100 :]), "until the first delivery"
    assert PROBE_RTT not in {case.values["phase"][i] for i in range(restart, restart + 400)}


def test_12_startup_finds_the_rate_where_acknowledgements_come_in_bursts() -> None:
    case, plain = Case(12), Case(1)
    startup = case.stays[0]
    assert case.behind(startup) in (DRAIN, DOWN), "it ends"
    found = case.at("max_bw_bps", startup.end) / (10e6 * PAYLOAD)
    assert 0.98 < found < 1.15, (
        "bursts of 10 ms in round trips of 50 ms seem up to a fifth faster, less the time of sending"
    )
    assert case.at("extra_acked", startup.end - 1) > 3 * plain.at("extra_acked", plain.stays[0].end - 1)


def test_13_cruise_keeps_the_line_busy_where_acknowledgements_come_in_bursts() -> None:
    case = Case(13)
    cruise = case.first(CRUISE, after=2.0)
    # 10 ms of the line are 12 kB
    assert min(case.all("extra_acked", cruise)) > 8_000
    assert max(case.flow["cwnd"]["octets"][cruise.first : cruise.end]) > 2 * case.bdp(cruise.first) + 8_000
    busy = case.flow["goodput_bps"] / (10e6 * PAYLOAD)
    assert busy > 0.93, "with probes for the round trip and 1 % below the rate"


def test_14_four_packets_are_in_flight_where_the_bdp_is_less_than_one() -> None:
    case = Case(14)
    assert {DRAIN, DOWN} < {stay.phase for stay in case.stays}
    behind = round(20 / case.step)
    assert max(case.values["inflight"][behind:]) <= 12 * SEGMENT, (
        "three bursts of two, two in UP, and what is acknowledged in pairs"
    )
    assert min(case.flow["cwnd"]["octets"][behind:]) >= 4 * SEGMENT
    assert case.at("max_bw_bps", behind) == pytest.approx(64e3 * PAYLOAD, rel=0.02)
    cruise = case.first(CRUISE, after=20)
    assert set(case.all("pacing_rate_bps", cruise)) <= {int(case.at("max_bw_bps", cruise.first) * 99 // 100)}
    bottleneck = next(port for port in case.document["ports"] if port["name"] == "bottleneck")
    assert case.flow["goodput_bps"] > 0.95 * 64e3 * PAYLOAD and bottleneck["name"] == "bottleneck"


def test_15_a_line_ten_times_as_fast_is_found_by_steps_that_double() -> None:
    case = Case(15)
    step = round(6 / case.step)
    assert case.at("inflight_longterm", step) > 0, "the cause: a bound that has to grow"
    assert case.at("max_bw_bps", step) < 10e6
    up = next(stay for stay in case.stays if stay.phase == UP and stay.first > step and stay.end - stay.first > 300)
    rounds: dict[float, float] = {}
    for i in range(up.first, up.end):
        rounds.setdefault(case.at("round_count", i), case.at("inflight_longterm", i))
    grown = [b - a for a, b in itertools.pairwise(rounds.values())]
    doubled = [b / a for a, b in itertools.pairwise(grown) if a >= 2 * SEGMENT]
    assert len(doubled) > 2 and all(1.4 < ratio < 2.9 for ratio in doubled[:3]), grown
    assert max(case.values["max_bw_bps"]) > 0.9 * 100e6 * PAYLOAD


def test_16_a_line_ten_times_slower_is_known_after_two_cycles() -> None:
    case = Case(16)
    step = round(5 / case.step)
    assert case.at("max_bw_bps", step) > 90e6 and case.lost > 0
    shortterm = [value for value in case.values["bw_shortterm_bps"][step : step + round(1 / case.step)] if value]
    assert shortterm and min(shortterm) < 60e6, "losses lower the rate at once"
    cycles = case.at("cycle_count", step)
    later = next(i for i in range(step, len(case.values["phase"])) if case.at("cycle_count", i) >= cycles + 3)
    assert case.at("max_bw_bps", step + round(0.1 / case.step)) > 90e6, "and the largest one stays"
    assert case.at("max_bw_bps", later) == pytest.approx(10e6 * PAYLOAD, rel=0.05)


def test_17_a_policer_that_drops_is_met() -> None:
    case = Case(17)
    assert case.flow["segments_retransmitted"] > 0, "the cause: the policer drops"
    assert any(case.values["bw_shortterm_bps"]) and any(case.values["inflight_shortterm"])
    assert case.flow["goodput_bps"] > 0.7 * 10e6 * PAYLOAD
    late = Case(17, warmup="10 s")
    assert late.flow["segments_retransmitted"] / late.flow["segments_sent"] < 0.03


def restored(case: Case) -> list[int]:
    """Return the samples at which a bound of what is in flight has gone again, as it was before a loss."""
    bounds = case.values["inflight_longterm"]
    return [i for i in range(1, len(bounds)) if bounds[i - 1] > 0 and bounds[i] == 0]


def held_back(case: Case) -> int:
    """Return the packets that the line has held back."""
    (bottleneck,) = [port for port in case.document["ports"] if port["name"] == "bottleneck"]
    return bottleneck["held_back"]


def sent_until(number: int, instant: float, **changes: object) -> int:
    """Return the packets that a case has sent before an instant."""
    return Case(number, duration=seconds(instant), **changes).flow["segments_sent"]


def test_18_a_spurious_recovery_is_undone() -> None:
    plain, case = Case(18, reorder=[]), Case(18)
    up = plain.first(UP)
    assert sent_until(18, plain.time(up.first), reorder=[]) < 1620 < sent_until(18, plain.time(up.end), reorder=[])
    assert (plain.flow["fast_retransmits"], restored(plain)) == (0, [])
    assert (held_back(case), case.lost, case.flow["fast_retransmits"]) == (1, 0, 1), "the cause: late, and not lost"
    ended = case.first(UP)
    assert (ended.first, case.behind(ended)) == (up.first, DOWN) and case.at("inflight_longterm", ended.end) > 0
    (first,) = restored(case)
    cwnd = case.flow["cwnd"]["octets"]
    assert case.at("phase", first) == REFILL, "the probe begins again"
    assert cwnd[first] > 1.2 * case.at("inflight_longterm", first - 1), "and the window is no longer bounded"
    early = Case(18, reorder=[{"link": "bottleneck", "packets": [1620], "by": "3 ms"}])
    assert (held_back(early), early.flow["fast_retransmits"]) == (1, 0), "within the reordering window"
    lost = Case(18, reorder=[], loss=[{"link": "bottleneck", "packets": [1620]}])
    without = Case(18, flows__transport__dsack=False)
    for other in lost, without:
        assert other.flow["fast_retransmits"] == 1 and other.at("inflight_longterm", ended.end) > 0
        assert restored(other) == [], "a loss, or one that no report of what arrives twice contradicts"


def returns(case: Case) -> list[float]:
    """Return the instants at which the window returns at once to what it was before the timeout."""
    cwnd, begin = case.flow["cwnd"]["octets"], round(2.0 / case.step)
    timeout = next(i for i in range(begin, len(cwnd)) if cwnd[i] == SEGMENT)
    return [case.time(i) for i in range(timeout, len(cwnd)) if cwnd[i] == cwnd[timeout - 1] > 1.5 * cwnd[i - 1]]


def test_19_a_spurious_timeout_is_undone() -> None:
    case = Case(19)
    assert (case.lost, case.flow["timeouts"], case.flow["fast_retransmits"]) == (0, 1, 0), "the cause: nothing is lost"
    (instant,) = returns(case)
    before, after = round(1.99 / case.step), round(3.5 / case.step)
    assert 2.7 < instant < 2.9, "with the last report of what arrived twice"
    # The draft stores state for an undo with the first loss of a round, and a loss that ends a probe clears the round:
    # of many losses at once the second one stores what the first has bounded.
    assert case.at("inflight_longterm", round((instant + 0.01) / case.step)) > 0, "the bound of the probe stays"
    assert case.at("bw_shortterm_bps", after) == 0
    assert case.at("max_bw_bps", after) == pytest.approx(case.at("max_bw_bps", before), rel=0.05)
    assert case.flow["goodput_bps"] > 0.7 * 10e6 * PAYLOAD
    without = Case(19, flows__transport__dsack=False)
    assert without.flow["timeouts"] == 1 and returns(without) == []
    steps = [["0 s", "18 ms"], ["2 s", "118 ms"], ["2.05 s", "18 ms"]]
    less = Case(19, topology__bottleneck__delay={"steps": steps})
    assert less.flow["timeouts"] == 0, "100 ms more are less than the timeout"


def test_20_probe_rtt_in_startup_returns_to_startup() -> None:
    case = Case(20)
    assert [stay.phase for stay in case.stays] == [STARTUP, PROBE_RTT, STARTUP]
    probe = case.first(PROBE_RTT)
    assert 5 < case.time(probe.first) < 5.2 and set(case.values["full_bw_reached"]) == {0}
    assert set(case.all("pacing_gain", case.stays[-1])) == {2.77}


def outage(instant: float) -> list[str]:
    """Return an outage of 5 ms."""
    return [seconds(instant), seconds(instant + 0.005)]


def test_21_a_loss_in_up_lowers_a_bound_that_is_set() -> None:
    plain = Case(21)
    outages = [outage(plain.time(plain.first(UP).first) + 0.05)]
    once = Case(21, loss=[{"link": "bottleneck", "down": outages}])
    up = once.first(UP)
    assert once.behind(up) == DOWN and once.at("inflight_longterm", up.end) > 0
    later = next(
        stay for stay in once.stays if stay.phase == UP and stay.end - stay.first > 100 and stay.first > up.end
    )
    outages.append(outage(once.time(later.first) + 0.06))
    twice = Case(21, loss=[{"link": "bottleneck", "down": outages}])
    up = next(stay for stay in twice.stays if stay.first == later.first)
    bound, least = twice.at("inflight_longterm", up.first), 0.7 * twice.bdp(up.first)
    assert bound > 0, "the cause"
    assert least - 1 <= twice.at("inflight_longterm", up.end) < bound
    assert twice.behind(up) == DOWN and up.end - up.first < later.end - later.first


def test_22_a_pause_in_refill_leaves_the_rate_as_it_is() -> None:
    greedy = Case(22, flows__source={"kind": "greedy"})
    refill = greedy.first(REFILL)
    begin = greedy.time(refill.first)
    sent = Case(22, flows__source={"kind": "greedy"}, duration=seconds(begin)).flow["segments_sent"]
    at = ["0 s", seconds(begin + 0.06)]
    source = {"kind": "file", "size": f"{sent * SEGMENT} bytes", "at": at, "reconnect": False}
    case = Case(22, flows__source=source)
    paused = case.first(REFILL)
    assert case.time(paused.first) == pytest.approx(begin, abs=0.01)
    assert max(case.all("is_app_limited", case.first(UP))) == 1, "the cause"
    assert case.behind(paused) == UP
    rates = case.values["max_bw_bps"][paused.first : case.first(UP).end]
    assert min(rates) >= 0.99 * case.at("max_bw_bps", paused.first)
