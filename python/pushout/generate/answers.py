"""Numbers and outputs on pages, each with the command or the code that gives it: `docs/answers.toml`.

    [[answer]]
    id          its name
    command     a command of the page; its JSON document gives the names for the sentences
    first       commands of the page that come before it, in order
    cells       a page instead, whose code cells are executed: their variables are the names
    let         names for parts of these, in order
    slow        whether it takes more than five seconds: `make answers` and the nightly run repeat it, tests do not
    prints      the page with a block of what the command prints: `<!-- prints ID -->` and the next fence
    [[answer.says]]
    page        the page, if it is not that of `cells`
    text        a sentence of the page, with expressions for its numbers; see `sentences`
    holds       expressions that have to be true for its words

    [[given]]
    page, text  words with a number that no run gives
    why         where the number comes from

Results are kept in `docs/answers.json` with a hash of all that they depend on but the simulator's code. An answer
without command and cells is about the program itself, such as the number of its schemes, and is computed whenever pages
are filled.
"""

import contextlib
import hashlib
import io
import json
import linecache
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

from pushout import shipped
from pushout.document import figure
from pushout.generate import facts
from pushout.generate.sentences import Sentence, SentenceError, evaluated
from pushout.records import recorded

DECLARED, KEPT = Path("docs/answers.toml"), Path("docs/answers.json")
COLUMNS = "110"
"""Width of what a command prints, as a page shows it."""

_CELL = re.compile(r"^```\{code-cell\}\n(?:---\n.*?^---\n|(?::\w[^\n]*\n)+\n?)?(.*?)^```", re.MULTILINE | re.DOTALL)
_SAVED = re.compile(
    r"Save as `(\S+\.(?:toml|py|csv|json|txt|cm))`:\n\n```(?:toml|python|text|json)\n(.*?)```", re.DOTALL
)
_WHERE = re.compile(r"^Rows(, figure and document)?: .*\n?|, \d+ of them computed now, in [^;\n]*(?=;)", re.MULTILINE)
"""What differs between two runs of a command: where the rows are, and how long it took."""


@dataclass(frozen=True)
class Measured:
    """Results of an answer: the numbers of each sentence, and the output of its command."""

    values: list[list[str]]
    output: str = ""
    hash: str = ""


@dataclass(frozen=True)
class Answer:
    """A command or the cells of a page, and the sentences whose numbers they give."""

    id: str
    command: str = ""
    first: tuple[str, ...] = ()
    cells: str = ""
    let: Mapping[str, str] = field(default_factory=dict)
    slow: bool = False
    prints: str = ""
    says: tuple[Sentence, ...] = ()

    @classmethod
    def read(cls, table: dict[str, Any]) -> Self:
        """Read an entry of docs/answers.toml."""
        default = {"page": table["cells"]} if "cells" in table else {}
        says = tuple(Sentence(**default | each) for each in table.get("says", ()))
        return cls(**table | {"says": says, "first": tuple(table.get("first", ()))})

    @property
    def runs(self) -> bool:
        """True if it simulates; otherwise it is about the program itself."""
        return bool(self.command or self.cells)

    @property
    def pages(self) -> set[str]:
        """List the pages that depend on it."""
        return {each.page for each in self.says} | ({self.prints} if self.prints else set())

    @cached_property
    def hash(self) -> str:
        """Hash all that the answer depends on, but for the code of the simulator."""
        parts = [self.command, json.dumps(dict(self.let)), json.dumps(self._files(), sort_keys=True)]
        parts += [json.dumps([each.page, each.text, list(each.holds)]) for each in self.says]
        parts += [*self.first, *self._code()]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def measure(self) -> Measured:
        """Run the command or the cells, and evaluate the sentences."""
        names, output = facts.names(), ""
        if self.cells:
            names |= self._namespace()
        elif self.command:
            with tempfile.TemporaryDirectory() as folder:
                document, output = self._answered(Path(folder))
            names |= document | {"result": document, "at": partial(figure, document)}
        for name, expression in self.let.items():
            names[name] = evaluated(expression, names)
        return Measured([each.values(names) for each in self.says], output, self.hash if self.runs else "")

    def _answered(self, folder: Path) -> tuple[dict[str, Any], str]:
        """Return the document of the command, and what it prints if a page shows that."""
        for name, text in self._files().items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        for command in self.first:
            self._run(folder, command)
        document = json.loads(self._run(folder, self.command, "--json"))
        return document, _WHERE.sub("", self._run(folder, self.command)) if self.prints else ""

    def _run(self, folder: Path, command: str, *more: str) -> str:
        """Run a command in a folder; the second run takes finished runs from the cache."""
        _, *words = shlex.split(command)
        environment = os.environ | {"COLUMNS": COLUMNS, "PUSHOUT_CACHE": str(folder / "cache")}
        whole = [sys.executable, "-m", "pushout", *words, *more]
        run = subprocess.run(whole, cwd=folder, env=environment, capture_output=True, encoding="utf-8")  # noqa: S603
        if run.returncode:
            raise SentenceError(f"{command} must succeed, not end with {run.returncode}: {run.stderr[-300:]}")
        return re.sub(r"[ \t]+$", "", run.stdout, flags=re.MULTILINE)

    def _namespace(self) -> dict[str, Any]:
        """The variables of the code cells of a page after all of them."""
        import matplotlib as mpl

        mpl.use("agg")
        names: dict[str, Any] = {}
        with contextlib.redirect_stdout(io.StringIO()):
            for index, code in enumerate(self._code(), 1):
                place = f"<cell {index} of {self.cells}>"
                linecache.cache[place] = (len(code), None, code.splitlines(keepends=True), place)  # for decorators
                exec(compile(code, place, "exec"), names)  # noqa: S102 - a page of this repository
        import matplotlib.pyplot as plt

        plt.close("all")
        return names

    def _code(self) -> list[str]:
        """The code cells of the page, without the directives of notebooks."""
        if not self.cells:
            return []
        found = _CELL.findall(Path(self.cells).read_text(encoding="utf-8"))
        return [re.sub(r"^%.*\n", "", code, flags=re.MULTILINE) for code in found]

    def _files(self) -> dict[str, str]:
        """The scenarios that the command or the cells name, and the files that the pages say to save."""
        said = "\n".join((self.command, *self.first)) + "".join(self._code())
        texts = {f"scenarios/{name}.toml": _shipped(name) for name in shipped.names() if _names(said, name)}
        for sweep in list(texts.values()):
            texts |= {f"scenarios/{name}.toml": _shipped(name) for name in shipped.names() if f'"{name}.toml"' in sweep}
        pages = [Path(page).read_text(encoding="utf-8") for page in sorted(self.pages)]
        saved = {name: text for page in pages for name, text in _SAVED.findall(page)}
        return texts | saved


