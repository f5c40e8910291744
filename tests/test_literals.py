"""Types of words and documents agree with the words and documents of the simulator."""

from typing import get_args

import pytest

import pushout
from pushout import _core
from pushout.catalogue import Entry, Param, Table
from pushout.literals import ENGINES, Drawing
from pushout.question.plot import DRAWINGS


def test_the_words_of_types_are_those_that_are_understood() -> None:
    assert ENGINES == _core.ENGINES
    assert get_args(Drawing) == tuple(DRAWINGS)


def test_every_entry_of_the_catalogue_has_the_keys_of_its_type() -> None:
    for entry in pushout.policies():
        assert set(entry) == set(Entry.__annotations__)
        assert entry["table"] is None or set(entry["table"]) == set(Table.__annotations__)
        assert all(set(param) == set(Param.__annotations__) for param in entry["params"])


def test_one_entry_of_the_catalogue_is_asked_for_by_its_name() -> None:
    (epd,) = pushout.policies("epd")
    assert (epd["name"], epd["kind"]) == ("epd", "admission")
    with pytest.raises(pushout.QuestionError, match='unknown name "edp"; did you mean "epd"'):
        pushout.policies("edp")
