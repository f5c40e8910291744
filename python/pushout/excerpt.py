"""Prepare foreign text for messages: on one line, without secrets, long text cut in the middle."""

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
"""A character that a terminal would execute, not show: control characters, line breaks, changes of direction."""

# Patterns of rare texts are compiled when one is met: that takes longer than reading a scenario.

MARK = r"\n *\d* \| .*\n +\| *\^"
"""The quoted line of a file below a message, with a caret."""

SCHEME = r"(?i)\b[a-z][a-z0-9+.-]{0,20}:/{1,2}"
"""The beginning of an address."""

PATH = "[/?#]"
"""The character that ends user, password and host in an address."""

PARAMETER = r"(?i)([?&][^=&#\s]{0,40}(?:key|secret|token|pass|sig|sas|cred)[^=&#\s]{0,40}=)[^&#\s]+"
"""A parameter of an address that may be a secret."""

_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxother = 3, 2 * VALUE


def excerpt(text: str, most: int = VALUE) -> str:
    """Put a text on one line of at most `most` characters."""
    return cut("".join(map(_visible, _ends(text, most))), most)


def quoted(value: object, most: int = VALUE) -> str:
    """Write a value as Python does, on one line of about `most` characters."""
    if isinstance(value, str):
        return cut(repr(_ends(value, most)), most + 2)
    try:
        return excerpt(_SHORT.repr(value), most)
    except ValueError:  # Python refuses to print integers of thousands of digits
        return "an integer of thousands of digits"


def cut(text: str, most: int) -> str:
    """Shorten a text to at most `most` characters: an ellipsis replaces its middle."""
    head = most // 2
    return text if len(text) <= most else f"{text[:head]}…{text[len(text) - (most - head - 1) :]}"


def place(path: str) -> str:
    """Show a path or an address without secrets and not too long."""
    return excerpt(masked(path), LONGEST_PATH)


def fitted(message: str) -> str:
    """Shorten a message to `MESSAGE` characters.

    It gives up the quoted line of the file first, then a part of the list of what is allowed, as `fitted` in
    `crates/core/src/excerpt.rs` does, and only then its middle.
    """
    if len(message) <= MESSAGE:
        return message
    message = re.sub(MARK, "", message)
    head, allowed, names = message.rpartition(" (allowed: ")
    over = len(message) - MESSAGE
    if over > 0 and allowed and len(names) > over + LEAST_LIST:
        return f"{head}{allowed}{cut(names, len(names) - over)}"
    return cut(message, MESSAGE)


LEAST_LIST = 30
"""Characters that must be left of the list of what is allowed."""


def printable(text: str) -> str:
    """Escape the characters of a text of several lines that a terminal would execute."""
    return CONTROL.sub(lambda found: found[0] if found[0] == "\n" else _visible(found[0]), text)


def masked(text: str) -> str:
    """Mask the secrets of all addresses in a text."""
    if "@" in text:
        text = re.sub(r"\S+", lambda word: "".join(_without_users(word[0])), text)
    return re.sub(PARAMETER, r"\1***", text) if "=" in text else text


def _without_users(word: str) -> Iterator[str]:
    """Yield the pieces of a word, with stars for the user and the password of an address.

    A slash in a password should be written %2F. Some users write it plainly, so if a colon stands before the first
    slash, everything up to the last @ counts as the secret.
    """
    start, last = 0, word.rfind("@")
    beginning, ending = re.compile(SCHEME), re.compile(PATH)
    while (scheme := beginning.search(word, start, last)) is not None:
        head = ending.search(word, scheme.end())
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
    """Cut a very long text to the part that its excerpt needs."""
    return text if len(text) <= 2 * most else text[:most] + text[-most:]


def _visible(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()
