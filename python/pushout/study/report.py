"""Write the reproduction as one self-contained page: no scripts, external fonts or images."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from pushout import _core
from pushout.exact import Exact
from pushout.shipped import typed
from pushout.study import headline, prose, values
from pushout.study.case import Case
from pushout.study.chapter import ABREAST, Chapter, Reproduction, rows
from pushout.study.evidence import Comparison
from pushout.study.finding import Finding
from pushout.study.finding_result import kept, problem
from pushout.study.model import Study
from pushout.study.outcome import SETS, Compared, Judgement, Outcome, Weighing, score, together, total
from pushout.study.reference import filled
from pushout.study.samples import SURE
from pushout.study.tables import SIGNS, by_source, row, tables

ALIKE = 0.005
"""Explanations whose mean differences from print are this close cannot be distinguished."""


def command(case: Case, reps: int) -> str:
    """Write the command that runs a case again."""
    job = case.job()
    if isinstance(job, Exact):
        return shlex.join(["pushout", *job.words()])
    sets = [part for change in case.sets for part in ("--set", change)]
    return shlex.join(["pushout", "run", typed(case.scenario), *sets, "--reps", str(reps)])


def serves(study: Study, case: Case) -> list[str]:
    """List the numbers that use a case."""
    return [number.id for number in study.numbers if any(used == case.id for _, used in number.measure.uses)]


def files(chapter: Chapter) -> Iterator[tuple[Path, str]]:
    """Yield every plot as a standalone file, for a lecture: `figures/STUDY/PLOT.svg`."""
    study = chapter.outcome.study
    for index, (plot, drawing) in enumerate(zip(study.plots, chapter.plots, strict=True), start=1):
        name = re.sub(r"\W+", "-", (plot.source or plot.title).lower()).strip("-")
        yield Path("figures") / study.id / f"{index:02}-{name}.svg", drawing.alone(prose.source(plot.source))


def shelves(chapter: Chapter) -> list[list[tuple[int, bool]]]:
    """Arrange the plots in rows, each with a flag for three in a row.

    Plots of one figure of a paper get a separate row if they fill it.
    """
    runs = rows(chapter.outcome.study.plots)
    starts = [sum(map(len, runs[:index])) for index in range(len(runs))]
    places = [
        [(start + index, len(run) == ABREAST) for index in range(len(run))]
        for start, run in zip(starts, runs, strict=True)
    ]
    together = groupby(enumerate(places), key=lambda entry: entry[0] if entry[1][0][1] else -1)
    return [[place for _, run in group for place in run] for _, group in together]


def sections(outcome: Outcome) -> list[tuple[str, str]]:
    """List the sections of a study: the suffix of their id, and their name."""
    there = {
        "figures": bool(outcome.study.plots),
        "claims": bool(outcome.judgements),
        "remarks": bool(outcome.remarks),
        "findings": bool(outcome.study.findings),
        "conclusion": outcome.study.conclusion is not None,
        "references": bool(outcome.study.references),
    }
    names = {"setup": "Question, network and schemes", "differs": "What differs", "again": "Run a row again"}
    parts = (
        "setup",
        "differs",
        "numbers",
        "figures",
        "claims",
        "remarks",
        "findings",
        "conclusion",
        "assumptions",
        "references",
        "again",
    )
    return [(part, names.get(part, part.capitalize())) for part in parts if there.get(part, True)]


def findings(study: Study) -> list[tuple[Finding, str, str]]:
    """List the findings of a study, each with its text and why it does not stand, from the kept data."""
    results = kept(study)
    found = []
    for finding in study.findings:
        result = results.get(finding.id)
        found.append((finding, filled(finding.text, result.values) if result else "", problem(study, finding, result)))
    return found


def singles(outcome: Outcome) -> list[Compared]:
    """List the numbers of which print is one run, with our runs counted."""
    return [each for each in outcome.findings if each.single]


def differing(outcome: Outcome) -> list[tuple[str, list[str]]]:
    """List the numbers outside their tolerance, by source."""
    found = []
    for place, findings in by_source(outcome.findings):
        off = [_off(each) for each in findings if each.verdict != "within"]
        if off:
            found.append((place, off))
    return found


def _off(finding: Compared) -> str:
    line = row(finding)
    among = f" ({line.among})" if line.among else ""
    return f"{line.sign} {finding.number.label}: {finding.number.text}, {line.difference}{among}"


def verdicts(outcome: Outcome) -> dict[str, int]:
    """Count the numbers by verdict."""
    found = Counter(finding.verdict for finding in outcome.findings)
    return {verdict: found[verdict] for verdict in SIGNS}


def replications(outcome: Outcome) -> str:
    """Return the numbers of replications of a study's cases."""
    counts = sorted({len(seeds) for seeds in outcome.seeds.values()})
    return f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])


def word(judgement: Judgement) -> str:
    """Write the verdict on a claim or a remark, and whether it is open."""
    return ("✓ holds" if judgement.holds else "✗ does not hold") + (", open" if judgement.open else "")


