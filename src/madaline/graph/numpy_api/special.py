"""Functions of ``scipy.special`` on traced values: formulas and special functions by SciPy's names."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from madaline.errors import TraceError
from madaline.graph.arrays import Array, Operand
from madaline.graph.node import Node
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.elementwise import erf, sigmoid, softplus


def log_expit(x: Array) -> Array:
    r""":math:`\log \sigma(x)`, exact for large negative ``x``."""
    return -softplus(-x)


def logit(p: Array) -> Array:
    r""":math:`\log(p / (1-p))`, the inverse of the logistic function."""
    return np.log(p) - np.log1p(-p)


def xlogy(x: Operand, y: Operand) -> Array:
    r""":math:`x \log y`, and 0 where ``x = 0`` unless ``y`` is NaN; at ``x = y = 0`` both derivatives are 0."""
    zero = np.equal(x, 0.0) & ~(np.greater(y, 0.0) & np.isfinite(y)) & ~np.isnan(y)
    return np.where(zero, 0.0, x * np.log(np.where(zero, 1.0, y)))


def xlog1py(x: Operand, y: Operand) -> Array:
    r""":math:`x \log(1 + y)`, and 0 where ``x = 0`` unless ``y`` is NaN."""
    zero = np.equal(x, 0.0) & ~(np.greater(y, -1.0) & np.isfinite(y)) & ~np.isnan(y)
    return np.where(zero, 0.0, x * np.log1p(np.where(zero, 0.0, y)))


def entr(x: Operand) -> Array:
    r""":math:`-x \log x`, 0 at 0 and minus infinity below."""
    return np.where(x < 0.0, -np.inf, -xlogy(x, np.where(x < 0.0, 1.0, x)))


def rel_entr(x: Operand, y: Operand) -> Array:
    r""":math:`x \log(x / y)` for positive ``x`` and ``y``, 0 where ``x = 0`` and ``y \ge 0``, infinite elsewhere."""
    inside = np.greater(x, 0.0) & np.greater(y, 0.0)
    ratio = np.where(inside, x, 1.0) / np.where(inside, y, 1.0)
    return np.where(inside, x * np.log(ratio), np.where(np.equal(x, 0.0) & np.greater_equal(y, 0.0), 0.0, np.inf))


def kl_div(x: Operand, y: Operand) -> Array:
    r""":math:`x \log(x / y) - x + y`."""
    return rel_entr(x, y) - x + y


def beta(a: Operand, b: Operand) -> Array:
    r""":math:`B(a, b) = \Gamma(a) \Gamma(b) / \Gamma(a + b)`."""
    return np.exp(PRIMITIVES["betaln"](a, b))


def binom(n: Operand, k: Operand) -> Array:
    r""":math:`\binom{n}{k}`, by the gamma function."""
    return np.exp(-PRIMITIVES["betaln"](1.0 + n - k, 1.0 + k) - np.log1p(n))


def boxcox(x: Operand, lmbda: Operand) -> Array:
    r""":math:`(x^\lambda - 1)/\lambda`, and :math:`\log x` for :math:`\lambda = 0`."""
    is_zero = np.equal(lmbda, 0.0)
    power = np.where(is_zero, 1.0, lmbda)
    return np.where(is_zero, np.log(x), np.expm1(power * np.log(x)) / power)


def inv_boxcox(y: Operand, lmbda: Operand) -> Array:
    r"""The inverse of :func:`boxcox`."""
    is_zero = np.equal(lmbda, 0.0)
    power = np.where(is_zero, 1.0, lmbda)
    return np.where(is_zero, np.exp(y), np.exp(np.log1p(np.where(is_zero, 0.0, power * y)) / power))


def rgamma(x: Operand) -> Array:
    r""":math:`1 / \Gamma(x)`."""
    return 1.0 / PRIMITIVES["gamma"](x)


def huber(delta: Any, r: Any) -> Node:
    r""":math:`r^2/2` up to ``delta`` and linear beyond it."""
    size = np.abs(r)
    return np.where(size <= delta, 0.5 * np.square(r), delta * (size - 0.5 * delta))


def pseudo_huber(delta: Any, r: Any) -> Node:
    r""":math:`\delta^2 (\sqrt{1 + (r/\delta)^2} - 1)`."""
    return np.square(delta) * (np.sqrt(1.0 + np.square(r / delta)) - 1.0)


def polygamma(n: int, x: Operand) -> Array:
    r"""The ``n``-th derivative of the digamma function, as ``scipy.special.polygamma``, on arrays and traced values.

    Examples
    --------
    >>> import numpy as np, madaline as md
    >>> md.functional.polygamma(1, np.array([1.0])).round(4)
    array([1.6449])
    """
    if operator.index(n) < 0:
        raise ValueError(f"n={n} must be 0 or more.")
    return PRIMITIVES["polygamma"](x if isinstance(x, Node) else np.asarray(x) * 1.0, n=int(n))


def erfcinv(y: Any) -> Any:
    """The inverse of erfc, without cancellation near 0."""
    return -PRIMITIVES["ndtri"](0.5 * y) * float(np.sqrt(0.5))


def gammasgn(x: Any) -> Any:
    r"""The sign of :math:`\Gamma(x)`, which alternates between the negative integers."""
    floor = np.floor(x)
    negative = np.equal(np.remainder(floor, 2.0), 1.0) & np.less(x, 0.0)
    sign = np.where(negative, -1.0, np.where(np.equal(x, 0.0), np.copysign(1.0, x), 1.0))
    return np.where(np.less(x, 0.0) & np.equal(floor, x), np.nan, sign)


def multigammaln(a: Operand, d: int) -> Array:
    r"""The logarithm of the multivariate gamma function, as ``scipy.special.multigammaln``, also on traced values.

    Examples
    --------
    >>> import madaline as md
    >>> md.functional.multigammaln(3.0, 2).round(4)
    np.float64(1.5502)
    """
    if operator.index(d) < 1:
        raise ValueError(f"d={d} must be 1 or more.")
    terms = sum(PRIMITIVES["gammaln"](a - 0.5 * j if j else a * 1.0) for j in range(d))
    result = terms + d * (d - 1) / 4.0 * float(np.log(np.pi))
    return result if isinstance(result, Node) else np.asarray(result)[()]


def _of_order(name: str, order: int | None = None) -> Callable[..., Any]:
    """A Bessel function; its order is given, or a number as the first argument."""
    if order is not None:
        return lambda x: PRIMITIVES[name](x, order=order)

    def bessel(v: Any, x: Operand) -> Array:
        if isinstance(v, Node) or np.ndim(v):
            raise TraceError(f"The order v={v!r} of a Bessel function of a traced value must be a plain number.")
        return PRIMITIVES[name](x, order=int(v) if v == int(v) else float(v))

    return bessel


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: PRIMITIVES[name]
        for name in (
            "betainc",
            "betaln",
            "erfc",
            "erfcx",
            "erfinv",
            "gamma",
            "gammainc",
            "gammaincc",
            "gammaln",
            "log_ndtr",
            "ndtr",
            "ndtri",
            "stdtr",
        )
    },
    "beta": beta,
    "binom": binom,
    "boxcox": boxcox,
    "cbrt": np.cbrt,
    "digamma": lambda x: PRIMITIVES["polygamma"](x, n=0),
    "entr": entr,
    "erf": erf,
    "erfcinv": erfcinv,
    "exp10": lambda x: np.power(10.0, x),
    "exp2": np.exp2,
    "expit": sigmoid,
    "expm1": np.expm1,
    "gammasgn": gammasgn,
    "huber": huber,
    "inv_boxcox": inv_boxcox,
    "i0": _of_order("bessel_i", 0),
    "i0e": _of_order("scaled_bessel_i", 0),
    "i1": _of_order("bessel_i", 1),
    "i1e": _of_order("scaled_bessel_i", 1),
    "iv": _of_order("bessel_i"),
    "ive": _of_order("scaled_bessel_i"),
    "j0": _of_order("bessel_j", 0),
    "j1": _of_order("bessel_j", 1),
    "jv": _of_order("bessel_j"),
    "k0": _of_order("bessel_k", 0),
    "k1": _of_order("bessel_k", 1),
    "kl_div": kl_div,
    "kv": _of_order("bessel_k"),
    "log1p": np.log1p,
    "log_expit": log_expit,
    "loggamma": PRIMITIVES["gammaln"],
    "logit": logit,
    "pseudo_huber": pseudo_huber,
    "psi": lambda x: PRIMITIVES["polygamma"](x, n=0),
    "rel_entr": rel_entr,
    "rgamma": rgamma,
    "xlog1py": xlog1py,
    "xlogy": xlogy,
    "y0": _of_order("bessel_y", 0),
    "y1": _of_order("bessel_y", 1),
    "yn": _of_order("bessel_y"),
    "yv": _of_order("bessel_y"),
}
"""By SciPy's names."""

