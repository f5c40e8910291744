"""Standard streams that are closed or whose reader leaves, and signals at any moment: every process ends."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PUSHOUT = [sys.executable, "-m", "pushout"]
BEGUN = b"."
MARKED = [sys.executable, "-c", f"import os; os.write(1, {BEGUN!r}); from pushout.__main__ import main; main()"]
"""Pushout, which first writes that the interpreter is there: before, it answers signals itself."""

LASTING = ["--set", "duration=100000 s"]
LONG = ["run", "lan", *LASTING]
SHORT = ["--set", "duration=10 ms"]
GOAL = ["--goal", "goodput_ratio>=0", "--over", "port.bottleneck.buffer"]
VERBS = [
    ["run", "lan", *SHORT],
    ["explain", "--check", "lan"],
    ["explain", "lan"],
    ["list", "--schema"],
    ["list", "schemes"],
    ["list", "scenarios"],
    ["init", "new"],
    ["compare", "lan", "--policies", "epd,ppd", "--reps", "2", *SHORT],
    ["size", "lan", *GOAL, "--least", "2", *SHORT],
    ["plot", "lan", *SHORT],
    ["sweep", "w.toml"],
    ["explain", "--check", "p.py"],
    ["bench", "--workloads", "floor", "--reps", "1"],
]
POLICY = """from pushout import policy

@policy.admission
def mine(x):
    return x.total >= x.capacity // 2
"""


def folder(path: Path) -> Path:
    """A folder with what the verbs read."""
    (path / "w.toml").write_text('scenario = "lan"\nset = ["duration=10 ms"]\n', encoding="utf-8")
    (path / "p.py").write_text(POLICY, encoding="utf-8")
    return path


def closed(verb: list[str], redirection: str, where: Path) -> subprocess.CompletedProcess[str]:
    """Run a verb with a stream closed."""
    shell = ["sh", "-c", f'"$@" {redirection}', "sh", *PUSHOUT, *verb]
    return subprocess.run(shell, cwd=where, capture_output=True, text=True, timeout=60)


REDIRECTIONS = {"in": "<&-", "out": ">&-", "err": "2>&-", "out-err": ">&- 2>&-", "all": "<&- >&- 2>&-"}
"""What a shell writes to close streams, by their names."""


@pytest.mark.parametrize("streams", REDIRECTIONS)
@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_a_verb_ends_whichever_stream_is_closed(verb: list[str], streams: str, tmp_path: Path) -> None:
    done = closed(verb, REDIRECTIONS[streams], folder(tmp_path))
    lost = "--schema" in verb and streams in ("out", "out-err", "all")
    assert done.returncode == int(lost), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_a_document_for_a_closed_output_is_an_error(verb: list[str], tmp_path: Path) -> None:
    begin = time.monotonic()
    done = closed([*verb, "--json"], ">&-", folder(tmp_path))
    assert done.returncode == 1
    assert "the standard output: is closed, so the JSON document would be lost" in done.stderr
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize("verb", [LONG, [*LONG, "--reps", "3"], ["plot", *LONG[1:]]], ids=["run", "reps", "plot"])
@pytest.mark.parametrize("sent", [None, signal.SIGINT, signal.SIGTERM], ids=str)
def test_a_process_whose_reader_leaves_ends_within_a_second(
    verb: list[str], sent: signal.Signals | None, tmp_path: Path
) -> None:
    read, write = os.pipe()
    with subprocess.Popen([*PUSHOUT, *verb], cwd=tmp_path, stdout=write, stderr=write) as process:
        os.close(write)
        if sent is None:
            assert os.read(read, 100)  # the first line of progress
            os.close(read)
            process.wait(timeout=20)  # it writes again after as long as it has taken so far
            assert process.returncode == 1
            return
        time.sleep(1)
        os.close(read)
        process.send_signal(sent)
        process.wait(timeout=3)
        assert process.returncode == (130 if sent == signal.SIGINT else 143)


def stopped(verb: list[str], where: Path, sent: signal.Signals, after_s: float) -> tuple[int, str]:
    """Send a signal to a verb so long after it began; the exit code and the messages."""
    with subprocess.Popen([*MARKED, *verb], cwd=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.read(len(BEGUN)) == BEGUN
        time.sleep(after_s)
        process.send_signal(sent)
        _, err = process.communicate(timeout=5)
    return process.returncode, err.decode()


def is_traceback(err: str) -> bool:
    """Return whether Pushout ended in a traceback; before `__main__.py` runs the interpreter itself answers signals."""
    return "Traceback" in err and "__main__.py" in err


MOMENTS = int(os.environ.get("PUSHOUT_KILLS", "8"))


@pytest.mark.timeout(0)
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_at_any_moment_ends_a_run_without_a_traceback(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    moments = random.Random(int(sent))  # noqa: S311
    for _ in range(MOMENTS):
        ended, err = stopped(LONG, tmp_path, sent, moments.uniform(0, 1))
        assert not is_traceback(err), err
        assert ended in (code, -sent), err


ENDLESS = [
    [*LONG, "--trace", "pcapng", "--out", "out"],
    ["compare", "lan", "--policies", "epd,ppd", *LASTING, "--out", "out"],
    ["size", "lan", *GOAL, *LASTING, "--out", "out"],
    ["sweep", "long.toml", "--out", "out"],
    ["plot", "lan", *LASTING],
    ["bench", "--workloads", "W4-100k", "--reps", "50"],
    ["reproduce", "106", "--out", "report"],
]
"""Commands that take minutes."""

BRIEF = [
    ["explain", "lan"],
    ["explain", "--check", "lan"],
    ["explain", "--check", "p.py"],
    ["lab", "lan", "--out", "lab.html"],
    ["init", "new"],
]
"""Commands that may end before the signal comes."""


@pytest.mark.timeout(0)
@pytest.mark.parametrize("verb", [*ENDLESS, *BRIEF], ids=lambda verb: verb[0])
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_at_any_moment_ends_every_verb(
    sent: signal.Signals, code: int, verb: list[str], tmp_path: Path
) -> None:
    moments = random.Random(f"{verb[0]} {code}")  # noqa: S311
    (tmp_path / "long.toml").write_text('scenario = "lan"\nset = ["duration=100000 s"]\n', encoding="utf-8")
    for _ in range(max(2, MOMENTS // 4)):
        moment = moments.uniform(0, 3 if verb in ENDLESS else 0.6)
        ended, err = stopped(verb, folder(tmp_path), sent, moment)
        assert not is_traceback(err), err
        assert ended in (code, -sent) or (verb in BRIEF and ended in (0, 1)), err


def test_an_input_that_is_closed_is_named(tmp_path: Path) -> None:
    done = closed(["run", "-"], "<&-", tmp_path)
    assert (done.returncode, done.stderr) == (3, "-: the standard input is closed, so it holds no scenario\n")


def test_a_result_that_is_nested_too_deep_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text('{"a":' * 100_000, encoding="utf-8")
    done = subprocess.run([*PUSHOUT, "plot", "deep.json"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert json.dumps("deep.json")[1:-1] in done.stderr
