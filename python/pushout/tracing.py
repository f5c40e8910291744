"""Trace every packet at some ports: as a table, as a capture file for Wireshark, and as qlog."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pushout import _core
from pushout.answer.columns import Columns, Kind
from pushout.answer.frame import Framed
from pushout.errors import QuestionError
from pushout.extras import need
from pushout.question.output import Output
from pushout.simulate import Job, Progress, UnderWay, run_all
from pushout.trust import judged
from pushout.warning import HasWarnings

if TYPE_CHECKING:
    from pushout.types import Run

TEXTS = ("port", "vc", "flow")
NUMBERS = (
    "frame",
    "arrived_ps",
    "done_ps",
    "units",
    "units_sent",
    "units_lost",
    "unit_bytes",
    "seq",
    "ack",
    "data_bytes",
    "ecn",
)

KINDS = ("pcapng", "parquet", "qlog")
ALL = ("*",)
"""The ports of qlog, which needs those of hosts."""


@dataclass(frozen=True, eq=False, repr=False)
class TraceResult(HasWarnings, Framed):
    """A traced run: `table` has a row for every packet at every port, in order of completion.

    `arrived_ps` is the time at which its first unit came, `done_ps` that at which its last was sent or lost; `units`,
    `units_sent` and `units_lost` count its cells (1 on packet links); `reason` is that of the first lost unit;
    `ecn` is the congestion notification in the IP header as it leaves the port: 0 not capable, 2 capable, 3 marked.
    """

    document: "Run"
    """The report of the run, as `pushout run --json` prints it."""
    pcapng: bytes
    """The capture file: every port is an interface, the reason of a loss a comment."""
    scenario: str
    """The scenario with its defaults, as `pushout explain --json` prints it."""

    def qlog(self) -> str:
        """Return the senders of TCP as qlog; every port has to be traced."""
        from pushout.qlog import NAMES, qlog

        return qlog(json.loads(self.scenario), self.document, {name: self.columns.plain(name) for name in NAMES})

    def _brief(self) -> str:
        return f"{self.document['scenario']}: seed {self.document['seed']}, {super()._brief()}"


def traced(job: Job, ports: Sequence[str], seed: int | None, progress: Progress | None) -> TraceResult:
    """Run a job once and record every packet at these ports."""
    under_way = UnderWay()
    run = partial(under_way.run, partial(_core.Trace, job.scenario, seed, job.audit, ports))
    (recorded,) = run_all([run], jobs=1, progress=under_way.telling(progress, 1))  # this thread must notice Ctrl-C
    columns: dict[str, list[Any]] = recorded.columns()
    kinds: dict[str, Kind] = {**dict.fromkeys(TEXTS, "string"), **dict.fromkeys(NUMBERS, "int64"), "reason": "string"}
    table = Columns.of({name: columns[name] for name in kinds}, kinds)
    document = json.loads(recorded.document())
    return TraceResult(table, cast("Run", judged(document, [document])), recorded.pcapng(), job.explain(seed))


def kinds(text: str) -> list[str]:
    """Parse `pcapng,parquet`."""
    chosen = [kind.strip() for kind in text.split(",")]
    if wrong := [kind for kind in chosen if kind not in KINDS]:
        raise QuestionError(f"--trace: {_core.unknown('kind of trace', wrong[0], KINDS)}")
    if "parquet" in chosen:
        need("pyarrow", "--trace parquet")
    if "parquet" in chosen:
        need("pyarrow", "--trace parquet")
    return chosen


def save(result: TraceResult, out: Output, chosen: Sequence[str]) -> list[str]:
    """Write the chosen files and return their places."""
    places = []
    if "pcapng" in chosen:
        places.append(out.data("trace.pcapng", result.pcapng))
    if "qlog" in chosen:
        places.append(out.data("trace.qlog", result.qlog().encode()))
    if "parquet" in chosen:
        places.append(out.parquet("trace.parquet", result.columns))
    return places