def basis(judgement: Judgement) -> str:
    """Describe the evidence for a verdict and its certainty."""
    check = "The check of the means" if judgement.claim.share is None else f"The check, {judgement.evidence}"
    return f"{check}; {judgement.redrawn}" if judgement.redrawn else check


def truth(comparison: Comparison) -> str:
    """Write the sign of a comparison; for lists, the number of entries for which it is true."""
    if isinstance(comparison.true, tuple):
        return f"true for {sum(comparison.true)} of {len(comparison.true)}"
    return SIGNS["within" if comparison.true else "differs"]


def verdict(weighing: Weighing) -> str:
    """Summarise a comparison of explanations in a sentence or two."""
    errors = {each.value: each.mean_error for each in weighing.variants if each.mean_error is not None}
    by_error = sorted(errors.items(), key=lambda entry: entry[1])
    (best, least), rest = by_error[0], by_error[1:]
    alike = [value for value, error in by_error if error <= least + ALIKE]
    if len(alike) == len(by_error) > 1:
        ends = dict.fromkeys(f"{100 * error:.1f}" for error in (least, by_error[-1][1]))
        return (
            f"The printed numbers do not distinguish these values: mean difference {' to '.join(ends)} %."
            f"{_by_claims(weighing)}"
        )
    others = ", ".join(f"{100 * error:.1f} % with “{value}”" for value, error in rest)
    said = f"The printed numbers support “{best}”: mean difference {100 * least:.1f} %, against {others}."
    if len(alike) > 1:
        said += " The closest of these can hardly be distinguished."
    return said + _by_claims(weighing)


def _by_claims(weighing: Weighing) -> str:
    """Count the claims that hold with each value, if the counts differ."""
    held = {variant.value: score([variant]) for variant in weighing.variants}
    if len({own["claims_held"] for own in held.values()}) == 1:
        return ""
    said = ", ".join(f"{own['claims_held']} of {own['claims']} with “{value}”" for value, own in held.items())
    return f" Claims that hold: {said}."


def markdown(reproduction: Reproduction) -> str:
    """Write the score of each study that compares with print as a table for other pages."""
    titles = (
        "study",
        "independent numbers within 5 %",
        "null model",
        "skill",
        "null model with constants",
        "skill beside it",
        "all numbers",
        "sentences that hold",
        "of these claims",
        "sentences open",
        "as printed: independent numbers",
        "skill",
        "skill beside constants",
        "sentences",
        "fitted choices",
    )
    head = f"| {' | '.join(titles)} |\n{'|---' * len(titles)}|\n"
    compared = [each for each in reproduction.outcomes if each.study.compares]
    named = [(f"{each.study.id}: {each.study.title}", total([each])) for each in compared]
    return head + "".join(_line(name, own) for name, own in [*named, ("together", together(reproduction.outcomes))])


def _line(name: str, own: dict[str, Any]) -> str:
    """The score of a study as a row."""
    printed = own["as_printed"]
    cells = (
        name,
        f"{own['independent_within_5pct']} of {own['independent']}",
        str(own["null"]),
        headline.skill(own),
        str(own["null_with_constants"]),
        headline.skill(own, "_with_constants"),
        f"{own['within_5pct']} of {own['numbers']}",
        f"{own['sentences_held']} of {own['sentences']}",
        f"{own['claims_held']} of {own['claims']}",
        f"{own['claims_open'] + own['remarks_open']} of {own['sentences']}",
        f"{printed['independent_within_5pct']} of {printed['independent']}",
        headline.skill(printed),
        headline.skill(printed, "_with_constants"),
        f"{printed['sentences_held']} of {printed['sentences']}",
        str(own["fitted"]),
    )
    return f"| {' | '.join(cells)} |\n"


def render(reproduction: Reproduction) -> str:
    """Write the page."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "command": command,
        "serves": serves,
        "tables": tables,
        "score": total,
        "together": together,
        "skill": headline.skill,
        "chosen": headline.chosen,
        "singles": singles,
        "verdict": verdict,
        "predicted": headline.predicted,
        "needing": headline.needing,
        "overridden": headline.overridden,
        "listed_figure": headline.listed_figure,
        "by_era": headline.by_era,
        "written": headline.written(),
        "verdicts": verdicts,
        "truth": truth,
        "basis": basis,
        "sets": SETS,
        "sure": SURE,
        "word": word,
        "replications": replications,
        "differing": differing,
        "shelves": shelves,
        "anchor": prose.anchor,
        "place": prose.source,
        "sections": sections,
        "findings": findings,
        "asked": prose.asked,
        "values_of_plot": values.of_plot,
        "values_of_weighing": values.of_weighing,
    }
    environment.filters["prose"] = prose.html
    environment.filters["symbols"] = prose.symbols
    environment.filters["lead"] = prose.first_sentence
    return environment.get_template("report.html.j2").render(
        reproduction=reproduction,
        outcomes=reproduction.outcomes,
        chapters=reproduction.chapters,
        version=_core.VERSION,
    )
