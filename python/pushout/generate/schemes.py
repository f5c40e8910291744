"""Write `pushout.schemes`: a class for every table in the simulator's registry."""

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from pushout.catalogue import Entry, Param, Table, meanings

HEAD = '''"""Every scheme that has parameters as a class, so that editors and type checkers know them.

    from pushout.schemes import Epd, TailDrop

    pushout.compare("lan", [TailDrop(), Epd(threshold="90 %")])
    pushout.run("lan", set={"port.bottleneck.admission": Epd(reserve="4500 bytes")})

An object stands for the same table as in a scenario. Schemes without parameters are names: `compare` takes "fq-codel",
and `Tcp(congestion="cubic")` has the controls. `pushout list schemes NAME` prints the complete page of a scheme.
"""

# Generated from the registry: make generate.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

from pushout.schemes.base import Scheme, unknown
'''

LAST = """def __getattr__(name: str) -> NoReturn:
    unknown(name)
"""

WIDTH = 120


def module(entries: Iterable[Entry]) -> str:
    """Write the text of `pushout/schemes/__init__.py` for a catalogue from `pushout.policies()`."""
    tables = [(entry, entry["table"]) for entry in entries if entry["table"]]
    classes = sorted((table["class"] for _, table in tables), key=lambda name: (not name.isupper(), name))
    names = "".join(f'    "{name}",\n' for name in classes)  # in the order of the linter: capitals first
    return "\n\n".join([f"{HEAD}\n__all__ = [\n{names}]\n", LAST, *(_class(entry, table) for entry, table in tables)])


def _class(entry: Entry, table: Table) -> str:
    tag, name = table["tag"], table["class"]
    experimental = ["Experimental: its sources leave important details open, so no fidelity is claimed."]
    paragraphs = [
        entry["summary"],
        f"{entry['kind'].capitalize()} `{entry['name']}`.",
        *(experimental if entry["experimental"] else []),
        *_idea(entry["header"]),
        f"Source: {entry['source']}",
        *_parameters(entry["params"]),
    ]
    fields = [f'{tag}: str = field(default="{entry["name"]}", init=False, repr=False)']
    fields += map(_field, entry["params"])
    head = f"@dataclass(frozen=True, eq=False, kw_only=True)\nclass {name}(Scheme):\n"
    return head + _docstring(paragraphs) + "\n" + textwrap.indent("".join(f"{line}\n" for line in fields), "    ")


def _idea(header: str) -> list[str]:
    """The paragraphs below the heading "Idea", equations among them."""
    section = header.partition("# Idea\n")[2].partition("\n# ")[0].strip()
    return section.split("\n\n") if section else []


def _parameters(params: Iterable[Param]) -> list[str]:
    """Return the sentences about the parameters, which `help` and editors show."""
    items = [line for param in params for line in _wrapped(f"- {_explained(param)}", indent="  ")]
    return ["Its parameters:", "\n".join(items)] if items else []


def _explained(param: Param) -> str:
    """A parameter with its unit, its default and its meaning."""
    unit = "" if param["unit"] == "-" else f"{param['unit']}; "
    default = "not set" if param["default"] is None else f"default {_literal(param['default'])}"
    told = "must be given" if param["required"] else default
    words = "".join(f" {word}" for word in meanings(param))
    return f"`{param['name']}` ({unit}{told}): {param['doc'].removesuffix('.')}.{words}"


def _docstring(paragraphs: Iterable[str]) -> str:
    indent = " " * 4
    text = '"""' + "\n\n".join(map(_filled, paragraphs)) + '\n"""\n'
    return textwrap.indent(text.replace("\\", "\\\\"), indent)


def _filled(paragraph: str) -> str:
    """A paragraph in lines of the right length; an equation, a table or code stays as it is."""
    if paragraph.startswith((">", "|", "-", "*", "`", "    ")):
        return paragraph
    return "\n".join(_wrapped(paragraph))


def _field(param: Param) -> str:
    """A parameter as a line of a class."""
    annotation = _annotation(param["schema"])
    default = param["default"]
    if param["required"]:
        return f"{param['name']}: {annotation}"
    if default is None:
        return f"{param['name']}: {annotation} | None = None"
    return f"{param['name']}: {annotation} = {_literal(default)}"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH - 4, break_on_hyphens=False, subsequent_indent=indent)


def _annotation(schema: Mapping[str, Any]) -> str:
    """The type of the values that a JSON Schema allows."""
    if words := schema.get("enum"):
        return f"Literal[{', '.join(map(_literal, words))}]"
    if "const" in schema:
        return f"Literal[{_literal(schema['const'])}]"
    if either := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(dict.fromkeys(map(_annotation, either)))
    if schema["type"] == "array":
        return f"Sequence[{_annotation(schema['items'])}]"
    return TYPES[schema["type"]]


TYPES = {"boolean": "bool", "integer": "int", "number": "float", "string": "str", "object": "Mapping[str, Any]"}


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
