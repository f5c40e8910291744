"""The classes of a switch whose thresholds can be predicted, with all that their counts depend on."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from pushout.document import Document
from pushout.errors import QuestionError
from pushout.excerpt import quoted
from pushout.quantity import split
from pushout.simulate import Job
from pushout.source import Source

SENTENCE = re.compile(
    r'memory "(?P<memory>.*?)", pool "(?P<pool>.*?)", class "(?P<name>.*?)": reserved (?P<reserved>\d+) cells, '
    r"then shared up to a threshold of (?P<empty>\S+) cells with the (?P<shared>\d+) shared cells empty, "
    r"(?P<half>\S+) half full, (?P<full>\S+) full \(a queue alone holds at most (?P<alone>\d+)\); "
    r"headroom (?P<headroom>\d+)"
)
"""A sentence of `explain` about the thresholds of a class in a pool."""

ONLY_POOL = "all"
"""The pool, and the class, of a memory for which the scenario names none."""

INSTANT = ("duration=1 ns", "warmup=0 s", "sample=1 ns", "measure={}")
"""Overrides for a run that only builds the memories."""


class Thresholds(NamedTuple):
    """The thresholds of a class in a pool, in cells, as `explain` says them."""

    reserved: int
    empty: float
    half: float
    full: float
    shared: int
    alone: int
    headroom: int

    @property
    def of_queue(self) -> tuple[int, float, float, float, int]:
        """Return what has to be equal in every scenario with this class."""
        return self.reserved, self.empty, self.half, self.full, self.shared


class PoolRoom(NamedTuple):
    """A pool in which a class is counted; room in cells."""

    name: str
    side: str
    shared: int
    headroom: int


@dataclass(frozen=True)
class Subject:
    """A class in a memory, or in one partition of it."""

    memory: str
    """The name of the running memory, with node and partition."""
    name: str
    section: Mapping[str, Any]
    """The class as the scenario has it, with sizes in cells; empty for the only class of a memory without classes."""
    policy: Mapping[str, Any]
    """The keys of the memory that are not sizes: cell, header, admission."""
    cells: int
    free: int
    """Cells of the memory that are neither reserved nor headroom."""
    pool: PoolRoom
    opposite: PoolRoom | None
    lines: int
    """Number of queues of the class in this memory."""
    thresholds: Thresholds
    marking: Mapping[str, Any] | None
    """The admission policy of the ports, if it marks; thresholds in cells."""

    @property
    def cell(self) -> int:
        """Return the bytes of a cell."""
        return _bytes(self.policy["cell"])

    @property
    def header(self) -> int:
        """Return the bytes that the memory stores with every packet."""
        return _bytes(self.policy["header"])

    @property
    def alpha(self) -> float | None:
        """Return the factor of the dynamic threshold, if the class has one."""
        admission = self.policy["admission"]
        if "alpha" not in admission:
            return None
        return float(self.section.get("alpha", admission["alpha"]))

    def cells_of(self, packet: int) -> int:
        """Return the cells of a packet with this number of bytes."""
        return -(-(packet + self.header) // self.cell)


def _bytes(text: str) -> int:
    return int(split(text)[0])


def read(source: Source, sets: Sequence[str] = ()) -> list[Subject]:
    """Return the classes of every memory of a scenario, each at the node and partition where it has most queues."""
    job = Job(source, (*sets, *INSTANT))
    document: Document = json.loads(job.explain())
    built = job.run(None).get("memories", [])
    if not built:
        raise QuestionError(
            "the profile must have a memory that ports share: write [memory.NAME] and name it in a port"
        )
    thresholds = _thresholds(job)
    found: dict[tuple[str, str], Subject] = {}
    for name, section in document["memory"].items():
        _check_policy(name, section)
    for name, section in document.get("queue", {}).items():
        _check_class(name, section)
    for memory in built:
        for subject in _of_memory(memory, document, thresholds):
            place = _section(memory["name"]), subject.name
            if place not in found or subject.lines > found[place].lines:
                found[place] = subject
    return list(found.values())


PREDICTED = ("complete-sharing", "static-threshold", "dynamic-threshold")
"""Policies of switch chips: thresholds that depend on what queues hold now, and on nothing else."""


def _check_policy(name: str, section: Mapping[str, Any]) -> None:
    """Refuse a memory that removes packets, or whose thresholds depend on rates or on earlier packets."""
    policy = section["admission"]["policy"]
    if policy not in PREDICTED:
        raise QuestionError(f"memory.{name}.admission must be one of {', '.join(PREDICTED)}, not {policy}")
    if "pushout" in section:
        raise QuestionError(
            f"memory.{name}.pushout must be left out: counts are those of a memory that removes nothing"
        )


def _check_class(name: str, section: Mapping[str, Any]) -> None:
    """Refuse a class whose counts depend on more than the memory, or that cuts what it would lose."""
    for key in ("xoff", "xon"):
        if (section.get("pause") or {}).get(key) == "auto":
            raise QuestionError(
                f'queue.{name}.pause.{key} must be a size, not "auto": the bench has links of its own; '
                "pushout explain prints what those of the profile need"
            )
    if section.get("trim"):
        raise QuestionError(f"queue.{name}.trim must be left out: counts are those of packets that are lost")
    if (section.get("mark") or {}).get("at") == "dequeue":
        raise QuestionError(f'queue.{name}.mark.at must be "arrival": mark_dequeue is predicted beside it')


def _section(memory: str) -> str:
    """Return the name of a memory's section, without its node and its partition."""
    return memory.partition("@")[0].partition("/")[0]


