import math
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from pushout.question.campaign import Fixed, Precision
from pushout.question.design import DesignError, design, read

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


def test_tables_and_texts_are_written_so_that_they_are_read_back() -> None:
    plan = design({**BASE, "grid": {"p": [{"policy": "epd", "threshold": "80 %"}], "n": [True], "t": ["5 ms"]}})
    assert plan.points[0].sets == ('p={"policy" = "epd", "threshold" = "80 %"}', "n=true", 't="5 ms"')


def test_a_latin_hypercube_has_one_point_in_every_stratum() -> None:
    keys = {"a": {"b": {"from": 0, "to": 10}}, "c": {"from": 100, "to": 10_000, "scale": "log", "unit": "cells"}}
    found = points(random={"points": 10, "seed": 3, "keys": keys})
    assert sorted(int(point["a.b"]) for point in found) == list(range(10))
    sizes = sorted(float(point["c"].removesuffix(" cells")) for point in found)
    assert [int(5 * math.log10(size / 100)) for size in sizes] == list(range(10))


def test_random_points_are_the_same_whenever_and_whatever_else_is_drawn() -> None:
    one = {"a": {"from": 0, "to": 1}}
    first = points(random={"points": 5, "keys": one})
    more = points(random={"points": 5, "keys": {"z": {"choose": [1, 2, 3]}, **one}})
    assert [point["a"] for point in first] == [point["a"] for point in more]
    assert first != points(random={"points": 5, "seed": 2, "keys": one})
    assert len({point["a"] for point in points(random={"points": 5, "method": "uniform", "keys": one})}) == 5


def test_whole_numbers_are_whole() -> None:
    found = points(random={"points": 20, "keys": {"n": {"from": 1, "to": 4, "whole": True}}})
    assert {point["n"] for point in found} == {1, 2, 3, 4}


def test_replications_are_fixed_or_until_precise() -> None:
    assert design({**BASE, "reps": 7}).reps == Fixed(7)
    reps = design({**BASE, "reps": {"precision": 0.02, "max": 50}}).reps
    assert reps == Precision(0.02, "summary.goodput_ratio", 5, 50)


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"grdi": {}}, 'unknown key "grdi"; did you mean "grid"?'),
        ({"scenario": 5}, "scenario: 5 is not a path"),
        ({"scenario": None}, 'the key "scenario" is missing'),
        ({"reps": 0}, "reps: 0 is less than 1"),
        ({"reps": True}, "reps: True is neither a whole number nor a table, as in { precision = 0.02 }"),
        ({"reps": {"precision": 2}}, "reps.precision: 2 is not a share"),
        ({"reps": {"precision": 0.1, "min": 9, "max": 3}}, "2 ≤ min ≤ max"),
        ({"reps": {"precison": 0.1}}, 'did you mean "precision"?'),
        ({"seed": -1}, "seed: -1 is not a whole number"),
        ({"figures": "x"}, "figures: is a list of paths"),
        ({"set": {"duration": "1 s"}}, "set: is a list of overrides"),
        ({"grid": {"a": 5}}, "grid: a has 5, which is not a list"),
        ({"grid": {"a": []}}, "grid: a has [], which is not a list"),
        ({"grid": [1]}, "grid: is a table of keys"),
        ({"axis": {"policy": ["epd"]}}, "axis.policy: has a list of overrides for each LABEL"),
        ({"axis": {"policy": {"EPD": ["epd"]}}}, "axis.policy.EPD: is a list of overrides"),
        ({"zip": {"a": [1]}}, "zip: write [[zip]]"),
        ({"zip": [{"a": [1], "b": [1, 2]}]}, "a has 1, b has 2"),
        ({"zip": [{}]}, "there are none"),
        ({"grid": {"a": [1]}, "zip": [{"a": [2]}]}, '"a" is swept twice'),
        ({"grid": {"a": [1] * 1001, "b": [1] * 1000}}, "1001000 points are more than 1000000"),
        ({"grid": {"seed": [1]}}, '"seed" cannot be swept'),
        ({"random": {"points": 0}}, "random.points: 0"),
        ({"random": {"points": 1}}, "random.keys: says"),
        ({"random": {"points": 1, "keys": {"a": 5}}}, "random.keys: a has 5"),
        ({"random": {"points": 1, "keys": {"a": {"from": 2, "to": 1}}}}, "from 2 to 1 is no range"),
        ({"random": {"points": 1, "method": "sobol", "keys": {}}}, "random.method: 'sobol'"),
        ({"warmup": {"method": "mser-5"}}, "warmup.figure: is the path"),
        ({"warmup": {"method": "welch", "figure": "x"}}, "'welch' is not \"mser-5\""),
    ],
)
def test_a_mistake_is_named_with_what_is_allowed(keys: dict[str, Any], why: str) -> None:
    with pytest.raises(DesignError, match=re.escape(why)):
        design({key: value for key, value in {**BASE, **keys}.items() if value is not None})


def test_a_file_is_named_in_the_message(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    for text, why in [
        ("scenario = \na = 1\n", r"sweep\.toml: Invalid value \(at line 1"),
        ("a = 1\n", 'unknown key "a"'),
    ]:
        file.write_text(text, encoding="utf-8")
        with pytest.raises(DesignError, match=why):
            read(file)
    file.write_bytes(b"\xff")
    for path, why in [(file, "not UTF-8"), (tmp_path / "none.toml", "No such file"), (tmp_path, "Is a directory")]:
        with pytest.raises(DesignError, match=f"{re.escape(str(path))}: cannot be read: {why}"):
            read(path)


def test_the_example_sweeps_two_hundred_runs_and_more() -> None:
    plan = read(ROOT / "scenarios" / "sweep-small.toml")
    assert len(plan.points) * plan.reps.least >= 200
    assert plan.scenario == ROOT / "scenarios" / "lan.toml"
    assert plan.columns == ["policy", "port.bottleneck.admission", "port.bottleneck.buffer"]
