"""Hostile input ends in one short message that names a place, whatever the command: no traceback, no crash, no hang.

`make test` takes a sample, `make hostile` some fifteen hundred cases (PUSHOUT_HOSTILE, PUSHOUT_HOSTILE_SEED).
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hostile
from pushout.excerpt import CONTROL, MESSAGE

COUNT = int(os.environ.get("PUSHOUT_HOSTILE", "72"))
SEED = int(os.environ.get("PUSHOUT_HOSTILE_SEED", "1"))
WORKERS = 2
BATCH = 50
"""Cases of a process: the threads and the modules of those before count as memory of a case."""

USAGE = re.compile(r"Usage: .*\nTry .*\n\n")
PROGRESS = re.compile(r"^runs: .*\n", re.MULTILINE)


def results(first: int, count: int) -> tuple[dict[int, dict[str, Any]], str]:
    """Return the results of cases, as far as the process came, and its other output."""
    command = [sys.executable, str(Path(hostile.__file__)), str(first), str(count), str(SEED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, errors="replace")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["number"]: line for line in lines if "number" in line}, done.stderr[-2_000:]


def fault(one: hostile.Case, done: dict[str, Any]) -> str | None:
    """Describe the fault of the end of a case, if there is one."""
    code, out, err = done["code"], done["out"], done["err"]
    message = PROGRESS.sub("", USAGE.sub("", err)).strip()
    if code not in (0, 1, 2, 3) or "Traceback" in err + out or "internal error" in err:
        return f"it ends with {code}"
    if found := CONTROL.search((out + err).replace("\n", "")):
        return f"it prints the control character {found[0]!r}"
    if (
        "SECRET" in re.sub(r"KEY:SECRET@?$", "", message)
        and "***" not in message
        and any("@" in each for each in one.arguments)
    ):
        return "it prints a secret"
    longest = max(map(len, re.split(r"\n(?=also: )", message)))  # of several mistakes in one scenario
    if code and longest > MESSAGE:
        return f"its message has {longest} characters"
    if code and not any(place and place in message for place in one.places):
        return "its message names no place"
    return None


@pytest.mark.timeout(0)
@pytest.mark.parametrize("worker", range(WORKERS))
def test_hostile_input_is_one_short_message_with_a_place(worker: int) -> None:
    share = COUNT // WORKERS
    first, end = worker * share, (worker + 1) * share
    faults = []
    while first < end:
        asked = min(BATCH, end - first)
        found, said = results(first, asked)
        for number, done in found.items():
            one = hostile.case(number, SEED)
            if why := fault(one, done):
                faults.append(f"case {number}: {why}: {str(one.arguments)[:300]}\n{done['err'][-600:]}")
        first += len(found)
        if len(found) < asked:  # the process did not survive this case
            faults.append(f"case {first}: crash or hang: {str(hostile.case(first, SEED).arguments)[:300]}\n{said}")
            first += 1
    assert not faults, f"{len(faults)} faults\n" + "\n\n".join(faults)


@pytest.mark.timeout(0)
def test_a_hostile_policy_is_one_short_message_with_a_place(tmp_path: Path) -> None:
    """A third as many policies as other cases: five hundred in `make hostile`."""
    faults = []
    for number in range(COUNT // 3):
        one = hostile.policy_case(number, SEED)
        folder = tmp_path / str(number)
        folder.mkdir()
        done = hostile.run(one, folder)
        if why := fault(one, done):
            faults.append(f"case {number}: {why}: {one.files['p.py'].decode(errors='replace')}\n{done['err'][-600:]}")
    assert not faults, f"{len(faults)} faults\n" + "\n\n".join(faults)
