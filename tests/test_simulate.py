import json
import re
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import pushout
from conftest import ROOT, FakeCore
from pushout.simulate import AHEAD, UnderWay, run_all


def test_results_come_in_the_order_of_the_tasks() -> None:
    def task(index: int) -> int:
        time.sleep(0.02 * (3 - index))
        return index

    told: list[tuple[int, int]] = []
    results = run_all([lambda i=i: task(i) for i in range(4)], jobs=4, progress=lambda *state: told.append(state))
    assert results == [0, 1, 2, 3]
    assert told[-1] == (4, 4)


def test_the_first_failure_ends_the_rest() -> None:
    started, release = [], threading.Event()

    def fail() -> None:
        raise ValueError("broken")

    def wait(index: int) -> None:
        started.append(index)
        release.wait(5)

    with pytest.raises(ValueError, match="broken"):
        run_all([fail, *(lambda i=i: wait(i) for i in range(50))], jobs=1)
    release.set()
    assert len(started) < 50


def test_of_a_million_tasks_few_wait_at_a_time() -> None:
    made = 0

    def tasks() -> Iterator[Callable[[], int]]:
        nonlocal made
        for place in range(1_000_000):
            made = place + 1
            yield lambda place=place: place

    class EnoughError(Exception):
        """The number of runs is sufficient."""

    def progress(done: int, of: int) -> None:
        assert of == 1_000_000
        assert made <= done + 2 * AHEAD
        if done == 1000:
            raise EnoughError

    with pytest.raises(EnoughError):
        run_all(tasks(), total=1_000_000, jobs=2, progress=progress)


def test_replications_have_consecutive_seeds(core: FakeCore) -> None:
    result = pushout.run("name = 'lan'\n", reps=3, seed=41, set={"flows.transport.mss": 9140})
    assert sorted(core.runs) == [(("flows.transport.mss=9140",), seed) for seed in (41, 42, 43)]
    assert result.document["seeds"] == [41, 42, 43]
    assert result["ports.bottleneck.occupancy_mean"]["n"] == 3
    assert json.loads(result.json()) == result.document


def test_a_scenario_is_checked_once_however_often_it_runs(core: FakeCore) -> None:
    pushout.run({"name": "lan"}, reps=3)
    assert (len(core.checked), len(core.runs)) == (1, 3)


def test_without_a_seed_the_scenario_gives_the_first(core: FakeCore) -> None:
    assert pushout.run({"name": "lan"}, reps=2).document["seeds"] == [7, 8]
    assert pushout.run({"name": "lan"}).document["seed"] == 7


def test_what_cannot_be_run_is_refused(core: FakeCore) -> None:
    with pytest.raises(ValueError, match="reps must be from 1 to 1000000, not 0"):
        pushout.run({"name": "lan"}, reps=0)
    with pytest.raises(pushout.ScenarioError, match="seed must be at most"):
        pushout.run({"name": "lan"}, seed=2**64 - 1, reps=2)
    with pytest.raises(pushout.ScenarioError, match=r'<text>:1:1: .*did you mean "buffer"'):
        pushout.run("bufer = 1\n", reps=2)


@pytest.mark.parametrize(
    ("options", "kind", "why"),
    [
        ({"seed": -1}, ValueError, "seed must be an integer from 0 to 2^64 - 1, not -1"),
        ({"seed": "1"}, TypeError, "seed must be an integer, not '1'"),
        ({"reps": 2.0}, TypeError, "reps must be an integer, not 2.0"),
        ({"reps": 10**12}, ValueError, "reps must be from 1 to 1000000, not 1000000000000"),
        ({"jobs": 0}, ValueError, "jobs must be from 1 to 1024 threads, not 0"),
        ({"set": [5]}, TypeError, 'set must contain strings "key=value", not 5'),
        ({"set": None}, TypeError, 'set must be {"key": value} or ["key=value"], not None'),
        ({"engine": 3}, TypeError, "engine must be a string, not 3"),
        ({"audit": "yes"}, TypeError, "audit must be true or false, not 'yes'"),
    ],
)
def test_what_is_no_seed_number_or_override_is_refused(
    core: FakeCore, options: dict[str, Any], kind: type[Exception], why: str
) -> None:
    with pytest.raises(kind, match=re.escape(why)):
        pushout.run("name = 'x'\n", **options)
    with pytest.raises(TypeError, match="the scenario must be a path, a text or a mapping of its keys, not 5"):
        pushout.run(5)  # type: ignore[arg-type]


