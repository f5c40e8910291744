"""The classes that follow from the registry."""

import inspect
import pickle
from dataclasses import fields
from typing import Any

import pytest

import pushout
from conftest import ROOT
from pushout import schemes
from pushout.generate.schemes import module
from pushout.schemes import Codel, DtEpd, Epd, Fba, Fifo, File, Pushout2, RoundRobin, TailDrop, Tcp, WrrMcr
from pushout.schemes.base import Scheme

LAN = ROOT / "scenarios" / "lan.toml"
PACKETS = ROOT / "scenarios" / "w1-packet.toml"
SHORT = {"duration": "0.3 s", "flows.start_spread": "10 ms"}
TABLES = [entry for entry in pushout.policies() if entry["table"]]


def class_of(entry: dict[str, Any]) -> type[Scheme]:
    found: type[Scheme] = getattr(schemes, entry["table"]["class"])
    return found


@pytest.mark.parametrize("entry", TABLES, ids=lambda entry: f"{entry['kind']}-{entry['name']}")
def test_a_class_has_the_parameters_and_the_defaults_of_its_scheme(entry: dict[str, Any]) -> None:
    declared = inspect.signature(class_of(entry)).parameters
    assert list(declared) == [param["name"] for param in entry["params"]]
    for param in entry["params"]:
        missing = inspect.Parameter.empty if param["required"] else param["default"]
        assert declared[param["name"]].default == missing
    methods = {name for name in dir(Scheme) if not name.startswith("_")}
    assert not methods & {field.name for field in fields(class_of(entry))}


@pytest.mark.parametrize(("kind", "queues"), [("admission", Fifo()), ("pushout", RoundRobin()), ("scheduler", Fifo())])
def test_whatever_a_port_can_have_can_be_given_as_an_object(kind: str, queues: Scheme) -> None:
    for entry in TABLES:
        if entry["kind"] == kind:
            keys = {"port.bottleneck.scheduler": queues, f"port.bottleneck.{kind}": class_of(entry)()}
            scenario = PACKETS if entry["name"] == "dual-queue" else LAN  # it looks at the headers of packets
            explained = pushout.explain(scenario, set=keys)
            assert explained["port"]["bottleneck"][kind]["policy"] == entry["name"]


def test_an_object_is_the_table_of_what_is_not_at_its_default() -> None:
    policy = Epd(threshold="90 %", pass_eom=True)
    assert policy == {"policy": "epd", "threshold": "90 %"}
    assert dict(TailDrop()) == {"policy": "tail-drop"}
    assert File(size="1 MB", off="0 s") == {"kind": "file", "size": "1 MB"}
    assert repr(DtEpd(alpha=0.5)) == "DtEpd(alpha=0.5, pass_eom=True)"
    assert pickle.loads(pickle.dumps(policy)) == policy  # noqa: S301


@pytest.mark.parametrize("entry", TABLES, ids=lambda entry: f"{entry['kind']}-{entry['name']}")
def test_the_examples_of_every_parameter_are_allowed(entry: dict[str, Any]) -> None:
    """The classes check values by the schema, which must have its own examples."""
    needed = {param["name"]: example(param["schema"]) for param in entry["params"] if param["required"]}
    for param in entry["params"]:
        class_of(entry)(**{**needed, param["name"]: example(param["schema"])})


def example(schema: dict[str, Any]) -> Any:
    if either := schema.get("anyOf") or schema.get("oneOf"):
        return example(either[-1])
    if found := schema.get("examples") or schema.get("enum"):
        return found[0]
    if "const" in schema:
        return schema["const"]
    plain = {"boolean": True, "number": 0.5, "string": "a", "object": {}}
    if schema["type"] == "array":
        return [example(schema["items"])]
    return schema.get("minimum", 1) if schema["type"] == "integer" else plain[schema["type"]]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Codel(target=5), "Codel: target must be a time with its unit, as in '5 ms', not 5"),
        (lambda: Codel(target="5"), "Codel: target must be a time with its unit, as in '5 ms', not '5'"),
        (lambda: Codel(batch=-1), "Codel: batch must be a whole number from 0, not -1"),
        (lambda: Codel(batch=True), "Codel: batch must be a whole number from 0, not True"),
        (lambda: Codel(action="maark"), "Codel: action must be one of 'drop', 'mark', 'trim', not 'maark'"),
        (lambda: Epd(threshold=0.9), "Epd: threshold must be a size or % with its unit, as in '80 %', not 0.9"),
        (lambda: Epd(discard_rest="yes"), "Epd: discard_rest must be True or False, not 'yes'"),
        (lambda: DtEpd(alpha="2"), "DtEpd: alpha must be a number, not '2'"),
    ],
)
def test_a_value_that_no_port_allows_is_refused_at_once_by_its_name(made: Any, message: str) -> None:
    with pytest.raises(pushout.ScenarioError) as refused:
        made()
    assert str(refused.value) == message


