"""The base class of layers, losses, optimizers and other descriptions: frozen objects that convert to plain data.

A description can be converted to numbers, strings, lists and dicts and back. Reading runs no code except that of the
description's class, and only after its parameters were checked.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform, get_type_hints

from madaline.annotations import fits, shown_hint, takes_function
from madaline.errors import ConfigError, MadalineError
from madaline.registry import Registry

KINDS: dict[str, type[Description]] = {}
"The base class of every kind of description, by kind, such as ``loss``."

CUSTOM = "custom"
"The name under which custom formulas of all kinds are saved; it is not in any registry."

_CUSTOM_CLASSES: dict[str, type[Description]] = {}

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def description(kind: type[T]) -> type[T]:
    """Make a subclass of :class:`Description` a frozen dataclass.

    Equality, hash and repr are those of the base class: generating them with ``dataclass`` for each of more than a
    hundred classes would double the import time.
    """
    return dataclass(frozen=True, eq=False, repr=False, init="__init__" not in kind.__dict__)(kind)


@description
class Description:
    """Base class of frozen objects with a name and a few parameters, without arrays.

    A subclass with a ``registry`` is a new kind, such as ``Loss``. A subclass of a kind with a ``name`` is registered
    under this name. ``ranges`` defines the interval of each number, such as ``{"beta1": "[0, 1)"}``, ``choices`` the
    allowed values of other parameters: ``{"mode": ("min", "max")}``. All invalid parameters are reported together.

    Parameters may be numbers, strings, ``None``, other descriptions, and tuples and dicts of them.
    """

    registry: ClassVar[Registry[Any]]
    name: ClassVar[str]
    ranges: ClassVar[Mapping[str, str]] = {}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    has_identity: ClassVar[bool] = False
    "Whether the same object in two places differs from two equal objects, as for layers, which share parameters."

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "registry" in cls.__dict__:
            KINDS[cls.registry.kind] = cls
        if isinstance(cls.__dict__.get("name"), str):  # not a property
            cls._register()

    @classmethod
    def _register(cls) -> None:
        if cls.name == CUSTOM:
            _CUSTOM_CLASSES[cls.registry.kind] = cls
        else:
            cls.registry.add(cls.name, cls)

    def __post_init__(self) -> None:
        made_by: Any = type(self)
        wrong = [
            f"{key}={value!r} must be a number in {allowed}"
            for key, allowed in _with_bases(type(self), "ranges").items()
            if (value := getattr(self, key)) is not None
            and not inside(value, allowed)
            and not (callable(value) and takes_function(_hints(made_by)[key]))
        ]
        wrong += [
            f"{key}={value!r} must be {' or '.join(map(repr, allowed))}"
            for key, allowed in _with_bases(type(self), "choices").items()
            if (value := getattr(self, key)) not in allowed
        ]
        if wrong:
            raise ConfigError(f"{type(self).__name__}: {'; '.join(wrong)}.")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return _compared(self) == _compared(other)

    def __hash__(self) -> int:
        return hash(_compared(self))

    def __repr__(self) -> str:
        shown = ", ".join(f"{item.name}={getattr(self, item.name)!r}" for item in fields(self) if item.repr)
        return f"{type(self).__qualname__}({shown})"

    def to_dict(self) -> dict[str, Any]:
        """Kind, name and parameters as plain data (numbers, strings, lists and dicts) for files or JSON.

        Functions are saved as traced graphs. If the same object occurs twice, this is preserved where it matters.
        """
        from madaline.plain import Writer

        return Writer().description(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build a description from plain data; the inverse of :meth:`to_dict`.

        Parameters
        ----------
        data : dict
            The result of ``to_dict``, or data from a file. ``kind`` may be omitted if the class determines it, and so
            may parameters with defaults. No other code is run; invalid data raise a ConfigError.
        """
        from madaline.plain import Reader

        found = Reader().description(data, cls)
        if not isinstance(found, cls):
            raise ConfigError(f"name={data['name']!r} is a {type(found).__name__}, and a {cls.__name__} is needed.")
        return found

    @classmethod
    def of(cls, what: Any, **parameters: Any) -> Self:
        """Convert a name, a class, plain data, a description or a function to a description.

        Parameters
        ----------
        what : str, class, dict, description or callable
            For example ``"adam"``, ``Adam``, ``{"name": "adam"}`` or ``Adam(1e-3)``.
        **parameters
            Parameters for a name, class or function; not allowed otherwise.
        """
        if callable(what) and not isinstance(what, type) and not isinstance(what, cls):
            own: Any = _CUSTOM_CLASSES.get(cls.registry.kind)
            if own is not None and issubclass(own, cls):
                made: Self = own(function=what, **parameters)
                return made
        kind = cls.registry.find(what) if isinstance(what, str) else what
        if isinstance(kind, type) and issubclass(kind, cls):
            return kind(**parameters)
        if isinstance(what, str) and isinstance(kind, cls):
            return replace(kind, **parameters) if parameters else kind
        if not isinstance(what, (cls, Mapping)):
            raise ConfigError(
                f"{cls.registry.kind}={what!r} must be a name, an object of class {cls.__name__} or its plain data. "
                f"Known: {', '.join(cls.registry.names())}"
            )
        if parameters:
            raise ConfigError(f"{', '.join(parameters)} cannot be given together with {what!r}, which has its own.")
        return cls.from_dict(what) if isinstance(what, Mapping) else what

    @classmethod
    def rebuilt(cls, **fields: Any) -> Self:
        """Build a description from its fields, for classes whose arguments are named differently."""
        return cls(**fields)

    def traced(self) -> Self:
        """The same description with every function replaced by its traced formula, for saving."""
        return self

    def parameters_to_save(self) -> tuple[str, dict[str, Any]]:
        """The name under which it is saved, and its parameters by name."""
        if not isinstance(type(self).__dict__.get("name"), str):
            raise ConfigError(f"{type(self).__name__} has no name to be saved under. Give the class one: name = ...")
        saved = self.traced()
        return self.name, {field.name: getattr(saved, field.name) for field in fields(saved) if field.init}

    @classmethod
    def from_parameters(cls, name: str, parameters: dict[str, Any]) -> Description:
        """Build the description with this name; parameters that do not have their annotated type raise an error."""
        own = _CUSTOM_CLASSES.get(cls.registry.kind) if name == CUSTOM else None
        entry: Any = own or cls.registry.find(name)
        made_by: Any = entry if isinstance(entry, type) else type(entry)
        needs_all = isinstance(entry, type)
        hints = _hints(made_by)
        if unknown := sorted(parameters.keys() - hints.keys()):
            known = ", ".join(hints) or "none"
            raise ConfigError(f"{made_by.__name__} has no parameter {', '.join(unknown)}. It has: {known}.")
        if needs_all and (missing := [key for key in _required(made_by) if key not in parameters]):
            raise ConfigError(f"{made_by.__name__} needs the parameter {', '.join(missing)}, which is missing.")
        wrong = [
            f"{key}={short(value)} must be {shown_hint(hints[key])}"
            for key, value in parameters.items()
            if not fits(value, hints[key], KINDS.get("formula"))
        ]
        if wrong:
            raise ConfigError(f"{made_by.__name__}: {'; '.join(wrong)}.")
        try:
            made: Description = entry.rebuilt(**parameters) if needs_all else replace(entry, **parameters)
        except MadalineError:
            raise
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            # The checks of the class expect arguments from a programmer; here they come from a file.
            raise ConfigError(f"{made_by.__name__} cannot have these parameters: {error}") from error
        return made


def _compared(what: Description) -> tuple[Any, ...]:
    return tuple(getattr(what, item.name) for item in fields(what) if item.compare)


@functools.cache
def _hints(kind: type[Description]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind) if field.init}


def _required(kind: type[Description]) -> list[str]:
    return [f.name for f in fields(kind) if f.init and f.default is MISSING and f.default_factory is MISSING]


def _with_bases(kind: type, attribute: str) -> dict[str, Any]:
    """The entries of a table of a class and of its bases, those of the class first."""
    return {key: value for base in reversed(kind.__mro__) for key, value in base.__dict__.get(attribute, {}).items()}


def short(value: Any) -> str:
    """A value as text for error messages, shortened if necessary."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def inside(value: Any, interval: str) -> bool:
    """Whether a number lies in an interval.

    Examples
    --------
    >>> inside(0.0, "[0, 1)"), inside(1.0, "[0, 1)"), inside(float("nan"), "[0, 1)")
    (True, False, False)
    """
    low, high = (float(end) for end in interval[1:-1].split(","))
    try:
        above = value >= low if interval[0] == "[" else value > low
        below = value <= high if interval[-1] == "]" else value < high
    except TypeError:
        return False
    return bool(above and below)
