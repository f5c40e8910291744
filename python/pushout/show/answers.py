"""The answers of `compare`, `sweep` and `size`."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from rich.console import Console
from rich.text import Text

from pushout.answer.drawing import label
from pushout.document import Document
from pushout.names.figures import column_of
from pushout.names.port import Choice, figure_of
from pushout.quantity import READABLE, grouped, readable, shown, spoken
from pushout.question.compare import FIGURES, CompareResult, Policy
from pushout.question.goal import Tried
from pushout.question.plot import label_of
from pushout.question.sized import Answer, SizeResult, beyond_end, binding, is_falling
from pushout.question.sweep import SweepResult
from pushout.show.columns import NOISE, Column, draw, of_runs
from pushout.stats import AGREEING, Interval, unseen
from pushout.trust import FILES, WIDE, half_width, too_wide

MANY = 40
"""Largest number of points in the table; the others are only in the rows."""

PARTLY = "(… of … runs): the other runs could not measure the figure and are not part of its mean"

USUAL = ("goodput_ratio", "fairness_mean_deviation", "fairness_jain")
"""Figures shown by default; where files are sent, transfer times come first."""


Answered = SweepResult | CompareResult | SizeResult
"""The answer to a question."""


def answer(result: Answered, place: str | None, console: Console) -> None:
    """Print an answer; `place` is the folder that has it as files."""
    match result:
        case SweepResult():
            sweep(result, console)
        case CompareResult():
            comparison(result, place, console)
        case SizeResult():
            size(result, place, console)


def sweep(result: SweepResult, console: Console) -> None:
    """Print the mean of the main figures at every point."""
    asked = result.manifest["figures"]
    clocks = {f"{name.removesuffix('.values')}.{key}" for name in asked for key in ("start_s", "step_s")}
    files = [name for name in FILES if name in result.scalars()]
    names = [name for name in asked if name in result.scalars() and name not in clocks] or [*files, *USUAL]
    deciding = [column_of(result.manifest["reps"]["of"])] if "of" in result.manifest["reps"] else []
    names = [name for name in dict.fromkeys([*deciding, *names]) if name in result.columns]  # a part may have no runs
    swept = result.telling(result.swept())
    means, titles = [], []
    for name in names:
        title, factor = _unit(result, name)
        titles.append(title)
        means.append([_times(factor, value) for value in result.means(name)])
    rows = []
    runs = Counter(result.columns.plain("point"))
    for point, values in enumerate(result.points[:MANY]):
        found = [mean(column[point], runs[point]) for column in means]
        rows.append([*(shown(values.get(name)) for name in swept), str(runs[point]), *found])
    columns = [*(Column(name, right=False) for name in swept), *map(Column, ("runs", *titles))]
    draw(console, columns, rows, keys=len(swept))
    if len(result.points) > MANY:
        console.print(f"… and {len(result.points) - MANY} more points", style="dim")
    manifest = result.manifest
    done = f"Part {manifest['shard']} of the sweep: " if "shard" in manifest else ""
    done += "1 run" if manifest["runs"] == 1 else f"{manifest['runs']} runs"
    if "pilot_runs" in manifest:
        done += f" and {manifest['pilot_runs']} pilot runs for the warm-up"
    shown_as = (
        "means ± half of their 95 % intervals" if max(runs.values(), default=0) > 1 else "single runs have no intervals"
    )
    console.print(
        f"{done}, {manifest['computed']} of them computed now, in {manifest['wall_s']:.1f} s; {shown_as}.",
        soft_wrap=True,
    )
    partly = _partly((value, runs[point]) for column in means for point, value in enumerate(column[:MANY]))
    alike = _alike(value for column in means for value in column[:MANY])
    for note in (*_idle(result), *_imprecise(result), *alike, *partly):
        console.print(note, style="dim", soft_wrap=True)
    if "rows" in manifest:
        console.print(f"Rows: {manifest['rows']}", soft_wrap=True)


def _idle(result: SweepResult) -> Iterator[str]:
    """Name the swept keys that change no figure of any run."""
    swept = result.telling(result.swept())
    scalars = [result.columns.plain(name) for name in ("point", "seed", *result.scalars())]
    runs: dict[int, list[tuple[object, ...]]] = {}
    for point, *run in zip(*scalars, strict=True):
        runs.setdefault(point, []).append(tuple(run))
    for name in swept:
        alike: dict[tuple[str, ...], list[int]] = {}
        for point, values in enumerate(result.points):
            if point in runs:
                alike.setdefault(tuple(str(values.get(other)) for other in swept if other != name), []).append(point)
        several = [points for points in alike.values() if len(points) > 1]
        if several and all(runs[point] == runs[points[0]] for points in several for point in points[1:]):
            yield f"{name} changes nothing: every run has the same figures with any of its values. Does a flow meet it?"


def _unit(result: SweepResult, name: str) -> tuple[str, float]:
    """Return the head of a column, with the most readable unit for its means, and the factor to that unit."""
    known = [abs(value["mean"]) for value in result.means(name) if value]
    unit = label_of(result, name).rpartition(" (")[2]
    title, factor = readable(f"{name}\n({unit}", max(known, default=0.0))
    return (title, factor) if unit.removesuffix(")") in (*READABLE, "cells", "packets") else (name, 1.0)


def _imprecise(result: SweepResult) -> Iterator[str]:
    """Count the points that have used all their runs and miss the required precision."""
    reps = result.manifest["reps"]
    if "relative" not in reps:
        return
    name = column_of(reps["of"])
    if wide := sum(not _within(reps["relative"], value) for value in result.means(name)):
        yield (
            f"{wide} of {len(result.points)} points have a wider interval than ± {100 * reps['relative']:.3g} % of the "
            f"mean {name} after {reps['most']} runs, the limit (max)"
        )


def _within(relative: float, value: Interval | None) -> bool:
    """Return whether the interval of a mean is within ± a share of it; False without an interval."""
    if value is None or value["ci95"] is None:
        return False
    return value["ci95"][1] - value["mean"] <= relative * abs(value["mean"])


def comparison(result: CompareResult, place: str | None, console: Console) -> None:
    """Print every figure under every policy, and its difference from the first policy."""
    names = result.figures()
    first = result.policies[0]
    rows: list[list[str | Text]] = []
    for name in names:
        title, factor = _title(result, name)
        rows.append([title, *(mean(_times(factor, policy.mean(name)), _runs_of(policy)) for policy in result.policies)])
        minus = [
            (_times(factor, policy.minus(first, name)), _pairs_of(policy, first)) for policy in result.policies[1:]
        ]
        differences = [Text(_difference(value, pairs), style="dim") for value, pairs in minus]
        rows.append([Text(f"  minus {first.choice.shown}", style="dim"), "", *differences])
    draw(console, [Column("", right=False), *(Column(_headed(policy.choice)) for policy in result.policies)], rows)
    for told in _where(result):
        console.print(told, soft_wrap=True)
    console.print(_basis(result.policies), soft_wrap=True)
    means = [(policy.mean(name), _runs_of(policy)) for policy in result.policies for name in names]
    means += [(policy.minus(first, name), _pairs_of(policy, first)) for policy in result.policies[1:] for name in names]
    for note in (
        *_beside((policy.choice.label, policy.choice.beside) for policy in result.policies),
        *_alike(value for value, _ in means),
        *_partly(means),
    ):
        console.print(note, style="dim", soft_wrap=True)
    if place is not None:
        console.print(f"Rows, figure and document: {place}", soft_wrap=True)


def _headed(choice: Choice) -> str:
    """Return the head of a policy's column, with the scheduler that stays in its second line."""
    return f"{choice.label},\nin {choice.within}" if choice.within else choice.label


