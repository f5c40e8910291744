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
from pushout.document import Document, figure
from pushout.errors import PushoutError, QuestionError
from pushout.excerpt import fitted, place, quoted
from pushout.source import Source, files, load

LARGEST_TEXT = 2**20
"""Characters of a scenario that a client writes."""

BRIEF = ("scenario", "seed", "duration_s", "warnings", "summary")
"""Parts of a report that a tool returns; the whole report goes into a file."""


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

    def run(
        self,
        scenario: str,
        set: list[str] | None = None,  # noqa: A002
        seed: int | None = None,
        reps: int = 1,
        figures: list[str] | None = None,
        out: str | None = None,
    ) -> dict[str, Any]:
        """Simulate a scenario and return its summary, with further `figures` by their path (ports.bottleneck.lost).

        `set` has overrides key=value; `out` names a .json file of the folder for the whole report.
        """
        target = self._report(out)
        result = api.run(self._scenario(scenario), set=set or (), seed=seed, reps=reps)
        brief = {name: result.document[name] for name in BRIEF if name in result.document}
        found = {path: figure(result.document, path) for path in figures or ()}
        _keep(target, result.document)
        return {**brief, "figures": found}

    def compare(
        self,
        scenario: str,
        policies: list[str],
        at: str | None = None,
        set: list[str] | None = None,  # noqa: A002
        reps: int = 5,
        out: str | None = None,
    ) -> dict[str, Any]:
        """Run the same traffic under several policies at a place, and compare their figures with intervals."""
        target = self._report(out)
        result = api.compare(self._scenario(scenario), _without_code(policies), at=at, set=set or (), reps=reps)
        _keep(target, result.document)
        return result.document

    def size(
        self,
        scenario: str,
        goal: str,
        over: str,
        low: str | None = None,
        high: str | None = None,
        set: list[str] | None = None,  # noqa: A002
        least: int = 3,
        most: int = 6,
        largest: bool = False,
        out: str | None = None,
    ) -> dict[str, Any]:
        """Find the smallest (or largest) value of a key (port.bottleneck.buffer) for a goal (goodput_ratio>=0.9)."""
        target = self._report(out)
        bounds = {name: value for name, value in (("low", low), ("high", high)) if value is not None}
        runs = {"least": least, "most": most, "largest": largest}
        result = api.size(self._scenario(scenario), goal, over, set=set or (), **runs, **bounds)  # type: ignore[arg-type]
        _keep(target, result.document)
        return result.document

    def why(
        self,
        scenario: str,
        at: str | None = None,
        loss: int | None = None,
        flow: str | None = None,
        policies: list[str] | None = None,
        set: list[str] | None = None,  # noqa: A002
        last: int = 200,
    ) -> dict[str, Any]:
        """Find out which earlier decision of a port would have saved a lost frame, and which policies would have."""
        source = self._scenario(scenario)
        rivals = _without_code(policies or ())
        result = api.why(source, at=at, loss=loss, flow=flow, policies=rivals, set=set or (), last=last)
        return result.document

    def headroom(
        self,
        table: str | list[dict[str, Any]],
        mtu: int | None = None,
        other: int | None = None,
        cell: int | None = None,
    ) -> dict[str, Any]:
        """Compare the headroom that lines of a switch need with what they are given: a file of the folder, or rows."""
        rows = self._file(table) if isinstance(table, str) else table
        return api.headroom(rows, mtu=mtu, other=other, cell=cell).document

    def chip_predict(
        self,
        profile: str,
        packet: int = 64,
        lines: int | None = None,
        qos: str | None = None,
        cell: int | None = None,
        set: list[str] | None = None,  # noqa: A002
    ) -> dict[str, Any]:
        """Predict what acceptance tests of a switch count: of a scenario with a memory, or of a buffers.json."""
        is_tables = profile.endswith(".json") and "\n" not in profile
        given = self._file(profile) if is_tables else self._scenario(profile)
        tables = None if qos is None else self._file(qos)
        result = api.chip_predict(given, packet=packet, lines=lines, qos=tables, cell=cell, set=set or ())
        return result.document

    def chip_explain(
        self,
        counts: str | dict[str, int],
        packet: int = 64,
        cell: int | None = None,
        pool: int | None = None,
    ) -> dict[str, Any]:
        """Find the configurations of a memory that explain counts: a CSV file of the folder, or numbers by name."""
        given = self._file(counts) if isinstance(counts, str) else counts
        return api.chip_explain(given, packet=packet, cell=cell, pool=pool).document

    def policies(self, name: str | None = None, kind: str | None = None) -> dict[str, Any]:
        """List the schemes that a scenario can name, or explain one: its source, idea, keys and defaults."""
        entries = [dict(entry) for entry in api.policies(name, kind=kind)]
        short = [{key: entry[key] for key in SHORT if key in entry} for entry in entries]
        return {"policies": entries if name is not None else short}

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


def _keep(target: Path | None, document: Document) -> None:
    """Write a whole report into a file, if one is named."""
    if target is not None:
        cache.write(target, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


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
