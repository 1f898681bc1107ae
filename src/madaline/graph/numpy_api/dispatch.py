"""Which NumPy functions work on traced values: two tables, filled by the modules beside this one."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from madaline.errors import TraceError
from madaline.graph.arrays import Array, Operand
from madaline.graph.complex_pair import complex_ufunc, is_complex
from madaline.graph.memory import mark_view, update
from madaline.graph.node import FLOAT64, Node
from madaline.graph.object_arrays import as_traced, fill_objects
from madaline.graph.primitive import PRIMITIVES
from madaline.graph.primitives.elementwise import Elementwise, identity

F = TypeVar("F", bound=Callable[..., Any])

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
UFUNCS: dict[np.ufunc, Callable[..., Any]] = {
    primitive.ufunc: primitive
    for primitive in PRIMITIVES
    if isinstance(primitive, Elementwise) and primitive.ufunc is not None
}

VIEWS: dict[Any, bool] = {}
"The functions whose result NumPy makes a view of their first argument, and whether it is read-only."

_VALUES = "Its shape depends on the values, which md.compile does not know; call md.grad without md.compile, or "
INSTEAD: dict[str, str] = {
    "unique": _VALUES + "call it outside the traced function.",
    "nonzero": _VALUES + "use np.where(condition, a, b) with three arguments.",
    "argwhere": _VALUES + "use np.where(condition, a, b) with three arguments.",
    "flatnonzero": _VALUES + "use np.where(condition, a, b) with three arguments.",
    "histogram": "Counts have no derivative; call it outside the traced function.",
    "bincount": "Use np.add.at on np.zeros_like, or call it outside the traced function.",
    "eig": "Eigenvalues of a general matrix are complex. Use np.linalg.eigh for a symmetric matrix.",
    "eigvals": "Eigenvalues of a general matrix are complex. Use np.linalg.eigvalsh for a symmetric matrix.",
    "array2string": "A traced value has no numbers to print inside md.compile.",
}
"""What to do instead, for functions users may try. Others get the nearest supported names."""


def implements(*functions: Any) -> Callable[[F], F]:
    """Put a function into the table of the NumPy functions it stands for."""

    def put(implementation: F) -> F:
        for function in functions:
            (UFUNCS if isinstance(function, np.ufunc) else FUNCTIONS)[function] = implementation
        return implementation

    return put


def is_view(*functions: Any, read_only: bool = False) -> None:
    """Register functions whose result is a view of their first argument."""
    VIEWS.update(dict.fromkeys(functions, read_only))


_WITHOUT_EFFECT = ("out", "where", "dtype", "casting", "order", "subok")


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy calls for ``np.exp(x)``, ``a + x`` and the like."""
    for item in inputs:
        kind = type(item)
        is_plain = kind is Node or kind is float or (kind is np.ndarray and item.dtype is FLOAT64)
        if not is_plain:
            inputs = tuple([as_traced(item) for item in inputs])
            if any(map(is_complex, inputs)):
                return complex_ufunc(ufunc, method, inputs, kwargs)
            break
    if not kwargs and method == "__call__" and ufunc in UFUNCS:
        return UFUNCS[ufunc](*inputs)
    out = kwargs.pop("out", None)
    if out is not None and any(item is not None for item in out):
        return _write_out(f"np.{ufunc.__name__}", out, lambda: _ufunc_into(out, ufunc, method, inputs, kwargs))
    if method == "at":
        return _at(ufunc, *inputs)
    for key, instead in (("where", "Use np.where(condition, a, b)."), ("dtype", "Use .astype(dtype).")):
        if not any(kwargs.get(key) is plain for plain in (True, None)):
            raise TraceError(f"np.{ufunc.__name__}(..., {key}=) is not supported on traced values. {instead}")
    if method == "__call__":
        if ufunc not in UFUNCS:
            return scipy_function(ufunc)(*inputs)
        rest = {key: value for key, value in kwargs.items() if key not in _WITHOUT_EFFECT}
        if rest and (ufunc is not np.vecdot or rest.keys() != {"axis"}):
            keyword = next(iter(rest))
            raise TraceError(f"np.{ufunc.__name__}(..., {keyword}=) is not supported on traced values. Remove it.")
        return UFUNCS[ufunc](*inputs, **rest)
    options = {key: value for key, value in kwargs.items() if key in ("axis", "keepdims", "initial")}
    if method == "outer":
        return _outer(ufunc, *inputs)
    through = _REDUCE.get(ufunc) if method == "reduce" else _ACCUMULATE.get(ufunc) if method == "accumulate" else None
    if through is None and method == "accumulate" and ufunc in _SCANNED:
        through = functools.partial(_scan, ufunc)
    if through is None:
        raise TraceError(unsupported(f"np.{ufunc.__name__}.{method}", ufunc.__name__))
    return through(*inputs, **{"axis": 0, **options} if len(inputs) == 1 else options)


