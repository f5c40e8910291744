import errno
import tomllib
from datetime import timedelta
from pathlib import Path

import pytest

import pushout
from conftest import ROOT
from pushout import ScenarioError
from pushout.source import SIZE_LIMIT, load, overrides, read, toml


def test_a_text_is_distinguished_from_a_path(scenario: str) -> None:
    assert load(scenario).name == scenario
    assert load(Path(scenario)).text == 'name = "lan"\n'
    assert load('name = "lan"\nseed = 1').name == "<text>"
    assert load('{"name": "lan"}').name == "<text>"
    assert load({"name": "lan"}) == ('{"name": "lan"}', "")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "lost").symlink_to("../gone")
    for path, why in [
        (tmp_path / "none", "no such file"),
        (tmp_path / "lost", r"leads to \.\./gone, where no file is"),
        (tmp_path, "is a directory"),
        ("", "the path of a scenario must not be empty"),
        ("a\0b", "cannot be read"),
    ]:
        with pytest.raises(ScenarioError, match=why):
            read(str(path))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("own.py", "a file of Python: a policy in it is given by --policy PLACE=FILE.py"),
        ("line.pcap", "a capture: pushout import makes a scenario of it"),
        ("lan.yaml", "YAML"),
        ("flows.CSV", "CSV: a scenario names a list of transfers"),
    ],
)
def test_a_file_of_another_kind_says_what_it_is_for(name: str, why: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\xa1\xb2")
    with pytest.raises(ScenarioError, match=rf"{name}: must be a scenario in TOML or JSON, not {why}"):
        read(str(tmp_path / name))


def test_what_is_not_text_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "noise"
    path.write_bytes(b"a = 1\nb = \xff")
    with pytest.raises(ScenarioError, match=r"noise:2:5: not UTF-8 text"):
        read(str(path))


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "bom.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1")
    assert read(str(path)).text == "a = 1"


def test_a_huge_file_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(SIZE_LIMIT + 1)
    with pytest.raises(ScenarioError, match="larger than 16 MiB"):
        read(str(path))


def test_a_stream_without_end_is_refused_by_its_size() -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("no endless file on this system")
    with pytest.raises(ScenarioError, match="larger than 16 MiB"):
        read("/dev/zero")


@pytest.mark.parametrize(
    "value", [9140, 0.5, True, 'tail "drop"', "Liège", [1, "a"], {"policy": "epd", "at": {"x": 1}}]
)
def test_an_override_is_written_as_toml(value: object) -> None:
    (text,) = overrides({"key": value})
    assert tomllib.loads(text) == {"key": value}


def test_overrides_may_be_texts_but_not_one_text() -> None:
    assert overrides(["a=1", "b.c=2"]) == ["a=1", "b.c=2"]
    with pytest.raises(TypeError):
        overrides("a=1")
    with pytest.raises(TypeError):
        toml(None)


def test_a_value_that_cannot_be_one_is_named_by_its_path() -> None:
    transport = {"kind": "tcp", "mss": None}
    with pytest.raises(
        TypeError, match=r"^flows\.transport\.mss: None cannot be a value of a scenario: leave the key out$"
    ):
        load({"flows": {"transport": transport}})
    with pytest.raises(TypeError, match=r"^flow\[1\]\.start: datetime\.timedelta.* cannot be a value of a scenario$"):
        load({"flow": [{}, {"start": timedelta(seconds=1)}]})
    with pytest.raises(
        ScenarioError, match=r'^port\."a\.back"\.admission\.weight: the value must be a finite number, not nan$'
    ):
        load({"port": {"a.back": {"admission": {"weight": float("nan")}}}})
    with pytest.raises(TypeError, match=r"^flows\.transport\.mss: None"):
        overrides({"flows.transport": transport})


def test_a_mistake_in_a_mapping_is_reported_with_its_path_alone() -> None:
    lan = tomllib.loads((ROOT / "scenarios" / "lan.toml").read_text(encoding="utf-8"))
    lan["port"]["bottleneck"]["bufer"] = lan["port"]["bottleneck"].pop("buffer")
    with pytest.raises(
        ScenarioError, match=r'^port\.bottleneck\.bufer: unknown key "bufer"; did you mean "buffer"\?'
    ) as told:
        pushout.validate(lan)
    assert "\n" not in str(told.value)


def test_a_file_that_is_not_there_is_what_python_calls_so(tmp_path: Path) -> None:
    path = str(tmp_path / "none.toml")
    with pytest.raises(FileNotFoundError, match=r"none\.toml: no such file") as missing:
        pushout.run(path)
    assert isinstance(missing.value, pushout.ScenarioError)
    assert (missing.value.errno, missing.value.filename) == (errno.ENOENT, path)
