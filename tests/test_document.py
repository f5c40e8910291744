import pytest

import pushout
from conftest import ROOT, document
from pushout import _core
from pushout.document import REASONS, figure, merge
from pushout.errors import FigureError, ScenarioError


def test_a_figure_is_found_by_its_path() -> None:
    result = document(2)
    assert figure(result, "summary.goodput_ratio") == pytest.approx(0.9802)
    assert figure(result, "ports.bottleneck.lost.overflow") == 88
    assert figure(result, "flows.*.vc") == [1, 1]


def test_a_figure_of_the_summary_may_be_named_without_it() -> None:
    result = pushout.run(ROOT / "scenarios/lan.toml", set={"duration": "1 ms", "flows.class": "x"})
    for name in ("goodput_ratio", "classes.x.goodput_bps"):
        assert result[name] == result[f"summary.{name}"]
    assert "classes.x.flows" in result
    with pytest.raises(FigureError, match='unknown entry "clases"; did you mean "classes"'):
        result["clases.x.goodput_bps"]
    with pytest.raises(FigureError, match='unknown entry "port"; did you mean "ports"'):
        result["port.bottleneck.units_in"]


def test_a_run_takes_the_names_of_questions() -> None:
    run = pushout.run("tomahawk", set={"duration": "1 ms"})
    drops = [run[f"memories.chip/1.{which}_drop"] for which in ("lossy", "lossless")]
    assert drops == [sum(queue["dropped"] for queue in run.document["memories"][0]["queues"]), 0]
    assert run["memories.chip/1.lost"] == drops[0]
    assert run["goodput"] == run["goodput_bps"]
    assert run["ports.access5.loss"] is None or run["ports.access5.loss"] >= 0
    both = pushout.run("lan", set={"duration": "1 s", "measure.delivery": True}, reps=2)
    assert both["loss"]["n"] == 2
    assert both["delay_p99"] == both["summary.delivery_time_p99_s"]
    with pytest.raises(FigureError, match=r"is there only with `measure.delivery` in the"):
        pushout.run("lan", set={"duration": "1 ms"})["delay_p99"]


def test_a_name_with_a_point_has_quotes() -> None:
    ports = {"ports": [{"name": "access1.back", "units_in": 5}]}
    assert figure(ports, 'ports."access1.back".units_in') == figure(ports, "ports.'access1.back'.units_in") == 5
    assert figure(ports, "ports.*.units_in") == [5]


def test_a_wrong_path_names_what_there_is() -> None:
    with pytest.raises(FigureError, match=r'unknown entry "goodput_ration"; did you mean "goodput_ratio"'):
        figure(document(), "summary.goodput_ration")
    run = pushout.run(ROOT / "scenarios/lan.toml", set={"duration": "1 ms"})
    with pytest.raises(FigureError, match=r'"delivery_time_p99_s" is there only with `measure.delivery` in the'):
        figure(run.document, "summary.delivery_time_p99_s")
    with pytest.raises(FigureError, match="allowed: none"):
        figure(document(), "scenario.x")
    with pytest.raises(TypeError, match=r'a figure must be a path such as "summary.goodput_ratio", not 3'):
        figure(document(), 3)  # type: ignore[arg-type]


def test_a_reason_for_which_nothing_was_lost_counts_zero() -> None:
    assert figure(document(), "ports.bottleneck.lost.front") == 0
    assert figure(document(), "ports.*.lost.front") == [0]
    nothing = {"mean": 0.0, "ci95": [0.0, 0.0], "n": 2}
    assert figure(merge([document(1), document(2)]), "ports.bottleneck.lost.front") == nothing
    assert figure(document(2), "ports.bottleneck.lost.*") == [88]
    with pytest.raises(FigureError, match=r'unknown entry "overflown"; did you mean "overflow"'):
        figure(document(), "ports.bottleneck.lost.overflown")
    with pytest.raises(FigureError, match="allowed: none"):
        figure(document(), "ports.bottleneck.lost.overflow.x")