def test_a_scheme_without_a_table_says_how_it_is_named() -> None:
    with pytest.raises(AttributeError, match='the name "fq-codel"'):
        getattr(schemes, "FqCodel")  # noqa: B009
    with pytest.raises(AttributeError, match=r'Tcp\(congestion="cubic"\)'):
        getattr(schemes, "Cubic")  # noqa: B009
    with pytest.raises(AttributeError, match='did you mean "Codel"'):
        getattr(schemes, "Codell")  # noqa: B009


def test_what_is_no_parameter_or_missing_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="treshold"):
        Epd(treshold="90 %")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="size"):
        File()  # type: ignore[call-arg]


def test_a_wrong_value_is_refused_where_the_scenario_is_read() -> None:
    with pytest.raises(pushout.ScenarioError, match=r"port\.bottleneck\.admission\.threshold"):
        pushout.validate(LAN, set={"port.bottleneck.admission": Epd(threshold="9000 cells")})


def test_objects_can_stand_in_a_scenario_and_in_every_question() -> None:
    scenario = pushout.explain(LAN, set=SHORT)
    scenario["port"]["bottleneck"] |= {"pushout": Pushout2(), "scheduler": WrrMcr(mcr_plus=True)}
    scenario["port"]["bottleneck"]["admission"] = TailDrop()
    for flow in scenario["flow"]:
        flow["transport"] = Tcp(mss=1460, window="128 KiB")
    assert pushout.run(scenario)["summary.goodput_ratio"] > 0
    found = pushout.compare(LAN, [TailDrop(), Epd(threshold="50 %")], set=SHORT, reps=2)
    assert [policy.choice.label for policy in found.policies] == ["tail-drop", "epd, threshold 50 %"]
    grid = {"port.bottleneck.admission": [Epd(threshold="50 %"), Fba(scale=0.8)]}
    swept = pushout.sweep({"scenario": str(LAN), "grid": grid, "set": ["duration=0.3 s"], "reps": 2})
    assert swept.table.num_rows == 4


def test_the_package_contains_the_module() -> None:
    assert pushout.schemes is schemes
    assert "schemes" in dir(pushout)


def test_the_text_of_a_class_is_that_of_its_scheme() -> None:
    entry = {
        "name": "half-full",
        "kind": "admission",
        "summary": "Refuse frames.",
        "source": "Nowhere.",
        "experimental": True,
        "table": {"tag": "policy", "class": "HalfFull"},
        "header": "# Source\nNowhere.\n\n# Idea\nA frame is refused iff\n\n> X ≥ B / 2\n\n# Parameters\nNone.",
        "params": [
            {"name": "half", "unit": "size or %", "required": True, "default": None, "doc": "Half.", "schema": TEXT},
            {"name": "mark", "unit": "-", "required": False, "default": "x", "doc": "Which.", "schema": WORDS},
            {"name": "links", "unit": "-", "required": False, "default": None, "doc": "Where.", "schema": EITHER},
        ],
    }
    text = module([entry, {"table": None}])
    assert text.endswith(HALF_FULL)
    compile(text, "schemes.py", "exec")


TEXT = {"type": "string"}
WORDS = {"enum": ["x", "y"], "enumDescriptions": ["This.", "That."]}
EITHER = {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}, {"type": "integer"}]}
HALF_FULL = '''
@dataclass(frozen=True, eq=False, kw_only=True)
class HalfFull(Scheme):
    """Refuse frames.

    Admission `half-full`.

    Experimental: its sources leave important details open, so no fidelity is claimed.

    A frame is refused iff

    > X ≥ B / 2

    Source: Nowhere.

    Its parameters:

    - `half` (size or %; must be given): Half.
    - `mark` (default "x"): Which. `x`: This. `y`: That.
    - `links` (not set): Where.
    """

    policy: str = field(default="half-full", init=False, repr=False)
    half: str
    mark: Literal["x", "y"] = "x"
    links: int | Sequence[str] | None = None
'''
