import io
import re
from typing import Any

import pytest

import pushout
from pushout import progress as module
from pushout.progress import Bar, Progress, _simulated, duration, shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)


def test_short_work_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, log = Clock(monkeypatch), io.StringIO()
    with Progress("runs", log) as progress:
        clock.now += 1.9
        progress(1, 4)
        progress(4, 4)
    assert log.getvalue() == ""


def test_on_a_narrow_terminal_a_line_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    clock, terminal = Clock(monkeypatch), Terminal()
    with Progress("runs", terminal) as progress:
        clock.now += 4
        progress(8, 40)
    assert terminal.getvalue() == "\rruns: 8 of 40, 2.0 " + "\r" + " " * 19 + "\r"


def test_long_work_shows_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, log = Clock(monkeypatch), io.StringIO()
    with Progress("runs", log) as progress:
        clock.now += 4
        progress(8, 40)
        clock.now += 1
        progress(9, 40)
        clock.now += 95
        progress(10, 40)
    assert log.getvalue() == "runs: 8 of 40, 2.0 per second, 16 s left\nruns: 10 of 40, 10.0 s each, 5 min 0 s left\n"


def test_a_log_has_more_lines_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, log = Clock(monkeypatch), io.StringIO()
    with Progress("runs", log) as progress:
        for second in range(1, 40):
            clock.now = 100.0 + second
            progress(0, 40)
    assert re.findall(r"(\d+) s so far", log.getvalue()) == ["2", "4", "8", "16", "26", "36"]


def test_the_first_of_many_do_not_foretell_the_time_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, log = Clock(monkeypatch), io.StringIO()
    with Progress("runs", log) as progress:
        clock.now += 3
        progress(1, 7000)
        clock.now += 10
        progress(260, 7000)
    assert log.getvalue() == "runs: 1 of 7000, 3 s so far\nruns: 260 of 7000, 20.0 per second, 5 min 37 s left\n"


def test_a_terminal_line_is_drawn_over_and_then_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, screen = Clock(monkeypatch), Terminal()
    with Progress("runs", screen) as progress:
        for _ in range(2):
            clock.now += 3
            progress(0, 2)
    first, second, blank, end = screen.getvalue().split("\r")[1:]
    assert (first, second) == ("runs: 0 of 2, 3 s so far", "runs: 0 of 2, 6 s so far")
    assert (blank, end) == (" " * len(second), "")


def test_a_time_is_shown_in_the_units_people_use() -> None:
    assert [duration(s) for s in (0.4, 59.4, 61, 3_661)] == ["0 s", "59 s", "1 min 1 s", "1 h 1 min"]


def test_one_run_shows_its_simulated_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, log = Clock(monkeypatch), io.StringIO()
    with Progress("", log) as progress:
        clock.now += 3
        progress(0, 40)
        clock.now += 3
        progress(12, 40)
    assert log.getvalue() == "simulated 0 of 40 s, 3 s so far\nsimulated 12 of 40 s, 2 s per second, 14 s left\n"


def test_one_run_that_takes_long_is_warned_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, log = Clock(monkeypatch), io.StringIO()
    with Progress("", log) as progress:
        for seconds in (3, 6, 12, 24):
            clock.now = 100.0 + seconds
            progress(seconds, 1e6)
    (warning,) = [line for line in log.getvalue().splitlines() if not line.startswith("simulated")]
    assert warning == "this run takes about 11 days more; Ctrl-C ends it, --set 'duration=…' shortens it"


def test_one_run_that_ends_soon_is_not_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, log = Clock(monkeypatch), io.StringIO()
    with Progress("", log) as progress:
        for seconds in (3, 6, 12, 24):
            clock.now = 100.0 + seconds
            progress(seconds, 60)
    assert "this run takes" not in log.getvalue()


def test_the_time_left_follows_from_finished_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, log = Clock(monkeypatch), io.StringIO()
    with Progress("runs", log) as progress:
        clock.now += 10
        progress(0.5, 4)
        clock.now += 20
        progress(1.5, 4)
    assert log.getvalue() == "runs: 0 of 4, 10 s so far\nruns: 1 of 4, 20.0 s each, 50 s left\n"


def test_a_guessed_total_foretells_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, log = Clock(monkeypatch), io.StringIO()
    with Progress("runs", log, about=True) as progress:
        clock.now += 4
        progress(40, 704)
        clock.now += 10
        progress(140, 500)
    assert log.getvalue() == "runs: 40 of about 704, 4 s so far\nruns: 140 of about 500, 10.0 per second, 36 s left\n"


def test_an_estimated_total_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, log = Clock(monkeypatch), io.StringIO()
    with Progress("runs", log, about=True) as progress:
        clock.now += 4
        progress(8, 40.4)
    assert log.getvalue() == "runs: 8 of about 40, 2.0 per second, 16 s left\n"


def test_a_fast_run_shows_its_rate_in_digits() -> None:
    assert _simulated(235.1, 400, 2.0) == "simulated 235.1 of 400 s, 118 s per second, 1 s left"


def test_a_notebook_shows_a_bar_that_ends_with_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    display = pytest.importorskip("IPython.display", reason="bars need IPython")
    said: list[str] = []

    class Handle:
        def update(self, shown: Any) -> None:
            said.append(shown.data)

    def fake(first: Any, *, display_id: bool) -> Handle:
        assert display_id
        said.append(first.data)
        return Handle()

    monkeypatch.setattr(display, "display", fake)
    monkeypatch.setattr(module, "in_notebook", lambda: True)
    monkeypatch.setattr(module, "PATIENCE_S", 0.0)
    with shown(None) as told:
        assert isinstance(told, Bar)
        told(12, 40)
        told(40, 40)
    assert said[0].startswith('<progress value="12" max="40"></progress> runs: 12 of 40, ')
    assert said[1:] == [""]


def test_short_work_shows_no_bar_and_own_progress_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "in_notebook", lambda: True)
    monkeypatch.setattr(Bar, "_show", lambda *_: pytest.fail("a bar was shown"))
    with shown(None) as told:
        assert told
        told(1, 4)
    calls: list[tuple[float, float]] = []
    result = pushout.run("lan", set={"duration": "20 ms"}, reps=2, progress=lambda *call: calls.append(call))
    assert result.document["seeds"] == [1, 2]
    assert calls[-1] == (2, 2)


def test_outside_a_notebook_no_function_shows_progress() -> None:
    assert not module.in_notebook()
    with shown(None) as told:
        assert told is None