def _shipped(name: str) -> str:
    """Read a shipped scenario."""
    return (shipped.SCENARIOS / f"{name}.toml").read_text(encoding="utf-8")


def _names(text: str, name: str) -> bool:
    """Return whether a text contains this name as a whole word."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def declared() -> list[Answer]:
    """Read all answers."""
    if not DECLARED.is_file():
        return []
    return [Answer.read(table) for table in tomllib.loads(DECLARED.read_text(encoding="utf-8"))["answer"]]


def given() -> list[dict[str, str]]:
    """Read the words with numbers that no run gives."""
    table = tomllib.loads(DECLARED.read_text(encoding="utf-8"))
    return list(table.get("given", ()))


def kept() -> dict[str, Measured]:
    """Read the kept results."""
    return {name: Measured(**table) for name, table in json.loads(KEPT.read_text(encoding="utf-8")).items()}


def current() -> Iterator[tuple[Answer, Measured]]:
    """Return every answer with its result: kept if it runs, else computed."""
    results = kept()
    for answer in declared():
        if not answer.runs:
            yield answer, answer.measure()
        elif answer.id in results:
            yield answer, results[answer.id]


def renewed(only: list[str]) -> str:
    """Measure these answers, or all, and give the text of the file of results."""
    results = kept() if KEPT.is_file() else {}
    known = {answer.id: answer for answer in declared() if answer.runs}
    if unknown := set(only) - set(known):
        raise SentenceError(f"{DECLARED} has no answer with a run called {', '.join(sorted(unknown))}")
    for name in only or known:
        print(f"measuring {name}", file=sys.stderr)
        results[name] = known[name].measure()
    kept_now = {name: vars(results[name]) for name in sorted(known) if name in results}
    return recorded(kept_now)


def outdated() -> list[str]:
    """Name the answers that are not measured, or whose scenario, command or sentence has changed since."""
    results = kept() if KEPT.is_file() else {}
    return [
        answer.id
        for answer in declared()
        if answer.runs and (answer.id not in results or results[answer.id].hash != answer.hash)
    ]


def pages(files: Mapping[Path, str]) -> dict[Path, str]:
    """Fill the pages with the results; `files` has the texts of pages that are generated otherwise."""
    texts: dict[Path, str] = {}
    for answer, result in current():
        for page in answer.pages:
            path = Path(page)
            texts.setdefault(path, files.get(path) or path.read_text(encoding="utf-8"))
        for sentence, values in zip(answer.says, result.values, strict=True):
            texts[Path(sentence.page)] = sentence.filled(texts[Path(sentence.page)], values)
        if answer.prints:
            texts[Path(answer.prints)] = _printed(answer, texts[Path(answer.prints)], result.output)
    return texts


def _printed(answer: Answer, page: str, output: str) -> str:
    """Put what a command prints into the block of its page."""
    pattern = rf"(<!-- prints {re.escape(answer.id)} -->\n+```text\n)(.*?)(^```)"
    text, times = re.subn(
        pattern, lambda found: found[1] + output.strip("\n") + "\n" + found[3], page, flags=re.MULTILINE | re.DOTALL
    )
    if times != 1:
        raise SentenceError(f"{answer.prints} must have the block of {answer.id} once, not {times} times")
    return text


def faults(texts: Mapping[str, str], results: Iterable[tuple[Answer, Measured]]) -> list[str]:
    """List what these pages, by name, say otherwise than the results."""
    wrong = []
    for answer, result in results:
        for sentence, values in zip(answer.says, result.values, strict=True):
            if sentence.page in texts:
                wrong += sentence.differences(texts[sentence.page], values)
        if answer.prints in texts and _printed(answer, texts[answer.prints], result.output) != texts[answer.prints]:
            wrong.append(f"{answer.prints}: the block of {answer.id} must be what the command prints")
    return wrong
