"""The translation of a function to instructions: its expressions."""

import ast
from collections.abc import Sequence
from difflib import get_close_matches

from pushout.policy.attributes import (
    AS_STATE,
    BY_NUMBER,
    CHOOSES,
    ELSEWHERE,
    IN_MEMORIES,
    PROPERTIES,
    Hook,
    Type,
    attributes_of,
    refusal,
)
from pushout.policy.code import Code, Names, Place
from pushout.policy.text import Text

REGISTERS, FUEL = 256, 1024

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}

FUNCTIONS = ("min", "max", "abs", "int", "float", "sqrt", "exp", "log", "pow")

EXPRESSIONS = (
    "numbers, names, x.NAME, s.NAME, x.draw(), + - * / // % **, comparisons, and, or, not, A if C else B, "
    f"and the functions {', '.join(FUNCTIONS)}"
)

QUESTIONS = (
    f"{', '.join(f'x.{name}(QUEUE)' for name in PROPERTIES)}, x.longest(), x.next_backlogged(AFTER) "
    "and x.least(s.NAME) with state of queues"
)

Typed = tuple[str, Type]
"""A register and the type of its value."""


class Expressions:
    """Expressions, each of which leaves its value in a register."""

    def __init__(self, text: Text, names: Names, arguments: Sequence[str], hook: Hook) -> None:
        self.text, self.names, self.arguments = text, names, arguments
        self.arrival = arguments[0]
        self.state_name = arguments[1] if len(arguments) > 1 else None
        self.code = Code(hook, looks_at=set() if hook == "arrival" else {"queues"})
        self.locals: dict[str, Typed] = {}
        self.assigned: set[str] = set()
        self.used = 0
        self.free: dict[Type, list[str]] = {"int": [], "float": [], "bool": []}
        self.temporary: list[Typed] = []

    def fresh(self, node: ast.AST) -> str:
        """A register that nothing has used."""
        if self.used == REGISTERS:
            self.text.refuse(node, f"the policy must need at most {REGISTERS} values at a time; split it")
        self.used += 1
        return f"r{self.used - 1}"

    def to(self, node: ast.AST, kind: Type) -> str:
        """A register for a value of this type, until the end of the statement."""
        if len(self.code.instructions) >= FUEL:
            self.text.refuse(node, f"the policy must have at most {FUEL} instructions")
        register = self.free[kind].pop() if self.free[kind] else self.fresh(node)
        self.temporary.append((register, kind))
        return register

    def release(self) -> None:
        """A statement has ended: its values are no longer needed."""
        for register, kind in self.temporary:
            self.free[kind].append(register)
        self.temporary.clear()

    def result(self, node: ast.AST, kind: Type, text: str) -> Typed:
        """Compute a value of this type."""
        register = self.to(node, kind)
        self.code.add(f"{register} = {text}")
        return register, kind

    def value(self, node: ast.expr) -> Typed:
        """Translate an expression."""
        match node:
            case ast.Constant():
                return self.constant(node)
            case ast.Name():
                return self.name(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Subscript():
                path, kind = self.of_queue(node)
                return self.result(node, kind, path)
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
                return self.binary(node, OPERATORS[type(operator)], left, right)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                register = self.boolean(operand)
                return self.result(node, "bool", f"not {register}")
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return self.constant(ast.copy_location(ast.Constant(-number), node))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                register, kind = self.number(operand)
                return self.result(node, kind, f"neg {register}")
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.number(operand)
            case ast.Compare() | ast.BoolOp():
                return self.condition(node)
            case ast.IfExp():
                return self.conditional(node)
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self.call(node, function, arguments)
            case _:
                return self.text.refuse(node, f"this cannot be translated; allowed are {EXPRESSIONS}")

    def constant(self, node: ast.Constant) -> Typed:
        """Translate a number, True or False."""
        value = node.value
        if isinstance(value, bool):
            return self.result(node, "bool", str(value).lower())
        if isinstance(value, int) and -(2**63) <= value < 2**63:
            return self.result(node, "int", str(value))
        if isinstance(value, float) and value - value == 0:
            return self.result(node, "float", repr(value))
        return self.text.refuse(node, "a constant must be True, False, an integer of 64 bits or a finite float")

    def is_known(self, node: ast.expr) -> bool:
        """Return whether a name, or the owner of an attribute, belongs to the function."""
        owner = node.value if isinstance(node, ast.Attribute) else node
        return isinstance(owner, ast.Name) and (owner.id in self.locals or owner.id in self.arguments)

    def name(self, node: ast.Name) -> Typed:
        """Translate a name, which must have a value on every path."""
        if node.id in self.assigned:
            return self.locals[node.id]
        if node.id in self.locals:
            return self.text.refuse(node, f"{node.id} must be assigned on every path before it is read")
        return self.text.refuse(
            node, f"unknown name {node.id}: a value from outside must be a parameter, as in params={{{node.id!r}: 0.5}}"
        )

    def attribute(self, node: ast.Attribute) -> Typed:
        """Translate x.NAME or s.NAME."""
        owner = node.value.id if isinstance(node.value, ast.Name) else None
        if owner is not None and owner == self.state_name:
            path, kind = self.state(node, node.attr)
            return self.result(node, kind, path)
        if owner != self.arrival:
            return self.text.refuse(node, f"only {self.arrival}.NAME and declared state can be read")
        if node.attr in self.names.params:
            self.code.params.add(node.attr)
            return self.result(node, self.names.params[node.attr], f"params.{node.attr}")
        known = attributes_of(self.code.hook)
        if node.attr not in known:
            allowed = ", ".join([*known, *self.names.params])
            meant_by = ELSEWHERE.get(node.attr)
            near = [meant_by] if meant_by in known else get_close_matches(node.attr, known, n=1)
            if AS_STATE.get(node.attr) in self.names.state:
                self.text.refuse(node, f"{node.attr} is state of the control: write s.{AS_STATE[node.attr]}")
            meant = f"; did you mean {near[0]}?" if near else ""
            return self.text.refuse(node, f"unknown attribute {node.attr}{meant} (allowed: {allowed})")
        if why := refusal(node.attr, self.code.hook, self.names.asks):
            return self.text.refuse(node, why)
        self.code.look(node.attr)
        return self.result(node, known[node.attr], f"x.{node.attr}")

    def state(self, node: ast.expr, name: str) -> Typed:
        """The path of a declared value of state."""
        if name in self.names.state:
            return f"state.{name}", self.names.state[name]
        if name in self.names.per_queue:
            if self.code.hook in BY_NUMBER:
                self.text.refuse(node, f"{name} needs the number of a queue, as in {self.state_name}.{name}[0]")
            self.code.looks_at.add("queues")
            return f"queue.{name}", self.names.per_queue[name]
        if name in self.names.per_vc:
            if self.code.hook == "tick":
                self.text.refuse(node, f"{name} belongs to circuits, and a clock has none; use state or per_queue")
            return f"vc.{name}", self.names.per_vc[name]
        allowed = ", ".join([*self.names.state, *self.names.per_vc, *self.names.per_queue]) or "none"
        return self.text.refuse(
            node, f"unknown state {name}: declare it in state, per_vc or per_queue (declared: {allowed})"
        )

    def of_queue(self, node: ast.Subscript) -> Typed:
        """The path of state of a queue, s.NAME[QUEUE]."""
        owner = node.value
        if not (isinstance(owner, ast.Attribute) and self.is_state(owner) and self.code.hook in BY_NUMBER):
            self.text.refuse(node, "only state of queues has an index, as in s.NAME[0], in schedulers and push-out")
        if owner.attr not in self.names.per_queue:
            allowed = ", ".join(self.names.per_queue) or "none"
            self.text.refuse(
                owner, f"unknown state of queues {owner.attr}: declare it in per_queue (declared: {allowed})"
            )
        return f"queue.{owner.attr}[{self.integer(node.slice)}]", self.names.per_queue[owner.attr]

    def is_state(self, node: ast.Attribute) -> bool:
        """Return whether an attribute belongs to the state."""
        return isinstance(node.value, ast.Name) and node.value.id == self.state_name

    def integer(self, node: ast.expr) -> str:
        """Translate an expression that must be the number of a queue."""
        register, kind = self.value(node)
        if kind != "int":
            self.text.refuse(node, f"the number of a queue must be int, not {kind}")
        return register

    def queues(self, node: ast.Call, name: str, arguments: Sequence[ast.expr]) -> Typed:
        """Translate a question about queues: a property of one, or the search for one."""
        match name, arguments:
            case _, [queue] if name in PROPERTIES:
                if name == "octets" and self.code.hook != "serve":
                    self.text.refuse(node, "octets are seen only by the function that chooses a queue to serve")
                return self.result(node, PROPERTIES[name], f"x.{name}[{self.integer(queue)}]")
            case "longest", []:
                return self.result(node, "int", "longest")
            case "next_backlogged", [after]:
                return self.result(node, "int", f"next_backlogged {self.integer(after)}")
            case "least", [ast.Attribute() as state] if self.is_state(state) and state.attr in self.names.per_queue:
                return self.result(node, "int", f"least queue.{state.attr}")
            case _:
                return self.text.refuse(node, f"this cannot be asked; allowed are {QUESTIONS}")

    def number(self, node: ast.expr) -> Typed:
        """Translate an expression that must be a number."""
        register, kind = self.value(node)
        if kind == "bool":
            self.text.refuse(node, "a number is needed, not a bool")
        return register, kind

    def promoted(self, node: ast.AST, register: str, kind: Type, wanted: Type) -> str:
        """The value as one of another type, which a float can be of an integer."""
        if kind == wanted:
            return register
        if (kind, wanted) == ("int", "float"):
            return self.result(node, "float", f"float {register}")[0]
        return self.text.refuse(
            node, f"this must be {wanted}, not {kind}; a name or state keeps the type of its first value"
        )

    def alike(self, left: ast.expr, right: ast.expr) -> tuple[str, str, Type]:
        """Two numbers of one type."""
        (one, first), (other, second) = self.number(left), self.number(right)
        return *self.both(left, (one, first), right, (other, second)), _common(first, second)

    def both(self, left: ast.expr, one: Typed, right: ast.expr, other: Typed) -> tuple[str, str]:
        """Two values as ones of their common type."""
        wanted = _common(one[1], other[1])
        return self.promoted(left, *one, wanted), self.promoted(right, *other, wanted)

    def binary(self, node: ast.expr, operator: str, left: ast.expr, right: ast.expr) -> Typed:
        """Translate an operation of two numbers."""
        one, other, kind = self.alike(left, right)
        if operator == "**" and not _is_constant(right):
            self.text.refuse(right, "the exponent must be a constant; write pow(a, b) for floats")
        if kind == "int" and (operator == "/" or (operator == "**" and _is_negative(right))):
            one, other = self.promoted(left, one, kind, "float"), self.promoted(right, other, kind, "float")
            kind = "float"
        return self.result(node, kind, f"{one} {operator} {other}")

    def call(self, node: ast.Call, function: ast.expr, arguments: Sequence[ast.expr]) -> Typed:
        """Translate a call of one of the functions."""
        name = (
            function.id
            if isinstance(function, ast.Name)
            else function.attr
            if isinstance(function, ast.Attribute)
            else ""
        )
        owner = (
            function.value.id if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) else None
        )
        if owner == self.arrival and name == "draw" and not arguments:
            if self.code.hook in ("ack", "loss"):
                self.text.refuse(node, "a congestion control has no random numbers")
            return self.result(node, "float", "draw")
        if owner == self.arrival and self.code.hook == "arrival" and name in IN_MEMORIES:
            self.code.looks_at.add("queues")
            return self.queues(node, name, arguments)
        if owner == self.arrival and self.code.hook in BY_NUMBER:
            if name not in PROPERTIES and self.code.hook not in CHOOSES:
                self.text.refuse(node, "only the function that chooses a queue can look for one")
            return self.queues(node, name, arguments)
        if owner not in (None, "math") or name not in FUNCTIONS:
            self.text.refuse(
                node, f"this cannot be called; allowed are {self.arrival}.draw() and {', '.join(FUNCTIONS)}"
            )
        if name in ("min", "max") and len(arguments) >= 2:
            return self.extreme(node, name, arguments)
        if name == "pow" and len(arguments) == 2:
            one, other, kind = self.alike(*arguments)
            floats = (self.promoted(node, each, kind, "float") for each in (one, other))
            return self.result(node, "float", " ** ".join(floats))
        if name in ("min", "max", "pow") or len(arguments) != 1:
            self.text.refuse(node, f"{name} must have {'two values' if name in ('min', 'max', 'pow') else 'one value'}")
        return self.function(node, name, arguments[0])

    def function(self, node: ast.Call, name: str, argument: ast.expr) -> Typed:
        """Translate a function of one number."""
        register, kind = self.number(argument)
        if name in ("int", "float") and kind == name:
            return register, kind
        if name in ("sqrt", "exp", "log"):
            register, kind = self.promoted(argument, register, kind, "float"), "float"
        results: dict[str, Type] = {"int": "int", "float": "float"}
        return self.result(node, results.get(name, kind), f"{name} {register}")

    def extreme(self, node: ast.Call, name: str, arguments: Sequence[ast.expr]) -> Typed:
        """Translate min and max of two or more numbers of one type."""
        values = [self.number(argument) for argument in arguments]
        wanted: Type = "float" if any(kind == "float" for _, kind in values) else "int"
        register, *others = (
            self.promoted(argument, *value, wanted) for argument, value in zip(arguments, values, strict=True)
        )
        for other in others:
            register, _ = self.result(node, wanted, f"{name} {register} {other}")
        return register, wanted

    def conditional(self, node: ast.IfExp) -> Typed:
        """Translate A if C else B."""
        otherwise, end = self.code.place(), self.code.place()
        self.jump_unless(node.test, otherwise)
        one, kind = self.value(node.body)
        into = self.to(node, kind)
        self.code.add(f"{into} = {one}")
        self.code.jump(end)
        self.code.put(otherwise)
        other, second = self.value(node.orelse)
        if second != kind:
            self.text.refuse(node, f"both values must have one type, not {kind} and {second}")
        self.code.add(f"{into} = {other}")
        self.code.put(end)
        return into, kind

    def boolean(self, node: ast.expr) -> str:
        """Translate an expression that must be a bool."""
        register, kind = self.value(node)
        if kind != "bool":
            self.text.refuse(node, f"a condition must be a bool, not {kind}: compare it, as in > 0")
        return register

    def jump_unless(self, node: ast.expr, to: Place) -> None:
        """Jump if a condition is false; as in Python, parts behind a false one are not computed."""
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                for value in values:
                    self.jump_unless(value, to)
            case ast.Compare(left=left, ops=operators, comparators=others):
                self.chain(node, [left, *others], operators, to)
            case ast.BoolOp():
                self.code.unless(self.condition(node)[0], to)
            case _:
                self.code.unless(self.boolean(node), to)

    def chain(self, node: ast.Compare, parts: Sequence[ast.expr], operators: Sequence[ast.cmpop], to: Place) -> None:
        """Jump unless each part compares with the next one, which is computed once."""
        left = self.number(parts[0])
        for index, operator in enumerate(operators):
            if type(operator) not in COMPARISONS:
                self.text.refuse(node, f"this cannot be compared; allowed are {' '.join(COMPARISONS.values())}")
            right = self.number(parts[index + 1])
            one, other = self.both(parts[index], left, parts[index + 1], right)
            register, _ = self.result(node, "bool", f"{one} {COMPARISONS[type(operator)]} {other}")
            self.code.unless(register, to)
            left = right

    def condition(self, node: ast.expr) -> Typed:
        """Translate a comparison, `and` or `or` to a bool."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return self.either(node, node.values)
        into, false = self.to(node, "bool"), self.code.place()
        self.code.add(f"{into} = false")
        self.jump_unless(node, false)
        self.code.add(f"{into} = true")
        self.code.put(false)
        return into, "bool"

    def either(self, node: ast.expr, values: Sequence[ast.expr]) -> Typed:
        """Translate `or`."""
        into, end = self.to(node, "bool"), self.code.place()
        self.code.add(f"{into} = true")
        for value in values:
            following = self.code.place()
            self.jump_unless(value, following)
            self.code.jump(end)
            self.code.put(following)
        self.code.add(f"{into} = false")
        self.code.put(end)
        return into, "bool"


def _common(one: Type, other: Type) -> Type:
    return "int" if one == other == "int" else "float"


def _is_constant(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


def _is_negative(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
