import tomllib
from typing import Any

import pytest

from pushout.study.printed import numbers

SHARED = {
    "goodput": {"label": "{row}, MSS {}", "text": "goodput", "measure": 'goodput["{case}.{}"]', "tolerance": 0.02}
}

TABLE = """
id = "two"
source = "Table 2"
case = "lan.{row}"
column.queue = { text = "queue of {row}", unit = "cells", measure = 'queue["{case}"]', tolerance = 9 }

[row]
UBR = { goodput = { 1460 = 0.97, 9140 = 1.2 }, queue = 5400 }
best = { label = "the best", case = "EPD", queue = { published = [7, 8], tolerance = 1, note = "a slip" } }
"""


def entries(text: str = TABLE) -> dict[str, dict[str, Any]]:
    return {entry["id"]: entry for entry in numbers(tomllib.loads(text), SHARED)}


def test_every_cell_is_a_number_with_the_keys_of_its_column() -> None:
    assert list(entries()) == ["two.UBR.goodput", "two.UBR.queue", "two.best.queue"]
    assert entries()["two.UBR.queue"] == {
        "id": "two.UBR.queue",
        "source": "Table 2",
        "label": "UBR",
        "text": "queue of UBR",
        "unit": "cells",
        "measure": 'queue["lan.UBR"]',
        "published": 5400,
        "tolerance": 9,
    }


def test_a_column_that_tables_share_has_its_own_label() -> None:
    goodput = entries()["two.UBR.goodput"]
    assert (goodput["label"], goodput["measure"]) == ("UBR, MSS {}", 'goodput["lan.UBR.{}"]')
    assert goodput["published"] == {"1460": 0.97, "9140": 1.2}


def test_a_row_has_its_own_label_and_case_and_a_cell_what_is_different_in_it() -> None:
    best = entries()["two.best.queue"]
    assert (best["label"], best["text"], best["measure"]) == ("the best", "queue of the best", 'queue["EPD"]')
    assert (best["tolerance"], best["note"]) == (1, "a slip")


def test_a_list_stands_for_the_keys_from_one_on() -> None:
    assert entries()["two.best.queue"]["published"] == {"1": 7, "2": 8}


def test_a_table_may_change_a_column_that_others_have() -> None:
    changed = TABLE.replace("[row]", "column.goodput = { tolerance = 0.5 }\n[row]")
    assert entries(changed)["two.UBR.goodput"]["tolerance"] == 0.5
    assert entries()["two.UBR.goodput"]["tolerance"] == 0.02


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("queue = 5400", "queues = 5400", 'row UBR: unknown column "queues"; did you mean "queue"?'),
        ("best = {", "best = 5\nworst = {", "row best must be a table, not 5"),
        ("column.queue = {", "column.goodput = 3\ncolumn.queue = {", "column goodput must be a table, not 3"),
        ('source = "Table 2"', 'source = "Table 2"\nsort = 1', r"unknown key of \[\[table\]\]: sort"),
    ],
)
def test_what_is_wrong_in_a_table_is_named(old: str, new: str, why: str) -> None:
    with pytest.raises(TypeError, match=why):
        entries(TABLE.replace(old, new))