INSTEAD: dict[str, str] = {
    **{
        name: f"np.linalg.{name}"
        for name in (
            "cholesky",
            "det",
            "eigh",
            "eigvalsh",
            "inv",
            "lstsq",
            "norm",
            "pinv",
            "qr",
            "solve",
            "svd",
            "svdvals",
        )
    },
    "cho_factor": "np.linalg.cholesky",
    "cho_solve": "md.functional.solve_triangular twice, or np.linalg.solve",
    "expm": "md.functional.expm",
    "log_softmax": "x - md.functional.logsumexp(x, axis, keepdims=True)",
    "logsumexp": "md.functional.logsumexp",
    "multigammaln": "md.functional.multigammaln",
    "polygamma": "md.functional.polygamma",
    "softmax": "np.exp(x - md.functional.logsumexp(x, axis, keepdims=True))",
    "solve_triangular": "md.functional.solve_triangular",
    **dict.fromkeys(
        ("convolve", "convolve2d", "correlate", "correlate2d", "fftconvolve"),
        "np.lib.stride_tricks.sliding_window_view(x, k.shape) with np.einsum, or np.convolve for vectors",
    ),
    "block_diag": "np.block",
    "cumulative_trapezoid": "np.cumsum of the trapezoids",
    "interp1d": "np.interp",
    "toeplitz": "c[np.abs(i[:, None] - i)] with i = np.arange(len(c))",
    "trapezoid": "np.trapezoid",
    "odeint": "a loop of Euler or Runge-Kutta steps",
    "solve_ivp": "a loop of Euler or Runge-Kutta steps",
}
"""What to use instead of functions of SciPy that take arrays only."""


def distribution_instead(owner: Any, method: str) -> str:
    """What to use instead of a method of a distribution of ``scipy.stats``; nothing if it is not one."""
    from madaline.graph import stats

    owner = getattr(owner, "dist", owner)  # of a distribution whose parameters are fixed: norm(0, 1)
    if not type(owner).__module__.startswith("scipy.stats"):
        return ""
    name = getattr(owner, "name", None) or type(owner).__name__.removesuffix("_gen")
    if name in stats.__all__:
        return f"md.functional.stats.{name}.{method}"
    return f"the formula of the density: md.functional.stats has {', '.join(stats.__all__)} only"
