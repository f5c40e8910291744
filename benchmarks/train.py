"""The runs that show the compiler what the simulator does most; `make setup` lays its code out for them.

    .venv/bin/python benchmarks/train.py

A compiler that has seen a program run knows which calls are worth expanding in place and which branches are rare
(profile-guided optimisation). What it learns here is the benchmarks, fabrics for a short time, and some of the cases of
every study, each once and on one thread, so that the same source gives the same program. No workload and no study takes
much more time than others: what runs most would decide how all others are compiled.
"""

from itertools import islice

from pushout.bench.workloads import WORKLOADS
from pushout.simulate import Job
from pushout.source import read
from pushout.study.model import Study, available, load

SHORTER = {"W5": ("duration=20 ms",)}
"""What takes minutes runs for so long."""
LEFT_OUT = ("W4-100k", "W6-1024", "W6-8192")
"""Larger than others of the same kind."""
EVERY, MOST = 5, 8
"""Run every fifth case of a study, or fewer, so that no more than eight of them run: the others are similar."""


def cases(study: Study) -> list[Job]:
    """Cases of a study from its first to its last."""
    step = max(EVERY, -(-len(study.cases) // MOST))
    return [case.job() for case in islice(study.cases.values(), 0, None, step)]


def main() -> None:
    """Run them all and discard the results."""
    benchmarks = [
        Job(read(str(workload.path)), (*workload.sets, *SHORTER.get(workload.id, ())))
        for workload in WORKLOADS.values()
        if workload.scenario and workload.id not in LEFT_OUT
    ]
    studies = [job for study in available() for job in cases(load(study))]
    for job in benchmarks + studies:
        job.report(None)


if __name__ == "__main__":
    main()
