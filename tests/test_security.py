"""The sentences of SECURITY.md that test_links.py, test_allowed.py and test_damage.py do not test."""

import socket
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, command

CODE = "from pathlib import Path\nPath('ran').touch()\n"

SHORT = ["--set", "duration=1 ms"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.py").write_text(CODE, encoding="utf-8")


def scenario(admission: str) -> str:
    """The shipped scenario with another policy at its port."""
    text = (ROOT / "scenarios" / "w1-cell.toml").read_text(encoding="utf-8")
    lines = [f"admission = {admission}" if line.startswith("admission") else line for line in text.splitlines()]
    return "\n".join(lines)


@pytest.mark.parametrize("admission", ['{ policy = "p.py" }', '{ policy = "p.py:mine" }', '"p.py"'])
@pytest.mark.parametrize("verb", ["run", "explain --check", "explain", "plot"])
def test_a_scenario_runs_no_code(verb: str, admission: str) -> None:
    Path("s.toml").write_text(scenario(admission), encoding="utf-8")
    command(*verb.split(), "s.toml", code=3)
    assert not Path("ran").exists()


@pytest.mark.parametrize("verb", ["sweep", "explain --check"])
def test_a_sweep_runs_no_code(verb: str) -> None:
    axis = "[axis.policy]\nmine = [\"port.bottleneck.admission={policy='p.py'}\"]\n"
    Path("w.toml").write_text(f'scenario = "lan"\n{axis}', encoding="utf-8")
    command(*verb.split(), "w.toml", code=3)
    assert not Path("ran").exists()


NETRC = "machine example.org\npassword hunter2\n"
KEYS = 'password = "hunter2"\nname = "x"\n'

VERBS = [
    ["run"],
    ["explain", "--check"],
    ["explain"],
    ["plot"],
    ["sweep"],
    ["compare", "--policies", "epd,ppd"],
    ["size", "--goal", "goodput_ratio>=0.5", "--over", "port.bottleneck.buffer"],
]


@pytest.mark.parametrize("text", [NETRC, KEYS], ids=["netrc", "keys"])
@pytest.mark.parametrize("verb", VERBS, ids=lambda words: words[0])
def test_no_message_quotes_a_file_that_is_not_named_as_a_scenario(
    verb: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("secret").write_text(text, encoding="utf-8")
    Path("x.toml").symlink_to("secret")
    for file in ("secret", "x.toml"):
        command(verb[0], file, *verb[1:], code=3)
        told = "".join(capsys.readouterr())
        assert file in told or "secret" in told
        assert "hunter2" not in told
        assert "machine" not in told


def test_a_line_of_a_scenario_is_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.toml").write_text(KEYS, encoding="utf-8")
    command("run", "s.toml", code=3)
    assert 'password = "hunter2"' in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", "--check", "p.py"],
        ["run", "lan", "--policy", "bottleneck=p.py"],
        ["compare", "lan", "--policies", "epd,p.py"],
        ["size", "lan", "--goal", "goodput_ratio>=0.5", "--over", "port.bottleneck.buffer", "--policies", "p.py"],
    ],
    ids=lambda words: words[0],
)
def test_code_runs_from_the_files_that_a_command_names(arguments: list[str]) -> None:
    command(*arguments, code=3)
    assert Path("ran").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "lan", *SHORT, "--out", "out", "--html", "out/x.html"],
        ["compare", "lan", "--policies", "epd,ppd", "--reps", "2", *SHORT, "--out", "out"],
        ["plot", "lan", *SHORT, "--out", "out/x.svg"],
        ["explain", "lan"],
    ],
    ids=lambda words: words[0],
)
def test_a_command_opens_no_network_connection_and_writes_below_its_folder(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    command(*arguments)
    assert {path.name for path in Path().iterdir()} <= {"p.py", "out"}


def test_every_sentence_of_the_page_is_one_of_those_that_are_tested() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    heads = [line[4:].partition("**")[0] for line in text.splitlines() if line.startswith("- **")]
    assert heads == [
        "Scenarios, sweeps and results run no code.",
        "A scenario or a sweep reads only regular files below its own folder",
        "Messages quote lines only of files named `*.toml` or `*.json`",
        "A command writes only below the folders and files that it names",
        "The tools of `pushout mcp` read and write below the folder of `--folder` only",  # tests/test_mcp.py
        "It opens no network connection",
        "What was changed on disk is noticed",
    ]
