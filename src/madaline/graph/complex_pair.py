"""Traced complex numbers: a pair of traced arrays, for what lies between ``np.fft.rfft`` and a real result.

Real numbers go in and come out; there is no derivative by a complex number. So this is not a node but two of them, with
the operators and the NumPy functions that spectra are used with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from madaline.errors import TraceError
from madaline.graph.arrays import Axis, Operand
from madaline.graph.node import Node, as_node


class ComplexPair:
    """``real + 1j * imag``, both traced arrays of one shape."""

    __array_priority__ = 2000.0
    __hash__ = object.__hash__

    def __init__(self, real: Any, imag: Any) -> None:
        self.real, self.imag = np.broadcast_arrays(as_node(real), as_node(imag))

    @property
    def shape(self) -> Any:
        return self.real.shape

    @property
    def ndim(self) -> int:
        return int(self.real.ndim)

    @property
    def size(self) -> Any:
        return self.real.size

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.result_type(self.real.dtype, np.complex64)

    @property
    def T(self) -> ComplexPair:  # noqa: N802 - NumPy's name
        return self.each(np.transpose)

    def each(self, function: Callable[..., Any], *args: Any, **options: Any) -> ComplexPair:
        """A function that acts on real and imaginary parts alike."""
        return ComplexPair(function(self.real, *args, **options), function(self.imag, *args, **options))

    def __repr__(self) -> str:
        return f"<traced complex numbers {self.shape}>"

    def __len__(self) -> int:
        return len(self.real)

    def __getitem__(self, index: Any) -> ComplexPair:
        return ComplexPair(self.real[index], self.imag[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        real, imag = parts(value)
        # broadcast_arrays gives read-only views where it stretches; a copy can be written.
        self.real, self.imag = np.copy(self.real), np.copy(self.imag)
        self.real[index], self.imag[index] = real, imag

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Node:
        return complex_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from madaline.graph.numpy_api.dispatch import call_function
        from madaline.graph.numpy_api.spectral import TRANSFORMS

        if function in TRANSFORMS:
            return call_function(function, args, kwargs)
        if function in FUNCTIONS:
            return FUNCTIONS[function](*args, **kwargs)
        raise TraceError(
            f"np.{function.__name__} is not supported on traced complex numbers. Take x.real, x.imag, np.abs(x) or "
            "np.angle(x)."
        )

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TraceError("Traced complex numbers cannot become a plain array. Take x.real, x.imag or np.abs(x).")

    def __add__(self, other: Any) -> ComplexPair:
        real, imag = parts(other)
        return ComplexPair(self.real + real, self.imag + imag)

    def __neg__(self) -> ComplexPair:
        return ComplexPair(-self.real, -self.imag)

    def __sub__(self, other: Any) -> ComplexPair:
        real, imag = parts(other)
        return ComplexPair(self.real - real, self.imag - imag)

    def __rsub__(self, other: Operand) -> ComplexPair:
        return -self + other

    def __mul__(self, other: Any) -> ComplexPair:
        real, imag = parts(other)
        return ComplexPair(self.real * real - self.imag * imag, self.real * imag + self.imag * real)

    def __truediv__(self, other: Any) -> ComplexPair:
        real, imag = parts(other)
        square = real * real + imag * imag
        return self * ComplexPair(real / square, -imag / square)

    def __rtruediv__(self, other: Any) -> ComplexPair:
        return ComplexPair(*parts(other)).__truediv__(self)

    __radd__ = __add__
    __rmul__ = __mul__

    def __pow__(self, power: Any) -> Node:
        if not isinstance(power, int) or power < 0:
            raise TraceError(f"A power {power!r} of traced complex numbers is not supported; integers from 0 on are.")
        result: Any = ComplexPair(np.ones_like(self.real), np.zeros_like(self.imag))
        for _ in range(power):
            result = result * self
        return result

    def __abs__(self) -> Node:
        return np.hypot(self.real, self.imag)

    def conj(self) -> ComplexPair:
        return ComplexPair(self.real, -self.imag)

    conjugate = conj

    def sum(self, axis: Axis = None, keepdims: bool = False) -> ComplexPair:
        return self.each(np.sum, axis=axis, keepdims=keepdims)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> ComplexPair:
        return self.each(np.mean, axis=axis, keepdims=keepdims)

    def reshape(self, *shape: Any) -> ComplexPair:
        return self.each(np.reshape, shape[0] if len(shape) == 1 else shape)

    def copy(self) -> ComplexPair:
        return self.each(np.copy)


def is_complex(value: Operand) -> bool:
    """Whether a value is complex, traced or not."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind == "c"
    return isinstance(value, (complex, ComplexPair))


