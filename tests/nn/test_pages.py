"""The page of activations and initializers is made from the registries: ``python tests/nn/test_pages.py`` writes it."""

from __future__ import annotations

import math
import re
from pathlib import Path

from madaline.nn import activations
from madaline.nn.activation import ACTIVATIONS
from madaline.nn.initializers import INITIALIZERS

PAGE = Path(__file__).parents[2] / "docs" / "activations.md"

INTRODUCTION = """\
# Activations and initializers
Every activation is a formula by name, found in `madaline.nn.activations`. Parameters are changed by keyword, and any
function of one array written with NumPy can stand in for a name:

```python
>>> import numpy as np
>>> from madaline.nn.activation import as_activation
>>> leaky = as_activation("leaky_relu").with_parameters(slope=0.1)
>>> leaky(np.array([-2.0, 3.0]))
array([-0.2,  3. ])
>>> mine = as_activation(lambda x: x * np.tanh(x))
>>> mine.init, round(mine.gain, 3)
('he_normal', 1.149)

```

*Gain* is the factor by which weights of variance 1/n_in must be larger for sums of unit variance to stay so,
$1/\\sqrt{E[f(z)^2]}$ with z standard normal. *Live range* is where the slope is not below 1/100 for good: beyond it the
unit is saturated. [condition] is 1 where it holds, else 0. Limits at infinity are exact, NaN stays NaN, slopes at
kinks are those of PyTorch; the docstrings say which, and name the sources.

## Activations
| name | formula | parameters | live range | gain | recommended initializer |
| --- | --- | --- | --- | --- | --- |
"""

BETWEEN = """
`prelu(x, slope)`, `shifted_rectifier(x, slope, shift)` and `maxout(z, k)` take what a layer learns as arguments.

## Initializers
Weights are (n_in, n_out). A draw depends on the seed, the path of the parameter and the purpose alone, so adding a
layer does not change the others. `"auto"` is the one recommended for the activation that follows. `lsuv` and
`kraehenbuehl` look at a batch.

| name | description |
| --- | --- |
"""


def number(x):
    return f"{x:.3g}".replace("inf", "∞")


def row(activation, names):
    """One line of the table; names come with their aliases."""
    formula = re.search(r":math:`([^`]*)`", activation.__doc__)[1].replace("|", "\\vert ")
    low, high = activation.saturation or (-math.inf, math.inf)
    cells = [
        ", ".join(f"`{name}`" for name in names),
        f"${formula}$",
        ", ".join(f"{name} = {value}" for name, value in activation.parameters),
        f"{number(low)} to {number(high)}" if low < high else "none",
        f"{activation.gain:.3f}" if activation.elementwise else "",
        f"`{activation.init}`",
    ]
    return f"| {' | '.join(cells)} |\n"


def page():
    rows = [
        row(thing, [name, *ACTIVATIONS.aliases(name)])
        for name, thing in ACTIVATIONS.items()
        if getattr(activations, name, None) is thing
    ]
    starts = [
        f"| {', '.join(f'`{each}`' for each in (name, *INITIALIZERS.aliases(name)))} | `{thing!r}` |\n"
        for name, thing in INITIALIZERS.items()
    ]
    return INTRODUCTION + "".join(rows) + BETWEEN + "".join(starts)


def test_the_page_says_what_the_registries_hold():
    assert PAGE.read_text() == page(), "run python tests/nn/test_pages.py"


if __name__ == "__main__":
    PAGE.write_text(page())
