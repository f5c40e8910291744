import pytest

from pushout.study.by_run import by_run
from pushout.study.expression import Expression

CASES = ["a.1", "a.2", "b.1"]
LISTS = ("rates",)


@pytest.mark.parametrize(
    ("text", "worked_out"),
    [
        ('deviation(rates["a.1"]) > deviation(rates["b.1"])', ["deviation(rates)", "deviation(rates)"]),
        ('max(abs(rates["a.1"] / total["a.1"] - 1)) < 0.1', ["max(abs(rates / total - 1))"]),
        ('all(abs(rates["a.1"] / mean(rates["a.1"]) - 1) < 0.1)', ["abs(rates / mean(rates) - 1)"]),
        ('sum(first(histogram(rates["a.1"], 5, 9), 3)) > 0.8', ["sum(first(histogram(rates, 5, 9), 3))"]),
        ('sum(rates["a.1"] < 1) >= 1', ["sum(rates < 1)"]),
        ('abs(mean(rates["a.1"]) / 200 - 1) < 0.1', ["mean(rates)"]),
        ('max(abs(rates["a.1"] - rates["b.1"])) < 0.1', []),
        ('all(rates["a.1"] > rates["b.1"])', []),
        ('spread(rates["a.*"]) < 0.1', []),
        ('abs(total["a.1"] - 1) < 0.1 and spread(total["a.*"]) < 0.1', []),
        ('max((1, 2)) < total["a.1"]', []),
        ('settled(rates["a.1"], 0.1) < 9', []),
    ],
)
def test_what_makes_a_value_of_lists_in_one_case_is_worked_out_run_by_run(text: str, worked_out: list[str]) -> None:
    found: list[str] = []

    def name(expression: Expression) -> str:
        found.append(expression.text)
        return f"_{len(found)}"

    check = Expression(text, ("rates", "total"), CASES)
    means = by_run(check, lambda figure, _: figure in LISTS, name)
    assert found == worked_out
    assert (means is check) == (not worked_out)


def test_the_rest_of_a_check_stays_as_it_is() -> None:
    check = Expression('max(rates["a.1"]) > 1.1 * total["a.2"] and not total["b.1"] > 1', ("rates", "total"), CASES)
    means = by_run(check, lambda figure, _: figure in LISTS, lambda _: "most")
    assert means.text == "most['a.1'] > 1.1 * total['a.2'] and (not total['b.1'] > 1)"