def complex_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Node:
    """``np.exp(z)``, ``a * z`` and the like, with a complex number among the arguments."""
    if method == "__call__" and ufunc in UFUNCS and not kwargs:
        return UFUNCS[ufunc](*inputs)
    raise TraceError(
        f"np.{ufunc.__name__} is not supported on traced complex numbers, which are meant for what is between a "
        "Fourier transform and a real result. Take x.real, x.imag, np.abs(x) or np.angle(x)."
    )


def parts(value: Any) -> tuple[Any, Any]:
    """The real and the imaginary part of a value of any kind."""
    if isinstance(value, ComplexPair):
        return value.real, value.imag
    if isinstance(value, Node):
        return value, 0.0
    plain = np.asarray(value)
    # Python's numbers adapt to the type of the arrays beside them.
    return (value.real, value.imag) if isinstance(value, (int, float, complex)) else (plain.real, plain.imag)


def _exp(x: ComplexPair) -> ComplexPair:
    size = np.exp(x.real)
    return ComplexPair(size * np.cos(x.imag), size * np.sin(x.imag))


def _angle(z: ComplexPair, deg: bool = False) -> Node:
    angle = np.arctan2(z.imag, z.real)
    return np.rad2deg(angle) if deg else angle


def _concatenate(arrays: Any, axis: int = 0) -> ComplexPair:
    pairs = [parts(item) for item in arrays]
    shaped = [(as_node(real), np.broadcast_to(as_node(imag), np.shape(real))) for real, imag in pairs]
    return ComplexPair(np.concatenate([r for r, _ in shaped], axis), np.concatenate([i for _, i in shaped], axis))


def _matmul(a: Any, b: Any) -> ComplexPair:
    (ar, ai), (br, bi) = ((as_node(r), np.broadcast_to(as_node(i), np.shape(r))) for r, i in (parts(a), parts(b)))
    return ComplexPair(ar @ br - ai @ bi, ar @ bi + ai @ br)


UFUNCS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: lambda a, b: ComplexPair(*parts(a)) + b,
    np.subtract: lambda a, b: ComplexPair(*parts(a)) - b,
    np.multiply: lambda a, b: ComplexPair(*parts(a)) * b,
    np.divide: lambda a, b: ComplexPair(*parts(a)) / b,
    np.negative: lambda a: -a,
    np.positive: lambda a: a,
    np.power: lambda a, n: a**n,
    np.square: lambda a: a * a,
    np.absolute: abs,
    np.conjugate: lambda a: a.conj(),
    np.exp: _exp,
    np.log: lambda a: ComplexPair(np.log(abs(a)), _angle(a)),
    np.matmul: _matmul,
}
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.real: lambda val: val.real,
    np.imag: lambda val: val.imag,
    np.angle: _angle,
    np.concatenate: _concatenate,
    np.shape: lambda a: a.shape,
    np.iscomplexobj: lambda x: True,
    np.sum: ComplexPair.sum,
    np.mean: ComplexPair.mean,
    **{
        function: lambda a, *args, _f=function, **options: a.each(_f, *args, **options)
        for function in (np.reshape, np.ravel, np.transpose, np.roll, np.flip, np.expand_dims, np.squeeze, np.moveaxis)
    },
}
