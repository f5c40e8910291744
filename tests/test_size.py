"""Searches, by themselves and with the real simulator."""

import json
import math
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import pushout
from conftest import ROOT, command
from pushout.answer.columns import Columns
from pushout.errors import QuestionError
from pushout.options import LEAST
from pushout.question import ask, size
from pushout.question.goal import FORMS, Goal, Separate, Tried, judged, together
from pushout.question.goal import read as goal_of
from pushout.question.search import SearchResult, best, between, is_monotone, smallest
from pushout.question.size import Question
from pushout.question.sized import Answer, SizeResult, is_falling
from pushout.question.space import Space, space
from pushout.question.store import Run

LAN = ROOT / "scenarios" / "lan.toml"
WATCHED = {"duration": "5 ms", "measure.occupancy": ["bottleneck"]}
CELLS = Space(100, 10_000, "cells", True, True)


def steps(threshold: float, tried: list[float] | None = None) -> Any:
    """A goal that is met from a threshold on."""

    def attempt(values: Sequence[float]) -> list[Tried]:
        if tried is not None:
            tried.extend(values)
        return [Tried(value, {"mean": value, "ci95": None, "n": 1}, value >= threshold, True) for value in values]

    return attempt


def test_halving_finds_the_smallest_value_to_the_resolution() -> None:
    stream = random.Random(1)  # noqa: S311
    for _ in range(50):
        threshold, tried = stream.uniform(101, 9_999), list[float]()
        found = smallest(CELLS, steps(threshold, tried), 0.02, "auto")
        assert found.method == "bisect"
        assert found.best is not None
        assert found.below is not None
        assert found.below.value < threshold <= found.best.value <= found.below.value * 1.0205
        assert len(tried) < 14


def test_a_resolution_of_nothing_gives_neighbours() -> None:
    found = smallest(CELLS, steps(777.5), 0, "bisect")
    assert (found.below and found.below.value, found.best and found.best.value) == (777, 778)


def test_a_space_is_divided_in_factors_or_in_steps() -> None:
    factors, linear = Space(1, 100, "cells", True, True), Space(0, 0.5, "", False, False)
    assert [factors.at(place) for place in (0, 0.5, 1)] == [1, 10, 100]
    assert [linear.at(place) for place in (0, 0.5, 1)] == [0, 0.25, 0.5]
    assert (factors.between(4, 25), linear.between(0.1, 0.3)) == (10, 0.2)
    assert (factors.toml(10), linear.toml(0.2)) == ('"10 cells"', "0.2")
    explained = {"x": 2, "y": True}
    assert space(explained, "x", None, None) == Space(1 / 16, 8, "", False, True)
    assert [space(explained, "x", *ends).log for ends in (("1.0", "4"), ("1.0", "3.9"), ("0.0", "9"))] == [1, 0, 0]
    assert space(explained, "x", "0 cells", "9 cells") == Space(1, 9, "cells", True, True)
    with pytest.raises(QuestionError, match="y is True in the scenario"):
        space(explained, "y", None, None)


def test_a_mean_at_the_level_meets_the_goal() -> None:
    assert Goal("x>=2", "x", ">=", 2.0).meets(2.0)
    assert Goal("x<=2", "x", "<=", 2.0).meets(2.0)
    assert not Goal("x<=2", "x", "<=", 2.0).meets(2.1)
    assert Goal("max x", "x", "max").meets(-1.0)


def test_the_ends_are_answers_too() -> None:
    lowest = smallest(CELLS, steps(50), 0.02, "auto")
    assert (lowest.best and lowest.best.value, lowest.below) == (100, None)
    never = smallest(CELLS, steps(20_000), 0.02, "auto")
    assert (never.best, never.below and never.below.value) == (None, 10_000)


def test_what_is_not_monotone_is_left_to_optuna() -> None:
    pytest.importorskip("optuna")

    def window(values: Sequence[float]) -> list[Tried]:
        return [Tried(v, {"mean": v, "ci95": None, "n": 1}, 900 < v < 2_000 or v > 9_000, True) for v in values]

    grid = window([100, 316, 1000, 3162, 10_000])
    assert not is_monotone(grid)
    found = smallest(CELLS, window, 0.02, "auto")
    assert found.method == "optuna"
    assert found.best is not None
    assert 900 < found.best.value < 1_200
    with pytest.raises(QuestionError, match="search bisect needs a goal that stays met"):
        smallest(CELLS, window, 0.02, "bisect")
    unsure = [Tried(point.value, point.mean, point.meets, False) for point in grid]
    assert is_monotone(unsure)


def test_halving_goes_on_above_the_last_value_that_misses_the_goal() -> None:
    """Runs that are not sure may meet a goal below a value that misses it: the answer lies above both."""
    tried: list[float] = []

    def wavers(values: Sequence[float]) -> list[Tried]:
        tried.extend(values)
        return [Tried(v, {"mean": v, "ci95": None, "n": 1}, 200 < v < 900 or v > 5_000, False) for v in values]

    found = smallest(CELLS, wavers, 0.02, "auto")
    assert found.method == "bisect"
    assert found.best is not None
    assert found.below is not None
    assert found.below.value <= 5_000 < found.best.value <= found.below.value * 1.0205
    assert min(tried[5:]) > tried[3], "the grid had its last miss at its fourth value"


def test_a_search_with_optuna_says_which_value_below_its_answer_misses() -> None:
    pytest.importorskip("optuna")
    tried: list[float] = []
    found = smallest(CELLS, steps(3_000, tried), 0.02, "optuna")
    assert (found.method, found.best and found.best.value) == ("optuna", min(v for v in tried if v >= 3_000))
    assert found.below is not None
    assert found.below.value == max(v for v in tried if v < 3_000)
    never = smallest(CELLS, steps(20_000), 0.02, "optuna")
    assert (never.best, never.below and never.below.value) == (None, 10_000)


def test_a_smallest_mean_is_sought_where_less_is_better() -> None:
    pytest.importorskip("optuna")

    def valley(values: Sequence[float]) -> list[Tried]:
        depth = {value: abs(math.log(value / 500)) for value in values}
        return [Tried(v, {"mean": depth[v], "ci95": None, "n": 1}, True, True) for v in values]

    found = best(CELLS, valley, valley, -1)
    means = [point.mean["mean"] for point in (found.best, *found.others) if point and point.mean]
    assert means == sorted(means)
    assert found.best is not None
    assert found.best.value == pytest.approx(500, rel=0.15)


