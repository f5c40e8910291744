import math
import re
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from pushout.errors import DesignError
from pushout.question.design import design, made, read
from pushout.question.replications import Fixed, Precision
from pushout.schemes import Epd

BASE: dict[str, Any] = {"scenario": "name = 'x'\nduration = '1 s'\n"}


def points(**keys: Any) -> list[dict[str, Any]]:
    return [dict(point.columns) for point in design({**BASE, **keys}).points]


def test_a_sweep_of_nothing_is_one_point() -> None:
    (point,) = design(BASE).points
    assert point.columns == {}
    assert point.sets == ()


def test_a_grid_is_every_combination_and_the_first_key_varies_slowest() -> None:
    found = points(grid={"a": {"b": [1, 2]}, "c.d": ["x", "y"]})
    assert found == [{"a.b": b, "c.d": d} for b in (1, 2) for d in ("x", "y")]


def test_lists_of_a_zip_go_together() -> None:
    assert points(zip=[{"a": [1, 2], "b": [3, 4]}]) == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]


def test_a_label_of_an_axis_stands_for_overrides_that_have_columns_of_their_own() -> None:
    plan = design({**BASE, "set": ["warmup=1 s"], "axis": {"policy": {"EPD": ['p={policy="epd"}'], "none": []}}})
    assert [point.columns for point in plan.points] == [{"policy": "EPD", "p": '{policy="epd"}'}, {"policy": "none"}]
    assert [point.sets for point in plan.points] == [("warmup=1 s", 'p={policy="epd"}'), ("warmup=1 s",)]
    assert plan.columns == ["policy", "p"]


def test_overrides_made_in_python_may_be_mappings_and_schemes() -> None:
    axis = {"policy": {"EPD": {"p": Epd(threshold="90 %")}, "PPD": ('p={policy="ppd"}',), "none": {}}}
    plan = made({**BASE, "set": {"warmup": "1 s"}, "axis": axis})
    epd, ppd = 'p={"policy" = "epd", "threshold" = "90 %"}', 'p={policy="ppd"}'
    common = 'warmup="1 s"'
    assert [point.sets for point in plan.points] == [(common, epd), (common, ppd), (common,)]
    assert made(BASE) == design(BASE)


