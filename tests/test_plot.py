"""Drawings of sweeps."""

import itertools
import re
from statistics import fmean
from typing import Any

import pytest

import pushout
from conftest import ROOT
from pushout.answer import drawing
from pushout.answer.columns import Columns
from pushout.errors import QuestionError
from pushout.stats import interval

PLAN: dict[str, Any] = {
    "scenario": str(ROOT / "scenarios" / "lan.toml"),
    "set": ["duration=0.1 s", "flows.start_spread=1 ms", "sample=5 ms", "measure.occupancy=['bottleneck']"],
    "reps": 3,
    "axis": {
        "policy": {
            "tail-drop": ['port.bottleneck.admission={policy="tail-drop"}'],
            "EPD": ['port.bottleneck.admission={policy="epd", threshold="50 %"}'],
        }
    },
    "grid": {"port.bottleneck.buffer": ["200 cells", "1000 cells", "4000 cells"]},
    "figures": [
        "ports.bottleneck.occupancy_mean",
        "flows.*.goodput_bps",
        *(f"ports.bottleneck.occupancy.{key}" for key in ("values", "start_s", "step_s")),
    ],
}


@pytest.fixture(scope="module")
def result() -> pushout.SweepResult:
    return pushout.sweep(PLAN)


def texts(figure: Any) -> set[str]:
    """All that is written in a drawing."""
    return set(re.findall(r"<text[^>]*>([^<]*)</text>", drawing.images(figure)["svg"].decode()))


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        (
            {"y": "goodput_ratio", "x": "port.bottleneck.buffer_cells"},
            {"goodput ÷ ideal", "buffer of bottleneck (cells)", "tail-drop", "EPD", "1 000", "95 % interval"},
        ),
        (
            {"y": "goodput_bps", "x": "ports.bottleneck.occupancy_mean"},
            {"goodput (Mb/s)", "occupancy mean of bottleneck (cells)", "EPD", "95 % interval"},
        ),
        (
            {"y": "goodput_ratio", "x": "port.bottleneck.buffer", "by": "policy", "kind": "heat"},
            {"200 cells", "4000 cells", "tail-drop", "goodput ÷ ideal"},
        ),
        (
            {"y": "flows.*.goodput_bps", "by": "policy"},
            {"goodput of flows (Mb/s)", "share of values ≤ x, all runs", "EPD"},
        ),
        (
            {"y": "ports.bottleneck.occupancy.values", "by": "policy", "kind": "time"},
            {"time (ms)", "EPD", "95 % interval"},
        ),
    ],
)
def test_axes_have_names_and_units_and_series_have_keys(
    result: pushout.SweepResult, arguments: dict[str, Any], written: set[str]
) -> None:
    figure = result.plot(**arguments)
    assert written <= texts(figure), texts(figure)
    assert drawing.images(figure)["png"].startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"y": "goodput"}, 'unknown column "goodput"'),
        ({"y": "goodput_ratio", "kind": "pie"}, 'unknown kind of plot "pie"'),
        ({"y": "goodput_ratio", "x": "port.bottleneck.buffer"}, "port.bottleneck.buffer_cells"),
        ({"y": "goodput_ratio", "kind": "heat"}, "needs x and by, two swept columns"),
        ({"y": "flows.*.goodput_bps", "kind": "time"}, "figures must include"),
        ({"y": "goodput_ratio", "kind": "time"}, "must be a list over time"),
        (
            {"y": "goodput_ratio", "x": "goodput_bps", "kind": "line"},
            "goodput_bps must be the same in all runs of a point",
        ),
        ({"y": "goodput_ratio", "x": "policy"}, "draw a series for each value"),
        ({"y": "flows.*.goodput_bps", "x": "goodput_ratio"}, "must be a single figure of every run"),
        ({"y": "policy"}, "the column policy must hold numbers"),
        ({"y": "goodput_ratio", "x": "goodput_bps", "kind": "cdf"}, "x cannot be used with a distribution"),
        ({"y": "goodput_ratio", "x": ""}, 'unknown column ""'),
    ],
)
def test_a_refused_plot_says_why(result: pushout.SweepResult, arguments: dict[str, Any], why: str) -> None:
    with pytest.raises(QuestionError, match=re.escape(why)):
        result.plot(**arguments)


