"""Answers for people at a terminal, and as documents."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pushout.question.sweep import SweepResult
from pushout.stats import Interval

MANY = 40
"""Points beyond these are only in the table of rows."""

USUAL = ("goodput_ratio", "fairness_mean_deviation", "fairness_jain")
"""Figures that are shown unless the sweep names its own."""


def sweep_document(result: SweepResult) -> dict[str, Any]:
    """The manifest, without the texts of scenario and sweep, and the mean of every figure at every point."""
    document = {key: value for key, value in result.manifest.items() if key not in ("scenario", "sweep")}
    means = {name: result.means(name) for name in result.scalars()}
    document["means"] = [
        {"point": point, **values, "figures": {name: column[point] for name, column in means.items()}}
        for point, values in enumerate(result.points)
    ]
    return document


def sweep(result: SweepResult, console: Console) -> None:
    """The mean of the main figures at every point."""
    names = [name for name in result.manifest["figures"] if name in result.scalars()] or list(USUAL)
    names = list(dict.fromkeys(["goodput_ratio", *names]))
    swept = [name for name in result.swept() if not _is_table(result.points, name)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in (*swept, "runs", *names):
        table.add_column(name, justify="right" if name in ("runs", *names) else "left", overflow="fold")
    means = [result.means(name) for name in names]
    for point, values in enumerate(result.points[:MANY]):
        cells = [str(values.get(name, "–")) for name in swept]
        found = [column[point] for column in means]
        table.add_row(*map(Text, cells), _count(found), *map(mean, found))
    console.print(table)
    if len(result.points) > MANY:
        console.print(f"… and {len(result.points) - MANY} more points", style="dim")
    manifest = result.manifest
    console.print(
        f"{manifest['runs']} runs, {manifest['computed']} of them computed now, in {manifest['wall_s']:.1f} s; "
        "means with half of their 95 % intervals.",
        soft_wrap=True,
    )
    if "rows" in manifest:
        console.print(f"Rows: {manifest['rows']}", soft_wrap=True)


def _is_table(points: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether a key stands for a whole table, which belongs to a label of an axis and is too long to show."""
    return any(str(point.get(name)).startswith("{") for point in points)


def _count(found: Sequence[Interval | None]) -> str:
    return str(max((value["n"] for value in found if value), default=0))


def mean(value: Interval | None) -> str:
    """A mean and half of its interval, with as many digits as the interval leaves."""
    if value is None:
        return "–"
    if value["ci95"] is None:
        return f"{value['mean']:.5g}"
    half = value["ci95"][1] - value["mean"]
    return f"{value['mean']:.5g} ± {half:.2g}"
