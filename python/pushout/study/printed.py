"""Tables as a paper prints them, row by row; each of their cells is a number of the study.

    [column]                columns that several tables have: keys of [[number]]
    [[table]]
    id, source              that of the numbers: their ids are TABLE.ROW.COLUMN
    case                    where `{row}` is measured, for `{case}` in measures
    column.NAME             columns of this table alone, or what is different here in one that others have
    row.NAME                a cell for each column; `label` and `case` if they are not those of the table

`{row}` also stands for the row's label in the label of a column, which is just this by default. A cell is a value, or
several as `published` of [[number]] has them; a list stands for the keys 1, 2, …. A cell with something of its own is a
table: `{ published = 0.9, tolerance = { relative = 0.1 } }`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pushout import _core
from pushout.study.toml_entry import keys

FILLED = ("label", "text", "measure")
"""The keys of a column in which `{row}` and `{case}` stand for something."""


def numbers(table: dict[str, Any], shared: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The cells of a table as entries of [[number]], given the columns that all tables share."""
    name, source, rows, own = table.pop("id"), table.pop("source"), table.pop("row"), table.pop("column", {})
    case = table.pop("case", "{row}")
    if table:
        raise TypeError(f"unknown key of [[table]]: {', '.join(table)}")
    columns = {
        column: {**_column(column, shared), **_column(column, own)} for column in {**shared, **keys("column", own)}
    }
    for row, cells in keys("row", rows).items():
        rest = dict(keys(f"row {row}", cells))
        words = {"{row}": rest.pop("label", row), "{case}": rest.pop("case", str(case).replace("{row}", row))}
        for column, cell in rest.items():
            if column not in columns:
                raise TypeError(f"row {row}: {_core.unknown('column', column, list(columns))}")
            number = {"label": "{row}", **columns[column], **_cell(cell)}
            filled = {key: _filled(number[key], words) for key in FILLED if key in number}
            yield {**number, **filled, "id": f"{name}.{row}.{column}", "source": source}


def _column(name: str, columns: Mapping[str, Any]) -> dict[str, Any]:
    return keys(f"column {name}", columns.get(name, {}))


def _cell(cell: Any) -> dict[str, Any]:
    """A cell with all that it says."""
    if isinstance(cell, dict) and "published" in cell:
        return {**cell, **_cell(cell["published"])}
    if isinstance(cell, list):
        return {"published": {str(place): value for place, value in enumerate(cell, start=1)}}
    return {"published": cell}


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, str(value))
    return text
