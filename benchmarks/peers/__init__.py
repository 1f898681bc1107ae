"""The libraries that are compared, one a file; each runs in a process of its own, with its own number of threads.

A file has ``TRAINERS`` and ``PREDICTORS``: by the name of a contestant, a function that makes one.

- ``train(workload, threads, shuffle=True)`` gives a function ``epochs(count)`` that trains on for so many epochs, as
  fast as the library can, and gives the mean loss of the last one. All begin with ``workload.start()``.
- ``predict(workload, threads)`` gives a function from rows to probabilities, both NumPy arrays.

A trainer may refuse a workload that its library cannot do: it raises :class:`CannotError` and says why.
"""

from __future__ import annotations

FILES = {
    "madaline": "madaline",
    "torch": "pytorch",
    "torch.compile": "pytorch",
    "jax": "jax",
    "keras": "keras",
    "sklearn": "scikit_learn",
    "onnxruntime": "onnxruntime",
}
"In which file a contestant is."
TITLES = {
    "madaline": "madaline",
    "estimator": "madaline's MLPClassifier",
    "torch": "PyTorch eager",
    "torch.compile": "torch.compile",
    "jax": "JAX",
    "keras": "Keras on JAX",
    "sklearn": "scikit-learn",
    "onnxruntime": "ONNX Runtime",
}


PEERS = ("torch", "torch.compile", "jax", "keras", "sklearn")
"Those that training is measured against."


class CannotError(Exception):
    """The library has no such net, or is not installed."""
