"""Learning-rate schedules, such as ``md.optim.schedules.Cosine()``; ``SCHEDULES`` holds all of them by name.

The classes are taken from the registry. ``schedule.py`` defines the base class and schedules without an end,
``annealing.py`` schedules with an end, ``plateau.py`` the one that observes training.
"""

from madaline.optim import annealing, plateau  # noqa: F401 - they fill the registry
from madaline.optim.schedule import SCHEDULES, Schedule, as_schedule

_CLASSES = {kind.__name__: kind for kind in SCHEDULES}
globals().update(_CLASSES)

__all__ = ["SCHEDULES", "Schedule", "as_schedule"]
__all__ += sorted(_CLASSES)  # noqa: PLE0605 - computed, so that a schedule is named in one place