def test_the_best_value_is_confirmed() -> None:
    pytest.importorskip("optuna")
    confirmed: list[float] = []

    def hill(values: Sequence[float]) -> list[Tried]:
        height = {value: -abs(math.log(value / 2_000)) for value in values}
        return [Tried(v, {"mean": height[v], "ci95": None, "n": 1}, True, True) for v in values]

    def confirm(values: Sequence[float]) -> list[Tried]:
        confirmed.extend(values)
        return hill(values)

    found = best(CELLS, hill, confirm, 1)
    assert found.best is not None
    assert found.best.value == pytest.approx(2_000, rel=0.15)
    assert len(confirmed) == 3


def test_what_is_surely_known_about_a_threshold_ignores_what_contradicts_it() -> None:
    def tried(*marks: str) -> list[Tried]:
        """`-` misses, `+` meets, `?` is open."""
        return [Tried(place, None, mark == "+", mark != "?") for mark, place in zip(marks, range(9), strict=False)]

    assert between(tried(*"--??++")) == (1, 4)
    assert between(tried(*"-?+-?+")) == (0, 5), "one of the two in the middle is wrong"
    assert between(tried(*"++")) == (None, 0)
    assert between(tried(*"--?")) == (1, None)
    assert between(tried(*"??")) == (None, None)


