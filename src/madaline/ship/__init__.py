"""Trained models as files that run without madaline (ONNX, PyTorch, Python, C, HTML), and models from other packages.

- ``export``: a model as a file
- ``madaline.ship.mlflow``: estimators in MLflow, without pickle
- ``madaline.ship.skops``: types to trust when skops loads estimators
- ``from_keras``, ``from_sklearn``, ``from_torch``: models from other packages

For readers of the source: every file is written from the primitives of the traced inference graph, so a layer needs no
exporter of its own. Start with ``inference.py``, then ``numpy_script.py``.
"""

from madaline.public import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "madaline.ship.export": ("export",),
        "madaline.ship.from_keras": ("from_keras",),
        "madaline.ship.from_sklearn": ("from_sklearn",),
        "madaline.ship.from_torch": ("from_torch",),
    },
)
