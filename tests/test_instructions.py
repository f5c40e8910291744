"""Counts of instructions over commits: what a comparison refuses, and what the history holds."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import instructions


def line(commit: str, compiler: str = "rustc 1.90.0", **counts: int) -> dict[str, Any]:
    return {"commit": commit, "compiler": compiler, "instructions": {"W2": 1_000_000, **counts}}


BEFORE = line("aaa", fabric=500_000)


@pytest.mark.parametrize("fabric", [495_000, 500_000, 505_000])
def test_counts_within_one_percent_pass(fabric: int) -> None:
    assert instructions.problems(BEFORE, line("bbb", fabric=fabric)) == []


@pytest.mark.parametrize("fabric, percent", [(494_999, "-1.00"), (505_001, "+1.00"), (550_000, "+10.00")])
def test_each_workload_beyond_one_percent_is_named_with_its_change(fabric: int, percent: str) -> None:
    (problem,) = instructions.problems(BEFORE, line("bbb", fabric=fabric))
    assert problem == (
        f"fabric: instructions must stay within 1 % of aaa, not change by {percent} %; "
        "if the change is meant, append a line (make instructions) and give the reason in the commit"
    )
    both = instructions.problems(BEFORE, line("bbb", W2=2_000_000, fabric=fabric))
    assert [problem.split(":")[0] for problem in both] == ["W2", "fabric"]


def test_counts_of_another_compiler_are_not_compared() -> None:
    (problem,) = instructions.problems(BEFORE, line("bbb", "rustc 1.91.0"))[1:]
    assert problem.startswith("the simulator must be compiled by rustc 1.90.0, not by rustc 1.91.0; ")


def test_a_workload_that_is_no_longer_measured_is_refused_and_a_new_one_is_not() -> None:
    assert instructions.problems(BEFORE, line("bbb")) == ["fabric: must be measured, as in aaa"]
    assert instructions.problems(line("bbb"), BEFORE) == []


def test_the_latest_line_is_the_one_to_compare_with(tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    assert instructions.last(history) is None
    history.write_text("".join(f"{json.dumps(line(commit))}\n" for commit in ("aaa", "bbb")), encoding="utf-8")
    assert instructions.last(history) == line("bbb")


def test_the_history_has_counted_workloads_of_committed_states() -> None:
    lines = [json.loads(text) for text in instructions.HISTORY.read_text(encoding="utf-8").splitlines()]
    assert lines
    for measured in lines:
        counted = [name for name in instructions.COUNTED if name in measured["instructions"]]
        assert list(measured["instructions"]) == counted, "in order, and earlier lines may lack what was added later"
        assert not measured["commit"].endswith("-dirty")


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_valgrind_counts_the_instructions_of_a_program(tmp_path: Path) -> None:
    """A shell's loop takes instructions in proportion to its rounds."""
    counted = []
    for rounds in (1_000, 2_000, 4_000):
        program = tmp_path / f"loop-{rounds}"
        program.write_text(f"#!/bin/sh\ni=0\nwhile [ $i -lt {rounds} ]; do i=$((i + 1)); done\n", encoding="utf-8")
        program.chmod(0o755)
        counted.append(instructions.count("", program))
    assert (counted[2] - counted[1]) / (counted[1] - counted[0]) == pytest.approx(2, rel=0.1)