@pytest.mark.parametrize(("goal", "told_apart"), [("max", True), ("min", False)])
def test_a_best_value_is_shown_with_others_that_may_be_as_good(
    goal: str, told_apart: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One cell of buffer makes a difference where there are few, and none where nothing is lost any more."""
    pytest.importorskip("optuna")
    arguments = ["size", str(ROOT / "scenarios" / "mux-poisson.toml"), "--over", "port.bottleneck.buffer"]
    arguments += ["--goal", f"{goal} ports.bottleneck.lost.overflow", "--from", "2 cells", "--to", "900 cells"]
    arguments += ["--set", "duration=10 ms", "--set", "warmup=0 s", "--least", "2", "--most", "8"]
    command(*arguments, "--out", str(tmp_path))
    out = capsys.readouterr().out
    (answer,) = json.loads((tmp_path / "size.json").read_text(encoding="utf-8"))["answers"]
    assert (answer["sure"], answer["rivals"] == []) == (told_apart, told_apart)
    assert ("may be as good" in out) == (not told_apart)
    assert "between" not in answer


def test_values_are_compared_by_the_seeds_under_which_both_have_the_figure() -> None:
    goal = Goal("max x", "x", "max")

    def runs(*figures: float | None) -> list[Run]:
        return [Run(seed, {"x": figure}, 0.0) for seed, figure in enumerate(figures)]

    some: Any = SimpleNamespace(
        question=SimpleNamespace(goal=goal),
        runs={1.0: runs(1.0, 2.0, 3.0, None, 5.0), 2.0: runs(0.5, 1.51, 2.49, 9.0, None)},
    )
    one, other = (Tried(value, None, False, False) for value in (1.0, 2.0))
    assert size._Search._apart(some, one, other)


@pytest.mark.parametrize(("most", "sure"), [(58, False), (59, True)])
def test_equal_differences_are_believed_when_there_are_many(most: int, sure: bool) -> None:
    """Sources that start within a nanosecond lose as much with any seed, and more in a smaller buffer."""
    pytest.importorskip("optuna")
    sets = {"duration": "1 ms", "warmup": "0 s", "flows.start_spread": "1 ns"}
    place = {"over": "port.bottleneck.buffer", "low": "2 cells", "high": "5 cells"}
    periodic = ROOT / "scenarios" / "mux-periodic.toml"
    found = pushout.size(periodic, "max ports.bottleneck.lost.overflow", **place, set=sets, least=2, most=most)
    assert found.document["answers"][0]["value"] == "2 cells"
    assert found.document["answers"][0]["sure"] == sure


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("goodput_ratio>=0.98", ("summary.goodput_ratio", ">=", 0.98)),
        (" ports.bottleneck.lost.overflow <= 0 ", ("ports.bottleneck.lost.overflow", "<=", 0.0)),
        ("packet_throughput≥1", ("summary.packet_throughput", ">=", 1.0)),
        ("max goodput_ratio", ("summary.goodput_ratio", "max", None)),
    ],
)
def test_goals_are_read(text: str, expected: tuple[str, str, float | None]) -> None:
    found = goal_of(text)
    assert (found.path, found.relation, found.level) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "goodput_ratio",
        "goodput_ratio>=much",
        "goodput_ratio>=nan",
        "max flows.*.goodput_bps",
        "goodput_ratio>0.9",
        "best goodput_ratio",
    ],
)
def test_what_is_no_goal_is_refused(text: str) -> None:
    with pytest.raises(QuestionError, match="goal "):
        goal_of(text)


@pytest.mark.parametrize(
    ("text", "level", "measure"),
    [
        ("transfer_time_p99_s<=4 ms", 0.004, ""),
        ("transfer_time_p99_s<=40 µs", 0.00004, ""),
        ("delay_p99<=4ms", 0.004, ""),
        ("query_time_p99<=4ms", 0.004, ""),
        ("goodput>=10Gb/s", 10_000_000_000, ""),
        ("loss<=0.1%", 0.001, ""),
        ("memories.chip.occupancy_max<=9 cells", 9, ""),
        ("flows.a.goodput_bps >= 1.5Mb/s", 1_500_000, ""),
        ("goodput_ratio>=98 %", 0.98, ""),
        ("classes.x.fairness_mean_deviation>=50%", 0.5, ""),
        ("ports.a.occupancy_mean<=9 cells", 9, "cells"),
        ("ports.a.occupancy_max<=100 kB", 100_000, "bytes"),
    ],
)
def test_a_level_may_have_a_unit(text: str, level: float, measure: str) -> None:
    found = goal_of(text)
    assert (found.level, found.measure) == (pytest.approx(level, rel=1e-12), measure)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "transfer_time_p99_s<=4 kB",
            "transfer_time_p99_s must be in seconds, not '4 kB' (units: s, ms, us, ns, ps, min)",
        ),
        (
            "ports.a.lost.overflow<=4 cells",
            "ports.a.lost.overflow must be a number without unit, not '4 cells': write 4",
        ),
        ("goodput_ratio>=much", "the level must be a number, not 'much'"),
        ("goodput>0.9", f"did you mean goodput_ratio>=0.9? {FORMS}"),
        ("goodput > 90 %", f"did you mean goodput_ratio>=90 %? {FORMS}"),
        ("goodput>=>9e6", FORMS),
        ("loss==0", f"did you mean loss<=0? {FORMS}"),
        ("loss<=1 %,delay_p99<=4 ms", "write each comparison in its own goal"),
        ("loss<=1 % and delay_p99<=4 ms", "write each comparison in its own goal"),
        ("goodput=9e6", f"did you mean goodput_bps>=9e6? {FORMS}"),
        ("ports.a.occupancy_mean<9", f"did you mean ports.a.occupancy_mean<=9? {FORMS}"),
    ],
)
def test_a_goal_that_cannot_be_read_says_what_to_write(text: str, why: str) -> None:
    with pytest.raises(QuestionError) as refused:
        goal_of(text)
    assert str(refused.value) == f"goal {text!r}: {why}"


@pytest.mark.parametrize(
    ("goal", "meant"),
    [
        ("packet_thr>=0.9", "packet_throughput>=0.9"),
        ("retransmission<=9e6", "retransmission_ratio<=9000000"),
        ("max fairness_j", "max fairness_jain"),
    ],
)
def test_the_beginning_of_a_figure_is_completed(goal: str, meant: str) -> None:
    with pytest.raises(QuestionError) as refused:
        ask.sizing(LAN, goal, "port.bottleneck.buffer")
    name = re.split("[<>]", goal.removeprefix("max "))[0]
    assert str(refused.value) == f"goal {goal!r}: there is no figure {name}; did you mean {meant}?"


def test_replications_end_when_the_interval_has_left_the_goal() -> None:
    wanted = Goal("x>=0.5", "x", ">=", 0.5)
    rule = Separate((wanted,), 4, 32)

    def runs(*values: float) -> list[Run]:
        return [Run(seed, {"x": value}, 0.0) for seed, value in enumerate(values)]

    clear, open_ = runs(0.8, 0.81, 0.79, 0.8), runs(0.4, 0.7, 0.3, 0.9)
    assert rule.more(clear) == 4
    assert rule.more(open_) == 8
    assert rule.more(runs(*[0.4, 0.6] * 15)) == 32
    assert (judged([wanted], clear, 1).meets, judged([wanted], clear, 1).sure) == (True, True)
    assert (judged([wanted], open_, 1).meets, judged([wanted], open_, 1).sure) == (True, False)
    assert not judged([wanted], [Run(0, {"x": None}, 0.0)], 1).meets


def test_runs_that_all_give_the_same_are_believed_when_there_are_many() -> None:
    wanted = Goal("x>=0.5", "x", ">=", 0.5)
    rule = Separate((wanted,), 8, 64)

    def alike(count: int) -> list[Run]:
        return [Run(seed, {"x": 1.0}, 0.0) for seed in range(count)]

    assert [rule.more(alike(count)) for count in (8, 16, 32, 64)] == [16, 32, 64, 64]
    few, enough = judged([wanted], alike(58), 1), judged([wanted], alike(59), 1)
    assert (few.meets, few.sure, enough.meets, enough.sure) == (True, False, True, True)
    assert few.unseen is not None
    assert few.unseen > 0.05 > (enough.unseen or 1)
    assert judged([wanted], [*alike(8), Run(8, {"x": 0.9}, 0.0)], 1).unseen is None
    best = judged([Goal("max x", "x", "max")], alike(8), 1)
    assert (best.sure, best.unseen) == (True, None), "there is no level to be on one side of"


def test_runs_that_measure_nothing_are_no_sure_miss_unless_there_are_many() -> None:
    wanted = Goal("x<=0.5", "x", "<=", 0.5)

    def nothing(count: int) -> list[Run]:
        return [Run(seed, {"x": None}, 0.0) for seed in range(count)]

    few, enough = judged([wanted], nothing(58), 1), judged([wanted], nothing(59), 1)
    assert (few.meets, few.sure, enough.meets, enough.sure) == (False, False, False, True)
    assert Separate((wanted,), 8, 64).more(nothing(8)) == 8, "no use in waiting for what hardly happens"
    assert judged([Goal("max x", "x", "max")], nothing(8), 1).sure


def test_an_open_answer_without_measurements_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With room for one segment no file of 64 KiB ends in 2 ms; with room for all it does."""
    arguments = ["size", str(ROOT / "scenarios" / "incast.toml"), "--goal", "transfer_time_mean_s<=0.01"]
    arguments += ["--over", "port.bottleneck.buffer", "--from", "1500 bytes", "--to", "4 MB", "--resolution", "1"]
    sets = ["topology.sources=8", "flows.start_spread=0 s", "duration=2 ms", "flows.transport.initial_window=40"]
    sets += ["flows.transport.sack=false", "port.bottleneck.admission={ policy = 'tail-drop' }"]
    command(*arguments, *(part for change in sets for part in ("--set", change)), "--out", str(tmp_path))
    out = capsys.readouterr().out
    assert "no run could measure the figure, but the runs are few: use --least 59" in out


def test_an_answer_from_runs_that_all_give_the_same_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A buffer that holds everything loses nothing, whatever the seed."""
    arguments = ["size", str(ROOT / "scenarios" / "mux-poisson.toml"), "--goal", "ports.bottleneck.lost.overflow<=0"]
    arguments += ["--over", "port.bottleneck.buffer", "--from", "2000 cells", "--to", "2010 cells"]
    arguments += ["--set", "duration=1 ms", "--set", "warmup=0 s", "--out", str(tmp_path)]
    command(*arguments)
    out = capsys.readouterr().out
    assert "all 64 runs at this value gave the same; up to 4.6 % of further runs might still differ" in out
    assert "?" not in out
    command(*arguments, "--most", "16")
    assert "too few to be sure: use --most 59" in capsys.readouterr().out


def test_the_range_is_around_what_the_scenario_has() -> None:
    explained = pushout.explain(LAN)
    assert space(explained, "port.bottleneck.buffer", None, None) == Space(256, 32_768, "cells", True, True)
    assert space(explained, "port.bottleneck.buffer", "1000", "2000 cells").unit == "cells"
    assert space(explained, "flows.transport.mss", "512", "9140") == Space(512, 9140, "", True, True)
    assert space(explained, "x.alpha", "0.5", "1.0") == Space(0.5, 1.0, "", False, False)
    assert space(explained, "port.bottleneck.buffer", "4 KiB", "1.5 MB") == Space(4096, 1.5e6, "bytes", True, True)
    assert space(explained, "flows.start", "500 us", "0.5 s") == Space(500, 500_000, "us", False, True)
    assert space(explained, "topology.bottleneck.rate", "900 kb/s", "10 Mb/s") == Space(
        900, 10_000, "kb/s", False, True
    )
    for ends, why in [
        (("1 cells", "2 bytes"), "must have units that can be compared"),
        (("1 ms", "2 Mb/s"), "must have units that can be compared"),
        (("9", "3"), "low must be less than high, not 9 and 3"),
        (("0.5 cells", "0.7 cells"), r"low must be less than high, not 0.5 cells and 0.7 cells \(whole cells from 1\)"),
        (("0 cells", "0 cells"), r"low must be less than high, not 0 cells and 0 cells \(whole cells from 1\)"),
        (("-5 cells", "3 cells"), "low must be at least 0, not -5 cells"),
        (("_", "3 cells"), "must be a number with a unit, as in 1000 cells, not '_'"),
        (("1", "1 ms"), r"low must be less than high, not 1 \(without unit, so ms\) and 1 ms$"),
        (("9 Mb/s", "5"), r"low must be less than high, not 9 Mb/s and 5 \(without unit, so Mb/s\)$"),
        ((None, "3"), "give the range by low"),
    ]:
        key = "nothing.here" if ends[0] is None else "port.bottleneck.buffer"
        with pytest.raises(QuestionError, match=why):
            space(explained, key, *ends)


def test_a_number_without_unit_is_no_kilobyte_because_the_scenario_could_say_so() -> None:
    """159000 bytes are 159 kB in the explained scenario, which the user has not seen."""
    explained, buffer = pushout.explain(ROOT / "scenarios" / "w1-packet.toml"), "port.bottleneck.buffer"
    for low, high, bare in [
        ("10000", None, "low must have a unit, not be 10000"),
        (None, "9e6", "high must have a unit, not be 9e6"),
        ("1", "2", "low must have a unit, not be 1"),
    ]:
        with pytest.raises(QuestionError, match=f"^{bare}: {buffer} is 159 kB in the scenario$"):
            space(explained, buffer, low, high)
    assert space(explained, buffer, "1000", "2000 bytes") == Space(1000, 2000, "bytes", True, False)


@pytest.mark.parametrize(
    ("low", "high", "half"),
    [
        ("10 kB", "2 MB", "141421 bytes"),
        ("1 MiB", "2 MiB", "1572864 bytes"),
        ("1 ns", "1000 ns", "31.623 ns"),
        ("1 ps", "1000000000000 ps", "1000000 ps"),
        ("0.00001 s", "1 s", "0.00316228 s"),
        ("1 kb/s", "20000000 kb/s", "4472.14 kb/s"),
        ("1 b/s", "2000 b/s", "45 b/s"),
        ("1 %", "100 %", "10 %"),
    ],
)
def test_every_value_of_a_space_is_one_that_a_scenario_can_have(low: str, high: str, half: str) -> None:
    found = space(pushout.explain(LAN), "some.key", low, high)
    assert found.text(found.between(found.low, found.high)) == half


def test_a_buffer_in_bytes_is_found_in_whole_bytes(tmp_path: Path) -> None:
    packets = ROOT / "scenarios" / "w1-packet.toml"
    changes = {"duration": "50 ms", "port.bottleneck.buffer": "0.1 MB"}
    asked: dict[str, Any] = {"set": changes, "least": 2, "most": 2, "resolution": 0.3, "out": tmp_path}
    answer = pushout.size(packets, "goodput_ratio>=0.01", "port.bottleneck.buffer", **asked).document
    assert (answer["from"], answer["to"]) == ("3125 bytes", "400000 bytes")
    assert answer["answers"][0]["value"].endswith(" bytes")


def test_a_size_is_converted_to_time_at_the_rate_of_a_shaper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """100 000 bytes take 40 ms at 20 Mb/s, and not the 6.4 ms of the line of 125 Mb/s."""
    packets = str(ROOT / "scenarios" / "w1-packet.toml")
    shaper = 'port.bottleneck.shaper={rate = "20 Mb/s", burst = "3 kB"}'
    asked = ["size", packets, "--goal", "goodput_ratio>=0", "--over", "port.bottleneck.buffer", "--from", "100 kB"]
    asked += ["--to", "200 kB", "--resolution", "0.3", "--set", "duration=50 ms", "--set", shaper, "--least", "2"]
    command(*asked, "--most", "2", "--out", str(tmp_path))
    told = capsys.readouterr().out
    assert "ms" in told
    assert "at shaper rate" in told
    assert "40.0" in told
    (answer,) = json.loads((tmp_path / "size.json").read_text(encoding="utf-8"))["answers"]
    assert answer["sizes"] == {"bytes": 100_000, "us": pytest.approx(40_000)}
    assert "time at shaper rate (ms)" in (tmp_path / "size.svg").read_text(encoding="utf-8")


def test_a_buffer_is_found_for_every_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unresponsive sources of load 0.8: M/D/1/K, of which more buffer loses less."""
    arguments = ["size", str(ROOT / "scenarios" / "mux-poisson.toml"), "--goal", "ports.bottleneck.lost.overflow<=20"]
    arguments += ["--over", "port.bottleneck.buffer", "--from", "2 cells", "--to", "64 cells", "--port", "bottleneck"]
    arguments += ["--set", "port.bottleneck.buffer=8 cells", "--set", "duration=0.3 s", "--least", "4", "--most", "8"]
    command(*arguments, "--policies", "tail-drop,as-is", "--out", str(tmp_path), "--json")
    document = json.loads(capsys.readouterr().out)
    one, other = document["answers"]
    assert one["value"] == other["value"]
    assert one["between"] == other["between"]
    assert [int(end.split()[0]) for end in one["between"]] == sorted(int(end.split()[0]) for end in one["between"])
    assert other["improvement"] == 0
    cells = int(one["value"].split()[0])
    assert one["sizes"]["bytes"] == 53 * cells
    assert one["sizes"]["us"] == pytest.approx(53 * cells * 8 / 155.52)
    # K cells in a system M/D/1 of load 0.8: of some 59 000 cells 20 are lost at K = 18 or nearly so.
    assert 15 <= cells <= 21
    names = {".lock", "size.json", "size.svg", "size.png", "rows.parquet", "manifest.json", "cache"}
    assert {file.name for file in tmp_path.iterdir()} == names
    assert "time at line rate (µs)" in (tmp_path / "size.svg").read_text(encoding="utf-8")
    command(*arguments, "--out", str(tmp_path))
    out, _ = capsys.readouterr()
    assert one["value"] in out
    head = next(line.split() for line in out.splitlines() if " runs" in line)
    assert " ".join(head) == "needs with it that fails with it in bytes at line rate runs"


def test_an_answer_says_what_was_asked(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"set": {"duration": "9 ms"}, "seed": 5, "least": 3, "most": 4, "resolution": 0.5}
    over = "port.bottleneck.buffer"
    pushout.size(LAN, "goodput_ratio>=0", over, policies="tail-drop", **asked, out=tmp_path)
    answer, manifest = (
        json.loads((tmp_path / name).read_text(encoding="utf-8")) for name in ("size.json", "manifest.json")
    )
    question = {"goal": "goodput_ratio>=0", "over": over, "from": "256 cells", "to": "32768 cells", "search": "auto"}
    question |= {**asked, "set": ['duration="9 ms"'], "port": "bottleneck"}
    assert answer["scenario"] == "lan"
    assert {key: answer[key] for key in question} == {key: manifest[key] for key in question} == question
    tail_drop = ['port.bottleneck.admission={"policy" = "tail-drop"}']
    assert (
        [entry["sets"] for entry in answer["answers"]] == [one["sets"] for one in manifest["policies"]] == [tail_drop]
    )
    assert (manifest["kind"], manifest["complete"], manifest["runs"]) == ("size", True, answer["runs"])
    assert manifest["scenario"] == pushout.explain(LAN, set=asked["set"], seed=5)
    assert manifest["engine"]["name"] == "fast"
    assert Path(manifest["rows"]).exists()


def lines_without_warnings(capsys: pytest.CaptureFixture[str]) -> str:
    lines = capsys.readouterr().err.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("warning: "))


