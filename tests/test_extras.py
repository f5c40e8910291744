"""Functions that work without the extras of the package, and messages where one is needed."""

import csv
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import pushout
from conftest import ROOT, command
from pushout.answer.columns import Columns
from pushout.extras import EXTRAS

LAN = str(ROOT / "scenarios" / "lan.toml")
SHORT = {"duration": "50 ms", "warmup": "0 s"}
OCCUPANCY = {"sample": "10 ms", "measure.occupancy": ["bottleneck"]}
PLAN: dict[str, Any] = {
    "scenario": LAN,
    "reps": 2,
    "set": ["duration=50 ms", "warmup=0 s", "sample=10 ms", "measure.occupancy=['bottleneck']"],
    "figures": ["ports.bottleneck.occupancy.values", "flows.flow1.transfer_time_mean_s"],
    "grid": {"port.bottleneck.buffer": ["200 cells", "400 cells"]},
}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment with the base dependencies alone."""
    for library in EXTRAS:
        for module in [name for name in sys.modules if name.partition(".")[0] == library]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setitem(sys.modules, library, None)


def test_every_library_is_in_the_extra_that_messages_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for library, extra in EXTRAS.items():
        assert any(re.match(rf"{library}\b", each) for each in extras[extra])
        assert not any(re.match(rf"{library}\b", each) for each in project["dependencies"])


@pytest.mark.usefixtures("bare")
def test_without_extras_one_can_run_compare_size_and_draw() -> None:
    pushout.run(LAN, set={**SHORT, **OCCUPANCY}, reps=2).plot()
    pushout.compare(LAN, ["tail-drop", "epd"], set=SHORT, reps=2).plot()
    sized = pushout.size(LAN, "goodput_ratio>=0.1", "port.bottleneck.buffer", set=SHORT, least=2, most=2)
    sized.plot()
    assert pushout.plot(LAN, set=SHORT).axes
    assert "<svg" in sized.html()
    assert sized.document["answers"]


@pytest.mark.usefixtures("bare")
def test_without_arrow_the_rows_of_a_sweep_are_csv(tmp_path: Path) -> None:
    swept = pushout.sweep(PLAN, out=tmp_path)
    assert swept.manifest["rows"] == str(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(swept.columns)
    assert [row["port.bottleneck.buffer"] for row in rows] == ["200 cells"] * 2 + ["400 cells"] * 2
    assert [float(row["goodput_ratio"]) for row in rows] == swept.columns.plain("goodput_ratio")
    curves = swept.columns.plain("ports.bottleneck.occupancy.values")
    assert [json.loads(row["ports.bottleneck.occupancy.values"]) for row in rows] == curves
    absent = {row["flows.flow1.transfer_time_mean_s"] for row in rows}
    assert absent == {""}, "no file is complete after 50 ms"
    again = pushout.sweep(PLAN, out=tmp_path)
    assert again.manifest["computed"] == 0, "the runs are kept"


def test_a_folder_has_the_rows_in_one_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)
        text = pushout.sweep(PLAN, out=tmp_path)
    assert (tmp_path / "rows.csv").exists()
    arrow = pushout.sweep(PLAN, out=tmp_path)
    assert not (tmp_path / "rows.csv").exists()
    assert pq.read_table(tmp_path / "rows.parquet").equals(arrow.table)
    assert {name: text.columns.plain(name) for name in text.columns} == {
        name: arrow.table[name].to_pylist() for name in arrow.table.column_names
    }


NEEDING: dict[str, list[str]] = {
    "a cluster needs ray": ["compare", LAN, "--policies", "epd,ppd", "--cluster", "local"],
    "this search needs optuna": [
        *["size", LAN, "--set", "duration=50 ms", "--set", "warmup=0 s", "--goal", "max goodput_ratio"],
        *["--over", "port.bottleneck.buffer", "--least", "2", "--most", "2"],
    ],
    "--trace parquet needs pyarrow": ["run", LAN, "--set", "duration=50 ms", "--trace", "parquet"],
}


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("message", NEEDING)
def test_a_command_that_needs_an_extra_names_it(
    message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(*NEEDING[message], "--out", str(tmp_path), code=1)
    extra = EXTRAS[message.split()[-1]]
    assert f"{message}, which is not installed: pip install 'pushout[{extra}]'\n" in capsys.readouterr().err


@pytest.mark.usefixtures("bare")
def test_an_object_store_needs_an_extra(capsys: pytest.CaptureFixture[str]) -> None:
    command("compare", LAN, "--policies", "epd,ppd", "--out", "s3://bucket/folder", code=1)
    assert capsys.readouterr().err.startswith("writing to an object store needs pyarrow, which is not installed")


def test_a_column_has_the_type_of_its_values() -> None:
    values: dict[str, list[Any]] = {
        "a": [1, None],
        "b": [1, 2.5],
        "c": [None, [1, None]],
        "d": [True, False],
        "e": ["x", None],
    }
    columns = Columns.of({**values, "f": [None, None]})
    assert dict(columns.kinds) == {
        "a": "int64",
        "b": "float64",
        "c": "list",
        "d": "bool",
        "e": "string",
        "f": "float64",
    }
    assert {name: columns.plain(name) for name in values} == values
    assert list(columns.records()) == [
        ("1", "1.0", "", "true", "x", ""),
        ("", "2.5", "[1.0, null]", "false", "", ""),
    ]
    assert columns.arrow()["c"].to_pylist() == [None, [1.0, None]]
