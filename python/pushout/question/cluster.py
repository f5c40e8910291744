"""Runs on a Ray cluster: batches of about a second, done again where a worker or a node was lost.

The driver keeps the results as it does for local runs, so a lost driver loses what is under way and no more. Rows are
put in order by what was asked, not by who was first: they are the same as those of a local run.
"""

import logging
import re
import signal
import socket
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from pushout import _core
from pushout.errors import PushoutError, QuestionError
from pushout.extras import need
from pushout.question.executor import Done, Prepared, Task, Variations, check
from pushout.question.table import engine
from pushout.source import Source

BATCH_S = 1.5
"""How long a batch should take: a second at least, so that sending it costs next to nothing."""
FIRST = 1
"""Runs of the first batches, before anybody knows how long one takes: if it is long, each counts when it is done."""
AHEAD = 2
"""Batches under way for each processor of the cluster: one that runs, one that waits."""
PATIENCE_S = 5.0
"""How long to wait for a cluster to answer."""
RETRIES = 20
"""How often a batch is begun anew after its worker was lost."""


class Batch(NamedTuple):
    """Some runs, with all that a worker needs to know of them."""

    source: Source
    points: list[list[str]]
    engine: str | None
    figures: list[str]
    tasks: list[Task]
    build: dict[str, str]


def work(batch: Batch) -> list[Done]:
    """Do a batch; this is what runs on the cluster, on one processor."""
    if engine() != batch.build:
        raise QuestionError(f"this node has another simulator ({engine()}) than the driver ({batch.build})")
    points = _core.Points(batch.source.text, batch.source.name, batch.points, batch.engine, 1)
    pool = _core.Pool(1)
    pool.submit(points, batch.tasks, batch.figures)
    done: list[Done] = []
    while len(done) < len(batch.tasks):
        done += pool.wait(1.0, 0.0)
    pool.close()
    return done


class Cluster:
    """A Ray cluster as an executor."""

    def __init__(self, address: str) -> None:
        self._ray = _connect(address)
        self._work = self._ray.remote(num_cpus=1, max_retries=RETRIES)(work)
        self._variations: Variations | None = None
        self._figures: list[str] = []
        self._tasks: deque[Task] = deque()
        self._under_way: list[Any] = []
        self._run_s: float | None = None

    def prepare(self, variations: Variations, figures: Sequence[str]) -> Prepared:
        """Check points and figures, here: a mistake is found before anything is sent."""
        _, prepared = check(variations, figures, threads=1)
        self._variations, self._figures = variations, list(figures)
        return prepared

    def submit(self, tasks: Sequence[Task]) -> None:
        """Add runs of the current points."""
        self._tasks.extend(tasks)

    def wait(self, timeout_s: float) -> list[Done]:
        """The runs that have been done since; sends as many batches as the cluster has room for."""
        self._send()
        if not self._under_way:
            return []
        ready, self._under_way = self._ray.wait(self._under_way, timeout=timeout_s)
        done = [run for reference in ready for run in self._got(reference)]
        if done:
            self._run_s = sum(wall_s for _, _, wall_s in done) / len(done)
        self._send()
        return done

    def under_way(self) -> float:
        """How far batches have come is not known here."""
        return 0.0

    def close(self) -> None:
        """Drop what has not begun, and leave the cluster."""
        self._tasks.clear()
        for reference in self._under_way:
            self._ray.cancel(reference, force=True)
        self._ray.shutdown()

    def _send(self) -> None:
        room = AHEAD * max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        while self._tasks and len(self._under_way) < room:
            size = FIRST if self._run_s is None else max(1, round(BATCH_S / max(self._run_s, 1e-6)))
            share = -(-len(self._tasks) // room)  # so that all processors end together
            tasks = [self._tasks.popleft() for _ in range(min(size, share))]
            self._under_way.append(self._work.remote(self._batch(tasks)))

    def _batch(self, tasks: list[Task]) -> Batch:
        """Runs with their own points only, in numbers of the batch."""
        assert self._variations is not None, "points are prepared before they are run"  # noqa: S101
        source, points, engine_name = self._variations
        numbers = {point: number for number, point in enumerate(dict.fromkeys(task.point for task in tasks))}
        renumbered = [task._replace(point=numbers[task.point]) for task in tasks]
        return Batch(
            source, [list(points[point]) for point in numbers], engine_name, self._figures, renumbered, engine()
        )

    def _got(self, reference: Any) -> list[Done]:
        """The results of a batch; what went wrong in it is told as if it had been here."""
        try:
            done: list[Done] = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, PushoutError) else None
            raise cause or ConnectionError(0, str(error).strip().splitlines()[-1], "cluster") from None
        except self._ray.exceptions.RayError as error:
            raise ConnectionError(0, f"{str(error).splitlines()[0]}; finished runs are kept", "cluster") from None
        return done


def _connect(address: str) -> Any:
    """Join a cluster, or say in one line why not."""
    ray = need("ray", "a cluster")
    _reach(address)
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False, "include_dashboard": False}
    if address not in ("local",):
        options["address"] = address
    if address.startswith("ray://"):
        del options["include_dashboard"]
    terminate = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(**options)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ConnectionError(0, f"no Ray cluster answers: {why}", address) from None
    if callable(terminate) and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, terminate)  # Ray's own ends the process at once, with its stack
    return ray


def _reach(address: str) -> None:
    """See whether a process listens there, since Ray would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port):
        return
    if not re.fullmatch("[0-9]{1,5}", port) or int(port) >= 2**16:
        raise ConnectionError(0, "no Ray cluster is there: a port is a whole number below 65536", address)
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE_S).close()
    except OSError as error:
        why = error.strerror or str(error)
        raise ConnectionError(0, f"no Ray cluster answers: {why}", address) from None
