"""What is done with traced values: operators, functions and indices, by their form if it is known, else by their rules.

Everything here is called once for each operation of a traced function, so it is written for speed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.graph.node import Node
from madaline.graph.numpy_api.dispatch import UFUNCS, call_function, call_ufunc
from madaline.graph.numpy_api.indexing import getitem
from madaline.graph.tape import Form, Key, Tape

_new = Node.__new__
_SAME = "same node"
"In a key, for a node that is an operand twice."


def _node(form: Form, operands: tuple[Node, ...], tape: Tape) -> Node:
    """A node that knows its form only."""
    node = _new(Node)
    node.form, node.operands, node.tape = form, operands, tape
    return node


def operate(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """``ufunc(a, b)``, one of them traced."""
    kind_a, kind_b = type(a), type(b)
    tape: Tape | None = a.tape if kind_a is Node else b.tape if kind_b is Node else None
    if tape is None or tape.written:
        return _by_rule(ufunc, a, b, tape)
    key: Key
    operands: tuple[Node, ...]
    if kind_a is Node:
        if kind_b is Node:
            if b.tape is not tape:
                return _by_rule(ufunc, a, b, tape)
            # Two nodes of one form are equal, but may be two arguments by which nested derivatives are taken.
            key, operands = (ufunc, a.form, b.form if a is not b else _SAME), (a, b)
        elif kind_b is float and b:
            key, operands = (ufunc, a.form, b), (a,)
        elif kind_b is np.ndarray:
            array = tape.array(b)
            if array is None:
                return _by_rule(ufunc, a, b, tape)
            b = array
            key, operands = (ufunc, a.form, array.form), (a, array)
        else:
            number = _number(kind_b, b)
            if number is None:
                return _by_rule(ufunc, a, b, tape)
            key, operands = (ufunc, a.form, number), (a,)
    elif kind_a is float and a:
        key, operands = (ufunc, a, b.form), (b,)
    elif kind_a is np.ndarray:
        array = tape.array(a)
        if array is None:
            return _by_rule(ufunc, a, b, tape)
        a = array
        key, operands = (ufunc, array.form, b.form), (array, b)
    else:
        number = _number(kind_a, a)
        if number is None:
            return _by_rule(ufunc, a, b, tape)
        key, operands = (ufunc, number, b.form), (b,)
    form = tape.forms.get(key)
    if form is None:
        return tape.learn(key, operands, _by_rule, ufunc, a, b, None)
    node = _new(Node)
    node.form, node.operands, node.tape = form, operands, tape
    return node


def _number(kind: type, value: Any) -> Any:
    """What a number is in a key: never equal to another kind of number, nor 0.0 to -0.0; None for other values."""
    if kind is int or kind is bool or kind is np.int64 or kind is np.bool_:
        return kind, value
    if kind is float or kind is np.float64 or kind is np.float32:
        return kind, value or str(value)
    return None


_PLAIN = frozenset({Node, float, int})


def _by_rule(ufunc: np.ufunc, a: Any, b: Any, tape: Tape | None) -> Any:
    """``ufunc(a, b)`` by the rules; without a detour through NumPy where both are traced or numbers."""
    if type(a) in _PLAIN and type(b) in _PLAIN and ufunc in UFUNCS:
        result = UFUNCS[ufunc](a, b)
    else:
        result = call_ufunc(ufunc, "__call__", (a, b), {})
    return result if tape is None else tape.adopt(result)


def array_ufunc(self: Node, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy calls for ``np.exp(x)``, ``a + x`` and the like."""
    tape = self.tape
    if tape is None:
        return call_ufunc(ufunc, method, inputs, kwargs)
    if method == "__call__" and not kwargs and not tape.written:
        if len(inputs) == 2:
            return operate(ufunc, *inputs)
        if len(inputs) == 1:
            key = (ufunc, self.form)
            form = tape.forms.get(key)
            if form is None:
                return tape.learn(key, (self,), call_ufunc, ufunc, method, inputs, kwargs)
            node = _new(Node)
            node.form, node.operands, node.tape = form, (self,), tape
            return node
    return tape.adopt(call_ufunc(ufunc, method, inputs, kwargs))


