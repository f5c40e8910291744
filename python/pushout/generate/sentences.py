"""Sentences with numbers on pages: a template finds its sentence, compares the numbers and replaces them.

    EPD delivers {100 * epd["goodput_ratio"]:.1f} % of the ideal

A template is a sentence of a page whose numbers are Python expressions with a format, as in an f-string. Its words find
the sentence, wherever its lines are broken.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import Formatter
from typing import Any

_NUMBER = r"((?:(?!\n\n)[\s\S]){1,160}?)"
"""A value on a page: a number with or without a unit, within a paragraph."""


class SentenceError(ValueError):
    """A sentence is missing on its page, occurs twice, or says what does not hold."""


@dataclass(frozen=True)
class Sentence:
    """A sentence on a page, and what else has to be true for its words."""

    page: str
    text: str
    holds: Sequence[str] = ()
    """Expressions that have to be true: the comparisons that the sentence makes in words."""

    def values(self, names: Mapping[str, Any]) -> list[str]:
        """Evaluate the numbers of the sentence with these names; refuse if a comparison does not hold."""
        for check in self.holds:
            if not evaluated(check, names):
                raise SentenceError(f"{self.page}: {check} must hold for the sentence {self.text!r}")
        return [format(evaluated(field, names), spec) for field, spec in self._fields if field is not None]

    def differences(self, page: str, values: Sequence[str]) -> list[str]:
        """List the values of the sentence on a page that are not these."""
        found = [" ".join(each.split()) for each in self._match(page).groups()]
        pairs = zip(found, values, strict=True)
        return [f"{self.page} has {old}, the program gives {new}: {self.text!r}" for old, new in pairs if old != new]

    def filled(self, page: str, values: Sequence[str]) -> str:
        """Replace the numbers of the sentence on a page that differ from these."""
        match = self._match(page)
        for place, new in reversed(list(enumerate(values, 1))):
            if " ".join(match[place].split()) != new:
                begin, end = match.span(place)
                page = page[:begin] + new + page[end:]
        return page

    def places(self, page: str) -> list[tuple[int, int]]:
        """List where the numbers of the sentence begin and end on a page."""
        match = self._match(page)
        return [match.span(place) for place in range(1, len(match.groups()) + 1)]

    def span(self, page: str) -> tuple[int, int]:
        """Return where the sentence begins and ends on a page."""
        return self._match(page).span()

    @cached_property
    def _fields(self) -> list[tuple[str | None, str]]:
        """The expressions between the words with their formats; None after the last word."""
        return [(field, spec or "") for _, field, spec, _ in Formatter().parse(self.text)]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Return a pattern: the words with any white space between them, and a group for each number."""
        parts, fields = [], [field for _, field, _, _ in Formatter().parse(self.text)]
        if re.match(r"\s*\{", self.text) or fields[-1] is not None:
            raise SentenceError(f"a sentence must begin and end with a word, not with a number: {self.text!r}")
        for words, field, _, _ in Formatter().parse(self.text):
            parts += [re.sub(r"(\\\s|\s)+", r"\\s+", re.escape(words)), "" if field is None else _NUMBER]
        return re.compile("".join(parts))

    def _match(self, page: str) -> re.Match[str]:
        found = list(self._pattern.finditer(page))
        if len(found) != 1:
            raise SentenceError(f"{self.page} must have the sentence once, not {len(found)} times: {self.text!r}")
        return found[0]


def evaluated(expression: str, names: Mapping[str, Any]) -> Any:
    """Evaluate an expression of docs/answers.toml, which is code of this repository like a test."""
    return eval(expression, dict(names))  # noqa: S307


SMALL = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def word(number: int) -> str:
    """Write a small number as a word."""
    return SMALL[number] if number < len(SMALL) else str(number)


def spaced(number: float) -> str:
    """Write a whole number with a space between groups of three digits."""
    return f"{number:,.0f}".replace(",", " ")
