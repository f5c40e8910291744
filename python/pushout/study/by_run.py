"""Find the parts of a check to evaluate in each run, before means over the runs are compared.

A run may give a list: a series over time, or a value for each connection. The scatter of its entries, the largest of
them and the time at which they settle are properties of each run, and averaging the lists over the runs loses them: ten
connections that are treated unequally, other ones in each run, are treated equally on average. So if an expression uses
a single case, functions that reduce such lists to one value are evaluated in each run, and so is a list that results
from them where a comparison or another case follows.

Only the end of a transient is searched in the mean over the runs, as P. D. Welch advises: a single run fluctuates and
reaches its level by chance much earlier.
"""

import ast
import copy
from collections.abc import Callable, Iterator

from pushout.study.expression import LISTS, Expression, comparisons

IsList = Callable[[str, str], bool]
"""Tells whether a run of a case (second) gives a list for a figure (first)."""

AVERAGED = ("settled",)
"""The functions that use the mean over the runs."""

Namer = Callable[[Expression], str]
"""Gives a name to an expression over one run."""


def by_run(check: Expression, is_list: IsList, name: Namer) -> Expression:
    """Replace every part that is evaluated in each run by a figure of a new name."""
    parts = _Parts(check, is_list, name)
    tree = parts.judged(check.tree)
    return check.replaced(tree, parts.names) if parts.names else check


class _Parts:
    """The parts of a check that are evaluated in each run; `names` are those of their figures."""

    def __init__(self, check: Expression, is_list: IsList, name: Namer) -> None:
        self.check = check
        self.is_list = is_list
        self.name = name
        self.names: list[str] = []
        self.sides = [side for node in comparisons(check.tree) for side in _operands(node)]

    def judged(self, node: ast.expr) -> ast.expr:
        """Replace parts within the sides of comparisons, or in a check without comparisons."""
        if node in self.sides or not comparisons(node):
            return self._worked_out(node)
        return _with(node, [self.judged(operand) for operand in _operands(node)])

    def _worked_out(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Call(func=ast.Name(id=function)) if function in AVERAGED:
                return node
        operands = _operands(node)
        if operands and self._is_of_one_case(node) and any(map(self._gives_list, [node, *operands])):
            return self._figure(node)
        return _with(node, [self._worked_out(operand) for operand in operands])

    def _figure(self, node: ast.expr) -> ast.expr:
        """Name a part and refer to it as a figure of its case."""
        (_, case), *_ = _uses(node)
        self.names.append(self.name(self.check.of_run(_OfRun().visit(copy.deepcopy(node)))))
        return ast.Subscript(ast.Name(self.names[-1]), ast.Constant(case))

    def _gives_list(self, node: ast.expr) -> bool:
        match node:
            case ast.Subscript(value=ast.Name(id=figure), slice=ast.Constant(value=str(case))):
                return case not in self.check.cases or self.is_list(figure, case)
            case ast.Call(func=ast.Name(id=function)) if function in LISTS:
                return True
            case ast.Tuple():
                return True
            case ast.Call(func=ast.Name(id="abs")) | ast.UnaryOp() | ast.BinOp() | ast.Compare():
                return any(map(self._gives_list, _operands(node)))
        return False

    def _is_of_one_case(self, node: ast.expr) -> bool:
        """Return whether a part uses a single case, and a list of it."""
        uses = list(_uses(node))
        if len({case for _, case in uses}) != 1 or uses[0][1] not in self.check.cases:
            return False
        return any(self.is_list(*use) for use in uses)


class _OfRun(ast.NodeTransformer):
    """Removes the cases of figures."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return node.value


def _uses(node: ast.expr) -> Iterator[tuple[str, str]]:
    """Yield every figure with its case or pattern of cases."""
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
    """Copy a node with other operands."""
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
