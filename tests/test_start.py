"""The first minutes: shipped scenarios by name, a folder to start from, completion, examples."""

import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import pushout
from conftest import ROOT, command
from pushout import shipped
from pushout.cli import former
from pushout.cli.examples import EXAMPLES
from pushout.cli.group import MODULES, load

SHORT = ["--set", "duration=50 ms", "--set", "warmup=0 s"]
SIZING = ["--goal", "goodput_ratio>=0.1", "--over", "port.bottleneck.buffer"]

BASH = shutil.which("bash")


def named(toml: str) -> str:
    """The name that a scenario gives itself."""
    return str(tomllib.loads(toml)["name"])


def test_every_shipped_scenario_is_listed_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    command("list", "scenarios", "--json")
    listed = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in listed] == sorted(file.stem for file in (ROOT / "scenarios").glob("*.toml"))
    assert all(each["title"] for each in listed)
    assert {each["name"] for each in listed if each["kind"] == "sweep"} == {"sweep-alpha", "sweep-small"}
    command("list", "scenarios")
    shown = capsys.readouterr().out
    assert all(each["name"] in shown and each["title"] in shown for each in listed)


def test_a_shipped_scenario_is_printed_without_the_path_of_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    command("list", "scenarios", "lan")
    text = capsys.readouterr().out
    assert named(text) == "lan"
    assert text in (ROOT / "scenarios" / "lan.toml").read_text(encoding="utf-8")
    assert shipped.SCHEMA not in text


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "lan", *SHORT],
        ["explain", "--check", "lan", "sweep-small"],
        ["explain", "lan"],
        ["compare", "lan", "--policies", "tail-drop,epd", "--reps", "2", *SHORT, "--out", "compared"],
        ["size", "lan", *SIZING, "--least", "2", "--most", "2", *SHORT, "--out", "sized"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_name_stands_where_a_file_does(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command(*arguments)


def test_a_sweep_may_be_named_and_may_name_a_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sweep = 'scenario = "lan"\nset = ["duration=50 ms", "warmup=0 s"]\n'
    (tmp_path / "mine.toml").write_text(sweep, encoding="utf-8")
    command("sweep", "mine")
    assert (tmp_path / "results" / "mine" / "rows.parquet").exists()
    assert pushout.sweep({"scenario": "lan", "set": ["duration=50 ms", "warmup=0 s"]}).columns.rows == 1


def test_a_file_comes_before_a_shipped_scenario_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shipped.resolved("lan") == ROOT / "scenarios" / "lan.toml"
    (tmp_path / "lan").mkdir()
    assert shipped.resolved("lan") == ROOT / "scenarios" / "lan.toml", "a folder is no scenario"
    (tmp_path / "lan.toml").write_text("", encoding="utf-8")
    assert shipped.resolved("lan") == Path("lan.toml"), "what init copied and a user changed"
    (tmp_path / "incast").write_text("", encoding="utf-8")
    assert shipped.resolved("incast") == Path("incast")
    assert shipped.resolved("./incast.toml") == Path("incast.toml"), "a path is a path"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("lam", '; unknown shipped scenario "lam"; did you mean "lan"? (allowed: cellular'),
        ("scenarios/lan.toml", "; the name of the shipped scenario is lan, without folder and suffix\n"),
        ("nothing.toml", "no such file\n"),
    ],
)
def test_what_leads_nowhere_suggests_the_nearest_name(
    given: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command("run", given, code=3)
    message = capsys.readouterr().err
    assert message.startswith(f"{given}: no such file")
    assert why in message
    command("list", "scenarios", "lam", code=2)
    assert 'did you mean "lan"?' in capsys.readouterr().err


def test_a_folder_to_start_from_has_the_scenario_its_neighbours_and_the_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command("init", "lab")
    out = capsys.readouterr().out
    files = sorted(file.name for file in Path("lab").iterdir())
    assert files == ["lan.toml", "scenario.schema.json", "sweep-small.toml"]
    assert "Next: pushout run lab/lan.toml" in out
    first = Path("lab/lan.toml").read_text(encoding="utf-8").splitlines()[0]
    assert first == "#:schema ./scenario.schema.json"
    assert json.loads(Path("lab/scenario.schema.json").read_text(encoding="utf-8")) == pushout.schema()
    command("explain", "--check", "lab/lan.toml", "lab/sweep-small.toml")
    command("init", "other", "--scenario", "sweep-small")
    assert sorted(file.name for file in Path("other").iterdir()) == files


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sweep-small.toml").write_text("mine", encoding="utf-8")
    command("init", str(tmp_path), code=1)
    assert "sweep-small.toml: exists already and is not overwritten" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["sweep-small.toml"], "all or nothing"
    assert (tmp_path / "sweep-small.toml").read_text(encoding="utf-8") == "mine"


def test_every_scenario_names_its_schema_in_the_first_line() -> None:
    files = [*(ROOT / "scenarios").glob("*.toml"), *(ROOT / "studies").glob("*/*.toml")]
    scenarios = [file for file in files if file.name != "study.toml" and not is_sweep(file) and not is_worst(file)]
    assert len(scenarios) > 15
    for file in scenarios:
        line = file.read_text(encoding="utf-8").splitlines()[0]
        assert line.startswith(shipped.SCHEMA), f"{file}: the first line names the schema"
        assert (file.parent / line.removeprefix(shipped.SCHEMA)).resolve() == ROOT / "schema" / "scenario.schema.json"


def is_worst(file: Path) -> bool:
    """Return whether a file is a question about a worst case, which has no nodes."""
    return {"policy", "ports", "memory"} <= set(tomllib.loads(file.read_text(encoding="utf-8")))


def is_sweep(file: Path) -> bool:
    return "scenario" in tomllib.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_given_its_script(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if shell == "bash" and BASH is None:
        pytest.skip("bash is not installed")
    monkeypatch.setenv("_PUSHOUT_COMPLETE", f"{shell}_source")
    command()
    assert f"_PUSHOUT_COMPLETE={shell}_complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["pushout", "si"], ["size"]),
        (["pushout", "run", "mux"], ["mux-periodic", "mux-poisson"]),
        (["pushout", "explain", "--check", "lan", "mi"], ["mine.toml"]),
        (["pushout", "list", "scenarios", "gp"], ["gpj"]),
        (["pushout", "size", "lan", "--resol"], ["--resolution"]),
    ],
)
def test_commands_options_files_and_names_are_completed(
    words: list[str],
    expected: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text("", encoding="utf-8")
    monkeypatch.setenv("_PUSHOUT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "\n".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    command()
    assert capsys.readouterr().out.split() == [f"plain,{word}" for word in expected]


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    program = Path(shutil.which("pushout") or ROOT / ".venv" / "bin" / "pushout")
    script = (
        'eval "$(_PUSHOUT_COMPLETE=bash_source pushout)"\n'
        "COMP_WORDS=(pushout run w1-c) COMP_CWORD=2\n"
        '_pushout_completion pushout && printf "%s\\n" "${COMPREPLY[@]}"'
    )
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        [str(BASH), "--norc", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["w1-cell"], done.stderr


def test_without_a_command_the_help_says_where_to_start(capsys: pytest.CaptureFixture[str]) -> None:
    command()
    shown = capsys.readouterr()
    assert not shown.err
    begin = shown.out.split("Start here:\n")[1].splitlines()
    assert [line.split()[:2] for line in begin[:4]] == [
        ["pushout", name] for name in ("run", "plot", "compare", "init")
    ]


def test_every_command_has_an_example_in_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert sorted(EXAMPLES) == sorted(MODULES)
    for verb in MODULES:
        command(verb, "--help")
        assert f"Example:\n    {EXAMPLES[verb]}" in capsys.readouterr().out


@pytest.mark.parametrize("name", MODULES)
def test_every_example_is_one_of_its_command_and_can_be_read(name: str) -> None:
    text, _, _file = EXAMPLES[name].partition(" > ")
    program, verb, *arguments = shlex.split(text)
    assert (program, verb) == ("pushout", name)
    load(name).make_context(verb, arguments)


NEEDS_MORE = ("bench", "compare", "import", "mcp", "reproduce", "run", "size", "sweep")
"""Verbs that take long, or need a file of the user."""

QUICK = [verb for verb in EXAMPLES if verb not in NEEDS_MORE]


@pytest.mark.parametrize("verb", QUICK)
def test_an_example_that_is_quick_runs_and_writes_something(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if verb == "lab" and not shipped.PAGE.is_file():
        monkeypatch.setattr(shipped, "PAGE", ROOT / "web" / "src" / "index.html")  # without the simulator
    before = set(tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    text, _, _file = EXAMPLES[verb].partition(" > ")
    command(*shlex.split(text)[1:])
    out, err = capsys.readouterr()
    assert out.strip() or err.strip() or before != set(tmp_path.iterdir())
    assert "Traceback" not in err


@pytest.mark.parametrize("verb", ["compare", "run", "size"])
def test_an_example_that_simulates_is_about_a_scenario_that_can_be_run(verb: str) -> None:
    _, _, scenario, *arguments = shlex.split(EXAMPLES[verb])
    sets = [arguments[index + 1] for index, word in enumerate(arguments) if word == "--set"]
    pushout.validate(scenario, set=sets)
    assert re.search(r"duration=\d+ s", " ".join(sets)), "an example takes seconds, not minutes"


FORMER = [
    (["validate", "lan"], ["explain", "--check", "lan"]),
    (["check", "{file}"], ["explain", "--check", "{file}"]),
    (["check", "{file}", "--worst"], ["worst", "{file}", "--memory", "8"]),
    (["policies", "epd", "--json"], ["list", "schemes", "epd", "--json"]),
    (["scenarios", "lan"], ["list", "scenarios", "lan"]),
    (["schema"], ["list", "--schema"]),
    (["headroom", "lines.csv"], ["switch", "headroom", "lines.csv"]),
    (["chip", "predict", "tomahawk", "--lines", "1"], ["switch", "predict", "tomahawk", "--lines", "1"]),
    (["merge", "--help"], ["sweep", "merge", "--help"]),
]
"""Commands with former names, and with the present ones."""


def test_every_former_name_is_tried() -> None:
    assert {words[0] for words, _ in FORMER} == set(former.NAMES)
    assert not set(former.NAMES) & set(MODULES)


@pytest.mark.parametrize(("words", "now"), FORMER, ids=lambda words: " ".join(words[:3]))
def test_a_former_name_answers_and_names_the_new_one(
    words: list[str],
    now: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(
        "from pushout import policy\n\n\n@policy.admission\ndef mine(x):\n    return x.total >= x.capacity\n",
        encoding="utf-8",
    )
    Path("lines.csv").write_text("rate,cable,mtu,cell,given\n100 Gb/s,300 m,4096,192,84 kB\n", encoding="utf-8")
    answers = []
    for each in (words, now):
        command(*(word.replace("{file}", "mine.py") for word in each))
        answers.append(capsys.readouterr())
    assert answers[0].out == answers[1].out != ""
    note, _, rest = answers[0].err.partition("\n")
    assert note.startswith(f"note: pushout {words[0]} is now pushout {now[0]}")
    assert rest == answers[1].err


def test_the_help_lists_the_present_names_alone(capsys: pytest.CaptureFixture[str]) -> None:
    command("--help")
    shown = capsys.readouterr().out
    listed = re.findall(r"^  ([a-z]+)  +[A-Z]", shown, re.MULTILINE)
    assert listed == list(MODULES)
    assert len(listed) == 16
    assert all(len(line) <= 80 for line in shown.splitlines())