def test_a_distribution_climbs_from_the_first_run_to_all(result: pushout.SweepResult) -> None:
    (line, *_) = result.plot("goodput_ratio", by="policy").axes[0].lines
    values, shares = zip(*line.get_xydata(), strict=True)
    assert list(values) == sorted(values)
    assert list(shares) == pytest.approx([number / 9 for number in range(1, 10)])


def test_a_field_of_several_points_says_so() -> None:
    columns = {"point": range(4), "a": [1, 1, 2, 2], "b": [1, 1, 1, 1], "c": [1, 2, 1, 2], "seed": [1] * 4}
    table = Columns.of({**columns, "x": [1.0, 3.0, 5.0, 5.0], "wall_s": [0.1] * 4})
    points = [{key: columns[key][point] for key in "abc"} for point in range(4)]
    result = pushout.SweepResult(table, points, {})
    assert {"x,", "means of up to 2 points"} <= texts(result.plot("x", "a", by="b", kind="heat"))
    assert "x" in texts(result.plot("x", "a", by="c", kind="heat"))


def test_a_band_of_several_points_is_that_of_independent_seeds(result: pushout.SweepResult) -> None:
    name = "ports.bottleneck.occupancy.values"
    axes = result.plot(name, by="policy", kind="time").axes[0]
    first = [point for point, values in enumerate(result.points) if values["policy"] == result.points[0]["policy"]]
    assert len(first) > 1, "the policy leaves several points"
    runs = [result.of_point(point).plain(name) for point in first]
    ends = [interval([fmean(curve[-1] for curve in seed) for seed in zip(*runs, strict=True)])["ci95"]]
    drawn = {y for _, y in axes.collections[0].get_paths()[0].vertices.tolist()}
    assert ends[0] is not None
    assert all(min(abs(y - end) for y in drawn) < 1e-6 * max(drawn) for end in ends[0])


def test_time_begins_with_the_first_sample(result: pushout.SweepResult) -> None:
    figure = result.plot("ports.bottleneck.occupancy.values", by="policy", kind="time")
    times = figure.axes[0].lines[0].get_xdata()
    rows = result.of_point(0)
    start, step = (rows[f"ports.bottleneck.occupancy.{key}"][0] for key in ("start_s", "step_s"))
    assert list(times[:3]) == pytest.approx([start, start + step, start + 2 * step])


def test_a_point_that_measured_nothing_is_not_drawn() -> None:
    table = Columns.of(
        {"point": [0, 1, 2], "x": [1, 2, 3], "seed": [1] * 3, "y": [0.5, None, 0.7], "wall_s": [0.1] * 3}
    )
    result = pushout.SweepResult(table, [{"x": number} for number in (1, 2, 3)], {})
    assert list(result.plot("y", "x").axes[0].lines[0].get_xdata()) == [1, 3]
    assert len(result.plot("y").axes[0].lines[0].get_xdata()) == 1, "a series for each value of x"
    assert len(result.plot("y", "y", kind="cloud").axes[0].containers) == 2, "two points"


def rates(mb_per_s: list[float]) -> pushout.SweepResult:
    swept = [f"{rate} Mb/s" for rate in mb_per_s]
    table = {"point": range(len(swept)), "rate": swept, "rate_Mb_per_s": mb_per_s, "by": [1] * len(swept)}
    measured = {"goodput_bps": [0.9e6 * rate for rate in mb_per_s], "wall_s": [0.1] * len(swept)}
    points = [{"rate": rate, "by": 1} for rate in swept]
    return pushout.SweepResult(Columns.of({**table, "seed": [1] * len(swept), **measured}), points, {})


def test_rates_are_drawn_in_the_unit_in_which_they_are_read_most_easily() -> None:
    axes = rates([10.0, 20.0, 30.0]).plot("goodput_bps", "rate_Mb_per_s", by="by").axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rate (Mb/s)", "goodput (Mb/s)")
    assert axes.yaxis.get_major_formatter()(9e6) == "9", "measured in b/s"
    assert "12.5" in [text.get_text() for text in axes.get_xticklabels()], "swept in Mb/s"
    assert rates([1000.0, 2000.0]).plot("goodput_bps", "rate_Mb_per_s").axes[0].get_ylabel() == "goodput (Gb/s)"


