"""Read tables as a paper prints them, row by row; each cell is a number of the study.

    [column]                columns that several tables share: keys of [[number]]
    [[table]]
    id, source              of the numbers: their ids are TABLE.ROW.COLUMN
    case                    the case of `{row}`, which replaces `{case}` in measures
    column.NAME             columns of this table only, or different keys of a shared one
    row.NAME                a cell for each column; `label` and `case` if they differ from those of the table;
                            `dependent` if it holds for all numbers of the row

`{row}` is also the row's label in the label of a column, whose default is `{row}`. A cell is a value, or several as in
`published` of [[number]]; a list has the keys 1, 2, …. A cell with further keys is a table:
`{ published = 0.9, tolerance = { relative = 0.1 } }`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pushout import _core
from pushout.study.toml_entry import keys

FILLED = ("label", "text", "measure")
"""The keys of a column in which `{row}` and `{case}` are replaced."""


def numbers(table: dict[str, Any], shared: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Expand a table into entries of [[number]], given the shared columns."""
    name, source, rows, own = table.pop("id"), table.pop("source"), table.pop("row"), table.pop("column", {})
    case = table.pop("case", "{row}")
    if table:
        raise TypeError(f"unknown key of [[table]]: {', '.join(table)}; allowed: id, source, case, row, column")
    columns = {
        column: {**_column(column, shared), **_column(column, own)} for column in {**shared, **keys("column", own)}
    }
    for row, cells in keys("row", rows).items():
        rest = dict(keys(f"row {row}", cells))
        shared_by_row = {key: rest.pop(key) for key in ("dependent",) if key in rest}
        words = {"{row}": rest.pop("label", row), "{case}": rest.pop("case", str(case).replace("{row}", row))}
        for column, cell in rest.items():
            if column not in columns:
                raise TypeError(f"row {row}: {_core.unknown('column', column, list(columns))}")
            number = {"label": "{row}", **columns[column], **shared_by_row, **_cell(cell)}
            filled = {key: _filled(number[key], words) for key in FILLED if key in number}
            yield {**number, **filled, "id": f"{name}.{row}.{column}", "source": source}


def _column(name: str, columns: Mapping[str, Any]) -> dict[str, Any]:
    return keys(f"column {name}", columns.get(name, {}))


def _cell(cell: Any) -> dict[str, Any]:
    """Complete a cell with the keys of its column."""
    if isinstance(cell, dict) and "published" in cell:
        return {**cell, **_cell(cell["published"])}
    if isinstance(cell, list):
        return {"published": {str(place): value for place, value in enumerate(cell, start=1)}}
    return {"published": cell}


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, str(value))
    return text
