"""The standard output and the standard error, whatever they can take: closed, full, or with few signs."""

import codecs
import errno
import json
import os
import sys
import unicodedata
from typing import Any, TextIO

import click

from pushout.excerpt import CONTROL, masked, printable
from pushout.excerpt import place as shown_place

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
"""What stands for signs that an encoding lacks."""

BROKEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""What a stream without a name answers that cannot be written to."""


def prepare() -> None:
    """Have both streams take every text; what is written to a closed one goes nowhere."""
    codecs.register_error("plain", _plain)
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="plain")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return "".join(map(_stand_in, wrong)), error.end


def _stand_in(sign: str) -> str:
    """What stands for a sign: its own word, the name of a Greek letter, a letter without its accent."""
    if unicodedata.combining(sign):
        return ""
    kind, *_, name = (unicodedata.name(sign, "") or " ").split(" ")
    bare = unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode()
    unknown = "??" if unicodedata.east_asian_width(sign) in "WF" else "?"  # as wide as the sign, for tables
    return PLAIN.get(sign) or (name.lower() if kind == "GREEK" else bare) or unknown


def json_text(document: Any) -> str:
    """A JSON document as it is printed and written."""
    return json.dumps(document, indent=2, ensure_ascii=False)


def echo_json(document: Any) -> None:
    """Print a JSON document, with escapes where the standard output lacks a sign."""
    text = json_text(document)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2)
    click.echo(CONTROL.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text))


def tell(message: str) -> None:
    """Print a message on the standard error."""
    click.echo(printable(masked(message)), err=True)


def drop() -> None:
    """Forget what could not be written: the interpreter's last flush must not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def place(error: OSError) -> str:
    """Where something went wrong, as far as the error says: files have names, and so have folders and addresses."""
    if error.filename is None:
        return "the standard output" if error.errno in BROKEN else "pushout"
    return shown_place(os.fsdecode(error.filename))