def test_a_field_of_a_heat_map_has_its_value_in_the_unit_of_the_scale() -> None:
    figure = rates([10.0, 20.0]).plot("goodput_bps", "rate_Mb_per_s", by="by", kind="heat")
    assert {"9", "18", "goodput (Mb/s)"} <= texts(figure)


@pytest.mark.parametrize(("largest", "unit"), [(2.0, "s"), (1.0, "s"), (0.9, "ms"), (2e-5, "µs"), (3e-8, "ns")])
def test_times_are_drawn_in_the_unit_in_which_they_are_read_most_easily(largest: float, unit: str) -> None:
    table = Columns.of(
        {"point": [0, 1], "x": [1, 2], "seed": [1, 1], "y_s": [0.0, 0.95 * largest], "wall_s": [0.1] * 2}
    )
    axes = pushout.SweepResult(table, [{"x": 1}, {"x": 2}], {}).plot("y_s", "x").axes[0]
    axes.set_ylim(0, largest)
    drawing.frame(axes, "x", drawing.label("y_s"))
    assert axes.get_ylabel() == f"y ({unit})"


def test_a_label_speaks_for_the_keys_that_it_sets() -> None:
    columns = {"point": range(4), "timer": ["coarse", "fine"] * 2, "rto": [None, "1 ms"] * 2, "x": [1, 1, 2, 2]}
    table = Columns.of({**columns, "seed": [1] * 4, "y": [0.5, 0.6] * 2, "wall_s": [0.1] * 4})
    points = [{"timer": "coarse", "x": 1}, {"timer": "fine", "rto": "1 ms", "x": 1}]
    points += [{**point, "x": 2} for point in points]
    result = pushout.SweepResult(table, points, {})
    lines = result.plot("y", "x").axes[0].lines
    assert [line.get_label() for line in lines] == ["coarse", "fine"]
    unlabelled = [{key: value for key, value in point.items() if key != "timer"} for point in points]
    lines = pushout.SweepResult(table, unlabelled, {}).plot("y", "x").axes[0].lines
    assert [line.get_label() for line in lines] == ["–", "1 ms"], "nothing else tells them apart"


def test_a_series_has_one_point_at_a_place() -> None:
    grid = {name: [1, 2] for name in ("flows.transport.mss", "flows.transport.dupacks", "seed2")}
    points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    columns = {"point": range(8), **{name: [point[name] for point in points] for name in grid}, "seed": [1] * 8}
    table = Columns.of({**columns, "goodput_ratio": [0.1 * row for row in range(8)], "wall_s": [0.1] * 8})
    result = pushout.SweepResult(table, points, {})
    assert {"1, 1", "1, 2", "2, 1", "2, 2"} <= texts(result.plot(x="seed2"))
    with pytest.raises(QuestionError, match="leaves several points with the same seed2; leave out by"):
        result.plot(x="seed2", by="flows.transport.mss")


def test_names_are_not_read_as_formulas() -> None:
    table = Columns.of(
        {"point": [0, 1], "plan": ["$1$", "a$b_1$"], "seed": [1, 1], "y": [0.5, 0.7], "wall_s": [0.1] * 2}
    )
    figure = pushout.SweepResult(table, [{"plan": "$1$"}, {"plan": "a$b_1$"}], {}).plot("y", by="plan", kind="cdf")
    assert {"$1$", "a$b_1$"} <= texts(figure)


def test_a_legend_is_read_row_by_row_and_leaves_the_drawing_its_height() -> None:
    def legend(count: int) -> tuple[float, list[str]]:
        with drawing.paper() as (figure, grid):
            for number in range(count):
                grid[0][0].plot([0, 1], label=f"policy number {number:02}")
            drawing.legend(figure, grid[0][0])
            texts = figure.legends[0].get_texts()
            figure.draw_without_rendering()
            places = [text.get_window_extent() for text in texts]
            inside = all(place.x0 >= 0 and place.x1 <= figure.bbox.width for place in places)
            assert inside, "no name is cut"
            by_place = sorted(zip(places, texts, strict=True), key=lambda pair: (-round(pair[0].y0), pair[0].x0))
            return figure.get_figheight(), [text.get_text() for _, text in by_place]

    few, many = legend(5), legend(21)
    assert few[0] < many[0]
    assert [few[1], many[1]] == [sorted(few[1]), sorted(many[1])]


def test_no_two_series_look_alike() -> None:
    assert len({tuple(map(str, look.values())) for look in drawing.looks(56)}) == 56
    assert len({(look["marker"], str(look["linestyle"])) for look in drawing.looks(28)}) == 28, "without colours"


