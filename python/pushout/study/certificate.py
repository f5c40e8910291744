"""The certificate of a sentence: for each assumption the smallest change that turns its verdict, from data at hand.

    limit of the check     the share by which the two sides of its comparisons must move against each other
    number of runs         whether one run alone can give the other verdict, and how many do
    an assumption          the nearest of the values of its `[[sensitivity]]` that turns it
    all as printed         whether the verdict turns with every setting as printed

What has no line does not turn the verdict within its range. `pushout reproduce --attack` searches with further runs.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass

from pushout.study.expression import Expression, ExpressionError, Lookup

LIMIT, RUNS, PRINTED = "limit of the check", "number of runs", "all settings as printed"

FINEST = 0.001
"""The smallest relative change of a limit that is distinguished."""


@dataclass(frozen=True)
class Turn:
    """The smallest change of an assumption that turns a verdict, in words."""

    assumption: str
    change: str


class Shifted(ast.NodeTransformer):
    """Move the sides of the outermost comparisons against each other by a share of their mean."""

    def __init__(self, share: float) -> None:
        self.share = share

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Require a larger difference (a positive share), or a smaller one."""
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        sign = "+" if isinstance(node.ops[0], ast.Gt | ast.GtE) else "-"
        moved = f"({right}) {sign} ({self.share!r}) * (abs({left}) + abs({right})) / 2"
        return ast.Compare(node.left, node.ops, [ast.parse(moved, mode="eval").body])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Turn the direction in a negation; the operand of a sign has no outermost comparison."""
        if not isinstance(node.op, ast.Not):
            return node
        return ast.UnaryOp(node.op, Shifted(-self.share).visit(node.operand))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Go into `all` and `any` only: elsewhere a comparison is a number."""
        if isinstance(node.func, ast.Name) and node.func.id in ("all", "any"):
            return ast.Call(node.func, [self.visit(part) for part in node.args], [])
        return node


def margin(check: Expression, lookup: Lookup) -> float | None:
    """Return the smallest share by which the sides of a check must move to turn it; None if 1 does not suffice."""
    stated = _truth(check, lookup)

    def turns(share: float) -> bool:
        tree = Shifted(share if stated else -share).visit(ast.parse(check.text.strip(), mode="eval").body)
        return _truth(check.replaced(ast.fix_missing_locations(tree), ()), lookup) != stated

    try:
        return _least(turns)
    except ExpressionError:  # a long check is too long with its sides written twice
        return None


def _truth(check: Expression, lookup: Lookup) -> bool | None:
    try:
        return check(lookup) is True
    except ExpressionError:
        return None


def _least(turns: Callable[[float], bool]) -> float | None:
    """Bisect for the smallest share that turns a verdict, to three digits."""
    low, high = 0.0, 1.0
    if not turns(high):
        return None
    while high - low > FINEST * max(high, 0.01):
        middle = (low + high) / 2
        low, high = (low, middle) if turns(middle) else (middle, high)
    return high


def of_limit(share: float | None) -> list[Turn]:
    """Write the margin of a check."""
    return [] if share is None else [Turn(LIMIT, f"{100 * share:.2g} % of the compared values")]


def of_runs(holds: bool, often: int, reps: int) -> list[Turn]:
    """Write how many single runs give the other verdict."""
    other = reps - often if holds else often
    return (
        [Turn(RUNS, f"one run instead of {reps}: {other} of them give the other verdict")] if other and reps > 1 else []
    )
