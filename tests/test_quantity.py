"""Quantities, as people read them."""

import pytest

from pushout.question.quantity import brief, readable, split, spoken


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
