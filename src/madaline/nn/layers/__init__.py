"""Layers, one kind in each file. Every file is imported here, which registers its layers in ``LAYERS``.

They take traced values and parameters and return traced values. Start with ``linear.py``, then ``sequential.py``.
"""

from madaline.nn.layer import LAYERS
from madaline.public import import_all

import_all(__name__, __path__)

__all__ = ["LAYERS"]
