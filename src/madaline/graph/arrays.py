"""Types of the values that rules and formulas compute with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from madaline.graph.node import Node
from madaline.graph.primitive import Zero
from madaline.graph.shapes import Rows

Array = np.ndarray | Node
"A NumPy array or a node: rules and formulas are written with operators and NumPy functions and run on both."

Operand = Array | float | Rows
"What is combined with an array: another one, a number, or the size of a batch."

Tangent = Array | Zero
"The tangent of an array; ``ZERO`` if the array does not depend on the argument."

Axis = int | Sequence[int] | None
"The axes of a reduction, as NumPy takes them; None stands for all."
