"""The verbs as tools for language models: plain values in and out, and no file outside of one folder."""

import inspect
import json
import os
import re
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

from pushout import api, cache, shipped
from pushout.document import Document, Report, figure
from pushout.errors import PushoutError, QuestionError
from pushout.excerpt import fitted, place, quoted
from pushout.options import Compare, Explain, Headroom, Predict, Run, Size, Why
from pushout.source import Source, files, load

LARGEST_TEXT = 2**20
"""Characters of a scenario that a client writes."""

BRIEF = ("scenario", "seed", "duration_s", "warnings", "summary")
"""Parts of a report that a tool returns; the whole report goes into a file."""


Given = dict[str, Any]
"""Options of a verb by name."""

PLAIN: dict[str, Any] = {
    "scenario": str,
    "set": list[str],
    "policies": list[str],
    "at": str,
    "goal": str,
    "low": str,
    "high": str,
    "table": str | list[dict[str, Any]],
    "profile": str,
    "qos": str,
    "counts": str | dict[str, int],
}
"""Types of the options that JSON has in fewer forms than Python."""

BUILTIN = {"int": int, "str": str, "bool": bool}


def _asks(options: Callable[..., Any], *names: str, **defaults: int) -> Callable[[Callable[..., Document]], Any]:
    """Give a tool some options of a verb as its arguments, before its own; those of `defaults` differ from the verb."""
    fields = inspect.signature(options).parameters

    def argument(name: str) -> inspect.Parameter:
        field = fields[name]
        kind = PLAIN.get(name) or BUILTIN[field.annotation.removesuffix(" | None")]
        default = defaults.get(name, None if field.default == () else field.default)
        return inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            annotation=kind | None if default is None else kind,
            default=default,
        )

    def asking(tool: Callable[..., Document]) -> Any:
        itself, _, *own = inspect.signature(tool).parameters.values()
        signature = inspect.Signature([itself, *map(argument, (*names, *defaults)), *own])

        @wraps(tool)
        def called(self: "Tools", *args: Any, **kwargs: Any) -> Document:
            given = signature.bind(self, *args, **kwargs).arguments
            rest = {each.name: given[each.name] for each in own if each.name in given}
            asked = {name: given.get(name, defaults.get(name)) for name in (*names, *defaults)}
            known = {name: value for name, value in asked.items() if value is not None}
            return tool(self, self._read(known), **rest)

        called.__signature__ = signature  # type: ignore[attr-defined]
        return called

    return asking


