"""The evidence of a check: the values that it compares, in their unit if known, each pair with its truth."""

import ast
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pushout.study.digits import grouped
from pushout.study.expression import OPERATORS, Expression, Value, comparisons

UnitOf = Callable[[str, str], str | None]
"""Returns the unit of a figure (first) in a case (second), if it is known."""

KEEPING = ("abs", "deviation", "first", "max", "mean", "min", "nth", "ranked", "rest", "spread", "sum", "where")
"""Functions whose result has the unit of their arguments."""

COUNTED = ("first", "nth", "rest", "where")
"""Functions of which only the first argument has a unit."""

FACTORS = 0.1, 10.0
"""A constant in this range is a factor, as in `1.1 * queue`; outside it may be a change of unit."""

PREFIXES = {
    "b/s": ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
}
"""The prefix of a unit by value; values below the last keep the unit."""

DIGITS = range(4, 9)
"""Digits of a value: the first number of them that distinguishes it from the value compared with it."""


MANY = 12
"""Entries of a comparison of lists that are written out; of more, only those that are false."""


@dataclass(frozen=True)
class Comparison:
    """The two sides of a comparison and its sign; for lists, the truth and the name of each entry."""

    expression: str
    sign: str
    left: Value
    right: Value
    true: Value
    unit: str = ""
    names: tuple[str, ...] = ()

    @property
    def is_list(self) -> bool:
        """Return whether lists are compared, entry by entry."""
        return isinstance(self.true, tuple)

    @property
    def entries(self) -> list[tuple[str, str, bool]]:
        """Yield every pair of values: the name of the entry, the comparison as text, and its truth.

        Single values give one pair, without a name.
        """
        if not isinstance(self.true, tuple):
            return [("", self._pair(self.left, self.right), self.true)]
        sides = [side if isinstance(side, tuple) else (side,) * len(self.true) for side in (self.left, self.right)]
        pairs = [self._pair(left, right) for left, right in zip(*sides, strict=True)]
        return list(zip(self.names, pairs, self.true, strict=True))

    def __str__(self) -> str:
        if not isinstance(self.true, tuple):
            return f"{self._pair(self.left, self.right)}{'' if self.true else ' is false'} [{self.expression}]"
        shown = [entry for entry in self.entries if not entry[2] or len(self.true) <= MANY]
        said = ", ".join(f"{name}: {pair}{'' if true else ' is false'}" for name, pair, true in shown[:MANY])
        return f"true for {sum(self.true)} of {len(self.true)} [{self.expression}{'; ' if said else ''}{said}]"

    def _pair(self, left: float, right: float) -> str:
        for digits in DIGITS:
            texts = [written(value, self.unit, max(abs(left), abs(right)), digits) for value in (left, right)]
            if left == right or texts[0] != texts[1]:
                break
        return f"{texts[0]} {self.sign} {texts[1]}"


def written(value: float, unit: str, largest: float, digits: int) -> str:
    """Write a value in its unit, with the prefix for the largest of the values compared."""
    scale, name = next((prefix for prefix in PREFIXES.get(unit, ()) if largest >= prefix[0]), (1.0, unit))
    scaled = value / scale
    text = grouped(scaled, 0) if abs(scaled) >= 10 ** max(4, digits - 1) else f"{scaled:.{digits}g}".replace("-", "−")
    return f"{text} {name}".rstrip()


def evidence(check: Expression, compared: Sequence[tuple[Value, Value, Value]], unit_of: UnitOf) -> list[Comparison]:
    """List the comparisons of a check with the values of their sides."""
    return [
        Comparison(
            _text(node),
            OPERATORS[type(node.ops[0])][0],
            *values,
            _common([unit(side, check.cases, unit_of) for side in (node.left, node.comparators[0])]) or "",
            _names(node, check, len(values[2])) if isinstance(values[2], tuple) else (),
        )
        for node, values in zip(comparisons(check.tree), compared, strict=True)
    ]


