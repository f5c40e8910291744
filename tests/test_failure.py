"""A mistake of the simulator is one message for people, whatever command it happens in, and loses nothing."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import pushout
from conftest import ROOT
from pushout import _core
from pushout.study.expression import ExpressionError
from pushout.study.model import StudyError

LAN = str(ROOT / "scenarios" / "lan.toml")

PANIC = "_core.panic('lan.toml', 'a queue is shorter than nothing')"


def run(script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, since Rust writes to the standard error by itself."""
    script = f"from pushout import _core\n{script}\nfrom pushout.cli import main\nmain()"
    clean = {name: value for name, value in os.environ.items() if name != "RUST_BACKTRACE"}
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**clean, **environment},
    )


RUN_FAILS = f"from pushout import simulate\nsimulate.Job.run = lambda *_, **__: {PANIC}"


def test_a_panic_is_one_message_with_what_and_where_and_its_own_exit_code() -> None:
    done = run(RUN_FAILS, "run", LAN)
    assert done.returncode == 70
    assert done.stdout == ""
    what, report = done.stderr.splitlines()
    place = "(crates/python/src/lib.rs:"
    assert what.startswith(f"internal error in Pushout {pushout.__version__}: a queue is shorter than nothing {place}")
    assert report.endswith("Please report it together with the scenario: lan.toml")


def test_a_requested_backtrace_is_printed() -> None:
    done = run(RUN_FAILS, "run", LAN, RUST_BACKTRACE="1")
    assert done.returncode == 70
    assert "stack backtrace:" in done.stderr


def test_a_sweep_keeps_what_was_finished_before_a_panic(tmp_path: Path) -> None:
    fails = (
        "from pushout.question import executor\nwait = executor.Local.wait\nhad, failed = [], []\n"
        "def waited(self, timeout_s):\n    if had and not failed:\n        failed.append(1)\n"
        f"        {PANIC}\n    done = wait(self, timeout_s)\n    had.extend(done)\n    return done\n"
        "executor.Local.wait = waited"
    )
    small = ROOT / "scenarios" / "sweep-small.toml"
    text = small.read_text(encoding="utf-8").replace('"6 s"', '"1.5 s"')
    plan = tmp_path / "plan.toml"
    plan.write_text(text.replace('"lan.toml"', f"'{small.parent / 'lan.toml'}'"), encoding="utf-8")
    sweep = str(plan)
    done = run(fails, "sweep", sweep, "--out", str(tmp_path))
    assert done.returncode == 70
    told = [line for line in done.stderr.splitlines() if not line.startswith("runs: ")]
    assert told[-1] == f"Nothing is lost: finished runs are saved in {tmp_path}/cache/runs.sqlite"
    assert len(told) == 3
    assert run("", "sweep", sweep, "--out", str(tmp_path)).returncode == 0
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert 0 < manifest["computed"] < manifest["runs"] == 240


def test_an_internal_error_is_no_scenario_error_and_travels_between_processes() -> None:
    with pytest.raises(pushout.InternalError) as caught:
        _core.panic("it's.toml", "x")
    assert not isinstance(caught.value, pushout.ScenarioError)
    assert "'it'\\''s.toml'" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert (type(again), str(again)) == (pushout.InternalError, str(caught.value))


def test_every_exception_is_a_pushout_error_and_what_python_calls_such_a_mistake() -> None:
    kinds = {
        pushout.ScenarioError: ValueError,
        pushout.ScenarioNotFoundError: FileNotFoundError,
        pushout.QuestionError: ValueError,
        pushout.DesignError: pushout.QuestionError,
        pushout.StatesError: pushout.QuestionError,
        pushout.FigureError: KeyError,
        pushout.InternalError: RuntimeError,
        pushout.MissingExtraError: ImportError,
        pushout.PolicyError: pushout.ScenarioError,
        StudyError: ValueError,
        ExpressionError: ValueError,
    }
    for kind, base in kinds.items():
        assert issubclass(kind, pushout.PushoutError)
        assert issubclass(kind, base)
    exported = {name for name in pushout.__all__ if name.endswith("Error")}
    assert exported <= {"PushoutError", *(kind.__name__ for kind in kinds)}
    with pytest.raises(pushout.PushoutError, match="no such file"):
        pushout.run("nowhere.toml")


def test_a_failed_run_is_reported_after_those_that_were_done() -> None:
    text = Path(LAN).read_text(encoding="utf-8")
    points = _core.Points(text, LAN, [["duration=1 ms"]], None, 1)
    pool = _core.Pool(1)
    pool.submit(points, [(0, 0, 1), (1, 0, 2)], ["engine.events"])
    pool.submit(points, [(2, 0, 3)], ["engine.nothing"])
    pool.submit(points, [(3, 0, 4)], ["engine.events"])
    done: list[int] = []
    with pytest.raises(pushout.ScenarioError, match=r"engine\.nothing"):
        while True:
            done += [tag for tag, _, _ in pool.wait(1.0, 0.2)]
    assert {0, 1} <= set(done)
    with pytest.raises(IndexError, match="no point 5"):
        pool.submit(points, [(0, 5, 1)], [])
    pool.close()


def test_a_refusal_says_which_part_of_the_question_is_wrong() -> None:
    text = Path(LAN).read_text(encoding="utf-8")
    points = [["duration=1 ms"], ["duration=1 ms", "durration=1 s"]]
    with pytest.raises(pushout.ScenarioError) as misspelt:
        _core.Points(text, LAN, points, None, 1)
    assert (misspelt.value.point, misspelt.value.set) == (1, 1)
    with pytest.raises(pushout.ScenarioError) as unknown:
        _core.Points(text, LAN, points[:1], None, 1).figures(["summary.goodput_ratio", "ports.x.units_in"], 1)
    assert unknown.value.figure == "ports.x.units_in"
    with pytest.raises(pushout.ScenarioError) as slow:
        pushout.explain(LAN, engine="slow")
    assert (slow.value.engine, slow.value.figure) == (True, None)
    error = pushout.ScenarioError("raised in Python")
    assert (error.point, error.set, error.figure, error.engine) == (None, None, None, False)
