"""Comparisons and logic: booleans, no derivative."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from madaline.graph.node import FLOAT64
from madaline.graph.primitive import Sample
from madaline.graph.primitives.elementwise.base import REAL, Domain, Elementwise


class _Comparison(Elementwise):
    types = "compare"
    domains = (REAL, REAL)


class Equal(_Comparison):
    """``a == b``."""

    name = "equal"
    ufunc = np.equal


class NotEqual(_Comparison):
    """``a != b``."""

    name = "not_equal"
    ufunc = np.not_equal


class Less(_Comparison):
    """``a < b``."""

    name = "less"
    ufunc = np.less


class LessEqual(_Comparison):
    """``a <= b``."""

    name = "less_equal"
    ufunc = np.less_equal


class Greater(_Comparison):
    """``a > b``."""

    name = "greater"
    ufunc = np.greater


class GreaterEqual(_Comparison):
    """``a >= b``."""

    name = "greater_equal"
    ufunc = np.greater_equal


class _Test(Elementwise):
    types = "compare"

    def common_dtype(self, *args: Any) -> np.dtype[Any]:
        dtype = super().common_dtype(*args)
        return dtype if dtype.kind == "f" else FLOAT64


class Isnan(_Test):
    """Whether ``x`` is not a number."""

    name = "isnan"
    ufunc = np.isnan


class Isinf(_Test):
    """Whether ``x`` is infinite."""

    name = "isinf"
    ufunc = np.isinf


class Isfinite(_Test):
    """Whether ``x`` is neither infinite nor NaN."""

    name = "isfinite"
    ufunc = np.isfinite


class _Logic(Elementwise):
    types = "logical"
    domains: ClassVar[tuple[Domain, ...]] = (REAL, REAL)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for args, params in super().samples(rng):
            yield tuple(np.asarray(arg > 0.0) for arg in args), params


class LogicalAnd(_Logic):
    """Both hold."""

    name = "logical_and"
    ufunc = np.logical_and


class LogicalOr(_Logic):
    """At least one holds."""

    name = "logical_or"
    ufunc = np.logical_or


class LogicalXor(_Logic):
    """Exactly one holds."""

    name = "logical_xor"
    ufunc = np.logical_xor


class LogicalNot(_Logic):
    """It does not hold."""

    name = "logical_not"
    ufunc = np.logical_not
    domains = (REAL,)
