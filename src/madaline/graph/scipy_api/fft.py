"""``scipy.fft`` on traced values, as a backend: SciPy's own protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from madaline.graph.arrays import Array
from madaline.graph.scipy_api.replacement import call_ours, is_traced


def _numpys(name: str) -> Callable[..., Any]:
    """A transform that ``np.fft`` has under the same name."""
    own = getattr(np.fft, name)

    def of_one_axis(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
        return own(x, n, axis, norm)

    def of_two_axes(x: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Any:
        return own(x, s, axes, norm)

    def of_axes(x: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
        return own(x, s, axes, norm)

    return of_axes if name.endswith("n") else of_two_axes if name.endswith("2") else of_one_axis


def along(x: Any, matrix: Any, axis: int) -> Array:
    """The product of a matrix with the vectors along an axis: ``y[j] = sum_i x[i] matrix[i, j]``."""
    product: Any = np.moveaxis(x, axis, -1) @ matrix
    return np.moveaxis(product, -1, axis)


def _linear(name: str) -> Callable[..., Any]:
    """A real transform of vectors, as a product with its matrix, which SciPy computes."""

    def transform(
        x: Any,
        type: int = 2,  # noqa: A002 - SciPy's name
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        *,
        orthogonalize: Any = None,
    ) -> Array:
        import scipy.fft

        options: Any = {"norm": norm, "orthogonalize": orthogonalize}
        matrix = getattr(scipy.fft, name)(np.eye(x.shape[axis]), type, n, axis=-1, **options)
        return along(x, matrix.astype(x.dtype), axis)

    return transform


def _linear_n(name: str) -> Callable[..., Any]:
    """The same transform along several axes."""
    of_one = _linear(name)

    def transform(
        x: Any,
        type: int = 2,  # noqa: A002 - SciPy's name
        s: Any = None,
        axes: Any = None,
        norm: str | None = None,
        *,
        orthogonalize: Any = None,
    ) -> Array:
        chosen = (range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)) if axes is None else axes
        sizes = [None] * x.ndim if s is None else s
        for size, axis in zip(sizes, (chosen,) if isinstance(chosen, int) else chosen, strict=False):
            x = of_one(x, type, size, axis, norm, orthogonalize=orthogonalize)
        return x

    return transform


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{prefix + name: _numpys(prefix + name) for prefix in ("", "i", "r", "ir") for name in ("fft", "fft2", "fftn")},
    **{name: _linear(name) for name in ("dct", "idct", "dst", "idst")},
    **{f"{name}n": _linear_n(name) for name in ("dct", "idct", "dst", "idst")},
}
"By SciPy's names."


class Backend:
    """What ``scipy.fft`` asks while a function is traced. Plain arrays are left to SciPy."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        ours = FUNCTIONS.get(method.__name__)
        if ours is None or not is_traced((*args, *kwargs.values())):
            return NotImplemented
        return call_ours(f"scipy.fft.{method.__name__}", ours, method, args, kwargs)
