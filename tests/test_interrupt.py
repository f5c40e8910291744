"""An interrupt at any moment of a long sweep says where runs are kept; a kill leaves nothing that the next sweep keeps.

`make test` tries a few moments, `make hostile` a hundred of each (PUSHOUT_KILLS).
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from pushout.cache import DRAFT
from test_sweep import lasting, sweeping, wait_for_runs

KILLS = int(os.environ.get("PUSHOUT_KILLS", "2"))


def drafts(folder: Path) -> list[str]:
    """Drafts in a folder and below."""
    return [file.name for file in folder.rglob("*") if DRAFT.fullmatch(file.name)]


@pytest.mark.timeout(0)
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_a_sweep_that_is_stopped_in_the_middle(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    moments = random.Random(int(sent))  # noqa: S311
    plan = lasting("40 s", tmp_path)
    for number in range(KILLS):
        out = tmp_path / str(number)
        out.mkdir()
        (out / f".rows.parquet.{number}.1").touch()  # as if one had been killed while it wrote
        with Popen(sweeping(out, plan), stdout=PIPE, stderr=PIPE, text=True) as process:
            wait_for_runs(out)
            time.sleep(moments.uniform(0, 1))
            process.send_signal(sent)
            _, err = process.communicate(timeout=60)
        assert process.returncode == code, err
        assert not drafts(out)
        if sent != signal.SIGKILL:
            (message,) = [line for line in err.splitlines() if not line.startswith("runs: ")]
            kept = f"finished runs are saved in {out}/cache/runs.sqlite; repeat the command to continue"
            assert message == f"interrupted: {kept}"


SWALLOWED = """
import time
from pushout.__main__ import raise_again


class Interrupted:
    def __del__(self):
        raise KeyboardInterrupt


raise_again()
try:
    Interrupted()
    time.sleep(20)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_that_python_ignores_comes_again() -> None:
    done = subprocess.run([sys.executable, "-c", SWALLOWED], capture_output=True, text=True, timeout=15)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_other_exceptions_that_python_ignores_are_printed() -> None:
    text = SWALLOWED.replace("raise KeyboardInterrupt", "raise ValueError('ignored')").replace("sleep(20)", "sleep(0)")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=15)
    assert (done.stdout, "ValueError: ignored" in done.stderr) == ("", True)


THREADED = """
import threading
from pushout import policy

threading.Thread(target=threading.Event().wait).start()


@policy.admission()
def mine(x):
    return x.total > 90
"""


@pytest.mark.parametrize("sent", [None, signal.SIGINT, signal.SIGTERM])
def test_a_policy_file_that_starts_a_thread_does_not_keep_the_process(
    sent: signal.Signals | None, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(THREADED, encoding="utf-8")
    duration = "20 ms" if sent is None else "100000 s"
    words = ["run", "lan", "--policy", "bottleneck=mine.py", "--set", f"duration={duration}", "--set", "warmup=0 s"]
    command = [sys.executable, "-m", "pushout", *words]
    with Popen(command, stdout=PIPE, stderr=PIPE, text=True, cwd=tmp_path) as process:
        if sent is not None:
            time.sleep(3)
            process.send_signal(sent)
        _, err = process.communicate(timeout=20)
    assert process.returncode == {None: 0, signal.SIGINT: 130, signal.SIGTERM: 143}[sent], err
