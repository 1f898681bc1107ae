"""Which NumPy functions work on traced values: two tables, filled by the modules beside this one."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from madaline.errors import TraceError
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.elementwise import Elementwise

F = TypeVar("F", bound=Callable[..., Any])

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
UFUNCS: dict[np.ufunc, Callable[..., Any]] = {
    primitive.ufunc: primitive
    for primitive in PRIMITIVES
    if isinstance(primitive, Elementwise) and primitive.ufunc is not None
}

INSTEAD: dict[str, str] = {
    "unique": "Its shape depends on the values; call it outside the traced function.",
    "nonzero": "Its shape depends on the values; use np.where(condition, a, b) with three arguments.",
    "argwhere": "Its shape depends on the values; use np.where(condition, a, b) with three arguments.",
    "histogram": "Call it outside the traced function.",
    "inv": "Matrix factorisations are not differentiated here; call it outside the traced function.",
    "solve": "Matrix factorisations are not differentiated here; call it outside the traced function.",
    "det": "Matrix factorisations are not differentiated here; call it outside the traced function.",
    "slogdet": "Matrix factorisations are not differentiated here; call it outside the traced function.",
    "svd": "Matrix factorisations are not differentiated here; call it outside the traced function.",
    "eigh": "Matrix factorisations are not differentiated here; call it outside the traced function.",
    "cholesky": "Matrix factorisations are not differentiated here; call it outside the traced function.",
    "lstsq": "Matrix factorisations are not differentiated here; minimise np.sum((A @ x - b) ** 2) instead.",
    "empty_like": "It makes an array to be filled in place; build the parts and use np.stack or np.concatenate.",
    "copyto": "A traced value cannot be changed in place; use np.where(mask, new, old).",
    "put_along_axis": "A traced value cannot be changed in place; use np.where(mask, new, old).",
    "array2string": "A traced value has no numbers to print yet.",
}
"""What to do instead, for functions users may try. Others get the nearest supported names."""


def implements(*functions: Any) -> Callable[[F], F]:
    """Put a function into the table of the NumPy functions it stands for."""

    def put(implementation: F) -> F:
        for function in functions:
            (UFUNCS if isinstance(function, np.ufunc) else FUNCTIONS)[function] = implementation
        return implementation

    return put


_WITHOUT_EFFECT = ("out", "where", "dtype", "casting", "order", "subok")


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy calls for ``np.exp(x)``, ``a + x`` and the like."""
    if not kwargs and method == "__call__" and ufunc in UFUNCS:
        return UFUNCS[ufunc](*inputs)
    if kwargs.get("out") is not None:
        raise TraceError(
            f"np.{ufunc.__name__}(..., out=) writes into an array, which a traced value cannot do; so does a += x on "
            "an array a. Leave out= away; write a = a + x."
        )
    for key, instead in (("where", "Use np.where(condition, a, b)."), ("dtype", "Use .astype(dtype).")):
        if not any(kwargs.get(key) is plain for plain in (True, None)):
            raise TraceError(f"np.{ufunc.__name__}(..., {key}=) is not supported on traced values. {instead}")
    if method == "__call__":
        if ufunc not in UFUNCS:
            return scipy_function(ufunc)(*inputs)
        rest = {key: value for key, value in kwargs.items() if key not in _WITHOUT_EFFECT}
        if rest and (ufunc is not np.vecdot or rest.keys() != {"axis"}):
            keyword = next(iter(rest))
            raise TraceError(f"np.{ufunc.__name__}(..., {keyword}=) is not supported on traced values. Leave it away.")
        return UFUNCS[ufunc](*inputs, **rest)
    options = {key: value for key, value in kwargs.items() if key in ("axis", "keepdims", "initial")}
    if method == "outer":
        return _outer(ufunc, *inputs)
    through = _REDUCE.get(ufunc) if method == "reduce" else _ACCUMULATE.get(ufunc) if method == "accumulate" else None
    if through is None:
        raise TraceError(_unsupported(f"np.{ufunc.__name__}.{method}", ufunc.__name__))
    return through(*inputs, **{"axis": 0, **options} if len(inputs) == 1 else options)


def scipy_function(ufunc: np.ufunc) -> Callable[..., Any]:
    """A function of ``scipy.special``, found by its name since SciPy takes long to import."""
    from madaline.graph.numpy_api import special

    name = ufunc.__name__
    if getattr(np, name, None) is ufunc:
        raise TraceError(_unsupported(f"np.{name}", name))
    if name not in special.FUNCTIONS:
        known = ", ".join(sorted(special.FUNCTIONS))
        raise TraceError(
            f"scipy.special.{name} is not supported on traced values. Of scipy.special these are: {known}."
        )
    return special.FUNCTIONS[name]


def _outer(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    return ufunc(np.expand_dims(a, tuple(range(np.ndim(a), np.ndim(a) + np.ndim(b)))) if np.ndim(b) else a, b)


def _logsumexp(x: Any, axis: Any = 0, keepdims: bool = False) -> Any:
    from madaline.graph.numpy_api.reduce import logsumexp

    return logsumexp(x, axis, keepdims)


_REDUCE: dict[np.ufunc, Callable[..., Any]] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_and: np.all,
    np.logical_or: np.any,
    np.logaddexp: _logsumexp,
}
_ACCUMULATE: dict[np.ufunc, Callable[..., Any]] = {np.add: np.cumsum, np.multiply: np.cumprod}


def call_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy calls for ``np.sum(x)`` and every other function that is not a ufunc."""
    implementation = FUNCTIONS.get(function)
    if implementation is None:
        raise TraceError(_unsupported(_full_name(function), function.__name__))
    if kwargs.pop("out", None) is not None:
        raise TraceError(
            f"{_full_name(function)}(..., out=) writes into an array, which a traced value cannot do. Leave out= away."
        )
    try:
        not_given = np._NoValue  # noqa: SLF001 - NumPy's default of arguments that were not given has no public name
        return implementation(*args, **{key: value for key, value in kwargs.items() if value is not not_given})
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        keyword = str(error).rsplit(" ", 1)[-1].strip("'")
        raise TraceError(
            f"{_full_name(function)}(..., {keyword}=) is not supported on traced values. Leave {keyword}= away."
        ) from None


def _full_name(function: Any) -> str:
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module.replace('numpy', 'np', 1)}.{function.__name__}"


def _unsupported(full_name: str, name: str) -> str:
    text = f"{full_name} has no derivative rule and is not supported on traced values."
    if name in INSTEAD:
        return f"{text} {INSTEAD[name]}"
    known = sorted({item.__name__ for item in (*UFUNCS, *FUNCTIONS)})
    near = difflib.get_close_matches(name, known, n=5, cutoff=0.5)
    nearest = f" Supported functions with a similar name: {', '.join('np.' + item for item in near)}." if near else ""
    return (
        f"{text}{nearest} Write it with supported functions (md.supported_functions() lists them), "
        "or compute it outside the traced function."
    )


def supported_functions() -> tuple[str, ...]:
    """Names of all NumPy functions that work on traced values, sorted.

    Examples
    --------
    >>> import madaline as md
    >>> "np.tanh" in md.supported_functions(), "np.linalg.norm" in md.supported_functions()
    (True, True)
    """
    return tuple(sorted({f"np.{item.__name__}" for item in UFUNCS} | {_full_name(item) for item in FUNCTIONS}))


def _fill_tables() -> None:
    from madaline.graph.numpy_api import (  # noqa: F401 - importing fills the tables
        einsum,
        elementwise,
        join,
        linalg,
        linear,
        nan,
        order,
        pick,
        reduce,
        shape,
    )


_fill_tables()
