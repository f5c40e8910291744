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


@pytest.mark.parametrize("fabric", [400_000, 500_000, 510_000])
def test_fewer_instructions_and_two_percent_more_pass(fabric: int) -> None:
    assert instructions.problems(BEFORE, line("bbb", fabric=fabric)) == []


def test_each_workload_beyond_two_percent_is_named_with_its_growth() -> None:
    (problem,) = instructions.problems(BEFORE, line("bbb", fabric=510_001))
    assert problem.startswith("fabric: instructions must grow by at most 2 % after aaa, not by 2.00 %; make them fewer")
    both = instructions.problems(BEFORE, line("bbb", W2=2_000_000, fabric=550_000))
    assert [problem.split(" after")[0] for problem in both] == [
        f"{name}: instructions must grow by at most 2 %" for name in ("W2", "fabric")
    ]
    assert "not by 100.00 %" in both[0] and "not by 10.00 %" in both[1]


def test_another_compiler_is_named_as_a_possible_cause() -> None:
    (problem,) = instructions.problems(BEFORE, line("bbb", "rustc 1.91.0", fabric=600_000))
    assert "; compilers: rustc 1.90.0 and rustc 1.91.0; " in problem


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
        counted.append(instructions.count(instructions.WORKLOADS["W2"], program))
    assert (counted[2] - counted[1]) / (counted[1] - counted[0]) == pytest.approx(2, rel=0.1)
