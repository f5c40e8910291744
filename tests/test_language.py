"""The language of the project: patterns that proved hard to read, and the form of messages."""

import ast
import re
import subprocess
from collections.abc import Iterator

import pytest

from conftest import ROOT

PATTERNS = {
    r"\bnobody\b": "name the component: no host, no queue",
    r"\bwhoever\b": "name the component",
    r"\b(somebody|someone|anybody|anyone|everybody)\b": "name the component",
    r"\bso many\b": "write the name of the parameter",
    r"\bso much\b": "write the name of the parameter",
    r"\bof today\b": "modern, current",
    r"\bbeside print\b": "compared with print",
    r"\bby heart\b": "tabulated",
    r"\b(sources?|flows?|stay|are|is) in step\b": "synchronised",
    r"\b(two|three|four|five|some|\d+) hundredths\b": "write percent: 2 %",
    r"\bcomes? round\b": "repeats",
    r"\bredrawn set": "bootstrap resample",
    r"\bit is not known whether\b": "whether … is not known",
    r"\bno rarity\b": "common",
    r"\b(is|are) told apart\b": "can be distinguished",
    r"\bone behind the other\b": "one after the other, back to back",
    r"\b(line|lines) of the cache\b": "cache line",
    r"\blets? go of\b": "releases",
    r"\bcom(e|es|ing) along\b": "is shipped, is included",
    r"\blet happen\b": "handle, advance to",
    r"\bmust go\b": "must be removed",
    r"\bwho is (told|served|admitted)\b": "observer, scheduler, admission policy",
    r"\bwhose turn it is\b": "next in turn",
    r"\ba circle of circuits\b": "a cycle of circuits",
}
"""What may not come back, and what to write instead."""

QUOTATIONS = {
    "tests/test_language.py": "the patterns themselves",
    "CHANGELOG.md": "history",
    "LICENSE-APACHE": "a licence",
}
"""Files that may have the patterns, and why."""

TEXT = (
    ".md",
    ".py",
    ".rs",
    ".toml",
    ".j2",
    ".json",
    ".yml",
    ".tcl",
    ".cc",
    ".css",
    ".ts",
    ".mjs",
    ".html",
    "Makefile",
    "Dockerfile",
)

CODE = (".py", ".rs")
"""Files with names of functions and comments of the project's own."""

VAGUE = re.compile(
    r": it is (a|an|true|one)\b|\bis no [a-z]|\b(is|are) neither\b|; this is \{|\bwhich is no\b|\bthere (is|are) none\b"
)
"""Parts of messages that should read: KEY must be CONDITION, not VALUE."""


def tracked() -> Iterator[tuple[str, str]]:
    """Every tracked text file with its content."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S607
    for name in names.splitlines():
        if name.endswith(TEXT) and name not in QUOTATIONS and (ROOT / name).is_file():
            yield name, (ROOT / name).read_text(encoding="utf-8")


ANY = re.compile("|".join(PATTERNS), re.IGNORECASE)
"""Any pattern: most files have none, and one look at each is enough."""


def found(text: str) -> list[str]:
    """Every pattern in a text, with its line and the advice."""
    if not ANY.search(text):
        return []
    lines = enumerate(text.splitlines(), start=1)
    return [
        f"{number}: {match[0]!r}: {advice}"
        for number, line in lines
        for pattern, advice in PATTERNS.items()
        for match in re.finditer(pattern, line, re.IGNORECASE)
    ]


NAMES = {
    **dict.fromkeys(("nobody", "whoever", "somebody", "someone", "anybody", "anyone", "everybody"), "the component"),
    **dict.fromkeys(("told", "tells"), "reports, shows, distinguishes"),
    **dict.fromkeys(("hears", "heard", "learns", "learn"), "is notified, receives"),
    **dict.fromkeys(("knows", "know"), "holds, contains, stores"),
}
"""Words that the name of a function may not have, and what to write instead."""

FUNCTION = re.compile(r"^\s*(?:pub(?:\([\w ]+\))? |const |async |unsafe |extern \"C\" )*(?:fn|def) (\w+)", re.MULTILINE)
"""The name of a function in Rust and Python."""

COMMENT = re.compile(r"\s*(///|//!|//|#|\"\"\")\s*(The same\b)?")
"""The mark of a comment, and the opening that may not come back."""


def names_of_functions(text: str) -> list[str]:
    """Every name of a function with a word that hides its component or its action, with its line and the advice."""
    return [
        f"{text.count(chr(10), 0, match.start(1)) + 1}: {match[1]}: {NAMES[word]}"
        for match in FUNCTION.finditer(text)
        for word in match[1].split("_")
        if word in NAMES
    ]


def same_openings(text: str) -> list[str]:
    """Every comment that opens with "The same", with its line; a comment may continue with it."""
    faults, mark = [], ""
    for number, line in enumerate(text.splitlines(), start=1):
        match = COMMENT.match(line)
        begins = match is not None and (match[1] != mark or match[1] == '"""')
        if match and match[2] and begins:
            faults.append(f"{number}: opens with 'The same': say the action, and what differs")
        mark = match[1] if match and line.strip() != match[1] else ""
    return faults


