"""The numbers of acceptance tests, and the configurations that explain them."""

from rich.console import Console

from pushout.quantity import grouped
from pushout.show.columns import Column, draw
from pushout.switch.explain import Configuration, ExplainResult
from pushout.switch.predict import ChipResult
from pushout.switch.proposal import Range


def predicted(result: ChipResult, console: Console) -> None:
    """Print every number with its margin, then the reasons."""
    columns = [Column("number", right=False), Column("packets"), Column("cells"), Column("margin")]
    rows = [[each.name, grouped(each.value), grouped(each.cells), f"± {each.margin}"] for each in result.expected]
    draw(console, columns, rows)
    for each in result.expected:
        console.print(f"{each.name}: {each.why}", soft_wrap=True)


def explained(result: ExplainResult, console: Console) -> None:
    """Print the configurations of every class, and what its counts leave open."""
    for each in result.explanations:
        if each.configurations:
            titles = ("α", "cell (bytes)", "reserved\n(cells)", "shared\n(cells)", "headroom\n(cells)", "residuals")
            columns = [Column(title, right=index != 1) for index, title in enumerate(titles)]
            draw(console, columns, [_row(found) for found in each.configurations])
        console.print(f"{each.name}: {each.note}" if each.name else each.note, soft_wrap=True)


def _row(found: Configuration) -> list[str]:
    residuals = {value for value in found.residuals.values() if value}
    return [
        f"{float(found.alpha):g}",
        ", ".join(map(str, found.cells)),
        _range(found.reserved),
        _range(found.shared),
        "–" if found.headroom is None else _range(found.headroom),
        ", ".join(f"{value:+}" for value in sorted(residuals)) or "0",
    ]


def _range(found: Range) -> str:
    return grouped(found.low) if found.low == found.high else f"{grouped(found.low)} – {grouped(found.high)}"
