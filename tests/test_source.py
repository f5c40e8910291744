import tomllib
from pathlib import Path

import pytest

from pushout import ScenarioError
from pushout.source import SIZE_LIMIT, load, overrides, read, toml


def test_a_text_is_told_from_a_path(scenario: str) -> None:
    assert load(scenario).name == scenario
    assert load(Path(scenario)).text == 'name = "lan"\n'
    assert load('name = "lan"\nseed = 1').name == "<text>"
    assert load('{"name": "lan"}').name == "<text>"
    assert load({"name": "lan"}) == ('{"name": "lan"}', "<dict>")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "lost").symlink_to("../gone")
    for path, why in [
        (tmp_path / "none", "no such file"),
        (tmp_path / "lost", r"leads to \.\./gone, where no file is"),
        (tmp_path, "is a directory"),
        ("", "the path of a scenario is empty"),
        ("a\0b", "cannot be read"),
    ]:
        with pytest.raises(ScenarioError, match=why):
            read(str(path))


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
    with pytest.raises(TypeError, match="cannot be a value of a scenario"):
        load({"duration": object()})
