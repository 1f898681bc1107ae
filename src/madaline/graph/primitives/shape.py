"""Moving numbers without changing them: reshape, broadcast, slice, place, flip, take and scatter-add.

Slicing and placing are each other's transpose, and so are taking and scatter-adding. Padding, concatenating and
stacking are placings. Kernels: ``native/kernels/elementwise.h`` (strided copies) and ``gather.h``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from madaline.errors import DtypeError, ShapeError
from madaline.graph.arrays import Array, Tangent
from madaline.graph.primitive import PRIMITIVES, Primitive, Sample, elements
from madaline.graph.shapes import Rows, Shape, broadcast, check_axes, is_never_negative, show, size_of


def row_axes(shape: Shape) -> list[int]:
    """Positions of the batch axis."""
    return [axis for axis, size in enumerate(shape) if isinstance(size, Rows)]


class Reshape(Primitive):
    """The same numbers in row-major order under another ``shape``."""

    name = "reshape"
    linear = True

    def shape(self, x: Shape, *, shape: Shape) -> Shape:
        if size_of(x) != size_of(shape):
            raise ShapeError(f"{show(x)} cannot be reshaped to {show(shape)}: they hold different numbers of elements.")
        return shape

    def value(self, x: Any, *, shape: Shape) -> Any:
        return x.reshape(shape)

    def vjp(self, x: Array, y: Array, y_bar: Array, *, shape: Shape) -> tuple[Array]:
        return (y_bar.reshape(x.shape),)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(4, 3)),), {"shape": (2, 6)}
        yield (rng.normal(size=()),), {"shape": (1, 1)}

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        before, after = row_axes(shapes[0]), row_axes(shape)
        if len(before) != 1 or len(after) != 1 or shapes[0][before[0]] != shape[after[0]]:
            return False
        # Each row keeps its own numbers if what stands before the batch axis stays the same.
        return bool(elements(shapes[0][: before[0]]) == elements(shape[: after[0]]))


class BroadcastTo(Primitive):
    """``x`` repeated along new axes and axes of size 1 to give ``shape``."""

    name = "broadcast_to"
    linear = True

    def shape(self, x: Shape, *, shape: Shape) -> Shape:
        if broadcast(x, shape) != shape:
            raise ShapeError(f"{show(x)} cannot be broadcast to {show(shape)}.")
        return shape

    def value(self, x: Any, *, shape: tuple[int, ...]) -> Any:
        return np.broadcast_to(x, shape)

    def vjp(self, x: Array, y: Array, y_bar: Array, *, shape: Shape) -> tuple[Array]:
        from madaline.graph.primitives.elementwise import sum_to

        return (sum_to(y_bar, x.shape),)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(3, 1)),), {"shape": (2, 3, 4)}
        yield (rng.normal(size=()),), {"shape": (2, 3)}

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return True


class Slice(Primitive):
    """Every ``steps``-th element from ``starts``, ``shape`` many, along each axis (steps are positive)."""

    name = "slice"
    linear = True

    def shape(self, x: Shape, *, starts: tuple[int, ...], shape: Shape, steps: tuple[int, ...]) -> Shape:
        _check_window(x, starts, shape, steps)
        return shape

    def value(self, x: Any, *, starts: tuple[int, ...], shape: tuple[int, ...], steps: tuple[int, ...]) -> Any:
        return x[slices(starts, shape, steps)]

    def vjp(self, x: Array, y: Array, y_bar: Array, *, starts: Any, shape: Any, steps: Any) -> tuple[Array]:
        return (place([y_bar], x.shape, [starts], [steps]),)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(5, 3)),), {"starts": (1, 0), "shape": (2, 2), "steps": (2, 1)}
        yield (rng.normal(size=(5,)),), {"starts": (2,), "shape": (1,), "steps": (1,)}
        yield (rng.normal(size=(5,)),), {"starts": (2,), "shape": (0,), "steps": (1,)}

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        axis = row_axes(shape)[0]
        return params["starts"][axis] == 0 and params["steps"][axis] == 1 and shapes[0][axis] == shape[axis]


class Place(Primitive):
    """Zeros of ``shape``, with each piece added at its ``starts`` and ``steps``.

    One piece is a padding; pieces side by side are a concatenation; pieces may overlap, then they add up.
    """

    name = "place"
    linear = True

    def shape(self, *pieces: Shape, shape: Shape, starts: Any, steps: Any) -> Shape:
        if not len(pieces) == len(starts) == len(steps):
            raise ShapeError(
                f"{len(pieces)} pieces have {len(starts)} starts and {len(steps)} steps; each needs its own."
            )
        for piece, start, step in zip(pieces, starts, steps, strict=True):
            _check_window(shape, start, piece, step)
        return shape

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        if any(dtype != dtypes[0] for dtype in dtypes):
            raise DtypeError(f"Pieces of types {', '.join(map(str, dtypes))} cannot be put side by side.")
        return dtypes[0]

    def value(self, *pieces: Any, shape: tuple[int, ...], starts: Any, steps: Any) -> Any:
        result = np.zeros(shape, dtype=pieces[0].dtype)
        for piece, start, step in zip(pieces, starts, steps, strict=True):
            # Booleans are placed side by side, never added: NumPy's += of booleans is their union, as wanted.
            result[slices(start, piece.shape, step)] += piece
        return result

    def vjp(self, *args: Array, shape: Shape, starts: Any, steps: Any) -> tuple[Array, ...]:
        pieces, y_bar = args[:-2], args[-1]
        return tuple(
            slice_of(y_bar, start, piece.shape, step) for piece, start, step in zip(pieces, starts, steps, strict=True)
        )

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(2, 2)),), {"shape": (5, 3), "starts": ((1, 0),), "steps": ((2, 1),)}
        yield (
            (rng.normal(size=(2, 3)), rng.normal(size=(1, 3))),
            {
                "shape": (3, 3),
                "starts": ((0, 0), (2, 0)),
                "steps": ((1, 1), (1, 1)),
            },
        )
        yield (
            (rng.normal(size=(3,)), rng.normal(size=(2,))),
            {
                "shape": (4,),
                "starts": ((0,), (1,)),
                "steps": ((1,), (2,)),
            },
        )

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        axis = row_axes(shape)[0]
        return all(
            piece[axis] == shape[axis] and start[axis] == 0 and step[axis] == 1
            for piece, start, step in zip(shapes, params["starts"], params["steps"], strict=True)
        )


class Flip(Primitive):
    """The order reversed along ``axes``."""

    name = "flip"
    linear = True

    def shape(self, x: Shape, *, axes: tuple[int, ...]) -> Shape:
        check_axes(axes, x)
        return x

    def value(self, x: Any, *, axes: tuple[int, ...]) -> Any:
        return np.flip(x, axes)

    def vjp(self, x: Array, y: Array, y_bar: Array, *, axes: tuple[int, ...]) -> tuple[Array]:
        return (PRIMITIVES["flip"](y_bar, axes=axes),)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(5, 3)),), {"axes": (0,)}
        yield (rng.normal(size=(2, 4, 3)),), {"axes": (0, 2)}

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return row_axes(shape)[0] not in params["axes"]


class Take(Primitive):
    r"""Entries of ``x`` along ``axis`` by an array of ``indices``: :math:`y_{o,j,i} = x_{o,\,k_j,\,i}`."""

    name = "take"

    def shape(self, x: Shape, indices: Shape, *, axis: int) -> Shape:
        check_axes((axis,), x)
        return x[:axis] + indices + x[axis + 1 :]

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        return _with_indices(*dtypes)

    def value(self, x: Any, indices: Any, *, axis: int) -> Any:
        return np.take(x, indices, axis=axis)

    def jvp(self, x: Array, indices: Array, y: Array, x_dot: Tangent, _: Array, *, axis: int) -> Tangent:
        return PRIMITIVES["take"](x_dot, indices, axis=axis)

    def vjp(self, x: Array, indices: Array, y: Array, y_bar: Array, *, axis: int) -> tuple[Array, None]:
        return PRIMITIVES["scatter_add"](y_bar, indices, axis=axis, size=x.shape[axis]), None

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(5, 3)), np.array([4, 0, 0, -1])), {"axis": 0}
        yield (rng.normal(size=(2, 3, 2)), np.array([[1, 2], [1, 0]])), {"axis": 1}

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        x, indices = shapes
        return not isinstance(x[params["axis"]], Rows) and not (row_axes(x) and row_axes(indices))


class ScatterAdd(Primitive):
    r"""The transpose of :class:`Take`: zeros with :math:`y_{o,\,k_j,\,i} \mathrel{+}= v_{o,j,i}`.

    Parameters: ``axis`` and its new ``size``.
    """

    name = "scatter_add"
    kinds = "fi"

    def shape(self, v: Shape, indices: Shape, *, axis: int, size: Any) -> Shape:
        if axis < 0 or v[axis : axis + len(indices)] != indices:
            raise ShapeError(f"Indices of shape {show(indices)} are not those of {show(v)} along axis {axis}.")
        return (*v[:axis], size, *v[axis + len(indices) :])

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        return _with_indices(*dtypes)

    def value(self, v: Any, indices: Any, *, axis: int, size: int) -> Any:
        result = np.zeros((size, *v.shape[:axis], *v.shape[axis + indices.ndim :]), dtype=v.dtype)
        moved = np.moveaxis(v, range(axis, axis + indices.ndim), range(indices.ndim))
        np.add.at(result, indices, moved)
        return np.moveaxis(result, 0, axis)

    def jvp(self, v: Array, indices: Array, y: Array, v_dot: Tangent, _: Array, *, axis: int, size: int) -> Tangent:
        return PRIMITIVES["scatter_add"](v_dot, indices, axis=axis, size=size)

    def vjp(self, v: Array, indices: Array, y: Array, y_bar: Array, *, axis: int, size: int) -> tuple[Array, None]:
        return PRIMITIVES["take"](y_bar, indices, axis=axis), None

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(4, 3)), np.array([4, 0, 0, -1])), {"axis": 0, "size": 5}
        yield (rng.normal(size=(2, 2, 2, 2)), np.array([[1, 2], [1, 0]])), {"axis": 1, "size": 3}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return elements(shapes[0])

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return not row_axes(shapes[1])


class TakeAlong(Primitive):
    r"""Entries of the last axis, chosen for each row separately: :math:`y_{o,j} = x_{o,\,k_{o,j}}`."""

    name = "take_along"

    def shape(self, x: Shape, indices: Shape) -> Shape:
        if not x or len(x) != len(indices) or x[:-1] != indices[:-1]:
            raise ShapeError(f"x is {show(x)}, indices are {show(indices)}; all but the last axis must be equal.")
        return indices

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        return _with_indices(*dtypes)

    def value(self, x: Any, indices: Any) -> Any:
        return np.take_along_axis(x, indices, axis=-1)

    def jvp(self, x: Array, indices: Array, y: Array, x_dot: Tangent, _: Array) -> Tangent:
        return PRIMITIVES["take_along"](x_dot, indices)

    def vjp(self, x: Array, indices: Array, y: Array, y_bar: Array) -> tuple[Array, None]:
        return PRIMITIVES["scatter_along"](y_bar, indices, size=x.shape[-1]), None

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(4, 3)), np.array([[0, 0], [1, 2], [2, 1], [-1, 0]])), {}

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return not isinstance(shapes[0][-1], Rows) and not isinstance(shape[-1], Rows)


class ScatterAlong(Primitive):
    r"""The transpose of :class:`TakeAlong`: zeros with :math:`y_{o,\,k_{o,j}} \mathrel{+}= v_{o,j}`.

    Parameter: ``size`` of the last axis.
    """

    name = "scatter_along"
    kinds = "fi"

    def shape(self, v: Shape, indices: Shape, *, size: Any) -> Shape:
        if not v or v != indices:
            raise ShapeError(f"v is {show(v)}, indices are {show(indices)}; they must be equal and have an axis.")
        return (*v[:-1], size)

    def dtype(self, *dtypes: np.dtype[Any], **params: Any) -> np.dtype[Any]:
        return _with_indices(*dtypes)

    def value(self, v: Any, indices: Any, *, size: int) -> Any:
        rows = int(np.prod(v.shape[:-1], dtype=np.int64))
        result = np.zeros((rows, size), dtype=v.dtype)
        flat = (rows, v.shape[-1])
        np.add.at(result, (np.arange(rows)[:, None], indices.reshape(flat)), v.reshape(flat))
        return result.reshape((*v.shape[:-1], size))

    def jvp(self, v: Array, indices: Array, y: Array, v_dot: Tangent, _: Array, *, size: int) -> Tangent:
        return PRIMITIVES["scatter_along"](v_dot, indices, size=size)

    def vjp(self, v: Array, indices: Array, y: Array, y_bar: Array, *, size: int) -> tuple[Array, None]:
        return PRIMITIVES["take_along"](y_bar, indices), None

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield (rng.normal(size=(4, 2)), np.array([[0, 0], [1, 2], [2, 1], [-1, 0]])), {"size": 3}

    def flops(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> Any:
        return elements(shapes[0])

    def keeps_rows(self, shapes: tuple[Shape, ...], shape: Shape, /, **params: Any) -> bool:
        return not isinstance(shapes[0][-1], Rows) and not isinstance(shape[-1], Rows)


def _check_window(whole: Shape, starts: tuple[Any, ...], sizes: Shape, steps: tuple[int, ...]) -> None:
    """An error unless ``sizes`` many elements from ``starts``, ``steps`` apart, lie within ``whole``."""
    if not len(whole) == len(starts) == len(sizes) == len(steps):
        raise ShapeError(
            f"{show(whole)} does not have as many axes as starts={starts}, shape={show(sizes)}, steps={steps}."
        )
    for count, start, size, step in zip(whole, starts, sizes, steps, strict=True):
        left = count + -1 * start + (-1 * (size + -1) * step + -1 if size != 0 else 0)
        if step < 1 or not is_never_negative(start) or not is_never_negative(size) or not is_never_negative(left):
            raise ShapeError(
                f"{show(sizes)} elements from {show(starts)} in steps of {steps} do not lie within {show(whole)}."
            )


def _with_indices(of: np.dtype[Any], indices: np.dtype[Any]) -> np.dtype[Any]:
    if indices.kind != "i":
        raise DtypeError(f"Indices of type {indices} cannot index. Use integers: index.astype(int).")
    return of


def slices(starts: tuple[int, ...], shape: tuple[int, ...], steps: tuple[int, ...]) -> tuple[slice, ...]:
    """NumPy's slices for starts, sizes and steps."""
    return tuple(
        slice(start, start + size * step, step) for start, size, step in zip(starts, shape, steps, strict=True)
    )


def slice_of(x: Array, starts: tuple[int, ...], shape: Shape, steps: tuple[int, ...]) -> Array:
    """A slice, or ``x`` itself where the slice is all of it."""
    if shape == x.shape:
        return x
    return PRIMITIVES["slice"](x, starts=tuple(starts), shape=tuple(shape), steps=tuple(steps))


def place(pieces: list[Array], shape: Shape, starts: list[tuple[int, ...]], steps: list[tuple[int, ...]]) -> Array:
    """Zeros with the pieces added, or the piece itself where it is all of it."""
    if len(pieces) == 1 and pieces[0].shape == shape:
        return pieces[0]
    return PRIMITIVES["place"](*pieces, shape=tuple(shape), starts=tuple(starts), steps=tuple(steps))
