"""Hyperparameter search with Optuna: rounds of trials, successive halving, and an ensemble of the best.

- ``search``: an estimator with searched hyperparameters
- ``default_space``: the space that is searched by default

For readers of the source: start with ``search.py``, then ``rounds.py``.
"""

from madaline.public import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "madaline.tune.defaults": ("default_space",),
        "madaline.tune.search": ("search",),
    },
)
