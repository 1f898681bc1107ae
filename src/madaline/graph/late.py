"""Functions of modules that import ``node.py``, for ``node.py`` and the modules it imports: loaded at first use.

An ``import`` statement in a function takes as long as an operation on a traced value, even when the module is loaded.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "Node": "madaline.graph.node",
    "apply": "madaline.graph.node",
    "array_function": "madaline.graph.operations",
    "array_ufunc": "madaline.graph.operations",
    "fill_in": "madaline.graph.tape",
    "get_item": "madaline.graph.operations",
    "operate": "madaline.graph.operations",
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
