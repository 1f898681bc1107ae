"""Indexing a traced value: ints, slices, ``None``, ``...`` and arrays of integers or booleans, by NumPy's rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.errors import TraceError
from madaline.graph.arrays import Array
from madaline.graph.memory import mark_view, read_item
from madaline.graph.node import BOOL, Node, as_node, constant, known_value
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.shape import slice_of
from madaline.graph.shapes import Rows, Shape, Size, broadcast, show, size_of

_SLICE, _RESHAPE = PRIMITIVES["slice"], PRIMITIVES["reshape"]


def getitem(x: Node, index: Any) -> Any:
    """``x[index]``; a view where NumPy gives one."""
    if x.memory is None and x.shape and type(x.shape[0]) is int:
        if type(index) is int:
            item = _entry(x, index)
            return mark_view(item, x, lambda whole: whole[index]) if item.shape else item
        if type(index) is slice:
            return mark_view(_rows(x, index), x, lambda whole: whole[index])
        shape = _with_new_axes(x.shape, index) if type(index) is tuple else None
        if shape is not None:
            return mark_view(Node(_RESHAPE, (x,), {"shape": shape}, shape, x.dtype), x, lambda whole: whole[index])
    result = None if x.memory is None else read_item(x, index)
    if result is None:
        result = _getitem(x, index)
    # An entry is a number, but x[0, ...] an array without axes, which is a view.
    shares = _is_basic(index) and (result.shape or (type(index) is tuple and any(item is ... for item in index)))
    if shares:
        return mark_view(result, x, lambda whole: whole[index])
    if result.shape == () and result is not x:
        result.memory = None
    return result


def _entry(x: Node, index: int) -> Node:
    """One entry along the first axis."""
    size, rest = int(x.shape[0]), x.shape[1:]
    if not -size <= index < size:
        raise IndexError(f"Index {index} is out of range for an axis of size {size}.")
    return Node(_RESHAPE, (_window(x, index % size, 1, 1),), {"shape": rest}, rest, x.dtype)


def _with_new_axes(shape: Shape, index: tuple[Any, ...]) -> Shape | None:
    """The shape of ``x[:, None]`` and the like; None if the index does something else."""
    found: list[Any] = []
    axis = 0
    for item in index:
        if item is None:
            found.append(1)
        elif type(item) is slice and item.start is item.stop is item.step is None and axis < len(shape):
            found.append(shape[axis])
            axis += 1
        else:
            return None
    return (*found, *shape[axis:])


def _rows(x: Node, index: slice) -> Node:
    """A slice along the first axis."""
    start, stop, step = index.indices(x.shape[0])
    if step < 0:
        return _basic(x, [index, *[slice(None)] * (x.ndim - 1)])[0]
    return _window(x, start, len(range(start, stop, step)), step)


def _window(x: Node, start: int, count: int, step: int) -> Node:
    """The first entries along the first axis, which are known to exist."""
    rest = x.shape[1:]
    if count == x.shape[0]:
        return x
    shape = (count, *rest)
    params = {"starts": (start, *[0] * len(rest)), "shape": shape, "steps": (step, *[1] * len(rest))}
    return Node(_SLICE, (x,), params, shape, x.dtype)


def _is_basic(index: Any) -> bool:
    """Whether NumPy gives a view."""
    items = index if isinstance(index, tuple) else (index,)
    return not any(isinstance(item, (Node, np.ndarray, list, tuple, range, bool, np.bool_)) for item in items)


def _getitem(x: Node, index: Any) -> Any:
    if isinstance(index, slice) and x.shape:
        return _basic(x, [index, *[slice(None)] * (x.ndim - 1)])[0]
    items = list(index) if isinstance(index, tuple) else [index]
    items = [_array(item) if isinstance(item, (list, tuple, range)) else _known_mask(item) for item in items]
    if sum(1 for item in items if item is Ellipsis) > 1:
        raise IndexError("An index may hold '...' once; this one has more than one '...'.")
    items = _booleans_to_integers(items, x.shape)
    used = sum(1 for item in items if item is not None and item is not Ellipsis)
    if used > x.ndim:
        raise IndexError(f"{used} indices for a traced value with {x.ndim} axes, shape {show(x.shape)}.")
    if not any(item is Ellipsis for item in items):
        items.append(Ellipsis)
    dots = next(i for i, item in enumerate(items) if item is Ellipsis)
    # To NumPy, indices with '...' between them stand apart even where it stands for no axis.
    apart = any(_takes_axis(item) for item in items[:dots]) and any(_takes_axis(item) for item in items[dots + 1 :])
    items[dots : dots + 1] = [slice(None)] * (x.ndim - used)
    return _advanced(*_basic(x, items), apart)


def _takes_axis(item: Any) -> bool:
    return item is not None and not isinstance(item, slice)


def _known_mask(item: Any) -> Array:
    """A mask by its values, where they are known; any other index as it is."""
    if isinstance(item, Node) and item.dtype == BOOL:
        value = known_value(item)
        return item if value is None else value
    return item


def _array(item: list[Any] | tuple[Any, ...] | range) -> Array:
    array = np.asarray(item)
    return array if array.size else array.astype(np.int64)  # NumPy makes an empty list floating, yet lets it index


def _booleans_to_integers(items: list[Any], shape: Shape) -> list[Any]:
    result: list[Any] = []
    used = sum(item.ndim if _is_mask(item) else 1 for item in items if item is not None and item is not Ellipsis)
    axis = 0
    for item in items:
        if isinstance(item, Node) and item.dtype == BOOL:
            raise TraceError(
                "x[mask] with a traced mask has a shape that depends on the values, which md.compile does not know. "
                "Use np.where(mask, x, 0), or call md.grad without md.compile."
            )
        if isinstance(item, (bool, np.bool_)):
            raise TraceError("Indexing a traced value by True or False is not supported. Use x[None] for a new axis.")
        if _is_mask(item):
            if item.shape != shape[axis : axis + item.ndim]:
                raise IndexError(
                    f"A boolean index of shape {show(item.shape)} must have the sizes of the axes it stands for; "
                    f"the traced value has shape {show(shape)}."
                )
            result.extend(np.nonzero(item))
            axis += item.ndim
        else:
            result.append(item)
            axis += 0 if item is None else len(shape) - used if item is Ellipsis else 1
    return result


def _is_mask(item: Any) -> bool:
    return isinstance(item, np.ndarray) and item.dtype == BOOL


def _basic(x: Node, items: list[Any]) -> tuple[Node, list[Any]]:
    """Apply slices and None; leave ints beside arrays, and the arrays, as index entries for each axis of the result."""
    has_arrays = any(isinstance(item, (np.ndarray, Node)) and np.ndim(item) > 0 for item in items) or any(
        isinstance(item, Node) for item in items
    )
    starts, sizes, steps, flipped = [], [], [], []
    shape: list[Any] = []
    entries: list[Any] = []
    axis = 0
    for item in items:
        if item is None:
            shape.append(1)
            entries.append(None)
            continue
        size = x.shape[axis]
        if isinstance(item, slice):
            start, count, step = _bounds(item, size)
            if step < 0:
                start, step = start + (count - 1) * step if count else 0, -step
                flipped.append(axis)
            shape.append(count)
            entries.append(None)
        elif isinstance(item, (Node, np.ndarray)) and (np.ndim(item) > 0 or isinstance(item, Node)):
            start, count, step = 0, size, 1
            shape.append(size)
            entries.append(item)
        else:
            position = _position(item, size)
            if has_arrays:
                start, count, step = 0, size, 1
                shape.append(size)
                entries.append(np.asarray(position))
            else:
                start, count, step = position, 1, 1
        starts.append(start)
        sizes.append(count)
        steps.append(step)
        axis += 1
    result: Any = slice_of(x, tuple(starts), tuple(sizes), tuple(steps))
    if flipped:
        result = PRIMITIVES["flip"](result, axes=tuple(flipped))
    return result.reshape(tuple(shape)), entries


def _bounds(item: slice, size: Size) -> tuple[Any, Any, int]:
    if isinstance(size, Rows):
        if item == slice(None) or (item.start in (None, 0) and item.stop is None and item.step in (None, 1)):
            return 0, size, 1
        raise TraceError(
            f"The rows of a traced batch cannot be sliced by {item}: their number is not known. "
            "Select rows before training."
        )
    start, stop, step = item.indices(size)
    return start, len(range(start, stop, step)), step


def _position(item: Any, size: Size) -> int:
    try:
        position = item.__index__()
    except (AttributeError, TypeError) as error:
        if isinstance(error, TraceError):
            raise
        raise IndexError(
            f"{item!r} cannot index. Use integers, slices, None, ..., or arrays of integers or booleans."
        ) from None
    if isinstance(size, Rows):
        raise TraceError(
            "One row of a traced batch cannot be picked: their number is not known. Select rows before training."
        )
    if not -size <= position < size:
        raise IndexError(f"Index {position} is out of range for an axis of size {size}.")
    return int(position % size)


def _advanced(x: Node, entries: list[Any], apart: bool) -> Array:
    from madaline.graph.numpy_api.shape import broadcast_to

    axes = [axis for axis, entry in enumerate(entries) if entry is not None]
    if not axes:
        return x
    indices = [as_node(entries[axis]) for axis in axes]
    for entry in indices:
        if entry.dtype.kind != "i":
            raise TraceError(f"Indices of type {entry.dtype} cannot index. Use integers: index.astype(int).")
    if len(axes) == 1:
        return PRIMITIVES["take"](x, checked(indices[0], x.shape[axes[0]]), axis=axes[0])
    shape = broadcast(*(entry.shape for entry in indices))
    if any(isinstance(x.shape[axis], Rows) for axis in axes):
        raise TraceError(
            "A traced batch cannot be indexed along its rows. Use np.take_along_axis for one entry of each row."
        )
    together = axes == list(range(axes[0], axes[0] + len(axes))) and not apart
    position = axes[0] if together else 0
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    order = kept[:position] + axes + kept[position:]
    moved = x.transpose(order)
    sizes = [x.shape[axis] for axis in axes]
    flat: Any = constant(0)
    for entry, size in zip(indices, sizes, strict=True):
        flat = flat * size + _wrapped(entry, size)
    merged = (*moved.shape[:position], size_of(tuple(sizes)), *moved.shape[position + len(axes) :])
    return PRIMITIVES["take"](moved.reshape(merged), broadcast_to(flat, shape), axis=position)


def checked(index: Node, size: Size) -> Node:
    """The index; a known one that is out of range is an error here, others are found at run time."""
    if "value" in index.params and not isinstance(size, Rows):
        values = index.params["value"]
        if values.size and (values.min() < -size or values.max() >= size):
            wrong = values.min() if values.min() < -size else values.max()
            raise IndexError(f"Index {wrong} is out of range for an axis of size {size}.")
    return index


def _wrapped(index: Node, size: Size) -> Array:
    """Negative indices counted from the end."""
    checked(index, size)
    if "value" not in index.params:
        return np.where(index < 0, index + size, index)
    values = index.params["value"]
    return constant(np.where(values < 0, values + size, values))
