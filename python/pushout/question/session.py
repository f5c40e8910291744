"""The store, the executor and the output of a question."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pushout import kept
from pushout.errors import QuestionError
from pushout.options import Folder, Kept
from pushout.question.executor import Executor, Local
from pushout.question.manifest import MANIFEST
from pushout.question.output import Output
from pushout.question.store import Store
from pushout.simulate import Progress, check_text


@dataclass(frozen=True)
class Session:
    """The resources of one question."""

    out: Output | None
    store: Store
    executor: Executor
    progress: Progress | None = None

    @staticmethod
    @contextmanager
    def open(asked: Kept, progress: Progress | None = None) -> Iterator["Session"]:
        """Open a session; without `out` nothing is written, without `out` and `cache` runs stay in memory."""
        out, cache = asked.out, asked.cache
        output = None if out is None else Output(out)
        stored = Path(cache) if cache is not None else None if out is None else default_cache(out)
        with ExitStack() as closing:
            if output is not None:
                closing.callback(output.release)
                output.check(MANIFEST)
            if cache is None and stored is not None:
                kept.check(stored)
            store = Store(stored)
            closing.callback(store.close)
            executor = _executor(asked.jobs, asked.cluster)
            closing.callback(executor.close)
            yield Session(output, store, executor, progress)


def default_cache(out: Folder) -> Path:
    """Choose the folder of finished runs: in `out`, or here if `out` is an object store, which cannot hold the file."""
    return Path("results" if "://" in os.fspath(out) else out) / "cache"


def _executor(jobs: int | None, cluster: str | None) -> Executor:
    if cluster is None:
        return Local(jobs)
    if jobs is not None:
        raise QuestionError("jobs counts threads of this machine and cannot be used with cluster: leave out one")
    from pushout.question.cluster import Cluster

    return Cluster(check_text("cluster", cluster))
