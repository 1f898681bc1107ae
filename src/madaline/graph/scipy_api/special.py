"""Functions of ``scipy.special`` that are not universal functions, on traced values."""

from __future__ import annotations

from typing import Any

import numpy as np

from madaline.graph.arrays import Array
from madaline.graph.numpy_api.reduce import logsumexp as log_sum_exp
from madaline.graph.numpy_api.special import binom, multigammaln, polygamma
from madaline.graph.object_arrays import as_traced
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.elementwise import softplus
from madaline.graph.scipy_api.replacement import register


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    r""":math:`\log \sum b\,e^a`; with ``return_sign``, the logarithm of the absolute sum, and its sign."""
    a = np.atleast_1d(as_traced(a))  # as SciPy does: a number with keepdims gives an array of one element
    if not return_sign:
        return log_sum_exp(a, axis, keepdims, b=b)
    weights = 1.0 if b is None else b
    shift: Any = np.max(np.where(np.equal(weights, 0.0), -np.inf, a), axis=axis, keepdims=True)
    shift = PRIMITIVES["stop_gradient"](np.where(np.isfinite(shift), shift, 0.0))
    total = np.sum(weights * np.exp(a - shift), axis=axis, keepdims=True)
    found = np.log(np.abs(total)) + shift
    places = tuple(range(np.ndim(total))) if axis is None else axis
    both = (found, np.sign(total))
    return both if keepdims else tuple(np.squeeze(item, places) for item in both)


def log_softmax(x: Any, axis: Any = None) -> Array:
    """The logarithm of :func:`softmax`."""
    x = as_traced(x)
    return x - log_sum_exp(x, axis, keepdims=True)


def softmax(x: Any, axis: Any = None) -> Array:
    r""":math:`e^{x_i} / \sum_j e^{x_j}`."""
    return np.exp(log_softmax(x, axis))


def comb(N: Any, k: Any) -> Any:
    """Binomial coefficients, by the gamma function."""
    return np.where(np.less_equal(k, N) & np.greater_equal(N, 0) & np.greater_equal(k, 0), binom(N, k), 0.0)


def factorial(n: Any) -> Any:
    r""":math:`\Gamma(n + 1)`, and 0 for a negative number."""
    n = as_traced(n) * 1.0
    return np.where(np.less(n, 0.0), 0.0, PRIMITIVES["gamma"](np.where(np.less(n, 0.0), 0.0, n) + 1.0))


register(
    "scipy.special",
    {
        "comb": comb,
        "factorial": factorial,
        "log_softmax": log_softmax,
        "logsumexp": logsumexp,
        "multigammaln": multigammaln,
        "polygamma": polygamma,
        "softmax": softmax,
        "softplus": lambda x: softplus(as_traced(x)),
    },
)
