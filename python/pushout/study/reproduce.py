"""Run studies and judge them: compare every number with the printed one, and check every claim."""

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType

from pushout.cache import Cache
from pushout.document import Document
from pushout.exact import Exact
from pushout.simulate import Job, Progress, run_all
from pushout.stats import interval
from pushout.study import sentences
from pushout.study.case import Case
from pushout.study.certificate import PRINTED, Turn, of_limit, of_runs
from pushout.study.chapter import Chapter, Reproduction, draw
from pushout.study.charts import Chart
from pushout.study.expression import Expression
from pushout.study.model import Claim, Number, Study
from pushout.study.outcome import SETS, Compared, Judgement, Outcome, Variant, Weighing, fits
from pushout.study.prose_result import check_settings, measured
from pushout.study.samples import Samples
from pushout.study.sensitivity import Sensitivity
from pushout.study.settings import as_printed
from pushout.study.single import Likeness, inputs, kept
from pushout.study.worker_process import WorkerProcess

Stage = Callable[[str], AbstractContextManager[Progress]]
"""Turns the name of an activity into a callback for "done of total"; on the command line this is `Progress`."""


def silent(_: str) -> AbstractContextManager[Progress]:
    """A stage that reports no progress."""
    return nullcontext(lambda done, total: None)


def reproduce(
    studies: Sequence[Study],
    *,
    reps: int | None = None,
    cache: Cache,
    jobs: int | None = None,
    stage: Stage = silent,
    decide: bool = False,
) -> Reproduction:
    """Run every case of the studies `reps` times, except what the cache holds, judge the results and draw them.

    Without `reps` each case has its own number of replications; `jobs` is the number of threads (default: every core).
    `stage` receives the progress. With `decide` the cases of open verdicts are then run `DECIDED` times.
    """
    start = time.monotonic()
    for study in studies:
        check_settings(study.id, study.settings, study.cases)
    chapters = _chapters([Plan(study, reps, cache) for study in studies], cache, jobs, stage)
    if decide:
        often = [open_cases(chapter.outcome) for chapter in chapters]
        plans = [Plan(study, reps, cache, more) for study, more in zip(studies, often, strict=True)]
        chapters = _chapters(plans, cache, jobs, stage)
    return Reproduction(chapters, time.monotonic() - start)


DECIDED = 60
"""Replications of the cases of an open verdict; all are added at once, since looks in between would settle ties."""


def open_cases(outcome: Outcome) -> dict[str, int]:
    """The number of replications for every case of an open verdict."""
    verdicts = [judgement for judgement in (*outcome.judgements, *outcome.remarks) if judgement.open]
    return {case: DECIDED for judgement in verdicts for _, case in judgement.claim.check.uses}


def _chapters(plans: Sequence["Plan"], cache: Cache, jobs: int | None, stage: Stage) -> list[Chapter]:
    """Run what the cache does not hold, then judge and draw."""
    queue = _queue(plans, cache)
    with WorkerProcess() as worker:
        builder = ChapterBuilder(plans, queue, cache, worker)
        tasks = [partial(run.execute, cache) for run in queue]
        with stage("runs") as progress:
            run_all(tasks, jobs=jobs, progress=progress, finished=lambda place: builder.finished(queue[place]))
        with stage("studies drawn") as progress:
            return builder.chapters(progress)


class ChapterBuilder:
    """Judges and draws studies: in the worker process while others run, in this process too once all runs are done."""

    def __init__(self, plans: Sequence["Plan"], queue: Sequence["Run"], cache: Cache, worker: WorkerProcess) -> None:
        queued = {run.path for run in queue}
        self._missing = {plan: {run.path for run in plan.runs()} & queued for plan in plans}
        self._cache = cache
        self._worker = worker
        self._begun: dict[Plan, Future[Chapter]] = {}

    def finished(self, run: "Run") -> None:
        """Record that a run is done, and begin the chapters that need no further run."""
        for paths in self._missing.values():
            paths.discard(run.path)
        if any(self._missing.values()):
            for plan, paths in self._missing.items():
                if not paths and plan not in self._begun:
                    self._begin(plan)

    def chapters(self, progress: Progress) -> list[Chapter]:
        """Build every chapter, in the order of the plans; all runs must be done."""
        for plan in [plan for plan in self._missing if plan not in self._begun][1::2]:
            self._begin(plan)
        done: dict[Plan, Chapter] = {}
        for plan in sorted(self._missing, key=self._begun.__contains__):  # here, while the worker draws others
            done[plan] = self._begun[plan].result() if plan in self._begun else plan.chapter(self._cache)
            progress(len(done), len(self._missing))
        return [done[plan] for plan in self._missing]

    def _begin(self, plan: "Plan") -> None:
        self._begun[plan] = self._worker.submit(plan.chapter, self._cache)


