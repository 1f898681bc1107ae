"""What layers, losses, optimizers and the like have in common: they are frozen descriptions, plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from madaline.errors import ConfigError
from madaline.registry import Registry


@dataclass(frozen=True)
class Description:
    """A few parameters and a name; no arrays.

    A subclass with a ``name`` is registered under it in its kind's ``registry``. ``ranges`` gives the interval of each
    number, as the mathematician writes it: ``{"beta1": "[0, 1)"}``; all that lie outside are reported at once.
    """

    registry: ClassVar[Registry[Any]]
    name: ClassVar[str]
    ranges: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in cls.__dict__:
            cls.registry.add(cls.name, cls)

    def __post_init__(self) -> None:
        ranges = {key: value for kind in reversed(type(self).__mro__) for key, value in _ranges(kind).items()}
        wrong = [
            f"{key}={value!r} must be a number in {allowed}"
            for key, allowed in ranges.items()
            if (value := getattr(self, key)) is not None and not callable(value) and not inside(value, allowed)
        ]
        if wrong:
            raise ConfigError(f"{type(self).__name__}: {'; '.join(wrong)}.")

    def to_dict(self) -> dict[str, Any]:
        """Name and parameters as numbers, strings, lists and dicts: what a file or JSON can hold."""
        if "name" not in type(self).__dict__:
            raise ConfigError(f"{type(self).__name__} has no name to be saved under. Give the class one: name = ...")
        return {"name": self.name} | {
            field.name: self._plain(field.name, getattr(self, field.name)) for field in fields(self)
        }

    def _plain(self, key: str, value: Any) -> Any:
        if isinstance(value, Description):
            return value.to_dict()
        if isinstance(value, (tuple, list)):
            return [self._plain(key, item) for item in value]
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise ConfigError(f"{type(self).__name__}: {key}={value!r} is no plain value and cannot be written to a file.")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The description again; the inverse of :meth:`to_dict`."""
        kind = cls.registry.find(data.get("name", ""))
        if not issubclass(kind, cls):
            raise ConfigError(f"name={data['name']!r} is a {kind.__name__}, and a {cls.__name__} is needed.")
        given = {key: value for key, value in data.items() if key != "name"}
        known = [field.name for field in fields(kind)]
        if unknown := sorted(given.keys() - set(known)):
            raise ConfigError(f"{kind.__name__} has no parameter {', '.join(unknown)}. It has: {', '.join(known)}.")
        found: Self = kind(**{key: cls._read(value) for key, value in given.items()})
        return found

    @classmethod
    def of(cls, what: Any, **parameters: Any) -> Self:
        """The description that is meant by a name, its class, its plain data, or itself.

        Parameters
        ----------
        what : str, class, dict or description
            As a user gives it: ``"adam"``, ``Adam``, ``{"name": "adam"}``, ``Adam(1e-3)``.
        **parameters
            Those of a name or class; the others have theirs already.
        """
        kind = cls.registry.find(what) if isinstance(what, str) else what
        if isinstance(kind, type) and issubclass(kind, cls):
            return kind(**parameters)
        if not isinstance(what, (cls, Mapping)):
            raise ConfigError(
                f"{cls.registry.kind}={what!r} must be a name, an object of class {cls.__name__} or its plain data. "
                f"Known: {', '.join(cls.registry.names())}"
            )
        if parameters:
            raise ConfigError(f"{', '.join(parameters)} cannot be given besides {what!r}, which has its own.")
        return cls.from_dict(what) if isinstance(what, Mapping) else what

    @classmethod
    def _read(cls, value: Any) -> Any:
        if isinstance(value, Mapping):
            return cls.registry.find(value.get("name", "")).from_dict(value)
        return tuple(cls._read(item) for item in value) if isinstance(value, list) else value


def _ranges(kind: type) -> Mapping[str, str]:
    found: Mapping[str, str] = kind.__dict__.get("ranges", {})
    return found


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
