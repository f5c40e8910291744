"""The instructions of a program while they are written."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pushout.policy.attributes import OF_CIRCUITS, OF_QUEUES, Hook, Type


@dataclass(frozen=True)
class Names:
    """Names that a program can use beside the attributes of a unit, with their types."""

    asks: str
    params: Mapping[str, Type]
    state: Mapping[str, Type]
    per_vc: Mapping[str, Type]
    per_queue: Mapping[str, Type]


@dataclass
class Place:
    """The target of jumps."""

    jumps: list[int] = field(default_factory=list)


@dataclass
class Code:
    """The instructions of a function, and what they refer to."""

    hook: Hook = "arrival"
    instructions: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    params: set[str] = field(default_factory=set)
    looks_at: set[str] = field(default_factory=set)
    line: int = 1
    reached: bool = True
    """Whether the next instruction can be reached."""

    def look(self, name: str) -> None:
        """Record an attribute that the function reads."""
        for each, names in (("own", OF_CIRCUITS), ("queues", OF_QUEUES)):
            if name in names:
                self.looks_at.add(each)

    def add(self, instruction: str) -> None:
        """Add an instruction."""
        self.instructions.append(instruction)
        self.lines.append(self.line)

    def end(self, answer: str) -> None:
        """Add an answer."""
        self.add(answer)
        self.reached = False

    def place(self) -> Place:
        """A target that is not yet known."""
        return Place()

    def jump(self, to: Place) -> None:
        """Add a jump."""
        to.jumps.append(len(self.instructions))
        self.add("jump")
        self.reached = False

    def unless(self, register: str, to: Place) -> None:
        """Add a jump that is taken if a bool is false."""
        to.jumps.append(len(self.instructions))
        self.add(f"unless {register} jump")

    def put(self, place: Place) -> None:
        """Make the next instruction the target."""
        target = len(self.instructions)
        for jump in place.jumps:
            self.instructions[jump] += f" {target}"
        self.reached = self.reached or bool(place.jumps)
