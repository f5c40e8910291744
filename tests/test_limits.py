"""Extreme and empty input of sweeps and questions is a message with its place, before anything is written."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import ROOT, command
from pushout.document import steps

LAN = str(ROOT / "scenarios" / "lan.toml")
BUFFER = "port.bottleneck.buffer"
GOAL = "goodput_ratio>=0.9"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own for every test."""
    monkeypatch.chdir(tmp_path)


def message_of(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 3) -> str:
    """The message of a command that is refused, which is short and leaves nothing behind."""
    before = set(Path().rglob("*"))
    command(*arguments, code=code)
    out, err = capsys.readouterr()
    assert (out, set(Path().rglob("*"))) == ("", before)
    message = err.rpartition("\n\n")[2].strip()
    assert len(message) <= 300, message
    return message


@pytest.mark.parametrize(
    ("span", "why"),
    [
        ('{ from = 1, to = 1e300, unit = "s" }', "must be smaller numbers of 's', not 1 and 1e+300"),
        ('{ from = 1, to = 1e300, unit = "GB", scale = "log" }', "must be smaller numbers of 'GB', not 1 and 1e+300"),
        ("{ from = -1.7e308, to = 1.7e308, whole = true }", "must be narrower: it exceeds floating point"),
        ("{ from = -1.7e308, to = 1.7e308 }", "must be narrower: it exceeds floating point"),
        ('{ from = 5e-324, to = 1e308, scale = "log", whole = true }', "must be narrower: it exceeds floating point"),
        ("{ from = 1, to = nan }", "must be a range of numbers on a linear scale, not 1 and nan"),
        ("{ from = -inf, to = 1 }", "must be a range of numbers on a linear scale, not -inf and 1"),
    ],
)
def test_a_range_that_cannot_be_calculated_with_is_refused(
    span: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"scenario = 'x.toml'\n[random]\npoints = 3\n[random.keys]\nduration = {span}\n"
    Path("s.toml").write_text(text, encoding="utf-8")
    for verb in (["explain", "--check"], ["sweep"]):
        message = message_of(capsys, *verb, "s.toml")
        assert message.startswith("s.toml:5:12: random.keys.duration: ")
        assert why in message


@pytest.mark.parametrize("low", [10**400, -(10**400), 10**308])
def test_whole_numbers_beyond_all_others_are_no_range(low: int) -> None:
    keys = {"duration": {"from": low, "to": 10 * low, "unit": "s"}}
    with pytest.raises(pushout.DesignError, match=r"random\.keys\.duration: "):
        pushout.sweep({"scenario": LAN, "random": {"points": 2, "keys": keys}})


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize(
    ("form", "place"),
    [("[grid]\nx.y = [1, {}]", "3:11: x.y: "), ("[[zip]]\nx = [{}]", "3:6: x: "), ("[grid]\nx = [[1, {}]]", "3:6: x")],
)
def test_a_value_that_is_not_a_number_is_reported_with_its_place(
    value: str, form: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("s.toml").write_text(f"scenario = 'x.toml'\n{form.format(value)}\n", encoding="utf-8")
    message = message_of(capsys, "sweep", "s.toml")
    assert message.startswith(f"s.toml:{place}")
    assert f"the value must be a finite number, not {value}" in message


@pytest.mark.parametrize("name", ["a\0b", "\x1b[2J", "a\nb", "\u202ex", "x" * 101, "", "a'b", "../x", "/x"])
def test_a_sweep_has_a_name_as_scenarios_have(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.toml").write_text(f"name = {json.dumps(name)}\nscenario = 'x.toml'\n", encoding="utf-8")
    message = message_of(capsys, "sweep", "s.toml")
    assert message.startswith("s.toml:1:8: name")
    assert "\x1b" not in message


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        ('title = "\\u001b[2J"', "2:9: title must be without control characters, not "),
        ('[axis."\\u0007"]\na = []', "2:7: axis."),
        ('[axis.x]\n"\\u009b" = []', "3:1: axis.x."),
    ],
)
def test_texts_of_a_sweep_have_no_control_characters(
    lines: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("s.toml").write_text(f"scenario = 'x.toml'\n{lines}\n", encoding="utf-8")
    assert message_of(capsys, "sweep", "s.toml").startswith(f"s.toml:{place}")


@pytest.mark.parametrize(
    ("policies", "why"),
    [
        ("", "must name at least one policy, as in epd,ppd"),
        (",", "must have a name on each side of a comma, not ','"),
        (" , ,", "must have a name on each side of a comma, not ' , ,'"),
    ],
)
def test_a_list_of_no_policies_is_refused_before_a_folder_is_claimed(
    policies: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    message = message_of(capsys, "size", LAN, "--goal", GOAL, "--over", BUFFER, "--policies", policies)
    assert message == f"--policies {why}"
    assert "--policies" in message_of(capsys, "compare", LAN, "--policies", policies)
    with pytest.raises(pushout.QuestionError, match=re.escape(f"policies {why}")):
        pushout.size(LAN, GOAL, BUFFER, policies=[policies])


@pytest.mark.parametrize(
    ("low", "high", "why"),
    [
        ("1 cell", "9" * 400 + " cells", "--to: the value must be a smaller number, not '9999"),
        ("1e-300 s", "1e300 s", "--from and --to must be closer together than 1e-300 s and 1e300 s"),
        ("1 s", "1e300 s", "must be closer together"),
        ("-1e308 s", "1e308 s", "must be closer together"),
        ("x", "1 s", "--from: the value must be a number with a unit, as in 1000 cells, not 'x'"),
        ("\u0661 s", "2 s", "--from: the value must be a number with a unit, as in 1000 cells, not '\u0661 s'"),
        ("1\u00a0s", "2 s", "--from: the value must be a number with a unit, as in 1000 cells, not '1\\xa0s'"),
    ],
)
def test_ends_of_a_search_that_cannot_be_calculated_with_are_refused(
    low: str, high: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = ["--from", low, "--to", high]
    assert why in message_of(capsys, "size", LAN, "--goal", "max goodput_ratio", "--over", "duration", *ends)


DEEP = ["a" + ".a" * 64, "a" + ".a" * 20_000, "a" + ".a" * 100_000, '"a.b"' + ".a" * 64]


@pytest.mark.parametrize("key", DEEP)
def test_a_path_has_at_most_64_keys(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    count = len(steps(key))
    for verb in (["run"], ["explain", "--check"], ["explain"], ["compare", "--policies", "epd,ppd"]):
        message = message_of(capsys, verb[0], LAN, *verb[1:], "--set", f"{key}=1")
        assert message.endswith(f"the path of an override has at most 64 keys, not {count}")
    message = message_of(capsys, "size", LAN, "--goal", GOAL, "--over", key)
    assert message.endswith(f"a path must have at most 64 keys, not {count}")
    for text in (f"set = ['{key}=1']", f"[grid]\n'{key}' = [1]", f"[axis.x]\ny = ['{key}=1']"):
        Path("s.toml").write_text(f"scenario = '{LAN}'\n{text}\n", encoding="utf-8")
        assert "has at most 64 keys" in message_of(capsys, "sweep", "s.toml")


@pytest.mark.parametrize("levels", [65, 512, 900, 1_000, 100_000])
def test_deep_json_is_refused_by_every_command(levels: int, capsys: pytest.CaptureFixture[str]) -> None:
    Path("d.json").write_text('{"a":' * levels + "1" + "}" * levels, encoding="utf-8")
    more: dict[str, list[str]] = {
        "compare": ["--policies", "epd,ppd"],
        "size": ["--goal", GOAL, "--over", BUFFER],
    }
    for verb in ("run", "explain --check", "explain", "sweep", "compare", "size"):
        message = message_of(capsys, *verb.split(), "d.json", *more.get(verb, []))
        assert message.startswith("d.json:1:")
        assert "nest" in message


def test_deep_values_of_python_are_refused() -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = {"a": deep}
    endless: dict[str, Any] = {}
    endless["a"] = endless
    for value in (deep, endless):
        for call in (
            lambda value=value: pushout.run(value),
            lambda value=value: pushout.run(LAN, set={"topology": value}),
            lambda value=value: pushout.sweep({"scenario": LAN, "grid": {"topology": [value]}}),
            lambda value=value: pushout.sweep({"scenario": LAN, "grid": value}),
            lambda value=value: pushout.sweep({"scenario": LAN, "random": {"points": 1, "keys": value}}),
            lambda value=value: pushout.sweep({"scenario": value}),
            lambda value=value: pushout.compare(LAN, ["epd", value]),
        ):
            with pytest.raises(ValueError, match="at most 64 levels deep"):
                call()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--reps", "\u0665"], "must be an integer, not '\u0665'"),
        (["--seed", "\uff11"], "must be an integer, not '\uff11'"),
        (["--seed", "1\u00a0"], "must be an integer, not '"),
        (["--seed", "7" * 10_000], "must be an integer, not '"),
        (["--reps", "1e1"], "must be an integer, not '1e1'"),
    ],
)
def test_whole_numbers_have_the_digits_of_ascii(
    options: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert why in message_of(capsys, "run", LAN, *options, code=2)


@pytest.mark.parametrize("share", ["1e-300", "9e-7", "nan", "\u0660.\u0665", "x", "1.1", "-0.1"])
def test_a_resolution_is_none_or_a_share_that_makes_a_difference(
    share: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["size", LAN, "--goal", GOAL, "--over", BUFFER, f"--resolution={share}"]
    assert "--resolution" in message_of(capsys, *arguments, code=2)


@pytest.mark.parametrize("blank", ["\u00a0", "\u2003", "\u3000"])
def test_blanks_in_quantities_are_those_of_ascii(blank: str, capsys: pytest.CaptureFixture[str]) -> None:
    for key in ("duration", BUFFER, "port.bottleneck.admission.threshold"):
        value = {BUFFER: f"9{blank}cells", "duration": f"50{blank}ms"}.get(key, f"90{blank}%")
        assert "\\u{" in message_of(capsys, "explain", "--check", LAN, "--set", f"{key}={value}")


def test_a_file_begins_with_one_byte_order_mark_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(LAN).read_text(encoding="utf-8")
    Path("one.toml").write_text("\ufeff" + text, encoding="utf-8")
    Path("two.toml").write_text("\ufeff\ufeff" + text, encoding="utf-8")
    command("explain", "--check", "one.toml")
    capsys.readouterr()
    assert message_of(capsys, "explain", "--check", "two.toml").startswith("two.toml:1:1: ")
    pushout.validate("\ufeff" + text)
    with pytest.raises(pushout.ScenarioError, match="byte order mark"):
        pushout.validate("\ufeff\ufeff" + text)


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", LAN, "--set", f"title={'[' * 10_000}"],
        ["run", LAN, "--set", f"{'x' * 10_000}=1"],
        ["run", LAN, "--set", f"duration={'7' * 10_000}"],
        ["run", LAN, "--set", f"seed={'7' * 10_000}"],
        ["run", "x" * 10_000],
        ["compare", LAN, "--policies", "x" * 10_000],
        ["compare", LAN, "--policies", "epd,ppd", "--figures", "x" * 10_000],
        ["compare", LAN, "--policies", "epd,ppd", "--port", "x" * 10_000],
        ["size", LAN, "--goal", "x" * 10_000, "--over", BUFFER],
        ["size", LAN, "--goal", f"{'x' * 10_000}>=1", "--over", BUFFER],
        ["size", LAN, "--goal", GOAL, "--over", "x" * 10_000],
        ["size", LAN, "--goal", GOAL, "--over", BUFFER, "--from", "x" * 10_000],
    ],
)
def test_ten_thousand_characters_are_not_repeated(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "…" in message_of(capsys, *arguments)
