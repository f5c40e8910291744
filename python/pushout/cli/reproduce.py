"""The command `pushout reproduce`."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pushout.cli import interrupt
from pushout.cli.options import FOLDER, JOBS, JSON, MISSED, REPS, Whole, console
from pushout.cli.streams import echo_json, tell

if TYPE_CHECKING:
    from pushout.cache import Cache
    from pushout.study.chapter import Reproduction
    from pushout.study.model import Study

REPORT = "reproduce.json"
BUDGET, SEED = Whole(min=1, max=1_000_000), Whole(min=0, max=2**63 - 1)


@click.command()
@click.argument("studies", metavar="[STUDY]…", nargs=-1)
@click.option("--reps", type=REPS, metavar="R", help="Replications of each case (default: the number in its study).")
@click.option(
    "--out",
    type=FOLDER,
    default=Path("reports"),
    show_default=True,
    metavar="DIR",
    help="Folder for the report and for finished runs, so that an interrupted command can continue.",
)
@click.option(
    "--full", is_flag=True, help="As many replications as a study names for narrow intervals; takes much longer."
)
@click.option(
    "--findings",
    is_flag=True,
    help="Run the findings of the studies instead: controls and ranges; see docs/findings.md.",
)
@click.option(
    "--attack",
    multiple=True,
    metavar="ID",
    help="Attack this finding or sentence (STUDY/ID, or ID) instead: search its range with fresh seeds for the nearest "
    "point that turns it. A number draws as many at random.",
)
@click.option("--budget", type=BUDGET, metavar="N", help="Runs of each attack, at most (default: 100).")
@click.option(
    "--seed", type=SEED, metavar="S", help="First seed of an attack (default: a random one, which is printed)."
)
@click.option("--decide", is_flag=True, help="Run the cases of open verdicts again, with up to 60 replications.")
@click.option(
    "--strict", is_flag=True, help="Exit with 4 if a number misses its tolerance, or a claim or finding fails."
)
@click.option("--details", is_flag=True, help="Print every number, claim and remark, not only what differs.")
@JOBS
@JSON
def reproduce(
    studies: tuple[str, ...],
    reps: int | None,
    out: Path,
    full: bool,
    findings: bool,
    attack: tuple[str, ...],
    budget: int | None,
    seed: int | None,
    decide: bool,
    strict: bool,
    details: bool,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Run published studies and compare the results with the printed numbers.

    A STUDY is given by its id or the beginning of it, such as 000; the default is all. Prints the score and every
    difference; the report, DIR/index.html, has everything. Other studies that the report already contains stay in it
    if their results are of this version.
    """
    from pushout import kept
    from pushout.cache import Cache
    from pushout.progress import Progress
    from pushout.question.output import Output
    from pushout.study.model import load
    from pushout.study.previous_report import carried_over
    from pushout.study.reproduce import reproduce as run_studies

    if full and reps:
        raise click.UsageError("--full and --reps both give the number of replications: use one of them")
    if (budget is not None or seed is not None) and not attack:
        raise click.UsageError("--budget and --seed are for --attack: name a finding or a sentence there")
    if attack:
        if findings or reps or full or decide or details:
            raise click.UsageError(
                "--attack has its own runs: leave out --findings, --reps, --full, --decide, --details"
            )
        _attack([load(study) for study in _studies(studies)], attack, budget, seed, out, jobs, strict, as_json)
        return
    if findings:
        if reps or full or decide or details:
            raise click.UsageError("--findings has its own replications: leave out --reps, --full, --decide, --details")
        _findings([load(study) for study in _studies(studies)], out, jobs, strict=strict, as_json=as_json)
        return
    loaded = [load(study) for study in _studies(studies)]
    chosen = [study.at_full_size() if full else study for study in loaded]
    cache = Cache(kept.folder(out / "cache"))
    interrupt.keeping(cache.folder)
    with Output(out).claimed(["reproduce"]):
        done = run_studies(chosen, reps=reps, cache=cache, jobs=jobs, stage=Progress, decide=decide)
        others = carried_over(out / REPORT, [study.id for study in chosen], cache, Progress)
        if not (full or reps or decide):
            _keep_prose(done, out)
        if full:
            _keep_full(done, {study.id for study in loaded if study.grows}, out)
            _keep_singles(done, cache, out)
        _write_report(done.beside(others.chapters), out)
    if others.gone:
        tell(f"removed from the report, because their results are of another version: {', '.join(others.gone)}")
    if as_json:
        echo_json(done.json())
    else:
        from pushout.show.reproduction import reproduction

        names = [other.outcome.study.id for other in others.chapters]
        reproduction(done, str(out / "index.html"), names, console(), details=details)
    if strict and done.failed:
        raise click.exceptions.Exit(MISSED)