def messages(source: str) -> Iterator[tuple[int, str]]:
    """The texts of every exception that a Python file raises, with placeholders for values."""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)):
            continue
        for argument in node.exc.args:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield node.lineno, argument.value
            elif isinstance(argument, ast.JoinedStr):
                pieces = (str(piece.value) if isinstance(piece, ast.Constant) else "{}" for piece in argument.values)
                yield node.lineno, "".join(pieces)


def test_no_file_has_a_pattern_that_is_hard_to_read() -> None:
    faults = [f"{name}:{fault}" for name, text in tracked() for fault in found(text)]
    assert not faults, "\n".join(faults)


def test_names_of_functions_say_the_component_and_the_action() -> None:
    faults = [
        f"{name}:{fault}" for name, text in tracked() if name.endswith(CODE) for fault in names_of_functions(text)
    ]
    assert not faults, "\n".join(faults)


def test_no_comment_opens_with_the_same() -> None:
    faults = [f"{name}:{fault}" for name, text in tracked() if name.endswith(CODE) for fault in same_openings(text)]
    assert not faults, "\n".join(faults)


def test_no_heading_of_an_engine_answers_nothing() -> None:
    """A form of an engine leaves out a heading to which it has no answer."""
    empty = re.compile(r"^//! # .*\n//! (Nothing|Not measured)\b.*", re.MULTILINE)
    sources = [(name, text) for name, text in tracked() if name.startswith("crates/core/src/engine/")]
    assert len(sources) > 50
    faults = [f"{name}: {match[0]}" for name, text in sources for match in empty.finditer(text)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "line",
    [
        "    fn what_nobody_asks_for_is_not_there() {",
        "pub(crate) const fn told(&self) -> bool {",
        "    def test_a_page_tells_seeds(self) -> None:",
        "async def _knows(name: str) -> bool:",
    ],
)
def test_words_in_names_are_found(line: str) -> None:
    assert len(names_of_functions(line)) == 1


@pytest.mark.parametrize("line", ["fn foretell() {}", "def known() -> None:", "// fn nobody() {}", "file.tell()"])
def test_other_names_are_not(line: str) -> None:
    assert names_of_functions(line) == []


@pytest.mark.parametrize("text", ["/// The same for a port.", "x = 1  \n    # The same", '    """The same command."""'])
def test_an_opening_is_found(text: str) -> None:
    assert len(same_openings(text)) == 1


@pytest.mark.parametrize(
    "text", ["/// Twice in\n/// The same order.", "//! Runs.\n//! The same", "// The sameness", "let a = 'The same';"]
)
def test_a_sentence_inside_a_comment_is_not(text: str) -> None:
    assert same_openings(text) == []


@pytest.mark.parametrize("text", ["Nobody waits.", "send so many cells", "a port of today", "sources in step"])
def test_the_patterns_are_found(text: str) -> None:
    assert len(found(text)) == 1


def test_messages_name_the_condition_and_the_value() -> None:
    sources = sorted((ROOT / "python" / "pushout").rglob("*.py"))
    texts = [(file, *each) for file in sources for each in messages(file.read_text(encoding="utf-8"))]
    assert len(texts) > 100
    faults = [f"{file.relative_to(ROOT)}:{line}: {text}" for file, line, text in texts if VAGUE.search(text)]
    assert not faults, "\n".join(faults)


def test_a_message_that_must_be_something_says_what_it_is() -> None:
    """`KEY must be CONDITION` is followed by `, not VALUE`, unless the condition itself says what is wrong."""
    faults = []
    for file in sorted((ROOT / "python" / "pushout").rglob("*.py")):
        for line, text in messages(file.read_text(encoding="utf-8")):
            if "{}" in text and re.search(r"\bmust be (a|an|one|from|at)\b", text) and ", not " not in text:
                faults.append(f"{file.relative_to(ROOT)}:{line}: {text}")
    assert not faults, "\n".join(faults)


def test_the_reasons_of_refusals_in_the_core_begin_with_the_condition() -> None:
    pattern = re.compile(r'(?:refuse|refuse_if)\((?:[^;"]*?, )?"(\w+)",\s*(?:format!\()?"([^"]*)"')
    reasons = []
    for file in sorted((ROOT / "crates" / "core" / "src").rglob("*.rs")):
        body = file.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
        reasons += [(file.name, key, why) for key, why in pattern.findall(body)]
    assert len(reasons) > 30
    faults = [each for each in reasons if not re.match(r"must |cannot |give |the |\{", each[2])]
    assert not faults, "\n".join(map(str, faults))


def test_every_file_with_quotations_exists() -> None:
    assert [name for name in QUOTATIONS if not (ROOT / name).is_file()] == []
