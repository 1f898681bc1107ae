"""The libraries that are compared, one per file; each runs in a separate process, with its own number of threads.

A file has ``TRAINERS`` and ``PREDICTORS``, which map the name of a contestant to a function that creates it.

- ``train(workload, threads, shuffle=True)`` returns a function ``epochs(count)`` that continues training for ``count``
  epochs, as fast as the library can, and returns the mean loss of the last one. All start with ``workload.start()``.
- ``predict(workload, threads)`` returns a function from rows to probabilities, both NumPy arrays.

A trainer raises :class:`CannotError` with the reason if its library does not support a workload.
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
"The file of each contestant."
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
"Contestants that madaline's training speed is compared with."


class CannotError(Exception):
    """The library does not support such a net, or is not installed."""
