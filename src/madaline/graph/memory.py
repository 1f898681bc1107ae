"""In-place changes of traced arrays, with NumPy's rules: views share memory, and a write is seen through all of them.

A graph has no memory: nodes never change. So an array that is written to keeps a table of which node each of its
elements comes from now. Reading it gives a node made of these pieces, and a view reads the elements it shows. Which
elements a view shows is found by applying the same view to an array of positions, so it is what NumPy does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from madaline.errors import ShapeError, TraceError
from madaline.graph.arrays import Array, Operand
from madaline.graph.node import BOOL, INPUT, Node, as_node, constant, known_value
from madaline.graph.object_arrays import as_traced, refuse_shared
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.shapes import is_symbolic, show

_FROZEN: ContextVar[bool] = ContextVar("nodes stand for the value they were made with", default=False)
_WRITTEN: ContextVar[list[Node] | None] = ContextVar("arrays written in open traces", default=None)


@contextmanager
def frozen() -> Iterator[None]:
    """Let nodes stand for the value they were made with, as in the rules of differentiation."""
    token = _FROZEN.set(True)
    try:
        yield
    finally:
        _FROZEN.reset(token)


class Writable:
    """While a function is traced, its arrays can be written to; once closed, nodes stand for themselves again."""

    __slots__ = ("_active", "_outermost", "_token")

    def __init__(self) -> None:
        self._outermost = _WRITTEN.get() is None
        self._token = _WRITTEN.set([] if self._outermost else _WRITTEN.get())
        self._active = _FROZEN.set(False)

    def close(self) -> None:
        """End the time in which arrays can be written to."""
        if self._outermost:
            for node in _WRITTEN.get() or ():
                node.memory = None
        _FROZEN.reset(self._active)
        _WRITTEN.reset(self._token)


def is_writable() -> bool:
    """Whether a function is being traced, so that its arrays can be written to."""
    return _WRITTEN.get() is not None


def written_arrays() -> list[Node]:
    """The arrays that were written in the open trace; the list grows."""
    written = _WRITTEN.get()
    return [] if written is None else written


class View:
    """The memory of an array that is a view of another one, or would be a copy where NumPy makes one."""

    __slots__ = ("_positions", "_seen", "apply", "base", "read_only")

    def __init__(self, base: Node, apply: Callable[[Any], Any], read_only: bool = False) -> None:
        self.base = base
        self.apply = apply
        self.read_only: bool = read_only or (isinstance(base.memory, View) and base.memory.read_only)
        self._positions: Any = None
        self._seen: tuple[int, Node] | None = None

    def positions(self) -> np.ndarray | None:
        """The positions of its elements in the memory of the owner; None if NumPy makes a copy."""
        if self._positions is None:
            whole = positions_of(self.base)
            shown = self.apply(whole)
            if shown.ndim != whole.ndim and shown.size > 1 and whole.ndim > 1 and _may_be_transposed(_owner(self.base)):
                _refuse_if_order_matters(whole, self.apply)
            self._positions = (shown if np.may_share_memory(shown, whole) else None,)
        found: np.ndarray | None = self._positions[0]
        return found

    def now(self, node: Node) -> Node:
        """The node for the present content."""
        root = None if _FROZEN.get() else _written_owner(node)
        if root is None:
            return node
        shown, memory = positions_of(node), root.memory
        if memory.is_original(shown):
            return node
        if self._seen is None or self._seen[0] != memory.version:
            self._seen = (memory.version, memory.read(shown))
        return self._seen[1]


class Memory:
    """The memory of an array that was written to: for every element, from which piece it comes and from where in it."""

    __slots__ = ("_offset", "_piece", "_pieces", "_positions", "_seen", "version")

    def __init__(self, node: Node) -> None:
        self._positions = np.arange(node.size).reshape(node.shape)
        self.version = 0
        self._pieces: list[Node] = [_flat(node)]
        self._piece = np.zeros(node.size, np.int64)
        self._offset = np.arange(node.size)
        self._seen: tuple[int, Node] = (0, node)

    def positions(self) -> np.ndarray:
        """The positions of all elements."""
        return self._positions

    def now(self, node: Node) -> Node:
        """The node for the present content."""
        if _FROZEN.get():
            return node
        if self._seen[0] != self.version:
            self._seen = (self.version, self.read(self._positions))
        return self._seen[1]

    def is_original(self, positions: np.ndarray) -> bool:
        """Whether none of these elements was written."""
        return not self._piece[positions].any()

    def write(self, positions: np.ndarray, value: Node) -> None:
        """Put a value (of these positions' shape, or one number) in the place of these elements."""
        self._offset[positions] = 0 if value.size == 1 else np.arange(positions.size).reshape(positions.shape)
        self._piece[positions] = len(self._pieces)
        self._pieces.append(_flat(value))
        self.version += 1

    def read(self, positions: np.ndarray) -> Node:
        """A node of these elements."""
        if not positions.size:
            return constant(np.zeros(positions.shape, dtype=self._pieces[0].dtype))
        with frozen():
            used, numbers = np.unique(self._piece[positions.ravel()], return_inverse=True)
            pieces = [self._pieces[number] for number in used]
            sizes = [piece.shape[0] for piece in pieces]
            index = np.concatenate([[0], np.cumsum(sizes)])[:-1][numbers] + self._offset[positions.ravel()]
            joined: Any = np.concatenate(pieces) if len(pieces) != 1 else pieces[0]
            if np.array_equal(index, np.arange(index[0], index[0] + index.size)):
                joined = joined[int(index[0]) : int(index[0]) + index.size]
            else:
                joined = PRIMITIVES["take"](joined, constant(index), axis=0)
            return as_node(PRIMITIVES["reshape"](joined, shape=positions.shape))


def _flat(node: Node) -> Node:
    with frozen():
        return as_node(PRIMITIVES["reshape"](node, shape=(node.size,)))


def positions_of(node: Node) -> np.ndarray:
    """The positions of an array's elements in the memory it belongs to."""
    memory = node.memory
    shown = memory.positions() if isinstance(memory, (View, Memory)) else None
    return np.arange(node.size).reshape(node.shape) if shown is None else shown


def _owner(node: Node) -> Node:
    """The array whose memory a node shows: itself, or the one it is a view of."""
    while isinstance(node.memory, View) and node.memory.positions() is not None:
        node = node.memory.base
    return node


def _written_owner(node: Node) -> Node | None:
    """The owner of the memory if it was written to, else None."""
    base = node
    while isinstance(base.memory, View):  # positions are not needed unless something was written
        base = base.memory.base
    owner = _owner(node) if isinstance(base.memory, Memory) else base
    return owner if isinstance(owner.memory, Memory) else None


def _may_be_transposed(node: Node) -> bool:
    """Whether NumPy may store an array column by column, as it does for results of arrays that are transposed."""
    from madaline.graph.primitives.elementwise import Elementwise

    pending, seen = [node], 0
    while pending and seen < 100:
        node, seen = pending.pop(), seen + 1
        if node.primitive.name == "transpose":
            return True
        if node.primitive is INPUT and node.known is not None and not node.known.flags.c_contiguous:
            return True
        if isinstance(node.primitive, Elementwise):
            pending.extend(item for item in node.inputs if item.shape == node.shape)
    return False


def _refuse_if_order_matters(whole: np.ndarray, apply: Callable[[Any], Any]) -> None:
    """An error where a reshaped array would be a view or a copy, depending on how its elements are stored."""
    by_rows, by_columns = np.array(whole, order="C"), np.array(whole, order="F")
    if np.may_share_memory(apply(by_rows), by_rows) != np.may_share_memory(apply(by_columns), by_columns):
        raise TraceError(
            "An array made from a transposed one is written to, and a reshaped array of it may be a view or a copy, "
            "depending on how NumPy stores it. Write by index, y[i, j] = v, or make the array with np.zeros_like first."
        )


def mark_view(result: Any, base: Node, apply: Callable[[Any], Any], read_only: bool = False) -> Any:
    """``result``, which NumPy would make a view of ``base``."""
    if base.shape == () and base.memory is None and not read_only:
        return result  # a number, which NumPy copies
    if isinstance(result, Node):
        if result is not base and not is_symbolic(base.shape) and not is_symbolic(result.shape):
            result.memory = View(base, apply, read_only)
    elif isinstance(result, (list, tuple)):
        for number, item in enumerate(result):
            mark_view(item, base, functools.partial(_part, apply, number), read_only)
    return result


def _part(apply: Callable[[Any], Any], number: int, whole: Any) -> Node:
    return apply(whole)[number]


def read_item(node: Node, index: Any) -> Node | None:
    """``node[index]`` of an array that was written to, from its pieces; None if it was not, or the index is traced."""
    owner = None if _FROZEN.get() else _written_owner(node)
    if owner is None or any(isinstance(item, Node) for item in _items(index)):
        return None
    found: Node = owner.memory.read(np.asarray(positions_of(node)[index]))
    return found


def assign(node: Node, index: Any, value: Any) -> None:
    """``node[index] = value``."""
    if is_symbolic(node.shape):
        raise TraceError(
            "A batch whose number of rows is not known cannot be written in place. Write x = x + v for x += v, "
            "np.where(mask, new, x) for x[mask] = new, np.concatenate of its columns for x[:, 0] = new."
        )
    written = _WRITTEN.get()
    if written is None:
        raise TraceError("A traced array can be written in place only while its function runs.")
    if isinstance(node.memory, View) and node.memory.read_only:
        raise TraceError("This array is a read-only view, as in NumPy. Write to a copy: x = x.copy().")
    items: tuple[Any, ...] = tuple(_static(item) for item in _items(index))
    if any(isinstance(item, Node) for item in items):
        value, items = _masked(node, items, value), (Ellipsis,)
    owner = _owner(node)
    refuse_shared(owner, _owner)
    positions = np.asarray(positions_of(node)[items])
    new = as_node(value, node.dtype)
    from madaline.graph.primitives.elementwise import cast

    new = cast(new, node.dtype)
    if new.size != 1:
        new = _broadcast(new, positions.shape)
    if positions.size == 0:
        return
    if not isinstance(owner.memory, Memory):
        owner.memory = Memory(owner)
        written.append(owner)
    owner.memory.write(positions, new)


def add_at(node: Node, index: Any, values: Any) -> None:
    """``np.add.at(node, index, values)``: what goes to one place adds up."""
    items: tuple[Any, ...] = tuple(_static(item) for item in _items(index))
    if any(isinstance(item, Node) for item in items):
        raise TraceError("np.add.at with a traced index has no known place inside md.compile. Use np.where.")
    places = np.arange(node.size).reshape(node.shape)[items]
    given = _broadcast(as_node(values, node.dtype).astype(node.dtype), places.shape)
    moved = PRIMITIVES["scatter_add"](np.ravel(given), constant(places.ravel()), axis=0, size=node.size)
    assign(node, Ellipsis, node + moved.reshape(node.shape))


def _items(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _static(item: Any) -> Array:
    """An index by numbers, where they are known."""
    if isinstance(item, Node):
        value = known_value(item)
        return item if value is None else value
    return item


def _masked(node: Node, items: tuple[Any, ...], value: Any) -> Any:
    """The whole array after a write by a traced mask or position whose value is not known."""
    index = items[0]
    if len(items) == 1 and isinstance(index, Node) and np.ndim(value) == 0:
        if index.dtype == BOOL and index.shape == node.shape[: index.ndim]:
            return np.where(index.reshape(index.shape + (1,) * (node.ndim - index.ndim)), value, node)
        if index.ndim == 0 and index.dtype.kind == "i" and node.ndim == 1:
            return np.where(np.arange(len(node)) == np.where(index < 0, index + node.shape[0], index), value, node)
    raise TraceError(
        "x[index] = value with a traced index has no known place inside md.compile. Use np.where(mask, value, x), or "
        "call the function without md.compile."
    )


def _broadcast(value: Any, shape: tuple[int, ...]) -> Node:
    """A value in the shape of the elements it is assigned to, by NumPy's rules."""
    extra = value.ndim - len(shape)
    if extra > 0 and all(size == 1 for size in value.shape[:extra]):
        value = value.reshape(value.shape[extra:])
    try:
        result: Node = np.broadcast_to(value, shape)  # type: ignore[assignment]  # a node in, a node out
    except ShapeError:
        raise ShapeError(
            f"A value of shape {show(value.shape)} cannot be assigned to elements of shape {show(shape)}."
        ) from None
    return result


def update(node: Any, result: Any, name: str) -> Node:
    """``node`` with its content replaced by ``result``: what ``x += v`` and ``out=x`` do."""
    if result.shape != node.shape:
        raise ShapeError(
            f"np.{name} gives shape {show(result.shape)}, which cannot be written into shape {show(node.shape)}."
        )
    if not np.can_cast(result.dtype, node.dtype, "same_kind"):
        raise TraceError(
            f"np.{name} gives {result.dtype}, which cannot be written into an array of {node.dtype}. "
            "Make the array floating: x = x.astype(float)."
        )
    assign(node, Ellipsis, result)
    return node


def settled(value: Operand) -> Any:
    """A result of a traced function: the node for its present content, or the value itself."""
    return as_node(value) if isinstance(as_traced(value), Node) else value
