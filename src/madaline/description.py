"""What layers, losses, optimizers and the like have in common: they are frozen descriptions, plain data.

A description becomes numbers, strings, lists and dicts and comes back equal. Reading runs no code but that of the
description's own class, and only after its parameters were checked.
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
"The base class of every kind of description, as ``loss``."

CUSTOM = "custom"
"The name under which a user's own formula is saved, whatever its kind; it is in no registry."

_CUSTOM_CLASSES: dict[str, type[Description]] = {}

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def description(kind: type[T]) -> type[T]:
    """Make a subclass of :class:`Description` a frozen dataclass.

    Equality, hash and repr are those of the base class: written by ``dataclass`` anew for each of the hundred and more
    classes that come with a net, they would take as long to import as everything else together.
    """
    return dataclass(frozen=True, eq=False, repr=False, init="__init__" not in kind.__dict__)(kind)


@description
class Description:
    """A few parameters and a name; no arrays.

    A subclass with a ``registry`` is a new kind, as all losses are. Below it, a subclass with a ``name`` is registered
    under it. ``ranges`` gives the interval of each number, as the mathematician writes it: ``{"beta1": "[0, 1)"}``,
    ``choices`` the allowed values of others: ``{"mode": ("min", "max")}``. All that are wrong are reported at once.

    Parameters may be numbers, strings, ``None``, other descriptions, and tuples and dicts of them.
    """

    registry: ClassVar[Registry[Any]]
    name: ClassVar[str]
    ranges: ClassVar[Mapping[str, str]] = {}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    has_identity: ClassVar[bool] = False
    "Whether one object in two places means something else than two equal ones, as layers that share parameters."

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "registry" in cls.__dict__:
            KINDS[cls.registry.kind] = cls
        if isinstance(cls.__dict__.get("name"), str):  # not a property, by which each object has its own
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
        """Kind, name and parameters as numbers, strings, lists and dicts: what a file or JSON can hold.

        Functions are saved as their traced graphs. One object in two places stays one, where that matters.
        """
        from madaline.plain import Writer

        return Writer().description(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The description again; the inverse of :meth:`to_dict`.

        Parameters
        ----------
        data : dict
            As ``to_dict`` gave it, or read from a file. ``kind`` may be left out where the class says it, and so may
            parameters that have defaults. Whatever it holds, no other code is run; a ConfigError says what is wrong.
        """
        from madaline.plain import Reader

        found = Reader().description(data, cls)
        if not isinstance(found, cls):
            raise ConfigError(f"name={data['name']!r} is a {type(found).__name__}, and a {cls.__name__} is needed.")
        return found

    @classmethod
    def of(cls, what: Any, **parameters: Any) -> Self:
        """The description that is meant by a name, its class, its plain data, or itself; or by a user's function.

        Parameters
        ----------
        what : str, class, dict, description or callable
            As a user gives it: ``"adam"``, ``Adam``, ``{"name": "adam"}``, ``Adam(1e-3)``.
        **parameters
            Those of a name, class or function; the others have theirs already.
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
            raise ConfigError(f"{', '.join(parameters)} cannot be given besides {what!r}, which has its own.")
        return cls.from_dict(what) if isinstance(what, Mapping) else what

    @classmethod
    def rebuilt(cls, **fields: Any) -> Self:
        """The description with these fields, for classes whose arguments are called otherwise."""
        return cls(**fields)

    def traced(self) -> Self:
        """The same, with a formula in place of every function: what is saved."""
        return self

    def parameters_to_save(self) -> tuple[str, dict[str, Any]]:
        """The name it is found by again, and its parameters by name."""
        if not isinstance(type(self).__dict__.get("name"), str):
            raise ConfigError(f"{type(self).__name__} has no name to be saved under. Give the class one: name = ...")
        saved = self.traced()
        return self.name, {field.name: getattr(saved, field.name) for field in fields(saved) if field.init}

    @classmethod
    def from_parameters(cls, name: str, parameters: dict[str, Any]) -> Description:
        """The description of this kind with that name; parameters that are not of their annotated type are refused."""
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
            # The class's own checks were written for arguments a programmer gives; here a file gave them.
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
    """The entries of a class's table and of those of its bases; its own come first."""
    return {key: value for base in reversed(kind.__mro__) for key, value in base.__dict__.get(attribute, {}).items()}


def short(value: Any) -> str:
    """A value as an error message shows it, however long it is."""
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
