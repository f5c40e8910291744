"""Quantities, as people read them."""

import pytest

import pushout
from pushout import quantity
from pushout.errors import ScenarioError
from pushout.quantity import brief, readable, split, spoken


@pytest.mark.parametrize(
    ("text", "said", "short"),
    [
        ("26172185 bytes", "26 172 185 bytes", "26.17 MB"),
        ("999 bytes", "999 bytes", "999 bytes"),
        ("15512 cells", "15 512 cells", "15 512 cells"),
        ("0.12345 s", "0.12345 s", "123.5 ms"),
        ("80.125 %", "80.125 %", "80.125 %"),
        ("1460", "1 460", "1 460"),
    ],
)
def test_digits_are_grouped_and_bytes_have_prefixes(text: str, said: str, short: str) -> None:
    assert (spoken(text), brief(text)) == (said, short)


def test_an_axis_has_the_unit_in_which_its_numbers_are_read() -> None:
    assert readable("port.a.buffer (bytes)", 48e6) == ("port.a.buffer (MB)", 1e-6)
    assert readable("mean delay (s)", 0.02) == ("mean delay (ms)", 1e3)
    assert readable("port.a.buffer (cells)", 48e6) == ("port.a.buffer (cells)", 1.0)


@pytest.mark.parametrize("text", ["50 us", "5e1 us", "5E+01us", "50 \N{MICRO SIGN}s", "50\N{GREEK SMALL LETTER MU}s"])
def test_a_number_and_its_unit_are_read_as_other_programs_write_them(text: str) -> None:
    assert split(text) == (50.0, "us")


def test_every_unit_of_a_buffer_has_a_smallest_step() -> None:
    with pytest.raises(ScenarioError) as caught:
        pushout.validate("lan", set={"port.bottleneck.buffer": "1 z"})
    units = str(caught.value).rpartition("(units: ")[2].rpartition(")")[0].split(", ")
    assert "BDP" in units
    assert set(units) <= set(quantity.FINEST)


@pytest.mark.parametrize("low", ["0.01 BDP", "0.0123 BDP"])
def test_a_search_begins_below_a_tenth_of_the_bdp(low: str) -> None:
    short = {"duration": "5 ms", "warmup": "0 s"}
    found = pushout.size("lan", over="port.bottleneck.buffer", low=low, high="0.05 BDP", goal="loss<=1", set=short)
    assert found.document["answers"][0]["value"] == low, "every run meets the goal"


@pytest.mark.parametrize(
    ("share", "text"), [(1.0, "100 %"), (0.996, "100 %"), (0.123, "12 %"), (0.0994, "9.9 %"), (0.00012, "0.012 %")]
)
def test_a_share_is_written_without_a_power_of_ten(share: float, text: str) -> None:
    assert quantity.percent(share) == text
