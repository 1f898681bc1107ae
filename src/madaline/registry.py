"""Registries, which map lowercase names to activations, losses, primitives and so on."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from madaline.errors import DuplicateNameError, UnknownNameError

T = TypeVar("T")
U = TypeVar("U")


class Registry(Generic[T]):
    """Entries of one kind by name. Iteration gives each entry once, sorted by name.

    An entry may have aliases, by which it is found; they are not part of the iteration.

    Parameters
    ----------
    kind : str
        Kind of the entries, in the singular, for error messages: ``"activation"``.

    Examples
    --------
    >>> shapes = Registry[int]("shape")
    >>> shapes.add("triangle", 3)
    >>> shapes["triangle"], shapes.names()
    (3, ('triangle',))
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._things: dict[str, T] = {}
        self._name_of_alias: dict[str, str] = {}

    def add(self, name: str, thing: T, *, aliases: Iterable[str] = ()) -> None:
        """Register ``thing`` under ``name`` and its aliases, which must be lowercase and new."""
        names = (name, *aliases)
        for each in names:
            self._check_new(each)
        self._things[name] = thing
        self._name_of_alias |= dict.fromkeys(names[1:], name)

    def _check_new(self, name: str) -> None:
        if not name or name != name.lower() or name != name.strip():
            raise ValueError(f"name={name!r} of a {self.kind} must be lowercase, not empty, and without outer spaces.")
        if name in self:
            raise DuplicateNameError(
                f"name={name!r} already names the {self.kind} {self.find(name)!r}. Choose another."
            )

    def register(self, name: str) -> Callable[[U], U]:
        """Decorator that registers a function or class under ``name`` and returns it unchanged.

        Examples
        --------
        >>> curves = Registry[object]("curve")
        >>> @curves.register("line")
        ... def line(x): return x
        >>> curves["line"] is line
        True
        """

        def put(thing: U) -> U:
            self.add(name, thing)  # type: ignore[arg-type]  # a decorated class keeps its own type; T may be wider
            return thing

        return put

    def find(self, name: str, *, argument: str | None = None) -> T:
        """Look up an entry by name.

        Parameters
        ----------
        name : str
            Name or alias.
        argument : str, optional
            Name of the argument, for error messages, such as ``"hidden"`` or ``"--activation"``; empty if it has none.
            By default the kind of the registry.

        Raises
        ------
        UnknownNameError
            If the name is unknown. The message has the closest match and all known names.
        """
        try:
            return self._things[self._name_of_alias.get(name, name)]
        except (KeyError, TypeError):  # TypeError: something unhashable was given for a name
            raise UnknownNameError(self._unknown(name, self.kind if argument is None else argument)) from None

    def _unknown(self, name: object, argument: str) -> str:
        text = f"{_typed(argument, name)} is not a known {self.kind}."
        if isinstance(name, str):
            typed = name.strip().lower().replace("-", "_").replace(" ", "_")
            # Names are compared without underscores too, so that "LeakyReLU" finds "leaky_relu".
            names = [*self._things, *self._name_of_alias]
            plain = {known.replace("_", ""): known for known in names}
            near = difflib.get_close_matches(typed, names, n=1) or [
                plain[match] for match in difflib.get_close_matches(typed.replace("_", ""), plain, n=1)
            ]
            if near:
                text += f" Did you mean {near[0]!r}?"
        return f"{text}\nKnown: {', '.join(sorted([*self._things, *self._name_of_alias])) or 'none'}"

    def names(self) -> tuple[str, ...]:
        """The names of all entries, sorted."""
        return tuple(sorted(self._things))

    def aliases(self, name: str) -> tuple[str, ...]:
        """The aliases of an entry, sorted."""
        return tuple(sorted(alias for alias, of in self._name_of_alias.items() if of == name))

    def items(self) -> tuple[tuple[str, T], ...]:
        """Names and entries, sorted by name."""
        return tuple((name, self._things[name]) for name in self.names())

    def __getitem__(self, name: str) -> T:
        return self.find(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._things or name in self._name_of_alias)

    def __iter__(self) -> Iterator[T]:
        return iter([self._things[name] for name in self.names()])

    def __len__(self) -> int:
        return len(self._things)

    def __repr__(self) -> str:
        return f"Registry({self.kind!r}, {len(self)} names)"


def _typed(argument: str, name: object) -> str:
    """A name as the user typed it: after an option of a command, as a keyword argument, or alone."""
    if argument.startswith("--"):
        return f"{argument} {name}"
    return f"{argument}={name!r}" if argument else repr(name)
