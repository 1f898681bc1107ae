"""Functions of SciPy on traced values, while a function is traced.

``scipy.special`` has universal functions, which NumPy's protocols hand to us, and ``scipy.fft`` takes backends. Other
functions of SciPy begin with ``np.asarray``, which refuses a traced value. When that happens in a module of SciPy for
the first time, the user's function is traced once more. From then on, while a function is traced, the code of those
Python functions of the module that are in our table is exchanged for a few lines that look at the arguments: with a
traced value among them they call our function, otherwise the original one. It does not matter how a function was
imported, since the function object stays the same.

Other threads may call SciPy at the same time, since what happens depends on the arguments alone. When the last trace
ends, the original code is put back. A SciPy that lacks a function, or has it as something else than a Python function,
is left alone, and programs that give SciPy plain arrays never change it.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from threading import Lock
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from madaline.errors import TraceError
from madaline.graph.complex_pair import ComplexPair
from madaline.graph.node import Node
from madaline.graph.object_arrays import as_traced

HOMES: dict[str, str] = {
    "scipy.fft": "madaline.graph.scipy_api.fft",
    "scipy.integrate": "madaline.graph.scipy_api.integrate",
    "scipy.linalg": "madaline.graph.scipy_api.linalg",
    "scipy.ndimage": "madaline.graph.scipy_api.signal",
    "scipy.optimize": "madaline.graph.scipy_api.optimize",
    "scipy.signal": "madaline.graph.scipy_api.signal",
    "scipy.spatial.distance": "madaline.graph.scipy_api.distance",
    "scipy.special": "madaline.graph.scipy_api.special",
    "scipy.stats": "madaline.graph.scipy_api.stats",
}
"The module with our functions for each module of SciPy. It is imported when a traced value reaches that module."

TABLES: dict[str, Mapping[str, Callable[..., Any]]] = {}
"Our functions by module and name; ``Class.method`` for a method. Filled by the modules in ``HOMES``."

WITHOUT_EFFECT = frozenset(
    {"check_finite", "driver", "lapack_driver", "lwork", "method", "nan_policy", "out", "overwrite_a", "overwrite_ab"}
    | {"overwrite_b", "overwrite_data", "overwrite_v", "overwrite_x", "plan", "turbo", "workers"}
)
"Options that choose how SciPy works but not what it gives."


def register(module: str, functions: Mapping[str, Callable[..., Any]]) -> None:
    """Put our functions for a module of SciPy into the table."""
    TABLES[module] = functions


class Replaced:
    """One function of SciPy: its own code, and the code that looks for traced values."""

    __slots__ = ("_function", "_other", "_own")

    def __init__(self, path: str, function: FunctionType, ours: Callable[..., Any]) -> None:
        self._function = function
        self._own = function.__code__
        original = FunctionType(
            self._own, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        original.__kwdefaults__ = function.__kwdefaults__
        original.__dict__.update(function.__dict__)

        def call(*args: Any, **kwargs: Any) -> Any:
            if is_traced(args) or (kwargs and is_traced(tuple(kwargs.values()))):
                return call_ours(path, ours, original, args, kwargs)
            return original(*args, **kwargs)

        self._other = _code_that_calls(call, self._own)

    def put(self) -> None:
        """Let the function look for traced values."""
        self._function.__code__ = self._other

    def put_back(self) -> None:
        """Give the function its own code."""
        self._function.__code__ = self._own


def _code_that_calls(target: Callable[..., Any], own: CodeType) -> CodeType:
    """Code that calls ``target``, for a function object that has ``own`` code: with as many variables of closures."""
    names = ", ".join(f"c{number}" for number in range(len(own.co_freevars)))
    source = (
        f"def closure({names}):\n"
        " def function(*args, **kwargs):\n"
        "  target = 'target'\n"
        f"  if args is None: return ({names}{',' if names else ''})\n"
        "  return target(*args, **kwargs)\n"
    )
    whole = compile(source, __file__, "exec")
    (closure,) = [item for item in whole.co_consts if isinstance(item, CodeType)]
    (code,) = [item for item in closure.co_consts if isinstance(item, CodeType)]
    constants: tuple[Any, ...] = tuple(target if item == "target" else item for item in code.co_consts)
    return code.replace(co_consts=constants, co_name=own.co_name)


def is_traced(value: Any) -> bool:
    """Whether a value is traced, or is an array of objects, a list or a tuple with traced values."""
    if isinstance(value, (Node, ComplexPair)):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype == object and as_traced(value) is not value
    return isinstance(value, (list, tuple)) and any(map(is_traced, value))


def call_ours(
    path: str,
    ours: Callable[..., Any],
    original: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """The result of our function, with its own memory; an error for options that it does not have."""
    from madaline.graph.numpy_api.dispatch import owned

    args = tuple([as_traced(item) if isinstance(item, np.ndarray) else item for item in args])
    kwargs = {name: as_traced(item) if isinstance(item, np.ndarray) else item for name, item in kwargs.items()}
    result = ours(*args, **_options(path, ours, original, args, kwargs))
    return owned(result, (*args, *kwargs.values()))


def _options(path: str, ours: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments that our function has; an error for others that make a difference."""
    known = _parameters(ours)
    if any(item.kind is item.VAR_KEYWORD for item in known.values()):
        return kwargs
    places = [item for item in known.values() if item.kind is not item.KEYWORD_ONLY]
    if len(args) > len(places) and not any(item.kind is item.VAR_POSITIONAL for item in places):
        raise TraceError(f"{path} takes at most {len(places)} positional arguments if one is a traced value.")
    defaults = _parameters(original)
    found = {}
    for name, value in kwargs.items():
        if name in known:
            found[name] = value
        elif name not in WITHOUT_EFFECT and not (name in defaults and value is defaults[name].default):
            raise TraceError(f"{path}(..., {name}=) is not supported on traced values. Remove {name}=.")
    return found


