"""Every schedule under one roof, as ``md.schedules.Cosine``: a name like ``Step`` says nothing without it.

``schedule.py`` says what a schedule is and has those without an end, ``annealing.py`` those with one, ``plateau.py``
the one that watches the training.
"""

from madaline.optim.annealing import (
    Cosine,
    CosineRestarts,
    CosineWarmup,
    Coslog4,
    LinearWarmup,
    OneCycle,
    Polynomial,
)
from madaline.optim.plateau import ReduceOnPlateau
from madaline.optim.schedule import (
    SCHEDULES,
    Constant,
    Exponential,
    ExponentialSteps,
    InverseRoot,
    InverseScaling,
    InverseTime,
    Multistep,
    Product,
    Schedule,
    Sequence,
    Step,
    as_schedule,
)

__all__ = [
    "SCHEDULES",
    "Constant",
    "Cosine",
    "CosineRestarts",
    "CosineWarmup",
    "Coslog4",
    "Exponential",
    "ExponentialSteps",
    "InverseRoot",
    "InverseScaling",
    "InverseTime",
    "LinearWarmup",
    "Multistep",
    "OneCycle",
    "Polynomial",
    "Product",
    "ReduceOnPlateau",
    "Schedule",
    "Sequence",
    "Step",
    "as_schedule",
]