def test_a_run_is_a_table_and_so_are_its_flows_and_ports() -> None:
    sets = {"duration": "0.2 s", "measure.occupancy": ["bottleneck"], "sample": "20 ms"}
    result = pushout.run(ROOT / "scenarios" / "lan.toml", set=sets, seed=4, reps=3)
    assert result.to_arrow() is result.table
    assert result.table["seed"].to_pylist() == [4, 5, 6]
    assert statistics.fmean(result.table["goodput_ratio"].to_pylist()) == pytest.approx(
        result["summary.goodput_ratio"]["mean"]
    )
    flows, ports = result.flows.table, result.ports.table
    assert flows.num_rows == 3 * len(result.document["flows"])
    assert flows.column_names[:3] == ["seed", "name", "vc"]
    assert flows["goodput_bps"].to_pylist() == [
        flow["goodput_bps"] for one in result.replications for flow in one["flows"]
    ]
    lost = sum(sum(port["lost"].values()) for one in result.replications for port in one["ports"])
    reasons = [name for name in ports.column_names if name.startswith("lost.")]
    assert sum(sum(ports[name].to_pylist()) for name in reasons) == lost > 0
    curves = [curve for curve in ports["occupancy.values"].to_pylist() if curve is not None]
    assert [len(curve) for curve in curves] == [10] * 3
    assert pushout.run(ROOT / "scenarios" / "lan.toml", set={"duration": "1 ms"}).table.num_rows == 1


def test_a_run_is_drawn_with_its_flows_and_what_was_measured_over_time() -> None:
    sets = {"duration": "20 ms", "sample": "1 ms"}
    result = pushout.run(ROOT / "scenarios" / "lan.toml", set=sets)
    (axes,) = result.plot().axes
    assert (axes.get_ylabel(), len(axes.containers)) == ("goodput (kb/s)", 10)
    result = pushout.run(ROOT / "scenarios" / "lan.toml", set={**sets, "measure.occupancy": ["bottleneck"]}, reps=2)
    above, below = result.plot().axes
    assert [label.get_text() for label in above.get_xticklabels()][:2] == ["flow1", "flow2"]
    assert len(below.lines[0].get_xdata()) == 20
    result.replications[0]["flows"][0]["name"] = "the-first-of-many-flows"
    assert result.plot().axes[0].get_xticklabels()[0].get_text() == "the-fir…ny-flows"
    nothing = pushout.Result({"flows": [], "ports": []}, [])
    with pytest.raises(pushout.QuestionError, match="nothing to draw"):
        nothing.plot()


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_missing_library_is_reported_with_the_command_that_installs_it(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    result = pushout.run(ROOT / "scenarios" / "lan.toml", set={"duration": "1 ms"})
    with pytest.raises(ImportError, match=rf"needs {library}, which is not installed: pip install 'pushout\[tables\]'"):
        getattr(result, f"to_{library}")()


def test_what_can_be_raised_can_be_imported() -> None:
    assert issubclass(pushout.DesignError, pushout.QuestionError)
    with pytest.raises(pushout.QuestionError, match="no port has a limited buffer: choose a port with "):
        pushout.compare(ROOT / "scenarios" / "mux-poisson.toml", ["epd", "ppd"])
    with pytest.raises(pushout.QuestionError, match='unknown place "a--to"'):
        pushout.compare(ROOT / "scenarios" / "lan.toml", ["epd", "ppd"], port="a--to")
    with pytest.raises(pushout.FigureError):
        pushout.run(ROOT / "scenarios" / "lan.toml", set={"duration": "1 ms"})["summary.nothing"]


def test_a_single_run_shows_its_simulated_seconds_and_many_show_how_many_are_done() -> None:
    seen: list[tuple[float, float]] = []
    pushout.run("lan", set={"duration": "0.5 s"}, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (0.5, 0.5)
    seen.clear()
    pushout.run("lan", set={"duration": "0.1 s"}, reps=3, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (3, 3)
    assert all(0 <= done <= total == 3 for done, total in seen)


def test_runs_under_way_count_by_the_part_that_is_done() -> None:
    class Half:
        now_s, duration_s = 1.0, 2.0

    under_way, shares = UnderWay(), list[float]()
    under_way._runs = {Half(), Half()}  # type: ignore[arg-type]
    assert under_way.share() == 1.0
    telling = under_way.telling(lambda done, total: shares.append(done / total), 4)
    assert telling is not None
    telling(1, 4)
    telling(4, 4)
    assert shares == [0.5, 1.0], "never more than there are"
