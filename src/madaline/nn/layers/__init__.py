"""Layers, one kind a file.

Takes traced values and parameters; hands on traced values. Start with ``linear.py``, then ``sequential.py``.
"""

from madaline.nn.layer import LAYERS as LAYERS
from madaline.nn.layers import (
    activation,
    dropout,
    embedding,
    linear,
    norm,
    parallel,
    periodic,
    reshape,
    residual,
    sequential,
    standardize,
    weight_norm,
)
from madaline.nn.layers.mlp import mlp

__all__ = [
    "LAYERS",
    "activation",
    "dropout",
    "embedding",
    "linear",
    "mlp",
    "norm",
    "parallel",
    "periodic",
    "reshape",
    "residual",
    "sequential",
    "standardize",
    "weight_norm",
]
