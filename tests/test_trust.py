from collections.abc import Sequence

import pytest

from pushout import trust
from pushout.trust import Doubt

GOODPUT, FILES = ("goodput_ratio",), ("transfer_time_p99_s",)


Figures = dict[str, Sequence[float | None]]


def runs_of(**figures: Sequence[float | None]) -> trust.Runs:
    count = len(next(iter(figures.values())))
    return lambda name: figures.get(name, [None] * count)


def codes(found: Sequence[Doubt]) -> list[str]:
    return [doubt.code for doubt in found]


def test_an_interval_of_more_than_a_quarter_of_the_mean_is_reported_with_a_remedy() -> None:
    (doubt,) = trust.doubts(runs_of(goodput_ratio=[0.5, 0.9, 0.6]), ["goodput_ratio"], 0.0)
    assert doubt.code == "wide-interval"
    assert doubt.message == (
        "goodput_ratio: the interval is ± 78 %: runs are too short or too few; lengthen duration or warmup, or take "
        "more replications"
    )
    assert trust.doubts(runs_of(goodput_ratio=[0.5, 0.51, 0.52]), ["goodput_ratio"], 0.0) == []


def test_a_single_run_has_no_interval_to_doubt() -> None:
    assert trust.doubts(runs_of(goodput_ratio=[0.5]), ["goodput_ratio"], 0.0) == []


@pytest.mark.parametrize(
    ("drifts", "told"),
    [
        ([0.4, 0.42, 0.38], True),
        ([-0.4, -0.42, -0.38], True),
        ([0.08, 0.081, 0.079], False),  # surely there, but small
        ([0.9, -0.5, 0.2], False),  # large, but may be chance
        ([0.2], False),  # one run
        ([0.3], True),
    ],
)
def test_a_second_half_that_surely_differs_from_the_first_is_reported(drifts: list[float], told: bool) -> None:
    assert codes(trust.doubts(runs_of(goodput_drift=drifts), GOODPUT, 0.0)) == ["drift"] * told


def test_figures_at_their_limits_are_not_doubted() -> None:
    def doubts_of(names: Sequence[str], **figures: Sequence[float | None]) -> list[str]:
        return codes(trust.doubts(runs_of(**figures), names, 0.0))

    assert doubts_of(GOODPUT, goodput_drift=[0.25]) == []
    assert doubts_of(GOODPUT, goodput_drift=[0.2501]) == ["drift"]
    assert doubts_of(GOODPUT, goodput_drift=[0.1, 0.1]) == []
    assert doubts_of(GOODPUT, goodput_drift=[0.11, 0.11]) == ["drift"]
    files: Figures = {"transfers": [9], "transfer_age_max_s": [1.0], "transfer_time_max_s": [1.0]}
    assert doubts_of(FILES, transfers_unfinished=[1], **files) == [], "a tenth, and as old as the longest"
    assert doubts_of(FILES, transfers_unfinished=[2], **files) == ["unfinished-files"]
    few: Figures = {**files, "transfers": [99], "transfer_age_max_s": [1.1]}
    assert doubts_of(FILES, transfers_unfinished=[1], **few) == ["unfinished-files"]


def test_the_width_of_an_interval_is_measured_by_the_size_of_its_mean() -> None:
    assert trust.half_width({"mean": -2.0, "ci95": [-3.0, -1.0], "n": 3}) == 0.5
    assert trust.half_width({"mean": 4.0, "ci95": [3.0, 5.0], "n": 3}) == 0.25
    assert trust.half_width({"mean": 0.0, "ci95": [-1.0, 1.0], "n": 3}) == 0.0
    assert trust.half_width({"mean": 4.0, "ci95": None, "n": 1}) == 0.0


def test_old_unfinished_files_are_reported_if_most_runs_have_them() -> None:
    files: Figures = {
        "transfers": [50, 50, 50],
        "transfers_unfinished": [1, 1, 1],
        "transfer_time_max_s": [2.0, 2.0, 2.0],
    }
    two = trust.doubts(runs_of(**files, transfer_age_max_s=[3.0, 5.0, 1.0]), FILES, 0.0)
    assert [doubt.message for doubt in two] == [
        "unfinished files had taken longer (4 s) than any finished one; they are not counted: lengthen duration"
    ]
    assert trust.doubts(runs_of(**files, transfer_age_max_s=[3.0, 1.0, 1.0]), FILES, 0.0) == []


