"""The translation of a function to instructions: its statements."""

import ast
from collections.abc import Sequence

from pushout.policy.attributes import CHOOSES, Hook, Type
from pushout.policy.code import Code, Names
from pushout.policy.expressions import Expressions
from pushout.policy.text import Text

QUIET = ("tick", "joined", "sent", "ack", "loss")
"""Functions that decide nothing."""

DEEPEST = 100
"""Deepest nesting of statements and expressions."""

STATEMENTS = "assignments to names and to declared state, if, and return"

REASONS = ("early", "random", "marked", "gatekeeper", "delay", "overflow", "partial")


def translate(text: Text, names: Names, hook: Hook = "arrival") -> Code:
    """Translate a function."""
    function = text.function
    arguments = [argument.arg for argument in function.args.args]
    others = function.args
    if len(arguments) not in (1, 2) or any(
        (others.posonlyargs, others.kwonlyargs, others.defaults, others.vararg, others.kwarg)
    ):
        text.refuse(
            function, "the function must take what it looks at, as in def policy(x), and perhaps its state: (x, s)"
        )
    statements = Statements(text, names, arguments, hook)
    try:
        statements.block(function.body, 0)
    except RecursionError:
        text.refuse(function, "expressions must be nested less deeply; use names for their parts")
    if statements.code.reached and hook in QUIET:
        statements.code.end("end")
    if statements.code.reached:
        text.refuse(function.body[-1], "every path must end with return")
    return statements.code


class Statements(Expressions):
    """Statements, which assign, branch and return."""

    def block(self, body: Sequence[ast.stmt], depth: int) -> None:
        """Translate statements; those behind a return are never reached."""
        for statement in body:
            if not self.code.reached:
                return
            self.code.line = statement.lineno + self.text.line
            self.statement(statement, depth)
            self.release()

    def statement(self, node: ast.stmt, depth: int) -> None:
        """Translate one statement."""
        if depth > DEEPEST:
            self.text.refuse(node, f"statements must be nested at most {DEEPEST} levels deep")
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.Return(value=None) if self.code.hook in QUIET:
                self.code.end("end")
            case ast.Return() if self.code.hook in QUIET:
                self.text.refuse(node, "this function decides nothing: return must have no value")
            case ast.Return(value=None) if self.code.hook in CHOOSES:
                self.text.refuse(node, "return must have a value: the number of a queue")
            case ast.Return(value=None):
                self.text.refuse(node, "return must have a value: False, True, policy.mark or the name of a reason")
            case ast.Return(value=ast.expr() as value):
                self.answer(value, depth)
            case ast.If():
                self.branch(node, depth)
            case ast.Assign(targets=[target], value=value):
                self.assign(target, value)
            case ast.AugAssign(target=target, op=operator, value=value):
                read = (
                    ast.copy_location(ast.Name(target.id, ast.Load()), target)
                    if isinstance(target, ast.Name)
                    else target
                )
                self.assign(target, ast.copy_location(ast.BinOp(read, operator, value), node))
            case _:
                self.text.refuse(node, f"{_called(node)} cannot be translated; allowed are {STATEMENTS}")

    def branch(self, node: ast.If, depth: int) -> None:
        """Translate an if; what is assigned in one of its branches only may not be read behind it."""
        otherwise, end = self.code.place(), self.code.place()
        self.jump_unless(node.test, otherwise)
        self.release()
        before = set(self.assigned)
        self.block(node.body, depth + 1)
        behind = [self.assigned] if self.code.reached else []
        if self.code.reached and node.orelse:
            self.code.jump(end)
        self.code.put(otherwise)
        self.assigned = before
        self.block(node.orelse, depth + 1)
        behind += [self.assigned] if self.code.reached else []
        self.assigned = set.intersection(*behind) if behind else set()
        self.code.put(end)

    def answer(self, node: ast.expr, depth: int) -> None:
        """Translate the value of a return."""
        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse) if depth <= DEEPEST:
                otherwise = self.code.place()
                self.jump_unless(test, otherwise)
                self.answer(body, depth + 1)
                self.code.put(otherwise)
                self.answer(orelse, depth + 1)
            case _ if self.code.hook in CHOOSES:
                self.code.end(f"choose {self.integer(node)}")
            case ast.Constant(value=False):
                self.code.end("accept")
            case ast.Constant(value=True):
                self.code.end("refuse early")
            case ast.Constant(value=str(reason)) if reason in REASONS:
                self.code.end(f"refuse {reason}")
            case ast.Constant(value=str(answer)) if answer.removeprefix("mark ") in REASONS:
                self.code.end(answer)
            case ast.Constant(value=str(reason)):
                self.text.refuse(
                    node, f"unknown reason {reason!r} (allowed: {', '.join(REASONS)}, and the same behind mark)"
                )
            case ast.Attribute(value=ast.Name(), attr="mark") | ast.Name(id="mark") if not self.is_known(node):
                self.code.end("mark early")
            case _:
                accept = self.code.place()
                self.jump_unless(node, accept)
                self.code.end("refuse early")
                self.code.put(accept)
                self.code.end("accept")

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        """Translate an assignment to a name or to declared state."""
        register, kind = self.value(value)
        match target:
            case ast.Name(id=name) if name not in self.arguments:
                self.assign_name(target, name, register, kind)
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if self.state_name == owner:
                path, wanted = self.state(target, name)
                if self.code.hook == "loss" and name == "threshold":
                    self.text.refuse(
                        target, "on_loss assigns s.window, and the threshold becomes what the window falls to"
                    )
                if self.code.hook == "tick" and self.names.per_queue and name in self.names.state:
                    self.text.refuse(
                        target,
                        f"beside per_queue a clock runs once for each queue, so {name} must be in per_queue as well",
                    )
                self.code.add(f"{path} = {self.promoted(target, register, kind, wanted)}")
            case ast.Subscript():
                path, wanted = self.of_queue(target)
                self.code.add(f"{path} = {self.promoted(target, register, kind, wanted)}")
            case _:
                self.text.refuse(target, "only names and declared state, s.NAME, can be assigned")

    def assign_name(self, target: ast.expr, name: str, register: str, kind: Type) -> None:
        """Assign a name, which keeps the type of its first value."""
        if name not in self.locals:
            self.locals[name] = (self.fresh(target), kind)
        own, wanted = self.locals[name]
        self.code.add(f"{own} = {self.promoted(target, register, kind, wanted)}")
        self.assigned.add(name)


def _called(node: ast.AST) -> str:
    """Return the user's name of a statement."""
    names = {
        "For": "a loop",
        "While": "a loop",
        "Import": "import",
        "ImportFrom": "import",
        "Expr": "an expression alone",
    }
    return names.get(type(node).__name__, type(node).__name__.lower())