def _attack(
    studies: "Sequence[Study]",
    names: Sequence[str],
    budget: int | None,
    seed: int | None,
    out: Path,
    jobs: int | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Attack findings and sentences, and print the nearest points that turn them."""
    from secrets import randbelow

    from pushout import kept
    from pushout.cache import Cache
    from pushout.progress import Progress
    from pushout.question.output import Output
    from pushout.show.findings import attacks
    from pushout.study.attack import BUDGET as RUNS
    from pushout.study.attack import Attacker, chosen, document, targets

    first = 1 + randbelow(2**31) if seed is None else seed
    cache = Cache(kept.folder(out / "cache"))
    interrupt.keeping(cache.folder)
    with Output(out).claimed(["reproduce"]):
        found = [
            Attacker(target, first, budget or RUNS, cache, jobs).attack(Progress)
            for target in chosen(names, targets(studies), first)
        ]
    if as_json:
        echo_json(document(found))
    else:
        attacks(found, console())
    if strict and any(each.fell for each in found):
        raise click.exceptions.Exit(MISSED)


def _findings(studies: "Sequence[Study]", out: Path, jobs: int | None, *, strict: bool, as_json: bool) -> None:
    """Run the findings of studies, keep what they gave in `DIR/findings`, and print their verdicts."""
    from pushout import kept
    from pushout.cache import Cache
    from pushout.progress import Progress
    from pushout.question.output import Output
    from pushout.show.findings import verdicts
    from pushout.study.finding_result import document, save
    from pushout.study.finding_runs import run_findings

    cache = Cache(kept.folder(out / "cache"))
    interrupt.keeping(cache.folder)
    with Output(out).claimed(["reproduce"]):
        results = run_findings(studies, cache=cache, jobs=jobs, stage=Progress)
        for study, found in results.items():
            save(found, kept.folder(out / "findings"), study)
    if as_json:
        echo_json(document(results))
    else:
        verdicts([study for study in studies if study.findings], results, console())
    if strict and any(result.failures for found in results.values() for result in found):
        raise click.exceptions.Exit(MISSED)


def _keep_full(done: "Reproduction", grown: Collection[str], out: Path) -> None:
    """Keep what the studies with more replications at full size gave, in `DIR/full`."""
    from pushout import kept
    from pushout.study.full_result import save

    for chapter in done.chapters:
        if chapter.outcome.study.id in grown:
            save(chapter.outcome, kept.folder(out / "full"))


def _keep_singles(done: "Reproduction", cache: "Cache", out: Path) -> None:
    """Count in `DIR/single` how many runs are like print where that is one run."""
    from pushout import kept
    from pushout.study.reproduce import likenesses
    from pushout.study.single import save

    for chapter in done.chapters:
        if found := likenesses(chapter.outcome.study, cache):
            save(found, kept.folder(out / "single"), chapter.outcome.study.id)


def _keep_prose(done: "Reproduction", out: Path) -> None:
    """Keep the numbers of the prose of studies in `DIR/prose`, and name the words that do not hold."""
    from pushout import kept
    from pushout.study.prose_result import save

    for chapter in done.chapters:
        save(chapter.outcome.prose, kept.folder(out / "prose"), chapter.outcome.study.id)
        for text in chapter.outcome.prose.false:
            tell(f"{chapter.outcome.study.id}: the runs contradict its prose: {text}")


def _write_report(done: "Reproduction", out: Path) -> None:
    """Write the report: a page, a document, the score for other pages, and every figure as a file."""
    from pushout import kept
    from pushout.cache import write
    from pushout.study.previous_report import sealed
    from pushout.study.report import files, markdown, render

    write(out / REPORT, json.dumps(sealed(done.json()), indent=2, ensure_ascii=False) + "\n")
    write(out / "score.md", markdown(done))
    write(out / "index.html", render(done))
    for chapter in done.chapters:
        for path, drawing in files(chapter):
            kept.folder((out / path).parent)
            write(out / path, drawing)


def _studies(wanted: Sequence[str]) -> list[str]:
    from pushout import _core
    from pushout.study.model import available

    known = available()
    for name in wanted:
        if not any(study.startswith(name) for study in known):
            raise click.UsageError(_core.unknown("study", name, known))
    return [study for study in known if not wanted or any(study.startswith(name) for name in wanted)]
