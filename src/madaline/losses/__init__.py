"""Takes the raw outputs of a net and targets; hands on one number a row, and their weighted mean.

Start reading with ``loss.py``, then ``squared.py``; ``LOSSES`` holds every loss by name.
"""

from madaline.losses.cross_entropy import BinaryCrossEntropy, CrossEntropy, KLDivergence
from madaline.losses.custom import CustomLoss, as_loss
from madaline.losses.density import Gaussian, HeteroscedasticGaussian
from madaline.losses.focal import BinaryFocal, Focal
from madaline.losses.log_link import Gamma, Poisson, Tweedie
from madaline.losses.loss import LOSSES, Loss
from madaline.losses.margin import Hinge, SquaredHinge
from madaline.losses.mixture import MixtureDensity
from madaline.losses.mixture_density import GaussianMixture
from madaline.losses.ordinal import Ordinal
from madaline.losses.quantile import Quantile
from madaline.losses.robust import MAE, Huber, LogCosh
from madaline.losses.squared import MSE, HalfMSE
from madaline.losses.targets import Target
from madaline.losses.weights import balanced_class_weight

__all__ = [
    "LOSSES",
    "MAE",
    "MSE",
    "BinaryCrossEntropy",
    "BinaryFocal",
    "CrossEntropy",
    "CustomLoss",
    "Focal",
    "Gamma",
    "Gaussian",
    "GaussianMixture",
    "HalfMSE",
    "HeteroscedasticGaussian",
    "Hinge",
    "Huber",
    "KLDivergence",
    "LogCosh",
    "Loss",
    "MixtureDensity",
    "Ordinal",
    "Poisson",
    "Quantile",
    "SquaredHinge",
    "Target",
    "Tweedie",
    "as_loss",
    "balanced_class_weight",
]
