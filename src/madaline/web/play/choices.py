"""The choices of settings, from the registries of the package: names, titles, and for which tasks they are."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from madaline.data import shapes
from madaline.data.curves import CURVES
from madaline.data.datasets import DATASETS
from madaline.errors import ConfigError, MadalineError
from madaline.losses.classes import ClassLoss, LabelLoss
from madaline.losses.loss import LOSSES
from madaline.nn.activation_function import ACTIVATIONS
from madaline.nn.initializers import INITIALIZERS
from madaline.nn.layers.mlp import mlp
from madaline.nn.layers.norm import NORMS
from madaline.optim.optimizer import OPTIMIZERS
from madaline.optim.regularizers import REGULARIZERS
from madaline.optim.schedule import SCHEDULES
from madaline.registry import Registry

Choice = dict[str, Any]
"A name (``value``), a sentence (``title``), and perhaps ``kind`` or ``tasks``."

OVER_ROWS = ("softmax", "log_softmax")
"Activations that mix the units of a layer: not for a hidden layer."
POINTS, TABLE = "points", "table"
SCALINGS = {
    "standard": "mean 0 and standard deviation 1",
    "robust": "median 0 and interquartile range 1, extreme values limited",
    "minmax": "from 0 to 1",
    "none": "as they are",
}
"How the numbers of a table are scaled; names of ``TablePlan``."


def names(among: str) -> tuple[str, ...]:
    """The names that a setting may have."""
    return tuple(choice["value"] for choice in listed(among))


@cache
def listed(among: str) -> tuple[Choice, ...]:
    """The choices of a setting."""
    return tuple(LISTS[among]())


def source_kind(name: str) -> str:
    """The kind of a source of data: shapes, curves, points or table."""
    return next(str(choice["kind"]) for choice in listed("sources") if choice["value"] == name)


def _sources() -> list[Choice]:
    generated = [name for name in DATASETS.names() if callable(getattr(shapes, name, None))]
    found = [_choice(name, DATASETS[name].task, kind="shapes") for name in generated]
    found += [_choice(name, _first_line(CURVES[name]), kind="curves") for name in CURVES.names()]
    found.append(_choice(POINTS, "points that you draw", kind="points"))
    found.append(_choice(TABLE, "your own table, CSV or Parquet", kind="table"))
    return found


def _losses() -> list[Choice]:
    found = [_choice("auto", "cross entropy for classes, squared error for numbers")]
    for name, kind in LOSSES.items():
        if _needs_arguments(kind):
            continue
        if issubclass(kind, ClassLoss):
            found.append(_choice(name, _first_line(kind), tasks=["binary", "classes"]))
        elif issubclass(kind, LabelLoss):
            found.append(_choice(name, _first_line(kind), tasks=["binary"]))
        elif kind.out_activation == "identity":
            found.append(_choice(name, _first_line(kind), tasks=["numbers"]))
    return found


def _registered(registry: Registry[Any], *, first: Choice | None = None, without: tuple[str, ...] = ()) -> list[Choice]:
    """The entries of a registry that need no arguments."""
    found = [] if first is None else [first]
    for name, entry in registry.items():
        if name not in without and not (isinstance(entry, type) and _needs_arguments(entry)):
            has = [item for item in ("momentum",) if item in getattr(entry, "__dataclass_fields__", {})]
            found.append(_choice(name, _first_line(entry), **({"has": has} if has else {})))
    return found


LISTS: dict[str, Callable[[], list[Choice]]] = {
    "sources": _sources,
    "activations": lambda: _registered(ACTIVATIONS, without=OVER_ROWS),
    "norms": lambda: _usable("norm", _registered(NORMS, first=_choice("none", "no normalization"))),
    "initializers": lambda: _usable("init", _registered(INITIALIZERS, first=_choice("auto", "to fit the activation"))),
    "losses": _losses,
    "optimizers": lambda: _registered(OPTIMIZERS),
    "schedules": lambda: _registered(SCHEDULES),
    "regularizers": lambda: _registered(REGULARIZERS, first=_choice("none", "no penalty")),
    "scalings": lambda: [_choice(name, title) for name, title in SCALINGS.items()],
    "precisions": lambda: [
        _choice("float32", "32 bits, about 7 digits"),
        _choice("float64", "64 bits, about 16 digits"),
    ],
}
"Functions that list the choices."


def _usable(argument: str, found: list[Choice]) -> list[Choice]:
    """The choices that make a net of two inputs: some norms are for images, some initializers for biases."""
    return [found[0], *(choice for choice in found[1:] if _makes_net(argument, choice["value"]))]


def _makes_net(argument: str, name: str) -> bool:
    options: Any = {argument: name}
    try:
        mlp(4, 4, 1, **options).init(np.array([[0.5, -1.0], [1.0, 0.0], [-1.0, 0.3]]))
    except MadalineError:
        return False
    return True


def _choice(value: str, title: str, **more: Any) -> Choice:
    return {"value": value, "title": title, **more}


def _needs_arguments(kind: type) -> bool:
    """Whether an object cannot be made without arguments."""
    try:
        kind()
    except (TypeError, ConfigError):
        return True
    return False


def _first_line(thing: Any) -> str:
    """The first line of a docstring, up to its formula."""
    text = (inspect.getdoc(thing) or "").partition("\n")[0]
    return text.partition(", :math:")[0].partition(" :math:")[0].replace("``", "").rstrip(".,:")
