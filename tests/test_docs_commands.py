"""Every command that a page says to type is typed, with options that make its runs short."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from conftest import ROOT, command
from pushout.cli import cli
from pushout.cli.group import MODULES, load
from pushout.study.model import available

PAGES = ["README.md", "CONTRIBUTING.md", *(str(page.relative_to(ROOT)) for page in sorted(ROOT.glob("docs/**/*.md")))]
BLOCK = re.compile(r"^( *)```(?:sh|bash|console)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`pushout ([^`]+)`")

DURATION = ["--set", "warmup=0 s", "--set", "duration=0.3 s"]
SHORT = {
    "run": DURATION,
    "plot": DURATION,
    "compare": [*DURATION, "--reps", "2"],
    "size": [*DURATION, "--least", "2", "--most", "2", "--resolution", "1"],
}
"""Options that are appended to the commands that simulate; the later value of an option wins."""

WITH_FINDINGS = [file.parent.name for file in sorted(ROOT.glob("studies/*/findings.json"))]

ONLY_PARSED = {
    "pushout sweep SWEEP.toml --cluster FIRST:6379": "a cluster; tests/test_cluster.py starts one",
    **{
        f"pushout lab lan {options}": "the page, which make lab builds; see tests/test_lab.py"
        for options in (
            "--policies tail-drop,epd --out lab.html",
            "--policy my_epd.py",
            "--policy bottleneck=my_epd.py --policies ppd",
            "--policy smooth.py",
        )
    },
    "pushout run home-uplink --html uplink.html --lab": "the page as well; see tests/test_page.py",
    "pushout reproduce 000 --details": "minutes; make tour runs the study with two replications",
    "pushout reproduce --attack 002/fifo-unfair --budget 60": "a minute; tests/test_attack.py attacks",
    **{f"pushout reproduce {study}": "minutes; tests/test_study.py reads every study" for study in available()},
    **{f"pushout reproduce --findings {study}": "minutes; make findings runs them" for study in WITH_FINDINGS},
}
"""Commands that are parsed, not run, and why."""

STAND_INS = {
    "half-full": "ppd",  # the policy that the reader of CONTRIBUTING.md writes
    "sweep-small": "scenarios/sweep-small.toml",  # the copy that `place` made shorter
}
"""Names that are replaced before a command runs."""

OTHERS = ("make", "pip", "ray", "wireshark", "cd", "open")
"""Programs that pages name besides `pushout`."""

FAILS, BAD_SCENARIO = "# fails on purpose", 3


def lines(page: str) -> list[str]:
    """The commands in the blocks of a page, each in one line."""
    text = (ROOT / page).read_text(encoding="utf-8")
    whole = [line.strip() for block in BLOCK.finditer(text) for line in block[2].replace("\\\n", " ").splitlines()]
    return [re.sub(r" +", " ", line.removeprefix(".venv/bin/")) for line in whole if line and not line.startswith("#")]


def commands(page: str) -> list[str]:
    """The commands of a page that `pushout` executes."""
    return [line for line in lines(page) if line.startswith("pushout ")]


def once(text: str) -> str:
    """A sweep with one short run of each point; a scenario as it is."""
    return re.sub(r"^reps = \d+$", "reps = 1", text, flags=re.MULTILINE).replace('duration="6 s"', 'duration="1.3 s"')


def place(page: str, folder: Path) -> None:
    """Make what a page expects in the current folder: the scenarios, and files that it says to save."""
    (folder / "scenarios").mkdir()
    files = {f"scenarios/{file.name}": file.read_text(encoding="utf-8") for file in ROOT.glob("scenarios/*.toml")}
    text = (ROOT / page).read_text(encoding="utf-8")
    saved = re.findall(
        r"Save as `(\S+\.(?:toml|py|csv|json|txt|cm))`:\n\n```(?:toml|python|text|json)\n(.*?)```", text, re.DOTALL
    )
    for name, content in {**files, **dict(saved)}.items():
        (folder / name).write_text(once(content), encoding="utf-8")


def arguments(text: str) -> list[str]:
    """Return the shell's words of a command: without quotes and comments, with names of files for patterns."""
    _, *words = shlex.split(text, comments=True)
    return [each for word in words for each in (sorted(map(str, Path().glob(word))) if "*" in word else [word])]


