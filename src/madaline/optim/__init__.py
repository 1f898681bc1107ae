"""Takes gradients; hands on new parameters: update rules, schedules of their rate, penalties, clipping, averages.

Start reading with ``adam.py``; ``optimizer.py`` says what all update rules have in common.
"""

from madaline.optim import schedules as schedules  # which fills their registry
from madaline.optim.adadelta import Adadelta
from madaline.optim.adagrad import Adagrad
from madaline.optim.adam import Adam, AdaMax, AdamW, AMSGrad, Nadam
from madaline.optim.averaging import EMA, SWA
from madaline.optim.clipping import AdaptiveClip, ClipNorm, ClipValue
from madaline.optim.constraints import MaxNorm, NonNegative, UnitNorm
from madaline.optim.lbfgs import LBFGS
from madaline.optim.lion import Lion
from madaline.optim.moments import AdaptiveMoments
from madaline.optim.optimizer import OPTIMIZERS, Optimizer, as_optimizer
from madaline.optim.regularizers import L1, L2, Activity, Elastic, GroupLasso, Orthogonality
from madaline.optim.rmsprop import RMSprop
from madaline.optim.rprop import Rprop
from madaline.optim.sgd import SGD

__all__ = [
    "EMA",
    "L1",
    "L2",
    "LBFGS",
    "OPTIMIZERS",
    "SGD",
    "SWA",
    "AMSGrad",
    "Activity",
    "AdaMax",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "AdaptiveClip",
    "AdaptiveMoments",
    "ClipNorm",
    "ClipValue",
    "Elastic",
    "GroupLasso",
    "Lion",
    "MaxNorm",
    "Nadam",
    "NonNegative",
    "Optimizer",
    "Orthogonality",
    "RMSprop",
    "Rprop",
    "UnitNorm",
    "as_optimizer",
    "schedules",
]
