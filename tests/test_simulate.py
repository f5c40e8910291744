import json
import threading
import time

import pytest

import pushout
from conftest import FakeCore
from pushout.simulate import run_all


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


def test_replications_have_consecutive_seeds(core: FakeCore) -> None:
    result = pushout.run("name = 'lan'\n", reps=3, seed=41, set={"flows.transport.mss": 9140})
    assert sorted(core.runs) == [(("flows.transport.mss=9140",), seed) for seed in (41, 42, 43)]
    assert result.document["seeds"] == [41, 42, 43]
    assert result["ports.bottleneck.occupancy_mean"]["n"] == 3
    assert json.loads(result.json()) == result.document


def test_without_a_seed_the_scenario_gives_the_first(core: FakeCore) -> None:
    assert pushout.run({"name": "lan"}, reps=2).document["seeds"] == [7, 8]
    assert pushout.run({"name": "lan"}).document["seed"] == 7


def test_what_cannot_be_run_is_refused(core: FakeCore) -> None:
    with pytest.raises(ValueError, match="reps is 0"):
        pushout.run({"name": "lan"}, reps=0)
    with pytest.raises(pushout.ScenarioError, match="below 2"):
        pushout.run({"name": "lan"}, seed=2**64 - 1, reps=2)
    with pytest.raises(pushout.ScenarioError, match=r'<text>:1:1: .*did you mean "buffer"'):
        pushout.run("bufer = 1\n", reps=2)