def _thresholds(job: Job) -> dict[tuple[str, str, str], Thresholds]:
    found = {}
    for sentence in job.scenario.thresholds():
        if match := SENTENCE.match(sentence):
            numbers = [match[name] for name in Thresholds._fields]
            values = [
                float(text) if name in ("empty", "half", "full") else int(text)
                for name, text in zip(Thresholds._fields, numbers, strict=True)
            ]
            found[match["memory"], match["pool"], match["name"]] = Thresholds(*values)  # type: ignore[arg-type]
    return found


def _of_memory(
    built: Document, document: Document, thresholds: Mapping[tuple[str, str, str], Thresholds]
) -> Iterator[Subject]:
    """Yield the classes that a memory has queues of, each in its own pool."""
    section_name = _section(built["name"])
    memory = document["memory"][section_name]
    pools = {
        pool["name"]: PoolRoom(pool["name"], pool["side"], pool["shared"], pool["headroom"]) for pool in built["pools"]
    }
    first = next(iter(pools))
    promised = sum(pool.headroom for pool in pools.values())
    own: dict[str, list[Document]] = {}
    for queue in built["queues"]:
        section = document.get("queue", {}).get(queue["queue"], {})
        if queue["pool"] == section.get("pool", first):
            own.setdefault(queue["queue"], []).append(queue)
            promised += thresholds[built["name"], queue["pool"], queue["queue"]].reserved
    whole = built["cells"] * memory["partitions"]
    marking = _marking(document, section_name)
    for name, queues in own.items():
        section = document.get("queue", {}).get(name, {})
        opposite = section.get("opposite")
        pool = pools[queues[0]["pool"]]
        yield Subject(
            memory=built["name"],
            name=name,
            section=_in_cells(section, whole, built["cell_octets"]),
            policy={key: memory[key] for key in POLICY if key in memory},
            cells=built["cells"],
            free=built["cells"] - promised,
            pool=pool,
            opposite=None if opposite is None else pools[opposite["pool"]],
            lines=len(queues),
            thresholds=thresholds[built["name"], pool.name, name],
            marking=None if marking is None else _in_cells(marking, built["cells"], built["cell_octets"]),
        )


POLICY = ("cell", "header", "dt_check", "admission")

SIZES = ("reserved", "limit", "xoff", "xon", "xon_offset", "threshold", "min_threshold", "max_threshold")
"""Keys whose value may be a share of a memory."""

MARKING = ("step", "red")
"""Admission policies of ports that mark above a length."""


def _marking(document: Document, memory: str) -> Mapping[str, Any] | None:
    """Return the admission policy of the first port of a memory, if it marks."""
    port = next(port for port in document["port"].values() if port.get("memory") == memory)
    admission: Mapping[str, Any] = port.get("admission", {})
    return admission if admission.get("policy") in MARKING and admission.get("action") == "mark" else None


def _in_cells(section: Mapping[str, Any], whole: int, cell: int) -> dict[str, Any]:
    """Replace shares of the memory and bytes by cells: the memory of a bench has another size."""
    return {key: _sized(key, value, whole, cell) for key, value in section.items()}


def _sized(key: str, value: Any, whole: int, cell: int) -> Any:
    if isinstance(value, Mapping):
        return _in_cells(value, whole, cell)
    if key not in SIZES or not isinstance(value, str):
        return value
    if value.endswith("%"):
        share = Decimal(value.removesuffix("%").strip()) / 100
        return f"{int((share * whole).to_integral_value('ROUND_CEILING'))} cells"
    return value


def checked(subject: Subject, job: Job) -> None:
    """Refuse a bench in which the class does not have the thresholds that it has in its profile."""
    found = _thresholds(job)
    bench = next(
        (each for (_, pool, name), each in found.items() if (pool, name) == (subject.pool.name, subject.name)), None
    )
    if bench is None or bench.of_queue != subject.thresholds.of_queue:
        raise QuestionError(
            f"class {quoted(subject.name)} of memory {quoted(subject.memory)} cannot be predicted: its room depends on "
            "more than the memory, as with credits; leave out credit in its ports"
        )
