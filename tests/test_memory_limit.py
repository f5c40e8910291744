"""`--memory` ends a command with a message before the system has none left."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import command

GROWING = """
name = "growing"
duration = "1000 s"
adaptation = { kind = "packet" }
[topology]
template = "dumbbell"
sources = 2
access = { rate = "100 Mb/s", delay = "1 us" }
bottleneck = { rate = "100 Mb/s", delay = "1 us" }
egress = { rate = "100 Mb/s", delay = "1 us" }
[port.bottleneck]
buffer = "100 packets"
[flows]
transport = { kind = "udp" }
source = { kind = "cbr", rate = "10 Gb/s", size = "100 bytes" }
"""


@pytest.mark.parametrize("size", ["1e9 GB", "1e12 GB", "1e300 GB"])
def test_a_limit_above_all_memory_is_none(size: str, capsys: pytest.CaptureFixture[str]) -> None:
    command("explain", "--check", "lan", "--memory", size)
    assert capsys.readouterr().out == "lan: valid\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much memory a process has")
def test_a_queue_that_grows_ends_the_run_with_a_message(tmp_path: Path) -> None:
    file = tmp_path / "growing.toml"
    file.write_text(GROWING, encoding="utf-8")
    arguments = [sys.executable, "-m", "pushout", "run", str(file), "--memory", "400 MB"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 3
    message = done.stderr.splitlines()[-1]
    assert message.startswith(
        "Error: run needs more than 0.4 GB of memory (--memory). Shorten duration, limit buffers,"
    )
    assert "growing-queue" not in message
    assert 'over the line "access1" of 100 Mb/s: the queue before it has no limit' in done.stderr


@pytest.mark.parametrize(
    ("size", "why"),
    [
        ("4 apples", "the value must be a size greater than 0, as in 4 GB, not '4 apples'"),
        ("0 GB", "the value must be a size greater than 0, as in 4 GB, not '0 GB'"),
        ("much", "the value must be a number with a unit, as in 1000 cells, not 'much'"),
    ],
)
def test_another_word_than_a_size_is_refused(size: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    command("explain", "--check", "lan", "--memory", size, code=2)
    assert why in capsys.readouterr().err.replace('"', "'")
