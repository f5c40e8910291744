"""The lab: one page that animates runs in a browser and compares two policies under the same traffic.

`make lab` builds the page, and a wheel contains it. This module puts scenarios into it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pushout import _core, policy, shipped
from pushout.document import steps
from pushout.errors import Argument, QuestionError, ScenarioError
from pushout.excerpt import quoted
from pushout.names.load import busiest
from pushout.names.place import everywhere
from pushout.names.port import AS_IT_IS, Choice, Holder, Port, label, policy_refused, ports, section
from pushout.names.port import policies as choices
from pushout.quantity import seconds
from pushout.shipped import typed
from pushout.simulate import listed
from pushout.source import Overrides, ScenarioLike, Source, load, overrides, toml

_GIVEN = '<script id="given" type="application/json">[]</script>'
"""The place in the page for scenarios that the user names."""

LETTERS = "AB"
"""Names of the compared runs on the page."""

MISSING = (
    "this wheel was built without the page of the lab: install one that has it, as make wheel builds it with Node.js"
    if shipped.IS_WHEEL
    else "the page is not built: run make lab, which needs Node.js, npm and the Rust target wasm32-unknown-unknown"
)


@dataclass(frozen=True)
class Own:
    """A policy of the user's own: the place that gets it, its file, and its table as TOML."""

    place: str
    """A port or a class of ports; empty for the busiest port."""
    file: str
    program: Mapping[str, Any]

    @staticmethod
    def read(text: str) -> "Own":
        """Translate the policy of `[PLACE=]FILE.py`."""
        place, equals, file = text.rpartition("=")
        if not file or (equals and not place):
            raise QuestionError(Argument("own"), f" must be [PLACE=]FILE.py, not {quoted(text)}")
        return Own(place, file, policy.read(file))

    @property
    def label(self) -> str:
        """Its name with its parameters."""
        return label(toml(self.program))


def page(
    scenarios: Sequence[ScenarioLike],
    policies: Sequence[str] = (),
    *,
    own: Sequence[str] = (),
    set: Overrides = (),  # noqa: A002
) -> str:
    """Return the page as HTML, with these scenarios in it.

    Parameters: `policies` are one policy, or two to be compared, at the busiest port with a limited buffer, or in the
    memory that this port shares; `own` are policies in Python, as `[PLACE=]FILE.py`, of run A, and B runs without them
    or with the one of `policies`; if `policies` are two, both runs have them; `set` are overrides for all scenarios.
    """
    sets = tuple(overrides(set))
    if not shipped.PAGE.is_file():
        raise FileNotFoundError(MISSING)
    programs = [Own.read(text) for text in own]
    given = [_offer(number, each, policies, programs, sets) for number, each in enumerate(scenarios, 1)]
    if (policies or programs) and not given:
        raise QuestionError("policies need a scenario: name one, as in pushout lab lan --policies tail-drop,epd")
    text = json.dumps(given).replace("<", "\\u003c")  # nothing in it ends the element
    return shipped.PAGE.read_text(encoding="utf-8").replace(_GIVEN, _GIVEN.replace("[]", text))


LINK = 2
"""The version of a link that carries a scenario; web/src/link.ts reads it."""

LONGEST_LINK = 30_000
"""Letters of a text that a link carries: browsers and mail cut longer addresses."""


def link(
    scenario: ScenarioLike,
    policies: Sequence[str] = (),
    *,
    own: Sequence[str] = (),
    set: Overrides = (),  # noqa: A002
) -> str:
    """Return what follows the address of the page to show this scenario there: the page of a site needs no file.

    The parameters are those of `page`. It begins where the measured time does.
    """
    from pushout.reading import explain

    offer = _offer(1, scenario, policies, [Own.read(text) for text in own], tuple(overrides(set)))
    text = str(offer["text"])
    if len(text) > LONGEST_LINK:
        raise QuestionError(
            f"the scenario has {len(text)} letters, and a link carries at most {LONGEST_LINK}: send the page instead "
            "(pushout lab … --out lab.html)"
        )
    explained = explain(load(scenario), set=set)
    sets = offer["runs"] or [[]]
    view = [LINK, explained["name"], sets, _begins_ps(explained), offer.get("port"), text]
    return "#" + quote(json.dumps(view, ensure_ascii=False, separators=(",", ":")), safe="")


def _begins_ps(explained: Mapping[str, Any]) -> int:
    """Return the instant that a link shows: the end of the warm-up, or a tenth of the run."""
    warmup, whole = seconds(explained["warmup"]), seconds(explained["duration"])
    return round((warmup or whole / 10) * 1e12)