def _write_out(name: str, out: Any, compute: Callable[[], Any]) -> Array:
    """Compute a result and write it into the array given as ``out``."""
    targets = out if isinstance(out, tuple) else (out,)
    if len(targets) == 1 and isinstance(targets[0], np.ndarray) and targets[0].dtype == object:
        return fill_objects(targets[0], compute())
    if len(targets) != 1 or not isinstance(targets[0], Node):
        raise TraceError(
            f"{name}(..., out=) writes a traced value into a plain array, where it would lose its derivative; so does "
            "a += x for a plain array a. Write a = a + x, or make the array with md.zeros or np.zeros_like(x)."
        )
    return update(targets[0], compute(), name.removeprefix("np."))


def _ufunc_into(out: tuple[Any, ...], ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: Any) -> Any:
    where = kwargs.pop("where", True)
    result = call_ufunc(ufunc, method, inputs, kwargs)
    return result if where is True else np.where(where, result, out[0])


def _at(ufunc: np.ufunc, x: Any, index: Any, values: Any = None) -> None:
    """``ufunc.at``: repeated indices add up."""
    from madaline.graph.memory import add_at

    if ufunc not in (np.add, np.subtract):
        raise TraceError(f"np.{ufunc.__name__}.at is not supported on traced values; np.add.at and np.subtract.at are.")
    add_at(x, index, values if ufunc is np.add else np.negative(values))


def scipy_function(ufunc: np.ufunc) -> Callable[..., Any]:
    """A function of ``scipy.special``, found by its name since SciPy takes long to import."""
    from madaline.graph.numpy_api import special

    name = ufunc.__name__
    if getattr(np, name, None) is ufunc:
        raise TraceError(unsupported(f"np.{name}", name))
    if name not in special.FUNCTIONS:
        known = ", ".join(sorted(special.FUNCTIONS))
        raise TraceError(
            f"scipy.special.{name} is not supported on traced values. Of scipy.special these are: {known}."
        )
    return special.FUNCTIONS[name]


def _outer(ufunc: np.ufunc, a: Operand, b: Operand) -> Node:
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
_SCANNED = (np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp, np.logical_and, np.logical_or)
"Accumulated by doubling, since they are associative."


def _scan(ufunc: np.ufunc, x: Any, axis: Any = 0) -> Array:
    from madaline.graph.numpy_api.reduce import scanned

    return scanned(ufunc, x, axis)


