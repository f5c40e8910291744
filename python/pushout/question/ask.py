"""Parse and check questions about one scenario before anything is run, so that mistakes cost nothing.

Annotations stay texts, as in `pushout.api`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pushout import _core
from pushout.document import Document, figure, steps
from pushout.errors import Argument, FigureError, QuestionError
from pushout.excerpt import excerpt, quoted
from pushout.limits import DEEPEST, LEAST_RESOLUTION, MOST_REPS
from pushout.literals import SEARCHES
from pushout.names import measured
from pushout.names.computed import Scene, Scenes, in_memories
from pushout.names.figures import paths_of
from pushout.names.place import Place, Places
from pushout.names.port import Choice, Holder, ports, section
from pushout.names.port import policies as choices_of
from pushout.options import RESOLUTION, About, Compare, Named, Policies, Size, Why, takes
from pushout.question import size
from pushout.question.compare import Comparison, policies_named
from pushout.question.goal import Goal
from pushout.question.goal import read_all as read_goals
from pushout.question.known import without_unknown
from pushout.question.size import Question, Sizing
from pushout.question.space import space
from pushout.question.subject import Subject
from pushout.question.sweep import look_over
from pushout.simulate import Job, check_reps, check_seed, check_text, check_whole
from pushout.source import Source, load, overrides, plain, toml
from pushout.warning import Warned, of_scenario, union

A = TypeVar("A", bound=Subject)


def read(asked: About | Why) -> tuple[Source, Document, tuple[str, ...]]:
    """Read and check a scenario: its source, its explained form and its overrides."""
    check_seed(asked.seed)
    source, sets = load(asked.scenario), tuple(overrides(asked.set))
    engine = asked.engine if isinstance(asked, About) else None
    explained: Document = json.loads(Job(source, sets, engine).explain(asked.seed))
    return source, explained, sets


def choices_at(policies: Policies, where: Sequence[Place]) -> tuple[Choice, ...]:
    """Parse policies for places."""
    listed = [policies] if isinstance(policies, str | Mapping) else policies
    if not isinstance(listed, Iterable):
        raise TypeError(f"policies must be a name, a table of parameters or a list of these, not {quoted(listed)}")
    if wrong := [policy for policy in listed if not isinstance(policy, str | Mapping)]:
        raise TypeError(f"a policy must be a name, a table of parameters or as-is, not {quoted(wrong[0])}")
    given = [policy if isinstance(policy, str) else toml(policy) for policy in listed]
    return tuple(choices_of(given, _holders(where), json.loads(_core.policies())))


def _holders(where: Sequence[Place]) -> list[Holder]:
    """List the sections that hold the policies of places, each once."""
    return list({holder.path: holder for place in where for holder in place.holders}.values())


def named_places(at: Named, port: Named, places: Places) -> tuple[Place, ...] | None:
    """Find the places that `at` names, or its other name `port`; None if neither names any."""
    if at is not None and port is not None:
        raise QuestionError(Argument("at"), " and ", Argument("port"), " are one argument: give only ", Argument("at"))
    argument, names = ("at", at) if port is None else ("port", port)
    if names is None or isinstance(names, str):
        return names if names is None else places.named(names, argument)
    if not isinstance(names, Iterable):
        raise TypeError(f"{argument} must be a string or a list of strings, not {quoted(names)}")
    listed = [check_text(argument, name) for name in names]
    if not listed:
        raise QuestionError(f"{argument} must not be an empty list: name a place, or leave it out")
    return places.named(listed, argument)


def _place_of(key: str, places: Places) -> Place | None:
    """Find the place that a key belongs to; None if its section stands for several ports."""
    part, *names = steps(key)
    if part not in ("port", "memory") or not names:
        return None
    if part == "memory":
        return places.named([section("memory", names[0])])[0] if places.has_memory(names[0]) else None
    if names[0] not in places.ports and (places.is_written(names[0]) or places.is_class(names[0])):
        return None
    try:
        return Place.of(places.port(names[0]))
    except QuestionError as error:
        raise QuestionError(Argument("over"), f" {excerpt(key)}: ", error) from None


def _key(over: str) -> str:
    """Return the path of a key; refuse one that is too deep."""
    count = len(steps(check_text("over", over)))
    if count > DEEPEST:
        raise QuestionError(Argument("over"), f" {excerpt(over)}: a path must have at most {DEEPEST} keys, not {count}")
    return over


def _written(key: str, source: Source, sets: Sequence[str]) -> Any:
    """Return the value of a key as an override or the scenario writes it, in whose templates it need not stay."""
    values = [value for name, _, value in (change.partition("=") for change in sets) if name.strip() == key]
    if values:
        return values[-1].strip().strip("\"'")
    try:
        return figure(_core.Document(source.text, source.name).value(), key)
    except FigureError:
        return None


def _check_search(asked: Size) -> None:
    least, most, resolution = asked.least, asked.most, asked.resolution
    check_whole("least", least)
    check_whole("most", most)
    if not 2 <= least <= most <= MOST_REPS:
        order = f" must be replications with 2 ≤ least ≤ most ≤ {MOST_REPS}, not {least} and {most}"
        raise QuestionError(Argument("least"), " and ", Argument("most"), order)
    if not isinstance(resolution, int | float) or not (resolution == 0 or LEAST_RESOLUTION <= resolution <= 1):
        allowed = f"0 or a share from {LEAST_RESOLUTION:g} to 1, such as {RESOLUTION}"
        raise QuestionError(f"resolution must be {allowed}, not {quoted(resolution)}")
    if asked.search not in SEARCHES:
        raise QuestionError(_core.unknown("search", str(asked.search), SEARCHES))


def _check_measure(goal: Goal, explained: Document) -> None:
    """Refuse the level of an occupancy in a measure that its port does not use."""
    _, *names = steps(goal.path)
    port = ports(explained).get(names[0]) if goal.measure else None
    if port is not None and port.measure != goal.measure:
        raise QuestionError(
            f"goal {goal.text!r}: the occupancy of {port.name} must be in {port.measure}, not {goal.measure}"
        )


def compared(asked: Compare) -> Comparison:
    """Parse and check a comparison."""
    source, explained, sets = read(asked)
    places = Places(explained, source, sets)
    where, told = _where(places, named_places(asked.at, asked.port, places))
    _check_foreseen(where[0])
    places.check_limited(where[0])
    check_reps(asked.reps, least=2)
    scene = Scenes(source, asked.engine).of(sets)
    choices = choices_at(asked.policies, where)
    paths = tuple(_in_report(path, scene) for path in paths_of(asked.figures, where[0].port_name))
    sets, of_measures = _measuring(explained, sets, paths)
    told = [*told, *of_measures, *_own_factors(explained, where, choices)]
    choices, of_keys = without_unknown(explained, choices)
    told += of_keys
    question = Comparison(source, explained, sets, choices, asked.seed, asked.engine, told, where, asked.reps, paths)
    with policies_named(question.design, choices):
        look_over(question.design)
    return _warned(question)


def _measuring(
    explained: Document, sets: tuple[str, ...], paths: Sequence[str]
) -> tuple[tuple[str, ...], list[Warned]]:
    """Add to overrides what it takes to measure these figures, and warn of it."""
    further = measured.added(explained, paths)
    return (*sets, *further), measured.warnings(further)


def _own_factors(explained: Document, where: Sequence[Place], choices: Sequence[Choice]) -> list[Warned]:
    """Warn about factors of thresholds of a memory's policies where its classes have their own."""
    classes = [name for name, section in explained.get("queue", {}).items() if section.get("alpha") is not None]
    gives = any("alpha" in change for choice in choices for change in choice.sets)
    if not (classes and gives and any(place.memories for place in where)):
        return []
    names = f"{', '.join(classes[:3])}{' and others' if len(classes) > 3 else ''}"
    why = f"the alpha of a policy does not apply to the classes {names}, which have their own: vary queue.NAME.alpha"
    return [{"code": "own-alpha", "message": excerpt(why, 300)}]


