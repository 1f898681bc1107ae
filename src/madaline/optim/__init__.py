"""Optimizers, schedules, regularizers, clipping, constraints and averages: from gradients to new parameters.

- ``SGD``, ``Adam``, ``AdamW``, ``RMSprop`` ...; ``OPTIMIZERS`` holds all update rules by name; ``LBFGS`` is a solver
- ``Optimizer``: to write an optimizer; ``as_optimizer``: a function as an optimizer
- ``schedules``: learning-rate schedules, such as ``md.optim.schedules.Cosine()``
- Regularizers ``L1``, ``L2``, ``Elastic`` ... in ``REGULARIZERS``; constraints ``MaxNorm``, ``UnitNorm`` ... in
  ``CONSTRAINTS``; clipping ``ClipNorm``, ``ClipValue`` ... in ``CLIPPINGS``; averages ``EMA``, ``SWA`` in ``AVERAGES``

The classes are taken from the registries: a new one only needs to be defined.

For readers of the source: start with ``adam.py``; ``optimizer.py`` is the base class of all update rules.
"""

from madaline.optim import schedules
from madaline.optim.averaging import AVERAGES
from madaline.optim.clipping import CLIPPINGS
from madaline.optim.constraints import CONSTRAINTS
from madaline.optim.lbfgs import SOLVERS
from madaline.optim.optimizer import OPTIMIZERS, Optimizer, as_optimizer
from madaline.optim.regularizers import REGULARIZERS
from madaline.public import import_all

import_all(__name__, __path__)
_CLASSES = {
    kind.__name__: kind
    for registry in (AVERAGES, CLIPPINGS, CONSTRAINTS, OPTIMIZERS, REGULARIZERS, SOLVERS)
    for kind in registry
}
globals().update(_CLASSES)

__all__ = [
    "AVERAGES",
    "CLIPPINGS",
    "CONSTRAINTS",
    "OPTIMIZERS",
    "REGULARIZERS",
    "SOLVERS",
    "Optimizer",
    "as_optimizer",
    "schedules",
]
__all__ += sorted(_CLASSES)  # noqa: PLE0605 - computed, so that an optimizer is named in one place
