"""Tables on terminals of any width."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from pushout.show.columns import NARROW, Column, describe, draw

COLUMNS = [Column("port", right=False), Column("units\nin"), Column("ports.bottleneck.occupancy_mean"), Column("runs")]
ROWS = [["bottleneck", "1 006 ± 4 175", "3 569.6 ± 3 347.0", "12"], ["[red]a", "2", Text("–"), "3"]]


def printed(width: int, keys: int = 1) -> list[str]:
    stream = io.StringIO()
    draw(Console(file=stream, width=width), COLUMNS, ROWS, keys=keys)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize("width", [1, 20, 40, 60, 80, 200])
def test_no_number_and_no_name_is_shortened_or_broken(width: int) -> None:
    lines = printed(width)
    for whole in ("bottleneck ", "[red]a ", " 1 006 ± 4 175", " 3 569.6 ± 3 347.0", " 12"):
        assert any(whole in f"{line} " for line in lines), whole
    assert "…" not in "".join(lines)


def test_what_does_not_fit_stands_below_with_the_same_names() -> None:
    for width in (40, 45, 60, 80):
        assert max(map(len, printed(width))) <= width
    parts = {width: sum(line.startswith(" bottleneck") for line in printed(width)) for width in (30, 50, 80)}
    assert parts == {30: 3, 50: 2, 80: 1}


def test_a_head_is_folded_only_where_the_table_is_too_wide() -> None:
    assert printed(80)[2].split() == ["port", "in", "ports.bottleneck.occupancy_mean", "runs"]
    assert [line.split()[-2:] for line in printed(60)[1:3]] == [
        ["units", "ports.bottleneck."],
        ["occupancy_mean", "runs"],
    ]


TEXTS = [Column("name", right=False, whole=True), Column("number"), Column("what it does", right=False)]
SAID = [["early-packet-discard", Text("1 234 567"), "Refuse [whole] frames above a threshold."], ["a heading"]]


@pytest.mark.parametrize("width", [28, 40, NARROW - 1, NARROW, 200])
def test_of_texts_nothing_is_left_out_on_any_terminal(width: int) -> None:
    stream = io.StringIO()
    describe(Console(file=stream, width=width), TEXTS, SAID, title="All of them")
    printed = stream.getvalue()
    assert max(len(line.rstrip()) for line in printed.splitlines()) <= width
    words = printed.split()
    assert not {"All", "early-packet-discard", "Refuse", "[whole]", "threshold.", "heading"} - set(words)
    assert "1 234 567" in printed
    assert ("number: 1 234 567" in printed) == (width < NARROW)