def _in_report(path: str, scene: Scene) -> str:
    """Name in the path of a memory the only entry that the report has for it."""
    return in_memories(path, scene.memories) if path.startswith("memories.") else path


def _where(places: Places, named: tuple[Place, ...] | None) -> tuple[tuple[Place, ...], list[Warned]]:
    """Find the places that get the policies; warn about the choice if none is named."""
    if named is not None:
        return named, []
    place, told = places.by_default()
    return (place,), told


def _check_foreseen(place: Place) -> None:
    """Refuse to compare the figures of queues that no report has yet: those of transfers that are drawn in a run."""
    if not place.is_foreseen:
        why = "must be a class of flows that are known before a run, not only of drawn transfers"
        raise QuestionError(Argument("at"), f" {excerpt(place.name)} {why}: choose {place.holders[0].path}")


def _warned(asked: A) -> A:
    """Add the warnings of the scenario under each of the policies."""
    found = union(of_scenario(asked.source, (*asked.sets, *choice.sets)) for choice in asked.choices)
    return replace(asked, warnings=[*asked.warnings, *found])


def _goals(asked: Size, place: Place | None, scene: Scene) -> tuple[Goal, ...]:
    """Parse the goals of a search; those of figures that only ports have are about the place."""
    texts = [check_text("goal", each) for each in ([asked.goal] if isinstance(asked.goal, str) else asked.goal)]
    goals = read_goals(texts, place.port_name if place else "")
    wanted = tuple(replace(each, path=_in_report(each.path, scene)) for each in goals)
    _check_search(asked)
    first = wanted[0]
    if first.level is None and asked.search == "bisect":
        why = f"bisect needs a goal with a level, and {first.relation} has none: leave search at auto"
        raise QuestionError(f"goal {quoted(first.text)}: {why}")
    if first.level is None and asked.largest:
        why = f"{first.relation} finds the best value, be it small or large: leave out "
        raise QuestionError(f"goal {quoted(first.text)}: {why}", Argument("largest"))
    return wanted


