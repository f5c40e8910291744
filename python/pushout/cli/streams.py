"""Standard output and standard error, also when they are closed, full or of an encoding with few characters."""

import codecs
import errno
import json
import os
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any, TextIO

import click

from pushout.errors import PushoutError
from pushout.excerpt import CONTROL, masked, printable
from pushout.excerpt import place as shown_place
from pushout.limits import MOST_LEFT_OUT

PLAIN = {
    "±": "+/-",
    "–": "-",
    "−": "-",
    "─": "-",
    "═": "=",
    "│": "|",
    "▌": "|",
    "╭": "+",
    "╮": "+",
    "╰": "+",
    "╯": "+",
    "⁻": "-",
    "λ": "lambda",
    "…": "...",
    "·": "*",
    "•": "*",
    "÷": "/",
    "×": "x",
    "√": "sqrt",
    "≥": ">=",
    "≤": "<=",
    "≠": "!=",
    "→": "->",
    "←": "<-",
    "µ": "u",
    "“": '"',
    "”": '"',
    "✓": "+",
    "✗": "-",
}
"""Replacements for characters that an encoding lacks."""

BROKEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Error codes of a stream that cannot be written to."""


_CLOSED: set[str] = set()
"""The streams that were closed when the process began."""


def prepare() -> None:
    """Make both streams accept every text; messages to a closed one are discarded."""
    codecs.register_error("plain", _plain)
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            _CLOSED.add(name)
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="plain")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return "".join(map(_stand_in, wrong)), error.end


def _stand_in(sign: str) -> str:
    """Replace a character: by a listed word, the name of a Greek letter, or a letter without its accent."""
    if unicodedata.combining(sign):
        return ""
    kind, *_, name = (unicodedata.name(sign, "") or " ").split(" ")
    bare = unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode()
    unknown = "??" if unicodedata.east_asian_width(sign) in "WF" else "?"  # as wide as the character, for tables
    return PLAIN.get(sign) or (name.lower() if kind == "GREEK" else bare) or unknown


def json_text(document: Any) -> str:
    """Write a JSON document as text."""
    return json.dumps(document, indent=2, ensure_ascii=False)


def check_open() -> None:
    """Refuse a closed standard output, in which a document would be lost."""
    if "stdout" in _CLOSED:
        raise OSError(errno.EBADF, "is closed, so the JSON document would be lost")


def echo_json(document: Any) -> None:
    """Print a JSON document, with escapes for characters that the standard output lacks."""
    check_open()
    text = json_text(document)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2)
    click.echo(CONTROL.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text))


def tell(message: str) -> None:
    """Print a message to standard error."""
    click.echo(printable(masked(message)), err=True)


def tell_left_out(left_out: Sequence[str]) -> None:
    """Print to standard error what a scenario lacks of the files that it was made from."""
    for line in left_out[:MOST_LEFT_OUT]:
        tell(line)
    if len(left_out) > MOST_LEFT_OUT:
        tell(f"{len(left_out) - MOST_LEFT_OUT} more are left out")


def tell_further(error: PushoutError) -> None:
    """Print the further mistakes of a scenario to standard error."""
    for message in getattr(error, "further", ()):
        tell(f"also: {message}")


def drop() -> None:
    """Drop output that could not be written: the interpreter's last flush must not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())


def place(error: OSError) -> str:
    """Name the file, folder, address or stream of an error, as far as it tells."""
    if error.filename is None:
        return "the standard output" if error.errno in BROKEN else "pushout"
    return shown_place(os.fsdecode(error.filename))