def test_a_drift_is_reported_as_a_ratio_of_the_halves() -> None:
    (doubt,) = trust.doubts(runs_of(goodput_drift=[2 / 3]), GOODPUT, 0.0)
    assert doubt.message.startswith(
        "the goodput of the second half of the measured time is 2.00 times that of the first"
    )
    (doubt,) = trust.doubts(runs_of(transfer_time_drift=[-2 / 3]), FILES, 0.0)
    assert doubt.message.startswith("the time of the later half of the files is 0.50 times that of the earlier half")
    for drift, half in ((2.0, "first"), (-2.0, "second")):
        (doubt,) = trust.doubts(runs_of(goodput_drift=[drift]), GOODPUT, 0.0)
        assert doubt.message.startswith(f"nothing was delivered in the {half} half of the measured time: ")


@pytest.mark.parametrize(
    ("ended", "left", "age", "longest", "message"),
    [
        (0, 3, 1.0, None, "no file was finished when the runs ended: lengthen duration"),
        (15, 5, 1.0, 2.0, "10 of 40 files were unfinished, and their times are not counted: lengthen duration"),
        (
            95,
            5,
            3.0,
            2.0,
            "unfinished files had taken longer (3 s) than any finished one; they are not counted: lengthen duration",
        ),
        (95, 5, 1.0, 2.0, None),
        (20, 0, None, 2.0, None),
    ],
)
def test_unfinished_files_are_reported_where_times_are_missing(
    ended: float, left: float, age: float | None, longest: float | None, message: str | None
) -> None:
    runs = runs_of(
        transfers=[ended] * 2,
        transfers_unfinished=[left] * 2,
        transfer_age_max_s=[age] * 2,
        transfer_time_max_s=[longest] * 2,
    )
    found = trust.doubts(runs, FILES, 0.0)
    assert codes(found) == (["unfinished-files"] if message else [])
    assert not message or found[0].message.startswith(message)


def test_a_warm_up_that_ends_inside_slow_start_is_reported_unless_there_is_none() -> None:
    (doubt,) = trust.doubts(runs_of(flows_in_slow_start=[0, 3]), GOODPUT, 0.5)
    assert doubt.message == "3 flows were still in slow start when the warm-up of 0.5 s ended: lengthen warmup"
    assert trust.doubts(runs_of(flows_in_slow_start=[3, 3]), GOODPUT, 0.0) == []


def test_where_files_are_sent_their_times_are_the_headline() -> None:
    both = runs_of(goodput_ratio=[0.3], transfers=[5], transfer_time_mean_s=[1.0], transfer_time_p99_s=[2.0])
    assert trust.headlines(both) == ["transfer_time_mean_s", "transfer_time_p99_s"]
    assert trust.headlines(runs_of(goodput_ratio=[0.3], packet_throughput=[0.9])) == ["packet_throughput"]
    assert trust.headlines(runs_of(goodput_ratio=[0.3])) == ["goodput_ratio"]


def test_runs_are_doubted_only_for_what_they_are_asked() -> None:
    both = runs_of(goodput_drift=[0.5], transfer_time_drift=[0.5], transfers=[1], transfers_unfinished=[9])
    assert [doubt.about for doubt in trust.doubts(both, GOODPUT, 0.0)] == ["goodput_drift"]
    assert [doubt.about for doubt in trust.doubts(both, FILES, 0.0)] == ["transfer_time_drift", "transfers"]
    assert len(trust.doubts(both, (*GOODPUT, *FILES), 0.0)) == 3


def test_the_strongest_of_equal_doubts_is_reported_with_all_labels() -> None:
    weak, strong = Doubt("drift", "goodput_drift", "weak", 0.2), Doubt("drift", "goodput_drift", "strong", 0.3)
    other = Doubt("slow-start", "flows_in_slow_start", "alone", 1.0)
    assert trust.warnings([("epd", [weak]), ("ppd", [strong, other]), ("", [])]) == [
        {"code": "drift", "message": "epd, ppd (most): strong"},
        {"code": "slow-start", "message": "ppd: alone"},
    ]
    assert trust.warnings([("", [weak])]) == [{"code": "drift", "message": "weak"}]