def test_a_folder_named_after_its_scenario_says_when_its_answer_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["size", str(LAN), "--over", "port.bottleneck.buffer", "--set", "duration=5 ms", "--least", "2"]
    for goal, more, told in [
        ("goodput_ratio>=0", [], ""),
        ("goodput_ratio>=0", ["--most", "16"], ""),
        ("goodput_ratio>=0.0", ["--set", "name=lan"], "results/lan-size held the answer to another question "),
    ]:
        command(*arguments, "--goal", goal, *more)
        err = lines_without_warnings(capsys)
        assert err.startswith(told) and bool(err) == bool(told)
    assert "(it differs in goal, set)" in err


def test_an_interrupted_search_reports_a_replaced_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["size", str(LAN), "--over", "port.bottleneck.buffer", "--least", "2", "--out", str(tmp_path)]
    command(*arguments, "--goal", "goodput_ratio>=0", "--set", "duration=5 ms")

    def interrupted(_: int) -> None:
        raise SystemExit(130)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pushout.question.executor.Local.wait", interrupt)
    monkeypatch.setattr("os._exit", interrupted)
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the process of the tests goes on, and its children inherit
    command(*arguments, "--goal", "goodput_ratio>=0", "--set", "duration=6 ms", code=130)
    told = lines_without_warnings(capsys).splitlines()
    assert told[0].startswith(f"{tmp_path} held the answer to another question (it differs in scenario, set)")
    assert told[1].startswith("interrupted: finished runs are saved in ")