@functools.cache
def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function).parameters)


def _member(module: Any, path: str) -> Any:
    """A function of a module, or a method: the function itself, where the class that defines it has it."""
    owner, _, name = path.rpartition(".")
    if not owner:
        return getattr(module, name, None)
    found = getattr(module, owner, None)
    kind = found if isinstance(found, type) else type(found)
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


class _Shared:
    """What all threads share."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.in_use: dict[str, list[Replaced]] = {}
        "The functions of each module of SciPy that a traced value has reached."
        self.open = 0
        "How many traces are open."

    def renew_lock(self) -> None:
        """In a forked child: the thread that held the lock exists in the parent only."""
        self.lock = Lock()

    def every(self) -> Iterator[Replaced]:
        """All functions that are in use."""
        return chain.from_iterable(self.in_use.values())


_shared = _Shared()
if hasattr(os, "register_at_fork"):  # on systems with fork
    os.register_at_fork(after_in_child=_shared.renew_lock)


def _found(module: str) -> list[Replaced]:
    """The functions of a module of SciPy that we have."""
    importlib.import_module(HOMES[module])
    members = {name: _member(sys.modules[module], name) for name in TABLES.get(module, ())}
    return [
        Replaced(f"{module}.{name}", member, TABLES[module][name])
        for name, member in members.items()
        if isinstance(member, FunctionType)
    ]


class Replacements:
    """While it is open, functions of SciPy take traced values. May be opened several times and in several threads."""

    __slots__ = ("_backend",)

    def __init__(self) -> None:
        with _shared.lock:
            if not _shared.open:
                for item in _shared.every():
                    item.put()
            _shared.open += 1
        self._backend = _fourier_backend() if "scipy.fft" in _shared.in_use else None

    def catch_up(self, error: BaseException) -> bool:
        """Replace the functions of modules that were reached for the first time, by the traceback of an error.

        Returns whether there are some, so that the function should be traced again.
        """
        known = {module for module in _shared.in_use if module != "scipy.fft" or self._backend is not None}
        reached = _modules_of(error) - known
        with _shared.lock:
            for module in reached - set(_shared.in_use):
                found = _shared.in_use[module] = _found(module)
                for item in found:
                    item.put()
        if "scipy.fft" in reached:
            self._backend = _fourier_backend()
        return bool(reached)

    def close(self) -> None:
        """Put the original code back, if no other trace is open."""
        if self._backend is not None:
            self._backend.__exit__(None, None, None)
        with _shared.lock:
            _shared.open -= 1
            if not _shared.open:
                for item in _shared.every():
                    item.put_back()


def _modules_of(error: BaseException) -> set[str]:
    """The public modules of SciPy, of those we have functions for, in which an error was raised."""
    found: set[str] = set()
    trace = error.__traceback__
    while trace is not None:
        names = [trace.tb_frame.f_globals.get("__name__", "")]
        if names[0].startswith("scipy._lib."):  # a decorator: what it wraps is one of its variables
            names = [
                getattr(item, "__module__", None) or "" for item in trace.tb_frame.f_locals.values() if callable(item)
            ]
        for name in names:
            found.update(module for module in HOMES if f"{name}.".startswith(f"{module}."))
        trace = trace.tb_next
    return found


def _fourier_backend() -> Any:
    """Our backend of ``scipy.fft``, set for this thread."""
    from madaline.graph.scipy_api.fft import Backend

    backend = sys.modules["scipy.fft"].set_backend(Backend)
    backend.__enter__()
    return backend
