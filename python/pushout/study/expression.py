"""Measures and claims: expressions over named figures of named cases, read with Python's grammar.

    spread(goodput["lan.*.1460"]) < 0.03 and min(goodput["lan.*"]) > 0.95

`goodput` is a figure that the study names, the text in brackets a case; with a `*` it matches several cases and gives
a list. Arithmetic and comparison work on lists entry by entry, as in
`all(fairness["lan.EPD.*"] > fairness["lan.UBR.*"])`. An expression over the figures of one run has no case:
`mean(first(delay, 4))`. Nothing else of Python is allowed, so a study is data.

A figure may be a list in every run: a series over time, or a value for each connection. The spread of its entries is a
property of each run, which averaging over the runs loses; so `by_run` finds the parts to evaluate in each run.
"""

import ast
import math
import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from statistics import fmean
from typing import Any

from pushout.errors import PushoutError
from pushout.excerpt import VALUE, excerpt, quoted
from pushout.limits import DEEPEST, LONGEST_EXPRESSION, MOST_BINS, MOST_STARS
from pushout.measures import saturation_point

Value = Any
"""A number, a truth, or a tuple of them."""

Lookup = Callable[[str, str], Value]
"""Returns the value of a figure (first) in a case (second)."""

Code = Callable[[Lookup], Value]


class ExpressionError(PushoutError, ValueError):
    """An expression cannot be parsed, or names a figure or case that the study lacks."""


class UnmeasuredError(ExpressionError):
    """An expression uses a figure without value: no packet for a loss ratio, no finished file, …."""


def _first(values: Sequence[Value], count: Value) -> Value:
    return tuple(values)[: int(count)]


