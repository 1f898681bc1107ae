"""Public names: each package lists its own once; lazy loading, ``dir`` and suggestions follow from the list."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

INDEXED = (
    "nn",
    "nn.activations",
    "nn.initializers",
    "losses",
    "optim",
    "optim.schedules",
    "functional",
    "classical",
    "data",
    "train",
    "doctor",
    "report",
    "ship",
    "tune",
    "errors",
)
"The modules that users import names from, in addition to ``madaline`` itself."

_MADE_OF_SKLEARN = (
    *(f"madaline.estimators.{name}" for name in ("classical", "classifier", "density", "preprocessing", "regressor")),
    "madaline.tune",
)


def lazy(
    package: str, names_by_module: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package whose names are loaded when they are first used.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    names_by_module : dict
        The public names by the module that defines them. A name that the module does not have is a module in it.
    """
    module_of = {name: module for module, names in names_by_module.items() for name in names}
    this = sys.modules[package]
    this.__class__ = _Package
    vars(this)["_module_of"] = module_of

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(_NoSuchName(package, name))
        value = vars(this)[name] = _loaded(module_of[name], name)
        return value

    return get, lambda: sorted({*vars(this), *module_of}), sorted(module_of)


class _Package(ModuleType):
    """A package in which a public name may be that of a submodule: ``md.ship.from_torch`` is the function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and vars(self)["_module_of"].get(name) == value.__name__):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """By name, as other modules: functions that use ``md`` are sent to the workers of Ray, Spark and Dask."""
        return importlib.import_module, (self.__name__,)


def _loaded(module: str, name: str) -> Any:
    if module.startswith(_MADE_OF_SKLEARN):
        # Imported here, where the stack is shallow. CPython maps its stack in pieces of 16 kB and unmaps each one when
        # it is left; a few frames deeper, the imports of scikit-learn cross the end of a piece ten thousand times.
        import sklearn  # noqa: F401 - only to have it loaded
    found = vars(importlib.import_module(module))
    return found[name] if name in found else importlib.import_module(f"{module}.{name}")


def import_all(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, so that its registries are complete."""
    import pkgutil  # Here, and difflib below: they are a third of the time of ``import madaline``.

    for module in pkgutil.iter_modules(path, f"{package}."):
        importlib.import_module(module.name)


class _NoSuchName:
    """The message of an error. Suggestions are looked up when it is shown: ``hasattr`` must not import anything."""

    def __init__(self, package: str, name: str) -> None:
        self.package, self.name = package, name

    def __str__(self) -> str:
        return f"{self.package} has no attribute {self.name!r}.{_suggestion(self.package, self.name)}"


def _suggestion(package: str, name: str) -> str:
    import difflib

    names = {short: importlib.import_module(f"madaline.{short}").__all__ for short in INDEXED}
    for short, known in names.items():
        if name in known:
            return f" Did you mean md.{short}.{name}?"
    prefix = package.removeprefix("madaline").removeprefix(".")
    near = difflib.get_close_matches(name, importlib.import_module(package).__all__, n=1)
    if near:
        return f" Did you mean md.{f'{prefix}.' if prefix else ''}{near[0]}?"
    elsewhere = {each: short for short, known in names.items() for each in known}
    near = difflib.get_close_matches(name, elsewhere, n=1)
    return f" Did you mean md.{elsewhere[near[0]]}.{near[0]}?" if near else ""
