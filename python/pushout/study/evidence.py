"""What a check rests on: the values that it compares, in their unit where that is known, each pair with its truth."""

import ast
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pushout.study.digits import grouped
from pushout.study.expression import OPERATORS, Expression, Value, comparisons

UnitOf = Callable[[str, str], str | None]
"""The unit of a figure (first) in a case (second), if it is known."""

KEEPING = ("abs", "deviation", "first", "max", "mean", "min", "nth", "ranked", "rest", "spread", "sum", "where")
"""What these functions give is in the unit of what they are given."""

COUNTED = ("first", "nth", "rest", "where")
"""Of these only the first argument has a unit."""

FACTORS = 0.1, 10.0
"""A constant between these is taken for a factor, as in `1.1 * queue`; beyond them it may be a change of unit."""

PREFIXES = {
    "b/s": ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
}
"""What a unit becomes from which value on; of values below the last, it stays."""

DIGITS = range(4, 9)
"""Digits of a value, from the first number of them with which it is told from the one that it is compared with."""


@dataclass(frozen=True)
class Comparison:
    """Two sides of a comparison with what stands between them; of lists, what is true of each entry and its name."""

    expression: str
    sign: str
    left: Value
    right: Value
    true: Value
    unit: str = ""
    names: tuple[str, ...] = ()

    @property
    def is_list(self) -> bool:
        """Whether lists are compared, entry by entry."""
        return isinstance(self.true, tuple)

    @property
    def entries(self) -> list[tuple[str, str, bool]]:
        """Every pair of values: the name of the entry, the values with the sign between them, and whether it is true.

        What is no list has one, without a name.
        """
        if not isinstance(self.true, tuple):
            return [("", self._pair(self.left, self.right), self.true)]
        sides = [side if isinstance(side, tuple) else (side,) * len(self.true) for side in (self.left, self.right)]
        pairs = [self._pair(left, right) for left, right in zip(*sides, strict=True)]
        return list(zip(self.names, pairs, self.true, strict=True))

    def __str__(self) -> str:
        if not isinstance(self.true, tuple):
            return f"{self._pair(self.left, self.right)}{'' if self.true else ' is false'} [{self.expression}]"
        said = ", ".join(f"{name}: {pair}{'' if true else ' is false'}" for name, pair, true in self.entries)
        return f"true for {sum(self.true)} of {len(self.true)} [{self.expression}; {said}]"

    def _pair(self, left: float, right: float) -> str:
        for digits in DIGITS:
            texts = [written(value, self.unit, max(abs(left), abs(right)), digits) for value in (left, right)]
            if left == right or texts[0] != texts[1]:
                break
        return f"{texts[0]} {self.sign} {texts[1]}"


def written(value: float, unit: str, largest: float, digits: int) -> str:
    """A value in its unit, with the prefix that suits the largest of those beside it."""
    scale, name = next((prefix for prefix in PREFIXES.get(unit, ()) if largest >= prefix[0]), (1.0, unit))
    scaled = value / scale
    text = grouped(scaled, 0) if abs(scaled) >= 10 ** max(4, digits - 1) else f"{scaled:.{digits}g}".replace("-", "−")
    return f"{text} {name}".rstrip()


def evidence(check: Expression, compared: Sequence[tuple[Value, Value, Value]], unit_of: UnitOf) -> list[Comparison]:
    """The comparisons of a check with the values of their sides."""
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
    text = re.sub(r"(?<![\w.])(\d+)\.0(?!\w)", r"\1", ast.unparse(node).replace("'", '"'))  # 2e6 comes as 2000000.0
    return text.replace(" >= ", " ≥ ").replace(" <= ", " ≤ ")


def unit(node: ast.expr, cases: Collection[str], unit_of: UnitOf) -> str | None:
    """The unit of an expression: empty if it is a constant, none if it is not known or if there is none."""
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
    """The value of an expression without figures and functions."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            sides = _constant(left), _constant(right)
            return None if None in sides else float(OPERATORS[type(op)][1](*sides))
    return None


def _common(units: Sequence[str | None]) -> str | None:
    """The unit that all have that have one; none if one of them has none that is known."""
    found = {each for each in units if each != ""}
    if len(found) > 1:
        return None
    return found.pop() if found else ""


def _names(node: ast.Compare, check: Expression, count: int) -> tuple[str, ...]:
    """The names of the entries that a comparison of lists has: what differs in those of their cases, or numbers."""
    for side in (node.left, node.comparators[0]):
        names = _entries(side, check.cases)
        if names and len(names) == count:
            return tuple(names)
    return tuple(map(str, range(1, count + 1)))


def _entries(node: ast.expr, cases: Collection[str]) -> list[str]:
    """The names of the cases that the entries of a list come from; none if they do not come one from each."""
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
    """What stands for the `*` of a pattern in each case; the whole name if it is within a word, or if others are."""
    if re.search(r"[?\[]|[^.]\*|\*[^.]", pattern):
        return cases
    parts = re.compile("(.*)".join(map(re.escape, pattern.split("*"))))
    return ["/".join(match.groups()) if (match := parts.fullmatch(case)) else case for case in cases]
