import re

import pytest

from pushout.study.expression import Expression, ExpressionError

CASES = ["lan.UBR.1460", "lan.UBR.9140", "lan.EPD.1460", "lan.EPD.9140"]
VALUES = dict(zip(CASES, (0.90, 0.92, 0.93, 0.95), strict=True))


def lookup(figure: str, case: str) -> object:
    if figure == "curve":
        return (9.0, 9.0, 1.0, 1.2, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    return (1.0, 3.0) if figure == "shares" else VALUES[case]


def read(text: str) -> Expression:
    return Expression(text, ["goodput", "shares", "curve"], CASES)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3 - 4 / 2", 5),
        ('goodput["lan.EPD.9140"]', 0.95),
        ('spread(goodput["lan.*.1460"])', pytest.approx(0.03)),
        ("erf(1)", pytest.approx(0.8427007929)),
        ('mean(goodput["lan.*"])', pytest.approx(0.925)),
        ('all(goodput["lan.EPD.*"] > goodput["lan.UBR.*"])', True),
        ('any(goodput["lan.*"] > 0.96)', False),
        ('max(goodput["lan.*"]) < 1 and not min(goodput["lan.*"]) < 0.9', True),
        ('goodput["lan.EPD.1460"] > 1 or goodput["lan.EPD.1460"] > 0.9', True),
        ('sum(shares["lan.EPD.1460"])', 4.0),
        ('sum(shares["lan.EPD.*"])', 8.0),
        ('max(abs(-shares["lan.EPD.1460"]))', 3.0),
        ('first(shares["lan.EPD.*"], 3)', (1.0, 3.0, 1.0)),
        ('rest(shares["lan.EPD.*"], 3)', (3.0,)),
        ('where(shares["lan.EPD.1460"], shares["lan.EPD.1460"] > 2)', (3.0,)),
        ('nth(shares["lan.EPD.1460"], 2)', 3.0),
        ('deviation(shares["lan.EPD.1460"])', 1.0),
        ('histogram(shares["lan.EPD.*"], 2, 3)', (0.5, 0.5, 0.0)),
        ('histogram(shares["lan.EPD.*"], 0.5, 3)', (0.0, 0.0, 1.0)),
        ('settled(curve["lan.EPD.1460"], 0.1)', 2),
        ('jain(shares["lan.EPD.1460"])', 0.8),
        ("jain(2, 2, 2)", 1.0),
        ('saturation(shares["lan.EPD.1460"] / 3, 500, 100)', 600),
        ('saturation(shares["lan.EPD.1460"] / 4, 500, 100)', 700),
        ('ranked(shares["lan.EPD.1460"])', (3.0, 1.0)),
        ('onset(shares["lan.EPD.1460"], 0.5, 0.1)', 0.6),
        ('nth(positions(shares["lan.EPD.1460"] - nth(shares["lan.EPD.1460"], 1)), 1)', 2),
        ('onset(shares["lan.EPD.1460"] / 3, 0.5, 0.25)', 0.25),
        ("nth((5, 2 * 3), 2)", 6),
    ],
)
def test_an_expression_has_its_value(text: str, value: object) -> None:
    assert read(text)(lookup) == value


def test_what_was_not_measured_does_not_count_in_a_mean() -> None:
    delays = {"lan.UBR.1460": (1.0, None, 3.0), "lan.UBR.9140": (None, None)}
    expression = Expression('mean(delay["lan.UBR.1460"])', ["delay"], CASES)
    assert expression(lambda _, case: delays[case]) == 2.0
    assert Expression('mean(delay["lan.UBR.9140"])', ["delay"], CASES)(lambda _, case: delays[case]) is None


def test_what_cannot_be_compared_because_nothing_was_measured_is_named() -> None:
    delays = {"lan.UBR.1460": 1.0, "lan.UBR.9140": None}
    expression = Expression('all(delay["lan.UBR.*"] > 0)', ["delay"], [*delays])
    with pytest.raises(ExpressionError, match=re.escape('delay["lan.UBR.9140"] was not measured')):
        expression(lambda _, case: delays[case])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("goodput[", "never closed"),
        ('godput["lan.EPD.1460"]', "unknown figure 'godput'"),
        ('goodput["lan.RED.*"]', "unknown case"),
        ("__import__('os')", "is not allowed"),
        ("(1).real", "is not allowed"),
        ("[x for x in (1, 2)]", "is not allowed"),
        ("max(1, key=2)", "is not allowed"),
        ("1 < 2 < 3", "is not allowed"),
        ("True", "is not allowed"),
        ("2 ** 99", "is not allowed"),
        ("'text'", "is not allowed"),
    ],
)
def test_what_is_not_understood_is_refused_when_it_is_read(text: str, why: str) -> None:
    with pytest.raises(ExpressionError, match=why):
        read(text)


def test_lists_of_different_lengths_do_not_go_together() -> None:
    with pytest.raises(ExpressionError, match="2 and 4 entries"):
        read('all(goodput["lan.EPD.*"] > goodput["lan.*"])')(lookup)


def test_an_expression_lists_the_figures_that_it_reads() -> None:
    assert read('goodput["lan.*.9140"] > 0.5').uses == [
        ("goodput", "lan.UBR.9140"),
        ("goodput", "lan.EPD.9140"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "-" * 1_999 + "1",
        "-" * 3_000 + "1",
        "+".join(["1"] * 900),
        "+".join(["1"] * 5_000),
        "not " * 400 + "1",
        "not " * 50_000 + "1",
        "(" * 500 + "1" + ")" * 500,
        "abs(" * 99 + "1" + ")" * 99,
        "lambda:" * 280 + "1",
        "1 if 1 else " * 160 + "1",
        "x" + ".a" * 900,
        "1" + "<1" * 900,
        "1\0",
        "",
    ],
)
def test_an_expression_that_is_too_long_or_too_deep_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        read(text)
    assert len(str(refused.value)) <= 300


@pytest.mark.parametrize("number", ["1e400", "1" + "0" * 400, "1" + "0" * 1_900])
def test_a_number_beyond_all_others_is_refused(number: str) -> None:
    with pytest.raises(ExpressionError, match="is not allowed"):
        read(f"{number} < 1")


@pytest.mark.parametrize("bins", ["1e9", "10001", "0", "-1", "1e300", "0 / 0 + 1"])
def test_a_histogram_has_no_more_bins_than_one_can_look_at(bins: str) -> None:
    with pytest.raises(ExpressionError):
        read(f'histogram(shares["lan.EPD.1460"], 1, {bins})')(lookup)
    assert len(read('histogram(shares["lan.EPD.1460"], 1, 10000)')(lookup)) == 10_000


@pytest.mark.parametrize("text", ["((1, 2), (3, 4)) * 1000000000000", "1000000000000 * ((1, 2), (3, 4))"])
def test_lists_in_lists_are_not_repeated(text: str) -> None:
    with pytest.raises(ExpressionError, match="cannot be multiplied"):
        read(text)(lookup)


def test_a_pattern_has_at_most_eight_stars() -> None:
    assert read(f'goodput["{"*" * 8}"]').uses
    with pytest.raises(ExpressionError, match="a pattern must have at most 8 stars"):
        read(f'goodput["{"*a" * 9}"]')
