"""Names that docs/limits.md lists as missing are refused with a reference to it; it lists no existing name."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import pushout
from conftest import ROOT

PAGE = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
LIST = (ROOT / "crates" / "core" / "src" / "words" / "unmodelled.rs").read_text(encoding="utf-8")

PLACES = {
    "admission": 'port.bottleneck.admission={policy="NAME"}',
    "scheduler": 'port.bottleneck.scheduler={policy="NAME"}',
    "congestion": 'flows.transport.congestion="NAME"',
    "source": 'flows.source={kind="NAME"}',
    "transport": 'flows.transport={kind="NAME"}',
    "credit": 'port.bottleneck.credit={policy="NAME"}',
    "topology": 'topology.template="NAME"',
}
"""Places of a scenario with a name of each kind."""


def unmodelled() -> Iterator[tuple[str, str]]:
    """The names that the reader calls not modelled, each with the first of its kinds."""
    table = LIST.partition("const UNMODELLED")[2].partition("] = [")[2].partition("\n];")[0]
    for kinds, names in re.findall(r"\(\s*&\[([^\]]*)\],\s*&\[([^\]]*)\],?\s*\)", table):
        kind, *_ = re.findall(r'"([^"]+)"', kinds)
        yield from ((kind, name) for name in re.findall(r'"([^"]+)"', names))


def missing(page: str = PAGE) -> list[str]:
    """Return the entries of the first columns of the page, without their exceptions ("other ways than `dsack`")."""
    table = re.compile(r"^\| not modelled \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", re.MULTILINE)
    cells = [row.split(" | ")[0].removeprefix("| ") for rows in table.findall(page) for row in rows.splitlines()]
    return [re.sub(r"\b(?:other \w+|other|\w+er) than [^;,(]*", "", cell) for cell in cells]


def named(page: str = PAGE) -> set[str]:
    """The names in code among what is missing."""
    return {name for cell in missing(page) for name in re.findall(r"`([^`]+)`", cell)}


def words(node: Any) -> Iterator[str]:
    """All keys of scenarios and their allowed words, from the schema."""
    if isinstance(node, dict):
        properties = node.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        allowed = [*node["enum"]] if isinstance(node.get("enum"), list) else [node.get("const")]
        yield from (each for each in allowed if isinstance(each, str))
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from words(each)


def existing() -> set[str]:
    """Everything that a scenario can name: schemes, keys and words."""
    return {scheme["name"] for scheme in pushout.policies()} | set(
        words(json.loads((ROOT / "schema" / "scenario.schema.json").read_text(encoding="utf-8")))
    )


@pytest.mark.parametrize(("kind", "name"), sorted(unmodelled()))
def test_what_is_not_modelled_is_refused_with_the_page(kind: str, name: str) -> None:
    with pytest.raises(pushout.ScenarioError, match=rf'"{name}": not modelled yet, see docs/limits.md'):
        pushout.explain("lan", set=[PLACES[kind].replace("NAME", name)])


def test_nothing_that_exists_is_called_missing() -> None:
    assert called_missing(PAGE) == set()


def called_missing(page: str) -> set[str]:
    """Return the names that a page calls missing in code or in words although a scenario can use them."""
    schemes = {scheme["name"] for scheme in pushout.policies()}
    said = {word.lower() for cell in missing(page) for word in re.findall(r"[\w²-]+", re.sub(r"`[^`]*`", "", cell))}
    return (named(page) & existing()) | (said & schemes)


@pytest.mark.parametrize(
    "claim", ["`arrivals`", "CoDel on links", "`reroute_after`", "`loss`", "`header`", "flows of `query`"]
)
def test_a_page_that_calls_something_missing_that_exists_is_refused(claim: str) -> None:
    head = "| not modelled | what to use instead, and what to expect |\n|---|---|\n"
    assert head in PAGE
    assert called_missing(PAGE.replace(head, f"{head}| {claim} | nothing |\n", 1))


def test_the_readme_names_what_the_page_calls_missing() -> None:
    """The sentence of the README is generated from the bold words of the page, which are in its first columns."""
    bold = re.findall(r"\*\*(.+?)\*\*", PAGE)
    assert len(bold) > 4
    assert [words for words in bold if not any(f"**{words}**" in cell for cell in missing())] == []