def test_in_a_sweep_file_overrides_are_lists(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text('scenario = "lan.toml"\n[set]\nflows.transport.mss = 9140\n', encoding="utf-8")
    with pytest.raises(DesignError, match=r"sweep.toml:2:2: set must be a list of overrides"):
        read(file)


def test_tables_and_texts_are_written_so_that_they_are_read_back() -> None:
    plan = design({**BASE, "grid": {"p": [{"policy": "epd", "threshold": "80 %"}], "n": [True], "t": ["5 ms"]}})
    assert plan.points[0].sets == ('p={"policy" = "epd", "threshold" = "80 %"}', "n=true", 't="5 ms"')


def test_a_latin_hypercube_has_one_point_in_every_stratum() -> None:
    keys = {"a": {"b": {"from": 0, "to": 10}}, "c": {"from": 100, "to": 10_000, "scale": "log", "unit": "cells"}}
    found = points(random={"points": 10, "seed": 3, "keys": keys})
    assert sorted(int(point["a.b"]) for point in found) == list(range(10))
    sizes = sorted(float(point["c"].removesuffix(" cells")) for point in found)
    assert [int(5 * math.log10(size / 100)) for size in sizes] == list(range(10))


def test_random_values_are_such_as_a_scenario_can_have() -> None:
    keys = {"b": {"from": 10, "to": 800, "unit": "KiB"}, "t": {"from": 1e-5, "to": 2e-5, "unit": "s"}}
    keys["c"] = {"from": 10, "to": 800, "unit": "cells"}
    for point in points(random={"points": 20, "keys": keys}):
        number, unit = point["b"].split()
        assert unit == "KiB"
        assert (float(number) * 1024).is_integer()
        assert point["t"].startswith("0.0000")
        assert point["c"].removesuffix(" cells").isdigit()


def test_random_points_are_the_same_whenever_and_whatever_else_is_drawn() -> None:
    one = {"a": {"from": 0, "to": 1}}
    first = points(random={"points": 5, "keys": one})
    more = points(random={"points": 5, "keys": {"z": {"choose": [1, 2, 3]}, **one}})
    assert [point["a"] for point in first] == [point["a"] for point in more]
    assert first != points(random={"points": 5, "seed": 2, "keys": one})
    assert len({point["a"] for point in points(random={"points": 5, "method": "uniform", "keys": one})}) == 5


def test_one_cell_has_the_unit_of_others() -> None:
    (factor,) = design({**BASE, "grid": {"b": ["1 cell", "2 cells"]}}).factors
    assert factor.columns == (("b", "b"), ("b_cells", "b"))


def test_whole_numbers_are_whole() -> None:
    found = points(random={"points": 20, "keys": {"n": {"from": 1, "to": 4, "whole": True}}})
    assert {point["n"] for point in found} == {1, 2, 3, 4}


@pytest.mark.parametrize(
    ("spec", "drawn"),
    [
        ({"from": 1, "to": 4, "whole": True}, {1: 250, 2: 250, 3: 250, 4: 250}),
        ({"from": 0.2, "to": 2.7, "whole": True}, {1: 500, 2: 500}),
        ({"from": 1, "to": 2, "unit": "packets"}, {"1 packets": 500, "2 packets": 500}),
        (
            {"from": 1, "to": 4, "unit": "cells", "scale": "log"},
            {"1 cells": 500, "2 cells": 233, "3 cells": 152, "4 cells": 115},
        ),
    ],
)
def test_whole_numbers_at_the_ends_are_drawn_as_often_as_others(spec: dict[str, Any], drawn: dict[Any, int]) -> None:
    """On a logarithmic scale each as often as what is rounded to it: 2 in log(2.5 / 1.5) of log(4.5 / 0.5)."""
    found = points(random={"points": 1000, "keys": {"n": spec}})
    assert Counter(point["n"] for point in found) == drawn


def test_replications_are_fixed_or_until_precise() -> None:
    assert design({**BASE, "reps": 7}).reps == Fixed(7)
    reps = design({**BASE, "reps": {"precision": 0.02, "max": 50}}).reps
    assert reps == Precision(0.02, "summary.goodput_ratio", 10, 50)
    assert design({**BASE, "reps": {"precision": 0.02, "max": 4}}).reps.least == 4


def test_limits_are_within() -> None:
    def reps(value: Any) -> Any:
        return design({**BASE, "reps": value}).reps

    assert reps(10**6) == Fixed(10**6)
    assert reps({"precision": 0.5, "min": 2, "max": 2}).more([]) == 2
    assert reps({"precision": 0.5, "min": 10**6, "max": 10**6}).least == 10**6
    warmup = {"method": "mser-5", "figure": "x.bps"}
    for count in (1, 10**6):
        found = design({**BASE, "warmup": {**warmup, "reps": count}}).warmup
        assert found is not None
        assert found.reps == count
    assert [design({**BASE, "seed": seed}).seed for seed in (0, 2**64 - 1)] == [0, 2**64 - 1]


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (
            {"from": 1, "to": 1},
            "from and to must be a range of numbers on a linear scale, not 1 and 1; from must be less than to",
        ),
        ({"from": 0.2, "to": 0.7, "whole": True}, "the range must contain an integer, not 0.2 to 0.7"),
        ({"from": 0, "to": 1, "scale": "log"}, "from and to must be a range of numbers on a log scale, not 0 and 1"),
        ({"from": 2, "to": "x"}, "from and to must be a range of numbers on a linear scale, not 2 and 'x'"),
        ({"from": False, "to": 1}, "from and to must be a range of numbers on a linear scale, not False and 1"),
        ({"from": 0, "to": math.inf}, "from and to must be a range of numbers on a linear scale, not 0 and inf"),
        ({"from": 0, "to": 1, "unit": 5}, "unit must be a string, and whole true or false, not 5 and False"),
        ({"from": 0, "to": 1, "whole": 1}, "unit must be a string, and whole true or false, not '' and 1"),
        ({"choose": "ab"}, "choose must be a list of values, not 'ab'"),
    ],
)
def test_a_range_that_is_none_is_refused(spec: dict[str, Any], why: str) -> None:
    with pytest.raises(DesignError, match=re.escape(f"random.keys.a: {why}") + "$"):
        points(random={"points": 1, "keys": {"a": spec}})


