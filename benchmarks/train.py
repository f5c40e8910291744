"""The runs that show the compiler what the simulator does most; `make setup` lays its code out for them.

    .venv/bin/python benchmarks/train.py

A compiler that has seen a program run knows which calls are worth expanding in place and which branches are rare
(profile-guided optimisation). What it learns here is the benchmarks, but for the one with a hundred thousand flows, and
some of the cases of every study, each once and on one thread, so that the same source gives the same program.
"""

from itertools import islice

from pushout.bench.workloads import WORKLOADS
from pushout.simulate import Job
from pushout.source import read
from pushout.study.model import available, load

EVERY = 5
"""Run every fifth case of a study: the others are similar."""


def main() -> None:
    """Run them all and discard the results."""
    benchmarks = [
        Job(read(str(workload.path)), workload.sets)
        for workload in WORKLOADS.values()
        if workload.scenario and workload.id != "W4-100k"
    ]
    studies = [case.job() for study in available() for case in islice(load(study).cases.values(), 0, None, EVERY)]
    for job in benchmarks + studies:
        job.report(None)


if __name__ == "__main__":
    main()