OF_ONE = frozenset(
    {
        np.cumsum, np.trace, np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze,
        np.broadcast_to, np.flip, np.roll, np.tile, np.copy, np.zeros_like, np.ones_like, np.linalg.norm, np.tril,
        np.triu, np.diag, np.diagonal,
    }
)  # fmt: skip
"Functions of one array. Their other arguments are part of the graph, so they have a form if these are plain numbers."

OF_SEVERAL = frozenset(
    {
        np.sum, np.mean, np.prod, np.max, np.amax, np.min, np.amin, np.var, np.std, np.diff, np.concatenate, np.stack,
        np.hstack, np.vstack, np.column_stack, np.dot, np.vdot, np.inner, np.outer, np.tensordot, np.einsum, np.where,
        np.clip,
    }
)  # fmt: skip
"Functions of several arrays whose graph depends on their shapes and types, and on the numbers among the arguments."

PURE = OF_ONE | OF_SEVERAL

_WORDS = frozenset({int, str, type(None), type(Ellipsis)})


def array_function(self: Node, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy calls for ``np.sum(x)`` and every other function that is not a ufunc."""
    tape = self.tape
    if tape is None:
        return call_function(function, args, kwargs)
    if function not in PURE or tape.written:
        return tape.adopt(call_function(function, args, kwargs))
    parts: list[Any] = [function]
    operands: list[Node] = []
    known = _describe(args, parts, operands, tape)
    for name, value in kwargs.items():
        parts.append(name)
        known = known and _describe((value,), parts, operands, tape)
    if not known or (len(operands) > 1 and function in OF_ONE):
        return tape.adopt(call_function(function, args, kwargs))
    if len(operands) > 1:
        places = {id(node): place for place, node in enumerate(operands)}
        if len(places) < len(operands):
            parts.append(tuple([places[id(node)] for node in operands]))
    key = tuple(parts)
    form = tape.forms.get(key)
    if form is None:
        return tape.learn(key, tuple(operands), call_function, function, args, kwargs)
    return _node(form, tuple(operands), tape)


def _describe(args: Any, parts: list[Any], operands: list[Node], tape: Tape) -> bool:
    """Add some arguments to a key; False if there is one that has no form."""
    for arg in args:
        kind = type(arg)
        if kind is Node:
            if arg.tape is not tape:
                return False
            parts.append(arg.form)
            operands.append(arg)
        elif kind in _WORDS:
            parts.append(arg)
        elif kind is tuple or kind is list:
            parts.append((kind, len(arg)))
            if not _describe(arg, parts, operands, tape):
                return False
        elif kind is np.ndarray:
            # Integers may be a shape or positions, which are part of the graph.
            array = tape.array(arg) if arg.dtype.kind in "fb" else None
            if array is None:
                return False
            parts.append(array.form)
            operands.append(array)
        else:
            number = _number(kind, arg)
            if number is None:
                return False
            parts.append(number)
    return True


def get_item(x: Node, index: Any) -> Any:
    """``x[index]``."""
    tape = x.tape
    if tape is None:
        return getitem(x, index)
    if tape.written:
        return tape.adopt(getitem(x, index))
    key = _index_key(x.form, index)
    if key is None:
        return tape.adopt(getitem(x, index))
    form = tape.forms.get(key)
    if form is None:
        return tape.learn(key, (x,), getitem, x, index)
    return _node(form, (x,), tape)


_PARTS = frozenset({int, type(None), type(Ellipsis)})


def _index_key(form: Form, index: Any) -> Key | None:
    """The key of an index of integers, slices, None and ``...``; None for others."""
    kind = type(index)
    if kind is int:
        return (getitem, form, index)
    parts: list[Any] = [getitem, form, kind]
    for item in index if kind is tuple else (index,):
        if type(item) is slice:
            if not (type(item.start) in _PARTS and type(item.stop) in _PARTS and type(item.step) in _PARTS):
                return None
            parts += (slice, item.start, item.stop, item.step)
        elif type(item) in _PARTS:
            parts.append(item)
        else:
            return None
    return tuple(parts)
