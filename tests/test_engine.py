"""The package together with the real simulator."""

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import pushout
from conftest import ROOT, command
from pushout.study.charts import Chart
from pushout.study.expression import Expression
from pushout.study.model import Figures, available, load

LAN = ROOT / "scenarios" / "lan.toml"
SHORT = {"duration": "0.5 s"}


def without_wall_time(document: dict[str, object]) -> dict[str, object]:
    engine = document["engine"]
    assert isinstance(engine, dict)
    assert engine["wall_s"] > 0
    return {**document, "engine": {**engine, "wall_s": None}}


def test_a_run_has_the_documented_keys() -> None:
    document = pushout.run(LAN, set=SHORT, audit=True).document
    assert set(document) >= {
        "scenario",
        "seed",
        "duration_s",
        "warmup_s",
        "engine",
        "flows",
        "ports",
        "summary",
    }
    assert set(document["engine"]) == {"name", "version", "cell_hops", "packet_hops", "events", "draws", "wall_s"}
    assert len(document["flows"]) == 10
    assert set(document["flows"][0]) >= {
        "name",
        "vc",
        "goodput_bps",
        "segments_sent",
        "segments_retransmitted",
        "timeouts",
        "fast_retransmits",
        "delivery_time_mean_s",
        "delivery_time_sd_s",
    }
    assert {"units_in", "units_out", "units_queued", "lost", "frames_in", "frames_whole_out"} < set(
        document["ports"][0]
    )
    assert set(document["summary"]) >= {
        "goodput_bps",
        "goodput_ratio",
        "fairness_mean_deviation",
        "fairness_jain",
        "difference",
        "retransmission_ratio",
    }


def test_replications_are_the_same_on_one_thread_and_on_many() -> None:
    one, many = (pushout.run(LAN, set=SHORT, reps=4, jobs=jobs).replications for jobs in (1, 4))
    assert [without_wall_time(document) for document in one] == [without_wall_time(document) for document in many]
    assert [document["seed"] for document in one] == [1, 2, 3, 4]


def test_the_explained_scenario_is_the_same_scenario() -> None:
    full = pushout.explain(LAN, set=SHORT)
    assert pushout.explain(full) == full
    first, second = pushout.run(LAN, set=SHORT).document, pushout.run(full).document
    assert without_wall_time(first) == without_wall_time(second)


def test_a_wrong_key_is_named_with_its_place(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(LAN.read_text(encoding="utf-8").replace("buffer =", "bufer ="), encoding="utf-8")
    line = 1 + LAN.read_text(encoding="utf-8").split("buffer =")[0].count("\n")
    with pytest.raises(pushout.ScenarioError, match=rf'wrong\.toml:{line}:1: .*did you mean "buffer"'):
        pushout.validate(wrong)


def test_every_scenario_file_is_valid() -> None:
    files = sorted((ROOT / "scenarios").glob("*.toml"))
    assert any(file.name.startswith("sweep") for file in files)
    command("explain", "--check", *map(str, files))


DURATIONS = {
    "000-ubr-discard": "1 s",
    "002-weighted-fair-epd": "6 s",
    "104-control-laws": "1 s",
    "106-leaf-spine": "0.01 s",
    "110-old-schemes-new-questions": "0.02 s",
}
"""Long enough for the windows of a study, and short enough for a fabric; others run for 0.2 s."""


@pytest.mark.parametrize("name", available())
def test_every_case_of_every_study_is_valid_and_has_its_figures(name: str) -> None:
    study = load(name)
    lines = [line for plot in study.plots if isinstance(plot, Chart) for line in plot.lines]
    expressions = [number.measure for number in study.numbers]
    expressions += [claim.check for claim in (*study.claims, *study.remarks)]
    expressions += [measure for line in lines for measure in line.measures]
    looked_at = {use for expression in expressions for use in expression.uses}
    for case in study.cases.values():
        looked_for = paths(study.figures, {figure for figure, of in looked_at if of == case.id})
        if case.is_worst:
            answer = case.job().run(1)
            assert all(is_figure(answer[figure]) for figure in looked_for), case.id
            continue
        result = pushout.run(
            case.scenario, set=(*case.sets, f'duration="{DURATIONS.get(name, "0.2 s")}"', 'warmup="0 s"')
        )
        for figure in looked_for:
            assert is_figure(result[figure]), f"{case.id}: {figure}"


def is_figure(value: object) -> bool:
    """A figure is a finite number or a list of figures; none where a short run measured nothing."""
    if isinstance(value, list):
        return all(map(is_figure, value))
    return value is None or (isinstance(value, int | float) and math.isfinite(value))


def paths(figures: Figures, names: Iterable[str]) -> Iterator[str]:
    """The paths in the JSON of a run that these figures and quantities look at."""
    for name in names:
        what = figures[name]
        if isinstance(what, Expression):
            yield from paths(figures, [figure for figure, _ in what.uses])
        else:
            yield what


def test_the_catalogue_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    entries = pushout.policies()
    assert {"tail-drop", "epd", "fifo", "reno"} <= {entry["name"] for entry in entries}
    for entry in entries:
        assert {"name", "kind", "source", "experimental", "params", "header"} <= set(entry)
        command("list", "schemes", entry["name"])
        assert capsys.readouterr().out.strip()
    command("list", "schemes")
    assert "epd" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["lan.toml", "gpj.toml", "wfepd-example.toml", "multi-hop.toml", "two-routers.toml"])
@pytest.mark.parametrize("reps", [1, 2])
def test_results_are_as_their_schema_says(name: str, reps: int) -> None:
    validate = pytest.importorskip("jsonschema").validate
    schema = json.loads((ROOT / "schema" / "result.schema.json").read_text(encoding="utf-8"))
    sets = {"duration": "30 ms", "warmup": "0 s", "sample": "1 ms"}
    result = pushout.run(ROOT / "scenarios" / name, set=sets, reps=reps, audit=True)
    validate(json.loads(result.json()), schema)


def test_the_committed_schema_is_what_the_program_prints(capsys: pytest.CaptureFixture[str]) -> None:
    command("list", "--schema", "--json")
    assert json.loads(capsys.readouterr().out) == pushout.schema()
    assert pushout.schema()["type"] == "object"
