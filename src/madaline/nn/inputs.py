"""The inputs of a net: described by data, widths or shapes when it is made, checked whenever it is run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madaline.errors import DtypeError, ShapeError
from madaline.graph.node import Node
from madaline.graph.shapes import Rows, Shape, show
from madaline.graph.tree import flatten, unflatten
from madaline.nn.layer import Layer

if TYPE_CHECKING:
    from madaline.data.data_types import Inputs


@dataclass(frozen=True)
class InputSpec:
    """One input of a net: the shape of a row and the type that the net uses."""

    shape: Shape
    dtype: np.dtype[Any]


def input_specs(net: Layer, inputs: Any, dtype: np.dtype[Any]) -> Any:
    """Describe inputs given as data, widths or shapes: an :class:`InputSpec`, or a dict or tuple of them."""
    if inputs is None:
        inputs = net.own_inputs()
        if inputs is None:
            raise ShapeError(
                f"The number of inputs of {type(net).__name__} is not known. Pass the data or the number of columns to "
                "init, as net.init(X) or net.init(20), or begin the net with Input(20)."
            )
    return _specs(inputs, dtype)


def _specs(inputs: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(inputs, InputSpec):
        return inputs
    if isinstance(inputs, dict):
        return {name: _specs(item, dtype) for name, item in inputs.items()}
    if _is_size(inputs):
        return _sized((inputs,), dtype)
    if isinstance(inputs, tuple):
        return _sized(inputs, dtype) if all(map(_is_size, inputs)) else tuple(_specs(item, dtype) for item in inputs)
    array = inputs if hasattr(inputs, "shape") and hasattr(inputs, "dtype") else np.asarray(inputs)
    _need_numbers(array.dtype, "The data")
    if len(array.shape) < (1 if array.dtype.kind in "iu" else 2):
        raise ShapeError(
            f"The data have shape {show(tuple(array.shape))}; they need one axis for rows and one for columns. Use "
            "X.reshape(-1, 1) for one column, or pass the number of columns."
        )
    return InputSpec(tuple(array.shape[1:]), np.dtype(np.int64) if array.dtype.kind in "iu" else dtype)


def _is_size(thing: Any) -> bool:
    return isinstance(thing, (int, np.integer)) and not isinstance(thing, bool)


def _sized(sizes: tuple[Any, ...], dtype: np.dtype[Any]) -> InputSpec:
    if any(size < 0 for size in sizes):
        raise ShapeError(f"The shape of a row, {show(sizes)}, has a negative size.")
    return InputSpec(tuple(int(size) for size in sizes), dtype)


def as_batch(X: Any, specs: Any) -> tuple[Any, bool]:
    """Convert inputs to the types of the net, and return whether they were a single row, without the batch axis.

    Parameters
    ----------
    X : array, or dict or tuple of them
        What the user passed; names may be in any order.
    specs : InputSpec, or dict or tuple of them
        The inputs of the net.
    """
    as_it_is = isinstance(specs, InputSpec) and type(X) is np.ndarray and X.ndim > 0
    if as_it_is and X.dtype == specs.dtype and X.shape[1:] == specs.shape:
        return X, False  # the usual case, made quick: a small net runs in microseconds
    found = list(matched(X, specs))
    arrays = [_as_input(item, spec, name) for item, spec, name in found]
    is_row = [array.ndim == len(spec.shape) for array, (_, spec, _) in zip(arrays, found, strict=True)]
    counts = {array.shape[0] for array, row in zip(arrays, is_row, strict=True) if not row}
    if any(is_row) and counts:
        raise ShapeError("Some inputs are single rows and others batches. Use X[None] for a batch of one row.")
    if len(counts) > 1:
        shown = ", ".join(f"{name} {len(array)}" for array, (_, _, name) in zip(arrays, found, strict=True))
        raise ShapeError(f"The inputs must have the same number of rows; they have: {shown}.")
    if any(is_row):
        arrays = [array[None] for array in arrays]
    return unflatten(flatten(specs)[1], arrays), any(is_row)


def matched(X: Inputs, specs: Any, name: str = "") -> Iterator[tuple[Any, InputSpec, str]]:
    """Each input with its description and its name for error messages."""
    if isinstance(specs, InputSpec):
        if isinstance(X, dict) and not hasattr(X, "tocsr"):  # SciPy's dictionary of keys is one array
            raise ShapeError(
                f"{name or 'The net'} takes one array; it was given several, named {', '.join(map(repr, X))}."
            )
        yield X, specs, name
    elif isinstance(specs, dict):
        if not isinstance(X, dict) or X.keys() != specs.keys():
            given = f"a dict of {', '.join(map(repr, X))}" if isinstance(X, dict) else type(X).__name__
            raise ShapeError(
                f"{name or 'The net'} takes a dict of {', '.join(map(repr, specs))}; it was given {given}."
            )
        for key, spec in specs.items():
            yield from matched(X[key], spec, f"{name}[{key!r}]" if name else repr(key))
    else:
        if not isinstance(X, (tuple, list)) or len(X) != len(specs):
            given = f"{len(X)} items" if isinstance(X, (tuple, list)) else type(X).__name__
            raise ShapeError(f"{name or 'The net'} takes a tuple of {len(specs)} inputs; it was given {given}.")
        for position, (item, spec) in enumerate(zip(X, specs, strict=True)):
            yield from matched(item, spec, f"{name}[{position}]" if name else f"input {position}")


def _as_input(item: Any, spec: InputSpec, name: str) -> Any:
    is_traced = isinstance(item, Node)
    array = item if is_traced else np.asarray(item.toarray() if hasattr(item, "toarray") else item)
    subject = f"The input {name}" if name else "The input"
    _need_numbers(array.dtype, subject)
    if array.shape[1:] != spec.shape and array.shape != spec.shape:
        raise ShapeError(
            f"{subject} has shape {show(array.shape)}; the net was made for rows of shape {show(spec.shape)}, "
            f"so it must have shape {show((Rows(), *spec.shape))}."
        )
    if spec.dtype.kind == "i" and array.dtype.kind == "f":
        if is_traced:
            raise DtypeError(
                f"{subject} holds categories, which have no derivative, and was traced as {array.dtype}. Pass them as "
                "an array of integers that the function closes over."
            )
        wrong = array[~(np.isfinite(array) & (array == np.trunc(array)))]
        if len(wrong):
            raise DtypeError(f"{subject} holds categories, which must be integers, but contains {wrong[0]}.")
    return array.astype(spec.dtype) if is_traced else array.astype(spec.dtype, copy=False)


def _need_numbers(dtype: np.dtype[Any], subject: str) -> None:
    if dtype.kind not in "fiub":
        raise DtypeError(
            f"{subject} of dtype {dtype} cannot be used: a net takes numbers. Encode categories as integers, and text "
            "and dates as columns of numbers."
        )