def _queue(plans: Sequence["Plan"], cache: Cache) -> list["Run"]:
    """Order the runs that the cache does not hold, long and short ones mixed, so that the time left can be estimated.

    The studies end one after the other in the second half of the time. So all but the last, which has the fewest runs
    to read, are drawn while others run.
    """
    places: dict[Path, tuple[float, Run]] = {}
    by_runs = sorted(plans, key=lambda plan: len(plan.runs()), reverse=True)
    for rank, plan in enumerate(by_runs, start=1):
        end = (1 + rank / len(plans)) / 2
        runs = {run.path: run for run in plan.runs() if run.path not in places and run.path not in cache}
        mixed = sorted(runs.items())
        places.update({path: (end * place / len(mixed), run) for place, (path, run) in enumerate(mixed, start=1)})
    return [run for _, run in sorted(places.values(), key=lambda placed: placed[0])]


@dataclass(frozen=True)
class Run:
    """A replication of a case and the path of its result in the cache."""

    job: Job | Exact
    seed: int
    path: Path

    def execute(self, cache: Cache) -> None:
        """Simulate and store the result."""
        cache.put(self.path, self.job.report(self.seed))


AS_PRINTED = 5
"""Replications of a case with its settings as printed, at most: the score is the question there, not single values."""

Runs = Mapping[str, Sequence[Run]]
"""The replications of cases, by their ids."""