def test_a_range_on_a_logarithmic_scale_may_begin_below_one() -> None:
    (found,) = points(random={"points": 1, "keys": {"a": {"from": 0.1, "to": 0.2, "scale": "log"}}})
    assert 0.1 <= found["a"] <= 0.2


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"zip": [{"b": [1]}, {"a": 5}]}, "zip[1]: a must be a list of values, not 5"),
        ({"grdi": {}}, 'unknown key "grdi"; did you mean "grid"?'),
        ({"scenario": 5}, "scenario must be a path, not 5"),
        ({"scenario": None}, 'the key "scenario" is missing'),
        ({"reps": 0}, "reps must be at least 1, not 0"),
        ({"reps": 10**12}, "reps must be at most 1000000, not 1000000000000"),
        ({"reps": True}, "reps must be an integer or a table such as { precision = 0.02 }, not True"),
        ({"reps": {"precision": 2}}, "reps.precision must be a share between 0 and 1, such as 0.02, not 2"),
        ({"reps": {"precision": 0}}, "reps.precision must be a share between 0 and 1, such as 0.02, not 0"),
        ({"warmup": {"method": "mser-5", "figure": "x.bps", "reps": 0}}, "warmup.reps must be an integer"),
        ({"warmup": {"method": "mser-5", "figure": "x.bps", "reps": 1.5}}, "warmup.reps must be an integer"),
        ({"scenario": None, "duration": "1 s"}, "the file must be a sweep, not a scenario"),
        ({"reps": {"precision": 0.1, "min": 9, "max": 3}}, "2 ≤ min ≤ max"),
        ({"reps": {"precison": 0.1}}, 'did you mean "precision"?'),
        ({"seed": -1}, "seed must be an integer from 0 to 2^64 - 1, not -1"),
        ({"figures": "x"}, "figures must be a list of paths"),
        ({"set": {"duration": "1 s"}}, "set must be a list of overrides"),
        ({"grid": {"a": 5}}, "grid: a must be a list of values, not 5"),
        ({"grid": {"a": []}}, "grid: a must not be an empty list"),
        ({"grid": [1]}, "grid must be a table of keys"),
        ({"grid": {"a": [date(2026, 1, 1)]}}, "a: datetime.date(2026, 1, 1) cannot be a value of a scenario"),
        ({"axis": {"policy": ["epd"]}}, "axis.policy must be a table with a list of overrides for each LABEL"),
        (
            {"axis": {"policy": {"EPD": ["epd"]}}},
            "axis.policy.EPD must contain overrides key.path=value, as in 'duration=1 s', not 'epd'",
        ),
        ({"zip": {"a": [1]}}, "zip must be a list of tables: write [[zip]]"),
        ({"zip": [{"a": [1], "b": [1, 2]}]}, "a has 1, b has 2"),
        ({"zip": [{}]}, "it has no list"),
        ({"grid": {"a": [1]}, "zip": [{"a": [2]}]}, '"a" must be swept once, not twice'),
        ({"grid": {"a": range(1001), "b": range(1000)}}, "a sweep must have at most 1000000 points, not 1001000"),
        (
            {"grid": {"seed": [1]}},
            '"seed" cannot be swept, because every row has a column seed; reps = N runs every point with',
        ),
        ({"random": {"points": 0}}, "random.points must be an integer from 1 to 1000000, not 0"),
        ({"random": {"points": 1}}, "random.keys must give each key a range"),
        (
            {"random": {"points": 1, "keys": {"a": 5}}},
            "random.keys: a must be { from, to } or { choose = [values] }, not 5",
        ),
        (
            {"random": {"points": 1, "keys": {"a": {"from": 2, "to": 1}}}},
            "from and to must be a range of numbers on a linear scale, not 2 and 1; from must be less than to",
        ),
        (
            {"random": {"points": 1, "method": "sobol", "keys": {}}},
            'random.method: unknown method "sobol" (allowed: latin-hypercube, uniform)',
        ),
        ({"warmup": "mser-5"}, 'warmup must be a time or { method = "mser-5", figure = '),
        ({"random": {"keys": {"a": {"from": 1, "to": 2}}}}, "random.points is missing: give the number of points"),
        ({"grid": {"a": ["9 cells", "8 cells", "9 cells"]}}, 'grid: a must have each value once, not "9 cells" twice'),
        ({"grid": {"a": [{"x": 1}, {"x": 1}]}}, "grid: a must have each value once"),
        ({"warmup": {"method": "mser-5"}}, "warmup.figure must be the path"),
        ({"warmup": {"method": "mser-5", "figure": "x"}}, "warmup.figure: warmup must use a figure over time"),
        (
            {"warmup": {"method": "mser-5", "figure": "x.bps"}, "figures": ["warmup_s"]},
            "figures must not name warmup_s",
        ),
        (
            {"warmup": {"method": "mser-5", "figure": "x.bps"}, "grid": {"warmup": ["1 ms"]}},
            "grid: warmup cannot be set here",
        ),
        (
            {"warmup": {"method": "mser-5", "figure": "x.bps"}, "axis": {"a": {"b": ["warmup=1 s"]}}},
            "axis: warmup cannot be set here",
        ),
        (
            {"warmup": {"method": "mser-5", "figure": "x.bps"}, "set": ["warmup = 1 s"]},
            "set: warmup cannot be set here",
        ),
        ({"grid": {"a": ["1 s"]}, "axis": {"a_s": {"x": []}}}, '"a_s" must be swept once, not twice'),
        ({"zip": [{"a": ["1 s"], "a_s": [1]}]}, '"a_s" must be swept once, not twice'),
        ({"axis": {"duration": {"x": ["duration=1 s"]}}}, "axis.duration must not set the key of its own name"),
        ({"set": ["=1 s"]}, "set must contain overrides key.path=value, as in 'duration=1 s', not '=1 s'"),
        (
            {"reps": {"precision": 0.1, "of": "flows.*.x"}},
            "reps.of must be the path of a single figure, not 'flows.*.x'",
        ),
        ({"seed": 2**64 - 3, "reps": 4}, "seed must be at most 2^64 - 4 for 4 replications"),
        ({"name": "../results"}, "name must be a folder inside results, not '../results'"),
        (
            {"random": {"points": 1, "keys": {"a": {"from": 1, "to": 2, "scale": "cubic"}}}},
            'random.keys.a.scale: unknown scale "cubic" (allowed: linear, log)',
        ),
        ({"warmup": {"method": "welch", "figure": "x"}}, 'warmup.method: unknown method "welch" (allowed: mser-5)'),
    ],
)
def test_a_mistake_is_named_with_what_is_allowed(keys: dict[str, Any], why: str) -> None:
    with pytest.raises(DesignError, match=re.escape(why)):
        design({key: value for key, value in {**BASE, **keys}.items() if value is not None})


