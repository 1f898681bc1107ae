"""Takes the raw outputs of a net and targets; hands on one number a row, and their weighted mean.

Start reading with ``loss.py``, then ``squared.py``; ``LOSSES`` holds every loss by name.
"""

from madaline.losses import (
    cross_entropy,
    custom,
    density,
    focal,
    log_link,
    margin,
    mixture,
    ordinal,
    quantile,
    robust,
    squared,
)

__all__ = [
    "cross_entropy",
    "custom",
    "density",
    "focal",
    "log_link",
    "margin",
    "mixture",
    "ordinal",
    "quantile",
    "robust",
    "squared",
]