class Tools:
    """The tools of a folder: each method with a docstring is one, and its arguments are those of the tool."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve(strict=True)
        if not self.folder.is_dir():
            raise QuestionError(f"{place(str(folder))}: must be a folder, not a file")

    def all(self) -> list[Callable[..., Any]]:
        """Return all tools; their errors are messages, without paths of the machine."""
        return [_worded(getattr(self, name)) for name in TOOLS]

    def scenarios(self) -> dict[str, Any]:
        """List the scenarios that come with Pushout, and those of the folder."""
        own = [{"name": file.name, "kind": "file", "title": ""} for file in sorted(self.folder.glob("*.toml"))]
        came = [{"name": each.name, "kind": each.kind, "title": each.title} for each in shipped.listed()]
        return {"scenarios": [*came, *own]}

    def write_scenario(self, file: str, text: str) -> dict[str, Any]:
        """Check the text of a scenario (TOML), and save it in a file of the folder that the other tools can name."""
        target = self._target(file, ".toml")
        if len(text) > LARGEST_TEXT:
            raise QuestionError(f"text must have at most {LARGEST_TEXT} characters, not {len(text)}")
        warnings = api.validate(self._text(text))
        cache.write(target, text)
        return {"file": file, "valid": True, "warnings": warnings}

    def validate(self, scenario: str, set: list[str] | None = None) -> dict[str, Any]:  # noqa: A002
        """Check a scenario without running it: a shipped name, a file of the folder, or the text of a scenario."""
        return {"valid": True, "warnings": api.validate(self._scenario(scenario), set=set or ())}

    def explain(self, scenario: str, set: list[str] | None = None) -> dict[str, Any]:  # noqa: A002
        """Expand a scenario with all templates and defaults, and list the thresholds of its memories."""
        from pushout import reading

        source = self._scenario(scenario)
        return {
            "scenario": api.explain(source, set=set or ()),
            "thresholds": reading.thresholds(source, set=set or ()),
        }

    @_asks(Run, "scenario", "set", "seed", "reps")
    def run(self, asked: Given, figures: list[str] | None = None, out: str | None = None) -> Document:
        """Simulate a scenario and return its summary, with further `figures` by their path (ports.bottleneck.lost).

        `set` has overrides key=value; `out` names a .json file of the folder for the whole report.
        """
        target = self._report(out)
        result = api.run(**asked)
        report: Report = result.document
        brief = {name: report[name] for name in BRIEF if name in report}
        found = {path: figure(report, path) for path in figures or ()}
        _keep(target, report)
        return {**brief, "figures": found}

    @_asks(Compare, "scenario", "policies", "at", "set", reps=5)
    def compare(self, asked: Given, out: str | None = None) -> Document:
        """Run the same traffic under several policies at a place, and compare their figures with intervals."""
        return _kept(self._report(out), api.compare(**asked).document)

    @_asks(Size, "scenario", "goal", "over", "low", "high", "set", "largest", least=3, most=6)
    def size(self, asked: Given, out: str | None = None) -> Document:
        """Find the smallest (or largest) value of a key (port.bottleneck.buffer) for a goal (goodput_ratio>=0.9)."""
        return _kept(self._report(out), api.size(**asked).document)

    @_asks(Why, "scenario", "at", "loss", "flow", "policies", "set", "last")
    def why(self, asked: Given) -> Document:
        """Find out which earlier decision of a port would have saved a lost frame, and which policies would have."""
        return api.why(**asked).document

    @_asks(Headroom, "table", "mtu", "other", "cell")
    def headroom(self, asked: Given) -> Document:
        """Compare the headroom that lines of a switch need with what they are given: a file of the folder, or rows."""
        return api.headroom(**asked).document

    @_asks(Predict, "profile", "packet", "lines", "qos", "cell", "set")
    def chip_predict(self, asked: Given) -> Document:
        """Predict what acceptance tests of a switch count: of a scenario with a memory, or of a buffers.json."""
        return api.chip_predict(**asked).document

    @_asks(Explain, "counts", "packet", "cell", "pool")
    def chip_explain(self, asked: Given) -> Document:
        """Find the configurations of a memory that explain counts: a CSV file of the folder, or numbers by name."""
        return api.chip_explain(**asked).document

    def policies(self, name: str | None = None, kind: str | None = None) -> dict[str, Any]:
        """List the schemes that a scenario can name, or explain one: its source, idea, keys and defaults."""
        entries = [dict(entry) for entry in api.policies(name, kind=kind)]
        short = [{key: entry[key] for key in SHORT if key in entry} for entry in entries]
        return {"policies": entries if name is not None else short}

    def _read(self, asked: Given) -> Given:
        """Return the options with what they name in the folder; refuse files of other places, and code."""
        found = dict(asked)
        if "scenario" in asked:
            found["scenario"] = self._scenario(asked["scenario"])
        if "policies" in asked:
            found["policies"] = _without_code(asked["policies"])
        for name in ("table", "counts", "qos"):
            if isinstance(asked.get(name), str):
                found[name] = self._file(asked[name])
        if "profile" in asked:
            is_tables = asked["profile"].endswith(".json") and "\n" not in asked["profile"]
            found["profile"] = (self._file if is_tables else self._scenario)(asked["profile"])
        return found

    def _scenario(self, given: str) -> Source:
        """Read a scenario: a text, a file of the folder, or a shipped name."""
        if "\n" in given or given.lstrip().startswith("{"):
            return self._text(given)
        if shipped.is_name(given) and not (self.folder / given).exists() and given in shipped.names():
            return load(shipped.SCENARIOS / f"{given}.toml")  # not a file of this name in the current folder
        return load(self._file(given))

    def _text(self, text: str) -> Source:
        if files(Source(text, "<text>")):
            raise QuestionError("a text must not name a file: the file and the scenario must lie in the folder")
        return load(text if "\n" in text else f"{text}\n")

    def _file(self, name: str) -> Path:
        """Return the path of a file of the folder that exists; refuse links and places outside."""
        path = self._inside(name)
        if not path.is_file():
            raise QuestionError(f"{place(name)}: no such file in the folder")
        return path

    def _target(self, name: str, suffix: str) -> Path:
        """Return the path of a file of the folder that may be written."""
        path = self._inside(name)
        if path.suffix != suffix:
            raise QuestionError(f"{place(name)}: the file must end with {suffix}")
        if not path.parent.is_dir():
            raise QuestionError(f"{place(name)}: must lie in a folder that exists")
        return path

    def _inside(self, name: str) -> Path:
        """Return a path below the folder: relative, without `..`, and without a link on its way."""
        parts = Path(name).parts
        if not name or "\0" in name or "\\" in name or Path(name).is_absolute() or ".." in parts or not parts:
            raise QuestionError(f"a path must be relative and below the folder, without .., not {quoted(name)}")
        path = self.folder
        for part in parts:
            path = path / part
            if path.is_symlink():
                raise QuestionError(f"a path must be without symbolic links, not {quoted(name)}")
        return path

    def _report(self, out: str | None) -> Path | None:
        """Return the path of the file of the folder that gets the whole report, before anything runs."""
        return None if out is None else self._target(out, ".json")


def _without_code(policies: Sequence[str]) -> list[str]:
    """Return the policies; refuse files of Python, whose code would run."""
    for policy in policies:
        if CODE.search(policy):
            raise QuestionError(
                f"a policy must be a name or a table of parameters, not {quoted(policy)}: tools run no code"
            )
    return list(policies)


CODE = re.compile(r"\.py(?!\w)", re.IGNORECASE)
"""The end of the name of a file of Python, alone or in a list."""


def _keep(target: Path | None, document: Report) -> None:
    """Write a whole report into a file, if one is named."""
    if target is not None:
        cache.write(target, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def _kept(target: Path | None, document: Document) -> Document:
    """Write a report like `_keep`, and return it."""
    _keep(target, document)
    return document


TOOLS = (
    "scenarios",
    "write_scenario",
    "validate",
    "explain",
    "run",
    "compare",
    "size",
    "why",
    "headroom",
    "chip_predict",
    "chip_explain",
    "policies",
)

SHORT = ("name", "kind", "summary", "title")
"""Keys of a scheme in a list."""


class ToolError(QuestionError):
    """A tool cannot answer; the message names no path of the machine."""


def _worded(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Make the errors of a tool messages for its client."""

    @wraps(tool)
    def called(**arguments: Any) -> Any:
        try:
            return tool(**arguments)
        except PushoutError as error:
            raise ToolError(_without(str(error), tool.__self__.folder)) from None  # type: ignore[attr-defined]
        except OSError as error:
            raise ToolError(fitted(error.strerror or "the file cannot be used")) from None
        except (TypeError, ValueError) as error:
            raise ToolError(_without(str(error), tool.__self__.folder)) from None  # type: ignore[attr-defined]

    called.__signature__ = inspect.signature(tool)  # type: ignore[attr-defined]
    return called


def _without(message: str, folder: Path) -> str:
    return fitted(message.replace(f"{folder}{os.sep}", ""))
