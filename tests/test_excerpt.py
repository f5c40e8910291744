"""Texts from outside as messages show them."""

import time

import pytest

import pushout
from pushout.errors import Argument, QuestionError
from pushout.excerpt import CONTROL, MESSAGE, VALUE, excerpt, fitted, masked, printable, quoted


def test_a_long_text_is_cut_in_the_middle() -> None:
    assert excerpt("8192 cells", 10) == "8192 cells"
    assert excerpt("8192 cells!", 10) == "8192 …lls!"
    assert excerpt("é" * 1_000_000, 5) == "éé…éé"
    assert quoted("x" * 10_000) == f"'{'x' * 30}…{'x' * 29}'"


@pytest.mark.parametrize(
    "control", ["\0", "\a", "\x1b[2J", "\x7f", "\x9b", "\n", "\u2028", "\u202e", "\u2066", "\ufeff"]
)
def test_what_a_terminal_obeys_is_escaped(control: str) -> None:
    text = f"a{control}b"
    for found in (excerpt(text), quoted(text), quoted([text]), str(QuestionError(text)).replace("\n", "")):
        assert not CONTROL.search(found), found
    assert control == "\n" or not CONTROL.search(printable(text))


def test_values_of_every_kind_are_short() -> None:
    nested: list[object] = []
    nested.append(nested)
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    for value in (
        10**5_000,
        10**400,
        list(range(10**6)),
        nested,
        deep,
        {"a" * 999: "b" * 999},
        b"x" * 10_000,
        object(),
    ):
        assert len(quoted(value)) <= VALUE


def test_a_message_has_at_most_300_characters_and_gives_up_the_line_of_the_file_first() -> None:
    mark = f"\n 12 | {'x' * 72}\n    | {' ' * 20}^"
    assert fitted("short" + mark) == "short" + mark
    assert fitted("y" * 250 + mark) == "y" * 250
    assert len(fitted("y" * 1_000 + mark)) == MESSAGE
    long = QuestionError(Argument("low"), " ", QuestionError("z" * 5_000), " end")
    assert str(long).startswith("low zzz")
    assert str(long).endswith("zzz end")
    assert len(str(long)) == MESSAGE


def test_of_a_long_message_the_list_of_what_is_allowed_is_cut_before_the_rest() -> None:
    head = f'{"x" * 220}: it is called "codel" here (allowed: '
    told = fitted(f"{head}{'name, ' * 40})")
    assert told.startswith(f"{head}name, ")
    assert told.endswith("name, )")
    assert len(told) == MESSAGE
    assert fitted(told) == told
    assert fitted(f"{'x' * 400} (allowed: a)").endswith("x (allowed: a)"), "the list alone is too short"


def test_an_internal_error_is_shown_in_full() -> None:
    assert len(str(pushout.InternalError("x" * 5_000))) == 5_000


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("s3://KEY:SECRET@bucket/x?region=eu", "s3://***@bucket/x?region=eu"),
        ("s3://KEY:SE/CR+ET@bucket/x", "s3://***@bucket/x"),
        ("s3://KEY:SE?CR#ET@bucket/x", "s3://***@bucket/x"),
        ("s3:/KEY:SECRET@bucket", "s3:/***@bucket"),
        ("cannot reach 's3://KEY:SECRET@bucket/x': no", "cannot reach 's3://***@bucket/x': no"),
        ("abfs://fs:SECRET@account.dfs.core.windows.net/x", "abfs://***@account.dfs.core.windows.net/x"),
        ("gs://bucket/x?access_token=SECRET&retry=1", "gs://bucket/x?access_token=***&retry=1"),
        ("s3://bucket/x?secret_key=SECRET", "s3://bucket/x?secret_key=***"),
        ("s3://bucket/x@y?region=eu", "s3://bucket/x@y?region=eu"),
        ("s3://A:SECRET@b,s3://C:SECRET@d", "s3://***@b,s3://***@d"),
        ("ray://host:10001", "ray://host:10001"),
        ("results/a:b@c", "results/a:b@c"),
    ],
)
def test_secrets_of_addresses_are_masked(address: str, shown: str) -> None:
    assert masked(address) == shown
    assert "SECRET" not in str(QuestionError(address))


def test_masking_and_cutting_take_linear_time() -> None:
    def seconds(text: str) -> float:
        begin = time.process_time()
        assert len(excerpt(masked(text))) <= VALUE
        return time.process_time() - begin

    for part, end in (("a.", ""), ("a:/", ""), ("?key", ""), ("s3://a:b", "@"), ("\x1b", "")):
        one, eight = (min(seconds(part * count + end) for _ in range(3)) for count in (4_000, 32_000))
        assert eight < 30 * max(one, 1e-4), "a quadratic time would be 64 times as long"
