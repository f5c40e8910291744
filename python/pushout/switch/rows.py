"""Texts and rows of the files that describe a switch."""

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pushout import kept
from pushout.errors import QuestionError
from pushout.excerpt import place, printable, quoted
from pushout.limits import MOST_LEFT_OUT

MOST_ROWS = 4096
"""Rows of a table; a switch has hundreds of lines."""

LARGEST = 2**24
"""Bytes of a file."""


def content(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Return the name of a file in messages, and its text."""
    shown = place(os.fspath(path))
    try:
        return shown, kept.content(Path(path), LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QuestionError(f"{shown}: the file must be UTF-8 text; byte {error.start} is not") from None


def of_csv(text: str, shown: str) -> Iterator[tuple[str, list[str]]]:
    """Yield lines of CSV with their places, first that of columns; empty lines and comments (#) are left out."""
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    try:
        for fields in reader:
            values = [field.strip() for field in fields]
            if any(values) and not values[0].startswith("#"):
                yield f"{shown}:{reader.line_num}", values
    except csv.Error as error:
        raise QuestionError(f"{shown}:{reader.line_num}: the line must be CSV: {error}") from None


def of_mappings(rows: Iterable[Mapping[str, object]], shown: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield mappings of columns with their places, and texts as values."""
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise QuestionError(f"{shown}[{number}] must be a mapping of columns, not {quoted(row)}")
        texts = {str(column): "" if value is None else str(value).strip() for column, value in row.items()}
        yield f"{shown}[{number}]", texts


def origin(files: Sequence[Path], facts: Iterable[str] = (), left_out: Sequence[str] = ()) -> str:
    """Return the comment of a written scenario: the files that it came from, what follows from them, what it lacks.

    Files go by their names, so that the text does not depend on the folder of the reader.
    """
    lines = [f"From {', '.join(place(file.name) for file in files)}.", *facts]
    for line in left_out[:MOST_LEFT_OUT]:
        for file in files:
            line = line.replace(place(str(file)), place(file.name))
        lines.append(f"Not here: {line}")
    if len(left_out) > MOST_LEFT_OUT:
        lines.append(f"Not here: {len(left_out) - MOST_LEFT_OUT} more things")
    return "".join(f"# {printable(' '.join(line.splitlines()))}\n" for line in lines) + "\n"
