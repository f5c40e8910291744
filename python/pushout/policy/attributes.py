"""What a program can look at: the attributes of an arrival, with their types."""

from typing import Literal

Type = Literal["int", "float", "bool"]

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
}
"""Their meaning is on the page of the policy `program`."""

OF_CIRCUITS = ("own", "active")
"""Those for which the program looks at more than the total occupancy."""

WITHIN_FRAMES = ("index", "is_first", "is_last")
"""Those that only a program asked by the unit can see."""