def _where(result: CompareResult) -> Iterator[str]:
    """Name the places of the policies, and say whose losses, occupancy and delay the figures are."""
    first = result.place
    if len(result.places) == 1 and first.port:
        return
    if first.port:
        whose = f"losses, occupancy and delay are those of {first.name}"
    elif first.queue:
        whose = f"losses and occupancy are sums over the queues of {first.name}"
    elif first.memories:
        count = len(first.memories)
        held = (
            "occupancy is that of the memory" if count == 1 else f"occupancy is that of its {count} memories together"
        )
        whose = f"losses are sums over the ports of {first.name}, {held}"
    else:
        whose = f"losses and occupancy are sums over the ports of {first.name}, delay is the mean of their units"
    yield f"Policies at {', '.join(place.whose for place in result.places)}; {whose}."


def _runs_of(policy: Policy) -> int:
    """Count the runs of a policy."""
    return max(map(len, policy.runs.values()))


def _pairs_of(policy: Policy, other: Policy) -> int:
    """Count the pairs of runs behind a difference."""
    return max(_runs_of(policy), _runs_of(other))


def _basis(policies: Sequence[Policy]) -> str:
    """Return how many runs the means and differences rest on."""
    alone = [policy.choice.label for policy in policies if not policy.draws]
    if len(alone) == len(policies):
        return "Nothing is drawn at random: one run of each policy stands for all seeds, and differences are exact."
    reps = max(map(_runs_of, policies))
    seeds = (
        f"{reps} seeds, the same for all policies; differences seed by seed ± half of their 95 % intervals; "
        "* where the interval excludes zero, each taken by itself."
    )
    return f"{seeds} {', '.join(alone)}: nothing is drawn at random, one run stands for all seeds." if alone else seeds


