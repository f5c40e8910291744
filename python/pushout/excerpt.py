"""Texts from outside as messages show them: on one line, without secrets, cut in the middle when long."""

import re
from collections.abc import Iterator
from reprlib import Repr

VALUE = 60
"""Characters that a message shows of a value."""

LONGEST_PATH = 120
"""Characters that a message shows of the path of a file."""

MESSAGE = 300
"""Characters of the longest message."""

CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]")
"""A character that a terminal obeys instead of showing it: it controls, breaks a line or turns the direction."""

MARK = re.compile(r"\n *\d* \| .*\n +\| *\^")
"""The line of a file below a message, with a caret."""

SCHEME = re.compile(r"\b[a-z][a-z0-9+.-]{0,20}:/{1,2}", re.IGNORECASE)
"""The beginning of an address."""

PATH = re.compile("[/?#]")
"""What ends the part of an address with user, password and host."""

PARAMETER = re.compile(
    r"([?&][^=&#\s]{0,40}(?:key|secret|token|pass|sig|sas|cred)[^=&#\s]{0,40}=)[^&#\s]+", re.IGNORECASE
)
"""A parameter of an address that may be a secret."""

_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxother = 3, 2 * VALUE


def excerpt(text: str, most: int = VALUE) -> str:
    """A text on one line, in at most so many characters."""
    return cut("".join(map(_visible, _ends(text, most))), most)


def quoted(value: object, most: int = VALUE) -> str:
    """A value as Python writes it, on one line, in about so many characters."""
    if isinstance(value, str):
        return cut(repr(_ends(value, most)), most + 2)
    try:
        return excerpt(_SHORT.repr(value), most)
    except ValueError:  # Python does not write whole numbers of thousands of digits
        return "a whole number of thousands of digits"


def cut(text: str, most: int) -> str:
    """A text in at most so many characters: an ellipsis stands for what is cut out of its middle."""
    head = most // 2
    return text if len(text) <= most else f"{text[:head]}…{text[len(text) - (most - head - 1) :]}"


def place(path: str) -> str:
    """A path or an address, without secrets and not too long."""
    return excerpt(masked(path), LONGEST_PATH)


def fitted(message: str) -> str:
    """A message in at most `MESSAGE` characters, without the line of the file if there is no room for it."""
    return message if len(message) <= MESSAGE else cut(MARK.sub("", message), MESSAGE)


def printable(text: str) -> str:
    """A text of several lines without characters that a terminal obeys."""
    return CONTROL.sub(lambda found: found[0] if found[0] == "\n" else _visible(found[0]), text)


def masked(text: str) -> str:
    """A text without the secrets of the addresses in it."""
    if "@" in text:
        text = re.sub(r"\S+", lambda word: "".join(_without_users(word[0])), text)
    return PARAMETER.sub(r"\1***", text)


def _without_users(word: str) -> Iterator[str]:
    """The pieces of a word, with stars for the user and the password of an address.

    A slash in a password should be written %2F, but who did not do so has a secret all the same: where a colon stands
    before the first slash, everything up to the last @ counts as one.
    """
    start, last = 0, word.rfind("@")
    while (scheme := SCHEME.search(word, start, last)) is not None:
        head = PATH.search(word, scheme.end())
        authority = word[scheme.end() : head.start() if head else None]
        end = scheme.end()
        if "@" in authority:
            end += authority.rfind("@") + 1
        elif ":" in authority:
            end = last + 1
        yield word[start : scheme.end()] + "***@" * (end > scheme.end())
        start = end
    yield word[start:]


def _ends(text: str, most: int) -> str:
    """As much of a text as is looked at when its middle is cut out."""
    return text if len(text) <= 2 * most else text[:most] + text[-most:]


def _visible(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()
