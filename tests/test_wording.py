"""A mistake is told with the names of arguments in Python, and with those of options on the command line."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import click
import pytest

import pushout
from conftest import ROOT
from pushout import cli, lab
from pushout.cli.group import MODULES, load
from pushout.cli.options import option
from pushout.errors import Argument
from pushout.switch import sonic

LAN = str(ROOT / "scenarios" / "lan.toml")
BUFFER = "port.bottleneck.buffer"
LARGE = '{policy="epd", threshold="9000 cells"}'
FIXED = ['port.bottleneck.admission={policy="epd", threshold="7000 cells"}']
GOAL = "goodput_ratio>=0.9"

CASES = [
    (pushout.run, {"set": {"durration": "1 s"}}, 'set durration="1 s": unknown key', '--set durration="1 s": unknown'),
    (pushout.trace, {"set": {"durration": "1 s"}}, 'set durration="1 s": unknown', '--set durration="1 s": unknown'),
    (pushout.explain, {"set": ["seed=-1"]}, "set seed=-1: must be an integer", "--set seed=-1: must be an integer"),
    (pushout.validate, {"set": ["x"]}, "set x: an override is written", "--set x: an override is written"),
    (
        pushout.compare,
        {"policies": ["epd", "ppd"], "set": ["--port=1"]},
        "set --port=1: unknown key",
        "--set --port=1: unknown key",
    ),
    (
        pushout.compare,
        {"policies": [LARGE, "ppd"]},
        "policies epd, threshold 9000 cells: port.bottleneck.admission.threshold: ",
        "--policies epd, threshold 9000 cells: port.bottleneck.admission.threshold: ",
    ),
    (
        pushout.compare,
        {"policies": "epd,pushout-2"},
        "policies pushout-2: pushout-2 shortens the queue",
        "--policies pushout-2: pushout-2 shortens the queue",
    ),
    (
        pushout.size,
        {"goal": GOAL, "over": BUFFER, "policies": "epd,pushout-2"},
        "policies pushout-2: pushout-2 shortens the queue",
        "--policies pushout-2: pushout-2 shortens the queue",
    ),
    (
        pushout.compare,
        {"policies": ["epd"]},
        "a comparison needs two policies or more, as in policies tail-drop,epd",
        "a comparison needs two policies or more, as in --policies tail-drop,epd",
    ),
    (
        pushout.size,
        {"goal": GOAL, "over": BUFFER, "low": "9 cells", "high": "3 cells"},
        "low must be less than high, not 9 cells and 3 cells",
        "--from must be less than --to, not 9 cells and 3 cells",
    ),
    (
        pushout.size,
        {"goal": GOAL, "over": "port.bottleneck"},
        "over must be a key with a number, as in port.bottleneck.buffer; port.bottleneck is a table in the scenario",
        "--over must be a key with a number, as in port.bottleneck.buffer; port.bottleneck is a table in the scenario",
    ),
    (
        pushout.size,
        {"goal": GOAL, "over": BUFFER, "low": "2 cells", "high": "3 cells", "set": FIXED},
        "(low) to 3 cells (high); use other ends",
        "(--from) to 3 cells (--to); use other ends",
    ),
]


@pytest.mark.parametrize(("function", "arguments", "python", "command"), CASES)
def test_each_front_end_has_its_own_words(
    function: Callable[..., Any], arguments: dict[str, Any], python: str, command: str
) -> None:
    with pytest.raises(pushout.PushoutError) as caught:
        function(LAN, **arguments)
    assert python in str(caught.value)
    assert command in caught.value.worded(option)


def test_where_no_port_has_a_limited_buffer_the_option_or_the_argument_says_which() -> None:
    with pytest.raises(pushout.QuestionError, match=r"choose a port with at$") as caught:
        pushout.compare(ROOT / "scenarios" / "mux-poisson.toml", ["epd", "ppd"])
    assert "choose a port with --at" in caught.value.worded(option)


def test_the_command_line_prints_its_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["run", LAN],
        ["explain", "--check", LAN],
        ["explain", LAN],
        ["compare", LAN, "--policies", "epd,ppd"],
    ):
        with pytest.raises(SystemExit):
            cli.main([*arguments, "--set", "durration=1 s"])
        assert capsys.readouterr().err.startswith("--set durration=1 s: unknown key")


def test_every_argument_in_a_message_is_one_and_has_an_option() -> None:
    sources = (ROOT / "python" / "pushout").rglob("*.py")
    named = {name for file in sources for name in re.findall(r'Argument\("(\w+)"\)', file.read_text(encoding="utf-8"))}
    assert len(named) > 4
    functions = (pushout.run, pushout.compare, pushout.size, pushout.sweep, pushout.plot, pushout.headroom)
    functions += (pushout.why, pushout.worst, pushout.never, pushout.chip_predict, pushout.chip_explain, lab.page)
    functions += (sonic.Traffic,)  # init has no function
    parameters = {name for function in functions for name in inspect.signature(function).parameters}
    assert named <= parameters
    assert {option(name) for name in named} <= set().union(*(options(load(name)) for name in MODULES))


def options(command: click.Command) -> set[str]:
    """The options of a command and of those below it, in all spellings."""
    below = command.commands.values() if isinstance(command, click.Group) else ()
    own = {spelling for each in command.params if isinstance(each, click.Option) for spelling in each.opts}
    return own.union(*map(options, below))


def test_the_pieces_of_a_message_may_be_errors() -> None:
    override = pushout.ScenarioError("a=1: no")
    override.set = 0
    error = pushout.ScenarioError(override, "; see ", Argument("low"), " {low} --low")
    assert str(error) == "set a=1: no; see low {low} --low"
    assert error.worded(option) == "--set a=1: no; see --from {low} --low"
