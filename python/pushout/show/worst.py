"""The worst case of a policy: the ratio, its proof, and the input slot by slot."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from pushout.quantity import grouped
from pushout.show.columns import Column, draw
from pushout.worst_case.delay import DelayResult
from pushout.worst_case.never import Alone, NeverResult
from pushout.worst_case.ratio import WorstResult


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
    losses = _losses(document, unit)
    least = "" if document["proved"] else "at least "
    head = f"{document['policy']}, {_place(document)}: the worst case against {against} is {least}{ratio}{about}"
    if document["objective"] == "losses":
        more = losses.pop().removeprefix("losses: ") if losses else f"none more than {against}"
        head = (
            f"{document['policy']}, {_place(document)}: losses are in the worst case {more}, since the ratio is {ratio}"
        )
    return [
        head,
        _upper(document),
        f"lower bound: a cycle of {_counted(lap['slots'], 'slot')} and {_counted(lap['arrivals'], what)} attains it, "
        "played and verified",
        *losses,
        f"{_input(document)}: {document['policy_count']} {unit}s sent, and {document['optimum_count']} by {against}",
    ]


def never(result: NeverResult, console: Console) -> None:
    """Print whether an event never happens, then a row for every slot of the input on which it does."""
    for line in verdict(result.document):
        console.print(line, soft_wrap=True)
    if result.input:
        _draw_alone(result, console)


def verdict(document: Mapping[str, Any]) -> list[str]:
    """Say whether an event never happens, in sentences."""
    head = f"{document['policy']}, {_place(document)}"
    states = _counted(document["states"], "state")
    if document["proved"]:
        return [
            f"{head}: never {document['never']}, on no input",
            f"proved by a visit to all {states}, verified",
        ]
    unit = "cell" if document["frames"] else "packet"
    return [
        f"{head}: {document['never']} happens",
        f"no input with fewer arrivals and slots than the one below has it, among {states}, played and verified",
        f"an arrival in parentheses loses a {unit}: "
        f"{document['policy_count']} {unit}s sent, {document['lost_count']} lost",
    ]


def delay(result: DelayResult, console: Console) -> None:
    """Print the longest delay, then a row for every slot of an input that attains it."""
    document = result.document
    head, states = f"{document['policy']}, {_place(document)}", _counted(document["states"], "state")
    unit = "cell" if document["frames"] else "packet"
    console.print(f"{head}: no {unit} waits longer than {_counted(result.slots, 'slot')}, on any input", soft_wrap=True)
    console.print(f"proved by a visit to all {states}; the input below attains it, played", soft_wrap=True)
    _draw_alone(result, console)


def _draw_alone(result: Alone, console: Console) -> None:
    """Draw a row for every slot of an input of a policy alone."""
    titles = ["arrivals", result.document["policy"]]
    rows = [[str(number), _arrivals(slot), _queues(slot["policy"])] for number, slot in enumerate(result.input)]
    if result.document.get("pause"):
        keys = ("headroom", "sends", "stopped")
        titles += keys
        rows = [[*row, *(_queues(slot[key]) for key in keys)] for row, slot in zip(rows, result.input, strict=True)]
    draw(console, [Column("slot"), *(Column(title, right=False) for title in titles)], rows)


def _counted(number: int, thing: str) -> str:
    return f"1 {thing}" if number == 1 else f"{grouped(number)} {thing}s"


def _place(document: Mapping[str, Any]) -> str:
    """Say which buffer a question is about."""
    if pause := document.get("pause"):
        room = f"{document['memory']} packets, {pause['headroom']} of them headroom"
        of_each = f"each may take {pause['xoff']} and obeys {_counted(pause['response'], 'slot')} later"
        return f"{_counted(document['ports'], 'sender')} to a memory of {room}; {of_each}"
    if not document["frames"]:
        return f"{_counted(document['ports'], 'port')} that share {document['memory']} packets"
    circuits = _counted(document["ports"], "circuit")
    return f"a port of {document['memory']} cells, {circuits} with frames of {document['frames']} cells"


def _losses(document: Mapping[str, Any], unit: str) -> list[str]:
    """Say what the ratio means for losses, if the policy loses more than its opponent."""
    more, _, sent = document["excess_loss"].partition("/")
    if more == "0":
        return []
    against = document["against"]
    most = "at most" if document["proved"] else "on this cycle"
    return [f"losses: {most} {_counted(int(more), unit)} more than {against} for {sent or more} that {against} sends"]


def _upper(document: Mapping[str, Any]) -> str:
    """Say what proves the upper bound."""
    states = grouped(document["states"])
    if not document["proved"]:
        unit = document["unit"]
        return f"searched, not proved: {states} states that moves of {unit} packets reach; an input may be worse"
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
    return [_arrivals(slot), *(_queues(slot[side]) for side in ("policy", "optimum"))]


def _arrivals(slot: Mapping[str, Any]) -> str:
    return " ".join(str(port) if takes else f"({port})" for port, takes in slot["arrivals"])


def _queues(lengths: Sequence[int]) -> str:
    return " ".join(map(str, lengths))


def answer(result: WorstResult | Alone, console: Console) -> None:
    """Print an answer about the worst case of a policy."""
    if isinstance(result, NeverResult):
        never(result, console)
    elif isinstance(result, DelayResult):
        delay(result, console)
    elif isinstance(result, WorstResult):
        worst(result, console)