def _text(node: ast.expr) -> str:
    text = re.sub(
        r"(?<![\w.])(\d+)\.0(?!\w)", r"\1", ast.unparse(node).replace("'", '"')
    )  # 2e6 is written as 2000000.0
    return text.replace(" >= ", " ≥ ").replace(" <= ", " ≤ ")


def unit(node: ast.expr, cases: Collection[str], unit_of: UnitOf) -> str | None:
    """Find the unit of an expression: empty for a constant, None if it is unknown or does not exist."""
    match node:
        case ast.Constant():
            return ""
        case ast.Name(id=figure):
            return unit_of(figure, "")
        case ast.Subscript(value=ast.Name(id=figure), slice=ast.Constant(value=str(pattern))):
            return _common([unit_of(figure, case) for case in cases if fnmatchcase(case, pattern)])
        case ast.Call(func=ast.Name(id=function), args=args) if function in KEEPING:
            of = args[:1] if function in COUNTED else args
            return _common([unit(each, cases, unit_of) for each in of])
        case ast.Tuple(elts=parts):
            return _common([unit(part, cases, unit_of) for part in parts])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return unit(operand, cases, unit_of)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return _common([unit(side, cases, unit_of) for side in (left, right)])
        case ast.BinOp(left=factor, op=ast.Mult(), right=of) if _is_factor(factor):
            return unit(of, cases, unit_of)
        case ast.BinOp(left=of, op=ast.Mult() | ast.Div(), right=factor) if _is_factor(factor):
            return unit(of, cases, unit_of)
        case ast.BinOp(left=left, right=right):
            return "" if unit(left, cases, unit_of) == unit(right, cases, unit_of) == "" else None
    return None


def _is_factor(node: ast.expr) -> bool:
    low, high = FACTORS
    constant = _constant(node)
    return constant is not None and low <= constant <= high


def _constant(node: ast.expr) -> float | None:
    """Evaluate an expression without figures and functions."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            sides = _constant(left), _constant(right)
            return None if None in sides else float(OPERATORS[type(op)][1](*sides))
    return None


def _common(units: Sequence[str | None]) -> str | None:
    """Return the common unit of those that have one; None if one of them is unknown."""
    found = {each for each in units if each != ""}
    if len(found) > 1:
        return None
    return found.pop() if found else ""


def _names(node: ast.Compare, check: Expression, count: int) -> tuple[str, ...]:
    """Name the entries of a comparison of lists: by the differing parts of their cases, or by numbers."""
    for side in (node.left, node.comparators[0]):
        names = _entries(side, check.cases)
        if names and len(names) == count:
            return tuple(names)
    return tuple(map(str, range(1, count + 1)))


def _entries(node: ast.expr, cases: Collection[str]) -> list[str]:
    """Name the cases of a list's entries; None unless each entry comes from one case."""
    match node:
        case ast.Subscript(slice=ast.Constant(value=str(pattern))) if pattern not in cases:
            return _different(pattern, [case for case in cases if fnmatchcase(case, pattern)])
        case ast.Call(func=ast.Name(id="first"), args=[of, ast.Constant(value=int(count))]):
            return _entries(of, cases)[:count]
        case ast.Call(func=ast.Name(id="rest"), args=[of, ast.Constant(value=int(count))]):
            return _entries(of, cases)[count:]
        case ast.Call(func=ast.Name(id="abs"), args=[of]) | ast.UnaryOp(operand=of):
            return _entries(of, cases)
        case ast.BinOp(left=left, right=right):
            return _entries(left, cases) or _entries(right, cases)
    return []


def _different(pattern: str, cases: list[str]) -> list[str]:
    """Return the part of each case that matches the `*` of a pattern; the whole name if that part is within a word."""
    if re.search(r"[?\[]|[^.]\*|\*[^.]", pattern):
        return cases
    parts = re.compile("(.*)".join(map(re.escape, pattern.split("*"))))
    return ["/".join(match.groups()) if (match := parts.fullmatch(case)) else case for case in cases]