def _beside(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Name the policies that do not act alone."""
    for name, beside in pairs:
        if beside:
            yield f"{name}: {beside}"


def _title(result: CompareResult, name: str) -> tuple[str, float]:
    """Return the title of a figure and the factor from its unit to the unit shown."""
    title = FIGURES[name].format(measure=result.place.measure) if name in FIGURES else _asked(result, name)
    if not result.place.port:
        title = title.replace("in the port", "in a port")
    means = [value["mean"] for policy in result.policies if (value := policy.mean(name))]
    return readable(title, max(map(abs, means), default=0.0))


def _asked(result: CompareResult, name: str) -> str:
    """Return the title of a figure of --figures; an occupancy has the measure of its port."""
    for each in result.ports:
        if re.fullmatch(r"occupancy_(mean|max|p\d+)", name.removeprefix(f"{figure_of(each, '')}")):
            return f"{label(name)} ({each.measure})"
    return label(name)


def _times(factor: float, value: Interval | None) -> Interval | None:
    if value is None:
        return None
    ends = value["ci95"] and [factor * end for end in value["ci95"]]
    return {"mean": factor * value["mean"], "ci95": ends, "n": value["n"]}


def _alike(found: Iterable[Interval | None]) -> Iterator[str]:
    """Explain intervals of width 0, where all runs gave the same value."""
    counts = [value["n"] for value in found if value and value["ci95"] and value["ci95"][0] == value["ci95"][1]]
    if counts:
        yield (
            f"± 0: all {min(counts)} runs gave the same value; up to {100 * unseen(min(counts)):.2g} % of further runs "
            "might still differ (95 % confidence)"
        )


def _partly(found: Iterable[tuple[Interval | None, int]]) -> Iterator[str]:
    """Explain means that are not over all runs."""
    if any(value and value["n"] < reps for value, reps in found):
        yield PARTLY


def _difference(value: Interval | None, reps: int) -> str:
    if value is None or value["ci95"] is None:
        return mean(value, reps)
    low, high = value["ci95"]
    return mean(value, reps) + (" *" if low > 0 or high < 0 else "  ")


def size(result: SizeResult, place: str | None, console: Console) -> None:
    """Print the size that every policy needs."""
    ends = f"from {spoken(result.document['from'])} to {spoken(result.document['to'])}"
    console.print(Text(f"{result.wanted} over {result.over} {ends}"), soft_wrap=True)
    named = any(answer.label for answer in result.answers)
    units = list(dict.fromkeys(unit for answer in result.answers for unit in answer.sizes if unit != result.space.unit))
    pairs = zip(result.answers, result.document["answers"], strict=True)
    rows = [_answer(result, answer, entry, units)[0 if named else 1 :] for answer, entry in pairs]
    draw(console, _heads(result, units)[0 if named else 1 :], rows, keys=1 if named else 0)
    for entry in result.document["answers"]:
        if "improvement" in entry:
            first = result.answers[0].label
            open_ = "" if entry["sure"] and result.answers[0].sure else " ?"
            console.print(f"{entry['label']} {_saving(entry['improvement'], first)}{open_}", soft_wrap=True)
    for line in _binding(result):
        console.print(line, soft_wrap=True)
    for note in (
        *_beside((answer.label, answer.beside) for answer in result.answers),
        *_losing(result),
        *_beyond(result),
        *(line for answer in result.answers for line in _opposed(result, answer)),
        *_doubts(result),
    ):
        console.print(note, style="dim", soft_wrap=True)
    if place is not None:
        console.print(f"Rows, figure and document: {place}", soft_wrap=True)


def _saving(share: float, first: str) -> str:
    """Compare the size that a policy needs with that of the first policy."""
    if share == 0:
        return f"needs as much as {first}"
    percent = f"{100 * abs(share):.1f} %"
    return f"saves {percent} of what {first} needs" if share > 0 else f"needs {percent} more than {first}"


def _binding(result: SizeResult) -> Iterator[str]:
    """Name the goals of several that keep an answer from being smaller."""
    for answer in result.answers:
        if len(result.goals) > 1 and answer.found.best and (binds := binding(result.goals, answer)):
            which = "the goal that binds" if len(binds) == 1 else "the goals that bind"
            yield f"{_whose(answer)}{which}: {' and '.join(goal.text for goal in binds)}"


def _losing(result: SizeResult) -> Iterator[str]:
    """Explain the losses of an answer whose goal does not limit them."""
    for answer in result.answers:
        if answer.loses:
            limit = "--goal 'loss<=0.1 %' limits it"
            yield f"{_whose(answer)}{answer.loses} with this value, and no goal speaks of loss: {limit}"


def _heads(result: SizeResult, units: Sequence[str]) -> list[Column]:
    """Make the heads of the answers' columns; every mean is next to its value."""
    figures = [f"{column}\nwith it" for column in dict.fromkeys(goal.column for goal in result.goals)]
    first = "best" if result.goal.level is None else "largest" if result.largest else "needs"
    lost = ["lost"] if _are_losing(result) else []
    less = (
        []
        if result.goal.level is None
        else [f"{'smallest' if result.largest else 'largest'} size\nthat fails", *figures]
    )
    time = readable("(s)", _longest_us(result) / 1e6)[0].strip("()")
    sizes = [f"{first}, {time}\nat {result.pace}" if unit == "us" else f"{first},\nin {unit}" for unit in units]
    return [Column("policy", right=False), *map(Column, [first, *lost, *figures, *less, *sizes, "runs"])]


def _are_losing(result: SizeResult) -> bool:
    """Return whether an answer has losses that its goals do not limit."""
    return any(answer.loses for answer in result.answers)


def _answer(result: SizeResult, answer: Answer, entry: Document, units: Sequence[str]) -> list[str]:
    """Make the row of one policy."""
    has_goal = result.goal.level is not None
    beyond = {"from": "less", "to": "more"}[beyond_end(answer, result.goals)]
    absent = "none" if answer.found.opposed else beyond if has_goal else "–"
    needs = spoken(entry["value"] or absent) + ("" if entry["sure"] else " ?")
    sizes = [_size(result, unit, answer.sizes[unit]) if unit in answer.sizes else "–" for unit in units]
    lost = [_share(answer.loss)] if _are_losing(result) else []
    less = (
        [spoken(entry["too_large" if result.largest else "too_small"] or "–"), *_reached(result, answer.found.below)]
        if has_goal
        else []
    )
    runs = sum(point.runs for point in answer.tried)
    return [answer.label, needs, *lost, *_reached(result, answer.found.best), *less, *sizes, str(runs)]


def _longest_us(result: SizeResult) -> float:
    """Return the longest time of an answer, whose unit is that of all."""
    return max((answer.sizes.get("us", 0.0) for answer in result.answers), default=0.0)


def _size(result: SizeResult, unit: str, value: float) -> str:
    """Write an answer in another unit: a time in that of its column."""
    if unit != "us":
        return grouped(value)
    factor = readable("(s)", _longest_us(result) / 1e6)[1] / 1e6
    return grouped(value * factor, 0 if factor >= 1 else 1)


def _share(value: Interval | None) -> str:
    """Show a share in percent."""
    return "–" if value is None else f"{100 * value['mean']:.2g} %"


def _reached(result: SizeResult, point: Tried | None) -> list[str]:
    """Show the means of the goals' figures at a value, if there is one; one figure may have two goals."""
    places = {goal.column: number for number, goal in enumerate(result.goals)}
    return [mean(point.of(number).mean, point.runs) if point else mean(None) for number in places.values()]


def _beyond(result: SizeResult) -> Iterator[str]:
    """Explain answers at an end of the range."""
    for answer, entry in zip(result.answers, result.document["answers"], strict=True):
        for end in entry["at_end"]:
            if result.goal.level is None:
                yield f"{_whose(answer)}{_best_at(end, result, answer)}"
            elif why := _no_bracket(result, answer):
                yield f"{_whose(answer)}{why}"


def _whose(answer: Answer) -> str:
    """Begin a line about the answer for one policy, if there are several."""
    return f"{answer.label}: " if answer.label else ""


def _best_at(end: str, result: SizeResult, answer: Answer) -> str:
    """Explain a best value at an end of the range."""
    which = "one of the best values" if answer.rivals else "the best value"
    side = "less" if end == "from" else "more"
    beyond = f"{side} than {spoken(result.document[end])} may be better; extend it (--{end})"
    return f"{which} is at an end of the range: {beyond}"


def _no_bracket(result: SizeResult, answer: Answer) -> str | None:
    """Explain that all values meet the goal, or none does."""
    best, below = answer.found.best, answer.found.below
    if best is not None:
        end = spoken(result.space.text(best.value))
        if result.largest:
            return f"the largest value tried meets the goal; more than {end} may do so too (--to)"
        turned = "; for the largest that does use --largest" if is_falling(answer) else ""
        return f"the smallest value tried meets the goal; less than {end} may suffice (--from){turned}"
    if below is None:
        return None
    missed = binding(result.goals, answer)[0]
    number = result.goals.index(missed)
    end = beyond_end(answer, result.goals)
    nearest = below if end == "to" else min(answer.tried, key=lambda point: point.value)
    figure = mean(nearest.of(number).mean, nearest.runs)
    there = f"{spoken(result.space.text(nearest.value))} {missed.column} is {figure}"
    share = half_width(below.mean) if below.mean else 0.0
    fix = too_wide(share) if share > WIDE else f"extend the range (--{end}), or relax the goal"
    return f"no value tried meets the goal; at {there}: {fix}"


def _opposed(result: SizeResult, answer: Answer) -> Iterator[str]:
    """Explain goals of which one needs more and another less than any value."""
    below, opposed = answer.found.below, answer.found.opposed
    if opposed is None:
        return
    more = [f"{_at(result, below)} misses {_missed(result, below, opposed)}"] if below else []
    told = ", ".join([*more, f"{_at(result, opposed)} misses {_missed(result, opposed)}"])
    yield f"{_whose(answer)}no value meets all goals: {told}; relax a goal"


def _at(result: SizeResult, point: Tried) -> str:
    return spoken(result.space.text(point.value))


def _missed(result: SizeResult, point: Tried, other: Tried | None = None) -> str:
    """Name the goals that a value misses and another one meets."""
    missed = [number for number in range(len(result.goals)) if not point.of(number).meets]
    return " and ".join(result.goals[number].text for number in missed if other is None or other.of(number).meets)


def _doubts(result: SizeResult) -> Iterator[str]:
    """Explain what the runs leave open about the answers."""
    ends = [end for answer in result.answers for end in answer.ends]
    yield from _unsure(result, [end for end in ends if not end.sure], ends)
    for answer, entry in zip(result.answers, result.document["answers"], strict=True):
        yield from _unsettled(answer, entry)
    for answer in result.answers:
        if answer.ends:
            yield from _without_spread(answer.ends[0], _whose(answer))


def _unsure(result: SizeResult, doubtful: Sequence[Tried], ends: Sequence[Tried]) -> Iterator[str]:
    """Say why the values next to the goal may lie on its other side."""
    if near := [spoken(result.space.text(end.value)) for end in doubtful if end.unseen is None]:
        yield f"? at {', '.join(near)} the 95 % interval contains the goal: allow more replications (--most)"
    yield from _partly((end.mean, end.runs) for end in ends)
    if nothing := [spoken(result.space.text(end.value)) for end in doubtful if end.mean is None]:
        yield f"? at {', '.join(nothing)} no run could measure the figure, but the runs are few: use --least {AGREEING}"
    if any(end.unseen is not None and end.mean for end in doubtful):
        yield f"? all runs gave the same value, but they are too few to be sure: use --most {AGREEING}"


def _unsettled(answer: Answer, entry: Document) -> Iterator[str]:
    """State the range that is certain, and the values that may be as good as the best one."""
    if not answer.sure and any(entry.get("between", ())):
        low, high = (end and spoken(end) for end in entry["between"])
        up, on = ("small enough", "too large") if answer.largest else ("too small", "large enough")
        clear = [*([f"{up} up to {low}"] if low else []), *([f"{on} from {high} on"] if high else [])]
        yield f"{_whose(answer)}clearly {', clearly '.join(clear)}"
    if answer.rivals:
        rivals = ", ".join(map(spoken, entry["rivals"]))
        yield (
            f"? {_whose(answer)}{rivals} may be as good: the 95 % interval of the difference, seed by seed, contains "
            f"zero, or fewer than {AGREEING} differences are all the same"
        )


def _without_spread(best: Tried, whose: str) -> Iterator[str]:
    """State what equal runs at the best value prove."""
    if best.unseen is None or best.mean is None:
        return
    if best.unseen == 0:
        yield f"{whose}nothing is drawn at random: one run of each value stands for all seeds"
    else:
        yield (
            f"{whose}all {best.mean['n']} runs at this value gave the same; up to {100 * best.unseen:.2g} % of "
            "further runs might still differ (95 % confidence)"
        )


def mean(value: Interval | None, reps: int = 0) -> str:
    """Show a mean ± half of its interval, and the number of its runs if it is less than `reps`."""
    return "–" if value is None else of_runs(_rounded(value), value["n"], reps)


def _rounded(value: Interval) -> str:
    """Round an interval to two digits and the mean to the same place; without an interval, the mean to five digits."""
    middle = value["mean"]
    half = value["ci95"][1] - middle if value["ci95"] else 0.0
    if half <= NOISE * abs(middle):
        told = re.sub(r"(\.\d*?)0+$", r"\1", grouped(middle, max(0, _digits(middle, 5)))).removesuffix(".")
        return told if value["ci95"] is None else f"{told} ± 0"
    digits = _digits(half, 2)
    return f"{grouped(middle, digits)} ± {grouped(half, digits)}"


def _digits(number: float, count: int) -> int:
    """Count the decimals that show `count` digits of a number; negative if digits before the point suffice."""
    return count - 1 - Decimal(f"{number:.{count - 1}e}").adjusted() if number else 0
