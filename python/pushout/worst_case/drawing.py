"""The figure of a worst input: the queues of both sides, slot by slot."""

from collections.abc import Mapping, Sequence
from typing import Any

from pushout.answer import drawing

SIDES = {"policy": "policy", "optimum": "against"}
"""The queues of the document's slots, and the key with the name of their side."""


def draw(document: Mapping[str, Any]) -> Any:
    """Draw the queues of each side before it sends, one above the other, with the size of the memory."""
    slots: Sequence[Mapping[str, Any]] = document["input"] or []
    sides = [side for side in SIDES if slots and side in slots[0]] or ["policy"]
    with drawing.paper(rows=len(sides)) as (figure, rows):
        for (axes,), side in zip(rows, sides, strict=True):
            _draw_side(
                axes, [slot[side] for slot in slots], document["memory"], "sender" if document.get("pause") else "port"
            )
            axes.set_title(str(document[SIDES[side]]), loc="left")
        rows[-1][0].set_xlabel("slot")
        drawing.headed(figure, _title(document))
    return figure


def _draw_side(axes: Any, queues: Sequence[Sequence[int]], memory: int, owner: str) -> None:
    """Stack the queues of one side as steps, a slot wide."""
    count = len(queues)
    edges = list(range(count + 1))
    below = [0] * count
    number = len(queues[0]) if queues else 0
    looks = drawing.looks(number)
    for place, look in enumerate(looks):
        above = [base + slot[place] for base, slot in zip(below, queues, strict=True)]
        name = f"{owner} {place}" if number > 1 else "queue"
        axes.stairs(above, edges, baseline=below, fill=True, color=look["color"], alpha=0.75, label=name)
        below = above
    axes.axhline(memory, color="0.4", lw=0.8)
    axes.annotate(f"memory of {memory}", (0, memory), xytext=(3, 2), textcoords="offset points", fontsize=8)
    axes.set_ylim(0, 1.15 * memory)
    axes.set_xlim(0, max(1, count))
    axes.set_ylabel("packets")
    axes.legend(frameon=False, ncols=min(4, max(1, number)), loc="upper right")


def _title(document: Mapping[str, Any]) -> str:
    """Say what the input shows."""
    name = document["policy"]
    if "never" in document:
        return f"The shortest input on which {name} has {document['never']}"
    if document.get("objective") == "delay":
        return f"The longest delay of {name}: {document['delay_slots']} slots"
    if document["reach"] is not None:
        return f"The shortest input of {name} with a ratio of {document['reach']}"
    worst = "The worst input" if document["proved"] else "A bad input"
    return f"{worst} of {name}: ratio {document['ratio']}"
