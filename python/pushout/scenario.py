"""A scenario as an object: read, built or changed in Python, and written as TOML again."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Self

from pushout import _core, options
from pushout.document import steps
from pushout.errors import QuestionError, ScenarioError
from pushout.excerpt import quoted
from pushout.source import Overrides, Source, known, load, overrides, toml

if TYPE_CHECKING:
    from typing import Concatenate, ParamSpec, TypeVar

    from pushout.counterfactual import WhyResult
    from pushout.question.compare import CompareResult
    from pushout.question.sized import SizeResult
    from pushout.result import Result
    from pushout.tracing import TraceResult

    P = ParamSpec("P")
    R = TypeVar("R")
    FIGURE: type[Any] = object
    """A figure of Matplotlib, which has no types."""

    def _method(
        asked: Callable[Concatenate[Any, P], object], result: type[R]
    ) -> Callable[Concatenate["Scenario", P], R]:
        """Type the method that stands for a function of `pushout`, whose first argument is the scenario."""


FASTER = 10
"""Ratio of the rate of access lines to that of the bottleneck, so that the queue stands at the bottleneck."""

RATE = re.compile(r"\s*\+?([0-9_]*\.?[0-9_]+(?:[eE][+-]?[0-9]+)?)\s*([kMGT]?b/s)\s*")
TIME = re.compile(r"\s*\+?[0-9_]*\.?[0-9_]+(?:[eE][+-]?[0-9]+)?\s*(s|ms|[uµμ]s|ns|ps)\s*")


@dataclass(frozen=True, eq=False, slots=True)
class Link(Mapping[str, str]):
    """The rate and the delay of a line, as scenarios write them: `Link("10 Mb/s", "18 ms")`."""

    rate: str
    """Its rate, in b/s, kb/s, Mb/s or Gb/s: powers of 1000."""
    delay: str
    """Its propagation delay, in ps, ns, us, ms or s."""

    def __post_init__(self) -> None:
        """Refuse numbers without a unit; a mapping is a law by which a rate or delay changes."""
        for key, pattern, units in (
            ("rate", RATE, "b/s, kb/s, Mb/s, Gb/s or Tb/s"),
            ("delay", TIME, "s, ms, us, ns or ps"),
        ):
            value = getattr(self, key)
            if not isinstance(value, Mapping) and not (isinstance(value, str) and pattern.fullmatch(value)):
                raise ScenarioError(f"Link: {key} must be a number with {units}, not {quoted(value)}")

    def __getitem__(self, key: str) -> str:
        return {"rate": self.rate, "delay": self.delay}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(("rate", "delay"))

    def __len__(self) -> int:
        return 2


def _asks(verb: str, asked: type) -> Callable[..., Any]:
    """Make the method that asks a question of `pushout` about this scenario; the functions load when it is called."""

    def ask(self: "Scenario", *args: Any, **given: Any) -> Any:
        from pushout import api

        return getattr(api, verb)(self, *args, **given)

    own = signature(asked)
    first = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    ask.__name__ = verb
    ask.__qualname__ = f"Scenario.{verb}"
    ask.__doc__ = f"Ask `pushout.{verb}` about this scenario, with its other arguments."
    ask.__signature__ = own.replace(parameters=[first, *list(own.parameters.values())[1:]])  # type: ignore[attr-defined]
    return ask


class Scenario:
    """An immutable scenario, accepted wherever a path is: by `run`, `compare`, `size`, `sweep`, `plot` and `explain`.

    `Scenario("lan")` reads a shipped scenario, a file, a text (TOML or JSON) or a mapping of its keys;
    `Scenario.dumbbell` and `Scenario.leaf_spine` build one. `with_` returns another one with some keys changed.

    Questions are methods as well: `run`, `trace`, `plot`, `compare`, `size` and `why`.

        >>> home = Scenario.dumbbell(sources=4, bottleneck=Link("10 Mb/s", "18 ms"), admission="codel")
        >>> home.with_(duration="10 s").run()["summary.goodput_ratio"]
    """

    __slots__ = ("_source",)

    _source: Source

    if TYPE_CHECKING:
        run = _method(options.Run, Result)
        trace = _method(options.Trace, TraceResult)
        plot = _method(options.Plot, FIGURE)
        compare = _method(options.Compare, CompareResult)
        size = _method(options.Size, SizeResult)
        why = _method(options.Why, WhyResult)
    else:
        run = _asks("run", options.Run)
        trace = _asks("trace", options.Trace)
        plot = _asks("plot", options.Plot)
        compare = _asks("compare", options.Compare)
        size = _asks("size", options.Size)
        why = _asks("why", options.Why)

    def __init__(self, scenario: "str | os.PathLike[str] | Mapping[str, Any] | Source | Scenario") -> None:
        """Read and check a scenario; raise `ScenarioError` if no run could use it."""
        source = load(scenario)
        _core.Scenario(*source, (), None)
        object.__setattr__(self, "_source", source)

    @classmethod
    def _of(cls, tables: Mapping[str, Any]) -> Self:
        """Make a scenario of its tables; messages name keys, because the user has no lines."""
        return cls(Source(written(known(tables, "")), ""))

    @classmethod
    def dumbbell(
        cls,
        *,
        sources: int,
        bottleneck: Link,
        access: Link | Sequence[Link] | None = None,
        egress: Link | Sequence[Link] | None = None,
        buffer: str = "100 ms",
        admission: str | Mapping[str, Any] | None = None,
        source: Mapping[str, Any] | None = None,
        transport: Mapping[str, Any] | None = None,
        duration: str = "30 s",
        warmup: str = "5 s",
        name: str = "dumbbell",
    ) -> Self:
        """Build packet lines on which `sources` hosts send through one port, `bottleneck`.

        `access` and `egress` are the lines before and behind it: by default ten times as fast, with a delay of 1 ms;
        a list gives every source a line of its own, and repeats. `buffer` is a size (bytes, packets) or the time that
        the line needs to send it; `admission` a policy as `compare` takes it: a name, a file of Python or an object of
        `pushout.schemes` (default: tail drop); `source` what hosts send (default: always more, `Greedy()`); `transport`
        the protocol (default: TCP CUBIC as Linux has it); `duration` and `warmup` are simulated times, of which
        `warmup` is not measured.

            >>> pushout.plot(Scenario.dumbbell(sources=10, bottleneck=Link("10 Mb/s", "18 ms")))
        """
        line = _line_of("bottleneck", bottleneck)
        faster = [] if access and egress else [Link(_faster(line.get("rate")), "1 ms")]
        ends = {"access": access or faster[0], "egress": egress or faster[0]}
        tables = {
            **_head(name, duration, warmup),
            "topology": {"template": "dumbbell", "sources": sources, "bottleneck": line, **ends},
            "port": {"bottleneck": {"buffer": buffer}},
            "flows": _flows(source or {"kind": "greedy"}, transport or {"kind": "tcp", "profile": "linux"}),
        }
        tables["flows"]["start_spread"] = "100 ms"  # flows that start at one instant stay synchronised
        return cls._of(tables)._with_policy("bottleneck", admission)

    @classmethod
    def leaf_spine(
        cls,
        *,
        leaves: int,
        spines: int,
        hosts: int,
        host: Link,
        fabric: Link,
        buffer: str = "1 MB",
        admission: str | Mapping[str, Any] | None = None,
        source: Mapping[str, Any] | None = None,
        transport: Mapping[str, Any] | None = None,
        duration: str = "20 ms",
        warmup: str = "0 s",
        name: str = "leaf-spine",
    ) -> Self:
        """Build a data centre: `hosts` hosts at each of `leaves` switches, which `spines` switches connect.

        `host` is the line between a host and its leaf, `fabric` the one between a leaf and a spine; `buffer` and
        `admission` are those of every port of a switch; `source` is by default transfers of the sizes of web search
        that load the lines of the hosts by 40 %, and `transport` DCTCP as in a data centre. The others are those of
        `dumbbell`.

            >>> Scenario.leaf_spine(
            ...     leaves=2, spines=2, hosts=4, host=Link("10 Gb/s", "1 us"), fabric=Link("10 Gb/s", "1 us")
            ... )
        """
        network = {"template": "leaf-spine", "leaves": leaves, "spines": spines, "hosts": hosts}
        drawn = {"kind": "arrivals", "sizes": "websearch", "load": "40 %"}
        tables = {
            **_head(name, duration, warmup),
            "topology": {**network, "host": _line_of("host", host), "fabric": _line_of("fabric", fabric)},
            "port": {"default": {"buffer": buffer}},
            "flows": _flows(source or drawn, transport or {"kind": "tcp", "profile": "datacenter"}),
        }
        return cls._of(tables)._with_policy("default", admission)

    def _with_policy(self, port: str, policy: str | Mapping[str, Any] | None) -> Self:
        """Give a port or a class of ports a policy, as `compare` takes it: a name, a table, a file of Python."""
        if policy is None:
            return self
        from pushout.names.port import Holder, policies
        from pushout.reading import policies as catalogue

        text = policy if isinstance(policy, str) else toml(policy, "admission")
        holder = Holder(f"port.{port}", _core.Document(*self._source).value()["port"][port])
        try:
            (choice,) = policies([text], [holder], catalogue())
        except QuestionError as error:
            raise ScenarioError(error.worded(lambda _: "admission")) from None
        return self.with_(choice.sets)

    def with_(self, changes: Overrides = (), /, **keys: Any) -> Self:
        """Return a scenario in which some keys have other values; this one does not change.

        `changes` are those of `run(…, set=…)`: `{"port.bottleneck.admission": Codel(), "duration": "10 s"}`; keys
        outside of tables may be arguments: `with_(duration="10 s", seed=2)`. A change
        of a flow, line or port that only a template makes needs the network in full, and `to_toml` then has it in full.
        Raises `ScenarioError` for a key or value that the scenario cannot have.
        """
        if keys:
            others = changes if isinstance(changes, Mapping) else _parsed(overrides(changes))
            changes = {**others, **keys}
        sets = overrides(changes)
        full = _explained(self._source, sets)
        text = self._changed(changes, sets)
        if text is None or not _means(Source(text, ""), full):
            text = written(json.loads(full))
        return type(self)(Source(text, ""))

    def _changed(self, changes: Overrides, sets: Sequence[str]) -> str | None:
        """Return the short text with these changes; None if a change needs the network in full."""
        values = changes if isinstance(changes, Mapping) else _parsed(sets)
        tables = _core.Document(*self._source).value()
        for path, value in values.items():
            if not _put(tables, steps(path), known(value, path)):
                return None
        return written(tables)

    @property
    def source(self) -> Source:
        """The text, and the name that messages give it."""
        return self._source

    @property
    def name(self) -> str:
        """The name that the scenario gives itself."""
        return str(_core.Document(*self._source).value()["name"])

    def explain(self) -> dict[str, Any]:
        """Return every key, with templates expanded and defaults filled in."""
        document: dict[str, Any] = json.loads(_explained(self._source, ()))
        return document

    def to_toml(self) -> str:
        """Return the scenario as a TOML text, which `pushout run FILE` accepts.

        A scenario from a TOML file is returned as written, with its comments; others are written without any.
        """
        return self._source.text if _is_toml(self._source) else written(_core.Document(*self._source).value())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Scenario is immutable: with_({'key.path': value}) returns another one")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._full() == other._full()

    def __hash__(self) -> int:
        return hash(self._full())

    def _full(self) -> str:
        """Return the canonical form, which is equal for scenarios that mean the same experiment."""
        return _explained(self._source, ())

    def __reduce__(self) -> tuple[type[Self], tuple[Source]]:
        return type(self), (self._source,)

    def __repr__(self) -> str:
        explained = self.explain()
        counts = f"{len(explained['flow'])} flows, {len(explained['link'])} lines"
        return f"<Scenario {self.name}: {counts}, {explained['duration']}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<details><summary>{escape(repr(self))}</summary><pre>{escape(self.to_toml())}</pre></details>"


def _head(name: str, duration: str, warmup: str) -> dict[str, Any]:
    return {"name": name, "duration": duration, "warmup": warmup, "adaptation": {"kind": "packet"}}


def _line_of(name: str, given: object) -> dict[str, Any]:
    """Return the keys of a line; refuse what is none."""
    if not isinstance(given, Mapping):
        example = given if isinstance(given, str) and RATE.fullmatch(given) else "10 Mb/s"
        raise TypeError(
            f'{name} must be a line with a rate and a delay, as Link("{example}", "1 ms"), not {quoted(given)}'
        )
    return dict(given)


def _flows(source: Mapping[str, Any], transport: Mapping[str, Any]) -> dict[str, Any]:
    return {"source": source, "transport": transport}


def _faster(rate: object) -> str:
    """Return the rate of the access lines for that of a bottleneck."""
    if isinstance(rate, Mapping):
        raise ScenarioError("access and egress must be given where the rate of the bottleneck changes over time")
    found = RATE.fullmatch(str(rate))
    if found is None:
        raise ScenarioError(f"bottleneck: rate must be a number with b/s, kb/s, Mb/s, Gb/s or Tb/s, not {quoted(rate)}")
    return f"{FASTER * Decimal(found[1]):f} {found[2]}"


def _explained(source: Source, sets: Sequence[str]) -> str:
    return _core.Scenario(*source, sets, None).explain(None)


def _means(source: Source, full: str) -> bool:
    """Return whether a text means the experiment whose canonical form is `full`."""
    try:
        return _explained(source, ()) == full
    except ScenarioError:
        return False


def _is_toml(source: Source) -> bool:
    return not source.text.lstrip().startswith("{")


def _parsed(sets: Sequence[str]) -> dict[str, Any]:
    """Return the keys and values of overrides that are written `key.path=value`."""
    return {path.strip(): _core.Document(_line(value), "").value()["value"] for path, _, value in _parts(sets)}


def _parts(sets: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    return (change.partition("=") for change in sets)


def _line(value: str) -> str:
    """Write the value of an override as a document; what is no TOML value is a text."""
    import tomllib

    try:
        tomllib.loads(f"value={value}")
    except tomllib.TOMLDecodeError:
        return f"value={json.dumps(value, ensure_ascii=False)}"
    return f"value={value}"


def _put(table: Any, path: Sequence[str], value: Any) -> bool:
    """Set the key at a path, also in an entry of a list by its name; return False if there is no such entry."""
    first, *rest = path
    if isinstance(table, list):
        named = [entry for entry in table if isinstance(entry, dict) and entry.get("name") == first]
        return bool(named and rest) and _put(named[0], rest, value)
    if not isinstance(table, dict):
        return False
    if not rest:
        table[first] = value
        return True
    return _put(table.setdefault(first, {}), rest, value)


WIDE = 100
"""Letters of a table that stands on one line."""


def written(tables: Mapping[str, Any]) -> str:
    """Write tables as a TOML text: keys first, then a section for each table, and one for each entry of a list."""
    lines = _keys({name: value for name, value in tables.items() if not _is_section(value)})
    for name, value in tables.items():
        if _is_section(value):
            lines += _section(_key(name), value)
    return "\n".join(lines) + "\n"


def _is_section(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and all(map(_is_table, value)))


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _section(path: str, value: Any) -> list[str]:
    """Write a table or a list of tables; a table inside it is a section of its own only where its line is long."""
    if isinstance(value, list):
        return [line for entry in value for line in ("", f"[[{path}]]", *_keys(entry))]
    inner = {name: entry for name, entry in value.items() if _is_table(entry) and _is_long(path, name, entry)}
    own = _keys({name: entry for name, entry in value.items() if name not in inner})
    head = ["", f"[{path}]", *own] if own or not inner else []
    return [*head, *(line for name, entry in inner.items() for line in _section(f"{path}.{_key(name)}", entry))]


def _is_long(path: str, name: str, table: Mapping[str, Any]) -> bool:
    return path in ("port", "memory", "queue") or len(f"{name} = {_value(table)}") > WIDE


def _keys(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(name)} = {_value(value)}" for name, value in table.items()]


def _value(value: Any) -> str:
    """Write a value on one line, with bare keys in its tables; only a text of several lines takes several."""
    if isinstance(value, dict):
        return "{ " + ", ".join(_keys(value)) + " }" if value else "{}"
    if isinstance(value, str) and "\n" in value:
        return '"""\n' + "\n".join(toml(line)[1:-1] for line in value.split("\n")) + '"""'
    return f"[{', '.join(map(_value, value))}]" if isinstance(value, list) else toml(value)


def _key(name: str) -> str:
    """Write a name as a key; one with other characters than those of bare keys is quoted."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
