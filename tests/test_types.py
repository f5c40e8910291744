"""The types of results: they are those of the report, and mypy follows them from the functions."""

import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import pushout
from conftest import ROOT
from pushout import types


def test_a_report_has_the_keys_of_its_types() -> None:
    measured = {"measure.delivery": True, "measure.window": "50 ms", "measure.transfers": True}
    document = pushout.run("lan", set={"duration": "0.5 s", **measured}).document
    parts = {"flows": types.Flow, "ports": types.Port, "circuits": types.Circuit}
    tables = [(types.Run, document), (types.Summary, document["summary"]), (types.Engine, document["engine"])]
    tables += [(kind, entry) for part, kind in parts.items() for entry in document[part]]  # type: ignore[literal-required]
    for kind, table in tables:
        assert set(table) <= set(get_type_hints(kind)), kind
        assert kind.__required_keys__ <= set(table), kind


@pytest.mark.timeout(120)
def test_mypy_finds_what_the_functions_return(tmp_path: Path) -> None:
    settings = tmp_path / "mypy.ini"
    settings.write_text(f"[mypy]\nstrict = true\nmypy_path = {ROOT / 'python'}\n")
    example = ROOT / "tests" / "typed_example.py"
    kept = ["--cache-dir", str(tmp_path / "cache")]
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings), *kept, str(example)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