def call_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy calls for ``np.sum(x)`` and every other function that is not a ufunc."""
    implementation = FUNCTIONS.get(function)
    if implementation is None:
        raise TraceError(unsupported(_full_name(function), function.__name__))
    args = tuple([as_traced(arg) if isinstance(arg, np.ndarray) else arg for arg in args])
    out = kwargs.pop("out", None)
    place = _place_of_out(function) if len(args) > 2 else None
    if place is not None and len(args) > place:
        out, args = args[place], (*args[:place], *args[place + 1 :])
    if out is not None:
        return _write_out(_full_name(function), out, lambda: _call(function, implementation, args, kwargs))
    return _call(function, implementation, args, kwargs)


def _call(function: Any, implementation: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs:
        not_given = np._NoValue  # noqa: SLF001 - NumPy's default of arguments that were not given has no public name
        kwargs = {key: value for key, value in kwargs.items() if value is not not_given}
    result = implementation(*args, **(_by_our_names(function, implementation, kwargs) if kwargs else kwargs))
    is_copy = function is np.flip and np.ndim(result) == 0  # NumPy gives a number then, not an array
    if function in VIEWS and isinstance(args[0] if args else None, Node) and not is_copy:
        # A form keeps the function that follows, which must not keep the traced array, nor lists that may change.
        rest, options = _frozen(args[1:]), {key: _frozen(value) for key, value in kwargs.items()}
        return mark_view(result, args[0], lambda whole: function(whole, *rest, **options), VIEWS[function])
    return owned(result, args)


def _frozen(value: Any) -> Any:
    """Shapes and axes that do not change any more."""
    if isinstance(value, np.ndarray):
        return value.copy()
    return tuple([_frozen(item) for item in value]) if isinstance(value, (list, tuple)) else value


WITHOUT_EFFECT = ("casting", "order", "subok", "device", "copy", "overwrite_input", "assume_unique", "kind", "stable")
"Options that choose how NumPy works but not what it gives."


def _by_our_names(function: Any, implementation: Callable[..., Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments by the names of our function, which may call an argument differently from NumPy."""
    ours = _parameters(implementation)
    if all(name in ours for name in kwargs) or any(item.kind is item.VAR_KEYWORD for item in ours.values()):
        return kwargs
    numpys = _parameters(function)
    places = (name for name in numpys if name != "out")
    renamed = {numpy: our for numpy, our in zip(places, ours, strict=False) if our not in numpys}
    found: dict[str, Any] = {}
    for name, value in kwargs.items():
        if name in ours:
            found[name] = value
        elif name in renamed:
            found[renamed[name]] = value
        elif name not in WITHOUT_EFFECT and not (name in numpys and value is numpys[name].default):
            raise TraceError(f"{_full_name(function)}(..., {name}=) is not supported on traced values. Remove {name}=.")
    return found


@functools.cache
def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The arguments of a function by name, in order."""
    return dict(inspect.signature(function).parameters)


@functools.cache
def _place_of_out(function: Any) -> int | None:
    """The position of NumPy's argument ``out``, which our functions do not have."""
    try:
        names = [name for name, item in _parameters(function).items() if item.kind is not item.KEYWORD_ONLY]
    except ValueError:  # a function that has no signature
        return None
    return names.index("out") if "out" in names else None


def owned(result: Any, args: tuple[Any, ...]) -> Array:
    """A result with memory of its own: not one of the arguments, and not a view that was a step on the way."""
    if isinstance(result, Node):
        if result.memory is not None or any(result is arg for arg in args):
            if any(result is arg for arg in args):
                return identity(result)
            result.memory = None
    elif type(result) in (list, tuple):
        return type(result)([owned(item, args) for item in result])
    return result


def _full_name(function: Any) -> str:
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module.replace('numpy', 'np', 1)}.{function.__name__}"


def unsupported(full_name: str, name: str) -> str:
    """The text for a function that is not supported: what to use instead, or what has a similar name."""
    text = f"{full_name} has no derivative rule and is not supported on traced values."
    if name in INSTEAD:
        return f"{text} {INSTEAD[name]}"
    family = full_name.rpartition(".")[0]
    known = {item.__name__: _full_name(item) for item in (*UFUNCS, *FUNCTIONS)}
    same = [item for item, path in known.items() if path.rpartition(".")[0] == family] if family != "np" else []
    near = difflib.get_close_matches(name, sorted(same or known), n=5, cutoff=0.4 if same else 0.7)
    nearest = f" Supported functions with a similar name: {', '.join(known[item] for item in near)}." if near else ""
    return (
        f"{text}{nearest} Write it with supported functions (md.functional.supported_functions() lists them); "
        "if its derivative is not needed, compute it outside the traced function."
    )


def supported_functions() -> tuple[str, ...]:
    """Names of all functions of NumPy and SciPy that work on traced values, sorted.

    Examples
    --------
    >>> import madaline as md
    >>> "np.tanh" in md.functional.supported_functions(), "np.linalg.norm" in md.functional.supported_functions()
    (True, True)
    """
    from madaline.graph.numpy_api import special
    from madaline.graph.scipy_api.names import scipy_names

    numpys = {f"np.{item.__name__}" for item in UFUNCS} | {_full_name(item) for item in FUNCTIONS}
    return tuple(sorted(numpys | {f"scipy.special.{name}" for name in special.FUNCTIONS} | scipy_names()))


def _fill_tables() -> None:
    from madaline.graph.numpy_api import (  # noqa: F401 - importing fills the tables
        assignment,
        einsum,
        elementwise,
        join,
        linalg,
        linear,
        nan,
        norms,
        order,
        pick,
        polynomial,
        real_parts,
        reduce,
        shape,
        spectral,
        values,
    )


_fill_tables()