def sized(asked: Size) -> Sizing:
    """Parse and check a search."""
    source, explained, sets = read(asked)
    scene = Scenes(source, asked.engine).of(sets)
    places = Places(explained, source, sets)
    own = _place_of(_key(asked.over), places)
    named = named_places(asked.at, asked.port, places)
    wanted = _goals(asked, own or (named[0] if named else None), scene)
    is_asked = named is not None or (asked.policies and not own)
    given, told = _where(places, named) if is_asked else ((), [])
    where = given or ((own,) if own else ())
    choices = choices_at(asked.policies, where) if asked.policies else (Choice("", ()),)
    if not choices:
        raise QuestionError(Argument("policies"), " must name at least one policy, as in epd,ppd")
    ends = [None if end is None else str(plain(end)) for end in (asked.low, asked.high)]
    for each in wanted:
        _check_measure(each, explained)
    room = space(explained, asked.over, *ends, written=_written(asked.over, source, sets))
    place = own or (given[0] if given else None)
    sets, of_measures = _measuring(explained, sets, [each.path for each in wanted])
    bounds = (asked.resolution, asked.least, asked.most, asked.search, asked.largest)
    question = Question(wanted, asked.over, room, place, *bounds)
    found = Sizing(source, explained, sets, choices, asked.seed, asked.engine, [*told, *of_measures], question)
    found = size.from_valid(found) if asked.low is None else found
    size.look_over(found)
    return _warned(found)


comparison, sizing = takes(Compare)(compared), takes(Size)(sized)
"""These take the fields as arguments."""
