"""An input on which a packet of a lossless class is lost, as a scenario: recorded arrivals, and pauses of outputs.

In a slot of the model first senders send, then outputs. In the scenario senders send in the middle of a slot, `GAP_PS`
apart, and a pause from outside lets an output begin only at three quarters of the slots in which it sends; its packet
takes a tenth of a slot. A sender that is stopped at s + 1/2 obeys at s + 1/2 + D + 3/10: it has sent in the D following
slots, and not in the next one. One that goes on when a packet leaves, at s + 17/20, can send before slot s + D + 1.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pushout.cache import write as write_file
from pushout.document import Document
from pushout.errors import InternalError
from pushout.excerpt import place
from pushout.literals import ENGINES
from pushout.simulate import Job
from pushout.source import load, toml
from pushout.worst_case.scenario import GAP_PS, OCTETS, SLOT_PS, checked, flow_section, policies, row, switch

OPEN_PS = SLOT_PS // 100
"""How long an output may begin to send in a slot: less than its packet takes."""

RATE = f"{8 * OCTETS * 10 * 10**12 // SLOT_PS} b/s"
"""The rate of an output, which sends a packet in a tenth of a slot."""


def write(document: Document, path: Path) -> dict[str, Any]:
    """Write the scenario of a counter-example, run it on both engines, and return what it delivered."""
    recording = checked(path).with_suffix(".csv")
    write_file(recording, "\n".join(["time,bytes,flow", *_arrivals(document)]) + "\n")
    write_file(path, _scenario(document, recording.name))
    expected = (document["policy_count"], document["lost_count"])
    for engine in ENGINES:
        ports = Job(load(path), (), engine).run(None)["ports"]
        outputs = [port for port in ports if port["name"].startswith("port")]
        found = tuple(sum(port.get(key, 0) for port in outputs) for key in ("units_out", "lossless_drop"))
        if found != expected:
            raise InternalError(f"{place(str(path))}: sent and lost {found} with {engine}, and {expected} in the model")
    return {"scenarios": [str(path)], "delivered": [expected[0]]}


def _arrivals(document: Document) -> Iterator[str]:
    """Yield the packets of each sender; one that sends nothing has a packet after the end, so that it has a queue."""
    slots = document["input"]
    for number, slot in enumerate(slots):
        for place_in_slot, (sender, _) in enumerate(slot["arrivals"]):
            yield row(number * SLOT_PS + SLOT_PS // 2 + place_in_slot * GAP_PS, f"sender{sender}")
    busy = {sender for slot in slots for sender, _ in slot["arrivals"]}
    for sender in set(range(document["ports"])) - busy:
        yield row(2 * _duration(document), f"sender{sender}")


def _duration(document: Document) -> int:
    """Return the duration of a run, in which outputs that are not paused any more send everything, in picoseconds."""
    return SLOT_PS * (len(document["input"]) + int(document["memory"]) + 2)


def _pauses(document: Document, output: int) -> Iterator[tuple[int, int]]:
    """Yield the beginning and the end of each pause of an output, in picoseconds."""
    begin = 0
    for number, slot in enumerate(document["input"]):
        if output in slot["sends"]:
            end = number * SLOT_PS + SLOT_PS * 3 // 4
            yield begin, end
            begin = end + OPEN_PS
    yield begin, len(document["input"]) * SLOT_PS


def _scenario(document: Document, recording: str) -> str:
    """Write the scenario."""
    senders, pause = range(document["ports"]), document["pause"]
    response = pause["response"] * SLOT_PS + SLOT_PS * 3 // 10
    thresholds = {"xoff": f"{pause['xoff']} cells", "xon": f"{pause['xon']} cells", "response": f"{response} ps"}
    lines = [
        f"# The shortest input on which {document['policy']} loses a packet of a lossless class: a memory of",
        f"# {document['memory']} packets, {pause['headroom']} of them headroom. Slots of {SLOT_PS / 1e6:g} us: senders",
        "# send in the middle of one, outputs at its end unless a pause stops them. Written by pushout worst.",
        "",
        *switch("lossless-drop", _duration(document), SLOT_PS, document, RATE),
        f'pool.in = {{ side = "ingress", headroom = "{pause["headroom"]} cells" }}',
        *policies(document["policies"]["policy"]),
        "",
        "[queue.lossless]",
        f"pause = {toml(thresholds)}",
        *(f'\n[port.port{sender}]\nmemory = "shared"' for sender in senders),
        "",
        "[flows.transport]",
        'kind = "udp"',
        *(flow_section(f"sender{sender}", sender, recording) for sender in senders),
        *(line for output in senders for pair in _pauses(document, output) for line in _storm(output, pair)),
    ]
    return "\n".join(lines) + "\n"


def _storm(output: int, pair: tuple[int, int]) -> list[str]:
    return ["", "[[storm]]", f'port = "port{output}"', f'from = "{pair[0]} ps"', f'to = "{pair[1]} ps"']
