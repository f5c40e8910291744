import pytest

from pushout.study.evidence import evidence
from pushout.study.expression import Expression

CASES = ["lan.UBR.1460", "lan.UBR.9140", "lan.EPD.1460", "lan.EPD.9140"]
VALUES = dict(zip(CASES, (0.90, 0.92, 0.93, 0.95), strict=True))
UNITS = {"queue": "cells", "rate": "b/s", "delay": "s", "wait": "ms"}


def lookup(figure: str, case: str) -> object:
    scales = {"goodput": 1.0, "queue": 100.0, "rate": 1e6, "delay": 0.1, "wait": 1.0}
    return (1.0, 3.0) if figure == "shares" else scales[figure] * VALUES[case]


def said(text: str) -> str:
    check = Expression(text, ["goodput", "queue", "rate", "delay", "wait", "shares"], CASES)
    found = evidence(check, check.compared(lookup), lambda figure, _: UNITS.get(figure))
    return "; ".join(map(str, found))


def test_every_comparison_is_shown_with_the_values_of_both_sides_and_the_expressions() -> None:
    assert said('spread(goodput["lan.*.1460"]) < 0.04 and goodput["lan.EPD.1460"] >= 2 * goodput["lan.UBR.1460"]') == (
        '0.03 < 0.04 [spread(goodput["lan.*.1460"]) < 0.04]; '
        '0.93 ≥ 1.8 is false [goodput["lan.EPD.1460"] ≥ 2 * goodput["lan.UBR.1460"]]'
    )


def test_pairs_of_lists_are_named_by_the_difference_of_their_cases() -> None:
    assert said('all(goodput["lan.EPD.*"] > 1.03 * goodput["lan.UBR.*"])') == (
        'true for 1 of 2 [goodput["lan.EPD.*"] > 1.03 * goodput["lan.UBR.*"]; 1460: 0.93 > 0.927, 9140: 0.95 > 0.9476]'
    ).replace("1 of 2", "2 of 2")
    assert "9140: 0.95 > 0.966 is false" in said('all(goodput["lan.EPD.*"] > 1.05 * goodput["lan.UBR.*"])')
    assert "; 9140: 0.92 < 1]" in said('all(rest(goodput["lan.UBR.*"], 1) < 1)')
    assert "; UBR/1460: 0.9 < 1, UBR/9140:" in said('all(goodput["lan.*.*"] < 1)')
    assert "; lan.UBR.1460: 0.9 < 1, lan.EPD.1460:" in said('all(goodput["lan.*.[1]460"] < 1)')
    assert "; 1: 1 < 2, 2: 3 < 2 is false]" in said('all(shares["lan.EPD.1460"] < 2)')


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('queue["lan.EPD.1460"] > 1.1 * queue["lan.UBR.1460"]', "93 cells > 99 cells is false"),
        ('mean(queue["lan.*"]) > 50', "92.5 cells > 50 cells"),
        ('max(rate["lan.UBR.*"]) > 0.5 * 900000', "920 kb/s > 450 kb/s"),
        ('1460 / 1696 * spread(rate["lan.UBR.*"]) < 5000', "17.22 kb/s < 5 kb/s is false"),
        ('rate["lan.EPD.1460"] / rate["lan.EPD.9140"] < 1', "0.9789 < 1"),
        ('424 * queue["lan.EPD.1460"] / 2.35e6 < 1', "0.01678 < 1"),
        ('delay["lan.EPD.1460"] < 0.1', "93 ms < 100 ms"),
        ('wait["lan.EPD.1460"] < 5', "0.93 ms < 5 ms"),
        ('100 * rate["lan.EPD.1460"] > 1e7', "93 000 000 > 10 000 000"),
    ],
)
def test_values_have_their_unit_unless_a_constant_may_have_changed_it(text: str, values: str) -> None:
    assert said(text).split(" [")[0].replace("\N{NO-BREAK SPACE}", " ") == values


def test_values_that_differ_are_written_so_that_they_do() -> None:
    assert said('goodput["lan.UBR.1460"] > 0.900001').startswith("0.9 > 0.900001 is false")


def test_what_is_compared_within_a_sum_is_no_comparison_of_the_check() -> None:
    assert said('sum(goodput["lan.*"] > 0.91) >= 1').startswith("3 ≥ 1 [")


def test_cases_whose_names_differ_within_a_word_have_their_whole_names() -> None:
    assert said('all(goodput["lan.?BR.1460"] > 0.5)') == said('all(goodput["lan.U*.1460"] > 0.5)').replace("U*", "?BR")


def test_large_constants_are_written_as_whole_numbers() -> None:
    assert '[goodput["lan.EPD.1460"] * 1000000 > 1]' in said('goodput["lan.EPD.1460"] * 1e6 > 1')
