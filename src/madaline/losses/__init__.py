"""Losses: from the raw outputs of a net and targets to one number for each row, and their weighted mean.

- ``MSE``, ``CrossEntropy``, ``Huber``, ``Quantile``, ``MixtureDensity`` ...; ``LOSSES`` holds all of them by name
- ``Loss``: to write a loss; ``as_loss``, ``CustomLoss``: a function as a loss
- ``Target``: the description of targets that a loss needs; ``balanced_class_weight``
- ``GaussianMixture``: what a mixture density network predicts

The losses are taken from the registry: a new loss only needs to be defined.

For readers of the source: start with ``loss.py``, then ``squared.py``.
"""

from madaline.losses.custom import CustomLoss, as_loss
from madaline.losses.loss import LOSSES, Loss
from madaline.losses.mixture_density import GaussianMixture
from madaline.losses.targets import Target
from madaline.losses.weights import balanced_class_weight
from madaline.public import import_all

import_all(__name__, __path__)
_CLASSES = {kind.__name__: kind for kind in LOSSES}
globals().update(_CLASSES)

__all__ = ["LOSSES", "CustomLoss", "GaussianMixture", "Loss", "Target", "as_loss", "balanced_class_weight"]
__all__ += sorted(_CLASSES)  # noqa: PLE0605 - computed, so that a loss is named in one place
