"""Takes gradients; hands on new parameters: update rules, schedules of their rate, penalties, clipping, averages.

Start reading with ``adam.py``; ``optimizer.py`` says what all update rules have in common.
"""

from madaline.optim import adadelta, adagrad, adam, annealing, lion, moments, plateau, rmsprop, rprop, sgd

__all__ = ["adadelta", "adagrad", "adam", "annealing", "lion", "moments", "plateau", "rmsprop", "rprop", "sgd"]
