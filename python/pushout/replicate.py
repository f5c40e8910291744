"""Run a job once or with several seeds, and merge the documents of the runs."""

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from pushout.document import merge
from pushout.simulate import Job, Progress, UnderWay, run_all
from pushout.trust import judged
from pushout.warning import Warned

if TYPE_CHECKING:
    from pushout.types import Run


class Replicated(NamedTuple):
    """The document of all replications and the document of each: the arguments of a `Result`.

    A command that only prints figures needs no more; a `Result` is also a table, and loads NumPy.
    """

    document: "Run"
    replications: "list[Run]"

    @property
    def warnings(self) -> list[Warned]:
        """Anything that may mislead, as `Result.warnings`."""
        warnings: list[Warned] = self.document.get("warnings", [])
        return warnings


def replicated(
    job: Job,
    seed: int | None,
    reps: int,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    flows: int | None = None,
) -> Replicated:
    """Simulate a job `reps` times with the seeds `seed`, `seed` + 1, …; `flows` is that of `Job.run`."""
    seeds = job.seeds(seed, reps) if reps > 1 else [seed]
    under_way = UnderWay()
    tasks = (partial(under_way.run, partial(job.run, each, flows=flows)) for each in seeds)
    job.scenario  # noqa: B018  (checked here, before there are threads)
    documents = run_all(tasks, total=reps, jobs=jobs, progress=under_way.telling(progress, reps))
    return Replicated(cast("Run", judged(merge(documents), documents)), cast("list[Run]", documents))
