"""Runs on a Ray cluster: batches of about a second, repeated if a worker or a node is lost.

The driver stores the results as for local runs, so a lost driver loses only the runs in progress. Rows are ordered by
point and seed, not by completion: they equal those of a local run.
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
"""Target duration of a batch: at least a second, so that sending it costs almost nothing."""
FIRST = 1
"""Runs of the first batches, while the duration of a run is unknown: if it is long, each run counts when it is done."""
AHEAD = 2
"""Batches submitted for each processor of the cluster: one runs, one waits."""
PATIENCE_S = 5.0
"""Seconds to wait for a cluster to answer."""
RETRIES = 20
"""Number of times that a batch is repeated after its worker was lost."""


class Batch(NamedTuple):
    """Runs with all that a worker needs to execute them."""

    source: Source
    points: list[list[str]]
    engine: str | None
    figures: list[str]
    tasks: list[Task]
    build: dict[str, str]


def work(batch: Batch) -> list[Done]:
    """Execute a batch; the cluster calls this on one processor."""
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
        """Check points and figures in this process, so that mistakes are found before anything is sent."""
        _, prepared = check(variations, figures, threads=1)
        self._variations, self._figures = variations, list(figures)
        return prepared

    def submit(self, tasks: Sequence[Task]) -> None:
        """Add runs of the current points."""
        self._tasks.extend(tasks)

    def wait(self, timeout_s: float) -> list[Done]:
        """Return the runs finished since the last call; send as many batches as the cluster has room for."""
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
        """Return 0: the progress within batches is not known here."""
        return 0.0

    def close(self) -> None:
        """Drop runs that have not begun, and leave the cluster."""
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
        """Make a batch with only the points of its runs, renumbered."""
        assert self._variations is not None, "points are prepared before they are run"  # noqa: S101
        source, points, engine_name = self._variations
        numbers = {point: number for number, point in enumerate(dict.fromkeys(task.point for task in tasks))}
        renumbered = [task._replace(point=numbers[task.point]) for task in tasks]
        return Batch(
            source, [list(points[point]) for point in numbers], engine_name, self._figures, renumbered, engine()
        )

    def _got(self, reference: Any) -> list[Done]:
        """Return the results of a batch; raise its errors as if they had occurred here."""
        try:
            done: list[Done] = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, PushoutError) else None
            raise cause or ConnectionError(0, str(error).strip().splitlines()[-1], "cluster") from None
        except self._ray.exceptions.RayError as error:
            raise ConnectionError(0, f"{str(error).splitlines()[0]}; finished runs are saved", "cluster") from None
        return done


def _connect(address: str) -> Any:
    """Join a cluster, or give the reason for failure in one line."""
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
        signal.signal(signal.SIGTERM, terminate)  # Ray's own handler ends the process at once and prints its stack
    return ray


def _reach(address: str) -> None:
    """Check that a process listens at the address, because Ray would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port):
        return
    if not re.fullmatch("[0-9]{1,5}", port) or int(port) >= 2**16:
        raise ConnectionError(0, "the port of the address must be an integer below 65536", address)
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE_S).close()
    except OSError as error:
        why = error.strerror or str(error)
        raise ConnectionError(0, f"no Ray cluster answers: {why}", address) from None
