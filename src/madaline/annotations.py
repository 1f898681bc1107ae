"""Type checks of values from files against the annotations of parameters."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Union, get_args, get_origin


def fits(value: Any, hint: Any, formula: type | None = None) -> bool:
    """Whether a plain value (number, string, None, tuple, dict or description) is valid for the type ``hint``.

    An integer is valid for a float; True is not a number. The only functions in files are formulas, of the class
    ``formula``.

    Examples
    --------
    >>> fits(1, float), fits(True, float), fits((1, 2), tuple[int, ...]), fits("b", Literal["a"])
    (True, False, True, False)
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, argument, formula) for argument in arguments)
    if hint in (None, types.NoneType):
        return value is None
    if hint in (int, float):
        return isinstance(value, (int, float) if hint is float else int) and not isinstance(value, bool)
    if origin is Literal:
        return any(value == argument and type(value) is type(argument) for argument in arguments)
    if Callable in (hint, origin):
        return formula is not None and isinstance(value, formula)
    kind = origin or hint
    if not isinstance(kind, type):
        return False
    if issubclass(kind, Mapping):
        inner = arguments[1] if arguments else Any
        return isinstance(value, dict) and all(fits(item, inner, formula) for item in value.values())
    if kind is list:
        inner = arguments[0] if arguments else Any
        return isinstance(value, list) and all(fits(item, inner, formula) for item in value)
    if kind is not str and issubclass(kind, Iterable) and issubclass(tuple, kind):
        return isinstance(value, tuple) and _items_fit(value, kind, arguments, formula)
    return isinstance(value, kind)


def _items_fit(value: tuple[Any, ...], kind: type, arguments: tuple[Any, ...], formula: type | None) -> bool:
    if not arguments:
        return True
    if kind is tuple and arguments[-1] is not Ellipsis:
        return len(value) == len(arguments) and all(
            fits(item, argument, formula) for item, argument in zip(value, arguments, strict=True)
        )
    return all(fits(item, arguments[0], formula) for item in value)


def takes_function(hint: Any) -> bool:
    """Whether a parameter of this type may be a function.

    Examples
    --------
    >>> takes_function(float | Callable[[Any], Any]), takes_function(float)
    (True, False)
    """
    inner = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    return any(Callable in (item, get_origin(item)) for item in inner)


def shown_hint(hint: Any) -> str:
    """A type as text for error messages.

    Examples
    --------
    >>> shown_hint(int | None), shown_hint(Literal["in", "out"])
    ('int or None', "'in' or 'out'")
    """
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(shown_hint(argument) for argument in get_args(hint))
    if get_origin(hint) is Literal:
        return " or ".join(repr(argument) for argument in get_args(hint))
    if hint is types.NoneType:
        return "None"
    if Callable in (hint, get_origin(hint)):
        return "a formula"
    return hint.__name__ if isinstance(hint, type) and get_origin(hint) is None else str(hint)
