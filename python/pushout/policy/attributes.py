"""Attributes of a unit and its port that a program can read, with their types."""

from typing import Literal

Type = Literal["int", "float", "bool"]

Hook = Literal["arrival", "head", "tick", "serve", "joined", "sent", "give_way", "ack", "loss"]
"""The functions of a program: about a unit that arrives, about one at the head of its queue, and that of a clock; a
scheduler's choice of a queue, about a unit that has joined a queue, and about one that is sent; push-out's choice; a
congestion control's about an acknowledgement, and about a loss.
"""

ATTRIBUTES: dict[str, Type] = {
    "now": "float",
    "now_ps": "int",
    "bytes": "int",
    "size": "int",
    "index": "int",
    "is_first": "bool",
    "is_last": "bool",
    "clp": "bool",
    "ect": "bool",
    "fits": "bool",
    "vc": "int",
    "total": "int",
    "own": "int",
    "active": "int",
    "circuits": "int",
    "capacity": "int",
    "rate": "int",
    "mcr": "int",
    "weight": "float",
    "frame": "int",
    "empty_since": "float",
    "empty_since_ps": "int",
    "overflows": "int",
    "mtu": "int",
    "queue": "int",
    "waiting": "int",
    "waited": "float",
    "waited_ps": "int",
    "every": "float",
}
"""Their meaning is on the page of the policy `program`."""

OF_CONNECTIONS: dict[str, Type] = {
    "now": "float",
    "now_ps": "int",
    "mss": "int",
    "flight": "int",
    "acknowledged": "int",
    "sent": "int",
    "advertised": "int",
    "acked": "int",
    "delivered": "int",
    "lost": "int",
    "marked": "bool",
    "opens": "bool",
    "rtt": "float",
    "rtt_ps": "int",
    "by_timeout": "bool",
    "by_mark": "bool",
}
"""What a congestion control can read of its connection, an acknowledgement or a loss, with the types."""

CONTROLS: dict[str, Type] = {"window": "int", "threshold": "int", "pacing": "int"}
"""State that every congestion control has."""

OF_ACKS = ("acked", "delivered", "lost", "marked", "opens", "rtt", "rtt_ps")
OF_LOSSES = ("by_timeout", "by_mark")
"""Those that only one of its functions can read."""

AS_STATE = {
    "cwnd": "window",
    "ssthresh": "threshold",
    "snd_cwnd": "window",
    "window": "window",
    "pacing_rate": "pacing",
}
"""Names that other programs give to its state."""

ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(("queue_length", "qlen", "queue_size", "length", "backlog", "occupancy", "queue_bytes"), "total"),
    **dict.fromkeys(("buffer", "buffer_size", "limit", "max_size", "memory"), "capacity"),
    **dict.fromkeys(("packet_size", "pkt_size", "packet_length", "length_bytes", "octets"), "bytes"),
    **dict.fromkeys(("time", "timestamp", "clock"), "now"),
    **dict.fromkeys(("flow", "flow_id", "circuit", "connection"), "vc"),
    **dict.fromkeys(("sojourn", "sojourn_time", "delay", "latency", "queueing_delay"), "waited"),
    **dict.fromkeys(("ecn", "ecn_capable", "is_ect"), "ect"),
    **dict.fromkeys(("bandwidth", "speed", "link_rate"), "rate"),
    **dict.fromkeys(("flows", "connections"), "circuits"),
}
"""Names that other programs give to attributes."""

OF_CIRCUITS = ("own", "active")
"""Those for which the program looks at more than the total occupancy."""

OF_QUEUES = ("queue", "waiting", "waited", "waited_ps")
"""Those for which it looks at queues."""

WITHIN_FRAMES = ("index", "is_first", "is_last")
"""Those that only a program asked by the unit can see."""

AT_HEAD = ("waited", "waited_ps")
"""Those that only units at the head of a queue have."""

OF_PORT = (
    *("now", "now_ps", "total", "active", "circuits", "capacity", "rate", "mtu"),
    *("empty_since", "empty_since_ps", "overflows", "queue", "every"),
)
"""Those that belong to no unit."""


PROPERTIES: dict[str, Type] = {"length": "int", "octets": "int", "weight": "float", "mcr": "int"}
"""Attributes of a queue for schedulers and push-out, as in x.length(0)."""

CHOOSES = ("serve", "give_way")
"""The functions that choose a queue."""

IN_MEMORIES = ("length", "longest", "next_backlogged")
"""Questions about queues by their numbers that the admission policy of a memory can ask."""

BY_NUMBER: dict[Hook, tuple[str, ...]] = {
    "serve": ("now", "now_ps", "circuits", "rate"),
    "joined": ("queue", "now", "now_ps", "circuits", "rate"),
    "sent": ("queue", "bytes", "now", "now_ps", "circuits", "rate"),
    "give_way": ("now", "now_ps", "circuits", "rate", "vc", "size", "own", "total", "active", "capacity"),
}
"""The attributes in functions that look at queues by their numbers."""


def attributes_of(hook: Hook) -> dict[str, Type]:
    """Return the attributes that functions of this kind of program may have."""
    return OF_CONNECTIONS if hook in ("ack", "loss") else ATTRIBUTES


def refusal(name: str, hook: Hook, asks: str) -> str | None:
    """Return the reason why a function cannot read an attribute, if it cannot."""
    if hook == "ack" and name in OF_LOSSES:
        return f"{name} is the cause of a loss: write it in the function on_loss"
    if hook == "loss" and name in OF_ACKS:
        return f"{name} belongs to an acknowledgement: store it in on_ack, as in s.{name} = x.{name}"
    if hook in ("ack", "loss"):
        return None
    if (allowed := BY_NUMBER.get(hook)) is not None:
        return None if name in allowed else f"{name} cannot be seen here (allowed: {', '.join(allowed)})"
    if hook == "tick" and name not in OF_PORT:
        return f"{name} belongs to a unit, and a clock has none (allowed: {', '.join(OF_PORT)})"
    if asks == "frame" and name in WITHIN_FRAMES:
        return f"{name} needs asks='unit': by the frame only first units are seen"
    if hook == "arrival" and name in AT_HEAD:
        return f"{name} is known when a unit has waited: write it in the function at_head"
    if hook != "tick" and name == "every":
        return "every belongs to the clock: write it in the function tick"
    if hook == "head" and name == "fits":
        return "fits is a question about units that arrive; one at the head is in the buffer already"
    return None
