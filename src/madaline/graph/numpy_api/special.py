"""The functions of ``scipy.special`` that losses and activations are written with, on traced values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from madaline.graph.primitives.elementwise import erf, sigmoid, softplus


def log_expit(x: Any) -> Any:
    r""":math:`\log \sigma(x)`, exact for large negative ``x``."""
    return -softplus(-x)


def logit(p: Any) -> Any:
    r""":math:`\log(p / (1-p))`, the inverse of the logistic function."""
    return np.log(p) - np.log1p(-p)


def xlogy(x: Any, y: Any) -> Any:
    r""":math:`x \log y`, and 0 where ``x = 0`` unless ``y`` is NaN; there the derivative by ``y`` is 0."""
    zero = np.equal(x, 0.0) & ~np.isnan(y)
    return np.where(zero, 0.0, x * np.log(np.where(zero, 1.0, y)))


def xlog1py(x: Any, y: Any) -> Any:
    r""":math:`x \log(1 + y)`, and 0 where ``x = 0`` unless ``y`` is NaN."""
    zero = np.equal(x, 0.0) & ~np.isnan(y)
    return np.where(zero, 0.0, x * np.log1p(np.where(zero, 0.0, y)))


def entr(x: Any) -> Any:
    r""":math:`-x \log x`, 0 at 0 and minus infinity below."""
    return np.where(x < 0.0, -np.inf, -xlogy(x, np.where(x < 0.0, 1.0, x)))


def rel_entr(x: Any, y: Any) -> Any:
    r""":math:`x \log(x / y)` for positive ``x`` and ``y``, 0 where ``x = 0`` and ``y \ge 0``, infinite elsewhere."""
    inside = np.greater(x, 0.0) & np.greater(y, 0.0)
    ratio = np.where(inside, x, 1.0) / np.where(inside, y, 1.0)
    return np.where(inside, x * np.log(ratio), np.where(np.equal(x, 0.0) & np.greater_equal(y, 0.0), 0.0, np.inf))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "entr": entr,
    "erf": erf,
    "expit": sigmoid,
    "log_expit": log_expit,
    "logit": logit,
    "rel_entr": rel_entr,
    "xlog1py": xlog1py,
    "xlogy": xlogy,
}
"""By SciPy's names."""
