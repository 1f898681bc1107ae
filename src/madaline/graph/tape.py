"""Operations that were traced before are found again by their form, without making the graph anew.

``md.grad(f)(x)`` runs ``f`` at every call, since ``f`` may take another path or use other arrays. Most calls are like
an earlier one. So each traced value has a *form*: how it is computed, from which forms, down to the shapes and types of
the arguments. An operation on values whose forms are known is one look into a table. It gives a node that knows its
form and its operands; primitive, inputs and the rest are filled in when somebody asks for them, which nobody does if
the program of the derivative is known for the form of the result.

Numbers of Python are part of a form. Arrays are not: they belong to the tape, of which each call has its own. Two
values of one tape with the same form are equal. The table is a dict, whose keys hold everything on which the graph of
an operation depends, so a form is never taken for another one.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

import numpy as np

from madaline.graph.memory import View
from madaline.graph.node import ASKED, BOOL, CONSTANT, FLOAT32, FLOAT64, INT64, Node, constant, topological_order
from madaline.graph.primitive import Primitive
from madaline.graph.primitives.rules import CUSTOM_DERIVATIVE
from madaline.graph.shapes import Shape

MAX_FORMS = 20_000
"When a tape begins, a table with more forms becomes the older one: what is not used again until the next is removed."

Key = tuple[Any, ...]
Ref = int | Node
"An input of a step: an operand (0, 1, ...), an earlier step (-1, -2, ...), or a constant number."
Step = tuple[Primitive, tuple[Ref, ...], dict[str, Any], Shape, np.dtype[Any]]


class Form:
    """How a value is computed from operands: the nodes of the graph in order, the value itself last.

    ``view`` is set where NumPy gives a view of the first operand: the function that makes it, and if it is read-only.
    """

    __slots__ = ("dtype", "shape", "steps", "view")

    def __init__(self, shape: Shape, dtype: np.dtype[Any], steps: tuple[Step, ...] = (), view: Any = None) -> None:
        self.shape = shape
        self.dtype = dtype
        self.steps = steps
        self.view = view


class _Tables:
    """The forms of all tapes."""

    def __init__(self) -> None:
        self.forms: dict[Key, Form] = {}
        self.older: dict[Key, Form] = {}
        self.refused: set[Key] = set()
        "Operations whose graph has arrays of its own or depends on values, so that it cannot be made from a form."

    def renew(self) -> None:
        """Forget what was not used for long. Tapes that are open go on with the tables they began with."""
        self.older, self.forms, self.refused = self.forms, {}, set()


_TABLES = _Tables()


class Tape:
    """One call of a function that is traced: its arrays, and the table of forms."""

    __slots__ = ("_numbers", "_older", "_refused", "arrays", "forms", "written")

    def __init__(self) -> None:
        if len(_TABLES.forms) > MAX_FORMS:
            _TABLES.renew()
        self.forms, self._older, self._refused = _TABLES.forms, _TABLES.older, _TABLES.refused
        self.arrays: list[np.ndarray] = []
        "The constant arrays, in the order in which they were first used."
        self._numbers: dict[int, int] = {}
        self.written: list[Node] = []
        "The arrays that were written in place. Then nodes do not stand for their form any more."

    def find(self, key: Key) -> Form | None:
        """A form that was used before."""
        form = self.forms.get(key)
        if form is None:
            form = self._older.get(key)
            if form is not None:
                self.forms[key] = form
        return form

    def input(self, node: Node) -> Form:
        """Let an argument of the function belong to this tape."""
        key = ("input", node.params["index"], node.shape, node.dtype)
        node.form = self._found(key, node)
        node.tape = self
        return node.form

    def array(self, value: np.ndarray) -> Node | None:
        """A constant for an array; None for arrays of other types and without axes."""
        dtype = value.dtype
        if not value.ndim or not (dtype is FLOAT64 or dtype is FLOAT32 or dtype is BOOL or dtype is INT64):
            return None
        node = constant(value)
        if node.tape is not self:
            node.form = self._constant(node)
            node.tape = self
        return node

    def learn(self, key: Key, operands: tuple[Node, ...], rule: Callable[..., Any], *args: Any) -> Any:
        """``rule(*args)``, the result of an operation that was not known, with its form."""
        asked = ASKED.count
        result = rule(*args)
        if ASKED.count != asked:
            self._refused.add(key)
        if type(result) is not Node or result.tape is not None or key in self._refused:
            return self.adopt(result)
        form = self.find(key)
        if form is None:
            steps = _steps(result, operands)
            if steps is None:
                self._refused.add(key)
                return self.adopt(result)
            memory = result.memory
            view = (memory.apply, memory.read_only) if isinstance(memory, View) else None
            form = self.forms[key] = Form(result.shape, result.dtype, steps, view)
        result.form, result.tape = form, self
        return result

    def adopt(self, result: Any) -> Any:
        """``result``, with a form for each node that it consists of, where all that it depends on is of this tape."""
        if type(result) is Node:
            self.form_of(result)
        elif type(result) is list or type(result) is tuple:
            for item in result:
                if type(item) is Node:
                    self.form_of(item)
        return result

    def form_of(self, result: Node) -> Form | None:
        """The form of a value; None if it depends on arguments of another call, or on a rule by hand."""
        if result.tape is self:
            return result.form
        constants: dict[int, Form] = {}
        pending = [result]
        while pending:
            node = pending[-1]
            if node.tape is self or id(node) in constants:
                pending.pop()
                continue
            if node.tape is None and node.primitive is CONSTANT:
                constants[id(node)] = self._constant(node)
                continue
            # A rule by hand may hold arrays, which a table must not keep; its programs are not kept either.
            if node.tape is not None or not node.inputs or node.primitive is CUSTOM_DERIVATIVE:
                if result.tape is None:
                    result.tape = FOREIGN
                return None
            missing = [item for item in node.inputs if item.tape is not self and id(item) not in constants]
            if missing:
                pending.extend(missing)
                continue
            forms = [item.form if item.tape is self else constants[id(item)] for item in node.inputs]
            shared = node.memory.read_only if isinstance(node.memory, View) else None
            node.form = self._found((node.primitive, *forms, node.dtype, shared, *node.params.items()), node)
            node.tape = self
        return result.form if result.tape is self else constants[id(result)]

    def forms_of(self, outputs: list[Node]) -> tuple[Form, ...] | None:
        """The forms of some values; None if one depends on arguments of another call."""
        forms: list[Form] = []
        for output in outputs:
            form = output.form if output.tape is self else self.form_of(output)
            if form is None:
                return None
            forms.append(form)
        return tuple(forms)

    def _found(self, key: Key, node: Node) -> Form:
        form = self.find(key)
        if form is None:
            form = self.forms[key] = Form(node.shape, node.dtype)
        return form

    def _constant(self, node: Node) -> Form:
        """The form of a constant: a number by its value, an array by its place among the arrays of this call."""
        value = node.params["value"]
        if value.ndim == 0:
            return self._found(("number", value.dtype, value.tobytes()), node)
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self.arrays)
            self.arrays.append(value)
        return self._found(("array", number, value.shape, value.dtype), node)


class _Foreign(Tape):
    """What values without a form belong to, so that it is not looked for again."""

    def __init__(self) -> None:
        super().__init__()
        self.written = [constant(0.0)]

    def form_of(self, result: Node) -> Form | None:
        return None


FOREIGN = _Foreign()


def _steps(result: Node, operands: tuple[Node, ...]) -> tuple[Step, ...] | None:
    """The nodes between some operands and a result; None if others than numbers take part."""
    place: dict[int, Ref] = {id(node): number for number, node in enumerate(operands)}
    steps: list[Step] = []
    for node in topological_order([result], set(place)):
        if node.primitive is CONSTANT and not node.shape:
            place[id(node)] = node
        elif node.inputs:
            inputs = tuple([place[id(item)] for item in node.inputs])
            place[id(node)] = ~len(steps)
            steps.append((node.primitive, inputs, node.params, node.shape, node.dtype))
        else:
            return None
    return tuple(steps) if steps and not isinstance(place[id(result)], Node) else None


def fill_in(node: Node, name: str) -> Any:
    """An attribute of a node that knows only its form."""
    form: Form = node.form
    if name == "shape":
        node.shape = form.shape
    elif name == "dtype":
        node.dtype = form.dtype
    elif name == "known":
        node.known = None
    elif name == "memory":
        node.memory = None if form.view is None else View(node.operands[0], *form.view)
    else:
        _make(node, form)
    return getattr(node, name)


def _make(node: Node, form: Form) -> None:
    """The graph between a node and its operands."""
    operands = node.operands
    made: list[Node] = []
    *before, (primitive, refs, params, _, _) = form.steps
    for earlier, earlier_refs, earlier_params, shape, dtype in before:
        made.append(Node(earlier, _inputs(earlier_refs, operands, made), earlier_params, shape, dtype))
    node.inputs = _inputs(refs, operands, made)
    node.params = params
    node.primitive = primitive


def _inputs(refs: tuple[Ref, ...], operands: tuple[Node, ...], made: list[Node]) -> tuple[Node, ...]:
    return tuple([(operands[ref] if ref >= 0 else made[~ref]) if type(ref) is int else ref for ref in refs])  # type: ignore[misc]  # int or Node


def merged(outputs: list[Node]) -> list[Node]:
    """The outputs over a graph in which equal computations are one node, and which belongs to no tape.

    The program that is kept for some forms must not depend on whether a value was computed once or twice.
    """
    first: dict[Key, Node] = {}
    new: dict[int, Node] = {}
    order = topological_order(outputs)
    for node in order:
        if node.inputs:
            inputs = tuple([new[id(item)] for item in node.inputs])
            key: Key = (node.primitive, *map(id, inputs), node.dtype, *node.params.items())
            same = all(map(is_, inputs, node.inputs))
            found = node if same else Node(node.primitive, inputs, node.params, node.shape, node.dtype)
        elif node.primitive is CONSTANT:
            value = node.params["value"]
            key, found = (value.dtype, id(value) if value.ndim else value.tobytes()), node
        else:
            key, found = (id(node),), node
        new[id(node)] = first.setdefault(key, found)
    for node in order:
        node.tape = None
    return [new[id(node)] for node in outputs]