def _histogram(values: Sequence[float], width: float, bins: Value) -> Value:
    """Return the share of values in each bin of this width from zero on; the last bin includes all larger values."""
    if not 1 <= bins <= MOST_BINS:
        raise ValueError(f"a histogram must have from 1 to {MOST_BINS} bins, not {bins:g}")
    places = Counter(min(value // width, bins - 1) for value in values)
    return tuple(places[index] / len(values) for index in range(int(bins)))


def _saturation(throughputs: Sequence[float], first: float, step: float) -> float:
    """Find the saturation point of a curve whose buffers are `first`, `first + step`, ….

    If the last throughput is below 1, it is the next buffer, a lower bound of the true value.
    """
    curve = [(first + step * index, throughput) for index, throughput in enumerate(throughputs)]
    point = saturation_point(curve)
    return first + step * len(curve) if point is None else point


def _onset(throughputs: Sequence[float], first: float, step: float) -> float:
    """Find the last position before the first throughput below 1; one step before the axis if the first is below 1."""
    below = [index for index, value in enumerate(throughputs) if value < 1]
    return first + step * ((below[0] if below else len(throughputs)) - 1)


def _settled(curve: Sequence[float], tolerance: float) -> int:
    """Count the entries before the first three whose mean is at most this share above the level of the curve.

    The level of a curve that settles is the mean of its second half.
    """
    level = (1 + tolerance) * fmean(curve[len(curve) // 2 :])
    return next(index for index in range(len(curve)) if fmean(curve[index : index + 3]) <= level)


def _deviation(values: Sequence[float]) -> float:
    """Compute the population standard deviation; `statistics.pstdev` is exact, but slow."""
    mean = fmean(values)
    return math.sqrt(fmean([(value - mean) ** 2 for value in values]))


def _known_mean(values: Iterable[float | None]) -> float | None:
    """Leave out entries that were not measured (no packet, no delay)."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _spread(values: Iterable[float]) -> float:
    numbers = tuple(values)
    return max(numbers) - min(numbers)


def _jain(values: Iterable[float]) -> float:
    """Compute R. Jain's index of fairness, (Σx)² / (n Σx²): 1 if all are equal."""
    numbers = tuple(values)
    return sum(numbers) ** 2 / (len(numbers) * sum(number**2 for number in numbers))


def _power(base: float, exponent: float) -> float:
    """A power that stays a number: neither a list nor one of a million digits."""
    return math.pow(base, exponent)


def _ratio(value: float, to: float) -> float | None:
    """The quotient; nothing was measured where there is nothing to compare with."""
    return value / to if to else None


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "abs": lambda value: _each(abs, value),
    "all": all,
    "any": any,
    "deviation": _deviation,
    "erf": math.erf,
    "first": _first,
    "histogram": _histogram,
    "jain": lambda *values: _jain(flat(values)),
    "max": max,
    "mean": _known_mean,
    "min": min,
    "nth": lambda values, place: values[int(place) - 1],
    "onset": _onset,
    "positions": lambda values: tuple(place for place, value in enumerate(values, 1) if value),
    "rest": lambda values, count: tuple(values)[int(count) :],
    "power": _power,
    "ratio": _ratio,
    "ranked": lambda values: tuple(sorted(values, reverse=True)),
    "saturation": _saturation,
    "settled": _settled,
    "spread": _spread,
    "sum": sum,
    "where": lambda values, truths: tuple(value for value, true in zip(values, truths, strict=True) if true),
}

LISTS = ("first", "histogram", "positions", "ranked", "rest", "where")
"""The functions that return a list; `abs` and the operators do for a list, all others return one value."""


def _product(left: Value, right: Value) -> Value:
    """Multiply numbers; Python would repeat a list by a number."""
    if isinstance(left, tuple) or isinstance(right, tuple):
        raise TypeError("lists in lists cannot be multiplied")
    return left * right


OPERATORS: dict[type[ast.AST], tuple[str, Callable[..., Value]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", _product),
    ast.Div: ("/", operator.truediv),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("≤", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: ("≥", operator.ge),
    ast.USub: ("-", operator.neg),
    ast.Not: ("not", operator.not_),
}


def comparisons(tree: ast.expr) -> list[ast.Compare]:
    """Collect the outermost comparisons of a check, in order."""
    match tree:
        case ast.Compare():
            return [tree]
        case ast.BoolOp(values=parts) | ast.Call(func=ast.Name(id="all" | "any"), args=parts):
            return [found for part in parts for found in comparisons(part)]
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return comparisons(part)
    return []


def _parsed(text: str) -> ast.expr:
    """Parse an expression; refuse one that is too long, or too deep for recursion."""
    if len(text) > LONGEST_EXPRESSION:
        message = f"an expression must have at most {LONGEST_EXPRESSION} characters, not {len(text)}"
        raise ExpressionError(f"{quoted(text)}: {message}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"{quoted(text)}: {error.msg}") from None
    except (RecursionError, MemoryError, ValueError):  # Python's own parser raises these for deep nesting and for NUL
        raise ExpressionError(
            f"{quoted(text)}: an expression must have no NUL character and be nested at most {DEEPEST} levels deep"
        ) from None
    if _depth(tree) > DEEPEST:
        raise ExpressionError(f"{quoted(text)}: an expression must be nested at most {DEEPEST} levels deep")
    return tree


def _depth(tree: ast.AST) -> int:
    """Count the levels of a tree."""
    depth, level = 0, [tree]
    while level:
        depth, level = depth + 1, [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


RUN = ""
"""The case of a figure in an expression over one run."""


class Expression:
    """An expression, checked against the figures and cases of a study; without `cases` it is over one run."""

    def __init__(self, text: str, figures: Collection[str], cases: Collection[str] | None = None) -> None:
        self.text = text
        self._figures = figures
        self._cases = cases
        self._uses: dict[tuple[str, str], None] = {}
        self.tree = _parsed(text)
        self._code = self._compile(self.tree)

    def __reduce__(self) -> tuple[Any, ...]:
        return Expression, (self.text, self._figures, self._cases)

    @property
    def uses(self) -> list[tuple[str, str]]:
        """Every (figure, case) that the expression uses, in order."""
        return list(self._uses)

    def __call__(self, lookup: Lookup) -> Value:
        """Evaluate the expression."""
        try:
            return self._code(lookup)
        except ExpressionError:
            raise
        except (TypeError, ValueError, IndexError, ArithmeticError, StopIteration) as error:
            absent = self._absent(lookup)
            if absent:
                raise UnmeasuredError(f"{quoted(self.text)}: {', '.join(absent)} was not measured") from None
            raise ExpressionError(f"{quoted(self.text)}: {error}") from None

    def _absent(self, lookup: Lookup) -> list[str]:
        """List the figures without value that it uses: no packet for a loss ratio, no finished file, …."""
        unknown = [use for use in self._uses if None in flat([lookup(*use)])]
        return [figure if case == RUN else f'{figure}["{case}"]' for figure, case in unknown]

    @property
    def cases(self) -> Collection[str]:
        """The cases that it can name."""
        return self._cases or ()

    def replaced(self, tree: ast.expr, names: Collection[str]) -> "Expression":
        """Make an expression over the same figures and cases, and further figures."""
        return Expression(ast.unparse(tree), (*self._figures, *names), self._cases)

    def of_run(self, tree: ast.expr) -> "Expression":
        """Make an expression over the same figures in one run."""
        return Expression(ast.unparse(tree), self._figures)

    def compared(self, lookup: Lookup) -> list[tuple[Value, Value, Value]]:
        """Evaluate both sides of every comparison, and its truth (for lists: of each entry)."""
        return [
            (self._compile(node.left)(lookup), self._compile(node.comparators[0])(lookup), self._compile(node)(lookup))
            for node in comparisons(self.tree)
        ]

    def _compile(self, node: ast.expr) -> Code:
        match node:
            case ast.Constant(value=int() | float() as constant) if _is_number(constant):
                return lambda _: constant
            case ast.Tuple(elts=entries):
                return _apply(lambda *values: values, [self._compile(entry) for entry in entries])
            case ast.Subscript(value=ast.Name(id=figure), slice=ast.Constant(value=str(pattern))) if (
                self._cases is not None
            ):
                return self._figure(figure, pattern, self._cases)
            case ast.Name(id=figure) if self._cases is None:
                return self._of_run(figure)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
                return _apply(FUNCTIONS[name], [self._compile(arg) for arg in args])
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return _apply(_by_entry(OPERATORS[type(op)][1]), [self._compile(operand)])
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                sides = [self._compile(left), self._compile(right)]
                return _apply(_by_entry(OPERATORS[type(op)][1]), sides)
            case ast.BoolOp(op=op, values=values):
                parts = [self._compile(value) for value in values]
                join = all if isinstance(op, ast.And) else any
                return lambda lookup: join(part(lookup) for part in parts)
            case ast.Compare(ops=[op], left=left, comparators=[right]) if type(op) in OPERATORS:
                sides = [self._compile(left), self._compile(right)]
                return _apply(_by_entry(OPERATORS[type(op)][1]), sides)
        figure = "figure" if self._cases is None else 'figure["case"]'
        allowed = f"numbers, lists (1, 2), + - * /, < <= > >=, and or not, {figure} and " + ", ".join(FUNCTIONS)
        raise ExpressionError(f"{quoted(self.text)}: {quoted(ast.unparse(node))} is not allowed (allowed: {allowed})")

    def _figure(self, figure: str, pattern: str, cases: Collection[str]) -> Code:
        self._known(figure)
        if pattern.count("*") > MOST_STARS:
            raise ExpressionError(
                f"{quoted(self.text)}: a pattern must have at most {MOST_STARS} stars, not {quoted(pattern)}"
            )
        fitting = [case for case in cases if fnmatchcase(case, pattern)]
        if not fitting:
            known = excerpt(", ".join(cases), 2 * VALUE)
            raise ExpressionError(f"{quoted(self.text)}: unknown case {quoted(pattern)} (allowed: {known})")
        self._uses.update(dict.fromkeys((figure, case) for case in fitting))
        if pattern in cases:
            return lambda lookup: lookup(figure, pattern)
        return lambda lookup: flat([lookup(figure, case) for case in fitting])

    def _of_run(self, figure: str) -> Code:
        self._known(figure)
        self._uses[figure, RUN] = None
        return lambda lookup: lookup(figure, RUN)

    def _known(self, figure: str) -> None:
        if figure not in self._figures:
            known = excerpt(", ".join(self._figures), 2 * VALUE)
            raise ExpressionError(f"{quoted(self.text)}: unknown figure {quoted(figure)} (allowed: {known})")


def definitions(figures: Mapping[str, str | Expression], checks: Iterable[Expression]) -> dict[str, str]:
    """Collect the figures that expressions use, those of quantities among them, with what each stands for."""
    found: dict[str, str] = {}
    names = [name for check in checks for name, _ in check.uses]
    while names:
        name = names.pop()
        what = figures[name]
        if isinstance(what, Expression):
            names += [other for other, _ in what.uses if other not in found]
        found[name] = what.text if isinstance(what, Expression) else what
    return found


def _is_number(constant: Value) -> bool:
    """Return whether a constant is a finite number."""
    try:
        return not isinstance(constant, bool) and math.isfinite(constant)
    except OverflowError:
        return False


def _apply(function: Callable[..., Value], arguments: list[Code]) -> Code:
    match (
        arguments
    ):  # claims are evaluated on hundreds of resamples, so avoid a loop for the usual numbers of arguments
        case [only]:
            return lambda lookup: function(only(lookup))
        case [left, right]:
            return lambda lookup: function(left(lookup), right(lookup))
    return lambda lookup: function(*(argument(lookup) for argument in arguments))


def _by_entry(function: Callable[..., Value]) -> Callable[..., Value]:
    return lambda *sides: _each(function, *sides)


def _each(function: Callable[..., Value], *sides: Value) -> Value:
    """Apply to every entry of lists of equal length; a single value is used with every entry."""
    lengths = {len(side) for side in sides if isinstance(side, tuple)}
    if not lengths:
        return function(*sides)
    if len(lengths) > 1:
        raise TypeError(f"lists must have the same length, not {' and '.join(map(str, sorted(lengths)))} entries")
    length = lengths.pop()
    columns = [side if isinstance(side, tuple) else (side,) * length for side in sides]
    return tuple(function(*row) for row in zip(*columns, strict=True))


def flat(values: Iterable[Value]) -> tuple[Value, ...]:
    """Join values and the entries of lists into one list."""
    entries: list[Value] = []
    for value in values:
        if isinstance(value, tuple):
            entries += value
        else:
            entries.append(value)
    return tuple(entries)