def test_a_goal_that_nothing_meets_is_a_sure_answer() -> None:
    found = pushout.size(
        LAN, "goodput_ratio>=2", "port.bottleneck.buffer", policies="tail-drop", set={"duration": "9 ms"}
    )
    (answer,) = found.document["answers"]
    assert (answer["value"], answer["sure"], answer["too_small"]) == (None, True, "32768 cells")


@pytest.mark.parametrize("goal", ["transfer_time_mean_s<=1", "transfer_time_p99_s>=1", "min transfer_time_p99_s"])
def test_a_figure_that_no_run_has_is_no_answer(goal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No file of 5 MB ends within 50 ms."""
    if goal.startswith("min"):
        pytest.importorskip("optuna")
    arguments = ["size", str(LAN), "--over", "port.bottleneck.buffer", "--from", "900 cells", "--to", "905 cells"]
    arguments += ["--least", "2", "--set", "duration=50 ms", "--out", str(tmp_path)]
    command(*arguments, "--goal", goal, code=3)
    out, err = capsys.readouterr()
    figure = goal.partition(" ")[2] or goal[:-3]
    assert out == ""
    assert len(err.splitlines()) == 1
    assert f"no run measured the figure {figure}, with port.bottleneck.buffer at 900 cells, " in err
    assert "905 cells. Lengthen duration" in err
    assert "Lengthen duration, or choose another figure" in err


@pytest.mark.parametrize(
    ("space", "value", "rivals", "ends"),
    [
        (CELLS, 1000, [], []),
        (CELLS, 101, [], ["from"]),
        (CELLS, 1000, [5000, 9900], ["to"]),
        (CELLS, 100, [10_000], ["from", "to"]),
        (Space(1, 50, "cells", True, True), 1, [], []),  # there are no less
        (Space(10, 100, "%", False, True), 100, [], []),  # nor more than all
        (Space(10, 80, "%", False, True), 80, [], ["to"]),
        (Space(0.0, 0.5, "", False, False), 0.0, [], ["from"]),
    ],
)
def test_the_best_value_may_lie_beyond_an_end_of_the_range(
    space: Space, value: float, rivals: list[float], ends: list[str]
) -> None:
    tried = Tried(value, {"mean": 1.0, "ci95": None, "n": 1}, True, True)
    answer = Answer("", value, SearchResult(tried, None, "optuna"), {}, [tried], rivals)
    question = Question((Goal("max x", "x", "max"),), "port.a.buffer", space, resolution=0.02)
    assert size._at_ends(answer, question) == ends


@pytest.mark.parametrize(
    ("goal", "note"),
    [
        (
            "max ports.bottleneck.occupancy_max",
            "is at an end of the range: more than 2 000 cells may be better; extend it (--to)",
        ),
        ("goodput_ratio>=2", "no value tried meets the goal; at 2 000 cells goodput_ratio is "),
        ("ports.bottleneck.occupancy_max<=10", "no value tried meets the goal; at 1 000 cells "),
        ("goodput_ratio<=2", "the smallest value tried meets the goal; less than 1 000 cells may suffice (--from)"),
    ],
)
def test_an_answer_at_an_end_of_the_range_says_so(
    goal: str, note: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["size", str(LAN), "--goal", goal, "--over", "port.bottleneck.buffer", "--from", "1000 cells"]
    arguments += [
        "--to",
        "2000 cells",
        "--set",
        "duration=150 ms",
        "--least",
        "2",
        "--most",
        "2",
        "--out",
        str(tmp_path),
    ]
    command(*arguments)
    assert note in capsys.readouterr().out
    assert ("no value suffices" in (tmp_path / "size.svg").read_text(encoding="utf-8")) == note.startswith("no value")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            {"goal": "goodput_rato>=0.9"},
            "there is no figure goodput_rato; did you mean goodput_ratio or goodput_drift?",
        ),
        ({"over": "port.bottleneck.bufer", "low": "1", "high": "2"}, 'did you mean "buffer"'),
        ({"over": "port.botleneck.buffer"}, 'did you mean "bottleneck"'),
        ({"least": 9, "most": 3}, "2 ≤ least ≤ most"),
        ({"low": "5000 cells", "high": "100 cells"}, "low must be less than high, not 5000 cells and 100 cells"),
        (
            {"over": "port.bottleneck.bufer"},
            "has no value .*; did you mean port.bottleneck.buffer.*Otherwise give the range by low and high",
        ),
        (
            {"over": "flows.start", "set": {"flows.start": "0 s", "duration": "5 ms"}},
            "low must be less than high, not 0 s and 0 s",
        ),
        ({"over": "port.bottleneck.admission"}, "over must be a key with a number, .* is a table in the scenario"),
        (
            {"goal": "ports.bottleneck.occupancy.values>=1", "set": WATCHED},
            "values>=1': ports.bottleneck.occupancy.values must be a single figure of every run, not a list",
        ),
        ({"least": "few"}, "least must be an integer, not 'few'"),
        ({"over": 'port."bottleneck.bac".buffer'}, 'unknown port "bottleneck.bac"; did you mean "bottleneck.back"'),
        ({"search": "magic"}, r'unknown search "magic" \(allowed: auto, bisect, optuna\)'),
        ({"goal": "max goodput_ratio", "search": "bisect"}, "bisect needs a goal with a level, and max has none"),
        ({"resolution": -1}, "resolution must be 0 or a share from 1e-06 to 1, such as 0.02, not -1"),
        ({"seed": -1}, "seed must be an integer"),
        (
            {"over": "port.bottleneck.admission.policy"},
            "over must be a key with a number, .* is 'epd' in the scenario",
        ),
        (
            {"over": "port.access1.buffer"},
            "is 'unlimited' in the scenario, not a number: give the range by low and high",
        ),
        (
            {"policies": '{policy = "epd", threshold = "7373 cells"}'},
            r"when port.bottleneck.buffer is set to values from 256 cells \(low\)",
        ),
    ],
)
def test_a_mistake_is_one_message(change: dict[str, Any], why: str, tmp_path: Path) -> None:
    asked: dict[str, Any] = {
        "goal": "goodput_ratio>=0.1",
        "over": "port.bottleneck.buffer",
        "set": {"duration": "5 ms"},
    }
    asked |= {"policies": "tail-drop", **change}
    out = tmp_path / "out"
    with pytest.raises((ValueError, TypeError), match=why):
        pushout.size(LAN, **asked, out=out)
    assert out.exists() == ("not a list" in why)  # which only a run can tell


def test_a_section_that_stands_for_several_ports_can_be_sized() -> None:
    multi_hop = ROOT / "scenarios" / "multi-hop.toml"
    ends: Any = {"low": "30 KB", "high": "60 KB"}
    asked = ask.sizing(multi_hop, "goodput_ratio>=0.5", "port.default.buffer", **ends)
    assert asked.question.port is None
    asked = ask.sizing(multi_hop, "goodput_ratio>=0.5", "port.default.buffer", policies="ppd", port="b,a", **ends)
    assert (asked.question.port and asked.question.port.name) == "b"
    assert len(asked.choices[0].sets) == 2
    asked = ask.sizing(multi_hop, "goodput_ratio>=0.5", "port.a.buffer", policies="ppd", port="b", **ends)
    assert (asked.question.port and asked.question.port.name) == "a", "the line is that of the port that is sized"
    with pytest.raises(QuestionError, match=r'over port\.default\.buffer: unknown port "default"'):
        ask.sizing(LAN, "goodput_ratio>=0.5", "port.default.buffer", **ends)
    asked = ask.sizing(multi_hop, "goodput_ratio>=0.5", "port.default.buffer", policies="ppd", **ends)
    assert [each["code"] for each in asked.warnings] == ["busiest-port"]


def test_the_drawing_shows_what_the_runs_leave_open() -> None:
    """A `?`, the range in which the answer may lie, and behind the intervals a line that hides none of them."""

    def tried(value: float, low: float, high: float, *, meets: bool) -> Tried:
        mean: Any = {"mean": (low + high) / 2, "ci95": [low, high], "n": 8}
        return Tried(value, mean, meets, sure=not low <= 0.9 <= high, runs=8)

    points = [
        tried(100, 0.2, 0.3, meets=False),
        tried(1000, 0.8, 0.98, meets=False),
        tried(1100, 0.82, 0.99, meets=True),
        tried(10_000, 0.95, 0.99, meets=True),
    ]
    unsure = Answer("epd", 1100, SearchResult(points[2], points[1], "bisect"), {}, points)
    sure = Answer("ppd", 10_000, SearchResult(points[3], points[0], "bisect"), {}, points[::3])
    same = Answer("fba", 10_000, SearchResult(points[3], points[0], "bisect"), {}, points[::3])
    goal = Goal("goodput_ratio>=0.9", "summary.goodput_ratio", ">=", 0.9)
    document: Any = {"scenario": "x", "answers": []}
    result = SizeResult(Columns.of({}), document, (goal,), "buffer", CELLS, None, [unsure, sure, same])
    figure = result.plot()
    (axes,) = figure.axes
    labels = {text.get_text() for text in figure.legends[0].get_texts()}
    assert "epd: 1 100 cells ? (100 cells to 10 000 cells)" in labels
    assert "ppd: 10 000 cells" in labels
    assert "fba (as ppd): 10 000 cells" in labels
    notes = {note.get_text(): note.xy for note in axes.texts}
    assert notes["1 100 cells ?"] == pytest.approx((1100, 0.905))
    assert "10 000 cells" in notes
    assert axes.get_yscale() == "linear"
    (span,) = axes.patches
    assert (span.get_x(), span.get_x() + span.get_width()) == (100, 10_000)
    lines = [line for line in axes.lines if list(line.get_xdata()) in ([1100, 1100], [10_000, 10_000])]
    bars = [each for container in axes.containers for each in container.lines[2]]
    assert min(each.get_zorder() for each in bars) > max(line.get_zorder() for line in lines if line.get_alpha())
    assert "epd: 1 100 cells ?" in repr(result)
    plain = replace(result, space=replace(CELLS, unit="")).plot()
    assert [drawn.axes[0].get_xlabel() for drawn in (figure, plain)] == ["buffer (cells)", "buffer"]


@pytest.mark.parametrize(("most", "scale"), [(0.1, "log"), (0.009, "linear")])
def test_a_figure_that_spans_decades_has_a_logarithmic_axis(most: float, scale: str) -> None:
    """The values near the goal, which decide, can then be read."""

    def tried(value: float, mean: float) -> Tried:
        found: Any = {"mean": mean, "ci95": [0.5 * mean, 1.5 * mean], "n": 8}
        return Tried(value, found, meets=mean <= 0.004, sure=True, runs=8)

    points = [tried(100, most), tried(1000, 0.005), tried(1100, 0.003)]
    answer = Answer("", 1100, SearchResult(points[2], points[1], "bisect"), {}, points)
    goal = Goal("transfer_time_p99_s<=4 ms", "summary.transfer_time_p99_s", "<=", 0.004)
    document: Any = {"scenario": "x", "answers": []}
    (axes,) = SizeResult(Columns.of({}), document, (goal,), "buffer", CELLS, None, [answer]).plot().axes
    assert axes.get_yscale() == scale
    low, high = axes.get_ylim()
    assert (low > 0) == (scale == "log")
    assert low < 0.003 < 0.004 < most < high


PERIODIC = str(ROOT / "scenarios" / "mux-periodic.toml")
NOTHING_LOST = "ports.bottleneck.lost.overflow<=0"


def sized(spread: str) -> Any:
    """Find the buffer in which periodic sources that start within a time lose nothing."""
    sets = {"duration": "1 ms", "warmup": "0 s", "flows.start_spread": spread}
    given: dict[str, Any] = {"over": "port.bottleneck.buffer", "low": "2 cells", "high": "64 cells", "set": sets}
    return pushout.size(PERIODIC, NOTHING_LOST, **given)


def test_without_chance_each_value_runs_once(capsys: pytest.CaptureFixture[str]) -> None:
    result = sized("0 s")
    (answer,) = result.answers
    assert result.document["runs"] == len(answer.tried) < 15
    assert answer.sure
    assert answer.found.best is not None
    assert answer.found.best.unseen == 0
    arguments = ["size", PERIODIC, "--goal", NOTHING_LOST, "--over", "port.bottleneck.buffer", "--from", "2 cells"]
    sets = ["--set", "duration=1 ms", "--set", "warmup=0 s", "--set", "flows.start_spread=0 s"]
    command(*arguments, "--to", "64 cells", *sets)
    assert "nothing is drawn at random: one run of each value stands for all seeds" in capsys.readouterr().out


def test_with_chance_the_first_values_run_as_often_as_others() -> None:
    (answer,) = sized("10 us").answers
    assert min(point.runs for point in answer.tried) >= LEAST


# --- several goals, losses

CAPTURE = """
name = "capture"
duration = "20 ms"
adaptation = { kind = "packet" }
node = [
    { name = "sender", kind = "host" }, { name = "router", kind = "router" }, { name = "receiver", kind = "host" },
]
link = [
    { name = "in", from = "sender", to = "router", rate = "10 Gb/s", delay = "1 us" },
    { name = "out", from = "router", to = "receiver", rate = "1 Gb/s", delay = "1 us" },
]
measure = { delivery = true }

[port.out]
buffer = "100 kB"

[[flow]]
name = "recorded"
from = "sender"
to = "receiver"
via = ["router"]
source = { kind = "replay", file = "arrivals.csv" }
transport = { kind = "udp" }
"""


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of bursts of 1 to 30 packets, which a small buffer cuts and a large one delays."""
    folder = tmp_path_factory.mktemp("capture")
    bursts = ((burst, packet) for burst in range(30) for packet in range(burst + 1))
    rows = [f"{burst * 6e-4 + packet * 1.3e-6:.9f},1500" for burst, packet in bursts]
    (folder / "arrivals.csv").write_text("\n".join(["time,bytes", *rows]) + "\n", encoding="utf-8")
    file = folder / "capture.toml"
    file.write_text(CAPTURE, encoding="utf-8")
    return file


OUT: Any = {"over": "port.out.buffer"}


def test_an_answer_that_loses_says_so_beside_the_number(
    capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = pushout.size(capture, "delay_p99<=200 us", **OUT)
    (answer,) = found.document["answers"]
    assert answer["loss"]["mean"] > 0.3
    share = f"{100 * answer['loss']['mean']:.2g} % lost"
    (warned,) = [each for each in found.document["warnings"] if each["code"] == "losing-answer"]
    assert share in warned["message"]
    assert share in repr(found)
    assert any(share in text.get_text() for text in found.plot().legends[0].get_texts())
    command("size", str(capture), "--goal", "delay_p99<=200 us", "--over", "port.out.buffer", "--out", str(tmp_path))
    printed = capsys.readouterr()
    assert f"{share} with this value" in printed.out
    assert re.search(rf"\blost\b(.*\n)+? *[\d ]+ bytes +{share.removesuffix(' lost')} ", printed.out)
    assert share in printed.err


@pytest.mark.parametrize("goal", ["loss<=5 %", "ports.out.lost<=20", "max ports.out.loss"])
def test_an_answer_whose_goal_speaks_of_losses_needs_no_warning(capture: Path, goal: str) -> None:
    if goal.startswith("max"):
        pytest.importorskip("optuna")
    found = pushout.size(capture, goal, **OUT)
    assert found.document["answers"][0]["loss"] is None
    assert not [each for each in found.document["warnings"] if each["code"] == "losing-answer"]


def test_an_answer_that_loses_nothing_needs_no_warning(capture: Path) -> None:
    found = pushout.size(capture, "goodput_ratio>=0.5", **OUT, low="80 kB", high="100 kB")
    assert found.document["answers"][0]["loss"]["mean"] == 0
    assert "lost" not in repr(found)


def test_several_goals_hold_together_and_one_binds(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    goals = ["delay_p99<=300 us", "loss<=5 %"]
    found = pushout.size(capture, goals, **OUT)
    alone = pushout.size(capture, "loss<=5 %", **OUT)
    document, (answer,) = found.document, found.document["answers"]
    assert (document["goals"], "goal" in document) == (goals, False)
    assert (alone.document["goals"], alone.document["goal"]) == (["loss<=5 %"], "loss<=5 %")
    assert answer["value"] == alone.document["answers"][0]["value"], "the delay holds there, and would not far above"
    assert answer["binds"] == ["loss<=5 %"]
    assert answer["sure"]
    assert answer["between"] == [answer["too_small"], answer["value"]]
    for tried in answer["tried"]:
        assert tried["meets"] == all(part["meets"] for part in tried["goals"])
    largest = answer["tried"][-1]
    assert [part["meets"] for part in largest["goals"]] == [False, True], "the two goals ask for opposite sizes"
    assert list(found.columns)[3:5] == ["delivery_time_p99_s", "loss_ratio"]
    assert len(found.plot().axes) >= 2
    from pushout.cli.options import console
    from pushout.show import answers

    answers.answer(found, None, console())
    assert "the goal that binds: loss<=5 %" in capsys.readouterr().out


def test_goals_that_exclude_each_other_are_named(capture: Path, tmp_path: Path, capsys: Any) -> None:
    arguments = ["--goal", "delay_p99<=150 us", "--goal", "loss<=1 %", "--over", "port.out.buffer"]
    command("size", str(capture), *arguments, "--out", str(tmp_path))
    out = capsys.readouterr().out
    document = json.loads((tmp_path / "size.json").read_text(encoding="utf-8"))
    (answer,) = document["answers"]
    assert (answer["value"], answer["at_end"]) == (None, [])
    less, more = answer["too_small"], answer["opposed"]
    tried = {each["value"]: [part["meets"] for part in each["goals"]] for each in answer["tried"]}
    assert (tried[less][1], tried[more]) == (False, [False, True])
    assert answer["binds"] == ["delay_p99<=150 us", "loss<=1 %"]
    assert "no value meets all goals: " in out
    assert "misses loss<=1 %" in out
    assert "misses delay_p99<=150 us; relax a goal" in out


def test_a_scenario_without_chance_runs_once_for_each_value(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = pushout.size(capture, "loss<=5 %", **OUT)
    tried = found.document["answers"][0]["tried"]
    assert [each["runs"] for each in tried] == [1] * len(tried)
    assert found.document["runs"] == len(tried)
    from pushout.cli.options import console
    from pushout.show import answers

    answers.answer(found, None, console())
    out = capsys.readouterr().out
    assert "nothing is drawn at random: one run of each value stands for all seeds" in out
    assert "further runs" not in out


@pytest.mark.parametrize(
    ("goals", "why"),
    [
        ([], "goal must not be an empty list"),
        (
            ["loss<=1 %", "max goodput"],
            "max must be the only goal; beside others write a level, as in goodput_bps>=NUMBER",
        ),
        (["loss<=1 %", "loss<=1 %"], "goal 'loss<=1 %' must be given once, not twice"),
        (
            ["loss<=1 %", "packet_loss<=1"],
            "'packet_loss<=1': there is no figure packet_loss; did you mean loss or packets_lost?",
        ),
        (["loss<=1 %", 3], "goal must be a string, not 3"),
        ("goodput>=90 %", "goodput is in b/s, not a share like '90 %'; did you mean goodput_ratio>=90 %?"),
        ("p99<=4ms", "unknown figure p99; did you mean delay_p99, transfer_time_p99_s or slowdown_p99?"),
        ("delay_p99<=1 msec", "delay_p99 must be in seconds, not '1 msec': write 1 ms"),
        ("delay_p99<=3 microseconds", "not '3 microseconds': write 3 us"),
        ("goodput>=10G", "goodput must be in b/s, not '10G': write 10 Gb/s"),
        ("goodput>=5Mbps", "not '5Mbps': write 5 Mb/s"),
        ("ports.out.occupancy_max<=100p", "not '100p': write 100 packets"),
        ("ports.out.occupancy_max<=100k", "not '100k': write 100 kB"),
        ("loss<=1 percent", "loss must be a share, not '1 percent': write 1 %"),
        ("ports.out.lost<=100p", "ports.out.lost must be a number without unit, not '100p': write 100"),
        ("memories.chip.occupancy_max<=3 MB", r"must be in cells of the memory, not '3 MB' (units: cells)"),
    ],
)
def test_goals_that_cannot_be_read_say_what_to_write(capture: Path, goals: Any, why: str) -> None:
    with pytest.raises((QuestionError, TypeError), match=re.escape(why)):
        ask.sizing(capture, goals, "port.out.buffer")


@pytest.mark.parametrize(
    ("over", "why"),
    [
        ("buffer", "buffer has no value in the scenario; did you mean port.out.buffer?"),
        ("port.out.bufer", "did you mean port.out.buffer?"),
        ("rate", "did you mean link.in.rate, link.out.rate or link.in.back.rate?"),
        (
            "memory.chip.size",
            "memory.chip.size has no value in the scenario, which has no memory: give the range by low",
        ),
    ],
)
def test_a_key_without_a_value_suggests_those_like_it(capture: Path, over: str, why: str) -> None:
    with pytest.raises(QuestionError) as refused:
        ask.sizing(capture, "loss<=1 %", over)
    assert why in str(refused.value)


def test_ports_that_share_a_memory_have_its_size_for_a_buffer() -> None:
    with pytest.raises(QuestionError, match=r"did you mean memory\.chip\.size\?"):
        ask.sizing(ROOT / "scenarios" / "tomahawk.toml", "loss<=1 %", "buffer")


def tried_by(value: float, *meets: bool, sure: bool = True) -> Tried:
    """A value judged for several goals."""
    parts = [Tried(value, {"mean": value, "ci95": None, "n": 1}, each, sure) for each in meets]
    return together(parts)


def test_all_goals_must_hold_and_a_sure_miss_decides() -> None:
    assert (tried_by(1, True, True).meets, tried_by(1, True, True).sure) == (True, True)
    assert (tried_by(1, True, False).meets, tried_by(1, True, False).sure) == (False, True)
    doubtful = Tried(1, {"mean": 2.0, "ci95": None, "n": 1}, False, False)
    clear = Tried(1, {"mean": 3.0, "ci95": None, "n": 1}, False, True)
    met = Tried(1, {"mean": 4.0, "ci95": None, "n": 1}, True, True)
    assert not together([met, doubtful]).sure
    assert together([doubtful, clear, met]).sure
    assert together([doubtful, clear, met]).mean == clear.mean
    assert not together([met, replace(met, sure=False)]).sure


def test_a_window_between_two_goals_is_found_by_halving() -> None:
    stream = random.Random(2)  # noqa: S311
    for _ in range(50):
        low = stream.uniform(101, 9_000)
        high = low * stream.uniform(1.05, 2)

        def attempt(values: Sequence[float], low: float = low, high: float = high) -> list[Tried]:
            return [tried_by(value, value >= low, value <= high) for value in values]

        found = smallest(CELLS, attempt, 0.02, "auto")
        assert found.method == "bisect"
        assert found.best is not None
        assert low <= found.best.value <= min(low * 1.0205, high)
        closed = smallest(CELLS, partial(attempt, high=low * 0.9), 0.02, "bisect")
        assert (closed.best, closed.opposed and closed.opposed.value) == (None, found.best.value)


@pytest.mark.parametrize(
    ("meets", "falls"), [("+-+", True), ("+-", True), ("++", False), ("-+", False), ("-+-", False)]
)
def test_an_answer_falls_if_a_value_above_one_that_meets_the_goal_misses_it(meets: str, falls: bool) -> None:
    tried = [Tried(float(value), None, sign == "+", True) for value, sign in enumerate(meets)]
    answer = Answer.__new__(Answer)
    object.__setattr__(answer, "tried", tried[::-1])
    assert is_falling(answer) is falls


def test_the_picture_of_a_ratio_is_not_empty_and_its_marks_have_a_key() -> None:
    narrow = {"low": "4000 cells", "high": "8000 cells", "least": 6, "most": 6, "resolution": 0.5}
    found = pushout.size("lan", "goodput_ratio>=0.5", "port.bottleneck.buffer", set={"duration": "5 s"}, **narrow)
    figure = found.plot()
    low, high = figure.axes[0].get_ylim()
    assert low > 0.2 * high, "it does not begin at zero, where nothing is"
    assert "answer" in {text.get_text() for text in figure.legends[0].get_texts()}
