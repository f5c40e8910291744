"""Why a frame was lost, as text."""

from typing import Any

from rich.console import Console

from pushout.counterfactual import WhyResult
from pushout.document import Document
from pushout.show.columns import Column, draw

MOST_ROWS = 10
"""Decisions listed at most."""


def why(result: WhyResult, console: Console) -> None:
    """Print the answer: what happened, what would have prevented it, at what price."""
    document = result.document
    if "report" in document:
        _report(document, console)
        return
    console.print(_happened(document), soft_wrap=True)
    console.print(_found(document), soft_wrap=True)
    if document["open"]:
        console.print(_open(document["open"]), soft_wrap=True)
    if document["saves"]:
        _decisions(document, console)
    if document["policies"]:
        _policies(document, console)


def _happened(document: Document) -> str:
    """Say what happened to the frame, by which rule, with the figures in force."""
    lost, rule = document["frame"], document["rule"]
    policy = rule["policy"] if not rule["pushout"] else f"{rule['policy']} with {rule['pushout']}"
    where = lost["port"] if not rule["memory"] else f"{lost['port']} ({rule['memory']})"
    held = f"{rule['units']} units, {rule['octets']} bytes, were in the port"
    room = "" if rule["capacity"] is None else f", which has room for {rule['capacity']} {rule['measure']}"
    limits = "".join(f"; {name} {level:g}" for name, level in rule["thresholds"].items())
    came = f" ({_ms(lost)} when it came)" if lost["time_s"] != rule["time_s"] else ""
    return (
        f"{_name(lost)} was {_ill(document)} at {where} at {_ms(rule)}{came}, under {policy}. "
        f"When it came, {held}{room}{limits}."
    )


def _open(count: int) -> str:
    """Say that runs ended before the fate of the frame was known."""
    runs = "In 1 of the runs" if count == 1 else f"In {count} of the runs"
    return f"{runs} the frame had not left the port at the end, and counts as not saved: lengthen duration."


def _ill(document: Document) -> str:
    """Say what happened to the frame, and why."""
    ill, reason = document["ill"], document["rule"]["reason"]
    return f"{ill} ({reason})" if reason else ill


def _ms(event: Document) -> str:
    return f"{1e3 * event['time_s']:.6g} ms"


def _found(document: Document) -> str:
    """Say how many decisions would have saved it, and which is the best."""
    saves, best = document["saves"], document["best"]
    tried = f"Of {_decisions_of(document['decisions'])} before it"
    if not saves:
        return f"{tried}, none by itself would have saved it. {_together(document)}"
    shares = ", ".join(
        f"{name} {round(share * len(saves))}" for name, share in sorted(document["shares"].items(), key=lambda x: -x[1])
    )
    earlier = 1e3 * (document["rule"]["time_s"] - best["time_s"])
    return (
        f"{tried}, {len(saves)} would each have saved it ({shares}). The best for the whole run: refuse {_name(best)}, "
        f"{earlier:.3g} ms earlier; then {_frames(best['losses'])} lost instead of {document['losses']}."
    )


def _together(document: Document) -> str:
    found = document["together"]
    sets, size = found["sets"], {2: "pairs", 3: "sets of three"}[found["size"]]
    scope = "" if found["complete"] else ", of the latest decisions alone"
    if not sets:
        return f"No {size} would have, either{scope}."
    example = " and ".join(_name(each) for each in sets[-1])
    return f"{len(sets)} {size} would have{scope}: {example}."


def _decisions(document: Document, console: Console) -> None:
    """List the decisions by the losses of their runs."""
    end = document["rule"]["time_s"]
    rows = sorted(document["saves"], key=lambda each: (each["losses"], -each["time_s"]))
    columns = [Column("refuse", right=False), Column("earlier (ms)"), Column("lost in the run")]
    shown = [[_name(each), f"{1e3 * (end - each['time_s']):.4g}", str(each["losses"])] for each in rows[:MOST_ROWS]]
    draw(console, columns, shown)
    if len(rows) > MOST_ROWS:
        console.print(f"… and {len(rows) - MOST_ROWS} more (--json)")


def _policies(document: Document, console: Console) -> None:
    words = {True: "saved", False: "lost", None: "never came"}
    columns = [Column("policy", right=False), Column("the frame", right=False), Column("lost in the run")]
    draw(console, columns, [[p["policy"], words[p["saves"]], str(p["losses"])] for p in document["policies"]])


def _report(document: Document, console: Console) -> None:
    of = "" if document["frames"] == document["of"] else f" (the first of {document['of']})"
    tried = f"{_decisions_of(document['decisions'])} tried"
    console.print(f"Port {document['port']}: {_frames(document['frames'])} lost{of}; {tried}.", soft_wrap=True)
    columns = [Column("refuse", right=False), Column("at (ms)"), Column("saves"), Column("lost in the run")]
    columns[-1] = Column(f"lost in the run\n(as it was: {document['losses']})")
    rows: list[list[Any]] = [
        [_name(each), f"{1e3 * each['time_s']:.6g}", str(each["saves"]), str(each["losses"])]
        for each in document["report"]
    ]
    draw(console, columns, rows)


def _name(frame: Document) -> str:
    kind = "ACK" if "ack" in frame else "frame"
    return f"{kind} {frame['number']} of {frame['flow']}"


def _frames(count: int) -> str:
    return "1 frame is" if count == 1 else f"{count} frames are"


def _decisions_of(count: int) -> str:
    return "1 decision" if count == 1 else f"{count} decisions"