def shortened(verb: str, given: list[str]) -> list[str]:
    """Return the command with shorter runs."""
    for name, stand_in in STAND_INS.items():
        given = [re.sub(rf"^{name}$|(?<=,){name}$", stand_in, word) for word in given]
    drawn_from_results = verb == "plot" and all(Path(run).is_dir() for run in parsed(verb, given)["runs"])
    return [verb, *given, *([] if drawn_from_results else SHORT.get(verb, []))]


def parsed(verb: str, given: list[str]) -> dict[str, Any]:
    """The parameters that the command line reads from the arguments of a verb, or of a command below it."""
    context = cli.make_context("pushout", [verb, *given])
    while isinstance(context.command, click.Group) and (rest := [*context._protected_args, *context.args]):
        name, found, rest = context.command.resolve_command(context, rest)
        assert found is not None
        context = found.make_context(name, rest, parent=context)
    return context.params


def execute(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Run a command in the current folder; what it prints may go to a file."""
    words, into = arguments(text), None
    if ">" in words:
        words, (_, into) = words[: words.index(">")], words[words.index(">") :]
    verb, *given = words
    parsed(verb, given)
    if shlex.join(["pushout", *words]) in ONLY_PARSED:
        return
    capsys.readouterr()
    command(*shortened(verb, given), code=BAD_SCENARIO if FAILS in text else 0)
    if into:
        Path(into).write_text(capsys.readouterr().out, encoding="utf-8")


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)])
def test_every_command_of_a_page_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PUSHOUT_CACHE", str(tmp_path / "cache"))
    place(page, tmp_path)
    for text in commands(page):
        print(text)
        execute(text, capsys)


def test_every_line_of_a_block_is_a_command_that_is_known() -> None:
    found = [(page, line) for page in PAGES for line in lines(page)]
    unknown = [each for each in found if each[1].split()[0] not in ("pushout", *OTHERS)]
    assert len(found) > 40
    assert not unknown


def options(command: click.Command) -> set[str]:
    """The options of a command and of those below it, in all spellings."""
    own = {spelling for each in command.params if isinstance(each, click.Option) for spelling in each.opts}
    below = command.commands.values() if isinstance(command, click.Group) else ()
    return own.union(*map(options, below))


def inline() -> Iterator[tuple[str, str, list[str]]]:
    """The commands within sentences: the page, the verb and the options."""
    for page in PAGES:
        for text in INLINE.findall((ROOT / page).read_text(encoding="utf-8")):
            verb, *rest = text.split()
            if verb != "=":
                yield page, verb, [word for word in rest if word.startswith("--")]


def unknown_words(page: str) -> Iterator[str]:
    """The commands within sentences of a page whose second word should be a command below their verb and is none."""
    for text in INLINE.findall((ROOT / page).read_text(encoding="utf-8")):
        verb, *words = text.split()
        group = load(verb) if verb in ("list", "switch") else None
        if isinstance(group, click.Group) and words and not words[0].startswith("-") and words[0] not in group.commands:
            yield text


def test_commands_within_sentences_name_verbs_and_options_that_exist() -> None:
    found = list(inline())
    assert len(found) > 25
    assert [each for each in found if each[1] not in MODULES] == []
    assert [text for page in PAGES for text in unknown_words(page)] == []
    assert [each for each in found if not set(each[2]) <= options(load(each[1]))] == []


def test_commands_that_are_only_parsed_are_on_a_page() -> None:
    assert set(ONLY_PARSED) <= {re.sub(r" +#.*", "", text) for page in PAGES for text in commands(page)}
