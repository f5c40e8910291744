"""The worst case of a policy: the ratio, its proof, and the input slot by slot."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from pushout.question.quantity import grouped
from pushout.question.worst import WorstResult
from pushout.show.columns import Column, draw


def worst(result: WorstResult, console: Console, *, slots: bool = True) -> None:
    """Print the ratio and what proves it, then a row for every slot of the input."""
    for line in sentences(result.document):
        console.print(line, soft_wrap=True)
    if slots and result.input:
        titles = ("slot", "arrivals", result.document["policy"], result.document["against"])
        columns = [Column(titles[0]), *(Column(title, right=False) for title in titles[1:])]
        draw(console, columns, [[str(number), *_slot(slot)] for number, slot in enumerate(result.input)])


def sentences(document: Mapping[str, Any]) -> list[str]:
    """Say what the answer is, in sentences."""
    ratio, value, against = document["ratio"], document["value"], document["against"]
    about = "" if value is None or "/" not in ratio else f" = {value:.4f}"
    lap, frames = document["lap"], document["frames"]
    unit, what = ("frame", "cell") if frames else ("packet", "packet")
    place = f"{document['ports']} ports that share {document['memory']} packets"
    if frames:
        circuits = "1 circuit" if document["ports"] == 1 else f"{document['ports']} circuits"
        place = f"a port of {document['memory']} cells, {circuits} with frames of {frames} cells"
    return [
        f"{document['policy']}, {place}: the worst case against {against} is {ratio}{about}",
        _upper(document),
        f"lower bound: a cycle of {lap['slots']} slots and {lap['arrivals']} {what}s attains it, played and verified",
        f"{_input(document)}: {document['policy_count']} {unit}s sent, and {document['optimum_count']} by {against}",
    ]


def _upper(document: Mapping[str, Any]) -> str:
    """Say what proves the upper bound."""
    states = grouped(document["states"])
    if document["value"] is None:
        return f"upper bound: none, since the policy sends nothing on a cycle among {states} states"
    return f"upper bound: no input exceeds it for ever, by a potential of {states} states, verified"


def _input(document: Mapping[str, Any]) -> str:
    """Say what the input is."""
    if document["reach"] is None:
        return "the input below leads there and goes round three times"
    return f"no input with fewer slots than the {len(document['input'])} below reaches {document['reach']}"


def grid(rows: Sequence[Mapping[str, Any]], names: Sequence[str], console: Console) -> None:
    """Print a row for each point of a grid."""
    columns = [*map(Column, names), Column("ratio"), Column("value"), Column("states")]
    cells = [[*(str(row["at"][name]) for name in names), *_point(row)] for row in rows]
    draw(console, columns, cells)


def _point(row: Mapping[str, Any]) -> list[str]:
    value = "" if row["value"] is None else f"{row['value']:.4f}"
    return [row["ratio"], value, grouped(row["states"])]


def _slot(slot: Mapping[str, Any]) -> list[str]:
    """Write the ports of a slot's arrivals, in parentheses if the optimum refuses one, and the queues of both sides."""
    arrivals = " ".join(str(port) if takes else f"({port})" for port, takes in slot["arrivals"])
    return [arrivals, *(" ".join(map(str, slot[side])) for side in ("policy", "optimum"))]
