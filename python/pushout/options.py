"""The options of every verb, declared once: frozen dataclasses, which command line, Python and tools share.

`takes` gives a function the fields of one as its arguments. Annotations stay texts, so that `help` shows the names of
types.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from pushout.limits import STATES
from pushout.literals import SEARCHES, Engine, Panel, Search, ThemeName

if TYPE_CHECKING:
    from fractions import Fraction

    from pushout.answer.frame import Tabled
    from pushout.simulate import Progress
    from pushout.source import Overrides, ScenarioLike

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")

Folder = str | os.PathLike[str]
"""The path of a folder."""

Policies = str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]
"""Policies: names, tables of parameters or of several policies by their kinds (as TOML or as a mapping), or `as-is`."""

PoliciesByPlace = Mapping[str, str | Mapping[str, Any] | Sequence[Mapping[str, Any]]]
"""Policies by port, class of ports (`fabric`, `default`) or `memory.NAME`: a name, a table or program, or several of
different kinds.
"""

Named = str | Sequence[str] | None
"""The name of a place, or of several."""

Policy = str | Mapping[str, Any]
"""A policy of a memory: its name, the table of its parameters, a table with `admission` and `pushout`, a program or its
file.
"""

Reaction = Literal["on", "off"]

REPS = 10
"""Replications of each policy of a comparison."""

LEAST, MOST = 8, 64
"""Replications of a value in a search: at least, and at most if the value is near the goal."""

RESOLUTION = 0.02
"""Relative difference at which a search stops."""

LAST = 200
"""Decisions before a frame that are tried unless the caller says otherwise."""

PACKET = 64
"""Bytes of the packets of acceptance tests."""

PANELS: tuple[Panel, ...] = ("queue", "drops", "throughput")
"""The panels of a picture for which none are named."""

OPTIMUM = "optimum"
"""The opponent that knows the whole input."""


@dataclass(frozen=True, repr=False, eq=False)
class Run:
    """A scenario that is simulated with one seed or several."""

    scenario: ScenarioLike
    _: KW_ONLY
    policies: PoliciesByPlace | None = None
    set: Overrides = ()
    seed: int | None = None
    reps: int = 1
    engine: Engine | None = None
    audit: bool = False
    jobs: int | None = None
    progress: Progress | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Trace:
    """A scenario that is simulated once, with every packet at some ports."""

    scenario: ScenarioLike
    _: KW_ONLY
    ports: str | Sequence[str] = ()
    policies: PoliciesByPlace | None = None
    set: Overrides = ()
    seed: int | None = None
    audit: bool = False
    progress: Progress | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Plot:
    """Runs to be drawn; `runs` are scenarios, results or folders."""

    runs: ScenarioLike | Tabled | Sequence[ScenarioLike | Tabled]
    _: KW_ONLY
    what: str | Sequence[str] = PANELS
    labels: str | Sequence[str] = ()
    at: str | Sequence[str] = ()
    ports: str | Sequence[str] = ()
    flows: str | Sequence[str] = ()
    title: str | None = None
    theme: ThemeName = "paper"
    width: float | None = None
    set: Overrides = ()
    seed: int | None = None
    reps: int = 1
    engine: Engine | None = None
    jobs: int | None = None
    progress: Progress | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Kept:
    """Where the runs of a question are made and kept."""

    _: KW_ONLY
    out: Folder | None = None
    cache: Folder | None = None
    jobs: int | None = None
    cluster: str | None = None
    progress: Progress | None = None


@dataclass(frozen=True, repr=False, eq=False)
class About(Kept):
    """A question about one scenario."""

    scenario: ScenarioLike
    _: KW_ONLY
    at: Named = None
    port: Named = None
    set: Overrides = ()
    seed: int | None = None
    engine: Engine | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Compare(About):
    """The question which policy is better."""

    policies: Policies
    _: KW_ONLY
    reps: int = REPS
    figures: str | Sequence[str] = ()


@dataclass(frozen=True, repr=False, eq=False)
class Size(About):
    """The question how much suffices."""

    goal: str | Sequence[str]
    over: str
    _: KW_ONLY
    low: str | float | None = None
    high: str | float | None = None
    policies: Policies = ()
    least: int = LEAST
    most: int = MOST
    resolution: float = RESOLUTION
    search: Search = SEARCHES[0]
    largest: bool = False


@dataclass(frozen=True, repr=False, eq=False)
class Sweep(Kept):
    """The points of a design."""

    design: str | os.PathLike[str] | Mapping[str, Any]
    _: KW_ONLY
    policies: PoliciesByPlace | None = None
    columns: str | Sequence[str] = ()
    shard: tuple[int, int] | str | None = None
    allow_files: Sequence[Folder] = ()


@dataclass(frozen=True, repr=False, eq=False)
class Why:
    """The question which decision would have saved a frame."""

    scenario: ScenarioLike
    _: KW_ONLY
    at: Named = None
    loss: int | None = None
    flow: str | None = None
    frame: int | None = None
    ill: str = "lost"
    report: int | None = None
    policies: Policies = ()
    reaction: Reaction = "on"
    last: int = LAST
    set: Overrides = ()
    seed: int | None = None
    progress: Progress | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Headroom:
    """The lines of a switch, and values of columns that they lack."""

    table: str | os.PathLike[str] | Iterable[Mapping[str, object]]
    _: KW_ONLY
    mtu: int | None = None
    smallest: int | None = None
    other: int | None = None
    cell: int | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Predict:
    """A switch whose counts are predicted."""

    profile: ScenarioLike
    _: KW_ONLY
    packet: int = PACKET
    lines: int | None = None
    qos: str | os.PathLike[str] | None = None
    cell: int | None = None
    set: Overrides = ()


@dataclass(frozen=True, repr=False, eq=False)
class Explain:
    """Counts of a switch that are explained."""

    counts: str | os.PathLike[str] | Mapping[str, int] | Iterable[Mapping[str, object]]
    _: KW_ONLY
    packet: int = PACKET
    cell: int | None = None
    pool: int | None = None
    tolerance: int | None = None
    progress: Progress | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Worst:
    """A policy and the sizes of what it decides about: a shared memory, or with `frames` one FIFO port."""

    policy: Policy
    _: KW_ONLY
    memory: int
    ports: int = 2
    set: Mapping[str, Any] | None = None
    states: int = STATES
    frames: int | None = None
    circuits: int = 1

    @property
    def count(self) -> int:
        """The number of ports, or of the circuits that send frames."""
        return self.ports if self.frames is None else self.circuits


@dataclass(frozen=True, repr=False, eq=False)
class Ratio(Worst):
    """The question how much more an opponent sends, or loses less."""

    _: KW_ONLY
    against: Policy = OPTIMUM
    reach: Fraction | float | str | None = None
    search: bool = False
    objective: str = "throughput"


@dataclass(frozen=True, repr=False, eq=False)
class Never(Worst):
    """The question whether an event never happens."""

    event: str
    _: KW_ONLY
    pause: Mapping[str, int] | None = None


def takes(options: Callable[P, T]) -> Callable[[Callable[[T], R]], Callable[P, R]]:
    """Give a function the arguments of a dataclass; `help`, editors and type checkers show these."""

    def taking(function: Callable[[T], R]) -> Callable[P, R]:
        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            return function(_made(options, function.__name__, args, kwargs))

        own = inspect.signature(options)
        returned = inspect.signature(function).return_annotation
        called.__signature__ = own.replace(return_annotation=returned)  # type: ignore[attr-defined]
        called.__annotations__ = {name: each.annotation for name, each in own.parameters.items()} | {"return": returned}
        return called

    return taking


def _instead(name: str) -> str:
    """Say how a key of a scenario that was taken for an argument is given."""
    if name in ("duration", "warmup", "buffer", "admission", "transport"):
        return '; keys of the scenario go into set, as in set={"duration": "10 s"}'
    return ""


def _made(options: Callable[..., T], name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> T:
    """Make the options; a wrong argument is one of the function, not of its dataclass."""
    signature = inspect.signature(options)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        known = list(signature.parameters)
        if wrong := [each for each in kwargs if each not in known]:
            from pushout import _core

            raise TypeError(f"{name}(): {_core.unknown('argument', wrong[0], known)}{_instead(wrong[0])}") from None
        raise TypeError(f"{name}() {error}") from None
    return options(*args, **kwargs)
