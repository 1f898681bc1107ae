"""Multilayer perceptrons you can train, understand and ship from Python, on the CPU you have.

Every public name is listed here and loaded when it is first used, so that ``import madaline`` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # For type checkers and editors; a test holds it equal to the table below.
    from madaline.config import show_config as show_config
    from madaline.functional import random as random
    from madaline.functional.check_gradient import check_gradient as check_gradient
    from madaline.functional.compile import compile as compile
    from madaline.functional.gradient import grad as grad
    from madaline.functional.gradient import value_and_grad as value_and_grad
    from madaline.functional.jacobian import hessian as hessian
    from madaline.functional.jacobian import jacobian as jacobian
    from madaline.functional.products import hvp as hvp
    from madaline.functional.products import jvp as jvp
    from madaline.functional.products import vjp as vjp
    from madaline.graph.numpy_api.dispatch import supported_functions as supported_functions
    from madaline.graph.numpy_api.reduce import logsumexp as logsumexp
    from madaline.graph.primitives.elementwise import erf as erf
    from madaline.graph.primitives.elementwise import relu as relu
    from madaline.graph.primitives.elementwise import sigmoid as sigmoid
    from madaline.graph.primitives.elementwise import softplus as softplus
    from madaline.graph.primitives.elementwise import stop_gradient as stop_gradient
    from madaline.graph.trace import trace as trace
    from madaline.kernels.threads import get_threads as get_threads
    from madaline.kernels.threads import set_threads as set_threads

__version__ = "0.1.0.dev0"

_NAMES_BY_MODULE = {
    "madaline.config": ("show_config",),
    "madaline.functional": ("random",),
    "madaline.functional.check_gradient": ("check_gradient",),
    "madaline.functional.compile": ("compile",),
    "madaline.functional.gradient": ("grad", "value_and_grad"),
    "madaline.functional.jacobian": ("hessian", "jacobian"),
    "madaline.functional.products": ("hvp", "jvp", "vjp"),
    "madaline.graph.numpy_api.dispatch": ("supported_functions",),
    "madaline.graph.numpy_api.reduce": ("logsumexp",),
    "madaline.graph.primitives.elementwise": ("erf", "relu", "sigmoid", "softplus", "stop_gradient"),
    "madaline.graph.trace": ("trace",),
    "madaline.kernels.threads": ("get_threads", "set_threads"),
}
_MODULE_OF = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605  computed, so that a name is written once


def __getattr__(name: str) -> Any:
    try:
        module = _MODULE_OF[name]
    except KeyError:
        raise AttributeError(f"module 'madaline' has no attribute {name!r}") from None
    package = importlib.import_module(module)
    value = getattr(package, name, None) or importlib.import_module(f"{module}.{name}")
    globals()[name] = value  # the next look-up does not come here
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
