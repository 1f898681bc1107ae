"""Default values that can be distinguished from equal values passed by the user."""

from __future__ import annotations

from typing import Any


class Default:
    """Marks a value as the default of a parameter: it equals the plain value and prints like it."""

    value: Any

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return as_default, (self.value,)

    def __repr__(self) -> str:
        return repr(self.value)

    def __str__(self) -> str:
        return str(self.value)


class _Bool(Default, int):
    pass


class _Int(Default, int):
    pass


class _Float(Default, float):
    pass


class _Str(Default, str):  # noqa: SLOT000 - it has the value
    pass


class _Tuple(Default, tuple[Any, ...]):  # noqa: SLOT001 - it has the value
    pass


_KINDS: dict[type, type[Any]] = {bool: _Bool, int: _Int, float: _Float, str: _Str, tuple: _Tuple}


def as_default(value: Any) -> Any:
    """The value, marked as a default; ``None`` and objects are returned unchanged.

    Examples
    --------
    >>> as_default(0.1), as_default(0.1) == 0.1, is_default(as_default(0.1)), is_default(0.1)
    (0.1, True, True, False)
    """
    kind = _KINDS.get(type(value))
    if kind is None:
        return value
    marked = kind(value)
    marked.value = value
    return marked


def is_default(value: Any) -> bool:
    """Whether the value is marked as a default."""
    return isinstance(value, Default)


def plain(value: Any) -> Any:
    """The value without the mark."""
    return value.value if isinstance(value, Default) else value
