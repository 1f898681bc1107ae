"""``scipy.stats`` on traced values: methods of distributions, and statistics of samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import madaline.graph.stats
from madaline.errors import TraceError
from madaline.graph.arrays import Array
from madaline.graph.numpy_api.special import distribution_instead, entr, rel_entr
from madaline.graph.object_arrays import as_traced
from madaline.graph.scipy_api.replacement import register

CONTINUOUS = ("cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf")
DISCRETE = ("cdf", "logcdf", "logpmf", "logsf", "pmf", "sf")


def _listed(value: Any) -> Any:
    return as_traced(value) if isinstance(value, (list, tuple)) else value


def _method(name: str) -> Callable[..., Any]:
    """The method of our distribution of the same name."""

    def method(distribution: Any, *args: Any, **kwargs: Any) -> Array:
        ours = getattr(madaline.graph.stats, str(getattr(distribution, "name", "")), None)
        if ours is None or not hasattr(ours, name):
            known = getattr(distribution, "name", type(distribution).__name__)
            raise TraceError(
                f"scipy.stats.{known}.{name} has no derivative rule. Use {distribution_instead(distribution, name)}."
            )
        first, *rest = map(_listed, args) if args else (kwargs.pop("x", kwargs.pop("k", None)),)
        first = first if hasattr(first, "dtype") else np.asarray(first)
        given = [item if hasattr(item, "dtype") or np.isscalar(item) else np.asarray(item) for item in rest]
        return getattr(ours, name)(first, *given, **{key: _listed(value) for key, value in kwargs.items()})

    return method


class Frozen:
    """A distribution of vectors with fixed parameters, some of which are traced."""

    def __init__(self, ours: Any, *args: Any, **kwargs: Any) -> None:
        self._ours = ours
        self._args, self._kwargs = args, kwargs

    def logpdf(self, x: Any) -> Array:
        """Logarithm of the density."""
        return self._ours.logpdf(x, *self._args, **self._kwargs)

    def pdf(self, x: Any) -> Array:
        """Density."""
        return self._ours.pdf(x, *self._args, **self._kwargs)


def _of_vectors(name: str, method: str) -> Callable[..., Any]:
    """A method of a distribution of vectors; ``__call__`` fixes its parameters."""
    ours = getattr(madaline.graph.stats, name)

    def call(distribution: Any, *args: Any, **kwargs: Any) -> Any:
        args = tuple(map(_listed, args))
        return Frozen(ours, *args, **kwargs) if method == "__call__" else getattr(ours, method)(*args, **kwargs)

    return call


def entropy(pk: Any, qk: Any = None, base: Any = None, axis: Any = 0) -> Array:
    """The entropy of a distribution, or its divergence from another one; both are normalised first."""
    pk = as_traced(pk)
    pk = pk / np.sum(pk, axis=axis, keepdims=True)
    if qk is None:
        found = np.sum(entr(pk), axis=axis)
    else:
        qk = as_traced(qk)
        found = np.sum(rel_entr(pk, qk / np.sum(qk, axis=axis, keepdims=True)), axis=axis)
    return found if base is None else found / np.log(base)


def gmean(a: Any, axis: Any = 0, dtype: Any = None, weights: Any = None) -> Array:
    """The geometric mean."""
    return np.exp(np.average(np.log(as_traced(a)), axis=axis, weights=weights))


def hmean(a: Any, axis: Any = 0, dtype: Any = None, *, weights: Any = None) -> Array:
    """The harmonic mean."""
    return 1.0 / np.average(1.0 / as_traced(a), axis=axis, weights=weights)


def zscore(a: Any, axis: Any = 0, ddof: int = 0) -> Array:
    """Values minus their mean, over their standard deviation."""
    a = as_traced(a)
    return (a - np.mean(a, axis=axis, keepdims=True)) / np.std(a, axis=axis, ddof=ddof, keepdims=True)


def sem(a: Any, axis: Any = 0, ddof: int = 1) -> Array:
    """The standard error of the mean."""
    a = as_traced(a)
    n = a.size if axis is None else a.shape[axis]
    return np.std(a, axis=axis, ddof=ddof) / np.sqrt(n)


def _moments(a: Any, axis: Any, order: int) -> tuple[Array, Array, int]:
    """The second central moment, that of the given order, and the number of values."""
    a = as_traced(a)
    centred = a - np.mean(a, axis=axis, keepdims=True)
    n = a.size if axis is None else a.shape[axis]
    return np.mean(centred**2, axis=axis), np.mean(centred**order, axis=axis), n


def skew(a: Any, axis: Any = 0, bias: bool = True) -> Array:
    """The skewness of a sample."""
    m2, m3, n = _moments(a, axis, 3)
    found = m3 / m2**1.5
    return found if bias or n < 3 else found * np.sqrt(n * (n - 1.0)) / (n - 2.0)


def kurtosis(a: Any, axis: Any = 0, fisher: bool = True, bias: bool = True) -> Array:
    """The kurtosis of a sample; 0 for a normal distribution by default."""
    m2, m4, n = _moments(a, axis, 4)
    found = m4 / m2**2
    if not bias and n > 3:
        found = ((n**2 - 1.0) * found - 3.0 * (n - 1.0) ** 2) / ((n - 2.0) * (n - 3.0)) + 3.0
    return found - 3.0 if fisher else found


register(
    "scipy.stats",
    {
        **{f"rv_continuous.{name}": _method(name) for name in CONTINUOUS},
        **{f"rv_discrete.{name}": _method(name) for name in DISCRETE},
        **{
            f"{name}.{method}": _of_vectors(name, method)
            for name in ("dirichlet", "multivariate_normal")
            for method in ("logpdf", "pdf", "__call__")
        },
        "multivariate_normal.entropy": _of_vectors("multivariate_normal", "entropy"),
        "entropy": entropy,
        "gmean": gmean,
        "hmean": hmean,
        "kurtosis": kurtosis,
        "sem": sem,
        "skew": skew,
        "zscore": zscore,
    },
)
