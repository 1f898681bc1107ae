"""Classical units with their original learning rules, as scikit-learn estimators.

- ``Perceptron``, ``Adaline``, ``Madaline``: classifiers
- ``ThresholdLogicUnit``, ``threshold_net``: units and nets with given weights
"""

from madaline.public import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "madaline.estimators.classical.adaline": ("Adaline",),
        "madaline.estimators.classical.madaline": ("Madaline",),
        "madaline.estimators.classical.perceptron": ("Perceptron",),
        "madaline.estimators.classical.threshold_logic": ("ThresholdLogicUnit", "threshold_net"),
    },
)