def test_a_file_is_named_in_the_message(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    for text, why in [
        ("scenario = \na = 1\n", r"sweep\.toml:1:12: this is not TOML: "),
        ("a = 1\n", r'sweep\.toml:1:1: unknown key "a"'),
    ]:
        file.write_text(text, encoding="utf-8")
        with pytest.raises(DesignError, match=why):
            read(file)
    file.write_bytes(b"# caf\xe9\n")
    for path, why in [(file, ":1:6: not UTF-8"), (tmp_path / "none.toml", ": no such file"), (tmp_path, ": is a dir")]:
        with pytest.raises(DesignError, match=re.escape(f"{path}{why}")):
            read(path)


@pytest.mark.parametrize(
    ("text", "why", "line"),
    [
        ("reps = 0", "2:8: reps must be at least 1, not 0", "reps = 0"),
        ("rep = 5", '2:1: unknown key "rep"; did you mean "reps"?', "rep = 5"),
        ("reps = { precison = 0.1 }", '2:10: reps: unknown key "precison"', "reps = { precison = 0.1 }"),
        ("reps = { precision = 2 }", "2:22: reps.precision must be a share", "reps = { precision = 2 }"),
        ("set = ['a=1',\n  'b']", "3:3: set must contain overrides", "  'b']"),
        ("[grid]\na.b = []", "3:7: grid: a.b must not be an empty list", "a.b = []"),
        ("[grid]\na = 1\na = 2", '4:1: the key "a" is given twice, first in line 3', "a = 2"),
        ("[grid]\na = [2026-01-01]", "3:6: 2026-01-01 is a date", "a = [2026-01-01]"),
        ("[grid]\na = [1]\n[[zip]]\na = [2]", '5:1: "a" must be swept once, not twice', "a = [2]"),
        ("[grid]\nseed = [1]", '3:1: "seed" cannot be swept', "seed = [1]"),
        ("[axis.policy]\nEPD = 'epd'", "3:7: axis.policy.EPD must be a list of overrides", "EPD = 'epd'"),
        ("[[zip]]\na = [1]\n[[zip]]\nb = [1]\nc = [1, 2]", "4:3: zip[1] must have lists of equal length", "[[zip]]"),
        ("[random]\npoints = 1\n[random.keys]\na = { from = 2, to = 1 }", "5:5: random.keys.a: ", "a = { from"),
    ],
)
def test_a_mistake_is_shown_where_it_stands(text: str, why: str, line: str, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(f"scenario = 'lan.toml'\n{text}\n", encoding="utf-8")
    with pytest.raises(DesignError) as caught:
        read(file)
    message, shown, mark = str(caught.value).splitlines()
    assert message.startswith(f"{file}:{why}")
    number = why.split(":")[0]
    assert shown.startswith(f" {number} | {line}")
    assert mark.index("^") - 5 == int(why.split(":")[1]) - 1 + (len(number) - 1)


def test_a_file_may_have_a_byte_order_mark_and_line_ends_of_windows(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_bytes(b"\xef\xbb\xbfscenario = 'lan.toml'\r\n[grid]\r\na = [1, 2]\r\n")
    assert [point.sets for point in read(file).points] == [("a=1",), ("a=2",)]


def test_numbers_of_numpy_paths_and_ranges_are_taken_from_python() -> None:
    numpy = pytest.importorskip("numpy")
    found = points(grid={"a": numpy.arange(2), "b": numpy.array([0.5]), "c": range(1), "d": (numpy.int64(7),)})
    assert found == [{"a": a, "b": 0.5, "c": 0, "d": 7} for a in (0, 1)]
    plan = design({"scenario": Path("lan.toml"), "grid": {"a": [numpy.float64(0.5)]}})
    assert plan.scenario == Path("lan.toml")
    assert plan.points[0].sets == ("a=0.5",)


def test_the_example_sweeps_two_hundred_runs_and_more() -> None:
    plan = read(ROOT / "scenarios" / "sweep-small.toml")
    assert len(plan.points) * plan.reps.least >= 200
    assert plan.scenario == ROOT / "scenarios" / "lan.toml"
    assert plan.columns == ["policy", "port.bottleneck.admission", "port.bottleneck.buffer"]


def test_a_name_that_no_file_can_have_is_refused_at_its_place(tmp_path: Path) -> None:
    sweep = tmp_path / "w.toml"
    sweep.write_text(f'name = "w"\nscenario = "{"a" * 5_000}"\n', encoding="utf-8")
    with pytest.raises(DesignError, match=r"w\.toml:2:12: scenario: .*…a+ must be a regular file below the folder"):
        read(sweep)
