"""Run a job once or with several seeds, and make a result of it."""

from functools import partial

from pushout.document import merge
from pushout.result import Result
from pushout.simulate import Job, Progress, UnderWay, run_all
from pushout.trust import judged


def replicated(
    job: Job,
    seed: int | None,
    reps: int,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    flows: int | None = None,
) -> Result:
    """Simulate a job `reps` times with the seeds `seed`, `seed` + 1, …; `flows` is that of `Job.run`."""
    seeds = job.seeds(seed, reps) if reps > 1 else [seed]
    under_way = UnderWay()
    tasks = (partial(under_way.run, partial(job.run, each, flows=flows)) for each in seeds)
    job.scenario  # noqa: B018  (checked here, before there are threads)
    documents = run_all(tasks, total=reps, jobs=jobs, progress=under_way.telling(progress, reps))
    return Result(judged(merge(documents), documents), documents)
