"""What of a check has to be worked out run by run, before it is the means over the runs that are compared.

A run may give a list: a series over time, a value for each connection. How far its entries scatter, which is the
largest and when they settle is a matter of each run. The mean of the lists over the runs has lost most of it: ten
connections that are treated unequally, each time others, are treated equally on average. So wherever an expression
looks at one case alone, what makes a single value of such lists is worked out in each of its runs, and so is the list
that comes of them where a comparison or another case is next.

Only the end of a transient is looked for in the mean over the runs, as P. D. Welch advises: a single run wavers, and is
at its level by chance long before.
"""

import ast
import copy
from collections.abc import Callable, Iterator

from pushout.study.expression import LISTS, Expression, comparisons

IsList = Callable[[str, str], bool]
"""Whether a run of a case (second) gives a list for a figure (first)."""

AVERAGED = ("settled",)
"""The functions that look at the mean over the runs."""

Namer = Callable[[Expression], str]
"""Gives a name to an expression over one run."""


def by_run(check: Expression, is_list: IsList, name: Namer) -> Expression:
    """The same check with a figure of its own, by the name that it is given, in place of all that is worked out so."""
    names: list[str] = []

    def gives_list(node: ast.expr) -> bool:
        match node:
            case ast.Subscript(value=ast.Name(id=figure), slice=ast.Constant(value=str(case))):
                return case not in check.cases or is_list(figure, case)
            case ast.Call(func=ast.Name(id=function)) if function in LISTS:
                return True
            case ast.Tuple():
                return True
            case ast.Call(func=ast.Name(id="abs")) | ast.UnaryOp() | ast.BinOp() | ast.Compare():
                return any(map(gives_list, _operands(node)))
        return False

    def of_one_case(node: ast.expr) -> bool:
        uses = list(_uses(node))
        return len({case for _, case in uses}) == 1 and uses[0][1] in check.cases and any(is_list(*use) for use in uses)

    def worked_out(node: ast.expr) -> ast.expr:
        match node:
            case ast.Call(func=ast.Name(id=function)) if function in AVERAGED:
                return node
        operands = _operands(node)
        if operands and of_one_case(node) and (gives_list(node) or any(map(gives_list, operands))):
            (_, case), *_ = _uses(node)
            names.append(name(check.of_run(_OfRun().visit(copy.deepcopy(node)))))
            return ast.Subscript(ast.Name(names[-1]), ast.Constant(case))
        return _with(node, [worked_out(operand) for operand in operands])

    def judged(node: ast.expr) -> ast.expr:
        if node in sides or not comparisons(node):
            return worked_out(node)
        return _with(node, [judged(operand) for operand in _operands(node)])

    sides = [side for node in comparisons(check.tree) for side in _operands(node)]
    tree = judged(check.tree)
    return check.replaced(tree, names) if names else check


class _OfRun(ast.NodeTransformer):
    """Leaves the cases of figures out."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return node.value


def _uses(node: ast.expr) -> Iterator[tuple[str, str]]:
    """Every figure with the case, or the pattern of cases, that stands with it."""
    for part in ast.walk(node):
        match part:
            case ast.Subscript(value=ast.Name(id=figure), slice=ast.Constant(value=str(case))):
                yield figure, case


def _operands(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.Call(args=operands) | ast.Tuple(elts=operands) | ast.BoolOp(values=operands):
            return operands
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
    return []


def _with(node: ast.expr, operands: list[ast.expr]) -> ast.expr:
    """The same node over other operands."""
    match node:
        case ast.Call(func=function):
            return ast.Call(function, operands, [])
        case ast.Tuple():
            return ast.Tuple(operands)
        case ast.BoolOp(op=op):
            return ast.BoolOp(op, operands)
        case ast.BinOp(op=op):
            return ast.BinOp(operands[0], op, operands[1])
        case ast.Compare(ops=ops):
            return ast.Compare(operands[0], ops, operands[1:])
        case ast.UnaryOp(op=op):
            return ast.UnaryOp(op, operands[0])
    return node