def test_marks_that_are_missing_count_zero() -> None:
    assert figure(document(), "ports.bottleneck.marked.early") == 0
    with pytest.raises(FigureError, match=r'unknown entry "marked"'):
        figure(document(), "summary.marked.early")
    marked = document(2)
    marked["ports"][0]["marked"] = {"early": 3}
    merged = merge([document(1), marked])
    assert merged["ports"][0]["marked"]["early"]["mean"] == 1.5
    assert figure(merged, "ports.bottleneck.marked.early")["mean"] == 1.5


def test_the_reasons_are_those_of_the_simulator() -> None:
    text = (ROOT / "scenarios/lan.toml").read_text(encoding="utf-8")
    with pytest.raises(ScenarioError) as refused:
        _core.Points(text, "lan.toml", [[]], None, 1).figures(["ports.bottleneck.lost.rain"], 1)
    assert f"(allowed: {', '.join(REASONS)})" in str(refused.value)


def test_one_replication_stays_as_it_is() -> None:
    assert merge([document()]) == document()


def test_every_figure_of_several_replications_becomes_a_mean() -> None:
    merged = merge([document(seed) for seed in (1, 2, 3)])
    assert merged["seed"] == 1
    assert merged["seeds"] == [1, 2, 3]
    assert merged["duration_s"] == 40.0
    assert merged["engine"]["name"] == "fast"
    assert merged["engine"]["wall_s"] == {"mean": 0.25, "ci95": [0.25, 0.25], "n": 3}
    assert merged["flows"][1]["name"] == "s2"
    assert merged["flows"][1]["vc"] == 1
    assert merged["flows"][1]["goodput_bps"]["mean"] == 12.5e6 + 2
    assert merged["ports"][0]["occupancy_mean"]["n"] == 3


def test_a_loss_that_did_not_occur_counts_zero() -> None:
    merged = merge([document(1), document(2), document(3)])
    assert merged["ports"][0]["lost"]["early"]["mean"] == pytest.approx(4 / 3)


def test_a_figure_that_nothing_was_measured_for_does_not_count() -> None:
    silent, heard = document(1), document(2)
    silent["flows"][0]["delivery_time_mean_s"] = None
    merged = merge([silent, heard])
    assert merged["flows"][0]["delivery_time_mean_s"] == {"mean": 0.041, "ci95": None, "n": 1}
    heard["flows"][0]["delivery_time_mean_s"] = None
    assert merge([silent, heard])["flows"][0]["delivery_time_mean_s"] is None


DRAWN = """
name = "drawn"
duration = "20 ms"
adaptation = { kind = "packet" }
measure = { transfers = true }
topology = { template = "leaf-spine", leaves = 2, spines = 2, hosts = 2, host = LINK, fabric = LINK }
[flows]
source = { kind = "arrivals", sizes = "hadoop", load = "30 %", to = "any" }
transport = { kind = "tcp", profile = "datacenter" }
""".replace("LINK", '{ rate = "1 Gb/s", delay = "1 us" }')


def test_transfers_of_several_replications_stand_one_after_the_other() -> None:
    one, other = (pushout.run(DRAWN, seed=seed).document for seed in (1, 2))
    both = pushout.run(DRAWN, seed=1, reps=2)
    assert one["transfers"] != other["transfers"], "another seed draws other transfers"
    assert both.document["transfers"] == [*one["transfers"], *other["transfers"]]
    counts = [document["summary"]["fct"]["slowdown"]["short"]["count"] for document in (one, other)]
    assert both["fct.slowdown.short.count"]["mean"] == sum(counts) / 2
    assert one["flows"] == []


def test_a_sweep_measures_every_seed_with_its_own_transfers() -> None:
    plan = {"scenario": DRAWN, "reps": 2, "grid": {"port.default.buffer": ["30 packets"]}}
    columns = pushout.sweep(plan).columns
    runs = [pushout.run(DRAWN, seed=seed, set={"port.default.buffer": "30 packets"}) for seed in (1, 2)]
    assert list(columns["fct.count"]) == [run["fct.count"] for run in runs]


def test_a_failure_of_the_audit_in_a_later_replication_stays() -> None:
    whole, broken = document(1), document(2)
    whole["audit"] = {"checks": 5, "failures": []}
    broken["audit"] = {"checks": 6, "failures": ["units of bottleneck"]}
    assert merge([whole, broken])["audit"] == {"checks": 11, "failures": ["units of bottleneck"]}
