"""Identifiers of exported files: valid in Python, C and C++, and different from everything else in the file.

Inputs begin with ``x``, outputs with ``y`` (or are one of :data:`OUTPUTS`), weights with ``layer`` or ``computed``. No
keyword, library or statement of an exported file uses such names, so that a column may be called ``int`` or ``np``.
"""

from __future__ import annotations

import re
from typing import Any

MAX_LENGTH = 40
"Characters of a text that become part of an identifier; C compilers need not tell longer ones apart."

OUTPUTS = re.compile(
    r"labels?|label_\d+|probabilities|decision|prediction|quantiles|mean|std|weights|means|low|high|parts|value",
)
"The outputs of estimators, which keep their names."


class Identifiers:
    """Hands out identifiers, each of them once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def new(self, prefix: str, text: str) -> str:
        """An identifier that begins with the prefix and resembles the text.

        Examples
        --------
        >>> names = Identifiers()
        >>> names.new("x", "size (m²)"), names.new("x", "size m"), names.new("x", "x_1"), names.new("layer", "0.W")
        ('x_size_m', 'x_size_m_2', 'x_1', 'layer_0_W')
        """
        plain = re.sub(r"[^0-9A-Za-z]+", "_", text[:MAX_LENGTH]).strip("_") or "unnamed"
        is_complete = text == prefix or plain.startswith(f"{prefix}_")
        return self._free(plain if is_complete else f"{prefix}_{plain}")

    def output(self, text: str) -> str:
        """The identifier of an output."""
        return self._free(text) if OUTPUTS.fullmatch(text) else self.new("y", text)

    def _free(self, wanted: str) -> str:
        name = wanted
        while name in self._numbers:
            self._numbers[wanted] += 1
            name = f"{wanted}_{self._numbers[wanted]}"
        self._numbers[name] = 1
        return name


def leaf_names(tree: Any, single: str) -> list[str]:
    """Names of inputs or outputs, each a different one.

    One array is called ``single``, those of a tuple ``single_0`` and so on, those of a dict by their keys.
    """
    found: dict[str, None] = {}
    for path in _paths(tree):
        name = path[1:] if isinstance(tree, dict) else f"{single}{path}"
        while name in found:
            name += "_"
        found[name] = None
    return list(found)


def _paths(tree: Any) -> list[str]:
    """The keys and positions that lead to each leaf, each with an underscore before it."""
    if not isinstance(tree, (dict, tuple, list)):
        return [""]
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [f"_{key}{path}" for key, item in items for path in _paths(item)]
