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
    "sort": "There is no derivative rule for sorting; sort outside the traced function.",
    "median": "Use np.mean, or np.quantile outside the traced function.",
    "unique": "Its shape depends on the values; call it outside the traced function.",
    "nonzero": "Its shape depends on the values; use np.where(condition, a, b) with three arguments.",
    "argwhere": "Its shape depends on the values; use np.where(condition, a, b) with three arguments.",
    "histogram": "Call it outside the traced function.",
    "inv": "Solve by hand for small matrices, or call it outside the traced function.",
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


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy calls for ``np.exp(x)``, ``a + x`` and the like."""
    if kwargs.get("out") is not None:
        raise TraceError(
            f"np.{ufunc.__name__}(..., out=) writes into an array, which a traced value cannot do. Leave out= away."
        )
    unknown = [
        key
        for key, value in kwargs.items()
        if key not in ("out", "axis", "keepdims", "dtype") or (key == "dtype" and value is not None)
    ]
    if unknown:
        raise TraceError(
            f"np.{ufunc.__name__}(..., {unknown[0]}=) is not supported on traced values. Use np.where or .astype instead."
        )
    if method == "__call__":
        if ufunc not in UFUNCS:
            raise TraceError(_unsupported(f"np.{ufunc.__name__}", ufunc.__name__))
        return UFUNCS[ufunc](*inputs)
    through = _METHODS.get((ufunc, method))
    if through is None:
        raise TraceError(_unsupported(f"np.{ufunc.__name__}.{method}", ufunc.__name__))
    return through(*inputs, **{key: value for key, value in kwargs.items() if key in ("axis", "keepdims")})


_METHODS: dict[tuple[np.ufunc, str], Callable[..., Any]] = {
    (np.add, "reduce"): lambda x, axis=0, keepdims=False: np.sum(x, axis=axis, keepdims=keepdims),
    (np.multiply, "reduce"): lambda x, axis=0, keepdims=False: np.prod(x, axis=axis, keepdims=keepdims),
    (np.maximum, "reduce"): lambda x, axis=0, keepdims=False: np.max(x, axis=axis, keepdims=keepdims),
    (np.minimum, "reduce"): lambda x, axis=0, keepdims=False: np.min(x, axis=axis, keepdims=keepdims),
    (np.add, "accumulate"): lambda x, axis=0: np.cumsum(x, axis=axis),
    (np.multiply, "outer"): lambda a, b: np.tensordot(a, b, axes=0),
}


def call_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy calls for ``np.sum(x)`` and every other function that is not a ufunc."""
    implementation = FUNCTIONS.get(function)
    if implementation is None:
        raise TraceError(_unsupported(_full_name(function), function.__name__))
    if kwargs.get("out") is not None:
        raise TraceError(
            f"{_full_name(function)}(..., out=) writes into an array, which a traced value cannot do. Leave out= away."
        )
    try:
        return implementation(*args, **{key: value for key, value in kwargs.items() if value is not np._NoValue})
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
    return f"{text}{nearest} Write it with supported functions (md.supported_functions() lists them), or wrap the part in md.stop_gradient and compute it outside."


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
    from madaline.graph.numpy_api import elementwise, linear, reduce, shape  # noqa: F401 - importing fills the tables


_fill_tables()