@pytest.mark.parametrize("kind", ["line", "cdf", "time"])
def test_every_line_is_marked_and_a_key_says_how_they_differ(kind: str) -> None:
    grid = {"port.a.buffer": ["1 MB", "2 MB"], "port.a.admission.alpha": [0.5, 1.0], "x": list(range(30))}
    points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    columns = {"point": range(120), **{name: [point[name] for point in points] for name in grid}, "seed": [1] * 120}
    head = "ports.a.occupancy"
    clock = {f"{head}.start_s": [0.0] * 120, f"{head}.step_s": [0.1] * 120}
    measured = {
        f"{head}_mean": [5e5 + row for row in range(120)],
        f"{head}.values": [[1e5 * place for place in range(10)]] * 120,
        **clock,
    }
    result = pushout.SweepResult(Columns.of({**columns, **measured, "wall_s": [0.1] * 120}), points, {})
    arguments = {"line": {"x": "x"}, "cdf": {"by": "port.a.admission.alpha"}, "time": {"by": "port.a.admission.alpha"}}
    figure = result.plot(f"{head}.values" if kind == "time" else f"{head}_mean", kind=kind, **arguments[kind])
    assert all(line.get_marker() in set("os^v") for line in figure.axes[0].lines)
    legend = figure.legends[0]
    assert legend.get_title().get_text() == ("buffer, alpha" if kind == "line" else "alpha")
    assert {text.get_text() for text in legend.get_texts()} >= ({"1 MB, 1"} if kind == "line" else {"0.5", "1"})
    what = "occupancy of a (kB)" if kind == "time" else "occupancy mean of a (kB)"
    assert (figure.axes[0].get_xlabel() if kind == "cdf" else figure.axes[0].get_ylabel()) == what


def test_a_band_does_not_rise_above_a_full_buffer() -> None:
    def top(buffer: str) -> float:
        columns = {"point": [0, 0], "port.a.buffer": [buffer] * 2, "x": [1] * 2, "seed": [1, 2]}
        table = Columns.of({**columns, "ports.a.occupancy_mean": [1000.0, 1900.0], "wall_s": [0.1] * 2})
        result = pushout.SweepResult(table, [{"port.a.buffer": buffer, "x": 1}], {})
        (band,) = result.plot("ports.a.occupancy_mean", "x").axes[0].collections
        return float(band.get_paths()[0].get_extents().y1)

    assert top("2000 cells") == 2000
    assert top("unlimited") > 7000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("goodput_ratio", "goodput ÷ ideal"),
        ("port.bottleneck.buffer_cells", "buffer of bottleneck (cells)"),
        ("port.bottleneck.buffer_kB", "buffer of bottleneck (kB)"),
        ("flows.transport.initial_window", "transport initial window"),
        ("ports.bottleneck.occupancy_mean", "occupancy mean of bottleneck"),
        ('ports."access1.back".units_in', "units in of access1.back"),
        ("flows.transport.mss", "transport mss"),
        ("flows.*.goodput_bps", "goodput of flows (b/s)"),
        ("flows.flow1.goodput_bps", "goodput of flow1 (b/s)"),
        ("flow.flow1.source.rate_Mb_per_s", "source rate of flow1 (Mb/s)"),
        ("port.bottleneck.admission.threshold_percent", "admission threshold of bottleneck (%)"),
    ],
)
def test_an_axis_says_what_and_of_what(name: str, text: str) -> None:
    assert drawing.label(name) == text


def test_a_series_that_another_hides_says_so_in_the_legend() -> None:
    assert drawing.named_alike(["a", "b", "c", "d"], [[1], [2], [1], [2]]) == ["a", "b", "c (as a)", "d (as b)"]
    grid = {"port.bottleneck.buffer": ["8000 cells", "9000 cells"]}
    axis = {"policy": {"none": [], "epd": ['port.bottleneck.admission={policy="epd"}']}}
    plan = {"scenario": PLAN["scenario"], "set": {"duration": "5 ms"}, "grid": grid, "axis": axis}
    figure = pushout.sweep(plan).plot("goodput_ratio", "port.bottleneck.buffer_cells")
    assert {text.get_text() for text in figure.legends[0].get_texts()} >= {"none", "epd (as none)"}