class Plan:
    """All runs of a study: those of its cases, and fewer as printed and for each alternative value of an assumption.

    `often` names the cases that are run more often than others.
    """

    def __init__(
        self, study: Study, reps: int | None, cache: Cache, often: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        self.study = study
        self.cases = {
            case.id: runs_of(case, max(reps or case.reps, often.get(case.id, 0)), cache)
            for case in study.cases.values()
        }
        self.printed = {
            name: runs_of(case, min(reps or case.reps, AS_PRINTED), cache)
            for name, case in as_printed(study.cases, study.overrides).items()
        }
        self.variants = [
            [
                {name: runs_of(case, min(reps or case.reps, sensitivity.reps), cache) for name, case in cases.items()}
                for cases in sensitivity.values.values()
            ]
            for sensitivity in study.sensitivities
        ]

    def runs(self) -> list[Run]:
        """List every run; a run that cases share may occur more than once."""
        groups = [self.cases, self.printed, *(cases for values in self.variants for cases in values)]
        return [run for cases in groups for runs in cases.values() for run in runs]

    def is_kept(self, cache: Cache) -> bool:
        """Return whether the cache holds every run."""
        return all(run.path in cache for run in self.runs())

    def chapter(self, cache: Cache) -> Chapter:
        """Judge and draw the study from the results in the cache."""
        return draw(self.judge(cache))

    def judge(self, cache: Cache) -> Outcome:
        """Judge the study from the results in the cache."""
        load = lru_cache(maxsize=None)(cache.load)  # cases share runs
        variants = [[_documents(cases, load) for cases in values] for values in self.variants]
        return judge(self.study, _documents(self.cases, load), variants, _documents(self.printed, load))


def runs_of(case: Case, reps: int, cache: Cache) -> list[Run]:
    """List the replications of a case."""
    job = case.job()
    canonical = job.explain()
    seeds = job.seeds(json.loads(canonical)["seed"], reps)
    return [Run(job, seed, cache.path(canonical, seed)) for seed in seeds]


def _documents(cases: Runs, load: Callable[[Path], Document]) -> dict[str, list[Document]]:
    return {case: [load(run.path) for run in runs] for case, runs in cases.items()}


def judge(
    study: Study,
    documents: dict[str, list[Document]],
    variants: Sequence[Sequence[dict[str, list[Document]]]] = (),
    printed: Mapping[str, list[Document]] | None = None,
) -> Outcome:
    """Measure the numbers and check the claims of a study, given the documents of each case (one per seed).

    `variants` holds, for each sensitivity of the study and each of its values, the documents of its cases; `printed`
    those of the cases that are different with every setting as printed.
    """
    singles = kept(study)
    samples = Samples(study.figures, documents, SETS, study.units)
    charts = [plot.lines if isinstance(plot, Chart) else () for plot in study.plots]
    prose = measured(study, samples)
    study = sentences.with_values(study, prose.values)
    weighings = [
        _weigh(study, sensitivity, documents)
        for sensitivity, documents in zip(study.sensitivities, variants, strict=bool(variants))
    ]
    as_printed = _as_printed(study, {**documents, **(printed or {})}) if printed or _unknown(study) else None
    claims, remarks = (
        [_certified(_check(each, samples), weighings, as_printed) for each in some]
        for some in (study.claims, study.remarks)
    )
    return Outcome(
        study,
        [replace(each, single=singles.get(each.number.id)) for each in _found(study.numbers, samples)],
        claims,
        remarks,
        {case: [document["seed"] for document in runs] for case, runs in documents.items()},
        [[samples.curve(line.measures, line.reps) for line in lines] for lines in charts],
        weighings,
        as_printed,
        prose,
    )


def likenesses(study: Study, cache: Cache) -> dict[str, Likeness]:
    """Count the runs like print of every number that is one run of the paper and whose runs the cache holds."""
    found = {}
    for number, single in study.of_one_run():
        cases = {case: runs_of(study.cases[case], single.runs, cache) for _, case in number.measure.uses}
        if all(run.path in cache for runs in cases.values() for run in runs):
            samples = Samples(study.figures, _documents(cases, cache.load), units=study.units)
            values = samples.each(number.measure)
            found[number.id] = Likeness.count(inputs(study, number), values, number.published)
    return found


def _as_printed(study: Study, documents: Mapping[str, list[Document]]) -> Variant:
    """The study with every setting as printed: what no override changes is as it was."""
    samples = Samples(study.figures, documents, units=study.units)
    found = _found(study.numbers, samples)
    unknown = _unknown(study)
    findings = [replace(each, known=not fits(each.number.id, unknown)) for each in found]
    claims, remarks = ([_check(each, samples) for each in some] for some in (study.claims, study.remarks))
    return Variant("as printed", findings, claims, remarks)


def _unknown(study: Study) -> list[str]:
    """List the patterns of numbers that have no value with every setting as printed."""
    return [pattern for override in study.overrides for pattern in override.unknown]


def _found(numbers: Iterable[Number], samples: Samples) -> list[Compared]:
    """The numbers compared with print; a number without a value in any replication is left out."""
    measured = [(number, samples.each(number.measure)) for number in numbers]
    return [
        Compared(number, interval(values), (min(values), max(values)) if len(values) > 1 else None)
        for number, values in measured
        if values
    ]


def _weigh(study: Study, sensitivity: Sensitivity, values: Sequence[dict[str, list[Document]]]) -> Weighing:
    variants = []
    for value, documents in zip(sensitivity.values, values, strict=True):
        samples = Samples(study.figures, documents, units=study.units)
        numbers = [number for number in study.numbers if _within(number.measure, documents)]
        claims, remarks = (
            [_check(each, samples) for each in some if _within(each.check, documents)]
            for some in (study.claims, study.remarks)
        )
        variants.append(Variant(value, _found(numbers, samples), claims, remarks))
    return Weighing(sensitivity, variants, min(len(runs) for documents in values for runs in documents.values()))


def _within(expression: Expression, cases: Collection[str]) -> bool:
    """Return whether every case that an expression uses has been run."""
    return all(case in cases for _, case in expression.uses)


def _check(claim: Claim, samples: Samples) -> Judgement:
    found = samples.check(claim.check, claim.share)
    said = f"true in {found.often} of {found.reps} replications"
    if claim.share is None:
        said = f"{'; '.join(map(str, found.comparisons))}; {said}"
    else:
        said += f"; the claim requires a share of {claim.share:g}"
    milder = _check(claim.milder, samples) if claim.milder else None
    turns = (*of_limit(found.margin), *of_runs(found.holds, found.often, found.reps))
    return Judgement(claim, found.holds, found.sure, said, found.comparisons, milder, turns)


def _certified(judgement: Judgement, weighings: Sequence[Weighing], printed: Variant | None) -> Judgement:
    """Add the nearest value of each assumption that turns a verdict, and all settings as printed."""
    turns = list(judgement.turns)
    for weighing in weighings:
        others = [(each.value, _same(judgement, each)) for each in weighing.variants]
        turning = [value for value, other in others[1:] if other and other.holds != judgement.holds]
        turns += [Turn(weighing.sensitivity.assumption, value) for value in turning[:1]]
    if printed and (other := _same(judgement, printed)) and other.holds != judgement.holds:
        turns.append(Turn(PRINTED, "as they are"))
    return replace(judgement, turns=tuple(turns))


def _same(judgement: Judgement, variant: Variant) -> Judgement | None:
    """Find the verdict on the same sentence in a variant."""
    return next((each for each in (*variant.judgements, *variant.remarks) if each.claim == judgement.claim), None)
