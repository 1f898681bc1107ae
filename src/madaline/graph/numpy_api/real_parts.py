"""NumPy's functions for complex numbers, on traced values, which are real."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.graph.numpy_api.dispatch import implements


@implements(np.real)
def real(val: Any) -> Any:
    return val


@implements(np.imag)
def imag(x: Any) -> Any:
    return np.zeros_like(x)


@implements(np.real_if_close)
def real_if_close(a: Any, tol: float = 100) -> Any:
    return a


@implements(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    """0, or pi for negative numbers."""
    half_turn = 180.0 if deg else np.pi
    return np.where(np.less(z, 0.0), half_turn, np.zeros_like(z))


@implements(np.iscomplex)
def iscomplex(x: Any) -> Any:
    return np.zeros(x.shape, dtype=bool)[()]


@implements(np.isreal)
def isreal(x: Any) -> Any:
    return np.ones(x.shape, dtype=bool)[()]


@implements(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    return False


@implements(np.isrealobj)
def isrealobj(x: Any) -> bool:
    return True
