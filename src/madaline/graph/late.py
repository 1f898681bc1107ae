"""Functions of modules that import ``node.py``, for ``node.py`` and the modules it imports: loaded at first use.

An ``import`` statement in a function takes as long as an operation on a traced value, even when the module is loaded.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "Node": "madaline.graph.node",
    "UFUNCS": "madaline.graph.numpy_api.dispatch",
    "apply": "madaline.graph.node",
    "call_function": "madaline.graph.numpy_api.dispatch",
    "call_ufunc": "madaline.graph.numpy_api.dispatch",
    "getitem": "madaline.graph.numpy_api.indexing",
}


class Late:
    """Each attribute is loaded when it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(name)
        value = vars(importlib.import_module(_HOMES[name]))[name]
        setattr(self, name, value)
        return value


LATE = Late()