def _offer(
    number: int, scenario: ScenarioLike, policies: Sequence[str], own: Sequence[Own], sets: tuple[str, ...]
) -> dict[str, Any]:
    """Build what the page opens: `Preset` in web/src/presets.ts."""
    from pushout.reading import explain

    source = load(scenario)
    explained = explain(source, set=sets)
    port = _port(explained, own) if policies or own else None
    chosen = _chosen(explained, port, policies) if port else []
    if own and len(chosen) == len(LETTERS):  # they differ in these, wherever the user's own policies are
        port = _busiest(explained)
        chosen = _chosen(explained, port, policies)
    programs = [_placed(each, port.name, source, sets) for each in own if port]
    unread = ("measure.meter=[]",) if port and explained.get("measure", {}).get("meter") else ()
    base = [*sets, *unread]
    runs = []
    for choices_of_run in _differing(programs, chosen):
        run = [*base, *(change for choice in choices_of_run for change in choice.sets)]
        _check(source, run, choices_of_run, len(base))
        runs.append(run)
    labels = [", ".join(choice.label for choice in choices_of_run) for choices_of_run in _differing(programs, chosen)]
    return {
        "name": f"given {number}",
        "title": explained.get("title") or explained["name"],
        "look": " against ".join(label or AS_IT_IS for label in labels) if programs or chosen else "",
        "file": typed(Path(source.name)) if Path(source.name).is_file() else source.name,
        "text": source.text,
        "runs": runs,
        **({"labels": labels} if programs else {}),
        **({"programs": found} if (found := _programs([*programs, *chosen])) else {}),
        **({"port": port.name} if port else {}),
    }


def _differing(programs: Sequence[Choice], chosen: Sequence[Choice]) -> list[list[Choice]]:
    """Return the policies of each run: A has those of the user's own; of two others, each run has one."""
    if not programs or len(chosen) == len(LETTERS):
        _check_apart(programs, chosen)
        return [[*programs, choice] for choice in chosen] or [list(programs)]
    return [list(programs), list(chosen)]


def _check_apart(programs: Sequence[Choice], chosen: Sequence[Choice]) -> None:
    """Refuse policies that would take the place of the user's own in both runs."""
    of = [{change.partition("=")[0] for choice in each for change in choice.sets} for each in (programs, chosen)]
    if both := sorted(of[0] & of[1]):
        raise QuestionError(
            Argument("policies"), " must be one beside ", Argument("own"), f", not two: {both[0]} has only one policy"
        )


def _programs(chosen: Sequence[Choice]) -> list[dict[str, str]]:
    """List the policies in Python: their overrides, and the options by which a command names their files."""
    files = {change: choice.file for choice in chosen if choice.file for change in choice.sets}
    return [{"set": change, "option": f"{_place(change)}={file}"} for change, file in files.items()]


def _place(change: str) -> str:
    """Return what the option names: a port, or the flows, whose control is not at a port."""
    first, second, *_ = steps(change.partition("=")[0])
    return first if first == "flows" else second


def _placed(own: Own, busiest: str, source: Source, sets: Sequence[str]) -> Choice:
    """Give a policy in Python to its place, by default the busiest port: `all` stands for every class."""
    place = own.place or busiest
    changes = policy.overrides(dict.fromkeys(listed("own", place), own.program))
    return Choice(own.label, tuple(each for made in everywhere(changes, source, sets) for each in made), file=own.file)


def _check(source: Source, run: Sequence[str], chosen: Sequence[Choice], first: int) -> None:
    """Refuse what the page could not open; the policies follow the `first` overrides."""
    from pushout.reading import explain

    try:
        explain(source, set=run)
    except ScenarioError as error:
        owners = [(choice, change) for choice in chosen for change in choice.sets]
        at = (error.set if error.set is not None else first) - first
        if not 0 <= at < len(owners):
            raise
        choice, change = owners[at]
        raise policy_refused(error, choice, change, "own" if choice.file else "policies") from error


def _port(explained: dict[str, Any], own: Sequence[Own]) -> Port:
    """Choose the port to look at: one that gets a policy of the user's own, or the busiest."""
    known = ports(explained)
    named = [known[each.place] for each in own if each.place in known]
    return named[0] if named else _busiest(explained)


def _chosen(explained: dict[str, Any], port: Port, policies: Sequence[str]) -> list[Choice]:
    """Choose the policies that the port's buffer, or the memory that it shares, has in each run."""
    chosen = choices(policies, [_holder(port, explained)], json.loads(_core.policies()))
    if len(chosen) > len(LETTERS):
        raise QuestionError(Argument("policies"), f" must be one or two, not {len(chosen)}: the page compares two runs")
    return chosen


def _busiest(explained: dict[str, Any]) -> Port:
    """Choose the busiest port: of those with a limited buffer, or if there is none, of all."""
    known = ports(explained).values()
    return busiest([port for port in known if port.is_limited] or known, explained)


def _holder(port: Port, explained: dict[str, Any]) -> Holder:
    """Return what holds the policies of a port: the memory that it shares, or its own section."""
    if port.memory is None:
        return port.holder
    return Holder(section("memory", port.memory), explained["memory"][port.memory])
